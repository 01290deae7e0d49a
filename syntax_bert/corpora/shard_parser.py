"""Parsing the rows of one shard, and writing them."""

import multiprocessing
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from syntax_bert.data.conllu import ConlluSentence, write_conllu
from syntax_bert.parsers import Parser
from syntax_bert.tokenization.udpipe_models import file_digest
from syntax_bert.tokenization.universal_dependencies import Parse

from .batches import BATCH, parse_batch
from .corpus_folder import CorpusFolder
from .parse_columns import PARSE_TYPE, parse_column, to_record
from .shards import CorpusOptions, Shard, choose_columns

__all__ = ["Progress", "ShardParser"]


class Progress:
    """What the processes tell each other: how many texts are parsed, and that they should stop."""

    def __init__(self) -> None:
        self.count, self.stop = multiprocessing.Value("q", 0), multiprocessing.Event()

    def add(self, number: int) -> None:
        """Counts texts that were parsed.

        Raises:
            KeyboardInterrupt: If the work is to stop.
        """
        if self.stop.is_set():
            raise KeyboardInterrupt
        with self.count.get_lock():
            self.count.value += number


@dataclass
class ShardParser:
    """Parses and writes one shard."""

    corpus: CorpusFolder
    parser: Parser
    options: CorpusOptions
    progress: Progress

    def __call__(self, shard: Shard, digest: str) -> dict[str, Any]:
        """Gives what the journal notes."""
        table, options = shard.table, self.options
        columns = choose_columns(table.schema, options, shard.places[0][0])
        languages: list[str | None] = [options.language] * len(table)
        if options.language_column is not None:
            languages = table.column(options.language_column).to_pylist()
        parses = {name: self.parse(table.column(name).to_pylist(), languages, shard) for name in columns}
        file = self.corpus.shard(shard.number, options.format)
        if options.format == "conllu":
            self.write_conllu(file, parses[columns[0]], shard)
        else:
            for name, made in parses.items():
                table = table.append_column(parse_column(name), pa.array(map(to_record, made), PARSE_TYPE))
            unfinished = file.with_name(f"{file.stem}.{os.getpid()}.unfinished")
            pq.write_table(table, unfinished)
            unfinished.replace(file)
        all_parses = [parse for made in parses.values() for parse in made if parse is not None]
        return {
            "shard": shard.number,
            "file": file.name,
            "rows": len(table),
            "sentences": sum(len(set(parse.sentence_ids)) for parse in all_parses),
            "words": sum(map(len, all_parses)),
            "sha256": file_digest(str(file)),
            "made_of": digest,
            "text_columns": columns,
        }

    def parse(self, texts: Sequence[Any], languages: Sequence[str | None], shard: Shard) -> list[Parse | None]:
        """Parses the texts of a column; there is none for a null."""
        parses: list[Parse | None] = [None] * len(texts)
        for start in range(0, len(texts), BATCH):
            rows = [row for row in range(start, min(start + BATCH, len(texts))) if texts[row] is not None]
            places = [f"{source}:{number}" for source, number in map(shard.places.__getitem__, rows)]
            given, codes = [texts[row] for row in rows], [languages[row] for row in rows]
            made = parse_batch(self.parse_some, given, codes, places)
            for row, parse in zip(rows, made, strict=True):
                parses[row] = parse
            self.progress.add(len(rows))
        return parses

    def write_conllu(self, file: Path, parses: Sequence[Parse | None], shard: Shard) -> None:
        """Writes parses with the numbers of their rows, from 1, as ids."""
        rows = enumerate(parses, start=shard.first_row + 1)
        sentences = [ConlluSentence(parse, [], str(row)) for row, parse in rows if parse is not None]
        try:
            write_conllu(file, sentences)
        except ValueError:
            for sentence in sentences:  # to name the one
                try:
                    write_conllu(file, [sentence])
                except ValueError as error:
                    source, number = shard.places[int(sentence.sent_id or 0) - 1 - shard.first_row]
                    raise ValueError(f"{source}:{number}: {error}") from error
                finally:
                    file.unlink(missing_ok=True)
            raise

    def parse_some(self, texts: Sequence[Any], languages: Sequence[str | None]) -> list[Parse]:
        """Parses texts, or lists of words."""
        are_words = bool(texts) and not isinstance(texts[0], str)
        method = self.parser.parse_words if are_words else self.parser.parse
        given = None if all(language is None for language in languages) else languages
        return method(texts, given, self.options.dependencies)
