"""Configuration of SyntaxBert."""

from typing import ClassVar, Literal

from huggingface_hub.dataclasses import strict
from transformers import BertConfig

from .configuration_syntax import SyntaxConfigMixin

__all__ = ["SyntaxBertConfig"]


@strict
class SyntaxBertConfig(SyntaxConfigMixin, BertConfig):
    """A BERT configuration with the fields of some heads, beside the fields of `SyntaxConfigMixin`.

    Args:
        score_answer_sentences: Whether question answering scores sentences jointly with spans.
        intents: Names of the intents, for models of intents and slots.
        slot_decoder: Their slot layer: "linear" or "crf".
    """

    model_type = "syntax-bert"
    readable_types: ClassVar[tuple[str, ...]] = ("bert", "syntax-bert", "syntax-mbert")

    score_answer_sentences: bool = False
    intents: list[str] | tuple[str, ...] = ()
    slot_decoder: Literal["linear", "crf"] = "linear"

    def used_features(self) -> set[str]:
        """Gives the features whose ids any of the mechanisms reads."""
        return super().used_features() | ({"upos"} if self.score_answer_sentences else set())

    def uses_trees(self) -> bool:
        """Tells whether any of the mechanisms reads the tree."""
        return bool(super().uses_trees() or self.score_answer_sentences)
