"""Files of reviews: plain text, one a line, and JSON Lines of `id`, `text`, `words`, `sentence_ids` and `labels`."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from syntax_bert.data.lines import StrPath, read_numbered_lines
from syntax_bert.tokenization.universal_dependencies import refuse_surrogates

from .spans import spans_to_tags

__all__ = ["Review", "read_reviews", "write_reviews"]


@dataclass
class Review:
    """A review, as far as it has been worked on.

    Args:
        id: Names it; the 1-based line of a text file.
        text: All of it.
        words: First character of each word and the one after its last; `None` before the text is split.
        sentence_ids: 0-based sentence of each word.
        labels: First character of each span, the one after its last, and its tag; `None` before the text is tagged.
    """

    id: int | str
    text: str
    words: list[tuple[int, int]] | None = None
    sentence_ids: list[int] | None = None
    labels: list[tuple[int, int, str]] | None = None

    def sentences(self) -> list[list[str]]:
        """Gives the words of each sentence."""
        pairs = zip(self.sentence_ids or (), self.words or (), strict=True)
        return [[self.text[slice(*word)] for _, word in run] for _, run in groupby(pairs, key=lambda pair: pair[0])]

    def tags(self) -> list[str]:
        """Gives each word its tag, `O` outside the spans.

        Raises:
            ValueError: If the spans do not fit the words, naming the review.
        """
        try:
            return spans_to_tags(self.words or (), self.labels or ())
        except ValueError as error:
            raise ValueError(f"review {self.id!r}: {error}") from error


def read_reviews(path: StrPath, needs: Iterable[str] = ()) -> list[Review]:
    """Reads reviews, one a line: JSON if the file's name ends in `.jsonl`, `.json` or `.ndjson`, else plain text.

    Blank lines are left out.

    Args:
        path: The file.
        needs: Fields that every review must have, of `words` and `labels`.

    Raises:
        ValueError: For a file without reviews or not in UTF-8, a line that is no review, two with the same id, and a
            field that is missing or points outside the text, with file and line.
    """
    reviews: dict[int | str, Review] = {}
    for line, content in read_numbered_lines(path):
        if not content.strip():
            continue
        where = f"{path}:{line}"
        review = parse_review(content, where) if are_json_lines(path) else Review(line, content)
        for text in (review.text, str(review.id), *(tag for *_, tag in review.labels or ())):
            refuse_surrogates(text, where)
        if review.id in reviews:
            raise ValueError(f"{where}: the id {review.id!r} is there twice")
        for field in needs:
            if getattr(review, field) is None:
                remedy = {"words": "run the command prepare on the file", "labels": "add them, or run the command tag"}
                raise ValueError(f"{where}: the review has no {field!r}; {remedy[field]}")
        reviews[review.id] = review
    if not reviews:
        raise ValueError(f"{path} has no reviews")
    return list(reviews.values())


def are_json_lines(path: StrPath) -> bool:
    """Tells by its name, also if compressed, whether a file holds JSON Lines."""
    endings = [ending.lower() for ending in Path(path).suffixes]
    endings = endings[:-1] if endings[-1:] in ([".gz"], [".bz2"], [".xz"]) else endings
    return endings[-1:] in ([".jsonl"], [".json"], [".ndjson"])


def parse_review(content: str, where: str) -> Review:
    """Reads a line of JSON; `where` begins the messages."""
    try:
        row = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: no JSON: {error}") from error
    if not isinstance(row, dict) or not isinstance(row.get("text"), str) or type(row.get("id")) not in (int, str):
        raise ValueError(f"{where}: a review is an object with an 'id' and a 'text', got {content[:80]!r}")
    review = Review(row["id"], row["text"])
    if row.get("words") is not None:
        review.words = [(start, end) for start, end in checked_spans(row, "words", (), where)]
        for (_, end), (start, _) in pairwise(review.words):
            if start < end:
                raise ValueError(f"{where}: 'words' must be in order, and none in another; one ends at {end}")
        ids = row.get("sentence_ids")
        if not (
            isinstance(ids, list)
            and len(ids) == len(review.words)
            and {*map(type, ids)} <= {int}
            and ids == sorted(ids)
        ):
            raise ValueError(
                f"{where}: 'sentence_ids' must have a number a word, {len(review.words)}, none below the last"
            )
        review.sentence_ids = row["sentence_ids"]
    if row.get("labels") is not None:
        review.labels = [(start, end, tag) for start, end, tag in checked_spans(row, "labels", (str,), where)]
        for *_, tag in review.labels:
            if tag.split() != [tag]:
                raise ValueError(f"{where}: the tag {tag!r} is empty or has white space inside")
    return review


def checked_spans(row: dict[str, Any], field: str, more: tuple[type, ...], where: str) -> list[list[Any]]:
    """Gives the spans of a field if each is two characters inside the text, in order, and values of further types."""
    kinds = (int, int, *more)
    spans = row[field] if isinstance(row[field], list) else [row[field]]
    for span in spans:
        fits = isinstance(span, list) and list(map(type, span)) == list(kinds)
        if not fits or not 0 <= span[0] < span[1] <= len(row["text"]):
            shown = ", ".join(["start", "end", "tag"][: len(kinds)])
            raise ValueError(f"{where}: {field!r} has {span!r}; it takes [{shown}] inside the text")
    return spans


def write_reviews(reviews: Iterable[Review], path: StrPath) -> None:
    """Writes reviews as JSON Lines, without the fields that they do not have."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        for review in reviews:
            row = {name: value for name, value in asdict(review).items() if value is not None}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
