"""Shards: rows of a corpus that are parsed and written together."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from syntax_bert.data.text_files import choose_text_columns

from .documents import Document
from .parse_columns import parse_column

__all__ = ["CorpusOptions", "Shard", "choose_columns", "make_shards"]

MAX_CHARACTERS = 20_000_000  # of the texts of a shard, so that long documents do not fill the memory


@dataclass(frozen=True)
class CorpusOptions:
    """What a corpus is made with.

    Args:
        text_columns: Columns to parse, of texts or of lists of words; by default `text`, or those that must be meant.
        language: Language code of all texts, for a parser of several languages.
        language_column: Column with the language code of each row.
        dependencies: Whether texts are parsed, or only tagged.
        format: `parquet`, with all columns of the input, or `conllu`, of one text column.
        shard_size: Rows of a shard.
    """

    text_columns: Sequence[str] | None = None
    language: str | None = None
    language_column: str | None = None
    dependencies: bool = True
    format: Literal["parquet", "conllu"] = "parquet"
    shard_size: int = 10_000


class Shard(NamedTuple):
    """Rows as an Arrow table, with the source and the 1-based line or row of each."""

    number: int
    first_row: int
    table: pa.Table
    places: list[tuple[str, int]]

    def digest(self) -> str:
        """Gives the SHA-256 of the rows."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.table.schema) as writer:
            writer.write_table(self.table)
        return hashlib.sha256(sink.getvalue()).hexdigest()


def make_shards(documents: Iterable[Document], options: CorpusOptions) -> Iterator[Shard]:
    """Puts rows together; those of the first shard say which columns there are.

    Raises:
        ValueError: If there is no row, columns are not as the options say, or a later row has other columns or kinds
            of values.
    """
    schema: pa.Schema | None = None
    first_row = 0
    for number, rows in enumerate(group(documents, options.shard_size)):
        if schema is None:
            schema = find_schema(rows)
            choose_columns(schema, options, rows[0].source)
        table = make_table(rows, schema)
        yield Shard(number, first_row, table, [(row.source, row.number) for row in rows])
        first_row += len(rows)
    if schema is None:
        raise ValueError("there is nothing to parse: the inputs have no rows")


def group(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    """Cuts documents into groups of a size, or less if they are very long."""
    rows: list[Document] = []
    characters = 0
    for document in documents:
        rows.append(document)
        characters += sum(len(value) for value in document.row.values() if isinstance(value, str))
        if len(rows) == size or characters > MAX_CHARACTERS:
            yield rows
            rows, characters = [], 0
    if rows:
        yield rows


def find_schema(rows: Sequence[Document]) -> pa.Schema:
    """Finds the columns of rows and the kinds of their values."""
    fields = {}
    for name in dict.fromkeys(name for document in rows for name in document.row):
        values = [document.row.get(name) for document in rows]
        try:
            kind = pa.array(values).type
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise ValueError(
                f"{rows[0].where} to {rows[-1].number}: {name!r} has values of several kinds: {error}"
            ) from error
        fields[name] = pa.string() if pa.types.is_null(kind) else kind
    return pa.schema(fields)


def make_table(rows: Sequence[Document], schema: pa.Schema) -> pa.Table:
    """Makes a table of rows, and names the row that does not fit."""
    for document in rows:
        if unknown := document.row.keys() - set(schema.names):
            problem = f"the columns {sorted(unknown)} are not in the first rows, which have {schema.names}"
            raise ValueError(f"{document.where}: {problem}")
    try:
        return pa.Table.from_pylist([document.row for document in rows], schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        for document in rows:
            try:
                pa.Table.from_pylist([document.row], schema)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise ValueError(f"{document.where}: not as in the first rows: {error}") from error
        raise


def choose_columns(schema: pa.Schema, options: CorpusOptions, source: str) -> list[str]:
    """Gives the text columns: those named, else `text`, else the only one or two that can be meant.

    Raises:
        ValueError: If columns are missing, hold no texts or words, have parses already, have to be chosen, or are too
            many for the format.
    """
    texts = [field.name for field in schema if is_text(field.type)]
    columns = options.text_columns
    if columns is None:
        columns = ["text"] if "text" in texts else choose_text_columns(source, texts, "label")
    for column in columns:
        if column not in texts:
            raise ValueError(f"{source} has no text column {column!r}; it has {texts or 'none'}")
        if parse_column(column) in schema.names:
            raise ValueError(f"{source} has a column {parse_column(column)!r} already: it is parsed")
    if options.language_column not in (None, *schema.names):
        raise ValueError(f"{source} has no column {options.language_column!r}; it has {schema.names}")
    if options.format == "conllu" and len(columns) > 1:
        raise ValueError(f"CoNLL-U holds the parses of one column: choose one of {columns}")
    return list(columns)


def is_text(kind: Any) -> bool:
    """Tells whether a column holds texts, or lists of words."""
    kind = kind.value_type if pa.types.is_list(kind) or pa.types.is_large_list(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)
