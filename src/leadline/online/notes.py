"""What the reader of an A/B test must know before the numbers."""

from __future__ import annotations

from leadline.online.found import ABTest
from leadline.online.logs import Log
from leadline.online.units import Units
from leadline.results import Notice
from leadline.wording import counted

FEW = 100  # clicks of an arm: with fewer the clickthrough is known to a tenth of itself at best


def notices_of(found: ABTest, log: Log | None, units: Units | None, lost: int) -> list[Notice]:
    """Put into words what was counted; nothing is said of what did not happen."""
    notices = [_few_clicks(found), _small(found), _split(found)]
    if log is not None and units is not None:
        notices = [_ungrouped(found, units), *notices, *_of_log(log, units, lost)]
    return [notice for notice in notices if notice.count]


def _ungrouped(found: ABTest, units: Units) -> Notice:
    words = (
        f"rows not grouped by user: {len(units.arm):,}; clicks of one user go together, so that the true p "
        "is as a rule larger and the interval wider (--user COLUMN groups them, where the log has users)"
    )
    return Notice("ungrouped", words, len(units.arm) if found.unit == "row" else 0)


def _few_clicks(found: ABTest) -> Notice:
    least = min(arm.clicked for arm in found.arms)
    words = (
        f"few clicks: {least:,} in an arm; a single click says little (its summary may have misled), below "
        f"{FEW} the clickthrough is not known to a tenth of itself"
    )
    return Notice("few_clicks", words, max(1, least) if least < FEW else 0)


def _small(found: ABTest) -> Notice:
    exact = found.compared.test.startswith("Fisher")
    words = "fewer than 5 users expected in a cell: p is that of Fisher's exact test, not of z"
    return Notice("small_counts", words, int(exact))


def _split(found: ABTest) -> Notice:
    one = found.split
    if one is None:
        return Notice("sample_ratio", "", 0)
    words = (
        f"sample ratio: {100 * one.seen:.2f} % of users in B where {100 * one.planned:g} % were planned "
        f"(p = {one.p:.1e}); the arms are not comparable before this is explained"
    )
    return Notice("sample_ratio", words, int(one.suspect))


def _of_log(log: Log, units: Units, lost: int) -> list[Notice]:
    return [
        Notice(
            "repeated_clicks", f"rows of more than one click: {log.repeated:,}; each counts once",
            log.repeated,
        ),
        Notice(
            "crossed_users", f"users in both arms: {units.crossed:,}; left out, as each should see one arm",
            units.crossed,
        ),
        Notice("below_positions", f"rows below the positions asked for: {lost:,}; left out", lost),
        Notice(
            "interleaved", f"no column of time: the {counted(2, 'log')} are taken as running side by side; "
            "the always-valid p is of that order", int(not log.timed),
        ),
    ]  # fmt: skip
