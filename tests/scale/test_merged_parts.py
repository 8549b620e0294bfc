"""Results of parts, merged, are those of the whole: values, means, counts and warnings, to the bit."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import leadline as ll
from conftest import EXAMPLES, FORMS
from leadline import kernels
from leadline.errors import UnknownIdError, UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.results import Results
from leadline.scale import evaluate_parts, evaluate_runs
from leadline.scale.run_parts import RunParts
from leadline.scale.saved_files import merge_files
from whole_runs import EVERY, assert_same, options_of, split_run

SEEDS = range(round(3 * EXAMPLES))


def both_kinds(seed: int, **more: Any) -> list[dict[str, Any]]:
    """Return the measures of judgments without subtopics and with them, each with random options."""
    by_subtopic = [measure for measure in EVERY if measure.__module__.endswith("diversity")]
    plain = [measure for measure in EVERY if measure not in by_subtopic]
    return [
        {"measures": plain, **options_of(seed), **more},
        {"measures": EVERY, "subtopics": True, **options_of(seed + 1), **more},
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_give_the_values_and_warnings_of_the_whole_for_every_measure(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "compiled", list(FORMS.values())[seed % 2])  # measures are the same in both
    split = split_run(tmp_path, seed)
    for options in both_kinds(seed, known=split.known):
        whole = evaluate(split.qrels, split.run, **options)
        parts = RunParts(split.parts, name="bm25")
        assert_same(evaluate_parts(split.qrels, parts, **options), whole)
        partial = [evaluate(split.qrels, {"bm25": part}, **options) for part in split.parts]
        assert_same(Results.merge(partial), whole)
        assert_same(Results.merge([Results.merge(partial[:1]), *partial[1:]]), whole)


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_intervals_and_relevance_strings_are_those_of_the_whole(seed: int, tmp_path: Path) -> None:
    split = split_run(tmp_path, seed)
    measures = ["AP", "nDCG@5", "RBP", "ERR@5", "Bpref", "P@3"]
    more: dict[str, Any] = {"bounds": True, "intervals": "BCa", "seed": 3, "relevance_strings": 5}
    options = {"queries": options_of(seed)["queries"], **more}
    whole = evaluate(split.qrels, split.run, measures, **options)
    merged = evaluate_parts(split.qrels, RunParts(split.parts, name="bm25"), measures, **options)
    assert_same(merged, whole, bounds=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_saved_parts_merge_to_the_whole(seed: int, tmp_path: Path) -> None:
    split = split_run(tmp_path, seed)
    options = options_of(seed)
    measures = ["AP", "nDCG@5", "RR", "GMAP", "NumRel", "Bpref"]
    whole = evaluate(split.qrels, split.run, measures, **options)
    files = [f"{part}.parquet" for part in split.parts]
    for part, file in zip(split.parts, files, strict=True):
        evaluate(split.qrels, {"bm25": part}, measures, **options).write(file)
    merged = merge_files(files)
    assert_same(merged, whole)
    merged.write(tmp_path / "merged.parquet")
    assert_same(merge_files(str(tmp_path / "merged.parquet")), whole)


def test_parts_saved_before_a_count_existed_merge(tmp_path: Path) -> None:
    files = [str(tmp_path / f"{number}.json") for number in range(2)]
    for file, number in zip(files, (1, 2), strict=True):
        result = part(f"q{number}")
        if number == 1:
            del result.runs[0].counts["held_documents"]
        result.write(file)
    for given in (files, files[::-1], files[:1]):
        assert merge_files(given).runs[0].counts.get("held_documents", 0) == 0


def test_several_runs_in_parts_merge_with_the_warnings_of_each(tmp_path: Path) -> None:
    first, second = (split_run(tmp_path / str(seed), 7, parts=3) for seed in (0, 1))
    runs = {"one": first, "two": second}
    whole = ll.evaluate(first.qrels, {name: split.run for name, split in runs.items()})
    partial = [
        ll.evaluate(first.qrels, {name: split.parts[number] for name, split in runs.items()})
        for number in range(3)
    ]
    assert_same(Results.merge(partial), whole)
    assert_same(evaluate_runs(first.qrels, {name: split.run for name, split in runs.items()}), whole)


QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}, "q3": {"a": 0}}


def part(*queries: str, qrels: Any = QRELS, measures: str | list[str] = "AP", **options: Any) -> Results:
    """Evaluate the part of a run with some queries."""
    run = {"bm25": {query: {"b": 2.0, "a": 1.0} for query in queries}}
    return ll.evaluate(qrels, run, measures, **options)


def test_an_average_of_parts_by_hand() -> None:
    merged = Results.merge([part("q1"), part("q2")])
    assert merged.values[0, :, 0].tolist()[:2] == [1.0, 0.5]
    assert merged.mean("bm25", "AP") == 0.5  # q3 is missing, and nothing is relevant for it
    assert merged.runs[0].counts["missing_queries"] == 1


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (part("q1", "q2"), r"query 'q1' of run 'bm25' is in both result 1 and result 2 \(1 such query\)"),
        (part("q2", qrels=QRELS | {"q1": {"a": 2, "b": 2}}), "different judgments"),
        (part("q2", qrels=QRELS | {"q4": {"a": 2}}), "different judgments"),
        (
            part("q2", measures="RR"),
            r"result 2 and result 1 .* the same measures in the same order \(RR versus AP\)",
        ),
        (part("q2", depth=3), "depth=3"),
        (part("q2", queries_in=["q2"]), "queries_in="),
        (ll.read_scores({"bm25": {"q2": {"AP": 0.5}}}), "cannot be merged"),
        (part("q2", queries="both"), "queries='both'"),
        (part("q2", bounds=True), "bounds, which cannot be merged"),
        (part("q2", relevance_strings=5), "relevance strings, which cannot be merged"),
        (ll.evaluate(QRELS, {"dense": {"q2": {"a": 1.0}}}, "AP"), "different runs"),
    ],
)
def test_what_does_not_belong_together_is_refused(other: Results, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Results.merge([part("q1"), other])


def test_a_query_in_two_parts_is_counted_for_these_parts_only() -> None:
    with pytest.raises(UsageError, match=r"in both result 1 and result 3 \(1 such query\)"):
        Results.merge([part("q1"), part("q2"), part("q1", "q2")])


def test_measures_in_another_order_are_not_called_different() -> None:
    first, second = part("q1", measures=["AP", "RR"]), part("q2", measures=["RR", "AP"])
    with pytest.raises(UsageError, match=r"same measures in the same order \(RR, AP versus AP, RR\)"):
        Results.merge([first, second])


def test_estimates_and_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="at least one"):
        Results.merge([])
    shares = {query: dict.fromkeys(grades, 0.5) for query, grades in QRELS.items()}
    estimated = ll.evaluate(QRELS, {"run": {"q1": ["a"]}}, "P@1", pool=shares)
    with pytest.raises(UsageError, match="estimates"):
        Results.merge([estimated])


def test_results_are_pickled_without_the_judgments() -> None:
    results = part("q1")
    copy = pickle.loads(pickle.dumps(results))
    assert copy.qrels == results.qrels_digest
    assert_same(Results.merge([copy, part("q2", "q3")]), part("q1", "q2", "q3"))


def test_judgments_of_some_queries_keep_what_values_depend_on() -> None:
    qrels = ll.Qrels({"q1": {"a": 1, "b": 3}, "q2": {"a": 1}, "q3": {"c": 2}})
    some = qrels.of_queries(["q3", "q2"])
    assert some.to_dict() == {"q2": {"a": 1}, "q3": {"c": 2}}
    assert some.highest_grade == 3
    assert qrels.of_queries([]).to_dict() == {}
    assert qrels.digest != some.digest
    with pytest.raises(UnknownIdError, match="no query 'q4'"):
        qrels.of_queries(["q4"])
