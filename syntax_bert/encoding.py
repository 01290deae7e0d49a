"""From rows of data sets to inputs of models, with cached parses.

The functions `encode_*` take a batch of rows, the numbers of the rows in their data set, a syntax tokenizer and the
longest sequence in wordpieces; `languages` are those of their texts, `None` for a text that is not parsed, and nothing
where there is one parser for all.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from datasets import Dataset
from datasets.fingerprint import Hasher

from . import data, parsers
from .digests import dataset_digest
from .parsers.unspaced_text import UNSPACED, parse_unspaced
from .tokenization import universal_dependencies
from .tokenization.tokenization_syntax_fast import SyntaxTokenizerFast
from .tokenization.tokenization_syntax_marian import SyntaxMarianTokenizer
from .tokenization.wordpiece_alignment import align_labels

__all__ = [
    "encode_dataset",
    "encode_questions",
    "encode_texts",
    "encode_translations",
    "encode_words",
    "known_labels",
]

Batch = Mapping[str, list]


def encode_dataset(
    dataset: Dataset,
    tokenizer: SyntaxTokenizerFast | SyntaxMarianTokenizer,
    encode: Callable[..., dict[str, list]],
    max_length: int,
    workers: int = 1,
    **options,
) -> Dataset:
    """Parses and encodes a data set; the result is cached, so that nothing is parsed a second time.

    Args:
        dataset: Its rows.
        tokenizer: A syntax tokenizer.
        encode: One of the functions of this module.
        max_length: Longest sequence in wordpieces.
        workers: Number of processes.
        options: Further arguments of `encode`.
    """
    # The cache is found by the hash of the tokenizer; truncation is part of it, and so has to be set before.
    tokenizer([""], parses=[None], truncation=True, max_length=max_length)
    options |= {"encode": encode, "tokenizer": tokenizer, "max_length": max_length}
    function = partial(encode_batch, code=code_digest(), **options)
    return dataset.map(
        function,
        batched=True,
        cache_file_name=None if dataset.cache_files else cache_file(dataset, function),
        with_indices=True,
        num_proc=workers if workers > 1 else None,
        remove_columns=dataset.column_names,
        desc="Parsing and encoding",
    )


def encode_batch(
    batch: Batch, indices: Sequence[int], encode: Callable[..., dict[str, list]], code: str, **options
) -> dict[str, list]:
    """Encodes a batch; `code` is there for the cache, which is found by all arguments."""
    return encode(batch, indices, **options)


def known_labels(encoded: Dataset, num_labels: int, num_intents: int) -> Dataset:
    """Gives words and sentences whose labels a trained model does not have the first label: they only serve a loss."""
    sizes = {"labels": num_labels, "intent_labels": num_intents}
    present = {name: size for name, size in sizes.items() if name in encoded.column_names}
    unknown = [name for name, size in present.items() if np.max([np.max(row) for row in encoded[name]]) >= size]
    if not unknown:
        return encoded
    return encoded.map(lambda row: {name: np.where(np.less(row[name], sizes[name]), row[name], 0) for name in unknown})


def cache_file(dataset: Dataset, function: Callable) -> str:
    """Gives the cache file for what is made of rows that lie in memory, of which `datasets` keeps nothing."""
    folder = Path(datasets.config.HF_DATASETS_CACHE) / "syntax_bert"
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / f"{Hasher.hash((dataset_digest(dataset), function))}.arrow")


def code_digest() -> str:
    """Gives a digest of the code that parses and encodes: what an older one made is not taken from the cache."""
    folders = [Path(str(module.__file__)).parent for module in (universal_dependencies, data, parsers)]
    files = [*(file for folder in folders for file in sorted(folder.glob("*.py"))), Path(__file__)]
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
    tokenizer: SyntaxTokenizerFast,
    max_length: int,
    columns: Sequence[str],
    languages: Sequence[str | None] = (),
) -> dict[str, list]:
    """Encodes one or two text columns, and keeps the `label` where there is one."""
    texts = [batch[column] for column in columns]
    options = language_options(languages[: len(texts)], len(indices))
    encoded = dict(tokenizer(*texts, truncation=True, max_length=max_length, **options))
    return {**encoded, "label": batch["label"]} if "label" in batch else encoded


def encode_words(
    batch: Batch,
    indices: Sequence[int],
    tokenizer: SyntaxTokenizerFast,
    max_length: int,
    languages: Sequence[str | None] = (),
) -> dict[str, list]:
    """Encodes `words` with their `tags`, and the `intent` of the sentence where there is one.

    Sentences longer than the model are cut into windows, so that each word is labelled once. Beside the inputs come
    `example`, the number of the row, and `word_index`, the 0-based word whose first wordpiece a token is, else -1.
    """
    words = batch["words"]
    options = language_options(languages[:1], len(indices))
    if tokenizer.syntax_columns and options.get("languages", "").partition("-")[0] in UNSPACED:
        parses = parse_unspaced(words, tokenizer.parser, options["languages"], tokenizer.needs_trees)
        options = {"parses": parses}
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
    last = None  # example and word of the last wordpiece of the window before
    for window, example in enumerate(examples):
        word_ids = encoded.word_ids(window)
        word_index = align_labels(range(len(words[example])), word_ids, ignored=-1)
        first = next((position for position, word in enumerate(word_index) if word >= 0), None)
        if first is not None and (example, word_index[first]) == last:
            word_index[first] = -1  # the window before has its label
        last = (example, max((word for word in word_ids if word is not None), default=None))
        made["word_index"].append(word_index)
        made["labels"].append([batch["tags"][example][word] if word >= 0 else -100 for word in word_index])
    if "intent" in batch:
        made["intent_labels"] = [batch["intent"][example] for example in examples]
    return made


def encode_questions(
    batch: Batch,
    indices: Sequence[int],
    tokenizer: SyntaxTokenizerFast,
    max_length: int,
    languages: Sequence[str | None] = (),
    stride: int = 128,
) -> dict[str, list]:
    """Encodes `question` and `context` in windows, with the place of the first of the `answers`.

    A window without the whole answer points to its first token. Beside the inputs come `example`, the number of the
    row, `offset_mapping`, the characters of each token in its text, and `context_mask`, 1 for the context.
    Neighbouring windows share `stride` wordpieces of the context, at most half of those in a window.
    """
    by_stride: dict[int, list[int]] = defaultdict(list)  # the stride of a question does not depend on its neighbours
    for row, question in enumerate(batch["question"]):
        by_stride[min(stride, context_room(question, tokenizer, max_length) // 2)].append(row)
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
            start, end = answer_positions(batch["answers"][example], encoded["offset_mapping"][window], is_context)
            made["example"].append(indices[example])
            made["context_mask"].append(is_context)
            made["start_positions"].append(start)
            made["end_positions"].append(end)
    return dict(made)


def context_room(question: str, tokenizer: SyntaxTokenizerFast, max_length: int) -> int:
    """Gives the number of wordpieces that a question leaves for its context."""
    length = len(tokenizer.tokenize(question))
    room = max_length - length - tokenizer.num_special_tokens_to_add(pair=True)
    if room < 1:
        where = f"the question {question[:80]!r}, {length} wordpieces long,"
        raise ValueError(f"{where} leaves no room for a context in {max_length}")
    return room


def encode_translations(
    batch: Batch,
    indices: Sequence[int],
    tokenizer: SyntaxMarianTokenizer,
    max_length: int,
    languages: Sequence[str | None] = (),
) -> dict[str, list]:
    """Encodes `source` and `target`; longer ones are cut."""
    options = language_options(languages[:1], len(indices))
    return dict(
        tokenizer(batch["source"], text_target=batch["target"], truncation=True, max_length=max_length, **options)
    )


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
