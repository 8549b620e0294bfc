"""34 inputs that evaluation programs answer differently: what ours answers, and who agrees.

te9, te10: trec_eval 9.0.8 and 10.0; pyt: pytrec_eval; irm: ir_measures; ranx (default call) and
ranx-c (`make_comparable`); trt: trectools; cwl: cwl-eval; trq: toolkit-rag-quality.
"""

from __future__ import annotations

import gzip
from math import log2
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import Leadline

RUN = "A line of a run has 6 columns (query Q0 document rank score tag)."
QRELS = "A line of qrels has 4 columns (query iteration document grade)."


class Nasty(NamedTuple):
    """One input; `expected` is (AP, nDCG), None where there is no mean, or the text of the error."""

    row: int
    says: str
    qrels: bytes
    run: bytes
    expected: tuple[float | None, float | None] | str
    warnings: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    agree: str = ""
    differ: str = ""
    file: str = "sys.run"


def ranked(query: str, *documents: str) -> bytes:
    """Return the lines of a list in which scores fall and ranks rise."""
    return b"".join(
        f"{query} Q0 {document} {place} {100 - place} t\n".encode()
        for place, document in enumerate(documents, start=1)
    )


def judged(query: str, **grades: float) -> bytes:
    """Return the lines of qrels for one query."""
    return b"".join(f"{query} 0 {document} {grade}\n".encode() for document, grade in grades.items())


THREE_TIED = b"q1 Q0 a 1 5 t\nq1 Q0 b 2 5 t\nq1 Q0 c 3 5 t\n"
NINTH_DIGIT = b"q1 Q0 a 1 0.123456789 t\nq1 Q0 b 2 0.123456788 t\n"
ONE = judged("q1", d1=1)
TWO = judged("q1", d1=1, d2=0)
HALF = ranked("q1", "d2", "d1")  # the relevant document second: AP 1/2
SECOND = 1 / log2(3)
THIRD = ranked("q1", "x", "y", "d1")  # and third: AP 1/3
TWO_QUERIES = judged("q1", d1=1) + judged("q2", d1=1)
PEERS = "te9 te10 pyt irm ranx ranx-c trt cwl trq"

TABLE = (
    Nasty(
        1,
        "an ordinary run, grades 0 to 3",
        judged("q1", a=0, b=1) + judged("q2", a=0, b=1, c=3, d=2),
        ranked("q1", "a", "b") + ranked("q2", "a", "b", "c"),
        (4 / 9, (SECOND + (SECOND + 3 / 2) / (3 + 2 * SECOND + 1 / 2)) / 2),  # .444 .539
        ("grade_one_relevant",),
        agree="te9 te10 pyt irm ranx ranx-c trt trq",
        differ="cwl refuses grade 3",
    ),
    Nasty(
        2,
        "three tied, the relevant one has the lowest id",
        judged("q1", a=1),
        THREE_TIED,
        (1 / 3, 1 / 2),
        ("tied_lists", "unjudged_documents"),
        agree="te9 te10 pyt irm trq",
        differ="ranx and cwl 1.0/1.0, trt .333/1.0",
    ),
    Nasty(
        3,
        "three tied, the relevant one has the highest id",
        judged("q1", c=1),
        THREE_TIED,
        (1.0, 1.0),
        ("tied_lists", "unjudged_documents"),
        agree="te9 te10 pyt irm trq",
        differ="ranx and cwl .333/.500, trt 1.0/.500",
    ),
    Nasty(
        4,
        "scores that differ in the 9th digit",
        judged("q1", a=1),
        NINTH_DIGIT,
        (1.0, 1.0),
        ("unjudged_documents",),
        agree="te10 ranx trt",
        differ="te9, pyt and irm .500",
    ),
    Nasty(
        4,
        "scores that differ in the 9th digit, profile trec9",
        judged("q1", a=1),
        NINTH_DIGIT,
        (1 / 2, SECOND),
        ("tied_lists", "unjudged_documents"),
        options=("--profile", "trec9"),
        agree="te9 pyt irm",
    ),
    Nasty(
        4,
        "scores that differ in the 9th digit, profile trec10",
        judged("q1", a=1),
        NINTH_DIGIT,
        (1.0, 1.0),
        ("unjudged_documents",),
        options=("--profile", "trec10"),
        agree="te10",
    ),
    Nasty(
        5,
        "the same document twice in the run",
        ONE,
        ranked("q1", "d1", "x", "d1"),
        (
            "{run}:3: document 'd1' appears twice for query 'q1' (first at line 1). To "
            "keep only one, add `--config read.on_duplicate=first` (or last or max)."
        ),
        agree="te9 te10 trt trq refuse",
        differ="irm, ranx and cwl are silent, pyt has no text",
    ),
    Nasty(
        6,
        "the same document twice in the qrels",
        judged("q1", d1=1, d2=0) + b"q1 0 d1 2\n",
        HALF,
        "{qrels}:3: document 'd1' is judged twice for query 'q1' (first at line 1)",
        agree="te9 te10 refuse",
        differ="irm, ranx and trt are silent, pyt has no text",
    ),
    Nasty(
        7,
        "a score NaN",
        ONE,
        b"q1 Q0 x 1 2 t\nq1 Q0 d1 2 NaN t\n",
        (
            "{run}:2: score 'NaN' of document 'd1' is not a number. To leave out such lines, add "
            "`--config read.on_nan=drop`."
        ),
        differ="every peer is silent; most order by id, trq gives .500",
    ),
    Nasty(
        8,
        "a score that is a word",
        ONE,
        b"q1 Q0 x 1 2 t\nq1 Q0 d1 2 abc t\n",
        "{run}:2: score 'abc' is not a number. To order the documents by the rank column, add "
        "`--config read.order=rank`.",
        agree="pyt irm ranx refuse",
        differ="te9 and te10 read 0, trt is silent",
    ),
    Nasty(
        9,
        "infinite scores",
        TWO,
        b"q1 Q0 d1 3 -inf t\nq1 Q0 d2 1 +inf t\nq1 Q0 d3 2 0 t\n",
        (1 / 3, 1 / 2),
        ("unjudged_documents",),
        agree="te9 te10 pyt irm ranx trt",
    ),
    Nasty(
        10,
        "an empty run",
        ONE,
        b"",
        "{run}: contains no run lines. " + RUN,
        agree="te9 te10 ranx trq refuse",
        differ="pyt {{}}, irm zeros, trt NaN, cwl AttributeError",
    ),
    Nasty(
        11,
        "empty qrels",
        b"",
        HALF,
        "{qrels}: contains no judgments. " + QRELS,
        agree="te9 te10 ranx refuse",
        differ="pyt {{}}, irm NaN, trt 0.0",
    ),
    Nasty(
        12,
        "a judged query is missing from the run",
        TWO_QUERIES,
        THIRD,
        (1 / 6, 1 / 4),
        ("missing_queries", "unjudged_documents"),
        agree="irm ranx-c trq and te with -c",
        differ="te9, pyt, trt and cwl .333, te10 exit 4",
    ),
    Nasty(
        12,
        "a judged query is missing from the run, profile trec9",
        TWO_QUERIES,
        THIRD,
        (1 / 3, 1 / 2),
        ("missing_queries", "unjudged_documents"),
        ("--profile", "trec9"),
        agree="te9 pyt trt cwl",
    ),
    Nasty(
        12,
        "a judged query is missing from the run, profile trec10",
        TWO_QUERIES,
        THIRD,
        (None, None),
        ("missing_queries", "unjudged_documents"),
        ("--profile", "trec10"),
        agree="te10",
    ),
    Nasty(
        12,
        "a judged query is missing from the run, queries of both files",
        TWO_QUERIES,
        THIRD,
        (1 / 3, 1 / 2),
        ("missing_queries", "unjudged_documents"),
        ("-C", "queries=both"),
        agree="te9 pyt trt cwl",
    ),
    Nasty(
        13,
        "a query of the run has no judgments",
        ONE,
        ranked("q1", "d1") + ranked("q2", "d1"),
        (1.0, 1.0),
        ("unjudged_queries",),
        agree="te9 te10 pyt irm ranx-c trq",
        differ="trt .5, cwl scores it 0, ranx AssertionError",
    ),
    Nasty(
        14,
        "no query of the run is judged",
        ONE,
        ranked("q7", "d1"),
        "no query in sys is judged (sys has 'q7', but the judgments have 'q1'). Make the query ids match.",
        agree="te9 exit 7, te10 exit 4",
        differ="irm ranx-c trt and te10 with -c give 0, pyt {{}}",
    ),
    Nasty(
        14,
        "no query of the run is judged, profile trec9",
        ONE,
        ranked("q7", "d1"),
        "no query in sys is judged (sys has 'q7', but the judgments have 'q1'). Make the query ids match.",
        (),
        ("--profile", "trec9"),
        agree="te9 pyt give no mean",
    ),
    Nasty(
        15,
        "grades -1 and -2 are retrieved",
        judged("q1", a=-1, b=1, c=-2, d=2),
        ranked("q1", "a", "b", "c", "d"),
        (1 / 2, (SECOND + 2 / log2(5)) / (2 + SECOND)),
        ("grade_one_relevant", "unjudged_documents"),  # .500 .567
        agree="te9 te10 pyt irm ranx trt",
        differ="cwl ValueError",
    ),
    Nasty(
        16,
        "the rank column contradicts the scores",
        ONE,
        b"q1 Q0 d1 1 1 t\nq1 Q0 d2 2 2 t\n",
        (1 / 2, SECOND),
        ("rank_disagrees", "unjudged_documents"),
        agree="te9 te10 pyt irm ranx trt trq",
        differ="cwl 1.0: the order of the file",
    ),
    Nasty(
        16,
        "the rank column contradicts the scores, ordered by rank",
        ONE,
        b"q1 Q0 d1 1 1 t\nq1 Q0 d2 2 2 t\n",
        (1.0, 1.0),
        ("unjudged_documents",),
        options=("--config", "read.order=rank"),
        agree="cwl",
    ),
    Nasty(
        17,
        "ids beyond ASCII are tied: bytes decide",
        "q1 0 ß 1\nq1 0 z 0\n".encode(),
        "q1 Q0 z 1 5 t\nq1 Q0 ä 1 5 t\nq1 Q0 ß 1 5 t\n".encode(),
        (1 / 2, SECOND),
        ("tied_lists", "unjudged_documents"),
        agree="te9 te10 pyt irm ranx",
        differ="trt: another nDCG",
    ),
    Nasty(
        18,
        "a no-break space inside an id",
        "q1 0 d\u00a01 1\n".encode(),
        "q1 Q0 d 1 3 t\nq1 Q0 d\u00a01 2 2 t\n".encode(),
        (1 / 2, SECOND),
        ("unjudged_documents",),
        agree="te9 te10 trt",
        differ="pyt, irm and ranx: too many values",
    ),
    Nasty(
        19,
        "tabs, several blanks, leading blanks",
        b" q1\t0  d1\t \t1 \n",
        b"\tq1  Q0\td2 1\t\t2 t\n q1 Q0 d1   2 1 \t t\t\n",
        (1 / 2, SECOND),
        ("unjudged_documents",),
        agree=PEERS,
    ),
    Nasty(
        20,
        "lines that end in CR LF",
        TWO.replace(b"\n", b"\r\n"),
        HALF.replace(b"\n", b"\r\n"),
        (1 / 2, SECOND),
        agree=PEERS,
    ),
    Nasty(
        21,
        "a run compressed by gzip",
        TWO,
        gzip.compress(HALF, mtime=0),
        (1 / 2, SECOND),
        agree="irm ranx trt",
        differ="te9 and te10 cannot, pyt UnicodeDecodeError",
        file="sys.run.gz",
    ),
    Nasty(
        22,
        "a query without a relevant document",
        TWO + judged("q2", d1=0),
        HALF + ranked("q2", "d1"),
        (1 / 4, SECOND / 2),
        ("no_relevant",),
        agree="te9 te10 pyt irm ranx trt trq",
    ),
    Nasty(
        23,
        "a run without the tag",
        ONE,
        b"q1 Q0 d2 1 2\nq1 Q0 d1 2 1\n",
        "{run}:1: the line has 5 columns. "
        + RUN
        + " If the tag is missing, add the name of the run as column 6.",
        agree="te9 te10 pyt irm ranx trt trq refuse",
    ),
    Nasty(
        24,
        "a run with more columns",
        ONE,
        HALF.replace(b" t\n", b" t more columns\n"),
        (1 / 2, SECOND),
        ("ignored_columns", "unjudged_documents"),
        agree="te9 te10",
        differ="pyt, irm and ranx refuse, trt 0.0 with shifted columns",
    ),
    Nasty(
        25,
        "qrels of three columns",
        b"q1 d1 1\n",
        HALF,
        "{qrels}:1: the line has 3 columns. " + QRELS,
        agree="te9 te10 pyt irm ranx refuse",
        differ="trt 0.0",
    ),
    Nasty(
        26,
        "comment lines",
        b"# judged by hand\n" + TWO,
        b"#\n# six words in a line\n" + HALF,
        (1 / 2, SECOND),
        ("remark_lines", "qrels_remark_lines"),
        agree="te10",
        differ="te9, pyt, irm, ranx, trt, cwl and trq refuse",
    ),
    Nasty(
        27,
        "blank lines",
        b"\n" + TWO + b"\n\n",
        b" \n" + HALF.replace(b"\n", b"\n\r\n") + b"\t\n",
        (1 / 2, SECOND),
        agree="irm trt",
        differ="te9 and te10 refuse them in qrels, pyt and ranx",
    ),
    Nasty(
        28,
        "a grade of one half",
        judged("q1", d1=1, d2=0.5),
        HALF,
        (1 / 2, (0.5 + SECOND) / (1 + 0.5 * SECOND)),
        agree="trt cwl",
        differ="te9 and te10 read 0, pyt, irm, ranx and trq refuse",
    ),
    Nasty(
        29,
        "the ids 1, 01 and 007",
        b"q1 0 01 1\nq1 0 1 0\nq1 0 7 0\n",
        ranked("q1", "1", "007", "7", "01"),
        (1 / 4, 1 / log2(5)),
        ("unjudged_documents",),
        agree="te9 te10 pyt irm ranx",
        differ="trt: Duplicated docid",
    ),
    Nasty(
        30,
        "the ids NA, null and nan",
        b"NA 0 null 1\nNA 0 NA 0\n",
        ranked("NA", "NA", "nan", "null"),
        (1 / 3, 1 / 2),
        ("unjudged_documents",),
        agree="te9 te10 pyt irm ranx trq",
        differ="trt: Duplicated docid",
    ),
    Nasty(
        31,
        "a byte order mark in the run only",
        TWO,
        b"\xef\xbb\xbf" + HALF,
        (1 / 2, SECOND),
        agree="trt",
        differ="te9, te10, pyt, irm, ranx-c and trq 0.0",
    ),
    Nasty(
        32,
        "quotes in ids",
        b"q1 0 \"d1 1\nq1 0 'd1' 0\n",
        ranked("q1", "'d1'", '"d1', 'd"1'),
        (1 / 2, SECOND),
        ("unjudged_documents",),
        agree="te9 te10 pyt irm ranx",
        differ="trt 0.0",
    ),
    Nasty(
        33,
        "the relevant document at rank 1001",
        ONE,
        b"".join(b"q1 Q0 x%d %d %d t\n" % (place, place, 2000 - place) for place in range(1, 1001))
        + b"q1 Q0 d1 1001 1 t\n",
        (1 / 1001, 1 / log2(1002)),
        ("unjudged_documents",),  # .001 .100
        agree="te9 te10 pyt irm ranx",
        differ="trt 0.0: cut at 1000",
    ),
    Nasty(
        34,
        "two tags in one file",
        ONE,
        HALF.replace(b"98 t", b"98 u"),
        (1 / 2, SECOND),
        ("unjudged_documents",),
        agree="te9 te10 pyt irm ranx trt",
    ),
)


def write(folder: Path, nasty: Nasty) -> tuple[Path, Path]:
    qrels, run = folder / "qrels.txt", folder / nasty.file
    qrels.write_bytes(nasty.qrels)
    run.write_bytes(nasty.run)
    return qrels, run


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("nasty", TABLE, ids=lambda nasty: f"{nasty.row}-{nasty.says}")
def test_a_nasty_input_gets_the_value_or_the_error_of_the_table(
    nasty: Nasty, tmp_path: Path, leadline: Leadline
) -> None:
    qrels, run = write(tmp_path, nasty)
    asked = ("evaluate", qrels, run, "-m", "AP", "-m", "nDCG", "-f", "json", *nasty.options)
    found = leadline(*asked)
    if isinstance(nasty.expected, str):
        assert found.err == f"leadline: error: {nasty.expected.format(run=run, qrels=qrels)}\n"
        assert (found.status, found.out) == (2, "")
        assert leadline(*asked, "-o", tmp_path / "result.json").status == 2
        assert sorted(tmp_path.iterdir()) == sorted([qrels, run]), "something half-written is left"
        return
    assert (found.status, found.err) == (0, "")
    mean = found.data["runs"][0]["mean"]
    for name, value in zip(("AP", "nDCG"), nasty.expected, strict=True):
        assert mean[name] == (None if value is None else pytest.approx(value, rel=1e-14))
    assert sorted(warning["code"] for warning in found.data["warnings"]) == sorted(nasty.warnings)


def test_the_table_has_all_34_inputs() -> None:
    assert sorted({nasty.row for nasty in TABLE}) == list(range(1, 35))
    assert all(nasty.agree or nasty.differ for nasty in TABLE)


@pytest.mark.usefixtures("form")
def test_the_tag_is_that_of_the_last_line(tmp_path: Path, leadline: Leadline) -> None:
    nasty = next(nasty for nasty in TABLE if nasty.row == 34)
    found = leadline("evaluate", *write(tmp_path, nasty), "-f", "json")
    assert found.data["runs"][0]["tag"] == "u"


# The lecture's second example of recall and precision points: document 772 is listed at ranks 8 and 13.
SLIDE = (588, 576, 589, 342, 590, 717, 984, 772, 321, 498, 113, 628, 772, 592)
SLIDE_RELEVANT = (588, 589, 590, 772, 321, 592)
HELD = (1 + 2 / 3 + 3 / 5 + 4 / 8 + 5 / 9 + 6 / 14) / 6


def slide(folder: Path, *, score: str = "") -> tuple[Path, Path]:
    qrels, run = folder / "qrels.txt", folder / "slide.run"
    qrels.write_text("".join(f"2 0 {document} 1\n" for document in SLIDE_RELEVANT))
    run.write_text(
        "".join(
            f"2 Q0 {document} {place} {score or 15 - place} lecture\n"
            for place, document in enumerate(SLIDE, start=1)
        )
    )
    return qrels, run


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("hold", HELD),
        ("first", (1 + 2 / 3 + 3 / 5 + 4 / 8 + 5 / 9 + 6 / 13) / 6),
        ("last", (1 + 2 / 3 + 3 / 5 + 4 / 8 + 5 / 12 + 6 / 13) / 6),
        ("max", (1 + 2 / 3 + 3 / 5 + 4 / 8 + 5 / 9 + 6 / 13) / 6),
    ],
)
def test_the_lecture_lists_a_document_twice_and_every_policy_has_its_value(
    policy: str, expected: float, tmp_path: Path, leadline: Leadline
) -> None:
    asked = ("evaluate", *slide(tmp_path), *f"-m AP -f json --config read.on_duplicate={policy}".split())
    found = leadline(*asked).data
    assert found["runs"][0]["mean"]["AP"] == pytest.approx(expected, rel=1e-14)
    said = {warning["code"]: warning["count"] for warning in found["warnings"]}
    code, unjudged = ("held_documents", 8) if policy == "hold" else ("repeated_documents", 7)
    assert said == {code: 1, "unjudged_documents": unjudged}
    assert found["options"]["on_duplicate"] == policy
    ordered = leadline(*asked, "--config", "read.order=rank").data
    assert ordered["runs"][0]["mean"]["AP"] == found["runs"][0]["mean"]["AP"]


def test_the_lecture_prints_0_625() -> None:
    assert round(HELD, 3) == 0.625


@pytest.mark.usefixtures("form")
def test_the_lectures_list_is_refused_unless_a_policy_is_given(tmp_path: Path, leadline: Leadline) -> None:
    qrels, run = slide(tmp_path)
    assert leadline("evaluate", qrels, run) == (
        2,
        "",
        (
            f"leadline: error: {run}:13: document '772' appears twice for query '2' (first at line 8). "
            "To keep only one, add `--config read.on_duplicate=first` (or last or max).\n"
        ),
    )


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    ("policy", "ranks"),
    # d1 stands above document a (score 2.5) or below, as its score is 3 or 1; z comes last
    [("first", (2, 3)), ("last", (2, 3)), ("max", (1, 3)), ("hold", (1, 5))],
)
def test_a_policy_chooses_by_line_or_by_score(
    policy: str, ranks: tuple[int, int], tmp_path: Path, leadline: Leadline
) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "sys.run"
    qrels.write_text("q1 0 d1 1\nq1 0 z 1\n")
    scores = {"first": "123", "last": "321", "max": "132", "hold": "132"}[policy]
    rows = [("d1", score) for score in scores] + [("a", "2.5"), ("z", "0.5")]
    run.write_text("".join(f"q1 Q0 {document} 1 {score} t\n" for document, score in rows))
    asked = ("evaluate", qrels, run, "-m", "RankOf", "-m", "RankOf(n=2)", "-f", "json")
    mean = leadline(*asked, "--config", f"read.on_duplicate={policy}").data["runs"][0]["mean"]
    assert (mean["RankOf"], mean["RankOf(n=2)"]) == ranks


@pytest.mark.usefixtures("form")
def test_lines_with_score_nan_are_dropped_on_request(tmp_path: Path, leadline: Leadline) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "sys.run"
    qrels.write_text("q1 0 d1 1\nq1 0 d2 1\n")
    run.write_text("q1 Q0 d1 1 nan t\nq1 Q0 x 2 NaN t\nq1 Q0 d2 3 1 t\nq1 Q0 y 4 2 t\nq1 Q0 d1 5 0.5 t\n")
    found = leadline("evaluate", qrels, run, "-m", "AP", "-f", "json", "--config", "read.on_nan=drop").data
    assert found["runs"][0]["mean"]["AP"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    said = {warning["code"]: warning["count"] for warning in found["warnings"]}
    assert said == {"dropped_scores": 2, "rank_disagrees": 1, "unjudged_documents": 1}
    assert found["runs"][0]["counts"]["documents_read"] == 3


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("score", ["NaN", "abc", "-", "0"])
def test_order_rank_takes_runs_whose_scores_are_broken(
    score: str, tmp_path: Path, leadline: Leadline
) -> None:
    asked = ("evaluate", *slide(tmp_path, score=score), "-m", "AP", "-f", "json")
    found = leadline(*asked, "--config", "read.order=rank", "--config", "read.on_duplicate=hold").data
    assert found["runs"][0]["mean"]["AP"] == pytest.approx(HELD, rel=1e-14)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("columns", ["q1 Q0 d2 1\nq1 Q0 d1 2\n", "q1 Q0 d1 2 t\nq1 Q0 d2 1 t\n"])
def test_order_rank_takes_runs_without_scores(columns: str, tmp_path: Path, leadline: Leadline) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "sys.run"
    qrels.write_bytes(TWO)
    run.write_text(columns)
    found = leadline("evaluate", qrels, run, "-m", "AP", "-f", "json", "--config", "read.order=rank")
    assert found.data["runs"][0]["mean"]["AP"] == 0.5


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    ("ranks", "error"),
    [
        (
            ("1", "2", "1"),
            (
                "3: rank 1 appears twice for query 'q1' (first at line 1). "
                "With --config read.order=rank, the ranks for a query must all be different."
            ),
        ),
        (("1", "2.5", "3"), "2: rank '2.5' is not a whole number of at least 0"),
        (("x", "2", "3"), "1: rank 'x' is not a whole number of at least 0"),
        (("1", "2", "-3"), "3: rank '-3' is not a whole number of at least 0"),
        (("1", "1000000000", "2"), "2: rank '1000000000' has more than nine digits"),
    ],
)
def test_order_rank_refuses_repeated_and_broken_ranks(
    ranks: tuple[str, ...], error: str, tmp_path: Path, leadline: Leadline
) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "sys.run"
    qrels.write_bytes(TWO)
    run.write_text("".join(f"q1 Q0 d{place} {rank} 0 t\n" for place, rank in enumerate(ranks)))
    found = leadline("evaluate", qrels, run, "--config", "read.order=rank")
    assert found == (2, "", f"leadline: error: {run}:{error}\n")


@pytest.mark.usefixtures("form")
def test_ranks_may_begin_at_0_and_leave_gaps(tmp_path: Path, leadline: Leadline) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "sys.run"
    qrels.write_bytes(TWO)
    run.write_text("q1 Q0 d1 7 9 t\nq1 Q0 d2 0 1 t\nq1 Q0 x 999999999 5 t\n")
    found = leadline("evaluate", qrels, run, "-m", "RankOf", "-f", "json", "--config", "read.order=rank")
    assert found.data["runs"][0]["mean"]["RankOf"] == 2.0
