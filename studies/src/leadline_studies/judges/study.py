"""Test whether the ranking of systems depends on the assessor.

QRELS are the reference. `--judges` names files of other assessors who judged the same query-document pairs
(see `leadline agreement`). All runs are evaluated with each judge on the pairs that all judges judged. The
study reports Kendall's tau with the reference ranking, how much each measure changes for each system, and
which pairs of systems swap. The claim has two halves. A change of judge has a large effect on absolute
numbers if the median judge changes them by 10 % or more of their mean. It has virtually no effect on the
ranking if the median tau is 0.9 or more: Voorhees regards such rankings as equivalent.
Sources: Voorhees 2000; Manning, Raghavan and Schuetze 2008, section 8.5.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from leadline import InputError, Qrels, UsageError, agreement, read_qrels
from leadline.data.reading import Reading
from leadline.data.table import ResultWarning, Table, plain
from leadline.data.wording import queries
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.join import readable_twice
from leadline.io.judges import Judge, judge_name, read_judges
from leadline.judging.agreement_audit import Ranking, changes
from leadline.judging.agreement_result import Judgments, ranked
from leadline.stats.agreement_coefficients import FEWEST_QUERIES
from leadline.stats.correlation import kendall
from leadline_studies import Claim, Given, Option, Outcome, at_least, with_options
from leadline_studies.common.tables import sheet

CLAIM = Claim(
    "A change of judge has a large effect on absolute numbers, and virtually none on the ranking.",
    "Rankings with a tau of 0.9 or more are regarded as equivalent.",
)
OPTIONS = (
    Option(
        "judges",
        str,
        "Judgments by other assessors (repeatable): a qrels file, or one column (FILE:COLUMN) or all columns "
        "(FILE:*) of a table.",
        (),
        required=True,
        metavar="FILE",
    ),
    Option("measure", str, "Measure to rank the systems by (repeatable). [default: AP, nDCG]", ()),
    Option(
        "judged_only", bool, "Remove documents without a judgment from the runs.", False, metavar="YES/NO"
    ),
)
EQUAL = 0.9  # Voorhees: rankings with such a tau are as good as equal
LARGE = 0.1  # of the mean value


@with_options(OPTIONS)
def run(qrels: Any, runs: Any, given: Given) -> Outcome:
    """Run the study on runs; `judges` are files of judgments."""
    table = read_qrels(qrels)
    reference = judge_name(os.path.basename(table.source or "reference"))
    others = read_judges(list(given.judges))
    if reference in (judge_info.name for judge_info in others):
        raise UsageError(f"a judge and the reference are both named '{reference}'. Rename one.")
    all_judgments = Judgments.of_judges([Judge(reference, table), *others])
    common = all_judgments.keep(all_judgments.by_all)
    if not len(common):
        raise InputError("no pair of query and document was judged by all judges. Check that the ids match.")
    runs = readable_twice(runs, Reading())
    measures = given.measure or ("AP", "nDCG")
    ranking = ranked(common, runs, measures=measures, judged_only=given.judged_only, on_run=given.on_run)
    at_least(3, len(ranking.runs), "runs to rank")
    data = _data(common, ranking, table, runs)
    return Outcome(
        data,
        [*((path, rows) for path, rows in all_judgments.paths if path), *ranking.runs],
        _notices(all_judgments, common, ranking, judged_only=given.judged_only),
        {"measure": ranking.measures},
        {"judges": _reference_table(data), "systems": _systems(ranking)},
        _figures(ranking),
    )


def _data(kept: Judgments, ranking: Ranking, table: Qrels, runs: Any) -> dict[str, Any]:
    others = range(1, len(kept.names))
    alike = agreement(kept, reference=True, draws=0)
    against = changes(ranking, [(0, judge) for judge in others])
    among = changes(ranking, list(combinations(range(len(kept.names)), 2)))
    means = evaluate(table, runs, ranking.measures).means
    return {
        "reference": kept.names[0],
        "judges": kept.names[1:],
        "pairs": len(kept),
        "queries": len(np.unique(kept.query)),
        "reference_queries": len(table.queries),
        "systems": ranking.systems,
        "measures": ranking.measures,
        "kappa": {
            name: {"scott": plain(scott.value), "cohen": plain(cohen.value)}
            for name, scott, cohen in zip(
                kept.names[1:], alike.between["scott"][1], alike.between["cohen"][1], strict=True
            )
        },
        "against_reference": against,
        "among_all": among,
        "summary": {name: _summary(against, among, name) for name in ranking.measures},
        # for scale: what taking so few queries does, with one and the same judge
        "few_queries": {
            name: plain(kendall(ranking.values[0, :, judge], means[:, judge]))
            for judge, name in enumerate(ranking.measures)
        },
    }


def _summary(
    against: Sequence[dict[str, Any]], among: Sequence[dict[str, Any]], measure: str
) -> dict[str, Any]:
    """Return medians and extremes over judges, and whether each half of the claim holds."""
    part = [change for change in against if change["measure"] == measure]
    taus = [change["tau"] for change in part if change["tau"] is not None]
    shifts = [change["relative"] for change in part if change["relative"] is not None]
    mutual = [change["tau"] for change in among if change["measure"] == measure and change["tau"] is not None]
    summary: dict[str, Any] = {
        "tau": float(np.median(taus)) if taus else None,
        "lowest_tau": min(taus, default=None),
        "highest_tau": max(taus, default=None),
        "tau_among_all": float(np.median(mutual)) if mutual else None,
        "relative": float(np.median(shifts)) if shifts else None,
        "largest_relative": max(shifts, default=None),
        "largest": max(change["largest"] for change in part),
        "swapped": float(
            np.mean([change["swapped"] / change["apart"] for change in part if change["apart"]] or [0.0])
        ),
        "widest": max(change["widest"] for change in part),
    }
    return summary | {
        "large_effect": None if summary["relative"] is None else summary["relative"] >= LARGE,
        "same_ranking": None if summary["tau"] is None else summary["tau"] >= EQUAL,
    }


def _reference_table(data: dict[str, Any]) -> Table:
    scott = {name: kappa["scott"] for name, kappa in data["kappa"].items()}
    rows = [change | {"scott": scott[change["b"]]} for change in data["against_reference"]]
    columns = ("judge=b", "measure", "Scott=scott", "tau", "change=mean", "of the mean=relative")
    more = ("largest change=largest", "swapped", "of pairs=apart", "widest swap=widest")
    pairs = f"{data['pairs']:,} pairs from {queries(data['queries'])}"
    note = f"Compared with {data['reference']} on the {pairs} that all judges judged."
    return sheet(rows, [*columns, *more], notes=[note], digits=3)


def _systems(ranking: Ranking) -> Table:
    """Return every system's value under every judge, ordered by the reference."""
    order = np.argsort(-ranking.values[0, :, 0], kind="stable").tolist()
    rows = [
        [ranking.systems[index], measure, *ranking.values[:, index, column].tolist()]
        for index in order
        for column, measure in enumerate(ranking.measures)
    ]
    return Table(["system", "measure", *ranking.judges], rows)


def _figures(ranking: Ranking) -> dict[str, Any]:
    from leadline_studies.common.figures import by_judge

    return {
        re.sub(r"[^\w]+", "-", measure).strip("-"): by_judge(
            ranking.judges, ranking.values[:, :, index], label=f"mean {measure}"
        )
        for index, measure in enumerate(ranking.measures)
    }


def lines(data: dict[str, Any]) -> list[str]:
    """Return the verdict on both halves of the claim, one line per measure."""
    return [_line(measure, summary, data) for measure, summary in data["summary"].items()]


def _line(measure: str, row: dict[str, Any], data: dict[str, Any]) -> str:
    if row["tau"] is None or row["relative"] is None:
        return f"{measure}: undefined, because a judge finds nothing relevant or all systems are equal"
    effect, order = ("is found" if row[half] else "is not found" for half in ("large_effect", "same_ranking"))
    return (
        f"{measure}: a large effect on absolute numbers {effect}. The median judge changes values by "
        f"{100 * row['relative']:.0f} % of their mean, and a single system by up to {row['largest']:.3f}. A "
        f"stable ranking {order}. The median tau with {data['reference']} is {row['tau']:.2f} "
        f"({row['lowest_tau']:.2f} to {row['highest_tau']:.2f}), and {100 * row['swapped']:.0f} % of pairs "
        f"of systems swap, at most {row['widest']:.3f} apart."
    )


def _notices(
    everything: Judgments, common: Judgments, ranking: Ranking, *, judged_only: bool
) -> list[ResultWarning]:
    lost, few = len(everything) - len(common), len(np.unique(common.query))
    unjudged = sum(info.counts["unjudged_documents"] for info in ranking.runs)
    left_out = f"left out pairs that not all judges judged: {lost:,} of {len(everything):,}"
    changes = f"only {queries(few)}: with so few, a ranking changes even without a change of judge"
    zero = f"retrieved documents without judgments count as not relevant for every judge: {unjudged:,}"
    found = [
        ("left_out", left_out, lost),
        ("few_queries", changes, few if few < FEWEST_QUERIES else 0),
        ("unjudged_documents", zero, 0 if judged_only else unjudged),
    ]
    return [ResultWarning(*notice) for notice in found if notice[-1]]
