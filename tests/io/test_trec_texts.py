"""Runs and qrels of TREC: what separates, what is kept, what is counted, where faults are."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Leadline
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import DEFAULT_READING, Cut, OnDuplicate, Reading
from leadline.errors import InputError
from leadline.evaluation.join import judge
from leadline.io.objects import Qrels, Run, read_qrels, read_run, write_run
from leadline.io.opening import Buffers
from leadline.io.read import counted_run
from leadline.io.run_lists import ReadCounts
from leadline.kernels import plain
from strategies import columns_of, judged_by

RANKED = f". {plain.BY_RANK}."

pytestmark = pytest.mark.usefixtures("form")

ODD_IDS = (
    b"d\xc2\xa01",
    b'"d1"',
    b"'d1",
    b"d,1",
    b"d;1",
    b"d|1",
    b"d\\1",
    b"\xff\xfe\xfd",
    b"\xed\xa0\x80",
    b"d\x85",
    b"d\x1c\x1d",
    b"\x01",
    b"\x7f",
    b"\xe2\x80\xa8",
    b"\xe3\x80\x80",
    *b"NA null nan None True 1 01 007 1.0 1e0 +1 -1 d#1 %s".split(),
    b"{}",
    b"$x",
    b"d" * 5000,
)


def run_of(folder: Path, text: bytes | str, name: str = "sys.run") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(path: Path, reading: Reading = DEFAULT_READING) -> str:
    """Return the one error that reading a run and judging it in windows of any size agree on."""
    with pytest.raises(InputError) as whole:
        counted_run(str(path), reading=reading)
    for window in (8, 40, 1 << 16):
        for turns in (1, 2):
            with pytest.raises(InputError) as parted:
                judged_by(path, read_qrels({"q1": {"d1": 1}}), window=window, turns=turns, reading=reading)
            assert str(parted.value) == str(whole.value)
    assert "\n" not in str(whole.value)
    return str(whole.value).removeprefix(f"{path}:")


def test_every_odd_byte_of_an_id_is_kept(tmp_path: Path) -> None:
    names = [name.decode("utf-8", "surrogateescape") for name in ODD_IDS]
    lines = [b"q1 Q0 %s 1 %d t\n" % (name, -place) for place, name in enumerate(ODD_IDS)]
    lines += [b"Q%s Q0 d1 1 1 t\n" % name for name in ODD_IDS]
    run = read_run(run_of(tmp_path, b"".join(lines)))
    assert list(run.to_dict()["q1"]) == names
    assert set(run.to_dict()) == {"q1", *(f"Q{name}" for name in names)}
    lines = [b"q1 0 %s 1\n" % name for name in ODD_IDS] + [b"Q%s 0 d1 2\n" % name for name in ODD_IDS]
    qrels = read_qrels(run_of(tmp_path, b"".join(lines), "qrels.txt"))
    assert qrels.to_dict()["q1"] == dict.fromkeys(names, 1)
    assert set(qrels.queries) == {"q1", *(f"Q{name}" for name in names)}
    judged, tally = judged_by(tmp_path / "sys.run", qrels, window=64)
    assert judged.length.sum() == tally.rows == 2 * len(ODD_IDS)
    assert len(judged.rank) == 2 * len(ODD_IDS)


def test_ids_that_differ_in_one_byte_are_not_one(tmp_path: Path) -> None:
    path = run_of(tmp_path, "q1 Q0 1 1 3 t\nq1 Q0 01 2 2 t\nq1 Q0 1.0 3 1 t\nq1 Q0 d1\u00a0 4 0 t\n")
    qrels = read_qrels({"q1": {"01": 1, "1.0": 1, "001": 1, "d1": 1}})
    assert judged_by(path, qrels)[0].rank.tolist() == [2, 3]


@pytest.mark.usefixtures("form")
def test_only_blanks_and_tabs_separate_columns(tmp_path: Path) -> None:
    text = b" q1\tQ0 d\x0b1 \t 1 2.5  t\f\nq1 Q0\xc2\xa0Q0 d2\x0c 2 1.5\tt\x0b\r\n"
    assert read_run(run_of(tmp_path, text)).to_dict() == {"q1": {"d\x0b1": 2.5, "d2\x0c": 1.5}}
    text = b"\x0bq1\x0c 0\td1\v\f 2 \n\x0bq1\x0c 0 d2\xe3\x80\x80x 1\r\n"
    found = read_qrels(run_of(tmp_path, text, "qrels.txt")).to_dict()
    assert found == {"\x0bq1\x0c": {"d1\x0b\x0c": 2, "d2\u3000x": 1}}
    run = {"q\x0b1": {"d\x0c": 1.0}}
    write_run(run, tmp_path / "written.run")
    assert read_run(tmp_path / "written.run").to_dict() == run


def test_remarks_and_blank_lines_count_as_lines_and_nothing_else(tmp_path: Path) -> None:
    text = "# head\n\n \t\n#\nq1 Q0 d1 1 2 t\n\r\nq1 Q0 d2 2 x t\n"
    path = run_of(tmp_path, text)
    for window in (100, 1 << 16):
        with pytest.raises(InputError, match=r":7: score 'x' is not a number"):
            judged_by(path, read_qrels({"q1": {"d1": 1}}), window=window)
    assert read_run(run_of(tmp_path, text.replace(" x ", " 1 "))).to_dict() == {"q1": {"d1": 2, "d2": 1}}
    text = "# head\n\n\t\nq1 0 d1 1\n \nq1 0 d2 x\n"
    with pytest.raises(InputError, match=r":6: grade 'x' is not a number"):
        read_qrels(run_of(tmp_path, text, "qrels.txt"))


@pytest.mark.usefixtures("form")
def test_remarks_longer_than_a_window_count_as_lines_once(tmp_path: Path) -> None:
    path = run_of(tmp_path, "# head\n\n \t\n# more\nq1 Q0 d1 1 2 t\nq1 Q0 d2 2 x t\n")
    assert refusal(path) == "6: score 'x' is not a number" + RANKED


@pytest.mark.usefixtures("form")
def test_only_lines_at_the_top_are_remarks_and_they_are_counted(tmp_path: Path) -> None:
    text = "# 0 d9 1\n#\n#q0 Q0 d0 1 9 t\n#q1 Q0 #d1 1 3 #t\n# Q0 d1 1 3 t\nq2 #0 d1 1 3 t\n"
    path = run_of(tmp_path, text)
    run = {"#": {"d1": 3}, "#q0": {"d0": 9}, "#q1": {"#d1": 3}, "q2": {"d1": 3}}
    assert read_run(path).to_dict() == run
    for window in (8, 64, 1 << 16):
        judged, counts = judged_by(path, read_qrels({"#q1": {"#d1": 1}}), window=window)
        assert (judged.rank.tolist(), counts.remarks) == ([1], 2)
    found = read_qrels(run_of(tmp_path, "#\n# a\n#q 0 d1 1\n# 0 #d 2\n", "qrels.txt"))
    assert found.to_dict() == {"#q": {"d1": 1}, "#": {"#d": 2}}
    assert [(code, count) for code, _, count in found.remarks] == [("qrels_remark_lines", 2)]
    for name, text in (("a.run", "q1 Q0 d1 1 3 t\n# six words in a remark\n"), ("b.run", "#no remark\n")):
        with pytest.raises(InputError, match="begin with '# ' and"):
            read_run(run_of(tmp_path, text + "q2 Q0 d1 1 3 t\n", name))


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("q1 Q0 doc A 1 0.5 t", False),
        ("q1 Q0 my doc A 1 0.5 t", True),  # no score at all
        ("q1 Q0 my 2nd doc 1 0.5 t", True),
        ("q1 Q0 doc 7 1 0.5 t", False),
        ("q1 Q0 doc 7.0 1 0.5 t", False),
        ("my q1 Q0 doc 1 0.5 t", False),
    ],
)
def test_a_blank_in_an_id_is_refused_by_name(line: str, kept: bool, tmp_path: Path) -> None:
    path = run_of(tmp_path, f"q1 Q0 d1 1 2 t\n{line}\n")
    with pytest.raises(InputError, match=r"\.run:2: ") as refused:
        read_run(path)
    assert kept or "An id that contains a space" in str(refused.value)
    with pytest.raises(InputError, match=r":2: "):
        judged_by(path, read_qrels({"q1": {"d1": 1}}))
    good = run_of(tmp_path, "q1 Q0 d1 1 2 my tag\nq1 Q0 d2 x 1.5 t 7\nq1 Q0 d3 3 1 2 x\n", "good.run")
    with pytest.raises(InputError, match=r"good\.run:3: "):
        read_run(good)
    good.write_text(good.read_text().replace(" 2 x", " v2 x"))
    assert read_run(good).to_dict() == {"q1": {"d1": 2, "d2": 1.5, "d3": 1}}
    good.write_text(good.read_text().replace("d3 3 1", "d3 3.0 1"))  # a rank, as a data frame writes it
    assert read_run(good).to_dict() == {"q1": {"d1": 2, "d2": 1.5, "d3": 1}}


STRATUM = (
    "stratum 'A' of document 'doc' is not a whole number of at least 0"
    ".*ordinary qrels with a space in an id, use CSV"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q1 0 doc A 1\n", STRATUM),
        ("q1 0 d1 1\nq1 0 doc A 1\n", "contains a space"),
        ("q1 0 d 2 3\nq1 0 doc A 1\n", STRATUM),
    ],
)
def test_a_blank_in_an_id_of_judgments_makes_no_stratum(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"qrels\.txt:{text.count(chr(10))}: .*{words}"):
        read_qrels(run_of(tmp_path, text, "qrels.txt"))


def test_a_file_of_remarks_holds_no_run(tmp_path: Path) -> None:
    assert refusal(run_of(tmp_path, "# a\n\n#")) == (f" contains no run lines. {plain.RUN_COLUMNS}.")


def test_nul_bytes_in_a_remark_do_no_harm(tmp_path: Path) -> None:
    path = run_of(tmp_path, b"# \0 \r x\nq1 Q0 d1 1 3 t\n")
    assert read_run(path).to_dict() == {"q1": {"d1": 3}}


@pytest.mark.parametrize("window", [8, 30, 64, 100, 1 << 16])
def test_more_columns_are_counted_exactly_once(window: int, tmp_path: Path) -> None:
    lines = [f"q{place // 7} Q0 d{place} 1 {-place} t{' more' * (place % 3)}\n" for place in range(60)]
    path = run_of(tmp_path, "".join(lines))
    tally = judged_by(path, read_qrels({"q1": {"d1": 1}}), window=window)[1]
    assert (tally.extra_columns, tally.rows, tally.queries) == (40, 60, 9)
    shuffled = run_of(tmp_path, "".join(lines[::2] + lines[1::2]))
    assert judged_by(shuffled, read_qrels({"q1": {"d1": 1}}), window=window)[1].extra_columns == 40


def test_more_columns_are_counted_by_the_command_line(tmp_path: Path, leadline: Leadline) -> None:
    run = run_of(tmp_path, "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t x y z\n")
    qrels = run_of(tmp_path, "q1 0 d1 1\n", "qrels.txt")
    found = leadline("evaluate", qrels, run, "-f", "json").data
    assert found["runs"][0]["counts"]["ignored_columns"] == 1
    said = {warning["code"]: warning["count"] for warning in found["warnings"]}
    assert said == {"ignored_columns": 1, "unjudged_documents": 1}


def test_crlf_changes_nothing(tmp_path: Path) -> None:
    text = "# c\n#\nq1 Q0 d1 1 2 t\n\nq1 Q0 d2 2 1 t\n"
    plainly = read_run(run_of(tmp_path, text)).to_dict()
    path = run_of(tmp_path, text.replace("\n", "\r\n"))
    assert read_run(path).to_dict() == plainly
    assert judged_by(path, read_qrels({"q1": {"d2": 1}}), window=8)[1].tag == "t"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "q1 Q0 d1 1 2\n",
            (
                "1: the line has 5 columns. A line of a run has 6 columns (query Q0 document rank score tag)."
                " If the tag is missing, add the name of the run as column 6."
            ),
        ),
        (
            "q1 0 d1 1\n",
            (
                "1: the line has 4 columns. A line of a run has 6 columns (query Q0 document rank score tag)."
                " This looks like qrels, but a run is needed here. Most commands that take both as arguments "
                "expect the qrels first (QRELS RUN...), but `leadline replicate` expects them last. To find "
                "unjudged documents, use `leadline pool RUN... --depth K --judged QRELS -o POOL`, or "
                "`leadline evaluate QRELS RUN... -m Judged@10` for the share that is judged."
            ),
        ),
        (
            "q1,d1\n",
            (
                "1: the line has 1 column. A line of a run has 6 columns (query Q0 document rank score tag)."
                " This looks like CSV."
            ),
        ),
        (
            "<top>\n",
            (
                "1: the line has 1 column. A line of a run has 6 columns (query Q0 document rank score tag)."
                " If these are texts of documents or queries, use `leadline index DOCUMENTS -o INDEX`, then "
                "`leadline search INDEX QUERIES -o RUN`."
            ),
        ),
        ("q1 Q0 d1 1 1,5 t\n", "1: score '1,5' is not a number" + RANKED),
        ("q1 Q0 d1 1 1_000 t\n", "1: score '1_000' is not a number" + RANKED),
        ("q1 Q0 d1 1 0x1p3 t\n", "1: score '0x1p3' is not a number" + RANKED),
        ("q1 Q0 d1 1 ٣ t\n", "1: score '٣' is not a number" + RANKED),
        ("q1 Q0 d1 1 1e t\n", "1: score '1e' is not a number" + RANKED),
        ("q1 Q0 d1 1 1e+ t\n", "1: score '1e+' is not a number" + RANKED),
        ("q1 Q0 d1 1 1e5.0 t\n", "1: score '1e5.0' is not a number" + RANKED),
        ("q1 Q0 d1 1 . t\n", "1: score '.' is not a number" + RANKED),
        ("q1 Q0 d1 1 + t\n", "1: score '+' is not a number" + RANKED),
        ("q1 Q0 d1 1 --1 t\n", "1: score '--1' is not a number" + RANKED),
        ("q1 Q0 d1 1 " + 50 * "x" + " t\n", "1: score '" + 40 * "x" + "...' is not a number" + RANKED),
        (
            "q1 Q0 d1 1 -nan t\n",
            (
                "1: score '-nan' of document 'd1' is not a number. To leave out such lines, add "
                "`--config read.on_nan=drop`."
            ),
        ),
        (
            "q1 Q0 d1 1 2 t\rq1 Q0 d2 1 2 t\n",
            ("1: the line contains a carriage return. Lines must end in LF or CRLF."),
        ),
        (
            "q1 Q0 d1 1 2 t\nq1 Q0 d\0 1 2 t\n",
            "2: the line contains a NUL byte, so the file is binary or not in UTF-8",
        ),
        (
            "q1 Q0 d1 1 2 t\nq1 Q0 d2 1 2 t\n\nq1 Q0 d1 1 2 t\n",
            (
                "4: document 'd1' appears twice for query 'q1' (first at line 1). "
                "To keep only one, add `--config read.on_duplicate=first` (or last or max)."
            ),
        ),
        (
            "q1 Q0 d1 1 2 t\nq2 Q0 d1 1 2 t\nq1 Q0 d1 1 2 t\n",
            (
                "3: document 'd1' appears twice for query 'q1' (first at line 1). "
                "To keep only one, add `--config read.on_duplicate=first` (or last or max)."
            ),
        ),
    ],
)
def test_a_fault_of_a_run_is_one_line_whatever_the_window(text: str, error: str, tmp_path: Path) -> None:
    assert refusal(run_of(tmp_path, text)) == error


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "q1 0 d1\n",
            "1: the line has 3 columns. A line of qrels has 4 columns (query iteration document grade).",
        ),
        (
            "q1 0 d1 1 x\n",
            "1: the line has 5 columns. A line of qrels has 4 columns (query iteration document grade).",
        ),
        (
            "q1 Q0 d1 1 2 t\n",
            (
                "1: the line has 6 columns. A line of qrels has 4 columns (query iteration document grade). "
                "This looks like a run, but qrels are needed here. Most commands that take both as arguments "
                "expect the qrels first (QRELS RUN...), but `replicate` expects them last. If you "
                "have no qrels, `unjudged(runs)` ranks two or more runs."
            ),
        ),
        ("q1 0 d1 1_0\n", "1: grade '1_0' is not a number"),
        ("q1 0 d1 yes\n", "1: grade 'yes' is not a number"),
        ("q1 0 d1 nan\n", "1: grade 'nan' is not a finite number"),
        ("q1 0 d1 inf\n", "1: grade 'inf' is not a finite number"),
        ("q1 0 d1 -Infinity\n", "1: grade '-Infinity' is not a finite number"),
        ("q1 0 d1 1e999\n", "1: grade '1e999' is not a finite number"),
        ("q1 0 d1 1\n\nq1 0 d1 1\n", ("3: document 'd1' is judged twice for query 'q1' (first at line 1)")),
        (
            "q1 0 a 1\nq1 0 b 1\nq1 0 b 1\nq1 0 a 1\n",
            ("3: document 'b' is judged twice for query 'q1' (first at line 2)"),
        ),
        (
            "q1 0 a 1\nq1 0 a 1\nq1 0 a 1\n",
            ("2: document 'a' is judged twice for query 'q1' (first at line 1)"),
        ),
        (
            "q1 0 a 1\nq2 0 a 1\nq1 0 a 0\n",
            ("3: document 'a' is judged twice for query 'q1' (first at line 1)"),
        ),
    ],
)
def test_a_fault_of_qrels_is_one_line(text: str, error: str, tmp_path: Path) -> None:
    path = run_of(tmp_path, text, "qrels.txt")
    with pytest.raises(InputError) as rejected:
        read_qrels(path)
    assert str(rejected.value) == f"{path}:{error}"


def test_the_first_line_at_fault_is_named(tmp_path: Path) -> None:
    path = run_of(tmp_path, "q1 Q0 d1 1 x t\nq1 Q0 d2 1\nq1 Q0 d3 1 y t\n")
    assert refusal(path) == "1: score 'x' is not a number" + RANKED


def test_grades_are_exact(tmp_path: Path) -> None:
    grades = ["0.1", "1e-3", ".5", "3.", "+2", "-0.5", "-2", "0.30000000000000004", "1" + 30 * "0"]
    text = "".join(f"q1 0 d{place} {grade}\n" for place, grade in enumerate(grades))
    found = read_qrels(run_of(tmp_path, text, "qrels.txt")).to_dict()["q1"]
    assert list(found.values()) == [float(grade) for grade in grades]


def test_judgments_may_stand_in_any_order(tmp_path: Path) -> None:
    text = "q2 0 b 2\nq1 0 a 1\nq2 0 a 1\nq1 0 b 0\nq10 0 a 3\n"
    qrels = read_qrels(run_of(tmp_path, text, "qrels.txt"))
    assert list(qrels.queries) == ["q1", "q10", "q2"]
    expected = {"q1": {"a": 1, "b": 0}, "q10": {"a": 3}, "q2": {"a": 1, "b": 2}}
    assert qrels.to_dict() == expected
    assert qrels == read_qrels(expected)


LONG = "".join(f"q{place // 50} Q0 d{place % 61} 1 {(place * 37) % 11} tag\n" for place in range(300))


@pytest.mark.parametrize("window", [8, 64, 500, 1000, 4000])
@pytest.mark.parametrize("kind", ["grouped", "interleaved", "reversed", "one list"])
def test_a_tiny_window_gives_what_a_big_one_gives(window: int, kind: str, tmp_path: Path) -> None:
    lines = LONG.splitlines(keepends=True)
    if kind == "interleaved":
        lines = [line for start in range(50) for line in lines[start::50]]
    elif kind == "reversed":
        lines.reverse()
    elif kind == "one list":
        lines = [f"q1 Q0 d{place} 1 {place % 7} tag\n" for place in range(300)]
    path = run_of(tmp_path, "".join(lines))
    grades = {f"d{place}": place % 3 for place in range(0, 61, 2)}
    qrels = read_qrels({f"q{query}": grades for query in range(0, 8, 2)} | {"q1": grades})
    big, big_tally = judged_by(path, qrels)
    for turns in (1, 2):
        small, small_tally = judged_by(path, qrels, window=window, turns=turns)
        assert columns_of(small) == columns_of(big)
        assert small_tally == big_tally
    assert sum(big.length) > 100


@pytest.mark.parametrize("turns", [1, 2])
def test_a_workspace_serves_one_run_after_the_other(turns: int, tmp_path: Path) -> None:
    qrels = read_qrels({"q1": {"d1": 1, "d9": 2}, "q2": {"d2": 1}})
    workspaces = [Buffers(64) for _ in range(turns)]
    texts = [LONG, "q1 Q0 d1 1 2 t\n", "q1 Q0 x 1 nan t\n", "q2 Q0 d2 1 2 t\nq1 Q0 d9 1 1 t\nq2 Q0 y 1 0 t\n"]
    found: list[tuple[JudgedRun, JudgedRun]] = []
    for place, text in enumerate([*texts, *texts]):
        path = run_of(tmp_path, text, f"{place}.run")
        if "nan" in text:
            with pytest.raises(InputError):
                judge(str(path), qrels, workspaces=workspaces)
            continue
        found.append((judge(str(path), qrels, workspaces=workspaces)[1], judged_by(path, qrels)[0]))
    for again, fresh in found:  # looked at after all were read: no join holds borrowed memory
        assert columns_of(again) == columns_of(fresh)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("depth", [None, 1, 7])
@pytest.mark.parametrize("judged_only", [False, True])
def test_a_run_read_whole_is_judged_like_its_file(
    narrow: bool, depth: int | None, judged_only: bool, tmp_path: Path
) -> None:
    text = LONG + "q9 Q0 a 1 0.123456789 t\nq9 Q0 b 2 0.123456788 t\nq9 Q0 c 3 1e300 t\nq9 Q0 d 4 -inf t\n"
    path = run_of(tmp_path, text)
    grades = {f"d{place}": place % 4 - 1 for place in range(0, 61, 3)}
    qrels = read_qrels({f"q{query}": grades for query in range(5)} | {"q9": {"a": 1, "d": 2}, "z": {"a": 1}})
    reading, cut = Reading(single_precision=narrow), Cut(depth, judged_only)
    of_run = JudgedRun.of_run(read_run(path), qrels, reading=reading, cut=cut)
    of_file = judged_by(path, qrels, narrow=narrow, depth=depth, judged_only=judged_only)[0]
    assert columns_of(of_run) == columns_of(of_file)


@pytest.mark.parametrize("policy", ["first", "last", "max", "hold"])
def test_a_repaired_run_read_whole_is_judged_like_its_file(policy: OnDuplicate, tmp_path: Path) -> None:
    path = run_of(tmp_path, "q1 Q0 a 1 1 t\nq1 Q0 b 2 4 t\nq1 Q0 a 3 3 t\nq1 Q0 a 4 2 t\nq1 Q0 c 5 0 t\n")
    qrels = read_qrels({"q1": {"a": 1, "c": 1}})
    run = read_run(path, on_duplicate=policy)
    judged, tally = judge(str(path), qrels, reading=Reading(on_duplicate=policy))[1:]
    assert (tally.held if policy == "hold" else tally.repeated) == 2
    assert columns_of(JudgedRun.of_run(run, qrels)) == columns_of(judged)


@pytest.mark.parametrize("names", ["bb", "abbac", "zcbbbbabac"])
def test_tied_repeats_of_a_run_read_whole_hold_the_ranks_of_its_file(names: str, tmp_path: Path) -> None:
    path = run_of(tmp_path, "".join(f"q1 Q0 {name} 1 2 t\n" for name in names))
    qrels = read_qrels({"q1": {"a": 1, "b": 1, "c": 0}})
    judged = judge(str(path), qrels, reading=Reading(on_duplicate="hold"))[1]
    assert columns_of(JudgedRun.of_run(read_run(path, on_duplicate="hold"), qrels)) == columns_of(judged)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("window", [8, 1 << 16])
def test_the_best_place_of_a_held_document_counts(window: int, narrow: bool, tmp_path: Path) -> None:
    path = run_of(tmp_path, "q1 Q0 a 1 0.100000001 t\nq1 Q0 a 2 0.100000002 t\nq1 Q0 b 3 0.05 t\n")
    qrels, reading = read_qrels({"q1": {"a": 1}}), Reading(on_duplicate="hold")
    judged = judged_by(path, qrels, window=window, reading=reading, narrow=narrow)[0]
    assert (judged.rank.tolist(), judged.length.tolist()) == ([1], [3])


def test_a_query_whose_every_line_is_dropped_is_missing(tmp_path: Path) -> None:
    path = run_of(tmp_path, "q1 Q0 a 1 nan t\nq2 Q0 a 1 1 t\nq3 Q0 a 1 nan t\n")
    qrels = read_qrels({"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}})
    judged, tally = judged_by(path, qrels, window=8, reading=Reading(on_nan="drop"))
    assert judged.present.tolist() == [False, True, False]
    assert tally.dropped == 2
    whole = read_run(path, on_nan="drop")
    assert columns_of(JudgedRun.of_run(whole, qrels)) == columns_of(judged)


def test_the_tally_tells_what_was_met(tmp_path: Path) -> None:
    text = "q1 Q0 a 1 3 first\nq7 Q0 b 1 2 t\nq8 Q0 b 1 2 t x\nq1 Q0 b 2 1 last\n"
    tally = judged_by(run_of(tmp_path, text), read_qrels({"q1": {"a": 1}}), window=8)[1]
    assert tally == ReadCounts(rows=4, queries=3, extra_columns=1, tag="last", unjudged_queries=2)


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ("1:9 2:8 3:7", 0),
        ("0:9 1:8 2:7", 0),
        ("1:9 5:8 9:7", 0),
        ("2:9 1:8", 1),
        ("1:8 2:9", 1),
        ("2:9 1:9", 0),  # tied: no order contradicts the ranks
        ("3:9 1:8 2:8", 1),
        ("1:9 1:8", 0),
        ("x:9 1:8", 0),  # the column holds something else
        ("-1:9 1:8 0:7", 0),
    ],
)
def test_ranks_that_contradict_scores_are_counted(rows: str, count: int, tmp_path: Path) -> None:
    pairs = [row.split(":") for row in rows.split()]
    text = "".join(
        f"{query} Q0 d{place} {rank} {score} t\n"
        for query in ("q1", "q2")
        for place, (rank, score) in enumerate(pairs)
    )
    path = run_of(tmp_path, text)
    for window in (8, 1 << 16):
        assert judged_by(path, read_qrels({"q1": {"a": 1}}), window=window)[1].disordered == 2 * count


def test_ranks_that_fall_from_one_list_to_the_next_contradict_nothing(tmp_path: Path) -> None:
    path = run_of(tmp_path, "q1 Q0 a 5 3 t\nq1 Q0 b 6 2 t\nq2 Q0 a 1 9 t\nq2 Q0 b 2 1 t\n")
    assert judged_by(path, read_qrels({"q1": {"a": 1}}))[1].disordered == 0


def test_a_run_round_trips_through_a_dictionary(tmp_path: Path) -> None:
    run = read_run(run_of(tmp_path, LONG))
    again = read_run(run.to_dict())
    assert run == again
    qrels = read_qrels({"q1": {"d1": 1, "d60": 2}})
    left, right = JudgedRun.of_run(run, qrels), JudgedRun.of_run(again, qrels)
    assert columns_of(left) == columns_of(right)


def test_the_name_of_a_run_is_its_file_or_what_is_given(tmp_path: Path) -> None:
    path = run_of(tmp_path, "q1 Q0 d1 1 2 the-tag\n", "bm25.v2.run")
    qrels = read_qrels({"q1": {"d1": 1}})
    assert (read_run(path).name, read_run(path).tag) == ("bm25.v2", "the-tag")
    assert read_run(path, name="mine").name == "mine"
    assert judge(path, qrels)[0] == "bm25.v2"
    assert judge(path, qrels, name="mine")[0] == "mine"


def test_real_runs_read_alike_in_windows_and_whole(shared_data: Path) -> None:
    folder = shared_data / "trec-covid-r1"
    qrels: Qrels = read_qrels(folder / "qrels.txt")
    for path in sorted((folder / "runs").glob("*.xz"))[::60]:
        run: Run = read_run(path)
        judged, tally = judged_by(path, qrels, window=1 << 15)
        assert columns_of(JudgedRun.of_run(run, qrels)) == columns_of(judged)
        assert tally.rows == len(run.scores)
