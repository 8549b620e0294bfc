"""HSA and DO of topic models against perplexity and retrieval quality."""
