"""Baselines: saved per-query values that later runs are compared with."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from leadline.comparison.pair_texts import STATE_ALL, lacking_text
from leadline.comparison.pairing import Pairs
from leadline.data.qrels import QrelsColumns
from leadline.data.table import flagged, raised
from leadline.data.wording import counted, first_few
from leadline.errors import InputError, UsageError, either
from leadline.evaluation.limits import same_weights
from leadline.evaluation.lookups import joined_place
from leadline.evaluation.results import Results
from leadline.io.opening import digest_of
from leadline.io.read_paths import public
from leadline.io.saved_results import envelope, read_saved, saved_json, saved_parquet
from leadline.io.write import write_bytes
from leadline.render import BY_SUFFIX, View, suffix_of

BASELINE_MISSING = "baseline_missing_queries"  # code of the warning of queries that a baseline lacks
SUFFIX = " (baseline)"  # of the names of runs of a file
# Options that are part of the hash of the judgments.
HASHED = {"queries_in": "selected queries", "known": "known documents", "pool": "pool"}
# Options that change no value: what is checked apart, names, and what is added to values.
NEUTRAL = {
    *HASHED,
    "qrels_columns",
    "measures",
    "rel",
    "columns",
    "name_by",
    "relevance_strings",
    "bounds",
    "machine",
    "intervals",
    "query_weights",  # compared by weight
    "confidence",
    "seed",
}
FILES = ("documents_of", "lengths")  # options that may name a file or FILE:COLUMN


class Baseline(NamedTuple):
    """Saved per-query values, and what they were made of, the judgments first."""

    path: str
    results: Results
    inputs: list[dict[str, Any]]

    @property
    def measures(self) -> list[str]:
        """Names of the measures."""
        return list(map(str, self.results.measures))

    def to_dict(self) -> dict[str, Any]:
        """Return a description of the file for JSON."""
        return {
            "path": self.path,
            "sha256": digest_of(self.path),
            "runs": self.results.names,
            "measures": self.measures,
            "queries": len(self.results.averaged_queries()),
        }


def is_baseline_name(path: str) -> bool:
    """Return whether a path has the suffix of a baseline."""
    return BY_SUFFIX.get(suffix_of(path)) in ("json", "parquet")


def read_baseline(path: str, *, to_update: bool = False) -> Baseline:
    """Read saved values as a baseline."""
    if not os.path.isfile(path):
        if os.path.exists(path):
            raise InputError("this is not a file", path=path, hint="Pass a baseline file (.json or .parquet)")
        raise InputError("no such file", path=path, hint="Create it with `write_baseline`")
    saved = read_saved(path, to_update=to_update)
    return Baseline(path, saved.values, saved.inputs)


def check_same(results: Results, baseline: Baseline, *, rewrite: str) -> None:
    """Raise UsageError if a baseline has other judgments, measures or options than results; name them.

    `rewrite` is what writes the file again.
    """
    found = _other_judgments(results, baseline)
    lacking = [str(measure) for measure in results.measures if str(measure) not in baseline.measures]
    if lacking:
        found.append(f"the file lacks {', '.join(lacking)} (it has {', '.join(baseline.measures)})")
    found += _other_options(results.options, baseline.results.options)
    if not same_weights(results, baseline.results):
        found.append("the query weights differ")
    if found:
        raise UsageError(
            f"{baseline.path} does not match this evaluation: {'; '.join(found)}. Use the same "
            f"judgments, measures and options, or save the baseline run (not the new run) again, with "
            f"{rewrite}."
        )


def _other_judgments(results: Results, baseline: Baseline) -> list[str]:
    kept = baseline.results
    if (kept.sampling is None) != (results.sampling is None):
        which = "new" if kept.sampling is None else "old"
        return [f"only the {which} values are estimates from a sample of judgments"]
    then, now = kept.qrels_digest, results.qrels_digest
    if then is None and now is None:  # values that were read
        different = sorted({*kept.averaged_queries()} ^ {*results.averaged_queries()})
        many = (
            f"{counted(len(different), 'query has', 'queries have')} either old or new values, but not both"
        )
        return [f"{many} ({first_few(different)})"] if different else []
    if then == now:
        return []
    if then is None or now is None:
        which = "old" if then is None else "new"
        return [f"the {which} values do not say which judgments they were computed from"]
    used = [
        words
        for name, words in HASHED.items()
        if any(one.options.get(name) for one in (kept, results)) or (words == "pool" and results.sampling)
    ]
    what = either(["judgments", *used])
    digests = f"their content hash was {then[:12]} and is now {now[:12]}"
    rows = baseline.inputs[0].get("rows") if baseline.inputs else None
    size = len(results.qrels.grades) if isinstance(results.qrels, QrelsColumns) else None
    many = f"; {rows:,} judgments before, {size:,} now" if rows and size else ""
    return [f"the {what} differ ({digests}{many})"]


def _other_options(options: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """Return the options that may change values and differ; one that the file lacks had its default."""
    differing = []
    for name, now in _with_contents(options).items():
        if name in NEUTRAL:
            continue
        usual = not now or (name, now) == ("missing", "refuse")
        then = known.get(name, now if usual else None)
        if then not in (now, options[name]):  # only `save_baseline` stores the content in place of a path
            shown = now if "SHA-256" in str(then) else options[name]
            was = _shown(then) if name in known else "not recorded"
            differing.append(f"option '{name}' was {was} and is now {_shown(shown)}")
    return differing


def _with_contents(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with the SHA-256 of files in place of their paths."""
    found = dict(options)
    for name in FILES:
        path = str(options.get(name))
        column = ""
        if not os.path.isfile(path):
            path, _, column = path.rpartition(":")
        digest = digest_of(path)
        if digest is not None:
            found[name] = f"{column}{' of ' * bool(column)}a file with SHA-256 {digest}"
    return found


def _shown(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def with_baseline(results: Results, baseline: Baseline, *, rewrite: str) -> tuple[Results, Pairs]:
    """Return results with the runs of a baseline added, and the pairs to compare.

    If the baseline has one run, every run of the results is compared with it; if it has several, each run is
    compared with the one of its name. An error says that `rewrite` writes the file again.
    """
    check_same(results, baseline, rewrite=rewrite)
    pairs = _pairs(results.names, baseline)
    kept = baseline.results
    if list(map(str, kept.measures)) != list(map(str, results.measures)):
        kept = kept.select_measures([kept.measure_index(str(measure)) for measure in results.measures])
    infos = [replace(info, name=info.name + SUFFIX, path="") for info in kept.runs]
    together = results.with_runs(kept, infos)
    together.warnings = list(results.warnings)
    added, values = slice(len(results.runs), None), lacked(results)
    averaged = np.asarray(together.averaged[added].any(axis=2))
    for info, row, counts in zip(infos, together.present[added], averaged, strict=True):
        names = flagged(results.queries, ~row)
        scored = ", scored 0" * bool((counts & ~row).any())
        words = f"{baseline.path}: {lacking_text(names, info.name, len(row), values=values)}{scored}"
        together.warnings += raised((BASELINE_MISSING, words, len(names)))
    return together, pairs


def _pairs(names: Sequence[str], baseline: Baseline) -> Pairs:
    known = baseline.results.names
    if len(known) == 1:
        places: list[int | None] = [0] * len(names)
    else:
        places = [joined_place(known, name) for name in names]
        lacking = [name for name, place in zip(names, places, strict=True) if place is None]
        if lacking:
            raise UsageError(
                f"{baseline.path} has several runs, but none is named '{lacking[0]}'. Rename your run to "
                f"match one of these: {first_few(known, 5)}"
            )
    twice = [name for name in names if name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in known]
    if twice:
        raise UsageError(
            f"'{twice[0]}' is also the name that leadline gives to a run from {baseline.path}. "
            "Rename your run."
        )
    first = np.arange(len(names), dtype=np.int64)
    return Pairs(first, np.array(places, dtype=np.int64) + len(names))


@public
def write_baseline(results: Results, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write the per-query values to a file, atomically, as a baseline of later runs.

    Parameters
    ----------
    results : Results
        Evaluated runs; their judgments are kept as a hash.
    path : path
        File to write: FILE.parquet, or FILE.json, whose changes a version control system can show.
    force : bool, default False
        Write runs that lack judged queries, too.

    Raises
    ------
    InputError
        If a run lacks judged queries.
    UsageError
        If the suffix is another one, or the file cannot be written.

    Notes
    -----
    The file is what `results.write` saves, with paths of inputs relative to its folder.

    """
    save_baseline(results, path, inputs_of_baseline(results), force=force, anyway="force=True")


def save_baseline(
    results: Results,
    path: str | os.PathLike[str],
    inputs: Sequence[dict[str, Any]],
    *,
    force: bool,
    anyway: str,
) -> None:
    """Write a baseline made of inputs; an error says that `anyway` writes it with missing queries."""
    name = os.fspath(path)
    check_target(name)
    check_baseline(results, force=force, anyway=anyway)
    found = [info | {"path": _relative(info["path"], name)} for info in inputs]
    if isinstance(results.qrels, QrelsColumns):
        found[0]["rows"] = len(results.qrels.grades)  # those of the selected queries
    kept = copy(results)
    kept.options = _with_contents(results.options)
    about = envelope("evaluate", found, kept.options, results.warnings)
    kept.runs = [replace(run, path=_relative(run.path, name) or "") for run in results.runs]
    save = saved_json if BY_SUFFIX[suffix_of(name)] == "json" else saved_parquet
    write_bytes(name, save(View(kept), about))


def inputs_of_baseline(results: Results) -> list[dict[str, Any]]:
    """Describe the judgments and the runs."""
    inputs: list[tuple[str | None, int]] = []
    if isinstance(results.qrels, QrelsColumns):
        inputs.append((results.qrels.source or None, len(results.qrels.grades)))
    inputs += [(run.path, run.counts.get("documents_read", 0)) for run in results.runs if run.path]
    return [
        {"path": one, "sha256": None if one is None else digest_of(one), "rows": rows} for one, rows in inputs
    ]


def lacked(results: Results, measure: object = "") -> str:
    """Return what a run lacks where per-query values were read; empty where runs were evaluated."""
    return f"{measure} values".lstrip() if "missing" in results.options else ""


def add_missing(results: Results) -> str:
    """Return what to do about the queries that a run lacks, or about the values that a table lacks."""
    return "Add the missing values" if "missing" in results.options else STATE_ALL


def check_baseline(results: Results, *, force: bool, anyway: str) -> None:
    """Raise InputError for results that no later run should be compared with; `anyway` writes them."""
    for run, present in zip(results.runs, results.present, strict=True):
        names = flagged(results.queries, ~present)
        if names and not force:
            raise InputError(
                f"{lacking_text(names, 'this run', values=lacked(results))}, so it cannot become a baseline",
                path=run.path or run.name,
                hint=f"{add_missing(results)}, or save the baseline anyway with {anyway}",
            )


def check_target(path: str) -> None:
    """Raise UsageError unless a path has the suffix of a baseline, and its folder exists."""
    if not is_baseline_name(path):
        raise UsageError(f"{path}: the name of a baseline file must end in .parquet or .json")
    if not os.path.isdir(os.path.dirname(os.path.realpath(path))):
        raise UsageError(f"cannot write {path}, because its folder does not exist. Create the folder first.")


def _relative(path: str | None, target: str) -> str | None:
    """Return a path relative to the folder of a file; one without a file as it is."""
    if path is None or not os.path.exists(path):
        return path
    try:
        relative = os.path.relpath(path, os.path.dirname(os.path.abspath(target)))
    except ValueError:  # another drive
        return os.path.basename(path)
    return relative.replace(os.sep, "/")
