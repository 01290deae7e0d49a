"""The command line: `syntax-bert COMMAND ...`."""

import copy
import json
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from transformers import DataCollatorWithPadding, Trainer, TrainingArguments, set_seed
from transformers.trainer_utils import SaveStrategy

from .arguments import GraphAttentionArguments, check_sequence_length, parse_arguments, set_up_logging
from .modeling.configuration_syntax_mbert import SyntaxMBertConfig
from .modeling.graph_attention import GraphAttention
from .modeling.modeling_syntax_mbert import SyntaxMBertWithGATForTreeReconstruction
from .tokenization.tokenization_syntax_fast import SyntaxTokenizerFast
from .tree_reconstruction import encode_treebanks, tree_scores

__all__ = ["main"]

logger = logging.getLogger(__name__)


@dataclass
class PretrainingArguments:
    """What graph attention is trained on, and measured with."""

    model: str = field(metadata={"help": "Encoder whose word embeddings it reads: a Hub name or a folder."})
    treebanks: list[str] = field(metadata={"help": "CoNLL-U files to train on."})
    heldout: list[str] = field(metadata={"help": "CoNLL-U files to measure with."})
    max_seq_length: int = field(default=128, metadata={"help": "Longest sentence in wordpieces."})
    control: bool = field(
        default=True, metadata={"help": "Also measure a probe trained over an untrained network, as the control."}
    )


def pretrain_gat(arguments: list[str]) -> dict[str, dict[str, float | None]]:
    """Trains graph attention to keep the trees of treebanks; its checkpoint loads into every task model.

    Writes the checkpoint and `tree_scores.json` to the output folder, and returns the scores of both networks.
    """
    pretraining_args, gat_args, training_args = parse_arguments(
        PretrainingArguments, GraphAttentionArguments, TrainingArguments, arguments=arguments
    )
    set_up_logging(training_args)
    if training_args.eval_strategy != "no":
        raise ValueError("held-out trees are measured after training only: leave out --eval_strategy")
    name = pretraining_args.model
    options = {"structure_loss_weight": 1.0, **gat_args.graph_attention_options()}
    config = SyntaxMBertConfig.from_pretrained(name, **options)
    check_sequence_length(pretraining_args.max_seq_length, config)
    columns = tuple(dict.fromkeys((*config.syntax_columns, "subword_ids")))  # the measures look at words
    tokenizer = SyntaxTokenizerFast.from_pretrained(name, columns=columns)
    train, heldout = (
        encode_treebanks(files, tokenizer, pretraining_args.max_seq_length)
        for files in (pretraining_args.treebanks, pretraining_args.heldout)
    )
    scores = {}
    for system in ("untrained", "trained") if pretraining_args.control else ("trained",):
        set_seed(training_args.seed)
        model, loaded = SyntaxMBertWithGATForTreeReconstruction.from_pretrained(
            name, config=config, dtype="float32", output_loading_info=True
        )
        args = training_args
        if system == "untrained" and not any("graph_attention" in key for key in loaded["missing_keys"]):
            raise ValueError(f"the graph attention of {name} is trained, and no control: add --control False")
        model.freeze_encoder()
        remove_dropout(model.bert.graph_attention)
        if system == "untrained":
            model.bert.graph_attention.requires_grad_(False)
            args = copy.copy(training_args)
            args.save_strategy, args.resume_from_checkpoint = SaveStrategy.NO, None
        trainer = Trainer(
            model,
            args,
            data_collator=DataCollatorWithPadding(tokenizer),
            train_dataset=train,
            processing_class=SyntaxTokenizerFast.from_pretrained(name),  # saved, to make what a model's config needs
        )
        trainer.train(resume_from_checkpoint=args.resume_from_checkpoint)
        scores[system] = tree_scores(trainer.model, heldout, tokenizer, training_args.eval_batch_size)
        logger.info("%s: %s", system, scores[system])
    if training_args.should_save:
        folder = Path(str(training_args.output_dir))
        trainer.save_model()
        text = json.dumps(scores, indent=1)
        (folder / "tree_scores.json").write_text(text + "\n", encoding="utf-8")
        print(text)
    return scores


def remove_dropout(network: GraphAttention) -> None:
    """Trains a network without dropout: noise on its vectors would be noise on the distances."""
    network.dropout.p = 0.0
    for layer in network.layers:
        setattr(layer, "dropout", 0.0)  # noqa: B010, mypy takes it for a tensor


COMMANDS: dict[str, Callable] = {"pretrain-gat": pretrain_gat}


def main(arguments: list[str] | None = None) -> None:
    """Runs the command that is named first."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] not in COMMANDS:
        summaries = (f"  {name:<16}{(command.__doc__ or '').splitlines()[0]}" for name, command in COMMANDS.items())
        is_wanted = arguments in (["--help"], ["-h"])
        unknown = [] if is_wanted or not arguments else [f"\nunknown command {arguments[0]!r}"]
        usage = ["usage: syntax-bert COMMAND ...; syntax-bert COMMAND --help\n", *summaries, *unknown]
        print(*usage, sep="\n", file=sys.stdout if is_wanted else sys.stderr)
        sys.exit(0 if is_wanted else 2)
    COMMANDS[arguments[0]](arguments[1:])
