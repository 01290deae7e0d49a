"""From tagged reviews to a tagger, and from raw text to clean tags, by the commands of the example's README."""

import gzip
import json
import re

import pytest
from xtreme_sentences import SENTENCES

from examples.reviews import clean, prepare, tag
from examples.reviews.review_files import read_reviews
from examples.reviews.tagger import ReviewTagger

TAGGED = {"cat": "clarity_positive", "dog": "soundness_negative", "river": "summary", "rivers": "summary"}
pytestmark = pytest.mark.usefixtures("own_cache")


def labelled(number, text):
    words = re.finditer(rf"\b(?:{'|'.join(TAGGED)})\b", text)
    return {"id": number, "text": text, "labels": [[*word.span(), TAGGED[word[0]]] for word in words]}


@pytest.fixture
def trained(load_script, as_arguments, plain_checkpoint, write, tmp_path):
    """A tagger of a few animals, trained on the columns that the command writes."""
    reviews = write("reviews.jsonl", [labelled(number, " ".join(SENTENCES)) for number in range(2)])
    columns = tmp_path / "train.txt"
    prepare.main(as_arguments({"input_file": reviews, "output_file": tmp_path / "p", "column_file": columns}))
    assert columns.read_text().startswith("The\tO\ncat\tclarity_positive\nsleeps\tO\n.\tO\n\nA\tO\ndog\tsound")
    assert columns.read_text().count("\n\n") == 2 * len(SENTENCES)
    load_script("run_xtreme_syntax").main(
        as_arguments(
            {"model_name_or_path": plain_checkpoint, "task_name": "conll", "mechanism": "features",
             "train_file": columns, "test_files": f"en={columns}", "learning_rate": 1e-2, "max_steps": 60,
             "output_dir": tmp_path / "tagger", "max_seq_length": 32, "use_cpu": True, "disable_tqdm": True}
        )
    )  # fmt: skip
    return tmp_path / "tagger"


def test_from_tagged_reviews_to_a_tagger_of_raw_text(trained, as_arguments, write, tmp_path, monkeypatch):
    texts = ["A dog is unhappy.  The cat sleeps.", "  We see a cat. "]
    raw, tagged, cleaned = write("raw.txt", "\n\n".join(texts)), tmp_path / "tagged.jsonl", tmp_path / "cleaned.jsonl"
    monkeypatch.setattr(tag, "REVIEWS_AT_A_TIME", 1)
    tag.main(as_arguments({"model_name_or_path": trained, "input_file": raw, "output_file": tagged}))
    rows = [json.loads(line) for line in tagged.read_text().splitlines()]
    assert [(row["id"], row["text"]) for row in rows] == [(1, texts[0]), (3, texts[1])]
    found = [[(row["text"][start:end], name) for start, end, name in row["labels"]] for row in rows]
    dog, cat = ("dog", "soundness_negative"), ("cat", "clarity_positive")
    assert found == [[dog, cat], [cat]]

    clean.main(as_arguments({"input_file": tagged, "output_file": cleaned}))
    before, after = read_reviews(tagged), read_reviews(cleaned)
    assert [review.words for review in after] == [review.words for review in before]
    assert [review.labels for review in after] == [[], []]  # single words between O
    longer = write("longer.jsonl", [rows[0] | {"labels": [[2, 8, "x"]]}])
    clean.main(as_arguments({"input_file": longer, "output_file": cleaned}))
    assert read_reviews(cleaned)[0].labels == [(0, 16, "x")]

    tagger = ReviewTagger.from_pretrained(trained)
    expected = [("We", "O"), ("see", "O"), ("a", "O"), ("cat", "clarity_positive"), (".", "O")]
    assert tagger.annotate("We see a cat.") == expected
    assert tagger.annotate("") == []


def test_words_of_prepared_reviews_are_kept(trained, as_arguments, write, tmp_path):
    review = {"id": 1, "text": "The catsleeps.", "words": [[0, 3], [4, 7], [7, 13], [13, 14]], "sentence_ids": [0] * 4}
    tagged = tmp_path / "tagged.jsonl"
    paths = {"input_file": write("a.jsonl", [review]), "output_file": tagged}
    tag.main(as_arguments({"model_name_or_path": trained, **paths}))
    assert json.loads(tagged.read_text()) == review | {"labels": [[4, 7, "clarity_positive"]]}


def test_untagged_reviews_are_not_cleaned(as_arguments, write, tmp_path):
    path = write("a.jsonl", [{"id": 1, "text": "The cat sleeps.", "labels": [[0, 7, "summary"]]}])
    with pytest.raises(ValueError, match=r"a\.jsonl:1: the review has no 'words'; run the command prepare"):
        clean.main(as_arguments({"input_file": path, "output_file": tmp_path / "b.jsonl"}))


def test_bullets_stop_spans_but_hyphens_in_compounds_do_not(as_arguments, write, tmp_path):
    text = "Strengths - The state-of-the-art idea is novel - No code"
    words = [(m.start(), m.end()) for m in re.finditer(r"\w+|-", text)]
    labels = [[text.index("idea"), text.index(" novel"), "originality_positive"]]
    row = {"id": 1, "text": text, "words": words, "sentence_ids": [0] * len(words), "labels": labels}
    paths = {"input_file": write("tagged.jsonl", [row]), "output_file": tmp_path / "new" / "folder" / "cleaned.jsonl"}
    clean.main(as_arguments(paths))
    (cleaned,) = read_reviews(paths["output_file"])
    assert [text[start:end] for start, end, _ in cleaned.labels] == ["The state-of-the-art idea is novel"]


def test_training_data_need_labels(as_arguments, write, tmp_path):
    paths = {"output_file": tmp_path / "prepared.jsonl", "column_file": tmp_path / "train.txt"}
    unlabelled = write("a.jsonl", [{"id": 1, "text": "It is new.", "label": [[0, 5, "originality_positive"]]}])
    with pytest.raises(ValueError, match="the review has no 'labels'; add them"):
        prepare.main(as_arguments({"input_file": unlabelled, **paths}))
    assert not list(tmp_path.glob("*.txt"))
    cut = write("b.jsonl", [{"id": 1, "text": "It isn't.", "labels": [[0, 5, "x"]]}])
    with pytest.raises(ValueError, match="cuts the word"):
        prepare.main(as_arguments({"input_file": cut, **paths}))
    assert not list(tmp_path.glob("*.txt"))


@pytest.mark.parametrize("name", ["a.JSONL", "a.json", "a.ndjson", "a.jsonl.gz"])
def test_json_lines_of_other_names(write, name):
    line = json.dumps({"id": "x", "text": "It is new."}).encode()
    (review,) = read_reviews(write(name, gzip.compress(line) if name.endswith("gz") else line))
    assert (review.id, review.text) == ("x", "It is new.")
