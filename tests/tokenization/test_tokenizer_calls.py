"""Every way to call, pad, save and load a syntax tokenizer, with the columns it must give."""

import copy
import json
import logging
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from datasets import Dataset
from datasets.fingerprint import Hasher
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertTokenizer,
    DataCollatorForMultipleChoice,
    DataCollatorForSeq2Seq,
    DataCollatorForTokenClassification,
    DataCollatorWithPadding,
)

from syntax_bert import SYNTAX_COLUMNS, Parse, SyntaxBertConfig, SyntaxTokenizerFast, UDPipeParser
from syntax_bert.tokenization.universal_dependencies import DEPREL_IDS, UPOS_IDS

CAT, DOGS = "The cat sees the dogs.", "You see."
VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat dog ##s see you sleep . i that ?".split()
DET, NOUN, VERB, PUNCT, PRON = (UPOS_IDS[tag] for tag in "DET NOUN VERB PUNCT PRON".split())
det, nsubj, root, obj, punct = (DEPREL_IDS[deprel] for deprel in "det nsubj root obj punct".split())
# [CLS] the cat see ##s the dog ##s . [SEP]
CAT_COLUMNS = {
    "upos_ids": [1, DET, NOUN, VERB, VERB, DET, NOUN, NOUN, PUNCT, 1],
    "casing_ids": [0, 2, 1, 1, 1, 1, 1, 1, 1, 0],
    "subword_ids": [0, 4, 4, 1, 3, 4, 1, 3, 4, 0],
    "deprel_ids": [1, det, nsubj, root, root, det, obj, obj, punct, 1],
    "head_positions": [0, 2, 3, 0, 3, 6, 3, 6, 3, 0],
}
# [CLS] you see . [SEP]
DOGS_COLUMNS = {
    "upos_ids": [1, PRON, VERB, PUNCT, 1],
    "casing_ids": [0, 2, 1, 1, 0],
    "subword_ids": [0, 4, 4, 4, 0],
    "deprel_ids": [1, nsubj, root, punct, 1],
    "head_positions": [0, 2, 0, 2, 0],
}
# The second text without its [CLS], nine tokens further on; its root hangs from the anchor.
SECOND = {
    column: values[1:] if column != "head_positions" else [head + 9 if head else 0 for head in values[1:]]
    for column, values in DOGS_COLUMNS.items()
}
PAIR_COLUMNS = {column: CAT_COLUMNS[column] + SECOND[column] for column in SYNTAX_COLUMNS}
NONE = {"upos_ids": 1, "casing_ids": 0, "subword_ids": 0, "deprel_ids": 1, "head_positions": 0}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    vocabulary = {piece: index for index, piece in enumerate(VOCABULARY)}
    BertTokenizer(vocab=vocabulary, model_max_length=64).save_pretrained(folder)
    BertConfig(vocab_size=len(VOCABULARY)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def parser(english_parser):
    return UDPipeParser(english_parser)


@pytest.fixture
def tokenizer(checkpoint, english_parser):
    return SyntaxTokenizerFast.from_pretrained(checkpoint, parser=english_parser)


class SpyParser:
    """Notes what it is asked for and answers as the parser it wraps."""

    def __init__(self, parser):
        self.wrapped, self.calls = parser, []

    def parse(self, texts, languages=None, dependencies=True):
        self.calls.append((list(texts), list(languages), dependencies))
        return self.wrapped.parse(texts, dependencies=dependencies)

    def parse_words(self, words, languages=None, dependencies=True):
        self.calls.append(([list(text) for text in words], list(languages), dependencies))
        return self.wrapped.parse_words(words, dependencies=dependencies)


@pytest.fixture
def spy(checkpoint, parser):
    return SyntaxTokenizerFast.from_pretrained(checkpoint, parser=SpyParser(parser))


def columns(encoding):
    return {column: encoding[column] for column in SYNTAX_COLUMNS}


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


# ---------------------------------------------------------------- calls


def test_a_text(tokenizer):
    assert columns(tokenizer(CAT)) == CAT_COLUMNS
    assert columns(tokenizer(text=DOGS)) == DOGS_COLUMNS


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_batch(tokenizer, kind):
    encoding = tokenizer(kind([CAT, DOGS]))
    assert columns(encoding) == {name: [CAT_COLUMNS[name], DOGS_COLUMNS[name]] for name in SYNTAX_COLUMNS}
    assert columns(tokenizer([DOGS])) == {name: [DOGS_COLUMNS[name]] for name in SYNTAX_COLUMNS}


def test_a_pair_is_two_trees_under_one_anchor(tokenizer):
    assert columns(tokenizer(CAT, DOGS)) == PAIR_COLUMNS
    assert columns(tokenizer(CAT, "")) == CAT_COLUMNS  # no second text at all
    assert columns(tokenizer("", DOGS))["head_positions"] == [0, 0, 3, 0, 3, 0]


def test_batches_of_pairs_in_each_of_their_forms(tokenizer):
    expected = {name: [PAIR_COLUMNS[name], PAIR_COLUMNS[name]] for name in SYNTAX_COLUMNS}
    for encoding in (
        tokenizer([CAT, CAT], [DOGS, DOGS]),
        tokenizer([(CAT, DOGS), (CAT, DOGS)]),
        tokenizer([[CAT, DOGS], [CAT, DOGS]]),  # zero-shot classification
    ):
        assert columns(encoding) == expected
        assert set(map(len, encoding["input_ids"])) == {len(PAIR_COLUMNS["upos_ids"])}
    mixed = tokenizer([(CAT, DOGS), CAT])
    assert mixed["upos_ids"] == [PAIR_COLUMNS["upos_ids"], CAT_COLUMNS["upos_ids"]]


def test_words(tokenizer):
    words = ["The", "cat", "sees", "the", "dogs", "."]
    assert columns(tokenizer(words, is_split_into_words=True)) == CAT_COLUMNS
    assert columns(tokenizer(tuple(words), is_split_into_words=True, padding=True)) == CAT_COLUMNS
    encoding = tokenizer([words, ["You", "see", "."]], is_split_into_words=True)
    assert columns(encoding) == {name: [CAT_COLUMNS[name], DOGS_COLUMNS[name]] for name in SYNTAX_COLUMNS}
    assert encoding.word_ids(0) == [None, 0, 1, 2, 2, 3, 4, 4, 5, None]


def test_pairs_of_words(tokenizer):
    first, second = ["The", "cat", "sees", "the", "dogs", "."], ["You", "see", "."]
    assert columns(tokenizer(first, second, is_split_into_words=True)) == PAIR_COLUMNS
    expected = {name: [PAIR_COLUMNS[name]] for name in SYNTAX_COLUMNS}
    assert columns(tokenizer([first], [second], is_split_into_words=True)) == expected
    assert columns(tokenizer([(first, second)], is_split_into_words=True)) == expected


def test_no_words(tokenizer):
    assert columns(tokenizer([], is_split_into_words=True)) == {name: [value] * 2 for name, value in NONE.items()} | {
        "head_positions": [0, 0]
    }
    encoding = tokenizer([[], ["You", "see", "."]], is_split_into_words=True)
    assert encoding["upos_ids"] == [[1, 1], DOGS_COLUMNS["upos_ids"]]


def test_options_given_as_a_dictionary_or_by_position(tokenizer):
    words = ["You", "see", "."]
    assert columns(tokenizer(words, tokenizer_kwargs={"is_split_into_words": True})) == DOGS_COLUMNS
    encoding = tokenizer([DOGS], None, None, None, True, "max_length", True, 8, return_tensors="np")
    assert lists(encoding) == batch([{name: padded(DOGS_COLUMNS[name], 8) for name in SYNTAX_COLUMNS}])


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("tensors", [None, "pt", "np"])
def test_padding_in_the_call_and_by_pad(tokenizer, side, tensors):
    expected = batch([CAT_COLUMNS, DOGS_COLUMNS], side)
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


def test_padding_of_tensors_of_one_example_and_to_lengths(tokenizer):
    items = [tokenizer(text, return_tensors="pt") for text in (CAT, DOGS)]
    items = [{key: value[0] for key, value in item.items()} for item in items]
    assert lists(tokenizer.pad(items)) == batch([CAT_COLUMNS, DOGS_COLUMNS])
    one = tokenizer.pad(dict(tokenizer(DOGS)), padding="max_length", max_length=9, padding_side="left")
    assert columns(one) == {
        name: padded(DOGS_COLUMNS[name], 9, "left", name == "head_positions") for name in SYNTAX_COLUMNS
    }
    several = tokenizer.pad(tokenizer([CAT, DOGS]), pad_to_multiple_of=8)
    assert several["head_positions"][1] == padded(DOGS_COLUMNS["head_positions"], 16)
    again = tokenizer.pad(several, padding_side="left")  # already of equal length
    assert columns(again) == columns(several)
    longer = tokenizer.pad(dict(one), padding="max_length", max_length=12, padding_side="left")
    assert columns(longer) == {
        name: padded(DOGS_COLUMNS[name], 12, "left", name == "head_positions") for name in SYNTAX_COLUMNS
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
def test_collators_keep_the_columns(tokenizer, side):
    tokenizer.padding_side = side
    items = [dict(tokenizer(CAT)), dict(tokenizer(DOGS))]
    expected = batch([CAT_COLUMNS, DOGS_COLUMNS], side)
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


def test_windows_have_complete_trees_of_their_own(tokenizer):
    encoding = tokenizer(
        [DOGS, CAT], truncation=True, max_length=6, stride=1, return_overflowing_tokens=True, padding=True
    )
    assert encoding["overflow_to_sample_mapping"] == [0, 1, 1, 1]
    # [CLS] the cat see ##s [SEP]; [CLS] ##s the dog ##s [SEP]; [CLS] ##s . [SEP]
    assert encoding["head_positions"] == [
        padded(DOGS_COLUMNS["head_positions"], 6),
        [0, 2, 3, 0, 3, 0],
        [0, 0, 3, 1, 3, 0],
        [0, 0, 0, 0, 0, 0],
    ]
    assert encoding["subword_ids"] == [
        padded(DOGS_COLUMNS["subword_ids"], 6),
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
    assert columns(encoding)["head_positions"] == [0, 2, 3, 0, 0, 6, 0, 6, 0]
    assert encoding["upos_ids"] == [1, DET, NOUN, VERB, 1, PRON, VERB, PUNCT, 1]
    tokenizer.truncation_side = "left"
    encoding = tokenizer(CAT, truncation=True, max_length=6)  # [CLS] the dog ##s . [SEP]
    assert encoding["head_positions"] == [0, 2, 0, 2, 0, 0]
    assert encoding["upos_ids"] == [1, DET, NOUN, NOUN, PUNCT, 1]


def test_without_special_tokens_the_root_is_its_own_head(tokenizer):
    encoding = tokenizer([CAT, DOGS], add_special_tokens=False, padding=True, padding_side="left")
    assert encoding["head_positions"] == [[1, 2, 2, 2, 5, 2, 5, 2], [0] * 5 + [6, 6, 6]]
    assert encoding["upos_ids"][1] == [0] * 5 + [PRON, VERB, PUNCT]


def test_targets_are_neither_parsed_nor_given_columns(spy):
    encoding = spy([CAT, DOGS], text_target=[DOGS, CAT])
    assert encoding["labels"] == encoding["input_ids"][::-1]
    assert columns(encoding) == {name: [CAT_COLUMNS[name], DOGS_COLUMNS[name]] for name in SYNTAX_COLUMNS}
    spy.parser.calls.clear()
    alone = spy(text_target=DOGS)
    assert set(alone) == {"input_ids", "token_type_ids", "attention_mask"}
    assert spy.parser.calls == []


def test_encode_tokenize_and_decode_need_no_parser(checkpoint):
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint)
    assert tokenizer.tokenize(DOGS) == ["you", "see", "."]
    assert tokenizer.decode(tokenizer.encode(DOGS), skip_special_tokens=True) == "you see."


def test_a_mask_token_has_a_head_but_no_features(tokenizer, parser):
    masked = "The [MASK] sees the dogs."
    words = ["The", "cat", "sees", "the", "dogs", "."]
    parse = parser.parse_words([words])[0]
    of_mask = Parse(
        masked, [0, 4, 11, 16, 20, 24], [3, 10, 15, 19, 24, 25], parse.upos, [0] * 6, parse.parents, parse.deprels
    )
    none = {"upos_ids": 1, "casing_ids": 0, "subword_ids": 0, "deprel_ids": 1}
    expected = {name: list(values) for name, values in CAT_COLUMNS.items()}
    for name, value in none.items():
        expected[name][2] = value
    assert columns(tokenizer(masked, parses=of_mask)) == expected
    pair = tokenizer(DOGS, masked, parses_pair=of_mask)
    assert {name: pair[name][6] for name in none} == none
    assert pair["head_positions"][5:8] == [6, 7, 0]
    literal = tokenizer(masked, parses=of_mask, split_special_tokens=True)
    assert tokenizer.mask_token_id not in literal["input_ids"]
    assert literal["upos_ids"][2] == NOUN


@pytest.mark.parametrize("columns", ["upos_ids", ["upos_ids"]])
def test_one_column_may_be_a_string(checkpoint, english_parser, tmp_path, columns):
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=english_parser, columns=columns)
    tokenizer.save_pretrained(tmp_path)
    assert tokenizer.syntax_columns == SyntaxTokenizerFast.from_pretrained(tmp_path).syntax_columns == ("upos_ids",)


# ---------------------------------------------------------------- parses and languages


def test_given_parses_are_used_instead_of_a_parser(checkpoint, parser):
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint)
    cat, dogs = parser.parse([CAT, DOGS])
    assert columns(tokenizer(CAT, parses=cat)) == columns(tokenizer(CAT, parses=[cat])) == CAT_COLUMNS
    assert columns(tokenizer(CAT, DOGS, parses=cat, parses_pair=dogs)) == PAIR_COLUMNS
    encoding = tokenizer([(CAT, DOGS), (CAT, DOGS)], parses=[cat, None], parses_pair=(None, dogs))
    nothing = {name: [value] * len(SECOND[name]) for name, value in NONE.items()}
    assert {name: encoding[name][0] for name in SYNTAX_COLUMNS} == {
        name: CAT_COLUMNS[name] + nothing[name] for name in SYNTAX_COLUMNS
    }
    assert {name: encoding[name][1] for name in SYNTAX_COLUMNS} == {
        name: [NONE[name]] * 10 + SECOND[name] for name in SYNTAX_COLUMNS
    }
    none = tokenizer([DOGS], parses=[None], return_tensors="pt")
    assert lists(none) == {name: [[value] * 5] for name, value in NONE.items()}
    words = DOGS.replace(".", " .").split()
    assert tokenizer(words, is_split_into_words=True, parses=parser.parse_words([words])[0])["upos_ids"] == [
        1, PRON, VERB, PUNCT, 1
    ]  # fmt: skip


def test_a_parse_of_another_text_is_refused_and_its_example_named(tokenizer, parser):
    cat, dogs = parser.parse([CAT, DOGS])
    with pytest.raises(ValueError, match="example 1.*You see.*The cat"):
        tokenizer([CAT, CAT], parses=[cat, dogs])
    with pytest.raises(ValueError, match="example 0.*The cat.*You see"):
        tokenizer(CAT, DOGS, parses=cat, parses_pair=cat)
    with pytest.raises(ValueError, match="1 parses are given for 2 texts"):
        tokenizer([CAT, DOGS], parses=[cat])
    with pytest.raises(ValueError, match="2 parses are given for 1 texts"):
        tokenizer([CAT], parses=[cat, dogs])


@pytest.mark.parametrize("count", [0, 2])
def test_the_number_of_parses_of_a_single_text_is_checked(tokenizer, parser, count):
    with pytest.raises(ValueError, match=f"{count} parses are given for 1 texts"):
        tokenizer(CAT, parses=parser.parse([CAT, DOGS])[:count])


def test_one_parse_for_a_batch_is_refused_clearly(tokenizer, parser):
    with pytest.raises(ValueError, match="1 parses are given for 2 texts"):
        tokenizer([CAT, DOGS], parses=parser.parse([CAT])[0])


def test_a_tagged_parse_does_where_no_tree_is_needed(checkpoint, parser):
    (tagged,) = parser.parse([CAT], dependencies=False)
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, columns=("upos_ids", "casing_ids"))
    encoding = tokenizer(CAT, parses=tagged)
    assert encoding["upos_ids"] == CAT_COLUMNS["upos_ids"]
    assert set(encoding) == {"input_ids", "token_type_ids", "attention_mask", "upos_ids", "casing_ids"}
    for needed in ("deprel_ids", "head_positions"):
        tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, columns=("upos_ids", needed))
        with pytest.raises(ValueError, match="example 1.*only tags"):
            tokenizer([DOGS, CAT], parses=[None, tagged])


def test_neither_parser_nor_parses_is_an_error_with_its_remedy(checkpoint, parser):
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint)
    with pytest.raises(ValueError, match=r"parser=.*parses=.*columns=\(\)"):
        tokenizer(CAT)
    with pytest.raises(ValueError, match="no parser"):
        tokenizer(CAT, DOGS, parses=parser.parse([CAT])[0])


def test_languages_choose_the_parser(checkpoint, english_parser, tmp_path):
    other = shutil.copy(english_parser, tmp_path / "other.udpipe")
    both = SyntaxTokenizerFast.from_pretrained(checkpoint, parser={"en": english_parser, "xx": other})
    expected = {name: [CAT_COLUMNS[name], DOGS_COLUMNS[name]] for name in SYNTAX_COLUMNS}
    for languages in ("en", ["en", "xx"], ("xx", "en")):
        assert columns(both([CAT, DOGS], languages=languages)) == expected
    assert columns(both(CAT, DOGS, languages="en", languages_pair="xx")) == PAIR_COLUMNS
    assert columns(both(CAT, DOGS, languages="xx")) == PAIR_COLUMNS
    with pytest.raises(ValueError, match=r"'de'.*\['en', 'xx'\]"):
        both([CAT, DOGS], languages=["en", "de"])
    with pytest.raises(ValueError, match=r"\['en', 'xx'\]"):
        both(CAT)
    with pytest.raises(ValueError, match="2 languages are given for 1 texts"):
        both(CAT, languages=["en", "xx"])
    with pytest.raises(ValueError, match="1 languages are given for 2 texts"):
        both([CAT, DOGS], languages=["en"])
    one = SyntaxTokenizerFast.from_pretrained(checkpoint, parser={"en": english_parser})
    assert columns(one(CAT)) == columns(one(CAT, languages="en")) == CAT_COLUMNS
    with pytest.raises(ValueError, match="'de'"):
        one(CAT, languages="de")


def test_a_parser_without_language_refuses_one(tokenizer):
    with pytest.raises(ValueError, match="'en'.*language: path"):
        tokenizer(CAT, languages="en")


def test_languages_reach_the_parser_with_each_text(spy):
    spy([CAT, DOGS], [DOGS, CAT], languages=["en", "de"], languages_pair="fr")
    assert spy.parser.calls == [([CAT, DOGS], ["en", "de"], True), ([DOGS, CAT], ["fr", "fr"], True)]
    spy.parser.calls.clear()
    spy([CAT, DOGS], [DOGS, CAT], languages=["en", "de"])
    assert [languages for _, languages, _ in spy.parser.calls] == [["en", "de"]] * 2
    spy.parser.calls.clear()
    spy([CAT, CAT, CAT], languages=["en", "de", "en"])
    assert spy.parser.calls == [([CAT, CAT], ["en", "de"], True)]


def test_equal_texts_of_a_batch_are_parsed_once(spy):
    encoding = spy([CAT, DOGS, CAT], [DOGS, DOGS, DOGS])
    assert [texts for texts, _, _ in spy.parser.calls] == [[CAT, DOGS], [DOGS]]
    assert encoding["upos_ids"][0] == encoding["upos_ids"][2] == PAIR_COLUMNS["upos_ids"]
    spy.parser.calls.clear()
    spy([["You", "see"], ["You", "see"]], is_split_into_words=True)
    assert [texts for texts, _, _ in spy.parser.calls] == [[["You", "see"]]]


def test_only_the_parsing_that_the_columns_need_is_done(checkpoint, parser):
    for chosen, dependencies in ((("upos_ids",), False), (("subword_ids", "deprel_ids"), True)):
        tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=SpyParser(parser), columns=chosen)
        encoding = tokenizer([CAT, DOGS])
        assert list(encoding)[3:] == list(chosen)
        assert [call[2] for call in tokenizer.parser.calls] == [dependencies]
        assert [encoding[name] for name in chosen] == [[CAT_COLUMNS[name], DOGS_COLUMNS[name]] for name in chosen]
    none = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=SpyParser(parser), columns=())
    assert set(none([CAT, DOGS])) == {"input_ids", "token_type_ids", "attention_mask"}
    assert none.parser.calls == []
    without_parser = SyntaxTokenizerFast.from_pretrained(checkpoint, columns=())
    assert set(without_parser(CAT)) == {"input_ids", "token_type_ids", "attention_mask"}
    with pytest.raises(ValueError, match="'tags'.*upos_ids"):
        SyntaxTokenizerFast.from_pretrained(checkpoint, columns=("upos_ids", "tags"))


def test_texts_and_second_texts_of_different_number_are_refused_as_the_base_does(tokenizer):
    with pytest.raises(ValueError, match="batch length of `text`: 2 does not match"):
        tokenizer([CAT, DOGS], [CAT])


# ---------------------------------------------------------------- processes


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda item: pickle.loads(pickle.dumps(item))])
def test_copies_give_the_same_columns(tokenizer, duplicate):
    for item in (tokenizer, duplicate(tokenizer), duplicate(duplicate(tokenizer))):
        assert columns(item(CAT, DOGS)) == PAIR_COLUMNS
        assert item.do_lower_case is True
    assert len(pickle.dumps(tokenizer)) < 100_000  # the parser goes by path


MAP_SCRIPT = """
import json, sys
from datasets import Dataset
from datasets.fingerprint import Hasher
from syntax_bert import SyntaxTokenizerFast
tokenizer = SyntaxTokenizerFast.from_pretrained(sys.argv[1], parser=sys.argv[2])
data = Dataset.from_dict({"text": sys.argv[3:]})
hashed = Hasher.hash(tokenizer)
mapped = data.map(tokenizer, input_columns="text", batched=True)
several = data.map(tokenizer, input_columns="text", batched=True, num_proc=2)
print(json.dumps([hashed, mapped._fingerprint, several["head_positions"][:], several["upos_ids"][:]]))
"""


def test_datasets_map_in_workers_and_equal_fingerprints_in_two_processes(checkpoint, english_parser, tmp_path):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "7"}
    other = subprocess.Popen(
        [sys.executable, "-c", MAP_SCRIPT, checkpoint, english_parser, CAT, DOGS],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=english_parser)
    hashed = Hasher.hash(tokenizer)
    mapped = Dataset.from_dict({"text": [CAT, DOGS]}).map(tokenizer, input_columns="text", batched=True)
    out, err = other.communicate()
    assert other.returncode == 0, err[-3000:]
    heads, tags = ([row[name] for row in (CAT_COLUMNS, DOGS_COLUMNS)] for name in ("head_positions", "upos_ids"))
    assert [mapped["head_positions"][:], mapped["upos_ids"][:]] == [heads, tags]
    assert json.loads(out.splitlines()[-1]) == [hashed, mapped._fingerprint, heads, tags]


def test_another_parser_file_is_another_fingerprint(checkpoint, english_parser, tmp_path):
    path = tmp_path / "mine.udpipe"
    shutil.copy(english_parser, path)
    load = SyntaxTokenizerFast.from_pretrained
    first = Hasher.hash(load(checkpoint, parser=path))
    assert Hasher.hash(load(checkpoint, parser=path)) == first
    assert Hasher.hash(load(checkpoint, parser=path, beam_size=1)) != first
    assert Hasher.hash(load(checkpoint, parser=path, columns=("upos_ids",))) != first
    with open(path, "ab") as file:
        file.write(b" ")
    assert Hasher.hash(load(checkpoint, parser=path)) != first


# ---------------------------------------------------------------- saving and loading


def fake_parser(folder, name, content):
    """A file that can be saved and found but not loaded."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content)
    return str(folder / name)


def edit_config(folder, **entries):
    path = Path(folder) / "tokenizer_config.json"
    config = json.loads(path.read_text())
    config["syntax"] |= entries
    path.write_text(json.dumps(config))


def test_a_checkpoint_carries_its_parser_under_a_bare_name(tokenizer, english_parser, tmp_path):
    files = [Path(name).name for name in tokenizer.save_pretrained(tmp_path / "saved")]
    assert "english-ewt.udpipe" in files
    config = json.loads((tmp_path / "saved" / "tokenizer_config.json").read_text())
    assert config["syntax"]["parser"] == "english-ewt.udpipe"
    assert str(Path(english_parser).parent) not in json.dumps(config)
    (tmp_path / "saved").rename(tmp_path / "moved")
    again = SyntaxTokenizerFast.from_pretrained(tmp_path / "moved")
    assert again.parser.paths == {None: str(tmp_path / "moved" / "english-ewt.udpipe")}
    assert columns(again(CAT, DOGS)) == PAIR_COLUMNS


def test_settings_are_kept_by_a_checkpoint_and_can_be_overridden(checkpoint, english_parser, tmp_path):
    first = SyntaxTokenizerFast.from_pretrained(
        checkpoint, parser=english_parser, columns=("subword_ids", "upos_ids"), beam_size=2
    )
    first.save_pretrained(tmp_path)
    again = SyntaxTokenizerFast.from_pretrained(tmp_path)
    assert (again.parser.beam_size, again.syntax_columns) == (2, ("subword_ids", "upos_ids"))
    other = SyntaxTokenizerFast.from_pretrained(tmp_path, columns=(), beam_size=3)
    assert (other.parser.beam_size, other.syntax_columns) == (3, ())
    other.save_pretrained(tmp_path / "other")
    again = SyntaxTokenizerFast.from_pretrained(tmp_path / "other")
    assert (again.parser.beam_size, again.syntax_columns) == (3, ())


@pytest.mark.parametrize("kind", [str, Path])
def test_the_saved_beam_size_holds_for_another_parser_file(checkpoint, english_parser, tmp_path, kind):
    SyntaxTokenizerFast.from_pretrained(checkpoint, parser=english_parser, beam_size=2).save_pretrained(tmp_path)
    assert SyntaxTokenizerFast.from_pretrained(tmp_path, parser=kind(english_parser)).parser.beam_size == 2


def test_a_beam_size_for_a_parser_object_is_refused(checkpoint, parser):
    with pytest.raises(ValueError, match="beam_size"):
        SyntaxTokenizerFast.from_pretrained(checkpoint, parser=SpyParser(parser), beam_size=2)


def test_a_parser_object_is_not_saved_and_a_warning_says_so(spy, tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        spy.save_pretrained(tmp_path)
    assert "SpyParser cannot be saved" in caplog.text
    again = SyntaxTokenizerFast.from_pretrained(tmp_path)
    assert again.parser is None
    with pytest.raises(ValueError, match="no parser"):
        again(CAT)
    given = SyntaxTokenizerFast.from_pretrained(tmp_path, parser=SpyParser(spy.parser.wrapped))
    assert columns(given(CAT)) == CAT_COLUMNS


def test_no_warning_without_a_parser_object(tokenizer, checkpoint, tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        tokenizer.save_pretrained(tmp_path / "with")
        SyntaxTokenizerFast.from_pretrained(checkpoint).save_pretrained(tmp_path / "without")
    assert "cannot be saved" not in caplog.text
    assert not list((tmp_path / "without").glob("*.udpipe"))
    assert SyntaxTokenizerFast.from_pretrained(tmp_path / "without").parser is None


def test_parsers_of_several_languages_are_saved_under_their_own_names(checkpoint, tmp_path):
    parsers = {
        "en": fake_parser(tmp_path / "a", "ud.udpipe", "English"),
        "de": fake_parser(tmp_path / "b", "ud.udpipe", "German"),
        "fr": fake_parser(tmp_path / "c", "french.udpipe", "French"),
    }
    SyntaxTokenizerFast.from_pretrained(checkpoint, parser=parsers).save_pretrained(tmp_path / "saved")
    for _ in range(2):  # and in place
        again = SyntaxTokenizerFast.from_pretrained(tmp_path / "saved")
        assert {language: Path(path).read_text() for language, path in again.parser.paths.items()} == {
            "en": "English",
            "de": "German",
            "fr": "French",
        }
        assert {Path(path).parent for path in again.parser.paths.values()} == {tmp_path / "saved"}
        again.save_pretrained(tmp_path / "saved")
    assert len(list((tmp_path / "saved").glob("*.udpipe"))) == 3


def test_a_name_made_unique_does_not_hide_another_parser(checkpoint, tmp_path):
    parsers = {
        "en": fake_parser(tmp_path / "a", "ud.udpipe", "English"),
        "de": fake_parser(tmp_path / "b", "ud.udpipe", "German"),
        "fr": fake_parser(tmp_path / "c", "en-ud.udpipe", "French"),
    }
    SyntaxTokenizerFast.from_pretrained(checkpoint, parser=parsers).save_pretrained(tmp_path / "saved")
    again = SyntaxTokenizerFast.from_pretrained(tmp_path / "saved")
    assert {language: Path(path).read_text() for language, path in again.parser.paths.items()} == {
        "en": "English",
        "de": "German",
        "fr": "French",
    }


def test_a_parser_for_no_language_beside_others_is_saved_or_refused(checkpoint, tmp_path):
    parsers = {
        None: fake_parser(tmp_path / "a", "any.udpipe", "any"),
        "de": fake_parser(tmp_path / "b", "german.udpipe", "German"),
    }
    try:
        tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=parsers)
    except ValueError:
        return
    tokenizer.save_pretrained(tmp_path / "saved")
    assert len(SyntaxTokenizerFast.from_pretrained(tmp_path / "saved").parser.paths) == 2


def test_a_language_code_is_no_path(checkpoint, tmp_path):
    parsers = {
        "../en": fake_parser(tmp_path / "a", "ud.udpipe", "English"),
        "de/at": fake_parser(tmp_path / "b", "ud.udpipe", "German"),
    }
    try:
        tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=parsers)
    except ValueError:
        return
    tokenizer.save_pretrained(tmp_path / "saved")
    again = SyntaxTokenizerFast.from_pretrained(tmp_path / "saved")
    assert {Path(path).parent for path in again.parser.paths.values()} == {tmp_path / "saved"}
    assert [Path(path).read_text() for path in again.parser.paths.values()] == ["English", "German"]


def test_saving_into_the_folder_it_came_from(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    size = (tmp_path / "english-ewt.udpipe").stat().st_size
    again = SyntaxTokenizerFast.from_pretrained(tmp_path)
    again.save_pretrained(tmp_path)
    assert (tmp_path / "english-ewt.udpipe").stat().st_size == size
    assert columns(SyntaxTokenizerFast.from_pretrained(tmp_path)(CAT)) == CAT_COLUMNS


def test_a_missing_parser_file_is_named(tokenizer, checkpoint, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "english-ewt.udpipe").unlink()
    with pytest.raises(OSError, match=r"english-ewt\.udpipe"):
        SyntaxTokenizerFast.from_pretrained(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.udpipe"):
        SyntaxTokenizerFast.from_pretrained(checkpoint, parser="nowhere.udpipe")


def test_a_damaged_parser_file_is_named_when_it_is_used(checkpoint, tmp_path):
    path = fake_parser(tmp_path, "broken.udpipe", "not a model")
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=path)
    with pytest.raises(ValueError, match=r"broken\.udpipe.*not a UDPipe model"):
        tokenizer(CAT)


@pytest.mark.parametrize("name", ["../x.udpipe", "/etc/x.udpipe", "a/x.udpipe", "..\\x.udpipe", "..", "."])
def test_a_parser_outside_the_checkpoint_is_refused(tokenizer, tmp_path, name):
    fake_parser(tmp_path, "x.udpipe", "outside")
    folder = tmp_path / "checkpoint"
    tokenizer.save_pretrained(folder)
    for entry in (name, {"en": name}):
        edit_config(folder, parser=entry)
        with pytest.raises((ValueError, OSError), match="plain file|does not appear to have"):
            SyntaxTokenizerFast.from_pretrained(folder)


def test_the_default_columns_are_those_of_the_models_config(checkpoint, english_parser, tmp_path):
    shutil.copytree(checkpoint, tmp_path, dirs_exist_ok=True)
    SyntaxBertConfig(vocab_size=len(VOCABULARY), syntax_features=["upos"]).save_pretrained(tmp_path)
    plain = BertTokenizer.from_pretrained(checkpoint)
    tokenizer = SyntaxTokenizerFast.from_pretrained(tmp_path, parser=english_parser)
    assert tokenizer.syntax_columns == ("upos_ids",)
    chosen = SyntaxTokenizerFast.from_pretrained(tmp_path, parser=english_parser, columns=("casing_ids",))
    assert chosen.syntax_columns == ("casing_ids",)
    tokenizer.save_pretrained(tmp_path)
    SyntaxBertConfig(vocab_size=len(VOCABULARY), syntax_features=["casing", "deprel"]).save_pretrained(tmp_path)
    assert SyntaxTokenizerFast.from_pretrained(tmp_path).syntax_columns == ("casing_ids", "deprel_ids")
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert type(again) is SyntaxTokenizerFast
    expected = dict(plain(CAT)) | {name: CAT_COLUMNS[name] for name in ("casing_ids", "deprel_ids")}
    assert dict(again(CAT)) == expected


@pytest.mark.parametrize("labels", ["upos_labels", "deprel_labels"])
def test_other_labels_in_the_models_config_are_refused(checkpoint, english_parser, tmp_path, labels):
    shutil.copytree(checkpoint, tmp_path, dirs_exist_ok=True)
    config = SyntaxBertConfig(vocab_size=len(VOCABULARY))
    setattr(config, labels, list(getattr(config, labels))[::-1])
    config.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=labels):
        SyntaxTokenizerFast.from_pretrained(tmp_path, parser=english_parser)


def test_a_model_that_needs_no_column_gets_none(checkpoint, tmp_path):
    shutil.copytree(checkpoint, tmp_path, dirs_exist_ok=True)
    SyntaxBertConfig(vocab_size=len(VOCABULARY), syntax_features=[]).save_pretrained(tmp_path)
    assert SyntaxTokenizerFast.from_pretrained(tmp_path).syntax_columns == ()


def test_a_tokenizer_made_by_the_constructor_can_be_saved_and_loaded(checkpoint, english_parser, tmp_path):
    base = BertTokenizer.from_pretrained(checkpoint)
    made = SyntaxTokenizerFast(tokenizer_object=base.backend_tokenizer, **base.special_tokens_map)
    with pytest.raises(ValueError, match="no parser"):
        made(CAT)
    made.save_pretrained(tmp_path)
    again = SyntaxTokenizerFast.from_pretrained(tmp_path, parser=english_parser)
    assert columns(again(CAT)) == CAT_COLUMNS


def test_a_tokenizer_trained_from_another_keeps_its_parser(tokenizer, tmp_path):
    trained = tokenizer.train_new_from_iterator([[CAT, DOGS]] * 3, 60)
    assert trained(CAT)["upos_ids"][1] == DET
    trained.save_pretrained(tmp_path)
    assert SyntaxTokenizerFast.from_pretrained(tmp_path)(CAT) == trained(CAT)


def test_parse_objects_are_plain_enough_for_a_parser_of_ones_own(checkpoint):
    class Nouns:
        def parse(self, texts, languages, dependencies=True):
            return [Parse(text, [0], [len(text)], ["NOUN"], [0], [-1], ["root"]) for text in texts]

    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=Nouns())
    assert tokenizer("cat")["upos_ids"] == [1, NOUN, 1]


def test_what_is_no_parse_is_refused(tokenizer):
    with pytest.raises(ValueError, match="example 1: parses= takes Parse objects or None, got a str"):
        tokenizer([CAT, DOGS], parses=[None, "DET NOUN"])


class Answering:
    """A parser that answers everything with the same."""

    def __init__(self, answer):
        self.answer = answer

    def parse(self, texts, languages, dependencies=True):
        return self.answer

    parse_words = parse


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (None, "a NoneType"),
        ([Parse("", [], [], [], [])], "1"),
        ([Parse("", [], [], [], []), "DET NOUN"], "a str among them"),
        ([None, Parse("", [], [], [], [])], "a NoneType among them"),
    ],
)
def test_a_parser_gives_a_parse_for_each_text(checkpoint, answer, found):
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=Answering(answer))
    for method, options in (("parse", {}), ("parse_words", {"is_split_into_words": True})):
        texts = [CAT.split(), DOGS.split()] if options else [CAT, DOGS]
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            tokenizer(texts, **options)
        expected = f"Answering.{method} must return a list of 2 Parse objects, one for each text, got {found}"
        assert str(caught.value) == expected


@pytest.mark.parametrize("parser", [3, Answering, object()])
def test_what_is_no_parser_is_refused_at_once(checkpoint, parser):
    with pytest.raises(ValueError, match="parser= takes the path of a .udpipe file, .* got .*(3|Answering|object)"):
        SyntaxTokenizerFast.from_pretrained(checkpoint, parser=parser)


def test_unknown_tags_and_relations_are_named_once(checkpoint, caplog):
    parse = Parse(DOGS, [0, 4, 7], [3, 7, 8], ["PRP", "_", None], [0] * 3, [1, -1, 1], ["nsubj:pass", "root", "SBJ:x"])
    for arguments in ({"parser": Answering([parse])}, {}):
        tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, **arguments)
        encoding = tokenizer(DOGS, parses=None if arguments else parse)
        assert encoding["upos_ids"] == [1, 1, 1, 1, 1]
        assert encoding["deprel_ids"] == [1, nsubj, root, 1, 1]
    assert caplog.messages == [
        "'PRP' is no UPOS tag of Universal Dependencies and counts as none",
        "'SBJ:x' is no relation of Universal Dependencies and counts as none",
    ]


def test_a_parser_entry_that_is_no_name_is_refused(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    file = tmp_path / "tokenizer_config.json"
    config = json.loads(file.read_text())
    config["syntax"]["parser"] = {"en": 5}
    file.write_text(json.dumps(config))
    with pytest.raises(ValueError, match="must be a plain file of the checkpoint"):
        SyntaxTokenizerFast.from_pretrained(tmp_path)


def test_a_parser_is_not_saved_over_that_of_another_language(checkpoint, english_parser, tmp_path):
    folder = tmp_path / "saved"
    folder.mkdir()
    for name in ("en.udpipe", "de.udpipe"):
        shutil.copy(english_parser, folder / name)
    shutil.copy(english_parser, tmp_path / "en.udpipe")
    swapped = {"de": folder / "en.udpipe", "en": tmp_path / "en.udpipe"}
    with pytest.raises(ValueError, match=r"is the parser of 'de' and would become that of 'en'"):
        SyntaxTokenizerFast.from_pretrained(checkpoint, parser=swapped).save_pretrained(folder)


def test_a_link_is_replaced_and_not_written_through(tokenizer, english_parser, tmp_path):
    cached = tmp_path / "cache" / "blob"
    cached.parent.mkdir()
    cached.write_bytes(b"of another repository")
    folder = tmp_path / "saved"
    folder.mkdir()
    (folder / "english-ewt.udpipe").symlink_to(cached)
    tokenizer.save_pretrained(folder)
    assert cached.read_bytes() == b"of another repository"
    assert (folder / "english-ewt.udpipe").read_bytes() == Path(english_parser).read_bytes()


def test_the_licence_of_an_earlier_parser_does_not_stay(checkpoint, english_parser, tmp_path):
    own = tmp_path / "english-ewt.udpipe"
    shutil.copy(english_parser, own)
    folder = tmp_path / "saved"
    SyntaxTokenizerFast.from_pretrained(checkpoint, parser=english_parser).save_pretrained(folder)
    assert (folder / "english-ewt.LICENSE.md").exists()
    SyntaxTokenizerFast.from_pretrained(checkpoint, parser=own).save_pretrained(folder)
    assert not (folder / "english-ewt.LICENSE.md").exists()


@pytest.mark.parametrize("entry", ["on", ["parser"], 3])
def test_syntax_settings_that_are_no_object_are_refused(tokenizer, tmp_path, entry):
    tokenizer.save_pretrained(tmp_path)
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**settings, "syntax": entry}))
    with pytest.raises(ValueError, match='"syntax" in the tokenizer_config.json of .* must be an object'):
        SyntaxTokenizerFast.from_pretrained(tmp_path)
