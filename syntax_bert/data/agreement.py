"""Minimal pairs of English sentences whose acceptability depends on the syntactic tree.

A small grammar writes them. The two sentences of a pair differ in one phrase, and what is right there depends on words
at a distance:

    agreement: The girl near the boys is happy. / ... are happy.
    reflexive: The king who the girls praised will blame himself. / ... will blame themselves.
    filler-gap: The son knew what the aunt repaired last week. / The son knew that the aunt repaired last week.

Neither single words nor the nearest noun give the label away. Every word is as frequent in acceptable as in
unacceptable sentences, and the noun nearest to the verb or reflexive matches it in half of either.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import permutations, product
from math import prod
from string import Formatter
from typing import Any, NamedTuple

__all__ = ["agreement_splits"]

Noun = tuple[str, str]  # singular, plural


class Choice(NamedTuple):
    """Two noun forms for a frame, and the indices of the right and the wrong one of the forms to swap."""

    nouns: tuple[str, str]
    right: int
    wrong: int


class Frame(NamedTuple):
    """A sentence pattern: a pair swaps `{form}`, `{0}` and `{1}` are people, other names are keys of `WORDS`."""

    phenomenon: str
    text: str
    choices: Callable[[bool], Iterator[Choice]]
    forms: Sequence[tuple[str, ...]]


def nouns_of(words: str) -> list[Noun]:
    """Gives the singular and the plural of each word of a text."""
    return [(word, word[:-2] + "en" if word.endswith("man") else word + "s") for word in words.split()]


MEN = nouns_of("boy man king father brother son uncle grandfather nephew prince")
WOMEN = nouns_of("girl woman queen mother sister daughter aunt grandmother niece nun")
PEOPLE = MEN + WOMEN + nouns_of("teacher doctor farmer lawyer student neighbor driver singer writer manager")

WORDS = {
    "place": ("near", "behind", "beside", "with"),
    "past": ("helped", "praised", "followed", "trusted", "hated", "watched", "supported"),
    "any_thing": ("clock", "clocks", "chair", "chairs", "table", "tables", "lamp", "lamps", "car", "cars"),
    "thing": ("clock", "chair", "table", "lamp", "car"),
    "other_thing": ("letter", "picture", "book", "map", "bag", "coat"),
    "handled": ("carried", "repaired", "described", "mentioned", "damaged", "admired", "fixed", "examined"),
    "opening": ("", "but", "perhaps", "Mary said that", "the judge thought that", "the judges said that"),
    "knew": ("knew", "remembered", "forgot", "explained", "noticed"),
    "saw": ("saw", "liked", "wanted", "noticed"),
    "ending": ("in the garden", "in the kitchen", "at the station", "yesterday", "last week"),
    "will": ("will", "would", "could", "might"),
    "do_to": ("blame", "hurt", "defend", "describe", "criticize", "protect"),
    "did_to": ("blamed", "hurt", "defended", "described", "criticized", "protected"),
}
PREDICATES = [
    (f"{singular} {adjective}", f"{plural} {adjective}")
    for singular, plural in (("is", "are"), ("was", "were"))
    for adjective in ("happy", "sad", "tired", "old", "young", "famous", "rich", "hungry", "angry")
] + [(f"has {verb}", f"have {verb}") for verb in ("arrived", "left", "returned", "eaten", "smiled", "disappeared")]
REFLEXIVES = [("himself", "herself", "themselves")]
QUESTIONS = [("what", "that")]
RELATIVES = [("that", conjunction) for conjunction in ("because", "when", "while", "although")]


def pairs_of_people(held_out: bool) -> Iterator[tuple[Noun, Noun]]:
    """Yields the ordered pairs of nouns that are held out, or those that are not; a fifth is held out."""
    for (i, first), (j, second) in permutations(enumerate(PEOPLE), 2):
        if held_out == ((i + j) % 5 == 0):
            yield first, second


def agreement_choices(held_out: bool) -> Iterator[Choice]:
    """Yields nouns in all numbers; the form is that of the first."""
    for pair, (number, near) in product(pairs_of_people(held_out), product((0, 1), repeat=2)):
        yield Choice((pair[0][number], pair[1][near]), number, 1 - number)


def reflexive_classes(noun: Noun) -> Iterator[tuple[str, int]]:
    """Yields forms of a noun with the index of their reflexive; only a third of the plurals, to balance the three."""
    if noun in MEN:
        yield noun[0], 0
    if noun in WOMEN:
        yield noun[0], 1
    if PEOPLE.index(noun) % 3 == 0:
        yield noun[1], 2


def reflexive_choices(held_out: bool, alike: bool) -> Iterator[Choice]:
    """Yields nouns that take the same reflexive, or do not: then the wrong reflexive fits the nearer noun."""
    for pair in pairs_of_people(held_out):
        for (subject, right), (noun, near) in product(*map(reflexive_classes, pair)):
            if alike == (right == near):
                yield Choice((subject, noun), right, (right + 1) % 3 if alike else near)


def filler_choices(held_out: bool, gap: bool) -> Iterator[Choice]:
    """Yields nouns in all numbers; the first form is right if there is a gap."""
    for choice in agreement_choices(held_out):
        yield choice._replace(right=1 - gap, wrong=int(gap))


FRAMES = [
    *(
        Frame(f"agreement_{name}", f"{{opening}} the {{0}} {text}", agreement_choices, PREDICATES)
        for name, text in (
            ("prepositional_phrase", "{place} the {1} {form}"),
            ("subject_relative", "who {past} the {1} {form}"),
            ("object_relative", "who the {1} {past} {form}"),
            ("several_attractors", "{place} the {any_thing} that the {1} {handled} {form}"),
        )
    ),
    *(
        Frame(
            f"reflexive_{name}", f"{{opening}} the {{0}} {text}", partial(reflexive_choices, alike=alike), REFLEXIVES
        )
        for name, text in (
            ("prepositional_phrase", "{place} the {1} {did_to} {form}"),
            ("object_relative", "who the {1} {past} {will} {do_to} {form}"),
        )
        for alike in (True, False)
    ),
    *(
        Frame(f"filler_gap_{name}", f"the {{0}} {text} {rest}", partial(filler_choices, gap=gap), forms)
        for name, text, forms in (
            ("question", "{knew} {form} the {1} {handled}", QUESTIONS),
            ("relative_clause", "{saw} the {thing} {form} the {1} {handled}", RELATIVES),
        )
        for gap, rest in ((True, "{ending}"), (False, "the {other_thing} {ending}"))
    ),
]


def write_pairs(frame: Frame, num_pairs: int, held_out: bool, rng: random.Random) -> Iterator[list[dict]]:
    """Yields distinct pairs; each is a number in the mixed radix of the frame's slots."""
    fields = [name for _, name, _, _ in Formatter().parse(frame.text) if name in WORDS]
    slots = [list(frame.choices(held_out)), frame.forms, *(WORDS[name] for name in fields)]
    size = prod(map(len, slots))
    if num_pairs > size:
        raise ValueError(
            f"{num_pairs} pairs of {frame.phenomenon!r} asked for, the grammar makes {size}: ask for fewer"
        )
    for index in rng.sample(range(size), num_pairs):
        values: list[Any] = []
        for slot in slots:
            index, digit = divmod(index, len(slot))
            values.append(slot[digit])
        choice, forms, *words = values
        pair = []
        for form, label in ((forms[choice.right], 1), (forms[choice.wrong], 0)):
            text = frame.text.format(*choice.nouns, form=form, **dict(zip(fields, words, strict=True))).strip()
            pair.append({"sentence": f"{text[0].upper()}{text[1:]}.", "label": label, "phenomenon": frame.phenomenon})
        yield pair


def write_sentences(num_sentences: int, seed: int, held_out: bool) -> list[dict]:
    """Writes one split; see `agreement_splits`."""
    if num_sentences <= 0 or num_sentences % 2:
        raise ValueError(f"sentences come in pairs: expected a positive even number, got {num_sentences!r}")
    rng = random.Random(seed)
    pairs: list[list[dict]] = []
    for position, frame in enumerate(FRAMES):
        pairs += write_pairs(frame, len(range(position, num_sentences // 2, len(FRAMES))), held_out, rng)
    rng.shuffle(pairs)
    return [sentence for pair in pairs for sentence in pair]


def agreement_splits(num_train: int, num_validation: int, seed: int = 0) -> tuple[list[dict], list[dict]]:
    """Writes training and validation sentences that share all words but no combination of two people.

    Every sentence names two of the 30 `PEOPLE`, such as a subject and its attractor. A fifth of the combinations,
    whichever comes first and whatever their numbers, only occurs in validation, the others only in training.

    The sentences of a split are distinct, half of them acceptable, with equally many pairs from each frame. Neither
    split depends on the size of the other.

    Args:
        num_train: An even number, as sentences come in minimal pairs.
        num_validation: Another.
        seed: Equal seeds give equal sentences.

    Returns:
        Dictionaries with `sentence`, `label` (1 acceptable, 0 not) and `phenomenon`. The sentences of a pair follow
        each other, the acceptable one first; pairs are in random order.

    Raises:
        ValueError: If a number is odd or not positive, or more than the grammar can make.
    """
    return write_sentences(num_train, seed, held_out=False), write_sentences(num_validation, seed, held_out=True)
