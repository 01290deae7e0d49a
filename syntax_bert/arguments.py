"""Command-line arguments that the run scripts share."""

import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import transformers
from transformers import HfArgumentParser, PreTrainedConfig, TrainingArguments
from transformers.hf_argparser import HfArg
from transformers.models.auto.tokenization_auto import get_tokenizer_config

from .corpora.stored_parses import load_stored_parses
from .parsers import Parser
from .parsers.catalogue import load_parser, named_parsers, named_values
from .tokenization.tokenization_syntax_fast import SyntaxTokenizerFast

__all__ = [
    "ComparisonArguments",
    "GraphAttentionArguments",
    "ModelArguments",
    "SyntaxArguments",
    "SystemArguments",
    "asked_to_evaluate",
    "check_sequence_length",
    "parse_arguments",
    "set_up_logging",
]


@dataclass
class ModelArguments(ABC):
    """The checkpoint, its features, and how texts are parsed."""

    tokenizer_class: ClassVar[Any] = SyntaxTokenizerFast

    model_name_or_path: str = HfArg(help="Checkpoint to fine-tune: a Hub name or a folder.")
    syntax_features: list[str] | None = HfArg(
        default=None,
        help="upos casing subword deprel: any of them, or none. Default: upos, or those of a syntax checkpoint.",
    )
    syntax_dropout: float | None = HfArg(
        default=None, help="Probability that a training example is read without syntax."
    )
    parser_beam_size: int | None = HfArg(default=None, help="UDPipe's beam; 1 is fastest, 5 the default.")
    parse_workers: int = HfArg(default=1, help="Processes that parse and encode.")
    parses: list[str] | None = HfArg(
        default=None,
        help="Folder that syntax-bert parse made (with --parsers: LANGUAGE=FOLDER ...): what is in it is not parsed "
        "again, and the parser that it holds is the tokenizer's.",
    )

    def __post_init__(self) -> None:
        folder = Path(self.model_name_or_path)
        files = ("config.json", "tokenizer_config.json", "tokenizer.json", "vocab.txt")
        if self.model_name_or_path and folder.is_dir() and not any((folder / file).is_file() for file in files):
            inside = ", ".join(sorted(str(path.parent) for path in folder.glob("*/seed-*/config.json"))) or "none"
            raise ValueError(f"{folder} holds no model; models of several runs in it: {inside}")

    def config_options(self) -> dict[str, Any]:
        """Gives the config fields that are set here."""
        options: dict[str, Any] = {}
        features = self.syntax_features
        if features is not None:
            options["syntax_features"] = [] if features == ["none"] else features
        if self.syntax_dropout is not None:
            options["syntax_dropout"] = self.syntax_dropout
        return options

    @abstractmethod
    def named_parser(self) -> Parser | None:
        """Makes the parser that is named; `None` if none is."""

    @abstractmethod
    def stored_parses(self, folders: Sequence[str]) -> Parser:
        """Opens parsed corpora as a parser."""

    @abstractmethod
    def default_parser(self) -> Parser:
        """Makes the parser of a plain checkpoint."""

    def load_tokenizer(self, columns: Sequence[str]) -> Any:
        """Loads the tokenizer of the checkpoint, to make these syntax columns.

        Its parser is the one that is named, else that of a syntax checkpoint, else the English one.

        Raises:
            ValueError: If a syntax checkpoint carries no parser and none is named.
        """
        name = self.model_name_or_path
        if not columns:
            return self.tokenizer_class.from_pretrained(name, columns=())
        parser = self.named_parser() if self.parses is None else self.stored_parses(self.parses)
        if parser is None and "syntax" not in get_tokenizer_config(name):
            parser = self.default_parser()
        if parser is not None:
            return self.tokenizer_class.from_pretrained(name, parser=parser, columns=columns)
        tokenizer = self.tokenizer_class.from_pretrained(name, columns=columns, beam_size=self.parser_beam_size)
        if tokenizer.parser is None:
            raise ValueError(f"{name} carries no parser: name one by --parser or --parsers, as it was trained with")
        return tokenizer


@dataclass
class GraphAttentionArguments:
    """The graph attention; what is not set is as in the checkpoint, or in the paper."""

    graph_attention_layers: int | None = HfArg(default=None, help="Layers.")
    graph_attention_heads: int | None = HfArg(default=None, help="Heads.")
    graph_attention_head_size: int | None = HfArg(default=None, help="Width of each head.")
    graph_attention_form: str | None = HfArg(
        default=None, help="dot_product (the paper's) or additive (the released code's)."
    )
    graph_attention_features: list[str] | None = HfArg(default=None, help="upos, or upos deprel.")
    max_dependency_distance: int | None = HfArg(default=None, help="Arcs between tokens that attend to each other.")
    num_syntax_heads: int | None = HfArg(default=None, help="Attention heads that it biases.")
    syntax_layers: list[int] | None = HfArg(default=None, help="Encoder layers that it biases, from 0.")
    syntax_bias: str | None = HfArg(default=None, help="query_key (the paper's) or key_value (the released code's).")
    structure_loss_weight: float | None = HfArg(
        default=None, help="Weight of the loss by which it has to keep the tree; 0 for none."
    )

    def graph_attention_options(self) -> dict[str, Any]:
        """Gives the config fields that are set here."""
        names = [each.name for each in fields(GraphAttentionArguments)]
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass
class SyntaxArguments(ModelArguments):
    """The checkpoint, its syntax and the parser."""

    parser: str | None = HfArg(
        default=None,
        help="Language code, .udpipe or .conllu file, or stanza:de, spacy:NAME. Default: the parser "
        "that a syntax checkpoint carries; en for a plain one.",
    )

    def named_parser(self) -> Parser | None:
        """Makes the parser that is named; `None` if none is."""
        return None if self.parser is None else load_parser(self.parser, self.parser_beam_size)

    def stored_parses(self, folders: Sequence[str]) -> Parser:
        """Opens a parsed corpus as a parser.

        Raises:
            ValueError: If there are several, or a parser is named too.
        """
        if len(folders) > 1 or self.parser is not None or self.parser_beam_size is not None:
            raise ValueError("--parses takes one folder, which brings its parser: leave out --parser and its beam")
        return load_stored_parses(folders[0])

    def default_parser(self) -> Parser:
        """Makes the parser of a plain checkpoint."""
        return load_parser("en", self.parser_beam_size)


@dataclass
class SystemArguments(ModelArguments):
    """The checkpoint and its syntax, with parsers of several languages."""

    mechanism: Literal["none", "features", "gat"] = HfArg(
        default="gat", help="Graph attention, features in the embeddings, or the plain model."
    )
    parsers: list[str] | None = HfArg(
        default=None,
        help="LANGUAGE=FILE.udpipe, or LANGUAGE for the one of that language. Default: those that the checkpoint "
        "carries; en for a plain one. Other languages are evaluated without syntax.",
    )
    syntax_learning_rate: float | None = HfArg(
        default=None, help="Learning rate of the syntax weights. Default: that of all."
    )
    slot_decoder: str | None = HfArg(
        default=None, help="Slot layer of intents and slots: linear or crf. Default: the checkpoint's, or linear."
    )
    score_answer_sentences: bool | None = HfArg(
        default=None, help="Score answers jointly with their sentences. Default: as the paper, with graph attention."
    )
    system_name: str | None = HfArg(
        default=None, help="Name of the system in tables and result files. Default: what it adds to the plain model."
    )

    def named_parser(self) -> Parser | None:
        """Makes the parser of the languages that are named; `None` if none is."""
        return None if self.parsers is None else named_parsers(self.parsers, self.parser_beam_size)

    def stored_parses(self, folders: Sequence[str]) -> Parser:
        """Opens the parsed corpora of languages as a parser, beside those that are named."""
        if self.parser_beam_size is not None and self.parsers is None:
            raise ValueError("--parses brings its parsers with their beam: leave out --parser_beam_size")
        others = None if self.parsers is None else named_parsers(self.parsers, self.parser_beam_size)
        return load_stored_parses(dict(named_values(folders, "--parses", "LANGUAGE=FOLDER")), others)

    def default_parser(self) -> Parser:
        """Makes the parser of a plain checkpoint."""
        return named_parsers(["en"], self.parser_beam_size)

    def load_tokenizer(self, columns: Sequence[str]) -> Any:
        """Loads the tokenizer of the checkpoint, to make these syntax columns, with a parser of each language.

        Raises:
            ValueError: If a syntax checkpoint carries no parser, or one without a language, and none is named.
        """
        tokenizer = super().load_tokenizer(columns)
        if columns and None in tokenizer.parser.paths:
            name = self.model_name_or_path
            raise ValueError(f"{name} carries a parser without a language: name it as --parsers LANGUAGE=FILE.udpipe")
        return tokenizer


@dataclass
class ComparisonArguments:
    """Several seeds, with a baseline beside the syntax model."""

    compare_baseline: bool = HfArg(
        default=False, help="Also train the plain model, through the same code, and compare."
    )
    seeds: list[int] | None = HfArg(default=None, help="Seeds to train with. Default: --seed.")
    results_dir: str | None = HfArg(
        default=None,
        help="Where each run's small JSON file goes; a run that is there is not repeated. "
        "Default: OUTPUT_DIR/results.",
    )


def check_sequence_length(length: int, config: PreTrainedConfig, option: str = "--max_seq_length") -> None:
    """Checks that the longest sequence holds a wordpiece beside its special tokens, and fits into the model."""
    if not 2 < length <= config.max_position_embeddings:
        raise ValueError(f"{option} must be 3 to the model's {config.max_position_embeddings} positions, got {length}")


def parse_arguments(*argument_classes: type, arguments: Sequence[str] | None = None) -> tuple:
    """Reads the command line, or a single JSON or YAML file named on it, into argument dataclasses."""
    parser = HfArgumentParser(argument_classes)
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if len(arguments) > 1 and arguments[0].endswith((".json", ".yaml", ".yml")):
        raise ValueError(f"{arguments[0]} holds all arguments: it takes no others beside it, got {arguments[1:]}")
    if len(arguments) == 1 and arguments[0].endswith(".json"):
        parsed = parser.parse_json_file(arguments[0])
    elif len(arguments) == 1 and arguments[0].endswith((".yaml", ".yml")):
        parsed = parser.parse_yaml_file(arguments[0])
    else:
        parsed = parser.parse_args_into_dataclasses(arguments)
    for each in parsed:
        check_types(each)
        if isinstance(each, TrainingArguments):
            check_training_arguments(each)
    return parsed


def check_training_arguments(args: TrainingArguments) -> None:
    """Refuses, before data are read, the training arguments with which no script works."""
    for name in ("remove_unused_columns", "eval_do_concat_batches"):
        if not getattr(args, name):
            raise ValueError(f"--{name} false does not work here: encoded data have more than a model reads")


def asked_to_evaluate(args: TrainingArguments) -> bool:
    """Tells whether --do_eval was given: --eval_strategy, which is about training, sets it too."""
    return args.do_eval and args.eval_strategy == "no"


def check_types(arguments: Any) -> None:
    """Refuses values of another type than a field's, which a JSON or YAML file may have: "1 2" is no list of numbers.

    Of transformers' own arguments, which take much, only numbers are checked: to YAML, 2e-5 is a text.
    """
    hints = get_type_hints(type(arguments))
    for each in fields(arguments):
        value, expected = getattr(arguments, each.name), hints[each.name]
        if isinstance(arguments, TrainingArguments):
            is_wrong = isinstance(each.default, float) and isinstance(value, str)
        else:
            options = get_args(expected) if get_origin(expected) in (Literal, UnionType) else (expected,)
            is_wrong = not any(has_type(value, option) for option in options)
        if is_wrong:
            name = each.type.__name__ if type(each.type) is type else each.type
            raise ValueError(f"{each.name} must be {name}, got {value!r}")


def has_type(value: Any, expected: Any) -> bool:
    """Tells whether a value is of a plain type, one of literal values, or a list."""
    if get_origin(expected) is list:
        return isinstance(value, list) and all(has_type(item, get_args(expected)[0]) for item in value)
    if not isinstance(expected, type):
        return isinstance(value, str)  # a choice, which is checked where it is used
    if isinstance(value, bool) or expected is bool:
        return isinstance(value, bool) and expected is bool
    return isinstance(value, (int, float) if expected is float else expected)


def set_up_logging(training_args: TrainingArguments) -> None:
    """Logs at the level of the training arguments, one line a message."""
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s", datefmt="%H:%M:%S")
    level = training_args.get_process_log_level()
    is_default = training_args.log_level == "passive" and training_args.should_log
    logging.getLogger("syntax_bert").setLevel(logging.INFO if is_default else level)
    transformers.utils.logging.set_verbosity(level)
