import json
import shutil
from pathlib import Path

import pytest
import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors.torch import load_file
from transformers import BertForMaskedLM, Trainer
from xtreme_sentences import DATA, SENTENCES, intents, questions

from syntax_bert import (
    SyntaxBertConfig,
    SyntaxMBertConfig,
    SyntaxMBertWithGATForQuestionAnswering,
    SyntaxTokenizerFast,
    UDPipeParser,
    parser_path,
)

DEFAULTS = {
    "eval_languages": ["en", "de"],
    "per_device_train_batch_size": 4,
    "per_device_eval_batch_size": 2,
    "learning_rate": 1e-3,
    "max_steps": 1,
    "save_strategy": "no",
    "max_seq_length": 24,
    "use_cpu": True,
    "disable_tqdm": True,
}
pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def main(load_script):
    return load_script("run_xtreme_syntax").main


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory):
    """Training data in English, test data in English, German and Swahili, all the same sentences."""
    folder = tmp_path_factory.mktemp("data")
    for task, (name, write) in DATA.items():
        (folder / task).mkdir()
        for split, language in (("train", "en"), ("dev", "en"), ("test", "en"), ("test", "de"), ("test", "sw")):
            (folder / task / name.format(split=split, language=language)).write_text(write(SENTENCES))
    return folder


@pytest.fixture(scope="session")
def german_parser(tmp_path_factory):
    """The English parser under another name."""
    return shutil.copy(parser_path("en"), tmp_path_factory.mktemp("parsers") / "german.udpipe")


@pytest.fixture
def run(main, as_arguments, plain_checkpoint, data_dir, german_parser, tmp_path):
    """Runs the script in this process, with small settings."""

    def run_script(task_name="panx", output="out", **settings):
        paths = {"model_name_or_path": plain_checkpoint, "output_dir": tmp_path / output, "data_dir": data_dir}
        task = {"task_name": task_name, "parsers": ["en", f"de={german_parser}"]}
        return main(as_arguments({**paths, **task, **DEFAULTS, **settings}))

    return run_script


def predictions(folder, task_name="panx"):
    return {path.name: path.read_text() for path in sorted((folder / "predictions" / task_name).iterdir())}


@pytest.mark.parametrize(
    ("task_name", "options", "metric", "languages"),
    [
        ("pawsx", {}, "accuracy", ["en", "de"]),
        ("pawsx", {"generalized": True, "train_split_fraction": 0.5}, "accuracy", ["en", "de", "en-de", "de-en"]),
        ("panx", {}, "f1", ["en", "de"]),
        ("conll", {}, "f1", ["en", "de"]),
        ("conll", {"label_column": 1}, "f1", ["en", "de"]),
        ("udpos", {"max_seq_length": 4}, "f1", ["en", "de"]),
        ("xquad", {"train_split_fraction": 0.5, "max_seq_length": 12}, "f1", ["en", "de"]),
        ("xquad", {"train_split_fraction": 0.5, "generalized": True}, "f1", ["en", "de", "en-de", "de-en"]),
        ("xsid", {}, "exact_match", ["en", "de"]),
        ("xsid", {"slot_decoder": "crf", "max_train_samples": 3, "max_eval_samples": 2}, "exact_match", ["en", "de"]),
    ],
)
def test_each_task(run, tmp_path, task_name, options, metric, languages):
    scores = run(task_name, **options)
    (file,) = (tmp_path / "out" / "results").iterdir()
    result = json.loads(file.read_text())
    system = "gat+sentences" if task_name == "xquad" else "gat"
    assert file.name == f"{task_name}-{system}-0.001-seed42.json"
    assert (result["task"], result["graph_attention_layers"], list(result["parser"])) == (task_name, 4, ["en", "de"])
    metrics = result["metrics"]
    assert scores == {system: {42: metrics[f"eval_mean_{metric}"]}}
    assert metrics[f"eval_mean_{metric}"] == sum(metrics[f"eval_{key}_{metric}"] for key in languages) / len(languages)
    assert metrics["train_loss"] > 0
    header, _, line = (tmp_path / "out" / "tables" / metric / "languages.md").read_text().splitlines()
    assert header == f"| {metric} ×100 | seeds | {' | '.join(languages)} | mean |"
    assert line.startswith(f"| {system} | 1 |")
    ending = {"xquad": "json", "xsid": "jsonl"}.get(task_name, "tsv")
    made = predictions(tmp_path / "out", task_name)
    assert list(made) == sorted(f"test-{key}.{ending}" for key in languages)
    text = made[f"test-{languages[0]}.{ending}"]
    if task_name == "pawsx":
        assert set(text.split()) <= {"0", "1"}
    elif task_name == "xquad":
        assert all(answer in questions(SENTENCES) for answer in json.loads(text).values())
        assert len(json.loads(text)) == len(SENTENCES) - 3  # of five, three are learnt from
    elif task_name == "xsid":
        rows = [json.loads(line) for line in text.splitlines()]
        assert [" ".join(row["words"]) for row in rows] == SENTENCES[: options.get("max_eval_samples")]
        assert {row["intent"] for row in rows} == {"see"}
    else:
        assert [sentence.count("\n") + 1 for sentence in text.strip().split("\n\n")] == [4, 5, 5, 5, 4]
    assert ("NN" in text) <= (options.get("label_column") == 1)


@pytest.mark.parametrize(
    ("options", "system", "fields", "columns"),
    [
        ({"mechanism": "none"}, "plain", {"syntax_features": [], "graph_attention_layers": 0}, []),
        ({"mechanism": "features"}, "upos", {"syntax_features": ["upos"], "graph_attention_layers": 0}, ["upos_ids"]),
        (
            {"mechanism": "features", "syntax_features": ["deprel", "upos"], "syntax_dropout": 0.2},
            "upos+deprel",
            {"syntax_features": ["deprel", "upos"], "syntax_dropout": 0.2, "graph_attention_layers": 0},
            ["upos_ids", "deprel_ids"],
        ),
        ({}, "gat", {"syntax_features": [], "graph_attention_layers": 4}, ["upos_ids", "head_positions"]),
        (
            {"graph_attention_layers": 2, "graph_attention_heads": 2, "graph_attention_head_size": 8,
             "graph_attention_form": "additive", "graph_attention_features": ["upos", "deprel"],
             "max_dependency_distance": 2, "num_syntax_heads": 2, "syntax_layers": [1], "syntax_bias": "key_value",
             "structure_loss_weight": 0.5, "syntax_features": ["casing"]},
            "gat+structure+casing",
            {"graph_attention_layers": 2, "graph_attention_form": "additive", "syntax_layers": [1],
             "syntax_bias": "key_value", "structure_loss_weight": 0.5, "num_syntax_heads": 2,
             "syntax_features": ["casing"], "graph_attention_heads": 2, "max_dependency_distance": 2},
            ["upos_ids", "casing_ids", "deprel_ids", "head_positions"],
        ),
        ({"system_name": "mine", "graph_attention_layers": 1}, "mine", {"graph_attention_layers": 1}, ["upos_ids", "head_positions"]),
    ],
)  # fmt: skip
def test_mechanisms(run, german_parser, tmp_path, options, system, fields, columns, saved_run):
    assert list(run(**{"eval_languages": ["de"], "save_strategy": "epoch", **options})) == [system]
    config = (SyntaxMBertConfig if options.get("mechanism", "gat") == "gat" else SyntaxBertConfig).from_pretrained(
        tmp_path / "out"
    )
    read = {name: getattr(config, name) for name in fields}
    assert {name: list(value) if isinstance(value, tuple) else value for name, value in read.items()} == fields
    assert (list(config.syntax_columns), config.id2label[3]) == (columns, "B-ORG")
    tokenizer = SyntaxTokenizerFast.from_pretrained(tmp_path / "out")
    assert list(tokenizer.syntax_columns) == columns
    assert (tmp_path / "out" / "german.udpipe").exists() == bool(columns)
    names = load_file(tmp_path / "out" / "model.safetensors").keys()
    assert any("graph_attention" in name for name in names) == ("head_positions" in columns)
    result = saved_run(tmp_path / "out", f"panx-{system}-0.001-seed42.json")
    assert ("parser" in result) == bool(columns)


def test_syntax_weights_learn_at_their_own_rate(run, plain_checkpoint, tmp_path):
    settings = {"eval_languages": ["en"], "save_strategy": "epoch", "mechanism": "features", "max_grad_norm": 0}
    for name, rate in (("same", None), ("faster", 0.5)):
        run(output=name, syntax_learning_rate=rate, **settings)
    same, faster = (load_file(tmp_path / name / "model.safetensors") for name in ("same", "faster"))
    moved = {name for name in same if not torch.equal(same[name], faster[name])}
    assert moved == {"bert.syntax_embeddings.upos"}
    with pytest.raises(ValueError, match=r"run with other settings .*syntax_learning_rate"):
        run(output="faster", syntax_learning_rate=0.1, **settings)


def test_the_plain_model_parses_nothing(run, plain_checkpoint, tmp_path, no_parses):
    run(mechanism="none", save_strategy="epoch")
    names = load_file(tmp_path / "out" / "model.safetensors").keys()
    plain = load_file(Path(plain_checkpoint) / "model.safetensors").keys()
    assert {name for name in names if "classifier" not in name} == {n for n in plain if not n.startswith("cls.")}
    assert "†" not in (tmp_path / "out" / "tables" / "f1" / "languages.md").read_text()


def test_comparison(run, tmp_path, capsys, monkeypatch, german_parser):
    settings = {"compare_baseline": True, "seeds": [1, 2], "save_strategy": "epoch", "eval_languages": ["en", "sw"]}
    scores = run(**settings)
    assert {system: list(by_seed) for system, by_seed in scores.items()} == {"plain": [1, 2], "gat": [1, 2]}
    table = (tmp_path / "out" / "tables" / "f1" / "languages.md").read_text()
    printed = capsys.readouterr().out
    assert table in printed
    assert (tmp_path / "out" / "comparison.md").read_text() in printed
    lines = table.splitlines()
    assert lines[0] == "| f1 ×100 | seeds | en | sw† | mean |"
    assert [line.split(" | ")[0] for line in lines[2:5]] == ["| plain", "| gat", "| gat, difference (p)"]
    assert lines[-1] == "† without syntax, for texts in a language without a parser."
    assert {path.name for path in (tmp_path / "out" / "tables").iterdir()} == {"f1", "precision", "recall"}
    assert sorted(path.name for path in (tmp_path / "out" / "results").iterdir()) == [
        f"panx-{system}-0.001-seed{seed}.json" for system in ("gat", "plain") for seed in (1, 2)
    ]
    for system in ("plain", "gat"):
        folder = tmp_path / "out" / system / "seed-2"
        assert list(predictions(folder)) == ["test-en.tsv", "test-sw.tsv"]
        assert (folder / "german.udpipe").exists() == (system == "gat")
    assert (tmp_path / "out" / "seeds.png").exists()

    monkeypatch.setattr(Trainer, "train", None)
    shutil.rmtree(tmp_path / "out" / "tables")
    assert run(**settings) == scores
    assert (tmp_path / "out" / "tables" / "f1" / "languages.md").read_text() == table
    for other in (
        {"max_steps": 2},
        {"graph_attention_layers": 2},
        {"max_seq_length": 8},
        {"max_train_samples": 3},
        {"parsers": ["en", f"sw={german_parser}"]},
    ):
        with pytest.raises(
            ValueError, match=rf"\.json is a run with other settings .*{next(iter(other)).removesuffix('s')}"
        ):
            run(**{**settings, **other})
    with pytest.raises(ValueError, match=r"seed1\.json is a run with other settings .*data"):
        run(**{**settings, "eval_languages": ["en", "de"]})


def test_nothing_is_parsed_a_second_time(run, tmp_path, monkeypatch):
    run("pawsx", parsers=["en"])

    def parse(self, *args, **kwargs):
        raise AssertionError("a text is parsed")

    monkeypatch.setattr(UDPipeParser, "parse", parse)
    run("pawsx", "again", parsers=["en"])
    with pytest.raises(AssertionError, match="a text is parsed"):
        run("pawsx", "other", parsers=["en"], max_seq_length=20)


def test_interrupted_training_goes_on(run, interrupted, tmp_path):
    settings = {"max_steps": None, "num_train_epochs": 2, "save_strategy": "epoch", "structure_loss_weight": 0.5}
    run(output="whole", **settings)

    with interrupted():
        run(output="broken", **settings)
    assert (tmp_path / "broken" / "checkpoint-2").is_dir()
    with pytest.raises(ValueError, match=r"run\.json is a run with other settings .*structure_loss_weight"):
        run(output="broken", **{**settings, "structure_loss_weight": 1.0, "system_name": "gat+structure"})
    run(output="broken", **settings)
    whole, broken = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "broken"))
    assert all((whole[name] == broken[name]).all() for name in whole)
    assert predictions(tmp_path / "whole") == predictions(tmp_path / "broken")


@pytest.mark.parametrize(
    ("task_name", "options"),
    [
        ("xsid", {"slot_decoder": "crf"}),
        ("conll", {"mechanism": "features", "syntax_features": ["deprel"]}),
        ("pawsx", {"mechanism": "none"}),
        ("xquad", {"train_split_fraction": 0.5}),
    ],
)
def test_a_trained_checkpoint_is_evaluated_alone(run, tmp_path, task_name, options):
    """With its own labels and the parsers that it carries."""
    scores = run(task_name, save_strategy="epoch", learning_rate=1e-2, max_steps=8, **options)
    options = {name: value for name, value in options.items() if name in ("mechanism", "train_split_fraction")}
    trained = {"model_name_or_path": tmp_path / "out", "parsers": None, "do_eval": True}
    assert run(task_name, "again", **trained, **options) == scores
    assert predictions(tmp_path / "again", task_name) == predictions(tmp_path / "out", task_name)
    assert not (tmp_path / "again" / "results").exists()
    assert "†" not in next((tmp_path / "again" / "tables").glob("*/languages.md")).read_text()
    if "train_split_fraction" in options:
        with pytest.raises(ValueError, match=r"trained on some of these data: add --train_split_fraction 0\.5"):
            run(task_name, "again", **trained)
    if options.get("mechanism") != "none":
        run(task_name, "marked", **{**trained, **options, "eval_languages": ["en", "sw"]})
        assert "sw†" in next((tmp_path / "marked" / "tables").glob("*/languages.md")).read_text()


def test_labels_that_a_trained_checkpoint_does_not_know(run, tmp_path, caplog):
    """Are wrong, and do not stop the evaluation."""
    run("xsid", save_strategy="epoch", max_steps=1)
    other = tmp_path / "other.conll"
    other.write_text(intents(SENTENCES).replace("B-PER", "B-AGE").replace("see", "find"))
    trained = {"model_name_or_path": tmp_path / "out", "parsers": None, "do_eval": True, "eval_languages": None}
    scores = run("xsid", "again", **trained, data_dir=None, test_files=[f"de={other}"])
    assert scores == {"gat": {42: 0.0}}
    assert "none of the slots B-AGE" in caplog.text


@pytest.mark.parametrize(
    ("task_name", "options", "message"),
    [
        (
            "panx",
            {"mechanism": "none"},
            r"was trained with another --mechanism or its options: see \['graph_attention",
        ),
        ("panx", {"mechanism": "features"}, r"was trained with another --mechanism or its options: see \['syntax_emb"),
        ("udpos", {}, r"has the labels \['O', 'B-PER'.*, but udpos has \['ADJ'"),
        ("xsid", {}, "has no trained intent_classifier: add --do_train"),
        ("xquad", {}, "has no trained .*qa_outputs: add --do_train"),
    ],
)
def test_a_checkpoint_of_another_system_is_not_evaluated(run, tmp_path, task_name, options, message):
    run("panx", save_strategy="epoch", eval_languages=["en"])
    trained = {"model_name_or_path": tmp_path / "out", "parsers": None, "do_eval": True}
    with pytest.raises(ValueError, match=message):
        run(task_name, "again", **trained, **options)


def test_a_checkpoint_is_fine_tuned_further(run, tmp_path):
    """Features are those of the checkpoint; a head for other labels is not kept."""
    run("panx", save_strategy="epoch", mechanism="features", syntax_features=["deprel"])
    again = {"model_name_or_path": tmp_path / "out", "mechanism": "features", "parsers": None}
    assert list(run("conll", "again", save_strategy="epoch", **again)) == ["deprel"]
    assert load_file(tmp_path / "again" / "model.safetensors")["classifier.weight"].shape == (3, 32)


def test_a_scoring_checkpoint_learns_to_classify(run, plain_checkpoint, tmp_path):
    checkpoint = tmp_path / "scoring"
    shutil.copytree(plain_checkpoint, checkpoint)
    BertForMaskedLM.from_pretrained(plain_checkpoint, problem_type="regression", num_labels=1).save_pretrained(
        checkpoint
    )
    run("pawsx", model_name_or_path=checkpoint, save_strategy="epoch")
    config = SyntaxMBertConfig.from_pretrained(tmp_path / "out")
    assert (config.problem_type, config.num_labels) == ("single_label_classification", 2)


def test_validation_while_training(run, data_dir, tmp_path, saved_run):
    file = data_dir / "panx" / "dev-en.tsv"
    run(eval_strategy="epoch", validation_file=file, save_strategy="epoch", load_best_model_at_end=True)
    assert "eval_loss" in saved_run(tmp_path / "out", "panx-gat-0.001-seed42.json")["metrics"]


def test_named_files(run, data_dir, tmp_path):
    folder = data_dir / "xsid"
    files = {"train_file": folder / "en.train.conll", "test_files": [f"sw={folder}/sw.test.conll"], "data_dir": None}
    run("xsid", mechanism="features", eval_languages=None, **files)
    assert list(predictions(tmp_path / "out", "xsid")) == ["test-sw.jsonl"]


def test_languages_of_one_parser_each(run, german_parser, tmp_path, caplog):
    """Training without syntax is refused, evaluation without it is marked."""
    run("pawsx", generalized=True, train_split_fraction=0.5, parsers=["en"])
    assert "no parser, and so no syntax, for: de, en-de, de-en" in caplog.text
    header = (tmp_path / "out" / "tables" / "accuracy" / "languages.md").read_text().splitlines()[0]
    assert header == "| accuracy ×100 | seeds | en | de† | en-de† | de-en† | mean |"
    with pytest.raises(ValueError, match="no parser for 'en', the language of training: name it in --parsers"):
        run(output="other", parsers=[f"de={german_parser}"])


def test_a_parser_of_no_language_has_to_be_named(run, plain_checkpoint, tmp_path):
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=parser_path("en"))
    shutil.copytree(plain_checkpoint, tmp_path / "glue")
    tokenizer.save_pretrained(tmp_path / "glue")
    with pytest.raises(ValueError, match="carries a parser without a language: name it as --parsers LANGUAGE=FILE"):
        run(model_name_or_path=tmp_path / "glue", parsers=None)
    run(model_name_or_path=tmp_path / "glue", parsers=["en"])


def test_json_argument_file(main, plain_checkpoint, data_dir, german_parser, tmp_path):
    settings = {
        "model_name_or_path": plain_checkpoint, "task_name": "panx", "data_dir": str(data_dir), "max_steps": 1,
        "parsers": ["en", f"de={german_parser}"], "eval_languages": ["en", "de"], "output_dir": str(tmp_path / "out"),
        "mechanism": "features", "syntax_features": ["upos", "casing"], "save_strategy": "no", "max_seq_length": 24,
        "use_cpu": True, "disable_tqdm": True,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(settings))
    assert list(main([str(tmp_path / "config.json")])) == ["upos+casing"]
    assert list(predictions(tmp_path / "out")) == ["test-de.tsv", "test-en.tsv"]
    for other, message in (
        ({"mechanism": "GAT"}, "--mechanism must be none, features or gat"),
        ({"tasks": 1}, "tasks"),
    ):
        (tmp_path / "config.json").write_text(json.dumps({**settings, **other}))
        with pytest.raises(ValueError, match=message):
            main([str(tmp_path / "config.json")])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task_name": "panics"}, "unknown task 'panics'; the tasks are xnli, pawsx"),
        ({"mechanism": "none", "max_dependency_distance": 2}, r"\['max_dependency_distance'\] need --mechanism gat"),
        ({"mechanism": "features", "syntax_bias": "key_value", "num_syntax_heads": 2}, r"\['num_syntax_heads', 'synt"),
        ({"mechanism": "none", "syntax_features": ["upos"]}, r"\['syntax_features'\] need --mechanism features or gat"),
        ({"mechanism": "none", "syntax_dropout": 0.1}, r"\['syntax_dropout'\] need --mechanism features or gat"),
        ({"mechanism": "features", "syntax_features": ["none"]}, "choose --mechanism none"),
        ({"mechanism": "features", "syntax_features": ["upos", "pos"]}, r"got \('upos', 'pos'\)"),
        ({"graph_attention_layers": 0}, "choose --mechanism features or none"),
        ({"graph_attention_form": "sum"}, "graph_attention_form"),
        ({"num_syntax_heads": 9}, "num_syntax_heads must be 1 to num_attention_heads=4"),
        ({"task_name": "xsid", "slot_decoder": "crfs"}, "slot_decoder"),
        ({"slot_decoder": "crf"}, "--slot_decoder is for intents and slots, panx has none"),
        ({"max_eval_samples": 0}, "--max_eval_samples must be at least 1, got 0"),
        ({"do_predict": True}, "--do_eval writes the predictions"),
        ({"mechanism": "none", "compare_baseline": True}, "nothing to compare the plain model with"),
        ({"seeds": [1, 2], "do_eval": True}, "add --do_train"),
        ({"compare_baseline": True, "do_train": True}, "needs validation data and --do_eval"),
        ({"do_eval": True}, "has no trained classifier: add --do_train"),
        ({"task_name": "xsid", "do_eval": True}, "has no trained .*classifier.*: add --do_train"),
        ({"max_seq_length": 65}, "must be 3 to the model's 64 positions, got 65"),
        ({"data_dir": "nowhere"}, "there is no folder 'nowhere'"),
        ({"eval_languages": ["en", "fr"]}, r"there is no test file of 'fr' in .*panx; such files are test-fr\.tsv"),
        ({"task_name": "xquad"}, "give --train_file or, for parallel data, --train_split_fraction"),
        ({"generalized": True}, "--generalized needs the same examples in all languages"),
        ({"train_split_fraction": 0.5}, "--train_split_fraction needs the same examples"),
        ({"train_file": "nothing.tsv"}, r"there is no train file 'nothing\.tsv' for 'en'"),
        ({"test_files": ["panx.tsv"]}, r"--test_files takes LANGUAGE=FILE, got 'panx\.tsv'"),
        ({"test_files": ["de="]}, "--test_files takes LANGUAGE=FILE, got 'de='"),
        ({"test_files": ["de=no.tsv"]}, r"there is no test file 'no\.tsv' for 'de'"),
        ({"parsers": ["german.udpipe"]}, r"--parsers takes LANGUAGE=FILE, got 'german\.udpipe'"),
        ({"load_best_model_at_end": True, "metric_for_best_model": "f1", "eval_strategy": "epoch", "save_strategy": "epoch"},
         "the best model is chosen by the loss"),
        ({"remove_unused_columns": False}, "--remove_unused_columns false does not work here"),
        ({"model_name_or_path": "."}, r"\. holds no model; models of several runs in it: gat/seed-1"),
        ({"parsers": ["en", "xx"]}, "no embedded parser for 'xx'"),
        ({"parsers": ["en", "de=no.udpipe"]}, r"there is no parser file '.*no\.udpipe'"),
        ({"parsers": ["en", "de="]}, "--parsers takes LANGUAGE=FILE.* got 'de='"),
        ({"parsers": ["en", "en"]}, "two parsers for 'en'"),
        ({"parsers": ["en", "de=broken.udpipe"]}, r"broken\.udpipe' is not a UDPipe model"),
        ({"label_column": 5}, "column 5 of the tags is not among them"),
        ({"task_name": "xquad", "train_split_fraction": 0.5, "max_seq_length": 6}, "leaves no room for a context"),
        ({"eval_strategy": "epoch", "data_dir": None, "train_file": "en.tsv", "test_files": ["de=en.tsv"], "eval_languages": None},
         "--eval_strategy needs validation data"),
    ],
)  # fmt: skip
def test_bad_settings(run, data_dir, settings, message):
    Path("broken.udpipe").write_bytes(b"broken")
    Path("gat/seed-1").mkdir(parents=True)
    Path("gat/seed-1/config.json").touch()
    shutil.copy(data_dir / "panx" / "train-en.tsv", "en.tsv")
    with pytest.raises((ValueError, FileNotFoundError, StrictDataclassError), match=message):
        run(**settings)


def test_two_processes(launch, as_arguments, plain_checkpoint, data_dir, tmp_path):
    paths = {"model_name_or_path": plain_checkpoint, "output_dir": tmp_path / "out", "data_dir": data_dir}
    task = {"task_name": "xsid", "parsers": ["en"], "compare_baseline": True, "slot_decoder": "crf"}
    printed = launch("run_xtreme_syntax", as_arguments({**paths, **task, **DEFAULTS}), tmp_path)
    assert printed.count("| exact_match ×100 | seeds | en | de† | mean |") == 1
    results = sorted((tmp_path / "out" / "results").iterdir())
    assert [path.name for path in results] == ["xsid-gat-0.001-seed42.json", "xsid-plain-0.001-seed42.json"]
    assert json.loads(results[0].read_text())["train_batch_size"] == 8  # 2 × 4
    rows = (tmp_path / "out" / "gat" / "seed-42" / "predictions" / "xsid" / "test-de.jsonl").read_text().splitlines()
    assert [" ".join(json.loads(row)["words"]) for row in rows] == SENTENCES


RAW_TEXT = """
import json
from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1], trust_remote_code=True)
model = AutoModelForTokenClassification.from_pretrained(sys.argv[1], trust_remote_code=True).eval()
logits = model(**tokenizer("The cat sleeps .", return_tensors="pt")).logits
tagged = pipeline("token-classification", model=sys.argv[1], trust_remote_code=True)("The cat sleeps .", ignore_labels=[])
print(json.dumps([type(model).__name__, logits[0].argmax(-1).tolist(), [word["entity"] for word in tagged]]))
"""


def test_the_saved_tagger_tags_raw_text_without_the_package(run, run_without_package, tmp_path):
    run(save_strategy="epoch", parsers=["en"], eval_languages=["en"], learning_rate=1e-2, max_steps=60)
    name, ids, tagged = json.loads(run_without_package(RAW_TEXT, str(tmp_path / "out"))[-1])
    assert name == "SyntaxMBertWithGATForTokenClassification"
    labels = SyntaxMBertConfig.from_pretrained(tmp_path / "out").id2label
    assert tagged == [labels[index] for index in ids[1:-1]]
    assert tagged[:2] == ["O", "B-PER"]


def test_labels_and_their_order_come_from_a_file(run, write, tmp_path, saved_run):
    """Also those that no file of the data has."""
    labels = ["B-ORG", "O", "B-PER", "B-LOC"]
    file = write("labels.txt", "\n".join(labels))
    settings = {"label_file": file, "mechanism": "features", "eval_languages": ["en"], "save_strategy": "epoch"}
    run("conll", learning_rate=1e-2, max_steps=60, **settings)
    config = SyntaxBertConfig.from_pretrained(tmp_path / "out")
    assert [config.id2label[index] for index in range(config.num_labels)] == labels
    result = saved_run(tmp_path / "out", "conll-upos-0.01-seed42.json")
    assert (result["labels"], result["metrics"]["eval_en_f1"]) == (labels, 1)

    trained = {"model_name_or_path": tmp_path / "out", "parsers": None, "do_eval": True}
    assert run("conll", "again", **{**settings, **trained}) == {"upos": {42: 1}}
    other = write("other.txt", "O\nB-LOC\nB-PER\nB-ORG")
    with pytest.raises(ValueError, match=r"other\.txt has .*, but the checkpoint was trained on \['B-ORG'"):
        run("conll", "again", **{**settings, **trained, "label_file": other})
    with pytest.raises(ValueError, match=r"few\.txt lacks the labels \['B-LOC'\] that the data have"):
        run("conll", "few", **{**settings, "label_file": write("few.txt", "O\nB-PER")})
    with pytest.raises(ValueError, match="--label_file is for conll, .* not for panx"):
        run("panx", "panx", **settings)


@pytest.mark.parametrize("column", ["conll", "conllu"])
def test_windows_tag_every_word_of_a_long_sentence_once(run, write, tmp_path, column):
    """Whatever window it is in, and in CoNLL-U as in columns."""
    words = "the cat sleep the rivers see".split() * 9
    tags = {"the": "DET", "cat": "NOUN", "rivers": "NOUN", "sleep": "VERB", "see": "VERB"}
    row = {"conll": "{word}\t{tag}\n", "conllu": "{id}\t{word}\t_\t{tag}\t_\t_\t{head}\t_\t_\t_\n"}[column]
    rows = [row.format(id=i, word=word, tag=tags[word], head=i - 1) for i, word in enumerate(words, start=1)]
    file = write(f"long.{column}", "".join(rows) + "\n")
    settings = {"data_dir": None, "train_file": file, "test_files": [f"en={file}"], "mechanism": "features"}
    run("conll", eval_languages=None, max_seq_length=8, learning_rate=1e-2, max_steps=60, **settings)
    predicted = predictions(tmp_path / "out", "conll")["test-en.tsv"].split()
    assert predicted == [tags[word] for word in words]


def test_answers_are_scored_jointly_with_their_sentences(run, tmp_path):
    run("xquad", train_split_fraction=0.5, save_strategy="epoch", max_steps=2, learning_rate=1e-2)
    model = SyntaxMBertWithGATForQuestionAnswering.from_pretrained(tmp_path / "out")
    assert model.answer_sentences.weight.abs().sum() > 0
