"""Encoding with cached parses, and one training run."""

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

from datasets import Dataset
from transformers import PreTrainedModel, Trainer, TrainingArguments
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

from .tokenization import universal_dependencies

__all__ = ["encode_dataset", "last_checkpoint", "train_and_evaluate"]

logger = logging.getLogger(__name__)


def encode_batch(
    batch: Mapping[str, list], tokenizer, columns: Sequence[str], max_length: int, code: str
) -> dict[str, list]:
    """Encodes the text columns of a batch of rows; `code` is for the cache only."""
    return dict(tokenizer(*(batch[column] for column in columns), truncation=True, max_length=max_length))


def encode_dataset(
    dataset: Dataset, tokenizer, columns: Sequence[str], max_length: int, workers: int = 1, kept: Sequence[str] = ()
) -> Dataset:
    """Parses and encodes a data set; the result is cached, so that nothing is parsed a second time.

    Args:
        dataset: Rows of texts.
        tokenizer: A syntax tokenizer.
        columns: Names of the one or two text columns.
        max_length: Longest sequence in wordpieces.
        workers: Number of processes.
        kept: Columns to keep beside the encoding.
    """
    # The cache is found by the hash of the tokenizer; truncation is part of it, and so has to be set before.
    tokenizer([""], parses=[None], truncation=True, max_length=max_length)
    return dataset.map(
        partial(encode_batch, tokenizer=tokenizer, columns=tuple(columns), max_length=max_length, code=code_digest()),
        batched=True,
        num_proc=workers if workers > 1 else None,
        remove_columns=[column for column in dataset.column_names if column not in kept],
        desc="Parsing and encoding",
    )


def code_digest() -> str:
    """Gives a digest of the code that parses and aligns: what an older one encoded is not taken from the cache."""
    files = sorted(Path(universal_dependencies.__file__).parent.glob("*.py"))
    content = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(content + version("ufal.udpipe").encode()).hexdigest()


def train_and_evaluate(
    model: PreTrainedModel,
    args: TrainingArguments,
    train: Dataset | None,
    evaluations: Mapping[str, Dataset],
    processing_class,
    compute_metrics: Callable,
) -> tuple[Trainer, dict[str, float]]:
    """Trains (resuming from the last checkpoint in the output folder), evaluates and saves one model.

    Args:
        model: The model.
        args: Its arguments; with `save_strategy="no"` the model is not saved either.
        train: Training data; `None` only evaluates.
        evaluations: Data to evaluate on, keyed by the metric prefix of each ("eval", "eval_mismatched", ...).
        processing_class: The tokenizer, saved with the model.
        compute_metrics: As in `Trainer`.
    """
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=train,
        eval_dataset=next(iter(evaluations.values()), None),
        processing_class=processing_class,
        compute_metrics=compute_metrics,
    )
    metrics: dict[str, float] = {}
    if train is not None:
        last = args.resume_from_checkpoint or last_checkpoint(args.output_dir)
        if last is not None:
            logger.info("resuming from %s", last)
        metrics |= trainer.train(resume_from_checkpoint=last).metrics
        if args.save_strategy != "no":
            trainer.save_model()
    for prefix, dataset in evaluations.items():
        evaluated = trainer.evaluate(dataset, metric_key_prefix=prefix)
        trainer.log_metrics(prefix, evaluated)
        trainer.save_metrics(prefix, evaluated, combined=False)
        metrics |= evaluated
    return trainer, metrics


def last_checkpoint(folder: str | Path) -> str | None:
    """Finds the last checkpoint of `Trainer` in a folder that training can go on from.

    It has been written to its end (the trainer state comes last), and with the state of optimizer and schedule
    (`save_only_model` leaves them out).
    """
    complete = [
        state.parent
        for state in Path(folder).glob(f"{PREFIX_CHECKPOINT_DIR}-*/trainer_state.json")
        if (state.parent / "scheduler.pt").exists() and state.parent.name.rpartition("-")[2].isdigit()
    ]
    return str(max(complete, key=lambda path: int(path.name.rpartition("-")[2]))) if complete else None
