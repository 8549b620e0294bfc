"""Audit of labels by a reference, from per-query values that were computed with both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.table import Column, ResultWarning, Table, columns_of, raised
from leadline.data.validation import check_numbers, check_whole
from leadline.data.wording import counted, first_few, listed, percent
from leadline.data.wording import queries as queries_of
from leadline.errors import InputError, UsageError
from leadline.evaluation.results import Results
from leadline.io.read_paths import public
from leadline.judging.agreement_audit import TOP, Audit, Ranking, audits_of, ranking_dict
from leadline.judging.agreement_columns import audit_rows, audit_tables, ranking_table
from leadline.judging.agreement_result import noisy_audits
from leadline.result import Make, Result
from leadline.stats import checked_level, checked_seed

MEANS = ("mean", "defined")  # averages that are arithmetic means over queries


@dataclass(repr=False, eq=False)
class ScoreAudit(Result):
    """What the labels of one or more judges do to measures of runs, by values of a reference.

    There are no coefficients of agreement, which need the labels themselves.

    Attributes
    ----------
    judges : list of str
        Names of the reference and of the others.
    queries : list of str
        Queries with values by all of them.
    ranking : Ranking
        Means and values of the runs by each judge.
    audits : list of Audit
        Comparison of each judge with the reference by each measure.
    """

    judges: list[str]
    queries: list[str]
    ranking: Ranking
    audits: list[Audit]

    @property
    def names(self) -> list[str]:
        """Names of the runs."""
        return self.ranking.systems

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Indices of the reference and each other judge."""
        return [(0, judge) for judge in range(1, len(self.judges))]

    def _figure(self) -> Make:
        """Draw the means of the runs by the labels over those by the reference, and the runs that swap."""
        from leadline.charts import COLUMN
        from leadline.charts.association_plots import association, with_limits

        if len(self.audits) > 1:
            several = first_few([f"{one.measure} for {one.judge}" for one in self.audits])
            raise UsageError(
                f"a figure shows one judge and one measure, but the audit has {len(self.audits)} "
                f"combinations ({several}). Audit one judge with one measure."
            )
        (found,) = self.audits
        level = percent(float(self.options["confidence"]))
        words = (("Kendall's tau-b", found.taus.kendall), ("tau-AP", found.taus.tau_ap))
        return lambda width: association(
            [run.reference for run in found.runs],
            [run.labels for run in found.runs],
            self.names,
            across=f"{found.measure} ({found.reference})",
            up=f"{found.measure} ({found.judge})",
            coefficients={
                name: with_limits(value, [("queries", low, high)], level)
                for name, (value, low, high) in words
            },
            width=width or COLUMN,
        )

    def __repr__(self) -> str:
        judges = f"{counted(len(self.judges) - 1, 'judge')} compared with {self.judges[0]}"
        return f"ScoreAudit({judges}, {counted(len(self.names), 'run')}, {', '.join(self.ranking.measures)})"

    def _columns(self) -> list[Column]:
        names = ("coefficient", "a", "b", "measure", "run", "value", "low", "high")
        rows = [row for audit in self.audits for row in audit_rows(audit)]
        return columns_of(names, [[row[name] for name in names] for row in rows])

    def _tables(self) -> list[Table]:
        changed = ranking_table(self.ranking, self.pairs)
        judged = counted(len(self.pairs), "judge")
        what = f"{counted(len(self.names), 'run')}, {queries_of(len(self.queries))}"
        changed.title = f"scores from the labels of {judged}, compared with {self.judges[0]}: {what}"
        sheets = [changed, *audit_tables(self)]
        sheets[-1].notes.append(
            "For kappa and other coefficients, pass the labels themselves to `leadline agreement`."
        )
        sheets[-1].notes += map(str, self.warnings)
        return sheets

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data; None is undefined."""
        return {
            "judges": self.judges,
            "reference": self.judges[0],
            "queries": self.queries,
            "ranking": ranking_dict(self.ranking, self.pairs),
            "audit": [each.to_dict() for each in self.audits],
        }


class _Values(NamedTuple):
    """A measure by all judges: judges x queries x runs, and the queries, by place."""

    name: str
    rising: bool
    values: Floats
    queries: list[int]


@public
def audit_scores(
    judges: Mapping[str, Results],
    *,
    top: int = TOP,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    used_the_judge: Sequence[str] | str = (),
) -> ScoreAudit:
    """Compare values of runs by the labels of one or more judges with those by a reference.

    The audit of `agreement(..., runs=...)` for those who have the values of the queries and not the
    labels: the bias of every run, the rank correlation of all runs and of the `top` best, the runs that the
    labels favor, and the pairs of runs in opposite order. There is no kappa: it needs the labels.

    Parameters
    ----------
    judges : mapping of str to Results
        Results by name of the judge, such as those of `read_scores`; the first is the reference. Runs,
        queries and measures that not all of them have are left out, and counted in `warnings`. Results of a
        single measure each are compared whatever their measures are called.
    top : int, default 10
        Number of runs, the best by the reference, of which the order is compared separately.
    draws : int, default 1000
        Number of resamples for the intervals of rank correlations; 0: none.
    confidence : float, default 0.95
        Confidence level of the intervals.
    seed : int, default 0
        Seed of the resamples and sign patterns.
    used_the_judge : sequence of str or str
        Names of the runs that were made with an audited judge.

    Returns
    -------
    ScoreAudit
        An audit for every judge and measure.

    Raises
    ------
    UsageError
        If there are fewer than two judges, or a measure is not a mean over queries.
    InputError
        If they have no measure, no query or fewer than two runs in common.

    Examples
    --------
    >>> import leadline as ll
    >>> people = ll.read_scores({"a": {"q1": {"AP": 0.5}}, "b": {"q1": {"AP": 0.3}}})
    >>> machine = ll.read_scores({"a": {"q1": {"AP": 0.5}}, "b": {"q1": {"AP": 0.7}}})
    >>> found = ll.audit_scores({"people": people, "machine": machine})
    >>> found.audits[0].taus.kendall.value, found.audits[0].gainers()[0].name
    (-1.0, 'b')
    """
    used = [used_the_judge] if isinstance(used_the_judge, str) else used_the_judge
    check_whole(0, draws=draws)
    check_whole(2, top=top)
    check_numbers(confidence=confidence)
    checked_level(confidence)
    checked_seed(seed)
    if len(judges) < 2:
        raise UsageError(
            f"an audit needs at least two sets of scores (a reference and a judge), not {len(judges)}"
        )
    for judge, results in judges.items():
        if not isinstance(results, Results):
            raise UsageError(
                f"the scores of judge '{judge}' must be Results, not {type(results).__name__}. Read them "
                "with `read_scores`."
            )
        results.refuse_weights("a score audit")
    names, every = list(judges), list(judges.values())
    runs = [name for name in every[0].names if all(name in results.names for results in every[1:])]
    queries = [name for name in every[0].queries if all(name in results.queries for results in every[1:])]
    if len(runs) < 2 or not queries:
        have = f"{counted(len(runs), 'run')} and {counted(len(queries), 'query', 'queries')}"
        raise InputError(
            f"an audit needs at least two runs and one query in common, but {listed(names)} share {have}",
            hint="Check that the run names and query ids match.",
        )
    kept = [_values(measure, every, runs, queries) for measure in _measures(names, every)]
    compared = sorted({code for one in kept for code in one.queries})
    ranking = Ranking(
        names,
        [every[0].runs[every[0].names.index(name)] for name in runs],
        [one.name for one in kept],
        np.stack([one.values.mean(axis=1) for one in kept], axis=2),
        [one.values for one in kept],
        [one.rising for one in kept],
    )
    rules: dict[str, Any] = {"top": top, "draws": draws, "confidence": confidence, "seed": seed}
    audits = audits_of(ranking, [(0, judge) for judge in range(1, len(names))], used, **rules)
    warnings = [
        ResultWarning(notice.code, f"{judge}: {notice.message}", notice.count)
        for judge, results in judges.items()
        for notice in results.warnings
    ]
    warnings += [*_left_out(judges, runs, queries, kept), *noisy_audits(audits)]
    options = {"reference": names[0], "measures": ranking.measures, **rules}
    return ScoreAudit(
        names, [queries[code] for code in compared], ranking, audits, warnings=warnings, options=options
    )


def _measures(names: Sequence[str], every: Sequence[Results]) -> list[tuple[str, list[int]]]:
    """Return the measures that all judges have, each with its places in their results."""
    texts = [list(map(str, results.measures)) for results in every]
    common = [name for name in texts[0] if all(name in more for more in texts[1:])]
    if common:
        return [(name, [more.index(name) for more in texts]) for name in common]
    if all(len(more) == 1 for more in texts):
        return [(" / ".join(dict.fromkeys(more[0] for more in texts)), [0] * len(texts))]
    have = "; ".join(f"{name}: {', '.join(more)}" for name, more in zip(names, texts, strict=True))
    raise InputError(
        f"the judges have no measure in common ({have})",
        hint="Compute the same measures for all judges, or exactly one measure for each judge.",
    )


def _values(
    measure: tuple[str, list[int]], every: Sequence[Results], runs: Sequence[str], queries: Sequence[str]
) -> _Values:
    """Return the values of a measure where all runs have one by all judges."""
    name, places = measure
    kinds = [results.measures[place] for results, place in zip(every, places, strict=True)]
    for kind in kinds:
        if kind.average not in MEANS:
            raise UsageError(
                f"{kind} is not averaged arithmetically over queries. Use a measure that is, such as AP "
                "or nDCG@10."
            )
        if kind.rising != kinds[0].rising:
            raise UsageError(
                f"{kinds[0]} cannot be compared with {kind}, because higher is better only for "
                f"{kinds[0] if kinds[0].rising else kind}"
            )
    tables = []
    for results, place in zip(every, places, strict=True):
        row_of = {run: row for row, run in enumerate(results.names)}
        column_of = {query: column for column, query in enumerate(results.queries)}
        rows, columns = [row_of[run] for run in runs], [column_of[query] for query in queries]
        tables.append(results.averaged_values(place)[np.ix_(rows, columns)].T)
    values = np.stack(tables)
    whole = np.flatnonzero(~np.isnan(values).any(axis=(0, 2)))
    if not len(whole):
        raise InputError(f"no query has a value of {name} for every run and judge")
    return _Values(name, kinds[0].rising, values[:, whole], whole.tolist())


def _left_out(
    judges: Mapping[str, Results], runs: Sequence[str], queries: Sequence[str], kept: Sequence[_Values]
) -> list[ResultWarning]:
    """Return warnings about runs, queries and measures that not all judges have."""
    warnings = []
    every = list(judges.values())
    found: list[tuple[str, str, Sequence[str], list[Sequence[str]]]] = [
        ("run", "runs", runs, [results.names for results in every]),
        ("query", "queries", queries, [list(results.queries) for results in every]),
    ]
    if any(len(results.measures) > 1 for results in every):
        measures = [list(map(str, results.measures)) for results in every]
        found.append(("measure", "measures", [one.name for one in kept], [*measures]))
    for one, several, common, each in found:
        alone = sorted(set().union(*each) - set(common))
        what = f"{counted(len(alone), one, several)} without scores from all judges ({first_few(alone)})"
        warnings.append((f"{several}_left_out", f"left out {what}", len(alone)))
    for values in kept:
        lost = len(queries) - len(values.queries)
        message = f"left out {queries_of(lost)} without a value of {values.name} for every run and judge"
        warnings.append(("undefined_queries", message, lost))
    return raised(*warnings)
