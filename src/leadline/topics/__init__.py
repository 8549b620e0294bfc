"""Topic models: LDA and polylingual LDA, inference, held-out perplexity, distances of topic distributions."""

from __future__ import annotations

from leadline.topics.distances import mates_first, nearest, similarities
from leadline.topics.fitting import fit
from leadline.topics.inference import Perplexity, Vectors, infer, perplexity
from leadline.topics.model import TopicModel, read_model
from leadline.topics.vectors import read_vectors, write_vectors

__all__ = [
    "Perplexity",
    "TopicModel",
    "Vectors",
    "fit",
    "infer",
    "mates_first",
    "nearest",
    "perplexity",
    "read_model",
    "read_vectors",
    "similarities",
    "write_vectors",
]
