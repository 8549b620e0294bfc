"""Ranked lists of several runs as columns, and the normalization of their scores for fusion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, Integers
from leadline.data.ids import Ids, Vocabulary
from leadline.errors import InputError, UsageError
from leadline.io.objects import Run

DIGITS = 14  # significant digits of fused scores; later ones are rounding errors
SMALL = 1e-280  # smaller and, inversely, larger scores keep all digits
BY_RANK = "Use a method that needs only ranks, such as RRF, without --normalise."


class FusionLists:
    """Rows of several runs, ordered by query, document and run: `source` (run), `rank` from 1, and `score`.

    A *candidate* is a document that at least one run retrieved for a query; `candidate` is that of each row,
    and candidates are numbered by query and then by document id. `query` and `document` are those of each
    candidate, as places in `queries` and `documents`. `sizes` is runs x queries: the length of each list, 0
    if the run lacks the query. `centred` is whether the mean was subtracted: rounding errors in a list are
    those of its largest score.
    """

    centred = False

    def __init__(self, runs: Sequence[Run]) -> None:
        self.names = [run.name or run.tag for run in runs]
        self.queries = Vocabulary.of_bytes(name for run in runs for name in run.queries.names)
        self.documents, codes = Ids.concatenate([run.ids for run in runs]).coded()
        lengths = [np.diff(run.offsets) for run in runs]
        places = [self.queries.encode(run.queries.names) for run in runs]
        self.sizes = np.zeros((len(runs), len(self.queries)), dtype=np.int64)
        for index, (place, length) in enumerate(zip(places, lengths, strict=True)):
            self.sizes[index, place] = length
        query = np.concatenate(
            [np.repeat(place, length) for place, length in zip(places, lengths, strict=True)]
        )
        rank = np.concatenate([_ranks(run.offsets) for run in runs])
        score = np.concatenate([run.scores for run in runs])
        source = np.repeat(np.arange(len(runs)), [len(run.scores) for run in runs])
        order = np.lexsort((source, codes, query))
        self._fill(query[order], codes[order].astype(np.int64), source[order], rank[order], score[order])

    def _fill(
        self, query: Integers, document: Integers, source: Integers, rank: Integers, score: Floats
    ) -> None:
        first: Flags = np.ones(len(query), dtype=np.bool_)
        first[1:] = (query[1:] != query[:-1]) | (document[1:] != document[:-1])
        self.candidate = np.cumsum(first) - 1
        self.query, self.document = query[first], document[first]
        self.source, self.rank, self.score = source, rank, score

    @cached_property
    def starts(self) -> Integers:
        """First row of each candidate."""
        starts: Integers = np.searchsorted(self.candidate, np.arange(len(self.query)))
        return starts

    @cached_property
    def counts(self) -> Integers:
        """Number of runs that retrieved each candidate."""
        return np.bincount(self.candidate, minlength=len(self.query))

    @cached_property
    def candidates(self) -> Integers:
        """Number of candidates of each query."""
        return np.bincount(self.query, minlength=len(self.queries))

    @property
    def row_query(self) -> Integers:
        """Query of each row."""
        query: Integers = self.query[self.candidate]
        return query

    @property
    def size(self) -> Integers:
        """Length of the list of each row."""
        size: Integers = self.sizes[self.source, self.row_query]
        return size

    def with_scores(self, score: Floats) -> FusionLists:
        """Return the same lists with other scores, in the same order of rows."""
        lists = FusionLists.__new__(FusionLists)
        vars(lists).update(vars(self) | {"score": score})
        return lists

    def completed(self, score: Floats, missing: Floats) -> FusionLists:
        """Return lists in which every run that has a query has every candidate of it."""
        table = missing[:, self.query].T.copy()
        table[self.candidate, self.source] = score
        ranks = np.zeros(table.shape, dtype=np.int64)
        ranks[self.candidate, self.source] = self.rank
        place = np.nonzero(self.sizes[:, self.query].T)
        lists = FusionLists.__new__(FusionLists)
        vars(lists).update({name: getattr(self, name) for name in ("names", "queries", "documents", "sizes")})
        lists._fill(  # noqa: SLF001  # of the same class
            self.query[place[0]], self.document[place[0]], place[1], ranks[place], table[place]
        )
        return lists

    def total(self, values: Floats) -> Floats:
        """Return the sums of values of rows by candidate.

        Values are added in increasing order, so that equal values of different runs have equal sums.

        >>> lists = FusionLists([Run({"q": {"d": 1.0}}), Run({"q": {"d": 2.0, "e": 1.0}})])
        >>> lists.total(lists.score).tolist()
        [3.0, 1.0]
        """
        if not len(values):
            return np.zeros(0)
        order = np.lexsort((values, self.candidate))
        with np.errstate(over="ignore"):  # refused in `run_of`
            sums: Floats = np.add.reduceat(values[order], self.starts)
        return self.cancelled(sums, values)

    def cancelled(self, sums: Floats, values: Floats) -> Floats:
        """Return sums by candidate without the rounding errors that remain where values of rows cancel."""
        if not (values < 0).any():
            return sums
        group = self.query if self.centred else np.arange(len(self.query))
        largest = np.zeros(len(self.query))
        np.maximum.at(largest, group[self.candidate], np.abs(values))
        return _without_rounding(sums, largest[group])

    def run_of(self, scores: Floats, *, depth: int | None = None, as_given: bool = False) -> Run:
        """Return the run of the candidates with these scores; ties, but for rounding, by decreasing id.

        With `as_given`, scores that a run gave are not rounded.
        """
        if not np.isfinite(scores).all():
            large = np.abs(self.score).max() > 1e100  # no normalized score is
            what, how = ("scores or weights", "Normalize the scores or use") if large else ("weights", "Use")
            raise UsageError(f"the {what} are too large to fuse. {how} smaller weights.")
        exact = np.zeros(len(scores), dtype=np.bool_)
        exact[self.candidate[as_given & (self.score == scores[self.candidate])]] = True
        scores = np.where(exact, scores, _without_rounding(scores, np.abs(scores)))
        order = np.lexsort((-self.document, -scores, self.query))
        query = self.query[order]
        if depth is not None:
            first = np.searchsorted(query, np.arange(len(self.queries)))
            kept = np.arange(len(query)) - first[query] < depth
            order, query = order[kept], query[kept]
        document: Codes = self.document[order].astype(np.int32)
        offsets = np.searchsorted(query, np.arange(len(self.queries) + 1)).astype(np.int64)
        return Run.of_columns(self.queries, offsets, self.documents, document, scores[order])


def _without_rounding(values: Floats, size: Floats) -> Floats:
    """Return values with the digits that are among the first 14 of `size`, that of what they were made from.

    >>> _without_rounding(np.array([1.0 + 0.2, 0.8 + 0.4, 0.1 + 0.2 - 0.3]), np.ones(3)).tolist()
    [1.2, 1.2, 0.0]
    """
    fit = (size > SMALL) & (size < 1 / SMALL)
    unit = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.where(fit, size, 1.0))))
    return np.where(fit, np.round(np.where(fit, values, 0.0) * unit) / unit, values)


def _ranks(offsets: Integers) -> Integers:
    lengths = np.diff(offsets)
    ranks: Integers = np.arange(int(lengths.sum())) - np.repeat(offsets[:-1] - offsets[0], lengths) + 1
    return ranks


class _Groups:
    """Scores of each list: their smallest, largest, sum and mean."""

    def __init__(self, lists: FusionLists) -> None:
        self.lists = lists
        self.list = lists.source * len(lists.queries) + lists.row_query
        self.number = lists.sizes.size

    @cached_property
    def low(self) -> Floats:
        """Smallest score of each list."""
        found = np.full(self.number, np.inf)
        np.minimum.at(found, self.list, self.lists.score)
        return found

    @cached_property
    def high(self) -> Floats:
        """Largest score of each list."""
        found = np.full(self.number, -np.inf)
        np.maximum.at(found, self.list, self.lists.score)
        return found

    def sums(self, values: Floats) -> Floats:
        return np.bincount(self.list, values, minlength=self.number).astype(np.float64)

    def name(self, place: int) -> str:
        run, query = divmod(place, len(self.lists.queries))
        return f"query '{self.lists.queries[query]}' in run '{self.lists.names[run]}'"


def _over(part: Floats, whole: Floats) -> Floats:
    """Divide; a list of equal scores has 0 / 0, which is 0."""
    divided: Floats = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return divided


def _min_max(groups: _Groups) -> FusionLists:
    above = groups.lists.score - groups.low[groups.list]
    return groups.lists.with_scores(_over(above, (groups.high - groups.low)[groups.list]))


def _max(groups: _Groups) -> FusionLists:
    high = groups.high
    for place in np.flatnonzero((high <= 0) & np.isfinite(high))[:1].tolist():
        raise InputError(
            f"normalization 'max' needs a score above 0, but the largest score for {groups.name(place)} is "
            f"{high[place]:g}",
            hint="Use normalization 'min-max'.",
        )
    return groups.lists.with_scores(groups.lists.score / high[groups.list])


def _sum(groups: _Groups) -> FusionLists:
    above = groups.lists.score - groups.low[groups.list]
    return groups.lists.with_scores(_over(above, groups.sums(above)[groups.list]))


def _z(groups: _Groups) -> FusionLists:
    sizes = groups.lists.size
    centred: Floats = groups.lists.score - groups.sums(groups.lists.score)[groups.list] / sizes
    spread = np.sqrt(groups.sums(centred**2)[groups.list] / sizes)
    equal = (groups.low == groups.high)[groups.list]
    scores = _over(centred, np.where(equal, 0.0, spread))
    lists = groups.lists.with_scores(np.where(np.abs(scores) < 10.0**-DIGITS, 0.0, scores))
    lists.centred = True
    return lists


def _rank(groups: _Groups) -> FusionLists:
    lists = groups.lists
    return lists.with_scores(1 - (lists.rank - 1) / lists.size)


def _borda(groups: _Groups) -> FusionLists:
    lists = groups.lists
    number = lists.candidates[lists.row_query]
    with np.errstate(divide="ignore", invalid="ignore"):
        missing = 0.5 - (lists.sizes - 1) / (2 * lists.candidates)
    return lists.completed(1 - (lists.rank - 1) / number, missing)


NORMALISATIONS: dict[str, Callable[[_Groups], FusionLists]] = {
    "min-max": _min_max,
    "max": _max,
    "sum": _sum,
    "z": _z,
    "rank": _rank,
    "borda": _borda,
    "none": lambda groups: groups.lists,
}
DIVIDING = ("min-max", "sum", "z")  # by 0, for a list of equal scores


def normalised(lists: FusionLists, name: str) -> FusionLists:
    """Return lists with the scores of each list normalized.

    >>> lists = FusionLists([Run({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})])
    >>> normalised(lists, "min-max").score.tolist()
    [1.0, 0.5, 0.0]
    >>> normalised(lists, "borda").score.round(4).tolist()
    [1.0, 0.6667, 0.3333]
    """
    groups = _Groups(lists)
    for row in np.flatnonzero(~np.isfinite(lists.score))[:1].tolist():
        raise InputError(
            f"document '{lists.documents[int(lists.document[lists.candidate[row]])]}' for "
            f"{groups.name(int(groups.list[row]))} has the score {lists.score[row]:g}, which is not finite",
            hint=BY_RANK,
        )
    try:
        with np.errstate(over="raise", invalid="raise"):
            return NORMALISATIONS[name](groups)
    except FloatingPointError:
        largest = float(np.abs(lists.score).max())
        raise InputError(
            f"scores up to {largest:g} are too large for normalization '{name}'", hint=BY_RANK
        ) from None


def lists_of_equal_scores(lists: FusionLists) -> int:
    """Return the number of lists whose scores are all equal.

    >>> lists_of_equal_scores(FusionLists([Run({"q": {"a": 1.0, "b": 1.0}, "r": {"a": 2.0, "b": 1.0}})]))
    1
    """
    groups = _Groups(lists)
    return int(np.count_nonzero(groups.low == groups.high))
