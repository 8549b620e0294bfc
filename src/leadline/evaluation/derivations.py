"""Step-by-step derivations of the values of measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

from leadline.data.judged_run import JudgedRun
from leadline.measures.average_precision import AP, IPrec
from leadline.measures.diversity import alpha_nDCG
from leadline.measures.precision import RR
from leadline.measures.user_models import ERR, RBP

Columns: TypeAlias = Mapping[str, Sequence[str | float | None]]


class Listed(NamedTuple):
    """Ranked list of one query with its grades."""

    documents: list[str]
    scores: list[float]
    ties: list[str | None]  # range of tied ranks, such as "2-4"; None for untied documents
    grades: list[float | None]  # grades by rank; None for unjudged documents
    judged: list[float]  # grades of all judged documents of the query, retrieved or not
    subtopics: dict[str, dict[str, float]]  # grades of judged documents by subtopic; empty without subtopics

    def relevant(self, rel: float) -> list[int]:
        """Return 1 for every rank with a document of grade `rel` or more, else 0."""
        return [int(grade is not None and grade >= rel) for grade in self.grades]

    def count(self, rel: float) -> int:
        """Return R, the number of judged documents of grade `rel` or more."""
        return sum(grade >= rel for grade in self.judged)


@dataclass(frozen=True)
class Steps:
    """Derivation of a value."""

    value: float
    lines: list[str]  # formulas with numbers; the last line ends in the value
    last: int  # last rank to show
    columns: Columns = field(default_factory=dict)  # quantities at each rank by name


def number(value: float) -> str:
    """Return a number as text with at most six digits after the decimal point.

    >>> number(0.5), number(2.0), number(2 / 3), number(float("nan"))
    ('0.5', '2', '0.666667', 'undefined')
    """
    if math.isnan(value):
        return "undefined"
    return f"{value:.6f}".rstrip("0").rstrip(".") if abs(value) < 1e9 else f"{value:g}"


def ratio(part: float, whole: float) -> float:
    """Return the quotient; NaN if the divisor is 0."""
    return part / whole if whole else float("nan")


def last_or_ten(flags: list[int], cutoff: int | None = None) -> int:
    """Return the last flagged rank up to the cutoff, at least the smaller of 10 and the cutoff."""
    return max(last_of(flags, cutoff), min(10 if cutoff is None else cutoff, 10))


def last_of(parts: Sequence[float], cutoff: int | None = None) -> int:
    """Return the last rank up to the cutoff whose part is not 0; 0 if there is none."""
    return max((rank for rank, part in enumerate(parts[:cutoff], start=1) if part), default=0)


def within(parts: Iterable[float], cutoff: int | None) -> list[float]:
    """Return parts by rank, 0 beyond the cutoff."""
    return [part if cutoff is None or rank <= cutoff else 0.0 for rank, part in enumerate(parts, start=1)]


def _shares(measure: Any, listed: Listed) -> Steps:
    """Precision, recall and measures of both: relevant documents at ranks 1..k over k, R, or both."""
    relevant = listed.relevant(measure.rel)
    size = listed.count(measure.rel)
    name = type(measure).__name__
    cutoff = size if name == "Rprec" else measure.cutoff
    count = sum(relevant[:cutoff])
    where = f"at ranks 1..{cutoff}" if cutoff is not None else "in the ranking"
    lines = [f"relevant documents {where}: {count}"]
    depth = len(relevant) if cutoff is None else cutoff
    value, line = _share(measure, name, count, size, depth)
    return Steps(
        value,
        [*lines, *line],
        last_or_ten(relevant, cutoff),
        {"relevant": relevant, "found": list(accumulate(relevant))},
    )


def _share(measure: Any, name: str, count: int, size: int, depth: int) -> tuple[float, list[str]]:
    """Return the value and the lines of its derivation."""
    if name in ("F", "E"):
        return _f(measure, name, count, size, depth)
    if name == "Success":
        return float(count > 0), [f"{measure} = {int(count > 0)}"]
    divisor = size if name in ("R", "Rprec") else depth
    value = ratio(count, divisor)
    lines = [f"documents judged relevant: R = {size}"] if name in ("R", "Rprec") else []
    return value, [*lines, f"{measure} = {count} / {divisor} = {number(value)}"]


def _f(measure: Any, name: str, count: int, size: int, depth: int) -> tuple[float, list[str]]:
    linear = measure.form == "linear"
    weight = measure.beta if linear else measure.beta**2
    numerator, denominator = (weight + 1) * count, weight * size + depth
    value = ratio(numerator, denominator)
    beta = "beta" if linear else "beta^2"
    formula = f"F = (1 + {beta}) {count} / ({beta} {size} + {depth})"
    lines = [
        f"documents judged relevant: R = {size}",
        f"{formula} = {number(numerator)} / {number(denominator)} = {number(value)}",
    ]
    if name == "E" and measure.form == "complement":
        undefined = math.isnan(value)
        value = 1.0 if undefined else 1.0 - value
        start = "undefined F counts as 0: E = 1 - 0" if undefined else "E = 1 - F"
        lines.append(f"{start} = {number(value)}")
    return value, lines


def _average_precision(measure: AP, listed: Listed) -> Steps:
    """Sum of precision at relevant documents, divided by R."""
    relevant = listed.relevant(measure.rel)
    found = list(accumulate(relevant))
    precision = [count / rank for rank, count in enumerate(found, start=1)]
    added = within((part * flag for part, flag in zip(precision, relevant, strict=True)), measure.cutoff)
    sums = list(accumulate(added))
    size = listed.count(measure.rel)
    divisor = size
    lines = [f"documents judged relevant: R = {size}"]
    if measure.norm == "min" and measure.cutoff is not None:
        divisor = min(size, measure.cutoff)
        lines.append(f"min(R, k) = {divisor}")
    total = sums[-1] if sums else 0.0
    value = ratio(total, divisor)
    terms = [f"{found[index]}/{index + 1}" for index, part in enumerate(added) if part]
    lines.append(f"sum = {joined(terms)} = {number(total)}")
    lines.append(f"{measure} = {number(total)} / {divisor} = {number(value)}")
    return Steps(
        value,
        lines,
        last_of(relevant, measure.cutoff),
        {"relevant": relevant, "found": found, "precision": precision, "sum": sums},
    )


def _reciprocal_rank(measure: RR, listed: Listed) -> Steps:
    """One over the rank of the first relevant document."""
    relevant = listed.relevant(measure.rel)
    columns = {"relevant": relevant}
    first = relevant[: measure.cutoff].index(1) + 1 if any(relevant[: measure.cutoff]) else 0
    if not first:
        where = "in the ranking" if measure.cutoff is None else f"at ranks 1..{measure.cutoff}"
        lines = [f"no relevant document {where}", f"{measure} = 0"]
        return Steps(0.0, lines, last_or_ten(relevant, measure.cutoff), columns)
    lines = [f"first relevant document at rank {first}", f"{measure} = 1 / {first} = {number(1 / first)}"]
    return Steps(1 / first, lines, first, columns)


def _interpolated(measure: IPrec, listed: Listed) -> Steps:
    """Maximum precision at ranks where recall has reached the level."""
    relevant = listed.relevant(measure.rel)
    found_so_far = list(accumulate(relevant))
    size = listed.count(measure.rel)
    value = float(measure.values(JudgedRun.of_grades(listed.grades, listed.judged))[0])
    recall = number(measure.recall)
    rule = f"highest precision at recall {recall} or above"
    rule += " (0 if the ranking does not reach this recall)" * bool(size)  # undefined without a relevant one
    if measure.rule != "standard":
        rule = (
            f"interpolated precision at recall {recall}, rule={measure.rule} (see `leadline measures IPrec`)"
        )
    lines = [f"documents judged relevant: R = {size}", rule, f"{measure} = {number(value)}"]
    return Steps(
        value,
        lines,
        last_of(relevant),
        {
            "found": found_so_far,
            "recall": [ratio(count, size) if size else None for count in found_so_far],
            "precision": [count / rank for rank, count in enumerate(found_so_far, start=1)],
        },
    )


def joined(terms: list[str]) -> str:
    """Return a sum as text; the middle of a long sum is omitted."""
    if len(terms) > 12:
        terms = [*terms[:8], "...", *terms[-2:]]
    return " + ".join(terms) or "0"


def _sum(parts: list[float]) -> str:
    """Return the sum of the parts that are not 0 as text."""
    return joined([number(part) for part in parts if part])


def _cumulated(measure: Any, listed: Listed) -> Steps:
    """Cumulated gain, discounted cumulated gain, and nDCG with its ideal list."""
    name = type(measure).__name__
    gains = [_gain(measure, grade) for grade in listed.grades]
    counted = within(gains, measure.cutoff)
    last = last_of(counted)
    columns: dict[str, Sequence[str | float | None]] = {"gain": gains, "CG": list(accumulate(counted))}
    if name == "CG":
        total = sum(counted)
        return Steps(total, [f"{measure} = {_sum(counted)} = {number(total)}"], last, columns)
    logs, added = _discounted(measure, counted)
    sums = list(accumulate(added))
    columns |= {"log2(rank+1)" if measure.discount == "log2" else "log2(rank)": logs, "DCG": sums}
    total = sums[-1] if sums else 0.0
    lines = ["ranks 1 and 2 are not discounted"] * (measure.discount == "jk")
    lines.append(f"{'DCG' if name == 'nDCG' else measure} = {_sum(added)} = {number(total)}")
    if name == "DCG":
        return Steps(total, lines, last, columns)
    best = sorted((_gain(measure, grade) for grade in listed.judged), reverse=True)
    ideal = [gain for gain in best if gain > 0][: measure.cutoff]
    added = _discounted(measure, ideal)[1]
    ideal_sum = sum(added)
    reached = list(accumulate([*added, *[0.0] * len(gains)]))[: len(gains)]
    columns["ideal DCG"] = reached
    columns["nDCG"] = [part / most if most else None for part, most in zip(sums, reached, strict=True)]
    value = ratio(total, ideal_sum)
    shown = [number(gain) for gain in ideal]
    if len(shown) > 16:
        shown = [*shown[:12], "...", *shown[-2:]]
    lines += [
        f"gains in the ideal list: {' '.join(shown) or 'none'}",
        f"ideal DCG = {joined([number(part) for part in added])} = {number(ideal_sum)}",
        f"{measure} = {number(total)} / {number(ideal_sum)} = {number(value)}",
    ]
    return Steps(value, lines, last, columns)


def _gain(measure: Any, grade: float | None) -> float:
    if grade is None or grade <= 0:
        return 0.0
    return 2.0**grade - 1.0 if getattr(measure, "gain", "linear") == "exp" else grade


def _discounted(measure: Any, gains: list[float]) -> tuple[list[float], list[float]]:
    """Return the logarithm of every rank and the discounted gains."""
    shift = 1 if measure.discount == "log2" else 0
    logs = [math.log2(rank + shift) for rank in range(1, len(gains) + 1)]
    return logs, [gain / max(log, 1.0) for gain, log in zip(gains, logs, strict=True)]


def _rank_biased(measure: RBP, listed: Listed) -> Steps:
    """Sum of gain x weight of the rank."""
    gains = [_gain_of_grade(measure, grade, listed.judged) for grade in listed.grades]
    weights = [(1 - measure.p) * measure.p**index for index in range(len(gains))]
    parts = within((gain * weight for gain, weight in zip(gains, weights, strict=True)), measure.cutoff)
    sums = list(accumulate(parts))
    value = sums[-1] if sums else 0.0
    p = number(measure.p)
    lines = [f"weight of rank r: (1 - {p}) {p}^(r - 1)", f"{measure} = {_sum(parts)} = {number(value)}"]
    return Steps(
        value, lines, last_of(parts), {"gain": gains, "weight": weights, "gain x weight": parts, "sum": sums}
    )


def _gain_of_grade(measure: RBP, grade: float | None, judged: list[float]) -> float:
    """Return the gain of a document."""
    if grade is None:
        return 0.0
    if measure.gain == "binary":
        return float(grade >= measure.rel)
    largest = measure.max_grade if measure.gain == "graded" else max(1.0, *judged)
    return max(grade, 0.0) / largest


def _cascade(measure: ERR, listed: Listed) -> Steps:
    """Sum of the probabilities that the user stops at a rank, divided by the rank."""
    top = measure.max_grade
    gains = [max(grade or 0.0, 0.0) for grade in listed.grades]
    stops = [gain / (top + 1.0) for gain in gains]
    formula = f"grade / {number(top + 1.0)}"
    if measure.gain == "exp":
        stops = [(2.0**gain - 1.0) / 2.0**top for gain in gains]
        formula = f"(2^grade - 1) / 2^{number(top)}"
    arrives = list(accumulate([1.0 - stop for stop in stops], float.__mul__, initial=1.0))[:-1]
    every = (s * a / rank for rank, (s, a) in enumerate(zip(stops, arrives, strict=True), start=1))
    parts = within(every, measure.cutoff)
    sums = list(accumulate(parts))
    value = sums[-1] if sums else 0.0
    lines = [
        f"a document satisfies the user with probability s = {formula}",
        "arrives = product of 1 - s over the ranks above (probability that the user gets there)",
        "part = s x arrives / rank",
        f"{measure} = {_sum(parts)} = {number(value)}",
    ]
    return Steps(value, lines, last_of(parts), {"s": stops, "arrives": arrives, "part": parts, "sum": sums})


def _novel(measure: alpha_nDCG, listed: Listed) -> Steps:
    """Discounted gains from subtopics, reduced for subtopics that earlier documents cover."""
    covers = _covers(listed, measure.rel)
    subtopics = [covers.get(name, []) for name in listed.documents]
    gains = _gains(subtopics, measure.alpha)
    sums = _discounted_sums(gains, measure.cutoff)
    ideal = _discounted_sums(_gains(_ideal(covers, measure.alpha), measure.alpha), measure.cutoff)
    part, whole = (rows[-1] if rows else 0.0 for rows in (sums, ideal))
    value = ratio(part, whole)
    reached = [*ideal, *[whole] * len(sums)][: len(sums)]
    less = number(1.0 - measure.alpha)
    terms = [total - previous for total, previous in zip(sums, [0.0, *sums], strict=False)]
    lines = [
        f"a subtopic adds {less}^n to the gain if n documents above cover it; discount 1/log2(rank+1)",
        f"DCG = {_sum(terms)} = {number(part)}",
        f"ideal DCG (each rank has the document that adds the most) = {number(whole)}",
        f"{measure} = {number(part)} / {number(whole)} = {number(value)}",
    ]
    return Steps(
        value,
        lines,
        last_of(gains, measure.cutoff),
        {
            "subtopics": [",".join(names) for names in subtopics],
            "gain": gains,
            "DCG": sums,
            "ideal DCG": reached,
            "alpha_nDCG": [one / most if most else None for one, most in zip(sums, reached, strict=True)],
        },
    )


def _covers(listed: Listed, rel: float) -> dict[str, list[str]]:
    """Return the subtopics of each judged document that has any."""
    covers = {
        document: sorted(name for name, grade in grades.items() if grade >= rel)
        for document, grades in listed.subtopics.items()
    }
    return {document: names for document, names in covers.items() if names}


def _gains(subtopics: Iterable[list[str]], alpha: float) -> list[float]:
    """Return the gain at every rank from the subtopics of its document."""
    seen: dict[str, int] = {}
    gains = []
    for names in subtopics:
        gains.append(sum(((1.0 - alpha) ** seen.get(name, 0) for name in names), 0.0))
        for name in names:
            seen[name] = seen.get(name, 0) + 1
    return gains


def _discounted_sums(gains: list[float], cutoff: int | None) -> list[float]:
    """Return the cumulated discounted gain at every rank."""
    discounted = (gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
    return list(accumulate(within(discounted, cutoff)))


def _ideal(covers: Mapping[str, list[str]], alpha: float) -> list[list[str]]:
    """Return the subtopics of the greedy ideal list: each rank takes the document of largest gain."""
    left = sorted(covers, key=lambda name: name.encode("utf-8", "surrogateescape"), reverse=True)
    subtopics: list[list[str]] = []
    while left:
        adds = [round(_gains([*subtopics, covers[name]], alpha)[-1], 12) for name in left]
        subtopics.append(covers[left.pop(adds.index(max(adds)))])
    return subtopics


def _preference(measure: Any, listed: Listed) -> Steps:
    """Bpref: judged non-relevant documents above each relevant one."""
    relevant = listed.relevant(measure.rel)
    other = [int(grade is not None and 0 <= grade < measure.rel) for grade in listed.grades]
    above = list(accumulate(other))
    size = listed.count(measure.rel)
    others = sum(0 <= grade < measure.rel for grade in listed.judged)
    counted = f"judged: R = {size} relevant, N = {others} non-relevant"
    where = "where n is the number of judged non-relevant documents above it"
    if measure.divisor == "above":
        before = [n + found - 1 for n, found in zip(above, accumulate(relevant), strict=True)]
        losses = [n / most if most > 0 else 1.0 for n, most in zip(above, before, strict=True)]
        part = "n / (judged documents above it)"
        where += "; the contribution is 0 if no judged document is above it"
    else:
        bound = {"min": min(size, others), "R": size, "N": others}[measure.divisor]
        limit = others if measure.divisor == "N" else size
        losses = [min(n, limit) / max(bound, 1) for n in above]
        part = f"{'n' if measure.divisor == 'N' else 'min(n, R)'} / {max(bound, 1)}"
        counted += f"; min(N, R) = {bound}" if measure.divisor == "min" else ""
    parts = [flag * (1.0 - loss) for flag, loss in zip(relevant, losses, strict=True)]
    total = sum(parts)
    value = ratio(total, size)
    lines = [
        counted,
        f"contribution of each relevant document = 1 - {part}, {where}",
        f"{measure} = {number(total)} / {size} = {number(value)}",
    ]
    return Steps(
        value,
        lines,
        last_of(relevant),
        {"relevant": relevant, "nonrelevant above": above, "part": parts, "sum": list(accumulate(parts))},
    )


# Measures without a derivation show ranks and grades only.
DERIVATIONS: dict[str, Callable[[Any, Listed], Steps]] = {
    **dict.fromkeys(("P", "R", "Rprec", "F", "E", "Success"), _shares),
    "AP": _average_precision,
    "RR": _reciprocal_rank,
    "IPrec": _interpolated,
    **dict.fromkeys(("CG", "DCG", "nDCG"), _cumulated),
    "RBP": _rank_biased,
    "ERR": _cascade,
    "alpha_nDCG": _novel,
    "Bpref": _preference,
}
