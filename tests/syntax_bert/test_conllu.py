import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntax_bert.data.conllu import ConlluError, ConlluSentence, read_conllu, surface_tokens, write_conllu
from syntax_bert.tokenization.universal_dependencies import Parse


def rows(*words):
    """Makes CoNLL-U lines from `id form upos head deprel [misc]`, with ~ for a space in a form."""
    lines = []
    for word in words:
        word_id, form, upos, head, deprel, misc = (word.split(" ") + ["_"])[:6]
        form = form.replace("~", " ")
        lines.append(f"{word_id}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t{misc}" + "\n")
    return "".join(lines)


CATS = "# sent_id = cats\n# text = Cats purr.\n" + rows(
    "1 Cats NOUN 2 nsubj", "2 purr VERB 0 root SpaceAfter=No", "3 . PUNCT 2 punct"
)
BEACH = "# sent_id = plage\n# text = Il parle du chat aux amis.\n" + rows(
    "1 Il PRON 2 nsubj",
    "2 parle VERB 0 root",
    "3-4 du _ _ _",
    "3 de ADP 5 case",
    "4 le DET 5 det",
    "5 chat NOUN 2 obl",
    "6-7 aux _ _ _",
    "6 à ADP 8 case",
    "7 les DET 8 det",
    "8 amis NOUN 2 obl SpaceAfter=No",
    "9 . PUNCT 2 punct",
)
CATS_PARSE = Parse(
    "Cats purr.", [0, 5, 9], [4, 9, 10], ["NOUN", "VERB", "PUNCT"], [0] * 3, [1, -1, 1], ["nsubj", "root", "punct"]
)


@pytest.fixture
def read(tmp_path):
    def read(content, **options):
        path = tmp_path / "a.conllu"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read_conllu(path, **options))

    return read


@pytest.fixture
def round_trip(tmp_path):
    def round_trip(*sentences):
        write_conllu(tmp_path / "b.conllu", sentences)
        return list(read_conllu(tmp_path / "b.conllu"))

    return round_trip


def test_sentence(read):
    assert read(CATS) == [ConlluSentence(CATS_PARSE, ["Cats", "purr", "."], "cats")]


def test_words_of_a_multiword_token_share_its_characters(read):
    (sentence,) = read(BEACH)
    parse = sentence.parse
    assert sentence.forms == ["Il", "parle", "de", "le", "chat", "à", "les", "amis", "."]
    assert [parse.form(word) for word in range(9)] == ["Il", "parle", "du", "du", "chat", "aux", "aux", "amis", "."]
    assert parse.parents == [1, -1, 4, 4, 1, 7, 7, 1, 1]
    assert surface_tokens(parse) == [[0], [1], [2, 3], [4], [5, 6], [7], [8]]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + CATS.encode() + b"\n",
        CATS.replace("\n", "\r\n").encode(),
        CATS.rstrip("\n").encode(),
        b"\n\n" + CATS.encode() + b"\n\n\n \n",
        ("#text=Cats purr.\n# sent_id=cats\n# newpar\n#\n" + CATS.split("purr.\n", 1)[1]).encode(),
    ],
    ids=["byte order mark", "CRLF", "no final line break", "blank lines", "loose comments"],
)
def test_variants_of_the_format(read, content):
    assert read(content) == [ConlluSentence(CATS_PARSE, ["Cats", "purr", "."], "cats")]


def test_several_sentences(read):
    assert [sentence.sent_id for sentence in read(f"{CATS}\n\n\n{BEACH}\n")] == ["cats", "plage"]


def test_reading_streams(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(f"{CATS}\n1\tbroken\n", encoding="utf-8")
    sentences = read_conllu(path)
    assert next(sentences).sent_id == "cats"
    with pytest.raises(ConlluError):
        next(sentences)


def test_text_is_joined_from_tokens_when_missing(read):
    without_text = [line for line in BEACH.split("\n") if not line.startswith("#")]
    (sentence,) = read("\n".join(without_text))
    assert sentence.sent_id is None
    assert sentence.parse == read(BEACH)[0].parse


def test_space_after_of_a_multiword_token_is_that_of_its_range(read):
    words = ["1-2 l' _ _ _ SpaceAfter=No", "1 le DET 3 det", "2 a X 3 dep Gloss=x|SpaceAfter=No", "3 eau NOUN 0 root"]
    assert read(rows(*words))[0].parse.text == "l'eau"


def test_empty_nodes_carry_no_word(read):
    words = ["0.1 Hm X _ _", "1 Eat VERB 0 root", "1.1 you PRON _ _", "1.2 x PRON _ _", "2 up ADV 1 advmod"]
    (sentence,) = read(rows(*words))
    assert sentence.forms == ["Eat", "up"]
    assert sentence.parse.text == "Eat up"


@pytest.mark.parametrize("text", ["10\u00a0000  cats", "10 000\u2003cats ", " 10000 cats"])
def test_whitespace_of_text_may_differ(read, text):
    (sentence,) = read(f"# text = {text}\n" + rows("1 10~000 NUM 2 nummod", "2 cats NOUN 0 root"))
    parse = sentence.parse
    assert parse.text == text
    assert [parse.form(0), parse.form(1)] == [text.strip()[: -len("cats")].rstrip(), "cats"]
    assert sentence.forms == ["10 000", "cats"]


def test_only_line_feeds_end_a_line(read):
    (sentence,) = read(rows("1 a\u2028b NOUN 0 root SpaceAfter=No", "2 \x85c\x0bd PUNCT 1 punct"))
    assert sentence.forms == ["a\u2028b", "\x85c\x0bd"]
    assert sentence.parse.ends == [3, 7]


def test_no_heads_give_a_tagged_parse(read):
    (sentence,) = read(rows("1 Cats _ _ _", "2 purr VERB _ _"))
    assert sentence.parse == Parse("Cats purr", [0, 5], [4, 9], ["_", "VERB"], [0, 0])


def test_further_roots_are_repaired_on_request(read):
    words = ["1 One NUM 0 root", "2 two NUM 0 root", "3 x X 2 dep", "4 three NUM 0 root"]
    parse = read(rows(*words), repair_roots=True)[0].parse
    assert parse.parents == [-1, 0, 1, 0]
    assert parse.deprels == ["root", "parataxis", "dep", "parataxis"]


BROKEN = {
    "too few fields": ("1\tCats\tcat\n", 1, "word 1 'Cats': 3 fields"),
    "spaces for tabs": ("1  Cats  _  NOUN  _  _  0  root  _  _\n", 1, "1 fields"),
    "empty form": ("1\t\t_\tX\t_\t_\t0\troot\t_\t_\n", 1, "none empty"),
    "id": (rows("1 Cats NOUN 0 root", "b purr VERB 1 dep"), 2, "word b 'purr': 'b' is not a valid ID"),
    "no id": (rows("_ Cats NOUN 0 root"), 1, "word 1 comes next"),
    "ids from 0": (rows("0 Cats NOUN 0 root"), 1, "out of order"),
    "ids out of order": (rows("1 Cats NOUN 0 root", "3 purr VERB 1 dep"), 2, "word 3 'purr': the id is out of order"),
    "id twice": (rows("1 Cats NOUN 0 root", "1 purr VERB 1 dep"), 2, "word 2 comes next"),
    "empty node out of order": (rows("2.1 x X _ _", "1 Cats NOUN 0 root"), 1, "out of order"),
    "range out of order": (rows("2-3 x _ _ _", "1 Cats NOUN 0 root"), 1, "out of order"),
    "ranges overlap": (rows("1-2 ab _ _ _", "1 a X 0 root", "2-3 c _ _ _", "2 b X 1 dep"), 3, "out of order"),
    "range backwards": (rows("2-1 x _ _ _"), 1, "valid ID"),
    "range past the end": (rows("1-3 du _ _ _", "1 de ADP 0 root", "2 le DET 1 det"), 1, "word 1-3 'du'"),
    "head is no number": (rows("1 Cats NOUN x root"), 1, "'x' is not a valid"),
    "head out of range": (rows("1 a X 0 root", "2 b X 9 dep"), 2, "word 2 'b': HEAD is 9; it must be 0 to 2"),
    "negative head": (rows("1 a X 0 root", "2 b X -1 dep"), 2, "HEAD is -1"),
    "some heads": (rows("1 a X 0 root", "2 b X _ dep"), 2, "HEAD is _"),
    "two roots": (rows("1 a X 0 root", "2 b X 0 root"), 2, "word 2 'b': a second root, after word 1"),
    "no root": (rows("1 a X 2 dep", "2 b X 1 dep"), 1, "a cycle without a root"),
    "self loop": (rows("1 a X 0 root", "2 b X 2 dep"), 2, "word 2 'b': the heads form a cycle"),
    "cycle": (rows("1 a X 0 root", "2 b X 4 dep", "3 c X 1 dep", "4 d X 2 dep"), 2, "word 2 'b': the heads form a"),
    "only comments": ("# newpar\n", 1, "has no words"),
    "text lacks a word": ("# text = Cats\n" + rows("1 Cats X 0 root", "2 purr X 1 dep"), 3, "word 2 'purr': the text"),
    "text has more": ("# text = Cats purr\n" + rows("1 Cats X 0 root"), 2, "goes on with ' purr'"),
    "blank form": ("# text = Cats\n" + rows("1 Cats X 0 root", "2 ~ X 1 dep"), 3, "word 2 ' '"),
}


@pytest.mark.parametrize(("content", "line", "message"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize(("before", "name"), [("", "sentence 1"), (CATS + "\n", "sentence 2")])
def test_broken_sentence_names_file_line_and_sentence(read, tmp_path, content, line, message, before, name):
    with pytest.raises(ConlluError) as error:
        read(before + content)
    line += before.count("\n")
    assert (error.value.path, error.value.line) == (str(tmp_path / "a.conllu"), line)
    assert str(error.value).startswith(f"{tmp_path / 'a.conllu'}:{line}: {name}")
    assert message in str(error.value)


def test_error_names_the_sent_id_and_pickles(read):
    with pytest.raises(ConlluError, match=r":4: sentence 'cats', word 2 'purr': HEAD is 7") as error:
        read(CATS.replace("\t0\t", "\t7\t"))
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


@pytest.mark.parametrize("content", ["", "\n \r\n", "\ufeff"])
def test_empty_file(read, content):
    with pytest.raises(ConlluError, match="a.conllu: the file has no sentence") as error:
        read(content)
    assert error.value.line is None


def test_file_in_another_encoding(read):
    with pytest.raises(ConlluError, match="a.conllu: the file is not UTF-8 after sentence 0: "):
        read(CATS.replace("Cats", "Çats").encode("latin-1"))


def test_written_file(tmp_path):
    write_conllu(tmp_path / "b.conllu", [CATS_PARSE])
    assert (tmp_path / "b.conllu").read_bytes().decode() == CATS.replace("= cats", "= 1") + "\n"


def test_forms_and_sent_id_survive_a_round_trip(read, round_trip):
    sentences = read(CATS + "\n" + BEACH)
    assert round_trip(*sentences) == sentences


def test_parts_of_a_multiword_token_have_no_form_without_forms(read, round_trip):
    parse = read(BEACH)[0].parse
    (sentence,) = round_trip(parse)
    assert sentence.parse == parse
    assert sentence.forms == ["Il", "parle", "_", "_", "chat", "_", "_", "amis", "."]


def test_form_that_differs_from_the_text_gets_a_range(round_trip):
    sentence = ConlluSentence(Parse("wanna", [0], [5], ["VERB"], [0], [-1], ["root"]), ["want"], "x")
    assert round_trip(sentence) == [sentence]


def test_sentences_of_one_parse_are_written_one_by_one(round_trip):
    text = " Go!  Cats purr.Stop "
    parse = Parse(
        text, [1, 3, 6, 11, 15, 16], [3, 4, 10, 15, 16, 20], ["X"] * 6, [0, 0, 1, 1, 1, 2], [-1, 0, 3, -1, 3, -1],
        ["root", "punct", "nsubj", "root", "punct", "root"],
    )  # fmt: skip
    first, second, third = round_trip(parse)
    assert [first.parse.text, second.parse.text, third.parse.text] == [" Go!", "Cats purr.", "Stop "]
    assert [first.sent_id, second.sent_id, third.sent_id] == ["1", "1-2", "1-3"]
    assert second.parse.parents == [1, -1, 1]
    assert second.parse.starts == [0, 5, 9]


def test_line_breaks_are_written_as_spaces(round_trip):
    parse = Parse("a\nb\r\nc\td", [0, 2, 5], [1, 3, 8], ["X"] * 3, [0] * 3, [-1, 0, 0], ["root", "dep", "dep"])
    (sentence,) = round_trip(parse)
    assert sentence.parse.text == "a b  c d"
    assert sentence.parse.starts == parse.starts


@pytest.mark.parametrize(
    "parse",
    [
        Parse("a", [0, 1], [1, 1], ["X"] * 2, [0] * 2),
        Parse(">>de<< a", [7], [8], ["X"], [0]),
        Parse("a b c", [0, 4], [1, 5], ["X"] * 2, [0, 0]),
        Parse("a b", [0], [1], ["X"], [0]),
    ],
    ids=["word without characters", "before", "between", "after"],
)
def test_what_conllu_cannot_hold_is_refused(tmp_path, parse):
    with pytest.raises(ValueError, match="word "):
        write_conllu(tmp_path / "b.conllu", [parse])


FORMS = st.lists(st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5), min_size=1, max_size=6)


@settings(max_examples=50, deadline=None, database=None)
@given(FORMS, st.data())
def test_random_parse_is_read_back_equal(tmp_path_factory, forms, data):
    text, starts, ends = data.draw(st.sampled_from(["", " "])), [], []
    for form in forms:
        for _ in range(data.draw(st.integers(1, 3))):
            starts.append(len(text))
            ends.append(len(text) + len(form))
        text += form + data.draw(st.sampled_from(["", " ", "\u00a0", "\u2028 "]))
    parents = [-1] + [data.draw(st.integers(0, word - 1)) for word in range(1, len(starts))]
    upos, sentence_ids = ["NOUN"] * len(starts), [0] * len(starts)
    tagged = Parse(text, starts, ends, upos, sentence_ids)
    parse = Parse(text, starts, ends, upos, sentence_ids, parents, ["dep"] * len(starts))
    path = tmp_path_factory.mktemp("conllu") / "b.conllu"
    write_conllu(path, [parse, tagged])
    assert [sentence.parse for sentence in read_conllu(path)] == [parse, tagged]


@pytest.mark.parametrize(
    ("parse", "message"),
    [
        (Parse("a\ud800", [0], [2], ["X"], [0], [-1], ["root"]), "sentence 1 has a lone surrogate at character 1"),
        (Parse("a", [0], [1], ["N\tX"], [0], [-1], ["root"]), "word 0: the tags .* tab or a line break"),
        (Parse(" a", [0], [2], ["X"], [0], [-1], ["root"]), "word 0: ' a' has spaces at its ends"),
        (Parse("abc", [0, 1], [2, 3], ["X", "X"], [0, 0], [-1, 0], ["root", "dep"]), "words 0 and 1 share some"),
    ],
)
def test_what_would_not_be_read_back_is_refused_and_the_old_file_kept(tmp_path, parse, message):
    file = tmp_path / "old.conllu"
    file.write_text("old")
    with pytest.raises(ValueError, match=message):
        write_conllu(file, [parse])
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_number_too_long_for_python_is_named(read):
    with pytest.raises(ConlluError, match="a.conllu:1"):
        list(read(f"1\ta\t_\tX\t_\t_\t{'9' * 5000}\troot\t_\t_\n\n"))
