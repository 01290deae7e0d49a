import pickle
import shutil
from pathlib import Path

import pytest
from datasets.fingerprint import Hasher

from syntax_bert import Parse, SyntaxTokenizerFast, UDPipeParser
from syntax_bert.corpora import corpus_folder
from syntax_bert.corpora.corpus_folder import finish_corpus
from syntax_bert.corpora.documents import read_documents
from syntax_bert.corpora.parse_corpus import parse_corpus
from syntax_bert.corpora.shards import CorpusOptions
from syntax_bert.corpora.stored_parses import StoredParses, StoredUDPipeParses, load_stored_parses
from syntax_bert.parsers.conllu_parser import ConlluParser

TEXTS = ["The cat sleeps. It purrs.", "", "Nobody sang.", "The cat sleeps. It purrs."]
WORDS = [["don't", "sing"], ["Nobody", "sang", "."]]


@pytest.fixture
def make(tmp_path, write, english_parser, own_cache):
    """Parses rows into a folder."""

    def parse(name, rows, parser=None, **options):
        documents = read_documents([write(f"{name}.jsonl", rows)])
        parse_corpus(documents, tmp_path / name, parser or UDPipeParser(english_parser), CorpusOptions(**options))
        return str(tmp_path / name)

    return parse


@pytest.fixture
def texts(make):
    return make("texts", [{"text": text} for text in TEXTS], shard_size=2)


def test_what_is_there_is_not_parsed(texts, english_parser, no_parses, monkeypatch):
    stored = load_stored_parses({None: texts})
    found = stored.parse(TEXTS[::-1])
    monkeypatch.undo()
    parser = UDPipeParser(english_parser)
    assert found == parser.parse(TEXTS[::-1])
    assert stored.parse(TEXTS, dependencies=False) == parser.parse(TEXTS, dependencies=False)


def test_other_texts_are_parsed_by_the_same_parser(texts, english_parser):
    stored = load_stored_parses({None: texts})
    assert isinstance(stored, StoredUDPipeParses)
    given = ["A new one.", *TEXTS, "Nobody  sang."]
    assert stored.parse(given) == UDPipeParser(english_parser).parse(given)
    assert stored.parse_words([["Nobody", "sang", "."]]) == UDPipeParser(english_parser).parse_words([WORDS[1]])
    assert stored.parse([]) == []


@pytest.fixture
def words(make):
    return make("words", [{"tokens": tokens} for tokens in WORDS], text_columns=["tokens"])


def test_words(words, english_parser, no_parses, monkeypatch):
    stored = load_stored_parses({None: words})
    found = stored.parse_words(WORDS)
    with pytest.raises(AssertionError, match="a text is parsed"):
        stored.parse([" ".join(WORDS[1])])  # as a text it may have other words
    monkeypatch.undo()
    assert found == UDPipeParser(english_parser).parse_words(WORDS)


def test_a_tokenizer_reads_and_saves_them(texts, plain_checkpoint, english_parser, no_parses, monkeypatch, tmp_path):
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=load_stored_parses({None: texts}))
    encoded = dict(tokenizer(TEXTS))
    monkeypatch.undo()
    assert encoded == dict(SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=english_parser)(TEXTS))
    tokenizer.save_pretrained(tmp_path / "saved")
    again = SyntaxTokenizerFast.from_pretrained(tmp_path / "saved")
    assert type(again.parser) is UDPipeParser
    assert dict(again(TEXTS)) == encoded


def test_it_pickles_by_content(texts, make):
    stored = load_stored_parses({None: texts})
    again = pickle.loads(pickle.dumps(stored))
    assert again.parse(TEXTS) == stored.parse(TEXTS)
    before = Hasher.hash(stored)
    assert Hasher.hash(again) == before
    make("texts", [{"text": text} for text in [*TEXTS, "More."]], shard_size=2)
    assert Hasher.hash(load_stored_parses({None: texts})) != before


def test_two_texts_of_one_hash(make, monkeypatch, english_parser):
    """A text is compared before its parse is given."""
    monkeypatch.setattr(corpus_folder, "text_hash", lambda text, language: 7)
    monkeypatch.setattr("syntax_bert.corpora.stored_parses.text_hash", lambda text, language: 7)
    stored = load_stored_parses({None: make("same", [{"text": text} for text in TEXTS])})
    assert stored.parse(TEXTS) == UDPipeParser(english_parser).parse(TEXTS)


def test_languages(make, english_parser, tmp_path):
    copy = tmp_path / "other.udpipe"
    shutil.copy(english_parser, copy)
    one = make("one", [{"text": "The cat sleeps."}])
    two = make("two", [{"text": "The dog sleeps."}], parser=UDPipeParser({"xx": copy, "yy": copy}), language="xx")
    others = UDPipeParser({"zz": english_parser})
    stored = load_stored_parses({"en": one, "xx": two}, others)
    assert {language: path.rpartition("/")[2] for language, path in stored.paths.items()} == {
        "zz": "english-ewt.udpipe", "en": "english-ewt.udpipe", "xx": "xx.udpipe"
    }  # fmt: skip
    parses = stored.parse(["The cat sleeps.", "The dog sleeps.", "The cow sleeps."], ["en", "xx", "zz"])
    assert [len(parse) for parse in parses] == [4, 4, 4]
    with pytest.raises(ValueError, match=r"a parser and parses for \['en'\]"):
        load_stored_parses({"en": one}, UDPipeParser({"en": english_parser}))
    with pytest.raises(ValueError, match=r"have different beams: \[1, 5\]"):
        load_stored_parses({"en": one}, UDPipeParser({"zz": english_parser}, beam_size=1))
    with pytest.raises(ValueError, match=r"two was parsed by a parser of \['xx', 'yy'\], not of 'en'"):
        load_stored_parses({"xx": one, "en": two})


def test_a_text_in_two_languages(make, english_parser, tmp_path):
    """As the German parser, the English one with a narrower beam."""
    text = "Time flies like an arrow, fruit flies like a banana, and nobody knows which of the two was meant here."
    parsers = {"en": UDPipeParser({"en": english_parser}), "xx": UDPipeParser({"xx": english_parser}, beam_size=1)}
    expected = {language: parser.parse([text], [language])[0] for language, parser in parsers.items()}
    assert expected["en"] != expected["xx"]

    class Both:
        def parse(self, texts, languages, dependencies=True):
            return [expected[language] for language in languages]

        parse_words = parse

    folder = make("both", [{"text": text, "lang": code} for code in expected], Both(), language_column="lang")
    for folders in ({None: folder}, {"en": folder, "xx": folder}):
        stored = load_stored_parses(folders)
        assert stored.parse([text, text], ["xx", "en"]) == [expected["xx"], expected["en"]]
    with pytest.raises(ValueError, match="1 texts are not in"):
        load_stored_parses({None: folder}).parse([text], ["zz"])


def test_a_language_without_a_parser_is_refused(texts):
    with pytest.raises(ValueError, match="no parser for language 'de'"):
        load_stored_parses({None: texts}).parse(TEXTS, ["de"] * len(TEXTS))


def test_other_parses_of_the_same_texts_are_another_corpus(make, write, tmp_path):
    """What `datasets` has cached for the old ones is not found."""
    line = "1\tFish\t_\t{}\t_\t_\t0\troot\t_\t_\n\n"
    hashes = []
    for upos in ("NOUN", "VERB"):
        trees = write("trees.conllu", line.format(upos))
        shutil.rmtree(tmp_path / "fish", ignore_errors=True)
        stored = load_stored_parses({None: make("fish", [{"text": "Fish"}], ConlluParser(trees))})
        assert stored.parse(["Fish"])[0].upos == [upos]
        hashes.append(Hasher.hash(stored))
    assert hashes[0] != hashes[1]


def test_words_are_not_taken_for_others(make, no_parses):
    stored = load_stored_parses({None: make("own", [{"text": "", "words": []}, {"text": "\0", "words": [""]}],
                                            parser=Named(), text_columns=["text", "words"])})  # fmt: skip
    assert [len(parse) for parse in stored.parse(["", "\0"])] == [0, 0]
    assert [len(parse) for parse in stored.parse_words([[], [""]])] == [0, 1]


class Named:
    """A parser that only knows words."""

    def parse(self, texts, languages=None, dependencies=True):
        return [Parse(text, [], [], [], [], [], []) for text in texts]

    def parse_words(self, words, languages=None, dependencies=True):
        return [
            Parse(" ".join(given), [0] * len(given), [0] * len(given), ["X"] * len(given), [0] * len(given),
                  [-1] * len(given), ["root"] * len(given))
            for given in words
        ]  # fmt: skip


@pytest.mark.parametrize("name", ["g[1]", "g*", "a b"])
def test_names_of_folders_are_no_patterns(make, name, tmp_path, english_parser):
    make("g1", [{"text": "Another one."}])
    documents = read_documents([str(tmp_path / "g1.jsonl")])
    parse_corpus(documents, tmp_path / name, Named(), CorpusOptions())
    assert len(load_stored_parses({None: str(tmp_path / name)}).parse(["Another one."])[0]) == 0


class Own:
    """A parser of one's own."""

    def __init__(self, path):
        self.inner = UDPipeParser(path)

    def parse(self, *arguments):
        return self.inner.parse(*arguments)

    parse_words = parse


def test_corpora_of_other_parsers_have_to_hold_all_texts(make, english_parser, texts):
    own = make("own", [{"text": text} for text in TEXTS], parser=Own(english_parser))
    stored = load_stored_parses({None: own})
    assert type(stored) is StoredParses
    assert stored.parse(TEXTS) == UDPipeParser(english_parser).parse(TEXTS)
    with pytest.raises(ValueError, match="2 texts are not in .*own'.*the first of them 'New.': add them to the input"):
        stored.parse(["New.", *TEXTS, "Newer."])
    with pytest.raises(ValueError, match="were not all parsed by UDPipe"):
        load_stored_parses({"en": own, "de": texts})


def test_tagged_texts_have_no_trees(make):
    stored = load_stored_parses({None: make("tagged", [{"text": "Nobody sang."}], dependencies=False)})
    assert stored.parse(["Nobody sang."], dependencies=False)[0].upos == ["PRON", "VERB", "PUNCT"]
    with pytest.raises(ValueError, match="'Nobody sang.' was only tagged; parse it without --tags_only"):
        stored.parse(["Nobody sang."])


def test_nothing_but_nulls(make, english_parser):
    stored = load_stored_parses({None: make("nulls", [{"text": None}], text_columns=["text"])})
    assert len(stored.parse(["Nobody sang."])[0]) == 3


def test_what_is_no_complete_corpus(make, texts, tmp_path):
    with pytest.raises(ValueError, match="holds no parsed corpus: it is made by syntax-bert parse"):
        load_stored_parses({None: str(tmp_path)})
    settings = corpus_folder.CorpusFolder(texts)
    complete = settings.settings()
    settings.write_settings({name: value for name, value in complete.items() if name != "complete"})
    with pytest.raises(ValueError, match="is not complete: run syntax-bert parse again as before"):
        load_stored_parses({None: texts})
    settings.settings_file.write_text("{")
    with pytest.raises(ValueError, match="parses.json is damaged"):
        load_stored_parses({None: texts})
    conllu = make("conllu", [{"text": "Nobody sang."}], format="conllu")
    with pytest.raises(ValueError, match="holds CoNLL-U"):
        load_stored_parses({None: conllu})


@pytest.mark.parametrize(
    "damage", ["part-00000.parquet", "part-00001.parquet", "text-hashes.npy", "places", "null", "{}"]
)
def test_damaged_corpora(texts, damage):
    folder = Path(texts)
    if damage == "places":
        (folder / "text-places.npy").write_bytes((folder / "text-places.npy").read_bytes()[:-4])
    elif damage in ("null", "{}"):
        (folder / "parses.json").write_text(damage)
    else:
        (folder / damage).unlink()
    with pytest.raises(ValueError, match="is damaged"):
        load_stored_parses({None: texts})


def test_hidden_files_of_other_systems(texts):
    (Path(texts) / "._part-00000.parquet").write_bytes(b"resource fork")
    assert load_stored_parses({None: texts}).parse(TEXTS)


def test_an_exchanged_parser_is_refused(texts):
    with open(f"{texts}/english-ewt.udpipe", "ab") as file:
        file.write(b"x")
    with pytest.raises(ValueError, match="damaged or was exchanged"):
        load_stored_parses({None: texts})


def test_finishing_what_has_no_parses(tmp_path, english_parser, write):
    with pytest.raises(ValueError, match="has no Parquet files"):
        finish_corpus(tmp_path, UDPipeParser(english_parser))
