"""Information Difference of many systems: pairs of blocks of systems, each compared by a worker."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from leadline.comparison.information_difference.joint_tables import TruncatedLists
from leadline.comparison.information_difference.query_difference import DifferenceRules, difference_of_query
from leadline.data.arrays import Flags, Floats, Integers
from leadline.errors import InputError
from leadline.io.objects import Qrels
from leadline.scale.engines import engine_of
from leadline.scale.process_pool import Fault, Unit, Work

MOST_SYSTEMS = 256  # of a block
PARTS = 4  # pairs of blocks for each worker, if there are so many


class Judged(NamedTuple):
    """What all blocks need: grades by query, options, and the total length of the lists of each query."""

    begin: Integers
    end: Integers
    grades: Floats
    rules: DifferenceRules
    systems: int
    lengths: Integers


class Block(NamedTuple):
    """Lists of two blocks of systems to compare with each other, or of one within itself."""

    first: Sequence[TruncatedLists]
    second: Sequence[TruncatedLists]


class Compared(NamedTuple):
    """Values of systems and sums over queries of pairs.

    Attributes
    ----------
    ric, concordance, wrong_way : ndarray, shape (n_systems, n_queries)
        Values of the systems of a block, of no systems if two blocks were compared.
    only : ndarray of float64, shape (n_systems, n_systems)
        Conditional information of the systems of both blocks.
    counted : ndarray of bool, shape (n_queries,)
        Whether a query has values.
    """

    ric: Floats
    concordance: Floats
    wrong_way: Flags
    only: Floats
    counted: Flags


def compare_block(judged: Judged, block: Block, *, label: str = "", workspaces: object = None) -> Compared:
    """Compare the systems of a block, or of two blocks with each other, on all queries, in their order.

    Sums are added up query by query, as the mean of an array over its first axis is.
    """
    del label, workspaces  # of other work
    size, more = len(block.first), len(block.second)
    lists = [*block.first, *block.second]
    kept = 0 if more else size
    queries = len(judged.begin)
    values: tuple[Any, ...] = tuple(np.full((kept, queries), empty) for empty in (np.nan, np.nan, False))
    counted = np.zeros(queries, dtype=np.bool_)
    only = np.zeros((len(lists), len(lists)))
    pairs = np.triu_indices(size, 1)
    if more:
        pairs = np.repeat(np.arange(size), more), np.tile(np.arange(size, size + more), size)
    for query, (low, high) in enumerate(zip(judged.begin.tolist(), judged.end.tolist(), strict=True)):
        found = difference_of_query(
            judged.grades[low:high],
            [each.row[slice(*each.offsets[query : query + 2])] - low for each in lists],
            judged.rules,
            pairs=(pairs[0].astype(np.int32), pairs[1].astype(np.int32)),
            whole=(judged.systems, int(judged.lengths[query])),
        )
        if found is None:
            continue
        counted[query] = True
        only += found.only
        for column, value in zip(values, found, strict=False):
            column[:, query] = value[:kept]
    ric, concordance, wrong_way = values
    return Compared(ric, concordance, wrong_way, only, counted)


def compare_blocks(
    qrels: Qrels,
    lists: Sequence[TruncatedLists],
    rules: DifferenceRules,
    engine: str,
    on_block: Callable[[int, int], None] | None = None,
) -> Compared:
    """Compare all systems, in pairs of blocks, by an engine."""
    chosen = engine_of(engine)
    size = len(lists)
    lengths = np.sum([np.diff(each.offsets) for each in lists], axis=0)
    judged = Judged(qrels.begin, qrels.end, np.asarray(qrels.grades), rules, size, lengths)
    blocks = block_starts(size, chosen.workers or 2)
    ends = [*blocks[1:], size]
    result = Compared(
        np.full((size, len(lengths)), np.nan),
        np.full((size, len(lengths)), np.nan),
        np.zeros((size, len(lengths)), dtype=np.bool_),
        np.zeros((size, size)),
        np.zeros(len(lengths), dtype=np.bool_),
    )
    total = len(blocks) * (len(blocks) + 1) // 2

    def units() -> Iterator[Unit]:
        for a, start in enumerate(blocks):
            for b in range(a, len(blocks)):
                own, other = lists[start : ends[a]], lists[blocks[b] : ends[b]]
                what = f"systems {start + 1} to {ends[a]} and {blocks[b] + 1} to {ends[b]}"
                yield Unit(a, b, Block(own, other if b > a else ()), what)

    with closing(chosen.map(Work(compare_block, judged), units())) as outcomes:  # type: ignore[type-var]
        for finished, (unit, outcome) in enumerate(outcomes, start=1):
            if isinstance(outcome, Fault):
                raise outcome.error or InputError(outcome.text, path=unit.label)
            one, two = (slice(blocks[place], ends[place]) for place in (unit.run, unit.part))
            own_size = ends[unit.run] - blocks[unit.run]
            if unit.run == unit.part:
                for whole, part in zip(result[:3], outcome[:3], strict=True):
                    whole[one] = part
                result.only[one, one] = outcome.only
                result.counted[:] |= outcome.counted
            else:
                result.only[one, two] = outcome.only[:own_size, own_size:]
                result.only[two, one] = outcome.only[own_size:, :own_size]
            if on_block:
                on_block(finished, total)
    with np.errstate(invalid="ignore"):
        return result._replace(only=result.only / np.count_nonzero(result.counted))


def block_starts(systems: int, workers: int) -> list[int]:
    """Return the first system of each block: enough blocks for all workers, none too large.

    >>> block_starts(10, 1), len(block_starts(3000, 2))
    ([0, 4, 8], 12)
    """
    wanted = math.ceil(math.sqrt(2 * PARTS * workers))
    size = max(1, min(MOST_SYSTEMS, math.ceil(systems / wanted)))
    return list(range(0, systems, size))
