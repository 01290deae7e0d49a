import pytest
import torch

from syntax_bert.data.collation import DataCollatorForSyntaxLanguageModeling

TEXTS = ["The cat sees the river.", "The unhappy dogs that I see are sleeping, you see."]


@pytest.mark.parametrize("return_tensors", ["pt", "np"])
def test_predicted_wordpieces_lose_their_features(syntax_tokenizer, return_tensors):
    collator = DataCollatorForSyntaxLanguageModeling(syntax_tokenizer, mlm_probability=0.5, seed=0)
    encoded = [syntax_tokenizer(text) for text in TEXTS]
    batch = collator([dict(each) for each in encoded], return_tensors=return_tensors)
    plain = syntax_tokenizer.pad(encoded, return_tensors=return_tensors)
    predicted = batch["labels"] != -100
    assert predicted.any()
    for name, none in {"upos_ids": 1, "casing_ids": 0, "subword_ids": 0, "deprel_ids": 1}.items():
        assert (batch[name][predicted] == none).all()
        assert (batch[name][~predicted] == plain[name][~predicted]).all()
    assert (batch["head_positions"] == plain["head_positions"]).all()


def test_features_can_be_kept(syntax_tokenizer):
    collator = DataCollatorForSyntaxLanguageModeling(syntax_tokenizer, mlm_probability=0.5, mask_syntax=False)
    encoded = [dict(syntax_tokenizer(text)) for text in TEXTS]
    plain = syntax_tokenizer.pad(encoded, return_tensors="pt")
    assert torch.equal(collator(encoded)["upos_ids"], plain["upos_ids"])
