"""The studies of DeShaTo: right where documents have one topic, honest where nothing is to be seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline import write_run
from leadline.data.reading import Reading
from leadline.errors import InputError, UsageError
from leadline.estimation.system_lists import read_systems
from leadline.io.objects import read_qrels
from leadline.topics.infer import Vectors, infer, write_vectors
from leadline.topics.model import fit
from leadline_studies import studies, study
from leadline_studies.shape_discrimination.study import sets_of
from leadline_studies.shape_topics.study import part_of, share_of

SYSTEMS = study("shape-systems")
DISCRIMINATION = study("shape-discrimination")
TOPICS = study("shape-topics")
WORDS = {
    "flight": "wing lift drag",
    "heat": "heat flow warm",
    "law": "court judge law",
    "cook": "salt pan oil",
}


def make(systems: int = 16) -> tuple[dict[str, dict[str, int]], Any, dict[str, str]]:
    """Make documents of one subject each, queries about one, and systems that find more and more of it."""
    rng = np.random.default_rng(5)
    texts = {
        f"{name}{place}": " ".join(rng.choice(words.split(), 30))
        for name, words in WORDS.items()
        for place in range(12)
    }
    qrels = {f"q{name}": {doc: 1 for doc in texts if doc.startswith(name)} for name in WORDS}
    runs: dict[str, Any] = {}
    for system in range(systems):
        runs[f"s{system:02}"] = {}
        for query, known in qrels.items():
            score = [known.get(doc, 0) * system * 0.25 + rng.normal() for doc in texts]
            order = np.argsort(-np.array(score))[:10].tolist()
            runs[f"s{system:02}"][query] = [list(texts)[place] for place in order]
    return qrels, runs, texts


def test_documents_of_one_topic_are_told_from_a_mixture() -> None:
    qrels, runs, texts = make()
    found = DISCRIMINATION.run(qrels, runs, docs=texts, topics=[4], fits=2, sweeps=60, draws=5)
    accuracy, hard = found.data["accuracy"]
    assert (accuracy["other"], hard["other"]) == ("random", "hard")
    assert accuracy["queries"] == accuracy["topics"] == 4
    assert accuracy["value"] == 1
    assert accuracy["low"] <= accuracy["value"] <= accuracy["high"]
    assert ": reproduced in kind (above 90 %)" in found.lines[0]
    assert set(found.tables) == {"accuracy"}


def test_hard_documents_are_those_of_the_runs_and_none_is_relevant() -> None:
    qrels = read_qrels({"q": {"a": 1, "b": 0}})
    runs = {"x": {"q": ["c", "a"]}, "y": {"q": ["d", "c"]}}
    systems = read_systems(runs, Reading())
    place = {name: row for row, name in enumerate("abcde")}

    def others(kind: str, hard: int) -> list[int]:
        [(relevant, rest)] = sets_of(qrels, systems, place, kind, hard, 1.0)
        assert relevant.tolist() == [0]
        found: list[int] = rest.tolist()
        return found

    assert others("random", 1) == [1, 2, 3, 4]
    assert others("hard", 1) == others("hard", 2) == [2, 3]
    with pytest.raises(InputError, match="no query has both a relevant document with a text"):
        sets_of(qrels, systems, {"z": 0}, "random", 1, 1.0)


def test_systems_that_find_one_topic_are_ordered_by_its_shape() -> None:
    qrels, runs, texts = make()
    found = SYSTEMS.run(qrels, runs, docs=texts, topics=[4, 6], fits=5, sweeps=60, subsets=5)
    at = {(one["method"], one["depth"], one["truth"]): one for one in found.data["depths"]}
    assert {key[1:] for key in at} == {
        (depth, truth) for depth in (10, 30, 100) for truth in ("MAP@30", "MAP")
    }
    assert {"deshato, 4 topics", "deshato, 6 topics", "nruns", "spoerri"} < {key[0] for key in at}
    one = at["deshato, 4 topics", 30, "MAP@30"]
    assert 0.5 < one["lowest"] <= one["tau"] <= one["highest"]
    assert {few["systems"] for few in found.data["few"]} == {5, 10}
    assert "deshato, 4 topics: tau with MAP@30" in found.lines[0]
    assert "reproduced in kind" in found.lines[0]
    assert "With five systems" in found.lines[2]
    assert set(found.figures) == {"deshato-4", "deshato-6", "nruns"}


def test_too_few_systems_or_fits_give_no_verdict() -> None:
    qrels, runs, texts = make(4)
    found = SYSTEMS.run(qrels, runs, docs=texts, topics=[4], fits=1, sweeps=20, subsets=2)
    assert "no verdict, because at least 15 systems and 5 fits are needed" in found.lines[0]
    assert found.lines[1] == "There are too few systems to draw sets of five."


def test_vectors_of_a_file_stand_for_fits(tmp_path: Path) -> None:
    qrels, runs, texts = make(6)
    files = []
    for topics in (3, 4):
        files.append(str(tmp_path / f"{topics}.jsonl"))
        write_vectors(infer(fit(texts, topics, sweeps=20), texts), files[-1])
    found = SYSTEMS.run(qrels, runs, vectors=files, subsets=1).data
    assert (found["topics"], found["fits"]) == ([3, 4], 1)
    again = SYSTEMS.run(qrels, runs, docs=texts, topics=[3, 4], fits=1, sweeps=20, subsets=1).data
    assert found["depths"] == again["depths"]
    assert len(DISCRIMINATION.run(qrels, runs, vectors=files, draws=2).data["accuracy"]) == 4
    with pytest.raises(UsageError, match="need --docs or --vectors"):
        SYSTEMS.run(qrels, runs)
    other = Vectors(list(texts)[::-1], np.full((len(texts), 4), 0.25))
    with pytest.raises(UsageError, match="use only one of --docs and --vectors"):
        DISCRIMINATION.run(qrels, runs, docs=texts, vectors=files)
    with pytest.raises(InputError, match="no query of the runs has judgments"):
        SYSTEMS.run({"other": {"d": 1}}, runs, vectors=files)
    with pytest.raises(InputError, match="topic vectors are of different documents"):
        DISCRIMINATION.run(qrels, runs, vectors=[files[0], other], draws=1)


def test_a_query_without_judgments_takes_no_part() -> None:
    qrels, runs, texts = make(4)
    options: dict[str, Any] = {"docs": texts, "topics": [4], "fits": 1, "sweeps": 20, "subsets": 1}
    plain = SYSTEMS.run(qrels, runs, **options)
    more = {name: lists | {"unjudged": list(texts)[:5]} for name, lists in runs.items()}
    found = SYSTEMS.run(qrels, more, **options)
    assert found.data["depths"] == plain.data["depths"]
    assert [str(one) for one in found.warnings] == ["left out 1 query without judgments"]


def test_systems_that_are_all_equal_have_no_tau() -> None:
    qrels, runs, texts = make(1)
    same = {f"s{place:02}": runs["s00"] for place in range(16)}
    found = SYSTEMS.run(qrels, same, docs=texts, topics=[4], fits=5, sweeps=10, subsets=2)
    assert all(one["tau"] is None for one in found.data["depths"])
    assert "tau with MAP@30 is undefined" in found.lines[0]
    assert "not reproduced" in found.lines[0]
    tuned = TOPICS.run(qrels, same, docs=texts, topics=[4], fits=5, sweeps=10)
    assert tuned.figures == {}
    assert "tau is undefined" in tuned.lines[2]


@pytest.mark.parametrize(
    ("sets", "looked_at", "percent"), [([(249, 110)], (25, 15), 1.37), ([(50, 30), (50, 61)], (5, 15), 1.65)]
)
def test_the_shares_of_the_paper_come_out(
    sets: list[tuple[int, int]], looked_at: tuple[int, int], percent: float
) -> None:
    part = part_of(*sets[0])
    assert (len(part.queries), len(part.systems)) == looked_at
    assert round(100 * share_of(part, *sets), 2) == percent


def test_the_number_of_topics_is_tuned_on_a_part_and_tried_on_the_rest() -> None:
    qrels, runs, texts = make()
    found = TOPICS.run(
        qrels,
        runs,
        docs=texts,
        topics=[3, 4],
        fits=5,
        sweeps=60,
        one_in=2,
        keep=8,
        sister_qrels=qrels,
        sister_runs=runs,
        sister_docs=texts,
    ).data
    assert found["used"] == {"queries": 2, "systems": 8, "observations": 16}
    assert found["share"] == 16 / (2 * 4 * 16)
    assert [row["topics"] for row in found["tuning"]] == [3, 4]
    best = max(found["tuning"], key=lambda row: row["tau"])
    assert found["chosen"] == best["topics"]
    assert len(found["chosen_by_fit"]) == 5
    sizes = {row["part"]: (row["queries"], row["systems"]) for row in found["ranking"]}
    assert sizes == {
        "all": (4, 16),
        "held-out queries": (2, 16),
        "held-out queries, systems": (2, 8),
        "sister": (4, 16),
    }
    assert [row["topics"] for row in found["ranking"] if row["part"] == "sister"] == [found["chosen"]]
    assert found["paper"]["Robust (paper)"] == {"50": 0.4286, "100": 0.3524, "250": 0.3143}


def test_tuning_tau_is_that_of_the_part_alone() -> None:
    qrels, runs, texts = make()
    theta = infer(fit(texts, 4, sweeps=30), texts)
    whole = TOPICS.run(qrels, runs, vectors=[theta], one_in=2, keep=8).data["tuning"][0]
    queries = sorted(qrels)[::2]  # in the order of their ids
    part = {name: {query: lists[query] for query in queries} for name, lists in list(runs.items())[1::2]}
    judged = {query: qrels[query] for query in queries}
    alone = SYSTEMS.run(judged, part, vectors=[theta], subsets=1).data["depths"]
    at = {one["method"]: one["tau"] for one in alone if (one["depth"], one["truth"]) == (30, "MAP@30")}
    assert (whole["tau"], whole["nruns"]) == (at["deshato, 4 topics"], at["nruns"])


def test_a_sister_collection_is_given_whole(tmp_path: Path) -> None:
    qrels, runs, texts = make(4)
    (tmp_path / "runs").mkdir()
    for name, lists in runs.items():
        write_run(lists, tmp_path / "runs" / f"{name}.run")
    sister = {"sister_qrels": qrels, "sister_docs": texts, "one_in": 2, "keep": 2}
    options: dict[str, Any] = {"docs": texts, "topics": [4], "fits": 1, "sweeps": 20} | sister
    own, folder = (
        TOPICS.run(qrels, runs, sister_runs=of, **options).data for of in (runs, tmp_path / "runs")
    )
    assert folder == own
    with pytest.raises(UsageError, match="a sister collection needs --sister-qrels"):
        TOPICS.run(qrels, runs, docs=texts, sister_qrels=qrels)
    with pytest.raises(InputError, match="no such file"):
        TOPICS.run(
            qrels, runs, docs=texts, sister_qrels=qrels, sister_docs=texts, sister_runs=tmp_path / "none"
        )


def test_the_studies_are_found_and_refuse_what_makes_no_sense() -> None:
    assert {"shape-systems", "shape-discrimination", "shape-topics"} <= set(studies())
    qrels, runs, texts = make(2)
    with pytest.raises(UsageError, match="subsets must be"):
        SYSTEMS.run(qrels, runs, docs=texts, subsets=0)
    with pytest.raises(UsageError, match="draws must be"):
        DISCRIMINATION.run(qrels, runs, docs=texts, draws=0)
    with pytest.raises(UsageError, match="deshato needs topic vectors of at least 3 dimensions, not 1"):
        SYSTEMS.run(qrels, runs, docs=texts, topics=[1])
