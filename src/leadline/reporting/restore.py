"""Saving of results, and their restoration from Parquet and JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from leadline.comparison.baselines import present_in
from leadline.comparison.compare import compare_results
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.rules import Rules
from leadline.data.arrays import Flags
from leadline.data.averages import NamedMeasure
from leadline.data.ids import Vocabulary, to_bytes
from leadline.data.result import Result
from leadline.data.results import Results, ResultWarning, RunInfo
from leadline.errors import InputError, LeadlineError, UsageError
from leadline.evaluation.profiles import profile_of
from leadline.io.result_files import FORMAT, MANIFEST, value_table
from leadline.io.sealed_files import sealed_parquet
from leadline.io.write import write_bytes
from leadline.version import VERSION


def save(
    results: Results,
    path: str | os.PathLike[str],
    *,
    command: str = "",
    inputs: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Save results as Parquet: a row for each run, query and measure, and a manifest in the metadata."""
    path = os.fspath(path)
    if not path.endswith(".parquet"):
        raise UsageError(f"'{path}' as the file of saved results; expected FILE.parquet")
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "leadline": VERSION,
        "command": command,
        "inputs": list(inputs or results.inputs),
        "options": results.options,
        "warnings": [
            {"code": notice.code, "message": notice.message, "count": notice.count}
            for notice in results.warnings
        ],
        **results.to_dict(),
    }
    if results.undefined is not None:
        manifest["merging"] = {
            "judgments": results.qrels_digest,
            "judged_example": results.judged_example,
            "examples": results.examples,
            "undefined": results.undefined.tolist(),
        }
    table = value_table(results)
    text = json.dumps(manifest, ensure_ascii=True, allow_nan=False)
    write_bytes(path, sealed_parquet(table.replace_schema_metadata({MANIFEST: text})))


def combined(parts: Sequence[Results], paths: Sequence[str]) -> Results:
    """Return the runs of several saved results as one."""
    first = parts[0]
    texts, queries = list(map(str, first.measures)), set(first.averaged_queries())
    for path, results in zip(paths[1:], parts[1:], strict=True):
        others = list(map(str, results.measures))
        if others != texts:
            raise UsageError(
                f"{path} has {', '.join(others)}, {paths[0]} has {', '.join(texts)}; expected equal"
            )
        different = queries ^ set(results.averaged_queries())
        if different:
            raise UsageError(
                f"{path} and {paths[0]} have different queries ({len(different)}, such as {min(different)}); "
                "expected the same"
            )
    names = [name for results in parts for name in results.names]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"run '{twice[0]}' is in two files; expected different names")
    rows = [results.queries.encode(first.queries.names) for results in parts]
    return Results(
        [info for results in parts for info in results.runs],
        first.queries,
        first.measures,
        np.concatenate([results.values[:, row] for results, row in zip(parts, rows, strict=True)]),
        np.concatenate([results.averaged[:, row] for results, row in zip(parts, rows, strict=True)]),
        present=np.concatenate([results.present[:, row] for results, row in zip(parts, rows, strict=True)]),
        warnings=list(dict.fromkeys(notice for results in parts for notice in results.warnings)),
        options=first.options,
        inputs=[
            {"path": path, "rows": int((~np.isnan(results.values)).sum())}
            for path, results in zip(paths, parts, strict=True)
        ],
        resolve=first._resolve,  # noqa: SLF001  # the same class
        sampling=_merged(parts),
    )


def _merged(parts: Sequence[Results]) -> list[dict[str, Any]] | None:
    """Return the estimates of all files; none for runs of complete judgments, None if all are."""
    if all(results.sampling is None for results in parts):
        return None
    found = []
    for results in parts:
        exact: dict[str, Any] = {"new": False, "estimate": {str(one): {} for one in results.measures}}
        found += results.sampling or [exact] * len(results.runs)
    return found


def saved_results(data: dict[str, Any], path: str) -> Results:
    """Restore saved results, or the JSON result of a command with values of queries."""
    try:
        results = results_of(data)
    except UsageError as error:
        raise InputError(str(error), path=path) from None
    if results.sampling is not None:
        message = "values are estimates from a sample of judgments; intervals are over queries and samples"
        results.warnings.insert(0, ResultWarning("estimates", message, 1))
    return results


def restored(cls: type[Result], text: str) -> Result:
    """Restore `Results` or a `Comparison`."""
    if cls not in (Results, Comparison):
        raise UsageError(
            f"{cls.__name__} is not restored from JSON, which does not hold all that it is made of; "
            "expected Results or Comparison"
        )
    if not isinstance(text, (str, bytes)):
        raise UsageError(f"an object of type {type(text).__name__}; expected the JSON as text")
    try:
        data = json.loads(text)
    except RecursionError:
        raise UsageError(f"JSON nested too deep; expected what {cls.__name__}.to_json gives") from None
    except ValueError as error:
        raise UsageError(f"no JSON ({error}); expected what {cls.__name__}.to_json gives") from None
    if not isinstance(data, dict):
        raise UsageError(f"JSON of a {type(data).__name__}; expected what {cls.__name__}.to_json gives")
    return comparison_of(data) if cls is Comparison else results_of(data)


def comparison_of(data: Mapping[str, Any]) -> Comparison:
    """Repeat a comparison from the values and rules in JSON; raise UsageError if its pairs differ."""
    stored, rules = data.get("results"), data.get("rules")
    if not isinstance(stored, dict) or not isinstance(rules, dict):
        raise UsageError(
            "JSON of a comparison without the values of queries; expected to_json(per_query=True)"
        )
    if rules.get("query_group") is not None:
        raise UsageError("a comparison by query groups is not restored: the groups are not in the JSON")
    pairs = data.get("pairs")
    if not isinstance(pairs, list) or not all(
        isinstance(pair, dict) and isinstance(pair.get("b"), str) for pair in pairs
    ):
        raise UsageError("JSON without 'pairs' of runs; expected what Comparison.to_json gives")
    lacking = [each.name for each in fields(Rules) if each.name not in {"query_group", *rules}]
    if lacking:
        raise UsageError(f"a comparison without the rule '{lacking[0]}'; expected to_json(per_query=True)")
    results, repeated = results_of(stored), Rules.take(dict(rules))
    for baseline in (None, list(dict.fromkeys(pair["b"] for pair in pairs))):
        comparison = compare_results(results, repeated, baseline=baseline)
        if all(value == data.get(key) for key, value in comparison.to_dict().items()):
            return comparison
    raise UsageError("comparing the values in the JSON gives other pairs than it lists; was it changed?")


def results_of(data: Mapping[str, Any]) -> Results:
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
        return Results(
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
