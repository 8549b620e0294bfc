"""Check runs, qrels and indexes for errors and for remarkable content."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leadline.data.qrels import QrelsColumns
from leadline.data.reading import OnDuplicate, OnNan, Reading
from leadline.data.run import RunColumns
from leadline.data.table import Column, columns_of
from leadline.data.validation import check_word
from leadline.data.wording import counted, percent, queries
from leadline.errors import InputError, UsageError, both
from leadline.io import check as problems
from leadline.io.check import Checked
from leadline.io.check_remarks import Problem
from leadline.io.formats import TREC, opened
from leadline.io.objects import judgments_of
from leadline.io.opening import Buffers
from leadline.io.read import QrelsLike
from leadline.io.read_paths import public, shown, worded_here
from leadline.io.run_names import files_of
from leadline.result import Result, check_options

Path = str | os.PathLike[str]
WORST = 5  # number of queries listed as worst covered


@dataclass(repr=False, eq=False)
class CheckResult(Result):
    """Problems of files.

    Attributes
    ----------
    files : list of Checked
        Problems by file.
    coverage : dict or None
        Numbers of judged documents in a corpus; None without a corpus.
    repaired : list of Problem or None
        Changes in the repaired copy; None without a copy.
    copy : str or None
        Path of the repaired copy.
    """

    files: list[Checked]
    coverage: dict[str, Any] | None = None
    repaired: list[Problem] | None = None
    copy: str | None = None

    @property
    def rejected(self) -> int:
        """Number of files that `evaluate` and `compare` refuse."""
        return sum(file.rejected for file in self.files)

    def _columns(self) -> list[Column]:
        rows = [
            (file.path, file.kind, one.level, one.code, one.line, one.count, one.message)
            for file in self.files
            for one in file.problems
        ]
        return columns_of(("file", "kind", "level", "code", "line", "count", "message"), rows)

    def _notes(self) -> list[str]:
        covered = "" if self.coverage is None else coverage_text(self.coverage)
        copied = "" if self.repaired is None else _repaired(self.repaired, self.copy)
        return [line.strip() for text in (covered, copied) for line in text.strip().splitlines()]

    def text(self, form: str = "table", *, to_file: bool = True, **options: Any) -> str:
        """Return the problems in a format; as a table they are listed by file, with coverage and repairs."""
        if form != "table":
            return super().text(form, to_file=to_file, **options)
        check_options(self, "table", options, self._columns)
        parts = [*map(_listing, self.files)]
        parts += [] if self.coverage is None else [coverage_text(self.coverage)]
        return "\n".join(parts) + ("" if self.repaired is None else _repaired(self.repaired, self.copy))

    def lines(self) -> list[dict[str, Any]]:
        """Return one record per file, and the coverage."""
        covered = [] if self.coverage is None else [{"coverage": self.coverage}]
        return [*self.to_dict()["files"], *covered]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the key files, and coverage if there is a corpus."""
        files = [_plain(item) for item in self.files]
        if self.repaired is not None:
            files[0]["repaired"] = [item.to_dict() for item in self.repaired]
        return {"files": files} | ({} if self.coverage is None else {"coverage": self.coverage})

    def __repr__(self) -> str:
        return f"CheckResult({counted(len(self.files), 'file')}, {self.rejected} rejected)"


@public
def check(
    files: Path | Iterable[Path] = (),
    *others: Path,
    kind: str | None = None,
    subtopics: bool = False,
    qrels: QrelsLike | None = None,
    documents: Path | None = None,
    fix: Path | None = None,
    on_duplicate: OnDuplicate = "first",
    on_nan: OnNan = "drop",
    columns: str | None = None,
    qrels_columns: str | None = None,
) -> CheckResult:
    """Find all problems of runs, qrels and indexes.

    Parameters
    ----------
    files, *others : path or iterable of paths
        Runs, qrels, or folders of indexes. Any other folder, or a pattern such as `runs/*.run`, stands for
        all its files. Runs of TREC text after qrels are joined with them, as with `qrels`.
    kind : {"run", "qrels"}, optional
        Type of the files; by default inferred from columns and values.
    subtopics : bool, default False
        Whether column 2 of qrels is a subtopic.
    qrels : qrels, optional
        Judgments to join with every run, to count its judged documents.
    documents : path, optional
        Corpus, texts or an index, in which the documents judged in `qrels` are counted.
    fix : path, optional
        File to write a repaired copy to; for one file only.
    on_duplicate : {"first", "last", "max", "refuse"}
        Which occurrence of a duplicate document to keep in the repaired copy.
    on_nan : {"drop", "refuse"}
        What to do with rows of score NaN in the repaired copy.
    columns, qrels_columns : str, optional
        Names of the columns of runs and of judgments without a header, separated by commas.

    Returns
    -------
    CheckResult
        Problems by file; `rejected` counts the files with errors, for which no exception is raised.

    Raises
    ------
    UsageError
        If there is nothing to check, or more than one file to repair.

    Examples
    --------
    >>> import leadline as ll, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "judged.qrels")
    >>> ll.write_qrels({"q": {"d": 1}}, path)
    >>> found = check(path)
    >>> found.rejected, found.files[0].kind, found.files[0].problems
    (0, 'qrels', [])
    """
    single = (str, os.PathLike, Mapping, RunColumns, QrelsColumns, Result)
    listed: list[Any] = [files]
    if isinstance(files, Iterable) and not isinstance(files, single) and not hasattr(files, "columns"):
        listed = list(files)  # not a frame
    listed += others
    for file in listed:
        if not isinstance(file, (str, os.PathLike)):
            raise UsageError(f"an object of type {type(file).__name__} cannot be checked. Pass file paths")
    reading = Reading(columns=columns, qrels_columns=qrels_columns)
    paths: list[str] = []
    for path in map(os.fspath, listed):
        paths += [path] if _is_index(path) else files_of(path)  # an index is one
    both({"--docs": documents}, {"--qrels": qrels})
    if not paths and qrels is None:
        raise UsageError("there is nothing to check. Pass files, or --docs and --qrels.")
    if kind is not None:
        check_word(("run", "qrels"), kind=kind)
    if fix is not None and (len(paths) != 1 or os.path.isdir(paths[0])):
        passed = "an index" if len(paths) == 1 else counted(len(paths), "file")
        raise UsageError(
            f"leadline can repair only one run or qrels file at a time. Pass a single file, not {passed}"
        )
    named = qrels is not None
    if qrels is None and kind is None and _is_call(paths):
        qrels = paths[0]
    judgments = (
        None if qrels is None else judgments_of(qrels, replace(reading, subtopics=subtopics), sure=named)
    )
    coverage = None
    if documents is not None and qrels is not None and judgments is not None:
        from leadline.retrieval.collection import holdings

        docs = os.fspath(documents)
        coverage = {"docs": docs, "qrels": shown(qrels)} | holdings(docs, judgments).to_dict()
    workspace = Buffers()
    checked = []
    for path in paths:
        if _is_index(path):
            from leadline.retrieval.index.reader import check_index

            checked.append(check_index(path))
            continue
        checked.append(
            problems.check(
                path,
                kind=kind,
                subtopics=subtopics,
                qrels=judgments,
                keep=fix is not None,
                workspace=workspace,
                reading=reading,
            )
        )
    if qrels is not None and documents is None and {one.kind for one in checked} <= {"qrels", "index"}:
        raise UsageError("--qrels needs runs or documents to check. Pass runs or --docs DOCS.")
    repaired, copy = None, None if fix is None else os.fspath(fix)
    if copy is not None:
        repaired = problems.write_repaired(checked[0], copy, on_duplicate=on_duplicate, on_nan=on_nan)
        checked[0].source = checked[0].lists = None  # needed only for the copy
    for one in checked:
        one.problems = [
            replace(each, message=worded_here([each.message], "", check)[0]) for each in one.problems
        ]
    options: dict[str, Any] = {
        "kind": kind,
        "subtopics": subtopics,
        "fix": fix is not None,
        "on_duplicate": on_duplicate,
        "on_nan": on_nan,
        "columns": columns,
        "qrels_columns": qrels_columns,
    }
    if qrels is not None:
        options |= {"docs": None if documents is None else os.fspath(documents), "qrels": shown(qrels)}
    return CheckResult(checked, coverage=coverage, repaired=repaired, copy=copy, options=options)


def _is_call(paths: Sequence[str]) -> bool:
    """Return whether files are judgments and then runs, all TREC text, as `evaluate` takes them."""
    if len(paths) < 2 or any(map(os.path.isdir, paths)):
        return False
    try:
        columns = [file.columns if (file := opened(path)).format is TREC else 0 for path in paths]
    except InputError:  # the check tells more
        return False
    return columns[0] == 4 and min(columns[1:]) >= 5


def _is_index(path: str) -> bool:
    if not os.path.isdir(path):
        return False
    from leadline.retrieval.index.index_files import holds_index

    return holds_index(path)


def _plain(file: Checked) -> dict[str, Any]:
    entries = [problem.to_dict() | {"level": problem.level} for problem in file.problems]
    return {
        "path": file.path,
        "kind": file.kind,
        "format": file.form,
        "queries": file.queries,
        "rows": file.rows,
        "problems": entries,
    } | ({} if file.joined is None else {"joined": file.joined.to_dict()})


def coverage_text(coverage: dict[str, Any]) -> str:
    """Return sentences on the coverage of a corpus, with the worst covered queries."""
    share = "" if coverage["share"] is None else f" ({percent(round(coverage['share'], 4))})"
    summary = (
        f"{coverage['docs']}: {counted(coverage['documents'], 'document')}, covering {coverage['held']:,} of "
        f"{counted(coverage['relevant'], 'relevant query-document pair')} in {coverage['qrels']}{share} and "
        f"{coverage['judged_held']:,} of {counted(coverage['judged'], 'judged pair')}"
    )
    lines = [summary]
    lacking = [row for row in coverage["queries"] if row["held"] < row["relevant"]]
    if lacking:
        worst = ", ".join(
            f"{row['query']} ({row['held']:,} of {row['relevant']:,})" for row in lacking[:WORST]
        )
        none = sum(not row["held"] for row in lacking)
        lines.append(
            f"  {queries(len(lacking))} with relevant documents missing from the corpus ({none:,} with all "
            f"missing); worst: {worst}"
        )
    return "\n".join(lines) + "\n"


def _listing(file: Checked) -> str:
    """Return the problems of a file as text, errors first."""
    noun = "judgment" if file.kind == "qrels" else "document"
    counts = [counted(file.queries, "query", "queries")] if file.kind != "index" else []
    contents = ", ".join([file.kind, *counts, counted(file.rows, noun)]) if file.kind else "unread"
    head = f"{file.path}: {contents}"
    if not file.problems:
        return head + ", no problems\n"
    lines = [head]
    for problem in file.problems:
        location = "" if problem.line is None else f"{file.unit} {problem.line:,}: "
        more = f" (and {problem.count - 1:,} more)" if problem.count > 1 else ""
        lines.append(f"  {problem.level:6}  {location}{problem.message}{more}")
    return "\n".join(lines) + "\n"


def _repaired(done: list[Problem], copy: str | None) -> str:
    lines = [f"  {problem.count:,} x {problem.code}: {problem.message}" for problem in done]
    return "\n".join([f"\n{copy}: written", *lines]) + "\n"
