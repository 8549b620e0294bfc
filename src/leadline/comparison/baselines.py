"""Baselines kept in a file: values of queries that later runs are compared with."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.comparison.pairing import Pairs, joined_place
from leadline.comparison.sentences import lacking_text
from leadline.data.arrays import Flags, Floats
from leadline.data.qrels import Qrels
from leadline.data.results import Results, ResultWarning, RunInfo, flagged
from leadline.errors import InputError, UsageError
from leadline.io.opening import PARQUET, digest_of
from leadline.io.read_paths import record_input
from leadline.io.result_files import saved_data
from leadline.io.sealed_files import check_json

BASELINE_MISSING = "baseline_missing_queries"  # code of the warning of queries that a baseline lacks
SUFFIX = " (baseline)"  # of the names of runs of a file
JUDGMENTS = "judgments_sha256"  # key of an input: hash of the judgments whatever their order and format
EXPECTED = "a file of --update-baseline, of --save, or JSON of evaluate --per-query"
# Options that change no value: what is checked apart (measures), names, and what is added to values.
NEUTRAL = {
    "measures",
    "rel",
    "columns",
    "name_by",
    "relevance_strings",
    "bounds",
    "machine",
    "intervals",
    "confidence",
    "seed",
}


class Fingerprint(NamedTuple):
    """Hashes of judgments.

    Attributes
    ----------
    judgments : str
        SHA-256 of the judgments, whatever their order, format and compression.
    file : str or None
        SHA-256 of the file they were read from; None if they are not from one file.
    size : int
        Number of judged documents.
    """

    judgments: str
    file: str | None
    size: int


def fingerprint(qrels: Qrels) -> Fingerprint:
    """Return the hashes of judgments.

    >>> one = fingerprint(Qrels({"q1": {"d1": 1, "d2": 0}}))
    >>> one.judgments == fingerprint(Qrels({"q1": {"d2": 0, "d1": 1}})).judgments
    True
    >>> one.judgments == fingerprint(Qrels({"q1": {"d2": 1, "d1": 0}})).judgments
    False
    """
    documents, names = list(qrels.documents), qrels.queries.names
    owner = np.repeat(np.arange(len(names)), qrels.end - qrels.begin)
    rows = np.concatenate([np.arange(low, high) for low, high in zip(qrels.begin, qrels.end, strict=True)])
    keys = {
        int(row): b"%d %b %d %b" % (len(names[query]), names[query], len(documents[row]), documents[row])
        for row, query in zip(rows.tolist(), owner.tolist(), strict=True)
    }
    lines = [b"%b %r" % (key, float(qrels.grades[row])) for row, key in keys.items()]
    if qrels.subtopics is not None:
        parts = zip(
            *(column.tolist() for column in (qrels.subtopics.row, qrels.subtopics.code)),
            qrels.subtopics.grades.tolist(),
            strict=True,
        )
        lines += [
            b"%b in %b %r" % (keys[row], qrels.subtopics.names.names[code], float(grade))
            for row, code, grade in parts
        ]
    if qrels.inclusion is not None:
        lines += [b"%b with %r" % (key, float(qrels.inclusion[row])) for row, key in keys.items()]
    digest = hashlib.sha256(qrels.queries.digest.encode())
    for line in sorted(lines):
        digest.update(line + b"\n")
    source = qrels.sources[0] if len(qrels.sources) == 1 else None
    return Fingerprint(digest.hexdigest(), None if source is None else digest_of(source), len(qrels.grades))


class Baseline(NamedTuple):
    """A file of values of queries.

    Attributes
    ----------
    path : str
        The file.
    data : dict
        Its content in the form of the JSON of `evaluate --per-query`.
    """

    path: str
    data: dict[str, Any]

    @property
    def measures(self) -> list[str]:
        """Names of the measures."""
        return list(map(str, self.data["measures"]))

    @property
    def names(self) -> list[str]:
        """Names of the runs."""
        return [run["name"] for run in self.data["runs"]]

    @property
    def judgments(self) -> Mapping[str, Any]:
        """Path, hashes and number of the judgments, as far as they are known."""
        inputs = self.data.get("inputs") or [{}]
        return inputs[0] if isinstance(inputs[0], Mapping) else {}

    def to_dict(self) -> dict[str, Any]:
        """Return a description of the file for JSON."""
        return {
            "path": self.path,
            "sha256": digest_of(self.path),
            "leadline": self.data.get("leadline"),
            "runs": self.names,
            "measures": self.measures,
            "queries": len(self.data["queries"]),
        }


def is_baseline(path: str) -> bool:
    """Return whether a file holds values of queries, rather than a run."""
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
    except (OSError, ValueError):
        return False
    if head.startswith(PARQUET):
        try:
            saved_data(path)
        except InputError:
            return False
        return True
    compact = b"".join(head.split())
    return compact.startswith((b'{"leadline":', b'{"format":'))


def read_baseline(path: str, *, to_update: bool = False) -> Baseline:
    """Read a baseline."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError("is not a file", expected=EXPECTED, path=path)
    if not to_update:
        record_input(path)
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise InputError(
            f"the baseline cannot be read ({error.strerror})",
            expected=f"{EXPECTED}; --update-baseline writes it",
            path=path,
        ) from None
    if content.startswith(PARQUET):
        data: Any = saved_data(path, to_update=to_update)
    else:
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            data = None
        check_json(data, path)
    if not isinstance(data, dict):
        raise InputError("no values of queries", expected=EXPECTED, path=path)
    _check_form(data, path)
    return Baseline(path, data)


def _check_form(data: Mapping[str, Any], path: str) -> None:
    """Raise InputError for content of another form than that of `Results.to_dict(per_query=True)`."""
    for key in ("measures", "queries", "runs"):
        if not isinstance(data.get(key), list) or not data[key]:
            raise InputError(f"no list '{key}'", expected=EXPECTED, path=path)
    for run in data["runs"]:
        if isinstance(run, dict) and "estimate" in run:
            raise InputError("estimates from a sample of judgments", expected=EXPECTED, path=path)
        parts = (run.get("queries"), run.get("mean")) if isinstance(run, dict) else ()
        if not parts or not isinstance(run.get("name"), str) or not all(isinstance(p, dict) for p in parts):
            raise InputError("a run without values of queries", expected=EXPECTED, path=path)
    if not isinstance(data.get("options"), dict):
        raise InputError("no options of the evaluation", expected=EXPECTED, path=path)


def check_same(results: Results, baseline: Baseline, judged: Fingerprint) -> None:
    """Raise UsageError if a baseline has other judgments, measures or options than results; name them."""
    found = [
        *_other_judgments(baseline.judgments, judged),
        *_other_measures(results, baseline),
        *_other_options(results.options, baseline.data["options"]),
    ]
    if found:
        raise UsageError(
            f"{baseline.path} does not fit: {'; '.join(found)}; expected the same, or the baseline written "
            "again (--update-baseline --config output.force_update)"
        )


def _other_judgments(known: Mapping[str, Any], judged: Fingerprint) -> list[str]:
    then, now = known.get(JUDGMENTS), judged.judgments
    if not isinstance(then, str):
        then, now = known.get("sha256"), judged.file or ""
    if not isinstance(then, str):
        return ["it does not say which judgments it was computed from"]
    if not now:
        return ["judgments in memory cannot be compared with the hash of a file"]
    if then == now:
        return []
    rows = known.get("rows")
    many = f", {rows:,} judgments then and {judged.size:,} now" if isinstance(rows, int) else ""
    return [f"other judgments (SHA-256 {then[:12]} then, {now[:12]} now{many})"]


def _other_measures(results: Results, baseline: Baseline) -> list[str]:
    lacking = [str(measure) for measure in results.measures if str(measure) not in baseline.measures]
    if not lacking:
        return []
    return [f"it has no {', '.join(lacking)} (it has {', '.join(baseline.measures)})"]


def _other_options(options: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """Return the options that may change values and differ; one that the file lacks had its default."""
    differing = []
    for name, now in options.items():
        if name in NEUTRAL:
            continue
        then = known.get(name, now if not now else None)
        if then != now:
            differing.append(f"{name.replace('_', '-')} {_shown(then)} then and {_shown(now)} now")
    return differing


def _shown(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def with_baseline(results: Results, baseline: Baseline, judged: Fingerprint) -> tuple[Results, Pairs]:
    """Return results with the runs of a baseline added, and the pairs to compare.

    If the baseline has one run, every run of the results is compared with it; if it has several, each run is
    compared with the one of its name.
    """
    refuse_estimates(results)
    check_same(results, baseline, judged)
    pairs = _pairs(results.names, baseline)
    values, averaged, present, without_mean = _values(results, baseline)
    infos = [
        RunInfo(run["name"] + SUFFIX, str(run.get("tag") or ""), counts=dict(run.get("counts") or {}))
        for run in baseline.data["runs"]
    ]
    together = Results(
        [*results.runs, *infos],
        results.queries,
        results.measures,
        np.concatenate([results.values, values]),
        np.concatenate([results.averaged, averaged]),
        present=np.concatenate([results.present, present]),
        without_mean=np.concatenate([results.without_mean, without_mean]),
        warnings=[*results.warnings, *_missing_notes(infos, present, list(results.queries), baseline.path)],
        options=results.options,
        inputs=results.inputs,
        resolve=results._resolve,  # noqa: SLF001  # the same class
    )
    _check_means(together.means[len(results.runs) :], baseline, list(map(str, results.measures)))
    return together, pairs


def refuse_estimates(results: Results) -> None:
    """Raise UsageError for estimates, whose sampling errors no baseline file keeps."""
    if results.sampling is not None:
        raise UsageError(
            "estimates from a sample of judgments with a baseline file, which does not keep their sampling "
            "errors; expected the baseline among the runs (--baseline RUN)"
        )


def _pairs(names: Sequence[str], baseline: Baseline) -> Pairs:
    known = baseline.names
    if len(known) == 1:
        places: list[int | None] = [0] * len(names)
    else:
        places = [joined_place(known, name) for name in names]
        lacking = [name for name, place in zip(names, places, strict=True) if place is None]
        if lacking:
            raise UsageError(
                f"{baseline.path} has no run '{lacking[0]}'; with several runs each is compared with the one "
                f"of its name: {', '.join(known[:5])}" + (", ..." if len(known) > 5 else "")
            )
    twice = [name for name in names if name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in known]
    if twice:
        raise UsageError(f"run '{twice[0]}' has the name of a run of {baseline.path}; expected another")
    first = np.arange(len(names), dtype=np.int64)
    return Pairs(first, np.array(places, dtype=np.int64) + len(names))


def _values(results: Results, baseline: Baseline) -> tuple[Floats, Flags, Flags, Flags]:
    """Return values, flags of averaged and of present queries, and flags of runs without a mean."""
    texts, queries = list(map(str, results.measures)), list(results.queries)
    cells = [
        [[_number(run["queries"].get(query), text) for text in texts] for query in queries]
        for run in baseline.data["runs"]
    ]
    values = np.array(cells, dtype=np.float64).reshape(-1, len(queries), len(texts))
    present = present_in(baseline.data["runs"], queries, values)
    averaging = results.options.get("queries")
    if averaging == "both":
        averaged = np.broadcast_to(present[:, :, None], values.shape).copy()
    else:  # by the judgments alone, which are the same
        averaged = np.broadcast_to(results.averaged[:1], values.shape).copy()
    undefined = [all(run["mean"].get(text) is None for text in texts) for run in baseline.data["runs"]]
    without = np.array(undefined, dtype=np.bool_) & (averaging == "complete")
    return values, averaged, present, without


def present_in(runs: Sequence[Mapping[str, Any]], queries: Sequence[str], values: Floats) -> Flags:
    """Return which queries the runs of JSON have: those not listed as missing, where there is such a list."""
    flags = np.array(~np.isnan(values).all(axis=2), dtype=np.bool_)
    for row, run in enumerate(runs):
        missing = run.get("missing")
        if isinstance(missing, list):
            names = set(map(str, missing))
            flags[row] = [query not in names for query in queries]
    return flags


def _missing_notes(
    infos: Sequence[RunInfo], present: Flags, queries: Sequence[str], path: str
) -> list[ResultWarning]:
    """Return a warning of the judged queries that runs of a baseline file lack."""
    found = []
    for info, row in zip(infos, present, strict=True):
        names = flagged(queries, ~row)
        if names:
            words = f"{path}: {lacking_text(names)} in {info.name}, of {len(queries):,}; written all the same"
            found.append(ResultWarning(BASELINE_MISSING, words, len(names)))
    return found


def _number(row: object, text: str) -> float:
    value = row.get(text) if isinstance(row, Mapping) else None
    return float(value) if isinstance(value, (int, float)) else np.nan


def _check_means(means: Floats, baseline: Baseline, texts: Sequence[str]) -> None:
    """Raise InputError if the means of the values in the file are not the means in the file."""
    known = np.array(
        [[_number(run["mean"], text) for text in texts] for run in baseline.data["runs"]], dtype=np.float64
    )
    if not np.allclose(means, known, rtol=1e-12, atol=1e-12, equal_nan=True):
        wrong = texts[
            int(np.argwhere(~np.isclose(means, known, rtol=1e-12, atol=1e-12, equal_nan=True))[0][1])
        ]
        raise InputError(
            f"the mean of {wrong} is not that of the values of queries",
            expected="a file as it was written",
            path=baseline.path,
        )
