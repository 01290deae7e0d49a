"""Time of a training step and of inference of SyntaxBert over plain BERT: same shapes, steps interleaved.

python benchmarks/overhead.py --batch_size 8 --length 128 --num_hidden_layers 12
"""

import argparse
import json
import statistics
import time

import torch
from transformers import BertConfig, BertForSequenceClassification

from syntax_bert import SyntaxBertConfig, SyntaxBertForSequenceClassification


def make_batch(batch_size: int, length: int, vocab_size: int) -> dict[str, torch.Tensor]:
    """Draws random inputs, columns and labels."""
    generator = torch.Generator().manual_seed(0)

    def draw(low: int, high: int) -> torch.Tensor:
        return torch.randint(low, high, (batch_size, length), generator=generator)

    return {
        "input_ids": draw(5, vocab_size),
        "attention_mask": torch.ones(batch_size, length, dtype=torch.long),
        "upos_ids": draw(1, 19),
        "casing_ids": draw(0, 3),
        "subword_ids": draw(0, 5),
        "deprel_ids": draw(1, 39),
        "labels": torch.arange(batch_size) % 2,
    }


def main() -> None:
    """Measures and prints one JSON object."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--batch_size", type=int, default=8)
    arguments.add_argument("--length", type=int, default=128)
    arguments.add_argument("--num_hidden_layers", type=int, default=12)
    arguments.add_argument("--hidden_size", type=int, default=768)
    arguments.add_argument("--repeats", type=int, default=10)
    arguments.add_argument("--syntax_features", nargs="*", default=["upos", "casing", "subword", "deprel"])
    options = arguments.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    shape = {
        "hidden_size": options.hidden_size,
        "num_hidden_layers": options.num_hidden_layers,
        "num_attention_heads": options.hidden_size // 64,
        "intermediate_size": 4 * options.hidden_size,
    }
    plain = BertForSequenceClassification(BertConfig(**shape))
    syntax = SyntaxBertForSequenceClassification(SyntaxBertConfig(**shape, syntax_features=options.syntax_features))
    batch = make_batch(options.batch_size, options.length, plain.config.vocab_size)
    batch = {name: tensor.to(device) for name, tensor in batch.items()}
    inputs = {
        "plain": {name: batch[name] for name in ("input_ids", "attention_mask", "labels")},
        "syntax": batch,
    }
    models = {"plain": plain.to(device), "syntax": syntax.to(device)}
    optimizers = {name: torch.optim.AdamW(model.parameters(), lr=1e-5) for name, model in models.items()}

    def train(name: str) -> None:
        models[name].train()(**inputs[name]).loss.backward()
        optimizers[name].step()
        optimizers[name].zero_grad()

    @torch.no_grad()
    def infer(name: str) -> None:
        models[name].eval()(**inputs[name])

    # On one core, processor time is what the step takes, whatever else the machine does.
    torch.set_num_threads(1)
    clock = time.perf_counter if device == "cuda" else time.process_time
    result = {}
    for kind, step in {"training step": train, "inference": infer}.items():
        times: dict[str, list[float]] = {name: [] for name in models}
        for repeat in range(options.repeats + 2):
            for name in sorted(models, reverse=repeat % 2 == 1):
                start = clock()
                step(name)
                if device == "cuda":
                    torch.cuda.synchronize()
                if repeat >= 2:
                    times[name].append(clock() - start)
        seconds = {name: statistics.median(values) for name, values in times.items()}
        result[kind] = {
            **{f"{name}, seconds": round(value, 4) for name, value in seconds.items()},
            "syntax over plain": round(
                statistics.median(s / p for s, p in zip(times["syntax"], times["plain"], strict=True)), 4
            ),
        }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
