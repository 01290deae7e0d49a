"""Zero-shot cross-lingual transfer: train in one language, evaluate in many (Hu et al. 2020, arXiv 2003.11080).

Generalized transfer (Ahmad et al. 2021, arXiv 2106.02134) takes the two texts from different languages.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from .lines import StrPath
from .xtreme_files import LocalFiles, Part
from .xtreme_hub import TABLES, HubData
from .xtreme_rows import drop_unusable, encode, join_languages, name_labels, split_rows
from .xtreme_tasks import XTREME_TASKS, XtremeData, XtremeTask

__all__ = ["load_xtreme"]

logger = logging.getLogger(__name__)


@dataclass
class PartReader:
    """Reads parts of a task and leaves out rows that nothing can be learnt from, saying how many."""

    task: XtremeTask
    source: LocalFiles | HubData

    def read(self, name: str, split: str, language: str, question: str | None = None) -> Part | None:
        """Reads a split of a language; `None` if there is none."""
        part = self.source.read(split, language, question)
        if part is not None and (number := drop_unusable(part, self.task.untranslated)):
            logger.warning("%s: left out %d rows that are not translated or whose answer is misplaced", name, number)
        return part

    def read_evaluation(self, name: str, question: str, context: str) -> Part:
        """Reads the test data or, without any, the validation data."""
        for split in ("test", "validation"):
            if (part := self.read(name, split, context, question)) is not None:
                logger.info("%s is evaluated on the %s data, %s", name, split, part.source)
                return part
        raise ValueError(self.source.expected("test", context))

    def join(self, evaluation: Mapping[str, Part], keys: Mapping[str, tuple[str, str]]) -> dict[str, Part]:
        """Adds pairs of languages, and says how many rows of the first the second lacks."""
        joined = dict(evaluation)
        for key, (first, second) in keys.items():
            if key not in evaluation:
                joined[key] = join_languages(evaluation[first], evaluation[second])
                if lost := len(evaluation[first].rows) - len(joined[key].rows):
                    logger.warning("%s: left out %d rows that %s lacks", key, lost, second)
        return joined


def load_xtreme(
    task_name: str,
    train_language: str = "en",
    eval_languages: Sequence[str] | None = None,
    data_dir: StrPath | None = None,
    generalized: bool = False,
    label_column: int = -1,
    train_split_fraction: float | None = None,
    train_file: str | None = None,
    validation_file: str | None = None,
    test_files: Mapping[str, str] | None = None,
    with_train: bool = True,
    labels: Sequence[str] = (),
    intents: Sequence[str] = (),
) -> XtremeData:
    """Loads a task from the Hub, or from files.

    Columns are `text, text_pair, label` (xnli, pawsx), `words, tags` (panx, conll, udpos), `id, question, context,
    answers` (xquad, mlqa) and `words, tags, intent` (mtop, xsid); labels, tags and intents are ids. Each language is
    evaluated on its test data or, without any, on its validation data.

    Args:
        task_name: One of `XTREME_TASKS`.
        train_language: Language of the training data.
        eval_languages: Languages to evaluate; by default those of `test_files`, else all that there are data for.
        data_dir: Folder of the task's files, or the folder that this lies in; without, the data are the Hub's.
        generalized: Whether to evaluate all ordered pairs of languages too, the first being that of the first text
            or of the question. For tasks with the same examples in all languages.
        label_column: Column of the tags in column files, 0-based or from the end.
        train_split_fraction: Share of the evaluation data, one random choice, to train on instead of a training file.
            What is evaluated in any language is neither it nor its translation, and shares no first text or context
            with it.
        train_file: Training data, instead of those of the folder.
        validation_file: Validation data in the language of training.
        test_files: Test data by language.
        with_train: Whether training data are needed.
        labels: Labels that come first, those of a checkpoint.
        intents: Intents that come first.

    Raises:
        ValueError: For an unknown task, options that do not go together, data that are not there and, naming file and
            example, for what is wrong in them.
        FileNotFoundError: If a file that was named does not exist.
    """
    check_options(task_name, generalized, train_split_fraction, train_file)
    task = XTREME_TASKS[task_name]
    files = {("test", language): file for language, file in (test_files or {}).items()}
    files |= {(split, train_language): file for split, file in named_files(train_file, validation_file)}
    source = open_source(task_name, data_dir, files, label_column)
    if isinstance(source, HubData) and train_split_fraction is not None:
        raise ValueError("--train_split_fraction is for files; the Hub has training data")
    languages = choose_languages(task, source, train_language, [*(eval_languages or test_files or ())])
    keys = evaluation_keys(languages, generalized)
    reader = PartReader(task, source)
    is_joined = generalized and task_name != "mlqa"  # which has files of its own for each pair of languages
    read = {language: (language, language) for language in languages} if is_joined else keys
    evaluation = {key: reader.read_evaluation(key, *pair) for key, pair in read.items()}
    train, validation, evaluation = training_parts(
        reader, train_language, evaluation, train_split_fraction, with_train
    )
    if is_joined:
        evaluation = reader.join(evaluation, keys)
    parts = {"train": train, "validation": validation, **evaluation}
    present = {name: part for name, part in parts.items() if part is not None}
    tags, known_intents = name_labels(task, present, labels, intents)
    encoded = {name: encode(task.kind, part, tags.all, known_intents.all) for name, part in present.items()}
    return XtremeData(
        task_name,
        encoded.get("train"),
        encoded.get("validation"),
        {key: encoded[key] for key in keys},
        tags.all,
        known_intents.all,
        keys,
        tags.all[: tags.num_trained],
        known_intents.all[: known_intents.num_trained],
    )


def check_options(task_name: str, generalized: bool, fraction: float | None, train_file: str | None) -> None:
    """Refuses unknown tasks, and options that do not go together."""
    if task_name not in XTREME_TASKS:
        raise ValueError(f"unknown task {task_name!r}; the cross-lingual tasks are {list(XTREME_TASKS)}")
    if not XTREME_TASKS[task_name].is_parallel and (generalized or fraction is not None):
        parallel = [name for name, task in XTREME_TASKS.items() if task.is_parallel]
        option = "--generalized" if generalized else "--train_split_fraction"
        raise ValueError(f"{option} needs the same examples in all languages, as {parallel} have, not {task_name}")
    if fraction is not None and not 0 < fraction < 1:
        raise ValueError(f"--train_split_fraction is {fraction!r}; it must be between 0 and 1")
    if fraction is not None and train_file is not None:
        raise ValueError("give --train_file or --train_split_fraction, not both")


def named_files(train_file: str | None, validation_file: str | None) -> list[tuple[str, str]]:
    """Lists the files of the training language that were named."""
    files = (("train", train_file), ("validation", validation_file))
    return [(split, file) for split, file in files if file is not None]


def open_source(
    task_name: str, data_dir: StrPath | None, files: Mapping[tuple[str, str], str], label_column: int
) -> LocalFiles | HubData:
    """Chooses between files and the Hub."""
    if data_dir is not None or files:
        return LocalFiles(task_name, data_dir, files, label_column)
    if task_name not in TABLES:
        raise ValueError(f"{task_name} cannot be loaded from the Hub; give --data_dir, or --train_file and others")
    return HubData(task_name)


def choose_languages(
    task: XtremeTask, source: LocalFiles | HubData, train_language: str, wanted: Sequence[str]
) -> list[str]:
    """Gives the languages asked for, or all that there are evaluation data of."""
    if isinstance(source, HubData):
        if foreign := {train_language, *wanted} - {*task.languages}:
            raise ValueError(f"the Hub has no data in {min(foreign)!r}; there are {', '.join(task.languages)}")
        return list(dict.fromkeys(wanted or task.languages))
    if wanted:
        return list(dict.fromkeys(wanted))
    found = [name for name in task.languages if source.find("test", name) or source.find("validation", name)]
    if not found:
        raise ValueError(source.expected("test", task.languages[0]))
    return found


def evaluation_keys(languages: Sequence[str], generalized: bool) -> dict[str, tuple[str, str]]:
    """Names what is evaluated, with the languages of its two texts."""
    keys = {language: (language, language) for language in languages}
    if not generalized:
        return keys
    if len(languages) < 2:
        raise ValueError(f"--generalized needs two languages; there is only {', '.join(languages)}")
    return keys | {f"{first}-{second}": (first, second) for first, second in permutations(languages, 2)}


def training_parts(
    reader: PartReader, language: str, evaluation: dict[str, Part], fraction: float | None, with_train: bool
) -> tuple[Part | None, Part | None, dict[str, Part]]:
    """Gives training, validation and evaluation data; a fraction is taken from the evaluation data."""
    if fraction is not None:
        own = evaluation.get(language) or reader.read_evaluation("train", language, language)
        return split_rows(own, evaluation, fraction)
    train = reader.read("train", "train", language) if with_train else None
    if with_train and train is None:
        remedy = "give --train_file or, for parallel data, --train_split_fraction"
        raise ValueError(f"{reader.source.expected('train', language)}; {remedy}")
    return train, reader.read("validation", "validation", language), evaluation
