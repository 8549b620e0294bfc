"""Measure the coverage of intervals where judging stops at a given half-width.

    python benchmarks/stopping.py QRELS RUN... [--measure P@10] [--level 2] [--budget 40] [--draws 200]
        [--widths 0.08,0.06,0.05] [--machine LABELS]

A pool is drawn `--draws` times as `leadline pool --for MEASURE --budget` draws it, with another seed each
time, and judged in its order with the grades of QRELS (unjudged documents are not relevant). At fixed looks,
at equal numbers of judgments, the largest half-width over the runs is computed as by `leadline judge
--stop-when`; judging stops at the first look at which it is below the width. Coverage is that of the 95 %
intervals of all runs at that look; the truth is the mean under QRELS. In rows with 0 looks the number of
judgments was fixed, near the mean number of the row above.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from leadline import read_qrels
from leadline.data.reading import Reading
from leadline.estimation.designs import at_scale, kind_of, random_numbers_of
from leadline.estimation.estimators import Estimator
from leadline.estimation.pool_designs import pool_for
from leadline.estimation.samples import evidence_of
from leadline.estimation.sampling_errors import FEWEST_JUDGMENTS, half_width
from leadline.evaluation.join import judge_runs
from leadline.evaluation.profiles import profile_of

CONFIDENCE = 0.95
POINTS = 40  # looks at most
LOOKS = (40, 20, 10, 5)


def main() -> None:
    """Print a table of coverage by width and number of looks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("qrels")
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--measure", default="P@10")
    parser.add_argument("--level", type=float, default=2.0)
    parser.add_argument("--budget", type=float, default=40.0)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--widths", default="0.08,0.06,0.05")
    parser.add_argument("--machine")
    given = parser.parse_args()
    truth = read_qrels(given.qrels).to_dict()
    measure = profile_of("leadline").measures([given.measure], rel=given.level, documents=None)[0]
    kind = kind_of(measure)
    pool = pool_for(given.runs, given.measure, budget=given.budget, rel=given.level).pool
    pairs = list(zip(pool.queries, pool.documents, strict=True))
    share = random_numbers_of(pairs, 0) / pool.order  # the unscaled probabilities, the same for every seed
    grades = {(query, document): float(truth.get(query, {}).get(document, 0)) for query, document in pairs}
    judged: dict[str, dict[str, float]] = {}
    for (query, document), grade in grades.items():
        judged.setdefault(query, {})[document] = max(grade, 0.0)
    everything = replace(pool, drawn=np.ones(len(pairs), dtype=np.bool_))
    whole = evidence_of(
        judged, everything, given.machine, None if given.machine else "centred", skipped=False, seed=0
    ).sample
    names = list(whole.table.queries)
    place = {
        (names[query], document.decode()): row
        for row, (query, document) in enumerate(
            zip(whole.table.query.tolist(), whole.table.documents, strict=True)
        )
    }
    _, joined = judge_runs(given.runs, whole.table, lambda one: one, reading=Reading())
    true = np.array([float(np.nan_to_num(measure.values(one)).mean()) for one in joined])
    size = round(given.budget * len(names))
    points = [size * step // POINTS for step in range(1, POINTS + 1)]
    errors = np.full((given.draws, len(points), len(joined)), np.nan)
    halves = errors.copy()
    rows = np.array([place[pair] for pair in pairs])
    for number in range(given.draws):
        numbers = random_numbers_of(pairs, number)
        order = numbers / share
        ordered = np.sort(order)
        for step, count in enumerate(points):
            if count < FEWEST_JUDGMENTS:
                continue
            end = ordered[count]  # the first pair that is not judged
            probability, drawn = (
                np.zeros(len(whole.probability)),
                np.zeros(len(whole.probability), dtype=np.bool_),
            )
            probability[rows] = at_scale(pool.probability, order, numbers, end)
            drawn[rows] = order < end
            estimator = Estimator(replace(whole, probability=probability, judged=drawn), kind)
            parts = [estimator.of(one) for one in joined]
            errors[number, step] = [float(np.nan_to_num(part.values).mean()) for part in parts] - true
            sampled = probability[drawn & (probability < 1)]
            halves[number, step] = [
                half_width(part.errors, part.replicates, sampled, CONFIDENCE, part.predicted[1])
                for part in parts
            ]
    widest = halves.max(axis=2)
    print("width\tlooks\tstopped\tjudgments\tcoverage\tlowest run\tbias")
    for width in map(float, given.widths.split(",")):
        for looks in (*LOOKS, 0):
            chosen = np.arange(POINTS // looks - 1, POINTS, POINTS // looks) if looks else np.array([])
            if looks:
                below = widest[:, chosen] < width
                first = np.where(below.any(axis=1), below.argmax(axis=1), len(chosen) - 1)
                at = chosen[first]
                stopped = float(below.any(axis=1).mean())
                mean = float(np.array(points)[at].mean())
            else:
                at = np.full(given.draws, int(np.abs(np.array(points) - mean).argmin()))
                stopped = 1.0
            each = np.arange(given.draws)
            error, half = errors[each, at], halves[each, at]
            held = np.abs(error) <= half
            used = float(np.array(points)[at].mean())
            print(
                f"{width:g}\t{looks}\t{stopped:.2f}\t{used:.0f}\t{held.mean():.3f}\t"
                f"{held.mean(axis=0).min():.3f}\t{error.mean():+.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
