"""A loss that makes vectors keep the tree they were computed from (Ahmad et al. 2021, after Hewitt & Manning 2019).

https://arxiv.org/abs/2106.02134, https://aclanthology.org/N19-1419. Shapes: B sequences, T tokens, W width of the
vectors, R rank of the probe.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from .dependency_tree import DependencyTree

__all__ = ["AttendedTrees", "StructureProbe", "structure_loss"]


class AttendedTrees(NamedTuple):
    """What graph attention made of the trees of a batch.

    Args:
        vectors: Its output, `(B, T, W)`.
        tree: The trees.
        mask: True for the tokens of sequences with syntax, `(B, T)`.
    """

    vectors: Tensor
    tree: DependencyTree
    mask: Tensor


class StructureProbe(nn.Module):
    """Predicts distances and depths as squared lengths after two linear maps.

    Args:
        width: W.
        rank: R.
    """

    def __init__(self, width: int, rank: int):
        super().__init__()
        self.distance = nn.Parameter(torch.empty(rank, width))
        self.depth = nn.Parameter(torch.empty(rank, width))

    def forward(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Predicts distances `(B, T, T)` and depths `(B, T)` from vectors `(B, T, W)`, at least in float32."""
        with torch.autocast(vectors.device.type, enabled=False):
            vectors = vectors.to(torch.promote_types(vectors.dtype, torch.float32))
            mapped = functional.linear(vectors, self.distance.to(vectors.dtype))  # (B, T, R)
            # |x - y|² without a (B, T, T, R) tensor
            squares = mapped.square().sum(-1)
            distances = squares.unsqueeze(2) + squares.unsqueeze(1) - 2 * mapped @ mapped.mT
            depths = functional.linear(vectors, self.depth.to(vectors.dtype)).square().sum(-1)
        return distances, depths


def structure_loss(distances: Tensor, depths: Tensor, tree: DependencyTree, mask: Tensor) -> Tensor:
    """Gives the mean over sequences of the L1 distance loss over n² pairs plus the L1 depth loss over n tokens.

    Args:
        distances: Predicted, `(B, T, T)`.
        depths: Predicted, `(B, T)`.
        tree: The true ones; pairs that are not connected do not count.
        mask: True for the tokens of sequences with syntax, `(B, T)`; without any the loss is 0.
    """
    num_tokens = mask.sum(-1)  # (B,)
    pairs = mask.unsqueeze(2) & mask.unsqueeze(1) & tree.dependency_distances.isfinite()
    distance_errors = torch.where(pairs, distances - tree.dependency_distances, 0.0).abs().sum((1, 2))
    depth_errors = torch.where(mask, depths - tree.depths, 0.0).abs().sum(-1)
    n = num_tokens.clamp(min=1)
    return (distance_errors / n.square() + depth_errors / n).sum() / (num_tokens > 0).sum().clamp(min=1)
