"""Shards: rows of a corpus that are parsed and written together."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from syntax_bert.data.text_files import choose_text_columns

from .documents import Document
from .parse_columns import has_texts, parse_column

__all__ = ["CorpusOptions", "Shard", "choose_columns", "make_shards"]

UNFIT = (pa.ArrowException, OverflowError, UnicodeError, TypeError)  # of values that a column does not hold
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
    """Puts rows together; the first ones, or the schema that they bring, say which columns there are.

    Raises:
        ValueError: If there is no row, columns are not as the options say, or a later row has other columns or values
            that a column does not hold.
    """
    schema: pa.Schema | None = None
    first_row = 0
    for number, rows in enumerate(group(documents, options.shard_size)):
        if schema is None:
            schema = rows[0].schema or find_schema(rows)
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
        characters += sum(map(text_size, document.row.values()))
        if len(rows) == size or characters > MAX_CHARACTERS:
            yield rows
            rows, characters = [], 0
    if rows:
        yield rows


def text_size(value: Any) -> int:
    """Counts the characters of a text, or of a list of words."""
    if isinstance(value, list):
        return sum(len(word) for word in value if isinstance(word, str))
    return len(value) if isinstance(value, str) else 0


def find_schema(rows: Sequence[Document]) -> pa.Schema:
    """Finds the columns of rows and the kinds of their values."""
    fields = {}
    for name in dict.fromkeys(name for document in rows for name in document.row):
        try:
            kind = pa.array([document.row.get(name) for document in rows]).type
            pq.write_table(pa.table({name: pa.array([], kind)}), pa.BufferOutputStream())
        except UNFIT as error:
            where = f"{rows[0].where} to {rows[-1].number}"
            raise ValueError(
                f"{where}: {name!r} has values of several kinds, or none that Parquet holds: {error}"
            ) from error
        fields[name] = pa.string() if pa.types.is_null(kind) else kind
    return pa.schema(fields)


def make_table(rows: Sequence[Document], schema: pa.Schema) -> pa.Table:
    """Makes a table of rows, and names the row that does not fit."""
    for document in rows:
        if unknown := document.row.keys() - set(schema.names):
            problem = f"the columns {sorted(unknown)} are not in the first rows, which have {schema.names}"
            raise ValueError(f"{document.where}: {problem}")
    values = [document.row for document in rows]
    try:
        table = pa.Table.from_pylist(values, schema)
        if all(map(is_held, values, table.to_pylist())):
            return table
    except UNFIT:
        pass
    for document in rows:
        try:
            stored = pa.Table.from_pylist([document.row], schema).to_pylist()[0]
        except UNFIT as error:
            raise ValueError(f"{document.where}: not as in the first rows: {error}") from error
        if not is_held(document.row, stored):
            kinds = {name: str(schema.field(name).type) for name in document.row}
            raise ValueError(f"{document.where}: its values do not fit the first rows, which have {kinds}")
    raise ValueError(f"{rows[0].where}: these rows do not fit into one table")


def is_held(value: Any, stored: Any) -> bool:
    """Tells whether nothing of a value was lost when it was stored; fields that others have are `None`."""
    if isinstance(value, dict) and isinstance(stored, dict):
        return value.keys() <= stored.keys() and all(is_held(value.get(name), stored[name]) for name in stored)
    if isinstance(value, list) and isinstance(stored, list):
        return len(value) == len(stored) and all(map(is_held, value, stored))
    both_nan = isinstance(value, float) and isinstance(stored, float) and isnan(value) and isnan(stored)
    return both_nan or bool(value == stored)


def choose_columns(schema: pa.Schema, options: CorpusOptions, source: str) -> list[str]:
    """Gives the text columns: those named, else `text`, else the only one or two that can be meant.

    Raises:
        ValueError: If columns are missing, hold no texts or words, have parses already, have to be chosen, or are too
            many for the format.
    """
    texts = [name for name in schema.names if has_texts(schema, name)]
    columns = options.text_columns
    if columns is None:
        columns = ["text"] if "text" in texts else choose_text_columns(source, texts, "label")
    for column in columns:
        if column not in texts:
            raise ValueError(f"{source} has no text column {column!r}; it has {texts or 'none'}")
        if parse_column(column) in schema.names:
            raise ValueError(f"{source} has a column {parse_column(column)!r} already: it is parsed")
    language = options.language_column
    if language is not None and (language not in texts or pa.types.is_nested(schema.field(language).type)):
        raise ValueError(f"{source} has no column {language!r} of language codes; it has {schema.names}")
    if options.format == "conllu" and len(columns) > 1:
        raise ValueError(f"CoNLL-U holds the parses of one column: choose one of {columns}")
    return list(columns)
