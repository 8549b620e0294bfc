"""What all pictures share: forms, the same bytes, nothing left behind, reading in grey."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from conftest import Leadline
from leadline import charts
from leadline.charts import FORMS, LINE_STYLES, _family_with, form_of, picture, shortened, style, text_layout
from leadline.charts.grid import query_map
from leadline.charts.interval_plots import forest
from leadline.charts.line_plots import recall_precision
from leadline.charts.pair_plots import differences
from leadline.charts.significance_groups import significance_groups
from leadline.errors import UsageError
from leadline.pages import colors_of_page, inline


@pytest.mark.parametrize("path", ["x.jpg", "x", ".svg", "x.svg.gz"])
def test_a_bad_ending_is_refused_with_the_good_ones(path: str) -> None:
    with pytest.raises(UsageError, match=r"must end in \.svg, \.pdf or \.png"):
        form_of(path)


def test_no_state_is_left_behind() -> None:
    before = dict(mpl.rcParams)
    with style():
        assert mpl.rcParams["svg.hashsalt"] == "leadline"
    picture(recall_precision(["a"], [0.0, 1.0], [[1.0, 0.5]]), "svg")
    assert dict(mpl.rcParams) == before


def test_a_dark_style_of_the_user_is_that_of_everything_that_is_drawn() -> None:
    values = [0.2, -0.1, 0.3]
    with mpl.style.context("dark_background"), mpl.rc_context({"savefig.facecolor": "#123456"}):
        figures = [
            forest(["a", "b", "c"], values, [-1, -1, -1], [1, 1, 1], label="AP", reference=0),
            differences(values, first="a", second="b", measure="AP"),
            significance_groups(["a", "b", "c"], values, [[False] * 3] * 3, label="AP, mean"),
        ]
        for figure in figures:
            drawn = picture(figure, "svg").decode()
            assert "fill: #123456" in drawn
            assert charts.INK not in drawn


def test_a_page_has_its_own_colors_whatever_those_of_the_user_are() -> None:
    drawn = []
    for name in ("default", "dark_background"):
        with (
            mpl.style.context(name),
            mpl.rc_context({"axes.prop_cycle": mpl.rcParamsDefault["axes.prop_cycle"]}),
            colors_of_page(),
        ):
            figure = forest(["a", "b"], [0.1, 0.2], [0, 0], [1, 1], label="AP", reference=0)
            drawn.append(inline(figure, "forest", "AP"))
    assert drawn[0] == drawn[1]


def test_no_lines_of_the_style_of_the_user_cross_a_map() -> None:
    with mpl.style.context("ggplot"):
        figure = query_map(["a"], np.array([[0.1, 0.2]]), limits=(0.0, 1.0), order="", label="AP")
    assert not any(line.get_visible() for line in figure.axes[0].get_xgridlines())


@pytest.mark.parametrize("form", FORMS)
def test_a_picture_has_no_date_and_the_same_figure_gives_the_same_bytes(form: str) -> None:
    drawn, again = (picture(recall_precision(["a"], [0.0, 1.0], [[1.0, 0.5]]), form) for _ in range(2))
    assert drawn == again
    assert not any(word in drawn for word in (b"dc:date", b"CreationDate", b"Software"))


def test_every_look_differs_in_more_than_colour() -> None:
    assert len({look.marker for look in LINE_STYLES}) == len(LINE_STYLES)
    assert all(one.dashes != other.dashes for one, other in pairwise(LINE_STYLES))


def test_every_look_is_seen_on_white_paper_in_grey() -> None:
    for look in LINE_STYLES:
        red, green, blue = to_rgb(look.color)
        assert 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.72, look


def test_names_stay_different_when_they_are_shortened() -> None:
    assert shortened(["a" * 30 + "1", "a" * 30 + "2"], 11) == ["aaaaa…aaaa1", "aaaaa…aaaa2"]
    equal = ["a" * 20 + middle + "a" * 20 for middle in "xy"]
    found = shortened(equal, 11)
    assert len(set(found)) == len(equal)
    assert max(map(len, found)) <= 11


@pytest.mark.filterwarnings("ignore:no installed font has")
@pytest.mark.parametrize("name", ["_hidden", "$x_1$", "50%", "日本語", "a<b&c", "x" * 90, ""])
def test_any_run_name_is_drawn_as_it_is(name: str) -> None:
    figure = recall_precision([name, "other"], [0.0, 1.0], [[1.0, 0.5], [0.5, 0.2]])
    assert picture(figure, "svg")
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[0] == (name if len(name) < 90 else shortened([name], 44)[0])


def test_letters_that_no_font_has_are_named(
    leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "_family_with", lambda _: None)
    figure = forest(["検", "bm25"], [0.1, 0.2], [0.0, 0.1], [0.2, 0.3], label="AP")
    with pytest.warns(UserWarning, match="no installed font has 検, so the figure shows boxes"):
        picture(figure, "png")
    table = tmp_path / "values.csv"
    table.write_text("run,query,measure,value\n検,q,AP,0.5\nbm25,q,AP,0.5\n", encoding="utf-8")
    done = leadline("show", table, "-o", tmp_path / "map.svg", "-o", tmp_path / "map.pdf")
    assert done.err.count("leadline: no installed font has") == 1


def test_letters_that_the_font_lacks_are_taken_from_an_installed_one() -> None:
    assert _family_with(ord("a")) is not None
    family = _family_with(ord("検"))
    if family is None:
        pytest.skip("no installed font has this letter")
    figure = forest(["検索", "bm25"], [0.1, 0.2], [0.0, 0.1], [0.2, 0.3], label="AP")
    picture(figure, "png")
    found = {text.get_text(): text.get_fontfamily() for text in figure.findobj(Text)}
    assert found["検索"] == ["DejaVu Sans", family]
    assert family not in found["bm25"]
    assert "Last Resort" not in family
    with style():
        assert text_layout.width_of("検索", 7) == pytest.approx(2 * 7, rel=0.01)
