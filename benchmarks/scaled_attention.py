"""Time of distance-scaled self-attention over plain sdpa, and of a whole training step over plain Marian's.

Steps are interleaved in one run.

    python benchmarks/scaled_attention.py --lengths 32 64 128 256 512
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterable
from types import SimpleNamespace

import torch
from torch.nn.attention.flex_attention import create_block_mask
from transformers import MarianConfig, MarianMTModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from syntax_bert import SyntaxMarianConfig, SyntaxMarianMT
from syntax_bert.modeling.score_changes import ScoreChange, attend, flex_attend
from syntax_bert.translation_systems import BASE_SIZES

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
NUM_HEADS, HEAD_SIZE, NUM_TOKENS, VOCAB_SIZE = 8, 64, 4096, 8000


def measure(steps: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Gives the median seconds of each step, and the median of the ratios to the first."""
    # on one core, processor time is what a step takes, whatever else the machine does
    clock = time.perf_counter if DEVICE == "cuda" else time.process_time
    times: dict[str, list[float]] = {name: [] for name in steps}
    for repeat in range(repeats + 2):
        for name, step in steps.items():
            start = clock()
            step()
            if DEVICE == "cuda":
                torch.cuda.synchronize()
            if repeat >= 2:
                times[name].append(clock() - start)
    plain = next(iter(steps))
    medians = {f"{name}, seconds": round(statistics.median(values), 5) for name, values in times.items()}
    ratios = {
        f"{name} over {plain}": round(
            statistics.median(own / base for own, base in zip(values, times[plain], strict=True)), 3
        )
        for name, values in times.items()
        if name != plain
    }
    return medians | ratios


@torch.no_grad()
def forward_times(length: int, repeats: int) -> dict[str, float]:
    """Measures attention alone, without gradients and with padding, for sequences of one length."""
    size = max(2, NUM_TOKENS // length)
    query, key, value = torch.randn(3, size, length, NUM_HEADS, HEAD_SIZE, device=DEVICE).transpose(2, 3)
    lengths = torch.randint(length // 2, length + 1, (size, 1), device=DEVICE)
    mask = torch.arange(length, device=DEVICE) < lengths  # (B, T)
    dense = mask[:, None, None].expand(-1, 1, length, -1)
    change = ScoreChange(NUM_HEADS, torch.rand(size, length, length, device=DEVICE))
    blocks = create_block_mask(
        lambda batch, head, row, column: mask[batch, column], size, None, length, length, device=DEVICE
    )

    def scaled(implementation: str) -> None:
        module = SimpleNamespace(config=SimpleNamespace(_attn_implementation=implementation), training=False)
        attend(sdpa_attention_forward, change, module, query, key, value, dense, scaling=0.125)

    plain = SimpleNamespace(is_causal=False)
    return measure(
        {
            "sdpa": lambda: sdpa_attention_forward(plain, query, key, value, dense, scaling=0.125),
            "scaled": lambda: scaled("sdpa"),
            "scaled at once": lambda: scaled("eager"),
            "scaled by FlexAttention": lambda: flex_attend(query, key, value, blocks, change, 0.125, False),
        },
        repeats,
    )


def training_times(batch_size: int, length: int, repeats: int) -> dict[str, float]:
    """Measures a training step of the papers' Transformer, 6 + 6 layers, 512 wide."""
    sizes = {
        "vocab_size": VOCAB_SIZE,
        "pad_token_id": VOCAB_SIZE - 1,
        "decoder_start_token_id": VOCAB_SIZE - 1,
        **BASE_SIZES,
    }
    options = {
        "syntax_features": ["upos", "casing", "subword"],
        "feature_combination": "concat",
        "share_encoder_decoder_embeddings": False,
        "distance_scaling": "dependency",
    }
    generator = torch.Generator().manual_seed(0)

    def draw(low: int, high: int) -> torch.Tensor:
        return torch.randint(low, high, (batch_size, length), generator=generator)

    plain = {"input_ids": draw(5, VOCAB_SIZE - 1), "labels": draw(5, VOCAB_SIZE - 1)}
    plain["attention_mask"] = torch.ones_like(plain["input_ids"])
    columns = {"upos_ids": draw(2, 19), "casing_ids": draw(1, 3), "subword_ids": draw(1, 5)}
    columns["head_positions"] = draw(0, length).remainder(torch.arange(length).clamp(min=1))  # heads come first: trees
    batches = {"plain": plain, "features and scaling": plain | columns}
    models = {
        "plain": MarianMTModel(MarianConfig(**sizes)),
        "features and scaling": SyntaxMarianMT(SyntaxMarianConfig(**sizes, **options)),
    }

    def make_step(name: str) -> Callable[[], None]:
        model = models[name].to(DEVICE).train()
        batch = {column: tensor.to(DEVICE) for column, tensor in batches[name].items()}
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)

        def step() -> None:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()

        return step

    return measure({name: make_step(name) for name in models}, repeats)


def main(arguments: Iterable[str] | None = None) -> None:
    """Measures and prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=[32, 64, 128, 256, 512])
    parser.add_argument("--batch_size", type=int, default=32, help="Of the training step.")
    parser.add_argument("--length", type=int, default=64, help="Of the training step.")
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    result = {f"forward, {length} tokens": forward_times(length, 3 * options.repeats) for length in options.lengths}
    result["training step"] = training_times(options.batch_size, options.length, options.repeats)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
