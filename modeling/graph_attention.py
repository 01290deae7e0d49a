"""Graph attention over dependency trees (Ahmad et al. 2021, https://arxiv.org/abs/2106.02134).

Shapes: B sequences, T tokens, D hidden size of the encoder, K graph attention heads of size d, L encoder layers with
S syntax heads of size h.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from .syntax_embeddings import FeatureTables

__all__ = ["AttentionBiases", "GraphAttention", "GraphAttentionLayer"]


class GraphAttentionLayer(nn.Module):
    """Attention of each token to those near it in the tree, without positions, feed-forward or residual.

    "dot_product" is the paper's form: softmax(T Tᵀ / sqrt(d)) V with one projection T as query and key. "additive" is
    that of the released code and of Veličković et al. 2018 (https://arxiv.org/abs/1710.10903): softmax over
    LeakyReLU(a · W x_i + b · W x_j), with W x as values.
    """

    def __init__(self, input_size: int, num_heads: int, head_size: int, form: str, dropout: float):
        super().__init__()
        self.num_heads, self.head_size, self.form, self.dropout = num_heads, head_size, form, dropout
        width = num_heads * head_size
        self.projection = nn.Parameter(torch.empty(width, input_size))
        if form == "dot_product":
            self.value = nn.Parameter(torch.empty(width, input_size))
        else:
            self.source = nn.Parameter(torch.empty(num_heads, head_size, 1))
            self.target = nn.Parameter(torch.empty(num_heads, head_size, 1))

    def forward(self, inputs: Tensor, adjacency: Tensor) -> Tensor:
        """Attends from `(B, T, D)`, or `(B, T, K · d)`, to `(B, T, K · d)`, where adjacency `(B, T, T)` allows."""
        projected = self._heads(functional.linear(inputs, self.projection))  # (B, K, T, d)
        dropout = self.dropout if self.training else 0.0
        if self.form == "dot_product":
            value = self._heads(functional.linear(inputs, self.value))
            attended = functional.scaled_dot_product_attention(
                projected, projected, value, attn_mask=adjacency.unsqueeze(1), dropout_p=dropout
            )
        else:
            scores = functional.leaky_relu(projected @ self.source + (projected @ self.target).mT, 0.2)
            scores = scores.to(torch.promote_types(scores.dtype, torch.float32)).masked_fill(
                ~adjacency.unsqueeze(1), -torch.inf
            )
            weights = functional.dropout(scores.softmax(-1).to(projected.dtype), dropout)
            attended = weights @ projected
        return attended.transpose(1, 2).flatten(2)

    def _heads(self, tensor: Tensor) -> Tensor:
        return tensor.unflatten(-1, (self.num_heads, self.head_size)).transpose(1, 2)


class GraphAttention(FeatureTables):
    """A graph attention network over wordpieces, their tags and their tree.

    Args:
        input_size: D.
        num_layers: Number of layers.
        num_heads: K.
        head_size: d.
        vocabulary_sizes: Number of ids of each feature that is added to the wordpiece embeddings.
        form: "dot_product" or "additive"; the latter also ends in a LayerNorm.
        attention_dropout: Dropout of attention weights.
        dropout: Dropout after each layer.
    """

    def __init__(
        self,
        input_size: int,
        num_layers: int,
        num_heads: int,
        head_size: int,
        vocabulary_sizes: Mapping[str, int],
        form: str,
        attention_dropout: float,
        dropout: float,
    ):
        super().__init__(vocabulary_sizes, input_size)
        width = num_heads * head_size
        self.layers = nn.ModuleList(
            GraphAttentionLayer(width if layer else input_size, num_heads, head_size, form, attention_dropout)
            for layer in range(num_layers)
        )
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(width) if form == "additive" else nn.Identity()

    def forward(self, word_embeddings: Tensor, columns: Mapping[str, Tensor], adjacency: Tensor) -> Tensor:
        """Reads wordpiece embeddings `(B, T, D)` and feature columns `(B, T)` over `(B, T, T)` to `(B, T, K · d)`."""
        hidden = word_embeddings + self.embed(columns)
        for layer in self.layers:
            hidden = self.dropout(layer(hidden, adjacency))
        return self.norm(hidden)


class AttentionBiases(nn.Module):
    """What the output of the graph attention adds to two of query, key and value in the syntax heads of all layers.

    One matrix product for all of them; zero at first (see `_init_weights` of the models).

    Args:
        input_size: K · d.
        num_layers: L.
        width: S · h.
        has_constant: Whether the biases have constant terms too, as in the released code.
    """

    def __init__(self, input_size: int, num_layers: int, width: int, has_constant: bool):
        super().__init__()
        self.num_layers, self.width = num_layers, width
        self.weight = nn.Parameter(torch.empty(num_layers * 2 * width, input_size))
        self.constant = nn.Parameter(torch.empty(num_layers * 2 * width)) if has_constant else None

    def forward(self, vectors: Tensor, keep: Tensor) -> Tensor:
        """Gives biases `(L, 2, B, T, S · h)` of vectors `(B, T, K · d)`; zero for the rows not kept, `(B, 1)`."""
        biases = functional.linear(vectors, self.weight, self.constant) * keep.unsqueeze(-1)
        return biases.unflatten(-1, (self.num_layers, 2, self.width)).permute(2, 3, 0, 1, 4)
