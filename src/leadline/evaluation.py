"""Evaluate runs against judgments: run + qrels + measures -> Results, in one pass over each run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from leadline.arrays import Flags, Floats
from leadline.errors import UsageError
from leadline.formats import QrelsLike, RunLike, Workspace, judge, read_qrels, repair_of
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.notices import counts_of, notices_of
from leadline.profiles import Averaging, profile_of
from leadline.results import Results, RunInfo

T = TypeVar("T")
# More threads than this wait for each other: numpy holds the interpreter's lock between kernels.
MOST_THREADS = 4
DEFAULT_MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@100", "Judged@10")


def evaluate(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure] | str | Measure | None = None,
    *,
    profile: str = "leadline",
    rel: float | None = None,
    queries: Averaging | None = None,
    negative: str = "nonrelevant",
    known: str | None = None,
    order: str = "score",
    on_duplicate: str = "refuse",
    on_nan: str = "refuse",
    depth: int | None = None,
    judged_only: bool = False,
    name_by: str = "file",
    on_run: Callable[[int, int], None] | None = None,
) -> Results:
    """Evaluate runs against judgments.

    Every query of the qrels counts: a measure of a query that a run lacks or that has nothing relevant
    counts 0 in the mean, and is counted in `notices` (`queries="both"` averages over the queries of both,
    `"with_relevant"` over those with something relevant). `rel` is the least grade that is relevant, for
    measures that were not given one. `on_run(done, total)` is called after each run.

    >>> qrels = {"q1": {"d1": 1, "d2": 0}}
    >>> results = evaluate(qrels, {"q1": {"d2": 2.0, "d1": 1.0}}, ["AP", "nDCG@10"])
    >>> results.mean("run", "AP")
    0.5
    """
    chosen = profile_of(profile)
    wanted = chosen.measures(_listed(measures), rel=rel)
    averaging = queries or chosen.queries
    if averaging not in ("all", "both", "with_relevant", "complete"):
        raise UsageError(f"queries={averaging!r}; expected 'all', 'both' or 'with_relevant'")
    table = read_qrels(qrels, negative=negative)
    if known is not None:
        from leadline.formats import known as known_documents

        table = table.with_known(known_documents.read(known))
    repair = repair_of(order, on_duplicate, on_nan)

    def one(
        name: str | None, source: RunLike, workspaces: Sequence[Workspace]
    ) -> tuple[RunInfo, Floats, Flags]:
        name, judged, tally = judge(
            source, table, name=name, repair=repair, narrow=chosen.narrow, depth=depth,
            judged_only=judged_only, workspaces=workspaces,
        )  # fmt: skip
        values = np.stack([measure.values(judged) for measure in wanted], axis=1)
        info = RunInfo(
            name=(tally.tag or name) if name_by == "tag" else name,
            tag=tally.tag,
            path=os.fspath(source) if isinstance(source, (str, os.PathLike)) else "",
            counts=counts_of(judged, tally, wanted, values),
        )
        return info, values, _averaged(judged, wanted, averaging)

    infos, values, averaged = zip(*_each(one, named_sources(runs), on_run), strict=True)
    _refuse_equal_names(infos)
    missing = np.array([info.counts["missing_queries"] > 0 for info in infos])
    return Results(
        infos,
        table.queries,
        wanted,
        np.stack(values),
        np.stack(averaged),
        without_mean=missing & (averaging == "complete"),
        notices=notices_of(infos, table, averaging),
        options={
            "profile": profile, "rel": rel, "queries": averaging, "negative": negative,
            "known": known, "order": order, "on_duplicate": on_duplicate, "on_nan": on_nan,
            "depth": depth, "judged_only": judged_only, "name_by": name_by,
        },
    )  # fmt: skip


def _each(
    one: Callable[[str | None, RunLike, Sequence[Workspace]], T],
    sources: Sequence[tuple[str | None, RunLike]],
    on_run: Callable[[int, int], None] | None,
) -> Iterator[T]:
    """Do one thing to every run, in order, on as many threads as help; the kernels release the lock.

    The first run goes alone, reads ahead, and fills what the qrels keep for all.
    """
    total = len(sources)
    own = threading.local()

    def work(named: tuple[str | None, RunLike]) -> T:
        if not hasattr(own, "workspaces"):
            own.workspaces = [Workspace()]
        return one(*named, own.workspaces)

    def told(place: int, found: T) -> T:
        if on_run:
            on_run(place, total)
        return found

    processors = os.cpu_count() or 1
    yield told(1, one(*sources[0], [Workspace() for _ in range(min(2, processors))]))
    threads = min(MOST_THREADS, processors, total - 1)
    if threads < 2:
        yield from (told(place, work(named)) for place, named in enumerate(sources[1:], start=2))
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads)
    try:
        for place, found in enumerate(pool.map(work, sources[1:]), start=2):
            yield told(place, found)
    finally:
        pool.shutdown(cancel_futures=True)


def _listed(
    measures: Iterable[str | Measure] | str | Measure | None,
) -> Iterable[str | Measure]:
    if measures is None:
        return DEFAULT_MEASURES
    return [measures] if isinstance(measures, (str, Measure)) else measures


def _averaged(judged: Judged, measures: Sequence[Measure], averaging: str) -> Flags:
    """Say which queries take part in the mean of each measure: queries x measures."""
    shape = (len(judged.present), len(measures))
    if averaging == "both":
        return np.broadcast_to(judged.present[:, None], shape).copy()
    if averaging == "with_relevant":
        columns = [judged.qrels.relevant(getattr(measure, "rel", 1.0)) > 0 for measure in measures]
        return np.stack(columns, axis=1)
    return np.ones(shape, dtype=np.bool_)


def named_sources(
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
) -> list[tuple[str | None, Any]]:
    """Give each run with the name that it was given, if any; one run may stand alone."""
    if isinstance(runs, Mapping):
        first = next(iter(runs.values()), None)
        inner = next(iter(first.values()), None) if isinstance(first, Mapping) else None
        if isinstance(first, Mapping) and not isinstance(inner, Mapping):
            return [(None, runs)]
        return list(runs.items())
    if isinstance(runs, (list, tuple)):
        if not runs:
            raise UsageError("no runs; expected at least one")
        return [(None, run) for run in runs]
    return [(None, runs)]


def _refuse_equal_names(infos: Sequence[RunInfo]) -> None:
    seen: dict[str, RunInfo] = {}
    for info in infos:
        other = seen.setdefault(info.name, info)
        if other is not info:
            files = f" ({other.path} and {info.path})" if info.path else ""
            raise UsageError(
                f"two runs are called '{info.name}'{files}; expected different names "
                "(rename a file, or use --name-by tag)"
            )
