"""What the pipelines share that a checkpoint carries."""

import copy

import torch
from transformers import BatchEncoding, Pipeline

__all__ = ["SyntaxPipeline"]


class SyntaxPipeline(Pipeline):
    """A pipeline on raw text, with nothing but a tokenizer, which pads on the right: BERT's pooler reads token 0."""

    _load_processor = False
    _load_image_processor = False
    _load_feature_extractor = False
    _load_tokenizer = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.tokenizer = copy.copy(self.tokenizer)
        self.tokenizer.padding_side = "right"

    def language_options(self, languages: str | None, languages_pair: str | None = None) -> dict[str, str]:
        """Gives a tokenizer the languages that are named, each one code."""
        options = {"languages": languages, "languages_pair": languages_pair}
        for name, value in options.items():
            if not (value is None or isinstance(value, str)):
                raise ValueError(f"{name} must be one code for all texts, got {value!r}")
        return {name: value for name, value in options.items() if value is not None}

    @property
    def max_length(self) -> int:
        """Longest sequence that model and tokenizer take, in wordpieces."""
        return min(self.model.config.max_position_embeddings, self.tokenizer.model_max_length)

    def model_inputs(self, encoded: BatchEncoding, row: int) -> dict[str, torch.Tensor]:
        """Gives what the model reads of one sequence, each `(1, T)`."""
        names = [*self.tokenizer.model_input_names, *getattr(self.model.config, "syntax_columns", ())]
        return {name: torch.tensor([encoded[name][row]]) for name in names if name in encoded}
