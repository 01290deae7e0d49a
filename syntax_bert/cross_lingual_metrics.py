"""The metrics of the cross-lingual tasks, as XTREME (Hu et al. 2020, https://arxiv.org/abs/2003.11080) computes them.

All are between 0 and 1, where the official scripts give percentages.
"""

import re
import string
import sys
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import evaluate
import numpy as np
from datasets import Features, List, Value
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support
from sklearn.metrics import accuracy_score

from .data.column_files import IOB_TAG
from .data.xtreme_tasks import XTREME_TASKS, Kind

__all__ = [
    "MLQA_LANGUAGES",
    "XTREME_METRICS",
    "XTREME_PRIMARY_METRIC",
    "XtremeMetric",
    "answer_scores",
    "class_scores",
    "entity_scores",
    "intent_and_slot_scores",
    "normalize_answer",
    "upos_scores",
]

ENTITY_METRICS = ("precision", "recall", "f1")
INTENT_METRICS = ("intent_accuracy", "slot_f1", "exact_match")
XTREME_METRICS: dict[str, tuple[str, ...]] = {
    "xnli": ("accuracy",),
    "pawsx": ("accuracy",),
    "panx": ENTITY_METRICS,
    "conll": ENTITY_METRICS,
    "udpos": ("accuracy", *ENTITY_METRICS),
    "xquad": ("exact_match", "f1"),
    "mlqa": ("exact_match", "f1"),
    "mtop": INTENT_METRICS,
    "xsid": INTENT_METRICS,
}
XTREME_PRIMARY_METRIC = {task: "f1" if "f1" in names else names[-1] for task, names in XTREME_METRICS.items()}

ARTICLES = {
    "en": "a an the",
    "es": "un una unos unas el la los las",
    "de": "ein eine einen einem eines einer der die das den dem des",
    "vi": "của là cái chiếc những",
}
MLQA_LANGUAGES = XTREME_TASKS["mlqa"].languages
PUNCTUATION = set(string.punctuation)
UNICODE_PUNCTUATION = PUNCTUATION | {
    chr(code) for code in range(sys.maxunicode) if unicodedata.category(chr(code)).startswith("P")
}
HAN = re.compile("([\u4e00-\u9fa5])")


def class_scores(references: Sequence[int], predictions: Sequence[int]) -> dict[str, float]:
    """Gives the accuracy of class indices."""
    return {"accuracy": float(accuracy_score(references, predictions))}


def entity_scores(references: Sequence[Sequence[str]], predictions: Sequence[Sequence[str]]) -> dict[str, float]:
    """Gives precision, recall and F1 of entities, micro-averaged, as seqeval and conlleval count them.

    Args:
        references: IOB2 tags of each sentence. If some are no IOB2, each word but those tagged `O` is an entity.
        predictions: As many tags. An I- tag after another type begins an entity.

    Raises:
        ValueError: If a sentence has more or fewer predictions than words, naming it.
    """
    check_lengths(references, predictions)
    if not all(IOB_TAG.fullmatch(tag) for side in (references, predictions) for tags in side for tag in tags):
        references, predictions = (
            [[tag if tag == "O" else f"B-{tag}" for tag in tags] for tags in side]
            for side in (references, predictions)
        )
    return seqeval_scores(references, predictions)


def seqeval_scores(references: Sequence[Sequence[str]], predictions: Sequence[Sequence[str]]) -> dict[str, float]:
    """Gives precision, recall and F1 of what seqeval takes for entities: it reads the first letter as that of IOB."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of data without any entity, and of tags that are no entities
        scores = precision_recall_fscore_support(
            [list(tags) for tags in references], [list(tags) for tags in predictions], average="micro", zero_division=0
        )
    return dict(zip(ENTITY_METRICS, map(float, scores[:3]), strict=True))


def upos_scores(references: Sequence[Sequence[str]], predictions: Sequence[Sequence[str]]) -> dict[str, float]:
    """Gives the accuracy over words, and the scores that XTREME reports for part-of-speech tags.

    XTREME counts UPOS as if they were entities: a run of equal tags is one, `SCONJ` and `SYM` always stand alone.

    Raises:
        ValueError: If a sentence has more or fewer predictions than words, naming it.
    """
    check_lengths(references, predictions)
    tags, predicted = ([tag for tags in side for tag in tags] for side in (references, predictions))
    # Without the prefix today's seqeval takes the first letter off, and so SCONJ for CCONJ.
    as_entities = [[[f"{tag[0]}-{tag}" for tag in tags] for tags in side] for side in (references, predictions)]
    return {"accuracy": float(accuracy_score(tags, predicted)), **seqeval_scores(*as_entities)}


def check_lengths(references: Sequence[Sequence[str]], predictions: Sequence[Sequence[str]]) -> None:
    """Checks that each word has one prediction."""
    if len(references) != len(predictions):
        raise ValueError(f"{len(predictions)} predicted sentences, but there are {len(references)}")
    for number, (tags, predicted) in enumerate(zip(references, predictions, strict=True), start=1):
        if len(tags) != len(predicted):
            raise ValueError(f"sentence {number} has {len(tags)} words, but {len(predicted)} predictions")


def normalize_answer(text: str, language: str | None = None) -> str:
    """Lower-cases an answer and takes punctuation, articles and superfluous spaces away.

    Args:
        text: The answer.
        language: Its language, for MLQA's rules (Lewis et al. 2020, https://arxiv.org/abs/1910.07475): punctuation of
            all scripts, the articles of the language, Chinese characters as words of their own; `None` for SQuAD's
            rules, with ASCII punctuation and English articles.

    Raises:
        ValueError: If the language is not one of `MLQA_LANGUAGES`.
    """
    if language is not None and language not in MLQA_LANGUAGES:
        raise ValueError(f"MLQA has no {language!r}; its languages are {', '.join(MLQA_LANGUAGES)}")
    punctuation = PUNCTUATION if language is None else UNICODE_PUNCTUATION
    text = "".join(character for character in text.lower() if character not in punctuation)
    if language == "ar":
        text = text.replace("ال", " ")
    elif articles := ARTICLES.get(language or "en"):
        text = re.sub(rf"\b({'|'.join(articles.split())})\b", " ", text)
    if language == "zh":
        text = HAN.sub(r" \1 ", text)
    return " ".join(text.split())


def answer_scores(
    references: Sequence[Sequence[str]], predictions: Sequence[str], language: str | None = None
) -> dict[str, float]:
    """Gives exact match and F1 over words, each with the answer that fits best.

    Args:
        references: The right answers to each question; of a question without an answer, none.
        predictions: The predicted answers; an empty text says that there is none.
        language: Language of the answers for MLQA's rules, `None` for SQuAD's; see `normalize_answer`.

    Raises:
        ValueError: If there are more or fewer predictions than questions, or MLQA does not have the language.
    """
    if len(references) != len(predictions) or not len(references):
        raise ValueError(f"{len(predictions)} predicted answers, but there are {len(references)} questions")
    scores = []
    for answers, prediction in zip(references, predictions, strict=True):
        predicted = normalize_answer(prediction, language)
        if len(answers):
            golds = [normalize_answer(answer, language) for answer in answers]
            scores.append((max(gold == predicted for gold in golds), max(word_f1(gold, predicted) for gold in golds)))
        else:
            scores.append((not predicted, float(not predicted)))
    exact_match, f1 = np.mean(np.array(scores, dtype=float), axis=0)
    return {"exact_match": float(exact_match), "f1": float(f1)}


def word_f1(gold: str, predicted: str) -> float:
    """Gives the F1 of two normalized answers as bags of words; 0 if they share none."""
    gold_words, predicted_words = Counter(gold.split()), Counter(predicted.split())
    shared = (gold_words & predicted_words).total()
    return 2 * shared / (gold_words.total() + predicted_words.total()) if shared else 0.0


def intent_and_slot_scores(
    references: Sequence[tuple[str, Sequence[str]]], predictions: Sequence[tuple[str, Sequence[str]]]
) -> dict[str, float]:
    """Gives the accuracy of the intents, the F1 of the slots, and the share of sentences with all of it right.

    Args:
        references: Intent of each sentence, and IOB2 tags of its words.
        predictions: The same.

    Raises:
        ValueError: If a sentence has more or fewer predictions than words, naming it.
    """
    slots, predicted_slots = ([tags for _, tags in side] for side in (references, predictions))
    slot_f1 = entity_scores(slots, predicted_slots)["f1"]
    pairs = list(zip(references, predictions, strict=True))
    right = [intent == predicted for (intent, _), (predicted, _) in pairs]
    all_right = [
        is_right and list(tags) == list(own) for is_right, ((_, tags), (_, own)) in zip(right, pairs, strict=True)
    ]
    return {"intent_accuracy": float(np.mean(right)), "slot_f1": slot_f1, "exact_match": float(np.mean(all_right))}


SCORERS: dict[Kind, Callable[..., dict[str, float]]] = {
    "pair": class_scores,
    "tagging": entity_scores,
    "question-answering": answer_scores,
    "intent-and-slots": intent_and_slot_scores,
}


class XtremeMetric(evaluate.Metric):
    """The scores of one cross-lingual task: `XtremeMetric(config_name="panx")`.

    Predictions and references are class indices (xnli, pawsx), tags of each sentence (panx, conll, udpos), an answer
    and a list of right answers (xquad, mlqa), or `{"intent", "tags"}` (mtop, xsid). For mlqa, `compute` needs
    `language=`, that of the contexts. Instances do not pickle.

    Raises:
        ValueError: If `config_name` is not such a task.
    """

    def _info(self) -> evaluate.MetricInfo:
        if self.config_name not in XTREME_METRICS:
            raise ValueError(f"unknown task {self.config_name!r}; known tasks: {', '.join(XTREME_METRICS)}")
        text, texts = Value("string"), List(Value("string"))
        features: dict[Kind, tuple[Any, Any]] = {
            "pair": (Value("int64"), Value("int64")),
            "tagging": (texts, texts),
            "question-answering": (text, texts),
            "intent-and-slots": ({"intent": text, "tags": texts},) * 2,
        }
        predictions, references = features[XTREME_TASKS[self.config_name].kind]
        return evaluate.MetricInfo(
            description=f"Scores for {self.config_name}: {', '.join(XTREME_METRICS[self.config_name])}.",
            citation="Hu et al. (2020). XTREME: A Massively Multilingual Multi-task Benchmark. ICML.",
            features=Features({"predictions": predictions, "references": references}),
            reference_urls=["https://sites.research.google/xtreme"],
        )

    def _compute(
        self, predictions: Sequence[Any], references: Sequence[Any], language: str | None = None
    ) -> dict[str, float]:
        if self.config_name == "mlqa":
            if language is None:
                raise ValueError("MLQA's rules depend on the language; give compute(..., language='de')")
            return answer_scores(references, predictions, language)
        if self.config_name == "udpos":
            return upos_scores(references, predictions)
        kind = XTREME_TASKS[self.config_name].kind
        if kind == "intent-and-slots":
            sides = (references, predictions)
            references, predictions = ([(row["intent"], row["tags"]) for row in side] for side in sides)
        return SCORERS[kind](references, predictions)
