"""Costs of documents, such as seconds or characters to read, for the measures EU, ETU, EC, ETC and ED."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.ids import to_bytes, to_text
from leadline.data.judged_run import JudgedRun, ListCosts
from leadline.data.reading import Cut
from leadline.errors import InputError, UsageError
from leadline.io.opening import read_whole
from leadline.kernels import plain

CostsLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, float] | Mapping[str, Mapping[str, float]]"
LINES = "document cost, or query document cost"


class Costs:
    """Costs of documents: the same for all queries, or by query.

    Parameters
    ----------
    of_all : mapping of bytes to float
        Cost by document, for every query.
    of_query : mapping of bytes to mapping
        Cost by query and document; has precedence.

    Examples
    --------
    >>> costs = Costs({b"d1": 2.0}, {b"q1": {b"d1": 3.0}})
    >>> costs.of(b"q1", [b"d1", b"d2"]).tolist(), costs.of(b"q2", [b"d1"]).tolist()
    ([3.0, nan], [2.0])
    """

    def __init__(
        self, of_all: Mapping[bytes, float], of_query: Mapping[bytes, Mapping[bytes, float]]
    ) -> None:
        self.of_all = of_all
        self.of_query = of_query

    def of(self, query: bytes, documents: list[bytes]) -> Floats:
        """Return the cost of documents of a query; NaN where there is none."""
        own = self.of_query.get(query)
        if own is None:
            return np.array([self.of_all.get(name, math.nan) for name in documents])
        return np.array([own.get(name, self.of_all.get(name, math.nan)) for name in documents])


def read_costs(source: Any) -> Costs:
    """Read costs from a file or a mapping.

    Parameters
    ----------
    source : path or mapping
        Lines of `document cost` or `query document cost`, separated by blanks, tabs or commas, `#` before a
        remark; or `{document: cost}` or `{query: {document: cost}}`.

    Raises
    ------
    InputError
        If a cost is not a number above 0, or a document is given twice.
    """
    if isinstance(source, (str, os.PathLike)):
        return _read(os.fspath(source))
    if not isinstance(source, Mapping):
        expected = "a path, {document: cost} or {query: {document: cost}}"
        raise UsageError(f"costs={type(source).__name__}; expected {expected}")
    of_all: dict[bytes, float] = {}
    of_query: dict[bytes, dict[bytes, float]] = {}
    for name, value in source.items():
        if isinstance(value, Mapping):
            of_query[to_bytes(name)] = {to_bytes(each): _cost(value[each], each) for each in value}
        else:
            of_all[to_bytes(name)] = _cost(value, name)
    return Costs(of_all, of_query)


def _cost(value: Any, document: str) -> float:
    if type(value) is not bool and isinstance(value, Real) and 0 < float(value) < math.inf:
        return float(value)
    raise InputError(f"document {document!r} has cost {value!r}", expected="a number above 0", path="costs")


def _read(path: str) -> Costs:
    of_all: dict[bytes, float] = {}
    of_query: dict[bytes, dict[bytes, float]] = {}
    window = read_whole(path)
    for line, raw in plain.data_lines(window.text[: window.end].tobytes()):
        fields = plain.fields_of(raw.replace(b",", b" "))
        if not fields:
            continue
        if len(fields) not in (2, 3):
            raise InputError(f"{len(fields)} columns", expected=LINES, path=path, line=line)
        try:
            cost = float(fields[-1])
        except ValueError:
            cost = math.nan
        if not 0 < cost < math.inf:
            found = f"cost '{to_text(fields[-1])}'"
            raise InputError(found, expected=f"a number above 0 ({LINES})", path=path, line=line)
        table = of_all if len(fields) == 2 else of_query.setdefault(fields[0], {})
        if table.setdefault(fields[-2], cost) != cost:
            found = f"another cost of document '{to_text(fields[-2])}'"
            raise InputError(found, expected="each document once", path=path, line=line)
    if not of_all and not of_query:
        raise InputError("contains no costs", expected=f"lines of {LINES}", path=path)
    return Costs(of_all, of_query)


def add_costs(judged: JudgedRun, costs: Costs, cut: Cut) -> tuple[int, int]:
    """Give a join, which kept its lists, the costs of its documents; count those without, and all."""
    lists = judged.lists
    if lists is None or lists.ids is None:
        raise UsageError("costs with runs in parts or by another engine; expected whole runs, engine local")
    query, rank, cost = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    lacking = total = 0
    for index in np.argsort(lists.queries, kind="stable").tolist():
        code = int(lists.queries[index])
        rows = np.arange(int(lists.bounds[index]), int(lists.bounds[index + 1]))
        if code < 0:
            continue
        if cut.judged_only:
            found = lists.rows[rows]
            rows = rows[(found >= 0) & (judged.qrels.levels[found] >= 0)]
        rows = rows[: cut.depth]
        known = costs.of(judged.qrels.queries.names[code], list(lists.ids.take(rows)))
        listed = np.flatnonzero(~np.isnan(known))
        query.append(np.full(len(listed), code))
        rank.append(listed + 1)
        cost.append(known[listed])
        lacking += len(rows) - len(listed)
        total += len(rows)
    judged.costs = ListCosts(np.concatenate(query), np.concatenate(rank), np.concatenate(cost))
    return lacking, total
