"""Tables of inter-assessor agreement: coefficients, judges, queries, audits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from leadline.data.results import plain
from leadline.data.table import Cell, Preformatted, RowLabel, Table
from leadline.data.wording import counted, percent, queries
from leadline.judging.agreement_audit import Audit, Interval
from leadline.judging.agreement_result import Agreement, CoefficientEstimate, Ranking, changes
from leadline.judging.score_audit import ScoreAudit
from leadline.stats.agreement_coefficients import FEWEST_QUERIES

PAIRWISE = 6  # maximum number of judges shown pairwise; of more, the mean of each with the others is shown
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


def agreement_tables(agreement: Agreement, *, per_query: bool = False) -> list[Table]:
    """Return the tables of coefficients, judges (or confusion of two), queries and audits, notes last."""
    sheets = [
        _coefficients(agreement),
        _confusion(agreement) if len(agreement.judges) == 2 else _judges(agreement),
    ]
    if per_query and agreement.queries:
        sheets.append(_queries(agreement))
    if agreement.needed:
        sheets.append(_needed(agreement))
    if agreement.ranking is not None:
        sheets.append(_ranking(agreement.ranking, agreement.pairs))
    if agreement.audits:
        sheets += _audits(agreement)
    sheets[-1].notes += _notes(agreement)
    return sheets


def score_audit_tables(result: ScoreAudit) -> list[Table]:
    """Return the tables of an audit of scores: order, then the runs, notes last."""
    changed = _ranking(result.ranking, result.pairs)
    judged = "the labels of " + counted(len(result.pairs), "judge")
    what = f"{counted(len(result.names), 'run')}, {queries(len(result.queries))}"
    changed.title = f"scores by {judged}, compared with {result.judges[0]}: {what}"
    sheets = [changed, *_audits(result)]
    sheets[-1].notes.append("kappa and other coefficients need the labels, not scores (QRELS QRELS)")
    sheets[-1].notes += map(str, result.warnings)
    return sheets


def score_audit_rows(result: ScoreAudit) -> Table:
    """Return bias, gain and rank correlations of an audit of scores as a table."""
    rows = score_audit_records(result)
    return Table(list(rows[0]), [list(row.values()) for row in rows])


def score_audit_records(result: ScoreAudit) -> list[dict[str, Any]]:
    """Return bias, gain and rank correlations of an audit of scores as records."""
    names = ("coefficient", "a", "b", "measure", "run", "value", "low", "high")
    return [{name: record[name] for name in names} for one in result.audits for record in _audit_records(one)]


def flat_rows(agreement: Agreement, *, per_query: bool) -> list[dict[str, Any]]:
    """Return every coefficient as a record: of all judges, then of pairs of judges, then of queries.

    Audits add the columns measure and run, and rows for bias, gain, kendall and tau_ap.
    """
    rows = []
    for name in TITLES:
        estimate = agreement[name]
        pairs = agreement.of_all[name][1] if name in agreement.of_all else len(agreement.judgments)
        rows.append(_record(name, "", "", "", pairs, estimate))
    for name in PARTS:
        pairs_of_judges = zip(agreement.named(), agreement.between[name][1], agreement.counted(), strict=True)
        rows += [_record(name, a, b, "", pairs, estimate) for (a, b), estimate, pairs in pairs_of_judges]
    if per_query:
        counts = _pairs_of_queries(agreement)
        for name, values in agreement.by_query.items():
            rows += [
                _record(
                    name,
                    "",
                    "",
                    query,
                    None,
                    CoefficientEstimate(value, corrected=name != "agreement", pairs=count),
                )
                for query, value, count in zip(agreement.queries, values.tolist(), counts, strict=True)
            ]
    if agreement.audits:
        rows = [row | {"measure": "", "run": ""} for row in rows]
        rows += [row for pairs_of_judges in agreement.audits for row in _audit_records(pairs_of_judges)]
    return rows


def _audit_records(audit: Audit) -> Iterator[dict[str, Any]]:
    """Yield the numbers of an audit as records."""

    def record(name: str, limits: Interval, run: str = "") -> dict[str, Any]:
        value = CoefficientEstimate(*limits, corrected=False)
        row = _record(name, audit.reference, audit.judge, "", None, value)
        return row | {"measure": audit.measure, "run": run}

    yield record("bias", audit.bias)
    top = f" of the first {audit.top}"
    for more, taus in (("", audit.taus), (top, audit.top_taus)):
        yield record(f"kendall{more}", taus.kendall)
        yield record(f"tau_ap{more}", taus.tau_ap)
    for run in audit.runs:
        yield record("bias", run.bias, run.name)
        yield record("gain", run.gain, run.name)


def agreement_rows(agreement: Agreement, *, per_query: bool = False) -> Table:
    """Return `flat_rows` as a table; `acceptable` is yes, no or nothing."""
    labels = {True: "yes", False: "no", None: None}
    rows = flat_rows(agreement, per_query=per_query)
    cells = [list((row | {"acceptable": labels[row["acceptable"]]}).values()) for row in rows]
    return Table(list(rows[0]), cells)


def _record(
    name: str, a: str, b: str, query: str, pairs: int | None, estimate: CoefficientEstimate
) -> dict[str, Any]:
    return {
        "coefficient": name,
        "a": a,
        "b": b,
        "query": query,
        "pairs": pairs,
        "value": plain(estimate.value),
        "low": plain(estimate.low),
        "high": plain(estimate.high),
        "acceptable": estimate.acceptable,
    }


def _in_range(estimate: CoefficientEstimate) -> str | None:
    """Return whether a value is in [2/3, 1]; None if the range does not apply."""
    return None if estimate.acceptable is None else "yes" if estimate.acceptable else "no"


def _coefficients(agreement: Agreement) -> Table:
    rows: list[list[Cell]] = []
    for name, title in TITLES.items():
        estimate = agreement[name]
        rows.append([_title(agreement, name, title), *map(plain, estimate[:3]), _in_range(estimate) or "-"])
    return Table(["coefficient", "value", "low", "high", RANGE], rows, title=_what(agreement))


def _title(agreement: Agreement, name: str, title: str) -> str:
    if name == "cohen" and agreement.options["weights"] != "none":
        title += f", {agreement.options['weights']} weights"
    if name == "krippendorff":
        title += f", {agreement.options['level']}"
    several = len(agreement.pairs) > 1 and name not in agreement.of_all
    return title + (" (mean)" if several else "")


def _what(agreement: Agreement) -> str:
    """Return the numbers of judges, pairs and queries as text."""
    text = f"{counted(len(agreement.judges), 'judge')}, {counted(len(agreement.judgments), 'pair')}"
    if agreement.queries:
        text += f" of {queries(len(agreement.queries))}"
    if agreement.options["rel"] is not None:
        text += f", grades of {agreement.options['rel']:g} and above relevant"
    return text


def _judges(agreement: Agreement) -> Table:
    """Return the table of judges: each with the reference, all pairs, or the mean of each with the others."""
    if agreement.reference or len(agreement.judges) <= PAIRWISE:
        return _two_by_two(agreement)
    matrices = {name: agreement.matrix(name) for name in PARTS}
    with np.errstate(invalid="ignore"):
        means = {
            name: np.nansum(table, axis=1) / np.maximum((~np.isnan(table)).sum(axis=1), 1)
            for name, table in matrices.items()
        }
    order = np.argsort(-means["cohen"], kind="stable").tolist()
    rows: list[list[Cell]] = [
        [agreement.judges[judge], *(float(means[name][judge]) for name in PARTS)] for judge in order
    ]
    notes = [
        "mean of each judge with the others, in descending order of kappa; all pairs: -f json, -f csv, --plot"
    ]
    return Table(["judge", "agreement", "Scott", "Cohen", "alpha"], rows, notes=notes, digits=3)


def _two_by_two(agreement: Agreement) -> Table:
    between = agreement.between
    order = np.argsort([-estimate.value for estimate in between["cohen"][1]], kind="stable").tolist()
    rows: list[list[Cell]] = []
    for index in order:
        a, b = agreement.named()[index]
        cohen = between["cohen"][1][index]
        rows.append(
            [
                *([b] if agreement.reference else [a, b]),
                agreement.counted()[index],
                agreement.counted()[index] - int(np.trace(agreement.tables[index])),
                *(plain(between[name][1][index].value) for name in PARTS[:3]),
                plain(cohen.low),
                plain(cohen.high),
                plain(between["krippendorff"][1][index].value),
                _in_range(between["scott"][1][index]) or "-",
            ]
        )
    heads = ["judge"] if agreement.reference else ["a", "b"]
    heads += ["pairs", "differ", "agreement", "Scott", "Cohen", "low", "high", "alpha", RANGE]
    notes = (
        [f"each judge compared with {agreement.judges[0]}, in descending order of kappa"]
        if agreement.reference
        else []
    )
    notes.append(f"low, high: interval of Cohen's kappa; {RANGE}: by Scott's pi")
    return Table(heads, rows, notes=notes, digits=3)


def _confusion(agreement: Agreement) -> Table:
    """Return the confusion matrix of the grades of two judges."""
    grades = [f"{grade:g}" for grade in agreement.grades.tolist()]
    if len(agreement.options["table"] or ()) == 4:
        grades = ["yes", "no"][: len(grades)] if grades[0] == "0" else ["no"]
    table = agreement.tables[0].astype(int).tolist()
    rows: list[list[Cell]] = [
        [grade, *counts, sum(counts)] for grade, counts in zip(grades, table, strict=True)
    ]
    sums = [sum(column) for column in zip(*table, strict=True)]
    rows.append(["all", *sums, sum(sums)])
    (chance,) = agreement.chance()
    pooled = ", ".join(f"{grade} {share:.4g}" for grade, share in zip(grades, chance.pooled, strict=True))
    notes = [
        f"rows: {chance.a}; columns: {chance.b}",
        (
            f"disagreements: {chance.disagreements:,} of {chance.pairs:,}; P(A) {chance.observed:.4g}; "
            f"P(E) {chance.expected:.4g} from the pooled proportions ({pooled}), "
            f"{chance.expected_own:.4g} from those of each judge"
        ),
    ]
    return Table(["grade", *grades, "all"], rows, notes=notes)


def _pairs_of_queries(agreement: Agreement) -> list[int]:
    pairs = np.bincount(agreement.judgments.query)
    counts: list[int] = pairs[pairs > 0].tolist()
    return counts


def _queries(agreement: Agreement) -> Table:
    counts = _pairs_of_queries(agreement)
    two = len(agreement.judges) == 2
    rows: list[list[Cell]] = []
    for index, (query, count) in enumerate(zip(agreement.queries, counts, strict=True)):
        values = [plain(float(agreement.by_query[name][index])) for name in PARTS]
        differ: list[Cell] = [round(count * (1 - agreement.by_query["agreement"][index]))] if two else []
        rows.append([query, count, *differ, *values])
    notes = ["-: undefined, because only one grade was given"] if _dashes(rows) else []
    heads = ["query", "pairs", *["differ"][: int(two)], "agreement", "Scott", "Cohen", "alpha"]
    return Table(heads, rows, notes=notes, digits=3)


def _dashes(rows: list[list[Cell]]) -> bool:
    return any(cell is None for row in rows for cell in row)


def _ranking(ranking: Ranking, pairs: Sequence[tuple[int, int]]) -> Table:
    """Return the table of changes in the values and order of systems, over pairs of judges."""
    changed = changes(ranking, pairs)
    rows: list[list[Cell]] = []
    for measure in ranking.measures:
        of_measure = [change for change in changed if change["measure"] == measure]
        taus = [change["tau"] for change in of_measure if change["tau"] is not None]
        rows.append(
            [
                measure,
                float(np.mean(taus)) if taus else None,
                min(taus, default=None),
                float(np.mean([change["mean"] for change in of_measure])),
                max(change["largest"] for change in of_measure),
                sum(change["swapped"] for change in of_measure),
                sum(change["apart"] for change in of_measure),
            ]
        )
    over = f"{counted(len(ranking.runs), 'system')}, {counted(len(pairs), 'pair')} of judges"
    note = f"{over}; change: difference in a system's value; swapped: pairs of systems whose order changes"
    heads = ["measure", "mean tau", "lowest", "mean change", "largest", "swapped", "of pairs"]
    return Table(heads, rows, notes=[note], digits=3)


def _needed(agreement: Agreement) -> Table:
    """Return the table of the numbers of judgments needed for a half-width of kappa."""
    rows: list[list[Cell]] = []
    for needed in agreement.needed:
        value, low, high = needed.coefficient
        rows.append(
            [
                needed.a,
                needed.b,
                plain(value),
                plain((high - low) / 2),
                Preformatted("-" if np.isnan(needed.design_effect) else f"{needed.design_effect:.1f}"),
                needed.queries,
                needed.judgments,
                needed.independent,
            ]
        )
    within = agreement.needed[0].within
    heads = ["a", "b", "Cohen", "half-width", "design effect", "queries", "judgments", "if independent"]
    note = (
        f"queries, judgments: needed for a half-width of {within:g} with as many judgments per query as now"
    )
    notes = [f"{note}; judgments of a query are alike, so count queries, not pairs"]
    if any(needed.queries is None for needed in agreement.needed):
        notes.append(f"- : fewer than {FEWEST_QUERIES} queries, or one grade only")
    return Table(heads, rows, notes=notes, digits=3, optional=("if independent", "half-width"))


def _clipped(interval: Interval) -> list[Cell]:
    """Return a rank correlation and its limits, clipped to its range."""
    return [plain(min(max(value, -1.0), 1.0)) if value == value else None for value in interval]  # noqa: PLR0124  # NaN


def _taus(audits: Sequence[Audit], *, several: bool) -> Table:
    """Return the table of rank correlations with the reference, of all runs and of the best."""
    rows: list[list[Cell]] = []
    for audit in audits:
        first: list[Cell] = [audit.judge] if several else []
        for name, taus in ((f"all {len(audit.runs)}", audit.taus), (f"first {audit.top}", audit.top_taus)):
            rows.append([*first, audit.measure, name, *_clipped(taus.kendall), *_clipped(taus.tau_ap)])
        if audit.top >= len(audit.runs):
            rows.pop()
    heads = ["measure", "runs", "tau", "low", "high", "tau-AP", "AP low", "AP high"]
    title = f"order of the runs by the labels, compared with {audits[0].reference}"
    return Table([*["judge"][: int(several)], *heads], rows, digits=3, title=title)


def _audit(audit: Audit) -> Table:
    """Return the table of bias and gain of every run, in descending order of gain."""
    means = [float(np.mean([getattr(run, side) for run in audit.runs])) for side in ("reference", "labels")]
    rows: list[list[Cell]] = [
        [RowLabel("all runs"), *means, *map(plain, audit.bias), None, None, None, None, None, ""]
    ]
    for run in audit.gainers():
        ranks = [Preformatted(f"{rank:g}") for rank in (run.rank, run.rank_labels)]
        mark = "yes" if run.favoured else ""
        bias, gain = map(plain, run.bias), map(plain, run.gain)
        rows.append([run.name, run.reference, run.labels, *bias, *ranks, *gain, mark])
    heads = ["run", "reference", "labels", "bias", "low", "high", "rank", "by labels"]
    heads += ["gain", "from", "to", "favoured"]
    title = (
        f"{audit.measure} by {audit.judge}, compared with {audit.reference}: the runs that gain most first"
    )
    optional = ("from", "to", "low", "high")
    return Table(heads, rows, title=title, digits=3, optional=optional)


def _audits(result: Agreement | ScoreAudit) -> list[Table]:
    """Return the tables of rank correlations and, for a single judge and its reference, of the runs."""
    sheets = [_taus(result.audits, several=len(result.pairs) > 1)]
    if len(result.pairs) == 1:
        sheets += [_audit(audit) for audit in result.audits]
    sheets[-1].notes.append(_about_audit(result))
    return sheets


def _about_audit(result: Agreement | ScoreAudit) -> str:
    level = percent(result.options["confidence"])
    audit = result.audits[0]
    text = "bias: labels minus reference; gain: bias minus the mean bias of the other runs; "
    if audit.queries < FEWEST_QUERIES:
        return text + f"no intervals with fewer than {FEWEST_QUERIES} queries"
    return (
        text
        + f"intervals: {level}, over {queries(audit.queries)}, of a gain for all runs at once; approximate "
        "(docs/agreement.md has their coverage); values by labels alone have none: no interval of theirs "
        "covers the error of the labels"
    )


def _notes(agreement: Agreement) -> list[str]:
    options = agreement.options
    notes = []
    few = options["resample"] == "queries" and len(agreement.queries) < FEWEST_QUERIES
    if options["draws"] and not few:
        how = f"interval over {queries(len(agreement.queries))} (Student's t on jackknifed values)"
        if options["resample"] == "pairs":
            drawn = f"({options['draws']:,} resamples, seed {options['seed']})"
            how = f"bootstrap interval, pairs resampled {drawn}"
        notes.append(
            f"low, high: approximate {percent(options['confidence'])} {how}; "
            "chance-corrected coefficients: 0 is agreement by chance, 1 is perfect agreement"
        )
    corrected = [agreement[name] for name in TITLES if name != "agreement"]
    if any(estimate.acceptable is False for estimate in corrected):
        notes.append(ADVICE)
    return [*notes, *map(str, agreement.warnings)]
