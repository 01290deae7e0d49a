"""Parsers by name: embedded, downloaded from a server on this machine, or of a file."""

import multiprocessing
import os
import re
import signal
import threading
import time
from pathlib import Path

import pytest
from file_server import Answer

from syntax_bert import SyntaxTokenizerFast, UDPipeParser
from syntax_bert.model_card import read_parsers
from syntax_bert.parsers import downloads
from syntax_bert.parsers.catalogue import named_parsers, named_values, parser_path
from syntax_bert.parsers.published_models import digest_file, download_model, find_model, published_models
from syntax_bert.tokenization.parser_files import licence
from syntax_bert.tokenization.udpipe_models import file_digest

FILE = "german-gsd-ud-2.5-191206.udpipe"
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def place(tmp_path):
    """Where the German model comes to be."""
    return tmp_path / "parsers" / FILE


def change(path):
    """Makes a model another file; UDPipe does not read what follows a model."""
    path.write_bytes(path.read_bytes() + b"\0")


def test_parsers_of_several_languages(write):
    own = str(write("german.udpipe", b""))
    parser = named_parsers(["en", f"de={own}"], beam_size=2)
    assert parser.paths == {"en": parser_path("en"), "de": own}
    assert parser.beam_size == 2


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["en", "de="], "--parsers takes LANGUAGE=FILE, got 'de='"),
        (["=a.udpipe"], "--parsers takes LANGUAGE=FILE, got '=a.udpipe'"),
        (["en", "en"], "two parsers for 'en': 'en' and 'en'"),
        (["en", "en=a.udpipe"], "two parsers for 'en': 'en' and 'en=a.udpipe'"),
        (["xx"], r"no embedded parser for 'xx', only for \['en'\], and there is no published UDPipe model 'xx'"),
    ],
)
def test_names_of_no_parser(names, message):
    with pytest.raises(ValueError, match=message):
        named_parsers(names)


def test_a_language_may_have_a_model_by_its_name(english_parser, monkeypatch):
    asked = []
    monkeypatch.setattr("syntax_bert.parsers.catalogue.parser_path", lambda name: asked.append(name) or english_parser)
    assert named_parsers(["de=german-hdt", "fr"]).paths == {"de": english_parser, "fr": english_parser}
    assert asked == ["german-hdt", "fr"]


def test_named_values():
    assert named_values(["de=a.tsv", "fr=b=c.tsv"], "--test_files") == {"de": "a.tsv", "fr": "b=c.tsv"}
    assert named_values(None, "--test_files") == {}
    with pytest.raises(ValueError, match=r"--test_files takes LANGUAGE=FILE, got 'panx\.tsv'"):
        named_values(["panx.tsv"], "--test_files")
    with pytest.raises(ValueError, match="--parses names 'de' twice"):
        named_values(["de=a", "fr=a", "de=b"], "--parses")


def test_the_release_is_complete():
    """Its manual counts 94 models of 61 languages, Bokmål and Nynorsk apart."""
    models = published_models()
    assert len({model.name for model in models}) == 94
    assert len({model.language_code for model in models}) == 61
    assert all(re.fullmatch("[a-z]{2,3}", model.language_code) for model in models)


@pytest.mark.parametrize(
    ("code", "file"),  # some defaults of spacy-udpipe, and its files
    [
        ("de", "german-gsd-ud-2.5-191206.udpipe"),
        ("grc", "ancient_greek-perseus-ud-2.5-191206.udpipe"),
        ("cs", "czech-pdt-ud-2.5-191206.udpipe"),
        ("cu", "old_church_slavonic-proiel-ud-2.5-191206.udpipe"),
        ("fi", "finnish-tdt-ud-2.5-191206.udpipe"),
        ("ko", "korean-kaist-ud-2.5-191206.udpipe"),
        ("nb", "norwegian-bokmaal-ud-2.5-191206.udpipe"),
        ("nn", "norwegian-nynorsk-ud-2.5-191206.udpipe"),
        ("pl", "polish-pdb-ud-2.5-191206.udpipe"),
        ("ru", "russian-syntagrus-ud-2.5-191206.udpipe"),
        ("sv", "swedish-talbanken-ud-2.5-191206.udpipe"),
        ("zh", "chinese-gsd-ud-2.5-191206.udpipe"),
    ],
)
def test_a_code_names_one_of_several_treebanks(code, file, monkeypatch):
    monkeypatch.delenv("SYNTAX_BERT_PARSERS_URL", raising=False)
    model = find_model(code)
    assert model.path.name == file
    assert model.url == (
        f"https://lindat.mff.cuni.cz/repository/server/api/core/bitstreams/handle/11234/1-3131/{file}"
    )
    assert find_model(model.name) == model


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("german", r"'german' \(near it: german-(gsd|hdt), german-(gsd|hdt)"),
        ("German-HDT", r"'German-HDT' \(near it: german-hdt, "),
        ("german-hdt.udpipe", r"\(near it: german-hdt\)"),
        ("DE", r"'DE' \(near it: de"),
        ("../german-hdt", r"\(near it: german-hdt"),
        ("", "published UDPipe model '';"),
        (None, "no embedded parser for None"),
        (3, "no embedded parser for 3"),
    ],
)
def test_unknown_names(name, message, mirror):
    with pytest.raises(ValueError, match=message):
        parser_path(name)
    assert not mirror.requests


def test_a_model_is_downloaded_once(mirror, place, english_parser):
    assert parser_path("de") == str(place)
    digest = file_digest(english_parser)
    assert digest_file(place).read_text() == f"{digest}\n"
    text = licence(place).read_text("utf-8")
    assert text.startswith(f"# {FILE}\n")
    for stated in ("German-GSD", "CC BY-NC-SA 4.0", "11234/1-3131", digest):
        assert stated in text
    assert parser_path("german-gsd") == parser_path("de") == str(place)
    assert len(mirror.requests) == 1
    assert UDPipeParser(parser_path("german-hdt")).parse(["The cat sleeps."])[0].upos[:2] == ["DET", "NOUN"]
    rest = {path.name for path in place.parent.iterdir()} - {place.name, licence(place).name, f"{FILE}.sha256"}
    assert all("hdt" in name or name.endswith(".lock") for name in rest)


def test_a_checkpoint_takes_the_licence_along(mirror, plain_checkpoint, tmp_path):
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=parser_path("de"))
    tokenizer.save_pretrained(tmp_path / "saved")
    (parser,) = read_parsers(tmp_path / "saved", {"parser": FILE, "sha256": {FILE: "0"}})
    assert parser["licence"].startswith(f"### {FILE}\n")
    assert "CC BY-NC-SA 4.0" in parser["licence"]


def test_offline(mirror, place, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ValueError, match="offline mode is on") as error:
        parser_path("de")
    assert str(place) in str(error.value)
    assert "`syntax-bert parsers download german-gsd`" in str(error.value)
    place.write_bytes(mirror.files[FILE])
    assert parser_path("de") == str(place)
    assert digest_file(place).exists()
    assert licence(place).exists()
    assert not mirror.requests


def test_a_file_put_here_has_to_be_a_model(mirror, place):
    place.parent.mkdir()
    place.write_bytes(b"<html>log in</html>")
    with pytest.raises(ValueError, match="is not a UDPipe model"):
        parser_path("de")
    assert place.exists()
    assert not digest_file(place).exists()


def test_a_changed_file_is_found(mirror, place):
    parser_path("de")
    change(place)
    with pytest.raises(ValueError, match="delete it and run `syntax-bert parsers download german-gsd`") as error:
        parser_path("de")
    assert file_digest(str(place)) in str(error.value)
    assert digest_file(place).read_text().strip() in str(error.value)
    place.unlink()
    assert parser_path("de") == str(place)
    assert place.read_bytes() == mirror.files[FILE]


def test_another_file_of_the_server_is_refused(mirror, place):
    parser_path("de")
    old = place.read_bytes()
    mirror.files[FILE] += b"\0"
    with pytest.raises(ValueError, match="--force --accept_changed") as error:
        download_model(find_model("de"), force=True)
    assert digest_file(place).read_text().strip() in str(error.value)
    assert place.read_bytes() == old
    download_model(find_model("de"), force=True, accept_changed=True)
    assert Path(parser_path("de")).read_bytes() == mirror.files[FILE]
    assert digest_file(place).read_text().strip() in licence(place).read_text("utf-8")
    place.unlink()
    mirror.files[FILE] = old
    with pytest.raises(ValueError, match="was recorded at the first download"):
        parser_path("de")
    assert not place.exists()


@pytest.mark.parametrize("content", [b"<html>log in</html>", b""], ids=["page", "nothing"])
def test_what_is_no_model_is_not_kept(mirror, place, content):
    whole = mirror.files[FILE]
    mirror.files[FILE] = content
    with pytest.raises(ValueError, match=rf"{mirror.url}/models/{FILE} gives was not kept: .* is not a UDPipe model"):
        parser_path("de")
    assert [path.name for path in place.parent.iterdir() if not path.name.endswith(".lock")] == []
    mirror.files[FILE] = whole
    assert parser_path("de") == str(place)


def test_a_file_that_the_server_cuts_short_is_not_kept(mirror, place):
    mirror.answers = [Answer(length=1_000_000)]
    with pytest.raises(ValueError, match="not a UDPipe model, or it is damaged"):
        parser_path("de")
    assert not place.exists()


def test_no_such_file_on_the_server(mirror, place):
    with pytest.raises(OSError, match="the server answers 404 Not Found; run `syntax-bert parsers download") as error:
        parser_path("fr")
    assert f"{mirror.url}/models/french-gsd-ud-2.5-191206.udpipe" in str(error.value)
    assert "SYNTAX_BERT_PARSERS_URL" in str(error.value)
    assert len(mirror.requests) == 1


def test_a_mirror_has_an_address(mirror, monkeypatch):
    monkeypatch.setenv("SYNTAX_BERT_PARSERS_URL", "/srv/models")
    with pytest.raises(ValueError, match="SYNTAX_BERT_PARSERS_URL must start with http:// or https://, got '/srv/m"):
        parser_path("de")


def test_two_processes_download_once(mirror, place):
    with FORK.Pool(2) as pool:
        paths = pool.map(parser_path, ["de", "german-gsd"], chunksize=1)
    assert paths == [str(place)] * 2
    assert len(mirror.requests) == 1


def test_a_killed_download_leaves_nothing_that_looks_complete(mirror, place, monkeypatch):
    monkeypatch.setattr(downloads, "NUM_ATTEMPTS", 1)
    held = threading.Event()
    mirror.answers = [Answer(cut=1_000_000, hold=held)]
    process = FORK.Process(target=parser_path, args=("de",))
    process.start()
    partial = place.with_name(f"{FILE}.partial")
    deadline = time.monotonic() + 30
    while not (partial.exists() and partial.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    held.set()
    kept = partial.stat().st_size
    assert 0 < kept <= 1_000_000
    assert not place.exists()
    assert not digest_file(place).exists()
    assert parser_path("de") == str(place)
    assert place.read_bytes() == mirror.files[FILE]
    assert mirror.ranges == [None, f"bytes={kept}-"]
