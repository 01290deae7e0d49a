"""Speed of parsing, alignment and the whole tokenizer call, and memory over many sentences.

python benchmarks/preprocessing.py --conllu en_ewt-ud-dev.conllu --model_name_or_path bert-base-uncased
"""

import argparse
import itertools
import json
import resource
import time

from transformers import AutoTokenizer

from syntax_bert import SyntaxTokenizerFast, UDPipeParser, parser_path
from syntax_bert.data.conllu import read_conllu
from syntax_bert.tokenization.wordpiece_alignment import align_to_wordpieces


def seconds(call, *args, repeats: int = 3, **kwargs) -> float:
    """Gives the fastest of several calls, in processor seconds, which other processes do not disturb."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call(*args, **kwargs)
        times.append(time.process_time() - start)
    return min(times)


def align(parses, encodings) -> None:
    """Aligns parses to encodings that are there already."""
    for parse, encoding in zip(parses, encodings, strict=True):
        align_to_wordpieces((parse, None), encoding.offsets, encoding.sequence_ids, encoding.attention_mask)


def peak_megabytes() -> float:
    """Gives the largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measures and prints one JSON object."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--conllu", required=True, help="treebank whose sentences are read as raw text")
    arguments.add_argument("--model_name_or_path", required=True, help="checkpoint with the tokenizer")
    arguments.add_argument("--num_memory_sentences", type=int, default=100_000)
    options = arguments.parse_args()

    texts = [sentence.parse.text for sentence in read_conllu(options.conllu)]
    base = AutoTokenizer.from_pretrained(options.model_name_or_path)
    parser = UDPipeParser(parser_path("en"))
    tokenizer = SyntaxTokenizerFast.from_pretrained(options.model_name_or_path, parser=parser)
    tagger = SyntaxTokenizerFast.from_pretrained(options.model_name_or_path, parser=parser, columns=["upos_ids"])
    parses = parser.parse(texts)
    encodings = base(texts).encodings
    wordpieces = sum(len(encoding.ids) for encoding in encodings)

    times = {
        "UDPipe, parsed": seconds(parser.parse, texts),
        "UDPipe, tagged only": seconds(parser.parse, texts, dependencies=False),
        "base tokenizer": seconds(base, texts),
        "alignment": seconds(align, parses, encodings),
        "tokenizer call, five columns": seconds(tokenizer, texts),
        "tokenizer call, upos only": seconds(tagger, texts),
    }
    result = {
        name: {"sentences a second": round(len(texts) / time_), "wordpieces a second": round(wordpieces / time_)}
        for name, time_ in times.items()
    }
    for kind in ("parsed", "tagged only"):
        result[f"alignment over UDPipe, {kind}"] = round(times["alignment"] / times[f"UDPipe, {kind}"], 4)

    endless = itertools.cycle(texts)
    peaks = []
    for _ in range(10):
        for _ in range(options.num_memory_sentences // 10 // 100):
            tokenizer(list(itertools.islice(endless, 100)))
        peaks.append(round(peak_megabytes()))
    result["peak MB after each tenth of the sentences"] = peaks
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
