"""Marian that reads the syntax of its source: features in the encoder's embeddings, attention scaled by the tree.

Features: Sundararaman et al. 2021, https://arxiv.org/abs/1911.06156. Scaled attention: see `dependency_scaling`. The
models take the syntax columns of a syntax tokenizer, each a LongTensor `(B, T)`, beside the arguments of their plain
parents; the decoder knows nothing of them. B sequences of T source tokens, D hidden size.
"""

import functools

import torch
from torch import Tensor
from transformers import MarianModel, MarianMTModel, MarianPreTrainedModel
from transformers import initialization as init
from transformers.modeling_outputs import BaseModelOutput, ModelOutput
from transformers.models.marian.modeling_marian import MarianAttention, MarianEncoder

from .configuration_syntax_marian import SyntaxMarianConfig
from .graph_attention import GraphAttention
from .pipeline_syntax_translation import SyntaxTranslationPipeline
from .structure_loss import AttendedTrees
from .syntax_checkpoint import SyntaxCheckpointMixin
from .syntax_columns import SYNTAX_COLUMNS, check_columns, needed_columns, with_syntax_columns
from .syntax_embeddings import FeatureCombination, FeatureTables
from .syntax_mechanisms import SyntaxMechanismsMixin, initialize_mechanisms, make_probe, with_syntax
from .syntax_self_attention import SyntaxAttentionMixin

__all__ = ["SyntaxMarianMT", "SyntaxMarianModel", "SyntaxMarianPreTrainedModel"]

AUTO_CLASSES = {"AutoModel": "SyntaxMarianModel", "AutoModelForSeq2SeqLM": "SyntaxMarianMT"}
DECODER_ARGUMENTS = ("cache", "past_key_values", "decoder_inputs_embeds", "use_cache")


class SyntaxMarianPreTrainedModel(SyntaxCheckpointMixin, MarianPreTrainedModel):
    """Initialisation and saving of all SyntaxMarian models."""

    config_class = SyntaxMarianConfig
    config: SyntaxMarianConfig
    auto_module = __name__.split(".")[-1]
    auto_classes = AUTO_CLASSES

    @torch.no_grad()
    def _init_weights(self, module):
        super()._init_weights(module)
        initialize_mechanisms(module, self.config.init_std)
        if isinstance(module, FeatureTables) and not isinstance(module, GraphAttention):
            # one of two factors is zero at first: the sum's tables, or the projection
            for table in module.parameters(recurse=False):
                if self.config.feature_combination == "sum":
                    init.zeros_(table)
                else:
                    init.normal_(table, std=self.config.init_std)
                    if not getattr(table, "_is_hf_initialized", False):  # which those have that are loaded
                        table[0].zero_()  # padding, which gets no gradients
        elif isinstance(module, FeatureCombination):
            for weights in module.parameters(recurse=False):
                init.zeros_(weights)


class SyntaxMarianAttention(SyntaxAttentionMixin, MarianAttention):
    """Self-attention of Marian's encoder with what syntax tells it."""

    def __init__(self, config: SyntaxMarianConfig, layer_idx: int):
        super().__init__(
            config.d_model,
            config.encoder_attention_heads,
            dropout=config.attention_dropout,
            config=config,
            layer_idx=layer_idx,
        )
        self.set_mechanisms(config, layer_idx)

    def forward(self, hidden_states, attention_mask=None, syntax_biases=None, score_changes=None, **kwargs):
        """Attends as `MarianAttention` does, with its part of the last two; see `own_syntax`."""
        biases, change = self.own_syntax(syntax_biases, score_changes)
        if biases is None and change is None:
            return super().forward(hidden_states, attention_mask=attention_mask, **kwargs)
        projections = [self.q_proj(hidden_states), self.k_proj(hidden_states), self.v_proj(hidden_states)]
        dropout = self.dropout if self.training else 0.0
        output, weights = self.attend_with_syntax(
            projections, biases, change, self.head_dim, attention_mask, dropout=dropout, **kwargs
        )
        return self.out_proj(output), weights


class SyntaxMarianEncoder(SyntaxMechanismsMixin, SyntaxMarianPreTrainedModel, MarianEncoder):
    """Marian's encoder with syntax features in its embeddings, and layers that know the tree."""

    def __init__(self, config: SyntaxMarianConfig):
        super().__init__(config)
        if config.token_size < config.d_model:
            self.embed_tokens = torch.nn.Embedding(config.vocab_size, config.token_size, self.padding_idx)
        if config.feature_groups:
            self.feature_combination = FeatureCombination(
                config.feature_combination, config.feature_groups, config.feature_vocabulary_sizes, config.d_model
            )
        self.add_mechanisms(config.token_size, config.attention_dropout, config.dropout)
        for index, layer in enumerate(self.layers):
            if config.graph_attention_layers or index in config.changed_layers:
                layer.self_attn = SyntaxMarianAttention(config, layer_idx=index)
            layer.self_attn.layer_idx = index  # which the parent leaves out
        self.post_init()

    @with_syntax_columns
    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        attended: list[AttendedTrees] | None = None,
        **kwargs,
    ):
        """Encodes sequences as `MarianEncoder` does, with their syntax.

        Args:
            input_ids: `(B, T)`.
            attention_mask: `(B, T)`.
            inputs_embeds: Token embeddings, scaled as the parent scales them, instead of `input_ids`: `(B, T, D)`, as
                much narrower as features are wide that are concatenated.
            attended: A list to which the output of the graph attention is added.
            kwargs: The syntax columns, and as in the parent.

        Raises:
            ValueError: If some but not all needed columns are given, or an id is out of range.
        """
        columns = needed_columns(self.config.syntax_columns, {name: kwargs.pop(name, None) for name in SYNTAX_COLUMNS})
        if inputs_embeds is None and input_ids is not None:
            inputs_embeds, input_ids = self.embed_tokens(input_ids) * self.embed_scale, None
        if columns and inputs_embeds is not None:
            check_columns(columns, self.config, inputs_embeds.shape[:2])
            keep = self.rows_with_syntax(columns)
            kwargs.update(self.attention_arguments(inputs_embeds / self.embed_scale, columns, keep, attended))
            if self.config.feature_groups:
                inputs_embeds = self.feature_combination(inputs_embeds, columns, keep)
        elif inputs_embeds is not None and self.config.token_size < self.config.d_model:
            width = self.config.d_model - inputs_embeds.size(-1)
            inputs_embeds = torch.nn.functional.pad(inputs_embeds, (0, width))  # features are zero without syntax
        return super().forward(input_ids, attention_mask, inputs_embeds, **kwargs)


class SyntaxMarianModel(SyntaxMarianPreTrainedModel, MarianModel):
    """Marian encoder and decoder without a head; the encoder reads syntax."""

    _auto_class = "AutoModel"

    def __init__(self, config: SyntaxMarianConfig):
        config.validate()  # fields may have been set since it was made
        super().__init__(config)
        self.encoder = SyntaxMarianEncoder(config)
        self.post_init()

    @with_syntax_columns
    @functools.wraps(MarianModel.forward)
    def forward(  # noqa: D102, the docstring is the parent's
        self, input_ids=None, attention_mask=None, decoder_input_ids=None, decoder_attention_mask=None,
        encoder_outputs=None, inputs_embeds=None, **kwargs,
    ):  # fmt: skip
        columns = {name: kwargs.pop(name, None) for name in SYNTAX_COLUMNS}
        attended = kwargs.pop("attended", None)
        if encoder_outputs is None:
            for_encoder = {name: value for name, value in kwargs.items() if name not in DECODER_ARGUMENTS}
            encoder_outputs = self.encoder(
                input_ids, attention_mask, inputs_embeds, attended, **columns, **{**for_encoder, "return_dict": True}
            )
        elif not isinstance(encoder_outputs, ModelOutput):
            encoder_outputs = BaseModelOutput(*encoder_outputs)
        return super().forward(
            attention_mask=attention_mask,
            decoder_input_ids=decoder_input_ids,
            decoder_attention_mask=decoder_attention_mask,
            encoder_outputs=encoder_outputs,
            **kwargs,
        )


class SyntaxMarianMT(SyntaxMarianPreTrainedModel, MarianMTModel):
    """Marian that translates sources whose syntax it reads."""

    _auto_class = "AutoModelForSeq2SeqLM"
    custom_pipeline = ("translation", SyntaxTranslationPipeline)

    def __init__(self, config: SyntaxMarianConfig):
        super().__init__(config)
        self.model = SyntaxMarianModel(config)
        if config.structure_loss_weight:
            self.structure_probe = make_probe(config)
        self.post_init()

    forward = with_syntax(MarianMTModel.forward)
