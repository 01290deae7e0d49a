import json

import pytest
import torch
from huggingface_hub.errors import StrictDataclassError
from transformers import AutoModel, AutoModelForSeq2SeqLM, MarianConfig, MarianMTModel

from syntax_bert import (
    SYNTAX_COLUMNS,
    SyntaxMarianConfig,
    SyntaxMarianModel,
    SyntaxMarianMT,
    SyntaxMarianTokenizer,
    SyntaxTranslationPipeline,
)

TEXTS = ["The unhappy dogs see a river.", "Who sees the cats?"]
COMBINATIONS = [
    {"feature_combination": "concat", "feature_size": 4},
    {"feature_combination": "concat_each", "feature_sizes": [4, 2]},
    {"feature_combination": "project", "feature_size": 4},
    {"feature_combination": "sum"},
]
SCALINGS = [{"distance_scaling": kind} for kind in ("dependency", "parent", "additive")]
GRAPH_ATTENTION = {"graph_attention_layers": 2, "graph_attention_heads": 2, "graph_attention_head_size": 4}
GRAPHS = [GRAPH_ATTENTION, {**GRAPH_ATTENTION, **COMBINATIONS[0], "syntax_bias": "key_value"}]


@pytest.fixture
def tokenizer(marian_checkpoint, english_parser):
    return SyntaxMarianTokenizer.from_pretrained(marian_checkpoint, parser=english_parser)


@pytest.fixture
def batch(tokenizer):
    batch = tokenizer(TEXTS, text_target=["The cats.", "A dog sleeps."], padding=True, return_tensors="pt")
    batch["labels"][batch["labels"] == tokenizer.pad_token_id] = -100
    return batch


@pytest.fixture
def load(marian_checkpoint):
    """Loads a model of the plain checkpoint, or makes one of its sizes."""

    def load_model(model_class=SyntaxMarianMT, **options):
        torch.manual_seed(0)
        if options.get("feature_combination", "").startswith("concat"):
            sizes = MarianConfig.from_pretrained(marian_checkpoint).to_dict()
            sizes.update(share_encoder_decoder_embeddings=False, syntax_features=["upos", "casing"])
            return model_class(SyntaxMarianConfig.from_dict({**sizes, **options})).eval()
        return model_class.from_pretrained(marian_checkpoint, **options).eval()

    return load_model


def sources(batch):
    return {name: tensor for name, tensor in batch.items() if name != "labels"}


def plain(batch):
    return {name: tensor for name, tensor in batch.items() if name not in SYNTAX_COLUMNS}


@pytest.mark.parametrize("options", [{}, *COMBINATIONS[2:], *SCALINGS[2:], GRAPH_ATTENTION], ids=str)
def test_a_fresh_model_translates_as_its_plain_parent(options, load, batch, marian_checkpoint):
    model, parent = load(**options), MarianMTModel.from_pretrained(marian_checkpoint).eval()
    expected, actual = parent(**plain(batch)), model(**batch)
    if "distance_scaling" in options:  # zeros in a mask change the last bit
        torch.testing.assert_close(actual.logits, expected.logits, rtol=1e-4, atol=1e-4)
    else:
        assert torch.equal(actual.logits, expected.logits)
        assert torch.equal(actual.loss, expected.loss)
    assert torch.equal(model(**plain(batch)).logits, expected.logits)


@pytest.mark.parametrize("options", [*COMBINATIONS, *SCALINGS, *GRAPHS], ids=str)
def test_every_weight_learns_and_the_tree_or_the_tags_matter(options, load, batch):
    model = load(**options)
    for name, weights in model.named_parameters():
        if any(part in name for part in ("feature_combination", "slopes", "attention_biases", "graph_attention.upos")):
            weights.data.normal_(std=0.5)
    output = model(**batch)
    output.loss.backward()
    learnt = {name: weights for name, weights in model.named_parameters() if "embed_positions" not in name}
    still = {name for name, weights in learnt.items() if weights.grad is None}
    assert not still
    changed = dict(batch)
    if model.config.uses_trees():
        anchor, is_word = batch["attention_mask"].sum(1, keepdim=True) - 1, batch["subword_ids"] % 3 == 1
        changed["head_positions"] = torch.where(is_word, anchor, batch["head_positions"])
    else:
        changed["upos_ids"] = torch.where(batch["upos_ids"] > 1, 5, batch["upos_ids"])
    assert not torch.allclose(model(**changed).logits[0], output.logits[0], atol=1e-5)


@pytest.mark.parametrize("options", [*COMBINATIONS, *SCALINGS, *GRAPHS], ids=str)
def test_a_source_does_not_depend_on_its_neighbours(options, load, batch, tokenizer):
    model = load(**options)
    together = model.model.encoder(**{n: t for n, t in sources(batch).items()}).last_hidden_state
    alone = model.model.encoder(**tokenizer(TEXTS[1:], return_tensors="pt")).last_hidden_state
    torch.testing.assert_close(together[1, : alone.size(1)], alone[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "options", [COMBINATIONS[0], SCALINGS[0], {**GRAPH_ATTENTION, "syntax_features": []}], ids=str
)
@pytest.mark.parametrize("search", [{}, {"num_beams": 3}, {"do_sample": True, "top_k": 5}], ids=str)
def test_generate_runs_the_encoder_once(options, search, load, batch, monkeypatch):
    model = load(**options)
    calls = []
    forward = type(model.model.encoder).forward
    monkeypatch.setattr(
        type(model.model.encoder), "forward",
        lambda self, *args, **kwargs: calls.append(kwargs) or forward(self, *args, **kwargs),
    )  # fmt: skip
    torch.manual_seed(1)
    made = model.generate(**sources(batch), max_new_tokens=6, **search)
    assert len(calls) == 1
    assert calls[0]["head_positions"] is not None
    torch.manual_seed(1)
    uncached = model.generate(**sources(batch), max_new_tokens=6, use_cache=False, **search)
    assert torch.equal(made, uncached)


def test_greedy_search_follows_the_logits_of_training(load, batch):
    model = load(**SCALINGS[0])
    made = model.generate(**sources(batch), max_new_tokens=4, num_beams=1)
    logits = model(**sources(batch), decoder_input_ids=made[:, :-1]).logits
    assert torch.equal(logits.argmax(-1)[:, 0], made[:, 1])


@pytest.mark.parametrize("options", [*SCALINGS, GRAPH_ATTENTION], ids=str)
def test_implementations_agree(options, load, batch):
    made = [load(attn_implementation=name, **options)(**batch).logits for name in ("eager", "sdpa")]
    torch.testing.assert_close(made[0], made[1], rtol=1e-4, atol=1e-5)
    attentions = load(attn_implementation="eager", **options)(**batch, output_attentions=True).encoder_attentions
    assert [tuple(each.shape[:2]) for each in attentions] == [(2, 2), (2, 2)]


@torch.no_grad()  # FlexAttention has no backward on the CPU
@pytest.mark.parametrize("options", SCALINGS, ids=str)
def test_flex_attention_agrees(options, load, batch):
    made = [load(attn_implementation=name, **options)(**batch).logits for name in ("eager", "flex_attention")]
    torch.testing.assert_close(made[0], made[1], rtol=1e-4, atol=1e-5)


def test_the_structure_loss_joins_the_loss(load, batch):
    loss = load(**GRAPH_ATTENTION)(**batch).loss
    model = load(**GRAPH_ATTENTION, structure_loss_weight=0.5)
    assert model(**batch).loss > loss + 0.1
    model(**batch).loss.backward()
    assert model.structure_probe.distance.grad.any()
    assert model.generate(**sources(batch), max_new_tokens=2).shape == (2, 3)


def test_gradient_checkpointing_gives_the_same_gradients(load, batch, checkpoint_activations):
    gradients = []
    for is_checkpointed in (False, True):
        model = load(distance_scaling="dependency", dropout=0.0).train()
        if is_checkpointed:
            checkpoint_activations(model)
        model(**batch).loss.backward()
        gradients.append(model.model.encoder.layers[0].self_attn.q_proj.weight.grad)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("options", [*SCALINGS, GRAPH_ATTENTION], ids=str)
def test_the_encoder_is_exported_and_traced_for_any_batch(options, load, batch, tokenizer):
    encoder = load(**options).model.encoder.requires_grad_(False)
    names = ["input_ids", "attention_mask", *encoder.config.syntax_columns]
    inputs = {name: batch[name] for name in names}
    other = tokenizer([*TEXTS, "A dog."], padding=True, return_tensors="pt")
    other = {name: other[name] for name in names}
    size = torch.export.Dim("size", min=1, max=64)
    shapes = {name: {0: size} for name in names}
    with torch.no_grad():
        expected = encoder(**other).last_hidden_state
        exported = torch.export.export(encoder, (), inputs, dynamic_shapes=shapes).module()
        torch.testing.assert_close(exported(**other).last_hidden_state, expected, rtol=1e-4, atol=1e-5)
        traced = torch.jit.trace(
            lambda *values: encoder(**dict(zip(names, values, strict=True))).last_hidden_state, tuple(inputs.values())
        )
        torch.testing.assert_close(traced(*other.values()), expected, rtol=1e-4, atol=1e-5)


def test_embeddings_are_tied_as_they_should_be(load):
    shared = load()
    assert shared.lm_head.weight is shared.model.encoder.embed_tokens.weight
    model = load(**COMBINATIONS[0])
    assert model.model.encoder.embed_tokens.weight.shape[1] == 28
    assert model.lm_head.weight is model.model.decoder.embed_tokens.weight


@pytest.mark.parametrize("options", [{}, *COMBINATIONS, *SCALINGS, *GRAPHS], ids=str)
def test_saved_models_are_found_by_auto_classes(options, load, batch, tmp_path):
    model = load(**options)
    model.save_pretrained(tmp_path)
    again = AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval()
    assert type(again) is SyntaxMarianMT
    assert torch.equal(again(**batch).logits, model(**batch).logits)
    assert type(AutoModel.from_pretrained(tmp_path)) in (SyntaxMarianModel, SyntaxMarianMT)


def test_a_checkpoint_translates_raw_text_without_the_package(load, tokenizer, tmp_path, run_without_package):
    model = load(distance_scaling="dependency")
    model.save_pretrained(tmp_path / "checkpoint")
    tokenizer.save_pretrained(tmp_path / "checkpoint")
    code = """
import json
from transformers import pipeline
translate = pipeline("translation", model=sys.argv[1], trust_remote_code=True)
print(json.dumps(translate(json.loads(sys.argv[2]), batch_size=2, max_new_tokens=5)))
"""
    (line,) = run_without_package(code, str(tmp_path / "checkpoint"), json.dumps(TEXTS))
    expected = model.generate(**tokenizer(TEXTS, padding=True, return_tensors="pt"), max_new_tokens=5)
    texts = tokenizer.batch_decode(expected, skip_special_tokens=True)
    assert json.loads(line) == [{"translation_text": text} for text in texts]


def test_the_pipeline_takes_what_generate_takes(load, tokenizer):
    model = load(distance_scaling="dependency")
    pipe = SyntaxTranslationPipeline(model=model, tokenizer=tokenizer, max_new_tokens=3, num_beams=2)
    inputs = tokenizer(TEXTS[0], return_tensors="pt")
    (expected,) = tokenizer.batch_decode(
        model.generate(**inputs, max_new_tokens=3, num_beams=2), skip_special_tokens=True
    )
    assert pipe(TEXTS[0]) == [{"translation_text": expected}]
    several = {"num_beams": 4, "num_return_sequences": 2, "return_dict_in_generate": True}
    alone = [pipe(text, **several) for text in TEXTS]
    assert [len(each) for each in alone] == [2, 2]
    assert pipe(TEXTS, batch_size=2, **several) == alone
    assert pipe(TEXTS[0] * 20, truncation=True) == pipe(TEXTS[0] * 20, truncation=True, batch_size=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"feature_combination": "concat"},
            "is for a new model: make one with share_encoder_decoder_embeddings=False",
        ),
        ({"feature_combination": "concat", "feature_size": 32}, "leave 0 of d_model=32 for tokens"),
        ({"feature_combination": "project", "feature_size": 0}, "features of widths"),
        ({"feature_sizes": [1, 2]}, "must be one for each"),
        ({"scaled_layers": [2], "distance_scaling": "dependency"}, "must be different layers 0 to 1"),
        ({"distance_scaling": "additive", "scaling_sparsing": "random"}, "'additive' scaling takes scaling_sparsing"),
        ({"distance_scaling": "dependency", "is_decoder": True}, "cannot change a decoder"),
        ({"scaling_sigma": float("nan")}, "scaling_sigma must be above 0, got nan"),
    ],
)
def test_bad_configurations(options, message):
    with pytest.raises(StrictDataclassError, match=message):
        SyntaxMarianConfig(d_model=32, encoder_layers=2, encoder_attention_heads=2, **options)
