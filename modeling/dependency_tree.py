"""Arithmetic on dependency trees, batched on the device, from the position of each token's head.

Shapes: B sequences, T tokens.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = [
    "DependencyTree",
    "dependency_adjacency",
    "heads_of_rows",
    "read_trees",
    "sentence_roots",
    "word_representatives",
]


class DependencyTree(NamedTuple):
    """What the models use of a tree.

    Args:
        dependency_distances: Arcs on the path between two tokens, float32 `(B, T, T)`; 0 on the diagonal, infinite
            between tokens that are not connected and between padding and anything else.
        depths: Arcs up to the root, float32 `(B, T)`; 0 for padding.
    """

    dependency_distances: Tensor
    depths: Tensor


def heads_of_rows(head_positions: Tensor, mask: Tensor) -> Tensor:
    """Gives padding itself as its head, and moves heads along with a row that was padded on the left afterwards.

    Collators that do not know the column, those of transformers' pipelines among them, leave its values as they were;
    heads that then point to the padding before a row tell it. Those of roots under an anchor at its start always do;
    under one at its end, as Marian has, they may not.

    Args:
        head_positions: 0-based position of each token's head, `(B, T)`.
        mask: True for tokens, False for padding, `(B, T)`.
    """
    positions = torch.arange(head_positions.size(1), device=head_positions.device)
    first = mask.int().argmax(1, keepdim=True)
    lowest = head_positions.masked_fill(~mask, head_positions.size(1)).amin(1, keepdim=True)
    heads = torch.where(lowest < first, head_positions + first, head_positions)
    return torch.where(mask, heads, positions)


def read_trees(head_positions: Tensor, mask: Tensor, max_length: int) -> DependencyTree:
    """Computes distances and depths by pointer doubling.

    Args:
        head_positions: 0-based position of each token's head, `(B, T)`; a root's is its own.
        mask: True for tokens, False for padding, `(B, T)`.
        max_length: Longest sequence of the model. The number of steps depends on it and not on T, so that compiled
            and exported models serve every length.
    """
    num_tokens = head_positions.size(1)
    positions = torch.arange(num_tokens, device=head_positions.device)
    jump = heads_of_rows(head_positions, mask)
    reach = (positions.unsqueeze(1) == positions).expand(
        jump.size(0), -1, -1
    )  # (B, T, T): is j i or an ancestor of i?
    for _ in range(num_doublings(max_length)):
        reach = reach | reach.gather(1, jump.unsqueeze(-1).expand(-1, -1, num_tokens))
        jump = jump.gather(1, jump)
    with torch.autocast(reach.device.type, enabled=False):  # bf16 is wrong beyond sums of 256
        reached = reach.float()
        lengths = reached.sum(-1)
        shared = reached @ reached.mT
        distances = lengths.unsqueeze(2) + lengths.unsqueeze(1) - 2 * shared
    return DependencyTree(distances.masked_fill(shared == 0, math.inf), lengths - 1)


def num_doublings(max_length: int) -> int:
    """Number of doublings after which no path of a tree of `max_length` tokens is left unfinished."""
    return math.ceil(math.log2(max(max_length, 2)))


def sentence_roots(head_positions: Tensor, mask: Tensor, max_length: int, is_special: Tensor | None = None) -> Tensor:
    """Gives the position of the root of each token's sentence, `(B, T)`; the anchor and padding: themselves.

    Args:
        head_positions: As in `read_trees`, `(B, T)`.
        mask: True for tokens, False for padding, `(B, T)`.
        max_length: Longest sequence of the model.
        is_special: True for special tokens, which tells anchors from roots that have none, `(B, T)`; without it, what
            is its own head is an anchor.
    """
    positions = torch.arange(head_positions.size(1), device=head_positions.device)
    heads = heads_of_rows(head_positions, mask)
    is_anchor = heads == positions
    if is_special is not None:
        is_anchor = is_anchor & is_special
    is_top = is_anchor.gather(1, heads)
    jump = torch.where(is_top, positions, heads)
    for _ in range(num_doublings(max_length)):
        jump = jump.gather(1, jump)
    return jump


def dependency_adjacency(dependency_distances: Tensor, max_distance: int) -> Tensor:
    """Tells which tokens are at most `max_distance` arcs apart: bool `(B, T, T)`, True on the diagonal."""
    return dependency_distances <= max_distance


def word_representatives(subword_ids: Tensor, head_positions: Tensor) -> Tensor:
    """Gives the position of the first wordpiece of each token's word, `(B, T)`; a token of no word: itself.

    Args:
        subword_ids: 2 and 3 are the later wordpieces of a word, `(B, T)`.
        head_positions: The head of a later wordpiece is the first one, `(B, T)`.
    """
    positions = torch.arange(subword_ids.size(1), device=subword_ids.device)
    is_later = (subword_ids == 2) | (subword_ids == 3)
    return torch.where(is_later, head_positions, positions)
