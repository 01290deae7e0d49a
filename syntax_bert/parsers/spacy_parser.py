"""spaCy (https://spacy.io) as a parser, with pipelines whose labels are those of Universal Dependencies."""

import os
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from syntax_bert.tokenization.udpipe_parser import clean, make_parse
from syntax_bert.tokenization.universal_dependencies import DEPRELS, Parse

from .back_ends import check_languages, import_back_end, join_words, tree_digest

__all__ = ["SpacyParser"]

UNUSED = ["ner", "entity_linker", "lemmatizer", "trainable_lemmatizer", "textcat", "textcat_multilabel"]
ROOT = "ROOT"  # spaCy's label of root


class SpacyParser:
    """Parses texts with a spaCy pipeline that is installed, in its batches.

    The pipeline is loaded at first use, once a process; the parser pickles by name and content. Tokens of whitespace
    are no words, unless they are given as words.

    Args:
        model: Name of an installed pipeline, such as "fr_core_news_sm", or path of its folder.

    Raises:
        ImportError: If spaCy is not installed.
        FileNotFoundError: If there is no such pipeline.
    """

    def __init__(self, model: str | os.PathLike[str]) -> None:
        spacy = import_back_end("spacy")
        name = os.fspath(model)
        installed = spacy.util.is_package(name)
        if not installed and not os.path.isdir(name):
            raise FileNotFoundError(
                f"there is no spaCy pipeline {name!r}: give the path of one, or `python -m spacy download {name}`"
            )
        self.model = name if installed else os.path.abspath(name)
        self.language = spacy.util.get_model_meta(find_folder(self.model))["lang"]

    def __getstate__(self) -> dict:
        return {"model": self.model, "language": self.language, "digest": tree_digest(find_folder(self.model))}

    def __repr__(self) -> str:
        return f"SpacyParser({self.model!r})"

    def parse(
        self, texts: Sequence[str], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Splits raw texts into sentences and words, tags and parses them.

        Without dependencies the parser does not run: then sentences are those of another component that splits them,
        or each text is one.

        Raises:
            ValueError: If a text has a lone surrogate or is longer than the pipeline takes, a language is another one,
                or the pipeline has no tagger, or no parser with labels of Universal Dependencies.
        """
        check_languages(self.language, languages, texts)
        parses = []
        cleaned = [self._check_length(clean(text, index), index) for index, text in enumerate(texts)]
        for index, (text, doc) in enumerate(zip(texts, self._analyse(cleaned, dependencies), strict=True)):
            tokens = [token for token in doc if not token.is_space]
            spans = [(token.idx, token.idx + len(token)) for token in tokens]
            parses.append(read_doc(doc, tokens, spans, text, index, dependencies))
        return parses

    def parse_words(
        self, words: Sequence[Sequence[str]], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Tags and parses texts given as words, and keeps exactly these words.

        Sentences are spaCy's own, each with a tree: its parser may find several in what is given as one.

        Raises:
            ValueError: As in `parse`.
        """
        check_languages(self.language, languages, words)
        spacy, vocab = import_back_end("spacy"), load_pipeline(self.model).vocab
        checked = [join_words(given, index) for index, given in enumerate(words)]
        docs = [
            # spaCy takes no empty words
            spacy.tokens.Doc(vocab, words=[clean(word, index) or " " for word in given])
            for index, given in enumerate(words)
        ]
        analysed = enumerate(zip(checked, self._analyse(docs, dependencies), strict=True))
        return [
            read_doc(doc, list(doc), list(zip(starts, ends, strict=True)), text, index, dependencies)
            for index, ((text, starts, ends), doc) in analysed
        ]

    def _check_length(self, text: str, index: int) -> str:
        longest = load_pipeline(self.model).max_length
        if len(text) > longest:
            raise ValueError(f"text {index} has {len(text)} characters, spaCy takes up to {longest}: split it")
        return text

    def _analyse(self, texts: Sequence[Any], dependencies: bool) -> Iterable:
        pipeline = load_pipeline(self.model)
        parsers = giving(pipeline, "token.dep")
        if not giving(pipeline, "token.pos") and "attribute_ruler" not in pipeline.pipe_names:
            raise ValueError(f"{self!r} has no component that gives UPOS, only {pipeline.pipe_names}")
        if dependencies and not parsers:
            raise ValueError(
                f"{self!r} has no parser, only {pipeline.pipe_names}; pass dependencies=False for its tags"
            )
        if dependencies:
            refuse_foreign_labels(self.model, [label for name in parsers for label in pipeline.get_pipe(name).labels])
        return pipeline.pipe(texts, disable=[] if dependencies else parsers)


def find_folder(model: str) -> str:
    """Finds the folder of an installed pipeline, or takes the path of one."""
    util = import_back_end("spacy").util
    return os.fspath(util.get_package_path(model)) if util.is_package(model) else model


@cache
def load_pipeline(model: str):
    """Loads a spaCy pipeline, once a process, without components that neither tag nor parse."""
    return import_back_end("spacy").load(model, exclude=UNUSED)


def giving(pipeline, attribute: str) -> list[str]:
    """Gives the components of a pipeline that assign an attribute."""
    return [name for name in pipeline.pipe_names if attribute in pipeline.get_pipe_meta(name).assigns]


def refuse_foreign_labels(model: str, labels: Iterable[str]) -> None:
    """Refuses a parser whose relations, without their subtypes, are not those of Universal Dependencies."""
    foreign = sorted(label for label in labels if label != ROOT and label.partition(":")[0] not in DEPRELS)
    if foreign:
        raise ValueError(
            f"the spaCy pipeline {model!r} does not parse into Universal Dependencies: {foreign} are none of its "
            "relations, as in spaCy's English and German pipelines. Take a pipeline trained on a UD treebank, Stanza "
            "or UDPipe; or pass dependencies=False for its tags"
        )


def read_doc(
    doc, tokens: Sequence, spans: Sequence[tuple[int, int]], text: str, index: int, dependencies: bool
) -> Parse:
    """Copies the words of an analysed document.

    Args:
        doc: The document.
        tokens: Those of its tokens that are words.
        spans: Their characters.
        text: The text.
        index: Its number.
        dependencies: Whether trees are wanted.
    """
    words = {token.i: word for word, token in enumerate(tokens)}
    split = doc.sents if doc.has_annotation("SENT_START") else [doc]
    sentences = [number for number, sentence in enumerate(split) for _ in sentence]
    numbers: dict[int, int] = {}  # of the sentences that have words
    orphans: dict[int, int] = {}  # the first word below a root of whitespace takes its place
    rows = []
    for word, (token, span) in enumerate(zip(tokens, spans, strict=True)):
        sentence_id = numbers.setdefault(sentences[token.i], len(numbers))
        ancestors = (ancestor.i for ancestor in token.ancestors if ancestor.i in words)
        head = next(ancestors, token.i)
        parent = words[head] if head != token.i else -1
        if parent == -1 and token.head.i != token.i:
            first = orphans.setdefault(sentence_id, word)
            parent = first if first != word else -1
        deprel = "root" if parent == -1 else token.dep_ or None
        upos = token.pos_ if token.pos_ not in ("", "SPACE") else None
        rows.append((*span, upos, sentence_id, parent, deprel))
    try:
        return make_parse(text, rows, dependencies)
    except ValueError as error:
        raise ValueError(f"spaCy cannot align text {index}, {text[:80]!r}: {error}") from error
