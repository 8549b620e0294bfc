"""trec_eval's own names: groups of measures, its parameters after a dot, and how it prints a name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags
from leadline.data.judged_run import JudgedRun
from leadline.errors import UsageError
from leadline.measures import CUTOFFS, MEASURES, Measure

COUNTED = "num_q num_ret num_rel num_rel_ret"
OFFICIAL = f"runid {COUNTED} map gm_map Rprec bpref recip_rank iprec_at_recall P"
SETS = "set_P set_relative_P set_recall set_map set_F"
NINE = (
    f"{OFFICIAL} relstring recall infAP gm_bpref Rprec_mult utility 11pt_avg binG G ndcg ndcg_rel Rndcg "
    f"ndcg_cut map_cut relative_P success {SETS} num_nonrel_judged_ret"
)
# The names in the order in which trec_eval prints them.
NAMES = (*NINE.split(), "rbp", "rbp_resid", "unj")
GROUPS: Mapping[str, tuple[str, ...]] = {
    "official": tuple(OFFICIAL.split()),
    "set": tuple(f"runid {COUNTED} utility {SETS}".split()),
    "all_trec": NAMES,
}
TEN_ONLY = frozenset({"rbp", "rbp_resid", "unj"})
# Their values are words, which only `-f trec` prints.
TEXTS = frozenset({"runid", "relstring"})
# trec_eval prints these for all queries only.
ONLY_MEAN = frozenset({"num_q", "gm_map", "gm_bpref"})
BY_RANK = frozenset({"P", "recall", "ndcg_cut", "map_cut", "relative_P", "success", "unj"})
BY_LEVEL = frozenset({"iprec_at_recall", "Rprec_mult"})
BY_GAIN = {"ndcg": "GnDCG", "ndcg_rel": "nDCGrel", "Rndcg": "RnDCG", "G": "G"}
RBP: Mapping[str, object] = {"gain": "scaled", "p": 0.9}  # what RBP is there
# Parameters that options of trec_eval, or its version, set.
FREE = frozenset({"rel", "rule", "documents"})
SHORTEST_STRING = 10
PERSISTENCE = re.compile(r"rbp[_.@]?0?\.(\d+)", re.IGNORECASE)  # rbp.95, RBP0.95


class Asked(NamedTuple):
    """One thing to print: trec_eval's name for it, its family, and the measure unless it is a text.

    `given` says that parameters were written, which trec_eval takes for its groups too; `length` is
    that of a relevance string.
    """

    name: str
    family: str
    measure: Measure | None
    given: bool = False
    length: int = 0


def expand(text: str, *, strict: bool = False, nine: bool = False) -> list[Asked]:
    """Return what a group or a spelling of trec_eval means; nothing where it is none.

    `strict` reads names without parameters as trec_eval does, too: there `P` is precision at nine
    ranks. `nine`: measures that only trec_eval 10 has are not in the groups.

    >>> [asked.name for asked in expand("P.5,10")], expand("P")
    (['P_5', 'P_10'], [])
    """
    persistence = PERSISTENCE.fullmatch(text)
    if persistence:
        raise UsageError(f"measure '{text}'; expected RBP(p=0.{persistence[1]})")
    if text in GROUPS:
        wanted = [name for name in GROUPS[text] if not (nine and name in TEN_ONLY)]
        return [asked for name in wanted for asked in _family(name, "")]
    name, dot, written = text.partition(".")
    if name not in NAMES or not (dot or strict or name in TEXTS):
        return []
    if dot and not written:
        raise UsageError(f"measure '{text}': nothing after the dot; expected parameters")
    try:
        return _family(name, written)
    except ValueError:
        raise UsageError(f"measure '{text}': '{written}'; expected {_expected(name)}") from None


def is_text(name: str) -> bool:
    """Return whether the value of a name is words.

    >>> is_text("relstring.5"), is_text("map")
    (True, False)
    """
    return name.strip().partition(".")[0] in TEXTS


def name_of(measure: Measure, *, rel: float = 1.0) -> tuple[str, str] | None:
    """Return trec_eval's name of a measure and its family, if it has one.

    >>> name_of(MEASURES.parse("nDCG@10")), name_of(MEASURES.parse("ERR@10"))
    (('ndcg_cut_10', 'ndcg_cut'), None)
    """
    for family in NAMES:
        if family not in TEXTS and (name := _name_in(family, measure, rel)):
            return name, family
    return None


def relevance_strings(judged: JudgedRun, length: int) -> list[str]:
    """Write the grades of the first documents of every list, a letter for each.

    A grade above 9 is `>`, an unjudged document `-`, one of negative grade `.`; of a fraction the
    whole part is written.
    """
    size = np.minimum(judged.length, length)
    start = np.concatenate(([0], np.cumsum(size)))
    letters = np.full(int(start[-1]), "-")
    kept: Flags = judged.rank <= length
    grade = judged.grade[kept]
    digits = np.floor(np.clip(grade, 0, 9)).astype(np.int64).astype(str)
    place = start[judged.query[kept]] + judged.rank[kept] - 1
    letters[place] = np.where(grade < 0, ".", np.where(grade >= 10, ">", digits))
    text = "".join(letters.tolist())
    return [text[low:high] for low, high in pairwise(start.tolist())]


def _family(name: str, written: str) -> list[Asked]:
    """Return what one name of trec_eval means with the parameters after its dot."""
    printed = f"{name}_{written}" if written else name
    if name in TEXTS:
        length = int(float(written)) if written else SHORTEST_STRING
        return [Asked(printed, name, None, bool(written), max(length, 0))]
    kind, preset = _meant(name)
    if name in BY_RANK or name in BY_LEVEL:
        at = kind.at_name() or ""
        made = [kind(**preset, **{at: place}) for place in _places(name, kind, written)]
        return [Asked(_at(name, measure), name, measure, bool(written)) for measure in made]
    given = _given(name, written) if written else {}
    if given and name in BY_GAIN:
        kind = MEASURES.classes[BY_GAIN[name]]
    return [Asked(printed, name, kind(**{**preset, **given}), bool(written))]


def _places(name: str, kind: type[Measure], written: str) -> Sequence[object]:
    """Read cutoffs or levels, in rising order; of a cutoff the whole part counts."""
    if not written:
        return kind.default_cutoffs.get(name.lower(), CUTOFFS)
    numbers = sorted(map(float, written.split(",")))
    return numbers if name in BY_LEVEL else list(map(int, numbers))


def _given(name: str, written: str) -> dict[str, object]:
    """Read parameters that are no cutoffs."""
    if name in BY_GAIN or name == "rbp":
        pairs = [part.split("=") for part in written.split(",")]
        if name == "rbp":
            return {key: float(value) for key, value in pairs}
        return {"gains": {float(grade): float(gain) for grade, gain in pairs}}
    numbers = [float(part) for part in written.split(",")]
    if name == "utility":
        a, b, c, d = numbers
        return {"a": a, "b": b, "c": c, "d": d}
    if name == "set_F":
        (weight,) = numbers
        return {"beta": weight, "form": "linear"}
    if name == "11pt_avg":
        return {"levels": tuple(numbers)}
    raise ValueError


def _expected(name: str) -> str:
    if name in BY_GAIN:
        return "gains of grades, as in 1=3,2=9"
    if name in BY_RANK or name in BY_LEVEL or name == "11pt_avg":
        return "numbers with commas"
    return {
        "utility": "four numbers, as in 1,-1,0,0",
        "set_F": "one number, 0 or more",
        "rbp": "p=0.9",
        "relstring": "how many documents",
    }.get(name, "no parameters")


def _meant(name: str) -> tuple[type[Measure], Mapping[str, object]]:
    """Return the class of a name of trec_eval and what the name sets."""
    if name == "rbp":
        return MEASURES.classes["RBP"], RBP
    if name == "set_F":  # both forms are one while nothing is given
        return MEASURES.classes["F"], {}
    found = MEASURES.find(name)
    if found is None:
        raise UsageError(f"unknown measure '{name}'")
    return found


def _at(family: str, measure: Measure) -> str:
    """Write a name with the value after its underscore."""
    value = getattr(measure, measure.at_name() or "")
    return f"{family}_{value:.2f}" if family in BY_LEVEL else f"{family}_{value}"


def _name_in(family: str, measure: Measure, rel: float) -> str:
    """Return the name of a measure in one family; empty where it does not belong there."""
    kind, preset = _meant(family)
    at = kind.at_name()
    if type(measure) is not kind or getattr(measure, "rel", rel) != rel:
        return ""
    if getattr(measure, "rule", "trec10") not in ("trec9", "trec10"):
        return ""
    for name, parameter in kind.parameters().items():
        wanted = preset.get(name, parameter.default)
        if name not in FREE and name != at and getattr(measure, name) != wanted:
            return ""
    if at is not None and (getattr(measure, at) is not None) != (family in BY_RANK | BY_LEVEL):
        return ""
    return _at(family, measure) if family in BY_RANK | BY_LEVEL else family
