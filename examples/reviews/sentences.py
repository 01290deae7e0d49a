"""Words and sentences of academic prose: UDPipe's, but for its full stops after abbreviations and inside brackets."""

import re
from itertools import pairwise, zip_longest

from syntax_bert import UDPipeParser

__all__ = ["bracket_pairs", "split_text"]

NEVER_LAST = r"i\.?e|e\.?g|a\.?k\.?a|cf|vs|viz|w\.?r\.?t|resp|figs?|eqs?|eqns?|thms?|lems?|prof|dr|suppl"
NUMBERED = r"algs?|app|appx|chaps?|ch|cor|defs?|ex|nos?|props?|refs?|secs?|sects?|tabs?|vol"  # "Sec. A", "Tab. II"
SELDOM_LAST = rf"et\.?\s+al|etc|acc|approx|pp?|{NUMBERED}"
ABBREVIATIONS = [re.compile(rf"(?<![\w.])(?:{forms})\s*\.$", re.IGNORECASE) for forms in (NEVER_LAST, SELDOM_LAST)]
LATIN_AND_COMMA = re.compile(r"(?<![\w.])(?:i\.?e|e\.?g)\s*\.\s*[,:]$", re.IGNORECASE)
NUMBERED_THING = re.compile(rf"(?<![\w.])(?=[A-Z])(?i:{NUMBERED})\s*\.$")
LETTER_OR_ROMAN = re.compile(r"(?:[A-Z]|[IVX]+)(?:\.\d+)*(?!\w)")
LONGEST_ABBREVIATION = 16  # characters
INTERVAL = re.compile(r"[\[(]\s*[^()\[\]\s]{1,8}\s*,\s*[^()\[\]\s]{1,8}\s*[\])]")  # "[0, 1)"
BRACKET = re.compile(r"(?<![:;])(?<![:;]-)[()\[\]{}]")
OPENING = {")": "(", "]": "[", "}": "{"}


def split_text(text: str, parser: UDPipeParser) -> tuple[list[tuple[int, int]], list[int]]:
    """Splits a text into words and sentences.

    No sentence ends after "i.e.", "e.g.," "Fig." and their like, after "et al." and its like unless a capital letter
    follows that is no number ("Sec. A"), or between two brackets of a pair. A contraction ("isn't") is one word, an
    abbreviation with its full stop another.

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
    ending = last_characters(text, end)
    if LATIN_AND_COMMA.search(ending) or (NUMBERED_THING.search(ending) and LETTER_OR_ROMAN.match(text, start)):
        return True
    is_never_last, is_seldom_last = (pattern.search(ending) for pattern in ABBREVIATIONS)
    return bool(is_never_last or (is_seldom_last and not text[start].isupper()))


def bracket_pairs(text: str) -> list[tuple[int, int]]:
    """Finds the characters of the brackets that belong together; neither one without its partner nor a smiley does."""
    pairs = [(match.start(), match.end() - 1) for match in INTERVAL.finditer(text)]
    of_intervals = {position for pair in pairs for position in pair}
    waiting: list[int] = []
    for match in BRACKET.finditer(text):
        if match.start() in of_intervals:
            continue
        position, character = match.start(), match[0]
        if character in OPENING.values():
            waiting.append(position)
        else:
            partners = [place for place, opened in enumerate(waiting) if text[opened] == OPENING[character]]
            if partners:
                pairs.append((waiting[partners[-1]], position))
                del waiting[partners[-1] :]
    return pairs
