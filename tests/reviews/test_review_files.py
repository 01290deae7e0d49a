import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.reviews.review_files import Review, read_reviews, write_reviews
from examples.reviews.spans import spans_to_tags, tags_to_spans

WORDS = [(0, 3), (4, 7), (8, 14), (14, 15)]  # of "The cat sleeps."
ROW = {"id": "a", "text": "The cat sleeps.", "words": WORDS, "sentence_ids": [0, 0, 0, 0], "labels": [[0, 7, "x"]]}


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("O O O O", []),
        ("x x O y", [(0, 7, "x"), (14, 15, "y")]),
        ("x y y x", [(0, 3, "x"), (4, 14, "y"), (14, 15, "x")]),
    ],
)
def test_tags_as_spans_and_back(tags, spans):
    assert tags_to_spans(WORDS, tags.split()) == spans
    assert spans_to_tags(WORDS, spans[::-1]) == tags.split()


@given(st.lists(st.sampled_from("Oxy"), min_size=4, max_size=4))
def test_every_tag_survives(tags):
    assert spans_to_tags(WORDS, tags_to_spans(WORDS, tags)) == tags


def test_spans_may_begin_and_end_at_spaces():
    assert spans_to_tags(WORDS, [(3, 8, "x")]) == ["O", "x", "O", "O"]


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(0, 5, "x")], r"\[0, 5, 'x'\] cuts the word of the characters \[4, 7\]"),
        ([(0, 7, "x"), (4, 14, "y")], r"\[4, 14, 'y'\] overlaps with one that is 'x'"),
        ([(3, 4, "x")], r"there is no word in the label \[3, 4, 'x'\]"),
    ],
)
def test_spans_that_do_not_fit_the_words(write, spans, message):
    path = write("a.jsonl", [{**ROW, "labels": spans}])
    with pytest.raises(ValueError, match=f"review 'a': .*{message}"):
        read_reviews(path)[0].tags()


def test_plain_text_has_one_review_a_line(write):
    reviews = read_reviews(write("a.txt", "One.\n\n Two\u2028too. \r\n"))
    assert reviews == [Review(1, "One."), Review(3, " Two\u2028too. ")]


def test_json_lines_there_and_back(write, tmp_path):
    reviews = read_reviews(write("a.jsonl", [ROW, {"id": 7, "text": "Ω"}]))
    assert reviews[0].sentences() == [["The", "cat", "sleeps", "."]]
    assert reviews[0].tags() == ["x", "x", "O", "O"]
    write_reviews(reviews, tmp_path / "b.jsonl")
    assert read_reviews(tmp_path / "b.jsonl") == reviews
    rows = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text("utf-8").splitlines()]
    assert rows == [{**ROW, "words": [list(word) for word in WORDS]}, {"id": 7, "text": "Ω"}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n \n", "a.jsonl has no reviews"),
        ("{}\n", "a.jsonl:1: a review is an object with an 'id' and a 'text'"),
        ('\n["a"]', "a.jsonl:2: a review is an object"),
        ('{"id": 1, "text": 2}', "a.jsonl:1: a review is an object"),
        ("text", "a.jsonl:1: no JSON: .*char 0"),
        ([ROW, ROW], "a.jsonl:2: the id 'a' is there twice"),
        ([{**ROW, "labels": [[0, 16, "x"]]}], r"'labels' has \[0, 16, 'x'\]; it takes \[start, end, tag\] inside"),
        ([{**ROW, "labels": [[3, 3, "x"]]}], r"'labels' has \[3, 3, 'x'\]"),
        ([{**ROW, "labels": [[0, 3]]}], r"'labels' has \[0, 3\]"),
        ([{**ROW, "labels": "x"}], "'labels' has 'x'"),
        ([{**ROW, "words": [[0, 3, "x"]]}], r"'words' has \[0, 3, 'x'\]; it takes \[start, end\] inside"),
        ([{**ROW, "sentence_ids": [0]}], "'sentence_ids' must have a number a word, 4"),
        ([{**ROW, "words": None}], "a.jsonl:1: the review has no 'words'; run the command prepare"),
        ([{**ROW, "labels": None}], "a.jsonl:1: the review has no 'labels'; add them, or run the command tag"),
        ([{**ROW, "words": [[4, 7], [0, 3], [8, 14], [14, 15]]}], "'words' must be in order, and none in another"),
        ([{**ROW, "sentence_ids": [0, 1, 0, 0]}], "none below the last"),
        ([{**ROW, "id": True}], "a review is an object with an 'id' and a 'text', got"),
        ([{**ROW, "labels": [[0, 3, "a b"]]}], "the tag 'a b' is empty or has white space inside"),
        ("[" * 100_000, "a.jsonl:1: no JSON"),
        ('{"id": "\\ud800", "text": "a"}', "a.jsonl:1 has a lone surrogate"),
        ('{"id": 1, "text": "a\\ud800"}', "a.jsonl:1 has a lone surrogate, .* at character 1"),
    ],
)
def test_bad_files(write, content, message):
    with pytest.raises(ValueError, match=message):
        read_reviews(write("a.jsonl", content), needs=["words", "labels"])
