"""Transformers that read syntax: Universal Dependencies as inputs of Hugging Face models.

Importing the package registers its models with the Auto classes of transformers.
"""

from typing import Any

import transformers

from .modeling.configuration_syntax_bert import SyntaxBertConfig
from .modeling.configuration_syntax_marian import SyntaxMarianConfig
from .modeling.configuration_syntax_mbert import SyntaxMBertConfig
from .modeling.modeling_syntax_bert import (
    SyntaxBertForIntentAndSlots,
    SyntaxBertForMaskedLM,
    SyntaxBertForMultipleChoice,
    SyntaxBertForQuestionAnswering,
    SyntaxBertForSequenceClassification,
    SyntaxBertForTokenClassification,
    SyntaxBertModel,
    SyntaxBertPreTrainedModel,
)
from .modeling.modeling_syntax_marian import SyntaxMarianModel, SyntaxMarianMT, SyntaxMarianPreTrainedModel
from .modeling.modeling_syntax_mbert import (
    SyntaxMBertPreTrainedModel,
    SyntaxMBertWithGAT,
    SyntaxMBertWithGATForIntentAndSlots,
    SyntaxMBertWithGATForMaskedLM,
    SyntaxMBertWithGATForMultipleChoice,
    SyntaxMBertWithGATForQuestionAnswering,
    SyntaxMBertWithGATForSequenceClassification,
    SyntaxMBertWithGATForTokenClassification,
    SyntaxMBertWithGATForTreeReconstruction,
)
from .modeling.pipeline_syntax_intent_and_slots import SyntaxIntentAndSlotsPipeline
from .modeling.pipeline_syntax_question_answering import SyntaxQuestionAnsweringPipeline
from .modeling.pipeline_syntax_translation import SyntaxTranslationPipeline
from .parsers.catalogue import load_parser, parser_path
from .tokenization.tokenization_syntax_fast import SyntaxTokenizerFast
from .tokenization.tokenization_syntax_marian import SyntaxMarianTokenizer
from .tokenization.udpipe_parser import UDPipeParser
from .tokenization.universal_dependencies import DEPRELS, SYNTAX_COLUMNS, UPOS, Parse
from .tokenization.wordpiece_alignment import align_labels, align_spans

__all__ = [
    "DEPRELS",
    "SYNTAX_COLUMNS",
    "UPOS",
    "Parse",
    "SyntaxBertConfig",
    "SyntaxBertForIntentAndSlots",
    "SyntaxBertForMaskedLM",
    "SyntaxBertForMultipleChoice",
    "SyntaxBertForQuestionAnswering",
    "SyntaxBertForSequenceClassification",
    "SyntaxBertForTokenClassification",
    "SyntaxBertModel",
    "SyntaxIntentAndSlotsPipeline",
    "SyntaxMBertConfig",
    "SyntaxMBertWithGAT",
    "SyntaxMBertWithGATForIntentAndSlots",
    "SyntaxMBertWithGATForMaskedLM",
    "SyntaxMBertWithGATForMultipleChoice",
    "SyntaxMBertWithGATForQuestionAnswering",
    "SyntaxMBertWithGATForSequenceClassification",
    "SyntaxMBertWithGATForTokenClassification",
    "SyntaxMBertWithGATForTreeReconstruction",
    "SyntaxMarianConfig",
    "SyntaxMarianMT",
    "SyntaxMarianModel",
    "SyntaxMarianTokenizer",
    "SyntaxQuestionAnsweringPipeline",
    "SyntaxTokenizerFast",
    "SyntaxTranslationPipeline",
    "UDPipeParser",
    "align_labels",
    "align_spans",
    "load_parser",
    "parser_path",
]

__version__ = "0.1.0"


def _register(family: Any, tokenizer: dict[str, type]) -> None:
    """Registers the models of a family, and its tokenizer."""
    config_class = family.config_class
    transformers.AutoConfig.register(config_class.model_type, config_class)
    transformers.AutoTokenizer.register(config_class, **tokenizer)
    for auto_class, default in family.auto_classes.items():
        models = [
            model
            for model in (globals()[name] for name in __all__)
            if getattr(model, "config_class", None) is config_class
            and getattr(model, "_auto_class", None) == auto_class
        ]
        # the first is the default, and a checkpoint that names another one in `architectures` gets that
        models.sort(key=lambda model: model.__name__ != default)
        getattr(transformers, auto_class).register(config_class, tuple(models))


_register(SyntaxBertPreTrainedModel, {"fast_tokenizer_class": SyntaxTokenizerFast})
_register(SyntaxMBertPreTrainedModel, {"fast_tokenizer_class": SyntaxTokenizerFast})
_register(SyntaxMarianPreTrainedModel, {"slow_tokenizer_class": SyntaxMarianTokenizer})
