"""Parallel text for translation: two aligned files, JSON Lines, or a data set from the Hub."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset, Features, Value, load_dataset

from syntax_bert.tokenization.universal_dependencies import find_surrogate

from .lines import StrPath, read_numbered_lines

__all__ = ["load_parallel_text", "load_parallel_text_from_hub"]

FEATURES = Features({"source": Value("string"), "target": Value("string")})


def load_parallel_text(files: Sequence[StrPath], source: str = "source", target: str = "target") -> Dataset:
    """Loads pairs of a source and its translation.

    Args:
        files: Two text files with as many lines, or one of JSON Lines, whose rows have the two languages as columns,
            or in a column "translation".
        source: Column of the source in JSON Lines, such as "en".
        target: Column of the target.

    Raises:
        ValueError: Naming file and line, if the files have not as many lines, a text is missing, or there are no rows.
        FileNotFoundError: If a file does not exist.
    """
    if len(files) not in (1, 2):
        raise ValueError(f"parallel text is two aligned files, or one of JSON Lines; got {len(files)}")
    for file in files:
        if not Path(file).is_file():
            raise FileNotFoundError(f"there is no file {str(file)!r}")
    pairs = list(read_json_pairs(files[0], source, target) if len(files) == 1 else read_aligned_lines(*files))
    if not pairs:
        raise ValueError(f"{' and '.join(map(str, files))}: there are no pairs")
    return Dataset.from_dict(dict(zip(FEATURES, map(list, zip(*pairs, strict=True)), strict=True)), features=FEATURES)


def load_parallel_text_from_hub(name: str, config: str | None, split: str, source: str, target: str) -> Dataset:
    """Loads pairs from a data set of the Hub, with columns of the two languages, or a column "translation" of both."""
    dataset = load_dataset(name, config, split=split)
    columns: dict[str, list[str]] = {"source": [], "target": []}
    for number, row in enumerate(dataset, start=1):
        for column, text in zip(columns, texts_of_row(row, source, target, f"{name}, row {number}"), strict=True):
            columns[column].append(text)
    return Dataset.from_dict(columns, features=FEATURES)


def read_aligned_lines(source_file: StrPath, target_file: StrPath) -> Iterator[tuple[str, str]]:
    """Pairs the lines of two files."""
    sources, targets = ([line for _, line in read_numbered_lines(file)] for file in (source_file, target_file))
    if len(sources) != len(targets):
        raise ValueError(
            f"{source_file} has {len(sources)} lines and {target_file} {len(targets)}: they are not aligned"
        )
    for number, (source, target) in enumerate(zip(sources, targets, strict=True), start=1):
        yield check_text(source, f"{source_file}:{number}"), check_text(target, f"{target_file}:{number}")


def read_json_pairs(file: StrPath, source: str, target: str) -> Iterator[tuple[str, str]]:
    """Reads pairs from JSON Lines."""
    for number, line in read_numbered_lines(file):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{file}:{number}: this is no JSON object: {error}") from error
        yield texts_of_row(row, source, target, f"{file}:{number}")


def texts_of_row(row: Any, source: str, target: str, place: str) -> tuple[str, str]:
    """Picks the two texts out of a row, or out of its column "translation" if that has both."""
    inner = row.get("translation") if isinstance(row, dict) else None
    row = inner if isinstance(inner, dict) else row
    for column in (source, target):
        if not isinstance(row, dict) or not isinstance(row.get(column), str):
            raise ValueError(
                f"{place}: there is no text {column!r} (see --source_lang, --target_lang) in {row!r:.200}"
            )
    return check_text(row[source], place), check_text(row[target], place)


def check_text(text: str, place: str) -> str:
    """Refuses a text that is empty or cannot be encoded."""
    if not text.strip():
        raise ValueError(f"{place}: the text is empty; leave the pair out of both sides")
    if (surrogate := find_surrogate(text)) is not None:
        raise ValueError(f"{place}: there is a lone surrogate at character {surrogate}; remove it")
    return text
