"""Scores of given pairs by any Python function: nothing is ranked, nothing is indexed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from leadline.arguments import check_whole
from leadline.errors import InputError, UsageError
from leadline.formats import QrelsLike, read_qrels
from leadline.histograms.certain import Certain, drawn_beside
from leadline.judged_runs import named_sources
from leadline.qrels import Qrels
from leadline.run import Run
from leadline.sampling.hashed import sampled_documents
from leadline.vocabulary import to_bytes, to_text

Scorer: TypeAlias = "Callable[[str, list[str]], ArrayLike]"


def scored(
    function: Scorer,
    qrels: QrelsLike,
    *,
    documents: Sequence[str] | None = None,
    sample: int | None = None,
    seed: int = 0,
    rel: float = 1.0,
    negative: str = "nonrelevant",
    name: str = "",
    certain: Certain | None = None,
) -> Run:
    """Score the relevant documents and some non-relevant ones with a function; give them as a run.

    `function(query, documents)` gives one score per document, larger is better; query and documents are ids.
    Non-relevant are the `documents` (of the collection) not judged relevant, or without them the judged
    ones; `sample` keeps those n of every query whose SHA-256 of seed, query and document is smallest: the
    same for every function. Queries without a relevant document are left out.

    >>> pairs = scored(lambda query, documents: map(len, documents), {"q1": {"d1": 1, "d200": 0}})
    >>> pairs.to_dict()
    {'q1': {'d200': 4.0, 'd1': 2.0}}
    """
    check_whole(0, seed=seed)
    table = read_qrels(qrels, negative=negative)
    pairs = pairs_to_score(table, documents, sample=sample, seed=seed, rel=rel, certain=certain)
    rows: list[tuple[bytes, bytes, float]] = []
    for query, wanted in pairs.items():
        values = _called(function, query, wanted)
        known = to_bytes(query)
        rows += [(known, to_bytes(one), value) for one, value in zip(wanted, values, strict=True)]
    return Run.of(rows, name=name or getattr(function, "__name__", "function").strip("<>"))


def pairs_to_score(
    qrels: Qrels, documents: Sequence[str] | None, *, sample: int | None = None,
    seed: int = 0, rel: float = 1.0, certain: Certain | None = None,
) -> dict[str, list[str]]:  # fmt: skip
    """Give by query its relevant documents and the sample of others: the pairs that `scored` scores.

    `certain` documents are part of the sample; the rest of it is drawn from the documents beside them.

    >>> table = read_qrels({"q1": {"d1": 1}})
    >>> pairs_to_score(table, ["d1", "d2", "d3"], sample=1)
    {'q1': ['d1', 'd3']}
    """
    check_whole(1, sample=sample)
    if documents is not None and (isinstance(documents, str) or not len(documents)):
        raise UsageError(f"documents={documents!r}; expected the ids of a collection, one or more")
    collection = None if documents is None else sorted({to_bytes(one) for one in documents})
    found = {}
    for code, query in enumerate(qrels.queries.names):
        wanted = _documents_of(qrels, code, collection, sample, seed, rel, certain)
        if wanted:
            found[to_text(query)] = [to_text(one) for one in wanted]
    if not found:
        raise InputError("no query has a relevant document", expected="at least one")
    return found


def _documents_of(
    qrels: Qrels, code: int, collection: Sequence[bytes] | None, sample: int | None, seed: int,
    rel: float, certain: Certain | None,
) -> list[bytes]:  # fmt: skip
    low, high = int(qrels.begin[code]), int(qrels.end[code])
    grades = dict(
        zip(
            qrels.documents.take(np.arange(low, high)), qrels.grades[low:high].tolist(), strict=True
        )
    )
    relevant = sorted(name for name, grade in grades.items() if grade >= rel)
    if not relevant:
        return []
    fixed = [] if certain is None else sorted(certain.documents[code].difference(relevant))
    known = {*relevant, *fixed}
    others = [
        name for name in (sorted(grades) if collection is None else collection) if name not in known
    ]
    drawn = drawn_beside(certain, sample)
    if drawn is not None:
        others = sampled_documents(qrels.queries.names[code], others, drawn, seed)
    return relevant + fixed + others


def _called(function: Scorer, query: str, documents: list[str]) -> list[float]:
    given: Any = function(query, documents)
    try:
        values = given if isinstance(given, (list, tuple, np.ndarray)) else list(given)
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(
            f"a function gave no numbers for query '{query}' but a {type(given).__name__}; expected "
            f"{len(documents)} scores, one for each document"
        ) from None
    if found.shape != (len(documents),):
        raise UsageError(
            f"a function gave scores of shape {found.shape} for query '{query}'; expected "
            f"{len(documents)}, one for each document"
        )
    scores: list[float] = found.tolist()
    return scores


def scored_runs(runs: Any, qrels: Qrels, **options: Any) -> Any:
    """Give the runs with every function among them called and made a run."""
    if not callable(runs) and not any(callable(one) for one in _each(runs)):
        return runs
    sources = [
        (name, scored(source, qrels, name=name or "", **options) if callable(source) else source)
        for name, source in named_sources(runs)
    ]
    return [source for _, source in sources] if sources[0][0] is None else dict(sources)


def _each(runs: Any) -> Sequence[Any]:
    if isinstance(runs, Mapping):
        return list(runs.values())
    return runs if isinstance(runs, (list, tuple)) else []
