import pytest

from syntax_bert import Parse, SyntaxTokenizerFast, UDPipeParser
from syntax_bert.encoding import encode_words
from syntax_bert.parsers.unspaced_text import are_characters, parse_characters


def encode(tokenizer, words, language):
    batch = {"words": words, "tags": [list(range(len(sentence))) for sentence in words]}
    return encode_words(batch, range(len(words)), tokenizer, 32, (language, language))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["北", "京", "很", "大"], True),
        (["2008", *"年北京很大而且也很热闹", "。"], True),
        (["北京", "很", "大"], False),
        ([], False),
    ],
)
def test_are_characters(words, expected):
    assert are_characters(words) is expected


class ByHand:
    """A parser that knows two texts, and notes what it was given."""

    def __init__(self):
        self.given = []

    def parse(self, texts, languages=None, dependencies=True):
        self.given += zip(texts, languages, strict=True)
        parses = {
            "北京很大": Parse("北京很大", [0, 2, 3], [2, 3, 4], ["PROPN", "ADV", "ADJ"], [0] * 3, [2, 2, -1], ["nsubj", "advmod", "root"]),
            "2008年": Parse("2008年", [0, 4], [4, 5], ["NUM", "NOUN"], [0, 0], [1, -1], ["nummod", "root"]),
            "": Parse("", [], [], [], [], [], []),
        }  # fmt: skip
        return [parses[text] for text in texts]


def test_characters_are_joined_parsed_and_moved_back():
    parser = ByHand()
    given = [["北", "京", "很", "大"], ["2008", "年"], [], [""]]
    first, second, empty, blank = (parse_characters(characters, parser, "zh") for characters in given)
    assert parser.given == [("北京很大", "zh"), ("2008年", "zh"), ("", "zh"), ("", "zh")]
    assert first.text == "北 京 很 大"
    assert [first.form(word) for word in range(3)] == ["北 京", "很", "大"]
    assert (first.upos, first.parents) == (["PROPN", "ADV", "ADJ"], [2, 2, -1])
    assert [second.form(word) for word in range(2)] == ["2008", "年"]
    assert (empty.text, blank.text, len(blank)) == ("", "", 0)


def test_characters_with_empty_ones_between_them():
    parse = parse_characters(["北", "", "京", "很", "大"], ByHand(), "zh")
    assert parse.text == "北  京 很 大"
    assert [parse.form(word) for word in range(3)] == ["北  京", "很", "大"]


def test_the_words_of_characters_are_the_units_of_the_tree(plain_checkpoint):
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=ByHand())
    made = encode(tokenizer, [["北", "京", "很", "大"]], "zh")
    assert made["subword_ids"] == [[0, 1, 3, 4, 4, 0]]
    assert made["head_positions"] == [[0, 4, 1, 4, 0, 0]]  # 京 -> 北 -> 大 <- 很
    assert made["labels"] == [[-100, 0, 1, 2, 3, -100]]


def test_characters_by_a_real_parser_are_a_tree(plain_checkpoint, english_parser):
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser={"ja": english_parser})
    made = encode(tokenizer, [list("thecatsleeps."), list("adogsees")], "ja")
    assert len(set(made["upos_ids"][0])) > 2
    for heads in made["head_positions"]:
        for position in range(len(heads)):
            for _ in heads:
                position = heads[position]
            assert position == 0


def test_tagging_alone_takes_no_trees_of_characters(plain_checkpoint, english_parser, monkeypatch):
    columns = ("upos_ids",)
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser={"zh": english_parser}, columns=columns)
    asked = []
    parse = UDPipeParser.parse
    monkeypatch.setattr(UDPipeParser, "parse", lambda self, *args: asked.append(args) or parse(self, *args))
    made = encode(tokenizer, [list("thecat")], "zh")
    assert (asked[0][2], len(made["upos_ids"][0])) == (False, 8)
    assert "head_positions" not in made
