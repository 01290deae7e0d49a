import json

import pytest
import torch
from transformers import pipeline

from syntax_bert import (
    Parse,
    SyntaxBertForIntentAndSlots,
    SyntaxMBertWithGATForIntentAndSlots,
    SyntaxMBertWithGATForQuestionAnswering,
    SyntaxTokenizerFast,
)
from syntax_bert.modeling.pipeline_syntax_intent_and_slots import SyntaxIntentAndSlotsPipeline, in_words
from syntax_bert.modeling.pipeline_syntax_question_answering import SyntaxQuestionAnsweringPipeline

CONTEXT = "The cat sees the river. A dog is unhappy. The cats that see the dog sleep."
QUESTIONS = [{"question": "Who sleeps?", "context": CONTEXT}, {"question": "Who is that?", "context": "We see a cat."}]
TEXTS = ["We don't see the unhappy cats.", "I see you, cat"]
LABELS = ["O", "B-thing", "I-thing", "B-who", "I-who"]

CLEAN_PROCESS = """
import json
from transformers import pipeline
pipe = pipeline(sys.argv[2], model=sys.argv[1], trust_remote_code=True)
print(json.dumps([type(pipe).__name__, *(pipe(json.loads(sys.argv[3]), batch_size=size) for size in (1, 2))]))
"""


@pytest.fixture
def run_saved(run_without_package, tmp_path):
    """Saves a pipeline's model and tokenizer, and gives what a clean process makes of inputs, alone and in batches."""

    def run(pipe, task, inputs):
        for part in (pipe.model, pipe.tokenizer):
            part.save_pretrained(tmp_path / "checkpoint")
        lines = run_without_package(CLEAN_PROCESS, str(tmp_path / "checkpoint"), task, json.dumps(inputs))
        name, *made = json.loads(lines[-1])
        assert name == type(pipe).__name__
        return made

    return run


def with_random_weights(model):
    """Makes wordpieces and the scores of each far apart, and moves what starts at zero."""
    torch.manual_seed(1)
    moved = ("word_embeddings", "biases", "qa_outputs", "answer_sentences", "classifier", "crf")
    for name, weights in model.named_parameters():
        if any(part in name for part in moved):
            torch.nn.init.normal_(weights)
    return model.eval()


@pytest.fixture(scope="module")
def reader(plain_checkpoint):
    torch.manual_seed(0)
    return with_random_weights(SyntaxMBertWithGATForQuestionAnswering.from_pretrained(plain_checkpoint))


@pytest.fixture
def answer(reader, syntax_tokenizer):
    return SyntaxQuestionAnsweringPipeline(model=reader, tokenizer=syntax_tokenizer)


def assert_same(made, expected):
    assert len(made) == len(expected)
    for one, other in zip(made, expected, strict=True):
        assert {k: v for k, v in one.items() if k != "score"} == {k: v for k, v in other.items() if k != "score"}
        assert one["score"] == pytest.approx(other["score"], rel=1e-4)


def test_questions_in_every_form(answer):
    expected = answer(QUESTIONS)
    for question, one in zip(QUESTIONS, expected, strict=True):
        assert one["answer"] == question["context"][one["start"] : one["end"]] != ""
        assert 0 < one["score"] <= 1
        assert answer(question) == one
        assert answer(**question) == one
    assert answer(question=[QUESTIONS[0]["question"]] * 2, context=CONTEXT) == [expected[0]] * 2
    asked = {name: [row[name] for row in QUESTIONS] for name in ("question", "context")}
    assert answer(**asked) == expected
    assert_same(answer(QUESTIONS, batch_size=2), expected)
    assert list(answer(row for row in QUESTIONS)) == expected


def test_the_answer_is_that_of_the_logits(answer, reader, syntax_tokenizer):
    question = QUESTIONS[1]
    encoded = syntax_tokenizer(question["question"], question["context"], return_tensors="pt")
    with torch.no_grad():
        output = reader(**encoded)
    is_context = torch.tensor([sequence == 1 for sequence in encoded.sequence_ids(0)])
    starts, ends = (logits[0][is_context].softmax(-1) for logits in (output.start_logits, output.end_logits))
    best = (starts[:, None] * ends[None]).triu()
    made = answer(question, max_answer_len=40)
    assert made["score"] == pytest.approx(best.max().item(), rel=1e-4)
    first = encoded.token_to_chars(is_context.nonzero()[int(best.argmax()) // len(starts)].item()).start
    assert made["start"] == first


@pytest.mark.parametrize("batch_size", [1, 2, 5])
def test_long_contexts_are_read_in_windows(answer, batch_size):
    questions = [{**row, "context": row["context"] + " We see the cats." * 30} for row in QUESTIONS]
    options = {"max_seq_len": 20, "doc_stride": 4}
    expected = [answer(row, **options) for row in questions]
    assert_same(answer(questions, batch_size=batch_size, **options), expected)
    for question, one in zip(questions, expected, strict=True):
        assert one["answer"] == question["context"][one["start"] : one["end"]] != ""
    assert answer(questions[0])["answer"]  # longer than the model, without options too


def test_several_answers(answer):
    answers = answer(**QUESTIONS[0], top_k=4)
    assert len({(one["start"], one["end"]) for one in answers}) == 4
    assert [one["score"] for one in answers] == sorted((one["score"] for one in answers), reverse=True)
    assert answers[0] == answer(**QUESTIONS[0])
    assert all(len(one["answer"].split()) == 1 for one in answer(**QUESTIONS[0], top_k=4, max_answer_len=1))
    first, second = answer(QUESTIONS, top_k=2)
    assert len(first) == len(second) == 2


def test_the_padding_side_of_the_tokenizer_changes_nothing(reader, plain_checkpoint, english_parser, answer):
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=english_parser, padding_side="left")
    left = SyntaxQuestionAnsweringPipeline(model=reader, tokenizer=tokenizer)
    assert_same(left(QUESTIONS, batch_size=2), answer(QUESTIONS))
    assert tokenizer.padding_side == "left"


def test_contexts_without_an_answer(answer):
    for context in ("", " ", "\u200b"):
        assert answer(question="Who?", context=context) == {"score": 0.0, "start": 0, "end": 0, "answer": ""}
    assert answer(question="Who?", context="", top_k=2) == []
    assert answer(question="", context="A cat.")["answer"]


@pytest.mark.parametrize(
    ("inputs", "options", "message"),
    [
        ({"question": None, "context": "A cat."}, {}, "question and context must be texts, got {'question': None"),
        ({"question": "Who?", "context": ["A cat."]}, {}, "question and context must be texts"),
        ({"question": "Who sees the cat?", "context": "A cat."}, {"max_seq_len": 8}, "leaves no room for a context in 8"),
        ({"question": "Who?", "context": "A cat."}, {"top_k": 0}, "top_k must be at least 1, got 0"),
        ({"question": "Who?", "context": "A cat."}, {"max_length": 8}, r"has no options \['max_length'\]"),
        ({"context": "A cat."}, {}, "question and context must be texts, got {'context'"),
        ("Who?", {}, "question and context must be texts"),
    ],
)  # fmt: skip
def test_questions_that_cannot_be_asked(answer, inputs, options, message):
    with pytest.raises(ValueError, match=message):
        answer(inputs, **options)


def test_languages_of_questions(reader, plain_checkpoint, english_parser, answer):
    parsers = {"en": english_parser, "de": english_parser}
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=parsers)
    pipe = SyntaxQuestionAnsweringPipeline(model=reader, tokenizer=tokenizer)
    assert_same(pipe(QUESTIONS, languages="de"), answer(QUESTIONS))
    with pytest.raises(ValueError, match="name the language of each text"):
        pipe(QUESTIONS)


def test_a_checkpoint_answers_questions(answer, run_saved):
    for made in run_saved(answer, "question-answering", QUESTIONS):
        assert_same(made, answer(QUESTIONS))


@pytest.fixture(scope="module", params=["linear", "crf"])
def listener(request, plain_checkpoint):
    torch.manual_seed(0)
    model_class = SyntaxMBertWithGATForIntentAndSlots if request.param == "crf" else SyntaxBertForIntentAndSlots
    labels = {"id2label": dict(enumerate(LABELS)), "label2id": {label: i for i, label in enumerate(LABELS)}}
    model = model_class.from_pretrained(
        plain_checkpoint, intents=["find", "see", "sleep"], slot_decoder=request.param, **labels
    )
    return with_random_weights(model)


@pytest.fixture
def listen(listener, syntax_tokenizer):
    return SyntaxIntentAndSlotsPipeline(model=listener, tokenizer=syntax_tokenizer)


def assert_same_sentences(made, expected):
    assert [(one["intent"], len(one["slots"])) for one in made] == [
        (one["intent"], len(one["slots"])) for one in expected
    ]
    for one, other in zip(made, expected, strict=True):
        assert_same(one["slots"], other["slots"])
        assert one["score"] == pytest.approx(other["score"], rel=1e-4)


def test_intents_and_slots(listen):
    expected = listen(TEXTS)
    for text, one in zip(TEXTS, expected, strict=True):
        assert one["intent"] in ("find", "see", "sleep")
        assert 1 / 3 < one["score"] <= 1
        assert all(slot["word"] == text[slot["start"] : slot["end"]] != "" for slot in one["slots"])
        assert {slot["slot"] for slot in one["slots"]} <= {"thing", "who"}
        ends = [0, *(slot["end"] for slot in one["slots"])]
        assert all(slot["start"] >= end for slot, end in zip(one["slots"], ends[:-1], strict=True))
        assert listen(text) == one
    assert any(one["slots"] for one in expected)
    assert_same_sentences(listen(TEXTS, batch_size=2), expected)


def test_words_are_those_of_the_parser(listen):
    """The parser finds two words in "don't", which have no characters of their own."""
    encoded = listen.preprocess(TEXTS[0])
    spans = encoded["spans"][0][encoded["word_mask"][0].bool()].tolist()
    words = [TEXTS[0][start:end] for start, end in spans]
    assert words == ["We", "don't", "see", "the", "unhappy", "cats", "."]
    assert encoded["word_mask"].sum() == len(words)


def test_multiword_tokens_are_one_word():
    parse = Parse("Il parle du chat", [0, 3, 9, 9, 12], [2, 8, 11, 11, 16], ["PRON", "VERB", "ADP", "DET", "NOUN"],
                  [0] * 5, [1, -1, 4, 4, 1], ["nsubj", "root", "case", "det", "obl"])  # fmt: skip
    moved = in_words(parse, sorted(set(zip(parse.starts, parse.ends, strict=True))))
    assert moved == parse  # its words are apart by one space already
    closer = Parse("Va-t-en  vite!", [0, 2, 4, 9, 13], [2, 4, 7, 13, 14], ["VERB", "PART", "PRON", "ADV", "PUNCT"],
                   [0] * 5, [-1, 0, 0, 0, 0], ["root", "expl", "obj", "advmod", "punct"])  # fmt: skip
    moved = in_words(closer, list(zip(closer.starts, closer.ends, strict=True)))
    assert moved.text == "Va -t -en vite !"
    assert [moved.form(word) for word in range(5)] == ["Va", "-t", "-en", "vite", "!"]
    assert moved.parents == closer.parents


class MultiwordParser:
    """Finds in "zum" two words, as German parsers do."""

    def parse(self, texts, languages=None, dependencies=True):
        assert set(texts) == {"We see zum kino."}
        return [Parse(text, [0, 3, 7, 7, 11, 15], [2, 6, 10, 10, 15, 16],
                      ["PRON", "VERB", "ADP", "DET", "NOUN", "PUNCT"], [0] * 6, [1, -1, 4, 4, 1, 1],
                      ["nsubj", "root", "case", "det", "obl", "punct"]) for text in texts]  # fmt: skip

    def parse_words(self, words, languages=None, dependencies=True):
        raise AssertionError("the parse of the text is to be used")


def test_multiword_tokens_of_a_text(listener, plain_checkpoint):
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=MultiwordParser())
    pipe = SyntaxIntentAndSlotsPipeline(model=listener, tokenizer=tokenizer)
    encoded = pipe.preprocess("We see zum kino.")
    spans = encoded["spans"][0][encoded["word_mask"][0].bool()].tolist()
    assert spans == [[0, 2], [3, 6], [7, 10], [11, 15], [15, 16]]
    assert pipe("We see zum kino.")["intent"]


def test_pieces_of_a_slot_are_joined(listen, listener, monkeypatch):
    text = "We see the cats, you"
    ids = {"We": 3, "see": 0, "the": 1, "cats": 2, ",": 2, "you": 4}

    def forward(inputs):
        spans, mask = inputs["spans"], inputs["word_mask"]
        slots = torch.tensor([[ids.get(text[start:end], 1) for start, end in spans[0].tolist()]])
        logits = torch.nn.functional.one_hot(slots, 5).float() * (1 + slots[..., None])
        return {"text": text, "spans": spans, "word_mask": mask, "logits": logits, "slot_ids": slots, "intent_logits": torch.eye(3)[:1]}  # fmt: skip

    monkeypatch.setattr(listen, "_forward", forward)
    made = listen(text)
    found = [(slot["slot"], slot["word"]) for slot in made["slots"]]
    assert found == [("who", "We"), ("thing", "the cats,"), ("who", "you")]
    assert made["slots"][1]["score"] == pytest.approx(torch.tensor([2.0, 0, 0, 0, 0]).softmax(-1).max().item())
    assert made["intent"] == "find"


@pytest.mark.parametrize("text", ["", " ", "\u200b", "💩💩", "The cat " * 100])
def test_texts_of_any_kind(listen, text):
    made = listen([text, "We see a cat."], batch_size=2)
    assert made[0]["intent"] in ("find", "see", "sleep")
    assert_same_sentences(made[1:], [listen("We see a cat.")])


def test_the_padding_side_of_the_tokenizer_does_not_matter_to_intents(
    listener, plain_checkpoint, english_parser, listen
):
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=english_parser, padding_side="left")
    left = SyntaxIntentAndSlotsPipeline(model=listener, tokenizer=tokenizer)
    assert_same_sentences(left(TEXTS, batch_size=2), listen(TEXTS))


def test_a_tokenizer_without_parser(listener, plain_checkpoint):
    """Splits by letters; a model that needs syntax says so."""
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint)
    pipe = SyntaxIntentAndSlotsPipeline(model=listener, tokenizer=tokenizer)
    with pytest.raises(ValueError, match="has no parser"):
        pipe("We see a cat.")
    plain = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, columns=())
    words = SyntaxIntentAndSlotsPipeline(model=listener, tokenizer=plain).preprocess("We don't see.")["spans"]
    assert len(words[0]) == 9  # We do ##n ' t see . and two special tokens
    with pytest.raises(ValueError, match=r"has no options \['top_k'\]"):
        pipe("We see a cat.", top_k=3)


def test_a_checkpoint_finds_intents_and_slots(listen, run_saved):
    for made in run_saved(listen, "intent-and-slots", TEXTS):
        assert_same_sentences(made, listen(TEXTS))


def test_a_checkpoint_with_the_package_and_no_trust(reader, syntax_tokenizer, tmp_path):
    reader.save_pretrained(tmp_path)
    syntax_tokenizer.save_pretrained(tmp_path)
    with pytest.raises(Exception, match="trust_remote_code"):
        pipeline("question-answering", model=str(tmp_path))


def test_each_language_is_one_code(reader, listener, plain_checkpoint, english_parser, syntax_tokenizer):
    parsers = {"en": english_parser, "de": english_parser}
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=parsers)
    pipe = SyntaxQuestionAnsweringPipeline(model=reader, tokenizer=tokenizer)
    assert pipe(QUESTIONS, languages="en", languages_pair="de") == pipe(QUESTIONS, languages="de")
    with pytest.raises(ValueError, match=r"languages must be one code for all texts, got \['en', 'de'\]"):
        pipe(QUESTIONS, languages=["en", "de"])
    listen = SyntaxIntentAndSlotsPipeline(model=listener, tokenizer=tokenizer)
    with pytest.raises(ValueError, match="languages must be one code"):
        listen(["The cat sleeps.", "See it."], languages=["en", "de"])


def test_intents_without_syntax(listener, plain_checkpoint, english_parser):
    parsers = {"en": english_parser, "de": english_parser}
    tokenizer = SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=parsers, columns=())
    listen = SyntaxIntentAndSlotsPipeline(model=listener, tokenizer=tokenizer)
    assert listen("The cat sleeps.")["intent"] in ("find", "see", "sleep")
