"""Evaluation of one part of a run, on its own queries, and the sum of the parts of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.ids import to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.table import RunInfo
from leadline.errors import InputError, UsageError
from leadline.evaluation.evaluate import Evaluation, RunValues
from leadline.evaluation.join import judge
from leadline.evaluation.limits import Bounds
from leadline.evaluation.results import Results
from leadline.evaluation.run_warnings import Returned, counts_of
from leadline.io.opening import Buffers
from leadline.scale.run_parts import NO_PARTS, RunParts, is_url, local_copy


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
        self.nothing: InputError | None = None  # why the last part without selected queries has no values

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

    def add_nothing(self, number: int, label: str, error: InputError) -> None:
        """Add a part of which the selection leaves nothing."""
        self.nothing = error
        self.inputs[number] = {"path": label, "sha256": None, "rows": 0}

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
        if not self.labels:
            raise UsageError(NO_PARTS) if self.nothing is None else self.nothing.at(self.name)
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
