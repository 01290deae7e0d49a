"""Words and their tags from column files: CoNLL-2002 and 2003, WikiAnn, xSID and CoNLL-U."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from syntax_bert.tokenization.universal_dependencies import find_surrogate

from .conllu import read_conllu
from .lines import StrPath, read_numbered_lines

__all__ = ["IOB_TAG", "read_intent_columns", "read_labels", "read_tagged_sentences", "read_upos", "to_iob2"]

IOB_TAG = re.compile(r"O|[BI]-.+")
INTENT = re.compile(r"#\s*intent\s*[=:]\s*(.*)")


def read_tagged_sentences(path: StrPath, label_column: int = -1, language: str | None = None) -> list[dict[str, Any]]:
    """Reads sentences out of a file with one word a line, its tag in some column, and blank lines in between.

    Columns are separated by tabs if the first row has one, else by spaces. The word is in the first column. Lines that
    start with `-DOCSTART-` are left out.

    Args:
        path: The file.
        label_column: Column of the tag; 0 is the first, -1 the last.
        language: Code that WikiAnn's dumps put before each word, as in `en:Paris`; it is cut off where all words of
            the file have it.

    Returns:
        The sentences, each as `{"words", "tags"}`, two lists of strings.

    Raises:
        ValueError: For a file without rows or not in UTF-8, a row with more or fewer columns than the first, and a
            column that is missing, with file and line.
    """
    sentences = []
    separator, width = "", 0
    for block in blank_line_blocks(read_numbered_lines(path)):
        words, tags = [], []
        for line, content in block:
            if "\r" in content:
                raise ValueError(f"{path}:{line}: a carriage return inside; lines end in \\n or \\r\\n")
            separator = separator or ("\t" if "\t" in content else " +")
            fields = re.split(separator, content if separator == "\t" else content.strip(" "))
            width = width or len(fields)
            if len(fields) != width:
                raise ValueError(f"{path}:{line}: {len(fields)} columns, but the first row has {width}")
            if not -width <= label_column < width or label_column % width == 0:
                raise ValueError(
                    f"{path}:{line}: {width} columns; column {label_column} of the tags is not among them"
                )
            words.append(fields[0])
            tags.append(checked(path, line, fields[0], fields[label_column]))
        sentences.append({"words": words, "tags": tags})
    if not sentences:
        raise ValueError(f"{path} has no rows")
    return sentences if language is None else without_prefix(sentences, f"{language}:")


def read_labels(path: StrPath) -> list[str]:
    """Reads the labels of a task, one a line, in the order of their ids.

    Raises:
        ValueError: For a file without labels or not in UTF-8, a label that is there twice and one with white space
            inside, with file and line.
    """
    labels: dict[str, int] = {}
    for line, content in read_numbered_lines(path):
        label = content.strip()
        if len(label.split()) > 1:
            raise ValueError(f"{path}:{line}: {label!r} is more than one label; there is one a line")
        if label in labels:
            raise ValueError(f"{path}:{line}: the label {label!r} is in line {labels[label]} already")
        if label:
            labels[label] = line
    if not labels:
        raise ValueError(f"{path} has no labels")
    return list(labels)


def without_prefix(sentences: list[dict[str, Any]], prefix: str) -> list[dict[str, Any]]:
    """Cuts a prefix off all words, if all have it."""
    if not all(word.startswith(prefix) for row in sentences for word in row["words"]):
        return sentences
    return [{**row, "words": [word.removeprefix(prefix) for word in row["words"]]} for row in sentences]


def blank_line_blocks(lines: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Groups lines that no blank line and no `-DOCSTART-` separates."""
    block: list[tuple[int, str]] = []
    for line, content in lines:
        if content.strip(" \t") and not content.startswith("-DOCSTART-"):
            block.append((line, content))
        elif block:
            yield block
            block = []
    if block:
        yield block


def checked(path: StrPath, line: int, word: str, tag: str) -> str:
    """Gives a tag back if neither it is empty nor its word unfit for a parser."""
    if not tag:
        raise ValueError(f"{path}:{line}: the word {word!r} has no tag")
    if (position := find_surrogate(word)) is not None:
        raise ValueError(f"{path}:{line}: the word has a lone surrogate at character {position}")
    return tag


def read_intent_columns(path: StrPath) -> list[dict[str, Any]]:
    """Reads xSID's files: comments such as `# intent = weather/find`, then rows of id, word, intent and slot.

    Returns:
        The sentences, each as `{"words", "tags", "intent"}`; the tags are the slots.

    Raises:
        ValueError: For a file without rows or not in UTF-8, a row without four columns or out of order, and a sentence
            with no intent or with two, with file and line.
    """
    sentences = []
    for block in blank_line_blocks(read_numbered_lines(path)):
        intents = [match[1].strip() for _, content in block if (match := INTENT.fullmatch(content))]
        if len(set(intents)) > 1:
            raise ValueError(f"{path}:{block[0][0]}: the sentence has the intents {intents}")
        rows = [(line, content.split("\t")) for line, content in block if not content.startswith("#")]
        words: list[str] = []
        tags: list[str] = []
        for line, fields in rows:
            if len(fields) != 4:
                raise ValueError(
                    f"{path}:{line}: {len(fields)} columns; it takes id, word, intent and slot, with tabs"
                )
            if fields[0] != str(len(words) + 1):
                raise ValueError(f"{path}:{line}: the id is {fields[0]!r}, word {len(words) + 1} comes next")
            intents.append(fields[2])
            if fields[2] != intents[0]:
                raise ValueError(f"{path}:{line}: the intent {fields[2]!r} is not the sentence's, {intents[0]!r}")
            words.append(fields[1])
            tags.append(checked(path, line, fields[1], fields[3]))
        if not words:
            raise ValueError(f"{path}:{block[0][0]}: a sentence without words")
        if not intents[0]:
            raise ValueError(f"{path}:{block[0][0]}: the sentence has no intent")
        sentences.append({"words": words, "tags": tags, "intent": intents[0]})
    if not sentences:
        raise ValueError(f"{path} has no rows")
    return sentences


def read_upos(path: StrPath) -> list[dict[str, Any]]:
    """Reads the syntactic words of a CoNLL-U file and their UPOS; the words of "du" are "de" and "le".

    Returns:
        The sentences, each as `{"words", "tags"}`.

    Raises:
        ConlluError: If the file is empty or malformed.
        ValueError: If a word has no UPOS, naming file and sentence.
    """
    sentences = []
    for number, sentence in enumerate(read_conllu(path), start=1):
        words, tags = list(sentence.forms), list(sentence.parse.upos)
        untagged = [word for word, tag in zip(words, tags, strict=True) if tag in ("", "_")]
        if untagged:
            raise ValueError(f"{path}, sentence {sentence.sent_id or number}: {untagged[0]!r} has no UPOS")
        sentences.append({"words": words, "tags": tags})
    return sentences


def to_iob2(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rewrites IOB1, where an entity only starts with B- after one of its type: `I-PER I-PER` is `B-PER I-PER`.

    IOB2 stays as it is, and so do tags that are in neither form.

    Args:
        sentences: The tags of all sentences of a data set.
    """
    if not all(IOB_TAG.fullmatch(tag) for tags in sentences for tag in tags):
        return [list(tags) for tags in sentences]
    rewritten = []
    for tags in sentences:
        previous = ["O", *tags][: len(tags)]
        continues = [before[1:] == tag[1:] for before, tag in zip(previous, tags, strict=True)]
        rewritten.append(
            [f"B{tag[1:]}" if tag[0] == "I" and not on else tag for tag, on in zip(tags, continues, strict=True)]
        )
    return rewritten
