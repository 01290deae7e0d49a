import hashlib
import re
import sys
from importlib import invalidate_caches
from pathlib import Path

import pytest

from syntax_bert import UDPipeParser
from syntax_bert.parsers.back_ends import back_end_names, check_languages, join_words, split_name, tree_digest
from syntax_bert.parsers.catalogue import load_parser
from syntax_bert.parsers.conllu_parser import ConlluParser

TREEBANK = "1\tStop\t_\tVERB\t_\t_\t0\troot\t_\t_\n"


PLUG_IN = """
from syntax_bert.parsers.back_ends import join_words
from syntax_bert.tokenization.universal_dependencies import Parse

class WordParser:
    def __init__(self, value):
        self.value = value

    def parse(self, texts, languages=None, dependencies=True):
        return self.parse_words([text.split() for text in texts])

    def parse_words(self, words, languages=None, dependencies=True):
        return [Parse(*join_words(each, 0), ["X"] * len(each), range(len(each))) for each in words]

def give_nothing(value):
    return None
"""


@pytest.fixture
def install(write, tmp_path, monkeypatch):
    """Installs a package whose entry points are each a name and what of `PLUG_IN` makes its parsers."""
    write("plug_in_parser.py", PLUG_IN)
    monkeypatch.syspath_prepend(tmp_path)

    def install_package(package, **points):
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = plug_in_parser:{attribute}\n" for name, attribute in points.items()]
        (folder / "entry_points.txt").write_text(f"[syntax_bert.parsers]\n{''.join(lines)}")
        invalidate_caches()

    yield install_package
    sys.modules.pop("plug_in_parser", None)


def test_built_in_back_ends(english_parser, write):
    udpipe = load_parser(f"udpipe:{english_parser}", beam_size=2)
    assert isinstance(udpipe, UDPipeParser)
    assert (udpipe.paths, udpipe.beam_size) == ({None: english_parser}, 2)
    assert load_parser(f"udpipe:{english_parser}").beam_size == 5
    treebank = load_parser(f"conllu:{write('treebank.txt', TREEBANK)}")
    assert isinstance(treebank, ConlluParser)
    assert treebank.parse(["Stop"])[0].upos == ["VERB"]


def test_back_end_of_another_package(install):
    install("plug_in", words="WordParser")
    parser = load_parser("words:x:y")
    assert parser.value == "x:y"
    assert parser.parse(["a b"])[0].starts == [0, 2]
    assert back_end_names() == ["conllu", "spacy", "stanza", "udpipe", "words"]


def test_two_packages_with_the_same_entry_point(install):
    install("plug_in", words="WordParser")
    install("its_copy", words="WordParser")
    assert load_parser("words:x").value == "x"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("udpip:x", "no parser back end 'udpip', only ['conllu', 'nothing', 'spacy', 'stanza', 'two', 'udpipe']"),
        ("stanza:", "'stanza:' names no model, language or file: stanza:VALUE"),
        ("nothing:x", "the back end 'nothing' gives None for 'x', which has no parse and parse_words"),
        (
            "two:x",
            "several packages have a parser back end 'two': ['plug_in_parser:WordParser', 'plug_in_parser:give_nothing']",
        ),
    ],
)
def test_names_that_give_no_parser(install, name, message):
    install("one", nothing="give_nothing", two="WordParser")
    install("another", two="give_nothing")
    with pytest.raises(ValueError, match=re.escape(message)):
        load_parser(name)


def test_a_beam_is_for_udpipe(write):
    with pytest.raises(ValueError, match=r"conllu:.* takes no beam size, only UDPipe does"):
        load_parser(f"conllu:{write('treebank.conllu', TREEBANK)}", beam_size=5)


@pytest.mark.parametrize(
    "name",
    ["C:\\parsers\\de.udpipe", "c:de.udpipe", "https://host/de.udpipe", "de", "./stanza:de", "/a:b", ":x", "1a:b"],
)
def test_names_without_a_back_end(name):
    assert split_name(name) is None


def test_a_file_with_a_colon_in_its_name_is_a_file(write, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert split_name("udpipe:a.conllu") == ("udpipe", "a.conllu")
    write("udpipe:a.conllu", TREEBANK)
    assert isinstance(load_parser("udpipe:a.conllu"), ConlluParser)


def test_languages_of_a_parser_of_one():
    check_languages("de", None, ["a"])
    check_languages("de", ["de", None], ["a", "b"])
    with pytest.raises(ValueError, match=r"no parser for language 'fr'; the parser is for 'de'.*columns=\(\)"):
        check_languages("de", ["de", "fr"], ["a", "b"])
    with pytest.raises(ValueError, match="2 texts have 1 languages"):
        check_languages("de", ["de"], ["a", "b"])


def test_characters_of_given_words():
    assert join_words(["a b", "", "\u200b"], 0) == ("a b  \u200b", [0, 4, 5], [3, 4, 6])
    assert join_words([], 0) == ("", [], [])
    with pytest.raises(ValueError, match="text 3 has a lone surrogate"):
        join_words(["a", "\ud800"], 3)


def test_digest_follows_names_and_content(tmp_path):
    folder = tmp_path / "model"
    (folder / "parser" / "__pycache__").mkdir(parents=True)
    (folder / "parser" / "__pycache__" / "parser.pyc").write_bytes(b"compiled")
    (folder / "parser" / "weights").write_bytes(b"one")
    content = hashlib.sha256(b"one").digest()
    assert tree_digest(folder) == hashlib.sha256(b"parser/weights\0" + content).hexdigest()[:16]
    folder.rename(tmp_path / "moved")
    assert tree_digest(tmp_path / "moved") == hashlib.sha256(b"parser/weights\0" + content).hexdigest()[:16]
    before = tree_digest(tmp_path / "moved")
    (tmp_path / "moved" / "parser" / "weights").write_bytes(b"other")
    assert tree_digest(tmp_path / "moved") != before


def test_the_parser_in_the_documentation():
    documented = (Path(__file__).parents[2] / "docs" / "PARSERS.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", documented, re.DOTALL)
    names = {}
    exec(code, names)  # noqa: S102
    parses = names["FlatParser"]().parse(["Nobody sang", "", "Anna"])
    assert [parse.parents for parse in parses] == [[-1, 0], [], [-1]]
