"""Relevance Information Correlation and Information Difference of systems."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple, Unpack

import numpy as np

from leadline.comparison.difference_result import Difference
from leadline.comparison.joint_tables import (
    DifferenceRules,
    QueryDifference,
    TruncatedLists,
    complete,
    difference_of_query,
    truncate_lists,
)
from leadline.comparison.similarity_baselines import (
    AP_CORRELATION,
    MOST_COMPARED,
    ON_REQUEST,
    RIC_DISTANCE,
    Similarity,
    correlations,
    distances,
    means_over_queries,
    parse_competitors,
    system_lists,
)
from leadline.data.arrays import Codes, Flags, Floats, Integers
from leadline.data.ids import DocumentNumbers
from leadline.data.reading import JudgedOptions, Reading
from leadline.data.table import ResultWarning, RunInfo, raised
from leadline.data.validation import check_whole
from leadline.data.wording import counted as counted_noun
from leadline.data.wording import first_few, queries
from leadline.errors import InputError, both, one_of
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.join import judge_runs
from leadline.evaluation.run_warnings import check_level, warnings_of
from leadline.io.objects import Qrels, judgments_of
from leadline.io.read import QrelsLike, RunLike
from leadline.io.read_paths import public
from leadline.kernels import parallel_map
from leadline.measures.average_precision import AP
from leadline.scale.engines import Fault, Unit, Work, engine_of

LEFT_OUT = (
    f"RBO and Kendall's tau are left out by default for more than {MOST_COMPARED} systems (pass RBO and "
    "Kendall as competitors to compute them instead of Jaccard and Overlap)"
)
LARGEST = 1 << 31  # bytes of the values of all pairs for all queries, above which only their means are kept


FEW = 5  # warn if the median query has fewer judged non-relevant documents


def difference_warnings(
    infos: Sequence[RunInfo],
    qrels: Qrels,
    lists: Sequence[TruncatedLists],
    counted: Flags,
    rules: DifferenceRules,
) -> list[ResultWarning]:
    """Return warnings of missing judgments, empty lists and queries without pairs."""
    found, rel = [], rules.rel
    unjudged = "removed from the lists" if rules.condense else "form no document pairs, but keep their ranks"
    for notice in warnings_of(infos, qrels, averaging="with_relevant", levels=[rel]):
        words = notice.message.replace("counted as not relevant", unjudged)
        found.append((notice.code, words, notice.count))
    relevant = qrels.relevant(rel) > 0
    pairless = int(np.count_nonzero(~counted & relevant))
    empty = [info.name for info, part in zip(infos, lists, strict=True) if not len(part.row)]
    nonrelevant = (qrels.count(qrels.grades < rel))[relevant]
    few = int(np.count_nonzero(nonrelevant < FEW))
    sparse = len(nonrelevant) > 0 and np.median(nonrelevant) < FEW
    same = "all have the same grade" if rules.graded else "are all relevant"
    alike = f"excluded {queries(pairless)} whose judged documents {same}"
    kind = "relevant" if rules.truncate else "judged"
    top = "" if rules.cutoff is None else f" in the top {rules.cutoff}"
    zero = (
        f"RIC is 0 for {counted_noun(len(empty), 'run')} without a {kind} document{top} ({first_few(empty)})"
    )
    depends = (
        f"RIC and id depend on judged non-relevant documents, but {few} of {queries(len(nonrelevant))} "
        f"{'has' if few == 1 else 'have'} fewer than {FEW} (`leadline difference --exhaustive DOCS` counts "
        "all unjudged documents in DOCS as non-relevant)"
    )
    found += [
        ("no_pairs", alike, pairless),
        ("nothing_kept", zero, len(empty)),
        ("few_nonrelevant", depends, few if sparse else 0),
        ("one_system", "comparisons need at least two systems, not one", int(len(infos) == 1)),
    ]
    return raised(*found)


__all__ = ["Difference", "complete", "difference"]


@public
def difference(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    *,
    cutoff: int | None = None,
    rel: float = 1.0,
    graded: bool = True,
    truncate: bool = True,
    condense: bool = False,
    normalise: bool | None = None,
    weighted: bool | None = None,
    printed6: bool = False,
    signed: bool = False,
    competitors: Sequence[str | Similarity] | None = None,
    ap_rel: float | None = None,
    threads: int | None = None,
    engine: str | None = None,
    on_run: Callable[[int, int], None] | None = None,
    on_query: Callable[[int, int], None] | None = None,
    **options: Unpack[JudgedOptions],
) -> Difference:
    """Relevance Information Correlation (RIC) and Information Difference (id) of systems, in bits.

    For a random pair of judged documents of different grades, Q indicates the better document and R its order
    in a list: 1 if the better document is ranked higher, -1 if lower, 0 if neither is retrieved. RIC =
    I(R; Q) = w (1 - h(c)), where w is the share of pairs with R != 0, c the share of those in the right
    order and h the binary entropy; id = I(R1; Q | R2) + I(R2; Q | R1).

    Parameters
    ----------
    qrels : qrels
        Judgments; negative grades count as 0.
    runs : run, sequence of runs or mapping
        The systems.
    cutoff : int, optional
        Cutoff k of RIC@k and id@k.
    rel : float, default 1.0
        Minimum relevant grade.
    graded : bool, default True
        Compare all grades; otherwise relevant and non-relevant documents only.
    truncate : bool, default True
        End each list after its last relevant document.
    condense : bool, default False
        Remove unjudged documents; otherwise they keep their ranks.
    normalise : bool, optional
        Divide values by those of the ideal list; by default if there is a cutoff.
    weighted : bool, optional
        Weight pairs by the ranks of their documents in an ideal list; by default if there is a cutoff.
    printed6 : bool, default False
        Use equation 6 for the weights as printed (see `joint_tables`).
    signed : bool, default False
        Return a negative RIC for lists that have most pairs in the wrong order.
    **options
        How judgments and runs are read: `negative`, `order`, `on_duplicate`, `on_nan` and `name_by` of
        `leadline.data.reading.Reading`.
    competitors : sequence of str or Similarity, optional
        Other similarities to report, such as "RBO(p=0.9)" or "Jaccard@20"; `()` for none. By default Jaccard
        and overlap, and for up to 20 systems RBO and Kendall's tau. The correlation of per-query AP and the
        mean difference of per-query RIC are added to them.
    ap_rel : float, optional
        Minimum relevant grade of AP; `rel` by default.
    threads : int, optional
        Number of threads.
    engine : str, optional
        Compare blocks of systems by an engine, as in `leadline.scale.evaluate_parts`, and keep the means of
        all pairs instead of their values for each query. By default values are kept, and systems are compared
        by threads, in blocks if the values would need more than 2 GiB.
    on_run, on_query : callable, optional
        Called with (done, total) after each run or query (with blocks: after each of them).

    Returns
    -------
    Difference

    Raises
    ------
    InputError
        If no query has judged documents of two grades, one of them relevant.

    Notes
    -----
    RIC does not distinguish directions: `wrong_way` counts lists that have most pairs in the wrong order. id
    is non-negative and symmetric, and 0 for equal lists; the id from a list without judged documents is RIC.
    It is not a metric: different lists, such as a list and its reverse, can have id 0, and the triangle
    inequality does not hold. Queries without a relevant document or without a pair are excluded and counted
    in `warnings`.

    References
    ----------
    Golbus and Aslam (2014), section 2.

    Examples
    --------
    >>> judgments = {"q1": {"d1": 1, "d2": 1, "d3": 0, "d4": 0}}
    >>> runs = {"a": {"q1": {"d1": 2.0, "d3": 1.0}}, "b": {"q1": {"d2": 2.0, "d4": 1.0}}}
    >>> result = difference(judgments, runs)
    >>> result.mean_ric.tolist(), result.id_of("a", "b")  # each orders 2 of 4 pairs, without overlap
    ([0.5, 0.5], 1.0)
    """
    reading = Reading.of(difference, options, JudgedOptions)
    check_whole(1, threads=threads, cutoff=cutoff)
    engine = None if engine is None else str(engine_of(engine))
    deep = cutoff is not None
    rules = DifferenceRules(
        cutoff,
        rel,
        graded,
        truncate,
        condense,
        normalise=deep if normalise is None else normalise,
        weighted=deep if weighted is None else weighted,
        printed6=printed6,
    )
    both({"--config difference.printed6": printed6}, {"--config difference.weighted": rules.weighted})
    both({"--config difference.condense": condense}, {"--cutoff": cutoff})
    one_of({"threads": threads, "--engine": engine})
    baselines = parse_competitors(competitors, cutoff)
    table = judgments_of(qrels, reading)
    refuse_sample(table)
    check_level(rel, table)
    numbers = DocumentNumbers()
    ap = AP(rel=rel if ap_rel is None else ap_rel)
    infos, truncated = judge_runs(
        runs,
        table,
        lambda judged: (
            truncate_lists(judged, rules),
            ap.values(judged),
            system_lists(judged, numbers) if baselines else None,
        ),
        reading=reading,
        keep=bool(baselines),
        on_run=on_run,
    )
    many = competitors is None and len(infos) > MOST_COMPARED
    baselines = baselines[: len(baselines) - len(ON_REQUEST)] if many else baselines
    lists = [part[0] for part in truncated]
    counted, means, (ric, concordance, wrong_way, only) = _compared(
        table, lists, rules, threads, engine, on_query
    )
    precision = np.nan_to_num(np.stack([part[1] for part in truncated]))
    more: dict[str, Floats] = {}
    if baselines:
        systems = [part[2] for part in truncated if part[2] is not None]
        more = means_over_queries(systems, counted, baselines, on_query)
        more[AP_CORRELATION] = correlations(precision[:, counted])
        more[RIC_DISTANCE] = distances(ric[:, counted])
    return Difference(
        infos,
        table.queries,
        np.where(wrong_way, -ric, ric) if signed else ric,
        concordance,
        wrong_way,
        only,
        means,
        precision,
        cutoff,
        more,
        warnings=[
            *difference_warnings(infos, table, lists, counted, rules),
            *([ResultWarning("on_request", LEFT_OUT, len(ON_REQUEST))] if many else []),
        ],
        options={
            "k": cutoff,
            **{name: value for name, value in rules._asdict().items() if name != "cutoff"},
            "signed": signed,
            "competitors": list(map(str, baselines)),
            "ap_rel": ap.rel,
            **({} if engine is None else {"engine": engine}),
            **reading.options(JudgedOptions),
        },
    )


def _no_pairs(qrels: Qrels, rules: DifferenceRules) -> InputError:
    found = "no query has both a relevant document and a judged document of a different grade"
    if not rules.graded:
        found = "no query has both relevant and non-relevant judged documents"
    hint = (
        "Also judge non-relevant documents. If the judgments are exhaustive, give all other documents "
        "grade 0 instead, as `leadline difference --exhaustive DOCS` does"
    )
    if qrels.grades.max(initial=-math.inf) < rules.rel:
        found = f"no document has grade {rules.rel:g} or higher, so none is relevant"
        hint = "Lower the minimum relevant grade (`--level`), or judge relevant documents"
    return InputError(found, path=qrels.source, hint=hint)


def _compared(
    qrels: Qrels,
    lists: Sequence[TruncatedLists],
    rules: DifferenceRules,
    threads: int | None,
    engine: str | None,
    on_query: Callable[[int, int], None] | None,
) -> tuple[Flags, Floats | None, list[Any]]:
    """Return the queries that have values, the means of pairs if values are not kept, and all values."""
    if engine is not None or 8 * len(qrels.queries) * len(lists) ** 2 > LARGEST:
        blocks = compare_blocks(qrels, lists, rules, engine or "local", on_query)
        if not blocks.counted.any():
            raise _no_pairs(qrels, rules)
        return blocks.counted, blocks.only, [blocks.ric, blocks.concordance, blocks.wrong_way, None]
    total, systems = len(qrels.queries), len(lists)

    def compare_lists(query: int) -> QueryDifference | None:
        grades, rows = _of_query(query, qrels.begin, qrels.end, qrels.grades, lists)
        return difference_of_query(grades, rows, rules)

    counted = np.zeros(total, dtype=np.bool_)
    values = _unfilled(systems, total)
    only = np.full((total, systems, systems), np.nan)
    for query, found in enumerate(parallel_map(compare_lists, range(total), threads=threads)):
        if found is not None:
            counted[query] = True
            only[query] = found.only
            for column, value in zip(values, found, strict=False):
                column[:, query] = value
        if on_query:
            on_query(query + 1, total)
    if not counted.any():
        raise _no_pairs(qrels, rules)
    return counted, None, [*values, only]


def _of_query(
    query: int, begin: Integers, end: Integers, grades: Floats, lists: Sequence[TruncatedLists]
) -> tuple[Floats, list[Codes]]:
    """Return the grades of a query, and the judged documents of each list."""
    low = int(begin[query])
    rows = [each.row[slice(*each.offsets[query : query + 2])] - low for each in lists]
    return grades[low : int(end[query])], rows


def _unfilled(systems: int, queries: int) -> tuple[Floats, Floats, Flags]:
    """Return arrays of RIC, concordance and direction; NaN and False stand for excluded queries."""
    ric, concordance = np.full((2, systems, queries), np.nan)
    return ric, concordance, np.zeros((systems, queries), dtype=np.bool_)


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
    """Values of the systems of a block (none if two blocks were compared) and sums over queries of pairs.

    `only` is the conditional information of the systems of both blocks, `counted` flags queries with values.
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
    values = _unfilled(kept, queries)
    counted = np.zeros(queries, dtype=np.bool_)
    only = np.zeros((len(lists), len(lists)))
    pairs = np.triu_indices(size, 1)
    if more:
        pairs = np.repeat(np.arange(size), more), np.tile(np.arange(size, size + more), size)
    for query in range(queries):
        found = difference_of_query(
            *_of_query(query, judged.begin, judged.end, judged.grades, lists),
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
    return Compared(*values, only, counted)


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
    counted = np.zeros(len(lengths), dtype=np.bool_)
    result = Compared(*_unfilled(size, len(lengths)), np.zeros((size, size)), counted)
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
