"""Topic models: LDA and polylingual LDA, inference, held-out perplexity, distances of topic distributions."""
