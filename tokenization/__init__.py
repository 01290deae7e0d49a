"""Text to syntax columns; travels to the Hub beside every tokenizer.

- `universal_dependencies`: tag sets, their ids, `Parse`
- `wordpiece_alignment`: a parse and wordpieces to the five columns; labels of words and spans to wordpieces
- `udpipe_models`, `udpipe_parser`: UDPipe's model files; the default parser
- `parser_files`: the parser files of a checkpoint, saved and found again
- `tokenization_syntax`: what all syntax tokenizers share
- `tokenization_syntax_fast`, `tokenization_syntax_marian`: `SyntaxTokenizerFast`, `SyntaxMarianTokenizer`
"""
