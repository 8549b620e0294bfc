"""Saving of results, and their restoration from Parquet and JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.optional import import_optional
from leadline.data.records import ResultWarning
from leadline.errors import InputError, UsageError
from leadline.evaluation.restored_results import results_of
from leadline.evaluation.results import Results
from leadline.io.result_files import COLUMNS, FORMAT, MANIFEST, MERGING
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
    table = _value_table(results)
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
        results = results_of(Results, data)
    except UsageError as error:
        raise InputError(str(error), path=path) from None
    if results.sampling is not None:
        message = "values are estimates from a sample of judgments; intervals are over queries and samples"
        results.warnings.insert(0, ResultWarning("estimates", message, 1))
    return results


def _value_table(results: Results) -> Any:
    """Return the Arrow table of saved results: a row for each run, query and measure.

    `value` is null where it is undefined or where a missing query is excluded from the mean. Results that can
    be merged have three more columns: whether the run has the query, whether the mean includes it, and the
    value of a missing query.
    """
    arrow = import_optional("pyarrow")
    shape = results.values.shape
    names = (results.names, list(results.queries), [str(measure) for measure in results.measures])
    try:
        columns = [
            arrow.DictionaryArray.from_arrays(
                np.broadcast_to(codes, shape).ravel().astype(np.int32),
                arrow.array(words, type=arrow.string()),
            ).dictionary_decode()
            for codes, words in zip(np.ogrid[tuple(map(slice, shape))], names, strict=True)
        ]
    except UnicodeEncodeError:
        raise InputError("an id that is not Unicode", expected="ids of valid UTF-8 in a saved file") from None

    def numbers(values: Floats) -> Any:
        return arrow.array(values.ravel(), type=arrow.float64(), from_pandas=True)  # NaN is null

    columns.append(numbers(results.shown))
    if results.undefined is None:
        return arrow.table(columns, names=list(COLUMNS))
    present = np.broadcast_to(results.present[:, :, np.newaxis], shape)
    columns += [arrow.array(present.ravel()), arrow.array(results.averaged.ravel())]
    columns.append(numbers(np.where(present, np.nan, results.values)))
    return arrow.table(columns, names=[*COLUMNS, *MERGING])
