"""Conventions of evaluation in which programs differ, and the values of a measure under each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, Integers
from leadline.data.ids import Vocabulary, to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Reading
from leadline.data.run import MatchedLists
from leadline.errors import InputError
from leadline.evaluation.bounds import RULES, sorted_ties
from leadline.io.formats import TREC, opened, records_of
from leadline.io.objects import Qrels, Run, read_run
from leadline.io.read import RunLike
from leadline.io.row_checks import lists_of
from leadline.io.run_lists import Lists, lists_of_run
from leadline.kernels import plain
from leadline.measures import Measure
from leadline.measures.user_models import RBP

CAUSES = {
    "ties": "order of tied documents",
    "single_precision": "precision of the scores",
    "duplicates": "documents retrieved twice",
    "identical_ids": "documents with the same id as their query",
    "unjudged": "unjudged documents",
    "level": "minimum relevant grade",
    "gain": "gains of the grades",
    "discount": "discount by rank",
    "rule": "rule of interpolation",
    "cutoff": "cutoff of the measure",
    "depth": "length of the lists",
    "missing_queries": "queries that the run lacks",
    "no_relevant": "queries without a relevant document",
    "unjudged_queries": "queries without judgments",
    "order": "column that determines the order",
    "ideal": "documents whose judgments count",
    "fractions": "fractional grades",
    "negative": "negative grades",
    "norm": "normalization",
    "form": "form of the measure",
}
PARAMETERS = ("gain", "discount", "rule", "norm", "form")  # of measures, with a list of options
# Causes that change the ranked lists.
OF_LISTS = ("ties", "single_precision", "duplicates", "identical_ids", "unjudged", "depth", "order")
ABSENT = ("missing_queries", "no_relevant", "unjudged_queries")  # what counts for a query without a value
CUTOFFS = (1, 3, 5, 10, 20, 30, 50, 100, 1000)
DEPTHS = (5, 10, 20, 50, 100, 1000)
MOST_GRADES = 6  # of which each is tried as the minimum relevant grade
# The settings of the causes, as the programs have them; the first is that of trec_eval or leadline. Those of
# a parameter of the measure are its options.
SETTINGS = {
    "ties": {
        "descending_id": "by descending document id (trec_eval, pytrec_eval, ir_measures, leadline)",
        "ascending_id": "by ascending document id (ir_measures' RR@k)",
        "input_order": "in the order of the file (a stable sort, as in MTEB's MRR)",
        "reversed_order": "in the reverse order of the file (an ascending stable sort, reversed)",
    },
    "single_precision": {
        "double": "64-bit (trec_eval 10, leadline)",
        "single": "32-bit, so close scores are ties (trec_eval 9, pytrec_eval)",
    },
    "duplicates": {
        "last": "the last one counts, with its score (as in a dictionary)",
        "first": "the first one counts",
        "max": "the one with the highest score counts",
        "hold": "repeats keep their ranks and count as non-relevant",
        "each": "each one counts again",
    },
    "identical_ids": {"kept": "kept (trec_eval)", "dropped": "dropped (MTEB, BEIR)"},
    "unjudged": {
        "kept": "kept as non-relevant",
        "removed": "removed from the lists (trec_eval -J, judged_only)",
    },
    "discount": {"log2": "1 / log2(rank + 1)", "jk": "1 / log2(rank) from rank 3 (Jarvelin and Kekalainen)"},
    "rule": {
        "standard": "reached exactly",
        "trec9": "int(level x R + 0.9) relevant documents (trec_eval 9, pytrec_eval)",
        "trec10": "level x R relevant documents, rounded (trec_eval 10)",
    },
    "missing_queries": {
        "zero": "counted as 0 (leadline, trec_eval -c, ir_measures)",
        "left_out": "left out (trec_eval, pytrec_eval)",
    },
    "no_relevant": {"zero": "counted as 0 (trec_eval, pytrec_eval)", "left_out": "undefined or left out"},
    "unjudged_queries": {"left_out": "left out (trec_eval, pytrec_eval, leadline)", "zero": "counted as 0"},
    "order": {"score": "scores (trec_eval)", "rank": "ranks"},
    "ideal": {"judged": "all judged documents", "retrieved": "the retrieved documents only"},
    "fractions": {"kept": "kept", "truncated": "truncated (trec_eval)"},
    "negative": {"nonrelevant": "judged non-relevant", "unjudged": "unjudged"},
    "gain": {
        "linear": "the grade (trec_eval, pytrec_eval)",
        "exp": "2^grade - 1 (Burges)",
        "binary": "1 for a relevant document",
        "graded": "grade / max_grade",
        "scaled": "grade / largest grade of the query (trec_eval 10)",
        "undivided": "the grade itself, so values may exceed 1 (ranx)",
    },
}
Changes = Mapping[str, str]
DROPPING = Reading(on_nan="drop")


class Setting(NamedTuple):
    """One convention of a cause, with its description."""

    cause: str
    name: str
    says: str


class RawLists:
    """The rows of a run as in its file: nothing is ordered, repaired or dropped.

    `query` and `row` are codes in the qrels, -1 if there is none; `rank` is -1 if unknown; `document` numbers
    are in the byte order of the ids; `same` flags documents with the same id as their query.
    """

    def __init__(self, source: RunLike, qrels: Qrels) -> None:
        lists = _plain_lists(source)
        codes = qrels.queries.encode(lists.queries)
        sizes = np.diff(lists.bounds)
        query = np.repeat(codes, sizes)
        judged = np.flatnonzero(query >= 0)
        documents = list(lists.ids())
        owners = (name for name, size in zip(lists.queries, sizes.tolist(), strict=True) for _ in range(size))
        same = [owner == name for owner, name in zip(owners, documents, strict=True)]
        rank = lists.ranks if len(lists.ranks) == len(lists.scores) else np.full(len(lists.scores), -1)
        self.names = set(map(to_text, lists.queries))
        self.query: Integers = query[judged]
        self.row: Codes = lists.looked_up(qrels, codes)[judged]
        self.score: Floats = lists.scores[judged]
        self.rank: Integers = rank[judged]
        self.document: Integers = Vocabulary.of_bytes(documents).encode(documents)[judged]
        self.same: Flags = np.array(same, dtype=np.bool_)[judged]

    @cached_property
    def repeats(self) -> Flags:
        """Whether the document was in the list before."""
        return self._again(np.lexsort((np.arange(len(self.query)), self.document, self.query)))

    def kept(self, rule: str) -> Flags:
        """Return flags of the occurrences of each document that a rule of duplicates keeps."""
        if rule in ("hold", "each") or not self.repeats.any():
            return np.ones(len(self.query), dtype=np.bool_)
        place = np.arange(len(self.query))
        first = {"first": place, "last": -place, "max": -self.score}[rule]
        return ~self._again(np.lexsort((place, first, self.document, self.query)))

    def held(self, order: Integers) -> Flags:
        """Return flags of the rows, in an order of all lists, whose document is in the list above."""
        rows = np.lexsort((np.arange(len(order)), self.document[order], self.query[order]))
        return self._again(order[rows])[order]

    def _again(self, order: Integers) -> Flags:
        """Return flags of the rows that have query and document of the row before them in an order."""
        again = np.zeros(len(self.query), dtype=np.bool_)
        again[order[1:]] = (np.diff(self.document[order]) == 0) & (np.diff(self.query[order]) == 0)
        return again


def _plain_lists(source: RunLike) -> Lists:
    """Return the lists of a run in the order of its rows, repeated documents included."""
    if isinstance(source, (str, os.PathLike)):
        file = opened(os.fspath(source), read=True)
        if file.format is not TREC:
            return lists_of(records_of(file, "score"), "score", DROPPING)
        chunk = file.text
        try:
            rows = plain.scan_run(chunk.text[: chunk.end].tobytes(), 1, True, drop_nan=True)
        except InputError as error:
            raise error.at(file.path) from None
        lists = Lists.of_rows(rows)
        lists.group()
        return lists
    if isinstance(source, Mapping):
        from leadline.io.python_inputs import mapping_records

        return lists_of(mapping_records(source, "score", path="run", subtopics=False), "score", DROPPING)
    run = source if isinstance(source, Run) else read_run(source)
    return lists_of_run(run)


class Conventions:
    """Values of a measure of one run under different conventions, by query or as their mean."""

    def __init__(
        self, run: RunLike, qrels: Qrels, measure: Measure, queries: Sequence[str], *, mean: bool = False
    ) -> None:
        self.qrels = qrels
        self.lists = RawLists(run, qrels)
        self.measure = measure
        self.mean = mean
        codes = [qrels.queries.code(query) for query in queries]
        self.codes: Integers = np.array([-1 if code is None else code for code in codes], dtype=np.int64)
        listed = np.array([query in self.lists.names for query in queries], dtype=np.bool_)
        self.unjudged: Flags = listed & (self.codes < 0)
        known = self._known()
        self.settings = {
            cause: [Setting(cause, name, says) for name, says in known[cause].items()]
            for cause in CAUSES
            if len(known.get(cause, ())) > 1
        }
        self._lists = lru_cache(maxsize=64)(self._sorted)
        self._computed = lru_cache(maxsize=None)(self._compute)

    def _known(self) -> dict[str, dict[str, str]]:
        """Return the settings of the causes that may differ here, with their descriptions."""
        lists, grades, parameters = self.lists, self.qrels.grades, self.measure.parameters()
        matters = {
            "duplicates": lists.repeats.any(),
            "identical_ids": lists.same.any(),
            "unjudged": (lists.row < 0).any(),
            "order": len(lists.rank) > 0 and (lists.rank >= 0).all(),
            "fractions": (grades != np.trunc(grades)).any(),
            "negative": (grades < 0).any(),
            "unjudged_queries": self.unjudged.any(),
        }
        known = {
            cause: says
            for cause, says in SETTINGS.items()
            if cause not in PARAMETERS and matters.get(cause, True)
        }
        longest = int(np.bincount(lists.query).max(initial=0))
        cut = "lists cut at {} documents before evaluation"
        known["depth"] = {"whole": "whole lists"} | {
            str(depth): cut.format(depth) for depth in DEPTHS if depth < longest
        }
        if "rel" in parameters:
            own = f"{self.measure.rel:g}"  # type: ignore[attr-defined]  # a parameter of many measures
            levels = (own, *self._grades(1e-9), *self._grades(0.0)[:1])
            known["level"] = {name: f"grade {name} or more" for name in levels}
        name = self.measure.cutoff_name()
        if name and parameters[name].type is int:
            without = [None] if parameters[name].default is None else []
            cutoffs = (getattr(self.measure, name), *without, *CUTOFFS)
            known["cutoff"] = {str(each or "none"): f"rank {each}" if each else "none" for each in cutoffs}
        for cause in PARAMETERS:
            options = parameters[cause].options if cause in parameters else ()
            if options:
                others = sorted(options, key=lambda option: not option.startswith("trec"))
                others = [option for option in others if not option.startswith("printed")]
                says = SETTINGS.get(cause, {})
                known[cause] = {
                    option: says.get(option, option)
                    for option in (str(getattr(self.measure, cause)), *others)
                }
        if isinstance(self.measure, RBP):
            known["gain"]["undivided"] = SETTINGS["gain"]["undivided"]
        elif "rel" not in parameters and type(self.measure).__name__ in GAIN_MEASURES:
            positive = self._grades(1.0)
            known["gain"] = known.get("gain", {"grade": "grade"}) | {
                f"{kind}_{grade}": says.format(grade)
                for kind, says in GAINS.items()
                for grade in (positive if kind == "binary" else positive[1:])
            }
        return known

    def _grades(self, low: float) -> list[str]:
        grades = np.unique(self.qrels.grades)
        return [f"{grade:g}" for grade in grades[grades >= low].tolist()][:MOST_GRADES]

    # Values.

    def judged(self, changed: Changes) -> JudgedRun:
        """Return the join of the run and the judgments under some conventions."""
        lists = self._lists(**{cause: name for cause, name in changed.items() if cause in OF_LISTS})
        qrels, rows = self._judgments(changed, lists)
        return JudgedRun.of_lists(qrels, [lists._replace(rows=rows)], tops=self.measure.scored)

    def values(self, changed: Changes) -> Floats:
        """Return the values under some conventions, the first setting of each other cause; NaN is none."""
        found, present = self._computed(frozenset(one for one in changed.items() if one[0] not in ABSENT))
        return self._finished(found, present, changed)

    def _compute(self, chosen: frozenset[tuple[str, str]]) -> tuple[Floats, Flags]:
        """Return the values of all judged queries under some conventions, and which the run has."""
        changed = dict(chosen)
        judged = self.judged(changed)
        with np.errstate(all="ignore"):
            values = self._measure(changed).values(judged)
        return values * self._largest if changed.get("gain") == "undivided" else values, judged.present

    def over_ties(self, changed: Changes) -> tuple[Floats, Floats] | None:
        """Return the lowest and highest values over the orders of tied documents; None if not proven."""
        if type(self.measure).__name__ not in RULES:
            return None
        judged, measure = self.judged(changed), self._measure(changed)
        ends = [measure.values(sorted_ties(judged, best=best)) for best in (False, True)]
        return (
            self._finished(np.minimum(*ends), judged.present, changed),
            self._finished(np.maximum(*ends), judged.present, changed),
        )

    def _finished(self, found: Floats, present: Flags, changed: Changes) -> Floats:
        """Return values of the queries asked for, with absent and undefined ones as agreed."""
        undefined = np.nan if changed.get("no_relevant") == "left_out" else 0.0
        found = np.where(np.isnan(found), undefined, found)
        if changed.get("missing_queries") == "left_out":
            found = np.where(present, found, np.nan)
        if self.mean:
            there = found[~np.isnan(found)]
            return np.array([there.mean() if len(there) else np.nan])
        values = np.full(len(self.codes), np.nan)
        known = self.codes >= 0
        values[known] = found[self.codes[known]]
        if changed.get("unjudged_queries") == "zero":
            values[self.unjudged] = 0.0
        return values

    def _sorted(
        self,
        *,
        ties: str = "",
        single_precision: str = "",
        duplicates: str = "last",
        identical_ids: str = "",
        unjudged: str = "",
        depth: str = "whole",
        order: str = "",
    ) -> MatchedLists:
        """Return the ranked lists under some conventions, matched with the judgments."""
        raw = self.lists
        score = raw.score
        if single_precision == "single":
            with np.errstate(over="ignore"):
                score = score.astype(np.float32).astype(np.float64)
        if order == "rank":
            score = -raw.rank.astype(np.float64)
        place = np.arange(len(score))
        others = {"ascending_id": raw.document, "input_order": place, "reversed_order": -place}
        kept = raw.kept(duplicates)
        if identical_ids == "dropped":
            kept &= ~raw.same
        ranked = np.lexsort((place, others.get(ties, -raw.document), -score, raw.query))
        ranked = ranked[kept[ranked]]
        row = raw.row[ranked].copy()
        if duplicates == "hold":
            row[raw.held(ranked)] = -1
        queries = np.unique(raw.query)
        if unjudged == "removed":
            judged = row >= 0
            judged[judged] = self.qrels.grades[row[judged]] >= 0
            ranked, row = ranked[judged], row[judged]
        if depth != "whole":
            rank = np.arange(len(ranked)) - np.searchsorted(raw.query[ranked], raw.query[ranked])
            within = rank < int(depth)
            ranked, row = ranked[within], row[within]
        bounds = np.searchsorted(raw.query[ranked], np.append(queries, len(self.qrels.queries)))
        return MatchedLists(queries, bounds.astype(np.int64), row.astype(np.int32), score[ranked])

    def _judgments(self, changed: Changes, lists: MatchedLists) -> tuple[Qrels, Codes]:
        """Return the judgments under some conventions, and the row of each retrieved document there."""
        qrels = self.qrels
        grades = qrels.grades
        if changed.get("fractions") == "truncated":
            grades = np.trunc(grades)
        kind, _, number = changed.get("gain", "").rpartition("_")
        if kind in GAINS:
            grades = _gained(grades, kind, float(number))
        if grades is not qrels.grades:
            qrels = Qrels.of_columns(qrels.queries, qrels.begin, qrels.end, qrels.documents, grades)
        kept = np.ones(len(grades), dtype=np.bool_)
        if changed.get("negative") == "unjudged":
            kept &= grades >= 0
        if changed.get("ideal") == "retrieved":
            found = np.zeros(len(grades), dtype=np.bool_)
            found[lists.rows[lists.rows >= 0]] = True
            kept &= found
        if kept.all():
            return qrels, lists.rows
        number_of = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        rows = np.where(lists.rows >= 0, number_of[lists.rows], -1).astype(np.int32)
        return qrels.keep(kept), rows

    def _measure(self, changed: Changes) -> Measure:
        """Return the measure under some conventions."""
        parameters = self.measure.parameters()
        changes: dict[str, object] = {
            name: option
            for name, option in changed.items()
            if name in PARAMETERS and name in parameters and option in parameters[name].options
        }
        if "level" in changed:
            changes["rel"] = float(changed["level"])
        if "cutoff" in changed:
            cutoff = changed["cutoff"]
            changes[self.measure.cutoff_name() or ""] = None if cutoff == "none" else int(cutoff)
        if changed.get("gain") == "undivided":
            changes |= {"gain": "graded", "max_grade": self._largest}
        made: Measure = self.measure.replace(**changes) if changes else self.measure
        return made

    @property
    def _largest(self) -> float:
        """Largest grade of the judgments, or 1 if none is above 0."""
        largest = float(self.qrels.highest_grade)
        return largest if largest > 0 else 1.0


GAINS = {
    "binary": "1 for grade {} or more (binary)",
    "from": "the grade, or 0 below grade {}",
    "less": "the grade - {0} + 1, or 0 below grade {0}",
}
GAIN_MEASURES = frozenset({"CG", "DCG", "nDCG", "GnDCG", "RnDCG", "nDCGrel", "SDCG"})


def _gained(grades: Floats, kind: str, grade: float) -> Floats:
    """Return grades changed by a rule of gains.

    >>> _gained(np.array([0.0, 1.0, 2.0, 3.0]), "less", 2.0)
    array([0., 0., 1., 2.])
    """
    reached = grades >= grade
    if kind == "binary":
        return np.where(reached, 1.0, np.minimum(grades, 0.0))
    return np.where(reached, grades - (grade - 1.0 if kind == "less" else 0.0), np.minimum(grades, 0.0))
