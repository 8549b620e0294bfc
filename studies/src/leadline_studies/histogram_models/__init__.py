"""HSA and DO of retrieval models on one collection, and their cost."""
