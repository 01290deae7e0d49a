import math

import pytest
import torch

from syntax_bert.modeling.dependency_scaling import (
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


def test_a_root_without_special_tokens_is_near_its_children():
    columns = {name: values[:, :-1].clone() for name, values in COLUMNS.items()}
    columns["head_positions"][0, 4] = 4  # the root is its own head
    assert word_distances(columns, 16)[0].tolist() == [row[:-1] for row in DISTANCES[:-1]]


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
