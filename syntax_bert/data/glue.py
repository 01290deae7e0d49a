"""The GLUE tasks (Wang et al. 2019, https://arxiv.org/abs/1804.07461): columns, labels, submission files."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from datasets import DatasetDict, load_dataset
from transformers import PreTrainedConfig

from .text_files import label_names, load_files, with_class_labels

logger = logging.getLogger(__name__)

__all__ = [
    "GLUE_TASKS",
    "ClassificationData",
    "GlueTask",
    "config_labels",
    "label_options",
    "load_classification_data",
    "write_submission",
]


@dataclass(frozen=True)
class GlueTask:
    """Text columns, label names (`None`: a score) and the name of the submission file of each test split."""

    columns: tuple[str, ...]
    labels: tuple[str, ...] | None
    submissions: dict[str, str]


PAIR, ENTAILMENT = ("sentence1", "sentence2"), ("entailment", "not_entailment")
GLUE_TASKS = {
    "cola": GlueTask(("sentence",), ("unacceptable", "acceptable"), {"test": "CoLA"}),
    "sst2": GlueTask(("sentence",), ("negative", "positive"), {"test": "SST-2"}),
    "mrpc": GlueTask(PAIR, ("not_equivalent", "equivalent"), {"test": "MRPC"}),
    "stsb": GlueTask(PAIR, None, {"test": "STS-B"}),
    "qqp": GlueTask(("question1", "question2"), ("not_duplicate", "duplicate"), {"test": "QQP"}),
    "mnli": GlueTask(
        ("premise", "hypothesis"),
        ("entailment", "neutral", "contradiction"),
        {"test": "MNLI-m", "test_matched": "MNLI-m", "test_mismatched": "MNLI-mm"},
    ),
    "qnli": GlueTask(("question", "sentence"), ENTAILMENT, {"test": "QNLI"}),
    "rte": GlueTask(PAIR, ENTAILMENT, {"test": "RTE"}),
    "wnli": GlueTask(PAIR, ("not_entailment", "entailment"), {"test": "WNLI"}),
}
NAMED_LABELS = ("mnli", "qnli", "rte")  # submitted by name, all others by id


@dataclass(frozen=True)
class ClassificationData:
    """A text (pair) classification or scoring data set, ready for a tokenizer.

    Args:
        splits: Data by split; the label column, which test splits do not have, is `label`.
        columns: Names of the one or two text columns.
        labels: Label names in the order of their ids; `None` for scores.
        task_name: The GLUE task; `None` for other data.
    """

    splits: DatasetDict
    columns: tuple[str, ...]
    labels: list[str] | None
    task_name: str | None = None

    def __str__(self) -> str:
        texts = " and ".join(self.columns)
        if self.labels is None:
            return f"regression of {texts}"
        shown = ", ".join(self.labels[:20]) + (", ..." if len(self.labels) > 20 else "")
        return f"classification of {texts} into {len(self.labels)} labels: {shown}"

    def names(self, kind: str) -> list[str]:
        """Lists the splits whose name starts with `kind`: MNLI has two of "validation" and of "test"."""
        return [split for split in self.splits if split.startswith(kind)]


def load_classification_data(
    task_name: str | None = None,
    files: dict[str, str] | None = None,
    text_columns: Sequence[str] | None = None,
    label_column: str = "label",
    trained: PreTrainedConfig | None = None,
) -> ClassificationData:
    """Loads a GLUE task from the Hub, or files of the same form or of one's own.

    Args:
        task_name: One of `GLUE_TASKS`; `None` for other data.
        files: Path of each split; without, the data of the task from the Hub.
        text_columns: One or two text columns of data that is no GLUE task; by default all but `label` and `idx`.
        label_column: Name of the label column.
        trained: Config of the checkpoint that is to be used as it is. Its labels are then those of one's own data;
            otherwise those of the training split are.

    Raises:
        ValueError: Without task and files, for an unknown task, for what is wrong in a file, and if the labels of the
            checkpoint are not those of the task.
    """
    if task_name is not None and task_name not in GLUE_TASKS:
        raise ValueError(f"unknown task {task_name!r}; the GLUE tasks are {list(GLUE_TASKS)}")
    task = GLUE_TASKS.get(task_name or "")
    splits, sources = load_splits(task_name, files, text_columns if task is None else task.columns, label_column)
    if task is not None:
        columns, names = task.columns, None if task.labels is None else list(task.labels)
        if trained is not None:
            check_labels(names, trained, task_name)
    else:
        columns = own_columns(splits, text_columns, label_column)
        if trained is None:
            names = label_names(splits["train"].unique(label_column), sources["train"])
        else:
            names = config_labels(trained)
    labelled = with_class_labels(splits, label_column, names, sources)
    data = ClassificationData(labelled, columns, names, task_name)
    logger.info("%s", data)
    return data


def load_splits(
    task_name: str | None, files: dict[str, str] | None, columns: Sequence[str] | None, label_column: str
) -> tuple[DatasetDict, dict[str, str]]:
    """Loads files, or else a task from the Hub; gives each split and the name of its file or data set."""
    if files:
        return load_files(files, columns, label_column), files
    if task_name is None:
        raise ValueError("give --task_name, or --train_file and --validation_file")
    splits = load_dataset("nyu-mll/glue", task_name)
    return splits, {split: f"glue/{task_name} {split}" for split in splits}


def own_columns(splits: DatasetDict, text_columns: Sequence[str] | None, label_column: str) -> tuple[str, ...]:
    """Gives the text columns of data that is no GLUE task."""
    first = next(iter(splits.values()))
    columns = tuple(text_columns or (c for c in first.column_names if c not in (label_column, "idx")))
    if label_column in columns:
        raise ValueError(f"the label column {label_column!r} cannot be a text column")
    if len(columns) not in (1, 2):
        raise ValueError(f"choose one or two text columns out of {list(columns)} with --text_columns")
    return columns


def config_labels(config: PreTrainedConfig) -> list[str] | None:
    """Lists the labels of a trained model; `None` if it gives a score."""
    names = [name for _, name in sorted((config.id2label or {}).items())]
    return names if len(names) > 1 else None


def label_options(labels: list[str] | None, is_single: bool = True) -> dict[str, Any]:
    """Gives the config fields of a model for these labels, or without labels for a score.

    Args:
        labels: Their names, in the order of their ids.
        is_single: Whether a text has one of them, and not each of its tokens.
    """
    if labels is None:
        return {"num_labels": 1, "problem_type": "regression"}
    ids = {name: index for index, name in enumerate(labels)}
    problem_type = "single_label_classification" if is_single else None
    return {"id2label": dict(enumerate(labels)), "label2id": ids, "problem_type": problem_type}


def check_labels(names: list[str] | None, config: PreTrainedConfig, task_name: str | None) -> None:
    """Checks that a trained model gives the labels of a task in the same order; LABEL_0, ... may be any."""
    own = config_labels(config)
    unnamed = None if names is None else [f"LABEL_{index}" for index in range(len(names))]
    if own not in (names, unnamed):
        raise ValueError(f"the checkpoint's labels are {own or 'a score'}, those of {task_name} {names or 'a score'}")


def write_submission(data: ClassificationData, split: str, predictions: np.ndarray, directory: str | Path) -> Path:
    """Writes test predictions as the GLUE server wants them: `index` and `prediction` in a TSV file.

    Data that is no GLUE task goes to `SPLIT.tsv`, with label names.

    Args:
        data: The data; the `idx` of its test split, where there is one, is the index.
        split: The test split.
        predictions: Label ids, or scores; those of STS-B are cut to 0 to 5.
        directory: Where to write.
    """
    submissions = GLUE_TASKS[data.task_name].submissions if data.task_name else {}
    path = Path(directory) / f"{submissions.get(split, split)}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    test = data.splits[split]
    indices = test["idx"] if "idx" in test.column_names else range(len(test))
    if data.labels is None:
        scores = predictions if data.task_name is None else np.clip(predictions, 0, 5)
        values = [f"{score:.3f}" for score in scores]
    else:
        is_named = data.task_name is None or data.task_name in NAMED_LABELS
        values = [data.labels[index] if is_named else str(index) for index in predictions]
    rows = zip(indices, values, strict=True)
    path.write_text("index\tprediction\n" + "".join(f"{i}\t{value}\n" for i, value in rows), encoding="utf-8")
    return path
