"""Simulated judges: the store holds the known grades, and estimates from it are those of the judgments."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import cycle
from pathlib import Path

import pytest

import leadline as ll
from conftest import Leadline
from judging_pages import save
from leadline.errors import UsageError
from leadline.io import judgment_store
from leadline.io.pool_files import read_drawn_pool
from leadline.judging.events import Event
from leadline.judging.startup import simulate
from leadline.judging.store import Store

QRELS = {f"q{query}": {f"d{place}": (query + place) % 3 for place in range(6)} for query in range(8)}
RUNS = {
    name: {query: {f"d{place * step % 7}": 7.0 - place for place in range(7)} for query in QRELS}
    for name, step in (("a", 1), ("b", 3))
}


@pytest.fixture
def pool(tmp_path: Path, leadline: Leadline) -> str:
    for name, lists in RUNS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(lists))
    path = tmp_path / "pool.tsv"
    files = [tmp_path / f"{name}.json" for name in RUNS]
    done = leadline("pool", *files, "--for", "P@3", "--budget", "3", "-o", path)
    assert done.status == 0, done.err
    return str(path)


def test_every_drawn_pair_has_the_known_grade_and_grade_0_where_none_is_known(
    pool: str, tmp_path: Path
) -> None:
    store = str(tmp_path / "store.sqlite")
    done = simulate(pool, store, QRELS)
    drawn = read_drawn_pool(pool)
    pairs = [
        (query, document)
        for query, document, listed in zip(drawn.queries, drawn.documents, drawn.drawn.tolist(), strict=True)
        if listed
    ]
    found = ll.read_qrels(store).to_dict()
    assert {(query, document) for query, grades in found.items() for document in grades} == set(pairs)
    assert all(found[query][document] == QRELS[query].get(document, 0) for query, document in pairs)
    assert done.judges == {"simulated": len(pairs)}
    assert done.unjudged == sum(document not in QRELS[query] for query, document in pairs)
    assert done.queries == 0
    fewer = simulate(pool, str(tmp_path / "fewer.sqlite"), {query: QRELS[query] for query in ("q0", "q1")})
    assert fewer.queries == len({query for query, _ in pairs} - {"q0", "q1"})


def test_estimates_are_those_of_the_judgments_themselves(pool: str, tmp_path: Path) -> None:
    store = str(tmp_path / "store.sqlite")
    simulate(pool, store, QRELS)
    whole = {query: {f"d{place}": QRELS[query].get(f"d{place}", 0) for place in range(7)} for query in QRELS}
    drawn = {
        query: {d: whole[query][d] for d in docs} for query, docs in ll.read_qrels(store).to_dict().items()
    }
    by_store = ll.evaluate(store, RUNS, "P@3", pool=pool)
    by_hand = ll.evaluate(drawn, RUNS, "P@3", pool=pool)
    assert by_store.means.tolist() == by_hand.means.tolist()


def test_two_judges_share_the_pairs_and_go_on_where_they_stopped(pool: str, tmp_path: Path) -> None:
    store = str(tmp_path / "store.sqlite")
    done = simulate(pool, store, QRELS, judges="ann,bob", overlap=0.5, seed=3)
    given = [one.judgment for one in judgment_store.read(store).given]
    pairs = {(one.query, one.document) for one in given}
    assert set(done.judges) == {one.judge for one in given} == {"ann", "bob"}
    assert sum(done.judges.values()) == len(given) > len(pairs)
    assert done.unjudged == sum(document not in QRELS[query] for query, document in pairs)
    assert simulate(pool, store, QRELS, judges="ann,bob", overlap=0.5).judges == {"ann": 0, "bob": 0}


def test_an_undone_judgment_is_made_again_and_long_names_are_told_apart(pool: str, tmp_path: Path) -> None:
    store, names = str(tmp_path / "store.sqlite"), ("a" * 40 + "1", "a" * 40 + "2")
    simulate(pool, store, QRELS, judges=",".join(names), overlap=1)
    with closing(Store.open(store)) as opened:
        (last,) = opened.last_acts(names[0], 1)
        save(opened, names[0], [Event("undo-key", "undo", last.pair, undoes=last.key)])
    again = simulate(pool, store, QRELS, judges=",".join(names), overlap=1)
    assert again.judges == {names[0]: 1, names[1]: 0}


def test_a_fraction_is_refused_as_a_grade(pool: str, tmp_path: Path) -> None:
    store = str(tmp_path / "store.sqlite")
    halves = {query: dict.fromkeys(grades, 0.5) for query, grades in QRELS.items()}
    with pytest.raises(UsageError, match=r"would need the grades 0, 0\.5, but .* whole numbers"):
        simulate(pool, store, halves)
    with pytest.raises(UsageError, match=r"the grade 0\.5, which is not on the scale .* whole numbers"):
        simulate(pool, store, halves, grades="0=no,1=yes")
    assert not Path(store).exists()


def test_a_grade_that_is_not_on_the_scale_is_refused(pool: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="grade 2"):
        simulate(pool, str(tmp_path / "store.sqlite"), QRELS, grades="0=no,1=yes")
    many = {query: {f"d{grade}": grade for grade in range(7)} for query in QRELS}
    with pytest.raises(UsageError, match="at most 5 grades, all whole numbers from 0 to 9"):
        simulate(pool, str(tmp_path / "other.sqlite"), many)
    large = {query: dict.fromkeys(grades, 12) for query, grades in QRELS.items()}
    with pytest.raises(UsageError, match=r"grade 12, .* whole numbers from 0 to 9"):  # no scale has it
        simulate(pool, str(tmp_path / "store.sqlite"), large, grades="0=no,1=yes")
    assert not list(tmp_path.glob("*.sqlite"))
    simulate(pool, str(tmp_path / "store.sqlite"), QRELS)
    with pytest.raises(UsageError, match=r"Use judgments .* from 0 to 9, and another store"):
        simulate(pool, str(tmp_path / "store.sqlite"), large)


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ((2, 3), r"the grades 2 and 3, which are not .* Add the grades to --grades"),
        ((2, 0.5), r"the grades 0\.5 and 2, which are not .* whole numbers from 0 to 9"),
        ((2, 2.5), r"the grades 2 and 2\.5, which are not .* whole numbers from 0 to 9"),
        ((2, 3, 4, 5), r"the grades 2, 3, 4 and 5, which are not .* at most 5 different grades"),
    ],
)
def test_every_grade_that_is_not_on_the_scale_is_named_at_once(
    pool: str, tmp_path: Path, grades: tuple[float, ...], expected: str
) -> None:
    given = cycle((0, 1, *grades))
    judgments = {query: {document: next(given) for document in of} for query, of in QRELS.items()}
    with pytest.raises(UsageError, match=expected):
        simulate(pool, str(tmp_path / "store.sqlite"), judgments, grades="0=no,1=yes")


def test_an_existing_store_keeps_its_scale(pool: str, tmp_path: Path) -> None:
    store = str(tmp_path / "store.sqlite")
    Store.open(store, grades="0=no,1=yes").close()
    with pytest.raises(UsageError, match=r"give the grade 2, which is not on the scale of .*0=no,1=yes"):
        simulate(pool, store, QRELS)
    binary = {
        query: {document: min(grade, 1) for document, grade in of.items()} for query, of in QRELS.items()
    }
    assert simulate(pool, store, binary).judges["simulated"] > 0


def test_the_command_needs_a_pool_and_counts_what_was_not_judged(
    pool: str, tmp_path: Path, leadline: Leadline
) -> None:
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    asked = ["--simulate", tmp_path / "qrels.json", "--store", tmp_path / "s.sqlite", "-f", "json"]
    assert leadline("judge", *asked).status == 2
    done = leadline("judge", pool, *asked)
    assert done.status == 0, done.err
    assert json.loads(done.out)["judges"]["simulated"] > 0
    again = leadline("judge", pool, *asked[:-2])
    assert "already judged, so nothing was added" in again.out


def test_the_command_counts_what_it_adds_and_names_the_store_whose_queries_lack_judgments(
    pool: str, tmp_path: Path, leadline: Leadline
) -> None:
    store, qrels, other = (str(tmp_path / name) for name in ("s.sqlite", "qrels.json", "other.tsv"))
    Path(qrels).write_text(json.dumps({"q9": {"d1": 1}}))
    leadline("judge", pool, "--store", store, "--simulate", qrels)
    Path(other).write_text("query_id\tdoc_id\nq9\td1\nq9\td2\n")
    said = leadline("judge", other, "--store", store, "--simulate", qrels).out
    assert "added 2 pairs to the" in said
    assert f"queries in {store}" in said
    judged = [tmp_path / f"{name}.json" for name in RUNS]
    again = ["--for", "P@3", "--budget", "3", "--seed", "4", "--judged", store, "-o", other]
    assert leadline("pool", *judged, *again).status == 0
    said = leadline("judge", other, "--store", tmp_path / "new.sqlite", "--simulate", qrels).out
    assert "judged before the draw" in said
