"""Data sets: local and GLUE text classification, CoNLL-U files, the demo's agreement sentences, collation."""
