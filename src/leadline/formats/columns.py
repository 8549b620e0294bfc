"""What the columns of a table are called: by ir_measures, PyTerrier, ranx, trectools, BEIR and trec_eval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from leadline.errors import InputError

# In the order in which they are looked for.
QUERY = ("query_id", "qid", "q_id", "query-id", "query")
DOCUMENT = ("doc_id", "docno", "docid", "corpus-id", "document")
GRADE = ("relevance", "label", "rel", "grade")
SCORE = ("score",)
RANK = ("rank",)
SUBTOPIC = ("subtopic", "subtopic_id", "iteration", "iter", "q0")
PROBABILITY = ("probability", "inclusion_probability")
TAG = ("tag", "system", "run_id")


def find(present: Iterable[object], names: Sequence[str]) -> str | None:
    """Give the first of some names that is there.

    >>> find(["docno", "qid"], QUERY)
    'qid'
    """
    known = set(present)
    return next((name for name in names if name in known), None)


def choose(
    present: Sequence[object], what: str, *, by_rank: bool = False
) -> tuple[str, str, str, str]:
    """Give the columns of query, document, number, and rank of scores or subtopic of grades; "" is none."""
    values = SCORE if what == "score" else (*GRADE, *SCORE)
    more = find(present, RANK if what == "score" else SUBTOPIC)
    if by_rank and more is None:
        raise _missing(present, "rank", RANK)
    found = [find(present, names) for names in (QUERY, DOCUMENT)]
    value = find(present, values)
    twice = [name for name in (*found, value, more) if name and list(present).count(name) > 1]
    if twice:
        raise InputError(f"two columns called {twice[0]}", expected="one")
    for name, names in zip(found, (QUERY, DOCUMENT), strict=True):
        if name is None:
            raise _missing(present, what, names)
    if value is None and not by_rank:
        raise _missing(present, what, values)
    return found[0] or "", found[1] or "", value or "", more or ""


def _missing(present: Iterable[object], what: str, names: Sequence[str]) -> InputError:
    return InputError(
        f"{what}s with columns {', '.join(map(str, present))}",
        expected="a column called " + " or ".join(names),
    )


def share_of(given: object) -> float:
    """Read a probability; where there is none, the pair was certain to be there.

    >>> share_of("0.25"), share_of(None)
    (0.25, 1.0)
    """
    if given is None:
        return 1.0
    try:
        share = float(given)  # type: ignore[arg-type]  # whatever a cell holds
    except (TypeError, ValueError):
        share = math.nan
    if not 0 < share <= 1:
        raise InputError(f"probability {given!r}", expected="a number above 0, and 1 at most")
    return share
