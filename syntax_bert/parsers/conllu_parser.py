"""Parses looked up in CoNLL-U files: gold trees, or those of a parser that ran elsewhere."""

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from itertools import accumulate, islice
from typing import Any, NamedTuple

from syntax_bert.data.conllu import read_conllu, surface_tokens
from syntax_bert.digests import short_digest
from syntax_bert.tokenization.universal_dependencies import Parse

__all__ = ["ConlluParser"]

QUOTES = str.maketrans("‘’‚‛`´“”„‟«»″", "'" * 6 + '"' * 7)
SHOWN = 5  # misses that an error shows
CANDIDATES = 500  # sentences that each of them is compared with


class Treebank(NamedTuple):
    """The sentences of files, and where they are."""

    parses: list[Any]  # Parse, and None after each file
    by_start: dict[str, list[int]]  # by first character, long ones first
    by_words: dict[tuple[str, ...], tuple[Parse, Sequence[int]]]  # with the token of each word
    by_id: dict[str, list[Parse]]  # different ones by `# sent_id`


@cache
def load_treebank(paths: tuple[str, ...], modified_ns: tuple[int, ...], repair_roots: bool) -> Treebank:
    """Reads files once a process."""
    parses: list[Any] = []
    by_start: dict[str, list[int]] = {}
    by_forms: dict[tuple[str, ...], tuple[Parse, Sequence[int]]] = {}
    by_tokens: dict[tuple[str, ...], tuple[Parse, Sequence[int]]] = {}
    by_id: dict[str, list[Parse]] = {}
    for path in paths:
        for sentence in read_conllu(path, repair_roots):
            parse, forms, tokens = sentence.parse, sentence.forms, surface_tokens(sentence.parse)
            surface = tuple(forms[words[0]] if len(words) == 1 else parse.form(words[0]) for words in tokens)
            by_start.setdefault(parse.text.lstrip()[:1], []).append(len(parses))
            by_forms.setdefault(tuple(forms), (parse, range(len(parse))))
            by_tokens.setdefault(surface, (parse, [token for token, words in enumerate(tokens) for _ in words]))
            if sentence.sent_id is not None and parse not in by_id.setdefault(sentence.sent_id, []):
                by_id[sentence.sent_id].append(parse)
            parses.append(parse)
        parses.append(None)
    for candidates in by_start.values():
        candidates.sort(key=lambda index: -len(parses[index].text.strip()))  # one before several
    return Treebank(parses, by_start, by_tokens | by_forms, by_id)


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
        digests = [short_digest(path) for path in self.paths]
        return {"paths": self.paths, "repair_roots": self.repair_roots, "digests": digests}

    def parse(
        self, texts: Sequence[str], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Looks up raw texts; whitespace at their ends and between sentences may differ from the file's.

        Raises:
            ConlluError: If a file is malformed.
            ValueError: If texts are in no file, which names all of them, or have no tree there (HEAD `_`) and
                `dependencies` are wanted.
        """
        found = [self._find(text) if text.strip() else [] for text in texts]
        self._refuse_misses("text", texts, found)
        return [join(text, parts or [], dependencies) for text, parts in zip(texts, found, strict=True)]

    def parse_words(
        self, words: Sequence[Sequence[str]], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Looks up the syntactic words or the surface tokens of sentences; positions are those in them, space-joined.

        Raises:
            ValueError: As in `parse`.
        """
        texts = [" ".join(given) for given in words]
        found = [self._find_words(given) if len(given) else [] for given in words]
        self._refuse_misses("text", texts, found)
        return [join(text, parts or [], dependencies) for text, parts in zip(texts, found, strict=True)]

    def parse_ids(self, sent_ids: Sequence[str], dependencies: bool = True) -> list[Parse]:
        """Looks up sentences by their `# sent_id`.

        Raises:
            ValueError: As in `parse`, or if an id is that of different sentences.
        """
        found = [self._treebank().by_id.get(sent_id) for sent_id in sent_ids]
        self._refuse_misses("sent_id", sent_ids, found)
        for sent_id, parses in zip(sent_ids, found, strict=True):
            if parses and len(parses) > 1:
                texts = [parse.text[:80] for parse in parses[:SHOWN]]
                raise ValueError(
                    f"the sent_id {sent_id!r} is that of {len(parses)} different sentences in {list(self.paths)}, "
                    f"{texts}: give each its own, or make a parser of each file"
                )
        return [join(parse.text, [(parse, 0)], dependencies) for parses in found for parse in parses or ()]

    def _treebank(self) -> Treebank:
        return load_treebank(self.paths, tuple(os.stat(path).st_mtime_ns for path in self.paths), self.repair_roots)

    def _refuse_misses(self, kind: str, asked: Sequence[str], found: Sequence[Sequence | None]) -> None:
        misses = [index for index, parts in enumerate(found) if parts is None]
        if not misses:
            return
        treebank = self._treebank()
        num_sentences = len(treebank.parses) - len(self.paths)
        known = treebank.by_id if kind == "sent_id" else (parse.text for parse in treebank.parses if parse is not None)
        folded = {fold(name): name for name in known}
        lines = [f"  {kind} {index}, {asked[index][:80]!r}{hint(asked[index], folded)}" for index in misses[:SHOWN]]
        more = [f"  and {len(misses) - SHOWN} more"] if len(misses) > SHOWN else []
        where = f"{len(misses)} of {len(asked)} {kind}s among the {num_sentences} of {list(self.paths)}"
        remedy = f"add the CoNLL-U file with exactly {'this' if len(misses) == 1 else 'these'} {kind}"
        raise ValueError("\n".join([f"no sentence for {where}:", *lines, *more, remedy + "s" * (len(misses) > 1)]))

    def _find_words(self, words: Sequence[str]) -> list[tuple[Parse, int]] | None:
        text, key = " ".join(words), tuple(words)
        by_words = self._treebank().by_words
        if key not in by_words:
            return None
        parse, tokens = by_words[key]
        starts = [0, *accumulate(len(word) + 1 for word in key)]
        ends = [starts[token] + len(key[token]) for token in tokens]
        return [(replace(parse, text=text, starts=[starts[token] for token in tokens], ends=ends), 0)]

    def _find(self, text: str) -> list[tuple[Parse, int]] | None:
        parses, by_start, *_ = self._treebank()
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
        return None


def fold(text: str) -> str:
    """Gives a text without whitespace, case, the shapes of quotes and Unicode's several forms of a character."""
    return "".join(unicodedata.normalize("NFKC", text.translate(QUOTES)).casefold().split())


def hint(missed: str, known: dict[str, str]) -> str:
    """Names the one of the known sentences, by their folded texts, that is like a missed one."""
    key = fold(missed)
    if key in known:
        return f": only whitespace, case, quotes or Unicode normalisation differ from {known[key][:80]!r}"
    alike = (other for other in known if other[:1] == key[:1] and abs(len(other) - len(key)) <= len(key) // 10 + 1)
    close = get_close_matches(key, islice(alike, CANDIDATES), n=1, cutoff=0.9) if len(key) <= 1000 else []
    return f": the closest is {known[close[0]][:80]!r}" if close else ""


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
