import copy
import json
import logging
import pickle
import random
import re
import shutil
import sys
from multiprocessing import get_context

import numpy as np
import pytest
import torch
from parser_texts import BLANK, ODD, check_characters

from syntax_bert.parsers import stanza_parser
from syntax_bert.parsers.catalogue import load_parser
from syntax_bert.parsers.stanza_parser import StanzaParser, cut_long_runs
from syntax_bert.tokenization.universal_dependencies import Parse

stanza = pytest.importorskip("stanza")

TREEBANK = """\
1	Il	il	PRON	_	_	2	nsubj	_	_
2	parle	parle	VERB	_	_	0	root	_	_
3-4	du	_	_	_	_	_	_	_	_
3	de	de	ADP	_	_	5	case	_	_
4	le	le	DET	_	_	5	det	_	_
5	chat	chat	NOUN	_	_	2	obl:arg	_	SpaceAfter=No
6	.	.	PUNCT	_	_	2	punct	_	_

1	Le	le	DET	_	_	2	det	_	_
2	chat	chat	NOUN	_	_	3	nsubj	_	_
3	dort	dort	VERB	_	_	0	root	_	SpaceAfter=No
4	.	.	PUNCT	_	_	3	punct	_	_

1	Il	il	PRON	_	_	2	nsubj	_	_
2	voit	voit	VERB	_	_	0	root	_	_
3	le	le	DET	_	_	4	det	_	_
4	chien	chien	NOUN	_	_	2	obj	_	_
5	!	!	PUNCT	_	_	2	punct	_	_

"""
TEXT = "Il parle du chat. Le chat dort. Il voit le chien !"
LENGTHS = [[2, 5, -2, 4, 1], [2, 4, 4, 1], [2, 4, 2, 5, 1]]  # of the tokens, negative for multiword ones
SMALL = (
    "--lang fr --shorthand fr_tiny --save_name tiny.pt --cpu --hidden_dim 16 --dropout 0 --lr{} 0.02 --{}emb_dim 16"
)
EMBEDDINGS = (
    "--char_hidden_dim 16 --word_emb_dim 8 --tag_emb_dim 8 --transformed_dim 8 --num_layers 1 --no_pretrain "
    "--word_dropout 0 --deep_biaff_hidden_dim 16"
)


def tokenizer_labels():
    """Gives a label a character of the three sentences: 1 ends a token, 2 a sentence, 3 a multiword token."""
    labels = ["0"] * len(TEXT)
    end = 0
    for lengths in LENGTHS:
        for length in lengths:
            end = TEXT.index(TEXT[end:].lstrip()[0], end) + abs(length)
            labels[end - 1] = "3" if length < 0 else "1"
        labels[end - 1] = "2"
    return "".join(labels)


def train(folder):
    """Trains the models of a tiny French package by Stanza's trainers, and lists them in Stanza's list."""
    from stanza.models import mwt_expander, parser, tagger, tokenizer

    files = {"text": TEXT, "labels": tokenizer_labels(), "treebank": TREEBANK, "mwt": '[[["du", ["de", "le"]], 1]]'}
    for name, content in files.items():
        (folder / name).write_text(" ".join([content] * 4) if name == "text" else content)
    (folder / "labels").write_text("0".join([files["labels"]] * 4))
    paths = {name: str(folder / name) for name in files}
    data = ["--train_file", paths["treebank"], "--eval_file", paths["treebank"], "--output_file", str(folder / "out")]
    trainings = {
        "tokenize": (tokenizer, ["--txt_file", paths["text"], "--label_file", paths["labels"], "--dev_txt_file"]
        + [paths["text"], "--mwt_json_file", paths["mwt"]]
        + f"{SMALL.format(0, '')} --steps 120 --eval_steps 1000 --batch_size 8 --unit_dropout 0 "
        "--feat_unit_dropout 0 --sent_drop_prob 0 --last_char_drop_prob 0".split()),
        "mwt": (mwt_expander, [*data, "--gold_file", paths["treebank"], "--dict_only", *SMALL.format("", "").split()]),
        "pos": (tagger, [*data, *f"{SMALL.format('', 'char_')} {EMBEDDINGS} --max_steps 60 --eval_interval 60 "
        "--composite_deep_biaff_hidden_dim 8".split()]),
        "depparse": (parser, [*data, *f"{SMALL.format('', 'char_')} {EMBEDDINGS} --max_steps 100 --eval_interval 50 "
        "--optim adam --no_checkpoint --batch_size 20".split()]),
    }  # fmt: skip
    for name, (trainer, arguments) in trainings.items():
        trainer.main([*map(str, arguments), "--save_dir", str(folder / "fr" / name)])
    tiny = {name: "tiny" for name in trainings} | {"lemma": "identity"}
    broken = {**tiny, "tokenize": "broken"}
    packages = {"default": tiny, "tagger": {"tokenize": "tiny", "mwt": "tiny", "pos": "tiny"}, "broken": broken}
    packages["absent"] = dict.fromkeys(tiny, "absent")
    models = {name: {"tiny": {}, "absent": {}} for name in trainings}
    french = {"lang_name": "French", "packages": packages, **models}
    (folder / "resources.json").write_text(json.dumps({"fr": french, "french": {"alias": "fr"}, "url": "nowhere"}))


@pytest.fixture(scope="session")
def model_dir(tmp_path_factory):
    """A folder of Stanza models that know three French sentences by heart."""
    folder = tmp_path_factory.mktemp("stanza")
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    logger = logging.getLogger("stanza")
    level = logger.level
    logger.setLevel("ERROR")
    train(folder)
    logger.setLevel(level)
    random.setstate(states[0])
    np.random.set_state(states[1])
    torch.set_rng_state(states[2])
    return folder


@pytest.fixture
def parser(model_dir):
    return StanzaParser("fr", model_dir, device="cpu")


def test_words_sentences_and_trees(parser):
    text = " Il parle du chat.  Le chat dort. "
    assert parser.parse([text]) == [
        Parse(
            text,
            [1, 4, 10, 10, 13, 17, 20, 23, 28, 32],
            [3, 9, 12, 12, 17, 18, 22, 27, 32, 33],
            ["PRON", "VERB", "ADP", "DET", "NOUN", "PUNCT", "DET", "NOUN", "VERB", "PUNCT"],
            [0] * 6 + [1] * 4,
            [1, -1, 4, 4, 1, 1, 7, 8, -1, 8],
            ["nsubj", "root", "case", "det", "obl:arg", "punct", "det", "nsubj", "root", "punct"],
        )
    ]


def test_only_tags(parser):
    (tagged,) = parser.parse(["Le chat dort."], dependencies=False)
    assert tagged == Parse("Le chat dort.", [0, 3, 8, 12], [2, 7, 12, 13], ["DET", "NOUN", "VERB", "PUNCT"], [0] * 4)
    assert parser.parse_words([["Le", "chat"]], dependencies=False)[0].parents is None


def test_given_words_are_kept_exactly(parser):
    words = [["Il", "voit", "le", "chien", "!"], [], ["du", "a b", "", " ", "\u200b", "\u2028", "\x00", "\ufeff"]]
    seen, empty, odd = parser.parse_words(words)
    assert seen.parents == [1, -1, 3, 1, 1]
    assert seen.starts == [0, 3, 8, 11, 17]
    assert empty == Parse("", [], [], [], [], [], [])
    assert [odd.form(word) for word in range(8)] == words[2]
    assert odd.text == " ".join(words[2])
    assert min(odd.parents) == -1


def test_a_batch_does_not_change_its_texts(parser, monkeypatch):
    texts = ["Il parle du chat.", "", "\n\n", "Le chat dort. Il voit le chien !", " ", "Le chat", "x" * 30]
    alone = [parser.parse([text])[0] for text in texts]
    assert parser.parse(texts) == alone
    monkeypatch.setattr(stanza_parser, "BATCH", 2)
    assert parser.parse(texts) == alone
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


def test_a_lone_surrogate_is_refused_with_its_place(parser):
    with pytest.raises(ValueError, match="text 1 has a lone surrogate, .* at character 3"):
        parser.parse(["Le chat.", "Le \ud800"])
    with pytest.raises(ValueError, match="text 1 has a lone surrogate, .* at character 3"):
        parser.parse_words([["Le"], ["Le", "\ud800"]])


def test_100_000_characters(parser):
    text = "Le chat dort. " * 7200
    (parse,) = parser.parse([text], dependencies=False)
    assert (len(parse), parse.ends[-1], parse.sentence_ids[-1]) == (4 * 7200, len(text) - 1, 7199)


def test_a_long_run_without_spaces_is_cut(parser):
    (parse,) = parser.parse(["Le " + "x" * 50_000 + " dort."], dependencies=False)  # a minute in one piece
    assert (parse.starts[0], parse.ends[-1]) == (0, 50_009)
    assert list(cut_long_runs("ab" * 1000 + " 知" * 3000)) == [(0, "ab" * 500), (1000, "ab" * 500 + " 知" * 3000)]
    assert list(cut_long_runs("知" * 3000)) == [(0, "知" * 3000)]
    assert list(cut_long_runs("")) == [(0, "")]


def test_a_sentence_that_is_too_long_to_parse_is_named(parser):
    message = "text 1 has a sentence of 1001 words, Stanza parses up to 1000: put blank lines"
    with pytest.raises(ValueError, match=message):
        parser.parse_words([["Le"], ["chat"] * 1001])
    assert len(parser.parse_words([["chat"] * 1001], dependencies=False)[0]) == 1001
    with pytest.raises(ValueError, match=r"text 0 has a sentence of \d+ words"):
        parser.parse(["chat " * 1001])


def test_languages(parser, model_dir):
    assert parser.parse(["Le chat", "Le chat"], ["fr", None]) == parser.parse(["Le chat"] * 2)
    with pytest.raises(ValueError, match="no parser for language 'de'; the parser is for 'fr'"):
        parser.parse(["Die Katze"], ["de"])
    with pytest.raises(ValueError, match="no parser for language 'de'"):
        parser.parse_words([["Die"]], ["de"])
    other_name = StanzaParser("french", model_dir, device="cpu")
    assert other_name.parse(["Le chat"], ["french"]) == parser.parse(["Le chat"])


def test_only_models_that_are_there(model_dir, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no Stanza models of 'de' .*stanza\.download\('de', model_dir="):
        StanzaParser("de", model_dir)
    with pytest.raises(FileNotFoundError, match="no Stanza models of 'url'"):
        StanzaParser("url", model_dir)
    with pytest.raises(FileNotFoundError, match=r"no Stanza models in .*stanza\.download\('fr'"):
        StanzaParser("fr", tmp_path)
    with pytest.raises(ValueError, match=r"package 'absent' of 'fr'.*stanza\.download\('fr', package='absent'\)"):
        StanzaParser("fr", model_dir, package="absent").parse(["Le chat"])
    with pytest.raises(ValueError, match=r"no package 'misspelt' of 'fr', only \['absent', "):
        StanzaParser("fr", model_dir, package="misspelt")


def test_a_package_without_a_parser_tags(model_dir):
    tagger = StanzaParser("fr", model_dir, package="tagger", device="cpu")
    assert tagger.parse(["Le chat dort."], dependencies=False)[0].upos == ["DET", "NOUN", "VERB", "PUNCT"]
    with pytest.raises(ValueError, match=r"has no processor 'depparse', only \['mwt', 'pos', 'tokenize'\]"):
        tagger.parse(["Le chat dort."])


@stanza.pipeline.processor.register_processor_variant("tokenize", "broken")
class BrokenTokenizer(stanza.pipeline.processor.ProcessorVariant):
    """Places the words of a text as it says: refused, backwards or nowhere."""

    def __init__(self, config):
        pass

    def process(self, document):
        if "refused" in document.text:
            raise ValueError("Could not find |x|")
        where = {"start_char": 3, "end_char": 5}, {"start_char": 0, "end_char": 2}
        if not document.text:
            return document
        words = [{"id": (number,), "text": "Le"} for number in (1, 2)]
        if "backwards" in document.text:
            words = [word | place for word, place in zip(words, where, strict=True)]
        return stanza.Document([words])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("refused", "Stanza cannot align text 1, 'refused': Could not find"),
        ("backwards", "Stanza cannot align text 1, 'backwards': .* text order"),
        ("nowhere", "Stanza gives no characters for 'Le' of text 1"),
    ],
)
def test_a_text_that_stanza_cannot_align_is_named(model_dir, text, message):
    broken = StanzaParser("fr", model_dir, package="broken", device="cpu")
    with pytest.raises(ValueError, match=message):
        broken.parse(["", text])


def test_it_pickles_by_name_and_content(parser, model_dir, tmp_path):
    parses = parser.parse(["Le chat dort."])
    assert len(pickle.dumps(parser)) < 2000
    again = pickle.loads(pickle.dumps(parser))
    assert again.parse(["Le chat dort."]) == copy.deepcopy(parser).parse(["Le chat dort."]) == parses
    copied = shutil.copytree(model_dir, tmp_path / "copy")
    before = pickle.dumps(StanzaParser("fr", copied))
    assert pickle.dumps(pickle.loads(before)) == before
    model = copied / "fr" / "pos" / "tiny.pt"
    model.write_bytes(model.read_bytes() + b" ")
    assert pickle.dumps(StanzaParser("fr", copied)) != before


def test_works_in_a_spawned_process_with_the_same_state(parser):
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(parser.parse, (["Le chat dort."],)) == parser.parse(["Le chat dort."])
        assert pool.apply(parser.__getstate__) == parser.__getstate__()


def test_named_on_a_command_line(model_dir, monkeypatch):
    monkeypatch.setattr(stanza.resources.common, "DEFAULT_MODEL_DIR", str(model_dir))
    parser = load_parser("stanza:fr")
    assert isinstance(parser, StanzaParser)
    assert (parser.language, parser.model_dir) == ("fr", str(model_dir))
    with pytest.raises(FileNotFoundError, match=r"stanza\.download\('de'\) fetches"):
        load_parser("stanza:de")
    with pytest.raises(ValueError, match="takes no beam size"):
        load_parser("stanza:fr", beam_size=5)


def test_missing_stanza_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(ImportError, match=re.escape('pip install "syntax_bert[parsers]"')):
        load_parser("stanza:fr")
