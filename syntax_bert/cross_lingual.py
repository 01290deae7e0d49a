"""Cross-lingual transfer: encoding in many languages, and from what a model predicts in each to its scores."""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from datasets import Dataset
from transformers import PreTrainedConfig, Trainer

from .cross_lingual_metrics import XTREME_METRICS, XtremeMetric
from .data.glue import config_labels
from .data.xtreme_predictions import write_predictions
from .data.xtreme_tasks import XtremeData
from .encoding import encode_dataset, encode_questions, encode_texts, encode_words, known_labels
from .experiments import Metrics
from .modeling.answer_spans import AnswerWindow, best_spans
from .tokenization.tokenization_syntax_fast import SyntaxTokenizerFast
from .training import SYNTAX_MODULES, predict

__all__ = [
    "check_trained",
    "decode_predictions",
    "encode_task",
    "evaluate_languages",
    "language_scores",
    "limit_rows",
    "parsed_languages",
]

ENCODERS: dict[str, Callable[..., dict[str, list]]] = {"pair": encode_texts, "question-answering": encode_questions}


def limit_rows(data: XtremeData, max_train_samples: int | None, max_eval_samples: int | None) -> XtremeData:
    """Leaves of the training data a fixed random choice of rows, of all else the first ones."""
    for option, number in (("--max_train_samples", max_train_samples), ("--max_eval_samples", max_eval_samples)):
        if number is not None and number < 1:
            raise ValueError(f"{option} must be at least 1, got {number}")
    train, validation, evaluation = data.train, data.validation, data.evaluation
    if train is not None and max_train_samples is not None:
        train = train.shuffle(seed=0).select(range(min(max_train_samples, len(train))))
    if max_eval_samples is not None:
        evaluation = {key: first_rows(rows, max_eval_samples) for key, rows in evaluation.items()}
        validation = None if validation is None else first_rows(validation, max_eval_samples)
    return dataclasses.replace(data, train=train, validation=validation, evaluation=evaluation)


def first_rows(rows: Dataset, number: int) -> Dataset:
    """Gives the first rows, all if there are fewer."""
    return rows.select(range(min(number, len(rows))))


def parsed_languages(tokenizer: SyntaxTokenizerFast) -> Collection[str]:
    """Lists the languages that a tokenizer has parsers of; none if it makes no syntax columns."""
    return tokenizer.parser.paths.keys() if tokenizer.syntax_columns else ()


def encode_task(
    data: XtremeData,
    train_language: str,
    splits: Iterable[str],
    tokenizer: SyntaxTokenizerFast,
    max_length: int,
    workers: int,
) -> dict[str, Dataset]:
    """Parses and encodes splits of a task; texts in languages without a parser are not parsed.

    Args:
        data: The task.
        train_language: Language of training and validation data.
        splits: "train", "validation", or what `data.evaluation` has.
        tokenizer: A syntax tokenizer with a parser of several languages.
        max_length: Longest sequence in wordpieces.
        workers: Number of processes.
    """
    parsed = parsed_languages(tokenizer)
    own = {"train": data.train, "validation": data.validation}
    options = {"columns": ("text", "text_pair")} if data.kind == "pair" else {}
    encoded = {}
    for split in splits:
        rows, languages = own.get(split) or data.evaluation[split], data.languages.get(split, (train_language,) * 2)
        encoded[split] = encode_dataset(
            rows,
            tokenizer,
            ENCODERS.get(data.kind, encode_words),
            max_length,
            workers,
            languages=tuple(language if language in parsed else None for language in languages),
            **options,
        )
    return encoded


def check_trained(
    checkpoint: str, config: PreTrainedConfig, loaded: dict[str, Collection[str]], data: XtremeData
) -> None:
    """Checks that a checkpoint that is only evaluated was trained for this task, and with the mechanism asked for.

    Args:
        checkpoint: Its name.
        config: Its configuration.
        loaded: The keys that it lacks, and those that the model does not have, as `from_pretrained` gives them.
        data: The task.
    """
    missing = {name.partition(".")[0] for name in loaded["missing_keys"] if "pooler" not in name}
    if missing - {"bert"}:
        raise ValueError(f"{checkpoint} has no trained {', '.join(sorted(missing - {'bert'}))}: add --do_train")
    names = {*loaded["missing_keys"], *loaded["unexpected_keys"]}
    parts = (*SYNTAX_MODULES, "crf")
    different = [part for part in parts if any(part in name.split(".") for name in names)]
    if different:
        raise ValueError(f"{checkpoint} was trained with another --mechanism or its options: see {different}")
    labels = config_labels(config) or []
    if data.labels and labels != data.labels[: len(labels)]:
        raise ValueError(f"{checkpoint} has the labels {labels}, but {data.task_name} has {data.labels}")


def evaluate_languages(
    trainer: Trainer, data: XtremeData, encoded: dict[str, Dataset], directory: Path | None
) -> Metrics:
    """Scores a model in every language, or pair of languages, and on average.

    Args:
        trainer: Holds the model.
        data: The task.
        encoded: All that is evaluated, encoded.
        directory: Where predictions are written; `None` for nowhere.

    Returns:
        `eval_LANGUAGE_METRIC`, and `eval_mean_METRIC` over the languages.
    """
    config = trainer.model.config
    metrics: Metrics = {}
    for key in data.evaluation:
        rows = known_labels(encoded[key], config.num_labels, len(config.intents))
        predictions = decode_predictions(data, key, encoded[key], predict(trainer, rows, f"eval_{key}"))
        scores = language_scores(data, key, predictions)
        metrics |= {f"eval_{key}_{name}": score for name, score in scores.items()}
        if directory is not None:
            write_predictions(data, key, predictions, directory)
    for name in XTREME_METRICS[data.task_name]:
        metrics[f"eval_mean_{name}"] = mean(metrics[f"eval_{key}_{name}"] for key in data.evaluation)
    return metrics


def decode_predictions(data: XtremeData, key: str, encoded: Dataset, outputs: Any) -> list[Any]:
    """Turns the outputs of a model for encoded rows into one prediction a row of `data.evaluation[key]`.

    Args:
        data: The task.
        key: Language, or pair of languages.
        encoded: Windows of its rows, made by one of the functions of `encoding`.
        outputs: Arrays over these windows: logits of classes or tags, of start and end, or of slots and intents with
            the ids of the slots.

    Returns:
        Class ids, tag ids of each sentence, answers, or pairs of intent id and tag ids.
    """
    rows = data.evaluation[key]
    if data.kind == "pair":
        return outputs.argmax(-1).tolist()
    if data.kind == "question-answering":
        return decode_answers(rows, encoded, *outputs[:2])
    if data.kind == "tagging":
        return decode_tags(rows, encoded, outputs.argmax(-1), data.labels)
    _, intent_logits, slot_ids = outputs
    tags = decode_tags(rows, encoded, slot_ids, data.labels)
    # of the windows of a long sentence the first tells the intent, which comes last in reversed order
    windows = zip(encoded["example"][::-1], intent_logits.argmax(-1).tolist()[::-1], strict=True)
    intents = dict(windows)
    return [(intents[row], tags[row]) for row in range(len(rows))]


def decode_tags(rows: Dataset, encoded: Dataset, tag_ids: np.ndarray, labels: Sequence[str]) -> list[list[int]]:
    """Gives each word the tag of its first wordpiece; `O`, or else the first label, to a word without wordpieces."""
    missing = labels.index("O") if "O" in labels else 0
    tags = [[missing] * len(words) for words in rows["words"]]
    for row, word_index, ids in zip(encoded["example"], encoded["word_index"], tag_ids, strict=True):
        for position, word in enumerate(word_index):
            if word >= 0:
                tags[row][word] = int(ids[position])
    return tags


def decode_answers(rows: Dataset, encoded: Dataset, start_logits: np.ndarray, end_logits: np.ndarray) -> list[str]:
    """Finds the best span of each context in all its windows."""
    windows: list[list[AnswerWindow]] = [[] for _ in range(len(rows))]
    columns = zip(encoded["example"], encoded["offset_mapping"], encoded["context_mask"], strict=True)
    for window, (row, offsets, context_mask) in enumerate(columns):
        length = len(offsets)
        logits = (start_logits[window, :length], end_logits[window, :length])
        windows[row].append(AnswerWindow(*logits, offsets, context_mask))
    answers = []
    for context, own in zip(rows["context"], windows, strict=True):
        spans = best_spans(context, own)
        answers.append(context[spans[0].start : spans[0].end] if spans else "")
    return answers


def language_scores(data: XtremeData, key: str, predictions: Sequence[Any]) -> Metrics:
    """Scores the predictions for one language, or pair of languages, by the metrics of the task."""
    rows = data.evaluation[key]
    options = {"language": data.languages[key][1]} if data.task_name == "mlqa" else {}
    references: list[Any]
    if data.kind == "pair":
        references = rows["label"][:]
    elif data.kind == "question-answering":
        references = [answers["text"] for answers in rows["answers"]]
    elif data.kind == "tagging":
        references, predictions = (
            [[data.labels[tag] for tag in tags] for tags in side] for side in (rows["tags"], predictions)
        )
    else:
        pairs = zip(rows["intent"], rows["tags"], strict=True)
        references, predictions = (
            [{"intent": data.intents[intent], "tags": [data.labels[tag] for tag in tags]} for intent, tags in side]
            for side in (pairs, predictions)
        )
    metric = XtremeMetric(config_name=data.task_name, keep_in_memory=True)
    return metric.compute(predictions=predictions, references=references, **options)
