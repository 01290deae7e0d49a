"""The acceptability data: minimal pairs, balance, splits, and no label in the surface."""

from collections import Counter

import pytest

from syntax_bert.data.agreement import FRAMES, MEN, PEOPLE, agreement_splits

NOUNS = {form: (noun, number) for noun in PEOPLE for number, form in enumerate(noun)}
NUMBERS = {"is": 0, "was": 0, "has": 0, "are": 1, "were": 1, "have": 1}
HANDLED = {"carried", "repaired", "described", "mentioned", "damaged", "admired", "fixed", "examined"}


@pytest.fixture(scope="module")
def splits():
    return agreement_splits(12_000, 2_400)


@pytest.fixture(scope="module")
def rows(splits):
    return splits[0]


def words_of(row):
    return row["sentence"][:-1].lower().split()


def reflexive_of(form):
    noun, number = NOUNS[form]
    return "themselves" if number else "himself" if noun in MEN else "herself"


def matches(row):
    """Says whether the swapped word fits the first person and whether it fits the second, by rules of its own."""
    words = words_of(row)
    people = [word for word in words if word in NOUNS]
    if row["phenomenon"].startswith("agreement"):
        verb = next(NUMBERS[word] for word in words if word in NUMBERS)
        return [NOUNS[person][1] == verb for person in people]
    return [reflexive_of(person) == words[-1] for person in people]


def combinations_of_people(rows):
    return {frozenset(NOUNS[word][0] for word in words_of(row) if word in NOUNS) for row in rows}


def test_seed_decides(splits):
    assert agreement_splits(12_000, 2_400, seed=0) == splits
    assert all(own != other for own, other in zip(agreement_splits(12_000, 2_400, seed=1), splits, strict=True))


def test_sentences_are_distinct_and_well_formed(rows):
    sentences = [row["sentence"] for row in rows]
    assert len(set(sentences)) == len(rows) == 12_000
    for sentence in sentences:
        assert sentence[0].isupper()
        assert sentence[-1] == "."
        assert all(word.isalpha() for word in sentence[:-1].split(" "))


def test_neighbors_are_minimal_pairs(rows):
    for good, bad in zip(rows[::2], rows[1::2], strict=True):
        assert (good["label"], bad["label"]) == (1, 0)
        assert good["phenomenon"] == bad["phenomenon"]
        assert sum(a != b for a, b in zip(words_of(good), words_of(bad), strict=True)) == 1


def test_frames_are_equally_frequent(rows):
    frames = Counter(frame.phenomenon for frame in FRAMES)
    counts = Counter(row["phenomenon"] for row in rows)
    assert counts == {phenomenon: number * 12_000 // len(FRAMES) for phenomenon, number in frames.items()}


def test_subject_decides_agreement_and_reflexives(rows):
    for row in rows:
        if not row["phenomenon"].startswith("filler"):
            subject, _ = matches(row)
            assert subject == row["label"], row["sentence"]


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("phenomenon", ["agreement", "reflexive"])
def test_nearer_noun_decides_nothing(rows, phenomenon, label):
    near = [matches(row)[1] for row in rows if row["phenomenon"].startswith(phenomenon) and row["label"] == label]
    assert sum(near) / len(near) == pytest.approx(0.5, abs=0.04)


def test_filler_needs_a_gap(rows):
    for row in rows:
        if row["phenomenon"].startswith("filler"):
            words = words_of(row)
            verb = max(i for i, word in enumerate(words) if word in HANDLED)
            gap = words[verb + 1] != "the"
            filler = "what" in words or ("relative" in row["phenomenon"] and "that" in words)
            assert row["label"] == (filler == gap), row["sentence"]


def test_splits_share_words_but_no_combination(splits):
    train, validation = splits
    assert [len(split) for split in splits] == [12_000, 2_400]
    for split in splits:
        assert sum(row["label"] for row in split) == len(split) / 2
        assert [row["label"] for row in split[:4]] == [1, 0, 1, 0]
    assert not {row["sentence"] for row in train} & {row["sentence"] for row in validation}
    seen, held_out = combinations_of_people(train), combinations_of_people(validation)
    assert all(len(combination) == 2 for combination in seen | held_out)
    assert not seen & held_out
    assert {word for row in validation for word in words_of(row)} <= {word for row in train for word in words_of(row)}


def test_splits_do_not_depend_on_each_other(splits):
    assert agreement_splits(24, 2_400)[1] == splits[1]


@pytest.mark.parametrize("num_sentences", [0, -2, 7])
def test_impossible_numbers(num_sentences):
    with pytest.raises(ValueError, match=f"positive even number, got {num_sentences}"):
        agreement_splits(num_sentences, 24)
    with pytest.raises(ValueError, match=f"positive even number, got {num_sentences}"):
        agreement_splits(24, num_sentences)


def test_more_than_the_grammar_makes():
    with pytest.raises(ValueError, match="the grammar makes [0-9]+: ask for fewer"):
        agreement_splits(24, 10_000_000)


@pytest.mark.parametrize("phenomenon", ["agreement", "reflexive", "filler_gap"])
def test_bag_of_words_is_near_chance(splits, phenomenon):
    text = pytest.importorskip("sklearn.feature_extraction.text")
    linear_model = pytest.importorskip("sklearn.linear_model")
    train, validation = ([row for row in split if row["phenomenon"].startswith(phenomenon)] for split in splits)
    vectorizer = text.CountVectorizer()
    model = linear_model.LogisticRegression(max_iter=200)
    model.fit(
        vectorizer.fit_transform([row["sentence"] for row in train]),
        [row["label"] for row in train],
    )
    accuracy = model.score(
        vectorizer.transform([row["sentence"] for row in validation]),
        [row["label"] for row in validation],
    )
    assert accuracy < 0.6
