"""Latent Dirichlet allocation (LDA) and polylingual topic models, fitted by collapsed Gibbs sampling."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from leadline import kernels
from leadline.data.arrays import Codes, Floats
from leadline.data.optional import import_optional, require
from leadline.data.validation import check_whole, check_word
from leadline.errors import InputError, UsageError
from leadline.io.texts import TextsLike, name_of
from leadline.text import Analysis
from leadline.topics.model import Corpus, TopicModel, analyses_of, check_languages, corpus_of, read_columns


def gibbs_kernel() -> Any:
    """Return the Gibbs sampling kernel, compiled if available."""
    package = "leadline.kernels" if kernels.compiled is None else "leadline.kernels.compiled"
    try:
        return importlib.import_module(f"{package}.gibbs")
    except ImportError:
        return importlib.import_module("leadline.kernels.gibbs")


def topic_counts(rows: Codes, latent: Codes, shape: tuple[int, int]) -> Floats:
    """Return counts of rows x topics."""
    flat = rows.astype(np.int64) * shape[1] + latent
    return np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def draw_buffers(topics: int) -> tuple[Floats, Floats]:
    """Return buffers for the weights of a draw, padded to blocks of 16, and for the sums of blocks."""
    blocks = (topics + 15) // 16
    return np.zeros(16 * blocks), np.zeros(blocks)


class Sampler:
    """Collapsed Gibbs sampler: a sweep draws the topics of all tokens.

    The weight of topic t for a token of language l is (n_t(tuple, all languages) + alpha_t) (n_tw(l) + beta)
    / (n_t(l) + V_l beta), with counts that exclude the token.
    """

    def __init__(self, corpus: Corpus, alpha: Floats, beta: float, chance: np.random.Generator) -> None:
        topics = len(alpha)
        self.corpus = corpus
        self.alpha = alpha
        self.beta = beta
        self.chance = chance
        self.latent = chance.integers(0, topics, len(corpus.word)).astype(np.int32)
        languages, words = len(corpus.vocabularies), corpus.first[-1]
        self.by_document = topic_counts(corpus.document, self.latent, (len(corpus.ids), topics))
        self.by_word = topic_counts(corpus.word, self.latent, (words, topics))
        self.total = topic_counts(corpus.language, self.latent, (languages, topics))
        self.mass = np.array([max(len(vocabulary), 1) * beta for vocabulary in corpus.vocabularies])
        self.inverse = 1 / (self.total + self.mass[:, None])
        self.buffers = draw_buffers(topics)

    def train(self, sweeps: int, on_sweep: Callable[[int], None]) -> None:
        """Run the given number of sweeps, and report each."""
        for number in range(sweeps):
            self.sweep()
            on_sweep(number + 1)

    def sweep(self) -> None:
        """Draw the topic of every token once."""
        corpus = self.corpus
        gibbs_kernel().sweep(
            corpus.document,
            corpus.word,
            corpus.language,
            self.latent,
            self.chance.random(len(corpus.word)),
            self.alpha,
            np.full(len(self.mass), self.beta),
            self.mass,
            self.by_document,
            self.by_word,
            self.total,
            self.inverse,
            *self.buffers,
        )

    def phi(self) -> Floats:
        """Return the probability of every word under every topic, by language."""
        language = np.repeat(
            np.arange(len(self.mass)), [len(vocabulary) for vocabulary in self.corpus.vocabularies]
        )
        probabilities: Floats = (self.by_word + self.beta) * self.inverse[language]
        return probabilities

    def theta(self) -> Floats:
        """Return the topic distribution of every document."""
        probabilities: Floats = self.by_document + self.alpha
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def log_likelihood(self, phi: Floats) -> float:
        """Return the log-likelihood per token of the last draw."""
        return log_likelihood(self.corpus, self.theta(), phi)


def log_likelihood(corpus: Corpus, theta: Floats, phi: Floats) -> float:
    """Return the mean over tokens of ln sum_t theta_dt phi_tw; NaN where there is none."""
    if not len(corpus.word):
        return float("nan")
    total = 0.0
    block = 1 << 14  # small enough that both operands stay in the processor cache
    for begin in range(0, len(corpus.word), block):
        part = slice(begin, begin + block)
        distributions = theta[corpus.document[part]], phi[corpus.word[part]]
        total += float(np.log(np.einsum("ij,ij->i", *distributions)).sum())
    return total / len(corpus.word)


def _package() -> Any:
    """Import tomotopy, silencing a warning at import that would be mistaken for a missing package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_optional("tomotopy")


class TomotopyChain:
    """Chain of tomotopy for one language, with fixed priors and one worker for reproducibility."""

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
        for index in self.filled.tolist():
            words = corpus.word[ends[index] : ends[index + 1]].tolist()
            self.model.add_doc([names[code] for code in words])

    def train(self, sweeps: int, on_sweep: Callable[[int], None]) -> None:
        """Run the given number of sweeps."""
        self.model.train(sweeps, workers=1)  # one worker repeats exactly
        on_sweep(sweeps)

    def phi(self) -> Floats:
        """Return the probability of every word under every topic."""
        codes = [int(name) for name in self.model.used_vocabs]
        probabilities = np.zeros((self.corpus.first[-1], len(self.alpha)))
        for topic in range(len(self.alpha)):
            probabilities[codes, topic] = self.model.get_topic_word_dist(topic)
        return probabilities

    def log_likelihood(self, phi: Floats) -> float:
        """Return the log-likelihood per token of the last draw."""
        theta = np.full((len(self.corpus.ids), len(self.alpha)), 1 / len(self.alpha))
        theta[self.filled] = [document.get_topic_dist() for document in self.model.docs]
        return log_likelihood(self.corpus, theta, phi)


# Number of times the likelihood of a chain is computed; with tomotopy each takes the time of some sweeps.
LOOKS = {"leadline": 10, "tomotopy": 2}
OnSweep = Callable[[int, int], None]


class _Chain(NamedTuple):
    phi: Floats
    history: list[tuple[int, float]]


def fit(
    documents: TextsLike,
    topics: int,
    *,
    languages: Sequence[str] = (),
    analysis: str | Analysis | None = None,
    alpha: float | None = None,
    beta: float = 0.01,
    sweeps: int = 500,
    restarts: int = 1,
    seed: int = 0,
    sampler: str | None = None,
    id_column: str | None = None,
    encoding: str = "utf-8",
    on_sweep: OnSweep | None = None,
) -> TopicModel:
    """Fit a topic model: LDA, or with several languages a polylingual topic model.

    The same seed gives the same model.

    >>> model = fit({"a": "wing tail wing", "b": "heat flow"}, 2, sweeps=20)
    >>> model.topics, len(model.phi)
    (2, 4)
    """
    named = check_languages(languages)
    engine = sampler or ("tomotopy" if len(named) == 1 else "leadline")
    check_whole(0, seed=seed)
    _check(topics, sweeps, restarts, beta, alpha, engine, len(named))
    if engine == "tomotopy":
        require("LDA of one language")
    analyses = analyses_of(named, analysis)
    ids, texts = read_columns(documents, named, id_column, encoding)
    corpus = corpus_of(ids, texts, analyses)
    if not len(corpus.word):
        raise InputError(
            "the documents have no terms",
            path=name_of(documents),
            hint="Check that they have text, and words that the text analysis keeps.",
        )
    prior = np.full(topics, 50 / topics if alpha is None else alpha)
    chains = [
        _run(corpus, prior, beta, sweeps, (seed, restart), engine, _shifted(on_sweep, restart, restarts))
        for restart in range(restarts)
    ]
    best = max(range(restarts), key=lambda restart: (chains[restart].history[-1][1], -restart))
    facts: dict[str, Any] = {
        "seed": seed,
        "sweeps": sweeps,
        "beta": beta,
        "sampler": engine,
        "kept": best,
        "restarts": [chain.history[-1][1] for chain in chains],
        "history": chains[best].history,
        "documents": len(ids),
        "tokens": len(corpus.word),
        "empty": corpus.empty,
    }
    return TopicModel(named, analyses, corpus.vocabularies, chains[best].phi, prior, facts)


def _check(
    topics: int, sweeps: int, restarts: int, beta: float, alpha: float | None, engine: str, languages: int
) -> None:
    check_whole(1, topics=topics, sweeps=sweeps, restarts=restarts)
    for name, prior in (("beta", beta), ("alpha", alpha)):
        if prior is not None and not prior > 0:
            raise UsageError(f"{name} must be above 0, not {prior}")
    check_word(("tomotopy", "leadline"), sampler=engine)
    if engine == "tomotopy" and languages > 1:
        raise UsageError("sampler='tomotopy' does not support several languages. Use sampler='leadline'.")


def _shifted(on_sweep: OnSweep | None, restart: int, restarts: int) -> OnSweep:
    """Shift the sweep count of a restart by those of the previous ones."""
    return lambda done, total: on_sweep and on_sweep(restart * total + done, restarts * total)


def _run(
    corpus: Corpus,
    alpha: Floats,
    beta: float,
    sweeps: int,
    seed: tuple[int, int],
    engine: str,
    on_sweep: OnSweep,
) -> _Chain:
    """Run one chain and record its likelihood at intervals."""
    count = LOOKS[engine]
    recorded = sorted({max(1, round(sweeps * step / count)) for step in range(1, count + 1)})
    history: list[tuple[int, float]] = []
    chain: Sampler | TomotopyChain
    if engine == "tomotopy":
        chain_seed = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
        chain = TomotopyChain(corpus, alpha, beta, chain_seed)
    else:
        chain = Sampler(corpus, alpha, beta, np.random.default_rng(seed))
    for begin, end in pairwise([0, *recorded]):
        chain.train(end - begin, lambda done, begin=begin: on_sweep(begin + done, sweeps))  # type: ignore[misc]
        phi = chain.phi()
        history.append((end, chain.log_likelihood(phi)))
    return _Chain(phi, history)
