"""Inputs on which systems break, on the embedded English parser with a cased and an uncased WordPiece vocabulary."""

import gc
import unicodedata

import pytest
from torch.utils.data import DataLoader
from transformers import BertConfig, BertTokenizer

from syntax_bert import SYNTAX_COLUMNS, Parse, SyntaxTokenizerFast, UDPipeParser
from syntax_bert.tokenization.universal_dependencies import DEPREL_IDS, UPOS_IDS

PIECES = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the The cat dog ##s see sees you You sleep . , — i I don ’ t ' is a A b this This "
    "test family naive naïve sentence feel like doing my meditation today deepak Deepak in viaggio roma Roma 1 br Br "
    "##n ##a wir Wir gehen zum kino Kino il Il parle du chat aux enfants 北 京 は 中 国 の 首 都 て で す 。 知 识 就 是 力 量"
).split()
NEIGHBOUR = "The cat sees the dogs."
INVISIBLE = ["\u200b", "\u200d", "\ufeff", "\u00ad", "\u00a0", "\u3000", "\u2060", "\u2028", "\t", "", " "]
MARKS = ["\u0301", "\ufe0f", "\u06d6", "\u0e38"]
BOTH = pytest.mark.parametrize("lowercase", [True, False], ids=["uncased", "cased"])


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory, parser):
    made = {}
    for lowercase in (True, False):
        folder = tmp_path_factory.mktemp("bert")
        vocabulary = {piece: index for index, piece in enumerate(PIECES)}
        BertTokenizer(vocab=vocabulary, do_lower_case=lowercase, model_max_length=64).save_pretrained(folder)
        BertConfig().save_pretrained(folder)
        made[lowercase] = SyntaxTokenizerFast.from_pretrained(folder, parser=parser)
    return made


def columns(encoding, example=None):
    return {name: encoding[name] if example is None else encoding[name][example] for name in SYNTAX_COLUMNS}


def assert_tree(encoding, anchor=0):
    """Every token reaches the anchor, and representatives hang from representatives."""
    heads = encoding["head_positions"]
    assert heads[anchor] == anchor
    for position in range(len(heads)):
        steps = 0
        while position != anchor:
            assert encoding["subword_ids"][heads[position]] in ((0, 1, 4) if heads[position] == anchor else (1, 4))
            position = heads[position]
            steps += 1
            assert steps < len(heads), "a cycle"


def encode(tokenizer, text, parse=None, is_split_into_words=False):
    """Encodes a text alone and beside a neighbour, checks what holds for every text, and gives the single encoding."""
    words = {"is_split_into_words": is_split_into_words}
    given, beside, before = {}, {}, {}
    if parse is not None:
        given, beside, before = {"parses": parse}, {"parses": [None, parse, None]}, {"parses": [None, parse]}
    encoding = tokenizer(text, return_offsets_mapping=True, **words, **given)
    assert {len(values) for values in columns(encoding).values()} == {len(encoding["input_ids"])}
    assert_tree(encoding)
    length = len(" ".join(text) if is_split_into_words else text)
    assert all(0 <= start <= end <= length for start, end in encoding["offset_mapping"])

    neighbour = NEIGHBOUR.replace(".", " .").split() if is_split_into_words else NEIGHBOUR
    alone = columns(tokenizer(neighbour, **words, **({"parses": None} if parse is None else {"parses": [None]})))
    batch = tokenizer([neighbour, text, neighbour], **words, **beside)
    assert columns(batch, 0) == columns(batch, 2) == alone
    assert columns(batch, 1) == columns(encoding)
    padded = tokenizer([neighbour * 3, text], padding=True, padding_side="left", **words, **before)
    shift = len(padded["input_ids"][1]) - len(encoding["input_ids"])
    assert padded["head_positions"][1] == [0] * shift + [head + shift for head in encoding["head_positions"]]
    if parse is None and not is_split_into_words:
        assert alone["upos_ids"][2] == UPOS_IDS["NOUN"]
        pair = tokenizer(text, neighbour)
        assert_tree(pair)
        assert pair["upos_ids"] == encoding["upos_ids"] + alone["upos_ids"][1:]
        pair = tokenizer([neighbour], [text])
        assert pair["deprel_ids"] == [alone["deprel_ids"] + encoding["deprel_ids"][1:]]
    return encoding


def pieces(tokenizer, encoding):
    return tokenizer.convert_ids_to_tokens(encoding["input_ids"])[1:-1]


def surfaces(encoding, text):
    """What each piece covers of the original text."""
    return [text[start:end] for start, end in encoding["offset_mapping"][1:-1]]


def upos(encoding):
    names = {value: name for name, value in UPOS_IDS.items()}
    return " ".join(names.get(value, "_") for value in encoding["upos_ids"][1:-1])


@BOTH
def test_a_private_use_character_gets_no_piece_and_shifts_no_word(tokenizers, parser, lowercase):
    text = "ewww \U000fe4fa — in viaggio Roma"
    encoding = encode(tokenizers[lowercase], text)
    (parse,) = parser.parse([text])
    assert [parse.form(word) for word in range(len(parse))] == text.split()
    assert surfaces(encoding, text) == ["ewww", "—", "in", "viaggio", "Roma"]
    assert upos(encoding) == " ".join(parse.upos[word] for word in (0, 2, 3, 4, 5))


def expected_heads(parse, present):
    """Heads of the words that are there, each of one piece after [CLS], by walking up the parse."""
    heads = []
    for word in present:
        parent = parse.parents[word]
        while parent >= 0 and parent not in present:
            parent = parse.parents[parent]
        heads.append(0 if parent < 0 else 1 + present.index(parent))
    return [0, *heads, 0]


@BOTH
@pytest.mark.parametrize("invisible", INVISIBLE, ids=ascii)
def test_an_invisible_word_keeps_its_place_in_the_tree(tokenizers, parser, lowercase, invisible):
    words = ["a", invisible, "b"]
    tokenizer = tokenizers[lowercase]
    encoding = encode(tokenizer, words, is_split_into_words=True)
    assert encoding.word_ids() == [None, 0, 2, None]
    (parse,) = parser.parse_words([words])
    assert upos(encoding) == f"{parse.upos[0]} {parse.upos[2]}"
    assert encoding["head_positions"] == expected_heads(parse, [0, 2])
    # Given trees: b below it below a, and a and b both below it.
    for parents, heads in (([-1, 0, 1], [0, 0, 1, 0]), ([1, -1, 1], [0, 0, 0, 0]), ([2, 0, -1], [0, 2, 0, 0])):
        starts = [0, 2, 3 + len(invisible)]
        ends = [1, 2 + len(invisible), 4 + len(invisible)]
        tree = Parse(" ".join(words), starts, ends, ["NOUN"] * 3, [0] * 3, parents, ["obj"] * 3)
        assert tokenizer(words, is_split_into_words=True, parses=tree)["head_positions"] == heads


@BOTH
@pytest.mark.parametrize("mark", MARKS, ids=ascii)
def test_a_combining_mark_vanishes_only_under_a_lowercasing_vocabulary(tokenizers, parser, lowercase, mark):
    words = ["a", mark, "b"]
    encoding = encode(tokenizers[lowercase], words, is_split_into_words=True)
    present = [0, 2] if lowercase else [0, 1, 2]
    assert encoding.word_ids() == [None, *present, None]
    (parse,) = parser.parse_words([words])
    assert upos(encoding) == " ".join(parse.upos[word] for word in present)
    assert encoding["head_positions"] == expected_heads(parse, present)


@BOTH
@pytest.mark.parametrize("invisible", [*INVISIBLE, *MARKS], ids=ascii)
def test_an_invisible_character_in_a_raw_text(tokenizers, lowercase, invisible):
    for text in (
        f"The cat {invisible} sees the dogs.",
        f"{invisible}The cat sees the dogs.",
        f"The ca{invisible}t sees",
    ):
        encoding = encode(tokenizers[lowercase], text)
        for surface, tag in zip(surfaces(encoding, text), encoding["upos_ids"][1:-1], strict=True):
            assert tag != UPOS_IDS["DET"] or surface.strip("".join([*INVISIBLE, *MARKS])).lower() == "the"
            assert surface != "." or tag == UPOS_IDS["PUNCT"]


@BOTH
@pytest.mark.parametrize("text", ["", " ", "\n\n", "\ufeff", "\u200b \u2060"], ids=ascii)
def test_an_empty_text_is_an_empty_tree(tokenizers, lowercase, text):
    tokenizer = tokenizers[lowercase]
    encoding = encode(tokenizer, text)
    assert encoding["input_ids"] == [tokenizer.cls_token_id, tokenizer.sep_token_id]
    assert columns(encoding) == {
        "upos_ids": [1, 1],
        "casing_ids": [0, 0],
        "subword_ids": [0, 0],
        "deprel_ids": [1, 1],
        "head_positions": [0, 0],
    }
    tensors = tokenizer([NEIGHBOUR, text], padding=True, return_tensors="pt")
    assert tensors["upos_ids"][1].tolist() == [1, 1] + [0] * (tensors["upos_ids"].shape[1] - 2)
    assert tokenizer([text, text])["head_positions"] == [[0, 0], [0, 0]]


@BOTH
def test_a_contraction_split_otherwise_than_by_the_parser(tokenizers, parser, lowercase):
    text = "Deepak I don’t feel like doing my meditation today."
    tokenizer = tokenizers[lowercase]
    encoding = encode(tokenizer, text)
    (parse,) = parser.parse([text])
    tags = list(parse.upos)
    word = tags.index("PART")  # n’t
    assert tags[word - 1] == "AUX"  # do
    names = pieces(tokenizer, encoding)
    where = names.index("don")
    assert names[where : where + 3] == ["don", "’", "t"]
    feel = 1 + names.index("feel")
    group = slice(where + 1, where + 4)
    assert upos(encoding).split()[where : where + 3] == ["AUX"] * 3  # of two words equally deep the first
    assert encoding["subword_ids"][group] == [1, 2, 3]
    assert encoding["head_positions"][group] == [feel, where + 1, where + 1]
    assert encoding["upos_ids"][feel] == UPOS_IDS["VERB"]
    assert encoding["upos_ids"][-2] == UPOS_IDS["PUNCT"]


@BOTH
@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("💩💩💩💩", ["💩💩💩💩"]),
        ("👨‍👩‍👧‍👦 family", ["👨‍👩‍👧‍👦", "family"]),
        ("🇩🇪", ["🇩🇪"]),
        ("1️⃣", ["1️⃣"]),
        ("The 💩💩 sleep", ["The", "💩💩", "sleep"]),
    ],
)
def test_emoji_are_counted_in_code_points(tokenizers, parser, lowercase, text, covered):
    encoding = encode(tokenizers[lowercase], text)
    (parse,) = parser.parse([text])
    assert surfaces(encoding, text) == covered
    assert all(0 <= start <= end <= len(text) for start, end in zip(parse.starts, parse.ends, strict=True))
    assert "_" not in upos(encoding)
    assert set(encoding["subword_ids"][1:-1]) == {4}
    if text.endswith(("family", "sleep")):
        assert encoding["upos_ids"][-2] == UPOS_IDS[parse.upos[-1]]


@BOTH
@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("word", ["Áaaa", "Br창n's"])
def test_offsets_and_words_are_those_of_the_original_string(tokenizers, parser, lowercase, form, word):
    word = unicodedata.normalize(form, word)
    text = f"The {word} sees."
    encoding = encode(tokenizers[lowercase], text)
    tags = dict(zip(surfaces(encoding, text), upos(encoding).split(), strict=True))
    (parse,) = parser.parse([text])
    assert [parse.form(0), parse.form(len(parse) - 1)] == ["The", "."]
    assert tags["The"] == "DET"
    assert tags["."] == "PUNCT"
    assert surfaces(encoding, text)[-2:] == ["sees", "."]
    assert "_" not in tags.values()
    first = next(i for i, (start, _) in enumerate(encoding["offset_mapping"]) if start == 4)
    assert encoding["casing_ids"][first] == 2  # A or B, whatever follows it


@BOTH
def test_a_separator_typed_by_the_user_ends_nothing(tokenizers, lowercase):
    tokenizer = tokenizers[lowercase]
    text = "This is[SEP]a test"
    encoding = encode(tokenizer, text)
    assert pieces(tokenizer, encoding)[1:3] == ["is", "[SEP]"]
    assert encoding.sequence_ids() == [None, *[0] * 5, None]
    assert "_" not in upos(encoding)
    assert upos(encoding).split()[-1] == "NOUN"
    assert all(encoding["subword_ids"][1:-1])
    pair = tokenizer(text, text)
    assert [pair["upos_ids"][i] for i in (0, 6, 12)] == [1, 1, 1]
    assert pair["upos_ids"][7:12] == pair["upos_ids"][1:6]


@BOTH
def test_a_mask_is_a_token_of_the_tree_without_features(tokenizers, lowercase):
    tokenizer = tokenizers[lowercase]
    encoding = encode(tokenizer, "A, naïve [MASK] sentence.")
    names = pieces(tokenizer, encoding)
    assert "[MASK]" in names
    tags = upos(encoding).split()
    assert (tags[0], tags[-2], tags[-1]) == ("DET", "NOUN", "PUNCT")
    mask = names.index("[MASK]")
    assert [number for number, tag in enumerate(tags) if tag == "_"] == [mask]
    features = [encoding[name][1 + mask] for name in ("upos_ids", "casing_ids", "subword_ids", "deprel_ids")]
    assert features == [1, 0, 0, 1]  # the parser sees a capitalised word between brackets
    assert encoding["head_positions"][1 + mask] == 1 + names.index("sentence")


@BOTH
@pytest.mark.parametrize(
    ("text", "words", "parents", "tags", "expected"),
    [
        # zum = zu + dem, both below Kino; du = de + le below chat; aux = à + les below enfants
        (
            "Wir gehen zum Kino.",
            [(0, 3), (4, 9), (10, 13), (10, 13), (14, 18), (18, 19)],
            [1, -1, 4, 4, 1, 1],
            "PRON VERB ADP DET NOUN PUNCT",
            ("PRON VERB ADP NOUN PUNCT", [0, 2, 0, 4, 2, 2, 0]),
        ),
        (
            "Il parle du chat aux enfants.",
            [(0, 2), (3, 8), (9, 11), (9, 11), (12, 16), (17, 20), (17, 20), (21, 28), (28, 29)],
            [1, -1, 4, 4, 1, 6, 7, 1, 1],
            "PRON VERB ADP DET NOUN ADP DET NOUN PUNCT",
            ("PRON VERB ADP NOUN DET NOUN PUNCT", [0, 2, 0, 4, 2, 6, 2, 2, 0]),
        ),
    ],
)
def test_a_multiword_token_is_its_shallowest_word(tokenizers, lowercase, text, words, parents, tags, expected):
    starts, ends = zip(*words, strict=True)
    deprels = ["root" if parent < 0 else "dep" for parent in parents]
    tree = Parse(text, starts, ends, tags.split(), [0] * len(words), parents, deprels)
    encoding = encode(tokenizers[lowercase], text, tree)
    assert (upos(encoding), encoding["head_positions"]) == expected


@BOTH
def test_children_of_the_deeper_words_of_a_multiword_token_follow_it(tokenizers, lowercase):
    text = "Il parle du chat"  # "chat" below "le", which is below "de"
    words = ([0, 3, 9, 9, 12], [2, 8, 11, 11, 16])
    tree = Parse(text, *words, "PRON VERB ADP DET NOUN".split(), [0] * 5, [1, -1, 1, 2, 3], ["dep"] * 5)
    encoding = encode(tokenizers[lowercase], text, tree)
    assert encoding["head_positions"] == [0, 2, 0, 2, 3, 0]


@BOTH
def test_multiword_tokens_of_the_embedded_parser(tokenizers, parser, lowercase):
    text = "You don't feel, I dunno."
    (parse,) = parser.parse([text])
    assert len({(parse.starts[word], parse.ends[word]) for word in range(len(parse))}) < len(parse)
    encoding = encode(tokenizers[lowercase], text)
    surface = surfaces(encoding, text)
    assert surface[:5] == ["You", "don", "'", "t", "feel"]
    assert "_" not in upos(encoding)
    assert encoding["upos_ids"][-2] == UPOS_IDS["PUNCT"]


@BOTH
@pytest.mark.parametrize(
    ("text", "words", "parents"),
    [
        ("北京は中国の首都です。", ["北京", "は", "中国", "の", "首都", "です", "。"], [4, 0, 4, 2, -1, 4, 4]),
        ("知识就是力量", ["知识", "就", "是", "力量"], [3, 3, 3, -1]),
    ],
)
def test_han_characters_are_one_tree_over_the_characters(tokenizers, lowercase, text, words, parents):
    tokenizer = tokenizers[lowercase]
    encode(tokenizer, text)  # by the English parser
    starts = [sum(map(len, words[:word])) for word in range(len(words))]
    ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
    tree = Parse(text, starts, ends, ["NOUN"] * len(words), [0] * len(words), parents, ["obj"] * len(words))
    encoding = encode(tokenizer, text, tree)
    assert encoding["upos_ids"] == [1, *[UPOS_IDS["NOUN"]] * (len(encoding["input_ids"]) - 2), 1]
    starts_of_pieces = [start for start, _ in encoding["offset_mapping"][1:-1]]
    position = {start: 1 + index for index, start in reversed(list(enumerate(starts_of_pieces)))}
    for index, start in enumerate(starts_of_pieces):
        word = max(word for word, begin in enumerate(starts) if begin <= start)
        parent = parents[word]
        head = position[starts[word]] if start != starts[word] else 0 if parent < 0 else position[starts[parent]]
        assert encoding["head_positions"][1 + index] == head


LONG = "You like the cat. The dog in the family sees the cats, you feel. I sleep today, my family like meditation."


def window_oracle(parse, spans):
    """Heads in one window of a text whose words do not share characters, by brute force."""
    owners = []
    for start, end in spans:
        shared = [max(0, min(end, b) - max(start, a)) for a, b in zip(parse.starts, parse.ends, strict=True)]
        owners.append(shared.index(max(shared)))
    heads = []
    for position, word in enumerate(owners):
        if word in owners[:position]:
            heads.append(1 + owners.index(word))
            continue
        parent = parse.parents[word]
        while parent >= 0 and parent not in owners:
            parent = parse.parents[parent]
        heads.append(0 if parent < 0 else 1 + owners.index(parent))
    return [0, *heads, 0]


@BOTH
@pytest.mark.parametrize(("length", "stride"), [(8, 3), (5, 2), (3, 0), (12, 0)])
def test_every_window_is_a_complete_tree(tokenizers, parser, lowercase, length, stride):
    tokenizer = tokenizers[lowercase]
    (parse,) = parser.parse([LONG])
    encoding = tokenizer(
        [NEIGHBOUR, LONG], truncation=True, max_length=length, stride=stride, return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )  # fmt: skip
    windows = [i for i, example in enumerate(encoding["overflow_to_sample_mapping"]) if example == 1]
    assert len(windows) > 2
    for window in windows:
        spans = encoding["offset_mapping"][window][1:-1]
        heads = encoding["head_positions"][window]
        assert heads == window_oracle(parse, spans)
        assert_tree(columns(encoding, window))
    truncated = tokenizer(LONG, truncation=True, max_length=length)
    assert columns(truncated) == columns(encoding, windows[0])


@BOTH
def test_nul_cuts_nothing_off(tokenizers, parser, lowercase):
    text = "The cat \0 sees\0the dogs.\0"
    (parse,) = parser.parse([text])
    assert parse.text == text
    assert [parse.form(word) for word in range(len(parse))] == ["The", "cat", "sees", "the", "dogs", "."]
    encode(tokenizers[lowercase], text)
    encoding = encode(tokenizers[lowercase], "The cat \0 sees the dogs.")
    assert columns(encoding) == columns(tokenizers[lowercase](NEIGHBOUR))
    encoding = encode(tokenizers[lowercase], ["a", "\0", "b"], is_split_into_words=True)
    assert encoding.word_ids() == [None, 0, 2, None]


@BOTH
def test_a_lone_surrogate_is_refused_with_its_example_and_character(tokenizers, parser, lowercase):
    tokenizer = tokenizers[lowercase]
    with pytest.raises(ValueError, match=r"example 1 .*'\\ud800'.* character 4"):
        tokenizer([NEIGHBOUR, "The \ud800 cat"])
    with pytest.raises(ValueError, match=r"example 0 .*'\\udfff'.* character 0"):
        tokenizer(NEIGHBOUR, "\udfff")
    with pytest.raises(ValueError, match="example 1 .* character 1"):
        tokenizer([(NEIGHBOUR, NEIGHBOUR), (NEIGHBOUR, "a\ud800")])
    with pytest.raises(ValueError, match="example 0 .* character 2"):
        tokenizer(["The", "ca\ud83d"], is_split_into_words=True)
    with pytest.raises(ValueError, match="text 1 .* character 1"):
        parser.parse([NEIGHBOUR, "a\ud800"])
    with pytest.raises(ValueError, match="text 1 .* character 1"):
        parser.parse_words([["The"], ["a", "b\ud800"]])
    assert tokenizer("\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"))["upos_ids"][1] > 1


SPACES = ["\r\n", *(chr(code) for code in range(0x3100) if chr(code).isspace())]


@pytest.mark.parametrize("space", SPACES, ids=ascii)
def test_every_kind_of_white_space_separates_words(tokenizers, parser, space):
    for text, words in (
        (f"The cat{space}sees you.{space}The dogs sleep.{space}", "The cat sees you . The dogs sleep ."),
        (f"{space}{space}You sleep.", "You sleep ."),
    ):
        (parse,) = parser.parse([text])
        assert parse.text == text
        assert [parse.form(word) for word in range(len(parse))] == words.split()
        for tokenizer in tokenizers.values():
            encode(tokenizer, text)


@BOTH
@pytest.mark.parametrize("space", ["\r\n", "\r", "\u2028", "\u2029", "\u00a0", "\u3000"], ids=ascii)
def test_white_space_of_bert_gives_the_columns_of_a_space(tokenizers, lowercase, space):
    tokenizer = tokenizers[lowercase]
    assert columns(tokenizer(f"The cat{space}sees the dogs.")) == columns(tokenizer(NEIGHBOUR))


@BOTH
def test_a_crlf_text_has_the_trees_of_its_sentences(tokenizers, lowercase):
    tokenizer = tokenizers[lowercase]
    encoding = encode(tokenizer, "The cat sees you.\r\n\r\nYou feel.")
    assert columns(encoding) == columns(tokenizer("The cat sees you. You feel."))
    roots = [i for i, deprel in enumerate(encoding["deprel_ids"]) if deprel == DEPREL_IDS["root"]]
    starts = [i for i in roots if encoding["subword_ids"][i] in (1, 4)]
    assert len(starts) == 2
    assert [encoding["head_positions"][i] for i in starts] == [0, 0]


@pytest.mark.parametrize(
    "words",
    [
        ["rect", "230", "550", "Karl-Heinz"],
        ["don't", "gonna", "New York", "a.b.c", "(x)"],
        ["a", "", " ", "\t", "\n\n", "b\u2028c"],
        ["", ""],
        ["北京", "💩💩", "1️⃣"],
        [],
    ],
)
def test_own_words_are_kept_exactly(tokenizers, parser, words):
    for dependencies in (True, False):
        (parse,) = parser.parse_words([words], dependencies=dependencies)
        assert parse.text == " ".join(words)
        assert [parse.form(word) for word in range(len(parse))] == words
        assert set(parse.sentence_ids) <= {0}
    for tokenizer in tokenizers.values():
        encode(tokenizer, words, is_split_into_words=True)


def test_a_parse_is_plain_python_that_outlives_its_parser(english_parser):
    parser = UDPipeParser(english_parser)
    parses = parser.parse(["I don't know, you dunno.", NEIGHBOUR]) + parser.parse_words([["a", "b"]])
    del parser
    gc.collect()
    for parse in parses:
        assert {type(value) for value in [*parse.starts, *parse.ends, *parse.parents, *parse.sentence_ids]} == {int}
        assert {type(value) for value in [*parse.upos, *parse.deprels]} == {str}
        assert all(tag in UPOS_IDS for tag in parse.upos)


def test_words_without_a_range_of_their_own_have_that_of_their_token(parser):
    text = "I'm sure you can't; gonna dunno."
    (parse,) = parser.parse([text])
    shared = [parse.form(word) for word in range(1, len(parse)) if parse.starts[word] == parse.starts[word - 1]]
    assert {"can't", "gonna", "dunno"} <= set(shared)
    assert [parse.form(word) for word in range(len(parse)) if parse.upos[word] == "PUNCT"] == [";", "."]


def test_workers_of_a_data_loader_parse(tokenizers):
    tokenizer = tokenizers[True]
    loader = DataLoader([NEIGHBOUR] * 4, batch_size=2, num_workers=2, collate_fn=tokenizer)
    expected = tokenizer([NEIGHBOUR] * 2)
    assert [dict(batch) for batch in loader] == [dict(expected)] * 2
