"""LDA by the collapsed Gibbs sampler of tomotopy: the one door to that package."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from leadline.arrays import Floats
from leadline.topics.corpus import Corpus
from leadline.topics.sampling_state import log_likelihood


def _package() -> Any:
    """Import tomotopy; a warning of its loading that is made an error would look like a missing file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import tomotopy
    return tomotopy


class TomotopyChain:
    """A chain of tomotopy for one language; its priors stay as given, one worker makes it repeatable."""

    def __init__(self, corpus: Corpus, alpha: Floats, beta: float, seed: int) -> None:
        self.corpus = corpus
        self.alpha = alpha
        self.model: Any = _package().LDAModel(
            k=len(alpha), alpha=float(alpha[0]), eta=beta, seed=seed % (1 << 63)
        )
        self.model.optim_interval = 0
        ends = np.searchsorted(corpus.document, np.arange(len(corpus.ids) + 1))
        self.filled = np.flatnonzero(np.diff(ends))
        names = [str(code) for code in range(corpus.first[-1])]
        for place in self.filled.tolist():
            words = corpus.word[ends[place] : ends[place + 1]].tolist()
            self.model.add_doc([names[code] for code in words])

    def train(self, sweeps: int) -> None:
        """Draw the topic of every token so many times more."""
        self.model.train(sweeps, workers=1)  # one worker repeats exactly

    def phi(self) -> Floats:
        """Give the probability of every word under every topic."""
        places = [int(name) for name in self.model.used_vocabs]
        found = np.zeros((self.corpus.first[-1], len(self.alpha)))
        for topic in range(len(self.alpha)):
            found[places, topic] = self.model.get_topic_word_dist(topic)
        return found

    def log_likelihood(self, phi: Floats) -> float:
        """Give the log-likelihood per token of the last draw."""
        theta = np.full((len(self.corpus.ids), len(self.alpha)), 1 / len(self.alpha))
        theta[self.filled] = [document.get_topic_dist() for document in self.model.docs]
        return log_likelihood(self.corpus, theta, phi)
