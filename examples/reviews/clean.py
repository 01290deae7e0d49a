"""Cleans the tags of tagged reviews up.

python -m examples.reviews.clean --input_file tagged.jsonl --output_file cleaned.jsonl

Words and sentences stay as they are.
"""

from dataclasses import dataclass

from transformers.hf_argparser import HfArg

from syntax_bert.arguments import parse_arguments

from .clean_rules import clean_tags
from .review_files import read_reviews, write_reviews
from .spans import tags_to_spans


@dataclass
class CleanArguments:
    """What is read and written."""

    input_file: str = HfArg(help="Reviews with words and labels, as the command tag writes them.")
    output_file: str = HfArg(help="The same with cleaned labels.")


def main(arguments: list[str] | None = None) -> None:
    """Runs the command."""
    (args,) = parse_arguments(CleanArguments, arguments=arguments)
    reviews = read_reviews(args.input_file, needs=["words", "labels"])
    for review in reviews:
        words = [word for sentence in review.sentences() for word in sentence]
        review.labels = tags_to_spans(review.words or (), clean_tags(words, review.tags()))
    write_reviews(reviews, args.output_file)


if __name__ == "__main__":
    main()
