"""The study of judges: what swaps, what moves, and what is said of both halves of the claim."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Leadline
from leadline.errors import UsageError
from leadline_studies.judges.study import run

QRELS = {f"q{q}": {f"d{d}": int(d < 3) for d in range(9)} for q in range(4)}
RUNS = {
    f"r{r}": {q: {f"d{d}": float((d * (r + 2) + i) % 11) for d in range(9)} for i, q in enumerate(QRELS)}
    for r in range(5)
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work where two other judges lie: one who says the same, and one who says the opposite."""
    monkeypatch.chdir(tmp_path)
    lines = [
        f"{query}\t{name}\t{grade}\t{1 - grade}\n"
        for query, row in QRELS.items()
        for name, grade in row.items()
    ]
    (tmp_path / "labels.tsv").write_text("query_id\tdoc_id\tsame\topposite\n" + "".join(lines))
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, row in QRELS.items() for d, g in row.items()) + "q9 0 d1 1\n"
    )
    for name, lists in RUNS.items():
        (tmp_path / f"{name}.run").write_text(
            "".join(f"{q} Q0 {d} 1 {s} t\n" for q, row in lists.items() for d, s in row.items())
        )
    return tmp_path


@pytest.mark.usefixtures("files")
def test_a_judge_who_says_the_same_changes_nothing() -> None:
    found = run(QRELS, RUNS, judges=["labels.tsv:same"])
    for one in found.data["against_reference"]:
        assert (one["tau"], one["mean"], one["swapped"]) == (1, 0, 0)
    assert found.data["kappa"]["same"] == {"scott": 1, "cohen": 1}
    for one in found.data["summary"].values():
        assert one["same_ranking"]
        assert not one["large_effect"]
    assert "a large effect on absolute numbers is not found" in found.lines[0]
    assert "A stable ranking is found" in found.lines[0]


@pytest.mark.usefixtures("files")
def test_a_judge_who_says_the_opposite_turns_systems_round() -> None:
    found = run(QRELS, RUNS, judges=["labels.tsv:opposite"], measure=["P@3"])
    assert found.data["summary"]["P@3"]["tau"] == -1
    one = found.data["against_reference"][0]
    assert one["swapped"] == one["apart"] > 0
    assert "A stable ranking is not found" in found.lines[0]


def test_names_that_are_equal_and_few_systems_are_refused(files: Path) -> None:
    with pytest.raises(UsageError, match="need at least 3 runs to rank, not 2"):
        run(QRELS, {name: RUNS[name] for name in ("r0", "r1")}, judges=["labels.tsv"])
    (files / "qrels.tsv").write_text("query_id\tdoc_id\tgrade\nq1\td1\t1\n")
    with pytest.raises(UsageError, match="a judge and the reference are both named 'qrels'"):
        run(str(files / "qrels.txt"), RUNS, judges=["qrels.tsv"])


def test_the_command_fills_a_folder_and_says_what_was_left_out(leadline: Leadline, files: Path) -> None:
    done = leadline(
        *"study judges qrels.txt".split(),
        *sorted(f"{name}.run" for name in RUNS),
        *"--judges labels.tsv -o out".split(),
    )
    assert done.status == 0
    assert "left out pairs that not all judges judged: 1 of 37" in done.out
    data = json.loads((files / "out" / "judges.json").read_text())
    assert data["judges"] == ["same", "opposite"]
    assert (data["pairs"], data["queries"], data["reference_queries"]) == (36, 4, 5)
    assert len(data["among_all"]) == 3 * 2
    for name in ("AP.svg", "nDCG.svg", "judges.csv", "systems.csv"):
        assert (files / "out" / name).stat().st_size > 0
    done = leadline("study", "judges", "qrels.txt", "r0.run", "-o", "x")
    assert (done.status, "Missing option '--judges" in done.err) == (2, True)


def test_dl19_systems_under_eight_judges_keep_most_of_their_order(shared_data: Path) -> None:
    runs = sorted((shared_data / "trec-dl-2019-passage" / "runs").iterdir())[:12]
    labels = shared_data / "dl19-rejudged-8judges" / "labels.tsv"
    found = run(
        str(shared_data / "trec-dl-2019-passage" / "qrels.txt"),
        list(map(str, runs)),
        judges=[f"{labels}:judge1", f"{labels}:judge8"],
        measure=["AP"],
    )
    assert (found.data["pairs"], found.data["queries"]) == (188, 3)
    assert round(found.data["kappa"]["judge8"]["cohen"], 2) == 0.33
    assert found.data["summary"]["AP"]["lowest_tau"] > 0.6
