"""Parsers by name: the embedded one, those that are downloaded, and files."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from syntax_bert.tokenization.udpipe_parser import UDPipeParser

from . import Parser
from .back_ends import load_back_end, split_name
from .published_models import download_model, find_model

__all__ = [
    "EMBEDDED",
    "PARSER_HELP",
    "load_parser",
    "make_parser",
    "model_path",
    "named_parsers",
    "named_values",
    "parser_path",
]

PARSER_HELP = (
    "Language code, name of a published model, .udpipe or .conllu file, or BACKEND:VALUE; of several languages, "
    "LANGUAGE=FILE.udpipe for each."
)
EMBEDDED = {"en": "english-ewt.udpipe"}


def parser_path(name: str) -> str:
    """Gives the path of a UDPipe model: "en" is part of the package, others are downloaded when first asked for.

    The others are the models that UDPipe's authors publish for Universal Dependencies 2.5 (CC BY-NC-SA 4.0: no
    commercial use), by language code, "de", or by language and treebank, "german-hdt"; `syntax-bert parsers list`
    lists them. They are kept in `HF_HOME/syntax_bert/parsers`, each with its licence and the SHA-256 that it had at
    first, which is checked at every call. SYNTAX_BERT_PARSERS_URL names a mirror to download from.

    Args:
        name: A language code (ISO 639-1, or else 639-3) or the name of a model.

    Raises:
        ValueError: If there is none, with the names that are near; if the file here or the server's is not the one
            first downloaded, or no UDPipe model; if it is not here and offline mode is on. A path of your own
            `.udpipe` file can be given wherever a parser is asked for.
        OSError: If the model cannot be downloaded.
    """
    if name in EMBEDDED:
        return str(Path(__file__).parent / EMBEDDED[name])
    try:
        model = find_model(name)
    except ValueError as error:
        raise ValueError(
            f"no embedded parser for {name!r}, only for {[*EMBEDDED]}, and {error}; or give the path of a .udpipe file"
        ) from None
    return download_model(model)


def load_parser(name: str, beam_size: int | None = None) -> Parser:
    """Makes the parser that a command line names: a language code, a `.udpipe` or `.conllu` file, or `BACKEND:VALUE`.

    Raises:
        ValueError: If the name is neither a file nor known to `parser_path`, there is no such back end, or a
            beam is set for another parser than UDPipe's.
    """
    if named := split_name(name):
        return load_back_end(*named, beam_size)
    if name.endswith(".conllu"):
        if beam_size is not None:
            raise ValueError(f"{name} holds trees already: a beam size is for .udpipe parsers")
        from .conllu_parser import ConlluParser  # needs the extra "training"

        return ConlluParser(name)
    path = model_path(name)
    return UDPipeParser(path) if beam_size is None else UDPipeParser(path, beam_size)


def make_parser(names: Sequence[str], beam_size: int | None = None) -> Parser:
    """Makes the parser that a command line names, or that of several languages."""
    if len(names) == 1 and ("=" not in names[0] or os.path.exists(names[0])):
        return load_parser(names[0], beam_size)
    return named_parsers(names, beam_size)


def model_path(name: str) -> str:
    """Gives the path of a UDPipe model that is a file, or else known to `parser_path`."""
    return name if name.endswith(".udpipe") or os.path.sep in name else parser_path(name)


def named_values(values: Sequence[str] | None, option: str, form: str = "LANGUAGE=FILE") -> dict[str, str]:
    """Reads the LANGUAGE=FILE values, or those of another form, of an option of a command line.

    Raises:
        ValueError: If a value is not of this form, or a name is there twice.
    """
    pairs = [value.partition("=") for value in values or ()]
    for language, sign, file in pairs:
        if not (language and sign and file):
            raise ValueError(f"{option} takes {form}, got {language + sign + file!r}")
    if twice := [name for name, number in Counter(language for language, *_ in pairs).items() if number > 1]:
        raise ValueError(f"{option} names {twice[0]!r} twice")
    return {language: file for language, _, file in pairs}


def named_parsers(names: Sequence[str], beam_size: int | None = None) -> UDPipeParser:
    """Makes the parser of several languages that a command line names: `de=FILE.udpipe`, `de=german-hdt` or `de`.

    Raises:
        ValueError: If a name is none of these, or two are of one language.
    """
    named_values([name for name in names if "=" in name or name.endswith(".udpipe")], "--parsers")
    by_language: dict[str, str] = {}
    for name in names:
        language = name.partition("=")[0]
        if language in by_language:
            raise ValueError(f"there are two parsers for {language!r}: {by_language[language]!r} and {name!r}")
        by_language[language] = name
    paths = {language: model_path(name.partition("=")[2] or language) for language, name in by_language.items()}
    return UDPipeParser(paths) if beam_size is None else UDPipeParser(paths, beam_size)
