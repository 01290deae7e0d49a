"""Scores tagged reviews against others of the same reviews.

    python -m examples.reviews.evaluate --reference_file examples/reviews/data/test.jsonl \
        --prediction_file tagged.jsonl --output_dir output/evaluation

Prints a table and writes it as `scores.md` and `scores.json`, with a bar chart, `scores.png`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from transformers.hf_argparser import HfArg

from syntax_bert.arguments import parse_arguments
from syntax_bert.plots import check_matplotlib

from .aspect_scores import aspect_scores, coverage_scores, majority_tags, paired_tags
from .review_files import read_reviews

COLUMNS = [f"{unit}_{name}" for unit in ("span", "word") for name in ("precision", "recall", "f1")]


@dataclass
class EvaluateArguments:
    """What is read and written."""

    reference_file: str = HfArg(help="Reviews with the right labels.")
    prediction_file: str = HfArg(help="The same reviews, as the commands tag and clean write them.")
    output_dir: str = HfArg(help="Where the scores go.")


def score_table(scores: Mapping[str, Mapping[str, float]]) -> str:
    """Writes scores, ×100, as a Markdown table."""
    lines = [["tag", "spans", "words", *(name.replace("_", " ") for name in COLUMNS)]]
    lines.append(["---", *["---:"] * (2 + len(COLUMNS))])
    for tag, row in scores.items():
        numbers = [str(row["num_spans"]), str(row["num_words"])]
        lines.append([tag, *numbers, *(f"{100 * row[name]:.1f}" for name in COLUMNS)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def plot_scores(scores: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Draws the F1 of spans and words as two bars a tag."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 0.32 * len(scores) + 1.2), layout="constrained")
    axes = figure.add_subplot()
    places = np.arange(len(scores))
    for offset, unit, color in ((-0.2, "word", "#4878a8"), (0.2, "span", "#c2d4e6")):
        axes.barh(places + offset, [row[f"{unit}_f1"] for row in scores.values()], 0.4, label=f"{unit}s", color=color)
    axes.set_yticks(places, [tag.replace("_", " ") for tag in scores])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("F1")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=150)


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    """Runs the command; returns the scores by tag."""
    (args,) = parse_arguments(EvaluateArguments, arguments=arguments)
    check_matplotlib()
    references = read_reviews(args.reference_file, needs=["labels"])
    expected, found = paired_tags(references, read_reviews(args.prediction_file, needs=["words", "labels"]))
    scores, coverage = aspect_scores(expected, found), coverage_scores(expected, found)
    majority = aspect_scores(expected, majority_tags(expected))["micro avg"]["word_f1"]
    folder = Path(args.output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    shares = {**coverage, "word_f1_of_the_commonest_tag": majority}
    lines = [f"{name.replace('_', ' ')}: {100 * value:.1f}\n" for name, value in shares.items()]
    text = "".join([score_table(scores), "\n", *lines])
    (folder / "scores.md").write_text(text, encoding="utf-8")
    written = {"tags": scores, **{name: None if np.isnan(value) else value for name, value in shares.items()}}
    (folder / "scores.json").write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    plot_scores(scores, folder / "scores.png")
    print(text)
    return scores


if __name__ == "__main__":
    main()
