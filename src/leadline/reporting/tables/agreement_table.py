"""Agreement laid out: the coefficients, then the judges, in tables that stay readable with many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from leadline.data.results import plain
from leadline.data.wording import counted, percent, queries
from leadline.judging.agreement_audit import FEWEST_QUERIES, Audit, Interval
from leadline.judging.agreement_result import Agreement, CoefficientEstimate, changes
from leadline.reporting.render import Cell, Preformatted, RowLabel, Table

PAIRWISE = 6  # more judges than that are shown by their mean with the others, not two by two
RANGE = "in [2/3, 1]"
ADVICE = (
    "agreement below 2/3 is commonly considered insufficient; to improve it, define every grade with "
    "examples, use fewer grades (--rel gives the agreement with two), or first judge some queries together"
)
TITLES = {
    "agreement": "percent agreement",
    "scott": "Scott's pi",
    "cohen": "Cohen's kappa",
    "fleiss": "Fleiss' kappa",
    "krippendorff": "Krippendorff's alpha",
}
PARTS = ("agreement", "scott", "cohen", "krippendorff")


def sheets_of(found: Agreement, *, per_query: bool = False) -> list[Table]:
    """Lay out coefficients, then judges or the confusion of two, then queries; notes stand under the last."""
    sheets = [_whole(found), _confusion(found) if len(found.judges) == 2 else _judges(found)]
    if per_query and found.queries:
        sheets.append(_queries(found))
    if found.needed:
        sheets.append(_needed(found))
    if found.ranking is not None:
        sheets.append(_ranking(found))
    if found.audits:
        sheets.append(_taus(found.audits, several=len(found.pairs) > 1))
        if len(found.pairs) == 1:
            sheets += [_audit(each) for each in found.audits]
        sheets[-1].notes.append(_about_audit(found))
    sheets[-1].notes += _notes(found)
    return sheets


def flat_rows(found: Agreement, *, per_query: bool) -> list[dict[str, Any]]:
    """Return every number as a record: of all judges first, then of every pair of judges, then of queries.

    An audit adds the columns measure and run, and rows for bias, gain, kendall and tau_ap.
    """
    rows = []
    for name in TITLES:
        one = found[name]
        pairs = found.of_all[name][1] if name in found.of_all else len(found.judgments)
        rows.append(_record(name, "", "", "", pairs, one))
    for name in PARTS:
        each = zip(found.named(), found.between[name][1], found.counted(), strict=True)
        rows += [_record(name, a, b, "", pairs, one) for (a, b), one, pairs in each]
    if per_query:
        for name, values in found.by_query.items():
            rows += [
                _record(name, "", "", query, None, CoefficientEstimate(value, corrected=name != "agreement"))
                for query, value in zip(found.queries, values.tolist(), strict=True)
            ]
    if found.audits:
        rows = [row | {"measure": "", "run": ""} for row in rows]
        rows += [row for each in found.audits for row in _audit_records(each)]
    return rows


def _audit_records(found: Audit) -> Iterator[dict[str, Any]]:
    """Yield the numbers of an audit as records."""

    def record(name: str, one: Interval, run: str = "") -> dict[str, Any]:
        value = CoefficientEstimate(*one, corrected=False)
        row = _record(name, found.reference, found.judge, "", None, value)
        return row | {"measure": found.measure, "run": run}

    yield record("bias", found.bias)
    top = f" of the first {found.top}"
    for more, taus in (("", found.taus), (top, found.top_taus)):
        yield record(f"kendall{more}", taus.kendall)
        yield record(f"tau_ap{more}", taus.tau_ap)
    for run in found.runs:
        yield record("bias", run.bias, run.name)
        yield record("gain", run.gain, run.name)


def agreement_rows(found: Agreement, *, per_query: bool = False) -> Table:
    """Return `flat_rows` as a table; `acceptable` is yes, no or nothing."""
    said = {True: "yes", False: "no", None: None}
    rows = flat_rows(found, per_query=per_query)
    cells = [list((row | {"acceptable": said[row["acceptable"]]}).values()) for row in rows]
    return Table(list(rows[0]), cells)


def _record(
    name: str, a: str, b: str, query: str, pairs: int | None, one: CoefficientEstimate
) -> dict[str, Any]:
    return {
        "coefficient": name,
        "a": a,
        "b": b,
        "query": query,
        "pairs": pairs,
        "value": plain(one.value),
        "low": plain(one.low),
        "high": plain(one.high),
        "acceptable": one.acceptable,
    }


def _said(one: CoefficientEstimate) -> str | None:
    """Return whether a value is from 2/3 to 1; nothing where that is no question."""
    return None if one.acceptable is None else "yes" if one.acceptable else "no"


def _whole(found: Agreement) -> Table:
    rows: list[list[Cell]] = []
    for name, title in TITLES.items():
        one = found[name]
        rows.append([_title(found, name, title), *map(plain, one[:3]), _said(one) or "-"])
    return Table(["coefficient", "value", "low", "high", RANGE], rows, title=_what(found))


def _title(found: Agreement, name: str, title: str) -> str:
    if name == "cohen" and found.options["weights"] != "none":
        title += f", {found.options['weights']} weights"
    if name == "krippendorff":
        title += f", {found.options['level']}"
    several = len(found.pairs) > 1 and name not in found.of_all
    return title + (" (mean)" if several else "")


def _what(found: Agreement) -> str:
    """Describe what was compared."""
    text = f"{counted(len(found.judges), 'judge')}, {counted(len(found.judgments), 'pair')}"
    if found.queries:
        text += f" of {queries(len(found.queries))}"
    if found.options["rel"] is not None:
        text += f", grades of {found.options['rel']:g} and above relevant"
    return text


def _judges(found: Agreement) -> Table:
    """Lay out judges: each against the reference, two by two, or each by its mean with the others."""
    if found.reference or len(found.judges) <= PAIRWISE:
        return _two_by_two(found)
    matrices = {name: found.matrix(name) for name in PARTS}
    with np.errstate(invalid="ignore"):
        means = {
            name: np.nansum(table, axis=1) / np.maximum((~np.isnan(table)).sum(axis=1), 1)
            for name, table in matrices.items()
        }
    order = np.argsort(-means["cohen"], kind="stable").tolist()
    rows: list[list[Cell]] = [
        [found.judges[place], *(float(means[name][place]) for name in PARTS)] for place in order
    ]
    notes = [
        "mean of each judge with the others, in descending order of kappa; all pairs: -f json, -f csv, --plot"
    ]
    return Table(["judge", "agreement", "Scott", "Cohen", "alpha"], rows, notes=notes, digits=3)


def _two_by_two(found: Agreement) -> Table:
    each = found.between
    order = np.argsort([-one.value for one in each["cohen"][1]], kind="stable").tolist()
    rows: list[list[Cell]] = []
    for place in order:
        a, b = found.named()[place]
        cohen = each["cohen"][1][place]
        rows.append(
            [
                *([b] if found.reference else [a, b]),
                found.counted()[place],
                *(plain(each[name][1][place].value) for name in PARTS[:3]),
                plain(cohen.low),
                plain(cohen.high),
                plain(each["krippendorff"][1][place].value),
                _said(each["scott"][1][place]) or "-",
            ]
        )
    heads = ["judge"] if found.reference else ["a", "b"]
    heads += ["pairs", "agreement", "Scott", "Cohen", "low", "high", "alpha", RANGE]
    notes = (
        [f"each judge compared with {found.judges[0]}, in descending order of kappa"]
        if found.reference
        else []
    )
    notes.append(f"low, high: interval of Cohen's kappa; {RANGE}: by Scott's pi")
    return Table(heads, rows, notes=notes, digits=3)


def _confusion(found: Agreement) -> Table:
    """Lay out how often one judge gave which grade where the other gave which."""
    grades = [f"{grade:g}" for grade in found.grades.tolist()]
    if len(found.options["table"] or ()) == 4:
        grades = ["yes", "no"][: len(grades)] if grades[0] == "0" else ["no"]
    table = found.tables[0].astype(int).tolist()
    rows: list[list[Cell]] = [
        [grade, *counts, sum(counts)] for grade, counts in zip(grades, table, strict=True)
    ]
    sums = [sum(column) for column in zip(*table, strict=True)]
    rows.append(["all", *sums, sum(sums)])
    a, b = found.judges
    return Table(["grade", *grades, "all"], rows, notes=[f"rows: {a}; columns: {b}"])


def _queries(found: Agreement) -> Table:
    pairs = np.bincount(found.judgments.query)
    counts = pairs[pairs > 0].tolist()
    rows: list[list[Cell]] = [
        [query, counts[place], *(plain(float(found.by_query[name][place])) for name in PARTS)]
        for place, query in enumerate(found.queries)
    ]
    notes = ["-: undefined, because only one grade was given"] if _dashes(rows) else []
    heads = ["query", "pairs", "agreement", "Scott", "Cohen", "alpha"]
    return Table(heads, rows, notes=notes, digits=3)


def _dashes(rows: list[list[Cell]]) -> bool:
    return any(cell is None for row in rows for cell in row)


def _ranking(found: Agreement) -> Table:
    """Lay out what another judge does to systems, as means over pairs of judges."""
    assert found.ranking is not None
    each = changes(found.ranking, found.pairs)
    rows: list[list[Cell]] = []
    for measure in found.ranking.measures:
        part = [one for one in each if one["measure"] == measure]
        taus = [one["tau"] for one in part if one["tau"] is not None]
        rows.append(
            [
                measure,
                float(np.mean(taus)) if taus else None,
                min(taus, default=None),
                float(np.mean([one["mean"] for one in part])),
                max(one["largest"] for one in part),
                sum(one["swapped"] for one in part),
                sum(one["apart"] for one in part),
            ]
        )
    over = f"{counted(len(found.ranking.runs), 'system')}, {counted(len(found.pairs), 'pair')} of judges"
    note = f"{over}; change: difference in a system's value; swapped: pairs of systems whose order changes"
    heads = ["measure", "mean tau", "lowest", "mean change", "largest", "swapped", "of pairs"]
    return Table(heads, rows, notes=[note], digits=3)


def _needed(found: Agreement) -> Table:
    """Lay out how many judgments kappa takes."""
    rows: list[list[Cell]] = []
    for one in found.needed:
        value, low, high = one.coefficient
        rows.append(
            [
                one.a,
                one.b,
                plain(value),
                plain((high - low) / 2),
                Preformatted("-" if np.isnan(one.design_effect) else f"{one.design_effect:.1f}"),
                one.queries,
                one.judgments,
                one.independent,
            ]
        )
    within = found.needed[0].within
    heads = ["a", "b", "Cohen", "half-width", "design effect", "queries", "judgments", "if independent"]
    note = (
        f"queries, judgments: needed for a half-width of {within:g} with as many judgments per query as now"
    )
    notes = [f"{note}; judgments of a query are alike, so count queries, not pairs"]
    if any(one.queries is None for one in found.needed):
        notes.append(f"- : fewer than {FEWEST_QUERIES} queries, or one grade only")
    return Table(heads, rows, notes=notes, digits=3, optional=("if independent", "half-width"))


def _clipped(one: Interval) -> list[Cell]:
    """Return a rank correlation and its limits, clipped to its range."""
    return [plain(min(max(each, -1.0), 1.0)) if each == each else None for each in one]  # noqa: PLR0124  # NaN


def _taus(audits: Sequence[Audit], *, several: bool) -> Table:
    """Lay out the rank correlations with the reference: of all runs, and of the best."""
    rows: list[list[Cell]] = []
    for one in audits:
        first: list[Cell] = [one.judge] if several else []
        for name, taus in ((f"all {len(one.runs)}", one.taus), (f"first {one.top}", one.top_taus)):
            rows.append([*first, one.measure, name, *_clipped(taus.kendall), *_clipped(taus.tau_ap)])
        if one.top >= len(one.runs):
            rows.pop()
    heads = ["measure", "runs", "tau", "low", "high", "tau-AP", "AP low", "AP high"]
    title = f"order of the runs by the labels, compared with {audits[0].reference}"
    return Table([*["judge"][: int(several)], *heads], rows, digits=3, title=title)


def _audit(found: Audit) -> Table:
    """Lay out bias and gain of every run, the largest gain first."""
    means = [float(np.mean([getattr(run, side) for run in found.runs])) for side in ("reference", "labels")]
    rows: list[list[Cell]] = [
        [RowLabel("all runs"), *means, *map(plain, found.bias), None, None, None, None, None, ""]
    ]
    for run in found.gainers():
        ranks = [Preformatted(f"{rank:g}") for rank in (run.rank, run.rank_labels)]
        mark = "yes" if run.favoured else ""
        bias, gain = map(plain, run.bias), map(plain, run.gain)
        rows.append([run.name, run.reference, run.labels, *bias, *ranks, *gain, mark])
    heads = ["run", "reference", "labels", "bias", "low", "high", "rank", "by labels"]
    heads += ["gain", "from", "to", "favoured"]
    title = (
        f"{found.measure} by {found.judge}, compared with {found.reference}: the runs that gain most first"
    )
    optional = ("from", "to", "low", "high")
    return Table(heads, rows, title=title, digits=3, optional=optional)


def _about_audit(found: Agreement) -> str:
    level = percent(found.options["confidence"])
    one = found.audits[0]
    text = "bias: labels minus reference; gain: bias minus the mean bias of the other runs; "
    if one.queries < FEWEST_QUERIES:
        return text + f"no intervals with fewer than {FEWEST_QUERIES} queries"
    return (
        text
        + f"intervals: {level}, over {queries(one.queries)}, of a gain for all runs at once; approximate "
        "(docs/agreement.md has their coverage); values by labels alone have none: no interval of theirs "
        "covers the error of the labels"
    )


def _notes(found: Agreement) -> list[str]:
    options = found.options
    notes = []
    if options["draws"]:
        notes.append(
            f"low, high: approximate {percent(options['confidence'])} bootstrap interval, "
            f"{options['resample']} resampled ({options['draws']:,} resamples, seed {options['seed']}); "
            "chance-corrected coefficients: 0 is agreement by chance, 1 is perfect agreement"
        )
    corrected = [found[name] for name in TITLES if name != "agreement"]
    if any(one.acceptable is False for one in corrected):
        notes.append(ADVICE)
    return [*notes, *map(str, found.warnings)]
