"""Training of translation: batches of so many tokens, and the initialisation of a model from scratch."""

from collections.abc import Iterator

import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler
from transformers import PreTrainedModel, Seq2SeqTrainer

from .training import changed_attributes

__all__ = ["TokenBatchSampler", "TokenBatchTrainer", "initialize_by_glorot"]


class TokenBatchSampler(Sampler[list[int]]):
    """Batches examples of like length, so that none has more tokens than asked for, padding included.

    The batches are made once, examples of equal length in random order, and come in another order in each epoch.

    Args:
        lengths: Tokens of each example, the larger of source and target.
        tokens_per_batch: Most tokens of a batch, on either side; a longer example is a batch by itself.
        seed: Of the order.

    Raises:
        ValueError: If a batch is to have no tokens.
    """

    def __init__(self, lengths: list[int], tokens_per_batch: int, seed: int):
        if tokens_per_batch < 1:
            raise ValueError(f"--tokens_per_batch must be at least 1, got {tokens_per_batch}")
        self.seed, self.epoch = seed, 0
        generator = torch.Generator().manual_seed(seed)
        order = torch.randperm(len(lengths), generator=generator).tolist()
        self.batches: list[list[int]] = [[]]
        for index in sorted(order, key=lengths.__getitem__):
            if self.batches[-1] and (len(self.batches[-1]) + 1) * lengths[index] > tokens_per_batch:
                self.batches.append([])
            self.batches[-1].append(index)

    def __len__(self) -> int:
        return len(self.batches)

    def set_epoch(self, epoch: int) -> None:
        """Chooses the epoch, as `Trainer` does."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(len(self.batches), generator=generator).tolist()
        return (self.batches[index] for index in order)


class TokenBatchTrainer(Seq2SeqTrainer):
    """A `Seq2SeqTrainer` whose training batches are measured in tokens; it evaluates in the order of the rows.

    Args:
        args: As in the parent.
        tokens_per_batch: See `TokenBatchSampler`; `None` for batches of so many examples.
        kwargs: As in the parent.
    """

    def __init__(self, *args, tokens_per_batch: int | None = None, **kwargs):
        self.tokens_per_batch = tokens_per_batch
        super().__init__(*args, **kwargs)

    def _get_eval_sampler(self, eval_dataset):
        with changed_attributes(self.args, train_sampling_strategy="sequential"):  # references are in this order
            return super()._get_eval_sampler(eval_dataset)

    def get_train_dataloader(self) -> DataLoader:
        """Gives the training batches."""
        if self.tokens_per_batch is None:
            return super().get_train_dataloader()
        dataset = self._remove_unused_columns(self.train_dataset, description="training")
        lengths = [max(map(len, pair)) for pair in zip(dataset["input_ids"], dataset["labels"], strict=True)]
        seed = self.args.seed if self.args.data_seed is None else self.args.data_seed
        sampler = TokenBatchSampler(lengths, self.tokens_per_batch, seed)
        loader = DataLoader(
            dataset,
            batch_sampler=sampler,
            collate_fn=self.data_collator,
            num_workers=self.args.dataloader_num_workers,
            pin_memory=self.args.dataloader_pin_memory,
        )
        return self.accelerator.prepare(loader)


@torch.no_grad()
def initialize_by_glorot(model: PreTrainedModel) -> None:
    """Draws the weights of linear layers by Glorot's uniform distribution and zeroes their biases.

    Token embeddings are normal with a standard deviation of their width's inverse root, padding zero.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear) and module is not model.get_output_embeddings():
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding) and module.weight.requires_grad:
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
            if module.padding_idx is not None:
                module.weight[module.padding_idx].zero_()
