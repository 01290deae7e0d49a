import inspect

import pytest
import torch
from huggingface_hub.errors import StrictDataclassError
from transformers import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    RobertaConfig,
)

import syntax_bert
from syntax_bert import SYNTAX_COLUMNS, SyntaxBertConfig, SyntaxBertForSequenceClassification, SyntaxBertModel
from syntax_bert.modeling import syntax_columns
from syntax_bert.modeling.modeling_syntax_bert import AUTO_CLASSES

ALL_FEATURES = ["upos", "casing", "subword", "deprel"]
TEXTS = ["The cat sees the river.", "The unhappy dogs that I see are sleeping, you see."]
PARENTS = [
    BertModel,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
]


def syntax_class(parent):
    return getattr(syntax_bert, f"Syntax{parent.__name__}")


@pytest.mark.parametrize("features", [["upos"], ALL_FEATURES, []], ids=str)
@pytest.mark.parametrize("parent", PARENTS, ids=lambda parent: parent.__name__)
def test_a_fresh_model_equals_its_plain_parent_to_the_bit(parent, features, load, inputs, plain_inputs):
    expected = load(parent)(**plain_inputs(inputs))
    model = load(syntax_class(parent), syntax_features=features)
    actual = model(**inputs)
    assert list(actual) == list(expected)
    assert all(torch.equal(actual[name], expected[name]) for name in expected)


@pytest.mark.parametrize("parent", PARENTS, ids=lambda parent: parent.__name__)
def test_every_head_trains_its_tables(parent, plain_checkpoint, inputs):
    model = syntax_class(parent).from_pretrained(plain_checkpoint, syntax_features=ALL_FEATURES)
    output = model(**inputs)
    sum(tensor.float().square().sum() for tensor in output.values()).backward()
    for feature in ALL_FEATURES:
        gradient = model.base_model.syntax_embeddings.get_parameter(feature).grad
        assert gradient.abs().sum() > 0
        assert gradient[0].abs().sum() == 0  # padding


@pytest.mark.parametrize("feature", ALL_FEATURES)
def test_each_feature_changes_the_output(feature, load_trained, batch):
    model = load_trained(SyntaxBertModel, syntax_features=[feature])
    column = f"{feature}_ids"
    assert model.config.syntax_columns == (column,)
    before = model(**batch).last_hidden_state
    batch[column] = torch.where(batch[column] == 2, 1, 2) * batch["attention_mask"]
    assert not torch.allclose(model(**batch).last_hidden_state, before)


def test_columns_that_the_config_does_not_need_are_ignored(load_trained, batch):
    model = load_trained(SyntaxBertModel)
    fewer = {name: tensor for name, tensor in batch.items() if name not in SYNTAX_COLUMNS[1:]}
    assert torch.equal(model(**batch).last_hidden_state, model(**fewer).last_hidden_state)


def test_an_untagged_row_contributes_exactly_nothing(syntax_tokenizer, load, load_trained, plain_inputs):
    model = load_trained(SyntaxBertModel, syntax_features=ALL_FEATURES)
    parse = syntax_tokenizer.parser.parse(TEXTS[:1])[0]
    batch = syntax_tokenizer(TEXTS, padding=True, return_tensors="pt", parses=[parse, None])
    plain = load(BertModel)(**plain_inputs(batch)).last_hidden_state
    actual = model(**batch).last_hidden_state
    assert torch.equal(actual[1], plain[1])
    assert not torch.allclose(actual[0], plain[0])


def test_syntax_dropout_makes_rows_plain_in_training_only(load, load_trained, batch, plain_inputs):
    off = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = load_trained(SyntaxBertModel, syntax_dropout=0.5, **off)
    plain = load(BertModel)(**plain_inputs(batch)).last_hidden_state
    full = model(**batch).last_hidden_state
    torch.manual_seed(0)
    repeated = {name: tensor.repeat(100, 1) for name, tensor in batch.items()}
    rows = model.train()(**repeated).last_hidden_state
    is_plain = [torch.allclose(row, plain[i % 2], atol=1e-6) for i, row in enumerate(rows)]
    is_full = [torch.allclose(row, full[i % 2], atol=1e-6) for i, row in enumerate(rows)]
    assert all(a != b for a, b in zip(is_plain, is_full, strict=True))
    assert 60 < sum(is_plain) < 140


def test_a_call_without_columns_is_plain_and_says_so(load, load_trained, batch, monkeypatch, plain_inputs):
    said = []
    monkeypatch.setattr(syntax_columns.logger, "warning_once", said.append)
    model = load_trained(SyntaxBertModel)
    actual = model(**plain_inputs(batch)).last_hidden_state
    assert "without syntax" in said[0]
    assert torch.equal(actual, load(BertModel)(**plain_inputs(batch)).last_hidden_state)


def test_some_but_not_all_columns_are_refused(load, batch, plain_inputs):
    model = load(SyntaxBertModel, syntax_features=["upos", "deprel"])
    with pytest.raises(ValueError, match=r"\['deprel_ids'\] are missing"):
        model(**plain_inputs(batch), upos_ids=batch["upos_ids"])


def test_columns_of_another_shape_are_refused(load, batch):
    model = load(SyntaxBertModel)
    batch["upos_ids"] = batch["upos_ids"][:1]
    with pytest.raises(ValueError, match=r"upos_ids has the shape \(1, "):
        model(**batch)


@pytest.mark.parametrize("value", [-1, 19])
def test_ids_out_of_range_are_refused_by_name_and_place(value, load, batch):
    model = load(SyntaxBertModel)
    batch["upos_ids"][1, 3] = value
    with pytest.raises(ValueError, match=f"upos_ids of example 1 has {value} at position 3"):
        model(**batch)


def test_inputs_embeds_stand_for_input_ids(load_trained, batch):
    model = load_trained(SyntaxBertModel)
    expected = model(**batch).last_hidden_state
    embeds = model.get_input_embeddings()(batch.pop("input_ids"))
    assert torch.equal(model(inputs_embeds=embeds, **batch).last_hidden_state, expected)
    with pytest.raises(ValueError, match="exactly one"):
        model(input_ids=torch.ones(2, 3, dtype=torch.long), inputs_embeds=embeds, **batch)


@torch.no_grad()  # FlexAttention has no backward on the CPU
@pytest.mark.parametrize("attention", ["sdpa", "flex_attention"])
def test_attention_implementations_agree(attention, load_trained, batch):
    expected = load_trained(SyntaxBertModel, attn_implementation="eager")(**batch)
    actual = load_trained(SyntaxBertModel, attn_implementation=attention)(**batch)
    kept = batch["attention_mask"].bool()
    torch.testing.assert_close(actual.last_hidden_state[kept], expected.last_hidden_state[kept], atol=1e-5, rtol=1e-4)


def test_gradient_checkpointing_gives_the_same_gradients(load_trained, batch, checkpoint_activations):
    gradients = []
    for checkpointing in (False, True):
        off = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        model = load_trained(SyntaxBertForSequenceClassification, **off).train()
        if checkpointing:
            checkpoint_activations(model)
        model(**batch, labels=torch.tensor([0, 1])).loss.backward()
        gradients.append(model.bert.syntax_embeddings.upos.grad)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_finite(dtype, load_trained, batch):
    model = load_trained(SyntaxBertForSequenceClassification)
    batch["attention_mask"][1] = 0  # a fully padded row
    with torch.autocast("cpu", dtype=dtype):
        assert model(**batch).logits.isfinite().all()
    assert model.to(dtype)(**batch).logits.isfinite().all()


def test_it_compiles_in_one_graph(load_trained, batch):
    model = load_trained(SyntaxBertForSequenceClassification, syntax_features=ALL_FEATURES)
    expected = model(**batch).logits
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(**batch).logits, expected)


def test_it_exports(load_trained, batch):
    model = load_trained(SyntaxBertForSequenceClassification)
    inputs = dict(batch)
    program = torch.export.export(model, (), kwargs=inputs)
    torch.testing.assert_close(program.module()(**inputs).logits, model(**inputs).logits)


def test_resizing_the_vocabulary_keeps_syntax(load_trained, batch):
    model = load_trained(syntax_bert.SyntaxBertForMaskedLM)
    before = model(**batch).logits
    size = model.config.vocab_size
    model.resize_token_embeddings(size + 3)
    after = model(**batch).logits
    assert after.shape[-1] == size + 3
    torch.testing.assert_close(after[..., :size], before)
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


def test_outputs_with_attentions_and_as_tuple(load, batch):
    model = load(SyntaxBertForSequenceClassification, attn_implementation="eager")
    output = model(**batch, output_attentions=True, output_hidden_states=True)
    assert len(output.attentions) == 2
    assert len(output.hidden_states) == 3
    assert torch.equal(model(**batch, return_dict=False)[0], output.logits)


@pytest.mark.parametrize("name", AUTO_CLASSES.values())
def test_trainer_sees_every_column(name):
    assert set(SYNTAX_COLUMNS) <= set(inspect.signature(getattr(syntax_bert, name).forward).parameters)


@pytest.mark.parametrize("parent", PARENTS, ids=lambda parent: parent.__name__)
def test_save_and_load(parent, load_trained, tmp_path, inputs):
    model = load_trained(syntax_class(parent), syntax_features=["upos", "deprel"])
    model.save_pretrained(tmp_path)
    again = syntax_class(parent).from_pretrained(tmp_path).eval()
    assert again.config.to_diff_dict() == model.config.to_diff_dict()
    assert all(torch.equal(weight, model.state_dict()[name]) for name, weight in again.state_dict().items())
    torch.testing.assert_close(again(**inputs)[0], model(**inputs)[0])


@pytest.mark.parametrize(
    ("field", "value"), [("syntax_features", ["xpos"]), ("syntax_features", ["upos"] * 2), ("syntax_dropout", 1.0)]
)
def test_the_config_checks_its_fields(field, value, plain_checkpoint):
    with pytest.raises(StrictDataclassError, match=f"{field} must be"):
        SyntaxBertConfig(**{field: value})
    with pytest.raises(StrictDataclassError, match=f"{field} must be"):
        SyntaxBertConfig.from_pretrained(plain_checkpoint, **{field: value})


def test_a_checkpoint_of_another_architecture_is_refused(tmp_path):
    RobertaConfig().save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="is a 'roberta' checkpoint; SyntaxBertConfig needs the weights of bert"):
        SyntaxBertConfig.from_pretrained(tmp_path)


def test_fields_set_after_the_config_was_made_are_checked():
    config = SyntaxBertConfig()
    config.syntax_features = ["pos"]
    with pytest.raises(StrictDataclassError, match="pos"):
        SyntaxBertModel(config)


SCALED = {"syntax_features": [], "scaled_layers": [0]}


@pytest.mark.parametrize("kind", ["dependency", "parent", "additive"])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_scores_are_scaled_in_the_chosen_layers_and_heads(kind, attention, load, batch, plain_inputs):
    options = {"distance_scaling": kind, "attn_implementation": attention, "num_scaled_heads": 1, **SCALED}
    model, plain = load(SyntaxBertModel, **options), load(BertModel, attn_implementation="eager")
    if kind == "additive":
        model.distance_scaling.slopes.data.fill_(0.5)
    model.set_attn_implementation("eager")
    expected, actual = (
        each(**given, output_attentions=True).attentions
        for each, given in ((plain, plain_inputs(batch)), (model, batch))
    )
    kept = batch["attention_mask"].bool()[0]
    assert not torch.allclose(actual[0][0, 0][kept], expected[0][0, 0][kept], atol=1e-3)
    torch.testing.assert_close(actual[0][0, 1:][:, kept], expected[0][0, 1:][:, kept])
    model.set_attn_implementation(attention)
    hidden = model(**batch).last_hidden_state
    alone = model(**{name: tensor[:1, kept] for name, tensor in batch.items()}).last_hidden_state
    torch.testing.assert_close(hidden[0][kept], alone[0])  # its neighbours do not matter
    assert torch.equal(model(**batch).last_hidden_state, hidden)


def test_additive_scaling_starts_neutral_and_learns(load, batch, plain_inputs):
    model = load(SyntaxBertModel, distance_scaling="additive", **SCALED)
    plain = load(BertModel)(**plain_inputs(batch)).last_hidden_state
    kept = batch["attention_mask"].bool()
    torch.testing.assert_close(model(**batch).last_hidden_state[kept], plain[kept])
    model(**batch).last_hidden_state[kept].square().sum().backward()
    assert model.distance_scaling.slopes.grad.all()


@pytest.mark.parametrize("kind", ["dependency", "parent", "additive"])
def test_rows_without_syntax_are_not_scaled(kind, load, batch, plain_inputs):
    model = load(SyntaxBertModel, distance_scaling=kind, **SCALED)
    if kind == "additive":
        model.distance_scaling.slopes.data.fill_(0.5)
    plain = load(BertModel)(**plain_inputs(batch)).last_hidden_state
    batch["upos_ids"][1] = batch["attention_mask"][1]
    batch["subword_ids"][1] = batch["head_positions"][1] = 0
    kept = batch["attention_mask"].bool()
    scaled = model(**batch).last_hidden_state
    torch.testing.assert_close(scaled[1][kept[1]], plain[1][kept[1]])
    assert not torch.allclose(scaled[0][kept[0]], plain[0][kept[0]], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "sparsing"), [("dependency", "random"), ("dependency", "wink"), ("parent", "random")]
)
def test_sparsing_is_for_training(kind, sparsing, load, batch):
    options = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "sparsing_prob": 0.5, **SCALED}
    model = load(SyntaxBertModel, distance_scaling=kind, scaling_sparsing=sparsing, sparsing_distance=1, **options)
    assert torch.equal(model(**batch).last_hidden_state, model(**batch).last_hidden_state)
    model.train()
    assert not torch.equal(model(**batch).last_hidden_state, model(**batch).last_hidden_state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scaling_sigma": 0.0}, "scaling_sigma must be above 0"),
        ({"scaling_sparsing": "random"}, "scaling_sparsing needs distance_scaling"),
        ({"distance_scaling": "parent", "scaling_sparsing": "wink"}, "'parent' scaling takes scaling_sparsing"),
        ({"distance_scaling": "dependency", "num_scaled_heads": 5}, "num_scaled_heads must be 1 to"),
        ({"distance_scaling": "dependency", "scaled_layers": [2]}, "scaled_layers must be different layers 0 to 1"),
        ({"sparsing_prob": 1.0}, "sparsing_prob must be at least 0 and below 1"),
        ({"max_scaled_distance": 0}, "max_scaled_distance must be at least 1"),
    ],
)
def test_bad_scaling(options, message):
    with pytest.raises(StrictDataclassError, match=message):
        SyntaxBertConfig(num_hidden_layers=2, num_attention_heads=4, **options)


def test_the_order_of_features_does_not_change_that_of_the_weights():
    """An optimizer's state, by which training is resumed, goes by it."""
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "graph_attention_layers": 1}
    names = [
        [name for name, _ in SyntaxBertModel(SyntaxBertConfig(**{field: order}, **sizes)).named_parameters()]
        for order in (["deprel", "upos"], ["upos", "deprel"])
        for field in ("syntax_features", "graph_attention_features")
    ]
    assert names[0] == names[2]
    assert names[1] == names[3]
