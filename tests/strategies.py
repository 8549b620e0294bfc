"""Random runs and qrels as texts, for the tests that compare forms with one another."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from leadline import kernels
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import DEFAULT_READING, Cut, Reading
from leadline.evaluation.join import judge
from leadline.io.opening import Buffers
from leadline.io.read_paths import recorded
from leadline.io.run_lists import ReadCounts

ORIGINAL = kernels.compiled
FORMS: tuple[kernels.Kernels | None, ...] = (None,) if ORIGINAL is None else (ORIGINAL, None)
BLANKS = (b" ", b"\t", b"  ", b" \t ")
ENDS = (b"\n", b"\r\n", b" \n", b"\t\r\n")
NOISE = (b"", b"", b"", b"", b"", b"\n", b" \t\r\n")
REMARKS = (b"# six words stand in this remark\n", b"#\t0 d1 1\n", b"#\r\n", b"#\n", b"\n")
# Ids share beginnings, differ in length, and hold bytes that other readers trip over.
NAMES = (
    *b"d d0 d01 d1 1 01 007 1.0 NA null nan 'd'".split(),
    b'"d"',
    b"d#1",
    b"a,b",
    b"\xc2\xa0d",
    b"d\xc2\xa01",
    b"\xe2\x80\xa8d",
    b"\xff\xfe",
    b"d\x85",
    "ä".encode(),
    b"d\x0b1",
    b"\x0c",
    b"#",
    b"d" * 40,
    b"d" * 39 + b"e",
    b"%s",
    b"\x7f",
    b"0x1",
    b"-1",
)
QUERIES = (b"q1", b"#", b"q10", b"q2", b"1", b"01", b"NA", b"\xfcq", b"q\xc2\xa01", "ω".encode())
# Numbers as programs and people write them; float() is the judge of all of them.
NUMBERS = (
    *b"""
        1 2 2.0 2.50 0 -0 +3 -3 .5 5. +.5e-3 1e5 1E5 5.e0 1e-320 5e-324 2e-324 1e308 1e309 -1e400 inf
        -inf Infinity +INF 0.1 0.10000000000000001 0.30000000000000004 9007199254740991 9007199254740992
        9007199254740993 90071992547409921 1e22 1e23 1e-22 1e-23 123456789e22 123456789e23 123456789e-22
        123456789e-23
    """.split(),
    b"1" * 60,
    b"0." + b"3" * 60,
    b"0" * 30 + b"7",
    b"." + b"0" * 30 + b"7",
    *b"""
        12.345678901 12.345678902 12.34567890123456789 1e+05 1e00005 1e99999 1e-99999 0e99999
        3.14159265358979 16777217 16777216
    """.split(),
)


@contextmanager
def in_form(compiled: Any) -> Iterator[None]:
    """Use these kernels, or none, for a while."""
    before = kernels.compiled
    kernels.compiled = compiled
    try:
        yield
    finally:
        kernels.compiled = before


class Interpreted:
    """The source of the compiled kernels that is Python, run by it: columns are memory views there."""

    def __init__(self) -> None:
        names = ("lists", "pairs", "scan_records")
        self.sources = [importlib.import_module(f"leadline.kernels.{name}") for name in names]

    def __getattr__(self, name: str) -> Any:
        source: Any = next((source for source in self.sources if hasattr(source, name)), ORIGINAL)
        if source is None:
            pytest.skip("the list kernel is not compiled here")
        function = getattr(source, name)

        def call(*columns: Any) -> Any:
            return function(*(part.data if isinstance(part, np.ndarray) else part for part in columns))

        return call


class Colliding:
    """Kernels in which every id has the same hash."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def hash_ids(self, *columns: Any) -> None:
        self.real.hash_ids(*columns)
        spoil(columns)

    def scan(self, *columns: Any) -> Any:
        clean = self.real.scan(*columns)
        spoil(columns)
        return clean

    judge = None  # hashes are inside of it: the fuzz in C makes them collide there

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def spoil(columns: tuple[Any, ...]) -> None:
    """Make all hashes among some columns equal."""
    for column in columns:
        if isinstance(column, np.ndarray) and column.dtype == np.uint64 and column.flags.writeable:
            column[:] = 7


def decimals() -> st.SearchStrategy[bytes]:
    """Return decimal numbers in any notation that float() reads."""
    digits = st.text("0123456789", max_size=25)
    exponent = st.one_of(st.integers(-30, 30), st.integers(-400, 400)).map(lambda power: f"e{power}")
    free = st.builds(
        lambda sign, whole, point, fraction, power: (
            sign + (whole + point + (fraction if point else "") or "0") + power
        ),
        st.sampled_from(["", "+", "-"]),
        digits,
        st.sampled_from(["", "."]),
        digits,
        st.one_of(st.just(""), exponent),
    ).filter(lambda text: any(c.isdigit() for c in text.split("e")[0]))
    exact = st.floats(allow_nan=False).map(repr)
    return st.one_of(st.sampled_from(NUMBERS), free.map(str.encode), exact.map(str.encode))


def grades() -> st.SearchStrategy[bytes]:
    """Return grades as qrels hold them, fractions and negative ones too."""
    usual = st.sampled_from([b"0", b"1", b"1", b"2", b"3", b"-1", b"-2", b"+1", b"0.5", b"1.0", b".25"])
    return st.one_of(usual, usual, st.sampled_from([b"1e0", b"-0", b"2e-1", b"0.1" + b"0" * 30]))


@st.composite
def line(draw: st.DrawFn, fields: list[bytes]) -> bytes:
    """Return fields as one line, with any blanks, perhaps after blank lines."""
    parts = [draw(st.sampled_from(NOISE)), draw(st.sampled_from([b"", b"", b"", b" ", b"\t"]))]
    if parts[1] == b"" and fields[0] == b"#":
        parts[1] = b" "  # else a remark at the top
    for place, field in enumerate(fields):
        parts += [draw(st.sampled_from(BLANKS)) if place else b"", field]
    return b"".join([*parts, draw(st.sampled_from(ENDS))])


@st.composite
def pairs(draw: st.DrawFn, size: int) -> list[tuple[bytes, bytes]]:
    """Return (query, document) pairs, each once; often in lists, sometimes shuffled."""
    found = draw(
        st.lists(
            st.tuples(st.sampled_from(QUERIES[: draw(st.integers(1, 4))]), st.sampled_from(NAMES)),
            min_size=1,
            max_size=size,
            unique=True,
        )
    )
    return found if draw(st.booleans()) else sorted(found, key=lambda pair: pair[0])


def remarks() -> st.SearchStrategy[bytes]:
    """Return what may stand at the top of a text, often nothing."""
    return st.one_of(st.just(b""), st.lists(st.sampled_from(REMARKS), max_size=4).map(b"".join))


@st.composite
def run_texts(draw: st.DrawFn, size: int = 25) -> bytes:
    """Return the text of a run without faults."""
    numbers = draw(st.lists(decimals(), min_size=1, max_size=6))
    ranks = st.sampled_from([b"1", b"2", b"3", b"0", b"10", b"-1", b"x", b"123456789", b"1234567890"])
    lines = []
    for place, (query, document) in enumerate(draw(pairs(size))):
        rank = draw(st.one_of(st.just(b"%d" % place), st.just(b"%d" % place), ranks))
        fields = [query, b"Q0", document, rank, draw(st.sampled_from(numbers)), b"tag"]
        more = draw(st.sampled_from([[], [], [], [b"more"], [b"and", b"more"]])) if rank != b"x" else []
        lines.append(draw(line(fields + more)))
    text = draw(remarks()) + b"".join(lines)
    return text if draw(st.booleans()) else text.rstrip(b"\r\n")


@st.composite
def qrels_texts(draw: st.DrawFn, size: int = 25) -> bytes:
    """Return the text of qrels without faults."""
    text = draw(remarks()) + b"".join(
        draw(line([query, b"0", document, draw(grades())])) for query, document in draw(pairs(size))
    )
    return text if draw(st.booleans()) else text.rstrip(b"\r\n")


def judged_by(
    path: object,
    qrels: QrelsColumns,
    *,
    window: int = 1 << 16,
    turns: int = 1,
    reading: Reading = DEFAULT_READING,
    narrow: bool = False,
    **cut: Any,
) -> tuple[JudgedRun, ReadCounts]:
    """Join a run file with qrels, holding at first so many bytes; with two turns it reads ahead."""
    workspaces = [Buffers(window) for _ in range(turns)]
    reading = replace(reading, single_precision=narrow)
    with recorded():
        return judge(str(path), qrels, reading=reading, cut=Cut(**cut), workspaces=workspaces)[1:]


def columns_of(judged: JudgedRun) -> dict[str, Any]:
    """Return everything that a join holds as plain data, to compare."""
    ties = sorted(zip(*(column.tolist() for column in judged.unjudged_ties), strict=True))
    names = ("present", "length", "offsets", "rank", "row", "tie_first", "tie_last")
    return {name: getattr(judged, name).tolist() for name in names} | {"unjudged_ties": ties}
