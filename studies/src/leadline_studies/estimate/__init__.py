"""Bias and coverage of measures estimated from few judgments."""
