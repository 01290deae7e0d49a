"""`syntax-bert train-parser`: a UDPipe model made of treebanks, with its scores and its licence beside it."""

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

from syntax_bert.data.conllu import read_conllu
from syntax_bert.data.lines import read_numbered_lines
from syntax_bert.tokenization.parser_files import licence
from syntax_bert.tokenization.udpipe_models import file_digest
from syntax_bert.tokenization.udpipe_parser import UDPipeParser

from .catalogue import model_path, named_values
from .udpipe_scores import score_table, score_udpipe
from .udpipe_trainer import COMPONENTS, SIZES, train_udpipe

__all__ = ["evaluate_parser", "train_parser"]

LICENCE = re.compile(r"^License: (\S.*)$", re.MULTILINE)  # of the metadata at the end of a treebank's README


def train_parser(arguments: list[str]) -> None:
    """Trains a parser, scores it on sentences that it was not trained on, and notes where it comes from.

    Raises:
        ValueError: If a treebank is malformed or has no file to train on, training and test sentences are in one file,
            or the output is there already.
    """
    options = read_arguments(arguments)
    output = Path(options.output)
    if output.exists():
        raise ValueError(f"--output {output} is there already: remove it, or name a new file")
    if output.suffix != ".udpipe" or not output.parent.is_dir():
        raise ValueError(f"--output {output} must end in .udpipe, and be in a folder that exists")
    settings = {
        name: SIZES[options.size][name]
        | named_values(getattr(options, f"{name}_options"), f"--{name}_options", "NAME=VALUE")
        for name in COMPONENTS
    }
    train = find_files(options.treebanks, "train")
    if not train:
        raise ValueError(f"{options.treebanks} have no file to train on, *-ud-train.conllu: name files themselves")
    heldout = find_files(options.dev or folders(options.treebanks), "dev")
    test = find_files(options.test or folders(options.treebanks), "test")
    check_separate(train, heldout, test)
    sentences = {file: read_blocks(file) for file in {*train, *heldout, *test}}
    kept = {file: round(len(sentences[file]) * (1 - options.test_fraction)) for file in train}
    rest = [block for file in train for block in sentences[file][kept[file] :]]
    if options.test_fraction and not (rest and any(kept.values())):
        raise ValueError(f"--test_fraction {options.test_fraction} leaves {len(rest)} sentences to score on")
    print(f"training on {sum(kept.values())} sentences of {', '.join(file.name for file in train)}")
    model = train_udpipe(
        "".join(block for file in train for block in sentences[file][: kept[file]]),
        "".join(block for file in heldout for block in sentences[file]),
        settings,
    )
    unfinished = output.with_name(f"{output.stem}.unfinished.udpipe")
    unfinished.write_bytes(model)
    test_sets = [(file.name, sentences[file]) for file in test]
    if options.test_fraction:
        test_sets.append(("held out", rest))
    scores = score_table((name, score_udpipe(str(unfinished), "".join(blocks))) for name, blocks in test_sets)
    files = [(file, kept[file]) for file in train]
    licence(output).write_text(describe(output, files, scores, settings, options.licence), encoding="utf-8")
    unfinished.replace(output)
    print(f"{scores}\n\n{output} and its {licence(output).name}: keep them together")


def read_arguments(arguments: Sequence[str]) -> Namespace:
    """Reads the command line."""
    parser = ArgumentParser(
        "syntax-bert train-parser", description="Trains a UDPipe parser on treebanks, and scores it."
    )
    parser.add_argument(
        "treebanks", nargs="+", help="Folders of UD treebanks (train, dev and test are found), or files to train on."
    )
    parser.add_argument("--output", required=True, help="The new FILE.udpipe.")
    parser.add_argument(
        "--size", choices=SIZES, default="default", help="Of the treebank: small up to about 5,000 sentences."
    )
    parser.add_argument(
        "--dev", nargs="+", help="Files or folders (dev) that choose the best pass. Default: the treebanks' dev."
    )
    parser.add_argument("--test", nargs="+", help="Files or folders (test) to score on. Default: the treebanks' test.")
    parser.add_argument(
        "--test_fraction", type=fraction, default=0.0, help="Score on this fraction of the training files, their ends."
    )
    parser.add_argument("--licence", help="That of the treebanks. Default: as their READMEs state it.")
    for name in COMPONENTS:
        parser.add_argument(
            f"--{name}_options", nargs="+", metavar="NAME=VALUE", help=f"Options of UDPipe's {name} trainer."
        )
    return parser.parse_args(arguments)


def fraction(text: str) -> float:
    """Reads a number from 0 to below 1."""
    number = float(text)
    if not 0 <= number < 1:
        raise ValueError(text)
    return number


def folders(treebanks: Iterable[str]) -> list[str]:
    """Gives those that are folders, which may hold other files than those to train on."""
    return [treebank for treebank in treebanks if Path(treebank).is_dir()]


def find_files(treebanks: Iterable[str], part: str) -> list[Path]:
    """Lists the files of treebanks: themselves, or those of one part in a folder.

    Raises:
        FileNotFoundError: If one does not exist.
    """
    found: list[Path] = []
    for path in map(Path, treebanks):
        if not path.exists():
            raise FileNotFoundError(f"there is no treebank {str(path)!r}")
        found += sorted(path.glob(f"*-ud-{part}*.conllu")) if path.is_dir() else [path]
    return list(dict.fromkeys(path.resolve() for path in found))


def check_separate(train: Iterable[Path], heldout: Iterable[Path], test: Iterable[Path]) -> None:
    """Refuses files that would be both trained on and measured."""
    trained_on = {file_digest(str(file)) for file in train}
    for file in [*heldout, *test]:
        if file_digest(str(file)) in trained_on:
            raise ValueError(
                f"{file} would be both trained on and measured: --test_fraction 0.1 measures a part of it"
            )


def read_blocks(file: Path) -> list[str]:
    """Reads the sentences of a CoNLL-U file as text, each with a blank line after it, once it is checked."""
    for number, sentence in enumerate(read_conllu(file), start=1):
        if sentence.parse.parents is None:
            raise ValueError(f"{file}: sentence {sentence.sent_id or number!r} has no heads, only _")
    blocks = groupby((line for _, line in read_numbered_lines(file)), key=lambda line: bool(line.strip()))
    return ["\n".join([*block, "", ""]) for filled, block in blocks if filled]


def describe(
    output: Path, files: Sequence[tuple[Path, int]], scores: str, settings: dict, stated_licence: str | None
) -> str:
    """Makes the text that goes with a model: what it was trained on, scores, settings, licence."""
    trained_on = ", ".join(f"{file.name} ({number:,} sentences)" for file, number in files)
    options = "\n".join(f"- {name}: `{';'.join(f'{n}={v}' for n, v in settings[name].items())}`" for name in settings)
    licences = "\n".join(treebank_licences((file for file, _ in files), stated_licence))
    return f"""# {output.name}

A UDPipe 1 model (tokenizer, tagger, parser) that predicts UPOS, heads and relations, trained on {trained_on}
by `syntax-bert train-parser` (ufal.udpipe {version("ufal.udpipe")}) with

{options}

Scores by UDPipe's evaluator, heads and relations with computed tags; from raw text F1:

{scores}

{licences}

The model is derived from these treebanks, and their licence holds for it. Change made: a statistical model was trained
on them; it holds no sentence of them.
"""


def treebank_licences(files: Iterable[Path], stated: str | None) -> Iterator[str]:
    """States the licence of each treebank, as given or as in the README beside its files."""
    for folder in dict.fromkeys(file.resolve().parent for file in files):
        readmes = (path.read_text("utf-8", errors="replace") for path in sorted(folder.glob("README*")))
        found = [match for readme in readmes for match in LICENCE.findall(readme)]
        known = stated or (found[-1] if found else "not stated; find it before you share the model")
        yield f"Licence of {folder.name}: {known}."


def evaluate_parser(arguments: list[str]) -> None:
    """Scores a UDPipe parser on treebanks."""
    parser = ArgumentParser("syntax-bert evaluate-parser", description=evaluate_parser.__doc__)
    parser.add_argument("parser", help="Language code, or a .udpipe file.")
    parser.add_argument("treebanks", nargs="+", help="CoNLL-U files, or folders of UD treebanks (test).")
    parser.add_argument("--parser_beam_size", type=int, default=5, help="Width of the parser's beam; 1 is fastest.")
    options = parser.parse_args(arguments)
    model = model_path(options.parser)
    UDPipeParser(model, options.parser_beam_size)  # checks them
    files = find_files(options.treebanks, "test")
    if not files:
        raise ValueError(f"{options.treebanks} have no file to score on, *-ud-test.conllu: name files themselves")
    texts = ((file.name, "".join(read_blocks(file))) for file in files)
    print(score_table((name, score_udpipe(model, text, options.parser_beam_size)) for name, text in texts))
