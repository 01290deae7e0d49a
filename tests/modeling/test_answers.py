import numpy as np
import pytest
import torch

from syntax_bert.modeling.answer_sentences import (
    AnswerSentences,
    answer_sentence_loss,
    read_sentences,
    spread_over_sentences,
)
from syntax_bert.modeling.answer_spans import AnswerSpan, AnswerWindow, best_spans

SENTENCES = torch.tensor([[0, 2, 2, 4, 4, 5], [0, 1, 2, 3, 4, 5]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]]).bool()


@pytest.fixture
def scores():
    torch.manual_seed(0)
    scorer, hidden = AnswerSentences(4), torch.randn(2, 6, 4)
    torch.nn.init.normal_(scorer.weight)
    return scorer(hidden, SENTENCES, MASK), (hidden @ scorer.weight).detach()


def test_a_sentence_has_the_score_of_its_root(scores):
    made, linear = scores
    spread = spread_over_sentences(made, SENTENCES, MASK)
    torch.testing.assert_close(spread[0], linear[0, [0, 2, 2, 4, 4, 5]])
    assert (spread[1] == 0).all()


def test_without_special_tokens_a_root_stands_for_its_sentence():
    heads, upos = torch.tensor([[1, 1, 1, 2, 5, 5]]), torch.tensor([[3, 4, 5, 6, 7, 8]])
    sentences, mask = read_sentences({"head_positions": heads, "upos_ids": upos}, 16)
    assert sentences.tolist() == [[1, 1, 1, 1, 5, 5]]
    assert mask.all()


def test_the_loss_is_that_of_the_answer_among_the_sentences(scores):
    made, linear = scores
    choices = linear[0, [0, 2, 4, 5]]
    loss = answer_sentence_loss(made, SENTENCES, MASK, torch.tensor([3, 3]))
    torch.testing.assert_close(loss, choices.logsumexp(0) - linear[0, 4])
    outside = answer_sentence_loss(made, SENTENCES, MASK, torch.tensor([6, 0]))
    assert outside == 0


def window(starts, ends, offsets, context):
    return AnswerWindow(np.array(starts), np.array(ends), np.array(offsets), np.array(context))


def test_the_best_span_of_all_windows():
    first = window([9, 0, 2, 0], [9, 0, 0, 3], [(0, 0), (0, 3), (4, 7), (8, 9)], [0, 1, 1, 1])
    second = window([9, 2, 0, 4], [9, 0, 5, 0], [(0, 0), (4, 7), (8, 9), (10, 12)], [0, 1, 1, 1])
    spans = best_spans("The cat is. ", [first, second], top_k=3)
    # ends before starts do not count, and a span of two windows has its better score
    assert [span[1:] for span in spans] == [(4, 9), (8, 9), (10, 11)]
    starts = np.exp([0, 2, 0, 2, 0, 4]).sum()
    ends = np.exp([0, 0, 3, 0, 5, 0]).sum()
    assert spans[0].score == pytest.approx(np.exp(7) / starts / ends)


def test_answers_are_no_longer_than_allowed():
    only = window([5, 0, 0], [0, 1, 5], [(0, 1), (2, 3), (4, 5)], [1, 1, 1])
    assert best_spans("a b c", [only], max_answer_length=2)[0][1:] == (0, 3)
    assert best_spans("a b c", [only], max_answer_length=3)[0][1:] == (0, 5)


def test_no_context_gives_no_answer():
    assert best_spans("", [window([1.0], [1.0], [(0, 0)], [0])]) == []


def test_answers_have_no_spaces_at_their_ends():
    spans = best_spans("a  cat ", [window([1.0], [1.0], [(1, 7)], [1])])
    assert spans == [AnswerSpan(1.0, 3, 6)]
