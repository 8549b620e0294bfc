"""Evaluation of a run in parts, and of many runs, by one of the engines."""

from __future__ import annotations

import os
import re
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, BinaryIO, Unpack

from leadline.data.reading import Reading
from leadline.data.validation import check_word
from leadline.errors import InputError, LeadlineError, UsageError, punctuated, sentences
from leadline.evaluation.evaluate import Evaluation, PartOptions, evaluate
from leadline.evaluation.join import named_sources, refuse_equal_names
from leadline.evaluation.merging import failed_warnings
from leadline.evaluation.results import Results
from leadline.io.formats import TREC, opened
from leadline.io.opening import Buffers, Chunk
from leadline.io.read import UNNAMED, QrelsLike, RunLike
from leadline.io.read_paths import public, record_input, release_input, with_words_of
from leadline.io.run_names import STANDARD_INPUT
from leadline.io.run_names import run_name as name_of
from leadline.io.selection import NOTHING_LEFT
from leadline.kernels import plain
from leadline.scale.engines import Engine, Fault, Unit, engine_of
from leadline.scale.run_parts import PartSum, RunParts, local_file

OVERLAP = "To group the rows of each query first, add --group-parts (only for TREC text)."


class PartsFailedError(LeadlineError):
    """Parts have no values; `results` are those of the other parts, None if there are none."""

    def __init__(self, faults: Mapping[str, str], results: Results | None) -> None:
        self.faults = dict(faults)
        self.results = results
        super().__init__(faults, results)

    def __str__(self) -> str:
        """Return what happened to every part, in one line."""
        return punctuated(
            sentences(
                *(text if text.startswith(path) else f"{path}: {text}" for path, text in self.faults.items())
            )
        )


@public
@with_words_of(evaluate)
def evaluate_parts(
    qrels: QrelsLike,
    parts: RunParts | RunLike | Iterable[Any],
    measures: Any = None,
    *,
    engine: str | Engine = "local",
    group_parts: bool = False,
    on_fault: str = "stop",
    on_part: Callable[[int, int], None] | None = None,
    **options: Unpack[PartOptions],
) -> Results:
    """Evaluate one run in several parts; the results are those of the undivided run.

    `parts` are RunParts, a path, or an iterable of paths, tables or record batches, with every query in one
    of them. `engine` is "local" (threads of this process), "processes", "processes:N", "dask", "dask:N", or
    "dask:tcp://HOST:PORT" for a cluster that runs already. `group_parts` allows a query in several parts:
    TREC text is first copied to one temporary file. `on_fault` is "stop", or "continue" to evaluate the
    others where a part fails. `on_part` is called after each part with the numbers of finished and of all
    parts (0: unknown). `options` are those of `evaluate`. The `inputs` of the results are the parts.

    Raises
    ------
    InputError
        If a part is empty or cannot be read, or a query is in two parts.
    PartsFailedError
        If parts failed with `on_fault="continue"`; it has the results of the others.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    >>> parts = [{"q1": {"d1": 1.0}}, {"q2": {"d2": 2.0, "d1": 1.0}}]
    >>> evaluate_parts(qrels, RunParts(parts, name="bm25"), "AP").mean("bm25", "AP")
    0.75
    """
    given = parts if isinstance(parts, RunParts) else RunParts(parts)
    evaluation = Evaluation(qrels, measures, **options)
    if evaluation.reading.by_tag:
        raise UsageError("a run in parts cannot be named after its tag. Leave out --config read.name_by=tag.")
    if not group_parts:
        return evaluated(evaluation, [given], engine, on_fault, on_part)
    with grouped_parts(given, evaluation.reading) as (grouped, inputs):
        results = evaluated(evaluation, [grouped], engine, "stop", on_part)
    results.inputs = inputs
    return results


@public
@with_words_of(evaluate)
def evaluate_runs(
    qrels: QrelsLike,
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike],
    measures: Any = None,
    *,
    engine: str | Engine = "local",
    on_fault: str = "stop",
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[PartOptions],
) -> Results:
    """Evaluate many runs by an engine; the results are those of `evaluate`.

    >>> runs = {"one": {"q1": {"d1": 1.0}}, "two": {"q1": {"d2": 1.0}}}
    >>> evaluate_runs({"q1": {"d1": 1}}, runs, "AP").means.tolist()
    [[1.0], [0.0]]
    """
    evaluation = Evaluation(qrels, measures, **options)
    sources = [
        RunParts(
            [source],
            name=name or (name_of(source) if isinstance(source, str) else getattr(source, "name", UNNAMED)),
        )
        for name, source in named_sources(runs)
    ]
    results = evaluated(evaluation, sources, engine, on_fault, on_run)
    refuse_equal_names(results.runs, by_tag=evaluation.reading.by_tag)
    return results


def _units(runs: list[RunParts], engine: Engine) -> Iterator[Unit]:
    """Yield the parts of all runs, with their labels in messages."""
    for run, parts in enumerate(runs):
        for number, source in enumerate(parts):
            if not isinstance(source, str):
                yield Unit(run, number, source, parts.name if len(runs) > 1 else f"part {number + 1}")
                continue
            if source == STANDARD_INPUT and engine.kind != "local":
                raise UsageError(f"engine {engine} cannot read '-' (standard input). Pass files instead.")
            record_input(source)
            yield Unit(run, number, source, source)


def evaluated(
    evaluation: Evaluation,
    runs: list[RunParts],
    engine: str | Engine,
    on_fault: str,
    on_part: Callable[[int, int], None] | None,
) -> Results:
    """Evaluate the parts of runs and put them together."""
    check_word(("stop", "continue"), on_fault=on_fault)
    chosen = engine if isinstance(engine, Engine) else engine_of(engine)
    if evaluation.qrels.inclusion is not None:
        raise UsageError(
            "runs cannot be evaluated in parts or by an engine if the judgments have inclusion "
            "probabilities. Use judgments without probabilities, or leave out --parts and --engine (in "
            "Python, use `leadline.evaluate`)."
        )
    by_tag = evaluation.reading.by_tag
    sums = [PartSum(evaluation, parts.name, by_tag=by_tag, hint=OVERLAP) for parts in runs]
    faults: dict[str, str] = {}
    sizes = [parts.size for parts in runs]
    total = sum(size or 0 for size in sizes) if all(sizes) else 0
    with closing(chosen.evaluate(evaluation, _units(runs, chosen))) as outcomes:
        for finished, (unit, outcome) in enumerate(outcomes, start=1):
            error = outcome.error if isinstance(outcome, Fault) else None
            if isinstance(error, InputError) and error.code == NOTHING_LEFT and sizes[unit.run] != 1:
                sums[unit.run].add_nothing(unit.part, unit.label, error)
            elif isinstance(outcome, Fault):
                if on_fault == "stop":
                    raise outcome.error or InputError(outcome.text, path=unit.label)
                faults[unit.label] = outcome.text
            else:
                sums[unit.run].add(unit.part, outcome)
            if on_part:
                on_part(finished, total)
    if not faults:
        return _results(evaluation, sums)
    complete = [each for each in sums if each.labels]
    results = _results(evaluation, complete) if complete else None
    if results is not None:
        results.options["failed_parts" if len(runs) == 1 else "failed_runs"] = list(faults)
        results.warnings += failed_warnings(results.options)
    raise PartsFailedError(faults, results)


def _results(evaluation: Evaluation, sums: list[PartSum]) -> Results:
    infos, values = zip(*(each.finished() for each in sums), strict=True)
    results = evaluation.results(list(infos), list(values))
    results.inputs = [
        each.inputs[number] | {"run": info.name}
        for each, info in zip(sums, infos, strict=True)
        for number in sorted(each.inputs)
    ]
    return results


@contextmanager
def grouped_parts(parts: RunParts, reading: Reading) -> Iterator[tuple[RunParts, list[dict[str, Any]]]]:
    """Copy the lines of all parts, which are TREC text, to a file, of which the reader groups the queries."""
    with tempfile.TemporaryDirectory(prefix="leadline-parts-") as folder:
        copy = os.path.join(folder, "run")
        inputs: list[dict[str, Any]] = []
        begins: list[int] = []  # number of lines before each part
        lines = 0
        with open(copy, "wb") as target:
            for path in parts:
                if not isinstance(path, str):
                    raise InputError("--group-parts needs files, but a part is in memory", path=parts.name)
                with local_file(path) as (local, sha256):
                    begins.append(lines)
                    count, rows = _copy_lines(local, path, reading, target)
                lines += count
                inputs.append({"path": path, "sha256": sha256, "rows": rows, "run": parts.name})
        try:
            yield RunParts([copy], name=parts.name), inputs
            release_input(copy)
        except InputError as error:
            if error.path != copy:
                raise
            if error.line is None:
                raise error.at(parts.name) from None
            found = re.sub(r" \(first at line \d+\)", "", error.found)  # which is a line of the copy
            part = bisect_left(begins, error.line) - 1
            raise error.at(inputs[part]["path"], error.line - begins[part], found=found) from None


def _copy_lines(path: str, label: str, reading: Reading, target: BinaryIO) -> tuple[int, int]:
    """Copy the lines of a part, of remarks at its top only the ends; return the numbers of lines and rows."""
    source = opened(path)
    if source.format is not TREC or reading.columns is not None:
        hint = "Convert each part with `leadline convert -C read.kind=run`, or leave out --group-parts"
        raise InputError("--group-parts reads only runs in TREC format", path=label, hint=hint)
    count = rows = 0
    with Chunk(path, Buffers()) as window:
        begin = 0
        while not window.last:
            window.advance(begin)
            text = window.content()
            if not count:
                top = plain.after_remarks(text)[0]
                text = b"\n" * text.count(b"\n", 0, top) + text[top:]
            target.write(text)
            count += text.count(b"\n")
            rows += sum(map(bool, map(bytes.strip, text.split(b"\n"))))
            begin = window.end
    if not rows:
        raise InputError("contains no run lines", path=label)
    return count, rows
