import json

import pytest

from syntax_bert.data.squad_files import misplaced_answer, read_squad

CONTEXT = "Der Löwe 🦁 schläft.\nEin Hund bellt."


def squad(questions):
    return json.dumps({"version": "1.1", "data": [{"paragraphs": [{"context": CONTEXT, "qas": questions}]}]})


@pytest.fixture
def read(write):
    """Reads questions on one context, or any content of a file."""
    return lambda content: read_squad(write("squad.json", squad(content) if isinstance(content, list) else content))


def question(number, *answers, **more):
    found = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": f"q{number}", "question": f"Wer, {number}?", "answers": found, **more}


def test_questions_with_characters_as_code_points(read):
    assert read([question(1, ("schläft", 11), ("🦁 schläft", 9)), question(2, ("Ein Hund", 20))]) == [
        {
            "id": "q1",
            "question": "Wer, 1?",
            "context": CONTEXT,
            "answers": {"text": ["schläft", "🦁 schläft"], "answer_start": [11, 9]},
        },
        {
            "id": "q2",
            "question": "Wer, 2?",
            "context": CONTEXT,
            "answers": {"text": ["Ein Hund"], "answer_start": [20]},
        },
    ]


def test_questions_without_an_answer(read):
    rows = read([question(1, is_impossible=True), {"id": 2, "question": "Wo?", "is_impossible": True}])
    assert [row["answers"] for row in rows] == [{"text": [], "answer_start": []}] * 2
    assert rows[1]["id"] == "2"


def test_bom(read):
    assert len(read("\ufeff" + squad([question(1, ("Der", 0))]))) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            [question(1, ("Der", 0)), question(2, ("schläft", 12))],
            "squad.json, question 'q2': the answer 'schläft' is",
        ),
        ([question(1, ("Der", -36))], "squad.json, question 'q1': the answer 'Der' is not at character -36"),
        ([question(1, ("Der", None))], "squad.json, question 'q1': the answer 'Der' is not at character None"),
        ([question(1, ("bellt.", 29), ("bellt!", 29))], "question 'q1': the answer 'bellt!' is not at character 29"),
        ([question(1), question(1)], "squad.json: the question 'q1' is there twice"),
        ([], "squad.json has no questions"),
        ([{**question(1), "question": None}], "after question 'q1': TypeError: question and context must be texts"),
        ([{**question(1), "question": "a\ud800"}], "question 'q1': its question has a lone surrogate at character 1"),
        ([question(1), {"id": "q2", "answers": []}], "not of SQuAD's form after question 'q2': KeyError: 'question'"),
        ("{", "squad.json is not JSON in UTF-8"),
        ('"\xe9"'.encode("latin-1"), "squad.json is not JSON in UTF-8"),
        ("[" * 100_000, "squad.json is not JSON in UTF-8"),
        ("[]", "squad.json is not of SQuAD's form"),
        ('{"data": [1]}', "squad.json is not of SQuAD's form"),
    ],
)
def test_bad_files(read, content, message):
    with pytest.raises(ValueError, match=r"squad\.json") as caught:
        read(content)
    assert message in str(caught.value)


def test_misplaced_answer():
    row = {"context": "a cat", "answers": {"text": ["cat"], "answer_start": [2]}}
    assert misplaced_answer(row) is None
    row["answers"]["answer_start"] = [3]
    assert misplaced_answer(row) == "the answer 'cat' is not at character 3 of its context"
