"""Budgets in place of cutoffs: the documents that fit in so many tokens, from every source of runs."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from conftest import Leadline, examples
from leadline.errors import InputError, UnknownNameError, UsageError
from leadline.measures import MEASURES
from run_sources import SOURCES, Run

QRELS = {"q1": {"a": 1, "c": 1, "d": 0}, "q2": {"b": 1, "z": 2}}
RUN: Run = {"q1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}, "q2": {"d": 2.0, "b": 1.0}, "q9": {"x": 1.0}}
LENGTHS = {"a": 200, "b": 250, "c": 100, "d": 50}
MEASURED = ["R", "P", "Complete", "nDCG", "Success", "AP", "RR", "Judged"]


def fitting(chunks: dict[str, float], lengths: dict[str, int], budget: int) -> list[str]:
    """Go down the list until a chunk does not fit, and return the documents of those above it, each once."""
    found: list[str] = []
    left = budget
    for chunk in sorted(chunks, key=lambda name: (chunks[name], name.partition("#")[0]), reverse=True):
        left -= lengths[chunk]
        if left < 0:
            break
        found.append(chunk.partition("#")[0])
    return list(dict.fromkeys(found))


def value_of(results: ll.Results, measure: str, query: str) -> float:
    """Return one value of the only run."""
    place = list(results.queries).index(query)
    return float(results.values[0, place, list(map(str, results.measures)).index(measure)])


def test_by_hand() -> None:
    """q1: 200 + 250 = 450 fit in 500, and 100 more do not, though the 50 of d would. q2: 50 + 250 fit."""
    names = ["R@500tokens", "P@500tokens", "Complete@500tokens", "RR@249tokens", "Judged@450tokens"]
    found = ll.evaluate(QRELS, {"r": RUN}, names, lengths=LENGTHS)
    expected = {"q1": [1 / 2, 1 / 2, 0, 1, 1 / 2], "q2": [1 / 2, 1 / 2, 0, 0, 1 / 2]}
    for query, values in expected.items():
        for name, value in zip(names, values, strict=True):
            assert value_of(found, name, query) == pytest.approx(value), (query, name)
    ideal = 2 + 1 / math.log2(3)  # z has grade 2
    graded = ll.evaluate(QRELS, {"r": RUN}, "nDCG@500tokens", lengths=LENGTHS)
    assert value_of(graded, "nDCG@500tokens", "q2") == pytest.approx(1 / math.log2(3) / ideal)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_values(source: str, tmp_path: Path) -> None:
    table = tmp_path / "lengths.csv"
    table.write_text("doc_id,title,tokens\n" + "".join(f"{d},t,{n}\n" for d, n in LENGTHS.items()))
    run = SOURCES[source](RUN, tmp_path)
    names = ["R@500tokens", "P@250tokens", "Success@200tokens"]
    for lengths in (LENGTHS, f"{table}:tokens"):
        found = ll.evaluate(QRELS, {"r": run}, names, lengths=lengths)
        assert [found.mean("r", name) for name in names] == [0.5, 0.5, 0.5]
        cut = ll.evaluate(QRELS, {"r": run}, "R@500tokens", lengths=lengths, depth=1)
        assert cut.mean("r", "R@500tokens") == 0.25


runs = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(
        st.tuples(st.sampled_from("abcde"), st.integers(0, 2)).map(lambda pair: f"{pair[0]}#{pair[1]}"),
        st.integers(0, 5).map(float),
        min_size=1,
    ),
    min_size=1,
)
grades = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 2), min_size=1),
    min_size=1,
)


@pytest.mark.usefixtures("form")
@examples(60)
@given(runs, grades, st.lists(st.integers(0, 9), min_size=15, max_size=15), st.integers(1, 40), st.booleans())
def test_values_are_those_of_lists_cut_by_hand(
    run: Run, qrels: dict[str, dict[str, int]], sizes: list[int], budget: int, chunks: bool
) -> None:
    if not set(run) & set(qrels):
        return
    lengths = {
        f"{name}#{number}": sizes[3 * place + number]
        for place, name in enumerate("abcde")
        for number in range(3)
    }
    options: dict[str, Any] = {"documents_of": r"^(.*)#\d$"} if chunks else {}
    if not chunks:
        run = {query: {chunk[0]: score for chunk, score in found.items()} for query, found in run.items()}
        lengths = {name: lengths[f"{name}#0"] for name in "abcde"}
    names = [f"{name}@{budget}tokens" for name in MEASURED]
    found = ll.evaluate(qrels, {"r": run}, names, lengths=lengths, **options)
    for query, judged in qrels.items():
        documents = fitting(run.get(query, {}), lengths, budget)
        listed = [float(judged[name]) if name in judged else None for name in documents]
        for name, measure in zip(names, MEASURED, strict=True):
            text = "Success@1000" if measure == "Success" else measure
            expected = MEASURES.parse(text).of(listed, list(map(float, judged.values())))
            value = value_of(found, name, query)
            assert value == pytest.approx(expected, nan_ok=True), (query, name)


def test_an_unlimited_budget_is_the_whole_list() -> None:
    generator = np.random.default_rng(1)
    names = [f"d{number}" for number in range(40)]
    run = {f"q{q}": dict(zip(names, generator.random(40).tolist(), strict=True)) for q in range(8)}
    qrels = {f"q{q}": {name: int(generator.integers(0, 3)) for name in names[q:]} for q in range(8)}
    lengths = dict.fromkeys(names, 3)
    for name in ("AP", "nDCG(gain=exp)", "RBP(p=0.9)", "F(beta=2)", "ERR", "alpha_nDCG")[:5]:
        whole = ll.evaluate(qrels, {"r": run}, [name, f"{name}@10"], lengths=lengths)
        cut = ll.evaluate(qrels, {"r": run}, [f"{name}@120tokens", f"{name}@30tokens"], lengths=lengths)
        assert cut.mean("r", f"{name}@120tokens") == whole.mean("r", name)
        if name in ("RBP(p=0.9)", "ERR"):
            assert cut.mean("r", f"{name}@30tokens") == whole.mean("r", f"{name}@10")


def test_a_tie_across_a_budget_is_counted() -> None:
    run = {"q1": {"a": 2.0, "b": 1.0, "c": 1.0}}
    found = ll.evaluate(QRELS, {"r": run}, "R@300tokens", lengths=LENGTHS)
    assert {one.code: one.count for one in found.warnings}["tied_cutoffs"] == 1
    whole = ll.evaluate(QRELS, {"r": run}, "R@550tokens", lengths=LENGTHS)
    assert "tied_cutoffs" not in {one.code for one in whole.warnings}


@pytest.mark.usefixtures("form")
def test_a_document_without_a_length_is_refused_only_where_it_may_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 a 1 3 t\nq1 Q0 new 2 2 t\nq1 Q0 c 3 1 t\nq9 Q0 other 1 1 t\n")
    with pytest.raises(InputError, match=r"document 'new' at rank 2 for query 'q1' has no length"):
        ll.evaluate(QRELS, path, "R@201tokens", lengths=LENGTHS)
    found = ll.evaluate(QRELS, path, "R@200tokens", lengths=LENGTHS)  # q9 has no judgments
    assert value_of(found, "R@200tokens", "q1") == 0.5
    chunks = {"q1": {"a#1": 3.0, "a#2": 2.0, "new#1": 1.0}}
    lengths = {"a#1": 100, "a#2": 300}
    options: dict[str, Any] = {"lengths": lengths, "documents_of": r"^(.*)#\d$"}
    assert ll.evaluate(QRELS, chunks, "R@400tokens", **options).mean("run", "R@400tokens") == 0.25
    with pytest.raises(InputError, match=r"'new#1' at rank 3"):
        ll.evaluate(QRELS, chunks, "R@401tokens", **options)
    query = next(iter(QRELS))
    for measure in ("AP", "R@400tokens"):
        value = ll.evaluate(QRELS, chunks, measure, **options).value("run", query, measure)
        assert ll.explain(QRELS, chunks, measure, query, **options).value == value
    whole = ll.explain(QRELS, {"q1": {"a": 3.0}}, "R@200tokens", "q1", lengths={"a": 100})
    assert "formula: recall, counting only the first documents" in str(whole)


def test_names() -> None:
    assert list(map(str, MEASURES.expand_all(["R@500,1000tokens", "map@50Tokens, nDCG@{5,10}chars"]))) == [
        *("R@500tokens", "R@1000tokens", "AP@50tokens", "nDCG@5chars", "nDCG@10chars")
    ]
    one = MEASURES.parse("AP(rel=2)@8000words")
    assert pickle.loads(pickle.dumps(one)) == one
    assert str(one.replace(rel=3)) == "AP(rel=3)@8000words"
    assert (getattr(one, "rel", None), one.budget, hasattr(one, "cutoff")) == (2.0, (8000, "words"), False)
    with pytest.raises(UnknownNameError, match="Did you mean nDCG@500tokens"):
        MEASURES.parse("nDGC@500tokens")
    for name, words in {
        "Hole@5tokens": "measure 'Hole@5tokens': Hole needs a cutoff in ranks, as in Hole@10",
        "NERR8@5tokens": "NERR8 needs a cutoff in ranks",
        "Rprec@5tokens": "takes no cutoff",
        "P@0tokens": "at least 1",
        "P@5,00tokens": "the budget must be at least 1",
        "IPrec@5tokens": "from 0 to 1, not 5tokens",
        "P@5bytes": "whole number",
    }.items():
        with pytest.raises(UsageError, match=words):
            MEASURES.parse(name)
    with pytest.raises(UsageError, match=r"cannot be computed from grades alone\. Use `leadline\.evaluate`"):
        one.of([1, 0])


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    def refused(words: str, *measures: str, kind: type[Exception] = UsageError, **options: Any) -> None:
        with pytest.raises(kind, match=words):
            ll.evaluate(QRELS, {"r": RUN}, list(measures), **options)

    refused(r"needs document lengths\..*\{document: length\}", "R@5tokens")
    refused("one unit", "R@5tokens", "R@5chars", lengths=LENGTHS)
    refused(
        r"R@5chars has a budget in chars, but the lengths in x\.csv:tokens are in tokens",
        "R@5chars",
        lengths="x.csv:tokens",
    )
    refused("judged_only", "R@5tokens", lengths=LENGTHS, judged_only=True)
    refused(r"must be FILE:COLUMN or a dictionary \{document: length\}", "R@5tokens", lengths=7)
    refused("FILE:COLUMN", "R@5tokens", lengths="x.csv")
    refused("length 1.5 of document 'a'", "R@5tokens", kind=InputError, lengths={"a": 1.5})
    table = tmp_path / "l.csv"
    table.write_text("doc_id,tokens\na,3\na,4\n")
    refused(r"l\.csv:3.*two different lengths", "R@5tokens", kind=InputError, lengths=f"{table}:tokens")
    pool = {query: dict.fromkeys(found, 0.5) for query, found in QRELS.items()}
    refused("a length budget ends at a different rank", "R@5tokens", lengths=LENGTHS, pool=pool)
    with pytest.raises(UsageError, match="a length budget ends at a different rank"):
        ll.pool({"r": RUN}, measure="R@5tokens", budget=2)


def test_comparisons_parts_and_commands(tmp_path: Path, leadline: Leadline) -> None:
    qrels, run, table = tmp_path / "qrels.txt", tmp_path / "a.run", tmp_path / "l.csv"
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, found in QRELS.items() for d, g in found.items()))
    run.write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, found in RUN.items() for d, s in found.items()))
    other = tmp_path / "b.run"
    other.write_text("q1 Q0 d 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 b 1 1 t\n")
    table.write_text("doc_id,tokens\n" + "".join(f"{d},{n}\n" for d, n in LENGTHS.items()))
    config = ["-m", "R@250tokens", "-C", f"lengths={table}:tokens", "-f", "json"]
    found = leadline("evaluate", qrels, run, other, *config).data
    assert [one["mean"] for one in found["runs"]] == [{"R@250tokens": 0.25}, {"R@250tokens": 0.5}]
    assert found["options"]["lengths"] == f"{table}:tokens"
    pair = leadline("compare", qrels, run, other, *config).data["pairs"][0]
    assert (pair["measure"], pair["difference"]) == ("R@250tokens", 0.25)
    ranked = leadline("rank", qrels, run, other, *config[:4], "-f", "csv")
    assert ranked.status == 0
    steps = leadline("explain", qrels, run, "--query-id", "q1", *config).data
    assert steps["value"] == 0.5
    halves = [{query: found} for query, found in RUN.items()]
    from leadline.scale import RunParts, evaluate_parts

    parts = evaluate_parts(QRELS, RunParts(halves, name="new"), "R@250tokens", lengths=LENGTHS)
    assert parts.mean("new", "R@250tokens") == 0.25
    part = evaluate_parts(QRELS, RunParts(halves[:1], name="new"), "R@250tokens", lengths=LENGTHS)
    assert value_of(part, "R@250tokens", "q2") == 0.0


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_results_are_saved_and_shown_again(suffix: str, tmp_path: Path, leadline: Leadline) -> None:
    found = ll.evaluate(QRELS, {"r": RUN}, ["R@500tokens", "nDCG(gain=exp)@250tokens"], lengths=LENGTHS)
    found.write(tmp_path / f"saved{suffix}")
    again = leadline("show", tmp_path / f"saved{suffix}", "-f", "json").data
    assert again["runs"][0]["mean"] == found.to_dict()["runs"][0]["mean"]
    assert ll.Results.from_json(found.to_json()).measures == found.measures


def test_lengths_that_no_measure_needs_are_said() -> None:
    def codes(measure: str) -> list[str]:
        return [one.code for one in ll.evaluate(QRELS, {"r": RUN}, measure, lengths=LENGTHS).warnings]

    assert "unused_lengths" in codes("nDCG@10")
    assert "unused_lengths" not in codes("R@500tokens")


@pytest.mark.parametrize(("budget", "words"), [("1tokens", " 1 token"), ("20tokens", " 20 tokens")])
def test_a_budget_of_one_is_one_token(budget: str, words: str) -> None:
    assert MEASURES.parse(f"R@{budget}").formula.endswith(words)


def test_an_error_repeats_the_text_as_it_was_given() -> None:
    with pytest.raises(UsageError, match=r"'nDCG\(gian=987\)@500tokens'"):
        MEASURES.parse("nDCG(gian=987)@500tokens")
