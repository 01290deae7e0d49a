"""Tags the words of raw sentences by a trained model for token classification."""

from collections.abc import Sequence

import numpy as np
import torch
from transformers import PreTrainedModel

from .cross_lingual import decode_tags
from .encoding import encode_words
from .tokenization.tokenization_syntax_fast import SyntaxTokenizerFast

__all__ = ["tag_words"]

COLUMNS_OF_WORDS = ("labels", "example", "word_index")


@torch.inference_mode()
def tag_words(
    model: PreTrainedModel,
    tokenizer: SyntaxTokenizerFast,
    sentences: Sequence[Sequence[str]],
    batch_size: int = 32,
) -> list[list[str]]:
    """Gives every word one tag, as `run_xtreme_syntax.py` evaluates a tagger.

    A sentence that is longer than the model is read in windows. A word without wordpieces gets `O` or, where there is
    no such label, the first one.

    Args:
        model: A model for token classification; it is set to evaluation.
        tokenizer: Its tokenizer, with one parser or `columns=()`.
        sentences: The words of each sentence.
        batch_size: Windows that are computed at a time, those of similar length together.

    Returns:
        The tags of each sentence, as many as it has words.
    """
    model.eval()
    filled = [list(words) for words in sentences if words]
    if not filled:
        return [[] for _ in sentences]
    rows: dict[str, list] = {"words": filled, "tags": [[0] * len(words) for words in filled]}
    max_length = min(tokenizer.model_max_length, model.config.max_position_embeddings)
    encoded = encode_words(rows, range(len(filled)), tokenizer, max_length)
    inputs = {name: values for name, values in encoded.items() if name not in COLUMNS_OF_WORDS}
    windows = [dict(zip(inputs, values, strict=True)) for values in zip(*inputs.values(), strict=True)]
    tag_ids = np.zeros((len(windows), max_length), dtype=int)
    order = sorted(range(len(windows)), key=lambda window: len(windows[window]["input_ids"]))
    for start in range(0, len(order), batch_size):
        chosen = order[start : start + batch_size]
        batch = tokenizer.pad([windows[window] for window in chosen], padding_side="right", return_tensors="pt")
        ids = model(**batch.to(model.device)).logits.argmax(-1)
        tag_ids[chosen, : ids.shape[1]] = ids.cpu()
    labels = [model.config.id2label[index] for index in range(model.config.num_labels)]
    decoded = iter(decode_tags(rows, encoded, tag_ids, labels))
    return [[labels[tag] for tag in next(decoded)] if words else [] for words in sentences]
