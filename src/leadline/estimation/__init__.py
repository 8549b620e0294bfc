"""Estimates of measures from few judgments: designs, guesses, estimators, and their intervals."""
