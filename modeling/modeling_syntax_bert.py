"""BERT that reads Universal Dependencies: features in the embeddings, and graph attention that biases the encoder.

Features: Sundararaman et al. 2021, https://arxiv.org/abs/1911.06156. Graph attention: Ahmad et al. 2021,
https://arxiv.org/abs/2106.02134. Every model takes the syntax columns of a syntax tokenizer beside the arguments of
its plain parent, each a LongTensor `(B, T)` for B sequences of T tokens. A new model loaded from a plain BERT
checkpoint gives that checkpoint's outputs to the bit: what syntax adds is zero until training moves it.
"""

import functools
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
from transformers.models.bert.modeling_bert import BertSelfAttention

from .answer_sentences import AnswerSentences, answer_sentence_loss, read_sentences, spread_over_sentences
from .configuration_syntax_bert import SyntaxBertConfig
from .linear_chain_crf import LinearChainCRF
from .pipeline_syntax_intent_and_slots import SyntaxIntentAndSlotsPipeline
from .pipeline_syntax_question_answering import SyntaxQuestionAnsweringPipeline
from .structure_loss import AttendedTrees
from .syntax_checkpoint import SyntaxCheckpointMixin
from .syntax_columns import SYNTAX_COLUMNS, check_columns, needed_columns
from .syntax_embeddings import SyntaxEmbeddings
from .syntax_mechanisms import SyntaxMechanismsMixin, initialize_mechanisms, make_probe, with_syntax
from .syntax_self_attention import SyntaxAttentionMixin

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


class SyntaxBertPreTrainedModel(SyntaxCheckpointMixin, BertPreTrainedModel):
    """Initialisation and saving of all SyntaxBert models."""

    config_class = SyntaxBertConfig
    config: SyntaxBertConfig
    auto_module = __name__.split(".")[-1]
    auto_classes = AUTO_CLASSES
    _no_split_modules = (
        "BertEmbeddings",
        "BertLayer",
        "SyntaxEmbeddings",
        "GraphAttention",
        "AttentionBiases",
        "DistanceScaling",
    )

    @torch.no_grad()
    def _init_weights(self, module):
        super()._init_weights(module)
        initialize_mechanisms(module, self.config.initializer_range)
        if isinstance(module, SyntaxEmbeddings | AnswerSentences | LinearChainCRF):
            for weights in module.parameters(recurse=False):
                init.zeros_(weights)


class SyntaxSelfAttention(SyntaxAttentionMixin, BertSelfAttention):
    """BERT's self-attention with what syntax tells it."""

    def __init__(self, config: SyntaxBertConfig, layer_idx: int):
        super().__init__(config, layer_idx=layer_idx)
        self.set_mechanisms(config, layer_idx)

    def forward(self, hidden_states, attention_mask=None, syntax_biases=None, score_changes=None, **kwargs):
        """Attends as `BertSelfAttention` does, with its part of the last two; see `own_syntax`."""
        biases, change = self.own_syntax(syntax_biases, score_changes)
        if biases is None and change is None:
            return super().forward(hidden_states, attention_mask, **kwargs)
        projections = [self.query(hidden_states), self.key(hidden_states), self.value(hidden_states)]
        dropout = self.dropout.p if self.training else 0.0
        return self.attend_with_syntax(
            projections, biases, change, self.attention_head_size, attention_mask, dropout=dropout, **kwargs
        )


class SyntaxBertModel(SyntaxMechanismsMixin, SyntaxBertPreTrainedModel, BertModel):
    """BERT encoder with syntax features in its embeddings, and graph attention that biases some of its heads."""

    _auto_class = "AutoModel"

    def __init__(self, config: SyntaxBertConfig, add_pooling_layer: bool = True):
        config.validate()  # fields may have been set since it was made
        super().__init__(config, add_pooling_layer=add_pooling_layer)
        if config.syntax_features:
            sizes = config.feature_vocabulary_sizes
            features = {name: size for name, size in sizes.items() if name in config.syntax_features}
            self.syntax_embeddings = SyntaxEmbeddings(features, config.hidden_size)
        self.add_mechanisms(config.hidden_size, config.attention_probs_dropout_prob, config.hidden_dropout_prob)
        if config.graph_attention_layers or config.distance_scaling != "none":
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
        attended: list[AttendedTrees] | None = None,
        **kwargs,
    ):
        """Encodes sequences as `BertModel` does, with the syntax mechanisms of the config.

        Args:
            upos_ids: Part of speech, 0 padding, 1 none, 2 to 18.
            casing_ids: 0 none, 1 not capitalised, 2 capitalised.
            subword_ids: 0 none, 1 first, 2 middle, 3 last, 4 the whole word.
            deprel_ids: Relation to the head, 0 padding, 1 none, 2 to 38.
            head_positions: 0-based position of the head in the sequence.
            attended: A list to which the output of the graph attention is added.

        Raises:
            ValueError: If some but not all needed columns are given, or an id is out of range.
        """
        given = (upos_ids, casing_ids, subword_ids, deprel_ids, head_positions)
        columns = needed_columns(self.config.syntax_columns, dict(zip(SYNTAX_COLUMNS, given, strict=True)))
        if columns and (input_ids is None) != (inputs_embeds is None):
            if inputs_embeds is None:
                inputs_embeds = self.embeddings.word_embeddings(input_ids)
            check_columns(columns, self.config, inputs_embeds.shape[:2])
            keep = self.rows_with_syntax(columns)
            kwargs.update(self.attention_arguments(inputs_embeds, columns, keep, attended))
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


class SyntaxBertHead(SyntaxBertPreTrainedModel):
    """What the task models share: the encoder, and the probe of the structure loss."""

    has_pooler = False

    def __init__(self, config: SyntaxBertConfig):
        super().__init__(config)
        self.bert = SyntaxBertModel(config, add_pooling_layer=self.has_pooler)
        if config.structure_loss_weight:
            self.structure_probe = make_probe(config)
        self.post_init()


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
        outputs = self.bert(*inputs, **kwargs)
        start_logits, end_logits = self.qa_outputs(outputs.last_hidden_state).unbind(-1)
        columns = {name: kwargs[name] for name in self.config.syntax_columns}
        sentences, mask = read_sentences(columns, self.config.max_position_embeddings)
        scores = self.answer_sentences(outputs.last_hidden_state, sentences, mask)
        start_logits = start_logits + spread_over_sentences(scores, sentences, mask)
        loss = None
        if start_positions is not None and end_positions is not None:
            loss = self.loss_function(start_logits, end_logits, start_positions, end_positions)
            loss = loss + answer_sentence_loss(scores, sentences, mask, start_positions.view(-1))
        return QuestionAnsweringModelOutput(loss, start_logits, end_logits, outputs.hidden_states, outputs.attentions)


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
        dropout = config.hidden_dropout_prob if config.classifier_dropout is None else config.classifier_dropout
        self.dropout = nn.Dropout(dropout)
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
        **kwargs,
    ) -> tuple[Tensor, ...] | IntentAndSlotsOutput:
        """Classifies a sentence and its tokens.

        Args:
            labels: Slot of each token, -100 where there is none, `(B, T)`.
            intent_labels: Intent of each sentence, `(B,)`.
            word_mask: 1 for the tokens that carry the slots of words, over which a CRF runs, `(B, T)`. By default
                those labelled, or without labels all that are attended to.
        """
        outputs = self.bert(input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds, **kwargs)
        logits = self.classifier(self.dropout(outputs.last_hidden_state))
        intent_logits = self.intent_classifier(self.dropout(outputs.pooler_output))
        losses = [] if labels is None else [self.slot_loss(logits, labels)]
        if intent_labels is not None:
            losses.append(functional.cross_entropy(intent_logits, intent_labels.view(-1)))
        if word_mask is None:
            word_mask = attention_mask if labels is None else labels >= 0
        return IntentAndSlotsOutput(
            sum(losses) if losses else None,
            logits,
            intent_logits,
            self.decode_slots(logits, word_mask),
            outputs.hidden_states,
            outputs.attentions,
        )

    def slot_loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Gives the mean loss of the words labelled, 0 without any, from logits `(B, T, S)` and labels `(B, T)`."""
        is_word = labels >= 0
        if self.config.slot_decoder == "crf":
            return self.crf.loss(logits, labels, is_word)
        lost = functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
        return lost / is_word.sum().clamp(min=1)

    def decode_slots(self, logits: Tensor, word_mask: Tensor | None) -> Tensor:
        """Gives each token a slot, `(B, T)`; a CRF, which takes its time, is not run in training."""
        likeliest = logits.argmax(-1)
        if self.config.slot_decoder == "linear" or self.training:
            return likeliest
        is_word = torch.ones_like(likeliest, dtype=torch.bool) if word_mask is None else word_mask.bool()
        return torch.where(is_word, self.crf.decode(logits, is_word), likeliest)
