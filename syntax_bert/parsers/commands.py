"""`syntax-bert parsers`."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

from ufal import udpipe

from syntax_bert.tokenization.parser_files import licence
from syntax_bert.tokenization.udpipe_models import file_digest, load_model

from .catalogue import EMBEDDED, parser_path
from .published_models import LICENCE, PublishedModel, digest_file, download_model, find_model, published_models

__all__ = ["parsers"]


def parsers(arguments: list[str]) -> None:
    """Lists, downloads or describes UDPipe models."""
    parser = ArgumentParser("syntax-bert parsers", description="Lists, downloads and describes UDPipe models.")
    commands = parser.add_subparsers(dest="command", required=True)
    listed = commands.add_parser("list", help="All models; a language code names the first of its language.")
    listed.add_argument("--language", help="Only those of this language code.")
    downloaded = commands.add_parser("download", help="Downloads models, and prints their paths and SHA-256.")
    downloaded.add_argument("names", nargs="+", metavar="NAME", help="A language code, or a model as listed.")
    downloaded.add_argument("--force", action="store_true", help="Download them again.")
    downloaded.add_argument("--accept_changed", action="store_true", help="Take files that are not those recorded.")
    described = commands.add_parser("info", help="What is known of a model; nothing is downloaded.")
    described.add_argument("name", metavar="NAME|FILE", help="A language code, a model as listed, or a .udpipe file.")
    parsed = parser.parse_args(arguments)
    if parsed.command == "list":
        lines = list_models(parsed.language)
    elif parsed.command == "download":
        lines = download_models(parsed.names, parsed.force, parsed.accept_changed)
    else:
        lines = describe(parsed.name)
    for line in lines:
        print(line)


def list_models(language_code: str | None) -> Iterator[str]:
    """Writes a table of the models of a language, or of all.

    Raises:
        ValueError: If there is none of this language.
    """
    if language_code is not None:
        language_code = find_model(language_code).language_code
    rows = [(code, "English", code, "CC BY-SA 4.0", "embedded") for code in EMBEDDED]
    rows += [
        (model.language_code, model.language, model.name, LICENCE, "downloaded" if model.path.exists() else "")
        for model in published_models()
    ]
    yield from (
        "{:<4} {:<20} {:<27} {:<16} {}".format(*row).rstrip()
        for row in sorted(rows, key=lambda row: row[1])
        if language_code in (None, row[0])
    )


def download_models(names: list[str], force: bool, accept_changed: bool) -> Iterator[str]:
    """Downloads models, and writes where they are and their SHA-256.

    Raises:
        ValueError: As `parser_path` does.
        OSError: As `parser_path` does.
    """
    for name in names:
        path = parser_path(name) if name in EMBEDDED else download_model(find_model(name), force, accept_changed)
        yield f"{path} {file_digest(path)}"


def describe(name: str) -> Iterator[str]:
    """Writes what is known of a model, or of a file.

    Raises:
        ValueError: If it is neither, or no UDPipe model.
    """
    model: PublishedModel | None = None
    if name.endswith(".udpipe") or Path(name).is_file():
        path = Path(name)
    elif name in EMBEDDED:
        path = Path(parser_path(name))
    else:
        model = find_model(name)
        path = model.path
        yield f"treebank: {model.language}-{model.treebank}"
        yield f"source: {model.url}"
        yield f"licence: {LICENCE}"
    if not path.is_file():
        if model is None:
            raise FileNotFoundError(f"there is no file {name!r}")
        yield f"path: {path} (not downloaded)"
        return
    digest = file_digest(str(path))
    yield f"path: {path}"
    yield f"size: {path.stat().st_size}"
    yield f"sha256: {digest}"
    if digest_file(path).exists() and (recorded := digest_file(path).read_text("utf-8").strip()) != digest:
        yield f"recorded sha256: {recorded} (the file has changed)"
    yield f"licence file: {licence(path) if licence(path).exists() else 'none'}"
    yield f"has: {', '.join(components(path)) or 'nothing'}"


def components(path: Path) -> list[str]:
    """Tells what a model has of tokenizer, tagger and parser.

    Raises:
        ValueError: If it is no UDPipe model.
    """
    model = load_model(str(path))
    sentence = udpipe.Sentence()
    sentence.addWord("a")
    has = {
        "tokenizer": model.newTokenizer(model.DEFAULT) is not None,
        "tagger": model.tag(sentence, model.DEFAULT),
        "parser": model.parse(sentence, model.DEFAULT),
    }
    return [name for name, is_there in has.items() if is_there]
