"""Results from tables of scores and from saved results."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from numbers import Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.ids import Vocabulary, to_bytes
from leadline.data.table import NamedMeasure, ResultWarning, RunInfo, raised
from leadline.data.validation import check_word
from leadline.data.wording import counted
from leadline.errors import InputError, LeadlineError, UsageError, either, place_of
from leadline.evaluation.evaluate import Meaning
from leadline.evaluation.limits import same_weights
from leadline.evaluation.lookups import QueryValues
from leadline.evaluation.profiles import is_text, profile_of
from leadline.evaluation.results import Results
from leadline.evaluation.run_warnings import PER_RUN, count_warnings, levels_of
from leadline.io.python_inputs import rows_of_columns
from leadline.io.read_paths import path_of, public
from leadline.io.result_files import damaged_result
from leadline.io.run_names import files_of
from leadline.io.saved_results import Saved
from leadline.io.score_cells import (
    BESIDE_RESULTS,
    ESTIMATE,
    Choices,
    OpenedScores,
    ScoreColumns,
    estimates_without_samples,
    open_mapping,
)
from leadline.io.score_tables import PER_QUERY, QUERY, open_scores
from leadline.measures import Measure
from leadline.result import Result

Missing: TypeAlias = Literal["refuse", "zero", "drop"]
MISSING = ("refuse", "zero", "drop")
WIDE = ("runs", "measures")
COSTS = frozenset({"ms", "summary_ms", "seconds", "opened"})  # less is better
WITHOUT_INTERVAL = re.compile(r"(.* has no (?:value|interval) for )[\d,]+ of [\d,]+ runs?(: .*)")
BEYOND = 1e-9  # by which a rounded value may exceed the range of its measure


@public
def read_scores(
    scores: Any,
    *,
    measures: Iterable[str | Measure] | str | Measure | None = None,
    lower_is_better: Iterable[str] | str = (),
    higher_is_better: Iterable[str] | str = (),
    missing: Missing = "refuse",
    wide: Literal["runs", "measures"] | None = None,
) -> Results:
    """Read per-query values, as other programs computed them, as results of runs.

    Parameters
    ----------
    scores : path, data frame, mapping or list
        Files, folders or patterns of files; data frames; nested dictionaries `{run: {query: {measure:
        value}}}`; `{run: table}`; or a list of these. Tables are long (columns of query, run, measure and
        value) or have runs or measures as columns; files may also be the output of `trec_eval -q` or
        `ir_measures -q`, results of MTEB, whose tasks are the queries, and results saved by leadline. A
        table without a column of runs is one run, called as its file.
    measures : measure or iterable of measures, optional
        Measures to keep, in this order; all by default. A single one names the values of tables with runs
        as columns.
    lower_is_better : str or iterable of str, optional
        Measures unknown to leadline of which smaller values are better.
    higher_is_better : str or iterable of str, optional
        Such measures of which larger values are better. Gates refuse a measure that is in neither of the two.
    missing : {"refuse", "zero", "drop"}, default "refuse"
        What to do with a value that some run has and another lacks: report an error, count 0, or leave the
        query out of the means of this measure for all runs.
    wide : {"runs", "measures"}, optional
        What columns of values are; by default measures if the run of the table was named (`{run: table}`),
        a name is that of a measure, or several tables have it, and else runs.

    Returns
    -------
    Results
        All runs; `inputs` are the files with their numbers of values.

    Raises
    ------
    InputError
        If a file is no table of scores, a value is no number or given twice, or one is missing.
    UsageError
        If options contradict the tables.

    Notes
    -----
    Names of measures are read as by `evaluate`, those of trec_eval too. Of other names, such as latency, the
    range is unknown, and larger values are taken as better, with a warning. Without `measures`, sums and
    geometric means over queries are left out and counted.

    Examples
    --------
    >>> rows = {"a": {"q1": {"map": 0.5, "latency": 12}, "q2": {"map": 0.7, "latency": 9}}}
    >>> results = read_scores(rows, lower_is_better="latency")
    >>> [str(measure) for measure in results.measures], results.mean("a", "AP")
    (['AP', 'latency'], 0.6)
    """
    check_word(MISSING, missing=missing)
    if wide is not None:
        check_word(WIDE, wide=wide)
    asked = [] if measures is None else [measures] if isinstance(measures, (str, Measure)) else list(measures)
    sides = {
        side: [given] if isinstance(given, str) else list(given)
        for side, given in (("lower", lower_is_better), ("higher", higher_is_better))
    }
    stated = [name for given in sides.values() for name in given]
    both = [name for name in sides["lower"] if name in sides["higher"]]
    if both:
        raise UsageError(
            "use only one of --config scores.lower_is_better and --config scores.higher_is_better for "
            f"{both[0]}"
        )
    names = list({_canonical(name): name for name in map(str, asked)}.values())
    opened = [(source, table) for source in _sources(scores) for table in [_opened(source)]]
    if not opened:  # a folder or pattern without any file has been refused
        given = [scores] if path_of(scores) else scores
        raise InputError(
            "contains MTEB metadata, but no scores",
            path=", ".join(map(path_of, given)),
            hint="Pass the results of at least one task",
        )
    saved = [(source, table) for source, table in opened if isinstance(table, Results)]
    if len(saved) == len(opened):
        parts = [_selected(table, names, sides) for _, table in saved]
        return _combined(parts, [source.path for source, _ in saved])
    if saved:
        other = next(source for source, table in opened if isinstance(table, OpenedScores))
        table = f"{other.path} is" if path_of(other.data) else "the scores in memory are"
        raise UsageError(
            f"{saved[0][0].path} is a saved result, but {table} not (`leadline evaluate -o FILE.json` saves "
            "a result). Pass only saved results or only other scores"
        )
    tables = [table for _, table in opened if isinstance(table, OpenedScores)]
    headers = [name for table in tables for name in dict.fromkeys(table.header)]
    repeated = {name for name in headers if headers.count(name) > 1} if len(tables) > 1 else set()
    choices = Choices(is_known, [*names, *stated] if wide is None else names, wide, repeated, _canonical)
    choices = choices._replace(asked=names or choices.asked)
    columns = [
        table.columns(choices._replace(wide="measures") if source.name and wide is None else choices)
        for source, table in opened
        if isinstance(table, OpenedScores)
    ]
    results = _Builder(columns, names, sides, missing).results([source.path for source, _ in opened])
    results.options["wide"] = wide
    return results


def _combined(parts: Sequence[Results], paths: Sequence[str]) -> Results:
    """Return the runs of several saved results as one."""
    first = parts[0]
    inputs = [
        {"path": path, "rows": int((~np.isnan(results.values)).sum())}
        for path, results in zip(paths, parts, strict=True)
    ]
    for results in parts:
        results.runs = [replace(info, path="") for info in results.runs]
    if len(parts) == 1:
        first.inputs = inputs
        return first
    texts, queries = list(map(str, first.measures)), set(first.averaged_queries())
    for path, results in zip(paths[1:], parts[1:], strict=True):
        others = list(map(str, results.measures))
        if set(others) != set(texts):
            raise UsageError(
                f"{path} and {paths[0]} have different measures ({', '.join(others)} versus "
                f"{', '.join(texts)}). Use results with the same measures"
            )
        different = queries ^ set(results.averaged_queries())
        if different:
            number = counted(len(different), "query", "queries")
            raise UsageError(
                f"{path} and {paths[0]} have different queries ({number} in only one file"
                f"{', such as' if len(different) > 1 else ':'} {min(different)}). "
                "Use results with the same queries"
            )
        if not same_weights(first, results):
            raise UsageError(
                f"{path} and {paths[0]} have different query weights. Use results with the same query weights"
            )
    holders: dict[str, str] = {}
    for path, results in zip(paths, parts, strict=True):
        for name in results:
            if name in holders and os.path.realpath(holders[name]) == os.path.realpath(path):
                raise UsageError(f"{path} was passed twice. Pass each file once")
            if name in holders:
                raise UsageError(
                    f"run '{name}' is in both {holders[name]} and {path}. Evaluate one of the two runs "
                    "under a different name, as in NAME=RUN"
                )
            holders[name] = path
    made = first
    for one in parts[1:]:
        others = list(map(str, one.measures))
        made = Results.with_runs(made, one.select_measures([others.index(text) for text in texts]), one.runs)
    made.qrels, made.inputs = None, inputs
    message = (
        "values from sampled judgments are estimates, and their intervals account for the choice of queries "
        "and of the sample"
    )
    estimated = [] if made.sampling is None else [ResultWarning("estimates", message, 1)]
    told = _of_all_runs([notice for one in parts for notice in one.warnings], len(made.runs))
    rules = {str(one.options.get("queries", "all")) for one in parts}
    if len(rules) == 1 and all(info.counts for info in made.runs):
        # "Both runs" of one file are no longer all runs.
        levels, measures, known = levels_of(made.measures), made.measures, {one.code for one in told}
        again = count_warnings(made.runs, averaging=rules.pop(), levels=levels, measures=measures)
        if estimated:  # which tell less
            again = [one for one in count_warnings(made.runs) if one.code in known]
        codes = {*PER_RUN, *(one.code for one in again)}
        told = [one for one in again if one.count] + [one for one in told if one.code not in codes]
    made.warnings = [*estimated, *told]
    return made


def _of_all_runs(notices: Sequence[ResultWarning], runs: int) -> list[ResultWarning]:
    """Return the notes of several estimates once, with the numbers of runs without an interval added."""
    told: dict[object, ResultWarning] = {}
    for one in notices:
        parts = WITHOUT_INTERVAL.fullmatch(one.message)
        if parts:
            count = one.count + (told[parts.groups()].count if parts.groups() in told else 0)
            words = f"{parts[1]}{count:,} of {counted(runs, 'run')}{parts[2]}"
            told[parts.groups()] = replace(one, message=words, count=count)
        elif not any(two.code == one.code and two.message.startswith(f"{one.message} ") for two in notices):
            told[one] = one
    return list(told.values())


def _opened(source: _Source) -> OpenedScores | Results:
    """Open a table; what -f json printed is one of values by run, query and measure."""
    try:
        opened = open_scores(source.data, name=source.name)
    except InputError as error:  # of a table in memory, whose run tells it
        raise error if error.path or not source.name else error.at(source.name) from None
    if isinstance(opened, Saved):
        found: Results = opened.values
        return found
    if not isinstance(opened, dict):
        return opened
    with damaged_result(source.path):
        values = {run["name"]: run.get("queries") for run in opened["runs"]}
    if not all(values.values()):
        raise InputError(
            "this result has no per-query values",
            path=source.path,
            hint="Save the result with `leadline evaluate -o FILE.json` (in Python, with write(path)), or "
            "print it with --per-query",
        )
    if any(ESTIMATE in run for run in opened["runs"]):
        raise estimates_without_samples(source.path)
    return open_mapping(values, source.path, "")


class _Source(NamedTuple):
    """A file or table, and the name of its run if the caller gave one."""

    data: Any
    name: str = ""
    path: str = "in memory"


def _sources(scores: Any) -> list[_Source]:
    """Return the files and tables that the argument of `read_scores` denotes."""
    if isinstance(scores, (str, os.PathLike)):
        paths = [path for path in files_of(os.fspath(scores)) if os.path.basename(path) not in BESIDE_RESULTS]
        return [_Source(path, "", path) for path in paths]
    if isinstance(scores, Result) and not isinstance(scores, QueryValues):
        found = f"scores are an object of type {type(scores).__name__}, which needs no reading"
        raise UsageError(
            f"{found}. Pass per-query values, or use the object as it is, as in compare(results)"
        )
    if isinstance(scores, Mapping) and not all(isinstance(value, Mapping) for value in scores.values()):
        if rows := rows_of_columns(scores, QUERY):
            return [_Source(rows)]
        return [_Source(value, str(name), path_of(value) or "in memory") for name, value in scores.items()]
    if isinstance(scores, Sequence) and scores and not _is_row(scores[0]):
        return [source for one in scores for source in _sources(one)]
    return [_Source(scores)]


def _is_row(value: object) -> bool:
    """Return whether a member of a list is a row of a table, and not a table itself."""
    if isinstance(value, Mapping):
        return not any(isinstance(inner, Mapping) for inner in value.values())
    return hasattr(value, "_fields") or (
        isinstance(value, tuple) and any(isinstance(one, Real) for one in value)
    )


@cache
def _meant(name: str) -> Any:
    """Return the measure that a name denotes; None if it is unknown, or denotes several or text."""
    try:
        found = [] if is_text(name) else profile_of("leadline").measures([name])
    except LeadlineError:
        return None
    return found[0] if len(found) == 1 else None


def is_known(name: str) -> bool:
    """Return whether a name is that of a measure."""
    return _meant(name) is not None


def _canonical(name: str) -> str:
    found = _meant(name)
    return name if found is None else str(found)


def _selected(results: Results, names: Sequence[str], sides: Mapping[str, Sequence[str]]) -> Results:
    """Return the asked measures of saved results, with the directions that were only assumed."""
    assumed = {
        str(measure): measure
        for measure in results.measures
        if isinstance(measure, NamedMeasure) and measure.assumed
    }
    said = {name: side for side, given in sides.items() for name in given}
    for name, side in said.items():
        if results.measure_index(name) is not None and name not in assumed:
            raise UsageError(
                f"--config scores.{side}_is_better={name} does not apply, because these saved results "
                f"already state whether higher or lower {name} is better. Remove the setting"
            )
    results.measures = [
        replace(assumed[name], rising=said[name] == "higher", assumed=False) if name in said else measure
        for name, measure in zip(map(str, results.measures), results.measures, strict=True)
    ]
    indices = list(dict.fromkeys(results.measure_index(name) for name in names))
    return results.select_measures(indices) if indices else results


class _Builder:
    """Results of the columns of tables."""

    def __init__(
        self,
        columns: Sequence[ScoreColumns],
        asked: Sequence[str],
        sides: Mapping[str, Sequence[str]],
        missing: Missing,
    ) -> None:
        self.columns = columns
        self.missing = missing
        averaged = len(set[str]().union(*(part.averaged for part in columns)))
        words = (
            f"tasks with several splits or subsets: {averaged} (the score is the mean over all splits and "
            "subsets)"
        )
        remarks = dict.fromkeys(one for part in columns for one in part.remarks)
        self.warnings = raised(*remarks, ("averaged_tasks", words, averaged))
        self.sides = {_canonical(name): (side, name) for side, given in sides.items() for name in given}
        self.measures = self._measures(asked)
        self.runs = list(dict.fromkeys(run for part in columns for run in part.runs))
        self.queries = Vocabulary.of_bytes(
            to_bytes(query) for part in columns for query in dict.fromkeys(part.queries)
        )

    def _measures(self, asked: Sequence[str]) -> dict[str, Any]:
        """Return the measures to keep, by canonical name."""
        spelled: dict[str, str] = {}
        for part in self.columns:
            own: dict[str, str] = {}
            for name in dict.fromkeys(part.measures):
                canonical = _canonical(name)
                if own.setdefault(canonical, name) != name:
                    raise InputError(
                        f"{own[canonical]} and {name} both mean {canonical}",
                        path=part.path,
                        hint="Keep one value per run and query, under one name",
                    )
            spelled |= own
        paths = list(dict.fromkeys(part.path for part in self.columns if part.path))
        if not spelled:
            raise InputError("there are no values", path=", ".join(paths), hint=PER_QUERY)
        wanted = list(map(_canonical, asked)) or list(spelled)
        subject = f"{paths[0]} has" if len(paths) == 1 else "these scores have"
        for name in wanted:
            if name not in spelled:
                raise UsageError(f"{subject} no measure '{name}'. Use {either(spelled)}")
        for canonical, (side, name) in self.sides.items():
            if canonical not in spelled:
                custom = [one for one in spelled if _meant(one) is None]
                setting = f"--config scores.{side}_is_better={name}"
                remedy = f"Use {either(custom)}" if custom else f"Leave out {setting}"
                raise UsageError(f"{subject} no measure '{name}'. {remedy}")
            known = _meant(name)
            if known is not None and known.rising != (side == "higher"):
                better = "higher" if known.rising else "lower"
                raise UsageError(
                    f"--config scores.{side}_is_better={name} is not allowed because {better} values of "
                    f"{canonical} are better. Use the setting only for custom measures"
                )
        found = {
            name: NamedMeasure(
                name,
                rising=self.sides.get(name, ("lower" if name in COSTS else "",))[0] != "lower",
                assumed=name not in self.sides and name not in COSTS,
            )
            if _meant(name) is None
            else _meant(name)
            for name in wanted
        }
        sums = [name for name, measure in found.items() if measure.average in ("sum", "geometric")]
        if not asked and sums:
            words = f"sums and geometric means over queries: {', '.join(sums)} (left out)"
            self.warnings.append(ResultWarning("measures_left_out", words, len(sums)))
            found = {name: measure for name, measure in found.items() if name not in sums}
        assumed = [name for name, measure in found.items() if getattr(measure, "assumed", False)]
        if assumed:
            named = ", ".join(assumed)
            words = (
                f"assuming higher is better: {named} (if not, use --config scores.lower_is_better=MEASURE)"
            )
            self.warnings.append(ResultWarning("assumed_direction", words, len(assumed)))
        if not found:
            raise InputError(
                f"all measures are sums or geometric means over queries ({', '.join(sums)}). Add a measure "
                "that is averaged over queries, such as AP, to the scores"
            )
        return found

    def results(self, paths: Sequence[str]) -> Results:
        """Return the results; `paths` are the files in the order of the columns."""
        values, given = self._values()
        self._check_ranges(values)
        averaged = self._averaged(values, given)
        named = [
            name
            for name, measure in self.measures.items()
            if isinstance(measure, NamedMeasure) and not measure.rising
        ]
        stated = [name for name in self.measures if self.sides.get(name, ("",))[0] == "higher"]
        return Results(
            [RunInfo(name) for name in self.runs],
            self.queries,
            list(self.measures.values()),
            values,
            averaged,
            present=np.asarray(given.any(axis=2)),
            warnings=[notice for notice in self.warnings if notice.count],
            options={
                "measures": list(self.measures),
                "missing": self.missing,
                "lower_is_better": named,
                "higher_is_better": stated,
            },
            inputs=[
                {"path": path, "rows": len(part.values)}
                for path, part in zip(paths, self.columns, strict=True)
            ],
            resolve=Meaning(profile_of("leadline")),
        )

    def _values(self) -> tuple[Floats, Flags]:
        """Return values, NaN where missing, and whether there is one: runs x queries x measures."""
        run_of = {name: code for code, name in enumerate(self.runs)}
        measure_of = {name: code for code, name in enumerate(self.measures)}
        shape = len(self.runs), len(self.queries), len(self.measures)
        values = np.full(shape, np.nan).ravel()
        found: list[Any] = []  # place in the values, table and row of each row of all tables
        for number, part in enumerate(self.columns):
            codes = {name: measure_of.get(_canonical(name), -1) for name in dict.fromkeys(part.measures)}
            measure = np.array([codes[name] for name in part.measures], dtype=np.int64)
            run = np.array([run_of[name] for name in part.runs], dtype=np.int64)
            query = self.queries.encode(map(to_bytes, part.queries))
            numbers = np.array([np.nan if value is None else value for value in part.values])
            rows = np.flatnonzero(measure >= 0)
            cells = np.ravel_multi_index((run[rows], query[rows], measure[rows]), shape)
            values[cells] = numbers[rows]
            found.append(np.stack([cells, np.full(len(rows), number), rows]))
        self._refuse_repeats(*np.concatenate(found, axis=1))
        values = values.reshape(shape)
        return values, np.asarray(~np.isnan(values))

    def _refuse_repeats(self, cells: Integers, tables: Integers, rows: Integers) -> None:
        """Refuse a value that an earlier row has already."""
        order = np.argsort(cells, kind="stable")
        again = np.flatnonzero(np.diff(cells[order]) == 0)
        if not len(again):
            return
        at = again[np.argmin(order[again + 1])]
        number = int(tables[order[at]])
        first, part = self.columns[number], self.columns[tables[order[at + 1]]]
        before, row = rows[order[at : at + 2]].tolist()
        where = place_of(first.path or f"table {number + 1}", first.places[before])
        raise InputError(
            f"{part.measures[row]} of run '{part.runs[row]}' for query '{part.queries[row]}' appears twice "
            f"(first at {where})",
            path=part.path,
            line=part.places[row],
        )

    def _check_ranges(self, values: Floats) -> None:
        """Take the range of a measure as unknown where values lie outside it, and warn."""
        for index, (name, measure) in enumerate(self.measures.items()):
            column = values[:, :, index]
            if np.isnan(column).all():
                continue
            low, high = float(np.nanmin(column)), float(np.nanmax(column))
            if low < measure.low - BEYOND or high > measure.high + BEYOND:
                span = f"{measure.low:g} to {measure.high:g}".replace("-inf to", "at most")
                words = (
                    f"some values of {name} are outside its range of {span.replace('to inf', 'or more')} "
                    f"(lowest {low:g}, highest {high:g}), so leadline ignores this range"
                )
                self.warnings.append(ResultWarning("outside_range", words, 1))
                self.measures[name] = NamedMeasure(name, rising=measure.rising)

    def _averaged(self, values: Floats, given: Flags) -> Flags:
        """Return what counts in the means; refuse, fill or leave out missing values."""
        lacking = int((~given).sum())
        if not lacking:
            return np.ones(values.shape, dtype=np.bool_)
        run, query, measure = (int(place[0]) for place in np.nonzero(~given))
        texts = list(self.measures)
        falling = [
            name
            for index, (name, one) in enumerate(self.measures.items())
            if not one.rising and not given[:, :, index].all()
        ]
        complete = np.asarray(given.all(axis=0))
        drop = "--config scores.missing=drop to leave out queries with missing values"
        drops = [drop] * bool(complete.any(axis=0).all())
        if self.missing == "refuse":
            zeros = ["--config scores.missing=zero to count missing values as 0"] * (not falling)
            remedies = ", or ".join(zeros + drops)
            raise InputError(
                f"run '{self.runs[run]}' has no {texts[measure]} value for query '{self.queries[query]}' "
                f"(missing values: {lacking:,} of {values.size:,})",
                hint=f"Use {remedies}" if remedies else "Add the missing values",
            )
        if self.missing == "zero":
            if falling:
                raise UsageError(
                    "--config scores.missing=zero would reward missing values, because lower values of "
                    f"{falling[0]} are better. {f'Use {drop}' if drops else 'Add the missing values'}"
                )
            values[~given] = 0.0
            words = f"missing values: {lacking:,} of {values.size:,} (counted as 0)"
            self.warnings.append(ResultWarning("missing_zero", words, lacking))
            return np.ones(values.shape, dtype=np.bool_)
        for index, name in enumerate(texts):
            left = int((~complete[:, index]).sum())
            if left == len(complete):
                raise InputError(
                    f"no query has {name} values for every run, so --config scores.missing=drop leaves no "
                    "queries. Add the missing values"
                )
            words = (
                f"{name} is missing from at least one run for {left:,} of {len(complete):,} queries "
                "(left out of every run's mean)"
            )
            self.warnings.append(ResultWarning("missing_dropped", words, left))
        return np.broadcast_to(complete[None], values.shape).copy()
