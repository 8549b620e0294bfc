"""Baselines kept in a file: what is compared with them, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_comparison import QRELS, RUNS, ranked

import leadline as ll
from leadline.comparison.baselines import check_same, read_baseline, write_baseline
from leadline.comparison.gate import BELOW, NOT_WORSE, WORSE, Condition, gates_of
from leadline.errors import InputError, UsageError
from leadline.evaluation.results import Results
from leadline.io.saved_results import is_saved_file

SUFFIXES = ("json", "parquet")
MEASURES = ["nDCG@10", "RR", "RankOf(n=1)"]
Judged = dict[str, dict[str, int]]


def written(path: Path, runs: Any = None, measures: Any = "RR", qrels: Any = None, **options: Any) -> Path:
    """Write a baseline."""
    table = ll.read_qrels(QRELS if qrels is None else qrels)
    runs = {"old": RUNS["best"]} if runs is None else runs
    write_baseline(ll.evaluate(table, runs, measures, **options), path, force=True)
    return path


@pytest.fixture(params=SUFFIXES)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the path of a baseline of each form."""
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
    return tmp_path / f"baseline.{request.param}"


@pytest.mark.parametrize("averaging", ["all", "both", "with_relevant"])
def test_a_run_of_a_file_is_compared_as_the_run_itself(path: Path, averaging: Any) -> None:
    qrels = QRELS | {"none": {"bad": 0}}
    old = {query: documents for query, documents in RUNS["best"].items() if query != "q3"}
    new = {query: documents for query, documents in RUNS["middle"].items() if query != "q5"}
    written(path, {"run": old}, MEASURES, qrels, queries=averaging)
    found = ll.compare(qrels, {"run": new}, baseline=path, queries=averaging)
    direct = ll.compare(qrels, {"run": new, "old": old}, MEASURES, baseline="old", queries=averaging)
    assert found.names == ["run", "run (baseline)"]
    assert repr([pair._replace(b="old") for pair in found.pairs]) == repr(direct.pairs), "NaN too"


def test_of_several_runs_each_is_compared_with_the_one_of_its_name(path: Path) -> None:
    written(path, {"a": RUNS["best"], "b": RUNS["worst"]})
    found = ll.compare(QRELS, {"b": RUNS["worst"], "a": RUNS["best"]}, baseline=path)
    assert [(pair.a, pair.b, pair.verdict) for pair in found.pairs] == [
        ("b", "b (baseline)", "identical"),
        ("a", "a (baseline)", "identical"),
    ]
    assert found.baselines == ["b (baseline)", "a (baseline)"]
    with pytest.raises(UsageError, match="has several runs"):
        ll.compare(QRELS, {"c": RUNS["best"]}, baseline=path)


def test_conditions_are_tested_on_these_pairs_and_least_means_on_new_runs_only(path: Path) -> None:
    written(path, {"a": RUNS["worst"], "b": RUNS["best"]})
    found = ll.compare(QRELS, {"a": RUNS["best"], "b": RUNS["middle"]}, baseline=path)
    outcomes = gates_of(found, [Condition("RR"), Condition("RR", 0.3, BELOW)])
    assert [(gate.run, gate.baseline, gate.failed) for gate in outcomes] == [
        ("a", "a (baseline)", False),
        ("b", "b (baseline)", True),
        ("a", None, False),
        ("b", None, False),
    ]


def test_conditions_need_a_baseline() -> None:
    found = ll.compare(QRELS, RUNS, "RR")
    for kind in (WORSE, NOT_WORSE):
        with pytest.raises(UsageError, match="to `compare` as `baseline`"):
            gates_of(found, [Condition("RR", 0.1, kind)])
    floors = gates_of(found, [Condition("RR", 0.3, BELOW)])
    assert [gate.run for gate in floors] == found.names, "no run is the baseline"


def test_a_value_that_was_changed_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path / "b.json")
    data = json.loads(path.read_text())
    data["runs"][0]["queries"]["q0"]["RR"] = 0.123
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match="is damaged"):
        ll.compare(QRELS, {"run": RUNS["best"]}, baseline=path)


def test_another_format_is_refused_by_name_with_what_to_do(tmp_path: Path) -> None:
    path = written(tmp_path / "b.json")
    data = json.loads(path.read_text())
    for number, words in ((1, "in format 1, but this"), (3, "this version supports only format 2")):
        path.write_text(json.dumps(data | {"format": number}))
        with pytest.raises(InputError, match=f"{words}.*-o FILE.json"):
            ll.compare(QRELS, {"run": RUNS["best"]}, baseline=path)
    path.write_text(json.dumps({"format": "leadline index", "leadline": "0.2.0"}))
    with pytest.raises(InputError, match="is not a saved result"):
        ll.compare(QRELS, {"run": RUNS["best"]}, baseline=path)


DIFFERENT: dict[str, tuple[dict[str, Any], str]] = {
    "depth": ({"depth": 2}, "'depth' was none and is now 2"),
    "profile": ({"profile": "trec10"}, "'profile' was leadline and is now trec10"),
    "averaging": ({"queries": "both"}, "'queries' was all and is now both"),
    "unjudged": ({"judged_only": True}, "'judged_only' was false and is now true"),
    "negative": ({"negative": "unjudged"}, "'negative' was nonrelevant and is now unjudged"),
    "measure": ({"measures": ["RR", "P@5"]}, r"the file lacks P@5 \(it has RR\)"),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_another_option_is_refused_by_name(case: str, path: Path) -> None:
    options, message = DIFFERENT[case]
    with pytest.raises(UsageError, match=f"does not match.*{message}"):
        ll.compare(QRELS, {"run": RUNS["best"]}, baseline=written(path), **options)


@pytest.mark.parametrize("options", [{"name_by": "file"}, {"relevance_strings": 3}])
def test_an_option_that_changes_no_value_is_none_of_its_business(options: Any, path: Path) -> None:
    found = ll.compare(QRELS, {"run": RUNS["best"]}, baseline=written(path), **options)
    assert found.pairs[0].verdict == "identical"


def test_other_judgments_are_refused_with_their_number(path: Path) -> None:
    written(path)
    more = {query: documents | {"late": 1} for query, documents in QRELS.items()}
    with pytest.raises(
        UsageError,
        match=r"judgments differ \(their content hash was .* and is now .*; \d+ judgments before, \d+ now",
    ):
        ll.compare(more, {"run": RUNS["best"]}, baseline=path)


def test_judgments_are_the_same_whatever_file_they_are_in(path: Path, tmp_path: Path) -> None:
    written(path)
    lines = [f"{query} 0 {name} {grade}" for query, found in QRELS.items() for name, grade in found.items()]
    packed = tmp_path / "qrels.txt.gz"
    packed.write_bytes(gzip.compress("\n".join(reversed(lines)).encode()))
    table = tmp_path / "qrels.tsv"
    table.write_text(
        "query_id\tdoc_id\trelevance\n"
        + "\n".join("\t".join(x.split()[::1][:1] + x.split()[2:]) for x in lines)
    )
    for file in (packed, table):
        assert ll.compare(file, {"run": RUNS["best"]}, baseline=path).pairs[0].verdict == "identical"


def test_what_f_json_prints_is_no_baseline(tmp_path: Path) -> None:
    path = tmp_path / "printed.json"
    path.write_text(json.dumps({"leadline": "1"} | ll.evaluate(QRELS, RUNS, "RR").to_dict(per_query=True)))
    with pytest.raises(InputError, match=r"-o FILE\.json"):
        ll.compare(QRELS, {"new": RUNS["best"]}, baseline=path)


@pytest.mark.parametrize("content", ['{"leadline": "1"}', '{"format": 2}', "PAR1"])
def test_another_file_is_refused(content: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"other\.json: "):
        ll.compare(QRELS, {"run": RUNS["best"]}, baseline=path)


def test_a_baseline_is_told_from_a_run(path: Path, tmp_path: Path) -> None:
    assert is_saved_file(str(written(path)))
    for name in ("run.txt", "run.json"):
        ll.write_run(RUNS["best"], tmp_path / name)
        assert not is_saved_file(str(tmp_path / name))
    assert not is_saved_file(str(tmp_path / "none"))


def test_what_is_written_does_not_depend_on_the_folder_it_is_written_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ll.write_qrels(QRELS, tmp_path / "qrels.txt")
    ll.write_run(RUNS["best"], tmp_path / "old.run")
    (tmp_path / "kept").mkdir()
    written(tmp_path / "kept" / "a.json", tmp_path / "old.run", qrels=tmp_path / "qrels.txt")
    monkeypatch.chdir(tmp_path)
    written(Path("kept/b.json"), "old.run", qrels="qrels.txt")
    first, second = ((tmp_path / "kept" / name).read_text() for name in ("a.json", "b.json"))
    assert first == second
    assert [one["path"] for one in json.loads(first)["inputs"]] == ["../qrels.txt", "../old.run"]


judged = st.dictionaries(
    st.sampled_from(["q1", "q2", "q"]),
    st.dictionaries(st.sampled_from(["d", "1 d", "2d", "d2"]), st.integers(0, 2), min_size=1),
    min_size=1,
)


@given(first=judged, second=judged)
def test_hashes_are_equal_exactly_where_judgments_are(first: Judged, second: Judged) -> None:
    one, other = (ll.read_qrels(table).digest for table in (first, second))
    assert (one == other) == (first == second)
    turned = {query: dict(reversed(found.items())) for query, found in reversed(first.items())}
    assert ll.read_qrels(turned).digest == one


def test_subtopics_and_their_grades_are_in_the_hash() -> None:
    tables = [
        {"q": {"1": {"d": 1}, "2": {"d": 1}}},
        {"q": {"1": {"d": 1}}},
        {"q": {"1": {"d": 1}, "2": {"d": 0}}},
        {"q": {"1": {"d": 1}, "3": {"d": 1}}},
    ]
    assert len({ll.read_qrels(table, subtopics=True).digest for table in tables}) == 4


@given(
    old=st.lists(st.integers(0, 6), min_size=6, max_size=6),
    new=st.lists(st.integers(0, 6), min_size=6, max_size=6),
)
def test_random_runs_give_what_they_give_without_a_file(
    tmp_path_factory: pytest.TempPathFactory, old: list[int], new: list[int]
) -> None:
    """A place of 0 is a query that the run lacks."""
    path = tmp_path_factory.getbasetemp() / "random.json"
    qrels = {f"q{query}": {"good": 1} for query in range(6)}
    runs = [
        {
            query: found
            for (query, found), place in zip(
                ranked(*(place or 1 for place in places)).items(), places, strict=True
            )
            if place
        }
        for places in (old, new)
    ]
    if not all(runs):
        return
    written(path, {"x": runs[0]}, ["RR", "AP"], qrels)
    found = ll.compare(qrels, {"x": runs[1]}, baseline=path).results
    direct = ll.evaluate(qrels, {"x": runs[1], "y": runs[0]}, ["RR", "AP"])
    assert (found.values == direct.values).all()
    assert (found.means == direct.means).all()


def test_everything_that_differs_is_named_at_once(tmp_path: Path) -> None:
    kept = read_baseline(str(written(tmp_path / "b.json")))
    more = {query: found | {"late": 1} for query, found in QRELS.items()}
    results: Results = ll.evaluate(more, RUNS, ["RR", "P@5"], depth=3)
    with pytest.raises(UsageError) as refused:
        check_same(results, kept, rewrite="--force")
    rewrite = "save the baseline run (not the new run) again, with --force"
    for part in ("the judgments differ", "it has", "depth", rewrite):
        assert part in str(refused.value)


def test_values_that_were_read_are_compared_if_their_queries_are_the_same(tmp_path: Path) -> None:
    rows = {f"q{query}": {"AP": query / 9} for query in range(8)}
    path = tmp_path / "scores.json"
    write_baseline(ll.read_scores({"x": rows}), path)
    assert ll.compare(ll.read_scores({"x": rows}), baseline=path).pairs[0].verdict == "identical"
    for other in (dict(list(rows.items())[1:]), rows | {"q8": {"AP": 1.0}}):
        with pytest.raises(UsageError, match=r"1 query has either old or new values, but not both \(q[08]\)"):
            ll.compare(ll.read_scores({"x": other}), baseline=path)


@pytest.mark.parametrize(
    ("option", "first", "second"),
    [
        ("lengths", "doc_id,tokens\ngood,5\nx1,5\n", "doc_id,tokens\ngood,9\nx1,5\n"),
        ("documents_of", "chunk_id,doc_id\ngood,good\nx1,x1\n", "chunk_id,doc_id\ngood,x1\nx1,good\n"),
        ("queries_in", "q0\nq1\n", "q0\nq2\n"),
        ("known", "q0 0 good 1\n", "q1 0 good 1\n"),
    ],
)
def test_a_file_behind_an_option_is_compared_by_its_content(
    option: str, first: str, second: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    measure = {"lengths": "R@20tokens", "known": "Novelty"}.get(option, "RR")
    column = ":tokens" * (option == "lengths")
    Path("a.csv").write_text(first)
    written(path, measures=measure, **{option: f"a.csv{column}"})
    for name, content in (("./a.csv", first), ("b.csv", first), ("a.csv", second)):
        Path(name).write_text(content)
        given: dict[str, Any] = {option: f"{name}{column}"}
        if content == first:
            found = ll.compare(QRELS, {"run": RUNS["best"]}, baseline=path, **given)
            assert found.pairs[0].verdict == "identical"
        else:
            with pytest.raises(UsageError, match=r"judgments or .*content hash|a file with SHA-256"):
                ll.compare(QRELS, {"run": RUNS["best"]}, baseline=path, **given)


def test_a_result_that_has_only_the_path_of_a_file_is_compared_by_path(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("doc_id,tokens\ngood,5\nx1,5\n")
    given: dict[str, Any] = {"lengths": f"{file}:tokens"}
    ll.evaluate(QRELS, {"old": RUNS["best"]}, "R@20tokens", **given).write(path)
    found = ll.compare(QRELS, {"run": RUNS["best"]}, baseline=path, **given)
    assert found.pairs[0].verdict == "identical"
    other = file.rename(tmp_path / "b.csv")
    with pytest.raises(UsageError, match=r"'lengths' was .*a\.csv:tokens and is now .*b\.csv:tokens\."):
        ll.compare(QRELS, {"run": RUNS["best"]}, baseline=path, lengths=f"{other}:tokens")
