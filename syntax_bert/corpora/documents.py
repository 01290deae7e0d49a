"""The rows of what is to be parsed, one at a time: text, JSON Lines, CSV, TSV, Parquet, and data sets of the Hub."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

from syntax_bert.data.column_files import read_tagged_sentences
from syntax_bert.data.lines import read_numbered_lines
from syntax_bert.data.text_files import read_rows
from syntax_bert.tokenization.universal_dependencies import find_surrogate

__all__ = ["READERS", "Document", "read_documents"]

COMPRESSED = (".gz", ".bz2", ".xz")


class Document(NamedTuple):
    """A row with the input and the 1-based line or row that it comes from, and the schema if the input has one."""

    source: str
    number: int
    row: dict[str, Any]
    schema: pa.Schema | None = None

    @property
    def where(self) -> str:
        """Names the place for messages."""
        return f"{self.source}:{self.number}"


def read_documents(
    inputs: Iterable[str], input_format: str | None = None, config_name: str | None = None, split: str | None = None
) -> Iterator[Document]:
    """Reads inputs row by row, in order.

    Args:
        inputs: Files, folders of files, or names of data sets of the Hub.
        input_format: What the files are, one of `READERS`; by default their endings say so. `txt` has a text a line,
            named `text`; `words` are column files, whose sentences become `words` and `tags`. Files that end in
            `.gz`, `.bz2` or `.xz` may be text or JSON Lines.
        config_name: Configuration of the data sets.
        split: Split of the data sets, `train` if not given.

    Raises:
        FileNotFoundError: If a file does not exist.
        ValueError: If a file has an unknown ending or is malformed, or a text has a lone surrogate, with the line.
    """
    for source in inputs:
        path = Path(source)
        if path.is_dir():
            files = sorted(
                file for file in path.iterdir() if file.is_file() and (input_format or ending(file) in READERS)
            )
            if not files:
                raise ValueError(f"the folder {source} has no file that ends in {', '.join(READERS)}")
            yield from read_documents(map(str, files), input_format)
        elif path.exists() or input_format or ending(path) in READERS:
            yield from read_file(path, input_format)
        elif path.suffix in COMPRESSED or source.count("/") > 1 or source.startswith((".", "/")):
            raise FileNotFoundError(f"there is no file {source!r}")
        else:
            try:
                dataset = datasets.load_dataset(source, config_name, split=split or "train", streaming=True)
            except OSError as error:
                raise FileNotFoundError(
                    f"there is no file {source!r}, and as a data set of the Hub: {error}"
                ) from error
            schema = None if dataset.features is None else dataset.features.arrow_schema
            for number, row in enumerate(dataset, start=1):
                yield checked(Document(source, number, row, schema))


def ending(path: Path) -> str:
    """Gives the ending of a file, without its dot and that of its compression."""
    return (Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix).removeprefix(".")


def read_file(path: Path, input_format: str | None) -> Iterator[Document]:
    """Reads a file."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    kind = input_format or ending(path)
    if kind not in READERS:
        known = f"inputs end in {', '.join(READERS)}, or --input_format says what they are"
        raise ValueError(f"{path}: unknown ending; {known}")
    if path.suffix in COMPRESSED and kind not in ("txt", "jsonl", "json"):
        raise ValueError(f"{path}: only text and JSON Lines are read compressed")
    yield from map(checked, READERS[kind](path))


def checked(document: Document) -> Document:
    """Refuses a row with a text that no parser can read, or with words that are none."""
    for column, value in document.row.items():
        for text in texts_of({column: value}):
            if (position := find_surrogate(text)) is not None:
                raise ValueError(f"{document.where}: {column!r} has a lone surrogate at character {position}")
        if isinstance(value, list) and None in value and any(isinstance(word, str) for word in value):
            raise ValueError(f"{document.where}: {column!r} has null among its words")
    return document


def texts_of(value: Any) -> Iterator[str]:
    """Lists all the texts in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inside in value.items():
            yield from (*texts_of(key), *texts_of(inside))
    elif isinstance(value, list):
        for inside in value:
            yield from texts_of(inside)


def read_text(path: Path) -> Iterator[Document]:
    """Reads a text a line; blank lines are empty texts."""
    try:
        for number, line in read_numbered_lines(path):
            yield Document(str(path), number, {"text": line})
    except UnicodeError as error:
        raise ValueError(str(error)) from error


def read_json_lines(path: Path) -> Iterator[Document]:
    """Reads a JSON object a line; blank lines are left out."""
    for line in read_text(path):
        if line.row["text"].strip():
            try:
                row = json.loads(line.row["text"])
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{line.where}: not a JSON object: {error}") from error
            if not isinstance(row, dict):
                raise ValueError(f"{line.where}: not a JSON object: {line.row['text'][:80]!r}")
            yield line._replace(row=row)


def read_delimited_rows(path: Path) -> Iterator[Document]:
    """Reads CSV and TSV with a header, all of whose values are texts."""
    for number, row in read_rows(str(path)):
        yield Document(str(path), number, dict(row))


def read_parquet(path: Path) -> Iterator[Document]:
    """Reads Parquet in small batches."""
    try:
        file = pq.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is no Parquet file: {error}") from error
    with file:
        schema = file.schema_arrow.remove_metadata()
        if len(set(schema.names)) < len(schema.names):
            raise ValueError(f"{path} has a column twice: {schema.names}")
        rows = (row for batch in file.iter_batches(batch_size=1000) for row in batch.to_pylist())
        for number, row in enumerate(rows, start=1):
            yield Document(str(path), number, row, schema)


def read_words(path: Path) -> Iterator[Document]:
    """Reads a column file: the words of its sentences, in the first column, and their tags, in the last."""
    for number, row in enumerate(read_tagged_sentences(path), start=1):
        yield Document(str(path), number, {"words": row["words"], "tags": row["tags"]})


READERS: dict[str, Callable[[Path], Iterator[Document]]] = {
    "txt": read_text,
    "jsonl": read_json_lines,
    "json": read_json_lines,
    "csv": read_delimited_rows,
    "tsv": read_delimited_rows,
    "parquet": read_parquet,
    "words": read_words,
}
