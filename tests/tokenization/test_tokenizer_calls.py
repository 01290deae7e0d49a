"""Every way to call a syntax tokenizer, with the columns it must give."""

import shutil

import pytest
from transformers import AutoTokenizer

from syntax_bert import SYNTAX_COLUMNS, Parse, SyntaxTokenizerFast
from syntax_bert.tokenization.universal_dependencies import DEPREL_IDS, UPOS_IDS

CAT, DOGS = "The cat sees the dogs.", "You see."
NOUN, VERB, PUNCT, PRON = (UPOS_IDS[tag] for tag in "NOUN VERB PUNCT PRON".split())
NONE = {"upos_ids": 1, "casing_ids": 0, "subword_ids": 0, "deprel_ids": 1, "head_positions": 0}


def test_a_text(tokenizer, columns, cat_columns, dogs_columns):
    assert columns(tokenizer(CAT)) == cat_columns
    assert columns(tokenizer(text=DOGS)) == dogs_columns


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_batch(tokenizer, kind, columns, cat_columns, dogs_columns):
    encoding = tokenizer(kind([CAT, DOGS]))
    assert columns(encoding) == {name: [cat_columns[name], dogs_columns[name]] for name in SYNTAX_COLUMNS}
    assert columns(tokenizer([DOGS])) == {name: [dogs_columns[name]] for name in SYNTAX_COLUMNS}


def test_a_pair_is_two_trees_under_one_anchor(tokenizer, columns, cat_columns, pair_columns):
    assert columns(tokenizer(CAT, DOGS)) == pair_columns
    assert columns(tokenizer(CAT, "")) == cat_columns  # no second text at all
    assert columns(tokenizer("", DOGS))["head_positions"] == [0, 0, 3, 0, 3, 0]


def test_batches_of_pairs_in_each_of_their_forms(tokenizer, columns, cat_columns, pair_columns):
    expected = {name: [pair_columns[name], pair_columns[name]] for name in SYNTAX_COLUMNS}
    for encoding in (
        tokenizer([CAT, CAT], [DOGS, DOGS]),
        tokenizer([(CAT, DOGS), (CAT, DOGS)]),
        tokenizer([[CAT, DOGS], [CAT, DOGS]]),  # zero-shot classification
    ):
        assert columns(encoding) == expected
        assert set(map(len, encoding["input_ids"])) == {len(pair_columns["upos_ids"])}
    mixed = tokenizer([(CAT, DOGS), CAT])
    assert mixed["upos_ids"] == [pair_columns["upos_ids"], cat_columns["upos_ids"]]


def test_words(tokenizer, columns, cat_columns, dogs_columns):
    words = ["The", "cat", "sees", "the", "dogs", "."]
    assert columns(tokenizer(words, is_split_into_words=True)) == cat_columns
    assert columns(tokenizer(tuple(words), is_split_into_words=True, padding=True)) == cat_columns
    encoding = tokenizer([words, ["You", "see", "."]], is_split_into_words=True)
    assert columns(encoding) == {name: [cat_columns[name], dogs_columns[name]] for name in SYNTAX_COLUMNS}
    assert encoding.word_ids(0) == [None, 0, 1, 2, 2, 3, 4, 4, 5, None]


def test_pairs_of_words(tokenizer, columns, pair_columns):
    first, second = ["The", "cat", "sees", "the", "dogs", "."], ["You", "see", "."]
    assert columns(tokenizer(first, second, is_split_into_words=True)) == pair_columns
    expected = {name: [pair_columns[name]] for name in SYNTAX_COLUMNS}
    assert columns(tokenizer([first], [second], is_split_into_words=True)) == expected
    assert columns(tokenizer([(first, second)], is_split_into_words=True)) == expected


def test_no_words(tokenizer, columns, dogs_columns):
    assert columns(tokenizer([], is_split_into_words=True)) == {name: [value] * 2 for name, value in NONE.items()} | {
        "head_positions": [0, 0]
    }
    encoding = tokenizer([[], ["You", "see", "."]], is_split_into_words=True)
    assert encoding["upos_ids"] == [[1, 1], dogs_columns["upos_ids"]]


def test_options_given_as_a_dictionary_or_by_position(tokenizer, columns, dogs_columns):
    words = ["You", "see", "."]
    assert columns(tokenizer(words, tokenizer_kwargs={"is_split_into_words": True})) == dogs_columns
    encoding = tokenizer([DOGS], None, None, None, True, "max_length", True, 8, return_tensors="np")
    assert {name: encoding[name].tolist() for name in SYNTAX_COLUMNS} == {
        name: [values + [0] * 3] for name, values in dogs_columns.items()
    }


def test_without_special_tokens_the_root_is_its_own_head(tokenizer):
    encoding = tokenizer([CAT, DOGS], add_special_tokens=False, padding=True, padding_side="left")
    assert encoding["head_positions"] == [[1, 2, 2, 2, 5, 2, 5, 2], [0] * 5 + [6, 6, 6]]
    assert encoding["upos_ids"][1] == [0] * 5 + [PRON, VERB, PUNCT]


def test_targets_are_neither_parsed_nor_given_columns(spy, columns, cat_columns, dogs_columns):
    encoding = spy([CAT, DOGS], text_target=[DOGS, CAT])
    assert encoding["labels"] == encoding["input_ids"][::-1]
    assert columns(encoding) == {name: [cat_columns[name], dogs_columns[name]] for name in SYNTAX_COLUMNS}
    spy.parser.calls.clear()
    alone = spy(text_target=DOGS)
    assert set(alone) == {"input_ids", "token_type_ids", "attention_mask"}
    assert spy.parser.calls == []


def test_encode_tokenize_and_decode_need_no_parser(checkpoint):
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint)
    assert tokenizer.tokenize(DOGS) == ["you", "see", "."]
    assert tokenizer.decode(tokenizer.encode(DOGS), skip_special_tokens=True) == "you see."


def test_a_mask_token_has_a_head_but_no_features(tokenizer, parser, columns, cat_columns):
    masked = "The [MASK] sees the dogs."
    words = ["The", "cat", "sees", "the", "dogs", "."]
    parse = parser.parse_words([words])[0]
    of_mask = Parse(
        masked, [0, 4, 11, 16, 20, 24], [3, 10, 15, 19, 24, 25], parse.upos, [0] * 6, parse.parents, parse.deprels
    )
    none = {"upos_ids": 1, "casing_ids": 0, "subword_ids": 0, "deprel_ids": 1}
    expected = {name: list(values) for name, values in cat_columns.items()}
    for name, value in none.items():
        expected[name][2] = value
    assert columns(tokenizer(masked, parses=of_mask)) == expected
    pair = tokenizer(DOGS, masked, parses_pair=of_mask)
    assert {name: pair[name][6] for name in none} == none
    assert pair["head_positions"][5:8] == [6, 7, 0]
    literal = tokenizer(masked, parses=of_mask, split_special_tokens=True)
    assert tokenizer.mask_token_id not in literal["input_ids"]
    assert literal["upos_ids"][2] == NOUN


def test_given_parses_are_used_instead_of_a_parser(checkpoint, parser, columns, cat_columns, pair_columns):
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint)
    cat, dogs = parser.parse([CAT, DOGS])
    assert columns(tokenizer(CAT, parses=cat)) == columns(tokenizer(CAT, parses=[cat])) == cat_columns
    assert columns(tokenizer(CAT, DOGS, parses=cat, parses_pair=dogs)) == pair_columns
    encoding = tokenizer([(CAT, DOGS), (CAT, DOGS)], parses=[cat, None], parses_pair=(None, dogs))
    assert {name: encoding[name][0] for name in SYNTAX_COLUMNS} == {
        name: cat_columns[name] + [NONE[name]] * 4 for name in SYNTAX_COLUMNS
    }
    assert {name: encoding[name][1] for name in SYNTAX_COLUMNS} == {
        name: [NONE[name]] * 10 + pair_columns[name][10:] for name in SYNTAX_COLUMNS
    }
    none = tokenizer([DOGS], parses=[None], return_tensors="pt")
    assert {name: none[name].tolist() for name in NONE} == {name: [[value] * 5] for name, value in NONE.items()}
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


def test_a_tagged_parse_does_where_no_tree_is_needed(checkpoint, parser, cat_columns):
    (tagged,) = parser.parse([CAT], dependencies=False)
    tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, columns=("upos_ids", "casing_ids"))
    encoding = tokenizer(CAT, parses=tagged)
    assert encoding["upos_ids"] == cat_columns["upos_ids"]
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


def test_languages_choose_the_parser(
    checkpoint, english_parser, tmp_path, columns, cat_columns, dogs_columns, pair_columns
):
    other = shutil.copy(english_parser, tmp_path / "other.udpipe")
    both = SyntaxTokenizerFast.from_pretrained(checkpoint, parser={"en": english_parser, "xx": other})
    expected = {name: [cat_columns[name], dogs_columns[name]] for name in SYNTAX_COLUMNS}
    for languages in ("en", ["en", "xx"], ("xx", "en")):
        assert columns(both([CAT, DOGS], languages=languages)) == expected
    assert columns(both(CAT, DOGS, languages="en", languages_pair="xx")) == pair_columns
    assert columns(both(CAT, DOGS, languages="xx")) == pair_columns
    with pytest.raises(ValueError, match=r"'de'.*\['en', 'xx'\]"):
        both([CAT, DOGS], languages=["en", "de"])
    with pytest.raises(ValueError, match=r"\['en', 'xx'\]"):
        both(CAT)
    with pytest.raises(ValueError, match="2 languages are given for 1 texts"):
        both(CAT, languages=["en", "xx"])
    with pytest.raises(ValueError, match="1 languages are given for 2 texts"):
        both([CAT, DOGS], languages=["en"])
    one = SyntaxTokenizerFast.from_pretrained(checkpoint, parser={"en": english_parser})
    assert columns(one(CAT)) == columns(one(CAT, languages="en")) == cat_columns
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


def test_equal_texts_of_a_batch_are_parsed_once(spy, pair_columns):
    encoding = spy([CAT, DOGS, CAT], [DOGS, DOGS, DOGS])
    assert [texts for texts, _, _ in spy.parser.calls] == [[CAT, DOGS], [DOGS]]
    assert encoding["upos_ids"][0] == encoding["upos_ids"][2] == pair_columns["upos_ids"]
    spy.parser.calls.clear()
    spy([["You", "see"], ["You", "see"]], is_split_into_words=True)
    assert [texts for texts, _, _ in spy.parser.calls] == [[["You", "see"]]]


def test_only_the_parsing_that_the_columns_need_is_done(checkpoint, spy_parser, cat_columns, dogs_columns):
    for chosen, dependencies in ((("upos_ids",), False), (("subword_ids", "deprel_ids"), True)):
        tokenizer = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=spy_parser, columns=chosen)
        encoding = tokenizer([CAT, DOGS])
        assert list(encoding)[3:] == list(chosen)
        assert [call[2] for call in spy_parser.calls] == [dependencies]
        assert [encoding[name] for name in chosen] == [[cat_columns[name], dogs_columns[name]] for name in chosen]
        spy_parser.calls.clear()
    none = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=spy_parser, columns=())
    assert set(none([CAT, DOGS])) == {"input_ids", "token_type_ids", "attention_mask"}
    assert spy_parser.calls == []
    without_parser = SyntaxTokenizerFast.from_pretrained(checkpoint, columns=())
    assert set(without_parser(CAT)) == {"input_ids", "token_type_ids", "attention_mask"}
    with pytest.raises(ValueError, match="'tags'.*upos_ids"):
        SyntaxTokenizerFast.from_pretrained(checkpoint, columns=("upos_ids", "tags"))


def test_texts_and_second_texts_of_different_number_are_refused_as_the_base_does(tokenizer):
    with pytest.raises(ValueError, match="batch length of `text`: 2 does not match"):
        tokenizer([CAT, DOGS], [CAT])


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
        assert encoding["deprel_ids"] == [1, DEPREL_IDS["nsubj"], DEPREL_IDS["root"], 1, 1]
    assert caplog.messages == [
        "'PRP' is no UPOS tag of Universal Dependencies and counts as none",
        "'SBJ:x' is no relation of Universal Dependencies and counts as none",
    ]


def test_a_language_for_all_calls_that_name_none(checkpoint, english_parser, tmp_path):
    parsers = {"en": english_parser, "de": english_parser}
    several = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=parsers)
    with pytest.raises(ValueError, match=r"languages=, or load the tokenizer with language="):
        several("The cat sleeps.")
    german = SyntaxTokenizerFast.from_pretrained(checkpoint, parser=parsers, language="de")
    german.save_pretrained(tmp_path)
    expected = several("The cat sleeps.", languages="de")
    for tokenizer in (german, AutoTokenizer.from_pretrained(tmp_path)):
        assert dict(tokenizer("The cat sleeps.")) == dict(expected)
    with pytest.raises(ValueError, match=r"there is no parser for language='fr', only for \['de', 'en'\]"):
        SyntaxTokenizerFast.from_pretrained(tmp_path, language="fr")
    with pytest.raises(
        ValueError,
        match=r"no parser for language 'fr'; .* parses=None, or a tokenizer with columns=\(\), reads a text",
    ):
        german("Le chat.", languages="fr")


@pytest.mark.parametrize(
    "name", ["parse", "pair_parses", "language", "pair_languages", "columns", "parser", "beam_size"]
)
def test_misspelt_and_misplaced_arguments_are_refused(name, tokenizer):
    with pytest.raises(ValueError, match=f"{name}="):
        tokenizer("A cat.", "A dog.", **{name: None})
