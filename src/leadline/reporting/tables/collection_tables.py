"""Tables of checked files and of collections."""

from __future__ import annotations

from typing import Any

from leadline.data.wording import counted, percent, queries
from leadline.evaluation.check_files import CheckResult, level_of
from leadline.io.check import Checked
from leadline.io.check_remarks import Problem
from leadline.reporting.render import Cell, Table
from leadline.retrieval.collection import Collection

WORST = 5  # number of queries listed as worst covered


def check_table(checked: CheckResult) -> Table:
    """Return the table of the problems of files, one per row."""
    rows: list[list[Cell]] = [
        [file.path, file.kind, level_of(problem), problem.code, problem.line, problem.count, problem.message]
        for file in checked.files
        for problem in file.problems
    ]
    return Table(["file", "kind", "level", "code", "line", "count", "message"], rows)


def check_text(checked: CheckResult) -> str:
    """Return the printed text of a check: problems of every file, coverage of the corpus, repairs."""
    parts = [*map(_listing, checked.files)]
    parts += [] if checked.coverage is None else [coverage_text(checked.coverage)]
    return "\n".join(parts) + ("" if checked.repaired is None else _repaired(checked.repaired, checked.copy))


def coverage_text(coverage: dict[str, Any]) -> str:
    """Return sentences on the coverage of a corpus, with the worst covered queries."""
    share = "" if coverage["share"] is None else f" ({percent(round(coverage['share'], 4))})"
    summary = (
        f"{coverage['docs']}: {counted(coverage['documents'], 'document')}; contains {coverage['held']:,} of "
        f"{coverage['relevant']:,} relevant documents of {coverage['qrels']}{share}, and "
        f"{coverage['judged_held']:,} of {coverage['judged']:,} judged ones"
    )
    lines = [summary]
    lacking = [row for row in coverage["queries"] if row["held"] < row["relevant"]]
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


def _listing(file: Checked) -> str:
    """Return the problems of a file as text, errors first."""
    noun = "judgment" if file.kind == "qrels" else "document"
    counts = [queries(file.queries)] if file.kind != "index" else []
    contents = ", ".join([file.kind, *counts, counted(file.rows, noun)]) if file.kind else "unread"
    head = f"{file.path}: {contents}"
    if not file.problems:
        return head + ", no problems\n"
    lines = [head]
    for problem in file.problems:
        location = "" if problem.line is None else f"{file.unit} {problem.line:,}: "
        more = f" (and {problem.count - 1:,} more)" if problem.count > 1 else ""
        lines.append(f"  {level_of(problem):6}  {location}{problem.message}{more}")
    return "\n".join(lines) + "\n"


def _repaired(done: list[Problem], copy: str | None) -> str:
    lines = [f"  {problem.count:,} x {problem.code}: {problem.message}" for problem in done]
    return "\n".join([f"\n{copy}: written", *lines]) + "\n"


def collection_table(collection: Collection) -> Table:
    """Return the table of the statistics of a collection."""
    rows: list[list[Cell]] = [
        ["documents", f"{collection.documents:,}"],
        ["  without a term", f"{collection.empty_documents:,}"],
        ["  size of the text", f"{collection.size / 1e6:.1f} MB"],
        ["  terms per document", f"{collection.mean_terms:.1f}"],
        ["queries", f"{collection.queries:,}"],
        ["  terms per query", f"{collection.mean_query_terms:.1f}"],
        ["  with judgments", f"{collection.judged_queries:,}"],
        ["judgments", f"{collection.judgments:,}"],
        ["  per judged query", f"{collection.mean_judgments:.1f}"],
        ["  relevant per judged query", f"{collection.mean_relevant:.1f}"],
    ]
    rows += [[f"  of grade {grade}", f"{count:,}"] for grade, count in collection.grades.items()]
    notes = list(map(str, collection.warnings))
    return Table(["of the collection", "number"], rows, notes=notes)


def verification_table(verification: Any) -> Table:
    """Return the table of a `Verification`, a check per row."""
    words = {True: "yes", False: "NO", None: "not checked"}
    rows: list[list[Cell]] = [
        [check["kind"], check["name"], words[check["ok"]], check["found"]] for check in verification.checks
    ]
    outcome = "nothing differs" if verification.verified else "the saved results differ from their inputs"
    unchecked = sum(check["ok"] is None for check in verification.checks)
    notes = [outcome, *([f"not checked: {unchecked}"] if unchecked else [])]
    return Table(
        ["check", "name", "agrees", "found"], rows, notes=notes, wrapped=frozenset({"found"}), whole=True
    )
