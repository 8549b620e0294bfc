"""Bias and coverage of estimates from sampled candidates."""
