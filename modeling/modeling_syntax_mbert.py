"""Multilingual BERT biased by graph attention over Universal Dependencies (Ahmad et al. 2021).

https://arxiv.org/abs/2106.02134. The models are those of SyntaxBert with another configuration, and one that trains
the graph attention alone. B sequences of T tokens.
"""

from dataclasses import dataclass

from torch import Tensor
from transformers.modeling_outputs import ModelOutput
from transformers.utils import can_return_tuple

from .configuration_syntax_mbert import SyntaxMBertConfig
from .modeling_syntax_bert import (
    SyntaxBertForIntentAndSlots,
    SyntaxBertForMaskedLM,
    SyntaxBertForMultipleChoice,
    SyntaxBertForQuestionAnswering,
    SyntaxBertForSequenceClassification,
    SyntaxBertForTokenClassification,
    SyntaxBertHead,
    SyntaxBertModel,
    SyntaxBertPreTrainedModel,
)
from .structure_loss import structure_loss
from .syntax_columns import check_columns, with_syntax_columns

__all__ = [
    "SyntaxMBertPreTrainedModel",
    "SyntaxMBertWithGAT",
    "SyntaxMBertWithGATForIntentAndSlots",
    "SyntaxMBertWithGATForMaskedLM",
    "SyntaxMBertWithGATForMultipleChoice",
    "SyntaxMBertWithGATForQuestionAnswering",
    "SyntaxMBertWithGATForSequenceClassification",
    "SyntaxMBertWithGATForTokenClassification",
    "SyntaxMBertWithGATForTreeReconstruction",
    "TreeReconstructionOutput",
]

AUTO_CLASSES = {
    "AutoModel": "SyntaxMBertWithGAT",
    "AutoModelForMaskedLM": "SyntaxMBertWithGATForMaskedLM",
    "AutoModelForMultipleChoice": "SyntaxMBertWithGATForMultipleChoice",
    "AutoModelForPreTraining": "SyntaxMBertWithGATForTreeReconstruction",
    "AutoModelForQuestionAnswering": "SyntaxMBertWithGATForQuestionAnswering",
    "AutoModelForSequenceClassification": "SyntaxMBertWithGATForSequenceClassification",
    "AutoModelForTokenClassification": "SyntaxMBertWithGATForTokenClassification",
}


class SyntaxMBertPreTrainedModel(SyntaxBertPreTrainedModel):
    """What the SyntaxMBertWithGAT models have of their own: their configuration."""

    config_class = SyntaxMBertConfig
    config: SyntaxMBertConfig
    auto_module = __name__.split(".")[-1]
    auto_classes = AUTO_CLASSES


class SyntaxMBertWithGAT(SyntaxMBertPreTrainedModel, SyntaxBertModel):
    """Multilingual BERT encoder with graph attention that biases some of its heads."""


class SyntaxMBertWithGATForSequenceClassification(SyntaxMBertPreTrainedModel, SyntaxBertForSequenceClassification):
    """SyntaxMBertWithGAT that classifies (or scores) a text or a pair of texts."""


class SyntaxMBertWithGATForTokenClassification(SyntaxMBertPreTrainedModel, SyntaxBertForTokenClassification):
    """SyntaxMBertWithGAT that labels each token."""


class SyntaxMBertWithGATForQuestionAnswering(SyntaxMBertPreTrainedModel, SyntaxBertForQuestionAnswering):
    """SyntaxMBertWithGAT that finds the sentence, the start and the end of an answer."""


class SyntaxMBertWithGATForMultipleChoice(SyntaxMBertPreTrainedModel, SyntaxBertForMultipleChoice):
    """SyntaxMBertWithGAT that chooses among texts."""


class SyntaxMBertWithGATForMaskedLM(SyntaxMBertPreTrainedModel, SyntaxBertForMaskedLM):
    """SyntaxMBertWithGAT that predicts masked wordpieces."""


class SyntaxMBertWithGATForIntentAndSlots(SyntaxMBertPreTrainedModel, SyntaxBertForIntentAndSlots):
    """SyntaxMBertWithGAT that gives a sentence its intent and each word its slot."""


@dataclass
class TreeReconstructionOutput(ModelOutput):
    """Outputs of `SyntaxMBertWithGATForTreeReconstruction`.

    Args:
        loss: The structure loss.
        distances: Predicted arcs between tokens, `(B, T, T)`.
        depths: Predicted arcs up to the root, `(B, T)`.
    """

    loss: Tensor | None = None
    distances: Tensor | None = None
    depths: Tensor | None = None


class SyntaxMBertWithGATForTreeReconstruction(SyntaxMBertPreTrainedModel, SyntaxBertHead):
    """Trains the graph attention alone to keep the trees that it reads; the encoder is neither run nor trained.

    A checkpoint of it loads into every task model.
    """

    _auto_class = "AutoModelForPreTraining"
    has_pooler = True  # not used, but kept for the task models that have one

    def __init__(self, config: SyntaxMBertConfig):
        if not config.structure_loss_weight:
            raise ValueError("tree reconstruction is trained by the structure loss: set structure_loss_weight")
        super().__init__(config)

    def freeze_encoder(self) -> None:
        """Leaves only the graph attention and the probe to the optimizer; the rest gets no gradients in any case."""
        self.bert.requires_grad_(False)
        self.bert.graph_attention.requires_grad_(True)

    @with_syntax_columns
    @can_return_tuple
    def forward(
        self, input_ids: Tensor | None = None, inputs_embeds: Tensor | None = None, **kwargs
    ) -> tuple[Tensor, ...] | TreeReconstructionOutput:
        """Predicts distances and depths; of what a tokenizer makes, only ids and syntax columns are needed.

        Raises:
            ValueError: Without the syntax columns, without inputs, or if they are longer than the model's sequences.
        """
        missing = [name for name in self.config.syntax_columns if kwargs.get(name) is None]
        if missing or (input_ids is None) == (inputs_embeds is None):
            raise ValueError(
                f"tree reconstruction needs input_ids or inputs_embeds, and the columns "
                f"{list(self.config.syntax_columns)}; missing: {missing}"
            )
        columns = {name: kwargs[name] for name in self.config.syntax_columns}
        if inputs_embeds is None:
            inputs_embeds = self.bert.embeddings.word_embeddings(input_ids)
        check_columns(columns, self.config, inputs_embeds.shape[:2])
        if (length := inputs_embeds.size(1)) > self.config.max_position_embeddings:
            raise ValueError(f"{length} tokens, but the model reads {self.config.max_position_embeddings} at most")
        vectors, tree, mask = self.bert.attend_to_trees(inputs_embeds, columns)
        distances, depths = self.structure_probe(vectors)
        loss = self.config.structure_loss_weight * structure_loss(distances, depths, tree, mask)
        return TreeReconstructionOutput(loss, distances, depths)
