"""UDPipe 1 (Straka and Straková 2017, https://aclanthology.org/K17-3009) as the default parser."""

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from .universal_dependencies import Parse, find_surrogate

try:
    from ufal import udpipe
except ImportError:  # a tokenizer that is only given parses works without it
    udpipe = None

__all__ = ["UDPipeParser"]

# UDPipe ends a text at NUL and takes these other white spaces for letters
SPACES = dict.fromkeys([0, 0x0B, 0x0C, *range(0x1C, 0x20), 0x85, 0x2028, 0x2029], " ")
MODELS: dict[str, Any] = {}  # of this process, by the digest of the file: copies of a file are one model


def file_digest(path: str) -> str:
    """Gives the SHA-256 of a file."""
    status = os.stat(path)
    return read_digest(path, (status.st_mtime_ns, status.st_size, status.st_ino))


@cache
def read_digest(path: str, state: tuple[int, ...]) -> str:
    """Reads the SHA-256 of a file in one state, once a process."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def load_model(path: str):
    """Loads a UDPipe model once a process."""
    if udpipe is None:
        raise ImportError('the UDPipe parser needs `pip install "ufal.udpipe>=1.3"`')
    digest = file_digest(path)
    if digest not in MODELS:
        model = udpipe.Model.load(path)
        if model is None:
            raise ValueError(f"{path!r} is not a UDPipe model, or it is damaged")
        MODELS[digest] = model
    return MODELS[digest]


class UDPipeParser:
    """Parses texts with one UDPipe model, or with one for each language.

    Models are loaded at first use, once a process, so that the parser pickles by path (and by the content of its
    files, for the caches of `datasets`) and works in any worker.

    Args:
        models: Path of a `.udpipe` file, or a mapping of language codes to paths.
        beam_size: Width of the parser's beam; 1 is about four times faster than the default 5, and a little worse.

    Raises:
        FileNotFoundError: If a model file does not exist.
        ValueError: If a language code is none, the beam size no positive integer, or a file a treebank.
    """

    def __init__(
        self, models: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]], beam_size: int = 5
    ) -> None:
        if type(beam_size) is not int or not 1 <= beam_size <= 1000:  # UDPipe aborts the process on a negative one
            raise ValueError(f"beam_size must be an integer from 1 to 1000, got {beam_size!r}")
        by_language = models if isinstance(models, Mapping) else {None: models}
        self.paths = {language: os.path.abspath(path) for language, path in by_language.items()}
        self.beam_size = beam_size
        for language, path in self.paths.items():
            if isinstance(models, Mapping) and not re.fullmatch(r"[\w-]+", str(language or "")):
                raise ValueError(f"{language!r} is no language code: letters, digits, - and _ only")
            if path.endswith(".conllu"):
                raise ValueError(f"{path!r} holds trees: give a syntax_bert.parsers.conllu_parser.ConlluParser of it")
            if not os.path.isfile(path):
                raise FileNotFoundError(f"there is no parser file {path!r}")

    def __getstate__(self) -> dict:
        digests = [file_digest(path) for path in self.paths.values()]
        return {"paths": self.paths, "beam_size": self.beam_size, "digests": digests}

    def __repr__(self) -> str:
        return f"UDPipeParser({self.paths!r}, beam_size={self.beam_size})"

    def parse(
        self, texts: Sequence[str], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Splits raw texts into sentences and words, tags and parses them.

        Args:
            texts: Raw texts; each may hold several sentences.
            languages: Language code of each text, when the parser has a model for each language.
            dependencies: Whether to parse; without, texts are only tagged, in about half the time.

        Raises:
            ValueError: If a text has a lone surrogate or a language has no model.
        """
        return [
            self._parse_text(self._model(language), clean(text, index), text, dependencies)
            for index, (text, language) in enumerate(zip(texts, one_each(languages, texts), strict=True))
        ]

    def parse_words(
        self,
        words: Sequence[Sequence[str]],
        languages: Sequence[str | None] | None = None,
        dependencies: bool = True,
    ) -> list[Parse]:
        """Tags and parses texts given as words, each one sentence, and keeps exactly these words.

        Args:
            words: The words of each text; positions in the parse are those in the words joined by one space.
            languages: As in `parse`.
            dependencies: As in `parse`.

        Raises:
            ValueError: As in `parse`.
        """
        return [
            self._parse_sentence(self._model(language), text_words, index, dependencies)
            for index, (text_words, language) in enumerate(zip(words, one_each(languages, words), strict=True))
        ]

    def _model(self, language: str | None):
        if language is None and len(self.paths) == 1:
            (path,) = self.paths.values()
        elif language in self.paths:
            path = self.paths[language]
        else:
            known = sorted(str(code) for code in self.paths if code is not None)
            if language is None:
                raise ValueError(f"there are parsers for {known}: name the language of each text with languages=")
            raise ValueError(
                f"no parser for language {language!r}; "
                + (f"there are parsers for {known}" if known else "give the parser as {language: path} to name one")
            )
        return load_model(path)

    def _analyse(self, model, sentence, dependencies: bool) -> None:
        if not model.tag(sentence, model.DEFAULT):
            raise ValueError(f"{self!r} has no tagger")
        if dependencies and not model.parse(sentence, f"beam_search={self.beam_size}"):
            raise ValueError(f"{self!r} has no parser, only a tagger")

    def _parse_text(self, model, cleaned: str, text: str, dependencies: bool) -> Parse:
        tokenizer = model.newTokenizer(model.TOKENIZER_RANGES)
        if tokenizer is None:
            raise ValueError(f"{self!r} has no tokenizer: give it words")
        tokenizer.setText(cleaned)
        starts: list[int] = []
        ends: list[int] = []
        words: list[tuple[str, int, str]] = []
        sentence_ids: list[int] = []
        sentence, error = udpipe.Sentence(), udpipe.ProcessingError()
        sentence_id = 0
        while tokenizer.nextSentence(sentence, error):
            self._analyse(model, sentence, dependencies)
            base = len(words)
            words += read_words(sentence, base)
            # Words of a multiword token have no range of their own, only the token has.
            multiword = {
                word: token for token in sentence.multiwordTokens for word in range(token.idFirst, token.idLast + 1)
            }
            for word in list(sentence.words)[1:]:
                start, end = token_range(multiword.get(word.id, word))
                starts.append(start)
                ends.append(end)
            sentence_ids += [sentence_id] * (len(words) - base)
            sentence_id += 1
        if error.occurred():
            raise ValueError(f"UDPipe cannot read {text[:80]!r}: {error.message}")
        return make_parse(text, starts, ends, words, sentence_ids, dependencies)

    def _parse_sentence(self, model, words: Sequence[str], index: int, dependencies: bool) -> Parse:
        sentence = udpipe.Sentence()
        starts: list[int] = []
        position = 0
        for word in words:
            sentence.addWord(clean(word, index))
            starts.append(position)
            position += len(word) + 1
        if words:
            self._analyse(model, sentence, dependencies)
        ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
        return make_parse(" ".join(words), starts, ends, read_words(sentence, 0), [0] * len(starts), dependencies)


def token_range(token) -> tuple[int, int]:
    """Reads the characters of a UDPipe token; without the check, a token that has none gives garbage."""
    if not token.getTokenRange():
        raise ValueError(f"the UDPipe model gives no characters for {token.form!r}: give it words instead of text")
    return token.getTokenRangeStart(), token.getTokenRangeEnd()


def one_each(languages: Sequence[str | None] | None, texts: Sequence) -> Sequence[str | None]:
    """Gives `None` for each text when no languages are given."""
    return [None] * len(texts) if languages is None else languages


def clean(text: str, index: int) -> str:
    """Puts a plain space where UDPipe would not see white space, and refuses lone surrogates."""
    surrogate = find_surrogate(text)
    if surrogate is not None:
        raise ValueError(f"text {index} has a lone surrogate, {text[surrogate]!r}, at character {surrogate}")
    return text.translate(SPACES)


def read_words(sentence, base: int) -> list[tuple[str, int, str]]:
    """Copies tag, parent and relation of each word: a UDPipe word dies with its sentence."""
    return [
        (word.upostag, base + word.head - 1 if word.head > 0 else -1, word.deprel) for word in list(sentence.words)[1:]
    ]


def make_parse(text, starts, ends, words, sentence_ids, dependencies) -> Parse:
    """Builds the Parse of a text from its columns."""
    upos, parents, deprels = (list(column) for column in zip(*words, strict=True)) if words else ([], [], [])
    if not dependencies:
        return Parse(text, starts, ends, upos, sentence_ids)
    return Parse(text, starts, ends, upos, sentence_ids, parents, deprels)
