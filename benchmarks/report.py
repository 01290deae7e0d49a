"""Writes the figures of docs/RESULTS.md between its markers, from the JSON files in docs/results.

python benchmarks/report.py
"""

import json
import re
from collections import defaultdict
from pathlib import Path
from statistics import mean

from syntax_bert.comparison import compare_systems, comparison_markdown, p_text
from syntax_bert.cross_lingual_metrics import XTREME_METRICS
from syntax_bert.language_tables import language_markdown, language_rows
from syntax_bert.metrics import PRIMARY_METRIC
from syntax_bert.plots import plot_learning_curves, plot_seeds

DOCS = Path(__file__).parent.parent / "docs"
RESULTS = DOCS / "results"
METRIC_NAMES = {"cola": "Matthews correlation", "stsb": "Pearson correlation"}

Scores = dict[str, dict[int, float]]


def read(folder: Path) -> list[dict]:
    """Reads the runs of a folder, the baseline before systems with few and with many features."""
    runs = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    return sorted(runs, key=lambda run: (run["system"] != "plain", run["system"].count("+"), run["seed"]))


def best_rates(runs: list[dict], metric: str) -> tuple[Scores, dict[str, float]]:
    """Gives each system's scores at its best learning rate, by the mean over the seeds that were run at all rates."""
    scores: dict[str, dict[float, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        scores[run["system"]][run["learning_rate"]][run["seed"]] = run["metrics"][metric]
    best = {}
    for system, by_rate in scores.items():
        shared = set.intersection(*map(set, by_rate.values()))
        best[system] = max(by_rate, key=lambda rate, rates=by_rate: mean(rates[rate][seed] for seed in shared))
    return {system: scores[system][rate] for system, rate in best.items()}, best


def glue() -> str:
    """Writes one table a task, and its plot."""
    by_task = defaultdict(list)
    for run in read(RESULTS / "glue"):
        by_task[run["task"]].append(run)
    parts = []
    for task, runs in sorted(by_task.items()):
        if runs[0]["system"] != "plain":
            continue  # nothing to compare with yet
        metric = PRIMARY_METRIC[task]
        scores, rates = best_rates(runs, f"eval_{metric}")
        name = METRIC_NAMES.get(task, metric)
        plot_seeds(scores, name, RESULTS / f"glue-{task}.png")
        tried = sorted({run["learning_rate"] for run in runs})
        chosen = ", ".join(f"{system} {rate:g}" for system, rate in rates.items())
        parts.append(
            f"### {task}\n\n{comparison_markdown(compare_systems(scores), name)}\n"
            f"Learning rates tried: {', '.join(f'{rate:g}' for rate in tried)}; used: {chosen}.\n\n"
            f"![{task}](results/glue-{task}.png)\n"
        )
    return "\n".join(parts)


def cross_lingual(task: str) -> str:
    """Writes the table of one cross-lingual task, by language and system, for each of its metrics."""
    measured: dict[str, dict[int, dict[str, float]]] = defaultdict(dict)
    for run in read(RESULTS / task):
        measured[run["system"]][run["seed"]] = run["metrics"]
    if not measured:
        return ""
    names = [name for name in XTREME_METRICS[task] if name not in ("precision", "recall")]
    return "\n".join(language_markdown(language_rows(measured, name), name) for name in names)


def translation() -> str:
    """Writes one table a share of the training data, and plots BLEU over the shares."""
    curves: dict[str, dict[float, list[float]]] = defaultdict(dict)
    parts = []
    for folder in sorted((RESULTS / "translation").iterdir(), key=lambda folder: float(folder.name)):
        scores: dict[str, Scores] = {metric: defaultdict(dict) for metric in ("test_bleu", "test_chrf", "eval_bleu")}
        for run in read(folder):
            for metric, by_system in scores.items():
                by_system[run["system"]][run["seed"]] = run["metrics"][metric]
        p_values: dict[str, list[str]] = defaultdict(list)
        for file in sorted((RESULTS / "translation-bootstrap").glob(f"{folder.name}-seed*.json")):
            for row in json.loads(file.read_text(encoding="utf-8")):
                p_values[row["system"]].append(p_text(row["bleu_p"]))
        lines = [
            f"### {float(folder.name):.0%} of the pairs\n",
            "| system | BLEU | difference | p, by seed | chrF | difference | validation BLEU |",
            "|---|--:|--:|--:|--:|--:|--:|",
        ]
        rows = {metric: compare_systems(by_system) for metric, by_system in scores.items()}
        for bleu, chrf, validation in zip(*rows.values(), strict=True):
            name = bleu["system"]
            lines.append(
                f"| {name} | {spread(bleu)} | {bleu['difference']:+.2f} | {', '.join(p_values[name])} | "
                f"{spread(chrf)} | {chrf['difference']:+.2f} | {spread(validation)} |"
            )
            curves[name][100 * float(folder.name)] = list(scores["test_bleu"][name].values())
        parts.append("\n".join(lines) + "\n")
    plot_learning_curves(dict(curves), "BLEU", RESULTS / "translation.png")
    return "\n".join([*parts, "![BLEU over the share of the training data](results/translation.png)\n"])


def spread(row: dict) -> str:
    """Writes a mean, with its standard deviation where there is one."""
    return f"{row['mean']:.2f}" + ("" if row["std"] is None else f" ± {row['std']:.2f}")


def demo() -> str:
    """Writes the table of `make demo`."""
    scores: Scores = defaultdict(dict)
    for run in read(RESULTS / "demo"):
        scores[run["system"]][run["seed"]] = run["metrics"]["eval_accuracy"]
    return comparison_markdown(compare_systems(scores), "accuracy")


def figures(file: Path) -> str:
    """Writes the JSON object that a benchmark gave, rounded to four decimals."""
    content = json.loads(file.read_text(encoding="utf-8"), parse_float=lambda number: round(float(number), 4))
    return f"```json\n{json.dumps(content, indent=1)}\n```\n"


def main() -> None:
    """Replaces every block of RESULTS.md."""
    file = DOCS / "RESULTS.md"
    text = file.read_text(encoding="utf-8")
    blocks = {
        "glue": glue(),
        "demo": demo(),
        "translation": translation(),
        **{task: cross_lingual(task) for task in ("panx", "xsid", "pawsx")},
        **{file.stem: figures(file) for file in sorted((RESULTS / "benchmarks").glob("*.json"))},
    }
    for name, block in blocks.items():
        marked = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        text = marked.sub(lambda match, block=block: match[1] + block + match[2], text)
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
