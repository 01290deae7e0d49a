"""A pipeline that translates raw text; transformers 5 has none of its own, a checkpoint carries this one."""

import torch

from .pipeline_syntax import SyntaxPipeline

__all__ = ["SyntaxTranslationPipeline"]


class SyntaxTranslationPipeline(SyntaxPipeline):
    """Translates texts: `pipe("The cat sleeps.")` and a list of texts give a list of `{"translation_text"}`.

    With several translations of each text (`num_return_sequences`), a list of texts gives a list of such lists.

    Args:
        languages: Code of the language of the texts, where the tokenizer has parsers of several.
        truncation: Whether longer texts than the model takes are cut.
        generate_kwargs: Any argument of `generate`, such as `num_beams`, also by its own name.
    """

    def __call__(self, inputs, **kwargs):  # noqa: D102
        made = super().__call__(inputs, **kwargs)
        is_flat = isinstance(inputs, list) and all(len(translations) == 1 for translations in made)
        return [translation for (translation,) in made] if is_flat else made

    def _sanitize_parameters(self, languages=None, truncation=None, generate_kwargs=None, **kwargs):
        options = {} if truncation is None else {"truncation": truncation}
        return {**options, **self.language_options(languages)}, {**(generate_kwargs or {}), **kwargs}, {}

    def preprocess(self, inputs, **options):  # noqa: D102
        if not isinstance(inputs, str):
            raise ValueError(f"a source must be a text, got {inputs!r}")
        if options.get("truncation"):
            options["max_length"] = self.max_length
        return self.tokenizer(inputs, return_tensors="pt", **options)

    def _forward(self, model_inputs, **generate_kwargs):
        made = self.model.generate(**model_inputs, **generate_kwargs)
        ids = made if isinstance(made, torch.Tensor) else made.sequences
        return {"output_ids": ids.unflatten(0, (len(model_inputs["input_ids"]), -1))}  # (B, translations of each, T)

    def postprocess(self, model_outputs):  # noqa: D102
        texts = self.tokenizer.batch_decode(model_outputs["output_ids"][0], skip_special_tokens=True)
        return [{"translation_text": text} for text in texts]
