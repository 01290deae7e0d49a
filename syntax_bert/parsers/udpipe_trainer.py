"""UDPipe's trainer (Straka and Straková 2017, https://aclanthology.org/K17-3009) with settings that work.

The trainer holds Python's lock until it is done, so that it runs in a process of its own, which can be interrupted.
"""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm
from ufal import udpipe

__all__ = ["COMPONENTS", "SIZES", "train_udpipe"]

Options = Mapping[str, str]

PASSES = {"tokenizer": "epochs", "tagger": "iterations", "parser": "iterations"}  # their numbers of passes
COMPONENTS = tuple(PASSES)
COMMON = "from_model early_stopping learning_rate learning_rate_final batch_size"
KNOWN = {  # UDPipe ignores other options; those of the tagger may end in the number of a model
    "tokenizer": f"{COMMON} tokenize_url allow_spaces dimension epochs segment_size dropout".split(),
    "tagger": (
        "from_model early_stopping models iterations templates prune_features guesser_suffix_len guesser_suffix_rules "
        "guesser_enrich_dictionary guesser_prefixes_max guesser_prefix_min_count dictionary_max_form_analyses "
        "dictionary_flat_lemmas dictionary_lemma_encoding dictionary_file dictionary_suffix_len dictionary_accuracy "
        "dictionary_model use_lemma provide_lemma use_xpostag provide_xpostag use_feats provide_feats"
    ).split(),
    "parser": (
        f"{COMMON} iterations transition_system transition_oracle structured_interval single_root use_gold_tags "
        "embedding_upostag embedding_feats embedding_xpostag embedding_form embedding_form_mincount "
        "embedding_form_file embedding_lemma embedding_lemma_mincount embedding_lemma_file embedding_deprel "
        "hidden_layer l2"
    ).split(),
}
UPOS_ONLY = "use_lemma provide_lemma use_xpostag provide_xpostag use_feats provide_feats".split()
DEFAULT: dict[str, dict[str, str]] = {
    "tokenizer": {"epochs": "20", "batch_size": "50", "learning_rate": "0.005", "dimension": "24"},
    "tagger": {
        "models": "1",
        "templates_1": "tagger",
        "guesser_suffix_rules_1": "6",
        "guesser_enrich_dictionary_1": "4",
        "guesser_prefixes_max_1": "0",
        **{f"{name}_1": "0" for name in UPOS_ONLY},
        "iterations": "10",
    },
    "parser": {
        "iterations": "10",
        "embedding_upostag": "20",
        "embedding_feats": "0",
        "embedding_xpostag": "0",
        "embedding_form": "32",
        "embedding_form_mincount": "4",
        "embedding_lemma": "0",
        "embedding_deprel": "20",
        "learning_rate": "0.02",
        "learning_rate_final": "0.001",
        "l2": "0.3",
        "hidden_layer": "128",
        "batch_size": "10",
        "transition_system": "projective",
        "transition_oracle": "dynamic",
        "structured_interval": "8",
    },
}
SIZES = {  # of the treebank
    "default": DEFAULT,
    "small": {
        "tokenizer": {**DEFAULT["tokenizer"], "epochs": "40"},
        "tagger": DEFAULT["tagger"],
        "parser": {**DEFAULT["parser"], "embedding_form_mincount": "3"},
    },
}
PASS = re.compile(r"(?:Epoch|Iteration) \d+: |Epoch \d+, ")


def train_udpipe(train: str, heldout: str, options: Mapping[str, Options]) -> bytes:
    """Trains a model (tokenizer, tagger, parser) on CoNLL-U text, with a progress bar.

    Args:
        train: The sentences to train on.
        heldout: Those that choose the best of the passes over them; empty to take the last one.
        options: UDPipe's options by component.

    Returns:
        The model, as it is in a `.udpipe` file.

    Raises:
        ValueError: If UDPipe refuses the options or the sentences, with what it says.
    """
    for name, option in PASSES.items():
        for unknown in {re.sub(r"_\d+$", "", given) for given in options[name]} - {*KNOWN[name]}:
            near = get_close_matches(unknown, KNOWN[name])
            raise ValueError(f"UDPipe's {name} trainer has no option {unknown!r}; near it: {near or KNOWN[name]}")
        if not re.fullmatch("[1-9][0-9]*", options[name].get(option, "")):
            raise ValueError(f"{option} of the {name} must be a positive number, got {options[name].get(option)!r}")
    with TemporaryDirectory() as folder:
        task = Path(folder, "task.json")
        task.write_text(json.dumps([train, heldout, *(join(options[name]) for name in COMPONENTS)]))
        command = [sys.executable, "-m", __name__, str(task)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as process:
            try:
                said = follow(process, options)
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise ValueError(f"UDPipe's trainer ends with status {process.returncode}: {said.strip()}")
        return task.with_suffix(".udpipe").read_bytes()


def join(options: Options) -> str:
    """Joins options to the text that UDPipe reads."""
    return ";".join(f"{name}={value}" for name, value in options.items())


def follow(process: subprocess.Popen, options: Mapping[str, Options]) -> str:
    """Shows the trainer's passes over the sentences as they end; gives the last lines that it said."""
    passes = {name: int(options[name][PASSES[name]]) for name in COMPONENTS}
    last: list[str] = []
    with tqdm(total=sum(passes.values()), unit="pass", desc="Training the tokenizer") as bar:
        for line in process.stderr or ():
            last = [*last[-4:], line]
            if line.startswith("Tagger model"):
                bar.set_description("Training the tagger")
            elif line.startswith("Parser transition"):
                bar.set_description("Training the parser")
            elif match := PASS.match(line):
                bar.set_postfix_str(line[match.end() :].strip())
                bar.update()
    return "".join(last)


def read_sentences(text: str) -> udpipe.Sentences:
    """Reads CoNLL-U text into UDPipe's own form."""
    reader, error = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError()
    reader.setText(text)
    sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    if error.occurred():
        sys.exit(error.message)
    return sentences


def run_task(file: Path) -> None:
    """Trains in this process, which ends with the one that reads what it says."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    train, heldout, *options = json.loads(file.read_text())
    error = udpipe.ProcessingError()
    model = udpipe.Trainer.train("morphodita_parsito", read_sentences(train), read_sentences(heldout), *options, error)
    if error.occurred():
        sys.exit(error.message)
    file.with_suffix(".udpipe").write_bytes(model)


if __name__ == "__main__":
    run_task(Path(sys.argv[1]))
