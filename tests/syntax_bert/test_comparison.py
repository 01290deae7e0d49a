import warnings

import numpy as np
import pytest
from scipy.stats import ttest_rel

from syntax_bert.comparison import compare_systems, comparison_markdown, p_text


def test_row_equals_scipy():
    baseline = {1: 0.60, 2: 0.62, 3: 0.59, 4: 0.61}
    system = {4: 0.63, 1: 0.64, 2: 0.63, 3: 0.62}  # the same seeds in another order
    first, second = compare_systems({"BERT": baseline, "Syntax-BERT": system})
    paired = [system[seed] for seed in baseline]
    assert second == {
        "system": "Syntax-BERT",
        "num_seeds": 4,
        "mean": pytest.approx(0.63),
        "std": pytest.approx(np.std(paired, ddof=1)),
        "difference": pytest.approx(0.025),
        "p_value": pytest.approx(ttest_rel(paired, list(baseline.values())).pvalue),
    }
    assert (first["system"], first["difference"], first["p_value"]) == ("BERT", 0.0, None)


def test_only_shared_seeds_are_paired():
    baseline = {1: 0.5, 2: 0.6, 3: 0.1}
    _, row = compare_systems({"a": baseline, "b": {1: 0.6, 2: 0.9, 7: 0.0}})
    assert row["num_seeds"] == 3
    assert row["mean"] == pytest.approx(0.5)
    assert row["difference"] == pytest.approx(0.2)
    assert row["p_value"] == pytest.approx(ttest_rel([0.6, 0.9], [0.5, 0.6]).pvalue)


@pytest.mark.parametrize(
    ("system", "difference"),
    [({1: 0.7}, 0.2), ({9: 0.7, 10: 0.8}, None), ({1: 0.6, 2: 0.7, 3: 0.8}, 0.1)],
    ids=["one shared seed", "none shared", "shifted, equal but for rounding"],
)
def test_undefined_test_has_no_p_value(system, difference):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, row = compare_systems({"a": {1: 0.5, 2: 0.6, 3: 0.7}, "b": system})
    assert row["p_value"] is None
    assert row["difference"] == (None if difference is None else pytest.approx(difference))
    assert (row["std"] is None) == (len(system) == 1)


@pytest.mark.parametrize("scores", [{}, {"a": {1: 0.5}, "b": {}}])
def test_missing_scores_are_an_error(scores):
    with pytest.raises(ValueError, match="at least one seed"):
        compare_systems(scores)


def test_markdown_in_percent_points():
    scores = {"a": {1: 0.50, 2: 0.52, 3: 0.54}, "b": {1: 0.49, 2: 0.50, 3: 0.53}, "c": {1: 0.6}, "d": {9: 0.5}}
    assert comparison_markdown(compare_systems(scores), "accuracy") == (
        "| system | seeds | accuracy ×100 | difference | p |\n"
        "|---|--:|--:|--:|--:|\n"
        "| a | 3 | 52.00 ± 2.00 | +0.00 | – |\n"
        "| b | 3 | 50.67 ± 2.08 | -1.33 | 0.057 |\n"
        "| c | 1 | 60.00 | +10.00 | – |\n"
        "| d | 1 | 50.00 | – | – |\n"
    )


@pytest.mark.parametrize(
    ("p_value", "text"), [(None, "–"), (1.0, "1.000"), (0.0574, "0.057"), (0.001, "0.001"), (0.00099, "<0.001")]
)
def test_p_values_as_text(p_value, text):
    assert p_text(p_value) == text
