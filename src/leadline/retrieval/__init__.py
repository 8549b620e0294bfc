"""Indexing and retrieval."""
