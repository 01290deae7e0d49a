"""A parser of a few sentences: not a good one, but a whole one."""

import re

import pytest

from syntax_bert import UDPipeParser, cli
from syntax_bert.model_card import read_parsers
from syntax_bert.parsers.udpipe_scores import score_udpipe

QUICK = (
    "--tokenizer_options epochs=2 --tagger_options iterations=2 --parser_options iterations=2 hidden_layer=10".split()
)
SUBJECTS = {"Nobody": "PRON", "Anna": "PROPN", "She": "PRON", "Bert": "PROPN"}
VERBS = ("sang", "slept", "laughed", "left", "waited", "smiled")
ADVERBS = ("here", "there", "twice", "again", "today")


def sentence(subject, verb, adverb):
    rows = [(subject, SUBJECTS[subject], 2, "nsubj", "_"), (verb, "VERB", 0, "root", "_"),
            (adverb, "ADV", 2, "advmod", "SpaceAfter=No"), (".", "PUNCT", 2, "punct", "_")]  # fmt: skip
    lines = [f"{i}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t{misc}"
             for i, (form, upos, head, deprel, misc) in enumerate(rows, start=1)]  # fmt: skip
    return "\n".join([f"# text = {subject} {verb} {adverb}.", *lines]) + "\n\n"


SENTENCES = [sentence(a, b, c) for a in SUBJECTS for b in VERBS for c in ADVERBS]


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    """A folder as those of Universal Dependencies."""
    folder = tmp_path_factory.mktemp("treebanks") / "UD_English-Tiny"
    folder.mkdir()
    for part, first, last in (("train", 0, 100), ("dev", 100, 110), ("test", 110, 120)):
        (folder / f"en_tiny-ud-{part}.conllu").write_text("".join(SENTENCES[first:last]))
    (folder / "README.md").write_text("# About\n\n=== Machine-readable metadata ===\nLicense: CC BY-SA 4.0\n")
    return folder


@pytest.fixture(scope="module")
def trained(treebank):
    path = treebank.parent / "tiny.udpipe"
    cli.main(["train-parser", str(treebank), "--output", str(path), *QUICK])
    return path


def test_the_parser_works(trained):
    (parse,) = UDPipeParser(trained).parse(["Anna smiled here."])
    assert [parse.form(word) for word in range(len(parse))] == ["Anna", "smiled", "here", "."]
    assert parse.upos == ["PROPN", "VERB", "ADV", "PUNCT"]
    assert parse.parents == [1, -1, 1, 1]


def test_scores_and_licence_go_with_it(trained, treebank):
    about = trained.with_name("tiny.LICENSE.md").read_text()
    assert "trained on en_tiny-ud-train.conllu (100 sentences)" in about
    assert "Licence of UD_English-Tiny: CC BY-SA 4.0." in about
    assert "tagger: `models=1;" in about
    assert "iterations=2`" in about
    measured = score_udpipe(str(trained), (treebank / "en_tiny-ud-test.conllu").read_text())
    for source, scores in measured.items():
        numbers = [f"{scores[name]:.2f}" for name in ("UPOS", "UAS", "LAS")]
        assert f"| en_tiny-ud-test.conllu | {source} | {' | '.join(numbers)} |" in about
    (described,) = read_parsers(trained.parent, {"parser": "tiny.udpipe", "sha256": {"tiny.udpipe": "0"}})
    assert "CC BY-SA 4.0" in described["licence"]


def test_scores_are_those_of_the_parses(trained, treebank, write):
    """The evaluator's figures, counted by hand."""
    right = "".join(SENTENCES[110:120])
    wrong = (
        right.replace("\tADV\t", "\tADJ\t")
        .replace("\tadvmod\t", "\tobl\t")
        .replace("\tPUNCT\t_\t_\t2", "\tPUNCT\t_\t_\t1")
    )
    scores = score_udpipe(str(trained), wrong)["gold tokens"]
    full = score_udpipe(str(trained), right)
    assert full["gold tokens"] == {"UPOS": 100.0, "UAS": 100.0, "LAS": 100.0}
    assert scores == {"UPOS": 75.0, "UAS": 75.0, "LAS": 50.0}
    assert set(full["raw text"]) == {"UPOS", "UAS", "LAS", "sentence F1"}


def test_evaluation_as_a_command(trained, treebank, capsys):
    cli.main(["evaluate-parser", str(trained), str(treebank), "--parser_beam_size", "1"])
    assert re.search(r"\| en_tiny-ud-test\.conllu \| gold tokens \| 100\.00 \|", capsys.readouterr().out)


def test_without_test_sentences(treebank, tmp_path):
    train = str(treebank / "en_tiny-ud-dev.conllu")
    cli.main(["train-parser", train, "--output", str(tmp_path / "untested.udpipe"), *QUICK])
    assert "None: no test sentences were given" in (tmp_path / "untested.LICENSE.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--parser_beam_size", "-1"], "beam_size must be an integer from 1"), (["{empty}"], "have no file to score on")],
)
def test_bad_evaluations(trained, treebank, tmp_path, arguments, message):
    given = [argument.format(empty=tmp_path) for argument in arguments]
    where = [] if "{empty}" in arguments else [str(treebank)]
    with pytest.raises(SystemExit, match=message):
        cli.main(["evaluate-parser", str(trained), *where, *given])


def test_holding_out_a_part(treebank, tmp_path, capsys):
    train = str(treebank / "en_tiny-ud-train.conllu")
    options = [
        "--output",
        str(tmp_path / "part.udpipe"),
        "--test_fraction",
        "0.25",
        "--licence",
        "CC0",
        "--size",
        "small",
    ]
    cli.main(["train-parser", train, *options, *QUICK])
    printed = capsys.readouterr().out
    assert "training on 75 sentences" in printed
    assert "| held out | gold tokens | " in printed
    about = (tmp_path / "part.LICENSE.md").read_text()
    assert "Licence of UD_English-Tiny: CC0." in about
    assert "embedding_form_mincount=3" in about


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{dev}", "--test", "{dev}"], "would be both trained on and measured: --test_fraction 0.1"),
        (["{folder}", "--dev", "{train}"], "would be both trained on and measured"),
        (["{empty}"], r"have no file to train on, \*-ud-train\.conllu"),
        (["{folder}/nothing"], "there is no treebank"),
        (["{bad}"], r"bad\.conllu:1: sentence 1, word 1 'a': 2 fields"),
        (["{dev}", "--parser_options", "hidden_layer"], r"--parser_options takes NAME=VALUE, got 'hidden_layer'"),
        (
            ["{dev}", "--parser_options", "iterations=abc"],
            "iterations of the parser must be a positive number, got 'abc'",
        ),
        (["{dev}", "--test_fraction", "0.01"], "--test_fraction 0.01 leaves 0 sentences to score on"),
        (["{dev}", "--test", "{headless}"], r"headless\.conllu: sentence 1 has no heads, only _"),
        (["{dev}", "--test", "{copy}"], "would be both trained on and measured"),
        (["{dev}", "--tokenizer_options", "dimension=7"], "UDPipe's trainer ends with status 1: .*7"),
    ],
)
def test_bad_input(treebank, tmp_path, write, arguments, message):
    (tmp_path / "empty").mkdir()
    names = {
        "folder": treebank,
        "empty": tmp_path / "empty",
        "bad": write("bad.conllu", "1\ta\n"),
        "headless": write("headless.conllu", "1\tFish\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n"),
        "copy": write("copy.conllu", (treebank / "en_tiny-ud-dev.conllu").read_text()),
        **{part: treebank / f"en_tiny-ud-{part}.conllu" for part in ("train", "dev")},
    }
    given = [argument.format(**names) for argument in arguments]
    with pytest.raises(SystemExit, match=message):
        cli.main(["train-parser", *given, "--output", str(tmp_path / "new.udpipe")])
    assert not list(tmp_path.glob("*.udpipe"))


def test_a_parser_is_not_overwritten(trained, treebank):
    before = trained.read_bytes()
    with pytest.raises(SystemExit, match="is there already: remove it"):
        cli.main(["train-parser", str(treebank), "--output", str(trained)])
    assert trained.read_bytes() == before
