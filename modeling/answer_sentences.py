"""Scores of the sentences that may hold an answer, jointly with its span (Ahmad et al. 2021).

https://arxiv.org/abs/2106.02134. A sentence is represented by the token that is the root of its tree, the anchor of
the sequence by itself: it stands for no answer. Shapes: B sequences, T tokens, D hidden size.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from .dependency_tree import heads_of_rows, sentence_roots
from .syntax_embeddings import has_syntax

__all__ = ["AnswerSentences", "answer_sentence_loss", "read_sentences", "spread_over_sentences"]


def read_sentences(columns: Mapping[str, Tensor], max_length: int) -> tuple[Tensor, Tensor]:
    """Finds the sentences of each sequence.

    Args:
        columns: The syntax columns, each `(B, T)`; UPOS and heads among them.
        max_length: Longest sequence of the model.

    Returns:
        The position of the token that stands for each token's sentence, `(B, T)`, and True for the tokens that have
        one, `(B, T)`.
    """
    heads, mask = columns["head_positions"], (columns["upos_ids"] > 0) & has_syntax(columns)
    is_tagged = columns["upos_ids"] > 1
    sentences = sentence_roots(heads, mask, max_length, is_special=~is_tagged)
    # tokens of a text that is not parsed hang from the anchor one by one: they are no sentences
    is_anchor = heads_of_rows(heads, mask) == torch.arange(mask.size(1), device=mask.device)
    is_root = is_tagged | is_anchor
    return sentences, mask & is_root.gather(1, sentences)


class AnswerSentences(nn.Module):
    """A linear score of each sentence; zero at first (see `_init_weights` of the models)."""

    def __init__(self, hidden_size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(hidden_size))

    def forward(self, hidden_states: Tensor, sentences: Tensor, mask: Tensor) -> Tensor:
        """Scores `(B, T)` from hidden states `(B, T, D)`; the lowest number where a token stands for no sentence.

        Args:
            hidden_states: Output of the encoder.
            sentences: As from `read_sentences`, `(B, T)`.
            mask: As from there, `(B, T)`.
        """
        scores = (hidden_states @ self.weight).float()
        stands_for_one = mask & (sentences == torch.arange(sentences.size(1), device=sentences.device))
        return scores.masked_fill(~stands_for_one, torch.finfo(scores.dtype).min)


def spread_over_sentences(scores: Tensor, sentences: Tensor, mask: Tensor) -> Tensor:
    """Gives each token the score of its sentence, and 0 to tokens without, `(B, T)`."""
    return scores.gather(1, sentences).masked_fill(~mask, 0.0)


def answer_sentence_loss(scores: Tensor, sentences: Tensor, mask: Tensor, start_positions: Tensor) -> Tensor:
    """Gives the mean cross-entropy of the sentence in which the answer starts, 0 if no sequence has one.

    Args:
        scores: `(B, T)`.
        sentences: As from `read_sentences`, `(B, T)`.
        mask: As from there, `(B, T)`.
        start_positions: `(B,)`; outside 0 to T - 1, or at a token without sentence, for an answer that is not there.
    """
    length = sentences.size(1)
    start = start_positions.clamp(0, length - 1).unsqueeze(1)
    counts = mask.gather(1, start).squeeze(1) & (start_positions < length)
    lost = -scores.log_softmax(-1).gather(1, sentences.gather(1, start)).squeeze(1)
    return torch.where(counts, lost, 0.0).sum() / counts.sum().clamp(min=1)
