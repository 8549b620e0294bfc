"""Tables and columns of inter-assessor agreement: coefficients, judges, queries, audits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.data.table import WORDS, Column, Preformatted, RowLabel, Table, columns_of, printed_table
from leadline.data.wording import counted, first_few, listed_few, percent, queries, queries_between
from leadline.judging.agreement_audit import Audit, CoefficientEstimate, Interval, Ranking, changes
from leadline.stats.agreement_coefficients import FEWEST_QUERIES

if TYPE_CHECKING:
    from leadline.judging.agreement_result import Agreement
    from leadline.judging.score_audit import ScoreAudit

PAIRWISE = 6  # maximum number of judges shown pairwise; of more, the mean of each with the others is shown
RANGE = "2/3 or more"
IF_ANY = ("low", "high", "from", "to", "AP low", "AP high", RANGE)  # columns that are left out if empty
ADVICE = (
    "A chance-corrected coefficient below 2/3 is commonly considered insufficient. To improve agreement, "
    "define every grade with examples{} or judge some documents together first."
)
FORMS = {
    "seconds": "median per judgment",
    "opened": "share of judgments for which the full text was opened",
    "agreement": "with other judges",
}
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
        sheets.append(ranking_table(agreement.ranking, agreement.pairs))
    if agreement.audits:
        sheets += audit_tables(agreement)
    sheets[-1].notes += _notes(agreement)
    if agreement.forms is not None:
        sheets.append(agreement.forms.table())
        shown = [f"{name}: {FORMS[name]}" for name in map(str, agreement.forms.results.measures)]
        sheets[-1].title = "; ".join(["judging by content shown", *shown])
    return sheets


def agreement_columns(agreement: Agreement, *, per_query: bool) -> list[Column]:
    """Return every coefficient: of all judges, then of pairs of judges, then of queries.

    Audits add the columns measure and run, and rows for bias, gain, kendall and tau_ap.
    """
    rows = [_row(name, agreement[name]) for name in TITLES]
    for name in PARTS:
        pairs_of_judges = zip(agreement.named(), agreement.between[name][1], strict=True)
        rows += [_row(name, each, a=a, b=b) for (a, b), each in pairs_of_judges]
    for name, values in agreement.by_query.items() if per_query else ():
        counts = _pairs_of_queries(agreement)
        for query, value, count in zip(agreement.queries, values.tolist(), counts, strict=True):
            estimate = CoefficientEstimate(value, corrected=name != "agreement", pairs=count)
            rows.append(_row(name, estimate, query=query))
    rows += [row for audit in agreement.audits for row in audit_rows(audit)]
    names = NAMES + ("measure", "run") * bool(agreement.audits)
    return columns_of(names, [[row[name] for name in names] for row in rows])


def audit_rows(audit: Audit) -> Iterator[dict[str, Any]]:
    """Yield the numbers of an audit."""

    def row(name: str, limits: Interval, run: str = "") -> dict[str, Any]:
        estimate = CoefficientEstimate(*limits, corrected=False)
        of = {"a": audit.reference, "b": audit.judge, "measure": audit.measure, "run": run}
        return _row(name, estimate, pairs=None, **of)

    yield row("bias", audit.bias)
    top = f" of the first {audit.top}"
    for more, taus in (("", audit.taus), (top, audit.top_taus)):
        yield row(f"kendall{more}", taus.kendall)
        yield row(f"tau_ap{more}", taus.tau_ap)
    for run in audit.runs:
        yield row("bias", run.bias, run.name)
        yield row("gain", run.gain, run.name)


NAMES = ("coefficient", "a", "b", "query", "pairs", "value", "low", "high", "acceptable")
EMPTY = {"a": "", "b": "", "query": "", "measure": "", "run": ""}


def _row(name: str, estimate: CoefficientEstimate, **more: Any) -> dict[str, Any]:
    """Return a coefficient with its limits, and what it is of."""
    return EMPTY | estimate._asdict() | {"coefficient": name, "acceptable": estimate.acceptable} | more


def _sheet(
    heads: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    dropped: Sequence[str] = (),
    digits: int = 3,
    **parts: Any,
) -> Table:
    """Return the printed table of rows, without limits and verdicts that none of them has."""
    columns = columns_of(heads, rows, dropped=dropped)
    empty = [one.name in IF_ANY and all(cell in (None, "-") for cell in one.cells()) for one in columns]
    shown = [one for one, none in zip(columns, empty, strict=True) if not none]
    return printed_table(shown, digits=digits, **parts)


def _in_range(estimate: CoefficientEstimate) -> str:
    """Return whether a value is 2/3 or more; a dash if the limit does not apply."""
    return "-" if estimate.acceptable is None else WORDS[estimate.acceptable]


def _coefficients(agreement: Agreement) -> Table:
    rows = []
    for name, title in TITLES.items():
        estimate = agreement[name]
        rows.append([_title(agreement, name, title), *estimate[:3], _in_range(estimate)])
    return _sheet(["coefficient", "value", "low", "high", RANGE], rows, title=_what(agreement), digits=4)


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
        several = "all" if agreement.options["over"] == "all" else "two or more"
        who = "both" if len(agreement.judges) == 2 else several
        text += f" ({queries(len(agreement.queries))}) that {who} judged"
    if agreement.ranking is not None:
        of_all = len(agreement.judgments) == int(agreement.judgments.by_all.sum())
        text += f"; runs are scored only on {'these pairs' if of_all else 'the pairs that all judged'}"
    if agreement.options["rel"] is not None:
        text += f"; grades of {agreement.options['rel']:g} or more count as relevant"
    return text


def _judges(agreement: Agreement) -> Table:
    """Return the table of judges: each with the reference, all pairs, or the mean of each with the others."""
    if agreement.reference or len(agreement.judges) <= PAIRWISE:
        return _two_by_two(agreement)
    means = {}
    for name in PARTS:
        table = agreement.matrix(name)
        defined = (~np.isnan(table)).sum(axis=1)
        means[name] = np.nansum(table, axis=1) / np.where(defined, defined, np.nan)
    order = np.argsort(-means["cohen"], kind="stable").tolist()
    rows = [[agreement.judges[judge], *(float(means[name][judge]) for name in PARTS)] for judge in order]
    notes = [
        (
            "Mean agreement with the other judges, highest kappa first. CSV, JSON and the figure show every "
            "pair of judges."
        )
    ]
    return _sheet(["judge", "agreement", "Scott", "Cohen", "alpha"], rows, notes=notes)


def _two_by_two(agreement: Agreement) -> Table:
    between = agreement.between
    estimates = (between[name][1] for name in PARTS)
    rows = [
        [
            *([b] if agreement.reference else [a, b]),
            cohen.pairs,
            cohen.pairs - int(np.trace(table)),
            *(one.value for one in (raw, scott, cohen)),
            *cohen[1:3],
            alpha.value,
            _in_range(scott),
        ]
        for (a, b), table, raw, scott, cohen, alpha in zip(
            agreement.named(), agreement.tables, *estimates, strict=True
        )
    ]
    order = np.argsort([-estimate.value for estimate in between["cohen"][1]], kind="stable").tolist()
    rows = [rows[place] for place in order]
    heads = ["judge"] if agreement.reference else ["a", "b"]
    heads += ["pairs", "differ", "agreement", "Scott", "Cohen", "low", "high", "alpha", RANGE]
    notes = (
        [f"Each judge is compared with {agreement.judges[0]}, highest kappa first."]
        if agreement.reference
        else []
    )
    limits = any(not math.isnan(estimate.low) for estimate in between["cohen"][1])
    judged = any(estimate.acceptable is not None for estimate in between["scott"][1])
    words = ["low, high: interval of Cohen's kappa"] * limits
    words += [f"{RANGE}: whether Scott's pi is at least 2/3"] * judged
    notes += ["; ".join(words)] * bool(words)
    return _sheet(heads, rows, notes=notes)


def _confusion(agreement: Agreement) -> Table:
    """Return the confusion matrix of the grades of two judges."""
    grades = [f"{grade:g}" for grade in agreement.grades.tolist()]
    if len(agreement.options["table"] or ()) == 4:
        grades = ["yes", "no"][: len(grades)] if grades[0] == "0" else ["no"]
    table = agreement.tables[0].astype(int).tolist()
    rows = [[grade, *counts, sum(counts)] for grade, counts in zip(grades, table, strict=True)]
    sums = [sum(column) for column in zip(*table, strict=True)]
    rows.append(["all", *sums, sum(sums)])
    (chance,) = agreement.chance()
    pooled = ", ".join(f"{grade} {share:.4g}" for grade, share in zip(grades, chance.pooled, strict=True))
    notes = [
        f"rows: {chance.a}; columns: {chance.b}",
        (
            f"disagreements: {chance.disagreements:,} of {chance.pairs:,}; P(A) {chance.observed:.4g}; "
            f"P(E) {chance.expected:.4g} from the pooled proportions ({pooled}), "
            f"{chance.expected_own:.4g} from each judge's own proportions"
        ),
    ]
    return _sheet(["grade", *grades, "all"], rows, notes=notes)


def _pairs_of_queries(agreement: Agreement) -> list[int]:
    pairs = np.bincount(agreement.judgments.query)
    counts: list[int] = pairs[pairs > 0].tolist()
    return counts


def _queries(agreement: Agreement) -> Table:
    counts = _pairs_of_queries(agreement)
    two = len(agreement.judges) == 2
    rows: list[list[Any]] = []
    for index, (query, count) in enumerate(zip(agreement.queries, counts, strict=True)):
        values = [float(agreement.by_query[name][index]) for name in PARTS]
        differ = [round(count * (1 - agreement.by_query["agreement"][index]))] if two else []
        rows.append([query, count, *differ, *values])
    undefined = any(np.isnan(agreement.by_query[name]).any() for name in PARTS)
    alone = bool(np.isnan(agreement.by_query["agreement"]).any())  # only the others judged a query
    apart = f" or {agreement.judges[0]} judged none of the pairs" * alone
    notes = [f"-: undefined, because the judges gave only one grade{apart}"] if undefined else []
    heads = ["query", "pairs", *["differ"][: int(two)], "agreement", "Scott", "Cohen", "alpha"]
    return _sheet(heads, rows, notes=notes)


def ranking_table(ranking: Ranking, pairs: Sequence[tuple[int, int]]) -> Table:
    """Return the table of changes in the values and order of systems, over pairs of judges."""
    changed = changes(ranking, pairs)
    rows = []
    for measure in ranking.measures:
        of_measure = [change for change in changed if change["measure"] == measure]
        tau, mean, largest = (
            [change[name] for change in of_measure if change[name] is not None]  # None: undefined
            for name in ("tau", "mean", "largest")
        )
        rows.append(
            [
                measure,
                float(np.mean(tau)) if tau else None,
                min(tau, default=None),
                float(np.mean(mean)) if mean else None,
                max(largest, default=None),
                sum(change["swapped"] for change in of_measure),
                sum(change["apart"] for change in of_measure),
            ]
        )
    over = f"{counted(len(ranking.runs), 'system')}, {counted(len(pairs), 'pair')} of judges"
    note = f"{over}; change: absolute difference in a system's score; swapped: pairs of systems "
    note += "whose order changes"
    heads = ["measure", "mean tau", "lowest", "mean change", "largest", "swapped", "of pairs"]
    return _sheet(heads, rows, notes=[note])


def _needed(agreement: Agreement) -> Table:
    """Return the table of the numbers of judgments needed for a half-width of kappa."""
    rows = []
    for needed in agreement.needed:
        value, low, _ = needed.coefficient
        unknown = needed.queries is None or np.isnan(needed.design_effect)
        rows.append(
            [
                needed.a,
                needed.b,
                value,
                value - low,
                Preformatted("-" if unknown else f"{needed.design_effect:.1f}"),
                needed.queries,
                needed.judgments,
                needed.independent,
            ]
        )
    within = agreement.needed[0].within
    heads = ["a", "b", "Cohen", "half-width", "design effect", "queries", "judgments", "if independent"]
    goal = f"kappa +/-{within:g} at the current number of judgments per query"
    notes = [f"queries, judgments: number needed for {goal}"]
    if any(needed.queries is not None and needed.design_effect > 1 for needed in agreement.needed):
        notes.append(
            "If the design effect is above 1, judgments of one query are correlated, so add queries, not "
            "documents."
        )
    lacking = {bool(np.isnan(one.coefficient.low)) for one in agreement.needed if one.queries is None}
    reasons = "more than ten million queries would be needed", "kappa has no interval"
    if lacking:
        notes.append(f"-: {' or '.join(reasons[each] for each in sorted(lacking))}")
    return _sheet(heads, rows, notes=notes, dropped=("if independent", "half-width"))


def _taus(audits: Sequence[Audit], *, several: bool) -> Table:
    """Return the table of rank correlations with the reference, of all runs and of the best."""
    rows = []
    for audit in audits:
        first = [audit.judge] if several else []
        for name, taus in ((f"all {len(audit.runs)}", audit.taus), (f"first {audit.top}", audit.top_taus)):
            clipped = np.clip([*taus.kendall, *taus.tau_ap], -1.0, 1.0)  # limits may lie outside
            rows.append([*first, audit.measure, name, *clipped.tolist()])
        if audit.top >= len(audit.runs):
            rows.pop()
    heads = ["measure", "runs", "tau", "low", "high", "tau-AP", "AP low", "AP high"]
    title = f"order of the runs according to the labels, compared with {audits[0].reference}"
    return _sheet([*["judge"][: int(several)], *heads], rows, title=title)


def _audit(audit: Audit) -> Table:
    """Return the table of bias and gain of every run, in descending order of gain."""
    means = [float(np.mean([getattr(run, side) for run in audit.runs])) for side in ("reference", "labels")]
    rows = [[RowLabel("all runs"), *means, *audit.bias, None, None, None, None, None, ""]]
    for run in audit.gainers():
        ranks = [Preformatted(f"{rank:g}") for rank in (run.rank, run.rank_labels)]
        mark = "yes" if run.favored else ""
        bias, gain = run.bias, run.gain
        rows.append([run.name, run.reference, run.labels, *bias, *ranks, *gain, mark])
    heads = ["run", "reference", "labels", "bias", "low", "high", "rank", "by labels"]
    heads += ["gain", "from", "to", "favored"]
    title = f"{audit.measure} according to {audit.judge}, compared with {audit.reference}, largest gain first"
    return _sheet(heads, rows, title=title, dropped=("from", "to", "low", "high"))


def audit_tables(result: Agreement | ScoreAudit) -> list[Table]:
    """Return the tables of rank correlations and, for a single judge and its reference, of the runs."""
    sheets = [_taus(result.audits, several=len(result.pairs) > 1)]
    if len(result.pairs) == 1:
        sheets += [_audit(audit) for audit in result.audits]
    sheets[-1].notes.append(_about_audit(result))
    sheets[-1].notes += [_circular(audit) for audit in result.audits if audit.used is not None]
    return sheets


def _circular(audit: Audit) -> str:
    """Return what labels do for runs that used their judge."""
    assert audit.used is not None
    names, gain, taus = audit.used
    lead = "" if math.isnan(gain.low) else f" [{gain.low:+.4f}, {gain.high:+.4f}]"
    verdict = "The labels favor" if gain.low > 0 else "The labels do not significantly favor"
    if math.isnan(gain.low):
        verdict = "There are too few queries to tell whether the labels favor"
    used = f"the run{'s' * (len(names) > 1)} that used {audit.judge}"
    moved = [run for run in audit.runs if run.name in names]
    ranks = first_few([f"{run.name} {run.rank:g} -> {run.rank_labels:g}" for run in moved])
    values = [one.kendall.value for one in (taus, audit.taus)]
    others, every = ("undefined" if math.isnan(value) else f"{value:.2f}" for value in values)
    return (
        f"{verdict} {listed_few(names)}, {used}. {audit.measure} gain over the other runs: "
        f"{gain.value:+.4f}{lead}. Rank according to {audit.reference} -> according to {audit.judge}: "
        f"{ranks}. Tau is {others} over the other runs and {every} over all runs."
    )


def _about_audit(result: Agreement | ScoreAudit) -> str:
    level = percent(result.options["confidence"])
    numbers = [audit.queries for audit in result.audits if audit.queries >= FEWEST_QUERIES]
    gain = "bias minus the mean bias of the other runs"
    if result.ranking is not None and not all(result.ranking.rising):
        gain += ", times -1 if lower is better"
    text = f"bias: labels minus reference; gain: {gain}. "
    if len(result.pairs) > 1:  # the table has neither
        text = f"CSV and JSON also have each run's bias (labels minus reference) and gain ({gain}). "
    if not numbers:
        return text + f"There are no intervals with fewer than {FEWEST_QUERIES} queries."
    return text + (
        f"The {level} intervals over {queries_between(numbers)} are approximate (see docs/agreement.md), and "
        "the intervals of gains hold simultaneously for all runs. Scores from labels alone have no interval, "
        "because none would cover the labels' error."
    )


def _notes(agreement: Agreement) -> list[str]:
    options = agreement.options
    notes = []
    if not all(math.isnan(agreement[name].low) for name in TITLES):
        how = f"interval over {queries(len(agreement.queries))} (Student's t on jackknifed values)"
        if options["resample"] == "pairs":
            drawn = f"({options['draws']:,} resamples, seed {options['seed']})"
            how = f"bootstrap interval over pairs {drawn}"
        notes.append(
            f"low, high{' of agreement coefficients' * bool(agreement.audits)}: approximate "
            f"{percent(options['confidence'])} {how}. A chance-corrected coefficient is 0 for chance "
            "agreement and 1 for perfect agreement."
        )
    corrected = [agreement[name] for name in TITLES if name != "agreement"]
    if any(estimate.acceptable is False for estimate in corrected):
        notes.append(ADVICE.format(", use fewer grades," * (len(agreement.grades) > 2)))
    elif any(estimate.acceptable for estimate in corrected):
        notes.append(f"{RANGE}: commonly considered sufficient for a chance-corrected coefficient")
    return [*notes, *map(str, agreement.warnings)]
