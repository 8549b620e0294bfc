"""The study of estimators without judgments: what is seen where it must be, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline.errors import InputError, UsageError
from leadline_studies import studies, study
from leadline_studies.unjudged_systems.study import agreement

STUDY = study("unjudged-systems")


def make_runs(folder: Path, systems: int = 12) -> tuple[dict[str, dict[str, int]], Any, str]:
    """Make systems of rising quality, two of a team; the better, the more they find what is relevant."""
    rng = np.random.default_rng(2)
    names = [f"d{place}" for place in range(60)]
    qrels = {f"q{q}": {name: int(rng.random() < 0.3) for name in names} for q in range(6)}
    runs: dict[str, dict[str, list[str]]] = {}
    for system in range(systems):
        lists = {}
        for query, grades in qrels.items():
            score = [grades[name] * system * 0.3 + rng.normal() for name in names]
            lists[query] = [names[place] for place in np.argsort(-np.array(score))[:30].tolist()]
        runs[f"s{system:02}"] = lists
    table = folder / "systems.tsv"
    table.write_text("run\tteam\n" + "".join(f"{name}\tt{int(name[1:]) // 2}\n" for name in runs))
    return qrels, runs, f"{table}:team"


def test_systems_that_agree_on_what_is_relevant_are_ordered_well(tmp_path: Path) -> None:
    qrels, runs, team = make_runs(tmp_path)
    found = STUDY.run(qrels, runs, team=team, samples=20, subsets=3)
    assert set(found.data["methods"]) == {"nruns", "soboroff", "aslam-savell", "reference-count", "spoerri"}
    for both in found.data["methods"].values():
        for one in both.values():
            assert one["kendall"]["value"] > 0.5
            assert one["kendall"]["low"] <= one["kendall"]["value"] <= one["kendall"]["high"]
            assert one["best"] == 1
            assert one["ideal_mean_place"] == 1
    assert set(found.data["sizes"]["nruns"]) == {"5", "10"}
    assert set(found.tables) == {"agreement", "sizes"}
    assert {"nruns", "spoerri", "sizes"} <= set(found.figures)
    assert "follows MAP best: tau" in found.lines[0]


def test_an_estimate_equal_to_the_truth_agrees_in_everything() -> None:
    truth = np.arange(20, 0, -1.0)
    one = agreement(truth * 2, truth, [np.ones(20, dtype=np.int64)])
    assert [one[name]["value"] for name in ("kendall", "tau_ap", "pearson")] == pytest.approx([1, 1, 1])
    assert (one["place_of_best"], one["mean_place_of_best"]) == (1, one["ideal_mean_place"])
    assert one["better_half"] == 1
    back = agreement(-truth, truth, [np.ones(20, dtype=np.int64)])
    assert (back["place_of_best"], back["mean_place_of_best"]) == (20, 19.5)


def test_published_scores_are_the_truth(tmp_path: Path) -> None:
    qrels, runs, team = make_runs(tmp_path)
    table = tmp_path / "scores.tsv"
    rows = [f"{name}\t{100 - place}\t-\n" for place, name in enumerate(runs)]
    table.write_text("run\tmap\tpart\n" + "".join(rows))
    found = STUDY.run(qrels, runs, team=team, truth=f"{table}:map", samples=5, subsets=1)
    assert found.data["truth"] == f"{table}:map"
    assert found.data["methods"]["nruns"]["run"]["kendall"]["value"] < 0  # the table is upside down
    with pytest.raises(InputError, match=r"run 's00' has no score \(12 such runs\)"):
        STUDY.run(qrels, runs, team=team, truth=f"{table}:part")


def test_equal_systems_have_no_tau(tmp_path: Path) -> None:
    qrels, runs, team = make_runs(tmp_path, 6)
    same = dict.fromkeys(runs, runs["s00"])
    found = STUDY.run(qrels, same, team=team, samples=5, subsets=1)
    assert found.data["methods"]["nruns"]["run"]["kendall"] == {"value": None, "low": None, "high": None}
    assert [line[:28] for line in found.lines] == ["No verdict: tau is undefined"]


def test_the_study_is_found_and_refuses_what_makes_no_sense(tmp_path: Path) -> None:
    assert "unjudged-systems" in studies()
    qrels, runs, team = make_runs(tmp_path)
    with pytest.raises(UsageError, match="samples must be"):
        STUDY.run(qrels, runs, team=team, samples=0)
    with pytest.raises(UsageError, match=r"runs? has no team.*\(new\)"):
        STUDY.run(qrels, {"new": runs["s00"]}, team=team)
    with pytest.raises(UsageError, match="need at least 2 teams, not 1"):
        STUDY.run(qrels, {"s00": runs["s00"]}, team=team)


def test_a_sample_is_not_the_truth(tmp_path: Path) -> None:
    _, runs, team = make_runs(tmp_path)
    sample = tmp_path / "sample.csv"
    sample.write_text("query_id,doc_id,relevance,probability\nq0,d0,1,0.5\n")
    with pytest.raises(InputError, match="the judgments are only a sample"):
        STUDY.run(sample, runs, team=team)
    with pytest.raises(InputError, match="no query of the runs has judgments"):
        STUDY.run({"other": {"d0": 1}}, runs, team=team)
