"""Fine-tunes a multilingual encoder in one language and evaluates it in many, with the help of their dependency trees.

    python run_xtreme_syntax.py --model_name_or_path bert-base-multilingual-cased --task_name panx \
        --train_language en --eval_languages en de es fr --parsers en de=german.udpipe es=spanish.udpipe \
        fr=french.udpipe --compare_baseline --seeds 1 2 3 --output_dir output/panx

All arguments of transformers' TrainingArguments work too, a JSON or YAML file of arguments may be given instead, and
`accelerate launch run_xtreme_syntax.py ...` runs it on several devices.
"""

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from statistics import mean
from typing import Any, Literal

from datasets import Dataset
from transformers import (
    DataCollatorForTokenClassification,
    DataCollatorWithPadding,
    PreTrainedConfig,
    TrainingArguments,
)

import syntax_bert
from syntax_bert import SyntaxBertConfig, SyntaxMBertConfig, SyntaxTokenizerFast, UDPipeParser
from syntax_bert.arguments import (
    ComparisonArguments,
    GraphAttentionArguments,
    ModelArguments,
    check_sequence_length,
    parse_arguments,
    set_up_logging,
)
from syntax_bert.cross_lingual import check_trained, decode_predictions, language_scores, write_language_tables
from syntax_bert.cross_lingual_metrics import XTREME_METRICS, XTREME_PRIMARY_METRIC
from syntax_bert.data.xtreme import load_xtreme
from syntax_bert.data.xtreme_predictions import write_predictions
from syntax_bert.data.xtreme_tasks import XTREME_TASKS, XtremeData
from syntax_bert.encoding import encode_dataset, encode_questions, encode_texts, encode_words, known_labels
from syntax_bert.experiments import (
    compare_runs,
    dataset_digest,
    describe_model,
    describe_parser,
    file_digest,
    run_over_seeds,
)
from syntax_bert.modeling.configuration_syntax_bert import FEATURES
from syntax_bert.parsers.catalogue import named_parsers
from syntax_bert.training import predict, train_and_evaluate

logger = logging.getLogger("syntax_bert.run_xtreme_syntax")

HEADS = {
    "pair": "ForSequenceClassification",
    "tagging": "ForTokenClassification",
    "question-answering": "ForQuestionAnswering",
    "intent-and-slots": "ForIntentAndSlots",
}
ENCODERS: dict[str, Callable[..., dict[str, list]]] = {"pair": encode_texts, "question-answering": encode_questions}
KEPT = {"pair": ("label",)}
IDENTIFYING = ("train_language", "max_train_samples", "max_eval_samples", "max_seq_length")  # files by their digests
CONFIG_FIELDS = (
    "syntax_features",
    "syntax_dropout",
    "slot_decoder",
    "score_answer_sentences",
    *(each.name for each in fields(GraphAttentionArguments)),
)


@dataclass
class SystemArguments(ModelArguments):
    """The checkpoint and its syntax."""

    mechanism: Literal["none", "features", "gat"] = field(
        default="gat", metadata={"help": "Graph attention, features in the embeddings, or the plain model."}
    )
    parsers: list[str] | None = field(
        default=None,
        metadata={"help": "LANGUAGE=FILE.udpipe, or only LANGUAGE for an embedded parser. Default: those that the "
        "checkpoint carries, else en. Other languages are evaluated without syntax."},
    )  # fmt: skip
    syntax_learning_rate: float | None = field(
        default=None, metadata={"help": "Learning rate of the syntax weights. Default: that of all."}
    )
    slot_decoder: str | None = field(
        default=None,
        metadata={"help": "Slot layer of intents and slots: linear or crf. Default: the checkpoint's, or linear."},
    )
    system_name: str | None = field(
        default=None, metadata={"help": "Name of the system in tables and result files. Default: its mechanism."}
    )


@dataclass
class DataArguments:
    """The task and its data: from the Hub, or files."""

    task_name: str = field(metadata={"help": f"One of {', '.join(XTREME_TASKS)}."})
    train_language: str = field(default="en", metadata={"help": "Language of the training data."})
    eval_languages: list[str] | None = field(default=None, metadata={"help": "Default: all that there are data for."})
    generalized: bool = field(
        default=False, metadata={"help": "Evaluate all ordered pairs of languages of a parallel task too."}
    )
    data_dir: str | None = field(default=None, metadata={"help": "Folder of local files."})
    train_file: str | None = field(default=None, metadata={"help": "Training data, instead of the folder's."})
    validation_file: str | None = field(default=None, metadata={"help": "Validation data of the training language."})
    test_files: list[str] | None = field(default=None, metadata={"help": "LANGUAGE=FILE for each evaluation file."})
    label_column: int = field(default=-1, metadata={"help": "Column of the labels in column files."})
    train_split_fraction: float | None = field(
        default=None, metadata={"help": "Share of the evaluation rows to train on where there are no training data."}
    )
    max_train_samples: int | None = field(default=None, metadata={"help": "Training rows, a fixed random choice."})
    max_eval_samples: int | None = field(default=None, metadata={"help": "Evaluated rows a language, the first ones."})
    max_seq_length: int = field(default=128, metadata={"help": "Longest sequence in wordpieces."})


def main(arguments: list[str] | None = None) -> dict[str, dict[int, float]]:
    """Runs the script; returns the mean score over languages by system and seed."""
    system_args, gat_args, data_args, comparison_args, training_args = parse_arguments(
        SystemArguments, GraphAttentionArguments, DataArguments, ComparisonArguments, TrainingArguments,
        arguments=arguments,
    )  # fmt: skip
    set_up_logging(training_args)
    if data_args.task_name not in XTREME_TASKS:
        raise ValueError(f"unknown task {data_args.task_name!r}; the tasks are {', '.join(XTREME_TASKS)}")
    # --eval_strategy sets do_eval
    if not training_args.do_train and not (training_args.do_eval and training_args.eval_strategy == "no"):
        training_args.do_train = training_args.do_eval = True
    if gat_args.graph_attention_options() and not training_args.do_train:
        options = sorted(gat_args.graph_attention_options())
        raise ValueError(f"evaluation alone takes the graph attention as it was trained: leave out {options}")
    systems = choose_systems(system_args, gat_args, comparison_args.compare_baseline)
    configs = {name: load_config(system_args, options, data_args) for name, options in systems.items()}
    data = load_data(data_args, None if training_args.do_train else next(iter(configs.values())))
    columns = tuple(dict.fromkeys(column for config in configs.values() for column in config.syntax_columns))
    tokenizer = load_tokenizer(system_args, columns)
    parsed = set(tokenizer.parser.paths) if columns else set()
    if columns and training_args.do_train and data_args.train_language not in parsed:
        language = data_args.train_language
        raise ValueError(f"there is no parser for {language!r}, the language of training: name it in --parsers")
    with training_args.main_process_first(desc="parsing and encoding"):
        encoded = encode(data, data_args, training_args, tokenizer, parsed, system_args.parse_workers)
    unparsed = [key for key, languages in data.languages.items() if not parsed.issuperset(languages)]
    if unparsed and columns:
        logger.warning("no parser, and so no syntax, for: %s", ", ".join(unparsed))
    settings = {
        "task": data_args.task_name,
        **describe_model(system_args.model_name_or_path),
        **{name: value for name, value in asdict(data_args).items() if name in IDENTIFYING},
        "data": {name: dataset_digest(rows) for name, rows in {"train": data.train, **data.evaluation}.items()},
    }
    syntax = describe_parser(tokenizer.parser) if columns else {}
    if columns:
        syntax["parsers"] = {language: file_digest(path) for language, path in tokenizer.parser.paths.items()}
    syntax["syntax_learning_rate"] = system_args.syntax_learning_rate
    measured = run_over_seeds(
        {
            name: {"mechanism": systems[name]["mechanism"], **describe_syntax(config)}
            | (syntax if config.syntax_columns else {})
            for name, config in configs.items()
        },
        comparison_args,
        training_args,
        settings,
        run=lambda name, args: fine_tune(system_args, data_args, systems[name], data, encoded, args),
    )
    metric = XTREME_PRIMARY_METRIC[data_args.task_name]
    if training_args.do_eval and training_args.should_save:
        for each in XTREME_METRICS[data_args.task_name]:
            folder = Path(str(training_args.output_dir))
            table = write_language_tables(measured, each, unparsed if columns else (), folder / "tables" / each)
            if each == metric:
                print(table)
    return compare_runs(measured, f"eval_mean_{metric}", training_args)


def choose_systems(
    system_args: SystemArguments, gat_args: GraphAttentionArguments, compare_baseline: bool
) -> dict[str, dict[str, Any]]:
    """Names the systems to train, with the config fields of each; the baseline comes first."""
    plain: dict[str, Any] = {"mechanism": "none", "syntax_features": [], "graph_attention_layers": 0}
    plain |= {"structure_loss_weight": 0.0, "score_answer_sentences": False}
    mechanism, syntax, attention = (
        system_args.mechanism,
        system_args.config_options(),
        gat_args.graph_attention_options(),
    )
    if mechanism not in ("none", "features", "gat"):
        raise ValueError(f"--mechanism must be none, features or gat, got {mechanism!r}")
    if attention and mechanism != "gat":
        raise ValueError(f"{sorted(attention)} need --mechanism gat")
    if mechanism == "none" and any(syntax.values()):
        raise ValueError(f"{sorted(syntax)} need --mechanism features or gat")
    if mechanism == "gat":
        if attention.get("graph_attention_layers") == 0:
            raise ValueError("--graph_attention_layers 0 is no graph attention: choose --mechanism features or none")
        options = {"mechanism": "gat", **syntax, **attention}
        name = "gat+structure" if options.get("structure_loss_weight") else "gat"
        name += "".join(f"+{feature}" for feature in options.get("syntax_features", ()))
    elif mechanism == "features":
        checkpoint = SyntaxBertConfig.from_pretrained(system_args.model_name_or_path)
        features = syntax.get("syntax_features", checkpoint.syntax_features or ["upos"])
        if not features:
            raise ValueError("--syntax_features none is the plain model: choose --mechanism none")
        ordered = [feature for feature in FEATURES if feature in features]
        ordered += [feature for feature in features if feature not in FEATURES]  # which the config refuses
        options = {**plain, **syntax, "mechanism": "features", "syntax_features": ordered}
        name = "+".join(ordered)
    else:
        options, name = plain, "plain"
    if system_args.slot_decoder is not None:
        plain["slot_decoder"] = options["slot_decoder"] = system_args.slot_decoder
    name = system_args.system_name or name
    if not compare_baseline:
        return {name: options}
    if system_args.mechanism == "none" or name == "plain":
        raise ValueError("there is nothing to compare the plain model with: choose --mechanism features or gat")
    return {"plain": plain, name: options}


def load_config(system_args: SystemArguments, options: dict[str, Any], data_args: DataArguments) -> PreTrainedConfig:
    """Loads the checkpoint's configuration with the fields of a system."""
    config_class = SyntaxMBertConfig if options["mechanism"] == "gat" else SyntaxBertConfig
    set_fields = {name: value for name, value in options.items() if name != "mechanism"}
    config = config_class.from_pretrained(system_args.model_name_or_path, **set_fields)
    if XTREME_TASKS[data_args.task_name].kind != "question-answering":
        config.score_answer_sentences = False  # no other head reads the columns for it
    check_sequence_length(data_args.max_seq_length, config)
    return config


def describe_syntax(config: PreTrainedConfig) -> dict[str, Any]:
    """Gives the fields by which systems differ, whether they were set or are the checkpoint's."""
    values = {name: getattr(config, name) for name in CONFIG_FIELDS}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def load_data(data_args: DataArguments, trained: PreTrainedConfig | None) -> XtremeData:
    """Loads the task, with the labels of a trained checkpoint if there is one."""
    labels: list[str] = []
    if trained is not None and XTREME_TASKS[data_args.task_name].kind != "question-answering":
        labels = [name for _, name in sorted(trained.id2label.items())]
    return load_xtreme(
        data_args.task_name,
        data_args.train_language,
        listed(data_args.eval_languages),
        data_dir=data_args.data_dir,
        generalized=data_args.generalized,
        label_column=data_args.label_column,
        train_split_fraction=data_args.train_split_fraction,
        train_file=data_args.train_file,
        validation_file=data_args.validation_file,
        test_files=named_values(listed(data_args.test_files), "--test_files"),
        with_train=trained is None,
        labels=labels,
        intents=() if trained is None else trained.intents,
    )


def listed(values: list[str] | str | None) -> list[str] | None:
    """Gives the values of an option, which a JSON or YAML file may have as one string."""
    return values.split() if isinstance(values, str) else values


def named_values(values: list[str] | None, option: str) -> dict[str, str]:
    """Reads NAME=VALUE of an option."""
    pairs = [value.partition("=") for value in values or ()]
    for name, sign, value in pairs:
        if not (name and sign and value):
            raise ValueError(f"{option} takes LANGUAGE=FILE, got {name + sign + value!r}")
    return {name: value for name, _, value in pairs}


def load_tokenizer(system_args: SystemArguments, columns: tuple[str, ...]) -> SyntaxTokenizerFast:
    """Loads the tokenizer of the checkpoint, with the parsers of the languages."""
    name, beam_size = system_args.model_name_or_path, system_args.parser_beam_size
    if not columns:
        return SyntaxTokenizerFast.from_pretrained(name, columns=())
    if system_args.parsers is None:
        tokenizer = SyntaxTokenizerFast.from_pretrained(name, columns=columns, beam_size=beam_size)
        if isinstance(tokenizer.parser, UDPipeParser):
            if None in tokenizer.parser.paths:
                raise ValueError(
                    f"{name} carries a parser without a language: name it as --parsers LANGUAGE=FILE.udpipe"
                )
            return tokenizer
    parsers = listed(system_args.parsers) or ["en"]
    named_values([value for value in parsers if "=" in value], "--parsers")
    parser = named_parsers(parsers, beam_size)
    return SyntaxTokenizerFast.from_pretrained(name, parser=parser, columns=columns)


def encode(
    data: XtremeData,
    data_args: DataArguments,
    training_args: TrainingArguments,
    tokenizer: SyntaxTokenizerFast,
    parsed: set[str],
    workers: int,
) -> dict[str, Dataset]:
    """Parses and encodes the training data and what is evaluated in each language."""
    parts: dict[str, tuple[Dataset, tuple[str, str]]] = {}
    if training_args.do_train and data.train is not None:
        train = data.train
        if data_args.max_train_samples is not None:
            train = train.shuffle(seed=0).select(range(min(data_args.max_train_samples, len(train))))
        parts["train"] = (train, (data_args.train_language,) * 2)
        if training_args.eval_strategy != "no":
            if data.validation is None:
                raise ValueError("--eval_strategy needs validation data: give --validation_file")
            parts["validation"] = (data.validation, (data_args.train_language,) * 2)
    if training_args.do_eval:
        for key, rows in data.evaluation.items():
            count = len(rows) if data_args.max_eval_samples is None else min(data_args.max_eval_samples, len(rows))
            data.evaluation[key] = rows.select(range(count))
            parts[key] = (data.evaluation[key], data.languages[key])
    encoded = {}
    for name, (rows, languages) in parts.items():
        codes = tuple(language if language in parsed else None for language in languages)
        options = {"columns": data.columns} if data.kind == "pair" else {}
        encoded[name] = encode_dataset(
            rows,
            tokenizer,
            ENCODERS.get(data.kind, encode_words),
            data_args.max_seq_length,
            workers,
            KEPT.get(data.kind, ()),
            languages=codes,
            **options,
        )
    return encoded


def fine_tune(
    system_args: SystemArguments,
    data_args: DataArguments,
    options: dict[str, Any],
    data: XtremeData,
    encoded: dict[str, Dataset],
    args: TrainingArguments,
) -> dict[str, float]:
    """Trains one system with one seed and evaluates it in every language; returns its metrics."""
    config = load_config(system_args, options, data_args)
    if args.do_train and data.labels:
        config.id2label = dict(enumerate(data.labels))
        config.label2id = {label: index for index, label in enumerate(data.labels)}
        config.problem_type = "single_label_classification" if data.kind == "pair" else None
    if args.do_train or not config.intents:
        config.intents = data.intents
    family = "SyntaxMBertWithGAT" if options["mechanism"] == "gat" else "SyntaxBert"
    model_class = getattr(syntax_bert, family + HEADS[data.kind])
    model, loaded = model_class.from_pretrained(
        system_args.model_name_or_path,
        config=config,
        dtype="float32",  # a checkpoint may be stored in half precision, in which training goes wrong
        ignore_mismatched_sizes=args.do_train,  # a head for other labels is not kept
        output_loading_info=True,
    )
    if not args.do_train:
        check_trained(system_args.model_name_or_path, config, loaded, data)
    is_labelled = data.kind in ("tagging", "intent-and-slots")
    tokenizer = load_tokenizer(system_args, config.syntax_columns)
    tokenizer.padding_side = "right"  # as the predictions are read
    collator = (DataCollatorForTokenClassification if is_labelled else DataCollatorWithPadding)(tokenizer)
    evaluations = {"eval": encoded["validation"]} if "validation" in encoded else {}
    trainer, metrics = train_and_evaluate(
        model,
        args,
        encoded.get("train"),
        evaluations,
        tokenizer,
        data_collator=collator,
        syntax_learning_rate=system_args.syntax_learning_rate,
    )
    for key in data.evaluation if args.do_eval else ():
        rows = encoded[key] if args.do_train else known_labels(encoded[key], config.num_labels, len(config.intents))
        outputs = predict(trainer, rows, f"eval_{key}")
        predictions = decode_predictions(data, key, encoded[key], outputs)
        scores = language_scores(data, key, predictions)
        metrics |= {f"eval_{key}_{name}": score for name, score in scores.items()}
        if args.should_save:
            write_predictions(data, key, predictions, Path(str(args.output_dir)) / "predictions")
    for name in XTREME_METRICS[data_args.task_name] if args.do_eval else ():
        metrics[f"eval_mean_{name}"] = mean(metrics[f"eval_{key}_{name}"] for key in data.evaluation)
    trainer.log_metrics("eval", metrics)
    return metrics


if __name__ == "__main__":
    main()
