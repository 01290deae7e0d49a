import math

import pytest
import torch

from syntax_bert.modeling.graph_attention import AttentionBiases, GraphAttention, GraphAttentionLayer

ADJACENCY = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]]).bool()


def softmax(scores):
    total = sum(math.exp(score) for score in scores)
    return [math.exp(score) / total for score in scores]


def slow_layer(layer, rows):
    """The formulas of the paper and of the released code in Python numbers: rows of D to rows of K · d."""
    size, outputs = layer.head_size, []
    for i in range(len(rows)):
        neighbours = [j for j in range(len(rows)) if ADJACENCY[i, j]]
        output = []
        for head in range(layer.num_heads):
            part = slice(head * size, (head + 1) * size)
            projected = [layer.projection[part].double() @ row for row in rows]
            if layer.form == "dot_product":
                values = [layer.value[part].double() @ row for row in rows]
                scores = [float(projected[i] @ projected[j]) / math.sqrt(size) for j in neighbours]
            else:
                values = projected
                source, target = layer.source[head, :, 0].double(), layer.target[head, :, 0].double()
                summed = [float(source @ projected[i] + target @ projected[j]) for j in neighbours]
                scores = [score if score > 0 else 0.2 * score for score in summed]
            weights = softmax(scores)
            output.append(sum(weight * values[j] for weight, j in zip(weights, neighbours, strict=True)))
        outputs.append(torch.cat(output))
    return outputs


@pytest.mark.parametrize("form", ["dot_product", "additive"])
def test_a_layer_follows_its_formulas(form):
    torch.manual_seed(0)
    layer = GraphAttentionLayer(6, num_heads=2, head_size=3, form=form, dropout=0.5).eval()
    for weights in layer.parameters():
        torch.nn.init.normal_(weights)
    inputs = torch.randn(1, 4, 6)
    expected = torch.stack(slow_layer(layer, list(inputs[0].double())))
    actual = layer(inputs, ADJACENCY[None])[0]
    torch.testing.assert_close(actual.double(), expected, rtol=1e-5, atol=1e-5)


def network(form="dot_product", num_layers=2):
    torch.manual_seed(0)
    made = GraphAttention(6, num_layers, 2, 3, {"upos": 19, "deprel": 39}, form, 0.0, 0.0)
    for weights in made.parameters():
        torch.nn.init.normal_(weights)
    return made


def test_the_network_reads_wordpieces_tags_and_relations():
    made, embeddings = network(num_layers=1), torch.randn(1, 4, 6)
    columns = {"upos_ids": torch.tensor([[1, 7, 3, 1]]), "deprel_ids": torch.tensor([[1, 9, 4, 1]])}
    inputs = embeddings + made.upos[columns["upos_ids"]] + made.deprel[columns["deprel_ids"]]
    torch.testing.assert_close(made(embeddings, columns, ADJACENCY[None]), made.layers[0](inputs, ADJACENCY[None]))


def test_what_is_too_far_in_the_tree_has_no_influence():
    made, embeddings = network(), torch.randn(1, 4, 6)
    columns = {name: torch.ones(1, 4, dtype=torch.long) for name in ("upos_ids", "deprel_ids")}
    before = made(embeddings, columns, ADJACENCY[None])
    embeddings[0, 3] += 1
    after = made(embeddings, columns, ADJACENCY[None])
    assert torch.equal(after[0, :3], before[0, :3])
    assert not torch.allclose(after[0, 3], before[0, 3])


def test_the_released_form_ends_in_a_norm():
    made = network("additive")
    torch.nn.init.ones_(made.norm.weight)
    torch.nn.init.zeros_(made.norm.bias)
    columns = {name: torch.ones(1, 4, dtype=torch.long) for name in ("upos_ids", "deprel_ids")}
    vectors = made(torch.randn(1, 4, 6), columns, ADJACENCY[None])
    torch.testing.assert_close(vectors.mean(-1), torch.zeros(1, 4), atol=1e-5, rtol=0)


@pytest.mark.parametrize("has_constant", [True, False])
def test_biases_are_one_product_split_by_layer_and_target(has_constant):
    biases = AttentionBiases(6, num_layers=3, width=4, has_constant=has_constant)
    for weights in biases.parameters():
        torch.nn.init.normal_(weights)
    vectors = torch.randn(2, 5, 6)
    made = biases(vectors, torch.tensor([[True], [False]]))
    assert made.shape == (3, 2, 2, 5, 4)
    assert (made[:, :, 1] == 0).all()
    rows = slice((1 * 2 + 1) * 4, (1 * 2 + 2) * 4)  # layer 1, second target
    expected = vectors[0] @ biases.weight[rows].T + (biases.constant[rows] if has_constant else 0)
    torch.testing.assert_close(made[1, 1, 0], expected)
