"""Logs: arms, users, positions, time; every cell that cannot be read is an error with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline.errors import InputError, UsageError
from leadline.online.abtest import Units, abtest, ratio, units_of
from leadline.online.logs import Columns, Log, chosen_arms, read_log, read_two, shown_within

HEAD = "arm,click,user,position,time\n"
COLUMNS = Columns("click", "arm", "user", "position", "time")


def write(folder: Path, rows: str, head: str = HEAD, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_text(head + rows)
    return path


def every(log: Log) -> tuple[Any, Any]:
    return np.ones(len(log.click), dtype=np.bool_), log.click


def test_rows_come_in_the_order_of_time(tmp_path: Path) -> None:
    path = write(tmp_path, "b,1,u2,1,2019-11-24 00:00:19+00:00\na,0,u1,2,2019-11-24 00:00:17.5+00:00\n")
    log = read_log(path, COLUMNS)
    assert (log.arms, log.arm.tolist(), log.click.tolist()) == (["a", "b"], [0, 1], [0, 1])
    assert log.position.tolist() == [2, 1]
    assert log.timed


def test_users_are_grouped_and_a_user_of_both_arms_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "a,0,u1,1,1\na,1,u1,2,2\nb,0,u2,1,3\na,1,u3,1,4\nb,0,u3,1,5\nb,3,u4,1,6\n")
    log = read_log(path, COLUMNS)
    units = units_of(log, *every(log))
    assert log.repeated.tolist() == [False] * 5 + [True]
    assert units.crossed == 1
    assert (units.counts(0), units.counts(1)) == ((1, 1), (1, 2))
    assert units.rows.tolist() == [2, 1, 1]


def test_a_third_arm_is_left_out_with_its_clicks_and_the_users_who_saw_it(tmp_path: Path) -> None:
    path = write(tmp_path, "a,0,u1,1,1\na,1,u2,1,2\nb,1,u3,1,3\nc,5,u1,1,4\nc,0,u4,1,5\n")
    found = abtest(path, user="user", arms=("a", "b"))
    assert [arm.units for arm in found.arms] == [1, 1]
    counts = {notice.code: notice.count for notice in found.warnings}
    assert (counts["other_arms"], counts["crossed_users"]) == (2, 1)
    assert "repeated_clicks" not in counts


def test_clicks_that_do_not_count_are_not_said_to_be_several(tmp_path: Path) -> None:
    path = write(tmp_path, "a,1,u1,1,1\nb,2,u2,1,2\nb,2,u3,12,3\na,2,u4,1,4\nb,2,u4,1,5\n")
    found = abtest(path, user="user", position="position")
    assert {notice.code: notice.count for notice in found.warnings}["repeated_clicks"] == 1


def test_users_of_both_arms_are_left_out_if_one_row_is_below_the_positions(tmp_path: Path) -> None:
    path = write(tmp_path, "a,1,u1,1,1\nb,0,u1,2,2\na,0,u2,1,3\nb,0,u3,1,4\n")
    found = abtest(path, user="user", position="position", within=1)
    assert [arm.units for arm in found.arms] == [1, 1]
    assert "crossed_users" in {notice.code for notice in found.warnings}


def test_without_users_every_row_is_a_unit(tmp_path: Path) -> None:
    log = read_log(write(tmp_path, "a,1,u,1,1\na,0,u,1,2\nb,0,u,1,3\n"), Columns("click", "arm"))
    units = units_of(log, *every(log))
    assert (units.counts(0), units.counts(1)) == ((1, 2), (0, 1))


def test_rows_of_results_below_the_positions_are_out_and_page_views_stay(tmp_path: Path) -> None:
    shown = read_log(write(tmp_path, "a,1,u1,1,1\na,0,u1,2,2\nb,1,u2,2,3\n"), COLUMNS)
    counted, click = shown_within(shown, 1)
    assert (counted.tolist(), click.tolist()) == ([True, False, False], [1, 0, 0])
    views = read_log(write(tmp_path, "a,1,u1,1,1\na,0,u1,,2\nb,1,u2,2,3\n"), COLUMNS)
    counted, click = shown_within(views, 1)
    assert (counted.tolist(), click.tolist()) == ([True, True, True], [1, 0, 0])
    mixed = read_log(write(tmp_path, "a,1,u1,1,1\na,0,u1,,2\nb,0,u2,2,3\n"), COLUMNS)
    with pytest.raises(InputError, match="1 of 2 rows without a click has no position"):
        shown_within(mixed, 1)


@pytest.mark.parametrize("position", ["", "1", "2"])
def test_the_clickthrough_of_rank_1_is_a_share_of_all_users(tmp_path: Path, position: str) -> None:
    rows = "".join(f"{'ab'[user % 2]},{user % 3 // 2},u{user},{user % 5 + 1},{user}\n" for user in range(60))
    path = write(tmp_path, rows + f"a,0,u60,{position},60\nb,0,u61,,61\n")
    found = abtest(path, user="user", position="position", within=1)
    assert [(arm.units, arm.clicked) for arm in found.arms] == [(31, 2), (31, 2)]


def test_users_below_the_positions_are_counted_where_clicks_per_row_leave_them_out(tmp_path: Path) -> None:
    rows = "".join(f"{'ab'[user % 2]},{user % 3 // 2},u{user},{user % 2 + 1},{user}\n" for user in range(60))
    path = write(tmp_path, rows + "".join(f"b,0,v{user},1,{user}\n" for user in range(25)))
    found = abtest(path, user="user", position="position", within=1, metric="rows")
    assert [arm.units for arm in found.arms] == [30, 25]
    (below,) = (notice.message for notice in found.warnings if notice.code == "below_positions")
    assert "30 rows" in below
    assert "30 users" in below


def test_two_logs_run_side_by_side_unless_there_is_time(tmp_path: Path) -> None:
    a = write(tmp_path, "x,1,u,1,5\nx,0,u,1,6\n", name="old.csv")
    b = write(tmp_path, "x,0,u,1,1\nx,0,u,1,2\nx,1,u,1,9\n", name="new.csv.")
    b = b.rename(tmp_path / "new.csv")
    even = read_two(a, b, Columns("click"))
    assert (even.arms, even.arm.tolist(), even.timed) == (["old", "new"], [1, 0, 1, 0, 1], False)
    timed = read_two(a, b, Columns("click", time="time"))
    assert (timed.arm.tolist(), timed.timed) == ([1, 1, 0, 0, 1], True)
    with pytest.raises(UsageError, match="as both A and B"):
        read_two(a, a, Columns("click"))


def test_two_arms_are_taken_or_chosen(tmp_path: Path) -> None:
    log = read_log(write(tmp_path, "c,1,u,1,1\na,0,u,1,2\nb,1,u,1,3\n"), COLUMNS)
    with pytest.raises(UsageError, match=r"3 arms \(a, b, c\). Choose two arms with `--arms"):
        chosen_arms(log, None)
    two = chosen_arms(log, ("c", "a"))
    assert (two.arms, two.arm.tolist(), two.click.tolist()) == (["c", "a"], [0, 1], [1, 0])
    with pytest.raises(UsageError, match=r"no arm 'cc'\. Did you mean 'c'"):
        chosen_arms(log, ("cc", "a"))
    with pytest.raises(UsageError, match="choose two different arms"):
        chosen_arms(log, ("a", "a"))
    with pytest.raises(UsageError, match=r"no arm 'ab'"):
        chosen_arms(log, "ab")
    one = read_log(write(tmp_path, "c,1,u,1,1\n"), COLUMNS)
    with pytest.raises(UsageError, match=r"needs two arms, but the log has 1 arm \(c\)$"):
        chosen_arms(one, None)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("a,nan,u,1,1\n", ":2: 'nan' in column 'click' is not a number of clicks"),
        ("a,,u,1,1\n", ":2: ''"),
        ("a,-1,u,1,1\n", ":2: '-1'"),
        ("a,0.5,u,1,1\n", ":2: '0.5'"),
        ("a,maybe,u,1,1\n", ":2: 'maybe'"),
        (",1,u,1,1\n", ":2: column 'arm' is empty"),
        ("a,1,,1,1\n", ":2: column 'user' is empty"),
        ("a,1,u,0,1\n", ":2: '0' in column 'position'"),
        ("a,1,u,first,1\n", ":2: 'first' in column 'position'"),
        ("a,1,u,1,soon\n", ":2: 'soon' in column 'time'"),
        (
            "a,1,u,1,1\nb,1,v,1,2019-11-24\n",
            ":3: column 'time' has a date here, but a number in the first row",
        ),
        ("a,1,u,1\n", ":2: the row has 4 cells"),
        ("", "the log has no rows"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(tmp_path: Path, row: str, says: str) -> None:
    with pytest.raises(InputError) as rejected:
        read_log(write(tmp_path, row), COLUMNS)
    assert says in str(rejected.value)


def test_a_record_without_a_column_is_said_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"arm": "a", "click": 1}\n{"click": 0}\n')
    with pytest.raises(InputError, match=r"log\.jsonl:2: no column 'arm'"):
        read_log(path, Columns("click", "arm"))


def test_one_log_is_not_both_arms_by_another_name(tmp_path: Path) -> None:
    path = write(tmp_path, "a,1,u1,1,1\n")
    (tmp_path / "link.csv").symlink_to(path)
    with pytest.raises(UsageError, match="is given as both A and B"):
        read_two(path, tmp_path / "link.csv", Columns("click"))


def test_a_whole_float_is_the_user_of_its_integer(tmp_path: Path) -> None:
    for name, user in (("a", "1"), ("b", "1.0")):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"click": 1, "user": {user}, "time": 1}}\n')
    log = read_two(tmp_path / "a.jsonl", tmp_path / "b.jsonl", Columns("click", user="user"))
    assert log.users.tolist() == [0, 0]
    (tmp_path / "b.jsonl").write_text('{"click": 1, "user": 2, "time": "2019-11-24"}\n')
    with pytest.raises(
        InputError, match=r"b\.jsonl:1: column 'time' has a (date|number) here, but .* row of .*a\.jsonl"
    ):
        read_two(tmp_path / "a.jsonl", tmp_path / "b.jsonl", Columns("click", time="time"))


def test_yes_and_no_are_clicks(tmp_path: Path) -> None:
    path = write(tmp_path, "a,true,u,1,1\na,False,u,1,2\nb,yes,u,1,3\nb,0,u,1,4\n")
    assert read_log(path, COLUMNS).click.tolist() == [1, 0, 1, 0]


def test_the_variance_of_clicks_a_row_is_that_of_users_drawn_again() -> None:
    rng = np.random.default_rng(8)
    rows = rng.integers(1, 9, 400).astype(np.float64)
    clicks = rng.binomial(rows.astype(int), rng.beta(1, 6, 400)).astype(np.float64)
    units = Units(np.zeros(400, dtype=np.int64), rows, clicks)
    value, variance = ratio(units, 0)
    drawn = rng.integers(0, 400, (4000, 400))
    again = clicks[drawn].sum(axis=1) / rows[drawn].sum(axis=1)
    assert value == clicks.sum() / rows.sum()
    assert np.sqrt(variance) == pytest.approx(again.std(), rel=0.06)
    as_rows = value * (1 - value) / rows.sum()
    assert variance > 1.1 * as_rows  # rows of one user go together


def test_an_arm_without_rows_is_refused_with_what_left_them_out(tmp_path: Path) -> None:
    far = write(tmp_path, "a,1,u1,1,1\nb,0,u2,12,2\n")
    with pytest.raises(UsageError, match="within") as error:
        abtest(far, position="position")
    assert "user" not in str(error.value)
    crossed = write(tmp_path, "a,1,u1,1,1\nb,0,u1,2,2\na,1,u2,1,3\n")
    with pytest.raises(UsageError, match="another arm") as error:
        abtest(crossed, user="user")
    assert "within" not in str(error.value)
    both = write(tmp_path, "a,1,u1,1,1\nb,0,u1,2,2\na,1,u2,1,3\nb,0,u3,12,4\n")
    with pytest.raises(UsageError, match="another arm, or is outside"):
        abtest(both, user="user", position="position", metric="rows")
