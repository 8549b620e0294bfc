"""Every measure as a slow, obvious loop straight from its definition, and random queries.

The oracle of `leadline.measures.precision.P` is `oracles.precision.P`: a function with the parameters of the
measure. Nothing here comes from the package: a list is a set of (document, score) pairs, judgments are
{document: grade}, and an undefined value is NaN.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from hypothesis import strategies as st

Ranked = list[tuple[str, float]]
Grades = dict[str, float]
UNDEFINED = float("nan")


class Case(NamedTuple):
    """One query: what was retrieved, what was judged, and what the user knew before."""

    scores: dict[str, float]
    grades: Grades
    known: frozenset[str] = frozenset()

    @property
    def ranked(self) -> Ranked:
        """Return the list in order: score falling, then document id falling by bytes."""
        by_id = sorted(self.scores.items(), key=lambda pair: pair[0].encode(), reverse=True)
        return sorted(by_id, key=lambda pair: -pair[1])


def cut(case: Case, cutoff: int | None) -> list[str]:
    """Return the documents at ranks up to the cutoff."""
    return [document for document, _ in case.ranked][:cutoff]


def is_relevant(case: Case, document: str, rel: float) -> bool:
    return document in case.grades and case.grades[document] >= rel


def count_relevant(case: Case, rel: float) -> int:
    return sum(grade >= rel for grade in case.grades.values())


def count_found(case: Case, rel: float, cutoff: int | None) -> int:
    return sum(is_relevant(case, document, rel) for document in cut(case, cutoff))


def divide(part: float, whole: float) -> float:
    return part / whole if whole else UNDEFINED


DOCUMENTS = ["a", "B", "b", "b1", "b10", "b2", "é", "Ω", "_", "zz"]
GRADES = [0.0, 0.0, 1.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, 1.5, 0.25]


def cases() -> st.SearchStrategy[Case]:
    """Return queries with ties, unjudged, missing and negative documents, and fractional grades."""
    some = st.sets(st.sampled_from(DOCUMENTS), max_size=6).map(frozenset)
    scores = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 4).map(float), max_size=7)
    judged = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(GRADES), min_size=1)
    return st.builds(Case, scores, judged, some)


def random_cases(number: int) -> dict[str, Case]:
    """Return the same random queries every time, from those without any document to ten judged ones."""
    rng, found = random.Random(20), {}
    for place in range(number):
        listed = rng.sample(DOCUMENTS, rng.randint(0, 7))
        judged = rng.sample(DOCUMENTS, rng.randint(1, len(DOCUMENTS)))
        grades = rng.choice([GRADES, GRADES, GRADES, [0.0, 1.0], [0.0, -1.0], [0.0, 0.5], [1.0, 2.0]])
        found[f"q{place:03}"] = Case(
            {name: float(rng.randint(0, rng.choice([1, 4, 20]))) for name in listed},
            {name: rng.choice(grades) for name in judged},
            frozenset(rng.sample(DOCUMENTS, rng.randint(0, 6))),
        )
    return found
