"""Effectiveness measures of a run against relevance judgments, one module per family."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Collection, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import BRACES, Parametric, Registry, Rejected, show
from leadline.data.validation import check_flags, check_numbers
from leadline.data.wording import counted
from leadline.errors import UsageError

if TYPE_CHECKING:  # what __getattr__ finds, for type checkers
    from leadline.measures.average_precision import *
    from leadline.measures.blended_ratio import *
    from leadline.measures.counts import *
    from leadline.measures.cumulated_gain import *
    from leadline.measures.diversity import *
    from leadline.measures.precision import *
    from leadline.measures.preference import *
    from leadline.measures.user_models import *


PACKAGE = "ir_measures"
PRINTED = r"(?P<name>[^\s()@=,]+)\((?P<parameters>[^()]*)\)(?P<rest>.*)"
BETWEEN = r",(?![^{}]*\})"  # commas outside {0:1,1:3}
# Parameters that state what holds anyway.
NOTHING_SAID = frozenset(
    {"judged_only=False", "relative=False", "normalize=True", "dcg=log2", "min_rel=0", "gains={}"}
)
WITH_MAX_REL = frozenset({"BPM", "SDCG", "INST", "INSQ", "NERR8", "NERR9", "NERR10", "NERR11"})
# Its objects whose names mean something else in leadline, and ours.
OBJECTS = ((r"Accuracy\b", "PairAccuracy"), (r"IPrec(?:\((.*)\))?@", r"IPrec(rule=trec9,\1)@"))


def is_of_ir_measures(value: object) -> bool:
    """Return whether a value is an object of ir_measures, which need not be installed."""
    return type(value).__module__.partition(".")[0] == PACKAGE


def text_of(measure: object) -> str:
    """Return the text of an object of ir_measures in names of leadline.

    Examples
    --------
    >>> text_of("Accuracy@10"), text_of("IPrec@0.1"), text_of("NumRet(rel=2)")
    ('PairAccuracy@10', 'IPrec(rule=trec9)@0.1', 'NumRelRet(rel=2)')
    """
    text = str(measure)
    if hasattr(measure, "ours"):  # made by `leadline.ir_measure`
        return text
    if re.match(r"RBP\b(?!.*rel=)", text):
        raise UsageError(
            f"in ir_measures, {text} means graded relevance. Use RBP(rel=1) for binary relevance, or the "
            "string 'RBP(gain=graded,max_grade=N)' for graded relevance, where N is the largest grade"
        )
    for pattern, ours in OBJECTS:
        text = re.sub(r",\)", ")", re.sub(pattern, ours, text))
    return in_our_names(text)


def in_our_names(text: str) -> str:
    """Return a text with the parameters of ir_measures in those of leadline; other texts unchanged.

    >>> in_our_names("nDCG(dcg='exp-log2')@10"), in_our_names("SetP(rel=2,relative=True)")
    ('nDCG(gain=exp)@10', 'SetRelP(rel=2)')
    >>> in_our_names("nDCG(gains={0:1,3:7})@10"), in_our_names("BPM(max_rel=4)@10")
    ('GnDCG(gains=0:1/3:7)@10', 'BPM(max_grade=4)@10')
    """
    parts = re.fullmatch(PRINTED, text)
    if parts is None:
        return text
    name, kept = parts["name"], []
    for written in re.split(BETWEEN, parts["parameters"]):
        key, equals, value = (each.strip() for each in written.partition("="))
        given = key + equals + (value[1:-1] if value[:1] in ("'", '"') else value)
        if given in NOTHING_SAID:
            continue
        if given == "relative=True" and name == "SetP":
            name = "SetRelP"
        elif given == "dcg=exp-log2":
            kept.append("gain=exp")
        elif key == "gains" and value.startswith("{"):
            name = "GnDCG" if name.lower() == "ndcg" else name
            kept.append("gains=" + value.strip("{}").replace(" ", "").replace(",", "/"))
        elif key == "max_rel" and name.upper() in WITH_MAX_REL:
            kept.append("max_grade=" + value)
        else:
            kept.append(given)
    if name == "NumRet" and any(each.startswith("rel=") for each in kept):
        name = "NumRelRet"
    return name + (f"({','.join(kept)})" if kept else "") + parts["rest"]


Average = Literal["mean", "defined", "geometric", "sum"]
Evidence = Literal["judgments", "known", "subtopics"]
GradesFunction: TypeAlias = Callable[[list[float | None], list[float]], "float | None"]
Ranks = TypeVar("Ranks", Codes, Codes | Integers)
Value = TypeVar("Value", Codes, Floats)
UNBOUNDED = (-math.inf, math.inf)
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)  # trec_eval's default cutoffs


class Budget(NamedTuple):
    """The total length, in a unit, up to which documents from the top of a list count.

    >>> str(Budget(500, "tokens"))
    '500tokens'
    """

    size: int
    unit: str

    def __str__(self) -> str:
        return f"{self.size}{self.unit}"


class Measure(Parametric):
    """Base class of the effectiveness measures: one value per query.

    Attributes
    ----------
    title, formula, source : str
        Name in words, definition, and the publication or program that defines the measure.
    low, high : float
        Range of a value.
    rising : bool
        Whether larger values are better.
    average : {"mean", "defined", "geometric", "sum"}
        How values are averaged over queries: `mean` counts undefined values as 0, `defined` omits
        them, `geometric` is the geometric mean of values of at least 0.00001, `sum` adds them.
    needs : {"judgments", "known", "subtopics"}
        Evidence required: relevance judgments; also the documents known to the user before the
        search; or judgments by subtopic.
    scored : int
        1 if the highest score of each list is needed, 2 if the documents judged for other queries are.
    unanswered : bool
        Whether the value is of queries without a relevant document, and undefined for all others.
    zero_without_relevant, zero_without_list : bool
        False if the value of a query without a relevant document, or without a list, may be neither 0 nor
        undefined.
    quality : bool
        False for statistics of the judgments, such as the fraction of judged documents, by which
        runs are not ranked.
    """

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    rising: ClassVar[bool] = True
    average: ClassVar[Average] = "mean"
    needs: ClassVar[Evidence] = "judgments"
    quality: ClassVar[bool] = True
    scored: ClassVar[int] = 0
    unanswered: ClassVar[bool] = False
    zero_without_relevant: ClassVar[bool] = True
    zero_without_list: ClassVar[bool] = True
    rejected: ClassVar[Rejected] = {
        "judged_only": "To drop unjudged documents, evaluate with `--judged-only`"
    }

    @property
    def budget(self) -> Budget | None:
        """Total length up to which documents count, as in R@500tokens; None for other measures."""
        return None

    def values(self, judged: JudgedRun) -> Floats:
        """Return one value per query of the qrels; NaN where the measure is undefined."""
        raise NotImplementedError

    def of(self, grades: Sequence[float | None], judged: Sequence[float] | None = None) -> float:
        """Return the value of a single ranked list.

        Parameters
        ----------
        grades : sequence of float or None
            Relevance grades in rank order; None for an unjudged document.
        judged : sequence of float, optional
            Grades of all judged documents of the query. Default: those of the list.

        Returns
        -------
        float
            NaN where the measure is undefined.
        """
        if self.needs != "judgments" or self.budget is not None:
            raise UsageError(f"{self} cannot be computed from grades alone. Use `leadline.evaluate`")
        return float(self.values(JudgedRun.of_grades(grades, judged))[0])


COPIED = (
    *("title", "source", "low", "high", "rising", "average", "needs", "quality", "scored", "unanswered"),
    *("zero_without_relevant", "zero_without_list"),
)


class WithinBudget(Measure):
    """Measure of the longest prefix of each list whose total length is within a budget.

    A document that fits only in part does not count, nor what follows it.

    >>> WithinBudget(MEASURES.parse("R"), Budget(500, "tokens"))
    R@500tokens
    """

    def __init__(self, measure: Measure, budget: Budget) -> None:
        super().__init__()
        vars(self).update({name: getattr(measure, name) for name in (*COPIED, "parameters")})
        size = counted(budget.size, budget.unit.removesuffix("s"))
        title = measure.title.removesuffix(" at k")
        formula = f"{title}, counting only the first documents that fit in {size}"
        vars(self).update(measure=measure, limit=budget, formula=formula)

    @property
    def budget(self) -> Budget:
        """Total length up to which documents count."""
        limit: Budget = vars(self)["limit"]
        return limit

    @property
    def whole(self) -> Measure:
        """The measure of whole lists."""
        measure: Measure = vars(self)["measure"]
        return measure

    def __getattr__(self, name: str) -> Any:
        """Return a parameter of the measure, but no cut-off."""
        measure = vars(self).get("measure")
        if measure is None or name not in measure.parameters() or name == measure.cutoff_name():
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")
        return getattr(measure, name)

    def __getstate__(self) -> dict[str, Any]:
        return {"measure": self.whole, "budget": self.budget}

    def __setstate__(self, state: dict[str, Any]) -> None:
        WithinBudget.__init__(self, **state)

    def text_with(self, shown: Collection[str] = ()) -> str:
        """Return the text, with the parameters `shown` also where they have their defaults."""
        return f"{self.whole.text_with(shown).partition('@')[0]}@{self.budget}"

    def replace(self, **changes: object) -> WithinBudget:
        """Return a copy with some parameters changed."""
        return WithinBudget(self.whole.replace(**changes), self.budget)

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query."""
        size = judged.fitting.get(self.budget.size)
        if size is None and judged.length.any():
            raise UsageError(f"{self} needs document lengths. {LENGTHS}")
        return self.whole.values(judged if size is None else judged.shortened(size))


class _FunctionMeasure(Measure):
    """Measure computed by a Python function for each ranked list; see `from_function`."""

    title = "function"
    formula = "given as a Python function"
    source = "the caller"

    function: GradesFunction
    name: str

    def __init__(self, function: GradesFunction, name: str, *, low: float, high: float, rising: bool) -> None:
        super().__init__()
        for attribute, value in (
            ("function", function),
            ("name", name),
            ("low", low),
            ("high", high),
            ("rising", rising),
        ):
            object.__setattr__(self, attribute, value)

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query; NaN for queries missing in the run."""
        qrels = judged.qrels
        values = np.full(len(judged.present), np.nan)
        for code in np.flatnonzero(judged.present).tolist():
            rows = slice(int(judged.offsets[code]), int(judged.offsets[code + 1]))
            grades: list[float | None] = [None] * int(judged.length[code])
            for rank, grade in zip(judged.rank[rows].tolist(), judged.grade[rows].tolist(), strict=True):
                grades[rank - 1] = grade
            judged_grades = qrels.grades[int(qrels.begin[code]) : int(qrels.end[code])].tolist()
            values[code] = self._value(grades, judged_grades, qrels.queries[code])
        return values

    def _value(self, grades: list[float | None], judged: list[float], query: str) -> float:
        try:
            value: Any = self.function(grades, judged)  # a user's function may return anything
        except Exception as error:
            words = ": ".join(filter(None, (type(error).__name__, " ".join(str(error).split()))))
            raise UsageError(f"{self.name} failed for query '{query}': {words}") from error
        if value is None:
            return math.nan
        number = float(value) if isinstance(value, Real) else None
        if number is None or not (math.isnan(number) or self.low <= number <= self.high):
            between = f"a number from {show(self.low)} to {show(self.high)}, or None"
            raise UsageError(f"{self.name} for query '{query}' is {value!r}, but it must be {between}")
        return number

    @property
    def _facts(self) -> tuple[object, ...]:
        return self.function, self.name, self.low, self.high, self.rising

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _FunctionMeasure):
            return False
        return self._facts == other._facts

    def __hash__(self) -> int:
        return hash(self.name)


def from_function(
    function: GradesFunction,
    *,
    name: str | None = None,
    low: float = 0.0,
    high: float = 1.0,
    rising: bool = True,
) -> Measure:
    """Return a measure computed by a Python function.

    `evaluate` and `compare` accept it as any other measure; its mean is the arithmetic mean over queries. The
    function is called once for each query of a run. The value of a query missing in the run is undefined and
    counts as 0 in the mean.

    Examples
    --------
    >>> first = from_function(lambda grades, judged: float(grades[0] == max(judged)), name="BestFirst")
    >>> first.of([2, None, 1]), first.of([1, None, 2])
    (1.0, 0.0)
    """
    if not callable(function):
        raise UsageError(
            f"function={function!r} is not callable. Pass a function of two arguments, `grades` and `judged`"
        )
    check_numbers(**{key: end for key, end in (("low", low), ("high", high)) if end not in UNBOUNDED})
    check_flags(rising=rising)
    name = getattr(function, "__name__", "") if name is None else name
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w.+-]*", name):
        raise UsageError(
            f"name={name!r} is not valid. Pass a name that contains only letters, digits, '_', '.', '+' and "
            "'-', and begins with a letter, a digit or '_'"
        )
    if MEASURES.find(name) is not None:
        raise UsageError(f"name='{name}' is already the name of another measure. Choose a different name.")
    if low >= high:
        raise UsageError(f"low={show(low)} must be below high={show(high)}")
    return _FunctionMeasure(function, name, low=low, high=high, rising=rising)


def ratio(numerator: Floats | Integers, denominator: Floats | Integers | float) -> Floats:
    """Return the ratio per query; NaN where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator == 0, np.nan, numerator / denominator)


def up_to(cutoff: int | None, query: Codes, rank: Ranks, value: Value) -> tuple[Codes, Ranks, Value]:
    """Return query, rank and value of the rows at ranks up to the cutoff."""
    if cutoff is None:
        return query, rank, value
    within = rank <= cutoff
    return query[within], rank[within], value[within]


def relevant_retrieved(judged: JudgedRun, rel: float, cutoff: int | None) -> Floats:
    """Return the number of relevant documents retrieved up to the cutoff, per query."""
    hits = judged.hits(rel)
    return judged.total(hits.query if cutoff is None else hits.query[hits.rank <= cutoff])


def check_finite(measure: Measure, values: Floats) -> Floats:
    """Return `values` unchanged; raise UsageError if a sum of gains overflows."""
    if np.isinf(values).any():
        raise UsageError(f"{measure}: the sum of the gains exceeds 1e308. Use smaller grades.")
    return values


def relevant(judged: JudgedRun, rel: float) -> Floats:
    """Return the number of documents judged relevant per query, R."""
    return judged.qrels.relevant(rel).astype(np.float64)


# Prefixes of sentence-transformers for the similarity function, as in cosine_ndcg@10
SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan", "max")
# Names that stand for different things in different programs.
REFUSED = {
    "accuracy": "Accuracy@k is the hit rate and needs a cutoff, as in Accuracy@10. PairAccuracy, which is "
    "called Accuracy in ir_measures, is the fraction of document pairs in the right order"
}
LENGTHS = "Use `--config read.lengths=FILE:COLUMN`."
UNITS = {
    name: unit
    for unit, names in (
        ("tokens", ("tokens", "token")),
        ("words", ("words", "word")),
        ("chars", ("chars", "char", "characters", "character")),
    )
    for name in names
}
IN_RANKS = "987"  # cutoff that is parsed in place of a budget; all measures take it
WITH_BUDGET = re.compile(rf"(.+)@((?:\d+,)*\d+)({'|'.join(UNITS)})", re.IGNORECASE)


class _Measures(Registry[Measure]):
    """The measures, also with a budget in place of a cut-off."""

    def expand(self, text: str) -> list[Measure]:
        """Return the measures that a text denotes."""
        parts = (
            WITH_BUDGET.fullmatch(BRACES.sub(r"@\1", "".join(text.split())))
            if isinstance(text, str)
            else None
        )
        if parts is None:
            return super().expand(text)
        name, sizes, unit = parts[1], parts[2], UNITS[parts[3].lower()]
        try:
            (measure,) = super().expand(f"{name}@{IN_RANKS}")
        except UsageError as error:
            words = re.sub(rf"(?<=@){IN_RANKS}|(?<=not ){IN_RANKS}", f"{sizes}{unit}", str(error))
            raise type(error)(words) from None
        at = measure.cutoff_name() or ""
        parameter = measure.parameters()[at]
        if parameter.default is None:
            measure = measure.replace(**{at: None})
        elif type(measure).__name__ not in WITHOUT_RANKS:
            raise UsageError(
                f"measure '{text}': {type(measure).__name__} needs a cutoff in ranks, as in "
                f"{measure.example()}"
            )
        for size in sizes.split(","):
            if not int(size):
                raise UsageError(f"measure '{text}': the budget must be at least 1, not {size}")
        return [WithinBudget(measure, Budget(int(size), unit)) for size in sizes.split(",")]


WITHOUT_RANKS = ("Success",)  # measures whose needed cut-off only ends the list
MEASURES: Registry[Measure] = _Measures(
    sys.modules[__name__],
    Measure,
    "measure",
    prefixes=SIMILARITIES,
    rewrite=in_our_names,
    refused=REFUSED,
    usual="AP",
)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> type[Measure]:
        """Return a measure by its name: `from leadline.measures import nDCG`."""
        kind = MEASURES.class_named(name)
        if kind is None:
            raise AttributeError(f"module 'leadline.measures' has no attribute '{name}'")
        return kind


def __dir__() -> list[str]:
    return sorted({*globals(), *MEASURES.classes})
