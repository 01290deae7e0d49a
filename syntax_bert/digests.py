"""Short digests that tell whether files and data sets are still the same."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

__all__ = ["dataset_digest", "short_digest"]

NUM_DIGITS = 16  # hexadecimal ones, of the 64 that a SHA-256 has


def short_digest(path: str | PathLike[str]) -> str:
    """Gives the first digits of the SHA-256 of a file."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:NUM_DIGITS]


def dataset_digest(dataset: Iterable[Mapping[str, Any]] | None) -> str | None:
    """Gives the first digits of the SHA-256 of a data set's rows."""
    if dataset is None:
        return None
    rows = (json.dumps(row, sort_keys=True).encode() for row in dataset)
    return hashlib.sha256(b"\n".join(rows)).hexdigest()[:NUM_DIGITS]
