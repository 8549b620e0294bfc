"""Dictionaries taken column by column give what their rows give one by one, and the same errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from leadline.data.reading import DEFAULT_READING, Reading
from leadline.errors import InputError
from leadline.evaluation.join import judge
from leadline.io import python_inputs
from leadline.io.python_inputs import dictionary_lists

NAMES = st.sampled_from(["d1", "d2", "d10", "D1", "1", "é", "e", "\udcff", "ω", "𝄞", "\uffff", "d" * 40])
SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 0.5, 1, 3, -2, 10**20, np.float32(0.1), np.int64(3), math.inf]),
    st.floats(allow_nan=False),
)
QUERIES = st.sampled_from(["q1", "q10", "q2", "ü", "x"])
RUNS = st.dictionaries(QUERIES, st.dictionaries(NAMES, SCORES, max_size=9), min_size=1, max_size=4)
JUDGED = st.dictionaries(
    QUERIES, st.dictionaries(NAMES, st.sampled_from([0, 1, 2, -1, 0.5]), max_size=9), min_size=1, max_size=4
)


@contextmanager
def row_by_row() -> Iterator[None]:
    """Take no dictionary column by column for a while."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_inputs, "dictionary_lists", lambda _source, **_: None)
        yield


def outcome(do: Callable[[], Any]) -> Any:
    """Return what a call returns, or the message of its error."""
    try:
        return do()
    except InputError as error:
        return str(error)


def told(run: Any, qrels: Any, reading: Reading) -> dict[str, Any]:
    """Say what the join of two dictionaries holds, whatever the order of the judgments."""
    table = ll.Qrels(qrels)
    _, judged, counts = judge(run, table, reading=reading, keep=True)
    assert judged.lists is not None
    assert judged.lists.ids is not None
    documents = list(table.documents)
    lists = sorted(
        (
            judged.lists.queries[place],
            list(judged.lists.ids.take(np.arange(low, high))),
            judged.lists.scores[low:high].tolist(),
        )
        for place, (low, high) in enumerate(
            zip(judged.lists.bounds[:-1], judged.lists.bounds[1:], strict=True)
        )
    )
    return {
        "qrels": table.to_dict(),
        "counts": counts,
        "example": judged.example,
        "columns": [
            column.tolist()
            for column in (judged.present, judged.length, judged.offsets, judged.rank, judged.grade)
        ],
        "documents": [documents[row] for row in judged.row.tolist()],
        "ties": [column.tolist() for column in (judged.tie_first, judged.tie_last, *judged.unjudged_ties)],
        "lists": lists,
    }


@pytest.mark.usefixtures("form")
@given(run=RUNS, qrels=JUDGED, narrow=st.booleans())
def test_the_join_is_that_of_the_rows(run: Any, qrels: Any, narrow: bool) -> None:
    reading = Reading(single_precision=True) if narrow else DEFAULT_READING
    found = outcome(lambda: told(run, qrels, reading))
    with row_by_row():
        assert found == outcome(lambda: told(run, qrels, reading))
    given = outcome(lambda: ll.Run(run).to_dict())
    with row_by_row():
        assert given == outcome(lambda: ll.Run(run).to_dict())


def test_values_are_those_of_files_to_the_last_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    run, qrels = {}, {}
    for query in map(str, range(20)):
        names = [f"doc-{number}" for number in rng.permutation(400).tolist()]
        scores = rng.gamma(2.0, 4.0, size=300)
        if int(query) % 3:
            scores = np.sort(scores)[::-1]
        if int(query) % 5 == 0:
            scores = scores.round()
        run[query] = dict(zip(names, scores.tolist(), strict=False))
        qrels[query] = dict(zip(names[::3], rng.integers(0, 4, size=134).tolist(), strict=True))
    assert dictionary_lists(run) is not None
    assert dictionary_lists(qrels) is not None
    ll.Run(run).write(tmp_path / "a.run")
    ll.Qrels(qrels).write(tmp_path / "qrels.txt")
    measures = ["AP", "nDCG@10", "RR", "P@10", "R@100", "bpref", "ERR(max_grade=3)", "RBP"]
    files = ll.evaluate(tmp_path / "qrels.txt", tmp_path / "a.run", measures)
    for judgments in (qrels, ll.Qrels(qrels), tmp_path / "qrels.txt"):
        assert ll.evaluate(judgments, run, measures).values.tobytes() == files.values.tobytes()


def as_dictionary(make: Any, data: Any, options: dict[str, str]) -> Any:
    """Read data, and give them back."""
    return make(data, **options).to_dict()


class Number(float):
    """A kind of float."""


FAULTY: list[Any] = [
    {},
    {"q1": {}},
    {"q1": {"d1": math.nan}},
    {"q1": {"d1": 1.0}, "q2": {"d1": 1, "d2": math.nan}},
    {"q1": {"d1": math.inf}},
    {"q1": {"d1": "1"}},
    {"q1": {"d1": b"1"}},
    {"q1": {"d1": None}},
    {"q1": {"d1": 1j}},
    {"q1": {"d1": [1]}},
    {"q1": {"d1": True}},
    {"q1": {"d1": Decimal("1.5")}},
    {"q1": {"d1": Decimal("NaN")}},
    {"q1": {"d1": Number(2)}},
    {"q1": {"d1": 10**400}},
    {"q1": {"d1": np.array(2.0)}},
    {"q1": {"d1": np.array([2.0])}},
    {"q1": {7: 1.0}},
    {"q1": {"d1": 1.0, 7: 1.0}},
    {"q1": {b"d1": 1.0}},
    {"q1": {None: 1.0}},
    {7: {"d1": 1.0}},
    {b"q1": {"d1": 1.0}},
    {"q1": {"\ud800": 1.0}},
    {"\ud800": {"d1": 1.0}},
    {"q1": {"\udcc3\udca9": 1.0, "é": 2.0}},
    {"q1": {"d1": 1.0}, "q2": ["d1"]},
    {"q1": {"d1": 1.0}, "q2": 3},
    {"q1": {"d1": {"d2": 1}}},
]


@pytest.mark.filterwarnings("ignore:Conversion of an array")
@pytest.mark.parametrize("faulty", FAULTY, ids=repr)
def test_whatever_is_wrong_is_said_as_for_rows(faulty: Any) -> None:
    ways: list[tuple[Any, dict[str, str]]] = [
        (ll.Run, {}),
        (ll.Qrels, {}),
        (ll.Run, {"on_nan": "drop"}),
        (ll.Run, {"order": "rank"}),
    ]
    for make, more in ways:
        read_by_column = outcome(partial(as_dictionary, make, faulty, more))
        with row_by_row():
            assert read_by_column == outcome(partial(as_dictionary, make, faulty, more))
