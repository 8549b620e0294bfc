"""Judging in the order of a pool: half-widths equal those of `estimate`, and looks are fixed beforehand."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from conftest import Leadline
from judging_pages import Files, ask, event, save, stored, write
from leadline.data.judgment_tables import DrawnPool, Judgment
from leadline.errors import InputError, UsageError
from leadline.estimation.designs import at_scale, random_numbers_of
from leadline.estimation.estimate import estimate
from leadline.estimation.measured_pool import places_of_looks
from leadline.estimation.pool_designs import pool_for
from leadline.io.pool_files import read_drawn_pool, write_drawn_pool
from leadline.judging.events import parse_event
from leadline.judging.export import export
from leadline.judging.half_widths import PoolPrecision, Precision, parse_rule, runs_of
from leadline.judging.queue import Queues
from leadline.judging.startup import JudgingPage, opened
from leadline.judging.store import Store

QUERIES = [f"q{number:02}" for number in range(12)]
DOCUMENTS = [f"d{number:02}" for number in range(30)]
RNG = np.random.default_rng(5)
RUNS = {
    name: {query: [DOCUMENTS[place] for place in RNG.permutation(30)[:20]] for query in QUERIES}
    for name in "abc"
}
GRADES = {(query, document): float(RNG.integers(0, 2)) for query in QUERIES for document in DOCUMENTS}
SAID = {pair: (Judgment(*pair, "ann", grade),) for pair, grade in GRADES.items()}
POOL = pool_for(RUNS, ["P@5", "nDCG@5"], budget=8, seed=3).pool


def judged(pairs: Any) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for query, document in pairs:
        found.setdefault(query, {})[document] = GRADES[query, document]
    return found


def in_order(pool: DrawnPool) -> list[tuple[str, str]]:
    rows = sorted(np.flatnonzero(pool.drawn), key=lambda row: pool.order[row])
    return [(pool.queries[row], pool.documents[row]) for row in rows]


def largest(results: Any, measure: str) -> float:
    estimates = [results.estimate(name, measure) for name in results.names]
    return float(max((one.these_high - one.these_low) / 2 for one in estimates))


def test_the_pool_holds_the_top_of_its_runs() -> None:
    found = runs_of(POOL)
    assert found == {
        name: {query: ranked[:10] for query, ranked in run.items()} for name, run in RUNS.items()
    }


def test_ranks_below_a_shallow_pool_are_unknown_on_the_page_as_they_are_later() -> None:
    shallow = pool_for(RUNS, "P@10", budget=8, depth=5, seed=3).pool
    assert estimate(judged(in_order(shallow)), RUNS, "P@10", pool=shallow).estimate("a", "P@10").reason
    found = PoolPrecision(shallow).after(10_000, SAID)["P@10"]
    assert found == (None, "50 % of the weight is guessed or unknown (at most 5 % is allowed)", None)


@pytest.mark.parametrize("count", [55, 70, 10_000])
def test_half_widths_are_those_that_estimate_gives(count: int) -> None:
    pairs = in_order(POOL)[:count]
    results = estimate(judged(pairs), RUNS, ["P@5", "nDCG@5"], pool=POOL)
    found = PoolPrecision(POOL).after(count, SAID)
    assert found["P@5"].value == pytest.approx(largest(results, "P@5"), abs=1e-12)
    assert found["nDCG@5"].value is None  # estimate gives no interval either
    assert found["nDCG@5"].reason == results.estimate("a", "nDCG@5").reason


def test_the_forecast_for_the_whole_pool_is_that_of_pool() -> None:
    expected = pool_for(RUNS, ["P@5", "nDCG@5"], budget=8, seed=3).expected
    found = PoolPrecision(POOL)
    assert found.forecast("P@5", len(found.pairs)) == pytest.approx(expected["P@5"]["half_width"])
    forecasts = [found.forecast("P@5", count) or 0.0 for count in range(20, len(found.pairs) + 1)]
    assert forecasts == sorted(forecasts, reverse=True)
    assert found.forecast("nDCG@5", len(found.pairs)) is expected["nDCG@5"]["half_width"] is None


def test_too_few_judgments_and_measures_without_interval_have_a_reason() -> None:
    found = PoolPrecision(POOL).after(30, SAID)
    assert found["P@5"].value is None
    assert "30 pairs" in found["P@5"].reason
    ap = PoolPrecision(pool_for(RUNS, "AP", budget=8).pool)
    assert ap.after(70, SAID)["AP"].value is None
    assert ap.forecast("AP", 70) is None


def test_a_prefix_of_any_fixed_number_of_pairs_is_unbiased() -> None:
    """Priority sampling: the first n pairs in order, with the order of the next one as the scale."""
    share, grades = np.array([0.9, 0.5, 0.3, 0.2, 0.1, 0.05]), np.array([1.0, 0, 1, 1, 0, 1])
    rng = np.random.default_rng(1)
    for count in (2, 3, 5):
        totals = []
        for _ in range(20_000):
            number = rng.random(len(share))
            order = number / share
            end = np.sort(order)[count]
            p = at_scale(np.ones(len(share)), order, number, end)
            drawn = order < end
            totals.append((grades[drawn] / p[drawn]).sum())
        error = np.std(totals) / math.sqrt(len(totals))
        assert abs(np.mean(totals) - grades.sum()) < 4 * error


@pytest.mark.parametrize(
    "text",
    [
        "P@5 < 0.1",
        "P@5 half-width > 0.1",
        "P@5 half-width < 0",
        "P@5 half-width < nan",
        "P@5 half-width < x",
        "P@7 half-width < 0.1",
        "AP half-width < 0.1",
        "Z@5 half-width < 0.1",
        "half-width < 0.1",
        "",
    ],
)
def test_a_rule_is_read_strictly(text: str) -> None:
    with pytest.raises(UsageError) as found:
        parse_rule(text, ["P@5", "AP"])
    assert "\n" not in str(found.value)


def test_looks_are_at_equal_steps_from_fifty_on() -> None:
    assert places_of_looks(200, 10) == [60, 80, 100, 120, 140, 160, 180, 200]
    assert places_of_looks(200, 10, 100) == [120, 140, 160, 180, 200]
    assert places_of_looks(40, 10) == []
    assert places_of_looks(187, 3) == [63, 125, 187]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    documents = [{"doc_id": name, "title": name, "text": f"text of {name}"} for name in DOCUMENTS]
    made = write(tmp_path, documents, [{"query_id": name, "text": name} for name in QUERIES])
    write_drawn_pool(POOL, made.pool, ["a note"])
    return made


@pytest.fixture
def pair_pool() -> DrawnPool:
    return pool_for(RUNS, ["P@5", "nDCG@5"], total=90, pair=("a", "b"), seed=3).pool


def test_half_widths_of_a_pool_for_a_pair_are_those_of_the_difference(pair_pool: DrawnPool) -> None:
    pairs = in_order(pair_pool)[:60]
    two = {name: RUNS[name] for name in "ab"}
    results = estimate(judged(pairs), two, ["P@5", "nDCG@5"], pool=pair_pool)
    found = PoolPrecision(pair_pool).after(60, SAID)
    (one,) = results.differences("P@5")
    assert found["P@5"].value == pytest.approx((one.these_high - one.these_low) / 2, abs=1e-12)
    (other,) = results.differences("nDCG@5")
    assert other.reason
    assert found["nDCG@5"].value is None


def test_the_forecast_for_a_pair_is_that_of_pool(pair_pool: DrawnPool) -> None:
    expected = pool_for(RUNS, ["P@5", "nDCG@5"], total=90, pair=("a", "b"), seed=3).expected
    precision = PoolPrecision(pair_pool)
    assert precision.forecast("P@5", len(precision.pairs)) == pytest.approx(expected["P@5"]["half_width"])
    assert precision.forecast("nDCG@5", len(precision.pairs)) is None


def test_judges_who_disagree_count_on_the_page_as_they_do_later(files: Files) -> None:
    write_drawn_pool(pool_for(RUNS, "P@5", budget=8, seed=3).pool, files.pool, [])
    with opened(*files) as found:
        for name, differs in (("ann", 0), ("bob", 3)):
            found.queues.join(name)
            for number, pair in enumerate(found.queues.upcoming(name, 999)):
                grade = int(GRADES[pair.query, pair.document]) ^ (number % 4 < differs)
                sent = event(pair.id, number, key=f"{name}-{number:08}", grade=grade)
                found.queues.append(name, [parse_event(sent)])
        assert found.precision is not None
        shown = found.precision.numbers()
    results = estimate(files.store, RUNS, "P@5")
    assert shown["measures"][0]["now"] == pytest.approx(largest(results, "P@5"), abs=1e-12)
    assert shown["verdict"]["words"] == "\n".join(ll.compare(files.store, RUNS, "P@5").sentences())


def test_machine_labels_that_are_gone_are_said(files: Files, tmp_path: Path) -> None:
    labels = tmp_path / "labels.qrels"
    labels.write_text("".join(f"{q} 0 {d} {int(grade)}\n" for (q, d), grade in GRADES.items()))
    write_drawn_pool(pool_for(RUNS, "P@5", budget=8, machine=labels).pool, files.pool, [])
    with opened(*files) as page:
        assert not any(str(labels) in fact for fact in page.facts())
        assert ask(page.app(), "/api/progress").data["precision"]["missing_labels"] == ""
    labels.unlink()
    with opened(*files) as page:
        assert sum(str(labels) in fact for fact in page.facts()) == 1
        assert ask(page.app(), "/api/progress").data["precision"]["missing_labels"] == str(labels)


@pytest.fixture
def page(files: Files) -> Iterator[JudgingPage]:
    with opened(*files, stop_when="P@5 half-width < 0.16", looks=8) as found:
        yield found


class Judge:
    """Asks for one card after the other, as the page does, and judges or skips it."""

    def __init__(self, page: JudgingPage, name: str = "ann") -> None:
        self.page, self.name, self.shown = page, name, []  # type: ignore[var-annotated]
        page.queues.join(name)

    def step(self, kind: str = "judge") -> bool:
        if self.page.precision is not None:
            self.page.precision.advance()
        found = self.page.queues.upcoming(self.name, 1)
        if not found:
            return False
        (pair,) = found
        self.shown.append((pair.query, pair.document))
        sent = event(pair.id, len(self.shown), kind)
        sent["key"] += self.name
        if kind == "judge":
            sent["grade"] = int(GRADES[pair.query, pair.document])
        self.page.queues.append(self.name, [parse_event(sent)])
        return True


@pytest.mark.parametrize(("judges", "told"), [("ann", False), ("ann,bob", True)])
def test_pairs_go_to_two_judges_only_where_there_are_two(files: Files, judges: str, told: bool) -> None:
    with opened(*files, judges=judges) as found:
        assert any("two judges" in fact for fact in found.facts()) == told


def test_pairs_are_shown_in_the_order_of_the_pool_also_without_it_later(files: Files) -> None:
    pairs = in_order(POOL)
    with opened(*files) as found:
        judge = Judge(found)
        assert [judge.step() for _ in range(20)] == [True] * 20
        assert judge.shown == pairs[:20]
    with opened(None, *files[1:]) as found:
        assert found.precision is not None  # of the pool that the store keeps
        upcoming = found.queues.upcoming("ann", 999)
        assert [(pair.query, pair.document) for pair in upcoming] == pairs[20:]


def test_judging_stops_at_the_first_look_below_the_width(page: JudgingPage) -> None:
    pairs, judge = in_order(POOL), Judge(page)
    while judge.step():
        pass
    assert page.precision is not None
    state = json.loads(page.store.fact("stopping") or "")
    assert state["stopped"]
    assert page.queues.stopped
    taken = state["taken"]
    assert [one["pairs"] for one in taken] == state["looks"][: len(taken)]
    assert judge.shown == pairs[: taken[-1]["pairs"]]
    assert len(judge.shown) < len(pairs)
    for one in taken:
        results = estimate(judged(pairs[: one["pairs"]]), RUNS, "P@5", pool=POOL)
        assert one["half_width"] == pytest.approx(largest(results, "P@5"), abs=1e-12)
    assert [one["half_width"] < 0.16 for one in taken] == [False] * (len(taken) - 1) + [True]
    numbers = page.precision.numbers()
    assert numbers["measures"][0]["now"] == pytest.approx(taken[-1]["half_width"])
    assert numbers["front"] == taken[-1]["pairs"]


@pytest.mark.parametrize("size", [0, 15, 30])
def test_a_half_width_below_the_rule_is_not_shown_above_it(files: Files, size: int) -> None:
    pairs = in_order(POOL)[: 60 + size]
    width = largest(estimate(judged(pairs), RUNS, "P@5", pool=POOL), "P@5") + 1e-9
    with opened(*files, stop_when=f"P@5 half-width < {width:.9f}", looks=40) as page:
        judge = Judge(page)
        while judge.step():
            pass
        assert page.queues.stopped
        shown = float(re.findall(r"is ([\d.]+), below", page.queues.stopped)[0])
    assert shown < width


def test_no_pair_beyond_a_look_is_given_out_before_it_is_taken(page: JudgingPage) -> None:
    assert page.precision is not None
    first = page.precision.state["looks"][0] if page.precision.state else 0
    page.queues.join("ann")
    assert len(page.queues.upcoming("ann", 999)) == first
    assert page.queues.is_waiting("ann")
    judge = Judge(page)
    for _ in range(first):
        judge.step()
    page.precision.advance()
    assert page.queues.upcoming("ann", 1)


def test_a_skipped_pair_does_not_hold_up_a_look_and_is_counted(page: JudgingPage, files: Files) -> None:
    judge = Judge(page)
    judge.step("skip")
    while len(judge.shown) < 70:
        judge.step()
    assert page.precision is not None
    assert page.precision.state is not None
    last = page.precision.state["taken"][-1]
    assert last["skipped"] == 1
    page.store.checkpoint()
    (reason,) = {estimate(files.store, RUNS, "P@5", pool=POOL).estimate(name, "P@5").reason for name in RUNS}
    assert "judgments are missing" in reason
    results = estimate(judged(judge.shown[1 : last["pairs"]]), RUNS, "P@5", pool=POOL, skipped=True)
    assert last["half_width"] == pytest.approx(largest(results, "P@5"), abs=1e-12)
    assert {one.code for one in results.warnings} >= {"skipped_pairs", "smaller_draw"}


def test_the_looks_are_fixed_in_the_store(files: Files) -> None:
    rule = "P@5 half-width < 0.16"
    with opened(*files, stop_when=rule, looks=8) as found:
        judge = Judge(found)
        for _ in range(60):
            judge.step()
    for other in ({"stop_when": "P@5 half-width < 0.2", "looks": 8}, {"stop_when": rule, "looks": 9}):
        with pytest.raises(UsageError, match="the store has the stopping rule"), opened(*files, **other):  # type: ignore[arg-type]
            pass
    with opened(*files, stop_when=rule, looks=8) as found:
        assert found.precision is not None
        assert found.precision.state is not None
        assert len(found.precision.state["taken"]) == 1  # that after 55 pairs
        judge = Judge(found)
        while judge.step():
            pass
        stopped = found.queues.stopped
        assert stopped
    with opened(*files, stop_when=rule, looks=8) as found:
        assert found.queues.stopped == stopped
        assert not Judge(found).step()
    with opened(*files) as found:  # without the rule judging goes on
        assert Judge(found).step()


def test_a_rule_that_is_no_good_leaves_no_store_behind(files: Files, leadline: Leadline) -> None:
    words = ["judge", files.pool, "--docs", files.docs, "--queries", files.queries, "--store", files.store]
    assert leadline(*words, "--no-browser", "--stop-when", "P@9 half-width < 0.1").refusal
    assert not Path(files.store).exists()
    Path(files.pool).write_text("query_id\tdoc_id\nq00\td00\n")
    done = leadline(*words, "--no-browser", "--stop-when", "P@5 half-width < 0.1")
    assert (done.status, Path(files.store).exists()) == (2, False)


def test_a_scale_that_is_too_low_leaves_no_store_behind(files: Files, leadline: Leadline) -> None:
    higher = pool_for(RUNS, ["P(rel=3)@5"], budget=6).pool
    write_drawn_pool(higher, files.pool, [])
    words = ["judge", files.pool, "--docs", files.docs, "--queries", files.queries, "--store", files.store]
    assert 'such as "0=no,3=yes"' in leadline(*words, "--no-browser").refusal
    assert not Path(files.store).exists()


def test_no_scale_is_advised_for_a_level_that_no_judge_can_give(files: Files, leadline: Leadline) -> None:
    higher = pool_for(RUNS, ["P(rel=12)@5"], budget=6).pool
    write_drawn_pool(higher, files.pool, [])
    words = ["judge", files.pool, "--docs", files.docs, "--queries", files.queries, "--store", files.store]
    refusal = leadline(*words, "--no-browser").refusal
    assert "P(rel=12)@5" in refusal
    assert "--grades" not in refusal


def test_judges_of_their_own_queries_are_draws_of_their_own(files: Files) -> None:
    """Two judges are stopped at different places: each is a smaller draw, bounded by its own next pair."""
    with opened(*files, judges="ann,bob", overlap=0.3) as found:
        judges = {name: Judge(found, name) for name in ("ann", "bob")}
        for number in range(40):
            judges["ann"].step()
            if number < 22:
                judges["bob"].step()
        owners: Mapping[str, str] = found.store.deals()
    pairs = in_order(POOL)
    order = dict(zip(zip(POOL.queries, POOL.documents, strict=True), POOL.order.tolist(), strict=True))
    done = {pair for judge in judges.values() for pair in judge.shown}
    ends = {
        name: min(order[pair] for pair in pairs if owners[pair[0]] == name and pair not in done)
        for name in judges
    }
    assert ends["ann"] > ends["bob"]
    assert all(order[pair] < ends[owners[pair[0]]] for pair in done)  # nobody is ahead in another's queries
    results = estimate(files.store, RUNS, "P@5", pool=POOL, proxy="none")
    for name, run in RUNS.items():
        total = 0.0
        for query, ranked in run.items():
            for document in ranked[:5]:
                pair = (query, document)
                if pair in done:
                    share = random_numbers_of([pair], 3)[0] / order[pair]
                    total += GRADES[pair] / min(1.0, ends[owners[query]] * share) / 5
        assert results.mean(name, "P@5") == pytest.approx(total / len(QUERIES), abs=1e-12)
    assert [one.count for one in results.warnings if one.code == "smaller_draw"] == [len(pairs) - len(done)]
    table = f"{files.store}.csv"  # an export keeps whose queries they are
    export(files.store, table)
    exported = ll.evaluate(table, RUNS, "P@5")
    assert exported.means.tolist() == ll.evaluate(files.store, RUNS, "P@5").means.tolist()


def ask_cards(app: Any, judge: str, secret: str) -> Any:
    body = {"judge": judge, "count": 5, "holding": []}
    return ask(app, "/api/cards", body=body, origin="http://localhost", x_leadline=secret).data


def test_a_second_judge_awaits_the_pairs_that_the_first_has_not_judged(files: Files) -> None:
    with opened(*files, judges="ann,bob", overlap=0.3) as found:
        ann, bob = Judge(found, "ann"), Judge(found, "bob")
        while ann.step():
            pass
        count = found.queues.count("ann")
        assert count.done < count.total
        assert found.queues.awaited("ann") == {"bob": count.total - count.done}
        answer = ask_cards(found.app(), "ann", found.store.secret)
        assert (answer["cards"], answer["more"]) == ([], True)
        assert answer["awaited"] == {"bob": count.total - count.done}
        while bob.step():
            pass
        assert found.queues.awaited("ann") == found.queues.awaited("bob") == {}
        while ann.step():
            pass
        assert found.queues.count("ann").done == count.total
        assert not ask_cards(found.app(), "ann", found.store.secret)["more"]


def test_a_judge_who_waits_for_others_only_goes_on_beyond_the_look(files: Files) -> None:
    with opened(*files, judges="ann,bob", stop_when="P@5 half-width < 0.01") as found:
        ann, bob = Judge(found, "ann"), Judge(found, "bob")
        steps = 0
        while ann.step():
            steps += 1
        assert steps == found.queues.count("ann").done
        assert found.precision is not None
        assert found.precision.state is not None
        assert found.precision.state["taken"] == []
        assert found.precision.numbers()["beyond"] > 0
        while bob.step() or ann.step():
            pass
        found.precision.advance()
        assert len(found.precision.state["taken"]) == len(found.precision.state["looks"])
        assert not found.queues.stopped


@pytest.mark.parametrize("budget", [8, 1000])
def test_pairs_judged_before_the_draw_are_not_asked_again(files: Files, budget: int) -> None:
    known = judged((query, RUNS["a"][query][0]) for query in QUERIES)
    pool = pool_for(RUNS, "P@5", budget=budget, judged=known).pool
    write_drawn_pool(pool, files.pool, [])
    again = read_drawn_pool(files.pool)
    with opened(*files) as found:
        asked = {(pair.query, pair.document) for pair in found.queues.pairs.values()}
        assert not asked & {(query, document) for query in known for document in known[query]}
        assert len(asked) == int(again.drawn.sum()) - len(QUERIES)
        assert {one.code for one in found.warnings} == {"judged_before"}
        assert found.precision is None
        judge = Judge(found)
        while judge.step():
            pass
    results = ll.evaluate(
        files.store, RUNS, "P@5"
    )  # as other judgments with gaps, even if all else is certain
    assert results.sampling is not None
    assert "judgments are missing" in " ".join(map(str, results.warnings))
    with pytest.raises(UsageError, match="judged before"), opened(*files, stop_when="P@5 half-width < 0.1"):
        pass


def test_pairs_judged_before_the_draw_are_missing_even_from_queries_that_nobody_judges(files: Files) -> None:
    known = judged(
        (query, document) for query in QUERIES[:2] for run in RUNS for document in RUNS[run][query]
    )
    pool = pool_for(RUNS, "P@5", budget=8, judged=known).pool
    write_drawn_pool(pool, files.pool, [])
    with opened(*files, judges="ann") as found:
        judge = Judge(found, "ann")
        while judge.step():
            pass
    notices = {one.code: one.count for one in ll.evaluate(files.store, RUNS, "P@5").warnings}
    assert notices["skipped_pairs"] == int(pool.judged_before.sum())
    assert "smaller_draw" not in notices


def test_the_progress_page_has_the_numbers(page: JudgingPage) -> None:
    judge = Judge(page)
    for _ in range(60):
        judge.step()
    found = ask(page.app(), "/api/progress").data["precision"]
    assert (found["front"], found["pairs"], found["skipped"], found["beyond"]) == (
        60,
        len(in_order(POOL)),
        0,
        0,
    )
    (first, second) = found["measures"]
    assert (first["measure"], second["measure"]) == ("P@5", "nDCG@5")
    assert first["points"][-1] == [60, first["now"]]
    assert first["ahead"][0] == pytest.approx([60, first["now"]], abs=1e-12)
    assert first["ahead"][-1] == [found["pairs"], first["end"]]
    assert first["end"] < first["now"]
    assert found["stopping"]["used"]


def test_without_an_order_nothing_changes(tmp_path: Path) -> None:
    files = write(tmp_path)
    with opened(*files) as found:
        assert found.precision is None
        assert {pair.order for pair in found.queues.pairs.values()} == {math.inf}
        assert ask(found.app(), "/api/progress").data["precision"] is None


def drawn(orders: dict[str, float]) -> DrawnPool:
    size = len(orders)
    return DrawnPool(
        ["q"] * size,
        list(orders),
        np.ones(size),
        np.array(list(orders.values())),
        [{} for _ in orders],
        np.ones(size, dtype=np.bool_),
    )


def test_a_larger_pool_changes_the_order(tmp_path: Path) -> None:
    with closing(Store.open(str(tmp_path / "s.sqlite"))) as store:
        store.add_pairs([("q", "d1", 1.0), ("q", "d2", 1.0)])
        store.set_pool(drawn({"d1": 0.5, "d2": 0.2}))
        queues = Queues(store)
        assert [pair.id for pair in queues.upcoming(queues.join("ann"), 9)] == [2, 1]
        store.set_pool(drawn({"d1": 0.1}))
        assert [pair.order for pair in store.pairs()] == [0.1, math.inf]


def test_judgments_of_pairs_outside_the_pool_are_not_counted_as_drawn(tmp_path: Path) -> None:
    path = str(tmp_path / "s.sqlite")
    with closing(Store.open(path)) as store:
        store.add_judge("ann")
        store.add_pairs([("q", "d0", 1.0), ("q", "d1", 0.5), ("q", "d2", 0.5)])
        store.set_pool(drawn({"d1": 0.5, "d2": 0.2}))
        save(store, "ann", [parse_event(event(pair)) for pair in (1, 2)])
    assert [each[::2] for each in ll.read_qrels(path).remarks] == [("drawn_pool", 1), ("part_judged", 1)]


def test_a_rule_is_refused_where_the_store_has_the_looks_of_another_pool(files: Files) -> None:
    rule = "P@5 half-width < 0.16"
    with opened(*files, stop_when=rule):
        pass
    larger = pool_for(RUNS, ["P@5", "nDCG@5"], budget=9, seed=3, earlier=POOL).pool
    equal = pool_for(RUNS, ["P@5", "nDCG@5"], total=int(POOL.drawn.sum()), seed=4).pool
    for other in (larger, equal):
        write_drawn_pool(other, files.pool, [])
        words = f"and another pool of {int(other.drawn.sum())} pairs"
        with pytest.raises(UsageError, match=words), opened(*files, stop_when=rule):
            pass
        assert len(stored(files.store, "SELECT id FROM pairs")) == POOL.drawn.sum()  # none was added
    write_drawn_pool(POOL, files.pool, [])
    with closing(Store.open(str(files.store))) as store:  # as saved by an earlier version
        state = json.loads(store.fact("stopping") or "")
        store.set_fact("stopping", json.dumps({name: state[name] for name in state if name != "pool"}))
    said = r"with judge\.looks=3\. Use"
    with pytest.raises(UsageError, match=said), opened(*files, stop_when=rule, looks=3):
        pass
    with opened(*files) as found:
        assert isinstance(found.precision, Precision)


def test_a_store_without_its_pool_applies_its_rule_as_the_page_advises(files: Files) -> None:
    with opened(*files, stop_when="P@5 half-width < 0.16", looks=3):
        pass
    with opened(None, *files[1:]) as found:
        assert found.precision is not None
        advised = re.search(r"--stop-when '(.*)' --config judge\.looks=(\d+)", found.precision.facts()[-1])
    assert advised
    with opened(None, *files[1:], stop_when=advised[1], looks=int(advised[2])) as found:
        assert found.precision is not None
        assert "judging stops when" in found.precision.facts()[-1]
    larger = pool_for(RUNS, ["P@5", "nDCG@5"], budget=9, seed=3, earlier=POOL).pool
    write_drawn_pool(larger, files.pool, [])
    with opened(*files) as found:
        assert found.precision is not None
        assert "--stop-when" not in found.precision.facts()[-1]


LOOKED = {"pairs": 60, "skipped": 0, "half_width": 0.2, "time": "2026-01-01T00:00:00+00:00"}
SAVED = {"rule": "P@5 half-width < 0.16", "number": 3, "pairs": 99, "looks": [60, 80]}


@pytest.mark.parametrize(
    "state",
    [
        *("x", "[]", "{}", '{"rule": 5}'),
        *(
            json.dumps(SAVED | {"taken": [], "stopped": False} | damage)
            for damage in (
                {"looks": ["a"]},
                {"looks": [60, 100]},
                {"looks": [80, 60]},
                {"looks": [0]},
                {"taken": [3]},
                {"taken": [LOOKED | {"pairs": 61}]},
                {"taken": [LOOKED | {"half_width": "x"}]},
                {"stopped": True},
            )
        ),
    ],
)
def test_a_damaged_rule_is_a_damaged_store(files: Files, state: str) -> None:
    with opened(*files) as found:
        found.store.set_fact("stopping", state)
    for rule in (None, "P@5 half-width < 0.16"):
        with pytest.raises(InputError, match="damaged store"), opened(*files, stop_when=rule):
            pass


def test_a_store_without_pairs_needs_a_pool(files: Files) -> None:
    Store.open(files.store).close()
    with pytest.raises(UsageError, match="Pass POOL"), opened(None, *files[1:]):
        pass
