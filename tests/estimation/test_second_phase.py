"""Two-phase samples: the draw, unbiasedness over all draws, variance, files and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from conftest import Leadline
from leadline.data.judgment_tables import DrawnPool
from leadline.errors import InputError, UsageError
from leadline.estimation.designs import random_numbers_of
from leadline.estimation.estimate import estimate
from leadline.estimation.measured_pool import draw_twice
from leadline.estimation.pool_designs import pool_for
from leadline.io.pool_files import read_drawn_pool
from leadline.judging.half_widths import DISAGREE, PoolPrecision

RNG = np.random.default_rng(4)
QUERIES = [f"q{number}" for number in range(15)]
DOCUMENTS = [f"d{number}" for number in range(30)]
RUNS = {
    name: {query: [str(one) for one in RNG.permutation(DOCUMENTS)[:20]] for query in QUERIES}
    for name in ("a", "b", "c")
}
FIRST = {query: {name: int(RNG.random() < 0.4) for name in DOCUMENTS} for query in QUERIES}
SECOND = {
    query: {name: int(grade != (RNG.random() < 0.25)) for name, grade in one.items()}
    for query, one in FIRST.items()
}
POOL = pool_for(RUNS, "P@10", budget=12, seed=1).pool


def chosen(pool: DrawnPool, grades: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """Return the grades of the drawn pairs."""
    found: dict[str, dict[str, int]] = {}
    for row in np.flatnonzero(pool.drawn).tolist():
        found.setdefault(pool.queries[row], {})[pool.documents[row]] = grades[pool.queries[row]][
            pool.documents[row]
        ]
    return found


def test_the_draw_has_the_size_and_the_probabilities_that_it_says() -> None:
    again = draw_twice(POOL, 60)
    assert again.probability.sum() == pytest.approx(60)
    assert len(again.queries) == POOL.drawn.sum()
    names = list(zip(again.queries, again.documents, strict=True))
    numbers = random_numbers_of(names, again.design["seed"])
    np.testing.assert_array_equal(again.drawn, numbers < again.probability)
    rare = POOL.probability[np.flatnonzero(POOL.drawn)] < 1  # then importance / probability is constant
    assert np.ptp(again.probability[rare]) == pytest.approx(0, abs=1e-9)


def outcomes(pairs: int, chance: float) -> Iterator[tuple[tuple[int, ...], float]]:
    """Return every set of pairs that may be drawn, with its probability."""
    for flags in product((0, 1), repeat=pairs):
        yield flags, float(np.prod([chance if flag else 1 - chance for flag in flags]))


@pytest.mark.parametrize("measure", ["P@3", "CG@3", "RR"])
@pytest.mark.parametrize("certain", [True, False])
def test_over_all_draws_the_mean_is_the_value_by_the_second_judge(measure: str, *, certain: bool) -> None:
    run = {"mine": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}}
    first, second = {"a": 1, "b": 0, "c": 2}, {"a": 0, "b": 1, "c": 2}
    p, q = (1.0 if certain else 0.6), 0.5
    total = spread = said = 0.0
    truth = ll.evaluate({"q": second}, run, measure).mean("mine", measure)
    for drawn, chance in outcomes(3, p):
        names = [name for name, flag in zip("abc", drawn, strict=True) if flag]
        if not chance or not names:
            total += chance * 0.0
            spread += chance * truth**2
            continue
        for again, also in outcomes(len(names), q):
            twice = {
                ("q", name): (q, float(second[name])) for name, flag in zip(names, again, strict=True) if flag
            }
            found = estimate(
                {"q": {name: first[name] for name in names}},
                run,
                measure,
                pool={"q": dict.fromkeys(names, p)},
                proxy="none",
                twice=twice,
            )
            value = float(found._parts[0][0].values[0])
            total += chance * also * value
            spread += chance * also * (value - truth) ** 2
            said += chance * also * float((found._parts[0][0].errors ** 2).sum())
    assert total == pytest.approx(truth)
    if measure != "RR":  # linear: the variance is unbiased too
        assert said == pytest.approx(spread)


def test_all_pairs_judged_again_is_a_sample_by_the_second_judge() -> None:
    alone = ll.evaluate(chosen(POOL, SECOND), RUNS, "P@10", pool=POOL)
    both = ll.evaluate(chosen(POOL, FIRST), RUNS, "P@10", pool=POOL, second_judge=chosen(POOL, SECOND))
    outside = chosen(POOL, FIRST) | {"other": {"d1": 1}}  # the second judge cannot have judged these
    more = ll.evaluate(outside, RUNS, "P@10", pool=POOL, second_judge=chosen(POOL, SECOND))
    np.testing.assert_allclose(both.means, alone.means)
    np.testing.assert_array_equal(more.means, both.means)
    for name in RUNS:
        assert both.estimate(name, "P@10")[:7] == pytest.approx(alone.estimate(name, "P@10")[:7])  # type: ignore[attr-defined]


def test_what_is_named_as_labels_or_judgments_may_look_like_scores(tmp_path: Path) -> None:
    fraction, path, judged = np.random.default_rng(5).random, tmp_path / "labels.csv", chosen(POOL, FIRST)
    scored = {
        query: {name: 10 * grade + fraction() for name, grade in one.items()} for query, one in FIRST.items()
    }
    ll.write_qrels(scored, path)
    with pytest.raises(InputError, match="which look like scores"):
        ll.read_qrels(path)
    assert ll.evaluate(judged, RUNS, "P@10", pool=POOL, machine=path).names
    assert pool_for(RUNS, "P@10", budget=12, machine=path).pool.queries
    ll.write_run(RUNS["a"], tmp_path / "a.run")
    assert ll.check(tmp_path / "a.run", qrels=path).rejected == 0
    ll.write_qrels(chosen(POOL, scored), path)  # type: ignore[arg-type]  # fractions
    assert ll.evaluate(judged, RUNS, "P@10", pool=POOL, second_judge=path).names


def test_what_is_wrong_with_the_second_pool_names_it() -> None:
    again, first = draw_twice(POOL, 60), chosen(POOL, FIRST)

    def judged(second: dict[str, dict[str, int]]) -> list[str]:
        found = ll.evaluate(first, RUNS, "P@10", pool=POOL, second_judge=second, second_pool=again)
        return [one.message for one in found.warnings if one.code in ("outside_pool", "smaller_draw")]

    whole = chosen(again, SECOND)
    query = next(iter(whole))
    (outside,) = judged(whole | {query: whole[query] | {"other": 1}})
    assert "second sample" in outside
    assert "--judged" not in outside  # which --twice does not take
    last = max(again.drawn_rows().values(), key=lambda row: float(again.order[row]))
    less = {name: dict(one) for name, one in whole.items()}
    del less[again.queries[last]][again.documents[last]]
    (smaller,) = judged(less)
    assert "1 drawn pair in the second pool is not judged" in smaller
    for wrong in ({"other": {"d1": 1}}, {query: {"other": 1}}):
        with pytest.raises(UsageError, match="the second pool"):
            judged(wrong)


def test_a_second_judge_who_agrees_changes_nothing() -> None:
    again = draw_twice(POOL, 60)
    one = ll.evaluate(chosen(POOL, FIRST), RUNS, "P@10", pool=POOL)
    two = ll.evaluate(
        chosen(POOL, FIRST), RUNS, "P@10", pool=POOL, second_judge=chosen(again, FIRST), second_pool=again
    )
    np.testing.assert_array_equal(two.means, one.means)
    assert "second_judge" in [notice.code for notice in two.warnings]
    assert "one_judge" not in [notice.code for notice in two.warnings]


def test_intervals_hold_the_values_of_the_second_judge() -> None:
    truth = ll.evaluate(SECOND, RUNS, "P@10")
    held = []
    for seed in range(60):
        pool = pool_for(RUNS, "P@10", budget=12, seed=seed).pool
        again = draw_twice(pool, 60)
        found = ll.evaluate(
            chosen(pool, FIRST),
            RUNS,
            "P@10",
            pool=pool,
            second_judge=chosen(again, SECOND),
            second_pool=again,
        )
        for name in RUNS:
            one = found.estimate(name, "P@10")  # type: ignore[attr-defined]
            held.append(one.these_low <= truth.mean(name, "P@10") <= one.these_high)
    assert np.mean(held) > 0.9


def test_the_forecast_is_the_mean_width_of_simulated_judges() -> None:
    """Judges who differ on a fifth of the pairs, half of which are relevant, as the forecast assumes."""
    generator = np.random.default_rng(3)
    ratios = []
    for seed in range(20):
        first = {query: {name: int(generator.random() < 0.5) for name in DOCUMENTS} for query in QUERIES}
        second = {
            query: {name: int(grade != (generator.random() < DISAGREE)) for name, grade in one.items()}
            for query, one in first.items()
        }
        pool = pool_for(RUNS, "P@10", budget=12, seed=seed).pool
        again = draw_twice(pool, 90)
        given: Any = {"pool": pool, "second_judge": chosen(again, second), "second_pool": again}
        found = ll.evaluate(chosen(pool, first), RUNS, "P@10", **given)
        estimates = [found.estimate(name, "P@10") for name in RUNS]  # type: ignore[attr-defined]
        wide = np.mean([((one.these_high - one.these_low) / 2) ** 2 for one in estimates])
        expected = PoolPrecision(pool).judged_twice("P@10", again.probability)
        assert expected is not None
        ratios.append(float(wide) / expected**2)
    assert np.mean(ratios) == pytest.approx(1, abs=0.15)


def test_a_forecast_by_hand() -> None:
    """A run of one query and four documents, all judged (p = 1), each again with q = .5: P@4 has w = 1/4.

    The variance is 4 x (1/4)^2 x .2 x (1 - .5) / .5 = .05.
    """
    pool = pool_for({"a": {"q": ["d1", "d2", "d3", "d4"]}}, "P@4", budget=9).pool
    again = draw_twice(pool, 2)
    assert again.probability.tolist() == [0.5] * 4
    found = PoolPrecision(pool).judged_twice("P@4", again.probability)
    assert found == pytest.approx(1.959964 * 0.05**0.5)
    assert PoolPrecision(pool).judged_twice("P@4", np.ones(4)) == 0


def test_with_selected_queries_labels_and_second_judgments_of_others_are_not_missed() -> None:
    again = draw_twice(POOL, 100)
    by_second: dict[str, Any] = {"second_judge": chosen(again, SECOND), "second_pool": again}
    by_machine: dict[str, Any] = {"machine": SECOND}
    for more in (by_second, by_machine):
        found = ll.evaluate(
            chosen(POOL, FIRST), RUNS, "P@10", pool=POOL, queries_in=set(QUERIES[:12]), **more
        )
        assert not [one.message for one in found.warnings if "left out" in one.message]
    with pytest.raises(UsageError, match="need at least 25 pairs with a second judgment, not "):
        ll.evaluate(chosen(POOL, FIRST), RUNS, "P@10", pool=POOL, queries_in=set(QUERIES[:2]), **by_second)


def test_what_cannot_be_measured_twice_is_refused() -> None:
    judged, again = chosen(POOL, FIRST), draw_twice(POOL, 60)
    more: Any = {"second_judge": chosen(again, SECOND), "second_pool": again}
    with pytest.raises(UsageError, match="with a second judge"):
        ll.evaluate(judged, RUNS, "nDCG@10", pool=POOL, **more)
    with pytest.raises(UsageError, match="second judge did not judge"):
        ll.evaluate(judged, RUNS, "P@10", pool=POOL, second_judge=chosen(again, SECOND))
    with pytest.raises(UsageError, match="applies only to estimates from a sampled pool"):
        ll.evaluate(FIRST, RUNS, "P@10", **more)
    with pytest.raises(UsageError, match=r"a sample of 2 pairs is too small .* at least 25\."):
        draw_twice(pool_for(RUNS, "P@10", budget=19, seed=1).pool, 2)
    with pytest.raises(UsageError, match=r"from a sample of 185 pairs\. Draw at most 185"):
        draw_twice(POOL, 10_000)
    with pytest.raises(UsageError, match="--from"):
        draw_twice(again, 10)


def test_the_command_line(tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, run in RUNS.items():
        lines = (
            f"{query} Q0 {document} {rank} {50 - rank} {name}\n"
            for query, one in run.items()
            for rank, document in enumerate(one, start=1)
        )
        Path(f"{name}.run").write_text("".join(lines))
    runs = [f"{name}.run" for name in RUNS]
    assert leadline("pool", *runs, "--for", "P@10", "--budget", "12", "-o", "pool.tsv").status == 0
    drawn = leadline("pool", "--from", "pool.tsv", "--twice", "60", "-o", "again.tsv", "-f", "json")
    widths = list(drawn.data["half_widths"]["P@10"].values())
    assert widths == sorted(widths, reverse=True)
    first, second = read_drawn_pool("pool.tsv"), read_drawn_pool("again.tsv")
    for name, pool, grades in (("first", first, FIRST), ("second", second, SECOND)):
        lines = (f"{q} 0 {d} {g}\n" for q, one in chosen(pool, grades).items() for d, g in one.items())
        Path(f"{name}.qrels").write_text("".join(lines))
    settings = ["-C", "read.second_judge=second.qrels", "-C", "read.second_pool=again.tsv"]
    done = leadline("evaluate", "first.qrels", *runs, "--pool", "pool.tsv", *settings, "-f", "json")
    expected = ll.evaluate(
        "first.qrels", *runs, pool="pool.tsv", second_judge="second.qrels", second_pool="again.tsv"
    )
    assert done.data["runs"][0]["mean"]["P@10"] == pytest.approx(expected.means[0, 0])
    compared = leadline("compare", "first.qrels", *runs, "--pool", "pool.tsv", *settings, "-f", "json")
    gap = expected.means[1, 0] - expected.means[0, 0]
    assert compared.data["pairs"][0]["difference"] == pytest.approx(gap)
    assert leadline("evaluate", "first.qrels", *runs, *settings).status == 2
    alone = leadline("compare", "first.qrels", *runs, "--pool", "pool.tsv", *settings[2:])
    assert "read.second_pool needs --config read.second_judge" in alone.refusal
    assert leadline("pool", "a.run", "--twice", "6", "-o", "x.tsv").status == 2
    assert leadline("pool", "a.run", "--from", "pool.tsv", "--twice", "6", "-o", "x.tsv").status == 2
