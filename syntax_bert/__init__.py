"""Transformers that read syntax: Universal Dependencies as inputs of Hugging Face models.

Importing the package registers its models with the Auto classes of transformers.
"""

import transformers

from .modeling.configuration_syntax_bert import SyntaxBertConfig
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
from .parsers.catalogue import parser_path
from .tokenization.tokenization_syntax_fast import SyntaxTokenizerFast
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
    "SyntaxMBertConfig",
    "SyntaxMBertWithGAT",
    "SyntaxMBertWithGATForIntentAndSlots",
    "SyntaxMBertWithGATForMaskedLM",
    "SyntaxMBertWithGATForMultipleChoice",
    "SyntaxMBertWithGATForQuestionAnswering",
    "SyntaxMBertWithGATForSequenceClassification",
    "SyntaxMBertWithGATForTokenClassification",
    "SyntaxMBertWithGATForTreeReconstruction",
    "SyntaxTokenizerFast",
    "UDPipeParser",
    "align_labels",
    "align_spans",
    "parser_path",
]

__version__ = "0.1.0"

for family in (SyntaxBertPreTrainedModel, SyntaxMBertPreTrainedModel):
    config_class = family.config_class
    transformers.AutoConfig.register(config_class.model_type, config_class)
    transformers.AutoTokenizer.register(config_class, fast_tokenizer_class=SyntaxTokenizerFast)
    for auto_class, model_class in family.auto_classes.items():
        # the first is the default, and a checkpoint that names another one in `architectures` gets that
        classes = [globals()[model_class]] + [
            globals()[name]
            for name in __all__
            if getattr(globals()[name], "config_class", None) is config_class
            and getattr(globals()[name], "_auto_class", None) == auto_class
            and name != model_class
        ]
        getattr(transformers, auto_class).register(config_class, tuple(classes))
