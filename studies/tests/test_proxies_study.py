"""`leadline study proxies`: what it finds on runs whose truth is known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import InputError, UsageError
from leadline.estimation.histogram_result import slope
from leadline_studies.estimate.study import VOTE_CELLS, quantile_cells
from leadline_studies.proxies import page, study
from tests.judged_runs import write_runs


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """Write complete judgments and six runs of different quality."""
    folder = tmp_path_factory.mktemp("proxies")
    write_runs(folder, (2.0, 1.5, 1.0, 0.5, 0.0, 1.2))
    return folder / "truth.qrels", sorted(folder.glob("*.run"))


@pytest.fixture(scope="module")
def cells(files: tuple[Path, list[Path]]) -> dict[str, Any]:
    found = study.run(*files, measure=("P@5",), budget=6, draws=12).data["cells"]
    return {one["proxy"]: one for one in found}


def test_votes_save_width_and_proxies_without_information_cost_little(cells: dict[str, Any]) -> None:
    assert cells["centred"]["ratio"] == 1
    assert cells["votes"]["ratio"] < 0.97
    assert cells["none"]["ratio"] > 1.1
    for name in ("adverse: random labels", "adverse: worst run"):
        assert cells[name]["ratio"] < 1.03


def test_every_proxy_is_unbiased_and_covers(cells: dict[str, Any]) -> None:
    assert set(cells) == {name for name in ("centred", *page.PROXIES) if "DeShaTo" not in name}
    for one in cells.values():
        assert abs(one["bias"]) < 0.03
        assert one["coverage"] > 0.85
        assert one["ratio_low"] <= one["ratio"] <= one["ratio_high"]


def test_hsa_of_the_judged_ranks_is_that_of_a_loop(files: tuple[Path, list[Path]]) -> None:
    from leadline.data.reading import Reading
    from leadline.estimation.system_lists import read_systems
    from leadline.io.objects import read_qrels
    from leadline.measures import MEASURES

    truth, measure = read_qrels(files[0]), MEASURES.parse("P@5")
    votes = study.votes_of(read_systems(files[1], Reading()), files[1], truth, measure)
    judged = np.random.default_rng(1).random(len(votes.query)) < 0.5
    found = study.hsa_of(votes, judged)
    for system in range(6):
        counts = np.zeros((2, 10))
        for row, rank, owner in zip(*votes.board.brought, votes.board.system, strict=True):
            if owner == system and judged[row]:
                counts[int(votes.board.table.grades[row] < 1), 10 - rank] += (
                    1  # of 10 ranks, the first is highest
                )
        assert found[system] == pytest.approx(slope(*counts, half_counts=True, weighted=True))
    assert found[0] > found[4]  # the best run and the one that knows nothing


def test_measures_without_a_variance_per_draw_are_refused(files: tuple[Path, list[Path]]) -> None:
    for measure in ("nDCG@10", "infAP", "statAP"):
        with pytest.raises(UsageError, match=f"{measure}. Use P, "):
            study.run(*files, measure=(measure,))
    with pytest.raises(UsageError, match="draws"):
        study.run(*files, draws=1)


def test_a_sample_is_not_the_truth(files: tuple[Path, list[Path]], tmp_path: Path) -> None:
    sample = tmp_path / "sample.csv"
    sample.write_text("query_id,doc_id,relevance,probability\nq0,d0,1,0.5\n")
    with pytest.raises(InputError, match="the judgments are only a sample"):
        study.run(sample, files[1], measure=("P@5",), budget=6, draws=12)


values = st.lists(
    st.tuples(
        st.one_of(st.just(math.nan), st.integers(0, 30).map(float)), st.sampled_from([0.0, 0.1, 0.5, 1.0])
    ),
    min_size=1,
    max_size=60,
)


@given(values)
def test_cells_of_a_column_equal_a_loop(rows: list[tuple[float, float]]) -> None:
    number, probability = np.array([one for one, _ in rows]), np.array([p for _, p in rows])
    cell, cells, *_ = quantile_cells(number, probability)
    inside = [(one, p) for one, p in rows if one == one and p > 0]  # noqa: PLR0124  # NaN
    distinct = sorted({one for one, _ in inside})
    total = sum(p for _, p in inside)

    def quantile(value: float) -> int:
        if len(distinct) <= VOTE_CELLS:
            return distinct.index(value)
        below = sum(p for one, p in inside if one < value)
        own = sum(p for one, p in inside if one == value)
        return int((below + own / 2) / total * VOTE_CELLS + 1e-9)

    numbers = {place: rank for rank, place in enumerate(sorted(set(map(quantile, distinct))), start=1)}
    for (one, p), found in zip(rows, cell.tolist(), strict=True):
        if math.isnan(one):
            assert found == 0
        elif p > 0:
            assert found == numbers[quantile(one)]
        elif (
            distinct and one >= distinct[0]
        ):  # the cell of the largest value in the frame that is not above it
            assert found == numbers[quantile(max(other for other in distinct if other <= one))]
    assert cells == max(len(numbers), 1) + 1
