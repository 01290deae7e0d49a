"""Local files of the cross-lingual tasks: where they lie, and how each is read."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from .column_files import read_intent_columns, read_tagged_sentences, read_upos, to_iob2
from .intent_files import read_mtop, read_slot_lines
from .lines import StrPath
from .squad_files import read_squad
from .text_files import ENDINGS, load_files

__all__ = ["LocalFiles", "Part"]

Rows = list[dict[str, Any]]

PAIR_COLUMNS = {"xnli": ("premise", "hypothesis"), "pawsx": ("sentence1", "sentence2")}
PAIR_FILES = tuple("{split}" + mark + "{language}" + ending for mark in ".-" for ending in ENDINGS)
SQUAD_FILE = "{split}-v1.1.json"  # English, as it has no language in its name
MLQA_FILE = "{split}-context-{language}-question-{question}.json"
NAMES: dict[str, tuple[str, ...]] = {  # the first that is there counts; without {split}, it is the test data
    "xnli": PAIR_FILES,
    "pawsx": PAIR_FILES,
    "panx": ("{split}-{language}.tsv", "{split}.{language}.tsv", "{language}/{split}.tsv", "{language}/{split}"),
    "conll": ("{split}.{language}", "{language}.{split}", "{language}-{split}.txt", "{language}/{split}.txt"),
    "udpos": ("{language}-{split}.conllu", "{language}_*-ud-{split}.conllu", "*/{language}_*-ud-{split}.conllu"),
    "xquad": ("xquad.{language}.json", SQUAD_FILE),
    "mlqa": (MLQA_FILE, "{split}/" + MLQA_FILE, SQUAD_FILE),
    "mtop": ("{language}/{split}.txt",),
    "xsid": ("{split}_{language}", "{language}.{split}.conll"),
}
FOLDERS = {"udpos": ("udpos", "ud"), "conll": ("conll", "conll2003", "ner")}
SPLIT_NAMES = {"train": ("train",), "validation": ("validation", "dev", "valid", "eval"), "test": ("test",)}


@dataclass
class Part:
    """Rows of one language and split, and the file or Hub data set they are from."""

    rows: Rows
    source: str
    split: str


class LocalFiles:
    """Finds and reads the files of a task.

    Args:
        task_name: The task.
        data_dir: Its folder, or the folder that this lies in; `None` if all files are named.
        files: Path of each file named, by split and language; it goes before those found in the folder.
        label_column: Column of the tags in column files.

    Raises:
        ValueError: If there is no such folder.
        FileNotFoundError: If there is no such file.
    """

    def __init__(
        self,
        task_name: str,
        data_dir: StrPath | None,
        files: Mapping[tuple[str, str], str],
        label_column: int = -1,
    ) -> None:
        self.task_name, self.files, self.label_column = task_name, files, label_column
        self.folder = None if data_dir is None else Path(data_dir)
        if self.folder is not None:
            if not self.folder.is_dir():
                raise ValueError(f"there is no folder {os.fspath(self.folder)!r}; --data_dir must name one")
            inner = [self.folder / name for name in FOLDERS.get(task_name, (task_name,))]
            self.folder = next((folder for folder in inner if folder.is_dir()), self.folder)
        for (split, language), file in files.items():
            if not Path(file).exists():
                raise FileNotFoundError(f"there is no {split} file {file!r} for {language!r}")

    def names(self, split: str, language: str) -> list[str]:
        """Lists the names that the file of a split may have, with fields."""
        return [
            name
            for name in NAMES[self.task_name]
            if ("{language}" in name or language == "en") and ("{split}" in name or split == "test")
        ]

    def find(self, split: str, language: str, question: str | None = None) -> list[Path]:
        """Lists the files of a split: one, or several treebanks of a language, or none.

        Args:
            split: "train", "validation" or "test".
            language: Language of the texts; in question answering that of the contexts.
            question: Language of the questions, where it is another one.
        """
        if question in (None, language) and (split, language) in self.files:
            return [Path(self.files[split, language])]
        if self.folder is None:
            return []
        for name in self.names(split, language):
            for split_name in SPLIT_NAMES[split]:
                texts = {"language": escape(language), "question": escape(question or language)}
                if found := sorted(self.folder.glob(name.format(split=split_name, **texts))):
                    return found
        return []

    def read(self, split: str, language: str, question: str | None = None) -> Part | None:
        """Reads a split, of several treebanks all; `None` if there is none."""
        files = self.find(split, language, question)
        rows = [row for file in files for row in self.read_file(file, language)]
        return Part(rows, ", ".join(map(str, files)), split) if files else None

    def read_file(self, file: Path, language: str) -> Rows:
        """Reads a file in the form that the task has."""
        if self.task_name in PAIR_COLUMNS:
            return read_pairs(file, PAIR_COLUMNS[self.task_name])
        if self.task_name in ("xquad", "mlqa"):
            return read_squad(file)
        if self.task_name == "mtop" and file.suffix != ".conll":
            return read_mtop(file)
        if file.is_dir():
            return read_slot_lines(file / f"text.{language}", file / f"label.{language}")
        if self.task_name in ("mtop", "xsid"):
            return read_intent_columns(file)
        if file.suffix == ".conllu":
            if self.label_column != -1:
                raise ValueError(f"{file} is CoNLL-U, whose tags are UPOS: leave out --label_column")
            return read_upos(file)
        sentences = read_tagged_sentences(file, self.label_column, language)
        if self.task_name == "conll":
            for row, tags in zip(sentences, to_iob2([row["tags"] for row in sentences]), strict=True):
                row["tags"] = tags
        return sentences

    def expected(self, split: str, language: str) -> str:
        """Names the files looked for, for messages."""
        if self.folder is None:
            option = "--test_files" if split == "test" else f"--{split}_file"
            return f"no {split} file of {language!r} is named by {option}, and no --data_dir"
        splits = ("test", "validation") if split == "test" else (split,)  # without test data the others are evaluated
        shown = [
            name.format(split=SPLIT_NAMES[each][0], language=language, question=language)
            for each in splits
            for name in self.names(each, language)[:3]
        ]
        return f"there is no {split} file of {language!r} in {self.folder}; such files are {', '.join(shown)}"


def read_pairs(file: Path, columns: tuple[str, str]) -> Rows:
    """Reads text pairs; `idx` is that of the file, else the 0-based number of the row."""
    first, second = columns
    loaded = load_files({"validation": str(file)}, columns)["validation"]  # a test split would lose its labels
    return [
        {"idx": row.get("idx", str(number)), "text": row[first], "text_pair": row[second], "label": row["label"]}
        for number, row in enumerate(loaded)
    ]
