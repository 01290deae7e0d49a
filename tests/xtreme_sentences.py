"""The same sentences as files of the cross-lingual tasks."""

import json

SENTENCES = ["The cat sleeps .", "A dog is unhappy .", "Who sees the river ?", "We see a cat .", "The rivers sleep ."]
TAGS = {"cat": "B-PER", "dog": "B-PER", "river": "B-LOC", "rivers": "B-LOC"}
UPOS = {"The": "DET", "A": "DET", "a": "DET", "the": "DET", ".": "PUNCT", "?": "PUNCT"}


def pairs(sentences):
    rows = [{"sentence1": text, "sentence2": "A cat .", "label": i % 2, "idx": i} for i, text in enumerate(sentences)]
    return "".join(json.dumps(row) + "\n" for row in rows)


def columns(sentences, row):
    return "\n".join("".join(row(i, word) + "\n" for i, word in enumerate(text.split())) for text in sentences)


def entities(sentences):
    return columns(sentences, lambda i, word: f"{word}\t{TAGS.get(word, 'O')}")


def chunks(sentences):
    return columns(
        sentences, lambda i, word: f"{word} {UPOS.get(word, 'NN')} {TAGS.get(word, 'O').replace('B-', 'I-')}"
    )


def treebank(sentences):
    return columns(sentences, lambda i, word: f"{i + 1}\t{word}\t_\t{UPOS.get(word, 'NOUN')}\t_\t_\t{i}\t{'dep' if i else 'root'}\t_\t_") + "\n"  # fmt: skip


def intents(sentences):
    return columns(sentences, lambda i, word: f"{i + 1}\t{word}\tsee\t{TAGS.get(word, 'O')}")


def questions(sentences):
    paragraphs = [
        {
            "context": f"{text} We see a cat .",
            "qas": [{"id": f"q{i}", "question": "Who is that ?",
                     "answers": [{"text": text.split()[1], "answer_start": len(text.split()[0]) + 1}]}],
        }
        for i, text in enumerate(sentences)
    ]  # fmt: skip
    return json.dumps({"data": [{"title": "t", "paragraphs": paragraphs}]})


DATA = {
    "pawsx": ("{split}.{language}.jsonl", pairs),
    "panx": ("{split}-{language}.tsv", entities),
    "conll": ("{split}.{language}", chunks),
    "udpos": ("{language}-{split}.conllu", treebank),
    "xquad": ("xquad.{language}.json", questions),
    "xsid": ("{language}.{split}.conll", intents),
}
