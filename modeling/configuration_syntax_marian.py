"""Configuration of SyntaxMarian."""

from typing import ClassVar, Literal

from huggingface_hub.dataclasses import strict
from transformers import MarianConfig

from .configuration_syntax import SyntaxConfigMixin

__all__ = ["SyntaxMarianConfig"]


@strict
class SyntaxMarianConfig(SyntaxConfigMixin, MarianConfig):
    """A Marian configuration with what its encoder makes of syntax, beside the fields of `SyntaxConfigMixin`.

    Args:
        feature_combination: How features join the token embeddings of the encoder (Sundararaman et al. 2021): "sum"
            adds them; "concat" appends their sum, of `feature_size`, to token embeddings that are narrower by as much;
            "concat_each" appends each; "project" adds a projection of their sum. With "sum" and "project" a new model
            loaded from a plain checkpoint is unchanged at first; the others are for training from scratch, with
            tables of their own for encoder and decoder.
        feature_size: Width of the features, for "concat_each" of each; not used by "sum".
        feature_sizes: Width of each feature for "concat_each", in the order of `syntax_features`; `None` for
            `feature_size`.
    """

    model_type = "syntax-marian"
    readable_types: ClassVar[tuple[str, ...]] = ("marian", "syntax-marian")

    feature_combination: Literal["sum", "concat", "concat_each", "project"] = "sum"
    feature_size: int = 20
    feature_sizes: list[int] | tuple[int, ...] | None = None

    @property
    def feature_groups(self) -> list[tuple[tuple[str, ...], int]]:
        """The features that are summed, and the width of the sum."""
        features = tuple(self.syntax_features)
        if not features:
            return []
        if self.feature_combination == "concat_each":
            sizes = self.feature_sizes or [self.feature_size] * len(features)
            return [((feature,), size) for feature, size in zip(features, sizes, strict=True)]
        return [(features, self.d_model if self.feature_combination == "sum" else self.feature_size)]

    @property
    def token_size(self) -> int:
        """Width of the encoder's token embeddings."""
        if not self.feature_combination.startswith("concat"):
            return self.d_model
        return self.d_model - sum(size for _, size in self.feature_groups)

    def validate_feature_sizes(self):
        """Checks the widths of features against the model's, and whether embeddings can be shared."""
        if self.feature_sizes is not None and len(self.feature_sizes) != len(self.syntax_features):
            raise ValueError(
                f"feature_sizes {list(self.feature_sizes)} must be one for each of {list(self.syntax_features)}"
            )
        sizes = [size for _, size in self.feature_groups]
        if any(size < 1 for size in sizes) or self.token_size < 1:
            raise ValueError(
                f"features of widths {sizes} leave {self.token_size} of d_model={self.d_model} for tokens"
            )
        if self.token_size < self.d_model and self.share_encoder_decoder_embeddings:
            raise ValueError(
                f'feature_combination "{self.feature_combination}" makes the encoder\'s embeddings narrower than the '
                "decoder's, and is for a new model: make one with share_encoder_decoder_embeddings=False, or sum"
            )
