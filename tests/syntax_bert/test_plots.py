import re
import sys

import pytest

from syntax_bert.plots import plot_aligned_tree, plot_learning_curves, plot_seeds

WORDPIECES = ["[CLS]", "it", "pars", "##es", "$x$", ".", "[SEP]"]
HEADS = [2, 2, 2, 2, 2, 2, 2]
LABELS = ["special", "nsubj", "root", "subword", "obj", "punct", "special"]
SCORES = {"BERT": {1: 0.5, 2: 0.6, 3: 0.7}, "Syntax-BERT": {1: 0.8}}


@pytest.fixture
def figures(monkeypatch):
    """Keeps the saved figures, so that tests can look at what they contain."""
    figure_module = pytest.importorskip("matplotlib.figure")
    saved, savefig = [], figure_module.Figure.savefig
    monkeypatch.setattr(
        figure_module.Figure, "savefig", lambda self, *args, **kw: (saved.append(self), savefig(self, *args, **kw))
    )
    return saved


def test_seeds_have_a_dot_each_and_the_mean(figures, tmp_path):
    plot_seeds(SCORES, "accuracy", tmp_path / "seeds.png")
    assert (tmp_path / "seeds.png").read_bytes().startswith(b"\x89PNG")
    axes = figures[0].axes[0]
    assert [list(line.get_ydata()) for line in axes.lines] == [[0.5, 0.6, 0.7], [0.8]]
    assert [bar.get_segments()[0][0][1] for bar in axes.collections] == pytest.approx([0.6, 0.8])
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["BERT", "Syntax-BERT"]
    assert axes.get_ylabel() == "accuracy"


def test_learning_curves_go_through_the_means(figures, tmp_path):
    scores = {"plain": {10.0: [4.0, 6.0], 5.0: [1.0, 2.0]}, "features": {5.0: [3.0]}}
    plot_learning_curves(scores, "BLEU", tmp_path / "curves.png")
    axes = figures[0].axes[0]
    lines = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
    assert lines == [([5, 10], [1.5, 5]), ([5, 5, 10, 10], [1, 2, 4, 6]), ([5], [3]), ([5], [3])]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["5 %", "10 %"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["plain", "features"]


@pytest.mark.parametrize("tags", [None, ["X", "PRON", "VERB", "VERB", "NOUN", "PUNCT", "X"]])
def test_tree_has_all_texts_and_no_arc_at_the_anchor(figures, tmp_path, tags):
    plot_aligned_tree(WORDPIECES, HEADS, LABELS, tmp_path / "tree.png", title="a tree", tags=tags)
    axes = figures[0].axes[0]
    arc_labels = [label for label in LABELS if label != "root"]
    assert [text.get_text() for text in axes.texts] == arc_labels + WORDPIECES + (tags or [])
    assert axes.get_title() == "a tree"
    assert not any(text.get_parse_math() for text in axes.texts if text.get_text() in WORDPIECES)


def test_arcs_point_at_the_dependent_and_grow_with_distance(figures, tmp_path):
    plot_aligned_tree(WORDPIECES, HEADS, LABELS, tmp_path / "tree.png")
    axes = figures[0].axes[0]
    center = {text.get_text(): text.get_position()[0] for text in axes.texts}
    arcs, arrows = axes.lines[::2], axes.lines[1::2]
    dependents = [wordpiece for wordpiece in WORDPIECES if wordpiece != "pars"]
    assert [arrow.get_xdata()[0] for arrow in arrows] == [center[wordpiece] for wordpiece in dependents]
    heights = dict(zip(dependents, [max(arc.get_ydata()) for arc in arcs], strict=True))
    assert heights["it"] == pytest.approx(heights["##es"])
    assert heights["##es"] < heights["$x$"] < heights["."] < heights["[SEP]"]
    for arc, dependent in zip(arcs, dependents, strict=True):
        ends = arc.get_xdata()[[0, -1]]
        assert ends[1] == pytest.approx(center[dependent])
        assert abs(ends[0] - center["pars"]) < 1


@pytest.mark.filterwarnings("error")
def test_tree_of_one_wordpiece(tmp_path):
    plot_aligned_tree(["[CLS]"], [0], ["root"], tmp_path / "tree.svg")
    assert "<svg" in (tmp_path / "tree.svg").read_text(encoding="utf-8")


def test_no_pyplot_state(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    plot_seeds(SCORES, "accuracy", tmp_path / "seeds.png")
    assert (tmp_path / "seeds.png").exists()


@pytest.mark.parametrize(
    ("heads", "labels", "message"),
    [([0, 0], ["a"] * 3, "[3, 2, 3]"), ([0, 0, 3], ["a"] * 3, "heads [3]"), ([0, -1, 0], ["a"] * 3, "heads [-1]")],
)
def test_bad_columns(heads, labels, message, tmp_path):
    with pytest.raises(ValueError, match=re.escape(message)):
        plot_aligned_tree(["a", "b", "c"], heads, labels, tmp_path / "tree.png")


def test_missing_matplotlib_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=re.escape('pip install "syntax_bert[plots]"')):
        plot_seeds(SCORES, "accuracy", tmp_path / "seeds.png")
    with pytest.raises(ImportError, match=re.escape('pip install "syntax_bert[plots]"')):
        plot_aligned_tree(WORDPIECES, HEADS, LABELS, tmp_path / "tree.png")
