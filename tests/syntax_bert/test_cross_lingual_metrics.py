import warnings

import pytest

from syntax_bert.cross_lingual_metrics import (
    XTREME_METRICS,
    XTREME_PRIMARY_METRIC,
    XtremeMetric,
    answer_scores,
    class_scores,
    entity_scores,
    intent_and_slot_scores,
    normalize_answer,
    upos_scores,
)
from syntax_bert.data.xtreme_tasks import XTREME_TASKS


def test_primary_metrics():
    assert XTREME_PRIMARY_METRIC.keys() == XTREME_METRICS.keys() == XTREME_TASKS.keys()
    assert all(XTREME_PRIMARY_METRIC[task] in names for task, names in XTREME_METRICS.items())
    assert XTREME_PRIMARY_METRIC["xnli"] == XTREME_PRIMARY_METRIC["pawsx"] == "accuracy"
    assert {XTREME_PRIMARY_METRIC[task] for task in ("panx", "conll", "udpos", "xquad", "mlqa")} == {"f1"}
    assert XTREME_PRIMARY_METRIC["mtop"] == XTREME_PRIMARY_METRIC["xsid"] == "exact_match"


def test_accuracy():
    assert class_scores([0, 1, 2, 2], [0, 1, 1, 2]) == {"accuracy": 0.75}


def test_entities():
    references = [["B-PER", "I-PER", "O", "B-LOC"], ["B-ORG", "O", "O"]]
    predictions = [["B-PER", "I-PER", "O", "O"], ["B-LOC", "O", "B-PER"]]
    scores = entity_scores(references, predictions)  # 1 of 3 predicted and of 3 true entities
    assert scores == pytest.approx({"precision": 1 / 3, "recall": 1 / 3, "f1": 1 / 3})
    halves = entity_scores(references, [["B-PER", "O", "O", "B-LOC"], ["O", "O", "O"]])
    assert halves == pytest.approx({"precision": 1 / 2, "recall": 1 / 3, "f1": 0.4})


def test_entities_may_begin_with_i():
    assert entity_scores([["B-PER", "I-PER", "O"]], [["I-PER", "I-PER", "O"]])["f1"] == 1.0
    assert entity_scores([["B-PER", "B-PER"]], [["B-PER", "I-PER"]])["f1"] == 0.0


def test_tags_that_are_no_iob_are_entities_one_by_one():
    """Seqeval would take the first letter for that of IOB."""
    scores = entity_scores([["NN", "VB", "DT", "NN"], ["O", "B-PER"]], [["VN", "VB", "PT", "NN"], ["O", "B-PER"]])
    assert scores["f1"] == pytest.approx(3 / 5)


def test_data_without_entities_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert entity_scores([["O", "O"]], [["O", "O"]]) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


def test_upos_runs_count_as_entities():
    references, predictions = [["DET", "NOUN", "NOUN", "VERB"]], [["DET", "NOUN", "VERB", "VERB"]]
    # true runs: DET, NOUN 2-3, VERB 4; predicted: DET, NOUN 2, VERB 3-4; only DET is both
    expected = {"accuracy": 0.75, "precision": 1 / 3, "recall": 1 / 3, "f1": 1 / 3}
    assert upos_scores(references, predictions) == pytest.approx(expected)


def test_upos_tags_that_share_all_but_their_first_letter():
    assert upos_scores([["CCONJ", "X"]], [["SCONJ", "X"]]) == {
        "accuracy": 0.5,
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
    }
    assert upos_scores([["SYM", "SYM", "INTJ"]], [["SYM", "SYM", "NOUN"]])["precision"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The  Cat, a dog.", None, "cat dog"),
        ("Das „Haus“", None, "das „haus“"),
        ("The “Cat”\u3000and—an owl", "en", "cat andan owl"),
        ("Das Haus, der Mann", "de", "haus mann"),
        ("The die was cast", "de", "the was cast"),
        ("¿El gato y las ranas?", "es", "gato y ranas"),
        ("the एक कुत्ता।", "hi", "the एक कुत्ता"),
        ("cái mèo của tôi", "vi", "mèo tôi"),
        ("البيت الكبير", "ar", "بيت كبير"),
        ("1998年，北京 Bei Jing。", "zh", "1998 年 北 京 bei jing"),
        ("the 北京", None, "北京"),
        ("...", "en", ""),
    ],
)
def test_normalized_answers(text, language, expected):
    assert normalize_answer(text, language) == expected


def test_answers():
    references = [["the red cat", "cat"], ["北京市"], ["Anna"], []]
    assert answer_scores(references, ["Cat!", "北京", "Otto", ""]) == {"exact_match": 0.5, "f1": 0.5}
    # in Chinese 2 of 2 predicted and of 3 true characters: F1 is 0.8
    assert answer_scores([["北京市"]], ["北京"], "zh") == pytest.approx({"exact_match": 0.0, "f1": 0.8})
    # "big red cat" shares 2 words with "red cat": 2 of 3 and of 2
    assert answer_scores([["red cat"]], ["a big red cat"])["f1"] == pytest.approx(0.8)
    assert answer_scores([["red red"]], ["red"])["f1"] == pytest.approx(2 / 3)
    assert answer_scores([["the"]], [""]) == {"exact_match": 1.0, "f1": 0.0}  # as in SQuAD's script
    assert answer_scores([[]], ["a guess"]) == {"exact_match": 0.0, "f1": 0.0}


def test_intents_and_slots():
    references = [("set", ["O", "B-time"]), ("stop", ["O"]), ("set", ["B-time", "I-time"])]
    predictions = [("set", ["O", "B-time"]), ("set", ["O"]), ("set", ["B-time", "O"])]
    scores = intent_and_slot_scores(references, predictions)
    assert scores == pytest.approx({"intent_accuracy": 2 / 3, "slot_f1": 0.5, "exact_match": 1 / 3})


@pytest.mark.parametrize(
    ("score", "arguments", "message"),
    [
        (entity_scores, ([["O"], ["O", "O"]], [["O"], ["O"]]), "sentence 2 has 2 words, but 1 predictions"),
        (upos_scores, ([["X"]], [["X"], ["X"]]), "2 predicted sentences, but there are 1"),
        (intent_and_slot_scores, ([("a", ["O"])], [("a", [])]), "sentence 1 has 1 words, but 0"),
        (answer_scores, ([["a"]], []), "0 predicted answers, but there are 1 questions"),
        (answer_scores, ([["a"]], ["a"], "fr"), "MLQA has no 'fr'; its languages are ar, de"),
    ],
)
def test_what_cannot_be_scored(score, arguments, message):
    with pytest.raises(ValueError, match=message):
        score(*arguments)


@pytest.mark.parametrize(
    ("task", "references", "predictions", "options", "expected"),
    [
        ("xnli", [0, 2], [0, 1], {}, {"accuracy": 0.5}),
        ("pawsx", [0, 1], [0, 1], {}, {"accuracy": 1.0}),
        ("panx", [["B-PER", "O"]], [["B-PER", "O"]], {}, {"precision": 1.0, "recall": 1.0, "f1": 1.0}),
        ("conll", [["B-PER", "O"]], [["O", "O"]], {}, {"precision": 0.0, "recall": 0.0, "f1": 0.0}),
        ("udpos", [["X"]], [["X"]], {}, {"accuracy": 1.0, "precision": 1.0, "recall": 1.0, "f1": 1.0}),
        ("xquad", [["der Hund"]], ["Hund"], {}, {"exact_match": 0.0, "f1": 2 / 3}),
        ("xquad", [["der Hund"]], ["Hund"], {"language": "de"}, {"exact_match": 0.0, "f1": 2 / 3}),
        ("mlqa", [["der Hund"]], ["Hund"], {"language": "de"}, {"exact_match": 1.0, "f1": 1.0}),
        (
            "xsid",
            [{"intent": "a", "tags": ["B-x"]}],
            [{"intent": "b", "tags": ["B-x"]}],
            {},
            {"intent_accuracy": 0.0, "slot_f1": 1.0, "exact_match": 0.0},
        ),
    ],
)
def test_metric_of_each_task(task, references, predictions, options, expected, tmp_path):
    metric = XtremeMetric(config_name=task, cache_dir=tmp_path)
    for _ in range(2):
        result = metric.compute(predictions=predictions, references=references, **options)
        assert result == pytest.approx(expected)
        assert tuple(result) == XTREME_METRICS[task]


def test_unknown_task_and_missing_language(tmp_path):
    with pytest.raises(ValueError, match=r"unknown task 'cola'; known tasks: xnli, pawsx"):
        XtremeMetric(config_name="cola", cache_dir=tmp_path)
    with pytest.raises(ValueError, match="give compute"):
        XtremeMetric(config_name="mlqa", cache_dir=tmp_path).compute(predictions=["a"], references=[["a"]])
