"""The parsers that are part of the package."""

import os
from collections.abc import Sequence
from pathlib import Path

from syntax_bert.tokenization.udpipe_parser import UDPipeParser

from . import Parser
from .back_ends import load_back_end, split_name

__all__ = ["load_parser", "named_parsers", "named_values", "parser_path"]

EMBEDDED = {"en": "english-ewt.udpipe"}


def parser_path(language: str) -> str:
    """Gives the path of the UDPipe model of a language (ISO 639-1 code), such as "en".

    Raises:
        ValueError: If there is none; a path of your own `.udpipe` file can be given wherever a parser is asked for.
    """
    if language not in EMBEDDED:
        raise ValueError(
            f"no embedded parser for {language!r}, only for {sorted(EMBEDDED)}; give the path of a .udpipe file"
        )
    return str(Path(__file__).parent / EMBEDDED[language])


def load_parser(name: str, beam_size: int | None = None) -> Parser:
    """Makes the parser that a command line names: a language code, a `.udpipe` or `.conllu` file, or `BACKEND:VALUE`.

    Raises:
        ValueError: If the name is neither a file nor the code of an embedded parser, there is no such back end, or a
            beam is set for another parser than UDPipe's.
    """
    if named := split_name(name):
        return load_back_end(*named, beam_size)
    if name.endswith(".conllu"):
        if beam_size is not None:
            raise ValueError(f"{name} holds trees already: a beam size is for .udpipe parsers")
        from .conllu_parser import ConlluParser  # needs the extra "training"

        return ConlluParser(name)
    path = name if name.endswith(".udpipe") or os.path.sep in name else parser_path(name)
    return UDPipeParser(path) if beam_size is None else UDPipeParser(path, beam_size)


def named_values(values: Sequence[str] | None, option: str) -> dict[str, str]:
    """Reads the LANGUAGE=FILE values of an option of a command line.

    Raises:
        ValueError: If a value is not of this form.
    """
    pairs = [value.partition("=") for value in values or ()]
    for language, sign, file in pairs:
        if not (language and sign and file):
            raise ValueError(f"{option} takes LANGUAGE=FILE, got {language + sign + file!r}")
    return {language: file for language, _, file in pairs}


def named_parsers(names: Sequence[str], beam_size: int | None = None) -> UDPipeParser:
    """Makes the parser of several languages that a command line names: `de=FILE.udpipe`, or `en` for an embedded one.

    Raises:
        ValueError: If a name is neither, or two are of one language.
    """
    named_values([name for name in names if "=" in name or name.endswith(".udpipe")], "--parsers")
    by_language: dict[str, str] = {}
    for name in names:
        language = name.partition("=")[0]
        if language in by_language:
            raise ValueError(f"there are two parsers for {language!r}: {by_language[language]!r} and {name!r}")
        by_language[language] = name
    paths = {language: name.partition("=")[2] or parser_path(language) for language, name in by_language.items()}
    return UDPipeParser(paths) if beam_size is None else UDPipeParser(paths, beam_size)
