"""Fit LDA, or a polylingual topic model, by collapsed Gibbs sampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.arguments import check_whole
from leadline.arrays import Floats
from leadline.errors import InputError, UsageError
from leadline.formats.texts import TextsLike, name_of
from leadline.text import Analysis
from leadline.topics.corpus import Corpus, analyses_of, check_languages, corpus_of, read_columns
from leadline.topics.model import TopicModel
from leadline.topics.sampling_state import Sampler, log_likelihood
from leadline.topics.tomotopy_lda import TomotopyChain

# So often the likelihood of a chain is looked at; to look into tomotopy takes the time of some sweeps.
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
    """Fit a topic model; with several languages a polylingual one: topics per document, words per language.

    Documents of one language are what `read_documents` takes; `languages` name columns, one per language,
    whose texts in one document are translations or about the same. `alpha` is the prior per topic (default
    50 over the number of topics), `beta` that per word; neither is changed. Of `restarts` chains the one
    with the best likelihood is kept. `sampler` is `tomotopy` (one language, the default there) or
    `leadline`. The same seed gives the same model.

    >>> model = fit({"a": "wing tail wing", "b": "heat flow"}, 2, sweeps=20)
    >>> model.topics, len(model.phi)
    (2, 4)
    """
    named = check_languages(languages)
    engine = sampler or ("tomotopy" if len(named) == 1 else "leadline")
    check_whole(0, seed=seed)
    _check(topics, sweeps, restarts, beta, alpha, engine, len(named))
    analyses = analyses_of(named, analysis)
    ids, texts = read_columns(documents, named, id_column, encoding)
    corpus = corpus_of(ids, texts, analyses)
    if not len(corpus.word):
        raise InputError("holds no terms", expected="texts", path=name_of(documents))
    prior = np.full(topics, 50 / topics if alpha is None else alpha)
    chains = [
        _run(corpus, prior, beta, sweeps, (seed, turn), engine, _shifted(on_sweep, turn, restarts))
        for turn in range(restarts)
    ]
    best = max(range(restarts), key=lambda turn: (chains[turn].history[-1][1], -turn))
    facts: dict[str, Any] = {
        "seed": seed, "sweeps": sweeps, "beta": beta, "sampler": engine, "kept": best,
        "restarts": [chain.history[-1][1] for chain in chains], "history": chains[best].history,
        "documents": len(ids), "tokens": len(corpus.word), "empty": corpus.empty,
    }  # fmt: skip
    return TopicModel(named, analyses, corpus.vocabularies, chains[best].phi, prior, facts)


def _check(
    topics: int, sweeps: int, restarts: int, beta: float, alpha: float | None, engine: str, languages: int
) -> None:  # fmt: skip
    check_whole(1, topics=topics, sweeps=sweeps, restarts=restarts)
    for name, prior in (("beta", beta), ("alpha", alpha)):
        if prior is not None and not prior > 0:
            raise UsageError(f"{name}={prior}; expected more than 0")
    if engine not in ("tomotopy", "leadline"):
        raise UsageError(f"sampler={engine!r}; expected 'tomotopy' or 'leadline'")
    if engine == "tomotopy" and languages > 1:
        raise UsageError("sampler='tomotopy' with several languages; expected 'leadline'")


def _shifted(on_sweep: OnSweep | None, turn: int, restarts: int) -> OnSweep | None:
    """Count the sweeps of all restarts together."""
    if on_sweep is None:
        return None
    return lambda done, total: on_sweep(turn * total + done, restarts * total)


def _run(
    corpus: Corpus, alpha: Floats, beta: float, sweeps: int, seed: tuple[int, int], engine: str,
    on_sweep: OnSweep | None,
) -> _Chain:  # fmt: skip
    """Run one chain, looking at its likelihood now and then."""
    count = LOOKS[engine]
    looks = sorted({max(1, round(sweeps * step / count)) for step in range(1, count + 1)})
    history: list[tuple[int, float]] = []
    if engine == "tomotopy":
        own = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
        chain = TomotopyChain(corpus, alpha, beta, own)
    else:
        state = Sampler(corpus, alpha, beta, np.random.default_rng(seed))
    done = 0
    for look in looks:
        if engine == "tomotopy":
            chain.train(look - done)
            phi = chain.phi()
            history.append((look, chain.log_likelihood(phi)))
        else:
            for sweep in range(done, look):
                state.sweep()
                if on_sweep is not None:
                    on_sweep(sweep + 1, sweeps)
            phi = state.phi()
            history.append((look, log_likelihood(corpus, state.theta(), phi)))
        done = look
        if on_sweep is not None:
            on_sweep(done, sweeps)
    return _Chain(phi, history)
