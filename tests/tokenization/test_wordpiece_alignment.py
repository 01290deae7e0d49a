import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntax_bert import Parse, align_labels, align_spans
from syntax_bert.tokenization.universal_dependencies import DEPREL_IDS, UPOS_IDS
from syntax_bert.tokenization.wordpiece_alignment import align_to_wordpieces, casing_id

NOUN, VERB, DET, ADP, PUNCT, AUX, PART = (UPOS_IDS[tag] for tag in "NOUN VERB DET ADP PUNCT AUX PART".split())


def parse_of(text, words, heads, upos, deprels):
    """Makes a one-sentence Parse; `words` are (start, end), `heads` 1-based with 0 for the root."""
    starts, ends = zip(*words, strict=True)
    return Parse(text, starts, ends, upos.split(), [0] * len(words), [h - 1 for h in heads], deprels.split())


def columns_of(parse, spans, **kwargs):
    """Aligns one text between [CLS] and [SEP]."""
    spans = [(0, 0), *spans, (0, 0)]
    sequence_ids = [None, *[0] * (len(spans) - 2), None]
    return align_to_wordpieces([parse], spans, sequence_ids, [1] * len(spans), **kwargs)


CATS = parse_of(
    "The catfishes sleep.", [(0, 3), (4, 13), (14, 19), (19, 20)], [2, 3, 0, 3],
    "DET NOUN VERB PUNCT", "det nsubj root punct",
)  # fmt: skip


def test_a_split_word_and_punctuation_have_the_expected_ids():
    columns = columns_of(CATS, [(0, 3), (4, 7), (7, 11), (11, 13), (14, 19), (19, 20)])
    assert columns == {
        "upos_ids": [1, DET, NOUN, NOUN, NOUN, VERB, PUNCT, 1],
        "casing_ids": [0, 2, 1, 1, 1, 1, 1, 0],
        "subword_ids": [0, 4, 1, 2, 3, 4, 4, 0],
        "deprel_ids": [1, *(DEPREL_IDS[d] for d in "det nsubj nsubj nsubj root punct".split()), 1],
        "head_positions": [0, 2, 5, 2, 2, 0, 5, 0],
    }


def test_a_piece_belongs_to_the_word_it_shares_most_with():
    do_not = parse_of("don’t go", [(0, 2), (2, 5), (6, 8)], [3, 3, 0], "AUX PART VERB", "aux advmod root")
    columns = columns_of(do_not, [(0, 3), (3, 4), (4, 5), (6, 8)])
    assert columns["upos_ids"] == [1, AUX, PART, PART, VERB, 1]
    assert columns["head_positions"] == [0, 4, 4, 2, 0, 0]


def test_the_shallowest_word_of_a_multiword_token_stands_for_it():
    text = "Wir gehen zum Kino"
    words = [(0, 3), (4, 9), (10, 13), (10, 13), (14, 18)]
    zum = parse_of(text, words, [2, 0, 5, 5, 2], "PRON VERB ADP DET NOUN", "nsubj root case det obl")
    columns = columns_of(zum, [(0, 3), (4, 9), (10, 13), (14, 18)])
    assert columns["upos_ids"][3] == ADP  # a tie: the first
    assert columns["head_positions"] == [0, 2, 0, 4, 2, 0]
    inner = parse_of(text, words, [2, 0, 4, 5, 2], "PRON VERB ADP DET NOUN", "nsubj root case det obl")
    assert columns_of(inner, [(0, 3), (4, 9), (10, 13), (14, 18)])["upos_ids"][3] == DET  # ADP hangs below it


def test_words_collapsed_into_one_piece_are_one_node_and_their_children_follow():
    emoji = parse_of("💩💩 ok", [(0, 1), (1, 2), (3, 5)], [2, 0, 1], "SYM SYM INTJ", "dep root discourse")
    columns = columns_of(emoji, [(0, 2), (3, 5)])
    assert columns["head_positions"] == [0, 0, 1, 0]
    assert columns["deprel_ids"][1] == DEPREL_IDS["root"]


def test_a_vanished_word_hands_its_children_to_its_nearest_ancestor():
    words = [(0, 1), (2, 3), (4, 5)]
    chain = parse_of("a \u200b b", words, [0, 1, 2], "VERB NOUN NOUN", "root obj nmod")
    assert columns_of(chain, [(0, 1), (4, 5)])["head_positions"] == [0, 0, 1, 0]
    vanished_root = parse_of("a \u200b b", words, [2, 0, 2], "NOUN VERB NOUN", "nsubj root obj")
    assert columns_of(vanished_root, [(0, 1), (4, 5)])["head_positions"] == [0, 0, 0, 0]


def test_a_window_takes_the_nearest_ancestor_inside():
    columns = columns_of(CATS, [(0, 3), (4, 7), (19, 20)])  # "sleep" is cut off
    assert columns["head_positions"] == [0, 2, 0, 0, 0]
    assert columns["subword_ids"] == [0, 4, 4, 4, 0]


def test_padding_is_zero_and_left_padding_shifts():
    spans = [(0, 3), (4, 13), (14, 19), (19, 20)]
    left = align_to_wordpieces(
        [CATS], [(0, 0)] * 3 + spans + [(0, 0)], [None] * 3 + [0] * 4 + [None], [0, 0, 1, 1, 1, 1, 1, 1]
    )
    plain = columns_of(CATS, spans)
    assert left["head_positions"] == [0, 0, *(head + 2 for head in plain["head_positions"])]
    assert left["upos_ids"] == [0, 0, *plain["upos_ids"]]


def test_without_special_tokens_roots_point_to_themselves():
    columns = align_to_wordpieces([CATS], [(0, 3), (4, 13), (14, 19), (19, 20)], [0] * 4, [1] * 4)
    assert columns["head_positions"] == [1, 2, 2, 2]


def test_a_text_without_parse_has_no_syntax():
    columns = columns_of(None, [(0, 3), (4, 13)])
    assert columns["upos_ids"] == columns["deprel_ids"] == [1, 1, 1, 1]
    assert columns["casing_ids"] == columns["subword_ids"] == columns["head_positions"] == [0, 0, 0, 0]


def test_unknown_tags_and_subtypes():
    odd = parse_of("x y", [(0, 1), (2, 3)], [0, 1], "_ STRANGE", "root nsubj:pass")
    columns = columns_of(odd, [(0, 1), (2, 3)])
    assert columns["upos_ids"] == [1, 1, 1, 1]
    assert columns["deprel_ids"][2] == DEPREL_IDS["nsubj"]


def test_a_tagged_text_has_tags_only():
    tagged = Parse("The cat", [0, 4], [3, 7], ["DET", "NOUN"], [0, 0])
    columns = columns_of(tagged, [(0, 3), (4, 7)], columns=("upos_ids", "subword_ids"))
    assert columns == {"upos_ids": [1, DET, NOUN, 1], "subword_ids": [0, 4, 4, 0]}


@pytest.mark.parametrize(
    ("form", "casing"), [("Cat", 2), ("cat", 1), ("“Cat", 2), ("'tis", 1), ("42", 1), ("", 1), ("ǅ", 2), ("猫", 1)]
)
def test_casing_is_that_of_the_first_cased_character(form, casing):
    assert casing_id(form) == casing


@st.composite
def parsed_texts(draw):
    """Draws a text, words over it (gaps, empty words and shared characters included) and a random forest."""
    text = draw(st.text(max_size=20))
    bounds = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    words = list(zip(bounds[::2], bounds[1::2], strict=False))
    words = [word for word in words for _ in range(draw(st.integers(1, 2)))]
    sentences = sorted(draw(st.lists(st.integers(0, 2), min_size=len(words), max_size=len(words))))
    order = draw(st.permutations(range(len(words))))
    parents = [-1] * len(words)
    for rank, word in enumerate(order):
        above = [other for other in order[:rank] if sentences[other] == sentences[word]]
        parents[word] = draw(st.sampled_from(above)) if above else -1
    starts, ends = [a for a, _ in words], [b for _, b in words]
    return Parse(text, starts, ends, ["NOUN"] * len(words), sentences, parents, ["dep"] * len(words))


@given(parsed_texts(), parsed_texts(), st.data())
def test_heads_always_form_a_tree(first, second, data):
    spans, sequence_ids = [(0, 0)], [None]
    for text, parse in enumerate((first, second)):
        bounds = sorted(data.draw(st.lists(st.integers(0, len(parse.text)), max_size=16)))
        window = list(zip(bounds[::2], bounds[1::2], strict=False))
        spans += [*window, (0, 0)]
        sequence_ids += [*[text] * len(window), None]
    left = data.draw(st.integers(0, 3))
    mask = [0] * left + [1] * len(spans)
    columns = align_to_wordpieces((first, second), [(0, 0)] * left + spans, [None] * left + sequence_ids, mask)
    assert {len(column) for column in columns.values()} == {len(mask)}
    for position in range(left, len(mask)):
        seen = set()
        while position != left:  # the anchor
            assert position not in seen
            seen.add(position)
            position = columns["head_positions"][position]
            assert left <= position < len(mask)


def test_labels_go_to_first_wordpieces():
    assert align_labels([3, 7], [None, 0, 1, 1, None]) == [-100, 3, 7, -100, -100]
    with pytest.raises(ValueError, match="word 2, but there are only 2 labels"):
        align_labels([3, 7], [None, 0, 1, 2, None])


def test_a_window_that_begins_inside_a_word_does_not_label_it_again(syntax_tokenizer):
    windows = syntax_tokenizer(
        ["the", "dogs", "see"], parses=[None], is_split_into_words=True, truncation=True, max_length=4,
        return_overflowing_tokens=True, return_offsets_mapping=True,
    )  # fmt: skip
    labels = [
        align_labels([5, 6, 7], windows.word_ids(window), windows["offset_mapping"][window]) for window in range(2)
    ]
    assert labels == [[-100, 5, 6, -100], [-100, -100, 7, -100]]


SPANS, TEXTS = [(0, 0), (0, 2), (3, 6), (7, 10), (0, 0)], [None, 0, 0, 0, None]
LABEL_IDS = {"O": 0, "B-LOC": 1, "I-LOC": 2}


def test_character_spans_become_iob2():
    assert align_spans([(3, 10, "LOC")], SPANS, TEXTS, LABEL_IDS) == [-100, 0, 1, 2, -100]


def test_spans_of_other_windows_are_left_out_and_cut_ones_go_on():
    assert align_spans([(0, 2, "LOC"), (20, 30, "LOC")], SPANS, TEXTS, LABEL_IDS) == [-100, 1, 0, 0, -100]
    window = [(0, 0), (7, 10), (11, 14), (0, 0)]
    assert align_spans([(3, 10, "LOC")], window, [None, 0, 0, None], LABEL_IDS) == [-100, 2, 0, -100]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([(2, 3, "LOC")], "no wordpiece"),
        ([(3, 6, "PER")], "label 'B-PER' is not among"),
        ([(0, 6, "LOC"), (3, 10, "LOC")], "overlaps"),
    ],
)
def test_spans_that_cannot_be_labelled_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        align_spans(labels, SPANS, TEXTS, LABEL_IDS)
