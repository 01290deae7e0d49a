"""UDPipe 1 (Straka and Straková 2017, https://aclanthology.org/K17-3009) as the default parser."""

import os
import re
from collections.abc import Mapping, Sequence

from .udpipe_models import file_digest, load_model, udpipe
from .universal_dependencies import Parse, refuse_surrogates

__all__ = ["UDPipeParser"]

# UDPipe ends a text at NUL and takes these other white spaces for letters
SPACES = dict.fromkeys([0, 0x0B, 0x0C, *range(0x1C, 0x20), 0x85, 0x2028, 0x2029], " ")


class UDPipeParser:
    """Parses texts with one UDPipe model, or with one for each language.

    Models are loaded at first use, once a process, so that the parser pickles by path (and by the content of its
    files, for the caches of `datasets`) and works in any worker.

    Args:
        models: Path of a `.udpipe` file, or a mapping of language codes to paths.
        beam_size: Width of the parser's beam; 1 is about four times faster than the default 5, and a little worse.

    Raises:
        FileNotFoundError: If a model file does not exist.
        ValueError: If there is no model, a language code is none, the beam size is no positive integer, or a file is a
            treebank.
    """

    def __init__(
        self, models: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]], beam_size: int = 5
    ) -> None:
        if type(beam_size) is not int or not 1 <= beam_size <= 1000:  # UDPipe aborts the process on a negative one
            raise ValueError(f"beam_size must be an integer from 1 to 1000, got {beam_size!r}")
        by_language = models if isinstance(models, Mapping) else {None: models}
        if not by_language:
            raise ValueError(f"a parser needs at least one model, got {models!r}")
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
            self._parse_text(self._model(language), text, index, dependencies)
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
        return load_model(self._path(language))

    def _path(self, language: str | None) -> str:
        if language is None and len(self.paths) == 1:
            (path,) = self.paths.values()
            return path
        if language in self.paths:
            return self.paths[language]
        known = sorted(str(code) for code in self.paths if code is not None)
        remedy = f"there are parsers for {known}" if known else "give the parser as {language: path} to name one"
        if language is None:
            raise ValueError(
                f"{remedy}: name the language of each text with languages=, or load the tokenizer with language="
            )
        without = "parses=None, or a tokenizer with columns=(), reads a text without syntax"
        raise ValueError(f"no parser for language {language!r}; {remedy}. {without}")

    def _analyse(self, model, sentence, dependencies: bool) -> None:
        if not model.tag(sentence, model.DEFAULT):
            raise ValueError(f"{self!r} has no tagger")
        if dependencies and not model.parse(sentence, f"beam_search={self.beam_size}"):
            raise ValueError(f"{self!r} has no parser, only a tagger")

    def _parse_text(self, model, text: str, index: int, dependencies: bool) -> Parse:
        cleaned = clean(text, index)
        tokenizer = model.newTokenizer(model.TOKENIZER_RANGES)
        if tokenizer is None:
            raise ValueError(f"{self!r} has no tokenizer: give it words")
        tokenizer.setText(cleaned)
        rows: list[tuple] = []
        sentence, error = udpipe.Sentence(), udpipe.ProcessingError()
        sentence_id = 0
        while tokenizer.nextSentence(sentence, error):
            self._analyse(model, sentence, dependencies)
            rows += read_words(sentence, word_spans(sentence), sentence_id, len(rows))
            sentence_id += 1
        if error.occurred():
            raise ValueError(f"UDPipe cannot read {text[:80]!r}: {error.message}")
        return make_parse(text, rows, dependencies)

    def _parse_sentence(self, model, words: Sequence[str], index: int, dependencies: bool) -> Parse:
        sentence = udpipe.Sentence()
        spans: list[tuple[int, int]] = []
        start = 0
        for word in words:
            sentence.addWord(clean(word, index))
            spans.append((start, start + len(word)))
            start += len(word) + 1
        if words:
            self._analyse(model, sentence, dependencies)
        return make_parse(" ".join(words), read_words(sentence, spans, 0, 0), dependencies)


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
    refuse_surrogates(text, f"text {index}")
    return text.translate(SPACES)


def word_spans(sentence) -> list[tuple[int, int]]:
    """Reads the characters of each word; those of a multiword token have none of their own, only the token has."""
    multiword = {word: token for token in sentence.multiwordTokens for word in range(token.idFirst, token.idLast + 1)}
    return [token_range(multiword.get(word.id, word)) for word in list(sentence.words)[1:]]


def read_words(sentence, spans: Sequence[tuple[int, int]], sentence_id: int, base: int) -> list[tuple]:
    """Copies each word as a row in the order of Parse's fields: a UDPipe word dies with its sentence."""
    return [
        (start, end, word.upostag, sentence_id, base + word.head - 1 if word.head > 0 else -1, word.deprel)
        for (start, end), word in zip(spans, list(sentence.words)[1:], strict=True)
    ]


def make_parse(text: str, rows: Sequence[tuple], dependencies: bool) -> Parse:
    """Builds the Parse of a text from its words; without dependencies their heads and relations are left out."""
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(6)]
    return Parse(text, *(columns if dependencies else columns[:4]))
