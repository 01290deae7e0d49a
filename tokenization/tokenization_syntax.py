"""What every syntax-aware tokenizer shares: its parser, the syntax columns of a call, padding, saving the parser."""

import inspect
import os
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from transformers import BatchEncoding, PreTrainedTokenizerBase
from transformers.configuration_utils import PreTrainedConfig
from transformers.utils import logging

from .parser_files import hub_options, parser_files, save_parsers
from .udpipe_models import file_digest
from .udpipe_parser import UDPipeParser
from .universal_dependencies import (
    COLUMN_SIZES,
    DEPRELS,
    NONE_ID,
    NONE_IDS,
    SYNTAX_COLUMNS,
    UPOS,
    UPOS_IDS,
    Parse,
    deprel_id,
    refuse_surrogates,
)
from .wordpiece_alignment import align_to_wordpieces

__all__ = ["SyntaxTokenizerMixin", "model_config"]

logger = logging.get_logger(__name__)

CALL = inspect.signature(PreTrainedTokenizerBase.__call__)


class SyntaxTokenizerMixin(PreTrainedTokenizerBase):
    """Adds syntax columns to a tokenizer, beside every key that it returns without them.

    `tokenizer(text, text_pair, ...)` takes all the usual arguments, and besides them

    - `parses`, `parses_pair`: a `Parse` for each text instead of the tokenizer's parser; `None` leaves a text without
      syntax. For texts given as words, the parse of the words joined by one space.
    - `languages`, `languages_pair`: language code of all texts, or one for each; `languages_pair` is `languages` if
      not given.

    The settings (`parser` file names, their `sha256`, `columns`, `beam_size`, `language`) live in
    `init_kwargs["syntax"]` and so in tokenizer_config.json; the parser files lie beside it.
    """

    _auto_class = "AutoTokenizer"
    _parser: Any = None
    _config_columns: tuple[str, ...] | None = None

    @property
    def parser(self):
        """The parser object, or `None`."""
        return self._parser

    @property
    def syntax_columns(self) -> tuple[str, ...]:
        """The columns a call adds: those asked for, else those the model's config needs, else all five."""
        chosen = self.init_kwargs.get("syntax", {}).get("columns")
        if chosen is not None:
            return tuple(chosen)
        return SYNTAX_COLUMNS if self._config_columns is None else self._config_columns

    @property
    def needs_trees(self) -> bool:
        """Whether the columns need the tree, and not only the tags."""
        return not {"deprel_ids", "head_positions"}.isdisjoint(self.syntax_columns)

    def _set_syntax(
        self, parser, columns: Sequence[str] | None, beam_size: int | None, language: str | None, config: dict
    ) -> None:
        """Sets the parser, the columns, and what the model's config says of them, and checks that they agree."""
        columns = [columns] if isinstance(columns, str) else columns
        unknown = [column for column in columns or () if column not in SYNTAX_COLUMNS]
        if unknown:
            raise ValueError(f"unknown columns {unknown}; the syntax columns are {list(SYNTAX_COLUMNS)}")
        for name, labels in (("upos_labels", UPOS), ("deprel_labels", DEPRELS)):
            if tuple(config.get(name, labels)) != labels:
                raise ValueError(f"the model's {name} {config[name]} are not those of the tokenizer, {list(labels)}")
        if config.get("syntax_columns") is not None:
            self._config_columns = tuple(config["syntax_columns"])
        if isinstance(parser, (str, os.PathLike, Mapping)):
            parser = UDPipeParser(parser) if beam_size is None else UDPipeParser(parser, beam_size)
        elif beam_size is not None and parser is not None:
            raise ValueError("beam_size is for parsers given by path; set it on the parser object")
        if parser is not None and (isinstance(parser, type) or not hasattr(parser, "parse")):
            raise ValueError(
                "parser= takes the path of a .udpipe file, {language: path}, or an object with the methods parse and "
                f"parse_words, got {parser!r}"
            )
        if language is not None and isinstance(parser, UDPipeParser) and language not in parser.paths:
            raise ValueError(
                f"there is no parser for language={language!r}, only for {sorted(map(str, parser.paths))}"
            )
        self._parser = parser
        for volatile in ("is_local", "local_files_only"):  # how it was loaded is not part of it, nor of its hash
            self.init_kwargs.pop(volatile, None)
        files = parser_files(self._parser)
        names = {language: name for language, name, _ in files}
        self.init_kwargs["syntax"] = {
            "parser": names.get(None, names) or None,
            "sha256": {name: file_digest(path) for _, name, path in files} or None,
            "columns": None if columns is None else list(columns),
            "beam_size": self._parser.beam_size if files else None,
            "language": language,
        }

    def _set_saved_syntax(self, saved: Mapping[str, Any], parser, columns, beam_size, language, config: dict) -> None:
        """Sets the syntax as asked for, and what is not asked for as it was saved."""
        if beam_size is None and isinstance(parser, (str, os.PathLike, Mapping)):
            beam_size = saved.get("beam_size")
        columns = saved.get("columns") if columns is None else columns
        self._set_syntax(parser, columns, beam_size, saved.get("language") if language is None else language, config)

    def __getattr__(self, key: str):
        # A reloaded tokenizer is built from tokenizer.json; what its base class set from init_kwargs is found there.
        try:
            return super().__getattr__(key)
        except AttributeError:
            init_kwargs = self.__dict__.get("init_kwargs", {})
            if key.startswith("__") or key not in init_kwargs:
                raise
            return init_kwargs[key]

    def __call__(
        self,
        text=None,
        text_pair=None,
        *args,
        parses: Parse | Sequence[Parse | None] | None = None,
        parses_pair: Parse | Sequence[Parse | None] | None = None,
        languages: str | Sequence[str | None] | None = None,
        languages_pair: str | Sequence[str | None] | None = None,
        **kwargs,
    ) -> BatchEncoding:
        """Encodes texts as the base tokenizer does and adds the syntax columns; see the class for the new arguments.

        Raises:
            ValueError: Without parser and `parses`, or if a parse is not of its text; the message names the example.
        """
        if text is None:
            return super().__call__(text, text_pair, *args, **kwargs)
        options = self._call_options(text, text_pair, *args, **kwargs)
        are_words = bool(options.get("is_split_into_words"))
        is_batched = isinstance(text, (list, tuple)) and (
            not are_words or bool(text) and isinstance(text[0], (list, tuple))
        )
        firsts, seconds = split_pairs(text, text_pair, is_batched, are_words)
        for index, example in enumerate(zip(firsts, seconds, strict=True)):
            check_encodable(example, index)
        encoding = super().__call__(text, text_pair, *args, **kwargs)
        if not self.syntax_columns:
            return encoding
        first_parses = self._parses(firsts, parses, languages, are_words)
        second_languages = languages if languages_pair is None else languages_pair
        second_parses = self._parses(seconds, parses_pair, second_languages, are_words)
        rows = self._columns(encoding, first_parses, second_parses, (firsts, seconds), are_words)
        if options.get("return_tensors") is not None:
            encoding.update(BatchEncoding(rows, tensor_type=options["return_tensors"]))
        elif is_batched or isinstance(next(iter(encoding["input_ids"]), None), list):
            encoding.update(rows)
        else:
            encoding.update({column: values[0] for column, values in rows.items()})
        return encoding

    def _call_options(self, *args, **kwargs) -> dict[str, Any]:
        """Gathers the options of a call in all their forms; refuses those of `from_pretrained`, and misspelt ones."""
        call = CALL.bind(self, *args, **kwargs).arguments
        options = {**call, **(call.get("tokenizer_kwargs") or {}), **call.get("kwargs", {})}
        for name in options:
            if name in ("parser", "columns", "beam_size", "language"):
                raise ValueError(f"{name}= belongs to from_pretrained, for all calls; a single call does not take it")
            if "parse" in name or "language" in name:
                raise ValueError(f"there is no {name}=, but parses=, parses_pair=, languages= and languages_pair=")
        return options

    def _columns(self, encoding, first_parses, second_parses, texts, are_words: bool) -> dict[str, list[list[int]]]:
        """Makes the columns of every window of a batch; `texts` are the first and the second text of each example.

        A mask token in a text has no word's features, as where a collator has masked a word; its head stays.
        """
        mask_token_id = self.mask_token_id if "mask_token" in self.special_tokens_map else None
        windows = encoding.encodings
        examples = encoding.get("overflow_to_sample_mapping", range(len(windows)))
        rows: dict[str, list[list[int]]] = {column: [] for column in self.syntax_columns}
        for window, example in zip(windows, examples, strict=True):
            spans = window.offsets
            if are_words:
                spans = spans_in_joined_words(window, *(words[example] for words in texts))
            parses = (first_parses[example], second_parses[example])
            made = align_to_wordpieces(parses, spans, window.sequence_ids, window.attention_mask, self.syntax_columns)
            masked = [i for i, token in enumerate(window.ids) if token == mask_token_id]
            for position in masked:
                for column in made.keys() & NONE_IDS.keys():
                    made[column][position] = NONE_IDS[column]
            for column, values in made.items():
                rows[column].append(values)
        return rows

    def _parses(self, texts, parses, languages, are_words: bool) -> list[Parse | None]:
        """Gives the parse of each text that is there (not `None`): the given one, or one that the parser makes."""
        by_text = self._made_parses(texts, languages, are_words) if parses is None else given_parses(texts, parses)
        for index, (parse, text) in enumerate(zip(by_text, texts, strict=True)):
            check_parse(parse, text, index, self.needs_trees)
        warn_of_unknown(by_text)
        return by_text

    def _made_parses(self, texts, languages, are_words: bool) -> list[Parse | None]:
        """Parses the texts that are there, equal ones once."""
        if all(text is None for text in texts):
            return [None] * len(texts)
        if self._parser is None:
            raise ValueError(
                f"{type(self).__name__} has no parser: load it with parser=PATH (for English, "
                'syntax_bert.parser_path("en")), give parses= with the texts, or set columns=() for no syntax'
            )
        languages = self.init_kwargs["syntax"].get("language") if languages is None else languages
        codes = list(languages) if isinstance(languages, (list, tuple)) else [languages] * len(texts)
        if len(codes) != len(texts):
            raise ValueError(f"{len(codes)} languages are given for {len(texts)} texts")
        hashable = [tuple(text) if isinstance(text, list) else text for text in texts]
        keys = list(zip(hashable, codes, strict=True))
        unique = [key for key in dict.fromkeys(keys) if key[0] is not None]
        method = "parse_words" if are_words else "parse"
        parse = getattr(self._parser, method)
        made = parse([text for text, _ in unique], [code for _, code in unique], self.needs_trees)
        check_made(made, len(unique), f"{type(self._parser).__name__}.{method}")
        parse_of = dict(zip(unique, made, strict=True))
        return [parse_of.get(key) for key in keys]

    def _pad(
        self,
        encoded_inputs,
        max_length=None,
        padding_strategy=None,
        pad_to_multiple_of=None,
        padding_side=None,
        return_attention_mask=None,
    ):
        length = len(encoded_inputs[self.model_input_names[0]])
        attended = list(encoded_inputs.get("attention_mask", [1] * length))
        padded = super()._pad(
            encoded_inputs, max_length, padding_strategy, pad_to_multiple_of, padding_side, return_attention_mask
        )
        difference = len(padded[self.model_input_names[0]]) - length
        on_the_left = (padding_side or self.padding_side) == "left"
        for column in SYNTAX_COLUMNS:
            if column not in padded:
                continue
            values = list(padded[column])
            if len(values) != length:
                raise ValueError(f"{column} has {len(values)} values for {length} tokens")
            size = COLUMN_SIZES.get(column, length)
            if values and not (min(values) >= 0 and max(values) < size):
                raise ValueError(f"{column} {values} must be 0 to {size - 1}")
            if column == "head_positions" and on_the_left:
                pairs = zip(values, attended, strict=True)
                values = [position + difference if is_token else 0 for position, is_token in pairs]
            padding = [0] * difference
            padded[column] = padding + values if on_the_left else values + padding
        return padded

    def train_new_from_iterator(self, *args, **kwargs):
        """Trains a tokenizer of the same form on another corpus; it keeps the parser."""
        trained = super().train_new_from_iterator(*args, **kwargs)
        trained._parser, trained._config_columns = self._parser, self._config_columns
        return trained

    def _save_pretrained(self, save_directory, file_names, *args, **kwargs):
        file_names = super()._save_pretrained(save_directory, file_names, *args, **kwargs)
        digests = self.init_kwargs.get("syntax", {}).get("sha256")
        return file_names + save_parsers(self._parser, digests, save_directory)


def model_config(name_or_path: str, kwargs: Mapping[str, Any]) -> dict:
    """Reads config.json of a checkpoint as it is; a folder without one gives an empty dictionary."""
    try:
        return PreTrainedConfig.get_config_dict(name_or_path, **hub_options(kwargs))[0]
    except OSError:
        return {}


def split_pairs(text, text_pair, is_batched: bool, are_words: bool) -> tuple[list, list]:
    """Gives the first and the second text (or `None`) of each example, for every calling form of `__call__`."""
    if not is_batched:
        return [text], [text_pair if text_pair else None]
    if text_pair is not None:
        is_matching = isinstance(text_pair, (list, tuple)) and len(text_pair) == len(text)
        return list(text), list(text_pair) if is_matching else [None] * len(text)  # the base tokenizer refuses it
    firsts, seconds = [], []
    for index, example in enumerate(text):
        inner = example[0] if isinstance(example, (list, tuple)) and example else None
        is_pair = isinstance(inner, (list, tuple)) if are_words else isinstance(inner, str)
        if is_pair and len(example) != 2:
            raise ValueError(
                f"example {index} has {len(example)} texts, but a pair has two; "
                "a text given as words needs is_split_into_words=True"
            )
        first, second = example if is_pair else (example, None)
        firsts.append(first)
        seconds.append(second)
    return firsts, seconds


def check_encodable(texts: Sequence, index: int) -> None:
    """Refuses lone surrogates in the texts of an example, also in those given as words."""
    for text in texts:
        for piece in text if isinstance(text, (list, tuple)) else [text]:
            if isinstance(piece, str):
                refuse_surrogates(piece, f"example {index}")


def is_parse(parse) -> bool:
    """Tells whether something is a Parse, of this module or of a copy from the Hub."""
    return not isinstance(parse, type) and hasattr(parse, "upos")


def given_parses(texts: Sequence, parses) -> list[Parse | None]:
    """Gives the parse given for each text that is there."""
    given = list(parses) if isinstance(parses, (list, tuple)) else [parses]
    if len(given) != len(texts):
        raise ValueError(f"{len(given)} parses are given for {len(texts)} texts")
    return [None if text is None else parse for parse, text in zip(given, texts, strict=True)]


def check_made(made, num_texts: int, method: str) -> None:
    """Checks that a method of a parser has made one Parse for each text."""
    if not isinstance(made, (list, tuple)):
        found = f"a {type(made).__name__}"
    elif len(made) != num_texts:
        found = str(len(made))
    else:
        found = next((f"a {type(parse).__name__} among them" for parse in made if not is_parse(parse)), "")
    if found:
        raise ValueError(f"{method} must return a list of {num_texts} Parse objects, one for each text, got {found}")


def warn_of_unknown(parses: Sequence[Parse | None]) -> None:
    """Warns once of each tag and each relation that Universal Dependencies do not have."""
    there = [parse for parse in parses if parse is not None]
    tags = {tag for parse in there for tag in parse.upos if tag is not None}
    deprels = {deprel for parse in there for deprel in parse.deprels or () if deprel is not None}
    unknown = {deprel for deprel in deprels if deprel_id(deprel) == NONE_ID}
    for kind, names in (("UPOS tag", tags.difference(UPOS_IDS)), ("relation", unknown)):
        for name in sorted(names - {"_"}):
            logger.warning_once(f"{name!r} is no {kind} of Universal Dependencies and counts as none")


def check_parse(parse: Parse | None, text, index: int, dependencies: bool) -> None:
    """Checks that a parse is of its text and has the trees that the columns need."""
    if parse is None:
        return
    if not is_parse(parse):
        raise ValueError(f"example {index}: parses= takes Parse objects or None, got a {type(parse).__name__}")
    if not isinstance(text, str):
        text = " ".join(text)
    if parse.text != text:
        raise ValueError(f"example {index}: the parse is of {parse.text[:80]!r}, but the text is {text[:80]!r}")
    if dependencies and parse.parents is None:
        raise ValueError(
            f"example {index}: the parse has only tags, but deprel_ids and head_positions need trees; "
            "parse it, or leave these two out of columns="
        )


def spans_in_joined_words(window, first: Sequence[str], second: Sequence[str] | None) -> list[tuple[int, int]]:
    """Turns offsets inside words into offsets inside the words joined by one space."""
    bases: list[list[int]] = []
    for words in (first, second or ()):
        bases.append([0, *accumulate(len(word) + 1 for word in words)])
    spans = []
    for (start, end), word, text in zip(window.offsets, window.word_ids, window.sequence_ids, strict=True):
        base = 0 if text is None else bases[text][word]
        spans.append((base + start, base + end))
    return spans
