"""Model cards; publishing is tested in test_hub_round_trip.py."""

import json
import re
import shutil

import pytest
from huggingface_hub import ModelCard

import syntax_bert
from syntax_bert import SyntaxMarianTokenizer, SyntaxTokenizerFast, cli
from syntax_bert.hub import write_model_card

RUN = {
    "task": "panx",
    "model": "bert-base-multilingual-cased",
    "train_language": "en",
    "data": {"en": "0123"},
    "learning_rate": 5e-5,
    "seed": 2,
    "metrics": {"eval_de_f1": 0.5, "eval_mean_f1": 0.55, "eval_loss": 1.5, "train_runtime": 3.0},
    "seeds": {"eval_de_f1": {"1": 0.4, "2": 0.5}, "eval_mean_f1": {"1": 0.45, "2": 0.55}},
}


@pytest.fixture
def save(plain_checkpoint, marian_checkpoint, english_parser, tmp_path):
    """Saves a model of a class with its tokenizer and what its run noted."""

    def save_checkpoint(name, run=None, parser=english_parser, folder=None, **options):
        source = marian_checkpoint if "Marian" in name else plain_checkpoint
        folder = tmp_path / (folder or name)
        model = getattr(syntax_bert, name).from_pretrained(source, **options)
        model.save_pretrained(folder)
        tokenizer_class = SyntaxMarianTokenizer if "Marian" in name else SyntaxTokenizerFast
        columns = model.config.syntax_columns
        tokenizer_class.from_pretrained(source, parser=parser, columns=columns).save_pretrained(folder)
        if run is not None:
            (folder / "run.json").write_text(json.dumps(run))
        return folder

    return save_checkpoint


def usage_of(card):
    (code,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    return code


def test_a_card_tells_what_its_run_noted(save):
    folder = save("SyntaxMBertWithGATForTokenClassification", RUN)
    text = write_model_card(folder).read_text()
    card = ModelCard(text)
    assert card.data.base_model == "bert-base-multilingual-cased"
    assert card.data.language == ["en"]
    assert card.data.pipeline_tag == "token-classification"
    assert [(result.dataset_name, result.metric_type, result.metric_value) for result in card.data.eval_results] == [
        ("panx de", "f1", 0.5),
        ("panx mean", "f1", 0.55),
    ]
    assert "| panx de (evaluation) | f1 | 0.5 | 0.45 ± 0.071 |" in text
    assert "| learning_rate | 5e-05 |" in text
    assert "biasing query and key (Ahmad et al. 2021" in text
    assert "runtime" not in text
    for line in ("LAS", "UD English EWT 2.15", "CC BY-SA 4.0", "f0b74cfb2abce6fb"):  # of the parser
        assert line in text


def test_a_card_claims_nothing_that_was_not_noted(save):
    folder = save("SyntaxBertModel", parser=None, syntax_features=[])
    text = write_model_card(folder).read_text()
    for line in ("It reads no syntax", "not recorded how it was trained", "No evaluation is recorded"):
        assert line in text
    assert "fine-tuned" not in text
    assert "## Parser" not in text
    assert ModelCard(text).data.base_model is None


def test_a_parser_without_a_licence_is_told(save, english_parser, tmp_path):
    shutil.copy(english_parser, tmp_path / "own.udpipe")
    text = write_model_card(save("SyntaxBertModel", parser=tmp_path / "own.udpipe")).read_text()
    assert "Treebank, scores and licence of `own.udpipe` are not recorded with it." in text
    assert "It carries no parser" in write_model_card(save("SyntaxBertForMaskedLM", parser=None)).read_text()


CHECKPOINTS = [
    ("SyntaxBertForSequenceClassification", {"task": "rte", "text_columns": ["a", "b"]}, {}),
    ("SyntaxBertForSequenceClassification", {"task": "pawsx"}, {}),
    ("SyntaxBertForSequenceClassification", {"task": "cola", "text_columns": ["sentence"]}, {}),
    ("SyntaxBertForTokenClassification", None, {}),
    ("SyntaxBertForMaskedLM", None, {"syntax_features": []}),
    ("SyntaxBertForMultipleChoice", None, {}),
    ("SyntaxMBertWithGAT", None, {}),
    ("SyntaxMBertWithGATForIntentAndSlots", None, {"intents": ["a", "b"]}),
    ("SyntaxMBertWithGATForQuestionAnswering", None, {}),
    ("SyntaxMBertWithGATForTreeReconstruction", None, {"structure_loss_weight": 1.0}),
    ("SyntaxMarianMT", None, {"distance_scaling": "dependency"}),
    ("SyntaxMarianModel", None, {}),
]


def test_languages_are_those_of_training_and_others_are_marked(save, english_parser):
    parsers = {"de": english_parser, "en": english_parser}
    run = {
        **RUN,
        "parser": {"de": "01", "en": "01"},
        "metrics": {"eval_de_f1": 0.5, "eval_es_f1": 0.4, "eval_en-es_f1": 0.4},
    }
    text = write_model_card(save("SyntaxBertForTokenClassification", run, parsers)).read_text()
    assert ModelCard(text).data.language == ["en"]
    assert "those that it was trained on, in en." in text
    assert 'language="en"' in usage_of(text)
    for row in ("| panx de (", "| panx es, without syntax (", "| panx en-es, without syntax ("):
        assert row in text


def test_glue_is_named_as_on_the_hub(save):
    run = {"task": "mnli", "data": {}, "metrics": {"eval_accuracy": 0.5, "eval_mismatched_accuracy": 0.4}}
    card = ModelCard(write_model_card(save("SyntaxBertForSequenceClassification", run)).read_text())
    assert card.data.datasets == ["nyu-mll/glue"]
    results = [(each.dataset_type, each.dataset_config, each.dataset_split) for each in card.data.eval_results]
    assert results == [("nyu-mll/glue", "mnli", "validation"), ("nyu-mll/glue", "mnli", "validation_mismatched")]


def test_trees_of_a_file_are_named(save):
    run = {"task": "cola", "parser": {"trees.conllu": "01"}, "label_column": "a|b\n## c"}
    text = write_model_card(save("SyntaxBertModel", run, parser=None)).read_text()
    assert "It carries no parser; it was trained with trees.conllu." in text
    assert "| label_column | a\\|b ## c |" in text


@pytest.mark.parametrize("content", ["{", "[1]", "null"])
def test_a_damaged_note_is_named(save, content):
    folder = save("SyntaxBertModel")
    (folder / "run.json").write_text(content)
    with pytest.raises(ValueError, match=r"run\.json is (damaged|no note of a run)"):
        write_model_card(folder)


def test_another_mask_token_is_used(save):
    folder = save("SyntaxBertForMaskedLM")
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"mask_token": "<mask>"}))
    assert "The keys are <mask>." in write_model_card(folder).read_text()


def test_the_usage_runs_as_printed(save, english_parser, run_without_package):
    """With one parser, and with one for each of two languages; in one process, which starts once."""
    codes = []
    for parser in (english_parser, {"de": english_parser, "en": english_parser}):
        for index, (name, run, options) in enumerate(CHECKPOINTS):
            card = write_model_card(save(name, run, parser, folder=f"{len(parser)}-{index}", **options))
            codes.append(usage_of(card.read_text()))
            assert ("pair" in codes[-1]) == ((run or {}).get("task") in ("rte", "pawsx"))
    printed = run_without_package("\n".join(f"exec({code!r}, {{}})\nprint('ran')" for code in codes))
    assert printed.count("ran") == len(codes)


def test_the_command_writes_a_card(save, capsys):
    folder = save("SyntaxBertModel")
    cli.main(["card", str(folder), "--repo_id", "user/name"])
    assert capsys.readouterr().out.strip() == str(folder / "README.md")
    assert 'model="user/name"' in (folder / "README.md").read_text()
    with pytest.raises(SystemExit, match="no config.json: it is no checkpoint"):
        cli.main(["card", str(folder.parent)])
