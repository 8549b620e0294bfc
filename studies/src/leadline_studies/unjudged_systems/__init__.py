"""Ranking of systems without judgments."""
