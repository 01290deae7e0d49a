import json
import logging

import pytest

from syntax_bert.data.xtreme import load_xtreme
from syntax_bert.data.xtreme_predictions import write_predictions
from syntax_bert.data.xtreme_tasks import XTREME_TASKS
from syntax_bert.tokenization.universal_dependencies import UPOS

pytestmark = pytest.mark.usefixtures("own_cache", "only_warnings")


@pytest.fixture
def folder(tmp_path):
    """Writes files into a folder, given their names and contents, and gives its path."""

    def write(**files):
        for name, content in files.items():
            path = tmp_path / "data" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        return tmp_path / "data"

    return write


def jsonl(*rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def paraphrases(language, labels=(1, 0, 1, 0, 1), missing=()):
    texts = [("NS" if idx in missing else f"{language} a{idx}", f"{language} b{idx}") for idx in range(len(labels))]
    rows = zip(texts, labels, strict=True)
    return jsonl(*({"sentence1": a, "sentence2": b, "label": y, "idx": i} for i, ((a, b), y) in enumerate(rows)))


def squad(language, count=4, per_context=1):
    paragraphs = []
    for number in range(0, count, per_context):
        qas = [
            {"id": f"q{i}", "question": f"{language}? {i}", "answers": [{"text": language, "answer_start": 3}]}
            for i in range(number, number + per_context)
        ]
        paragraphs.append({"context": f"In {language} {number}.", "qas": qas})
    return json.dumps({"version": "1.1", "data": [{"title": "t", "paragraphs": paragraphs}]})


def nli(language, labels):
    return jsonl(*({"premise": f"{language} p", "hypothesis": f"h{i}", "label": y} for i, y in enumerate(labels)))


def test_the_tasks():
    kinds = {name: task.kind for name, task in XTREME_TASKS.items()}
    assert kinds == {
        "xnli": "pair",
        "pawsx": "pair",
        "panx": "tagging",
        "conll": "tagging",
        "udpos": "tagging",
        "xquad": "question-answering",
        "mlqa": "question-answering",
        "mtop": "intent-and-slots",
        "xsid": "intent-and-slots",
    }
    assert len(XTREME_TASKS["panx"].languages) == 40
    assert len(XTREME_TASKS["udpos"].languages) == 33


@pytest.mark.parametrize("is_parent", [False, True])
def test_pairs_of_a_folder(folder, is_parent, caplog):
    files = {
        "train.en.jsonl": nli("en", [0, 2]),
        "dev.en.jsonl": nli("en", ["neutral"]),
        "test.de.jsonl": nli("de", [1]),
    }
    root = folder(**{f"xnli/{name}": content for name, content in files.items()})
    data = load_xtreme("xnli", data_dir=root if is_parent else root / "xnli")
    assert (data.kind, data.columns) == ("pair", ("text", "text_pair"))
    assert (data.labels, data.intents) == (["entailment", "neutral", "contradiction"], [])
    assert data.train.to_list() == [
        {"text": "en p", "text_pair": "h0", "label": 0},
        {"text": "en p", "text_pair": "h1", "label": 2},
    ]
    assert data.validation["label"][:] == data.evaluation["en"]["label"][:] == [1]
    assert data.evaluation["de"].to_list() == [{"text": "de p", "text_pair": "h0", "label": 1}]
    assert data.languages == {"de": ("de", "de"), "en": ("en", "en")}
    assert not caplog.records


def test_test_data_go_before_validation_data(folder):
    root = folder(**{"validation.de.jsonl": nli("old", [0]), "test.de.jsonl": nli("new", [0])})
    data = load_xtreme("xnli", eval_languages=["de"], data_dir=root, with_train=False)
    assert data.train is data.validation is None
    assert data.evaluation["de"]["text"][:] == ["new p"]


def test_named_files(folder):
    root = folder(**{"a.csv": "premise,hypothesis,label\na,b,2\n", "b.jsonl": nli("x", [0]), "c.jsonl": nli("y", [1])})
    files = {"train_file": str(root / "a.csv"), "validation_file": str(root / "b.jsonl")}
    data = load_xtreme("xnli", "fr", test_files={"sw": str(root / "c.jsonl")}, **files)
    assert data.train["label"][:] == [2]
    assert data.validation["text"][:] == ["x p"]
    assert {key: rows["text"][:] for key, rows in data.evaluation.items()} == {"sw": ["y p"]}


def test_missing_translations_are_left_out_and_counted(folder, caplog):
    blank = jsonl({"sentence1": "  ", "sentence2": "b", "label": 1, "idx": 5})
    root = folder(
        **{
            "validation.en.jsonl": paraphrases("en"),
            "validation.de.jsonl": paraphrases("de", missing=(1, 2)) + blank,
            "train.en.jsonl": paraphrases("train", missing=(0,)),
        }
    )
    with caplog.at_level(logging.WARNING):
        data = load_xtreme("pawsx", data_dir=root)
    reason = "rows that are not translated or whose answer is misplaced"
    assert caplog.messages == [f"de: left out 3 {reason}", f"train: left out 1 {reason}"]
    assert data.evaluation["de"]["text_pair"][:] == ["de b0", "de b3", "de b4"]
    assert len(data.train) == 4
    assert data.labels == ["0", "1"]


def test_generalized_pairs(folder, caplog):
    root = folder(
        **{
            "validation.en.jsonl": paraphrases("en", (1, 0, 1)),
            "validation.de.jsonl": paraphrases("de", (1, 1, 1), missing=(1,)),
        }
    )
    data = load_xtreme("pawsx", data_dir=root, generalized=True, with_train=False)
    own = {"de": ("de", "de"), "en": ("en", "en")}
    assert data.languages == {**own, "de-en": ("de", "en"), "en-de": ("en", "de")}
    assert {key: len(rows) for key, rows in data.evaluation.items()} == {"de": 2, "en": 3, "de-en": 2, "en-de": 2}
    assert data.evaluation["en-de"].to_list() == [
        {"text": "en a0", "text_pair": "de b0", "label": 1},
        {"text": "en a2", "text_pair": "de b2", "label": 1},
    ]
    assert data.evaluation["de-en"]["text"][:] == ["de a0", "de a2"]
    assert [message.partition(" rows ")[0] for message in caplog.messages] == ["de: left out 1", "en-de: left out 1"]
    assert caplog.messages[1] == "en-de: left out 1 rows that de lacks"


@pytest.mark.parametrize("generalized", [False, True])
def test_no_translation_of_an_evaluated_row_is_trained_on(folder, generalized):
    labels = [number % 2 for number in range(20)]
    root = folder(**{f"dev.{language}.jsonl": paraphrases(language, labels) for language in ("en", "de", "fr")})
    data, again = (
        load_xtreme("pawsx", data_dir=root, train_split_fraction=0.75, generalized=generalized) for _ in range(2)
    )
    trained = {text.removeprefix("en a") for text in data.train["text"]}
    assert len(trained) == len(data.train) == 15
    for rows in (data.validation, *data.evaluation.values()):
        for column, letter in (("text", "a"), ("text_pair", "b")):
            assert {text.partition(f" {letter}")[2] for text in rows[column]} == {*map(str, range(20))} - trained
    assert again.train.to_list() == data.train.to_list()
    assert len(data.evaluation) == (9 if generalized else 3)


def test_rows_with_one_text_are_not_split(folder):
    root = folder(**{f"xquad.{language}.json": squad(language, 12, per_context=3) for language in ("en", "de")})
    data = load_xtreme("xquad", data_dir=root, train_split_fraction=0.5, eval_languages=["de"])
    assert len(data.train) == len(data.evaluation["de"]) == 6
    assert not {*data.train["context"]} & {*data.validation["context"]}
    assert not {*data.train["id"]} & {*data.evaluation["de"]["id"]}


def test_questions(folder):
    root = folder(**{"train-v1.1.json": squad("en", 2), "xquad.de.json": squad("de"), "xquad.en.json": squad("en")})
    data = load_xtreme("xquad", data_dir=root)
    assert (len(data.train), data.validation, data.labels) == (2, None, [])
    assert data.evaluation["de"][0] == {
        "id": "q0",
        "question": "de? 0",
        "context": "In de 0.",
        "answers": {"text": ["de"], "answer_start": [3]},
    }
    both = load_xtreme("xquad", data_dir=root, generalized=True)
    assert both.evaluation["en-de"][1]["question"] == "en? 1"
    assert both.evaluation["en-de"][1]["context"] == "In de 1."
    assert both.evaluation["en-de"][1]["answers"]["text"] == ["de"]


def test_mlqa_has_files_for_pairs_of_languages(folder):
    root = folder(
        **{
            "MLQA/test/test-context-de-question-en.json": squad("de", 3),
            "MLQA/test/test-context-en-question-de.json": squad("en", 2),
            "MLQA/test/test-context-de-question-de.json": squad("de", 1),
            "MLQA/dev/dev-context-en-question-en.json": squad("en", 4),
        }
    )
    options = {"data_dir": root / "MLQA", "with_train": False}
    data = load_xtreme("mlqa", eval_languages=["en", "de"], generalized=True, **options)
    assert {key: len(rows) for key, rows in data.evaluation.items()} == {"en": 4, "de": 1, "en-de": 3, "de-en": 2}
    assert data.languages["en-de"] == ("en", "de")
    assert len(load_xtreme("mlqa", **options).evaluation["en"]) == len(data.validation) == 4


def test_tagged_words(folder):
    root = folder(
        **{
            "panx/train-en.tsv": "en:Ada\tB-PER\nen:ran\tO\n",
            "panx/dev-de.tsv": "Bonn\tB-LOC\n\nja\tO\n",
            "conll/en.train": "Ada NNP I-PER\n",
            "conll/es.test": "Ana NC B-PER\n\nBonn NC B-LOC\n",
        }
    )
    data = load_xtreme("panx", data_dir=root)
    assert data.train.to_list() == [{"words": ["Ada", "ran"], "tags": [1, 0]}]
    assert data.evaluation["de"]["tags"][:] == [[5], [0]]
    conll = load_xtreme("conll", data_dir=root)
    assert conll.labels == ["B-PER", "B-LOC"]
    assert conll.train["tags"][:] == [[0]]
    pos = load_xtreme("conll", data_dir=root, label_column=1)
    assert pos.labels == ["NNP", "NC"]


def test_treebanks_of_a_language_are_read_together(folder):
    row = "1\t{}\t_\t{}\t_\t_\t0\troot\t_\t_\n\n"
    root = folder(
        **{
            "ud/UD_English-A/en_a-ud-train.conllu": row.format("Go", "VERB"),
            "ud/UD_English-A/en_a-ud-test.conllu": row.format("Cats", "NOUN"),
            "ud/UD_English-B/en_b-ud-test.conllu": row.format("Hi", "INTJ") * 2,
            "ud/de-test.conllu": row.format("Nein", "INTJ"),
        }
    )
    data = load_xtreme("udpos", data_dir=root)
    assert data.labels == list(UPOS)
    assert data.evaluation["en"]["words"][:] == [["Cats"], ["Hi"], ["Hi"]]
    assert data.evaluation["en"]["tags"][:] == [[UPOS.index("NOUN")], [UPOS.index("INTJ")], [UPOS.index("INTJ")]]
    assert len(data.evaluation["de"]) == 1


def test_intents_and_slots(folder, caplog):
    root = folder(
        **{
            "xsid/train_en/text.en": "wake me at nine\nrain\n",
            "xsid/train_en/label.en": "O O O B-time\talarm\nB-weather\tforecast\n",
            "xsid/de.valid.conll": "# intent = snooze\n1\tbis\tsnooze\tO\n2\tmorgen\tsnooze\tB-day\n",
        }
    )
    with caplog.at_level(logging.WARNING):
        data = load_xtreme("xsid", data_dir=root)
    assert (data.labels, data.intents) == (["O", "B-time", "B-weather", "B-day"], ["alarm", "forecast", "snooze"])
    assert (data.trained_labels, data.trained_intents) == (["O", "B-time", "B-weather"], ["alarm", "forecast"])
    assert "the training data have none of the slots B-day" in caplog.text
    assert "none of the intents snooze" in caplog.text
    assert data.train.to_list()[1] == {"words": ["rain"], "tags": [2], "intent": 1}
    assert data.evaluation["de"].to_list() == [{"words": ["bis", "morgen"], "tags": [0, 3], "intent": 2}]
    known = {"labels": ["B-time", "O", "B-old"], "intents": ["none"], "with_train": False}
    kept = load_xtreme("xsid", data_dir=root, **known)
    assert kept.labels == ["B-time", "O", "B-old", "B-day"]
    assert kept.intents == ["none", "snooze"]
    assert (kept.trained_labels, kept.trained_intents) == (known["labels"], known["intents"])


def test_mtop(folder):
    tokens = '{"tokens": ["Hallo", "Ben"], "tokenSpans": [{"start": 0, "length": 5}, {"start": 6, "length": 3}]}'
    row = f"1\tIN:GREET\t6:9:SL:NAME\tHallo Ben\tmessaging\tde_XX\t[IN:GREET [SL:NAME Ben ] ]\t{tokens}\n"
    root = folder(**{f"mtop/{name}.txt": row for name in ("en/train", "en/eval", "de/test")})
    data = load_xtreme("mtop", data_dir=root)
    assert (data.labels, data.intents, list(data.evaluation)) == (["O", "B-NAME"], ["GREET"], ["de", "en"])
    assert data.validation.to_list() == [{"words": ["Hallo", "Ben"], "tags": [0, 1], "intent": 0}]


@pytest.mark.parametrize(
    ("task", "files", "options", "message"),
    [
        ("panx", {"a": ""}, {}, r"no test file of 'af' in .*; such files are test-af\.tsv"),
        (
            "xquad",
            {"a": ""},
            {"eval_languages": ["en"]},
            r"such files are xquad\.en\.json, test-v1\.1\.json, validation",
        ),
        ("xquad", {"a": ""}, {"eval_languages": ["de"]}, r"such files are xquad\.de\.json$"),
        ("panx", {"dev-de.tsv": "a\tO\n"}, {}, r"no train file of 'en' .*train-en\.tsv.*; give --train_file or"),
        (
            "panx",
            {"dev-de.tsv": "a\tB-ANIMAL\n"},
            {"with_train": False},
            r"dev-de\.tsv, sentence 1: 'B-ANIMAL' is not",
        ),
        ("xnli", {"dev.de.jsonl": nli("de", [7])}, {"with_train": False}, r"dev\.de\.jsonl, row '0': '7' is not one"),
        ("pawsx", {"dev.en.jsonl": paraphrases("en", missing=range(5))}, {}, r"dev\.en\.jsonl has no usable rows"),
        ("pawsx", {"dev.en.jsonl": paraphrases("en")}, {"generalized": True}, "needs two languages; there is only en"),
        (
            "pawsx",
            {"dev.en.jsonl": paraphrases("en"), "dev.de.jsonl": paraphrases("de", (1, 1, 1, 0, 1))},
            {"generalized": True, "with_train": False},
            r"row '1': the labels are '1' and '0'",
        ),
        (
            "pawsx",
            {"dev.en.jsonl": paraphrases("en"), "test.de.jsonl": paraphrases("de")},
            {"train_split_fraction": 0.5},
            r"dev\.en\.jsonl and .*test\.de\.jsonl: validation and test data are not the same examples",
        ),
        (
            "pawsx",
            {"dev.en.jsonl": paraphrases("en"), "test.de.jsonl": paraphrases("de")},
            {"train_split_fraction": 0.5, "eval_languages": ["de"]},
            "are not the same examples",
        ),
        (
            "pawsx",
            {"dev.en.jsonl": paraphrases("en"), "test.de.jsonl": paraphrases("de")},
            {"generalized": True, "with_train": False},
            "are not the same examples",
        ),
        (
            "pawsx",
            {"dev.en.jsonl": paraphrases("en") * 2},
            {"train_split_fraction": 0.5},
            r"dev\.en\.jsonl: the row '0' is there twice",
        ),
        ("pawsx", {"dev.en.jsonl": paraphrases("en", (1,))}, {"train_split_fraction": 0.5}, "leaves no rows to train"),
    ],
)
def test_bad_data(task, files, options, message, folder):
    with pytest.raises(ValueError, match=message):
        load_xtreme(task, data_dir=folder(**files), **options)


def test_a_named_file_that_does_not_exist():
    with pytest.raises(FileNotFoundError, match=r"no test file 'nothing\.tsv' for 'de'"):
        load_xtreme("panx", test_files={"de": "nothing.tsv"})


def test_predictions(folder, tmp_path):
    root = folder(
        **{
            "xnli/test.de.jsonl": nli("de", [0, 1]),
            "panx/test-de.tsv": "Ada\tB-PER\nran\tO\n\nja\tO\n",
            "xquad/xquad.de.json": squad("de", 2),
            "xsid/de.test.conll": "1\tmörgen\tset\tB-day\n",
        }
    )

    def written(task, predictions):
        data = load_xtreme(task, data_dir=root, with_train=False)
        path = write_predictions(data, "de", predictions, tmp_path / "predictions")
        return path.relative_to(tmp_path / "predictions").as_posix(), path.read_text(encoding="utf-8")

    assert written("xnli", [2, 0]) == ("xnli/test-de.tsv", "contradiction\nentailment\n")
    assert written("panx", [[1, 2], [0]]) == ("panx/test-de.tsv", "B-PER\nI-PER\n\nO\n\n")
    name, content = written("xquad", ["ä", ""])
    assert (name, json.loads(content)) == ("xquad/test-de.json", {"q0": "ä", "q1": ""})
    name, content = written("xsid", [(0, [0])])
    assert (name, content) == ("xsid/test-de.jsonl", '{"words": ["mörgen"], "tags": ["B-day"], "intent": "set"}\n')
    with pytest.raises(ValueError, match="1 predictions for the 2 rows of 'de'"):
        written("xnli", [1])
    with pytest.raises(ValueError, match="de, sentence 1: 1 tags for its 2 words"):
        written("panx", [[1], [0]])
