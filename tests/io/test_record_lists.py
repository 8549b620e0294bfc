"""JSON Lines, JSON and CSV by the compiled scans, by their source run by Python, and by Python alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from conftest import examples
from leadline import kernels
from leadline.errors import LeadlineError
from leadline.evaluation.join import judge
from leadline.io import columns, row_checks
from leadline.io.objects import read_qrels, read_run
from leadline.io.opening import Buffers
from strategies import FORMS, NUMBERS, ORIGINAL, Interpreted, in_form

EVERY_FORM = (*FORMS, *([] if ORIGINAL is None else [Interpreted()]))
JUDGED = ll.Qrels({"q1": {"d1": 2, "d2": 0, "é": 1, 'a"b': 1}, "q2": {"d1": 1}, "": {"d3": 1}})

# Texts of JSON: strings, numbers, and what is neither.
STRINGS = [
    b'"q1"',
    b'"q2"',
    b'"d1"',
    b'"d2"',
    '"é"'.encode(),
    b'"\\u00e9"',
    b'"d\\u0031"',
    b'"a\\"b"',
    b'""',
    b'"\xff"',
]
STRINGS += [
    b'"\\ud83d\\ude00"',
    '"😀"'.encode(),
    b'"\\ud83d"',
    b'"\\udc80"',
    b'"\\u0000"',
    b'"\\x"',
    b'"\\/\\b\\f\\n\\r\\t\\\\"',
]
STRINGS += [
    b'"\\u12"',
    b'"\\u20AC"',
    b'"\\ud83dx"',
    b'"a\tb"',
    b'"\x7f"',
    b'"open',
    b'"a\xed\xa0\x80"',
    b'"#"',
    b'"\\ud800\\u0041"',
]
TOKENS = b"0 -0 -0.0 1 -3 2.5 1e3 1E+2 1e-7 1. .5 01 +1 1e 1e400".split()
TOKENS += [
    b"-",
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"1" * 25,
    b"0.1234567890123456789",
    b"9007199254740993",
    b"1_0",
    b"0x1",
]
OTHERS = [
    b"null",
    b"true",
    b"false",
    b"nul",
    b"[]",
    b"{}",
    b'[1, "a", {"b": [null]}]',
    b'{"x": 1, "x": 2}',
    b"[1,]",
    b'{"a" 1}',
    b"[" * 60,
]
QUERY = st.sampled_from([b'"q1"', b'"q1"', b'"q2"'])
LETTERS = st.text(alphabet='ad19 é€😀"\\/\n\t\x7f', max_size=5)
GOOD_STRING = st.one_of(
    st.sampled_from([b'"d1"', b'"d2"', b'"d3"', '"é"'.encode(), b'"\\u00E9"', b'"d\\u0031"', b'"a\\/b"']),
    LETTERS.map(lambda text: json.dumps(text).encode()),
    LETTERS.map(lambda text: json.dumps(text, ensure_ascii=False).encode()),
)
GOOD_NUMBER = st.one_of(
    st.integers(-5, 5).map(lambda value: str(value).encode()),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda value: repr(value).encode()),
)
GOOD_VALUE = st.recursive(
    st.one_of(st.text(max_size=3), st.floats(), st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
).map(lambda value: json.dumps(value).encode())
STRING = st.one_of(GOOD_STRING, st.sampled_from(STRINGS))
NUMBER = st.one_of(GOOD_NUMBER, st.sampled_from(TOKENS))
VALUE = st.one_of(STRING, NUMBER, GOOD_VALUE, st.sampled_from(OTHERS))
BLANK = st.sampled_from([b"", b"", b"", b"", b" ", b" ", b"\t", b"\r", b"\f"])
LINE_END = st.sampled_from(
    [b"\n", b"\n", b"\n", b"\n", b"\r\n", b" \n", b"\n\n", b"\n \r\n", b"\f\n", b"", b"\n{}\n"]
)
GOOD_BLANK = st.sampled_from([b"", b"", b" ", b"\t", b"\r"])
GOOD_END = st.sampled_from([b"\n", b"\n", b"\r\n", b" \n", b"\n\n", b"\n \r\n"])
SIZES = st.sampled_from([16, 64, 200, 1 << 12])


@st.composite
def objects(draw: Any) -> bytes:
    """Draw JSON Lines whose records have the same members, or mostly; perhaps with a byte changed."""
    more = draw(st.lists(st.sampled_from([b'"rank"', b'"tag"', b'"x"', b'"rel"', b'"\\u0079"']), unique=True))
    names = draw(st.permutations([b'"query_id"', b'"doc_id"', b'"score"', *more]))
    good = draw(st.integers(0, 3)) > 0
    number, string = (GOOD_NUMBER, GOOD_STRING) if good else (NUMBER, STRING)
    rank = st.integers(0, 2000).map(lambda value: str(value).encode()) if good else NUMBER
    kinds = {b'"query_id"': QUERY, b'"doc_id"': string, b'"score"': number, b'"rank"': rank, b'"rel"': number}
    blank, line_end = (GOOD_BLANK, GOOD_END) if good else (BLANK, LINE_END)
    text = b""
    for _ in range(draw(st.integers(1, 6))):
        members = [(name, draw(kinds.get(name, GOOD_VALUE if good else VALUE))) for name in names]
        if not good and draw(st.booleans()):
            members = draw(st.lists(st.sampled_from(members), max_size=6)) or members
        elif draw(st.integers(0, 3)) == 0:
            members = draw(st.permutations(members))
        sign = draw(blank)
        inside = (sign + b"," + draw(blank)).join(
            name + sign + b":" + sign + value for name, value in members
        )
        text += draw(blank) + b"{" + sign + inside + draw(blank) + b"}" + draw(line_end)
    found: bytes = text if good else draw(changed(text))
    return found


@st.composite
def mappings(draw: Any) -> bytes:
    """Draw JSON of {query: {document: number}}."""
    good = draw(st.integers(0, 3)) > 0
    number, string = (GOOD_NUMBER, GOOD_STRING) if good else (NUMBER, STRING)
    blank = draw(st.sampled_from([b"", b" ", b"\n", b"\r\n\t"]))
    lists = []
    for _ in range(draw(st.integers(0, 4))):
        pairs = draw(st.lists(st.tuples(string, number), max_size=4, unique_by=lambda pair: pair[0]))
        inside = (blank + b"," + blank).join(name + blank + b":" + blank + number for name, number in pairs)
        query = draw(
            st.one_of(
                QUERY, GOOD_STRING, st.sampled_from([b'"mteb_model_meta"', b'"rows"', b'"hits"', *STRINGS])
            )
        )
        lists.append(query + blank + b":" + blank + b"{" + blank + inside + blank + b"}")
    text = blank + b"{" + blank + (b"," + blank).join(lists) + blank + b"}" + blank
    found: bytes = text if good else draw(changed(text))
    return found


CELL = st.sampled_from(
    [
        b"",
        b"x",
        b'"d 1"',
        b'"a""b"',
        b'a"b',
        b'"a',
        b'"a"b',
        b"#a",
        b" d",
        b"a\tb",
        b"a;b",
        b"\xc2\xa0",
        b"\xff",
        b'""',
        b'"a\nb"',
        b"a\rb",
    ]
)


@st.composite
def cells(draw: Any) -> bytes:
    """Draw CSV, perhaps with a byte changed."""
    good = draw(st.integers(0, 3)) > 0
    more = draw(st.lists(st.sampled_from([b"rank", b"tag", b"x", b"rel", b'"y"']), unique=True))
    names = draw(st.permutations([b"query_id", b'"doc_id"', b"score", *more]))
    sign = draw(st.sampled_from([b",", b"\t", b";"]))
    rank = st.sampled_from(
        [b"1", b"2", b"", b"x", b"-1", b"1234567890", b"3.0", *([] if good else [b" 3", "٣".encode()])]
    )
    plain = QUERY.map(lambda name: name[1:-1])
    good_id = st.text(alphabet="ad19 é€😀/#'", min_size=1, max_size=5).map(str.encode)
    ids = st.one_of(good_id, good_id.map(lambda name: b'"' + name + b'"'), *([] if good else [CELL]))
    kinds = {b"query_id": st.one_of(plain, QUERY), b'"doc_id"': ids, b"rank": rank}
    kinds[b"score"] = kinds[b"rel"] = GOOD_NUMBER if good else st.one_of(NUMBER, st.sampled_from(NUMBERS))
    ends = [b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b"\n#a,b\n", b"\n#\r\n"]
    text = sign.join(names) + draw(st.sampled_from([b"\n", b"\r\n"] if good else [b"\n", b"\r"]))
    for _ in range(draw(st.integers(0, 6))):
        text += sign.join(
            draw(kinds.get(name, st.one_of(plain, st.just(b"")) if good else CELL)) for name in names
        )
        text += draw(st.sampled_from(ends if good else [*ends, b"\r", b"\n \n"]))
    found: bytes = text if good else draw(changed(text))
    return found


@st.composite
def changed(draw: Any, text: bytes) -> bytes:
    """Draw a text, or one in which something is left out or put in."""
    if draw(st.integers(0, 3)):
        return text
    start, size = draw(st.integers(0, len(text))), draw(st.integers(0, 3))
    put = draw(st.sampled_from([b"", b"", b"\n", b'"', b"\\", b",", b"{", b"}", b"0", b" ", b"\r", b"\x00"]))
    found: bytes = text[:start] + put + text[start + size :]
    return found


def outcome(read: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Return what a reader gives, or what it says."""
    try:
        return read(*given, **options)
    except LeadlineError as error:
        return str(error)


def joined(source: Any) -> Any:
    name, judged, counts = judge(source, JUDGED, keep=True)
    assert judged.lists is not None
    assert judged.lists.ids is not None
    return (
        *(name, counts),
        [part.tolist() for part in (judged.present, judged.length, judged.rank, judged.row)],
        [
            *zip(
                judged.lists.ids,
                map(repr, judged.lists.scores.tolist()),
                judged.lists.rows.tolist(),
                strict=True,
            )
        ],
    )


def whole(source: Any) -> Any:
    run = read_run(source)
    return run.tag, [(query, [*map(repr, run[query].items())]) for query in run]


def every(path: Path) -> list[Any]:
    qrels = outcome(read_qrels, path, kind="qrels")
    return [
        outcome(joined, path),
        outcome(whole, path),
        qrels if isinstance(qrels, str) else repr(qrels.to_dict()),
    ]


def compare(text: bytes, path: Path, size: int) -> None:
    """Read a text in every form, in chunks of a size."""
    path.write_bytes(text)
    found = []
    for form in EVERY_FORM:
        with in_form(form), pytest.MonkeyPatch.context() as patch:
            patch.setattr(columns, "Buffers", lambda: Buffers(size))
            found.append(every(path))
    assert all(each == found[0] for each in found[1:])


SETTINGS = examples(120)


@SETTINGS
@given(text=objects(), size=SIZES)
def test_forms_agree_on_json_lines(text: bytes, size: int, tmp_path: Path) -> None:
    compare(text, tmp_path / "a.jsonl", size)


@SETTINGS
@given(text=mappings(), size=SIZES)
def test_forms_agree_on_json(text: bytes, size: int, tmp_path: Path) -> None:
    compare(text, tmp_path / "a.json", size)


@SETTINGS
@given(text=cells(), size=SIZES)
def test_forms_agree_on_csv(text: bytes, size: int, tmp_path: Path) -> None:
    compare(text, tmp_path / "a.csv", size)


RECORDS = [
    {"tag": "t", "score": 2.5, "doc_id": "é", "meta": {"a": [1, None, "\n"]}, "query_id": "q1"},
    {"tag": "t", "score": 2, "doc_id": 'a"b', "meta": [], "query_id": "q1"},
    {"score": 1e-300, "query_id": "q2", "meta": None, "doc_id": "😀", "tag": "t"},
]


@pytest.mark.skipif(
    kernels.compiled is None or kernels.compiled.scan_records is None,
    reason="the kernels are not compiled here",
)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", "\n".join(map(json.dumps, RECORDS))),
        (
            "a.jsonl",
            "\n\n".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in RECORDS)
            + "\r\n",
        ),
        ("a.json", json.dumps({"q1": {"é": 2.5, 'a"b': 2}, "q2": {"😀": 1e-300}}, indent=1)),
        ("a.csv", '"query_id","doc_id","score"\r\n"q1","é",2.5\r\n\r\n"q1",a"b,2\r\n"q2","😀","1e-300"'),
        ("a.tsv", 'score\tdoc_id\tquery_id\tx\n2.5\té\tq1\t\n2\ta"b\tq1\t\n1e-300\t😀\tq2\t,\n'),
    ],
)
def test_usual_texts_are_read_without_an_object_for_a_row(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_checks, "lists_of", lambda *_, **__: pytest.fail("rows were read one by one"))
    path = tmp_path / name
    path.write_text(text, newline="")
    assert read_run(path).to_dict() == {"q1": {"é": 2.5, 'a"b': 2}, "q2": {"😀": 1e-300}}
    result = ll.evaluate(JUDGED, path, ["RR"])
    assert result.value("a", "q1", "RR") == 1
