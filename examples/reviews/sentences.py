"""Words and sentences of academic prose: UDPipe's, but for its full stops after abbreviations and inside brackets."""

import re
from itertools import pairwise, zip_longest

from syntax_bert import UDPipeParser

__all__ = ["bracket_pairs", "split_text"]

NEVER_LAST = r"i\.?e|e\.?g|cf|vs|viz|w\.?r\.?t|resp|figs?|eqs?|eqns?|thms?|lem|prof"
SELDOM_LAST = r"et\s+al|etc|acc|algs?|app|approx|chap|ch|cor|defs?|dr|nos?|pp?|props?|refs?|secs?|sect|tabs?|vol"
ABBREVIATIONS = [re.compile(rf"(?<![\w.])(?:{forms})\s*\.$", re.IGNORECASE) for forms in (NEVER_LAST, SELDOM_LAST)]
LONGEST_ABBREVIATION = 16  # characters
BRACKET = re.compile(r"(?<![:;])(?<![:;]-)[()\[\]{}]")
OPENING = {")": "(", "]": "[", "}": "{"}


def split_text(text: str, parser: UDPipeParser) -> tuple[list[tuple[int, int]], list[int]]:
    """Splits a text into words and sentences.

    No sentence ends after "i.e.", "Fig." and their like, after "et al." and its like unless a capital letter follows,
    or between two brackets of a pair. A contraction ("isn't") is one word, an abbreviation with its full stop another.

    Args:
        text: The text.
        parser: A parser of English.

    Returns:
        First character of each word and the one after its last, and the 0-based sentence of each word.
    """
    (parse,) = parser.parse([text], dependencies=False)
    sentence_of = dict(zip(zip(parse.starts, parse.ends, strict=True), parse.sentence_ids, strict=True))
    brackets = bracket_pairs(text)
    sentence_ids = [0] * len(sentence_of)
    for word, ((before, first), (after, second)) in enumerate(pairwise(sentence_of.items()), start=1):
        ends = first != second and not goes_on(text, before[1], after[0], brackets)
        sentence_ids[word] = sentence_ids[word - 1] + ends
    return join_abbreviations(text, list(sentence_of), sentence_ids)


def join_abbreviations(
    text: str, words: list[tuple[int, int]], sentence_ids: list[int]
) -> tuple[list[tuple[int, int]], list[int]]:
    """Gives abbreviations their full stops, which UDPipe often takes for words, unless they end the sentence."""
    joined: list[tuple[int, int]] = []
    joined_ids: list[int] = []
    for word, following in zip_longest(zip(words, sentence_ids, strict=True), sentence_ids[1:]):
        (start, end), sentence = word
        is_own = text[start:end] != "." or not joined or joined[-1][1] != start or sentence != following
        if is_own or not any(pattern.search(last_characters(text, end)) for pattern in ABBREVIATIONS):
            joined.append((start, end))
            joined_ids.append(sentence)
        else:
            joined[-1] = (joined[-1][0], end)
    return joined, joined_ids


def last_characters(text: str, end: int) -> str:
    """Gives what comes before a character, as much as an abbreviation may be long."""
    return text[max(0, end - LONGEST_ABBREVIATION) : end]


def goes_on(text: str, end: int, start: int, brackets: list[tuple[int, int]]) -> bool:
    """Tells whether a sentence goes on, although UDPipe ends one before `end` and begins one at `start`."""
    if any(opening < start <= closing for opening, closing in brackets):
        return True
    is_never_last, is_seldom_last = (pattern.search(last_characters(text, end)) for pattern in ABBREVIATIONS)
    return bool(is_never_last or (is_seldom_last and not text[start].isupper()))


def bracket_pairs(text: str) -> list[tuple[int, int]]:
    """Finds the characters of the brackets that belong together; neither one without its partner nor a smiley does."""
    pairs: list[tuple[int, int]] = []
    waiting: list[int] = []
    for match in BRACKET.finditer(text):
        position, character = match.start(), match[0]
        if character in OPENING.values():
            waiting.append(position)
        else:
            partners = [place for place, opened in enumerate(waiting) if text[opened] == OPENING[character]]
            if partners:
                pairs.append((waiting[partners[-1]], position))
                del waiting[partners[-1] :]
    return pairs
