"""Stanza (Qi et al. 2020, https://aclanthology.org/2020.acl-demos.14) as a parser."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from syntax_bert.tokenization.udpipe_parser import clean, make_parse
from syntax_bert.tokenization.universal_dependencies import Parse

from .back_ends import check_languages, import_back_end, join_words, tree_digest

__all__ = ["StanzaParser"]

PROCESSORS = ("tokenize", "mwt", "pos", "lemma", "depparse")  # depparse reads lemmas
BATCH = 256  # texts that go through the pipeline together
LONGEST_SENTENCE = 1000  # words; the parser's memory grows with their square
LONG_RUN = re.compile(r"[!-~]{1000}(?=[!-~])")  # Stanza's search for addresses takes time quadratic in such runs


class StanzaParser:
    """Parses texts of one language with a Stanza pipeline that is installed; it downloads nothing.

    The pipeline is loaded at first use, once a process; the parser pickles by the names and the content of its models.

    Args:
        language: Its code in Stanza, such as "de".
        model_dir: Folder of the models; default is Stanza's own.
        package: The models of a treebank, such as "gsd"; default is what Stanza takes.
        device: Where it runs, such as "cpu"; default is a GPU if there is one.

    Raises:
        ImportError: If Stanza is not installed.
        FileNotFoundError: If there are no models of the language.
        ValueError: If there is no such package.
    """

    def __init__(
        self,
        language: str,
        model_dir: str | os.PathLike[str] | None = None,
        package: str = "default",
        device: str | None = None,
    ) -> None:
        self.language, self.model_dir = language, os.path.abspath(model_dir or default_model_dir())
        self.package, self.device = package, device
        packages = find_models(language, self.model_dir)[1]
        if package not in packages:
            raise ValueError(f"Stanza has no package {package!r} of {language!r}, only {sorted(packages)}")

    def __getstate__(self) -> dict:
        folder, packages = find_models(self.language, self.model_dir)
        options = {name: getattr(self, name) for name in ("language", "model_dir", "package", "device")}
        return options | {"packages": packages, "digest": tree_digest(folder)}

    def __repr__(self) -> str:
        return f"StanzaParser({self.language!r}, {self.model_dir!r}, package={self.package!r})"

    def parse(
        self, texts: Sequence[str], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Splits raw texts into sentences and words, tags and parses them; blank lines end sentences.

        Raises:
            ValueError: If a text has a lone surrogate or a sentence of over 1,000 words to be parsed, Stanza cannot
                align it, or a language is another one.
        """
        check_languages(self.language, languages, texts)
        pieces = [
            (index, start, piece)
            for index, text in enumerate(texts)
            for start, piece in cut_long_runs(clean(text, index))
        ]
        rows: list[list[tuple]] = [[] for _ in texts]
        for batch in (pieces[first : first + BATCH] for first in range(0, len(pieces), BATCH)):
            documents = self._tokenize(batch)
            self._analyse(documents, [index for index, *_ in batch], dependencies)
            for (index, start, _), document in zip(batch, documents, strict=True):
                rows[index] += read_words(document, rows[index], texts[index], index, start)
        return [aligned(index, text, rows[index], dependencies) for index, text in enumerate(texts)]

    def parse_words(
        self, words: Sequence[Sequence[str]], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Tags and parses texts given as words, each one sentence, and keeps exactly these words.

        Raises:
            ValueError: As in `parse`.
        """
        check_languages(self.language, languages, words)
        return [
            parse
            for first in range(0, len(words), BATCH)
            for parse in self._parse_sentences(words[first : first + BATCH], first, dependencies)
        ]

    def _parse_sentences(self, words: Sequence[Sequence[str]], first: int, dependencies: bool) -> Iterator[Parse]:
        checked = [join_words(given, index) for index, given in enumerate(words, start=first)]
        documents = [make_document([clean(word, 0) for word in given]) for given in words]
        self._analyse(documents, range(first, first + len(words)), dependencies)
        for (text, starts, ends), document in zip(checked, documents, strict=True):
            analysed = (word for sentence in document.sentences for word in sentence.words)
            rows = [
                (start, end, *read_tags(word, 0, 0)) for start, end, word in zip(starts, ends, analysed, strict=True)
            ]
            yield make_parse(text, rows, dependencies)

    def _pipeline(self):
        return load_pipeline(self.language, self.model_dir, self.package, self.device)

    def _tokenize(self, pieces: Sequence[tuple[int, int, str]]) -> list:
        pipeline = self._pipeline()
        if "tokenize" not in pipeline.processors:
            raise ValueError(f"{self!r} has no tokenizer: give it words")
        try:
            return pipeline.process([make_document(text=piece) for *_, piece in pieces], processors="tokenize,mwt")
        except ValueError:
            for index, _, piece in pieces:  # the one that it fails on
                try:
                    pipeline.process([make_document(text=piece)], processors="tokenize,mwt")
                except ValueError as error:
                    raise ValueError(f"Stanza cannot align text {index}, {piece[:80]!r}: {error}") from error
            raise

    def _analyse(self, documents: Sequence, indices: Sequence[int], dependencies: bool) -> None:
        pipeline = self._pipeline()
        for processor in ("pos", "depparse") if dependencies else ("pos",):
            if processor not in pipeline.processors:
                raise ValueError(f"{self!r} has no processor {processor!r}, only {sorted(pipeline.processors)}")
        lengths = [max((len(sentence.words) for sentence in document.sentences), default=0) for document in documents]
        for index, length in zip(indices, lengths, strict=True):
            if dependencies and length > LONGEST_SENTENCE:
                raise ValueError(
                    f"text {index} has a sentence of {length} words, Stanza parses up to {LONGEST_SENTENCE}: put "
                    "blank lines where it can be split, or pass dependencies=False"
                )
        if any(lengths):  # without a word, Stanza fails
            pipeline.process(
                [document for document, length in zip(documents, lengths, strict=True) if length],
                processors="pos,lemma,depparse" if dependencies else "pos",
            )


def default_model_dir() -> str:
    """Gives the folder where Stanza looks for models."""
    return os.path.abspath(import_back_end("stanza").resources.common.DEFAULT_MODEL_DIR)


def find_models(language: str, model_dir: str) -> tuple[Path, dict[str, Any]]:
    """Finds the folder of a language's models, and what Stanza's list of models says of its packages."""
    where = "" if model_dir == default_model_dir() else f", model_dir={model_dir!r}"
    remedy = f"stanza.download({language!r}{where}) fetches them"
    try:
        resources = json.loads(Path(model_dir, "resources.json").read_text("utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"there are no Stanza models in {model_dir!r}; {remedy}") from None
    known = {code: entry for code, entry in resources.items() if isinstance(entry, dict)}
    code = known.get(language, {}).get("alias", language)
    folder = Path(model_dir, code)
    if code not in known or not folder.is_dir():
        raise FileNotFoundError(f"there are no Stanza models of {language!r} in {model_dir!r}; {remedy}")
    return folder, known[code].get("packages", {})


@cache
def load_pipeline(language: str, model_dir: str, package: str, device: str | None):
    """Loads a Stanza pipeline, once a process.

    Raises:
        ValueError: If models of the package are missing or damaged, or lack one another.
    """
    stanza = import_back_end("stanza")
    models = find_models(language, model_dir)[1][package]
    try:
        return stanza.Pipeline(
            language,
            dir=model_dir,
            processors={name: models[name] for name in PROCESSORS if name in models},
            package=None,
            download_method=None,
            device=device,
            verbose=False,
        )
    except (OSError, ValueError, stanza.pipeline.core.PipelineRequirementsException) as error:
        raise ValueError(
            f"Stanza cannot load the package {package!r} of {language!r} from {model_dir!r}; "
            f"stanza.download({language!r}, package={package!r}) fetches its models. It says: {error}"
        ) from error


def cut_long_runs(text: str) -> Iterator[tuple[int, str]]:
    """Cuts a text inside runs of thousands of characters without a space; gives pieces and where they start."""
    bounds = [0, *(match.end() for match in LONG_RUN.finditer(text)), len(text)]
    for start, end in pairwise(bounds):
        yield start, text[start:end]


def make_document(words: Sequence[str] = (), text: str | None = None):
    """Makes a Stanza document, of one sentence if words are given; blank ones become `_`: it takes no empty ones."""
    document = import_back_end("stanza").Document
    sentence = [{"id": (number,), "text": word if word.strip() else "_"} for number, word in enumerate(words, start=1)]
    return document([sentence] if sentence else [], text=text)


def read_tags(word, sentence_id: int, base: int) -> tuple:
    """Copies the tags of a Stanza word in the order of Parse's fields."""
    return word.upos, sentence_id, base + word.head - 1 if word.head else -1, word.deprel


def read_words(document, before: Sequence[tuple], text: str, index: int, shift: int) -> list[tuple]:
    """Copies each word of a piece of a text as a row, with the characters of its token.

    Args:
        document: The piece, analysed.
        before: The rows of the pieces before it.
        text: The whole text.
        index: Its number.
        shift: Where the piece starts in it.
    """
    rows: list[tuple] = []
    for sentence_id, sentence in enumerate(document.sentences, start=before[-1][3] + 1 if before else 0):
        base = len(before) + len(rows)
        for token in sentence.tokens:
            if token.start_char is None or token.end_char is None:
                raise ValueError(
                    f"Stanza gives no characters for {token.text!r} of text {index}: give it words instead"
                )
            start, end = shift + token.start_char, shift + token.end_char
            end = max(start, start + len(text[start:end].rstrip()))
            rows += [(start, end, *read_tags(word, sentence_id, base)) for word in token.words]
    return rows


def aligned(index: int, text: str, rows: Sequence[tuple], dependencies: bool) -> Parse:
    """Makes the Parse of a text, and names it if its words are not in order or no trees."""
    try:
        return make_parse(text, rows, dependencies)
    except ValueError as error:
        raise ValueError(f"Stanza cannot align text {index}, {text[:80]!r}: {error}") from error
