"""What each form of presentation costs the judges of a store, per query."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np

from leadline.data.averages import NamedMeasure
from leadline.data.ids import Vocabulary
from leadline.data.records import RunInfo
from leadline.evaluation.results import Results
from leadline.io import judgment_store
from leadline.io.judgment_store import Given

MEASURES = (
    NamedMeasure("seconds", rising=False, low=0),
    NamedMeasure("opened", rising=False, low=0, high=1),
    NamedMeasure("agreement", low=0, high=1),
)


def forms_of(store: str) -> Results | None:
    """Return values of queries with the forms of presentation as runs; None with fewer than two forms.

    `seconds` is the median time per judgment, `opened` the share of judgments for which the full text was on
    the screen, `agreement` the share of other judges of the same pair, who may have seen it in any form, with
    the same grade. A mean is over the queries that were judged in every form.
    """
    rows = judgment_store.read(store).given
    cells: dict[tuple[str, str], list[Given]] = {}
    grades: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        grades.setdefault(row.judgment[:2], []).append(row.judgment.grade)
        if row.form:
            cells.setdefault((row.form, row.judgment.query), []).append(row)
    forms = sorted({form for form, _ in cells})
    queries = Vocabulary.of_bytes(dict.fromkeys(row.judgment.query.encode() for row in rows))
    if len(forms) < 2:
        return None
    values = np.array(
        [[_values(cells.get((form, query), ()), grades) for query in queries] for form in forms]
    )
    given = ~np.isnan(values).any(axis=0)
    kept = [index for index in range(len(MEASURES)) if given[:, index].any()]
    averaged = np.broadcast_to(given[:, kept], (len(forms), len(queries), len(kept)))
    return Results(
        list(map(RunInfo, forms)),
        queries,
        [MEASURES[index] for index in kept],
        np.nan_to_num(values[:, :, kept]),
        averaged.copy(),
    )


def _values(rows: Sequence[Given], grades: dict[tuple[str, str], list[float]]) -> list[float]:
    """Return seconds, opened and agreement of the judgments in one form for one query; NaN without any."""
    seconds = [row.seconds for row in rows if row.seconds is not None]
    same = others = 0
    for row in rows:
        given = grades[row.judgment[:2]]
        same += given.count(row.judgment.grade) - 1
        others += len(given) - 1
    return [
        statistics.median(seconds) if seconds else np.nan,
        sum(row.opened for row in rows) / len(rows) if rows else np.nan,
        same / others if others else np.nan,
    ]
