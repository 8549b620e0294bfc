"""Names of measures in trec_eval: groups, parameters after a dot, and printed names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import PERSISTENCE
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
PREFERENCES = re.compile(r"(all_)?prefs(_\w+)?|qrels_jg|\w+_avgjg")  # names that are not computed
GROUPS: Mapping[str, tuple[str, ...]] = {
    "official": tuple(OFFICIAL.split()),
    "set": tuple(f"runid {COUNTED} utility {SETS}".split()),
    "all_trec": NAMES,
}
TEN_ONLY = frozenset({"rbp", "rbp_resid", "unj"})
# Names whose values are text, which only `-f trec` prints.
TEXTS = frozenset({"runid", "relstring"})
# trec_eval prints these for all queries only.
ONLY_MEAN = frozenset({"num_q", "gm_map", "gm_bpref"})
BY_RANK = frozenset({"P", "recall", "ndcg_cut", "map_cut", "relative_P", "success", "unj"})
BY_LEVEL = frozenset({"iprec_at_recall", "Rprec_mult"})
BY_GAIN = {"ndcg": "GnDCG", "ndcg_rel": "nDCGrel", "Rndcg": "RnDCG", "G": "G"}
RBP: Mapping[str, object] = {"gain": "scaled", "p": 0.9}  # parameters of RBP in trec_eval
# Parameters that options or the version of trec_eval determine, so that its names do not show them.
FREE = frozenset({"rel", "rule", "documents"})
SHORTEST_STRING = 10


class Request(NamedTuple):
    """Requested measure or text.

    Attributes
    ----------
    name : str
        Name that trec_eval prints.
    family : str
        trec_eval's name without parameters.
    measure : Measure or None
        The measure; None for text.
    given : bool
        Whether the user gave parameters, which then replace those of a group.
    length : int
        Length of a relevance string.
    """

    name: str
    family: str
    measure: Measure | None
    given: bool = False
    length: int = 0


def expand(text: str, *, strict: bool = False, nine: bool = False) -> list[Request]:
    """Return the measures of a group or name of trec_eval; empty for other names.

    Examples
    --------
    >>> [asked.name for asked in expand("P.5,10")], expand("P")
    (['P_5', 'P_10'], [])
    """
    if PERSISTENCE.fullmatch(text) and text.startswith("rbp"):
        return []
    if PREFERENCES.fullmatch(text):
        raise UsageError(
            f"measure '{text}': trec_eval computes it from preferences or judgment groups (-R); leadline has "
            "one grade a document"
        )
    if text in GROUPS:
        names = [name for name in GROUPS[text] if not (nine and name in TEN_ONLY)]
        return [request for name in names for request in _family(name, "")]
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
    """Return whether the value of a name is text.

    >>> is_text("relstring.5"), is_text("map")
    (True, False)
    """
    return name.strip().partition(".")[0] in TEXTS


def name_of(measure: Measure, *, rel: float = 1.0) -> tuple[str, str] | None:
    """Return trec_eval's name of a measure and the family of the name; None if it has none.

    >>> name_of(MEASURES.parse("nDCG@10")), name_of(MEASURES.parse("ERR@10"))
    (('ndcg_cut_10', 'ndcg_cut'), None)
    """
    for family in NAMES:
        if family not in TEXTS and (name := _name_in(family, measure, rel)):
            return name, family
    return None


def relevance_strings(judged: JudgedRun, length: int) -> list[str]:
    """Return the grades of the first documents of every list as text, one character for each.

    Grades above 9 are `>`, unjudged documents `-`, negative grades `.`; fractions are truncated.
    """
    size = np.minimum(judged.length, length)
    start = np.concatenate(([0], np.cumsum(size)))
    letters = np.full(int(start[-1]), "-")
    within: Flags = judged.rank <= length
    grade = judged.grade[within]
    digits = np.floor(np.clip(grade, 0, 9)).astype(np.int64).astype(str)
    position = start[judged.query[within]] + judged.rank[within] - 1
    letters[position] = np.where(grade < 0, ".", np.where(grade >= 10, ">", digits))
    text = "".join(letters.tolist())
    return [text[low:high] for low, high in pairwise(start.tolist())]


def _family(name: str, written: str) -> list[Request]:
    """Return the measures of a name of trec_eval with the parameters after its dot."""
    printed = f"{name}_{written}" if written else name
    if name in TEXTS:
        length = int(float(written)) if written else SHORTEST_STRING
        return [Request(printed, name, None, bool(written), max(length, 0))]
    cls, preset = _meant(name)
    if name in BY_RANK or name in BY_LEVEL:
        at = cls.cutoff_name() or ""
        measures = [cls(**preset, **{at: place}) for place in _places(name, cls, written)]
        return [Request(_at(name, measure), name, measure, bool(written)) for measure in measures]
    parameters = _given(name, written) if written else {}
    if parameters and name in BY_GAIN:
        cls = MEASURES.classes[BY_GAIN[name]]
    return [Request(printed, name, cls(**{**preset, **parameters}), bool(written))]


def _places(name: str, cls: type[Measure], written: str) -> Sequence[object]:
    """Parse cutoffs or levels, in ascending order; cutoffs are truncated to integers."""
    if not written:
        return cls.default_cutoffs.get(name.lower(), CUTOFFS)
    numbers = sorted(map(float, written.split(",")))
    return numbers if name in BY_LEVEL else list(map(int, numbers))


def _given(name: str, written: str) -> dict[str, object]:
    """Parse parameters other than cutoffs."""
    if name in BY_GAIN or name == "rbp":
        pairs = [pair.split("=") for pair in written.split(",")]
        if name == "rbp":
            return {key: float(value) for key, value in pairs}
        return {"gains": {float(grade): float(gain) for grade, gain in pairs}}
    numbers = [float(pair) for pair in written.split(",")]
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
    """Return the class of a name of trec_eval and the parameters that the name sets."""
    if name == "rbp":
        return MEASURES.classes["RBP"], RBP
    if name == "set_F":  # without parameters both forms are the same
        return MEASURES.classes["F"], {}
    match = MEASURES.find(name)
    if match is None:
        raise UsageError(f"unknown measure '{name}'")
    return match


def _at(family: str, measure: Measure) -> str:
    """Return a name with the cutoff or level of the measure after an underscore."""
    value = getattr(measure, measure.cutoff_name() or "")
    return f"{family}_{value:.2f}" if family in BY_LEVEL else f"{family}_{value}"


def _name_in(family: str, measure: Measure, rel: float) -> str:
    """Return the name of a measure in a family; empty if it does not belong to the family."""
    cls, preset = _meant(family)
    at = cls.cutoff_name()
    if type(measure) is not cls or getattr(measure, "rel", rel) != rel:
        return ""
    if getattr(measure, "rule", "trec10") not in ("trec9", "trec10"):
        return ""
    for name, parameter in cls.parameters().items():
        expected = preset.get(name, parameter.default)
        if name not in FREE and name != at and getattr(measure, name) != expected:
            return ""
    if at is not None and (getattr(measure, at) is not None) != (family in BY_RANK | BY_LEVEL):
        return ""
    return _at(family, measure) if family in BY_RANK | BY_LEVEL else family
