import pytest

from syntax_bert.data.column_files import (
    read_intent_columns,
    read_labels,
    read_tagged_sentences,
    read_upos,
    to_iob2,
)
from syntax_bert.data.conllu import ConlluError
from syntax_bert.data.intent_files import read_mtop, read_slot_lines
from syntax_bert.data.lines import read_numbered_lines

EXPECTED = [
    {"words": ["Ada", "Lovelace", "sleeps"], "tags": ["B-PER", "I-PER", "O"]},
    {"words": ["Hello"], "tags": ["O"]},
]


@pytest.mark.parametrize(
    "content",
    [
        "Ada\tB-PER\nLovelace\tI-PER\nsleeps\tO\n\nHello\tO\n",
        "\ufeffAda\tB-PER\r\nLovelace\tI-PER\r\nsleeps\tO\r\n\r\n\r\nHello\tO",
        "-DOCSTART- -X- O O\n\nAda NNP B-NP B-PER\nLovelace NNP I-NP I-PER\nsleeps VBZ B-VP O\n\nHello UH O O\n",
        "Ada NE B-PER\nLovelace  NE  I-PER\nsleeps V O \n-DOCSTART- -DOCSTART- O\nHello X O\n \t\n",
    ],
)
def test_one_text_in_every_form(write, content):
    assert read_tagged_sentences(write("a.txt", content)) == EXPECTED


def test_another_column_of_tags(write):
    path = write("a.txt", "Ada NE B-PER -\nsleeps V O -\n")
    assert read_tagged_sentences(path, -2)[0]["tags"] == read_tagged_sentences(path, 2)[0]["tags"] == ["B-PER", "O"]
    assert read_tagged_sentences(path, 1)[0]["tags"] == ["NE", "V"]


@pytest.mark.parametrize(
    "word", ["\u2028", "\u00a0", "\u200b", "\u3000", "\x85", "a\u2028b", "#", "# tag", "", "\x0b", "\x1c"]
)
def test_odd_words_are_kept(write, word):
    sentences = read_tagged_sentences(write("a.txt", f"the\tO\n{word}\tB-LOC\nend\tO\n"))
    assert sentences == [{"words": ["the", word, "end"], "tags": ["O", "B-LOC", "O"]}]


def test_spaces_only_separate_where_there_are_no_tabs(write):
    assert read_tagged_sentences(write("a.txt", "New York\tB-LOC\n"))[0]["words"] == ["New York"]
    assert read_tagged_sentences(write("a.txt", "New\u00a0York B-LOC\n"))[0]["words"] == ["New\u00a0York"]


def test_language_before_each_word(write):
    content = "de:Bonn\tB-LOC\nde::\tO\n\nde:ja\tO\n"
    path = write("a.txt", content)
    assert [row["words"] for row in read_tagged_sentences(path, language="de")] == [["Bonn", ":"], ["ja"]]
    assert read_tagged_sentences(path, language="en")[1]["words"] == ["de:ja"]
    assert read_tagged_sentences(write("a.txt", content + "en\tO\n"), language="de")[1]["words"] == ["de:ja", "en"]


@pytest.mark.parametrize(
    ("content", "column", "message"),
    [
        ("", -1, "a.txt has no rows"),
        ("\n-DOCSTART- O\n\n", -1, "a.txt has no rows"),
        ("a\tO\rb\tO\r", -1, "a.txt:1: a carriage return inside"),
        ("a\tO\nb\tX\tO\n", -1, "a.txt:2: 3 columns, but the first row has 2"),
        ("a\tO\n\nb O\n", -1, "a.txt:3: 1 columns, but the first row has 2"),
        ("a O\n", 2, "a.txt:1: 2 columns; column 2 of the tags is not among them"),
        ("a O\n", -2, "a.txt:1: 2 columns; column -2 of the tags is not among them"),
        ("\na\n", -1, "a.txt:2: 1 columns; column -1 of the tags is not among them"),
        ("a\tO\nb\t\n", -1, "a.txt:2: the word 'b' has no tag"),
        ("a\tO\ncaf\xe9\tO\n".encode("latin-1"), -1, "a.txt is not UTF-8 after line "),
        (b"a\tO\n\xed\xa0\x80\tO\n", -1, "a.txt is not UTF-8 after line "),
    ],
)
def test_bad_column_files(write, content, column, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_tagged_sentences(write("a.txt", content), column)
    assert message in str(caught.value)


def test_numbered_lines(write):
    assert list(read_numbered_lines(write("a.txt", "a\u2028b\r\n\nc"))) == [(1, "a\u2028b"), (2, ""), (3, "c")]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([["I-PER", "I-PER", "O", "I-LOC"]], [["B-PER", "I-PER", "O", "B-LOC"]]),
        ([["I-PER", "B-PER", "I-LOC"]], [["B-PER", "B-PER", "B-LOC"]]),
        ([["B-PER", "I-PER"], ["I-PER"]], [["B-PER", "I-PER"], ["B-PER"]]),
        ([["B-PER", "I-PER", "O", "B-LOC"], []], [["B-PER", "I-PER", "O", "B-LOC"], []]),
        ([["INTJ", "I-PER"]], [["INTJ", "I-PER"]]),
        ([["S-PER", "I-LOC"]], [["S-PER", "I-LOC"]]),
    ],
)
def test_iob1_becomes_iob2(given, expected):
    assert to_iob2(given) == expected


XSID = """# id = 1
# text = Wake me at nine
# intent = alarm/set
1\tWake\talarm/set\tO
2\t#\talarm/set\tO
3\tnine\talarm/set\tB-datetime

# text-en = Rain?
1\tRegen\tweather/find\tB-weather/attribute
"""


def test_xsid_columns(write):
    assert read_intent_columns(write("a.txt", XSID)) == [
        {"words": ["Wake", "#", "nine"], "tags": ["O", "O", "B-datetime"], "intent": "alarm/set"},
        {"words": ["Regen"], "tags": ["B-weather/attribute"], "intent": "weather/find"},
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n", "a.txt has no rows"),
        ("# intent = x\n\n1\ta\tx\tO\n", "a.txt:1: a sentence without words"),
        ("# intent = x\n1\ta\tO\n", "a.txt:2: 3 columns; it takes id, word, intent and slot"),
        ("1\ta\tx\tO\n3\tb\tx\tO\n", "a.txt:2: the id is '3', word 2 comes next"),
        ("# intent = x\n# intent = y\n1\ta\tx\tO\n", "a.txt:1: the sentence has the intents ['x', 'y']"),
        ("# intent = x\n1\ta\ty\tO\n", "a.txt:2: the intent 'y' is not the sentence's, 'x'"),
        ("1\ta\tx\tO\n2\tb\ty\tO\n", "a.txt:2: the intent 'y' is not the sentence's, 'x'"),
        ("1\ta\tx\t\n", "a.txt:1: the word 'a' has no tag"),
        ("\n# id = 1\n1\ta\t\tO\n", "a.txt:2: the sentence has no intent"),
        ("# intent =\n1\ta\t\tO\n", "a.txt:1: the sentence has no intent"),
    ],
)
def test_bad_xsid_columns(write, content, message):
    with pytest.raises(ValueError, match="a.txt") as caught:
        read_intent_columns(write("a.txt", content))
    assert message in str(caught.value)


CONLLU = """# text = Il parle du chat
1\tIl\til\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tparle\tparler\tVERB\t_\t_\t0\troot\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tchat\tchat\tNOUN\t_\t_\t2\tobl\t_\t_

"""


def test_upos_of_syntactic_words(write):
    (sentence,) = read_upos(write("a.txt", CONLLU))
    assert sentence["words"] == ["Il", "parle", "de", "le", "chat"]
    assert sentence["tags"] == ["PRON", "VERB", "ADP", "DET", "NOUN"]


def test_conllu_without_upos_or_malformed(write):
    with pytest.raises(ValueError, match=r"a\.txt, sentence 1: 'parle' has no UPOS"):
        read_upos(write("a.txt", CONLLU.replace("VERB", "_")))
    with pytest.raises(ConlluError):
        read_upos(write("a.txt", "1\tIl\n"))


def test_slot_lines(write):
    text = write("text.en", "wake me\u00a0up\nhi\n")
    assert read_slot_lines(text, write("label.en", "O B-who\tset\nO\tgreet\n")) == [
        {"words": ["wake", "me\u00a0up"], "tags": ["O", "B-who"], "intent": "set"},
        {"words": ["hi"], "tags": ["O"], "intent": "greet"},
    ]


@pytest.mark.parametrize(
    ("text", "labels", "message"),
    [
        ("a b\n", "O\tx\n", r"label:1: 1 slots for the 2 words of 'a b'"),
        ("a\nb\n", "O\tx\n", r"text has 2 lines, .*label 1; they must be as many"),
        ("a\n", "O x\n", r"label:1: it takes slots, one tab and the intent"),
        ("a\n", "O\tx\ty\n", r"label:1: it takes slots, one tab and the intent"),
        ("a  b\n", "O  O\tx\n", r"label:1: 3 slots for the 3 words"),
        ("", "", r"text has 0 lines"),
    ],
)
def test_bad_slot_lines(write, text, labels, message):
    with pytest.raises(ValueError, match=message):
        read_slot_lines(write("text", text), write("label", labels))


def mtop_row(slots="8:12:SL:TIME,13:17:SL:TIME,0:4:SL:ACT", tokens=None):
    tokens = tokens or (
        '{"tokens": ["Wake", "me", "9 pm", "tom", "row"], "tokenSpans": [{"start": 0, "length": 4}, '
        '{"start": 5, "length": 2}, {"start": 8, "length": 4}, {"start": 13, "length": 3}, {"start": 16, "length": 1}]}'
    )
    return f"7\tIN:CREATE_ALARM\t{slots}\tWake me 9 pm tomr\talarm\ten_XX\t[IN:CREATE_ALARM ]\t{tokens}\n"


def test_mtop(write):
    first, second = read_mtop(write("a.txt", mtop_row() + mtop_row("")))
    assert first["words"] == second["words"] == ["Wake", "me", "9 pm", "tom", "row"]
    assert (first["tags"], first["intent"]) == (["B-ACT", "O", "B-TIME", "B-TIME", "I-TIME"], "CREATE_ALARM")
    assert second["tags"] == ["O"] * 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("7\tIN:X\n", "a.txt:1: 2 columns; MTOP's tables have 8"),
        (
            mtop_row() + mtop_row("7:8:SL:TIME"),
            "a.txt:2: ValueError: the slot 'TIME' at 7 to 8 has no word of its own",
        ),
        (mtop_row("0:4:IN:TIME"), "a.txt:1: ValueError: the slot of 0 to 4 is a 'IN'"),
        (mtop_row("0:4"), "a.txt:1: ValueError"),
        (mtop_row(tokens="[]"), "a.txt:1: TypeError"),
        (mtop_row(tokens="{"), "a.txt:1: JSONDecodeError"),
        (mtop_row("", '{"tokens": ["a"], "tokenSpans": []}'), "a.txt:1: 1 words, but 0 spans"),
        ("", "a.txt has no rows"),
    ],
)
def test_bad_mtop(write, content, message):
    with pytest.raises(ValueError, match="a.txt") as caught:
        read_mtop(write("a.txt", content))
    assert message in str(caught.value)


@pytest.mark.parametrize("content", ["O\nB-PER\nI-PER\n", "\ufeffO\r\n\r\n B-PER \r\nI-PER"])
def test_labels_in_the_order_of_their_file(write, content):
    assert read_labels(write("labels.txt", content)) == ["O", "B-PER", "I-PER"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n \n", "labels.txt has no labels"),
        ("O\n\nB-PER\nO\n", "labels.txt:4: the label 'O' is in line 1 already"),
        ("O B-PER\n", "labels.txt:1: 'O B-PER' is more than one label"),
        (b"O\n\xff\n", "labels.txt is not UTF-8 after line 0"),
    ],
)
def test_bad_label_files(write, content, message):
    with pytest.raises(ValueError, match=message):
        read_labels(write("labels.txt", content))
