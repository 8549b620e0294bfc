"""The page of peers says what a run of them beside us says now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from leadline.io.objects import read_qrels, read_run


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the peers warn of their own habits
def test_the_page_of_peers_is_what_was_measured() -> None:
    for name in ("pytrec_eval", "ir_measures", "cwl", "pyndeval"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    from peer_table import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.slow
def test_nothing_differs_without_a_reason() -> None:
    from peer_table import PAGE

    items = re.findall(r"^- \*\*(.*?)\*\*: (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    measures = [re.findall(r"`[^`]+`(?: \(`[^`]+`\))?", text) for _, text in items]
    assert sum(map(len, measures)) > 70
    for found, text in items:
        assert found not in {"different", ""}, text
        assert found.startswith("equal") or "; " in text, text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["trec-covid-r1", "trec-dl-2019-passage"])
def test_every_measure_equals_pytrec_eval_on_real_runs(name: str, shared_data: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    from peer_table import LOGARITHMS, TEXTS, by_pytrec_eval, compared

    judged = read_qrels(str(shared_data / name / "qrels.txt")).to_dict()
    qrels = {query: {d: int(g) for d, g in grades.items()} for query, grades in judged.items()}
    for path in sorted((shared_data / name / "runs").iterdir())[::20]:
        run = read_run(str(path)).to_dict()
        for measure in sorted(pytrec_eval.supported_measures - TEXTS - set(LOGARITHMS)):
            assert compared(by_pytrec_eval(measure), measure, [(qrels, run)], "trec9"), (path, measure)
