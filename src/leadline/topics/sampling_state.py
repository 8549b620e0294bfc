"""The counts of a Gibbs sampler, and how it is run: compiled or not, the same draws."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from leadline import kernels
from leadline.arrays import Codes, Floats
from leadline.topics.corpus import Corpus


def loops() -> Any:
    """Give the kernel of Gibbs sampling, compiled where the others are."""
    package = "leadline.kernels" if kernels.compiled is None else "leadline.kernels.compiled"
    try:
        return importlib.import_module(f"{package}.gibbs")
    except ImportError:
        return importlib.import_module("leadline.kernels.gibbs")


def counted(rows: Codes, latent: Codes, shape: tuple[int, int]) -> Floats:
    """Count rows x topics."""
    flat = rows.astype(np.int64) * shape[1] + latent
    return np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def room_for(topics: int) -> tuple[Floats, Floats]:
    """Give the weights that a draw writes to, padded to whole blocks of 16, and the sums of blocks."""
    blocks = (topics + 15) // 16
    return np.zeros(16 * blocks), np.zeros(blocks)


class Sampler:
    """A chain: every token of a corpus has a topic, and a sweep draws all of them once more.

    A token of language l: (n_t(tuple, all languages) + alpha_t) (n_tw(l) + beta) / (n_t(l) + V_l beta), the
    counts without that token.
    """

    def __init__(
        self, corpus: Corpus, alpha: Floats, beta: float, chance: np.random.Generator
    ) -> None:
        topics = len(alpha)
        self.corpus = corpus
        self.alpha = alpha
        self.beta = beta
        self.chance = chance
        self.latent = chance.integers(0, topics, len(corpus.word)).astype(np.int32)
        languages, words = len(corpus.vocabularies), corpus.first[-1]
        self.by_document = counted(corpus.document, self.latent, (len(corpus.ids), topics))
        self.by_word = counted(corpus.word, self.latent, (words, topics))
        self.total = counted(corpus.language, self.latent, (languages, topics))
        self.mass = np.array([max(len(one), 1) * beta for one in corpus.vocabularies])
        self.inverse = 1 / (self.total + self.mass[:, None])
        self.room = room_for(topics)

    def sweep(self) -> None:
        """Draw the topic of every token once more."""
        corpus = self.corpus
        loops().sweep(
            corpus.document, corpus.word, corpus.language, self.latent,
            self.chance.random(len(corpus.word)), self.alpha, np.full(len(self.mass), self.beta),
            self.mass, self.by_document, self.by_word, self.total, self.inverse, *self.room,
        )  # fmt: skip

    def phi(self) -> Floats:
        """Give the probability of every word under every topic, by language."""
        language = np.repeat(
            np.arange(len(self.mass)), [len(one) for one in self.corpus.vocabularies]
        )
        found: Floats = (self.by_word + self.beta) * self.inverse[language]
        return found

    def theta(self) -> Floats:
        """Give the topics of every document."""
        found: Floats = self.by_document + self.alpha
        found /= found.sum(axis=1, keepdims=True)
        return found


def log_likelihood(corpus: Corpus, theta: Floats, phi: Floats) -> float:
    """Give the mean over tokens of ln sum_t theta_dt phi_tw; NaN where there is none."""
    if not len(corpus.word):
        return float("nan")
    total = 0.0
    step = 1 << 14  # few enough that both sides stay near the processor
    for begin in range(0, len(corpus.word), step):
        part = slice(begin, begin + step)
        both = theta[corpus.document[part]], phi[corpus.word[part]]
        total += float(np.log(np.einsum("ij,ij->i", *both)).sum())
    return total / len(corpus.word)
