"""Step-by-step derivation of the value of one measure for one query, as a table of ranks."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from leadline.data.ids import Vocabulary, to_bytes, to_text
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import (
    DEFAULT_READING,
    UNCUT,
    Cut,
    CutReadingOptions,
    Reading,
    reading_and_cut,
    refuse_unknown,
)
from leadline.data.registry import only
from leadline.data.run import RunColumns
from leadline.data.table import (
    Column,
    Preformatted,
    ResultWarning,
    RunInfo,
    Table,
    columns_of,
    plain,
    printed_table,
)
from leadline.data.validation import check_flags
from leadline.data.wording import counted
from leadline.errors import InputError, UsageError
from leadline.evaluation.derivations import DERIVATIONS, Listed, Steps, number
from leadline.evaluation.evaluate import EvaluateOptions, Meaning, evaluate, refuse_threshold
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.results import Results
from leadline.evaluation.run_warnings import (
    counts_of_file,
    fractional_warning,
    levels_of,
    undefined_counts,
    warnings_of,
    warnings_of_undefined,
)
from leadline.io.objects import judgments_of
from leadline.io.read import QrelsLike, RunLike, counted_run, stream_lists
from leadline.io.read_paths import path_of, public
from leadline.io.run_lists import Lists, RankedLists, ReadCounts, are_unique, run_of
from leadline.measures import Measure
from leadline.result import Result


@dataclass(repr=False)
class Explanation(Result):
    """Value of one measure for one query of one run, with its derivation.

    Attributes
    ----------
    measure : str
        Name of the measure.
    query : str
        Id of the query.
    run : str
        Name of the run.
    value : float
        The value; NaN is undefined.
    listed : Listed
        The ranked list with its grades and ties.
    steps : Steps
        The derivation.
    shown : int
        Number of ranks that are shown.
    info : RunInfo
        Name and counts of the run.
    warnings : list of ResultWarning
        Warnings about the list of this query; counts of reading are of the whole run.
    """

    measure: str
    query: str
    run: str
    value: float
    listed: Listed
    steps: Steps
    shown: int
    info: RunInfo

    def __repr__(self) -> str:
        return f"Explanation({self.measure} of {self.run} on query {self.query}: {self.value:.4f})"

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the keys run, query, measure, steps (by rank), sums and value."""
        listed = self.listed
        steps = [
            {
                "rank": index + 1,
                "document": listed.documents[index],
                "score": plain(listed.scores[index]),
                "tie": listed.ties[index],
                "grade": listed.grades[index],
            }
            | {name: column[index] for name, column in self.steps.columns.items()}
            for index in range(self.shown)
        ]
        return {
            "run": self.run,
            "query": self.query,
            "measure": self.measure,
            "steps": steps,
            "sums": self.steps.lines,
            "value": plain(self.value),
        }

    def _columns(self) -> list[Column]:
        steps = self.to_dict()["steps"]
        names = list(steps[0]) if steps else ["rank", "document", "score", "tie", "grade"]
        return columns_of(names, [[_cell(name, value) for name, value in step.items()] for step in steps])

    def _tables(self) -> list[Table]:
        hidden = len(self.listed.documents) - self.shown
        lower = f"not shown: {counted(hidden, 'lower rank')} (`leadline explain --long` shows all ranks)"
        notes = [lower] if hidden else []
        notes += [*self.steps.lines, *[""][: len(self.warnings)], *map(str, self.warnings)]
        title = f"{self.measure} of {self.run}, query {self.query}: {number(self.value)}"
        return [printed_table(self._columns(), notes=notes, title=title, whole=True)]

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the steps as columns by name."""
        steps = self.to_dict()["steps"]
        return {name: [step[name] for step in steps] for name in (steps[0] if steps else ())}


def _cell(name: str, value: Any) -> Any:
    """Return a value of a step as it is printed."""
    if name == "grade":
        return "unjudged" if value is None else Preformatted(f"{value:g}")
    if name == "score":
        return "-" if value is None else Preformatted(f"{value:.8g}")
    return str(value or "") if name == "tie" else value


FEWEST_RANKS = 20  # ranks up to the cutoff that are always shown


@public
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
    """Derive the value of a measure for one query step by step.

    Parameters
    ----------
    qrels : path, mapping or frame
        Relevance judgments.
    run : path, mapping or frame
        The run.
    measure : str or Measure
        The measure.
    query : str
        Query id.
    everything : bool, default False
        Whether to show all ranks; by default, lower ranks may be left out.
    name : str, optional
        Name of the run.
    **options
        Those of `evaluate`.

    Returns
    -------
    Explanation
        Value, steps and warnings.

    Examples
    --------
    >>> found = explain({"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}, "RR", "q")
    >>> found.value, found.steps.lines
    (0.5, ['first relevant document at rank 2', 'RR = 1 / 2 = 0.5'])
    """
    check_flags(everything=everything)
    refuse_unknown(explain, options, EvaluateOptions.__annotations__)
    if options.get("pool") is not None:
        raise UsageError("`explain` does not support estimates from a pool. Leave out `pool`")
    profile = profile_of(options.get("profile", "leadline"))
    cut_reading_options = {
        option: value for option, value in options.items() if option in CutReadingOptions.__annotations__
    }
    evaluation_options: dict[str, Any] = {
        option: value for option, value in options.items() if option not in cut_reading_options
    }
    reading, cut = reading_and_cut(explain, cut_reading_options)
    table = copy(judgments_of(qrels, reading))
    table.votes = {}  # each document of the list is shown with one grade, that of the majority
    single, name_of_run, counts = _list_of(run, query, name=name, reading=reading)
    code = table.queries.code(query)
    if code is None:
        raise UsageError(
            f"query '{query}' has no judgments. Choose a judged query, such as {next(iter(table.queries))} "
            f"({len(table.queries):,} in all)."
        )
    if single is None or not len(single.scores):
        raise UsageError(
            f"run '{name_of_run}' has no ranking for query '{query}'. Choose a query with documents in the "
            "run."
        )
    asked = Meaning(profile, options.get("rel"), options.get("documents"))(measure)
    refuse_threshold(asked, reading)
    budgeted = next((one for one in asked if one.budget is not None), None)
    if reading.documents_of is not None and budgeted is not None:
        raise UsageError(
            f"{budgeted} cannot be explained with --config read.documents_of. Use a measure without a budget"
        )
    try:
        results = evaluate(
            table,
            {single.name: single},
            measure,
            lengths=reading.lengths,
            **cut.options(),
            **evaluation_options,
        )
    except InputError as error:
        raise (error if error.path else error.at(path_of(run))) from None
    measure_used = only(measure, results.measures)
    assert isinstance(measure_used, Measure)
    evaluated = results.runs[0]
    read = {"missing_queries": 0, **counts_of_file(counts)}  # those of the whole run
    info = RunInfo(evaluated.name, evaluated.tag, path_of(run), evaluated.counts | read)
    listed = listed_of(
        single, table, code, reading=replace(reading, single_precision=profile.narrow), cut=cut
    )
    value = float(results.values[0, code, 0])
    derive = DERIVATIONS.get(type(measure_used).__name__)
    if derive is not None:
        steps = derive(measure_used, listed)
    else:  # ranks and grades only
        lines = [f"formula: {measure_used.formula}", f"{measure_used} = {number(value)}"]
        judged = (rank for rank, grade in enumerate(listed.grades, start=1) if grade is not None)
        steps = Steps(value, lines, max(judged, default=0))
    size = len(listed.documents)
    least = min(getattr(measure_used, "cutoff", None) or 0, FEWEST_RANKS)
    return Explanation(
        str(measure_used),
        query,
        single.name,
        value,
        listed,
        steps,
        shown=size if everything else min(size, max(steps.last, least)),
        info=info,
        warnings=_warnings(results, info, table, code),
    )


def _warnings(results: Results, info: RunInfo, qrels: QrelsColumns, code: int) -> list[ResultWarning]:
    """Return the warnings of one query."""
    only = qrels.of_query(code)
    measures = [measure for measure in results.measures if isinstance(measure, Measure)]
    averaging, profile = results.options["queries"], profile_of(results.options["profile"])
    span = slice(code, code + 1)
    undefined = undefined_counts(only, measures, results.values[:, span], results.present[:, span])
    return [
        *warnings_of([info], only, averaging=averaging, levels=levels_of(measures), measures=measures),
        *warnings_of_undefined([info], measures, undefined),
        *(fractional_warning(only) if profile.whole_grades else []),
    ]


class _OneList:
    """The list of one query, kept while a run is read."""

    def __init__(self, query: str) -> None:
        self.query = to_bytes(query)
        self.restart()

    def restart(self) -> None:
        """Forget the list, and how many repeats were held before it."""
        self.found: Lists | None = None
        self.held = 0
        self.first_repeat = 1

    def take(self, lists: RankedLists) -> bool:
        """Keep the list if it is among some, unless one names a document twice."""
        given = lists.unordered
        if not are_unique(given):
            return False
        if self.query in given.queries:
            place = given.queries.index(self.query)
            low, high = given.bounds[place : place + 2].tolist()
            rows = np.arange(low, high)
            held = [row - low for row in given.held if low <= row < high]
            before = sum(row < low for row in given.held)
            ids = given.ids().take(rows)
            span = np.array([0, len(rows)])
            self.found = Lists([self.query], span, (ids.text, ids.start, ids.stop), given.scores[rows])
            self.found.held = held
            self.first_repeat = 1 + self.held + before
        self.held += len(given.held)
        return True


def _list_of(
    source: RunLike, query: str, *, name: str | None, reading: Reading
) -> tuple[RunColumns | None, str, ReadCounts]:
    """Return the list of one query, None if there is none, and the name and counts of its whole run."""
    if not isinstance(source, RunColumns) or reading.documents_of is not None:
        kept = _OneList(query)
        name, tally = stream_lists(source, kept, reading=reading, name=name)
        if kept.found is None:
            return None, name, tally
        shown = (tally.tag or name) if reading.by_tag else name
        return run_of(kept.found, name=shown, tag=tally.tag, first_repeat=kept.first_repeat), name, tally
    source, tally = counted_run(source, reading=reading)
    code = source.queries.code(query)
    low, high = (0, 0) if code is None else source.offsets[code : code + 2].tolist()
    if low == high:
        return None, source.name, tally
    part = RunColumns.of_columns(
        Vocabulary([query]),
        np.array([0, high - low], dtype=np.int64),
        source.documents,
        source.document[low:high],
        source.scores[low:high],
        name=(source.tag or source.name) if reading.by_tag else source.name,
        tag=source.tag,
    )
    return part, source.name, tally


def listed_of(
    run: RunColumns, qrels: QrelsColumns, code: int, *, reading: Reading = DEFAULT_READING, cut: Cut = UNCUT
) -> Listed:
    """Return the only list of a run with the grades of a query, ordered and cut as for evaluation."""
    scores = run.scores
    if reading.single_precision:
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    order = np.lexsort((-run.document, -scores))
    rows, grades = qrels.lookup[code], qrels.grades
    names = [run.documents.names[item] for item in run.document[order].tolist()]
    judged = [float(grades[rows[name]]) if name in rows else None for name in names]
    indices = [
        index
        for index, grade in enumerate(judged[: cut.depth] if cut.judged_only else judged)
        if not cut.judged_only or (grade is not None and grade >= 0)
    ]
    ordered = scores[order][indices].tolist()
    top = slice(cut.depth)
    return Listed(
        [to_text(names[index]) for index in indices][top],
        ordered[top],
        _tied(ordered)[top],
        [judged[index] for index in indices][top],
        [float(grades[row]) for row in rows.values()],
        _by_subtopic(qrels, code),
    )


def _by_subtopic(qrels: QrelsColumns, code: int) -> dict[str, dict[str, float]]:
    """Return the grades of each document of a query by subtopic."""
    grades_of: dict[str, dict[str, float]] = {}
    for subtopic, grades in (qrels.by_subtopic() or {}).get(qrels.queries[code], {}).items():
        for document, grade in grades.items():
            grades_of.setdefault(document, {})[subtopic] = grade
    return grades_of


def _tied(scores: list[float]) -> list[str | None]:
    """Return the range of tied ranks, such as 2-4, for every rank; None for untied documents."""
    ties: list[str | None] = [None] * len(scores)
    first = 0
    for index in range(1, len(scores) + 1):
        if index < len(scores) and scores[index] == scores[first]:
            continue
        if index - first > 1:
            ties[first:index] = [f"{first + 1}-{index}"] * (index - first)
        first = index
    return ties
