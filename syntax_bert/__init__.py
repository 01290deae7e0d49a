"""Transformers that read syntax: Universal Dependencies as inputs of Hugging Face models.

Importing the package registers its models with the Auto classes of transformers.
"""

import transformers

from .modeling.configuration_syntax_bert import SyntaxBertConfig
from .modeling.modeling_syntax_bert import (
    AUTO_CLASSES,
    SyntaxBertForMaskedLM,
    SyntaxBertForMultipleChoice,
    SyntaxBertForQuestionAnswering,
    SyntaxBertForSequenceClassification,
    SyntaxBertForTokenClassification,
    SyntaxBertModel,
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
    "SyntaxBertForMaskedLM",
    "SyntaxBertForMultipleChoice",
    "SyntaxBertForQuestionAnswering",
    "SyntaxBertForSequenceClassification",
    "SyntaxBertForTokenClassification",
    "SyntaxBertModel",
    "SyntaxTokenizerFast",
    "UDPipeParser",
    "align_labels",
    "align_spans",
    "parser_path",
]

__version__ = "0.1.0"

transformers.AutoConfig.register(SyntaxBertConfig.model_type, SyntaxBertConfig)
transformers.AutoTokenizer.register(SyntaxBertConfig, fast_tokenizer_class=SyntaxTokenizerFast)
for auto_class, model_class in AUTO_CLASSES.items():
    getattr(transformers, auto_class).register(SyntaxBertConfig, globals()[model_class])
