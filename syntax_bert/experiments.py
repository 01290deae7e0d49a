"""Runs of several systems with several seeds: what was measured is kept, compared, and never measured twice."""

import copy
import json
import logging
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import TrainingArguments, set_seed

from .arguments import ComparisonArguments
from .comparison import compare_systems, comparison_markdown
from .digests import short_digest
from .hub import publish, write_model_card
from .plots import check_matplotlib, plot_seeds
from .training import last_checkpoint

__all__ = [
    "check_comparison",
    "compare_runs",
    "describe_model",
    "describe_parser",
    "run_over_seeds",
    "save_json",
    "scores_by_seed",
]

Metrics = dict[str, float]

logger = logging.getLogger(__name__)


def check_comparison(num_systems: int, comparison_args: ComparisonArguments, args: TrainingArguments) -> None:
    """Checks, before data are read, that several systems or seeds can be compared.

    Raises:
        ValueError: If there is nothing to train or to compare by, or one run is resumed for all.
        ImportError: If there is nothing to plot with.
    """
    num_runs = num_systems * len(comparison_args.seeds or [args.seed])
    if args.push_to_hub and not (args.do_train and args.save_strategy != "no"):
        raise ValueError(
            "--push_to_hub publishes the model that is trained and saved: add --do_train, --save_strategy"
        )
    if num_runs == 1:
        return
    if not args.do_train:
        raise ValueError("a comparison of systems or seeds trains them: add --do_train")
    if num_systems > 1 and not args.do_eval:
        raise ValueError("a comparison of systems needs validation data and --do_eval")
    if args.push_to_hub:
        raise ValueError("--push_to_hub is for one run; publish one of several by syntax-bert push FOLDER USER/NAME")
    if args.resume_from_checkpoint:
        raise ValueError("each of several runs resumes from its own last checkpoint: omit --resume_from_checkpoint")
    check_matplotlib()


def run_over_seeds(
    systems: Mapping[str, Mapping[str, Any]],
    comparison_args: ComparisonArguments,
    training_args: TrainingArguments,
    settings: Mapping[str, Any],
    run: Callable[[str, TrainingArguments], Metrics],
) -> dict[str, dict[int, Metrics]]:
    """Runs every system with every seed, each once, and writes what was measured.

    Each training run leaves a small JSON file in the results folder; a run that is there already is not repeated.
    Without training, there is one run, and nothing is skipped. A model that was saved gets its model card.

    Args:
        systems: What identifies the runs of each system, by its name.
        comparison_args: Seeds and results folder.
        training_args: Arguments of all runs; output folder and seed are set for each.
        settings: What else identifies a run: kept in its file, and compared before it is skipped.
        run: Trains and evaluates one system.

    Returns:
        Metrics by system and seed.

    Raises:
        ValueError: If the results folder or the output folder holds a run with other settings.
    """
    seeds = list(dict.fromkeys(comparison_args.seeds or [training_args.seed]))
    runs = [(system, seed) for system in systems for seed in seeds]
    output_dir = Path(training_args.output_dir)
    results_dir = Path(comparison_args.results_dir or output_dir / "results")
    measured: dict[str, dict[int, Metrics]] = {system: {} for system in systems}
    notes: dict[tuple[str, int], tuple[Path, dict[str, Any]]] = {}
    for system, seed in runs:
        args = copy.copy(training_args)
        args.seed, args.push_to_hub = seed, False  # published once, with its card
        if len(runs) > 1:
            args.output_dir = str(output_dir / system / f"seed-{seed}")
        described = {**settings, **systems[system], "system": system, "seed": seed, **training_settings(args)}
        file = results_dir / f"{settings['task']}-{system}-{args.learning_rate:g}-seed{seed}.json"
        measured[system][seed] = run_once(file, described, args, partial(run, system))
        notes[system, seed] = Path(args.output_dir), described
    if training_args.do_train and training_args.should_save:
        for (system, seed), (folder, described) in notes.items():
            if (folder / "config.json").is_file():
                by_seed = {name: scores_by_seed(measured, name)[system] for name in measured[system][seed]}
                save_json(folder / "run.json", {**described, "metrics": measured[system][seed], "seeds": by_seed})
                write_model_card(folder)
        if training_args.push_to_hub:
            publish(
                output_dir,
                training_args.hub_model_id or output_dir.name,
                training_args.hub_private_repo,
                training_args.hub_token,
            )
    return measured


def scores_by_seed(measured: Mapping[str, Mapping[int, Metrics]], metric: str) -> dict[str, dict[int, float]]:
    """Picks one metric of what was measured, by system and seed, where it was."""
    scores = {
        system: {seed: metrics[metric] for seed, metrics in by_seed.items() if metric in metrics}
        for system, by_seed in measured.items()
    }
    return {system: by_seed for system, by_seed in scores.items() if by_seed}


def compare_runs(
    measured: Mapping[str, Mapping[int, Metrics]], metric: str, args: TrainingArguments, scale: int = 100
) -> dict[str, dict[int, float]]:
    """Gives the scores by system and seed; several are printed and written as a table, and their seeds as a plot.

    They are `comparison.md`, `comparison.json` and `seeds.png` in the output folder.
    """
    scores = scores_by_seed(measured, metric)
    if sum(map(len, scores.values())) > 1 and args.should_save:
        folder = Path(args.output_dir)
        rows = compare_systems(scores)
        save_json(folder / "comparison.json", rows)
        table = comparison_markdown(rows, metric, scale)
        (folder / "comparison.md").write_text(table, encoding="utf-8")
        print(table)
        plot_seeds(scores, metric, folder / "seeds.png")
    return scores


def run_once(
    file: Path,
    described: Mapping[str, Any],
    args: TrainingArguments,
    run: Callable[[TrainingArguments], Metrics],
) -> Metrics:
    """Runs one system with one seed, unless the file of its results is there; gives its metrics.

    A run that trains first notes its settings as `run.json` in its output folder, whose checkpoints are resumed only
    by a run with the same.

    Raises:
        ValueError: If what is recorded is of other settings, damaged, or without the evaluation that is asked for.
    """
    if args.do_train:
        result = recorded_run(file, described)
        if result is not None:
            logger.info("%s is there already", file)
            metrics = result.get("metrics")
            if not isinstance(metrics, dict):
                raise ValueError(f"{file} is damaged, remove it: it has no metrics")
            if args.do_eval and not any(name.startswith("eval_") for name in metrics):
                raise ValueError(
                    f"{file} is of a run without evaluation: choose another folder, or evaluate the saved model with "
                    "--do_eval alone"
                )
            if args.do_predict:
                logger.warning("no predictions are made; for them, --do_predict alone reads a saved model")
            return metrics
        note = Path(args.output_dir) / "run.json"
        is_resumable = last_checkpoint(args.output_dir) is not None
        if is_resumable and recorded_run(note, described) is None and not args.resume_from_checkpoint:
            raise ValueError(f"{args.output_dir} has checkpoints of another run (no run.json); choose another folder")
        if args.should_save:
            save_json(note, described)
    set_seed(args.seed)
    metrics = run(args)
    if args.do_train and args.should_save:
        save_json(file, {**described, "versions": versions(), "metrics": metrics})
    return metrics


def describe_model(name_or_path: str) -> dict[str, Any]:
    """Names a checkpoint, a folder with the digests of its weights, its config and its tokenizer."""
    folder = Path(name_or_path)
    if not folder.is_dir():
        return {"model": name_or_path}
    kinds = ("*.safetensors", "*.bin", "config.json", "generation_config.json", "tokenizer*.json", "vocab.*", "*.spm")
    files = sorted(file for kind in kinds for file in folder.glob(kind))
    return {"model": folder.name, "model_files": {file.name: short_digest(file) for file in files}}


def describe_parser(parser: Any) -> dict[str, Any]:
    """Names a parser's files with their digests, by language where there are several, and its beam.

    Nothing for no parser, as they are to be found in the results of a run.
    """
    if parser is None:
        return {}
    paths = getattr(parser, "paths", ())
    named = paths.items() if isinstance(paths, Mapping) else ((None, path) for path in paths)
    digests = {language or Path(path).name: short_digest(path) for language, path in named}
    return {"parser": digests or type(parser).__name__, "beam_size": getattr(parser, "beam_size", None)}


def training_settings(args: TrainingArguments) -> dict[str, Any]:
    """Gives the training arguments that the outcome of a run depends on."""
    names = """learning_rate num_train_epochs max_steps warmup_steps weight_decay lr_scheduler_type optim max_grad_norm
        label_smoothing_factor adam_beta1 adam_beta2 adam_epsilon train_sampling_strategy bf16 fp16 data_seed
        neftune_noise_alpha lr_scheduler_kwargs optim_args load_best_model_at_end metric_for_best_model
        dataloader_drop_last""".split()
    if args.load_best_model_at_end:
        names += "eval_strategy eval_steps save_strategy save_steps greater_is_better".split()
    batch_size = args.train_batch_size * args.gradient_accumulation_steps * args.world_size
    return {**{name: getattr(args, name) for name in names}, "train_batch_size": batch_size}


def recorded_run(file: Path, described: Mapping[str, Any]) -> dict[str, Any] | None:
    """Reads what a run recorded; `None` if there is no file.

    Raises:
        ValueError: If a setting that it recorded is another here.
    """
    if not file.is_file():
        return None
    try:
        result = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} is damaged, remove it: {error}") from error
    if not isinstance(result, dict):
        raise ValueError(f"{file} is damaged, remove it: it holds {result!r}")
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
