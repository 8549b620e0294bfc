"""Pictures of values by slice: rows with intervals while they are few, a heat map for many runs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import leadline as ll
from leadline.charts import style
from leadline.comparison.query_slices import slices_of
from whole_pictures import texts

QUERIES = [f"q{query}" for query in range(24)]
KINDS = {query: ("short", "long", "medium")[place % 3] for place, query in enumerate(QUERIES)}


def results(runs: int) -> Any:
    rng = np.random.default_rng(runs)
    rows = [
        {"query": query, "run": f"team{run}-run{run}", "measure": "AP", "value": float(value)}
        for run in range(runs)
        for query, value in zip(QUERIES, rng.beta(1 + run % 5, 3, len(QUERIES)), strict=True)
    ]
    return ll.read_scores(rows)


@pytest.mark.parametrize("runs", [3, 20])
@pytest.mark.parametrize("compared", [False, True])
def test_every_run_and_slice_is_named_and_no_label_lies_over_another(runs: int, compared: bool) -> None:
    table = results(runs)
    source = ll.compare(table, baseline=[table.names[0]]) if compared else table
    figure = slices_of(source, KINDS).plot()
    axes = figure.axes[0]
    rows = [text.get_text() for text in axes.get_yticklabels()]
    pairs = runs - compared
    if 4 * pairs <= 30:
        assert len([row for row in rows if row]) == 4 * pairs
        heads = [text.get_text() for text in axes.texts if text.get_fontweight() == "bold"]
        assert len(heads) == (pairs if compared else 4)
        assert not any("\N{HORIZONTAL ELLIPSIS}" in text for text in [*heads, *rows])
    else:
        assert len(set(rows)) == pairs
        heads = [text.get_text() for text in axes.get_xticklabels()]
        assert heads == ["all (24)", "long (8)", "medium (8)", "short (8)"]
    with style():
        figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.get_yticklabels()]
    assert all(above.y0 > below.y1 - 2 for above, below in pairwise(boxes))
    assert all(text.get_window_extent().x0 > -1 for text in texts(figure))


def test_the_map_shows_the_values_of_the_table_and_marks_what_is_significant() -> None:
    table = results(12)
    slices: Any = slices_of(ll.compare(table, baseline=[table.names[0]]), KINDS)
    axes = slices.plot().axes[0]
    shown: Any = axes.images[0].get_array()
    wanted = sorted(one.difference for one in slices.records if one.slice is None)
    assert np.sort(np.asarray(shown)[:, 0]).tolist() == pytest.approx(wanted)
    bold = sum(text.get_fontweight() == "bold" for text in axes.texts)
    assert bold == sum(one.verdict in ("better", "worse") for one in slices.records) > 0
