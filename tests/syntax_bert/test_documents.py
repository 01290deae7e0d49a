import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Dataset

from syntax_bert.corpora.documents import read_documents
from syntax_bert.corpora.shards import CorpusOptions, make_shards


def rows(*inputs, **options):
    return [document.row for document in read_documents(map(str, inputs), **options)]


def test_text_has_a_row_a_line(write):
    path = write("a.txt", "One.\r\n\nTwo\u2028three.\nFour")
    assert rows(path) == [{"text": "One."}, {"text": ""}, {"text": "Two\u2028three."}, {"text": "Four"}]
    assert [document.where for document in read_documents([path])] == [f"{path}:{line}" for line in (1, 2, 3, 4)]


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_compressed_text(tmp_path, kind):
    module = __import__({"gz": "gzip", "bz2": "bz2", "xz": "lzma"}[kind])
    path = tmp_path / f"a.txt.{kind}"
    path.write_bytes(module.compress("Él duerme.\nShe sleeps.".encode()))
    assert rows(path) == [{"text": "Él duerme."}, {"text": "She sleeps."}]


def test_a_cut_archive_names_the_line(tmp_path):
    path = tmp_path / "a.txt.gz"
    content = gzip.compress("".join(f"Sentence {number * number}.\n" for number in range(9999)).encode())
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"a\.txt\.gz is damaged after line [1-9]\d+"):
        rows(path)


def test_json_lines_keep_kinds_of_values(write):
    given = [{"text": "A", "label": 1, "words": ["a", "b"]}, {"text": None, "score": 0.5}]
    assert rows(write("a.jsonl", given)) == given
    path = write("b.jsonl", "\n" + json.dumps({"text": "A"}) + "\n")
    assert [document.number for document in read_documents([path])] == [2]


def test_tables(write):
    assert rows(write("a.csv", 'text,label\n"a, b",1\n')) == [{"text": "a, b", "label": "1"}]
    assert rows(write("a.tsv", "text\tlabel\na, b\t1\n")) == [{"text": "a, b", "label": "1"}]


def test_parquet_and_folders_in_order(tmp_path):
    for name, texts in (("b", ["three"]), ("a", ["one", None])):
        pq.write_table(pa.table({"text": texts, "n": [0] * len(texts)}), tmp_path / f"{name}.parquet")
    (tmp_path / "notes.md").write_text("no data")
    assert [row["text"] for row in rows(tmp_path)] == ["one", None, "three"]


def test_files_of_any_ending(write):
    assert rows(write("corpus.en", "One.\nTwo."), input_format="txt") == [{"text": "One."}, {"text": "Two."}]
    columns = write("train-en.tsv", "The\tO\ncat\tB-PER\n\nGo\tO\n")
    assert rows(columns, input_format="words") == [
        {"words": ["The", "cat"], "tags": ["O", "B-PER"]},
        {"words": ["Go"], "tags": ["O"]},
    ]


def test_parquet_keeps_its_kinds_of_values(tmp_path):
    table = pa.table({
        "text": ["a"],
        "when": pa.array([1_234_567_891], pa.timestamp("ns")),
        "counts": pa.array([[("a", 2**63)]], pa.map_(pa.string(), pa.uint64())),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet")
    (shard,) = make_shards(read_documents([str(tmp_path / "a.parquet")]), CorpusOptions())
    assert shard.table.equals(table)


def test_a_column_twice(tmp_path):
    pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["text", "text"]), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="has a column twice"):
        rows(tmp_path / "a.parquet")


def test_hub_data_sets_are_streamed(monkeypatch):
    asked = []

    def load_dataset(*names, **options):
        asked.append((names, options))
        return Dataset.from_list([{"text": "one"}]).to_iterable_dataset()

    monkeypatch.setattr("datasets.load_dataset", load_dataset)
    assert rows("user/data", config_name="en", split="test") == rows("data") == [{"text": "one"}]
    assert asked[0] == (("user/data", "en"), {"split": "test", "streaming": True})
    assert asked[1] == (("data", None), {"split": "train", "streaming": True})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"text": "a"}\n[1]\n', r"a\.jsonl:2: not a JSON object"),
        ("a.jsonl", '{"text": "a"\n', r"a\.jsonl:1: not a JSON object"),
        ("a.jsonl", '{"text": "ab\\ud800"}\n', r"a\.jsonl:1: 'text' has a lone surrogate at character 2"),
        ("a.jsonl", '{"words": ["a", "\\udfff"]}\n', r"a\.jsonl:1: 'words' has a lone surrogate at character 0"),
        ("a.txt", b"good\nbad \xff\n", r"a\.txt is not UTF-8 after line"),
        ("a.parquet", b"PAR1 no", r"a\.parquet is no Parquet file"),
        ("a.doc", b"text", r"a\.doc: unknown ending; inputs end in txt, .*or --input_format says what they are"),
        ("a.jsonl", '{"meta": {"deep": ["\\ud800"]}}\n', r"a\.jsonl:1: 'meta' has a lone surrogate at character 0"),
        ("a.jsonl", '{"words": ["a", null]}\n', r"a\.jsonl:1: 'words' has null among its words"),
        ("a.txt.bz2", b"plain text", r"a\.txt\.bz2 is damaged after line 0"),
        ("a.conllu.xz", b"", r"unknown ending"),
        ("a.parquet.gz", b"", r"only text and JSON Lines are read compressed"),
        ("a.txt.gz", b"plain text", r"a\.txt\.gz is damaged after line 0"),
    ],
)
def test_bad_files(write, name, content, message):
    with pytest.raises(ValueError, match=message):
        rows(write(name, content))


@pytest.mark.parametrize("name", ["nothing.txt", "some/deep/name", "./name", "corpus.gz"])
def test_missing_files(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        rows(name)


def test_an_empty_folder(tmp_path):
    with pytest.raises(ValueError, match="has no file that ends in"):
        rows(tmp_path)
