"""Read the judgments of several judges, and make one grade of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from leadline.data.ids import to_bytes
from leadline.data.qrels import Qrels
from leadline.data.wording import counted
from leadline.errors import InputError, UsageError
from leadline.io import row_checks
from leadline.io.formats import SQLITE_STORE, opened
from leadline.io.id_lists import headed_rows, need_columns
from leadline.io.opening import run_name
from leadline.io.read import QrelsLike, qrels_of, read_qrels
from leadline.io.tables import split_place
from leadline.kernels import plain

Pair = tuple[str, str]


class Judgment(NamedTuple):
    """The grade that a judge gave a document for a query; the last one where there were several."""

    query: str
    document: str
    judge: str
    grade: int


class Merged(NamedTuple):
    """One grade a pair; `shared` pairs had several judges, `tied` of them no majority.

    `votes` are the grades of the pairs with unlike ones.
    """

    grades: dict[Pair, float]
    rule: str
    shared: int
    votes: dict[Pair, tuple[int, ...]]
    tied: int

    @property
    def remarks(self) -> tuple[tuple[str, str, int], ...]:
        """Return code, words and count of what was merged; nothing where no pair had several judges."""
        if not self.shared:
            return ()
        words = (
            f"pairs with several judges: {self.shared:,}, {len(self.votes):,} with unlike grades; "
            f"merged by {self.rule}"
        )
        if self.tied:
            words += f", {counted(self.tied, 'tie')} went to the lower grade"
        return (("merged", words, self.shared),)


def majority(grades: Sequence[int]) -> float:
    """Return the grade of most judges; among grades of as many judges the lowest.

    >>> majority([2, 1, 2]), majority([0, 2])
    (2, 0)
    """
    votes = Counter(grades)
    return min(votes, key=lambda grade: (-votes[grade], grade))


def mean(grades: Sequence[int]) -> float:
    """Return the mean grade, a whole one as an integer.

    >>> mean([0, 1]), mean([1, 1])
    (0.5, 1)
    """
    found = sum(grades) / len(grades)
    return int(found) if found == int(found) else found


RULES: Mapping[str, Callable[[Sequence[int]], float]] = {"majority": majority, "max": max, "mean": mean}


def merge(judgments: Iterable[Judgment], rule: str = "majority") -> Merged:
    """Merge judgments by a rule of `RULES`, or take those of one judge by name.

    >>> found = merge([Judgment("q", "d", "ann", 1), Judgment("q", "d", "bob", 0)])
    >>> found.grades, found.tied
    ({('q', 'd'): 0}, 1)
    """
    judgments = list(judgments)
    if rule not in RULES:
        judgments = _of_judge(judgments, rule)
    by_pair: dict[Pair, list[int]] = {}
    for query, document, _, grade in judgments:
        by_pair.setdefault((query, document), []).append(grade)
    shared = [grades for grades in by_pair.values() if len(grades) > 1]
    settle = RULES.get(rule, majority)
    return Merged(
        {pair: settle(grades) for pair, grades in by_pair.items()},
        rule,
        len(shared),
        {pair: tuple(grades) for pair, grades in by_pair.items() if len(set(grades)) > 1},
        sum(map(_is_tied, shared)) if rule == "majority" else 0,
    )


def _is_tied(grades: Sequence[int]) -> bool:
    votes = sorted(Counter(grades).values())
    return len(votes) > 1 and votes[-1] == votes[-2]


def _of_judge(judgments: list[Judgment], name: str) -> list[Judgment]:
    judges = sorted({judgment.judge for judgment in judgments})
    if name not in judges:
        import difflib

        known = [*RULES, *judges]
        close = difflib.get_close_matches(name, known, n=2) or known
        raise UsageError(f"no merge rule or judge is called '{name}'; nearest: {', '.join(close)}")
    return [judgment for judgment in judgments if judgment.judge == name]


BESIDE = ("probability", "note")  # what the judging page writes beside grades
BESIDE_JUDGE = ("form", "seconds", "opened")  # and, after the name of a judge, about each judgment
JudgesLike: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[str, QrelsLike]"
Row = tuple[bytes, bytes, float]


class Judge(NamedTuple):
    """What one judge said; `path` is where it was read, empty for memory."""

    name: str
    qrels: Qrels
    path: str = ""


def read_judges(source: JudgesLike) -> list[Judge]:
    """Read judges from files, or from a dictionary of qrels by name, in the order given.

    A file of qrels is one judge, called as the file. A table with a column `judge` (or judge_id, assessor,
    annotator) holds one judgment a line. A table with ids and no column of grades has one judge a column; an
    empty cell was not judged. `FILE:COLUMN` is one column of such a table, `FILE:*` all but the grades,
    probabilities and notes. The store of a judging page holds all its judges, `STORE:NAME` is one of them.

    >>> judges = read_judges({"ann": {"q1": {"d1": 1}}, "ben": {"q1": {"d1": 0}}})
    >>> [judge.name for judge in judges]
    ['ann', 'ben']
    """
    if isinstance(source, Mapping):
        found = [Judge(name, read_qrels(qrels)) for name, qrels in source.items()]
    else:
        places = [source] if isinstance(source, (str, os.PathLike)) else source
        found = [judge for place in places for judge in _of_file(os.fspath(place))]
    seen: dict[str, Judge] = {}
    for judge in found:
        other = seen.setdefault(judge.name, judge)
        if other is not judge:
            files = f" ({other.path} and {judge.path})" if judge.path else ""
            raise UsageError(f"two judges are called '{judge.name}'{files}; expected other names")
    return found


def judge_name(path: str) -> str:
    """Return the name of a judge: the file's less its ending, and less `.qrels`.

    >>> judge_name("judges/ann.qrels.txt"), judge_name("qrels.txt.gz")
    ('ann', 'qrels')
    """
    return run_name(path).removesuffix(".qrels")


def _of_file(place: str) -> list[Judge]:
    path, column = split_place(place)
    file = opened(path)
    if file.format is SQLITE_STORE:
        return _of_store(path, column)
    if file.format.name in {"csv", "jsonl", "parquet"}:
        header = next((list(row) for _, row in headed_rows(path)), [])
        if (
            column
            or row_checks.find(header, row_checks.GRADE) is None
            or row_checks.find(header, row_checks.JUDGE)
        ):
            return _of_table(path, header, column)
    elif column:
        raise InputError(f"no table, so no column '{column}'", expected="a header", path=path)
    return [Judge(judge_name(path), qrels_of(file, sure=True), path)]


def _of_store(path: str, wanted: str) -> list[Judge]:
    from leadline.io import judgment_store

    found: dict[str, list[Row]] = {}
    for given in judgment_store.read(path).given:
        query, document, judge, grade = given.judgment
        row = to_bytes(query), to_bytes(document), float(grade)
        found.setdefault(judge, []).append(row)
    if wanted not in ("", "*", *found):
        raise InputError(f"no judge '{wanted}'", expected=f"one of {', '.join(found)}", path=path)
    return [
        Judge(name, Qrels.of(rows, source=path), path)
        for name, rows in sorted(found.items())
        if wanted in ("", "*", name)
    ]


def _of_table(path: str, header: Sequence[str], column: str) -> list[Judge]:
    owner = row_checks.find(header, row_checks.JUDGE)
    ids = [row_checks.find(header, names) for names in (row_checks.QUERY, row_checks.DOCUMENT)]
    for found, names in zip(ids, (row_checks.QUERY, row_checks.DOCUMENT), strict=True):
        if found is None:
            need_columns(header, names[:1], path, 1)
    query, document = map(str, ids)
    grade = row_checks.find(header, row_checks.GRADE)
    if column in ("", "*") and owner is not None:
        need_columns(header, [] if grade else ["grade"], path, 1)
        rows = _long_rows(path, query, document, owner, str(grade))
    else:
        chosen = [
            name
            for name in header
            if name not in (query, document, owner, *row_checks.GRADE, *row_checks.SUBTOPIC, *BESIDE)
            and not (name.rpartition(" ")[0] in header and name.rpartition(" ")[2] in BESIDE_JUDGE)
        ]
        if column not in ("", "*"):
            need_columns(header, [column], path, 1)
            chosen = [column]
        if not chosen:
            raise InputError("no column of a judge", expected="one per judge", path=path, line=1)
        rows = _wide_rows(path, query, document, chosen)
    return [Judge(name, Qrels.of(said, source=path), path) for name, said in rows.items()]


def _long_rows(path: str, query: str, document: str, owner: str, grade: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for line, row in headed_rows(path):
        name = row.get(owner)
        if name in (None, ""):
            raise InputError("no judge", expected="a name in every line", path=path, line=line)
        value = _grade(row.get(grade), grade, path, line)
        if value is None:
            raise InputError("no grade", expected="a number", path=path, line=line)
        ids = _ids(row, (query, document), path, line)
        found.setdefault(str(name), []).append((*ids, value))
    return found


def _wide_rows(path: str, query: str, document: str, chosen: Sequence[str]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {name: [] for name in chosen}
    for line, row in headed_rows(path):
        ids = _ids(row, (query, document), path, line)
        for name in chosen:
            value = _grade(row.get(name), name, path, line)
            if value is not None:
                found[name].append((*ids, value))
    return found


def _ids(row: Mapping[str, Any], names: tuple[str, str], path: str, line: int) -> tuple[bytes, bytes]:
    def each() -> Iterator[bytes]:
        for name in names:
            value = row.get(name)
            if not isinstance(value, str) or not value:
                raise InputError(f"no id in column '{name}'", expected="a string", path=path, line=line)
            yield to_bytes(value)

    query, document = each()
    return query, document


def _grade(value: Any, column: str, path: str, line: int) -> float | None:
    """Read a grade; None where there is none."""
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    try:
        return plain.grade(text.encode(), line)
    except InputError as error:
        raise InputError(
            f"{error.found} in column '{column}'", expected=error.expected, path=path, line=line
        ) from None
