"""Cuts a SentencePiece (Unigram) checkpoint to the wordpieces that occur in some texts.

    python benchmarks/trim_vocabulary.py --model multilingual-e5-small --output multilingual-e5-small-trimmed FILE...

The outputs for these texts stay the same to the bit. Most of a multilingual encoder is its word embeddings, and an
optimizer goes through all of them at every step, so that experiments on the CPU take half the time.
"""

import argparse
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

TABLE = "embeddings.word_embeddings.weight"


def read_texts(files: list[Path]) -> Iterator[str]:
    """Gives all texts of text, JSON Lines and column files, whole and word by word."""
    for file in files:
        for line in file.read_text(encoding="utf-8").split("\n"):
            texts = map(str, json.loads(line).values()) if file.suffix == ".jsonl" and line else line.split("\t")
            for text in texts:
                yield text
                yield from text.split()


def pieces_to_keep(folder: Path, files: list[Path]) -> list[int]:
    """Lists the ids of the pieces in the texts, of special tokens and of single characters."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    kept = {token["id"] for token in json.loads((folder / "tokenizer.json").read_text("utf-8"))["added_tokens"]}
    kept |= {index for piece, index in tokenizer.get_vocab().items() if len(piece.removeprefix("▁")) <= 1}
    texts = sorted(set(read_texts(files)))
    for first in range(0, len(texts), 10_000):
        for encoding in tokenizer.encode_batch(texts[first : first + 10_000], add_special_tokens=False):
            kept.update(encoding.ids)
    return sorted(kept)


def write_checkpoint(source: Path, target: Path, kept: list[int]) -> None:
    """Writes tokenizer, config and weights with these pieces only, under new ids."""
    new_ids = {old: new for new, old in enumerate(kept)}
    target.mkdir(parents=True, exist_ok=True)
    tokenizer = json.loads((source / "tokenizer.json").read_text("utf-8"))
    pieces = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = [pieces[index] for index in kept if index < len(pieces)]
    tokenizer["model"]["unk_id"] = new_ids[tokenizer["model"]["unk_id"]]
    for token in tokenizer["added_tokens"]:
        token["id"] = new_ids[token["id"]]
    for token in tokenizer["post_processor"]["special_tokens"].values():
        token["ids"] = [new_ids[index] for index in token["ids"]]
    (target / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), "utf-8")
    shutil.copyfile(source / "tokenizer_config.json", target / "tokenizer_config.json")
    config = json.loads((source / "config.json").read_text("utf-8"))
    tokens = {
        name: new_ids[index] for name, index in config.items() if name.endswith("_token_id") and index in new_ids
    }
    config |= {**tokens, "vocab_size": len(kept), "dtype": "float32"}
    (target / "config.json").write_text(json.dumps(config, indent=1), "utf-8")
    weights = {name: tensor.float() for name, tensor in load_file(source / "model.safetensors").items()}
    weights[TABLE] = weights[TABLE][kept].clone()
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})


def main() -> None:
    """Writes the smaller checkpoint."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", type=Path, required=True)
    arguments.add_argument("--output", type=Path, required=True)
    arguments.add_argument("files", type=Path, nargs="+")
    options = arguments.parse_args()
    kept = pieces_to_keep(options.model, options.files)
    write_checkpoint(options.model, options.output, kept)
    print(f"{len(kept)} wordpieces in {options.output}")


if __name__ == "__main__":
    main()
