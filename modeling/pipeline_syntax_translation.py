"""A pipeline that translates raw text; transformers 5 has none of its own, a checkpoint carries this one."""

from .pipeline_syntax import SyntaxPipeline

__all__ = ["SyntaxTranslationPipeline"]


class SyntaxTranslationPipeline(SyntaxPipeline):
    """Translates texts: `pipe("The cat sleeps.")` gives `[{"translation_text"}]`, a list of texts a list of them.

    Args:
        languages: Code of the language of the texts, where the tokenizer has parsers of several.
        truncation: Whether longer texts than the model takes are cut.
        generate_kwargs: Any argument of `generate`, such as `num_beams`, also by its own name.
    """

    _pipeline_calls_generate = True

    def _sanitize_parameters(self, languages=None, truncation=None, generate_kwargs=None, **kwargs):
        options = {} if truncation is None else {"truncation": truncation}
        return {**options, **self.language_options(languages)}, {**(generate_kwargs or {}), **kwargs}, {}

    def preprocess(self, inputs, **options):  # noqa: D102
        if not isinstance(inputs, str):
            raise ValueError(f"a source must be a text, got {inputs!r}")
        return self.tokenizer(inputs, return_tensors="pt", **options)

    def _forward(self, model_inputs, **generate_kwargs):
        return {"output_ids": self.model.generate(**model_inputs, **generate_kwargs)}

    def postprocess(self, model_outputs):  # noqa: D102
        texts = self.tokenizer.batch_decode(model_outputs["output_ids"], skip_special_tokens=True)
        return [{"translation_text": text} for text in texts]
