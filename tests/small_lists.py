"""Small random lists with ties and unjudged documents, and all their orders."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from case_values import variants
from leadline.measures import MEASURES, Measure
from oracles import Case

GRADES = (-1, 0, 0, 1, 1, 2, 3, 0.5)


def random_cases(seed: int, number: int) -> Iterator[Case]:
    """Return small lists with ties; some documents are not judged, some judged ones not retrieved."""
    random = np.random.default_rng(seed)
    for _ in range(number):
        size = int(random.integers(1, 7))
        scores = {f"d{place}": float(random.integers(0, 3)) for place in range(size)}
        grades = {
            f"d{place}": float(random.choice(GRADES)) for place in range(size + 2) if random.random() < 0.7
        }
        yield Case(scores, grades or {"d0": 1.0})


def all_orders(case: Case) -> dict[str, Case]:
    """Return every order of the tied documents as a list without ties."""
    groups = [
        [document for document, other in case.scores.items() if other == score]
        for score in sorted(set(case.scores.values()), reverse=True)
    ]
    orders = itertools.product(*(itertools.permutations(group) for group in groups))
    return {
        str(number): Case(
            {document: -float(rank) for rank, document in enumerate(itertools.chain.from_iterable(order))},
            case.grades,
        )
        for number, order in enumerate(orders)
    }


def forms(name: str) -> list[Measure]:
    """Return a measure in many forms, less those that refuse the grades of the small lists."""
    return [
        measure
        for measure in variants(MEASURES.classes[name])
        if getattr(measure, "max_grade", 4.0) >= max(GRADES)
    ]
