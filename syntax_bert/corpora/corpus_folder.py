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
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from datasets.fingerprint import Hasher

from syntax_bert.parsers import Parser
from syntax_bert.parsers.catalogue import load_parser
from syntax_bert.tokenization.parser_files import parser_files, save_parsers
from syntax_bert.tokenization.udpipe_models import file_digest
from syntax_bert.tokenization.udpipe_parser import UDPipeParser

from .parse_columns import has_parses, has_texts, parse_column

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
        return sorted(self.path.glob("[!.]*.parquet"))

    def count(self) -> dict[str, int]:
        """Counts the rows and shards that are there."""
        return {"rows": sum(pq.read_metadata(shard).num_rows for shard in self.shards()), "shards": len(self.shards())}

    def settings(self) -> dict[str, Any]:
        """Reads how the corpus was made; empty if nothing is there.

        Raises:
            ValueError: If the file is damaged.
        """
        if not self.settings_file.exists():
            return {}
        try:
            settings = json.loads(self.settings_file.read_text("utf-8"))
            return {**settings, "format": settings["format"], "syntax": dict(settings["syntax"])}
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{self.settings_file} is damaged: {error}; remove the folder and parse again") from error

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Writes how the corpus was made, at once."""
        write_at_once(self.settings_file, (json.dumps(settings, indent=1, ensure_ascii=False) + "\n").encode())

    def done(self) -> dict[int, dict[str, Any]]:
        """Reads the journal: what is noted of each shard that is whole; a half-written line counts as none."""
        notes = {}
        for line in self.journal.read_text("utf-8", errors="replace").splitlines() if self.journal.exists() else ():
            try:
                note = json.loads(line)
                if file_digest(str(self.path / note["file"])) == note["sha256"]:
                    notes[note["shard"]] = note
            except (ValueError, KeyError, TypeError, OSError):
                continue
        return notes

    def write_journal(self, notes: Iterable[Mapping[str, Any]]) -> None:
        """Writes the journal anew, at once."""
        write_at_once(self.journal, "".join(json.dumps(note) + "\n" for note in notes).encode())

    def note(self, note: Mapping[str, Any]) -> None:
        """Adds a shard to the journal."""
        with open(self.journal, "a", encoding="utf-8") as file:
            file.write(json.dumps(note) + "\n")

    def write_index(self, settings: Mapping[str, Any]) -> str:
        """Writes the hashes of all texts that have parses, and where they are; of equal texts the first counts.

        Returns:
            The SHA-256 of all shards.
        """
        kinds = np.dtype([("hash", np.uint64), ("place", np.int64)])
        texts = np.fromiter(self._texts(settings), kinds)
        order = np.argsort(texts["hash"], kind="stable")
        for file, values in ((self.hashes_file, texts["hash"]), (self.places_file, texts["place"])):
            unfinished = file.with_name(f"{file.stem}.unfinished.npy")
            np.save(unfinished, values[order])
            unfinished.replace(file)
        return hashlib.sha256("".join(file_digest(str(shard)) for shard in self.shards()).encode()).hexdigest()

    def _texts(self, settings: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
        names, language_column = settings["text_columns"], settings.get("language_column")
        columns = [name for text in names for name in (text, f"{parse_column(text)}.starts")]
        row = 0
        for shard in self.shards():
            with pq.ParquetFile(shard) as file:
                for batch in file.iter_batches(columns=[*columns, *([language_column] if language_column else [])]):
                    languages = [settings.get("language")] * len(batch)
                    if language_column:
                        languages = batch.column(language_column).to_pylist()
                    for number, name in enumerate(names):
                        has_parse = batch.column(parse_column(name)).is_valid().to_pylist()
                        texts = batch.column(name).to_pylist()
                        for index, text in enumerate(texts):
                            if has_parse[index]:
                                yield text_hash(text, languages[index]), (row + index) * MAX_COLUMNS + number
                    row += len(batch)


def write_at_once(file: Path, content: bytes) -> None:
    """Writes a file that is never there half."""
    unfinished = file.with_name(f"{file.name}.unfinished")
    unfinished.write_bytes(content)
    unfinished.replace(file)


def text_hash(text: str | Sequence[str], language: str | None) -> int:
    """Hashes a text, or the words of one, in a language."""
    content = f"t{text}" if isinstance(text, str) else "w" + "".join(f"{len(word)}:{word}" for word in text)
    whole = f"{language or ''}\0{content}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(whole, digest_size=8).digest(), "little")


def describe_parser(parser: Parser, name: str | None = None) -> dict[str, Any]:
    """Describes a parser: UDPipe models as a tokenizer keeps them, another one by its name and a digest."""
    if not isinstance(parser, UDPipeParser):
        return {"name": name or type(parser).__name__, "digest": state_digest(parser)}
    files = parser_files(parser)
    names = {language: file for language, file, _ in files}
    digests = {file: file_digest(path) for _, file, path in files}
    return {"parser": names.get(None, names), "sha256": digests, "beam_size": parser.beam_size}


def state_digest(parser: Parser) -> str | None:
    """Gives a digest of what a parser parses by; `None` for one that does not pickle."""
    state: Any = getattr(parser, "__getstate__", dict)()
    contents = [state[key] for key in ("digests", "digest") if key in state] if isinstance(state, dict) else []
    try:
        return Hasher.hash(contents or parser)
    except (TypeError, AttributeError, pickle.PicklingError):
        return None


def finish_corpus(
    folder: str | os.PathLike[str],
    parser: str | Parser,
    text_columns: Sequence[str] = ("text",),
    language: str | None = None,
) -> None:
    """Makes a folder of Parquet files with parse columns, which another program wrote, a corpus for `--parses`.

    Args:
        folder: The folder.
        parser: The parser that made the parses, or its name as in the scripts; UDPipe models are copied to the folder.
        text_columns: The columns of texts, beside each of which is the column of its parses, `text_parse`.
        language: Language code of the texts, for a parser of several languages.

    Raises:
        ValueError: If there are no files, or one lacks these columns.
    """
    corpus = CorpusFolder(folder)
    if isinstance(text_columns, str):
        raise ValueError(f"text_columns takes a list of names, got {text_columns!r}")
    if not corpus.shards():
        raise ValueError(f"{folder} has no Parquet files")
    for shard in corpus.shards():
        schema = pq.read_schema(shard)
        for column in text_columns:
            if not (has_texts(schema, column) and has_parses(schema, parse_column(column))):
                raise ValueError(
                    f"{shard} lacks {column!r} or its parses, {parse_column(column)!r}, in {schema.names}"
                )
    own_parser = load_parser(parser) if isinstance(parser, str) else parser
    syntax = describe_parser(own_parser, parser if isinstance(parser, str) else None)
    save_parsers(own_parser if "parser" in syntax else None, syntax.get("sha256"), corpus.path)
    settings = {"format": "parquet", "text_columns": list(text_columns), "language": language, "syntax": syntax}
    content = corpus.write_index(settings)
    corpus.write_settings({**settings, "complete": {**corpus.count(), "content": content}})
