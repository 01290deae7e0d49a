"""The experiments of docs/RESULTS.md; a run whose result is there already is skipped.

    python benchmarks/experiments.py glue --model_name_or_path minilm-l6 --data_dir data/glue --tasks cola rte
    python benchmarks/experiments.py cross-lingual --model_name_or_path multilingual-e5-small-trimmed \
        --pretrained_gat gat --data_dir data --parsers en de=de.udpipe es=es.udpipe fr=fr.udpipe zh=zh.udpipe

`--data_dir` holds GLUE's TASK/train.jsonl and TASK/validation.jsonl (without it they come from the Hub), or the
folders of the cross-lingual tasks. `--pretrained_gat` is a checkpoint that `syntax-bert pretrain-gat` made from the
same encoder.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import HfArgumentParser
from transformers.hf_argparser import HfArg

ROOT = Path(__file__).parent.parent
SHARED = {
    "num_train_epochs": 3,
    "per_device_train_batch_size": 32,
    "per_device_eval_batch_size": 64,
    "warmup_steps": 0.1,
    "train_sampling_strategy": "group_by_length",
    "bf16": True,
    "use_cpu": True,
    "save_strategy": "no",
    "logging_strategy": "epoch",
    "disable_tqdm": True,
    "dataloader_pin_memory": False,
}
GLUE_TASKS: dict[str, dict[str, Any]] = {
    "cola": {"seeds": [1, 2, 3, 4, 5]},
    "rte": {"seeds": [1, 2, 3]},
    "stsb": {"seeds": [1, 2, 3]},
    "sst2": {"seeds": [1, 2, 3], "train_fraction": 0.05},
}
GLUE_SYSTEMS = (["upos"], ["upos", "casing", "subword", "deprel"])
CROSS_LINGUAL_TASKS: dict[str, dict[str, Any]] = {
    "panx": {
        "max_train_samples": 2000,
        "max_eval_samples": 500,
        "learning_rate": 2e-4,
        "eval_languages": ["en", "de", "es", "fr", "zh"],
    },
    "xsid": {"max_train_samples": 4000, "learning_rate": 3e-4, "eval_languages": ["en", "de", "zh"]},
    "pawsx": {
        "train_split_fraction": 0.5,
        "generalized": True,
        "num_train_epochs": 5,
        "learning_rate": 2e-4,
        "eval_languages": ["en", "de", "zh"],
    },
}
CROSS_LINGUAL_SYSTEMS: dict[str, dict[str, Any]] = {
    "plain": {"mechanism": "none"},
    "gat": {"syntax_learning_rate": 1e-3},
    "gat+structure": {"syntax_learning_rate": 1e-3, "structure_loss_weight": 0.5},
    "gat-pretrained": {"syntax_learning_rate": 1e-3, "structure_loss_weight": 0.0},
}


@dataclass
class ExperimentArguments:
    """What to run."""

    model_name_or_path: str = HfArg(help="The encoder.")
    data_dir: Path | None = HfArg(default=None, help="Folder of local data.")
    tasks: list[str] | None = HfArg(default=None, help="Default: all.")
    learning_rates: list[float] = HfArg(default_factory=lambda: [5e-5], help="GLUE: those to try.")
    seeds: list[int] | None = HfArg(default=None, help="Default: 1 to 5 for CoLA, 1 to 3 for the others.")
    pretrained_gat: str | None = HfArg(default=None, help="Cross-lingual: a checkpoint of pretrain-gat.")
    parsers: list[str] | None = HfArg(default=None, help="Cross-lingual: as in run_xtreme_syntax.py.")
    results_dir: Path = HfArg(default=ROOT / "docs" / "results", help="Where the results of all runs are.")
    output_dir: Path = HfArg(default=Path("output"), help="Where training leaves the rest.")


def glue_runs(args: ExperimentArguments) -> Iterator[dict[str, Any]]:
    """Gives the arguments of each comparison with the baseline."""
    for task in args.tasks or GLUE_TASKS:
        files = {}
        if args.data_dir is not None:
            files = {f"{split}_file": args.data_dir / task / f"{split}.jsonl" for split in ("train", "validation")}
        for learning_rate in args.learning_rates:
            for features in GLUE_SYSTEMS:
                yield {
                    "task_name": task,
                    "syntax_features": features,
                    "learning_rate": learning_rate,
                    "compare_baseline": True,
                    "model_name_or_path": args.model_name_or_path,
                    "results_dir": args.results_dir / "glue",
                    "output_dir": args.output_dir / "glue" / f"{task}-{learning_rate:g}-{'+'.join(features)}",
                    **GLUE_TASKS[task],
                    **files,
                }


def cross_lingual_runs(args: ExperimentArguments) -> Iterator[dict[str, Any]]:
    """Gives the arguments of each system."""
    for task in args.tasks or CROSS_LINGUAL_TASKS:
        for name, system in CROSS_LINGUAL_SYSTEMS.items():
            model = args.pretrained_gat if name == "gat-pretrained" else args.model_name_or_path
            if model is not None:
                yield {
                    "task_name": task,
                    "system_name": name,
                    "seeds": [1, 2, 3],
                    "model_name_or_path": model,
                    "data_dir": args.data_dir,
                    "parsers": args.parsers,
                    "results_dir": args.results_dir / task,
                    "output_dir": args.output_dir / "cross-lingual" / task / name,
                    **CROSS_LINGUAL_TASKS[task],
                    **system,
                }


def run(script: str, settings: dict[str, Any]) -> None:
    """Runs a script with its arguments in a JSON file, which stays beside its output."""
    file = Path(settings["output_dir"]) / "arguments.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings, indent=1, default=str), encoding="utf-8")
    print(script, file, flush=True)
    subprocess.run([sys.executable, str(ROOT / script), str(file)], check=True)


KINDS = {"glue": ("run_glue_syntax.py", glue_runs), "cross-lingual": ("run_xtreme_syntax.py", cross_lingual_runs)}


def main(kind: str = "", *arguments: str) -> None:
    """Runs what is missing."""
    if kind not in KINDS:
        sys.exit(__doc__)
    (args,) = HfArgumentParser(ExperimentArguments).parse_args_into_dataclasses(list(arguments))
    script, runs = KINDS[kind]
    for settings in runs(args):
        seeds = {} if args.seeds is None else {"seeds": args.seeds}
        run(script, {**SHARED, **settings, **seeds})


if __name__ == "__main__":
    main(*sys.argv[1:])
