"""Extractive question answering from files of SQuAD's form, which XQuAD and MLQA share."""

import json
from collections.abc import Iterator
from typing import Any

from syntax_bert.tokenization.universal_dependencies import find_surrogate

from .lines import StrPath

__all__ = ["misplaced_answer", "read_squad"]


def read_squad(path: StrPath) -> list[dict[str, Any]]:
    """Reads a file of the form of SQuAD 1.1 or 2.0 (Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250).

    Returns:
        The questions, each as `{"id", "question", "context", "answers": {"text", "answer_start"}}`, two lists of equal
        length: answers and their first characters, 0-based. A question without an answer has empty lists.

    Raises:
        ValueError: If the file is not of this form, an id is there twice, or an answer is not in its context where the
            file says, naming file and question.
    """
    rows, ids = [], set()
    for row in questions(path):
        if row["id"] in ids:
            raise ValueError(f"{path}: the question {row['id']!r} is there twice")
        for column in ("question", "context"):
            if (position := find_surrogate(row[column])) is not None:
                problem = f"its {column} has a lone surrogate at character {position}"
                raise ValueError(f"{path}, question {row['id']!r}: {problem}")
        if (misplaced := misplaced_answer(row)) is not None:
            raise ValueError(f"{path}, question {row['id']!r}: {misplaced}; mend the file or leave the question out")
        ids.add(row["id"])
        rows.append(row)
    if not rows:
        raise ValueError(f"{path} has no questions")
    return rows


def questions(path: StrPath) -> Iterator[dict[str, Any]]:
    """Walks through articles, paragraphs and questions."""
    last = None
    try:
        with open(path, encoding="utf-8-sig") as file:
            articles = json.load(file)["data"]
        for article in articles:
            for paragraph in article["paragraphs"]:
                for question in paragraph["qas"]:
                    last = question["id"]
                    answers = question.get("answers", [])
                    if not isinstance(question["question"], str) or not isinstance(paragraph["context"], str):
                        raise TypeError("question and context must be texts")
                    yield {
                        "id": str(last),
                        "question": question["question"],
                        "context": paragraph["context"],
                        "answers": {
                            "text": [answer["text"] for answer in answers],
                            "answer_start": [answer["answer_start"] for answer in answers],
                        },
                    }
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON in UTF-8: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        after = f" after question {last!r}" if last is not None else ""
        raise ValueError(f"{path} is not of SQuAD's form{after}: {type(error).__name__}: {error}") from error


def misplaced_answer(row: dict[str, Any]) -> str | None:
    """Says what is wrong with the place of an answer, `None` if nothing is."""
    for text, start in zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True):
        if not isinstance(start, int) or start < 0 or not row["context"].startswith(text, start):
            return f"the answer {text!r} is not at character {start!r} of its context"
    return None
