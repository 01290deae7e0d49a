from itertools import pairwise, product

import pytest
import torch

from syntax_bert.modeling.linear_chain_crf import LinearChainCRF

MASK = torch.tensor([[0, 1, 0, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1]]).bool()


@pytest.fixture
def crf():
    torch.manual_seed(0)
    made = LinearChainCRF(3)
    for weights in made.parameters():
        torch.nn.init.normal_(weights)
    return made


def path_scores(crf, emissions, mask):
    """Scores every sequence of labels of the words of one row."""
    words = mask.nonzero().flatten().tolist()
    scores = {}
    for path in product(range(3), repeat=len(words)):
        score = crf.start[path[0]] + crf.end[path[-1]]
        score = score + sum(emissions[word, label] for word, label in zip(words, path, strict=True))
        scores[path] = score + sum(crf.transitions[a, b] for a, b in pairwise(path))
    return scores


def test_the_loss_is_that_of_all_paths(crf):
    emissions, labels = torch.randn(4, 5, 3), torch.randint(0, 3, (4, 5)).masked_fill(~MASK, -100)
    expected = 0.0
    for row in (0, 1, 3):
        scores = path_scores(crf, emissions[row], MASK[row])
        gold = tuple(labels[row][MASK[row]].tolist())
        expected += torch.stack(list(scores.values())).logsumexp(0) - scores[gold]
    torch.testing.assert_close(crf.loss(emissions, labels, MASK), expected / MASK.sum())


def test_decoding_finds_the_best_path(crf):
    emissions = torch.randn(4, 5, 3)
    decoded = crf.decode(emissions, MASK)
    for row in (0, 1, 3):
        scores = path_scores(crf, emissions[row], MASK[row])
        assert tuple(decoded[row][MASK[row]].tolist()) == max(scores, key=scores.get)
    assert (decoded[~MASK] == 0).all()


def test_a_new_one_is_the_linear_layer_alone():
    crf, emissions = LinearChainCRF(3), torch.randn(4, 5, 3)
    labels = torch.randint(0, 3, (4, 5))
    linear = torch.nn.functional.cross_entropy(emissions[MASK], labels[MASK])
    torch.testing.assert_close(crf.loss(emissions, labels, MASK), linear)
    assert torch.equal(crf.decode(emissions, MASK)[MASK], emissions.argmax(-1)[MASK])


def test_no_words_at_all_cost_nothing(crf):
    emissions = torch.randn(1, 5, 3, requires_grad=True)
    loss = crf.loss(emissions, torch.full((1, 5), -100), torch.zeros(1, 5).bool())
    loss.backward()
    assert loss == 0
    assert emissions.grad.isfinite().all()
