"""Oracles of the measures in `leadline.measures.diversity`, and random judgments by subtopic."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from oracles import Case, cut, divide, is_relevant

DOCUMENTS = ["a", "B", "b", "b1", "b10", "é", "_", "zz"]
GRADES = [0.0, 1.0, 1.0, 2.0, -1.0, 0.5]
Pairs = list[set[str]]  # the subtopics that each document of a list covers


class SubtopicCase(NamedTuple):
    """One query: what was retrieved, and the grades by subtopic."""

    scores: dict[str, float]
    grades: dict[str, dict[str, float]]

    @property
    def ranked(self) -> list[str]:
        """Return the list in order: score falling, then document id falling by bytes."""
        by_id = sorted(self.scores, key=str.encode, reverse=True)
        return sorted(by_id, key=lambda name: -self.scores[name])

    @property
    def judged(self) -> list[str]:
        """Return the judged documents, the largest id first."""
        names = {name for grades in self.grades.values() for name in grades}
        return sorted(names, key=str.encode, reverse=True)

    def covers(self, document: str, rel: float) -> set[str]:
        """Return the subtopics of a document."""
        return {
            name for name, grades in self.grades.items() if document in grades and grades[document] >= rel
        }

    def found(self, rel: float, cutoff: int | None) -> Pairs:
        """Return the subtopics of each document in the list."""
        return [self.covers(name, rel) for name in self.ranked[:cutoff]]

    def size(self, rel: float) -> int:
        """Count the subtopics that can be covered."""
        return len(set().union(*(self.covers(name, rel) for name in self.judged)))

    def ideal(self, rel: float, alpha: float, cutoff: int | None) -> Pairs:
        """Return the greedy ideal list, with exact sums; the largest id first among equals."""
        left = {name: self.covers(name, rel) for name in self.judged}
        keep, ideal = 1 - Fraction(str(alpha)), Pairs()
        while left:
            gain = {
                name: sum(keep ** sum(topic in seen for seen in ideal) for topic in covers)
                for name, covers in left.items()
            }
            ideal.append(left.pop(max(left, key=lambda name: gain[name])))
        return ideal[:cutoff]


def by_subtopic(case: Case | SubtopicCase) -> SubtopicCase:
    """Return a query as one that was judged by subtopic: for a single one if it was not."""
    return case if isinstance(case, SubtopicCase) else SubtopicCase(case.scores, {"1": case.grades})


def novel(found: Pairs, alpha: float, discount: Callable[[int], float]) -> float:
    """Add up what each document adds for each of its subtopics."""
    total = 0.0
    for place, covers in enumerate(found):
        for topic in covers:
            earlier = sum(topic in before for before in found[:place])
            total += (1 - alpha) ** earlier * discount(place + 1)
    return total


def random_subtopic_cases(number: int) -> dict[str, SubtopicCase]:
    """Return the same random queries every time, with ties, unjudged and negative documents and fractions."""
    rng, found = random.Random(20), {}
    for place in range(number):
        listed = rng.sample(DOCUMENTS, rng.randint(0, 7))
        topics = rng.sample(["1", "2", "10", "s"], rng.randint(1, 4))
        found[f"q{place:03}"] = SubtopicCase(
            {name: float(rng.randint(0, rng.choice([1, 4, 20]))) for name in listed},
            {
                topic: {name: rng.choice(GRADES) for name in rng.sample(DOCUMENTS, rng.randint(1, 6))}
                for topic in topics
            },
        )
    return found


def StRecall(case: Case | SubtopicCase, *, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)
    size = case.size(rel)
    return len(set().union(*case.found(rel, cutoff))) / size if size else math.nan


def P_IA(case: Case | SubtopicCase, *, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)
    found = sum(map(len, case.found(rel, cutoff)))
    size = case.size(rel) * (cutoff or len(case.scores))
    return found / size if size else math.nan


def AP_IA(case: Case | SubtopicCase, *, rel: float) -> float:
    case = by_subtopic(case)
    judged = [case.covers(name, rel) for name in case.judged]
    topics, found = set().union(*judged), case.found(rel, None)
    total = 0.0
    for topic in topics:
        ranks = [rank for rank, covers in enumerate(found, start=1) if topic in covers]
        size = sum(topic in covers for covers in judged)
        total += sum(nth / rank for nth, rank in enumerate(ranks, start=1)) / size
    return total / len(topics) if topics else math.nan


def ERR_IA(case: Case | SubtopicCase, *, rel: float, cutoff: int) -> float:
    case = by_subtopic(case)
    size = case.size(rel)
    best = sum(size * 0.5 ** (rank - 1) / rank for rank in range(1, cutoff + 1))
    found = novel(case.found(rel, cutoff), 0.5, lambda rank: 1 / rank)
    return found / best if size else math.nan


def nERR_IA(case: Case | SubtopicCase, *, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)
    best = novel(case.ideal(rel, 0.5, cutoff), 0.5, lambda rank: 1 / rank)
    found = novel(case.found(rel, cutoff), 0.5, lambda rank: 1 / rank)
    return found / best if best else math.nan


def alpha_DCG(case: Case | SubtopicCase, *, alpha: float, rel: float, cutoff: int) -> float:
    case = by_subtopic(case)
    size = case.size(rel)
    best = sum(size * (1 - alpha) ** (r - 1) / math.log2(r + 1) for r in range(1, cutoff + 1))
    found = novel(case.found(rel, cutoff), alpha, lambda rank: 1 / math.log2(rank + 1))
    return found / best if size else math.nan


def alpha_nDCG(case: Case | SubtopicCase, *, alpha: float, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)

    def added(found: Pairs) -> float:
        return novel(found, alpha, lambda rank: 1 / math.log2(rank + 1))

    best = added(case.ideal(rel, alpha, cutoff))
    return added(case.found(rel, cutoff)) / best if best else math.nan


def NRBP(case: Case | SubtopicCase, *, alpha: float, beta: float, rel: float) -> float:
    case = by_subtopic(case)
    size = case.size(rel)
    found = novel(case.found(rel, None), alpha, lambda rank: beta ** (rank - 1))
    return found * (1 - (1 - alpha) * beta) / size if size else math.nan


def nNRBP(case: Case | SubtopicCase, *, alpha: float, beta: float, rel: float) -> float:
    case = by_subtopic(case)

    def added(found: Pairs) -> float:
        return novel(found, alpha, lambda rank: beta ** (rank - 1))

    best = added(case.ideal(rel, alpha, None))
    return added(case.found(rel, None)) / best if best else math.nan


def D_nDCG(case: Case | SubtopicCase, *, cutoff: int | None) -> float:
    case = by_subtopic(case)

    def gain(name: str) -> float:
        return sum(max(grades.get(name, 0), 0) for grades in case.grades.values())

    def added(names: list[str]) -> float:
        return sum(gain(name) / math.log2(rank + 1) for rank, name in enumerate(names, start=1))

    best = added(sorted(case.judged, key=gain, reverse=True)[:cutoff])
    return added(case.ranked[:cutoff]) / best if best else math.nan


def Dsharp_nDCG(case: Case | SubtopicCase, *, gamma: float, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)

    def gain(name: str) -> float:
        return sum(max(grades.get(name, 0), 0) for grades in case.grades.values())

    def added(names: list[str]) -> float:
        return sum(gain(name) / math.log2(rank + 1) for rank, name in enumerate(names, start=1))

    best, size = added(sorted(case.judged, key=gain, reverse=True)[:cutoff]), case.size(rel)
    if not best or not size:
        return math.nan
    recall = len(set().union(*case.found(rel, cutoff))) / size
    return gamma * recall + (1 - gamma) * added(case.ranked[:cutoff]) / best


def Coverage(case: Case, *, rel: float, cutoff: int | None) -> float:
    wanted = [name for name in case.known if is_relevant(case, name, rel)]
    return divide(sum(name in wanted for name in cut(case, cutoff)), len(wanted))


def Novelty(case: Case, *, rel: float, cutoff: int | None) -> float:
    found = [name for name in cut(case, cutoff) if is_relevant(case, name, rel)]
    return divide(sum(name not in case.known for name in found), len(found))
