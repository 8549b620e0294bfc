"""Judgments of several judges as one grade per pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from leadline.data.table import MERGED
from leadline.data.wording import counted
from leadline.errors import UsageError, did_you_mean, either

Pair = tuple[str, str]


class Judgment(NamedTuple):
    """The grade that a judge gave a document for a query; the last one where there were several."""

    query: str
    document: str
    judge: str
    grade: float


class Merged(NamedTuple):
    """One grade a pair; `shared` pairs had several judges, `tied` of them no majority.

    `votes` are the unlike grades by query and document, in the order of the judges' names.
    """

    grades: dict[Pair, float]
    rule: str
    shared: int
    votes: dict[str, dict[str, tuple[float, ...]]]
    tied: int

    @property
    def remarks(self) -> tuple[tuple[str, str, int], ...]:
        """Return code, words and count of what was merged; nothing where no pair had several judges."""
        if not self.shared:
            return ()
        unlike = sum(map(len, self.votes.values()))
        words = f"pairs with several judges: {self.shared:,}, {unlike:,} with different grades "
        words += f"(merged by {self.rule})"
        if self.tied:
            words += f", {counted(self.tied, 'tie')} resolved to the lower grade"
        return ((MERGED, words, self.shared),)


def majority(grades: Sequence[float]) -> float:
    """Return the grade of most judges; among grades of as many judges the lowest.

    >>> majority([2, 1, 2]), majority([0, 2])
    (2, 0)
    """
    votes = Counter(grades)
    return min(votes, key=lambda grade: (-votes[grade], grade))


def mean(grades: Sequence[float]) -> float:
    """Return the mean grade, a whole one as an integer.

    >>> mean([0, 1]), mean([1, 1])
    (0.5, 1)
    """
    found = sum(grades) / len(grades)
    return int(found) if found == int(found) else found


RULES: Mapping[str, Callable[[Sequence[float]], float]] = {"majority": majority, "max": max, "mean": mean}


def merge(judgments: Iterable[Judgment], rule: str = "majority") -> Merged:
    """Merge judgments by a rule of `RULES`, or take those of one judge by name.

    >>> found = merge([Judgment("q", "d", "ann", 1), Judgment("q", "d", "bob", 0)])
    >>> found.grades, found.tied
    ({('q', 'd'): 0}, 1)
    """
    judgments = list(judgments)
    if rule not in RULES:
        judgments = _of_judge(judgments, rule)
    by_pair: dict[Pair, list[float]] = {row[:2]: [] for row in judgments}
    places = {judge: place for place, judge in enumerate(sorted({row.judge for row in judgments}))}
    judgments.sort(key=lambda row: places[row.judge])
    for query, document, _, grade in judgments:
        by_pair[query, document].append(grade)
    for pair, grades in by_pair.items():  # a negative grade means not judged
        by_pair[pair] = [grade for grade in grades if grade >= 0] or grades
    shared = [grades for grades in by_pair.values() if len(grades) > 1]
    votes: dict[str, dict[str, tuple[float, ...]]] = {}
    for (query, document), grades in by_pair.items():
        if len(set(grades)) > 1:
            votes.setdefault(query, {})[document] = tuple(grades)
    settle = RULES.get(rule, majority)
    return Merged(
        {pair: settle(grades) for pair, grades in by_pair.items()},
        rule,
        len(shared),
        votes,
        sum(map(_is_tied, shared)) if rule == "majority" else 0,
    )


def _is_tied(grades: Sequence[float]) -> bool:
    votes = sorted(Counter(grades).values())
    return len(votes) > 1 and votes[-1] == votes[-2]


def _of_judge(judgments: list[Judgment], name: str) -> list[Judgment]:
    judges = sorted({judgment.judge for judgment in judgments})
    if name not in judges:
        known = [*RULES, *judges]
        hint = did_you_mean(name, known, most=2) or f"Use {either(known)}"
        raise UsageError(f"no merge rule or judge is called '{name}'. {hint}")
    return [judgment for judgment in judgments if judgment.judge == name]
