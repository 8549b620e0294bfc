"""Coverage of the intervals of `correlate`, `agreement` and `evaluate --pool`, by simulation."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from leadline import Qrels, Run, agreement, read_qrels, read_run
from leadline.data.arrays import Floats, Integers
from leadline.data.ids import Vocabulary
from leadline.data.judged_run import JudgedRun
from leadline.evaluation.estimated_recall import RecallEstimate, recall, relevant
from leadline.evaluation.evaluate import evaluate
from leadline.io.judges import read_judges
from leadline.judging.agreement_result import Agreement, Judgments
from leadline.stats.correlation import ROWS, coefficient, over_queries
from leadline_studies.common.coverage import coverage_row
from leadline_studies.significance.decisions import Row
from leadline_studies.significance.populations import read_matrices

LABELS = "llama70b-criteria"  # of a machine, for the runs of TREC 2019 Deep Learning
CORRELATED = (  # the factor and slopes of the interval were chosen on "dl19"
    ("dl19 P(rel=2)@10", "machine P(rel=2)@10", 5, 43),
    ("dl19 P(rel=2)@10", "machine P(rel=2)@10", 10, 25),
    ("dl19 P(rel=2)@10", "machine P(rel=2)@10", 20, 43),
    ("dl19 P(rel=2)@10", "machine P(rel=2)@10", 61, 25),
    ("dl19 P(rel=2)@10", "machine P(rel=2)@10", 61, 43),
    ("dl19 nDCG@10", "machine nDCG@10", 61, 43),
    ("dl19 AP(rel=2)", "machine AP(rel=2)", 61, 43),
    ("dl19 AP(rel=2)", "dl19 nDCG@10", 20, 43),
    ("dl19 AP(rel=2)", "dl19 P(rel=2)@10", 61, 43),
    ("robust03 AP", "robust03 P@10", 10, 25),
    ("robust03 AP", "robust03 P@10", 17, 50),
    ("robust03 AP", "robust03 AP(rel=2)", 10, 25),
    ("robust03 AP", "robust03 AP(rel=2)", 17, 50),
    ("covid AP", "covid P@10", 20, 25),
    ("covid P@10", "covid P(rel=2)@10", 61, 25),
    ("trec7-adhoc_ap", "trec7-adhoc_p10", 5, 25),
    ("trec7-adhoc_ap", "trec7-adhoc_p10", 10, 25),
    ("trec7-adhoc_ap", "trec7-adhoc_p10", 40, 50),
    ("trec7-adhoc_ap", "trec7-adhoc_p10", 103, 50),
    ("trec7-adhoc_ap", "trec7-adhoc_rr", 20, 50),
    ("web2010_ndcg20", "web2010_err20", 20, 50),
    ("trec5-adhoc_p10", "trec5-adhoc_rr", 20, 50),
)
CORRELATED_SETS = 200
CONCENTRATION = 4.0  # of the Dirichlet distribution of the query weights in a population
JUDGES = {
    "human and one machine": ("willia-umbrela1",),
    "human and four machines": ("willia-umbrela1", "h2oloo-zeroshot1", "TREMA-CoT", "Olz-gpt4o"),
}
POOLED = (
    ("trec-covid-r1", "BM25R2", 10, 0.2),
    ("trec-covid-r1", "BM25R2", 20, 0.5),
    ("trec-robust-2003", "InexpC2", 20, 0.05),
    ("trec-robust-2003", "InexpC2", 50, 0.2),
)


def tally(truth: Mapping[str, float], drawn: Sequence[Mapping[str, tuple[float, float]]]) -> list[Row]:
    """Return a row per quantity: how often its intervals cover, lie below, or lie above the truth.

    >>> tally({"x": 0.5}, [{"x": (0.0, 1.0)}, {"x": (0.6, 1.0)}, {"x": (0.5, 0.5)}])[0]["coverage"]
    0.5
    """
    rows: list[Row] = []
    for name, value in truth.items():
        limits = np.array([sample[name] for sample in drawn])
        low, high = limits[(limits[:, 1] - limits[:, 0]) > 0].T
        row: Row = {"what": name, "truth": value, "sets": len(low), "left_out": len(limits) - len(low)}
        rows.append(row | coverage_row(low, high, value))
    return rows


def correlations(
    truth: Floats,
    estimate: Floats,
    *,
    runs: int,
    queries: int,
    sets: int = CORRELATED_SETS,
    draws: int = 1000,
    seed: int = 0,
) -> list[Row]:
    """Return the coverage of the intervals of `correlate` over queries."""
    rng = np.random.default_rng([seed, runs, queries])
    size, systems = truth.shape
    limits, values = np.empty((sets, len(ROWS), 2)), np.empty((sets, len(ROWS)))
    for number in range(sets):
        chosen = rng.permutation(systems)[:runs]
        share = rng.dirichlet(np.full(size, CONCENTRATION)) if number % 2 else np.full(size, 1 / size)
        drawn = rng.choice(size, queries, p=share)
        sides = truth[:, chosen], estimate[:, chosen]
        values[number] = [coefficient(name, share @ sides[0], share @ sides[1]) for name in ROWS]
        limits[number] = over_queries(sides[0][drawn], sides[1][drawn], list(ROWS), draws=draws, seed=number)
    rows: list[Row] = []
    for index, name in enumerate(ROWS):
        defined = ~np.isnan(values[:, index]) & ~np.isnan(limits[:, index, 0])
        low, high = limits[defined, index].T
        row: Row = {"what": name, "sets": len(low), "left_out": sets - len(low)}
        rows.append(row | coverage_row(low, high, values[defined, index]))
    return rows


def read_correlated(folder: str) -> dict[str, Floats]:
    """Evaluate the runs of three collections: queries x runs, by collection and measure."""
    level_two = ("AP(rel=2)", "nDCG@10", "P(rel=2)@10")
    collections = {"robust03": "trec-robust-2003", "covid": "trec-covid-r1", "dl19": "trec-dl-2019-passage"}
    tables: dict[str, Floats] = {}
    for name, collection in collections.items():
        place = Path(folder, collection)
        runs = [str(path) for part in ("runs", "extra-runs") for path in sorted((place / part).glob("*.xz"))]
        qrels = {name: place / "qrels.txt"}
        if name == "dl19":
            qrels["machine"] = Path(folder, "trec-dl-2019-machine-labels", f"{LABELS}.qrels")
        measures = level_two if name == "dl19" else ("AP", "P@10", "AP(rel=2)", "P(rel=2)@10")
        for judge, file in qrels.items():
            values = np.nan_to_num(evaluate(file, runs, measures).values)
            tables |= {f"{judge} {measure}": values[:, :, at].T for at, measure in enumerate(measures)}
    return tables


def agreements(
    whole: Judgments, *, sets: int = 200, draws: int = 1000, pairs: bool = False, seed: int = 0
) -> list[Row]:
    """Return the coverage of the intervals of `agreement`, by resampling queries or pairs."""
    rng = np.random.default_rng(seed)
    names = np.unique(whole.query)
    rows_of = [np.flatnonzero(whole.query == name) for name in names]
    truth = {name: one.value for name, one in _coefficients(agreement(whole, draws=0)).items()}
    queries = Vocabulary.of_bytes([b"%d" % index for index in range(max(len(names), 1))])
    resample = "pairs" if pairs else "queries"
    drawn = []
    for number in range(sets):
        if pairs:
            rows: Integers = rng.integers(0, len(whole), len(whole))
            query = whole.query[rows]
        else:
            groups = [rows_of[group] for group in rng.integers(0, len(names), len(names)).tolist()]
            rows = np.concatenate(groups)
            query = np.repeat(np.arange(len(groups)), list(map(len, groups)))
        resampled = Judgments(whole.names, whole.grades[rows], query=query, queries=queries)
        found = _coefficients(agreement(resampled, draws=draws, seed=number, resample=resample))
        drawn.append({name: (one.low, one.high) for name, one in found.items()})
    return tally(truth, drawn)


def _coefficients(result: Agreement) -> dict[str, RecallEstimate]:
    """Return the mean coefficients over pairs of judges, and those of all judges."""
    found = {name: mean for name, (mean, _) in result.between.items()}
    found |= {f"{name}, all judges": coefficient for name, (coefficient, _) in result.of_all.items()}
    return {name: RecallEstimate(one.value, one.low, one.high) for name, one in found.items()}


def recalls(
    qrels: Qrels,
    run: Run,
    *,
    depth: int,
    share: float,
    cutoff: int | None = None,
    sets: int = 200,
    seed: int = 0,
) -> list[Row]:
    """Return the coverage of the intervals of R and recall from a pool of judgments that are all known.

    Judged for certain are the `depth` best documents of the run; every other document of the qrels with
    probability `share`.
    """
    rng = np.random.default_rng(seed)
    judged = JudgedRun.of_run(run, qrels)
    inclusion = np.full(len(qrels.grades), share)
    inclusion[judged.row[judged.rank <= depth]] = 1.0
    names = [qrels.queries.names[code] for code in qrels.query.tolist()]
    rows = list(zip(names, qrels.documents, qrels.grades.tolist(), strict=True))

    def estimated(taken: Sequence[int], shares: Floats) -> Mapping[str, RecallEstimate]:
        pool: dict[str, dict[str, float]] = {}
        for row in taken:
            pool.setdefault(rows[row][0].decode(), {})[rows[row][1].decode()] = float(shares[row])
        sample = Qrels.of(rows[row] for row in taken).with_inclusion(pool)
        return {"R": relevant(sample), "recall": recall(JudgedRun.of_run(run, sample), cutoff=cutoff)}

    complete = estimated(range(len(rows)), np.ones(len(rows)))
    drawn = []
    for _ in range(sets):
        taken = np.flatnonzero(rng.random(len(rows)) < inclusion).tolist()
        found = estimated(taken, inclusion)
        drawn.append({name: (one.low, one.high) for name, one in found.items()})
    return tally({name: one.value for name, one in complete.items()}, drawn)


def every_correlation(
    folder: str, *, sets: int = CORRELATED_SETS, draws: int = 199, seed: int = 0
) -> list[Row]:
    """Simulate all cells of `correlate` from a folder of data sets.

    `draws` is a fifth of the command's. The folder holds `score-matrices`, `trec-covid-r1`,
    `trec-robust-2003`, `trec-dl-2019-passage` and `trec-dl-2019-machine-labels`.
    """
    tables = read_matrices(os.path.join(folder, "score-matrices")) | read_correlated(folder)
    found: list[Row] = []
    for first, second, runs, queries in CORRELATED:
        facts: Row = {"data": f"{first}, {second.rpartition('_')[2]}", "runs": runs, "queries": queries}
        rows = correlations(
            tables[first], tables[second], runs=runs, queries=queries, sets=sets, draws=draws, seed=seed
        )
        found += [facts | row for row in rows]
    return found


def every_interval(folder: str, *, sets: int = 200, seed: int = 0) -> Iterator[tuple[str, list[Row]]]:
    """Simulate all other cells of the study from a folder of data sets, and return the rows of each command.

    The folder holds `llmjudge-dl23`, `dl19-rejudged-8judges`, `trec-covid-r1` and `trec-robust-2003`.
    """
    data = Path(folder)
    for name, others in JUDGES.items():
        files = {"human": str(data / "llmjudge-dl23" / "human.qrels.txt")} | {
            judge: str(data / "llmjudge-dl23" / "judges" / f"{judge}.qrels.txt") for judge in others
        }
        whole = Judgments.of_judges(read_judges(files))
        facts: Row = {"data": name, "drawn": "queries"}
        yield "agreement", [facts | row for row in agreements(whole, sets=sets, seed=seed)]
    labels = data / "dl19-rejudged-8judges" / "labels.tsv"
    whole = Judgments.of_judges(read_judges([f"{labels}:judge{number}" for number in range(1, 9)]))
    facts = {"data": "eight people", "drawn": "pairs"}
    yield "agreement", [facts | row for row in agreements(whole, sets=sets, pairs=True, seed=seed)]
    for collection, name, depth, share in POOLED:
        qrels = read_qrels(data / collection / "qrels.txt")
        run = read_run(data / collection / "runs" / f"{name}.xz")
        rows = recalls(qrels, run, depth=depth, share=share, cutoff=100, sets=sets, seed=seed)
        facts = {"data": collection, "run": name, "depth": depth, "share": share}
        yield "pool", [facts | row for row in rows]
