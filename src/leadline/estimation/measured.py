"""Values of runs with any judgments: evaluated with all of them, or estimated from a drawn sample."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from leadline.data.reading import Cut, Reading, RunsOptions
from leadline.data.results import Results
from leadline.errors import UsageError
from leadline.evaluation.estimated_recall import is_drawn
from leadline.evaluation.evaluate import evaluate
from leadline.io.read import QrelsLike, RunLike
from leadline.measures import Measure

if TYPE_CHECKING:
    from leadline.estimation.estimate import EstimatedResults

DEFAULTS = {one.name: one.default for one in inspect.signature(evaluate).parameters.values()} | {
    one.name: one.default for kind in (Reading, Cut) for one in fields(kind)
}


def measured(
    qrels: QrelsLike,
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure | type[Measure]] | str | Measure | type[Measure] | None = None,
    *,
    pool: Any = None,
    machine: QrelsLike | None = None,
    rel: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    on_run: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Results:
    """Return the values of runs: estimates if the judgments are those of a drawn pool.

    Parameters
    ----------
    qrels, runs, measures, rel, on_run
        As in `evaluate`.
    pool : path, DrawnPool or other pool, optional
        The pool that the judgments are of, with the probabilities with which its pairs were drawn.
    machine : qrels, optional
        Labels by an automatic judge of the documents of a drawn pool, from which grades are predicted.
    confidence, seed
        Of the intervals of estimates.
    **options
        Options of `evaluate`. Estimates take those of reading runs only.

    Returns
    -------
    Results
        `EstimatedResults` with a drawn pool.

    Raises
    ------
    UsageError
        If options of complete judgments come with a drawn pool, or machine labels without one.

    Examples
    --------
    >>> from leadline.estimation.pool_designs import pool_for
    >>> runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d3", "d1"]}}
    >>> pool = pool_for(runs, "P@2", budget=3).pool
    >>> grades = {"q": {"d1": 1, "d2": 0, "d3": 0}}
    >>> measured(grades, runs, "P@2", pool=pool).means.tolist()
    [[0.5], [0.5]]
    """
    if not is_drawn(pool):
        if machine is not None:
            raise UsageError("machine labels without a drawn pool; expected --pool POOL too")
        return evaluate(qrels, runs, measures, pool=pool, rel=rel, on_run=on_run, **options)
    from leadline.estimation.estimate import estimate

    reading = {name: value for name, value in options.items() if name in RunsOptions.__annotations__}
    for name in options.keys() - reading.keys():
        if options[name] != DEFAULTS.get(name):
            raise UsageError(f"{name} with a drawn pool; expected options of reading runs only")
    return estimate(
        qrels,
        runs,  # type: ignore[arg-type]  # checked when it is read
        measures,  # type: ignore[arg-type]  # checked when it is parsed
        pool=pool,
        machine=machine,
        rel=rel,
        confidence=confidence,
        seed=seed,
        on_run=on_run,
        **reading,
    )


def estimates_of(results: Results) -> EstimatedResults | None:
    """Return results as estimates with their sampling errors; None if they are none, or were saved."""
    if results.withheld is None:
        return None
    from leadline.estimation.estimate import EstimatedResults  # slow to import

    return results if isinstance(results, EstimatedResults) else None
