"""Evaluation of submitted runs from a sample of documents."""
