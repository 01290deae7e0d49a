"""A fast tokenizer (WordPiece, Unigram, byte-level BPE) that also gives each wordpiece its syntax."""

from collections.abc import Mapping, Sequence
from typing import Any

from transformers import AutoTokenizer, BertConfig, PreTrainedTokenizerFast
from transformers.models.auto.tokenization_auto import get_tokenizer_config

from .parser_files import hub_options, saved_parser
from .tokenization_syntax import SyntaxTokenizerMixin, model_config

__all__ = ["SyntaxTokenizerFast"]

ADOPTED = ("model_input_names", "model_max_length", "padding_side", "truncation_side", "clean_up_tokenization_spaces")
FILE_ARGUMENTS = ("tokenizer_object", "tokenizer_file", "vocab_file", "merges_file", "vocab", "merges", "backend")
AUTO_ARGUMENTS = ("config", "tokenizer_type", "use_fast")
BACKEND_SETTINGS = ("add_prefix_space", "do_lower_case", "strip_accents", "tokenize_chinese_chars", "trim_offsets")
METHODS = ("_switch_to_target_mode", "__call__", "_encode_plus", "_decode", "decode", "pad", "_pad", "tokenize")


class SyntaxTokenizerFast(SyntaxTokenizerMixin, PreTrainedTokenizerFast):
    """Any fast tokenizer with syntax columns.

    ```python
    tokenizer = SyntaxTokenizerFast.from_pretrained("bert-base-uncased", parser=parser_path("en"))
    tokenizer("The cats sleep.", return_tensors="pt")  # input_ids, ..., upos_ids, ..., head_positions
    ```

    It defines no `__init__`: transformers would rebuild such a tokenizer from its bare vocabulary.
    """

    can_save_slow_tokenizer = False  # else the class is saved under its name without "Fast"

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
        """Loads a syntax tokenizer, or the tokenizer of any checkpoint, which it adopts with all its attributes.

        Args:
            pretrained_model_name_or_path: Folder or Hub name of the checkpoint.
            init_inputs: As in `AutoTokenizer.from_pretrained`.
            parser: Path of a `.udpipe` file, a mapping of language codes to paths, or an object with the methods
                `parse` and `parse_words` of `UDPipeParser`; by default the parser that the checkpoint carries.
            columns: The syntax columns to make; by default those that the checkpoint's config needs, else all five.
                Without `deprel_ids` and `head_positions` texts are only tagged.
            beam_size: Width of the UDPipe parser's beam.
            language: Code of the language of texts for which a call names none, where there are parsers of several, as
                in pipelines that know no `languages=`.
            kwargs: As in `AutoTokenizer.from_pretrained`.

        Raises:
            ValueError: If the checkpoint has no fast tokenizer, a column is unknown, or the labels of the checkpoint's
                config are not those of the tokenizer.
        """
        name = str(pretrained_model_name_or_path)
        config = model_config(name, kwargs)
        settings = get_tokenizer_config(name, **hub_options(kwargs))
        saved: Mapping[str, Any] = {}
        if "syntax" in settings or settings.get("tokenizer_class") == cls.__name__:
            tokenizer, saved = cls._reload(name, settings, *init_inputs, **kwargs)
            parser = saved_parser(saved, name, kwargs) if parser is None else parser
        else:
            if "syntax_columns" in config:  # by the config of a syntax model AutoTokenizer would come back here
                kwargs = {**kwargs, "config": BertConfig()}
            tokenizer = cls._adopt(AutoTokenizer.from_pretrained(name, *init_inputs, **kwargs))
        tokenizer._set_saved_syntax(saved, parser, columns, beam_size, language, config)
        return tokenizer

    @classmethod
    def _reload(cls, name: str, settings: Mapping[str, Any], /, *init_inputs, **kwargs):
        """Loads a saved syntax tokenizer, still without its parser, and gives its syntax settings with it."""
        saved = settings.get("syntax", {})
        if not isinstance(saved, Mapping):
            raise ValueError(f'"syntax" in the tokenizer_config.json of {name} must be an object, got {saved!r}')
        for setting in BACKEND_SETTINGS:
            if setting in kwargs and kwargs[setting] != settings.get(setting):
                raise ValueError(
                    f"{setting} is {settings.get(setting)!r} in {name} and cannot become {kwargs[setting]!r}: "
                    "load the plain checkpoint with it"
                )
        kwargs = {key: value for key, value in kwargs.items() if key not in AUTO_ARGUMENTS}
        return super().from_pretrained(name, *init_inputs, **kwargs), saved

    @classmethod
    def _adopt(cls, base) -> "SyntaxTokenizerFast":
        """Takes over the state of a fast tokenizer, and notes for saving what its class had set."""
        if not base.is_fast:
            raise ValueError(f"{base.name_or_path!r} has no fast tokenizer, only a {type(base).__name__}")
        theirs, plain = type(base), PreTrainedTokenizerFast
        own = [name for name in METHODS if getattr(theirs, name, None) is not getattr(plain, name, None)]
        if own:
            raise ValueError(
                f"{theirs.__name__} has its own {', '.join(own)}, which a syntax tokenizer would lose: "
                "to do without, load the checkpoint by PreTrainedTokenizerFast, save it, and adopt the saved one"
            )
        tokenizer = cls.__new__(cls)
        tokenizer.__dict__.update(base.__dict__)
        settings = {key: value for key, value in base.init_kwargs.items() if key not in FILE_ARGUMENTS}
        tokenizer.init_kwargs = {**settings, **{key: getattr(base, key) for key in ADOPTED}}
        return tokenizer
