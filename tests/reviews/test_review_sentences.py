import pytest

from examples.reviews.sentences import bracket_pairs, split_text
from syntax_bert import UDPipeParser


@pytest.fixture(scope="module")
def split(english_parser):
    """Splits a text into the texts of its sentences."""
    parser = UDPipeParser(english_parser)

    def split_sentences(text):
        words, sentence_ids = split_text(text, parser)
        assert len(words) == len(sentence_ids)
        own = [[word for word, i in zip(words, sentence_ids, strict=True) if i == n] for n in sorted({*sentence_ids})]
        return [text[sentence[0][0] : sentence[-1][1]] for sentence in own]

    return split_sentences


@pytest.mark.parametrize(
    "sentence",
    [
        "The method is simple, i.e. It has few parameters.",
        "Some tasks are hard, e.g. Parsing and translation.",
        "This was shown by Smith et al. 2018 on images.",
        "This was shown by Smith et al. (2018) on images.",
        "As Fig. 2 shows, the loss is flat.",
        "As Figs. 2 and 3 show, the loss is flat.",
        "By Eq. 4 the bound is loose.",
        "The details are in Sec. 3 and Tab. 2 of the paper.",
        "We derive it w.r.t. The weights of a layer.",
        "The gain is small (see the table. It is on page 5. Nothing is bold there) but real.",
        "The data are new [they are from the web. Nobody has them] and large.",
        "It is vague, e.g., What is x?",
        "The claim is strong, i.e.: Why should it hold?",
        "See App. A for details.",
        "The proof is in Sec. III of the text.",
        "It follows from Prop. A.1 and the lemma.",
        "I asked Dr. Smith about it.",
        "The model, a.k.a. Big Tower, is large.",
        "Improve the plots, captions, etc. before you submit.",
        "The baselines (e.g. Those of Lee et al. 2019. Also others.) are weak.",
    ],
)
def test_one_sentence(split, sentence):
    assert split(f"I have read it. {sentence} It is good.") == ["I have read it.", sentence, "It is good."]


@pytest.mark.parametrize(
    "sentences",
    [
        ["The method follows Smith et al.", "The results are new."],
        ["The plots are unclear :(", "The tables are good.", "I like it :)", "It is new."],
        ["It takes ten sec. on my machine.", "It is slow."],
        ["It takes only ten sec.", "The other one is slow."],
        ["It needs the app.", "A user may like it."],
        ["The range is [0, 1).", "The first claim is wrong.", "I would use (0, 1]."],
        ["This is (a draft.", "It is not ready.", "I am sure."],
    ],
)
def test_several_sentences(split, sentences):
    assert split(" ".join(sentences)) == sentences


@pytest.mark.parametrize("text", ["", " ", "\u200b"])
def test_hardly_any_text(split, text):
    assert len(split(text)) <= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It isn't new.", "It|isn't|new|."),
        ("Su et al. show it, cf. Fig. 2.", "Su|et|al.|show|it|,|cf.|Fig.|2|."),
        ("We cite Su et al.", "We|cite|Su|et|al|."),  # the full stop ends the sentence too
        ("It is big. A fig.", "It|is|big|.|A|fig|."),
    ],
)
def test_words(english_parser, text, expected):
    words, sentence_ids = split_text(text, UDPipeParser(english_parser))
    assert "|".join(text[slice(*word)] for word in words) == expected
    assert len(words) == len(sentence_ids)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a (b) [c]", [(2, 4), (6, 8)]),
        ("(a [b] c)", [(3, 5), (0, 8)]),
        ("a) b", []),
        ("(a", []),
        ("(a [b) c", [(0, 5)]),
        ("1) a (b) 2) c", [(5, 7)]),
        ("[0, 1) a (b) (0, 1]", [(0, 5), (13, 18), (9, 11)]),
    ],
)
def test_brackets_with_their_partners(text, pairs):
    assert bracket_pairs(text) == pairs
