"""Parsing as a block of datatrove pipelines (https://github.com/huggingface/datatrove), for many machines."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pyarrow as pa
from datatrove.data import Document
from datatrove.pipeline.base import PipelineStep

from syntax_bert.parsers import Parser
from syntax_bert.parsers.catalogue import load_parser
from syntax_bert.tokenization.universal_dependencies import Parse

from .batches import BATCH, parse_batch
from .parse_columns import PARSE_TYPE, parse_column, to_record

__all__ = ["DOCUMENT_SCHEMA", "SyntaxParser"]

COLUMN = parse_column("text")
DOCUMENT_SCHEMA = pa.schema({"text": pa.string(), "id": pa.string(), COLUMN: PARSE_TYPE})


class SyntaxParser(PipelineStep):
    """Parses the text of each document and puts the parse beside it, as `text_parse` of its metadata.

    Written by `ParquetWriter(folder, expand_metadata=True, schema=DOCUMENT_SCHEMA)`, and completed by
    `syntax_bert.corpora.corpus_folder.finish_corpus(folder, parser)`, documents are a corpus for `--parses`.

    Args:
        parser: A parser that pickles, or its name as in the scripts.
        language: Language code of the documents, for a parser of several languages.
        dependencies: Whether documents are parsed, or only tagged.
    """

    name = "Universal Dependencies"
    type = "PARSER"

    def __init__(self, parser: str | Parser, language: str | None = None, dependencies: bool = True) -> None:
        super().__init__()
        self.parser = load_parser(parser) if isinstance(parser, str) else parser
        self.language, self.dependencies = language, dependencies

    def run(self, data: Iterable[Document], rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Parses documents in batches.

        Raises:
            ValueError: If a document cannot be parsed, with its id.
        """
        documents = iter(data)
        while batch := list(islice(documents, BATCH)):
            with self.track_time(unit="batch"):
                self.parse(batch)
            for document in batch:
                self.stat_update("words", value=len(document.metadata[COLUMN]["starts"]), unit="doc")
                yield document

    def parse(self, batch: list[Document]) -> None:
        """Parses the documents of a batch."""

        def parse_texts(texts: Sequence[str], languages: Sequence[str | None]) -> list[Parse]:
            given = None if self.language is None else languages
            return self.parser.parse(texts, given, self.dependencies)

        texts, places = [document.text for document in batch], [f"document {document.id!r}" for document in batch]
        parses = parse_batch(parse_texts, texts, [self.language] * len(batch), places)
        for document, parse in zip(batch, parses, strict=True):
            document.metadata[COLUMN] = to_record(parse)
