"""How well the tags of reviews agree with others of the same reviews: by span, by word, by aspect."""

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2
from sklearn.metrics import precision_recall_fscore_support, recall_score
from sklearn.preprocessing import MultiLabelBinarizer

from .review_files import Review
from .spans import OUTSIDE

__all__ = ["ASPECTS", "aspect_scores", "coverage_scores", "majority_tags", "paired_tags"]

ASPECTS = (
    "clarity",
    "meaningful_comparison",
    "motivation",
    "originality",
    "replicability",
    "soundness",
    "substance",
    "summary",
)
ALL_TAGS = "micro avg"  # as seqeval calls it
POLARITY = re.compile(r"_(positive|negative)$")

Tags = Sequence[Sequence[str]]
Scores = dict[str, dict[str, float]]


def paired_tags(references: Sequence[Review], predictions: Sequence[Review]) -> tuple[Tags, Tags]:
    """Gives the words of each reference their tags and those predicted.

    Args:
        references: Reviews with labels.
        predictions: The same reviews, in any order, with words and labels.

    Raises:
        ValueError: If a review is not among the predictions, or has another text there, or the labels do not fit the
            words, naming the review.
    """
    by_id = {review.id: review for review in predictions}
    pairs = []
    for reference in references:
        predicted = by_id.get(reference.id)
        if predicted is None or predicted.text != reference.text:
            raise ValueError(f"review {reference.id!r} is not among the predictions, or has another text there")
        same_words = Review(reference.id, reference.text, predicted.words, predicted.sentence_ids, reference.labels)
        pairs.append((same_words.tags(), predicted.tags()))
    expected, found = zip(*pairs, strict=True)
    return expected, found


def aspect_scores(references: Tags, predictions: Tags) -> Scores:
    """Scores the tags of reviews by precision, recall and F1 of whole spans and of single words.

    A span is a longest run of equal tags, `O` aside; it is right if it has the same words and the same tag.

    Args:
        references: The tags of the words of each review.
        predictions: As many.

    Returns:
        For each tag, and for all of them as `micro avg`: `span_precision`, `span_recall`, `span_f1`, `num_spans`,
        `word_precision`, `word_recall`, `word_f1`, `num_words`; the numbers are those of the references.
    """
    spans, words = span_scores(references, predictions), word_scores(references, predictions)
    return {tag: {**spans.get(tag, named_scores("span")), **words[tag]} for tag in words}


def span_scores(references: Tags, predictions: Tags) -> Scores:
    """Scores spans; tags that no span has are left out."""
    sides = [[to_iob2(tags) for tags in side] for side in (references, predictions)]
    if not any(tag != OUTSIDE for side in sides for tag in chain(*side)):
        return {}
    report = classification_report(*sides, mode="strict", scheme=IOB2, output_dict=True, zero_division=0)
    return {tag: named_scores("span", *score.values()) for tag, score in report.items()}


def word_scores(references: Tags, predictions: Tags) -> Scores:
    """Scores single words, by the tags that there are."""
    sides = [list(chain(*side)) for side in (references, predictions)]
    labels = sorted({*sides[0], *sides[1]} - {OUTSIDE})
    if not labels:
        return {ALL_TAGS: named_scores("word")}
    options = {"labels": labels, "zero_division": 0}
    rows = dict(zip(labels, zip(*precision_recall_fscore_support(*sides, **options), strict=True), strict=True))
    *micro, _ = precision_recall_fscore_support(*sides, average="micro", **options)
    rows[ALL_TAGS] = (*micro, sum(row[-1] for row in rows.values()))
    return {tag: named_scores("word", *row) for tag, row in rows.items()}


def named_scores(
    unit: str, precision: float = 0, recall: float = 0, f1: float = 0, number: float = 0
) -> dict[str, float]:
    """Names the scores of a tag."""
    scores = {"precision": float(precision), "recall": float(recall), "f1": float(f1)}
    return {**{f"{unit}_{name}": score for name, score in scores.items()}, f"num_{unit}s": int(number)}


def to_iob2(tags: Sequence[str]) -> list[str]:
    """Writes runs of equal tags as IOB2: `[x, x, O, y]` as `[B-x, I-x, O, B-y]`."""
    previous = [OUTSIDE, *tags]
    return [
        tag if tag == OUTSIDE else f"{'I' if tag == before else 'B'}-{tag}"
        for before, tag in zip(previous, tags, strict=False)
    ]


def majority_tags(tags: Tags) -> list[list[str]]:
    """Gives every word the tag that most words have, `O` aside."""
    counts = Counter(tag for tag in chain(*tags) if tag != OUTSIDE)
    majority = counts.most_common(1)[0][0] if counts else OUTSIDE
    return [[majority] * len(own) for own in tags]


def coverage_scores(references: Tags, predictions: Tags) -> dict[str, float]:
    """Gives the aspect coverage of reviews, and the aspect recall of predictions.

    Coverage is the share of the eight aspects that a review speaks of, well or ill; recall the share of the aspects of
    the reference that the prediction has too. Both are means over reviews; those without aspects have no recall.

    Args:
        references: The tags of the words of each review.
        predictions: As many.
    """
    binarizer = MultiLabelBinarizer(classes=ASPECTS).fit([])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "unknown class")
        expected, found = (
            binarizer.transform([{POLARITY.sub("", tag) for tag in tags} for tags in side])
            for side in (references, predictions)
        )
    recall = recall_score(expected, found, average="samples", zero_division=np.nan)
    return {
        "reference_aspect_coverage": float(expected.mean()),
        "aspect_coverage": float(found.mean()),
        "aspect_recall": float(recall),
    }
