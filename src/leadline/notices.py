"""Count what was missing, tied, unjudged or repaired, and say it in words: nothing is silent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leadline.arrays import Floats
from leadline.formats import Tally
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.qrels import Qrels
from leadline.results import Notice, RunInfo


def counts_of(
    judged: Judged, tally: Tally, measures: Sequence[Measure], values: Floats
) -> dict[str, int]:
    """Count, for one run, everything that a reader of its numbers should know."""
    tied = judged.tie_last > judged.tie_first
    return {
        "documents_read": tally.rows,
        "documents": int(judged.length.sum()),
        "unjudged_documents": int(judged.length.sum()) - int((judged.grade >= 0).sum()),
        "queries": int(judged.present.sum()),
        "missing_queries": int((~judged.present).sum()),
        "unjudged_queries": tally.unjudged_queries,
        "tied_lists": judged.count_queries(tied),
        "tied_cutoffs": tied_cutoffs(judged, measures),
        "undefined": int(np.isnan(values).any(axis=1).sum()),
        "ignored_columns": tally.extra_columns,
        "rank_disagrees": tally.disordered,
        "repeated_documents": tally.repeated,
        "dropped_scores": tally.dropped,
    }


def tied_cutoffs(judged: Judged, measures: Sequence[Measure]) -> int:
    """Count the lists where a cutoff of a measure parts equal scores, one of them judged."""
    cutoffs = {cutoff for m in measures if (cutoff := getattr(m, "cutoff", None)) is not None}
    if not cutoffs or not np.any(judged.tie_last > judged.tie_first):
        return 0
    parted = np.zeros(len(judged.rank), dtype=np.bool_)
    for cutoff in cutoffs:
        parted |= (judged.tie_first <= cutoff) & (cutoff < judged.tie_last)
    return judged.count_queries(parted)


# What is summed over runs, with the words for it; {count} and {runs} are filled in.
PER_RUN: dict[str, str] = {
    "missing_queries": "{count} judged queries are missing from {runs}; {rule}",
    "unjudged_queries": "{count} queries of {runs} have no judgments and are left out",
    "tied_cutoffs": "in {count} lists of {runs} a cutoff parts documents of equal score "
    "(order: document id falling)",
    "ignored_columns": "{count} lines of {runs} have more than six columns; the rest is ignored",
    "rank_disagrees": "in {count} lists of {runs} the rank column contradicts the scores; "
    "scores decide (--order rank takes the ranks)",
    "repeated_documents": "{count} repeated documents in {runs} were repaired as asked",
    "dropped_scores": "{count} lines of {runs} with score NaN were left out as asked",
}
MISSING_RULES = {
    "all": "they count 0 in every mean",
    "both": "they are left out of its means",
    "with_relevant": "they count 0 in every mean",
    "complete": "trec_eval 10 gives no mean then",
}


def notices_of(infos: Sequence[RunInfo], qrels: Qrels, averaging: str) -> list[Notice]:
    """Put the counts of all runs into words; nothing is said of what did not happen."""
    found: list[Notice] = []
    without = int((qrels.relevant(1.0) == 0).sum())
    if without:
        rule = (
            "left out of the means"
            if averaging == "with_relevant"
            else "they count 0 in every mean"
        )
        found.append(
            Notice(
                "no_relevant",
                f"{without} judged queries have no relevant document; {rule}",
                without,
            )
        )
    for code, words in PER_RUN.items():
        concerned = [info for info in infos if info.counts[code]]
        count = sum(info.counts[code] for info in concerned)
        if count:
            message = words.format(
                count=count, runs=_names(concerned, len(infos)), rule=MISSING_RULES[averaging]
            )
            found.append(Notice(code, message, count))
    nothing = [info for info in infos if info.counts["queries"] == 0]
    if nothing:
        found.append(
            Notice(
                "no_overlap",
                f"no query of {_names(nothing, len(infos))} is judged; do the query ids match?",
                len(nothing),
            )
        )
    return found


def _names(infos: Sequence[RunInfo], total: int) -> str:
    if len(infos) == 1:
        return infos[0].name
    if len(infos) == total:
        return f"all {total} runs"
    return f"{len(infos)} runs ({infos[0].name}, ...)"
