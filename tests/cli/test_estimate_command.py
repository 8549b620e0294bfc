"""`leadline pool --for` and `leadline evaluate --pool`, as typed."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.cli import group
from leadline.comparison.compare import compare
from leadline.errors import UsageError
from leadline.estimation.estimate import estimate
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.score_results import read_scores
from leadline.io.read_paths import recorded
from leadline.io.saved_results import read_saved
from leadline.pages.report import report

QUERIES = [f"q{number:02}" for number in range(14)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write three runs, judgments of everything, and labels of an automatic judge."""
    folder = tmp_path_factory.mktemp("estimate")
    rng = np.random.default_rng(1)
    grades = rng.random((14, 50)) < 0.35
    for name in ("a", "b", "new"):
        lines = [
            f"{query} Q0 d{one} {rank} {50 - rank} {name}"
            for query in QUERIES
            for rank, one in enumerate(rng.permutation(50)[:30], start=1)
        ]
        (folder / f"{name}.run").write_text("\n".join(lines) + "\n")
    for name, flips in (("truth.qrels", 0.0), ("machine.qrels", 0.2)):
        noise = rng.random(grades.shape) < flips
        lines = [
            f"{query} 0 d{one} {int(grades[place, one] != noise[place, one])}"
            for place, query in enumerate(QUERIES)
            for one in range(50)
        ]
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def typed(*words: object) -> Result:
    with recorded():  # as a command
        return CliRunner().invoke(group, list(map(str, words)))


@pytest.fixture(scope="module")
def pool(files: Path) -> Path:
    path = files / "pool.tsv"
    done = typed("pool", files / "a.run", files / "b.run", "--for", "P@10", "--budget", 6, "-o", path)
    assert done.exit_code == 0, done.output
    return path


def estimated(files: Path, pool: Path, *words: object) -> dict[str, object]:
    done = typed(
        *f"evaluate {files}/truth.qrels {files}/a.run {files}/b.run {files}/new.run --pool {pool}".split(),
        *"-f json".split(),
        *words,
    )
    assert done.exit_code == 0, done.output
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_the_pool_says_what_to_expect(files: Path, tmp_path: Path) -> None:
    done = typed(
        *f"pool {files}/a.run {files}/b.run --for P@10 --total 70 --machine {files}/machine.qrels".split(),
        *f"-f json -o {tmp_path}/p.tsv".split(),
    )
    data = json.loads(done.stdout)
    assert set(data["expected"]["P@10"]) == {"half_width", "half_budget", "exact_budget"}
    assert data["expected"]["P@10"]["half_width"] > 0
    assert 40 < data["pairs"] < 100


@pytest.mark.parametrize("name", ["p.jsonl", "p.csv", "p.jsonl.gz"])
def test_a_drawn_pool_is_written_as_tsv_only(files: Path, tmp_path: Path, name: str) -> None:
    done = typed("pool", files / "a.run", "--for", "P@10", "--total", 70, "-o", tmp_path / name)
    assert isinstance(done.exception, UsageError)
    assert not (tmp_path / name).exists()


def test_estimates_have_the_keys_of_the_contract(files: Path, pool: Path) -> None:
    data = estimated(files, pool, "-m", "P@10", "-m", "nDCG@10")
    runs = {one["name"]: one for one in data["runs"]}  # type: ignore[attr-defined]
    assert {name: one["new"] for name, one in runs.items()} == {"a": False, "b": False, "new": True}
    one, value = runs["a"]["estimate"]["P@10"], runs["a"]["mean"]["P@10"]
    assert {*"low high these_low these_high judged drawn guessed unknown lowest highest".split()} <= set(one)
    assert one["low"] < one["these_low"] < value < one["these_high"] < one["high"]
    assert one["judged"] + one["drawn"] + one["guessed"] + one["unknown"] == pytest.approx(1)


def test_a_run_outside_the_frame_gets_no_interval_and_a_reason(files: Path, pool: Path) -> None:
    data = estimated(files, pool, "-m", "P@10")
    new = data["runs"][2]["estimate"]["P@10"]  # type: ignore[index]
    assert new["guessed"] > 0.05
    assert new["low"] is None
    assert "guessed" in new["reason"]


def test_every_column_of_estimates_is_explained(files: Path, pool: Path) -> None:
    runs = [files / f"{name}.run" for name in ("a", "b", "new")]
    table, _, notes = typed("evaluate", files / "truth.qrels", *runs, "--pool", pool).output.partition("\n\n")
    named = {*table.partition("\n")[0].split(), "new"} - {"run", "measure", "estimate", "rank"}
    assert {"judged", "drawn", "guessed", "unknown"} < named
    heads = (part.partition(": ")[0] for line in notes.splitlines() for part in line.split("; "))
    assert named - {"these", "queries", "to", "halve"} <= {word for one in heads for word in one.split(", ")}


def test_the_table_and_every_form_are_written(files: Path, pool: Path) -> None:
    for form in ("table", "csv", "markdown", "latex", "jsonl"):
        done = typed("evaluate", files / "truth.qrels", files / "a.run", "--pool", pool, "-f", form)
        assert done.exit_code == 0
        assert "P@10" in done.stdout


def test_a_part_of_the_pool_is_a_smaller_draw(files: Path, pool: Path, tmp_path: Path) -> None:
    rows = [
        line.split("\t") for line in pool.read_text().splitlines() if not line.startswith(("#", "query_id"))
    ]
    rows.sort(key=lambda row: float(row[3]))
    kept = {(row[0], row[1]) for row in rows[: len(rows) * 3 // 4]}
    lines = [
        line for line in (files / "truth.qrels").read_text().splitlines() if tuple(line.split()[::2]) in kept
    ]
    some = tmp_path / "some.qrels"
    some.write_text("\n".join(lines) + "\n")
    done = typed("evaluate", some, files / "a.run", "--pool", pool, "-m", "P@10", "-f", "json")
    assert [one["code"] for one in json.loads(done.stdout)["warnings"]].count("smaller_draw") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-m", "Bpref"], "a sample has only some of them) cannot be estimated from a sampled pool"),
        (["-m", "Bpref"], "R, RBP, RR, Success@10, nDCG."),
        (["-m", "P@5", "-m", "Bpref", "-m", "GMAP"], "GMAP"),
        (["--machine", "none.qrels"], "none.qrels"),
        (["--confidence", "2"], "confidence"),
    ],
)
def test_what_cannot_be_estimated_is_one_line(files: Path, pool: Path, words: list[str], said: str) -> None:
    words = [str(files / word) if word.endswith(".qrels") else word for word in words]
    done = typed("evaluate", files / "truth.qrels", files / "a.run", "--pool", pool, *words)
    assert done.exit_code != 0
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)


def test_labels_of_other_queries_are_refused(files: Path, pool: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.qrels"
    other.write_text("zz 0 d1 1\n")
    done = typed("evaluate", files / "truth.qrels", files / "a.run", "--pool", pool, "--machine", other)
    assert "no label belongs to a query in the pool" in str(done.exception)
    done = typed("evaluate", other, files / "a.run", "--pool", pool)
    assert "no judged query is in the pool" in str(done.exception)


def test_labels_of_other_documents_are_refused(files: Path, pool: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.qrels"
    other.write_text("q00 0 zz 1\n")
    done = typed("evaluate", files / "truth.qrels", files / "a.run", "--pool", pool, "--machine", other)
    assert "use the same query and document ids" in str(done.exception)


def test_options_of_a_draw_need_a_measure(files: Path, tmp_path: Path) -> None:
    done = typed("pool", files / "a.run", "--budget", 5, "--depth", 3, "-o", tmp_path / "p.tsv")
    assert "--budget needs --for" in str(done.exception)
    done = typed(*f"pool {files}/a.run --for P@5 --budget 5 -C pool.random=3 -o {tmp_path}/p.tsv".split())
    assert "--for and --config pool.random" in str(done.exception)


def test_without_a_pool_judged_pairs_are_certain(files: Path) -> None:
    given = files / "truth.qrels", files / "a.run", "P@10"
    found, plain = estimate(*given), evaluate(*given)
    assert found.means.tolist() == plain.means.tolist()
    assert found.estimate("a", "P@10").judged == 1


def test_labels_of_other_queries_and_pairs_are_counted_or_refused(
    files: Path, pool: Path, tmp_path: Path
) -> None:
    labels = (files / "machine.qrels").read_text().splitlines(keepends=True)
    some = tmp_path / "some.qrels"
    call: Any = {
        "judgments": files / "truth.qrels",
        "runs": files / "a.run",
        "measures": "P@10",
        "pool": pool,
    }
    some.write_text("".join(labels[:600]) + "zz 0 d1 1\n")  # the last two queries have none
    codes = {one.code: one.count for one in estimate(machine=some, **call).warnings}
    assert codes["unlabeled_queries"] == 2
    assert codes["other_queries"] == 1
    for line, said in (
        ("zz 0 d1 1", "Check that the query ids match"),
        ("q00 0 zz 1", "none of the pairs in the pool has an LLM label"),
        ("q00 0 d1 -1", "no labels of grade 0 or more"),
    ):
        some.write_text(line + "\n")
        with pytest.raises(UsageError, match=said):
            estimate(machine=some, **call)


def test_a_larger_pool_counts_the_pairs_that_were_not_drawn_before(
    files: Path, pool: Path, tmp_path: Path
) -> None:
    larger = tmp_path / "larger.tsv"
    done = typed(
        *("pool", files / "a.run", files / "b.run", "--for", "P@10", "--budget", 10),
        *("--from", pool, "-o", larger, "-f", "json"),
    )
    before, after = (
        {tuple(line.split("\t")[:2]) for line in path.read_text().splitlines() if line[0] == "q"}
        for path in (pool, larger)
    )
    assert before < after
    assert json.loads(done.stdout)["added"] == len(after - before)


def test_what_a_run_lacks_is_said(files: Path, pool: Path, tmp_path: Path) -> None:
    lines = (files / "a.run").read_text().splitlines(keepends=True)
    some, none = tmp_path / "some.run", tmp_path / "none.run"
    some.write_text("".join(line for line in lines if not line.startswith(("q00", "q01"))))
    none.write_text("".join("x" + line for line in lines))
    done = typed("evaluate", files / "truth.qrels", some, none, "--pool", pool, "-m", "P@10", "-f", "json")
    found = {one["code"]: one["count"] for one in json.loads(done.stdout)["warnings"]}
    assert found["missing_queries"] == 2 + 14
    assert found["no_overlap"] == 1
    assert found["unjudged_queries"] == 14


def test_every_input_is_described(files: Path, pool: Path) -> None:
    data = estimated(files, pool, "-m", "P@10", "--machine", files / "machine.qrels")
    names = [Path(one["path"]).name for one in data["inputs"]]  # type: ignore[attr-defined]
    assert names == ["truth.qrels", "a.run", "b.run", "new.run", "pool.tsv", "machine.qrels"]
    assert data["inputs"][-1]["rows"] == 14 * 50  # type: ignore[index]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([None, 0, 1]), min_size=4, max_size=4), st.permutations(range(4)))
def test_bounds_hold_for_all_grades_of_unjudged_pairs(grades: list[int | None], order: list[int]) -> None:
    names = [f"d{one}" for one in order]
    run = {"q": {name: -float(rank) for rank, name in enumerate(names)}}
    judged = {f"d{one}": grade for one, grade in enumerate(grades) if grade is not None} | {"other": 1}
    found = estimate({"q": judged}, {"r": run}, ["P@3", "RR"])
    open_ = [f"d{one}" for one, grade in enumerate(grades) if grade is None]
    for name in ("P@3", "RR"):
        values = [
            evaluate({"q": judged | dict(zip(open_, chosen, strict=True))}, {"r": run}, name).mean("r", name)
            for chosen in itertools.product((0, 1), repeat=len(open_))
        ]
        one = found.estimate("r", name)
        assert one.lowest <= min(values) + 1e-12
        assert one.highest >= max(values) - 1e-12
        if name == "P@3":
            assert (one.lowest, one.highest) == pytest.approx((min(values), max(values)))


@pytest.fixture(scope="module")
def wide(files: Path) -> Path:
    """Draw a pool to which all three runs contribute, so that all have intervals."""
    path = files / "wide.tsv"
    runs = [files / f"{name}.run" for name in ("a", "b", "new")]
    done = typed("pool", *runs, "--for", "P@10", "--budget", 8, "-o", path)
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture(scope="module")
def saved(files: Path, wide: Path) -> list[Path]:
    """Save the estimates of two runs in one file, and of a third in another."""
    paths = [files / "two.parquet", files / "one.parquet"]
    for path, names in zip(paths, (("a", "b"), ("new",)), strict=True):
        runs = [files / f"{name}.run" for name in names]
        done = typed(
            *("evaluate", files / "truth.qrels", *runs, "--pool", wide, "-m", "P@10", "-m", "RR"),
            *("-o", path),
        )
        assert done.exit_code == 0, done.output
    return paths


def test_saved_estimates_are_compared_as_those_in_memory(files: Path, wide: Path, saved: list[Path]) -> None:
    runs = [files / f"{name}.run" for name in ("a", "b", "new")]
    expected = compare(estimate(files / "truth.qrels", runs, ["P@10", "RR"], pool=wide)).to_dict()
    done = typed("compare", *saved, "-f", "json")
    data = json.loads(done.stdout)
    for ours, theirs in zip(data["pairs"], expected["pairs"], strict=True):
        same = ["a", "b", "measure", "difference"]
        if "new" in (ours["a"], ours["b"]):  # which documents outside the pool both runs have is not saved
            assert ours["low"] <= theirs["low"] < theirs["high"] <= ours["high"]
            assert ours["p"] >= theirs["p"]
        else:
            same += ["low", "high", "p"]
        assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}
    assert [Path(one["path"]).name for one in data["inputs"]] == ["two.parquet", "one.parquet"]
    assert [one["rows"] for one in data["inputs"]] == [2 * 14 * 2, 14 * 2]
    assert data["warnings"][0]["code"] == "estimates"


def test_a_baseline_of_estimates_keeps_their_errors_and_another_pool_is_refused(
    files: Path, wide: Path, pool: Path, tmp_path: Path
) -> None:
    truth, kept = files / "truth.qrels", tmp_path / "kept.parquet"
    asked = ("-m", "P@10", "--pool", wide, "--baseline", kept)
    assert typed("compare", truth, files / "b.run", *asked, "--update-baseline", kept).exit_code == 0
    (found,) = json.loads(typed("compare", truth, files / "a.run", *asked, "-f", "json").stdout)["pairs"]
    runs = [files / "a.run", files / "b.run"]
    (direct,) = compare(estimate(truth, runs, "P@10", pool=wide), baseline="b").to_dict()["pairs"]
    for key in ("difference", "low", "high", "p", "these_low", "these_high"):
        assert found[key] == direct[key]
    other = typed("compare", truth, files / "a.run", "-m", "P@10", "--pool", pool, "--baseline", kept)
    assert "does not match this evaluation: the judgments" in str(other.exception)


def test_a_gate_on_saved_results_compares_the_measures_of_its_conditions(saved: list[Path]) -> None:
    done = typed("compare", *saved, "--baseline", "a", "--fail-if-worse", "P@10:0.9", "-f", "json")
    assert done.exit_code == 0, done.output
    assert {pair["measure"] for pair in json.loads(done.stdout)["pairs"]} == {"P@10"}


def test_the_manifest_has_intervals_options_and_digests(wide: Path, saved: list[Path]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    manifest = json.loads(parquet.read_table(saved[0]).schema.metadata[b"leadline"])
    assert manifest["format"] == 2
    assert manifest["command"] == "evaluate"
    assert manifest["options"]["proxy"] == "centered"
    run = read_saved(str(saved[0])).values.to_dict()["runs"][0]
    one, value = run["estimate"]["P@10"], run["mean"]["P@10"]
    assert one["these_low"] < value < one["these_high"]
    digests = {Path(one["path"]).name: one["sha256"] for one in manifest["inputs"]}
    assert set(digests) == {"truth.qrels", "a.run", "b.run", "wide.tsv"}
    assert digests["wide.tsv"] == hashlib.sha256(wide.read_bytes()).hexdigest()


def test_estimates_without_an_interval_are_neither_compared_nor_reported(
    files: Path, pool: Path, tmp_path: Path
) -> None:
    runs = [files / f"{name}.run" for name in ("a", "b", "new")]
    found = estimate(files / "truth.qrels", runs, ["P@10", "AP"], pool=pool)
    assert [bool(found.estimate(name, "P@10").reason) for name in ("a", "b", "new")] == [False, False, True]
    assert all(found.estimate(name, "AP").reason for name in ("a", "b", "new"))
    page, paths = tmp_path / "page.html", [tmp_path / "all.parquet", tmp_path / "all.json"]
    words = ["evaluate", files / "truth.qrels", *runs, "--pool", pool, "-m", "P@10", "-m", "AP"]
    for more in (["-o", paths[0]], ["-o", paths[1]]):
        assert typed(*words, *more).exit_code == 0
    found.write(tmp_path / "python.parquet")
    again = tmp_path / "again.parquet"
    read_scores([str(paths[0])]).write(again)
    for path in (*paths, tmp_path / "python.parquet", again):
        for command in (["compare"], ["report", "-o", page]):
            done = typed(*command, path, "-m", "AP")
            assert (
                "AP has no interval for a, b and new, because AP, R and F intervals need judgments of all"
                in str(done.exception)
            )
            assert ". Choose another measure, such as P@10." in str(done.exception)
            assert isinstance(done.exception, UsageError)
        kept = json.loads(typed("compare", path, "-m", "P@10", "-f", "json").stdout)["pairs"]
        assert kept == json.loads(json.dumps(compare(found, "P@10").to_dict()["pairs"]))
    for call in (compare, lambda results: report(results, page)):
        with pytest.raises(UsageError, match="has no interval"):
            call(found.select_measures([1]))
    assert not page.exists()
    tested = {(pair.measure, pair.a, pair.b): not math.isnan(pair.p) for pair in compare(found).pairs}
    assert [pair for pair, known in tested.items() if known] == [("P@10", "b", "a")]


def test_a_margin_of_estimates_is_tested(saved: list[Path], files: Path, wide: Path, tmp_path: Path) -> None:
    path = tmp_path / "estimates.json"
    runs = [files / "a.run", files / "b.run"]
    typed(
        *("evaluate", files / "truth.qrels", *runs, "--pool", wide, "-m", "P@10", "-m", "RR"), *("-o", path)
    )
    for scores in (saved[0], path):
        for gate, failed in (
            (["--fail-if-worse", "P@10:0.9"], False),
            (["--require-not-worse", "P@10:0.9"], False),
            (["--fail-below", "P@10=0.01"], False),
            (["--fail-below", "P@10=0.99"], True),
        ):
            done = typed("compare", scores, "--baseline", "a", *gate, "-f", "json")
            assert done.exit_code == failed
            assert [one["failed"] for one in json.loads(done.stdout)["conditions"]] == [failed]


def test_single_queries_of_estimates_are_not_counted(saved: list[Path]) -> None:
    words = ["compare", *saved, "--config", "test.smallest=0.05"]
    data = json.loads(typed(*words, "-f", "json").stdout)
    for pair in data["pairs"]:
        assert [pair[key] for key in ("wins", "ties", "losses", "needed")] == [None] * 4
        assert pair["changed"] == []
    codes = [one["code"] for one in data["warnings"]]
    assert (codes.count("estimated_queries"), codes.count("no_plan")) == (1, 1)
    shown = typed(*words).stdout
    assert "with a pool from `leadline pool --for`, without `--query-slice`" in shown
    assert "queries that differ most:" not in shown
    assert "wins:" not in shown


def test_saved_estimates_are_correlated(saved: list[Path]) -> None:
    done = typed("correlate", f"{saved[0]}:P@10", f"{saved[0]}:RR", "-f", "json")
    assert json.loads(done.stdout)["n"] == 2


@pytest.mark.usefixtures("undrawn")
def test_a_report_of_saved_estimates_has_their_values(saved: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = typed("report", *saved, "-m", "P@10", "-o", page, "-f", "json")
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    pairs = json.loads(typed("compare", *saved, "-m", "P@10", "-f", "json").stdout)["pairs"]
    assert data["pairs"] == pairs
    assert f"{data['runs'][0]['mean']['P@10']:.4f}" in page.read_text()
    assert [Path(one["path"]).name for one in data["inputs"]] == ["two.parquet", "one.parquet"]
    done = typed("report", *saved, "-l", "2", "-o", page)
    assert "--level does not apply to values" in str(done.exception)


def test_json_results_are_compared_as_their_runs(files: Path, tmp_path: Path) -> None:
    runs = [files / "a.run", files / "b.run"]
    path = tmp_path / "results.json"
    done = typed(
        "evaluate", files / "truth.qrels", *runs, "-m", "AP", "-f", "json", "--per-query", "-o", path
    )
    assert done.exit_code == 0
    ours = json.loads(typed("compare", path, "-f", "json").stdout)
    theirs = json.loads(typed("compare", files / "truth.qrels", *runs, "-m", "AP", "-f", "json").stdout)
    assert ours["pairs"] == theirs["pairs"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["two.parquet", "two.parquet"], "two.parquet was passed twice. Pass each file once"),
        (["two.parquet", "inside/../two.parquet"], "two.parquet was passed twice"),
        (["two.parquet", "-l", "2"], "--level does not apply to values"),
        (["two.parquet", "-m", "AP"], "no measure 'AP'"),
        (["one.parquet"], "at least two runs"),
        (["two.parquet", "other.parquet"], "Use results with the same measures"),
        (["part.parquet", "one.parquet"], "different queries"),
        (["truth.qrels"], "or per-query values"),
    ],
)
def test_other_scores_are_refused_in_one_line(
    files: Path, pool: Path, saved: list[Path], words: list[str], said: str
) -> None:
    assert all(path.exists() for path in saved)
    typed(
        *("evaluate", files / "truth.qrels", files / "new.run", "--pool", pool, "-m", "P@5"),
        *("-o", files / "other.parquet"),
    )
    few = files / "few.qrels"
    few.write_text("".join(f"q0{one} 0 d{two} 1\n" for one in range(5) for two in range(50)))
    estimate(few, files / "a.run", ["P@10", "RR"]).write(files / "part.parquet")
    estimate(few, files / "a.run", "P@10").write(files / "plain.parquet")
    (files / "inside").mkdir(exist_ok=True)
    places = [str(files / word) if "." in word else word for word in words]
    done = typed("compare", *places)
    assert done.exit_code != 0
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)


def test_all_measures_without_an_estimate_are_named_at_once(files: Path) -> None:
    done = typed(
        *("pool", files / "a.run", "--for", "P@10", "--for", "Bpref", "--for", "IPrec@0.1"),
        *("--budget", 6, "-o", "p.tsv"),
    )
    assert all(name in str(done.exception) for name in ("Bpref", "IPrec@0.1"))


def test_machine_labels_that_the_pool_names_must_be_there(files: Path, tmp_path: Path) -> None:
    labels, path = tmp_path / "labels.qrels", tmp_path / "p.tsv"
    labels.write_bytes((files / "machine.qrels").read_bytes())
    runs = [files / "a.run", files / "b.run"]
    typed("pool", *runs, "--for", "P@10", "--budget", 6, "--machine", labels, "-o", path)
    words = ("evaluate", files / "truth.qrels", *runs, "--pool", path, "-m", "P@10")
    assert typed(*words).exit_code == 0
    labels.unlink()
    done = typed(*words)
    assert done.exit_code != 0
    assert "--machine, or use --machine none" in str(done.exception)
    assert "\n" not in str(done.exception)
    assert typed(*words, "--machine", "none").exit_code == 0


def test_runs_for_other_queries_are_refused_or_have_no_interval(
    files: Path, pool: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.run"
    other.write_text((files / "a.run").read_text().replace("q", "x"))
    words = ("evaluate", files / "truth.qrels", "--pool", pool, "-m", "P@10", "-f", "json")
    done = typed(*words, other)
    assert done.exit_code != 0
    assert "no run contains any query" in str(done.exception)
    done = typed(*words, other, files / "a.run")
    found = {one["name"]: one["estimate"]["P@10"] for one in json.loads(done.stdout)["runs"]}
    ours = found.pop("a")
    assert ours["low"] < ours["high"]
    (none,) = found.values()
    assert (none["low"], none["high"]) == (None, None)
    assert "no query in common" in none["reason"]


def test_without_a_relevant_document_among_the_drawn_there_is_no_interval(files: Path, pool: Path) -> None:
    data = estimated(files, pool, "-m", "P@10", "-m", "RR@10", "-l", 2)
    for run in data["runs"][:2]:  # type: ignore[index]
        for one in run["estimate"].values():
            assert (one["low"], one["these_high"]) == (None, None)
            assert "no drawn document is relevant" in one["reason"]
    one = estimate(files / "truth.qrels", files / "a.run", "P@10", rel=2).estimate("a", "P(rel=2)@10")
    assert (one.these_low, one.value, one.these_high) == (0, 0, 0)  # everything is judged with certainty


def test_drawn_pairs_that_cannot_change_the_value_leave_an_exact_interval() -> None:
    shares = {"d1": 0.5, "d2": 1.0, "d3": 1.0, "d4": 1.0, "d5": 1.0}
    judged = {query: dict.fromkeys(shares, 1) | {"d1": number % 2} for number, query in enumerate(QUERIES)}
    run = {"r": {query: {"d1": 2.0, "d2": 1.0} for query in QUERIES}}
    found = estimate(judged, run, ["Success@2", "P@2"], pool=dict.fromkeys(QUERIES, shares))
    success, precision = found.estimate("r", "Success@2"), found.estimate("r", "P@2")
    assert (success.these_low, success.these_high) == pytest.approx((1, 1))  # d2 is relevant for certain
    assert precision.these_low < precision.value < precision.these_high
    alike = {query: dict.fromkeys(shares, 1) for query in QUERIES}
    found = estimate(alike, run, ["Success@2", "P@2"], pool=dict.fromkeys(QUERIES, shares))
    assert found.estimate("r", "P@2").reason.endswith("so the variance cannot be estimated")
    assert not found.estimate("r", "Success@2").reason


def test_shares_of_the_relevant_have_no_interval_though_the_list_is_judged(
    files: Path, tmp_path: Path
) -> None:
    path = tmp_path / "p.tsv"
    runs = [files / "a.run", files / "b.run"]
    typed("pool", *runs, "--for", "P@10", "--budget", 21, "--depth", 30, "-o", path)
    data = estimated(files, path, "-m", "R@10", "-m", "F@10", "-m", "P@10", "-m", "AP@10")
    found = data["runs"][0]["estimate"]  # type: ignore[index]
    assert found["P@10"]["judged"] == 1
    assert found["P@10"]["these_low"] == found["P@10"]["these_high"]
    for name in ("R@10", "F@10", "AP@10"):
        assert (found[name]["judged"], found[name]["low"], found[name]["high"]) == (1, None, None)
        assert "need judgments of all pooled documents" in found[name]["reason"]
    one = estimate(files / "truth.qrels", runs, "R@10").estimate("a", "R@10")
    assert one.these_low == one.value == one.these_high


def test_average_precision_and_recall_from_a_pool_for_another_measure_are_warned_about(
    files: Path, pool: Path, tmp_path: Path
) -> None:
    def codes(path: Path, measure: str) -> list[str]:
        return [one["code"] for one in estimated(files, path, "-m", measure)["warnings"]]  # type: ignore[attr-defined]

    path = tmp_path / "p.tsv"
    typed("pool", files / "a.run", files / "b.run", "--for", "AP", "--budget", 6, "-o", path)
    assert codes(pool, "AP").count("drawn_for_others") == 1
    assert codes(pool, "R@10").count("drawn_for_others") == 1
    assert "drawn_for_others" not in codes(pool, "P@5")
    assert "drawn_for_others" not in codes(path, "AP")


def test_a_gate_on_estimates_without_an_interval_cannot_tell_and_fails(files: Path, pool: Path) -> None:
    runs = [files / f"{name}.run" for name in ("a", "b")]
    words = ["compare", files / "truth.qrels", *runs, "--pool", pool, "-m", "AP", "--baseline", "a"]
    done = typed(*words, "--fail-if-worse", "AP", "--fail-below", "AP=0.1", "-f", "json")
    assert done.exit_code == 1
    conditions = json.loads(done.stdout)["conditions"]
    assert [(one["run"], one["baseline"], one["cannot_tell"], one["failed"]) for one in conditions] == [
        ("b", "a", True, True),
        ("b", None, True, True),
    ]
    assert typed(*words).exit_code != 0
