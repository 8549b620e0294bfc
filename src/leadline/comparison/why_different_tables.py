"""Values by query from the result files of any program, for the comparison of two of them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from leadline.data.results import Results
from leadline.data.wording import counted
from leadline.errors import InputError, UsageError
from leadline.evaluation.profiles import profile_of
from leadline.io.opening import PARQUET, first_bytes, read_whole, text_of
from leadline.io.result_files import saved_data
from leadline.io.row_checks import QUERY
from leadline.io.tables import csv_table, split_place, unguarded
from leadline.measures import Measure

ALL = frozenset({"all", "ALL", "mean", "amean", ""})  # names of the mean over queries
RUNS = ("run", "name", "system", "model", "run_id", "tag")
MEASURES_IN = ("measure", "metric")
VALUES = ("value", "score")
Queries = dict[str, float]


class Scores(NamedTuple):
    """Values of one file: by run, measure and query, and means by run and measure."""

    path: str
    values: dict[str, dict[str, Queries]]
    means: dict[str, dict[str, float]]


class Side(NamedTuple):
    """The values of one of the two tables.

    Attributes
    ----------
    path, run, measure : str
        Where they are from, as named there.
    values : dict of str to float
        Value of each query; NaN is undefined.
    mean : float
        Mean given in the file; NaN if there is none.
    """

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


def read_table(source: Any) -> Scores:
    """Return the values of a file, of results, or of dictionaries.

    A dictionary is `{query: {measure: value}}` (pytrec_eval), `{measure: {query: value}}` (ranx), or
    `{query: value}`.

    >>> read_table({"q1": {"map": 0.5}, "q2": {"map": 1.0}}).values
    {'': {'map': {'q1': 0.5, 'q2': 1.0}}}
    """
    if isinstance(source, Results):
        return _of_json(source.to_dict(per_query=True), "results")
    if isinstance(source, Mapping):
        return _of_json(dict(source), "dictionary")
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError(f"a {type(source).__name__}; expected a file, Results or {{query: value}}")
    path = os.fspath(source)
    if (first_bytes(path) or b"").startswith(PARQUET):
        return _of_json(saved_data(path), path)
    return _of_text(text_of(read_whole(path)), path)


def _of_text(text: str, path: str) -> Scores:
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError("no JSON", expected="a table of values by query", path=path) from None
        return _of_json(found, path)
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), start=1)]
    rows = [(number, fields) for number, fields in lines if fields and not fields[0].startswith("#")]
    first = rows[0][1] if rows else []
    if first[:1] == ["runid"] or (len(first) == 3 and _number(first[2]) is not None):
        return _of_triples(rows, path)
    return _of_table(text, path)


def _of_triples(rows: list[tuple[int, list[str]]], path: str) -> Scores:
    """Read trec_eval's output (measure, query, value) or that of ir_measures (query, measure, value)."""
    run = next((fields[2] for _, fields in rows if fields[0] == "runid" and len(fields) > 2), "")
    rows = [(line, fields) for line, fields in rows if fields[0] not in ("runid", "relstring")]
    measures = [{fields[place] for _, fields in rows if len(fields) == 3} for place in (0, 1)]
    first = _measures_first(measures)
    scores = Scores(path, {run: {}}, {run: {}})
    for line, fields in rows:
        value = _number(fields[2]) if len(fields) == 3 else None
        if value is None:
            raise InputError(
                f"{counted(len(fields), 'column')}" if len(fields) != 3 else f"value '{fields[2]}'",
                expected="measure, query and value, as of trec_eval -q",
                path=path,
                line=line,
            )
        measure, query = fields[:2] if first else (fields[1], fields[0])
        _add(scores, run, measure, query, value, line)
    return _checked(scores)


def _measures_first(names: list[set[str]]) -> bool:
    """Return whether the first of two columns holds the measures and the second the queries."""
    means = [bool(found & ALL) for found in names]
    if means[0] != means[1]:
        return means[1]
    known = [sum(measure_of(name) is not None for name in sorted(found)[:50]) for found in names]
    if known[0] != known[1]:
        return known[0] > known[1]
    return len(names[0]) <= len(names[1])


def _of_table(text: str, path: str) -> Scores:
    """Read a table with a header: long (query, measure, value) or with a column for each measure."""
    header, rows = csv_table(text, path)
    header = list(map(unguarded, header))
    query = _place(header, QUERY)
    run, measure, value = _place(header, RUNS), _place(header, MEASURES_IN), _place(header, VALUES)
    if query is None and run is None:
        raise InputError(
            f"a table with columns {', '.join(header)}",
            expected="a column query, and a column for each measure, or measure and value",
            path=path,
            line=1,
        )
    scores = Scores(path, {}, {})
    long = measure is not None and value is not None
    columns = [place for place in range(len(header)) if place not in (query, run)]
    for line, cells in rows:
        row = list(map(unguarded, cells))
        owner = row[run] if run is not None else ""
        name = row[query] if query is not None else ""
        scores.values.setdefault(owner, {})
        scores.means.setdefault(owner, {})
        for place in [value] if long and value is not None else columns:
            said = row[measure] if long and measure is not None else header[place]
            found = _number(row[place]) if row[place].strip() not in ("", "-") else math.nan
            if found is None:
                if long:
                    raise InputError(f"value '{row[place]}'", expected="a number", path=path, line=line)
                continue  # a column of text
            _add(scores, owner, said, name, found, line)
    return _checked(scores)


def _of_json(data: dict[str, Any], path: str) -> Scores:
    """Read JSON of this program, or a dictionary by query or by measure."""
    runs = data.get("runs")
    if isinstance(runs, list):
        return _of_results(runs, path)
    scores = Scores(path, {"": {}}, {"": {}})
    inner = [value for value in data.values() if isinstance(value, Mapping)]
    if not inner:
        for query, value in data.items():
            _add(scores, "", "value", query, _json_number(value, query, path))
        return _checked(scores)
    by_measure = sum(measure_of(name) is not None for name in list(data)[:50])
    by_query = sum(measure_of(name) is not None for name in list(inner[0])[:50])
    for outer, found in data.items():
        if not isinstance(found, Mapping):
            continue
        for name, value in found.items():
            measure, query = (outer, name) if by_measure > by_query else (name, outer)
            _add(scores, "", measure, query, _json_number(value, f"{outer}, {name}", path))
    return _checked(scores)


def _of_results(runs: Iterable[Any], path: str) -> Scores:
    scores = Scores(path, {}, {})
    for run in runs:
        if not isinstance(run, dict) or not isinstance(run.get("name"), str):
            raise InputError("a run without a name", expected="runs with names", path=path)
        name = run["name"]
        means = scores.means.setdefault(name, {})
        values = scores.values.setdefault(name, {})
        for measure, value in (run.get("mean") or {}).items():
            means[measure] = math.nan if value is None else float(value)
        for query, row in (run.get("queries") or {}).items():
            for measure, value in row.items():
                values.setdefault(measure, {})[query] = math.nan if value is None else float(value)
    return _checked(scores)


def _add(scores: Scores, run: str, measure: str, query: str, value: float, line: int | None = None) -> None:
    if query in ALL:
        scores.means[run][measure] = value
        return
    known = scores.values[run].setdefault(measure, {})
    if query in known:
        raise InputError(
            f"query '{query}' again, by {measure}", expected="each once", path=scores.path, line=line
        )
    known[query] = value


def _checked(scores: Scores) -> Scores:
    if not any(any(tables.values()) for tables in scores.values.values()) and not any(scores.means.values()):
        raise InputError("contains no values", expected="values of a measure by query", path=scores.path)
    return scores


def _place(header: list[str], names: Iterable[str]) -> int | None:
    lower = [name.lower() for name in header]
    return next((lower.index(name) for name in names if name in lower), None)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _json_number(value: Any, where: str, path: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise InputError(f"value {value!r} of {where}", expected="a number", path=path)
    return float(value)


def two_sides(
    a: Any, b: Any, *, measure: str | None = None, name: str | None = None
) -> tuple[Side, Side, list[str]]:
    """Return the values of one measure and one run in two tables, and the other measures in both.

    Parameters
    ----------
    a, b : path, Results or mapping
        The tables; a file may be FILE:MEASURE.
    measure : str, optional
        The measure, under any name; by default the first that is in both, or the only one of each.
    name : str, optional
        The run; by default the only one in both.
    """
    chosen, places = [], []
    for source in (a, b):
        place, said = (
            split_place(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else (source, "")
        )
        chosen.append(said)
        places.append(read_table(place))
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
        found = _named(present, said or measure or "")
        if found is None:
            expected = "one of " + ", ".join(present[:20])
            raise InputError(f"no measure '{said or measure or ''}'", expected=expected, path=scores.path)
        values = scores.values[run].get(found, {})
        sides.append(Side(scores.path, run, found, values, scores.means[run].get(found, math.nan)))
    return sides[0], sides[1], others


def _run_of(scores: Scores, name: str | None, both: list[Scores]) -> str:
    """Return the run of a file: the named one, the only one, or the only one in both files."""
    runs = list(scores.values)
    if len(runs) == 1 and (name is None or runs == [""]):
        return runs[0]
    if name is not None:
        if name not in runs:
            raise InputError(f"no run '{name}'", expected="one of " + ", ".join(runs), path=scores.path)
        return name
    common = set.intersection(*(set(other.values) for other in both if len(other.values) > 1))
    single = [other for other in both if len(other.values) == 1]
    common = common & set(single[0].values) if single and set(single[0].values) & common else common
    if len(common) == 1:
        return next(iter(common))
    raise InputError(
        f"{len(runs)} runs", expected=f"--name with one of {', '.join(runs[:10])}", path=scores.path
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
            f"no measure of {places[0].path} ({', '.join(names[0][:8])})",
            expected=f"one; there are {', '.join(names[1][:8])} (FILE:MEASURE chooses one of each)",
            path=places[1].path,
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
