"""Fine-tunes a multilingual encoder in one language and evaluates it in many, with the help of their dependency trees.

    python run_xtreme_syntax.py --model_name_or_path bert-base-multilingual-cased --task_name panx \
        --train_language en --eval_languages en de es fr --parsers en de=german.udpipe es=spanish.udpipe \
        fr=french.udpipe --compare_baseline --seeds 1 2 3 --output_dir output/panx

All arguments of transformers' TrainingArguments work too, a JSON or YAML file of arguments may be given instead, and
`accelerate launch run_xtreme_syntax.py ...` runs it on several devices.
"""

import copy
import json
import logging
from dataclasses import dataclass
from pathlib import Path

from datasets import Dataset
from transformers import DataCollatorForTokenClassification, DataCollatorWithPadding, TrainingArguments
from transformers.hf_argparser import HfArg

import syntax_bert
from syntax_bert import SyntaxBertConfig, SyntaxMBertConfig, SyntaxTokenizerFast
from syntax_bert.arguments import (
    ComparisonArguments,
    GraphAttentionArguments,
    SystemArguments,
    asked_to_evaluate,
    check_sequence_length,
    parse_arguments,
    set_up_logging,
)
from syntax_bert.cross_lingual import check_trained, encode_task, evaluate_languages, limit_rows, parsed_languages
from syntax_bert.cross_lingual_metrics import XTREME_METRICS, XTREME_PRIMARY_METRIC
from syntax_bert.data.column_files import read_labels
from syntax_bert.data.glue import config_labels, label_options
from syntax_bert.data.xtreme import load_xtreme
from syntax_bert.data.xtreme_tasks import XTREME_TASKS, XtremeData
from syntax_bert.digests import dataset_digest
from syntax_bert.encoding import known_labels
from syntax_bert.experiments import (
    check_comparison,
    compare_runs,
    describe_model,
    describe_parser,
    run_over_seeds,
)
from syntax_bert.language_tables import write_language_tables
from syntax_bert.parsers.catalogue import named_values
from syntax_bert.systems import choose_config, choose_systems, describe_system
from syntax_bert.training import load_model, train_and_evaluate

logger = logging.getLogger("syntax_bert.run_xtreme_syntax")

HEADS = {
    "pair": "ForSequenceClassification",
    "tagging": "ForTokenClassification",
    "question-answering": "ForQuestionAnswering",
    "intent-and-slots": "ForIntentAndSlots",
}
# what a run depends on; files by their digests
IDENTIFYING = ("train_language", "train_split_fraction", "max_train_samples", "max_eval_samples", "max_seq_length")


@dataclass
class DataArguments:
    """The task and its data: from the Hub, or files."""

    task_name: str = HfArg(help=f"One of {', '.join(XTREME_TASKS)}.")
    train_language: str = HfArg(default="en", help="Language of the training data.")
    eval_languages: list[str] | None = HfArg(default=None, help="Default: all that there are data for.")
    generalized: bool = HfArg(default=False, help="Evaluate all ordered pairs of languages of a parallel task too.")
    data_dir: str | None = HfArg(default=None, help="Folder of local files.")
    train_file: str | None = HfArg(default=None, help="Training data, instead of the folder's.")
    validation_file: str | None = HfArg(default=None, help="Validation data of the training language.")
    test_files: list[str] | None = HfArg(default=None, help="LANGUAGE=FILE for each evaluation file.")
    label_column: int = HfArg(default=-1, help="Column of the labels in column files.")
    label_file: str | None = HfArg(
        default=None, help="All labels of conll, one a line, in the order of their ids. Default: those in the files."
    )
    train_split_fraction: float | None = HfArg(
        default=None, help="Share of the evaluation rows to train on where there are no training data."
    )
    max_train_samples: int | None = HfArg(default=None, help="Training rows, a fixed random choice.")
    max_eval_samples: int | None = HfArg(default=None, help="Evaluated rows a language, the first ones.")
    max_seq_length: int = HfArg(default=128, help="Longest sequence in wordpieces.")


def main(arguments: list[str] | None = None) -> dict[str, dict[int, float]]:
    """Runs the script; returns the mean score over languages by system and seed."""
    system_args, gat_args, data_args, comparison_args, training_args = parse_arguments(
        SystemArguments, GraphAttentionArguments, DataArguments, ComparisonArguments, TrainingArguments,
        arguments=arguments,
    )  # fmt: skip
    set_up_logging(training_args)
    choose_actions(training_args)
    check_split(system_args.model_name_or_path, data_args, training_args)
    systems = load_systems(system_args, gat_args, data_args, comparison_args, training_args)
    all_data = load_data(data_args, None if training_args.do_train else next(iter(systems.values())))
    data = limit_rows(all_data, data_args.max_train_samples, data_args.max_eval_samples)
    columns = tuple(dict.fromkeys(column for config in systems.values() for column in config.syntax_columns))
    tokenizer = system_args.load_tokenizer(columns)
    unparsed = unparsed_languages(data, tokenizer, data_args.train_language if training_args.do_train else None)
    splits = choose_splits(data, training_args)
    with training_args.main_process_first(desc="parsing and encoding"):
        encoded = encode_task(
            data,
            data_args.train_language,
            splits,
            tokenizer,
            data_args.max_seq_length,
            system_args.parse_workers,
        )
    evaluated = dict(data.evaluation)
    if training_args.load_best_model_at_end and data.validation is not None:
        evaluated["validation"] = data.validation
    syntax = {**describe_parser(tokenizer.parser), "syntax_learning_rate": system_args.syntax_learning_rate}
    measured = run_over_seeds(
        {
            name: describe_system(config) | (syntax if config.syntax_columns else {})
            for name, config in systems.items()
        },
        comparison_args,
        training_args,
        settings={
            "task": data_args.task_name,
            **describe_model(system_args.model_name_or_path),
            **{name: getattr(data_args, name) for name in IDENTIFYING},
            **({} if data_args.label_file is None else {"labels": all_data.labels}),
            "data": {name: dataset_digest(rows) for name, rows in {"train": all_data.train, **evaluated}.items()},
        },
        run=lambda name, args: fine_tune(system_args, copy.deepcopy(systems[name]), data, encoded, args),
    )
    if training_args.do_eval and training_args.should_save:
        for metric in XTREME_METRICS[data_args.task_name]:
            folder = Path(training_args.output_dir) / "tables" / metric
            table = write_language_tables(measured, metric, unparsed, folder)
            if metric == XTREME_PRIMARY_METRIC[data_args.task_name]:
                print(table)
    return compare_runs(measured, f"eval_mean_{XTREME_PRIMARY_METRIC[data_args.task_name]}", training_args)


def choose_actions(training_args: TrainingArguments) -> None:
    """Trains and evaluates unless only one of them is asked for."""
    if training_args.do_predict:
        raise ValueError("--do_predict has no data of its own here: --do_eval writes the predictions")
    if not training_args.do_train and not asked_to_evaluate(training_args):
        training_args.do_train = training_args.do_eval = True
    if training_args.load_best_model_at_end and training_args.metric_for_best_model not in ("loss", "eval_loss"):
        raise ValueError("the best model is chosen by the loss on validation data: leave out --metric_for_best_model")


def check_split(checkpoint: str, data_args: DataArguments, training_args: TrainingArguments) -> None:
    """Checks that what a checkpoint was trained on, out of the evaluation data, is not evaluated."""
    note = Path(checkpoint) / "run.json"
    trained = json.loads(note.read_text("utf-8")) if note.is_file() and not training_args.do_train else {}
    fraction = trained.get("train_split_fraction")
    if trained.get("task") == data_args.task_name and fraction not in (None, data_args.train_split_fraction):
        raise ValueError(f"{checkpoint} was trained on some of these data: add --train_split_fraction {fraction}")


def load_systems(
    system_args: SystemArguments,
    gat_args: GraphAttentionArguments,
    data_args: DataArguments,
    comparison_args: ComparisonArguments,
    training_args: TrainingArguments,
) -> dict[str, SyntaxBertConfig]:
    """Loads the configuration of each system, and checks all that can be checked before data are read."""
    if data_args.task_name not in XTREME_TASKS:
        raise ValueError(f"unknown task {data_args.task_name!r}; the tasks are {', '.join(XTREME_TASKS)}")
    options = gat_args.graph_attention_options()
    if options and not training_args.do_train:
        raise ValueError(f"evaluation alone takes the graph attention as trained: leave out {sorted(options)}")
    config = choose_config(system_args, options)
    kind = XTREME_TASKS[data_args.task_name].kind
    if kind != "question-answering":
        config.score_answer_sentences = False  # no other head reads the columns for it
    if kind != "intent-and-slots" and system_args.slot_decoder is not None:
        raise ValueError(f"--slot_decoder is for intents and slots, {data_args.task_name} has none")
    check_sequence_length(data_args.max_seq_length, config)
    systems = choose_systems(config, comparison_args.compare_baseline, system_args.system_name)
    check_comparison(len(systems), comparison_args, training_args)
    return systems


def load_data(data_args: DataArguments, trained: SyntaxBertConfig | None) -> XtremeData:
    """Loads the task, with the labels of a trained checkpoint if there is one."""
    is_labelled = XTREME_TASKS[data_args.task_name].kind != "question-answering"
    labels = (config_labels(trained) or []) if trained is not None and is_labelled else []
    if data_args.label_file is not None:
        labels = listed_labels(data_args, labels)
    data = load_xtreme(
        data_args.task_name,
        data_args.train_language,
        data_args.eval_languages,
        data_dir=data_args.data_dir,
        generalized=data_args.generalized,
        label_column=data_args.label_column,
        train_split_fraction=data_args.train_split_fraction,
        train_file=data_args.train_file,
        validation_file=data_args.validation_file,
        test_files=named_values(data_args.test_files or (), "--test_files"),
        with_train=trained is None,
        labels=labels,
        intents=() if trained is None else trained.intents,
    )
    if data_args.label_file is not None and (unlisted := data.labels[len(labels) :]):
        raise ValueError(f"{data_args.label_file} lacks the labels {unlisted} that the data have: add them")
    return data


def listed_labels(data_args: DataArguments, trained: list[str]) -> list[str]:
    """Reads the labels out of their file, and checks that they are those of a trained checkpoint if there is one."""
    if data_args.task_name != "conll":
        raise ValueError(f"--label_file is for conll, whose labels the data say, not for {data_args.task_name}")
    labels = read_labels(data_args.label_file)
    if trained and labels != trained:
        raise ValueError(f"{data_args.label_file} has {labels}, but the checkpoint was trained on {trained}")
    return labels


def unparsed_languages(data: XtremeData, tokenizer: SyntaxTokenizerFast, train_language: str | None) -> list[str]:
    """Lists the languages, or pairs, that are evaluated without syntax; there has to be syntax to train with."""
    if not tokenizer.syntax_columns:
        return []
    parsed = parsed_languages(tokenizer)
    if train_language is not None and train_language not in parsed:
        raise ValueError(f"there is no parser for {train_language!r}, the language of training: name it in --parsers")
    unparsed = [key for key, languages in data.languages.items() if not {*languages} <= {*parsed}]
    if unparsed:
        logger.warning("no parser, and so no syntax, for: %s", ", ".join(unparsed))
    return unparsed


def choose_splits(data: XtremeData, training_args: TrainingArguments) -> list[str]:
    """Lists what is encoded: training data, validation data for use while training, and what is evaluated."""
    splits = ["train"] if training_args.do_train else []
    if training_args.do_train and training_args.eval_strategy != "no":
        if data.validation is None:
            raise ValueError("--eval_strategy needs validation data: give --validation_file")
        splits.append("validation")
    return [*splits, *(data.evaluation if training_args.do_eval else ())]


def fine_tune(
    system_args: SystemArguments,
    config: SyntaxBertConfig,
    data: XtremeData,
    encoded: dict[str, Dataset],
    args: TrainingArguments,
) -> dict[str, float]:
    """Trains one system with one seed and evaluates it in every language; returns its metrics."""
    if args.do_train and data.labels:
        config.update(label_options(data.trained_labels, is_single=data.kind == "pair"))
    config.intents = data.trained_intents if args.do_train else config.intents or data.intents
    family = "SyntaxMBertWithGAT" if isinstance(config, SyntaxMBertConfig) else "SyntaxBert"
    model_class = getattr(syntax_bert, family + HEADS[data.kind])
    checkpoint = system_args.model_name_or_path
    model, loaded = load_model(model_class, checkpoint, config, is_trained=not args.do_train)
    if not args.do_train:
        check_trained(checkpoint, config, loaded, data)
    tokenizer = system_args.load_tokenizer(config.syntax_columns)
    tokenizer.padding_side = "right"  # as the predictions are read
    is_labelled = data.kind in ("tagging", "intent-and-slots")
    evaluations = {}
    if "validation" in encoded:
        evaluations["eval"] = known_labels(encoded["validation"], config.num_labels, len(config.intents))
    trainer, metrics = train_and_evaluate(
        model,
        args,
        encoded.get("train"),
        evaluations,
        tokenizer,
        data_collator=(DataCollatorForTokenClassification if is_labelled else DataCollatorWithPadding)(tokenizer),
        syntax_learning_rate=system_args.syntax_learning_rate,
    )
    if args.do_eval:
        metrics |= evaluate_languages(
            trainer, data, encoded, Path(args.output_dir) / "predictions" if args.should_save else None
        )
    trainer.log_metrics("eval", metrics)
    return metrics


if __name__ == "__main__":
    main()
