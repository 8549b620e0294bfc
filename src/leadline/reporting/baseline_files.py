"""Writing of baselines, the values of queries that later runs are compared with."""

from __future__ import annotations

import json
import os
from typing import Any

from leadline.comparison.baselines import JUDGMENTS, fingerprint, refuse_estimates
from leadline.comparison.sentences import STATED, lacking_text
from leadline.data.qrels import Qrels
from leadline.data.results import Results, flagged
from leadline.errors import InputError, UsageError
from leadline.io.opening import digest_of
from leadline.io.sealed_files import CHECKSUM, json_checksum
from leadline.io.write import write_whole
from leadline.reporting.restore import save
from leadline.version import VERSION


def write_baseline(
    results: Results, path: str | os.PathLike[str], qrels: Qrels, *, force: bool = False
) -> None:
    """Write the values of queries to a file, atomically, as a baseline of later runs.

    Parameters
    ----------
    results : Results
        Evaluated runs.
    path : path
        File to write: FILE.parquet, or FILE.json, whose changes a version control system can show.
    qrels : Qrels
        Judgments by which the runs were evaluated; their hash is kept.
    force : bool, default False
        Write runs that lack judged queries, too.

    Raises
    ------
    InputError
        If a run lacks judged queries.
    UsageError
        If the values are estimates, the suffix is another one, or the file cannot be written.

    Notes
    -----
    Paths of inputs are relative to the folder of the file, so that they do not depend on where it was
    written.

    """
    name = os.fspath(path)
    check_suffix(name)
    check_baseline(results, force=force)
    inputs = _inputs(results, name, qrels)
    if name.endswith(".parquet"):
        save(results, name, command="compare", inputs=inputs)
        return
    data = {
        "leadline": VERSION,
        "command": "compare",
        "inputs": inputs,
        "options": results.options,
        "warnings": [
            {"code": notice.code, "message": notice.message, "count": notice.count}
            for notice in results.warnings
        ],
        **results.to_dict(per_query=True),
    }
    data = json.loads(json.dumps(data, allow_nan=False))  # as it is read
    data[CHECKSUM] = json_checksum(data)
    text = json.dumps(data, indent=1, ensure_ascii=True, allow_nan=False)
    write_whole(name, (text + "\n").encode())


def check_baseline(results: Results, *, force: bool) -> None:
    """Raise InputError for results that no later run should be compared with."""
    refuse_estimates(results)
    for run, present in zip(results.runs, results.present, strict=True):
        names = flagged(results.queries, ~present)
        if names and not force:
            raise InputError(
                f"{lacking_text(names)}; no baseline is made of it",
                expected=f"{STATED}; or --config output.force_update",
                path=run.path or run.name,
            )


def check_suffix(path: str) -> None:
    """Raise UsageError unless a path is that of a baseline."""
    if not path.endswith((".parquet", ".json")):
        raise UsageError(f"'{path}' as the file of a baseline; expected FILE.parquet or FILE.json")


def _inputs(results: Results, path: str, qrels: Qrels) -> list[dict[str, Any]]:
    judged = fingerprint(qrels)
    inputs: list[dict[str, Any]] = [
        {
            "path": _relative(qrels.source, path) if qrels.sources else None,
            "sha256": judged.file,
            "rows": judged.size,
            JUDGMENTS: judged.judgments,
        }
    ]
    inputs += [
        {
            "path": _relative(run.path, path),
            "sha256": digest_of(run.path),
            "rows": run.counts.get("documents_read"),
        }
        for run in results.runs
        if run.path
    ]
    return inputs


def _relative(path: str, target: str) -> str:
    """Return a path relative to the folder of a file; one without a file as it is."""
    if not os.path.exists(path):
        return path
    try:
        relative = os.path.relpath(path, os.path.dirname(os.path.abspath(target)))
    except ValueError:  # another drive
        return os.path.basename(path)
    return relative.replace(os.sep, "/")
