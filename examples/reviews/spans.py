"""Tags of words as spans of characters, and back."""

from collections.abc import Sequence
from itertools import groupby

__all__ = ["OUTSIDE", "spans_to_tags", "tags_to_spans"]

OUTSIDE = "O"


def tags_to_spans(words: Sequence[tuple[int, int]], tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """Joins neighbouring words with the same tag; `O` is left out.

    Args:
        words: First character of each word, and the one after its last.
        tags: One a word.

    Returns:
        First character of each span, the one after its last, and its tag.
    """
    spans = []
    for tag, run in groupby(zip(words, tags, strict=True), key=lambda pair: pair[1]):
        own = [word for word, _ in run]
        if tag != OUTSIDE:
            spans.append((own[0][0], own[-1][1], tag))
    return spans


def spans_to_tags(words: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int, str]]) -> list[str]:
    """Gives each word the tag of the span that it lies in, `O` outside.

    Args:
        words: First character of each word, and the one after its last.
        spans: First character, the one after the last, and tag; in any order.

    Raises:
        ValueError: If two spans have a word in common, or one begins or ends inside a word or has none.
    """
    tags = [OUTSIDE] * len(words)
    for start, end, tag in spans:
        inside = [index for index, (first, last) in enumerate(words) if first < end and last > start]
        if not inside:
            raise ValueError(f"there is no word in the label {[start, end, tag]}")
        for index in inside:
            if words[index][0] < start or words[index][1] > end:
                raise ValueError(f"the label {[start, end, tag]} cuts the word of the characters {list(words[index])}")
            if tags[index] != OUTSIDE:
                raise ValueError(f"the label {[start, end, tag]} overlaps with one that is {tags[index]!r}")
            tags[index] = tag
    return tags
