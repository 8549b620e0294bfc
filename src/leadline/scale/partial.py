"""Evaluation of one part of a run, sums of parts, and files of saved results: merged and verified."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.ids import to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.table import Column, RunInfo, Table, columns_of, printed_table
from leadline.data.validation import check_run_name
from leadline.data.wording import counted, first_few
from leadline.errors import InputError, LeadlineError, UsageError
from leadline.evaluation.evaluate import Evaluation, RunValues
from leadline.evaluation.join import judge
from leadline.evaluation.limits import Bounds
from leadline.evaluation.merging import merge_results
from leadline.evaluation.results import Results
from leadline.evaluation.run_warnings import Returned, counts_of
from leadline.io.objects import read_qrels
from leadline.io.opening import Buffers, digest_of
from leadline.io.read_paths import public
from leadline.io.saved_results import SAVED_HINT, read_saved
from leadline.result import Result
from leadline.scale.run_parts import RunParts, is_url, local_copy

SAMPLE = 100  # queries of which values are computed again
# Options of an evaluation that a manifest has, by the keyword of `Evaluation`.
KEYWORDS: tuple[str, ...] = (
    "profile",
    "rel",
    "documents",
    "queries",
    "negative",
    "known",
    "subtopics",
    "order",
    "on_duplicate",
)
KEYWORDS += ("on_nan", "columns", "depth", "judged_only", "name_by")


@public
def merge_files(paths: Sequence[str], *, queries: str | None = None, name: str | None = None) -> Results:
    """Merge saved results that hold parts of the same runs.

    Parameters
    ----------
    paths : sequence of path
        Files that `leadline evaluate -o FILE.parquet` wrote, one per part.
    queries : {"all", "both"}, optional
        Queries that count in the means, as in `evaluate`; by default the option of the parts.
    name : str, optional
        Name of the run, where every part calls it by the name of its own file.

    Returns
    -------
    Results
        Results of the undivided runs.

    Raises
    ------
    UsageError
        If the parts were evaluated with different options, or share a query.
    """
    labels = [os.fspath(path) for path in paths]
    parts = [saved_results(path) for path in labels]
    if name is not None:
        check_run_name(name)
        for part, label in zip(parts, labels, strict=True):
            _rename(part, label, name)
    return merge_results(parts, queries=queries, labels=labels)


def _rename(part: Results, label: str, name: str) -> None:
    if len(part.runs) != 1:
        raise UsageError(
            f"the merged run can be named only if each file contains one run, but {label} contains "
            f"{counted(len(part.runs), 'run')}"
        )
    part.runs[0] = replace(part.runs[0], name=name)
    part.inputs = [info | {"run": name} if "run" in info else info for info in part.inputs]


def saved_results(path: str) -> Results:
    """Return the saved results of `evaluate` or `merge`, exactly as they were."""
    try:
        saved = read_saved(path)
    except InputError as error:
        if error.hint == SAVED_HINT:
            error.hint += ". To merge judgments, use `leadline convert QRELS QRELS MERGED`"
        raise
    results = saved.view.result
    if not isinstance(results, Results):
        found = f"only results of `evaluate` and `merge` can be merged, but this is a {saved.kind}"
        raise InputError(found, path=path)
    for key in ("bounds", "relevance_strings"):
        if results.options.get(key):
            name = key.replace("_", " ")
            raise InputError(
                f"results with {name} cannot be merged", path=path, hint=f"Evaluate the part without {name}."
            )
    results.inputs = saved.inputs
    return results


@dataclass
class Verification(Result):
    """Outcome of `verify`.

    Attributes
    ----------
    path : str
        The saved results.
    rows : int
        Number of their rows.
    checks : list of dict
        An entry for each input and for the sampled values of each run, with the keys kind, name, found and
        ok (None: could not be checked).
    """

    path: str
    rows: int = 0
    checks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def verified(self) -> bool:
        """Whether nothing differs."""
        return all(check["ok"] is not False for check in self.checks)

    def _columns(self) -> list[Column]:
        words = {True: "yes", False: "NO", None: "not checked"}
        rows = [(check["kind"], check["name"], words[check["ok"]], check["found"]) for check in self.checks]
        check, name, agrees, found = columns_of(("check", "name", "agrees", "found"), rows)
        return [check, name, agrees, found._replace(wrapped=True)]

    def _tables(self) -> list[Table]:
        outcome = "nothing differs" if self.verified else "the saved results differ from their inputs"
        unchecked = sum(check["ok"] is None for check in self.checks)
        notes = [outcome, *([f"could not check {counted(unchecked, 'row')}"] if unchecked else [])]
        return [printed_table(self._columns(), notes=notes, whole=True)]

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome and the checks."""
        return {"verified": self.verified, "checks": self.checks}

    def add(self, kind: str, name: str, found: str, *, ok: bool | None) -> None:
        """Add a check."""
        self.checks.append({"kind": kind, "name": name, "found": found, "ok": ok})


@public
def verify(path: str, *, sample: int = SAMPLE, seed: int = 0) -> Verification:
    """Verify saved results: digests of the inputs, and values of a sample of queries.

    Parameters
    ----------
    path : path
        A saved result.
    sample : int
        Number of queries whose values are computed again; 0 computes none.
    seed : int, default 0
        Seed of the sample.

    Returns
    -------
    Verification
        Every check with its outcome; `verified` is True if nothing differs.
    """
    saved = read_saved(os.fspath(path))
    results, rows = saved.view.result, getattr(saved.view.result, "values", None)
    size = rows.size if isinstance(rows, np.ndarray) else 0
    verification = Verification(os.fspath(path), size, options={"sample": sample, "seed": seed})
    unchanged = [_check_input(verification, info) for info in saved.inputs if info["path"]]
    sampled = isinstance(results, Results) and (
        results.estimates is not None
        or results.withheld is not None
        or results.options.get("pool") is not None
    )
    if sample and sampled:
        verification.add("values", "", "not recomputed: they use a sample of judgments", ok=None)
    elif sample and isinstance(results, Results) and results.undefined is not None:
        results.inputs = saved.inputs
        _check_values(verification, results, unchanged, sample, np.random.default_rng(seed))
    return verification


def _check_input(verification: Verification, info: Mapping[str, Any]) -> bool:
    """Compare the digest of an input; return whether it can be read and is unchanged."""
    path, expected = info["path"], info.get("sha256")
    try:
        if is_url(path):
            with local_copy(path) as copy:
                found: str | None = copy.sha256
        else:
            found = digest_of(path)
    except LeadlineError as error:
        verification.add("input", path, str(error), ok=None)
        return False
    if found is None or expected is None:
        what = "no such file" if found is None else "was saved without a digest"
        verification.add("input", path, what, ok=None)
        return found is not None
    same = bool(found == expected)
    verification.add(
        "input", path, "unchanged" if same else "has a different SHA-256 from the one saved", ok=same
    )
    return same


def _check_values(
    verification: Verification,
    results: Results,
    unchanged: Sequence[bool],
    sample: int,
    rng: np.random.Generator,
) -> None:
    """Compute values of a sample of queries again, from the inputs that are there and unchanged."""
    qrels, *inputs = results.inputs
    if not unchanged[0]:
        verification.add("values", "", "not recomputed: the judgments are missing or have changed", ok=None)
        return
    evaluation = _evaluation(results, qrels["path"])
    for index, name in enumerate(results.names):
        files = [
            info["path"]
            for place, info in enumerate(inputs, start=1)
            if unchanged[place]
            and (info.get("run", name) == name if "run" in info else len(results.runs) == 1)
        ]
        checked, different = 0, []
        for number in rng.permutation(len(files)).tolist():
            if checked >= sample:
                break
            part = evaluate_part(evaluation, files[number])
            count, wrong = _compared(results, index, part, sample - checked, rng)
            checked += count
            different += wrong
        if not files or not checked:
            verification.add(
                "values", name, "not recomputed: its inputs are missing or have changed", ok=None
            )
            continue
        found = f"recomputed {counted(checked, 'query', 'queries')}, and "
        found += (
            f"the values of {len(different):,} differ ({first_few(different)})"
            if different
            else "all values are equal"
        )
        verification.add("values", name, found, ok=not different)


def _evaluation(results: Results, qrels: str) -> Evaluation:
    """Return the evaluation by which results were computed."""
    options = {name: results.options[name] for name in KEYWORDS if name in results.options}
    names = ("subtopics", "qrels_columns", "queries_in")
    reading = {name: options[name] for name in names if name in options}
    table = read_qrels(qrels, kind="qrels", **reading)
    return Evaluation(table, [str(measure) for measure in results.measures], **options)


def _compared(
    results: Results, run: int, part: Partial, size: int, rng: np.random.Generator
) -> tuple[int, list[str]]:
    """Return the number of sampled queries, and those of which a value differs."""
    codes = results.queries.encode(part.queries)
    chosen = np.sort(rng.permutation(len(codes))[:size])
    saved = results.values[run][codes[chosen]]
    equal = (saved == part.values.values[chosen]) | (np.isnan(saved) & np.isnan(part.values.values[chosen]))
    wrong = ~equal.all(axis=1) | (codes[chosen] < 0)
    return len(chosen), [results.queries[int(codes[row])] for row in chosen[wrong].tolist()]


class Partial(NamedTuple):
    """Values of the judged queries of one part, and the counts of the part.

    `unjudged` are its queries without judgments, `example` the first query and document if no document is
    judged. `sha256` is the digest of a remote file.
    """

    label: str
    queries: tuple[bytes, ...]
    values: RunValues
    unjudged: tuple[bytes, ...]
    example: tuple[str, str]
    counts: dict[str, int]
    tag: str
    sha256: str | None


def evaluate_part(
    evaluation: Evaluation, part: Any, *, label: str | None = None, workspaces: Sequence[Buffers] = ()
) -> Partial:
    """Evaluate a part of a run on its own queries; every engine calls this function for every part.

    The part is a path, URL, run, mapping, table or frame of whole ranked lists; `label` is its name in
    messages, by default its path, and `workspaces` is memory to reuse. `merge_partials` puts the values
    together.

    >>> evaluation = Evaluation({"q1": {"d1": 1}, "q2": {"d1": 1}}, "AP")
    >>> partial = evaluate_part(evaluation, {"q2": {"d2": 2.0, "d1": 1.0}})
    >>> partial.queries, partial.values.values.tolist()
    ((b'q2',), [[0.5]])
    """
    is_path = isinstance(part, (str, os.PathLike))
    if label is None:
        label = os.fspath(part) if is_path else "part"
    with _readable(part, label) as (source, sha256):
        _, judged, counts = judge(
            source,
            evaluation.qrels,
            name=None if is_path else label,
            reading=evaluation.reading,
            cut=evaluation.cut,
            workspaces=workspaces,
            measures=evaluation.measures,
        )
    judged = judged.of_present()
    return Partial(
        label,
        judged.qrels.queries.names,
        evaluation.values_of(judged),
        tuple(judged.unjudged),
        (judged.example_query, judged.example),
        counts_of(judged, counts, evaluation.measures),
        counts.tag,
        sha256,
    )


@contextmanager
def _readable(part: Any, label: str) -> Iterator[tuple[Any, str | None]]:
    """Yield a readable source of a part and, for a remote file, the digest of its local copy."""
    if not isinstance(part, (str, os.PathLike)):
        yield part, None
        return
    path = os.fspath(part)
    if not is_url(path):
        yield path, None
        return
    with local_copy(path) as copy:
        try:
            yield copy.path, copy.sha256
        except InputError as error:
            if error.path != copy.path:
                raise
            raise error.at(label) from None


class PartSum:
    """The parts of one run, added up as they are finished."""

    def __init__(self, evaluation: Evaluation, name: str, *, by_tag: bool = False, hint: str = "") -> None:
        size = len(evaluation.qrels.queries)
        self.evaluation = evaluation
        self.name = name
        self.by_tag = by_tag
        self.hint = hint  # to an error about a query in two parts
        self.values: Floats = np.full((size, len(evaluation.measures)), np.nan)
        self.averaged: Flags = np.zeros(self.values.shape, dtype=np.bool_)
        self.limits: Floats | None = None
        self.available: Flags | None = None
        self.strings: list[str] | None = None if evaluation.relevance_strings is None else [""] * size
        self.part = np.full(size, -1, dtype=np.int32)  # the part that has a query
        self.returned = Returned()
        self.unjudged: dict[bytes, int] = {}
        self.counts: dict[str, int] = {}
        self.labels: dict[int, str] = {}
        self.tags: dict[int, str] = {}
        self.examples: list[tuple[str, str]] = []
        self.inputs: dict[int, dict[str, Any]] = {}

    def add(self, number: int, part: Partial) -> None:
        """Add a part; raise InputError if a query is also in another part."""
        codes = self.evaluation.qrels.queries.encode(part.queries)
        self._refuse_overlap(part, codes)
        self.part[codes] = number
        self.unjudged |= dict.fromkeys(part.unjudged, number)
        self._put(codes, part.values)
        self.returned = self.returned.plus(part.values.returned)
        for name, count in part.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.labels[number] = part.label
        self.tags[number] = part.tag
        self.examples.append(part.example)
        rows = part.counts["documents_read"]
        self.inputs[number] = {"path": part.label, "sha256": part.sha256, "rows": rows}

    def _refuse_overlap(self, part: Partial, codes: Integers) -> None:
        again = np.flatnonzero(self.part[codes] >= 0)[:1].tolist()
        judged = ((part.queries[row], int(self.part[codes[row]])) for row in again)
        unjudged = ((name, self.unjudged[name]) for name in part.unjudged if name in self.unjudged)
        for query, earlier in (*judged, *unjudged):
            raise InputError(
                f"query '{to_text(query)}' is also in {self.labels[earlier]}", path=part.label, hint=self.hint
            )

    def _put(self, codes: Integers, values: RunValues) -> None:
        self.values[codes] = values.values
        self.averaged[codes] = values.averaged
        if values.limits is not None:
            if self.limits is None:
                self.limits = np.full((len(self.values), *values.limits.limits.shape[1:]), np.nan)
            self.limits[codes] = values.limits.limits
            self.available = values.limits.available
        if self.strings is not None and values.strings is not None:
            for code, text in zip(codes.tolist(), values.strings, strict=True):
                self.strings[code] = text

    def finished(self) -> tuple[RunInfo, RunValues]:
        """Return the description and the values of the run; queries in no part have empty lists."""
        present = self.part >= 0
        missing = np.flatnonzero(~present)
        if len(missing):
            nothing = JudgedRun.of_lists(self.evaluation.qrels.of_codes(missing), [], tops=2)
            self._put(missing, self.evaluation.values_of(nothing))
        judged = any(not document for _, document in self.examples)
        example = ("", "") if judged else min(self.examples, default=("", ""), key=_by_bytes)
        tag = next((self.tags[number] for number in sorted(self.tags, reverse=True) if self.tags[number]), "")
        values = RunValues(
            self.values,
            present,
            self.averaged,
            None if self.limits is None or self.available is None else Bounds(self.limits, self.available),
            self.strings,
            example[1] if present.any() else "",
            example,
            self.returned,
        )
        counts = self.counts | {"missing_queries": len(missing)}
        name = (tag or self.name) if self.by_tag else self.name
        return RunInfo(name, tag, "", counts), values


def _by_bytes(example: tuple[str, str]) -> bytes:
    return example[0].encode("utf-8", "surrogateescape")


def merge_partials(evaluation: Evaluation, partials: Iterable[Partial], *, name: str = "run") -> Results:
    """Merge what `evaluate_part` returned for all parts of a run, in any order.

    The results are those of `evaluate` of the undivided run; its tag is that of the last part.

    >>> evaluation = Evaluation({"q1": {"d1": 1}, "q2": {"d1": 1}}, "AP")
    >>> run = {"q1": {"d1": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}
    >>> partials = [evaluate_part(evaluation, {query: scores}) for query, scores in run.items()]
    >>> merge_partials(evaluation, partials, name="bm25").mean("bm25", "AP")
    0.75
    """
    total = PartSum(evaluation, name, hint="Put each query in only one part.")
    for number, partial in enumerate(partials):
        total.add(number, partial)
    if not total.labels:
        raise UsageError("at least one part of the run is needed")
    info, values = total.finished()
    results = evaluation.results([info], [values])
    results.inputs = list(total.inputs.values())
    return results


def evaluate_batches(evaluation: Evaluation, batches: Iterable[Any]) -> Iterator[Any]:
    """Evaluate Arrow record batches; for engines that map iterators of batches, such as Spark's `mapInArrow`.

    Batches have the columns query_id, doc_id and score, and the rows of a query follow each other. Yields
    record batches of one row and column, `partial`, a pickled `Partial`.
    """
    import pickle

    import pyarrow as pa

    for part in RunParts(iter(batches)):
        payload = pickle.dumps(evaluate_part(evaluation, part))
        yield pa.record_batch([pa.array([payload], type=pa.binary())], names=["partial"])
