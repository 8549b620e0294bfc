"""Comparison of runs: differences in means with confidence intervals and significance tests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from leadline.comparison.baselines import fingerprint, read_baseline, with_baseline
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.pairing import (
    Pairs,
    check_averages,
    check_judged,
    group_codes,
    listed_names,
    pairs_of,
)
from leadline.comparison.rules import Rules
from leadline.data.reading import refuse_unknown
from leadline.data.results import Results
from leadline.data.validation import refusal
from leadline.errors import UsageError
from leadline.estimation.measured import measured
from leadline.evaluation.evaluate import EvaluateOptions
from leadline.io.read import QrelsLike, RunLike, read_qrels
from leadline.io.read_paths import public
from leadline.measures import Measure
from leadline.stats import Correction, Interval, PairedTest, checked_groups

COMPARED = ("AP", "nDCG@10")  # default measures


@public
def compare(
    qrels: QrelsLike | Results,
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike] | None = None,
    measures: Iterable[str | Measure | type[Measure]] | str | Measure | type[Measure] | None = None,
    *,
    baseline: str | Sequence[str] | None = None,
    baseline_file: str | os.PathLike[str] | None = None,
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
    **options: Unpack[EvaluateOptions],
) -> Comparison:
    """Compare runs: differences in means with confidence intervals and significance tests.

    Parameters
    ----------
    qrels, runs, measures
        As in `evaluate`; the first measure is the primary one. Each run must retrieve at least one judged
        document. Or `Results` alone, as in `compare(results)`: their runs are compared by their values, by
        default by all their measures.
    baseline : str or sequence of str, optional
        Runs with which all others are compared; by default each run is compared with every earlier one.
        Differences are those of a run minus the baseline, or minus the earlier run: `compare(qrels, [old,
        new])` answers whether new is better.
    baseline_file : path, optional
        File of values of queries (`write_baseline` in `leadline.reporting.baseline_files`) with which the
        runs are compared: its only run, or of several the one of the same name. By default its measures.
    test : str, default "T"
        Paired test; p-values are two-sided.
    correction : str, default "Holm"
        Correction for multiple comparisons. "MaxT" (step-down max-t randomisation test) and "Tukey"
        (randomised Tukey HSD, over the queries of all runs) test all pairs jointly.
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
        Labels by an automatic judge, from which grades of the documents of a drawn pool are predicted.
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
        a value has no interval, or the baseline file has other judgments, measures or
        options.

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
    refuse_unknown(compare, options, EvaluateOptions)
    pairing = None
    if baseline_file is not None and (baseline is not None or isinstance(qrels, Results)):
        other = "results" if baseline is None else "baseline"
        raise UsageError(f"baseline_file with {other}; expected qrels, runs and baseline_file")
    if isinstance(qrels, Results):
        results = given_results("compare", qrels, runs, measures, options, machine)
    elif runs is None:
        raise UsageError("qrels without runs; expected compare(qrels, runs) or compare(results)")
    elif baseline_file is not None:
        if not isinstance(baseline_file, (str, os.PathLike)):
            raise refusal("baseline_file", baseline_file, "a path")
        kept = read_baseline(os.fspath(baseline_file))
        table = read_qrels(qrels, subtopics=options.get("subtopics", False))
        wanted = kept.measures if measures is None else measures
        results = measured(table, runs, wanted, machine=machine, confidence=confidence, seed=seed, **options)
        results, pairing = with_baseline(results, kept, fingerprint(table))
    else:
        wanted = COMPARED if measures is None else measures
        results = measured(qrels, runs, wanted, machine=machine, confidence=confidence, seed=seed, **options)
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


def given_results(
    function: str,
    results: Results,
    runs: object,
    measures: Any,
    options: Mapping[str, Any],
    machine: object = None,
) -> Results:
    """Return results, or the part of them that has the measures asked for, as the argument of a function."""
    extra = ["runs"] * (runs is not None) + ["machine"] * (machine is not None) + list(options)
    if extra:
        raise UsageError(
            f"{extra[0]} with results, whose values are known; expected options of {function} alone"
        )
    if measures is None:
        return results
    listed = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    return results.select_measures([results.measure_index(measure) for measure in listed])


def compare_results(
    results: Results,
    rules: Rules,
    *,
    baseline: str | Sequence[str] | None = None,
    pairing: Pairs | None = None,
) -> Comparison:
    """Compare evaluated runs with baselines, or by the pairs of each run and its baseline."""
    groups = group_codes(results, rules.query_group)
    pairs = pairs_of(results, baseline) if pairing is None else pairing
    names = listed_names(() if baseline is None else baseline)
    if pairing is not None:
        names = [results.names[place] for place in dict.fromkeys(pairing.second.tolist())]
    checked_groups(rules.test, groups)
    check_averages(results)
    check_judged(results)
    return Comparison(results, pairs, rules, groups, baselines=names)
