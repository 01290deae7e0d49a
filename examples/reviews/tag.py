"""Tags reviews with a trained tagger.

    python -m examples.reviews.tag --model_name_or_path output/reviews --input_file reviews.txt \
        --output_file tagged.jsonl

The result is one object a line: `id`, `text`, and `labels` [start, end, tag], characters of the text; and the `words`
and `sentence_ids` that were tagged.
"""

from dataclasses import dataclass

from tqdm.auto import trange
from transformers.hf_argparser import HfArg

from syntax_bert.arguments import parse_arguments

from .review_files import read_reviews, write_reviews
from .tagger import ReviewTagger

REVIEWS_AT_A_TIME = 64  # whose encoded sentences are in memory


@dataclass
class TagArguments:
    """What is read and written."""

    model_name_or_path: str = HfArg(help="The trained tagger.")
    input_file: str = HfArg(help="Reviews: plain text, one a line, or .jsonl, prepared or not.")
    output_file: str = HfArg(help="The tagged reviews, as JSON Lines.")
    parser: str | None = HfArg(default=None, help="A .udpipe file to split by. Default: the embedded English parser.")


def main(arguments: list[str] | None = None) -> None:
    """Runs the command."""
    (args,) = parse_arguments(TagArguments, arguments=arguments)
    reviews = read_reviews(args.input_file)
    tagger = ReviewTagger.from_pretrained(args.model_name_or_path, args.parser)
    for start in trange(0, len(reviews), REVIEWS_AT_A_TIME, desc="Tagging", disable=None):
        tagger.tag(reviews[start : start + REVIEWS_AT_A_TIME])
    write_reviews(reviews, args.output_file)


if __name__ == "__main__":
    main()
