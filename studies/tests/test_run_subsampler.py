"""Parts of the scores of a run: they give what `histogram` and `sampled` give of the part alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Reading
from leadline.estimation.histogram_result import HistogramOptions, compute_hsa
from leadline.evaluation.join import judge
from leadline.io.objects import Qrels, read_qrels
from leadline_studies.histogram_sample.run_subsampler import RunSubsampler, shares

DICE = np.random.default_rng(3)
QRELS = {f"q{q}": {f"d{place}": int(place < 4 + q) for place in range(0, 40, 1 + q % 2)} for q in range(5)}
RUN = {
    query: {
        f"d{place}": float(round(DICE.normal(grade), 1))
        for place, grade in ((place, QRELS[query].get(f"d{place}", 0)) for place in range(60))
        if place % 7 != q
    }
    for q, query in enumerate(QRELS)
}
PAIRS = {
    query: {f"d{place}": float(round(DICE.normal(place < 5), 1)) for place in range(60)} for query in QRELS
}


def joined(run: Any) -> tuple[Qrels, JudgedRun]:
    table = read_qrels(QRELS)
    reading = Reading()
    return table, judge(run, table, reading=reading, keep=True)[1]


@pytest.mark.parametrize("sample", [1, 5, 20, 1000])
@pytest.mark.parametrize("seed", [0, 3])
def test_all_relevant_documents_and_a_sample_give_what_the_functions_give(
    sample: int, seed: int, tmp_path: Path
) -> None:
    file = tmp_path / "backwards.run"  # queries in another order than their codes
    file.write_text(
        "".join(
            f"{query} Q0 {name} 0 {value} t\n"
            for query, one in reversed(RUN.items())
            for name, value in one.items()
        )
    )
    table, judged = joined(str(file))
    recipe = HistogramOptions(seed=seed)
    thinned = RunSubsampler(judged, recipe)
    part = thinned.part(shares(table, 1.0, 1.0, seed), thinned.sample_order(seed), sample)
    found = ll.histogram(QRELS, RUN, sample=sample, seed=seed, draws=0)
    ranks = ll.histogram(QRELS, RUN, sample=sample, seed=seed, draws=0, from_ranks=True)
    assert compute_hsa(part.scores, recipe) == pytest.approx(found.hsa[0], nan_ok=True)
    assert compute_hsa(part.ranks, recipe) == pytest.approx(ranks.hsa[0], nan_ok=True)
    assert np.nanmean(part.robust) == pytest.approx(found.hsa_robust[0])
    wanted = ll.sampled(QRELS, RUN, "AP", sample=sample, seed=seed, draws=0, correction="none")
    assert part.weighted == pytest.approx(wanted.values[0, :, 0])


def test_scored_pairs_give_what_the_functions_give_of_the_part_alone() -> None:
    table, judged = joined(PAIRS)
    documents = sorted({name for one in PAIRS.values() for name in one})
    kept = shares(table, 1.0, 0.5, 2)
    thinned = RunSubsampler(judged, HistogramOptions(), population=60)
    part = thinned.part(kept, thinned.sample_order(2), 8)
    names = list(table.documents)
    less = {
        query: {names[row].decode(): 1 for row in np.flatnonzero(kept & (table.query == code)).tolist()}
        for code, query in enumerate(table.queries)
    }
    unkept = {
        query: {name for name, grade in QRELS[query].items() if grade} - set(less[query]) for query in QRELS
    }
    few = {
        query: {name: PAIRS[query][name] for name in (*less[query], *drawn(query, documents, unkept[query]))}
        for query in QRELS
    }
    for from_ranks, counts in ((False, part.scores), (True, part.ranks)):
        found = ll.histogram(less, few, from_ranks=from_ranks, draws=0)
        assert compute_hsa(counts, HistogramOptions()) == pytest.approx(found.hsa[0], nan_ok=True)
    assert np.nanmean(part.robust) == pytest.approx(found.hsa_robust[0])
    alone = ll.sampled(less, few, "AP", population=dict.fromkeys(QRELS, 8), draws=0, correction="none")
    assert part.plain == pytest.approx(alone.values[0, :, 0])
    sizes = {query: 60 - sum(QRELS[query].values()) for query in QRELS}
    wanted = ll.sampled(less, few, "AP", population=sizes, draws=0, correction="none")
    assert part.weighted == pytest.approx(wanted.values[0, :, 0])


def drawn(query: str, documents: list[str], unkept: set[str]) -> list[str]:
    from leadline.data.arrays import sampled_documents

    relevant = {name for name, grade in QRELS[query].items() if grade}
    others = [name.encode() for name in documents if name not in relevant | unkept]
    return [name.decode() for name in sampled_documents(query.encode(), others, 8, 2)]


def test_a_larger_share_holds_the_smaller_one_and_another_seed_another() -> None:
    table = read_qrels(QRELS)
    half, most = shares(table, 1.0, 0.5, 0), shares(table, 1.0, 0.75, 0)
    assert (most | ~half).all()
    assert (shares(table, 1.0, 0.5, 1) != half).any()
    assert shares(table, 1.0, 1.0, 0).sum() == (table.grades >= 1).sum()


def test_a_run_without_relevant_documents_has_no_slope() -> None:
    run = {query: {"x": 1.0, "y": 0.5} for query in QRELS}
    table, judged = joined(run)
    thinned = RunSubsampler(judged, HistogramOptions())
    part = thinned.part(shares(table, 1.0, 1.0, 0), thinned.sample_order(0), 5)
    assert part.plain.tolist() == part.weighted.tolist() == [0.0] * 5
    assert part.scores[:, 0].sum() == (table.grades >= 1).sum()  # all at the bottom
