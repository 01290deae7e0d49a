import warnings

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef
from transformers import EvalPrediction

from syntax_bert.metrics import GLUE_METRICS, PRIMARY_METRIC, GlueMetric, glue_compute_metrics

EXPECTED = {
    "matthews_correlation": matthews_corrcoef,
    "accuracy": accuracy_score,
    "f1": f1_score,
    "pearson": lambda references, predictions: pearsonr(references, predictions).statistic,
    "spearmanr": lambda references, predictions: spearmanr(references, predictions).statistic,
}
CLASSIFICATION = sorted(GLUE_METRICS.keys() - {"stsb"})


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_glue_names():
    assert GLUE_METRICS["cola"] == ("matthews_correlation",)
    assert GLUE_METRICS["stsb"] == ("pearson", "spearmanr")
    assert GLUE_METRICS["mrpc"] == GLUE_METRICS["qqp"] == ("accuracy", "f1")
    assert {GLUE_METRICS[task] for task in CLASSIFICATION if task not in {"cola", "mrpc", "qqp"}} == {("accuracy",)}
    accuracy_tasks = dict.fromkeys(["sst2", "mnli", "qnli", "rte", "wnli"], "accuracy")
    others = {"cola": "matthews_correlation", "stsb": "pearson", "mrpc": "f1", "qqp": "f1"}
    assert accuracy_tasks | others == PRIMARY_METRIC


@pytest.mark.parametrize("task", CLASSIFICATION)
def test_classification_equals_sklearn(task, rng, tmp_path):
    references, predictions = rng.integers(3 if task == "mnli" else 2, size=(2, 60))
    result = GlueMetric(config_name=task, cache_dir=tmp_path).compute(predictions=predictions, references=references)
    assert result == pytest.approx({name: EXPECTED[name](references, predictions) for name in GLUE_METRICS[task]})


def test_stsb_equals_scipy_without_truncation(rng, tmp_path):
    references = rng.uniform(0, 5, 60)
    predictions = references + rng.normal(size=60)
    metric = GlueMetric(config_name="stsb", cache_dir=tmp_path)
    result = metric.compute(predictions=predictions, references=references)
    assert result == pytest.approx(
        {name: EXPECTED[name](references, predictions) for name in ("pearson", "spearmanr")}, abs=1e-6
    )
    # All of these truncate to 0.
    assert metric.compute(predictions=[0.1, 0.2, 0.9], references=[0.3, 0.4, 0.5])["spearmanr"] == pytest.approx(1)


@pytest.mark.parametrize("predictions", [[2.5, 2.5, 2.5], [1.0, 2.0, 3.0]], ids=["constant", "varied"])
def test_constant_stsb_is_zero_without_warnings(predictions, tmp_path):
    metric = GlueMetric(config_name="stsb", cache_dir=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = metric.compute(predictions=predictions, references=[4.0, 4.0, 4.0])
        assert result == {"pearson": 0.0, "spearmanr": 0.0}
        result = metric.compute(predictions=predictions, references=[0.0, 1.0, 2.0])
        assert result["pearson"] == pytest.approx(0.0 if predictions[0] == predictions[1] else 1.0)


def test_diverged_stsb_is_nan(tmp_path):
    metric = GlueMetric(config_name="stsb", cache_dir=tmp_path)
    result = metric.compute(predictions=[float("nan")] * 3, references=[0.0, 1.0, 2.0])
    assert np.isnan([result["pearson"], result["spearmanr"]]).all()


@pytest.mark.parametrize("task", ["cola", "mrpc"])
def test_constant_classifier_is_silent(task, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = GlueMetric(config_name=task, cache_dir=tmp_path).compute(predictions=[0, 0, 0], references=[0, 0, 1])
    assert result == pytest.approx({"cola": {"matthews_correlation": 0}, "mrpc": {"accuracy": 2 / 3, "f1": 0}}[task])


@pytest.mark.parametrize("task", ["hans", None])
def test_unknown_task_names_the_known(task):
    with pytest.raises(ValueError, match="unknown GLUE task.*cola, sst2, .*wnli"):
        GlueMetric(config_name=task)
    with pytest.raises(ValueError, match="unknown GLUE task"):
        glue_compute_metrics(task)


@pytest.mark.parametrize("in_tuple", [False, True])
def test_compute_metrics_takes_the_most_likely_class(in_tuple, rng):
    logits, labels = rng.normal(size=(40, 3)).astype(np.float32), rng.integers(3, size=40)
    predictions = (logits, rng.normal(size=(40, 8))) if in_tuple else logits
    compute_metrics = glue_compute_metrics("mnli")
    for _ in range(2):  # the Trainer calls it after every epoch
        result = compute_metrics(EvalPrediction(predictions, labels))
        assert result == pytest.approx({"accuracy": accuracy_score(labels, logits.argmax(-1))})


@pytest.mark.parametrize("num_sentences", [1, 40])
def test_compute_metrics_squeezes_regression(num_sentences, rng):
    logits, labels = rng.normal(size=(num_sentences, 1)).astype(np.float32), rng.uniform(0, 5, num_sentences)
    result = glue_compute_metrics("stsb")(EvalPrediction(logits, labels))
    expected = pearsonr(labels, logits[:, 0]).statistic if num_sentences > 1 else 0.0
    assert result.keys() == {"pearson", "spearmanr"}
    assert result["pearson"] == pytest.approx(expected, abs=1e-6)
