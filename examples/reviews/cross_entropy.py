"""Choosing sentences by the cross-entropy method (Yuan, Liu and Neubig 2021, https://arxiv.org/abs/2102.00176).

Shapes: N samples, S sentences, V words of the vocabulary.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

__all__ = ["Selection", "select_sentences"]

NUM_LATER_SAMPLES = 1000
ELITE_SHARE = 0.05
SMOOTHING = 0.7
MAX_ROUNDS = 100
MAX_EQUAL_THRESHOLDS = 3
BEYOND_LIMIT = -1.0  # the score of a sample with one sentence too many; no entropy is that low


@dataclass(frozen=True)
class Selection:
    """What was chosen.

    Args:
        sentences: 0-based numbers of the sentences, in order.
        probs: Probability `(S,)` of each sentence in the end.
        num_rounds: Rounds that it took.
    """

    sentences: list[int]
    probs: np.ndarray
    num_rounds: int


def select_sentences(
    counts: csr_matrix, limit: int, start_prob: float, num_samples: int, rng: np.random.Generator
) -> Selection:
    """Chooses sentences, up to a limit, that maximise the entropy of their unigram distribution.

    Each round draws samples, sentence by sentence with a probability of its own, and moves the probabilities towards
    the best of them: p becomes 0.7 p + 0.3 (mean of the best 5 %). It ends with three equal thresholds (the score of
    the worst among the best), with all probabilities at 0 or 1, or after 100 rounds. Samples beyond the limit score
    below all others, by their excess.

    Args:
        counts: Words of each sentence `(S, V)`.
        limit: Most sentences.
        start_prob: Probability of each sentence at first.
        num_samples: Samples of the first round; later ones have 1,000.
        rng: Source of chance.

    Returns:
        The best sample within the limit that was drawn in any round; the most probable sentences if there was none.
    """
    scorer = Scorer(counts, limit)
    probs = np.full(counts.shape[0], start_prob)
    best, best_score = np.zeros(counts.shape[0], dtype=bool), BEYOND_LIMIT
    thresholds: list[float] = []
    while not is_over(thresholds, probs):
        samples = rng.random((num_samples, len(probs)), dtype=np.float32) < probs
        scores = scorer(samples)
        num_elite = max(1, round(ELITE_SHARE * num_samples))
        elite = np.argpartition(-scores, num_elite - 1)[:num_elite]
        top = elite[scores[elite].argmax()]
        if scores[top] > best_score:
            best, best_score = samples[top], float(scores[top])
        probs = SMOOTHING * probs + (1 - SMOOTHING) * samples[elite].mean(axis=0)
        thresholds.append(float(scores[elite].min()))
        num_samples = NUM_LATER_SAMPLES
    if not best.any():
        best[np.argsort(-probs, kind="stable")[:limit]] = True
    return Selection(np.flatnonzero(best).tolist(), probs, len(thresholds))


def is_over(thresholds: list[float], probs: np.ndarray) -> bool:
    """Tells whether the rounds are over; equal thresholds beyond the limit do not count."""
    last = thresholds[-MAX_EQUAL_THRESHOLDS:]
    is_settled = len(last) == MAX_EQUAL_THRESHOLDS and last[0] > BEYOND_LIMIT and len({*last}) == 1
    return is_settled or len(thresholds) == MAX_ROUNDS or bool(np.isin(probs, (0, 1)).all())


class Scorer:
    """Scores samples by the entropy log n - (sum of c log c) / n over the counts c of words, n in all.

    Words that are there once in all sentences together are part of n only, as 1 log 1 is 0.

    Args:
        counts: Words of each sentence `(S, V)`.
        limit: Most sentences.
    """

    def __init__(self, counts: csr_matrix, limit: int) -> None:
        self.limit = limit
        self.lengths = np.asarray(counts.sum(axis=1), dtype=np.float32).ravel()
        repeated = np.asarray(counts.sum(axis=0)).ravel() > 1
        self.repeated_words = counts[:, repeated].T.tocsr()

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        """Gives samples `(N, S)` their scores `(N,)`: entropies, or minus the number of sentences beyond the limit."""
        sizes = samples.sum(axis=1)
        scores = (self.limit - sizes).astype(np.float32)
        within = np.flatnonzero(sizes <= self.limit)
        chosen = np.ascontiguousarray(samples[within].T, dtype=np.float32)
        totals = np.maximum(self.lengths @ chosen, 1)
        counts = self.repeated_words @ chosen
        logs = np.log(np.maximum(counts, 1))
        scores[within] = np.log(totals) - np.multiply(counts, logs, out=logs).sum(axis=0) / totals
        return scores
