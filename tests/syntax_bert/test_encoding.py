import pytest
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from syntax_bert import SyntaxTokenizerFast, UDPipeParser
from syntax_bert.encoding import (
    encode_dataset,
    encode_questions,
    encode_texts,
    encode_words,
    language_options,
)

COLUMNS = ("upos_ids", "casing_ids", "subword_ids", "deprel_ids", "head_positions")


@pytest.fixture
def tokenizer(plain_checkpoint, english_parser):
    """A tokenizer with a parser of English."""
    return SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser={"en": english_parser})


def words_of(tokenizer, words, tags=None, languages=("en", "en"), max_length=16, **columns):
    batch = {"words": words, "tags": tags or [list(range(len(sentence))) for sentence in words], **columns}
    return encode_words(batch, range(len(words)), tokenizer, max_length, languages)


def test_labels_are_on_first_wordpieces(tokenizer):
    made = words_of(tokenizer, [["The", "cats", "sleep", "."], ["Unhappy", "cat"]], [[5, 6, 7, 8], [3, 4]])
    assert made["labels"] == [[-100, 5, 6, -100, 7, 8, -100], [-100, 3, -100, 4, -100]]
    assert made["word_index"] == [[-1, 0, 1, -1, 2, 3, -1], [-1, 0, -1, 1, -1]]
    assert made["example"] == [0, 1]
    assert "intent_labels" not in made
    assert made["subword_ids"][0] == [0, 4, 1, 3, 4, 4, 0]
    assert len(made["head_positions"][0]) == len(made["input_ids"][0]) == 7
    assert made["head_positions"][0][3] == 2


def test_long_sentences_are_windows_in_which_each_word_has_one_label(tokenizer):
    words = ["The", "unhappy", "cats", "see", "rivers", "."] * 5
    made = words_of(tokenizer, [words, ["A", "cat"]], max_length=9, intent=[4, 2])
    assert made["example"] == [0] * (len(made["example"]) - 1) + [1]
    assert made["intent_labels"] == [4] * (len(made["example"]) - 1) + [2]
    assert {len(row) for row in made["input_ids"]} <= set(range(10))
    seen = [word for row in made["word_index"][:-1] for word in row if word >= 0]
    assert seen == list(range(len(words)))
    for labels, numbers in zip(made["labels"], made["word_index"], strict=True):
        assert [label for label in labels if label != -100] == [word for word in numbers if word >= 0]
    assert all(0 <= head < len(row) for row in made["head_positions"] for head in row)


@pytest.mark.parametrize("nothing", ["\u200b", "\u00ad", " ", "\u3000", ""])
def test_a_word_without_wordpieces_has_no_label(tokenizer, nothing):
    made = words_of(tokenizer, [["The", nothing, "cat"]], [[1, 2, 3]])
    assert made["labels"] == [[-100, 1, 3, -100]]
    assert made["word_index"] == [[-1, 0, 2, -1]]


def test_a_language_without_parser_has_no_syntax(tokenizer):
    made = words_of(tokenizer, [["The", "cat"]], languages=(None, None))
    assert made["upos_ids"] == made["deprel_ids"] == [[1] * 4]
    assert made["subword_ids"] == made["casing_ids"] == made["head_positions"] == [[0] * 4]
    assert made["labels"] == [[-100, 0, 1, -100]]


CONTEXT = "The cat sees the river. A dog is unhappy. The cats that see the dog sleep."


def questions_of(tokenizer, answer, start=None, question="Who sleeps?", context=CONTEXT, max_length=40, **options):
    answers = {"text": [], "answer_start": []}
    if answer is not None:
        answers = {"text": [answer], "answer_start": [context.index(answer) if start is None else start]}
    batch = {"question": [question], "context": [context], "answers": [answers]}
    return encode_questions(batch, [7], tokenizer, max_length, ("en", "en"), **options)


def answer_of(made, context=CONTEXT, window=0):
    start, end = made["start_positions"][window], made["end_positions"][window]
    return context[made["offset_mapping"][window][start][0] : made["offset_mapping"][window][end][1]]


def test_answers_of_one_window(tokenizer):
    made = questions_of(tokenizer, "A dog")
    assert (len(made["input_ids"]), made["example"]) == (1, [7])
    assert answer_of(made) == "A dog"
    assert [position for position, inside in enumerate(made["context_mask"][0]) if inside] == list(range(6, 28))
    assert made["context_mask"][0].index(1) == made["input_ids"][0].index(3) + 1
    assert set(COLUMNS) <= set(made)
    assert "overflow_to_sample_mapping" not in made


def test_an_answer_outside_a_window_is_0(tokenizer):
    made = questions_of(tokenizer, "unhappy", max_length=16, stride=4)
    windows = len(made["input_ids"])
    assert windows > 2
    assert made["example"] == [7] * windows
    found = [window for window in range(windows) if made["end_positions"][window]]
    assert 0 < len(found) < windows
    assert {answer_of(made, window=window) for window in found} == {"unhappy"}
    assert {made["start_positions"][window] for window in range(windows) if window not in found} == {0}
    assert all(max(heads) < len(heads) for heads in made["head_positions"])
    covered = {tuple(span) for window in range(windows) for span, inside in
               zip(made["offset_mapping"][window], made["context_mask"][window], strict=True) if inside}  # fmt: skip
    assert len(covered) == 22


def test_an_answer_that_a_window_cuts_is_0(tokenizer):
    made = questions_of(tokenizer, CONTEXT[4:40], max_length=16, stride=4)
    assert set(made["start_positions"]) == set(made["end_positions"]) == {0}


def test_questions_without_answer(tokenizer):
    made = questions_of(tokenizer, None)
    assert (made["start_positions"], made["end_positions"]) == ([0], [0])
    assert questions_of(tokenizer, " ", start=3)["end_positions"] == [0]


@pytest.mark.parametrize("answer", [" A dog", "A dog ", " A dog "])
def test_answers_with_spaces_around_them(tokenizer, answer):
    assert answer_of(questions_of(tokenizer, answer)) == "A dog"


def test_answers_with_characters_that_have_no_wordpieces(tokenizer):
    context = "The \u200bcat\u200b sees a dog."
    for answer in ("\u200bcat", "cat\u200b", "\u200bcat\u200b"):
        made = questions_of(tokenizer, answer, context=context)
        assert answer_of(made, context) == "cat"


def metaspace_tokenizer(english_parser, folder):
    """A Unigram tokenizer as XLM-R has it: the space before a word is one of its characters."""
    words = [f"▁{word}" for word in f"Who sleeps? {CONTEXT}".split()]
    pieces = dict.fromkeys(["<s>", "<pad>", "</s>", "<unk>", *words], -1.0)
    backend = Tokenizer(models.Unigram(list(pieces.items()), unk_id=3))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    plain = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<s>", cls_token="<s>", sep_token="</s>", eos_token="</s>",
        pad_token="<pad>", unk_token="<unk>", model_input_names=["input_ids", "attention_mask"],
    )  # fmt: skip
    plain.save_pretrained(folder)
    return SyntaxTokenizerFast.from_pretrained(folder, parser={"en": english_parser})


@pytest.mark.parametrize("answer", ["cat", " cat", "cat ", " cat ", "unhappy. The"])
def test_answers_under_a_metaspace_tokenizer(english_parser, tmp_path, answer):
    tokenizer = metaspace_tokenizer(english_parser, tmp_path)
    made = questions_of(tokenizer, answer)
    assert made["offset_mapping"][0][made["context_mask"][0].index(1) + 1] == (3, 7)
    assert answer_of(made).strip() == answer.strip()


def test_a_question_that_is_too_long_is_named(tokenizer):
    with pytest.raises(ValueError, match=r"the question 'Who sees Who sees .* leaves no room for a context in 16"):
        questions_of(tokenizer, "cat", question="Who sees " * 8, max_length=16)


@pytest.mark.parametrize(
    ("languages", "unparsed"),
    [(("en", "sw"), 1), (("sw", "en"), 0), (("sw", "sw"), None), (("en", "en"), -1)],
)
def test_language_options(languages, unparsed):
    codes = tuple(language if language == "en" else None for language in languages)
    options = language_options(codes, 3)
    for index, suffix in enumerate(("", "_pair")):
        if unparsed in (index, None):
            assert options[f"parses{suffix}"] == [None] * 3
        else:
            assert options[f"languages{suffix}"] == "en"
    assert len(options) == 2
    assert language_options((), 3) == {}
    assert language_options(("en",), 3) == {"languages": "en"}


@pytest.mark.parametrize("languages", [("en", None), (None, "en"), ("en", "en"), (None, None)])
def test_pairs_of_which_one_is_not_parsed(tokenizer, languages):
    batch = {"text": ["The cat sleeps."], "text_pair": ["A dog is unhappy."]}
    made = encode_texts(batch, [0], tokenizer, 32, ("text", "text_pair"), languages)
    upos, split = made["upos_ids"][0], made["input_ids"][0].index(3) + 1
    assert [max(upos[:split]) > 1, max(upos[split:]) > 1] == [language == "en" for language in languages]
    assert [max(made["head_positions"][0][:split]) > 0, max(made["head_positions"][0][split:]) > 0] == [
        language == "en" for language in languages
    ]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("is_chosen", [False, True])
@pytest.mark.usefixtures("own_cache")
def test_nothing_is_parsed_a_second_time(plain_checkpoint, english_parser, monkeypatch, workers, is_chosen):
    parse = UDPipeParser.parse_words

    def made(texts=("The cat sleeps", "A dog sees the river"), max_length=16, language="en"):
        tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser={"en": english_parser})
        words = [text.split() for text in texts]
        rows = Dataset.from_dict({"words": words, "tags": [[0] * len(sentence) for sentence in words]})
        if is_chosen:
            rows = rows.shuffle(seed=0).select(range(2))
        return encode_dataset(rows, tokenizer, encode_words, max_length, workers, languages=(language,) * 2)

    first = made().to_list()
    assert sorted(row["example"] for row in first) == [0, 1]
    monkeypatch.setattr(UDPipeParser, "parse_words", None)
    assert made().to_list() == first
    assert made(language=None).column_names == list(first[0])
    monkeypatch.setattr(UDPipeParser, "parse_words", parse)
    assert made(max_length=4).num_rows > 2
    assert made(texts=("The cat sleeps", "A dog sees a river")).to_list() != first


def test_a_word_that_begins_with_what_vanishes_is_labelled(syntax_tokenizer):
    rows = {"words": [["the", "\u200bcat", "sleeps"]], "tags": [[5, 6, 7]]}
    made = encode_words(rows, [0], syntax_tokenizer, 32, languages=(None, None))
    assert [label for label in made["labels"][0] if label >= 0] == [5, 6, 7]


def test_sentences_and_questions_do_not_depend_on_their_neighbours(plain_checkpoint, english_parser):
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser={"zh": english_parser})
    characters, words = list("Iseeacat"), ["unhappy"] * 4
    alone, together = (
        encode_words({"words": rows, "tags": [[0] * len(row) for row in rows]}, range(len(rows)), tokenizer, 32,
                     languages=("zh", "zh"))
        for rows in ([characters], [words, characters])
    )  # fmt: skip
    assert alone["upos_ids"][0] == together["upos_ids"][1]
    contexts = ["the cat sleeps . " * 20] * 2
    answers = [{"text": ["cat"], "answer_start": [4]}] * 2
    both = {"id": ["a", "b"], "question": ["who", "who " * 20], "context": contexts, "answers": answers}
    first = {name: values[:1] for name, values in both.items()}
    alone, together = (
        encode_questions(rows, range(len(rows["id"])), tokenizer, 32, languages=(None, None)) for rows in (first, both)
    )
    assert together["example"].count(0) == len(alone["example"])
    assert together["input_ids"][: len(alone["example"])] == alone["input_ids"]
