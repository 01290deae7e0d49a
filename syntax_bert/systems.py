"""The systems of an experiment: a model's configuration by the name that tables and result files have for it."""

from dataclasses import fields
from typing import Any

from .arguments import GraphAttentionArguments, SystemArguments
from .modeling.configuration_syntax import FEATURES, SyntaxConfigMixin
from .modeling.configuration_syntax_bert import SyntaxBertConfig
from .modeling.configuration_syntax_mbert import SyntaxMBertConfig

__all__ = ["choose_config", "choose_systems", "describe_mechanisms", "describe_system", "mechanisms", "system_name"]

PLAIN: dict[str, Any] = {
    "syntax_features": [],
    "graph_attention_layers": 0,
    "structure_loss_weight": 0.0,
    "distance_scaling": "none",
    "scaling_sparsing": "none",
}
PLAIN_BERT = {**PLAIN, "score_answer_sentences": False}
GRAPH_ATTENTION = tuple(each.name for each in fields(GraphAttentionArguments))
SCALING = tuple(
    "scaled_layers num_scaled_heads scaling_sigma scaling_sparsing sparsing_prob sparsing_distance "
    "max_scaled_distance".split()
)


def choose_config(args: SystemArguments, graph_attention: dict[str, Any]) -> SyntaxBertConfig:
    """Loads the configuration of a checkpoint with the mechanism asked for, and no other.

    Args:
        args: The checkpoint and its syntax.
        graph_attention: Fields of the graph attention that are set.

    Raises:
        ValueError: If options do not go together.
    """
    checkpoint, mechanism, options = args.model_name_or_path, args.mechanism, args.config_options()
    if mechanism not in ("none", "features", "gat"):
        raise ValueError(f"--mechanism must be none, features or gat, got {mechanism!r}")
    if graph_attention and mechanism != "gat":
        raise ValueError(f"{sorted(graph_attention)} need --mechanism gat")
    if any(options.values()) and mechanism == "none":
        raise ValueError(f"{sorted(options)} need --mechanism features or gat")
    if graph_attention.get("graph_attention_layers") == 0:
        raise ValueError("--graph_attention_layers 0 is no graph attention: choose --mechanism features or none")
    for field in ("slot_decoder", "score_answer_sentences"):
        if (value := getattr(args, field)) is not None:
            options[field] = value
    if mechanism == "gat":
        config = SyntaxMBertConfig.from_pretrained(checkpoint, **options, **graph_attention)
        if not config.graph_attention_layers:
            raise ValueError(
                f"{checkpoint} has no graph attention: set --graph_attention_layers, or another mechanism"
            )
        return config
    if mechanism == "features" and "syntax_features" not in options:
        options["syntax_features"] = SyntaxBertConfig.from_pretrained(checkpoint).syntax_features or ["upos"]
    config = SyntaxBertConfig.from_pretrained(checkpoint, **{**PLAIN_BERT, **options})
    if mechanism == "features" and not config.syntax_features:
        raise ValueError("--syntax_features none is the plain model: choose --mechanism none")
    return config


def system_name(config: SyntaxBertConfig) -> str:
    """Names what a configuration adds to the plain model: "gat+structure", "upos+deprel", "plain"."""
    parts = [*mechanisms(config), *["sentences"] * config.score_answer_sentences, *used_features(config)]
    return "+".join(parts) or "plain"


def mechanisms(config: SyntaxConfigMixin) -> list[str]:
    """Names what tells attention of the tree: "gat", "structure", the kind of scaling and that of sparsing."""
    parts = ["gat"] * bool(config.graph_attention_layers) + ["structure"] * bool(config.structure_loss_weight)
    return parts + [name for name in (config.distance_scaling, config.scaling_sparsing) if name != "none"]


def used_features(config: SyntaxConfigMixin) -> list[str]:
    """Lists the features in the embeddings, in one order."""
    return [name for name in FEATURES if name in config.syntax_features]


def choose_systems(
    config: SyntaxBertConfig, compare_baseline: bool, name: str | None = None
) -> dict[str, SyntaxBertConfig]:
    """Gives the system to train by its name and, if asked for, the plain model before it.

    Raises:
        ValueError: If the plain model would be compared with itself.
    """
    own_name = system_name(config)
    if not compare_baseline:
        return {name or own_name: config}
    if "plain" in (own_name, name):
        raise ValueError("there is nothing to compare the plain model with: give the other system syntax, or a name")
    own = {field: value for field, value in config.to_dict().items() if field not in ("model_type", "architectures")}
    return {"plain": SyntaxBertConfig(**{**own, **PLAIN_BERT}), name or own_name: config}


def describe_system(config: SyntaxBertConfig) -> dict[str, Any]:
    """Gives the fields by which systems differ, whether they were set or are the checkpoint's; none without effect."""
    heads = {name: getattr(config, name) for name in ("slot_decoder", "score_answer_sentences")}
    return heads | describe_mechanisms(config)


def describe_mechanisms(config: SyntaxConfigMixin) -> dict[str, Any]:
    """Gives the fields of the mechanisms; none without effect."""
    names = ["graph_attention_layers", "distance_scaling"]
    names += ["syntax_dropout"] if config.syntax_columns else []
    names += GRAPH_ATTENTION if config.graph_attention_layers else ()
    names += SCALING if config.distance_scaling != "none" else ()
    values = {name: getattr(config, name) for name in names} | {"syntax_features": used_features(config)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
