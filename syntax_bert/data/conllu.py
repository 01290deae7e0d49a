"""CoNLL-U files (https://universaldependencies.org/format.html) read into `Parse`s, and written from them.

The `conllu` package reads ids and heads; its line reader counts no lines, splits at two spaces and strips forms.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from conllu.exceptions import ParseException
from conllu.parser import parse_id_value, parse_int_value

from syntax_bert.tokenization.universal_dependencies import Parse, find_surrogate

from .lines import StrPath, read_numbered_lines

__all__ = ["ConlluError", "ConlluSentence", "check_conllu", "read_conllu", "surface_tokens", "write_conllu"]

COMMENT = re.compile(r"#\s*(text|sent_id)\s*= ?(.*)", re.DOTALL)


class Row(NamedTuple):
    """A word, or a multiword token with the ids of its first and last word; `head` is 1-based, `None` for `_`."""

    line: int
    first: int
    last: int
    form: str
    upos: str
    head: int | None
    deprel: str
    misc: str


class ConlluError(ValueError):
    """A fault in a CoNLL-U file, at a 1-based line (`None` for the whole file)."""

    def __init__(self, path: StrPath, line: int | None, problem: str) -> None:
        super().__init__(path, line, problem)  # the arguments, so that the error pickles
        self.path, self.line, self.problem = os.fspath(path), line, problem

    def __str__(self) -> str:
        return f"{self.path}:{'' if self.line is None else f'{self.line}:'} {self.problem}"


@dataclass(frozen=True)
class ConlluSentence:
    """A Parse with the FORM of each word, which the text lacks for parts of a multiword token, and the `# sent_id`."""

    parse: Parse
    forms: Sequence[str]
    sent_id: str | None = None


def read_conllu(path: StrPath, repair_roots: bool = False) -> Iterator[ConlluSentence]:
    """Reads a CoNLL-U file sentence by sentence.

    The text is the `# text` comment, or the tokens joined by spaces except after SpaceAfter=No. Empty nodes (`3.1`)
    are left out. A sentence with HEAD `_` throughout gets a Parse that is only tagged. With `repair_roots`, further
    roots are not refused but attached to the first one, as `parataxis`.

    Raises:
        ConlluError: If the file is empty or malformed, text and tokens disagree, or the heads are not one tree.
    """
    for found in check_conllu(path, repair_roots):
        if isinstance(found, ConlluError):
            raise found
        yield found


def check_conllu(path: StrPath, repair_roots: bool = False) -> Iterator[ConlluSentence | ConlluError]:
    """Reads a CoNLL-U file as `read_conllu` does, and gives the errors of sentences in their places."""
    number = 0
    try:
        blocks = groupby(read_numbered_lines(path), key=lambda line: bool(line[1].strip()))
        for number, block in enumerate((list(block) for filled, block in blocks if filled), start=1):
            try:
                yield SentenceReader(path, number, block).read(repair_roots)
            except ConlluError as error:
                yield error
    except UnicodeError as error:
        yield ConlluError(path, None, f"the file is not UTF-8 after sentence {number}: {error.__cause__}")
    if not number:
        yield ConlluError(path, None, "the file has no sentence")


class SentenceReader:
    """Reads one block of numbered lines, and names its sentence in errors."""

    def __init__(self, path: StrPath, number: int, lines: list[tuple[int, str]]) -> None:
        comments = {match[1]: match[2] for _, content in lines if (match := COMMENT.fullmatch(content))}
        self.path, self.text, self.sent_id = path, comments.get("text"), comments.get("sent_id")
        self.name = f"sentence {self.sent_id or number!r}"
        self.words: list[Row] = []
        self.tokens: list[Row] = []
        for line, content in lines:
            if not content.startswith("#"):
                self.add_row(line, content.split("\t"))
        if not self.words:
            raise ConlluError(path, lines[0][0], f"{self.name} has no words")
        if self.tokens[-1].last > len(self.words):
            raise self.error(self.tokens[-1], f"the range ends after the last word, {len(self.words)}")

    def error(self, row: Row, problem: str) -> ConlluError:
        word_id = row.first if row.first == row.last else f"{row.first}-{row.last}"
        return ConlluError(self.path, row.line, f"{self.name}, word {word_id} {row.form!r}: {problem}")

    def add_row(self, line: int, fields: list[str]) -> None:
        where = f"{self.name}, word {fields[0]}{''.join(f' {form!r}' for form in fields[1:2])}:"
        if len(fields) != 10 or not all(fields):
            raise ConlluError(self.path, line, f"{where} {len(fields)} fields; it takes 10, with tabs, none empty")
        row_id: Any  # an int, or a tuple of first id, "-" or ".", last id
        try:
            row_id = parse_id_value(fields[0])
            head = parse_int_value(fields[6]) if isinstance(row_id, int) else None
        except (ParseException, ValueError) as error:
            raise ConlluError(self.path, line, f"{where} {error}") from error
        expected, covered = len(self.words) + 1, self.tokens[-1].last if self.tokens else 0
        first, kind, last = row_id if isinstance(row_id, tuple) else (row_id, "", row_id)
        if first != (expected - 1 if kind == "." else expected) or (kind == "-" and covered >= expected):
            raise ConlluError(self.path, line, f"{where} the id is out of order, word {expected} comes next")
        row = Row(line, first, last, fields[1], fields[3], head, fields[7], fields[9])
        if not kind:
            self.words.append(row)
        if kind != "." and covered < expected:
            self.tokens.append(row)

    def read(self, repair_roots: bool) -> ConlluSentence:
        text, starts, ends = self.align()
        upos, forms = [word.upos for word in self.words], [word.form for word in self.words]
        parse = Parse(text, starts, ends, upos, [0] * len(upos), *self.tree(repair_roots))
        return ConlluSentence(parse, forms, self.sent_id)

    def align(self) -> tuple[str, list[int], list[int]]:
        spaced = [token.form + " " * ("SpaceAfter=No" not in token.misc.split("|")) for token in self.tokens]
        text = "".join(spaced).rstrip() if self.text is None else self.text
        starts, ends, end = [], [], 0
        for token in self.tokens:
            start = end
            while text[start : start + 1].isspace():
                start += 1
            end = start + len(token.form)
            if not text.startswith(token.form, start):
                # Whitespace may differ: "10 000" with a no-break space in the text and a plain one in FORM.
                match = re.compile(r"\s*".join(map(re.escape, token.form.split()))).match(text, start)
                if not match or not match[0]:
                    raise self.error(token, f"the text goes on with {text[start : start + 20]!r}; mend FORM or # text")
                end = match.end()
            starts += [start] * (token.last - token.first + 1)
            ends += [end] * (token.last - token.first + 1)
        if text[end:].strip():
            raise self.error(self.tokens[-1], f"it is the last, but the text goes on with {text[end : end + 20]!r}")
        return text, starts, ends

    def tree(self, repair_roots: bool) -> tuple[list[int] | None, list[str] | None]:
        if all(word.head is None for word in self.words):
            return None, None
        heads, deprels = [], [word.deprel for word in self.words]
        for word in self.words:
            if word.head is None or not 0 <= word.head <= len(self.words):
                given = "_" if word.head is None else word.head
                raise self.error(word, f"HEAD is {given}; it must be 0 to {len(self.words)}, or _ for all words")
            heads.append(word.head)
        roots = [word for word in self.words if word.head == 0]
        for root in roots[1:]:
            if not repair_roots:
                raise self.error(root, f"a second root, after word {roots[0].first}; repair_roots=True attaches it")
            heads[root.first - 1], deprels[root.first - 1] = roots[0].first, "parataxis"
        for word in self.words:
            passed, head = {word.first}, heads[word.first - 1]
            while head and head not in passed:
                passed.add(head)
                head = heads[head - 1]
            if head:
                raise self.error(self.words[head - 1], f"the heads form a cycle{'' if roots else ' without a root'}")
        return [head - 1 for head in heads], deprels


def surface_tokens(parse: Parse) -> list[list[int]]:
    """Groups the words of a Parse by the token whose characters they share."""
    tokens: list[list[int]] = []
    for word, start in enumerate(parse.starts):
        if word and start < parse.ends[word - 1] and parse.sentence_ids[word] == parse.sentence_ids[word - 1]:
            tokens[-1].append(word)
        else:
            tokens.append([word])
    return tokens


def write_conllu(path: StrPath, sentences: Iterable[Parse | ConlluSentence]) -> None:
    """Writes a CoNLL-U file, one CoNLL-U sentence for each sentence of each Parse.

    Words that share characters become a multiword token; from a bare Parse their FORMs are `_`. Line breaks, tabs and
    NUL become spaces, a Parse without words leaves nothing; otherwise a Parse of one sentence is read back equal.

    Raises:
        ValueError: For what CoNLL-U cannot hold: words without characters, with spaces at their ends or that share
            some but not all characters, characters without a word, a tag with a tab or line break, a lone surrogate.
    """
    unfinished = Path(path).with_name(f"{Path(path).name}.{os.getpid()}.unfinished")
    try:
        with open(unfinished, "w", encoding="utf-8", newline="\n") as file:
            for number, given in enumerate(sentences, start=1):
                sentence = ConlluSentence(given, []) if isinstance(given, Parse) else given
                check_writable(sentence.parse, number)
                file.writelines(conllu_lines(sentence, sentence.sent_id or str(number)))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def check_writable(parse: Parse, number: int) -> None:
    """Refuses what CoNLL-U has no form for, naming sentence and word."""
    if (position := find_surrogate(parse.text)) is not None:
        raise ValueError(f"sentence {number} has a lone surrogate at character {position}")
    spans = list(zip(parse.starts, parse.ends, strict=True))
    for word, (start, end) in enumerate(spans):
        tags = (parse.upos[word], parse.deprels[word] if parse.deprels is not None else None)
        if any(tag is not None and re.search(r"[\t\r\n]", tag) for tag in tags):
            raise ValueError(f"sentence {number}, word {word}: the tags {tags} have a tab or a line break")
        if parse.form(word) != parse.form(word).strip():
            raise ValueError(f"sentence {number}, word {word}: {parse.form(word)!r} has spaces at its ends")
        if word and start < spans[word - 1][1] and (start, end) != spans[word - 1]:
            raise ValueError(f"sentence {number}: words {word - 1} and {word} share some but not all characters")


def conllu_lines(sentence: ConlluSentence, sent_id: str) -> Iterator[str]:
    """Gives the lines of a Parse, sentence by sentence."""
    parse, text = sentence.parse, re.sub(r"[\r\n\t\0]", " ", sentence.parse.text)
    starts, ends = [*parse.starts, len(text)], [0, *parse.ends]
    for part, group in groupby(surface_tokens(parse), key=lambda words: parse.sentence_ids[words[0]]):
        tokens = list(group)
        base, last = tokens[0][0] - 1, tokens[-1][-1]
        start, end = starts[base + 1] if part else 0, ends[last + 1] if last + 1 < len(parse) else len(text)
        yield f"# sent_id = {sent_id}{f'-{part + 1}' if part else ''}\n# text = {text[start:end]}\n"
        for first, *_, last in ([*words, words[-1]] for words in tokens):
            start, end = starts[first], ends[last + 1]
            surface = text[start:end]
            if not surface.strip() or (text[ends[first] : start] + text[end : starts[last + 1]]).strip():
                raise ValueError(f"word {first}, {surface!r}, is blank or next to characters of no word: {text!r}")
            forms = sentence.forms[first : last + 1] or ["_" if last > first else surface] * (last + 1 - first)
            misc = "SpaceAfter=No" if text[end : end + 1].strip() else "_"
            if list(forms) != [surface]:
                yield f"{first - base}-{last - base}\t{surface}" + "\t_" * 7 + f"\t{misc}\n"
                misc = "_"
            for word, form in zip(range(first, last + 1), forms, strict=True):
                head: int | str = "_"
                deprel = "_"
                if parse.parents is not None and parse.deprels is not None:
                    head, deprel = max(parse.parents[word] - base, 0), parse.deprels[word] or "_"
                yield f"{word - base}\t{form}\t_\t{parse.upos[word] or '_'}\t_\t_\t{head}\t{deprel}\t_\t{misc}\n"
        yield "\n"
