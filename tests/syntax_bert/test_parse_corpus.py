"""Parsing corpora in shards: whatever happens in between, the outcome is that of an undisturbed run."""

import os
import resource
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from syntax_bert import Parse, UDPipeParser, cli
from syntax_bert.corpora.documents import Document, read_documents
from syntax_bert.corpora.parse_columns import from_record
from syntax_bert.corpora.parse_corpus import parse_corpus
from syntax_bert.corpora.shards import CorpusOptions
from syntax_bert.data.conllu import read_conllu

SUBJECTS, VERBS, PLACES = ("The cat", "A dog", "Nobody", "My neighbour"), ("sleeps", "sang"), ("here", "at the river")
TEXTS = [f"{a} {b} {c}." for a in SUBJECTS for b in VERBS for c in PLACES] + ["", "Go! Stop."]


@pytest.fixture
def corpus(tmp_path, write, capsys):
    """Runs the command on the texts; gives the folder."""

    def run(*arguments, texts=TEXTS, output="corpus", inputs=None):
        path = inputs or [write("texts.txt", "".join(f"{text}\n" for text in texts))]
        options = ["--shard_size", "4"] if "--shard_size" not in arguments else []
        cli.main(["parse", *path, "--output", str(tmp_path / output), *options, *arguments])
        return tmp_path / output

    return run


def content(folder):
    """All that is in a folder, but for its lock."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != ".lock"}


def rows(folder):
    return [row for shard in sorted(folder.glob("*.parquet")) for row in pq.read_table(shard).to_pylist()]


@pytest.fixture
def parsed(monkeypatch):
    """Notes the texts that are parsed."""
    texts, parse = [], UDPipeParser.parse

    def noting(self, given, *arguments):
        texts.extend(given)
        return parse(self, given, *arguments)

    monkeypatch.setattr(UDPipeParser, "parse", noting)
    return texts


def test_rows_have_their_parses_beside_them(corpus, english_parser, capsys):
    folder = corpus()
    assert [path.name for path in sorted(folder.glob("part-*"))] == [f"part-{n:05}.parquet" for n in range(5)]
    made = rows(folder)
    assert [row["text"] for row in made] == TEXTS
    expected = UDPipeParser(english_parser).parse(TEXTS)
    assert [from_record(row["text"], row["text_parse"]) for row in made] == expected
    assert [Parse(row["text"], **row["text_parse"]) for row in made] == expected
    num_words, num_sentences = sum(map(len, expected)), len(TEXTS)  # an empty text has none, another has two
    assert f"18 rows, {num_sentences} sentences, {num_words} words in 5 shards" in capsys.readouterr().out
    assert {"english-ewt.udpipe", "english-ewt.LICENSE.md"} < {file.name for file in folder.iterdir()}


def test_workers_change_nothing(corpus):
    assert content(corpus(output="one")) == content(corpus("--workers", "2", output="two"))


def test_nothing_is_parsed_twice(corpus, parsed):
    before = content(corpus())
    del parsed[:]
    assert content(corpus()) == before
    assert not parsed
    corpus(texts=[*TEXTS, "One more."])
    assert parsed == [*TEXTS[16:], "One more."]  # the shard that was not full
    del parsed[:]
    changed = [*TEXTS[:5], "Another cat.", *TEXTS[6:]]
    folder = corpus(texts=changed)
    assert parsed == [*changed[4:8], *changed[16:]]
    assert content(folder) == content(corpus(texts=changed, output="undisturbed"))


def test_a_shorter_input_leaves_no_old_shards(corpus):
    corpus()
    assert content(corpus(texts=TEXTS[:6])) == content(corpus(texts=TEXTS[:6], output="undisturbed"))


@pytest.mark.parametrize("damage", ["journal", "bytes", "shard", "flipped", "removed", "unfinished"])
def test_what_is_not_whole_is_parsed_again(corpus, parsed, damage):
    folder = corpus()
    before = content(folder)
    journal = folder / "shards.jsonl"
    if damage == "journal":
        journal.write_text(journal.read_text()[:-9])  # its last line is half written
    elif damage == "bytes":
        journal.write_bytes(before["shards.jsonl"][:-9] + b"\xff\n")
    elif damage == "flipped":
        content_bytes = bytearray(before["part-00004.parquet"])
        content_bytes[40] ^= 1
        (folder / "part-00004.parquet").write_bytes(content_bytes)
    elif damage == "shard":
        (folder / "part-00004.parquet").write_bytes(before["part-00004.parquet"][:-9])
    elif damage == "removed":
        (folder / "part-00004.parquet").unlink()
    else:
        (folder / "part-00004.4711.unfinished").write_bytes(b"PAR1")
        (folder / "part-00004.parquet").unlink()
    del parsed[:]
    assert content(corpus()) == before
    assert parsed == TEXTS[16:]


def test_a_failing_run_leaves_a_complete_corpus_complete(corpus, tmp_path):
    before = content(corpus())
    with pytest.raises(SystemExit, match="there is no file"):
        corpus(inputs=["nothing.txt"])
    assert content(tmp_path / "corpus") == before


def test_shards_with_other_columns_are_not_kept(corpus, write):
    given = [{"text": f"The cat sleeps {n} hours.", "title": "A dog"} for n in range(6)]
    folder = corpus("--text_columns", "title", inputs=[write("a.jsonl", given)])
    more = [*given, {"text": "One more.", "title": "A cat"}]
    assert corpus(inputs=[write("a.jsonl", more)]) == folder  # as before
    assert {"text_parse"}.isdisjoint(rows(folder)[0])
    assert [len(row["title_parse"]["starts"]) for row in rows(folder)] == [2] * 7
    with pytest.raises(SystemExit, match=r"text_columns \['title'\], not \['text'\]"):
        corpus("--text_columns", "text", inputs=[write("a.jsonl", more)])


def test_stale_content_of_the_same_size_does_not_pass(corpus, monkeypatch):
    """Killed after a shard was put in place and before it was noted; then the input is as at first again."""
    corpus(texts=["The cat sleeps."])
    monkeypatch.setattr("syntax_bert.corpora.corpus_folder.CorpusFolder.note", lambda *arguments: {}["killed"])
    with pytest.raises(KeyError, match="killed"):
        corpus(texts=["The dog sleeps."])
    monkeypatch.undo()
    assert rows(corpus(texts=["The cat sleeps."]))[0]["text"] == "The cat sleeps."


def test_a_parser_that_has_changed_is_another_one(corpus, write):
    line = "1\tFish\t_\t{}\t_\t_\t0\troot\t_\t_\n\n"
    trees = write("trees.conllu", line.format("NOUN"))
    corpus("--parser", trees, texts=["Fish"])
    write("trees.conllu", line.format("VERB"))
    with pytest.raises(SystemExit, match="holds a corpus with syntax"):
        corpus("--parser", trees, texts=["Fish"])


def test_stopped_by_hand(corpus, monkeypatch, capsys):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("syntax_bert.corpora.shard_workers.wait", stop)
        with pytest.raises(SystemExit) as stopped:
            corpus()
    assert stopped.value.code == 130
    assert "the same command goes on" in capsys.readouterr().err
    assert len(rows(corpus())) == len(TEXTS)


def test_an_error_names_the_line_and_keeps_whole_shards(corpus, monkeypatch, parsed):
    parse = UDPipeParser.parse

    def failing(self, given, *arguments):
        if "Stop here." in given:
            raise ValueError("too hard")
        return parse(self, given, *arguments)

    monkeypatch.setattr(UDPipeParser, "parse", failing)
    texts = [*TEXTS[:10], "Stop here.", *TEXTS[10:]]
    with pytest.raises(SystemExit, match=r"texts\.txt:11: too hard"):
        corpus(texts=texts)
    monkeypatch.setattr(UDPipeParser, "parse", parse)
    del parsed[:]
    assert [row["text"] for row in rows(corpus(texts=texts))] == texts
    assert "The cat sleeps here." not in parsed


KILLED = [sys.executable, "-m", "syntax_bert.cli", "parse"]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_killed_in_the_middle(corpus, tmp_path, write, workers):
    """The outcome is as if nothing had happened, and no process is left behind."""
    texts = [f"{text} {number} times." for number in range(60) for text in TEXTS]
    path, folder = write("many.txt", "".join(f"{text}\n" for text in texts)), tmp_path / "killed"
    options = [path, "--output", str(folder), "--shard_size", "40", "--workers", workers]
    with subprocess.Popen([*KILLED, *options], stderr=subprocess.DEVNULL, start_new_session=True) as process:
        deadline = time.monotonic() + 120
        while len(list(folder.glob("part-*.parquet"))) < 3 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    there = len(list(folder.glob("part-*.parquet")))
    assert 3 <= there < 27
    deadline = time.monotonic() + 20
    while is_alive(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_alive(process.pid)
    corpus(*options[3:], output="killed", inputs=[path])
    undisturbed = corpus(*options[3:], output="undisturbed", inputs=[path])
    assert content(folder) == content(undisturbed)


def is_alive(group):
    """Tells whether a process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_worker_that_dies(corpus, monkeypatch, tmp_path, write):
    path = write("texts.txt", "".join(f"{text}\n" for text in TEXTS))
    (tmp_path / "dying.py").write_text(
        "import os\n\nclass DyingParser:\n    def parse(self, *arguments):\n        os._exit(9)\n\n"
        "    def parse_words(self, *arguments):\n        os._exit(9)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.syspath_prepend(str(tmp_path))
    from dying import DyingParser

    with pytest.raises(ValueError, match="a worker process died, .* 0 shards are whole: run the same again"):
        parse_corpus(read_documents([path]), tmp_path / "dead", DyingParser(), CorpusOptions(), workers=2)


@pytest.mark.slow
def test_memory_is_flat_over_a_million_short_sentences(tmp_path, english_parser):
    peaks = []

    def documents():
        for number in range(1_000_000):
            if number % 100_000 == 0:
                peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
            yield Document("rain", number + 1, {"text": f"It rained {number} days."})

    totals = parse_corpus(documents(), tmp_path / "million", UDPipeParser(english_parser), CorpusOptions())
    assert totals["rows"] == 1_000_000
    assert peaks[-1] < 1.05 * peaks[2], peaks


def test_only_one_writer(corpus, tmp_path):
    folder = corpus()
    with FileLock(folder / ".lock"), pytest.raises(SystemExit, match="another process is writing to"):
        corpus()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tags_only"], "a corpus with dependencies True, not False"),
        (["--parser_beam_size", "1"], "a corpus with syntax .*'beam_size': 5.*'beam_size': 1"),
        (["--shard_size", "5"], "a corpus with shard_size 4, not 5"),
        (["--format", "conllu"], "a corpus with format 'parquet', not 'conllu'"),
    ],
)
def test_other_settings_do_not_touch_a_corpus(corpus, arguments, message):
    before = content(corpus())
    with pytest.raises(SystemExit, match=message):
        corpus(*arguments)
    assert content(corpus()) == before


@pytest.mark.parametrize("name", ["train.parquet", "part-1.conllu", "notes.unfinished"])
def test_a_folder_with_other_files(corpus, tmp_path, name):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / name).write_bytes(b"mine")
    with pytest.raises(SystemExit, match="has files that are no parsed corpus"):
        corpus("--format", "conllu")
    assert (tmp_path / "corpus" / name).read_bytes() == b"mine"


def test_columns_of_json_lines(corpus, write, english_parser):
    given = [
        {"premise": "The cat sleeps.", "hypothesis": "It rests.", "label": 0},
        {"premise": None, "hypothesis": "", "label": 1, "note": "odd"},
    ]
    inputs = [write("pairs.jsonl", given)]
    first, second = rows(corpus("--text_columns", "premise", "hypothesis", inputs=inputs))
    parser = UDPipeParser(english_parser)
    for name in ("premise", "hypothesis"):
        assert from_record(first[name], first[f"{name}_parse"]) == parser.parse([first[name]])[0]
    assert (second["premise_parse"], second["hypothesis_parse"]["starts"], second["note"]) == (None, [], "odd")


def test_lists_of_words_stay_words(corpus, write, english_parser):
    words = ["don't", "new york", "sleep"]
    (row,) = rows(corpus("--text_columns", "tokens", inputs=[write("a.jsonl", [{"tokens": words, "id": "x"}])]))
    (expected,) = UDPipeParser(english_parser).parse_words([words])
    assert from_record(" ".join(words), row["tokens_parse"]) == expected
    assert len(expected) == 3


def test_missing_fields_and_numbers_are_kept(corpus, write):
    given = [
        {"text": "x", "m": {"a": 1}, "n": 1},
        {"text": "y", "m": {"a": 2, "b": 3}, "n": float("nan")},
        {"text": "z"},
    ]
    made = rows(corpus(inputs=[write("a.jsonl", given)]))
    assert [row["m"] for row in made] == [{"a": 1, "b": None}, {"a": 2, "b": 3}, None]
    assert str([row["n"] for row in made]) == "[1.0, nan, None]"


def test_languages(corpus, write, english_parser, parsed):
    given = [{"text": "The cat sleeps.", "lang": "en"}, {"text": "The dog sleeps.", "lang": "xx"}]
    parsers = ["--parser", f"en={english_parser}", f"xx={english_parser}"]
    corpus("--language_column", "lang", *parsers, inputs=[write("a.jsonl", given)])
    with pytest.raises(SystemExit, match=r"a\.jsonl:1: .*name the language"):
        corpus(*parsers, inputs=[write("a.jsonl", given)], output="other")
    corpus("--language", "xx", *parsers, inputs=[write("a.jsonl", given)], output="third")


def test_tags_only(corpus):
    made = rows(corpus("--tags_only"))
    assert made[0]["text_parse"]["parents"] is None
    assert made[0]["text_parse"]["upos"][:2] == ["DET", "NOUN"]


def test_conllu(corpus, english_parser):
    folder = corpus("--format", "conllu", "--workers", "2")
    sentences = [each for file in sorted(folder.glob("*.conllu")) for each in read_conllu(file)]
    assert [sentence.sent_id for sentence in sentences] == [*map(str, range(1, 17)), "18", "18-2"]
    expected = UDPipeParser(english_parser).parse(TEXTS)
    assert [sentence.parse for sentence in sentences[:16]] == expected[:16]


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("", [], "there is nothing to parse"),
        ([{"a": "x", "b": "y"}], [], r"choose one or two text columns out of \['a', 'b'\]"),
        ([{"a": "x"}], ["--text_columns", "b"], r"no text column 'b'; it has \['a'\]"),
        ([{"a": 1}], ["--text_columns", "a"], "no text column 'a'; it has none"),
        ([{"text": "x", "text_parse": "y"}], [], "has a column 'text_parse' already"),
        ([{"text": "x", "n": 1}] * 4 + [{"text": "x", "n": "one"}], [], r"a\.jsonl:5: not as in the first rows"),
        ([{"text": "x"}] * 4 + [{"text": "x", "n": 1}], [], r"a\.jsonl:5: the columns \['n'\] are not in the first"),
        ([{"text": "x", "n": 1}, {"text": "x", "n": "one"}], [], "'n' has values of several kinds"),
        (
            [{"text": "x", "n": 1}] * 4 + [{"text": "x", "n": 2.5}],
            [],
            r"a\.jsonl:5: (not as in|its values do not fit)",
        ),
        (
            [{"text": "x", "m": {"a": 1}}] * 4 + [{"text": "x", "m": {"a": 1, "b": 2}}],
            [],
            r"a\.jsonl:5: its values do",
        ),
        ([{"text": "x", "m": {}}], [], "'m' has values of several kinds, or none that Parquet holds"),
        ([{"text": "x", "n": 10**24}], [], "'n' has values of several kinds"),
        ([{"text": "x", "lang": ["en"]}], ["--language_column", "lang"], "no column 'lang' of language codes"),
        ([{"words": ["a", ""]}], ["--format", "conllu", "--text_columns", "words"], r"a\.jsonl:1: word 1"),
        ([{"text": "x", "b": "y"}], ["--format", "conllu", "--text_columns", "text", "b"], "of one column"),
        ([{"text": "x"}], ["--workers", "0"], "must be at least 1"),
        ([{"text": "x"}], ["--language_column", "lang"], "no column 'lang'"),
    ],
)
def test_bad_input(corpus, write, content, arguments, message):
    with pytest.raises(SystemExit, match=message):
        corpus(*arguments, inputs=[write("a.jsonl", content)])
