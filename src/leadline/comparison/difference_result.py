"""Result of the Information Difference of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from leadline.charts import COLUMN
from leadline.charts.grid import distance_map, distance_tree
from leadline.charts.line_plots import by_parameter, cumulative
from leadline.data.arrays import Flags, Floats, freeze
from leadline.data.ids import Vocabulary
from leadline.data.table import Column, RunInfo, Table, plain, printed_table
from leadline.data.validation import check_whole, check_word
from leadline.data.wording import counted, queries
from leadline.errors import UsageError
from leadline.evaluation.lookups import place_of
from leadline.result import Make, Result

MATRIX = 6  # maximum number of systems whose whole matrix is shown
LISTED = (
    ("nearest", "nearest pairs (id: Information Difference; difference in RIC)"),
    ("farthest", "farthest pairs"),
    ("same_score_far_apart", "similar RIC, large id"),
    ("near_but_unequal", "small id, different RIC"),
)


class DifferencePair(NamedTuple):
    """Two systems and their Information Difference.

    Attributes
    ----------
    a, b : str
        Names of the first and second system.
    id : float
        Mean Information Difference, in bits, at least 0.
    ric_difference : float
        Absolute difference of their mean RIC, in bits.
    """

    a: str
    b: str
    id: float
    ric_difference: float


@dataclass(repr=False, eq=False)
class Difference(Result):
    """RIC and Information Difference of systems, in bits.

    Attributes
    ----------
    ap : ndarray of float64, shape (n_systems, n_queries)
        Average precision; 0 where undefined.
    ric : ndarray of float64, shape (n_systems, n_queries)
        RIC in bits; NaN for excluded queries (without a relevant document or a second grade).
    concordance : ndarray of float64, shape (n_systems, n_queries)
        Concordance w (2c - 1), from -1 to 1; NaN for excluded queries.
    wrong_way : ndarray of bool, shape (n_systems, n_queries)
        Whether most pairs are in the wrong order.
    mean_only : ndarray of float64, shape (n_systems, n_systems)
        Mean conditional information of the row system given the column system, I(R_row; Q | R_column).
    only : ndarray of float64, shape (n_queries, n_systems, n_systems)
        Conditional mutual information by query. Not kept if an engine was chosen, or more than 2 GiB.
    competitors : dict of str to ndarray of float64, shape (n_systems, n_systems)
        Other similarities of the systems.
    """

    runs: list[RunInfo]
    queries: Vocabulary
    ric: Floats
    concordance: Floats
    wrong_way: Flags
    mean_only: Floats
    _only: Floats | None
    ap: Floats
    cutoff: int | None
    competitors: dict[str, Floats]

    def __post_init__(self) -> None:
        freeze(self.ric, self.concordance, self.wrong_way, self.mean_only)
        if self._only is not None:
            freeze(self._only)

    @property
    def names(self) -> list[str]:
        """Names of the systems."""
        return [run.name for run in self.runs]

    @property
    def keeps_queries(self) -> bool:
        """Whether the values of the pairs were kept for each query."""
        return self._only is not None

    @property
    def only(self) -> Floats:
        """Conditional mutual information by query."""
        if self._only is None:
            remedy = "Leave out the engine" if self.options.get("engine") else "Use fewer systems"
            raise UsageError(f"the per-query values of pairs of systems were not kept. {remedy}.")
        return self._only

    @cached_property
    def counted(self) -> Flags:
        """Flags of the queries over which means are taken."""
        return np.asarray(~np.isnan(self.ric[0]))

    @cached_property
    def mean_ric(self) -> Floats:
        """Mean RIC of each system."""
        return np.asarray(self.ric[:, self.counted].mean(axis=1))

    @cached_property
    def mean_concordance(self) -> Floats:
        """Mean concordance w (2c - 1) of each system, from -1 to 1."""
        return np.asarray(self.concordance[:, self.counted].mean(axis=1))

    @cached_property
    def mean_id(self) -> Floats:
        """Mean Information Difference of systems x systems; not a metric."""
        return self.mean_only + self.mean_only.T

    def id_of(self, a: str, b: str) -> float:
        """Return the mean Information Difference of two systems."""
        return float(self.mean_id[self.index_of(a), self.index_of(b)])

    def index_of(self, name: str) -> int:
        """Return the index of a system."""
        return place_of(self.names, name)

    def order(self) -> list[int]:
        """Return the indices of the systems in descending order of mean RIC."""
        best: list[int] = np.argsort(-self.mean_ric, kind="stable").tolist()
        return best

    @property
    def at(self) -> str:
        """Cutoff as in the names of columns, such as @10; empty without one."""
        return "" if self.cutoff is None else f"@{self.cutoff}"

    @cached_property
    def _ends(self) -> tuple[Any, Any]:
        return np.triu_indices(len(self.runs), 1)

    def _first_pairs(self, keys: np.ndarray[Any, Any], most: int) -> list[DifferencePair]:
        """Return the pairs of the smallest keys."""
        check_whole(0, most=most)
        first, second = (ends[np.argsort(keys, kind="stable")[:most]] for ends in self._ends)
        apart = abs(self.mean_ric[first] - self.mean_ric[second])
        pairs = zip(first.tolist(), second.tolist(), apart.tolist(), strict=True)
        return [
            DifferencePair(self.names[i], self.names[j], float(self.mean_id[i, j]), ric)
            for i, j, ric in pairs
        ]

    def nearest(self, most: int = 5) -> list[DifferencePair]:
        """Return the `most` pairs of smallest id, in ascending order."""
        return self._first_pairs(self.mean_id[self._ends], most)

    def farthest(self, most: int = 5) -> list[DifferencePair]:
        """Return the `most` pairs of largest id, in descending order."""
        return self._first_pairs(-self.mean_id[self._ends], most)

    def _contrast(self) -> Any:
        """Return the rank of each pair by id minus its rank by difference in RIC."""
        far, apart = (self.mean_id[self._ends], abs(self.mean_ric[:, None] - self.mean_ric)[self._ends])
        ranks = [np.argsort(np.argsort(values, kind="stable")) for values in (far, apart)]
        return ranks[0] - ranks[1]

    def same_score_far_apart(self, most: int = 5) -> list[DifferencePair]:
        """Return the pairs with similar RIC and large id, by the difference of their ranks."""
        contrast = self._contrast()
        return self._first_pairs(-contrast, min(most, int((contrast > 0).sum())))

    def near_but_unequal(self, most: int = 5) -> list[DifferencePair]:
        """Return the pairs with small id and different RIC, by the difference of their ranks."""
        contrast = self._contrast()
        return self._first_pairs(contrast, min(most, int((contrast < 0).sum())))

    def _columns(self) -> list[Column]:
        first, second = self._ends
        found = {
            f"id{self.at}": self.mean_id[first, second],
            "only_a": self.mean_only[first, second],
            "only_b": self.mean_only[second, first],
            f"RIC{self.at}_a": self.mean_ric[first],
            f"RIC{self.at}_b": self.mean_ric[second],
            **{name: table[first, second] for name, table in self.competitors.items()},
        }
        names = np.array(self.names, dtype=object)
        return [
            Column("a", names[first]),
            Column("b", names[second]),
            *(Column(name, values) for name, values in found.items()),
        ]

    def _tables(self) -> list[Table]:
        order = self.order()
        small = len(order) <= MATRIX
        names, ric = [self.names[system] for system in order], self.mean_ric[order]
        apart = self.mean_id[np.ix_(order, order)]
        if small:
            names = [f"{row} {name}" for row, name in enumerate(names, start=1)]
            others = [Column(f"to {place}", column) for place, column in enumerate(apart.T, start=1)]
        else:
            others = self._nearest(order)
        best = np.flatnonzero(ric == ric[0]).tolist() if len(order) > 1 else ()
        columns = [
            Column("system", names),
            Column(f"RIC{self.at}", ric, best=best),
            Column("concordance", self.mean_concordance[order], dropped=1),
            Column("reversed", self.wrong_way[order].sum(axis=1), dropped=2),
            *others,
        ]
        return [printed_table(columns, notes=self._notes())]

    def _nearest(self, order: Sequence[int]) -> list[Column]:
        """Return the columns of the nearest other system of each, and of the mean id to the others."""
        far = self.mean_id.copy()
        np.fill_diagonal(far, np.nan)
        nearest = np.nanargmin(far, axis=1)[order]
        return [
            Column("nearest", [self.names[system] for system in nearest.tolist()]),
            Column(f"id{self.at}", far[order, nearest]),
            Column("mean id", np.nanmean(far, axis=1)[order]),
        ]

    def _notes(self) -> list[str]:
        small = len(self.names) <= MATRIX
        return [
            f"{counted(len(self.names), 'system')}, mean over {queries(int(self.counted.sum()))}; RIC and id "
            + ("as a share of the ideal list's RIC" if self.options["normalise"] else "in bits"),
            *[f"to 1, to 2, ...: id{self.at} (Information Difference) to the system with that number"]
            * small,
            "reversed: number of lists that rank most of their document pairs in the wrong order",
            *self._lists(),
            *super()._notes(),
        ]

    def _in_data(self, note: str) -> str:
        return "" if note.startswith(("to 1, to 2", "reversed: ")) else note

    def _beside(self) -> list[str]:
        """Return the values of other similarity measures, pair by pair for up to three systems."""
        if not self.competitors or len(self.names) < 2:
            return []
        if len(self.names) > 3:
            return [", ".join(self.competitors) + ": in CSV and JSON output, for all pairs"]
        return [
            f"{self.names[i]} and {self.names[j]}: "
            + ", ".join(
                f"{name} {table[i, j]:.4f}" if np.isfinite(table[i, j]) else f"{name} -"
                for name, table in self.competitors.items()
            )
            for i, j in zip(*self._ends, strict=True)
        ]

    def _lists(self) -> list[str]:
        lines = self._beside()
        for method, title in LISTED if len(self.names) > 2 else ():
            pairs: list[DifferencePair] = getattr(self, method)(3)
            listed = [f"{pair.a} - {pair.b} {pair.id:.4f}, {pair.ric_difference:.4f}" for pair in pairs]
            if listed:
                lines.append(f"{title}: {'; '.join(listed)}")
        return lines

    def lines(self) -> list[dict[str, Any]]:
        """Return one record per system."""
        return [
            {
                "name": name,
                "ric": float(self.mean_ric[index]),
                "concordance": float(self.mean_concordance[index]),
                "wrong_way": int(self.wrong_way[index].sum()),
                "id": dict(zip(self.names, self.mean_id[index].tolist(), strict=True)),
            }
            for index, name in enumerate(self.names)
        ]

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return a dictionary with the keys k, systems, ric, concordance, wrong_way, id and others.

        Parameters
        ----------
        per_query : bool, default False
            Add the values of each query.
        """
        names = self.names
        data: dict[str, Any] = {
            "k": self.cutoff,
            "systems": names,
            "queries": int(self.counted.sum()),
            "ric": dict(zip(names, self.mean_ric.tolist(), strict=True)),
            "concordance": dict(zip(names, self.mean_concordance.tolist(), strict=True)),
            "wrong_way": dict(zip(names, self.wrong_way.sum(axis=1).tolist(), strict=True)),
            "id": self.mean_id.tolist(),
            "only_first": self.mean_only.tolist(),
            "competitors": {
                name: [list(map(plain, row)) for row in table.tolist()]
                for name, table in self.competitors.items()
            },
            **{name: [pair._asdict() for pair in getattr(self, name)()] for name, _ in LISTED},
        }
        if per_query:
            data["per_query"] = {query: self._query(index) for index, query in enumerate(self.queries)}
        return data

    def _query(self, index: int) -> dict[str, Any] | None:
        """Return the values of one query as a dictionary; None for excluded queries."""
        if not self.counted[index]:
            return None
        only = self.only[index]
        return {
            "ric": dict(zip(self.names, self.ric[:, index].tolist(), strict=True)),
            "concordance": dict(zip(self.names, self.concordance[:, index].tolist(), strict=True)),
            "wrong_way": [
                name
                for name, wrong in zip(self.names, self.wrong_way[:, index].tolist(), strict=True)
                if wrong
            ],
            "id": (only + only.T).tolist(),
            "only_first": only.tolist(),
        }

    def _figure(
        self,
        *,
        figure: str = "map",
        groups: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
    ) -> Make:
        """Draw a map or a tree of systems, a cumulative histogram of id, or RIC by a parameter."""
        check_word(("map", "tree", "cumulative", "parameter"), figure=figure)
        unit = "share of the ideal" if self.options["normalise"] else "bits"
        label = f"Information Difference{self.at} ({unit})"
        teams = [groups.get(name, "") for name in self.names] if groups else []
        if figure in ("map", "tree"):
            draw = distance_map if figure == "map" else distance_tree
            return lambda width: draw(self.names, self.mean_id, groups=teams, label=label, width=width)
        if figure == "parameter":
            points = self._families(groups or {}, parameters or {})
            return lambda width: by_parameter(points, label=f"RIC{self.at} ({unit})", width=width or COLUMN)
        first, second = self._ends
        values = {"all pairs": self.mean_id[first, second].tolist()}
        if teams:
            of = np.array(teams)
            same = (of[first] == of[second]) & (of[first] != "")
            for name, chosen in (("within a group", same), ("between groups", ~same)):
                values[name] = self.mean_id[first, second][chosen].tolist()
        return lambda width: cumulative(values, label=label, width=width or COLUMN)

    def _families(
        self, groups: Mapping[str, str], parameters: Mapping[str, str]
    ) -> dict[str, list[tuple[float, float]]]:
        """Return pairs of parameter and RIC of the systems of every family."""
        families: dict[str, list[tuple[float, float]]] = {}
        for name, ric in zip(self.names, self.mean_ric.tolist(), strict=True):
            if name in groups and name in parameters:
                try:
                    value = float(parameters[name])
                except (TypeError, ValueError):
                    raise UsageError(
                        f"the parameter {parameters[name]!r} of run '{name}' is not a number"
                    ) from None
                families.setdefault(groups[name], []).append((value, ric))
        if not families:
            raise UsageError(
                "no run has both a group and a parameter. Pass both for each run, under its name, such "
                f"as '{self.names[0]}'."
            )
        return families

    def __repr__(self) -> str:
        sizes = f"{counted(len(self.runs), 'system')}, {queries(int(self.counted.sum()))}"
        return f"Difference({sizes}, id{self.at})"
