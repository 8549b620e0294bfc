"""What clicks say of a document beyond its position: no judgments, and never to be read as such."""

from __future__ import annotations

import math
import os
from typing import NamedTuple

import numpy as np

from leadline.errors import InputError
from leadline.online.logs import Columns, log_rows


class Deviation(NamedTuple):
    """How much more (or less) a document was clicked than others at its positions, a row it was shown.

    `deviation` is (clicks - expected) / shown; `z` is clicks - expected over its standard deviation under
    the clickthrough of the positions alone, NaN where that is 0.
    """

    query: str
    document: str
    deviation: float
    shown: int
    clicks: int
    expected: float
    z: float


def click_deviations(
    path: str | os.PathLike[str], *, document: str, position: str, click: str, query: str | None = None
) -> list[Deviation]:  # fmt: skip
    """Compare the clicks of every document (of a query) with the clickthrough of its positions in the log.

    Rows are results that were shown. Users click what stands first, so that clicks alone repeat the ranking;
    the deviation from what the position gets takes that off. The largest deviation comes first.

    Source: Agichtein, Brill and Dumais 2006 (deviation of clicks from the expected at a position).
    """
    place = os.fspath(path)
    # a document stands where a log of two arms has the arm, and a query where it has the user
    rows = list(log_rows(place, Columns(click=click, arm=document, user=query, position=position)))
    at = np.array([row.position for row in rows])
    if np.isnan(at).any():
        number = int(np.flatnonzero(np.isnan(at))[0]) + 1
        raise InputError(
            f"row {number} has no position", expected="in every row where the result was shown", path=place
        )  # fmt: skip
    _, where = np.unique(at, return_inverse=True)
    clicked = np.array([min(row.click, 1.0) for row in rows])
    rates = (np.bincount(where, weights=clicked) / np.bincount(where))[where]
    pairs: dict[tuple[str, str], int] = {}
    which = np.array([pairs.setdefault((row.user, row.arm), len(pairs)) for row in rows])
    shown, clicks, expected, spread = (
        np.bincount(which, weights=values).tolist()
        for values in (np.ones(len(at)), clicked, rates, rates * (1 - rates))
    )
    found = [
        Deviation(
            *pair, (clicks[row] - expected[row]) / shown[row], int(shown[row]), int(clicks[row]),
            expected[row],
            (clicks[row] - expected[row]) / math.sqrt(spread[row]) if spread[row] > 0 else math.nan,
        )
        for pair, row in pairs.items()
    ]  # fmt: skip
    return sorted(found, key=lambda one: (one.query, -one.deviation, one.document))
