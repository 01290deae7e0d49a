"""Corpora of any size: read, parsed once in shards, and looked up again.

| module | about |
|---|---|
| `parse_command`, `parse_corpus` | `syntax-bert parse`, and what it does, in Python |
| `documents` | rows of files and data sets |
| `batches`, `shards`, `shard_parser`, `shard_workers` | rows parsed and written together, in several processes |
| `corpus_folder`, `parse_columns` | what lies in the folder, and in a column of parses |
| `stored_parses` | the folder as a parser, for `--parses` |
| `datatrove_block` | the same work in pipelines of datatrove |
"""
