"""Predictions in the form that XTREME's evaluation script reads."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .lines import StrPath
from .xtreme_tasks import XtremeData

__all__ = ["write_predictions"]


def write_predictions(data: XtremeData, key: str, predictions: Sequence[Any], directory: StrPath) -> Path:
    """Writes predictions of one language where XTREME's evaluation script reads them: `TASK/test-LANGUAGE.tsv`.

    Labels and tags are one a line, with a blank line after each sentence; answers are a JSON object by question;
    intents and slots are JSON Lines of `words`, `tags` and `intent`.

    Args:
        data: The data.
        key: The language, or pair of languages, of `data.evaluation`.
        predictions: For each row a class id, the tag ids of its words, an answer, or a pair of intent id and tag ids.
        directory: Where to write.

    Raises:
        ValueError: If there are more or fewer predictions than rows, or than words of a sentence, naming it.
    """
    rows = data.evaluation[key]
    if len(predictions) != len(rows):
        raise ValueError(f"{len(predictions)} predictions for the {len(rows)} rows of {key!r}")
    if data.kind == "pair":
        lines = [f"{data.labels[label]}\n" for label in predictions]
    elif data.kind == "question-answering":
        lines = [json.dumps(dict(zip(rows["id"], predictions, strict=True)), ensure_ascii=False, indent=1), "\n"]
    else:
        is_tagging, lines = data.kind == "tagging", []
        for number, (words, predicted) in enumerate(zip(rows["words"], predictions, strict=True), start=1):
            intent, tag_ids = (None, predicted) if is_tagging else predicted
            if len(tag_ids) != len(words):
                raise ValueError(f"{key}, sentence {number}: {len(tag_ids)} tags for its {len(words)} words")
            tags = [data.labels[tag] for tag in tag_ids]
            if intent is None:
                lines += [*(f"{tag}\n" for tag in tags), "\n"]
            else:
                row = {"words": words, "tags": tags, "intent": data.intents[intent]}
                lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    ending = {"question-answering": "json", "intent-and-slots": "jsonl"}.get(data.kind, "tsv")
    path = Path(directory) / data.task_name / f"test-{key}.{ending}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")
    return path
