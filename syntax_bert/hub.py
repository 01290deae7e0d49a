"""Model cards, and publishing a checkpoint with one."""

import json
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from huggingface_hub import EvalResult, HfApi, ModelCard, ModelCardData
from transformers import AutoConfig, PreTrainedConfig
from transformers.models.auto.tokenization_auto import get_tokenizer_config

from .cross_lingual_metrics import XTREME_METRICS
from .data.glue import GLUE_TASKS
from .data.xtreme_tasks import XTREME_TASKS
from .metrics import GLUE_METRICS
from .parsers.catalogue import parser_path
from .tokenization.parser_files import licence
from .tokenization.udpipe_models import file_digest as full_digest

__all__ = ["publish", "write_model_card"]

TEMPLATE = Path(__file__).with_name("model_card.md")
UNPUBLISHED = ["checkpoint-*", "results/*", "predictions/*", "training_args.bin", "*.pt", "*.pth", "run.json"]
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
UNTOLD = ("system", "model", "model_files", "data", "parser", "metrics", "seeds", "versions")


class Score(NamedTuple):
    """One figure of a checkpoint: on which data (and part and split of them), by which metric, and of each seed."""

    data: str
    part: str
    split: str
    metric: str
    value: float
    by_seed: Mapping[str, float]


def write_model_card(folder: str | Path, repo_id: str | None = None) -> Path:
    """Writes README.md of a checkpoint: what it is, how to use it, its parser, training, scores and limits.

    All of it comes from what lies in the folder: config.json, tokenizer_config.json, the licences of the parsers, and
    run.json, in which the run scripts note settings and scores.

    Args:
        folder: A saved model with its tokenizer.
        repo_id: Its name on the Hub, for the usage; by default the folder's.

    Returns:
        The path of the card.

    Raises:
        FileNotFoundError: If there is no checkpoint.
    """
    folder = Path(folder)
    if not (folder / "config.json").is_file():
        raise FileNotFoundError(f"{folder} has no config.json: it is no checkpoint")
    config = AutoConfig.from_pretrained(folder)
    run = json.loads((folder / "run.json").read_text("utf-8")) if (folder / "run.json").is_file() else {}
    syntax = get_tokenizer_config(str(folder)).get("syntax") or {}
    parsers = list(read_parsers(folder, syntax))
    scores = list(read_scores(run))
    name = (repo_id or folder.resolve().name).rpartition("/")[2]
    languages = read_languages(run, parsers)
    own = config.architectures[0] if config.architectures else type(config).__name__
    task, usage = describe_usage(own, repo_id or str(folder), run, syntax)
    card = ModelCard.from_template(
        ModelCardData(
            model_name=name,
            language=languages or None,
            library_name="transformers",
            tags=["syntax_bert", "universal-dependencies"] if config.syntax_columns else ["syntax_bert"],
            base_model=None if "model_files" in run else run.get("model"),
            datasets=["nyu-mll/glue"] if run.get("task") in GLUE_TASKS and not run.get("data") else None,  # of the Hub
            pipeline_tag=task if task != "intent-and-slots" else "token-classification",
            metrics=sorted({score.metric for score in scores}) or None,
            eval_results=[evaluation_result(score, task) for score in scores] or None,
        ),
        template_path=str(TEMPLATE),
        title=name,
        architecture=own,
        base=run.get("model"),
        mechanisms=describe_mechanisms(config),
        usage=usage,
        parsers=parsers,
        settings={key: value for key, value in run.items() if key not in UNTOLD and value not in (None, [], {})},
        scores=[(score, over_seeds(score)) for score in scores],
        num_seeds=max((len(score.by_seed) for score in scores), default=0),
        languages=languages,
    )
    card.save(folder / "README.md")
    return folder / "README.md"


def evaluation_result(score: Score, task: str | None) -> EvalResult:
    """Gives a score in the form of model cards."""
    return EvalResult(
        task_type=task or "other",
        dataset_type=score.data,
        dataset_name=f"{score.data} {score.part}".strip(),
        dataset_config=score.part or None,
        dataset_split=score.split,
        metric_type=score.metric,
        metric_value=score.value,
    )


def publish(folder: str | Path, repo_id: str, private: bool | None = None, token: str | None = None) -> str:
    """Writes the card of a checkpoint and uploads it with its code and its parser, without the state of training.

    Args:
        folder: The checkpoint.
        repo_id: Name on the Hub; the repository is made if it is not there.
        private: Whether a new one is private.
        token: As in `HfApi`.

    Returns:
        The address of the commit.
    """
    api = HfApi(token=token)
    repo_id = api.create_repo(repo_id, private=private, exist_ok=True).repo_id  # with the namespace
    write_model_card(folder, repo_id)
    commit = api.upload_folder(
        repo_id=repo_id, folder_path=folder, ignore_patterns=UNPUBLISHED, commit_message="Publish the checkpoint"
    )
    return commit.commit_url


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
    architecture: str, name: str, run: Mapping[str, Any], syntax: Mapping[str, Any]
) -> tuple[str | None, str]:
    """Gives the task of the pipeline that runs a model, and the code."""
    head = next((head for head in PIPELINES if head and architecture.endswith(head)), "")
    languages = list(syntax["parser"]) if isinstance(syntax.get("parser"), dict) else []
    options = f", language={json.dumps(languages[0])}" if languages and not syntax.get("language") else ""
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
        text = about.read_text("utf-8").replace("# ", "### ", 1) if about.is_file() else None
        yield {"language": language, "file": file, "sha256": syntax["sha256"][file], "licence": text}


def read_scores(run: Mapping[str, Any]) -> Iterator[Score]:
    """Lists the scores that a run noted, by data and metric, without losses and times."""
    for key, value in run.get("metrics", {}).items():
        split, _, rest = key.partition("_")
        metric = max((name for name in METRICS if rest == name or rest.endswith(f"_{name}")), key=len, default=None)
        if metric is not None and split in ("eval", "test"):
            part = rest.removesuffix(metric).strip("_")
            split = "test" if split == "test" else "validation" if run.get("train_language") is None else "evaluation"
            yield Score(run["task"], part, split, metric, value, run.get("seeds", {}).get(key, {}))


def over_seeds(score: Score) -> str:
    """Writes mean and sample standard deviation over seeds."""
    values = list(score.by_seed.values())
    if len(values) < 2:
        return "–"
    return f"{statistics.mean(values):.4g} ± {statistics.stdev(values):.2g}"


def read_languages(run: Mapping[str, Any], parsers: list[dict[str, str | None]]) -> list[str]:
    """Lists the codes of the languages that a checkpoint was made for."""
    named = [run.get("train_language"), run.get("source_lang"), run.get("target_lang")]
    english = full_digest(parser_path("en"))
    named += [parser["language"] or ("en" if parser["sha256"] == english else None) for parser in parsers]
    return list(dict.fromkeys(language for language in named if language and len(language) in (2, 3)))
