"""Table of an A/B test: the arms, with the outcome of the test below."""

from __future__ import annotations

from leadline.data.results import plain
from leadline.data.wording import percent
from leadline.online.abtest_result import ABTest
from leadline.reporting.render import Cell, Table


def abtest_table(test: ABTest) -> Table:
    """Return the table of the arms, with the outcome of the test in the notes."""
    unit = f"{test.unit}s"
    rows: list[list[Cell]] = []
    for arm in test.arms:
        cells: list[Cell] = [arm.name, arm.units, arm.clicked]
        if test.options["metric"] == "rows":
            cells += [arm.rows, arm.clicks]
        rows.append([*cells, arm.rate, plain(arm.low), plain(arm.high)])
    heads = ["arm", unit, "clicked"]
    heads += ["rows", "clicks"] if test.options["metric"] == "rows" else []
    notes = [*_verdict(test), *_around(test), *map(str, test.warnings)]
    return Table([*heads, "clickthrough", "low", "high"], rows, notes=notes, digits=5)


def _verdict(test: ABTest) -> list[str]:
    """Return a sentence on the size and significance of the difference."""
    compared = test.compared
    a, b = test.arms
    outcome = "significant difference" if test.significant else "no significant difference"
    interval = f"{percent(test.options['confidence'])} interval {compared.low:+.5f} to {compared.high:+.5f}"
    line = (
        f"{outcome} between {b.name} and {a.name}: {b.name} - {a.name} = {compared.difference:+.5f} "
        f"({interval}, {compared.interval}), z = {_number(compared.z, 2)}, p = {_number(compared.p, 4)} "
        f"({compared.test})"
    )
    lift, low, high = (100 * end for end in compared.lift)
    if plain(lift) is not None:
        line += f"; lift {lift:+.1f} %"
    return [line + f" ({low:+.1f} to {high:+.1f})" if plain(low) is not None else line]


def _number(value: float, digits: int) -> str:
    return "undefined" if plain(value) is None else f"{value:.{digits}f}"


def _around(test: ABTest) -> list[str]:
    """Return sentences on the sequential test, the detectable difference and the sample ratio."""
    return [line for line in (_peeking(test), _seen(test), _shares(test)) if line]


def _peeking(test: ABTest) -> str:
    always = test.always
    looked = "one look" if always.path is None else f"a look after every {test.unit}"
    interval = "no interval yet"
    if plain(always.low) is not None:
        interval = f"interval {always.low:+.5f} to {always.high:+.5f}"
    line = (
        f"sequential test: always-valid p = {always.p:.4f}, {interval} ({looked}, tuned to a difference of "
        f"{percent(always.effect)} of the clickthrough)"
    )
    if always.decided:
        line += f"; below {1 - test.options['confidence']:.2g} after {always.decided:,}"
    return line


def _seen(test: ABTest) -> str:
    sizes, unit = test.sizes, f"{test.unit}s"
    if plain(sizes.detectable) is None:
        return ""
    line = (
        f"detectable with these {unit}: a difference of {sizes.detectable:.5f} or more "
        f"({percent(sizes.power)} power)"
    )
    if sizes.users_needed:
        line += (
            f"; detecting {test.options['smallest']:g} takes at most {sizes.users_needed:,} {unit} per arm"
        )
    return line


def _shares(test: ABTest) -> str:
    if test.split is None:
        return "sample ratio not checked: --planned SHARE gives the planned share of users in B"
    if test.split.suspect:
        return ""  # a notice says so
    return (
        f"shares {test.split.verdict}: {100 * test.split.seen:.2f} % in B, "
        f"{100 * test.split.planned:g} % planned (p = {test.split.p:.3f})"
    )
