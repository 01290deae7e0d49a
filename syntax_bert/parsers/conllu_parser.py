"""Parses looked up in CoNLL-U files: gold trees, or those of a parser that ran elsewhere."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import Any

from syntax_bert.data.conllu import read_conllu, surface_tokens
from syntax_bert.digests import file_digest
from syntax_bert.tokenization.universal_dependencies import Parse

__all__ = ["ConlluParser"]


@cache
def load_parses(paths: tuple[str, ...], modified_ns: tuple[int, ...], repair_roots: bool) -> tuple[list, dict, dict]:
    """Reads files once a process: Parses, `None` after each file, and indices by first characters and by words."""
    parses: list[Any] = []
    by_start: dict[str, list[int]] = {}
    by_forms: dict[tuple[str, ...], tuple[Parse, Sequence[int]]] = {}
    by_tokens: dict[tuple[str, ...], tuple[Parse, Sequence[int]]] = {}
    for path in paths:
        for sentence in read_conllu(path, repair_roots):
            parse, forms, tokens = sentence.parse, sentence.forms, surface_tokens(sentence.parse)
            surface = tuple(forms[words[0]] if len(words) == 1 else parse.form(words[0]) for words in tokens)
            by_start.setdefault(parse.text.lstrip()[:1], []).append(len(parses))
            by_forms.setdefault(tuple(forms), (parse, range(len(parse))))
            by_tokens.setdefault(surface, (parse, [token for token, words in enumerate(tokens) for _ in words]))
            parses.append(parse)
        parses.append(None)
    for candidates in by_start.values():
        candidates.sort(key=lambda index: -len(parses[index].text.strip()))  # one before several
    return parses, by_start, by_tokens | by_forms


class ConlluParser:
    """Finds texts in CoNLL-U files, each one sentence, or several that follow each other in a file.

    Files are read at first use, once a process; the parser pickles by path and content, as `UDPipeParser` does.
    Of equal sentences the first one counts. Languages are not used.

    Args:
        paths: A CoNLL-U file, or several.
        repair_roots: As in `read_conllu`.

    Raises:
        FileNotFoundError: If a file does not exist.
    """

    def __init__(self, paths: str | os.PathLike | Sequence[str | os.PathLike], repair_roots: bool = False) -> None:
        several = [paths] if isinstance(paths, str | os.PathLike) else paths
        self.paths, self.repair_roots = tuple(os.path.abspath(path) for path in several), repair_roots
        for path in self.paths:
            if not os.path.isfile(path):
                raise FileNotFoundError(f"there is no CoNLL-U file {path!r}")

    def __getstate__(self) -> dict:
        digests = [file_digest(path) for path in self.paths]
        return {"paths": self.paths, "repair_roots": self.repair_roots, "digests": digests}

    def parse(
        self, texts: Sequence[str], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Looks up raw texts; whitespace at their ends and between sentences may differ from the file's.

        Raises:
            ConlluError: If a file is malformed.
            ValueError: If a text is in no file, or has no tree there (HEAD `_`) and `dependencies` are wanted.
        """
        return [join(text, self._find(text) if text.strip() else [], dependencies) for text in texts]

    def parse_words(
        self, words: Sequence[Sequence[str]], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Looks up the syntactic words or the surface tokens of sentences; positions are those in them, space-joined.

        Raises:
            ValueError: As in `parse`.
        """
        return [join(" ".join(given), self._find_words(given) if len(given) else [], dependencies) for given in words]

    def _load(self) -> tuple[list, dict, dict]:
        return load_parses(self.paths, tuple(os.stat(path).st_mtime_ns for path in self.paths), self.repair_roots)

    def _miss(self, text: str) -> ValueError:
        num_sentences = len(self._load()[0]) - len(self.paths)
        where = f"the {num_sentences} sentences of {list(self.paths)}"
        return ValueError(
            f"{text[:80]!r} is none, and no run, of {where}; add the CoNLL-U file with exactly this text"
        )

    def _find_words(self, words: Sequence[str]) -> list[tuple[Parse, int]]:
        text, key = " ".join(words), tuple(words)
        by_words = self._load()[2]
        if key not in by_words:
            raise self._miss(text)
        parse, tokens = by_words[key]
        starts = [0, *accumulate(len(word) + 1 for word in key)]
        ends = [starts[token] + len(key[token]) for token in tokens]
        return [(replace(parse, text=text, starts=[starts[token] for token in tokens], ends=ends), 0)]

    def _find(self, text: str) -> list[tuple[Parse, int]]:
        parses, by_start, _ = self._load()
        for index in by_start.get(text.lstrip()[:1], ()):
            found, end = [], 0
            while parses[index] is not None:
                sentence = parses[index].text.strip()
                start = len(text) - len(text[end:].lstrip())
                end = start + len(sentence)
                if not text.startswith(sentence, start):
                    break
                found.append((parses[index], start - parses[index].text.index(sentence)))
                if not text[end:].strip():
                    return found
                index += 1
        raise self._miss(text)


def join(text: str, found: list[tuple[Parse, int]], dependencies: bool) -> Parse:
    """Joins the Parses of sentences, each with the shift of its characters, into the Parse of a text."""
    rows: list[tuple] = []
    for sentence_id, (parse, shift) in enumerate(found):
        if dependencies and parse.parents is None:
            raise ValueError(f"{parse.text[:80]!r} has no heads in its CoNLL-U file; pass dependencies=False")
        base = len(rows)
        tree = (
            ([p + base if p >= 0 else p for p in parse.parents], parse.deprels)
            if parse.parents and dependencies
            else ()
        )
        spans = ([position + shift for position in column] for column in (parse.starts, parse.ends))
        rows += zip(*spans, parse.upos, [sentence_id] * len(parse), *tree, strict=True)
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(6 if dependencies else 4)]
    return Parse(text, *columns)
