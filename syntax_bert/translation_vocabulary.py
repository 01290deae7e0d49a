"""A SentencePiece vocabulary for source and target, as a Marian tokenizer reads it."""

import io
import json
import re
from collections.abc import Iterable
from pathlib import Path

import sentencepiece
from transformers import MarianTokenizer

__all__ = ["train_marian_tokenizer"]

CODE = re.compile(r"(>>.*?<<)?(.*)", re.DOTALL)


def train_marian_tokenizer(
    texts: Iterable[str], folder: str | Path, vocab_size: int, model_max_length: int = 512
) -> MarianTokenizer:
    """Trains one Unigram model over sources and targets together, and saves a tokenizer with it.

    Language codes such as `>>deu<<` at the beginning of texts become pieces of their own.

    Args:
        texts: Sources and targets.
        folder: Where the tokenizer is saved.
        vocab_size: Number of ids, those of `</s>`, `<unk>`, `<pad>` and the codes among them.
        model_max_length: Longest sequence in pieces.

    Raises:
        ValueError: If the texts have not as many pieces.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    model = io.BytesIO()
    split = [match.groups() for text in texts if (match := CODE.fullmatch(text))]
    codes = sorted({code for code, _ in split if code})
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(text for _, text in split),
            model_writer=model,
            vocab_size=vocab_size - 1 - len(codes),  # these and <pad> are Marian's
            bos_id=-1,
            character_coverage=1.0,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise ValueError(f"no vocabulary of {vocab_size} pieces can be trained on these texts: {error}") from error
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    names = (pieces.id_to_piece(index) for index in range(pieces.get_piece_size()))
    ordered = dict.fromkeys(["</s>", "<unk>", *codes, *names, "<pad>"])
    (folder / "vocab.json").write_text(
        json.dumps({name: index for index, name in enumerate(ordered)}, ensure_ascii=False), encoding="utf-8"
    )
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model.getvalue())
    files = (str(folder / name) for name in ("source.spm", "target.spm", "vocab.json"))
    tokenizer = MarianTokenizer(*files, model_max_length=model_max_length)
    tokenizer.save_pretrained(folder)
    return tokenizer
