"""Read damaged files of every format: values or one line of error, the same with both forms of kernels.

    python benchmarks/fuzz.py --files 200000 --seed 1

mutates the files in `tests/io/programs` and files of every format that leadline writes. Each mutated file is
read as a run and as judgments, with compiled kernels and without. A file for which that fails is kept in the
folder of `--keep`, and the exit status is 1: another exception than an error of leadline, an error of several
lines, two forms that differ, or an index out of range, which a checked build of the kernels (CONTRIBUTING.md)
notices. The same seed and number give the same files.

    python benchmarks/fuzz.py --files 0 --sets 20000

writes random runs and judgments, whose ids hold number signs, control characters, blanks and quotes, as
TREC text, CSV, TSV, with and without a header, JSON, JSON Lines and Parquet, as a program that knows nothing
of leadline would, and as leadline does, and reads them, and the dictionary and the frame: what is read is
what was written, or refused. Text without a header cannot hold every id (no end of a line or of a column, no
byte order mark at the top, in TREC text no blank at its ends): no program can write it, and leadline refuses
to. A query called `#` at the top makes a remark, which is counted; five columns of judgments may be those of
a sample, and columns after the sixth of a run are ignored, which is said too. What is read, `check` does not
refuse.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import os
import random
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from leadline import kernels
from leadline.data.reading import Reading
from leadline.errors import LeadlineError
from leadline.io.check import check
from leadline.io.formats import FORMATS
from leadline.io.objects import judgments_of, write_qrels, write_run
from leadline.io.opening import BOM
from leadline.io.read import counted_run

PROGRAMS = Path(__file__).resolve().parents[1] / "tests" / "io" / "programs"
RUN = {"q1": {"d2": 2.5, "d1": 0.5, "é": -1e-3}, "q2": {"d3": 1.0}, "10": {"q1": 7.0, "10": 3.0}}
QRELS = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1, "NA": -1}, "10": {"q1": 2}}
TOKENS = (
    *(
        b"\n",
        b"\r\n",
        b"\r",
        b"\t",
        b" ",
        b",",
        b";",
        b'"',
        b"'",
        b"#",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xc3",
    ),
    *(b"{", b"}", b"[", b"]", b":", b"{}", b"[]", b'""', b"null", b"true", b"NaN", b"Infinity", b"-", b"."),
    *(b"nan", b"inf", b"1e999", b"-1", b"0", b"1", b"01", b"9" * 25, b"0x1", b"1e5", b"1_0", b"L1", b"S"),
    *(
        b"q1",
        b"q2",
        b"d1",
        b'"q1"',
        b'"d1": 1,',
        b"q1 Q0 d1 1 0.5 t\n",
        b"q1 0 d1 1\n",
        b"\\u0000",
        b"\\ud800",
    ),
    *(
        b"query_id",
        b"doc_id",
        b"score",
        b"rank",
        b"relevance",
        b"results",
        b"hits",
        b"ratings",
        b"_id",
        b"id",
    ),
)


def samples(folder: Path) -> dict[str, bytes]:
    """Return files of every format: those of programs, and those that leadline writes."""
    written = (path for path in sorted(PROGRAMS.iterdir()) if path.is_file())
    found = {path.name: path.read_bytes() for path in written if path.suffix not in {".md", ".py"}}
    suffixes = ["", *(suffix for each in FORMATS if each.write for suffix in each.suffixes)]
    for suffix in suffixes:
        for name, write, data in (("run", write_run, RUN), ("qrels", write_qrels, QRELS)):
            if suffix == ".quepid" and name == "run":
                continue
            path = folder / f"{name}{suffix}"
            write(data, path)
            found[path.name] = path.read_bytes()
    found["run.csv.gz"] = gzip.compress(found["run.csv"], mtime=0)
    found["sample.qrels"] = b"q1 0 d1 1 1\nq1 0 d2 2 0\nq2 0 d3 -1 1\n"
    found["list.json"] = b'{"q1": ["d2", "d1"], "q2": ["d3"]}'
    found["records.json"] = b'[{"query_id": "q1", "doc_id": "d1", "score": 0.5, "relevance": 1}]'
    return found


def mutated(content: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Return a content with one to three changes."""
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 3))):
        _change(found, others, rng)
    return bytes(found[: 1 << 16])


def _change(found: bytearray, others: list[bytes], rng: random.Random) -> None:
    place = rng.randrange(len(found) + 1)
    end = min(len(found), place + rng.choice((1, 1, 2, 4, 8, 40)))
    kind = rng.randrange(8)
    if kind == 0 and place < len(found):
        found[place] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del found[place:end]
    elif kind == 2:
        found[place:place] = rng.choice(TOKENS)
    elif kind == 3:
        found[place:end] = rng.choice(TOKENS)
    elif kind == 4:
        found[place:place] = found[place:end]
    elif kind == 5:
        lines = bytes(found).split(b"\n")
        first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[first], lines[second] = lines[second], lines[first]
        found[:] = b"\n".join(lines)
    elif kind == 6:
        lines = bytes(found).split(b"\n")
        lines.insert(rng.randrange(len(lines)), rng.choice(lines))
        found[:] = b"\n".join(lines)
    else:
        other = rng.choice(others)
        found[place:] = other[rng.randrange(len(other) + 1) :]


def outcome(read: Callable[[], Any]) -> str:
    """Return what reading comes to; raise AssertionError if that is no value and no error in one line."""
    try:
        return re.sub(r"-0\.0(?!\d)", "0.0", repr(read()))  # JSON in Python has -0, that of Arrow -0.0
    except LeadlineError as error:
        text = str(error)
        assert "\n" not in text, f"an error of several lines: {text!r}"
        assert text, "an error without words"
        return f"error: {text}"


def readers(path: str, reading: Reading) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the readers of a file by name."""

    def run() -> Any:
        found, counts = counted_run(path, reading=reading)
        return found.to_dict(), found.name, found.tag, counts

    def qrels() -> Any:
        found = judgments_of(path, reading)
        return found.to_dict(), found.remarks

    yield "run", run
    yield "qrels", qrels


READINGS = (
    *(Reading() for _ in range(4)),
    Reading(order="rank"),
    Reading(on_duplicate="first", on_nan="drop"),
    Reading(on_duplicate="hold", name_by="tag"),
    Reading(drop_identical_ids=True, queries_in=("q1", "10")),
    Reading(columns="query_id,doc_id,score", qrels_columns="query_id,doc_id,relevance"),
    Reading(on_duplicate="max", single_precision=True, negative="unjudged"),
)


ignored: list[str] = []  # exceptions that nothing can catch: in a kernel without the GIL


def fault_of(path: str, reading: Reading, tally: Counter[str]) -> str:
    """Return what is wrong with reading a file; "" if nothing is."""
    forms = [kernels.compiled, None]
    for name, read in readers(path, reading):
        found = []
        for form in forms:
            kernels.compiled = form
            try:
                found.append(outcome(read))
                assert not ignored, ignored.pop()
            except Exception as error:  # noqa: BLE001  # what is looked for
                return f"{name}, {'compiled' if form else 'uncompiled'}: {type(error).__name__}: {error}"
            finally:
                kernels.compiled = forms[0]
        if found[0] != found[1]:
            return f"{name}: compiled {found[0][:300]}\n    uncompiled {found[1][:300]}"
        tally[f"{name} {'refused' if found[0].startswith('error: ') else 'read'}"] += 1
    return ""


Table = dict[str, dict[str, float]]

LETTERS = (
    *(
        "d",
        "q",
        "1",
        "7",
        "A",
        "é",
        "-",
        ".",
        "0.5",
        "#",
        "#",
        " ",
        " ",
        "\x0b",
        "\x0c",
        "\x1c",
        "\x85",
        "\xa0",
    ),
    *('"', "'", ",", ";", ":", "{", "\u2028", "\ufeff", "\x01", "\x7f", "\t", "\r", "\n", "\\", "Q0", "=1"),
)
HEADERLESS = {"trec", "tabs", "headless.tsv"}
REMARKS = ("", "", "", "# by hand\n", "#\n\n# q9 Q0 d9 1 9 t\n")


def an_id(rng: random.Random, plain: str) -> str:
    """Return an id: usual, or of pieces that a format may trip over."""
    if rng.random() < 0.5:
        return f"{plain}{rng.randrange(9)}"
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(1, 4)))


def a_table(rng: random.Random, *, run: bool) -> Table:
    """Return a run or judgments, as a dictionary."""
    found: Table = {}
    for _ in range(rng.randint(1, 3)):
        documents = {an_id(rng, "d") for _ in range(rng.randint(1, 4))}
        numbers = [rng.randint(-9, 9) / rng.choice((1, 2, 8)) if run else rng.randrange(4) for _ in documents]
        found[an_id(rng, "q")] = dict(zip(sorted(documents), numbers, strict=True))
    return found


def written_sets(table: Table, *, run: bool, rng: random.Random) -> dict[str, bytes]:
    """Return the contents of files with a table, by name, written by nothing but the standard library."""
    rows = [
        (query, document, rank, number)
        for query, documents in table.items()
        for rank, (document, number) in enumerate(
            sorted(documents.items(), key=lambda pair: -pair[1]), start=1
        )
    ]
    names = (
        ("query_id", "doc_id", "rank", "score") if run else ("query_id", "doc_id", "iteration", "relevance")
    )
    top, end = rng.choice(REMARKS), rng.choice(("\n", "\n", "\r\n"))
    if run:
        lines = [f"{query} Q0 {document} {rank} {number} tag" for query, document, rank, number in rows]
    else:
        lines = [f"{query} 0 {document} {number}" for query, document, _, number in rows]
    found = {"trec": top + "".join(line + end for line in lines)}
    found["tabs"] = top + "".join("\t".join(line.split(" ")) + end for line in lines)
    for name, delimiter in (("a.csv", ","), ("a.tsv", "\t"), ("b.csv", ";")):
        text = io.StringIO(newline="")
        writer = csv.writer(
            text,
            delimiter=delimiter,
            lineterminator=end,
            # before Python 3.13 a carriage return alone is not quoted
            quoting=csv.QUOTE_ALL
            if rng.random() < 0.5 or any("\r" in row[0] + row[1] for row in rows)
            else csv.QUOTE_MINIMAL,
        )
        kept = [0, 1, 3] if rng.random() < 0.5 else [0, 1, 2, 3]
        writer.writerows([[row[place] for place in kept] for row in (names, *rows)])
        found[name] = top + text.getvalue()
    found["headless.tsv"] = top + "".join(f"{row[0]}\t{row[1]}\t{row[3]}{end}" for row in rows)
    ascii_only = rng.random() < 0.5
    found["a.json"] = json.dumps(table, ensure_ascii=ascii_only, indent=rng.choice((None, 1)))
    records = [dict(zip(names, row, strict=True)) for row in rows]
    found["a.jsonl"] = "".join(json.dumps(record, ensure_ascii=ascii_only) + end for record in records)
    mark = rng.choice(("", "", "\ufeff"))  # as programs on Windows begin a text
    return {name: (mark + text).encode() for name, text in found.items()}


def holds(name: str, content: bytes, table: Table, *, marked: bool) -> bool:
    """Return whether a format can hold the ids; blanks within those of TREC text are refused when read.

    `marked` is whether every text begins with a byte order mark, which then is no part of the first id.
    """
    if name not in HEADERLESS:
        return True
    ids = {*table, *(document for documents in table.values() for document in documents)}
    wrong = "\t\r\n " if name == "tabs" else "\t\r\n"
    first = content.startswith(BOM) and not marked
    if first or any(sign in each for each in ids for sign in wrong):
        return False
    return name == "headless.tsv" or all(each.strip(" ") == each for each in ids)


def is_said(name: str, outcome: Any, most_remarks: int) -> bool:
    """Return whether a note says how the lines of a text without a header were read."""
    _, remarks, noted = outcome
    return name in HEADERLESS and bool(noted or remarks > most_remarks)


def write_fault(table: Table, folder: Path, tally: Counter[str], *, run: bool) -> str:
    """Return what is wrong with the files that leadline writes; "" if nothing is."""
    for suffix in ("", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow"):
        path = folder / f"written{suffix}"
        try:
            (write_run if run else write_qrels)(table, path)
        except LeadlineError as error:
            refusal = str(error)
            ids = (each for query, documents in table.items() for each in (query, *documents))
            if "JSON" not in refusal or not any(repr(each) in refusal for each in ids):
                return f"{path.name}: {refusal}"
            tally[f"{path.name} not written"] += 1
            continue
        try:
            read = counted_run(path, reading=Reading())[0] if run else judgments_of(path, Reading())
            found: object = read.to_dict()
        except LeadlineError as error:
            found = error
        if found != table:
            return f"{path.name}: {found}, not {table}"
        tally[f"{path.name} the same"] += 1
    return ""


def set_fault(table: Table, folder: Path, tally: Counter[str], *, run: bool, rng: random.Random) -> str:
    """Return what is wrong with reading the forms of a table; "" if nothing is."""
    import pandas as pd  # type: ignore[import-untyped]  # stubs are not needed here

    rows = [(query, document, number) for query, found in table.items() for document, number in found.items()]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score" if run else "relevance"])
    sources: dict[str, Any] = {"dictionary": table, "rows": rows, "frame": frame}
    written = written_sets(table, run=run, rng=rng)
    remarks = next(
        top.count("#")
        for top in reversed(REMARKS)
        if written["trec"].removeprefix(BOM).startswith(top.encode())
    )
    marked = written["a.json"].startswith(BOM)
    for name, content in written.items():
        if holds(name, content, table, marked=marked):
            sources[name] = folder / name
            sources[name].write_bytes(content)
        else:
            tally[f"{name} cannot hold it"] += 1
    frame.to_parquet(folder / "a.parquet")
    sources["a.parquet"] = folder / "a.parquet"

    def read(source: Any) -> tuple[Table, int, bool]:
        if run:
            found, counts = counted_run(source, reading=Reading())
            return found.to_dict(), counts.remarks, counts.extra_columns > 0
        judgments = judgments_of(source, Reading())
        said = {code: count for code, _, count in judgments.remarks}
        return judgments.to_dict(), said.get("qrels_remark_lines", 0), "sampled_judgments" in said

    def outcome(source: Any) -> Any:
        try:
            return read(source)
        except LeadlineError as error:
            return str(error)

    forms = [kernels.compiled, None]
    for name, source in sources.items():
        found = []
        for form in forms:
            kernels.compiled = form
            try:
                found.append(outcome(source))
            finally:
                kernels.compiled = forms[0]
        if found[0] != found[1]:
            return f"{name}: compiled {found[0]}\n    uncompiled {found[1]}"
        refused = isinstance(found[0], str)
        tally[f"{name} {'refused' if refused else 'read'}"] += 1
        if refused and name not in HEADERLESS:
            return f"{name}: {found[0]}"
        if not refused and found[0][0] != table:
            if not is_said(name, found[0], remarks):
                return f"{name}: {found[0]}, not {table}"
            tally[f"{name} other, said"] += 1
        if (
            isinstance(source, Path)
            and not refused
            and check(str(source), kind="run" if run else "qrels").rejected
        ):
            return f"{name}: check refuses what is read: {table}"
        if (
            isinstance(source, Path)
            and refused
            and not check(str(source), kind="run" if run else "qrels").rejected
        ):
            tally[f"{name} refused, not by check"] += 1
    return write_fault(table, folder, tally, run=run)


def try_sets(sets: int, seed: int, most: int) -> int:
    """Read so many random tables in every form; return the number of failures."""
    tally: Counter[str] = Counter()
    failures = 0
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        for number in range(sets):
            rng = random.Random(f"set {seed} {number}")
            run = number % 2 == 0
            fault = set_fault(a_table(rng, run=run), Path(name), tally, run=run, rng=rng)
            if fault:
                failures += 1
                print(f"set {number} ({'run' if run else 'qrels'}): {fault}", flush=True)
                if failures >= most:
                    break
    print(f"{sets:,} sets, {failures} failures, {time.process_time() - begun:.0f} s: {dict(tally)}")
    return failures


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--sets", type=int, default=0, help="random tables, read in every format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for files that fail")
    parser.add_argument("--most", type=int, default=20, help="end after this many failures")
    given = parser.parse_args()
    warnings.simplefilter("error")
    sys.unraisablehook = lambda fault: ignored.append(repr(fault.exc_value))
    tally: Counter[str] = Counter()
    failures = try_sets(given.sets, given.seed, given.most) if given.sets else 0
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = samples(folder)
        names, contents = list(known), list(known.values())
        for number in range(given.files):
            rng = random.Random(f"{given.seed} {number}")
            chosen = rng.choice(names)
            suffix = chosen.partition(".")[2] if rng.random() < 0.7 else ""
            path = folder / f"a{number % 16}{'.' * bool(suffix)}{suffix}"
            path.write_bytes(mutated(known[chosen], contents, rng))
            fault = fault_of(os.fspath(path), rng.choice(READINGS), tally)
            if fault:
                failures += 1
                print(f"{number} ({chosen}): {fault}", flush=True)
                if given.keep is not None:
                    given.keep.mkdir(exist_ok=True)
                    (given.keep / f"{given.seed}-{number}-{path.name}").write_bytes(path.read_bytes())
                if failures >= given.most:
                    break
            path.unlink()
    print(f"{given.files:,} files, {failures} failures, {time.process_time() - begun:.0f} s: {dict(tally)}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
