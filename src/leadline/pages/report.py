"""Report on several runs as an HTML page, from files or from computed results."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, TypeAlias

from leadline.comparison.compare import compare, compare_results
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.pairing import Rules
from leadline.data.arrays import Floats
from leadline.data.optional import require
from leadline.data.reading import refuse_unknown
from leadline.errors import UsageError
from leadline.estimation.measured import drawn_from, measured
from leadline.evaluation.evaluate import DEFAULT_MEASURES, TestedOptions
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.results import Results
from leadline.io.objects import Qrels, read_qrels
from leadline.io.opening import digest_of
from leadline.io.read import QrelsLike, RunLike
from leadline.io.read_paths import public
from leadline.measures import Measure
from leadline.measures.average_precision import ELEVEN_LEVELS, IPrec

POINTS = [str(IPrec(recall=level, rule="standard")) for level in ELEVEN_LEVELS]
CALL = (
    'Call `report(qrels, runs, "page.html")` or `report(results, "page.html")`. To read saved results, use '
    "read_scores(path)."
)
Path: TypeAlias = "str | os.PathLike[str]"
Runs: TypeAlias = "RunLike | Sequence[RunLike] | Mapping[str, RunLike]"
Measures: TypeAlias = "Iterable[str | Measure] | str | Measure | None"


@public
def report(
    qrels: QrelsLike | Results | Comparison,
    runs: Runs | None = None,
    path: Path | None = None,
    *,
    measures: Measures = None,
    **options: Any,
) -> Comparison:
    """Write an HTML page on runs: measures with intervals, significance tests, figures, provenance.

    Call it as `report(qrels, runs, "page.html")`, or as `report(results, "page.html")` with the result of
    `evaluate` or `compare`. The page is a single file without external links.

    Parameters
    ----------
    qrels, runs
        As in `evaluate`; or `Results` or a `Comparison` alone. With judgments of a sample the values are
        estimates.
    path : path
        HTML file to write.
    measures : measure or iterable of measures, optional
        Measures, the first of which orders the runs; by default those of `evaluate`, or of the results.
    **options
        Those of `compare`, and with qrels and runs also those of `evaluate`.

    Returns
    -------
    Comparison
        Comparison shown on the page.

    Raises
    ------
    UsageError
        If there is no path, or options are given with a comparison.

    Notes
    -----
    The page has recall-precision curves for qrels and runs, and for results with the eleven measures
    IPrec@0.0 to IPrec@1.0.

    Examples
    --------
    >>> import leadline as ll, os, tempfile
    >>> qrels = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}}
    >>> a, b = {q: {"d": 1.0} for q in qrels}, {q: {"x": 2.0, "d": 1.0} for q in qrels}
    >>> results = ll.evaluate(qrels, {"a": a, "b": b}, "RR")
    >>> report(results, os.path.join(tempfile.mkdtemp(), "page.html"))
    Comparison(1 pairs of 2 runs by RR)

    """
    from leadline.io.write import write_whole

    require("HTML pages")
    from leadline.pages.report_page import page, significance_table
    from leadline.render.text_formats import write_latex

    known = [one.name for one in signature(compare).parameters.values() if one.kind is one.KEYWORD_ONLY]
    refuse_unknown(report, options, [*known, *TestedOptions.__annotations__])
    curves: Floats | None
    if isinstance(qrels, (Results, Comparison)):
        target = _path(path, None) if runs is None else _path(runs, path)
        baseline = options.get("baseline")
        comparison = _compared(qrels, measures, options)
        results = comparison.results if isinstance(qrels, Comparison) else qrels
        names, curves = list(map(str, results.measures)), None
        if {*POINTS} <= {*names}:  # precision at eleven levels of recall, runs x levels
            curves = results.means[:, [names.index(point) for point in POINTS]]
        judgments, inputs, again = None, [], f"leadline.report(results, {target!r})"
    else:
        if runs is None:
            raise UsageError(f"there are judgments but no runs. {CALL}")
        target = _path(path, None)
        reading = {name: options[name] for name in ("subtopics", "qrels_columns") if name in options}
        table = read_qrels(qrels, **reading)
        baseline = options.pop("baseline", None)
        comparison, curves = compared(table, runs, measures, Rules.take(options), baseline, **options)
        judgments, again = len(table), f"leadline.report(qrels, runs, {target!r})"
        inputs = [described(os.fspath(qrels), len(table))] if isinstance(qrels, (str, os.PathLike)) else []
    inputs += [
        described(run.path, run.counts.get("documents_read", 0)) for run in comparison.runs if run.path
    ]
    base = only_one(comparison.baselines)
    content = page(
        comparison,
        curves,
        judgments=judgments,
        inputs=inputs,
        again=again,
        latex=write_latex(significance_table(comparison, baseline=base)),
        baseline=base,
    )
    write_whole(target, content.encode("utf-8", "surrogateescape"))
    return comparison


def _path(path: object, more: object) -> str:
    if more is not None or not isinstance(path, (str, os.PathLike)):
        found = "there are both results and runs"
        if more is None:
            found = "there is no path" if path is None else f"the path is of type {type(path).__name__}"
        raise UsageError(f"{found}. {CALL}")
    return os.fspath(path)


def _compared(results: Results | Comparison, measures: Measures, options: dict[str, Any]) -> Comparison:
    if isinstance(results, Results):
        return compare(results, measures=measures, **options)
    if measures is not None or options:
        name = next(iter(options), "measures")
        raise UsageError(
            f"`{name}` cannot change a finished comparison. Pass results, or leave out `{name}`."
        )
    return results


def only_one(baselines: Sequence[str]) -> str | None:
    """Return the baseline if there is exactly one, else None."""
    return baselines[0] if len(baselines) == 1 else None


def compared(
    qrels: QrelsLike,
    runs: Any,
    measures: Measures,
    rules: Rules,
    baseline: str | Sequence[str] | None,
    **options: Any,
) -> tuple[Comparison, Floats | None]:
    """Evaluate and compare runs, with their curves in the same pass; estimates have no curves."""
    options |= {"confidence": rules.confidence, "seed": rules.seed}
    if isinstance(qrels, Qrels) and drawn_from(qrels, options.get("pool"), measures) is not None:
        results = measured(qrels, runs, measures or None, verdict=True, **options)
        return compare_results(results, rules, baseline=baseline), None
    profile, size = profile_of(options.get("profile", "leadline")), options.get("documents")
    rel = options.get("rel")
    names = measures or DEFAULT_MEASURES
    requested = profile.measures(
        [names] if isinstance(names, (str, Measure)) else names, rel=rel, documents=size
    )
    points = profile.measures(POINTS, rel=rel, documents=size)
    results = measured(qrels, runs, [*requested, *points], **options)
    chosen = results.select_measures(range(len(requested)))
    comparison = compare_results(chosen, rules, baseline=baseline)
    return comparison, results.means[:, [results.measure_index(point) for point in points]]


def described(path: str, rows: int) -> dict[str, Any]:
    """Return path, digest and number of rows of an input file."""
    return {"path": path, "sha256": digest_of(path), "rows": rows}
