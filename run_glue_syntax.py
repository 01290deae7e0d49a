"""Fine-tunes BERT with syntax features on GLUE, or on one's own text classification data.

    python run_glue_syntax.py --model_name_or_path bert-base-uncased --task_name cola --output_dir output/cola \
        --syntax_features upos --compare_baseline --seeds 1 2 3 4 5

All arguments of transformers' TrainingArguments work too, a JSON or YAML file of arguments may be given instead, and
`accelerate launch run_glue_syntax.py ...` runs it on several devices.
"""

import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from datasets import Dataset
from transformers import TrainingArguments
from transformers.hf_argparser import HfArg

from syntax_bert import SyntaxBertConfig, SyntaxBertForSequenceClassification, SyntaxTokenizerFast
from syntax_bert.arguments import (
    ComparisonArguments,
    SyntaxArguments,
    asked_to_evaluate,
    check_sequence_length,
    parse_arguments,
    set_up_logging,
)
from syntax_bert.data.glue import (
    GLUE_TASKS,
    ClassificationData,
    label_options,
    load_classification_data,
    write_submission,
)
from syntax_bert.digests import short_digest
from syntax_bert.encoding import encode_dataset, encode_texts
from syntax_bert.experiments import (
    check_comparison,
    compare_runs,
    describe_model,
    describe_parser,
    run_over_seeds,
)
from syntax_bert.metrics import PRIMARY_METRIC, glue_compute_metrics
from syntax_bert.systems import choose_systems, describe_system
from syntax_bert.training import load_model, predict, train_and_evaluate


@dataclass
class DataArguments:
    """The data: a GLUE task from the Hub, or files."""

    task_name: str | None = HfArg(default=None, help=f"GLUE task: {', '.join(GLUE_TASKS)}.")
    train_file: str | None = HfArg(
        default=None, help="Training data: .jsonl, .csv (quotes are removed) or .tsv (read literally, as GLUE's are)."
    )
    validation_file: str | None = HfArg(default=None, help="Validation data.")
    validation_mismatched_file: str | None = HfArg(default=None, help="MNLI's second validation data.")
    test_file: str | None = HfArg(
        default=None, help="Test data; its predictions are OUTPUT_DIR/test.tsv, or named as GLUE wants."
    )
    test_mismatched_file: str | None = HfArg(default=None, help="MNLI's second test data.")
    text_columns: list[str] | None = HfArg(
        default=None,
        help="One or two text columns of own data. Default: the only one beside label and idx, or a "
        "pair named as GLUE's or text, text_pair.",
    )
    label_column: str = HfArg(
        default="label",
        help="Label column of own data. Integers and names are classes, other numbers (0.5) scores: regression.",
    )
    max_seq_length: int = HfArg(default=128, help="Longest sequence in wordpieces.")
    train_fraction: float = HfArg(default=1.0, help="Share of the training data, a fixed random choice.")

    def files(self) -> dict[str, str]:
        """Gives the file of each split."""
        names = ("train", "validation", "validation_mismatched", "test", "test_mismatched")
        return {name: file for name in names if (file := getattr(self, f"{name}_file")) is not None}


def choose_actions(training_args: TrainingArguments, files: dict[str, str]) -> dict[str, bool]:
    """Tells which kinds of split are used: those of --do_train and so on, else all that there are files for."""
    if not (training_args.do_train or training_args.do_predict or asked_to_evaluate(training_args)):
        training_args.do_train = not files or "train" in files
        training_args.do_eval = not files or any(split.startswith("validation") for split in files)
        training_args.do_predict = any(split.startswith("test") for split in files)
    wanted = {"train": training_args.do_train, "validation": training_args.do_eval, "test": training_args.do_predict}
    for (kind, is_wanted), action in zip(wanted.items(), ("train", "eval", "predict"), strict=True):
        if is_wanted and files and not any(split.startswith(kind) for split in files):
            raise ValueError(f"--do_{action} needs --{kind}_file")
    return wanted


def main(arguments: list[str] | None = None) -> dict[str, dict[int, float]]:
    """Runs the script; returns the score by system and seed."""
    syntax_args, data_args, comparison_args, training_args = parse_arguments(
        SyntaxArguments, DataArguments, ComparisonArguments, TrainingArguments, arguments=arguments
    )
    set_up_logging(training_args)
    wanted = choose_actions(training_args, data_args.files())
    config = SyntaxBertConfig.from_pretrained(syntax_args.model_name_or_path, **syntax_args.config_options())
    check_sequence_length(data_args.max_seq_length, config)
    if not training_args.do_train:
        check_classifier(syntax_args.model_name_or_path, config)
    systems = choose_systems(config, comparison_args.compare_baseline)
    check_comparison(len(systems), comparison_args, training_args)
    data = load_data(data_args, trained=None if training_args.do_train else config)
    tokenizer = syntax_args.load_tokenizer(config.syntax_columns)
    with training_args.main_process_first(desc="parsing and encoding"):
        encoded = encode(data, wanted, tokenizer, data_args.max_seq_length, syntax_args.parse_workers)
    metrics_task = data.task_name or ("stsb" if data.labels is None else "sst2")
    parser = describe_parser(tokenizer.parser)
    measured = run_over_seeds(
        {name: describe_system(own) | (parser if own.syntax_columns else {}) for name, own in systems.items()},
        comparison_args,
        training_args,
        settings={
            "task": data.task_name or Path(data_args.train_file or "data").stem,
            **describe_model(syntax_args.model_name_or_path),
            "data": {name: short_digest(file) for name, file in data_args.files().items() if "test" not in name},
            "text_columns": list(data.columns),
            **{name: getattr(data_args, name) for name in ("label_column", "train_fraction", "max_seq_length")},
        },
        run=lambda name, args: fine_tune(syntax_args, copy.deepcopy(systems[name]), data, encoded, metrics_task, args),
    )
    return compare_runs(measured, f"eval_{PRIMARY_METRIC[metrics_task]}", training_args)


def check_classifier(checkpoint: str, config: SyntaxBertConfig) -> None:
    """Checks that a checkpoint that is used as it is has a classifier, by its config."""
    if not any(name.endswith("ForSequenceClassification") for name in config.architectures or ()):
        raise ValueError(f"{checkpoint} has no trained classifier: add --do_train")


def load_data(data_args: DataArguments, trained: SyntaxBertConfig | None) -> ClassificationData:
    """Loads the data, and only a share of the training split if so asked."""
    if not 0 < data_args.train_fraction <= 1:
        raise ValueError(f"--train_fraction must be above 0 and at most 1, got {data_args.train_fraction}")
    data = load_classification_data(
        data_args.task_name, data_args.files(), data_args.text_columns, data_args.label_column, trained
    )
    if data_args.train_fraction < 1 and "train" in data.splits:
        train = data.splits["train"].shuffle(seed=0)
        data.splits["train"] = train.select(range(max(1, round(data_args.train_fraction * len(train)))))
    return data


def encode(
    data: ClassificationData,
    wanted: dict[str, bool],
    tokenizer: SyntaxTokenizerFast,
    max_seq_length: int,
    workers: int,
) -> dict[str, Dataset]:
    """Parses and encodes the splits that are used."""
    splits = [split for kind, is_wanted in wanted.items() if is_wanted for split in data.names(kind)]
    return {
        split: encode_dataset(
            data.splits[split], tokenizer, encode_texts, max_seq_length, workers, columns=data.columns
        )
        for split in splits
    }


def fine_tune(
    syntax_args: SyntaxArguments,
    config: SyntaxBertConfig,
    data: ClassificationData,
    encoded: dict[str, Dataset],
    metrics_task: str,
    args: TrainingArguments,
) -> dict[str, float]:
    """Trains, evaluates and predicts with one system and one seed; returns its metrics."""
    config.update(label_options(data.labels))
    model_class, checkpoint = SyntaxBertForSequenceClassification, syntax_args.model_name_or_path
    model, loaded = load_model(model_class, checkpoint, config, is_trained=not args.do_train)
    if not args.do_train and any(name.startswith("classifier") for name in loaded["missing_keys"]):
        raise ValueError(f"{checkpoint} has no trained classifier: add --do_train")
    evaluations = {
        split.replace("validation_matched", "eval").replace("validation", "eval"): encoded[split]
        for split in data.names("validation")
        if split in encoded
    }
    trainer, metrics = train_and_evaluate(
        model,
        args,
        encoded.get("train"),
        evaluations,
        syntax_args.load_tokenizer(config.syntax_columns),
        glue_compute_metrics(metrics_task),
    )
    for split in data.names("test") if args.do_predict else ():
        logits = predict(trainer, encoded[split], split)
        if args.should_save:
            predictions = np.ravel(logits) if data.labels is None else logits.argmax(-1)
            write_submission(data, split, predictions, args.output_dir)
    return metrics


if __name__ == "__main__":
    main()
