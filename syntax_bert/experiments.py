"""Runs of several systems with several seeds: what was measured is kept, compared, and never measured twice."""

import copy
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import TrainingArguments, set_seed

from .arguments import ComparisonArguments
from .comparison import compare_systems, comparison_markdown
from .plots import plot_seeds
from .training import last_checkpoint

__all__ = ["run_over_seeds", "systems_to_run"]

logger = logging.getLogger(__name__)


def systems_to_run(features: Sequence[str], compare_baseline: bool) -> dict[str, list[str]]:
    """Names the systems to train, with the features of each; the baseline comes first."""
    systems = {"+".join(features) or "plain": list(features)}
    return {"plain": [], **systems} if compare_baseline else systems


def run_over_seeds(
    systems: Mapping[str, list[str]],
    comparison_args: ComparisonArguments,
    training_args: TrainingArguments,
    settings: Mapping[str, Any],
    metric: str,
    run: Callable[[list[str], TrainingArguments], dict[str, float]],
) -> dict[str, dict[int, float]]:
    """Runs every system with every seed, each once, and writes what was measured.

    Each training run leaves a small JSON file in the results folder; a run that is there already is not repeated. With
    several runs a table (`comparison.md`, `comparison.json`) and a plot (`seeds.png`) lie in the output folder.
    Without training, there is one run, and nothing is skipped.

    Args:
        systems: Features of each system, by its name.
        comparison_args: Seeds and results folder.
        training_args: Arguments of all runs; output folder and seed are set for each.
        settings: What else identifies a run: kept in its file, and compared before it is skipped.
        metric: Key of the score in the metrics that `run` returns.
        run: Trains and evaluates one system.

    Returns:
        Score by system and seed, of the runs that were evaluated.

    Raises:
        ValueError: If the results folder or the output folder holds a run with other settings, if there is nothing to
            train or to compare by.
    """
    seeds = comparison_args.seeds or [training_args.seed]
    runs = [(system, seed) for system in systems for seed in seeds]
    if len(runs) > 1 and not training_args.do_train:
        raise ValueError("a comparison of systems or seeds trains them: add --do_train")
    if len(systems) > 1 and not training_args.do_eval:
        raise ValueError("a comparison of systems needs validation data and --do_eval")
    output_dir = Path(str(training_args.output_dir))
    results_dir = Path(comparison_args.results_dir or output_dir / "results")
    scores: dict[str, dict[int, float]] = {}
    for system, seed in runs:
        args = copy.copy(training_args)
        args.seed = seed
        if len(runs) > 1:
            args.output_dir = str(output_dir / system / f"seed-{seed}")
        described = {**settings, "system": system, "seed": seed, **training_settings(args)}
        file = results_dir / f"{settings['task']}-{system}-{args.learning_rate:g}-seed{seed}.json"
        metrics = run_once(file, described, args, partial(run, systems[system]))
        if metric in metrics:
            scores.setdefault(system, {})[seed] = metrics[metric]
    if len(runs) > 1 and scores and training_args.should_save:
        rows = compare_systems(scores)
        save_json(output_dir / "comparison.json", rows)
        table = comparison_markdown(rows, metric)
        (output_dir / "comparison.md").write_text(table, encoding="utf-8")
        plot_seeds(scores, metric, output_dir / "seeds.png")
        print(table)
    return scores


def run_once(
    file: Path,
    described: Mapping[str, Any],
    args: TrainingArguments,
    run: Callable[[TrainingArguments], dict[str, float]],
) -> dict[str, float]:
    """Runs one system with one seed, unless the file of its results is there; gives its metrics.

    A run that trains first notes its settings as `run.json` in its output folder, whose checkpoints are resumed only by
    a run with the same.
    """
    if args.do_train:
        result = recorded_run(file, described)
        if result is not None:
            logger.info("%s is there already", file)
            if args.do_predict:
                logger.warning("no predictions are made again; for them, --do_predict alone reads a saved model")
            return result["metrics"]
        note = Path(str(args.output_dir)) / "run.json"
        if last_checkpoint(str(args.output_dir)) is not None:
            recorded_run(note, described)
        if args.should_save:
            save_json(note, described)
    set_seed(args.seed)
    metrics = run(args)
    if args.do_train and args.should_save:
        save_json(file, {**described, "versions": versions(), "metrics": metrics})
    return metrics


def training_settings(args: TrainingArguments) -> dict[str, Any]:
    """Gives the training arguments that the outcome of a run depends on."""
    names = ("learning_rate", "num_train_epochs", "max_steps", "warmup_steps", "weight_decay", "bf16", "fp16")
    batch_size = args.train_batch_size * args.gradient_accumulation_steps * args.world_size
    return {**{name: getattr(args, name) for name in names}, "train_batch_size": batch_size}


def recorded_run(file: Path, described: Mapping[str, Any]) -> dict[str, Any] | None:
    """Reads what a run recorded; `None` if there is no file.

    Raises:
        ValueError: If a setting that it recorded is another here.
    """
    if not file.is_file():
        return None
    result = json.loads(file.read_text(encoding="utf-8"))
    different = {key: (result[key], here) for key, here in described.items() if result.get(key, here) != here}
    if different:
        raise ValueError(f"{file} is a run with other settings (there, here): {different}; choose another folder")
    return result


def save_json(path: Path, content: Any) -> None:
    """Writes JSON, indented, making its folder; whoever reads the file meanwhile finds all of it or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    unfinished.replace(path)


def versions() -> dict[str, str]:
    """Names the versions a result depends on."""
    return {"torch": torch.__version__, "transformers": transformers.__version__}
