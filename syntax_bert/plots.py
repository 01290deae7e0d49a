"""Plots of scores over seeds and of dependency trees over wordpieces; needs the extra `plots` (matplotlib)."""

from __future__ import annotations

from collections.abc import Sized
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["check_matplotlib", "plot_aligned_tree", "plot_learning_curves", "plot_seeds"]

INCHES_PER_CHARACTER = 0.095
ARC_COLOR, LABEL_COLOR, TAG_COLOR = "#4878a8", "#1f4e79", "#777777"


def check_matplotlib() -> None:
    """Checks that there is something to plot with.

    Raises:
        ImportError: If matplotlib is missing.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "syntax_bert[plots]"') from error


def new_figure(width: float, height: float) -> Figure:
    """Makes a figure, size in inches, that is not registered with pyplot."""
    check_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def plot_seeds(scores: dict[str, dict[int, float]], metric: str, path: str | PathLike[str]) -> None:
    """Plots one dot per seed and a bar at the mean for each system.

    Args:
        scores: System -> seed -> score.
        metric: What the axis is called.
        path: The image file; its suffix selects the format.

    Raises:
        ImportError: If matplotlib is missing.
    """
    width = 1.6 + max(len(system) for system in scores) * INCHES_PER_CHARACTER * len(scores)
    figure = new_figure(max(width, 3.0), 3.2)
    axes = figure.add_subplot()
    for position, by_seed in enumerate(scores.values()):
        values = list(by_seed.values())
        offsets = np.linspace(-0.15, 0.15, len(values)) if len(values) > 1 else [0.0]
        axes.plot(np.add(position, offsets), values, "o", color=ARC_COLOR, alpha=0.7, markeredgewidth=0)
        axes.hlines(np.mean(values), position - 0.28, position + 0.28, color="black", linewidth=2)
    axes.set_xticks(range(len(scores)), list(scores))
    axes.set_xlim(-0.6, len(scores) - 0.4)
    axes.set_ylabel(metric)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=200)


def plot_learning_curves(scores: dict[str, dict[float, list[float]]], metric: str, path: str | PathLike[str]) -> None:
    """Plots a line through the means of each system over the amount of data, on a logarithmic axis, and a dot a run.

    Args:
        scores: System -> percentage of the training data -> scores, one a seed.
        metric: What the axis is called.
        path: The image file; its suffix selects the format.

    Raises:
        ImportError: If matplotlib is missing.
    """
    figure = new_figure(6.4, 4.0)
    axes = figure.add_subplot()
    for system, by_share in scores.items():
        shares = sorted(by_share)
        (line,) = axes.plot(shares, [np.mean(by_share[share]) for share in shares], label=system)
        runs = [(share, score) for share in shares for score in by_share[share]]
        axes.plot(*zip(*runs, strict=True), "o", color=line.get_color(), markersize=3, alpha=0.6)
    shares = sorted({share for by_share in scores.values() for share in by_share})
    axes.set_xscale("log")
    axes.set_xticks(shares, [f"{share:g} %" for share in shares], minor=False)
    axes.minorticks_off()
    axes.set_xlabel("share of the training data")
    axes.set_ylabel(metric)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=200)


def plot_aligned_tree(
    wordpieces: list[str],
    head_positions: list[int],
    labels: list[str],
    path: str | PathLike[str],
    title: str | None = None,
    tags: list[str] | None = None,
) -> None:
    """Draws the dependency arcs of one sentence above its T wordpieces, arrow head at the dependent.

    Args:
        wordpieces: The T wordpieces, special tokens included.
        head_positions: 0-based position of each wordpiece's head; one that is its own head, the anchor, has no arc.
        labels: Deprel of each wordpiece, written on its arc.
        path: The image file; its suffix selects the format.
        title: Written above the tree.
        tags: UPOS of each wordpiece, written beneath it.

    Raises:
        ImportError: If matplotlib is missing.
        ValueError: If the lists differ in length or a head lies outside the sequence.
    """
    columns: list[Sized] = [wordpieces, head_positions, labels, *([] if tags is None else [tags])]
    if len({len(column) for column in columns}) > 1:
        raise ValueError(f"all columns need one entry per wordpiece, but have {[len(column) for column in columns]}")
    outside = [head for head in head_positions if not 0 <= head < len(wordpieces)]
    if outside:
        raise ValueError(f"heads {outside} lie outside the {len(wordpieces)} wordpieces")

    centers = _centers(wordpieces, head_positions, labels, tags or [""] * len(wordpieces))
    arcs = [(dependent, head) for dependent, head in enumerate(head_positions) if dependent != head]
    top = max((_height(*arc) for arc in arcs), default=1.0)
    figure = new_figure((centers[-1] + 8) * INCHES_PER_CHARACTER, 0.5 * top + 1.1)
    axes = figure.add_subplot()
    for dependent, head in arcs:
        _draw_arc(axes, centers[dependent], centers[head], _height(dependent, head), labels[dependent])
    for center, wordpiece in zip(centers, wordpieces, strict=True):
        axes.text(center, -0.15, wordpiece, ha="center", va="top", fontsize=11, parse_math=False)
    for center, tag in zip(centers, tags or [], strict=False):
        axes.text(center, -0.62, tag, ha="center", va="top", fontsize=8, color=TAG_COLOR, parse_math=False)
    axes.set_xlim(-4, centers[-1] + 4)
    axes.set_ylim(-1.0 if tags else -0.6, top + 0.4)
    axes.axis("off")
    if title:
        axes.set_title(title, fontsize=11, parse_math=False)
    figure.savefig(path, dpi=200)


def _centers(wordpieces: list[str], head_positions: list[int], labels: list[str], tags: list[str]) -> list[float]:
    """Places the wordpieces on a line, in characters, with room for their texts and for labels between neighbours."""
    widths = [max(len(wordpiece), len(tag), 3) for wordpiece, tag in zip(wordpieces, tags, strict=True)]
    centers = [0.0]
    for right in range(1, len(wordpieces)):
        left = right - 1
        between = [labels[a] for a, b in ((left, right), (right, left)) if head_positions[a] == b]
        gap = max([(widths[left] + widths[right]) / 2 + 2, *(len(label) + 3 for label in between)])
        centers.append(centers[-1] + gap)
    return centers


def _height(dependent: int, head: int) -> float:
    return abs(dependent - head) ** 0.75


def _draw_arc(axes: Axes, dependent: float, head: float, height: float, label: str) -> None:
    """Draws half an ellipse, flattened to carry its label, that leaves the head a little towards the dependent."""
    start = head + np.sign(dependent - head) * 0.8
    middle, radius = (start + dependent) / 2, (start - dependent) / 2
    angles = np.linspace(0, np.pi, 200)
    cosine, sine = np.cos(angles), np.sin(angles)
    x, y = middle + radius * np.sign(cosine) * abs(cosine) ** 0.8, height * abs(sine) ** 0.8
    axes.plot(x, y, color=ARC_COLOR, linewidth=1.2)
    axes.plot(dependent, 0.06, marker="v", color=ARC_COLOR, markersize=6, markeredgewidth=0)
    box = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
    axes.text(middle, height, label, ha="center", va="center", fontsize=8, color=LABEL_COLOR, bbox=box, zorder=3)
