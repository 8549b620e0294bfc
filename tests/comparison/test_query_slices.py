"""Slices of the queries: their values, tests and correction, and where they are read from."""

from __future__ import annotations

import json
from math import isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from test_comparison import QRELS, RUNS, ranked, varied

import leadline as ll
from conftest import Leadline
from leadline.comparison.query_slices import Slices, read_slices, slices_of
from leadline.errors import InputError, UsageError
from leadline.stats import CORRECTIONS

TYPES = {f"q{query}": "ab"[query % 2] for query in range(20)} | {"q20": "c", "q21": "c", "q99": "d"}


def means(found: Slices) -> dict[tuple[str | None, str], Any]:
    """Return the means by slice and run."""
    return {(one.slice, one.run): one for one in found.records}


def differences(found: Slices) -> dict[str | None, Any]:
    """Return the differences of the only pair by slice."""
    return {one.slice: one for one in found.records}


def test_a_mean_over_a_slice_worked_by_hand() -> None:
    """Ranks 1, 2, 1, 2, 1 and 4 with slices of five and of one."""
    runs = {"run": ranked(1, 2, 1, 2, 1, 4)}
    qrels = dict(list(QRELS.items())[:6])
    found = means(
        slices_of(ll.evaluate(qrels, runs, "RR"), dict.fromkeys(list(qrels)[:5], "x") | {"q5": "y"})
    )
    whole, five, one = (found[name, "run"] for name in (None, "x", "y"))
    assert (whole.queries, five.queries, one.queries) == (6, 5, 1)
    assert whole.mean == pytest.approx((1 + 0.5 + 1 + 0.5 + 1 + 0.25) / 6)
    assert five.mean == pytest.approx(0.8)
    deviation = sqrt((3 * 0.2**2 + 2 * 0.3**2) / 4)
    half = 2.7764451 * deviation / sqrt(5)  # the quantile of t with 4 degrees of freedom
    assert [five.low, five.high] == pytest.approx([0.8 - half, 0.8 + half])
    assert one.mean == 0.25
    assert isnan(one.low)
    assert one.reason == "1 query, but at least 5 are needed"


def slow(
    values: dict[str, tuple[float, float]], slices: dict[str, str]
) -> dict[str, tuple[float, float, int]]:
    """Return difference, p and number of queries of each slice of at least five queries, one by one."""
    found = {}
    for name in sorted(set(slices.values())):
        pairs = [values[query] for query in values if slices.get(query) == name]
        if len(pairs) < 5:
            continue
        gaps = [a - b for a, b in pairs]
        found[name] = (sum(gaps) / len(gaps), float(stats.ttest_1samp(gaps, 0).pvalue), len(gaps))
    return found


@given(
    ranks=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=24, max_size=24),
    labels=st.lists(st.sampled_from(["a", "b", "c", None]), min_size=24, max_size=24),
)
def test_differences_and_p_are_those_of_each_slice_alone(
    ranks: list[tuple[int, int]], labels: list[str | None]
) -> None:
    runs = {"b": ranked(*(other for _, other in ranks)), "a": ranked(*(one for one, _ in ranks))}
    slices = {f"q{query}": name for query, name in enumerate(labels) if name is not None}
    if not slices:
        return
    found = slices_of(ll.compare(QRELS, runs, "RR"), slices)
    values = {f"q{query}": (1 / one, 1 / other) for query, (one, other) in enumerate(ranks)}
    expected = slow(values, slices)
    spread = {
        name: len({values[q][0] - values[q][1] for q in slices if slices[q] == name}) > 1 for name in expected
    }
    records = differences(found)
    for name, (difference, p, queries) in expected.items():
        assert records[name].difference == pytest.approx(difference)
        assert records[name].queries == queries
        if spread[name]:
            assert records[name].p == pytest.approx(p)
    tested = [name for name in expected if not isnan(records[name].p)]
    assert set(records) - {None} - set(tested) == {
        name for name in records if name is not None and isnan(records[name].p)
    }
    corrected = CORRECTIONS.parse("Holm").corrected([records[name].p for name in tested])
    assert [records[name].p_corrected for name in tested] == pytest.approx(list(corrected))
    for name in tested:
        moved = records[name].p_corrected < 0.05
        assert (records[name].verdict in ("better", "worse")) == moved
        low, high = records[name].simultaneous_low, records[name].simultaneous_high
        if spread[name]:
            assert (low > 0 or high < 0) == moved, "the interval excludes 0 exactly where the slice moved"
    assert found.without_slice == {"in memory": labels.count(None)}


def test_a_slice_of_few_queries_cannot_tell_and_costs_the_others_nothing() -> None:
    comparison = ll.compare(QRELS, {"new": RUNS["worst"], "old": RUNS["best"]}, "RR")
    found = slices_of(comparison, TYPES)
    records = differences(found)
    assert list(records) == [None, "a", "b", "c"], "no query of the judgments is in d"
    assert (records["c"].queries, records["c"].verdict) == (2, "cannot tell")
    assert records["c"].reason == "2 queries, but at least 5 are needed"
    assert isnan(records["c"].p)
    assert isnan(records["c"].simultaneous_low)
    assert records["a"].p_corrected == pytest.approx(2 * min(records["a"].p, records["b"].p), rel=10)
    assert max(records[name].p_corrected / records[name].p for name in "ab") == 2, "two tests, not three"
    assert {record.slice for record in found.moved} == {"a", "b"}
    assert found.without_slice == {"in memory": 2}
    codes = [(notice.code, notice.count) for notice in found.warnings]
    assert codes == [("queries_without_slice", 2)]


def test_all_queries_are_printed_as_in_the_comparison_of_several_pairs() -> None:
    comparison = ll.compare(QRELS, RUNS, "RR")
    (slices,), (pairs,) = slices_of(comparison, TYPES).printed_tables(), comparison.printed_tables()
    whole = [row for row in slices.rows if row[0] == "all"]
    assert [[row[1], row[2], *row[6:8], *row[9:]] for row in whole] == [
        [row[0], row[1], *row[4:]] for row in pairs.rows
    ]


@pytest.mark.parametrize("more", [[], ["-C", "test.per_pair=true"]])
def test_the_command_prints_all_queries_as_in_the_comparison(
    more: list[str], tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ll.write_qrels(QRELS, "qrels.txt")
    for name, run in RUNS.items():
        ll.write_run(run, f"{name}.run")
    Path("types.tsv").write_text("query\ttype\n" + "".join(f"{q}\t{name}\n" for q, name in TYPES.items()))
    given = [*(f"{name}.run" for name in RUNS), "-m", "RR", "--query-slice", "types.tsv:type"]
    pairs, slices = leadline("compare", "qrels.txt", *given, *more).out.split("slices: ")
    whole = [row.split()[5:8] for row in slices.splitlines() if row.startswith("all ")]
    assert whole
    assert whole == [row.split()[3:6] for row in pairs.splitlines()[1 : 1 + len(whole)]]


def test_all_queries_are_as_in_the_comparison() -> None:
    comparison = ll.compare(QRELS, {"new": RUNS["worst"], "old": RUNS["best"]}, "RR")
    whole, pair = differences(slices_of(comparison, TYPES))[None], comparison.pairs[0]
    assert (whole.difference, whole.p, whole.low, whole.verdict) == (
        pair.difference,
        pair.p,
        pair.low,
        pair.verdict,
    )


def test_the_family_is_all_slices_and_pairs_of_a_measure() -> None:
    comparison = ll.compare(QRELS, RUNS, ["RR", "AP"], baseline="best")
    tested = [one for one in slices_of(comparison, TYPES).records if one.slice in ("a", "b")]
    smallest = min((one for one in tested if one.measure == "RR"), key=lambda one: one.p)
    assert smallest.p_corrected == pytest.approx(4 * smallest.p)
    together = ll.compare(QRELS, RUNS, ["RR", "AP"], baseline="best", family="all")
    tested = [one for one in slices_of(together, TYPES).records if one.slice in ("a", "b")]
    assert min(one.p_corrected / one.p for one in tested) >= 1
    assert max(one.p_corrected / one.p for one in tested) == pytest.approx(8)


@pytest.mark.parametrize("correction", ["MaxT", "Tukey", "BH"])
def test_the_correction_over_slices_is_holm_whatever_that_of_the_pairs(correction: str) -> None:
    runs = {"new": RUNS["worst"], "old": RUNS["best"]}
    one, other = (
        slices_of(ll.compare(QRELS, runs, "RR", correction=name), TYPES).records
        for name in (correction, "Holm")
    )
    assert repr([record for record in one if record.slice]) == repr([r for r in other if r.slice])


def test_the_same_lists_are_identical_in_every_slice_however_small() -> None:
    found = differences(slices_of(ll.compare(QRELS, {"a": RUNS["best"], "b": RUNS["best"]}, "RR"), TYPES))
    assert {record.verdict for record in found.values()} == {"identical"}


def test_of_a_falling_measure_more_is_worse() -> None:
    runs = {"old": varied(1, 1, 2), "new": varied(5, 9, 6, 7)}
    found = differences(slices_of(ll.compare(QRELS, runs, "RankOf(n=1)"), TYPES))
    assert found["a"].difference > 0
    assert found["a"].verdict == "worse"


def test_groups_of_queries_are_counted_and_tested() -> None:
    groups = {query: str(place // 6) for place, query in enumerate(QRELS)}
    comparison = ll.compare(QRELS, {"n": RUNS["worst"], "o": RUNS["best"]}, "RR", query_group=groups)
    found = differences(slices_of(comparison, TYPES))
    assert "4 groups of queries" in found["a"].reason


def test_tags_put_a_query_in_several_slices(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    rows = [{"query_id": f"q{n}", "text": "flow past a wing", "tags": ["x", "y"][: n % 3]} for n in range(24)]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = slices_of(ll.evaluate(QRELS, RUNS, "RR"), f"{path}:tags")
    assert [means(found)[name, "best"].queries for name in ("x", "y")] == [16, 8]
    assert found.without_slice == {f"{path}:tags": 8}
    assert found.in_several == {f"{path}:tags": 8}


def test_columns_of_tables_and_of_queries_are_read(tmp_path: Path) -> None:
    table = tmp_path / "types.tsv"
    table.write_text("query_id\ttype\tn\nq1\tentity\t3\nq2\t\t10\nq3\tentity\t3\nq3\tshort\t3\n")
    assert read_slices(f"{table}:type") == {"q1": ["entity"], "q3": ["entity", "short"]}
    assert read_slices(f"{table}:n") == {"q1": ["3"], "q2": ["10"], "q3": ["3"]}
    first = tmp_path / "first.csv"
    first.write_text("topic_name,kind\nq1,a\n")
    assert read_slices(f"{first}:kind") == {"q1": ["a"]}
    objects = tmp_path / "queries.json"
    objects.write_text('[{"_id": "q1", "text": "a", "hard": true}, {"_id": "q2", "text": "b", "hard": null}]')
    assert read_slices(f"{objects}:hard") == {"q1": ["true"]}


def test_length_is_the_number_of_words_unless_there_is_such_a_column(tmp_path: Path) -> None:
    path = tmp_path / "queries.tsv"
    path.write_text("query_id\ttext\nq1\twing\nq2\tflow past a wing\nq3\t" + "word " * 17 + "\nq4\t\n")
    assert read_slices(f"{path}:length") == {
        "q1": ["1-2 words"],
        "q2": ["3-4 words"],
        "q3": ["17 or more words"],
    }
    path.write_text("query_id\tlength\nq1\tshort\n")
    assert read_slices(f"{path}:length") == {"q1": ["short"]}
    found = slices_of(ll.evaluate(QRELS, RUNS, "RR"), {f"q{n}": f"{n % 3 + 8} words" for n in range(24)})
    assert list(dict.fromkeys(one.slice for one in found.records)) == [None, "8 words", "9 words", "10 words"]


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        ("query_id\ttype\nq1\ta\n", "", "FILE:COLUMN, such as queries.tsv:type"),
        ("query_id\ttype\nq1\ta\n", ":kind", "no column 'kind'. The columns are query_id, type"),
        (
            "query_id\ttype\nz1\ta\n",
            ":type",
            "queries has a slice. Assign a slice to at least one evaluated query, such as 'q0'",
        ),
        ("query_id\ttype\nq1\t\n", ":type", "Assign a slice to at least one evaluated query, such as 'q0'"),
        ("query_id\ttype\n" + "".join(f"q1\tt{n}\n" for n in range(201)), ":type", "201 different slices"),
        ("query_id\tkind\nq1\ta\n", ":length", "queries.txt"),
    ],
)
def test_what_is_no_slice_is_refused(content: str, place: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "queries.txt"
    path.write_text(content)
    with pytest.raises((InputError, UsageError), match=message.replace("[", r"\[")):
        slices_of(ll.evaluate(QRELS, RUNS, "RR"), f"{path}{place}")


@pytest.mark.parametrize("wrong", [7, [7], [], None])
def test_another_type_is_refused(wrong: Any) -> None:
    with pytest.raises((UsageError, TypeError)):
        slices_of(ll.evaluate(QRELS, RUNS, "RR"), wrong)


def test_two_sources_are_two_families_of_names_and_one_of_tests() -> None:
    comparison = ll.compare(QRELS, {"n": RUNS["worst"], "o": RUNS["best"]}, "RR")
    other = {query: "ab"[place // 12] for place, query in enumerate(QRELS)}
    found = slices_of(comparison, [TYPES, other])
    assert list(found.without_slice) == ["in memory", "in memory 2"]
    tested = [one for one in found.records if one.slice in ("a", "b")]
    assert min(tested, key=lambda one: one.p).p_corrected == pytest.approx(4 * min(one.p for one in tested))


def test_results_have_tables_frames_and_figures(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    results = ll.evaluate(QRELS, RUNS, ["RR", "AP"])
    for result in (slices_of(results, TYPES), slices_of(ll.compare(results), TYPES)):
        frame = result.to_pandas()
        assert len(frame) == len(result.records)
        assert set(frame.columns) == set(vars(result.records[0]))
        assert json.loads(result.to_json())["slices"][0]["slice"] is None
        for name in ("a.svg", "a.csv", "a.md", "a.tex", "a.html"):
            (result.plot if name == "a.svg" else result.write)(tmp_path / name)
            assert (tmp_path / name).stat().st_size
    with pytest.raises(UsageError, match="were not compared"):
        result.plot(pair=("best", "none"))
    for drawn in (result, ll.compare(results)):
        with pytest.raises(UsageError, match="pair must be the names of two runs"):
            drawn.plot(pair=("best",))
    with pytest.raises(UsageError, match="no measure 'P@7'"):
        result.plot(measure="P@7")


def test_geometric_means_and_sums_have_values_and_say_why_there_is_no_interval() -> None:
    results = ll.evaluate(QRELS, RUNS, ["gm_map", "num_rel_ret"], profile="trec10")
    found = [one for one in slices_of(results, TYPES).records if (one.slice, one.run) == ("a", "best")]
    rows = np.flatnonzero([TYPES.get(query) == "a" for query in results.queries])
    assert found[0].mean == pytest.approx(np.exp(np.log(results.values[0, rows, 0]).mean()))
    assert found[1].mean == results.values[0, rows, 1].sum()
    assert found[1].reason == "a sum over queries"


def test_slices_of_estimates_need_ten_queries_and_fifty_judgments() -> None:
    names = [f"q{n}" for n in range(60)]
    judged = {query: {"d": place % 2, "e": place % 3 // 2} for place, query in enumerate(names)}
    pool = {query: {"d": 1.0, "e": 0.5} for query in names}
    results = ll.evaluate(judged, {"a": {query: {"d": 2.0, "e": 1.0} for query in names}}, "P@2", pool=pool)
    sizes = {"five": 5, "twenty": 20, "many": 35}
    labels = dict(zip(names, [name for name, size in sizes.items() for _ in range(size)], strict=True))
    found = slices_of(results, labels)
    rows = means(found)
    assert {name: isnan(rows[name, "a"].low) for name in sizes} == {
        "five": True,
        "twenty": True,
        "many": False,
    }
    assert rows["five", "a"].reason == "intervals need at least 50 judgments, not 10"
    assert "no interval: five (intervals need at least 50 judgments, not 10), twenty" in str(found)
    assert not rows[None, "a"].reason


def test_the_tests_of_a_measure_are_told() -> None:
    qrels = {f"q{n}": {"d": 1} for n in range(12)}
    runs = {
        name: {query: [*["x"] * ((n + step) % 3 > 0), "d"] for n, query in enumerate(qrels)}
        for step, name in enumerate("abc")
    }
    slices = {query: "odd" if n % 2 else "even" for n, query in enumerate(qrels)}
    for names, over in (("ab", "over 2 tests per measure"), ("abc", "over 6 tests per measure")):
        compared = ll.compare(qrels, {name: runs[name] for name in names}, "RR")
        assert over in str(slices_of(compared, slices))
    late = {query: ["x"] if n % 6 == 1 else ["d"] for n, query in enumerate(qrels)}  # without a rank
    compared = ll.compare(qrels, {"a": runs["a"], "b": late}, ["RR", "RankOf(n=1)"])
    assert "over up to 2 tests per measure" in str(slices_of(compared, slices))
