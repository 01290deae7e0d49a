"""Collation for masked language modelling with syntax; for everything else transformers' own collators do."""

from dataclasses import dataclass

from transformers import DataCollatorForLanguageModeling

from syntax_bert.tokenization.universal_dependencies import LAST, MIDDLE, NONE_IDS

__all__ = ["DataCollatorForSyntaxLanguageModeling"]


@dataclass
class DataCollatorForSyntaxLanguageModeling(DataCollatorForLanguageModeling):
    """Masks wordpieces and, by default, the features of their words: part of speech and relation give them away.

    Args:
        mask_syntax: Whether a word that has a wordpiece to be predicted loses its features. Its place in the tree
            stays.
    """

    mask_syntax: bool = True

    def __call__(self, features, return_tensors=None):
        """Pads and masks a list of encodings, as the parent does.

        Raises:
            ValueError: If there are features but no `subword_ids`, which tell where words begin.
        """
        batch = super().__call__(features, return_tensors)
        names = [name for name in NONE_IDS if name in batch]
        if not (self.mask_syntax and self.mlm and names):
            return batch
        if "subword_ids" not in names:
            raise ValueError(f"masking {names} by words needs subword_ids: add them to the tokenizer's columns=")
        subword = batch["subword_ids"]
        words = ((subword != MIDDLE) & (subword != LAST)).cumsum(1)  # (B, T): the number of each token's word
        predicted = batch["labels"] != -100
        is_hidden = ((words[:, :, None] == words[:, None, :]) & predicted[:, None, :]).any(2)
        for name in names:
            batch[name][is_hidden] = NONE_IDS[name]
        return batch
