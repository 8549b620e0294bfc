"""Size, letters, colours, labels and pair of figures, on every command that draws one."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import pytest
from cycler import cycler

import leadline as ll
from conftest import REPOSITORY, Leadline
from leadline.charts import COLOURS, INK
from leadline.errors import UsageError

EXAMPLES = REPOSITORY / "docs" / "examples"
RUNS = ("qrels.txt", "bm25.run", "dense.run")
COMMANDS = {
    "abtest": ("abtest", "clicks.csv", "--click", "click", "--arm", "arm", "--user", "user"),
    "agreement": ("agreement", "judges.csv"),
    "compare": ("compare", *RUNS),
    "curve": ("curve", *RUNS),
    "difference": ("difference", *RUNS, "--figure", "tree"),
    "histogram": ("histogram", *RUNS, "--config", "test.draws=0"),
}


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where the examples are."""
    monkeypatch.chdir(EXAMPLES)


def size_of(path: Path) -> tuple[float, float]:
    """Return width and height of an SVG in inches."""
    found = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', path.read_text())
    assert found
    return float(found[1]) / 72, float(found[2]) / 72


@pytest.mark.parametrize("name", COMMANDS)
def test_a_figure_has_the_width_the_letters_and_the_colours_of_the_user(
    name: str, leadline: Leadline, tmp_path: Path
) -> None:
    path = tmp_path / "figure.svg"
    asked = (*COMMANDS[name], "-o", path)
    with mpl.rc_context({"figure.figsize": (6, 1)}):
        assert leadline(*asked).status == 0
    assert size_of(path)[0] == pytest.approx(6, abs=0.01)
    assert size_of(path)[1] > 1  # as much as is needed
    plain = path.read_text()
    cycle = cycler(color=["#102030", "0.5"])
    with mpl.rc_context({"figure.figsize": (6, 1), "font.size": 12, "axes.prop_cycle": cycle}):
        assert leadline(*asked).status == 0
    changed = path.read_text()
    assert size_of(path)[0] == pytest.approx(6, abs=0.01)
    scale = r"scale\((0\.\d+) -"
    largest = [max(map(float, re.findall(scale, text))) for text in (plain, changed)]
    assert largest[1] / largest[0] == pytest.approx(12 / 7.5, rel=0.01)
    assert not {*COLOURS} & {*re.findall("#[0-9a-f]{6}", changed)} - {INK}
    leadline(*asked)
    first = path.read_bytes()
    leadline(*asked)
    assert path.read_bytes() == first
    assert size_of(path)[0] < 6


def test_the_pair_can_be_chosen(leadline: Leadline, tmp_path: Path) -> None:
    path, varied = tmp_path / "figure.svg", tmp_path / "varied.run"
    varied.write_text(Path("bm25.run").read_text())
    asked = ("compare", *RUNS, varied, "-o", path, "--figure", "differences")
    leadline(*asked, "--config", "figure.pair=varied,dense")
    assert "AP, varied minus dense" in path.read_text()
    done = leadline(*asked, "--config", "figure.pair=varied,nobody")
    assert (done.status, done.err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "words",
    [
        ("--config", "figure.labels=bm25=x"),
        ("-o", "x.svg", "--config", "figure.labels=nothing"),
        ("--config", "figure.pair=bm25,dense"),
        ("-o", "x.svg", "--figure", "forest", "--config", "figure.pair=bm25,dense"),
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


def test_one_figure_is_written_to_several_files_and_formats(leadline: Leadline, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.svg", "a.pdf", "a.png")]
    asked = [word for path in paths for word in ("-o", path)]
    done = leadline("rank", *RUNS, "--config", "test.draws=0", *asked, "-f", "json")
    assert done.status == 0
    assert [path.read_bytes()[:4] for path in paths] == [b"<?xm", b"%PDF", b"\x89PNG"]
    twice = leadline("rank", *RUNS, "-o", paths[0], "-o", paths[0])
    assert (twice.status, twice.err.count("\n")) == (2, 1)
    mixed = leadline("rank", *RUNS, "-o", tmp_path / "b.svg", "-o", tmp_path / "b.bmp")
    assert mixed.status == 2
    assert not (tmp_path / "b.svg").exists()


def test_runs_have_the_labels_that_were_asked_for(leadline: Leadline, tmp_path: Path) -> None:
    path, table = tmp_path / "figure.svg", tmp_path / "labels.tsv"
    table.write_text("run\ttext\nbm25\tOkapi\nother\tOther\n")
    asked = ("rank", *RUNS, "--config", "test.draws=0", "-o", path)
    assert (
        leadline(
            *asked, "--config", f"figure.labels={table}:text", "--config", "figure.labels=dense=Ours"
        ).status
        == 0
    )
    assert "<!-- Okapi -->" in path.read_text()
    assert "<!-- Ours -->" in path.read_text()
    assert "<!-- bm25 -->" not in path.read_text()
    assert "Did you mean 'bm25'" in leadline(*asked, "--config", "figure.labels=bm52=Okapi").refusal
    assert leadline(*COMMANDS["difference"], "-o", path, "--config", "figure.labels=bm25=Okapi").status == 0
    assert "Okapi" in path.read_text()


def test_labels_in_python() -> None:
    ranking = ll.rank(*RUNS[:1], list(RUNS[1:]), "AP", draws=0)
    figure = ranking.plot(labels={"bm25": "Okapi"})
    assert "Okapi" in [text.get_text() for text in figure.axes[0].get_yticklabels()]
    with pytest.raises(UsageError, match="bm52"):
        ranking.plot(labels={"bm52": "Okapi"})


@pytest.mark.parametrize("figure", ["heat-map", "box", "violin", "line", "means"])
def test_values_of_queries_are_drawn_by_evaluate_and_compare(
    figure: str, leadline: Leadline, tmp_path: Path
) -> None:
    path, other = tmp_path / "figure.svg", tmp_path / "other.svg"
    done = leadline("evaluate", *RUNS, "-m", "AP", "-o", path, "--figure", figure, "-f", "json")
    assert done.data["options"]["figure"] == figure
    drawn = path.read_text()
    assert "<!-- bm25 -->" in drawn
    ll.evaluate(RUNS[0], list(RUNS[1:]), "AP").plot(other, figure=figure)
    assert other.read_text() == drawn
    if figure in ("box", "violin", "line"):
        assert leadline("compare", *RUNS, "-m", "AP", "-o", other, "--figure", figure).status == 0
        assert other.read_text() == drawn


def test_means_are_drawn_with_their_intervals_and_slices_only_where_there_are_some(
    leadline: Leadline, tmp_path: Path
) -> None:
    path = tmp_path / "figure.svg"
    asked = ("evaluate", *RUNS, "-m", "AP", "-o", path, "--figure")
    leadline(*asked, "means", "--intervals")
    assert "95 %" in path.read_text()
    done = leadline(*asked, "slices")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert leadline("evaluate", *RUNS, "--figure", "box").status == 2
