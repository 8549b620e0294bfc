"""`ll.unjudged`: many runs read at once, teams, topic vectors from files and from texts, what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from leadline.data.reading import Reading
from leadline.errors import InputError, UsageError
from leadline.estimation.system_lists import read_systems
from leadline.estimation.unjudged import Unjudged, estimate_systems
from leadline.estimation.unjudged_methods import METHODS
from leadline.stats.correlation import kendall
from leadline.topics.infer import Vectors, write_vectors
from ranked_pools import pool_of

RUNS = {
    "a": {"q1": ["d1", "d2", "d3"], "q2": ["d4"]},
    "b": {"q1": ["d1", "d3"], "q2": ["d4", "d5"]},
    "c": {"q1": ["d9", "d1"]},
}
VECTORS = Vectors(
    ["d1", "d2", "d3", "d4", "other"],
    np.array([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.4, 0.3, 0.3], [1, 0, 0]]),
)
VOTING = ["nruns", "soboroff", "aslam-savell", "reference-count"]


def codes(found: Unjudged) -> dict[str, int]:
    return {notice.code: notice.count for notice in found.warnings}


def test_scores_are_means_over_the_queries_of_all_runs() -> None:
    found = ll.unjudged(RUNS, method="reference-count")
    # d1 2, d3 1 and d4 1 others
    assert found.values.tolist() == [[3, 1], [3, 1], [2, 0]]
    assert found.to_dict()["scores"] == {"a": 2, "b": 2, "c": 1}
    assert found.to_dict()["used"] == {"a": 4, "b": 4, "c": 2}
    assert found.order() == [0, 1, 2]
    assert codes(found) == {"few_systems": 3, "missing_queries": 1}
    assert repr(found) == "Unjudged(ReferenceCount, 3 systems, 2 queries)"


def test_queries_are_given_on_request() -> None:
    found = ll.unjudged(RUNS, method="reference-count")
    assert "queries" not in found.to_dict()
    query = found.to_dict(per_query=True)["queries"]["q2"]
    assert query == {"scores": {"a": 1, "b": 1, "c": 0}, "used": {"a": 1, "b": 2, "c": 0}}


@pytest.mark.parametrize("method", VOTING)
def test_the_pool_of_a_query_is_that_of_its_lists(method: str) -> None:
    found = ll.unjudged(RUNS, method=method, depth=2, seed=3)
    systems = read_systems(RUNS, Reading())
    pool = systems.pool(0, np.arange(3, dtype=np.int32), seed=3)
    by_hand = pool_of([run["q1"] for run in RUNS.values()])._replace(seed=pool.seed)
    values = METHODS.parse(method).replace(depth=2).estimate(by_hand).values
    assert found.values[:, 0].tolist() == values.tolist()


@pytest.mark.parametrize("method", VOTING)
def test_neither_the_order_of_runs_nor_other_queries_matter(method: str) -> None:
    found = ll.unjudged(RUNS, method=method).to_dict(per_query=True)["queries"]["q1"]
    one = {name: {"q1": RUNS[name]["q1"]} for name in "cab"}
    again = ll.unjudged(one, method=method).to_dict(per_query=True)["queries"]["q1"]
    assert again == found


def test_teams_come_from_a_table_or_a_mapping(tmp_path: Path) -> None:
    table = tmp_path / "runs.tsv"
    table.write_text("run\tteam\na\tx\nb\tx\nc\ty\n")
    found = ll.unjudged(RUNS, method="reference-count", one_vote_per=f"{table}:team")
    again = ll.unjudged(RUNS, method="reference-count", one_vote_per={"a": "x", "b": "x", "c": "y"})
    assert found.values.tolist() == again.values.tolist() == [[1, 0], [1, 0], [1, 0]]
    assert found.options["one_vote_per"] == f"{table}:team"
    assert found.warnings[0].message.startswith("only 2 voting teams")
    assert "per team" in found.text()  # what the formula counts
    assert "per team" not in ll.unjudged(RUNS, method="reference-count").text()
    with pytest.raises(UsageError, match=r"runs? has no team.*\(c\)"):
        ll.unjudged(RUNS, one_vote_per={"a": "x", "b": "y"})
    with pytest.raises(ll.UsageError, match="teams, not 1"):  # not systems, of which there are three
        ll.unjudged(RUNS, one_vote_per=dict.fromkeys(RUNS, "x"))


def test_vectors_may_come_from_memory_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "vectors.jsonl"
    write_vectors(VECTORS, path)
    found = ll.unjudged(RUNS, method="deshato", vectors=path)
    again = ll.unjudged(RUNS, method="deshato", vectors=VECTORS)
    assert found.values.tolist() == again.values.tolist()
    assert found.used.tolist() == [[3, 1], [2, 1], [1, 0]]  # d5 and d9 have none
    assert codes(found)["without_vectors"] == 2
    terms = found.to_dict()["terms"]
    assert sum(term["a"] for term in terms.values()) == pytest.approx(found.scores[0])
    assert found.spread is None
    assert "few_systems" not in codes(found)


def test_a_single_system_can_be_judged_by_topics_only() -> None:
    one = {"a": RUNS["a"]}
    assert ll.unjudged(one, method="deshato", vectors=VECTORS).scores[0] > 0
    with pytest.raises(UsageError, match="system"):
        ll.unjudged(one)


def test_topics_are_fitted_to_the_retrieved_documents_and_their_spread_is_told() -> None:
    texts = {f"d{place}": "wing lift " * 9 if place < 4 else "heat flow " * 9 for place in range(1, 10)}
    options: dict[str, Any] = {"documents": texts, "topics": 3, "fits": 2, "sweeps": 20}
    found = ll.unjudged(RUNS, method="deshato", **options)
    assert found.by_fit.shape == (2, 3)
    assert found.scores.tolist() == pytest.approx(found.by_fit.mean(axis=0).tolist())
    assert found.spread is not None
    again = ll.unjudged(RUNS, method="deshato", **options)
    assert again.by_fit.tolist() == found.by_fit.tolist()
    assert ll.unjudged(RUNS, method="deshato", **options | {"fits": 1}).by_fit.tolist() == [
        found.by_fit[0].tolist()
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "deshato"}, "Add `vectors` or `documents`"),
        ({"method": "nruns", "vectors": VECTORS}, "does not use t"),
        ({"method": "deshato", "vectors": VECTORS, "documents": {}}, "use only one of"),
        ({"method": "nrun"}, "unknown method 'nrun'. Did you mean NRuns"),
        ({"depth": 0}, "depth must be"),
        ({"fits": 0}, "fits must be a whole number of at least 1, not 0"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ll.unjudged(RUNS, **options)


def test_documents_without_any_vector_or_text_are_refused() -> None:
    strange = Vectors(["x"], np.array([[1.0, 0.0]]))
    with pytest.raises(InputError, match="no retrieved document has a topic vector"):
        ll.unjudged(RUNS, method="deshato", vectors=strange)
    for row in ([np.nan, 0.5], [0.4, 0.4], [-0.5, 1.5]):
        with pytest.raises(InputError, match="topics of document 'd1' are not a probability distribution"):
            ll.unjudged(RUNS, method="deshato", vectors=Vectors(["d1"], np.array([row])))
    with pytest.raises(InputError, match="none of the retrieved documents is in the collection"):
        ll.unjudged(RUNS, method="deshato", documents={"x": "wing"})


def test_short_lists_are_told() -> None:
    lists = {"q": [f"d{place}" for place in range(30)]}
    runs = {f"r{place}": lists for place in range(11)} | {"short": {"q": ["d1"]}}
    found = ll.unjudged(runs, method="spoerri")
    assert codes(found) == {"short_lists": 1}
    assert "(short)" in found.warnings[0].message


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.run").write_text("q Q0 d 1 1.0 t\n")
    paths = [str(tmp_path / folder / "same.run") for folder in ("x", "y")]
    assert sorted(ll.unjudged(paths).to_dict()["scores"]) == ["x/same", "y/same"]
    with pytest.raises(UsageError, match="two runs are both named 't'"):
        ll.unjudged(paths, name_by="tag")


# A pilot that was written apart found these, with official MAP (relevant from grade 1).
@pytest.mark.slow
def test_real_runs_give_what_another_program_gave(shared_data: Path) -> None:
    home = shared_data / "trec-robust-2003"
    paths = sorted(map(str, (home / "runs").glob("*.xz")))
    systems = read_systems(paths, Reading())
    results = ll.evaluate(home / "qrels.txt", paths, ["AP"])
    truth = results.values[:, :, 0].mean(axis=1)
    pilot = {"nruns": 0.35, "aslam-savell": 0.43, "reference-count": 0.25, "spoerri": 0.12}
    for name, value in pilot.items():
        scores = estimate_systems(systems, METHODS.parse(name)).scores
        assert round(kendall(scores, truth), 2) == pytest.approx(value, abs=0.0051)
