"""Configuration of SyntaxBert."""

from typing import ClassVar, Literal

from huggingface_hub.dataclasses import strict
from transformers import BertConfig

__all__ = ["SyntaxBertConfig"]

FEATURES = ("upos", "casing", "subword", "deprel")
UPOS = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
DEPRELS = tuple(
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl "
    "fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative "
    "xcomp".split()
)


@strict
class SyntaxBertConfig(BertConfig):
    """A BERT configuration with what its syntax mechanisms need.

    Args:
        syntax_features: Features summed into the word embeddings: any of "upos", "casing", "subword" and "deprel";
            with none of them and no graph attention the model is plain BERT.
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
        syntax_dropout: Probability that a training sequence is read without its features and biases.
        upos_labels: The tags behind `upos_ids` 2, 3, ...
        deprel_labels: The relations behind `deprel_ids` 2, 3, ...
    """

    model_type = "syntax-bert"
    _auto_class = "AutoConfig"
    # model types of the checkpoints whose weights and fields it can take
    readable_types: ClassVar[tuple[str, ...]] = ("bert", "syntax-bert", "syntax-mbert")

    syntax_features: list[str] | tuple[str, ...] = ("upos",)
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
    syntax_dropout: float | int = 0.0
    upos_labels: list[str] | tuple[str, ...] = UPOS
    deprel_labels: list[str] | tuple[str, ...] = DEPRELS

    def __post_init__(self, **kwargs):
        kwargs.pop("syntax_columns", None)  # derived, see to_dict
        super().__post_init__(**kwargs)

    @classmethod
    def get_config_dict(cls, *args, **kwargs):
        """Reads a config, and a plain BERT's as one of this class: its weights are all that is needed.

        Raises:
            ValueError: If the checkpoint is of another architecture, whose weights would not be found.
        """
        config, kwargs = super().get_config_dict(*args, **kwargs)
        model_type = config.get("model_type", BertConfig.model_type)
        if model_type not in cls.readable_types:
            raise ValueError(f"{args[0]} is a {model_type!r} checkpoint; {cls.__name__} needs the weights of a BERT")
        return {**config, "model_type": cls.model_type} if config else config, kwargs

    @classmethod
    def from_dict(cls, config_dict, **kwargs):
        """Makes a config, and checks it: keyword arguments are set after its own validation."""
        made = super().from_dict(config_dict, **kwargs)
        (made[0] if isinstance(made, tuple) else made).validate()
        return made

    @property
    def syntax_columns(self) -> tuple[str, ...]:
        """The columns that the model reads."""
        features = set(self.syntax_features)
        if self.graph_attention_layers:
            features.update(self.graph_attention_features)
        if self.score_answer_sentences:
            features.add("upos")
        columns = tuple(f"{feature}_ids" for feature in FEATURES if feature in features)
        needs_heads = self.graph_attention_layers or self.score_answer_sentences
        return (*columns, "head_positions") if needs_heads else columns

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

    @property
    def feature_vocabulary_sizes(self) -> dict[str, int]:
        """Number of ids of each feature, ids 0 and 1 included."""
        return {"upos": 2 + len(self.upos_labels), "casing": 3, "subword": 5, "deprel": 2 + len(self.deprel_labels)}

    def to_dict(self):
        """Adds `syntax_columns`, by which a tokenizer knows what to make for this model."""
        return {**super().to_dict(), "syntax_columns": list(self.syntax_columns)}

    def validate_syntax_features(self):
        """Checks the names of the features."""
        for name in ("syntax_features", "graph_attention_features"):
            features = getattr(self, name)
            if not set(features) <= set(FEATURES) or len(set(features)) < len(features):
                raise ValueError(f"{name} must be different names out of {FEATURES}, got {tuple(features)!r}")

    def validate_syntax_dropout(self):
        """Checks that the dropout is a probability below 1."""
        if not 0 <= self.syntax_dropout < 1:
            raise ValueError(f"syntax_dropout must be at least 0 and below 1, got {self.syntax_dropout!r}")

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
        layers = self.biased_layers
        if not layers or not set(layers) <= set(range(self.num_hidden_layers)) or len(set(layers)) < len(layers):
            raise ValueError(
                f"syntax_layers must be different layers 0 to {self.num_hidden_layers - 1}, got {tuple(layers)!r}"
            )
