"""Universal Dependencies (https://universaldependencies.org): tag sets, their ids, and `Parse`, one analysed text."""

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = [
    "CAPITALISED",
    "COLUMN_SIZES",
    "DEPRELS",
    "DEPREL_IDS",
    "FIRST",
    "LAST",
    "MIDDLE",
    "NONE_ID",
    "NONE_IDS",
    "NOT_CAPITALISED",
    "PADDING_ID",
    "SYNTAX_COLUMNS",
    "UPOS",
    "UPOS_IDS",
    "WHOLE",
    "Parse",
    "deprel_id",
    "find_surrogate",
    "refuse_surrogates",
]

SYNTAX_COLUMNS = ("upos_ids", "casing_ids", "subword_ids", "deprel_ids", "head_positions")

UPOS = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
DEPRELS = tuple(
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl "
    "fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative "
    "xcomp".split()
)

PADDING_ID, NONE_ID = 0, 1  # of UPOS and DEPRELS
UPOS_IDS = {tag: index for index, tag in enumerate(UPOS, start=2)}
DEPREL_IDS = {deprel: index for index, deprel in enumerate(DEPRELS, start=2)}
NOT_CAPITALISED, CAPITALISED = 1, 2  # casing_ids; 0 is none
FIRST, MIDDLE, LAST, WHOLE = 1, 2, 3, 4  # subword_ids; 0 is none
COLUMN_SIZES = {"upos_ids": 2 + len(UPOS), "casing_ids": 3, "subword_ids": 5, "deprel_ids": 2 + len(DEPRELS)}
NONE_IDS = {"upos_ids": NONE_ID, "casing_ids": 0, "subword_ids": 0, "deprel_ids": NONE_ID}  # of a token without a word

SURROGATE = re.compile("[\ud800-\udfff]")


def deprel_id(deprel: str | None) -> int:
    """Gives the id of a relation without its subtype: `nsubj:pass` as `nsubj`; an unknown one is 1."""
    return DEPREL_IDS.get((deprel or "").partition(":")[0], NONE_ID)


def find_surrogate(text: str) -> int | None:
    """Finds the first lone surrogate of a text, a code point that has no UTF-8 form and so cannot be parsed."""
    match = SURROGATE.search(text)
    return match.start() if match else None


def refuse_surrogates(text: str, where: str) -> None:
    """Refuses a text with a lone surrogate, which neither tokenizer nor parser reads; `where` begins the message."""
    position = find_surrogate(text)
    if position is not None:
        raise ValueError(
            f"{where} has a lone surrogate, {text[position]!r}, at character {position}: "
            "remove it, or decode the file with the right encoding"
        )


@dataclass(frozen=True, slots=True)
class Parse:
    """The words of one text with their tags and, unless it was only tagged, their dependency trees.

    Characters are code points of `text`. The syntactic words of a multiword token (French "du": de + le) all have
    that token's characters. A text given as words is those words joined by one space.

    Args:
        text: The text that was parsed, unchanged.
        starts: First character of each word, 0-based.
        ends: Character after the last one of each word.
        upos: Universal part-of-speech tag of each word, or `None`.
        sentence_ids: 0-based sentence of each word.
        parents: 0-based word index of each word's head, -1 for a root; `None` when only tagged.
        deprels: Relation of each word to its head; `None` when only tagged.

    Raises:
        ValueError: If lengths or kinds of values differ, words are not in text order, or the heads are not one tree
            a sentence.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    upos: Sequence[str | None]
    sentence_ids: Sequence[int]
    parents: Sequence[int] | None = None
    deprels: Sequence[str | None] | None = None
    depths: Sequence[int] | None = field(init=False, default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        num_words = len(self.starts)
        if (self.parents is None) != (self.deprels is None):
            raise ValueError("a Parse needs both parents and deprels, or neither when the text is only tagged")
        for name in ("starts", "ends", "upos", "sentence_ids", "parents", "deprels"):
            column = getattr(self, name)
            if column is None:
                continue
            if len(column) != num_words:
                raise ValueError(f"a Parse of {num_words} words has {len(column)} {name}")
            object.__setattr__(self, name, checked_column(name, column))
        last_start = last_end = 0
        for word, (start, end) in enumerate(zip(self.starts, self.ends, strict=True)):
            if not (last_start <= start <= end <= len(self.text) and last_end <= end):
                raise ValueError(
                    f"word {word} covers characters {start} to {end}: words must be in text order and inside the "
                    f"text of {len(self.text)} characters"
                )
            last_start, last_end = start, end
        if self.parents is not None:
            object.__setattr__(self, "depths", tree_depths(self.parents, self.sentence_ids))

    def __len__(self) -> int:
        return len(self.starts)

    def form(self, word: int) -> str:
        """Gives the surface form of a word (of the whole token, for a part of a multiword token)."""
        return self.text[self.starts[word] : self.ends[word]]


def checked_column(name: str, column: Sequence) -> list:
    """Gives a column of a Parse as a list of Python integers, or of tags (strings or `None`)."""
    if isinstance(column, str):
        raise ValueError(f"{name} must have one value a word, got the text {column[:80]!r}")
    if name in ("upos", "deprels"):
        wrong = next((word for word, tag in enumerate(column) if not (tag is None or isinstance(tag, str))), None)
        if wrong is not None:
            raise ValueError(f"{name} of word {wrong} is {column[wrong]!r}, not a string")
        return list(column)
    try:
        return list(map(operator.index, column))
    except TypeError as error:
        raise ValueError(f"{name} {list(column)[:20]} must be integers: {error}") from error


def tree_depths(parents: Sequence[int], sentence_ids: Sequence[int]) -> list[int]:
    """Counts the arcs from each word up to its root, and so checks that the words of each sentence are one tree.

    Raises:
        ValueError: On a cycle, a head out of range or in another sentence, no root or several roots.
    """
    depths = [-1] * len(parents)
    roots: dict[int, int] = {}
    for word, parent in enumerate(parents):
        sentence = sentence_ids[word]
        if parent == -1:
            if sentence in roots:
                raise ValueError(f"sentence {sentence} has two roots, words {roots[sentence]} and {word}")
            roots[sentence] = word
            depths[word] = 0
        elif not 0 <= parent < len(parents) or sentence_ids[parent] != sentence:
            raise ValueError(f"the head of word {word} is {parent}, which is no word of its sentence {sentence}")
    for word in range(len(parents)):
        path = []
        ancestor = word
        while depths[ancestor] == -1:
            depths[ancestor] = -2  # on the path being walked
            path.append(ancestor)
            ancestor = parents[ancestor]
        if depths[ancestor] == -2:
            raise ValueError(f"the heads of sentence {sentence_ids[word]} form a cycle through word {ancestor}")
        for depth, descendant in enumerate(reversed(path), start=depths[ancestor] + 1):
            depths[descendant] = depth
    return depths
