"""Scores of translations: BLEU and chrF by sacrebleu (Post 2018, https://aclanthology.org/W18-6319)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest
from transformers import EvalPrediction, PreTrainedTokenizerBase

__all__ = ["compare_translations", "decode", "metrics_of_generated", "scores_by_length", "translation_scores"]

LENGTHS = (10, 15, 20, 30)  # words of a source, up to which a bucket goes


def translation_scores(translations: Sequence[str], references: Sequence[str], language: str = "") -> dict[str, Any]:
    """Gives `bleu` and `chrf` of a corpus, 0 to 100, and the signatures that say how they were computed.

    Args:
        translations: One a source.
        references: Likewise.
        language: Code of their language, by which sacrebleu chooses how words are split for BLEU.
    """
    scores: dict[str, Any] = {}
    for name, metric in (("bleu", BLEU(trg_lang=language)), ("chrf", CHRF())):
        scores[name] = metric.corpus_score(list(translations), [list(references)]).score
        scores[f"{name}_signature"] = str(metric.get_signature())
    return scores


def decode(tokenizer: PreTrainedTokenizerBase, ids: np.ndarray) -> list[str]:
    """Reads the texts of target ids `(B, T)`, -100 as padding."""
    return tokenizer.batch_decode(np.where(ids < 0, tokenizer.pad_token_id, ids), skip_special_tokens=True)


def metrics_of_generated(
    tokenizer: PreTrainedTokenizerBase, references: Sequence[str], language: str = ""
) -> Callable[[EvalPrediction], dict[str, float]]:
    """Makes a `compute_metrics` for `TokenBatchTrainer`: `bleu` and `chrf` of what it generates.

    Args:
        tokenizer: Reads what is generated.
        references: As they were written: the labels are cut, and lack what the vocabulary does not have.
        language: As in `translation_scores`.
    """

    def compute_metrics(outputs: EvalPrediction) -> dict[str, float]:
        translations = decode(tokenizer, outputs.predictions)
        scores = translation_scores(translations, references[: len(translations)], language)
        return {name: scores[name] for name in ("bleu", "chrf")}

    return compute_metrics


def scores_by_length(
    sources: Sequence[str], translations: Sequence[str], references: Sequence[str], language: str = ""
) -> list[dict[str, Any]]:
    """Scores the translations of short and of long sources: rows of `words`, `sentences`, `bleu` and `chrf`.

    Words are what spaces separate. Arguments are those of `translation_scores`, with the sources.
    """
    rows = []
    for low, high in zip((0, *LENGTHS), (*LENGTHS, None), strict=True):
        chosen = [
            index
            for index, source in enumerate(sources)
            if low < max(1, len(source.split())) and (high is None or len(source.split()) <= high)
        ]
        if chosen:
            made, meant = ([texts[index] for index in chosen] for texts in (translations, references))
            scores = translation_scores(made, meant, language)
            words = f"{low + 1}-{high}" if high else f"{low + 1}-"
            rows.append({"words": words, "sentences": len(chosen), "bleu": scores["bleu"], "chrf": scores["chrf"]})
    return rows


def compare_translations(
    systems: Mapping[str, Sequence[str]], references: Sequence[str], language: str = "", num_samples: int = 1000
) -> list[dict[str, Any]]:
    """Compares systems with the first by paired bootstrap resampling (Koehn 2004), as sacrebleu does.

    Args:
        systems: Translations of one test set by system, the baseline first.
        references: One of each.
        language: As in `translation_scores`.
        num_samples: Number of resampled test sets.

    Returns:
        One row a system with `system` and, for bleu and chrf, the score, half the width of its 95 % confidence
        interval (`bleu_interval`) and the p-value of the difference from the baseline (`bleu_p`, `None` for itself).
    """
    named: list[tuple[str, Sequence[str]]] = [(name, list(translations)) for name, translations in systems.items()]
    metrics = {
        "bleu": BLEU(references=[list(references)], trg_lang=language),
        "chrf": CHRF(references=[list(references)]),
    }
    test = PairedTest(named, metrics, references=None, test_type="bs", n_samples=num_samples)
    _, results = test()
    rows: list[dict[str, Any]] = [{"system": name} for name in systems]
    baseline = named[0][1]
    for metric in metrics:
        own: list[Any] = next(scores for name, scores in results.items() if name.lower().startswith(metric))
        for row, result in zip(rows, own, strict=True):
            row |= {metric: result.score, f"{metric}_interval": float(result.ci), f"{metric}_p": result.p_value}
            if result.p_value is not None and list(systems[row["system"]]) == baseline:
                row[f"{metric}_p"] = (
                    1.0  # sacrebleu counts samples with a larger difference, and none is larger than 0
                )
    return rows
