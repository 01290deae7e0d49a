import json
import shutil

import pytest
import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors.torch import load_file
from transformers import BertModel, Trainer

from syntax_bert import (
    SyntaxMBertConfig,
    SyntaxMBertWithGATForSequenceClassification,
    SyntaxMBertWithGATForTokenClassification,
    SyntaxTokenizerFast,
    cli,
)


def sentence(subject, verb, thing):
    words = [("The", "DET", 2, "det"), (subject, "NOUN", 3, "nsubj"), (verb, "VERB", 0, "root"),
             ("a", "DET", 5, "det"), (thing, "NOUN", 3, "obj"), (".", "PUNCT", 3, "punct")]  # fmt: skip
    rows = [
        f"{i}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t_"
        for i, (form, upos, head, deprel) in enumerate(words, start=1)
    ]
    return "\n".join([f"# text = {' '.join(word[0] for word in words)}", *rows]) + "\n\n"


@pytest.fixture
def treebank(tmp_path):
    """Twelve sentences."""
    nouns = ("cat", "dog", "river")
    path = tmp_path / "twelve.conllu"
    path.write_text("".join(sentence(a, verb, b) for verb in ("sees", "see") for a in nouns for b in nouns[:2]))
    return str(path)


@pytest.fixture
def pretrain(plain_checkpoint, treebank, tmp_path):
    """Runs the command in this process."""

    def run(**settings):
        defaults = {
            "model": plain_checkpoint, "treebanks": treebank, "heldout": treebank, "output_dir": tmp_path / "out",
            "num_train_epochs": 2, "per_device_train_batch_size": 4, "learning_rate": 1e-3, "max_seq_length": 16,
            "save_strategy": "no", "use_cpu": True, "disable_tqdm": True, "report_to": "none",
        }  # fmt: skip
        values = {
            name: value if isinstance(value, list) else [value] for name, value in {**defaults, **settings}.items()
        }
        arguments = [argument for name, own in values.items() for argument in (f"--{name}", *map(str, own))]
        cli.main(["pretrain-gat", *arguments])
        return json.loads((tmp_path / "out" / "tree_scores.json").read_text())

    return run


def test_pretraining(pretrain, plain_checkpoint, tmp_path, capsys):
    scores = pretrain(num_train_epochs=60, learning_rate=1e-2, max_dependency_distance=1)
    assert list(scores) == ["untrained", "trained"]
    assert scores["trained"]["sentences"] == 12
    assert scores["trained"]["distance_spearman"] > scores["untrained"]["distance_spearman"] + 0.1
    assert json.dumps(scores, indent=1) in capsys.readouterr().out
    trained = load_file(tmp_path / "out" / "model.safetensors")
    model = SyntaxMBertWithGATForTokenClassification.from_pretrained(tmp_path / "out", structure_loss_weight=0.0)
    attention = {name: weights for name, weights in model.state_dict().items() if "graph_attention" in name}
    assert len(attention) == 9
    assert all(torch.equal(weights, trained[name]) for name, weights in attention.items())

    plain = load_file(f"{plain_checkpoint}/model.safetensors")  # the encoder is not trained
    encoder = {name: weights for name, weights in plain.items() if name.startswith("bert.")}
    assert all(torch.equal(weights, trained[name]) for name, weights in encoder.items())
    config = SyntaxMBertConfig.from_pretrained(tmp_path / "out")
    assert (config.hidden_dropout_prob, config.attention_probs_dropout_prob) == (0.1, 0.1)
    assert config.structure_loss_weight == 1.0
    columns = SyntaxTokenizerFast.from_pretrained(tmp_path / "out").syntax_columns
    assert columns == ("upos_ids", "head_positions")  # those of the task models, without what only the measures need


def test_the_pooler_of_a_checkpoint_stays(pretrain, plain_checkpoint, tmp_path):
    """Task models read it."""
    encoder = BertModel.from_pretrained(plain_checkpoint)
    encoder.save_pretrained(tmp_path / "encoder")
    SyntaxTokenizerFast.from_pretrained(plain_checkpoint).save_pretrained(tmp_path / "encoder")
    pretrain(model=tmp_path / "encoder", control=False)
    task_model = SyntaxMBertWithGATForSequenceClassification.from_pretrained(tmp_path / "out")
    assert torch.equal(task_model.bert.pooler.dense.weight, encoder.pooler.dense.weight)


def test_the_untrained_network_is_the_control(pretrain, monkeypatch):
    """Only its probe is trained, from the same start."""
    made = []
    train = Trainer.train

    def noted(self, *args, **kwargs):
        made.append((self.model, {name: weights.clone() for name, weights in self.model.state_dict().items()}))
        return train(self, *args, **kwargs)

    monkeypatch.setattr(Trainer, "train", noted)
    pretrain()
    (untrained, before), (trained, start) = made
    assert all(torch.equal(before[name], start[name]) for name in before)
    changed = [
        {name for name, weights in model.state_dict().items() if not torch.equal(weights, start[name])}
        for model in (untrained, trained)
    ]
    assert {name.partition(".")[0] for name in changed[0]} == {"structure_probe"}
    assert {"bert.graph_attention.upos", "structure_probe.distance"} <= changed[1]
    assert not any("embeddings" in name or "encoder" in name for name in changed[1])


def test_a_trained_network_is_no_control(pretrain, tmp_path):
    pretrain(control=False)
    with pytest.raises(SystemExit, match="is trained, and no control: add --control False"):
        pretrain(model=tmp_path / "out", output_dir=tmp_path / "again")
    options = {
        "graph_attention_features": ["upos", "deprel"],
        "learning_rate": 1e-12,
    }  # UPOS is trained, the relations are new
    with pytest.raises(SystemExit, match="is trained, and no control"):
        pretrain(model=tmp_path / "out", output_dir=tmp_path / "again", **options)
    pretrain(model=tmp_path / "out", output_dir=tmp_path / "again", control=False, **options)
    before, after = (load_file(tmp_path / name / "model.safetensors") for name in ("out", "again"))
    for name in ("bert.graph_attention.upos", "bert.graph_attention.layers.0.projection"):
        torch.testing.assert_close(after[name], before[name])


def test_options_of_the_network(pretrain, tmp_path):
    options = {"graph_attention_layers": 2, "graph_attention_form": "additive", "structure_loss_weight": 0.5}
    scores = pretrain(**options, graph_attention_features="upos", control=False)
    assert list(scores) == ["trained"]
    config = SyntaxMBertConfig.from_pretrained(tmp_path / "out")
    assert {name: getattr(config, name) for name in options} == options


def test_a_run_goes_on_from_its_checkpoint(pretrain, tmp_path):
    """The control trains anew, and leaves no checkpoints."""
    whole = pretrain(save_strategy="epoch", num_train_epochs=2)
    shutil.move(tmp_path / "out" / "checkpoint-3", tmp_path / "middle")
    shutil.rmtree(tmp_path / "out")
    assert pretrain(num_train_epochs=2, resume_from_checkpoint=tmp_path / "middle") == whole
    assert not list((tmp_path / "out").glob("checkpoint-*"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"treebanks": "nothing.conllu"}, r"nothing\.conllu"),
        ({"max_seq_length": 65}, "must be 3 to the model's 64 positions, got 65"),
        ({"graph_attention_layers": 0}, "structure_loss_weight needs graph attention"),
        ({"structure_loss_weight": 0}, "set structure_loss_weight"),
    ],
)
def test_bad_settings(pretrain, settings, message):
    with pytest.raises((SystemExit, StrictDataclassError), match=message):
        pretrain(**settings)


@pytest.mark.parametrize(("arguments", "status"), [([], 2), (["train-gat"], 2), (["--help"], 0), (["-h"], 0)])
def test_usage(arguments, status, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == status
    printed = capsys.readouterr()
    text = printed.err if status else printed.out
    assert text.startswith("usage: syntax-bert COMMAND")
    assert "pretrain-gat" in text
    if arguments == ["train-gat"]:
        assert "'train-gat'" in text
