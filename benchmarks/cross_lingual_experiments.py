"""The cross-lingual experiments of docs/RESULTS.md; a run whose result is there already is skipped.

    python benchmarks/cross_lingual_experiments.py --model multilingual-e5-small-trimmed --pretrained_gat gat \
        --data_dir DATA --parsers en de=de.udpipe es=es.udpipe fr=fr.udpipe zh=zh.udpipe --tasks panx xsid pawsx

`--pretrained_gat` is a checkpoint that `syntax-bert pretrain-gat` made from the same encoder.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAWSX = "--train_split_fraction 0.5 --num_train_epochs 5 --learning_rate 2e-4 --eval_languages en de zh"
TASKS = {
    "panx": "--max_train_samples 2000 --num_train_epochs 3 --learning_rate 2e-4 --eval_languages en de es fr zh "
    "--max_eval_samples 500",
    "xsid": "--max_train_samples 4000 --num_train_epochs 3 --learning_rate 3e-4 --eval_languages en de zh",
    "pawsx": PAWSX,
    "pawsx-generalized": f"{PAWSX} --generalized",
}
GAT = "--syntax_learning_rate 1e-3"
SYSTEMS = {
    "plain": "--mechanism none",
    "gat": GAT,
    "gat+structure": f"{GAT} --structure_loss_weight 0.5",
    "gat-pretrained": f"{GAT} --structure_loss_weight 0",
}
SHARED = (
    "--warmup_steps 0.1 --seeds 1 2 3 --per_device_train_batch_size 32 "
    "--per_device_eval_batch_size 64 --train_sampling_strategy group_by_length --bf16 --use_cpu --save_strategy no "
    "--logging_strategy epoch --disable_tqdm true --dataloader_pin_memory false"
).split()


def main() -> None:
    """Runs what is missing."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", required=True)
    arguments.add_argument("--pretrained_gat", required=True)
    arguments.add_argument("--data_dir", required=True)
    arguments.add_argument("--parsers", nargs="+", required=True)
    arguments.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    arguments.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    arguments.add_argument("--results_dir", type=Path, default=ROOT / "docs" / "results")
    arguments.add_argument("--output_dir", type=Path, default=Path("output/cross-lingual"))
    options = arguments.parse_args()
    for task in options.tasks:
        for system in options.systems:
            model = options.pretrained_gat if system == "gat-pretrained" else options.model
            command = [
                *(
                    sys.executable,
                    str(ROOT / "run_xtreme_syntax.py"),
                    "--task_name",
                    task.removesuffix("-generalized"),
                ),
                *("--model_name_or_path", model, "--data_dir", options.data_dir, "--parsers", *options.parsers),
                *("--system_name", system, "--results_dir", str(options.results_dir / task)),
                *("--output_dir", str(options.output_dir / task / system)),
                *TASKS[task].split(),
                *SYSTEMS[system].split(),
                *SHARED,
            ]
            print(" ".join(command), flush=True)
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
