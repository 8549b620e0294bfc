"""Progress of the judges, their agreement, and the cost of each form of presentation."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from threading import Lock
from typing import Any

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.judging.queue import Queues
from leadline.judging.store import Act
from leadline.stats.agreement_coefficients import COEFFICIENTS, FEWEST_PAIRS, acceptable

Judgments = dict[str, dict[int, Act]]
HASTY = 0.5  # seconds, too short to read a title
KAPPA = "Scott"  # pooled marginals, as in Manning et al. 2008
SHOWN = ("PercentAgreement", KAPPA, "Cohen")


class Progress:
    """Numbers of the progress page, computed again only after a new judgment."""

    def __init__(self, queues: Queues) -> None:
        self.queues = queues
        self._lock = Lock()
        self._made: tuple[tuple[int, int], dict[str, Any]] | None = None

    def numbers(self) -> dict[str, Any]:
        """Return all numbers as plain data; None is undefined."""
        with self._lock:
            version = self.queues.version, len(self.queues.judges())
            if self._made is None or self._made[0] != version:
                self._made = version, self._numbers()
            return self._made[1]

    def _numbers(self) -> dict[str, Any]:
        numbers = {
            judge: {pair: act for pair, act in acts.items() if pair in self.queues.pairs}
            for judge, acts in self.queues.judgments().items()
        }
        judged = {pair for acts in numbers.values() for pair in acts}
        pairs = Counter(pair.query for pair in self.queues.pairs.values())
        done = Counter(self.queues.pairs[pair].query for pair in judged)
        return {
            "pairs": len(self.queues.pairs),
            "judged": len(judged),
            "queries": len(pairs),
            "queries_done": sum(done[query] == size for query, size in pairs.items()),
            "grades": [
                {"grade": grade.value, "name": grade.name, "count": _given(numbers, grade.value)}
                for grade in self.queues.store.grades
            ],
            "judges": [self._judge(judge, acts) for judge, acts in numbers.items()],
            "forms": forms(numbers),
            "agreement": agreement(numbers, [grade.value for grade in self.queues.store.grades]),
        }

    def _judge(self, judge: str, acts: dict[int, Act]) -> dict[str, Any]:
        seconds = [act.seconds for act in acts.values() if act.seconds is not None]
        return {
            "judge": judge,
            **self.queues.count(judge)._asdict(),
            "awaited": self.queues.awaited(judge),
            "seconds": statistics.median(seconds) if seconds else None,
            "hasty": sum(duration < HASTY for duration in seconds),
            "notes": sum(bool(act.note) for act in acts.values()),
        }


def _given(judgments: Judgments, grade: int) -> int:
    return sum(act.grade == grade for acts in judgments.values() for act in acts.values())


def forms(judgments: Judgments) -> list[dict[str, Any]]:
    """Return, per form of presentation, the judgments, median seconds, and share with the full text opened.

    `shared` counts the pairs that one judge saw in this form and another in any, and `agreement` is the
    proportion of equal grades among them.
    """
    rows = []
    acts = [act for judged in judgments.values() for act in judged.values()]
    given = Counter(act.pair for act in acts)
    alike = Counter((act.pair, act.grade) for act in acts)
    for form in dict.fromkeys(act.shown for act in acts):
        acts_of_form = [act for act in acts if act.shown == form]
        seconds = [act.seconds for act in acts_of_form if act.seconds is not None]
        others = sum(given[act.pair] - 1 for act in acts_of_form)
        equal = sum(alike[act.pair, act.grade] - 1 for act in acts_of_form)
        rows.append(
            {
                "form": form,
                "judgments": len(acts_of_form),
                "seconds": statistics.median(seconds) if seconds else None,
                "opened": sum(act.opened for act in acts_of_form),
                "shared": len({act.pair for act in acts_of_form if given[act.pair] > 1}),
                "agreement": equal / others if others else None,
            }
        )
    return rows


def agreement(judgments: Judgments, grades: Sequence[int]) -> list[dict[str, Any]]:
    """Return the agreement of every two judges on the pairs judged by both, most pairs first.

    `grades` are those of the scale, in increasing order.
    """
    rows: list[dict[str, Any]] = []
    tables: list[Floats] = []
    codes = _codes(judgments, grades)
    for (a, left), (b, right) in combinations(codes.items(), 2):
        both = (left >= 0) & (right >= 0)
        if count := int(both.sum()):
            rows.append({"a": a, "b": b, "pairs": count})
            cells = np.bincount(left[both] * len(grades) + right[both], minlength=len(grades) ** 2)
            tables.append(cells.reshape(len(grades), len(grades)).astype(np.float64))
    if not rows:
        return []
    for name in SHOWN:
        coefficient = COEFFICIENTS.parse(name)
        values = coefficient.of_tables(np.stack(tables), np.array(grades, dtype=np.float64))
        for row, value in zip(rows, values.tolist(), strict=True):
            row[coefficient.key] = None if math.isnan(value) else value
            if name == KAPPA:
                row["acceptable"] = acceptable(value, row["pairs"])
                row["few"] = row["pairs"] < FEWEST_PAIRS
    return sorted(rows, key=lambda row: -row["pairs"])


def _codes(judgments: Judgments, grades: Sequence[int]) -> dict[str, Integers]:
    """Return, per judge, the index in the scale of the grade of each pair; -1 for none."""
    index_of = {
        pair: index for index, pair in enumerate({pair for acts in judgments.values() for pair in acts})
    }
    scale = {grade: code for code, grade in enumerate(grades)}
    codes_of_judge = {}
    for judge, acts in judgments.items():
        codes = np.full(len(index_of), -1, dtype=np.int64)
        codes[[index_of[pair] for pair in acts]] = [scale[act.grade or 0] for act in acts.values()]
        codes_of_judge[judge] = codes
    return codes_of_judge
