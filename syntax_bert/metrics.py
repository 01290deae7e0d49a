"""GLUE's metrics (Wang et al., 2019, https://openreview.net/forum?id=rJ4km2R5t7) without network or metric script."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import evaluate
import numpy as np
from datasets import Features, Value
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef
from transformers import EvalPrediction

__all__ = ["GLUE_METRICS", "PRIMARY_METRIC", "GlueMetric", "glue_compute_metrics"]

GLUE_METRICS: dict[str, tuple[str, ...]] = {
    "cola": ("matthews_correlation",),
    "sst2": ("accuracy",),
    "mrpc": ("accuracy", "f1"),
    "stsb": ("pearson", "spearmanr"),
    "qqp": ("accuracy", "f1"),
    "mnli": ("accuracy",),
    "qnli": ("accuracy",),
    "rte": ("accuracy",),
    "wnli": ("accuracy",),
}
PRIMARY_METRIC: dict[str, str] = {task: "f1" if "f1" in names else names[0] for task, names in GLUE_METRICS.items()}


def correlation(correlate: Callable[..., Any], references: Sequence[float], predictions: Sequence[float]) -> float:
    """Correlates, but calls it 0 where one side is constant, where scipy warns and returns nan."""
    if np.ptp(references) == 0 or np.ptp(predictions) == 0:
        return 0.0
    return correlate(references, predictions).statistic


SCORERS: dict[str, Callable[..., float]] = {
    "accuracy": accuracy_score,
    "f1": partial(f1_score, zero_division=0.0),
    "matthews_correlation": matthews_corrcoef,
    "pearson": partial(correlation, pearsonr),
    "spearmanr": partial(correlation, spearmanr),
}


class GlueMetric(evaluate.Metric):
    """The scores that GLUE reports for one task, under GLUE's names: `GlueMetric(config_name="cola")`.

    Predictions and references are class indices, or similarities for `stsb`. If all predictions or all references of
    `stsb` are equal, both correlations are 0, as Matthews correlation is for a constant classifier; they are nan only
    if a prediction is. `evaluate` casts to the declared features, so class indices given as fractions are truncated.
    Instances do not pickle.

    Raises:
        ValueError: If `config_name` is not a GLUE task with these metrics.
    """

    def _info(self) -> evaluate.MetricInfo:
        if self.config_name not in GLUE_METRICS:
            raise ValueError(f"unknown GLUE task {self.config_name!r}; known tasks: {', '.join(GLUE_METRICS)}")
        dtype = "float32" if self.config_name == "stsb" else "int64"
        return evaluate.MetricInfo(
            description=f"GLUE scores for {self.config_name}: {', '.join(GLUE_METRICS[self.config_name])}.",
            citation="Wang et al. (2019). GLUE: A Multi-Task Benchmark and Analysis Platform for NLU. ICLR.",
            features=Features({"predictions": Value(dtype), "references": Value(dtype)}),
            reference_urls=["https://gluebenchmark.com"],
        )

    def _compute(self, predictions: Sequence[float], references: Sequence[float]) -> dict[str, float]:
        return {name: float(SCORERS[name](references, predictions)) for name in GLUE_METRICS[self.config_name]}


def glue_compute_metrics(task: str) -> Callable[[EvalPrediction], dict[str, float]]:
    """Builds the `compute_metrics` of a `Trainer` for one GLUE task.

    Args:
        task: A key of `GLUE_METRICS`.

    Returns:
        A function of the logits, `(B, num_labels)` or `(B, 1)` for `stsb`, alone or first in a tuple, and the labels.

    Raises:
        ValueError: If the task is unknown.
    """
    metric = GlueMetric(config_name=task, keep_in_memory=True)

    def compute_metrics(evaluation: EvalPrediction) -> dict[str, float]:
        predictions = evaluation.predictions
        logits = predictions[0] if isinstance(predictions, tuple) else predictions
        outputs = logits.reshape(-1) if task == "stsb" else logits.argmax(axis=-1)
        return metric.compute(predictions=outputs, references=evaluation.label_ids)

    return compute_metrics
