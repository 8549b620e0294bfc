"""Tables of checked files and of collections."""

from __future__ import annotations

from typing import Any

from leadline.data.wording import counted, percent, queries
from leadline.evaluation.check_files import CheckResult, level_of
from leadline.io.check import Checked
from leadline.io.check_remarks import Problem
from leadline.reporting.render import Cell, Table
from leadline.retrieval.collection import Collection

WORST = 5  # queries that are shown


def check_table(found: CheckResult) -> Table:
    """Return the problems of files, one a row."""
    rows: list[list[Cell]] = [
        [each.path, each.kind, level_of(problem), problem.code, problem.line, problem.count, problem.message]
        for each in found.files
        for problem in each.problems
    ]
    return Table(["file", "kind", "level", "code", "line", "count", "message"], rows)


def check_text(found: CheckResult) -> str:
    """Return the problems of every file for people, then what a corpus covers, then what was repaired."""
    said = [*map(_listing, found.files)]
    said += [] if found.coverage is None else [coverage_text(found.coverage)]
    return "\n".join(said) + ("" if found.repaired is None else _repaired(found.repaired, found.copy))


def coverage_text(found: dict[str, Any]) -> str:
    """Describe what a corpus holds for people, the worst queries too."""
    share = "" if found["share"] is None else f" ({percent(round(found['share'], 4))})"
    said = (
        f"{found['docs']}: {counted(found['documents'], 'document')}; contains {found['held']:,} of "
        f"{found['relevant']:,} relevant documents of {found['qrels']}{share}, and "
        f"{found['judged_held']:,} of {found['judged']:,} judged ones"
    )
    lines = [said]
    lacking = [row for row in found["queries"] if row["held"] < row["relevant"]]
    if lacking:
        worst = ", ".join(
            f"{row['query']} ({row['held']:,} of {row['relevant']:,})" for row in lacking[:WORST]
        )
        none = sum(not row["held"] for row in lacking)
        lines.append(
            f"  queries with relevant documents missing: {len(lacking):,}, with all missing: {none:,}; "
            f"worst: {worst}"
        )
    return "\n".join(lines) + "\n"


def _listing(found: Checked) -> str:
    """Write the problems of a file for people, the errors first."""
    noun = "judgment" if found.kind == "qrels" else "document"
    held = [queries(found.queries)] if found.kind != "index" else []
    said = ", ".join([found.kind, *held, counted(found.rows, noun)]) if found.kind else "unread"
    head = f"{found.path}: {said}"
    if not found.problems:
        return head + ", no problems\n"
    lines = [head]
    for problem in found.problems:
        place = "" if problem.line is None else f"{found.unit} {problem.line:,}: "
        more = f" (and {problem.count - 1:,} more)" if problem.count > 1 else ""
        lines.append(f"  {level_of(problem):6}  {place}{problem.message}{more}")
    return "\n".join(lines) + "\n"


def _repaired(done: list[Problem], copy: str | None) -> str:
    lines = [f"  {problem.count:,} x {problem.code}: {problem.message}" for problem in done]
    return "\n".join([f"\n{copy}: written", *lines]) + "\n"


def collection_table(found: Collection) -> Table:
    """Lay the numbers down, one a row."""
    rows: list[list[Cell]] = [
        ["documents", f"{found.documents:,}"],
        ["  without a term", f"{found.empty_documents:,}"],
        ["  size of the text", f"{found.size / 1e6:.1f} MB"],
        ["  terms per document", f"{found.mean_terms:.1f}"],
        ["queries", f"{found.queries:,}"],
        ["  terms per query", f"{found.mean_query_terms:.1f}"],
        ["  with judgments", f"{found.judged_queries:,}"],
        ["judgments", f"{found.judgments:,}"],
        ["  per judged query", f"{found.mean_judgments:.1f}"],
        ["  relevant per judged query", f"{found.mean_relevant:.1f}"],
    ]
    rows += [[f"  of grade {grade}", f"{count:,}"] for grade, count in found.grades.items()]
    notes = list(map(str, found.warnings))
    return Table(["of the collection", "number"], rows, notes=notes)
