"""Copies and checkpoints of a syntax tokenizer, and the parsers that checkpoints carry."""

import copy
import hashlib
import json
import logging
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from datasets import Dataset
from datasets.fingerprint import Hasher
from transformers import AutoTokenizer, BertTokenizer

from syntax_bert import SyntaxBertConfig, SyntaxTokenizerFast
from syntax_bert.tokenization.universal_dependencies import UPOS_IDS

CAT, DOGS = "The cat sees the dogs.", "You see."


@pytest.mark.parametrize("chosen", ["upos_ids", ["upos_ids"]])
def test_one_column_may_be_a_string(checkpoint, english_parser, tmp_path, chosen):
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=english_parser, columns=chosen)
    tokenizer.save_pretrained(tmp_path)
    assert tokenizer.syntax_columns == SyntaxTokenizerFast.from_pretrained(tmp_path).syntax_columns == ("upos_ids",)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda item: pickle.loads(pickle.dumps(item))])
def test_copies_give_the_same_columns(tokenizer, duplicate, columns, pair_columns):
    for item in (tokenizer, duplicate(tokenizer), duplicate(duplicate(tokenizer))):
        assert columns(item(CAT, DOGS)) == pair_columns
        assert item.do_lower_case is True
    assert len(pickle.dumps(tokenizer)) < 100_000  # the parser goes by path


MAP_SCRIPT = """
import json, sys
from datasets import Dataset
from datasets.fingerprint import Hasher
from syntax_bert import SyntaxTokenizerFast
tokenizer = SyntaxTokenizerFast.from_pretrained(sys.argv[1], parser=sys.argv[2])
data = Dataset.from_dict({"text": sys.argv[3:]})
hashed = Hasher.hash(tokenizer)
mapped = data.map(tokenizer, input_columns="text", batched=True)
several = data.map(tokenizer, input_columns="text", batched=True, num_proc=2)
print(json.dumps([hashed, mapped._fingerprint, several["head_positions"][:], several["upos_ids"][:]]))
"""


def test_datasets_map_in_workers_and_equal_fingerprints_in_two_processes(
    checkpoint, english_parser, tmp_path, cat_columns, dogs_columns
):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "7"}
    other = subprocess.Popen(
        [sys.executable, "-c", MAP_SCRIPT, checkpoint, english_parser, CAT, DOGS],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=english_parser)
    hashed = Hasher.hash(tokenizer)
    mapped = Dataset.from_dict({"text": [CAT, DOGS]}).map(tokenizer, input_columns="text", batched=True)
    out, err = other.communicate()
    assert other.returncode == 0, err[-3000:]
    heads, tags = ([row[name] for row in (cat_columns, dogs_columns)] for name in ("head_positions", "upos_ids"))
    assert [mapped["head_positions"][:], mapped["upos_ids"][:]] == [heads, tags]
    assert json.loads(out.splitlines()[-1]) == [hashed, mapped._fingerprint, heads, tags]


def test_another_parser_file_is_another_fingerprint(checkpoint, english_parser, tmp_path):
    path = tmp_path / "mine.udpipe"
    shutil.copy(english_parser, path)
    load = SyntaxTokenizerFast.from_pretrained
    first = Hasher.hash(load(checkpoint, parser=path))
    assert Hasher.hash(load(checkpoint, parser=path)) == first
    assert Hasher.hash(load(checkpoint, parser=path, beam_size=1)) != first
    assert Hasher.hash(load(checkpoint, parser=path, columns=("upos_ids",))) != first
    with open(path, "ab") as file:
        file.write(b" ")
    assert Hasher.hash(load(checkpoint, parser=path)) != first


def fake_parser(folder, name, content):
    """A file that can be saved and found but not loaded."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content)
    return str(folder / name)


def edit_config(folder, **entries):
    path = Path(folder) / "tokenizer_config.json"
    config = json.loads(path.read_text())
    config["syntax"] |= entries
    path.write_text(json.dumps(config))


def test_a_checkpoint_carries_its_parser_under_a_bare_name(tokenizer, english_parser, tmp_path, columns, pair_columns):
    files = [Path(name).name for name in tokenizer.save_pretrained(tmp_path / "saved")]
    assert "english-ewt.udpipe" in files
    config = json.loads((tmp_path / "saved" / "tokenizer_config.json").read_text())
    assert config["syntax"]["parser"] == "english-ewt.udpipe"
    assert str(Path(english_parser).parent) not in json.dumps(config)
    (tmp_path / "saved").rename(tmp_path / "moved")
    again = SyntaxTokenizerFast.from_pretrained(tmp_path / "moved")
    assert again.parser.paths == {None: str(tmp_path / "moved" / "english-ewt.udpipe")}
    assert columns(again(CAT, DOGS)) == pair_columns


def test_settings_are_kept_by_a_checkpoint_and_can_be_overridden(checkpoint, english_parser, tmp_path):
    first = SyntaxTokenizerFast.from_pretrained(
        checkpoint, parser=english_parser, columns=("subword_ids", "upos_ids"), beam_size=2
    )
    first.save_pretrained(tmp_path)
    again = SyntaxTokenizerFast.from_pretrained(tmp_path)
    assert (again.parser.beam_size, again.syntax_columns) == (2, ("subword_ids", "upos_ids"))
    other = SyntaxTokenizerFast.from_pretrained(tmp_path, columns=(), beam_size=3)
    assert (other.parser.beam_size, other.syntax_columns) == (3, ())
    other.save_pretrained(tmp_path / "other")
    again = SyntaxTokenizerFast.from_pretrained(tmp_path / "other")
    assert (again.parser.beam_size, again.syntax_columns) == (3, ())


@pytest.mark.parametrize("kind", [str, Path])
def test_the_saved_beam_size_holds_for_another_parser_file(checkpoint, english_parser, tmp_path, kind):
    SyntaxTokenizerFast.from_pretrained(checkpoint, parser=english_parser, beam_size=2).save_pretrained(tmp_path)
    assert SyntaxTokenizerFast.from_pretrained(tmp_path, parser=kind(english_parser)).parser.beam_size == 2


def test_a_beam_size_for_a_parser_object_is_refused(checkpoint, spy_parser):
    with pytest.raises(ValueError, match="beam_size"):
        SyntaxTokenizerFast.from_pretrained(checkpoint, parser=spy_parser, beam_size=2)


def test_a_parser_object_is_not_saved_and_a_warning_says_so(spy, spy_parser, tmp_path, caplog, columns, cat_columns):
    with caplog.at_level(logging.WARNING):
        spy.save_pretrained(tmp_path)
    assert "SpyParser cannot be saved" in caplog.text
    again = SyntaxTokenizerFast.from_pretrained(tmp_path)
    assert again.parser is None
    with pytest.raises(ValueError, match="no parser"):
        again(CAT)
    given = SyntaxTokenizerFast.from_pretrained(tmp_path, parser=spy_parser)
    assert columns(given(CAT)) == cat_columns


def test_no_warning_without_a_parser_object(tokenizer, checkpoint, tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        tokenizer.save_pretrained(tmp_path / "with")
        SyntaxTokenizerFast.from_pretrained(checkpoint).save_pretrained(tmp_path / "without")
    assert "cannot be saved" not in caplog.text
    assert not list((tmp_path / "without").glob("*.udpipe"))
    assert SyntaxTokenizerFast.from_pretrained(tmp_path / "without").parser is None


@pytest.mark.parametrize("name", ["french.udpipe", "en-ud.udpipe"])  # the latter made unique by its language
def test_parsers_of_several_languages_are_saved_under_names_of_their_own(checkpoint, tmp_path, name):
    parsers = {
        "en": fake_parser(tmp_path / "a", "ud.udpipe", "English"),
        "de": fake_parser(tmp_path / "b", "ud.udpipe", "German"),
        "fr": fake_parser(tmp_path / "c", name, "French"),
    }
    SyntaxTokenizerFast.from_pretrained(checkpoint, parser=parsers).save_pretrained(tmp_path / "saved")
    for _ in range(2):  # and in place
        again = SyntaxTokenizerFast.from_pretrained(tmp_path / "saved")
        assert {language: Path(path).read_text() for language, path in again.parser.paths.items()} == {
            "en": "English",
            "de": "German",
            "fr": "French",
        }
        assert {Path(path).parent for path in again.parser.paths.values()} == {tmp_path / "saved"}
        again.save_pretrained(tmp_path / "saved")
    assert len(list((tmp_path / "saved").glob("*.udpipe"))) == 3


@pytest.mark.parametrize("code", [None, "../en", "de/at"])
def test_what_is_no_language_code_is_refused(checkpoint, tmp_path, code):
    parsers = {
        "en": fake_parser(tmp_path / "a", "ud.udpipe", "English"),
        code: fake_parser(tmp_path / "b", "any.udpipe", "any"),
    }
    with pytest.raises(ValueError, match=f"^{code!r} is no language code"):
        SyntaxTokenizerFast.from_pretrained(checkpoint, parser=parsers)


def test_saving_into_the_folder_it_came_from(tokenizer, tmp_path, columns, cat_columns):
    tokenizer.save_pretrained(tmp_path)
    size = (tmp_path / "english-ewt.udpipe").stat().st_size
    again = SyntaxTokenizerFast.from_pretrained(tmp_path)
    again.save_pretrained(tmp_path)
    assert (tmp_path / "english-ewt.udpipe").stat().st_size == size
    assert columns(SyntaxTokenizerFast.from_pretrained(tmp_path)(CAT)) == cat_columns


def test_a_missing_parser_file_is_named(tokenizer, checkpoint, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "english-ewt.udpipe").unlink()
    with pytest.raises(OSError, match=r"english-ewt\.udpipe"):
        SyntaxTokenizerFast.from_pretrained(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.udpipe"):
        SyntaxTokenizerFast.from_pretrained(checkpoint, parser="nowhere.udpipe")


def test_a_damaged_parser_file_is_named_when_it_is_used(checkpoint, tmp_path):
    path = fake_parser(tmp_path, "broken.udpipe", "not a model")
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=path)
    with pytest.raises(ValueError, match=r"broken\.udpipe.*not a UDPipe model"):
        tokenizer(CAT)


@pytest.mark.parametrize(
    "name",
    [
        "../x.udpipe",
        "/etc/x.udpipe",
        "a/x.udpipe",
        "..\\x.udpipe",
        "c:x.udpipe",
        "..",
        ".",
        "https://example.org/x.udpipe",
    ],
)
def test_a_parser_outside_the_checkpoint_is_refused(tokenizer, tmp_path, name):
    fake_parser(tmp_path, "x.udpipe", "outside")
    folder = tmp_path / "checkpoint"
    tokenizer.save_pretrained(folder)
    for entry in (name, {"en": name}):
        edit_config(folder, parser=entry)
        with pytest.raises(ValueError, match="must be a plain file of the checkpoint"):
            SyntaxTokenizerFast.from_pretrained(folder)


def test_a_parser_that_is_a_link_out_of_the_checkpoint_is_refused(tokenizer, english_parser, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "english-ewt.udpipe").unlink()
    (tmp_path / "english-ewt.udpipe").symlink_to(english_parser)
    with pytest.raises(ValueError, match="is a link to .* must be a plain file"):
        SyntaxTokenizerFast.from_pretrained(tmp_path)


def test_another_parser_than_the_one_that_was_saved_is_refused(tokenizer, checkpoint, english_parser, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    saved = tmp_path / "english-ewt.udpipe"
    digest = hashlib.sha256(saved.read_bytes()).hexdigest()
    assert json.loads((tmp_path / "tokenizer_config.json").read_text())["syntax"]["sha256"] == {saved.name: digest}
    saved.write_bytes(saved.read_bytes() + b"more")
    with pytest.raises(ValueError, match=f"has SHA-256 [0-9a-f]*, but .* records {digest}"):
        SyntaxTokenizerFast.from_pretrained(tmp_path)
    SyntaxTokenizerFast.from_pretrained(tmp_path, parser=english_parser).save_pretrained(tmp_path)
    SyntaxTokenizerFast.from_pretrained(tmp_path)
    edit_config(tmp_path, sha256=None)
    with pytest.raises(ValueError, match="records None"):
        SyntaxTokenizerFast.from_pretrained(tmp_path)


def test_a_parser_that_changed_after_loading_is_not_saved(checkpoint, tmp_path):
    path = fake_parser(tmp_path, "own.udpipe", "one")
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=path)
    fake_parser(tmp_path, "own.udpipe", "another")
    with pytest.raises(ValueError, match=r"own\.udpipe has changed since the tokenizer was loaded"):
        tokenizer.save_pretrained(tmp_path / "saved")


def test_the_default_columns_are_those_of_the_models_config(checkpoint, english_parser, tmp_path, cat_columns):
    shutil.copytree(checkpoint, tmp_path, dirs_exist_ok=True)
    SyntaxBertConfig(syntax_features=["upos"]).save_pretrained(tmp_path)
    plain = BertTokenizer.from_pretrained(checkpoint)
    tokenizer = SyntaxTokenizerFast.from_pretrained(tmp_path, parser=english_parser)
    assert tokenizer.syntax_columns == ("upos_ids",)
    chosen = SyntaxTokenizerFast.from_pretrained(tmp_path, parser=english_parser, columns=("casing_ids",))
    assert chosen.syntax_columns == ("casing_ids",)
    tokenizer.save_pretrained(tmp_path)
    SyntaxBertConfig(syntax_features=["casing", "deprel"]).save_pretrained(tmp_path)
    assert SyntaxTokenizerFast.from_pretrained(tmp_path).syntax_columns == ("casing_ids", "deprel_ids")
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert type(again) is SyntaxTokenizerFast
    expected = dict(plain(CAT)) | {name: cat_columns[name] for name in ("casing_ids", "deprel_ids")}
    assert dict(again(CAT)) == expected


@pytest.mark.parametrize("labels", ["upos_labels", "deprel_labels"])
def test_other_labels_in_the_models_config_are_refused(checkpoint, english_parser, tmp_path, labels):
    shutil.copytree(checkpoint, tmp_path, dirs_exist_ok=True)
    config = SyntaxBertConfig()
    setattr(config, labels, list(getattr(config, labels))[::-1])
    config.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=labels):
        SyntaxTokenizerFast.from_pretrained(tmp_path, parser=english_parser)


def test_a_model_that_needs_no_column_gets_none(checkpoint, tmp_path):
    shutil.copytree(checkpoint, tmp_path, dirs_exist_ok=True)
    SyntaxBertConfig(syntax_features=[]).save_pretrained(tmp_path)
    assert SyntaxTokenizerFast.from_pretrained(tmp_path).syntax_columns == ()


def test_a_tokenizer_made_by_the_constructor_can_be_saved_and_loaded(
    checkpoint, english_parser, tmp_path, columns, cat_columns
):
    base = BertTokenizer.from_pretrained(checkpoint)
    made = SyntaxTokenizerFast(tokenizer_object=base.backend_tokenizer, **base.special_tokens_map)
    with pytest.raises(ValueError, match="no parser"):
        made(CAT)
    made.save_pretrained(tmp_path)
    again = SyntaxTokenizerFast.from_pretrained(tmp_path, parser=english_parser)
    assert columns(again(CAT)) == cat_columns


def test_a_tokenizer_trained_from_another_keeps_its_parser(tokenizer, tmp_path):
    trained = tokenizer.train_new_from_iterator([[CAT, DOGS]] * 3, 60)
    assert trained(CAT)["upos_ids"][1] == UPOS_IDS["DET"]
    trained.save_pretrained(tmp_path)
    assert SyntaxTokenizerFast.from_pretrained(tmp_path)(CAT) == trained(CAT)


def test_a_parser_entry_that_is_no_name_is_refused(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    edit_config(tmp_path, parser={"en": 5})
    with pytest.raises(ValueError, match="must be a plain file of the checkpoint"):
        SyntaxTokenizerFast.from_pretrained(tmp_path)


def test_a_parser_is_not_saved_over_that_of_another_language(checkpoint, english_parser, tmp_path):
    folder = tmp_path / "saved"
    folder.mkdir()
    for name in ("en.udpipe", "de.udpipe"):
        shutil.copy(english_parser, folder / name)
    shutil.copy(english_parser, tmp_path / "en.udpipe")
    swapped = {"de": folder / "en.udpipe", "en": tmp_path / "en.udpipe"}
    with pytest.raises(ValueError, match=r"is the parser of 'de' and would become that of 'en'"):
        SyntaxTokenizerFast.from_pretrained(checkpoint, parser=swapped).save_pretrained(folder)


def test_a_link_is_replaced_and_not_written_through(tokenizer, english_parser, tmp_path):
    cached = tmp_path / "cache" / "blob"
    cached.parent.mkdir()
    cached.write_bytes(b"of another repository")
    folder = tmp_path / "saved"
    folder.mkdir()
    (folder / "english-ewt.udpipe").symlink_to(cached)
    tokenizer.save_pretrained(folder)
    assert cached.read_bytes() == b"of another repository"
    assert (folder / "english-ewt.udpipe").read_bytes() == Path(english_parser).read_bytes()


def test_parsers_whose_licences_would_collide_get_names_of_their_own(checkpoint, tmp_path):
    parsers = {"en": fake_parser(tmp_path / "a", "m.udpipe", "one"), "de": fake_parser(tmp_path / "b", "m", "two")}
    fake_parser(tmp_path / "a", "m.LICENSE.md", "of the first")
    SyntaxTokenizerFast.from_pretrained(checkpoint, parser=parsers).save_pretrained(tmp_path / "saved")
    assert (tmp_path / "saved" / "en.LICENSE.md").read_text() == "of the first"
    again = SyntaxTokenizerFast.from_pretrained(tmp_path / "saved")
    assert {Path(path).name for path in again.parser.paths.values()} == {"en.udpipe", "de.udpipe"}


def test_the_licence_of_an_earlier_parser_does_not_stay(checkpoint, english_parser, tmp_path):
    own = tmp_path / "english-ewt.udpipe"
    shutil.copy(english_parser, own)
    folder = tmp_path / "saved"
    SyntaxTokenizerFast.from_pretrained(checkpoint, parser=english_parser).save_pretrained(folder)
    assert (folder / "english-ewt.LICENSE.md").exists()
    SyntaxTokenizerFast.from_pretrained(checkpoint, parser=own).save_pretrained(folder)
    assert not (folder / "english-ewt.LICENSE.md").exists()


@pytest.mark.parametrize("entry", ["on", ["parser"], 3])
def test_syntax_settings_that_are_no_object_are_refused(tokenizer, tmp_path, entry):
    tokenizer.save_pretrained(tmp_path)
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**settings, "syntax": entry}))
    with pytest.raises(ValueError, match='"syntax" in the tokenizer_config.json of .* must be an object'):
        SyntaxTokenizerFast.from_pretrained(tmp_path)
