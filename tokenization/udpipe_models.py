"""UDPipe models as files: their digests, and loading them once a process, however damaged or hostile they are."""

import hashlib
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from huggingface_hub.constants import HF_HOME

try:
    from ufal import udpipe
except ImportError:  # a tokenizer that is only given parses works without it
    udpipe = None

__all__ = ["file_digest", "load_model"]

MODELS: dict[str, Any] = {}  # of this process, by the digest of the file: copies of a file are one model
LOADED: dict[str, str] = {}  # the digest of the model that this process last took from each path
TRIED = Path(HF_HOME, "syntax_bert", "tried_parsers")  # an empty file for each model that this machine has tried
TRIAL_SECONDS = 120
NO_MODEL = 3
TRIAL = f"""
import sys
from ufal import udpipe

model = udpipe.Model.load(sys.argv[1])
if model is None:
    sys.exit({NO_MODEL})
sentence, error = udpipe.Sentence(), udpipe.ProcessingError()
if tokenizer := model.newTokenizer(model.DEFAULT):
    tokenizer.setText("The first 2 models don't crash. 猫在睡觉。")
    while tokenizer.nextSentence(sentence, error):
        model.tag(sentence, model.DEFAULT) and model.parse(sentence, model.DEFAULT)
"""


def file_digest(path: str) -> str:
    """Gives the SHA-256 of a file; once it is gone, that of the model which was loaded from it."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        if path in LOADED:
            return LOADED[path]
        raise
    return read_digest(path, (status.st_mtime_ns, status.st_size, status.st_ino))


@cache
def read_digest(path: str, state: tuple[int, ...]) -> str:
    """Reads the SHA-256 of a file in one state, once a process."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def load_model(path: str):
    """Loads a UDPipe model once a process, the first time on a machine after a trial in a process of its own.

    Raises:
        ImportError: If UDPipe is not installed.
        ValueError: If the file is not a model, is damaged, or would crash this process.
    """
    if udpipe is None:
        raise ImportError('the UDPipe parser needs `pip install "ufal.udpipe>=1.3"`')
    digest = file_digest(path)
    if digest not in MODELS:
        if not (TRIED / digest).exists():
            try_model(path)
            with suppress(OSError):  # a home that cannot be written to: tried again by the next process
                TRIED.mkdir(parents=True, exist_ok=True)
                (TRIED / digest).touch()
        MODELS[digest] = udpipe.Model.load(path)
    LOADED[path] = digest
    return MODELS[digest]


def try_model(path: str) -> None:
    """Loads a model and parses a text in another process: UDPipe does not check what a well-formed file says."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", TRIAL, path]
    try:
        trial = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=TRIAL_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"{path!r} is damaged or hostile: loading it takes over {TRIAL_SECONDS} s") from None
    if trial.returncode == NO_MODEL:
        raise ValueError(f"{path!r} is not a UDPipe model, or it is damaged")
    if trial.returncode != 0:
        end = f"status {trial.returncode} {trial.stderr[-200:].strip()}".strip()
        raise ValueError(f"{path!r} is damaged or hostile: a process that loads it ends with {end}")
