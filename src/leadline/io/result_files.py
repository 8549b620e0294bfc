"""Read what a command found, or any table about runs: one number a run, and per query where there are any."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from leadline.errors import InputError, either, repeated
from leadline.io.id_lists import OWNERS
from leadline.io.opening import PARQUET, first_bytes, read_whole, text_of
from leadline.io.saved_results import check_json, read_saved, restoring
from leadline.io.score_cells import ESTIMATE, json_of, refuse_estimates, run_lines, value_of
from leadline.io.score_tables import MEASURE, QUERY, VALUE, find
from leadline.io.small_tables import csv_table, split_place

NOT_VALUES = ("low", "high", "relevant", "nonrelevant", "unretrieved", "tag")


class Column(NamedTuple):
    """One number for each run."""

    path: str  # file that was read
    measure: str  # name of the measure
    values: dict[str, float]  # value of each run; NaN is undefined, none if there are only values by query
    queries: dict[str, dict[str, float]]  # values of each run by query; empty if they are not known
    withheld: tuple[tuple[str, str], ...] = ()  # run and reason of each estimate whose interval was withheld
    estimated: bool = False  # whether the values are estimates from a sample of judgments


def read_column(place: str) -> Column:
    """Read FILE or FILE:MEASURE: a JSON result of a command, saved results, or a table with a header.

    Without a measure the first one is taken. A table's column called run or name, or else its first one,
    names the run; where it has a column of queries, rows with a query are per-query values, others means
    (`values` has only these). Columns `measure` and `value` are as good as one per measure.
    """
    path, measure = split_place(place)
    if (first_bytes(path) or b"").startswith(PARQUET):
        return _of_result(read_saved(path).view.data(whole=True), path, measure)
    text = text_of(read_whole(path))
    if text.lstrip().startswith("{"):
        found = run_lines(text, path) or json_of(
            text, path, hint="Pass the JSON result of a command, or a CSV or TSV table"
        )
        check_json(found, path)
        with damaged_result(path):
            return _of_result(found, path, measure)
    if text.lstrip().startswith("["):
        raise InputError(NONE_PER_RUN, path=path, hint=ONE_PER_RUN)
    return _of_table(text, path, measure)


def damaged_result(path: str) -> AbstractContextManager[None]:
    """Convert the errors of reading what JSON lacks into an InputError."""
    hint = "Rerun the command that wrote the file"
    return restoring(path, "does not have the form of a saved result", hint)


def _of_result(data: dict[str, Any], path: str, measure: str) -> Column:
    runs = data.get("runs")
    if not isinstance(runs, list):
        return _of_mappings(data, path, measure)
    tables: dict[str, dict[str, float]] = {}
    queries: dict[str, dict[str, dict[str, float]]] = {}
    withheld: dict[str, dict[str, str]] = {}
    for run in runs:
        if not isinstance(run, dict) or not isinstance(run.get("name"), str):
            raise InputError(
                "contains a run without a name", path=path, hint="Rerun the command that wrote the file"
            )
        values = run.get("mean", run)
        if _is_number(values):  # of `rank`
            values = {str(run.get("measure", "mean")): values}
        for name, value in values.items():
            number = value.get("value") if isinstance(value, dict) else value
            if name not in NOT_VALUES and _is_number(number):
                tables.setdefault(name, {})[run["name"]] = _number(number)
        for name, one in (run.get(ESTIMATE) or {}).items():
            if one.get("reason"):
                withheld.setdefault(name, {})[run["name"]] = str(one["reason"])
                if not (run.get("counts") or {}).get("queries", 1):  # nothing of the run was estimated
                    tables[name][run["name"]] = math.nan
        of_queries = run.get("queries")
        for query, row in of_queries.items() if isinstance(of_queries, dict) else ():
            for name, value in row.items():
                of_run = queries.setdefault(name, {}).setdefault(run["name"], {})
                of_run[query] = _number(value)
    name = _chosen(list(tables), measure, path)
    reasons = tuple(withheld.get(name, {}).items())
    estimated = any((run.get(ESTIMATE) or {}).get(name) for run in runs)
    return Column(path, name, tables[name], queries.get(name, {}), reasons, estimated)


def _of_mappings(data: dict[str, Any], path: str, measure: str) -> Column:
    """Read results that hold `{name: value}`: RIC of `difference`, scores of `unjudged`."""
    tables = {
        name: {run: _number(value) for run, value in part.items()}
        for name, part in data.items()
        if isinstance(part, dict) and part and name != "options" and all(map(_is_number, part.values()))
    }
    name = _chosen(list(tables), measure, path)
    return Column(path, name, tables[name], {})


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


NONE_PER_RUN = "no per-run values were found"
ONE_PER_RUN = (
    "Pass a saved result with one value per run, such as a result of `leadline evaluate`, or a CSV or TSV "
    "table with a column 'run' and one column per measure"
)


def _chosen(names: list[str], measure: str, path: str) -> str:
    if not names:
        raise InputError(NONE_PER_RUN, path=path, hint=ONE_PER_RUN)
    if measure and measure not in names:
        raise InputError(f"there is no measure '{measure}'", path=path, hint=f"Use {either(names)}")
    return measure or names[0]


def _of_table(text: str, path: str, measure: str) -> Column:
    header, rows = csv_table(text, path)
    refuse_estimates(header, rows, path)
    owner = next((header.index(name) for name in OWNERS if name in header), 0)
    once = len(rows) == len({row[owner] for _, row in rows})
    query, named, value = (find(header, names) for names in (QUERY, MEASURE, VALUE))
    if named is not None and value is not None and not (once and measure == header[value]):
        measure = _chosen(list(dict.fromkeys(row[named] for _, row in rows)), measure, path)
        rows = [(line, row) for line, row in rows if row[named] == measure]
        name, column = measure, value
    elif "measure" in header and query is None and not (measure and once):
        raise InputError(
            "has a column 'measure' instead of one column per measure",
            path=path,
            hint="Save a result of `leadline evaluate` or `leadline rank` with -o FILE.json (in Python, with "
            "write(path)), and pass FILE.json:MEASURE",
        )
    else:
        names = [one for place, one in enumerate(header) if place not in (owner, query)]
        name = _chosen(names, measure, path)
        column = header.index(name)
    values: dict[str, float] = {}
    queries: dict[str, dict[str, float]] = {}
    for line, row in rows:
        try:
            number = value_of(row[column], name, undefined=True, missing="leave the cell empty")
        except InputError as error:
            raise error.at(path, line) from None
        of_query = query is not None and bool(row[query])
        known = queries.setdefault(row[owner], {}) if of_query else values
        key = row[query] if of_query and query is not None else row[owner]
        if key in known:
            of = f"query '{key}'" if of_query else ""
            raise repeated(f"run '{row[owner]}'", of=of, path=path, line=line)
        known[key] = _number(number)
    return Column(path, name, values, queries)
