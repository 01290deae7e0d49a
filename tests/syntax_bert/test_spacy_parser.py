import copy
import pickle
import re
import shutil
import sys
from importlib import invalidate_caches
from multiprocessing import get_context

import pytest
from parser_texts import BLANK, ODD, check_characters

from syntax_bert import SyntaxTokenizerFast
from syntax_bert.parsers.catalogue import load_parser
from syntax_bert.parsers.spacy_parser import SpacyParser, read_doc
from syntax_bert.tokenization.universal_dependencies import Parse

spacy = pytest.importorskip("spacy")

SENTENCES = [  # words, UPOS, head of each word, relations
    ("Il parle au chat .", "PRON VERB ADP NOUN PUNCT", [1, 1, 3, 1, 1], "nsubj ROOT case obl:arg punct"),
    ("Le chat dort .", "DET NOUN VERB PUNCT", [1, 2, 2, 2], "det nsubj ROOT punct"),
    ("Il voit le chien !", "PRON VERB DET NOUN PUNCT", [1, 1, 3, 1, 1], "nsubj ROOT det obj punct"),
]


def make_examples(vocab, relations=()):
    """Makes texts of two sentences; `relations` are of another scheme."""
    for first in range(3):
        words, upos, heads, deprels = [], [], [], []
        for number in (first, (first + 1) % 3):
            forms, tags, parents, labels = SENTENCES[number]
            heads += [len(words) + parent for parent in parents]
            words += forms.split()
            upos += tags.split()
            deprels += [dict(relations).get(label, label) for label in labels.split()]
        known = spacy.tokens.Doc(vocab, words=words, pos=upos, heads=heads, deps=deprels)
        yield spacy.training.Example(spacy.tokens.Doc(vocab, words=words), known)


def save_pipeline(folder, components, relations=(), steps=25):
    """Trains a French pipeline on three sentences and saves it."""
    spacy.util.fix_random_seed(0)
    pipeline = spacy.blank("fr")
    for name in components:
        pipeline.add_pipe(name, config={"min_action_freq": 1} if name == "parser" else {})
    examples = list(make_examples(pipeline.vocab, relations))
    pipeline.initialize(lambda: examples)
    for _ in range(steps):
        pipeline.update(examples)
    pipeline.to_disk(folder)
    return folder


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A folder of a spaCy pipeline that knows three French sentences by heart."""
    return save_pipeline(tmp_path_factory.mktemp("spacy") / "fr_tiny", ["morphologizer", "parser"])


@pytest.fixture
def parser(model):
    return SpacyParser(model)


def test_words_sentences_and_trees(parser):
    text = " Le chat dort.\n\nIl voit le chien! "
    assert parser.parse([text]) == [
        Parse(
            text,
            [1, 4, 9, 13, 16, 19, 24, 27, 32],
            [3, 8, 13, 14, 18, 23, 26, 32, 33],
            ["DET", "NOUN", "VERB", "PUNCT", "PRON", "VERB", "DET", "NOUN", "PUNCT"],
            [0] * 4 + [1] * 5,
            [1, 2, -1, 2, 5, -1, 7, 5, 5],
            ["det", "nsubj", "root", "punct", "nsubj", "root", "det", "obj", "punct"],
        )
    ]
    assert parser.parse(["Il parle au chat."])[0].deprels == ["nsubj", "root", "case", "obl:arg", "punct"]


def test_only_tags(parser):
    (tagged,) = parser.parse(["Le chat dort. Il voit"], dependencies=False)
    assert tagged.upos == ["DET", "NOUN", "VERB", "PUNCT", "PRON", "VERB"]
    assert (tagged.parents, tagged.deprels, tagged.sentence_ids) == (None, None, [0] * 6)
    assert parser.parse_words([["Le", "chat"]], dependencies=False)[0].upos == ["DET", "NOUN"]
    assert parser.parse(["Le chat"])[0].parents is not None


def test_sentences_of_another_component_when_only_tagged(tmp_path):
    folder = save_pipeline(tmp_path / "model", ["morphologizer", "sentencizer"])
    assert SpacyParser(folder).parse(["Le chat . Le"], dependencies=False)[0].sentence_ids == [0, 0, 0, 1]


def test_given_words_are_kept_exactly(parser):
    words = [
        ["Il", "voit", "le", "chien", "!"],
        [],
        ["du", "a b", "", " ", "\u200b", "\u2028", "\x00", "\ufeff", "\t"],
    ]
    seen, empty, odd = parser.parse_words(words)
    assert (seen.parents, seen.starts) == ([1, -1, 3, 1, 1], [0, 3, 8, 11, 17])
    assert empty == Parse("", [], [], [], [], [], [])
    assert [odd.form(word) for word in range(9)] == words[2]
    assert odd.text == " ".join(words[2])


def test_given_words_of_several_sentences(parser):
    (parse,) = parser.parse_words(["Le chat dort . Il voit le chien !".split()])
    assert parse.sentence_ids == [0] * 4 + [1] * 5
    assert parse.parents == [1, 2, -1, 2, 5, -1, 7, 5, 5]


def test_a_batch_does_not_change_its_texts(parser):
    texts = ["Il parle au chat.", "", "\n\n", "Le chat dort. Il voit le chien!", " ", "x" * 30]
    assert parser.parse(texts) == [parser.parse([text])[0] for text in texts]
    words = [text.split() for text in texts]
    assert parser.parse_words(words) == [parser.parse_words([each])[0] for each in words]


@pytest.mark.parametrize("text", BLANK)
def test_blank_text_has_no_words(parser, text):
    assert parser.parse([text]) == [Parse(text, [], [], [], [], [], [])]
    assert parser.parse([text], dependencies=False) == [Parse(text, [], [], [], [])]


@pytest.mark.parametrize("text", ODD)
def test_words_hold_all_characters_of_the_original_text(parser, text):
    (parse,) = parser.parse([text])
    check_characters(parse, text)


def read(words, heads, deprels, starts=None, dependencies=True):
    """Reads a document whose blank words are tokens of whitespace."""
    spaces = [False] * len(words)
    doc = spacy.tokens.Doc(spacy.blank("fr").vocab, words=words, spaces=spaces, heads=heads, deps=deprels)
    tokens = [token for token in doc if not token.is_space]
    spans = [(token.idx, token.idx + len(token)) for token in tokens]
    return read_doc(doc, tokens, spans, doc.text, 7, dependencies)


def test_words_below_whitespace_go_to_its_head():
    parse = read(["a", " ", "\n", "b", "c"], [4, 0, 1, 2, 4], ["nsubj", "dep", "dep", "det", "ROOT"])
    assert (parse.parents, parse.deprels) == ([2, 0, -1], ["nsubj", "det", "root"])


def test_the_first_word_below_a_root_of_whitespace_is_the_root():
    parse = read(["a", " ", "b", "c", "d"], [1, 1, 1, 2, 4], ["nsubj", "ROOT", "obj", "det", "ROOT"])
    assert parse.parents == [-1, 0, 1, -1]
    assert parse.deprels == ["root", "obj", "det", "root"]
    assert parse.sentence_ids == [0, 0, 0, 1]


def test_sentences_of_whitespace_are_none():
    parse = read([" ", "a", "\n", "b"], [0, 1, 2, 3], ["ROOT"] * 4)
    assert (parse.sentence_ids, parse.parents) == ([0, 1], [-1, -1])


def test_a_tree_that_is_none_is_named():
    doc = spacy.tokens.Doc(spacy.blank("fr").vocab, words=["a", "b"], heads=[0, 1], deps=["ROOT", "ROOT"])
    with pytest.raises(ValueError, match="spaCy cannot align text 7, 'a b': word 1 covers characters"):
        read_doc(doc, list(doc), [(2, 3), (0, 1)], "a b", 7, True)


def test_a_lone_surrogate_is_refused_with_its_place(parser):
    with pytest.raises(ValueError, match="text 1 has a lone surrogate, .* at character 3"):
        parser.parse(["Le chat.", "Le \ud800"])
    with pytest.raises(ValueError, match="text 1 has a lone surrogate, .* at character 3"):
        parser.parse_words([["Le"], ["Le", "\ud800"]])


@pytest.mark.parametrize("text", ["Le chat dort. " * 7200, "x" * 100_000])
def test_100_000_characters(parser, text):
    (parse,) = parser.parse([text])
    assert parse.ends[-1] == len(text.strip())


def test_a_text_that_is_too_long_is_named(parser):
    with pytest.raises(ValueError, match="text 1 has 1000001 characters, spaCy takes up to 1000000: split it"):
        parser.parse(["Le", "x" * 1_000_001])


def test_columns_of_a_tokenizer(parser, plain_checkpoint):
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=parser)
    assert tokenizer("Le chat dort.") == tokenizer("Le chat dort.", parses=parser.parse(["Le chat dort."])[0])
    assert tokenizer("Le chat dort.")["head_positions"] == [0, 2, 3, 0, 3, 0]


def test_languages(parser):
    assert parser.language == "fr"
    assert parser.parse(["Le chat", "Le chat"], ["fr", None]) == parser.parse(["Le chat"] * 2)
    with pytest.raises(ValueError, match="no parser for language 'de'; the parser is for 'fr'"):
        parser.parse(["Die Katze"], ["de"])
    with pytest.raises(ValueError, match="no parser for language 'de'"):
        parser.parse_words([["Die"]], ["de"])


def test_labels_of_another_scheme_are_refused(tmp_path):
    folder = save_pipeline(tmp_path / "model", ["morphologizer", "parser"], {"obj": "dobj", "case": "prep"}, steps=1)
    foreign = SpacyParser(folder)
    with pytest.raises(ValueError, match=r"\['dobj', 'prep'\] are none of its relations.*pass dependencies=False"):
        foreign.parse(["Il voit le chien!"])
    assert len(foreign.parse(["Il voit"], dependencies=False)[0].upos) == 2


def test_pipelines_without_a_parser_or_tagger(tmp_path):
    tagger = SpacyParser(save_pipeline(tmp_path / "tagger", ["morphologizer"]))
    assert tagger.parse(["Le chat"], dependencies=False)[0].upos == ["DET", "NOUN"]
    with pytest.raises(ValueError, match=r"has no parser, only \['morphologizer'\]; pass dependencies=False"):
        tagger.parse(["Le chat"])
    with pytest.raises(ValueError, match=r"no component that gives UPOS, only \['parser'\]"):
        SpacyParser(save_pipeline(tmp_path / "parser", ["parser"], steps=1)).parse(["Le chat"])


def test_missing_pipelines_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no spaCy pipeline 'fr_absent'.*spacy download fr_absent"):
        SpacyParser("fr_absent")
    with pytest.raises(FileNotFoundError, match="no spaCy pipeline"):
        SpacyParser(tmp_path / "absent")
    with pytest.raises(OSError, match=r"meta\.json"):
        SpacyParser(tmp_path)


def test_it_pickles_by_path_and_content(parser, model, tmp_path):
    parses = parser.parse(["Le chat dort."])
    assert len(pickle.dumps(parser)) < 2000
    again = pickle.loads(pickle.dumps(parser))
    assert again.parse(["Le chat dort."]) == copy.deepcopy(parser).parse(["Le chat dort."]) == parses
    copied = shutil.copytree(model, tmp_path / "copy")
    before = pickle.dumps(SpacyParser(copied))
    assert pickle.dumps(pickle.loads(before)) == before
    (copied / "parser" / "model").write_bytes(b"other")
    assert pickle.dumps(SpacyParser(copied)) != before


def test_works_in_a_spawned_process_with_the_same_state(parser):
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(parser.parse, (["Le chat dort."],)) == parser.parse(["Le chat dort."])
        assert pool.apply(parser.__getstate__) == parser.__getstate__()


def test_an_installed_pipeline_by_its_name(model, tmp_path, monkeypatch):
    pipeline = spacy.load(model)
    pipeline.meta.update(name="own_tiny", version="1.0")
    package, metadata = tmp_path / "fr_own_tiny", tmp_path / "fr_own_tiny-1.0.dist-info" / "METADATA"
    for folder in (package, metadata.parent):
        folder.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: fr_own_tiny\nVersion: 1.0\n")
    pipeline.to_disk(package / "fr_own_tiny-1.0")
    shutil.copy(package / "fr_own_tiny-1.0" / "meta.json", package)
    (package / "__init__.py").write_text(
        "from spacy.util import load_model_from_init_py\n"
        "def load(**overrides): return load_model_from_init_py(__file__, **overrides)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    invalidate_caches()
    parser = load_parser("spacy:fr_own_tiny")
    assert (parser.model, parser.language) == ("fr_own_tiny", "fr")
    assert parser.parse(["Le chat dort."])[0].parents == [1, 2, -1, 2]
    with pytest.raises(ValueError, match="takes no beam size"):
        load_parser("spacy:fr_own_tiny", beam_size=5)


def test_missing_spacy_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ImportError, match=re.escape('pip install "syntax_bert[parsers]"')):
        load_parser("spacy:fr_core_news_sm")
