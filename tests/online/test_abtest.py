"""A/B tests: counts and logs give the same, warnings come where they must, real logs as they are known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from leadline.errors import InputError, UsageError
from leadline.online.abtest import Units, _arm, _by_rows, abtest
from leadline.online.abtest_result import ABTest, _p_text
from leadline.online.proportions import Proportion, fisher_p, users_needed, wilson


def codes(found: ABTest) -> set[str]:
    return {notice.code for notice in found.warnings}


def write(path: Path, rows: list[tuple[Any, ...]], head: str = "arm,click,user") -> str:
    path.write_text(head + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return str(path)


def test_the_known_logs_of_a_shop_come_out_as_they_are_known(shared_data: Path) -> None:
    folder = shared_data / "open-bandit"
    for campaign, clicks, z in (("men", (46, 69), 2.15), ("all", (38, 42), 0.45)):
        found = ll.abtest(
            a_log=folder / f"{campaign}_random.csv.gz",
            b_log=folder / f"{campaign}_bts.csv.gz",
            time="timestamp",
        )
        assert tuple(arm.clicked for arm in found.arms) == clicks
        assert [arm.units for arm in found.arms] == [10_000, 10_000]
        assert round(found.compared.z, 2) == z
        assert found.significant == (campaign == "men")
        assert found.always is not None
        assert found.always.p > 0.05
        assert {"ungrouped", "few_clicks"} <= codes(found)
        assert found.arms[0].name == f"{campaign}_random"


def test_counts_and_a_log_of_users_give_the_same(tmp_path: Path) -> None:
    rows = [("a", int(user < 30), f"a{user}") for user in range(200)]
    rows += [("b", int(user < 60), f"b{user}") for user in range(220)]
    counts = abtest(a=(30, 200), b=(60, 220), planned=0.5)
    found = abtest(write(tmp_path / "log.csv", rows), user="user", planned=0.5)
    assert found.compared == counts.compared
    assert found.split == counts.split
    assert found.sizes == counts.sizes
    assert found.unit == counts.unit == "user"
    assert counts.always is not None
    assert found.always is not None
    assert counts.always.path is None
    assert found.always.path is not None


def test_grouping_by_user_counts_each_user_once(tmp_path: Path) -> None:
    rows = [("a", 1, "u1")] * 5 + [("a", 0, "u2"), ("b", 0, "u3"), ("b", 1, "u4"), ("b", 0, "u4")]
    path = write(tmp_path / "log.csv", rows)
    found = abtest(path, user="user")
    assert [(arm.clicked, arm.units) for arm in found.arms] == [(1, 2), (1, 2)]
    assert "ungrouped" not in codes(found)
    alone = abtest(path)
    assert [(arm.clicked, arm.units) for arm in alone.arms] == [(5, 6), (1, 3)]
    assert "ungrouped" in codes(alone)
    by_rows = abtest(path, user="user", metric="rows")
    assert [arm.rate for arm in by_rows.arms] == pytest.approx([5 / 6, 1 / 3])
    assert by_rows.compared.test == "Welch's t by the delta method"
    assert by_rows.always is None
    withheld = by_rows.to_dict()
    assert [withheld[key] for key in ("low", "p", "z", "p_exact")] == [None] * 4
    assert withheld["power"]["detectable"] is None
    assert [arm["low"] for arm in withheld["arms"]] == [None] * 2
    assert "few_users" in codes(by_rows)


@pytest.mark.parametrize("clicks", [0, 2])
def test_clicks_per_row_without_variance_have_no_interval(tmp_path: Path, clicks: int) -> None:
    rows = [("a", int(row < clicks), f"a{user}") for user in range(30) for row in range(3)]
    rows += [("b", user % 2, f"b{user}") for user in range(30)]
    found = abtest(write(tmp_path / "log.csv", rows), user="user", metric="rows", smallest=0.1)
    assert math.isnan(found.arms[0].low)
    assert found.arms[1].low > 0.2
    assert math.isnan(found.compared.p)
    assert any(
        "all users of one arm have the same clicks per row" in notice.message for notice in found.warnings
    )
    assert "nan" not in str(found)


@pytest.mark.parametrize("users", [20, 99, 100])
def test_clicks_per_row_of_few_users_are_called_approximate(tmp_path: Path, users: int) -> None:
    rows = [(arm, int(user % 3 == 0), f"{arm}{user}") for arm in "ab" for user in range(users)]
    found = abtest(write(tmp_path / "log.csv", rows), user="user", metric="rows")
    assert ("approximate_intervals" in codes(found)) == (users < 100)
    assert "approximate_intervals" not in codes(abtest(tmp_path / "log.csv", user="user"))


def test_clicks_per_row_have_a_test_where_the_pooled_variance_vanishes(tmp_path: Path) -> None:
    shapes = {"a": [(0, 1), (1, 3)], "b": [(1, 1), (2, 3)]}  # clicks, rows: x - y / 2 is constant in an arm
    rows = [
        (arm, int(row < clicks), f"{arm}{user}")
        for arm, users in shapes.items()
        for user, (clicks, number) in enumerate(users * 10)
        for row in range(number)
    ]
    compared = abtest(write(tmp_path / "log.csv", rows), user="user", metric="rows").compared
    error = math.sqrt(2 * 0.25**2 * 20 / 19 / 20 / 2**2)  # x - R y is -1/4 or 1/4 in A, 1/4 or -1/4 in B
    assert compared.z == pytest.approx(0.5 / error)
    assert 0 < compared.p < 1e-10


def test_clicks_per_row_hold_their_level_with_few_users() -> None:
    rng = np.random.default_rng(5)
    users, wrong, held = 30, 0, 0
    for _ in range(1500):
        rows = rng.geometric(0.3, 2 * users)
        clicks = rng.binomial(rows, rng.beta(1.2, 2.8, 2 * users)).astype(np.float64)
        units = Units(np.repeat([0, 1], users), rows.astype(np.float64), clicks)
        arms = [_arm(arm, None, Proportion(*units.counts(arm)), units, "rows", 0.95) for arm in (0, 1)]
        compared = _by_rows(units, arms[0], arms[1])
        wrong += compared.p < 0.05
        held += (compared.low <= 0 <= compared.high) + (arms[0].low <= 0.3 <= arms[0].high)
    assert 0.03 < wrong / 1500 < 0.065
    assert 0.935 < held / 3000 < 0.965


@pytest.mark.slow
def test_the_delta_method_errs_no_more_than_it_should_where_rows_of_a_user_go_together(
    tmp_path: Path,
) -> None:
    naive = grouped = 0
    rng = np.random.default_rng(2)
    for _ in range(60):
        rows = []
        for user in range(120):
            taste = float(rng.choice([0.02, 0.6]))
            rows += [("ab"[user % 2], int(rng.random() < taste), user)] * 1
            rows += [("ab"[user % 2], int(rng.random() < taste), user) for _ in range(5)]
        path = write(tmp_path / "log.csv", rows)
        naive += abtest(path).significant
        grouped += abtest(path, user="user", metric="rows").significant
    assert naive / 60 > 0.15
    assert grouped / 60 < 0.13


def test_both_clickthroughs_of_the_lecture(tmp_path: Path) -> None:
    rows = [
        ("a", 1, "u1", 1),
        ("a", 1, "u2", 3),
        ("a", 0, "u3", ""),
        ("b", 1, "u4", 11),
        ("b", 0, "u5", ""),
        ("b", 1, "u6", 10),
    ]
    path = write(tmp_path / "log.csv", rows, "arm,click,user,rank")
    top = abtest(path, user="user", position="rank", within=1)
    page = abtest(path, user="user", position="rank")
    assert [arm.clicked for arm in top.arms] == [1, 0]
    assert [arm.clicked for arm in page.arms] == [2, 1]
    assert [arm.units for arm in page.arms] == [3, 3]
    assert page.options["within"] == 10


@given(st.integers(0, 30), st.integers(0, 30))
def test_few_users_get_the_exact_test(a: int, b: int) -> None:
    found = abtest(a=(a, 30), b=(b, 30))
    small = (a + b) / 2 < 5 or (60 - a - b) / 2 < 5  # half of the clicks are expected in each arm
    assert (found.compared.test == "Fisher's exact test") == small
    assert ("small_counts" in codes(found)) == small
    if small:
        assert found.compared.p == pytest.approx(fisher_p(Proportion(a, 30), Proportion(b, 30)))


def test_no_click_at_all_is_no_difference_and_no_z() -> None:
    found = abtest(a=(0, 50), b=(0, 60))
    assert found.compared.p == 1
    assert math.isnan(found.compared.z)
    assert found.to_dict()["z"] is None
    assert found.to_dict()["lift"]["value"] is None
    assert "few_clicks" in codes(found)
    assert not found.significant


def test_a_split_that_was_not_planned_is_a_warning() -> None:
    assert "--" not in str(abtest(a=(50, 100), b=(60, 100)))  # Python has no options of the command line
    assert "sample_ratio" in codes(abtest(a=(500, 10_000), b=(500, 9_000), planned=0.5))
    assert "sample_ratio" not in codes(abtest(a=(500, 19_000), b=(50, 1_000), planned=0.05))


def test_swapping_the_arms_turns_the_sign(tmp_path: Path) -> None:
    rows = [("a", int(n % 3 == 0), n) for n in range(90)] + [("b", int(n % 2), n + 100) for n in range(90)]
    path = write(tmp_path / "log.csv", rows)
    found, turned = abtest(path, user="user"), abtest(path, user="user", arms=("b", "a"))
    assert turned.compared.difference == -found.compared.difference
    assert turned.compared.p == pytest.approx(found.compared.p)
    assert turned.always is not None
    assert found.always is not None
    assert turned.always.p == pytest.approx(found.always.p)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "pass counts (`a` and `b`), one log of both arms, or one log per arm (`a_log` and `b_log`)"),
        ({"a": (1, 2)}, "a needs b"),
        ({"a_log": "x"}, "a_log needs b_log"),
        ({"a": (3, 2), "b": (1, 2)}, "A: there are more clicks (3) than users (2)"),
        ({"a": (0, 0), "b": (1, 2)}, "A: users must be at least 1, not 0"),
        ({"a": 5, "b": (1, 2)}, "a must be a tuple (a whole number, a whole number)"),
        ({"a": (1, 2), "b": (1, 2), "user": "u"}, "user needs a log"),
        ({"a": (1, 2), "b": (1, 2), "within": 1}, "within needs a log"),
        ({"a": (1, 2), "b": (1, 2), "metric": "rows"}, "metric='rows' needs a log"),
        ({"log": "x", "within": 1}, "within needs position"),
        ({"log": "x", "metric": "rows"}, "metric='rows' needs user"),
        (
            {"log": "x", "metric": "rows", "user": "u", "effect": 0.5},
            "use only one of effect and metric='rows'",
        ),
        ({"a": (1, 2), "b": (1, 2), "planned": 1.5}, "not 1.5"),
        ({"a": (1, 2), "b": (1, 2), "confidence": 95}, "such as 0.95, not 95"),
        ({"a": (1, 2), "b": (1, 2), "effect": -1}, "not -1"),
        ({"a": (1, 2), "b": (1, 2), "power": 2}, "not 2"),
        ({"a": (1, 2), "b": (1, 2), "arms": ("a", "b")}, "arms needs one log of both arms"),
        ({"log": "x", "a": (1, 2)}, "a log and counts"),
        ({"log": pl.DataFrame({"arm": ["a"]})}, "Write it to a CSV file, and pass the path"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_in_words(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as rejected:
        abtest(**given)
    assert says in str(rejected.value)


def test_no_users_needed_come_of_the_difference_observed() -> None:
    found = abtest(a=(460, 10_000), b=(527, 10_000))
    assert found.sizes.users_needed is None
    assert found.to_dict()["power"]["users_needed"] is None
    asked = [abtest(a=(460, 10_000), b=(clicks, 10_000), smallest=0.005) for clicks in (461, 900)]
    assert asked[0].sizes.users_needed == asked[1].sizes.users_needed  # whatever was observed
    low, high = wilson(Proportion(460, 10_000), 0.95)
    known = max(users_needed(high, 0.005 / high))
    assert asked[0].sizes.users_needed == known
    assert known > max(users_needed(0.046, 0.005 / 0.046))  # an upper limit
    assert low < 0.046 < high


def test_users_needed_for_clicks_a_row_come_of_the_variance_of_users(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    rows = [
        ("ab"[user % 2], int(generator.random() < 0.3), f"u{user}")
        for user in range(400)
        for _ in range(1 + user % 3)
    ]
    found = abtest(write(tmp_path / "log.csv", rows), user="user", metric="rows", smallest=0.02)
    needed = found.sizes.users_needed
    assert needed is not None
    error = found.sizes.detectable / (1.959964 + 0.841621)
    plain = ((1.959964 + 0.841621) / 0.02) ** 2 * error**2 * 200  # 200 users an arm
    assert plain < needed < 1.3 * plain


def test_an_impossible_smallest_difference_is_a_warning_beside_the_result() -> None:
    found = abtest(a=(500, 1000), b=(600, 1000), smallest=0.6)
    assert found.sizes.users_needed is None
    assert found.compared.p < 0.001
    assert "impossible_difference" in codes(found)


def test_rows_are_not_called_users_in_a_warning_about_their_number(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", [(arm, row % 2, "") for arm in "ab" for row in range(100)])
    (found,) = [one for one in abtest(path, smallest=0.9).warnings if one.code == "impossible_difference"]
    assert "number of rows" in found.message


def test_a_click_without_a_position_is_not_called_too_deep(tmp_path: Path) -> None:
    rows = [(arm, row % 2, "", 1 + row % 3) for arm in "ab" for row in range(30)]
    for extra, says in (([], "position 2"), ([("a", 1, "", "")], "position 2 or without a position")):
        path = write(tmp_path / "log.csv", rows + extra, "arm,click,user,position")
        notes = {one.code: one.message for one in abtest(path, position="position", within=2).warnings}
        assert notes["below_positions"].endswith(says)


@pytest.mark.parametrize("user", [None, "user"])
def test_clicks_without_a_position_are_counted(tmp_path: Path, user: str | None) -> None:
    views = [(arm, row % 2, f"{arm}{row}", 1 if row % 4 == 1 else "") for arm in "ab" for row in range(80)]
    path = write(tmp_path / "log.csv", views, "arm,click,user,position")
    notes = {one.code: one.count for one in abtest(path, user=user, position="position").warnings}
    assert notes["clicks_without_position"] == 40


def test_a_missing_column_is_said_with_the_option_that_chooses_it(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", [("a", 1, "u"), ("b", 0, "v")], "team,click,user")
    with pytest.raises(InputError, match="Choose the column with `arm`"):
        abtest(path)


def test_a_p_at_the_level_shows_on_which_side_it_is() -> None:
    for level in (0.05, 0.0123456):
        for p in (level * 0.9999999, level * 1.0000001):
            assert (float(_p_text(p, level).removeprefix("p = ")) < level) == (p < level)


@pytest.mark.parametrize(
    ("names", "arms", "said"),
    [(("new", "old"), None, 1), (("new", "old"), ("old", "new"), 0), (("control", "v2"), None, 0)],
)
def test_a_control_that_nobody_named_is_said(
    names: tuple[str, str], arms: tuple[str, str] | None, said: int, tmp_path: Path
) -> None:
    path = write(tmp_path / "log.csv", [(names[0], 1, "u"), (names[1], 0, "v")])
    found = abtest(path, arms=arms, user="user")
    assert [one.code for one in found.warnings].count("arms_by_name") == said
    assert not any("--" in one.message or "[" in one.message for one in found.warnings)


def test_arms_are_two_or_the_only_ones(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", [("a", 1, "u"), ("b", 0, "v")])
    assert abtest(path, arms=[]).compared == abtest(path).compared
    with pytest.raises(UsageError, match="two different arms"):
        abtest(path, arms=["a", "b", "a"])


@pytest.mark.parametrize("power", [0, 0.02, 1, 2])
def test_a_power_that_is_none_is_refused_for_clicks_per_row(tmp_path: Path, power: float) -> None:
    path = write(tmp_path / "log.csv", [("a", 1, "u"), ("b", 0, "v")])
    with pytest.raises(UsageError, match="power must be above"):
        abtest(path, user="user", metric="rows", power=power)


@pytest.mark.parametrize("smallest", [0.0, -0.1, 1.0, math.nan, math.inf])
def test_a_smallest_difference_that_is_none_is_refused(smallest: float) -> None:
    with pytest.raises(UsageError, match="smallest"):
        abtest(a=(460, 10_000), b=(527, 10_000), smallest=smallest)


@pytest.mark.parametrize(
    ("users", "verdict"),
    [
        ((10_000, 10_100), "as planned"),
        ((10_000, 10_300), "possibly not as planned"),
        ((10_000, 10_600), "not as planned"),
    ],
)
def test_the_sample_ratio_has_three_verdicts(users: tuple[int, int], verdict: str) -> None:
    found = abtest(a=(500, users[0]), b=(500, users[1]), planned=0.5)
    assert found.split is not None
    assert found.split.verdict == found.to_dict()["sample_ratio"]["verdict"] == verdict
    assert found.split.suspect == (verdict == "not as planned")


def test_the_order_of_two_logs_matters_to_the_sequential_test_alone(tmp_path: Path) -> None:
    for arm in "ab":
        text = "".join(
            f"{(user + row) % 2},{arm}{user}\n" for user in range(30) for row in range(user % 3 + 1)
        )
        (tmp_path / f"{arm}.csv").write_text(f"click,user\n{text}", "utf-8")
    a_log, b_log = tmp_path / "a.csv", tmp_path / "b.csv"
    assert "interleaved" in codes(abtest(a_log=a_log, b_log=b_log, user="user"))
    by_rows = abtest(a_log=a_log, b_log=b_log, user="user", metric="rows")
    assert by_rows.always is None
    assert "interleaved" not in codes(by_rows)
