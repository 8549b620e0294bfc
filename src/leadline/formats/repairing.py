"""Write a repaired copy of a run or of qrels, and say what was done."""

from __future__ import annotations

from leadline.errors import InputError
from leadline.formats import Repair, run_name, trec_run, writing
from leadline.formats.lint import Checked, Problem
from leadline.formats.records import named
from leadline.formats.table import QRELS_COLUMNS, Table
from leadline.formats.trec_lists import PlainLists
from leadline.vocabulary import to_text

# What a copy no longer has, with the words for it; {policy} is what decides between repeats.
DONE = {
    "repeated_documents": "kept the {policy} of repeated documents",
    "nan": "left out rows with score NaN",
    "bom": "left out the byte order mark",
    "crlf": "lines end in LF",
    "blank_lines": "left out blank lines",
    "comments": "left out comments",
    "no_final_newline": "added the final newline",
    "extra_columns": "left out columns after the sixth",
    "tags": "one tag, the last",
    "mixed_queries": "brought the rows of a query together",
    "rank_disagrees": "ranked by score",
    "rank_repeats": "ranked by score",
    "rank_from_0": "ranks begin at 1",
    "rank": "ranked by score",
}


def repair(
    found: Checked, path: str, *, on_duplicate: str = "first", on_nan: str = "drop"
) -> list[Problem]:
    """Write a copy without the faults that can be repaired, and give these; refuses the others."""
    able = {"repeated_documents": on_duplicate != "refuse", "nan": on_nan != "refuse"}
    left = [each for each in found.problems if each.error and not able.get(each.code, False)]
    if left or found.lists is None:
        raise InputError(
            f"{left[0].message} ({sum(each.count for each in left)} such faults)",
            expected="faults that can be repaired: repeats, NaN and what check calls a remark",
            path=found.path,
            line=left[0].line if found.unit == "line" else None,
        )
    found.lists.settle(
        Repair(on_duplicate=on_duplicate), verb="appears" if found.kind == "run" else "is judged"
    )
    _write(found, found.lists, path)
    return [
        Problem(each.code, each.line, DONE[each.code].format(policy=on_duplicate), each.count)
        for each in found.problems
        if each.code in DONE
    ]


def _write(found: Checked, lists: PlainLists, path: str) -> None:
    if found.kind == "run":
        run = trec_run.run_of(lists, name=run_name(found.path), tag=found.tag)
        writing.write_run(run, path)
    else:
        writing.write_judgments(_judgments(found, lists), path)


def _judgments(found: Checked, lists: PlainLists) -> Table:
    """Give the judgments in their order; those of a TREC file keep their second column."""
    rows = [
        (query, document, int(grade) if grade == int(grade) else grade)
        for query, document, grade in named(lists)
    ]
    if found.form != "trec" or found.source is None or found.source.whole is None:
        return Table(QRELS_COLUMNS, list(rows))
    whole = found.source.whole
    lines = whole.text[: whole.end].tobytes().split(b"\n")
    second = [to_text(lines[line - 1].split()[1]) for line in lists.lines]
    columns = (*QRELS_COLUMNS, "subtopic" if found.subtopics else "iteration")
    return Table(columns, [(*row, name) for row, name in zip(rows, second, strict=True)])
