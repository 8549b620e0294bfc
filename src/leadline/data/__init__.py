"""Runs, judgments, their join, results, ids, and the registry of named things."""
