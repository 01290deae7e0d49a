"""A linear-chain conditional random field (Lafferty et al. 2001) over the words among the tokens of a sequence.

Shapes: B sequences, T tokens, S labels.
"""

import torch
from torch import Tensor, nn

__all__ = ["LinearChainCRF"]


class LinearChainCRF(nn.Module):
    """Scores of neighbouring labels, beside those of each word.

    All are zero at first (see `_init_weights` of the models), which is the linear layer alone.
    """

    def __init__(self, num_labels: int):
        super().__init__()
        self.transitions = nn.Parameter(torch.zeros(num_labels, num_labels))  # from, to
        self.start = nn.Parameter(torch.zeros(num_labels))
        self.end = nn.Parameter(torch.zeros(num_labels))

    def loss(self, emissions: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
        """Gives the negative log-likelihood of the labels, a mean over words.

        Args:
            emissions: Scores of the labels, `(B, T, S)`.
            labels: `(B, T)`.
            mask: True for the words, `(B, T)`.
        """
        with torch.autocast(emissions.device.type, enabled=False):
            order, is_word = words_first(mask)
            emissions = take(emissions.float(), order)
            labels = labels.gather(1, order).where(is_word, 0)
            lost = self._log_partition(emissions, is_word) - self._score(emissions, labels, is_word)
            return torch.where(is_word[:, 0], lost, 0.0).sum() / mask.sum().clamp(min=1)

    def decode(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Finds the labels `(B, T)` of highest score (Viterbi); 0 where there is no word."""
        with torch.autocast(emissions.device.type, enabled=False):
            order, is_word = words_first(mask)
            emissions = take(emissions.float(), order)
            stay = torch.arange(emissions.size(-1), device=emissions.device)
            score, pointers = self.start + emissions[:, 0], []
            for position in range(1, emissions.size(1)):
                best, previous = (score.unsqueeze(2) + self.transitions).max(1)  # (B, S)
                keep = is_word[:, position, None]
                score = torch.where(keep, best + emissions[:, position], score)
                pointers.append(torch.where(keep, previous, stay))
            label = (score + self.end).argmax(-1, keepdim=True)  # (B, 1)
            path = [label]
            for pointer in reversed(pointers):
                label = pointer.gather(1, label)
                path.append(label)
            decoded = torch.cat(path[::-1], 1).where(is_word, 0)
            return torch.zeros_like(decoded).scatter(1, order, decoded)

    def _score(self, emissions: Tensor, labels: Tensor, is_word: Tensor) -> Tensor:
        chosen = emissions.gather(2, labels.unsqueeze(2)).squeeze(2)  # (B, T)
        moves = self.transitions[labels[:, :-1], labels[:, 1:]]
        last = labels.gather(1, (is_word.sum(1, keepdim=True) - 1).clamp(min=0)).squeeze(1)
        ends = self.start[labels[:, 0]] + self.end[last]
        return (chosen * is_word).sum(1) + (moves * is_word[:, 1:]).sum(1) + ends

    def _log_partition(self, emissions: Tensor, is_word: Tensor) -> Tensor:
        score = self.start + emissions[:, 0]  # (B, S)
        for position in range(1, emissions.size(1)):
            following = (score.unsqueeze(2) + self.transitions).logsumexp(1) + emissions[:, position]
            score = torch.where(is_word[:, position, None], following, score)
        return (score + self.end).logsumexp(-1)


def words_first(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Gives the order `(B, T)` that moves words to the front of their row, and a mask of them there."""
    order = (~mask).int().argsort(dim=1, stable=True)
    return order, mask.gather(1, order)


def take(emissions: Tensor, order: Tensor) -> Tensor:
    """Orders emissions `(B, T, S)` as `(B, T)` says."""
    return emissions.gather(1, order.unsqueeze(-1).expand_as(emissions))
