"""Fusion of several runs into one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.reading import Reading, RunOptions
from leadline.data.table import ResultWarning, raised
from leadline.data.validation import check_run_name, check_whole, check_word, is_number, refusal
from leadline.data.wording import counted, queries
from leadline.errors import UsageError, either
from leadline.io.objects import Run, read_runs
from leadline.io.read import RunLike
from leadline.io.read_paths import public
from leadline.io.run_names import is_input, named_files, told_apart
from leadline.result import Result
from leadline.retrieval.fusion_lists import (
    DIVIDING,
    NORMALISATIONS,
    FusionLists,
    lists_of_equal_scores,
    normalised,
)
from leadline.retrieval.fusion_methods import FUSIONS, CombANZ, FusionMethod


class FusedRun(Run):
    """A run made of others, with `warnings` and the `options` that it was made with."""

    warnings: list[ResultWarning]
    options: dict[str, Any]
    inputs: list[dict[str, Any]]  # name, path, queries, documents, weight


@public
def fuse(
    runs: Iterable[RunLike] | Mapping[str, RunLike],
    method: str | FusionMethod = "RRF",
    *,
    normalise: str | None = None,
    weights: Sequence[float] | None = None,
    depth: int | None = None,
    name: str | None = None,
    **options: Unpack[RunOptions],
) -> FusedRun:
    """Fuse runs into one.

    Tied documents are in decreasing order of document id. A document that a run did not retrieve adds nothing
    to a sum and is not in means, medians, minima and maxima; in Borda it shares the remaining points, and in
    Condorcet it is below what the run retrieved. A query that some runs lack is fused from the others, and
    counted in `warnings`; one that only runs of weight 0 contain is left out.

    Parameters
    ----------
    runs : iterable or mapping of runs
        Two runs or more, as files, dictionaries, data frames or `Run`; or a folder or pattern of files.
    method : str or FusionMethod, default "RRF"
        RRF(k=60), CombSUM, CombMNZ(gamma=1), CombANZ, CombMED, CombMAX, CombMIN, ISR, LogISR(sigma=0),
        RBC(p=0.8), Borda, Condorcet or Mixed.
    normalise : {"min-max", "max", "sum", "z", "rank", "borda", "none"}, optional
        Normalization of the scores of each list, for methods that use scores; "min-max" by default.
    weights : sequence of float, optional
        Weight of each run, 0 or more; a run of weight 0 is left out. Not for CombMED, CombMAX and CombMIN.
    depth : int, optional
        Largest number of documents kept for a query.
    name : str, optional
        Name of the run; by default the text of the method.
    **options
        How runs are read: `order`, `on_duplicate`, `on_nan`, `columns`.

    Returns
    -------
    FusedRun
        The run, with `warnings` and `options`.

    Raises
    ------
    InputError
        If a run cannot be read, or its scores cannot be normalized.
    UsageError
        If there are fewer than two runs, or an option does not suit the method.

    Examples
    --------
    >>> first, second = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"b": 5.0, "a": 4.0}}
    >>> fuse([first, second], "CombSUM", normalise="none").to_dict()
    {'q': {'b': 7.0, 'a': 7.0, 'c': 1.0}}
    >>> fuse([first, second], "CombMNZ", weights=[0.75, 0.25]).to_dict()  # scores 1, .5, 0 and 1, 0
    {'q': {'b': 1.5, 'a': 1.0, 'c': 0.0}}
    """
    check_whole(1, depth=depth)
    if name is not None:
        check_run_name(name)
    chosen = _method(method)
    normalisation = _normalisation(chosen, normalise)
    given, paths, warnings = _read(runs, Reading.of(fuse, options, RunOptions))
    weight = _weights(chosen, weights, len(given))
    kept = np.flatnonzero(weight > 0).tolist()
    lists = FusionLists([given[index] for index in kept])
    unused = {name for run in given for name in run.queries.names}.difference(lists.queries.names)
    prepared = normalised(lists, normalisation) if chosen.uses_scores else lists
    as_given = normalisation == "none" and not chosen.weighted
    with np.errstate(over="ignore", invalid="ignore"):  # scores that are not finite are refused
        scores = chosen.scores(prepared, weight[kept])
    run = prepared.run_of(scores, depth=depth, as_given=as_given)
    title = str(chosen) if name is None else name
    fused = FusedRun.of_columns(
        run.queries, run.offsets, run.documents, run.document, run.scores, name=title, tag=title
    )
    assert isinstance(fused, FusedRun)
    fused.sources = tuple(source for one in given for source in one.sources)
    fused.warnings = [*warnings, *_warnings(lists, chosen, normalisation, len(unused))]
    fused.inputs = [
        {
            "name": one.name,
            "path": path,
            "queries": len(one.queries),
            "documents": len(one.scores),
            "weight": share,
        }
        for one, path, share in zip(given, paths, weight.tolist(), strict=True)
    ]
    fused.options = {
        "method": str(chosen),
        "normalise": normalisation if chosen.uses_scores else None,
        "runs": [one.name for one in given],
        "weights": None if weights is None else weight.tolist(),
        "depth": depth,
    }
    return fused


def _method(method: object) -> FusionMethod:
    """Return the fusion method that is given or named; refuse a run in its place."""
    if isinstance(method, FusionMethod):
        return method
    given = f"'{method}'" if isinstance(method, str) else f"an object of type {type(method).__name__}"
    if isinstance(method, str):
        try:
            return FUSIONS.parse(method)
        except UsageError:
            if not is_input(method):
                raise
    raise UsageError(
        f"{given} is not a fusion method. In Python, pass all runs as one list, as in `fuse([a, b])`."
    )


def _normalisation(method: FusionMethod, name: str | None) -> str:
    """Return the normalization that a method uses; "none" if it uses ranks only."""
    if name is None:
        return "min-max" if method.uses_scores else "none"
    check_word(tuple(NORMALISATIONS), normalise=name)
    if not method.uses_scores and name != "none":
        able = either([known for known, kind in FUSIONS.classes.items() if kind.uses_scores])
        raise UsageError(
            f"--normalise {name} does not apply to {method}, which uses only ranks. Use {able}, or "
            "leave out --normalise."
        )
    return name


def _weights(method: FusionMethod, weights: Sequence[float] | None, runs: int) -> Floats:
    """Return the weights of the runs, 1 by default."""
    if weights is None:
        return np.ones(runs)
    if not method.weighted:
        able = either(known for known, kind in FUSIONS.classes.items() if kind.weighted)
        raise UsageError(f"{method} takes no weights. To weight runs, use {able}.")
    if isinstance(weights, (str, Mapping)):
        raise refusal("weights", weights, "a list of numbers")
    if len(weights) != runs:
        raise UsageError(
            f"{counted(runs, 'run')} cannot have {counted(len(weights), 'weight')}. Pass one weight per run."
        )
    for weight in weights:
        if not is_number(weight) or weight < 0:
            raise refusal("weights", weight, "numbers of 0 or more")
    found = np.array(weights, dtype=np.float64)
    if not found.any():
        raise UsageError("at least one weight must be above 0")
    return found


def _read(
    runs: Iterable[Any] | Mapping[str, Any], reading: Reading
) -> tuple[list[Run], list[str], list[ResultWarning]]:
    """Return runs, their paths and the warnings of reading them; refuse fewer than two."""
    if isinstance(runs, Run) or hasattr(runs, "columns"):  # a data frame
        raise UsageError("fusion needs at least two runs, not 1. Pass them as a list: [first, second].")
    if isinstance(runs, Result):  # whose items are names
        raise UsageError(f"fusion needs runs, not an object of type {type(runs).__name__}")
    named: list[tuple[str | None, Any]]
    if isinstance(runs, Mapping):
        named = list(runs.items())
    else:
        listed = [runs] if isinstance(runs, (str, os.PathLike)) else runs
        named = told_apart([each for run in listed for each in named_files(run)])
    if len(named) < 2:
        raise UsageError(f"fusion needs at least two runs, not {len(named)}")
    if reading.on_duplicate == "hold":
        raise UsageError(
            "fusion does not support --config read.on_duplicate=hold. Use refuse, first, last or max."
        )
    return read_runs(named, reading)


def _warnings(
    lists: FusionLists, method: FusionMethod, normalisation: str, unused: int
) -> list[ResultWarning]:
    """Return warnings of queries that runs lack, of equal and of negative scores."""
    warnings = []
    held = lists.sizes[:, lists.candidates > 0]
    for name, sizes in zip(lists.names, held, strict=True):
        missing = int(np.count_nonzero(sizes == 0))
        if missing:
            message = f"{name} lacks {missing:,} of {queries(len(sizes))} (fused without this run)"
            warnings.append(ResultWarning("missing_queries", message, missing))
    scored = method.uses_scores
    equal = lists_of_equal_scores(lists) if scored and normalisation in DIVIDING else 0
    sums = scored and method.weighted and not isinstance(method, CombANZ) and normalisation == "none"
    negative = int(np.count_nonzero(lists.score < 0)) if sums else 0
    below = counted(negative, "score is", "scores are")
    below += " below 0, so being retrieved by one more run can lower a document's fused score"
    return warnings + raised(
        ("unused_queries", f"left out {queries(unused)} found only in runs with weight 0", unused),
        ("equal_scores", f"normalized all scores to 0 in {counted(equal, 'list')} of equal scores", equal),
        ("negative_scores", below, negative),
    )
