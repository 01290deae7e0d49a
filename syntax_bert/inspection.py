"""Syntax in the terminal: `syntax-bert align` shows that of a text, `syntax-bert check` finds faults in CoNLL-U."""

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from transformers.models.auto.tokenization_auto import get_tokenizer_config

from .data.conllu import check_conllu
from .parsers.catalogue import PARSER_HELP, make_parser
from .tokenization.tokenization_syntax_fast import SyntaxTokenizerFast
from .tokenization.tokenization_syntax_marian import SyntaxMarianTokenizer
from .tokenization.universal_dependencies import DEPREL_IDS, UPOS, UPOS_IDS, Parse, deprel_id

__all__ = ["align", "alignment_table", "check", "draw_trees"]

NAMES: Mapping[str, Mapping[int, str]] = {
    "upos_ids": {index: tag for tag, index in UPOS_IDS.items()},
    "casing_ids": {1: "not", 2: "capitalised"},
    "subword_ids": {1: "first", 2: "middle", 3: "last", 4: "whole"},
    "deprel_ids": {index: deprel for deprel, index in DEPREL_IDS.items()},
}
HEADER = ("", "wordpiece", "upos", "casing", "subword", "deprel", "head")


def align(arguments: list[str]) -> None:
    """Shows the syntax columns of texts, and their trees."""
    parser = ArgumentParser("syntax-bert align", description=align.__doc__)
    parser.add_argument("texts", nargs="+", help="Texts.")
    parser.add_argument("--model_name_or_path", required=True, help="Checkpoint with the tokenizer.")
    parser.add_argument("--parser", nargs="+", help=f"{PARSER_HELP} Default: that of a syntax checkpoint, or en.")
    parser.add_argument("--language", help="Language code, for a parser of several languages.")
    given = parser.parse_args(arguments)
    name = given.model_name_or_path
    config = get_tokenizer_config(name)
    names = given.parser or ([] if "syntax" in config else ["en"])
    options: dict[str, Any] = {"parser": make_parser(names)} if names else {}
    is_marian = "Marian" in str(config.get("tokenizer_class"))
    tokenizer_class = SyntaxMarianTokenizer if is_marian else SyntaxTokenizerFast
    tokenizer = tokenizer_class.from_pretrained(name, columns=tuple(NAMES) + ("head_positions",), **options)
    if tokenizer.parser is None:
        raise ValueError(f"{name} carries no parser: name one by --parser")
    for text in given.texts:
        (parse,) = tokenizer.parser.parse([text], [given.language])
        print(alignment_table(tokenizer, parse), draw_trees(parse), sep="\n\n", end="\n\n")


def alignment_table(tokenizer: SyntaxTokenizerFast | SyntaxMarianTokenizer, parse: Parse) -> str:
    """Lists the wordpieces of a parsed text with their five columns, heads by position and wordpiece."""
    encoding = tokenizer(parse.text, parses=parse)
    pieces = tokenizer.convert_ids_to_tokens(encoding["input_ids"])
    rows = [HEADER]
    for position, piece in enumerate(pieces):
        named = (NAMES[column].get(encoding[column][position], "") for column in NAMES)
        head = encoding["head_positions"][position]
        rows.append((str(position), piece, *named, "" if head == position else f"{head} {pieces[head]}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def draw_trees(parse: Parse) -> str:
    """Draws the tree of each sentence, a word a line below its head; of a text that was only tagged, its words."""
    if parse.parents is None or parse.deprels is None:
        return "\n".join(f"{parse.form(word)} {parse.upos[word]}" for word in range(len(parse)))
    children: dict[int, list[int]] = {}
    for word, parent in enumerate(parse.parents):
        children.setdefault(parent, []).append(word)
    lines = []
    stack = [(root, "", "", "") for root in reversed(children.get(-1, []))]
    while stack:  # trees may be deeper than Python's own stack
        word, indent, branch, below = stack.pop()
        lines.append(f"{indent}{branch}{parse.form(word)}  {parse.upos[word]}  {parse.deprels[word]}")
        own = children.get(word, [])
        marks = [("├─ ", "│  ")] * (len(own) - 1) + [("└─ ", "   ")] * bool(own)
        stack += [(child, indent + below, *mark) for child, mark in zip(own[::-1], marks[::-1], strict=True)]
    return "\n".join(lines)


def check(arguments: list[str]) -> None:
    """Looks for all faults of CoNLL-U files, and ends with status 1 if there are any."""
    parser = ArgumentParser("syntax-bert check", description=check.__doc__)
    parser.add_argument("files", nargs="+", help="CoNLL-U files.")
    num_faults = 0
    for file in parser.parse_args(arguments).files:
        tags, counts = Counter[str](), Counter[str]()
        for sentence in check_conllu(file):
            if isinstance(sentence, Exception):
                counts["faults"] += 1
                print(sentence)
            else:
                counts.update(sentences=1, words=len(sentence.parse))
                tags.update(foreign_tags(sentence.parse))
        print(f"{file}: " + ", ".join(f"{counts[name]:,} {name}" for name in ("sentences", "words", "faults")))
        if tags:
            listed = ", ".join(f"{tag} ({number:,})" for tag, number in tags.most_common())
            print(f"{file}: tags that UD does not have, which are read as none: {listed}")
        num_faults += counts["faults"]
    sys.exit(1 if num_faults else 0)


def foreign_tags(parse: Parse) -> Iterator[str]:
    """Lists the UPOS and relations of a parse that Universal Dependencies does not have; `_` is no tag."""
    for tag in parse.upos:
        if tag not in (*UPOS, "_"):
            yield f"UPOS {tag}"
    for deprel in parse.deprels or ():
        if deprel != "_" and deprel_id(deprel) not in DEPREL_IDS.values():
            yield f"DEPREL {deprel}"
