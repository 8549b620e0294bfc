"""The studies of DeShaTo: right where documents have one topic, honest where nothing is to be seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leadline.errors import InputError, UsageError
from leadline.estimators import read_systems
from leadline.formats import read_qrels, repair_of
from leadline.studies import studies, study
from leadline.studies.shape_discrimination import sets_of

SYSTEMS = study("shape-systems")
DISCRIMINATION = study("shape-discrimination")
WORDS = {
    "flight": "wing lift drag",
    "heat": "heat flow warm",
    "law": "court judge law",
    "cook": "salt pan oil",
}


def make(systems: int = 16) -> tuple[dict[str, dict[str, int]], Any, dict[str, str]]:
    """Make documents of one subject each, queries about one, and systems that find more and more of it."""
    dice = np.random.default_rng(5)
    texts = {
        f"{name}{place}": " ".join(dice.choice(words.split(), 30))
        for name, words in WORDS.items()
        for place in range(12)
    }
    qrels = {f"q{name}": {doc: 1 for doc in texts if doc.startswith(name)} for name in WORDS}
    runs: dict[str, Any] = {}
    for system in range(systems):
        runs[f"s{system:02}"] = {}
        for query, known in qrels.items():
            score = [known.get(doc, 0) * system * 0.25 + dice.normal() for doc in texts]
            order = np.argsort(-np.array(score))[:10].tolist()
            runs[f"s{system:02}"][query] = [list(texts)[place] for place in order]
    return qrels, runs, texts


def test_documents_of_one_topic_are_told_from_a_mixture() -> None:
    qrels, runs, texts = make()
    found = DISCRIMINATION.run(qrels, runs, docs=texts, topics=4, fits=2, sweeps=60, draws=5)
    accuracy = found.data["accuracy"]["random"]
    assert accuracy["queries"] == 4
    assert accuracy["value"] == 1
    assert accuracy["low"] <= accuracy["value"] <= accuracy["high"]
    assert ": reproduced in kind (above 90 %)" in found.lines[0]
    assert set(found.tables) == {"accuracy"}


def test_hard_documents_are_those_of_the_runs_and_none_is_relevant() -> None:
    qrels = read_qrels({"q": {"a": 1, "b": 0}})
    runs = {"x": {"q": ["c", "a"]}, "y": {"q": ["d", "c"]}}
    systems = read_systems(runs, repair_of("score", "refuse", "refuse"))
    place = {name: row for row, name in enumerate("abcde")}

    def others(kind: str, hard: int) -> list[int]:
        [(relevant, rest)] = sets_of(qrels, systems, place, kind, hard, 1.0)
        assert relevant.tolist() == [0]
        found: list[int] = rest.tolist()
        return found

    assert others("random", 1) == [1, 2, 3, 4]
    assert others("hard", 1) == others("hard", 2) == [2, 3]
    with pytest.raises(InputError, match="no query has a relevant document with a text"):
        sets_of(qrels, systems, {"z": 0}, "random", 1, 1.0)


def test_systems_that_find_one_topic_are_ordered_by_its_shape() -> None:
    qrels, runs, texts = make()
    found = SYSTEMS.run(qrels, runs, docs=texts, topics=4, fits=5, sweeps=60, subsets=5)
    at = {(one["depth"], one["truth"]): one for one in found.data["depths"]}
    assert set(at) == {(depth, truth) for depth in (10, 30, 100) for truth in ("MAP@30", "MAP")}
    assert at[30, "MAP@30"]["lowest"] > 0.5
    assert at[30, "MAP@30"]["lowest"] <= at[30, "MAP@30"]["deshato"] <= at[30, "MAP@30"]["highest"]
    assert set(found.data["few"]) == {"5", "10"}
    assert "reproduced in kind" in found.lines[0]
    assert "with five systems" in found.lines[1]


def test_too_few_systems_or_fits_give_no_verdict() -> None:
    qrels, runs, texts = make(4)
    found = SYSTEMS.run(qrels, runs, docs=texts, topics=4, fits=1, sweeps=20, subsets=2)
    assert "no verdict: 15 systems and 5 fits are the least" in found.lines[0]
    assert found.lines[1] == "five systems or fewer: nothing is said of few systems"


def test_the_studies_are_found_and_refuse_what_makes_no_sense() -> None:
    assert {"shape-systems", "shape-discrimination"} <= set(studies())
    qrels, runs, texts = make(2)
    with pytest.raises(UsageError, match="subsets=0; expected 1 or more"):
        SYSTEMS.run(qrels, runs, docs=texts, subsets=0)
    with pytest.raises(UsageError, match="draws=0; expected 1 or more"):
        DISCRIMINATION.run(qrels, runs, docs=texts, draws=0)
