import json

import pytest

from syntax_bert.data import parallel_text
from syntax_bert.data.parallel_text import load_parallel_text, load_parallel_text_from_hub

PAIRS = [{"source": "The cat sleeps.", "target": "Die Katze schläft."}, {"source": "A\u2028dog", "target": "Ein Hund"}]


def test_aligned_files(write):
    files = [write("train.en", "The cat sleeps.\r\nA\u2028dog\n"), write("train.de", "Die Katze schläft.\nEin Hund")]
    assert load_parallel_text(files).to_list() == PAIRS


@pytest.mark.parametrize("is_nested", [False, True])
def test_json_lines(write, is_nested):
    rows = [{"en": pair["source"], "de": pair["target"]} for pair in PAIRS]
    file = write("train.jsonl", [{"translation": row} if is_nested else row for row in rows])
    assert load_parallel_text([file], "en", "de").to_list() == PAIRS


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.en": "one\ntwo\n", "a.de": "eins\n"}, r"a\.en has 2 lines and .*a\.de 1: they are not aligned"),
        ({"a.en": "one\n\n", "a.de": "eins\nzwei\n"}, r"a\.en:2: the text is empty"),
        ({"a.en": "", "a.de": ""}, "there are no pairs"),
        (
            {"a.jsonl": '{"source": "a"}\n'},
            r"a\.jsonl:1: there is no text 'target' \(see --source_lang, --target_lang\) in \{'source': 'a'\}",
        ),
        ({"a.jsonl": '{"translation": "x"}\n'}, r"a\.jsonl:1: there is no text 'source' \(see --source_lang"),
        ({"a.jsonl": '{"translation": null}\n'}, r"a\.jsonl:1: there is no text 'source'"),
        ({"a.jsonl": "[]\n"}, r"a\.jsonl:1: there is no text 'source'"),
        ({"a.jsonl": '{"source": \n'}, r"a\.jsonl:1: this is no JSON object"),
        (
            {"a.jsonl": '{"source": "\\ud800", "target": "b"}\n'},
            r"a\.jsonl:1: there is a lone surrogate at character 0",
        ),
        ({"a.en": b"one\n\xff\n", "a.de": "eins\nzwei\n"}, r"a\.en is not UTF-8"),
        ({"a": "x", "b": "y", "c": "z"}, "two aligned files, or one of JSON Lines; got 3"),
    ],
)
def test_what_is_wrong_is_named(write, files, message):
    with pytest.raises(ValueError, match=message):
        load_parallel_text([write(name, content) for name, content in files.items()])


def test_a_missing_file_is_named():
    with pytest.raises(FileNotFoundError, match=r"there is no file 'no\.en'"):
        load_parallel_text(["no.en", "no.de"])


def test_hub_data(monkeypatch):
    from datasets import Dataset

    rows = [{"translation": {"en": pair["source"], "de": pair["target"]}} for pair in PAIRS]
    monkeypatch.setattr(
        parallel_text, "load_dataset", lambda *args, **kwargs: Dataset.from_list(json.loads(json.dumps(rows)))
    )
    assert load_parallel_text_from_hub("some/set", None, "train", "en", "de").to_list() == PAIRS
    with pytest.raises(ValueError, match="some/set, row 1: there is no text 'fr'"):
        load_parallel_text_from_hub("some/set", None, "train", "en", "fr")
    rows[1]["translation"]["de"] = " "
    with pytest.raises(ValueError, match="some/set, row 2: the text is empty"):
        load_parallel_text_from_hub("some/set", None, "train", "en", "de")


def test_a_column_may_be_called_translation(write):
    file = write("a.jsonl", [{"text": "A cat.", "translation": "Eine Katze."}])
    assert load_parallel_text([file], "text", "translation").to_list() == [
        {"source": "A cat.", "target": "Eine Katze."}
    ]
