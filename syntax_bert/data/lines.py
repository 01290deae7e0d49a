"""The lines of text files."""

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["StrPath", "read_numbered_lines"]

StrPath = str | os.PathLike[str]
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read_numbered_lines(path: StrPath) -> Iterator[tuple[int, str]]:
    r"""Reads a text file line by line, each with its 1-based number; only `\n` and `\r\n` end a line.

    Files that end in `.gz`, `.bz2` or `.xz` are decompressed.

    Raises:
        UnicodeError: If the file is not UTF-8, naming the last line that is.
        ValueError: If it cannot be decompressed.
    """
    number = 0
    opener = OPENERS.get(Path(path).suffix, open)
    with opener(path, "rt", encoding="utf-8-sig", newline="\n") as file:  # a word may hold U+2028
        try:
            for number, line in enumerate(file, start=1):
                yield number, line.removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise UnicodeError(f"{path} is not UTF-8 after line {number}: {error}") from error
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise ValueError(f"{path} is damaged after line {number}: {error}") from error
