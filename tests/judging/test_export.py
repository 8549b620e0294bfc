"""A store is qrels: by name, by export, with one judge or many."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from conftest import Leadline
from judging_pages import event, save
from leadline.data.judgment_tables import DrawnPool
from leadline.errors import InputError, UsageError
from leadline.estimation.estimate import EstimatedResults
from leadline.estimation.pool_designs import pool_for
from leadline.io.objects import read_qrels
from leadline.io.pool_files import read_drawn_pool, write_drawn_pool
from leadline.judging.events import Event, parse_event
from leadline.judging.export import export
from leadline.judging.startup import fill, pooled, simulate
from leadline.judging.store import Store

GIVEN = {"ann": {"d1": 2, "d2": 0, "d3": 1}, "bob": {"d1": 2, "d2": 1}}


def judged(path: str, given: dict[str, dict[str, int]] = GIVEN) -> Store:
    store = Store.open(path, grades="0=no,1=partly,2=yes")
    store.add_pairs([("q1", "d1", 1.0), ("q1", "d2", 0.25), ("q2", "d3", 1.0), ("q2", "d4", 1.0)])
    places = {pair.document: pair.id for pair in store.pairs()}
    for judge, grades in given.items():
        store.add_judge(judge)
        acts = [event(places[name], grade=grade) for name, grade in grades.items()]
        save(store, judge, [parse_event(act | {"key": f"{judge}-{act['key']}"}) for act in acts])
    return store


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "judged.sqlite")
    judged(path).close()
    return path


def test_a_store_is_read_as_qrels_by_majority_and_keeps_unlike_grades(path: str) -> None:
    qrels = read_qrels(path)
    assert qrels.to_dict() == {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
    assert qrels.votes == {"q1": {"d2": (0, 1)}}
    export(path, f"{path}.csv")
    assert read_qrels(f"{path}.csv").votes == qrels.votes
    found = ll.evaluate(path, {"q1": ["d1", "d2"]}, ["P@1"])
    assert found.mean("run", "P@1") == 0.5
    merged = next(warning for warning in found.warnings if warning.code == "merged")
    assert str(merged) == (
        "2 pairs with several judges, 1 with different grades (values are means over the judges)"
    )


def test_a_store_is_read_while_it_is_written_to(tmp_path: Path) -> None:
    path = str(tmp_path / "open.sqlite")
    store = judged(path)
    assert len(read_qrels(path).grades) == 3
    store.close()
    assert len(read_qrels(path).grades) == 3


def test_a_store_is_read_where_nothing_can_be_written(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(address: str, **options: Any) -> sqlite3.Connection:
        if "immutable" not in address:
            raise sqlite3.OperationalError("unable to open database file")
        found: sqlite3.Connection = plain(address, **options)
        return found

    plain = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", connect)
    assert len(read_qrels(path).grades) == 3
    Path(f"{path}-wal").touch()
    with pytest.raises(InputError, match="cannot be used"):
        read_qrels(path)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("majority", "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"),
        ("max", "q1 0 d1 2\nq1 0 d2 1\nq2 0 d3 1\n"),
        ("mean", "q1 0 d1 2\nq1 0 d2 0.5\nq2 0 d3 1\n"),
        ("bob", "q1 0 d1 2\nq1 0 d2 1\n"),
    ],
)
def test_qrels_hold_the_merged_grades(path: str, tmp_path: Path, rule: str, expected: str) -> None:
    target = tmp_path / "qrels.txt"
    export(path, str(target), rule=rule)
    assert target.read_text() == expected
    if rule == "majority":
        assert read_qrels(str(target)).to_dict() == read_qrels(path).to_dict()


def test_a_table_has_a_column_for_every_judge_and_the_probability(path: str, tmp_path: Path) -> None:
    with closing(Store.open(path)) as store:
        save(store, "ann", [parse_event(event(3, 9, grade=1, note='was "odd",\nI think'))])
    target = tmp_path / "qrels.csv"
    assert export(path, str(target), rule="mean").notes == 1
    assert target.read_text() == (
        "query_id,doc_id,relevance,probability,ann,bob,note\n"
        "q1,d1,2,1.0,2,2,\n"
        "q1,d2,0.5,0.25,0,1,\n"
        'q2,d3,1,1.0,1,,"ann: was ""odd"", I think"\n'
        "q2,d4,,1.0,,,\n"
    )
    assert read_qrels(str(target)).to_dict() == {"q1": {"d1": 2, "d2": 0.5}, "q2": {"d3": 1}}
    export(path, str(target))
    assert read_qrels(str(target)) == read_qrels(path)
    assert (read_qrels(path).inclusion_probabilities() or {})["q1"] == {"d1": 1.0, "d2": 0.25}
    export(path, str(tmp_path / "qrels.tsv.gz"), rule="bob")
    assert read_qrels(str(tmp_path / "qrels.tsv.gz")).to_dict() == {"q1": {"d1": 2, "d2": 1}}


def test_many_exports_at_once_leave_one_whole_file(path: str, tmp_path: Path) -> None:
    target = str(tmp_path / "qrels.txt")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: export(path, target), range(32)))
    assert read_qrels(target).to_dict() == read_qrels(path).to_dict()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["judged.sqlite", "qrels.txt"]


def test_a_store_without_judgments_exports_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "empty.sqlite")
    judged(path, {}).close()
    for call in (read_qrels, lambda path: export(path, str(tmp_path / "qrels.txt"))):
        with pytest.raises(InputError, match="contains no judgments"):
            call(path)
    assert not (tmp_path / "qrels.txt").exists()


def test_a_store_has_no_subtopics_and_is_no_run(path: str) -> None:
    with pytest.raises(InputError, match="has no subtopics, but subtopics=True needs a column 'subtopic'"):
        read_qrels(path, subtopics=True)
    with pytest.raises(InputError, match="not a run"):
        ll.read_run(path)


def broken(path: str) -> None:
    content = bytearray(Path(path).read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    Path(path).write_bytes(content)


def cut(path: str) -> None:
    Path(path).write_bytes(Path(path).read_bytes()[:5000])


def foreign(path: str) -> None:
    Path(path).unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE rows (cell)")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (broken, "is a damaged store"),
        (cut, "is a damaged store"),
        (foreign, "is an SQLite database, but not a `leadline judge` store"),
    ],
)
def test_a_spoilt_store_is_refused_in_one_line(
    path: str, spoil: Callable[[str], None], words: str, leadline: Leadline, tmp_path: Path
) -> None:
    spoil(path)
    run = tmp_path / "a.run"
    run.write_text("q1 Q0 d1 1 0.5 a\n")
    for arguments in (
        ("evaluate", path, run),
        ("judge", "--store", path, "--export", tmp_path / "qrels.txt"),
        ("check", path),
    ):
        found = leadline(*arguments)
        said = found.err + found.out
        assert found.status == 2
        assert words in said
    assert not (tmp_path / "qrels.txt").exists()


def test_a_packed_store_is_refused(path: str, tmp_path: Path) -> None:
    import gzip

    packed = tmp_path / "judged.sqlite.gz"
    packed.write_bytes(gzip.compress(Path(path).read_bytes()))
    with pytest.raises(InputError, match="is a compressed database"):
        read_qrels(str(packed))


def test_a_store_on_standard_input_is_refused_with_what_to_do(path: str, leadline: Leadline) -> None:
    said = leadline("evaluate", "-", path, stdin=Path(path).read_bytes()).refusal
    assert (
        "-: databases cannot be read from a pipe or standard input. Pass the path of the database file."
        in said
    )


def test_the_command_exports_and_tells_of_judges(path: str, tmp_path: Path, leadline: Leadline) -> None:
    target = tmp_path / "qrels.txt"
    found = leadline("judge", "--store", path, "--export", target, "-f", "json")
    assert (found.status, found.err) == (0, "")
    assert {key: found.data[key] for key in ("judgments", "pairs", "judges", "shared", "split", "tied")} == {
        "judgments": 5,
        "pairs": 3,
        "judges": {"ann": 3, "bob": 2},
        "shared": 2,
        "split": 1,
        "tied": 1,
    }
    assert [warning["code"] for warning in found.data["warnings"]] == ["merged", "probabilities"]
    table = leadline("judge", "--store", path, "--export", target, "--merge", "mean").out
    assert "3 pairs for 2 queries, merged by mean" in table
    table = leadline("judge", "--store", path, "--export", target, "--merge", "ann").out
    assert "3 pairs for 2 queries, judged by ann" in table
    said = leadline("judge", "--store", path, "--export", "-")
    assert (said.status, said.out) == (0, "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n")
    assert "lacks probabilities" in said.err
    summary = tmp_path / "summary.json"
    leadline("judge", "--store", path, "--export", target, "-o", summary)
    assert json.loads(summary.read_text())["judges"] == {"ann": 3, "bob": 2}
    assert "same file" in leadline("judge", "--store", path, "--export", target, "-o", target).refusal


def test_judges_of_a_store_and_of_its_table_agree_alike(
    path: str, tmp_path: Path, leadline: Leadline
) -> None:
    target = tmp_path / "qrels.csv"
    assert leadline("judge", "--store", path, "--export", target).status == 0
    of_store = leadline("agreement", path, "-f", "json")
    of_table = leadline("agreement", f"{target}:*", "-f", "json")
    one_by_one = leadline("agreement", f"{path}:ann", f"{path}:bob", "-f", "json")
    assert of_store.data["pairs"] == 2
    assert of_store.data["agreement"]["value"] == 0.5
    for other in (of_table, one_by_one):
        assert {k: v for k, v in other.data.items() if k != "inputs"} == {
            k: v for k, v in of_store.data.items() if k != "inputs"
        }
    missing = leadline("agreement", f"{path}:eve", path)
    assert (missing.status, "no judge 'eve'. Use ann or bob" in missing.err) == (2, True)


def test_a_store_is_no_pool(path: str) -> None:
    with pytest.raises(InputError, match="not a pool"):
        read_drawn_pool(path)


def test_an_export_never_overwrites_the_store(path: str, leadline: Leadline) -> None:
    assert "would overwrite an input" in leadline("judge", "--store", path, "--export", path).refusal


def test_a_store_converts_and_passes_the_check(path: str, tmp_path: Path, leadline: Leadline) -> None:
    with closing(Store.open(path)) as store:  # no pair is left without a judgment
        save(store, "ann", [parse_event(event(4, 9, grade=0))])
    said = leadline("convert", path, tmp_path / "qrels.jsonl").out
    assert "4 judgments; pairs with several judges: 2 (1 with different grades, merged by majority, 1" in said
    assert "left out" not in said
    assert "TREC format cannot store" in leadline("convert", path, tmp_path / "q.txt").refusal
    assert "--export new.qrels" in leadline("convert", path, tmp_path / "qrels.jsonl", "q.txt").refusal
    assert read_qrels(str(tmp_path / "qrels.jsonl")).to_dict() == read_qrels(path).to_dict()
    checked = leadline("check", path)
    assert checked.status == 0
    assert "qrels, 2 queries, 4 judgments" in checked.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pool.tsv"], "--docs and --queries"),
        (["--docs", "d", "--queries", "q"], "Pass POOL or an existing --store"),
        (["pool.tsv", "--docs", "d", "--queries", "q", "--token", "short"], "token"),
        (["--export", "qrels.txt", "--merge", "mean"], "no such file"),
        (["pool.tsv", "--docs", "d", "--queries", "q", "-o", "r.txt"], "none.sqlite --export r.txt`"),
    ],
)
def test_bad_usage_is_one_line(
    arguments: list[str], words: str, leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert words in leadline("judge", *arguments, "--store", "none.sqlite").refusal
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_judge_is_named_with_the_nearest(path: str) -> None:
    with pytest.raises(UsageError, match=r"Did you mean 'bob'\?$"):
        export(path, "qrels.txt", rule="bobb")


@pytest.mark.parametrize("suffix", ["csv", "tsv.gz"])
@pytest.mark.parametrize("left", [(), (-1, -2), (3,), (3, -1)])
def test_an_exported_table_is_the_sample_that_the_store_is(
    left: tuple[int, ...], suffix: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    grades = {f"q{n}": {f"d{place}": int(rng.random() < 0.4) for place in range(60)} for n in range(40)}
    runs = {
        name: {query: rng.permutation(list(docs))[:30].tolist() for query, docs in grades.items()}
        for name in "ab"
    }
    pool = pool_for(runs, "P@5", budget=5).pool
    write_drawn_pool(pool, tmp_path / "pool.tsv", [])
    rows, drawn = pooled(str(tmp_path / "pool.tsv"))
    path = str(tmp_path / "judged.sqlite")
    with closing(Store.open(path)) as store:
        fill(store, rows, drawn)
        store.add_judge("ann")
        pairs = sorted(store.pairs(), key=lambda pair: pair.order)
        skipped = {pairs[place].id for place in left}
        save(
            store,
            "ann",
            [
                Event(f"a-{pair.id}", "judge", pair.id, grade=grades[pair.query][pair.document])
                for pair in pairs
                if pair.id not in skipped
            ],
        )
    export(path, str(tmp_path / f"judged.{suffix}"))
    by_pool, by_store, by_table = (
        ll.evaluate(judged, runs, ["P@5", "R@5"], pool=given)
        for judged, given in ((path, pool), (path, None), (str(tmp_path / f"judged.{suffix}"), None))
    )
    for other in (by_store, by_table):
        assert other.to_dict()["runs"] == by_pool.to_dict()["runs"]
        assert {one.code for one in by_pool.warnings} <= {one.code for one in other.warnings}
    assert ("skipped_pairs" in {one.code for one in by_table.warnings}) == (3 in left)
    assert isinstance(by_table, EstimatedResults)
    assert math.isnan(by_table.estimate("a", "P@5").low) == (3 in left)
    assert not math.isnan(by_table.mean("a", "R@5"))  # the frame is in the table


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "txt"])
@pytest.mark.parametrize("second", ["enlarged", "another", "depth"])
def test_exports_of_a_store_with_two_pools_have_the_probabilities_of_the_one_it_keeps(
    second: str, suffix: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(2)
    grades = {f"q{n}": {f"d{place}": int(rng.random() < 0.4) for place in range(60)} for n in range(20)}
    runs = {
        name: {query: rng.permutation(list(docs))[:30].tolist() for query, docs in grades.items()}
        for name in "ab"
    }
    first = kept = pool_for(runs, "P@5", budget=2).pool
    paths = [str(tmp_path / name) for name in ("first.tsv", "second.tsv")]
    write_drawn_pool(first, paths[0], [])
    if second == "depth":
        rows = "".join(f"{query}\td{n}\n" for query in grades for n in range(3))
        Path(paths[1]).write_text(f"query_id\tdoc_id\n{rows}")
    else:
        more: dict[str, Any] = {"budget": 4} if second == "enlarged" else {"budget": 2, "seed": 1}
        kept = pool_for(runs, "P@5", **more).pool
        write_drawn_pool(kept, paths[1], [])
    store, target = str(tmp_path / "judged.sqlite"), str(tmp_path / f"judged.{suffix}")
    codes = [[one.code for one in simulate(path, store, grades).warnings] for path in paths]
    assert ("replaced_pool" in codes[1]) == (second == "another")
    done = export(store, target)
    assert bool(done.outside) == (second != "enlarged")
    framed = suffix in ("csv", "tsv")
    assert bool(done.lost) == (not framed)
    assert "without a judgment" not in done.lost  # every pair is judged
    by_store = ll.evaluate(store, runs, "P@5")
    by_file = ll.evaluate(target, runs, "P@5", pool=None if framed else kept)
    assert by_file.to_dict()["runs"] == by_store.to_dict()["runs"]
    assert by_file.warnings == by_store.warnings or not framed
    shares = {pair: kept.probability[row] for pair, row in kept.drawn_rows().items()}
    for query, each in (read_qrels(target).inclusion_probabilities() or {}).items():
        assert each == {document: shares[query, document] for document in each}


@pytest.mark.parametrize("suffix", ["csv", "txt", "jsonl"])
def test_an_export_of_labels_by_a_machine_is_marked(suffix: str, tmp_path: Path) -> None:
    store, target = str(tmp_path / "judged.sqlite"), str(tmp_path / f"labels.{suffix}")
    judged(store, {"machine gpt": GIVEN["ann"] | {"d4": 0}}).close()  # of the whole pool
    export(store, target)
    (words,) = (words for code, words, _ in read_qrels(target).remarks if code == "machine_labels")
    assert words.startswith("all 4 judgments are by an automatic judge (machine: gpt)")
    with pytest.raises(InputError, match="cannot store the names of automatic judges"):
        export(store, str(tmp_path / "labels.json"))


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_a_table_is_read_back_whatever_the_names_of_judges_and_documents(
    share: float, suffix: str, tmp_path: Path
) -> None:
    path, target = str(tmp_path / "judged.sqlite"), str(tmp_path / f"judged.{suffix}")
    pool = DrawnPool.listed([("q 1", name, share) for name in ('"a"', "b, c", 'd"e')])
    pool = replace(pool, order=np.arange(3.0), design={"measures": ["P@1"], "seed": 0})
    with closing(Store.open(path)) as store:
        fill(store, pool.pairs([0, 1, 2]), pool if share < 1 else None)
        for place, judge in enumerate(("judge 1", '"q"')):
            store.add_judge(judge)
            grades = enumerate(((1, 0, 1), (0, 0, 1))[place], start=1)
            save(store, judge, [Event(f"{place}-{n:08}", "judge", n, grade=grade) for n, grade in grades])
        for name in ("ann seconds", "Ann form", "inclusion_probability", "order", "judge"):
            with pytest.raises(UsageError, match="reserved"):
                store.add_judge(name)
    export(path, target)
    assert read_qrels(target) == read_qrels(path)
    assert read_qrels(target).votes == read_qrels(path).votes == {"q 1": {'"a"': (0, 1)}}
    of_table, of_store = (ll.agreement(source).to_dict() for source in (f"{target}:*", path))
    assert of_table["agreement"] == of_store["agreement"]


def test_a_damaged_grade_of_a_judge_in_an_export_is_refused(path: str, tmp_path: Path) -> None:
    target = tmp_path / "export.csv"
    export(path, str(target))
    target.write_text(target.read_text().replace("q1,d2,0,0.25,0,1,", "q1,d2,0,0.25,0,l,"))
    with pytest.raises(InputError, match=r"'l'.*column 'bob'"):
        read_qrels(str(target))
