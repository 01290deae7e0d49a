"""The tasks of XTREME from the Hub, whose data sets are imitated."""

import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value
from datasets import Sequence as ListOf

from syntax_bert.data import xtreme_hub
from syntax_bert.data.xtreme import load_xtreme
from syntax_bert.data.xtreme_tasks import XTREME_TASKS
from syntax_bert.tokenization.universal_dependencies import UPOS

pytestmark = pytest.mark.usefixtures("own_cache", "only_warnings")

TEXT, STRINGS = Value("string"), ListOf(Value("string"))
QUESTION = {
    "id": TEXT,
    "context": TEXT,
    "question": TEXT,
    "answers": {"answer_start": ListOf(Value("int32")), "text": STRINGS},
}
ANSWER = {"answer_start": [3], "text": ["en"]}
HUB = {  # the columns and splits that the Hub's data sets have
    "XNLI": (
        {"language": TEXT, "sentence1": TEXT, "sentence2": TEXT, "gold_label": TEXT},
        ("test", "validation"),
        [{"language": x, "sentence1": f"{x} 1", "sentence2": x, "gold_label": "neutral"} for x in ("de", "en", "de")],
    ),
    "xnli": (
        {
            "premise": TEXT,
            "hypothesis": TEXT,
            "label": ClassLabel(names=["entailment", "neutral", "contradiction"]),
        },
        ("train", "test", "validation"),
        [{"premise": "p", "hypothesis": "h", "label": 2}],
    ),
    "paws-x": (
        {"id": Value("int32"), "sentence1": TEXT, "sentence2": TEXT, "label": ClassLabel(names=["0", "1"])},
        ("train", "test", "validation"),
        [
            {"id": 7, "sentence1": "a", "sentence2": "b", "label": 1},
            {"id": 8, "sentence1": "NS", "sentence2": "", "label": 0},
        ],
    ),
    "PAN-X": (
        {"tokens": STRINGS, "ner_tags": ListOf(ClassLabel(names=list(XTREME_TASKS["panx"].labels))), "langs": STRINGS},
        ("validation", "test", "train"),
        [{"tokens": ["Ada", "ran"], "ner_tags": [1, 0], "langs": ["en", "en"]}],
    ),
    "udpos": (
        {"tokens": STRINGS, "pos_tags": ListOf(ClassLabel(names=list(UPOS)))},
        ("test", "train"),
        [{"tokens": ["Ada", "ran"], "pos_tags": [11, 15]}],
    ),
    "XQuAD": (QUESTION, ("validation",), [{"id": "1", "context": "In en.", "question": "Wo?", "answers": ANSWER}]),
    "MLQA": (
        {**QUESTION, "title": TEXT},
        ("test", "validation"),
        [{"id": "1", "title": "", "context": "In en.", "question": "Wo?", "answers": ANSWER}],
    ),
    "SQuAD": (
        {**QUESTION, "title": TEXT},
        ("train", "validation"),
        [
            {"id": "1", "title": "", "context": "In en.", "question": "Wo?", "answers": ANSWER},
            {"id": "2", "title": "", "context": "en", "question": "Wo?", "answers": ANSWER},
        ],
    ),
}


@pytest.fixture
def hub(monkeypatch):
    """Stands in for the Hub, and lists what was asked for."""
    asked = []

    def load_dataset(path, name):
        asked.append((path, name))
        columns, splits, rows = HUB[name.partition(".")[0] if path == "google/xtreme" else path.partition("/")[2]]
        return DatasetDict({split: Dataset.from_list(rows, features=Features(columns)) for split in splits})

    monkeypatch.setattr(xtreme_hub, "load_dataset", load_dataset)
    return asked


@pytest.mark.parametrize(
    ("task", "asked", "sizes", "row"),
    [
        (
            "xnli",
            [("google/xtreme", "XNLI"), ("facebook/xnli", "en")],
            (1, 1, 2),
            {"text": "de 1", "text_pair": "de", "label": 1},
        ),
        (
            "pawsx",
            [("google-research-datasets/paws-x", "de"), ("google-research-datasets/paws-x", "en")],
            (1, 1, 1),
            {"text": "a", "text_pair": "b", "label": 1},
        ),
        (
            "panx",
            [("google/xtreme", "PAN-X.de"), ("google/xtreme", "PAN-X.en")],
            (1, 1, 1),
            {"words": ["Ada", "ran"], "tags": [1, 0]},
        ),
        (
            "udpos",
            [("google/xtreme", "udpos.German"), ("google/xtreme", "udpos.English")],
            (1, None, 1),
            {"words": ["Ada", "ran"], "tags": [11, 15]},
        ),
        (
            "xquad",
            [("google/xtreme", "XQuAD.de"), ("google/xtreme", "SQuAD")],
            (1, 2, 1),
            {"id": "1", "question": "Wo?", "context": "In en.", "answers": ANSWER},
        ),
        (
            "mlqa",
            [("google/xtreme", "MLQA.de.de"), ("google/xtreme", "SQuAD"), ("google/xtreme", "MLQA.en.en")],
            (1, 1, 1),
            {"id": "1", "question": "Wo?", "context": "In en.", "answers": ANSWER},
        ),
    ],
)
def test_hub_data(task, asked, sizes, row, hub, caplog):
    data = load_xtreme(task, eval_languages=["de"])
    assert hub == asked
    assert (len(data.train), data.validation and len(data.validation), len(data.evaluation["de"])) == sizes
    assert data.evaluation["de"][0] == row
    incomplete = {"xquad": {"train"}, "mlqa": {"train"}, "pawsx": {"de", "train", "validation"}}
    assert {message.partition(": left out 1 rows ")[0] for message in caplog.messages} == incomplete.get(task, set())


def test_generalized_hub_data(hub):
    data = load_xtreme("mlqa", eval_languages=["de", "hi"], generalized=True, with_train=False)
    assert hub[2:4] == [("google/xtreme", "MLQA.hi.de"), ("google/xtreme", "MLQA.de.hi")]  # context, then question
    assert list(data.evaluation) == ["de", "hi", "de-hi", "hi-de"]


def test_hub_languages(hub):
    assert tuple(load_xtreme("pawsx", with_train=False).evaluation) == XTREME_TASKS["pawsx"].languages
    assert set(xtreme_hub.TREEBANKS) == set(XTREME_TASKS["udpos"].languages)
    with pytest.raises(ValueError, match="google/xtreme XNLI has no test rows of the language 'fr'"):
        load_xtreme("xnli", eval_languages=["fr"])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("cola",), {}, r"unknown task 'cola'; the cross-lingual tasks are \['xnli'"),
        (("mtop",), {}, "mtop cannot be loaded from the Hub; give --data_dir"),
        (("panx",), {"generalized": True}, r"--generalized needs the same examples in all languages, as \['xnli'"),
        (("xsid",), {"train_split_fraction": 0.5}, "--train_split_fraction needs the same examples"),
        (("xnli",), {"train_split_fraction": 0.5}, "--train_split_fraction is for files"),
        (("xnli",), {"train_split_fraction": 1.0}, r"is 1\.0; it must be between 0 and 1"),
        (("xnli",), {"train_split_fraction": 0.5, "train_file": "a"}, "not both"),
        (("xnli", "en", ["xx"]), {}, "the Hub has no data in 'xx'; there are ar, bg"),
        (("xquad", "de", ["de"]), {}, "trains on SQuAD, which is English"),
        (("xnli",), {"data_dir": "nowhere"}, "there is no folder 'nowhere'"),
    ],
)
def test_options_that_do_not_go_together(arguments, options, message, hub):
    with pytest.raises(ValueError, match=message):
        load_xtreme(*arguments, **options)
