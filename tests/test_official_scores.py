"""The scores that three campaigns published, run by run, to the four digits that were printed."""

from __future__ import annotations

import csv
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from leadline.evaluation.evaluate import evaluate
from leadline.io.objects import Qrels, read_qrels

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


class Campaign(NamedTuple):
    """A set of runs, how many there are, and the published column of each measure."""

    folder: str
    runs: int
    columns: dict[str, str]


CAMPAIGNS = [
    Campaign("trec-covid-r1", 143, {"AP": "MAP", "Bpref": "bpref", "nDCG@10": "ndcg@10", "P@5": "p@5"}),
    Campaign("trec-dl-2019-passage", 37, {"nDCG@10": "official_ndcg_cut_10", "AP(rel=2)": "official_map_l2"}),
    Campaign("trec-robust-2003", 17, {"AP": "computed_map", "P@10": "computed_P_10"}),
]


def published(campaign: Campaign) -> Iterator[tuple[str, dict[str, str]]]:
    """Return the name of each run that has published scores, and the line about it."""
    path = SHARED_DATA / campaign.folder / "systems.tsv"
    with open(path, newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if all(row[column] != "-" for column in campaign.columns.values()):
                yield row["run"], row


@pytest.fixture(scope="module", params=CAMPAIGNS, ids=lambda campaign: campaign.folder)
def campaign(request: pytest.FixtureRequest) -> tuple[Campaign, Qrels]:
    """Return each campaign with its judgments, read once."""
    if not SHARED_DATA.is_dir():
        pytest.skip("../shared/data is not here")
    chosen: Campaign = request.param
    return chosen, read_qrels(SHARED_DATA / chosen.folder / "qrels.txt")


@pytest.mark.slow
def test_every_run_has_the_scores_that_were_published(campaign: tuple[Campaign, Qrels]) -> None:
    chosen, qrels = campaign
    folder = SHARED_DATA / chosen.folder / "runs"
    checked = 0
    for name, row in published(chosen):
        results = evaluate(qrels, folder / f"{name}.xz", list(chosen.columns), profile="trec9")
        for measure, column in chosen.columns.items():
            assert f"{results.means[0, results.measure_index(measure)]:.4f}" == row[column], (name, measure)
        checked += 1
    assert checked == chosen.runs


@pytest.mark.slow
def test_the_robust_track_published_precision_at_15_as_precision_at_10() -> None:
    if not SHARED_DATA.is_dir():
        pytest.skip("../shared/data is not here")
    folder = SHARED_DATA / "trec-robust-2003"
    results = evaluate(folder / "qrels.txt", folder / "runs" / "InexpC2.xz", ["P@10", "P@15"])
    assert [round(value, 4) for value in results.means[0].tolist()] == [0.3700, 0.3460]


@pytest.mark.slow
def test_a_run_from_memory_has_the_values_of_its_file() -> None:
    if not SHARED_DATA.is_dir():
        pytest.skip("../shared/data is not here")
    folder = SHARED_DATA / "trec-dl-2019-passage"
    path = min((folder / "runs").glob("*.xz"))
    run: dict[str, dict[str, float]] = {}
    with lzma.open(path, "rt") as lines:
        for line in lines:
            query, _, document, _, score, _ = line.split()
            run.setdefault(query, {})[document] = float(score)
    measures = ["AP", "nDCG@10", "Bpref", "IPrec@0.3"]
    one = evaluate(folder / "qrels.txt", path, measures, profile="trec9")
    two = evaluate(folder / "qrels.txt", run, measures, profile="trec9")
    assert one.values.tolist() == two.values.tolist()
