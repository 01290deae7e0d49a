import pytest
from datasets import Dataset

from syntax_bert.data.text_files import label_names, load_files, read_rows, with_class_labels

pytestmark = pytest.mark.usefixtures("own_cache")


def load(path, columns=None, split="train"):
    return load_files({split: path}, columns)[split].to_list()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"text": "the cat", "label": 1}\n\n{"label": 0, "text": ""}'),
        ("a.json", '\ufeff{"text": "the cat", "label": 1}\r\n{"text": "", "label": 0}\r\n'),
        ("a.csv", "text,label\nthe cat,1\n\n,0"),
        ("a.csv", '\ufefftext,label\r\n"the cat",1\r\n"",0\r\n'),
        ("a.tsv", "text\tlabel\nthe cat\t1\n\t0\n"),
        ("a.tsv", "text\tlabel\r\nthe cat\t1\r\n\t0\r\n"),
    ],
)
def test_one_table_in_every_form(write, name, content):
    assert load(write(name, content)) == [{"text": "the cat", "label": "1"}, {"text": "", "label": "0"}]


def test_csv_texts_that_look_like_missing_values_or_numbers(write):
    texts = ["null", "NA", "nan", "None", "007", "1e5", "True", 'a "b", c', "two\nlines"]
    content = "text,label\n" + "".join('"{}",x\n'.format(text.replace('"', '""')) for text in texts)
    assert [row["text"] for row in load(write("a.csv", content))] == texts


def test_quotes_in_a_tsv_file_are_characters(write):
    rows = load(write("a.tsv", 'text\tlabel\n"the cat\t1\nshe said "no"\t0\n"\t1\n'))
    assert [row["text"] for row in rows] == ['"the cat', 'she said "no"', '"']


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x1c"])
def test_only_newlines_end_a_row(write, separator):
    text = f"the{separator}cat"
    assert load(write("a.tsv", f"text\tlabel\n{text}\t1\n")) == [{"text": text, "label": "1"}]
    content = [{"text": text, "label": 1}, {"text": "a dog", "label": 0}]
    assert [row["text"] for row in load(write("a.jsonl", content))] == [text, "a dog"]


def test_long_fields(write):
    assert load(write("a.csv", f"text,label\n{'a ' * 100_000},1\n"))[0]["text"] == "a " * 100_000


def test_number_and_truth_value_in_json_become_texts(write):
    rows = load(write("a.jsonl", [{"text": 7, "label": 0.5}, {"text": "b", "label": True}]))
    assert rows == [{"text": "7", "label": "0.5"}, {"text": "b", "label": "true"}]


def test_labels_of_mixed_type_far_into_a_file(write):
    rows = [{"text": "a", "label": 1}] * 1500 + [{"text": "a", "label": 2.5}]
    assert load(write("a.jsonl", rows))[-1]["label"] == "2.5"


def test_only_the_needed_columns_are_kept(write):
    rows = [{"id": [1], "text": "a", "other": None, "idx": 3, "label": 0}, {"text": "b", "idx": 5, "label": 1}]
    assert load(write("a.jsonl", rows), ["text"]) == [
        {"text": "a", "label": "0", "idx": "3"},
        {"text": "b", "label": "1", "idx": "5"},
    ]


def test_a_test_split_needs_and_keeps_no_labels(write):
    path = write("a.jsonl", [{"text": "a"}, {"text": "b"}])
    assert load(path, split="test") == load(path, split="test_mismatched") == [{"text": "a"}, {"text": "b"}]
    labelled = write("b.jsonl", [{"text": "a", "label": None}, {"text": "b", "label": "unheard of"}])
    assert load(labelled, split="test") == [{"text": "a"}, {"text": "b"}]


def test_a_changed_file_is_read_again(write):
    assert load(write("a.csv", "text,label\na,0\n")) == [{"text": "a", "label": "0"}]
    assert load(write("a.csv", "text,label\nb,1\n")) == [{"text": "b", "label": "1"}]


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("text,label", ["text"]),
        ("idx,review,label", ["review"]),
        ("sentence2,label,sentence1", ["sentence1", "sentence2"]),
        ("hypothesis,premise,label,idx", ["premise", "hypothesis"]),
        ("question,sentence,label", ["question", "sentence"]),
        ("question1,question2,label", ["question1", "question2"]),
        ("text,text_pair,label", ["text", "text_pair"]),
    ],
)
def test_text_columns_that_need_not_be_named(write, header, columns):
    row = ",".join(f"a {name}" for name in header.split(","))
    loaded = load_files(
        {"train": write("a.csv", f"{header}\n{row}\n"), "test": write("b.csv", f"id,{header}\n1,{row}\n")}
    )
    assert loaded["train"].column_names[:-1] == [*columns, *(["label"] if "idx" in header else [])]
    assert {name: loaded["test"][0][name] for name in columns} == {name: f"a {name}" for name in columns}


@pytest.mark.parametrize("header", [",text", "Unnamed: 0,text", "id,text", "question,answer", "text,text_pair,id", ""])
def test_other_text_columns_have_to_be_named(write, header):
    left = header.split(",") if header else []
    path = write("a.csv", ",".join([*left, "label"]) + "\n" + ",".join("a" * (len(left) + 1)) + "\n")
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        load(path)
    assert str(caught.value) == f"{path}: choose one or two text columns out of {left} with --text_columns"


def test_quoted_fields_of_a_tsv_file_are_warned_of_once(write, caplog):
    content = 'text\tlabel\n"the cat"\t1\n"a ""dog"""\t0\n'
    path = write("quoted.tsv", content)
    assert [row["text"] for row in load(path)] == ['"the cat"', '"a ""dog"""']
    load(write("quoted.csv", content.replace("\t", ",")))
    load(write("plain.tsv", 'text\tlabel\n"the cat\t1\n"\t0\n'))
    assert [message.partition(":")[0] for message in caplog.messages] == [path]
    assert "in .csv files quotes are removed" in caplog.text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", "", "a.jsonl is empty"),
        ("a.csv", " \n\n", "a.csv is empty"),
        ("a.csv", "text,label\n", "a.csv has no rows"),
        ("a.tsv", "text\tlabel\r\n", "a.tsv has no rows"),
        ("a.txt", "text,label\na,1\n", "a.txt: unknown ending; data files end in .jsonl"),
        ("a.jsonl", '{"text": "a", "label": 1}\n{"text": "b", "label":\n', "a.jsonl:2: not a JSON object: "),
        ("a.jsonl", '[{"text": "a", "label": 1}]', "a.jsonl:1: not a JSON object"),
        ("a.jsonl", '\n{"text": "a", "label": 1}\n"b"\n', "a.jsonl:3: not a JSON object"),
        ("a.csv", "text,label\na,1\nb,c,0\n", "a.csv:3: 3 fields, but the header has 2"),
        ("a.tsv", "text\tlabel\na\t1\nb\n", "a.tsv:3: 1 fields, but the header has 2"),
        ("a.csv", 'text,label\na,1\n"b,0\nc,1\n', "a.csv:4: unexpected end of data"),
        ("a.csv", "text,label,text\na,1,b\n", "a.csv: a column is there twice"),
        ("a.csv", "sentence,label\na,1\n", "a.csv has no column 'text'; it has ['sentence', 'label']"),
        ("a.jsonl", '{"text": "a", "gold": 1}', "a.jsonl has no column 'label'; it has ['text', 'gold']"),
        ("a.jsonl", [{"text": "a", "label": 1}, {"label": 1}], "a.jsonl:2: 'text' is missing"),
        ("a.jsonl", [{"text": "a", "label": 1}, {"text": None, "label": 1}], "a.jsonl:2: 'text' is missing"),
        ("a.jsonl", [{"text": "a", "label": 1}, {"text": ["b"], "label": 1}], "a.jsonl:2: 'text' is missing"),
        ("a.jsonl", [{"text": "a", "label": 1}, {"text": "b", "label": None}], "a.jsonl:2: 'label' is missing"),
        ("a.csv", "text,label\na,1\nb,\n", "a.csv:3: 'label' is missing"),
        ("a.jsonl", '{"text": "a\\ud800", "label": 1}', "a.jsonl:1: 'text' has a lone surrogate at character 1"),
        ("a.csv", "text,label\ncafé,1\n".encode("latin-1"), "a.csv is not UTF-8"),
    ],
)
def test_bad_files(write, name, content, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        load(write(name, content), ["text"])
    assert message in str(caught.value)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no validation file '.*nothing\.csv'"):
        load_files({"validation": str(tmp_path / "nothing.csv")})


def test_row_lines_count_the_lines_of_the_file(write):
    path = write("a.csv", 'text\n"two\nlines"\n\nb\n')
    assert list(read_rows(path)) == [(3, {"text": "two\nlines"}), (5, {"text": "b"})]


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["1", "0", "1"], ["0", "1"]),
        (["10", "9", "2"], ["2", "9", "10"]),
        (["-1", "1"], ["-1", "1"]),
        (["pos", "neg", "1"], ["1", "neg", "pos"]),
        (["0.5", "1", "2"], None),
        (["1e-3", "2.0"], None),
        (["true", "false"], ["false", "true"]),
    ],
)
def test_label_names(labels, names):
    assert label_names(labels, "a.csv") == names


def test_one_label_is_too_few():
    with pytest.raises(ValueError, match=r"a\.csv: all labels are 'x'"):
        label_names(["x", "x"], "a.csv")


def labelled(labels, names, split="validation"):
    dataset = Dataset.from_dict({"text": ["a"] * len(labels), "gold": labels})
    return with_class_labels({split: dataset}, "gold", names, {split: "a.csv"})[split]


@pytest.mark.parametrize(
    ("labels", "names", "ids"),
    [
        (["yes", "no"], ["no", "yes"], [1, 0]),
        (["1", "0"], ["no", "yes"], [1, 0]),
        ([1, 0], ["no", "yes"], [1, 0]),  # as from the Hub
        (["5", "1"], ["1", "3", "5"], [2, 0]),
        (["2.5", "4"], None, [2.5, 4.0]),
        ([2.5, 4.0], None, [2.5, 4.0]),
    ],
)
def test_class_labels(labels, names, ids):
    dataset = labelled(labels, names)
    assert (dataset["label"][:], dataset.column_names) == (ids, ["text", "label"])
    assert dataset.features["label"].dtype == ("float32" if names is None else "int64")


@pytest.mark.parametrize(
    ("label", "names", "expected"),
    [
        ("maybe", ["no", "yes"], "'maybe' is not one of ['no', 'yes']"),
        ("2", ["no", "yes"], "'2' is not one of"),
        (2, ["no", "yes"], "2 is not one of"),
        ("-1", ["no", "yes"], "'-1' is not one of"),
        ("0", ["1", "3", "5"], "'0' is not one of"),
        ("good", None, "'good' is not a finite number"),
        ("nan", None, "'nan' is not a finite number"),
    ],
)
def test_labels_outside_the_set(label, names, expected):
    first = 0.5 if names is None else names[0]
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        labelled([str(first) if isinstance(label, str) else 0, label], names)
    assert str(caught.value).startswith("a.csv, example 2: the label ")
    assert expected in str(caught.value)


def test_a_test_split_loses_its_labels():
    assert labelled([-1, 7], ["no", "yes"], "test_matched").column_names == ["text"]


def test_labels_that_a_prediction_file_cannot_hold_are_refused():
    with pytest.raises(ValueError, match=r"'a\\tb' has a tab or a line break"):
        label_names(["a\tb", "c"], "x.jsonl")


def test_numbers_too_long_for_an_integer_are_no_ids():
    assert label_names(["9" * 5000, "1"], "x.jsonl") is None


def test_json_nested_too_deeply_is_named(write):
    file = write("deep.jsonl", '{"text": ' + "[" * 100_000 + "\n")
    with pytest.raises(ValueError, match=r"deep\.jsonl:1: not a JSON object"):
        load_files({"train": file}, ["text"])
