"""Parsing a corpus in shards, in several processes; what is whole is never parsed again."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
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

LOCK = ".lock"


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
        The numbers of `rows`, `sentences`, `words` and `shards`, and of Parquet the digest of the `content`.

    Raises:
        ValueError: If the folder holds a corpus with other settings or is being written to, or a row cannot be parsed,
            naming its line.
    """
    corpus = CorpusFolder(folder)
    corpus.path.mkdir(parents=True, exist_ok=True)
    with only_writer(corpus):
        settings, before = describe_settings(parser, parser_name, options), corpus.settings()
        check_settings(corpus, settings, before)
        if options.text_columns is None:  # as the first run has chosen them
            options = replace(options, text_columns=before.get("text_columns"))
        for unfinished in corpus.path.glob("*.unfinished*"):
            unfinished.unlink()
        old_files = {note["file"] for note in corpus.done().values()}
        job = ShardParser(corpus, parser, options, Progress())
        notes = parse_shards(make_shards(documents, options), job, settings, workers)
        save_parsers(parser if "parser" in settings["syntax"] else None, settings["syntax"].get("sha256"), corpus.path)
        for stale in old_files - {note["file"] for note in notes}:  # the input was longer
            (corpus.path / stale).unlink()
        corpus.write_journal(notes)
        totals: dict[str, Any] = {name: sum(note[name] for note in notes) for name in ("rows", "sentences", "words")}
        totals["shards"] = len(notes)
        settings["text_columns"] = notes[0]["text_columns"]
        if options.format == "parquet":
            totals["content"] = corpus.write_index(settings)
        corpus.write_settings({**settings, "complete": totals})
        return totals


@contextmanager
def only_writer(corpus: CorpusFolder) -> Iterator[None]:
    """Makes sure that no other process writes into a folder."""
    try:
        with FileLock(corpus.path / LOCK, timeout=0):
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


def check_settings(corpus: CorpusFolder, settings: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Refuses a folder with a corpus that was made differently, or with other files."""
    others = [path.name for path in corpus.path.iterdir() if path.name != LOCK]
    if not before and others:
        raise ValueError(f"{corpus.path} has files that are no parsed corpus, {sorted(others)[:3]}: name a new folder")
    for name, value in settings.items() if before else ():
        if before.get(name) != value and not (name == "text_columns" and None in (value, before.get(name))):
            problem = f"{name} {before.get(name)!r}, not {value!r}"
            raise ValueError(f"{corpus.path} holds a corpus with {problem}: name a new folder, or remove that one")
