import pytest
import torch

from syntax_bert import SyntaxTokenizerFast
from syntax_bert.data.collation import DataCollatorForSyntaxLanguageModeling

TEXTS = ["The cat sees the river.", "The unhappy dogs that I see are sleeping, you see."]


@pytest.mark.parametrize("return_tensors", ["pt", "np"])
def test_predicted_wordpieces_lose_their_features(syntax_tokenizer, return_tensors):
    collator = DataCollatorForSyntaxLanguageModeling(syntax_tokenizer, mlm_probability=0.5, seed=0)
    encoded = [syntax_tokenizer(text) for text in TEXTS]
    batch = collator([dict(each) for each in encoded], return_tensors=return_tensors)
    plain = syntax_tokenizer.pad(encoded, return_tensors=return_tensors)
    is_hidden = batch["labels"] != -100
    split_words = [(0, "see", "##s", 3), (1, "un", "##happy", 2), (1, "dog", "##s", 4), (1, "sleep", "##ing", 10)]
    for row, first, last, position in split_words:
        assert encoded[row].tokens()[position : position + 2] == [first, last]
        is_hidden[row, position : position + 2] = is_hidden[row, position : position + 2].any()
    assert is_hidden.any()
    assert not is_hidden.all()
    for name, none in {"upos_ids": 1, "casing_ids": 0, "subword_ids": 0, "deprel_ids": 1}.items():
        assert (batch[name][is_hidden] == none).all()
        assert (batch[name][~is_hidden] == plain[name][~is_hidden]).all()
    assert (batch["head_positions"] == plain["head_positions"]).all()


def test_words_must_be_known(plain_checkpoint, english_parser):
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=english_parser, columns=["upos_ids"])
    with pytest.raises(ValueError, match="needs subword_ids"):
        DataCollatorForSyntaxLanguageModeling(tokenizer)([tokenizer(TEXTS[0])])


def test_features_can_be_kept(syntax_tokenizer):
    collator = DataCollatorForSyntaxLanguageModeling(syntax_tokenizer, mlm_probability=0.5, mask_syntax=False)
    encoded = [dict(syntax_tokenizer(text)) for text in TEXTS]
    plain = syntax_tokenizer.pad(encoded, return_tensors="pt")
    assert torch.equal(collator(encoded)["upos_ids"], plain["upos_ids"])
