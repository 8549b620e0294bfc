"""Predictions of unjudged grades: how much narrower they make intervals."""
