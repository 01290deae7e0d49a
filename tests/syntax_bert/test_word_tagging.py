import pytest
import torch

from syntax_bert import SyntaxBertForTokenClassification, SyntaxTokenizerFast
from syntax_bert.word_tagging import tag_words

LABELS = ["DET", "NOUN", "VERB", "O"]
WORDS = {"the": "DET", "a": "DET", "cat": "NOUN", "dog": "NOUN", "rivers": "NOUN", "sleep": "VERB", "see": "VERB"}


@pytest.fixture
def model(plain_checkpoint):
    """A model that tells each word's tag from its first wordpiece alone."""
    torch.manual_seed(0)
    model = SyntaxBertForTokenClassification.from_pretrained(
        plain_checkpoint, syntax_features=["upos"], num_labels=4, id2label=dict(enumerate(LABELS))
    )
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, columns=())
    with torch.no_grad():
        embeddings = model.bert.embeddings
        for table in (embeddings.position_embeddings, embeddings.token_type_embeddings, embeddings.word_embeddings):
            table.weight.zero_()
        for layer in model.bert.encoder.layer:
            for weights in (*layer.attention.output.dense.parameters(), *layer.output.dense.parameters()):
                weights.zero_()
        model.classifier.weight.zero_()
        for label, tag in enumerate(LABELS):
            model.classifier.weight[label, label] = 1
            pieces = [tokenizer.tokenize(word)[0] for word, own in WORDS.items() if own == tag]
            embeddings.word_embeddings.weight[tokenizer.convert_tokens_to_ids(pieces), label] = 9
    return model


@pytest.fixture
def tokenizer(plain_checkpoint, english_parser):
    return SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=english_parser, columns=["upos_ids"])


SENTENCES = [["the", "dog", "see", "the", "rivers"], [], ["sleep"], ["a", "cat"] * 3]


@pytest.mark.parametrize("batch_size", [1, 2, 32])
@pytest.mark.parametrize("padding_side", ["left", "right"])
def test_every_word_gets_its_tag(model, tokenizer, batch_size, padding_side):
    tokenizer.padding_side = padding_side
    expected = [[WORDS[word] for word in words] for words in SENTENCES]
    assert tag_words(model.train(), tokenizer, SENTENCES, batch_size) == expected


def test_windows_of_a_sentence_longer_than_the_model(model, tokenizer):
    words = list(WORDS) * 40
    assert len(tokenizer(words, is_split_into_words=True)["input_ids"]) > 4 * model.config.max_position_embeddings
    assert tag_words(model, tokenizer, [words, ["cat"]]) == [[WORDS[word] for word in words], ["NOUN"]]


def test_a_word_without_wordpieces(model, tokenizer):
    assert tag_words(model, tokenizer, [["the", "\u200b", "cat"]]) == [["DET", "O", "NOUN"]]


def test_nothing_to_tag(model, tokenizer):
    assert tag_words(model, tokenizer, []) == []
    assert tag_words(model, tokenizer, [[], []]) == [[], []]
