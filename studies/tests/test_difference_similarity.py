"""The study of similarity on systems whose teams are known: found where it must be, not where it cannot."""

from __future__ import annotations

import inspect
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline.comparison.difference import difference
from leadline.errors import UsageError
from leadline_studies import ARGUMENTS, studies, study
from leadline_studies.difference_similarity.study import _weights, pairs_in_bins

SIMILARITY = study("difference-similarity")


def make_runs(
    folder: Path, *, alike: float, teams: int = 20, members: int = 3
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, list[str]]], str]:
    """Make judgments, runs and a table of teams; members share `alike` of what orders their lists."""
    rng = np.random.default_rng(4)
    names = [f"d{place}" for place in range(40)]
    qrels = {
        f"q{query}": {name: int(rng.random() < 0.3) for name in names} | {"d0": 1, "d1": 0}
        for query in range(8)
    }
    runs: dict[str, dict[str, list[str]]] = {
        f"t{team}-{member}": {} for team in range(teams) for member in range(members)
    }
    for query, grades in qrels.items():
        for team in range(teams):
            taste = rng.normal(size=len(names))
            for member in range(members):
                own = rng.normal(size=len(names))
                score = np.array([grades[name] for name in names]) * 0.8
                score = score + alike * taste + (1 - alike) * own
                order = [names[place] for place in np.argsort(-score)[:25].tolist()]
                runs[f"t{team}-{member}"][query] = order
    table = folder / "systems.tsv"
    lines = [f"{name}\t{name.split('-')[0]}\n" for name in runs]
    table.write_text("run\tteam\n" + "".join(lines))
    return qrels, runs, f"{table}:team"


def outcome(folder: Path, alike: float, **options: Any) -> dict[str, Any]:
    qrels, runs, team = make_runs(folder, alike=alike)
    found: dict[str, Any] = SIMILARITY.run(qrels, runs, team=team, samples=60, **options).data
    return found


def test_teams_of_one_taste_are_told_apart_by_id_and_not_by_score(tmp_path: Path) -> None:
    data = outcome(tmp_path, 0.95, bins=6)
    assert data["same_team_pairs"] >= 20
    assert data["auc"]["id"]["value"] > 0.95
    assert data["auc"]["id - delta RIC"]["low"] > 0
    assert data["auc"]["id"]["low"] <= data["auc"]["id"]["value"] <= data["auc"]["id"]["high"]
    recalls = [one["recall"] for one in data["decisions"]["thresholds"]]
    assert recalls == sorted(recalls)
    assert data["decisions"]["at_0.1"] in data["decisions"]["thresholds"]


def test_teams_without_a_taste_are_not_told_apart(tmp_path: Path) -> None:
    data = outcome(tmp_path, 0.0, bins=1)
    area = data["auc"]["id"]
    assert area["low"] < 0.5 < area["high"]


def test_too_few_pairs_of_one_team_give_no_area(tmp_path: Path) -> None:
    qrels, runs, team = make_runs(tmp_path, alike=0.9, teams=8, members=2)
    found = SIMILARITY.run(qrels, runs, team=team, samples=10)
    assert found.data["auc"]["id"] is None
    assert found.data["decisions"] is None
    assert "roc" not in found.figures
    assert found.lines[0].startswith("There is no AUC")


def test_the_same_seed_gives_the_same(tmp_path: Path) -> None:
    assert outcome(tmp_path, 0.5, bins=2, seed=3) == outcome(tmp_path, 0.5, bins=2, seed=3)


def test_bins_differ_by_one_system_at_most_and_hold_all_their_pairs(tmp_path: Path) -> None:
    qrels, runs, _ = make_runs(tmp_path, alike=0.5, teams=7)
    found = difference(qrels, runs, competitors=())
    pairs = pairs_in_bins(found, [name.split("-")[0] for name in found.names], 4)
    assert len(pairs.same) == 3 * 10 + 15  # 6, 5, 5, 5 systems
    place = {system: rank for rank, system in enumerate(found.order())}
    bins = np.array([0] * 6 + [1] * 5 + [2] * 5 + [3] * 5)
    for i, j in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
        assert bins[place[i]] == bins[place[j]]


def test_a_team_drawn_twice_makes_no_pair_with_its_copy(tmp_path: Path) -> None:
    qrels, runs, _ = make_runs(tmp_path, alike=0.5, teams=2, members=2)
    found = difference(qrels, runs, competitors=())
    pairs = pairs_in_bins(found, ["t0", "t0", "t1", "t1"], 1)
    weights = _weights(pairs, np.array([2, 2, 1, 1]))
    assert sorted(weights[pairs.same].tolist()) == [1.0, 2.0]
    assert set(weights[~pairs.same].tolist()) == {2.0}


def test_a_run_without_a_team_is_refused(tmp_path: Path) -> None:
    qrels, runs, team = make_runs(tmp_path, alike=0.5, teams=2)
    with pytest.raises(UsageError, match=r"runs? has no team.*\(stranger\)"):
        SIMILARITY.run(qrels, runs | {"stranger": runs["t0-0"]}, team=team)


@pytest.mark.parametrize("option", ["bins", "samples"])
def test_nothing_to_count_is_refused(tmp_path: Path, option: str) -> None:
    qrels, runs, team = make_runs(tmp_path, alike=0.5, teams=2)
    with pytest.raises(UsageError, match=f"{option} must be"):
        SIMILARITY.run(qrels, runs, team=team, **{option: 0})


def test_every_study_says_what_it_tries_and_takes_what_it_declares() -> None:
    assert all(a < b for a, b in pairwise(studies()))
    for name in studies():
        module = study(name)
        assert module.__doc__
        taken = set(inspect.signature(module.run).parameters)
        assert taken == {*getattr(module, "ARGUMENTS", ARGUMENTS), "given"}, name
        with pytest.raises(TypeError, match="the study has no option nothing"):
            module.run(nothing=1)
    with pytest.raises(UsageError, match=r"no study 'nothing'. Choose one of .*components, difference-"):
        study("nothing")
