"""Correlation of query performance predictors with effectiveness."""
