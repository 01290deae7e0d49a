import logging

import numpy as np
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value
from transformers import BertConfig

from syntax_bert.data import glue
from syntax_bert.data.glue import GLUE_TASKS, ClassificationData, load_classification_data, write_submission
from syntax_bert.metrics import GLUE_METRICS

COLUMNS = {  # as the Hub data set has them
    "cola": ["sentence"],
    "sst2": ["sentence"],
    "mrpc": ["sentence1", "sentence2"],
    "stsb": ["sentence1", "sentence2"],
    "qqp": ["question1", "question2"],
    "mnli": ["premise", "hypothesis"],
    "qnli": ["question", "sentence"],
    "rte": ["sentence1", "sentence2"],
    "wnli": ["sentence1", "sentence2"],
}
LABELS = {
    "cola": ["unacceptable", "acceptable"],
    "sst2": ["negative", "positive"],
    "mrpc": ["not_equivalent", "equivalent"],
    "stsb": None,
    "qqp": ["not_duplicate", "duplicate"],
    "mnli": ["entailment", "neutral", "contradiction"],
    "qnli": ["entailment", "not_entailment"],
    "rte": ["entailment", "not_entailment"],
    "wnli": ["not_entailment", "entailment"],
}
FILES = {
    "cola": ["CoLA.tsv"],
    "sst2": ["SST-2.tsv"],
    "mrpc": ["MRPC.tsv"],
    "stsb": ["STS-B.tsv"],
    "qqp": ["QQP.tsv"],
    "mnli": ["MNLI-m.tsv", "MNLI-mm.tsv"],
    "qnli": ["QNLI.tsv"],
    "rte": ["RTE.tsv"],
    "wnli": ["WNLI.tsv"],
}
pytestmark = pytest.mark.usefixtures("own_cache")


def rows(task, split, count=3):
    """Rows as the Hub has them: ids or scores, −1 for the labels of a test split, and an index."""
    made = []
    for number in range(count):
        label = number / 2 if LABELS[task] is None else number % len(LABELS[task])
        texts = {column: f"{split} {column} {number}" for column in COLUMNS[task]}
        made.append({**texts, "label": -1 if split.startswith("test") else label, "idx": 10 + number})
    return made


def splits_of(task):
    halves = ("_matched", "_mismatched") if task == "mnli" else ("",)
    return ["train", *(f"{kind}{half}" for kind in ("validation", "test") for half in halves)]


@pytest.fixture
def hub(monkeypatch):
    """Stands in for the Hub data set, and lists what was asked for."""
    asked = []

    def load_dataset(path, name):
        asked.append((path, name))
        label = Value("float32") if LABELS[name] is None else ClassLabel(names=LABELS[name])
        texts = dict.fromkeys(COLUMNS[name], Value("string"))
        features = Features({**texts, "label": label, "idx": Value("int32")})
        return DatasetDict(
            {split: Dataset.from_list(rows(name, split), features=features) for split in splits_of(name)}
        )

    monkeypatch.setattr(glue, "load_dataset", load_dataset)
    return asked


def test_the_nine_tasks():
    assert GLUE_TASKS.keys() == COLUMNS.keys() == GLUE_METRICS.keys()
    assert {name: list(task.columns) for name, task in GLUE_TASKS.items()} == COLUMNS
    assert {name: task.labels and list(task.labels) for name, task in GLUE_TASKS.items()} == LABELS


@pytest.mark.parametrize("task", COLUMNS)
def test_hub_and_files_give_the_same(task, hub, write):
    data = load_classification_data(task)
    assert hub == [("nyu-mll/glue", task)]
    assert (list(data.columns), data.labels, data.task_name) == (COLUMNS[task], LABELS[task], task)
    assert data.splits.keys() == set(splits_of(task))
    for split, dataset in data.splits.items():
        expected = [dict(row) for row in rows(task, split)]
        if split.startswith("test"):
            expected = [{column: row[column] for column in (*COLUMNS[task], "idx")} for row in expected]
        assert dataset.to_list() == expected

    files = {split: write(f"{split}.jsonl", rows(task, split)) for split in splits_of(task)}
    from_files = load_classification_data(task, files)
    for split, dataset in from_files.splits.items():
        assert [{**row, "idx": int(row["idx"])} for row in dataset] == data.splits[split].to_list()


@pytest.mark.parametrize("task", COLUMNS)
def test_submissions(task, hub, tmp_path):
    data = load_classification_data(task)
    predictions = np.array([-0.25, 2.34567, 7.5], dtype=np.float32) if task == "stsb" else np.array([1, 0, 1])
    expected = ["0.000", "2.346", "5.000"] if task == "stsb" else ["1", "0", "1"]
    if task in ("mnli", "qnli", "rte"):
        expected = [LABELS[task][index] for index in (1, 0, 1)]
    paths = [write_submission(data, split, predictions, tmp_path / "new") for split in data.names("test")]
    assert [path.name for path in paths] == FILES[task]
    for path in paths:
        table = "".join(f"{10 + number}\t{value}\n" for number, value in enumerate(expected))
        assert path.read_text() == f"index\tprediction\n{table}"


def test_submission_of_one_mnli_file(write, tmp_path):
    test = write("test.jsonl", [{"premise": "a", "hypothesis": "b"}, {"premise": "c", "hypothesis": "d"}])
    data = load_classification_data("mnli", {"test": test}, trained=BertConfig(num_labels=3))
    path = write_submission(data, "test", np.array([2, 1]), tmp_path)
    assert path.name == "MNLI-m.tsv"
    assert path.read_text() == "index\tprediction\n0\tcontradiction\n1\tneutral\n"


@pytest.mark.parametrize(
    ("labels", "predictions", "expected"),
    [
        (["no", "yes"], np.array([1, 0]), ["yes", "no"]),
        (["1", "5"], np.array([1, 0]), ["5", "1"]),
        (None, np.array([-0.5, 17.25]), ["-0.500", "17.250"]),
    ],
)
def test_predictions_for_own_data(labels, predictions, expected, tmp_path):
    data = ClassificationData(DatasetDict({"test": Dataset.from_dict({"text": ["a", "b"]})}), ("text",), labels)
    path = write_submission(data, "test", predictions, tmp_path)
    assert path.name == "test.tsv"
    assert path.read_text() == f"index\tprediction\n0\t{expected[0]}\n1\t{expected[1]}\n"


def test_own_columns_and_labels(write):
    pairs = [{"q": "a", "a": "b", "gold": "yes"}, {"q": "c", "a": "d", "gold": "no"}]
    files = {"train": write("train.jsonl", pairs), "validation": write("validation.jsonl", pairs[:1])}
    data = load_classification_data(None, files, ["q", "a"], "gold")
    assert (data.columns, data.labels, data.task_name) == (("q", "a"), ["no", "yes"], None)
    assert data.splits["validation"].to_list() == [{"q": "a", "a": "b", "label": 1}]
    one = load_classification_data(None, files, ["a"], "gold")
    assert one.splits["train"].to_list() == [{"a": "b", "label": 1}, {"a": "d", "label": 0}]


@pytest.mark.parametrize(
    ("labels", "line"),
    [
        (["b", "c", "a"], "classification of text into 3 labels: a, b, c"),
        (["0.5", "1", "2"], "regression of text"),
        (range(21), f"classification of text into 21 labels: {', '.join(map(str, range(20)))}, ..."),
    ],
)
def test_one_line_says_what_is_learnt(write, labels, line, caplog):
    train = write("train.jsonl", [{"text": "a", "label": label} for label in labels])
    with caplog.at_level(logging.INFO, "syntax_bert"):
        load_classification_data(None, {"train": train})
    assert caplog.messages == [line]
    pair = write("pair.jsonl", [{"text": "a", "text_pair": "b", "label": label} for label in labels])
    assert str(load_classification_data(None, {"train": pair})) == line.replace("of text", "of text and text_pair")


def test_own_data_of_a_trained_model_has_its_labels(write):
    files = {"validation": write("validation.jsonl", [{"text": "a", "label": "bad"}, {"text": "b", "label": "bad"}])}
    trained = BertConfig(id2label={0: "bad", 1: "fair", 2: "good"})
    data = load_classification_data(None, files, trained=trained)
    assert data.labels == ["bad", "fair", "good"]
    assert data.splits["validation"]["label"][:] == [0, 0]
    scores = load_classification_data(
        None, {"validation": write("scores.jsonl", [{"text": "a", "label": 2}])}, trained=BertConfig(num_labels=1)
    )
    assert (scores.labels, scores.splits["validation"]["label"][:]) == (None, [2.0])


def test_label_ids_beyond_those_of_a_trained_model(write):
    files = {"validation": write("validation.jsonl", [{"text": "a", "label": 1}, {"text": "b", "label": 2}])}
    with pytest.raises(ValueError, match=r"validation\.jsonl, example 2: the label '2' is not one of \['LABEL_0'"):
        load_classification_data(None, files, trained=BertConfig(num_labels=2))


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        (["LABEL_0", "LABEL_1", "LABEL_2"], None),
        (["entailment", "neutral", "contradiction"], None),
        (["contradiction", "neutral", "entailment"], r"\['contradiction', .* of mnli \['entailment'"),
        (["LABEL_0", "LABEL_1"], r"\['LABEL_0', 'LABEL_1'\], those of mnli"),
        (["LABEL_0"], "the checkpoint's labels are a score, those of mnli"),
    ],
)
def test_labels_of_a_trained_model_and_of_a_task(labels, problem, hub):
    trained = BertConfig(id2label=dict(enumerate(labels)))
    if problem is None:
        assert load_classification_data("mnli", trained=trained).labels == LABELS["mnli"]
    else:
        with pytest.raises(ValueError, match=problem):
            load_classification_data("mnli", trained=trained)


@pytest.mark.parametrize(
    ("arguments", "row", "message"),
    [
        (("bolt",), None, r"unknown task 'bolt'; the GLUE tasks are \['cola'"),
        ((), None, "give --task_name, or --train_file"),
        (("cola",), {"text": "a", "label": 1}, r"train\.jsonl has no column 'sentence'; it has \['text', 'label'\]"),
        (("cola",), {"sentence": "a", "label": 2}, r"train\.jsonl, example 1: the label '2' is not one of \['unacc"),
        (("stsb",), {"sentence1": "a", "sentence2": "b", "label": "x"}, "example 1: the label 'x' is not a finite"),
        ((None,), {"a": "a", "b": "b", "c": "c", "label": 1}, r"out of \['a', 'b', 'c'\] with --text_columns"),
        ((None,), {"label": 1}, r"out of \[\] with --text_columns"),
        ((None,), {"text": "a", "label": 1}, r"train\.jsonl: all labels are '1'"),
    ],
)
def test_bad_data(arguments, row, message, write):
    files = None if row is None else {"train": write("train.jsonl", [row])}
    with pytest.raises(ValueError, match=message):
        load_classification_data(*arguments, files=files)


def test_a_validation_label_that_training_lacks(write):
    files = {
        "train": write("train.jsonl", [{"text": "a", "label": "no"}, {"text": "b", "label": "yes"}]),
        "validation": write("validation.jsonl", [{"text": "a", "label": "no"}, {"text": "b", "label": "maybe"}]),
    }
    with pytest.raises(
        ValueError, match=r"validation\.jsonl, example 2: the label 'maybe' is not one of \['no', 'yes"
    ):
        load_classification_data(None, files)
