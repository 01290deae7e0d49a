"""Data sets: text classification and GLUE, cross-lingual tasks, CoNLL-U files, agreement sentences; collation."""
