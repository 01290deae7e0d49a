"""BERT's self-attention with what graph attention and dependency distances tell it.

Shapes: B sequences, T tokens, D hidden size, L biased layers with S syntax heads of size h.
"""

import functools

from torch.nn import functional
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.bert.modeling_bert import BertSelfAttention, eager_attention_forward

from .configuration_syntax_bert import SyntaxBertConfig
from .dependency_scaling import attend

__all__ = ["SyntaxSelfAttention"]


class SyntaxSelfAttention(BertSelfAttention):
    """Self-attention with heads that graph attention biases, and scores that know distances in the tree."""

    def __init__(self, config: SyntaxBertConfig, layer_idx: int):
        super().__init__(config, layer_idx=layer_idx)
        biased = config.biased_layers if config.graph_attention_layers else []
        self.bias_index = biased.index(layer_idx) if layer_idx in biased else None
        self.bias_targets = (0, 1) if config.syntax_bias == "query_key" else (1, 2)
        changed = config.changed_layers
        self.change_index = changed.index(layer_idx) if layer_idx in changed else None

    def forward(self, hidden_states, attention_mask=None, syntax_biases=None, score_changes=None, **kwargs):
        """Attends as `BertSelfAttention` does.

        Args:
            hidden_states: `(B, T, D)`.
            attention_mask: As there.
            syntax_biases: Added to the projections, `(L, 2, B, T, S · h)`.
            score_changes: What is done to the scores of each changed layer.
            kwargs: As there.
        """
        biases = None if syntax_biases is None or self.bias_index is None else syntax_biases[self.bias_index]
        change = None if score_changes is None or self.change_index is None else score_changes[self.change_index]
        if biases is None and change is None:
            return super().forward(hidden_states, attention_mask, **kwargs)
        projections = [self.query(hidden_states), self.key(hidden_states), self.value(hidden_states)]  # (B, T, D)
        for target, bias in zip(self.bias_targets, () if biases is None else biases, strict=False):
            projections[target] = projections[target] + functional.pad(bias, (0, self.all_head_size - bias.size(-1)))
        query, key, value = (
            projection.unflatten(-1, (-1, self.attention_head_size)).transpose(1, 2) for projection in projections
        )
        attention = ALL_ATTENTION_FUNCTIONS.get_interface(self.config._attn_implementation, eager_attention_forward)
        if change is not None:
            attention = functools.partial(attend, attention, change)
        dropout = self.dropout.p if self.training else 0.0
        output, weights = attention(
            self, query, key, value, attention_mask, dropout=dropout, scaling=self.scaling, **kwargs
        )
        return output.flatten(2).contiguous(), weights
