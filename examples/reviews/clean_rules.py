"""The seven rules that clean the tags of a review up, in their order (Yuan, Liu and Neubig 2021, arXiv 2102.00176).

Each takes the words of a review and their tags and gives new tags, as many. A span is a longest run of equal tags;
runs of `O` count as spans too.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from .spans import OUTSIDE

__all__ = [
    "RULES",
    "absorb_interruptions",
    "clean_tags",
    "drop_lone_punctuation",
    "drop_lone_words",
    "end_summary_at_full_stop",
    "grow_to_punctuation",
    "join_summaries",
    "keep_first_summary",
]

SUMMARY = "summary"
FULL_STOP = "."
PUNCTUATION = re.compile(r"""[.,;:!?…()\[\]{}"“”„«»*•·|–—−]+|--+|''|``""")  # no hyphen, which may be in a compound
MAX_WORDS_TO_FULL_STOP = 5


@dataclass
class Run:
    """A span: 0-based word where it starts, the one after its last, and its tag."""

    start: int
    end: int
    tag: str


def runs_of(tags: Sequence[str]) -> list[Run]:
    """Lists the spans of a text in order, those of `O` too."""
    runs: list[Run] = []
    for tag, run in groupby(tags):
        start = runs[-1].end if runs else 0
        runs.append(Run(start, start + len(list(run)), tag))
    return runs


def tags_of(runs: Sequence[Run]) -> list[str]:
    """Gives the tags of the words of all spans."""
    return [run.tag for run in runs for _ in range(run.start, run.end)]


def join_summaries(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Rule 1: an `O` span between two summary spans becomes summary."""
    runs = runs_of(tags)
    for before, run, after in zip(runs, runs[1:], runs[2:], strict=False):
        if run.tag == OUTSIDE and before.tag == after.tag == SUMMARY:
            run.tag = SUMMARY
    return tags_of(runs)


def keep_first_summary(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Rule 2: only the first summary span stays; others become `O`."""
    runs = runs_of(tags)
    for run in [run for run in runs if run.tag == SUMMARY][1:]:
        run.tag = OUTSIDE
    return tags_of(runs)


def drop_lone_punctuation(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Rule 3: a span that is one "," or one "." becomes `O`."""
    runs = runs_of(tags)
    for run in runs:
        if list(words[run.start : run.end]) in ([","], ["."]):
            run.tag = OUTSIDE
    return tags_of(runs)


def absorb_interruptions(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Rule 4: of X ? X, X neither `O` nor summary, the middle becomes X if it is another tag or an `O` of one word.

    From left to right: what has become X is the first X of the next three.
    """
    runs = runs_of(tags)
    done: list[Run] = []
    for run in runs:
        if len(done) > 1 and run.tag == done[-2].tag not in (OUTSIDE, SUMMARY):
            middle = done[-1]
            if middle.tag != OUTSIDE or middle.end - middle.start == 1:
                done[-2:] = [Run(done[-2].start, run.end, run.tag)]
                continue
        done.append(run)
    return tags_of(done)


def drop_lone_words(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Rule 5: a span of one word between two `O` spans becomes `O`."""
    runs = runs_of(tags)
    lone = [
        run
        for before, run, after in zip(runs, runs[1:], runs[2:], strict=False)
        if run.end - run.start == 1 and before.tag == after.tag == OUTSIDE
    ]
    for run in lone:
        run.tag = OUTSIDE
    return tags_of(runs)


def grow_to_punctuation(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Rule 6: a span of an aspect beside `O` grows outward up to the nearest punctuation or other tag.

    The punctuation stays `O`, and where the span begins or ends with one it does not grow. From left to right: words
    between two spans go to the first of them.
    """
    grown = list(tags)
    for run in runs_of(tags):
        if run.tag in (OUTSIDE, SUMMARY):
            continue
        edges = (run.start, range(run.start - 1, -1, -1)), (run.end - 1, range(run.end, len(words)))
        for edge, outward in edges:
            for word in () if PUNCTUATION.fullmatch(words[edge]) else outward:
                if grown[word] != OUTSIDE or PUNCTUATION.fullmatch(words[word]):
                    break
                grown[word] = run.tag
    return grown


def end_summary_at_full_stop(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Rule 7: a summary span that does not end in a full stop is cut back, else extended, by up to five words to one.

    It is extended over words that are `O` only.
    """
    runs = runs_of(tags)
    ended = list(tags)
    for run in runs:
        if run.tag != SUMMARY or words[run.end - 1] == FULL_STOP:
            continue
        last = run.end - 1
        shorter = [word for word in range(last - 1, run.start, -1) if words[word] == FULL_STOP]
        if shorter and last - shorter[0] <= MAX_WORDS_TO_FULL_STOP:
            ended[shorter[0] + 1 : run.end] = [OUTSIDE] * (last - shorter[0])
            continue
        for word in range(run.end, min(run.end + MAX_WORDS_TO_FULL_STOP, len(words))):
            if tags[word] != OUTSIDE:
                break
            if words[word] == FULL_STOP:
                ended[run.end : word + 1] = [SUMMARY] * (word + 1 - run.end)
                break
    return ended


RULES: tuple[Callable[[Sequence[str], Sequence[str]], list[str]], ...] = (
    join_summaries,
    keep_first_summary,
    drop_lone_punctuation,
    absorb_interruptions,
    drop_lone_words,
    grow_to_punctuation,
    end_summary_at_full_stop,
)


def clean_tags(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Applies the seven rules, one after the other.

    Args:
        words: The words of a review.
        tags: One a word.

    Returns:
        One tag a word.

    Raises:
        ValueError: If there are more or fewer tags than words.
    """
    if len(words) != len(tags):
        raise ValueError(f"{len(tags)} tags for {len(words)} words")
    cleaned = list(tags)
    for rule in RULES:
        cleaned = rule(words, cleaned)
    return cleaned
