"""Model cards, and publishing a checkpoint with one."""

from glob import escape
from pathlib import Path

from huggingface_hub import HfApi, ModelCard, ModelCardData
from transformers import AutoConfig
from transformers.models.auto.tokenization_auto import get_tokenizer_config

from .data.glue import GLUE_TASKS
from .model_card import (
    cell,
    describe_mechanisms,
    describe_usage,
    evaluation_result,
    over_seeds,
    read_languages,
    read_parsers,
    read_run,
    read_scores,
)
from .tokenization.parser_files import licence

__all__ = ["publish", "write_model_card"]

TEMPLATE = Path(__file__).with_name("model_card.md")
PUBLISHED = (  # of the files in a folder, beside the parsers that it names
    "README.md", "config.json", "generation_config.json", "*.safetensors", "*.safetensors.index.json", "*.py",
    "tokenizer*.json", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt", "*.spm",
)  # fmt: skip
UNTOLD = (
    "_name_or_path",
    "chunk_size_feed_forward",
    "return_dict",
    "use_cache",
    "system",
    "model",
    "model_files",
    "data",
    "parser",
    "metrics",
    "seeds",
    "versions",
)


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
        raise FileNotFoundError(
            f"{folder} has no config.json: it is no checkpoint; those of several runs are in SYSTEM/seed-N"
        )
    config = AutoConfig.from_pretrained(folder)
    run = read_run(folder / "run.json")
    settings = get_tokenizer_config(str(folder))
    parsers = list(read_parsers(folder, settings.get("syntax") or {}))
    scores = list(read_scores(run))
    name = (repo_id or folder.resolve().name).rpartition("/")[2]
    languages = read_languages(run, parsers)
    own = config.architectures[0] if config.architectures else type(config).__name__
    glue = "nyu-mll/glue" if run.get("task") in GLUE_TASKS and not run.get("data") else None  # from the Hub
    task, usage = describe_usage(own, repo_id or str(folder), run, settings)
    card = ModelCard.from_template(
        ModelCardData(
            model_name=name,
            language=languages or None,
            library_name="transformers",
            tags=["syntax_bert", "universal-dependencies"] if config.syntax_columns else ["syntax_bert"],
            base_model=None if "model_files" in run else run.get("model"),
            datasets=[glue] if glue else None,
            pipeline_tag=task if task != "intent-and-slots" else "token-classification",
            metrics=sorted({score.metric for score in scores}) or None,
            eval_results=[evaluation_result(score, task, glue) for score in scores] or None,
        ),
        template_path=str(TEMPLATE),
        title=name,
        architecture=own,
        base=run.get("model"),
        mechanisms=describe_mechanisms(config),
        usage=usage,
        parsers=parsers,
        trees=None if parsers else ", ".join(run.get("parser") or ()),
        settings={
            cell(key): cell(value) for key, value in run.items() if key not in UNTOLD and value not in (None, [], {})
        },
        scores=[(score, over_seeds(score)) for score in scores],
        num_seeds=max((len(score.by_seed) for score in scores), default=0),
        languages=languages if run else [],
    )
    card.save(folder / "README.md")
    return folder / "README.md"


def publish(folder: str | Path, repo_id: str, private: bool | None = None, token: str | None = None) -> str:
    """Writes the card of a checkpoint and uploads what belongs to it, and nothing else that lies in the folder.

    Args:
        folder: The checkpoint.
        repo_id: Name on the Hub; the repository is made if it is not there.
        private: Whether a new one is private.
        token: As in `HfApi`.

    Returns:
        The address of the commit.
    """
    folder = Path(folder)
    write_model_card(folder)  # and so finds out, before anything is made, whether there is a checkpoint
    api = HfApi(token=token)
    repo_id = api.create_repo(repo_id, private=private, exist_ok=True).repo_id  # with the namespace
    write_model_card(folder, repo_id)
    syntax = get_tokenizer_config(str(folder)).get("syntax") or {}
    parsers = [folder / str(parser["file"]) for parser in read_parsers(folder, syntax)]
    files = [*(file for pattern in PUBLISHED for file in folder.glob(pattern)), *parsers, *map(licence, parsers)]
    commit = api.upload_folder(
        repo_id=repo_id,
        folder_path=folder,
        allow_patterns=[escape(file.name) for file in files],
        commit_message="Publish the checkpoint",
    )
    return commit.commit_url
