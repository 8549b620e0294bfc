"""Groups of queries that go together: read from a table, coded in the order of the queries."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leadline.arrays import Integers
from leadline.errors import InputError, UsageError
from leadline.results import Results


def read_query_groups(place: str) -> dict[str, str]:
    """Return the group of every query from FILE:COLUMN, a table with a header.

    The first column is the query id.
    """
    from leadline.formats.csv import table_of
    from leadline.formats.opening import read_whole, text_of

    path, _, column = place.rpartition(":")
    if not path or not column:
        raise UsageError(f"'{place}'; expected FILE:COLUMN, as in queries.tsv:paragraph")
    header, rows = table_of(text_of(read_whole(path)), path)
    if column not in header:
        raise InputError(
            f"no column '{column}'", expected="one of " + ", ".join(header), path=path, line=1
        )
    wanted = header.index(column)
    found: dict[str, str] = {}
    for line, row in rows:
        if found.setdefault(row[0], row[wanted]) != row[wanted]:
            raise InputError(
                f"query '{row[0]}' in a second group", expected="one group", path=path, line=line
            )
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
            expected="a group for every query", path=place.rpartition(":")[0] or place,
        )  # fmt: skip
    # a query outside every mean is a group of its own: no difference has it
    names = [str(labels[query]) if query in labels else f"\0{query}" for query in results.queries]
    order = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return place, np.array([order[name] for name in names], dtype=np.int64)
