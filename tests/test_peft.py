"""LoRA with the syntax weights trained in full: trained, saved, loaded again and merged."""

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model

import syntax_bert

TEXTS = ["The cat sees the river.", "The unhappy dogs that I see are sleeping, you see."]


@pytest.mark.parametrize(
    ("name", "saved", "options", "labels"),
    [
        (
            "SyntaxBertForSequenceClassification",
            ["syntax_embeddings", "classifier"],
            {"syntax_features": ["upos", "deprel"]},
            {"labels": torch.tensor([0, 1])},
        ),
        (
            "SyntaxMBertWithGATForIntentAndSlots",
            ["graph_attention", "attention_biases", "structure_probe", "classifier", "intent_classifier", "crf"],
            {"intents": ["a", "b"], "slot_decoder": "crf", "structure_loss_weight": 0.5},
            {"labels": torch.ones(2, 14, dtype=torch.long), "intent_labels": torch.tensor([0, 1])},
        ),
        (
            "SyntaxMarianMT",
            ["feature_combination", "distance_scaling"],
            {"distance_scaling": "additive"},
            {"labels": torch.tensor([[5, 6, 0], [7, 8, 0]])},
        ),
    ],
)
def test_lora(name, saved, options, labels, plain_checkpoint, marian_checkpoint, english_parser, tmp_path):
    is_marian = "Marian" in name
    source = marian_checkpoint if is_marian else plain_checkpoint
    model_class = getattr(syntax_bert, name)
    tokenizer_class = syntax_bert.SyntaxMarianTokenizer if is_marian else syntax_bert.SyntaxTokenizerFast
    torch.manual_seed(0)
    model = model_class.from_pretrained(source, **options)
    columns = model.config.syntax_columns
    tokenizer = tokenizer_class.from_pretrained(source, parser=english_parser, columns=columns)
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    if "intent_labels" in labels:
        labels = {**labels, "labels": labels["labels"][:, :1].expand_as(batch["input_ids"])}
    model.save_pretrained(tmp_path / "base")
    target = ["q_proj", "v_proj"] if is_marian else ["query", "value"]
    adapted = get_peft_model(model, LoraConfig(target_modules=target, modules_to_save=saved))
    before = {key: weights.clone() for key, weights in adapted.named_parameters()}
    optimizer = torch.optim.SGD([weights for weights in adapted.parameters() if weights.requires_grad], lr=0.5)
    for _ in range(3):
        optimizer.zero_grad()
        adapted(**batch, **labels).loss.backward()
        optimizer.step()
    moved = {key for key, weights in adapted.named_parameters() if not torch.equal(weights, before[key])}
    for module in saved:
        assert any(f".{module}.modules_to_save" in key for key in moved), module
    assert all("lora_" in key or "modules_to_save" in key for key in moved)
    adapted.save_pretrained(tmp_path / "adapter")

    inputs = {**batch, **({"decoder_input_ids": batch["input_ids"][:, :3]} if is_marian else {})}
    with torch.no_grad():
        expected = adapted.eval()(**inputs).logits
        again = PeftModel.from_pretrained(model_class.from_pretrained(tmp_path / "base"), tmp_path / "adapter").eval()
        torch.testing.assert_close(again(**inputs).logits, expected)
        merged = again.merge_and_unload()
        assert type(merged) is model_class
        torch.testing.assert_close(merged(**inputs).logits, expected, atol=1e-5, rtol=1e-5)
        merged.save_pretrained(tmp_path / "merged")
        reloaded = model_class.from_pretrained(tmp_path / "merged").eval()
        torch.testing.assert_close(reloaded(**inputs).logits, expected, atol=1e-5, rtol=1e-5)
