"""The experiments of docs/RESULTS.md; a run whose result is there already is skipped.

    python benchmarks/experiments.py glue --model_name_or_path minilm-l6 --data_dir data/glue --tasks cola rte
    python benchmarks/experiments.py cross-lingual --model_name_or_path multilingual-e5-small-trimmed \
        --pretrained_gat gat --data_dir data --parsers en de=de.udpipe es=es.udpipe fr=fr.udpipe zh=zh.udpipe
    python benchmarks/experiments.py translation --data_dir data/multi30k --fractions 0.05 0.1 0.25

`--data_dir` holds GLUE's TASK/train.jsonl and TASK/validation.jsonl (without it they come from the Hub), the folders
of the cross-lingual tasks, or Multi30k's files. `--pretrained_gat` is a checkpoint that `syntax-bert pretrain-gat`
made from the same encoder.
"""

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import HfArgumentParser
from transformers.hf_argparser import HfArg

from syntax_bert.experiments import save_json
from syntax_bert.translation_metrics import compare_translations

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
TRANSLATION: dict[str, Any] = {
    "train_tokenizer": 2000,
    "config_overrides": "d_model=128,encoder_layers=3,decoder_layers=3,encoder_ffn_dim=512,decoder_ffn_dim=512,"
    "encoder_attention_heads=4,decoder_attention_heads=4",
    "learning_rate": 3e-3,
    "lr_scheduler_type": "inverse_sqrt",
    "warmup_steps": 400,
    "adam_beta2": 0.998,
    "label_smoothing_factor": 0.1,
    "tokens_per_batch": 1024,
    "train_sampling_strategy": "random",
    "max_length": 64,
    "bf16": False,  # gains nothing at this size
}
TRANSLATION_EPOCHS = {0.05: 30, 0.1: 20, 0.25: 10, 1.0: 5}
FEATURES: dict[str, Any] = {
    "syntax_features": ["upos", "casing", "subword"],
    "feature_combination": "concat",
    "feature_size": 8,
}
TRANSLATION_SYSTEMS: dict[str, dict[str, Any]] = {
    "plain": {"syntax_features": ["none"]},
    "features": FEATURES,
    "dependency": {"syntax_features": ["none"], "distance_scaling": "dependency"},
    "dependency-random": {
        "syntax_features": ["none"],
        "distance_scaling": "dependency",
        "scaling_sparsing": "random",
    },
    # as released for the smallest corpus, a quarter of the heads
    "parent": {
        "syntax_features": ["none"],
        "distance_scaling": "parent",
        "num_scaled_heads": 1,
        "scaling_sparsing": "random",
        "sparsing_prob": 0.4,
    },
    "additive": {"syntax_features": ["none"], "distance_scaling": "additive"},
    # the best by BLEU on the validation set at 10 %
    "features+scaling": {**FEATURES, "distance_scaling": "dependency", "scaling_sparsing": "random"},
}


@dataclass
class ExperimentArguments:
    """What to run."""

    model_name_or_path: str | None = HfArg(default=None, help="The encoder; none for translation.")
    data_dir: Path | None = HfArg(default=None, help="Folder of local data.")
    tasks: list[str] | None = HfArg(default=None, help="Default: all.")
    learning_rates: list[float] = HfArg(default_factory=lambda: [5e-5], help="GLUE: those to try.")
    seeds: list[int] | None = HfArg(default=None, help="Default: 1 to 5 for CoLA, 1 to 3 for the others.")
    pretrained_gat: str | None = HfArg(default=None, help="Cross-lingual: a checkpoint of pretrain-gat.")
    parsers: list[str] | None = HfArg(default=None, help="Cross-lingual: as in run_xtreme_syntax.py.")
    fractions: list[float] = HfArg(
        default_factory=lambda: [0.05, 0.1, 0.25], help="Translation: shares of the training data."
    )
    systems: list[str] | None = HfArg(default=None, help="Translation: default all.")
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


def translation_runs(args: ExperimentArguments) -> Iterator[dict[str, Any]]:
    """Gives the arguments of each run, by share of the training data, system and seed."""
    if args.data_dir is None:
        sys.exit("translation needs --data_dir")
    data = {"train": "train", "validation": "val", "test": "test_2016_flickr"}
    for fraction in args.fractions:
        for name, seed in itertools.product(args.systems or TRANSLATION_SYSTEMS, args.seeds or [1, 2]):
            yield {
                "system_name": name,
                "seed": seed,
                "train_fraction": fraction,
                "num_train_epochs": TRANSLATION_EPOCHS[fraction],
                "results_dir": args.results_dir / "translation" / f"{fraction:g}",
                "output_dir": args.output_dir / "translation" / f"{fraction:g}" / f"{name}-seed{seed}",
                **{f"{split}_file": [args.data_dir / f"{file}.{language}" for language in ("en", "de")]
                   for split, file in data.items()},
                **TRANSLATION,
                **TRANSLATION_SYSTEMS[name],
            }  # fmt: skip


def compare_by_bootstrap(args: ExperimentArguments) -> None:
    """Compares the translations that are there with the baseline's, by share of the data and seed."""
    references = (args.data_dir / "test_2016_flickr.de").read_text(encoding="utf-8").split("\n")[:-1]
    for fraction, seed in itertools.product(args.fractions, args.seeds or [1, 2]):
        folder = args.output_dir / "translation" / f"{fraction:g}"
        files = {name: folder / f"{name}-seed{seed}" / "test.txt" for name in TRANSLATION_SYSTEMS}
        texts = {
            name: file.read_text(encoding="utf-8").split("\n")[:-1] for name, file in files.items() if file.exists()
        }
        if "plain" not in texts or len(texts) < 2:
            continue
        rows = {row["system"]: row for row in compare_translations(texts, references)}
        path = args.results_dir / "translation-bootstrap" / f"{fraction:g}-seed{seed}.json"
        before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        save_json(path, list({**{row["system"]: row for row in before}, **rows}.values()))


def run(script: str, settings: dict[str, Any]) -> None:
    """Runs a script with its arguments in a JSON file, which stays beside its output."""
    file = Path(settings["output_dir"]) / "arguments.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings, indent=1, default=str), encoding="utf-8")
    print(script, file, flush=True)
    subprocess.run([sys.executable, str(ROOT / script), str(file)], check=True)


KINDS = {
    "glue": ("run_glue_syntax.py", glue_runs),
    "cross-lingual": ("run_xtreme_syntax.py", cross_lingual_runs),
    "translation": ("run_translation_syntax.py", translation_runs),
}


def main(kind: str = "", *arguments: str) -> None:
    """Runs what is missing."""
    if kind not in KINDS:
        sys.exit(__doc__)
    (args,) = HfArgumentParser(ExperimentArguments).parse_args_into_dataclasses(list(arguments))
    script, runs = KINDS[kind]
    for settings in runs(args):
        if args.seeds is not None and "seeds" in settings:
            settings["seeds"] = args.seeds
        run(script, {**SHARED, **settings})
    if kind == "translation":
        compare_by_bootstrap(args)


if __name__ == "__main__":
    main(*sys.argv[1:])
