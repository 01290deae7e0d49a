"""What the pipelines share that a checkpoint carries."""

import copy

from transformers import Pipeline

__all__ = ["SyntaxPipeline"]


class SyntaxPipeline(Pipeline):
    """A pipeline on raw text, whose tokenizer pads on the right: a text of a batch is read as it is alone."""

    _load_processor = False
    _load_image_processor = False
    _load_feature_extractor = False
    _load_tokenizer = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.tokenizer = copy.copy(self.tokenizer)  # the caller's stays as it is
        self.tokenizer.padding_side = "right"
