"""Where parsers come from: the embedded English model and CoNLL-U files."""
