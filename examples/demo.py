"""From sentences to a syntax-aware classifier in a few minutes, on the CPU and without a network.

    python examples/demo.py --output_dir output/demo

Trains a small BERT to tell acceptable sentences from unacceptable ones ("The girl near the boys are happy."), three
times as it is and three times with syntax features, and shows a parse over wordpieces and the reloaded model at work.

The features are `upos` and `deprel`, which may help: the verb has to agree with its subject, not with the noun beside
it, and `deprel` names the subject (nsubj). Let the table tell.

Without pretraining the task is hard: no single word gives the label away, so that accuracy stays at 50 % until the
number of the subject and that of the verb are found together. A width of 128, a learning rate of 5e-4, no dropout,
and a vocabulary of frequent pieces, which splits many plurals into stem and ending, let the plain model find them on
agreement alone with every seed. Both systems get the same of everything. Most sentences are about agreement:
reflexives and fillers with gaps take longer to learn than a demo lasts.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from string import ascii_lowercase

from transformers import BertConfig, BertModel, BertTokenizer, pipeline, set_seed
from transformers.utils import logging

from syntax_bert import DEPRELS, UPOS, SyntaxTokenizerFast
from syntax_bert.data.agreement import agreement_splits
from syntax_bert.plots import plot_aligned_tree

RUN_SCRIPT = Path(__file__).parents[1] / "run_glue_syntax.py"
FEATURES = ["upos", "deprel"]
LABELS = {0: "unacceptable", 1: "acceptable"}
SENTENCES = (
    "The farmers who praised the singer are old.",
    "The farmers who praised the singer is old.",
    "The drivers who the uncle trusted have returned.",
)


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output_dir", type=Path, default=Path("output/demo"), help="where everything goes")
    parser.add_argument(
        "--num_sentences",
        type=int,
        default=2000,
        help="training sentences with agreement, a multiple of 32; an eighth as many with reflexives and with gaps, "
        "and half of all for validation",
    )
    parser.add_argument("--num_train_epochs", type=int, default=15)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    return parser.parse_args()


def announce(title: str) -> None:
    """Prints what comes next."""
    print(f"\n== {title}", flush=True)


def write_data(folder: Path, num_sentences: int) -> dict[str, list[dict]]:
    """Writes sentences with agreement, and an eighth as many with each other phenomenon, as JSON Lines."""
    folder.mkdir(parents=True, exist_ok=True)
    made = agreement_splits(3 * num_sentences, 3 * num_sentences // 2, seed=0)
    splits = {}
    for split, size, sentences in zip(("train", "validation"), (num_sentences, num_sentences // 2), made, strict=True):
        left = {"agreement": size, "reflexive": size // 8, "filler_gap": size // 8}
        splits[split] = []
        for row in sentences:
            (phenomenon,) = (name for name in left if row["phenomenon"].startswith(name))
            if left[phenomenon] > 0:
                left[phenomenon] -= 1
                splits[split].append({"sentence": row["sentence"], "judgement": LABELS[row["label"]]})
        lines = [json.dumps(row) + "\n" for row in splits[split]]
        (folder / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")
        print(f"{len(lines)} sentences in {folder / split}.jsonl")
    for row in splits["train"][:2]:
        print(f"    {row['judgement']:>12}: {row['sentence']}")
    return splits


def make_checkpoint(folder: Path, sentences: list[str]) -> None:
    """Saves a plain BERT with random weights, and a WordPiece tokenizer trained on the sentences."""
    letters = [f"##{letter}" for letter in ascii_lowercase]  # given first: else their ids, and ties, are random
    trained = BertTokenizer().train_new_from_iterator(
        sentences,
        vocab_size=1000,
        new_special_tokens=letters,
        min_frequency=len(sentences) // 25,
        show_progress=False,
    )
    tokenizer = BertTokenizer(vocab=trained.get_vocab(), model_max_length=64)
    tokenizer.save_pretrained(folder)
    set_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=512,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = BertModel(config)
    model.save_pretrained(folder)
    print(f"{folder}: {len(tokenizer)} wordpieces, {model.num_parameters():,} parameters")


def run_comparison(output_dir: Path, runs: Path, args: argparse.Namespace) -> None:
    """Trains the plain and the syntax model with each seed, as one would from the shell."""
    command = [
        *(sys.executable, str(RUN_SCRIPT)),
        *("--model_name_or_path", str(output_dir / "bert")),
        *("--train_file", str(output_dir / "data" / "train.jsonl")),
        *("--validation_file", str(output_dir / "data" / "validation.jsonl")),
        *("--text_columns", "sentence", "--label_column", "judgement", "--max_seq_length", "64"),
        *("--syntax_features", *FEATURES, "--parser", "en", "--parse_workers", "2"),
        *("--compare_baseline", "--seeds", *map(str, args.seeds), "--do_train", "--do_eval"),
        *("--learning_rate", "5e-4", "--warmup_steps", "0.1", "--num_train_epochs", str(args.num_train_epochs)),
        *("--per_device_train_batch_size", "32", "--per_device_eval_batch_size", "128"),
        *("--eval_strategy", "no", "--save_strategy", "epoch", "--save_total_limit", "1", "--save_only_model"),
        *("--logging_strategy", "no", "--log_level", "error", "--dataloader_pin_memory", "False"),
        *("--output_dir", str(runs)),
    ]
    print(shlex.join(command), flush=True)
    subprocess.run(command, check=True)


def show_tree(tokenizer: SyntaxTokenizerFast, sentence: str, path: Path) -> None:
    """Prints and draws tags and heads of the wordpieces of a sentence, read off the tokenizer's columns."""
    encoding = tokenizer(sentence)
    wordpieces, heads = encoding.tokens(), encoding["head_positions"]
    tags = ["", "", *UPOS]  # ids 0 and 1: padding, none
    relations = ["", "", *DEPRELS]
    upos = [tags[i] for i in encoding["upos_ids"]]
    deprels = [relations[i] for i in encoding["deprel_ids"]]
    for wordpiece, tag, deprel, head in zip(wordpieces, upos, deprels, heads, strict=True):
        print(f"    {wordpiece:12} {tag:6} {deprel:10} {wordpieces[head]}")
    plot_aligned_tree(wordpieces, heads, deprels, path, title=sentence, tags=upos)


def main() -> None:
    """Runs the demo."""
    args = parse_arguments()
    output_dir = args.output_dir
    runs = output_dir / "demo-runs"
    shutil.rmtree(runs, ignore_errors=True)  # finished runs would be skipped
    logging.disable_progress_bar()

    announce("Data: minimal pairs from a small grammar; no two people meet in both files")
    splits = write_data(output_dir / "data", args.num_sentences)

    announce("A plain BERT checkpoint to start from")
    make_checkpoint(output_dir / "bert", [row["sentence"] for row in splits["train"]])

    announce("Plain BERT beside BERT with syntax features; everything is parsed once, by the embedded parser")
    run_comparison(output_dir, runs, args)

    trained = runs / "+".join(FEATURES) / f"seed-{args.seeds[0]}"
    announce("What the tokenizer sees: wordpiece, part of speech, relation, head")
    tree = output_dir / "tree.png"
    columns = ("upos_ids", "deprel_ids", "head_positions")
    show_tree(SyntaxTokenizerFast.from_pretrained(trained, columns=columns), SENTENCES[2], tree)

    announce("Raw text through the saved model, which carries its code and its parser")
    classify = pipeline("text-classification", model=str(trained), trust_remote_code=True)
    for sentence, prediction in zip(SENTENCES, classify(list(SENTENCES)), strict=True):
        print(f"    {prediction['label']:>12} {prediction['score']:.3f}  {sentence}")

    announce("Where everything lies")
    for path, content in (
        (output_dir / "data", "the sentences"),
        (output_dir / "bert", "the plain checkpoint"),
        (runs / "comparison.md", "the table, with comparison.json and seeds.png beside it"),
        (trained, "a trained syntax model, ready to share"),
        (tree, "the tree"),
    ):
        print(f"    {path}: {content}")


if __name__ == "__main__":
    main()
