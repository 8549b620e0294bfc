"""Bpref, the rank of the n-th relevant document, and the share of judged documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, ClassVar

from leadline.explanation import Derivation, Listed, Steps, last_of, last_or_ten, number, ratio
from leadline.measures.rank_of import RankOf


class Preference(Derivation):
    """Judged non-relevant documents above each relevant one."""

    measures: ClassVar[tuple[str, ...]] = ("Bpref",)

    def steps(self, measure: Any, listed: Listed) -> Steps:
        """Add up what each retrieved relevant document keeps."""
        relevant = listed.relevant(measure.rel)
        other = [int(grade is not None and 0 <= grade < measure.rel) for grade in listed.grades]
        above = list(accumulate(other))
        size = listed.count(measure.rel)
        others = sum(0 <= grade < measure.rel for grade in listed.judged)
        bound = max(min(size, others), 1)
        parts = [
            flag * (1.0 - min(count, size) / bound if count else 1.0)
            for flag, count in zip(relevant, above, strict=True)
        ]
        total = sum(parts)
        value = ratio(total, size)
        lines = [
            f"judged: R = {size} relevant, N = {others} non-relevant; min(N, R) = {min(size, others)}",
            f"part of a relevant document: 1 - min(n, R) / {bound}, n non-relevant above",
            f"{measure} = {number(total)} / {size} = {number(value)}",
        ]
        columns: dict[str, Sequence[float]] = {
            "relevant": relevant, "nonrelevant above": above,
            "part": parts, "sum": list(accumulate(parts)),
        }  # fmt: skip
        return Steps(value, lines, last_of(relevant), columns)


class Rank(Derivation):
    """The rank of the n-th relevant document."""

    measures: ClassVar[tuple[str, ...]] = ("RankOf",)

    def steps(self, measure: RankOf, listed: Listed) -> Steps:
        """Find the n-th relevant document; for a search length, what is read before it."""
        relevant = listed.relevant(measure.rel)
        found = list(accumulate(relevant))
        size = listed.count(measure.rel)
        wanted = size if measure.n == "all" else int(measure.n)
        columns = {"relevant": relevant, "found": found}
        if not wanted or wanted > sum(relevant):
            lines = [f"relevant documents in the list: {sum(relevant)}", f"{measure} is undefined"]
            return Steps(math.nan, lines, last_of(relevant), columns)
        rank = found.index(wanted) + 1
        lines = [f"relevant document {wanted} at rank {rank}"]
        if measure.form == "rank":
            return Steps(float(rank), [*lines, f"{measure} = {rank}"], rank, columns)
        first, last = map(int, (listed.ties[rank - 1] or f"{rank}-{rank}").split("-"))
        last = min(last, len(relevant))
        above = first - 1 - sum(relevant[: first - 1])
        tied = sum(relevant[first - 1 : last])
        place, others = wanted - sum(relevant[: first - 1]), last - first + 1 - tied
        value = above + place * others / (tied + 1)
        lines += [
            f"non-relevant documents above the ranks {first}-{last} of its score: {above}",
            f"of the {others} there, {place} / {tied + 1} stand before it in expectation",
            f"{measure} = {above} + {place} x {others} / {tied + 1} = {number(value)}",
        ]
        return Steps(value, lines, last, columns)


class JudgedShare(Derivation):
    """Documents with a judgment, divided by the depth."""

    measures: ClassVar[tuple[str, ...]] = ("Judged",)

    def steps(self, measure: Any, listed: Listed) -> Steps:
        """Count judged documents, then divide."""
        judged = [int(grade is not None and grade >= 0) for grade in listed.grades]
        depth = len(judged) if measure.cutoff is None else min(measure.cutoff, len(judged))
        count = sum(judged[:depth])
        value = ratio(count, depth)
        lines = [
            f"judged documents at ranks 1..{depth}: {count}",
            f"{measure} = {count} / {depth} = {number(value)}",
        ]
        columns = {
            "judged": judged,
            "found": list(accumulate(judged)),
        }
        return Steps(value, lines, last_or_ten(judged, depth), columns)
