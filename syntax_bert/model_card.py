"""What a model card says of a checkpoint: read from its files, described in words."""

import html
import json
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from huggingface_hub import EvalResult
from transformers import PreTrainedConfig

from .cross_lingual_metrics import XTREME_METRICS
from .data.xtreme_tasks import XTREME_TASKS
from .metrics import GLUE_METRICS
from .parsers.catalogue import parser_path
from .tokenization.parser_files import licence
from .tokenization.udpipe_models import file_digest

__all__ = [
    "cell",
    "describe_mechanisms",
    "describe_usage",
    "evaluation_result",
    "over_seeds",
    "read_languages",
    "read_parsers",
    "read_run",
    "read_scores",
]

TEXT = "The keys to the cabinet are here."
PIPELINES = {  # the task of each head, and what its pipeline is called with
    "ForSequenceClassification": ("text-classification", f'"{TEXT}"'),
    "ForTokenClassification": ("token-classification", f'"{TEXT}", aggregation_strategy="simple"'),
    "ForIntentAndSlots": ("intent-and-slots", '"Wake me at nine."'),
    "ForQuestionAnswering": ("question-answering", f'question="Where are the keys?", context="{TEXT}"'),
    "ForMaskedLM": ("fill-mask", '"The keys are [MASK]."'),
    "MarianMT": ("translation", f'"{TEXT}"'),
    "": ("feature-extraction", f'"{TEXT}"'),
}
PAPERS = {
    "features": "Sundararaman et al. 2021, https://arxiv.org/abs/1911.06156",
    "graph attention": "Ahmad et al. 2021, https://arxiv.org/abs/2106.02134",
    "dependency": "Peng et al. 2022, https://arxiv.org/abs/2111.11707",
    "parent": "Bugliarello & Okazaki 2020, https://arxiv.org/abs/1909.03149",
}
METRICS = {*sum(GLUE_METRICS.values(), ()), *sum(XTREME_METRICS.values(), ()), "bleu", "chrf"}


class Score(NamedTuple):
    """One figure of a checkpoint: on which data (and part and split of them), by which metric, and of each seed."""

    data: str
    part: str
    split: str
    metric: str
    value: float
    by_seed: Mapping[str, float]


def evaluation_result(score: Score, task: str | None, collection: str | None = None) -> EvalResult:
    """Gives a score in the form of model cards; data of a collection on the Hub are a configuration of it."""
    data, config = (score.data, score.part or None) if collection is None else (collection, score.data)
    return EvalResult(
        task_type=task or "other",
        dataset_type=data,
        dataset_name=f"{score.data} {score.part}".strip(),
        dataset_config=config,
        dataset_split=score.split if collection is None else f"{score.split}_{score.part}".strip("_"),
        metric_type=score.metric,
        metric_value=score.value,
    )


def describe_mechanisms(config: PreTrainedConfig) -> list[str]:
    """Tells how a model reads syntax, with the papers."""
    mechanisms = []
    if config.syntax_features:
        how = getattr(config, "feature_combination", "sum")
        mechanisms.append(f"features {', '.join(config.syntax_features)} ({how}; {PAPERS['features']})")
    if config.graph_attention_layers:
        reach = f"{config.graph_attention_layers} layers, tokens up to {config.max_dependency_distance} arcs apart"
        target = config.syntax_bias.replace("_", " and ")
        mechanisms.append(f"graph attention, {reach}, biasing {target} ({PAPERS['graph attention']})")
    if config.distance_scaling != "none":
        paper = PAPERS.get(config.distance_scaling)
        mechanisms.append(f"attention scaled by distance: {config.distance_scaling}{f' ({paper})' if paper else ''}")
    return mechanisms


def describe_usage(
    architecture: str, name: str, run: Mapping[str, Any], settings: Mapping[str, Any]
) -> tuple[str | None, str]:
    """Gives the task of the pipeline that runs a model, and the code."""
    head = next((head for head in PIPELINES if head and architecture.endswith(head)), "")
    syntax = settings.get("syntax") or {}
    languages = list(syntax["parser"]) if isinstance(syntax.get("parser"), dict) else []
    language = run["train_language"] if run.get("train_language") in languages else next(iter(languages), None)
    options = f", language={json.dumps(language)}" if language and not syntax.get("language") else ""
    has_parser = bool(syntax.get("parser")) or syntax.get("columns") == []
    if not has_parser:
        options += ', parser="PARSER.udpipe"'
    tokenizer = f"AutoTokenizer.from_pretrained({json.dumps(name)}{options}, trust_remote_code=True)"
    if not head and architecture.endswith(("MultipleChoice", "TreeReconstruction", "MarianModel")):
        auto = "AutoModelForMultipleChoice" if architecture.endswith("MultipleChoice") else "AutoModel"
        return None, (
            f"from transformers import {auto}, AutoTokenizer\n\ntokenizer = {tokenizer}\n"
            f"model = {auto}.from_pretrained({json.dumps(name)}, trust_remote_code=True)"
        )
    task, call = PIPELINES[head]
    if head == "ForSequenceClassification" and is_pair(run):
        call = '{"text": "Where are the keys?", "text_pair": "' + TEXT + '"}'
    mask = settings.get("mask_token") or "[MASK]"
    call = call.replace("[MASK]", mask["content"] if isinstance(mask, dict) else mask)
    imported, given = ("AutoTokenizer, pipeline", ", tokenizer=tokenizer") if options else ("pipeline", "")
    made = f"tokenizer = {tokenizer}\n" if options else ""
    return task, (
        f"from transformers import {imported}\n\n{made}"
        f"pipe = pipeline({json.dumps(task)}, model={json.dumps(name)}{given}, trust_remote_code=True)\n"
        f"print(pipe({call}))"
    )


def is_pair(run: Mapping[str, Any]) -> bool:
    """Tells whether a run was on pairs of texts."""
    task = XTREME_TASKS.get(run.get("task", ""))
    return len(run.get("text_columns", ())) == 2 or task is not None and task.kind == "pair"


def read_parsers(folder: Path, syntax: Mapping[str, Any]) -> Iterator[dict[str, str | None]]:
    """Lists the parsers that a checkpoint carries, with the text of their licences."""
    parser = syntax.get("parser") or {}
    files = parser if isinstance(parser, dict) else {None: parser}
    for language, file in files.items():
        about = licence(folder / file)
        text = about.read_text("utf-8", errors="replace").replace("# ", "### ", 1) if about.is_file() else None
        yield {"language": language, "file": file, "sha256": syntax["sha256"][file], "licence": text}


def read_scores(run: Mapping[str, Any]) -> Iterator[Score]:
    """Lists the scores that a run noted, by data and metric, without losses and times."""
    for key, value in run.get("metrics", {}).items():
        split, _, rest = key.partition("_")
        metric = max((name for name in METRICS if rest == name or rest.endswith(f"_{name}")), key=len, default=None)
        if metric is not None and split in ("eval", "test"):
            part = rest.removesuffix(metric).strip("_")
            if is_unparsed(part, run):
                part += ", without syntax"
            split = "test" if split == "test" else "validation" if run.get("train_language") is None else "evaluation"
            yield Score(run["task"], part, split, metric, value, run.get("seeds", {}).get(key, {}))


def cell(value: Any) -> str:
    """Writes a value for a cell of a Markdown table."""
    return html.escape(" ".join(str(value).split())).replace("|", "\\|")


def is_unparsed(part: str, run: Mapping[str, Any]) -> bool:
    """Tells whether a language, or a pair of languages, was evaluated at least partly without syntax."""
    parsed = run.get("parser") or ()
    is_language = "train_language" in run and part not in ("", "mean")
    return is_language and bool(parsed) and not (part in parsed or {*part.split("-")} <= {*parsed})


def read_run(note: Path) -> dict[str, Any]:
    """Reads what a run noted; nothing if there is no note."""
    if not note.is_file():
        return {}
    try:
        run = json.loads(note.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{note} is damaged: {error}; remove it for a card without training and scores") from error
    if not isinstance(run, dict) or "task" not in run:
        raise ValueError(f"{note} is no note of a run; remove it for a card without training and scores")
    return run


def over_seeds(score: Score) -> str:
    """Writes mean and sample standard deviation over seeds."""
    values = list(score.by_seed.values())
    if len(values) < 2:
        return "–"
    return f"{statistics.mean(values):.4g} ± {statistics.stdev(values):.2g}"


def read_languages(run: Mapping[str, Any], parsers: list[dict[str, str | None]]) -> list[str]:
    """Lists the codes of the languages that a checkpoint was trained in, or else those of its parsers."""
    named = [run.get("train_language"), run.get("source_lang"), run.get("target_lang")]
    english = file_digest(parser_path("en"))
    named = [language for language in named if language] or [
        parser["language"] or ("en" if parser["sha256"] == english else None) for parser in parsers
    ]
    return list(dict.fromkeys(language for language in named if language and len(language) in (2, 3)))
