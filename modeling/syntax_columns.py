"""The syntax columns as arguments of a model: their names in `forward`, and which of them it can work with.

Shapes: B sequences, T tokens.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from transformers.utils import logging

__all__ = ["SYNTAX_COLUMNS", "check_columns", "needed_columns", "with_syntax_columns"]

logger = logging.get_logger(__name__)

SYNTAX_COLUMNS = ("upos_ids", "casing_ids", "subword_ids", "deprel_ids", "head_positions")


def with_syntax_columns(forward: Callable) -> Callable:
    """Names the syntax columns in the signature of a `forward` that hands them on among its keyword arguments.

    `Trainer` drops the columns of a data set that it does not see there.
    """
    signature = inspect.signature(forward)
    *parameters, keywords = signature.parameters.values()
    columns = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=torch.LongTensor | None)
        for name in SYNTAX_COLUMNS
    ]
    signature = signature.replace(parameters=[*parameters, *columns, keywords])
    setattr(forward, "__signature__", signature)  # noqa: B010
    return forward


def needed_columns(needed: tuple[str, ...], given: Mapping[str, Tensor | None]) -> dict[str, Tensor] | None:
    """Picks the columns a model needs from those it is given, each `(B, T)`; `None` if it is given none of them.

    Raises:
        ValueError: If some but not all of the needed columns are given.
    """
    columns = {name: column for name, column in given.items() if name in needed and column is not None}
    missing = [name for name in needed if name not in columns]
    if not missing:
        return columns
    if len(missing) < len(needed):
        raise ValueError(
            f"the model needs the columns {list(needed)}, but {missing} are missing: "
            "load the tokenizer with columns=model.config.syntax_columns"
        )
    if not torch.compiler.is_compiling():
        logger.warning_once(
            f"called without {list(needed)}: the model runs without syntax. A syntax tokenizer makes these columns."
        )
    return None


def check_columns(columns: Mapping[str, Tensor], config: Any, shape: torch.Size) -> None:
    """Checks that columns have the shape `(B, T)` of the inputs and ids that there are."""
    check_shapes(columns, shape)
    sizes = {f"{feature}_ids": size for feature, size in config.feature_vocabulary_sizes.items()}
    check_ranges(columns, {**sizes, "head_positions": shape[1]})


def check_shapes(columns: Mapping[str, Tensor], shape: torch.Size) -> None:
    """Checks that every column is `(B, T)`: one of another shape could broadcast.

    Raises:
        ValueError: Naming the column and both shapes.
    """
    for name, column in columns.items():
        if column.shape != shape:
            raise ValueError(f"{name} has the shape {tuple(column.shape)}, the inputs have {tuple(shape)}")


def check_ranges(columns: Mapping[str, Tensor], sizes: Mapping[str, int]) -> None:
    """Checks that ids are below the size of their vocabulary; only on the CPU, outside compilation and export.

    Raises:
        ValueError: Naming the column, the example and the value.
    """
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        return
    for name, column in columns.items():
        if column.device.type != "cpu" or column.numel() == 0:
            continue
        low, high = torch.aminmax(column)
        if low < 0 or high >= sizes[name]:
            example, position = ((column < 0) | (column >= sizes[name])).nonzero()[0].tolist()
            raise ValueError(
                f"{name} of example {example} has {column[example, position].item()} at position {position}; "
                f"values are 0 to {sizes[name] - 1}"
            )
