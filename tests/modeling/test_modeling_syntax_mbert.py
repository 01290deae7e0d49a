import math

import pytest
import torch
from huggingface_hub.errors import StrictDataclassError
from torch.nn import functional
from transformers import (
    AutoModel,
    AutoModelForTokenClassification,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)

import syntax_bert
from syntax_bert import (
    SyntaxBertConfig,
    SyntaxBertForQuestionAnswering,
    SyntaxMBertConfig,
    SyntaxMBertWithGAT,
    SyntaxMBertWithGATForIntentAndSlots,
    SyntaxMBertWithGATForQuestionAnswering,
    SyntaxMBertWithGATForSequenceClassification,
    SyntaxMBertWithGATForTokenClassification,
    SyntaxMBertWithGATForTreeReconstruction,
)

TEXTS = ["The cat sees the river. I sleep.", "The unhappy dogs that I see are sleeping, you see."]
HEADS_OF = {
    BertModel: "SyntaxMBertWithGAT",
    BertForMaskedLM: "SyntaxMBertWithGATForMaskedLM",
    BertForMultipleChoice: "SyntaxMBertWithGATForMultipleChoice",
    BertForQuestionAnswering: "SyntaxMBertWithGATForQuestionAnswering",
    BertForSequenceClassification: "SyntaxMBertWithGATForSequenceClassification",
    BertForTokenClassification: "SyntaxMBertWithGATForTokenClassification",
}
RELEASE = {"graph_attention_form": "additive", "syntax_bias": "key_value", "graph_attention_head_size": 8}
INTENTS = {"intents": ["go", "see"], "num_labels": 3}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


@pytest.mark.parametrize("options", [{}, RELEASE], ids=["paper", "release"])
@pytest.mark.parametrize("parent", HEADS_OF, ids=lambda parent: parent.__name__)
def test_a_fresh_model_equals_its_plain_parent_to_the_bit(parent, options, load, inputs, plain_inputs):
    plain, model = (load(which, **(options if which is not parent else {}))
                    for which in (parent, getattr(syntax_bert, HEADS_OF[parent])))  # fmt: skip
    for name, weights in plain.named_parameters():  # task layers are new in both, and drawn after different ones
        model.get_parameter(name).data.copy_(weights)
    expected, actual = plain(**plain_inputs(inputs)), model(**inputs)
    assert list(actual) == list(expected)
    assert all(torch.equal(actual[name], expected[name]) for name in expected)


def biased_reference(model, batch):
    """The output of the first layer's attention, from the formulas."""
    config, attention = model.config, model.encoder.layer[0].attention.self
    embedded = model.embeddings.word_embeddings(batch["input_ids"])
    vectors = model.attend_to_trees(embedded, batch).vectors
    hidden = model.embeddings(batch["input_ids"], batch["token_type_ids"])
    size = config.attention_head_size
    outputs = []
    first, second = model.attention_biases(vectors, torch.ones(len(vectors), 1))[0]
    for head in range(config.num_attention_heads):
        part = slice(head * size, (head + 1) * size)
        query, key, value = (layer(hidden)[..., part] for layer in (attention.query, attention.key, attention.value))
        if head < config.num_syntax_heads:
            if config.syntax_bias == "query_key":
                query, key = query + first[..., part], key + second[..., part]
            else:
                key, value = key + first[..., part], value + second[..., part]
        scores = (query @ key.mT / math.sqrt(size)).masked_fill(batch["attention_mask"][:, None] == 0, -torch.inf)
        outputs.append(scores.softmax(-1) @ value)
    return torch.cat(outputs, -1)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("bias", ["query_key", "key_value"])
def test_the_first_heads_are_biased(bias, attention, load_trained, batch):
    options = {"syntax_bias": bias, "num_syntax_heads": 2, "attn_implementation": attention}
    model = load_trained(SyntaxMBertWithGAT, **options)
    seen = []
    model.encoder.layer[0].attention.self.register_forward_hook(lambda *args: seen.append(args[2][0]))
    model(**batch)
    kept = batch["attention_mask"].bool()
    torch.testing.assert_close(seen[0][kept], biased_reference(model, batch)[kept], rtol=1e-4, atol=1e-5)


def test_only_the_chosen_layers_are_biased(load, load_trained, batch, plain_inputs):
    model = load_trained(SyntaxMBertWithGAT, syntax_layers=[1])
    plain = load(BertModel)
    actual = model(**batch, output_hidden_states=True).hidden_states
    expected = plain(**plain_inputs(batch), output_hidden_states=True).hidden_states
    assert torch.equal(actual[1], expected[1])
    assert not torch.allclose(actual[2], expected[2])


@torch.no_grad()  # FlexAttention has no backward on the CPU
def test_flex_attention_agrees(load_trained, batch):
    made = [
        load_trained(SyntaxMBertWithGAT, attn_implementation=name)(**batch).last_hidden_state
        for name in ("eager", "flex_attention")
    ]
    kept = batch["attention_mask"].bool()
    torch.testing.assert_close(made[1][kept], made[0][kept], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{}, RELEASE], ids=["paper", "release"])
def test_the_tree_matters_and_the_rest_of_the_batch_does_not(options, load_trained, syntax_tokenizer, batch):
    model = load_trained(SyntaxMBertWithGAT, max_dependency_distance=1, **options)
    both = model(**batch).last_hidden_state
    shuffled = model(**{name: tensor.flip(0) for name, tensor in batch.items()}).last_hidden_state
    torch.testing.assert_close(shuffled.flip(0), both)
    for row, text in enumerate(TEXTS):
        alone = model(**syntax_tokenizer([text], return_tensors="pt")).last_hidden_state[0]
        torch.testing.assert_close(alone, both[row, : len(alone)], rtol=1e-4, atol=1e-5)
    batch["head_positions"] = torch.where(batch["attention_mask"].bool(), 0, batch["head_positions"])
    assert not torch.allclose(model(**batch).last_hidden_state, both, atol=1e-3)


def test_padding_on_the_left_by_a_collator_that_knows_no_heads(load_trained, syntax_tokenizer):
    model = load_trained(SyntaxMBertWithGAT)
    one = syntax_tokenizer(TEXTS[:1], return_tensors="pt")
    padded = {name: torch.nn.functional.pad(tensor, (3, 0)) for name, tensor in one.items()}
    padded["position_ids"] = (padded["attention_mask"].cumsum(-1) - 1).clamp(min=0)
    torch.testing.assert_close(
        model(**padded).last_hidden_state[:, 3:], model(**one).last_hidden_state, rtol=1e-4, atol=1e-5
    )


def test_an_unparsed_row_contributes_exactly_nothing(syntax_tokenizer, load, load_trained, plain_inputs):
    model = load_trained(SyntaxMBertWithGATForQuestionAnswering, **RELEASE)
    parse = syntax_tokenizer.parser.parse(TEXTS[:1])[0]
    batch = syntax_tokenizer(TEXTS, padding=True, return_tensors="pt", parses=[parse, None])
    plain = load(BertForQuestionAnswering)
    plain.qa_outputs.load_state_dict(model.qa_outputs.state_dict())
    expected, actual = plain(**plain_inputs(batch)), model(**batch)
    for name in ("start_logits", "end_logits"):
        assert torch.equal(actual[name][1], expected[name][1])
        assert not torch.allclose(actual[name][0], expected[name][0])


def test_gradient_checkpointing_gives_the_same_gradients(load_trained, batch, checkpoint_activations):
    gradients = []
    for checkpointing in (False, True):
        model = load_trained(SyntaxMBertWithGATForSequenceClassification, **NO_DROPOUT).train()
        if checkpointing:
            checkpoint_activations(model)
        model(**batch, labels=torch.tensor([0, 1])).loss.backward()
        gradients.append({name: weights.grad for name, weights in model.named_parameters() if "attention" in name})
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient)


@pytest.mark.parametrize("options", [{}, RELEASE], ids=["paper", "release"])
def test_the_structure_loss_joins_the_loss(options, load, batch):
    labels = torch.tensor([0, 1])
    options = {**options, **NO_DROPOUT}
    with_loss = load(SyntaxMBertWithGATForSequenceClassification, structure_loss_weight=0.5, **options)
    without = load(SyntaxMBertWithGATForSequenceClassification, **options)
    without.load_state_dict(with_loss.state_dict(), strict=False)
    probed = load(SyntaxMBertWithGATForTreeReconstruction, structure_loss_weight=1.0, **options)
    probed.load_state_dict(with_loss.state_dict(), strict=False)
    expected = without(**batch, labels=labels).loss + 0.5 * probed(**batch).loss
    output = with_loss(**batch, labels=labels)
    torch.testing.assert_close(output.loss, expected)
    torch.testing.assert_close(with_loss(**batch, labels=labels, return_dict=False)[0], expected)
    assert with_loss(**batch).loss is None
    output.loss.backward()
    assert with_loss.structure_probe.distance.grad.abs().sum() > 0
    assert with_loss.bert.graph_attention.upos.grad.abs().sum() > 0


def test_answers_are_scored_with_their_sentences(load, load_trained, batch):
    model = load_trained(SyntaxMBertWithGATForQuestionAnswering)
    bare = load(SyntaxMBertWithGATForQuestionAnswering)
    bare.load_state_dict({k: v for k, v in model.state_dict().items() if "sentences" not in k}, strict=False)
    difference = model(**batch).start_logits - bare(**batch).start_logits
    first, second = (batch["head_positions"][0] == 0).nonzero().flatten()[1:3]  # roots, after the anchor
    (only, _) = (batch["head_positions"][1] == 0).nonzero().flatten()[1:]  # and [SEP]
    torch.testing.assert_close(difference[0, 1:8], difference[0, first].expand(7))  # the cat see ##s the river .
    torch.testing.assert_close(difference[0, 8:11], difference[0, second].expand(3))  # i sleep .
    assert not torch.allclose(difference[0, first], difference[0, second])

    labels = {"start_positions": torch.tensor([1, 2]), "end_positions": torch.tensor([2, 3])}
    output = model(**batch, **labels)
    spans = [functional.cross_entropy(output.start_logits, labels["start_positions"]),
             functional.cross_entropy(output.end_logits, labels["end_positions"])]  # fmt: skip
    scores = [difference[0, [0, first, second]], difference[1, [0, only]]]  # the second is that of the answer
    sentences = [row.logsumexp(0) - row[1] for row in scores]
    torch.testing.assert_close(output.loss, sum(spans) / 2 + sum(sentences) / 2, rtol=1e-5, atol=1e-5)
    assert torch.equal(model(**batch, **labels, return_dict=False)[0], output.loss)


@pytest.mark.parametrize("decoder", ["linear", "crf"])
def test_intents_and_slots(decoder, load, batch):
    model = load(SyntaxMBertWithGATForIntentAndSlots, slot_decoder=decoder, **INTENTS)
    labels = torch.full_like(batch["input_ids"], -100)
    labels[:, 1:4] = torch.tensor([[0, 1, 2], [2, 0, 0]])
    targets = {"labels": labels, "intent_labels": torch.tensor([0, 1])}
    output = model(**batch, **targets)
    slots, intents = model(**batch, labels=labels).loss, model(**batch, intent_labels=targets["intent_labels"]).loss
    torch.testing.assert_close(output.loss, slots + intents)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(60):
        optimizer.zero_grad()
        model(**batch, **targets).loss.backward()
        optimizer.step()
    output = model(**batch, word_mask=(labels >= 0).long())
    assert torch.equal(output.slot_ids[labels >= 0], labels[labels >= 0])
    assert output.intent_logits.argmax(-1).tolist() == [0, 1]
    assert model(**batch).loss is None
    assert model(**batch, return_dict=False)[0].shape == (*labels.shape, 3)


def test_tree_reconstruction_trains_the_graph_attention_alone(load, batch, tmp_path, plain_inputs):
    options = {"structure_loss_weight": 1.0, "max_dependency_distance": 1, **NO_DROPOUT}
    model = load(SyntaxMBertWithGATForTreeReconstruction, **options)
    encoder = {n: w for n, w in model.bert.state_dict().items() if not n.startswith("graph_attention")}
    before = {name: weights.clone() for name, weights in encoder.items()}
    torch.nn.init.normal_(model.bert.graph_attention.upos)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(100):
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]
    assert all(torch.equal(weights, before[name]) for name, weights in encoder.items())
    model.save_pretrained(tmp_path)
    task = SyntaxMBertWithGATForTokenClassification.from_pretrained(tmp_path, structure_loss_weight=0)
    for name, weights in model.bert.graph_attention.named_parameters():
        assert torch.equal(task.bert.graph_attention.get_parameter(name), weights)
    with pytest.raises(ValueError, match="and the columns"):
        model(**plain_inputs(batch))


def test_the_structure_loss_does_not_train_the_word_embeddings(load_trained, batch):
    gradients = []
    for weight in (1.0, 2.0):
        options = {"structure_loss_weight": weight, **NO_DROPOUT}
        model = load_trained(SyntaxMBertWithGATForSequenceClassification, **options)
        model(**batch, labels=torch.tensor([0, 1])).loss.backward()
        gradients.append(model.bert.embeddings.word_embeddings.weight.grad)
    assert torch.equal(*gradients)
    assert model.bert.graph_attention.upos.grad.any()


def test_it_compiles_in_one_graph(load_trained, batch):
    model = load_trained(SyntaxMBertWithGATForSequenceClassification, structure_loss_weight=1.0, **NO_DROPOUT)
    labels = torch.tensor([0, 1])
    expected = model(**batch, labels=labels)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    actual = compiled(**batch, labels=labels)
    torch.testing.assert_close(actual.logits, expected.logits)
    torch.testing.assert_close(actual.loss, expected.loss)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("options", [{}, RELEASE], ids=["paper", "release"])
def test_half_precision_is_finite(options, dtype, load_trained, batch):
    model = load_trained(SyntaxMBertWithGATForSequenceClassification, structure_loss_weight=1.0, **options)
    batch = {name: torch.cat([tensor, tensor[:1] * 0]) for name, tensor in batch.items()}  # and a fully padded row
    labels = torch.tensor([0, 1, 0])
    with torch.autocast("cpu", dtype=dtype):
        output = model(**batch, labels=labels)
    assert output.logits.isfinite().all()
    assert output.loss.isfinite()
    assert model.to(dtype)(**batch, labels=labels).loss.isfinite()


@pytest.mark.parametrize("options", [{}, {"syntax_features": ["upos"], "distance_scaling": "dependency"}], ids=str)
def test_replicas_whose_weights_are_no_parameters(options, load_trained, batch):
    """As `torch.nn.DataParallel` makes them."""
    model = load_trained(SyntaxMBertWithGAT, **options)
    expected = model(**batch).last_hidden_state
    for module in model.modules():
        own = dict(module._parameters)
        module._parameters.clear()
        for name, weights in own.items():
            setattr(module, name, weights.data)
    assert not list(model.parameters())
    assert torch.equal(model(**batch).last_hidden_state, expected)


def test_trees_longer_than_the_model_reads_are_refused(load):
    model = load(SyntaxMBertWithGATForTreeReconstruction, structure_loss_weight=1.0)
    ones = torch.ones(1, 65, dtype=torch.long)
    with pytest.raises(ValueError, match="65 tokens, but the model reads 64 at most"):
        model(input_ids=ones, upos_ids=2 * ones, head_positions=0 * ones)


def test_heads_out_of_range_are_refused(load, batch):
    model = load(SyntaxMBertWithGAT)
    batch["head_positions"][1, 2] = 99
    with pytest.raises(ValueError, match="head_positions of example 1 has 99 at position 2"):
        model(**batch)


def test_attentions_and_hidden_states(load, batch):
    model = load(SyntaxMBertWithGAT, attn_implementation="eager")
    output = model(**batch, output_attentions=True, output_hidden_states=True)
    assert [len(output.attentions), len(output.hidden_states)] == [2, 3]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("num_syntax_heads", 13),
        ("num_syntax_heads", 0),
        ("syntax_layers", [12]),
        ("syntax_layers", []),
        ("syntax_layers", [1, 1]),
        ("graph_attention_features", ["deprel"]),
        ("graph_attention_features", ["upos", "xpos"]),
        ("max_dependency_distance", 0),
        ("graph_attention_layers", -1),
        ("structure_loss_weight", -1.0),
        ("graph_attention_form", "gat"),
        ("syntax_bias", "value"),
        ("slot_decoder", "softmax"),
        ("is_decoder", True),
    ],
)
def test_the_config_checks_its_fields(field, value):
    with pytest.raises(StrictDataclassError, match=field):
        SyntaxMBertConfig(**{field: value})


def test_what_needs_graph_attention_says_so():
    with pytest.raises(StrictDataclassError, match="set graph_attention_layers"):
        SyntaxBertConfig(structure_loss_weight=1.0)
    with pytest.raises(ValueError, match="set structure_loss_weight"):
        SyntaxMBertWithGATForTreeReconstruction(SyntaxMBertConfig())
    with pytest.raises(ValueError, match=r"set config\.intents"):
        SyntaxMBertWithGATForIntentAndSlots(SyntaxMBertConfig())


def test_columns_that_each_configuration_reads():
    assert SyntaxMBertConfig().syntax_columns == ("upos_ids", "head_positions")
    both = SyntaxMBertConfig(syntax_features=["casing"], graph_attention_features=["upos", "deprel"])
    assert both.syntax_columns == ("upos_ids", "casing_ids", "deprel_ids", "head_positions")


def test_a_pipeline_of_another_task_does_not_stay(plain_checkpoint, tmp_path):
    SyntaxBertForQuestionAnswering.from_pretrained(plain_checkpoint).save_pretrained(tmp_path / "answers")
    assert list(SyntaxBertConfig.from_pretrained(tmp_path / "answers").custom_pipelines) == ["question-answering"]
    model = SyntaxMBertWithGATForSequenceClassification
    with pytest.raises(ValueError, match="'syntax-bert' checkpoint"):
        model.from_pretrained(tmp_path / "answers")
    again = syntax_bert.SyntaxBertForSequenceClassification.from_pretrained(tmp_path / "answers")
    again.save_pretrained(tmp_path / "classes")
    assert not getattr(SyntaxBertConfig.from_pretrained(tmp_path / "classes"), "custom_pipelines", {})


def test_a_text_that_is_not_parsed_has_no_sentences(load, load_trained, syntax_tokenizer):
    model = load_trained(SyntaxMBertWithGATForQuestionAnswering)
    bare = load(SyntaxMBertWithGATForQuestionAnswering)
    bare.load_state_dict({k: v for k, v in model.state_dict().items() if "sentences" not in k}, strict=False)
    batch = syntax_tokenizer("Who sleeps?", TEXTS[0], parses_pair=[None], return_tensors="pt")
    difference = (model(**batch).start_logits - bare(**batch).start_logits)[0]
    untagged = batch["upos_ids"][0] == 1
    assert (difference[1:][untagged[1:]] == 0).all()
    assert difference[~untagged].abs().min() > 0


def test_a_sentence_without_slots_keeps_the_loss_of_its_intent(load, batch):
    model = load(SyntaxMBertWithGATForIntentAndSlots, **INTENTS)
    intents = torch.tensor([0, 1])
    unlabelled = torch.full_like(batch["input_ids"], -100)
    expected = model(**batch, intent_labels=intents).loss
    torch.testing.assert_close(model(**batch, intent_labels=intents, labels=unlabelled).loss, expected)


def test_auto_classes_give_the_class_that_was_saved(load, tmp_path):
    model = load(SyntaxMBertWithGATForIntentAndSlots, **INTENTS)
    model.save_pretrained(tmp_path)
    assert type(AutoModelForTokenClassification.from_pretrained(tmp_path)) is type(model)
    assert type(AutoModelForTokenClassification.from_pretrained(tmp_path, trust_remote_code=True)) is type(model)
    assert type(AutoModel.from_pretrained(tmp_path)) is SyntaxMBertWithGAT
