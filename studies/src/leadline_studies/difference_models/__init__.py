"""Information Difference of retrieval models and of their parameters."""
