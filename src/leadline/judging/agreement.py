"""Inter-assessor agreement on the same pairs of query and document, with intervals."""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from leadline.comparison.compare import compare
from leadline.data.arrays import Floats
from leadline.data.ids import Vocabulary
from leadline.data.table import NamedMeasure, RunInfo
from leadline.data.validation import check_flags, check_numbers, check_whole, check_word
from leadline.errors import InputError, UsageError, both
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.results import Results
from leadline.io import judgment_store
from leadline.io.judges import JudgesLike, read_judges
from leadline.io.judgment_store import Given, is_database
from leadline.io.read import QrelsLike
from leadline.io.read_paths import public
from leadline.judging.agreement_audit import (
    TOP,
    WITHIN,
    Audit,
    CoefficientEstimate,
    NeededJudgments,
    Ranking,
    audits_of,
    needed_judgments,
)
from leadline.judging.agreement_result import DEFAULT_MEASURES, Agreement, Judgments, ranked, warnings_of
from leadline.stats import checked_level, checked_seed
from leadline.stats.agreement_coefficients import (
    Coefficient,
    Cohen,
    Fleiss,
    Krippendorff,
    PairwiseAgreement,
    PercentAgreement,
    Scott,
    UnitGroups,
    coded,
    coincidences,
    drawn_of_all,
    jackknife_limits,
    supported,
    without_each,
)
from leadline.stats.moments import interval

MOST_GRADES = 100  # more are scores: a table of so many squared for every query fits no memory

__all__ = ["Agreement", "Judgments", "agreement"]


@public
def agreement(
    judges: JudgesLike | Judgments | QrelsLike | None = None,
    *others: QrelsLike,
    table: Sequence[float] = (),
    reference: bool = False,
    weights: str = "none",
    level: str = "nominal",
    rel: float | None = None,
    over: str = "all",
    resample: str = "auto",
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    runs: Any = None,
    measures: Sequence[str] | str = DEFAULT_MEASURES,
    top: int = TOP,
    within: float | None = None,
    used_the_judge: Sequence[str] | str = (),
    on_run: Callable[[int, int], None] | None = None,
) -> Agreement:
    """Measure inter-assessor agreement.

    Percent agreement, Scott's pi and Cohen's kappa (`weights`) are computed for every pair of judges, or with
    `reference` for the first judge and each other one, and averaged; Fleiss' kappa and Krippendorff's alpha
    (`level`) are computed over all judges. `judges` are files of qrels, `{name: qrels}`, or a file or frame
    with a column `judge` or one column per judge. Qrels one after the other, as in `agreement(a, b)`, are
    called "judge 1", "judge 2", ... Alternatively, `table` holds the cells of the contingency table of two
    judges, row by row.

    The units are the query-document pairs judged by all judges (`over="all"`) or by the two compared
    (`"two"`); alpha uses every pair judged by two or more. `rel` makes grades binary: relevant at that grade
    or above.

    Confidence intervals are over queries (`resample="queries"`), since judgments of a query are dependent:
    Student's t on the coefficients without each query in turn (jackknife), and none with fewer than ten
    queries. `resample="pairs"`, and `table`, give percentiles of `draws` bootstrap resamples of pairs, which
    apply to these queries only. There is none with disagreement or agreement in fewer than five queries (or
    pairs), and none of coefficients corrected for chance with agreement in fewer than five on each of two
    grades. `draws=0` gives no intervals.
    With `runs`, the effect of the choice of judge on the ranking of systems is computed, by `measures`. With
    two judges, or `reference`, the other judges are audited by the first, as if it were the truth: the bias
    of every run, the rank correlation of all runs and of the `top` best, and the runs that a judge favors.
    Values by a judge alone have no interval, since no interval covers the error of the judge. `needed` has
    the number of queries and judgments for a half-width of kappa of `within` (default 0.05, with `runs`).
    `used_the_judge` names the runs that were made with the audited judge: their common gain over the other
    runs, and the rank correlation of the others, show how circular the labels are.

    Of the store of a judging page, `forms` compares the forms of presentation, such as static with dynamic
    summaries, by seconds, by texts opened and by agreement, over the queries judged in all forms.

    Raises
    ------
    UsageError
        If the input is not a set of two or more judges, or an option does not apply to it.
    InputError
        If a file cannot be read, or no pair was judged by the judges compared.

    Examples
    --------
    >>> found = agreement(table=[300, 20, 10, 70])
    >>> round(found["scott"].value, 4), round(found["cohen"].value, 4), found["scott"].acceptable
    (0.7759, 0.7761, True)
    """
    check_flags(reference=reference)
    check_word(("all", "two"), over=over)
    check_word(("auto", "queries", "pairs"), resample=resample)
    check_whole(0, draws=draws)
    check_whole(2, top=top)
    given = {"confidence": confidence, "rel": rel, "within": within}
    check_numbers(**{name: value for name, value in given.items() if value is not None})
    checked_level(confidence)
    checked_seed(seed)
    of_runs = {"--measure": measures != DEFAULT_MEASURES, "--config agreement.top": top != TOP}
    both(of_runs, {"--runs": runs})
    if within is not None and not within > 0:
        raise UsageError(f"`--config agreement.within` must be a half-width above 0, not {within:g}")
    used_the_judge = [used_the_judge] if isinstance(used_the_judge, str) else list(used_the_judge)
    cohen, krippendorff = Cohen(weights=weights), Krippendorff(level=level)
    kinds: list[Coefficient] = [PercentAgreement(), Scott(), cohen, krippendorff]
    everything = _given([judges, *others] if others else judges, table)
    judged = everything if rel is None else everything.binary(rel)
    judgments = _kept(judged, over)
    pairs = list(combinations(range(len(judged.names)), 2))
    if reference:
        pairs = [pair for pair in pairs if pair[0] == 0]
    if len(table) == 4 and rel is not None:
        raise UsageError(
            "--level does not apply to yes and no. Leave out --level, or pass 9, 16, ... counts."
        )
    if len(table) and resample == "queries":
        raise UsageError(
            "--config agreement.resample=queries does not apply to a table of counts, which has no "
            "queries. Use --config agreement.resample=pairs."
        )
    if resample == "auto":
        resample = "pairs" if len(table) else "queries"
    how = _How(resample, draws, confidence, seed)
    values, codes = coded(judgments.grades)
    if len(values) > MOST_GRADES:
        raise UsageError(
            f"there are {len(values):,} different grades, but at most {MOST_GRADES} are supported. Make them "
            "binary with `--level GRADE`."
        )
    between = PairwiseAgreement(codes, values, pairs, _groups(judgments, resample))
    ranking: Ranking | None = None
    audits: list[Audit] = []
    if runs is not None:
        ranking = ranked(_for_runs(everything, table), runs, measures=measures, rel=rel, on_run=on_run)
        if reference or len(judged.names) == 2:
            rules: dict[str, Any] = {"top": top, "confidence": confidence, "draws": draws, "seed": seed}
            audits = audits_of(ranking, pairs, used_the_judge, **rules)
    needed_too = "--runs, and either exactly two judges or --reference"
    if ranking is not None and all(values is None for values in ranking.by_query):
        needed_too = "a measure with an arithmetic mean over all queries, such as AP or nDCG@10"
    both({"--used-the-judge": used_the_judge, "--config agreement.top": top != TOP}, {needed_too: audits})
    if runs is not None and within is None:
        within = WITHIN
    if within is not None and len(table):
        raise UsageError(
            "`--config agreement.within` does not apply to a table of counts, which has no queries. Pass "
            "qrels instead, or leave out `--config agreement.within`."
        )
    needed: list[NeededJudgments] = []
    if within is not None:
        of_queries = between.tables(pairs, _groups(judgments, "queries"))
        half = {"within": within, "confidence": confidence}
        for (a, b), of_pair in zip(pairs, of_queries, strict=True):
            names = judgments.names[a], judgments.names[b]
            needed.append(needed_judgments(names, of_pair, cohen, values, **half))
    result = Agreement(
        judgments,
        pairs,
        values,
        reference=reference,
        ranking=ranking,
        audits=audits,
        needed=needed,
        between=_between(between, kinds, how),
        of_all=_of_all(judged, judgments, [Fleiss(), krippendorff], how),
        tables=between.tables(pairs)[:, 0],
        by_query=_by_query(between, kinds, judgments),
        options={
            "table": list(table) or None,
            "reference": judgments.names[0] if reference else None,
            "weights": weights,
            "level": level,
            "rel": rel,
            "over": over,
            "resample": resample,
            "draws": draws,
            "confidence": confidence,
            "seed": seed,
            "measures": list(ranking.measures) if ranking else None,
            "top": top,
            "within": within,
            "used_the_judge": used_the_judge or None,
        },
    )
    result.warnings = warnings_of(result, judged)
    paths = [path for path, _ in judgments.paths if os.path.isfile(path)]
    store = next(filter(is_database, paths), None)
    forms = None if store is None else forms_of(store)
    if forms is not None and forms.measures:
        result.forms = compare(forms, confidence=confidence)
    return result


class _How(NamedTuple):
    """How intervals are made."""

    resample: str
    draws: int
    confidence: float
    seed: int


def _given(judges: Any, table: Sequence[float]) -> Judgments:
    if (judges is None) == (not len(table)):
        found = "not both" if len(table) else "but neither was given"
        raise UsageError(f"agreement needs either judges (qrels) or --table (counts), {found}")
    if judges is None:
        return Judgments.of_counts(table)
    listed = hasattr(judges, "__iter__") or hasattr(judges, "columns")
    if not listed and not isinstance(judges, Judgments | os.PathLike):
        raise UsageError(f"judges must be qrels files or a dictionary {{name: qrels}}, not {judges!r}")
    judgments = judges if isinstance(judges, Judgments) else Judgments.of_judges(read_judges(judges))
    if len(judgments.names) < 2:
        alone = f" ({judgments.names[0]})" if judgments.names else ""
        raise UsageError(
            f"agreement needs at least two judges, not {len(judgments.names)}{alone}. Pass one "
            "qrels file per judge, a table with a `judge` column or with one column per judge, or FILE:* if "
            "the table also has a column of merged grades."
        )
    return judgments


def _kept(judgments: Judgments, over: str) -> Judgments:
    """Return the units: pairs judged by all judges, or by any two."""
    shared = (~np.isnan(judgments.grades)).sum(axis=1) > 1
    chosen = judgments.by_all if over == "all" else shared
    if not chosen.any():
        several = over == "all" and len(judgments.names) > 2
        others = several and shared.any()
        hint = " To use pairs judged by any two judges, add --config agreement.over=two." if others else ""
        raise InputError(
            f"no query-document pair was judged by {f'all {len(judgments.names)}' if several else 'two'} "
            "judges",
            hint=f"Check that all judges use the same query and document ids.{hint}",
        )
    return judgments.keep(chosen)


def _groups(judgments: Judgments, resample: str) -> UnitGroups:
    if resample == "pairs":
        return UnitGroups(np.arange(len(judgments)), len(judgments))
    codes, of_unit = np.unique(judgments.query, return_inverse=True)
    return UnitGroups(of_unit.astype(np.int64), len(codes))


def _between(
    between: PairwiseAgreement, kinds: Sequence[Coefficient], how: _How
) -> dict[str, tuple[CoefficientEstimate, list[CoefficientEstimate]]]:
    """Return, by coefficient, the mean over pairs of judges and the value of each pair."""
    over_queries = how.resample == "queries" and how.draws > 0
    replicates = between.left_out(kinds) if over_queries else between.drawn(kinds, how.draws, how.seed)
    counts = between.tables(between.pairs).sum(axis=(1, 2, 3)).astype(int).tolist()
    estimates = {}
    for coefficient, again in zip(kinds, replicates, strict=True):
        values, corrected = between.values_of(coefficient)[:, 0], coefficient.chance_corrected
        mean, mean_again = _mean(values[None]), _mean(again)
        if how.draws:
            lacking = ~between.supported(coefficient)
            again[:, lacking] = np.nan
            mean_again[:] = np.nan if lacking.all() else mean_again
        least = -np.inf if corrected else 0.0
        each, (limits,) = (
            _limits(of, again_of, how, least=least)
            for of, again_of in ((values, again), (mean, mean_again[:, None]))
        )
        pairwise = [
            CoefficientEstimate(value, *limits_of, corrected=corrected, pairs=count)
            for value, limits_of, count in zip(values.tolist(), each, counts, strict=True)
        ]
        pairs = len(between.codes)
        whole = CoefficientEstimate(float(mean[0]), *limits, corrected=corrected, pairs=pairs)
        estimates[coefficient.key] = whole, pairwise
    return estimates


def _limits(
    values: Floats, replicates: Floats, how: _How, *, least: float = -np.inf
) -> list[tuple[float, float]]:
    """Return the limits of values, each with its replicates in a column: jackknife, or percentiles."""
    if how.resample == "queries":
        limits = jackknife_limits(values, replicates, level=how.confidence, least=least)
        return list(map(tuple, np.stack(limits, axis=1).tolist()))
    # Columns without undefined values are sorted together.
    whole = ~np.isnan(replicates).any(axis=0) & (len(replicates) > 0)
    found = np.full((2, len(values)), np.nan)
    if whole.any():
        levels = [(1 - how.confidence) / 2, (1 + how.confidence) / 2]
        found[:, whole] = np.quantile(np.ascontiguousarray(replicates[:, whole].T), levels, axis=1)
    for column in np.flatnonzero(~whole).tolist():
        found[:, column] = interval(replicates[:, column], how.confidence)
    return list(map(tuple, found.T.tolist()))


def _mean(values: Floats) -> Floats:
    """Return the mean of the defined values of every row; NaN if there are none."""
    defined = (~np.isnan(values)).sum(axis=1)
    with np.errstate(invalid="ignore"):
        means: Floats = np.nansum(values, axis=1) / np.where(defined, defined, np.nan)
    return means


def _of_all(
    everything: Judgments, judgments: Judgments, kinds: Sequence[Coefficient], how: _How
) -> dict[str, tuple[CoefficientEstimate, int]]:
    """Return coefficients of all judges, each with the number of query-document pairs used."""
    estimates = {}
    by_two = everything.keep((~np.isnan(everything.grades)).sum(axis=1) > 1)
    for coefficient in kinds:
        judged = by_two
        if not coefficient.allows_missing:
            judged = judgments
            if not judgments.by_all.all():  # it is for judges who all judged the same
                estimates[coefficient.key] = CoefficientEstimate(math.nan), 0
                continue
        values, codes = coded(judged.grades)
        value = coefficient.of_tables(coincidences(codes, len(values)), values)
        tables = coincidences(codes, len(values), *_groups(judged, how.resample)) if how.draws else None
        limits = math.nan, math.nan
        if tables is not None and supported(tables, coefficient):
            if how.resample == "queries":
                again = without_each(tables, coefficient, values)
            else:
                again = drawn_of_all(tables, values, coefficient, how.draws, how.seed)
            (limits,) = _limits(value, again[:, None], how)
        estimates[coefficient.key] = (
            CoefficientEstimate(float(value[0]), *limits, pairs=len(judged)),
            len(judged),
        )
    return estimates


def _by_query(
    between: PairwiseAgreement, kinds: Sequence[Coefficient], judgments: Judgments
) -> dict[str, Floats]:
    """Return, by coefficient, the mean over pairs of judges for every query."""
    if not len(judgments.queries):
        return {}
    groups = _groups(judgments, "queries")
    return {coefficient.key: _mean(between.values_of(coefficient, groups).T) for coefficient in kinds}


def _for_runs(judgments: Judgments, table: Sequence[float]) -> Judgments:
    """Return the pairs judged by all judges, for evaluating runs."""
    if len(table):
        raise UsageError(
            "runs cannot be evaluated with a table of counts, which has no documents. Pass qrels instead."
        )
    for sample in judgments.samples:
        refuse_sample(sample, ["the evaluation of the runs"])
    judged = judgments.keep(judgments.by_all)
    if not len(judged):
        raise InputError(
            "the runs cannot be evaluated, because no query-document pair was judged by all judges",
            hint="Leave out the runs, or some of the judges.",
        )
    return judged


MEASURES = (
    NamedMeasure("seconds", rising=False, low=0),
    NamedMeasure("opened", rising=False, low=0, high=1),
    NamedMeasure("agreement", low=0, high=1),
)


def forms_of(store: str) -> Results | None:
    """Return per-query values with the forms of presentation as runs; None with fewer than two forms.

    `seconds` is the median time per judgment, `opened` the share of judgments for which the full text was on
    the screen, `agreement` the share of other judges of the same pair, who may have seen it in any form, with
    the same grade. A mean is over the queries that were judged in every form.
    """
    rows = judgment_store.read(store).given
    cells: dict[tuple[str, str], list[Given]] = {}
    grades: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        grades.setdefault(row.judgment[:2], []).append(row.judgment.grade)
        if row.form:
            cells.setdefault((row.form, row.judgment.query), []).append(row)
    forms = sorted({form for form, _ in cells})
    queries = Vocabulary.of_bytes(dict.fromkeys(row.judgment.query.encode() for row in rows))
    if len(forms) < 2:
        return None
    values = np.array(
        [[_values(cells.get((form, query), ()), grades) for query in queries] for form in forms]
    )
    given = ~np.isnan(values).any(axis=0)
    kept = [index for index in range(len(MEASURES)) if given[:, index].any()]
    averaged = np.broadcast_to(given[:, kept], (len(forms), len(queries), len(kept)))
    return Results(
        list(map(RunInfo, forms)),
        queries,
        [MEASURES[index] for index in kept],
        np.nan_to_num(values[:, :, kept]),
        averaged.copy(),
    )


def _values(rows: Sequence[Given], grades: dict[tuple[str, str], list[float]]) -> list[float]:
    """Return seconds, opened and agreement of the judgments in one form for one query; NaN without any."""
    seconds = [row.seconds for row in rows if row.seconds is not None]
    same = others = 0
    for row in rows:
        given = grades[row.judgment[:2]]
        same += given.count(row.judgment.grade) - 1
        others += len(given) - 1
    return [
        statistics.median(seconds) if seconds else np.nan,
        sum(row.opened for row in rows) / len(rows) if rows else np.nan,
        same / others if others else np.nan,
    ]
