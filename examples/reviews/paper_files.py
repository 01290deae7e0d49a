"""Papers: plain text, or the JSON of science-parse, and their sentences."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntax_bert import UDPipeParser
from syntax_bert.data.lines import StrPath
from syntax_bert.tokenization.universal_dependencies import refuse_surrogates

from .sentences import split_text

__all__ = ["Section", "find_abstracts", "find_sections", "read_paper", "split_sections"]

ABSTRACT = "Abstract"
NUMBER = re.compile(
    r"(?:[Ss]ection\s+|§\s*)?(?:\(?[\d.]+|[IVX]+(?=[\s.:)])|[A-Z](?=[.:)\d]|\s+[A-Z]))[\d\s.:)–-]*(?=\w)"
)


@dataclass
class Section:
    """A part of a paper: its heading, and its text or its sentences."""

    heading: str
    text: str
    sentences: Sequence[str] = ()


def read_paper(path: StrPath) -> list[Section]:
    """Reads the sections of a paper, its abstract first; a file of plain text is one section without a heading.

    Args:
        path: A file of science-parse (its name ends in `.json`), with `abstractText` and `sections` of `heading` and
            `text`, or of plain text.

    Raises:
        ValueError: If the file is not UTF-8, is no such JSON, or has no text.
    """
    try:
        content = Path(path).read_text("utf-8-sig")
        sections = parse_paper(content) if str(path).endswith(".json") else [Section("", content)]
    except ValueError as error:
        raise ValueError(f"{path} is no paper: {error}") from error
    for section in sections:
        refuse_surrogates(section.text, f"{path}, section {section.heading!r}")
    sections = [section for section in sections if section.text.strip()]
    if not sections:
        raise ValueError(f"{path} has no text")
    return sections


def parse_paper(content: str) -> list[Section]:
    """Reads the JSON of science-parse."""
    row = json.loads(content)
    paper = row.get("metadata", row) if isinstance(row, dict) else row
    if not isinstance(paper, dict) or not isinstance(paper.get("sections"), list):
        raise ValueError("it takes an object with the list 'sections', or with such an object as 'metadata'")
    sections = [Section(ABSTRACT, as_text(paper, "abstractText", "the paper"))]
    for number, section in enumerate(paper["sections"], start=1):
        where = f"section {number}"
        if not isinstance(section, dict):
            raise ValueError(f"{where} is {section!r}, not an object with 'heading' and 'text'")
        sections.append(Section(as_text(section, "heading", where), as_text(section, "text", where)))
    return sections


def as_text(row: dict[str, Any], field: str, where: str) -> str:
    """Gives a field that is a text or null, which counts as an empty one, as one that is not there does."""
    value = row.get(field)
    if not isinstance(value, (str, type(None))):
        raise ValueError(f"{field!r} of {where} is {value!r}, not a text")
    return value or ""


def split_sections(sections: Sequence[Section], parser: UDPipeParser) -> None:
    """Gives sections their sentences, with single spaces inside."""
    for section in sections:
        words, sentence_ids = split_text(section.text, parser)
        bounds: dict[int, tuple[int, int]] = {}
        for (start, end), sentence in zip(words, sentence_ids, strict=True):
            bounds[sentence] = (bounds.get(sentence, (start, end))[0], end)
        section.sentences = [" ".join(section.text[start:end].split()) for start, end in bounds.values()]


def title(section: Section) -> str:
    """Gives a heading in small letters, without its number."""
    heading = section.heading.strip()
    number = NUMBER.match(heading)
    return heading[number.end() if number else 0 :].lower()


def find_abstracts(sections: Sequence[Section]) -> list[Section]:
    """Finds the abstract, first as it is in the metadata, and then sections of that name.

    Raises:
        ValueError: If there is none, naming the headings that there are.
    """
    found = [section for section in sections if title(section) == ABSTRACT.lower()]
    if not found:
        raise ValueError(f"there is no abstract; the headings are {[section.heading for section in sections]}")
    return found


def find_sections(sections: Sequence[Section], names: Sequence[str]) -> list[Section]:
    """Finds the sections whose headings, without their numbers, begin with one of some names; capitals do not count.

    Raises:
        ValueError: If there is none, naming those that there are.
    """
    begin = tuple(name.lower() for name in names)
    found = [section for section in sections if title(section).startswith(begin)]
    if not found:
        headings = [section.heading for section in sections if section.heading]
        raise ValueError(f"no section begins with {' or '.join(map(repr, names))}; the headings are {headings}")
    return found
