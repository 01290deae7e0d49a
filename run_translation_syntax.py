"""Trains a Marian model that reads the syntax of its source, from a pretrained checkpoint or from scratch.

    python run_translation_syntax.py --train_file train.en train.de --validation_file val.en val.de \
        --test_file test.en test.de --train_tokenizer 8000 --config_overrides d_model=256,encoder_layers=3 \
        --feature_combination concat --distance_scaling dependency --compare_baseline --output_dir output/en-de

All arguments of transformers' Seq2SeqTrainingArguments work too, a JSON or YAML file of arguments may be given
instead, and `accelerate launch run_translation_syntax.py ...` runs it on several devices.
"""

import copy
import logging
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from datasets import Dataset
from transformers import DataCollatorForSeq2Seq, Seq2SeqTrainingArguments
from transformers.hf_argparser import HfArg

from syntax_bert import SyntaxMarianConfig, SyntaxMarianTokenizer
from syntax_bert.arguments import (
    ComparisonArguments,
    GraphAttentionArguments,
    asked_to_evaluate,
    check_sequence_length,
    parse_arguments,
    set_up_logging,
)
from syntax_bert.data.parallel_text import load_parallel_text, load_parallel_text_from_hub
from syntax_bert.digests import dataset_digest
from syntax_bert.encoding import encode_dataset, encode_translations
from syntax_bert.experiments import (
    check_comparison,
    compare_runs,
    describe_model,
    describe_parser,
    run_over_seeds,
    save_json,
)
from syntax_bert.training import predict, train_and_evaluate
from syntax_bert.translation_metrics import (
    compare_translations,
    decode,
    metrics_of_generated,
    scores_by_length,
    translation_scores,
)
from syntax_bert.translation_systems import (
    EncoderArguments,
    TranslationArguments,
    choose_translation_systems,
    describe_translation,
    make_model,
)
from syntax_bert.translation_training import TokenBatchTrainer
from syntax_bert.translation_vocabulary import train_marian_tokenizer

logger = logging.getLogger("syntax_bert.run_translation_syntax")

SPLITS = {"train": "do_train", "validation": "do_eval", "test": "do_predict"}
IDENTIFYING = ("train_tokenizer", "train_fraction", "max_length", "tokens_per_batch")


@dataclass
class DataArguments:
    """Parallel text: two aligned files, one of JSON Lines, or a data set from the Hub.

    Without `--do_train`, `--do_eval` or `--do_predict`, all three are done.
    """

    train_file: list[str] | None = HfArg(default=None, help="SOURCE TARGET, or one .jsonl file.")
    validation_file: list[str] | None = HfArg(default=None, help="Validation data, likewise.")
    test_file: list[str] | None = HfArg(default=None, help="Test data, likewise.")
    dataset_name: str | None = HfArg(default=None, help="Data set from the Hub, for all splits.")
    dataset_config_name: str | None = HfArg(default=None, help="Its configuration.")
    train_tokenizer: int | None = HfArg(
        default=None, help="Train a joint vocabulary of so many pieces on the training data, for a model from scratch."
    )
    train_fraction: float = HfArg(default=1.0, help="Share of the training data, a fixed random choice.")
    max_length: int = HfArg(default=128, help="Longest source and target in pieces.")
    tokens_per_batch: int | None = HfArg(
        default=None, help="Training batches of at most so many tokens. Default: of so many examples."
    )


def main(arguments: list[str] | None = None) -> dict[str, dict[int, float]]:
    """Runs the script; returns BLEU on the test data by system and seed."""
    model_args, encoder_args, gat_args, data_args, comparison_args, training_args = parse_arguments(
        TranslationArguments, EncoderArguments, GraphAttentionArguments, DataArguments, ComparisonArguments,
        Seq2SeqTrainingArguments, arguments=arguments,
    )  # fmt: skip
    set_up_logging(training_args)
    if not (training_args.do_train or training_args.do_predict or asked_to_evaluate(training_args)):
        training_args.do_train = training_args.do_eval = training_args.do_predict = True
    training_args.predict_with_generate = True
    training_args.generation_max_length = training_args.generation_max_length or data_args.max_length
    data = load_data(model_args, data_args, training_args)
    choose_vocabulary(model_args, data_args, data.get("train"), training_args)
    options = encoder_args.encoder_options() | gat_args.graph_attention_options()
    systems = choose_translation_systems(model_args, options, comparison_args.compare_baseline)
    check_comparison(len(systems), comparison_args, training_args)
    for config in systems.values():
        check_sequence_length(data_args.max_length, config, "--max_length")
        check_sequence_length(training_args.generation_max_length, config, "--generation_max_length")
    tokenizers = {name: model_args.load_tokenizer(config.syntax_columns) for name, config in systems.items()}
    with training_args.main_process_first(desc="parsing and encoding"):
        encoded = {
            name: {
                split: encode_dataset(
                    rows, tokenizer, encode_translations, data_args.max_length, model_args.parse_workers
                )
                for split, rows in data.items()
            }
            for name, tokenizer in tokenizers.items()
        }
    measured = run_over_seeds(
        {
            name: describe_translation(config)
            | (describe_parser(tokenizers[name].parser) if config.syntax_columns else {})
            for name, config in systems.items()
        },
        comparison_args,
        training_args,
        settings={
            "task": "translation",
            "from_scratch": model_args.from_scratch,
            **({} if data_args.train_tokenizer else describe_model(model_args.model_name_or_path)),
            **{name: getattr(data_args, name) for name in IDENTIFYING},
            **describe_generation(training_args),
            "data": {split: dataset_digest(rows) for split, rows in data.items()},
        },
        run=lambda name, args: fine_tune(
            model_args,
            data_args,
            copy.deepcopy(systems[name]),
            data,
            encoded[name],
            tokenizers[name],
            args,
        ),
    )
    if "test" in data:
        compare_by_bootstrap(measured, data["test"]["target"][:], model_args.target_lang, training_args)
    return compare_runs(measured, "test_bleu" if "test" in data else "eval_bleu", training_args, scale=1)


def describe_generation(args: Seq2SeqTrainingArguments) -> dict[str, Any]:
    """Gives what translations and the size of a batch of tokens depend on, beside what all scripts note."""
    given = args.generation_config
    config = None if given is None else TokenBatchTrainer.load_generation_config(given).to_diff_dict()
    names = ("generation_max_length", "generation_num_beams", "gradient_accumulation_steps", "world_size")
    return {**{name: getattr(args, name) for name in names}, "generation_config": config}


def choose_vocabulary(
    model_args: TranslationArguments,
    data_args: DataArguments,
    train: Dataset | None,
    training_args: Seq2SeqTrainingArguments,
) -> None:
    """Trains a vocabulary for a model from scratch, if there is no checkpoint."""
    if train is None and (model_args.from_scratch or data_args.train_tokenizer is not None):
        raise ValueError("a model from scratch is trained first: add --do_train")
    if bool(model_args.model_name_or_path) == (data_args.train_tokenizer is not None):
        raise ValueError("give --model_name_or_path, or --train_tokenizer for a model from scratch")
    if data_args.train_tokenizer is not None:
        model_args.from_scratch = True
        model_args.model_name_or_path = str(Path(training_args.output_dir) / "vocabulary")
        with training_args.main_process_first(desc="training the vocabulary"):
            texts = [text for column in ("source", "target") for text in train[column]]
            train_marian_tokenizer(texts, model_args.model_name_or_path, data_args.train_tokenizer)


def load_data(
    model_args: TranslationArguments, data_args: DataArguments, training_args: Seq2SeqTrainingArguments
) -> dict[str, Dataset]:
    """Loads the splits that are needed, and only a share of the training split if so asked."""
    if not 0 < data_args.train_fraction <= 1:
        raise ValueError(f"--train_fraction must be above 0 and at most 1, got {data_args.train_fraction}")
    languages = (model_args.source_lang, model_args.target_lang)
    data = {}
    for split in (split for split, option in SPLITS.items() if getattr(training_args, option)):
        files = getattr(data_args, f"{split}_file")
        if files is not None:
            data[split] = load_parallel_text(files, *languages)
        elif data_args.dataset_name is not None:
            name, config = data_args.dataset_name, data_args.dataset_config_name
            data[split] = load_parallel_text_from_hub(name, config, split, *languages)
        else:
            raise ValueError(
                f"there are no {split} data: give --{split}_file or --dataset_name, or name what is to be done by "
                "--do_train, --do_eval and --do_predict"
            )
    if data_args.train_fraction < 1 and "train" in data:
        train = data["train"].shuffle(seed=0)
        data["train"] = train.select(range(max(1, round(data_args.train_fraction * len(train)))))
    return data


def fine_tune(
    model_args: TranslationArguments,
    data_args: DataArguments,
    config: SyntaxMarianConfig,
    data: dict[str, Dataset],
    encoded: dict[str, Dataset],
    tokenizer: SyntaxMarianTokenizer,
    args: Seq2SeqTrainingArguments,
) -> dict[str, float]:
    """Trains one system with one seed and translates the test data; returns its metrics.

    The model keeps the options that it was measured with, for `generate` and the pipeline.
    """
    model = make_model(model_args, config)
    if args.generation_config is not None:
        model.generation_config = TokenBatchTrainer.load_generation_config(args.generation_config)
        args.generation_config = None  # else it would replace what follows
    model.generation_config.max_length = args.generation_max_length
    if args.generation_num_beams is not None:
        model.generation_config.num_beams = args.generation_num_beams
    references = data["validation"]["target"][:] if "validation" in data else []
    trainer, metrics = train_and_evaluate(
        model,
        args,
        encoded.get("train"),
        {"eval": encoded["validation"]} if "validation" in encoded else {},
        tokenizer,
        compute_metrics=metrics_of_generated(tokenizer, references, model_args.target_lang),
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        trainer_class=partial(TokenBatchTrainer, tokens_per_batch=data_args.tokens_per_batch),
    )
    if "test" not in data:
        return metrics
    translations = decode(tokenizer, predict(trainer, encoded["test"]))
    sources, references = data["test"]["source"][:], data["test"]["target"][:]
    scores = translation_scores(translations, references, model_args.target_lang)
    if args.should_save:
        folder = Path(args.output_dir)
        (folder / "test.txt").write_text("".join(f"{text}\n" for text in translations), encoding="utf-8")
        samples = [dict(zip(("source", "reference", "translation"), texts, strict=True))
                   for texts in list(zip(sources, references, translations, strict=True))[:10]]  # fmt: skip
        by_length = scores_by_length(sources, translations, references, model_args.target_lang)
        save_json(folder / "translations.json", {**scores, "by_length": by_length, "samples": samples})
    logger.info("BLEU %.2f, chrF %.2f", scores["bleu"], scores["chrf"])
    return metrics | {f"test_{name}": score for name, score in scores.items()}


def compare_by_bootstrap(
    measured: dict[str, dict[int, dict[str, float]]],
    references: list[str],
    language: str,
    args: Seq2SeqTrainingArguments,
) -> None:
    """Compares the translations of the systems with the baseline's, seed by seed, where those measured are there."""
    rows = []
    for seed in next(iter(measured.values())):
        texts = {}
        for name, by_seed in measured.items():
            file = Path(args.output_dir) / name / f"seed-{seed}" / "test.txt"
            own = file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []
            if len(own) == len(references):
                scores = translation_scores(own, references, language)
                if all(by_seed[seed].get(f"test_{metric}") == scores[metric] for metric in ("bleu", "chrf")):
                    texts[name] = own  # else they are of a run with other settings
        if len(texts) == len(measured) > 1 and args.should_save:
            rows += [{"seed": seed, **row} for row in compare_translations(texts, references, language)]
        elif len(measured) > 1:
            logger.warning("seed %d: no bootstrap, the translations that were measured are not all there", seed)
    if rows:
        save_json(Path(args.output_dir) / "bootstrap.json", rows)
    for row in rows:
        print(*(f"{name}={value:.3f}" if isinstance(value, float) else f"{name}={value}"
                for name, value in row.items()))  # fmt: skip


if __name__ == "__main__":
    main()
