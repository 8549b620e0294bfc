"""Oracles of the measures in `leadline.measures.user_costs`."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any, NamedTuple

from oracles import Case, cut


class Seen(NamedTuple):
    """What the user inspects of a rank: with which probability, for what gain and cost."""

    weight: float
    gain: float
    cost: float


class Here(NamedTuple):
    """Where the user is: at a rank, with its gain, and with gain and cost so far, the rank included."""

    rank: int
    gain: float
    gained: float
    paid: float


def walk(case: Case, costs: dict[str, float] | None = None, **form: Any) -> list[Seen]:
    """Go down the list; the last rank is the cutoff, or 1000."""
    wanted = form["cutoff"] or 1000
    last = max(wanted, 1000) if form["model"] == "BPM" else wanted
    names = cut(case, last)
    gains = [gain_of(case.grades.get(name, -1), **form) for name in names] + [0.0] * (last - len(names))
    spent = [(costs or {}).get(name, form["unlisted"]) for name in names]
    spent += [form["unlisted"]] * (last - len(names))
    if form["model"] == "AP":
        return later_gains(gains, spent)
    goes_on = chance(form["model"], form["p"], form["T"], wanted)
    found, look, gained, paid = [], 1.0, 0.0, 0.0
    for rank, (gain, cost) in enumerate(zip(gains, spent, strict=True), start=1):
        found.append(Seen(look, gain, cost))
        gained += gain
        if form["model"] == "TBG":
            look = 2 ** (-(paid + cost) / form["half_life"])
        elif form["model"] == "U":
            look = max(0.0, 1 - (paid + cost) / form["length"])
        paid += cost
        look *= goes_on(Here(rank, gain, gained, paid))
    return found


def later_gains(gains: list[float], spent: list[float]) -> list[Seen]:
    """Give the walk of the user of AP: as likely at a rank as the share of the gain that is still to come."""
    left, weights = 0.0, []
    for rank in range(len(gains), 0, -1):
        left += gains[rank - 1] / rank
        weights.append(left)
    whole = weights[-1]
    weights = [weight / whole for weight in weights[::-1]] if whole else [1.0] + [0.0] * (len(gains) - 1)
    return [Seen(*one) for one in zip(weights, gains, spent, strict=True)]


def gain_of(grade: float, **form: Any) -> float:
    if form["gain"] == "binary":
        return float(grade >= form["rel"])
    return float(max(grade, 0) / form["max_grade"])


def square(left: float) -> float:
    return ((left - 1) / left) ** 2


def chance(model: str, p: float, target: float, wanted: int) -> Callable[[Here], float]:
    """Give the function of the probability that the user continues; 1 where the weight is set elsewhere."""
    two = 2 * target
    chances: dict[str, Callable[[Here], float]] = {
        "RBP": lambda _: p,
        "SDCG": lambda here: log2(here.rank + 1) / log2(here.rank + 2),
        "RR": lambda here: float(here.gained == 0),
        "INSQ": lambda here: square(here.rank + two),
        "INST": lambda here: square(here.rank + two - here.gained) if here.rank + two > here.gained else 0.0,
        "NERR8": lambda here: 1 - here.gain,
        "NERR9": lambda here: here.rank / (here.rank + 1) * (1 - here.gain),
        "NERR10": lambda here: p * (1 - here.gain),
        "NERR11": lambda here: square(here.rank + two) * (1 - here.gain),
        "BPM": lambda here: float(here.gained < target - 1e-12 and here.paid < wanted),
    }
    return chances.get(model, lambda _: 1.0)


def EU(case: Case, **form: Any) -> float:
    seen = walk(case, **form)
    return sum(one.weight * one.gain for one in seen) / sum(one.weight for one in seen)


def ETU(case: Case, **form: Any) -> float:
    return sum(seen.weight * seen.gain for seen in walk(case, **form))


def EC(case: Case, **form: Any) -> float:
    seen = walk(case, **form)
    return sum(one.weight * one.cost for one in seen) / sum(one.weight for one in seen)


def ETC(case: Case, **form: Any) -> float:
    return sum(seen.weight * seen.cost for seen in walk(case, **form))


def ED(case: Case, **form: Any) -> float:
    return sum(seen.weight for seen in walk(case, **form))
