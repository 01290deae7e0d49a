import pickle

import pytest
from transformers import AddedToken, AutoTokenizer, DataCollatorForSeq2Seq, MarianTokenizer

from syntax_bert import SYNTAX_COLUMNS, Parse, SyntaxMarianTokenizer

TEXT = "The unhappy dogs see a river."
TEXTS = [
    TEXT, "", " ", "The  cats .", "Ａ dog… and ﬁsh", "I don’t see x\u0301 naïve 北京 💩💩.", "a\u200bb \u00ad", "see</s>you",
    "<unk> cats <pad>", "A dog sleeps. Who sees a cat?", ">>deu<< A dog", ">>deu<<", ">>xyz<<A dog", "\u202eThe cat\n\tsees",
]  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer(marian_checkpoint, english_parser):
    return SyntaxMarianTokenizer.from_pretrained(marian_checkpoint, parser=english_parser)


@pytest.fixture(scope="module")
def plain(marian_checkpoint):
    return MarianTokenizer.from_pretrained(marian_checkpoint)


def columns_of(encoding):
    return {name: encoding[name] for name in SYNTAX_COLUMNS}


def assert_tree(heads, anchor):
    assert heads[anchor] == anchor
    for position in range(len(heads)):
        seen = set()
        while heads[position] != position:
            assert position not in seen
            seen.add(position)
            position = heads[position]
        assert position == anchor


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "options", [{}, {"truncation": True, "max_length": 5}, {"add_special_tokens": False}], ids=str
)
def test_pieces_are_those_of_the_base_tokenizer(text, options, tokenizer, plain):
    encoding, expected = tokenizer(text, **options), plain(text, **options)
    assert {name: encoding[name] for name in expected} == dict(expected)
    assert all(len(values) == len(encoding["input_ids"]) for values in encoding.values())
    if options.get("add_special_tokens", True):
        assert_tree(encoding["head_positions"], len(encoding["input_ids"]) - 1)


def test_a_sentence_with_split_words(tokenizer):
    parse = Parse(TEXT, [0, 4, 12, 17, 21, 23, 28], [3, 11, 16, 20, 22, 28, 29],
                  ["DET", "ADJ", "NOUN", "VERB", "DET", "NOUN", "PUNCT"], [0] * 7, [2, 2, 3, -1, 5, 3, 3],
                  ["det", "amod", "nsubj", "root", "det", "obj", "punct"])  # fmt: skip
    encoding = tokenizer(TEXT, parses=parse)
    heads, anchor = encoding["head_positions"], len(encoding["input_ids"]) - 1
    words = [position for position, subword in enumerate(encoding["subword_ids"]) if subword in (1, 4)]
    parents = [2, 2, 3, None, 5, 3, 3]
    assert [heads[word] for word in words] == [anchor if parent is None else words[parent] for parent in parents]
    assert [encoding["upos_ids"][word] for word in words] == [7, 2, 9, 17, 7, 9, 14]
    assert [encoding["casing_ids"][word] for word in words] == [2, 1, 1, 1, 1, 1, 1]
    later = [position for position, subword in enumerate(encoding["subword_ids"]) if subword in (2, 3)]
    assert later
    for position in later:
        assert heads[position] == max(word for word in words if word < position)
    assert [values[anchor] for values in columns_of(encoding).values()] == [1, 0, 0, 1, anchor]


def test_a_language_code_is_outside_the_tree(tokenizer):
    with_code, without = tokenizer(f">>deu<<{TEXT}"), tokenizer(TEXT)
    anchor = len(with_code["input_ids"]) - 1
    assert [values[0] for values in columns_of(with_code).values()] == [1, 0, 0, 1, anchor]
    for name, values in columns_of(without).items():
        moved = [value + 1 for value in values] if name == "head_positions" else values
        assert with_code[name][1:] == moved


def test_given_parses_have_neither_the_code_nor_its_space(tokenizer):
    parse = Parse("A dog", [0, 2], [1, 5], ["DET", "NOUN"], [0, 0], [1, -1], ["det", "root"])
    for text in (">>deu<<A dog", ">>deu<< A dog", ">>deu<<  A dog"):
        encoding = tokenizer(text, parses=parse)
        assert [each for each in encoding["upos_ids"] if each > 1] == tokenizer("A dog", parses=parse)["upos_ids"][:-1]
        assert_tree(encoding["head_positions"], len(encoding["input_ids"]) - 1)


@pytest.mark.parametrize("text", [">>deu<<>>xyz<< A dog sees.", ">>a</s>b<< a dog", ">>deu<< a </s>>>xyz<< dog"])
def test_what_looks_like_a_second_code_is_text(text, tokenizer):
    encoding = tokenizer(text)
    assert len(tokenizer._spans(text)) == len(encoding["input_ids"]) - 1
    assert encoding["upos_ids"][-2] > 1
    assert_tree(encoding["head_positions"], len(encoding["input_ids"]) - 1)


@pytest.mark.parametrize("text", ["hotdog dog cat", "dogdog a dog.", "a dogcat dog", "  dog  dog cat sees"])
@pytest.mark.parametrize("option", [{"single_word": True}, {"lstrip": True}, {"rstrip": True}, {}], ids=str)
def test_added_tokens_are_found_as_the_base_tokenizer_finds_them(text, option, marian_checkpoint, english_parser):
    made = SyntaxMarianTokenizer.from_pretrained(marian_checkpoint, parser=english_parser)
    made.add_tokens([AddedToken("dog", normalized=False, **option)])
    assert len(made._spans(text)) == len(made.tokenize(text))
    assert_tree(made(text)["head_positions"], len(made(text)["input_ids"]) - 1)


def test_padding_that_a_text_has_is_a_token(tokenizer):
    text = "cats <pad> see dogs"
    assert tokenizer(text, return_attention_mask=False)["upos_ids"] == tokenizer(text)["upos_ids"]
    padded = tokenizer([text, TEXT * 2], padding=True, return_attention_mask=False)
    assert padded["upos_ids"][0][: len(tokenizer(text)["upos_ids"])] == tokenizer(text)["upos_ids"]


def test_overflow_of_one_text_leaves_all_columns_flat(tokenizer):
    encoding = tokenizer(TEXT, truncation=True, max_length=5, return_overflowing_tokens=True)
    assert all(isinstance(encoding[name][0], int) for name in ("input_ids", *SYNTAX_COLUMNS))


def test_words_with_a_code(tokenizer):
    words = [">>deu<<", "The", "cats", "see", "you"]
    alone = tokenizer(words, is_split_into_words=True)
    (batched,) = tokenizer([words], is_split_into_words=True)["head_positions"]
    assert alone["head_positions"] == batched
    assert alone["upos_ids"][0] == 1
    assert alone["upos_ids"][1] > 1
    assert_tree(batched, len(batched) - 1)


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_truncation_and_tensors(side, tokenizer, marian_checkpoint, english_parser):
    made = SyntaxMarianTokenizer.from_pretrained(marian_checkpoint, parser=english_parser, padding_side=side)
    batch = made([TEXT, "Who?"], padding=True, return_tensors="pt")
    alone = columns_of(tokenizer("Who?"))
    length, width = len(alone["upos_ids"]), batch["input_ids"].size(1)
    first = width - length if side == "left" else 0
    for name, values in alone.items():
        row = batch[name][1].tolist()
        shift = first if name == "head_positions" else 0
        assert row[first : first + length] == [value + shift for value in values]
        assert not any(row[:first] + row[first + length :])
    again = made.pad([tokenizer(TEXT), tokenizer("Who?")], return_tensors="pt")
    assert all((again[name] == batch[name]).all() for name in SYNTAX_COLUMNS)


def test_truncation_on_the_left_keeps_the_end(marian_checkpoint, english_parser, tokenizer):
    left = SyntaxMarianTokenizer.from_pretrained(marian_checkpoint, parser=english_parser, truncation_side="left")
    whole, cut = tokenizer(TEXT), left(TEXT, truncation=True, max_length=6)
    assert cut["input_ids"] == whole["input_ids"][-6:]
    assert cut["upos_ids"] == whole["upos_ids"][-6:]
    assert_tree(cut["head_positions"], 5)


def test_targets_are_untouched(tokenizer, plain):
    both = tokenizer([TEXT], text_target=["The cats."])
    assert both["labels"] == plain(text_target=["The cats."])["input_ids"]
    assert dict(tokenizer(text_target="The cats.")) == dict(plain(text_target="The cats."))
    assert both["upos_ids"] == tokenizer([TEXT])["upos_ids"]
    rows = [tokenizer(TEXT, text_target="The cats."), tokenizer("Who?", text_target="A dog sees the river.")]
    batch = DataCollatorForSeq2Seq(tokenizer)(rows)
    assert batch["labels"].size(0) == batch["head_positions"].size(0) == 2
    assert batch["upos_ids"][1][: len(rows[1]["upos_ids"])].tolist() == rows[1]["upos_ids"]


def test_it_is_saved_with_its_parser(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    assert (tmp_path / "english-ewt.udpipe").exists()
    expected = dict(tokenizer(TEXTS))
    for again in (
        SyntaxMarianTokenizer.from_pretrained(tmp_path),
        AutoTokenizer.from_pretrained(tmp_path),
        pickle.loads(pickle.dumps(tokenizer)),
    ):
        assert dict(again(TEXTS)) == expected


def test_what_cannot_be_aligned_is_refused(tokenizer, marian_checkpoint, english_parser):
    with pytest.raises(ValueError, match="a source is one text, not a pair"):
        tokenizer("A cat.", "A dog.")
    with pytest.raises(ValueError, match="split_special_tokens= belongs to from_pretrained"):
        tokenizer("cats</s> see", split_special_tokens=True)
    with pytest.raises(ValueError, match="a source must be a text, got 5"):
        tokenizer([5, 6, 7])
    with pytest.raises(ValueError, match="has no parser"):
        SyntaxMarianTokenizer.from_pretrained(marian_checkpoint)("A cat.")
    sampled = SyntaxMarianTokenizer.from_pretrained(
        marian_checkpoint, parser=english_parser, sp_model_kwargs={"enable_sampling": True, "alpha": 0.1}
    )
    with pytest.raises(ValueError, match="without enable_sampling"):
        sampled("A cat.")
