"""Self-attention with changed scores: multiplied by weights, or with biases added.

Shapes: B sequences, T tokens, A heads of size d, of which the first C are changed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention.flex_attention import create_mask
from transformers.integrations.flex_attention import compile_friendly_flex_attention

__all__ = ["ScoreChange", "attend"]

BLOCK_SIZE = 2**17  # scores at once


class ScoreChange(NamedTuple):
    """What is done to the scores of an attention layer, before padding is masked; weights or biases.

    Args:
        num_heads: C.
        weights: Multiplied with their scores, `(B, T, T)`.
        biases: Added to them, `(B, C, T, T)`.
    """

    num_heads: int
    weights: Tensor | None = None
    biases: Tensor | None = None


def attend(
    interface: Callable[..., tuple[Tensor, Tensor | None]],
    change: ScoreChange,
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Any,
    **kwargs,
) -> tuple[Tensor, Tensor | None]:
    """Attends as an attention function of transformers does, with changed scores in some heads.

    Args:
        interface: The attention function of the model's implementation, whose further arguments follow.
        change: What is done to the scores.
        module: The attention layer.
        query: `(B, A, T, d)`.
        key: `(B, A, T, d)`.
        value: `(B, A, T, d)`.
        attention_mask: As the implementation has it: bool or float `(B, 1, T, T)`, a BlockMask, or `None`.
        kwargs: As in the function: `scaling`, `dropout`.

    Returns:
        Outputs `(B, T, A, d)`, and the attention weights `(B, A, T, T)` if the implementation is eager.

    Raises:
        ValueError: If the implementation cannot change scores (flash attention).
    """
    implementation = module.config._attn_implementation
    if "flash" in implementation:
        raise ValueError(
            f"attn_implementation={implementation!r} cannot scale attention by distance: choose sdpa, eager or "
            "flex_attention"
        )
    first, others = slice(change.num_heads), slice(change.num_heads, None)
    output, weights = attend_changed(
        interface, change, module, query[:, first], key[:, first], value[:, first], attention_mask, **kwargs
    )
    if change.num_heads == query.size(1):
        return output, weights
    other_output, other_weights = interface(
        module, query[:, others], key[:, others], value[:, others], attention_mask, **kwargs
    )
    both = None if weights is None or other_weights is None else torch.cat([weights, other_weights], 1)
    return torch.cat([output, other_output], 2), both


def attend_changed(
    interface: Callable[..., tuple[Tensor, Tensor | None]],
    change: ScoreChange,
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Any,
    scaling: float,
    dropout: float = 0.0,
    **kwargs,
) -> tuple[Tensor, Tensor | None]:
    """Attends with the changed heads alone.

    Biases are a float mask to any implementation that takes one. Weights are multiplied in by FlexAttention, if that
    is the model's implementation; on the CPU, where it has no gradients and is slower than blocks, eagerly.
    """
    weights, biases = change.weights, change.biases
    is_flex, is_cpu = module.config._attn_implementation == "flex_attention", query.device.type == "cpu"
    if is_flex and dropout > 0:
        raise ValueError("flex_attention has no dropout of attention weights: set it to 0 in the config")
    if is_flex and not is_cpu:
        return flex_attend(query, key, value, attention_mask, change, scaling, module.training), None
    if is_flex and attention_mask is not None:
        sizes = (query.size(0), None, query.size(2), key.size(2))
        attention_mask = create_mask(attention_mask.mask_mod, *sizes, device="cpu")
    if biases is not None and not is_flex:
        biases = add_mask(biases.to(query.dtype), attention_mask)
        return interface(module, query, key, value, biases, scaling=scaling, dropout=dropout, **kwargs)
    gives_attention = module.config._attn_implementation == "eager"
    must_be_whole = gives_attention or dropout or torch.is_grad_enabled() or is_traced()
    if weights is not None and is_cpu and not must_be_whole:
        return attend_in_blocks(query, key, value, attention_mask, weights * scaling), None
    scores = (query @ key.mT) * scaling
    scores = scores if weights is None else scores * weights.unsqueeze(1).to(scores.dtype)
    scores = scores if biases is None else scores + biases.to(scores.dtype)
    attention = add_mask(scores, attention_mask).softmax(-1, dtype=torch.float32).to(query.dtype)
    attention = functional.dropout(attention, dropout, module.training)
    return (attention @ value).transpose(1, 2), attention if gives_attention else None


def is_traced() -> bool:
    """Tells whether what runs is compiled, exported or traced, and has to serve other sizes too."""
    return torch.compiler.is_compiling() or torch.jit.is_tracing()


def add_mask(scores: Tensor, attention_mask: Tensor | None) -> Tensor:
    """Masks scores `(B, A, T, T)` by a bool mask, True for what is kept, or by a float mask that is added."""
    if attention_mask is None:
        return scores
    if attention_mask.dtype == torch.bool:
        return scores.masked_fill(~attention_mask, torch.finfo(scores.dtype).min)
    return scores + attention_mask.to(scores.dtype)


def attend_in_blocks(query: Tensor, key: Tensor, value: Tensor, attention_mask: Any, weights: Tensor) -> Tensor:
    """Attends with some heads of one row at once, whose scores stay in the processor's cache: `(B, T, C, d)`.

    Args:
        query: `(B, C, T, d)`.
        key: `(B, C, T, d)`.
        value: `(B, C, T, d)`.
        attention_mask: As in `add_mask`.
        weights: Multiplied with the scores, `(B, T, T)`.
    """
    num_rows, num_heads, length, _ = query.shape
    nothing = torch.zeros(num_rows, 1, 1, length, dtype=query.dtype)
    mask = add_mask(nothing, attention_mask)
    weights = weights.unsqueeze(1).to(query.dtype)
    output = torch.empty_like(query.transpose(1, 2)).transpose(1, 2)
    step = max(1, BLOCK_SIZE // (length * length))
    for row in range(num_rows):
        for head in range(0, num_heads, step):
            block = row, slice(head, head + step)
            scores = torch.bmm(query[block], key[block].mT)
            torch.addcmul(mask[row], scores, weights[row], out=scores)
            torch.bmm(scores.softmax(-1), value[block], out=output[block])
    return output.transpose(1, 2)


def flex_attend(
    query: Tensor, key: Tensor, value: Tensor, block_mask: Any, change: ScoreChange, scaling: float, training: bool
) -> Tensor:
    """Attends by FlexAttention, `(B, T, C, d)`."""
    weights, biases = change.weights, change.biases

    def multiply(score, batch, head, query_index, key_index):
        return score * weights[batch, query_index, key_index]

    def add(score, batch, head, query_index, key_index):
        return score + biases[batch, head, query_index, key_index]

    output = compile_friendly_flex_attention(
        query, key, value,
        score_mod=add if weights is None else multiply, block_mask=block_mask, scale=scaling, training=training,
    )  # fmt: skip
    return output.transpose(1, 2)
