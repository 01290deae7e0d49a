"""Tiny plain checkpoints, the embedded parser, a syntax tokenizer, and what runs the scripts."""

import importlib.util
import json
import logging
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers reads it
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the models are tiny, and there is a process for each core

import pytest
import sentencepiece
import torch
from file_server import serve_models
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForMaskedLM,
    MarianConfig,
    MarianMTModel,
    MarianTokenizer,
    PreTrainedTokenizerFast,
)

from syntax_bert import SyntaxTokenizerFast, UDPipeParser, parser_path

ROOT = Path(__file__).parent.parent
VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the a cat dog river ##s ##es sleep see ##ing who that is are un ##happy "
    "do ##n ' ’ t n . , ? i you zum kino we"
).split()


def wordpiece_tokenizer(vocabulary=VOCABULARY, lowercase=True):
    """Builds BERT's tokenizer over a word list."""
    ids = {piece: index for index, piece in enumerate(vocabulary)}
    backend = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        mask_token="[MASK]",
        model_max_length=64,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


@pytest.fixture(scope="session")
def plain_checkpoint(tmp_path_factory):
    """A folder with a plain BERT of 2 layers, 32 wide, and its tokenizer."""
    folder = tmp_path_factory.mktemp("plain")
    wordpiece_tokenizer().save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def marian_checkpoint(tmp_path_factory):
    """A folder with a plain Marian of 2 + 2 layers, 32 wide, and its tokenizer, which knows the code of German."""
    folder = tmp_path_factory.mktemp("marian")
    sentences = [
        "The cat sleeps.",
        "The unhappy dogs see a river.",
        "Who sees the cats?",
        "A dog and I don’t see you.",
    ]
    for name in ("source", "target"):
        with open(folder / f"{name}.spm", "wb") as file:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(sentences * 20), model_writer=file, vocab_size=60, hard_vocab_limit=False,
                minloglevel=2,
            )  # fmt: skip
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    names = [pieces.id_to_piece(index) for index in range(pieces.get_piece_size())]
    vocabulary = dict.fromkeys(["</s>", "<unk>", ">>deu<<", *(name for name in names if name != "<s>"), "<pad>"])
    vocabulary = {name: index for index, name in enumerate(vocabulary)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    files = [str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")]
    MarianTokenizer(*files, model_max_length=48).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"d_model": 32, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 64}
    layers = {f"{part}_{what}": 2 for part in ("encoder", "decoder") for what in ("layers", "attention_heads")}
    padding = {"pad_token_id": len(vocabulary) - 1, "decoder_start_token_id": len(vocabulary) - 1}
    config = MarianConfig(vocab_size=len(vocabulary), init_std=0.5, **sizes, **layers, **padding)
    MarianMTModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def english_parser():
    """Path of the embedded English parser."""
    return parser_path("en")


@pytest.fixture
def syntax_tokenizer(plain_checkpoint, english_parser):
    """A syntax tokenizer with all five columns."""
    return SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=english_parser)


@pytest.fixture
def mirror(monkeypatch, tmp_path, english_parser):
    """A server of published models; they come into the test's own folder."""
    with serve_models(monkeypatch, tmp_path, english_parser) as server:
        yield server


@pytest.fixture
def no_parses(monkeypatch):
    """Lets no text be parsed."""

    def parse(self, *args, **kwargs):
        raise AssertionError("a text is parsed")

    monkeypatch.setattr(UDPipeParser, "parse", parse)
    monkeypatch.setattr(UDPipeParser, "parse_words", parse)


@pytest.fixture
def only_warnings(caplog):
    """Logs warnings and errors, whatever level another test has set."""
    caplog.set_level(logging.WARNING, logger="syntax_bert")


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """Starts in the test's own folder, and keeps the cache of `datasets` there."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def write(tmp_path):
    """Writes a text, bytes or rows (as JSON Lines) into the test's own folder, and gives the path."""

    def write_file(name, content):
        if isinstance(content, list):
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write_file


@pytest.fixture
def run_without_package(tmp_path):
    """Runs code in a process that cannot import the package, and gives the lines that it printed."""

    def run(code, *arguments):
        done = subprocess.run(
            [sys.executable, "-c", f"import sys\nsys.modules['syntax_bert'] = None\n{code}", *arguments],
            cwd=tmp_path,
            env={**os.environ, "HF_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


@pytest.fixture(scope="session")
def load_script():
    """Imports a script by its name."""

    def load(name):
        spec = importlib.util.spec_from_file_location(name, ROOT / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def as_arguments():
    """Turns settings into arguments of a script; a list has several values, `None` leaves a setting out."""

    def listed(settings):
        arguments = []
        for name, value in settings.items():
            if value is not None:
                arguments += [f"--{name}", *map(str, value if isinstance(value, list) else [value])]
        return arguments

    return listed


@pytest.fixture(scope="session")
def launch():
    """Runs a script in two processes, in a folder, and gives what they printed."""

    def run(name, arguments, folder):
        # --multi_gpu is the launcher of several processes, on any device; with --cpu accelerate starts a single one
        options = "--multi_gpu --num_processes 2 --num_machines 1 --mixed_precision no --dynamo_backend no".split()
        options += ["--main_process_port", "0"]
        done = subprocess.run(
            [sys.executable, "-m", "accelerate.commands.launch", *options, ROOT / f"{name}.py", *arguments],
            cwd=folder,
            env={**os.environ, "HF_DATASETS_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def interrupted(monkeypatch):
    """Interrupts a training at its fourth step."""
    from transformers import Trainer

    step = Trainer.training_step

    def interrupt(self, *args, **kwargs):
        if self.state.global_step == 3:
            raise KeyboardInterrupt
        return step(self, *args, **kwargs)

    @contextmanager
    def interrupted_training():
        with monkeypatch.context() as patch:
            patch.setattr(Trainer, "training_step", interrupt)
            with pytest.raises(KeyboardInterrupt):
                yield

    return interrupted_training


@pytest.fixture(scope="session")
def saved_run():
    """Reads a result out of the output folder of a run."""
    return lambda folder, name: json.loads((folder / "results" / name).read_text())
