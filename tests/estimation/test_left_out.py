"""Reusability of a pool: each team left out in turn, by loops, with judgments, and at the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import Leadline
from leadline.data.judgment_tables import DrawnPool
from leadline.errors import UsageError
from leadline.estimation.estimate import estimate
from leadline.estimation.pool_designs import left_out, pool_for
from leadline.io.pool_files import read_drawn_pool

RNG = np.random.default_rng(6)
QUERIES = [f"q{number}" for number in range(12)]
RUNS = {
    name: {query: [f"d{one}" for one in RNG.permutation(width)[:14]] for query in QUERIES}
    for name, width in (("a1", 30), ("a2", 30), ("b", 40), ("c", 60))
}
TEAMS = {"a1": "A", "a2": "A", "b": "B", "c": "C"}
POOL = pool_for(RUNS, ["P@5", "RBP"], budget=15, depth=10, seed=1).pool
GRADES = {query: {f"d{one}": int(RNG.random() < 0.4) for one in range(60)} for query in QUERIES}


def test_shares_are_those_of_loops() -> None:
    for one in left_out(POOL, TEAMS):
        others = [name for name in RUNS if TEAMS[name] != one.team]
        shares = []
        for query in QUERIES:
            seen = {name for other in others for name in RUNS[other][query][:10]}
            size = 5 if one.measure == "P@5" else 10
            weight = [1.0 if one.measure == "P@5" else 0.8**rank for rank in range(size)]
            listed = zip(RUNS[one.run][query][:size], weight, strict=True)
            shares.append(sum(part for name, part in listed if name not in seen) / sum(weight))
        assert one.outside == pytest.approx(np.mean(shares))
        assert one.lost == (one.outside > 0.2)
        assert one.bias is None


def test_the_bias_is_that_of_the_smaller_pool() -> None:
    judged: dict[str, dict[str, int]] = {}
    for row in np.flatnonzero(POOL.drawn).tolist():
        query, document = POOL.queries[row], POOL.documents[row]
        judged.setdefault(query, {})[document] = GRADES[query][document]
    whole = estimate(judged, RUNS, ["P@5", "RBP"], pool=POOL)
    kept = [row for row, one in enumerate(POOL.contributors) if set(one) != {"c"}]
    smaller = DrawnPool(
        *POOL.pairs(kept)[:3],
        POOL.order[kept],
        [POOL.contributors[row] for row in kept],
        POOL.drawn[kept],
        POOL.design,
    )
    without = estimate(judged, RUNS, ["P@5", "RBP"], pool=smaller)
    found = [one for one in left_out(POOL, TEAMS, judged, RUNS) if one.run == "c"]
    for one in found:
        assert one.bias == pytest.approx(without.mean("c", one.measure) - whole.mean("c", one.measure))
    assert any(abs(one.bias or 0.0) > 0.001 for one in found)


def test_measures_with_an_ideal_lose_every_interval() -> None:
    pool = pool_for(RUNS, "nDCG@5", budget=15, seed=1, judged=GRADES).pool
    assert all(one.lost for one in left_out(pool, TEAMS))


def test_what_has_no_teams_is_refused() -> None:
    with pytest.raises(UsageError, match="one team"):
        left_out(POOL, dict.fromkeys(RUNS, "A"))
    with pytest.raises(UsageError, match=r"runs? has no team.*\(c\)"):
        left_out(POOL, {name: name for name in ("a1", "a2", "b")})
    plain = DrawnPool(["q"], ["d"], np.ones(1), np.ones(1), [{}], np.ones(1, dtype=np.bool_))
    with pytest.raises(UsageError, match="drawn for measures"):
        left_out(plain, TEAMS)


def test_the_command_line(tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, run in RUNS.items():
        rows = (f"{q} Q0 {d} 1 {-rank} {name}\n" for q, one in run.items() for rank, d in enumerate(one))
        Path(f"{name}.run").write_text("".join(rows))
    runs = [f"{name}.run" for name in RUNS]
    Path("teams.tsv").write_text("run\tteam\n" + "".join(f"{run}\t{team}\n" for run, team in TEAMS.items()))
    judged = (f"{q} 0 {d} {g}\n" for q, one in GRADES.items() for d, g in one.items())
    Path("all.qrels").write_text("".join(judged))
    assert leadline("pool", *runs, "--for", "P@5", "--budget", "15", "-o", "pool.tsv").status == 0
    words = ("pool", "--from", "pool.tsv", "--leave-out", "teams.tsv:team", "-o", "out.tsv", "-f", "json")
    done = leadline(*words)
    drawn = read_drawn_pool("pool.tsv")
    expected = left_out(drawn, TEAMS)
    assert [one["outside"] for one in done.data["left_out"]] == [one.outside for one in expected]
    assert Path("out.tsv").read_text().splitlines()[0] == "team\trun\tmeasure\toutside\tlost"
    with_bias = leadline(*words, *runs, "--judged", "all.qrels")
    wanted = left_out(drawn, TEAMS, "all.qrels", runs)
    assert [one["bias"] for one in with_bias.data["left_out"]] == [one.bias for one in wanted]
    assert leadline(*words, "a1.run").status == 2
    assert leadline("pool", *runs, "--leave-out", "teams.tsv:team", "-o", "out.tsv").status == 2
