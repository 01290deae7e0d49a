"""What the configurations of all syntax models share."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from transformers import PreTrainedConfig as Base
else:
    Base = object  # its fields would replace those of BertConfig

__all__ = ["DEPRELS", "FEATURES", "UPOS", "SyntaxConfigMixin"]

FEATURES = ("upos", "casing", "subword", "deprel")
UPOS = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
DEPRELS = tuple(
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl "
    "fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative "
    "xcomp".split()
)


@dataclass(kw_only=True)
class SyntaxConfigMixin(Base):
    """Features in the embeddings, graph attention, attention scaled by dependency trees, and the labels of the ids.

    Without any of the three a model is its plain parent.

    Args:
        syntax_features: Features in the input embeddings: any of "upos", "casing", "subword" and "deprel".
        distance_scaling: What changes the scores of self-attention: "dependency" multiplies them by a normal density
            of the arcs between two words (Peng et al. 2022), "parent" by one of the tokens from the middle of the head
            word (Bugliarello & Okazaki 2020), "additive" subtracts the arcs, with a learned slope that starts at 0.
        scaled_layers: 0-based encoder layers that it changes; `None` for the lower half, the first for "parent".
        num_scaled_heads: Attention heads that it changes, the first ones; `None` for all.
        scaling_sigma: Standard deviation of the densities.
        scaling_sparsing: In training, what distances are made infinite: "random" any, "wink" those above
            `sparsing_distance`.
        sparsing_prob: Probability of that; for "parent", that of a token whose scores are left alone.
        sparsing_distance: Arcs up to which "wink" keeps all.
        max_scaled_distance: Arcs at which "additive" clips; `None` for nowhere.
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
        syntax_dropout: Probability that a training sequence is read without features, biases and scaling.
        upos_labels: The tags behind `upos_ids` 2, 3, ...
        deprel_labels: The relations behind `deprel_ids` 2, 3, ...
    """

    _auto_class = "AutoConfig"
    # model types of the checkpoints whose weights and fields it can take, the plain one first
    readable_types: ClassVar[tuple[str, ...]] = ()

    syntax_features: list[str] | tuple[str, ...] = ("upos",)
    distance_scaling: Literal["none", "dependency", "parent", "additive"] = "none"
    scaled_layers: list[int] | tuple[int, ...] | None = None
    num_scaled_heads: int | None = None
    scaling_sigma: float | int = 1.0
    scaling_sparsing: Literal["none", "random", "wink"] = "none"
    sparsing_prob: float | int = 0.1
    sparsing_distance: int = 2
    max_scaled_distance: int | None = None
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
    syntax_dropout: float | int = 0.0
    upos_labels: list[str] | tuple[str, ...] = UPOS
    deprel_labels: list[str] | tuple[str, ...] = DEPRELS

    def __post_init__(self, **kwargs):
        kwargs.pop("syntax_columns", None)  # derived, see to_dict
        super().__post_init__(**kwargs)

    @classmethod
    def get_config_dict(cls, *args, **kwargs):
        """Reads a config, and a plain one as one of this class: its weights are all that is needed.

        Raises:
            ValueError: If the checkpoint is of another architecture, whose weights would not be found.
        """
        config, kwargs = super().get_config_dict(*args, **kwargs)
        model_type = config.get("model_type", cls.readable_types[0])
        if model_type not in cls.readable_types:
            plain = cls.readable_types[0]
            raise ValueError(f"{args[0]} is a {model_type!r} checkpoint; {cls.__name__} needs the weights of {plain}")
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
        features = self.used_features()
        columns = tuple(f"{feature}_ids" for feature in FEATURES if feature in features)
        return (*columns, "head_positions") if self.uses_trees() else columns

    def used_features(self) -> set[str]:
        """Gives the features whose ids any of the mechanisms reads."""
        features = {*self.syntax_features}
        if self.distance_scaling != "none":
            features.update(("upos", "subword"))
        if self.graph_attention_layers:
            features.update(self.graph_attention_features)
        return features

    def uses_trees(self) -> bool:
        """Tells whether any of the mechanisms reads the tree."""
        return self.distance_scaling != "none" or self.graph_attention_layers > 0

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
    def changed_layers(self) -> list[int]:
        """The 0-based encoder layers whose scores are changed."""
        if self.distance_scaling == "none":
            return []
        default = 1 if self.distance_scaling == "parent" else max(1, self.num_hidden_layers // 2)
        return list(range(default)) if self.scaled_layers is None else list(self.scaled_layers)

    @property
    def scaling_options(self) -> dict[str, Any]:
        """The arguments of `DistanceScaling`."""
        return {
            "kind": self.distance_scaling,
            "num_layers": len(self.changed_layers),
            "num_scaled_heads": self.num_scaled_heads or self.num_attention_heads,
            "sigma": self.scaling_sigma,
            "sparsing": self.scaling_sparsing,
            "sparsing_prob": self.sparsing_prob,
            "max_kept": self.sparsing_distance,
            "max_distance": self.max_scaled_distance,
        }

    @property
    def feature_vocabulary_sizes(self) -> dict[str, int]:
        """Number of ids of each feature, ids 0 and 1 included."""
        return {"upos": 2 + len(self.upos_labels), "casing": 3, "subword": 5, "deprel": 2 + len(self.deprel_labels)}

    def to_dict(self) -> dict[str, Any]:
        """Adds `syntax_columns`, by which a tokenizer knows what to make for this model."""
        return {**super().to_dict(), "syntax_columns": list(self.syntax_columns)}

    def validate_syntax_features(self):
        """Checks the names of the features."""
        self.check_features("syntax_features")

    def check_features(self, name: str) -> None:
        """Checks that a field names different features."""
        features = getattr(self, name)
        if not set(features) <= set(FEATURES) or len(set(features)) < len(features):
            raise ValueError(f"{name} must be different names out of {FEATURES}, got {tuple(features)!r}")

    def validate_probabilities(self):
        """Checks that probabilities are below 1."""
        for name in ("syntax_dropout", "sparsing_prob"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, got {getattr(self, name)!r}")

    def validate_scaling(self):
        """Checks the numbers of the distance scaling, and that its options go together."""
        if not self.scaling_sigma > 0:
            raise ValueError(f"scaling_sigma must be above 0, got {self.scaling_sigma!r}")
        for name, least in (("sparsing_distance", 0), ("max_scaled_distance", 1)):
            if (value := getattr(self, name)) is not None and value < least:
                raise ValueError(f"{name} must be at least {least}, got {value!r}")
        if self.distance_scaling != "none" and self.is_decoder:
            raise ValueError(
                "distance_scaling needs whole sentences and cannot change a decoder: set is_decoder=False"
            )
        if self.distance_scaling == "none" and self.scaling_sparsing != "none":
            raise ValueError("scaling_sparsing needs distance_scaling")
        allowed = {"parent": ("none", "random"), "additive": ("none",)}.get(self.distance_scaling)
        if allowed is not None and self.scaling_sparsing not in allowed:
            raise ValueError(
                f"{self.distance_scaling!r} scaling takes scaling_sparsing {allowed}, got {self.scaling_sparsing!r}"
            )

    def validate_scaled_heads(self):
        """Checks the heads and layers whose scores are changed."""
        if self.num_scaled_heads is not None:
            self.check_heads("num_scaled_heads")
        if self.scaled_layers is not None:
            self.check_layers("scaled_layers", self.scaled_layers)

    def check_heads(self, name: str) -> None:
        """Checks that a field is a number of attention heads of the encoder."""
        if not 1 <= getattr(self, name) <= self.num_attention_heads:
            raise ValueError(
                f"{name} must be 1 to num_attention_heads={self.num_attention_heads}, got {getattr(self, name)}"
            )

    def check_layers(self, name: str, layers: list[int] | tuple[int, ...]) -> None:
        """Checks that a field names different encoder layers, one at least."""
        if not layers or not set(layers) <= set(range(self.num_hidden_layers)) or len(set(layers)) < len(layers):
            raise ValueError(
                f"{name} must be different layers 0 to {self.num_hidden_layers - 1}, got {tuple(layers)!r}"
            )

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
        if self.graph_attention_layers:
            self.check_heads("num_syntax_heads")
            self.check_layers("syntax_layers", self.biased_layers)
