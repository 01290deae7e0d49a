import json
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from safetensors.torch import load_file
from transformers import BertForMaskedLM, Trainer

from syntax_bert import (
    SyntaxBertConfig,
    SyntaxBertForSequenceClassification,
    SyntaxTokenizerFast,
    UDPipeParser,
    parser_path,
)
from syntax_bert.arguments import SyntaxArguments
from syntax_bert.data.conllu import write_conllu

SENTENCES = [
    "The cat sleeps.",
    "A dog is unhappy.",
    "Who sees the river?",
    "We see a cat.",
    "You don't see the dogs.",
    "The rivers are sleeping.",
    "I see you, cat.",
    "The dog that sees the cat sleeps.",
]
DEFAULTS = {
    "num_train_epochs": 1,
    "per_device_train_batch_size": 4,
    "learning_rate": 1e-3,
    "save_strategy": "no",
    "max_seq_length": 16,
    "use_cpu": True,
    "disable_tqdm": True,
}
pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def main(load_script):
    return load_script("run_glue_syntax").main


def classified(labels=("bad", "good")):
    return [{"text": text, "label": labels[i % len(labels)]} for i, text in enumerate(SENTENCES)]


@pytest.fixture
def files(write):
    """Own data of three splits, as arguments."""
    train, test = classified(), [{"text": text} for text in SENTENCES[:3]]
    made = {"train": train, "validation": train[:4], "test": test}
    return {f"{split}_file": write(f"{split}.jsonl", rows) for split, rows in made.items()}


def training_files(files):
    return {name: files[name] for name in ("train_file", "validation_file")}


@pytest.fixture
def run(main, as_arguments, plain_checkpoint, tmp_path):
    """Runs the script in this process, with small settings."""

    def run_script(output="out", **settings):
        paths = {"model_name_or_path": plain_checkpoint, "output_dir": tmp_path / output}
        return main(as_arguments({**paths, **DEFAULTS, **settings}))

    return run_script


def test_a_run_is_published_once_with_its_card(run, files, tmp_path, monkeypatch):
    published = []
    monkeypatch.setattr("syntax_bert.experiments.publish", lambda *given: published.append(given))
    options = {**training_files(files), "push_to_hub": True, "hub_model_id": "user/name"}
    run(**options, save_strategy="epoch", hub_private_repo=True, hub_token="hf_of_this_test")
    assert published == [(tmp_path / "out", "user/name", True, "hf_of_this_test")]
    assert "| train (validation) | accuracy |" in (tmp_path / "out" / "README.md").read_text()
    with pytest.raises(ValueError, match="--push_to_hub publishes the model that is trained and saved"):
        run("unsaved", **options)
    with pytest.raises(ValueError, match="--push_to_hub is for one run"):
        run("several", **options, save_strategy="epoch", seeds=[1, 2])


def test_cards_of_several_seeds_give_the_deviation(run, files, tmp_path):
    run(**training_files(files), save_strategy="epoch", seeds=[1, 2])
    card = (tmp_path / "out" / "upos" / "seed-1" / "README.md").read_text()
    assert "2 seeds, mean ± standard deviation" in card
    assert " ± " in card.partition("| train (validation) | accuracy |")[2].partition("\n")[0]


def checkpoint_features(folder):
    config = SyntaxBertConfig.from_pretrained(folder)
    return list(config.syntax_features), list(SyntaxTokenizerFast.from_pretrained(folder).syntax_columns)


@pytest.mark.parametrize(
    ("features", "system", "columns"),
    [
        (None, "upos", ["upos_ids"]),
        (["none"], "plain", []),
        (["deprel", "casing"], "casing+deprel", ["casing_ids", "deprel_ids"]),
    ],
)
def test_train_and_evaluate(run, files, tmp_path, features, system, columns, saved_run):
    scores = run(
        **training_files(files),
        syntax_features=features,
        save_strategy="epoch",
        seed=7,
    )
    result = saved_run(tmp_path / "out", f"train-{system}-0.001-seed7.json")
    assert scores == {system: {7: result["metrics"]["eval_accuracy"]}}
    assert (result["task"], result["system"], result["train_batch_size"]) == ("train", system, 4)
    assert list(result.get("parser", [])) == (["english-ewt.udpipe"] if columns else [])
    assert result["versions"]["transformers"] == transformers.__version__
    saved_features, saved_columns = checkpoint_features(tmp_path / "out")
    assert "+".join(sorted(saved_features)) == system.replace("plain", "")
    assert saved_columns == columns
    model = SyntaxBertForSequenceClassification.from_pretrained(tmp_path / "out")
    assert model.config.id2label == {0: "bad", 1: "good"}
    assert (tmp_path / "out" / "english-ewt.udpipe").exists() == bool(columns)
    for feature in checkpoint_features(tmp_path / "out")[0]:
        assert model.bert.syntax_embeddings.get_parameter(feature).abs().sum() > 0
    assert not (tmp_path / "out" / "comparison.md").exists()


def test_plain_system_is_plain_bert(run, files, plain_checkpoint, tmp_path, no_parses):
    run(train_file=files["train_file"], syntax_features=["none"], save_strategy="epoch")
    names = load_file(tmp_path / "out" / "model.safetensors").keys()
    plain = load_file(Path(plain_checkpoint) / "model.safetensors").keys()
    assert {name for name in names if "classifier" not in name and "pooler" not in name} == {
        name for name in plain if not name.startswith("cls.")
    }


def test_json_config_file(main, files, plain_checkpoint, tmp_path, saved_run):
    settings = {
        "model_name_or_path": plain_checkpoint,
        **training_files(files),
        "output_dir": str(tmp_path / "out"),
        "syntax_features": ["upos", "casing"],
        "seeds": [3],
        "max_seq_length": 16,
        "max_steps": 1,
        "eval_strategy": "epoch",
        "save_strategy": "no",
        "use_cpu": True,
        "disable_tqdm": True,
    }
    (tmp_path / "config.json").write_text(json.dumps(settings))
    assert main([str(tmp_path / "config.json")]).keys() == {"upos+casing"}
    assert "train_loss" in saved_run(tmp_path / "out", "train-upos+casing-5e-05-seed3.json")["metrics"]
    (tmp_path / "config.json").write_text(json.dumps({**settings, "text_columns": ["text", "text_pair"]}))
    with pytest.raises(ValueError, match=r"train\.jsonl has no column 'text_pair'"):
        main([str(tmp_path / "config.json")])
    (tmp_path / "config.json").write_text(json.dumps({**settings, "text_columns": "text"}))
    with pytest.raises(ValueError, match="text_columns must be list"):
        main([str(tmp_path / "config.json")])
    (tmp_path / "config.json").write_text(json.dumps({**settings, "sintax_features": ["upos"]}))
    with pytest.raises(ValueError, match="sintax_features"):
        main([str(tmp_path / "config.json")])


def test_scores_of_pairs(run, tmp_path, saved_run, write):
    pairs = [
        {"sentence1": first, "sentence2": second, "label": number / 2}
        for number, (first, second) in enumerate(pairwise(SENTENCES))
    ]
    train = write("train.jsonl", pairs)
    scores = run(task_name="stsb", train_file=train, validation_file=train, test_file=train,
                 save_strategy="epoch")  # fmt: skip
    result = saved_run(tmp_path / "out", "stsb-upos-0.001-seed42.json")["metrics"]
    assert scores == {"upos": {42: result["eval_pearson"]}}
    assert "eval_spearmanr" in result
    config = SyntaxBertConfig.from_pretrained(tmp_path / "out")
    assert (config.num_labels, config.problem_type) == (1, "regression")
    index, *values = (line.split("\t")[1] for line in (tmp_path / "out" / "STS-B.tsv").read_text().splitlines())
    assert (index, len(values)) == ("prediction", len(pairs))
    assert all(0 <= float(value) <= 5 for value in values)


def test_a_scoring_checkpoint_learns_to_classify(run, files, tmp_path, write):
    """Neither the head nor the problem type of an earlier fine-tuning stays."""
    scored = write("scored.jsonl", [{"text": text, "label": i / 4} for i, text in enumerate(SENTENCES)])
    run(train_file=scored, syntax_features=["none"], save_strategy="epoch")
    assert SyntaxBertConfig.from_pretrained(tmp_path / "out").problem_type == "regression"
    run("again", model_name_or_path=tmp_path / "out", train_file=files["train_file"], save_strategy="epoch")
    config = SyntaxBertConfig.from_pretrained(tmp_path / "again")
    assert (config.problem_type, config.num_labels) == ("single_label_classification", 2)
    assert load_file(tmp_path / "again" / "model.safetensors")["classifier.weight"].shape == (2, 32)


def test_mnli_has_two_validation_and_test_files(run, tmp_path, saved_run, write):
    names = ["entailment", "neutral", "contradiction"]
    rows = [{"premise": t, "hypothesis": "A cat.", "label": names[i % 3], "idx": i} for i, t in enumerate(SENTENCES)]
    splits = {"train": rows, "validation": rows[:3], "validation_mismatched": rows[3:],
              "test": rows[:2], "test_mismatched": rows[2:5]}  # fmt: skip
    files = {f"{split}_file": write(f"{split}.jsonl", content) for split, content in splits.items()}
    scores = run(task_name="mnli", **files, do_train=True, do_eval=True, do_predict=True)
    result = saved_run(tmp_path / "out", "mnli-upos-0.001-seed42.json")["metrics"]
    assert scores["upos"][42] == result["eval_accuracy"]
    assert "eval_mismatched_accuracy" in result
    for file, count in (("MNLI-m.tsv", 2), ("MNLI-mm.tsv", 3)):
        lines = (tmp_path / "out" / file).read_text().splitlines()
        assert len(lines) == count + 1
        assert {line.split("\t")[1] for line in lines[1:]} <= set(names)
    assert lines[1].startswith("2\t")  # idx, not the row


def test_comparison(run, files, tmp_path, capsys, monkeypatch):
    settings = {
        **training_files(files),
        "compare_baseline": True,
        "seeds": [1, 2],
        "max_steps": 1,
        "results_dir": tmp_path / "results",
    }
    scores = run(**settings)
    assert {system: list(by_seed) for system, by_seed in scores.items()} == {"plain": [1, 2], "upos": [1, 2]}
    table = (tmp_path / "out" / "comparison.md").read_text()
    assert table in capsys.readouterr().out
    assert [line.split(" | ")[0] for line in table.splitlines()[2:]] == ["| plain", "| upos"]
    rows = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert [(row["system"], row["num_seeds"]) for row in rows] == [("plain", 2), ("upos", 2)]
    assert (tmp_path / "out" / "seeds.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == [
        f"train-{system}-0.001-seed{seed}.json" for system in ("plain", "upos") for seed in (1, 2)
    ]

    monkeypatch.setattr(Trainer, "train", None)
    (tmp_path / "out" / "comparison.md").unlink()
    assert run(**settings) == scores
    assert (tmp_path / "out" / "comparison.md").read_text() == table
    assert table in capsys.readouterr().out
    for other in (
        {"max_steps": 2},
        {"syntax_dropout": 0.5},
        {"warmup_steps": 0.5},
        {"max_seq_length": 8},
        {"data_seed": 3},
        {"lr_scheduler_kwargs": '{"num_cycles": 2}'},
    ):
        with pytest.raises(ValueError, match=rf"seed1\.json is a run with other settings .*{next(iter(other))}"):
            run(**{**settings, **other})


def test_several_seeds_without_validation(run, files, tmp_path):
    assert run(train_file=files["train_file"], seeds=[1, 2], max_steps=1, save_strategy="epoch") == {}
    weights = [load_file(tmp_path / "out" / "upos" / f"seed-{seed}" / "model.safetensors") for seed in (1, 2)]
    assert not torch.equal(weights[0]["classifier.weight"], weights[1]["classifier.weight"])
    assert len(list((tmp_path / "out" / "results").iterdir())) == 2
    assert not (tmp_path / "out" / "comparison.md").exists()


def test_a_trained_checkpoint_predicts_and_evaluates_alone(run, files, tmp_path, saved_run):
    """With its own labels and the parser that it carries."""
    own = tmp_path / "own.udpipe"
    own.write_bytes(Path(parser_path("en")).read_bytes())
    run(**files, parser=own, parser_beam_size=1, save_strategy="epoch")
    first = (tmp_path / "out" / "test.tsv").read_text()
    assert first.splitlines()[0] == "index\tprediction"
    assert {line.split("\t")[1] for line in first.splitlines()[1:]} <= {"bad", "good"}

    trained = tmp_path / "out"
    assert (trained / "own.udpipe").exists()
    loaded = SyntaxArguments(str(trained)).load_tokenizer(["upos_ids"])
    assert (Path(loaded.parser.paths[None]), loaded.parser.beam_size) == (trained / "own.udpipe", 1)
    assert run("again", model_name_or_path=trained, test_file=files["test_file"], do_predict=True) == {}
    assert (tmp_path / "again" / "test.tsv").read_text() == first
    run("default", model_name_or_path=trained, test_file=files["test_file"])
    assert (tmp_path / "default" / "test.tsv").read_text() == first
    assert not (tmp_path / "again" / "results").exists()
    (trained / "test.tsv").unlink()
    run(model_name_or_path=trained, test_file=files["test_file"], do_predict=True)  # over the training's folder
    assert (trained / "test.tsv").read_text() == first
    scores = run("more", model_name_or_path=trained, validation_file=files["validation_file"], do_eval=True)
    metrics = saved_run(trained, "train-upos-0.001-seed42.json")["metrics"]
    assert scores == {"upos": {42: metrics["eval_accuracy"]}}


@pytest.mark.parametrize("killed_while_saving", [False, True])
def test_interrupted_training_ends_with_the_same_weights(
    run, interrupted, files, tmp_path, monkeypatch, killed_while_saving
):
    settings = {
        "train_file": files["train_file"],
        "num_train_epochs": 2,
        "save_strategy": "epoch",
        "syntax_dropout": 0.3,
    }
    run("whole", **settings)

    with interrupted():
        run("broken", **settings)
    assert (tmp_path / "broken" / "checkpoint-2").is_dir()
    assert not (tmp_path / "broken" / "model.safetensors").exists()
    if killed_while_saving:
        (tmp_path / "broken" / "checkpoint-3").mkdir()
        (tmp_path / "broken" / "checkpoint-3" / "model.safetensors").write_bytes(b"half")
    with pytest.raises(ValueError, match=r"run\.json is a run with other settings .*learning_rate"):
        run("broken", **settings | {"learning_rate": 1e-4})

    steps = []
    step = Trainer.training_step
    monkeypatch.setattr(Trainer, "training_step", lambda self, *args: steps.append(args) or step(self, *args))
    run("broken", **settings)
    assert len(steps) == 2  # of 4
    whole, resumed = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "broken"))
    assert whole.keys() == resumed.keys()
    for name, weights in whole.items():
        torch.testing.assert_close(resumed[name], weights, rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def launched(launch, as_arguments, plain_checkpoint, tmp_path_factory):
    """Trains in two processes; gives the folder, the arguments and what was printed."""
    folder = tmp_path_factory.mktemp("launched")
    train = folder / "train.jsonl"
    train.write_text("".join(json.dumps(row) + "\n" for row in classified()))
    settings = {"train_file": train, "validation_file": train, "compare_baseline": True, "max_steps": 1}
    paths = {"model_name_or_path": plain_checkpoint, "output_dir": folder / "out"}
    return folder, settings, launch("run_glue_syntax", as_arguments({**paths, **DEFAULTS, **settings}), folder)


def test_two_processes(launched, saved_run):
    folder, _, printed = launched
    assert printed.count("| system | seeds |") == 1
    assert sorted(path.name for path in (folder / "out" / "results").iterdir()) == [
        "train-plain-0.001-seed42.json",
        "train-upos-0.001-seed42.json",
    ]
    result = saved_run(folder / "out", "train-upos-0.001-seed42.json")
    assert result["train_batch_size"] == 8  # 2 × 4


@pytest.mark.usefixtures("no_parses")
def test_another_process_makes_no_parses(run, launched, monkeypatch):
    folder, settings, _ = launched
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(folder / "cache"))
    settings = {**settings, "compare_baseline": None}
    run(**settings)
    run("workers", **settings, parse_workers=2)
    with pytest.raises(AssertionError, match="a text is parsed"):
        run("other", **settings, syntax_features=["deprel"])


def test_parse_workers_give_the_same(run, files, tmp_path, monkeypatch, saved_run):
    losses = []
    for workers in (1, 2):
        monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / f"cache{workers}"))
        run(f"by{workers}", **training_files(files), max_steps=1, parse_workers=workers)
        losses.append(saved_run(tmp_path / f"by{workers}", "train-upos-0.001-seed42.json")["metrics"]["eval_loss"])
        assert len(list((tmp_path / f"cache{workers}").rglob("*_of_00002.arrow"))) == (4 if workers == 2 else 0)
    assert losses[0] == losses[1]


@pytest.mark.parametrize("what", ["data", "schedule", "model"])
def test_a_result_of_other_data_or_settings_is_not_reused(run, files, plain_checkpoint, tmp_path, what, write):
    run(**training_files(files), max_steps=1)
    if what == "data":
        shutil.copy(write("fewer.jsonl", classified()[:6]), files["train_file"])
        options = {}
    elif what == "schedule":
        options = {"lr_scheduler_type": "constant"}
    else:
        other = tmp_path / "other" / Path(plain_checkpoint).name
        shutil.copytree(plain_checkpoint, other)
        BertForMaskedLM.from_pretrained(plain_checkpoint, num_hidden_layers=1).save_pretrained(other)
        options = {"model_name_or_path": str(other)}
    with pytest.raises(ValueError, match="is a run with other settings"):
        run(**training_files(files), max_steps=1, **options)


def test_a_finished_run_may_get_test_data_but_no_evaluation(run, files, tmp_path, caplog):
    settings = {**training_files(files), "max_steps": 1, "do_train": True}
    run(**settings)
    run(**settings, test_file=files["test_file"], do_predict=True)
    assert "no predictions are made; for them, --do_predict alone" in caplog.text
    with pytest.raises(
        ValueError, match=r"seed42\.json is of a run without evaluation: choose another folder, or eval"
    ):
        run(**settings, do_eval=True)


def test_several_runs_cannot_resume_from_one_checkpoint(run, files, tmp_path):
    with pytest.raises(ValueError, match="omit --resume_from_checkpoint"):
        run(**training_files(files), seeds=[1, 2], resume_from_checkpoint=tmp_path)


def test_conllu_parser(run, files, tmp_path, monkeypatch, saved_run, write):
    write_conllu(tmp_path / "own.conllu", UDPipeParser(parser_path("en")).parse(SENTENCES))
    run("udpipe", **training_files(files), max_steps=1)
    monkeypatch.setattr(UDPipeParser, "parse", None)
    run("conllu", **training_files(files), max_steps=1, parser=tmp_path / "own.conllu")
    first, second = (saved_run(tmp_path / name, "train-upos-0.001-seed42.json") for name in ("udpipe", "conllu"))
    assert [*first["parser"], *second["parser"]] == ["english-ewt.udpipe", "own.conllu"]
    assert first["metrics"]["eval_loss"] == second["metrics"]["eval_loss"]
    strange = write("strange.jsonl", [*classified(), {"text": "Who is that dog?", "label": "bad"}])
    with pytest.raises(ValueError, match=r"(?s)1 of 9 texts among the 8 .*own\.conllu.*'Who is that dog\?'"):
        run(train_file=strange, parser=tmp_path / "own.conllu")
    run("conllu", **training_files(files), parser=tmp_path / "own.conllu", learning_rate=1e-4, save_strategy="epoch")
    carries_none = {"model_name_or_path": tmp_path / "conllu", "validation_file": files["validation_file"]}
    with pytest.raises(ValueError, match=r"conllu carries no parser: name one by --parser"):
        run("more", **carries_none)
    run("more", **carries_none, parser=tmp_path / "own.conllu")


@pytest.mark.parametrize(
    ("parser", "message"),
    [
        ("xx", r"no embedded parser for 'xx', only for \['en'\]"),
        ("nothing.udpipe", r"there is no parser file '.*nothing\.udpipe'"),
        ("nothing.conllu", r"there is no CoNLL-U file '.*nothing\.conllu'"),
        ("random.udpipe", r"random\.udpipe' is not a UDPipe model, or it is damaged"),
        ("cut.udpipe", r"cut\.udpipe' is not a UDPipe model, or it is damaged"),
        ("empty.udpipe", r"empty\.udpipe' is not a UDPipe model, or it is damaged"),
        ("broken.conllu", r"broken\.conllu:2: sentence 1, word 1 'The'"),
    ],
)
def test_bad_parsers(run, files, parser, message):
    Path("random.udpipe").write_bytes(bytes(i * i % 251 for i in range(5000)))
    Path("cut.udpipe").write_bytes(Path(parser_path("en")).read_bytes()[:1_000_000])
    Path("empty.udpipe").touch()
    Path("broken.conllu").write_text("# text = The cat sleeps.\n1\tThe\tthe\n\n")
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        run(**training_files(files), parser=parser, parse_workers=1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"do_train": True}, "--do_train needs --train_file"),
        ({"do_eval": True}, "--do_eval needs --validation_file"),
        ({"task_name": "cola", "do_predict": True, "test_file": None, "validation_file": "test.jsonl"},
         "--do_predict needs --test_file"),
        ({"train_file": "train.jsonl", "compare_baseline": True}, "needs validation data and --do_eval"),
        ({"train_file": "train.jsonl", "syntax_features": ["upos", "pos"]}, r"got \('upos', 'pos'\)"),
        ({"train_file": "train.jsonl", "task_name": "cola"}, r"train\.jsonl has no column 'sentence'"),
        ({"test_file": None}, "give --task_name, or --train_file"),
        ({"max_seq_length": 65}, "must be 3 to the model's 64 positions, got 65"),
        ({"max_seq_length": 2}, "got 2"),
        ({"train_file": "train.jsonl", "test_file": None, "text_columns": ["label"]}, "the label column 'label' cannot be a text column"),
        ({"validation_file": "cola.jsonl", "test_file": None, "task_name": "cola"}, "no trained classifier: add --do_"),
        ({"train_file": "train.jsonl", "do_predict": True}, "has no trained classifier: add --do_train"),
        ({"validation_file": "train.jsonl", "do_eval": True}, "has no trained classifier: add --do_train"),
    ],
)  # fmt: skip
def test_bad_settings(run, files, settings, message, write):
    write("cola.jsonl", [{"sentence": row["text"], "label": i % 2} for i, row in enumerate(classified())])
    with pytest.raises((ValueError, StrictDataclassError), match=message):
        run(**{"test_file": "test.jsonl", **settings})


def test_a_checkpoint_that_only_claims_to_have_a_classifier(run, files, plain_checkpoint, tmp_path):
    shutil.copytree(plain_checkpoint, tmp_path / "claims")
    config = json.loads((tmp_path / "claims" / "config.json").read_text())
    config |= {"architectures": ["BertForSequenceClassification"], "id2label": {0: "bad", 1: "good"}}
    (tmp_path / "claims" / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="claims has no trained classifier: add --do_train"):
        run(model_name_or_path=tmp_path / "claims", test_file=files["test_file"])


def test_labels_of_a_trained_checkpoint_and_of_other_data(run, files, tmp_path, write):
    three = write("three.jsonl", classified(("bad", "good", "fair")))
    run(train_file=files["train_file"], syntax_features=["none"], max_steps=1, save_strategy="epoch")
    with pytest.raises(ValueError, match=r"three\.jsonl, example 3: the label 'fair' is not one of \['bad', 'good'\]"):
        run("again", model_name_or_path=tmp_path / "out", validation_file=three, do_eval=True)


def test_other_text_columns_are_another_run(run, tmp_path, write):
    rows = [{"first": text, "second": "A cat.", "label": i % 2} for i, text in enumerate(SENTENCES)]
    train = write("train.jsonl", rows)
    run(train_file=train, text_columns=["first"], max_steps=1)
    with pytest.raises(ValueError, match="is a run with other settings .*text_columns"):
        run(train_file=train, text_columns=["first", "second"], max_steps=1)


def test_checkpoints_of_an_unknown_run_are_not_resumed(run, files, tmp_path):
    settings = {"train_file": files["train_file"], "save_strategy": "epoch", "results_dir": tmp_path / "results"}
    run(**settings)
    (tmp_path / "out" / "run.json").unlink()
    shutil.rmtree(tmp_path / "results")
    with pytest.raises(ValueError, match=r"checkpoints of another run \(no run\.json\)"):
        run(**settings)
    run(**settings, resume_from_checkpoint=tmp_path / "out" / "checkpoint-2")


@pytest.mark.parametrize("content", ["{", "[1]", '{"metrics": 3}'])
def test_a_damaged_result_is_named(run, files, tmp_path, content):
    (tmp_path / "out" / "results").mkdir(parents=True)
    (tmp_path / "out" / "results" / "train-upos-0.001-seed42.json").write_text(content)
    with pytest.raises(ValueError, match=r"seed42\.json is damaged, remove it"):
        run(train_file=files["train_file"])


def test_one_row_is_left_of_a_small_fraction(run, files, tmp_path, saved_run):
    run(train_file=files["train_file"], train_fraction=0.01)
    assert saved_run(tmp_path / "out", "train-upos-0.001-seed42.json")["train_fraction"] == 0.01


def test_changed_code_parses_anew(run, files, monkeypatch):
    run(train_file=files["train_file"], max_steps=1)
    monkeypatch.setattr(UDPipeParser, "parse", None)
    run("again", train_file=files["train_file"], max_steps=1)
    monkeypatch.setattr("syntax_bert.encoding.code_digest", lambda: "other")
    with pytest.raises(TypeError):
        run("changed", train_file=files["train_file"], max_steps=1)
