"""Look-ups of results by the names of runs, measures and queries."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.ids import Vocabulary
from leadline.data.registry import only
from leadline.data.table import Averaged, Column
from leadline.data.validation import check_whole
from leadline.data.wording import counted, first_few, queries, queries_between
from leadline.errors import UsageError, did_you_mean, either, sentences
from leadline.io.score_cells import ESTIMATE
from leadline.measures import MEASURES
from leadline.result import Result

INTERVALS = "evaluate(..., intervals=True).to_pandas()"
UNSAFE = r"[^A-Za-z0-9_./ -]+"  # in the names of metrics in MLflow


@dataclass(repr=False, eq=False)
class QueryValues(Result):
    """Rows of per-query values: `per_query()` and `worst(...)` of `Results` return them.

    Attributes
    ----------
    columns : dict of list
        Columns by name: query, run, measure and value, and `estimate` where values are estimates; against a
        run also its value and the difference.
    note : str
        Line below the table; empty if there is nothing to say.
    """

    columns: dict[str, list[Any]]
    note: str = ""

    def __len__(self) -> int:
        return len(self.columns["query"])

    def __call__(self) -> Self:
        """Return the table: `results.per_query` may be called."""
        return self

    def __getitem__(self, name: str) -> list[Any]:
        """Return a column."""
        if name in self.columns:
            return self.columns[name]
        first = [self.columns[each][0] for each in ("run", "query", "measure") if len(self)]
        first[1:2] = [name] if name in self.columns["query"] else first[1:2]
        first[2:] = [name] if _denotes(name, self.columns["measure"]) else first[2:]
        value = f"For one value, use results.value({', '.join(map(repr, first))})" if first else ""
        found = f"this table has no column '{name}'. Use one of {', '.join(self.columns)}"
        raise UsageError(sentences(found, *filter(None, [value])))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_rows())

    def to_dict(self) -> dict[str, Any]:
        """Return `{"rows": [...]}`, a dictionary for each row; None is undefined."""
        return {"rows": self.to_rows()}

    def _columns(self) -> list[Column]:
        return [Column(name, values) for name, values in self.columns.items()]

    def _notes(self) -> list[str]:
        return [self.note] if self.note else []

    def __repr__(self) -> str:
        return f"QueryValues({counted(len(self), 'row')} of {', '.join(self.columns)})"


def _denotes(name: object, measures: Iterable[str]) -> bool:
    """Return whether a name means one of some measures."""
    try:
        return not {str(one) for one in MEASURES.expand(str(name))}.isdisjoint(measures)
    except UsageError:
        return False


def joined_place(names: Sequence[str], name: str) -> int | None:
    """Return the index of a name, or of the only one that is equal without folders; None if there is none.

    >>> joined_place(["old/bm25", "new/dense"], "dense"), joined_place(["bm25"], "old/bm25")
    (1, 0)
    """
    if name in names:
        return names.index(name)
    short = str(name).rpartition("/")[2]
    found = [place for place, each in enumerate(names) if each.rpartition("/")[2] == short]
    return found[0] if len(found) == 1 else None


def place_of(names: Sequence[str], name: str) -> int:
    """Return the index of the run of a name.

    >>> place_of(["old/bm25", "new/dense"], "dense")
    1
    """
    place = joined_place(names, name)
    if place is not None:
        return place
    one_of = "one of " * (len(names) > 1)
    meant = did_you_mean(str(name), names, cutoff=0.3) or f"Use {one_of}{first_few(names, 5)}"
    raise UsageError(sentences(f"no run is named '{name}'", meant))


def lowest(values: Floats, other: Floats | None, *, rising: bool, n: int) -> list[int]:
    """Return the indices of the n lowest values, or of those that fell most below others, the first first.

    >>> lowest(np.array([0.5, 0.1, np.nan, 0.3]), None, rising=True, n=2)
    [1, 3]
    >>> lowest(np.array([0.5, 0.1, 0.3]), np.array([0.6, 0.5, 0.2]), rising=True, n=3)
    [1, 0]
    """
    sign = 1.0 if rising else -1.0
    key = sign * (values if other is None else values - other)
    chosen = np.flatnonzero(~np.isnan(key) if other is None else key < 0)
    found: list[int] = chosen[np.argsort(key[chosen], kind="stable")][:n].tolist()
    return found


class Means(dict[str, float]):
    """Means of a run by measure, which may be looked up by any name that `evaluate` accepts."""

    def __init__(self, means: Iterable[tuple[str, float]], canonical: Callable[[object], str]) -> None:
        super().__init__(means)
        self._canonical = canonical

    def __missing__(self, name: object) -> float:
        return self[self._canonical(name)]

    def get(self, name: object, default: Any = None) -> Any:
        """Return the mean by a measure of these results, or else the default."""
        try:
            return self[name]  # type: ignore[index]  # measures are names as well
        except UsageError:
            return default

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def _refuse_number(self, *_: object) -> NoReturn:
        raise UsageError(
            "the means of a run are not a number. Use one of them, as in "
            f"results[run][{next(iter(self), 'AP')!r}]"
        )

    __lt__ = __le__ = __gt__ = __ge__ = __sub__ = __rsub__ = __round__ = __float__ = _refuse_number


def cut_note(options: Mapping[str, Any]) -> list[str]:
    """Return what the options `depth` and `judged_only` left out of the rankings, if they did.

    >>> cut_note({"depth": 10}), cut_note({"depth": None, "judged_only": True})
    (['rankings cut at rank 10'], ['unjudged documents removed'])
    """
    depth = options.get("depth")
    cut = [] if depth is None else [f"rankings cut at rank {depth:,}"]
    return cut + ["unjudged documents removed"] * bool(options.get("judged_only"))


def averaged_over(results: Lookups, index: int | slice = slice(None)) -> str:
    """Return how many queries the means of a measure, by default of any, are over."""
    left_out = np.isnan(results.values) & [one.average == "defined" for one in results.measures]
    sizes = (results.averaged & ~left_out)[:, :, index].sum(axis=1)[~results.without_mean]
    return queries_between(sizes.flat)


class Lookups:
    """What `Results` gives by the names of runs, measures and queries."""

    _read_by = "read_scores(path)"
    _words: ClassVar[Mapping[str, str]] = (
        dict.fromkeys(
            ("p", "p_value", "pvalue", "significant", "verdict", "better", "difference"), "{compare}"
        )
        | dict.fromkeys(("diff", "delta", "winner"), "{compare}")
        | dict.fromkeys(("low", "high", "ci", "conf_int", "confidence_interval"), INTERVALS)
        | dict.fromkeys(("std", "stdev", "stderr", "sem", "var"), INTERVALS)
        | {"worse": "{worst}", "run": "runs", "score": "mean({run}, {measure})"}
    )

    queries: Vocabulary
    measures: list[Averaged]
    values: Floats
    averaged: Flags
    without_mean: Flags
    sampling: list[dict[str, Any]] | None
    options: dict[str, Any]
    _resolve: Callable[[Any], Sequence[object]] | None

    if TYPE_CHECKING:  # defined by `Results`
        averaged_values: Callable[[int], Floats]
        to_columns: Callable[..., dict[str, list[Any]]]

        @property
        def names(self) -> list[str]:
            """Names of the runs."""

        @property
        def means(self) -> Floats:
            """Means: runs x measures."""

        @property
        def withheld(self) -> dict[str, dict[str, str]] | None:
            """Why estimates have no interval; None if the values are no estimates."""

    def _withheld_over(self, members: Flags, run: int, place: int) -> str:
        """Return why there is no interval over some of the queries; empty if there may be one."""
        estimates = {} if self.sampling is None else self.sampling[run]["estimate"]
        exact = not estimates.get(str(self.measures[place]))
        return "" if exact or members.all() else "the number of judgments per query is unknown"

    def _untested_over(self, members: Flags, pair: tuple[int, int], place: int) -> str:
        """Return why a pair of runs is not tested over some of the queries; empty if it may be."""
        return next(filter(None, (self._withheld_over(members, run, place) for run in pair)), "")

    def _size_note(self) -> str:
        """Return the number of runs, over how many queries the means or sums are, and where lists are cut."""
        size, over = counted(len(self.names), "run"), averaged_over(self)
        if over == queries(0):
            return f"{size}, {queries(len(self.queries))}"
        sums = [one.average == "sum" for one in self.measures]
        what = "sum" if all(sums) else "mean or sum" if any(sums) else "mean"
        return ", ".join([f"{size}, {what} over {over}", *cut_note(self.options)])

    def measure_index(self, measure: object) -> int:
        """Return the index of a measure, given as an object or by any name that `evaluate` accepts."""
        available = [str(column) for column in self.measures]
        names = [str(measure)] if str(measure) in available else self._canonical(measure)
        indices = [available.index(name) for name in names if name in available]
        if len(names) > 1 and indices:
            only(measure, sorted(names, key=lambda name: name not in available))
        if not indices:
            raise UsageError(f"these results have no measure '{measure}'. Use {either(available)}")
        return indices[0]

    def _canonical(self, measure: object) -> list[str]:
        """Return the canonical names of the measures that a name denotes; none if it is unknown."""
        try:
            return [] if self._resolve is None else list(map(str, self._resolve([measure])))
        except UsageError:
            return []

    def mean(self, run: str = "", measure: object = "") -> float:
        """Return the mean of a run by a measure, by default of the only run by the only measure."""
        if (run == "" and len(self.names) != 1) or (measure == "" and len(self.measures) != 1):
            sizes = f"{counted(len(self.names), 'run')} and {counted(len(self.measures), 'measure')}"
            which = sentences(
                f"these results have {sizes}, so say which mean you need", "Use mean({run}, {measure})"
            )
            raise UsageError(which.format_map(self._filled()))
        row = 0 if run == "" else self._run_index(run)
        return float(self.means[row, 0 if measure == "" else self.measure_index(measure)])

    def __float__(self) -> float:
        """Return the mean of the only run by the only measure."""
        return self.mean()

    def __format__(self, form: str) -> str:
        return format(float(self), form) if form else str(self)

    def __sub__(self, other: object) -> NoReturn:
        raise UsageError(f"results cannot be subtracted. Use {self._filled()['compare']}")

    def _refuse_number(self, *_: object) -> NoReturn:
        raise UsageError("results are not a number. Use mean({run}, {measure})".format_map(self._filled()))

    __lt__ = __le__ = __gt__ = __ge__ = __round__ = _refuse_number

    def value(self, run: str, query: str, measure: object) -> float:
        """Return the value of a run by a measure for a query."""
        code = self.queries.code(query)
        if code is None and self._canonical(query):
            raise UsageError(f"{query!r} is a measure, not a query. Use value(run, query, measure)")
        if code is None:
            names = list(self.queries)
            one_of = "one of " * (len(names) > 1)
            near = did_you_mean(str(query), names) or f"Use {one_of}{first_few(names, 5)}"
            raise UsageError(sentences(f"these results have no query '{query}'", near))
        return float(self.values[self._run_index(run), code, self.measure_index(measure)])

    def _run_index(self, name: str) -> int:
        if name not in self.names and self.names and self._canonical(name):
            one_of = f"one of {first_few(self.names, 5)}, as in " if len(self.names) > 1 else ""
            right = f"Use {one_of}results[{self.names[0]!r}][{name!r}]"
            raise UsageError(sentences(f"{name!r} is a measure, not a run", right))
        return place_of(self.names, name)

    def _other_call_for(self, name: str) -> str:
        return f"results[{self.names[0]!r}][{name!r}]" if self.names and self._canonical(name) else ""

    def _filled(self) -> dict[str, str]:
        run, *others = self.names or ["run"]
        measure = repr(str(next(iter(self.measures), "AP")))
        return {
            "run": repr(run),
            "measure": measure,
            "compare": "compare(results)" if others else f"compare(qrels, old, new, {measure})",
            "worst": f"worst({others[-1]!r}, against={run!r})" if others else f"worst({run!r})",
        }

    def __getitem__(self, run: str) -> dict[str, float]:
        """Return the means of a run, `{measure: mean}`; other names of its measures are accepted."""
        names = list(map(str, self.measures))
        means = self.means[self._run_index(run)].tolist()
        return Means(zip(names, means, strict=True), lambda measure: names[self.measure_index(measure)])

    def keys(self) -> list[str]:
        """Return the names of the runs: `dict(results)` has the means of each."""
        return self.names

    def items(self) -> list[tuple[str, dict[str, float]]]:
        """Return the names of the runs with their means."""
        return [(name, self[name]) for name in self.names]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the runs."""
        return iter(self.names)

    def safe_means(self, run: str | None = None) -> dict[str, float]:
        """Return means by names that MLflow and Weights & Biases accept, as in "nDCG_10".

        Parameters
        ----------
        run : str, optional
            Run; by default the only one. Of several runs, names begin with that of the run: "bm25/nDCG_10".

        Returns
        -------
        dict
            Means without undefined ones.

        Examples
        --------
        >>> import leadline as ll
        >>> results = ll.evaluate({"q": {"d": 1}}, {"bm25": {"q": ["d"]}}, ["nDCG(gain=exp)@10", "AP"])
        >>> results.safe_means()
        {'nDCG_gain_exp_10': 1.0, 'AP': 1.0}
        """
        prefixes = [""] if run is not None or len(self.names) == 1 else [f"{name}/" for name in self.names]
        found: dict[str, float] = {}
        for prefix, name in zip(prefixes, self.names if run is None else [run], strict=True):
            own: set[str] = set()
            for measure, mean in self[name].items():
                safe = re.sub(UNSAFE, "_", prefix + measure).strip("_")
                if safe in found:
                    change = "Leave out one of the measures" if safe in own else "Rename one of the runs"
                    raise UsageError(f"two means would both be named '{safe}'. {change}")
                own.add(safe)
                if not math.isnan(mean):
                    found[safe] = mean
        return found

    @property
    def per_query(self) -> QueryValues:
        """The values of all queries: a row per query, run and measure; `per_query()` is the same table.

        Estimates from a sample of judgments have a column `estimate`, and are refused where scores are read:
        pass the results themselves, which know their errors.

        Returns
        -------
        QueryValues
            Table with `len`, `to_pandas`, `to_polars`, `to_rows` and the other forms of results.

        Examples
        --------
        >>> import leadline as ll
        >>> results = ll.evaluate({"q": {"d": 1}}, {"bm25": {"q": ["d"]}}, "AP")
        >>> results.per_query().to_rows()
        [{'query': 'q', 'run': 'bm25', 'measure': 'AP', 'value': 1.0}]
        """
        columns = self.to_columns(per_query=True, long=True)
        names = ("query", "run", "measure", "value", ESTIMATE)
        return QueryValues({name: columns[name] for name in names if name in columns})

    def worst(self, run: str, n: int = 10, measure: object = None, against: str | None = None) -> QueryValues:
        """Return the queries with the worst values of a run, or those that got worse against another run.

        Parameters
        ----------
        run : str
            Name of the run.
        n : int, default 10
            Largest number of queries.
        measure : measure, optional
            Measure; by default the first.
        against : str, optional
            Run to compare with: only queries with a worse value, the largest difference first.

        Returns
        -------
        QueryValues

        Raises
        ------
        UsageError
            If the values are estimates from a sample of judgments, whose single queries vary too much.

        Examples
        --------
        >>> import leadline as ll
        >>> qrels = {"q1": {"d": 1}, "q2": {"d": 1}}
        >>> runs = {"old": {"q1": ["d"], "q2": ["d"]}, "new": {"q1": ["d"], "q2": ["x", "d"]}}
        >>> worse = ll.evaluate(qrels, runs, "RR").worst("new", against="old")
        >>> worse.columns["query"], worse.columns["difference"]
        (['q2'], [-0.5])
        """
        check_whole(1, n=n)
        if self.withheld is not None:
            raise UsageError(
                "per-query estimates from sampled judgments are too noisy to rank queries. Use complete "
                "judgments"
            )
        place = 0 if measure is None else self.measure_index(measure)
        table, text = self.averaged_values(place), str(self.measures[place])
        values = table[self._run_index(run)]
        other = None if against is None else table[self._run_index(against)]
        rows = lowest(values, other, rising=self.measures[place].rising, n=n)
        columns: dict[str, list[Any]] = {
            "query": [self.queries[row] for row in rows],
            "run": [run] * len(rows),
            "measure": [text] * len(rows),
            "value": values[rows].tolist(),
        }
        if other is None:
            return QueryValues(columns)
        columns |= {
            "against": [against] * len(rows),
            "value_against": other[rows].tolist(),
            "difference": (values - other)[rows].tolist(),
        }
        worse = len(lowest(values, other, rising=self.measures[place].rising, n=len(values)))
        return QueryValues(columns, f"{queries(worse)} got worse in {text} from {against} to {run}")

    def __repr__(self) -> str:
        size = f"{counted(len(self.names), 'run')}, {queries(len(self.queries))}"
        if len(self.names) > 3:
            return f"{type(self).__name__}({size}; {first_few(self.measures, 8)})"
        shown = [
            first_few([f"{name} {mean:.4f}" for name, mean in zip(self.measures, means, strict=True)], 8)
            for means in self.means.tolist()
        ]
        if len(self.names) > 1:
            shown = [f"{name}: {means}" for name, means in zip(self.names, shown, strict=True)]
        return f"{type(self).__name__}({'; '.join([size, *shown])})"
