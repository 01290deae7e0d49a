"""Parser back ends by name: those of the package, and those of others by the entry points of `GROUP`."""

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from itertools import accumulate
from pathlib import Path

from syntax_bert.tokenization.universal_dependencies import refuse_surrogates

from . import Parser

__all__ = [
    "GROUP",
    "back_end_names",
    "check_languages",
    "import_back_end",
    "join_words",
    "load_back_end",
    "split_name",
    "tree_digest",
]

GROUP = "syntax_bert.parsers"
BUILT_IN = {
    "conllu": "syntax_bert.parsers.conllu_parser:ConlluParser",
    "spacy": "syntax_bert.parsers.spacy_parser:SpacyParser",
    "stanza": "syntax_bert.parsers.stanza_parser:StanzaParser",
    "udpipe": "syntax_bert.tokenization.udpipe_parser:UDPipeParser",
}
NAME = re.compile(r"([A-Za-z][\w-]+):(?!//)(.*)", re.DOTALL)  # neither the drive of a path nor a URL


def back_end_names() -> list[str]:
    """Gives the names of all back ends that are installed."""
    return sorted({*BUILT_IN, *(point.name for point in entry_points(group=GROUP))})


def split_name(name: str) -> tuple[str, str] | None:
    """Splits `BACKEND:VALUE`; `None` for another form: a language code, a file, a path with a drive, a URL."""
    match = NAME.fullmatch(name)
    return None if match is None or os.path.exists(name) else (match[1], match[2])


def load_back_end(back_end: str, value: str, beam_size: int | None = None) -> Parser:
    """Makes the parser of a back end.

    Args:
        back_end: Its name, one of `back_end_names`.
        value: What it parses with: a language, or the name or path of a model or treebank.
        beam_size: Width of UDPipe's beam.

    Raises:
        ImportError: If what the back end needs is not installed.
        ValueError: If there is no such back end, the value is empty, a beam is set for another one than UDPipe, or
            what an entry point makes is no Parser.
    """
    make = find_back_end(back_end)
    if not value:
        raise ValueError(f"{back_end + ':'!r} names no model, language or file: {back_end}:VALUE")
    if beam_size is not None and back_end != "udpipe":
        raise ValueError(f"{back_end}:{value} takes no beam size, only UDPipe does")
    parser = make(value) if beam_size is None else make(value, beam_size)
    if not all(callable(getattr(parser, method, None)) for method in ("parse", "parse_words")):
        raise ValueError(
            f"the back end {back_end!r} gives {parser!r:.80} for {value!r}, which has no parse and parse_words: it is "
            "no syntax_bert.parsers.Parser"
        )
    return parser


def find_back_end(name: str) -> Callable[..., Parser]:
    """Imports what makes the parsers of a back end."""
    if name in BUILT_IN:
        return EntryPoint(name, BUILT_IN[name], GROUP).load()
    points = {point.value: point for point in entry_points(group=GROUP, name=name)}
    if not points:
        raise ValueError(
            f"there is no parser back end {name!r}, only {back_end_names()}; others are entry points of {GROUP}"
        )
    if len(points) > 1:
        raise ValueError(f"several packages have a parser back end {name!r}: {sorted(points)}; uninstall all but one")
    (point,) = points.values()
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        raise ImportError(f"the parser back end {name!r}, {point.value}, cannot be imported: {error}") from error


def import_back_end(package: str):
    """Imports the package of a back end.

    Raises:
        ImportError: If it is not installed, with what installs it.
    """
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(f'the {package} parser needs {package}: pip install "syntax_bert[parsers]"') from error


def check_languages(own: str, languages: Sequence[str | None] | None, texts: Sequence) -> None:
    """Refuses languages that are not one for each text, or another one than the parser's own.

    Raises:
        ValueError: With what can be done instead.
    """
    if languages is None:
        return
    if len(languages) != len(texts):
        raise ValueError(f"{len(texts)} texts have {len(languages)} languages: give one for each")
    for language in languages:
        if language not in (None, own):
            raise ValueError(
                f"no parser for language {language!r}; the parser is for {own!r}. parses=None, or a tokenizer with "
                "columns=(), reads a text without syntax"
            )


def join_words(words: Sequence[str], index: int) -> tuple[str, list[int], list[int]]:
    """Gives words joined by one space and their characters there, and refuses lone surrogates."""
    text = " ".join(words)
    refuse_surrogates(text, f"text {index}")
    starts = [0, *accumulate(len(word) + 1 for word in words)][: len(words)]
    return text, starts, [start + len(word) for start, word in zip(starts, words, strict=True)]


def tree_digest(folder: str | os.PathLike[str]) -> str:
    """Gives the first digits of the SHA-256 of all files in a folder, by name and content; compiled Python aside."""
    files = sorted(file for file in Path(folder).rglob("*") if file.is_file() and file.parent.name != "__pycache__")
    states = tuple((str(file), (status := file.stat()).st_size, status.st_mtime_ns) for file in files)
    return read_tree_digest(str(folder), states)


@cache
def read_tree_digest(folder: str, states: tuple[tuple[str, int, int], ...]) -> str:
    """Reads the files of a folder in one state, once a process."""
    digest = hashlib.sha256()
    for name, *_ in states:
        with open(name, "rb") as file:
            digest.update(f"{Path(name).relative_to(folder).as_posix()}\0".encode())
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
