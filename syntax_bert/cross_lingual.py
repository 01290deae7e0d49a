"""From what a model predicts in each language to scores, predictions and tables."""

import csv
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from transformers import PreTrainedConfig

from .comparison import compare_systems
from .cross_lingual_metrics import XtremeMetric
from .data.xtreme_tasks import XtremeData
from .experiments import Metrics, save_json, scores_by_seed
from .modeling.answer_spans import AnswerWindow, best_spans

__all__ = [
    "check_trained",
    "decode_predictions",
    "language_markdown",
    "language_rows",
    "language_scores",
    "write_language_tables",
]

UNPARSED = "†"
SYNTAX_PARTS = ("syntax_embeddings", "graph_attention", "attention_biases", "answer_sentences", "crf")


def check_trained(
    checkpoint: str, config: PreTrainedConfig, loaded: dict[str, Collection[str]], data: XtremeData
) -> None:
    """Checks that a checkpoint that is only evaluated was trained for this task, and with the mechanism asked for.

    Args:
        checkpoint: Its name.
        config: Its configuration.
        loaded: The keys that it lacks, and those that the model does not have, as `from_pretrained` gives them.
        data: The task.
    """
    missing = {name.partition(".")[0] for name in loaded["missing_keys"] if "pooler" not in name}
    if missing - {"bert"}:
        raise ValueError(f"{checkpoint} has no trained {', '.join(sorted(missing - {'bert'}))}: add --do_train")
    names = {*loaded["missing_keys"], *loaded["unexpected_keys"]}
    different = [part for part in SYNTAX_PARTS if any(part in name.split(".") for name in names)]
    if different:
        raise ValueError(f"{checkpoint} was trained with another --mechanism or its options: see {different}")
    labels = [name for _, name in sorted(config.id2label.items())]
    if data.labels and labels != data.labels[: len(labels)]:
        raise ValueError(f"{checkpoint} has the labels {labels}, but {data.task_name} has {data.labels}")


def decode_predictions(data: XtremeData, key: str, encoded: Dataset, outputs: Any) -> list[Any]:
    """Turns the outputs of a model for encoded rows into one prediction a row of `data.evaluation[key]`.

    Args:
        data: The task.
        key: Language, or pair of languages.
        encoded: Windows of its rows, made by one of the functions of `encoding`.
        outputs: Arrays over these windows: logits of classes or tags, of start and end, or of slots and intents with
            the ids of the slots.

    Returns:
        Class ids, tag ids of each sentence, answers, or pairs of intent id and tag ids.
    """
    rows = data.evaluation[key]
    if data.kind == "pair":
        return outputs.argmax(-1).tolist()
    if data.kind == "question-answering":
        return decode_answers(rows, encoded, *outputs[:2])
    if data.kind == "tagging":
        return decode_tags(rows, encoded, outputs.argmax(-1), data.labels)
    _, intent_logits, slot_ids = outputs
    tags = decode_tags(rows, encoded, slot_ids, data.labels)
    # of the windows of a long sentence the first tells the intent, which comes last in reversed order
    windows = zip(encoded["example"][::-1], intent_logits.argmax(-1).tolist()[::-1], strict=True)
    intents = dict(windows)
    return [(intents[row], tags[row]) for row in range(len(rows))]


def decode_tags(rows: Dataset, encoded: Dataset, tag_ids: np.ndarray, labels: Sequence[str]) -> list[list[int]]:
    """Gives each word the tag of its first wordpiece; `O`, or else the first label, to a word without wordpieces."""
    missing = labels.index("O") if "O" in labels else 0
    tags = [[missing] * len(words) for words in rows["words"]]
    for row, word_index, ids in zip(encoded["example"], encoded["word_index"], tag_ids, strict=True):
        for position, word in enumerate(word_index):
            if word >= 0:
                tags[row][word] = int(ids[position])
    return tags


def decode_answers(rows: Dataset, encoded: Dataset, start_logits: np.ndarray, end_logits: np.ndarray) -> list[str]:
    """Finds the best span of each context in all its windows."""
    windows: list[list[AnswerWindow]] = [[] for _ in range(len(rows))]
    columns = zip(encoded["example"], encoded["offset_mapping"], encoded["context_mask"], strict=True)
    for window, (row, offsets, context_mask) in enumerate(columns):
        length = len(offsets)
        logits = (start_logits[window, :length], end_logits[window, :length])
        windows[row].append(AnswerWindow(*logits, np.array(offsets), np.array(context_mask)))
    answers = []
    for context, own in zip(rows["context"], windows, strict=True):
        spans = best_spans(context, own)
        answers.append(context[spans[0].start : spans[0].end] if spans else "")
    return answers


def language_scores(data: XtremeData, key: str, predictions: Sequence[Any]) -> Metrics:
    """Scores the predictions for one language, or pair of languages, by the metrics of the task."""
    rows = data.evaluation[key]
    options = {"language": data.languages[key][1]} if data.task_name == "mlqa" else {}
    references: list[Any]
    if data.kind == "pair":
        references = rows["label"][:]
    elif data.kind == "question-answering":
        references = [answers["text"] for answers in rows["answers"]]
    elif data.kind == "tagging":
        references, predictions = (
            [[data.labels[tag] for tag in tags] for tags in side] for side in (rows["tags"], predictions)
        )
    else:
        pairs = zip(rows["intent"], rows["tags"], strict=True)
        references, predictions = (
            [{"intent": data.intents[intent], "tags": [data.labels[tag] for tag in tags]} for intent, tags in side]
            for side in (pairs, predictions)
        )
    metric = XtremeMetric(config_name=data.task_name, keep_in_memory=True)
    return metric.compute(predictions=predictions, references=references, **options)


def write_language_tables(
    measured: Mapping[str, Mapping[int, Metrics]], metric: str, unparsed: Sequence[str], folder: Path
) -> str:
    """Writes `languages.json`, `.csv` and `.md`: the mean over seeds of one metric, by system and language.

    With several systems each is compared with the first, the baseline: the mean paired difference, and the p-value of
    a two-sided paired t-test, not corrected for the number of comparisons.

    Args:
        measured: Metrics by system and seed, named `eval_LANGUAGE_METRIC`, those of the mean over languages too.
        metric: The metric.
        unparsed: Languages (or pairs) that were evaluated without syntax.
        folder: Where to write.

    Returns:
        The Markdown table.

    Raises:
        ValueError: If nothing was measured by this metric.
    """
    rows = language_rows(measured, metric, unparsed)
    folder.mkdir(parents=True, exist_ok=True)
    save_json(folder / "languages.json", rows)
    with open(folder / "languages.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    table = language_markdown(rows, metric)
    (folder / "languages.md").write_text(table, encoding="utf-8")
    return table


def language_rows(
    measured: Mapping[str, Mapping[int, Metrics]], metric: str, unparsed: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Compares the systems in each language; the arguments are those of `write_language_tables`."""
    names = [name for by_seed in measured.values() for metrics in by_seed.values() for name in metrics]
    wanted = [name for name in dict.fromkeys(names) if name.startswith("eval_") and name.endswith(f"_{metric}")]
    rows = []
    for name in wanted:
        language = name.removeprefix("eval_").removesuffix(f"_{metric}")
        for row in compare_systems(scores_by_seed(measured, name)):
            rows.append({"language": language, "metric": metric, "without_syntax": language in unparsed, **row})
    if not rows:
        raise ValueError(f"no {metric!r} was measured in any language")
    return rows


def language_markdown(rows: Sequence[Mapping[str, Any]], metric: str) -> str:
    """Writes rows of language and system as a Markdown table with one line a system, in percent points."""
    languages = list(dict.fromkeys(row["language"] for row in rows))
    systems = list(dict.fromkeys(row["system"] for row in rows))
    cells = {(row["system"], row["language"]): row for row in rows}
    marked = {row["language"] for row in rows if row["without_syntax"]}
    titles = [language + (UNPARSED if language in marked else "") for language in languages]
    lines = [f"| {metric} ×100 | seeds | {' | '.join(titles)} |", "|---|--:|" + "--:|" * len(languages)]
    for system in systems:
        own = [cells.get((system, language)) for language in languages]
        seeds = max(cell["num_seeds"] for cell in own if cell is not None)
        lines.append(f"| {system} | {seeds} | {' | '.join(map(score_text, own))} |")
    for system in systems[1:]:
        own = [cells.get((system, language)) for language in languages]
        lines.append(f"| {system}, difference (p) | | {' | '.join(map(difference_text, own))} |")
    if marked:
        lines += ["", f"{UNPARSED} without syntax: there is no parser."]
    return "\n".join(lines) + "\n"


def score_text(cell: Mapping[str, Any] | None) -> str:
    """Writes a mean and a standard deviation."""
    if cell is None:
        return "–"
    return f"{100 * cell['mean']:.1f}" + ("" if cell["std"] is None else f" ± {100 * cell['std']:.1f}")


def difference_text(cell: Mapping[str, Any] | None) -> str:
    """Writes a difference from the baseline and its p-value."""
    if cell is None or cell["difference"] is None:
        return "–"
    p_value = "–" if cell["p_value"] is None else f"{cell['p_value']:.3f}"
    return f"{100 * cell['difference']:+.1f} ({p_value})"
