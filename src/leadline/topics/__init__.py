"""Topic models: LDA and polylingual LDA, inference, held-out perplexity, distances of topic distributions."""

from __future__ import annotations

from leadline.topics.infer import (
    Perplexity,
    Vectors,
    count_top_mates,
    infer,
    nearest,
    perplexity,
    read_vectors,
    similarities,
    write_vectors,
)
from leadline.topics.model import TopicModel, fit, read_model

__all__ = [
    "Perplexity",
    "TopicModel",
    "Vectors",
    "count_top_mates",
    "fit",
    "infer",
    "nearest",
    "perplexity",
    "read_model",
    "read_vectors",
    "similarities",
    "write_vectors",
]
