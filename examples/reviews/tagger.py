"""A trained tagger at work on raw text."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from transformers import AutoModelForTokenClassification, PreTrainedModel

from syntax_bert import SyntaxTokenizerFast, UDPipeParser, parser_path
from syntax_bert.word_tagging import tag_words

from .prepare import prepare_reviews
from .review_files import Review
from .spans import tags_to_spans

__all__ = ["ReviewTagger"]


@dataclass
class ReviewTagger:
    """Tags the words of reviews, sentence by sentence.

    ```python
    tagger = ReviewTagger.from_pretrained("output/reviews")
    tagger.annotate("The paper is well written.")  # [("The", "clarity_positive"), ...]
    ```

    Args:
        model: A model for token classification.
        tokenizer: Its tokenizer.
        splitter: Splits raw text into words and sentences.
    """

    model: PreTrainedModel
    tokenizer: SyntaxTokenizerFast
    splitter: UDPipeParser

    @classmethod
    def from_pretrained(cls, name: str | PathLike[str], parser: str | PathLike[str] | None = None) -> "ReviewTagger":
        """Loads what `run_xtreme_syntax.py --task_name conll` has trained.

        Args:
            name: Folder or Hub name of the checkpoint.
            parser: A `.udpipe` file to split raw text by; by default the embedded English parser.
        """
        model = AutoModelForTokenClassification.from_pretrained(name)
        splitter = UDPipeParser(parser_path("en") if parser is None else parser)
        return cls(model, SyntaxTokenizerFast.from_pretrained(name), splitter)

    def annotate(self, text: str) -> list[tuple[str, str]]:
        """Gives each word of a raw text with its tag."""
        review = Review(0, text)
        self.tag([review])
        words = [word for sentence in review.sentences() for word in sentence]
        return list(zip(words, review.tags(), strict=True))

    def tag(self, reviews: Sequence[Review]) -> None:
        """Gives reviews their labels; those that have no words yet are split first."""
        prepare_reviews([review for review in reviews if review.words is None], self.splitter)
        sentences = [sentence for review in reviews for sentence in review.sentences()]
        tagged = iter(tag_words(self.model, self.tokenizer, sentences))
        for review in reviews:
            tags = [tag for _ in review.sentences() for tag in next(tagged)]
            review.labels = tags_to_spans(review.words or (), tags)
