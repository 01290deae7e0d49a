"""What tells an encoder of the tree of its input: graph attention, and attention scaled by distance.

Shapes: B sequences, T tokens, D hidden size, L biased layers with S syntax heads of size h.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from transformers import initialization as init
from transformers.utils import can_return_tuple

from .configuration_syntax import SyntaxConfigMixin
from .dependency_scaling import DistanceScaling
from .dependency_tree import dependency_adjacency, read_trees
from .graph_attention import AttentionBiases, GraphAttention, GraphAttentionLayer
from .structure_loss import AttendedTrees, StructureProbe, structure_loss
from .syntax_columns import with_syntax_columns
from .syntax_embeddings import has_syntax

__all__ = ["SyntaxMechanismsMixin", "initialize_mechanisms", "make_probe", "with_syntax"]


class SyntaxMechanismsMixin:
    """An encoder, of any family, whose attention layers know the tree."""

    config: SyntaxConfigMixin
    training: bool

    def add_mechanisms(self, token_size: int, attention_dropout: float, dropout: float) -> None:
        """Makes the modules that the config asks for.

        Args:
            token_size: Width of the token embeddings.
            attention_dropout: Dropout of attention weights.
            dropout: Dropout of hidden states.
        """
        config = self.config
        if config.graph_attention_layers:
            sizes, features = config.feature_vocabulary_sizes, config.graph_attention_features
            self.graph_attention = GraphAttention(
                input_size=token_size,
                num_layers=config.graph_attention_layers,
                num_heads=config.graph_attention_heads,
                head_size=config.graph_attention_head_size,
                vocabulary_sizes={name: size for name, size in sizes.items() if name in features},
                form=config.graph_attention_form,
                attention_dropout=attention_dropout,
                dropout=dropout,
            )
            self.attention_biases = AttentionBiases(
                input_size=config.graph_attention_size,
                num_layers=len(config.biased_layers),
                width=config.num_syntax_heads * config.attention_head_size,
                has_constant=config.syntax_bias == "key_value",
            )
        if config.distance_scaling != "none":
            self.distance_scaling = DistanceScaling(**config.scaling_options)

    def rows_with_syntax(self, columns: dict[str, Tensor]) -> Tensor:
        """Tells which rows are read with their syntax, bool `(B, 1)`: in training, some are read without."""
        keep = has_syntax(columns)
        if self.training and self.config.syntax_dropout > 0:
            keep = keep & (torch.rand(keep.shape, device=keep.device) >= self.config.syntax_dropout)
        return keep

    def attention_arguments(
        self,
        word_embeddings: Tensor,
        columns: dict[str, Tensor],
        keep: Tensor,
        attended: list[AttendedTrees] | None = None,
    ) -> dict[str, Any]:
        """Gives the keyword arguments of the attention layers.

        Args:
            word_embeddings: `(B, T, D)`.
            columns: The syntax columns that the model needs, each `(B, T)`.
            keep: The rows that are read with their syntax, `(B, 1)`.
            attended: A list to which the output of the graph attention is added.
        """
        arguments: dict[str, Any] = {}
        if self.config.graph_attention_layers:
            trees = self.attend_to_trees(word_embeddings, columns)
            arguments["syntax_biases"] = self.attention_biases(trees.vectors, keep)
            if attended is not None:
                attended.append(trees)
        if self.config.distance_scaling != "none":
            arguments["score_changes"] = self.distance_scaling(columns, keep, self.config.max_position_embeddings)
        return arguments

    def attend_to_trees(self, word_embeddings: Tensor, columns: dict[str, Tensor]) -> AttendedTrees:
        """Runs the graph attention alone; arguments as in `attention_arguments`.

        With a structure loss no gradient goes through it to the word embeddings: the encoder, which shares them, would
        lose more by it than it gains.
        """
        if self.config.structure_loss_weight:
            word_embeddings = word_embeddings.detach()
        mask = columns["upos_ids"] > 0
        tree = read_trees(columns["head_positions"], mask, self.config.max_position_embeddings)
        adjacency = dependency_adjacency(tree.dependency_distances, self.config.max_dependency_distance)
        vectors = self.graph_attention(word_embeddings, columns, adjacency)
        return AttendedTrees(vectors, tree, mask & has_syntax(columns))


def initialize_mechanisms(module: nn.Module, std: float) -> None:
    """Draws new weights so that the encoder is unchanged at first; `std` is that of embeddings."""
    if isinstance(module, AttentionBiases | DistanceScaling):
        for weights in module.parameters(recurse=False):
            init.zeros_(weights)
    elif isinstance(module, GraphAttention):
        for table in module.parameters(recurse=False):
            init.normal_(table, std=std)
    elif isinstance(module, GraphAttentionLayer):
        gain = 1.0 if module.form == "dot_product" else 2**0.5
        for weights in module.parameters():
            init.xavier_uniform_(weights, gain)
    elif isinstance(module, StructureProbe):
        for weights in module.parameters():
            init.xavier_uniform_(weights)


def make_probe(config: SyntaxConfigMixin) -> StructureProbe:
    """Makes the probe of the structure loss."""
    return StructureProbe(config.graph_attention_size, config.attention_head_size)


def with_syntax(forward: Callable) -> Callable:
    """Gives the `forward` of a task model the syntax columns, and its loss the structure loss."""

    @functools.wraps(forward)
    def forward_with_loss(self, *args, **kwargs):
        attended: list[AttendedTrees] = []
        output = forward(self, *args, return_dict=True, attended=attended, **kwargs)
        if output.loss is not None and self.config.structure_loss_weight:
            for trees in attended:
                lost = structure_loss(*self.structure_probe(trees.vectors), trees.tree, trees.mask)
                output.loss = output.loss + self.config.structure_loss_weight * lost
        return output

    return with_syntax_columns(can_return_tuple(forward_with_loss))
