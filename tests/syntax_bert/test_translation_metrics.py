import numpy as np
import pytest
import sacrebleu
from transformers import EvalPrediction

from syntax_bert.translation_metrics import (
    compare_translations,
    metrics_of_generated,
    scores_by_length,
    translation_scores,
)

REFERENCES = ["the cat sleeps on the mat today", "a dog sees the river and runs", "we see you there now friends"] * 8
GOOD = ["the cat sleeps on a mat today", "a dog sees the river and runs", "we see you here now friends"] * 8
BAD = ["the cat on mat", "a dog sees river", "we you"] * 8


def test_scores_are_those_of_sacrebleu():
    scores = translation_scores(GOOD, REFERENCES)
    assert scores["bleu"] == sacrebleu.corpus_bleu(GOOD, [REFERENCES]).score
    assert scores["chrf"] == sacrebleu.corpus_chrf(GOOD, [REFERENCES]).score
    assert scores["bleu_signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_scores_by_the_length_of_the_source():
    sources = ["a b", *["a " * 12] * 20, *["a " * 40] * 3]
    rows = scores_by_length(sources, GOOD, REFERENCES)
    assert [(row["words"], row["sentences"]) for row in rows] == [("1-10", 1), ("11-15", 20), ("31-", 3)]
    assert rows[1]["bleu"] == translation_scores(GOOD[1:21], REFERENCES[1:21])["bleu"]


def test_systems_are_compared_by_paired_bootstrap():
    mixed = [bad if index % 2 else good for index, (good, bad) in enumerate(zip(GOOD, BAD, strict=True))]
    other = [good if index % 2 else bad for index, (good, bad) in enumerate(zip(GOOD, BAD, strict=True))]
    base, better, even = compare_translations({"plain": mixed, "syntax": GOOD, "other": other}, REFERENCES, 200)
    assert [row["system"] for row in (base, better, even)] == ["plain", "syntax", "other"]
    assert base["bleu_p"] is None
    assert better["bleu_p"] < 0.05 < even["bleu_p"]
    assert better["chrf"] == translation_scores(GOOD, REFERENCES)["chrf"]
    assert 0 < better["bleu_interval"] < better["bleu"]
    _, same = compare_translations({"plain": mixed, "same": tuple(mixed)}, REFERENCES, 50)
    assert same["bleu_p"] == same["chrf_p"] == 1


def test_chinese_is_split_into_characters():
    (made,), (meant,) = ["他们正在公园里踢足球。"], ["他们在公园里踢足球。"]
    assert translation_scores([made], [meant])["bleu"] == 0
    scores = translation_scores([made], [meant], "zh")
    assert scores["bleu"] > 50
    assert "tok:zh" in scores["bleu_signature"]


def test_what_is_generated_is_measured_against_the_references():
    class Tokenizer:
        pad_token_id = 9

        def batch_decode(self, ids, skip_special_tokens):
            return [" ".join(f"w{number}" for number in row if number != 9) for row in ids.tolist()]

    predictions = np.array([[1, 2, 3, 4, 5, 9], [1, 2, 2, 2, 4, 4]])
    references = ["w1 w2 w3 w4 w5", "w1 w2 w2 w2 w4 w4"]
    metrics = metrics_of_generated(Tokenizer(), references)(EvalPrediction(predictions, 0 * predictions))
    assert metrics == {"bleu": pytest.approx(100), "chrf": pytest.approx(100)}
