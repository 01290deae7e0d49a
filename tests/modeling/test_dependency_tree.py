import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import shortest_path

from syntax_bert.modeling.dependency_tree import (
    dependency_adjacency,
    read_trees,
    sentence_roots,
    word_representatives,
)

LENGTHS = [1, 2, 7, 64, 512]


def random_heads(generator, num_tokens, num_roots=1):
    """Draws a forest whose tokens are in random order."""
    parents = [i if i < num_roots else int(generator.integers(0, i)) for i in range(num_tokens)]
    order = generator.permutation(num_tokens)
    heads = np.empty(num_tokens, int)
    heads[order] = order[parents]
    return heads


def chain(num_tokens):
    return np.maximum(np.arange(num_tokens) - 1, 0)


def expected_distances(heads):
    graph = np.zeros((len(heads), len(heads)))
    graph[np.arange(len(heads)), heads] = heads != np.arange(len(heads))
    return torch.tensor(shortest_path(graph, directed=False, unweighted=True)).float()


@pytest.mark.parametrize("num_tokens", LENGTHS)
@pytest.mark.parametrize("shape", ["tree", "forest", "chain"])
def test_distances_and_depths_are_those_of_scipy(num_tokens, shape):
    generator = np.random.default_rng(num_tokens)
    num_roots = min(3, num_tokens) if shape == "forest" else 1
    rows = [
        chain(num_tokens) if shape == "chain" else random_heads(generator, num_tokens, num_roots) for _ in range(3)
    ]
    tree = read_trees(torch.tensor(np.stack(rows)), torch.ones(3, num_tokens, dtype=torch.bool), 512)
    for row, heads in enumerate(rows):
        distances = expected_distances(heads)
        assert torch.equal(tree.dependency_distances[row], distances)
        roots = torch.tensor(heads == np.arange(num_tokens))
        assert torch.equal(tree.depths[row], distances[roots].amin(0))


@pytest.mark.parametrize("padding", ["right", "left", "left, not shifted"])
def test_padding_changes_nothing(padding):
    heads = random_heads(np.random.default_rng(0), 9)
    pad = torch.zeros(4, dtype=torch.long)
    shift = 4 if padding == "left" else 0
    row = [torch.tensor(heads + shift), pad] if padding == "right" else [pad, torch.tensor(heads + shift)]
    mask = torch.cat([torch.ones(9).bool(), pad.bool()] if padding == "right" else [pad.bool(), torch.ones(9).bool()])
    tree = read_trees(torch.cat(row)[None], mask[None], 64)
    kept = mask.nonzero().flatten()
    assert torch.equal(tree.dependency_distances[0][kept][:, kept], expected_distances(heads))
    outside = tree.dependency_distances[0].clone()
    outside[kept[:, None], kept] = torch.inf
    assert (outside.fill_diagonal_(torch.inf) == torch.inf).all()
    assert torch.equal(tree.dependency_distances[0].diagonal(), torch.zeros(13))
    assert (tree.depths[0][~mask] == 0).all()
    roots = sentence_roots(torch.cat(row)[None], mask[None], 64)[0]
    assert (tree.depths[0][roots[mask]] == tree.depths[0][mask].clamp(max=1)).all()


def test_sentence_roots():
    heads = torch.tensor([[0, 2, 0, 2, 3, 0, 5, 0]])
    assert sentence_roots(heads, torch.ones(1, 8).bool(), 64).tolist() == [[0, 2, 2, 2, 2, 5, 5, 7]]


def test_adjacency_counts_arcs():
    tree = read_trees(torch.tensor(chain(5))[None], torch.ones(1, 5).bool(), 64)
    assert dependency_adjacency(tree.dependency_distances, 2).int().tolist() == [
        [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1], [0, 1, 1, 1, 1], [0, 0, 1, 1, 1]]
    ]


def test_later_wordpieces_are_represented_by_the_first():
    subword_ids = torch.tensor([[0, 1, 2, 3, 4, 0]])
    heads = torch.tensor([[0, 4, 1, 1, 0, 0]])
    assert word_representatives(subword_ids, heads).tolist() == [[0, 1, 1, 1, 4, 5]]


def test_long_chains_are_exact_under_bf16_autocast():
    heads = torch.tensor(chain(512))[None]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        tree = read_trees(heads, torch.ones(1, 512).bool(), 512)
    assert tree.dependency_distances[0, 0].tolist() == list(range(512))
    assert tree.depths.dtype == torch.float32


def test_one_graph_serves_all_lengths():
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph

    compiled = torch.compile(read_trees, fullgraph=True, dynamic=True, backend=backend)
    for num_tokens in (5, 17, 64):
        heads = torch.tensor(random_heads(np.random.default_rng(1), num_tokens))[None].repeat(2, 1)
        tree = compiled(heads, torch.ones_like(heads).bool(), 512)
        assert torch.equal(tree.dependency_distances[0], expected_distances(heads[0].numpy()))
    assert len(graphs) == 1
