"""Qrels as Python callers use them, with subtopics and with probabilities."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from leadline.data.judgment_tables import Ideal
from leadline.errors import InputError, UsageError

GIVEN: dict[str, dict[str, float]] = {"q2": {"d1": 0.5, "d3": -1}, "q1": {"d2": 0, "d1": 2}}
BY_SUBTOPIC = {"q1": {"s1": {"d1": 1.0, "d2": 2.0}, "s2": {"d1": 3.0}}, "q2": {"s1": {"d1": 1.0}}}
IDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)
GRADES = st.one_of(st.integers(-1, 4), st.floats(-1, 4))
JUDGED = st.dictionaries(IDS, st.dictionaries(IDS, GRADES, min_size=1, max_size=5), min_size=1, max_size=4)


def test_qrels_are_used_as_a_mapping_of_their_queries() -> None:
    qrels = ll.Qrels(GIVEN)
    assert len(qrels) == 2
    assert list(qrels) == ["q1", "q2"]
    assert "q1" in qrels
    assert "q3" not in qrels
    assert None not in qrels
    assert qrels["q2"] == {"d1": 0.5, "d3": -1}
    assert {query: qrels[query] for query in qrels} == qrels.to_dict() == GIVEN
    assert repr(qrels) == "Qrels(2 queries, 4 judgments)"


def test_a_query_without_judgments_is_a_key_error_that_names_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "a.qrels"
    ll.Qrels(GIVEN).write(path)
    with pytest.raises(KeyError) as refused:
        ll.Qrels(path)["q11"]
    assert str(refused.value) == f"there is no query 'q11' in {path}. Did you mean 'q1'?"
    with pytest.raises(KeyError, match="in the qrels"):
        ll.Qrels(GIVEN)["q11"]


def test_the_options_of_read_qrels_are_those_of_qrels() -> None:
    assert ll.Qrels(GIVEN, negative="unjudged").to_dict()["q2"] == {"d1": 0.5}
    assert ll.Qrels(BY_SUBTOPIC, subtopics=True).by_subtopic() == BY_SUBTOPIC
    with pytest.raises(UsageError, match="negative must be 'nonrelevant' or 'unjudged', not 'none'"):
        ll.Qrels(GIVEN, negative="none")  # type: ignore[arg-type]
    looks_like_a_run = pd.DataFrame({"qid": ["q1"], "docno": ["d1"], "score": [1.0], "rank": [1]})
    with pytest.raises(InputError):
        ll.Qrels(looks_like_a_run)
    assert ll.Qrels(looks_like_a_run, kind="qrels").to_dict() == {"q1": {"d1": 1}}


@given(JUDGED)
def test_a_dictionary_comes_back(given: dict[str, dict[str, float]]) -> None:
    qrels = ll.Qrels(given)
    assert qrels.to_dict() == given
    assert ll.Qrels(qrels.to_dict()) == qrels
    assert all(qrels[query] == given[query] for query in given)


@given(JUDGED)
def test_frames_of_pandas_and_polars_give_the_same_qrels(given: dict[str, dict[str, float]]) -> None:
    qrels = ll.Qrels(given)
    one, two = qrels.to_pandas(), qrels.to_polars()
    assert list(one.columns) == two.columns == ["query_id", "doc_id", "relevance"]
    assert [tuple(row) for row in one.itertuples(index=False)] == two.rows()
    assert ll.Qrels(one) == ll.Qrels(two) == qrels


@given(JUDGED, st.sampled_from(["a.json", "a.jsonl", "a.parquet"]))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, given: dict[str, dict[str, float]], name: str
) -> None:
    path = tmp_path_factory.mktemp("qrels") / name
    ll.Qrels(given).write(path)
    assert ll.Qrels(path, kind="qrels") == ll.Qrels(given)


def test_rows_of_a_query_come_together_whatever_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.qrels"
    path.write_text("q2 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n")
    qrels = ll.Qrels(path)
    assert qrels.to_columns() == {
        "query_id": ["q1", "q2", "q2"],
        "doc_id": ["d2", "d1", "d3"],
        "relevance": [0, 1, 2],
    }
    assert qrels["q2"] == {"d1": 1, "d3": 2}


def test_a_frame_of_subtopics_has_a_row_for_each_of_a_document() -> None:
    qrels = ll.Qrels(BY_SUBTOPIC, subtopics=True)
    assert repr(qrels) == "Qrels(2 queries, 3 judgments, 2 subtopics)"
    assert qrels["q1"] == {"d1": 3, "d2": 2}
    assert sorted(qrels.to_polars().select("query_id", "subtopic", "doc_id", "relevance").rows()) == [
        (query, subtopic, document, grade)
        for query, found in BY_SUBTOPIC.items()
        for subtopic, documents in found.items()
        for document, grade in documents.items()
    ]
    assert ll.Qrels(qrels.to_pandas(), subtopics=True) == ll.Qrels(qrels.to_polars(), subtopics=True) == qrels


def test_a_frame_has_the_probabilities_that_are_known() -> None:
    frame = pl.DataFrame(
        {
            "query_id": ["q1"] * 3,
            "doc_id": ["a", "b", "c"],
            "relevance": [1, 0, 0],
            "probability": [0.5, None, 1],
        }
    )
    qrels = ll.Qrels(frame)
    assert qrels.to_polars()["probability"].to_list() == [0.5, None, 1.0]
    shares = qrels.to_pandas()["probability"].tolist()
    assert (shares[0], shares[2]) == (0.5, 1.0)
    assert math.isnan(shares[1])
    assert ll.Qrels(qrels.to_polars()) == qrels


@given(
    JUDGED.map(
        lambda found: {query: {d: int(g) for d, g in judged.items()} for query, judged in found.items()}
    )
)
def test_the_ideal_list_of_whole_grades_is_the_positive_ones_in_falling_order(
    given: dict[str, dict[str, int]],
) -> None:
    qrels = ll.Qrels(given)
    ideal = qrels.ideal
    counted = Ideal.of(qrels.grades.astype(np.int8), qrels.begin, qrels.end)
    for found in (ideal, counted):
        rows = zip(found.query.tolist(), found.rank.tolist(), found.gain.tolist(), strict=True)
        assert [*rows] == [
            (code, rank, gain)
            for code, query in enumerate(qrels.queries)
            for rank, gain in enumerate(
                sorted(filter(lambda g: g > 0, given[query].values()), reverse=True), start=1
            )
        ]
        assert [column.dtype for column in found] == [np.int32, np.int32, np.float64]


def test_qrels_are_equal_by_content_with_subtopics_and_probabilities() -> None:
    assert ll.Qrels(GIVEN) == ll.Qrels(ll.Qrels(GIVEN))
    assert ll.Qrels(GIVEN) != ll.Qrels(GIVEN | {"q1": {"d2": 0, "d1": 1}})
    assert ll.Qrels(BY_SUBTOPIC, subtopics=True) != ll.Qrels(ll.Qrels(BY_SUBTOPIC, subtopics=True).to_dict())
    assert ll.Qrels(GIVEN) != GIVEN
