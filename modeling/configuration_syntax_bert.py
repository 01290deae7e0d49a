"""Configuration of SyntaxBert."""

from huggingface_hub.dataclasses import strict
from transformers import BertConfig

__all__ = ["SyntaxBertConfig"]

FEATURES = ("upos", "casing", "subword", "deprel")
UPOS = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
DEPRELS = tuple(
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed "
    "flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative "
    "xcomp".split()
)


@strict
class SyntaxBertConfig(BertConfig):
    """A BERT configuration with what its syntax mechanisms need.

    Args:
        syntax_features: Features summed into the word embeddings: any of "upos", "casing", "subword" and "deprel";
            none of them is plain BERT.
        syntax_dropout: Probability that a training sequence is read without its syntax.
        upos_labels: The tags behind `upos_ids` 2, 3, ...
        deprel_labels: The relations behind `deprel_ids` 2, 3, ...
    """

    model_type = "syntax-bert"
    _auto_class = "AutoConfig"

    syntax_features: list[str] | tuple[str, ...] = ("upos",)
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
        if model_type not in (BertConfig.model_type, cls.model_type):
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
        return tuple(f"{feature}_ids" for feature in FEATURES if feature in self.syntax_features)

    @property
    def feature_vocabulary_sizes(self) -> dict[str, int]:
        """Number of ids of each feature in use, ids 0 and 1 included."""
        sizes = {"upos": 2 + len(self.upos_labels), "casing": 3, "subword": 5, "deprel": 2 + len(self.deprel_labels)}
        return {feature: sizes[feature] for feature in FEATURES if feature in self.syntax_features}

    def to_dict(self):
        """Adds `syntax_columns`, by which a tokenizer knows what to make for this model."""
        return {**super().to_dict(), "syntax_columns": list(self.syntax_columns)}

    def validate_syntax_features(self):
        """Checks the names of the features."""
        unknown = [feature for feature in self.syntax_features if feature not in FEATURES]
        if unknown or len(set(self.syntax_features)) < len(self.syntax_features):
            raise ValueError(
                f"syntax_features must be different names out of {FEATURES}, got {tuple(self.syntax_features)!r}"
            )

    def validate_syntax_dropout(self):
        """Checks that the dropout is a probability below 1."""
        if not 0 <= self.syntax_dropout < 1:
            raise ValueError(f"syntax_dropout must be at least 0 and below 1, got {self.syntax_dropout!r}")
