"""Text classification data from one's own files, checked before anything is trained on it."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path

from datasets import Dataset, DatasetDict, Features, Value
from datasets.exceptions import DatasetGenerationError
from transformers.utils import logging

from syntax_bert.digests import short_digest
from syntax_bert.tokenization.universal_dependencies import find_surrogate

logger = logging.get_logger(__name__)

__all__ = ["label_names", "load_files", "read_rows", "with_class_labels"]

DELIMITED: dict[str, dict] = {
    ".csv": {"strict": True},
    ".tsv": {"delimiter": "\t", "quoting": csv.QUOTE_NONE},
}
ENDINGS = (".jsonl", ".json", *DELIMITED)
PAIRS = (
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question", "sentence"),
    ("question1", "question2"),
    ("text", "text_pair"),
)
INTEGER = re.compile("-?[0-9]{1,18}")


def load_files(
    files: Mapping[str, str], columns: Sequence[str] | None = None, label_column: str = "label"
) -> DatasetDict:
    """Loads one file a split: JSON Lines, CSV (quoted as usual) or TSV (not quoted), the last two with a header.

    Every value is loaded as a string. A split keeps its text columns, its labels and, where there is one, `idx`; the
    labels of a test split are not read.

    Args:
        files: Path of each split.
        columns: Names of the text columns; by default those that `choose_text_columns` finds in the first file.
        label_column: Name of the label column.

    Raises:
        ValueError: For an empty or malformed file, an unknown ending, a missing column, text or label, with file and
            line, and if the text columns have to be chosen.
        FileNotFoundError: If a file does not exist.
    """
    splits = DatasetDict()
    for split, file in files.items():
        first = first_row(file, split)
        label = None if split.startswith("test") else label_column
        labels = [] if label is None else [label]
        for column in (*(columns or ()), *labels):
            if column not in first:
                raise ValueError(f"{file} has no column {column!r}; it has {list(first)}")
        columns = columns or choose_text_columns(file, first, label_column)
        kept = [*columns, *labels, *({"idx"} & first.keys())]
        # a changed file is not taken from the cache
        options = {"path": file, "columns": tuple(kept), "label": label, "digest": short_digest(file)}
        try:
            splits[split] = Dataset.from_generator(
                read_examples,
                features=Features({column: Value("string") for column in kept}),
                gen_kwargs=options,
            )
        except DatasetGenerationError as error:
            raise (error.__cause__ if isinstance(error.__cause__, ValueError) else error) from None
    return splits


def first_row(file: str, split: str) -> dict[str, str | None]:
    """Gives the first row of a file, refusing one that has none."""
    path = Path(file)
    if not path.is_file():
        raise FileNotFoundError(f"there is no {split} file {file!r}")
    if path.suffix not in ENDINGS:
        raise ValueError(f"{file}: unknown ending; data files end in {', '.join(ENDINGS)}")
    _, first = next(read_rows(file), (0, None))
    if first is None:
        raise ValueError(f"{file} has no rows" if path.read_bytes().strip() else f"{file} is empty")
    return first


def choose_text_columns(file: str, columns: Iterable[str], label_column: str) -> Sequence[str]:
    """Finds the text columns of a file: the only one beside label and `idx`, or two that are known by their names.

    Raises:
        ValueError: If there are others.
    """
    left = [column for column in columns if column not in (label_column, "idx")]
    chosen = left if len(left) == 1 else next((pair for pair in PAIRS if set(pair) == set(left)), None)
    if chosen is None:
        raise ValueError(f"{file}: choose one or two text columns out of {left} with --text_columns")
    return chosen


def read_examples(path: str, columns: Sequence[str], label: str | None, digest: str) -> Iterator[dict[str, str]]:
    """Reads some columns of a file and checks that each row has them; `digest` is for the cache only."""
    for line, row in read_rows(path):
        checked = {}
        for column in columns:
            text = row.get(column)
            if text is None or (column == label and not text):
                raise ValueError(f"{path}:{line}: {column!r} is missing")
            if (position := find_surrogate(text)) is not None:
                raise ValueError(f"{path}:{line}: {column!r} has a lone surrogate at character {position}")
            checked[column] = text
        yield checked


def read_rows(path: str) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Reads a file row by row, each with its 1-based line.

    Raises:
        ValueError: If the file is malformed, with the line.
    """
    with open(path, encoding="utf-8-sig", newline="") as file:  # "\u2028" is no line break
        try:
            options = DELIMITED.get(Path(path).suffix)
            yield from read_json_lines(path, file) if options is None else read_delimited(path, file, options)
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8: {error}") from error


def read_json_lines(path: str, lines: Iterable[str]) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Reads JSON objects; numbers and truth values become their JSON text."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line).items()
        except (ValueError, AttributeError, RecursionError) as error:
            raise ValueError(f"{path}:{number}: not a JSON object: {error}") from error
        # a list is neither text nor label, so that its column is missing where it is needed
        scalars = {column: value for column, value in values if not isinstance(value, list | dict)}
        yield number, {c: v if isinstance(v, str | None) else json.dumps(v) for c, v in scalars.items()}


def read_delimited(path: str, lines: Iterable[str], options: dict) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Reads the rows below a header, each of which has as many fields as it."""
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(lines, **options)
    header: list[str] | None = None
    try:
        for fields in reader:
            if reader.dialect.quoting == csv.QUOTE_NONE and any(len(f) > 1 and f[0] == f[-1] == '"' for f in fields):
                logger.warning_once(
                    f"{path}: a field is in double quotes, which stay: .tsv files are read literally, as GLUE's are; "
                    "in .csv files quotes are removed"
                )
            if header is None:
                header = fields
                if len(set(header)) < len(header):
                    raise ValueError(f"{path}: a column is there twice: {header}")
            elif fields:
                if len(fields) != len(header):
                    problem = f"{len(fields)} fields, but the header has {len(header)}"
                    raise ValueError(f"{path}:{reader.line_num}: {problem}")
                yield reader.line_num, dict(zip(header, fields, strict=True))
    except csv.Error as error:
        raise ValueError(f"{path}:{reader.line_num}: {error}") from error


def label_names(labels: Iterable[str], source: str) -> list[str] | None:
    """Lists the labels of a training set, integers by value and others by name; `None` for fractions (regression).

    Raises:
        ValueError: If all labels are equal, or one has a tab or a line break.
    """
    distinct = set(labels)
    odd = [label for label in distinct if re.search(r"[\t\r\n]", label)]
    if odd:
        raise ValueError(
            f"{source}: the label {odd[0]!r} has a tab or a line break, which prediction files cannot hold"
        )
    if len(distinct) < 2:
        raise ValueError(f"{source}: all labels are {min(distinct, default=None)!r}; two are needed")
    if all(INTEGER.fullmatch(label) for label in distinct):
        return sorted(distinct, key=int)
    return None if all(is_number(label) for label in distinct) else sorted(distinct)


def is_number(text: str) -> bool:
    """Tells whether a text is a number, possibly with a fraction."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def with_class_labels(
    splits: Mapping[str, Dataset], column: str, names: Sequence[str] | None, sources: Mapping[str, str]
) -> DatasetDict:
    """Turns the label column into ids (or into floats, for regression), named `label`; test splits lose it.

    A label is a name, or an id where the names are no integers themselves.

    Args:
        splits: The data.
        column: Name of the label column.
        names: Label names in the order of their ids; `None` for regression.
        sources: File or data set name of each split, for messages.

    Raises:
        ValueError: If a label is not among `names`, or not a finite number, naming file and example.
    """
    ids = {} if any(map(INTEGER.fullmatch, names or ())) else {str(i): i for i in range(len(names or ()))}
    ids |= {name: index for index, name in enumerate(names or ())}
    labelled = DatasetDict()
    for split, dataset in splits.items():
        labels: list[float] = []
        given = dataset[column][:] if column in dataset.column_names else ()
        for number, value in enumerate(() if split.startswith("test") else given, start=1):
            if names is None and is_number(value) and isfinite(float(value)):
                labels.append(float(value))
            elif str(value) in ids:
                labels.append(ids[str(value)])
            else:
                expected = "a finite number" if names is None else f"one of {list(names)}"
                raise ValueError(f"{sources[split]}, example {number}: the label {value!r} is not {expected}")
        labelled[split] = dataset.remove_columns([column] if column in dataset.column_names else [])
        if not split.startswith("test"):
            feature = Value("float32" if names is None else "int64")
            labelled[split] = labelled[split].add_column("label", labels, feature=feature)
    return labelled
