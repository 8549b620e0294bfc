"""What the reader of agreement should know: what was left out, undefined, or odd."""

from __future__ import annotations

import numpy as np

from leadline.agreements.found import Agreement
from leadline.agreements.judgments import Judgments
from leadline.results import Notice
from leadline.wording import counted, queries

SHOWN = 3  # names in a notice
ENOUGH = 10  # queries that can be drawn again; where there are fewer, pairs are


def notices_of(found: Agreement, whole: Judgments) -> list[Notice]:
    """Put into words what was counted; nothing is said of what did not happen."""
    notices = [
        _left_out(found, whole), _undefined(found), _odd_grades(found), _missing(found),
        _few_queries(found), _unjudged(found),
    ]  # fmt: skip
    return [notice for notice in notices if notice.count]


def _left_out(found: Agreement, whole: Judgments) -> Notice:
    count = len(whole) - len(found.judgments)
    judged = "all judges" if found.options["over"] == "all" else "two judges"
    words = (
        f"pairs of query and document that not {judged} judged: {count:,} of {len(whole):,}; left out "
        "(Krippendorff's alpha takes what two or more judged)"
    )
    return Notice("left_out", words, count)


def _undefined(found: Agreement) -> Notice:
    count = sum(bool(np.isnan(one.value)) for one in found.between["scott"][1])
    words = (
        f"two judges who give the same one grade to everything, or share no pair: {count}; what is "
        "corrected for chance is undefined there (chance alone agrees), not 1"
    )
    return Notice("undefined", words, count)


def _odd_grades(found: Agreement) -> Notice:
    """Tell of grades that one judge alone gives, where there are three or more, or a reference."""
    grades, names = found.judgments.grades, found.judges
    said: list[str] = []
    count = 0
    for grade in found.grades.tolist() if len(names) > 2 or found.reference else ():
        times = (grades == grade).sum(axis=0)
        if (times > 0).sum() == 1:
            count += int(times.sum())
            said.append(f"{grade:g} ({int(times.sum())} by {names[int(times.argmax())]})")
    more = ", ..." if len(said) > SHOWN else ""
    words = (
        f"grades that one judge alone gives: {', '.join(said[:SHOWN])}{more}; kept, nobody can agree "
        "with them"
    )
    return Notice("odd_grades", words, count)


def _missing(found: Agreement) -> Notice:
    count = int((~found.judgments.by_all).sum())
    words = (
        f"pairs that not all judged: {count:,}; each two judges are compared on what both judged, and "
        "Fleiss' kappa, which needs all, is undefined"
    )
    return Notice("not_by_all", words, count)


def _few_queries(found: Agreement) -> Notice:
    number = len(found.queries)
    few = 0 < number < ENOUGH and found.options["draws"] > 0
    if found.options["resample"] == "pairs":
        words = (
            f"{queries(number)}, too few to draw again: intervals are from drawing pairs, and hold for "
            "these queries only"
        )
    else:
        words = f"intervals from drawing {queries(number)} again: too few to trust them"
    return Notice("few_queries", words, number if few else 0)


def _unjudged(found: Agreement) -> Notice:
    if found.ranking is None:
        return Notice("unjudged_documents", "", 0)
    count = sum(run.counts["unjudged_documents"] for run in found.ranking.runs)
    words = (
        f"retrieved documents that the judges did not judge: {count:,} in "
        f"{counted(len(found.ranking.runs), 'run')}; not relevant under every judge"
    )
    return Notice("unjudged_documents", words, count)
