import copy
import pickle
from multiprocessing import get_context

import pytest

from syntax_bert.data.conllu import ConlluError
from syntax_bert.digests import short_digest
from syntax_bert.parsers.conllu_parser import ConlluParser
from syntax_bert.tokenization.universal_dependencies import Parse

STORY = """\
# text = Cats purr.
1	Cats	_	NOUN	_	_	2	nsubj	_	_
2	purr	_	VERB	_	_	0	root	_	SpaceAfter=No
3	.	_	PUNCT	_	_	2	punct	_	_

# text = Cats
1	Cats	_	PROPN	_	_	0	root	_	_

# text = Il parle du chat
1	Il	_	PRON	_	_	2	nsubj	_	_
2	parle	_	VERB	_	_	0	root	_	_
3-4	du	_	_	_	_	_	_	_	_
3	de	_	ADP	_	_	5	case	_	_
4	le	_	DET	_	_	5	det	_	_
5	chat	_	NOUN	_	_	2	obl	_	_

# text = No tree
1	No	_	DET	_	_	_	_	_	_
2	tree	_	NOUN	_	_	_	_	_	_
"""
OTHER = """\
1	Stop	_	VERB	_	_	0	root	_	_

# text = Cats purr.
1	Cats	_	X	_	_	0	root	_	_
2	purr.	_	X	_	_	1	dep	_	_
"""


@pytest.fixture
def paths(tmp_path):
    for name, content in {"story.conllu": STORY, "other.conllu": OTHER}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return [tmp_path / "story.conllu", tmp_path / "other.conllu"]


@pytest.fixture
def parser(paths):
    return ConlluParser(paths)


def test_text_of_one_sentence(parser):
    cats, stop = parser.parse(["Cats purr.", "Stop"], languages=["en", None])
    assert cats == Parse(
        "Cats purr.", [0, 5, 9], [4, 9, 10], ["NOUN", "VERB", "PUNCT"], [0] * 3, [1, -1, 1], ["nsubj", "root", "punct"]
    )
    assert stop == Parse("Stop", [0], [4], ["VERB"], [0], [-1], ["root"])


def test_text_of_several_sentences(parser):
    text = "\n Cats purr. \n\n Cats Il parle du chat "
    (parse,) = parser.parse([text])
    assert parse.text == text
    assert [parse.form(word) for word in range(9)] == ["Cats", "purr", ".", "Cats", "Il", "parle", "du", "du", "chat"]
    assert parse.sentence_ids == [0, 0, 0, 1, 2, 2, 2, 2, 2]
    assert parse.parents == [1, -1, 1, -1, 5, -1, 8, 8, 5]


def test_text_from_the_middle_of_a_file(parser):
    (parse,) = parser.parse(["Cats\tIl parle du chat"])
    assert parse.upos[:2] == ["PROPN", "PRON"]


def test_only_tags(parser):
    cats, no_tree = parser.parse(["Cats purr.", "No tree"], dependencies=False)
    assert cats == Parse("Cats purr.", [0, 5, 9], [4, 9, 10], ["NOUN", "VERB", "PUNCT"], [0] * 3)
    assert no_tree.upos == ["DET", "NOUN"]


def test_missing_tree_is_refused(parser):
    with pytest.raises(ValueError, match="'No tree' has no heads .*dependencies=False"):
        parser.parse(["Il parle du chat No tree"])


@pytest.mark.parametrize("text", ["Cats purr", "Cats purr. Il parle du chat", "No tree Stop", "purr."])
def test_miss(parser, paths, text):
    with pytest.raises(ValueError, match=r"^no sentence for 1 of 1 texts among the 6 of \[") as error:
        parser.parse([text])
    assert repr(text) in str(error.value)
    assert all(str(path) in str(error.value) for path in paths)
    assert str(error.value).endswith("add the CoNLL-U file with exactly this text")


def test_all_misses_of_a_call_are_reported(parser):
    texts = ["Cats purr.", *(f"Miss {number}" for number in range(7)), "", "Stop", "x" * 100]
    with pytest.raises(ValueError, match="no sentence for 8 of 11 texts among the 6 of") as error:
        parser.parse(texts)
    lines = str(error.value).split("\n")
    assert lines[1:6] == [f"  text {number + 1}, 'Miss {number}'" for number in range(5)]
    assert lines[6:] == ["  and 3 more", "add the CoNLL-U file with exactly these texts"]


def test_miss_shortens_the_text(parser):
    with pytest.raises(ValueError, match=f"text 0, '{'x' * 80}'\\n"):
        parser.parse(["x" * 100])


@pytest.mark.parametrize(
    ("text", "near", "how"),
    [
        ("cats  purr .", "Cats purr.", "only whitespace, case, quotes or Unicode normalisation differ from"),
        ("He said: ‘E\u0301te\u0301´", "He said: 'Été'", "only whitespace"),
        ("He said: “Été”", None, ""),
        ("The cat sat on the big mat.", "The cat sat on the bigg mat.", "the closest is"),
        ("The cat sat on the bed.", None, ""),
        ("The cat sat on the big mat." * 40, None, ""),
    ],
)
def test_miss_names_a_sentence_that_is_like_it(write, text, near, how):
    cat = "The cat sat on the bigg mat."
    sentences = ["Cats purr.", "He said: 'Été'", cat, cat * 40]
    rows = [f"# text = {each}\n1\t{each}\t_\tX\t_\t_\t0\troot\t_\t_\n" for each in sentences]
    with pytest.raises(ValueError, match="no sentence") as error:
        ConlluParser(write("near.conllu", "\n".join(rows))).parse([text])
    line = str(error.value).split("\n")[1]
    assert (f": {how}" in line and repr(near) in line) if near else line == f"  text 0, {text[:80]!r}"


def test_syntactic_words(parser):
    (parse,) = parser.parse_words([["Il", "parle", "de", "le", "chat"]])
    assert parse.text == "Il parle de le chat"
    assert [parse.form(word) for word in range(5)] == ["Il", "parle", "de", "le", "chat"]
    assert parse.parents == [1, -1, 4, 4, 1]


def test_surface_tokens(parser):
    parse, cats = parser.parse_words([("Il", "parle", "du", "chat"), ["Cats", "purr", "."]])
    assert parse.text == "Il parle du chat"
    assert [parse.form(word) for word in range(5)] == ["Il", "parle", "du", "du", "chat"]
    assert parse.parents == [1, -1, 4, 4, 1]
    assert (cats.text, cats.starts) == ("Cats purr .", [0, 5, 10])


def test_missing_words(parser):
    with pytest.raises(ValueError, match="1 of 2 texts among the 6 .*\n  text 1, 'Cats purr, .'"):
        parser.parse_words([["Cats", "purr", "."], ["Cats", "purr,", "."]])
    with pytest.raises(ValueError, match="only whitespace, .* differ from 'Stop'"):
        parser.parse_words([["St", "op"]])


@pytest.mark.parametrize("text", ["", " \n"])
def test_blank_text_has_no_words(parser, text):
    assert parser.parse([text]) == [Parse(text, [], [], [], [], [], [])]
    assert parser.parse([text], dependencies=False) == [Parse(text, [], [], [], [])]
    assert parser.parse_words([[]]) == [Parse("", [], [], [], [], [], [])]


def test_one_path_read_lazily(tmp_path):
    path = tmp_path / "two_roots.conllu"
    path.write_text("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n", encoding="utf-8")
    parser = ConlluParser(str(path))
    with pytest.raises(ConlluError, match=r":2: .*second root"):
        parser.parse(["a b"])
    assert ConlluParser(path, repair_roots=True).parse(["a b"])[0].parents == [-1, 0]


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.conllu"):
        ConlluParser(tmp_path / "nowhere.conllu")


def test_state_is_stable_and_follows_the_content(parser, paths):
    before = pickle.dumps(parser)
    expected = parser.parse(["Cats purr."])
    assert pickle.dumps(parser) == before
    assert pickle.loads(before).parse(["Cats purr."]) == copy.deepcopy(parser).parse(["Cats purr."]) == expected
    assert parser.__getstate__()["digests"][0] == short_digest(paths[0])
    paths[0].write_text(STORY.replace("PROPN", "NOUN") + "\n", encoding="utf-8")
    assert pickle.dumps(parser) != before
    assert pickle.loads(before).parse(["Cats"])[0].upos == ["NOUN"]


def test_works_in_a_spawned_process(parser):
    with get_context("spawn").Pool(1) as pool:
        assert pool.map(parser.parse, [["Cats purr."]]) == [parser.parse(["Cats purr."])]


def test_sentences_of_a_script_without_spaces_follow_each_other(tmp_path):
    file = tmp_path / "zh.conllu"
    sentences = ["1\t我\t_\tPRON\t_\t_\t2\tnsubj\t_\tSpaceAfter=No\n2\t来\t_\tVERB\t_\t_\t0\troot\t_\t_\n"]
    sentences.append(sentences[0].replace("我", "他"))
    file.write_text("\n".join(sentences), encoding="utf-8")
    (parse,) = ConlluParser(file).parse(["我来他来"])
    assert (parse.starts, parse.parents) == ([0, 1, 2, 3], [1, -1, 3, -1])


IDS = "".join(
    f"# sent_id = {name}\n# text = {text}\n1\t{text}\t_\t{tag}\t_\t_\t{head}\t{deprel}\t_\t_\n\n"
    for name, text, tag, head, deprel in [
        ("a-1", "Stop", "VERB", "0", "root"),
        ("a-2", "Stop", "NOUN", "0", "root"),
        ("a-1", "Stop", "VERB", "0", "root"),
        ("b", "Go", "VERB", "0", "root"),
        ("b", "Went", "VERB", "0", "root"),
        ("c", "No", "INTJ", "_", "_"),
    ]
)


def test_sentences_by_their_ids(write):
    parser = ConlluParser(write("ids.conllu", IDS))
    parses = parser.parse_ids(["a-2", "a-1", "a-2"])
    assert [parse.upos for parse in parses] == [["NOUN"], ["VERB"], ["NOUN"]]
    assert parses[1] == Parse("Stop", [0], [4], ["VERB"], [0], [-1], ["root"])
    assert parser.parse_ids([]) == []
    assert parser.parse_ids(["c", "a-1"], dependencies=False)[1].parents is None
    with pytest.raises(ValueError, match="'No' has no heads"):
        parser.parse_ids(["c"])


def test_an_id_of_different_sentences_is_refused(write):
    path = write("ids.conllu", IDS)
    with pytest.raises(
        ValueError, match=r"sent_id 'b' is that of 2 different sentences in .*\['Go', 'Went'\]: give each"
    ):
        ConlluParser(path).parse_ids(["a-1", "b"])
    other = write("other.conllu", IDS.replace("VERB", "X"))
    with pytest.raises(ValueError, match="'a-1' is that of 2 different sentences"):
        ConlluParser([path, other]).parse_ids(["a-1"])
    assert ConlluParser([path, other]).parse_ids(["a-2"])[0].upos == ["NOUN"]


def test_missing_ids_are_reported(write):
    parser = ConlluParser(write("ids.conllu", IDS))
    with pytest.raises(
        ValueError, match=r"no sentence for 2 of 3 sent_ids among the 6 of \[.*ids\.conllu'\]"
    ) as error:
        parser.parse_ids(["A-1", "a-1", "zz"])
    assert str(error.value).split("\n")[1:] == [
        "  sent_id 0, 'A-1': only whitespace, case, quotes or Unicode normalisation differ from 'a-1'",
        "  sent_id 2, 'zz'",
        "add the CoNLL-U file with exactly these sent_ids",
    ]
