import json
import sys

import pytest
from transformers import TrainingArguments

from syntax_bert.arguments import ComparisonArguments
from syntax_bert.experiments import check_comparison, run_over_seeds


@pytest.fixture
def measure(tmp_path):
    """Runs a system that measures what it is asked for, under any metric's name; gives metrics by seed and the runs."""

    def run(metrics, seeds=None, **arguments):
        args = TrainingArguments(str(tmp_path), report_to="none", use_cpu=True, **arguments)
        ran = []
        settings = {"task": "task", "data": {"train": "a"}}
        measured = run_over_seeds(
            {"upos": {}},
            ComparisonArguments(seeds=seeds),
            args,
            settings,
            lambda system, args: ran.append(args.seed) or metrics,
        )
        return measured["upos"], ran

    return run


def test_a_run_is_recorded_and_not_repeated(measure, tmp_path):
    metrics = {"train_loss": 1.0, "eval_de_f1": 0.5}
    assert measure(metrics, do_train=True, do_eval=True) == ({42: metrics}, [42])
    assert measure({}, do_train=True, do_eval=True) == ({42: metrics}, [])
    assert measure({}, do_train=True) == ({42: metrics}, [])
    assert measure({}, do_train=True, do_eval=True, seeds=[42, 1]) == ({42: metrics, 1: {}}, [1])
    assert json.loads((tmp_path / "results" / "task-upos-5e-05-seed42.json").read_text())["metrics"] == metrics


def test_an_evaluation_that_was_not_recorded_is_missed(measure):
    measure({"train_loss": 1.0}, do_train=True)
    with pytest.raises(ValueError, match=r"seed42\.json is of a run without evaluation: .* --do_eval alone"):
        measure({}, do_train=True, do_eval=True)
    assert measure({"eval_loss": 2.0}, do_eval=True) == ({42: {"eval_loss": 2.0}}, [42])


@pytest.mark.parametrize(
    ("num_systems", "arguments", "message"),
    [
        (1, {"do_eval": True}, "a comparison of systems or seeds trains them: add --do_train"),
        (2, {"do_train": True}, "a comparison of systems needs validation data and --do_eval"),
        (1, {"do_train": True, "resume_from_checkpoint": "here"}, "omit --resume_from_checkpoint"),
    ],
)
def test_what_cannot_be_compared(num_systems, arguments, message, tmp_path):
    args = TrainingArguments(str(tmp_path), report_to="none", use_cpu=True, **arguments)
    with pytest.raises(ValueError, match=message):
        check_comparison(num_systems, ComparisonArguments(seeds=[1, 2]), args)


def test_a_comparison_needs_something_to_plot_with(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    args = TrainingArguments(str(tmp_path), report_to="none", use_cpu=True, do_train=True, do_eval=True)
    check_comparison(1, ComparisonArguments(), args)
    with pytest.raises(ImportError, match=r"syntax_bert\[plots\]"):
        check_comparison(2, ComparisonArguments(), args)
