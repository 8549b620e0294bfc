"""Short reports of conditions, for test runners: what was found, and which queries lost most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf, isfinite, isnan

import numpy as np

from leadline.comparison.compare import compare
from leadline.comparison.compared_pair import p_text, signed
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
from leadline.data.arrays import Floats
from leadline.data.validation import name_keywords
from leadline.data.wording import percent
from leadline.errors import UsageError
from leadline.evaluation.results import Results
from leadline.io.read_paths import public

LOST = 5  # queries that are listed
WIDTH = 12  # of the first column


def in_python(gate: Gate) -> Gate:
    """Return an outcome whose reason names keywords of `compare`."""
    reason = UsageError(gate.reason)
    name_keywords(reason, compare)
    return replace(gate, reason=reason.args[0])


def report_of(gate: Gate, results: Results) -> str:
    """Return a report of the outcome of a condition: one line, and the numbers below it."""
    gate = in_python(gate)
    index = results.measure_index(gate.condition.measure)
    values = results.averaged_values(index)
    run = values[results.names.index(gate.run)]
    other = None if gate.baseline is None else values[results.names.index(gate.baseline)]
    rows = [*_numbers(gate, results, index), *_queries(gate, results, run, other)]
    return "\n".join(
        [f"{gate.outcome}: {gate.claim}", *(f"  {name:<{WIDTH}}{text}" for name, text in rows if text)]
    )


def _numbers(gate: Gate, results: Results, index: int) -> list[tuple[str, str]]:
    if gate.condition.kind == BELOW:
        return _least(gate, results, index)
    names = (gate.run, str(gate.baseline))
    means = [float(results.means[results.names.index(name), index]) for name in names]
    rules, side = gate.rules, "lower" if gate.rising else "upper"
    rows = [
        ("means", f"{gate.run} {means[0]:.4f}, {gate.baseline} {means[1]:.4f}"),
        ("difference", "" if isnan(gate.difference) else signed(gate.difference)),
    ]
    if rules is not None and gate.tested:
        limit = f"one-sided {percent(rules.confidence)} {side} limit"
        needed = f"{rules.alpha:.3g} or more passes"
        if gate.condition.kind == NOT_WORSE:  # the limit decides
            bound = -gate.condition.margin if gate.rising else gate.condition.margin
            limit += f"; it must be {'above' if gate.rising else 'below'} {bound:g}"
            needed = f"below {rules.alpha:.3g} passes"
        p = p_text(gate.p).removeprefix("p ").removeprefix("= ")
        none = "none: no bound can be computed"
        rows += [
            ("limit", f"{signed(gate.limit)} ({limit})" if isfinite(gate.limit) else none),
            ("p", f"{p} ({rules.test}; H0: {gate.null}; {needed})"),
        ]
    rows += [("n", gate.sample), ("verdict", gate.outcome.lower()), ("reason", gate.reason)]
    if rules is not None and 0 < gate.detectable_difference < inf and gate.tested:
        margin, power = f"{gate.detectable_difference:.2g}", percent(rules.power)
        rows.append(("margin", f"at {margin} or more, an equally good run passes with {power} power"))
    return rows


def _least(gate: Gate, results: Results, index: int) -> list[tuple[str, str]]:
    limit = gate.condition.margin
    rows = [] if isnan(gate.difference) else [("mean", f"{gate.difference + limit:.4f}")]
    rows.append(("limit", f"the mean must be at {'least' if gate.rising else 'most'} {limit:g}"))
    if not isnan(gate.difference):
        rows.append(("difference", signed(gate.difference)))
    averaged = int((~np.isnan(results.averaged_values(index)[results.names.index(gate.run)])).sum())
    return [*rows, ("n", f"{averaged:,}"), ("verdict", gate.outcome.lower()), ("reason", gate.reason)]


def _queries(gate: Gate, results: Results, run: Floats, other: Floats | None) -> list[tuple[str, str]]:
    """Return the queries that lost most, or with the worst values; none for estimates: they are too rough."""
    if results.withheld is not None:
        return []
    side = 1.0 if gate.rising else -1.0
    gained = side * (run if other is None else run - other)
    order = np.argsort(np.nan_to_num(gained, nan=np.inf), kind="stable").tolist()
    places = [place for place in order if not isnan(gained[place]) and (other is None or gained[place] < 0)]
    if other is None:
        text = ", ".join(f"{results.queries[place]} {run[place]:.4f}" for place in places[:LOST])
        return [("worst", text)]
    texts = [
        f"{results.queries[place]} {signed(float(run[place] - other[place]))} "
        f"({other[place]:.4f} to {run[place]:.4f})"
        for place in places[:LOST]
    ]
    more = f", and {len(places) - LOST:,} more" if len(places) > LOST else ""
    return [("lost most", ", ".join(texts) + more)]


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
