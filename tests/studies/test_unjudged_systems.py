"""The study of estimators without judgments: what is seen where it must be, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline.errors import UsageError
from leadline.estimators import read_systems
from leadline.formats import repair_of
from leadline.studies import studies, study
from leadline.studies.unjudged_systems import agreement, left_out

STUDY = study("unjudged-systems")


def make_runs(folder: Path, systems: int = 12) -> tuple[dict[str, dict[str, int]], Any, str]:
    """Make systems of rising quality, two of a team; the better, the more they find what is relevant."""
    dice = np.random.default_rng(2)
    names = [f"d{place}" for place in range(60)]
    qrels = {f"q{q}": {name: int(dice.random() < 0.3) for name in names} for q in range(6)}
    runs: dict[str, dict[str, list[str]]] = {}
    for system in range(systems):
        lists = {}
        for query, grades in qrels.items():
            score = [grades[name] * system * 0.3 + dice.normal() for name in names]
            lists[query] = [names[place] for place in np.argsort(-np.array(score))[:30].tolist()]
        runs[f"s{system:02}"] = lists
    table = folder / "systems.tsv"
    table.write_text("run\tteam\n" + "".join(f"{name}\tt{int(name[1:]) // 2}\n" for name in runs))
    return qrels, runs, f"{table}:team"


def test_systems_that_agree_on_what_is_relevant_are_ordered_well(tmp_path: Path) -> None:
    qrels, runs, team = make_runs(tmp_path)
    found = STUDY.run(qrels, runs, team=team, samples=20, subsets=3, teams=2)
    assert set(found.data["methods"]) == {
        "nruns", "soboroff", "aslam-savell", "reference-count", "spoerri",
    }  # fmt: skip
    for both in found.data["methods"].values():
        for one in both.values():
            assert one["kendall"]["value"] > 0.5
            assert one["kendall"]["low"] <= one["kendall"]["value"] <= one["kendall"]["high"]
            assert one["best"] == 1
            assert one["ideal_mean_place"] == 1
    assert set(found.data["sizes"]["nruns"]) == {"5", "10"}
    assert found.data["left_out"]["nruns"]["teams"] == found.data["left_out"]["nruns"]["runs"] == 2
    assert set(found.tables) == {"agreement", "sizes", "left_out"}
    assert {"nruns", "spoerri", "sizes"} <= set(found.figures)
    assert "follows MAP best: tau" in found.lines[0]


def test_an_estimate_equal_to_the_truth_agrees_in_everything() -> None:
    truth = np.arange(20, 0, -1.0)
    one = agreement(truth * 2, truth, [np.ones(20, dtype=np.int64)])
    assert [one[name]["value"] for name in ("kendall", "tau_ap", "pearson")] == pytest.approx(
        [1, 1, 1]
    )
    assert (one["place_of_best"], one["mean_place_of_best"]) == (1, one["ideal_mean_place"])
    assert one["better_half"] == 1
    back = agreement(-truth, truth, [np.ones(20, dtype=np.int64)])
    assert (back["place_of_best"], back["mean_place_of_best"]) == (20, 19.5)


def test_siblings_lift_a_run_and_one_vote_a_team_takes_most_of_that_back() -> None:
    dice = np.random.default_rng(1)
    names = [f"d{place}" for place in range(200)]
    runs = {f"s{n}": {"q": list(dice.permutation(names)[:30])} for n in range(8)}
    own = [f"o{place}" for place in range(30)]
    runs = {f"x{n}": {"q": own} for n in range(4)} | runs
    systems = read_systems(runs, repair_of("score", "refuse", "refuse"))
    teams = ["x"] * 4 + [f"t{n}" for n in range(8)]
    method = STUDY.METHODS.parse("nruns")
    found = left_out(systems, np.arange(12.0), teams, [method], 1, 0)["nruns"]
    assert found["runs"] == 1
    assert found["gain_run"] > 0
    assert found["gain_team"] < found["gain_run"]


def test_the_study_is_found_and_refuses_what_makes_no_sense(tmp_path: Path) -> None:
    assert "unjudged-systems" in studies()
    qrels, runs, team = make_runs(tmp_path)
    with pytest.raises(UsageError, match="samples=0; expected 1 or more"):
        STUDY.run(qrels, runs, team=team, samples=0)
    with pytest.raises(UsageError, match="no team for run 'new'"):
        STUDY.run(qrels, {"new": runs["s00"]}, team=team)
    with pytest.raises(UsageError, match="1 systems of 1 teams; expected 2 teams or more"):
        STUDY.run(qrels, {"s00": runs["s00"]}, team=team)
