"""Measures and runs that a call names: profiles, names of trec_eval, and arguments after the judgments."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise
from numbers import Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from leadline.data.arrays import Flags
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import PERSISTENCE, all_errors, split_names
from leadline.errors import UnknownNameError, UsageError, either, sentences
from leadline.evaluation.join import joined_runs
from leadline.io.read import RunLike
from leadline.io.run_names import is_input
from leadline.measures import CUTOFFS, MEASURES, Measure, is_of_ir_measures

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
# Names that are no measure of a run by judgments, and the command that computes them.
ELSEWHERE = {
    **dict.fromkeys(("rbo", "jaccard", "overlap", "ric"), "difference QRELS RUN RUN"),
    **dict.fromkeys(("kappa", "krippendorff"), "agreement QRELS QRELS"),
    **dict.fromkeys(("tau", "kendall", "spearman", "pearson"), "correlate RESULT RESULT"),
    "hsa": "histogram QRELS RUN",
}
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
    """Requested measure or text."""

    name: str  # name that trec_eval prints
    family: str  # trec_eval's name without parameters
    measure: Measure | None  # the measure; None for text
    given: bool = False  # whether the user gave parameters, which then replace those of a group
    length: int = 0  # length of a relevance string


def expand(text: str, *, strict: bool = False, nine: bool = False) -> list[Request]:
    """Return the measures of a group or name of trec_eval; empty for other names.

    >>> [asked.name for asked in expand("P.5,10")], expand("P")
    (['P_5', 'P_10'], [])
    """
    if PERSISTENCE.fullmatch(text) and text.startswith("rbp"):
        return []
    if PREFERENCES.fullmatch(text):
        raise UsageError(
            f"leadline does not support measure '{text}', which needs preference judgments or judgment "
            "groups (trec_eval -R)"
        )
    if text in GROUPS:
        names = [name for name in GROUPS[text] if not (nine and name in TEN_ONLY)]
        return [request for name in names for request in _family(name, "")]
    name, dot, written = text.partition(".")
    if name not in NAMES or not (dot or strict or name in TEXTS):
        return []
    expected = _expected(name)
    if dot and not written:
        also = f"Add {expected}, or remove the dot" if expected else "Remove the dot"
        raise UsageError(f"measure '{text}' has nothing after the dot. {also}.")
    try:
        return _family(name, written)
    except ValueError:
        hint = f"Write {expected}" if expected else f"Use {name} without a dot"
        raise UsageError(f"measure '{text}' has '{written}' after the dot. {hint}.") from None


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
        return "GRADE=GAIN pairs, as in 1=3,2=9"
    if name in BY_RANK:
        return "whole numbers of at least 1, separated by commas"
    return {
        "iprec_at_recall": "recall levels from 0 to 1, separated by commas",
        "11pt_avg": "recall levels from 0 to 1, separated by commas",
        "Rprec_mult": "numbers of at least 0, separated by commas",
        "utility": "four numbers, as in 1,-1,0,0",
        "set_F": "one number of at least 0",
        "rbp": "p, a number between 0 and 1, as in rbp.p=0.9",
        "relstring": "the number of documents",
    }.get(name, "")


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


Averaging = Literal["all", "both", "with_relevant", "complete"]


class Profile(NamedTuple):
    """Conventions of a program that differ from the default profile."""

    name: str
    says: str
    narrow: bool = False  # whether scores are compared as 32-bit floats
    queries: Averaging = "all"  # default of the queries to average over
    interpolation: str = "standard"  # default rule of IPrec and AvgIPrec
    # Whether the program truncates fractional grades; here they are kept and counted in a warning.
    whole_grades: bool = False
    own_names: bool = False  # whether names without parameters have trec_eval's default parameters
    version: int = 10  # version of trec_eval, which determines the group `all_trec`
    # Whether `-f trec -q` prints queries that are missing from the run and count in its mean.
    prints_missing: bool = True

    def measures(
        self,
        wanted: Iterable[str | Measure] | str | Measure,
        *,
        rel: float | None = None,
        documents: int | None = None,
    ) -> list[Measure]:
        """Return the measures that one name or several denote in this profile, without repeats."""
        wanted = [wanted] if isinstance(wanted, (str, Measure)) else wanted
        return list(_denoted(self, tuple(_split(wanted)), rel, documents))

    def requests(
        self, wanted: Iterable[str | Measure], *, rel: float | None = None, documents: int | None = None
    ) -> list[Request]:
        """Return the requested measures with trec_eval's names, which `-f trec` prints."""
        requests: list[Request] = []
        errors: list[UsageError] = []
        for name in _split(wanted):
            try:
                requests += self._parsed(name)
            except UsageError as error:
                command = ELSEWHERE.get(_word(str(name)))
                words = f"measure '{name}' is not computed here. Use `leadline {command}`"
                errors.append(error if command is None else UnknownNameError(words))
        if errors:
            raise all_errors(errors, "measures")
        options: dict[str, object] = {"rel": rel, "documents": documents}
        options = {name: value for name, value in options.items() if value is not None}
        return [
            request
            if request.measure is None
            else request._replace(measure=self._adapted(request.measure, options))
            for request in requests
        ]

    def _parsed(self, name: str | Measure) -> list[Request]:
        if isinstance(name, Measure):
            return [Request("", "", name)]
        text = name.strip()
        requests = expand(text, strict=self.own_names, nine=self.version == 9)
        return requests or [Request("", "", measure) for measure in MEASURES.expand(text)]

    def _adapted(self, measure: Measure, given: dict[str, object]) -> Measure:
        parameters = measure.parameters()
        changes: dict[str, object] = {
            name: value
            for name, value in given.items()
            if name in parameters and getattr(measure, name) == parameters[name].default
        }
        rule = parameters.get("rule")
        if (
            self.interpolation != "standard"
            and rule is not None
            and self.interpolation in rule.options
            and not getattr(measure, "rule", "").startswith("printed")
        ):
            changes["rule"] = self.interpolation
        adapted: Measure = measure.replace(**changes) if changes else measure
        return adapted


# Parsing names takes a sixth of the evaluation of a few lists.
@lru_cache(maxsize=64, typed=True)
def _denoted(
    profile: Profile, names: tuple[str | Measure, ...], rel: float | None, documents: int | None
) -> tuple[Measure, ...]:
    """Return the measures that names denote."""
    texts = [name for name in names if isinstance(name, str) and is_text(name)]
    if texts:
        raise UsageError(
            f"measures with text values ({', '.join(texts)}) are not supported here. Use a different "
            "measure, or run `leadline evaluate -q -f trec`"
        )
    requests = profile.requests(names, rel=rel, documents=documents)
    measures = dict.fromkeys(request.measure for request in requests if request.measure is not None)
    printed = list(map(str, measures))
    for name in printed:
        if printed.count(name) > 1:
            raise UsageError(f"two measures are both named '{name}'. Rename one of the measures")
    if not measures:
        raise UsageError("no measures were given. Pass at least one measure, such as AP or nDCG@10")
    return tuple(measures)


def _word(name: str) -> str:
    """Return a name in lower case without parameters and cutoff."""
    return re.split(r"[@(]", name.lower())[0]


def _split(wanted: Iterable[str | Measure]) -> list[str | Measure]:
    """Split texts at the commas between names."""
    return [name for item in wanted for name in ([item] if isinstance(item, Measure) else split_names(item))]


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("leadline", "leadline's own conventions (the default)"),
        Profile(
            "trec9",
            "trec_eval 9.0.8 and pytrec_eval: scores compared as 32-bit floats; the mean is over the "
            "queries that both files have",
            narrow=True,
            queries="both",
            interpolation="trec9",
            whole_grades=True,
            own_names=True,
            version=9,
            prints_missing=False,
        ),
        Profile(
            "trec10",
            "trec_eval 10.0: scores compared as 64-bit floats; no mean when a query is missing",
            queries="complete",
            interpolation="trec10",
            whole_grades=True,
            own_names=True,
        ),
    )
}


def profile_of(name: str) -> Profile:
    """Return a profile by name."""
    if not isinstance(name, str) or name not in PROFILES:
        raise UsageError(f"there is no profile {name!r}. Use {either(PROFILES)}")
    return PROFILES[name]


MeasureLike: TypeAlias = str | Measure | type[Measure]
MeasuresLike: TypeAlias = MeasureLike | Iterable[MeasureLike]
RunsLike: TypeAlias = "RunLike | Iterable[RunLike] | Mapping[str, RunLike]"
LISTS = (list, tuple, set, frozenset, KeysView, deque)
LIKENESS = 0.75  # from which a name is near an argument that may as well be a file


def divided(
    given: Iterable[Any], runs: Any = None, measures: Any = None, *, profile: str = "leadline"
) -> tuple[Any, Any]:
    """Return the runs and the measures among positional arguments and the keywords `runs` and `measures`.

    >>> old, new = {"q1": ["d1", "d2"]}, {"q1": ["d2", "d1"]}
    >>> found, wanted = divided([old, new, "AP", ["P@1"]])
    >>> list(found), wanted
    (['run 1', 'run 2'], ['AP', 'P@1'])
    """
    before: list[Any] = []
    wanted: list[Any] = []
    asked = False
    for argument in given:
        if argument is None:
            continue
        item = _listed(argument)
        if are_measures(item, profile, after_runs=bool(before) or runs is not None):
            asked = True
            wanted += [item] if isinstance(item, (str, type)) or not isinstance(item, Iterable) else item
        elif wanted:
            raise UsageError(f"a run follows measure '{wanted[-1]}'. Pass all runs before the measures")
        else:
            before.append(item)
    for name, keyword, positional in (("runs", runs, before), ("measures", measures, wanted)):
        if keyword is not None and positional:
            raise UsageError(f"{name} were passed both by position and as {name}=. Pass {name} only once")
    if before:
        runs = before[0] if len(before) == 1 else joined_runs(before)
    return runs, wanted if asked and measures is None else measures


def _listed(argument: Any) -> Any:
    """Return an iterator of texts or measures as a list; another one is not consumed."""
    if not isinstance(argument, Iterator):
        return argument
    first = list(islice(argument, 1))
    rest = chain(first, argument)
    return list(rest) if first and _is_word(first[0]) else rest


def _is_word(value: object) -> bool:
    return isinstance(value, (str, os.PathLike)) or _is_measure(value)


def _is_measure(value: object) -> bool:
    return isinstance(value, (type, Measure, Real)) or (
        is_of_ir_measures(value) and not hasattr(value, "_fields")
    )


def are_measures(argument: Any, profile: str = "leadline", *, after_runs: bool = True) -> bool:
    """Return whether an argument is a measure or a list of measures; refuse a list of both.

    >>> are_measures("AP"), are_measures(["AP", "P@5"]), are_measures("runs/bm25.run")
    (True, True, False)
    """
    if _is_measure(argument):
        return True
    if not isinstance(argument, (str, *LISTS)):
        return False
    words = [argument] if isinstance(argument, str) else list(argument)
    if not words:
        return after_runs
    if not all(map(_is_word, words)):
        return False
    inputs = [word for word in words if not _is_measure(word) and is_input(os.fspath(word))]
    if len(inputs) == len(words):
        return False
    check_measures([word for word in words if isinstance(word, str) and word not in inputs], profile)
    if inputs:
        raise UsageError(
            f"one list contains both runs and measures ({inputs[0]} is a run). Pass runs first, then "
            "measures in a separate argument"
        )
    return True


def check_measures(texts: list[str], profile: str) -> None:
    """Raise UsageError for arguments that are neither measures nor files that exist."""
    chosen, wrong = profile_of(profile), []
    for text in (name for each in texts for name in split_names(each)):
        try:
            chosen.requests([text])
        except UnknownNameError:
            if _word(text) in ELSEWHERE:
                raise
            nearest = MEASURES.nearest(text, likeness=LIKENESS)
            found = f"'{text}' is neither a file nor a measure"
            wrong.append(sentences(found, nearest) if nearest.endswith("?") else found)
    if wrong:
        raise UnknownNameError(sentences(*wrong))
