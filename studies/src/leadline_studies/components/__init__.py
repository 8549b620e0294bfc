"""Effects of stemming, stop words and weighting on retrieval quality."""
