"""The cross-lingual tasks: most are XTREME's (Hu et al. 2020, https://arxiv.org/abs/2003.11080)."""

from dataclasses import dataclass
from typing import Literal

from datasets import Dataset

from syntax_bert.tokenization.universal_dependencies import UPOS

__all__ = ["XTREME_TASKS", "Kind", "XtremeData", "XtremeTask"]

Kind = Literal["pair", "tagging", "question-answering", "intent-and-slots"]


@dataclass(frozen=True)
class XtremeTask:
    """What a task is made of.

    Args:
        kind: What is predicted.
        languages: The languages that it has been published in.
        labels: Class or tag names in the order of their ids; `None` if the data say which there are.
        is_parallel: Whether all languages have the same examples.
        untranslated: Texts that stand for a missing translation.
    """

    kind: Kind
    languages: tuple[str, ...]
    labels: tuple[str, ...] | None = None
    is_parallel: bool = False
    untranslated: tuple[str, ...] = ()


WIKIANN = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC")
XTREME_TASKS: dict[str, XtremeTask] = {
    "xnli": XtremeTask(
        "pair",
        tuple("ar bg de el en es fr hi ru sw th tr ur vi zh".split()),
        ("entailment", "neutral", "contradiction"),
        is_parallel=True,
    ),
    "pawsx": XtremeTask("pair", tuple("de en es fr ja ko zh".split()), ("0", "1"), True, ("", "NS")),
    "panx": XtremeTask(
        "tagging",
        tuple(
            "af ar bg bn de el en es et eu fa fi fr he hi hu id it ja jv ka kk ko ml mr ms my nl pt ru sw ta te th tl "
            "tr ur vi yo zh".split()
        ),
        WIKIANN,
    ),
    "conll": XtremeTask("tagging", ("de", "en", "es", "nl")),
    "udpos": XtremeTask(
        "tagging",
        tuple(
            "af ar bg de el en es et eu fa fi fr he hi hu id it ja kk ko mr nl pt ru ta te th tl tr ur vi yo "
            "zh".split()
        ),
        UPOS,
    ),
    "xquad": XtremeTask("question-answering", tuple("ar de el en es hi ru th tr vi zh".split()), is_parallel=True),
    "mlqa": XtremeTask("question-answering", tuple("ar de en es hi vi zh".split()), is_parallel=True),
    "mtop": XtremeTask("intent-and-slots", tuple("de en es fr hi th".split())),
    "xsid": XtremeTask("intent-and-slots", tuple("ar da de de-st en id it ja kk lt nl sr tr zh".split())),
}


@dataclass(frozen=True)
class XtremeData:
    """The data of a task, ready for a tokenizer.

    Args:
        task_name: The task.
        train: Training data; `None` if none were wanted.
        validation: Validation data in the language of training; `None` if there are none. Without test data they may
            be among `evaluation` too.
        evaluation: Data by language or, for generalized transfer, by pair such as "en-de".
        labels: Names of classes, tags or slots in the order of their ids; empty in question answering.
        intents: Names of the intents in the order of their ids.
        languages: For each of `evaluation` the language of the first text (the question) and of the second (the
            context); for one text, twice the same.
        trained_labels: Those of the labels, the first, that a model is trained to predict.
        trained_intents: The first of the intents, likewise.
    """

    task_name: str
    train: Dataset | None
    validation: Dataset | None
    evaluation: dict[str, Dataset]
    labels: list[str]
    intents: list[str]
    languages: dict[str, tuple[str, str]]
    trained_labels: list[str]
    trained_intents: list[str]

    @property
    def kind(self) -> Kind:
        """What is predicted."""
        return XTREME_TASKS[self.task_name].kind

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that hold the texts of pairs; none for other kinds."""
        return ("text", "text_pair") if self.kind == "pair" else ()
