"""What people try first in Python: look-ups by name, hits of other programs, pools, judges."""

from __future__ import annotations

import copy
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package
import pytest

import leadline as ll
from conftest import Leadline

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d2": 2}}
NEW = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d1": 0.8, "d2": 0.1}}
OLD = {"q1": {"d2": 0.9, "d1": 0.5}, "q2": {"d2": 0.8, "d1": 0.1}}


def results() -> ll.Results:
    return ll.evaluate(QRELS, {"old": OLD, "new": NEW}, "RR", "P@1")


def test_results_are_looked_up_by_the_name_of_a_run() -> None:
    found = results()
    assert list(found) == ["old", "new"]
    assert found["new"] == {"RR": 0.75, "P@1": 0.5}
    with pytest.raises(ll.UsageError, match="Did you mean 'new'"):
        _ = found["newer"]
    with pytest.raises(ll.UsageError, match="Use one of old, new"):
        _ = found["P@1"]


def test_the_values_of_queries_are_a_table() -> None:
    table = results().per_query()
    assert len(table) == 8
    assert list(table.to_pandas().columns) == ["query", "run", "measure", "value"]
    assert table.to_polars().filter(query="q2", run="new", measure="RR")["value"].to_list() == [0.5]


def test_the_worst_queries_are_those_of_lowest_value_or_of_largest_loss() -> None:
    found = results()
    assert found.worst("new", n=1).columns["query"] == ["q2"]
    worse = found.worst("new", measure="P@1", against="old")
    assert (worse.columns["query"], worse.columns["difference"]) == (["q2"], [-1.0])
    assert len(found.worst("new", against="new")) == 0


def test_the_value_of_an_unknown_query_is_refused_with_the_queries_that_there_are() -> None:
    with pytest.raises(ll.UsageError, match=r"no query 'x'\. Use one of q1, q2"):
        results().value("new", "x", "RR")


def test_notes_on_the_runs_of_several_saved_results_count_all_runs(tmp_path: Path) -> None:
    lacking = {"q1": {"d1": 1.0, "new": 0.5}}
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, names in zip(paths, ("ab", "cd"), strict=True):
        ll.evaluate(QRELS, dict.fromkeys(names, lacking), "RR").write(path)
    told = list(map(str, ll.read_scores(paths).warnings))
    assert "all 4 runs: 1 judged query per run missing (scored 0)" in told
    assert not [one for one in told if "both" in one]
    sample = ll.pool([NEW, OLD], measure="P@1", budget=1)
    for path, run in zip(paths, (NEW, OLD), strict=True):
        ll.evaluate(QRELS, {path.stem: run}, "P@1", pool=sample).write(path)
    told = list(map(str, ll.read_scores(paths).warnings))
    assert sum("for 2 of 2 runs: " in one for one in told) == 1
    assert not [one for one in told if "of 1 run" in one]
    for path, names in zip(paths, ("ab", "cd"), strict=True):
        ll.evaluate(QRELS, dict.fromkeys(names, lacking), "P@1", pool=sample).write(path)
    told = list(map(str, ll.read_scores(paths).warnings))
    assert "all 4 runs: 1 judged query per run missing (scored 0)" in told
    assert not [one for one in told if "both runs" in one or "unjudged:" in one]


def test_what_is_read_as_scores_is_told_where_it_is_wrong() -> None:
    with pytest.raises(ll.UsageError, match=r"compare\(results\)"):
        ll.read_scores(results())
    assert ll.read_scores(results().per_query()).to_dict()["runs"]
    with pytest.raises(ll.InputError, match=r"^x, record 1: "):
        ll.read_scores({"x": [0.1, 0.2]})
    assert ll.read_scores({"query": ["q1", "q2"], "x": [0.1, 0.3]}).mean("x", "value") == 0.2
    with pytest.raises(ll.InputError) as caught:
        ll.read_scores(results().to_csv(per_query=True) * 9)
    assert len(str(caught.value)) < 150
    with pytest.raises(ll.UsageError, match=r"page\.csv: .* \.html"):
        ll.report(results(), "page.csv")


def test_names_in_the_wrong_order_are_refused_with_the_right_one() -> None:
    with pytest.raises(
        ll.UsageError, match=r"'RR' is a measure, not a query\. Use value\(run, query, measure"
    ):
        results().value("new", "RR", "q1")
    with pytest.raises(
        ll.UsageError, match=r"'RR' is a measure, not a run\. Use .* results\['old'\]\['RR'\]"
    ):
        results().mean("RR", "new")


@pytest.mark.parametrize("option", ["bounds", "intervals"])
def test_what_only_evaluate_can_add_is_refused_elsewhere(option: str) -> None:
    runs = {"old": OLD, "new": NEW}
    for call in (ll.compare, ll.rank):
        with pytest.raises(ll.UsageError, match=option):
            call(QRELS, runs, "RR", **{option: True})  # type: ignore[arg-type]  # it is not


def test_names_of_means_can_be_logged() -> None:
    one = ll.evaluate(QRELS, NEW, "nDCG(gain=exp)@10", "P@1")
    assert list(one.safe_means()) == ["nDCG_gain_exp_10", "P_1"]
    assert results().safe_means("old") == {"RR": 0.75, "P_1": 0.5}
    assert list(results().safe_means()) == ["old/RR", "old/P_1", "new/RR", "new/P_1"]


@pytest.mark.parametrize(
    "hit",
    [
        lambda document, score: (document, score),
        lambda document, score: [document, score],
        lambda document, score: {"corpus_id": document, "score": score},
        lambda document, score: SimpleNamespace(id=document, score=score),
        lambda document, score: SimpleNamespace(docid=document, similarity=score),
    ],
    ids=["pair", "list", "dictionary", "object", "another object"],
)
def test_lists_of_hits_are_runs(hit: Callable[[str, float], Any]) -> None:
    lists = {query: [hit(*pair) for pair in documents.items()] for query, documents in NEW.items()}
    assert ll.Run(lists) == ll.Run(NEW)
    assert ll.evaluate(QRELS, lists, "RR").means.tolist() == [[0.75]]
    assert ll.Run(list(lists.values()), queries=list(lists)) == ll.Run(NEW)
    with pytest.raises(ll.InputError, match=r"queries=\[\.\.\.\]"):
        ll.evaluate(QRELS, list(lists.values()), "RR")


def test_positions_are_ids_of_documents() -> None:
    hits = [[{"corpus_id": 1, "score": 0.9}, {"corpus_id": 0, "score": 0.2}], []]
    run = ll.Run(hits, queries=["q1", "q2"], documents=["a", "b"])
    assert run["q1"] == {"b": 0.9, "a": 0.2}
    for place in (2, "b", -1):
        with pytest.raises(
            ll.InputError,
            match=rf"run: document {place!r} is not a position in `documents` \(valid positions: 0 to 1\)",
        ):
            ll.Run([[(place, 0.5)]], queries=["q1"], documents=["a", "b"])
    with pytest.raises(ll.InputError, match="no document ids were given"):  # not "0 to -1"
        ll.Run([[0]], queries=["q1"], documents=[])


@pytest.mark.parametrize(
    ("hits", "queries"),
    [([[("d1", 0.5)]], ["q1", "q2"]), ([[], []], ["q1", "q1"]), (NEW, ["q1", "q2"]), ("a.run", ["q1"])],
)
def test_hits_and_queries_that_do_not_match_are_refused(hits: Any, queries: list[str]) -> None:
    with pytest.raises(ll.InputError):
        ll.Run(hits, queries=queries)
    with pytest.raises(
        ll.UsageError,
        match=r"^`documents` works only together with `queries`\. If the dictionary contains document ids",
    ):
        ll.Run(NEW, documents=["d1"])


def test_hits_of_several_forms_are_refused() -> None:
    with pytest.raises(ll.InputError, match="hit 2"):
        ll.Run({"q1": [("d1", 0.5), "d2"]})


@pytest.mark.parametrize(
    "names", [("query", "doc"), ("question_id", "passage_id"), ("qid", "text_id"), ("query", "id")]
)
def test_columns_of_frames_are_found(names: tuple[str, str]) -> None:
    rows = [(query, document, score) for query in NEW for document, score in NEW[query].items()]
    assert ll.Run(pd.DataFrame(rows, columns=[*names, "score"])) == ll.Run(NEW)
    assert ll.Run([dict(zip((*names, "score"), row, strict=True)) for row in rows]) == ll.Run(NEW)


def test_rows_of_a_run_may_be_lists() -> None:
    rows: Any = [[query, document, score] for query in NEW for document, score in NEW[query].items()]
    assert ll.evaluate(QRELS, rows, "RR").means.tolist() == [[0.75]]
    with pytest.raises(ll.InputError, match=r"Use \{query: \[document, \.\.\.\]\}"):
        ANY.evaluate([["d1", "d2"], ["d2"]], [["d1"], ["d2"]], "RR")


@pytest.mark.parametrize(
    ("names", "options", "right"),
    [
        (("question", "passage"), {}, "query ids and document ids to 'query_id' and 'doc_id'"),
        (("query_id", "passage"), {}, "If column 'passage' contains ids, rename it to 'docid'"),
        (("x", "y"), {"qrels_columns": "query_id,doc_id,grade"}, "Rename the columns of the data frame"),
    ],
)
def test_columns_that_are_not_found_are_to_be_renamed(names: Any, options: Any, right: str) -> None:
    frame = pd.DataFrame([("q1", "d1", 1)], columns=[*names, "grade"])
    with pytest.raises(ll.InputError, match=right):
        ll.evaluate(frame, NEW, "AP", **options)


def test_a_table_says_where_the_lists_were_cut() -> None:
    for call in (ll.evaluate, ll.compare, ll.rank):
        assert "cut at rank 1" in str(call(QRELS, OLD, NEW, "nDCG", depth=1))
        assert "cut at" not in str(call(QRELS, OLD, NEW, "nDCG"))
        judged = str(call(QRELS, OLD, NEW, "nDCG", judged_only=True))
        assert "unjudged documents removed" in judged


def test_judges_stand_one_after_the_other() -> None:
    other = {"q1": {"d1": 1, "d2": 1}, "q2": {"d1": 0, "d2": 2}}
    named = ll.agreement({"judge 1": QRELS, "judge 2": other})
    assert ll.agreement(QRELS, other)["scott"].value == named["scott"].value
    assert ll.agreement([QRELS, other]).to_dict() == named.to_dict()


def test_a_pool_for_a_measure_is_drawn_judged_and_estimated() -> None:
    runs = {name: {f"q{n}": [f"{name}{n}{k}" for k in range(20)] for n in range(6)} for name in ("a", "b")}
    pool = ll.pool(runs, measure="P@10", budget=8)
    judged: dict[str, dict[str, int]] = {query: {} for query in runs["a"]}
    for query, document, drawn in zip(pool.pool.queries, pool.pool.documents, pool.pool.drawn, strict=True):
        if drawn:
            judged[query][document] = int(document.startswith("a"))
    found = ll.evaluate(judged, runs, "P@10", pool=pool)
    assert found.sampling is not None
    assert found["a"]["P@10"] > found["b"]["P@10"]
    with pytest.raises(ll.UsageError, match="use only one of random and measure"):
        ll.pool(runs, measure="P@10", budget=8, random=3)  # type: ignore[call-overload]
    with pytest.raises(ll.UsageError, match="budget needs measure"):
        ll.pool(runs, depth=5, budget=8)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("name", "right"),
    [("estimate", "pool=pool"), ("load_run", "read_run"), ("ttest", "compare"), ("kappa", "agreement")],
)
def test_names_of_other_programs_are_answered_with_the_right_call(name: str, right: str) -> None:
    with pytest.raises(AttributeError, match=right):
        getattr(ll, name)


LIST = [[0.9, 0.5]]
ANY: Any = ll  # whose types do not matter


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (
            lambda: ANY.evaluate(QRELS, NEW, "ndcg", k=10),
            r"Use a measure with a cutoff, such as 'nDCG@10'\.$",
        ),
        (lambda: ANY.evaluate(QRELS, NEW, "ndcg", k_values=[1, 5]), r"nDCG@\{1,5,10\}"),
        (lambda: ANY.evaluate(QRELS, NEW, "AP", ci=0.95), "intervals=True"),
        (lambda: ANY.evaluate(QRELS, NEW, "AP", confidence=0.95), "confidence needs intervals"),
        (lambda: ANY.evaluate(QRELS, NEW, "AP", llm_labels=QRELS), "machine=labels with pool=pool"),
        (lambda: ANY.evaluate(QRELS, NEW, k=10, metrics="AP"), "'nDCG@10'.*Use measures"),
        (lambda: ANY.compare(QRELS, OLD, NEW, "AP", method="bonferroni"), "correction='Holm'"),
        (lambda: ANY.compare(QRELS, OLD, NEW, "AP", n_permutations=99), r"'Randomisation\(draws=2000\)'"),
        (lambda: ANY.pool([NEW, OLD], sample=100), "measure='P@10' with total=100"),
        (lambda: ANY.pool(NEW, OLD), r"pool\(\[run, run\], depth=10\)"),
        (lambda: ANY.fuse(NEW, OLD), r"fuse\(\[a, b\]\)"),
        (lambda: ANY.fuse([NEW, OLD], method="rrf", k=60), r"method='RRF\(k=60\)'"),
        (lambda: ANY.predict(NEW, method="nqc", qrels=QRELS), "Use predictors.*--truth"),
        (lambda: ANY.sampled(human=QRELS, llm=QRELS), "pool=pool, machine=labels"),
        (lambda: ANY.difference(QRELS, OLD, NEW, "AP"), r"compare\(qrels, old, new, measure\)"),
        (lambda: ANY.why_different(QRELS, OLD, NEW, query="q1"), r"explain\(qrels, run, measure, query\)"),
        (lambda: ANY.unjudged(QRELS, NEW, k=10), r"'Judged@10'\)"),
        (lambda: ANY.curve(QRELS, NEW, "recall"), r"evaluate\(qrels, runs, 'R@\{1,5,10\}'\)"),
        (lambda: ANY.histogram(QRELS, NEW, "AP", bins=10), "figure='violin'"),
        (lambda: ANY.rank([NEW, OLD]), r"unjudged\(runs\)"),
        (lambda: ANY.score(["d1"], ["d2", "d1"], "ndcg@10"), r"evaluate\(\{'q'"),
        (lambda: ANY.run_of_arrays(LIST, LIST, query_ids=["1"], doc_ids=["a"]), "Use queries.*Use documents"),
        (lambda: ANY.run_of_arrays(LIST, [[0, 1]], ["1"], documents=["a", "b"]), r"\(ids, scores, queries\)"),
        (lambda: ANY.correlate(QRELS, [OLD, NEW], "AP"), r"correlate\(evaluate\(qrels, runs, 'AP'\)"),
        (lambda: ANY.correlate([0.1], [0.2], method="kendall"), r"\(\{run: value\}, \{run: value\}\)"),
        (lambda: ANY.search(ANY.build_index({"d": "a fox"}), "red fox"), r"pass \{'q': text\}"),
        (lambda: ANY.search(ANY.build_index({"d": "a fox"}), "fox"), r"pass \{'q': text\}"),
        (lambda: ANY.search(ANY.build_index({"d": "a fox"}), {"q": "fox"}, depth=9), r"Use k\.$"),
        (
            lambda: ANY.evaluate(qrels=QRELS, run=NEW, metrics="AP"),
            "'run'. Use runs.*'metrics'. Use measures",
        ),
        (lambda: ANY.fuse([NEW, OLD], kind="wsum"), r"Use method\.$"),
        (lambda: results() > 0.5, r"Use mean\('old', 'RR'\)"),
        (
            lambda: round(results()["old"], 2),  # type: ignore[call-overload]  # no number
            r"as in results\[run\]\['RR'\]",
        ),
        (lambda: one().per_query["q2"], r"results\.value\('run', 'q2', 'RR'\)"),
        (lambda: ANY.search(ANY.build_index({"d": "a fox"}), {"q": "fox"}, model="bm25"), "Use models"),
        (
            lambda: ANY.gate(QRELS, NEW, {"ndcg@10": 0.3}),
            r"gate\(evaluate\(qrels, runs, measures\), fail_below=",
        ),
        (lambda: ANY.gate(QRELS, NEW, baseline=OLD, tolerance=0.1), r"fail_if_worse='nDCG@10:0\.01'"),
        (
            lambda: ANY.gate("base.json", fail_below="AP=1"),
            r"gate\(compare\(qrels, runs, measures, baseline=name\)",
        ),
        (lambda: ANY.gate(results(), fail_if_worse="RR"), r"compare\(results, baseline=NAME\)"),
        (lambda: ANY.write_baseline("base.json", results()), r"write_baseline\(evaluate\("),
        (lambda: ANY.write_baseline("qrels.txt", "a.run", "base.json"), r"write_baseline\(evaluate\("),
        (lambda: ANY.write_pool("pool.txt", ANY.pool([NEW], depth=1)), r"write_pool\(pool, path\)"),
        (lambda: ANY.curve(QRELS), "needs `runs`"),
        (lambda: ANY.pool([NEW], llm_labels=QRELS), "Use machine"),
        (lambda: ANY.sampled(QRELS, NEW, correction_method="holm"), "Did you mean 'correction'"),
        (lambda: ANY.suite("suite.toml", method="t-test"), r"or test='T' or 'Randomisation' for the test\.$"),
        (lambda: ANY.suite("suite.toml", n_boot=99), r"Use test='Randomisation\(draws=2000\)'\.$"),
        (lambda: ANY.evaluate(QRELS, NEW, "AP", query_ids=["q1"]), "Use queries_in"),
        (lambda: ANY.search("index", {"q": "fox"}, per_query=True), "Did you mean 'on_query'"),
        (lambda: ANY.evaluate(QRELS, NEW, "AP", machine=OLD), r"`pool\(runs, measure=\.\.\.\)`"),
    ],
)
def test_calls_of_other_programs_are_answered_with_the_right_call(
    call: Callable[[], Any], right: str
) -> None:
    with pytest.raises(ll.UsageError, match=right):
        call()


def test_calls_that_were_tried_first_work() -> None:
    found = ll.search(ll.build_index({"d1": "a red fox", "d2": "a whale"}), {"q1": "fox"})
    assert list(found["BM25"]["q1"]) == ["d1"]
    runs = {"old": OLD, "new": NEW}
    both = ll.correlate(ll.evaluate(QRELS, runs, "RR"), ll.evaluate(QRELS, runs, "P@1"), draws=0)
    assert both.truth.tolist() == [0.75, 0.75]


def test_gates_are_true_if_none_has_failed() -> None:
    assert ll.gate(results(), fail_below=["RR=0.5", "P@1=0.4"])
    assert not ll.gate(results(), fail_below=["RR=0.5", "P@1=0.6"])


def one() -> ll.Results:
    return ll.evaluate(QRELS, NEW, "RR")


def compared(*measures: str) -> ll.Comparison:
    return ll.compare(QRELS, {"old": OLD, "new": NEW}, *measures)


@pytest.mark.parametrize(
    ("made", "name", "right"),
    [
        (results, "save", r"Use write\(path\)"),
        (results, "df", r"Use to_pandas\(\)"),
        (results, "ci", r"Use evaluate\(\.\.\., intervals=True\)"),
        (results, "p_value", r"Use compare\(results\)"),
        (one, "pvalue", r"Use compare\(qrels, old, new, 'RR'\)"),
        (results, "worse", r"Use worst\('new', against='old'\)"),
        (one, "mrr", r"Use results\['run'\]\['mrr'\]"),
        (lambda: compared("RR"), "p_value", "Use p"),
        (lambda: compared("RR"), "worse", r"Use comparison\.results\.worst\('new', against='old'\)"),
        (
            lambda: compared("RR", "P@1"),
            "better",
            r"Use comparison\.results\.worst\('old', against='new', measure='RR'\)",
        ),
        (lambda: compared("RR"), "scores", "Use comparison.results.per_query"),
        (lambda: compared("RR"), "wins", r"Use pairs\[0\]\.wins"),
        (lambda: ll.Run(NEW), "items", r"Use to_dict\(\)"),
        (lambda: ll.Run(NEW), "to_df", r"Use to_pandas\(\)"),
        (lambda: ll.Qrels(QRELS), "save", r"Use write\(path\)"),
        (lambda: ll.Run, "from_dict", r"Use Run\(data\)"),
        (lambda: ll.Qrels, "from_df", r"Use Qrels\(data\)"),
        (
            lambda: ll.build_index({"d": "a fox"}),
            "search",
            r"Use search\(index, \{'q1': 'text of a query'\}\)",
        ),
        (lambda: ll.agreement(QRELS, QRELS), "kappa", r"Use result\['cohen'\]\.value"),
        (lambda: ll.Results, "load", r"Use read_scores\(path\)"),
        (lambda: ll.Comparison, "load", r"Use from_json\(text\)"),
    ],
)
def test_attributes_of_other_programs_are_answered_with_the_right_call(
    made: Callable[[], Any], name: str, right: str
) -> None:
    with pytest.raises(AttributeError, match=right):
        getattr(made(), name)


def test_results_of_one_run_and_measure_are_a_number() -> None:
    assert (float(one()), f"{one():.2f}", one().mean()) == (0.75, "0.75", 0.75)
    for call in (float, ll.Results.mean):
        with pytest.raises(ll.UsageError, match=r"Use mean\('old', 'RR'\)"):
            call(results())


def test_means_are_looked_up_by_every_name_of_a_measure() -> None:
    means = one()["run"]
    assert (means["mrr"], means["recip_rank"], means.get("mrr"), means.get("map", 0)) == (0.75, 0.75, 0.75, 0)
    assert pickle.loads(pickle.dumps(means)) == copy.copy(means) == {"RR": 0.75}
    with pytest.raises(ll.UsageError, match="have no measure 'map'"):
        _ = means["map"]
    with pytest.raises(ll.UsageError, match=r"'mrr' is a measure, not a run. Use results\['run'\]\['mrr'\]"):
        _ = one()["mrr"]


def test_results_are_a_dictionary_of_runs() -> None:
    means = {"old": {"RR": 0.75, "P@1": 0.5}, "new": {"RR": 0.75, "P@1": 0.5}}
    assert dict(results()) == dict(results().items()) == json.loads(json.dumps(dict(results()))) == means


def test_values_of_queries_need_no_call() -> None:
    found = one()
    assert found.per_query["value"] == found.per_query()["value"] == [1.0, 0.5]
    with pytest.raises(ll.UsageError, match=r"use results\.value\('run', 'q1', 'mrr'\)"):
        _ = found.per_query["mrr"]["q1"]  # type: ignore[call-overload]
    for other in ("score", "P@99"):  # a hint that works, for what is no measure of the results
        with pytest.raises(ll.UsageError, match=r"use results\.value\('run', 'q1', 'RR'\)"):
            _ = found.per_query[other]
    assert found.value("run", "q1", "mrr") == 1.0


def test_a_difference_of_results_is_answered_with_compare() -> None:
    with pytest.raises(ll.UsageError, match=r"compare\(qrels, old, new, 'RR'\)"):
        _ = one() - one()


def test_the_attributes_of_a_single_pair_are_single_values() -> None:
    assert compared("RR").significant is False
    with pytest.raises(ll.UsageError, match="Use `pairs`"):
        bool(compared("RR", "P@1").significant)


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (one, "Results(1 run, 2 queries; RR 0.7500)"),
        (results, "Results(2 runs, 2 queries; old: RR 0.7500, P@1 0.5000; new: RR 0.7500, P@1 0.5000)"),
        (
            lambda: ll.evaluate(QRELS, dict.fromkeys("abcd", NEW), "RR", "P@1"),
            "Results(4 runs, 2 queries; RR, P@1)",
        ),
        (lambda: ll.predict({"a": NEW}), "Predictions(1 run, 2 queries; "),
        (lambda: ll.agreement(QRELS, QRELS, weights="quadratic"), "quadratic weights)"),
        (lambda: compared("P@1"), "new - old, P@1 0.0000, p = 1"),
        (lambda: ll.rank(QRELS, {"new": NEW, "old": OLD}, "RR"), "Ranking(2 runs by RR)"),
        (lambda: ll.pool({"a": NEW, "b": OLD}, measure="P@1", budget=1), "pairs drawn for P@1)"),
        (lambda: ll.explain(QRELS, NEW, "RR", query="q2"), "RR of run on query q2: 0.5000"),
    ],
)
def test_results_show_their_main_values_in_one_line(made: Callable[[], ll.Result], shown: str) -> None:
    line = repr(made())
    assert shown in line
    assert len(line) < 150
    assert "\n" not in line


def test_warnings_name_keywords_and_calls() -> None:
    values = [{"query_id": query, "run": run, "lag": 1.0} for query in QRELS for run in ("a", "b")]
    (assumed,) = ll.read_scores(values).warnings
    assert "lower_is_better=" in str(assumed)
    pool = ll.pool({"a": NEW, "b": OLD}, measure="P@1", budget=1)
    rest: dict[str, dict[str, float]] = {"q1": {"d9": 1}, "q2": {"d1": 0, "d2": 1}, "q3": {"d1": 1}}
    found = [*ll.evaluate(rest, {"a": NEW}, "P@1", pool=pool).warnings, assumed]
    skewed = {"q": {f"d{rank}": 1000.0 / rank**4 for rank in range(1, 30)}}
    found += ll.histogram({"q": {"d1": 1, "d5": 1}}, skewed).warnings
    found += ll.sampled({"q": {"d1": 1, "d5": -1}}, skewed, "AP").warnings
    assert any("evaluate(qrels, run, 'infAP')" in str(one) for one in found)
    assert any("`pool(runs, measure=..., judged=qrels)`" in str(one) for one in found)
    assert not any("--" in str(one) or "`leadline " in str(one) for one in found)


def test_notes_name_keywords_and_calls(tmp_path: Path, leadline: Leadline) -> None:
    """Those below a table, too, and those of a result that a command has saved."""
    runs = {name: {query: {"d1": 1.0 + (name == "a"), "d2": 1.5} for query in QRELS} for name in "abcdefg"}
    documents = {f"d{rank}": -float(rank) for rank in range(200)}
    results: list[tuple[str, ll.Result]] = [
        ("as_printed=True", ll.histogram(QRELS, {"a": NEW}, draws=20)),
        ("draws=0", ll.correlate({"a": 1, "b": 2, "c": 4}, {"a": 1, "b": 3, "c": 2}, draws=0)),
        ("pairs='all'", ll.compare(QRELS, runs, "AP")),
        ("everything=True", ll.explain({"q": {"d1": 1}}, {"q": documents}, "P@5", "q")),
        ("total", ll.pool({"a": NEW, "b": OLD}, measure="P@1", budget=100)),
    ]
    for keyword, result in results:
        assert keyword in str(result)
        assert str(type(result).from_json(result.to_json())) == str(result)
        assert not re.search("--[a-z]|-C |`leadline ", str(result))
        vars(result)["_made_by"] = "of_another_version"
        assert str(result)
    run = tmp_path / "a.run"
    run.write_text("q1 0 d1 1 1 a\nq1 0 d2 2 2 a\n", encoding="utf-8")
    ll.write_qrels(QRELS, tmp_path / "qrels.txt")
    saved, page = tmp_path / "saved.json", tmp_path / "page.html"
    assert "read.order=rank" in leadline("evaluate", tmp_path / "qrels.txt", run, "-o", saved).out
    again = ll.Results.from_json(saved.read_text(encoding="utf-8"))
    report: Any = ll.report
    told = [*again.warnings, *report(QRELS, [run, NEW], page).warnings, page.read_text(encoding="utf-8")]
    assert sum("unless order=" in str(one) for one in told) == 3
    assert not any("read.order" in str(one) for one in told)


def test_arguments_that_were_misread_are_refused_or_read() -> None:
    assert ll.evaluate(QRELS, [NEW, OLD], "RR", queries_in=iter(["q1"])).averaged_queries() == ["q1"]
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: ll.explain({1: {"d": 1}}, {1: {"d": 1}}, "AP", 1), "query must be"),  # type: ignore[arg-type]
        (lambda: ll.read_run([[("d", 1)]], queries="a"), "queries must be"),
        (lambda: ll.read_run([[(0, 1)]], queries=["a"], documents="d"), "documents must be"),
        (lambda: ll.difference(QRELS, [NEW, OLD]).farthest(-1), "most must be"),
        (lambda: results().text("xml"), "form must be"),
        (lambda: ll.fuse(results()), "not an object of type Results"),
        (lambda: ll.check(results()), "type Results cannot be checked"),
        (lambda: ll.write_run({"a": ll.Run(NEW)}, "a.run"), r"runs\['a'\]"),  # type: ignore[arg-type]
        (lambda: pickle.dumps(ll.build_index({"d": "x"})), r"build_index\(documents, path\)"),
        (lambda: ll.rank(QRELS, [NEW, OLD], "RR", margin=0.1), "Use compare"),  # type: ignore[call-arg]
        (lambda: ll.run_of_arrays([[0, 1], [1]], [[2, 1], [1]], ["q", "r"]), "differ in length"),
        (lambda: ll.run_of_arrays([[0]], [[2]], "q", documents=["d"]), "queries must be"),
        (lambda: ll.read_run({"q": {"d": None}}), "on_nan='drop'"),
        (lambda: ll.read_run(pd.DataFrame({"qid": [b"q"], "docno": "d", "score": 1})), r"\.str\.decode"),
        (lambda: compared("RR").text(pairs="none"), "pairs must be"),
        (lambda: compared("RR").text(pairs=float("nan")), "pairs must be"),
        (lambda: ll.histogram(QRELS, [NEW], documents=["d1"]), "documents applies only to"),
        (lambda: ll.sampled(QRELS, [NEW], documents="docs.txt"), "documents must be"),
        (lambda: ll.read_qrels({"q1": {"d1": 10**400}}), r"grade 1000\d*\.\.\. .* is too large"),
        (lambda: ll.evaluate(QRELS, NEW, "AP", rel=10**400), "rel must be a number, not 1000"),
    ]
    for call, said in wrong:
        with pytest.raises(ll.LeadlineError, match=said) as caught:
            call()
        assert len(str(caught.value)) < 200


def test_the_frame_of_a_pool_has_the_pairs_to_judge() -> None:
    for pool in (ll.pool([NEW, OLD], measure="P@1", budget=1), ll.pool([NEW, OLD], depth=1)):
        frame = pool.to_pandas()
        assert list(frame.columns) == ["query_id", "doc_id", "probability"]
        assert len(frame) == (pool.pairs if hasattr(pool, "pairs") else len(pool)) > 0
    query, documents = next(iter(ll.read_run(NEW).to_dict().items()))
    judged = {query: {next(iter(documents)): 1}}
    known = ll.pool([NEW, OLD], measure="P@1", budget=9, judged=judged)
    assert len(known.to_pandas()) == known.pairs - 1


def test_runs_of_a_search_are_copied_and_written(tmp_path: Path) -> None:
    index = ll.build_index({"d1": "two wings"}, tmp_path / "index")
    assert pickle.loads(pickle.dumps(index)).documents == copy.deepcopy(index).documents == 1
    found = ll.search(ll.build_index({"d1": "two wings", "d2": "heat"}), {"q1": "wings"})
    for made in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert {name: run.to_dict() for name, run in made.items()} == {"BM25": found["BM25"].to_dict()}
    ll.write_run(found["BM25"], tmp_path / "run", suffix="csv")
    assert (tmp_path / "run").read_text(encoding="utf-8").startswith("query_id,doc_id,")


def test_refusals_advise_calls(tmp_path: Path) -> None:
    path = tmp_path / "docs.txt"
    path.write_text("q1 Q0 d1 1 1 a\n" * 2, encoding="utf-8")
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: ll.open_index(path), rf"`build_index\('{path}', "),
        (lambda: ll.build_index(path), r"docs\.txt:1: .*`check\(path\)`"),
        (lambda: ll.evaluate(path, [NEW], "AP"), r"`unjudged\(runs\)`"),
        (lambda: ll.agreement(QRELS, QRELS, measures="AP"), "^measures needs runs"),
        (lambda: ll.replicate([NEW, OLD], [NEW, OLD]), "also needs `qrels`"),  # type: ignore[call-arg]
        (lambda: ll.evaluate(QRELS, [NEW], "P@0"), r"`leadline\.MEASURES\.classes`"),
        (lambda: ll.build_index(pd.DataFrame({"docno": ["a", None], "text": "x"})), "row 2: .*has no id"),
    ]
    for call, said in calls:
        with pytest.raises(ll.LeadlineError, match=said) as caught:
            call()
        assert not re.search("`leadline [a-z]", str(caught.value))
    path.write_text("q1 Q0 d1 1 3 a\nq1 Q0 d1 2 2 a\nq1 Q0 d2 3 nan a\n", encoding="utf-8")
    checked = str(ll.check(path))
    assert "`check(path, fix=copy, on_nan='drop')`" in checked
    assert "`check(path, fix=copy, on_duplicate='first')`" in checked
    sample = tmp_path / "sample.csv"
    sample.write_text("query_id,doc_id,relevance,probability\nq1,d1,1,0.5\n", encoding="utf-8")
    with pytest.raises(ll.InputError, match=rf"Use `evaluate\('{sample}', runs\)`, `compare` or `rank`.$"):
        ll.histogram(sample, [NEW])
