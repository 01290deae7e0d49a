"""Corpora of any size: read, parsed once in shards, and looked up again."""
