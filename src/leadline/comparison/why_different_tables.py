"""Values by query from the result files of any program, for the comparison of two of them."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from leadline.data.wording import first_few
from leadline.errors import InputError, UsageError, repeated
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.results import Results
from leadline.io.result_files import damaged_result
from leadline.io.saved_results import Saved
from leadline.io.score_cells import Choices, placed
from leadline.io.score_tables import open_scores
from leadline.io.small_tables import split_place
from leadline.measures import Measure

ALL = frozenset({"all", "ALL", "mean", "amean", ""})  # names of the mean over queries
UNNAMED = "?"  # the run of a table without names of runs
Queries = dict[str, float]


class Scores(NamedTuple):
    """Values of one file: by run, measure and query, and means by run and measure."""

    path: str
    values: dict[str, dict[str, Queries]]
    means: dict[str, dict[str, float]]


class Side(NamedTuple):
    """The values of one of the two tables; NaN is undefined, also for a mean that the file does not give."""

    path: str
    run: str
    measure: str
    values: Queries
    mean: float


def measure_of(name: str) -> Measure | None:
    """Return the measure that a name of any program denotes; None if it denotes none or several.

    >>> measure_of("ndcg_cut_10"), measure_of("NDCG@10"), measure_of("map"), measure_of("latency")
    (nDCG@10, nDCG@10, AP, None)
    """
    for text in (name, name.rpartition("-l")[0]):
        for profile in ("leadline", "trec10"):
            try:
                found = profile_of(profile).measures([text]) if text else []
            except UsageError:
                continue
            if len(found) == 1:
                return found[0]
    return None


def read_table(source: Any, asked: Collection[str] = ()) -> Scores:
    """Return the values and means of a table of scores, of results, or of dictionaries.

    >>> read_table({"q1": {"map": 0.5}, "q2": {"map": 1.0}, "all": {"map": 0.75}})
    Scores(path='', values={'': {'map': {'q1': 0.5, 'q2': 1.0}}}, means={'': {'map': 0.75}})
    """
    if isinstance(source, Results):
        return _of_results(source.to_dict(per_query=True)["runs"], "results")
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
    opened = open_scores(source, name=UNNAMED)
    if isinstance(opened, Saved):
        return _of_results(opened.values.to_dict(per_query=True)["runs"], path)
    if isinstance(opened, dict):
        with damaged_result(path):
            return _of_results(opened["runs"], path)
    known = Choices(lambda name: measure_of(name) is not None, asked, "measures", means=True)
    columns = opened.columns(known)
    scores = Scores(columns.path, {}, {})
    cells = (columns.places, columns.runs, columns.measures, columns.queries, columns.values)
    for place, run, measure, query, value in zip(*cells, strict=True):
        owner = "" if run == UNNAMED else run
        values, means = scores.values.setdefault(owner, {}), scores.means.setdefault(owner, {})
        found = math.nan if value is None else value
        if query in ALL:
            means[measure] = found
            continue
        by_query = values.setdefault(measure, {})
        if query in by_query:
            raise placed(repeated(f"query '{query}'", of=measure), columns.path, columns.unit, place)
        by_query[query] = found
    return _checked(scores)


def _of_results(runs: Iterable[Any], path: str) -> Scores:
    scores = Scores(path, {}, {})
    for run in runs:
        if not isinstance(run, dict) or not isinstance(run.get("name"), str):
            raise InputError("a run has no name, or one that is not text", path=path, hint="Name every run")
        name = run["name"]
        means = scores.means.setdefault(name, {})
        values = scores.values.setdefault(name, {})
        for measure, value in (run.get("mean") or {}).items():
            means[measure] = math.nan if value is None else float(value)
        for query, row in (run.get("queries") or {}).items():
            for measure, value in row.items():
                values.setdefault(measure, {})[query] = math.nan if value is None else float(value)
    return _checked(scores)


def _checked(scores: Scores) -> Scores:
    if not any(any(tables.values()) for tables in scores.values.values()) and not any(scores.means.values()):
        raise InputError(
            "there are no values", path=scores.path, hint="Pass per-query values or means of a measure"
        )
    return scores


def two_sides(
    a: Any, b: Any, *, measure: str | None = None, name: str | None = None
) -> tuple[Side, Side, list[str]]:
    """Return the values of one measure and one run in two tables, and the other measures in both."""
    chosen, places = [], []
    for source in (a, b):
        place, said = (
            split_place(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else (source, "")
        )
        chosen.append(said)
        places.append(read_table(place, [one for one in (said, measure) if one]))
    runs = [_run_of(scores, name, places) for scores in places]
    names = [
        list(dict.fromkeys([*scores.values[run], *scores.means[run]]))
        for scores, run in zip(places, runs, strict=True)
    ]
    others: list[str] = []
    if not any(chosen):
        chosen, others = _shared(names, places, runs, measure)
    sides = []
    for scores, run, present, said in zip(places, runs, names, chosen, strict=True):
        wanted = said or measure or next(filter(None, chosen), "")
        found = _named(present, wanted)
        if found is None:
            choose = f"Choose one of {first_few(present, 20)}"
            if os.path.exists(scores.path):
                choose += f", as in {scores.path}:{present[0]}"
            raise InputError(f"there is no measure '{wanted}'", path=scores.path, hint=choose)
        values = scores.values[run].get(found, {})
        sides.append(Side(scores.path, run, found, values, scores.means[run].get(found, math.nan)))
    return sides[0], sides[1], others


def _run_of(scores: Scores, name: str | None, both: list[Scores]) -> str:
    """Return the run of a file: the named one, the only one, or the only one in both files."""
    runs = list(scores.values)
    if len(runs) == 1 and (name is None or runs == [""] or any(name in other.values for other in both)):
        return runs[0]
    if name in runs:
        return str(name)
    several = [list(other.values) for other in both if len(other.values) > 1] or [runs]
    common = [run for run in several[0] if all(run in others for others in several)]
    single = [run for other in both if len(other.values) == 1 for run in other.values if run in common]
    if name is None and len(single or common) == 1:
        return (single or common)[0]
    if not common:
        first, second = (first_few(others, 10) for others in several)
        raise InputError(
            f"no run of this table ({second}) is also in {both[0].path or 'the other one'} ({first})",
            path=both[1].path,
            hint="Pass tables of one run each, or of runs with the same names",
        )
    raise InputError(
        f"there are {len(runs)} runs" if name is None else f"there is no run '{name}'",
        path=scores.path,
        hint=f"Set --config read.name to one of {first_few(common, 10)}",
    )


def _shared(
    names: list[list[str]], places: list[Scores], runs: list[str], wanted: str | None
) -> tuple[list[str], list[str]]:
    """Return the names of the measure in both files, and of the other measures in both that differ."""
    if wanted is not None:
        found = [_named(present, wanted) for present in names]
        alone = [present[0] if len(present) == 1 else "" for present in names]
        return [one or other for one, other in zip(found, alone, strict=True)], []
    if all(len(present) == 1 for present in names):
        return [present[0] for present in names], []
    second = {str(measure_of(name) or name): name for name in reversed(names[1])}
    pairs = [(name, second[key]) for name in names[0] if (key := str(measure_of(name) or name)) in second]
    if not pairs:
        raise InputError(
            f"no measure in this table ({first_few(names[1], 8)}) is also in "
            f"{places[0].path or 'the other one'} ({first_few(names[0], 8)})",
            path=places[1].path,
            hint="Choose one measure from each file with FILE:MEASURE"
            if places[0].path and places[1].path
            else "Give the measure the same name in both",
        )
    unequal = [
        pair
        for pair in pairs
        if places[0].values[runs[0]].get(pair[0]) != places[1].values[runs[1]].get(pair[1])
    ]
    first = (unequal or pairs)[0]
    return list(first), [pair[0] for pair in unequal if pair != first]


def _named(present: list[str], name: str) -> str | None:
    """Return the name in a table of the measure that a name denotes."""
    if name in present:
        return name
    measure = measure_of(name) if name else None
    return next((each for each in present if measure is not None and measure_of(each) == measure), None)
