"""Configuration of SyntaxMBertWithGAT."""

from typing import ClassVar

from huggingface_hub.dataclasses import strict

from .configuration_syntax_bert import SyntaxBertConfig

__all__ = ["SyntaxMBertConfig"]


@strict
class SyntaxMBertConfig(SyntaxBertConfig):
    """A SyntaxBert configuration with the defaults of Ahmad et al. 2021 (https://arxiv.org/abs/2106.02134).

    Four layers of graph attention, no features in the embeddings; answers are scored jointly with their sentences.
    """

    model_type = "syntax-mbert"
    readable_types: ClassVar[tuple[str, ...]] = ("bert", "syntax-mbert")

    syntax_features: list[str] | tuple[str, ...] = ()
    graph_attention_layers: int = 4
    score_answer_sentences: bool = True
