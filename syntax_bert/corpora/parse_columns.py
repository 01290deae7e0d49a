"""Parses as columns of Arrow and Parquet: beside the column `text` its parse, `text_parse`, a struct of lists."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from syntax_bert.tokenization.universal_dependencies import Parse

__all__ = ["PARSE_TYPE", "from_record", "has_parses", "has_texts", "parse_column", "to_record"]

PARSE_TYPE = pa.struct(
    {
        name: pa.list_(pa.string() if name in ("upos", "deprels") else pa.int32())
        for name in ("starts", "ends", "upos", "sentence_ids", "parents", "deprels")
    }
)


def parse_column(column: str) -> str:
    """Names the column with the parses of a text column."""
    return f"{column}_parse"


def has_texts(schema: pa.Schema, column: str) -> bool:
    """Tells whether a column is there and holds texts, or lists of words."""
    if column not in schema.names:
        return False
    kind = schema.field(column).type
    kind = kind.value_type if pa.types.is_list(kind) or pa.types.is_large_list(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def has_parses(schema: pa.Schema, column: str) -> bool:
    """Tells whether a column is there and has the fields of parses."""
    if column not in schema.names:
        return False
    kind = schema.field(column).type
    return pa.types.is_struct(kind) and [field.name for field in kind] == [field.name for field in PARSE_TYPE]


def to_record(parse: Parse | None) -> dict[str, Sequence] | None:
    """Gives the columns of a Parse; its text lies beside them."""
    return None if parse is None else {field.name: getattr(parse, field.name) for field in PARSE_TYPE}


def from_record(text: str, record: Mapping[str, Any], dependencies: bool = True) -> Parse:
    """Makes a Parse of a text and its stored columns.

    Raises:
        ValueError: If the columns are no parse of the text, or trees are wanted and it was only tagged.
    """
    if dependencies and record["parents"] is None:
        raise ValueError(f"{text[:80]!r} was only tagged; parse it without --tags_only")
    columns = dict(record) if dependencies else {**record, "parents": None, "deprels": None}
    return Parse(text, **columns)
