"""Tests, intervals, corrections, correlation: what can be concluded from values of queries."""
