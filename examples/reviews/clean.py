"""Cleans the tags of tagged reviews up.

python -m examples.reviews.clean --input_file tagged.jsonl --output_file cleaned.jsonl

Words and sentences stay as they are.
"""

from dataclasses import dataclass

from transformers.hf_argparser import HfArg

from syntax_bert.arguments import parse_arguments

from .clean_rules import clean_tags
from .review_files import Review, read_reviews, write_reviews
from .spans import tags_to_spans


@dataclass
class CleanArguments:
    """What is read and written."""

    input_file: str = HfArg(help="Reviews with words and labels, as the command tag writes them.")
    output_file: str = HfArg(help="The same with cleaned labels.")


def marked_words(review: Review) -> list[str]:
    """Gives the words of a review, with a dash for each hyphen or slash that is in no compound: a bullet."""
    marked = []
    for start, end in review.words or ():
        word, around = review.text[start:end], review.text[max(0, start - 1) : start] + review.text[end : end + 1]
        is_free = len(around) < 2 or any(map(str.isspace, around))
        marked.append("–" if word in ("-", "/") and is_free else word)
    return marked


def main(arguments: list[str] | None = None) -> None:
    """Runs the command."""
    (args,) = parse_arguments(CleanArguments, arguments=arguments)
    reviews = read_reviews(args.input_file, needs=["words", "labels"])
    for review in reviews:
        review.labels = tags_to_spans(review.words or (), clean_tags(marked_words(review), review.tags()))
    write_reviews(reviews, args.output_file)


if __name__ == "__main__":
    main()
