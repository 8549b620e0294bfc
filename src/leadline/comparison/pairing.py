"""Which runs are compared, over which queries, and which queries form groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.results import Results
from leadline.errors import InputError, UsageError


def read_query_groups(place: str) -> dict[str, str]:
    """Return the group of every query from FILE:COLUMN, a table with a header.

    The first column is the query id.
    """
    from leadline.io.tables import table_column

    path, rows = table_column(place, example="queries.tsv:paragraph")
    found: dict[str, str] = {}
    for line, query, group in rows:
        if found.setdefault(query, group) != group:
            raise InputError(f"query '{query}' in a second group", expected="one group", path=path, line=line)
    return found


def group_codes(
    results: Results, groups: str | Mapping[str, object] | None
) -> tuple[str | None, Integers | None]:
    """Return where the groups are from, and the group of every query of the results as a code.

    Parameters
    ----------
    results : Results
        Every query that takes part in a mean needs a group.
    groups : str, mapping or None
        FILE:COLUMN, or `{query: group}`.

    Raises
    ------
    InputError
        If a query has no group.

    """
    if groups is None:
        return None, None
    if not isinstance(groups, (str, Mapping)):
        raise UsageError(
            f"query_group of type {type(groups).__name__}; expected FILE:COLUMN, or {{query: group}}"
        )
    place = groups if isinstance(groups, str) else "in memory"
    labels = read_query_groups(groups) if isinstance(groups, str) else groups
    used = set(results.averaged_queries())
    lacking = [query for query in results.queries if query in used and query not in labels]
    if lacking:
        raise InputError(
            f"query '{lacking[0]}' has no group ({len(lacking)} in all)",
            expected="a group for every query",
            path=place.rpartition(":")[0] or place,
        )
    # a query outside every mean is a group of its own: no difference has it
    names = [str(labels[query]) if query in labels else f"\0{query}" for query in results.queries]
    order = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return place, np.array([order[name] for name in names], dtype=np.int64)


class Pairs(NamedTuple):
    """Places of the first and the second run of every pair."""

    first: Integers
    second: Integers

    def __len__(self) -> int:  # the number of pairs, not of columns
        return len(self.first)


def pairs_of(results: Results, baseline: str | Sequence[str] | None) -> Pairs:
    """Pair every run with every baseline; without a baseline, every run with those after it."""
    names = results.names
    if len(names) < 2:
        raise UsageError(f"{len(names)} run; expected two or more to compare")
    places = [_place(names, name) for name in _listed(() if baseline is None else baseline)]
    if not places:
        first, second = np.triu_indices(len(names), k=1)
        return Pairs(first, second)
    found = [
        (run, base)
        for rank, base in enumerate(places)
        for run in range(len(names))
        if run != base and run not in places[:rank]  # two baselines are compared once
    ]
    first, second = np.array(found, dtype=np.int64).T
    return Pairs(first, second)


def _listed(baseline: str | Sequence[str]) -> list[str]:
    names = [baseline] if isinstance(baseline, str) else baseline
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"baseline={baseline!r}; expected the name of a run, or several")
    return list(dict.fromkeys(names))


def _place(names: Sequence[str], name: str) -> int:
    if name in names:
        return names.index(name)
    import difflib

    close = difflib.get_close_matches(str(name), names, n=3, cutoff=0.3) or list(names[:5])
    raise UsageError(f"no run is called '{name}'; nearest: " + ", ".join(close))


def refuse_what_has_no_mean(results: Results) -> None:
    """Refuse measures whose values do not make a mean: differences of queries would say nothing of it."""
    wrong = [str(m) for m in results.measures if m.average in ("sum", "geometric")]
    if wrong:
        raise UsageError(
            f"{', '.join(wrong)} cannot be compared: not a mean over queries; expected measures that are, "
            "such as AP or nDCG@10"
        )


def refuse_unmatched(results: Results) -> None:
    """Refuse runs of which nothing is judged: they would lose by the ids, whatever the systems do."""
    for code in ("no_overlap", "no_judged_document"):
        for notice in results.warnings:
            if notice.code == code:
                raise InputError(notice.message)


def differences_of(results: Results, place: int, pairs: Pairs) -> Floats:
    """Give queries x pairs: first minus second; NaN where a query takes no part in the mean of both."""
    values = results.counted(place).T
    return np.asarray(values[:, pairs.first] - values[:, pairs.second])
