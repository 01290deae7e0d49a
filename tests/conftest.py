"""A tiny plain BERT checkpoint, the embedded parser, and a syntax tokenizer over both."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers reads it

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from syntax_bert import SyntaxTokenizerFast, parser_path

VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the a cat dog river ##s ##es sleep see ##ing who that is are un ##happy "
    "do ##n ' ’ t n . , ? i you zum kino we"
).split()


def wordpiece_tokenizer(vocabulary=VOCABULARY, lowercase=True):
    """Builds BERT's tokenizer over a word list."""
    ids = {piece: index for index, piece in enumerate(vocabulary)}
    backend = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        mask_token="[MASK]",
        model_max_length=64,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


@pytest.fixture(scope="session")
def plain_checkpoint(tmp_path_factory):
    """A folder with a plain BERT of 2 layers, 32 wide, and its tokenizer."""
    folder = tmp_path_factory.mktemp("plain")
    wordpiece_tokenizer().save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def english_parser():
    """Path of the embedded English parser."""
    return parser_path("en")


@pytest.fixture
def syntax_tokenizer(plain_checkpoint, english_parser):
    """A syntax tokenizer with all five columns."""
    return SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=english_parser)
