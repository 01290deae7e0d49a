"""The parser files that a checkpoint carries, each with its licence: naming, saving and finding them again.

A checkpoint may only name plain files of its own, and records their SHA-256.
"""

import os
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import Any

from transformers.utils import cached_file, logging

from .udpipe_models import file_digest
from .udpipe_parser import UDPipeParser

__all__ = ["hub_options", "parser_files", "save_parsers", "saved_parser"]

logger = logging.get_logger(__name__)

HUB_OPTIONS = ("cache_dir", "force_download", "local_files_only", "proxies", "revision", "subfolder", "token")


def parser_files(parser) -> list[tuple[str | None, str, str]]:
    """Lists language, bare file name in a checkpoint and present path of each file of a parser; an object has none."""
    if not isinstance(parser, UDPipeParser):
        return []
    stems = {language: Path(path).name.removesuffix(".udpipe") for language, path in parser.paths.items()}
    are_distinct = len(set(stems.values())) == len(stems)
    return [
        (language, f"{stems[language] if are_distinct else language}.udpipe", path)
        for language, path in parser.paths.items()
    ]


def save_parsers(parser, digests: Mapping[str, str] | None, folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """Copies the files of a parser and their licences into a folder, and gives the paths there.

    Args:
        parser: The parser.
        digests: SHA-256 by file name, as `parser_files` names them.
        folder: Where to.

    Raises:
        ValueError: If a file is no more what it was, or the folder holds a file of this parser under the name that
            another language's file gets.
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
        if digests is None or file_digest(path) != digests.get(name):
            raise ValueError(f"{path} has changed since the tokenizer was loaded: load it again")
        saved.append(copy_file(source, target))
        if licence(source).exists():
            saved.append(copy_file(licence(source), licence(target)))
        else:
            licence(target).unlink(missing_ok=True)  # of a parser that was here before
    return tuple(map(str, saved))


def copy_file(source: Path, target: Path) -> Path:
    """Puts a copy of a file in place at once; what was there, perhaps a link into a cache, is not written to."""
    if not (target.exists() and target.samefile(source)):
        unfinished = target.with_name(f"{target.name}.{os.getpid()}-{threading.get_ident()}.unfinished")
        try:
            shutil.copyfile(source, unfinished)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    return target


def licence(parser: str | Path) -> Path:
    """Gives the file with the licence of a parser, which goes where the parser goes."""
    return Path(parser).with_name(Path(parser).name.removesuffix(".udpipe") + ".LICENSE.md")


def hub_options(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Picks the arguments of `from_pretrained` that say where the files of a checkpoint are."""
    return {name: kwargs[name] for name in HUB_OPTIONS if name in kwargs}


def saved_parser(saved: Mapping[str, Any], name_or_path: str, kwargs: Mapping[str, Any]):
    """Finds the parser files that a checkpoint names, in its folder or by fetching them from the Hub.

    Args:
        saved: The tokenizer's syntax settings; `parser` is a file name or a mapping of languages to them, `sha256` a
            mapping of file names to digests.
        name_or_path: The checkpoint.
        kwargs: The arguments of `from_pretrained`.

    Returns:
        A path, a mapping of languages to paths, or `None`.

    Raises:
        ValueError: If a name is more than a bare file name, a file is a link, or it is not the file that was saved.
        OSError: If a file is not there.
    """
    parser, digests = saved.get("parser"), saved.get("sha256")
    remedy = "load the tokenizer with parser=PATH, and save it again"

    def find(name: str) -> str:
        is_bare = isinstance(name, str) and PureWindowsPath(name).name == name and name.endswith(".udpipe")
        if not is_bare:
            raise ValueError(f"{name_or_path} names the parser {name!r}; it must be a plain file of the checkpoint")
        options = hub_options(kwargs)
        # Fetched so that the licence lies beside the parser and is saved again with it.
        cached_file(name_or_path, licence(name).name, **options, _raise_exceptions_for_missing_entries=False)
        path = cached_file(name_or_path, name, **options)
        if leads_outside(Path(path)):
            raise ValueError(f"{path} is a link to {Path(path).resolve()}; it must be a plain file of the checkpoint")
        recorded = digests.get(name) if isinstance(digests, Mapping) else None
        if file_digest(path) != recorded:
            raise ValueError(
                f"{path} has SHA-256 {file_digest(path)}, but {name_or_path} records {recorded}: "
                f"it is damaged or was exchanged; download it again, or, if you trust it, {remedy}"
            )
        return path

    if not parser:
        return None
    if isinstance(parser, Mapping):
        return {language: find(name) for language, name in parser.items()}
    return find(parser)


def leads_outside(path: Path) -> bool:
    """Tells whether a file is a link out of its checkpoint: not to the blobs of a Hub cache, where links are usual."""
    target, folder = path.resolve(), path.parent.resolve()
    is_cached = target.parent.name == "blobs" and target.parent.parent in folder.parents
    return path.is_symlink() and target.parent != folder and not is_cached
