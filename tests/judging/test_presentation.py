"""Form of presentation and effort: exported, and compared over queries."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from conftest import Leadline
from judging_pages import event, save
from leadline.io.judges import read_judges
from leadline.io.objects import read_qrels
from leadline.judging.agreement import agreement, forms_of
from leadline.judging.events import parse_event
from leadline.judging.export import export
from leadline.judging.store import Store

QUERIES = 12


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Return a store of judges who saw even documents with static, odd ones with dynamic summaries."""
    path = str(tmp_path / "judged.sqlite")
    store = Store.open(path, grades="0=no,1=yes")
    documents = [(f"q{query}", f"d{document}") for query in range(QUERIES) for document in range(4)]
    store.add_pairs([(*pair, 1.0) for pair in documents])
    for judge in ("ann", "bob"):
        store.add_judge(judge)
        acts = []
        for pair in store.pairs():
            query, document = int(pair.query[1:]), int(pair.document[1:])
            static = document % 2 == 0
            differ = judge == "bob" and static and query % 3 == 0
            act = event(
                pair.id,
                grade=(document + differ) % 2,
                shown="static" if static else "dynamic",
                seconds=(8.0 if static else 5.0) + query % 4 + document,
                opened=static and query % 2 == 0,
            )
            acts.append(parse_event(act | {"key": f"{judge}-{act['key']}"}))
        save(store, judge, acts)
    store.close()
    return path


def test_forms_are_compared_over_queries(path: str) -> None:
    found = forms_of(path)
    assert found is not None
    assert found.names == ["dynamic", "static"]
    assert found.mean("static", "seconds") == statistics.mean(9.0 + query % 4 for query in range(QUERIES))
    assert found.mean("dynamic", "seconds") == statistics.mean(7.0 + query % 4 for query in range(QUERIES))
    assert found.mean("static", "opened") == 0.5
    assert found.mean("dynamic", "opened") == 0
    assert found.mean("static", "agreement") == pytest.approx(2 / 3)
    assert found.mean("dynamic", "agreement") == 1


def test_agreement_of_a_store_compares_its_forms_with_intervals(path: str, leadline: Leadline) -> None:
    compared = agreement(path).forms
    assert compared is not None
    pairs = {str(pair.measure): pair for pair in compared.records()}
    assert pairs["opened"].difference == 0.5
    assert pairs["opened"].low < 0.5 < pairs["opened"].high
    assert pairs["agreement"].difference == pytest.approx(-1 / 3)
    out = leadline("agreement", path).out
    assert "content shown; seconds: median per judgment; opened: " in out
    assert leadline("agreement", path, "-f", "json").data["forms"]["pairs"]


def test_an_export_has_form_seconds_and_opened_and_is_still_a_table_of_judges(
    path: str, tmp_path: Path
) -> None:
    target = tmp_path / "qrels.csv"
    export(path, str(target))
    judges, head, first, *_ = target.read_text().splitlines()
    assert judges == '# judges: ["ann", "bob"]'  # each counts
    beside = "ann form,ann seconds,ann opened,bob form,bob seconds,bob opened"
    assert head == f"query_id,doc_id,relevance,ann,bob,note,{beside}"
    assert first == "q0,d0,0,0,1,,static,8.0,1,static,8.0,1"
    assert [judge.name for judge in read_judges(f"{target}:*")] == ["ann", "bob"]
    assert read_qrels(str(target)) == read_qrels(path)


def test_one_form_is_not_compared(tmp_path: Path) -> None:
    path = str(tmp_path / "one.sqlite")
    store = Store.open(path, grades="0=no,1=yes")
    store.add_pairs([("q1", "d1", 1.0)])
    store.add_judge("ann")
    save(store, "ann", [parse_event(event(1, grade=1, shown="full", seconds=2.0))])
    store.close()
    assert forms_of(path) is None
