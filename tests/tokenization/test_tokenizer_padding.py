"""Padding, truncation, windows and collation by a syntax tokenizer, with the columns they must give."""

import copy

import numpy as np
import pytest
import torch
from transformers import (
    DataCollatorForMultipleChoice,
    DataCollatorForSeq2Seq,
    DataCollatorForTokenClassification,
    DataCollatorWithPadding,
)

from syntax_bert import SYNTAX_COLUMNS
from syntax_bert.tokenization.universal_dependencies import UPOS_IDS

CAT, DOGS = "The cat sees the dogs.", "You see."
DET, NOUN, VERB, PUNCT, PRON = (UPOS_IDS[tag] for tag in "DET NOUN VERB PUNCT PRON".split())


def padded(values, length, side="right", heads=False):
    """Pads one column by hand."""
    missing = length - len(values)
    if side == "right":
        return values + [0] * missing
    return [0] * missing + [value + missing if heads else value for value in values]


def batch(rows, side="right"):
    """Pads the columns of several sequences by hand."""
    length = max(len(row["upos_ids"]) for row in rows)
    return {
        column: [padded(row[column], length, side, column == "head_positions") for row in rows]
        for column in SYNTAX_COLUMNS
    }


def lists(encoding):
    return {column: np.asarray(encoding[column]).tolist() for column in SYNTAX_COLUMNS}


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("tensors", [None, "pt", "np"])
def test_padding_in_the_call_and_by_pad(tokenizer, side, tensors, cat_columns, dogs_columns):
    expected = batch([cat_columns, dogs_columns], side)
    in_call = tokenizer([CAT, DOGS], padding=True, padding_side=side, return_tensors=tensors)
    assert lists(in_call) == expected
    items = [dict(tokenizer(CAT)), dict(tokenizer(DOGS))]
    by_pad = tokenizer.pad(items, padding_side=side, return_tensors=tensors)
    tokenizer.padding_side = side
    by_default = tokenizer.pad(tokenizer([CAT, DOGS]), return_tensors=tensors)
    for encoding in (by_pad, by_default, tokenizer([CAT, DOGS], padding=True, return_tensors=tensors)):
        assert lists(encoding) == expected
        assert set(encoding) == set(in_call)
        for key, value in in_call.items():
            assert np.asarray(encoding[key]).tolist() == np.asarray(value).tolist()
            assert type(encoding[key]) is type(value)
            assert tensors is None or value.dtype in (torch.int64, np.dtype("int64"))


def test_padding_of_tensors_of_one_example_and_to_lengths(tokenizer, columns, cat_columns, dogs_columns):
    items = [tokenizer(text, return_tensors="pt") for text in (CAT, DOGS)]
    items = [{key: value[0] for key, value in item.items()} for item in items]
    assert lists(tokenizer.pad(items)) == batch([cat_columns, dogs_columns])
    one = tokenizer.pad(dict(tokenizer(DOGS)), padding="max_length", max_length=9, padding_side="left")
    assert columns(one) == {
        name: padded(dogs_columns[name], 9, "left", name == "head_positions") for name in SYNTAX_COLUMNS
    }
    several = tokenizer.pad(tokenizer([CAT, DOGS]), pad_to_multiple_of=8)
    assert several["head_positions"][1] == padded(dogs_columns["head_positions"], 16)
    again = tokenizer.pad(several, padding_side="left")  # already of equal length
    assert columns(again) == columns(several)
    longer = tokenizer.pad(dict(one), padding="max_length", max_length=12, padding_side="left")
    assert columns(longer) == {
        name: padded(dogs_columns[name], 12, "left", name == "head_positions") for name in SYNTAX_COLUMNS
    }


def test_pad_refuses_ids_out_of_range(tokenizer):
    item = dict(tokenizer(DOGS))
    with pytest.raises(ValueError, match="upos_ids .* must be 0 to 18"):
        tokenizer.pad([{**item, "upos_ids": [19] * 5}])


def test_pad_refuses_columns_that_do_not_fit_their_tokens(tokenizer):
    item = dict(tokenizer(DOGS))
    with pytest.raises(ValueError, match="upos_ids has 4 values for 5 tokens"):
        tokenizer.pad([{**item, "upos_ids": item["upos_ids"][:4]}])
    with pytest.raises(ValueError, match="head_positions .* must be 0 to 4"):
        tokenizer.pad([{**item, "head_positions": [0, 5, 0, 2, 0]}])


@pytest.mark.parametrize("side", ["right", "left"])
def test_collators_keep_the_columns(tokenizer, side, cat_columns, dogs_columns):
    tokenizer.padding_side = side
    items = [dict(tokenizer(CAT)), dict(tokenizer(DOGS))]
    expected = batch([cat_columns, dogs_columns], side)
    assert lists(DataCollatorWithPadding(tokenizer)([{**item, "label": 1} for item in items])) == expected
    labelled = [{**item, "labels": [7] * len(item["input_ids"])} for item in items]
    for collator in (DataCollatorForTokenClassification(tokenizer), DataCollatorForSeq2Seq(tokenizer, model=None)):
        collated = collator(copy.deepcopy(labelled))
        assert lists(collated) == expected
        assert (collated["labels"][1] == -100).tolist() == (collated["attention_mask"][1] == 0).tolist()
    choices = {key: [items[0][key], items[1][key]] for key in items[0]}
    collated = DataCollatorForMultipleChoice(tokenizer)([{**choices, "label": 0}, {**choices, "label": 1}])
    assert collated["input_ids"].shape == (2, 2, 10)
    assert lists(collated) == {name: [rows, rows] for name, rows in expected.items()}


def test_windows_have_complete_trees_of_their_own(tokenizer, dogs_columns):
    encoding = tokenizer(
        [DOGS, CAT], truncation=True, max_length=6, stride=1, return_overflowing_tokens=True, padding=True
    )
    assert encoding["overflow_to_sample_mapping"] == [0, 1, 1, 1]
    # [CLS] the cat see ##s [SEP]; [CLS] ##s the dog ##s [SEP]; [CLS] ##s . [SEP]
    assert encoding["head_positions"] == [
        padded(dogs_columns["head_positions"], 6),
        [0, 2, 3, 0, 3, 0],
        [0, 0, 3, 1, 3, 0],
        [0, 0, 0, 0, 0, 0],
    ]
    assert encoding["subword_ids"] == [
        padded(dogs_columns["subword_ids"], 6),
        [0, 4, 4, 1, 3, 0],
        [0, 4, 4, 1, 3, 0],
        [0, 4, 4, 0, 0, 0],
    ]
    left = tokenizer([CAT], truncation=True, max_length=6, stride=1, return_overflowing_tokens=True, padding=True,
                     padding_side="left")  # fmt: skip
    assert left["head_positions"][2] == [0, 0, 2, 2, 2, 2]
    assert left["upos_ids"][2] == [0, 0, 1, NOUN, PUNCT, 1]


def test_truncation_of_either_text_of_a_pair(tokenizer):
    encoding = tokenizer(CAT, DOGS, truncation="only_first", max_length=9)  # the cat see ##s: 4 pieces less
    assert encoding["head_positions"] == [0, 2, 3, 0, 0, 6, 0, 6, 0]
    assert encoding["upos_ids"] == [1, DET, NOUN, VERB, 1, PRON, VERB, PUNCT, 1]
    tokenizer.truncation_side = "left"
    encoding = tokenizer(CAT, truncation=True, max_length=6)  # [CLS] the dog ##s . [SEP]
    assert encoding["head_positions"] == [0, 2, 0, 2, 0, 0]
    assert encoding["upos_ids"] == [1, DET, NOUN, NOUN, PUNCT, 1]
