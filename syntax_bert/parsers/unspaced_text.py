"""Parses of languages written without spaces, whose characters some data sets give as words."""

from collections.abc import Sequence
from dataclasses import replace

from syntax_bert.tokenization.universal_dependencies import Parse

from . import Parser

__all__ = ["UNSPACED", "parse_characters", "parse_unspaced"]

UNSPACED = ("zh", "ja", "th")
LONGEST_MEAN = 1.3  # characters a word, up to which words are taken for characters, numbers and Latin words among them


def parse_unspaced(
    sentences: Sequence[Sequence[str]], parser: Parser, language: str | None, dependencies: bool = True
) -> list[Parse]:
    """Parses sentences of a language without spaces, given as words or as characters.

    Args:
        sentences: The words or characters of each.
        parser: Parses them.
        language: Their language.
        dependencies: Whether trees are wanted.

    Returns:
        Parses over the words, or the characters, joined by spaces.
    """
    return [
        parse_characters(words, parser, language, dependencies)
        if are_characters(words)
        else parser.parse_words([words], [language], dependencies)[0]
        for words in sentences
    ]


def are_characters(words: Sequence[str]) -> bool:
    """Tells whether what a data set gives as the words of a sentence are its characters."""
    return bool(words) and sum(map(len, words)) < LONGEST_MEAN * len(words)


def parse_characters(
    characters: Sequence[str], parser: Parser, language: str | None, dependencies: bool = True
) -> Parse:
    """Parses the text that characters make up, and gives the parse over the characters joined by spaces."""
    (parse,) = parser.parse(["".join(characters)], [language], dependencies)
    owners = [number for number, word in enumerate(characters) for _ in word]
    place = [number + position for position, number in enumerate(owners)]  # one space before each
    starts = [place[start] for start in parse.starts]
    ends = [place[end - 1] + 1 if end else 0 for end in parse.ends]
    return replace(parse, text=" ".join(characters), starts=starts, ends=ends)
