"""Suites: means over collections, missing cells, tests within and over collections, files of suites."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import leadline as ll
from conftest import Leadline, examples
from leadline.comparison.engine import over_collections, stratified
from leadline.comparison.pairing import SuiteRules
from leadline.comparison.suite_evaluation import read_suite, suite
from leadline.measures import from_function

RULES = SuiteRules()
FLIPS = SuiteRules.of(test="Randomisation")


def ranked(places: list[int]) -> dict[str, dict[str, float]]:
    """Return a run with the relevant document of each query at a rank."""
    return {
        f"q{query}": {"d" if rank == place else f"x{rank}": -float(rank) for rank in range(1, place + 1)}
        for query, place in enumerate(places)
    }


def collection(**runs: list[int]) -> dict[str, Any]:
    """Return a collection with one relevant document for each query, and runs by its ranks."""
    queries = len(next(iter(runs.values())))
    qrels = {f"q{query}": {"d": 1} for query in range(queries)}
    return {"qrels": qrels, "runs": {name: ranked(places) for name, places in runs.items()}}


def of(*collections: dict[str, Any], **options: Any) -> Any:
    """Evaluate a suite of collections c1, c2, ... by reciprocal rank."""
    tables = {f"c{number}": each for number, each in enumerate(collections, start=1)}
    return suite({"collections": tables, "measures": ["RR"]}, **options)


def test_the_macro_mean_gives_every_collection_the_same_weight() -> None:
    result = of(collection(a=[1, 2], b=[2, 2]), collection(a=[4, 4, 4, 4], b=[1, 1, 1, 1]))
    assert result.means[:, :, 0].tolist() == [[0.75, 0.25], [0.5, 1.0]]
    assert result.macro[:, 0].tolist() == [0.5, 0.75]
    assert result.names == ["a", "b"]
    assert result.order() == [1, 0]


def test_a_run_that_lacks_a_collection_has_no_macro_mean_win_rate_and_test_unless_asked() -> None:
    tables = collection(a=[1, 2], b=[2, 4]), collection(a=[4, 1])
    result = of(*tables)
    assert result.missing == [("b", "c2")]
    assert math.isnan(result.macro[1, 0])
    assert math.isnan(result.win_rates[1][0].rate)
    (pair,) = result.pairs
    assert (pair.collections, pair.within.verdict, pair.over.verdict) == (1, "incomplete", "incomplete")
    assert math.isnan(pair.difference)
    assert [notice.count for notice in result.warnings if notice.code == "missing_cells"] == [1]
    partial = of(*tables, partial=True)
    assert partial.macro[:, 0].tolist() == [0.6875, 0.375]
    assert partial.win_rates[1][0].rate == 0.0
    assert partial.pairs[0].difference == 0.375
    assert any("the remaining collections" in str(notice) for notice in partial.warnings)
    (pair,) = of(*[collection(a=[1, 2], b=[2, 4])] * 6, collection(a=[4, 1])).pairs
    assert (pair.collections, pair.over.verdict) == (6, "incomplete")


def test_a_win_rate_is_the_share_of_comparisons_that_are_won_and_a_tie_is_half() -> None:
    result = of(collection(a=[1], b=[2], c=[4]), collection(a=[2], b=[1], c=[1]))
    rates = [rates[0] for rates in result.win_rates]
    assert [tuple(rate) for rate in rates] == [(2, 0, 4), (2, 1, 4), (1, 1, 4)]
    assert [rate.rate for rate in rates] == [0.5, 0.625, 0.375]


def first_relevant(grades: Sequence[float | None], judged: Sequence[float]) -> float:  # noqa: ARG001
    """Return the rank of the first relevant document, from 1."""
    return float(1 + next(rank for rank, grade in enumerate(grades) if grade))


def test_a_measure_of_which_less_is_better_is_won_by_less() -> None:
    tables = {"one": collection(a=[1, 1], b=[3, 5]), "two": collection(a=[2, 1], b=[3, 3])}
    falling = from_function(first_relevant, high=9.0, rising=False)
    result = suite({"collections": tables, "measures": [falling]})
    assert result.win_rates[0][0].rate == 1.0
    assert result.order() == [0, 1]
    assert (result.pairs[0].a, result.pairs[0].wins, result.pairs[0].difference) == ("a", 2, -2.25)


differences = st.lists(
    st.lists(st.integers(-8, 8), min_size=2, max_size=5).filter(lambda each: len(set(each)) > 1),
    min_size=2,
    max_size=3,
)


@examples(40)
@given(differences)
def test_the_stratified_t_test_of_two_collections_is_welchs(found: list[list[int]]) -> None:
    first, second = (np.array(each) / 8 for each in found[:2])
    test = stratified([first, second], RULES)
    welch = stats.ttest_ind(first, -second, equal_var=False)
    assert test.mean == pytest.approx((first.mean() + second.mean()) / 2, abs=1e-12)
    assert test.p == pytest.approx(welch.pvalue, abs=1e-9)
    low, high = welch.confidence_interval(0.95)
    assert (test.low, test.high) == pytest.approx((low / 2, high / 2), abs=1e-9)


@examples(30)
@given(differences)
def test_the_stratified_randomisation_test_counts_all_patterns_of_the_macro_difference(
    found: list[list[int]],
) -> None:
    strata = [np.array(each) / 8 for each in found]
    count = sum(map(len, strata))
    if count > 10:
        return
    weights = np.concatenate([each / len(each) / len(strata) for each in strata])
    observed = abs(weights.sum())
    sums = [
        abs(sum(sign * weight for sign, weight in zip(signs, weights, strict=True)))
        for signs in product((-1, 1), repeat=count)
    ]
    expected = sum(value >= observed - 1e-12 for value in sums) / len(sums)
    assert stratified(strata, FLIPS).p == pytest.approx(expected, abs=1e-12)


@examples(40)
@given(st.lists(st.lists(st.integers(-8, 8), min_size=1, max_size=4), min_size=2, max_size=8))
def test_over_collections_the_means_of_collections_are_the_sample(found: list[list[int]]) -> None:
    strata = [np.array(each) / 8 for each in found]
    means = [each.mean() for each in strata]
    if np.ptp(means) < 1e-9:
        return
    expected = stats.ttest_1samp(means, 0)
    assert over_collections(strata, RULES).p == pytest.approx(expected.pvalue, abs=1e-9)


def test_with_fewer_than_five_collections_nothing_is_said_about_others() -> None:
    tables = [collection(a=[1, 1, 1, 1, 2, 1], b=[2, 2, 3, 2, 2, 4]) for _ in range(5)]
    four, five = of(*tables[:4]).pairs[0], of(*tables).pairs[0]
    assert (four.within.verdict, four.over.verdict) == ("better", "cannot tell")
    assert math.isnan(four.over.p)
    assert five.over.verdict != "cannot tell"


def test_a_randomisation_test_that_cannot_become_significant_cannot_tell() -> None:
    tables = [collection(a=[1, 1, 1], b=[2, 2, 3]) for _ in range(6)]
    flips = {"test": "Randomisation"}
    assert of(*tables[:5], **flips).pairs[0].over.verdict == "cannot tell"  # 2 / 32
    assert of(*tables, **flips).pairs[0].over.verdict == "better"  # 2 / 64
    three = [collection(a=[1, 1, 1], b=[2, 2, 3], c=[3, 3, 3]) for _ in range(6)]
    assert {pair.over.verdict for pair in of(*three, **flips).pairs} == {"cannot tell"}  # 6 / 64


def test_a_collection_is_compared_as_by_compare() -> None:
    one = collection(a=[1, 2, 1, 3], b=[2, 2, 4, 4], c=[1, 1, 1, 2])
    pairs = of(one, collection(a=[1, 2], b=[2, 1], c=[1, 1])).comparisons["c1"].pairs
    expected = ll.compare(one["qrels"], one["runs"], "RR").pairs
    assert [(pair.a, pair.b, pair.p_corrected) for pair in pairs] == [
        (pair.a, pair.b, pair.p_corrected) for pair in expected
    ]


def test_identical_runs_are_identical_in_every_collection() -> None:
    (pair,) = of(*[collection(a=[1, 2], b=[1, 2]) for _ in range(5)]).pairs
    assert (pair.within.verdict, pair.over.verdict) == ("identical", "identical")


def test_an_error_names_the_collection() -> None:
    wrong = {"qrels": {"q0": {"d": 1}}, "runs": {"a": {"q0": {"other": 1.0}}}}
    with pytest.raises(ll.InputError, match="collection c2: no document in a is judged"):
        of(collection(a=[1]), wrong)


def test_groups_are_averages_of_some_collections() -> None:
    tables = {"one": collection(a=[1]), "two": collection(a=[2]), "three": collection(a=[4])}
    result = suite({"collections": tables, "measures": "RR", "groups": {"low": ["two", "three"]}})
    assert result.average("low").tolist() == [[0.375]]


def written(folder: Path, text: str) -> str:
    """Write a suite with judgments and two runs."""
    folder.mkdir(exist_ok=True)
    (folder / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 2\n")
    for name in ("a", "b"):
        (folder / f"{name}.run").write_text("q1 Q0 d1 1 2 t\nq2 Q0 d9 1 2 t\nq2 Q0 d2 2 1 t\n")
    (folder / "suite.toml").write_text(text)
    return str(folder / "suite.toml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mesures = []", "unknown key 'mesures' in the suite. Did you mean 'measures'"),
        ("[collections.x]\nqrel = 'q'", "unknown key 'qrel' in collections.x. Did you mean 'qrels'"),
        ("[collections.x]\nruns = 'q'", "collections.x has no 'qrels'"),
        ("", "there are no collections"),
        ("[collections]\nx = 3", "collections.x cannot be 3. Set it to a table"),
        (
            "[collections.x]\nqrels = 'qrels.txt'\nruns = '*.none'",
            r"the pattern '\*.none' in collections.x.runs matches no file",
        ),
        (
            "[collections.x]\nqrels = 'qrels.txt'\nruns = 3",
            "collections.x.runs cannot be 3. Set it to a list of patterns",
        ),
        ("[collections.x]\nqrels = 7\nruns = '*.run'", "collections.x.qrels cannot be 7. Set it to a path"),
        (
            "[collections.x]\nqrels = 'q'\nruns = '*.run'\ndocuments = -1",
            "documents cannot be -1. Set it to the number",
        ),
        (
            "[collections.x]\nqrels = 'q'\nruns = '*.run'\nlevel = true",
            "level cannot be True. Set it to a number",
        ),
        ("[groups]\ng = ['y']\n[collections.x]\nqrels='q'\nruns='*.run'", "unknown collection 'y'"),
        ("[collections.x]\nqrels = 'q'\nruns = ['*.run', 'more/a.run']", "are both named 'a'"),
        ("a = [\n1,\n", "suite.toml:.*invalid TOML"),
    ],
)
def test_what_is_wrong_in_the_file_is_named_with_what_is_expected(
    text: str, words: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.run").write_text("q1 Q0 d1 1 2 t\n")
    with pytest.raises(ll.InputError, match=words) as refused:
        read_suite(path)
    assert str(refused.value).startswith(path)
    assert "\n" not in str(refused.value)


def test_a_mapping_without_collections_is_answered_by_a_mapping() -> None:
    with pytest.raises(ll.InputError, match=r'Pass \{"collections": \{name:'):
        suite({"measures": ["RR"]})


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "measures = 'RR'\n[collections.x]\nqrels = 'qrels.txt'\nruns = '*.run'\ndocuments = 9\nlevel = 2\n"
    path = written(tmp_path / "inner", text)
    monkeypatch.chdir(tmp_path)
    result = suite("inner/suite.toml")
    assert result.means.tolist() == [[[0.25]], [[0.25]]]
    assert result.sources
    assert Path(path).resolve() in {Path(each).resolve() for each in result.sources}


def test_notes_name_no_option_that_the_command_lacks() -> None:
    graded = collection(a=[1, 2], b=[2, 2])
    graded["qrels"]["q0"]["x1"] = 2
    (said,) = (str(one) for one in of(graded).warnings if one.code == "grade_one_relevant")
    assert "--level" not in said


def test_a_folder_of_collections_is_a_suite_and_those_of_beir_too(tmp_path: Path) -> None:
    for name in ("one", "beir"):
        (tmp_path / name / "runs").mkdir(parents=True)
        (tmp_path / name / "runs" / "a.run").write_text("q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\n")
    (tmp_path / "one" / "qrels.txt").write_text("q1 0 d1 1\n")
    with pytest.raises(
        ll.InputError, match=r"beir: leadline found no judgments in this folder. Add qrels.txt"
    ):
        read_suite(tmp_path)
    with pytest.raises(ll.InputError, match=r"one: this folder is a single collection. Pass the folder that"):
        read_suite(tmp_path / "one")
    (tmp_path / "beir" / "qrels").mkdir()
    (tmp_path / "beir" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\n")
    result = suite(tmp_path, measures="RR")
    assert dict(zip(result.collections, result.means[0, :, 0].tolist(), strict=True)) == {
        "beir": 1.0,
        "one": 0.5,
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"test": "Sign"}, "T or Randomisation"),
        ({"test": "Foo"}, "The tests are Randomisation, T.$"),
        ({"correction": "MaxT"}, "BH, Bonferroni"),
        ({"baseline": "z"}, "no run is named 'z'. Use one of"),
        ({"engine": "ray"}, "local"),
        ({"partial": 1}, "partial must be True or False, not 1"),
        ({"dpeth": 3}, "Did you mean 'depth'"),
        ({"name_by": "tag"}, "no option 'name_by'"),
    ],
)
def test_options_that_a_suite_does_not_have_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ll.LeadlineError, match=words):
        of(collection(a=[1, 2], b=[2, 1]), **options)


def test_a_mean_over_part_of_the_collections_is_not_told_as_one_over_all() -> None:
    first, second = {"q1": {"d": 2.0, "x": 1.0}}, {"q1": {"x": 2.0, "d": 1.0}}
    whole = {"qrels": {"q1": {"d": 1, "x": 0}}, "runs": {"a": first, "b": second}}
    part = {"qrels": {"q1": {"d": 1}}, "runs": {"a": first, "b": {"q1": {"d": 1.0}}}}
    found = suite({"collections": {"c1": whole, "c2": part}, "measures": ["AUROC"]}, partial=True)
    assert not found.missing
    assert found.macro[:, 0].tolist() == [1.0, 0.0]
    assert "mean over 2 collections" not in str(found)
    assert "pairs of runs over shared collections" in str(found)


def test_the_size_of_the_family_is_that_of_the_tested_pairs() -> None:
    whole, part = collection(a=[1, 2], b=[2, 3], c=[1, 3]), collection(b=[2, 3], c=[1, 3])
    pairs = of(whole, part).pairs
    assert [math.isnan(pair.within.p) for pair in pairs].count(False) == 1
    assert "(T, Holm over 1 pair)" in str(of(whole, part))
    assert "(T, Holm over 3 pairs)" in str(of(whole, whole))
    lists = {"a": ["d", "x"], "b": ["x", "d"], "c": ["d"]}
    ranked = {name: dict.fromkeys(("q1", "q2"), found) for name, found in lists.items()}
    one = {"qrels": {query: {"d": 1, "x": 0} for query in ("q1", "q2")}, "runs": ranked}
    found = ll.suite({"collections": {"one": one}, "measures": ["RR", "AUROC"]})
    assert "(T, Holm over up to 3 pairs)" in str(found)  # c has no AUROC


@pytest.mark.parametrize("partial", [False, True])
def test_means_over_different_queries_are_not_told_as_missing(partial: bool) -> None:
    runs = {"a": {"q1": ["d"], "q2": ["x"]}, "b": {"q1": ["x"], "q2": ["d"]}}
    one = {"qrels": {"q1": {"d": 1}, "q2": {"d": 1}}, "runs": runs}
    found = ll.suite({"collections": {"one": one}, "measures": ["RankOf(n=1)"]}, partial=partial)
    assert found.macro[:, 0].tolist() == [1.0, 1.0]
    told = str(found).rpartition("incomplete: ")[2]
    assert "no query counts toward" in told
    assert "no collection" not in told


def test_a_baseline_is_compared_with_every_other_run() -> None:
    result = of(*[collection(a=[1, 2], b=[2, 3], c=[1, 1])] * 2, baseline="b")
    assert "pairs with a baseline" in str(result), (
        "runs outperform only baselines, as no other pair is tested"
    )
    pairs = result.pairs
    assert [(pair.a, pair.b) for pair in pairs] == [("c", "b"), ("a", "b")]


def test_a_suite_has_tables_data_frames_and_figures(tmp_path: Path) -> None:
    result = of(collection(a=[1, 2], b=[2, 2]), collection(a=[4, 1], b=[1, 1], c=[2, 2]))
    frame = result.to_pandas()
    assert frame["run"].tolist() == ["b", "a", "c"]
    assert frame["macro"].tolist()[:2] == [0.75, 0.6875]
    assert math.isnan(frame["macro"][2])
    assert result.table().columns[:3] == ["run", "c1", "c2"]
    result.write(tmp_path / "suite.csv")
    assert len((tmp_path / "suite.csv").read_text().splitlines()) == 4
    texts = {text.get_text() for text in result.plot(tmp_path / "map.png").axes[0].texts}
    assert {"0.750", "none"} <= texts
    assert (tmp_path / "map.png").stat().st_size > 1000


def write_suite(folder: Path, *, collections: int = 2, runs: int = 3, queries: int = 5) -> Path:
    """Write collections of random judgments and runs."""
    rng = random.Random(7)
    for number in range(collections):
        inner = folder / f"c{number}"
        (inner / "runs").mkdir(parents=True)
        judged = [
            f"q{query} 0 d{document} {rng.randrange(3)}" for query in range(queries) for document in range(20)
        ]
        (inner / "qrels.txt").write_text("\n".join(judged) + "\n")
        for run in range(runs):
            lines = [
                f"q{query} Q0 d{document} 1 {rng.random():.4f} r{run}"
                for query in range(1, queries + 2)  # one judged query is missing, one has no judgments
                for document in rng.sample(range(60), 30)
            ]
            (inner / "runs" / f"r{run}.run").write_text("\n".join(lines) + "\n")
    return folder


def test_the_command_has_the_values_of_python(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_suite(tmp_path / "suite")
    monkeypatch.chdir(tmp_path)
    found = leadline("suite", "suite", "-m", "AP", "-f", "json")
    assert found.status == 0
    expected = suite("suite", measures="AP").to_dict()
    assert suite("suite", measures="AP", engine="processes:2").to_dict() == expected
    assert {key: found.data[key] for key in expected} == json.loads(json.dumps(expected))
    assert len(found.data["inputs"]) == 8
    rows = leadline("suite", "suite", "-m", "AP", "-f", "csv").out.splitlines()
    assert rows[0] == "measure,run,c0,c1,macro,win_rate,comparisons,collections"
    assert len(leadline("suite", "suite", "-f", "jsonl").out.splitlines()) == 3
    assert leadline("suite", "suite", "--figure", "heat-map").status == 2
    assert leadline("suite", "suite", "-o", "suite/c0/qrels.txt").status == 2
    assert leadline("suite", "none.toml").status == 2


def test_partial_means_are_not_told_as_means_over_all_collections() -> None:
    runs = {"a": {"q1": ["d"]}, "b": {"q1": ["x", "d"]}}
    tables = {
        name: {"qrels": {"q1": {"d": 1}}, "runs": {run: runs[run] for run in own}}
        for name, own in (("one", "ab"), ("two", "a"))
    }
    told = str(ll.suite({"collections": tables, "measures": "RR"}, partial=True))
    assert "macro: mean over the collections on which the run has a mean" in told
    assert "pairs of runs over shared collections" in told
    whole = str(ll.suite({"collections": {"one": tables["one"]}, "measures": "RR"}, partial=True))
    assert "macro: mean over 1 collection," in whole
