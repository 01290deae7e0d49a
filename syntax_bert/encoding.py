"""From rows of data sets to inputs of models, with cached parses."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from datasets import Dataset
from datasets.fingerprint import Hasher

from .tokenization import universal_dependencies
from .tokenization.universal_dependencies import Parse
from .tokenization.wordpiece_alignment import align_labels

__all__ = [
    "encode_dataset",
    "encode_questions",
    "encode_texts",
    "encode_words",
    "known_labels",
    "parse_characters",
]

Batch = Mapping[str, list]
UNSPACED = ("zh", "ja", "th")  # written without spaces, so that some data sets give characters as words


def encode_dataset(
    dataset: Dataset,
    tokenizer,
    encode: Callable[..., dict[str, list]],
    max_length: int,
    workers: int = 1,
    kept: Sequence[str] = (),
    **options,
) -> Dataset:
    """Parses and encodes a data set; the result is cached, so that nothing is parsed a second time.

    Args:
        dataset: Its rows.
        tokenizer: A syntax tokenizer.
        encode: One of the functions of this module.
        max_length: Longest sequence in wordpieces.
        workers: Number of processes.
        kept: Columns to keep beside the encoding.
        options: Further arguments of `encode`.
    """
    # The cache is found by the hash of the tokenizer; truncation is part of it, and so has to be set before.
    tokenizer([""], parses=[None], truncation=True, max_length=max_length)
    function = partial(encode, tokenizer=tokenizer, max_length=max_length, code=code_digest(), **options)
    return dataset.map(
        function,
        batched=True,
        cache_file_name=None if dataset.cache_files else cache_file(dataset, function, kept),
        with_indices=True,
        num_proc=workers if workers > 1 else None,
        remove_columns=[column for column in dataset.column_names if column not in kept],
        desc="Parsing and encoding",
    )


def known_labels(encoded: Dataset, num_labels: int, num_intents: int) -> Dataset:
    """Gives words and sentences whose labels a trained model does not have the first label: they only serve a loss."""
    sizes = {"labels": num_labels, "intent_labels": num_intents}
    present = {name: size for name, size in sizes.items() if name in encoded.column_names}
    unknown = [name for name, size in present.items() if np.max([np.max(row) for row in encoded[name]]) >= size]
    if not unknown:
        return encoded
    return encoded.map(lambda row: {name: np.where(np.less(row[name], sizes[name]), row[name], 0) for name in unknown})


def cache_file(dataset: Dataset, *described: Any) -> str:
    """Gives the cache file for what is made of rows that lie in memory, of which `datasets` keeps nothing."""
    folder = Path(datasets.config.HF_DATASETS_CACHE) / "syntax_bert"
    folder.mkdir(parents=True, exist_ok=True)
    rows = "\n".join(json.dumps(row, sort_keys=True) for row in dataset)
    return str(folder / f"{Hasher.hash((hashlib.sha256(rows.encode()).hexdigest(), *described))}.arrow")


def code_digest() -> str:
    """Gives a digest of the code that parses and encodes: what an older one made is not taken from the cache."""
    files = [*sorted(Path(universal_dependencies.__file__).parent.glob("*.py")), Path(__file__)]
    content = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(content + version("ufal.udpipe").encode()).hexdigest()


def language_options(languages: Sequence[str | None], num_rows: int) -> dict[str, Any]:
    """Gives a tokenizer the language of each text; `None` for one that is not parsed, nothing for a single parser."""
    options: dict[str, Any] = {}
    for suffix, language in zip(("", "_pair"), languages, strict=False):
        if language is None:
            options[f"parses{suffix}"] = [None] * num_rows
        else:
            options[f"languages{suffix}"] = language
    return options


def encode_texts(
    batch: Batch,
    indices: Sequence[int],
    tokenizer,
    max_length: int,
    code: str,
    columns: Sequence[str],
    languages: Sequence[str | None] = (),
) -> dict[str, list]:
    """Encodes one or two text columns.

    Args:
        batch: Rows.
        indices: Their numbers.
        tokenizer: A syntax tokenizer.
        max_length: Longest sequence in wordpieces.
        code: For the cache only.
        columns: Names of the text columns.
        languages: Language of each column, `None` for one that is not parsed; nothing where there is one parser.
    """
    texts = [batch[column] for column in columns]
    options = language_options(languages[: len(texts)], len(indices))
    return dict(tokenizer(*texts, truncation=True, max_length=max_length, **options))


def encode_words(
    batch: Batch,
    indices: Sequence[int],
    tokenizer,
    max_length: int,
    code: str,
    languages: Sequence[str | None] = (),
) -> dict[str, list]:
    """Encodes `words` with their `tags`, and the `intent` of the sentence where there is one.

    Sentences longer than the model are cut into windows, so that each word is labelled once. Beside the inputs come
    `example`, the number of the row, and `word_index`, the 0-based word whose first wordpiece a token is, else -1.

    Args:
        batch: Rows.
        indices: Their numbers.
        tokenizer: A syntax tokenizer.
        max_length: Longest sequence in wordpieces.
        code: For the cache only.
        languages: Its language, twice; `None` if it is not parsed.
    """
    words = batch["words"]
    options = language_options(languages[:1], len(indices))
    if tokenizer.syntax_columns and options.get("languages", "").partition("-")[0] in UNSPACED:
        dependencies = not {"deprel_ids", "head_positions"}.isdisjoint(tokenizer.syntax_columns)
        options = {"parses": parse_unspaced(words, tokenizer.parser, options["languages"], dependencies)}
    encoded = tokenizer(
        words,
        is_split_into_words=True,
        truncation=True,
        max_length=max_length,
        return_overflowing_tokens=True,
        **options,
    )
    examples = encoded.pop("overflow_to_sample_mapping")
    made: dict[str, list] = {name: list(values) for name, values in encoded.items()}
    made |= {"labels": [], "word_index": [], "example": [indices[example] for example in examples]}
    last_word: tuple[int, int | None] | None = None
    for window, example in enumerate(examples):
        word_ids = encoded.word_ids(window)
        word_index = align_labels(range(len(words[example])), word_ids, ignored=-1)
        labelled = [position for position, word in enumerate(word_index) if word >= 0]
        if (
            labelled and (example, word_index[labelled[0]]) == last_word
        ):  # cut by the window before, which has its label
            word_index[labelled.pop(0)] = -1
        last_word = (example, max((word for word in word_ids if word is not None), default=None))
        made["word_index"].append(word_index)
        made["labels"].append([batch["tags"][example][word] if word >= 0 else -100 for word in word_index])
    if "intent" in batch:
        made["intent_labels"] = [batch["intent"][example] for example in examples]
    return made


def are_characters(words: Sequence[str]) -> bool:
    """Tells whether what a data set gives as the words of a sentence are its characters."""
    return bool(words) and sum(map(len, words)) < 1.3 * len(words)


def parse_unspaced(
    sentences: Sequence[Sequence[str]], parser, language: str | None, dependencies: bool = True
) -> list[Parse]:
    """Parses sentences of a language without spaces, given as words or as characters."""
    whole = [words for words in sentences if not are_characters(words)]
    cut = [words for words in sentences if are_characters(words)]
    by_words = iter(parser.parse_words(whole, [language] * len(whole), dependencies) if whole else ())
    by_characters = iter(parse_characters(cut, parser, language, dependencies))
    return [next(by_characters if are_characters(words) else by_words) for words in sentences]


def parse_characters(
    sentences: Sequence[Sequence[str]], parser, language: str | None, dependencies: bool = True
) -> list[Parse]:
    """Parses the text that characters make up, and gives each parse over the characters joined by spaces."""
    moved = []
    texts = ["".join(characters) for characters in sentences]
    parses = parser.parse(texts, [language] * len(texts), dependencies)
    for characters, parse in zip(sentences, parses, strict=True):
        place = [number + at for number, at in enumerate_characters(characters)]
        starts = [place[start] for start in parse.starts]
        ends = [place[end - 1] + 1 if end else 0 for end in parse.ends]
        moved.append(replace(parse, text=" ".join(characters), starts=starts, ends=ends))
    return moved


def enumerate_characters(words: Sequence[str]) -> list[tuple[int, int]]:
    """Lists, for each character of the joined words, the number of its word and its 0-based position."""
    numbers = [number for number, word in enumerate(words) for _ in word]
    return list(zip(numbers, range(len(numbers)), strict=True))


def encode_questions(
    batch: Batch,
    indices: Sequence[int],
    tokenizer,
    max_length: int,
    code: str,
    languages: Sequence[str | None] = (),
    stride: int = 128,
) -> dict[str, list]:
    """Encodes `question` and `context` in windows, with the place of the first of the `answers`.

    A window without the whole answer points to its first token. Beside the inputs come `example`, the number of the
    row, `offset_mapping`, the characters of each token in its text, and `context_mask`, 1 for the context.

    Args:
        batch: Rows.
        indices: Their numbers.
        tokenizer: A syntax tokenizer.
        max_length: Longest window in wordpieces.
        code: For the cache only.
        languages: Those of question and context, `None` for one that is not parsed.
        stride: Wordpieces of the context that neighbouring windows share, at most half of the context's.
    """
    by_stride: dict[int, list[int]] = defaultdict(list)  # the stride of a question does not depend on its neighbours
    for row, question in enumerate(batch["question"]):
        length = len(tokenizer.tokenize(question))
        room = max_length - length - tokenizer.num_special_tokens_to_add(pair=True)
        if room < 1:
            where = f"the question {question[:80]!r}, {length} wordpieces long,"
            raise ValueError(f"{where} leaves no room for a context in {max_length}")
        by_stride[min(stride, room // 2)].append(row)
    made: dict[str, list] = defaultdict(list)
    for row_stride, rows in by_stride.items():
        encoded = tokenizer(
            [batch["question"][row] for row in rows],
            [batch["context"][row] for row in rows],
            truncation="only_second",
            max_length=max_length,
            stride=row_stride,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            **language_options(languages, len(rows)),
        )
        examples = [rows[example] for example in encoded.pop("overflow_to_sample_mapping")]
        for name, values in encoded.items():
            made[name] += values
        for window, example in enumerate(examples):
            is_context = [int(sequence == 1) for sequence in encoded.sequence_ids(window)]
            offsets = encoded["offset_mapping"][window]
            start, end = answer_positions(batch["answers"][example], offsets, is_context)
            made["example"].append(indices[example])
            made["context_mask"].append(is_context)
            made["start_positions"].append(start)
            made["end_positions"].append(end)
    return dict(made)


def answer_positions(
    answers: Mapping[str, Sequence], offsets: Sequence[tuple[int, int]], is_context: Sequence[int]
) -> tuple[int, int]:
    """Finds the first and the last token of the first answer; 0 and 0 unless all of it is in the window."""
    text = answers["text"][0] if answers["text"] else ""
    if not text.strip():
        return 0, 0
    first = answers["answer_start"][0] + len(text) - len(text.lstrip())
    end = first + len(text.strip())
    context = [position for position, inside in enumerate(is_context) if inside and offsets[position][1]]
    # characters without wordpieces may be anywhere in an answer
    inside = [position for position in context if offsets[position][0] < end and offsets[position][1] > first]
    if not inside or offsets[context[0]][0] > first or offsets[context[-1]][1] < end:
        return 0, 0
    return inside[0], inside[-1]
