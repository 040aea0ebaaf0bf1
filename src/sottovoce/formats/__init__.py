"""Encodings of reports and aggregates: bytes, files and shards."""
