"""Runs that were made with the audited judge: their common gain, the order of the others, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import leadline as ll
from conftest import Leadline
from leadline.errors import UsageError
from leadline.judging.agreement_audit import audit
from leadline.stats.correlation import kendall

RNG = np.random.default_rng(5)
NAMES = ["a", "b", "c", "d", "e"]
PEOPLE = RNG.random((30, 5))
LABELS = PEOPLE + 0.1 + RNG.normal(0, 0.05, (30, 5)) + np.array([0, 0, 0.2, 0, 0.3])


def test_the_gain_is_that_of_a_loop() -> None:
    found = audit(("people", "llm"), "P@10", NAMES, PEOPLE, LABELS, used=[2, 4], draws=100)
    assert found.used is not None
    gains = []
    for query in range(30):
        bias = [LABELS[query, run] - PEOPLE[query, run] for run in range(5)]
        gains.append((bias[2] + bias[4]) / 2 - (bias[0] + bias[1] + bias[3]) / 3)
    error = np.std(gains, ddof=1) / np.sqrt(30)
    assert found.used.gain.value == pytest.approx(np.mean(gains))
    assert found.used.gain.low == pytest.approx(np.mean(gains) - 2.045229642 * error)
    assert found.used.gain.high == pytest.approx(np.mean(gains) + 2.045229642 * error)
    others = [0, 1, 3]
    assert found.used.taus.kendall.value == pytest.approx(
        kendall(PEOPLE[:, others].mean(axis=0), LABELS[:, others].mean(axis=0))
    )
    assert found.used.runs == ["c", "e"]


def test_of_a_single_run_it_is_the_gain_of_that_run() -> None:
    found = audit(("people", "llm"), "P@10", NAMES, PEOPLE, LABELS, used=[2], draws=0)
    assert found.used is not None
    assert found.used.gain.value == pytest.approx(found.runs[2].gain.value)


def test_where_less_is_better_a_gain_is_a_fall() -> None:
    found = audit(("people", "llm"), "cost", NAMES, -PEOPLE, -LABELS, used=[2], draws=0, rising=False)
    same = audit(("people", "llm"), "P@10", NAMES, PEOPLE, LABELS, used=[2], draws=0)
    assert found.used is not None
    assert same.used is not None
    assert found.used.gain == pytest.approx(same.used.gain)


def test_scores_and_labels_are_audited_alike(tmp_path: Path, leadline: Leadline) -> None:
    lists = {
        name: {f"q{query}": [f"d{one}" for one in RNG.permutation(12)] for query in range(15)}
        for name in NAMES
    }
    people = {f"q{query}": {f"d{one}": int(RNG.random() < 0.4) for one in range(12)} for query in range(15)}
    labels = {query: {name: int(RNG.random() < 0.3) for name in one} for query, one in people.items()}
    for query, one in labels.items():  # the judge likes what run c has first
        one.update(dict.fromkeys(lists["c"][query][:4], 1))
    found = ll.agreement([people, labels], runs=lists, measures=["P@5"], used_the_judge=["c"], draws=0)
    used = found.audits[0].used
    assert used is not None
    assert used.gain.low > 0
    assert "The labels favor c, the run that used judge 2. P@5 gain" in str(found)
    scores = {name: ll.evaluate(one, lists, "P@5") for name, one in (("people", people), ("llm", labels))}
    audited = ll.audit_scores(scores, used_the_judge="c", draws=0)
    assert sorted(audited.queries) == sorted(people)
    other = audited.audits[0].used
    assert other is not None
    assert other.gain == pytest.approx(used.gain)
    for name, every in (("people", people), ("llm", labels)):
        rows = "".join(f"{query} 0 {d} {grade}\n" for query, of in every.items() for d, grade in of.items())
        (tmp_path / f"{name}.qrels").write_text(rows)
    for name, run in lists.items():
        rows = "".join(
            f"{query} Q0 {d} {rank} {-rank} {name}\n"
            for query, one in run.items()
            for rank, d in enumerate(one)
        )
        (tmp_path / f"{name}.run").write_text(rows)
    words = (
        "agreement",
        str(tmp_path / "people.qrels"),
        str(tmp_path / "llm.qrels"),
        "--runs",
        f"{tmp_path}/*.run",
    )
    done = leadline(*words, "-m", "P@5", "--used-the-judge", str(tmp_path / "c.run"), "-f", "json")
    assert done.data["audit"][0]["used_the_judge"]["gain"]["value"] == pytest.approx(used.gain.value)
    assert leadline(*words, "-m", "P@5", "--used-the-judge", "nobody").status == 2


def test_it_needs_an_audit_and_other_runs() -> None:
    people = {"q": {"d": 1, "e": 0}}
    with pytest.raises(UsageError, match="needs runs, and either exactly two judges or reference=True"):
        ll.agreement([people, people], used_the_judge=["c"])
    lists = {"a": {"q": ["d"]}, "b": {"q": ["e"]}}
    with pytest.raises(UsageError, match="needs at least two runs that did not"):
        ll.agreement([people, people], runs=lists, used_the_judge=["a"], draws=0)


def test_of_many_runs_the_first_ranks_are_shown_and_dots() -> None:
    lists = {name: {"q": ["d"]} for name in ("u", "v", "w", "x", "y", "z")}
    found = ll.agreement([{"q": {"d": 1}}] * 2, runs=lists, used_the_judge=["u", "v", "w", "x"], draws=0)
    assert "w 3.5 -> 3.5, .... Tau" in str(found)


def test_intervals_are_over_the_queries_of_each_measure() -> None:
    def scores(shift: int) -> ll.Results:
        values = {
            run: {f"q{q}": {"AP": (q + at * shift) % 7 / 7, "RR": q * shift % 5 / 5} for q in range(20)}
            for at, run in enumerate("abc")
        }
        for q in range(12, 20 if shift == 1 else 0):
            del values["a"][f"q{q}"]["RR"]
        return ll.read_scores(values, missing="drop")

    found = ll.audit_scores({"people": scores(1), "llm": scores(2)}, draws=0)
    assert [one.queries for one in found.audits] == [20, 12]
    assert "over 12 to 20 queries" in str(found)


def test_a_text_is_one_name() -> None:
    lists = {name: {"q": ["d"]} for name in ("x", "y", "xy", "z", "w")}
    found = ll.agreement([{"q": {"d": 1}}] * 2, runs=lists, used_the_judge="xy", draws=0)
    assert "not significantly" not in str(found)  # one query has no interval, so nothing was shown
    assert found.audits[0].used is not None
    assert found.audits[0].used.runs == ["xy"]
