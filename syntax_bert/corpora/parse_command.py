"""`syntax-bert parse`: texts of any amount, parsed once, for `--parses` of the scripts or as CoNLL-U."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from syntax_bert.parsers.catalogue import PARSER_HELP, make_parser

from .corpus_folder import CorpusFolder
from .documents import READERS, read_documents
from .parse_corpus import parse_corpus
from .shards import CorpusOptions

__all__ = ["parse"]


def parse(arguments: list[str]) -> None:
    """Parses texts into a folder of shards; run again after an interruption, it goes on where it was."""
    given = read_arguments(arguments)
    options = CorpusOptions(
        text_columns=given.text_columns,
        language=given.language,
        language_column=given.language_column,
        dependencies=not given.tags_only,
        format=given.format,
        shard_size=given.shard_size,
    )
    own_parser = make_parser(given.parser, given.parser_beam_size)
    documents = read_documents(given.inputs, given.input_format, given.dataset_config_name, given.split)
    try:
        totals = parse_corpus(documents, given.output, own_parser, options, given.workers, " ".join(given.parser))
    except KeyboardInterrupt:
        print(f"stopped; the same command goes on where {given.output} is", file=sys.stderr)
        sys.exit(130)
    columns = " and ".join(CorpusFolder(given.output).settings()["text_columns"])
    counts = "{rows:,} rows, {sentences:,} sentences, {words:,} words in {shards:,} shards".format(**totals)
    print(f"{given.output}: {counts}, of {columns}")


def read_arguments(arguments: Sequence[str]) -> Namespace:
    """Reads the command line."""
    parser = ArgumentParser("syntax-bert parse", description=str(parse.__doc__), epilog="INPUT comes first.")
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="Files (.txt, .jsonl, .csv, .tsv, .parquet), folders of them, or Hub data sets.",
    )
    parser.add_argument(
        "--input_format", choices=READERS, help="What files are, of any ending; words are column files."
    )
    parser.add_argument("--output", required=True, help="The folder of the corpus.")
    parser.add_argument("--parser", nargs="+", default=["en"], metavar="PARSER", help=PARSER_HELP)
    parser.add_argument("--parser_beam_size", type=int, help="UDPipe's beam; 1 is fastest, 5 the default.")
    parser.add_argument("--text_columns", nargs="+", help="Columns to parse, of texts or of lists of words.")
    parser.add_argument("--language", help="Language code of all texts, for a parser of several languages.")
    parser.add_argument("--language_column", help="Column with the language code of each row.")
    parser.add_argument("--tags_only", action="store_true", help="Only tag, in half the time.")
    parser.add_argument("--format", choices=["parquet", "conllu"], default="parquet", help="Of the shards.")
    parser.add_argument("--shard_size", type=int, default=10_000, help="Rows of a shard.")
    parser.add_argument("--workers", type=int, default=1, help="Number of processes.")
    parser.add_argument("--dataset_config_name", help="Configuration of a Hub data set.")
    parser.add_argument("--split", help="Split of a Hub data set. Default: train.")
    given = parser.parse_args(arguments)
    if given.workers < 1 or given.shard_size < 1:
        raise ValueError("--workers and --shard_size must be at least 1")
    return given
