"""An A/B test laid out: the arms as a table, and below it what their difference is worth."""

from __future__ import annotations

from leadline.data.results import plain
from leadline.data.wording import percent
from leadline.online.abtest_result import ABTest
from leadline.reporting.render import Cell, Table


def sheet_of(found: ABTest) -> Table:
    """Lay out the arms, and say below what their difference is worth."""
    unit = f"{found.unit}s"
    rows: list[list[Cell]] = []
    for arm in found.arms:
        cells: list[Cell] = [arm.name, arm.units, arm.clicked]
        if found.options["metric"] == "rows":
            cells += [arm.rows, arm.clicks]
        rows.append([*cells, arm.rate, plain(arm.low), plain(arm.high)])
    heads = ["arm", unit, "clicked"]
    heads += ["rows", "clicks"] if found.options["metric"] == "rows" else []
    notes = [*_verdict(found), *_around(found), *map(str, found.warnings)]
    return Table([*heads, "clickthrough", "low", "high"], rows, notes=notes, digits=5)


def _verdict(found: ABTest) -> list[str]:
    """Return whether the difference is significant, and how large it is."""
    one = found.compared
    a, b = found.arms
    said = "significant difference" if found.significant else "no significant difference"
    interval = f"{percent(found.options['confidence'])} interval {one.low:+.5f} to {one.high:+.5f}"
    line = (
        f"{said} between {b.name} and {a.name}: {b.name} - {a.name} = {one.difference:+.5f} ({interval}, "
        f"{one.interval}), z = {_number(one.z, 2)}, p = {_number(one.p, 4)} ({one.test})"
    )
    lift, low, high = (100 * end for end in one.lift)
    if plain(lift) is not None:
        line += f"; lift {lift:+.1f} %"
    return [line + f" ({low:+.1f} to {high:+.1f})" if plain(low) is not None else line]


def _number(value: float, digits: int) -> str:
    return "undefined" if plain(value) is None else f"{value:.{digits}f}"


def _around(found: ABTest) -> list[str]:
    """Return the sequential test, the detectable difference and the check of the sample ratio."""
    return [line for line in (_peeking(found), _seen(found), _shares(found)) if line]


def _peeking(found: ABTest) -> str:
    always = found.always
    looked = "one look" if always.path is None else f"a look after every {found.unit}"
    interval = "no interval yet"
    if plain(always.low) is not None:
        interval = f"interval {always.low:+.5f} to {always.high:+.5f}"
    line = (
        f"sequential test: always-valid p = {always.p:.4f}, {interval} ({looked}, tuned to a difference of "
        f"{percent(always.effect)} of the clickthrough)"
    )
    if always.decided:
        line += f"; below {1 - found.options['confidence']:.2g} after {always.decided:,}"
    return line


def _seen(found: ABTest) -> str:
    sizes, unit = found.sizes, f"{found.unit}s"
    if plain(sizes.detectable) is None:
        return ""
    line = (
        f"detectable with these {unit}: a difference of {sizes.detectable:.5f} or more "
        f"({percent(sizes.power)} power)"
    )
    if sizes.users_needed:
        line += (
            f"; detecting {found.options['smallest']:g} takes at most {sizes.users_needed:,} {unit} per arm"
        )
    return line


def _shares(found: ABTest) -> str:
    if found.split is None:
        return "sample ratio not checked: --planned SHARE gives the planned share of users in B"
    if found.split.suspect:
        return ""  # a notice says so
    return (
        f"shares {found.split.verdict}: {100 * found.split.seen:.2f} % in B, "
        f"{100 * found.split.planned:g} % planned (p = {found.split.p:.3f})"
    )
