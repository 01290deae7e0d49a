"""Tables of what several systems score in several languages."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .comparison import compare_systems, p_text
from .experiments import Metrics, save_json, scores_by_seed

__all__ = ["language_markdown", "language_rows", "write_language_tables"]

UNPARSED = "†"


def write_language_tables(
    measured: Mapping[str, Mapping[int, Metrics]], metric: str, unparsed: Sequence[str], folder: Path
) -> str:
    """Writes `languages.json`, `.csv` and `.md`: the mean over seeds of one metric, by system and language.

    With several systems each is compared with the first, the baseline: the mean paired difference, and the p-value of
    a two-sided paired t-test, not corrected for the number of comparisons.

    Args:
        measured: Metrics by system and seed, named `eval_LANGUAGE_METRIC`, those of the mean over languages too.
        metric: The metric.
        unparsed: Languages (or pairs) that were evaluated without syntax.
        folder: Where to write.

    Returns:
        The Markdown table.

    Raises:
        ValueError: If nothing was measured by this metric.
    """
    rows = language_rows(measured, metric, unparsed)
    folder.mkdir(parents=True, exist_ok=True)
    save_json(folder / "languages.json", rows)
    with open(folder / "languages.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    table = language_markdown(rows, metric)
    (folder / "languages.md").write_text(table, encoding="utf-8")
    return table


def language_rows(
    measured: Mapping[str, Mapping[int, Metrics]], metric: str, unparsed: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Compares the systems in each language; the arguments are those of `write_language_tables`."""
    names = [name for by_seed in measured.values() for metrics in by_seed.values() for name in metrics]
    wanted = [name for name in dict.fromkeys(names) if name.startswith("eval_") and name.endswith(f"_{metric}")]
    rows = []
    for name in wanted:
        language = name.removeprefix("eval_").removesuffix(f"_{metric}")
        for row in compare_systems(scores_by_seed(measured, name)):
            rows.append({"language": language, "metric": metric, "without_syntax": language in unparsed, **row})
    if not rows:
        raise ValueError(f"no {metric!r} was measured in any language")
    return rows


def language_markdown(rows: Sequence[Mapping[str, Any]], metric: str) -> str:
    """Writes rows of language and system as a Markdown table with one line a system, in percent points."""
    languages = list(dict.fromkeys(row["language"] for row in rows))
    systems = list(dict.fromkeys(row["system"] for row in rows))
    cells = {(row["system"], row["language"]): row for row in rows}
    marked = {row["language"] for row in rows if row["without_syntax"]}
    titles = [language + (UNPARSED if language in marked else "") for language in languages]
    lines = [f"| {metric} ×100 | seeds | {' | '.join(titles)} |", "|---|--:|" + "--:|" * len(languages)]
    for system in systems:
        own = [cells.get((system, language)) for language in languages]
        seeds = max(cell["num_seeds"] for cell in own if cell is not None)
        lines.append(f"| {system} | {seeds} | {' | '.join(map(score_text, own))} |")
    for system in systems[1:]:
        own = [cells.get((system, language)) for language in languages]
        lines.append(f"| {system}, difference (p) | | {' | '.join(map(difference_text, own))} |")
    if marked:
        lines += ["", f"{UNPARSED} without syntax, for texts in a language without a parser."]
    return "\n".join(lines) + "\n"


def score_text(cell: Mapping[str, Any] | None) -> str:
    """Writes a mean and a standard deviation."""
    if cell is None:
        return "–"
    return f"{100 * cell['mean']:.1f}" + ("" if cell["std"] is None else f" ± {100 * cell['std']:.1f}")


def difference_text(cell: Mapping[str, Any] | None) -> str:
    """Writes a difference from the baseline and its p-value."""
    if cell is None or cell["difference"] is None:
        return "–"
    return f"{100 * cell['difference']:+.1f} ({p_text(cell['p_value'])})"
