"""Relevance files of SMART collections, typed in the layouts of the originals."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Leadline
from leadline.errors import InputError
from leadline.evaluation.evaluate import evaluate
from leadline.io.check import check
from leadline.io.objects import read_qrels, read_run
from leadline.io.texts import read_queries

CISI = """\
     1     28  0\t0.000000
     1     35  0\t0.000000
     2     29  0\t0.000000
"""
CACM = """\
01 1410  0 0
01 1572  0 0
10 0046  0 0
"""
CRANFIELD = """\
1 184 2
1 29 1
1 31 3
1 51 4
1 486 -1
2 12 3
2 15 5
"""
TIME = """\
1  268 288 304 308

2  326 334
3  326 350 364 385
"""
MED = """\
1 0 13 1
1 0 14 1
2 0 80 1
"""
FILES = {
    "CISI.REL": (CISI, {"1": {"28": 1, "35": 1}, "2": {"29": 1}}),
    "qrels.text": (CACM, {"1": {"1410": 1, "1572": 1}, "10": {"46": 1}}),
    "cranqrel": (CRANFIELD, {"1": {"184": 3, "29": 4, "31": 2, "51": 1, "486": 0}, "2": {"12": 2, "15": 0}}),
    "TIME.REL": (
        TIME,
        {
            "1": dict.fromkeys(["268", "288", "304", "308"], 1),
            "2": dict.fromkeys(["326", "334"], 1),
            "3": dict.fromkeys(["326", "350", "364", "385"], 1),
        },
    ),
    "MED.REL": (MED, {"1": {"13": 1, "14": 1}, "2": {"80": 1}}),
}


@pytest.fixture(params=FILES)
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of a relevance file."""
    return str(request.param)


def test_relevance_is_read(tmp_path: Path, name: str) -> None:
    text, expected = FILES[name]
    (tmp_path / name).write_text(text)
    found = read_qrels(tmp_path / name)
    assert found.to_dict() == expected
    assert [code for code, _, _ in found.remarks] == ([] if name == "MED.REL" else ["smart_relevance"])
    assert evaluate(found, expected, "AP").mean("run", "AP") == 1
    assert not check(str(tmp_path / name)).problems


def test_relevance_from_a_pipe(leadline: Leadline, tmp_path: Path, name: str) -> None:
    text, expected = FILES[name]
    assert leadline("convert", "-", tmp_path / "qrels.json", stdin=text.encode()).status == 0
    assert read_qrels(tmp_path / "qrels.json").to_dict() == expected


def test_relevance_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "CISI.REL").write_text(CISI)
    with pytest.raises(InputError, match="not a run"):
        read_run(tmp_path / "CISI.REL")


@pytest.mark.parametrize(
    "text",
    [
        "1 28 1 0\n1 35 0 0\n",  # query, document, grade, iteration
        "1 184 1\n1 29 2\n1 31 3\n",  # ranks
        "1\t184\t2\n1\t29\t2\n",  # a table without a header: grades or ranks
        "1 0 13 1\n2 0 14\n",  # TREC with a line cut short
        "1 268 288 304\n2 326 334 350\n",  # equally many columns
    ],
)
def test_other_texts_are_no_smart_relevance(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    try:
        remarks = read_qrels(tmp_path / "file").remarks
    except InputError:
        remarks = ()
    assert "smart_relevance" not in [code for code, _, _ in remarks]


def test_a_late_line_of_another_layout_is_refused(tmp_path: Path) -> None:
    lines = [f"     1     {number}  0\t0.000000" for number in range(1, 50_001)]
    (tmp_path / "file").write_text("\n".join([*lines, "2 30 1 0", ""]))
    with pytest.raises(InputError) as caught:
        read_qrels(tmp_path / "file")
    assert caught.value.line == 50_001


@pytest.mark.parametrize("second", ["d1", "d2"])
def test_no_reading_without_a_relevant_document_is_proposed(tmp_path: Path, second: str) -> None:
    (tmp_path / "file").write_text(f"q1 {second} 0 0\nq1 d3 0 0\n")
    with pytest.raises(InputError) as caught:
        read_qrels(tmp_path / "file")
    assert not caught.value.hint


def test_queries_of_cranfield_by_place(tmp_path: Path) -> None:
    text = ".I 001\n.W\nwhat similarity laws\n.I 002\n.W\nstructural problems\n.I 004\n.W\nheat conduction\n"
    (tmp_path / "cran.qry").write_text(text)
    assert [query.id for query in read_queries(tmp_path / "cran.qry")] == ["001", "002", "004"]
    assert [query.id for query in read_queries(tmp_path / "cran.qry", id_column="place")] == ["1", "2", "3"]
