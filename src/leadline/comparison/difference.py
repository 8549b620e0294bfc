"""Relevance Information Correlation and Information Difference of systems."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TypeAlias, Unpack

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
from leadline.data.arrays import Codes, Flags, Floats
from leadline.data.ids import DocumentNumbers
from leadline.data.reading import JudgedOptions, Reading
from leadline.data.table import ResultWarning, RunInfo, raised
from leadline.data.validation import check_whole
from leadline.data.wording import counted as counted_noun
from leadline.data.wording import first_few, queries
from leadline.errors import InputError, both
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.join import judge_runs
from leadline.evaluation.run_warnings import check_level, warnings_of
from leadline.io.objects import Qrels, judgments_of
from leadline.io.read import QrelsLike, RunLike
from leadline.io.read_paths import public
from leadline.measures.average_precision import AP
from leadline.scale.engines import Fault, Unit, Work, engine_of

LEFT_OUT = (
    f"RBO and Kendall's tau are left out by default for more than {MOST_COMPARED} systems (use "
    "`--competitor` with RBO and Kendall to compute them instead of Jaccard and Overlap)"
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
    engine : str, optional
        Compare the systems on each query by an engine, as in `leadline.scale.evaluate_parts`, and keep the
        means of all pairs instead of their values for each query. By default systems are compared by threads,
        and values are kept unless they would need more than 2 GiB.
    on_run, on_query : callable, optional
        Called with (done, total) after each run or query.

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
    check_whole(1, cutoff=cutoff)
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
    counted, (ric, concordance, wrong_way), only, means = _compared(table, lists, rules, engine, on_query)
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
        means,
        only,
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
        hint = "Judge relevant documents, or lower the lowest relevant grade (`--level`)"
    return InputError(found, path=qrels.source, hint=hint)


def _compared(
    qrels: Qrels,
    lists: Sequence[TruncatedLists],
    rules: DifferenceRules,
    engine: str | None,
    on_query: Callable[[int, int], None] | None,
) -> tuple[Flags, tuple[Floats, Floats, Flags], Floats | None, Floats]:
    """Return the queries with values, the values of systems, those of pairs if they are kept, their means."""
    total, systems = len(qrels.queries), len(lists)
    kept = engine is None and 8 * total * systems**2 <= LARGEST
    counted = np.zeros(total, dtype=np.bool_)
    ric, concordance = np.full((2, systems, total), np.nan)
    values = ric, concordance, np.zeros((systems, total), dtype=np.bool_)
    only = np.full((total, systems, systems), np.nan) if kept else None
    added = np.zeros((systems, systems))
    for query, found in enumerate(_by_query(qrels, lists, rules, engine or "local")):
        if found is not None:
            counted[query] = True
            added += found.only
            if only is not None:
                only[query] = found.only
            for column, value in zip(values, found, strict=False):
                column[:, query] = value
        if on_query:
            on_query(query + 1, total)
    if not counted.any():
        raise _no_pairs(qrels, rules)
    return counted, values, only, added / np.count_nonzero(counted)


Judged: TypeAlias = tuple[Floats, list[Codes]]  # grades of a query, and the judged documents of each list


def compare_query(
    rules: DifferenceRules, judged: Judged, *, label: str = "", workspaces: object = None
) -> tuple[QueryDifference | None]:
    """Compare the lists of one query; a worker calls it."""
    del label, workspaces  # of other work
    return (difference_of_query(*judged, rules),)


def _by_query(
    qrels: Qrels, lists: Sequence[TruncatedLists], rules: DifferenceRules, engine: str
) -> Iterator[QueryDifference | None]:
    """Yield the values of each query, in the order of the queries."""

    def units() -> Iterator[Unit]:
        for query, name in enumerate(qrels.queries):
            low, high = int(qrels.begin[query]), int(qrels.end[query])
            rows = [each.row[slice(*each.offsets[query : query + 2])] - low for each in lists]
            yield Unit(0, query, (qrels.grades[low:high], rows), f"query {name}")

    early: dict[int, QueryDifference | None] = {}  # done before a query above
    following = 0
    with closing(engine_of(engine).map(Work(compare_query, rules), units())) as outcomes:
        for unit, outcome in outcomes:
            if isinstance(outcome, Fault):
                raise outcome.error or InputError(outcome.text, path=unit.label)
            (early[unit.part],) = outcome
            while following in early:
                yield early.pop(following)
                following += 1
