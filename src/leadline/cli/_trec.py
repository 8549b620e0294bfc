"""Compatibility of `evaluate` with trec_eval: its options, and the format `-f trec`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.data.registry import split_names
from leadline.errors import one_of
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.profiles import BY_LEVEL, BY_RANK, NAMES, ONLY_MEAN, Request, name_of, profile_of
from leadline.evaluation.results import Results
from leadline.io.objects import Qrels
from leadline.measures import Measure


def queries_of(queries: str | None, *, complete: bool) -> str | None:
    """Return the queries of the mean from `scores.queries` and `-c`."""
    one_of({"-c": complete, f"--config scores.queries={queries}": queries not in (None, "all")})
    return "all" if complete else queries


def evaluate_as_trec(
    qrels: Qrels,
    runs: Sequence[str],
    measures: Sequence[str],
    *,
    rel: float | None,
    by: Callable[..., Results] = evaluate,
    **options: Any,
) -> tuple[Results, Callable[..., str]]:
    """Evaluate the measures that trec_eval prints; return the results and a function that formats them.

    `by` is `evaluate`, or a function with its parameters.
    """
    profile = profile_of(options["profile"])
    texts = [text.strip() for given in measures or ["official"] for text in split_names(given)]
    # As in trec_eval, parameters of a measure replace its defaults, also those in a group.
    replaced = {name for name, dot, _ in (text.partition(".") for text in texts) if dot} & {*NAMES}
    texts = [text for text in texts if text not in replaced]
    asked = [
        one
        for one in profile.requests(texts, rel=rel, documents=options["documents"])
        if one.given or one.family not in replaced
    ]
    wanted = dict.fromkeys(one.measure for one in asked if one.measure is not None)
    lengths = [one.length for one in asked if one.family == "relstring"]
    results = by(
        qrels,
        runs,
        list(wanted) or "NumQ",
        rel=rel,
        relevance_strings=lengths[-1] if lengths else None,
        **options,
    )

    def lines(*, per_query: bool, means: bool) -> str:
        return write(
            results,
            asked,
            rel=1.0 if rel is None else rel,
            per_query=per_query,
            means=means,
            prints_missing=profile.prints_missing,
        )

    return results, lines


class Line(NamedTuple):
    """One line of a block: sort key, name and family, and the column of its values."""

    order: tuple[int, float]
    name: str
    family: str
    column: int | None
    whole: bool


def write(
    results: Results,
    requests: Sequence[Request],
    *,
    rel: float = 1.0,
    per_query: bool = False,
    means: bool = True,
    prints_missing: bool = True,
) -> str:
    """Return results in trec_eval's format, one run after the other; undefined values are 0.0000."""
    lines = lines_of(results, requests, rel=rel)
    written: list[str] = []
    for run in range(len(results.runs)):
        if per_query:
            queries = results.present[run]
            if prints_missing and not results.without_mean[run]:
                queries = queries | results.averaged[run].all(axis=1)
            written += _of_queries(results, lines, run, np.flatnonzero(queries).tolist())
        if means and not results.without_mean[run] and results.averaged[run].any():
            written.append(_of_all(results, lines, run))
    return "".join(written)


def lines_of(results: Results, requests: Sequence[Request], *, rel: float = 1.0) -> list[Line]:
    """Return the lines of a block in trec_eval's order; measures unknown to trec_eval come last."""
    replaced = {request.family for request in requests if request.given}
    columns = {measure: index for index, measure in enumerate(results.measures)}
    by_name: dict[str, Line] = {}
    for index, request in enumerate(requests):
        if request.family in replaced and not request.given:
            continue  # explicit parameters replace those of a group
        name, family = request.name, request.family
        if request.measure is not None and not family:
            name, family = name_of(request.measure, rel=rel) or (str(request.measure), "")
        column = None if request.measure is None else columns[request.measure]
        whole = request.measure is not None and request.measure.average == "sum"
        order = (len(NAMES), float(index))
        if family:
            order = (NAMES.index(family), _within(family, request.measure))
        by_name.setdefault(name, Line(order, name, family, column, whole))
    return sorted(by_name.values(), key=lambda line: line.order)


def _within(family: str, measure: Measure | None) -> float:
    """Return the cutoff or level by which the lines of a family are sorted."""
    if measure is None or family not in BY_RANK | BY_LEVEL:
        return 0.0
    return float(getattr(measure, measure.cutoff_name() or ""))


def _block(lines: Sequence[Line]) -> str:
    """Return the template of a block, with `%` for each value and a zero byte for the query."""
    return "".join(f"{line.name:<22}\t\0\t{_form(line)}\n" for line in lines)


def _form(line: Line) -> str:
    if line.column is None:
        return "'%s'" if line.family == "relstring" else "%s"
    return "%.0f" if line.whole else "%6.4f"


def _of_queries(results: Results, lines: Sequence[Line], run: int, queries: Sequence[int]) -> Iterator[str]:
    """Yield the block of every query."""
    lines = [line for line in lines if line.family not in {*ONLY_MEAN, "runid"}]
    columns = [line.column for line in lines]
    block = _block(lines)
    values = np.nan_to_num(results.values[run])
    for query in queries:
        row = values[query].tolist()
        text = results.relevance_strings[run][query] if results.relevance_strings else ""
        cells = (text if column is None else row[column] for column in columns)
        yield block.replace("\0", results.queries[query].replace("%", "%%")) % tuple(cells)


def _of_all(results: Results, lines: Sequence[Line], run: int) -> str:
    """Return the block of the means."""
    lines = [line for line in lines if line.family != "relstring"]
    values = np.nan_to_num(results.means[run]).tolist()
    tag = results.runs[run].tag or results.runs[run].name
    cells = (tag if line.column is None else values[line.column] for line in lines)
    return _block(lines).replace("\0", "all") % tuple(cells)
