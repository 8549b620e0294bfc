"""Comparison of runs: differences in means with confidence intervals and significance tests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from leadline.comparison import families
from leadline.comparison.baselines import fingerprint, read_baseline, with_baseline
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.pairing import (
    Pairs,
    check_averages,
    check_intervals,
    check_judged,
    differences_of,
    group_codes,
    listed_names,
    pairs_of,
)
from leadline.comparison.rules import TUKEY, Rules, rules_of
from leadline.data.arrays import Floats, Integers
from leadline.data.reading import refuse_unknown
from leadline.data.results import Results, ResultWarning
from leadline.data.validation import refusal
from leadline.errors import UsageError
from leadline.evaluation.evaluate import EvaluateOptions, evaluate
from leadline.io.read import QrelsLike, RunLike, read_qrels
from leadline.io.read_paths import public
from leadline.measures import Measure
from leadline.stats import CORRECTIONS, Correction, Interval, PairedTest
from leadline.stats.paired_tests import Bootstrap, T, decided_by_sign, equivalence

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
    seed : int, default 0
        Seed of the random number generator.
    **options
        Options of `evaluate`; none with results, whose values are known.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If no document of a run is judged.
    UsageError
        If options are invalid or contradict each other, results come with runs or options of `evaluate`,
        `estimate` withheld the interval of a value, or the baseline file has other judgments, measures or
        options.

    Examples
    --------
    >>> qrels = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}}
    >>> a = {"q1": {"d": 1.0}, "q2": {"d": 1.0}, "q3": {"x": 2.0, "d": 1.0}}
    >>> b = {"q1": {"x": 2.0, "d": 1.0}, "q2": {"d": 1.0}, "q3": {"x": 2.0, "d": 1.0}}
    >>> pair = compare(qrels, {"b": b, "a": a}, "RR").pairs[0]
    >>> pair.a, pair.b, round(pair.difference, 4), round(pair.p, 4), pair.verdict
    ('a', 'b', 0.1667, 0.4226, 'not told apart')

    Values that are known already are not computed again:

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
        results = given_results("compare", qrels, runs, measures, options)
    elif runs is None:
        raise UsageError("qrels without runs; expected compare(qrels, runs) or compare(results)")
    elif baseline_file is not None:
        if not isinstance(baseline_file, (str, os.PathLike)):
            raise refusal("baseline_file", baseline_file, "a path")
        kept = read_baseline(os.fspath(baseline_file))
        table = read_qrels(
            qrels, subtopics=options.get("subtopics", False), integer_ids=options.get("integer_ids", "refuse")
        )
        results = evaluate(table, runs, kept.measures if measures is None else measures, **options)
        results, pairing = with_baseline(results, kept, fingerprint(table))
    else:
        results = evaluate(qrels, runs, COMPARED if measures is None else measures, **options)
    return compare_results(
        results,
        baseline=baseline,
        pairing=pairing,
        test=test,
        correction=correction,
        family=family,
        seed=seed,
        interval=interval,
        confidence=confidence,
        margin=margin,
        power=power,
        smallest=smallest,
        query_group=query_group,
    )


def given_results(
    function: str, results: Results, runs: object, measures: Any, options: Mapping[str, Any]
) -> Results:
    """Return results, or the part of them that has the measures asked for, as the argument of a function."""
    extra = ["runs"] * (runs is not None) + list(options)
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
    *,
    baseline: str | Sequence[str] | None = None,
    pairing: Pairs | None = None,
    test: str | PairedTest = "T",
    correction: str | Correction = "Holm",
    family: str = "measure",
    interval: str | Interval | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    power: float = 0.8,
    smallest: float | None = None,
    query_group: str | Mapping[str, object] | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare runs that were evaluated before.

    Parameters are those of `compare`; `pairing` are the indices of each run and of its baseline, in place of
    `baseline`.
    """
    source, groups = group_codes(results, query_group)
    pairs = pairs_of(results, baseline) if pairing is None else pairing
    names = listed_names(() if baseline is None else baseline)
    if pairing is not None:
        names = [results.names[place] for place in dict.fromkeys(pairing.second.tolist())]
    rules = rules_of(
        test=test,
        correction=correction,
        interval=interval,
        family=family,
        confidence=confidence,
        margin=margin,
        power=power,
        smallest=smallest,
        query_group=source,
        seed=seed,
        tests=len(pairs) * len(results.measures),
    )
    check_averages(results)
    check_judged(results)
    check_intervals(results)
    differences = [differences_of(results, index, pairs) for index in range(len(results.measures))]
    warnings: list[ResultWarning] = []
    tukey: list[families.TukeyTest] = []
    if rules.joint == TUKEY:
        tukey = [families.tukey_test(results, *entry, rules) for entry in enumerate(differences)]
        differences = [result.differences for result in tukey]
        warnings += [warning for result in tukey for warning in result.warnings]
    p = np.stack([rules.test.p_values(table, seed=rules.seed, groups=groups) for table in differences])
    if tukey:
        runs = len(results.runs)
        family_result = families.Family(
            np.stack([result.p_corrected for result in tukey]),
            np.stack([result.limits for result in tukey]),
            runs * (runs - 1) // 2,  # all runs are permuted, even with a baseline
        )
    else:
        family_result = families.corrected(differences, p, rules, groups)
    comparison = Comparison(
        results,
        pairs,
        rules,
        differences=differences,
        p=p,
        family=family_result,
        p_equivalent=_equivalent(differences, rules, groups),
        groups=groups,
        baselines=names,
    )
    warnings += families.out_of_reach(differences, pairs, rules, groups)
    warnings += families.few_queries(differences, family_result.size, rules, groups)
    if isinstance(rules.test, Bootstrap):
        warnings += families.resamples_without_spread(differences)
    comparison.warnings += warnings + _decided(differences, groups)
    if results.withheld is not None:
        words = (
            "estimates of single queries vary with the sample: no wins, ties and losses, queries that differ "
            "most, and number of queries needed"
        )
        comparison.warnings.append(ResultWarning("estimated_queries", words, 1))
    return comparison


def _decided(differences: Sequence[Floats], groups: Integers | None) -> list[ResultWarning]:
    """Return a warning of pairs with zero variance, which are tested by the sign test."""
    count = sum(int(decided_by_sign(table, groups).sum()) for table in differences)
    words = f"pairs with the same difference on every query: {count}; tested by the sign test"
    return [ResultWarning("decided_by_sign", words, count)] if count else []


def _equivalent(differences: Sequence[Floats], rules: Rules, groups: Integers | None) -> Floats | None:
    """Return the corrected p-values of the equivalence tests; None without a margin."""
    if rules.margin is None:
        return None
    if groups is None:
        p = np.stack([equivalence(table, rules.margin) for table in differences])
    else:
        p = np.stack([_two_one_sided(table, rules.margin, groups) for table in differences])
    # joint procedures have no p-values of equivalence
    correction = rules.correction or CORRECTIONS.parse("Holm")
    if rules.family == "all":
        return correction.corrected(p.ravel()).reshape(p.shape)
    return np.stack([correction.corrected(row) for row in p])


def _two_one_sided(differences: Floats, margin: float, groups: Integers) -> Floats:
    """Return the larger p of two one-sided t tests with the errors of the jackknife over groups."""
    above = T().p_values(differences + margin, alternative="greater", groups=groups)
    below = T().p_values(differences - margin, alternative="less", groups=groups)
    return np.asarray(np.maximum(above, below))
