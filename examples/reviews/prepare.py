"""Splits reviews, one a line, into words and sentences.

    python -m examples.reviews.prepare --input_file reviews.txt --output_file prepared.jsonl

Reviews that carry labels (JSON Lines of `id`, `text` and `labels`) become training data by
`--column_file train.txt`: one word and its tag a line, a blank line after each sentence.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tqdm.auto import tqdm
from transformers.hf_argparser import HfArg

from syntax_bert import UDPipeParser, parser_path
from syntax_bert.arguments import parse_arguments
from syntax_bert.data.lines import StrPath

from .review_files import Review, read_reviews, write_reviews
from .sentences import split_text

__all__ = ["prepare_reviews", "write_columns"]


@dataclass
class PrepareArguments:
    """What is read and written."""

    input_file: str = HfArg(help="Reviews: plain text, one a line, or .jsonl.")
    output_file: str = HfArg(help="The same with words and sentences, as JSON Lines.")
    column_file: str | None = HfArg(default=None, help="Words and tags for run_xtreme_syntax.py --task_name conll.")
    parser: str | None = HfArg(default=None, help="A .udpipe file. Default: the embedded English parser.")


def prepare_reviews(reviews: Iterable[Review], parser: UDPipeParser) -> None:
    """Gives reviews their words and sentences."""
    for review in reviews:
        review.words, review.sentence_ids = split_text(review.text, parser)


def write_columns(reviews: Iterable[Review], path: StrPath) -> None:
    """Writes the words of reviews with their tags, as column files have them.

    Raises:
        ValueError: If the spans of a review do not fit its words, naming it.
    """
    blocks = []
    for review in reviews:
        tags = iter(review.tags())
        blocks += ["".join(f"{word}\t{next(tags)}\n" for word in sentence) for sentence in review.sentences()]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("".join(f"{block}\n" for block in blocks), encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """Runs the command."""
    (args,) = parse_arguments(PrepareArguments, arguments=arguments)
    reviews = read_reviews(args.input_file, needs=() if args.column_file is None else ["labels"])
    prepare_reviews(
        tqdm(reviews, desc="Splitting", disable=None),
        UDPipeParser(parser_path("en") if args.parser is None else args.parser),
    )
    if args.column_file is not None:
        write_columns(reviews, args.column_file)
    write_reviews(reviews, args.output_file)


if __name__ == "__main__":
    main()
