"""Unigram distributions of stemmed content words."""

import re
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix
from scipy.stats import entropy
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

try:
    import snowballstemmer
except ImportError as error:
    raise ImportError("extraction needs a stemmer: pip install snowballstemmer") from error

__all__ = ["content_stems", "unigram_counts", "unigram_entropy"]

WORD = re.compile(r"[^\W\d_]{2,}")
STEMMER = snowballstemmer.stemmer("english")


def content_stems(sentence: str) -> list[str]:
    """Lists the stems of the words that are no stop words: `["cat", "sleep"]` for "The cats are sleeping."."""
    words = [word for word in WORD.findall(sentence.lower()) if word not in ENGLISH_STOP_WORDS]
    return STEMMER.stemWords(words)


def unigram_counts(sentences: Sequence[str]) -> csr_matrix:
    """Counts the stems of each sentence, as a matrix of sentences by vocabulary."""
    if not any(map(content_stems, sentences)):
        return csr_matrix((len(sentences), 0), dtype=np.float32)
    return CountVectorizer(analyzer=content_stems, dtype=np.float32).fit_transform(sentences)


def unigram_entropy(counts: csr_matrix) -> float:
    """Gives the entropy of all the stems counted, in nats; 0 without any."""
    total = np.asarray(counts.sum(axis=0)).ravel()
    return float(entropy(total)) if total.any() else 0.0
