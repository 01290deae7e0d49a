"""Alignment of a parse to wordpieces, by characters: the five syntax columns of a sequence.

A wordpiece belongs to the word it shares most characters with. A word left without wordpieces is merged into the
word that owns its characters; the shallowest word of such a group stands for it, so that heads always go strictly up
and the result is a tree whatever the splits are.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence

from .universal_dependencies import NONE_ID, PADDING_ID, SYNTAX_COLUMNS, UPOS_IDS, Parse, deprel_id

__all__ = ["align_labels", "align_spans", "syntax_columns", "word_groups"]

FIRST, MIDDLE, LAST, WHOLE = 1, 2, 3, 4  # subword_ids
NOT_CAPITALISED, CAPITALISED = 1, 2  # casing_ids
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
            for covered in range(first, word) if word > first + 1 else ():
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


def syntax_columns(
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
        One list of T ids for each of `columns`, as DESIGN's table of columns defines them.
    """
    absent = [NONE_ID if attended else PADDING_ID for attended in attention_mask]
    special = (i for i, text in enumerate(sequence_ids) if text is None and attention_mask[i])
    anchor = next(special, None)
    upos_ids, deprel_ids = absent[:], absent[:]
    casing_ids, subword_ids = [0] * len(absent), [0] * len(absent)
    heads = [(i if anchor is None else anchor) if attended else 0 for i, attended in enumerate(attention_mask)]
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
            word = representatives[owner]
            upos = UPOS_IDS.get(parse.upos[word], NONE_ID)
            casing = casing_id(parse.form(word))
            for position in own:
                upos_ids[position] = upos
                casing_ids[position] = casing
                subword_ids[position] = MIDDLE
            subword_ids[own[0]], subword_ids[own[-1]] = (FIRST, LAST) if len(own) > 1 else (WHOLE, WHOLE)
            if parse.parents is None or parse.deprels is None:
                continue
            deprel = deprel_id(parse.deprels[word])
            for position in own:
                deprel_ids[position] = deprel
                heads[position] = own[0]
            parent = parse.parents[word]
            while parent >= 0 and parent not in groups:
                parent = parse.parents[parent]
            if parent >= 0:
                heads[own[0]] = pieces[groups[parent]][0]
            elif anchor is not None:
                heads[own[0]] = anchor
    made = dict(zip(SYNTAX_COLUMNS, (upos_ids, casing_ids, subword_ids, deprel_ids, heads), strict=True))
    return {column: made[column] for column in columns}


def align_labels(labels: Sequence[int], word_ids: Sequence[int | None], ignored: int = -100) -> list[int]:
    """Labels the first wordpiece of each word: `[3, 7]` over `[None, 0, 1, 1, None]` is `[-100, 3, 7, -100, -100]`.

    Args:
        labels: One label id a word.
        word_ids: 0-based word of each wordpiece, `None` for special tokens, as `BatchEncoding.word_ids` gives them.
        ignored: The id of all other wordpieces, which the loss leaves out.

    Raises:
        ValueError: If a wordpiece belongs to a word that has no label.
    """
    last = max((word for word in word_ids if word is not None), default=-1)
    if last >= len(labels):
        raise ValueError(f"wordpieces refer to word {last}, but there are only {len(labels)} labels")
    previous = None
    aligned = []
    for word in word_ids:
        aligned.append(ignored if word is None or word == previous else labels[word])
        previous = word
    return aligned


def align_spans(
    labels: Sequence[tuple[int, int, str]],
    spans: Sequence[tuple[int, int]],
    sequence_ids: Sequence[int | None],
    label_ids: dict[str, int],
    ignored: int = -100,
) -> list[int]:
    """Labels wordpieces by character spans, in the IOB2 scheme: `B-x` on the first wordpiece of a span, `I-x` after it.

    Args:
        labels: `(start, end, tag)` of each labelled span of the text, not overlapping.
        spans: First and past-the-last character of each wordpiece.
        sequence_ids: 0-based text of each token, `None` for special tokens; only text 0 is labelled.
        label_ids: Id of each IOB2 label, `O` included.
        ignored: The id of tokens outside text 0.

    Raises:
        ValueError: If a label is unknown, or a labelled span holds no wordpiece.
    """
    aligned = [label_ids["O"] if text == 0 else ignored for text in sequence_ids]
    for start, end, tag in labels:
        inside = [i for i, (a, b) in enumerate(spans) if sequence_ids[i] == 0 and a < end and b > start]
        if not inside:
            raise ValueError(f"no wordpiece lies in the span {start} to {end} labelled {tag!r}")
        for position, prefix in zip(inside, "B" + "I" * (len(inside) - 1), strict=True):
            if f"{prefix}-{tag}" not in label_ids:
                raise ValueError(f"label {prefix}-{tag!r} is not among {sorted(label_ids)}")
            aligned[position] = label_ids[f"{prefix}-{tag}"]
    return aligned
