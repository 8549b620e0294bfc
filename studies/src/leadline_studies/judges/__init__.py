"""Stability of the ranking of systems under a change of assessors."""
