"""How runs and judgments are read is one value, checked in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any, get_args, get_type_hints

import pytest

import leadline as ll
from leadline.data import reading as module
from leadline.data.reading import Cut, CutOptions, Reading, ReadingOptions
from leadline.errors import UnknownOptionError

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1, "d2": 0}}
RUNS = {"a": {"q1": {"d1": 2.0, "d2": 1.0}}, "b": {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d1": 1.0}}}

CALLS: dict[str, Callable[..., Any]] = {
    "compare": lambda **given: ll.compare(QRELS, RUNS, **given),
    "curve": lambda **given: ll.curve(QRELS, RUNS, **given),
    "difference": lambda **given: ll.difference(QRELS, RUNS, **given),
    "evaluate": lambda **given: ll.evaluate(QRELS, RUNS, **given),
    "explain": lambda **given: ll.explain(QRELS, RUNS["a"], "RR", "q1", **given),
    "histogram": lambda **given: ll.histogram(QRELS, RUNS, **given),
    "pool": lambda **given: ll.pool(RUNS, depth=1, **given),
    "predict": lambda **given: ll.predict(RUNS, **given),
    "read_run": lambda **given: ll.read_run(RUNS["a"], **given),
    "sampled": lambda **given: ll.sampled(QRELS, RUNS, population=10, **given),
    "unjudged": lambda **given: ll.unjudged(RUNS, **given),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_keyword_is_refused_with_the_nearest(name: str) -> None:
    with pytest.raises(UnknownOptionError) as rejected:
        CALLS[name](on_duplicates="first")
    assert str(rejected.value) == f"{name}() has no option 'on_duplicates'. Did you mean 'on_duplicate'?"
    assert isinstance(rejected.value, TypeError)


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_value_is_refused_with_what_was_expected(name: str) -> None:
    with pytest.raises(ll.UsageError) as rejected:
        CALLS[name](order="ranks")
    assert str(rejected.value) == "order must be 'score' or 'rank', not 'ranks'"


def test_a_keyword_without_likeness_is_answered_by_all_there_are() -> None:
    with pytest.raises(UnknownOptionError) as rejected:
        ll.read_qrels(QRELS, zzz=1)  # type: ignore[call-arg]  # what is tested
    allowed = "kind, negative, qrels_columns, subtopics, queries_in"
    assert str(rejected.value) == f"read_qrels() has no option 'zzz'. Its options are {allowed}."


def test_a_keyword_of_the_function_itself_is_suggested_too() -> None:
    with pytest.raises(UnknownOptionError, match="Did you mean 'interpolation'"):
        ll.curve(QRELS, RUNS, interpolaton="standard")  # type: ignore[call-arg]  # what is tested


def test_settings_of_the_command_line_are_answered_by_what_has_them_in_python() -> None:
    with pytest.raises(UnknownOptionError, match=r"Use leadline.read_qrels\(path, kind='qrels'\)"):
        ll.histogram(QRELS, RUNS, kind="qrels")  # type: ignore[call-arg]  # what is tested
    with pytest.raises(UnknownOptionError, match=r"Use comparison.records\(changed=...\)"):
        ll.compare(QRELS, RUNS, "AP", changed=5)  # type: ignore[call-arg]  # what is tested
    with pytest.raises(UnknownOptionError, match=r"Its options are"):
        ll.suite({}, fail_if_worse="AP")  # type: ignore[call-arg]  # no comparison, which `gate` takes
    with pytest.raises(UnknownOptionError, match=r"Use ranking.results.per_query\(\)"):
        ll.rank(QRELS, RUNS, "AP", per_query=True)  # type: ignore[call-arg]  # a `Ranking` has no such method
    with pytest.raises(UnknownOptionError, match=r"with --query-slice FILE:COLUMN"):
        ll.compare(QRELS, RUNS, "AP", query_slice="a:b")  # type: ignore[call-arg]  # what is tested
    with pytest.raises(UnknownOptionError, match=r"Use a measure with a cutoff"):
        ll.evaluate(QRELS, RUNS, "AP", k=10)  # type: ignore[call-arg]  # what is tested
    with pytest.raises(UnknownOptionError, match=r"fuse\(\) has no option 'k'. Use method='RRF\(k=60\)'"):
        ll.fuse(RUNS, k=60)  # type: ignore[call-arg]  # the k of RRF, which is no depth
    with pytest.raises(UnknownOptionError, match="Its options are"):
        ll.score("i", {"q": "x"}, {}, "BM25", depth=9)  # type: ignore[call-arg]  # has no k, unlike `search`
    with pytest.raises(UnknownOptionError, match=r"Use results.per_query\(\)"):
        ll.evaluate(QRELS, RUNS, "AP", per_query=True)  # type: ignore[call-arg]  # what is tested


def test_keywords_that_a_function_has_no_use_for_are_refused() -> None:
    with pytest.raises(UnknownOptionError, match=r"predict\(\) has no option 'negative'"):
        ll.predict(RUNS, negative="unjudged")  # type: ignore[call-arg]  # what is tested


@pytest.mark.parametrize(("kind", "options"), [(Reading, ReadingOptions), (Cut, CutOptions)])
def test_the_typed_keywords_are_the_fields(kind: type, options: type) -> None:
    made, typed, kept = kind(), get_type_hints(options), get_type_hints(kind)
    assert set(made.options()) == set(typed)
    assert {name: kept[name] for name in typed} == typed
    for name, allowed in typed.items():
        for value in get_args(allowed):
            if isinstance(value, str):
                assert getattr(kind(**{name: value}), name) == value


def test_a_reading_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        module.DEFAULT_READING.order = "rank"  # type: ignore[misc]  # what is tested


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"depth": 0}, "depth must be a whole number of at least 1, not 0"),
        ({"judged_only": 1}, "judged_only must be True or False, not 1"),
    ],
)
def test_a_cut_is_checked(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ll.UsageError) as rejected:
        ll.evaluate(QRELS, RUNS, **given)
    assert str(rejected.value) == message


def test_results_keep_what_was_read_how() -> None:
    options = ll.evaluate(QRELS, RUNS, "AP", order="score", negative="unjudged", depth=1).options
    assert {name: options[name] for name in ("order", "negative", "depth", "judged_only", "name_by")} == {
        "order": "score",
        "negative": "unjudged",
        "depth": 1,
        "judged_only": False,
        "name_by": "file",
    }
