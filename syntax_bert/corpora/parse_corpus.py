"""Parsing a corpus in shards, in several processes; what is whole is never parsed again."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from filelock import FileLock, Timeout

from syntax_bert.parsers import Parser
from syntax_bert.tokenization.parser_files import save_parsers

from .corpus_folder import CorpusFolder, describe_parser
from .documents import Document
from .shard_parser import Progress, ShardParser
from .shard_workers import parse_shards
from .shards import CorpusOptions, make_shards

__all__ = ["parse_corpus"]


def parse_corpus(
    documents: Iterable[Document],
    folder: str | os.PathLike[str],
    parser: Parser,
    options: CorpusOptions,
    workers: int = 1,
    parser_name: str | None = None,
) -> dict[str, Any]:
    """Parses rows into numbered shards; called again after an interruption, it goes on where it was.

    A shard that is there is kept if it was made of the same rows, so that rows may be added at the end of the input.

    Args:
        documents: The rows.
        folder: Where to; a corpus made with other settings is not touched.
        parser: The parser; for several workers it has to pickle. UDPipe models are copied into the folder.
        options: What to parse, and how.
        workers: Number of processes; 1 parses in this one.
        parser_name: Name of a parser other than UDPipe, such as `stanza:de`.

    Returns:
        The numbers of `rows`, `sentences`, `words` and `shards`, and of Parquet the digest of the `texts`.

    Raises:
        ValueError: If the folder holds a corpus with other settings or is being written to, or a row cannot be parsed,
            naming its line.
    """
    corpus = CorpusFolder(folder)
    corpus.path.mkdir(parents=True, exist_ok=True)
    with only_writer(corpus):
        settings = describe_settings(parser, parser_name, options)
        check_settings(corpus, settings)
        corpus.write_settings(settings)
        save_parsers(parser if "parser" in settings["syntax"] else None, settings["syntax"].get("sha256"), corpus.path)
        for unfinished in corpus.path.glob("*.unfinished*"):
            unfinished.unlink()
        corpus.write_journal(corpus.done().values())  # without a line that was cut
        job = ShardParser(corpus, parser, options, Progress())
        notes = parse_shards(make_shards(documents, options), job, workers)
        corpus.write_journal(notes)
        for stale in set(corpus.path.glob(f"part-*.{options.format}")) - {
            corpus.path / note["file"] for note in notes
        }:
            stale.unlink()  # the input was longer
        totals: dict[str, Any] = {name: sum(note[name] for note in notes) for name in ("rows", "sentences", "words")}
        totals["shards"] = len(notes)
        if options.format == "parquet":
            settings["text_columns"] = notes[0]["text_columns"]
            totals["texts"] = corpus.write_index(settings["text_columns"])
        corpus.write_settings({**settings, "complete": totals})
        return totals


@contextmanager
def only_writer(corpus: CorpusFolder) -> Iterator[None]:
    """Makes sure that no other process writes into a folder."""
    try:
        with FileLock(corpus.path / ".lock", timeout=0):
            yield
    except Timeout as error:
        raise ValueError(f"another process is writing to {corpus.path}") from error


def describe_settings(parser: Parser, parser_name: str | None, options: CorpusOptions) -> dict[str, Any]:
    """Lists what the content of the shards depends on, beside the rows."""
    columns = options.text_columns
    return {
        "format": options.format,
        "text_columns": None if columns is None else list(columns),
        "language": options.language,
        "language_column": options.language_column,
        "dependencies": options.dependencies,
        "shard_size": options.shard_size,
        "syntax": describe_parser(parser, parser_name),
    }


def check_settings(corpus: CorpusFolder, settings: Mapping[str, Any]) -> None:
    """Refuses a folder with a corpus that was made differently, or with other files."""
    there = corpus.settings()
    if not there and (corpus.shards() or corpus.journal.exists()):
        raise ValueError(f"{corpus.path} has files that are no parsed corpus: name a new folder")
    for name, value in settings.items():
        is_chosen = name == "text_columns" and value is None  # by the first run, from the same rows
        if there and there.get(name) != value and not is_chosen:
            problem = f"{name} {there.get(name)!r}, not {value!r}"
            raise ValueError(f"{corpus.path} holds a corpus with {problem}: name a new folder, or remove that one")
