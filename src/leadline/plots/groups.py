"""How members of a group (a team, a family) are marked: a colour each, and a name where there is room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from leadline.plots import FAINT, LOOKS


def large_groups(groups: Sequence[str]) -> list[str]:
    """Give the groups of two or more, the largest first; a group without a name is none."""
    counts = Counter(groups)
    order = sorted(counts, key=lambda name: (-counts[name], name))
    return [name for name in order if name and counts[name] > 1]


def group_colours(groups: Sequence[str]) -> dict[str, str]:
    """Give every group of two or more a colour, in turn where they are many; all others are grey."""
    colours = dict.fromkeys(groups, FAINT)
    for place, name in enumerate(large_groups(groups)):
        colours[name] = LOOKS[place % len(LOOKS)].color
    return colours


def stretches(groups: Sequence[str]) -> list[tuple[str, int, int]]:
    """Give the stretches of neighbours of one group: name, first place, last place.

    >>> stretches(["a", "a", "b"])
    [('a', 0, 1), ('b', 2, 2)]
    """
    found: list[tuple[str, int, int]] = []
    for place, name in enumerate(groups):
        if found and found[-1][0] == name:
            found[-1] = (name, found[-1][1], place)
        else:
            found.append((name, place, place))
    return found


def mark_groups(
    axes: Any, groups: Sequence[str], *, step: float = 1.0, offset: float = 0.0
) -> None:
    """Draw a strip of colours down an axes, one cell a system."""
    colours = group_colours(groups)
    for place, name in enumerate(groups):
        axes.axhspan(
            offset + (place - 0.5) * step, offset + (place + 0.5) * step,
            facecolor=colours[name], linewidth=0, alpha=0.35 if colours[name] == FAINT else 1.0,
        )  # fmt: skip
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
