import json
import re

import pytest

from examples.reviews import extract
from examples.reviews.extraction import Extractor, read_keywords, read_parameters
from examples.reviews.paper_files import Section, find_sections, read_paper, split_sections
from syntax_bert import UDPipeParser

WORDS = "tree graph loss layer node edge head arc word vector matrix kernel filter cell gate".split()
PAPER = {
    "name": "a.pdf",
    "metadata": {
        "title": "Of cats",
        "abstractText": "We propose cats. They sleep a lot, cf. Fig. 2.",
        "sections": [
            {"heading": "1 Introduction", "text": "Cats have been\nproposed before. Nobody knows why."},
            {"heading": "1.1 Dogs", "text": "We do not propose dogs."},
            {"heading": "6 Results", "text": ""},
            {"heading": None, "text": None},
            {"heading": "7 Conclusions", "text": "All is well."},
        ],
    },
}


def sections_of(*lengths, word="found"):
    """Sections of numbered sentences, all with the keyword."""
    made = []
    for number, length in enumerate(lengths):
        sentences = [
            f"We {word} {WORDS[i % 15]} and {WORDS[(i * 7 + i // 15) % 15]} in {number}-{i}." for i in range(length)
        ]
        made.append(Section("Abstract" if number == 0 else f"{number} Part", " ".join(sentences), sentences))
    return made


@pytest.fixture
def extractor():
    return Extractor(re.compile("found"))


@pytest.mark.parametrize("number", [1, 29, 30])
def test_up_to_thirty_sentences_all_are_taken(extractor, number):
    sections = sections_of(number)
    sections.append(Section("1 Other", "", ["Nothing here."]))
    assert extractor.extract(sections, "cross_entropy") == sections[0].sentences


@pytest.mark.parametrize("number", [31, 100, 250, 400])
def test_of_more_than_thirty_thirty_are_chosen(extractor, number):
    sections = sections_of(number)
    extracted = extractor.extract(sections, "cross_entropy")
    numbers = [sections[0].sentences.index(sentence) for sentence in extracted]
    assert 0 < len(numbers) <= 30
    assert numbers == sorted({*numbers})
    assert numbers[-1] < 250
    assert extractor.extract(sections, "cross_entropy") == extracted
    assert Extractor(extractor.keywords, seed=1).extract(sections, "cross_entropy") != extracted or number == 31


def test_the_250th_sentence_is_the_last_that_is_read(extractor):
    sentences = [f"Nothing {i}." for i in range(300)]
    sentences[249], sentences[250] = "We found a tree.", "We found a graph."
    assert extractor.extract([Section("", "", sentences)], "cross_entropy") == ["We found a tree."]


def test_the_abstract_counts_in_hybrid_extraction(extractor):
    sections = sections_of(6, 300)
    extracted = extractor.extract(sections, "hybrid")
    assert extracted[:6] == sections[0].sentences
    assert 6 < len(extracted) <= 30
    numbers = [sections[1].sentences.index(sentence) for sentence in extracted[6:]]
    assert numbers[-1] < 244
    sections = sections_of(6, 24)
    assert extractor.extract(sections, "hybrid") == [*sections[0].sentences, *sections[1].sentences]
    assert len(extractor.extract(sections_of(31, 3), "hybrid")) == 30


def test_sections_are_taken_from_their_beginning(extractor):
    sections = sections_of(2, 20, 5, 20)
    assert (
        extractor.extract(sections, "sections", ["part"]) == [s for part in sections[1:] for s in part.sentences][:30]
    )


@pytest.mark.parametrize(
    ("heading", "name", "found"),
    [
        ("1 Introduction", "introduction", True),
        ("INTRODUCTION", "introduction", True),
        ("I. Introduction", "introduction", True),
        ("A.2 Proofs", "proof", True),
        ("5.3 Conclusion and outlook", "Conclusion", True),
        ("Introduction", "duction", False),
        ("Part 3 proofs", "part proofs", False),
        ("A proof", "a proof", True),
        ("", "introduction", False),
    ],
)
def test_sections_by_heading(heading, name, found):
    sections = [Section(heading, "x"), Section("Other", "y")]
    if found:
        assert find_sections(sections, [name]) == sections[:1]
    else:
        with pytest.raises(ValueError, match=f"no section begins with '{name}'; the headings are .*'Other'"):
            find_sections(sections, [name])


@pytest.mark.parametrize(
    ("sections", "method", "message"),
    [
        ([Section("", "", ["Nothing."])], "cross_entropy", "none of the 1 sentences holds a keyword"),
        ([Section("", "", ["We found it."])], "hybrid", "there is no abstract; the headings are"),
        ([Section("", "", ["We found it."])], "sections", "no section begins with 'introduction' or 'conclusion'"),
        (sections_of(99), "cross_entropy", "there are no parameters for 99 sentences: add the row 9, or use none"),
    ],
)
def test_papers_that_cannot_be_extracted(extractor, sections, method, message):
    extractor.parameters = {3: (0.5, 100)}
    with pytest.raises(ValueError, match=message):
        extractor.extract(sections, method)


def test_an_abstract_leaves_less_room_than_there_are_sentences(extractor, write):
    """Rows with the probability 0 say that all is taken, which there is no room for."""
    extractor.parameters = read_parameters(write("parameters.txt", "2 0 0\n"))
    paper = sections_of(5, 27)
    extracted = extractor.extract(paper[::-1], "hybrid")
    assert extracted[:5] == paper[0].sentences
    assert 20 < len(extracted) <= 30


def test_an_abstract_is_no_section_about_abstraction(extractor):
    paper = [
        Section("2 Abstract interpretation", "", ["We found nothing."]),
        Section("Abstract", "", ["Once."]),
        Section("ABSTRACT ", "", ["Twice."]),
    ]
    assert extractor.extract(paper, "hybrid") == ["Once.", "We found nothing."]
    assert extractor.extract(paper[1:], "hybrid") == ["Once."]  # no keyword in the rest


@pytest.mark.parametrize(
    "heading", ["VI CONCLUSION", " 1 Introduction", "1) Introduction", "1: Introduction", "Section 1: Introduction",
                "§1 Introduction", "A.1 Conclusions", "5.Conclusion", "Introduction"]
)  # fmt: skip
def test_headings_with_numbers(heading):
    assert (
        find_sections([Section("Other", ""), Section(heading, "")], ["introduction", "conclusion"])[0].heading
        == heading
    )


def test_parameters_by_number_of_sentences(extractor, write, monkeypatch):
    path = write("parameters.txt", "0 0 0\n3 0.5 100\n\n4 0.25 200")
    extractor.parameters = read_parameters(path)
    assert extractor.parameters == {0: (0, 0), 3: (0.5, 100), 4: (0.25, 200)}
    seen = []

    def select(counts, limit, start_prob, num_samples, rng):
        seen.append((counts.shape[0], limit, start_prob, num_samples))
        raise KeyboardInterrupt

    monkeypatch.setattr("examples.reviews.extraction.select_sentences", select)
    for number in (31, 39, 40, 49):
        with pytest.raises(KeyboardInterrupt):
            extractor.extract(sections_of(number), "cross_entropy")
    assert seen == [(31, 30, 0.5, 100), (39, 30, 0.5, 100), (40, 30, 0.25, 200), (49, 30, 0.25, 200)]


def test_keywords_are_whole_words(write):
    pattern = read_keywords(write("keywords.txt", "find found\nstate-of-the-art  C++\n"))
    holding = ["We Found it.", "(find)", "A state-of-the-art tree", "in C++.", "find-out"]
    assert [
        text for text in [*holding, "finds", "unfound", "state of the art", "C"] if pattern.search(text)
    ] == holding


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (read_keywords, " \n", "a.txt has no keywords"),
        (read_parameters, "\n", "a.txt has no rows"),
        (read_parameters, "3 0.5 100\n4 0.5\n", "a.txt:2: '4 0.5' is not a row, a probability and a number"),
        (read_parameters, "3 0.5 x\n", "a.txt:1: '3 0.5 x' is not a row"),
        (read_parameters, "3 1 100\n", r"a.txt:1: row 3 has the probability 1\.0 and 100 samples"),
        (read_parameters, "3 0.5 0\n", "a.txt:1: row 3 has the probability 0.5 and 0 samples"),
        (read_parameters, "3 0.5 1\n3 0.5 1\n", "a.txt:2: row 3 .* each row once"),
    ],
)
def test_bad_settings(write, read, content, message):
    with pytest.raises(ValueError, match=message):
        read(write("a.txt", content))


@pytest.mark.parametrize("is_inner", [False, True])
def test_a_paper_and_its_sentences(write, english_parser, is_inner):
    path = write("a.json", json.dumps(PAPER["metadata"] if is_inner else PAPER))
    sections = read_paper(path)
    split_sections(sections, UDPipeParser(english_parser))
    assert [(section.heading, section.sentences) for section in sections] == [
        ("Abstract", ["We propose cats.", "They sleep a lot, cf. Fig. 2."]),
        ("1 Introduction", ["Cats have been proposed before.", "Nobody knows why."]),
        ("1.1 Dogs", ["We do not propose dogs."]),
        ("7 Conclusions", ["All is well."]),
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "{", "a.json is no paper: Expecting"),
        ("a.json", "[]", "a.json is no paper: it takes an object with the list 'sections'"),
        ("a.json", '{"sections": {}}', "a.json is no paper: it takes"),
        ("a.json", '{"metadata": 1}', "a.json is no paper: it takes"),
        ("a.json", '{"sections": ["x"]}', "a.json is no paper: section 1 is 'x', not an object"),
        ("a.json", '{"sections": [{"text": 1}]}', "a.json is no paper: 'text' of section 1 is 1, not a text"),
        ("a.json", '{"sections": [], "abstractText": []}', r"a.json is no paper: 'abstractText' of the paper is \[\]"),
        ("a.json", '{"sections": [{"text": " "}]}', "a.json has no text"),
        ("a.json", '{"sections": [], "abstractText": "\\ud800"}', "a.json, section 'Abstract' has a lone surrogate"),
        ("a.txt", " \n", "a.txt has no text"),
        ("a.txt", b"\xff", "a.txt is no paper: 'utf-8' codec"),
    ],
)
def test_bad_papers(write, name, content, message):
    with pytest.raises(ValueError, match=message):
        read_paper(write(name, content))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["We propose cats.", "Cats have been proposed before.", "We do not propose dogs."]),
        ({"method": "hybrid", "keyword_file": "knows"},
         ["We propose cats.", "They sleep a lot, cf. Fig. 2.", "Nobody knows why."]),
        ({"method": "sections"}, ["Cats have been proposed before.", "Nobody knows why.", "All is well."]),
        ({"method": "sections", "sections": ["dogs"]}, ["We do not propose dogs."]),
    ],
)  # fmt: skip
def test_command(as_arguments, write, tmp_path, capsys, options, expected):
    if "keyword_file" in options:
        options = {**options, "keyword_file": write("keywords.txt", options["keyword_file"])}
    paths = {"paper_file": write("a.json", json.dumps(PAPER)), "output_file": tmp_path / "extract.txt"}
    extract.main(as_arguments({**paths, **options}))
    assert (tmp_path / "extract.txt").read_text().splitlines() == expected
    assert f"{len(expected)} of 6 sentences, entropy " in capsys.readouterr().out


def test_command_on_plain_text(as_arguments, write, tmp_path):
    paths = {"paper_file": write("a.txt", "We propose cats.\n\nThey sleep."), "output_file": tmp_path / "extract.txt"}
    extract.main(as_arguments(paths))
    assert (tmp_path / "extract.txt").read_text() == "We propose cats.\n"
