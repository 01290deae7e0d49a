import math

import pytest
import torch

from syntax_bert.modeling.dependency_scaling import (
    ScoreChange,
    attend,
    finite_distances,
    normal_density,
    parent_offsets,
    sparsify,
    word_distances,
)

INF = math.inf
# "The un|happy cats sleep|s ." and </s>: cats is the subject of sleeps, the root; positions 0 to 7
COLUMNS = {
    "upos_ids": torch.tensor([[7, 2, 2, 9, 17, 17, 14, 1]]),
    "subword_ids": torch.tensor([[4, 1, 3, 4, 1, 3, 4, 0]]),
    "head_positions": torch.tensor([[3, 3, 1, 4, 7, 4, 4, 7]]),
}
DISTANCES = [
    [0, 2, 2, 1, 2, 2, 3, INF],
    [2, 0, 0, 1, 2, 2, 3, INF],
    [2, 0, 0, 1, 2, 2, 3, INF],
    [1, 1, 1, 0, 1, 1, 2, INF],
    [2, 2, 2, 1, 0, 0, 1, INF],
    [2, 2, 2, 1, 0, 0, 1, INF],
    [3, 3, 3, 2, 1, 1, 0, INF],
    [INF] * 7 + [0],
]


def padded(columns, left=0, right=0):
    return {name: torch.nn.functional.pad(values, (left, right)) for name, values in columns.items()}


def test_distances_are_between_words():
    assert word_distances(COLUMNS, 64).tolist() == [DISTANCES]


@pytest.mark.parametrize(("left", "right"), [(3, 0), (0, 3)])
def test_padding_is_far_from_everything_and_changes_nothing(left, right):
    distances = word_distances(padded(COLUMNS, left, right), 64)[0]
    assert distances[left : left + 8, left : left + 8].tolist() == DISTANCES
    outside = distances.clone().fill_diagonal_(INF)
    outside[left : left + 8, left : left + 8] = INF
    assert outside.isinf().all()


def test_words_of_other_sentences_are_infinitely_far():
    columns = {"upos_ids": torch.tensor([[9, 17, 9, 17, 1]]), "subword_ids": torch.tensor([[4, 4, 4, 4, 0]])}
    distances = word_distances({**columns, "head_positions": torch.tensor([[1, 4, 3, 4, 4]])}, 64)[0]
    assert distances[:2, :2].tolist() == distances[2:4, 2:4].tolist() == [[0, 1], [1, 0]]
    assert distances[:2, 2:].isinf().all()


def test_the_density_is_normal():
    distances = torch.tensor([0.0, 1.0, 2.0, INF])
    for sigma in (1.0, 2.0):
        expected = torch.distributions.Normal(0.0, sigma).log_prob(distances[:3]).exp()
        torch.testing.assert_close(normal_density(distances, sigma), torch.cat([expected, torch.zeros(1)]))


def test_parents_are_counted_from_the_middle_of_their_wordpieces():
    offsets = parent_offsets(COLUMNS)[0]
    # the heads of The, un|happy, cats, sleep|s, . and </s> have their middles at
    middles = [3, 3, 3, 4.5, 4.5, 4.5, 4.5, 7]
    assert offsets.tolist() == [[j - middle for j in range(8)] for middle in middles]


def test_a_root_without_special_tokens_is_its_own_parent_and_that_of_others():
    columns = {"upos_ids": torch.tensor([[9, 17]]), "subword_ids": torch.tensor([[4, 4]])}
    offsets = parent_offsets({**columns, "head_positions": torch.tensor([[1, 1]])})
    assert offsets.tolist() == [[[-1, 0], [-1, 0]]]


def test_sparsing_drops_at_the_stated_rate():
    torch.manual_seed(0)
    distances = torch.arange(4.0).repeat(200, 200, 1)
    dropped = sparsify(distances, 0.1).isinf()
    assert dropped.float().mean((0, 1)).tolist() == pytest.approx([0.1] * 4, abs=0.01)
    winked = sparsify(distances, 0.5, max_kept=1).isinf()
    assert not winked[..., :2].any()
    assert winked[..., 2:].float().mean((0, 1)).tolist() == pytest.approx([0.5] * 2, abs=0.01)


def test_what_is_far_is_one_arc_farther_than_anything_in_its_own_sequence():
    distances = torch.tensor([[[0, 3, INF], [3, 0, INF], [INF, INF, 0]], [[0, 1, INF], [1, 0, INF], [INF, INF, 0]]])
    assert finite_distances(distances, None)[:, 0].tolist() == [[0, 3, 4], [0, 1, 2]]
    assert finite_distances(distances, 2)[:, 0].tolist() == [[0, 2, 2], [0, 1, 2]]


class Layer(torch.nn.Module):
    def __init__(self, implementation):
        super().__init__()
        self.config = type("Config", (), {"_attn_implementation": implementation})()


def reference(query, key, value, mask, change):
    """By the formulas, in float64: softmax over the scores, changed and then masked."""
    scores = query.double() @ key.double().mT / math.sqrt(query.size(-1))
    scores = scores * change.weights if change.biases is None else scores + change.biases
    return (scores.masked_fill(~mask, -INF).softmax(-1) @ value.double()).transpose(1, 2).float()


def eager(module, query, key, value, mask, dropout, scaling):
    weights = (query @ key.mT * scaling + mask).softmax(-1)
    return (weights @ value).transpose(1, 2), weights


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("form", ["bool", "float"])
def test_scores_are_scaled_before_padding_is_masked(heads, form):
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 1, 2, 8, 4)
    mask = torch.arange(8) < 6
    change = ScoreChange(weights=normal_density(torch.tensor(DISTANCES), 1.0).expand(1, heads, 8, 8))
    given = mask[None, None, None] if form == "bool" else torch.where(mask, 0.0, torch.finfo(torch.float).min)
    output, weights = attend(None, change, Layer("sdpa"), query, key, value, given, scaling=0.5)
    torch.testing.assert_close(output, reference(query, key, value, mask, change))
    assert (weights[..., 6:] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 2, 8))


def test_biases_are_a_mask():
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 1, 2, 8, 4)
    mask = torch.arange(8) < 6
    distances = finite_distances(torch.tensor([DISTANCES]), None)
    change = ScoreChange(biases=-torch.tensor([0.0, 2.0])[:, None, None] * distances.unsqueeze(1))
    output, _ = attend(eager, change, Layer("eager"), query, key, value, mask[None, None, None], scaling=0.5)
    torch.testing.assert_close(output, reference(query, key, value, mask, change))


@pytest.mark.parametrize("kind", ["weights", "one", "biases"])
def test_flex_attention_agrees(kind):
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 2, 8, 16)
    values = torch.rand(2, 1 if kind == "one" else 2, 8, 8)
    change = ScoreChange(biases=values) if kind == "biases" else ScoreChange(weights=values)
    output, weights = attend(None, change, Layer("flex_attention"), query, key, value, None, scaling=0.25)
    expected = reference(query, key, value, torch.ones(8).bool(), change)
    torch.testing.assert_close(output, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 8))  # on the CPU eagerly


def test_flash_attention_cannot_scale():
    with pytest.raises(ValueError, match="'flash_attention_2' cannot scale attention by distance: choose sdpa"):
        attend(None, ScoreChange(), Layer("flash_attention_2"), *torch.randn(3, 1, 1, 2, 4), None, scaling=1.0)
