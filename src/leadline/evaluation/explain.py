"""Step-by-step derivation of the value of one measure for one query, as a table of ranks."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Unpack

from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import Cut, CutReadingOptions, reading_and_cut, refuse_unknown
from leadline.data.registry import only
from leadline.data.run import MatchedLists
from leadline.data.table import Column, Preformatted, RunInfo, Table, columns_of, plain, printed_table
from leadline.data.validation import check_flags, refusal
from leadline.data.wording import counted
from leadline.errors import InputError, UsageError
from leadline.evaluation.derivations import DERIVATIONS, Listed, Steps, number
from leadline.evaluation.evaluate import EvaluateOptions, Evaluation, RunValues
from leadline.evaluation.join import judge_runs
from leadline.io.objects import judgments_of
from leadline.io.read import QrelsLike, RunLike
from leadline.io.read_paths import path_of, public
from leadline.io.selection import NOTHING_LEFT
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
        Warnings about the list of this query.
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
    if not isinstance(query, str):
        raise refusal("query", query, "the id of a query, as text")
    refuse_unknown(explain, options, EvaluateOptions.__annotations__)
    if options.get("pool") is not None:
        raise UsageError("`explain` does not support estimates from a pool. Leave out `pool`")
    of_reading: dict[str, Any] = {
        option: value for option, value in options.items() if option in CutReadingOptions.__annotations__
    }
    table = copy(judgments_of(qrels, reading_and_cut(explain, of_reading)[0]))
    table.votes = {}  # each document of the list is shown with one grade, that of the majority
    if table.queries.find(query) is None:
        if isinstance(measure, str) and table.queries.find(measure) is not None:
            raise UsageError(f"{measure!r} is a query, not a measure. Swap the measure and the query.")
        raise UsageError(
            f"query '{query}' has no judgments. Choose a judged query, such as {next(iter(table.queries))} "
            f"({len(table.queries):,} in all)."
        )
    given: dict[str, Any] = {option: value for option, value in options.items() if option != "on_run"}
    evaluation = Evaluation(table.of_queries([query]), measure, **given | {"queries_in": [query]})
    used = only(measure, evaluation.measures)

    def derived(judged: JudgedRun) -> tuple[MatchedLists, RunValues]:
        assert judged.lists is not None  # they are kept
        return judged.lists, evaluation.values_of(judged)

    try:
        infos, found = judge_runs(
            run if name is None else {name: run},
            evaluation.qrels,
            derived,
            reading=evaluation.reading,
            cut=evaluation.cut,
            keep=True,
            measures=evaluation.measures,
        )
    except InputError as error:
        if error.code != NOTHING_LEFT:
            raise
        infos, found = [], []
    if len(infos) > 1:
        raise UsageError(f"explain takes only one run, not {len(infos)}")
    if not infos or not len(found[0][0].scores):
        raise UsageError(
            f"{path_of(run) or 'the run'} has no ranking for query '{query}'. Choose a query with documents "
            "in the run."
        )
    results = evaluation.results(infos, [values for _, values in found])
    listed = _listed(found[0][0], evaluation.qrels, evaluation.cut)
    value = float(results.values[0, 0, 0])
    derive = DERIVATIONS.get(type(used).__name__)
    if derive is not None:
        steps = derive(used, listed)
    else:  # ranks and grades only
        lines = [f"formula: {used.formula}", f"{used} = {number(value)}"]
        judged = (rank for rank, grade in enumerate(listed.grades, start=1) if grade is not None)
        steps = Steps(value, lines, max(judged, default=0))
    size = len(listed.documents)
    least = min(getattr(used, "cutoff", None) or 0, FEWEST_RANKS)
    return Explanation(
        str(used),
        query,
        infos[0].name,
        value,
        listed,
        steps,
        shown=size if everything else min(size, max(steps.last, least)),
        info=infos[0],
        warnings=[notice for notice in results.warnings if notice.code != "no_judged_document"],
    )


def _listed(lists: MatchedLists, qrels: QrelsColumns, cut: Cut) -> Listed:
    """Return the only list of a run with its grades, cut as for evaluation."""
    grades = [None if row < 0 else float(qrels.grades[row]) for row in lists.rows.tolist()]
    places = list(range(len(grades)))
    if cut.judged_only:
        judgments = enumerate(grades[: cut.depth])
        places = [place for place, grade in judgments if grade is not None and grade >= 0]
    assert lists.ids is not None  # they are kept
    names, scores = lists.ids.texts(), lists.scores.tolist()
    ties = _tied([scores[place] for place in places])  # also with documents below the depth
    places = places[: cut.depth]
    return Listed(
        [names[place] for place in places],
        [scores[place] for place in places],
        ties[: cut.depth],
        [grades[place] for place in places],
        qrels.grades.tolist(),
        _by_subtopic(qrels),
    )


def _by_subtopic(qrels: QrelsColumns) -> dict[str, dict[str, float]]:
    """Return the grades of each document of the only query by subtopic."""
    found: dict[str, dict[str, float]] = {}
    for by_subtopic in (qrels.by_subtopic() or {}).values():
        for subtopic, grades in by_subtopic.items():
            for document, grade in grades.items():
                found.setdefault(document, {})[subtopic] = grade
    return found


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
