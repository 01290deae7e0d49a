"""Marian's tokenizer with syntax columns for the source (Sundararaman et al. 2021, https://arxiv.org/abs/1911.06156)."""

import itertools
from collections.abc import Sequence

from transformers import MarianTokenizer

from .parser_files import saved_parser
from .tokenization_syntax import SyntaxTokenizerMixin, model_config
from .wordpiece_alignment import align_to_wordpieces

__all__ = ["SyntaxMarianTokenizer"]

NOWHERE = (-1, -1)  # the span of a language code, which no word has


class SyntaxMarianTokenizer(SyntaxTokenizerMixin, MarianTokenizer):
    """A Marian tokenizer that adds syntax columns to sources; targets stay as they are.

    Pieces are those of the base tokenizer. The anchor of a tree is `</s>`; a language code such as `>>deu<<` at the
    beginning of a source is outside the tree, hangs from the anchor, and is no part of the text of `parses=`, nor is
    the space that follows it.

    ```python
    tokenizer = SyntaxMarianTokenizer.from_pretrained("Helsinki-NLP/opus-mt-en-de", parser=parser_path("en"))
    tokenizer("The cats sleep.", text_target="Die Katzen schlafen.")  # input_ids, ..., upos_ids, ..., labels
    ```
    """

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path,
        *init_inputs,
        parser=None,
        columns: Sequence[str] | None = None,
        beam_size: int | None = None,
        language: str | None = None,
        **kwargs,
    ):
        """Loads a syntax tokenizer, or a plain Marian tokenizer as one; the arguments are `SyntaxTokenizerFast`'s."""
        name = str(pretrained_model_name_or_path)
        tokenizer = super().from_pretrained(name, *init_inputs, **kwargs)
        saved = tokenizer.init_kwargs.get("syntax") or {}
        parser = saved_parser(saved, name, kwargs) if parser is None else parser
        tokenizer._set_saved_syntax(saved, parser, columns, beam_size, language, model_config(name, kwargs))
        return tokenizer

    def _parses(self, texts, parses, languages, are_words: bool):
        """Parses sources without their language codes."""
        return super()._parses([self._without_codes(text) for text in texts], parses, languages, are_words)

    def _without_codes(self, text):
        if not isinstance(text, (list, tuple)):
            return text if text is None else self._split_code(text)[1]
        words = [self._split_code(word) for word in text]
        return [word for code, word in words if word or not code]

    def _split_code(self, text: str) -> tuple[list[str], str]:
        """Takes a language code, and the space that follows it, off a text."""
        if not isinstance(text, str):
            raise ValueError(f"a source must be a text, got {text!r}; ids alone have no syntax")
        beginning = text if self.split_special_tokens else next(iter(self.tokens_trie.split(text)), "")
        code, _ = self.remove_language_code(beginning)
        return code, text[len(code[0]) :].lstrip() if code else text

    def _columns(self, encoding, first_parses, second_parses, texts, are_words: bool) -> dict[str, list[list[int]]]:
        """Makes the columns of every source of a batch."""
        sources, seconds = texts
        if any(second is not None for second in seconds):
            raise ValueError("a source is one text, not a pair of texts")
        if self.sp_model_kwargs.get("enable_sampling"):
            raise ValueError("pieces that are sampled cannot be aligned: load the tokenizer without enable_sampling")
        all_ids = as_rows(encoding["input_ids"], len(sources))
        if "attention_mask" in encoding:
            masks = as_rows(encoding["attention_mask"], len(sources))
        else:
            masks = [self._padding_mask(ids) for ids in all_ids]
        rows: dict[str, list[list[int]]] = {column: [] for column in self.syntax_columns}
        for source, parse, ids, mask in zip(sources, first_parses, all_ids, masks, strict=True):
            spans: list[tuple[int, int]] = [NOWHERE] * len(ids)
            sequence_ids: list[int | None] = [None] * len(ids)
            for position, span in self._placed(self._word_spans(source if are_words else [source]), ids, mask):
                spans[position], sequence_ids[position] = span, 0
            made = align_to_wordpieces([parse], spans, sequence_ids, mask, self.syntax_columns)
            for column, values in made.items():
                rows[column].append(values)
        return rows

    def _padding_mask(self, ids: Sequence[int]) -> list[int]:
        """Tells padding, 0, from tokens, 1, among which a text may have some of padding too."""
        at_left = self.padding_side == "left"
        inward = ids if at_left else ids[::-1]
        num_padding = next((index for index, token in enumerate(inward) if token != self.pad_token_id), len(ids))
        mask = [0] * num_padding + [1] * (len(ids) - num_padding)
        return mask if at_left else mask[::-1]

    def _call_options(self, *args, **kwargs):
        options = super()._call_options(*args, **kwargs)
        if options.get("split_special_tokens", self.split_special_tokens) != self.split_special_tokens:
            raise ValueError("split_special_tokens= belongs to from_pretrained, for all calls")
        return options

    def _placed(self, spans: list[tuple[int, int]], ids: Sequence[int], mask: Sequence[int]):
        """Pairs positions of a sequence, which may be truncated, with the spans of the pieces there."""
        positions = [position for position, attended in enumerate(mask) if attended]
        if positions and ids[positions[-1]] == self.eos_token_id:
            positions.pop()
        num_cut = len(spans) - len(positions)
        return zip(positions, spans[num_cut:] if self.truncation_side == "left" else spans, strict=False)

    def _word_spans(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Gives the characters of all pieces in the words, without language codes, joined by spaces."""
        spans: list[tuple[int, int]] = []
        first = 0
        for word in words:
            code, rest = self._split_code(word)
            shift = first - (len(word) - len(rest))
            placed = self._spans(word)[len(code) :]
            spans += [NOWHERE] * len(code)
            spans += [(max(first, shift + start), max(first, shift + end)) for start, end in placed]
            first += len(rest) + 1 if rest or not code else 0
        return spans

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Gives the characters of the pieces of a text, language codes and added tokens among them."""
        spans: list[tuple[int, int]] = []
        for place in filter(None, [range(len(text))] if self.split_special_tokens else self._parts(text)):
            part = "".join(text[character] for character in place)
            if part in self.added_tokens_encoder and not self.split_special_tokens:
                spans.append((place[0], place[-1] + 1))
                continue
            code, rest = self.remove_language_code(part)
            offsets = self.spm_source.encode(rest, return_type="offset_mapping")["offsets"]
            length = len(part) - len(rest)
            offsets = [(0, length)] * len(code) + [(length + start, length + end) for start, end in offsets]
            places = [*place, place[-1] + 1]  # and the end
            spans += [(places[start], places[end - 1] + 1 if end > start else places[start]) for start, end in offsets]
        return spans

    def _parts(self, text: str) -> list[Sequence[int]]:
        """Splits a text at added tokens as `PreTrainedTokenizer.tokenize` does, into the characters of each part."""
        ends = list(itertools.accumulate(map(len, self.tokens_trie.split(text))))
        parts: list[Sequence[int]] = [range(*pair) for pair in zip([0, *ends], ends, strict=False)]
        is_space = [character.isspace() for character in text]
        for index, part in enumerate(parts):
            token = self.added_tokens_decoder.get(self.added_tokens_encoder.get("".join(text[i] for i in part), -1))
            if token is None:
                continue
            left, right = (parts[i] if 0 <= i < len(parts) else () for i in (index - 1, index + 1))
            if token.rstrip and right:
                kept = next((i for i in range(len(right)) if not is_space[right[i]]), len(right))
                right = parts[index + 1] = right[kept:]
            if token.lstrip and left:
                kept = next((i for i in range(len(left), 0, -1) if not is_space[left[i - 1]]), 0)
                left = parts[index - 1] = left[:kept]
            if token.single_word and left and text[left[-1]] != " ":
                parts[index - 1], parts[index] = [*left, *part], ()
            elif token.single_word and right and text[right[0]] != " ":
                parts[index], parts[index + 1] = (), [*part, *right]
        return parts


def as_rows(values, num_rows: int) -> list[list[int]]:
    """Gives a tensor, a list of lists, or the one list of a single text as a list of lists."""
    rows = values.tolist() if hasattr(values, "tolist") else values
    return rows if num_rows == 0 or (rows and isinstance(rows[0], list)) else [rows]
