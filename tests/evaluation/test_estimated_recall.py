"""Estimated R and recall: the sums by hand, a slow twin, no bias, intervals that hold the truth."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import leadline as ll
from conftest import Leadline
from leadline.data.judged_run import JudgedRun
from leadline.errors import InputError, UsageError
from leadline.evaluation.estimated_recall import (
    RecallEstimate,
    RecallEstimates,
    WeightedSum,
    ratio,
    recall,
    relevant,
)
from leadline.io.objects import Qrels, Run, read_qrels, write_qrels

# Two queries: 3 and 1 relevant documents for certain, of 40 others 4 drawn, two of those relevant.
GRADES = {"q1": {"a": 1, "b": 1, "c": 1, "d": 0, "r1": 1, "r2": 0}, "q2": {"a": 1, "r1": 2, "r2": 0, "x": 1}}
SHARES = {
    "q1": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "r1": 0.1, "r2": 0.1},
    "q2": {"a": 1.0, "r1": 0.1, "r2": 0.1},
}
RUN = {"q1": ["a", "r1", "b", "u"], "q2": ["u", "r2", "a"]}


def weight(query: str, document: str, rel: float) -> float:
    share = SHARES[query].get(document)
    return 0.0 if share is None or GRADES[query][document] < rel else 1 / share


def test_estimates_by_hand() -> None:
    results = ll.evaluate(GRADES, {"run": RUN}, ["R@3", "R@1", "R(rel=2)@3"], pool=SHARES)
    found = results.to_dict()
    # (3 + 10) and (1 + 10) relevant; found at 3: a, r1, b = 12 of q1 and a of q2
    assert [one["value"] for one in found["relevant"]] == [12.0, 5.0]
    estimates = found["runs"][0]["estimates"]
    assert estimates["R@3"]["value"] == pytest.approx(13 / 24)
    assert estimates["R@1"]["value"] == pytest.approx(1 / 24)
    assert estimates["R(rel=2)@3"]["value"] == 0
    assert found["runs"][0]["mean"]["R@3"] is None  # the pairs that were not drawn are unknown
    assert {notice.code: notice.count for notice in results.warnings}["outside_pool"] == 1
    for one in (*found["relevant"], *estimates.values()):
        assert one["low"] <= one["value"] <= one["high"]


def test_of_a_pool_without_a_draw_nothing_is_estimated_and_other_judgments_are_left_out() -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 0, "other": 1}}
    certain = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "unjudged": 1.0}}
    run = {"run": {"q": ["a", "other", "unjudged"]}}
    found = ll.evaluate(qrels, run, ["R@2", "P@2", "Judged@3"], pool=certain)
    plain = ll.evaluate({"q": {"a": 1, "b": 1, "c": 0}}, run, ["R@2", "P@2", "Judged@3"])
    assert found.to_dict()["runs"][0]["mean"] == plain.to_dict()["runs"][0]["mean"]
    assert {"outside_pool": 1, "unjudged_pool": 1}.items() <= {
        one.code: one.count for one in found.warnings
    }.items()
    judgments = Qrels.of([(b"q", b"a", 1.0), (b"q", b"b", 1.0), (b"q", b"c", 0.0)]).with_inclusion(certain)
    assert relevant(judgments) == (2.0, 2.0, 2.0)


def test_a_pool_without_a_judged_document_is_not_told_as_ids_that_do_not_match() -> None:
    found = ll.evaluate({"q": {"a": 1}}, {"run": {"q": ["a"]}}, ["P@1"], pool={"q": {"b": 1.0}})
    (told,) = [one.message for one in found.warnings if one.code == "no_judged_document"]
    assert "pool" in told
    assert "''" not in told
    assert "documents_of" not in told


def test_nothing_found_in_a_draw_still_leaves_doubt() -> None:
    qrels = Qrels.of([(b"q", b"a", 1.0), (b"q", b"r", 0.0)]).with_inclusion({"q": {"a": 1.0, "r": 0.01}})
    found = relevant(qrels)
    assert (found.value, found.low) == (1.0, 1.0)
    assert found.high == pytest.approx(1 + 100 * -math.log(0.025))  # Poisson: none seen


def test_the_interval_is_that_of_garwood_where_all_weights_are_one() -> None:
    # printed in many tables: 10 events, 95 %: 4.795 to 18.391
    low, high = WeightedSum(0.0, 10.0, 10.0, 1.0).limits(0.95)
    assert low == pytest.approx(4.7954, abs=1e-4)
    assert high == pytest.approx(18.3904, abs=1e-4)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.05, 0.5, 1.0]), st.booleans(), st.booleans()), min_size=1, max_size=12
    )
)
def test_the_sums_are_those_of_the_slow_loop(rows: list[tuple[float, bool, bool]]) -> None:
    names = [b"d%02d" % place for place in range(len(rows))]
    qrels = Qrels.of((b"q", name, float(good)) for name, (_, good, _) in zip(names, rows, strict=True))
    qrels = qrels.with_inclusion(
        {"q": {name.decode(): share for name, (share, _, _) in zip(names, rows, strict=True)}}
    )
    lists = [
        (b"q", name, -float(at)) for at, (name, row) in enumerate(zip(names, rows, strict=True)) if row[2]
    ]
    assume(lists)
    judged = JudgedRun.of_run(Run.of(lists, name="a"), qrels)
    whole = sum(1 / share for share, good, _ in rows if good)
    inside = sum(1 / share for share, good, taken in rows if good and taken)
    assert relevant(qrels).value == pytest.approx(whole)
    found = recall(judged)
    if whole:
        assert found.value == pytest.approx(inside / whole)
        assert 0 <= found.low <= found.value <= found.high <= 1
    else:
        assert math.isnan(found.value)


def drawn_world(seed: int, *, rest: int, relevant_rest: int, draw: int) -> tuple[Qrels, Run]:
    """Judge a pool of 5 relevant documents and a draw of the rest, for 20 queries."""
    random = np.random.default_rng(seed)
    rows: list[tuple[bytes, bytes, float]] = []
    shares: dict[str, dict[str, float]] = {}
    for number in range(20):
        sample = random.choice(rest, draw, replace=False).tolist()
        here = {f"c{place}": (1.0, 1.0) for place in range(5)}
        here |= {f"r{place}": (float(place < relevant_rest), draw / rest) for place in sample}
        shares[f"q{number}"] = {name: share for name, (_, share) in here.items()}
        rows += [(b"q%d" % number, name.encode(), grade) for name, (grade, _) in here.items()]
    listed = [
        (b"q%d" % number, name, -float(at))
        for number in range(20)
        for at, name in enumerate((b"c0", b"r0", b"c1", b"c2", b"x"))
    ]
    return Qrels.of(rows).with_inclusion(shares), Run.of(listed, name="a")


def test_estimates_have_no_bias_and_intervals_hold_the_truth_as_often_as_they_say() -> None:
    times = 300
    counts, recalls = [], []
    for seed in range(times):
        qrels, run = drawn_world(seed, rest=300, relevant_rest=3, draw=30)
        counts.append(relevant(qrels))
        recalls.append(recall(JudgedRun.of_run(run, qrels)))
    values = np.array([found.value for found in counts])
    assert abs(values.mean() - 8) < 3 * values.std() / math.sqrt(times)
    truth = 4 / 8  # c0, c1, c2 and r0 of 5 + 3
    assert abs(np.mean([found.value for found in recalls]) - truth) < 0.03  # a ratio of six draws
    for found, wanted in ((counts, 8.0), (recalls, truth)):
        held = np.mean([one.low <= wanted <= one.high for one in found])
        assert held > 0.93  # a gamma interval errs on the long side


def test_a_share_of_one_sum_in_two() -> None:
    none = WeightedSum(0.0, 0.0, 0.0, 0.0)
    assert math.isnan(ratio(none, none, 0.95).value)
    assert ratio(WeightedSum(3.0, 0.0, 0.0, 0.0), none, 0.95) == (1.0, 1.0, 1.0)
    assert ratio(none, WeightedSum(3.0, 0.0, 0.0, 0.0), 0.95) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".arrow"])
def test_probabilities_go_through_files(tmp_path: Path, suffix: str) -> None:
    if suffix in {".parquet", ".arrow"}:
        pytest.importorskip("pyarrow")
    qrels = read_qrels(GRADES).with_inclusion(SHARES)
    write_qrels(qrels, tmp_path / f"qrels{suffix}")
    found = read_qrels(tmp_path / f"qrels{suffix}")
    assert found == qrels
    assert found.inclusion_probabilities() == SHARES
    assert found != read_qrels(GRADES)
    assert found.of_queries(["q2"]).inclusion_probabilities() == {"q2": SHARES["q2"]}
    assert found.keep(found.grades > 0).inclusion_probabilities() != SHARES


def test_probabilities_come_with_frames_and_rows() -> None:
    rows = [{"query_id": "q", "doc_id": "d", "relevance": 1, "probability": 0.5}]
    assert read_qrels(rows).inclusion_probabilities() == {"q": {"d": 0.5}}
    pandas = pytest.importorskip("pandas")
    assert read_qrels(pandas.DataFrame(rows)).inclusion_probabilities() == {"q": {"d": 0.5}}


def test_a_probability_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance,probability\nq,d,1,0\n")
    with pytest.raises(InputError, match=r"qrels\.csv: document 'd' for query 'q': probability '0'"):
        read_qrels(tmp_path / "qrels.csv")
    with pytest.raises(UsageError, match="no inclusion probabilities"):
        relevant(read_qrels(GRADES))


def test_trec_qrels_have_no_place_for_probabilities(tmp_path: Path, leadline: Leadline) -> None:
    write_qrels(read_qrels(GRADES).with_inclusion(SHARES), tmp_path / "qrels.csv")
    done = leadline("convert", tmp_path / "qrels.csv", tmp_path / "qrels.txt")
    assert "TREC format cannot store inclusion probabilities" in done.refusal
    assert not (tmp_path / "qrels.txt").exists()
    assert "left out" not in leadline("convert", tmp_path / "qrels.csv", tmp_path / "q.jsonl").out
    assert read_qrels(tmp_path / "q.jsonl").inclusion_probabilities() == SHARES


def test_the_command_shows_recall_below_the_estimates(tmp_path: Path, leadline: Leadline) -> None:
    write_qrels(GRADES, tmp_path / "qrels.txt")
    lines = [f"{q}\t{d}\t{share}\n" for q, found in SHARES.items() for d, share in found.items()]
    (tmp_path / "pool.tsv").write_text("query_id\tdoc_id\tprobability\n" + "".join(lines) + "q3\td\t1\n")
    (tmp_path / "a.run").write_text(
        "".join(f"{q} 0 {d} 0 {-at} a\n" for q, found in RUN.items() for at, d in enumerate(found))
    )
    files = [tmp_path / "qrels.txt", tmp_path / "a.run"]
    done = leadline("evaluate", *files, "-m", "R@3", "-m", "P@3", "--pool", tmp_path / "pool.tsv")
    for said in (
        "estimated relevant documents: 12 per query (95 % interval over samples: ",
        "R@3 over all queries together (micro-average), with 95 % intervals over samples: a 0.5417 (",
        "excluded 1 judgment outside the sample",
        "1 pooled query without judgments (left out)",
    ):
        assert said in done.out
    wide = leadline("evaluate", *files, "-m", "R@3", "--pool", tmp_path / "pool.tsv", "-f", "json").data
    narrow = leadline(
        "evaluate", *files, "-m", "R@3", "--pool", tmp_path / "pool.tsv", "-f", "json", "--confidence", "0.5"
    ).data
    assert wide["relevant"][0]["low"] < narrow["relevant"][0]["low"]
    assert narrow["options"]["pool"] == str(tmp_path / "pool.tsv")
    plain = leadline("evaluate", *files, "-m", "R@3", "-f", "json").data
    assert "relevant" not in plain
    assert "estimates" not in plain["runs"][0]
    assert leadline("evaluate", *files, "--pool", tmp_path / "none.tsv").status == 2


def test_recall_over_all_queries_belongs_to_its_run_whichever_is_read_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = threading.Event()

    def late(judged: JudgedRun, *args: Any, **options: Any) -> RecallEstimate:
        found = recall(judged, *args, **options)
        if found.value == 0:
            other.set()
        elif not first.pop():  # the first run is read before all others
            other.wait(5)
            time.sleep(0.2)
        return found

    first = [False, True]
    monkeypatch.setattr("leadline.estimation.estimate.recall", late)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    runs = {"first": RUN, "late": RUN, "none": {"q1": ["u"], "q2": ["u"]}}
    found = ll.evaluate(GRADES, runs, "R@3", pool=SHARES).to_dict()["runs"]
    values = {one["name"]: one["estimates"]["R@3"]["value"] for one in found}
    assert values == {"first": pytest.approx(13 / 24), "late": pytest.approx(13 / 24), "none": 0}


def test_recall_without_a_sampled_relevant_document_is_called_undefined() -> None:
    missing = RecallEstimate(math.nan, math.nan, math.nan)
    found = RecallEstimates({9.0: RecallEstimate(0.0, 0.0, 0.4)}, [{"R(rel=9)@3": missing}], 0.95)
    assert "nan" not in "".join(found.notes(["a"]))
