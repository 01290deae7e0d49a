"""Scores of the sentences that may hold an answer, jointly with its span (Ahmad et al. 2021).

https://arxiv.org/abs/2106.02134. A sentence is represented by the token that is the root of its tree, the anchor of
the sequence by itself: it stands for no answer. Shapes: B sequences, T tokens, D hidden size.
"""

import torch
from torch import Tensor, nn

__all__ = ["AnswerSentences", "answer_sentence_loss", "spread_over_sentences"]


class AnswerSentences(nn.Module):
    """A linear score of each sentence; zero at first (see `_init_weights` of the models)."""

    def __init__(self, hidden_size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, hidden_states: Tensor, sentences: Tensor, mask: Tensor) -> Tensor:
        """Scores `(B, T)` from hidden states `(B, T, D)`; the lowest number where a token stands for no sentence.

        Args:
            hidden_states: Output of the encoder.
            sentences: Position of the token that stands for each token's sentence, `(B, T)`.
            mask: True for the tokens of sequences with syntax, `(B, T)`.
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
        sentences: As in `AnswerSentences`.
        mask: As there.
        start_positions: `(B,)`; T or more, or a token without sentence, for an answer that is not in the sequence.
    """
    length = sentences.size(1)
    start = start_positions.clamp(max=length - 1).unsqueeze(1)
    counts = mask.gather(1, start).squeeze(1) & (start_positions < length)
    lost = -scores.log_softmax(-1).gather(1, sentences.gather(1, start)).squeeze(1)
    return torch.where(counts, lost, 0.0).sum() / counts.sum().clamp(min=1)
