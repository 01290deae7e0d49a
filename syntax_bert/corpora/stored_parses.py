"""Parses looked up in the folders that `syntax-bert parse` writes."""

import glob
import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
from datasets import Dataset
from transformers.utils import logging

from syntax_bert.digests import short_digest
from syntax_bert.tokenization.parser_files import saved_parser
from syntax_bert.tokenization.udpipe_parser import UDPipeParser
from syntax_bert.tokenization.universal_dependencies import Parse

from .corpus_folder import MAX_COLUMNS, CorpusFolder, text_hash
from .parse_columns import from_record, parse_column

__all__ = ["StoredParses", "StoredUDPipeParses", "load_stored_parses"]

logger = logging.get_logger(__name__)

WARNED: list[str] = []  # of the first text that was not found
Method = Literal["parse", "parse_words"]


class ParsedCorpus:
    """The rows of a parsed corpus, mapped into memory, found by the hashes of their texts."""

    def __init__(self, folder: str) -> None:
        corpus = CorpusFolder(folder)
        settings = corpus.settings()
        self.columns, self.language = settings["text_columns"], settings.get("language")
        self.has_languages = self.language is not None or settings.get("language_column") is not None
        self.hashes, self.places = (np.load(f, mmap_mode="r") for f in (corpus.hashes_file, corpus.places_file))
        self.rows = Dataset.from_parquet([glob.escape(str(shard)) for shard in corpus.shards()])

    def find(self, texts: Sequence[Any], languages: Sequence[str | None], dependencies: bool) -> list[Parse | None]:
        """Gives the parse of each text, or list of words, that is there in its language."""
        parses: list[Parse | None] = [None] * len(texts)
        if not len(self.hashes):
            return parses
        codes = [language or self.language if self.has_languages else None for language in languages]
        hashes = np.array([text_hash(text, code) for text, code in zip(texts, codes, strict=True)], np.uint64)
        positions = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        hits = np.flatnonzero(self.hashes[positions] == hashes)
        places = self.places[positions[hits]]
        rows = self.rows[(places // MAX_COLUMNS).tolist()]
        for index, (hit, column) in enumerate(zip(hits.tolist(), (places % MAX_COLUMNS).tolist(), strict=True)):
            name, text = self.columns[column], texts[hit]
            if rows[name][index] == (text if isinstance(text, str) else list(text)):
                joined = text if isinstance(text, str) else " ".join(text)
                parses[hit] = from_record(joined, rows[parse_column(name)][index], dependencies)
        return parses


@cache
def open_corpus(folder: str, digest: str) -> ParsedCorpus:
    """Opens a corpus in one state, once a process."""
    return ParsedCorpus(folder)


class StoredParses:
    """Finds texts in parsed corpora; it is a parser for everything that asks one, and pickles by folder and content.

    Args:
        folders: Folder of a corpus by the language code of its texts; `None` for texts of any language.

    Raises:
        ValueError: If a folder holds no parsed corpus, or one that is not complete.
    """

    def __init__(self, folders: Mapping[Any, str]) -> None:
        self.folders = {language: os.path.abspath(folder) for language, folder in folders.items()}
        for folder in self.folders.values():
            read_complete(folder)
        self.paths = {language: str(CorpusFolder(folder).settings_file) for language, folder in self.folders.items()}

    def __getstate__(self) -> dict[str, Any]:
        digests = [corpus_digest(folder) for folder in self.folders.values()]
        return {"folders": self.folders, "paths": self.paths, "corpora": digests}

    def parse(
        self, texts: Sequence[str], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Looks up raw texts.

        Raises:
            ValueError: If texts are not there, or have no trees there and `dependencies` are wanted.
        """
        return self._look_up("parse", texts, languages, dependencies)

    def parse_words(
        self, words: Sequence[Sequence[str]], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Looks up texts that were parsed as lists of words.

        Raises:
            ValueError: As in `parse`.
        """
        return self._look_up("parse_words", words, languages, dependencies)

    def _look_up(
        self, method: Method, texts: Sequence[Any], languages: Sequence[str | None] | None, dependencies: bool
    ) -> list[Parse]:
        codes = [None] * len(texts) if languages is None else list(languages)
        parses: list[Parse | None] = [None] * len(texts)
        for own, folder in self.folders.items():
            rows = [row for row, code in enumerate(codes) if own is None or code in (own, None)]
            asked = [codes[row] or own for row in rows]
            corpus = open_corpus(folder, corpus_digest(folder))
            for row, parse in zip(rows, corpus.find([texts[row] for row in rows], asked, dependencies), strict=True):
                parses[row] = parse if parses[row] is None else parses[row]
        missing = [row for row, parse in enumerate(parses) if parse is None]
        if missing:
            own_texts, own_codes = [texts[row] for row in missing], [codes[row] for row in missing]
            made = self._parse_missing(method, own_texts, own_codes, dependencies)
            for row, parse in zip(missing, made, strict=True):
                parses[row] = parse
        return [parse for parse in parses if parse is not None]

    def _parse_missing(
        self, method: Method, texts: Sequence[Any], languages: Sequence[str | None], dependencies: bool
    ) -> list[Parse]:
        first = texts[0] if isinstance(texts[0], str) else " ".join(texts[0])
        raise ValueError(
            f"{len(texts)} texts are not in {sorted(self.folders.values())}, the first of them {first[:80]!r}: "
            "add them to the input of syntax-bert parse and run it again"
        )


class StoredUDPipeParses(StoredParses, UDPipeParser):
    """Finds texts in corpora that UDPipe parsed, and parses others with the same models, which a tokenizer saves.

    Args:
        folders: As in `StoredParses`.
        models: As in `UDPipeParser`; of each corpus its own, and of further languages.
        beam_size: As in `UDPipeParser`; that of the corpora.
    """

    def __init__(self, folders: Mapping[Any, str], models: Any, beam_size: int) -> None:
        StoredParses.__init__(self, folders)
        UDPipeParser.__init__(self, models, beam_size)

    def __getstate__(self) -> dict[str, Any]:
        return {**StoredParses.__getstate__(self), **UDPipeParser.__getstate__(self)}

    def _look_up(
        self, method: Method, texts: Sequence[Any], languages: Sequence[str | None] | None, dependencies: bool
    ) -> list[Parse]:
        for code in {None} if languages is None else {*languages}:
            self._path(code)  # refuses languages that it has no model of
        return super()._look_up(method, texts, languages, dependencies)

    def _parse_missing(
        self, method: Method, texts: Sequence[Any], languages: Sequence[str | None], dependencies: bool
    ) -> list[Parse]:
        first = texts[0] if isinstance(texts[0], str) else " ".join(texts[0])
        if not WARNED:
            WARNED.append(first)
            where = f"{sorted(self.folders.values())}, as {'texts' if method == 'parse' else 'lists of words'}"
            logger.warning(
                f"texts are not in {where}, the first of them {first[:80]!r}: what is missing is parsed now"
            )
        return getattr(UDPipeParser, method)(self, texts, languages, dependencies)


def load_stored_parses(
    folders: str | os.PathLike[str] | Mapping[Any, str], others: UDPipeParser | None = None
) -> StoredParses:
    """Opens parsed corpora, with the parsers that made them.

    Args:
        folders: A folder, or a mapping of language codes to folders.
        others: The parser of further languages.

    Raises:
        ValueError: If a folder holds no complete corpus, or they were made by different kinds of parsers, with
            different beams, or are of languages that `others` parses.
    """
    folders = folders if isinstance(folders, Mapping) else {None: os.fspath(folders)}
    names = sorted(folders.values())
    made_by = {language: read_complete(folder)["syntax"] for language, folder in folders.items()}
    if not all("parser" in syntax for syntax in made_by.values()):
        if others is not None or any("parser" in syntax for syntax in made_by.values()):
            raise ValueError(f"the corpora {names} were not all parsed by UDPipe")
        return StoredParses(folders)
    paths: dict[str | None, str] = {} if others is None else dict(others.paths)
    if twice := paths.keys() & folders.keys():
        raise ValueError(f"there are a parser and parses for {sorted(map(str, twice))}: the parses bring their parser")
    beams = {syntax["beam_size"] for syntax in made_by.values()} | ({others.beam_size} if others else set())
    if len(beams) > 1:
        raise ValueError(f"the corpora {names} and the parsers have different beams: {sorted(beams)}")
    for language, syntax in made_by.items():
        saved = saved_parser(syntax, folders[language], {})
        own = saved if isinstance(saved, Mapping) else {language: saved}
        if language is not None and language not in own:
            raise ValueError(f"{folders[language]} was parsed by a parser of {sorted(own)}, not of {language!r}")
        paths |= own if language is None else {language: own[language]}
    return StoredUDPipeParses(folders, paths.get(None, paths), beams.pop())


def read_complete(folder: str) -> dict[str, Any]:
    """Reads how a corpus was made.

    Raises:
        ValueError: If it is none, not complete, damaged, or CoNLL-U.
    """
    corpus = CorpusFolder(folder)
    settings = corpus.settings()
    if not settings:
        raise ValueError(f"{folder} holds no parsed corpus: it is made by syntax-bert parse --output {folder}")
    if settings["format"] != "parquet":
        raise ValueError(f"{folder} holds CoNLL-U: name its files as parsers, or parse into Parquet")
    if "complete" not in settings:
        raise ValueError(f"{folder} is not complete: run syntax-bert parse again as before")
    if "::" in os.path.abspath(folder):
        raise ValueError(f"the name of {folder} has '::', which datasets takes for a chain of addresses: rename it")
    try:
        there = corpus.count()
        sizes = {len(np.load(file, mmap_mode="r")) for file in (corpus.hashes_file, corpus.places_file)}
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{folder} is damaged: {error}; run syntax-bert parse again as before") from error
    if len(sizes) > 1 or any(settings["complete"].get(name) != number for name, number in there.items()):
        raise ValueError(
            f"{folder} is damaged: it holds {there}, not {settings['complete']}; run syntax-bert parse again"
        )
    return settings


def corpus_digest(folder: str) -> str:
    """Gives a digest of a corpus: of how it was made, with that of its texts."""
    return short_digest(CorpusFolder(folder).settings_file)
