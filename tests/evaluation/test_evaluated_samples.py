"""`evaluate` with the pool that judgments were drawn from: the estimates, their intervals, and gates."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import leadline as ll
from conftest import Leadline
from leadline.data.judgment_tables import DrawnPool
from leadline.estimation.estimate import EstimatedResults, estimate
from leadline.estimation.pool_designs import pool_for
from leadline.io.pool_files import read_drawn_pool

Grades = dict[str, dict[str, float]]
RNG = random.Random(3)
TRUTH: Grades = {f"q{one}": {f"d{two}": float(RNG.random() < 0.3) for two in range(40)} for one in range(40)}
RUNS = {
    name: {
        query: {doc: share * grade + RNG.gauss(0, 1) for doc, grade in row.items()}
        for query, row in TRUTH.items()
    }
    for name, share in (("old", 0.8), ("new", 1.6))
}
LABELS = {
    query: {doc: grade if RNG.random() < 0.8 else 1 - grade for doc, grade in row.items()}
    for query, row in TRUTH.items()
}


def judged_of(pool: DrawnPool) -> Grades:
    found: Grades = {}
    for query, document, drawn in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
        if drawn:
            found.setdefault(query, {})[document] = TRUTH[query][document]
    return found


def write(path: str, grades: Grades) -> None:
    lines = [f"{q} 0 {d} {int(g)}\n" for q, row in grades.items() for d, g in row.items()]
    Path(path).write_text("".join(lines))


@pytest.mark.parametrize("labels", [None, LABELS])
def test_with_a_drawn_pool_the_estimator_answers(labels: Grades | None) -> None:
    pool = pool_for(RUNS, "P@10", budget=6).pool
    given = {"pool": pool, "machine": labels, "confidence": 0.9, "seed": 2}
    measures = ["P@10", "nDCG@10", "AP"]
    found = ll.evaluate(judged_of(pool), RUNS, measures, **given)  # type: ignore[arg-type]
    assert isinstance(found, EstimatedResults)
    assert found.to_dict() == estimate(judged_of(pool), RUNS, measures, **given).to_dict()  # type: ignore[arg-type]


def test_options_that_an_estimate_has_no_meaning_for_are_refused() -> None:
    pool = pool_for(RUNS, "P@10", budget=6).pool
    for options in ({"bounds": True}, {"intervals": True}, {"queries": "both"}, {"depth": 5}):
        with pytest.raises(ll.UsageError, match=next(iter(options))):
            ll.evaluate(judged_of(pool), RUNS, "P@10", pool=pool, **options)
    with pytest.raises(ll.UsageError, match="pool"):
        ll.evaluate(TRUTH, RUNS, "P@10", machine=LABELS)


def test_the_command_gives_what_estimate_gives(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, run in RUNS.items():
        ll.write_run(run, f"{name}.run")
    write("labels.qrels", LABELS)
    drawing = ("pool", "old.run", "new.run", "--for", "P@10", "--budget", "6", "--machine", "labels.qrels")
    assert leadline(*drawing, "-o", "pool.tsv").status == 0
    write("judged.qrels", judged_of(read_drawn_pool("pool.tsv")))
    given = ("judged.qrels", "old.run", "new.run", "--pool", "pool.tsv")
    for more in ((), ("--machine", "none"), ("-m", "AP", "-m", "P@5", "--confidence", "0.9", "-q")):
        found = leadline("evaluate", *given, *more, "-f", "json").data
        machine = None if "none" in more else "labels.qrels"
        measures, level = (["AP", "P@5"], 0.9) if "-m" in more else (["P@10"], 0.95)
        known = estimate(
            given[0], given[1:3], measures, pool="pool.tsv", machine=machine, confidence=level
        ).to_dict(per_query="-q" in more)
        labels = "none" if "none" in more else None  # by default those that the pool names
        of_python = ll.evaluate(
            given[0], given[1:3], measures, pool="pool.tsv", machine=labels, confidence=level
        )
        for key in ("measures", "queries", "runs"):
            assert found[key] == known[key] == of_python.to_dict(per_query="-q" in more)[key]
        assert found["options"]["pool"] == "pool.tsv"
    assert "leadline evaluate JUDGMENTS RUN... --pool POOL" in leadline("estimate", *given).refusal
    with pytest.raises(AttributeError, match=r"evaluate\(judgments, runs, pool=pool\)"):
        _ = ll.estimate  # type: ignore[attr-defined]
    one = ll.evaluate("judged.qrels", ["old.run"], "P@10", pool="pool.tsv", machine="labels.qrels")
    assert isinstance(one, EstimatedResults)
    inside = one.estimate("old", "P@10").these_low + 1e-6
    floors = {one.estimate("old", "P@10").these_low - 1e-6: 0, inside: 1, 0.99: 1}
    for floor, status in floors.items():
        done = leadline("evaluate", "judged.qrels", "old.run", *given[3:], "--fail-below", f"P@10={floor}")
        assert done.status == status
    assert leadline("evaluate", *given, "-o", "means.svg").status == 0
    Path("kinds.csv").write_text("query_id,kind\n" + "".join(f"q{one},{one % 2}\n" for one in range(40)))
    sliced = ("--query-slice", "kinds.csv:kind")
    assert leadline("evaluate", *given, "-m", "P@10", *sliced).status == 0
    assert leadline("evaluate", *given, "-m", "AP", *sliced).status == 2  # no interval is given
    for words in (
        ("--figure", "box", "-o", "box.svg"),
        ("-f", "trec"),
        ("-n",),
        ("-q",),
        ("--parts",),
        ("--bounds",),
    ):
        assert leadline("evaluate", *given, *words).status == 2
    assert leadline("evaluate", *given[:3], "--machine", "labels.qrels").status == 2


def test_a_gate_cannot_tell_where_an_estimate_has_no_interval(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ll.write_run(RUNS["new"], "new.run")
    assert leadline("pool", "new.run", "--for", "AP", "--budget", "6", "-o", "pool.tsv").status == 0
    write("judged.qrels", judged_of(read_drawn_pool("pool.tsv")))
    words = ("evaluate", "judged.qrels", "new.run", "--pool", "pool.tsv", "--fail-below", "AP=0.0001")
    assert leadline(*words).status == 1
    data = leadline(*words, "-f", "json").data
    assert data["conditions"][0]["cannot_tell"] is True


@pytest.mark.parametrize("budget", [5, 8])
def test_the_table_says_how_many_judgments_it_is_estimated_from(budget: int) -> None:
    pool = pool_for(RUNS, "P@10", budget=budget).pool
    judged = judged_of(pool)
    count = sum(map(len, judged.values()))
    table = str(ll.evaluate(judged, RUNS, "P@10", pool=pool))
    assert f"{count:,} judgments, {count / len(TRUTH):.3g} per query" in table
