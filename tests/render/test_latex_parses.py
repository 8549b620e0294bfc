"""The LaTeX that comes out is LaTeX: a parser reads it without a complaint."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.comparison.compare import compare
from leadline.data.table import Table
from leadline.evaluation.evaluate import evaluate
from leadline.render import render

NASTY = ["a_b", "50%", "R&D", "$x$", "#1", "{curly}", "~", "^", "back\\slash", "é Ω"]


def environments(text: str) -> list[str]:
    """Parse strictly; give the names of the environments."""
    walker = pytest.importorskip("pylatexenc.latexwalker", reason="pylatexenc is not installed")
    nodes, _, length = walker.LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    assert length == len(text)
    return [node.environmentname for node in nodes if isinstance(node, walker.LatexEnvironmentNode)]


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.endswith(r" \\")]


def test_odd_names_and_marks_parse_and_keep_the_columns() -> None:
    sheet = Table(["run", "AP", "nDCG@10"], [[name, 0.5, None] for name in NASTY], best={(0, 1)})
    text = render(sheet, "latex")
    assert environments(text) == ["tabular"]
    assert len(rows(text)) == len(NASTY) + 1
    assert all(row.replace(r"\&", "").count("&") == 2 for row in rows(text))
    assert r"\textbf{0.5000}" in text


def test_real_results_parse(shared_data: Path) -> None:
    folder = shared_data / "trec-robust-2003"
    runs = sorted(map(str, (folder / "runs").iterdir()))[:5]
    results = evaluate(str(folder / "qrels.txt"), runs)
    assert environments(results.to_latex()) == ["tabular"]


def test_comparisons_are_floats_with_the_test_in_the_caption() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    good, bad = ({query: {"a": score, "b": 1.0} for query in qrels} for score in (2.0, 0.5))
    text = compare(qrels, {"x_1": bad, "y": good}, "RR").to_latex()
    assert environments(text) == ["table"]
    assert r"\caption{" in text
    assert "paired t-test, alpha = 0.05" in text
    assert "System" in text


def test_results_become_arrow() -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP").to_arrow(per_query=True)
    assert table.to_pydict() == {"run": ["run"], "query": ["q"], "measure": ["AP"], "value": [1.0]}
