"""Comparison of systems trained with several random seeds, as a table."""

from typing import Any

import numpy as np
from scipy.stats import ttest_rel

__all__ = ["compare_systems", "comparison_markdown", "p_text"]


def compare_systems(scores: dict[str, dict[int, float]]) -> list[dict[str, Any]]:
    """Summarises each system over its seeds and tests it against the first one, the baseline.

    `difference` and `p_value` use only the seeds that a system shares with the baseline: the mean paired difference,
    and a two-sided paired t-test not corrected for the number of systems. The test is undefined, and `p_value` None,
    with fewer than two shared seeds or if all differences are equal up to rounding, as for the baseline itself.

    Args:
        scores: System -> seed -> score; the first system is the baseline.

    Returns:
        One row per system with `system`, `num_seeds`, `mean`, `std` (sample; None for one seed), `difference` (None
        without shared seeds) and `p_value`.

    Raises:
        ValueError: If a system has no scores.
    """
    empty = [system for system, by_seed in scores.items() if not by_seed]
    if empty or not scores:
        raise ValueError(f"every system needs the score of at least one seed, but these have none: {empty or 'all'}")
    baseline = next(iter(scores.values()))
    rows = []
    for system, by_seed in scores.items():
        values = list(by_seed.values())
        shared = [seed for seed in by_seed if seed in baseline]
        difference, p_value = paired_difference(
            [by_seed[seed] for seed in shared], [baseline[seed] for seed in shared]
        )
        rows.append(
            {
                "system": system,
                "num_seeds": len(values),
                "mean": float(np.mean(values)),
                "std": float(np.std(values, ddof=1)) if len(values) > 1 else None,
                "difference": difference,
                "p_value": p_value,
            }
        )
    return rows


def paired_difference(values: list[float], baseline: list[float]) -> tuple[float | None, float | None]:
    """Gives the mean difference and the p-value, each None where it is undefined."""
    if not values:
        return None, None
    differences = np.subtract(values, baseline)
    is_testable = len(values) > 1 and not np.ptp(differences) < 1e-9  # rounding alone would make p almost 0
    return float(differences.mean()), float(ttest_rel(values, baseline).pvalue) if is_testable else None


def comparison_markdown(rows: list[dict[str, Any]], metric: str, scale: int = 100) -> str:
    """Writes the rows of `compare_systems` as a Markdown table, scores in percent points unless `scale` is 1."""
    title = metric if scale == 1 else f"{metric} ×{scale}"
    lines = [f"| system | seeds | {title} | difference | p |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        mean = f"{scale * row['mean']:.2f}"
        if row["std"] is not None:
            mean += f" ± {scale * row['std']:.2f}"
        difference = "–" if row["difference"] is None else f"{scale * row['difference']:+.2f}"
        lines.append(f"| {row['system']} | {row['num_seeds']} | {mean} | {difference} | {p_text(row['p_value'])} |")
    return "\n".join(lines) + "\n"


def p_text(p_value: float | None) -> str:
    """Writes a p-value with three decimals, a dash for none."""
    if p_value is None:
        return "–"
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"
