"""Evaluate runs against judgments."""
