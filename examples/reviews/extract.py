"""Cuts a long paper to at most 30 sentences.

    python -m examples.reviews.extract --paper_file paper.json --output_file extract.txt --method hybrid

Papers are JSON as science-parse writes it, or plain text, of which only `--method cross_entropy` can read.
"""

from dataclasses import dataclass
from pathlib import Path

from transformers.hf_argparser import HfArg

from syntax_bert import UDPipeParser, parser_path
from syntax_bert.arguments import parse_arguments

from .extraction import Extractor, Method, read_keywords, read_parameters
from .paper_files import read_paper, split_sections
from .unigrams import unigram_counts, unigram_entropy

KEYWORDS = Path(__file__).parent / "data" / "keywords.txt"


@dataclass
class ExtractArguments:
    """What is read and written."""

    paper_file: str = HfArg(help="The paper: .json of science-parse, or plain text.")
    output_file: str = HfArg(help="Its sentences, one a line.")
    method: Method = HfArg(default="cross_entropy", help="What is extracted.")
    sections: list[str] = HfArg(
        default_factory=lambda: ["introduction", "conclusion"], help="How the headings begin, for --method sections."
    )
    keyword_file: str = HfArg(default=str(KEYWORDS), help="Keywords. Default: some of machine-learning papers.")
    parameter_file: str | None = HfArg(
        default=None, help="Rows of number of sentences // 10, starting probability and number of samples."
    )
    seed: int = HfArg(default=0, help="Of the samples.")
    parser: str | None = HfArg(default=None, help="A .udpipe file. Default: the embedded English parser.")


def main(arguments: list[str] | None = None) -> None:
    """Runs the command."""
    (args,) = parse_arguments(ExtractArguments, arguments=arguments)
    parameters = None if args.parameter_file is None else read_parameters(args.parameter_file)
    extractor = Extractor(read_keywords(args.keyword_file), parameters, args.seed)
    sections = read_paper(args.paper_file)
    split_sections(sections, UDPipeParser(parser_path("en") if args.parser is None else args.parser))
    extracted = extractor.extract(sections, args.method, args.sections)
    Path(args.output_file).parent.mkdir(parents=True, exist_ok=True)
    Path(args.output_file).write_text("".join(f"{sentence}\n" for sentence in extracted), encoding="utf-8")
    num_sentences = sum(len(section.sentences) for section in sections)
    entropy = unigram_entropy(unigram_counts(extracted))
    print(f"{args.method}: {len(extracted)} of {num_sentences} sentences, entropy {entropy:.3f}")


if __name__ == "__main__":
    main()
