"""Result of `agreement`, and its warnings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

import numpy as np

from leadline.comparison.comparison_result import Comparison
from leadline.comparison.correlate import noisy_means
from leadline.data.arrays import Flags, Floats, Integers, freeze
from leadline.data.ids import Vocabulary
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import Reading
from leadline.data.table import Column, ResultWarning, Table, keyed, plain, raised
from leadline.data.wording import counted, first_few, queries
from leadline.errors import UsageError
from leadline.evaluation.evaluate import Meaning, evaluate
from leadline.evaluation.join import readable_twice
from leadline.evaluation.profiles import PROFILES
from leadline.io.judges import Judge
from leadline.io.objects import Qrels
from leadline.judging.agreement_audit import (
    Audit,
    CoefficientEstimate,
    NeededJudgments,
    Ranking,
    ranking_dict,
)
from leadline.judging.agreement_columns import agreement_columns, agreement_tables
from leadline.result import Make, Result
from leadline.stats.agreement_coefficients import (
    FEWEST_OF_EACH,
    FEWEST_PAIRS,
    FEWEST_QUERIES,
    ChanceAgreement,
)


@dataclass(eq=False)
class Judgments:
    """Grades of query-document pairs (rows) by judges (columns), NaN where a judge did not judge.

    `query` is the index of every pair's query in `queries`, `documents` its document. Judgments from a
    contingency table have no queries. `samples` are the qrels of judges that are only a sample.

    >>> from leadline.io.judges import read_judges
    >>> judges = read_judges({"ann": {"q1": {"d1": 1, "d2": 0}}, "ben": {"q1": {"d1": 2}}})
    >>> Judgments.of_judges(judges).grades
    array([[ 1.,  2.],
           [ 0., nan]])
    """

    names: list[str]
    grades: Floats
    queries: Vocabulary = field(default_factory=Vocabulary)
    query: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    documents: list[bytes] = field(default_factory=list)
    paths: list[tuple[str, int]] = field(default_factory=list)
    samples: list[QrelsColumns] = field(default_factory=list)

    def __post_init__(self) -> None:
        freeze(self.grades)
        if not len(self.query):
            self.query = np.zeros(len(self.grades), dtype=np.int64)

    @classmethod
    def of_judges(cls, judges: Sequence[Judge]) -> Judgments:
        """Join the qrels of judges."""
        queries = Vocabulary.of_bytes(name for judge in judges for name in judge.qrels.queries.names)
        row_of: dict[tuple[int, bytes], int] = {}
        columns: list[tuple[list[int], Floats]] = []
        for judge in judges:
            codes = queries.encode(judge.qrels.queries.names)[judge.qrels.query].tolist()
            given = judge.qrels
            judged = np.ones(len(given.grades), dtype=np.bool_) if given.strata is None else given.grades >= 0
            pairs = compress(zip(codes, given.documents, strict=True), judged.tolist())
            rows = [row_of.setdefault(pair, len(row_of)) for pair in pairs]
            columns.append((rows, given.grades[judged]))
        grades = np.full((len(row_of), len(judges)), np.nan)
        for column, (rows, judge_grades) in enumerate(columns):
            grades[rows, column] = judge_grades
        pairs_found = list(row_of)
        order = sorted(range(len(pairs_found)), key=pairs_found.__getitem__)
        paths: dict[str, int] = {}
        for judge in judges:
            paths[judge.path] = paths.get(judge.path, 0) + len(judge.qrels.grades)
        return cls(
            [judge.name for judge in judges],
            grades[order],
            queries=queries,
            query=np.array([pairs_found[row][0] for row in order], dtype=np.int64),
            documents=[pairs_found[row][1] for row in order],
            paths=list(paths.items()),
            samples=[judge.qrels for judge in judges if judge.qrels.is_partial],
        )

    @classmethod
    def of_counts(cls, counts: Sequence[float]) -> Judgments:
        """Return judgments of two judges from the cells of a square contingency table, row by row.

        The row is the grade of the first judge, the column that of the second: 0, 1, 2, ...

        >>> len(Judgments.of_counts([300, 20, 10, 70]))
        400
        """
        size = round(len(counts) ** 0.5)
        if size < 2 or size * size != len(counts):
            raise UsageError(
                f"a table of counts cannot have {counted(len(counts), 'number')}. Pass 4 numbers (yes-yes, "
                "yes-no, no-yes, no-no), or 9, 16, ... numbers row by row."
            )
        for count in counts:
            if not (0 <= count <= 10**7) or count != int(count):
                raise UsageError(
                    f"the counts in a table must be whole numbers from 0 to 10,000,000, not {count:.12g}"
                )
        if not sum(counts):
            raise UsageError("all counts in the table are 0")
        cells = np.repeat(np.arange(len(counts)), np.asarray(counts, dtype=np.int64))
        grades = np.stack([cells // size, cells % size], axis=1).astype(np.float64)
        return cls(["judge 1", "judge 2"], grades)

    def __len__(self) -> int:
        return len(self.grades)

    @property
    def by_all(self) -> Flags:
        """Flags of the pairs judged by all judges."""
        return np.asarray(~np.isnan(self.grades).any(axis=1))

    def keep(self, chosen: Flags) -> Judgments:
        """Return a subset of the pairs, with all queries."""
        documents = list(compress(self.documents, chosen.tolist()))
        return replace(self, grades=self.grades[chosen], query=self.query[chosen], documents=documents)

    def binary(self, rel: float) -> Judgments:
        """Return binary judgments: 1 for grades of at least `rel`, else 0."""
        grades = np.where(np.isnan(self.grades), np.nan, (self.grades >= rel).astype(np.float64))
        return replace(self, grades=grades)

    def qrels(self, judge: int) -> Qrels:
        """Return the judgments of one judge as qrels."""
        judged = np.flatnonzero(~np.isnan(self.grades[:, judge])).tolist()
        return Qrels.of(
            (
                (self.queries.names[self.query[row]], self.documents[row], float(self.grades[row, judge]))
                for row in judged
            ),
            source=self.names[judge],
        )


DEFAULT_MEASURES = ("AP", "nDCG")


def ranked(
    judgments: Judgments,
    runs: Any,
    *,
    measures: Sequence[str] | str = DEFAULT_MEASURES,
    rel: float | None = None,
    judged_only: bool = False,
    on_run: Callable[[int, int], None] | None = None,
) -> Ranking:
    """Evaluate runs with the judgments of each judge."""
    kinds = Meaning(PROFILES["leadline"], rel)(measures)
    runs = readable_twice(runs, Reading())
    values, infos = [], []
    counted_values: list[list[Floats]] = [[] for _ in kinds]
    for judge in range(len(judgments.names)):
        if on_run:
            on_run(judge, len(judgments.names))
        results = evaluate(judgments.qrels(judge), runs, kinds, rel=rel, judged_only=judged_only)
        values.append(results.means)
        infos = list(results.runs)
        for index, column in enumerate(counted_values):
            column.append(results.averaged_values(index).T)
    by_query = [
        np.stack(column) if kind.average == "mean" and not np.isnan(column).any() else None
        for kind, column in zip(kinds, counted_values, strict=True)
    ]
    rising = [kind.rising for kind in kinds]
    return Ranking(judgments.names, infos, list(map(str, kinds)), np.stack(values), by_query, rising)


@dataclass(repr=False, eq=False)
class Agreement(Result):
    """Agreement coefficients by name: `agreement`, `scott`, `cohen`, `fleiss`, `krippendorff`.

    Attributes
    ----------
    judgments : Judgments
        Grades of the query-document pairs that are compared.
    pairs : list of (int, int)
        Pairs of judges, as indices.
    grades : ndarray of float64
        Grades in use, ascending.
    reference : bool
        Whether the others are compared with the first judge only.
    between : dict of str to (CoefficientEstimate, list of CoefficientEstimate)
        By coefficient: the mean over pairs of judges, and the value of each pair.
    of_all : dict of str to (CoefficientEstimate, int)
        By coefficient: the value over all judges, and the number of query-document pairs used.
    tables : ndarray of float64, shape (n_pairs, n_grades, n_grades)
        Confusion tables of the pairs of judges; rows are the first judge.
    by_query : dict of str to ndarray of float64
        By coefficient: the mean over pairs of judges for each query; NaN where undefined.
    ranking : Ranking or None
        With runs: their means by the judgments of each judge.
    audits : list of Audit
        With runs and two judges or a reference: what each judge does to each measure, by the first.
    needed : list of NeededJudgments
        Numbers of judgments that kappa takes.
    forms : Comparison or None
        Of a store with several forms of presentation: these compared.
    """

    _words = dict.fromkeys(["kappa", "cohen", "cohen_kappa", "weighted_kappa"], "result['cohen'].value") | {
        "scott": "result['scott'].value",
        "pi": "result['scott'].value",
        "fleiss": "result['fleiss'].value",
        "krippendorff": "result['krippendorff'].value",
        "alpha": "result['krippendorff'].value",
        "agreement": "result['agreement'].value",
        "value": "result['cohen'].value",
        "confusion": "tables",
        "confusion_matrix": "tables",
    }

    judgments: Judgments
    pairs: list[tuple[int, int]]
    grades: Floats
    reference: bool
    between: Mapping[str, tuple[CoefficientEstimate, list[CoefficientEstimate]]]
    of_all: Mapping[str, tuple[CoefficientEstimate, int]]
    tables: Floats
    by_query: Mapping[str, Floats]
    ranking: Ranking | None = None
    audits: Sequence[Audit] = ()
    needed: Sequence[NeededJudgments] = ()
    forms: Comparison | None = None

    @property
    def judges(self) -> list[str]:
        """Names of the judges."""
        return self.judgments.names

    @property
    def queries(self) -> list[str]:
        """Queries of the pairs compared."""
        names = list(self.judgments.queries)
        return [names[code] for code in np.unique(self.judgments.query).tolist()] if names else []

    def __getitem__(self, name: str) -> CoefficientEstimate:
        if name in self.of_all:
            return self.of_all[name][0]
        if name in self.between:
            return self.between[name][0]
        names = ", ".join(sorted({*self.between, *self.of_all}))
        raise UsageError(f"there is no coefficient '{name}'. Use one of {names}.")

    def _labelled(self) -> Sequence[str]:
        return self.judges

    def _figure(self) -> Make:
        """Draw Cohen's kappa of all pairs of judges, or of each judge with the reference."""
        from leadline.charts import COLUMN, shortened
        from leadline.charts.association_plots import against_reference, between_judges

        label = str(self.options["weights"])
        label = "Cohen's kappa" if label == "none" else f"Cohen's kappa, {label} weights"

        if not self.reference:
            return lambda width: between_judges(self.judges, self.matrix("cohen"), label=label, width=width)
        estimates = self.between["cohen"][1]
        return lambda width: against_reference(
            self.judges[1:],
            *([estimate[field] for estimate in estimates] for field in range(3)),
            label=f"{label} with {shortened(self.judges[:1], 24)[0]}",
            width=width or COLUMN,
        )

    def __repr__(self) -> str:
        names = ("agreement", "scott", "cohen", "fleiss", "krippendorff")
        shown = ", ".join(f"{name} {self[name].value:.3f}" for name in names)
        weights = self.options.get("weights", "none")
        weighted = "" if weights == "none" else f", {weights} weights"
        sizes = f"{counted(len(self.judges), 'judge')}, {counted(len(self.judgments), 'pair')}"
        return f"Agreement({sizes}, {shown}{weighted})"

    def matrix(self, name: str = "cohen") -> Floats:
        """Return a coefficient of every pair of judges: judges x judges, NaN where not computed."""
        if name not in self.between:
            raise UsageError(
                f"there is no coefficient '{name}' for pairs of judges. Use one of {', '.join(self.between)}."
            )
        matrix = np.full((len(self.judges),) * 2, np.nan)
        for (a, b), estimate in zip(self.pairs, self.between[name][1], strict=True):
            matrix[a, b] = matrix[b, a] = estimate.value
        return matrix

    def chance(self) -> list[ChanceAgreement]:
        """Return observed and chance agreement of every two judges with a common pair."""
        rows = zip(self.named(), self.tables, strict=True)
        return [ChanceAgreement.of(*names, table) for names, table in rows if table.any()]

    def counted(self) -> list[int]:
        """Return the number of query-document pairs judged by both, per pair of judges."""
        return [estimate.pairs for estimate in self.between["agreement"][1]]

    def _columns(self, *, per_query: bool = False) -> list[Column]:
        return agreement_columns(self, per_query=per_query)

    def _tables(self, *, per_query: bool = False) -> list[Table]:
        return agreement_tables(self, per_query=per_query)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data; None is undefined."""
        data: dict[str, Any] = {
            "judges": self.judges,
            "reference": self.judges[0] if self.reference else None,
            "pairs": len(self.judgments),
            "queries": self.queries,
            "grades": self.grades.tolist(),
        }
        for name in ("agreement", "scott", "cohen", *self.of_all):
            pairs = {"pairs": self.of_all[name][1]} if name in self.of_all else {}
            data[name] = self[name].to_dict() | pairs | self._between(name)
        return data | {
            "confusion": [
                {"a": a, "b": b, "counts": table.astype(int).tolist()}
                for (a, b), table in zip(self.named(), self.tables, strict=True)
            ],
            "chance": [each._asdict() for each in self.chance()],
            "per_query": {
                query: {name: plain(float(values[index])) for name, values in self.by_query.items()}
                for index, query in enumerate(self.queries)
            },
            "ranking": None if self.ranking is None else ranking_dict(self.ranking, self.pairs),
            "audit": [each.to_dict() for each in self.audits],
            "needed": [keyed(each) for each in self.needed],
            "forms": None if self.forms is None else self.forms.to_dict(),
        }

    def named(self) -> list[tuple[str, str]]:
        """Return the names of every pair of judges."""
        return [(self.judges[a], self.judges[b]) for a, b in self.pairs]

    def _between(self, name: str) -> dict[str, Any]:
        """Return a coefficient of every pair of judges, if there is one."""
        pairwise = zip(self.named(), self.between.get(name, (None, ()))[1], strict=False)
        rows = [{"a": a, "b": b, "pairs": one.pairs} | one.to_dict() for (a, b), one in pairwise]
        return {"between": rows} if rows else {}


SHOWN = 3  # examples in a warning


def warnings_of(result: Agreement, judgments: Judgments) -> list[ResultWarning]:
    """Return the warnings about exclusions, undefined values and small samples."""
    over_all = result.options["over"] == "all"
    several = over_all and len(result.judges) > 2
    alpha = " (Krippendorff's alpha uses pairs judged by two or more)" if several else ""
    left_out = len(judgments) - len(result.judgments)
    judged = (
        f"{'not all' if over_all else 'fewer than two'} judges judged {'it' if left_out == 1 else 'them'}"
    )
    undefined = sum(math.isnan(estimate.value) for estimate in result.between["scott"][1])
    few = sum(pairs < FEWEST_PAIRS for pairs in result.counted())
    shared = f"in {few} of {len(result.pairs)} comparisons, the judges share too few pairs"
    if len(result.pairs) == 1:
        shared = f"the judges share only {counted(result.counted()[0], 'pair')}"
    lacking = int((~result.judgments.by_all).sum())
    runs = [] if result.ranking is None else result.ranking.runs
    unjudged = sum(run.counts["unjudged_documents"] for run in runs)
    facts = [
        (
            "sample",
            (
                f"{len(judgments.samples)} of {len(judgments.names)} judges judged only a sample, so the "
                "coefficients (unweighted) cover only the judged pairs"
            ),
            len(judgments.samples),
        ),
        (
            "left_out",
            (
                f"left out {left_out:,} of {counted(len(judgments), 'query-document pair')}, because "
                f"{judged}{alpha}"
            ),
            left_out,
        ),
        (
            "undefined",
            (
                f"chance-corrected coefficients are undefined for {counted(undefined, 'pair')} of judges "
                "who share no query-document pair or gave all shared pairs the same grade"
            ),
            undefined,
        ),
        (
            "few_pairs",
            f"{shared} (at least {FEWEST_PAIRS} are needed to call agreement acceptable or insufficient)",
            few,
        ),
        _odd_grades(result),
        (
            "not_by_all",
            (
                f"{counted(lacking, 'pair was', 'pairs were')} not judged by all judges, so two judges "
                "are compared only on the pairs that both judged, and Fleiss' kappa is undefined"
            ),
            lacking,
        ),
        _about_intervals(result),
        _withheld(result),
        (
            "unjudged_documents",
            (
                f"retrieved documents that not all judges judged ({unjudged:,} in "
                f"{counted(len(runs), 'run')}) count as unjudged for every judge"
            ),
            unjudged,
        ),
    ]
    return [*raised(*facts), *noisy_audits(result.audits)]


def _odd_grades(result: Agreement) -> tuple[str, str, int]:
    """Return a warning about grades given by one judge of three or more, or of a judge and a reference."""
    grades, names = result.judgments.grades, result.judges
    examples: list[str] = []
    count = 0
    for grade in result.grades.tolist() if len(names) > 2 or result.reference else ():
        times = (grades == grade).sum(axis=0)
        if (times > 0).sum() == 1:
            count += int(times.sum())
            given = counted(int(times.sum()), "judgment")
            examples.append(f"grade {grade:g} ({given} by {names[int(times.argmax())]})")
    shown = first_few(examples, SHOWN)
    message = f"kept grades that only one judge used, although judges cannot agree on them: {shown}"
    return "odd_grades", message, count


def _about_intervals(result: Agreement) -> tuple[str, str, int]:
    """Return a warning about intervals that were resampled from pairs, or withheld."""
    number = len(result.queries) if result.options["draws"] > 0 else 0
    if result.options["resample"] == "pairs":
        message = (
            "intervals from resampled pairs apply only to these queries; taken as intervals over queries, "
            "95 % intervals contained the true kappa in just 30 to 54 % of simulated samples (see "
            "docs/agreement.md)"
        )
        return "pairs_resampled", message, number
    message = (
        f"no intervals with {queries(number)}, because with fewer than {FEWEST_QUERIES} the 95 % intervals "
        "contained the true kappa in only 88 to 94 % of simulated samples (see docs/agreement.md)"
    )
    return "few_queries", message, number if number < FEWEST_QUERIES else 0


def _withheld(result: Agreement) -> tuple[str, str, int]:
    """Return a warning about pairs of judges with too few disagreements or agreements for an interval."""
    percent, corrected = result.between["agreement"][1], result.between["cohen"][1]
    judged = [not math.isnan(each.value) for each in percent]
    number, of_percent = (
        sum(math.isnan(each.low) for each in compress(estimates, judged))
        for estimates in (corrected, percent)
    )
    unit = result.options["resample"]
    what = "no intervals" + " of chance-corrected coefficients" * (number > of_percent)
    where = what if len(percent) == 1 else f"{what} in {number} of {len(percent)} comparisons"
    message = (
        f"{where}: an interval needs at least {FEWEST_OF_EACH} {unit} with disagreement and at least "
        f"{FEWEST_OF_EACH} with agreement (on each of two grades for chance-corrected coefficients); with "
        "fewer, the 95 % intervals contained the true kappa in as few as 1 % of simulated samples (see "
        "docs/agreement.md)"
    )
    known = result.options["draws"] and (unit == "pairs" or len(result.queries) >= FEWEST_QUERIES)
    return "withheld_intervals", message, number if known else 0


def noisy_audits(audits: Sequence[Audit]) -> list[ResultWarning]:
    """Return a warning about rankings of runs too noisy for the intervals of their correlations."""
    found = [
        (f"{each.measure} according to {judge}{of}", value)
        for each in audits
        for taus, reliability, of in (
            (each.taus, each.reliability, ""),
            (each.top_taus, each.top_reliability, f" (the top {each.top})"),
        )
        if not math.isnan(taus.kendall.low) and (not of or each.top < len(each.runs))
        for judge, value in zip((each.reference, each.judge), reliability, strict=True)
    ]
    return noisy_means(list(dict.fromkeys(found)))
