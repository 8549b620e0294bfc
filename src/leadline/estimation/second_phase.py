"""Two-phase samples: some of the drawn pairs are judged again by a second judge, whose values are estimated.

With I and J the indicators that a pair is drawn (p) and judged again (q, given I), y and z the grades by the
first and the second judge, the pseudo-grade m + (I / p) (y - m + (J / q) (z - y)) has the expectation z.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeAlias
from zlib import crc32

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.judgment_tables import DrawnPool
from leadline.data.table import ResultWarning
from leadline.data.wording import counted, percent
from leadline.errors import UsageError, either
from leadline.estimation.designs import SMALLEST, Cascade, Kind, Linear, random_numbers_of, scaled
from leadline.estimation.estimators import Sample
from leadline.estimation.samples import PoolLike, judged_part
from leadline.io.objects import read_qrels
from leadline.io.read import QrelsLike
from leadline.measures import Measure

FEWEST_AGAIN = 25  # pairs; with 11, intervals of runs held .83 (docs/howto/machine-labels.md)
Pair: TypeAlias = "tuple[str, str]"


def draw_twice(pool: DrawnPool, number: int) -> DrawnPool:
    """Draw pairs of a pool that are to be judged again, `number` of them on average.

    The probability of a drawn pair is proportional to its importance over its probability in the pool, which
    minimizes the variance that differences of judges cause if these are of one size.

    References
    ----------
    Sarndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, section 9.

    >>> pairs = [f"d{number}" for number in range(4)]
    >>> every, order = np.ones(4, dtype=np.bool_), random_numbers_of([("q", name) for name in pairs], 0)
    >>> whole = DrawnPool(["q"] * 4, pairs, np.ones(4), order, [{}] * 4, every, {"seed": 0})
    >>> draw_twice(whole, 2).probability.tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    drawn = int(pool.drawn.sum())
    seed = pool.design.get("seed")
    if not isinstance(seed, int) or "twice" in pool.design:
        raise UsageError(
            "pairs to judge twice must come from a pool drawn with `leadline pool --for`. Pass that pool "
            "with `--from`."
        )
    if not 1 <= number <= drawn:
        raise UsageError(
            f"cannot draw {counted(number, 'pair')} to judge twice from a sample of "
            f"{counted(drawn, 'pair')}. Choose a number from 1 to {drawn:,}."
        )
    part = pool.part(pool.drawn)
    names = part.names()
    first = random_numbers_of(names, seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        importance = np.where(part.order > 0, first / part.order, np.nan)
    importance = np.where(np.isfinite(importance), importance, np.nanmax(importance, initial=1e-9))
    probability, scale = scaled(importance / part.probability, float(number))
    if probability.min() < SMALLEST:
        least = min(int(np.ceil(number * SMALLEST / probability.min())), drawn)
        raise UsageError(
            f"a sample of {counted(number, 'pair')} is too small for a second judge. Draw at least {least:,}."
        )
    seed = crc32(f"twice {seed}".encode())
    order = random_numbers_of(names, seed) / (probability / scale)
    design = {"twice": number, "seed": seed, "scale": scale}
    return replace(part, probability=probability, order=order, drawn=order < scale, design=design)


def judged_again(
    second: QrelsLike,
    pool: PoolLike | None,
    first: set[Pair],
    warnings: list[ResultWarning],
    selected: Collection[str] | None = None,
) -> dict[Pair, tuple[float, float]]:
    """Return probability and grade of every pair of the second judge; `first` are those of the first.

    Where queries are selected, only their pairs are returned.
    """
    table = read_qrels(second, kind="qrels")
    if not any(grade >= 0 for grade in table.grades.tolist()):
        raise UsageError(
            "the second judge made no judgments. Pass judgments of a pool from `leadline pool --twice`."
        )
    if table.by_machine:
        raise UsageError(
            "judgments by an automatic judge cannot correct those of the first judge. Pass human judgments "
            "with `--config read.second_judge=QRELS`."
        )
    found, gaps = judged_part(table, pool, warnings)
    if gaps:
        raise UsageError(
            f"the second judge skipped {counted(gaps, 'pair')} of the second pool (the column "
            "`order` gives the judging order). Have the skipped pairs judged, or pass the pool that the "
            "second judge was given."
        )
    if selected is not None:
        found = {pair: given for pair, given in found.items() if pair[0] in selected}
    certain = bool(found) and all(chance == 1 for chance, _ in found.values())
    if len(found) < FEWEST_AGAIN and not certain:
        raise UsageError(
            f"intervals need at least {FEWEST_AGAIN} pairs with a second judgment, not {len(found)}"
        )
    if certain:
        lacking = len(first - found.keys())
        if lacking:
            raise UsageError(
                f"the second judge did not judge {counted(lacking, 'pair')} that the first judge judged, so "
                "leadline needs the inclusion probabilities of the second judge's pairs. Pass the pool from "
                "`leadline pool --twice` with `--config read.second_pool=POOL`, or add a column "
                "`probability` to the second judge's judgments."
            )
    return found


def check_kinds(measures: Sequence[Measure], kinds: Sequence[Kind], twice: object) -> None:
    """Refuse measures whose divisor depends on grades that only one judge gave."""
    wrong = [
        str(one) for one, kind in zip(measures, kinds, strict=True) if not isinstance(kind, (Linear, Cascade))
    ]
    if twice and wrong:
        raise UsageError(
            f"{either(wrong, 'and')} cannot be estimated with a second judge. Use P, CG, DCG, RBP, RR, "
            "Success or ERR."
        )


def chances(sample: Sample) -> Floats:
    """Return the probability of each error term: of the drawn pairs, then of those that were judged again."""
    rows, chance, _ = sample.twice
    return np.concatenate([sample.probability[sample.drawn], sample.probability[rows] * chance])


def judge_warning(sample: Sample, judgments: int) -> ResultWarning:
    """Return whose values the estimates are."""
    rows, _, grades = sample.twice
    if not len(rows):
        words = "values reflect these judgments, and another judge's values may differ by far more than the "
        return ResultWarning("one_judge", words + "intervals suggest", judgments)
    other = int((sample.table.grades[rows] != grades).sum())
    words = (
        f"values estimate those of the second judge, who judged {len(rows):,} of "
        f"{counted(judgments, 'pair')} again ({percent(round(other / len(rows), 3))} with a different grade)"
    )
    return ResultWarning("second_judge", words, len(rows))
