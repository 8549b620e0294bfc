"""Random judgments by subtopic, and measures of diversity beside their slow twins."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.data.judged_run import JudgedRun
from leadline.io.read import read_qrels, read_run
from leadline.measures import MEASURES, Measure
from oracles import Case

DOCUMENTS = ["a", "B", "b", "b1", "b10", "é", "_", "zz"]
GRADES = [0.0, 1.0, 1.0, 2.0, -1.0, 0.5]
Pairs = list[set[str]]  # the subtopics that each document of a list covers


class SubtopicCase(NamedTuple):
    """One query: what was retrieved, and the grades by subtopic."""

    scores: dict[str, float]
    grades: dict[str, dict[str, float]]

    @property
    def ranked(self) -> list[str]:
        """Give the list in order: score falling, then document id falling by bytes."""
        by_id = sorted(self.scores, key=str.encode, reverse=True)
        return sorted(by_id, key=lambda name: -self.scores[name])

    @property
    def judged(self) -> list[str]:
        """Give the judged documents, the largest id first."""
        names = {name for grades in self.grades.values() for name in grades}
        return sorted(names, key=str.encode, reverse=True)

    def covers(self, document: str, rel: float) -> set[str]:
        """Give the subtopics of a document."""
        return {
            name for name, grades in self.grades.items() if document in grades and grades[document] >= rel
        }

    def found(self, rel: float, cutoff: int | None) -> Pairs:
        """Give the subtopics of each document in the list."""
        return [self.covers(name, rel) for name in self.ranked[:cutoff]]

    def size(self, rel: float) -> int:
        """Count the subtopics that can be covered."""
        return len(set().union(*(self.covers(name, rel) for name in self.judged)))

    def ideal(self, rel: float, alpha: float, cutoff: int | None) -> Pairs:
        """Give the greedy ideal list, with exact sums; the largest id first among equals."""
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
    """Give a query as one that was judged by subtopic: for a single one if it was not."""
    return case if isinstance(case, SubtopicCase) else SubtopicCase(case.scores, {"1": case.grades})


def novel(found: Pairs, alpha: float, discount: Callable[[int], float]) -> float:
    """Add up what each document adds for each of its subtopics."""
    total = 0.0
    for place, covers in enumerate(found):
        for topic in covers:
            earlier = sum(topic in before for before in found[:place])
            total += (1 - alpha) ** earlier * discount(place + 1)
    return total


def join(cases: Mapping[str, SubtopicCase]) -> JudgedRun:
    """Join queries as the package does."""
    qrels = read_qrels({query: case.grades for query, case in cases.items()}, subtopics=True)
    return JudgedRun.of_run(
        read_run({query: case.scores for query, case in cases.items() if case.scores}), qrels
    )


def value(measure: Measure, case: SubtopicCase) -> float:
    """Give the value of one query alone."""
    return float(measure.values(join({"q": case}))[0])


def of_list(text: str, documents: list[str], others: Sequence[str] = ()) -> float:
    """Give the value of one list from the letters of the subtopics that each document covers."""
    measure: Any = MEASURES.parse(text)
    return float(measure.of_subtopics(documents, others))


def subtopic_cases() -> st.SearchStrategy[SubtopicCase]:
    """Give queries with ties, unjudged and negative documents, and fractional grades."""
    names = st.sampled_from(DOCUMENTS)
    scores = st.dictionaries(names, st.integers(0, 4).map(float), max_size=7)
    grades = st.dictionaries(names, st.sampled_from(GRADES), min_size=1, max_size=6)
    topics = st.dictionaries(st.sampled_from(["1", "2", "10", "s"]), grades, min_size=1)
    return st.builds(SubtopicCase, scores, topics)


def agree(oracle: Callable[..., float], *texts: str) -> None:
    """Assert that measures equal their slow twin on random queries, and lie in their range."""
    measures = [MEASURES.parse(text) for text in texts]
    some = st.lists(subtopic_cases(), min_size=1, max_size=3)

    @given(some.filter(lambda found: any(case.scores for case in found)))
    def check(found: list[SubtopicCase]) -> None:
        cases = {f"q{place}": case for place, case in enumerate(found)}
        judged = join(cases)
        for measure in measures:
            given_ = {name: getattr(measure, name) for name in measure.parameters()}
            values = measure.values(judged)
            assert values.dtype == np.float64
            for mine, case in zip(values.tolist(), cases.values(), strict=True):
                wanted = oracle(case, **given_)
                assert mine == pytest.approx(wanted, rel=1e-12, abs=1e-15, nan_ok=True)
                assert math.isnan(mine) or measure.low <= mine <= measure.high

    check()


def ndeval(measure: str, covers: Mapping[str, list[str]], ranked: list[str], **given_: float) -> float:
    """Give ndeval's value of one list from the subtopics of each judged document."""
    package: Any = pytest.importorskip("pyndeval", reason="pyndeval is not installed")
    qrels = [package.SubtopicQrel("q", topic, name, 1) for name, topics in covers.items() for topic in topics]
    run = [package.ScoredDoc("q", name, -float(place)) for place, name in enumerate(ranked)]
    return float(package.ndeval(qrels, run, [measure], **given_)["q"][measure])


def same_as_ndeval(seed: int, text: str, theirs: str) -> None:
    """Assert that a measure equals ndeval on a random list without ties."""
    measure = MEASURES.parse(text)
    at = "".join(text.partition("@")[1:])
    given_ = {name: getattr(measure, name) for name in ("alpha", "beta") if name in measure.parameters()}
    random = np.random.default_rng(seed)
    names = [f"d{number}" for number in range(40)]
    judged = random.choice(names, size=random.integers(3, 40), replace=False).tolist()
    covers = {
        name: random.choice(list("12345"), random.integers(1, 4), replace=False).tolist() for name in judged
    }
    ranked = random.choice(names, size=random.integers(1, 40), replace=False).tolist()
    grades: dict[str, dict[str, float]] = {}
    for name, topics in covers.items():
        for topic in topics:
            grades.setdefault(topic, {})[name] = 1.0
    case = SubtopicCase({name: -float(place) for place, name in enumerate(ranked)}, grades)
    wanted = ndeval(theirs + at, covers, ranked, **given_)
    assert value(measure, case) == pytest.approx(wanted, rel=1e-12)
