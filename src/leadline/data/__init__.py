"""Runs, qrels, their join, results, ids, and the registry of named classes."""
