"""Cells of tables: numbers and JSON in text, scores of MTEB, dictionaries of pytrec_eval and ranx."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from numbers import Integral, Real
from typing import Any, NamedTuple

from leadline.data.wording import type_of
from leadline.errors import InputError, RecordNumber
from leadline.io.opening import read_whole, text_of

SHOWN = 40  # maximum number of characters of an object in a message


def number_in(cell: Any) -> float | None:
    """Return the number in a cell, NaN included; None if it holds none.

    >>> number_in("0.5"), number_in(2), number_in("1_000"), number_in("high"), number_in(None)
    (0.5, 2.0, None, None, None)
    """
    sign, letters = ("_", str.isascii) if isinstance(cell, str) else (b"_", bytes.isascii)
    if isinstance(cell, (str, bytes)) and (sign in cell or not letters(cell)):  # type: ignore[operator, arg-type]  # both are text or both bytes
        return None
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return None


def number_of(cell: Any, column: str, path: str, line: int) -> float:
    """Return the number in a cell of a column."""
    number = number_in(cell)
    if number is None:
        raise InputError(f"'{cell}' in column '{column}' is not a number", path=path, line=line)
    return number


def json_or_none(text: str | bytes) -> Any:
    """Return the value of a JSON text; None if it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def json_of(text: str, path: str, line: int | None = None, *, hint: str = "", repeats: bool = False) -> Any:
    """Return the value of a JSON text, or of one line; with `repeats`, objects keep repeated names."""
    try:
        return json.loads(text.rstrip(" \t\r\n"), object_pairs_hook=Members if repeats else None)
    except RecursionError:
        found = "the JSON is nested too deeply"
    except json.JSONDecodeError as error:
        cause = f"{error.msg[:1].lower()}{error.msg[1:]}".removesuffix(" at").removesuffix(" starting")
        found = f"invalid JSON at column {error.colno}: {cause}"
        line = line or error.lineno
    except ValueError:  # a whole number of thousands of digits
        found = "contains a number with too many digits"
    raise InputError(found, path=path, line=line, hint=hint)


RUN_LINE = {"name", "tag", "mean"}  # keys of a line that `evaluate -f jsonl` prints


def run_lines(text: str, path: str) -> dict[str, Any] | None:
    """Return the runs that `evaluate -f jsonl` printed, as in its JSON; None for another text.

    >>> run_lines('{"name": "bm25", "tag": "x", "mean": {"AP": 0.5}}', "values.jsonl")
    {'runs': [{'name': 'bm25', 'tag': 'x', 'mean': {'AP': 0.5}}]}
    """
    if not text.startswith('{"name"') or not set(json_or_none(text.partition("\n")[0]) or ()) >= RUN_LINE:
        return None
    lines = enumerate(text.split("\n"), start=1)
    return {"runs": [checked_object(json_of(line, path, at), path, at) for at, line in lines if line.strip()]}


def checked_object(found: Any, path: str, line: int | None = None) -> dict[str, Any]:
    """Return a value that is an object."""
    if not isinstance(found, dict):
        raise InputError(f"the JSON value is of type {type_of(found)}, not an object", path=path, line=line)
    return found


class Members(Mapping[str, Any]):
    """An object of a JSON text: a dictionary whose `items` includes repeated names."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs
        self.named = dict(pairs)

    def __getitem__(self, name: str) -> Any:
        return self.named[name]

    def __iter__(self) -> Any:
        return iter(self.named)

    def __len__(self) -> int:
        return len(self.named)

    def __repr__(self) -> str:
        text = repr(self.named)
        return text if len(text) <= SHOWN else text[:SHOWN] + "...}"

    def items(self) -> Any:
        """Return names and values in order, including repeated names."""
        return self.pairs


Members.__name__ = "object"  # its name in messages

REVISION = re.compile(r"[0-9a-f]{40}|no_revision_available|external")
MODEL_META = "model_meta.json"
BESIDE_RESULTS = (MODEL_META, "run_settings.jsonl")  # files of MTEB without scores
MAIN_SCORE = "main_score"
ESTIMATE = "estimate"  # column that is true where values are estimates from a sample of judgments
SUMMARY = "all"  # query of the lines of means of trec_eval and ir_measures
UNDEFINED = frozenset({"nan", "-nan", "-"})
ACCEPTED = (
    "Pass the output of `trec_eval -q` or `ir_measures -q`, or a table with one column per run or measure. A "
    "table with the columns query, run, measure and value also works, and so does the same data as JSON"
)


@dataclass
class ScoreColumns:
    """Cells of a table of scores, column by column; a value that is None is missing."""

    path: str
    places: list[int] = field(default_factory=list)  # lines, or numbers of records
    runs: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    measures: list[str] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)
    remarks: list[tuple[str, str, int]] = field(default_factory=list)  # code, text and count
    averaged: set[str] = field(default_factory=set)  # tasks of MTEB with several splits or subsets

    def add(self, place: int, run: str, query: str, measure: str, value: float | None) -> None:
        """Add a value."""
        self.places.append(place)
        self.runs.append(run)
        self.queries.append(query)
        self.measures.append(measure)
        self.values.append(value)


class Choices(NamedTuple):
    """How a table is read."""

    known: Callable[[str], bool]  # whether a name denotes a measure of its own
    asked: Collection[str] = ()  # names of measures that the caller gave
    wide: str | None = None  # what columns of values are; by default told by their names
    repeated: Collection[str] = ()  # names of columns that several tables have
    # Gives the name of the measure that a name denotes, or the name itself.
    canonical: Callable[[str], str] = str
    # Whether rows of means are kept, of the query "all" or "", and undefined values are missing ones.
    means: bool = False

    def measures(self, names: Iterable[str]) -> list[str]:
        """Return the names that denote measures; a single letter may as well be the name of a run."""
        return [name for name in names if name in self.asked or (len(name) > 1 and self.known(name))]


class OpenedScores(NamedTuple):
    """A table that is open, of which only the header has been looked at.

    `header` is empty where the layout is that of a program; `cells` then takes no header.
    """

    header: Sequence[str]
    columns: Callable[[Choices], ScoreColumns]


def refuse_steps(header: Iterable[str], path: str = "") -> None:
    """Refuse a table from a sentence-transformers evaluator, which has means but no queries."""
    if {name.strip().lower() for name in header} >= {"epoch", "steps"}:
        raise InputError(
            "the columns epoch and steps show that these values are means from a "
            "sentence-transformers evaluator",
            path=path,
            hint="For per-query values, save the rankings (write_predictions=True in "
            "InformationRetrievalEvaluator) and pass them to `leadline evaluate`",
        )


WITHOUT_SAMPLE = (
    "the per-query values are estimates from a sample of judgments, but the sample itself is missing"
)


def refuse_estimates(header: Sequence[str], rows: Iterable[tuple[int, Sequence[Any]]], path: str) -> None:
    """Raise InputError if a column says that values are estimates, whose samples the table does not hold."""
    place = header.index(ESTIMATE) if ESTIMATE in header else None
    if place is not None and any(str(row[place]).lower() in ("true", "yes") for _, row in rows):
        raise estimates_without_samples(path)


def estimates_without_samples(path: str) -> InputError:
    """Return the refusal of per-query estimates that would be read as values of complete judgments."""
    return InputError(
        WITHOUT_SAMPLE,
        path=path,
        hint="Pass the result saved with `leadline evaluate -o FILE.json`, or in Python the result itself",
    )


def id_of(cell: object, what: str, column: str) -> str:
    """Return a cell that names a query, run or measure; an integer becomes text."""
    if cell is None or cell == "":
        if what == "query":
            return ""
        name = "id" if what in ("chunk", "document") else "name"
        raise InputError(f"there is no {what} {name} in column '{column}'")
    if isinstance(cell, (bool, Real)) and (isinstance(cell, bool) or not isinstance(cell, Integral)):
        raise InputError(f"{what} {cell!r} in column '{column}' must be text or a whole number")
    return str(cell)


def value_of(
    cell: Any,
    column: str,
    *,
    undefined: bool = False,
    where: str = "in column",
    missing: str = "leave it out",
) -> float | None:
    """Return a cell of values; None where it is empty or, if these are allowed, undefined (nan, -).

    `missing` is what to do if a value is missing.
    """
    if undefined and isinstance(cell, str) and cell.strip().lower() in UNDEFINED:
        return None
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return None
    shown = " ".join(str(cell).split())[:40]
    number = None if isinstance(cell, bool) else number_in(cell)
    if number is None or (isinstance(cell, str) and math.isnan(number)):
        hint = f"If the value is missing, {missing}" if isinstance(cell, str) else ""
        raise InputError(f"'{shown}' {where} '{column}' is not a number", hint=hint)
    if math.isnan(number):
        return None
    if math.isinf(number):
        raise InputError(f"{shown} {where} '{column}' is not a finite number")
    return number


def open_mapping(found: Mapping[str, Any], path: str, name: str) -> OpenedScores:
    """Return the table of an object: a result of MTEB, or nested dictionaries of values."""
    if isinstance(found.get("model_results"), list):
        entries = [
            (str(model.get("model_name")), task)
            for model in found["model_results"]
            for task in model.get("task_results", ())
        ]
        return OpenedScores((), lambda choices: _of_mteb(entries, path, choices))
    if isinstance(found.get("scores"), dict) and ("task_name" in found or "mteb_version" in found):
        return OpenedScores((), lambda choices: _of_mteb([(_mteb_model(path, name), found)], path, choices))
    if "stat_test" in found and "model_names" in found:
        raise InputError(
            "is a ranx report and contains only means",
            path=path,
            hint="After ranx.evaluate or ranx.compare, run.scores contains the per-query values. "
            "For each run, save json.dumps(run.scores) to a separate file",
        )
    if found and name and not any(isinstance(value, (Mapping, list, str)) for value in found.values()):
        return OpenedScores((), lambda choices: _of_queries(found, path, name, choices))
    return OpenedScores((), lambda choices: _of_nested(found, path, name, choices))


def _of_queries(found: Mapping[str, Any], path: str, name: str, choices: Choices) -> ScoreColumns:
    """Return the values of `{query: value}`, of the measure asked for."""
    measure = next(iter(choices.asked)) if len(choices.asked) == 1 else "value"
    columns = ScoreColumns(path)
    for query, cell in found.items():
        try:
            value = value_of(cell, str(query), where="for query")
        except InputError as error:
            raise error.at(path) from None
        columns.add(RecordNumber(len(columns.places) + 1), name, str(query), measure, value)
    return columns


def _mteb_model(path: str, name: str) -> str:
    """Return the model of a result of MTEB: as in model_meta.json beside it, or the folder's name."""
    if not path:
        return name
    folder = os.path.dirname(os.path.abspath(path))
    meta = os.path.join(folder, MODEL_META)
    if os.path.isfile(meta):
        described = json_of(text_of(read_whole(meta)), meta, 1)
        if isinstance(described, dict) and described.get("name"):
            return str(described["name"])
    base = os.path.basename(folder)
    return os.path.basename(os.path.dirname(folder)) if REVISION.fullmatch(base) else base


def _of_mteb(entries: list[tuple[str, Any]], path: str, choices: Choices) -> ScoreColumns:
    """Return the scores of tasks: the mean over splits and subsets, as the score of a task in MTEB."""
    columns = ScoreColumns(path)
    for place, (model, task) in enumerate(entries, start=1):
        scores = task.get("scores") if isinstance(task, dict) else None
        name = task.get("task_name") if isinstance(task, dict) else None
        if not isinstance(scores, dict) or not isinstance(name, str):
            raise InputError(f"task result {place} must be an object with task_name and scores", path=path)
        parts = [
            part for split in scores.values() for part in (split if isinstance(split, list) else [split])
        ]
        if not parts or not all(isinstance(part, dict) for part in parts):
            raise InputError(
                f"task '{name}' has no scores of the form {{split: [{{measure: value}}]}}", path=path
            )
        columns.averaged |= {name} if len(parts) > 1 else set()
        for measure in choices.asked or (MAIN_SCORE,):
            key = measure
            if not any(measure in part for part in parts):  # map_at_10 is asked for as AP@10
                wanted = choices.canonical(measure)
                key = next((one for one in parts[0] if choices.canonical(one) == wanted), measure)
            try:
                values = [value_of(part.get(key), key, where="for measure") for part in parts]
            except InputError as error:
                raise error.at(path, found=f"task '{name}': {error.found}") from None
            numbers = [value for value in values if value is not None]
            columns.add(
                RecordNumber(place),
                model,
                name,
                measure,
                sum(numbers) / len(numbers) if len(numbers) == len(parts) else None,
            )
    return columns


def _of_nested(found: Mapping[str, Any], path: str, name: str, choices: Choices) -> ScoreColumns:
    """Return the values of `{query: {measure: value}}` or `{measure: {query: value}}`, also by run."""
    first = next(iter(found.values()), None)
    inner = next(iter(first.values()), None) if isinstance(first, Mapping) else None
    by_run = dict(found) if isinstance(inner, Mapping) else {name: found}
    if not found or first == {}:
        raise InputError("contains no scores" if path else "there are no scores", path=path, hint=ACCEPTED)
    if not isinstance(inner, Mapping) and not name:
        raise InputError(
            "each value needs a run, a query and a measure",
            path=path,
            hint="Use the form {run: {query: {measure: value}}}",
        )
    columns = ScoreColumns(path)
    for run, outer in by_run.items():
        if not isinstance(outer, Mapping) or not all(isinstance(value, Mapping) for value in outer.values()):
            raise InputError(
                f"the values of run '{run}' have the wrong form",
                path=path,
                hint="Use the form {query: {measure: value}}",
            )
        names = list(map(str, outer)), list(map(str, chain.from_iterable(outer.values())))
        signs = [bool(choices.measures(level)) for level in names]
        if signs[0] == signs[1] and choices.means:
            signs = [False, True]  # as of pytrec_eval
        if signs[0] == signs[1]:
            which = "both the outer and the inner" if signs[0] else "neither the outer nor the inner"
            raise InputError(
                f"{which} keys of run '{run}' include known measures",
                path=path,
                hint="Use a table with the columns query, run, measure and value",
            )
        for outer_name, row in outer.items():
            for inner_name, cell in row.items():
                measure, query = (outer_name, inner_name) if signs[0] else (inner_name, outer_name)
                try:
                    value = value_of(cell, str(measure), undefined=choices.means, where="for measure")
                except InputError as error:
                    raise error.at(path, found=f"query '{query}': {error.found}") from None
                if str(query) == SUMMARY and not choices.means:
                    continue
                place = RecordNumber(len(columns.places) + 1)
                columns.add(place, str(run), str(query), str(measure), value)
    return columns
