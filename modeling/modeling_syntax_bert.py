"""BERT that reads Universal Dependencies (Sundararaman et al. 2021, https://arxiv.org/abs/1911.06156).

Every model takes the syntax columns of a syntax tokenizer beside the arguments of its plain parent, each a LongTensor
`(B, T)` for B sequences of T tokens. A new model loaded from a plain BERT checkpoint gives that checkpoint's outputs to
the bit: its syntax weights are zero until training moves them.
"""

import functools

import torch
from torch import Tensor
from transformers import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    BertPreTrainedModel,
)
from transformers import initialization as init

from .configuration_syntax_bert import SyntaxBertConfig
from .syntax_columns import SYNTAX_COLUMNS, check_ranges, check_shapes, needed_columns, with_syntax_columns
from .syntax_embeddings import SyntaxEmbeddings

__all__ = [
    "SyntaxBertForMaskedLM",
    "SyntaxBertForMultipleChoice",
    "SyntaxBertForQuestionAnswering",
    "SyntaxBertForSequenceClassification",
    "SyntaxBertForTokenClassification",
    "SyntaxBertModel",
    "SyntaxBertPreTrainedModel",
]

AUTO_CLASSES = {
    "AutoModel": "SyntaxBertModel",
    "AutoModelForMaskedLM": "SyntaxBertForMaskedLM",
    "AutoModelForMultipleChoice": "SyntaxBertForMultipleChoice",
    "AutoModelForQuestionAnswering": "SyntaxBertForQuestionAnswering",
    "AutoModelForSequenceClassification": "SyntaxBertForSequenceClassification",
    "AutoModelForTokenClassification": "SyntaxBertForTokenClassification",
}


class SyntaxBertPreTrainedModel(BertPreTrainedModel):
    """Initialisation and saving of all SyntaxBert models."""

    config_class = SyntaxBertConfig
    config: SyntaxBertConfig
    _no_split_modules = ("BertEmbeddings", "BertLayer", "SyntaxEmbeddings")

    @torch.no_grad()
    def _init_weights(self, module):
        super()._init_weights(module)
        if isinstance(module, SyntaxEmbeddings):
            for table in module.parameters():
                init.zeros_(table)

    def save_pretrained(self, *args, **kwargs):
        """Saves weights, config and code; the config names every class of the family, so that any of them loads."""
        module = __name__.split(".")[-1]
        self.config.auto_map = {auto: f"{module}.{name}" for auto, name in AUTO_CLASSES.items()}
        return super().save_pretrained(*args, **kwargs)


class SyntaxBertModel(SyntaxBertPreTrainedModel, BertModel):
    """BERT encoder with syntax features in its embeddings."""

    _auto_class = "AutoModel"

    def __init__(self, config: SyntaxBertConfig, add_pooling_layer: bool = True):
        config.validate()  # fields may have been set since it was made
        super().__init__(config, add_pooling_layer=add_pooling_layer)
        if config.syntax_features:
            self.syntax_embeddings = SyntaxEmbeddings(
                config.feature_vocabulary_sizes, config.hidden_size, config.syntax_dropout
            )
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        *,
        upos_ids: Tensor | None = None,
        casing_ids: Tensor | None = None,
        subword_ids: Tensor | None = None,
        deprel_ids: Tensor | None = None,
        head_positions: Tensor | None = None,
        **kwargs,
    ):
        """Encodes sequences as `BertModel` does, with the features of the config added to the word embeddings.

        Args:
            input_ids: `(B, T)`, as the other arguments of `BertModel`.
            attention_mask: `(B, T)`.
            token_type_ids: `(B, T)`.
            position_ids: `(B, T)`.
            inputs_embeds: `(B, T, D)`, instead of `input_ids`.
            upos_ids: Part of speech, 0 padding, 1 none, 2 to 18.
            casing_ids: 0 none, 1 not capitalised, 2 capitalised.
            subword_ids: 0 none, 1 first, 2 middle, 3 last, 4 the whole word.
            deprel_ids: Relation to the head, 0 padding, 1 none, 2 to 38.
            head_positions: 0-based position of the head in the sequence.
            kwargs: As in `BertModel`.

        Raises:
            ValueError: If some but not all needed columns are given, or an id is out of range.
        """
        given = (upos_ids, casing_ids, subword_ids, deprel_ids, head_positions)
        columns = self._columns(dict(zip(SYNTAX_COLUMNS, given, strict=True)))
        if columns is not None and (input_ids is None) != (inputs_embeds is None):
            if inputs_embeds is None:
                inputs_embeds = self.embeddings.word_embeddings(input_ids)
            check_shapes(columns, inputs_embeds.shape[:2])
            inputs_embeds = inputs_embeds + self.syntax_embeddings(columns)
            input_ids = None
        return super().forward(
            input_ids,
            attention_mask=attention_mask,
            token_type_ids=token_type_ids,
            position_ids=position_ids,
            inputs_embeds=inputs_embeds,
            **kwargs,
        )

    def _columns(self, given: dict[str, Tensor | None]) -> dict[str, Tensor] | None:
        """Picks and checks the columns that the features of the config need; `None` without syntax."""
        if not self.config.syntax_features:
            return None
        columns = needed_columns(self.config.syntax_columns, given)
        if columns is not None:
            sizes = self.config.feature_vocabulary_sizes
            check_ranges(columns, {f"{feature}_ids": size for feature, size in sizes.items()})
        return columns


class SyntaxBertForSequenceClassification(SyntaxBertPreTrainedModel, BertForSequenceClassification):
    """SyntaxBert that classifies (or scores) a text or a pair of texts."""

    _auto_class = "AutoModelForSequenceClassification"
    forward = with_syntax_columns(BertForSequenceClassification.forward)

    def __init__(self, config: SyntaxBertConfig):
        super().__init__(config)
        self.bert = SyntaxBertModel(config)
        self.post_init()


class SyntaxBertForTokenClassification(SyntaxBertPreTrainedModel, BertForTokenClassification):
    """SyntaxBert that labels each token."""

    _auto_class = "AutoModelForTokenClassification"
    forward = with_syntax_columns(BertForTokenClassification.forward)

    def __init__(self, config: SyntaxBertConfig):
        super().__init__(config)
        self.bert = SyntaxBertModel(config, add_pooling_layer=False)
        self.post_init()


class SyntaxBertForQuestionAnswering(SyntaxBertPreTrainedModel, BertForQuestionAnswering):
    """SyntaxBert that finds the start and the end of an answer."""

    _auto_class = "AutoModelForQuestionAnswering"
    forward = with_syntax_columns(BertForQuestionAnswering.forward)

    def __init__(self, config: SyntaxBertConfig):
        super().__init__(config)
        self.bert = SyntaxBertModel(config, add_pooling_layer=False)
        self.post_init()


class SyntaxBertForMaskedLM(SyntaxBertPreTrainedModel, BertForMaskedLM):
    """SyntaxBert that predicts masked wordpieces."""

    _auto_class = "AutoModelForMaskedLM"
    forward = with_syntax_columns(BertForMaskedLM.forward)

    def __init__(self, config: SyntaxBertConfig):
        super().__init__(config)
        self.bert = SyntaxBertModel(config, add_pooling_layer=False)
        self.post_init()


class SyntaxBertForMultipleChoice(SyntaxBertPreTrainedModel, BertForMultipleChoice):
    """SyntaxBert that chooses among C texts; its inputs, the syntax columns too, are `(B, C, T)`."""

    _auto_class = "AutoModelForMultipleChoice"

    def __init__(self, config: SyntaxBertConfig):
        super().__init__(config)
        self.bert = SyntaxBertModel(config)
        self.post_init()

    @with_syntax_columns
    @functools.wraps(BertForMultipleChoice.forward)
    def forward(self, *args, **kwargs):  # noqa: D102, the docstring is the parent's
        # flattened to (B · C, T), as the parent does with its own arguments
        for name in SYNTAX_COLUMNS:
            if kwargs.get(name) is not None:
                kwargs[name] = kwargs[name].flatten(0, 1)
        return super().forward(*args, **kwargs)
