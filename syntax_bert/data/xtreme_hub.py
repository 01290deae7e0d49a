"""The cross-lingual tasks from the Hub: XTREME (Hu et al. 2020, arXiv 2003.11080), and what it trains on."""

from dataclasses import dataclass, field

from datasets import Dataset, DatasetDict, load_dataset

from .xtreme_files import Part

__all__ = ["TABLES", "HubData"]

TREEBANKS = dict(  # the names that XTREME gives its languages
    zip(
        "af ar eu bg nl en et fi fr de el he hi hu id it ja kk ko zh mr fa pt ru es tl ta te th tr ur vi yo".split(),
        "Afrikaans Arabic Basque Bulgarian Dutch English Estonian Finnish French German Greek Hebrew Hindi Hungarian "
        "Indonesian Italian Japanese Kazakh Korean Chinese Marathi Persian Portuguese Russian Spanish Tagalog Tamil "
        "Telugu Thai Turkish Urdu Vietnamese Yoruba".split(),
        strict=True,
    )
)


@dataclass(frozen=True)
class Table:
    """A data set: its path, the name of its configuration, and our names of its columns."""

    path: str
    name: str
    columns: dict[str, str]


QUESTIONS = {"id": "id", "question": "question", "context": "context", "answers": "answers"}
SENTENCES = {"sentence1": "text", "sentence2": "text_pair"}
SQUAD = Table("google/xtreme", "SQuAD", QUESTIONS)
TABLES: dict[str, Table] = {
    "xnli": Table("google/xtreme", "XNLI", {**SENTENCES, "gold_label": "label", "language": "language"}),
    "pawsx": Table("google-research-datasets/paws-x", "{language}", {"id": "idx", **SENTENCES, "label": "label"}),
    "panx": Table("google/xtreme", "PAN-X.{language}", {"tokens": "words", "ner_tags": "tags"}),
    "udpos": Table("google/xtreme", "udpos.{treebank}", {"tokens": "words", "pos_tags": "tags"}),
    "xquad": Table("google/xtreme", "XQuAD.{language}", QUESTIONS),
    "mlqa": Table("google/xtreme", "MLQA.{language}.{question}", QUESTIONS),
}
TRAINING: dict[str, Table] = {  # where the task has no training data of its own
    "xnli": Table("facebook/xnli", "{language}", {"premise": "text", "hypothesis": "text_pair", "label": "label"}),
    "xquad": SQUAD,
    "mlqa": SQUAD,
}


@dataclass
class HubData:
    """Reads a task from the Hub.

    Args:
        task_name: One of `TABLES`.
    """

    task_name: str
    loaded: dict[tuple[str, str], DatasetDict] = field(default_factory=dict)

    def table(self, split: str) -> Table:
        """Finds the data set of a split; XQuAD has only test data, which it calls validation."""
        elsewhere = split == "train" or (split == "validation" and self.task_name == "xquad")
        return TRAINING.get(self.task_name, TABLES[self.task_name]) if elsewhere else TABLES[self.task_name]

    def read(self, split: str, language: str, question: str | None = None) -> Part | None:
        """Reads a split; `None` if the data set has none.

        Args:
            split: "train", "validation" or "test".
            language: Language of the texts; in question answering that of the contexts.
            question: Language of the questions, where it is another one.

        Raises:
            ValueError: If there is no such language.
        """
        table = self.table(split)
        if table is SQUAD and language != "en":
            raise ValueError(f"{self.task_name} trains on SQuAD, which is English; give --train_language en")
        names = {"language": language, "question": question or language, "treebank": TREEBANKS.get(language)}
        name = table.name.format(**names)
        if (table.path, name) not in self.loaded:
            self.loaded[table.path, name] = load_dataset(table.path, name)
        splits = self.loaded[table.path, name]
        stored = "validation" if table is TABLES["xquad"] else split
        if stored not in splits:
            return None
        dataset = with_names(splits[stored].select_columns(list(table.columns)).rename_columns(table.columns))
        if "language" in dataset.column_names:
            chosen = [index for index, own in enumerate(dataset["language"][:]) if own == language]
            dataset = dataset.select(chosen).remove_columns("language")
        rows = dataset.to_list()
        if not rows:
            raise ValueError(f"{table.path} {name} has no {stored} rows of the language {language!r}")
        for number, row in enumerate(rows if "label" in dataset.column_names else ()):
            row["idx"] = str(row.get("idx", number))
        return Part(rows, f"{table.path} {name} {stored}", split)

    def expected(self, split: str, language: str) -> str:
        """Says what there is not, for messages."""
        return f"the Hub has no {split} data of {self.task_name} in {language!r}"


def with_names(dataset: Dataset) -> Dataset:
    """Replaces the ids of classes by their names."""
    for column, feature in dataset.features.items():
        names = getattr(feature, "names", None) or getattr(getattr(feature, "feature", None), "names", None)
        if names is not None:
            given = dataset[column][:]
            values = [[names[i] for i in ids] if isinstance(ids, list) else names[ids] for ids in given]
            dataset = dataset.remove_columns(column).add_column(column, values)
    return dataset
