"""Texts that are parsed together."""

from collections.abc import Callable, Sequence
from typing import Any

from syntax_bert.tokenization.universal_dependencies import Parse

__all__ = ["BATCH", "parse_batch"]

BATCH = 100  # texts


def parse_batch(
    parse: Callable[[Sequence[Any], Sequence[str | None]], list[Parse]],
    texts: Sequence[Any],
    languages: Sequence[str | None],
    places: Sequence[str],
) -> list[Parse]:
    """Parses texts in their languages; if that fails, one by one, to name the place of the one.

    Raises:
        ValueError: If a text cannot be parsed.
    """
    try:
        return parse(texts, languages)
    except ValueError:
        for text, language, place in zip(texts, languages, places, strict=True):
            try:
                parse([text], [language])
            except ValueError as error:
                raise ValueError(f"{place}: {error}") from error
        raise
