"""A sample of judgments is estimated from, and refused where it would be read as complete."""

from __future__ import annotations

import json
import math
import pickle
import shutil
from collections.abc import Callable
from contextlib import chdir, closing
from copy import copy
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import leadline as ll
from conftest import REPOSITORY, Leadline
from judging_pages import event, save
from leadline.cli import group
from leadline.comparison.query_slices import slices_of
from leadline.errors import InputError, UsageError
from leadline.estimation.estimate import estimate
from leadline.estimation.unjudged_methods import relevant_shares
from leadline.io.pool_files import read_drawn_pool
from leadline.judging.events import parse_event
from leadline.judging.export import export
from leadline.judging.startup import opened
from leadline.judging.store import Store

RUNS = ["bm25.run", "dense.run"]
TABLE = "query_id,doc_id,relevance,probability\nknots,d01,1,1.0\nknots,d02,0,0.5\ntides,d03,1,0.25\n"


def stored(pool: str, store: str, chosen: Callable[[float], bool] = lambda _: True) -> None:
    """Judge the pairs of a pool whose probability is among the chosen ones."""
    with opened(pool, "docs.jsonl", "queries.jsonl", store):
        pass
    with closing(Store.open(store)) as made:
        made.add_judge("ann")
        pairs = [pair for pair in made.pairs() if chosen(pair.probability)]
        assert pairs
        acts = [event(pair.id, 100 + pair.id, grade=pair.id % 2) for pair in pairs]
        save(made, "ann", [parse_event(act) for act in acts])


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make stores of a drawn pool, of its certain pairs alone and of a depth pool, and a table."""
    folder = tmp_path_factory.mktemp("samples")
    for path in (REPOSITORY / "docs" / "examples").iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    with chdir(folder):
        for line in ("--for P@10 --budget 3 --seed 1 -o drawn.tsv", "--depth 3 -o deep.tsv"):
            assert CliRunner().invoke(group, ["pool", *RUNS, *line.split()]).exit_code == 0
        stored("drawn.tsv", "sample.sqlite")
        stored("deep.tsv", "deep.sqlite")
        export("sample.sqlite", "sample.csv")
        export("sample.sqlite", "sample.jsonl")
        export("sample.sqlite", "qrels-of-sample.txt")
        Path("table.csv").write_text(TABLE)
    return folder


@pytest.fixture
def here(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of the samples."""
    shutil.copytree(samples, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


SAMPLES = ["sample.sqlite", "sample.csv", "sample.jsonl", "table.csv"]
REFUSED = [
    "evaluate JUDGMENTS RUNS -f trec",
    "evaluate JUDGMENTS RUNS -m AP --query-slice queries.jsonl:length",
    "compare JUDGMENTS RUNS -m R@10",
    "compare JUDGMENTS bm25.run -m AP --baseline-file new.json --update-baseline",
    "rank JUDGMENTS RUNS -m AP",
    "report JUDGMENTS RUNS -m AP -o page.html",
    "explain JUDGMENTS bm25.run -m AP --query-id knots",
    "curve JUDGMENTS RUNS",
    "histogram JUDGMENTS RUNS",
]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("judgments", SAMPLES)
@pytest.mark.parametrize("command", REFUSED)
def test_nothing_reads_it_as_complete(leadline: Leadline, command: str, judgments: str) -> None:
    words = command.replace("JUDGMENTS", judgments).replace("RUNS", " ".join(RUNS)).split()
    done = leadline(*words)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert "estimate JUDGMENTS" not in done.err
    assert not Path("new.json").exists()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("judgments", ["sample.jsonl", "table.csv"])
def test_without_its_pool_the_value_is_the_sum_of_what_was_judged_and_predicted(
    leadline: Leadline, judgments: str
) -> None:
    data = leadline("evaluate", judgments, *RUNS, "-m", "P@3", "-f", "json").data
    table = ll.read_qrels(judgments)
    shares = table.inclusion_probabilities() or {}
    rows = [
        (query, float(grade > 0), shares[query][document])
        for query, documents in table.to_dict().items()
        for document, grade in documents.items()
    ]
    for run in data["runs"]:
        ranked = ll.read_run(f"{run['name']}.run").to_dict()
        total = 0.0
        for query, documents in shares.items():
            others = [(y, p) for other, y, p in rows if other != query]  # predictions are from other queries
            guess = predicted(others)
            top = sorted(ranked.get(query, {}).items(), key=lambda one: (one[1], one[0]), reverse=True)[:3]
            for document, _ in top:
                p = documents.get(document)
                y = float(table.to_dict()[query].get(document, 0) > 0)
                total += guess if p is None else y if p == 1 else guess + (y - guess) / p
        assert run["mean"]["P@3"] == pytest.approx(total / 3 / len(shares))
        assert run["estimate"]["P@3"]["these_low"] is None


def predicted(others: list[tuple[float, float]]) -> float:
    """Predict a grade as the mean of judged ones, weighted by what their pairs add to the variance."""
    weights = [(1 - p) / p**2 for _, p in others]
    if not sum(weights):
        weights = [1 / p for _, p in others]
    return sum(w * y for w, (y, _) in zip(weights, others, strict=True)) / sum(weights)


def judged_records() -> list[dict[str, Any]]:
    header, *rows = (line.split(",") for line in TABLE.splitlines())
    return [
        dict(zip(header, (query, document, int(grade), float(share)), strict=True))
        for query, document, grade, share in rows
    ]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("more", [(), ("--pool", "drawn.tsv")])
def test_estimates_are_not_compared_with_values_by_complete_judgments(
    leadline: Leadline, more: tuple[str, ...]
) -> None:
    first = ("compare", "qrels.txt", "bm25.run", "-m", "P@3", "--baseline", "kept.json")
    assert leadline(*first, "--update-baseline", "kept.json").status == 0
    for gate in ((), ("--fail-if-worse", "P@3")):
        assert (
            "only the new values are estimates from a sample of judgments"
            in leadline("compare", "sample.csv", *first[2:], *gate, *more).refusal
        )
    with pytest.raises(UsageError, match="the new values are estimates"):
        ll.compare("sample.csv", "bm25.run", "P@3", baseline="kept.json")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("judgments", SAMPLES)
def test_a_copy_is_estimated_from_or_is_refused(leadline: Leadline, judgments: str) -> None:
    words = ("evaluate", judgments, *RUNS, "-m", "P@3", "-f", "csv")
    for suffix in (".csv", ".tsv", ".jsonl", ".parquet", ".json"):
        done = leadline("convert", judgments, f"copy{suffix}")
        if suffix == ".json":
            assert "cannot store inclusion probabilities" in done.refusal
        else:
            copied, own = leadline(*words[:1], f"copy{suffix}", *words[2:]), leadline(*words)
            assert copied.out.splitlines()[0] == own.out.splitlines()[0]  # the columns of estimates
    with pytest.raises(UsageError, match="TREC format cannot store"):
        ll.write_qrels(judgments, "copy.txt")
    assert "lose this information" in leadline("check", judgments, "--fix", "-o", "fixed.csv").refusal


@pytest.mark.usefixtures("here")
def test_a_depth_pool_does_not_make_a_sample_complete(leadline: Leadline) -> None:
    assert (
        "only a sample" in leadline("evaluate", "table.csv", *RUNS, "--pool", "deep.tsv", "-m", "P@3").refusal
    )
    every_second = cycle([True, False])
    stored("drawn.tsv", "part.sqlite", lambda _: next(every_second))
    assert "all drawn pairs" in leadline("evaluate", "part.sqlite", *RUNS, "-m", "statAP").refusal
    lists = {
        "knots": [{"doc_id": "d01", "relevance": 1}, {"doc_id": "d02", "relevance": 1, "probability": 0.5}]
    }
    Path("lists.json").write_text(json.dumps(lists))
    assert "listed by query" in leadline("evaluate", "lists.json", *RUNS).refusal


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("form", ["path", "records", "pandas", "polars", "qrels"])
@pytest.mark.parametrize(
    "call",
    [
        lambda judged, run: ll.compare(judged, {"a": run, "b": run}),
        lambda judged, run: ll.compare(judged, {"a": run, "b": run}, "R@2"),
        lambda judged, run: ll.rank(judged, {"a": run, "b": run}),
        ll.curve,
        lambda judged, run: ll.sampled(judged, run, "AP", population=50),
        lambda judged, _: relevant_shares(ll.read_qrels(judged)),
        lambda judged, run: slices_of(ll.evaluate(judged, run, "R@2"), {"knots": "x"}),
    ],
)
def test_functions_refuse_it(call: Callable[[Any, Any], Any], form: str) -> None:
    judged: Any = "table.csv" if form == "path" else judged_records()
    if form in ("pandas", "polars"):
        judged = pytest.importorskip(form).DataFrame(judged)
    elif form == "qrels":
        judged = ll.read_qrels(judged)
    with pytest.raises((InputError, UsageError)):
        call(judged, {"knots": {"d01": 2.0, "d02": 1.0}, "tides": {"d03": 1.0}})


@pytest.mark.usefixtures("here")
def test_of_a_drawn_pool_the_pairs_that_were_certain_are_a_sample_too(leadline: Leadline) -> None:
    """The pairs of probability 1 come first, so that this is what a judge leaves who stops early."""
    rows = Path("drawn.tsv").read_text().splitlines()
    pairs = [row.split("\t")[:2] for row in rows if not row.startswith("#")][1:]
    shares = ["1"] * 3 + ["0.5"] * (len(pairs) - 3)
    table: list[tuple[str, ...]] = [("query_id", "doc_id", "probability")]
    table += [(*pair, share) for pair, share in zip(pairs, shares, strict=True)]
    Path("pool.tsv").write_text("".join("\t".join(row) + "\n" for row in table))
    stored("pool.tsv", "certain.sqlite", lambda probability: probability == 1)
    data = leadline("evaluate", "certain.sqlite", *RUNS, "-m", "P@3", "-f", "json").data
    counts = {one["code"]: one["count"] for one in data["warnings"]}
    judged = {query for query, _ in pairs[:3]}
    assert counts["skipped_pairs"] == sum(query in judged for query, _ in pairs[3:])
    assert counts["unjudged_pool_queries"] == len({query for query, _ in pairs} - judged)
    found = ll.evaluate(ll.read_qrels("certain.sqlite"), "bm25.run", "AP")
    assert math.isnan(found.means[0, 0])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("judgments", SAMPLES[:3])
def test_with_its_pool_it_is_estimated_from(leadline: Leadline, judgments: str) -> None:
    done = leadline("evaluate", judgments, *RUNS, "--pool", "drawn.tsv", "-m", "P@10", "-f", "json")
    assert done.status == 0
    plain = estimate("qrels-of-sample.txt", RUNS, "P@10", pool="drawn.tsv")
    values = {run["name"]: run["mean"]["P@10"] for run in done.data["runs"]}
    assert values == {
        name: plain.to_dict()["runs"][place]["mean"]["P@10"] for place, name in enumerate(plain.names)
    }


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "command",
    [
        "agreement sample.sqlite sample.csv",
        "convert sample.sqlite copy.csv",
        "check sample.csv",
        "collection docs.jsonl queries.jsonl sample.sqlite",
    ],
)
def test_what_does_not_take_it_as_complete_reads_it(leadline: Leadline, command: str) -> None:
    assert leadline(*command.split()).status == 0


@pytest.mark.usefixtures("here")
def test_a_depth_pool_is_read_as_before(leadline: Leadline) -> None:
    assert leadline("evaluate", "deep.sqlite", *RUNS, "-m", "AP").status == 0
    export("deep.sqlite", "deep.csv")
    assert "probability" not in Path("deep.csv").read_text().partition("\n")[0]
    assert leadline("compare", "deep.csv", *RUNS, "-m", "AP").status == 0


@pytest.mark.usefixtures("here")
def test_statap_is_computed_and_recall_over_all_queries_estimated(leadline: Leadline) -> None:
    assert leadline("evaluate", "sample.csv", *RUNS, "-m", "statAP").status == 0
    for judgments, known in (("sample.csv", True), ("sample.sqlite", True), ("sample.jsonl", False)):
        data = leadline("evaluate", judgments, *RUNS, "-m", "R@10", "-f", "json").data
        assert "estimates" in data["runs"][0]
        assert (data["runs"][0]["mean"]["R@10"] is not None) == known  # the frame is needed


@pytest.mark.parametrize("call", ["evaluate qrels.txt bm25.run", "compare qrels.txt bm25.run dense.run"])
@pytest.mark.parametrize("pool", ["", "--pool pool.tsv"])
def test_a_plan_needs_a_pool_drawn_for_a_measure(
    call: str, pool: str, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[2] / "docs" / "examples")
    words = [*call.split(), *pool.split(), "-m", "P@2"]
    asked = [*words, "--config", "test.half_width=0.1"]
    assert "half_width needs a pool from" in leadline(*asked).refusal
    if "dense.run" in words:  # one plan at a time
        assert "use only one of" in leadline(*asked, "--config", "test.smallest=0.1").refusal
    assert leadline(*words, *["--config", "test.smallest=0.1"] * ("dense.run" in words)).status == 0


STRATA = "knots 0 d01 1 1\nknots 0 d02 1 0\nknots 0 d03 2 -1\ntides 0 d03 1 1\ntides 0 d04 2 -1\n"
STRATIFIED = "unjudged documents in a stratified sample: 2 of 5"


@pytest.fixture
def strata(here: Path) -> str:
    """Write a stratified sample."""
    (here / "strata.qrels").write_text(STRATA)
    return "strata.qrels"


@pytest.mark.parametrize(
    "command",
    [
        "agreement JUDGMENTS qrels.txt --runs bm25.run",
        "unjudged bm25.run dense.run --method soboroff --share-from JUDGMENTS",
        "curve JUDGMENTS bm25.run",
        "evaluate JUDGMENTS bm25.run -m xinfAP -C read.negative=unjudged",
    ],
)
def test_a_stratified_sample_is_not_read_as_complete(leadline: Leadline, command: str, strata: str) -> None:
    found = leadline(*command.replace("JUDGMENTS", strata).split())
    assert found.status == 2
    assert "sample, but" in found.refusal or "are only a sample" in found.refusal


@pytest.mark.parametrize(
    "command",
    [
        "explain JUDGMENTS bm25.run -m P@2 --query-id knots",
        "collection docs.jsonl queries.jsonl JUDGMENTS",
        "evaluate JUDGMENTS bm25.run -m xinfAP",
    ],
)
def test_what_reads_a_stratified_sample_says_so(leadline: Leadline, command: str, strata: str) -> None:
    assert STRATIFIED in leadline(*command.replace("JUDGMENTS", strata).split()).out


@pytest.mark.usefixtures("strata")
@pytest.mark.parametrize("judgments", [*SAMPLES, "sample.csv:ann", "strata.qrels"])
def test_agreement_with_a_sample_is_of_its_judged_pairs_and_evaluates_no_runs(
    leadline: Leadline, judgments: str
) -> None:
    found = leadline("agreement", judgments, "qrels.txt")
    assert "only a sample, so the coefficients (unweighted) cover only the judged pairs" in found.out
    assert "\n-1 " not in found.out  # pooled but not judged
    assert (
        "the judgments are only a sample"
        in leadline("agreement", judgments, "qrels.txt", "--runs", "bm25.run").refusal
    )


@pytest.mark.usefixtures("here")
def test_an_explanation_says_that_a_machine_judged(leadline: Leadline) -> None:
    Path("machine.csv").write_text("query_id,doc_id,relevance,judge\nknots,d01,1,gpt\nknots,d02,0,gpt\n")
    found = leadline("explain", "machine.csv", "bm25.run", "-m", "P@2", "--query-id", "knots")
    assert "2 of 2 judgments are by an automatic judge (gpt)" in found.out


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", ["Probability", " probability", "Inclusion_Probability", "PROBABILITY "])
def test_a_column_of_probabilities_with_another_spelling_is_refused(name: str) -> None:
    Path("named.csv").write_text(TABLE.replace("probability", name))
    with pytest.raises(InputError, match=f"'{name}'.* Rename the column to '(inclusion_)?probability'"):
        ll.read_qrels("named.csv")


@pytest.mark.usefixtures("here")
def test_a_column_of_probabilities_without_any_is_refused() -> None:
    rows = TABLE.splitlines()
    Path("empty.csv").write_text("\n".join([rows[0], *(row.rpartition(",")[0] + "," for row in rows[1:])]))
    with pytest.raises(InputError, match="the column 'probability' is empty"):
        ll.read_qrels("empty.csv")


@pytest.fixture
def part(here: Path) -> Path:
    """Make a store of the drawn pool of which some pairs are judged, and its export."""
    stored("drawn.tsv", "part.sqlite", lambda share: share > 0.9)
    export("part.sqlite", "part.csv")
    return here


@pytest.mark.usefixtures("part")
def test_a_partly_judged_export_is_the_same_sample_in_a_pipe(leadline: Leadline) -> None:
    rest = [*RUNS, "-m", "P@10", "-f", "csv"]
    done = leadline("evaluate", "part.csv", *rest)
    assert done.status == 0
    assert done.out == leadline("evaluate", "-", *rest, stdin=Path("part.csv").read_bytes()).out
    assert done.out == leadline("evaluate", "part.sqlite", *rest).out


@pytest.mark.usefixtures("part")
@pytest.mark.parametrize("judgments", ["part.sqlite", "part.csv"])
def test_a_partly_judged_draw_is_the_same_sample_where_its_file_is_gone(judgments: str) -> None:
    means = ll.evaluate("part.csv", "bm25.run", "P@10").means
    qrels = ll.read_qrels(judgments)
    Path(judgments).unlink()
    for copied in (qrels, copy(qrels), pickle.loads(pickle.dumps(qrels))):
        assert ll.evaluate(copied, "bm25.run", "P@10").means == means


@pytest.mark.parametrize("missing", [None, math.nan])
@pytest.mark.parametrize("judged", [slice(3), slice(1)])  # the first has probability 1
def test_a_frame_of_a_partly_judged_draw_has_gaps_and_no_interval(
    missing: float | None, judged: slice
) -> None:
    rows = [
        *judged_records()[judged],
        {"query_id": "knots", "doc_id": "d04", "relevance": missing, "probability": 0.5},
    ]
    for form in ("pandas", "polars"):
        frame = pytest.importorskip(form).DataFrame(rows)
        results = ll.evaluate(frame, {"knots": {"d01": 2.0, "d04": 1.0}}, "P@2")
        assert "skipped_pairs" in [warning.code for warning in results.warnings]
        assert "missing for 1 drawn pair" in (results.withheld or {})["P@2"]["run"]


@pytest.mark.usefixtures("part")
@pytest.mark.parametrize("judgments", ["sample.sqlite", "sample.csv", "part.sqlite", "part.csv"])
def test_a_draw_cut_to_some_queries_is_the_draw_of_these(judgments: str) -> None:
    queries = ["knots"]
    pool = read_drawn_pool("drawn.tsv")
    cut = pool.part(np.array([query in queries for query in pool.queries]))
    grades = {query: ll.read_qrels(judgments)[query] for query in queries}
    means = ll.evaluate(grades, "bm25.run", "P@10", pool=cut).means.tolist()
    for some in (ll.read_qrels(judgments, queries_in=queries), ll.read_qrels(judgments).of_queries(queries)):
        for given in (None, "drawn.tsv"):
            results = ll.evaluate(some, "bm25.run", "P@10", pool=given)
            assert (list(results.queries), results.means.tolist()) == (queries, means)
    results = ll.evaluate(judgments, "bm25.run", "P@10", queries_in=[*queries, "nowhere"])
    assert (results.means.tolist(), results.warnings[0].code) == (means, "unknown_queries")


@pytest.mark.usefixtures("part")
@pytest.mark.parametrize(
    ("judgments", "hint"), [("part.sqlite", "--export FILE.csv"), ("part.csv", "use the sample as it is")]
)
def test_a_partly_judged_draw_is_not_written_without_its_other_pairs(
    leadline: Leadline, judgments: str, hint: str
) -> None:
    for target in ("copy.csv", "copy.jsonl", "copy.parquet", "copy.txt"):
        assert leadline("convert", judgments, target).err.rstrip(".\n").endswith((hint, f"{hint}`"))
        assert not Path(target).exists()
    with pytest.raises(InputError, match="3 pairs without a grade"):
        ll.read_qrels(judgments).to_columns()
    with pytest.raises(InputError, match="3 pairs without a grade"):
        export("part.sqlite", "copy.jsonl")


@pytest.mark.usefixtures("part")
def test_a_pair_that_one_judge_graded_is_judged_whoever_else_did_not() -> None:
    rows = [row | {"judge": "ann"} for row in judged_records()]
    empty = [{**row, "judge": "bob", "relevance": None, "probability": None} for row in rows]
    run = {"knots": {"d01": 2.0, "d02": 1.0}, "tides": {"d03": 1.0}}
    means = ll.evaluate(judged_records(), run, "P@2").means.tolist()
    for order in (rows + empty, empty + rows):
        qrels = ll.read_qrels(order)
        assert ll.evaluate(qrels, run, "P@2").means.tolist() == means
        assert len(qrels.to_columns()["doc_id"]) == 3


def test_a_drawn_pair_without_grade_and_probability_is_a_gap() -> None:
    rows = [*judged_records(), {"query_id": "knots", "doc_id": "d04", "relevance": None, "probability": None}]
    results = ll.evaluate(rows, {"knots": {"d04": 1.0}}, "P@1")
    assert "skipped_pairs" in [warning.code for warning in results.warnings]


@pytest.mark.usefixtures("here")
def test_estimates_with_other_judges_have_another_digest() -> None:
    rows = [row | {"judge": "ann"} for row in judged_records()]
    digests = {
        ll.evaluate(rows + more, "bm25.run", "P@2").qrels
        for more in ([], [{**rows[0], "judge": "bob", "relevance": 0}], [{**rows[0], "judge": "bob"}])
    }
    assert len(digests) == 2


@pytest.mark.parametrize(("name", "value"), [("probability", 0.5), ("judge", "machine: gpt")])
def test_a_record_says_no_more_of_the_design_than_the_first(tmp_path: Path, name: str, value: object) -> None:
    rows: list[dict[str, Any]] = [{"query_id": "q", "doc_id": document, "relevance": 1} for document in "ab"]
    rows[1][name] = value
    (tmp_path / "late.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "late.json").write_text(json.dumps(rows))
    for given in (rows, tmp_path / "late.jsonl", tmp_path / "late.json"):
        with pytest.raises(InputError, match=f"has '{name}', but the first one does not. Add"):
            ll.read_qrels(given)
