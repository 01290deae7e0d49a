import copy
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from ufal import udpipe

from syntax_bert import Parse, UDPipeParser
from syntax_bert.tokenization import udpipe_parser
from syntax_bert.tokenization.udpipe_parser import token_range


def test_words_sentences_and_tree_of_raw_text(parser):
    (parse,) = parser.parse(["She reads the book.  They left!"])
    assert [parse.form(word) for word in range(len(parse))] == [
        "She",
        "reads",
        "the",
        "book",
        ".",
        "They",
        "left",
        "!",
    ]
    assert parse.upos == ["PRON", "VERB", "DET", "NOUN", "PUNCT", "PRON", "VERB", "PUNCT"]
    assert parse.sentence_ids == [0, 0, 0, 0, 0, 1, 1, 1]
    assert parse.parents == [1, -1, 3, 1, 1, 6, -1, 6]
    assert parse.deprels == ["nsubj", "root", "det", "obj", "punct", "nsubj", "root", "punct"]
    assert parse.depths == [1, 0, 2, 1, 1, 1, 0, 1]


def test_multiword_tokens_share_their_characters(parser):
    (parse,) = parser.parse(["I cannot go."])
    assert [parse.form(word) for word in range(len(parse))] == ["I", "cannot", "cannot", "go", "."]


def test_ranges_start_anew_with_each_text(parser):
    first, second = parser.parse(["The cat sleeps.", "The cat sleeps."])
    assert first == second


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\x00"])
def test_blank_text_has_no_words(parser, text):
    (parse,) = parser.parse([text])
    assert len(parse) == 0
    assert parse.text == text


def test_nul_does_not_end_the_text(parser):
    (parse,) = parser.parse(["The cat\x00sleeps."])
    assert [parse.form(word) for word in range(len(parse))] == ["The", "cat", "sleeps", "."]


def test_a_lone_surrogate_is_refused_with_its_place(parser):
    with pytest.raises(ValueError, match="text 1 .* at character 4"):
        parser.parse(["fine", "The \ud800"])


def test_offsets_are_code_points_of_the_original_text(parser):
    text = "🙂🙂 The naïve cat sleeps,\r\nwell."
    (parse,) = parser.parse([text])
    assert "naïve" in [parse.form(word) for word in range(len(parse))]


def test_given_words_are_kept_exactly(parser):
    words = ["rect", "230", "550", "Karl-Heinz", "\u200b", "a b", "", "don't"]
    (parse,) = parser.parse_words([words])
    assert [parse.form(word) for word in range(len(parse))] == words
    assert parse.text == " ".join(words)
    assert parser.parse_words([[]])[0] == Parse("", [], [], [], [], [], [])


def test_tagging_only_gives_the_same_tags(parser):
    text = "The cat sleeps by the river."
    (tagged,) = parser.parse([text], dependencies=False)
    (parsed,) = parser.parse([text])
    assert tagged.parents is None
    assert tagged.upos == parsed.upos


@pytest.mark.parametrize("kind", [str, Path, lambda path: {"en": path}])
def test_a_treebank_is_for_another_parser(tmp_path, kind):
    with pytest.raises(ValueError, match=r"x\.conllu' holds trees: give a .*conllu_parser\.ConlluParser"):
        UDPipeParser(kind(str(tmp_path / "x.conllu")))


def test_the_beam_is_an_option(english_parser):
    text = "The man who the judges that I know like sees the dog with one eye that they had to bring, not knowing why."
    narrow, wide = (UDPipeParser(english_parser, beam_size).parse([text])[0] for beam_size in (1, 5))
    assert narrow.upos == wide.upos
    assert narrow.parents != wide.parents


def test_a_token_without_characters_is_refused():
    with pytest.raises(ValueError, match="no characters for 'cat'"):
        token_range(udpipe.Token("cat"))


def test_languages_choose_the_model(english_parser, tmp_path, monkeypatch):
    other = str(tmp_path / "other.udpipe")
    shutil.copy(english_parser, other)
    parser = UDPipeParser({"en": english_parser, "xx": other})
    loaded = []
    load = udpipe_parser.load_model
    monkeypatch.setattr(udpipe_parser, "load_model", lambda path: loaded.append(path) or load(path))
    parser.parse(["The cat.", "The dog.", "The end."], ["xx", "en", "xx"])
    assert loaded == [other, english_parser, other]
    with pytest.raises(ValueError, match=r"no parser for language 'de'; there are parsers for \['en', 'xx'\]"):
        parser.parse(["Die Katze."], ["de"])
    with pytest.raises(
        ValueError, match=r"are parsers for \['en', 'xx'\]: name the language of each text with languages="
    ):
        parser.parse(["The cat."])
    with pytest.raises(ValueError, match="language: path"):
        UDPipeParser(english_parser).parse(["Die Katze."], ["de"])


def test_missing_and_damaged_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.udpipe"):
        UDPipeParser(tmp_path / "nowhere.udpipe")
    damaged = tmp_path / "damaged.udpipe"
    damaged.write_bytes(b"no model at all")
    with pytest.raises(ValueError, match=r"damaged\.udpipe.*not a UDPipe model"):
        UDPipeParser(damaged).parse(["The cat."])


def test_it_pickles_by_path_and_content(parser, english_parser, tmp_path):
    parser.parse(["The cat."])
    assert len(pickle.dumps(parser)) < 2000
    again = pickle.loads(pickle.dumps(parser))
    assert again.parse(["The cat."]) == copy.deepcopy(parser).parse(["The cat."]) == parser.parse(["The cat."])
    file = tmp_path / "parser.udpipe"
    file.write_bytes(b"one")
    before = pickle.dumps(UDPipeParser(file))
    file.write_bytes(b"two")
    assert pickle.dumps(UDPipeParser(file)) != before


@pytest.mark.parametrize(
    ("parents", "sentence_ids", "message"),
    [
        ([1, 0], [0, 0], "cycle"),
        ([0, -1], [0, 0], "cycle through word 0"),
        ([-1, -1], [0, 0], "two roots, words 0 and 1"),
        ([-1, 2], [0, 0], "head of word 1 is 2"),
        ([-1, 0], [0, 1], "no word of its sentence 1"),
    ],
)
def test_a_parse_that_is_no_tree_is_refused(parents, sentence_ids, message):
    with pytest.raises(ValueError, match=message):
        Parse("a b", [0, 2], [1, 3], ["X", "X"], sentence_ids, parents, ["dep", "dep"])


@pytest.mark.parametrize(
    ("starts", "ends", "upos", "message"),
    [
        ([0, 2], [1, 4], ["X", "X"], "characters 2 to 4"),
        ([2, 0], [3, 1], ["X", "X"], "text order"),
        ([0, 2], [1, 3], ["X"], "2 words has 1 upos"),
    ],
)
def test_a_parse_with_wrong_columns_is_refused(starts, ends, upos, message):
    with pytest.raises(ValueError, match=message):
        Parse("a b", starts, ends, upos, [0, 0])


@pytest.mark.parametrize("beam_size", [-1, 0, 1001, 2.0, True, "5"])
def test_a_beam_that_udpipe_cannot_take_is_refused(english_parser, beam_size):
    with pytest.raises(ValueError, match="beam_size must be an integer from 1 to 1000"):
        UDPipeParser(english_parser, beam_size=beam_size)


def test_a_file_changed_within_the_clocks_grain_is_read_again(english_parser, tmp_path):
    copied = tmp_path / "copy.udpipe"
    shutil.copy2(english_parser, copied)
    before = udpipe_parser.file_digest(str(copied))
    status = copied.stat()
    copied.write_bytes(copied.read_bytes()[:-1])
    os.utime(copied, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert udpipe_parser.file_digest(str(copied)) != before


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"upos": "D"}, "upos must have one value a word, got the text 'D'"),
        ({"upos": [3]}, "upos of word 0 is 3, not a string"),
        ({"starts": [0.5]}, "starts .* must be integers"),
        ({"parents": ["-1"]}, "parents .* must be integers"),
    ],
)
def test_columns_of_the_wrong_kind_are_refused(columns, message):
    right = {"starts": [0], "ends": [1], "upos": ["DET"], "sentence_ids": [0], "parents": [-1], "deprels": ["root"]}
    with pytest.raises(ValueError, match=message):
        Parse("a", **(right | columns))


def test_arrays_become_lists():
    made = Parse("a", *(np.array(column) for column in ([0], [1])), ["DET"], (0,), np.array([-1]), [None])
    assert made == Parse("a", [0], [1], ["DET"], [0], [-1], [None])
    assert pickle.loads(pickle.dumps(made)) == made
