"""Syntax features in the embeddings (Sundararaman et al. 2021, https://arxiv.org/abs/1911.06156).

Shapes: B sequences, T tokens, D hidden size.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["FeatureCombination", "FeatureTables", "SyntaxEmbeddings", "has_syntax"]

FIRST_TAG = {"upos_ids": 2, "casing_ids": 1, "subword_ids": 1, "deprel_ids": 2}  # ids below it say "none"


def has_syntax(columns: Mapping[str, Tensor]) -> Tensor:
    """Tells which rows hold a tagged token: bool `(B, 1)` from columns `(B, T)`."""
    tagged = [(columns[name] >= first).any(1, keepdim=True) for name, first in FIRST_TAG.items() if name in columns]
    return torch.stack(tagged).any(0)


class FeatureTables(nn.Module):
    """One embedding table a feature.

    They are bare parameters, for which nothing draws random numbers: a model with and one without features start from
    the same weights under the same seed. They are not in a ParameterDict, because `from_pretrained` passes over
    modules that hold no parameter themselves.

    Args:
        vocabulary_sizes: Number of ids of each feature, ids 0 (padding) and 1 (none) included.
        width: D.
    """

    def __init__(self, vocabulary_sizes: Mapping[str, int], width: int):
        super().__init__()
        self.features = tuple(vocabulary_sizes)
        for feature, size in vocabulary_sizes.items():
            self.register_parameter(feature, nn.Parameter(torch.empty(size, width)))

    def embed(self, columns: Mapping[str, Tensor]) -> Tensor:
        """Sums the embeddings of feature columns `(B, T)` to `(B, T, D)`."""
        first, *others = (
            functional.embedding(columns[f"{feature}_ids"], getattr(self, feature), padding_idx=0)
            for feature in self.features
        )
        return sum(others, first)


class SyntaxEmbeddings(FeatureTables):
    """The sum of one embedding a feature; zero for padding and for every token of a row that is not kept.

    The tables start at zero (see `_init_weights` of the models), so that a pretrained model is unchanged until
    training moves them.
    """

    def forward(self, columns: Mapping[str, Tensor], keep: Tensor) -> Tensor:
        """Sums the embeddings of feature columns `(B, T)` to `(B, T, D)`, for the rows kept, bool `(B, 1)`."""
        return self.embed(columns) * keep.unsqueeze(-1)


class FeatureCombination(nn.Module):
    """Joins features with token embeddings of an encoder: "sum", "concat", "concat_each" or "project".

    Args:
        combination: How; see `SyntaxMarianConfig`.
        groups: Features that are summed, and the width of their sum.
        vocabulary_sizes: Number of ids of each feature.
        width: D.
    """

    def __init__(
        self,
        combination: str,
        groups: Sequence[tuple[Sequence[str], int]],
        vocabulary_sizes: Mapping[str, int],
        width: int,
    ):
        super().__init__()
        self.combination = combination
        self.tables = nn.ModuleList(
            FeatureTables({name: number for name, number in vocabulary_sizes.items() if name in names}, size)
            for names, size in groups
        )
        if combination == "project":
            self.projection = nn.Parameter(torch.empty(width, groups[0][1]))

    def forward(self, embedded: Tensor, columns: Mapping[str, Tensor], keep: Tensor) -> Tensor:
        """Joins token embeddings and feature columns `(B, T)` to `(B, T, D)`; zeros in rows not kept, `(B, 1)`."""
        embedded_features = [table.embed(columns) for table in self.tables]  # type: ignore[operator]
        features = torch.cat(embedded_features, -1) * keep.unsqueeze(-1)
        if self.combination == "sum":
            return embedded + features
        if self.combination == "project":
            return embedded + functional.linear(features, self.projection)
        return torch.cat([embedded, features.to(embedded.dtype)], -1)
