"""Index and search a collection."""
