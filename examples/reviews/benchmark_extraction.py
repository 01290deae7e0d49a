"""Measures the cross-entropy method over a matrix of counts beside a plain loop over samples.

    python -m examples.reviews.benchmark_extraction --paper_file paper.json

Both draw the same samples from the same seeds. The loop has the stems of each sentence at hand and counts those of one
sample after the other. For comparison: the first 30 sentences with a keyword, 30 of them at random, and one draw from
the last probabilities, with which the original program ends.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from transformers.hf_argparser import HfArg

from syntax_bert import UDPipeParser, parser_path
from syntax_bert.arguments import parse_arguments

from . import cross_entropy as method
from .extract import KEYWORDS
from .extraction import DEFAULT_NUM_SAMPLES, MAX_READ, MAX_SENTENCES, read_keywords, sentences_of
from .paper_files import read_paper, split_sections
from .unigrams import content_stems, unigram_counts, unigram_entropy


@dataclass
class BenchmarkArguments:
    """The paper and the runs."""

    paper_file: str = HfArg(help="The paper: .json of science-parse, or plain text.")
    keyword_file: str = HfArg(default=str(KEYWORDS), help="Keywords. Default: some of machine-learning papers.")
    start_prob: float | None = HfArg(default=None, help="Starting probability. Default: 30 by number of candidates.")
    num_samples: int = HfArg(default=DEFAULT_NUM_SAMPLES, help="Samples of the first round.")
    seeds: list[int] = HfArg(default_factory=lambda: [0, 1, 2, 3, 4], help="Seeds.")


def loop_score(stems: Sequence[list[str]], sample: Sequence[bool], limit: int) -> float:
    """Scores one sample: its entropy, or minus the number of sentences beyond the limit."""
    chosen = [own for own, is_in in zip(stems, sample, strict=True) if is_in]
    if len(chosen) > limit:
        return float(limit - len(chosen))
    counts: Counter[str] = Counter()
    for own in chosen:
        counts.update(own)
    total = max(counts.total(), 1)
    return math.log(total) - sum(count * math.log(count) for count in counts.values()) / total


def select_by_loop(
    stems: Sequence[list[str]], limit: int, start_prob: float, num_samples: int, rng: np.random.Generator
) -> list[int]:
    """Chooses sentences as `select_sentences` does, one sample at a time."""
    probs = [start_prob] * len(stems)
    best: list[bool] = []
    best_score = 0.0
    thresholds: list[float] = []
    for _ in range(method.MAX_ROUNDS):
        scored = []
        for _ in range(num_samples):
            draws = rng.random(len(stems), dtype=np.float32).tolist()
            sample = [draw < prob for draw, prob in zip(draws, probs, strict=True)]
            scored.append((loop_score(stems, sample, limit), sample))
        scored.sort(key=lambda pair: -pair[0])
        elite = scored[: max(1, round(method.ELITE_SHARE * num_samples))]
        if elite[0][0] > best_score:
            best_score, best = elite[0]
        means = [sum(column) / len(elite) for column in zip(*(sample for _, sample in elite), strict=True)]
        probs = [
            method.SMOOTHING * prob + (1 - method.SMOOTHING) * mean for prob, mean in zip(probs, means, strict=True)
        ]
        thresholds.append(elite[-1][0])
        last = thresholds[-method.MAX_EQUAL_THRESHOLDS :]
        if (len(last) == method.MAX_EQUAL_THRESHOLDS and last[0] >= 0 and len({*last}) == 1) or {*probs} <= {0, 1}:
            break
        num_samples = method.NUM_LATER_SAMPLES
    return [index for index, is_in in enumerate(best) if is_in]


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Gives the seconds that a call takes, and its result."""
    start = perf_counter()
    result = function(*arguments)
    return perf_counter() - start, result


def main(arguments: list[str] | None = None) -> list[dict[str, float]]:
    """Runs the benchmark; returns what was measured with each seed."""
    (args,) = parse_arguments(BenchmarkArguments, arguments=arguments)
    keywords = read_keywords(args.keyword_file)
    sections = read_paper(args.paper_file)
    seconds, _ = timed(split_sections, sections, UDPipeParser(parser_path("en")))
    print(f"splitting into sentences, loading the parser included: {seconds:.2f} s")
    found = [sentence for sentence in sentences_of(sections)[:MAX_READ] if keywords.search(sentence)]
    if not found:
        raise ValueError(f"{args.paper_file} has no sentence with a keyword of {args.keyword_file}")
    counting, counts = timed(unigram_counts, found)
    stems = [content_stems(sentence) for sentence in found]
    size = min(MAX_SENTENCES, len(found))
    settings = (size, args.start_prob or size / len(found), args.num_samples)
    print(f"counting the stems of {len(found)} sentences with a keyword: {counting:.3f} s")
    measured = []
    for seed in args.seeds:
        matrix_time, selection = timed(method.select_sentences, counts, *settings, np.random.default_rng(seed))
        loop_time, looped = timed(select_by_loop, stems, *settings, np.random.default_rng(seed))
        rng = np.random.default_rng(seed)
        drawn = np.flatnonzero(rng.random(len(found)) < selection.probs)
        row = {
            "seed": seed,
            "matrix, s": matrix_time,
            "loop, s": loop_time,
            "times faster": loop_time / (matrix_time + counting),
            "entropy": unigram_entropy(counts[selection.sentences]),
            "loop's": unigram_entropy(counts[looped]),
            "random": unigram_entropy(counts[rng.permutation(len(found))[:size]]),
            "first": unigram_entropy(counts[:size]),
            "one draw": unigram_entropy(counts[drawn]),
            "its sentences": len(drawn),
        }
        measured.append(row)
        print(" | ".join(f"{name} {value:.4g}" for name, value in row.items()))
    return measured


if __name__ == "__main__":
    main()
