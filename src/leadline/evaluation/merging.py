"""Merging of results of parts: values are taken over, counts and warnings add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.data.arrays import Flags, Integers
from leadline.data.table import ResultWarning, RunInfo
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.evaluation.limits import few_queries, mean_intervals, same_weights
from leadline.evaluation.run_warnings import (
    LEFT_OUT,
    PER_RUN,
    UNANSWERED_RULES,
    Returned,
    count_warnings,
    levels_of,
    no_judged_document,
    no_overlap,
    returned,
    warnings_of_undefined,
)

if TYPE_CHECKING:
    from leadline.evaluation.results import Results

# Warnings that depend on the run, and are made again of the sums of the counts.
OF_RUNS: tuple[str, ...] = ("no_judged_document", "no_overlap", *PER_RUN, "uneven_judgments", "undefined")
# What failed, by its option, which is also the code of its warning: its name, and what became of its queries.
FAILED = {
    "failed_parts": ("part", "{their} queries are treated as missing"),
    "failed_runs": ("run", "left out"),
}
OF_RUNS += (*FAILED, "returned", "approximate_intervals")
# Options that say how the work was done, or that are settled after merging.
OF_THE_WORK: tuple[str, ...] = (
    "kind",
    "parts",
    "group_parts",
    "engine",
    *FAILED,
    "per_query",
    "no_means",
    "fail_below",
)
SETTLED = ("all", "both")  # rules of averaging between which merged results can change


def merge_results(
    parts: Sequence[Results], *, queries: str | None = None, labels: Sequence[str] | None = None
) -> Results:
    """Merge results of parts of the same runs."""
    parts = list(parts)
    if not parts:
        raise UsageError("there are no results to merge. Pass at least one result")
    labels = labels or [f"result {number}" for number in range(1, len(parts) + 1)]
    for part, label in zip(parts, labels, strict=True):
        _refuse_unmergeable(part, label)
    first = parts[0]
    for part, label in zip(parts[1:], labels[1:], strict=True):
        _refuse_different(first, part, labels[0], label)
    owner = _owners(parts, labels)
    taken = np.maximum(owner, 0)  # the values of missing queries are the same in all parts

    def placed(columns: Sequence[Any]) -> Any:
        """Return the rows of each run and query of the part that has it."""
        return np.take_along_axis(np.stack(columns), taken[np.newaxis, :, :, np.newaxis], axis=0)[0]

    present = owner >= 0
    averaged = placed([part.averaged for part in parts])
    rule = queries or first.options.get("queries", "all")
    if queries is not None and queries != first.options.get("queries"):
        averaged = _averaged(queries, first.options.get("queries"), averaged, present)
    infos = [_merged_info(parts, run, present[run]) for run in range(len(first.runs))]
    counts = [part.undefined for part in parts if part.undefined is not None]
    merged = type(first)(
        infos,
        first.queries,
        first.measures,
        placed([part.values for part in parts]),
        averaged,
        present=present,
        without_mean=np.any(~present, axis=1) if rule == "complete" else None,
        options=first.options | {"queries": rule},
        inputs=list({info["path"]: info for part in parts for info in part.inputs}.values()),  # each once
        resolve=first._resolve,  # noqa: SLF001  # the same class
        weighted=first.weighted,
        qrels=first.qrels,
        undefined=np.sum(counts, axis=0),
        judged_example=first.judged_example,
    )
    merged.examples = [example_of([part.examples[run] for part in parts]) for run in range(len(infos))]
    for run in range(len(infos)):
        merged.returned.append(reduce(Returned.plus, [part.returned[run] for part in parts], Returned()))
    for name in OF_THE_WORK:
        merged.options.pop(name, None)
    merged.options |= _failed(parts)
    merged.warnings = _warnings(parts, merged, rule)
    if first.intervals is not None:
        _, by, confidence = first.intervals
        seed = first.options.get("seed", 0)
        merged.intervals = mean_intervals(merged, by, confidence=confidence, seed=seed)
        merged.warnings += few_queries(merged, by)
    return merged


def failed_warnings(options: Mapping[str, Any]) -> list[ResultWarning]:
    """Return warnings of the parts and runs that failed, which are in the options; none without any."""
    found = []
    for code, (what, rule) in FAILED.items():
        paths = options.get(code) or ()
        their = rule.format(their="its" if len(paths) == 1 else "their")
        message = f"{counted(len(paths), what)} failed: {', '.join(paths)} ({their})"
        found += [ResultWarning(code, message, len(paths))] * bool(paths)
    return found


def _refuse_unmergeable(part: Results, label: str) -> None:
    if part.estimates is not None or part.withheld is not None:
        raise UsageError(
            f"{label} contains estimates, not exact values. Pass results that `evaluate` computed from "
            "complete judgments"
        )
    if part.undefined is None or part.qrels is None:
        raise UsageError(f"{label} cannot be merged. Pass results from `evaluate`")
    if part.bounds is not None or part.relevance_strings:
        name = "relevance strings" if part.bounds is None else "bounds"
        raise UsageError(f"{label} has {name}, which cannot be merged. Evaluate the part without {name}")
    mixed = next((run.name for run in part.runs if run.counts.get("other_tags")), None)
    if part.options.get("name_by") == "tag" and mixed is not None:
        raise UsageError(
            f"run '{mixed}' in {label} has more than one tag. Give it only one tag, or evaluate it without "
            "--config read.name_by=tag"
        )


def _refuse_different(first: Results, other: Results, one: str, label: str) -> None:
    """Raise UsageError if results are not of the same runs, judgments, measures and options."""
    texts, others = ([str(measure) for measure in results.measures] for results in (first, other))
    for what, mine, given in (("runs", first.names, other.names), ("measures", texts, others)):
        if mine != given:
            found = f"do not have the same {what} in the same order"
            hint = f"Evaluate the same {what} in the same order"
            if what == "runs" and len(mine) == len(given) == 1:
                found = "have different runs"
                hint = "If they are parts of one run, give them the same name (`leadline merge --name NAME`)"
            raise UsageError(
                f"{label} and {one} {found} ({', '.join(given)} versus {', '.join(mine)}). {hint}"
            )
    left, right = _comparable(first.options), _comparable(other.options)
    for name in dict.fromkeys([*left, *right]):
        if left.get(name) != right.get(name):
            raise UsageError(
                f"{label} has {name}={right.get(name)!r}, but {one} has {name}={left.get(name)!r}. "
                "Merge only results with the same options"
            )
    if other.queries != first.queries or other.qrels_digest != first.qrels_digest:
        different = "judgments"
    elif not same_weights(first, other):
        different = "query weights"
    else:
        missing = ~first.present & ~other.present
        if np.array_equal(first.values[missing], other.values[missing], equal_nan=True):
            return
        different = "values for missing queries"
    raise UsageError(
        f"{label} and {one} have different {different}. Merge only results with the same {different}"
    )


def _comparable(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in OF_THE_WORK}


def _owners(parts: Sequence[Results], labels: Sequence[str]) -> Integers:
    """Return the part that has each query of each run; -1 for none."""
    owner = np.full(parts[0].present.shape, -1, dtype=np.int64)
    for number, part in enumerate(parts):
        twice = np.argwhere(part.present & (owner >= 0)).tolist()
        if twice:
            run, code = twice[0]
            other = labels[owner[run, code]]
            if other == labels[number]:
                raise UsageError(f"{other} was passed twice. Pass each file once")
            in_other = owner == owner[run, code]
            number_of_queries = len({place for each, place in twice if in_other[each, place]})
            raise UsageError(
                f"query '{part.queries[code]}' of run '{part.runs[run].name}' is in both {other} and "
                f"{labels[number]} ({counted(number_of_queries, 'such query', 'such queries')}). Put each "
                "query in only one part."
            )
        owner[part.present] = number
    return owner


def _averaged(queries: str, before: str | None, averaged: Flags, present: Flags) -> Flags:
    """Return which queries are averaged by another rule than that of the parts."""
    if queries not in SETTLED or before not in SETTLED:
        raise UsageError(
            f"the results were averaged with queries={before!r}, and merging cannot change this to "
            f"queries={queries!r}. Leave out --config scores.queries"
        )
    chosen = present if queries == "both" else np.ones_like(present)
    return np.broadcast_to(chosen[:, :, np.newaxis], averaged.shape).copy()


def _merged_info(parts: Sequence[Results], run: int, present: Flags) -> RunInfo:
    """Return the description of a run with the sums of the counts of its parts."""
    infos = [part.runs[run] for part in parts]
    counts = Counter[str]()
    for info in infos:
        counts.update(info.counts)
    counts["missing_queries"] = int((~present).sum())
    tag = next((info.tag for info in reversed(infos) if info.tag), "")
    return RunInfo(infos[0].name, tag, infos[0].path if len(infos) == 1 else "", dict(counts))


def example_of(examples: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return the first query and document of a run of which no document is judged; else empty strings."""
    if not all(document for _, document in examples):  # some part has a judged document
        return "", ""
    return min(examples, default=("", ""), key=lambda one: one[0].encode("utf-8", "surrogateescape"))


def _failed(parts: Sequence[Results]) -> dict[str, list[str]]:
    """Return the parts and runs that failed and that no other result has read, by option."""
    read = {info["path"] for part in parts for info in part.inputs}
    found = {}
    for code in FAILED:
        failed = dict.fromkeys(path for part in parts for path in part.options.get(code) or ())
        found[code] = [path for path in failed if path not in read]
    return {code: paths for code, paths in found.items() if paths}


def _by_rule(one: ResultWarning, rule: str) -> ResultWarning:
    """Return a warning with what the rule of the merged results says of missing queries."""
    message = one.message
    if one.code == "no_relevant":
        words = message.removesuffix(")").removesuffix(LEFT_OUT)
        return replace(one, message=f"{words}{LEFT_OUT * (rule == 'both')})")
    if one.code != "without_answer":
        return one
    for words in UNANSWERED_RULES.values():
        message = message.removesuffix(words)
    return replace(one, message=message + UNANSWERED_RULES.get(rule, ""))


# Codes of warnings at the end.
LAST = ("grade_one_relevant", "recall_rule", "fractional_grades", "without_answer")


def _warnings(parts: Sequence[Results], merged: Results, rule: str) -> list[ResultWarning]:
    """Return the warnings of merged results, in the order in which `evaluate` gives them."""
    first = parts[0]
    fixed = [notice for notice in first.warnings if notice.code not in OF_RUNS]
    tail = [_by_rule(one, rule) for one in fixed if one.code in LAST]
    head = [_by_rule(one, rule) for one in fixed if one.code not in LAST]
    unmatched = {
        info.name: document
        for info, (_, document) in zip(merged.runs, merged.examples, strict=True)
        if document and info.counts["queries"]
    }
    assert merged.undefined is not None
    measures = merged.measures
    made = [
        no_overlap(merged.runs),
        *no_judged_document(
            list(unmatched),
            next(iter(unmatched.values()), ""),
            first.judged_example,
            do="evaluate the parts with",
        ),
        *head,
        *count_warnings(merged.runs, averaging=rule, levels=levels_of(measures), measures=measures),
        *warnings_of_undefined(merged.runs, merged.measures, merged.undefined),
        *tail,
        *returned(merged.runs, merged.returned),
        *failed_warnings(merged.options),
    ]
    return [notice for notice in made if notice.count]
