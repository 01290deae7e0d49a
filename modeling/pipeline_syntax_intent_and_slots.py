"""A pipeline that gives raw text its intent and its slots, which a checkpoint carries."""

import re
from dataclasses import replace
from itertools import pairwise

import torch
from transformers.utils import logging

from .pipeline_syntax import SyntaxPipeline

__all__ = ["SyntaxIntentAndSlotsPipeline"]

logger = logging.get_logger(__name__)

WORD = re.compile(r"\w+|[^\w\s]")


class SyntaxIntentAndSlotsPipeline(SyntaxPipeline):
    """Finds what a sentence asks for.

    `pipe("Wake me at nine")` gives `{"intent", "score", "slots"}`, and each slot as
    `{"slot", "score", "word", "start", "end"}` with 0-based characters of the text. Words are those of the tokenizer's
    parser; without a parser, runs of letters and single punctuation marks.

    Args:
        languages: Code of the language of the text, where the tokenizer has parsers of several.
    """

    def _sanitize_parameters(self, languages=None, **unknown):
        if unknown:
            raise ValueError(f"the intent-and-slots pipeline has no options {sorted(unknown)}")
        return self.language_options(languages), {}, {}

    def preprocess(self, inputs, languages=None):  # noqa: D102
        if not isinstance(inputs, str):
            raise ValueError(f"a sentence must be a text, got {inputs!r}")
        parser, options = getattr(self.tokenizer, "parser", None), {}
        if parser is not None and self.tokenizer.syntax_columns:
            languages = self.tokenizer.init_kwargs["syntax"].get("language") if languages is None else languages
            (parse,) = parser.parse([inputs], [languages], dependencies=self.tokenizer.needs_trees)
            spans = sorted(set(zip(parse.starts, parse.ends, strict=True)))
            options["parses"] = [in_words(parse, spans)]
        else:
            spans = [match.span() for match in WORD.finditer(inputs)]
        encoded = self.tokenizer(
            [[inputs[start:end] for start, end in spans]],
            is_split_into_words=True,
            truncation=True,
            max_length=self.max_length,
            **options,
        )
        if encoded.encodings[0].overflowing:
            logger.warning(
                f"a sentence of {len(spans)} words is longer than the model, its end is not read: {inputs:.80}"
            )
        word_ids = encoded.word_ids(0)
        is_first = [word is not None and word != before for before, word in pairwise([None, *word_ids])]
        starts_and_ends = [spans[word] if word is not None else (0, 0) for word in word_ids]
        return {
            **self.model_inputs(encoded, 0),
            "word_mask": torch.tensor([is_first]).long(),
            "spans": torch.tensor([starts_and_ends]),
            "text": inputs,
        }

    def _forward(self, model_inputs):
        own = {name: model_inputs.pop(name) for name in ("spans", "text")}
        output = self.model(**model_inputs)
        kept = {name: output[name] for name in ("logits", "intent_logits", "slot_ids")}
        return {**own, "word_mask": model_inputs["word_mask"], **kept}

    def postprocess(self, model_outputs):  # noqa: D102
        text = model_outputs["text"] if isinstance(model_outputs["text"], str) else model_outputs["text"][0]
        intents = model_outputs["intent_logits"][0].float().softmax(-1)
        best = int(intents.argmax())
        scores = model_outputs["logits"][0].float().softmax(-1)
        slots: list[dict] = []
        previous = ""
        for at in model_outputs["word_mask"][0].nonzero().flatten().tolist():
            slot_id = int(model_outputs["slot_ids"][0, at])
            prefix, _, slot = self.model.config.id2label[slot_id].partition("-")
            start, end = model_outputs["spans"][0, at].tolist()
            score = scores[at, slot_id].item()
            if slot and prefix == "I" and slot == previous:
                last = slots.pop()
                score, start = min(score, last["score"]), last["start"]
            if slot:
                slots.append({"slot": slot, "score": score, "word": text[start:end], "start": start, "end": end})
            previous = slot
        return {"intent": self.model.config.intents[best], "score": intents[best].item(), "slots": slots}


def in_words(parse, spans: list[tuple[int, int]]):
    """Moves a parse of a text to its words, joined by spaces, as a tokenizer reads given words."""
    moved, position = {}, 0
    for start, end in spans:
        moved[start, end] = (position, position + end - start)
        position += end - start + 1
    places = [moved[span] for span in zip(parse.starts, parse.ends, strict=True)]
    text = " ".join(parse.text[start:end] for start, end in spans)
    return replace(parse, text=text, starts=[start for start, _ in places], ends=[end for _, end in places])
