import json
from pathlib import Path

import pytest

from examples.reviews import evaluate
from examples.reviews.aspect_scores import aspect_scores, coverage_scores, majority_tags
from examples.reviews.prepare import prepare_reviews
from examples.reviews.review_files import read_reviews
from syntax_bert import UDPipeParser
from syntax_bert.data.column_files import read_labels

CLEAR, SOUND, UNSOUND = "clarity_positive", "soundness_positive", "soundness_negative"
REFERENCES = [["summary"] * 3 + ["O", CLEAR, CLEAR, "O"], [CLEAR, "O", UNSOUND, UNSOUND], ["O", "O"]]
PREDICTIONS = [["summary"] * 3 + ["O", CLEAR, "O", "O"], [CLEAR, "O", SOUND, SOUND], [CLEAR, "O"]]


def test_scores_of_spans_and_words_by_aspect():
    scores = aspect_scores(REFERENCES, PREDICTIONS)
    assert list(scores) == [CLEAR, UNSOUND, SOUND, "summary", "micro avg"]
    rounded = {tag: {name: round(value, 3) for name, value in row.items()} for tag, row in scores.items()}
    assert rounded[CLEAR] == {
        "span_precision": 0.333, "span_recall": 0.5, "span_f1": 0.4, "num_spans": 2,
        "word_precision": 0.667, "word_recall": 0.667, "word_f1": 0.667, "num_words": 3,
    }  # fmt: skip
    assert rounded["summary"]["span_f1"] == rounded["summary"]["word_f1"] == 1
    assert rounded[UNSOUND]["num_words"] == 2
    assert {rounded[tag]["word_f1"] for tag in (SOUND, UNSOUND)} == {0}
    assert (rounded["micro avg"]["span_precision"], rounded["micro avg"]["span_recall"]) == (0.4, 0.5)
    assert (rounded["micro avg"]["word_precision"], rounded["micro avg"]["word_recall"]) == (0.625, 0.625)


def test_a_span_has_to_be_whole():
    scores = aspect_scores([[CLEAR] * 4], [[CLEAR, CLEAR, "O", CLEAR]])["micro avg"]
    assert (scores["span_f1"], scores["num_spans"]) == (0, 1)
    assert scores["word_f1"] == pytest.approx(2 * 0.75 / 1.75)


def test_nothing_is_tagged():
    for tag in (CLEAR, "O"):
        scores = aspect_scores([["O", tag]], [["O", "O"]])
        assert scores["micro avg"]["span_f1"] == scores["micro avg"]["word_f1"] == 0
        assert scores["micro avg"]["num_words"] == (tag == CLEAR)


def test_everything_is_tagged():
    scores = aspect_scores([[CLEAR, UNSOUND]], [[CLEAR, CLEAR]])["micro avg"]
    assert (scores["word_f1"], scores["span_f1"], scores["num_words"], scores["num_spans"]) == (0.5, 0, 2, 2)


def test_coverage_and_recall_of_aspects():
    scores = coverage_scores(REFERENCES, PREDICTIONS)
    assert scores["reference_aspect_coverage"] == pytest.approx((2 + 2 + 0) / 3 / 8)
    assert scores["aspect_coverage"] == pytest.approx((2 + 2 + 1) / 3 / 8)
    assert scores["aspect_recall"] == 1  # soundness is spoken of, though otherwise; the third review has no aspects
    assert coverage_scores(REFERENCES[:2], [["summary"], ["O"]])["aspect_recall"] == pytest.approx((1 / 2 + 0) / 2)


def test_majority():
    assert majority_tags([["O", CLEAR, "O"], [CLEAR, UNSOUND]]) == [[CLEAR] * 3, [CLEAR] * 2]
    assert majority_tags([["O", "O"]]) == [["O", "O"]]


TEXT = "We propose cats. It is clear. It is wrong."
WORDS = [[0, 2], [3, 10], [11, 15], [15, 16], [17, 19], [20, 22], [23, 28], [28, 29], [30, 32], [33, 35], [36, 41], [41, 42]]  # fmt: skip
REFERENCE = {"id": "a", "text": TEXT, "labels": [[0, 16, "summary"], [17, 28, CLEAR], [30, 41, UNSOUND]]}
PREDICTED = {
    **REFERENCE, "words": WORDS, "sentence_ids": [0] * 4 + [1] * 4 + [2] * 4,
    "labels": [[0, 16, "summary"], [17, 28, CLEAR], [30, 35, UNSOUND]],
}  # fmt: skip


@pytest.fixture
def run(as_arguments, write, tmp_path):
    """Runs the command on rows of a reference and a prediction."""

    def score(references, predictions):
        files = {"reference_file": write("r.jsonl", references), "prediction_file": write("p.jsonl", predictions)}
        return evaluate.main(as_arguments({**files, "output_dir": tmp_path / "out"}))

    return score


def test_command(run, tmp_path, capsys):
    scores = run([REFERENCE], [{**PREDICTED, "id": "b"}, PREDICTED])
    assert scores["micro avg"]["span_f1"] == pytest.approx(2 / 3)
    text = (tmp_path / "out" / "scores.md").read_text()
    assert text in capsys.readouterr().out
    assert "| clarity_positive | 1 | 3 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 |\n" in text
    assert "| soundness_negative | 1 | 3 | 0.0 | 0.0 | 0.0 | 100.0 | 66.7 | 80.0 |\n" in text
    assert text.endswith("aspect recall: 100.0\nword f1 of the commonest tag: 36.4\n")
    written = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert (written["tags"], written["aspect_coverage"]) == (scores, 3 / 8)
    assert (tmp_path / "out" / "scores.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"id": "b"}, "review 'b' is not among the predictions"),
        ({"text": TEXT + " "}, "review 'a' is not among the predictions, or has another text there"),
        ({"labels": [[0, 5, "summary"]]}, r"review 'a': the label \[0, 5, 'summary'\] cuts the word"),
    ],
)
def test_reviews_that_do_not_match(run, reference, message):
    with pytest.raises(ValueError, match=message):
        run([{**REFERENCE, **reference}], [PREDICTED])


def test_the_examples_own_reviews_fit_the_words_and_the_labels(english_parser):
    """They are training data by the README's command; their labels are clauses, without the full stop at the end."""
    folder = Path(evaluate.__file__).parent / "data"
    labels = read_labels(folder / "labels.txt")
    num_sentences = []
    found = set()
    for split in ("train", "test"):
        reviews = read_reviews(folder / f"{split}.jsonl", needs=["labels"])
        prepare_reviews(reviews, UDPipeParser(english_parser))
        num_sentences.append(sum(len(review.sentences()) for review in reviews))
        for review in reviews:
            tags = review.tags()
            found |= {*tags}
            assert review.labels[0][2] == "summary"
            assert review.text[: review.labels[0][1]].endswith(".")
            assert not any(review.text[end - 1] in ".,:" for _, end, tag in review.labels if tag != "summary")
    assert num_sentences == [136, 60]
    assert found == {*labels}
