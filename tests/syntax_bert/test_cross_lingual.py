import csv
import json

import numpy as np
import pytest
from datasets import Dataset

from syntax_bert.cross_lingual import decode_predictions, language_scores
from syntax_bert.data.xtreme_tasks import XtremeData
from syntax_bert.language_tables import write_language_tables

TAGS = ["O", "B-PER", "I-PER"]


def data_of(task_name, rows, labels=(), intents=(), key="de", languages=("de", "de")):
    rows = {key: Dataset.from_list(rows)}
    names = (list(labels), list(intents))
    return XtremeData(task_name, None, None, rows, *names, {key: languages}, *names)


def one_hot(ids, size):
    return np.eye(size)[np.array(ids)]


def test_classes():
    rows = [{"text": "a", "text_pair": "b", "label": label} for label in (0, 1, 1)]
    data = data_of("pawsx", rows, "01")
    predictions = decode_predictions(data, "de", None, np.array([[2.0, 1.0], [0.0, 1.0], [3.0, 2.5]]))
    assert predictions == [0, 1, 0]
    assert language_scores(data, "de", predictions) == {"accuracy": 2 / 3}


def windows(*rows):
    return Dataset.from_list([{"example": example, "word_index": numbers} for example, numbers in rows])


def test_tags_of_windows():
    """A sentence in two windows, whose third word has no wordpiece, and a sentence in one."""
    rows = [{"words": list("abcd"), "tags": [1, 2, 0, 1]}, {"words": ["e"], "tags": [0]}]
    encoded = windows((0, [-1, 0, -1, 1, -1]), (0, [-1, 3, -1]), (1, [-1, 0, -1]))
    ids = np.array([[0, 1, 0, 2, 1], [0, 1, 0, 2, 2], [0, 0, 1, 1, 1]])  # rows are padded to the longest
    data = data_of("panx", rows, TAGS)
    predictions = decode_predictions(data, "de", encoded, one_hot(ids, 3))
    assert predictions == [[1, 2, 0, 1], [0]]
    assert language_scores(data, "de", predictions) == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert language_scores(data, "de", [[1, 0, 0, 1], [0]]) == {"precision": 0.5, "recall": 0.5, "f1": 0.5}


def test_a_word_without_wordpieces_gets_the_first_label_where_there_is_no_o():
    data = data_of("udpos", [{"words": ["a", "b"], "tags": [1, 0]}], ["ADJ", "ADP"])
    predictions = decode_predictions(data, "de", windows((0, [-1, 0, -1])), one_hot([[0, 1, 0]], 2))
    assert predictions == [[1, 0]]
    assert language_scores(data, "de", predictions)["accuracy"] == 1


def test_intents_are_those_of_the_first_windows():
    rows = [{"words": ["a", "b"], "tags": [1, 2], "intent": 1}, {"words": ["c"], "tags": [0], "intent": 0}]
    data = data_of("xsid", rows, TAGS, ["alarm", "weather"])
    encoded = windows((0, [-1, 0, -1]), (0, [-1, 1, -1]), (1, [-1, 0, -1]))
    slot_ids = np.array([[0, 1, 0], [0, 2, 0], [0, 2, 0]])
    outputs = (np.zeros((3, 3, 3)), np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 0.0]]), slot_ids)
    predictions = decode_predictions(data, "de", encoded, outputs)
    assert predictions == [(1, [1, 2]), (0, [2])]
    scores = language_scores(data, "de", predictions)
    assert scores == {"intent_accuracy": 1.0, "slot_f1": pytest.approx(2 / 3), "exact_match": 0.5}


@pytest.mark.parametrize(("task_name", "f1"), [("xquad", 2 / 3), ("mlqa", 1.0)])
def test_answers_of_windows(task_name, f1):
    context = "Die Katze schläft. Ein Hund ist da."
    rows = [
        {"id": "q", "question": "Wer?", "context": context, "answers": {"text": ["Ein Hund"], "answer_start": [19]}}
    ]
    data = data_of(task_name, rows, key="en-de", languages=("en", "de"))
    encoded = Dataset.from_list(
        [
            {"example": 0, "offset_mapping": [[0, 0], [0, 3], [4, 9], [10, 17]], "context_mask": [0, 1, 1, 1]},
            {"example": 0, "offset_mapping": [[0, 0], [19, 22], [23, 27]], "context_mask": [0, 1, 1]},
        ]
    )
    start = np.array([[9.0, 1.0, 0.0, 0.0], [9.0, 5.0, 0.0, -100.0]])
    end = np.array([[9.0, 0.0, 1.0, 0.0], [9.0, 0.0, 5.0, -100.0]])
    assert decode_predictions(data, "en-de", encoded, (start, end)) == ["Ein Hund"]
    (any_span,) = decode_predictions(data, "en-de", encoded, (start - start, end - end))
    assert any_span != ""
    assert any_span in context
    # only MLQA's rules know the articles of German
    assert language_scores(data, "en-de", ["Hund"])["f1"] == pytest.approx(f1)


MEASURED = {
    "plain": {
        1: {"eval_en_f1": 0.50, "eval_de_f1": 0.30, "eval_mean_f1": 0.40, "eval_en_recall": 0.1, "train_loss": 3.0},
        2: {"eval_en_f1": 0.52, "eval_de_f1": 0.34, "eval_mean_f1": 0.43, "eval_en_recall": 0.1, "train_loss": 3.0},
    },
    "gat": {
        1: {"eval_en_f1": 0.51, "eval_de_f1": 0.40, "eval_mean_f1": 0.455, "eval_en_recall": 0.1, "train_loss": 3.0},
        2: {"eval_en_f1": 0.53, "eval_de_f1": 0.46, "eval_mean_f1": 0.495, "eval_en_recall": 0.1, "train_loss": 3.0},
    },
}


def test_tables_of_several_systems(tmp_path):
    table = write_language_tables(MEASURED, "f1", ["de"], tmp_path / "f1")
    assert (tmp_path / "f1" / "languages.md").read_text() == table
    assert table.splitlines() == [
        "| f1 ×100 | seeds | en | de† | mean |",
        "|---|--:|--:|--:|--:|",
        "| plain | 2 | 51.0 ± 1.4 | 32.0 ± 2.8 | 41.5 ± 2.1 |",
        "| gat | 2 | 52.0 ± 1.4 | 43.0 ± 4.2 | 47.5 ± 2.8 |",
        "| gat, difference (p) | | +1.0 (–) | +11.0 (0.058) | +6.0 (0.053) |",
        "",
        "† without syntax, for texts in a language without a parser.",
    ]
    rows = json.loads((tmp_path / "f1" / "languages.json").read_text())
    assert [(row["language"], row["system"], row["without_syntax"]) for row in rows] == [
        ("en", "plain", False), ("en", "gat", False), ("de", "plain", True), ("de", "gat", True),
        ("mean", "plain", False), ("mean", "gat", False),
    ]  # fmt: skip
    assert rows[3]["difference"] == pytest.approx(0.11)
    with open(tmp_path / "f1" / "languages.csv", newline="") as file:
        read = list(csv.DictReader(file))
    assert [(row["language"], row["system"], row["metric"]) for row in read[:2]] == [("en", "plain", "f1"), ("en", "gat", "f1")]  # fmt: skip
    assert float(read[0]["mean"]) == 0.51
    assert read[0]["p_value"] == ""


def test_a_table_of_one_run(tmp_path):
    table = write_language_tables({"gat": {1: MEASURED["gat"][1]}}, "f1", [], tmp_path)
    assert table.splitlines() == [
        "| f1 ×100 | seeds | en | de | mean |",
        "|---|--:|--:|--:|--:|",
        "| gat | 1 | 51.0 | 40.0 | 45.5 |",
    ]


def test_a_system_without_a_language(tmp_path):
    measured = {**MEASURED, "gat": {1: {"eval_en_f1": 0.6}}}
    lines = write_language_tables(measured, "f1", [], tmp_path).splitlines()
    assert lines[3:] == ["| gat | 1 | 60.0 | – | – |", "| gat, difference (p) | | +10.0 (–) | – | – |"]


def test_a_metric_that_was_not_measured_is_named(tmp_path):
    with pytest.raises(ValueError, match="no 'accuracy' was measured"):
        write_language_tables(MEASURED, "accuracy", [], tmp_path)
