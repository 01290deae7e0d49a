"""Collation for masked language modelling with syntax; for everything else transformers' own collators do."""

from dataclasses import dataclass

from transformers import DataCollatorForLanguageModeling

from syntax_bert.tokenization.universal_dependencies import NONE_ID

__all__ = ["DataCollatorForSyntaxLanguageModeling"]

NONE_IDS = {"upos_ids": NONE_ID, "casing_ids": 0, "subword_ids": 0, "deprel_ids": NONE_ID}


@dataclass
class DataCollatorForSyntaxLanguageModeling(DataCollatorForLanguageModeling):
    """Masks wordpieces and, by default, their features too: part of speech and relation would give them away.

    Args:
        mask_syntax: Whether a wordpiece that is to be predicted also loses its features. Its place in the tree stays.
    """

    mask_syntax: bool = True

    def __call__(self, features, return_tensors=None):
        """Pads and masks a list of encodings, as the parent does."""
        batch = super().__call__(features, return_tensors)
        if self.mask_syntax and self.mlm:
            predicted = batch["labels"] != -100
            for name, none in NONE_IDS.items():
                if name in batch:
                    batch[name][predicted] = none
        return batch
