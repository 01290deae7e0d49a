import torch

from syntax_bert.modeling.dependency_tree import read_trees
from syntax_bert.modeling.structure_loss import StructureProbe, structure_loss

HEADS = torch.tensor([[0, 0, 1, 1, 3], [0, 0, 1, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]).bool()


def probe():
    torch.manual_seed(0)
    made = StructureProbe(6, 3)
    for weights in made.parameters():
        torch.nn.init.normal_(weights, std=0.5)
    return made


def slow_loss(made, vectors, tree):
    """The formulas, pair by pair."""
    sequences = []
    for row in range(2):
        tokens = MASK[row].nonzero().flatten().tolist()
        distance = depth = 0.0
        for i in tokens:
            depth += abs(float((made.depth @ vectors[row, i]).square().sum() - tree.depths[row, i]))
            for j in tokens:
                predicted = (made.distance @ (vectors[row, i] - vectors[row, j])).square().sum()
                distance += abs(float(tree.dependency_distances[row, i, j] - predicted))
        sequences.append(distance / len(tokens) ** 2 + depth / len(tokens))
    return sum(sequences) / 2


def test_it_is_the_mean_over_sequences_of_both_losses():
    made, vectors, tree = probe(), torch.randn(2, 5, 6), read_trees(HEADS, MASK, 8)
    actual = structure_loss(*made(vectors), tree, MASK)
    torch.testing.assert_close(actual, torch.tensor(slow_loss(made, vectors, tree)), rtol=1e-5, atol=1e-5)


def test_sequences_without_syntax_do_not_count():
    made, vectors, tree = probe(), torch.randn(2, 5, 6), read_trees(HEADS, MASK, 8)
    only_first = MASK & torch.tensor([[True], [False]])
    alone = structure_loss(*made(vectors[:1]), read_trees(HEADS[:1], MASK[:1], 8), MASK[:1])
    torch.testing.assert_close(structure_loss(*made(vectors), tree, only_first), alone)
    assert structure_loss(*made(vectors), tree, torch.zeros_like(MASK)) == 0


def test_tokens_that_are_not_connected_do_not_count():
    made, vectors = probe(), torch.randn(1, 4, 6, requires_grad=True)
    mask = torch.ones(1, 4).bool()
    forest = read_trees(torch.tensor([[0, 0, 2, 2]]), mask, 8)
    loss = structure_loss(*made(vectors), forest, mask)
    loss.backward()
    assert loss.isfinite()
    assert vectors.grad.isfinite().all()


def test_it_is_computed_in_float32_under_autocast():
    made, vectors = probe(), torch.randn(2, 5, 6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        distances, depths = made(vectors)
    torch.testing.assert_close((distances, depths), made(vectors))
