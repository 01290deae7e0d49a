"""The folder of a parsed corpus: numbered shards, a journal of those that are done, the settings, an index of texts.

| file | holds |
|---|---|
| `part-00000.parquet` ... | the rows, with their parses |
| `shards.jsonl` | a line for each shard that is done: rows, size, digest of what it was made of |
| `parses.json` | how the corpus was made, and once all of it is done, its totals |
| `text-hashes.npy`, `text-places.npy` | hashes of the texts in order, and where each text is |
| `*.udpipe`, `*.LICENSE.md` | the parser |
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from syntax_bert.parsers import Parser
from syntax_bert.tokenization.parser_files import parser_files, save_parsers
from syntax_bert.tokenization.udpipe_models import file_digest
from syntax_bert.tokenization.udpipe_parser import UDPipeParser

from .parse_columns import PARSE_TYPE, parse_column

__all__ = ["CorpusFolder", "describe_parser", "finish_corpus", "text_hash"]

MAX_COLUMNS = 256  # of texts in a row: a place is row * MAX_COLUMNS + column


class CorpusFolder:
    """Reads and writes the files of a parsed corpus beside its shards.

    Args:
        folder: The folder; it need not exist before something is written.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = Path(folder)
        self.journal = self.path / "shards.jsonl"
        self.settings_file = self.path / "parses.json"
        self.hashes_file, self.places_file = self.path / "text-hashes.npy", self.path / "text-places.npy"

    def shard(self, number: int, ending: str) -> Path:
        """Names a shard."""
        return self.path / f"part-{number:05}.{ending}"

    def shards(self) -> list[Path]:
        """Lists the Parquet shards in order, those of other programs too."""
        return sorted(self.path.glob("*.parquet"))

    def settings(self) -> dict[str, Any]:
        """Reads how the corpus was made; empty if nothing is there.

        Raises:
            ValueError: If the file is damaged.
        """
        if not self.settings_file.exists():
            return {}
        try:
            return dict(json.loads(self.settings_file.read_text("utf-8")))
        except ValueError as error:
            raise ValueError(f"{self.settings_file} is damaged: {error}; remove the folder and parse again") from error

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Writes how the corpus was made, at once."""
        write_at_once(self.settings_file, (json.dumps(settings, indent=1, ensure_ascii=False) + "\n").encode())

    def done(self) -> dict[int, dict[str, Any]]:
        """Reads the journal: what is noted of each shard that is whole; a half-written line counts as none."""
        notes = {}
        for line in self.journal.read_text("utf-8").splitlines() if self.journal.exists() else ():
            try:
                note = json.loads(line)
                file = self.path / note["file"]
                if file.exists() and file.stat().st_size == note["bytes"]:
                    notes[note["shard"]] = note
            except (ValueError, KeyError, TypeError):
                continue
        return notes

    def write_journal(self, notes: Iterable[Mapping[str, Any]]) -> None:
        """Writes the journal anew, at once."""
        write_at_once(self.journal, "".join(json.dumps(note) + "\n" for note in notes).encode())

    def note(self, note: Mapping[str, Any]) -> None:
        """Adds a shard to the journal."""
        with open(self.journal, "a", encoding="utf-8") as file:
            file.write(json.dumps(note) + "\n")

    def write_index(self, text_columns: Sequence[str]) -> str:
        """Writes the hashes of all texts of the Parquet shards, and where they are; of equal texts the first counts.

        Returns:
            The SHA-256 of the hashes.
        """
        kinds = np.dtype([("hash", np.uint64), ("place", np.int64)])
        texts = np.fromiter(((text_hash(text), place) for text, place in self._texts(text_columns)), kinds)
        order = np.argsort(texts["hash"], kind="stable")
        for file, values in ((self.hashes_file, texts["hash"]), (self.places_file, texts["place"])):
            unfinished = file.with_name(f"{file.stem}.unfinished.npy")
            np.save(unfinished, values[order])
            unfinished.replace(file)
        return hashlib.sha256(texts["hash"].tobytes()).hexdigest()

    def _texts(self, text_columns: Sequence[str]) -> Iterator[tuple[str | list[str], int]]:
        row = 0
        for shard in self.shards():
            with pq.ParquetFile(shard) as file:
                for batch in file.iter_batches(columns=list(text_columns)):
                    for column, name in enumerate(text_columns):
                        for index, text in enumerate(batch.column(name).to_pylist()):
                            if text is not None:
                                yield text, (row + index) * MAX_COLUMNS + column
                    row += batch.num_rows


def write_at_once(file: Path, content: bytes) -> None:
    """Writes a file that is never there half."""
    unfinished = file.with_name(f"{file.name}.unfinished")
    unfinished.write_bytes(content)
    unfinished.replace(file)


def text_hash(text: str | Sequence[str]) -> int:
    """Hashes a text, or the words of one."""
    content = text if isinstance(text, str) else "\0".join(["", *text])
    return int.from_bytes(hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def describe_parser(parser: Parser, name: str | None = None) -> dict[str, Any]:
    """Describes a parser in the form in which a tokenizer keeps it: its files with their SHA-256, else a name."""
    files = parser_files(parser)
    if not isinstance(parser, UDPipeParser) or not files:
        return {"name": name or type(parser).__name__}
    names = {language: file for language, file, _ in files}
    digests = {file: file_digest(path) for _, file, path in files}
    return {"parser": names.get(None, names), "sha256": digests, "beam_size": parser.beam_size}


def finish_corpus(
    folder: str | os.PathLike[str],
    parser: Parser,
    text_columns: Sequence[str] = ("text",),
    parser_name: str | None = None,
) -> None:
    """Makes a folder of Parquet files with parse columns, which another program wrote, a corpus for `--parses`.

    Args:
        folder: The folder.
        parser: The parser that made the parses; UDPipe models are copied into the folder.
        text_columns: The columns of texts, beside each of which is the column of its parses, `text_parse`.
        parser_name: Name of another parser, such as `stanza:de`.

    Raises:
        ValueError: If there are no files, or one lacks these columns.
    """
    corpus = CorpusFolder(folder)
    if not corpus.shards():
        raise ValueError(f"{folder} has no Parquet files")
    rows = 0
    for shard in corpus.shards():
        schema = pq.read_schema(shard)
        for column in text_columns:
            if column not in schema.names or not has_parses(schema, parse_column(column)):
                raise ValueError(
                    f"{shard} lacks {column!r} or its parses, {parse_column(column)!r}, in {schema.names}"
                )
        rows += pq.read_metadata(shard).num_rows
    described = describe_parser(parser, parser_name)
    save_parsers(parser if "parser" in described else None, described.get("sha256"), corpus.path)
    settings = {"format": "parquet", "text_columns": list(text_columns), "syntax": described}
    totals = {"rows": rows, "shards": len(corpus.shards()), "texts": corpus.write_index(text_columns)}
    corpus.write_settings({**settings, "complete": totals})


def has_parses(schema: Any, column: str) -> bool:
    """Tells whether a column is there and has the fields of parses."""
    if column not in schema.names:
        return False
    fields: Iterable[Any] = schema.field(column).type
    return [field.name for field in fields] == [field.name for field in PARSE_TYPE]
