"""The result of `agreement`, and its warnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers, freeze
from leadline.data.ids import Vocabulary
from leadline.data.qrels import Qrels
from leadline.data.result import Result
from leadline.data.results import ResultWarning, RunInfo, plain
from leadline.data.wording import counted, queries
from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.join import readable_twice
from leadline.io.judges import Judge
from leadline.io.read import repair_of
from leadline.measures import MEASURES
from leadline.stats.agreement_coefficients import acceptable
from leadline.stats.correlation import kendall


class Judgments:
    """Pairs x judges: the grade each judge gave, NaN where one did not judge.

    `query` is the code of every pair's query in `queries`, `documents` its document. Counts from a table have
    no queries.

    >>> from leadline.io.judges import read_judges
    >>> judges = read_judges({"ann": {"q1": {"d1": 1, "d2": 0}}, "ben": {"q1": {"d1": 2}}})
    >>> Judgments.of_judges(judges).grades
    array([[ 1.,  2.],
           [ 0., nan]])
    """

    def __init__(
        self,
        names: Sequence[str],
        grades: Floats,
        *,
        queries: Vocabulary | None = None,
        query: Integers | None = None,
        documents: Sequence[bytes] = (),
        paths: Sequence[tuple[str, int]] = (),
    ) -> None:
        freeze(grades)
        self.names = list(names)
        self.grades = grades
        self.queries = queries or Vocabulary()
        self.query = np.zeros(len(grades), dtype=np.int64) if query is None else query
        self.documents = list(documents)
        self.paths = list(paths)

    @classmethod
    def of_judges(cls, judges: Sequence[Judge]) -> Judgments:
        """Put the qrels of judges side by side."""
        queries = Vocabulary.of_bytes(name for judge in judges for name in judge.qrels.queries.names)
        places: dict[tuple[int, bytes], int] = {}
        said: list[tuple[list[int], Floats]] = []
        for judge in judges:
            codes = queries.encode(judge.qrels.queries.names)[judge.qrels.query].tolist()
            pairs = zip(codes, judge.qrels.documents, strict=True)
            rows = [places.setdefault(pair, len(places)) for pair in pairs]
            said.append((rows, judge.qrels.grades))
        grades = np.full((len(places), len(judges)), np.nan)
        for column, (rows, given) in enumerate(said):
            grades[rows, column] = given
        pairs_found = list(places)
        order = sorted(range(len(pairs_found)), key=pairs_found.__getitem__)
        paths: dict[str, int] = {}
        for judge in judges:
            paths[judge.path] = paths.get(judge.path, 0) + len(judge.qrels)
        return cls(
            [judge.name for judge in judges],
            grades[order],
            queries=queries,
            query=np.array([pairs_found[place][0] for place in order], dtype=np.int64),
            documents=[pairs_found[place][1] for place in order],
            paths=list(paths.items()),
        )

    @classmethod
    def of_counts(cls, counts: Sequence[float]) -> Judgments:
        """Make the judgments of two judges from the cells of a square table, row by row.

        The row is the grade of the first judge, the column that of the second: 0, 1, 2, ...

        >>> len(Judgments.of_counts([300, 20, 10, 70]))
        400
        """
        size = round(len(counts) ** 0.5)
        if size < 2 or size * size != len(counts):
            raise UsageError(
                f"a table of {counted(len(counts), 'number')}; expected 4 (yes-yes, yes-no, no-yes, no-no), "
                "or 9, 16, ... row by row"
            )
        for count in counts:
            if not (0 <= count <= 10**7) or count != int(count):
                raise UsageError(f"{count:g} in the table; expected whole numbers, 0 to 10,000,000")
        if not sum(counts):
            raise UsageError("a table of nothing but 0; expected counts of pairs")
        cells = np.repeat(np.arange(len(counts)), np.asarray(counts, dtype=np.int64))
        grades = np.stack([cells // size, cells % size], axis=1).astype(np.float64)
        return cls(["judge 1", "judge 2"], grades)

    def __len__(self) -> int:
        return len(self.grades)

    @property
    def by_all(self) -> Flags:
        """Say which pairs all judges judged."""
        return np.asarray(~np.isnan(self.grades).any(axis=1))

    def keep(self, chosen: Flags) -> Judgments:
        """Give some of the pairs only; every query stays."""
        rows = np.flatnonzero(chosen)
        documents = [self.documents[row] for row in rows.tolist()] if self.documents else []
        return Judgments(
            self.names,
            self.grades[rows],
            queries=self.queries,
            query=self.query[rows],
            documents=documents,
            paths=self.paths,
        )

    def binary(self, rel: float) -> Judgments:
        """Give 1 for grades of `rel` or more and 0 for those below."""
        grades = np.where(np.isnan(self.grades), np.nan, (self.grades >= rel).astype(np.float64))
        return Judgments(
            self.names,
            grades,
            queries=self.queries,
            query=self.query,
            documents=self.documents,
            paths=self.paths,
        )

    def qrels(self, judge: int) -> Qrels:
        """Give the judgments of one judge as qrels."""
        known = np.flatnonzero(~np.isnan(self.grades[:, judge])).tolist()
        return Qrels.of(
            (
                (self.queries.names[self.query[row]], self.documents[row], float(self.grades[row, judge]))
                for row in known
            ),
            source=self.names[judge],
        )


DEFAULT_MEASURES = ("AP", "nDCG")


class Ranking(NamedTuple):
    """Means of systems under each judge: `values` is judges x systems x measures."""

    judges: list[str]
    runs: list[RunInfo]
    measures: list[str]
    values: Floats

    @property
    def systems(self) -> list[str]:
        """Give the names of the systems."""
        return [run.name for run in self.runs]


class Change(NamedTuple):
    """How one measure of all systems differs between two judges.

    `mean` and `largest` are of absolute differences; `relative` is the mean difference as a share of the
    first judge's mean value; `swapped` of `apart` pairs of systems change places (pairs that are equal under
    a judge are in neither), `widest` is the largest difference of a swapped pair under the first judge.
    """

    tau: float
    mean: float
    largest: float
    relative: float
    swapped: int
    apart: int
    widest: float

    def to_dict(self) -> dict[str, float | int | None]:
        """Give the numbers; None is undefined."""
        return {
            name: plain(value) if isinstance(value, float) else value
            for name, value in self._asdict().items()
        }


def ranked(
    judgments: Judgments,
    runs: Any,
    *,
    measures: Sequence[str] = DEFAULT_MEASURES,
    judged_only: bool = False,
    on_run: Callable[[int, int], None] | None = None,
) -> Ranking:
    """Evaluate runs with the judgments of every judge."""
    kinds = MEASURES.expand_all(measures)
    runs = readable_twice(runs, repair_of("score", "refuse", "refuse"))
    values, infos = [], []
    for place in range(len(judgments.names)):
        if on_run:
            on_run(place, len(judgments.names))
        found = evaluate(judgments.qrels(place), runs, list(map(str, kinds)), judged_only=judged_only)
        values.append(found.means)
        infos = list(found.runs)
    return Ranking(judgments.names, infos, list(map(str, kinds)), np.stack(values))


def change(first: Floats, second: Floats) -> Change:
    """Compare the values of systems under two judges.

    >>> found = change(np.array([0.4, 0.3, 0.1]), np.array([0.2, 0.3, 0.1]))
    >>> found.swapped, found.apart, round(found.mean, 3), round(found.largest, 3), round(found.widest, 3)
    (1, 3, 0.067, 0.2, 0.1)
    """
    moved = np.abs(second - first)
    upper = np.triu_indices(len(first), 1)
    before, after = (values[upper[0]] - values[upper[1]] for values in (first, second))
    apart = (before != 0) & (after != 0)
    swapped = apart & (np.sign(before) != np.sign(after))
    whole = float(first.mean())
    return Change(
        kendall(first, second),
        float(moved.mean()),
        float(moved.max()),
        float(moved.mean()) / whole if whole else float("nan"),
        int(swapped.sum()),
        int(apart.sum()),
        float(np.abs(before[swapped]).max(initial=0.0)),
    )


def changes(ranking: Ranking, pairs: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Compare pairs of judges by every measure."""
    return [
        {"a": ranking.judges[a], "b": ranking.judges[b], "measure": measure}
        | change(ranking.values[a, :, place], ranking.values[b, :, place]).to_dict()
        for a, b in pairs
        for place, measure in enumerate(ranking.measures)
    ]


NAN = float("nan")


class CoefficientEstimate(NamedTuple):
    """A coefficient with its interval; `corrected` for chance, so that the lecture's range is meant."""

    value: float
    low: float = NAN
    high: float = NAN
    corrected: bool = True

    @property
    def acceptable(self) -> bool | None:
        """Say whether it lies in [2/3, 1]; None where it is undefined or not corrected for chance."""
        return acceptable(self.value) if self.corrected else None

    def to_dict(self) -> dict[str, Any]:
        """Give value, interval, and whether it is acceptable where that is a question."""
        found: dict[str, Any] = {"value": plain(self.value), "low": plain(self.low), "high": plain(self.high)}
        return found | {"acceptable": self.acceptable} if self.corrected else found


class Agreement(Result):
    """Coefficients by name: `agreement`, `scott`, `cohen`, `fleiss`, `krippendorff`.

    `between[name]` holds the mean over pairs of judges and then every pair's value; `of_all[name]` is of all
    judges. `judgments` are the pairs of query and document compared, `tables` the confusion of every pair
    of judges (rows: the first of them), `by_query` the mean over pairs of judges for each query.
    """

    def __init__(
        self,
        judgments: Judgments,
        pairs: Sequence[tuple[int, int]],
        grades: Floats,
        *,
        reference: bool,
        between: Mapping[str, tuple[CoefficientEstimate, list[CoefficientEstimate]]],
        of_all: Mapping[str, tuple[CoefficientEstimate, int]],
        tables: Floats,
        by_query: Mapping[str, Floats],
        ranking: Ranking | None = None,
        warnings: Sequence[ResultWarning] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        self.judgments = judgments
        self.pairs = list(pairs)
        self.grades = grades
        self.reference = reference
        self.between = dict(between)
        self.of_all = dict(of_all)
        self.tables = tables
        self.by_query = dict(by_query)
        self.ranking = ranking
        self.warnings = list(warnings)
        self.options = dict(options or {})

    @property
    def judges(self) -> list[str]:
        """Give the names of the judges."""
        return self.judgments.names

    @property
    def queries(self) -> list[str]:
        """Give the queries of the pairs compared."""
        names = list(self.judgments.queries)
        return [names[code] for code in np.unique(self.judgments.query).tolist()] if names else []

    def __getitem__(self, name: str) -> CoefficientEstimate:
        if name in self.of_all:
            return self.of_all[name][0]
        if name in self.between:
            return self.between[name][0]
        known = ", ".join(sorted({*self.between, *self.of_all}))
        raise UsageError(f"no coefficient '{name}'; there are: {known}")

    def __repr__(self) -> str:
        names = ("agreement", "scott", "cohen", "fleiss", "krippendorff")
        shown = ", ".join(f"{name} {self[name].value:.3f}" for name in names)
        return f"Agreement({len(self.judges)} judges, {len(self.judgments)} pairs, {shown})"

    def matrix(self, name: str = "cohen") -> Floats:
        """Give a coefficient of every two judges: judges x judges, NaN where it was not asked for."""
        if name not in self.between:
            raise UsageError(f"no coefficient '{name}'; there are: {', '.join(self.between)}")
        found = np.full((len(self.judges),) * 2, np.nan)
        for (a, b), one in zip(self.pairs, self.between[name][1], strict=True):
            found[a, b] = found[b, a] = one.value
        return found

    def counted(self) -> list[int]:
        """Count, for every pair of judges, the pairs of query and document that both judged."""
        found: list[int] = self.tables.sum(axis=(1, 2)).astype(int).tolist()
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data; None is undefined."""
        found: dict[str, Any] = {
            "judges": self.judges,
            "reference": self.judges[0] if self.reference else None,
            "pairs": len(self.judgments),
            "queries": self.queries,
            "grades": self.grades.tolist(),
        }
        for name in ("agreement", "scott", "cohen"):
            found[name] = self[name].to_dict() | {"between": self._each(name)}
        for name, (one, pairs) in self.of_all.items():
            more = {"between": self._each(name)} if name in self.between else {}
            found[name] = one.to_dict() | {"pairs": pairs} | more
        return found | {
            "confusion": [
                {"a": a, "b": b, "counts": table.astype(int).tolist()}
                for (a, b), table in zip(self.named(), self.tables, strict=True)
            ],
            "per_query": {
                query: {name: plain(float(values[place])) for name, values in self.by_query.items()}
                for place, query in enumerate(self.queries)
            },
            "ranking": None
            if self.ranking is None
            else {
                "systems": self.ranking.systems,
                "measures": self.ranking.measures,
                "means": {
                    judge: {
                        system: dict(zip(self.ranking.measures, map(plain, row), strict=True))
                        for system, row in zip(self.ranking.systems, rows.tolist(), strict=True)
                    }
                    for judge, rows in zip(self.ranking.judges, self.ranking.values, strict=True)
                },
                "between": changes(self.ranking, self.pairs),
            },
        }

    def named(self) -> list[tuple[str, str]]:
        """Give the names of every pair of judges."""
        return [(self.judges[a], self.judges[b]) for a, b in self.pairs]

    def _each(self, name: str) -> list[dict[str, Any]]:
        """Give a coefficient of every pair of judges."""
        each = zip(self.named(), self.between[name][1], self.counted(), strict=True)
        return [{"a": a, "b": b, "pairs": pairs} | one.to_dict() for (a, b), one, pairs in each]


SHOWN = 3  # names in a notice
ENOUGH = 10  # queries that can be drawn again; where there are fewer, pairs are


def warnings_of(found: Agreement, whole: Judgments) -> list[ResultWarning]:
    """Put into words what was counted; nothing is said of what did not happen."""
    warnings = [
        _left_out(found, whole),
        _undefined(found),
        _odd_grades(found),
        _missing(found),
        _few_queries(found),
        _unjudged(found),
    ]
    return [notice for notice in warnings if notice.count]


def _left_out(found: Agreement, whole: Judgments) -> ResultWarning:
    count = len(whole) - len(found.judgments)
    judged = "all judges" if found.options["over"] == "all" else "two judges"
    words = (
        f"pairs of query and document that not {judged} judged: {count:,} of {len(whole):,}; left out "
        "(Krippendorff's alpha takes what two or more judged)"
    )
    return ResultWarning("left_out", words, count)


def _undefined(found: Agreement) -> ResultWarning:
    count = sum(bool(np.isnan(one.value)) for one in found.between["scott"][1])
    words = (
        f"two judges who give the same one grade to everything, or share no pair: {count}; what is "
        "corrected for chance is undefined there (chance alone agrees), not 1"
    )
    return ResultWarning("undefined", words, count)


def _odd_grades(found: Agreement) -> ResultWarning:
    """Tell of grades that one judge alone gives, where there are three or more, or a reference."""
    grades, names = found.judgments.grades, found.judges
    said: list[str] = []
    count = 0
    for grade in found.grades.tolist() if len(names) > 2 or found.reference else ():
        times = (grades == grade).sum(axis=0)
        if (times > 0).sum() == 1:
            count += int(times.sum())
            said.append(f"{grade:g} ({int(times.sum())} by {names[int(times.argmax())]})")
    more = ", ..." if len(said) > SHOWN else ""
    words = (
        f"grades that one judge alone gives: {', '.join(said[:SHOWN])}{more}; kept, nobody can agree "
        "with them"
    )
    return ResultWarning("odd_grades", words, count)


def _missing(found: Agreement) -> ResultWarning:
    count = int((~found.judgments.by_all).sum())
    words = (
        f"pairs that not all judged: {count:,}; each two judges are compared on what both judged, and "
        "Fleiss' kappa, which needs all, is undefined"
    )
    return ResultWarning("not_by_all", words, count)


def _few_queries(found: Agreement) -> ResultWarning:
    number = len(found.queries)
    few = 0 < number < ENOUGH and found.options["draws"] > 0
    if found.options["resample"] == "pairs":
        words = (
            f"{queries(number)}, too few to draw again: intervals are from drawing pairs, and hold for "
            "these queries only"
        )
    else:
        words = f"intervals from drawing {queries(number)} again: too few to trust them"
    return ResultWarning("few_queries", words, number if few else 0)


def _unjudged(found: Agreement) -> ResultWarning:
    if found.ranking is None:
        return ResultWarning("unjudged_documents", "", 0)
    count = sum(run.counts["unjudged_documents"] for run in found.ranking.runs)
    words = (
        f"retrieved documents that the judges did not judge: {count:,} in "
        f"{counted(len(found.ranking.runs), 'run')}; not relevant under every judge"
    )
    return ResultWarning("unjudged_documents", words, count)
