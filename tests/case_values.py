"""Values of measures on small queries: by the package, by an oracle, in many forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

import numpy as np

from leadline.data.judged_run import JudgedRun
from leadline.data.registry import Parameter
from leadline.io.objects import read_qrels, read_run
from leadline.measures import MEASURES, Measure
from oracles import Case
from oracles.diversity import SubtopicCase


def join(cases: Mapping[str, Case]) -> JudgedRun:
    """Join queries as the package does."""
    known = {query.encode(): {name.encode() for name in case.known} for query, case in cases.items()}
    qrels = read_qrels({query: case.grades for query, case in cases.items()}).with_known(known)
    qrels = qrels.with_one_subtopic()
    run = read_run({query: case.scores for query, case in cases.items() if case.scores})
    return JudgedRun.of_run(run, qrels, tops=2)


def values(measure: Measure, judged: JudgedRun) -> dict[str, float]:
    """Return the value of every query."""
    found = measure.values(judged)
    assert found.dtype == np.float64
    return dict(zip(judged.qrels.queries, found.tolist(), strict=True))


def value(measure: Measure, case: Case) -> float:
    """Return the value of one query alone."""
    return values(measure, join({"q": case}))["q"]


def expected(measure: Measure, case: Case | SubtopicCase) -> float:
    """Return what the oracle says."""
    chosen = {name: getattr(measure, name) for name in measure.parameters()}
    return float(oracle_of(type(measure))(case, **chosen))


def oracle_of(kind: type[Measure]) -> Callable[..., float]:
    """Return the slow twin of a measure: of its name, in the file of its family."""
    oracles = import_module(kind.__module__.replace("leadline.measures", "oracles"))
    found: Callable[..., float] = getattr(oracles, kind.__name__)
    return found


def undefined(value: float) -> bool:
    """Say whether a value is NaN."""
    return math.isnan(value)


def variants(kind: type[Measure]) -> list[Measure]:
    """Return a measure in many forms: each parameter in turn takes several values."""
    sample = MEASURES.parse(kind.example())
    found = {sample: None}
    at = kind.cutoff_name()
    bases = [sample] if at is None else [sample, sample.replace(**{at: list(others(kind, at))[1]})]
    for base in bases:
        for name in kind.parameters():
            for value in others(kind, name):
                found[base.replace(**{name: value})] = None
    return list(found)


def others(kind: type[Measure], name: str) -> Iterator[object]:
    """Return several values that a parameter may take."""
    parameter: Parameter = kind.parameters()[name]
    yield from (*parameter.options, *parameter.words)
    if parameter.options:
        return
    numbers = [1, 2, 3, 10] if parameter.type is int else [0.0, 0.35, 0.5, 1.0, 2.0]
    if name == "max_grade":  # smaller ones refuse the grades of the random lists
        numbers = [3, 4, 10]
    if name == "documents":  # FallOut refuses a collection smaller than the list
        numbers = [0, 20, 100]
    for number in numbers:
        try:
            yield parameter.read(number)
        except ValueError:
            continue
