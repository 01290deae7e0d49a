"""Scores changed by hand-made weights and biases; the first C of A heads."""

import math

import pytest
import torch
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from syntax_bert.modeling import score_changes
from syntax_bert.modeling.score_changes import ScoreChange, attend, attend_in_blocks

INF = math.inf
BATCH, HEADS, LENGTH, SIZE = 3, 2, 8, 4


class Layer(torch.nn.Module):
    def __init__(self, implementation):
        super().__init__()
        self.config = type("Config", (), {"_attn_implementation": implementation})()
        self.is_causal = False


def reference(query, key, value, mask, change):
    """By the formulas, in float64: softmax over the scores, changed and then masked."""
    scores = query.double() @ key.double().mT / math.sqrt(query.size(-1))
    changed = scores[:, : change.num_heads]
    changed = changed * change.weights.unsqueeze(1) if change.biases is None else changed + change.biases
    scores = torch.cat([changed, scores[:, change.num_heads :]], 1)
    return (scores.masked_fill(~mask, -INF).softmax(-1) @ value.double()).transpose(1, 2).float()


def eager(module, query, key, value, mask, dropout=0.0, *, scaling):
    weights = (query @ key.mT * scaling + mask).softmax(-1)
    return (weights @ value).transpose(1, 2), weights


@pytest.fixture
def heads():
    torch.manual_seed(0)
    return torch.randn(3, BATCH, HEADS, LENGTH, SIZE)


@pytest.fixture
def mask():
    """Sequences of 8, 7 and 6 tokens."""
    return (torch.arange(LENGTH) < torch.tensor([[8], [7], [6]]))[:, None, None]


def make_change(kind, num_heads):
    if kind == "biases":
        return ScoreChange(num_heads, biases=torch.randn(BATCH, num_heads, LENGTH, LENGTH))
    return ScoreChange(num_heads, torch.rand(BATCH, LENGTH, LENGTH))


@pytest.mark.parametrize("num_heads", [1, 2])
@pytest.mark.parametrize("form", ["bool", "float"])
@pytest.mark.parametrize("kind", ["weights", "biases"])
def test_scores_are_changed_before_padding_is_masked(kind, form, num_heads, heads, mask):
    change = make_change(kind, num_heads)
    given = mask if form == "bool" else torch.where(mask, 0.0, torch.finfo(torch.float).min)
    expected = reference(*heads, mask, change)
    with torch.no_grad():
        output, _ = attend(sdpa_attention_forward, change, Layer("sdpa"), *heads, given, scaling=0.5)
    torch.testing.assert_close(output, expected)
    with_gradients, _ = attend(sdpa_attention_forward, change, Layer("sdpa"), *heads, given, scaling=0.5)
    torch.testing.assert_close(with_gradients, expected)
    float_mask = torch.where(mask, 0.0, torch.finfo(torch.float).min)
    eagerly, weights = attend(eager, change, Layer("eager"), *heads, float_mask, scaling=0.5)
    torch.testing.assert_close(eagerly, expected)
    assert (weights.masked_select(~mask.expand_as(weights)) == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, HEADS, LENGTH))


@pytest.mark.parametrize("block_size", [1, 64, 130, 256, 10**6])
def test_blocks_of_any_size_agree(block_size, heads, mask, monkeypatch):
    change = make_change("weights", HEADS)
    monkeypatch.setattr(score_changes, "BLOCK_SIZE", block_size)
    output = attend_in_blocks(*heads, mask, change.weights / 2)
    torch.testing.assert_close(output, reference(*heads, mask, change))
    whole = attend_in_blocks(*heads, None, change.weights / 2)
    torch.testing.assert_close(whole, reference(*heads, mask | True, change))


@pytest.mark.parametrize("kind", ["weights", "biases"])
def test_flex_attention_agrees_on_the_cpu(kind, heads):
    change = make_change(kind, HEADS)
    output, _ = attend(None, change, Layer("flex_attention"), *heads, None, scaling=0.5)
    torch.testing.assert_close(output, reference(*heads, torch.ones(LENGTH).bool(), change))


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["weights", "biases"])
def test_flex_attention_agrees_on_the_gpu(kind, heads):
    heads, change = heads.cuda(), ScoreChange(*(each.cuda() if torch.is_tensor(each) else each
                                               for each in make_change(kind, HEADS)))  # fmt: skip
    output, _ = attend(None, change, Layer("flex_attention"), *heads, None, scaling=0.5)
    torch.testing.assert_close(output, reference(*heads, torch.ones(LENGTH).bool().cuda(), change))


def test_what_cannot_be_done_says_so(heads):
    change = make_change("weights", HEADS)
    with pytest.raises(ValueError, match="'flash_attention_2' cannot scale attention by distance: choose sdpa"):
        attend(None, change, Layer("flash_attention_2"), *heads, None, scaling=0.5)
    with pytest.raises(ValueError, match="flex_attention has no dropout"):
        attend(None, change, Layer("flex_attention"), *heads, None, scaling=0.5, dropout=0.1)
