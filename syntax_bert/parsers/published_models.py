"""The UDPipe 1 models that its authors publish for Universal Dependencies 2.5, downloaded when they are asked for.

Straka & Straková 2019, "Universal Dependencies 2.5 Models for UDPipe (2019-12-06)", http://hdl.handle.net/11234/1-3131.
"""

import os
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import NamedTuple

from huggingface_hub import is_offline_mode
from huggingface_hub.constants import HF_HOME
from huggingface_hub.utils import WeakFileLock
from transformers.utils import logging

from syntax_bert.tokenization.parser_files import licence
from syntax_bert.tokenization.udpipe_models import file_digest, load_model

from .downloads import fetch

__all__ = ["LICENCE", "PublishedModel", "digest_file", "download_model", "find_model", "published_models"]

logger = logging.get_logger(__name__)

FOLDER = Path(HF_HOME, "syntax_bert", "parsers")
LICENCE = "CC BY-NC-SA 4.0"
SOURCE = "https://lindat.mff.cuni.cz/repository/server/api/core/bitstreams/handle/11234/1-3131"
LICENCE_FILE = """# {file}

A UDPipe 1 model (tokenizer, tagger, lemmatizer, parser) of "Universal Dependencies 2.5 Models for UDPipe (2019-12-06)"
by Milan Straka and Jana Straková, Charles University (http://hdl.handle.net/11234/1-3131), trained on the treebank
{language}-{treebank} of Universal Dependencies 2.5 (http://hdl.handle.net/11234/1-3105). Its scores are in the table
of the authors, https://ufal.mff.cuni.cz/udpipe/1/models#universal_dependencies_25_models.

The model is licensed under {licence} (https://creativecommons.org/licenses/by-nc-sa/4.0/), which excludes commercial
use; the licence of the treebank may add conditions. Changes made: none. SHA-256: {digest}
"""


class PublishedModel(NamedTuple):
    """A model: code of the language (ISO 639-1, or else 639-3), language and treebank as in Universal Dependencies."""

    language_code: str
    language: str
    treebank: str

    @property
    def name(self) -> str:
        """The name as it is published, such as `german-hdt`."""
        return f"{self.language.replace(' ', '_')}-{self.treebank}".lower()

    @property
    def path(self) -> Path:
        """Where the file is, or would be, under the name that it is published as."""
        return FOLDER / f"{self.name}-ud-2.5-191206.udpipe"

    @property
    def url(self) -> str:
        """Where it is downloaded from.

        Raises:
            ValueError: If SYNTAX_BERT_PARSERS_URL is not the address of a folder.
        """
        source = os.environ.get("SYNTAX_BERT_PARSERS_URL") or SOURCE
        if not source.startswith(("http://", "https://")):
            raise ValueError(f"SYNTAX_BERT_PARSERS_URL must start with http:// or https://, got {source!r}")
        return f"{source.rstrip('/')}/{self.path.name}"


@cache
def published_models() -> tuple[PublishedModel, ...]:
    """Lists all models; the first of a language is that which its code names, as in spacy-udpipe."""
    rows = Path(__file__).with_name("ud_2_5_models.tsv").read_text("utf-8").splitlines()[1:]
    return tuple(PublishedModel(*row.split("\t")) for row in rows)


def find_model(name: str) -> PublishedModel:
    """Finds a model by the code of its language or by its own name.

    Raises:
        ValueError: If there is none; names that are near are listed.
    """
    for model in published_models():
        if name in (model.language_code, model.name):
            return model
    names = dict.fromkeys(name for model in published_models() for name in (model.language_code, model.name))
    near = get_close_matches(str(name).lower(), names, n=5)
    nearest = f" (near it: {', '.join(near)})" if near else ""
    raise ValueError(
        f"there is no published UDPipe model {name!r}{nearest}; `syntax-bert parsers list` lists them all"
    )


def digest_file(model: Path) -> Path:
    """Gives the file beside a model that records its SHA-256."""
    return model.with_name(f"{model.name}.sha256")


def download_model(model: PublishedModel, force: bool = False, accept_changed: bool = False) -> str:
    """Gives the path of a model, which is downloaded if it is not here, tried, and recorded with SHA-256 and licence.

    Args:
        model: The model.
        force: Whether to download it again.
        accept_changed: Whether the server's file may be another than the one recorded.

    Raises:
        ValueError: If the file, the server's or the one here, is no UDPipe model or not the one recorded, or if the
            model is not here in offline mode.
        OSError: If it cannot be downloaded.
    """
    path = model.path
    if force or not (path.exists() and digest_file(path).exists()):
        path.parent.mkdir(parents=True, exist_ok=True)
        with WeakFileLock(f"{path}.lock"):
            if force or not path.exists():
                download(model, accept_changed)
            elif not digest_file(path).exists():  # put here by hand
                load_model(str(path))
                record(model, file_digest(str(path)))
    digest, recorded = file_digest(str(path)), digest_file(path).read_text("utf-8").strip()
    if digest != recorded:
        raise ValueError(
            f"{path} has SHA-256 {digest}, but {recorded} was recorded when it was downloaded: it is damaged or was "
            f"exchanged; delete it and run `syntax-bert parsers download {model.name}`"
        )
    return str(path)


def download(model: PublishedModel, accept_changed: bool) -> None:
    """Downloads a model beside its place, and puts it there when it is known to be one."""
    path, partial = model.path, model.path.with_name(f"{model.path.name}.partial")
    command = f"`syntax-bert parsers download {model.name}`"
    if is_offline_mode():
        raise ValueError(
            f"no embedded parser for {model.language_code!r}, {path} is not here, and offline mode is on "
            f"(HF_HUB_OFFLINE): run {command} on a machine with a network and copy the file to this path, or give the "
            "path of a .udpipe file"
        )
    logger.warning(f"downloading {model.name} ({LICENCE}: no commercial use) from {model.url}")
    try:
        fetch(model.url, partial)
    except OSError as error:
        raise OSError(
            f"{error}; run {command} later, set SYNTAX_BERT_PARSERS_URL to a mirror, or put the file at {path}"
        ) from error
    try:
        load_model(str(partial))
        digest = file_digest(str(partial))
        recorded = digest_file(path).read_text("utf-8").strip() if digest_file(path).exists() else digest
        if digest != recorded and not accept_changed:
            raise ValueError(
                f"{model.url} has SHA-256 {digest}, but {recorded} was recorded at the first download; if it is meant "
                f"to have changed, run `syntax-bert parsers download {model.name} --force --accept_changed`"
            )
    except ValueError as error:
        partial.unlink()
        raise ValueError(f"what {model.url} gives was not kept: {error}") from error
    record(model, digest)
    partial.replace(path)


def record(model: PublishedModel, digest: str) -> None:
    """Writes SHA-256 and licence of a model beside its place."""
    texts = {
        licence(model.path): LICENCE_FILE.format(
            file=model.path.name, language=model.language, treebank=model.treebank, licence=LICENCE, digest=digest
        ),
        digest_file(model.path): f"{digest}\n",
    }
    for file, text in texts.items():
        unfinished = file.with_name(f"{file.name}.partial")
        unfinished.write_text(text, "utf-8")
        unfinished.replace(file)
