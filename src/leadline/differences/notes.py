"""What a reader of RIC and id should know: queries left out, thin judgments, documents in no pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leadline.arrays import Flags
from leadline.differences.lists import Kept
from leadline.notices import notices_of
from leadline.qrels import Qrels
from leadline.results import Notice, RunInfo

FEW = 5  # judged non-relevant documents in the median query, below which RIC is noise


def difference_notices(
    infos: Sequence[RunInfo],
    qrels: Qrels,
    lists: Sequence[Kept],
    counted: Flags,
    rel: float,
) -> list[Notice]:
    """Put in words what was counted; unjudged documents are in no pair here, whatever other measures do."""
    found = []
    for notice in notices_of(infos, qrels, averaging="with_relevant", levels=[rel]):
        words = notice.message.replace(
            "they count as not relevant", "they are in no pair, and take up ranks"
        )
        found.append(Notice(notice.code, words, notice.count))
    relevant = qrels.relevant(rel) > 0
    pairless = int(np.count_nonzero(~counted & relevant))
    empty = [info.name for info, part in zip(infos, lists, strict=True) if not len(part.row)]
    known = (qrels.count(qrels.grades < rel))[relevant]
    few = int(np.count_nonzero(known < FEW))
    thin = len(known) > 0 and np.median(known) < FEW
    found += [
        Notice(
            "no_pairs",
            f"queries whose judged documents all have one grade: {pairless}; left out", pairless,
        ),
        Notice(
            "nothing_kept",
            f"runs without a relevant judged document where the list is cut: {len(empty)} "
            f"({', '.join(empty[:3])}); RIC 0", len(empty),
        ),
        Notice(
            "few_nonrelevant",
            f"queries with fewer than {FEW} judged non-relevant documents: {few} of {len(known)}; RIC "
            "and id need them (--complete DOCS counts every other document of the collection as one)",
            few if thin else 0,
        ),
        Notice(
            "one_system", "only one system; nothing to compare it with", int(len(infos) == 1)
        ),
    ]  # fmt: skip
    return [notice for notice in found if notice.count]
