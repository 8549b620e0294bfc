"""Restoration of results from their JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.averages import NamedMeasure
from leadline.data.ids import Vocabulary, to_bytes
from leadline.data.records import ResultWarning, RunInfo
from leadline.errors import LeadlineError, UsageError
from leadline.evaluation.profiles import profile_of

if TYPE_CHECKING:
    from leadline.evaluation.results import Results


def results_of(make: type[Results], data: Mapping[str, Any]) -> Results:
    """Restore results from per-query values; raise UsageError if the means differ from those in the JSON."""
    for key in ("measures", "queries", "runs"):
        if not isinstance(data.get(key), list):
            raise UsageError(f"JSON without '{key}'; expected what Results.to_json(per_query=True) gives")
    runs, texts = data["runs"], list(map(str, data["measures"]))
    _check_runs(runs, texts)
    if not all(isinstance(query, str) for query in data["queries"]):
        raise UsageError(
            "JSON in which a query is no text; expected what Results.to_json(per_query=True) gives"
        )
    for key in ("intervals", "bounds"):  # estimates over all queries are left out
        if any(key in run for run in runs):
            raise UsageError(f"results with {key} are not restored: what they come from is not in the JSON")
    sampling = _sampling(runs, texts)
    options = dict(data.get("options") or {})
    queries = Vocabulary.of_bytes(to_bytes(query) for run in runs for query in run["queries"])
    values = np.array(
        [
            [[_number(run["queries"].get(query, {}).get(text)) for text in texts] for query in queries]
            for run in runs
        ],
        dtype=np.float64,
    ).reshape(len(runs), len(queries), len(texts))
    measures = _measures(texts, options, data.get("directions") or {})
    infos = [RunInfo(run["name"], run.get("tag", ""), counts=dict(run.get("counts") or {})) for run in runs]
    means = np.array([[_number(run["mean"][text]) for text in texts] for run in runs])

    def made(averaged: Flags) -> Results:
        return make(
            infos,
            queries,
            measures,
            values.copy(),
            averaged,
            present=present_in(runs, list(queries), values),
            warnings=[ResultWarning(**warning) for warning in data.get("warnings") or ()],
            options=options,
            inputs=data.get("inputs") or (),
            resolve=profile_of(options.get("profile") or "leadline").measures,
            sampling=sampling,
        )

    listed = np.array([query in set(data["queries"]) for query in queries])
    all_queries = np.broadcast_to(listed[None, :, None], values.shape).copy()
    fitting = [
        candidate
        for candidate in map(made, (all_queries, all_queries & ~np.isnan(values)))
        if np.array_equal(candidate.means, means.reshape(candidate.means.shape), equal_nan=True)
        and candidate.averaged_queries() == data["queries"]
    ]
    if not fitting:
        raise UsageError(
            "the means in the JSON are not over the queries it lists; which of them count for which measure "
            "is not in the JSON"
        )
    if len(fitting) == 2 and not _same(*fitting):
        raise UsageError("whether queries without a value count 0 or are left out is not in the JSON")
    return fitting[0]


def _check_runs(runs: list[Any], texts: list[str]) -> None:
    """Raise UsageError for runs of another form than that of `Results.to_dict(per_query=True)`."""
    if not runs:
        raise UsageError("JSON without runs; expected at least one")
    for number, run in enumerate(runs, 1):
        if not isinstance(run, dict) or not isinstance(run.get("name"), str):
            raise UsageError(f"run {number} of the JSON has no name; expected what Results.to_json gives")
        where = f"run {run['name']!r} of the JSON"
        values = run.get("queries")
        if values is None:
            raise UsageError(
                "JSON without values of queries; expected to_json(per_query=True) or --per-query"
            )
        if not isinstance(values, dict) or not all(
            isinstance(values_of_query, dict) for values_of_query in values.values()
        ):
            raise UsageError(f"{where} has other 'queries'; expected the values by query and measure")
        means = run.get("mean")
        if not isinstance(means, dict) or not means.keys() >= set(texts):
            raise UsageError(f"{where} has not the mean of every measure; expected {', '.join(texts)}")
        if not isinstance(run.get("tag", ""), str) or not isinstance(run.get("counts") or {}, dict):
            raise UsageError(f"{where} has another 'tag' or 'counts'; expected text and numbers by name")


def _sampling(runs: list[Any], texts: list[str]) -> list[dict[str, Any]] | None:
    """Return the estimates of all runs; None if the values are no estimates."""
    if not any("estimate" in run for run in runs):
        return None
    found = []
    for run in runs:
        listed = run.get("estimate")
        if not isinstance(listed, dict) or not all(isinstance(listed.get(text), dict) for text in texts):
            raise UsageError(f"run {run['name']!r} of the JSON has not the estimate of every measure")
        found.append({"new": run.get("new") is True, "estimate": {text: listed[text] for text in texts}})
    return found


def _same(first: Results, second: Results) -> bool:
    """Return whether the averaged values of every measure are the same."""
    return all(
        np.array_equal(first.averaged_values(index), second.averaged_values(index), equal_nan=True)
        for index in range(len(first.measures))
    )


def _measures(texts: list[str], options: Mapping[str, Any], directions: Mapping[str, str]) -> list[Any]:
    """Return the measures of canonical names; raise UsageError if the names do not determine them."""
    known = [text for text in texts if text not in directions]
    try:
        measures = profile_of(options.get("profile") or "leadline").measures(known) if known else []
    except LeadlineError as error:
        raise UsageError(f"measures that their names alone do not restore: {error}") from None
    if list(map(str, measures)) != known:
        raise UsageError(f"the names {', '.join(known)} mean {', '.join(map(str, measures))} here")
    found: dict[str, Any] = {str(measure): measure for measure in measures}
    found |= {
        name: NamedMeasure(name, rising=side != "lower", assumed=side == "unknown")
        for name, side in directions.items()
    }
    return [found[text] for text in texts]


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else float("nan")


def present_in(runs: Sequence[Mapping[str, Any]], queries: Sequence[str], values: Floats) -> Flags:
    """Return which queries the runs of JSON have: those not listed as missing, where there is such a list."""
    flags = np.array(~np.isnan(values).all(axis=2), dtype=np.bool_)
    for row, run in enumerate(runs):
        missing = run.get("missing")
        if isinstance(missing, list):
            names = set(map(str, missing))
            flags[row] = [query not in names for query in queries]
    return flags
