"""Configuration of SyntaxBert."""

from typing import ClassVar, Literal

from huggingface_hub.dataclasses import strict
from transformers import BertConfig

from .configuration_syntax import SyntaxConfigMixin

__all__ = ["SyntaxBertConfig"]


@strict
class SyntaxBertConfig(SyntaxConfigMixin, BertConfig):
    """A BERT configuration with what its syntax mechanisms need, beside the fields of `SyntaxConfigMixin`.

    With no features, no graph attention and no distance scaling the model is plain BERT.

    Args:
        graph_attention_layers: Layers of the graph attention network that biases the encoder; 0 for none.
        graph_attention_heads: Its heads.
        graph_attention_head_size: Width of each of its heads.
        graph_attention_form: "dot_product" as in the paper, "additive" as in its released code.
        graph_attention_features: Features added to the wordpiece embeddings that it reads, "upos" among them.
        max_dependency_distance: Arcs between tokens that attend to each other in it (δ).
        num_syntax_heads: Attention heads of the encoder, the first ones, that it biases.
        syntax_layers: 0-based encoder layers that it biases; `None` for all.
        syntax_bias: What it biases in them: "query_key" as in the paper, "key_value" as in the released code.
        structure_loss_weight: Weight of the loss by which its output has to keep the tree; 0 for none.
        score_answer_sentences: Whether question answering scores sentences jointly with spans.
        intents: Names of the intents, for models of intents and slots.
        slot_decoder: Their slot layer: "linear" or "crf".
    """

    model_type = "syntax-bert"
    readable_types: ClassVar[tuple[str, ...]] = ("bert", "syntax-bert", "syntax-mbert")

    graph_attention_layers: int = 0
    graph_attention_heads: int = 4
    graph_attention_head_size: int = 64
    graph_attention_form: Literal["dot_product", "additive"] = "dot_product"
    graph_attention_features: list[str] | tuple[str, ...] = ("upos",)
    max_dependency_distance: int = 4
    num_syntax_heads: int = 1
    syntax_layers: list[int] | tuple[int, ...] | None = None
    syntax_bias: Literal["query_key", "key_value"] = "query_key"
    structure_loss_weight: float | int = 0.0
    score_answer_sentences: bool = False
    intents: list[str] | tuple[str, ...] = ()
    slot_decoder: Literal["linear", "crf"] = "linear"

    def used_features(self) -> set[str]:
        """Gives the features whose ids any of the mechanisms reads."""
        features = super().used_features()
        if self.graph_attention_layers:
            features.update(self.graph_attention_features)
        return features | {"upos"} if self.score_answer_sentences else features

    def uses_trees(self) -> bool:
        """Tells whether any of the mechanisms reads the tree."""
        return bool(super().uses_trees() or self.graph_attention_layers or self.score_answer_sentences)

    @property
    def attention_head_size(self) -> int:
        """Width of an attention head of the encoder."""
        return self.hidden_size // self.num_attention_heads

    @property
    def graph_attention_size(self) -> int:
        """Width of the graph attention's output."""
        return self.graph_attention_heads * self.graph_attention_head_size

    @property
    def biased_layers(self) -> list[int]:
        """The 0-based encoder layers that the graph attention biases."""
        return list(range(self.num_hidden_layers) if self.syntax_layers is None else self.syntax_layers)

    def validate_graph_attention_features(self):
        """Checks the names of the features that it reads."""
        self.check_features("graph_attention_features")

    def validate_sizes(self):
        """Checks that numbers are not too small."""
        smallest = {
            "graph_attention_layers": 0,
            "graph_attention_heads": 1,
            "graph_attention_head_size": 1,
            "max_dependency_distance": 1,
            "structure_loss_weight": 0,
        }
        for name, least in smallest.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)!r}")

    def validate_graph_attention(self):
        """Checks what the graph attention reads, and what needs it."""
        if not self.graph_attention_layers:
            if self.structure_loss_weight:
                raise ValueError("structure_loss_weight needs graph attention: set graph_attention_layers")
        elif "upos" not in self.graph_attention_features:
            raise ValueError(f'graph_attention_features must hold "upos", got {self.graph_attention_features!r}')
        elif self.is_decoder:
            raise ValueError("graph attention reads whole sentences and cannot bias a decoder: set is_decoder=False")

    def validate_biased_heads(self):
        """Checks the heads and layers that the graph attention biases."""
        if not self.graph_attention_layers:
            return
        if not 1 <= self.num_syntax_heads <= self.num_attention_heads:
            raise ValueError(
                f"num_syntax_heads must be 1 to num_attention_heads={self.num_attention_heads}, "
                f"got {self.num_syntax_heads}"
            )
        self.check_layers("syntax_layers", self.biased_layers)
