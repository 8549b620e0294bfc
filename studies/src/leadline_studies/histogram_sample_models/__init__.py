"""Evaluation of retrieval models from a sample of documents."""
