"""Tokens per second of the two LDA samplers, and perplexity of their models, as tables for docs/search.md.

    python benchmarks/samplers.py DATA [ROUNDS]

DATA holds folders with docs.jsonl, which may be compressed. leadline's sampler draws in one thread; tomotopy
in one and in two. The three run alternately, on the same tokens and priors (alpha 50/T, beta 0.01), and each
number is the best of the rounds: tokens drawn per second of processor time (all threads) and of real time.
With two threads every fit of tomotopy gives another model. Perplexity is that of every fifth document
(document completion) under models of the others, three seeds each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from leadline.io.texts import read_documents
from leadline.topics.corpus import Corpus, analyses_of, check_languages, corpus_of, read_columns
from leadline.topics.fit import Sampler, TomotopyChain, fit
from leadline.topics.infer import perplexity

COLLECTIONS = ("cranfield", "nfcorpus-test")
TOPICS = (50, 100, 250)
SWEEPS = 20
BETA = 0.01
Speed = tuple[float, float]


def corpus_in(path: Path) -> Corpus:
    """Return the tokens of a file of documents."""
    named = check_languages(())
    ids, texts = read_columns(str(path), named, None, "utf-8")
    return corpus_of(ids, texts, analyses_of(named, None))


def samplers(corpus: Corpus, topics: int) -> dict[str, Callable[[], object]]:
    """Return what runs `SWEEPS` sweeps, by name, after a first sweep that is not measured."""
    prior = np.full(topics, 50 / topics)
    own = Sampler(corpus, prior, BETA, np.random.default_rng(0))
    own.sweep()

    def sweeps() -> None:
        for _ in range(SWEEPS):
            own.sweep()

    found: dict[str, Callable[[], object]] = {"leadline": sweeps}
    for workers in (1, 2):
        model: Any = TomotopyChain(corpus, prior, BETA, 0).model
        model.train(1, workers=workers)
        found[f"tomotopy, {workers} thread{'s' * (workers > 1)}"] = _train(model, workers)
    return found


def _train(model: Any, workers: int) -> Callable[[], object]:
    return lambda: model.train(SWEEPS, workers=workers)


def print_perplexities(path: Path) -> None:
    """Print the perplexity of held-out documents by sampler and seed."""
    texts = {document.id: document.content for document in read_documents(str(path))}
    held_out = dict(list(texts.items())[::5])
    others = {name: text for name, text in texts.items() if name not in held_out}
    print("\n| sampler | perplexity, three seeds |")
    print("| --- | --- |")
    for sampler in ("leadline", "tomotopy"):
        values = [
            perplexity(fit(others, 50, sampler=sampler, seed=seed), held_out, estimator="completion").value
            for seed in range(3)
        ]
        print(f"| {sampler} | {', '.join(f'{value:.1f}' for value in values)} |", flush=True)


def main(folder: str, rounds: int = 5) -> None:
    """Print a row for each collection, number of topics and sampler, then the perplexities."""
    print("| collection | topics | sampler | tokens / s of processor | tokens / s |")
    print("| --- | ---: | --- | ---: | ---: |")
    for collection in COLLECTIONS:
        corpus = corpus_in(next((Path(folder) / collection).glob("docs.jsonl*")))
        for topics in TOPICS:
            sets = samplers(corpus, topics)
            best: dict[str, Speed] = dict.fromkeys(sets, (0.0, 0.0))
            for _ in range(rounds):
                for name, run in sets.items():
                    begin = time.process_time(), time.perf_counter()
                    run()
                    drawn = SWEEPS * len(corpus.word)
                    speed = drawn / (time.process_time() - begin[0]), drawn / (time.perf_counter() - begin[1])
                    best[name] = max(best[name][0], speed[0]), max(best[name][1], speed[1])
            for name, (processor, real) in best.items():
                place = f"{collection}, {len(corpus.word):,} tokens | {topics}"
                print(f"| {place} | {name} | {processor / 1e6:.2f} M | {real / 1e6:.2f} M |", flush=True)
    print_perplexities(Path(folder) / COLLECTIONS[0] / "docs.jsonl")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
