"""BERT that reads Universal Dependencies: features in the embeddings, and graph attention that biases the encoder.

Features: Sundararaman et al. 2021, https://arxiv.org/abs/1911.06156. Graph attention: Ahmad et al. 2021,
https://arxiv.org/abs/2106.02134. Every model takes the syntax columns of a syntax tokenizer beside the arguments of its
plain parent, each a LongTensor `(B, T)` for B sequences of T tokens. A new model loaded from a plain BERT checkpoint
gives that checkpoint's outputs to the bit: what syntax adds is zero until training moves it.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
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
from transformers.modeling_outputs import ModelOutput, QuestionAnsweringModelOutput
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.bert.modeling_bert import BertSelfAttention, eager_attention_forward

from .answer_sentences import AnswerSentences, answer_sentence_loss, spread_over_sentences
from .configuration_syntax_bert import SyntaxBertConfig
from .dependency_tree import dependency_adjacency, heads_of_rows, read_trees, sentence_roots
from .graph_attention import AttentionBiases, GraphAttention, GraphAttentionLayer
from .linear_chain_crf import LinearChainCRF
from .pipeline_syntax_intent_and_slots import SyntaxIntentAndSlotsPipeline
from .pipeline_syntax_question_answering import SyntaxQuestionAnsweringPipeline
from .structure_loss import ReadTree, StructureProbe, structure_loss
from .syntax_columns import SYNTAX_COLUMNS, check_ranges, check_shapes, needed_columns, with_syntax_columns
from .syntax_embeddings import SyntaxEmbeddings, has_syntax

__all__ = [
    "IntentAndSlotsOutput",
    "SyntaxBertForIntentAndSlots",
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
    auto_module, auto_classes = __name__.split(".")[-1], AUTO_CLASSES
    custom_pipeline: tuple[str, type] | None = None  # task and class of one that transformers does not have
    accepts_loss_kwargs = False  # losses are means over a batch, and Trainer has to divide them when it accumulates
    _no_split_modules = ("BertEmbeddings", "BertLayer", "SyntaxEmbeddings", "GraphAttention", "AttentionBiases")
    _keys_to_ignore_on_load_unexpected = (r"structure_probe\.",)  # of a checkpoint trained with the structure loss

    @torch.no_grad()
    def _init_weights(self, module):
        super()._init_weights(module)
        if isinstance(module, SyntaxEmbeddings | AttentionBiases | AnswerSentences | LinearChainCRF):
            for weights in module.parameters(recurse=False):
                init.zeros_(weights)
        elif isinstance(module, GraphAttention):
            for table in module.parameters(recurse=False):
                init.normal_(table, std=self.config.initializer_range)
        elif isinstance(module, GraphAttentionLayer):
            gain = 1.0 if module.form == "dot_product" else 2**0.5
            for weights in module.parameters():
                init.xavier_uniform_(weights, gain)
        elif isinstance(module, StructureProbe):
            for weights in module.parameters():
                init.xavier_uniform_(weights)

    def save_pretrained(self, *args, **kwargs):
        """Saves weights, config and code; the config names every class of the family, so that any of them loads."""
        self.config.auto_map = {auto: f"{self.auto_module}.{name}" for auto, name in self.auto_classes.items()}
        self.config.custom_pipelines = {}
        if self.custom_pipeline is not None:
            task, pipeline = self.custom_pipeline
            impl = f"{pipeline.__module__.split('.')[-1]}.{pipeline.__name__}"
            self.config.custom_pipelines[task] = {"impl": impl, "pt": [self._auto_class], "type": "text"}
        return super().save_pretrained(*args, **kwargs)


class SyntaxSelfAttention(BertSelfAttention):
    """Self-attention whose first heads are biased by the graph attention, in query and key or in key and value."""

    def __init__(self, config: SyntaxBertConfig, layer_idx: int):
        super().__init__(config, layer_idx=layer_idx)
        layers = config.biased_layers
        self.bias_index = layers.index(layer_idx) if layer_idx in layers else None
        self.bias_targets = (0, 1) if config.syntax_bias == "query_key" else (1, 2)

    def forward(self, hidden_states, attention_mask=None, cache=None, syntax_biases=None, **kwargs):
        """Attends as `BertSelfAttention` does, with `syntax_biases` `(L, 2, B, T, S · h)` added to its projections."""
        if syntax_biases is None or self.bias_index is None:
            return super().forward(hidden_states, attention_mask, cache, **kwargs)
        projections = [self.query(hidden_states), self.key(hidden_states), self.value(hidden_states)]  # (B, T, D)
        for target, bias in zip(self.bias_targets, syntax_biases[self.bias_index], strict=True):
            projections[target] = projections[target] + functional.pad(bias, (0, self.all_head_size - bias.size(-1)))
        query, key, value = (
            projection.unflatten(-1, (-1, self.attention_head_size)).transpose(1, 2) for projection in projections
        )
        attention = ALL_ATTENTION_FUNCTIONS.get_interface(self.config._attn_implementation, eager_attention_forward)
        dropout = self.dropout.p if self.training else 0.0
        output, weights = attention(
            self, query, key, value, attention_mask, dropout=dropout, scaling=self.scaling, **kwargs
        )
        return output.flatten(2).contiguous(), weights


class SyntaxBertModel(SyntaxBertPreTrainedModel, BertModel):
    """BERT encoder with syntax features in its embeddings, and graph attention that biases some of its heads."""

    _auto_class = "AutoModel"

    def __init__(self, config: SyntaxBertConfig, add_pooling_layer: bool = True):
        config.validate()  # fields may have been set since it was made
        super().__init__(config, add_pooling_layer=add_pooling_layer)
        sizes = config.feature_vocabulary_sizes
        if config.syntax_features:
            features = {name: size for name, size in sizes.items() if name in config.syntax_features}
            self.syntax_embeddings = SyntaxEmbeddings(features, config.hidden_size)
        if config.graph_attention_layers:
            self.graph_attention = GraphAttention(
                config.hidden_size,
                config.graph_attention_layers,
                config.graph_attention_heads,
                config.graph_attention_head_size,
                {name: size for name, size in sizes.items() if name in config.graph_attention_features},
                config.graph_attention_form,
                config.attention_probs_dropout_prob,
                config.hidden_dropout_prob,
            )
            self.attention_biases = AttentionBiases(
                config.graph_attention_size,
                len(config.biased_layers),
                config.num_syntax_heads * config.attention_head_size,
                has_constant=config.syntax_bias == "key_value",
            )
            for index, layer in enumerate(self.encoder.layer):
                layer.attention.self = SyntaxSelfAttention(config, layer_idx=index)
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
        trees_read: list[ReadTree] | None = None,
        **kwargs,
    ):
        """Encodes sequences as `BertModel` does, with the syntax mechanisms of the config.

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
            trees_read: A list to which what the graph attention read is added.
            kwargs: As in `BertModel`.

        Raises:
            ValueError: If some but not all needed columns are given, or an id is out of range.
        """
        given = (upos_ids, casing_ids, subword_ids, deprel_ids, head_positions)
        columns = needed_columns(self.config.syntax_columns, dict(zip(SYNTAX_COLUMNS, given, strict=True)))
        if columns and (input_ids is None) != (inputs_embeds is None):
            if inputs_embeds is None:
                inputs_embeds = self.embeddings.word_embeddings(input_ids)
            self.check_columns(columns, inputs_embeds.shape[:2])
            keep = has_syntax(columns)  # (B, 1)
            if self.training and self.config.syntax_dropout > 0:
                keep = keep & (torch.rand(keep.shape, device=keep.device) >= self.config.syntax_dropout)
            if self.config.graph_attention_layers:
                read = self.read_trees(inputs_embeds, columns)
                kwargs["syntax_biases"] = self.attention_biases(read.vectors, keep)
                if trees_read is not None:
                    trees_read.append(read)
            if self.config.syntax_features:
                inputs_embeds = inputs_embeds + self.syntax_embeddings(columns, keep)
            input_ids = None
        return super().forward(
            input_ids,
            attention_mask=attention_mask,
            token_type_ids=token_type_ids,
            position_ids=position_ids,
            inputs_embeds=inputs_embeds,
            **kwargs,
        )

    def read_trees(self, word_embeddings: Tensor, columns: dict[str, Tensor]) -> ReadTree:
        """Runs the graph attention alone.

        The structure loss does not train the word embeddings: the encoder, which shares them, would lose more by it
        than it gains.

        Args:
            word_embeddings: `(B, T, D)`.
            columns: The syntax columns that the model needs, each `(B, T)`.
        """
        if self.config.structure_loss_weight:
            word_embeddings = word_embeddings.detach()
        mask = columns["upos_ids"] > 0
        tree = read_trees(columns["head_positions"], mask, self.config.max_position_embeddings)
        adjacency = dependency_adjacency(tree.dependency_distances, self.config.max_dependency_distance)
        vectors = self.graph_attention(word_embeddings, columns, adjacency)
        return ReadTree(vectors, tree, mask & has_syntax(columns))

    def check_columns(self, columns: dict[str, Tensor], shape: torch.Size) -> None:
        """Checks that columns have the shape `(B, T)` of the inputs and ids that there are."""
        check_shapes(columns, shape)
        sizes = {f"{feature}_ids": size for feature, size in self.config.feature_vocabulary_sizes.items()}
        check_ranges(columns, {**sizes, "head_positions": shape[1]})


def with_syntax(forward: Callable) -> Callable:
    """Gives the `forward` of a task model the syntax columns, and its loss the structure loss."""

    @functools.wraps(forward)
    def forward_with_loss(self, *args, return_dict: bool | None = None, **kwargs):
        if not self.config.structure_loss_weight:
            return forward(self, *args, return_dict=return_dict, **kwargs)
        trees_read: list[ReadTree] = []
        output = forward(self, *args, return_dict=True, trees_read=trees_read, **kwargs)
        if output.loss is not None:
            for read in trees_read:
                distances, depths = self.structure_probe(read.vectors)
                lost = structure_loss(distances, depths, read.tree, read.mask)
                output.loss = output.loss + self.config.structure_loss_weight * lost
        return self.as_asked(output, return_dict)

    return with_syntax_columns(forward_with_loss)


class SyntaxBertHead(SyntaxBertPreTrainedModel):
    """What the task models share: the encoder, and the probe of the structure loss."""

    has_pooler = False

    def __init__(self, config: SyntaxBertConfig):
        super().__init__(config)
        self.bert = SyntaxBertModel(config, add_pooling_layer=self.has_pooler)
        if config.structure_loss_weight:
            self.structure_probe = StructureProbe(config.graph_attention_size, config.attention_head_size)
        self.post_init()

    def as_asked(self, output: ModelOutput, return_dict: bool | None) -> ModelOutput | tuple:
        """Gives the output as it is, or as a tuple if that is asked for, by default by the config."""
        return output if (self.config.return_dict if return_dict is None else return_dict) else output.to_tuple()


class SyntaxBertForSequenceClassification(SyntaxBertHead, BertForSequenceClassification):
    """SyntaxBert that classifies (or scores) a text or a pair of texts."""

    _auto_class = "AutoModelForSequenceClassification"
    has_pooler = True
    forward = with_syntax(BertForSequenceClassification.forward)


class SyntaxBertForTokenClassification(SyntaxBertHead, BertForTokenClassification):
    """SyntaxBert that labels each token."""

    _auto_class = "AutoModelForTokenClassification"
    forward = with_syntax(BertForTokenClassification.forward)


class SyntaxBertForMaskedLM(SyntaxBertHead, BertForMaskedLM):
    """SyntaxBert that predicts masked wordpieces."""

    _auto_class = "AutoModelForMaskedLM"
    forward = with_syntax(BertForMaskedLM.forward)


class SyntaxBertForMultipleChoice(SyntaxBertHead, BertForMultipleChoice):
    """SyntaxBert that chooses among C texts; its inputs, the syntax columns too, are `(B, C, T)`."""

    _auto_class = "AutoModelForMultipleChoice"
    has_pooler = True

    @with_syntax
    @functools.wraps(BertForMultipleChoice.forward)
    def forward(self, *args, **kwargs):  # noqa: D102, the docstring is the parent's
        # flattened to (B · C, T), as the parent does with its own arguments
        for name in SYNTAX_COLUMNS:
            if kwargs.get(name) is not None:
                kwargs[name] = kwargs[name].flatten(0, 1)
        return super().forward(*args, **kwargs)


class SyntaxBertForQuestionAnswering(SyntaxBertHead, BertForQuestionAnswering):
    """SyntaxBert that finds the start and the end of an answer.

    With `score_answer_sentences` it scores the sentences too, see `AnswerSentences`: the score of a sentence is added
    to the start logits of its tokens, and the loss has a term for the sentence of the answer.
    """

    _auto_class = "AutoModelForQuestionAnswering"
    custom_pipeline = ("question-answering", SyntaxQuestionAnsweringPipeline)

    def __init__(self, config: SyntaxBertConfig):
        super().__init__(config)
        if config.score_answer_sentences:
            self.answer_sentences = AnswerSentences(config.hidden_size)
        self.post_init()

    @with_syntax
    @functools.wraps(BertForQuestionAnswering.forward)
    def forward(  # noqa: D102, the docstring is the parent's
        self,
        input_ids=None,
        attention_mask=None,
        token_type_ids=None,
        position_ids=None,
        inputs_embeds=None,
        start_positions=None,
        end_positions=None,
        **kwargs,
    ):
        inputs = (input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds)
        if not self.config.score_answer_sentences or kwargs.get("head_positions") is None:
            return super().forward(*inputs, start_positions, end_positions, **kwargs)
        return_dict = kwargs.pop("return_dict", None)
        outputs = self.bert(*inputs, return_dict=True, **kwargs)
        start_logits, end_logits = self.qa_outputs(outputs.last_hidden_state).unbind(-1)
        columns = {name: kwargs[name] for name in SYNTAX_COLUMNS if kwargs.get(name) is not None}
        mask = (columns["upos_ids"] > 0) & has_syntax(columns)
        sentences = sentence_roots(columns["head_positions"], mask, self.config.max_position_embeddings)
        # tokens of a text that is not parsed hang from the anchor one by one: they are no sentences
        positions = torch.arange(mask.size(1), device=mask.device)
        is_anchor = heads_of_rows(columns["head_positions"], mask) == positions
        mask = mask & ((columns["upos_ids"] > 1) | is_anchor).gather(1, sentences)
        scores = self.answer_sentences(outputs.last_hidden_state, sentences, mask)
        start_logits = start_logits + spread_over_sentences(scores, sentences, mask)
        loss = None
        if start_positions is not None and end_positions is not None:
            length = start_logits.size(1)
            # as in the parent, an answer outside the window counts for nothing
            start, end = (positions.view(-1).clamp(0, length) for positions in (start_positions, end_positions))
            start_loss = functional.cross_entropy(start_logits, start, ignore_index=length)
            end_loss = functional.cross_entropy(end_logits, end, ignore_index=length)
            loss = (start_loss + end_loss) / 2 + answer_sentence_loss(scores, sentences, mask, start)
        output = QuestionAnsweringModelOutput(
            loss, start_logits, end_logits, outputs.hidden_states, outputs.attentions
        )
        return self.as_asked(output, return_dict)


@dataclass
class IntentAndSlotsOutput(ModelOutput):
    """Outputs of the models for intents and slots.

    Args:
        loss: Sum of the losses of what was labelled.
        logits: Scores of the slots, `(B, T, num_labels)`.
        intent_logits: Scores of the intents, `(B, num_intents)`.
        slot_ids: The slot of each token, `(B, T)`, as decoded by the slot layer; in training the likeliest of each.
        hidden_states: As in BERT.
        attentions: As in BERT.
    """

    loss: Tensor | None = None
    logits: Tensor | None = None
    intent_logits: Tensor | None = None
    slot_ids: Tensor | None = None
    hidden_states: tuple[Tensor, ...] | None = None
    attentions: tuple[Tensor, ...] | None = None


class SyntaxBertForIntentAndSlots(SyntaxBertHead):
    """SyntaxBert that gives a sentence its intent, out of `config.intents`, and each word its slot."""

    _auto_class = "AutoModelForTokenClassification"
    custom_pipeline = ("intent-and-slots", SyntaxIntentAndSlotsPipeline)
    has_pooler = True

    def __init__(self, config: SyntaxBertConfig):
        super().__init__(config)
        if not config.intents:
            raise ValueError("a model for intents and slots needs the names of the intents: set config.intents")
        self.dropout = nn.Dropout(
            config.hidden_dropout_prob if config.classifier_dropout is None else config.classifier_dropout
        )
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.intent_classifier = nn.Linear(config.hidden_size, len(config.intents))
        if config.slot_decoder == "crf":
            self.crf = LinearChainCRF(config.num_labels)
        self.post_init()

    @with_syntax
    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        intent_labels: Tensor | None = None,
        word_mask: Tensor | None = None,
        return_dict: bool | None = None,
        **kwargs,
    ) -> tuple[Tensor, ...] | IntentAndSlotsOutput:
        """Classifies a sentence and its tokens.

        Args:
            input_ids: `(B, T)`, as the other arguments of `BertModel`.
            attention_mask: `(B, T)`.
            token_type_ids: `(B, T)`.
            position_ids: `(B, T)`.
            inputs_embeds: `(B, T, D)`, instead of `input_ids`.
            labels: Slot of each token, -100 where there is none, `(B, T)`.
            intent_labels: Intent of each sentence, `(B,)`.
            word_mask: 1 for the tokens that carry the slots of words, over which a CRF runs, `(B, T)`. By default
                those labelled, or without labels all that are attended to.
            return_dict: False for a tuple.
            kwargs: Syntax columns, and as in `BertModel`.
        """
        outputs = self.bert(
            input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds, return_dict=True, **kwargs
        )
        logits = self.classifier(self.dropout(outputs.last_hidden_state))
        intent_logits = self.intent_classifier(self.dropout(outputs.pooler_output))
        if word_mask is None:
            word_mask = attention_mask if labels is None else labels >= 0
        word_mask = torch.ones_like(logits[..., 0]) if word_mask is None else word_mask
        losses = []
        if labels is not None and self.config.slot_decoder == "crf":
            losses.append(self.crf.loss(logits, labels, labels >= 0))
        elif labels is not None:
            lost = functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
            losses.append(lost / (labels >= 0).sum().clamp(min=1))
        if intent_labels is not None:
            losses.append(functional.cross_entropy(intent_logits, intent_labels.view(-1)))
        slot_ids = logits.argmax(-1)
        if self.config.slot_decoder == "crf" and not self.training:
            slot_ids = torch.where(word_mask.bool(), self.crf.decode(logits, word_mask.bool()), slot_ids)
        output = IntentAndSlotsOutput(
            sum(losses) if losses else None, logits, intent_logits, slot_ids, outputs.hidden_states, outputs.attentions
        )
        return self.as_asked(output, return_dict)
