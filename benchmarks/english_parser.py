"""The recipe of the embedded English parser, and its scores.

python benchmarks/english_parser.py --treebank UD_English-EWT                       # scores of the embedded parser
python benchmarks/english_parser.py --treebank UD_English-EWT --train en.udpipe     # trains it: about an hour
"""

import argparse
from pathlib import Path

from ufal import udpipe

from syntax_bert import parser_path

TOKENIZER = "epochs=20;batch_size=50;learning_rate=0.005;dimension=24"
TAGGER = (
    "models=1;templates_1=tagger;guesser_suffix_rules_1=6;guesser_enrich_dictionary_1=4;guesser_prefixes_max_1=0;"
    "use_lemma_1=0;provide_lemma_1=0;use_xpostag_1=0;provide_xpostag_1=0;use_feats_1=0;provide_feats_1=0;iterations=10"
)
PARSER = (
    "iterations=10;embedding_upostag=20;embedding_feats=0;embedding_xpostag=0;embedding_form=32;"
    "embedding_form_mincount=4;embedding_lemma=0;embedding_deprel=20;learning_rate=0.02;learning_rate_final=0.001;"
    "l2=0.3;hidden_layer=128;batch_size=10;transition_system=projective;transition_oracle=dynamic;"
    "structured_interval=8"
)


def read_sentences(file: Path) -> udpipe.Sentences:
    """Reads a CoNLL-U file into UDPipe's own form."""
    reader, error = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError()
    reader.setText(file.read_text(encoding="utf-8"))
    sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    if error.occurred():
        raise ValueError(f"{file}: {error.message}")
    return sentences


def train(treebank: Path, output: Path) -> None:
    """Trains tokenizer, tagger and parser on the train set, held-out data being the dev set."""
    sets = [read_sentences(next(treebank.glob(f"*-ud-{name}.conllu"))) for name in ("train", "dev")]
    error = udpipe.ProcessingError()
    model = udpipe.Trainer.train("morphodita_parsito", *sets, TOKENIZER, TAGGER, PARSER, error)
    if error.occurred():
        raise ValueError(error.message)
    output.write_bytes(model)


def evaluate(model_path: str, test: Path) -> None:
    """Prints UPOS, UAS and LAS from gold tokens and from raw text."""
    model, error = udpipe.Model.load(model_path), udpipe.ProcessingError()
    text = test.read_text(encoding="utf-8")
    for tokens, kind in ((udpipe.Evaluator.NONE, "gold tokens"), (udpipe.Evaluator.DEFAULT, "raw text")):
        for beam_size in (5, 1):
            evaluator = udpipe.Evaluator(model, tokens, udpipe.Evaluator.DEFAULT, f"beam_search={beam_size}")
            print(f"{kind}, beam {beam_size}:\n{evaluator.evaluate(text, error)}")


def main() -> None:
    """Trains if asked to, and evaluates."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--treebank", type=Path, required=True, help="folder of the UD treebank")
    arguments.add_argument("--train", type=Path, metavar="FILE", help="train a model and write it here")
    options = arguments.parse_args()
    if options.train is not None:
        train(options.treebank, options.train)
    model = parser_path("en") if options.train is None else str(options.train)
    evaluate(model, next(options.treebank.glob("*-ud-test.conllu")))


if __name__ == "__main__":
    main()
