import math
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import entropy

from examples.reviews.benchmark_extraction import select_by_loop
from examples.reviews.cross_entropy import Scorer, select_sentences
from examples.reviews.unigrams import content_stems, unigram_counts, unigram_entropy


def random_counts(num_sentences, num_words=40, seed=0):
    """Word counts of sentences that differ in length and share many words."""
    rng = np.random.default_rng(seed)
    rates = rng.gamma(1.0, 1.0, num_sentences)[:, None] * rng.dirichlet(np.full(num_words, 0.3)) * 6
    return csr_matrix(rng.poisson(rates), dtype=np.float32)


def test_stems_of_content_words():
    stems = content_stems("The cats are sleeping; 3 cats’ naïve sleep isn't state-of-the-art2.")
    assert stems == ["cat", "sleep", "cat", "naïv", "sleep", "isn", "state", "art"]
    counts = unigram_counts(["Cats sleep.", "A cat!", "It is."])
    assert counts.toarray().tolist() == [[1, 1], [1, 0], [0, 0]]
    assert unigram_entropy(counts) == pytest.approx(math.log(3) - 2 / 3 * math.log(2))
    assert unigram_entropy(counts[[2]]) == 0


def test_no_content_words():
    counts = unigram_counts(["It is.", "12"] * 20)
    assert counts.shape == (40, 0)
    assert unigram_entropy(counts) == 0
    assert len(select_sentences(counts, 30, 0.5, 9, np.random.default_rng(0)).sentences) <= 30


def test_scores_are_entropies_or_excess():
    counts = random_counts(9)
    samples = np.random.default_rng(1).random((200, 9)) < 0.5
    expected = [
        float(5 - sample.sum()) if sample.sum() > 5 else unigram_entropy(counts[np.flatnonzero(sample)])
        for sample in samples
    ]
    assert min(expected) < 0 < max(expected)
    assert Scorer(counts, 5)(samples) == pytest.approx(expected, abs=1e-5)
    assert Scorer(counts, 5)(np.zeros((1, 9), dtype=bool)).tolist() == [0]


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_subsets_is_found(seed):
    counts = random_counts(12, seed=seed)
    subsets = [subset for size in range(1, 5) for subset in combinations(range(12), size)]
    totals = [np.asarray(counts[list(subset)].sum(axis=0)).ravel() for subset in subsets]
    best = max(entropy(total) for total in totals if total.any())
    selection = select_sentences(counts, 4, 0.3, 1000, np.random.default_rng(seed))
    assert len(selection.sentences) <= 4
    assert unigram_entropy(counts[selection.sentences]) == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("start_prob", [0.05, 0.5, 0.99])
@pytest.mark.parametrize("num_sentences", [31, 250])
def test_never_more_than_the_limit(num_sentences, start_prob):
    counts = random_counts(num_sentences)
    selection = select_sentences(counts, 30, start_prob, 1000, np.random.default_rng(0))
    assert 0 < len(selection.sentences) <= 30
    assert selection.sentences == sorted({*selection.sentences})
    assert unigram_entropy(counts[selection.sentences]) > unigram_entropy(counts[:30])
    again = select_sentences(counts, 30, start_prob, 1000, np.random.default_rng(0))
    assert (again.sentences, again.num_rounds) == (selection.sentences, selection.num_rounds)


def test_it_ends_with_three_equal_thresholds():
    """Sentences of one word of their own: all samples of the same size score the same."""
    selection = select_sentences(csr_matrix(np.eye(40)), 3, 0.9, 1000, np.random.default_rng(0))
    assert len(selection.sentences) == 3
    assert 3 < selection.num_rounds < 100


def test_it_ends_when_nothing_is_left_to_chance(monkeypatch):
    monkeypatch.setattr("examples.reviews.cross_entropy.SMOOTHING", 0.0)
    monkeypatch.setattr("examples.reviews.cross_entropy.ELITE_SHARE", 0.0)  # the best alone
    assert select_sentences(random_counts(40), 30, 0.5, 10, np.random.default_rng(0)).num_rounds == 1


def test_it_ends_after_a_hundred_rounds(monkeypatch):
    monkeypatch.setattr("examples.reviews.cross_entropy.MAX_EQUAL_THRESHOLDS", 1000)
    assert select_sentences(random_counts(40), 30, 0.5, 10, np.random.default_rng(0)).num_rounds == 100


def test_without_a_sample_within_the_limit_the_most_probable_are_taken(monkeypatch):
    monkeypatch.setattr("examples.reviews.cross_entropy.MAX_ROUNDS", 1)
    selection = select_sentences(random_counts(250), 30, 0.9, 100, np.random.default_rng(0))
    assert len(selection.sentences) == 30
    assert min(selection.probs[selection.sentences]) >= np.sort(selection.probs)[-30]
    assert len(select_sentences(csr_matrix(np.ones((40, 1))), 30, 0.5, 9, np.random.default_rng(0)).sentences) <= 30


def test_a_plain_loop_finds_no_better():
    counts = random_counts(45)
    stems = [[str(word) for word, number in enumerate(row) for _ in range(int(number))] for row in counts.toarray()]
    for seed in range(2):
        selection = select_sentences(counts, 30, 0.5, 500, np.random.default_rng(seed))
        looped = select_by_loop(stems, 30, 0.5, 500, np.random.default_rng(seed))
        assert 0 < len(looped) <= 30
        assert unigram_entropy(counts[looped]) == pytest.approx(unigram_entropy(counts[selection.sentences]), abs=0.01)
