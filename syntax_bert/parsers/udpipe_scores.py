"""Scores of UDPipe models on treebanks, by UDPipe's own evaluator."""

import re
from collections.abc import Iterable

from ufal import udpipe

from syntax_bert.tokenization.udpipe_models import load_model

__all__ = ["MEASURES", "score_table", "score_udpipe"]

MEASURES = ("UPOS", "UAS", "LAS", "sentence F1")
NAMES = {"upostag": "UPOS", "UAS": "UAS", "LAS": "LAS"}
PERCENT = re.compile(r"(upostag|UAS|LAS): ([\d.]+)%")
SENTENCES = re.compile(r"Tokenizer sentences .*f1: ([\d.]+)%")


def score_udpipe(model: str, treebank: str, beam_size: int = 5) -> dict[str, dict[str, float]]:
    """Scores a model on CoNLL-U text, in percent; heads and relations with tags that the model computes.

    Args:
        model: Path of a `.udpipe` file.
        treebank: Sentences with gold trees.
        beam_size: Width of the parser's beam.

    Returns:
        UPOS, UAS and LAS from `"gold tokens"`, and their F1 with that of sentences from `"raw text"`.

    Raises:
        ValueError: If the model is damaged or has no tokenizer, tagger or parser, or the text is malformed.
    """
    loaded, options = load_model(model), udpipe.Evaluator.DEFAULT
    scores = {}
    for name, tokens in (("gold tokens", udpipe.Evaluator.NONE), ("raw text", options)):
        error = udpipe.ProcessingError()
        evaluator = udpipe.Evaluator(loaded, tokens, options, f"beam_search={beam_size}")
        report = evaluator.evaluate(treebank, error)
        if error.occurred():
            raise ValueError(f"{model}: {error.message}")
        scores[name] = {NAMES[kind]: float(value) for kind, value in PERCENT.findall(report)}
        if match := SENTENCES.search(report):
            scores[name]["sentence F1"] = float(match[1])
    return scores


def score_table(scores: Iterable[tuple[str, dict[str, dict[str, float]]]]) -> str:
    """Makes a Markdown table of scores, each with the name of its treebank."""
    rows = [(treebank, *item) for treebank, by_source in scores for item in by_source.items()]
    if not rows:
        return "None: no test sentences were given (--test, --test_fraction)."
    lines = [f"| treebank | from | {' | '.join(MEASURES)} |", f"|---|---|{'--:|' * len(MEASURES)}"]
    for treebank, source, measured in rows:
        cells = (f"{measured[name]:.2f}" if name in measured else "" for name in MEASURES)
        lines.append(f"| {treebank} | {source} | {' | '.join(cells)} |")
    return "\n".join(lines)
