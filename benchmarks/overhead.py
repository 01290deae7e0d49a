"""Time of a training step and of inference over plain BERT, of features and of graph attention.

All have the same shapes, their steps are interleaved in one run.

    python benchmarks/overhead.py --batch_size 8 --length 128 --num_hidden_layers 12
"""

import argparse
import json
import statistics
import time

import torch
from transformers import BertConfig, BertForSequenceClassification

from syntax_bert import (
    SyntaxBertConfig,
    SyntaxBertForSequenceClassification,
    SyntaxMBertConfig,
    SyntaxMBertWithGATForSequenceClassification,
)


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
        "head_positions": draw(0, length).remainder(torch.arange(length).clamp(min=1)),  # heads come first: trees
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
    features = SyntaxBertForSequenceClassification(SyntaxBertConfig(**shape, syntax_features=options.syntax_features))
    gat = SyntaxMBertWithGATForSequenceClassification(SyntaxMBertConfig(**shape))
    batch = make_batch(options.batch_size, options.length, plain.config.vocab_size)
    batch = {name: tensor.to(device) for name, tensor in batch.items()}
    models = {"plain": plain.to(device), "features": features.to(device), "gat": gat.to(device)}
    inputs = {name: batch for name in models}
    inputs["plain"] = {name: batch[name] for name in ("input_ids", "attention_mask", "labels")}
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
            order = list(models)
            for name in order[repeat % 3 :] + order[: repeat % 3]:
                start = clock()
                step(name)
                if device == "cuda":
                    torch.cuda.synchronize()
                if repeat >= 2:
                    times[name].append(clock() - start)
        result[kind] = {f"{name}, seconds": round(statistics.median(values), 4) for name, values in times.items()}
        for name in ("features", "gat"):
            ratios = [own / base for own, base in zip(times[name], times["plain"], strict=True)]
            result[kind][f"{name} over plain"] = round(statistics.median(ratios), 4)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
