"""One value derived step by step, as a rank table that a person can check by hand.

A file holds the derivations of a family of measures; a measure without one gets ranks and grades.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple, TypeAlias, Unpack

import numpy as np

from leadline.data.ids import Vocabulary, to_text
from leadline.data.qrels import Qrels
from leadline.data.reading import (
    DEFAULT_READING,
    UNCUT,
    Cut,
    CutReadingOptions,
    Reading,
    reading_and_cut,
    refuse_unknown,
)
from leadline.data.result import Result
from leadline.data.results import Results, ResultWarning, RunInfo, plain
from leadline.data.run import Run
from leadline.data.validation import check_flags
from leadline.errors import UsageError
from leadline.evaluation.evaluate import EvaluateOptions, evaluate
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.run_warnings import fractional_warning, levels_of, undefined_warnings, warnings_of
from leadline.io.read import QrelsLike, RunLike, counted_run, judgments_of
from leadline.io.trec_runs import ReadCounts
from leadline.measures import Measure

Columns: TypeAlias = Mapping[str, Sequence[str | float | None]]


class Listed(NamedTuple):
    """One list, the best first: documents, scores, tied ranks, grades (None: unjudged).

    `judged` holds the grades of all judged documents of the query, retrieved or not; `subtopics` their
    grades by subtopic, where there are such.
    """

    documents: list[str]
    scores: list[float]
    ties: list[str | None]
    grades: list[float | None]
    judged: list[float]
    subtopics: dict[str, dict[str, float]]

    def relevant(self, rel: float) -> list[int]:
        """Return 1 for every rank that holds a document of grade `rel` or more, else 0."""
        return [int(grade is not None and grade >= rel) for grade in self.grades]

    def count(self, rel: float) -> int:
        """Count the judged documents of grade `rel` or more: R."""
        return sum(grade >= rel for grade in self.judged)


@dataclass(frozen=True)
class Steps:
    """What a measure uses at each rank, and how the value comes of it: `lines` end in the value.

    `last` is the last rank that matters.
    """

    value: float
    lines: list[str]
    last: int
    columns: Columns = field(default_factory=dict)


class Derivation:
    """How the values of the measures whose classes it names are derived."""

    measures: ClassVar[tuple[str, ...]] = ()

    def steps(self, measure: Any, listed: Listed) -> Steps:
        """Derive the value of one list."""
        raise NotImplementedError


@cache
def derivations() -> dict[str, Derivation]:
    """Return the derivation of every measure that has one, as classes of the module `derivations`."""
    return {name: made for made in _derivations() for name in made.measures}


def _derivations() -> Iterator[Derivation]:
    from leadline.evaluation import derivations as module

    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Derivation):
            yield value()


@dataclass(frozen=True)
class Explanation(Result):
    """One value of one run, and the steps to it.

    `warnings` are about the list of this query; what reading met is counted over the whole run.
    """

    measure: str
    query: str
    run: str
    value: float
    listed: Listed
    steps: Steps
    shown: int
    info: RunInfo
    warnings: Sequence[ResultWarning] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data: a step for every rank that matters, and the value."""
        listed = self.listed
        steps = [
            {
                "rank": place + 1,
                "document": listed.documents[place],
                "score": plain(listed.scores[place]),
                "tie": listed.ties[place],
                "grade": listed.grades[place],
            }
            | {name: column[place] for name, column in self.steps.columns.items()}
            for place in range(self.shown)
        ]
        return {
            "run": self.run,
            "query": self.query,
            "measure": self.measure,
            "steps": steps,
            "sums": self.steps.lines,
            "value": plain(self.value),
        }

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the steps as columns by name."""
        steps = self.to_dict()["steps"]
        return {name: [step[name] for step in steps] for name in (steps[0] if steps else ())}


# Most ranks up to a cutoff that are shown though nothing happens there.
WORTH_A_LOOK = 20


def explain(
    qrels: QrelsLike,
    run: RunLike,
    measure: str | Measure,
    query: str,
    *,
    everything: bool = False,
    name: str | None = None,
    **options: Unpack[EvaluateOptions],
) -> Explanation:
    """Derive the value of one query step by step; `options` are those of `evaluate`.

    The ranks that matter are shown, or `everything`. Runs and judgments are read as in `evaluate`.

    >>> found = explain({"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}, "RR", "q")
    >>> found.value, found.steps.lines
    (0.5, ['first relevant document at rank 2', 'RR = 1 / 2 = 0.5'])
    """
    check_flags(everything=everything)
    refuse_unknown(explain, options, EvaluateOptions)
    profile = profile_of(options.get("profile", "leadline"))
    own = {option: value for option, value in options.items() if option in CutReadingOptions.__annotations__}
    rest: dict[str, Any] = {option: value for option, value in options.items() if option not in own}
    reading, cut = reading_and_cut(explain, own)
    table = judgments_of(qrels, reading)
    whole, tally = counted_run(run, name=name, reading=reading)
    code = _code(query, table.queries)
    part = _list_of(whole, query, by_tag=reading.by_tag)
    results = evaluate(table, {part.name: part}, measure, **cut.options(), **rest)
    if len(results.measures) != 1:
        raise UsageError(f"'{measure}' means {len(results.measures)} measures; expected one")
    meant = results.measures[0]
    assert isinstance(meant, Measure)
    info = _info(results.runs[0], tally, run)
    listed = listed_of(part, table, code, reading=replace(reading, single_precision=profile.narrow), cut=cut)
    value = float(results.values[0, code, 0])
    made = derivations().get(type(meant).__name__)
    steps = made.steps(meant, listed) if made else _ranks_only(meant, listed, value)
    size = len(listed.documents)
    least = min(getattr(meant, "cutoff", None) or 0, WORTH_A_LOOK)
    return Explanation(
        str(meant),
        query,
        part.name,
        value,
        listed,
        steps,
        shown=size if everything else min(size, max(steps.last, least)),
        info=info,
        warnings=_warnings(results, info, table, code),
    )


def _code(query: str, queries: Vocabulary) -> int:
    code = queries.code(query)
    if code is None:
        import difflib

        near = difflib.get_close_matches(query, list(queries), n=3, cutoff=0.0)
        raise UsageError(f"query '{query}' is not judged; nearest: " + ", ".join(near))
    return code


def _info(found: RunInfo, tally: ReadCounts, source: RunLike) -> RunInfo:
    """Return what is known of the list, and what was met where the whole run was read."""
    read = {
        "documents_read": tally.rows,
        "missing_queries": 0,
        "other_tags": tally.other_tags,
        "ignored_columns": tally.extra_columns,
        "rank_disagrees": tally.disordered,
        "repeated_documents": tally.repeated,
        "dropped_scores": tally.dropped,
    }
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
    return RunInfo(found.name, found.tag, path, found.counts | read)


def _warnings(results: Results, info: RunInfo, qrels: Qrels, code: int) -> list[ResultWarning]:
    """Describe what was missing, tied, unjudged or undefined for one query."""
    only = qrels.only(code)
    measures = [measure for measure in results.measures if isinstance(measure, Measure)]
    averaging, profile = results.options["queries"], profile_of(results.options["profile"])
    span = slice(code, code + 1)
    return [
        *warnings_of([info], only, averaging=averaging, levels=levels_of(measures)),
        *undefined_warnings([info], only, measures, results.values[:, span], results.present[:, span]),
        *(fractional_warning(only) if profile.whole_grades else []),
    ]


def _list_of(run: Run, query: str, *, by_tag: bool) -> Run:
    """Return a run with the list of one query, empty if there is none."""
    code = run.queries.code(query)
    low, high = (0, 0) if code is None else run.offsets[code : code + 2].tolist()
    if low == high:
        raise UsageError(f"{run.name}: no list for query '{query}'; its value counts 0")
    bounds = np.array([0, high - low], dtype=np.int64)
    return Run.of_columns(
        Vocabulary([query]),
        bounds,
        run.documents,
        run.document[low:high],
        run.scores[low:high],
        name=(run.tag or run.name) if by_tag else run.name,
        tag=run.tag,
    )


def listed_of(
    run: Run, qrels: Qrels, code: int, *, reading: Reading = DEFAULT_READING, cut: Cut = UNCUT
) -> Listed:
    """Return the only list of a run with the grades of a query, ordered and cut as it is evaluated."""
    scores = run.scores
    if reading.single_precision:
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    order = np.lexsort((-run.document, -scores))
    rows, grades = qrels.lookup[code], qrels.grades
    names = [run.documents.names[item] for item in run.document[order].tolist()]
    judged = [float(grades[rows[name]]) if name in rows else None for name in names]
    kept = [
        place
        for place, grade in enumerate(judged[: cut.depth] if cut.judged_only else judged)
        if not cut.judged_only or (grade is not None and grade >= 0)
    ]
    ordered = scores[order][kept].tolist()
    shown = slice(cut.depth)
    return Listed(
        [to_text(names[place]) for place in kept][shown],
        ordered[shown],
        _tied(ordered)[shown],
        [judged[place] for place in kept][shown],
        [float(grades[row]) for row in rows.values()],
        _by_subtopic(qrels, code),
    )


def _by_subtopic(qrels: Qrels, code: int) -> dict[str, dict[str, float]]:
    """Return the grades of every document of a query by subtopic."""
    found: dict[str, dict[str, float]] = {}
    for subtopic, grades in (qrels.by_subtopic() or {}).get(qrels.queries[code], {}).items():
        for document, grade in grades.items():
            found.setdefault(document, {})[subtopic] = grade
    return found


def _tied(scores: list[float]) -> list[str | None]:
    """Give, for every rank, the ranks that share its score, as in 2-4; None where it has its own."""
    found: list[str | None] = [None] * len(scores)
    first = 0
    for place in range(1, len(scores) + 1):
        if place < len(scores) and scores[place] == scores[first]:
            continue
        if place - first > 1:
            found[first:place] = [f"{first + 1}-{place}"] * (place - first)
        first = place
    return found


def _ranks_only(measure: Measure, listed: Listed, value: float) -> Steps:
    judged = [rank for rank, grade in enumerate(listed.grades, start=1) if grade is not None]
    lines = [f"formula: {measure.formula}", f"{measure} = {number(value)}"]
    return Steps(value, lines, judged[-1] if judged else 0)


def number(value: float) -> str:
    """Write a number in at most six digits after the point.

    >>> number(0.5), number(2.0), number(2 / 3), number(float("nan"))
    ('0.5', '2', '0.666667', 'undefined')
    """
    if value != value:  # noqa: PLR0124  # NaN
        return "undefined"
    return f"{value:.6f}".rstrip("0").rstrip(".") if abs(value) < 1e9 else f"{value:g}"


def ratio(part: float, whole: float) -> float:
    """Divide; undefined (NaN) by 0."""
    return part / whole if whole else float("nan")


def last_or_ten(flags: list[int], cutoff: int | None = None) -> int:
    """Return the last rank up to the cutoff that is marked, but no less than the first ten ranks."""
    return max(last_of(flags, cutoff), min(10 if cutoff is None else cutoff, 10))


def last_of(flags: list[int], cutoff: int | None = None) -> int:
    """Return the last rank up to the cutoff that is marked, 0 if none is."""
    return max((rank for rank, flag in enumerate(flags[:cutoff], start=1) if flag), default=0)
