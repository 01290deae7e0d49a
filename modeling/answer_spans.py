"""The best answer out of the scores of the windows of a long text.

Shapes: T tokens of a window.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

__all__ = ["AnswerSpan", "AnswerWindow", "best_spans"]


class AnswerWindow(NamedTuple):
    """What a model says about one window.

    Args:
        start_logits: `(T,)`.
        end_logits: `(T,)`.
        offsets: First character of each token in the context and the character after its last, 0-based, `(T, 2)`.
        context_mask: 1 for the tokens of the context, `(T,)`.
    """

    start_logits: np.ndarray
    end_logits: np.ndarray
    offsets: np.ndarray
    context_mask: np.ndarray


class AnswerSpan(NamedTuple):
    """An answer: its probability among all starts and all ends, and its characters in the context, 0-based."""

    score: float
    start: int
    end: int


def best_spans(
    context: str, windows: Iterable[AnswerWindow], max_answer_length: int = 30, top_k: int = 1
) -> list[AnswerSpan]:
    """Finds the spans of highest probability, best first; a span that lies in several windows is given once.

    Args:
        context: The text, from which spans have no spaces at their ends.
        windows: All windows of one context.
        max_answer_length: Longest answer in wordpieces.
        top_k: Number of spans.
    """
    found: dict[tuple[int, int], float] = {}
    starts_total = ends_total = -np.inf
    for window in windows:
        outside = np.where(np.asarray(window.context_mask, bool), 0.0, -np.inf)
        start_logits = np.asarray(window.start_logits, float) + outside
        end_logits = np.asarray(window.end_logits, float) + outside
        starts_total = np.logaddexp(starts_total, np.logaddexp.reduce(start_logits))
        ends_total = np.logaddexp(ends_total, np.logaddexp.reduce(end_logits))
        scores = start_logits[:, None] + end_logits[None, :]  # (T, T), start before end
        scores[~np.triu(np.ones_like(scores, bool))] = -np.inf
        scores[np.triu(np.ones_like(scores, bool), max_answer_length)] = -np.inf
        own: dict[tuple[int, int], float] = {}
        for flat in np.argsort(-scores, axis=None, kind="stable"):
            first, last = np.unravel_index(flat, scores.shape)
            if len(own) == top_k or scores[first, last] == -np.inf:
                break
            start, end = int(window.offsets[first][0]), int(window.offsets[last][1])
            start += len(context[start:end]) - len(context[start:end].lstrip())  # SentencePiece counts the space
            end = start + len(context[start:end].rstrip())
            if start < end:
                own.setdefault((start, end), float(scores[first, last]))
        for span, score in own.items():
            found[span] = max(found.get(span, -np.inf), score)
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:top_k]
    return [AnswerSpan(float(np.exp(score - starts_total - ends_total)), *span) for span, score in best]
