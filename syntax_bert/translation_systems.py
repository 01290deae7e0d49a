"""The systems of a translation experiment: configurations by name, and the models made of them."""

import copy
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from transformers import MarianConfig
from transformers.hf_argparser import HfArg

from .arguments import SyntaxArguments
from .modeling.configuration_syntax_marian import SyntaxMarianConfig
from .modeling.modeling_syntax_marian import SyntaxMarianMT
from .parsers import Parser
from .parsers.catalogue import load_parser
from .systems import PLAIN, describe_mechanisms, mechanisms, used_features
from .tokenization.tokenization_syntax_marian import SyntaxMarianTokenizer
from .training import load_model
from .translation_training import initialize_by_glorot

__all__ = [
    "EncoderArguments",
    "TranslationArguments",
    "choose_translation_systems",
    "describe_translation",
    "make_model",
]

NOT_DESCRIBED = (
    "architectures", "auto_map", "custom_pipelines", "dtype", "id2label", "label2id", "model_type",
    "transformers_version",
)  # fmt: skip
BASE_SIZES: dict[str, Any] = {  # of the papers' Transformer
    "d_model": 512,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "encoder_ffn_dim": 2048,
    "decoder_ffn_dim": 2048,
    "activation_function": "relu",
    "scale_embedding": True,
}


@dataclass
class EncoderArguments:
    """What the encoder makes of syntax; what is not set is as in the checkpoint, or in `SyntaxMarianConfig`."""

    feature_combination: str | None = HfArg(default=None, help="sum, concat, concat_each or project.")
    feature_size: int | None = HfArg(default=None, help="Width of the features, unless they are summed.")
    feature_sizes: list[int] | None = HfArg(default=None, help="Width of each feature for concat_each.")
    distance_scaling: str | None = HfArg(default=None, help="none, dependency, parent or additive.")
    scaled_layers: list[int] | None = HfArg(default=None, help="Encoder layers whose attention it changes, from 0.")
    num_scaled_heads: int | None = HfArg(default=None, help="Attention heads that it changes.")
    scaling_sigma: float | None = HfArg(default=None, help="Standard deviation of the densities.")
    scaling_sparsing: str | None = HfArg(default=None, help="none, random or wink.")
    sparsing_prob: float | None = HfArg(default=None, help="Probability of sparsing a distance.")
    sparsing_distance: int | None = HfArg(default=None, help="Arcs up to which wink keeps all.")
    max_scaled_distance: int | None = HfArg(default=None, help="Arcs at which additive clips.")

    def encoder_options(self) -> dict[str, Any]:
        """Gives the config fields that are set here."""
        names = [each.name for each in fields(EncoderArguments)]
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass
class TranslationArguments(SyntaxArguments):
    """The checkpoint of the model, or of the vocabulary of one from scratch, and the parser of the source."""

    tokenizer_class: ClassVar[Any] = SyntaxMarianTokenizer

    model_name_or_path: str = HfArg(default="", help="Marian checkpoint to fine-tune; none with --train_tokenizer.")
    from_scratch: bool = HfArg(default=False, help="Take only the vocabulary of the checkpoint.")
    config_overrides: str | None = HfArg(
        default=None,
        help="Sizes of a model from scratch: d_model=256,encoder_layers=3,... Others are those of the papers' "
        "Transformer: 512 wide, feed-forward 2,048, 6 + 6 layers, 8 heads.",
    )
    source_lang: str = HfArg(
        default="source",
        help="Column of the source in JSON Lines or a data set, and its language: en. Default: English.",
    )
    target_lang: str = HfArg(default="target", help="Column of the target: de.")
    system_name: str | None = HfArg(default=None, help="Name of the system in tables and result files.")

    def default_parser(self) -> Parser:
        """Makes the parser of a plain checkpoint, that of the source's language."""
        try:
            return load_parser("en" if self.source_lang == "source" else self.source_lang, self.parser_beam_size)
        except ValueError as error:
            raise ValueError(f"{error} as --parser") from error


def choose_translation_systems(
    args: TranslationArguments, encoder_options: dict[str, Any], compare_baseline: bool
) -> dict[str, SyntaxMarianConfig]:
    """Gives the configuration of the system by its name and, if asked for, that of plain Marian before it.

    Args:
        args: The checkpoint, or the sizes of a model from scratch.
        encoder_options: What the encoder makes of syntax.
        compare_baseline: Whether plain Marian is wanted.

    Raises:
        ValueError: If options do not go together, or plain Marian would be compared with itself.
    """
    syntax = {**args.config_options(), **encoder_options}
    config = make_config(args, syntax)
    for names, is_used, needed in (
        (("sparsing_prob", "sparsing_distance"), config.scaling_sparsing != "none", "--scaling_sparsing"),
        (("feature_sizes",), config.feature_combination == "concat_each", "--feature_combination concat_each"),
    ):
        if (given := sorted(encoder_options.keys() & names)) and not is_used:
            raise ValueError(f"{given} have no effect without {needed}")
    name = args.system_name or translation_system_name(config)
    if not compare_baseline:
        return {name: config}
    if "plain" in (name, translation_system_name(config)):
        raise ValueError("there is nothing to compare plain Marian with: give the other system syntax, or a name")
    return {"plain": make_config(args, {**PLAIN, "feature_sizes": None}), name: config}


def make_config(args: TranslationArguments, syntax: dict[str, Any]) -> SyntaxMarianConfig:
    """Loads the configuration of a checkpoint, or makes one of the sizes asked for.

    Raises:
        ValueError: If sizes are given for a checkpoint, or features that its encoder has no room for.
    """
    name = args.model_name_or_path
    if not args.from_scratch:
        if args.config_overrides is not None:
            raise ValueError(
                "--config_overrides are for a model from scratch: add --from_scratch or --train_tokenizer"
            )
        stored = SyntaxMarianConfig.from_pretrained(name)
        wanted = copy.deepcopy(stored)
        wanted.update(syntax)
        if wanted.token_size != stored.token_size:
            raise ValueError(
                f"the encoder of {name} has token embeddings of width {stored.token_size}, and these features leave "
                f"{wanted.token_size}: concatenated features can neither be added nor taken away; choose sum or "
                "project, or --from_scratch"
            )
        return SyntaxMarianConfig.from_pretrained(name, **syntax)
    tokenizer = SyntaxMarianTokenizer.from_pretrained(name, columns=())
    has_two = tokenizer.separate_vocabs
    config = SyntaxMarianConfig(
        vocab_size=len(tokenizer),
        decoder_vocab_size=len(tokenizer.target_encoder) if has_two else None,
        pad_token_id=tokenizer.pad_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        forced_eos_token_id=None,
        **BASE_SIZES,
    )
    if args.config_overrides is not None:
        config.update_from_string(args.config_overrides)
    config.update(syntax)
    if has_two or config.feature_combination.startswith("concat"):
        config.share_encoder_decoder_embeddings = False
    config.validate()
    return config


def translation_system_name(config: SyntaxMarianConfig) -> str:
    """Names what a configuration adds to plain Marian: "upos+casing-concat-dependency-random"."""
    features = "+".join(used_features(config))
    parts = [f"{features}-{config.feature_combination}"] if features else []
    return "-".join([*parts, *mechanisms(config)]) or "plain"


def make_model(args: TranslationArguments, config: SyntaxMarianConfig) -> SyntaxMarianMT:
    """Loads the checkpoint with a configuration, or makes a model from scratch."""
    if not args.from_scratch:
        return load_model(SyntaxMarianMT, args.model_name_or_path, config, is_trained=True)[0]
    model = SyntaxMarianMT(copy.deepcopy(config))
    initialize_by_glorot(model)
    return model


def describe_translation(config: SyntaxMarianConfig) -> dict[str, Any]:
    """Gives the fields by which systems differ; none without effect."""
    names = [name for name in MarianConfig().to_dict() if name not in NOT_DESCRIBED]
    names += ["feature_combination", "feature_size", "feature_sizes"] if config.syntax_features else []
    return {name: getattr(config, name) for name in names} | describe_mechanisms(config)
