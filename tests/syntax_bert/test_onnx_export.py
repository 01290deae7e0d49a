"""Exported models give the same logits for batches of other sizes and lengths."""

import onnxruntime
import pytest
import torch

import syntax_bert
from syntax_bert import SyntaxBertForIntentAndSlots, SyntaxBertForTokenClassification
from syntax_bert.onnx_export import export_onnx

TEXTS = ["The cat sees the river.", "The unhappy dogs that I see are sleeping, you see."]
BATCHES = [TEXTS, ["Who sleeps?"], [*TEXTS, "A cat."]]
MOVED = ("syntax_embeddings", "attention_biases", "graph_attention.upos", "distance_scaling")
RELEASE = {"graph_attention_form": "additive", "syntax_bias": "key_value", "graph_attention_head_size": 8}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SyntaxBertForSequenceClassification", {"syntax_features": ["upos", "casing", "subword", "deprel"]}),
        ("SyntaxBertForTokenClassification", {"syntax_features": [], "distance_scaling": "dependency"}),
        ("SyntaxMBertWithGATForSequenceClassification", {"distance_scaling": "additive"}),
        ("SyntaxMBertWithGATForTokenClassification", RELEASE),
    ],
)
def test_exported_models_give_the_same_logits(name, options, plain_checkpoint, syntax_tokenizer, tmp_path):
    model = getattr(syntax_bert, name).from_pretrained(plain_checkpoint, **options)
    generator = torch.Generator().manual_seed(0)
    for key, weights in model.named_parameters():
        if any(part in key for part in MOVED):
            weights.data.copy_(torch.randn(weights.shape, generator=generator))
    program = export_onnx(model.eval(), tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    names = [each.name for each in session.get_inputs()]
    assert sorted(names) == sorted(["input_ids", "attention_mask", "token_type_ids", *model.config.syntax_columns])
    exported = program.module()
    for texts in BATCHES:
        batch = syntax_tokenizer(texts, padding=True, return_tensors="pt")
        inputs = {key: batch[key] for key in names}
        with torch.no_grad():
            expected = model(**inputs).logits
            torch.testing.assert_close(exported(**inputs).logits, expected, atol=1e-5, rtol=1e-5)
        (made,) = session.run(None, {key: tensor.numpy() for key, tensor in inputs.items()})
        torch.testing.assert_close(torch.from_numpy(made), expected, atol=1e-4, rtol=1e-4)


def test_what_cannot_be_exported_says_so(plain_checkpoint, tmp_path):
    model = SyntaxBertForIntentAndSlots.from_pretrained(plain_checkpoint, intents=["a", "b"], slot_decoder="crf")
    with pytest.raises(ValueError, match="a SyntaxBertForIntentAndSlots cannot be exported: only syntax models for"):
        export_onnx(model, tmp_path / "model.onnx")
    model = SyntaxBertForTokenClassification.from_pretrained(plain_checkpoint).train()
    model.bert.eval()
    with pytest.raises(ValueError, match="ONNX Runtime runs no bfloat16"):
        export_onnx(model.to(torch.bfloat16), tmp_path / "model.onnx")
    with pytest.raises(OSError, match="nowhere"):
        export_onnx(model.float(), tmp_path / "nowhere" / "model.onnx")
    assert (model.training, model.bert.training) == (True, False)
