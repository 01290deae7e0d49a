"""Trains graph attention to keep the trees of treebanks, and measures how well its vectors do.

The loss is that of Ahmad et al. 2021 (https://arxiv.org/abs/2106.02134), the measures those of Hewitt & Manning 2019
(https://aclanthology.org/N19-1419). The network reads the tree, so they tell how much of it the vectors keep; nothing
is parsed.
"""

import copy
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np
import torch
from datasets import Dataset
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.stats import spearmanr
from torch.utils.data import DataLoader
from tqdm.auto import tqdm
from transformers import DataCollatorWithPadding

from .data.conllu import read_conllu
from .modeling.dependency_tree import dependency_adjacency, read_trees
from .modeling.modeling_syntax_mbert import SyntaxMBertWithGATForTreeReconstruction
from .tokenization.universal_dependencies import FIRST, UPOS_IDS, WHOLE

__all__ = ["encode_treebanks", "tree_scores"]

logger = logging.getLogger(__name__)

NUM_DECIMALS = 9  # of predicted arcs
SENTENCE_LENGTHS = range(5, 51)  # that the correlations are averaged over

Arcs = set[tuple[int, int]]


class WordTrees(NamedTuple):
    """Which of the `W` words of a sentence count, being no punctuation, `(W,)`; what was predicted, and what is true.

    Distances are `(W, W)`, depths `(W,)`.
    """

    counts: np.ndarray
    distances: np.ndarray
    depths: np.ndarray
    true_distances: np.ndarray
    true_depths: np.ndarray

    def arcs(self) -> tuple[Arcs, Arcs]:
        """Gives the predicted and the true arcs between words other than punctuation."""
        inner = np.ix_(self.counts, self.counts)
        return spanning_tree(self.distances[inner]), spanning_arcs(self.true_distances[inner] == 1)

    def has_root(self) -> bool:
        """Tells whether the word of smallest predicted depth, punctuation apart, is one of smallest depth."""
        depths, true_depths = self.depths[self.counts], self.true_depths[self.counts]
        return bool(true_depths[depths.argmin()] == true_depths.min())


def encode_treebanks(files: Sequence[str | PathLike[str]], tokenizer, max_length: int) -> Dataset:
    """Encodes the sentences of CoNLL-U files with their gold trees.

    Args:
        files: Treebanks.
        tokenizer: A syntax tokenizer; it needs no parser.
        max_length: Longest sequence in wordpieces.

    Raises:
        ValueError: If a file is malformed, or has a sentence without heads.
    """
    rows: list[dict[str, list[int]]] = []
    for file in files:
        if not Path(file).is_file():
            raise FileNotFoundError(f"there is no treebank file {str(file)!r}")
        parses = [sentence.parse for sentence in read_conllu(file)]
        for number, parse in enumerate(parses, start=1):
            if parse.parents is None:
                raise ValueError(f"{file}: sentence {number} has no heads")
        texts = [parse.text for parse in parses]
        encoded = tokenizer(texts, parses=parses, truncation=True, max_length=max_length)
        rows += [{name: values[row] for name, values in encoded.items()} for row in range(len(texts))]
        logger.info("%s: %d sentences", file, len(texts))
    return Dataset.from_list(rows)


def tree_scores(
    model: SyntaxMBertWithGATForTreeReconstruction, dataset: Dataset, tokenizer, batch_size: int = 32
) -> dict[str, float | None]:
    """Measures what the predicted distances and depths of words say about the trees that were read.

    Words are represented by their first wordpieces. UUAS is the share of arcs between words other than punctuation
    that the minimum spanning tree of the predicted distances has; the root is the word other than punctuation of
    smallest depth. Spearman correlations are means over words (distances) or sentences (depths) of each length, and
    then over the lengths 5 to 50; `None` without such sentences.

    Args:
        model: Any model for tree reconstruction.
        dataset: Sentences encoded by `encode_treebanks`, with `subword_ids`.
        tokenizer: Pads them.
        batch_size: Sentences at once.
    """
    was_training = model.training
    model.eval()
    # in float64: where vectors are close, differences in float32 are noise, and depend on the batch
    network, probe = (
        copy.deepcopy(part).double() for part in (model.base_model.graph_attention, model.structure_probe)
    )
    found, num_arcs, roots = 0, 0, []
    by_length: dict[str, dict[int, list[float]]] = {"distance": defaultdict(list), "depth": defaultdict(list)}
    batches = DataLoader(dataset, batch_size=batch_size, collate_fn=DataCollatorWithPadding(tokenizer))  # type: ignore
    for batch in tqdm(batches, desc="Measuring trees"):
        for words in predict_trees(model, network, probe, batch.to(model.device)):
            if not words.counts.any():
                continue
            arcs, true_arcs = words.arcs()
            found, num_arcs = found + len(arcs & true_arcs), num_arcs + len(true_arcs)
            roots.append(words.has_root())
            if (length := len(words.depths)) in SENTENCE_LENGTHS:
                pairs = zip(words.distances, words.true_distances, strict=True)
                by_length["distance"][length] += [correlation(*pair) for pair in pairs]
                by_length["depth"][length].append(correlation(words.depths, words.true_depths))
    model.train(was_training)
    return {
        "uuas": found / num_arcs if num_arcs else None,
        "root_accuracy": float(np.mean(roots)) if roots else None,
        **{f"{name}_spearman": mean_of_means(values.values()) for name, values in by_length.items()},
        "sentences": len(dataset),
    }


@torch.no_grad()
def predict_trees(
    model: SyntaxMBertWithGATForTreeReconstruction,
    network: torch.nn.Module,
    probe: torch.nn.Module,
    batch: Mapping[str, torch.Tensor],
) -> list[WordTrees]:
    """Predicts distances and depths in a batch of sentences, `(B, T)`, and keeps those of their words."""
    embedded = model.base_model.embeddings.word_embeddings(batch["input_ids"])
    tree = read_trees(batch["head_positions"], batch["upos_ids"] > 0, model.config.max_position_embeddings)
    adjacency = dependency_adjacency(tree.dependency_distances, model.config.max_dependency_distance)
    distances, depths = probe(network(embedded.double(), batch, adjacency))
    # what is equal but for rounding is equal in rank
    given = (
        distances.round(decimals=NUM_DECIMALS),
        depths.round(decimals=NUM_DECIMALS),
        tree.dependency_distances,
        tree.depths,
    )
    is_word = (batch["subword_ids"] == FIRST) | (batch["subword_ids"] == WHOLE)
    columns = (is_word, batch["upos_ids"] != UPOS_IDS["PUNCT"], *given)
    sentences = []
    for words, counts, *values in zip(*(column.cpu().numpy() for column in columns), strict=True):
        measures = [value[np.ix_(*[words] * value.ndim)] for value in values]
        sentences.append(WordTrees(counts[words], *measures))
    return sentences


def spanning_arcs(is_arc: np.ndarray) -> Arcs:
    """Lists the pairs of a symmetric boolean matrix, the lower index first."""
    return set(zip(*(indices.tolist() for indices in np.nonzero(np.triu(is_arc))), strict=True))


def spanning_tree(distances: np.ndarray) -> Arcs:
    """Lists the arcs of the minimum spanning tree."""
    tree = minimum_spanning_tree(distances - distances.min() + 1).toarray()  # scipy reads 0 as no arc
    return spanning_arcs((tree + tree.T) > 0)


def correlation(predicted: np.ndarray, true: np.ndarray) -> float:
    """Gives Spearman's correlation, 0 where one side is constant."""
    if np.ptp(predicted) == 0 or np.ptp(true) == 0:
        return 0.0
    return float(spearmanr(predicted, true).statistic)


def mean_of_means(groups: Iterable[Sequence[float]]) -> float | None:
    """Averages the averages of groups."""
    means = [mean(group) for group in groups]
    return mean(means) if means else None
