"""Short reports of conditions, for test runners: what was found, and which queries lost most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from leadline.comparison.compare import compare
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.gate import (
    BELOW,
    NOT_WORSE,
    WORSE,
    Gate,
    condition_of,
    gates_of,
    refuse_without_baseline,
    resolve_conditions,
    thresholds,
)
from leadline.comparison.pair_texts import signed
from leadline.data.validation import name_keywords
from leadline.errors import UsageError
from leadline.evaluation.results import Results
from leadline.io.read_paths import public

LOST = 5  # queries that are listed


def in_python(gate: Gate) -> Gate:
    """Return an outcome whose reason names keywords of `compare`."""
    reason = UsageError(gate.reason)
    name_keywords(reason, compare)
    return replace(gate, reason=reason.args[0])


def report_of(gate: Gate, results: Results) -> str:
    """Return a report of the outcome of a condition: one line, and the queries that lost most below it.

    For a fixed value these are the queries with the worst values. Estimates have none: they are too rough.
    """
    line = str(in_python(gate))
    if results.withheld is not None:
        return line
    values = results.averaged_values(results.measure_index(gate.condition.measure))
    run, side = values[results.names.index(gate.run)], 1.0 if gate.rising else -1.0
    other = None if gate.baseline is None else values[results.names.index(gate.baseline)]
    gained = side * (run if other is None else run - other)
    order = np.argsort(np.nan_to_num(gained, nan=np.inf), kind="stable")
    places = [place for place in order.tolist() if gained[place] < (np.inf if other is None else 0)]
    texts = [
        f"{results.queries[place]} {run[place]:.4f}"
        if other is None
        else f"{results.queries[place]} {signed(float(run[place] - other[place]))} "
        f"({other[place]:.4f} to {run[place]:.4f})"
        for place in places[:LOST]
    ]
    if not texts:
        return line
    more = f", and {len(places) - LOST:,} more" if len(places) > LOST else ""
    return f"{line}\n  {'worst' if other is None else 'lost most'}: {', '.join(texts)}{more}"


class Gates(list[Gate]):
    """Outcomes of conditions; true if none has failed, so that a test can assert it."""

    def __bool__(self) -> bool:
        return not any(outcome.failed for outcome in self)

    def __repr__(self) -> str:
        return "\n".join(map(str, self))


@public
def gate(
    comparison: Comparison | Results,
    *,
    fail_if_worse: str | Iterable[str] = (),
    require_not_worse: str | Iterable[str] = (),
    fail_below: str | Iterable[str] = (),
) -> Gates:
    """Test conditions on the runs of a comparison, as the options of `leadline compare` of these names do.

    Parameters
    ----------
    comparison : Comparison or Results
        Comparison with a baseline. If there is only `fail_below`, one without, or the results of `evaluate`.
    fail_if_worse : str or iterable of str, optional
        MEASURE or MEASURE:MARGIN: fails on evidence that the loss is larger than the margin.
    require_not_worse : str or iterable of str, optional
        MEASURE:MARGIN: fails unless there is evidence that the loss is smaller than the margin.
    fail_below : str or iterable of str, optional
        MEASURE=VALUE: fails if a mean is below the value.

    Returns
    -------
    list of Gate
        Outcomes by condition and run; `failed` is also True where a condition cannot be tested. The list is
        true if no condition has failed, as in `assert gate(comparison, fail_if_worse="nDCG@10")`.

    Raises
    ------
    UsageError
        If a condition is malformed or needs a baseline.

    Examples
    --------
    >>> from leadline.comparison.compare import compare
    >>> qrels = {f"q{n}": {"d": 1} for n in range(8)}
    >>> old, new = {q: ["d"] for q in qrels}, {q: ["x", "d"] for q in qrels}
    >>> comparison = compare(qrels, {"old": old, "new": new}, "RR", baseline="old")
    >>> [outcome.failed for outcome in gate(comparison, fail_if_worse="RR", fail_below="RR=0.4")]
    [True, False]
    >>> bool(gate(comparison.results, fail_below="RR=0.4"))
    True
    """
    given = {WORSE: fail_if_worse, NOT_WORSE: require_not_worse, BELOW: fail_below}
    listed = {kind: [texts] if isinstance(texts, str) else list(texts) for kind, texts in given.items()}
    wanted = [condition_of(text, kind) for kind, texts in listed.items() for text in texts]
    if not wanted:
        raise UsageError('no condition was given. Pass one, such as fail_below="AP=0.3".')
    if isinstance(comparison, Results):
        refuse_without_baseline(wanted, "Pass compare(results, baseline=NAME) in place of the results.")
        found = thresholds(comparison, resolve_conditions(comparison, wanted, rel=None))
    else:
        found = gates_of(comparison, wanted)
    return Gates(map(in_python, found))
