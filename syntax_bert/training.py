"""One training run."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from torch.optim import Optimizer
from transformers import PreTrainedConfig, PreTrainedModel, Trainer, TrainingArguments
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

__all__ = ["SYNTAX_MODULES", "changed_attributes", "last_checkpoint", "load_model", "predict", "train_and_evaluate"]

logger = logging.getLogger(__name__)

# of the models, by the names of their attributes
SYNTAX_MODULES = ("syntax_embeddings", "graph_attention", "attention_biases", "structure_probe", "answer_sentences")


def load_model(
    model_class: type[PreTrainedModel], checkpoint: str, config: PreTrainedConfig, is_trained: bool
) -> tuple[PreTrainedModel, dict[str, Any]]:
    """Loads a model in single precision: a checkpoint may be stored in half precision, in which training goes wrong.

    Args:
        model_class: Its class.
        checkpoint: A Hub name or a folder.
        config: Its configuration.
        is_trained: Whether the checkpoint has to be of this task already; else a head for other labels is not kept.

    Returns:
        The model, and what `from_pretrained` tells about its keys.

    Raises:
        ValueError: If trained syntax weights would be lost because the configuration asks for other sizes.
    """
    model, loaded = model_class.from_pretrained(
        checkpoint,
        config=config,
        dtype="float32",
        ignore_mismatched_sizes=not is_trained,
        output_loading_info=True,
    )
    lost = [name for name, *_ in loaded["mismatched_keys"] if any(part in name.split(".") for part in SYNTAX_MODULES)]
    if lost:
        raise ValueError(f"{checkpoint} was trained with other sizes of its syntax weights: {sorted(lost)}")
    return model, loaded


def train_and_evaluate(
    model: PreTrainedModel,
    args: TrainingArguments,
    train: Dataset | None,
    evaluations: Mapping[str, Dataset],
    processing_class,
    compute_metrics: Callable | None = None,
    data_collator: Callable | None = None,
    syntax_learning_rate: float | None = None,
    trainer_class: Callable[..., Trainer] | None = None,
) -> tuple[Trainer, dict[str, float]]:
    """Trains (resuming from the last checkpoint in the output folder), evaluates and saves one model.

    Args:
        model: The model.
        args: Its arguments; with `save_strategy="no"` the model is not saved either.
        train: Training data; `None` only evaluates.
        evaluations: Data to evaluate on, keyed by the metric prefix of each ("eval", "eval_mismatched", ...).
        processing_class: The tokenizer, saved with the model.
        compute_metrics: As in `Trainer`.
        data_collator: As in `Trainer`.
        syntax_learning_rate: Learning rate of the syntax weights, which are new; by default that of all.
        trainer_class: Makes the trainer; by default `Trainer`.
    """
    has_own_losses = getattr(model.config, "structure_loss_weight", 0) or getattr(model, "intent_classifier", None)
    if args.label_smoothing_factor and has_own_losses:
        raise ValueError("--label_smoothing_factor would leave out the structure loss and those of intents and CRF")
    trainer = (trainer_class or Trainer)(
        model=model,
        args=args,
        train_dataset=train,
        eval_dataset=next(iter(evaluations.values()), None),
        processing_class=processing_class,
        compute_metrics=compute_metrics,
        data_collator=data_collator,
    )
    if syntax_learning_rate is not None:
        set_syntax_learning_rate(trainer.create_optimizer(), model, syntax_learning_rate)
    metrics: dict[str, float] = {}
    if train is not None:
        last = args.resume_from_checkpoint or last_checkpoint(args.output_dir)
        if last is not None:
            logger.info("resuming from %s", last)
        metrics |= trainer.train(resume_from_checkpoint=last).metrics
        if args.save_strategy != "no":
            trainer.save_model()
    for prefix, dataset in evaluations.items():
        with changed_attributes(args, dataloader_drop_last=False):  # which is meant for training
            evaluated = trainer.evaluate(dataset, metric_key_prefix=prefix)
        trainer.log_metrics(prefix, evaluated)
        trainer.save_metrics(prefix, evaluated, combined=False)
        metrics |= evaluated
    return trainer, metrics


def predict(trainer: Trainer, dataset: Dataset, metric_key_prefix: str = "test") -> Any:
    """Gives the outputs of a model for the rows of a data set, in their order.

    `Trainer.predict` would give them in another one with `train_sampling_strategy="group_by_length"`. Rows of equal
    length are computed together, which wastes no time on padding.

    Args:
        trainer: Holds the model.
        dataset: Encoded rows.
        metric_key_prefix: As in `Trainer.predict`.

    Returns:
        An array over the rows, or a tuple of them.
    """
    order = np.argsort([len(row) for row in dataset["input_ids"]], kind="stable")
    changes = {"train_sampling_strategy": "sequential", "dataloader_drop_last": False, "prediction_loss_only": False}
    with changed_attributes(trainer.args, **changes), changed_attributes(trainer, compute_metrics=None):
        ignored = ["hidden_states", "attentions"]
        outputs = trainer.predict(dataset.select(order), ignored, metric_key_prefix).predictions
    back = np.argsort(order)
    return tuple(output[back] for output in outputs) if isinstance(outputs, tuple) else outputs[back]


@contextmanager
def changed_attributes(thing: Any, **changes) -> Iterator[None]:
    """Changes attributes for a while."""
    before = {name: getattr(thing, name) for name in changes}
    try:
        for name, value in changes.items():
            setattr(thing, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(thing, name, value)


def set_syntax_learning_rate(optimizer: Optimizer, model: PreTrainedModel, learning_rate: float) -> None:
    """Moves the syntax weights of a model to parameter groups of their own, with another learning rate."""
    syntax = {id(weights) for name, weights in model.named_parameters() if is_syntax(name)}
    for group in list(optimizer.param_groups):
        own = [weights for weights in group["params"] if id(weights) in syntax]
        if own:
            group["params"] = [weights for weights in group["params"] if id(weights) not in syntax]
            optimizer.add_param_group({**group, "params": own, "lr": learning_rate})


def is_syntax(name: str) -> bool:
    """Tells whether a parameter belongs to one of the syntax modules."""
    return not set(SYNTAX_MODULES).isdisjoint(name.split("."))


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
