"""The parser files that a checkpoint carries, each with its licence: naming, saving and finding them again."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers.utils import cached_file, logging

from .udpipe_parser import UDPipeParser

__all__ = ["hub_options", "parser_files", "save_parsers", "saved_parser"]

logger = logging.get_logger(__name__)

HUB_OPTIONS = ("cache_dir", "force_download", "local_files_only", "proxies", "revision", "subfolder", "token")


def parser_files(parser) -> list[tuple[str | None, str, str]]:
    """Lists language, bare file name in a checkpoint and present path of each file of a parser; an object has none."""
    if not isinstance(parser, UDPipeParser):
        return []
    paths = parser.paths
    are_distinct = len({Path(path).name for path in paths.values()}) == len(paths)
    return [
        (language, Path(path).name if are_distinct else f"{language}.udpipe", path) for language, path in paths.items()
    ]


def save_parsers(parser, folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """Copies the files of a parser and their licences into a folder, and gives the paths there.

    Raises:
        ValueError: If the folder holds a file of this parser under the name that another language's file gets.
    """
    files = parser_files(parser)
    if parser is not None and not files:
        logger.warning(f"a {type(parser).__name__} cannot be saved with the tokenizer: give parser= again on loading")
    for language, name, _ in files:
        target = Path(folder, name)
        for other, _, path in files:
            if other != language and target.exists() and target.samefile(path):
                raise ValueError(
                    f"{target} is the parser of {other!r} and would become that of {language!r}: "
                    "save into another folder"
                )
    saved = []
    for _, name, path in files:
        source, target = Path(path), Path(folder, name)
        saved.append(copy_file(source, target))
        if licence(source).exists():
            saved.append(copy_file(licence(source), licence(target)))
        else:
            licence(target).unlink(missing_ok=True)  # of a parser that was here before
    return tuple(map(str, saved))


def copy_file(source: Path, target: Path) -> Path:
    """Puts a copy of a file in place at once; what was there, perhaps a link into a cache, is not written to."""
    if not (target.exists() and target.samefile(source)):
        unfinished = target.with_name(f"{target.name}.{os.getpid()}")
        shutil.copyfile(source, unfinished)
        unfinished.replace(target)
    return target


def licence(parser: str | Path) -> Path:
    """Gives the file with the licence of a parser, which goes where the parser goes."""
    return Path(parser).with_name(Path(parser).name.removesuffix(".udpipe") + ".LICENSE.md")


def hub_options(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Picks the arguments of `from_pretrained` that say where the files of a checkpoint are."""
    return {name: kwargs[name] for name in HUB_OPTIONS if name in kwargs}


def saved_parser(parser: str | Mapping[str, str] | None, name_or_path: str, kwargs: Mapping[str, Any]):
    """Finds the parser files that a checkpoint names, in its folder or by fetching them from the Hub.

    Raises:
        ValueError: If a name is more than a bare file name.
        OSError: If a file is not there.
    """

    def find(name: str) -> str:
        if not isinstance(name, str) or Path(name).name != name or "\\" in name:
            raise ValueError(f"{name_or_path} names the parser {name!r}; it must be a plain file of the checkpoint")
        options = hub_options(kwargs)
        # Fetched so that the licence lies beside the parser and is saved again with it.
        cached_file(name_or_path, licence(name).name, **options, _raise_exceptions_for_missing_entries=False)
        return cached_file(name_or_path, name, **options)

    if not parser:
        return None
    if isinstance(parser, Mapping):
        return {language: find(name) for language, name in parser.items()}
    return find(parser)
