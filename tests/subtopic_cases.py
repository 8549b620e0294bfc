"""Random judgments by subtopic, and measures of diversity beside their slow twins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from leadline.data.judged_run import JudgedRun
from leadline.io.objects import read_qrels, read_run
from leadline.measures import MEASURES, Measure
from oracles.diversity import SubtopicCase


def join(cases: Mapping[str, SubtopicCase]) -> JudgedRun:
    """Join queries as the package does."""
    qrels = read_qrels({query: case.grades for query, case in cases.items()}, subtopics=True)
    return JudgedRun.of_run(
        read_run({query: case.scores for query, case in cases.items() if case.scores}), qrels
    )


def value(measure: Measure, case: SubtopicCase) -> float:
    """Return the value of one query alone."""
    return float(measure.values(join({"q": case}))[0])


def of_list(text: str, documents: list[str], others: Sequence[str] = ()) -> float:
    """Return the value of one list from the letters of the subtopics that each document covers."""
    measure: Any = MEASURES.parse(text)
    return float(measure.of_subtopics(documents, others))


def ndeval(measure: str, covers: Mapping[str, list[str]], ranked: list[str], **given_: float) -> float:
    """Return ndeval's value of one list from the subtopics of each judged document."""
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
