"""The embedded parser, a BERT tokenizer of 17 pieces, and the columns of two hand-written sentences."""

import pytest
from transformers import BertConfig, BertTokenizer

from syntax_bert import SYNTAX_COLUMNS, SyntaxTokenizerFast, UDPipeParser
from syntax_bert.tokenization.universal_dependencies import DEPREL_IDS, UPOS_IDS

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat dog ##s see you sleep . i that ?".split()
DET, NOUN, VERB, PUNCT, PRON = (UPOS_IDS[tag] for tag in "DET NOUN VERB PUNCT PRON".split())
det, nsubj, root, obj, punct = (DEPREL_IDS[deprel] for deprel in "det nsubj root obj punct".split())


@pytest.fixture(scope="session")
def parser(english_parser):
    return UDPipeParser(english_parser)


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    """A folder with a BERT tokenizer and a config."""
    folder = tmp_path_factory.mktemp("bert")
    vocabulary = {piece: index for index, piece in enumerate(VOCABULARY)}
    BertTokenizer(vocab=vocabulary, model_max_length=64).save_pretrained(folder)
    BertConfig(vocab_size=len(VOCABULARY)).save_pretrained(folder)
    return folder


@pytest.fixture
def tokenizer(checkpoint, english_parser):
    return SyntaxTokenizerFast.from_pretrained(checkpoint, parser=english_parser)


class SpyParser:
    """Notes what it is asked for and answers as the parser it wraps."""

    def __init__(self, parser):
        self.wrapped, self.calls = parser, []

    def parse(self, texts, languages=None, dependencies=True):
        self.calls.append((list(texts), list(languages), dependencies))
        return self.wrapped.parse(texts, dependencies=dependencies)

    def parse_words(self, words, languages=None, dependencies=True):
        self.calls.append(([list(text) for text in words], list(languages), dependencies))
        return self.wrapped.parse_words(words, dependencies=dependencies)


@pytest.fixture
def spy_parser(parser):
    return SpyParser(parser)


@pytest.fixture
def spy(checkpoint, spy_parser):
    """A tokenizer with the spy as its parser."""
    return SyntaxTokenizerFast.from_pretrained(checkpoint, parser=spy_parser)


@pytest.fixture(scope="session")
def columns():
    """Takes the five columns out of an encoding."""
    return lambda encoding: {column: encoding[column] for column in SYNTAX_COLUMNS}


@pytest.fixture(scope="session")
def cat_columns():
    """[CLS] the cat see ##s the dog ##s . [SEP], of "The cat sees the dogs."."""
    return {
        "upos_ids": [1, DET, NOUN, VERB, VERB, DET, NOUN, NOUN, PUNCT, 1],
        "casing_ids": [0, 2, 1, 1, 1, 1, 1, 1, 1, 0],
        "subword_ids": [0, 4, 4, 1, 3, 4, 1, 3, 4, 0],
        "deprel_ids": [1, det, nsubj, root, root, det, obj, obj, punct, 1],
        "head_positions": [0, 2, 3, 0, 3, 6, 3, 6, 3, 0],
    }


@pytest.fixture(scope="session")
def dogs_columns():
    """[CLS] you see . [SEP], of "You see."."""
    return {
        "upos_ids": [1, PRON, VERB, PUNCT, 1],
        "casing_ids": [0, 2, 1, 1, 0],
        "subword_ids": [0, 4, 4, 4, 0],
        "deprel_ids": [1, nsubj, root, punct, 1],
        "head_positions": [0, 2, 0, 2, 0],
    }


@pytest.fixture(scope="session")
def pair_columns(cat_columns, dogs_columns):
    """Both, the second without its [CLS] and nine tokens further on; its root hangs from the anchor too."""
    second = {column: values[1:] for column, values in dogs_columns.items()}
    second["head_positions"] = [head + 9 if head else 0 for head in second["head_positions"]]
    return {column: cat_columns[column] + second[column] for column in SYNTAX_COLUMNS}
