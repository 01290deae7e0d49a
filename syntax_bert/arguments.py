"""Command-line arguments that the run scripts share."""

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import transformers
from transformers import HfArgumentParser, PreTrainedConfig, TrainingArguments
from transformers.models.auto.tokenization_auto import get_tokenizer_config

from .parsers.catalogue import load_parser
from .tokenization.tokenization_syntax_fast import SyntaxTokenizerFast

__all__ = [
    "ComparisonArguments",
    "GraphAttentionArguments",
    "ModelArguments",
    "SyntaxArguments",
    "check_sequence_length",
    "parse_arguments",
    "set_up_logging",
]


@dataclass
class ModelArguments:
    """The checkpoint, its features, and how texts are parsed."""

    model_name_or_path: str = field(metadata={"help": "Checkpoint to fine-tune: a Hub name or a folder."})
    syntax_features: list[str] | None = field(
        default=None,
        metadata={"help": "upos casing subword deprel: any of them; none for the plain model. Default: upos, or those "
        "of a syntax checkpoint."},
    )  # fmt: skip
    syntax_dropout: float | None = field(
        default=None, metadata={"help": "Probability that a training example is read without syntax."}
    )
    parser_beam_size: int | None = field(
        default=None, metadata={"help": "UDPipe's beam; 1 is fastest, 5 the default."}
    )
    parse_workers: int = field(default=1, metadata={"help": "Processes that parse and encode."})

    def config_options(self) -> dict[str, Any]:
        """Gives the config fields that are set here."""
        options: dict[str, Any] = {}
        features = self.syntax_features
        if features is not None:
            features = features.split() if isinstance(features, str) else list(features)  # a string in a JSON file
            options["syntax_features"] = [] if features == ["none"] else features
        if self.syntax_dropout is not None:
            options["syntax_dropout"] = self.syntax_dropout
        return options


@dataclass
class GraphAttentionArguments:
    """The graph attention; what is not set is as in the checkpoint, or in the paper."""

    graph_attention_layers: int | None = field(default=None, metadata={"help": "Layers."})
    graph_attention_heads: int | None = field(default=None, metadata={"help": "Heads."})
    graph_attention_head_size: int | None = field(default=None, metadata={"help": "Width of each head."})
    graph_attention_form: str | None = field(
        default=None, metadata={"help": "dot_product (the paper's) or additive (the released code's)."}
    )
    graph_attention_features: list[str] | None = field(default=None, metadata={"help": "upos, or upos deprel."})
    max_dependency_distance: int | None = field(
        default=None, metadata={"help": "Arcs between tokens that attend to each other."}
    )
    num_syntax_heads: int | None = field(default=None, metadata={"help": "Attention heads that it biases."})
    syntax_layers: list[int] | None = field(default=None, metadata={"help": "Encoder layers that it biases, from 0."})
    syntax_bias: str | None = field(
        default=None, metadata={"help": "query_key (the paper's) or key_value (the released code's)."}
    )
    structure_loss_weight: float | None = field(
        default=None, metadata={"help": "Weight of the loss by which it has to keep the tree; 0 for none."}
    )

    def graph_attention_options(self) -> dict[str, Any]:
        """Gives the config fields that are set here."""
        names = [each.name for each in fields(GraphAttentionArguments)]
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass
class SyntaxArguments(ModelArguments):
    """The checkpoint, its syntax and the parser."""

    parser: str | None = field(
        default=None,
        metadata={"help": "Language code of an embedded parser, a .udpipe file or a .conllu file. Default: the parser "
        "that a syntax checkpoint carries; en for a plain one."},
    )  # fmt: skip

    def load_tokenizer(self, columns: Sequence[str]) -> SyntaxTokenizerFast:
        """Loads the tokenizer of the checkpoint, to make these syntax columns; without columns it has no parser.

        Raises:
            ValueError: If a syntax checkpoint carries no parser and none is named.
        """
        name = self.model_name_or_path
        if self.parser is None:
            tokenizer = SyntaxTokenizerFast.from_pretrained(name, columns=columns, beam_size=self.parser_beam_size)
            if tokenizer.parser is not None or not columns:
                return tokenizer
            if "syntax" in get_tokenizer_config(name):
                raise ValueError(f"{name} carries no parser: name the one it was trained with by --parser")
        parser = load_parser(self.parser or "en", self.parser_beam_size) if columns else None
        return SyntaxTokenizerFast.from_pretrained(name, parser=parser, columns=columns)


@dataclass
class ComparisonArguments:
    """Several seeds, with a baseline beside the syntax model."""

    compare_baseline: bool = field(
        default=False, metadata={"help": "Also train the plain model, through the same code, and compare."}
    )
    seeds: list[int] | None = field(default=None, metadata={"help": "Seeds to train with. Default: --seed."})
    results_dir: str | None = field(
        default=None,
        metadata={"help": "Where each run's small JSON file goes; a run that is there is not repeated. "
        "Default: OUTPUT_DIR/results."},
    )  # fmt: skip


def check_sequence_length(max_seq_length: int, config: PreTrainedConfig) -> None:
    """Checks that the longest sequence holds a wordpiece beside its special tokens, and fits into the model."""
    if not 2 < max_seq_length <= config.max_position_embeddings:
        raise ValueError(
            f"--max_seq_length must be 3 to the model's {config.max_position_embeddings} positions, "
            f"got {max_seq_length}"
        )


def parse_arguments(*argument_classes: type, arguments: Sequence[str] | None = None) -> tuple:
    """Reads the command line, or a single JSON or YAML file named on it, into argument dataclasses."""
    parser = HfArgumentParser(argument_classes)
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if len(arguments) == 1 and arguments[0].endswith(".json"):
        return parser.parse_json_file(arguments[0])
    if len(arguments) == 1 and arguments[0].endswith((".yaml", ".yml")):
        return parser.parse_yaml_file(arguments[0])
    return parser.parse_args_into_dataclasses(arguments)


def set_up_logging(training_args: TrainingArguments) -> None:
    """Logs at the level of the training arguments, one line a message."""
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s", datefmt="%H:%M:%S")
    level = training_args.get_process_log_level()
    is_default = training_args.log_level == "passive" and training_args.should_log
    logging.getLogger("syntax_bert").setLevel(logging.INFO if is_default else level)
    transformers.utils.logging.set_verbosity(level)
