"""Pre-training of graph attention on treebanks: `syntax-bert pretrain-gat`."""

import copy
import json
import logging
from dataclasses import dataclass
from pathlib import Path

import torch
from datasets import Dataset
from transformers import DataCollatorWithPadding, Trainer, TrainingArguments, set_seed
from transformers.hf_argparser import HfArg
from transformers.trainer_utils import SaveStrategy

from .arguments import GraphAttentionArguments, check_sequence_length, parse_arguments, set_up_logging
from .experiments import save_json
from .modeling.configuration_syntax_mbert import SyntaxMBertConfig
from .modeling.graph_attention import GraphAttention
from .modeling.modeling_syntax_mbert import SyntaxMBertWithGATForTreeReconstruction
from .tokenization.tokenization_syntax_fast import SyntaxTokenizerFast
from .tree_reconstruction import encode_treebanks, tree_scores

__all__ = ["pretrain_gat"]

logger = logging.getLogger(__name__)


@dataclass
class PretrainingArguments:
    """What graph attention is trained on, and measured with."""

    model: str = HfArg(help="Encoder whose word embeddings it reads: a Hub name or a folder.")
    treebanks: list[str] = HfArg(help="CoNLL-U files to train on.")
    heldout: list[str] = HfArg(help="CoNLL-U files to measure with.")
    max_seq_length: int = HfArg(default=128, help="Longest sentence in wordpieces.")
    control: bool = HfArg(default=True, help="Also measure a probe trained over an untrained network, as the control.")


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
        trainer = train_probe(name, config, train, tokenizer, training_args, is_control=system == "untrained")
        scores[system] = tree_scores(trainer.model, heldout, tokenizer, training_args.eval_batch_size)
        logger.info("%s: %s", system, scores[system])
    if training_args.should_save:
        trainer.save_model()
        save_json(Path(training_args.output_dir) / "tree_scores.json", scores)
        print(json.dumps(scores, indent=1))
    return scores


def train_probe(
    name: str, config: SyntaxMBertConfig, train: Dataset, tokenizer, args: TrainingArguments, is_control: bool
) -> Trainer:
    """Trains the graph attention with its probe, or as a control the probe over an untrained network."""
    set_seed(args.seed)
    model, loaded = SyntaxMBertWithGATForTreeReconstruction.from_pretrained(
        name, config=config, dtype="float32", output_loading_info=True
    )
    model.freeze_encoder()
    remove_dropout(model.bert.graph_attention)
    own = {key for key, _ in model.named_parameters() if "graph_attention" in key}
    is_new = own <= set(loaded["missing_keys"])
    if is_new:
        enlarge_weights(model.bert.graph_attention)
    if is_control:
        if not is_new:
            raise ValueError(f"the graph attention of {name} is trained, and no control: add --control False")
        model.bert.graph_attention.requires_grad_(False)
        args = copy.copy(args)
        args.save_strategy, args.resume_from_checkpoint = SaveStrategy.NO, None
    trainer = Trainer(
        model,
        args,
        data_collator=DataCollatorWithPadding(tokenizer),
        train_dataset=train,
        processing_class=SyntaxTokenizerFast.from_pretrained(name),  # saved, to make what a model's config needs
    )
    trainer.train(resume_from_checkpoint=args.resume_from_checkpoint)
    return trainer


def remove_dropout(network: GraphAttention) -> None:
    """Trains a network without dropout: noise on its vectors would be noise on the distances."""
    network.dropout.p = 0.0
    for layer in network.layers:
        setattr(layer, "dropout", 0.0)  # noqa: B010, mypy takes it for a tensor


@torch.no_grad()
def enlarge_weights(network: GraphAttention) -> None:
    """Enlarges new weights that attention depends on; otherwise it is nearly uniform at first, and long stays so."""
    for table in network.parameters(recurse=False):
        table.mul_(5)
    for layer in network.layers:
        layer.get_parameter("projection").mul_(4)
