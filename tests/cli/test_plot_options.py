"""Size, letters, title and pair of figures, on every command that draws one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import REPOSITORY, Leadline

EXAMPLES = REPOSITORY / "docs" / "examples"
RUNS = ("qrels.txt", "bm25.run", "dense.run")
COMMANDS = {
    "abtest": ("abtest", "clicks.csv", "--click", "click", "--arm", "arm", "--user", "user"),
    "agreement": ("agreement", "judges.csv"),
    "compare": ("compare", *RUNS),
    "curve": ("curve", *RUNS),
    "difference": ("difference", *RUNS, "--figure", "tree"),
    "histogram": ("histogram", *RUNS, "--draws", "0"),
}


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where the examples are."""
    monkeypatch.chdir(EXAMPLES)


def size_of(path: Path) -> tuple[float, float]:
    """Give width and height of an SVG in inches."""
    found = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', path.read_text())
    assert found
    return float(found[1]) / 72, float(found[2]) / 72


@pytest.mark.parametrize("name", COMMANDS)
def test_a_figure_has_the_size_the_title_and_the_letters_that_were_asked_for(
    name: str, leadline: Leadline, tmp_path: Path
) -> None:
    path = tmp_path / "figure.svg"
    asked = (*COMMANDS[name], "--plot", path, "--plot-size", "6,5")
    assert leadline(*asked).status == 0
    assert size_of(path) == pytest.approx((6, 5), abs=0.01)
    plain = path.read_text()
    done = leadline(*asked, "--title", "What it shows", "-f", "json")
    assert size_of(path) == pytest.approx((6, 5), abs=0.01)
    assert "What it shows" in path.read_text()  # matplotlib names outlined text in a comment
    assert "What it shows" not in plain
    options = done.data["options"]
    assert (options["plot_size"], options["title"]) == ([6.0, 5.0], "What it shows")
    assert leadline(*asked, "--font-size", "12").status == 0
    assert size_of(path) == pytest.approx((6, 5), abs=0.01)
    scale = r"scale\((0\.\d+) -"
    largest = [max(map(float, re.findall(scale, text))) for text in (plain, path.read_text())]
    assert largest[1] / largest[0] == pytest.approx(12 / 7.5, rel=0.01)


def test_without_options_nothing_is_left_of_earlier_ones(leadline: Leadline, tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    leadline(*COMMANDS["compare"], "--plot", path)
    first = path.read_bytes()
    leadline(*COMMANDS["compare"], "--plot", path, "--font-size", "20", "--title", "x")
    leadline(*COMMANDS["compare"], "--plot", path)
    assert path.read_bytes() == first


def test_the_pair_can_be_chosen(leadline: Leadline, tmp_path: Path) -> None:
    path, varied = tmp_path / "figure.svg", tmp_path / "varied.run"
    varied.write_text(Path("bm25.run").read_text())
    asked = ("compare", *RUNS, varied, "--plot", path, "--figure", "differences")
    leadline(*asked, "--plot-pair", "varied", "dense")
    assert "AP, dense minus varied" in path.read_text()
    done = leadline(*asked, "--plot-pair", "varied", "nobody")
    assert (done.status, done.err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "words",
    [
        ("--plot-size", "5,4"),
        ("--font-size", "9"),
        ("--title", "x"),
        ("--plot-pair", "bm25", "dense"),
        ("--plot", "x.svg", "--plot-size", "wide"),
        ("--plot", "x.svg", "--plot-size", "5,4,3"),
        ("--plot", "x.svg", "--plot-size", "0.1"),
        ("--plot", "x.svg", "--plot-size", "inf"),
        ("--plot", "x.svg", "--font-size", "1"),
        ("--plot", "x.svg", "--figure", "forest", "--plot-pair", "bm25", "dense"),
    ],
    ids=" ".join,
)
def test_bad_usage_is_one_line_and_draws_nothing(
    words: tuple[str, ...], leadline: Leadline, tmp_path: Path
) -> None:
    words = tuple(str(tmp_path / word) if word == "x.svg" else word for word in words)
    done = leadline("compare", *RUNS, *words)
    assert (done.status, done.err.count("\n"), done.out) == (2, 1, "")
    assert list(tmp_path.iterdir()) == []
