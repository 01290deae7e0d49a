"""The GLUE experiments of docs/RESULTS.md; a run whose result is there already is skipped.

    python benchmarks/glue_experiments.py --model_name_or_path minilm-l6 --data_dir data/glue --tasks cola rte

`--data_dir` holds TASK/train.jsonl and TASK/validation.jsonl; without it the data come from the Hub.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SYSTEMS = (["upos"], ["upos", "casing", "subword", "deprel"])
SEEDS = {"cola": "1 2 3 4 5", "rte": "1 2 3", "stsb": "1 2 3", "sst2": "1 2 3"}
EXTRA = {"sst2": ["--train_fraction", "0.05"]}
SHARED = (
    "--num_train_epochs 3 --per_device_train_batch_size 32 --per_device_eval_batch_size 64 --warmup_steps 0.1 "
    "--bf16 --use_cpu --train_sampling_strategy group_by_length --save_strategy no --logging_strategy epoch "
    "--disable_tqdm true --dataloader_pin_memory false"
).split()


def main() -> None:
    """Runs what is missing."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model_name_or_path", required=True)
    arguments.add_argument("--data_dir", type=Path)
    arguments.add_argument("--tasks", nargs="+", default=list(SEEDS), choices=SEEDS)
    arguments.add_argument("--learning_rates", nargs="+", default=["5e-5"])
    arguments.add_argument("--seeds", nargs="+", help="default: 1 to 5 for CoLA, 1 to 3 for the others")
    arguments.add_argument("--results_dir", default=str(ROOT / "docs" / "results" / "glue"))
    arguments.add_argument("--output_dir", type=Path, default=Path("output/glue"))
    options = arguments.parse_args()
    for task in options.tasks:
        for learning_rate in options.learning_rates:
            for features in SYSTEMS:
                command = [
                    *(sys.executable, str(ROOT / "run_glue_syntax.py"), "--task_name", task),
                    *("--model_name_or_path", options.model_name_or_path, "--results_dir", options.results_dir),
                    *("--output_dir", str(options.output_dir / f"{task}-{learning_rate}-{'+'.join(features)}")),
                    *(
                        "--learning_rate",
                        learning_rate,
                        "--compare_baseline",
                        "--seeds",
                        *(options.seeds or SEEDS[task].split()),
                    ),
                    *("--syntax_features", *features, *EXTRA.get(task, []), *SHARED),
                ]
                if options.data_dir is not None:
                    for split in ("train", "validation"):
                        command += [f"--{split}_file", str(options.data_dir / task / f"{split}.jsonl")]
                print(" ".join(command), flush=True)
                subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
