"""From runs to what is judged: unions, draws with their probabilities, what is known, what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from conftest import Leadline
from leadline.errors import InputError, UsageError
from leadline.io.objects import Qrels
from leadline.io.pool_files import read_drawn_pool, read_pool, write_pool
from leadline.judging.pool import pool

A = {"q1": ["d1", "d2", "d3"], "q2": ["d4", "d5"]}
B = {"q1": ["d2", "d6"], "q3": ["d1"]}
DOCS = {f"d{number}": "text" for number in range(1, 21)}
RUNS = st.dictionaries(
    st.sampled_from(["q1", "q2"]),
    st.lists(st.sampled_from(sorted(DOCS)), unique=True, min_size=1, max_size=8),
    min_size=1,
)


def test_a_pool_is_the_union_and_says_who_brought_what() -> None:
    found = pool({"a": A, "b": B}, depth=2)
    assert found.new.by_query() == {
        "q1": {"d2": 1.0, "d1": 1.0, "d6": 1.0},
        "q2": {"d4": 1.0, "d5": 1.0},
        "q3": {"d1": 1.0},
    }
    assert dict(zip(found.new.pairs(), found.new.contributors, strict=True))[("q1", "d2")] == {"a": 2, "b": 1}
    assert found.brought == {"a": (4, 3), "b": (3, 2)}
    assert [str(notice) for notice in found.warnings] == [
        "2 queries are missing from a or b (pooled from the other run)"
    ]


@pytest.mark.parametrize("chosen", [{"random": 1}, {"everything": True}])
def test_without_a_method_missing_queries_are_not_pooled_from_other_runs(chosen: dict[str, Any]) -> None:
    found = pool({"a": A, "b": {"q1": ["d2"]}}, documents=DOCS, **chosen)
    assert "1 query is missing from b" in map(str, found.warnings)


def test_runs_without_a_common_query_are_said() -> None:
    found = pool({"a": {"q1": ["d1"]}, "b": {"q2": ["d1"]}}, depth=1)
    assert "no query is in all runs; check whether the query ids match" in map(str, found.warnings)


def test_queries_without_any_document_are_not_counted_as_short_of_documents() -> None:
    found = pool({"a": {"q1": ["d1", "d2"]}}, depth=1, random=2, queries={"q1": "wings", "q2": "flaps"})
    counts = {notice.code: notice.count for notice in found.warnings}
    assert counts == {"empty_queries": 1, "short_draw": 1}


def test_documents_are_drawn_from_the_rest_with_their_probability() -> None:
    found = pool({"a": A, "b": B}, depth=2, random=4, documents=DOCS)
    shares = found.whole.by_query()
    assert sorted(shares["q1"].values()) == [4 / 17] * 4 + [1.0] * 3
    assert sorted(shares["q3"].values()) == [4 / 19] * 4 + [1.0]
    # without a collection: the rest of what was retrieved
    found = pool({"a": A, "b": B}, depth=1, random=1)
    assert found.whole.by_query()["q1"].keys() >= {"d1", "d2"}
    assert sorted(found.whole.by_query()["q1"].values()) == [0.5, 1.0, 1.0]
    short = (
        "1 query had too few documents left for the random sample, so all the remaining documents were pooled"
    )
    assert short in map(str, found.warnings)


def test_everything_is_the_whole_collection_with_certainty() -> None:
    found = pool({"a": A}, everything=True, documents=DOCS)
    assert all(shares == dict.fromkeys(DOCS, 1.0) for shares in found.whole.by_query().values())
    assert pool({"a": A}, everything=True).whole.by_query()["q2"] == {"d4": 1.0, "d5": 1.0}
    drawn = pool(documents=DOCS, queries={"q7": "text"}, random=3)
    assert list(drawn.whole.by_query()["q7"].values()) == [0.15] * 3


@given(RUNS, RUNS, st.integers(1, 4), st.integers(0, 6))
def test_pooling_again_adds_only_what_is_new(
    first: dict[str, list[str]], second: dict[str, list[str]], depth: int, count: int
) -> None:
    options: dict[str, Any] = {"depth": depth, "random": count, "documents": DOCS}
    old = pool({"a": first}, **options)
    new = pool({"a": first, "b": second}, known=old.whole.pairs(), **options)
    before, after = set(old.whole.pairs()), set(new.whole.pairs())
    assert set(new.new.pairs()) == after - before
    # what was drawn stays: it is still drawn, or it is pooled now
    for query in first:
        assert {d for q, d in before if q == query} <= {d for q, d in after if q == query}
    same = pool({"a": first}, known=old.whole.pairs(), **options)
    assert len(same) == 0


@pytest.mark.parametrize(
    "known",
    [
        [("q1", "d1"), ("q2", "d4")],
        [["q1", "d1"], ["q2", "d4"]],
        {"q1": {"d1": 1}, "q2": {"d4": 0}},
        {"q1": ["d1"], "q2": "d4"},
        Qrels({"q1": {"d1": 1}, "q2": {"d4": -1}}),
        pool({"a": A}, depth=1),
        pool({"a": A}, depth=1).whole,
        iter([("q1", "d1"), ("q2", "d4")]),
    ],
)
def test_known_pairs_of_any_form_are_not_asked_again(known: Any) -> None:
    assert pool({"a": A}, depth=2, known=known).new.pairs() == [("q1", "d2"), ("q2", "d5")]


@pytest.mark.parametrize("known", [7, [7], ["q1"], [("q1", "d1", "d2")], [("q1", 1)], {"q1": [1]}])
def test_known_of_another_form_is_refused(known: Any) -> None:
    with pytest.raises(UsageError, match="`known` "):
        pool({"a": A}, depth=2, known=known)


def test_a_pool_is_short_in_a_notebook() -> None:
    known = [("q1", "d1")]
    assert repr(pool({"a": A}, depth=2, known=known)) == "Pool(2 queries, 3 pairs to judge, 4 pooled)"
    assert repr(pool({"a": {"q": ["d"]}}, depth=1)) == "Pool(1 query, 1 pair to judge, 1 pooled)"


def test_judgments_lead_move_to_front_and_are_not_asked_again() -> None:
    runs = {"a": {"q": ["d1", "d2", "d3"]}, "b": {"q": ["d4", "d5", "d6"]}}
    found = pool(runs, method="MoveToFront(documents=5)", batch=2)
    assert found.new.documents == ["d1", "d4"]
    assert "2 of 5 pooled pairs are in the batch" in found.table().notes[0]  # all five are new
    assert (
        str(found.warnings[0])
        == "without judgments, MoveToFront(documents=5) takes documents from the runs in turn"
    )
    again = pool(runs, method="MTF(documents=5)", judged={"q": {"d1": 1, "d4": 0}}, batch=2)
    assert again.new.documents == ["d2", "d3"]  # d1 was relevant, so its run goes on
    assert again.warnings == []


def test_documents_that_the_collection_lacks_are_left_out_and_said() -> None:
    found = pool({"a": {"q": ["d1", "x9", "x8"]}}, depth=3, documents=DOCS)
    assert found.whole.documents == ["d1"]
    assert (
        str(found.warnings[0]) == "left out 2 pooled pairs whose documents are not in the collection (x8, x9)"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "Use measure, depth, method, random or everything=True"),
        ({"depth": 0}, "depth must be a whole number of at least 1, not 0"),
        ({"depth": 1, "method": "RRF"}, "use only one of method and depth"),
        ({"method": "Dept"}, "unknown pool method 'Dept'. Did you mean Depth"),
        ({"depth": 1, "random": -1}, "random must be"),
        ({"depth": 1, "batch": 0}, "batch must be"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as rejected:
        pool({"a": A}, **options)  # type: ignore[call-overload]
    assert said in str(rejected.value)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return two runs as files."""
    monkeypatch.chdir(tmp_path)
    for name, run in (("a.run", A), ("b.run", B)):
        lines = [
            f"{query} Q0 {document} {rank} {-rank} {name}\n"
            for query, documents in run.items()
            for rank, document in enumerate(documents, start=1)
        ]
        Path(name).write_text("".join(lines))
    Path("docs.csv").write_text("doc_id,text\n" + "".join(f"{name},text\n" for name in DOCS))
    return ["a.run", "b.run"]


def test_the_command_writes_a_pool_that_is_pairs_too(runs: list[str], leadline: Leadline) -> None:
    done = leadline("pool", *runs, *"--depth 2 -C pool.random=3 --docs docs.csv -o pool.tsv -f json".split())
    assert (done.data["queries"], done.data["pairs"], done.data["drawn"]) == (3, 15, 9)
    assert done.data["runs"][0] == {"name": "a", "brought": 4, "alone": 3}
    assert done.data["options"]["seed"] == 0
    assert len(read_pool("pool.tsv").pairs()) == 15
    again = leadline(
        "pool",
        *runs,
        *"--depth 3 -C pool.random=3 --docs docs.csv -C pool.known=pool.tsv -o more.tsv".split(),
    )
    assert "the probability of 3 known pairs changed" in again.out
    assert not set(read_pool("more.tsv").pairs()) & set(read_pool("pool.tsv").pairs())


def test_what_is_missing_for_a_pool_is_named_by_keyword() -> None:
    with pytest.raises(UsageError, match="Pass runs, or both documents and queries"):
        ll.pool([], random=3)


def test_the_command_refuses_what_leads_nowhere(runs: list[str], leadline: Leadline) -> None:
    for arguments, said in (
        ([*runs], "Use --for MEASURE, --depth K, --method NAME,"),
        ([*runs, "--depth", 0], "0 is not between 1"),
        ([*runs, "--depth", 3, "-C", "pool.known=a.run", "--judged", "b.run"], "b.run"),
        ([*runs, "--docs", "docs.jsonl"], "Use --depth K, --method NAME, --config pool.random=N or"),
        (["--docs", "docs.jsonl", "--queries", "q.jsonl"], "pool. Use --config pool.random=N or --config"),
        (["-C", "pool.random=3"], "Pass runs, or both --docs DOCUMENTS and --queries QUERIES"),
        (["--depth", 3, "--docs", "docs.jsonl", "--queries", "queries.jsonl"], "Depth(3) needs runs"),
        ([*runs, "none.run", "--depth", 3], "none.run"),
    ):
        assert said in leadline("pool", *arguments, "-o", "pool.tsv").refusal
        assert not Path("pool.tsv").exists()
    leadline("pool", *runs, "--depth", 9, "-o", "pool.tsv")
    done = leadline("pool", *runs, "--depth", 9, "-o", "more.tsv", "-C", "pool.known=pool.tsv")
    assert "nothing to judge, because all pairs are already known or judged" in done.err
    Path("others.csv").write_text("doc_id,text\nx1,text\n")
    done = leadline("pool", *runs, "--depth", 9, "-o", "more.tsv", "--docs", "others.csv")
    assert "no pooled document is in the collection" in done.err
    done = leadline("pool", *runs, "--depth", 9, "-o", "a.run")
    assert "a.run would overwrite an input" in done.err


def test_a_pool_estimates_recall_as_its_file_does(tmp_path: Path) -> None:
    found = pool({"a": A, "b": B}, depth=1, random=4, documents=DOCS).whole
    qrels = {"q1": {"d1": 1, "d6": 1, **dict.fromkeys(found.by_query()["q1"], 1)}}
    write_pool(found, tmp_path / "pool.tsv")
    estimates = [
        ll.evaluate(qrels, {"a": A}, "R@2", pool=given).to_dict()["relevant"]
        for given in (found, found.by_query(), str(tmp_path / "pool.tsv"))
    ]
    assert estimates[0] == estimates[1] == estimates[2]
    assert estimates[0][0]["value"] == 20  # all are relevant: 2 for certain, and 4 that stand for 18


def test_a_pool_can_be_written_in_python(tmp_path: Path) -> None:
    found = pool({"a": A}, depth=1)
    write_pool(found.new, tmp_path / "pool.tsv")
    assert read_pool(tmp_path / "pool.tsv").pairs() == found.new.pairs()


@pytest.mark.parametrize("options", [{"depth": 1}, {"measure": "P@1", "budget": 2}])
def test_a_result_writes_its_pool_as_tsv_and_its_figures_as_csv(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    found = ll.pool({"a": A, "b": B}, **options)
    found.write(tmp_path / "pool.tsv")
    ll.write_pool(found, tmp_path / "same.tsv")
    assert (tmp_path / "pool.tsv").read_bytes() == (tmp_path / "same.tsv").read_bytes()
    assert read_pool(tmp_path / "pool.tsv").pairs()
    found.write(tmp_path / "figures.csv")
    with pytest.raises(InputError, match="Write the pool with"):
        read_pool(tmp_path / "figures.csv")


def test_a_pool_for_a_measure_has_the_looks_asked_for() -> None:
    runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d3", "d1"]}}
    found = ll.pool(runs, measure="P@2", budget=3, looks=2)
    assert found.pool.design["looks"] == 2
    assert "looks" not in ll.pool(runs, measure="P@2", budget=3).pool.design
    with pytest.raises(UsageError, match="looks"):
        ll.pool(runs, measure="P@2", budget=3, looks=0)


def test_a_pool_drawn_in_python_has_the_design_of_the_command(runs: list[str], leadline: Leadline) -> None:
    leadline("pool", *runs, "--for", "P@2", "--budget", 2, "-o", "pool.tsv")
    assert ll.pool(runs, measure="P@2", budget=2).pool.design == read_drawn_pool("pool.tsv").design
