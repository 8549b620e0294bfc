"""The compiled kernels, their source run by Python, the plain form and an obvious oracle agree."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import examples
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import DEFAULT_READING, Cut, Reading
from leadline.errors import InputError
from leadline.io import trec_runs
from leadline.io.objects import read_qrels, read_run
from leadline.io.run_lists import ReadCounts
from strategies import (
    FORMS,
    ORIGINAL,
    Colliding,
    Interpreted,
    columns_of,
    decimals,
    in_form,
    judged_by,
    line,
    qrels_texts,
    run_texts,
)

WINDOWS = st.sampled_from([8, 64, 300, 1 << 16])
DEPTHS = st.sampled_from([None, 1, 2, 5])


class Options(NamedTuple):
    narrow: bool
    depth: int | None
    judged_only: bool


OPTIONS = st.builds(Options, st.booleans(), DEPTHS, st.booleans())


# The oracle: loops that anybody can check.


def rows_of(text: bytes) -> list[list[bytes]]:
    """Return the fields of every line that is no remark at the top and not blank."""
    lines = text.split(b"\n")
    while lines and (is_remark(lines[0]) or not lines[0].strip(b" \t\r")):
        del lines[0]
    fields = [line.replace(b"\t", b" ").replace(b"\r", b" ").split(b" ") for line in lines]
    return [kept for found in fields if (kept := [field for field in found if field])]


def is_remark(raw: bytes) -> bool:
    return raw.rstrip(b"\r") == b"#" or raw.startswith((b"# ", b"#\t"))


def remarks_in(text: bytes) -> int:
    """Count the remarks at the top."""
    count = 0
    for raw in text.split(b"\n"):
        if not is_remark(raw) and raw.strip(b" \t\r"):
            break
        count += is_remark(raw)
    return count


def lists_of(text: bytes) -> dict[bytes, list[list[bytes]]]:
    lists: dict[bytes, list[list[bytes]]] = {}
    for fields in rows_of(text):
        lists.setdefault(fields[0], []).append(fields)
    return lists


def score_of(fields: list[bytes], *, narrow: bool) -> float:
    score = float(fields[4])
    if narrow:
        with np.errstate(over="ignore"):
            return float(np.float32(score))
    return score


def expected(run: bytes, qrels: bytes, options: Options) -> dict[str, Any]:
    """Say what the join must hold, in words: per judged query, what was found where."""
    judgments: dict[bytes, dict[bytes, float]] = {}
    for fields in rows_of(qrels):
        judgments.setdefault(fields[0], {})[fields[2]] = float(fields[3])
    lists = lists_of(run)
    found: dict[str, Any] = {"present": [], "length": [], "parted": [], "hits": [], "unjudged_ties": []}
    for code, query in enumerate(sorted(judgments)):
        grades = judgments[query]
        ordered = sorted(
            ((score_of(fields, narrow=options.narrow), fields[2]) for fields in lists.get(query, [])),
            reverse=True,
        )
        last, rest = ordered[: options.depth][-1:], ordered[len(ordered[: options.depth]) :]
        parted = bool(last and rest and last[0][0] == rest[0][0])
        found["parted"].append(parted and any(doc in grades for score, doc in ordered if score == rest[0][0]))
        if options.judged_only:
            ordered = [row for row in ordered[: options.depth] if grades.get(row[1], -1) >= 0]
        found["present"].append(query in lists)
        cut = ordered[: options.depth]
        found["length"].append(len(cut))
        ranks: dict[float, list[int]] = {}
        for rank, (score, _) in enumerate(ordered, start=1):
            ranks.setdefault(score, []).append(rank)
        for rank, (score, document) in enumerate(cut, start=1):
            if document in grades:
                tied = ranks[score]
                found["hits"].append((code, rank, document, grades[document], tied[0], tied[-1]))
        for score, tied in ranks.items():
            if len(tied) > 1 and not any(doc in grades for same, doc in ordered if same == score):
                found["unjudged_ties"].append((code, tied[0], tied[-1]))
    return found


def told(judged: JudgedRun) -> dict[str, Any]:
    """Say what a join holds in the words of the oracle."""
    return {
        "present": judged.present.tolist(),
        "length": judged.length.tolist(),
        "parted": judged.cut_in_ties.tolist(),
        "hits": [
            (code, rank, judged.qrels.documents[row], grade, first, last)
            for code, rank, row, grade, first, last in zip(
                judged.query.tolist(),
                judged.rank.tolist(),
                judged.row.tolist(),
                judged.grade.tolist(),
                judged.tie_first.tolist(),
                judged.tie_last.tolist(),
                strict=True,
            )
        ],
        "unjudged_ties": columns_of(judged)["unjudged_ties"],
    }


def is_rank(field: bytes) -> bool:
    return field.isdigit() and len(field) < 10


def expected_tally(run: bytes, qrels: bytes, *, narrow: bool) -> ReadCounts:
    """Count what a run holds."""
    rows, lists = rows_of(run), lists_of(run)
    judged = {fields[0] for fields in rows_of(qrels)}
    unjudged = [query for query in lists if query not in judged]
    disordered = 0
    for found in lists.values():
        if all(is_rank(fields[3]) for fields in found):
            keys = [(score_of(fields, narrow=narrow), int(fields[3])) for fields in found]
            disordered += any(a[0] > b[0] and a[1] > b[1] for a in keys for b in keys)
    return ReadCounts(
        rows=len(rows),
        queries=len(lists),
        extra_columns=sum(len(fields) > 6 for fields in rows),
        disordered=disordered,
        remarks=remarks_in(run),
        tag=rows[-1][5].decode(),
        unjudged_queries=len(unjudged),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("texts")


@pytest.fixture(scope="module")
def interpreted() -> Interpreted:
    return Interpreted()


def outcome(
    folder: Path,
    run: bytes,
    qrels: bytes,
    window: int,
    options: Options,
    reading: Reading = DEFAULT_READING,
    turns: int = 1,
) -> str | tuple[dict[str, Any], ReadCounts]:
    """Judge a run by judgments, both as files: what comes out, or the text of the refusal."""
    (folder / "qrels.txt").write_bytes(qrels)
    (folder / "sys.run").write_bytes(run)
    try:
        table = read_qrels(folder / "qrels.txt")
        judged, tally = judged_by(
            folder / "sys.run", table, window=window, turns=turns, reading=reading, **options._asdict()
        )
    except InputError as error:
        return str(error)
    return told(judged), tally


@examples(70)
@given(run=run_texts(), qrels=qrels_texts(), window=WINDOWS, options=OPTIONS, turns=st.integers(1, 4))
def test_both_forms_give_what_the_oracle_gives(
    folder: Path, run: bytes, qrels: bytes, window: int, options: Options, turns: int
) -> None:
    join = expected(run, qrels, options)
    join["unjudged_ties"].sort()
    tally = expected_tally(run, qrels, narrow=options.narrow)
    for form in FORMS:
        with in_form(form):
            assert outcome(folder, run, qrels, window, options, turns=turns) == (join, tally)


@given(run=run_texts(12), qrels=qrels_texts(12), window=WINDOWS, options=OPTIONS)
def test_the_source_of_the_kernels_run_by_python_gives_the_same(
    folder: Path, interpreted: Interpreted, run: bytes, qrels: bytes, window: int, options: Options
) -> None:
    with in_form(None):
        plainly = outcome(folder, run, qrels, window, options)
    with in_form(interpreted):
        assert outcome(folder, run, qrels, window, options) == plainly


@given(run=run_texts(), qrels=qrels_texts(), options=OPTIONS)
def test_a_run_in_memory_is_judged_like_its_file(
    folder: Path, run: bytes, qrels: bytes, options: Options
) -> None:
    (folder / "qrels.txt").write_bytes(qrels)
    (folder / "sys.run").write_bytes(run)
    for form in FORMS:
        with in_form(form):
            table, whole = read_qrels(folder / "qrels.txt"), read_run(folder / "sys.run")
            assert told(
                JudgedRun.of_run(
                    whole,
                    table,
                    reading=Reading(single_precision=options.narrow),
                    cut=Cut(options.depth, options.judged_only),
                )
            ) == expected(run, qrels, options) | {
                "unjudged_ties": sorted(expected(run, qrels, options)["unjudged_ties"])
            }


@given(qrels=qrels_texts())
def test_qrels_hold_every_judgment(folder: Path, qrels: bytes) -> None:
    path = folder / "qrels.txt"
    path.write_bytes(qrels)
    rows = {
        (fields[0].decode("utf-8", "surrogateescape"), fields[2].decode("utf-8", "surrogateescape")): float(
            fields[3]
        )
        for fields in rows_of(qrels)
    }
    for form in FORMS:
        with in_form(form):
            table = read_qrels(path)
            found = {
                (query, name): grade
                for query, grades in table.to_dict().items()
                for name, grade in grades.items()
            }
            assert found == rows
            assert list(table.queries) == sorted(
                table.queries, key=lambda name: name.encode("utf-8", "surrogateescape")
            )


def bits(number: float) -> bytes:
    return struct.pack("<d", number)


def scores_read(folder: Path, numbers: list[bytes]) -> list[bytes]:
    """Return the bits of numbers read as scores, one list each."""
    path = folder / "numbers.run"
    path.write_bytes(b"".join(b"%06d Q0 d 1 %s t\n" % (place, text) for place, text in enumerate(numbers)))
    return [bits(score) for score in read_run(path).scores.tolist()]


@examples(70)
@given(numbers=st.lists(decimals(), min_size=1, max_size=40))
def test_numbers_are_read_as_python_reads_them(folder: Path, numbers: list[bytes]) -> None:
    exact = [bits(float(text)) for text in numbers]
    for form in FORMS:
        with in_form(form):
            assert scores_read(folder, numbers) == exact


def some_decimal(rng: random.Random) -> bytes:
    """Return a number near the places where a quick reader goes wrong."""
    digits = "".join(rng.choices("0123456789", k=rng.choice([1, 3, 15, 16, 17, 18, 19, 20, 25])))
    point = rng.randrange(len(digits) + 1)
    text = digits[:point] + rng.choice([".", "", "."]) + digits[point:]
    power = rng.choice(["", "", f"e{rng.randint(-45, 45)}", f"E{rng.randint(-330, 310):+04d}"])
    return (rng.choice(["", "", "-", "+"]) + text + power).encode()


def test_thirty_thousand_random_decimals_are_read_exactly(folder: Path) -> None:
    rng = random.Random(20)
    numbers = [some_decimal(rng) for _ in range(30_000)]
    numbers += [repr(rng.uniform(-1, 1) * 10.0 ** rng.randint(-30, 30)).encode() for _ in range(5000)]
    numbers += [b"%d" % (2**53 + step) for step in range(-50, 50)]
    numbers += [b"%de%d" % (2**53 + step, power) for step in range(-5, 6) for power in range(-25, 26)]
    exact = [bits(float(text)) for text in numbers]
    for form in FORMS:
        with in_form(form):
            found = scores_read(folder, numbers)
            assert [text for text, a, b in zip(numbers, found, exact, strict=True) if a != b] == []


def test_the_interpreted_source_reads_numbers_exactly_too(folder: Path, interpreted: Interpreted) -> None:
    rng = random.Random(21)
    numbers = [some_decimal(rng) for _ in range(500)]
    with in_form(interpreted):
        assert scores_read(folder, numbers) == [bits(float(text)) for text in numbers]


def crowd(names: list[bytes], rng: random.Random) -> tuple[bytes, bytes]:
    """Return a run that lists all names for two queries, and qrels that judge half of them."""
    run = b"".join(
        b"%s Q0 %s 1 %d t\n" % (query, name, rng.randrange(50)) for query in (b"q1", b"q2") for name in names
    )
    chosen = [*rng.sample(names, len(names) // 2), b"absent", b"d"]
    return run, b"".join(b"q%d 0 %s 1\n" % (place, name) for place in (2, 1, 3) for name in chosen)


CROWDS: dict[str, Callable[[int], bytes]] = {
    "equal beginnings": lambda place: b"clueweb09-en0000-00-%05d" % place,
    "equal ends": lambda place: b"%05d-clueweb09-en0000-00" % place,
    "runs of one letter": lambda place: b"a" * (place + 1),
    "two letters": lambda place: bin(place).encode()[2:].translate(bytes.maketrans(b"01", b"ab")),
}


@pytest.mark.parametrize("kind", CROWDS)
def test_many_alike_ids_are_told_apart(kind: str, folder: Path) -> None:
    size = 300 if kind == "runs of one letter" else 8000
    run, qrels = crowd([CROWDS[kind](place) for place in range(size)], random.Random(3))
    plainest = Options(narrow=False, depth=None, judged_only=False)
    found = []
    for form in FORMS:
        with in_form(form):
            found.append(outcome(folder, run, qrels, 1 << 16, plainest))
    assert all(other == found[0] for other in found)
    judged = found[0]
    assert isinstance(judged, tuple)
    assert len(judged[0]["hits"]) == 2 * (size // 2)


@pytest.mark.parametrize("kind", ["compiled", "source"])
def test_ids_with_equal_hashes_are_told_apart(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trec_runs, "can_join", lambda _reading: False)  # the kernel that joins hashes inside
    if kind == "compiled" and ORIGINAL is None:
        pytest.skip("the kernels are not compiled here")
    real = ORIGINAL if kind == "compiled" else Interpreted()
    size = 400 if kind == "compiled" else 60
    run, qrels = crowd([b"d%d" % place for place in range(size)], random.Random(4))
    plainest = Options(narrow=False, depth=None, judged_only=False)
    with in_form(None):
        plainly = outcome(folder, run, qrels, 1 << 16, plainest)
    with in_form(Colliding(real)):
        assert outcome(folder, run, qrels, 1 << 16, plainest) == plainly
        again = run + b"q2 Q0 d7 1 1 t\n"
        refusal = outcome(folder, again, qrels, 1 << 16, plainest)
        assert "document 'd7' appears twice for query 'q2'" in str(refusal)
        refusal = outcome(folder, run, qrels + b"q1 0 absent 0\n", 1 << 16, plainest)
        assert "document 'absent' is judged twice for query 'q1'" in str(refusal)


# Fuzz: whatever comes in, the outcome is a result or one line, and the same in both forms.

REPAIRS = st.builds(
    Reading,
    on_duplicate=st.sampled_from(["refuse", "refuse", "first", "last", "max", "hold"]),
    on_nan=st.sampled_from(["refuse", "drop"]),
    order=st.sampled_from(["score", "score", "rank"]),
)
PIECES = (
    *b"q1 Q0 d1 1 2.5 nan inf x 1e999 1_0".split(),
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"\v",
    b"\f",
    b"#",
    b"\0",
    b"\x1c",
    b"\x85",
    b"\xa0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"q1 Q0 d1 1 2 t\n",
    b"q2 Q0 d1 1 2 t\n",
    b"q1 0 d1 1\n",
    b"q1 0 d2 1\n",
    b"-",
    b".",
    b"e",
    b"+",
    b"\x1f\x8b\x08",
    b"BZh9",
    b"\n\n",
    b"q1 Q0 d3 9 -1 t u v\n",
    b"q1 Q0 d3 9 nan t\n",
)
SOUP = st.one_of(
    st.binary(max_size=80),
    st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join),
    st.lists(line([b"q1", b"Q0", b"d1", b"1", b"1", b"t"]), max_size=3).map(b"".join),
)


@st.composite
def mutated(draw: st.DrawFn, texts: st.SearchStrategy[bytes]) -> bytes:
    """Return a good text with some bytes changed, put in, taken away, or lines doubled and cut."""
    text = bytearray(draw(texts))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 3))
        text[place : place + length] = draw(
            st.one_of(st.just(b""), st.sampled_from(PIECES), st.binary(max_size=3))
        )
    lines = bytes(text).splitlines(keepends=True)
    doubled = draw(st.booleans())
    if doubled and lines:
        again: bytes = draw(st.sampled_from(lines))
        lines.insert(draw(st.integers(0, len(lines))), again)
    return b"".join(lines)


def agree(folder: Path, run: bytes, qrels: bytes, window: int, reading: Reading) -> None:
    plainest = Options(narrow=False, depth=None, judged_only=False)
    with in_form(None):
        plainly = outcome(folder, run, qrels, window, plainest, reading)
    assert not isinstance(plainly, str) or "\n" not in plainly
    with in_form(ORIGINAL):
        assert outcome(folder, run, qrels, window, plainest, reading) == plainly
    try:
        whole = read_run(
            folder / "sys.run", order=reading.order, on_duplicate=reading.on_duplicate, on_nan=reading.on_nan
        )
    except InputError:
        assert isinstance(plainly, str)
    else:
        if isinstance(plainly, tuple) and reading.on_duplicate != "hold":
            assert plainly[1].rows == len(whole.scores)


@examples(110)
@given(run=SOUP, window=WINDOWS, reading=REPAIRS)
def test_random_bytes_as_a_run_are_a_run_or_one_line(
    folder: Path, run: bytes, window: int, reading: Reading
) -> None:
    agree(folder, run, b"q1 0 d1 1\nq1 0 d3 1\n", window, reading)


@examples(110)
@given(qrels=SOUP)
def test_random_bytes_as_qrels_are_qrels_or_one_line(folder: Path, qrels: bytes) -> None:
    agree(folder, b"q1 Q0 d1 1 2 t\n", qrels, 1 << 16, Reading())


@examples(80)
@given(run=mutated(run_texts(10)), qrels=qrels_texts(6), window=WINDOWS, reading=REPAIRS)
def test_a_spoiled_run_is_still_a_run_or_one_line(
    folder: Path, run: bytes, qrels: bytes, window: int, reading: Reading
) -> None:
    agree(folder, run, qrels, window, reading)


@pytest.mark.parametrize("score", [b"1", b"nan", b"x"])
@pytest.mark.parametrize("on_nan", ["refuse", "drop"])
def test_remarks_may_go_on_in_the_next_chunk(folder: Path, score: bytes, on_nan: Any) -> None:
    run = (
        b"\n# six words stand in this remark\n\n# and in this one\nq1 Q0 d 0 %b tag\nq1 Q0 e 0 1 tag" % score
    )
    agree(folder, run, b"q1 0 d 0", 8, Reading(on_nan=on_nan))


def test_of_two_faults_the_first_is_reported_wherever_a_chunk_ends(folder: Path) -> None:
    run = b" q1 Q0 d 1 0 tag\n" * 2 + b"q2 Q0 d 1 0 tag\nq3 Q0 d 1 0\n"
    for window in (8, 1 << 16):
        agree(folder, run, b"q1 0 d 0", window, DEFAULT_READING)
        found = outcome(folder, run, b"q1 0 d 0", window, Options(False, None, False))
        assert ":2: document 'd' appears twice for query 'q1'" in str(found)


@examples(60)
@given(run=run_texts(6), qrels=mutated(qrels_texts(10)))
def test_spoiled_qrels_are_still_qrels_or_one_line(folder: Path, run: bytes, qrels: bytes) -> None:
    agree(folder, run, qrels, 1 << 16, Reading())


@given(run=mutated(run_texts(5)), qrels=mutated(qrels_texts(5)))
def test_the_interpreted_source_refuses_what_the_plain_form_refuses(
    folder: Path, interpreted: Interpreted, run: bytes, qrels: bytes
) -> None:
    plainest = Options(narrow=False, depth=None, judged_only=False)
    with in_form(None):
        plainly = outcome(folder, run, qrels, 64, plainest)
    with in_form(interpreted):
        assert outcome(folder, run, qrels, 64, plainest) == plainly
