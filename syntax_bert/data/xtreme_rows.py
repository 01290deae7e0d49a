"""Rows of the cross-lingual tasks: which are used, in which languages, and as which ids."""

import logging
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from datasets import Dataset, Features, List, Value

from .squad_files import misplaced_answer
from .xtreme_files import Part
from .xtreme_tasks import Kind, XtremeTask

__all__ = ["drop_unusable", "encode", "join_languages", "name_labels", "split_rows"]

logger = logging.getLogger(__name__)

TEXT, ID = Value("string"), Value("int64")
ANSWERS = {"text": List(TEXT), "answer_start": List(Value("int32"))}
FEATURES: dict[Kind, Features] = {
    "pair": Features({"text": TEXT, "text_pair": TEXT, "label": ID}),
    "tagging": Features({"words": List(TEXT), "tags": List(ID)}),
    "question-answering": Features({"id": TEXT, "question": TEXT, "context": TEXT, "answers": ANSWERS}),
    "intent-and-slots": Features({"words": List(TEXT), "tags": List(ID), "intent": ID}),
}
SPLIT_SEED = 0


class Names(NamedTuple):
    """Names in the order of their ids, and how many, the first, a model is trained to predict."""

    all: list[str]
    num_trained: int


def drop_unusable(part: Part, untranslated: Sequence[str]) -> int:
    """Leaves out pairs without a translation, and training questions whose answer is not where it is said to be.

    Returns:
        The number of rows left out.

    Raises:
        ValueError: If no row is left.
    """
    rows = part.rows
    if untranslated:
        rows = [row for row in rows if not {row["text"].strip(), row["text_pair"].strip()} & {*untranslated}]
    if part.split == "train" and rows and "answers" in rows[0]:
        rows = [row for row in rows if misplaced_answer(row) is None]
    if not rows:
        raise ValueError(f"{part.source} has no usable rows")
    number = len(part.rows) - len(rows)
    part.rows = rows
    return number


def row_ids(part: Part) -> dict[str, dict[str, Any]]:
    """Finds rows by what is the same in all languages."""
    by_id: dict[str, dict[str, Any]] = {}
    for row in part.rows:
        row_id = row["id"] if "id" in row else row["idx"]
        if row_id in by_id:
            raise ValueError(
                f"{part.source}: the row {row_id!r} is there twice, so that its translations are not known"
            )
        by_id[row_id] = row
    return by_id


def check_splits(*parts: Part) -> None:
    """Refuses the test data of one language beside the validation data of another, which are not the same examples."""
    for part in parts[1:]:
        if part.split != parts[0].split:
            problem = f"{parts[0].split} and {part.split} data are not the same examples"
            raise ValueError(f"{parts[0].source} and {part.source}: {problem}")


def join_languages(first: Part, second: Part) -> Part:
    """Takes the first text, or the question, from one language and the second, or the context, from another.

    Rows that one of them lacks are left out.

    Raises:
        ValueError: If the languages have different splits, share no row, or the labels of a row differ, naming it.
    """
    check_splits(first, second)
    rows, others = [], row_ids(second)
    for row_id, row in row_ids(first).items():
        if (other := others.get(row_id)) is None:
            continue
        if row.get("label") != other.get("label"):
            problem = f"the labels are {row['label']!r} and {other['label']!r}"
            raise ValueError(f"{first.source} and {second.source}, row {row_id!r}: {problem}")
        column = "question" if "question" in row else "text"
        rows.append({**other, column: row[column]})
    if not rows:
        raise ValueError(f"{first.source} and {second.source} have no row in common")
    return Part(rows, f"{first.source}; {second.source}", first.split)


def split_rows(own: Part, evaluation: Mapping[str, Part], fraction: float) -> tuple[Part, Part, dict[str, Part]]:
    """Takes a share of the rows of one language for training and leaves the rest, in all languages, for evaluation.

    Rows with the same first text or context go together. The choice is random but always the same.

    Args:
        own: All rows in the language of training.
        evaluation: All rows by language.
        fraction: Share to train on.

    Returns:
        Training data, the rest in the same language, and the rest in each language.

    Raises:
        ValueError: If the languages have different splits, or nothing is left to train on or to evaluate.
    """
    check_splits(own, *evaluation.values())
    by_id = row_ids(own)
    groups: dict[str, list[str]] = {}
    for row_id, row in by_id.items():
        groups.setdefault(row["context"] if "context" in row else row["text"], []).append(row_id)
    texts = list(groups)
    random.Random(SPLIT_SEED).shuffle(texts)
    chosen: set[str] = set()
    for text in texts:
        if len(chosen) < fraction * len(by_id):
            chosen.update(groups[text])
    train = Part([row for row_id, row in by_id.items() if row_id in chosen], own.source, "train")
    validation = without(own, chosen)
    rest = {key: without(part, chosen) for key, part in evaluation.items()}
    for part in (train, validation, *rest.values()):
        if not part.rows:
            raise ValueError(f"{part.source}: a fraction of {fraction} leaves no rows to train on or to evaluate")
    return train, validation, rest


def without(part: Part, chosen: set[str]) -> Part:
    """Leaves out the rows chosen, in whatever language."""
    return Part([row for row_id, row in row_ids(part).items() if row_id not in chosen], part.source, part.split)


def name_labels(
    task: XtremeTask, parts: Mapping[str, Part], labels: Sequence[str], intents: Sequence[str]
) -> tuple[Names, Names]:
    """Lists the labels and the intents of a task in the order of their ids.

    Where the data say which there are, those of a checkpoint come first, then those of the training data, then others.
    """
    nothing = Names([], 0)
    if task.labels is not None or task.kind == "question-answering":
        own_labels = list(task.labels or ())
        return Names(own_labels, len(own_labels)), nothing
    tags = {name: {tag for row in part.rows for tag in row["tags"]} for name, part in parts.items()}
    if task.kind == "intent-and-slots":
        odd = sorted(tag for tag in set().union(*tags.values()) if tag != "O" and tag[:2] not in ("B-", "I-"))
        if odd:
            logger.warning("the slots %s are neither O nor begin with B- or I-; they stay as they are", ", ".join(odd))
    if task.kind == "tagging":
        return ordered(tags, labels, "tags"), nothing
    own = {name: {row["intent"] for row in part.rows} for name, part in parts.items()}
    return ordered(tags, labels, "slots"), ordered(own, intents, "intents")


def ordered(found: Mapping[str, set[str]], known: Sequence[str], what: str) -> Names:
    """Orders names: known ones, those of training with `O` first, and others, which it logs."""
    trained = [*known, *in_order(found.get("train", set()) - {*known})]
    if len(trained) == 1:
        logger.warning("the training data have one of the %s only, %s: is this the right column?", what, *trained)
    others = in_order(set().union(*found.values()) - {*trained})
    if others:
        logger.warning("the training data have none of the %s %s", what, ", ".join(others))
    return Names([*trained, *others], len(trained))


def in_order(names: Iterable[str]) -> list[str]:
    """Sorts names, `O` first."""
    return sorted(names, key=lambda name: (name != "O", name))


def encode(kind: Kind, part: Part, labels: Sequence[str], intents: Sequence[str]) -> Dataset:
    """Turns rows into a data set with the ids of labels.

    A class may be given by its id.

    Raises:
        ValueError: If a label is not one of those of the task, naming file and row.
    """
    ids = {name: index for index, name in enumerate(labels)}
    columns: dict[str, list[Any]] = {
        column: [row[column] for row in part.rows] for column in FEATURES[kind] if column not in ("tags", "intent")
    }
    numbered = list(enumerate(part.rows, start=1))
    if kind == "pair":
        own = {str(index): index for index in range(len(labels))} | ids
        columns["label"] = [known_id(own, row["label"], f"{part.source}, row {row['idx']!r}") for row in part.rows]
    elif kind != "question-answering":
        where = {number: f"{part.source}, sentence {number}" for number, _ in numbered}
        columns["tags"] = [[known_id(ids, tag, where[number]) for tag in row["tags"]] for number, row in numbered]
    if kind == "intent-and-slots":
        intent_ids = {name: index for index, name in enumerate(intents)}
        columns["intent"] = [intent_ids[row["intent"]] for row in part.rows]
    return Dataset.from_dict(columns, features=FEATURES[kind])


def known_id(ids: Mapping[str, int], name: str, where: str) -> int:
    """Gives the id of a label, or says where there is an unknown one."""
    if name not in ids:
        raise ValueError(f"{where}: {name!r} is not one of {list(ids)}")
    return ids[name]
