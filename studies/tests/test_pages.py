"""The pages of the studies hold the numbers that were kept, and so do the guides that quote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline_studies import __main__ as program
from leadline_studies import folders_with
from leadline_studies.common import pages
from leadline_studies.common.pages import (
    PAGES,
    fill,
    number,
    page_of,
    page_text,
    pick,
    read_numbers,
    span,
    wrapped,
)
from leadline_studies.estimate import page as estimate
from leadline_studies.proxies import page as proxies

WRITERS = {folder: page_of(folder) for folder in folders_with("page")}


@pytest.mark.parametrize("folder", WRITERS)
def test_a_page_holds_the_numbers_that_were_kept(folder: str) -> None:
    name = WRITERS[folder].NAME
    assert page_text(folder, read_numbers(name)) == (PAGES / f"{name}.md").read_text(encoding="utf-8")


def test_a_page_is_called_like_its_numbers_and_is_in_the_index() -> None:
    names = {path.stem for path in PAGES.glob("*.md")} - {"README", "seeds"}  # which docs/seeds.py makes
    assert (
        {writer.NAME for writer in WRITERS.values()} == names == {path.stem for path in PAGES.glob("*.json")}
    )
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    assert [name for name in names if f"]({name}.md)" not in index] == []


def test_the_pages_of_all_studies_are_short() -> None:
    words = {path.stem: len(path.read_text(encoding="utf-8").split()) for path in PAGES.glob("*.md")}
    del words["seeds"]
    assert sum(words.values()) <= 15_000
    assert max(words.values()) <= 1_500


def test_templates_write_ranges_signs_and_gaps() -> None:
    assert [number(value, "+.2f") for value in (None, -0.001, 0.5)] == ["-", "0.00", "+0.50"]
    assert span([0.3, None, 0.1], ".1f") == "0.1 to 0.3"
    assert fill(
        "{{ x | interval }} {{ y | percents }}", {"x": {"value": 1, "low": 0, "high": 2}, "y": [0.5]}
    ) == ("1.00 [0.00, 2.00] 50.0 to 50.0 %")
    assert wrapped("- a\n  b\n- c\n\n| x |\n| - |\n") == "- a b\n- c\n\n| x |\n| - |\n"


def test_pages_are_refused_outside_a_checkout_before_any_study_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PAGES", tmp_path / "docs")
    with pytest.raises(SystemExit, match="in a clone"):
        pages.collect_numbers("components", tmp_path, tmp_path)
    with pytest.raises(SystemExit, match="in a clone"):
        pages.read_numbers("components")
    with pytest.raises(SystemExit, match="there is no page 'components2'"):
        program.main("components2")


def test_commands_run_in_their_folder_and_are_read_back(tmp_path: Path) -> None:
    (tmp_path / "set" / "runs").mkdir(parents=True)
    (tmp_path / "set" / "qrels.txt").write_text("q 0 a 1\nq 0 b 0\nq 0 c 1\n")
    for name, order in {"x-1": "abc", "x-2": "bac", "y-1": "cab", "y-2": "cba"}.items():
        rows = [f"q Q0 {letter} 1 {-rank} t\n" for rank, letter in enumerate(order)]
        (tmp_path / "set" / "runs" / f"{name}.run").write_text("".join(rows))
    commands = {"one": ("set", "difference-models qrels.txt runs/*")}
    result = pages.run_all(commands, tmp_path / "out", tmp_path)["one"]
    assert result["inputs"] == ["qrels.txt", "x-1.run", "x-2.run", "y-1.run", "y-2.run"]
    assert sorted(result["families"]) == ["x-*", "y-*"]
    (tmp_path / "set" / "qrels.txt").unlink()  # what was run is not run again
    assert pages.run_all(commands, tmp_path / "out", tmp_path)["one"] == result


def test_the_guide_to_estimates_quotes_the_kept_numbers() -> None:
    guide, pooling = (
        (PAGES.parent / f"{name}.md").read_text(encoding="utf-8") for name in ("estimate", "judging")
    )
    kept = read_numbers("estimate")
    facts = estimate.facts(kept)
    plain, machine = facts["at"]["P", "centred"], facts["at"]["P", "llama70b-criteria"]
    held = (
        f"{words} " + span((one[f"coverage_{group}"] for one in facts["sums"]), ".3f").replace("0.", ".")
        for group, words in (("pooled", "pooled runs"), ("new", "later runs"), ("pairs", "differences"))
    )
    decided = [f"{one['decided_pairs']:.0%}, {one['wrong_pairs']:.1%}" for one in (plain, machine)]
    lines = [
        ", ".join(held),
        f"{plain['bias_pooled']:+.3f} for pooled runs, {plain['bias_new']:+.3f} for later ones",
        f"{decided[0]} (with LLM labels {decided[1]})".replace("%", " %"),
        f"{plain['tau']:.2f} (with LLM labels {machine['tau']:.2f})".replace("0.", "."),
    ]
    assert [line for line in lines if line not in guide] == []
    rivals = pick(kept["rivals"], set=estimate.PASSAGES, measure="P", budget=20)
    centred = pick(kept["cells"], set=estimate.PASSAGES, measure="P", budget=20, proxy="centred")
    for one in [rival for rival in rivals if f"{rival['tau']:.2f}" in pooling] + centred:
        figures = (f"{abs(one['bias_pooled']):.3f}", f"{abs(one['bias_new']):.3f}", f"{one['tau']:.2f}")
        assert [figure for figure in figures if figure not in pooling] == []


def test_the_figure_of_proxies_has_every_proxy_and_set_at_its_width() -> None:
    kept = read_numbers("proxies")
    (figure,) = proxies.figures(kept).values()
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == list(proxies.PROXIES)
    points = [value for line in axes.lines if len(line.get_xdata()) > 2 for value in line.get_xdata()]
    cells = [cell for name in kept for cell in proxies.cells_of(kept, name).values()]
    assert sorted(points) == sorted(cell["ratio"] for cell in cells if cell["proxy"] in proxies.PROXIES)
