"""Quality gates: conditions that runs must meet against a baseline or a fixed value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, isnan, nan
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from leadline.comparison.baselines import BASELINE_MISSING, add_missing, lacked
from leadline.comparison.engine import doubtful, few_queries_texts
from leadline.comparison.pair_texts import (
    lacking_text,
    no_query,
    on_all,
    p_of_loss,
    queries_in_groups,
    signed,
)
from leadline.comparison.pairing import Pairs, Rules, check_intervals, check_judged, check_margin, in_groups
from leadline.data.arrays import Flags, Floats
from leadline.data.registry import only
from leadline.data.table import flagged, plain, range_of
from leadline.data.wording import counted, percent
from leadline.errors import NoIntervalError, UsageError, either, punctuated
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.results import Results
from leadline.stats import Alternative
from leadline.stats.moments import EQUAL, Groups, Means, means, totals
from leadline.stats.paired_tests import decided_by_sign, one_sign
from leadline.stats.power import detectable, outcomes

if TYPE_CHECKING:
    from leadline.comparison.comparison_result import Comparison

WORSE, NOT_WORSE, BELOW = "fail-if-worse", "require-not-worse", "fail-below"
FORMS = {
    WORSE: "MEASURE, or MEASURE:MARGIN with a margin of 0 or more, as in AP or AP:0.01",
    NOT_WORSE: "MEASURE:MARGIN with a margin above 0, as in AP:0.01",
    BELOW: "MEASURE=VALUE, as in AP=0.3",
}


class Condition(NamedTuple):
    """A condition on the runs: tolerated loss against the baseline, or for "fail-below" the minimum mean."""

    measure: str
    margin: float = 0.0
    kind: str = WORSE


@dataclass(frozen=True)
class Gate:
    """Outcome of a condition for one run; `baseline` is None for "fail-below", and where it is `skipped`.

    `difference` is the mean of the run minus that of the baseline, or minus the fixed value. `limit` is its
    one-sided confidence limit, the lower one or, if less is better, the upper one, and `p` the one-sided
    p-value of a loss beyond the margin or, for "require-not-worse", within it. `reason` says why the
    condition cannot be tested, which fails it. `detectable_difference` is the smallest margin with which an
    equally good run passes with the requested power.
    """

    run: str
    baseline: str | None
    condition: Condition
    difference: float
    failed: bool
    limit: float = nan
    p: float = nan
    queries: int = 0
    groups: int | None = None
    effective_groups: float | None = None
    reason: str = ""
    skipped: bool = False
    rising: bool = True
    unchanged: bool = False
    detectable_difference: float = nan
    rules: Rules | None = field(default=None, repr=False)

    @property
    def cannot_tell(self) -> bool:
        """Whether the condition cannot be tested, for example with too few queries."""
        return bool(self.reason)

    @property
    def outcome(self) -> str:
        """Outcome in a word or two: CANNOT TELL, FAILED or passed."""
        return "CANNOT TELL" if self.cannot_tell else "FAILED" if self.failed else "passed"

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as a dictionary."""
        below = self.condition.kind == BELOW
        return {
            "run": self.run,
            "baseline": self.baseline,
            "kind": self.condition.kind,
            "measure": self.condition.measure,
            "margin": None if below else self.condition.margin,
            "difference": plain(self.difference),
            "limit": plain(self.limit),
            "p": plain(self.p),
            "failed": self.failed,
            "cannot_tell": self.cannot_tell,
            "skipped": self.skipped,
        }

    def __str__(self) -> str:
        text = self._below() if self.condition.kind == BELOW else self._against()
        return punctuated(f"{self.outcome}: {text}")

    def _below(self) -> str:
        measure, value, _ = self.condition
        side = "below" if self.rising else "above"
        if self.cannot_tell:
            return f"whether mean {measure} of {self.run} is {side} {value:g}: {self.reason}"
        if not self.failed:
            side = f"not {side}"
        return f"mean {measure} of {self.run} is {self.difference + value:.4f}, {side} {value:g}"

    def _against(self) -> str:
        measure, margin, kind = self.condition
        if self.queries == 0:
            return no_query(self.run, str(self.baseline), measure)
        if self.unchanged:
            every = on_all(self._sample(), self.queries)
            return f"{self.run} and {self.baseline} have the same {measure} {every}"
        by = f" by more than {margin:g}" if margin else ""
        if kind == NOT_WORSE:
            by = f" by {margin:g} or more"
        worse = f"worse than {self.baseline}{by} on {measure}"
        if self.cannot_tell:
            claim = f"whether {self.run} is {worse}: {self.reason}"
        elif kind == NOT_WORSE:
            claim = f"{self.run} {'may be' if self.failed else 'is not'} {worse}"
        else:
            claim = f"{self.run} is {worse}" if self.failed else f"no evidence that {self.run} is {worse}"
        if isnan(self.difference):
            return claim
        return f"{claim}{'. The difference is' if self.cannot_tell else ':'} {self._numbers()}"

    def _sample(self) -> str:
        return queries_in_groups(self.queries, self.groups, self.effective_groups)

    def _numbers(self) -> str:
        text, (_, margin, kind) = signed(self.difference), self.condition
        if isfinite(self.limit) and self.rules is not None:
            side = "lower" if self.rising else "upper"
            level = percent(self.rules.confidence)
            text += f" (one-sided {level} {side} limit {signed(self.limit)})"
        if not isnan(self.p):
            text += f", {p_of_loss(self.p, margin, below=kind == NOT_WORSE)}"
        text += f", n = {self._sample()}"
        if 0 < self.detectable_difference < inf and self.rules is not None:
            text += (
                f". With {percent(self.rules.power)} power, an equally good run would pass at a margin of "
                f"{self.detectable_difference:.2g} or more"
            )
        return text


def condition_of(text: str, kind: str = WORSE) -> Condition:
    """Parse a condition: MEASURE[:MARGIN], MEASURE:MARGIN, or MEASURE=VALUE for "fail-below".

    >>> condition_of("nDCG@10:0.01")
    Condition(measure='nDCG@10', margin=0.01, kind='fail-if-worse')
    >>> condition_of("AP=0.3", "fail-below")
    Condition(measure='AP', margin=0.3, kind='fail-below')
    """
    mark = "=" if kind == BELOW else ":"
    measure, separator, written = text.rpartition(mark)
    named = text.strip("0123456789.-%") and "=" not in text.rpartition(")")[2]  # a margin alone names nothing
    if kind == WORSE and not separator and named:
        return Condition(text, 0.0, kind)
    try:
        number = float(written)
    except ValueError:
        number = nan
    valid = kind == BELOW or number > 0 or (kind == WORSE and number == 0)
    if not measure or measure.endswith((">", "<", "=")) or not isfinite(number) or not valid:
        raise UsageError(f"'{text}' is not a valid condition. Write {FORMS[kind]}.")
    return Condition(measure, number, kind)


def resolve_conditions(
    results: Results, wanted: Sequence[Condition], *, rel: float | None
) -> list[tuple[int, Condition]]:
    """Return conditions with the index of their measure and its canonical name."""
    located = []
    texts = list(map(str, results.measures))
    for condition in wanted:
        if condition.measure in texts and rel is None:
            located.append((texts.index(condition.measure), condition))
            continue
        chosen = profile_of(results.options.get("profile") or "leadline")  # estimates have none
        parsed = chosen.measures([condition.measure], rel=rel, documents=results.options.get("documents"))
        measure = only(condition.measure, parsed)
        located.append((results.measure_index(measure), condition._replace(measure=str(measure))))
    for index, condition in located:
        _refuse(results.measures[index], condition)
    return located


def refuse_without_baseline(conditions: Iterable[Condition], hint: str) -> None:
    """Raise UsageError for a condition that needs a baseline; `hint` says how to name one."""
    for condition in conditions:
        if condition.kind != BELOW:
            raise UsageError(f"--{condition.kind} {condition.measure} needs a baseline. {hint}")


def _refuse(measure: Any, condition: Condition) -> None:
    """Raise UsageError if every run meets a condition, or nobody said whether larger values are better."""
    if getattr(measure, "assumed", False):
        known = (f"--config scores.{way}_is_better={quote(str(measure))}" for way in ("higher", "lower"))
        raise UsageError(
            f"--{condition.kind} needs to know whether higher or lower {measure} values are better. "
            f"Pass {either(known)}."
        )
    if condition.kind != BELOW:
        check_margin(measure, condition.margin, f"{measure}:", "allows any loss")
        return
    low, high = (float(getattr(measure, name, nan)) for name in ("low", "high"))
    worst = low if measure.rising else high
    beyond, within = ("below", "above") if measure.rising else ("above", "below")
    if isfinite(worst) and (condition.margin <= worst if measure.rising else condition.margin >= worst):
        raise UsageError(
            f"'{measure}={condition.margin:g}' allows any value, because {measure} is never {beyond} "
            f"{worst:g}. Choose a value {within} {worst:g}."
        )


def untestable(
    results: Results,
    baselines: Sequence[str],
    conditions: Sequence[Condition],
    why: NoIntervalError,
    *,
    rel: float | None = None,
) -> list[Gate]:
    """Return the outcomes of conditions on runs that cannot be compared, each with its own reason."""
    found = []
    for index, one in resolve_conditions(results, conditions, rel=rel):
        try:
            check_intervals(results, [results.measures[index]])
            reason = str(why)
        except NoIntervalError as own:
            reason = str(own)
        found += [
            Gate(run, base, one, nan, failed=True, queries=1, reason=reason)
            for run in results.names
            if run not in baselines
            for base in ((None,) if one.kind == BELOW else baselines)
        ]
    return found


def gates_of(
    comparison: Comparison, conditions: Iterable[Condition], *, rel: float | None = None
) -> list[Gate]:
    """Test conditions on each run against each baseline, as the options of `compare` do.

    Each condition is tested separately and one-sided at level 1 - confidence, without correction.
    "fail-if-worse" fails if the test rejects the hypothesis that the run is worse by at most the margin; with
    k such tests the probability of a false alarm is at most k (1 - confidence). "require-not-worse" passes if
    the test rejects the hypothesis that the run is worse by the margin or more, and the one-sided limit is
    within the margin. All conditions must pass, so that no correction is needed (intersection-union test;
    Berger 1982). Conditions that cannot be tested fail. A run without any difference passes, unless every
    value is 0. `rel` is the minimum relevant grade of measures in conditions that do not set their own.

    >>> from leadline.comparison.compare import compare
    >>> qrels = {f"q{number}": {"d": 1} for number in range(6)}
    >>> good = {query: {"d": 1.0} for query in qrels}
    >>> bad = {query: {"x": 2.0, "d": 1.0} for query in qrels}
    >>> found = compare(qrels, {"new": bad, "old": good}, "RR", baseline="old")
    >>> [gate.failed for gate in gates_of(found, [condition_of("RR:0.1"), condition_of("RR=0.4", BELOW)])]
    [True, False]
    """
    wanted = list(conditions)
    if not comparison.baselines:
        hint = "Pass a run name or a file of saved values to `compare` as `baseline`."
        refuse_without_baseline(wanted, hint)
    results = comparison.results
    if set(results.names) <= set(comparison.baselines):
        raise UsageError(
            "every run is a baseline, so there is no run to check. Leave out one of the baselines."
        )
    found: list[Gate] = []
    for index, condition in resolve_conditions(results, wanted, rel=rel):
        if condition.kind == BELOW:
            found += thresholds(results, [(index, condition)], comparison.baselines)
        else:
            found += _compared(comparison, index, condition)
    return found


def thresholds(
    results: Results, conditions: Sequence[tuple[int, Condition]], baselines: Sequence[str] = ()
) -> list[Gate]:
    """Test whether the means of all runs except baselines reach fixed values."""
    check_judged(results)
    found = []
    for index, condition in conditions:
        rising = results.measures[index].rising
        for run, name in enumerate(results.names):
            if name in baselines:
                continue
            difference = float(results.means[run, index]) - condition.margin
            reason = _flattered(results, index, run)
            if isnan(difference):
                reason = f"{condition.measure} has no mean"
            reason = reason or _uncertain(results, run, index, condition)
            failed = bool(reason) or (difference < -EQUAL if rising else difference > EQUAL)
            found.append(Gate(name, None, condition, difference, failed=failed, rising=rising, reason=reason))
    return found


class Decided(NamedTuple):
    """A condition tested on columns of differences; arrays and reasons have one entry per column."""

    condition: Condition
    alpha: float
    p: Floats
    lower: Floats
    detectable_difference: Floats
    unchanged: Flags
    spread: Means
    reasons: list[str]

    @property
    def failed(self) -> Flags:
        """Flags of the columns that fail, also because they cannot be tested."""
        with np.errstate(invalid="ignore"):
            failed = self.p < self.alpha
            if self.condition.kind == NOT_WORSE:
                failed = ~(failed & (self.lower > -self.condition.margin))
        untestable = np.array([bool(reason) for reason in self.reasons], dtype=np.bool_)
        return ~self.unchanged & (untestable | failed)


def decided_on(better: Floats, condition: Condition, rules: Rules, groups: Groups | None = None) -> Decided:
    """Test a "fail-if-worse" or "require-not-worse" condition on columns of differences."""
    shifted = better + condition.margin
    shifted[np.abs(shifted) <= EQUAL] = 0.0  # a loss equal to the margin up to rounding
    alternative: Alternative = "less" if condition.kind == WORSE else "greater"
    p = rules.test.p_values(shifted, seed=rules.seed, alternative=alternative, groups=groups)
    spread = means(totals(better, groups))
    decided = decided_by_sign(shifted, groups)
    unchanged = outcomes(better).identical
    reasons = few_queries_texts(better, groups)
    detectable_difference = np.full(better.shape[1], nan)
    for column, units in enumerate(spread.clusters.astype(int).tolist()):
        if unchanged[column]:
            reasons[column] = ""
        elif not units:
            reasons[column] = "no query counts toward both means"
        elif not reasons[column]:
            least = one_sign if decided[column] else rules.test.smallest
            noun = ("group of queries", "groups of queries") if in_groups(groups) else ("query", "queries")
            number = counted(units, *noun)
            test = "Sign" if decided[column] else str(rules.test)
            reasons[column] = _reason(number, float(p[column]), least(units, alternative), test, rules.alpha)
        if condition.kind == NOT_WORSE and not reasons[column]:  # else no margin lets a run pass
            detectable_difference[column] = detectable(
                float(spread.deviation[column]),
                float(spread.effective[column]),
                power_wanted=rules.power,
                level=rules.confidence,
                one_sided=True,
            )
    lower = _lower(better, spread, rules, groups)
    return Decided(condition, rules.alpha, p, lower, detectable_difference, unchanged, spread, reasons)


def _doubted(result: Decided, doubt: Floats) -> Decided:
    """Return the outcomes where the differences may be lower and higher by a doubt: columns x 2."""
    mean, condition = result.spread.mean, result.condition
    lower = np.where(doubt[:, 0] > 0, mean - np.hypot(mean - result.lower, doubt[:, 0]), result.lower)
    against = doubt[:, 1 if condition.kind == WORSE else 0]  # rejection
    p = doubtful(result.p, np.abs(mean + condition.margin), against, result.alpha)
    return result._replace(p=p, lower=lower)


def _compared(comparison: Comparison, index: int, condition: Condition) -> list[Gate]:
    """Test one condition on each pair of a baseline and a run that is not a baseline."""
    results, pairs, rules = comparison.results, comparison.pairing, comparison.rules
    rising, groups = results.measures[index].rising, comparison.groups
    side = 1 if rising else -1
    better = side * comparison.parts[index].table  # positive if the run is better
    result = decided_on(better, condition, rules, groups)
    if comparison.doubt is not None:
        result = _doubted(result, comparison.doubt[index, :, ::side])
    highest = np.nanmax(results.averaged_values(index), axis=1, initial=0.0)[pairs.first]
    lowest = rising and getattr(results.measures[index], "low", nan) == 0  # a run of zeros cannot be worse
    unmeasured = f"{results.measures[index]} is 0 on every query for both runs"
    idle = [unmeasured * bool(lowest and same) for same in result.unchanged & (highest <= 0)]
    for reasons in (idle, _lacking(results, index, pairs), comparison.parts[index].reasons):
        for pair, reason in enumerate(reasons):
            if reason:
                result.reasons[pair], result.unchanged[pair] = reason, False
    withheld = np.flatnonzero([bool(reason) for reason in comparison.parts[index].reasons])
    for numbers in (result.p, result.lower, result.detectable_difference):
        numbers[withheld] = nan  # as there is no interval
    lowest, highest = range_of(results.measures[index])
    too_large = result.detectable_difference >= highest - lowest  # a margin that `check_margin` refuses
    result.detectable_difference[too_large] = nan
    failed = result.failed
    return [
        Gate(
            results.names[int(pairs.first[pair])],
            results.names[int(pairs.second[pair])],
            condition,
            float(result.spread.mean[pair]) * side,
            failed=bool(failed[pair]),
            limit=float(result.lower[pair]) * side,
            p=float(result.p[pair]),
            queries=int((~np.isnan(better[:, pair])).sum()),
            groups=int(result.spread.clusters[pair]) if in_groups(groups) else None,
            effective_groups=None if groups is None else float(result.spread.effective[pair]),
            reason=result.reasons[pair],
            rising=rising,
            unchanged=bool(result.unchanged[pair]),
            detectable_difference=float(result.detectable_difference[pair]),
            rules=rules,
        )
        for pair in range(len(pairs))
        if results.names[int(pairs.first[pair])] not in comparison.baselines
    ]


def _uncertain(results: Results, run: int, index: int, condition: Condition) -> str:
    """Return the reason for which an estimate does not show that a mean reaches a value, or nothing."""
    if results.unreliable:
        return results.unreliable
    if results.sampling is None:
        return ""
    measure = results.measures[index]
    one = results.sampling[run]["estimate"][str(measure)]
    low, high = one.get("these_low"), one.get("these_high")
    if low is None or high is None:
        why = f", because {one['reason']}" if one.get("reason") else ""
        return f"the estimate has no interval{why}" if one else ""
    surely, value, floor = low, float(results.means[run, index]), condition.margin
    if not measure.rising:
        surely, value, floor = -high, -value, -floor
    if surely >= floor or value < floor:
        return ""
    return (
        f"the estimate's interval for these queries, {low:.4f} to {high:.4f}, contains "
        f"{condition.margin:g}. Judge more documents (enlarge the pool with `leadline pool --from`)"
    )


def _given(results: Results, index: int) -> tuple[Flags, bool]:
    """Return which queries each run has, and whether missing values are dropped (then by measure)."""
    dropped = results.options.get("missing") == "drop"
    return ~np.isnan(results.values[:, :, index]) if dropped else results.present, dropped


def _flattered(results: Results, index: int, run: int) -> str:
    """Return the reason for which the queries that a run lacks may raise its mean; empty if they do not."""
    given, dropped = _given(results, index)
    missing, rising = ~given[run], results.measures[index].rising
    ways_out = add_missing(results)
    if dropped:
        missing &= given.any(axis=0)
    if dropped or results.options.get("queries") == "both":
        key = "missing=zero" if dropped else "queries=all"
        if rising:  # otherwise 0 is the best value
            ways_out += f", or count them as 0 with --config scores.{key}"
    else:
        missing &= results.averaged[run, :, index]
        if rising:  # those that count, count 0, the worst value
            missing &= np.isnan(results.averaged_values(index)[run])
    names = flagged(results.queries, missing)
    if not names:
        return ""
    lacks = lacking_text(names, results.names[run], values=lacked(results, results.measures[index]))
    return f"{lacks}. {ways_out}"


def _lacking(results: Results, index: int, pairs: Pairs) -> list[str]:
    """Return the reason for which queries that a run or its baseline lacks forbid a test, by pair."""
    given, dropped = _given(results, index)
    values, reasons = lacked(results, results.measures[index]), []
    for first, second in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
        in_mean = results.averaged[second, :, index]
        run = flagged(results.queries, (in_mean | dropped) & given[second] & ~given[first])
        baseline = flagged(results.queries, in_mean & ~given[second])
        if run and results.options.get("missing") != "zero":  # who says so states that they count 0
            lacks = lacking_text(run, results.names[first], values=values)
            reasons.append(f"{lacks}. {add_missing(results)}")
        elif baseline:
            alone = "missing=drop" if "missing" in results.options else "queries=both"
            way_out = f", or test only the queries of the baseline with --config scores.{alone}"
            if any(one.code == BASELINE_MISSING for one in results.warnings):
                way_out = " to the baseline run, and save the baseline again"
            lacks = lacking_text(baseline, results.names[second], values=values)
            reasons.append(f"{lacks}, scored 0. {add_missing(results)}{way_out}")
        else:
            reasons.append("")
    return reasons


def _lower(better: Floats, spread: Means, rules: Rules, groups: Groups | None) -> Floats:
    """Return the one-sided lower limit of each mean, by the sign test for equal differences."""
    low, _ = rules.limits(better, 1 - 2 * rules.alpha, groups)
    possible = np.array([one_sign(int(n), "greater") < rules.alpha for n in spread.clusters], dtype=np.bool_)
    return np.where(decided_by_sign(better, groups) & ~possible, -np.inf, low)


def _reason(units: str, p: float, smallest: float, test: str, alpha: float) -> str:
    """Return the reason for which enough queries cannot be tested; empty if they can."""
    if isnan(p):
        return "p is undefined"
    if smallest >= alpha:
        return f"with {units}, p ({test}) is at least {smallest:.3g}, so it cannot be below {alpha:.3g}"
    return ""
