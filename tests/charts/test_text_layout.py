"""Words in figures: names that fit and stay different, labels on even lines."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.charts import shortened, style
from leadline.charts.grid import query_map
from leadline.charts.interval_plots import forest, nested_intervals
from leadline.charts.pair_plots import differences, scatter
from leadline.charts.significance_groups import significance_groups
from leadline.charts.text_layout import narrowed, width_of, wrapped
from whole_pictures import whole


@given(st.lists(st.text("ab", max_size=30), max_size=6), st.integers(7, 24))
def test_names_that_differ_stay_different_and_short(names: list[str], most: int) -> None:
    found = shortened(names, most)
    assert len(found) == len(names)
    assert len(set(found)) == len(set(names))
    assert all(len(name) <= most + len(" (6)") for name in found)


def test_names_whose_ends_are_equal_are_told_by_their_first_difference() -> None:
    names = ["x" * 20 + middle + "x" * 20 for middle in "ab"]
    assert shortened(names, 12) == ["xxxx…axxxxx…", "xxxx…bxxxxx…"]


def test_names_that_cannot_be_told_by_a_part_are_numbered() -> None:
    names = ["".join(("x" * 20, one, "y" * 20, other, "z" * 20)) for one in "ab" for other in "ab"]
    assert [name[-4:] for name in shortened(names, 12)] == ["…(1)", "…(2)", "…(3)", "…(4)"]


def test_a_wide_name_is_shortened_further_than_a_narrow_one() -> None:
    with style():
        found = narrowed(["W" * 30, "i" * 20], 60, size=7, most=24)
        assert width_of(found[0], 7) <= 60
    assert len(found[0]) < 24


def test_the_width_of_text_grows_with_its_letters_and_its_size() -> None:
    with style():
        assert 0 == width_of("", 7) < width_of("a", 7) < width_of("aa", 7) < width_of("aa", 14)


@given(st.text("ab ", max_size=60), st.floats(0, 300))
def test_a_wrapped_label_loses_no_word(text: str, points: float) -> None:
    assert wrapped(text, points).split() == text.split()


@pytest.mark.parametrize(("unit", "offset"), [(1e-10, 0), (1e-5, 0), (1e-4, 0), (1e8, 0), (1e-3, 1e6)])
def test_numbers_of_every_size_lie_over_no_other_text(unit: float, offset: float) -> None:
    means = offset + unit * np.array([5.1, 4.0, 3.2])
    spread = unit * np.array([1.2, 0.9, 0.8])
    names, label = ["a", "b", "c"], "AP, mean (50 queries), 95 % confidence interval of each mean alone"
    figures = [
        forest(names, means, means - spread, means + spread, label=label),
        forest(names, means - means.mean(), means - 2 * means, means, label=label, zero=True),
        significance_groups(names, means, np.zeros((3, 3)), label=label),
        differences(means - means.mean(), first="a", second="b", measure="AP"),
        scatter(means, means[::-1], first="a", second="b", measure="AP"),
    ]
    for figure in figures:
        whole(figure)


@pytest.mark.parametrize("size", [12, 14])
def test_figures_stay_whole_at_the_font_sizes_of_papers_and_slides(size: int) -> None:
    values = np.linspace(-0.4, 0.9, 225)
    names = ["tfidf-cosine", "bm25-titles", "qldirichlet", "bm25-k1_0.9-b_0.4"]
    pair: dict[str, Any] = {"first": names[0], "second": names[1], "measure": "AP"}
    interval = "95 % simultaneous confidence interval"
    words: dict[str, Any] = {"label": "AP per query and run", "order": "hardest on the left"}
    label = "AP, mean (225 queries); bars: no significant difference (T, Holm)"
    with mpl.rc_context({"font.size": size}):
        figures = [
            differences(values, low=0.022, high=0.085, interval=interval, **pair),
            scatter(np.abs(values), values**2, **pair),
            query_map(names, np.tile(values, (4, 1)), limits=(0.0, 1.0), **words),
            significance_groups(names, [0.29, 0.25, 0.28, 0.235], np.zeros((4, 4)), label=label),
        ]
        for figure in figures:
            whole(figure)


def test_a_number_at_the_edge_is_not_cut_off() -> None:
    words, missing = ["estimate", "interval", "bounds", "new", "other"], [(np.nan, np.nan)]
    label = "AP, estimated, no interval for 1 of 1 run"
    options: dict[str, Any] = {"label": label, "words": words, "others": [0.5501812393]}
    whole(nested_intervals([r"$\alpha$ <b>_x_"], [0.5492269655], missing, missing, **options))


def test_names_that_leave_no_room_for_the_scale_make_the_figure_wider() -> None:
    names = ["tfidf-cosine", "bm25-titles"]
    whole(significance_groups(names, [0.2, 0.3], np.zeros((2, 2)), label="AP, mean", width=0.8))
