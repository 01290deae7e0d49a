"""Alignment of a parse to wordpieces, by characters: the five syntax columns of a sequence.

A wordpiece belongs to the word it shares most characters with. A word left without wordpieces is merged into the
word that owns its characters; the shallowest word of such a group stands for it, so that heads always go strictly up
and the result is a tree whatever the splits are.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence

from .universal_dependencies import (
    CAPITALISED,
    FIRST,
    LAST,
    MIDDLE,
    NONE_ID,
    NOT_CAPITALISED,
    PADDING_ID,
    SYNTAX_COLUMNS,
    UPOS_IDS,
    WHOLE,
    Parse,
    deprel_id,
)

__all__ = ["align_labels", "align_spans", "align_to_wordpieces", "word_groups"]

NO_WORD = -1


def word_groups(parse: Parse, spans: Sequence[tuple[int, int]]) -> tuple[list[int], dict[int, int]]:
    """Finds the word of each wordpiece, and the words that have no wordpiece of their own.

    Args:
        parse: The parse of the text.
        spans: First and past-the-last character of each wordpiece in that text.

    Returns:
        The owning word of each wordpiece (-1: none), and for every word that is present the owner of its group:
        itself if it owns wordpieces, else the first owner of its characters. Vanished words are not in it.
    """
    starts, ends, num_words = parse.starts, parse.ends, len(parse)
    piece_words: list[int] = []
    characters_owner: dict[int, int] = {}
    for start, end in spans:
        first = word = bisect_right(ends, start)
        owner = NO_WORD
        if start == end:
            if word < num_words and starts[word] <= start:
                owner = word
        else:
            most = 0
            while word < num_words and starts[word] < end:
                shared = min(end, ends[word]) - max(start, starts[word])
                if shared > most:
                    owner, most = word, shared
                word += 1
            if word > first + 1:
                for covered in range(first, word):
                    if ends[covered] > starts[covered]:
                        characters_owner.setdefault(covered, owner)
        piece_words.append(owner)
    groups = {word: word for word in piece_words if word != NO_WORD}
    return piece_words, {**characters_owner, **groups}


def group_representatives(groups: dict[int, int], depths: Sequence[int] | None) -> dict[int, int]:
    """Chooses the word that stands for each group: the shallowest, the first of them on a tie or without a tree."""
    representatives: dict[int, int] = {}
    for word in sorted(groups):
        owner = groups[word]
        best = representatives.setdefault(owner, word)
        if depths is not None and depths[word] < depths[best]:
            representatives[owner] = word
    return representatives


def casing_id(form: str) -> int:
    """Tells whether the first cased character of a word is a capital: 2 if it is, else 1."""
    for character in form:
        if character.islower():
            return NOT_CAPITALISED
        if character.isupper() or character.istitle():
            return CAPITALISED
    return NOT_CAPITALISED


def align_to_wordpieces(
    parses: Sequence[Parse | None],
    spans: Sequence[tuple[int, int]],
    sequence_ids: Sequence[int | None],
    attention_mask: Sequence[int],
    columns: Collection[str] = SYNTAX_COLUMNS,
) -> dict[str, list[int]]:
    """Makes the syntax columns of one sequence of T tokens (one window of a text or of a pair of texts).

    Args:
        parses: The parse of each text of the sequence; `None` leaves that text without syntax.
        spans: First and past-the-last character of each token in its text; ignored for special tokens.
        sequence_ids: 0-based text of each token, `None` for special tokens and padding.
        attention_mask: 0 for padding, which may be on either side.
        columns: The columns to make.

    Returns:
        One list of T ids for each of `columns`.
    """
    absent = [NONE_ID if attended else PADDING_ID for attended in attention_mask]
    anchor = next((i for i, text in enumerate(sequence_ids) if text is None and attention_mask[i]), None)
    heads = [(i if anchor is None else anchor) if attended else 0 for i, attended in enumerate(attention_mask)]
    made = dict(zip(SYNTAX_COLUMNS, (absent, [0] * len(absent), [0] * len(absent), absent[:], heads), strict=True))
    for text, parse in enumerate(parses):
        if parse is None:
            continue
        positions = [i for i, sequence_id in enumerate(sequence_ids) if sequence_id == text]
        piece_words, groups = word_groups(parse, [spans[i] for i in positions])
        pieces: dict[int, list[int]] = {}
        for position, word in zip(positions, piece_words, strict=True):
            if word != NO_WORD:
                pieces.setdefault(word, []).append(position)
        representatives = group_representatives(groups, parse.depths)
        for owner, own in pieces.items():
            fill_tags(made, parse, representatives[owner], own)
            if parse.parents is not None:
                parent = nearest_present(parse.parents, representatives[owner], groups)
                if parent >= 0:  # else the head stays the anchor
                    made["head_positions"][own[0]] = pieces[groups[parent]][0]
    return {column: made[column] for column in columns}


def fill_tags(made: dict[str, list[int]], parse: Parse, word: int, own: list[int]) -> None:
    """Writes what a word says of its wordpieces, at their positions `own`, into the columns: all but its own head."""
    upos, casing = UPOS_IDS.get(parse.upos[word] or "", NONE_ID), casing_id(parse.form(word))
    for position in own:
        made["upos_ids"][position] = upos
        made["casing_ids"][position] = casing
        made["subword_ids"][position] = MIDDLE
    made["subword_ids"][own[0]], made["subword_ids"][own[-1]] = (FIRST, LAST) if len(own) > 1 else (WHOLE, WHOLE)
    if parse.deprels is not None:
        deprel = deprel_id(parse.deprels[word])
        for position in own:
            made["deprel_ids"][position] = deprel
        for position in own[1:]:
            made["head_positions"][position] = own[0]


def nearest_present(parents: Sequence[int], word: int, present: Collection[int]) -> int:
    """Climbs from a word to its nearest ancestor that is present; -1 if there is none."""
    parent = parents[word]
    while parent >= 0 and parent not in present:
        parent = parents[parent]
    return parent


def align_labels(
    labels: Sequence[int],
    word_ids: Sequence[int | None],
    offsets: Sequence[tuple[int, int]] | None = None,
    ignored: int = -100,
) -> list[int]:
    """Labels the first wordpiece of each word: `[3, 7]` over `[None, 0, 1, 1, None]` is `[-100, 3, 7, -100, -100]`.

    Args:
        labels: One label id a word.
        word_ids: 0-based word of each wordpiece, `None` for special tokens, as `BatchEncoding.word_ids` gives them.
        offsets: Characters of each wordpiece in its word (`offset_mapping` of texts given as words). Windows need
            them: a window may begin inside a word, whose first wordpiece another one has.
        ignored: The id of all other wordpieces, which the loss leaves out.

    Raises:
        ValueError: If a wordpiece belongs to a word that has no label.
    """
    last = max((word for word in word_ids if word is not None), default=-1)
    if last >= len(labels):
        raise ValueError(f"wordpieces refer to word {last}, but there are only {len(labels)} labels")
    previous = None
    aligned = []
    for position, word in enumerate(word_ids):
        is_first = word is not None and word != previous and (offsets is None or offsets[position][0] == 0)
        aligned.append(labels[word] if word is not None and is_first else ignored)
        previous = word
    return aligned


def align_spans(
    labels: Sequence[tuple[int, int, str]],
    spans: Sequence[tuple[int, int]],
    sequence_ids: Sequence[int | None],
    label_ids: dict[str, int],
    ignored: int = -100,
) -> list[int]:
    """Labels wordpieces by character spans, in the IOB2 scheme: `B-x` on the first one of a span, `I-x` after it.

    Spans outside a truncated text or a window are left out; one that began before it goes on with `I-x`.

    Args:
        labels: `(start, end, tag)` of each labelled span of the text, not overlapping.
        spans: First and past-the-last character of each wordpiece.
        sequence_ids: 0-based text of each token, `None` for special tokens; only text 0 is labelled.
        label_ids: Id of each IOB2 label, `O` included.
        ignored: The id of tokens outside text 0.

    Raises:
        ValueError: If a label is unknown, labelled spans overlap, or one inside the window holds no wordpiece.
    """
    check_spans(labels, label_ids)
    own = [position for position, text in enumerate(sequence_ids) if text == 0]
    aligned = [label_ids["O"] if text == 0 else ignored for text in sequence_ids]
    window_start, window_end = (spans[own[0]][0], spans[own[-1]][1]) if own else (0, 0)
    for start, end, tag in sorted(labels):
        if end <= window_start or start >= window_end:
            continue
        inside = [position for position in own if spans[position][0] < end and spans[position][1] > start]
        if not inside:
            raise ValueError(f"no wordpiece lies in the span {start} to {end} labelled {tag!r}")
        for position in inside:
            is_first = position == inside[0] and start >= window_start
            aligned[position] = label_ids[f"{'B' if is_first else 'I'}-{tag}"]
    return aligned


def check_spans(labels: Sequence[tuple[int, int, str]], label_ids: dict[str, int]) -> None:
    """Checks that the labels of spans are known and that no spans overlap."""
    needed = ["O", *(f"{prefix}-{tag}" for _, _, tag in labels for prefix in "BI")]
    unknown = [label for label in needed if label not in label_ids]
    if unknown:
        raise ValueError(f"label {unknown[0]!r} is not among {sorted(label_ids)}")
    last_end = 0
    for start, end, tag in sorted(labels):
        if start < last_end:
            raise ValueError(f"the span {start} to {end} labelled {tag!r} overlaps the one before it")
        last_end = end
