"""From rows of data sets to inputs of models, with cached parses."""

import hashlib
import json
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
    if "languages" in options and are_characters(words, options["languages"]) and tokenizer.syntax_columns:
        dependencies = not {"deprel_ids", "head_positions"}.isdisjoint(tokenizer.syntax_columns)
        options = {"parses": parse_characters(words, tokenizer.parser, options["languages"], dependencies)}
    encoded = tokenizer(
        words,
        is_split_into_words=True,
        truncation=True,
        max_length=max_length,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        **options,
    )
    examples = encoded.pop("overflow_to_sample_mapping")
    offsets = encoded.pop("offset_mapping")
    made: dict[str, list] = {name: list(values) for name, values in encoded.items()}
    made |= {"labels": [], "word_index": [], "example": [indices[example] for example in examples]}
    for window, example in enumerate(examples):
        word_ids = encoded.word_ids(window)
        made["labels"].append(align_labels(batch["tags"][example], word_ids, offsets[window]))
        numbers = range(len(words[example]))
        made["word_index"].append(align_labels(numbers, word_ids, offsets[window], ignored=-1))
    if "intent" in batch:
        made["intent_labels"] = [batch["intent"][example] for example in examples]
    return made


def are_characters(words: Sequence[Sequence[str]], language: str) -> bool:
    """Tells whether what a data set gives as words are the characters of a language without spaces."""
    lengths = [len(word) for sentence in words for word in sentence]
    return language.partition("-")[0] in UNSPACED and bool(lengths) and sum(lengths) < 1.3 * len(lengths)


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
    longest, question = max((len(tokenizer.tokenize(text)), text) for text in batch["question"])
    room = max_length - longest - tokenizer.num_special_tokens_to_add(pair=True)
    if room < 1:
        where = f"the question {question[:80]!r}, {longest} wordpieces long,"
        raise ValueError(f"{where} leaves no room for a context in {max_length}")
    encoded = tokenizer(
        batch["question"],
        batch["context"],
        truncation="only_second",
        max_length=max_length,
        stride=min(stride, room // 2),
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        **language_options(languages, len(indices)),
    )
    examples = encoded.pop("overflow_to_sample_mapping")
    made: dict[str, list] = {name: list(values) for name, values in encoded.items()}
    made |= {"example": [indices[example] for example in examples], "context_mask": []}
    made |= {"start_positions": [], "end_positions": []}
    for window, example in enumerate(examples):
        is_context = [int(sequence == 1) for sequence in encoded.sequence_ids(window)]
        start, end = answer_positions(batch["answers"][example], made["offset_mapping"][window], is_context)
        made["context_mask"].append(is_context)
        made["start_positions"].append(start)
        made["end_positions"].append(end)
    return made


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
