"""`--parses`: what `syntax-bert parse` made is read by the scripts, which give what they give without it."""

import json
from pathlib import Path

import pytest
from xtreme_sentences import DATA, SENTENCES

from syntax_bert import SyntaxTokenizerFast, UDPipeParser, cli, parser_path

TEXTS = ["The cat sleeps.", "A dog is unhappy.", "Who sees the river?", "We see a cat."]
DEFAULTS = {
    "max_steps": 1,
    "per_device_train_batch_size": 4,
    "use_cpu": True,
    "disable_tqdm": True,
    "save_strategy": "no",
}
pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def parse(write, tmp_path):
    """Parses rows into a folder."""

    def run(name, rows, *arguments):
        cli.main(["parse", write(f"{name}.jsonl", rows), "--output", str(tmp_path / name), *arguments])
        return tmp_path / name

    return run


@pytest.fixture
def compare(load_script, as_arguments, tmp_path, plain_checkpoint, monkeypatch):
    """Runs a script with a parser and, when nothing may be parsed, with parses; gives what was measured."""

    def run(name, parser, parses, **settings):
        script, defaults = load_script(name), {"model_name_or_path": plain_checkpoint, **DEFAULTS, **settings}
        measured = []
        for output, options in (("parser", parser), ("parses", parses)):
            with monkeypatch.context() as patch:
                if output == "parses":
                    patch.setattr(UDPipeParser, "parse", lambda *arguments: pytest.fail("a text is parsed"))
                    patch.setattr(UDPipeParser, "parse_words", lambda *arguments: pytest.fail("words are parsed"))
                    patch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "another-cache"))
                script.main(as_arguments({**defaults, "output_dir": tmp_path / output, **options}))
            (result,) = (tmp_path / output / "results").glob("*.json")
            measured.append(json.loads(result.read_text()))
        return measured

    return run


def without_times(result):
    return {
        name: {key: value for key, value in values.items() if not key.endswith(("runtime", "per_second"))}
        if name == "metrics"
        else values
        for name, values in result.items()
    }


def test_glue(compare, parse, write, tmp_path):
    rows = [{"text": text, "label": number % 2} for number, text in enumerate(TEXTS)]
    files = {"train_file": write("train.jsonl", rows), "validation_file": write("dev.jsonl", rows[:2])}
    settings = {"syntax_features": ["upos", "deprel"], "max_seq_length": 16, "save_strategy": "epoch", **files}
    with_parser, with_parses = compare("run_glue_syntax", {}, {"parses": parse("parsed", rows)}, **settings)
    assert without_times(with_parser) == without_times(with_parses)
    saved = SyntaxTokenizerFast.from_pretrained(tmp_path / "parses")
    assert Path(saved.parser.paths[None]).read_bytes() == Path(parser_path("en")).read_bytes()


def test_xtreme(compare, parse, tmp_path):
    """Words of several languages, one folder each."""
    name, make = DATA["panx"]
    for split, language in (("train", "en"), ("dev", "en"), ("test", "en"), ("test", "de")):
        (tmp_path / name.format(split=split, language=language)).write_text(make(SENTENCES))
    rows = [{"tokens": sentence.split()} for sentence in SENTENCES]
    folder = parse("words", rows, "--text_columns", "tokens")
    german = tmp_path / "german.udpipe"
    german.write_bytes(Path(parser_path("en")).read_bytes())
    settings = {"task_name": "panx", "data_dir": tmp_path, "eval_languages": ["en", "de"], "max_seq_length": 24}
    with_parser, with_parses = compare(
        "run_xtreme_syntax",
        {"parsers": ["en", f"de={german}"]},
        {"parses": [f"en={folder}", f"de={folder}"]},
        **settings,
    )
    assert without_times(with_parser) == without_times(with_parses)


def test_translation(compare, parse, write, marian_checkpoint):
    files = [write("text.en", "\n".join(TEXTS)), write("text.de", "\n".join(["Der Hund schläft."] * 4))]
    data = {f"{split}_file": files for split in ("train", "validation", "test")}
    folder = parse("sources", [{"text": text} for text in TEXTS])
    with_parser, with_parses = compare(
        "run_translation_syntax", {}, {"parses": folder}, model_name_or_path=marian_checkpoint, max_length=24, **data
    )
    assert without_times(with_parser) == without_times(with_parses)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parser": "en"}, "--parses takes one folder, which brings its parser"),
        ({"parser_beam_size": 1}, "leave out --parser and its beam"),
        ({"parses": ["nowhere"]}, "nowhere holds no parsed corpus"),
    ],
)
def test_bad_options(load_script, as_arguments, parse, write, plain_checkpoint, tmp_path, options, message):
    rows = [{"text": text, "label": number % 2} for number, text in enumerate(TEXTS)]
    paths = {
        "model_name_or_path": plain_checkpoint,
        "output_dir": tmp_path / "out",
        "train_file": write("t.jsonl", rows),
    }
    settings = {**paths, "parses": parse("parsed", rows), "max_seq_length": 24, **DEFAULTS, **options}
    with pytest.raises(ValueError, match=message):
        load_script("run_glue_syntax").main(as_arguments(settings))


def test_parses_of_languages_are_named(load_script, as_arguments, plain_checkpoint, tmp_path):
    name, make = DATA["panx"]
    for split in ("train", "test"):
        (tmp_path / name.format(split=split, language="en")).write_text(make(SENTENCES))
    data = {"task_name": "panx", "data_dir": tmp_path, "eval_languages": "en", "max_seq_length": 24, "parses": "x"}
    settings = {"model_name_or_path": plain_checkpoint, "output_dir": tmp_path / "out", **data, **DEFAULTS}
    with pytest.raises(ValueError, match="--parses takes LANGUAGE=FOLDER, got 'x'"):
        load_script("run_xtreme_syntax").main(as_arguments(settings))
