"""Comparison of runs: differences in means with confidence intervals and significance tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from leadline.comparison.baselines import is_baseline_name, read_baseline, with_baseline
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.pairing import (
    Pairs,
    Rules,
    at_look,
    baselines_of,
    check_averages,
    check_judged,
    check_margin,
    pairs_of,
    units_of,
)
from leadline.data.reading import refuse_unknown
from leadline.errors import UsageError
from leadline.estimation.measured import measured
from leadline.evaluation.evaluate import TestedOptions
from leadline.evaluation.profiles import MeasuresLike, RunsLike, divided
from leadline.evaluation.results import Results
from leadline.io.objects import Run
from leadline.io.read import QrelsLike
from leadline.io.read_paths import public
from leadline.io.saved_results import is_saved_file
from leadline.measures import Measure
from leadline.stats import Correction, Interval, PairedTest, checked_groups

COMPARED = ("AP", "nDCG@10")  # default measures


@public
def compare(
    qrels: QrelsLike | Results,
    *runs_and_measures: RunsLike | MeasuresLike | None,
    runs: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    baseline: str | os.PathLike[str] | Sequence[str] | None = None,
    test: str | PairedTest = "T",
    correction: str | Correction = "Holm",
    family: str = "measure",
    interval: str | Interval | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    power: float = 0.8,
    smallest: float | None = None,
    query_group: str | Mapping[str, object] | None = None,
    machine: QrelsLike | None = None,
    seed: int = 0,
    **options: Unpack[TestedOptions],
) -> Comparison:
    """Compare runs: differences in means with confidence intervals and significance tests.

    Parameters
    ----------
    qrels, *runs_and_measures, runs, measures
        As in `evaluate`: `compare(qrels, old, new, "AP")`. The first measure is the primary one. Each run
        must retrieve at least one judged document. Or `Results` alone, as in `compare(results, "AP")`: their
        runs are compared by their values, by default by all their measures.
    baseline : str or sequence of str, optional
        Runs with which all others are compared; by default each run is compared with every earlier one.
        Differences are those of a run minus the baseline, or minus the earlier run: `compare(qrels, old,
        new)` answers whether new is better. Or the path of saved values (`write_baseline`), with whose only
        run every run is compared, or of several with the one of the same name; by default by their measures.
    test : str, default "T"
        Paired test; p-values are two-sided.
    correction : str, default "Holm"
        Correction for multiple comparisons. "MaxT" (step-down max-t randomization test) and "Tukey"
        (randomized Tukey HSD, over the queries of all runs) test all pairs jointly.
    family : {"measure", "all"}
        Family of tests: the pairs of one measure, or of all measures.
    interval : str, optional
        Confidence interval; by default the inverted test for Randomisation with up to 100 pairs, otherwise
        Student's t.
    confidence : float, default 0.95
        Confidence level; the significance level is 1 - confidence.
    margin : float, optional
        Equivalence margin in units of the measure; adds an equivalence test (two one-sided tests).
    power : float, default 0.8
        Power for which `detectable` and `needed` are computed.
    smallest : float, optional
        Smallest difference of interest, in units of the measure; adds the number of queries needed to detect
        it.
    query_group : str or mapping, optional
        Groups of dependent queries: FILE:COLUMN (the first column is the query id), or `{query: group}`.
    machine : qrels, optional
        Labels by an automatic judge, from which grades of the documents of a drawn pool are predicted; by
        default those that the pool names, and "none" to go without.
    seed : int, default 0
        Seed of the random number generator.
    **options
        Options of `evaluate`; none with results, whose values are known. With a pool that was drawn for
        measures (`pool`), the values are estimates: tests and intervals are over queries, and
        `Comparison.these` has the intervals for these queries over draws of judgments.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If no document of a run is judged.
    UsageError
        If options are invalid or contradict each other, results come with runs or options of `evaluate`,
        a value has no interval, or saved values are of other judgments, measures or options.

    Examples
    --------
    >>> qrels = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}}
    >>> a = {"q1": {"d": 1.0}, "q2": {"d": 1.0}, "q3": {"x": 2.0, "d": 1.0}}
    >>> b = {"q1": {"x": 2.0, "d": 1.0}, "q2": {"d": 1.0}, "q3": {"x": 2.0, "d": 1.0}}
    >>> pair = compare(qrels, {"b": b, "a": a}, "RR").pairs[0]
    >>> pair.a, pair.b, round(pair.difference, 4), round(pair.p, 4), pair.verdict
    ('a', 'b', 0.1667, 0.4226, 'not significant')

    Values that are known already are not computed again:

    >>> from leadline.evaluation.evaluate import evaluate
    >>> results = evaluate(qrels, {"a": a, "b": b}, ["RR", "AP"])
    >>> compare(results, measures="RR").pairs[0].p == pair.p
    True

    """
    kept = pairing = None
    if isinstance(baseline, os.PathLike) or (isinstance(baseline, str) and is_saved_file(baseline)):
        kept, baseline = read_baseline(os.fspath(baseline)), None
    sampling = {"machine": machine, "confidence": confidence, "seed": seed}
    usual = None if kept is None else kept.measures
    results = results_of(compare, qrels, runs_and_measures, runs, measures, options, sampling, usual)
    if isinstance(baseline, str) and baseline not in results.names and is_baseline_name(baseline):
        read_baseline(baseline)  # says what is wrong with the file
    if kept is not None:
        results, pairing = with_baseline(results, kept, rewrite="`write_baseline`")
    rules = Rules.of(
        test=test,
        correction=correction,
        interval=interval,
        family=family,
        confidence=confidence,
        margin=margin,
        power=power,
        smallest=smallest,
        query_group=query_group,
        seed=seed,
    )
    return compare_results(results, rules, baseline=baseline, pairing=pairing)


def results_of(
    function: Callable[..., Any],
    qrels: QrelsLike | Results,
    given: tuple[Any, ...],
    runs: Any,
    measures: Any,
    options: Mapping[str, Any],
    sampling: Mapping[str, Any],
    usual: Sequence[str] | None = None,
) -> Results:
    """Return the results that a function compares: those given, or of its runs by the usual measures."""
    refuse_unknown(function, options, TestedOptions.__annotations__)
    call = function.__name__
    among = given if isinstance(qrels, Results) else qrels if isinstance(qrels, (list, tuple)) else ()
    if any(isinstance(each, Results) for each in among):
        raise UsageError(
            f"{call} takes a single result that contains all runs. Call {call}(qrels, a, b) or "
            f"{call}(evaluate(qrels, a, b))."
        )
    if not isinstance(qrels, Results):
        runs, measures = divided(given, runs, measures, profile=options.get("profile", "leadline"))
        if runs is None and isinstance(qrels, (list, tuple)):
            ways = f"compared. Call {call}(qrels, runs) or {call}(results)."
            if call == "rank":
                ways = "ranked. Call rank(qrels, runs), rank(results) or, without judgments, unjudged(runs)."
            raise UsageError(f"a list alone cannot be {ways}")
        if runs is None:
            raise UsageError(
                f"there are judgments but no runs. Call {call}(qrels, runs) or {call}(results). To read "
                "saved results, use read_scores(path)."
            )
        wanted = usual if measures is None else measures
        return measured(qrels, runs, wanted, default=COMPARED, verdict=True, **sampling, **options)
    given = tuple(each for each in given if each is not None)
    if len(given) > 1 or (given and measures is not None):
        raise UsageError(f"too many arguments follow the results. Call {call}(results, measures).")
    first = given[0] if given else None
    if any(
        isinstance(one, (Mapping, Run)) for one in (first if isinstance(first, (list, tuple)) else [first])
    ):
        runs = first
    elif given:
        measures = first
    if runs is not None:
        raise UsageError(
            "runs cannot be passed with results, which already contain runs. Leave out the runs."
        )
    extra = ["machine"] * (sampling["machine"] is not None) + list(options)
    if extra:
        raise UsageError(
            f"`{extra[0]}` cannot be used with results, because their values are already computed. Pass it "
            "to `evaluate` instead."
        )
    if measures is None:
        return qrels
    listed = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    return qrels.select_measures([qrels.measure_index(measure) for measure in listed])


def compare_results(
    results: Results,
    rules: Rules,
    *,
    baseline: str | Sequence[str] | None = None,
    pairing: Pairs | None = None,
) -> Comparison:
    """Compare evaluated runs with baselines, or by the pairs of each run and its baseline."""
    rules = at_look(results, rules)
    groups = units_of(results, rules.query_group)
    pairs = pairs_of(results, baseline) if pairing is None else pairing
    names = baselines_of(results, baseline)
    if pairing is not None:
        names = [results.names[place] for place in dict.fromkeys(pairing.second.tolist())]
    checked_groups(rules.test, groups)
    check_averages(results)
    if rules.margin is not None:
        for measure in results.measures:
            check_margin(measure, rules.margin, "--margin ", "makes any two runs equivalent")
    check_judged(results)
    return Comparison(results, pairs, rules, groups, baselines=names)
