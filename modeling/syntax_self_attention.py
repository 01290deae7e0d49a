"""Self-attention with what graph attention and dependency distances tell it.

Shapes: B sequences, T tokens, D hidden size, L biased layers with S syntax heads of size h.
"""

import functools
from typing import Any

from torch import Tensor, nn
from torch.nn import functional
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.bert.modeling_bert import eager_attention_forward

from .configuration_syntax import SyntaxConfigMixin
from .score_changes import ScoreChange, attend

__all__ = ["SyntaxAttentionMixin"]


class SyntaxAttentionMixin(nn.Module):
    """A self-attention layer with heads that graph attention biases, and scores that know distances in the tree."""

    config: Any
    scaling: float

    def set_mechanisms(self, config: SyntaxConfigMixin, layer_idx: int) -> None:
        """Finds what is meant for this layer in what is given to all."""
        biased = config.biased_layers if config.graph_attention_layers else []
        self.bias_index = biased.index(layer_idx) if layer_idx in biased else None
        self.bias_targets = (0, 1) if config.syntax_bias == "query_key" else (1, 2)
        changed = config.changed_layers
        self.change_index = changed.index(layer_idx) if layer_idx in changed else None

    def own_syntax(
        self, syntax_biases: Tensor | None, score_changes: list[ScoreChange] | None
    ) -> tuple[Tensor | None, ScoreChange | None]:
        """Gives this layer's part.

        Args:
            syntax_biases: Added to the projections, `(L, 2, B, T, S · h)`.
            score_changes: What is done to the scores of each changed layer.
        """
        biases = None if syntax_biases is None or self.bias_index is None else syntax_biases[self.bias_index]
        change = None if score_changes is None or self.change_index is None else score_changes[self.change_index]
        return biases, change

    def attend_with_syntax(
        self,
        projections: list[Tensor],
        biases: Tensor | None,
        change: ScoreChange | None,
        head_size: int,
        attention_mask: Any,
        **kwargs,
    ) -> tuple[Tensor, Tensor | None]:
        """Attends with queries, keys and values `(B, T, D)` and the parts of `own_syntax`: `(B, T, D)`, and weights.

        Further arguments are those of an attention function of transformers.
        """
        for target, bias in zip(self.bias_targets, () if biases is None else biases, strict=False):
            padding = projections[target].size(-1) - bias.size(-1)
            projections[target] = projections[target] + functional.pad(bias, (0, padding))
        query, key, value = (projection.unflatten(-1, (-1, head_size)).transpose(1, 2) for projection in projections)
        attention = ALL_ATTENTION_FUNCTIONS.get_interface(self.config._attn_implementation, eager_attention_forward)
        if change is not None:
            attention = functools.partial(attend, attention, change)
        output, weights = attention(self, query, key, value, attention_mask, scaling=self.scaling, **kwargs)
        return output.flatten(2).contiguous(), weights
