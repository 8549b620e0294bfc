"""Counts and warnings of missing, tied, unjudged and repaired input."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import Reading
from leadline.data.table import MACHINE_LABELS, Averaged, ResultWarning, RunInfo, raised
from leadline.data.wording import counted, counted_in, first_few, listed, listed_few, percent, queries
from leadline.errors import InputError, UsageError, either
from leadline.io.row_checks import ABOUT_MACHINES
from leadline.io.run_lists import READ_WARNINGS, ReadCounts
from leadline.io.selection import absent
from leadline.measures import Measure


class Returned(NamedTuple):
    """Queries without an answer for which a run returned documents: how many, and the best of some."""

    number: int = 0
    examples: tuple[tuple[str, str, float], ...] = ()

    @classmethod
    def of(cls, judged: JudgedRun, measures: Sequence[Measure], values: Floats) -> Returned:
        """Return what the first measure of queries without an answer counts as returned."""
        place = next((place for place, measure in enumerate(measures) if measure.unanswered), None)
        if place is None or judged.tops is None:
            return cls()
        codes = np.flatnonzero(values[:, place] == 0).tolist()
        names, score = judged.tops.document, judged.tops.score
        found = ((judged.qrels.queries[code], names[code], float(score[code])) for code in codes)
        return cls(len(codes), tuple(sorted(found)[:EXAMPLES]))

    def plus(self, other: Returned) -> Returned:
        """Return both together, the examples in the order of the queries."""
        return Returned(self.number + other.number, tuple(sorted(self.examples + other.examples)[:EXAMPLES]))


EXAMPLES = 3  # of queries
TOP = 10  # ranks at which the unjudged shares of runs are compared, so that list lengths do not matter
LARGEST_SIGNIFICANCE = 0.2  # a larger number is hardly meant as a significance level
UNEVEN = 0.1  # largest difference between the unjudged shares of two runs without a warning
GRADED = 2  # least grade above that of plain relevance
NAMED = 4  # maximum number of runs whose unjudged shares are all listed


def counts_of(judged: JudgedRun, counts: ReadCounts, measures: Sequence[Measure]) -> dict[str, int]:
    """Return the counts of one run by name, from which the warnings are made."""
    top = int(np.minimum(judged.length, TOP).sum())
    return {
        "documents_read": counts.rows,
        "documents": int(judged.length.sum()),
        "unjudged_documents": int(judged.length.sum()) - int((judged.levels >= 0).sum()),
        "top_documents": top,
        "unjudged_top_documents": top - int(((judged.levels >= 0) & (judged.rank <= TOP)).sum()),
        "queries": int(judged.present.sum()),
        "missing_queries": int((~judged.present).sum()),
        "empty_queries": int((judged.present & (judged.length == 0)).sum()),
        "unjudged_queries": counts.unjudged_queries,
        "tied_lists": judged.count_queries(judged.tied),
        "tied_cutoffs": tied_cutoffs(judged, measures),
    } | {code: getattr(counts, name) for name, (code, _) in READ_WARNINGS.items()}


def counts_of_reading(counts: ReadCounts, reading: Reading) -> dict[str, int]:
    """Return the counts of one run that is read without judgments."""
    return {
        "documents_read": counts.rows,
        "identical_ids": counts.identical,
        "absent_queries": absent(reading, counts.queries),
    }


def selection_warnings(infos: Sequence[RunInfo]) -> list[ResultWarning]:
    """Return warnings of what was left out of runs that are read without judgments."""
    messages = {
        "identical_ids": PER_RUN["identical_ids"],
        "absent_queries": ("selected query", "selected queries", "missing{from_runs}"),
    }
    warnings = []
    for code, template in messages.items():
        counts = [info.counts.get(code, 0) for info in infos]
        message = counted_in(template, list(filter(None, counts)) or [0], runs=runs_in_words(infos, counts))
        warnings.append((code, message, sum(counts)))
    return raised(*warnings)


def tied_cutoffs(judged: JudgedRun, measures: Sequence[Measure]) -> int:
    """Return the number of lists in which the depth or a cutoff falls within a tie with a judged document."""
    cutoffs = {cutoff for m in measures if (cutoff := getattr(m, "cutoff", None)) is not None}
    rows = np.flatnonzero(judged.tied)
    first, last = judged.rank[rows] - judged.above[rows], judged.rank[rows] + judged.below[rows]
    parted = np.zeros(len(rows), dtype=np.bool_)
    fitting = [size[judged.query[rows]] for size in judged.fitting.values()]
    for cutoff in [*cutoffs, *fitting] if len(rows) else ():
        parted |= (first <= cutoff) & (cutoff < last)
    return int(np.count_nonzero(judged.cut_in_ties | (judged.total(judged.query[rows[parted]]) > 0)))


# Messages about counts that are summed over runs: what is counted, once and several times, and the rest.
PER_RUN: dict[str, tuple[str, str, str]] = {
    "missing_queries": ("judged query", "judged queries", "missing{from_runs} ({missing})"),
    "empty_queries": ("judged query", "judged queries", "with an empty list{in_runs} ({empty})"),
    "unjudged_queries": ("query", "queries", "without judgments{in_runs} (left out)"),
    "unjudged_documents": ("", "", "unjudged: {share} of the documents in {runs} (counted as not relevant)"),
    "tied_lists": ("query", "queries", "with tied judged documents{in_runs} (ordered by descending id)"),
    "tied_cutoffs": ("query", "queries", "with a tie across a cutoff{in_runs}"),
} | dict(READ_WARNINGS.values())
MISSING_RULES = {
    "both": "left out of the run's means",
    "complete": "no mean, as in trec_eval 10; for a mean, add --config scores.queries=all",
}
SCORED = ("all", "with_relevant")  # rules by which missing queries are scored 0
# By these and other rules, what becomes of queries without an answer that are missing.
UNANSWERED_RULES = dict.fromkeys(SCORED, " (if missing from a run, scored 1)") | {
    "both": " (if missing from a run, left out)"
}
LEFT_OUT = "; left out if missing from a run"  # of queries without a relevant document, by the rule "both"
UNDEFINED_RULES = {
    "mean": "scored 0",
    "defined": "left out of its mean",
    "geometric": "scored 0.00001",
    "sum": "left out of its sum",
}


def warnings_of(
    infos: Sequence[RunInfo],
    qrels: QrelsColumns,
    *,
    averaging: str = "all",
    levels: Sequence[float] | None = None,
    measures: Sequence[Measure] = (),
) -> list[ResultWarning]:
    """Return the warnings of runs and judgments whose counts are not 0; `levels` as those of `levels_of`."""
    levels = levels_of(measures) if levels is None else levels
    zero = _zero(measures)
    others = [
        str(one)
        for one in measures
        if one.unanswered
        or (one.average == "geometric" and zero == UNDEFINED_RULES["mean"])
        or (averaging != "with_relevant" and one.average == "mean" and not one.zero_without_relevant)
    ]
    warnings = [ResultWarning(*remark) for remark in qrels.remarks]
    rule = "left out of the means" if averaging == "with_relevant" else zero
    for rel in levels:
        count = _unanswered(qrels, rel)
        grade = "" if rel == 1.0 else f" of grade {rel:g} or more"
        over = counted(count, "judged query", "judged queries")
        alone = f" for measures with rel={rel:g}" * (rel > min(levels))
        except_by = f", except for {listed_few(others)}" if others else ""
        left_out = LEFT_OUT * (averaging == "both")
        message = f"{over} without a relevant document{grade} ({rule}{alone}{except_by}{left_out})"
        warnings.append(ResultWarning("no_relevant", message, count))
    if qrels.subtopics is not None and len(qrels.subtopics.names) == 1:
        name = qrels.subtopics.names[0]
        message = (
            f"all judgments have the same subtopic ({name}). If they are not by subtopic, leave out "
            "--config read.subtopics"
        )
        warnings.append(ResultWarning("one_subtopic", message, 1))
    counted_runs = count_warnings(infos, averaging=averaging, levels=levels, measures=measures)
    every = [no_overlap(infos), *warnings, *counted_runs]
    return [notice for notice in every if notice.count]


def count_warnings(
    infos: Sequence[RunInfo],
    *,
    averaging: str = "all",
    levels: Sequence[float] = (1.0,),
    measures: Sequence[Averaged] = (),
) -> list[ResultWarning]:
    """Return the warnings that are made of the counts of runs."""
    zero = bool(levels) and all(getattr(one, "zero_without_list", True) for one in measures)
    zero &= len({one.average == "geometric" for one in measures}) < 2
    warnings = []
    for code, template in PER_RUN.items():
        counts = [info.counts.get(code, 0) for info in infos]  # a saved file may lack a newer count
        if not any(counts):
            continue
        empty = "treated as an empty ranking" if sum(counts) == 1 else "treated as empty rankings"
        scored = _zero(measures) if zero else empty
        others = f"{scored}, or left out if nothing is relevant"
        rules = MISSING_RULES | {"all": scored, "with_relevant": others}
        documents = sum(info.counts["documents"] for info, count in zip(infos, counts, strict=True) if count)
        message = counted_in(
            template,
            list(filter(None, counts)),
            runs=runs_in_words(infos, counts),
            missing=rules[averaging],
            empty=rules[averaging if averaging in SCORED else "all"],
            share=share_of(sum(counts), documents),
        )
        warnings.append(ResultWarning(code, message, sum(counts)))
    return [*warnings, _uneven(infos)]


def no_overlap(infos: Sequence[RunInfo]) -> ResultWarning:
    """Return a warning of runs without any judged query."""
    nothing = [info.name for info in infos if info.counts["queries"] == 0]
    message = f"no query in {either(nothing)} is judged. Do the query ids match?" if nothing else ""
    return ResultWarning("no_overlap", message, len(nothing))


def check_level(rel: float | None, qrels: QrelsColumns) -> None:
    """Raise UsageError for a minimum relevant grade between 0 and 1 where all grades are whole numbers.

    >>> check_level(0.5, QrelsColumns.of([("q", "a", 0.5)])), check_level(1, QrelsColumns.of([("q", "a", 1)]))
    (None, None)
    """
    if rel is None or not 0 < rel < 1 or (qrels.grades != np.floor(qrels.grades)).any():
        return
    confidence = f"{1 - rel:g}`"
    level = f". For a significance level of {rel:g}, use `leadline compare --confidence {confidence}"
    level += f" (in Python, `compare` with `confidence={confidence})"
    raise UsageError(
        f"a level of {rel:g} (`--level`) does not suit whole-number grades. Pass the "
        f"lowest relevant grade, such as 1{level if 1e-6 <= rel <= LARGEST_SIGNIFICANCE else ''}"
    )


def no_common_query(names: Sequence[str], asked: str, qrels: QrelsColumns) -> InputError:
    """Return the error of runs none of which has a judged query, with the first query of both.

    >>> str(no_common_query(["bm25"], "t1", QrelsColumns.of([("1", "d1", 1)])))
    "no query in bm25 is judged (bm25 has 't1', but the judgments have '1'). Make the query ids match."
    """
    has = [f"{names[0]} has {asked!r}"] * bool(asked)
    has += [f"the judgments have {qrels.queries[0]!r}"] * bool(len(qrels.queries))
    found = f"no query in {either(names)} is judged ({', but '.join(has)})"
    return InputError(found, hint="Make the query ids match")


def no_judged_document(
    names: Sequence[str], retrieved: str, judged: str, *, do: str = "use"
) -> list[ResultWarning]:
    """Return a warning of runs without any judged document, most of which have ids of another format.

    `do` is what to do with the setting for chunks.

    >>> str(no_judged_document(["dead"], "xd1", "d1")[0])
    "no document in dead is judged. Do the document ids match? (dead has 'xd1', but the judgments have 'd1')."
    """
    if not names:
        return []
    example = f"{names[0]} has {retrieved!r}, but the judgments have {judged!r}"
    if not retrieved:
        example = f"the judgments have {judged!r}"
    message = f"no document in {either(names)} is judged. Do the document ids match? ({example})"
    if not judged:
        message = (
            f"no document in {either(names)} is judged, because the pool contains none of the judged "
            "documents. Check that the pool belongs to these judgments"
        )
    rest = retrieved.removeprefix(judged)
    if rest != retrieved and not rest[:1].isalnum():
        end = re.sub(r"\d+", r"\\d+", re.escape(rest))
        # Runs of whole documents may be there too, unless their ids end like those of chunks.
        pattern = f"^(.*){end}$" if re.search(f"{end}$", judged) else f"^(.*?)(?:{end})?$"
        message += f". For chunks of documents, {do} --config read.documents_of='{pattern}'"
    return [ResultWarning("no_judged_document", message, len(names))]


def _uneven(infos: Sequence[RunInfo]) -> ResultWarning:
    """Return a warning of runs whose unjudged shares among the first documents differ considerably."""
    shares = sorted(
        (info.counts["unjudged_top_documents"] / info.counts["top_documents"], info.name)
        for info in infos
        if info.counts["documents"]
        > info.counts["unjudged_documents"]  # runs without judged documents have a warning of their own
    )
    if not shares or shares[-1][0] - shares[0][0] <= UNEVEN:
        return ResultWarning("uneven_judgments", "", 0)
    texts = [f"{name} {100 * share:.0f} %" for share, name in shares]
    summary = ", ".join(texts) if len(texts) <= NAMED else f"{texts[0]} to {texts[-1]}"
    message = (
        f"unjudged in the top {TOP}: {summary}. Runs with more unjudged documents may be underestimated more"
    )
    return ResultWarning("uneven_judgments", message, len(shares))


def no_quality(measures: Sequence[Any]) -> list[ResultWarning]:
    """Return a warning of measures by which no run is better than another one."""
    names = [str(one) for one in measures if not getattr(one, "quality", True)]
    verb = "describes" if len(names) == 1 else "describe"
    words = f"{listed(names or [''])} {verb} the judgments, not the quality of a run"
    return raised(("no_quality", words, len(names)))


def recall_rule(measures: Sequence[Measure]) -> list[ResultWarning]:
    """Return a warning that interpolated precision has the rule of trec_eval 10, not another."""
    count = sum(getattr(one, "rule", "") == "trec10" for one in measures)
    words = (
        "interpolated precision rounds recall levels as trec_eval 10 does (--profile trec9 rounds as "
        "trec_eval 9 does, and rule=standard does not round, like `leadline curve`)"
    )
    return raised(("recall_rule", words, count))


def answerless(
    qrels: QrelsColumns, measures: Sequence[Measure], *, averaging: str = "all"
) -> list[ResultWarning]:
    """Return what the means of measures of queries without an answer are over."""
    found = []
    for measure in (one for one in measures if one.unanswered):
        count = _unanswered(qrels, float(getattr(measure, "rel", 1.0)))
        over = counted(count, "judged query", "judged queries")
        missing = UNANSWERED_RULES.get(averaging, "")
        message = f"{measure}: mean over {over} without a relevant document{missing}"
        found.append(ResultWarning("without_answer", message, max(count, 1)))
    return found


def returned(infos: Sequence[RunInfo], found_by_run: Sequence[Returned]) -> list[ResultWarning]:
    """Return what runs returned for queries without an answer."""
    found = []
    for info, one in zip(infos, found_by_run, strict=True):
        listed = ", ".join(
            f"{query} ({document}, score {score:g})" for query, document, score in one.examples
        )
        what = f"{info.name} returned documents for {queries(one.number)} without an answer: {listed}"
        more = ", ..." if one.number > len(one.examples) else ""
        found += [ResultWarning("returned", what + more, one.number)] * bool(listed)
    return found


def share_of(part: int, whole: int) -> str:
    """Return a proportion in percent with three digits; only equal numbers give 100 %.

    >>> share_of(2, 3), share_of(99_999, 100_000), share_of(1, 30_000)
    ('66.7 %', '99.9 %', '0.00333 %')
    """
    share = part / whole if whole else 0.0
    if part < whole:
        share = min(share, 0.999)
    return percent(float(f"{share:.3g}"))


def _zero(measures: Sequence[Averaged]) -> str:
    """Return as what a value of 0 counts in the mean of all measures, or of all that have no other rule."""
    geometric = bool(measures) and all(one.average == "geometric" for one in measures)
    return UNDEFINED_RULES["geometric" if geometric else "mean"]


def levels_of(measures: Sequence[Averaged]) -> list[float]:
    """Return the minimum relevant grades of the measures that are 0 without a relevant document, sorted."""
    scored = [
        one for one in measures if one.average != "defined" and getattr(one, "zero_without_relevant", True)
    ]
    return sorted({float(getattr(measure, "rel", 1.0)) for measure in scored})


def grade_one(qrels: QrelsColumns, measures: Sequence[Measure], rel: float | None) -> list[ResultWarning]:
    """Return a warning that grade 1 counts as relevant, where grades go higher and no level was given."""
    of_grades = ("graded", "scaled")  # gains of RBP that ignore the level
    binary = [
        str(measure)
        for measure in measures
        if getattr(measure, "rel", None) == 1 and getattr(measure, "gain", None) not in of_grades
    ]
    if rel is not None or not binary or qrels.levels.max(initial=0) < GRADED:
        return []
    grades = qrels.levels[(qrels.levels >= 1) & (qrels.levels < GRADED)]
    count = len(grades)
    if not count:
        return []
    low, high = float(grades.min()), float(grades.max())
    grade = f"grade {low:g}" if low == high else f"grades {low:g} to {high:g}"
    words = counted(count, f"judgment of {grade} counts", f"judgments of {grade} count")
    them = "it" if count == 1 else "them"
    which = f"{binary[0]} and other binary measures"
    if any(getattr(measure, "rel", 1) != 1 for measure in measures):  # binary too, with a level of their own
        which = listed_few(binary)
    message = f"{words} as relevant for {which} (level 2 excludes {them})"
    return [ResultWarning("grade_one_relevant", message, count)]


def fractional_warning(qrels: QrelsColumns) -> list[ResultWarning]:
    """Return a warning of fractional grades, which trec_eval truncates."""
    count = 0 if qrels.levels.dtype == np.int8 else int((qrels.levels != np.floor(qrels.levels)).sum())
    them = "it" if count == 1 else "them"
    message = f"{counted(count, 'fractional grade')} (used unchanged, but trec_eval truncates {them})"
    return [ResultWarning("fractional_grades", message, count)] if count else []


def machine_labels(qrels: QrelsColumns) -> list[ResultWarning]:
    """Return a warning of labels by an automatic judge, unless the judgments have one already."""
    if qrels.by_machine:
        return []
    count = len(qrels.grades)
    words = f"{counted(count, 'judgment is', 'judgments are')} by an automatic judge. {ABOUT_MACHINES}"
    return [ResultWarning(MACHINE_LABELS, words, count)]


def undefined_counts(
    qrels: QrelsColumns, measures: Sequence[Measure], values: Floats, present: Flags
) -> Integers:
    """Return the numbers of undefined values (runs x queries x measures) that no other warning explains.

    Those of missing queries and, if they count 0, of queries without a relevant document are explained.
    """
    counts = np.zeros((len(values), len(measures)), dtype=np.int64)
    for index, measure in enumerate(measures):
        without = qrels.relevant(float(getattr(measure, "rel", 1.0))) == 0
        scored = without & (measure.average != "defined")
        explained = ~present | (~without if measure.unanswered else scored)
        counts[:, index] = (np.isnan(values[:, :, index]) & ~explained).sum(axis=1)
    return counts


def warnings_of_undefined(
    infos: Sequence[RunInfo], measures: Sequence[Averaged], counts: Integers
) -> list[ResultWarning]:
    """Return warnings of undefined values, from their counts by run and measure."""
    warnings = []
    for measure, column in zip(measures, counts.T, strict=True):
        count = int(column.sum())
        if not count:
            continue
        rule = UNDEFINED_RULES[measure.average]
        where, counts_of_runs = runs_in_words(infos, column), column[column > 0].tolist()
        low, high = min(counts_of_runs), max(counts_of_runs)
        number = queries(count)
        if len(counts_of_runs) > 1:  # the same query may count in each of them
            number = f"{low:,} to " * (low < high) + f"{queries(high)} per run"
        message = f"{measure} is undefined for {number} in {where} ({rule})"
        warnings.append(ResultWarning("undefined", message, count))
    return warnings


def _unanswered(qrels: QrelsColumns, rel: float) -> int:
    return int((qrels.relevant(rel) == 0).sum())


def runs_in_words(infos: Sequence[RunInfo], counts: Sequence[int] | Integers | Flags) -> str:
    """Return the names of the runs whose count is not 0, of many the number and the first names.

    >>> runs = [RunInfo(name) for name in "abcde"]
    >>> runs_in_words(runs, [0, 1, 0, 7, 0]), runs_in_words(runs, [0, 1, 1, 1, 1])
    ('b and d', '4 runs (b, c, d, ...)')
    >>> runs_in_words(runs, [1] * 5), runs_in_words(runs[:2], [1, 2]), runs_in_words(runs, [0] * 5)
    ('all 5 runs', 'both runs', '')
    """
    names = [infos[index].name for index in np.flatnonzero(counts).tolist()]
    if 1 < len(names) == len(infos):
        return "both runs" if len(names) == 2 else f"all {len(names)} runs"
    return f"{len(names)} runs ({first_few(names)})" if len(names) > 3 else listed(names or [""])
