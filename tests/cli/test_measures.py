"""`leadline measures`: the catalogue and the pages of single measures."""

from __future__ import annotations

import json
import math
from typing import ClassVar, Literal

import pytest

from conftest import Leadline
from leadline.data.arrays import Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import Aliases, DefaultCutoffs, choice, needed_cutoff, number
from leadline.evaluation import catalogue
from leadline.evaluation.profiles import GROUPS
from leadline.measures import MEASURES, Average, Measure, ratio


def test_every_measure_has_one_line(leadline: Leadline) -> None:
    done = leadline("measures")
    lines = done.out.split("\n\n")[0].splitlines()
    assert done.status == 0
    assert lines[0].split() == ["measure", "title", "range", "average"]
    assert [line.split()[0] for line in lines[1:]] == [
        catalogue.outline(kind) for kind in MEASURES.classes.values()
    ]


def test_the_catalogue_fits_a_hundred_columns(leadline: Leadline) -> None:
    assert max(map(len, leadline("measures").out.splitlines())) <= 100


class Half(Measure):
    """Half of the precision at k.

    It is here for its explanation only, which is long enough to be broken into two lines on a
    terminal of a hundred columns.

    >>> Half(cutoff=2)
    Half@2
    """

    title = "half of the precision"
    formula = "relevant documents at ranks 1..k / 2k"
    source = "nobody"
    high: ClassVar[float] = math.inf
    rising: ClassVar[bool] = False
    average: ClassVar[Average] = "defined"
    needs: ClassVar[Literal["judgments", "known"]] = "known"
    aliases: ClassVar[Aliases] = {"half": {}, "semi": {"form": "odd"}, "half_cut": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"half_cut": (5, 10)}

    form: str = choice("even", "odd")
    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query."""
        return ratio(judged.total(judged.hits(self.rel).query) / 2, judged.length.astype(float))


HALF = (
    "Half(form=even,rel=1)@k - half of the precision\n\n  'semi@2' is Half(form=odd)@2\n\n  Half of "
    "the precision at k.\n\n  It is here for its explanation only, which is long enough to be broken "
    "into two lines on a\n  terminal of a hundred columns.\n\n  formula     relevant documents at "
    "ranks 1..k / 2k\n  parameters  form: even or odd; default even\n              rel: a number "
    "of at least 0; default 1\n              @k: a whole number of at least 1; must be given\n  range       "
    "0..; smaller is better\n  average     mean of defined\n  undefined   when nothing is retrieved; "
    "such a query is excluded from the mean\n  needs       the documents that the user already knew "
    "(--config read.known=FILE)\n  source      nobody\n  spellings   semi (form=odd), half_cut "
    "(without a cutoff @5,10)\n  cutoffs     Half@10, Half_10, Half.10, "
    "Half_at_10\n\n  example\n    >>> from test_measures import Half\n    >>> Half(cutoff=2)\n    "
    "Half@2\n"
)


def test_a_measure_is_explained_to_the_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEASURES.classes, "Half", Half)
    Half.__module__ = "test_measures"
    assert catalogue.explain(Half, asked="'semi@2' is Half(form=odd)@2") == HALF


@pytest.mark.parametrize("name", list(MEASURES.classes))
def test_every_measure_can_be_explained_by_its_bare_name(leadline: Leadline, name: str) -> None:
    done = leadline("measures", name)
    assert done.status == 0
    assert done.out.startswith(catalogue.outline(MEASURES.classes[name], defaults=True))
    assert max(map(len, done.out.split("  example")[0].splitlines())) <= 100


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("P.5,10", "'P.5,10' is P@5, P@10"),
        ("ndcg_cut_10", "'ndcg_cut_10' is nDCG@10"),
        ("mrr@10", "'mrr@10' is RR@10"),
        ("hit_rate", "'hit_rate' is Success"),
        ("recall@500tokens", "'recall@500tokens' is R@500tokens"),
    ],
)
def test_another_spelling_is_said_to_mean_the_canonical_name(
    leadline: Leadline, typed: str, means: str
) -> None:
    assert means in leadline("measures", typed).out.splitlines()[2]


def test_a_canonical_name_is_not_explained_twice(leadline: Leadline) -> None:
    assert "'AP'" not in leadline("measures", "AP").out


def test_an_unknown_name_is_refused_with_the_nearest(leadline: Leadline) -> None:
    done = leadline("measures", "nDGC").refusal
    assert "unknown measure 'nDGC'" in done
    assert "nDCG" in done


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("AP", ["nothing is relevant"]),
        ("P", ["nothing is retrieved (without a cutoff)"]),
        ("F", ["nothing is relevant and nothing is retrieved (without a cutoff)"]),
        ("Success", []),
        ("RankOf", ["nothing relevant is retrieved"]),
        ("FallOut", ["nothing is judged non-relevant"]),
        ("PairAccuracy", ["nothing relevant is retrieved", "everything retrieved is relevant"]),
        ("Coverage", ["nothing is relevant"]),
        ("Novelty", ["nothing relevant is retrieved"]),
    ],
)
def test_when_a_measure_is_undefined_is_asked_of_the_measure(name: str, cases: list[str]) -> None:
    assert catalogue.undefined(MEASURES.classes[name]) == cases


def test_json_has_the_envelope_and_every_measure(leadline: Leadline) -> None:
    data = leadline("measures", "-f", "json").data
    assert list(data) == ["leadline", "command", "inputs", "options", "warnings", "measures", "groups"]
    assert data["options"] == {"name": None}
    assert [one["name"] for one in data["measures"]] == list(MEASURES.classes)
    assert all(one["formula"] and one["source"] and one["title"] for one in data["measures"])


def test_json_of_one_measure_says_what_its_parameters_allow(leadline: Leadline) -> None:
    (one,) = leadline("measures", "Success", "-f", "json").data["measures"]
    assert [each["name"] for each in one["parameters"]] == ["rel", "cutoff"]
    assert one["parameters"][1] == {
        "name": "cutoff",
        "at": True,
        "needed": True,
        "default": None,
        "allowed": "a whole number of at least 1",
    }
    assert one["low"] == 0.0
    assert one["high"] == 1.0


def test_an_endless_range_is_null_in_json(leadline: Leadline) -> None:
    (one,) = leadline("measures", "CG", "-f", "json").data["measures"]
    assert one["high"] is None


def test_jsonl_has_one_measure_a_line(leadline: Leadline) -> None:
    lines = leadline("measures", "-f", "jsonl").out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == list(MEASURES.classes)


def test_csv_of_the_catalogue_has_the_columns_of_the_table(leadline: Leadline) -> None:
    lines = leadline("measures", "-f", "csv").out.splitlines()
    assert lines[0] == "measure,title,range,average"
    assert "P(rel)[@k],precision,0..1,mean" in lines


def test_markdown_of_one_measure_has_a_fact_a_row(leadline: Leadline) -> None:
    done = leadline("measures", "AP", "-f", "markdown")
    assert "| AP(rel,norm)[@k] | range | 0..1; larger is better |" in done.out.splitlines()


def test_the_catalogue_can_be_written_to_a_file(leadline: Leadline, tmp_path: pytest.TempPathFactory) -> None:
    file = f"{tmp_path}/measures.txt"
    assert leadline("measures", "-o", file, "-f", "none").out == ""
    with open(file, encoding="utf-8") as written:
        assert written.read() == leadline("measures").out


def test_the_groups_of_trec_eval_are_listed_and_explained(leadline: Leadline) -> None:
    part = leadline("measures").out.split("\n\n")[1]
    said = dict(
        line.split(": ") for line in part.replace("\n  ", " ").splitlines()[1:]
    )  # a group a line, once lines are put together
    assert {name: tuple(names.split()) for name, names in said.items()} == dict(GROUPS)
    assert leadline("measures", "-f", "json").data["groups"]["set"][0] == "runid"
    assert "'official' is NumQ, NumRet, " in leadline("measures", "official").out
