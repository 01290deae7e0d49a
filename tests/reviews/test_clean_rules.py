from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.reviews.clean_rules import (
    RULES,
    absorb_interruptions,
    clean_tags,
    drop_lone_punctuation,
    drop_lone_words,
    end_summary_at_full_stop,
    grow_to_punctuation,
    join_summaries,
    keep_first_summary,
)

TAGS = {"O": "O", "s": "summary", "A": "clarity_positive", "B": "soundness_negative"}


def spelled(letters):
    return [TAGS[letter] for letter in letters]


def check(rule, words, letters, expected):
    """Applies a rule to words, `w` for one that is no punctuation, and tags written as letters."""
    assert rule(list(words), spelled(letters)) == spelled(expected)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("ssOOOss", "sssssss"),
        ("sOsOs", "sssss"),
        ("OssOOs", "Osssss"),
        ("sOOAs", "sOOAs"),  # two spans are between
        ("sAAs", "sAAs"),
        ("AOOA", "AOOA"),
        ("OOssO", "OOssO"),
    ],
)
def test_rule_1_o_between_summaries(letters, expected):
    check(join_summaries, "w" * len(letters), letters, expected)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("ssOAsOss", "ssOAOOOO"), ("AsBsA", "AsBOA"), ("OOss", "OOss"), ("AOB", "AOB")],
)
def test_rule_2_only_the_first_summary(letters, expected):
    check(keep_first_summary, "w" * len(letters), letters, expected)


@pytest.mark.parametrize(
    ("words", "letters", "expected"),
    [
        ("w,w", "OAO", "OOO"),
        ("w.w", "BAB", "BOB"),
        ("ww.", "OOs", "OOO"),
        ("w;w", "OAO", "OAO"),
        ("w..w", "OAAO", "OAAO"),
        ("www", "OAO", "OAO"),
    ],
)
def test_rule_3_lone_comma_or_full_stop(words, letters, expected):
    check(drop_lone_punctuation, words, letters, expected)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("ABA", "AAA"),
        ("ABBBA", "AAAAA"),
        ("AAOAA", "AAAAA"),
        ("AOOA", "AOOA"),
        ("AsA", "AAA"),
        ("sAs", "sAs"),
        ("OAO", "OAO"),
        ("ABABA", "AAAAA"),
        ("ABAOAOOA", "AAAAAOOA"),
        ("BABOB", "BBBBB"),
        ("ABOA", "ABOA"),  # two spans are between
    ],
)
def test_rule_4_interrupted_aspects(letters, expected):
    check(absorb_interruptions, "w" * len(letters), letters, expected)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("OAO", "OOO"),
        ("OsO", "OOO"),
        ("OAOBO", "OOOOO"),
        ("OAAO", "OAAO"),
        ("OABO", "OABO"),
        ("AO", "AO"),
        ("OA", "OA"),
    ],
)
def test_rule_5_lone_words(letters, expected):
    check(drop_lone_words, "w" * len(letters), letters, expected)


@pytest.mark.parametrize(
    ("words", "letters", "expected"),
    [
        ("w.wwww,w", "OOOOAOOO", "OOAAAAOO"),
        ("wwww", "OOAO", "AAAA"),
        ("wwwwww", "BOOOAO", "BBBBAA"),  # the first takes what is between
        ("wwww", "sOAO", "sAAA"),
        ("wwww", "OsOO", "OsOO"),
        ("w(ww)w", "OOOAOO", "OOAAOO"),
        ("w-w.", "OOAO", "AAAO"),  # a hyphen is inside a word
        ("w.w", "OAO", "OAO"),  # a span that is punctuation stays
        ("ww.ww", "OAAOO", "AAAOO"),  # where it ends in one, it does not grow
    ],
)
def test_rule_6_aspects_grow(words, letters, expected):
    check(grow_to_punctuation, words, letters, expected)


@pytest.mark.parametrize(
    ("words", "letters", "expected"),
    [
        ("ww.", "sss", "sss"),
        ("ww.www", "ssssss", "sssOOO"),
        ("ww.wwwww", "ssssssss", "sssOOOOO"),
        ("ww.wwwwww", "sssssssss", "sssssssss"),  # six words back
        ("ww.w.w", "ssssss", "sssssO"),
        ("ww.ww.", "ssssOO", "sssOOO"),  # cut back before extended
        ("wwww.", "ssOOO", "sssss"),
        ("wwwwww.w", "ssOOOOOO", "sssssssO"),
        ("wwwwwww.", "ssOOOOOO", "ssOOOOOO"),  # six words ahead
        ("wwww.", "ssAOO", "ssAOO"),
        ("wwww", "ssOO", "ssOO"),
        ("ww.w", "AAAA", "AAAA"),
        (".www", "ssss", "ssss"),  # nothing but the full stop would be left
    ],
)
def test_rule_7_summary_ends_in_a_full_stop(words, letters, expected):
    check(end_summary_at_full_stop, words, letters, expected)


def test_the_rules_in_their_order():
    """Rule 1 joins what rule 2 would drop; rule 5 drops what rule 6 would grow."""
    words = "We do . It is so , very clear , though too slow now".split()
    letters = "s O s O O A B A A O O O B O"
    assert clean_tags(words, spelled(letters.split())) == spelled("sssAAAAAAOOOOO")


@given(st.lists(st.tuples(st.sampled_from("w.,;"), st.sampled_from("OsAB")), max_size=20))
def test_no_rule_changes_the_number_of_words(pairs):
    words, tags = [word for word, _ in pairs], spelled(tag for _, tag in pairs)
    for rule in RULES:
        before = list(tags)
        changed = rule(words, tags)
        assert tags == before
        assert len(changed) == len(words)
        assert {*changed} <= {*tags, "O"}
    assert [tag for tag, _ in groupby(clean_tags(words, tags))].count("summary") <= 1


def test_as_many_tags_as_words():
    with pytest.raises(ValueError, match="1 tags for 2 words"):
        clean_tags(["a", "b"], ["O"])
