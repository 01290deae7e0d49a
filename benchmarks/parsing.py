"""Speed of parsing corpora, against UDPipe's own bulk processing and a plain script that goes through CoNLL-U text.

python benchmarks/parsing.py --text train.en --model_name_or_path bert-base-uncased
"""

import argparse
import json
import time
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import conllu
import pyarrow as pa
import pyarrow.parquet as pq
from transformers import AutoTokenizer
from ufal import udpipe

from syntax_bert import DEPRELS, UPOS, SyntaxTokenizerFast, UDPipeParser, parser_path
from syntax_bert.corpora.documents import Document
from syntax_bert.corpora.parse_corpus import parse_corpus
from syntax_bert.corpora.shards import CorpusOptions

REPEATS = 3


def fastest(*calls, clock=time.process_time) -> list[float]:
    """Gives the least time of each of several calls, which take turns."""
    times = []
    for _ in range(REPEATS):
        for call in calls:
            start = clock()
            call()
            times.append(clock() - start)
    return [min(times[index :: len(calls)]) for index in range(len(calls))]


def bulk(model: udpipe.Model, texts: list[str]) -> str:
    """Parses as UDPipe does by itself: one text in, CoNLL-U out; blank lines keep the sentences of texts apart."""
    pipeline = udpipe.Pipeline(model, "tokenize", udpipe.Pipeline.DEFAULT, udpipe.Pipeline.DEFAULT, "conllu")
    return pipeline.process("\n\n".join(texts))


def through_conllu(model: udpipe.Model, tokenizer, texts: list[str], file: Path) -> None:
    """Parses, aligns and writes as a plain script does: CoNLL-U text, the package conllu, a loop over words."""
    pipeline = udpipe.Pipeline(model, "tokenizer=ranges", udpipe.Pipeline.DEFAULT, udpipe.Pipeline.DEFAULT, "conllu")
    with open(file, "w", encoding="utf-8") as output:
        for text in texts:
            words = []  # start, end, UPOS, relation, 0-based head or -1
            for sentence in conllu.parse(pipeline.process(text)):
                base, covered = len(words), {}
                for token in sentence:
                    first, last = token["id"][::2] if isinstance(token["id"], tuple) else (token["id"], token["id"])
                    if "TokenRange" in (token["misc"] or {}):
                        span = tuple(map(int, token["misc"]["TokenRange"].split(":")))
                        covered |= {number: span for number in range(first, last + 1)}
                    if isinstance(token["id"], int):
                        head = token["head"] - 1 + base if token["head"] else -1
                        deprel = token["deprel"].partition(":")[0]
                        words.append((*covered[first], UPOS.index(token["upos"]) + 2, DEPRELS.index(deprel) + 2, head))
            encoding = tokenizer(text, return_offsets_mapping=True)
            owners = [
                next((n for n, word in enumerate(words) if word[0] <= start < word[1] and end > start), None)
                for start, end in encoding.pop("offset_mapping")
            ]
            first_piece = {owner: piece for piece, owner in reversed(list(enumerate(owners))) if owner is not None}
            encoding["upos_ids"] = [1 if owner is None else words[owner][2] for owner in owners]
            encoding["deprel_ids"] = [1 if owner is None else words[owner][3] for owner in owners]
            encoding["head_positions"] = [
                0 if owner is None else first_piece[owner] if piece != first_piece[owner]
                else first_piece.get(words[owner][4], 0)
                for piece, owner in enumerate(owners)
            ]  # fmt: skip
            output.write(json.dumps(dict(encoding)) + "\n")


def through_columns(parser: UDPipeParser, tokenizer, texts: list[str], file: Path) -> None:
    """Parses, aligns and writes as this library does."""
    encoding = tokenizer(texts, parses=parser.parse(texts))
    pq.write_table(pa.table(dict(encoding)), file)


def corpus_seconds(texts: list[str], workers: int, shard_size: int) -> float:
    """Gives the time in which a corpus is parsed and written."""
    documents = (Document("texts", number, {"text": text}) for number, text in enumerate(texts, start=1))
    start = time.perf_counter()
    with TemporaryDirectory() as folder, redirect_stderr(StringIO()):
        options = CorpusOptions(shard_size=shard_size)
        parse_corpus(documents, folder, UDPipeParser(parser_path("en")), options, workers)
        return time.perf_counter() - start


def main() -> None:
    """Measures and prints one JSON object."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--text", required=True, help="file with a text a line")
    arguments.add_argument("--model_name_or_path", required=True, help="checkpoint with the tokenizer")
    arguments.add_argument("--num_texts", type=int, default=2000, help="of what is measured in this process")
    arguments.add_argument("--num_corpus_texts", type=int, default=20_000, help="of what is measured with two workers")
    options = arguments.parse_args()
    lines = Path(options.text).read_text(encoding="utf-8").split("\n")
    texts, corpus = lines[: options.num_texts], lines[: options.num_corpus_texts]
    parser, model = UDPipeParser(parser_path("en")), udpipe.Model.load(parser_path("en"))
    base = AutoTokenizer.from_pretrained(options.model_name_or_path)
    tokenizer = SyntaxTokenizerFast.from_pretrained(options.model_name_or_path, parser=parser)
    parser.parse(texts[:10])
    ours, theirs = fastest(lambda: parser.parse(texts), lambda: bulk(model, texts))
    with TemporaryDirectory() as folder:
        columns, plain = fastest(
            lambda: through_columns(parser, tokenizer, texts, Path(folder, "columns.parquet")),
            lambda: through_conllu(model, base, texts, Path(folder, "columns.jsonl")),
        )
    one, two = (min(corpus_seconds(corpus, workers, 1000) for _ in range(2)) for workers in (1, 2))
    result = {
        "texts a second": {
            "UDPipeParser.parse": round(len(texts) / ours),
            "UDPipe's bulk processing": round(len(texts) / theirs),
            "parsed, aligned and written": round(len(texts) / columns),
            "the same through CoNLL-U text": round(len(texts) / plain),
            "syntax-bert parse": round(len(corpus) / one),
            "syntax-bert parse, two workers": round(len(corpus) / two),
        },
        "over UDPipe's bulk processing": round(theirs / ours, 3),
        "over the plain script": round(plain / columns, 3),
        "over the plain script, less UDPipe's share": round((plain - theirs) / (columns - theirs), 3),
        "two workers over one": round(one / two, 3),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
