"""Intents and slots from two files of lines (xSID's training data) and from MTOP's tables."""

import json
from collections.abc import Sequence
from typing import Any

from .lines import StrPath, read_numbered_lines

__all__ = ["read_mtop", "read_slot_lines"]


def read_slot_lines(text_path: StrPath, label_path: StrPath) -> list[dict[str, Any]]:
    """Reads sentences, their words separated by single spaces, and beside them lines of slots, a tab and the intent.

    Returns:
        The sentences, each as `{"words", "tags", "intent"}`; the tags are the slots.

    Raises:
        ValueError: If the files have unequal numbers of lines, or a sentence not one slot a word and one intent, with
            file and line.
    """
    texts, labels = list(read_numbered_lines(text_path)), list(read_numbered_lines(label_path))
    if len(texts) != len(labels) or not texts:
        raise ValueError(f"{text_path} has {len(texts)} lines, {label_path} {len(labels)}; they must be as many")
    sentences = []
    for (line, text), (_, label) in zip(texts, labels, strict=True):
        words = text.split(" ")
        slots, separator, intent = label.partition("\t")
        tags = slots.split(" ")
        if not separator or not intent or "\t" in intent:
            raise ValueError(f"{label_path}:{line}: it takes slots, one tab and the intent")
        if len(words) != len(tags) or not all(tags):
            raise ValueError(f"{label_path}:{line}: {len(tags)} slots for the {len(words)} words of {text!r}")
        sentences.append({"words": words, "tags": tags, "intent": intent})
    return sentences


def read_mtop(path: StrPath) -> list[dict[str, Any]]:
    """Reads a table of MTOP (Li et al. 2021, https://arxiv.org/abs/2008.09335).

    Its tab-separated columns are id, intent, slots, utterance, domain, locale, logical form and, as JSON, words. Slots
    such as `6:10:SL:CONTACT` have start, end and name, and commas in between. A word gets the slot that it shares
    characters with.

    Returns:
        The sentences, each as `{"words", "tags", "intent"}`; tags are in IOB2, names without `SL:` and `IN:`.

    Raises:
        ValueError: For a row that is not of this form, or a slot that has no word of its own, with file and line.
    """
    sentences = []
    for line, content in read_numbered_lines(path):
        fields = content.split("\t")
        if len(fields) != 8:
            raise ValueError(f"{path}:{line}: {len(fields)} columns; MTOP's tables have 8, with tabs")
        try:
            tokens = json.loads(fields[7])
            words = tokens["tokens"]
            spans = [(span["start"], span["start"] + span["length"]) for span in tokens["tokenSpans"]]
            tags = slot_tags(spans, [slot.split(":") for slot in fields[2].split(",") if slot])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}:{line}: {type(error).__name__}: {error}") from error
        if len(words) != len(spans) or not words:
            raise ValueError(f"{path}:{line}: {len(words)} words, but {len(spans)} spans")
        sentences.append({"words": words, "tags": tags, "intent": fields[1].removeprefix("IN:")})
    if not sentences:
        raise ValueError(f"{path} has no rows")
    return sentences


def slot_tags(spans: Sequence[tuple[int, int]], slots: Sequence[Sequence[str]]) -> list[str]:
    """Gives each word a tag: `[(0, 3), (4, 8), (9, 11)]` with the slot `4:11:SL:TIME` are `O B-TIME I-TIME`."""
    tags = ["O"] * len(spans)
    for start, end, prefix, name in slots:
        if prefix != "SL":
            raise ValueError(f"the slot of {start} to {end} is a {prefix!r}; it must be of the form 0:4:SL:NAME")
        covered = [
            word
            for word, (first, last) in enumerate(spans)
            if first < int(end) and last > int(start) and tags[word] == "O"
        ]
        if not covered:
            raise ValueError(f"the slot {name!r} at {start} to {end} has no word of its own")
        for word in covered:
            tags[word] = f"{'B' if word == covered[0] else 'I'}-{name}"
    return tags
