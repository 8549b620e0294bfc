"""Check runs, qrels and indexes: what would be refused, what is accepted and should be known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from leadline.data.qrels import Qrels
from leadline.data.reading import OnDuplicate, OnNan
from leadline.data.result import Result
from leadline.data.results import ResultWarning
from leadline.data.run import Run
from leadline.data.validation import check_word
from leadline.errors import UsageError
from leadline.io import check as problems
from leadline.io.check import Checked, Problem
from leadline.io.read import QrelsLike, read_qrels

Path = str | os.PathLike[str]


class CheckResult(Result):
    """The problems of files; `repaired` is what was changed in the copy at `copy`, None without one.

    `coverage` counts what a corpus holds of the judged documents, None where it was not asked for.
    """

    def __init__(
        self,
        files: Sequence[Checked],
        *,
        coverage: dict[str, Any] | None = None,
        repaired: Sequence[Problem] | None = None,
        copy: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.files = list(files)
        self.coverage = coverage
        self.repaired = None if repaired is None else list(repaired)
        self.copy = copy
        self.warnings: list[ResultWarning] = []
        self.options = dict(options or {})

    @property
    def rejected(self) -> int:
        """Count the files that `evaluate` or `compare` would refuse."""
        return sum(each.rejected for each in self.files)

    def to_dict(self) -> dict[str, Any]:
        """Return the problems as plain data: `files`, and `coverage` where it was asked for."""
        files = [_plain(each) for each in self.files]
        if self.repaired is not None:
            files[0]["repaired"] = [_problem(each) for each in self.repaired]
        return {"files": files} | ({} if self.coverage is None else {"coverage": self.coverage})

    def __repr__(self) -> str:
        return f"CheckResult({len(self.files)} files, {self.rejected} would be refused)"


def check(
    files: Path | Iterable[Path] = (),
    *,
    kind: str | None = None,
    subtopics: bool = False,
    qrels: QrelsLike | None = None,
    documents: Path | None = None,
    fix: Path | None = None,
    on_duplicate: OnDuplicate = "first",
    on_nan: OnNan = "drop",
) -> CheckResult:
    """Find every problem of runs, qrels and indexes, as `leadline check` does.

    Parameters
    ----------
    files : path or iterable of paths
        Runs, qrels, or folders of indexes.
    kind : {"run", "qrels"}, optional
        What the files hold; by default told by their columns, else by their numbers.
    subtopics : bool, default False
        Whether column 2 of qrels is a subtopic.
    qrels : qrels, optional
        Judgments to join with every run: how much is judged, and whether the ids match.
    documents : path, optional
        A corpus, texts or an index: how many of the documents judged in `qrels` it holds.
    fix : path, optional
        A file to write a repaired copy to; for one file only.
    on_duplicate : {"first", "last", "max", "refuse"}
        With `fix`: which of repeated documents is kept.
    on_nan : {"drop", "refuse"}
        With `fix`: what happens to rows with score NaN.

    Returns
    -------
    CheckResult
        A file that would be refused is reported, not raised; `rejected` counts them.

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
    given: list[Any]
    if isinstance(files, (str, os.PathLike, Run, Qrels)) or not isinstance(files, Iterable):
        given = [files]
    else:
        given = list(files)
    for file in given:
        if not isinstance(file, (str, os.PathLike)):
            raise UsageError(f"an object of type {type(file).__name__} to check; expected paths of files")
    paths = [os.fspath(file) for file in given]
    if documents is not None and qrels is None:
        raise UsageError("documents without qrels; expected both")
    if not paths and documents is None:
        raise UsageError("nothing to check; expected files, or documents and qrels")
    if kind is not None:
        check_word(("run", "qrels"), kind=kind)
    if fix is not None and (len(paths) != 1 or os.path.isdir(paths[0])):
        raise UsageError(f"fix={os.fspath(fix)!r}: {len(paths)} files or an index; expected one run or qrels")
    coverage = None if documents is None or qrels is None else _coverage(os.fspath(documents), qrels)
    judgments = read_qrels(qrels) if qrels is not None and paths else None
    found = [_checked(path, kind, subtopics=subtopics, qrels=judgments) for path in paths]
    repaired = None
    if fix is not None:
        repaired = problems.write_repaired(found[0], os.fspath(fix), on_duplicate=on_duplicate, on_nan=on_nan)
    options: dict[str, Any] = {
        "kind": kind,
        "subtopics": subtopics,
        "fix": fix is not None,
        "on_duplicate": on_duplicate,
        "on_nan": on_nan,
    }
    if qrels is not None:
        options |= {"docs": None if documents is None else os.fspath(documents), "qrels": _named(qrels)}
    return CheckResult(
        found,
        coverage=coverage,
        repaired=repaired,
        copy=None if fix is None else os.fspath(fix),
        options=options,
    )


def _checked(path: str, kind: str | None, *, subtopics: bool, qrels: Qrels | None) -> Checked:
    """Check a run, qrels, or the folder of an index."""
    if not os.path.isdir(path):
        return problems.check(path, kind=kind, subtopics=subtopics, qrels=qrels)
    from leadline.retrieval.index.check_index import check_index

    return check_index(path)


def _coverage(documents: str, qrels: QrelsLike) -> dict[str, Any]:
    """Count what a corpus holds of the judged documents."""
    from leadline.retrieval.collection import holdings

    return {"docs": documents, "qrels": _named(qrels)} | holdings(documents, qrels).to_dict()


def _named(qrels: QrelsLike) -> str:
    return os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else "in memory"


def level_of(problem: Problem) -> str:
    """Return `error` for what is refused, `remark` for what is accepted."""
    return "error" if problem.error else "remark"


def _plain(found: Checked) -> dict[str, Any]:
    entries = [_problem(problem) | {"level": level_of(problem)} for problem in found.problems]
    return {
        "path": found.path,
        "kind": found.kind,
        "format": found.form,
        "queries": found.queries,
        "rows": found.rows,
        "problems": entries,
    } | ({} if found.joined is None else {"joined": found.joined.to_dict()})


def _problem(problem: Problem) -> dict[str, Any]:
    return {"code": problem.code, "line": problem.line, "message": problem.message, "count": problem.count}
