"""One file per format; here are the doors through which any input comes in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from leadline.errors import InputError, UsageError
from leadline.formats import trec_qrels, trec_run
from leadline.formats.opening import Workspace, run_name
from leadline.formats.trec_lists import Repair
from leadline.formats.trec_run import Tally
from leadline.judged import Judged
from leadline.qrels import Qrels
from leadline.run import Run

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

RunLike: TypeAlias = (
    "str | os.PathLike[str] | Run | Mapping[str, Mapping[str, float]] | IntoDataFrame"
)
QrelsLike: TypeAlias = (
    "str | os.PathLike[str] | Qrels | Mapping[str, Mapping[str, float]] | IntoDataFrame"
)

__all__ = [
    "QrelsLike",
    "Repair",
    "RunLike",
    "Tally",
    "Workspace",
    "judge",
    "read_qrels",
    "read_run",
    "run_name",
]


def read_qrels(source: QrelsLike, *, negative: str = "nonrelevant") -> Qrels:
    """Read judgments from a file, a `{query: {document: grade}}` dictionary or a data frame.

    A negative grade means pooled but not judged: gain 0, non-relevant in rank measures, no judgment in
    bpref and Judged. `negative="unjudged"` leaves such documents out altogether.

    >>> read_qrels({"q1": {"d1": 1, "d2": 0}})
    Qrels(1 queries, 2 judgments)
    """
    if negative not in ("nonrelevant", "unjudged"):
        raise UsageError(f"negative={negative!r}; expected 'nonrelevant' or 'unjudged'")
    qrels = _qrels(source)
    if negative == "unjudged" and (qrels.grades < 0).any():
        return qrels.keep(qrels.grades >= 0)
    return qrels


def _qrels(source: Any) -> Qrels:
    if isinstance(source, Qrels):
        return source
    if isinstance(source, (str, os.PathLike)):
        return trec_qrels.read(os.fspath(source))
    if isinstance(source, Mapping):
        from leadline.formats import mappings

        return mappings.qrels(source)
    from leadline.formats import frames

    return frames.qrels(source)


def read_run(
    source: RunLike,
    *,
    name: str | None = None,
    order: str = "score",
    on_duplicate: str = "refuse",
    on_nan: str = "refuse",
) -> Run:
    """Read a run from a file, a `{query: {document: score}}` dictionary or a data frame.

    >>> read_run({"q1": {"d1": 0.5, "d2": 0.7}}, name="mine")
    Run('mine', 1 queries, 2 rows)
    """
    repair = repair_of(order, on_duplicate, on_nan)
    if isinstance(source, (str, os.PathLike)):
        return trec_run.read(os.fspath(source), repair=repair, name=name)[0]
    return _run_in_memory(source, name)


def _run_in_memory(source: Any, name: str | None) -> Run:
    if isinstance(source, Run):
        return source
    if isinstance(source, Mapping):
        from leadline.formats import mappings

        return mappings.run(source, name=name or "run")
    from leadline.formats import frames

    return frames.run(source, name=name or "run")


def judge(
    source: RunLike,
    qrels: Qrels,
    *,
    repair: Repair | None = None,
    narrow: bool = False,
    depth: int | None = None,
    judged_only: bool = False,
    name: str | None = None,
    workspaces: Sequence[Workspace] = (),
) -> tuple[str, Judged, Tally]:
    """Join any run with the qrels; a file is streamed and never held whole. Gives its name too."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        judged, tally = trec_run.judge(
            path, qrels, repair=repair, narrow=narrow, depth=depth, judged_only=judged_only,
            workspaces=workspaces,
        )  # fmt: skip
        return name or run_name(path), judged, tally
    run = _run_in_memory(source, name)
    if not len(run):
        raise InputError("holds no documents", expected="a run", path=run.name)
    judged = Judged.of_run(run, qrels, narrow=narrow, depth=depth, judged_only=judged_only)
    unjudged = [query for query in run.queries if qrels.queries.code(query) is None]
    tally = Tally(
        rows=len(run), queries=len(run.queries), tag=run.tag,
        unjudged_queries=len(unjudged), unjudged_query=next(iter(unjudged), ""),
    )  # fmt: skip
    return name or run.name, judged, tally


def repair_of(order: str, on_duplicate: str, on_nan: str) -> Repair:
    """Check what to do with faults in a run."""
    for label, value, allowed in (
        ("order", order, ("score", "rank")),
        ("on_duplicate", on_duplicate, ("refuse", "first", "last", "max", "hold")),
        ("on_nan", on_nan, ("refuse", "drop")),
    ):
        if value not in allowed:
            raise UsageError(f"{label}={value!r}; expected " + " or ".join(map(repr, allowed)))
    return Repair(on_duplicate=on_duplicate, on_nan=on_nan, order=order)
