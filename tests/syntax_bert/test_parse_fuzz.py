"""Whatever a text holds, parsing it ends in a valid parse that CoNLL-U holds, or in one clear error."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syntax_bert import UDPipeParser
from syntax_bert.data.conllu import read_conllu, write_conllu

WORDS = [
    "the cat ",
    "don't ",
    "Dr. ",
    "1,000 ",
    "https://a.example/b?c=d ",
    "👨‍👩‍👧 ",
    "don’t ",
    "שלום ",
    "مرحبا ",
    "猫は",
    "\r\n",
]
ODD = "\0\x0b\x0c\x1c\x7f\x85\u200b\u200d\u2028\u2029\u202e\u2066\ufeff\u00ad\u00a0\u3000\u0301\ufe0f\U000e0001"
PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(ODD),
    st.text(max_size=8),
    st.characters(categories=["Cc", "Cf", "Mn", "Zs", "Zl", "Zp", "Co"]),
)
TEXTS = st.lists(PIECES, max_size=15).map("".join)
SURROGATE = st.characters(categories=["Cs"])


@pytest.fixture(scope="module")
def parser(english_parser):
    return UDPipeParser(english_parser)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "parses.conllu"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts=st.lists(TEXTS, min_size=20, max_size=20))
def test_any_text(parser, file, texts):
    """Parse itself checks that words are in order and the heads are trees."""
    parses = parser.parse(texts)
    for text, parse in zip(texts, parses, strict=True):
        assert parse.text == text
        outside, end = [], 0
        for start, word_end in zip(parse.starts, parse.ends, strict=True):
            outside.append(text[end:start])
            end = max(end, word_end)
        assert not re.sub(r"[\s\0]", "", "".join([*outside, text[end:]]))  # every character is in a word
    write_conllu(file, parses)
    if any(map(len, parses)):
        words = [upos for sentence in read_conllu(file) for upos in sentence.parse.upos]
        assert words == [upos for parse in parses for upos in parse.upos]


@settings(max_examples=200, deadline=None)
@given(before=TEXTS, surrogate=SURROGATE, after=TEXTS)
def test_a_surrogate_anywhere(parser, before, surrogate, after):
    with pytest.raises(ValueError, match=f"text 1 has a lone surrogate, .* at character {len(before)}:"):
        parser.parse(["Fine.", before + surrogate + after])


@settings(max_examples=100, deadline=None)
@given(words=st.lists(st.text(max_size=6) | st.sampled_from([*ODD, "", " ", *WORDS]), max_size=12))
def test_any_words(parser, words):
    (parse,) = parser.parse_words([words])
    assert [parse.form(word) for word in range(len(parse))] == words


@pytest.mark.parametrize("unit", ["a", ".", "\u200b", "\n", "م", "猫", "a-", "\0", "\u202e"])
def test_a_line_of_100_000_characters(parser, unit):
    text = (unit * 100_000)[:100_000]
    (parse,) = parser.parse([text])
    assert max(parse.ends, default=0) in (0, len(text))


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["a ", "( ", "?! ", "the cat "])
def test_a_line_of_many_words(parser, unit):
    """A second for a thousand words or so."""
    text = unit * (100_000 // len(unit))
    (parse,) = parser.parse([text])
    assert len(parse) >= len(text.split())
