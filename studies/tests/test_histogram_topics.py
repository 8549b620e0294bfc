"""The study of topic models: known similarities, known translations, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Leadline
from leadline.charts import picture
from leadline.errors import UsageError
from leadline_studies import study
from leadline_studies.histogram_topics.pairs import TopicTexts, draw_pairs
from leadline_studies.histogram_topics.study import lines, verdict
from leadline_studies.histogram_topics.topic_retrieval import Task, pair_scores, quality_of

TOPICS = study("histogram-topics")
SUBJECTS = {
    "flight": ("wing lift drag tail", "flügel auftrieb widerstand heck"),
    "heat": ("heat flow warm slab", "hitze strom warm platte"),
    "law": ("court judge law case", "gericht richter gesetz fall"),
    "cook": ("salt pan oil bread", "salz pfanne fett brot"),
}
SMALL: dict[str, Any] = {"topics": "2,3,4", "sweeps": 60, "alpha_sum": 1.0, "draws": 20, "sample": 10}


def texts(seed: int = 0, words: int = 12) -> list[dict[str, str]]:
    """Make documents of one subject each in two languages."""
    rng = np.random.default_rng(seed)
    return [
        {
            "doc_id": f"{name}{place:02}",
            "text": " ".join(rng.choice(english.split(), words)),
            "en": " ".join(rng.choice(english.split(), words)),
            "de": " ".join(rng.choice(german.split(), words)),
        }
        for name, (english, german) in SUBJECTS.items()
        for place in range(10)
    ]


def monolingual() -> dict[str, str]:
    return {one["doc_id"]: one["text"] for one in texts()}


def judged() -> dict[str, dict[str, int]]:
    return {f"q-{name}": {one: 1 for one in monolingual() if one.startswith(name)} for name in SUBJECTS}


def test_as_many_topics_as_subjects_find_similar_documents_best() -> None:
    found = TOPICS.run(monolingual(), qrels=judged(), together=True, **SMALL)
    few, _, enough = found.data["settings"]
    assert enough["quality"] > 0.99
    assert enough["quality"] > few["quality"]
    assert enough["perplexity"] < few["perplexity"]
    assert (found.data["measure"], found.data["queries"], found.data["relevant"]) == ("MAP", 40, 360)
    assert (found.data["trained"], found.data["held_out"], found.data["nonrelevant"]) == (36, 4, 400)
    assert "no verdict, because at least 7 numbers of topics are needed" in found.lines[0]
    assert set(found.tables) == {"settings", "correlations"}
    assert set(found.figures) == {"histograms", "topics"}
    again = TOPICS.run(monolingual(), qrels=judged(), together=True, **SMALL)
    assert (again.data, again.lines) == (found.data, found.lines)
    other = TOPICS.run(monolingual(), qrels=judged(), together=True, **SMALL, seed=1)
    assert other.data["settings"] != found.data["settings"]


def test_translations_are_asked_in_one_language_and_found_in_the_other() -> None:
    rest = texts(1)
    found = TOPICS.run(texts(), languages="de,en", train=rest, **SMALL)
    assert found.data["measure"] == "P@1"
    assert found.data["relevant"] == found.data["queries"] == 40
    assert (found.data["trained"], found.data["held_out"]) == (40, 40)
    assert found.data["settings"][-1]["quality"] > found.data["settings"][0]["quality"]
    assert found.data["settings"][-1]["quality"] > 1 / 20  # better than chance among ten of a subject


def test_documents_that_are_all_the_same_leave_hsa_undefined_and_say_so() -> None:
    same = dict.fromkeys(["a", "b", "c", "d"], "wing lift")
    found = TOPICS.run(
        same, qrels={"a": {"b": 1, "c": 1, "d": 1}}, train={"x": "wing lift"}, **SMALL | {"topics": "2,3,4"}
    )
    assert found.data["columns"]["HSA per query"]["pearson"]["value"] is None
    assert found.data["columns"]["HSA per query"]["undefined"] == 3
    assert "R undefined" in found.lines[0]
    assert {one.code for one in found.warnings} == {"undefined_hsa", "no_others"}
    assert all(picture(drawn, "svg") for drawn in found.figures.values())


def test_times_are_given_on_request_alone() -> None:
    found = TOPICS.run(monolingual(), qrels=judged(), together=True, **SMALL, time=True)
    assert [one["topics"] for one in found.data["seconds"]["settings"]] == [2, 3, 4]
    assert len(found.tables["seconds"].rows) == 3
    assert "times the processor time of HSA" in found.lines[-1]
    assert found.data["share_of_pairs"] == pytest.approx((9 + 10) / 40)


def hand_made() -> tuple[Task, Any, Any]:
    """Make four documents: two pairs of equal topics."""
    theta = np.array([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]])
    records = [{"doc_id": name, "text": ""} for name in "abcd"]
    relevant = {"a": ["b"], "c": ["a"]}
    pairs = draw_pairs(relevant, list("abcd"), sample=9, own=False)
    task = Task(TopicTexts(["text"], records, [], []), relevant, "AP", False, pairs, 0.0)
    return task, np.sqrt(theta[[0, 2]]), np.sqrt(theta)


def test_average_precision_and_scores_of_hand_made_topics() -> None:
    task, asked, found = hand_made()
    scores = -np.sqrt(np.maximum(1 - asked @ found.T, 0))
    # a: b at 0, the others at sqrt(1 - sqrt(1/2)): first. c: b before a, whose distances are equal.
    assert quality_of(task, scores).tolist() == [1.0, 0.5]
    far = -np.sqrt(1 - np.sqrt(0.5))
    wanted = {(0, "b"): 0.0, (0, "c"): far, (0, "d"): far, (1, "a"): far, (1, "b"): far, (1, "d"): -1.0}
    values = pair_scores(task.pairs, asked, found)
    for query, row, value in zip(
        task.pairs.query.tolist(), task.pairs.document.tolist(), values.tolist(), strict=True
    ):
        assert value == pytest.approx(wanted.pop((query, "abcd"[row])), abs=1e-7)
    assert wanted == {}
    # by query, halves: relevant 1 and 1; others 0, 0 and 1, 0
    assert task.pairs.histograms(np.round(values, 6), bins=2).tolist() == [
        [[0.0, 1.0], [2.0, 0.0]],
        [[0.0, 1.0], [1.0, 1.0]],
    ]


@pytest.mark.parametrize(
    ("value", "low", "settings", "said"),
    [
        (0.2, 0.1, 7, "reproduced in kind"),
        (0.2, -0.1, 7, "not reproduced (larger, but the interval contains 0)"),
        (-0.2, -0.4, 8, "not reproduced"),
        (None, None, 7, "not reproduced"),
        (0.2, 0.1, 6, "no verdict, because at least 7 numbers of topics are needed"),
    ],
)
def test_the_verdict_asks_for_more_than_perplexity_in_the_interval_too(
    value: float | None, low: float | None, settings: int, said: str
) -> None:
    assert verdict({"value": value, "low": low, "high": value}, settings) == said


def test_what_is_undefined_is_said_to_be() -> None:
    nothing = {"value": None, "low": None, "high": None}
    column = {"pearson": nothing, "spearman": nothing, "undefined": 7}
    names = [f"{what} per {norm}" for what in ("HSA", "DO") for norm in ("query", "model")]
    said = lines(
        {
            "settings": [{}] * 7,
            "measure": "MAP",
            "columns": dict.fromkeys([*names, "perplexity"], column),
            "closer": {key: {"perplexity": {"pearson": nothing}} for key in ("per query", "per model")},
        }
    )
    assert "R undefined, rho undefined" in said[0]
    assert said[0].endswith(": not reproduced")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"topics": "2,3"}, "topics '2,3' is not valid. Give 3 or more numbers, each once"),
        ({"topics": "2,3,3,4"}, "Give 3 or more numbers, each once"),
        ({"topics": "2,x"}, "topics '2,x' is not valid. Give positive integers"),
        ({"qrels": None}, "need --qrels or --languages"),
        ({"languages": "de,en"}, "use only one of --qrels and --languages"),
        ({"qrels": None, "languages": "de"}, "languages 'de' is not valid. Give two columns"),
        ({"held_out": 0.0}, "to hold out, or none to train on"),
        ({"bins": 1}, "bins must be"),
        ({"sweeps": 0}, "sweeps must be"),
        ({"alpha_sum": 0.0}, "--alpha-sum must be above 0, not 0"),
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, Any], said: str) -> None:
    given = SMALL | {"qrels": judged(), "together": True} | changed
    with pytest.raises(UsageError, match=said):
        TOPICS.run(monolingual(), **given)


def test_documents_that_are_alike_but_have_no_others_are_said(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "docs.jsonl").write_text(
        "".join(json.dumps({"doc_id": one["doc_id"], "text": one["text"]}) + "\n" for one in texts())
    )
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 {name} 1\n" for query, one in judged().items() for name in one)
    )
    given = [
        *f"study histogram-topics {tmp_path}/docs.jsonl --topics 2,3,4 --sweeps 20 --draws 10".split(),
        *"--sample 10".split(),
    ]
    assert "need --qrels or --languages" in leadline(*given, "-o", tmp_path / "out").err
    asked = [*given, "--qrels", tmp_path / "qrels.txt", "--together"]
    done = leadline(*asked, "-o", tmp_path / "out")
    assert (done.status, done.err) == (0, "")
    tables = {"settings.csv", "correlations.csv"}
    names = {*tables, "histograms.svg", "topics.svg", "histogram-topics.json", "index.html"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    data = json.loads((tmp_path / "out" / "histogram-topics.json").read_text())
    assert [one["rows"] for one in data["inputs"]] == [40, 40]
    assert data["options"]["together"] is True
    leadline(*asked, "-o", tmp_path / "again")
    for name in names:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    done = leadline(*given, "--qrels", tmp_path / "qrels.txt", "-o", tmp_path / "out")
    assert "With --together, documents relevant" in done.err
    assert "--qrels similar.txt" in leadline("study", "histogram-topics", "--help").out
