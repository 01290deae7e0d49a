"""Sentences of a long paper that a sequence-to-sequence model can read (Yuan, Liu and Neubig 2021, arXiv 2102.00176).

Whatever the method, there are at most 30 of them, in the order of the paper.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from syntax_bert.data.lines import StrPath, read_numbered_lines

from .cross_entropy import select_sentences
from .paper_files import Section, find_abstracts, find_sections
from .unigrams import unigram_counts

__all__ = ["MAX_READ", "MAX_SENTENCES", "Extractor", "Method", "read_keywords", "read_parameters"]

MAX_SENTENCES = 30
MAX_READ = 250
DEFAULT_NUM_SAMPLES = 10_000
BIN = 10  # sentences that a row of parameters is for

Method = Literal["cross_entropy", "sections", "hybrid"]


@dataclass
class Extractor:
    """Extracts sentences of papers.

    Args:
        keywords: Finds a keyword in a sentence.
        parameters: Starting probability and number of samples, by number of candidates // 10; without, the probability
            is that which draws 30 sentences on average, and there are 10,000 samples.
        seed: Of all that is random.
    """

    keywords: re.Pattern[str]
    parameters: Mapping[int, tuple[float, int]] | None = None
    seed: int = 0

    def extract(
        self, sections: Sequence[Section], method: Method, names: Sequence[str] = ("introduction", "conclusion")
    ) -> list[str]:
        """Extracts sentences of a paper.

        Args:
            sections: The paper, with sentences.
            method: `cross_entropy` chooses among those of the first 250 that hold a keyword, `sections` takes the
                first ones of some sections, `hybrid` takes the abstract and chooses among the rest of the first 250.
            names: Beginnings of the headings that `sections` takes.

        Raises:
            ValueError: If the paper has no such section, no abstract, or no sentence with a keyword, or there are no
                parameters for its length.
        """
        if method == "sections":
            return sentences_of(find_sections(sections, names))[:MAX_SENTENCES]
        abstracts = find_abstracts(sections) if method == "hybrid" else []
        abstract = sentences_of(abstracts[:1])[:MAX_SENTENCES]
        rest = [section for section in sections if section not in abstracts]
        sentences = sentences_of(rest)[: MAX_READ - len(abstract)]
        chosen = self.choose(sentences, MAX_SENTENCES - len(abstract))
        if not abstract and not chosen:
            raise ValueError(f"none of the {len(sentences)} sentences holds a keyword; name other keywords")
        return [*abstract, *(sentences[index] for index in chosen)]

    def choose(self, sentences: Sequence[str], limit: int) -> list[int]:
        """Chooses, by the cross-entropy method, up to a number of the sentences that hold a keyword."""
        found = [index for index, sentence in enumerate(sentences) if self.keywords.search(sentence)]
        if len(found) <= limit:
            return found
        if limit == 0:
            return []
        counts = unigram_counts([sentences[index] for index in found])
        start_prob, num_samples = limit / len(found), DEFAULT_NUM_SAMPLES
        if self.parameters is not None:
            row = len(found) // BIN
            if row not in self.parameters:
                raise ValueError(f"there are no parameters for {len(found)} sentences: add the row {row}, or use none")
            if self.parameters[row][0]:  # 0 where all is taken, unless an abstract leaves less room
                start_prob, num_samples = self.parameters[row]
        selection = select_sentences(counts, limit, start_prob, num_samples, np.random.default_rng(self.seed))
        return [found[index] for index in selection.sentences]


def sentences_of(sections: Sequence[Section]) -> list[str]:
    """Lists the sentences of sections."""
    return [sentence for section in sections for sentence in section.sentences]


def read_keywords(path: StrPath) -> re.Pattern[str]:
    """Reads keywords, any number a line, into a pattern that finds one as a whole word; capitals do not count.

    Raises:
        ValueError: If the file has none or is not UTF-8.
    """
    keywords = {word for _, line in read_numbered_lines(path) for word in line.split()}
    if not keywords:
        raise ValueError(f"{path} has no keywords")
    alternatives = "|".join(map(re.escape, sorted(keywords, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE)


def read_parameters(path: StrPath) -> dict[int, tuple[float, int]]:
    """Reads rows of three numbers: number of sentences // 10, starting probability, number of samples.

    Raises:
        ValueError: For a row that is none, with file and line, and a file without any.
    """
    parameters: dict[int, tuple[float, int]] = {}
    for line, content in read_numbered_lines(path):
        if not content.strip():
            continue
        try:
            row, prob, samples = content.split()
            number, start_prob, num_samples = int(row), float(prob), int(samples)
        except ValueError as error:
            raise ValueError(f"{path}:{line}: {content!r} is not a row, a probability and a number") from error
        if number in parameters or not 0 <= start_prob < 1 or (start_prob > 0 and num_samples < 1):
            shown = f"row {number} has the probability {start_prob} and {num_samples} samples"
            raise ValueError(f"{path}:{line}: {shown}; it takes one below 1, at least 1 sample, and each row once")
        parameters[number] = (start_prob, num_samples)
    if not parameters:
        raise ValueError(f"{path} has no rows")
    return parameters
