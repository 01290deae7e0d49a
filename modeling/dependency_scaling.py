"""Self-attention whose scores know how far apart words are in the dependency tree.

Dependency scaling: Peng et al. 2022 (https://arxiv.org/abs/2111.11707). Parent scaling: Bugliarello & Okazaki 2020
(https://arxiv.org/abs/1909.03149). Both multiply the scores by a normal density; the additive form, which is ours,
subtracts distances with a learned slope. Shapes: B sequences, T tokens.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from .dependency_tree import heads_of_rows, read_trees, sentence_roots, word_representatives
from .score_changes import ScoreChange

__all__ = ["DistanceScaling"]


class DistanceScaling(nn.Module):
    """Tells the attention layers of an encoder what their scores have to know of the tree.

    Args:
        kind: "dependency", "parent" or "additive".
        num_layers: Number of layers whose scores are changed.
        num_scaled_heads: Number of heads that are changed, the first ones.
        sigma: Standard deviation of the densities.
        sparsing: In training, which distances are made infinite: "none", "random" or "wink" (those above
            `max_kept`). For "parent", "random" leaves the scores of whole tokens as they are.
        sparsing_prob: Probability of that.
        max_kept: Arcs up to which "wink" keeps all.
        max_distance: Arcs at which "additive" clips; `None` for nowhere.
    """

    def __init__(
        self,
        kind: str,
        num_layers: int,
        num_scaled_heads: int,
        sigma: float,
        sparsing: str,
        sparsing_prob: float,
        max_kept: int,
        max_distance: int | None,
    ):
        super().__init__()
        self.kind, self.num_layers, self.sigma = kind, num_layers, sigma
        self.num_scaled_heads, self.max_distance = num_scaled_heads, max_distance
        self.sparsing, self.sparsing_prob, self.max_kept = sparsing, sparsing_prob, max_kept
        if kind == "additive":
            self.slopes = nn.Parameter(torch.empty(num_layers, num_scaled_heads))

    def forward(self, columns: Mapping[str, Tensor], keep: Tensor, max_length: int) -> list[ScoreChange]:
        """Gives one change a layer, none for the rows that are not kept.

        Args:
            columns: `upos_ids`, `subword_ids` and `head_positions`, each `(B, T)`.
            keep: Bool `(B, 1)`.
            max_length: Longest sequence of the model.
        """
        keep = keep.unsqueeze(-1)  # (B, 1, 1)
        if self.kind == "additive":
            distances = finite_distances(word_distances(columns, max_length), self.max_distance) * keep
            biases = (-slope[:, None, None] * distances.unsqueeze(1) for slope in self.slopes)
            return [ScoreChange(self.num_scaled_heads, biases=each) for each in biases]
        if self.kind == "parent":
            weights = normal_density(parent_offsets(columns), self.sigma)
            if self.training and self.sparsing == "random":
                keep = keep & (torch.rand_like(weights[..., :1]) >= self.sparsing_prob)
        else:
            distances = word_distances(columns, max_length)
            if self.training and self.sparsing != "none":
                distances = sparsify(distances, self.sparsing_prob, self.max_kept if self.sparsing == "wink" else None)
            weights = normal_density(distances, self.sigma)
        return [ScoreChange(self.num_scaled_heads, torch.where(keep, weights, 1.0))] * self.num_layers


def word_distances(columns: Mapping[str, Tensor], max_length: int) -> Tensor:
    """Counts the arcs between the words of two tokens, float32 `(B, T, T)`; the wordpieces of one word are 0 apart.

    Words of different sentences are infinitely far apart, and so are special tokens, texts that are not parsed and
    padding from anything but themselves.

    Args:
        columns: `upos_ids`, `subword_ids` and `head_positions`, each `(B, T)`.
        max_length: Longest sequence of the model.
    """
    heads, mask = columns["head_positions"], columns["upos_ids"] > 0
    words = word_representatives(columns["subword_ids"], heads_of_rows(heads, mask))
    sentences = sentence_roots(heads, mask, max_length, is_special=columns["subword_ids"] == 0)
    distances = read_trees(heads, mask, max_length).dependency_distances
    num_tokens = words.size(1)
    distances = distances.gather(1, words.unsqueeze(2).expand(-1, -1, num_tokens))
    distances = distances.gather(2, words.unsqueeze(1).expand(-1, num_tokens, -1))
    return distances.masked_fill(sentences.unsqueeze(2) != sentences.unsqueeze(1), math.inf)


def parent_offsets(columns: Mapping[str, Tensor]) -> Tensor:
    """Measures how many tokens each token is from the middle of the word that is the head of another's: `(B, T, T)`.

    In row i they are counted from the head of i's word; a root, a special token and padding have themselves as head.

    Args:
        columns: As in `word_distances`.
    """
    mask = columns["upos_ids"] > 0
    heads = heads_of_rows(columns["head_positions"], mask)
    words = word_representatives(columns["subword_ids"], heads)
    positions = torch.arange(words.size(1), device=words.device, dtype=torch.float32).expand_as(words)
    zeros = torch.zeros_like(positions)
    middles = zeros.scatter_add(1, words, positions) / zeros.scatter_add(1, words, zeros + 1).clamp(min=1)
    parents = heads.gather(1, words)
    is_anchor = (heads.gather(1, parents) == parents) & (columns["upos_ids"].gather(1, parents) <= 1)
    parents = torch.where(is_anchor, words, parents)
    return positions.unsqueeze(1) - middles.gather(1, parents).unsqueeze(2)


def normal_density(distances: Tensor, sigma: float) -> Tensor:
    """Gives exp(-D² / 2σ²) / (σ sqrt(2π)), 0 at infinity."""
    return torch.exp(-distances.square() / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))


def sparsify(distances: Tensor, probability: float, max_kept: float | None = None) -> Tensor:
    """Makes each distance infinite with some probability; with `max_kept` ("wink") only those above it."""
    dropped = torch.rand_like(distances) < probability
    if max_kept is not None:
        dropped = dropped & (distances > max_kept)
    return distances.masked_fill(dropped, math.inf)


def finite_distances(distances: Tensor, largest: int | None) -> Tensor:
    """Puts what is not connected one arc farther than anything that is in its sequence, and clips at `largest`."""
    is_far = distances.isinf()
    farthest = distances.masked_fill(is_far, 0.0).amax((1, 2), keepdim=True) + 1
    distances = torch.where(is_far, farthest, distances)
    return distances if largest is None else distances.clamp(max=largest)
