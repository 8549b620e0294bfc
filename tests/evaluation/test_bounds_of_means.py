"""`evaluate --bounds`: how far values and means may move, in Python and in every form."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from conftest import Leadline
from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate

# Query 1: a and b share ranks 1 and 2, a is relevant; x is not judged. Query 2 is missing.
QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}
RUN = {"1": {"a": 2.0, "b": 2.0, "x": 1.0}}
TABLE = """\
run  measure   value  ties low  ties high  ties expected  unjudged low  unjudged high
my   IPrec@1  0.2500    0.2500     0.5000              -        0.2500         0.3333
my   RR       0.2500    0.2500     0.5000         0.3750        0.2500         0.2500
my   Bpref    0.0000    0.0000     0.5000         0.2500             -              -
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with judgments and a run."""
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    (tmp_path / "my.run").write_text("1 Q0 a 1 2 t\n1 Q0 b 2 2 t\n1 Q0 x 3 1 t\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_bounds_of_a_mean_are_the_means_of_the_bounds() -> None:
    results = evaluate(QRELS, RUN, ["RR", "P@3"], bounds=True)
    assert results.bounds is not None
    assert results.bounds.limits[0, :, 0].tolist() == [[0.5, 1.0, 0.75, 0.5, 0.5], [0.0] * 5]
    assert results.mean_bounds[0].tolist() == [
        [0.25, 0.5, 0.375, 0.25, 0.25],
        pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 3]),
    ]


def test_averaging_follows_the_queries_that_are_averaged() -> None:
    results = evaluate(QRELS, RUN, "RR", bounds=True, queries="both")
    assert results.mean_bounds[0, 0].tolist() == [0.5, 1.0, 0.75, 0.5, 0.5]
    none = evaluate(QRELS, RUN, "RR", bounds=True, profile="trec10")
    assert all(math.isnan(bound) for bound in none.mean_bounds[0, 0].tolist())


def test_nobody_computes_bounds_unasked() -> None:
    results = evaluate(QRELS, RUN, "RR")
    assert results.bounds is None
    assert "bounds" not in results.to_dict()["runs"][0]
    with pytest.raises(UsageError, match="bounds=True"):
        _ = results.mean_bounds


def test_the_table_has_a_row_for_every_mean(leadline: Leadline) -> None:
    asked = [part for name in ("IPrec@1", "RR", "Bpref") for part in ("-m", name)]
    done = leadline("evaluate", "qrels.txt", "my.run", "--bounds", *asked)
    assert done.out.partition("\n\n")[0] + "\n" == TABLE
    assert max(map(len, done.out.splitlines())) <= 100


def test_with_per_query_every_value_has_its_own(leadline: Leadline) -> None:
    done = leadline("evaluate", "qrels.txt", "my.run", "--bounds", "-q", "-m", "RR", "-f", "csv")
    assert done.out.splitlines()[1:] == [
        "my,RR,1,0.5,0.5,1.0,0.75,0.5,0.5",
        "my,RR,2,0.0,0.0,0.0,0.0,0.0,0.0",
        "my,RR,,0.25,0.25,0.5,0.375,0.25,0.25",
    ]


def test_json_holds_lists_and_null_where_there_is_no_bound(leadline: Leadline) -> None:
    asked = ("-m", "Bpref", "-m", "IPrec@1", "-m", "G")
    done = leadline("evaluate", "qrels.txt", "my.run", "--bounds", "-q", *asked, "-f", "json")
    (run,) = done.data["runs"]
    assert run["bounds"] == {
        "Bpref": {"ties": [0.0, 0.5, 0.25], "unjudged": None},
        "IPrec@1": {"ties": [0.25, 0.5, None], "unjudged": [0.25, pytest.approx(1 / 3)]},
        "G": {"ties": None, "unjudged": None},
    }
    assert run["query_bounds"]["1"]["Bpref"] == {"ties": [0.0, 1.0, 0.5], "unjudged": None}
    assert json.loads(done.out)["options"]["bounds"] is True


def test_the_form_of_trec_eval_has_no_place_for_them(leadline: Leadline) -> None:
    assert (
        "-f trec cannot be combined with --bounds"
        in leadline("evaluate", "qrels.txt", "my.run", "--bounds", "-f", "trec").refusal
    )
