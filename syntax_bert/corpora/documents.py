"""The rows of what is to be parsed, one at a time: text, JSON Lines, CSV, TSV, Parquet, and data sets of the Hub."""

import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import datasets
import pyarrow.parquet as pq

from syntax_bert.data.lines import read_numbered_lines
from syntax_bert.data.text_files import read_rows
from syntax_bert.tokenization.universal_dependencies import find_surrogate

__all__ = ["Document", "read_documents"]

COMPRESSED = (".gz", ".bz2", ".xz")


class Document(NamedTuple):
    """A row with the input and the 1-based line or row that it comes from."""

    source: str
    number: int
    row: dict[str, Any]

    @property
    def where(self) -> str:
        """Names the place for messages."""
        return f"{self.source}:{self.number}"


def read_documents(
    inputs: Iterable[str], config_name: str | None = None, split: str | None = None
) -> Iterator[Document]:
    """Reads inputs row by row, in order.

    Args:
        inputs: Files that end in `.txt` (a text a line, named `text`), `.jsonl`, `.csv`, `.tsv` (also `.gz`, `.bz2`,
            `.xz` of text and JSON Lines) or `.parquet`, folders of such files, or names of data sets of the Hub.
        config_name: Configuration of the data sets.
        split: Split of the data sets, `train` if not given.

    Raises:
        FileNotFoundError: If a file does not exist.
        ValueError: If a file has an unknown ending or is malformed, or a text has a lone surrogate, with the line.
    """
    for source in inputs:
        path = Path(source)
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if ending(file) in READERS)
            if not files:
                raise ValueError(f"the folder {source} has no file that ends in {', '.join(READERS)}")
            yield from read_documents(map(str, files))
        elif path.exists() or ending(path) in READERS:
            yield from read_file(path)
        elif path.suffix in COMPRESSED or source.count("/") > 1 or source.startswith((".", "/")):
            raise FileNotFoundError(f"there is no file {source!r}")
        else:
            dataset = datasets.load_dataset(source, config_name, split=split or "train", streaming=True)
            for number, row in enumerate(dataset, start=1):
                yield checked(Document(source, number, row))


def ending(path: Path) -> str:
    """Gives the ending of a file without that of its compression."""
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix


def read_file(path: Path) -> Iterator[Document]:
    """Reads a file by its ending."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    if ending(path) not in READERS:
        raise ValueError(f"{path}: unknown ending; inputs end in {', '.join(READERS)}")
    if path.suffix in COMPRESSED and ending(path) not in (".txt", ".jsonl"):
        raise ValueError(f"{path}: only text and JSON Lines are read compressed")
    for number, row in READERS[ending(path)](path):
        yield checked(Document(str(path), number, row))


def checked(document: Document) -> Document:
    """Refuses a row with a text that no parser can read."""
    for column, value in document.row.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and (position := find_surrogate(text)) is not None:
                raise ValueError(f"{document.where}: {column!r} has a lone surrogate at character {position}")
    return document


def read_text(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Reads a text a line; blank lines are empty texts."""
    number = 0
    try:
        for number, line in read_numbered_lines(path):
            yield number, {"text": line}
    except UnicodeError as error:
        raise ValueError(str(error)) from error
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{path} is damaged after line {number}: {error}") from error


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Reads a JSON object a line; blank lines are left out."""
    for number, line in read_text(path):
        if line["text"].strip():
            try:
                row = json.loads(line["text"])
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{path}:{number}: not a JSON object: {error}") from error
            if not isinstance(row, dict):
                raise ValueError(f"{path}:{number}: not a JSON object: {line['text'][:80]!r}")
            yield number, row


def read_delimited_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Reads CSV and TSV, all of whose values are texts."""
    yield from read_rows(str(path))


def read_parquet(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Reads Parquet in small batches."""
    try:
        file = pq.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is no Parquet file: {error}") from error
    with file:
        rows = (row for batch in file.iter_batches(batch_size=1000) for row in batch.to_pylist())
        yield from enumerate(rows, start=1)


READERS: dict[str, Callable[[Path], Iterator[tuple[int, dict[str, Any]]]]] = {
    ".txt": read_text,
    ".jsonl": read_json_lines,
    ".csv": read_delimited_rows,
    ".tsv": read_delimited_rows,
    ".parquet": read_parquet,
}
