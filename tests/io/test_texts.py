"""Documents and queries in every format; what is wrong in them is said with its line."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package
import polars as pl
import pytest

from leadline.errors import InputError, MissingPackageError, UsageError
from leadline.io.texts import Document, read_documents, read_queries

ROWS = [
    {"doc_id": "d1", "title": "Wings", "text": "They lift.", "url": "a.example"},
    {"doc_id": "d2", "title": "", "text": 'Tails "steer", too', "url": "b.example"},
]
WANTED = [
    ("d1", "Wings", "They lift.", {"url": "a.example"}),
    ("d2", "", 'Tails "steer", too', {"url": "b.example"}),
]
SMART = """.I 1
.T
Preliminary
Report
.A
Perlis, A. J.
.W
The text.

.X
1\t5\t1
.I 2
.T
Second
"""
TREC = """<DOC>
<DOCNO> FT-1 </DOCNO>
<HEADLINE>Wings &amp; tails</HEADLINE>
<TEXT><P>They</P> lift.</TEXT>
</DOC>
<doc><docno>FT-2</docno>
Words outside any field.
</doc>
"""
TOPICS = """<top>
<num> Number: 301
<title> International crime
<desc> Description:
Which groups?
<narr> Narrative:
Relevant are names.
</top>
<top><num>302</num><title>Polio</title></top>
"""


def plain(documents: Any) -> list[tuple[str, str, str, dict[str, Any]]]:
    return [(one.id, one.title, one.text, dict(one.more)) for one in documents]


def written(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_every_format_gives_the_same_documents(tmp_path: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    frame = pl.DataFrame(ROWS)
    frame.write_parquet(tmp_path / "docs.parquet")
    sources: list[Any] = [
        written(tmp_path, "docs.jsonl", lines),
        written(tmp_path, "docs.anything", lines),
        written(tmp_path, "docs.jsonl.gz", gzip.compress(lines.encode())),
        written(tmp_path, "docs.json", json.dumps(ROWS)),
        written(tmp_path, "docs.csv", frame.write_csv()),
        written(tmp_path, "docs.tsv", "\n".join(map("\t".join, [ROWS[0], *map(dict.values, ROWS)]))),
        str(tmp_path / "docs.parquet"),
        written(tmp_path, "docs.parquet.gz", gzip.compress((tmp_path / "docs.parquet").read_bytes())),
        ROWS,
        frame,
        [Document(name, title, text, more) for name, title, text, more in WANTED],
    ]
    for source in sources:
        assert plain(read_documents(source)) == WANTED, source


def test_a_smart_file_gives_titles_texts_and_the_other_fields(tmp_path: Path) -> None:
    assert plain(read_documents(written(tmp_path, "cacm.all", SMART))) == [
        ("1", "Preliminary\nReport", "The text.", {"author": "Perlis, A. J.", "references": "1\t5\t1"}),
        ("2", "Second", "", {}),
    ]


def test_trec_documents_lose_their_tags_and_no_text(tmp_path: Path) -> None:
    assert plain(read_documents(written(tmp_path, "ft.trec", TREC))) == [
        ("FT-1", "Wings & tails", "They lift.", {}),
        ("FT-2", "", "Words outside any field.", {}),
    ]


def test_trec_queries_need_no_closing_tags_and_keep_the_longer_fields(tmp_path: Path) -> None:
    path = written(tmp_path, "topics.txt", TOPICS)
    assert plain(read_queries(path)) == [
        ("301", "", "International crime", {"desc": "Which groups?", "narr": "Relevant are names."}),
        ("302", "", "Polio", {}),
    ]
    one = written(tmp_path, "one", TOPICS.partition("<top><num>302")[0])
    (query,) = read_queries(one, fields=("title", "desc"))
    assert query.content == "International crime\nWhich groups?"


CLEF = """<top>
<num> C041 </num>
<EN-title> Pesticides in Baby Food </EN-title>
<EN-desc> Find reports on pesticides in baby food. </EN-desc>
<EN-narr> Relevant documents name the pesticides. </EN-narr>
</top>
"""
NTCIR = """<TOPIC>
<NUM>001</NUM>
<SLANG>CH</SLANG>
<TLANG>EN</TLANG>
<TITLE>Time Warner, AOL, Merger</TITLE>
<DESC>
Find reports about the merger
</DESC>
<NARR>
<BACK>Both announced it.</BACK>
<REL>Reports on competitors are relevant.</REL>
</NARR>
</TOPIC>
"""
COVID = """<topics task="COVIDSearch">
  <topic number="1">
    <query>coronavirus origin</query>
    <question>what is the origin</question>
  </topic>
</topics>
"""


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        (CLEF, (), ("C041", "Pesticides in Baby Food")),
        (CLEF, ("desc",), ("C041", "Find reports on pesticides in baby food.")),
        (
            CLEF,
            ("EN-title", "EN-desc"),
            ("C041", "Pesticides in Baby Food\nFind reports on pesticides in baby food."),
        ),
        (CLEF.replace("EN-", "E-"), ("title",), ("C041", "Pesticides in Baby Food")),
        (NTCIR, (), ("001", "Time Warner, AOL, Merger")),
        (NTCIR, ("desc",), ("001", "Find reports about the merger")),
        (NTCIR, ("narr",), ("001", "Both announced it. Reports on competitors are relevant.")),
        (NTCIR, ("rel",), ("001", "Reports on competitors are relevant.")),
        (COVID, (), ("1", "coronavirus origin")),
    ],
)
def test_topics_of_clef_ntcir_and_xml_are_read_by_language_and_field(
    tmp_path: Path, text: str, fields: tuple[str, ...], expected: tuple[str, str]
) -> None:
    (query,) = read_queries(written(tmp_path, "topics", text), fields=fields)
    assert (query.id, query.content) == expected


def test_topics_in_several_languages_need_one(tmp_path: Path) -> None:
    both = CLEF.replace("<EN-desc>", "<DE-title> Pestizide </DE-title>\n<EN-desc>")
    path = written(tmp_path, "topics", both)
    with pytest.raises(InputError, match="en-title"):
        read_queries(path)
    with pytest.raises(InputError) as found:
        read_queries(path, fields=("en",))
    assert "'title'" not in found.value.hint, "a title is not read beside fields"
    assert read_queries(path, fields=("de-title",))[0].content == "Pestizide"


def test_the_language_of_a_document_is_no_text(tmp_path: Path) -> None:
    text = (
        "<DOC>\n<DOCNO>1</DOCNO>\n<LANG>EN</LANG>\n<HEADLINE>Merger</HEADLINE>\n<TEXT>News.</TEXT>\n</DOC>\n"
    )
    assert plain(read_documents(written(tmp_path, "docs", text))) == [
        ("1", "Merger", "News.", {"lang": "EN"})
    ]


def test_two_columns_without_a_header_are_id_and_text(tmp_path: Path) -> None:
    path = written(tmp_path, "queries.tsv", "q1\tflow past a wing\nq2\theat\n")
    assert [(query.id, query.text) for query in read_queries(path)] == [
        ("q1", "flow past a wing"),
        ("q2", "heat"),
    ]


def test_fields_of_queries_are_a_list_and_no_text() -> None:
    with pytest.raises(UsageError, match="fields must be a list"):
        read_queries({"q1": "wings"}, fields="text")


def test_one_column_of_several_languages_can_be_chosen(tmp_path: Path) -> None:
    path = written(tmp_path, "pairs.tsv", "pair_id\ten\tde\n1\tA man\tEin Mann\n")
    (found,) = read_documents(path, fields=("de",), id_column="pair_id")
    assert (found.id, found.text, found.more) == ("1", "Ein Mann", {"en": "A man"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"doc_id": "d1", "text": "a"}\n' * 2, r":2: document 'd1' appears twice \(first at .*:1\)"),
        (
            b'{"doc_id": "d1", "text": "caf\xe9"}\n',
            r":1: byte 0xe9 is not valid UTF-8\. .* name its encoding instead, as in `encoding='latin-1'`\.",
        ),
        (b'{"doc_id": 7.5, "text": "a"}\n', r":1: ids must be strings, but 7.5 is of type float"),
        (b'{"doc_id": "", "text": "a"}\n', ":1: the document has no id"),
        (b'{"doc_id": null, "text": "a"}\n', ":1: the document has no id"),
        (b'{"doc_id": "d1", "text": 7}\n', r":1: column 'text' contains a value of type int, not text"),
        (
            b'{"name": "d1", "text": "a"}\n',
            ":1: the document has no column 'doc_id', .*'_id', only name and text",
        ),
        (b'{"doc_id": "d1", "body": "a"}\n', ":1: the document has no column 'text', only doc_id and body"),
        (
            b'{"doc_id": "d1", "title": "a", "abstract": "b"}\n',
            r"no column 'text', .* `fields=\['abstract'\]`",
        ),
        (b"query_id,doc_id,score\nq1,d1,2\n", ":1: .* no column 'text', .* Qrels and runs contain no texts"),
        (b"{}\n", ":1: the document has no column 'doc_id', .* or '_id'$"),
        (b'{"doc_id": "d1"\n', "JSON"),
        (b"doc_id,text\nd1\n", r":2: the row has 1 cell, but the header has 2"),
        (b"d1\ta b\nd2\ta\tb\n", r":2: the row has 3 cells, but the first row has 2"),
        (b"<DOC>\nno number\n</DOC>\n", r":1: the <DOC> element has no <DOCNO>"),
        (b"<DOC><DOCNO>1</DOCNO>a</DOC><DOC><DOCNO>1</DOCNO>b</DOC>\n", ":1: document '1' appears twice"),
        (b"<DOC>\n<DOCNO>1</DOCNO>\n", ":1: <DOC> is not closed with </DOC>"),
        (b".I 1\n.T\na\n.I 1\n", r":4: document '1' appears twice"),
        (
            b".I 1\n.T\na\n.I d 2\n.T\nb\n",
            r":4: a record must begin with '.I ID' \(without spaces in the ID\), not with '.I d 2'",
        ),
        (b".I 1\n.T\na\n.I\n.T\nb\n", r":4: a record must begin with '.I ID' .* not with '.I'"),
        (b"\xff\xfea\x00", ": starts with a UTF-16 byte order mark"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_documents(written(tmp_path, "docs", text)))


def test_a_header_of_two_columns_is_no_document(tmp_path: Path) -> None:
    path = written(tmp_path, "docs.tsv", b"pid\tpassage\n1\twing\n")
    assert [one.id for one in read_documents(path, id_column="pid", fields=["passage"])] == ["1"]
    path = written(tmp_path, "docs.csv", b"ID,Text\n1,wing\n")
    with pytest.raises(InputError, match="only ID and Text"):
        list(read_documents(path))
    assert [one.id for one in read_documents(path, id_column="ID", fields=["Text"])] == ["1"]


def test_columns_that_were_passed_as_one_are_told_apart(tmp_path: Path) -> None:
    path = written(tmp_path, "topics", b"<top>\n<num> 1\n<title> a\n<desc> b\n</top>\n")
    with pytest.raises(InputError, match=r"only num, title and desc\. Pass each column separately"):
        read_queries(path, fields=["title,desc"])
    assert read_queries(path, fields=["title", "desc"])[0].content == "a\nb"


def test_documents_and_queries_may_share_a_line(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "docs",
        b"<DOC><DOCNO>1</DOCNO>a</DOC><doc> <DOCNO>2</DOCNO>b\n</doc> <DOC>\n<DOCNO>3</DOCNO>c</DOC>",
    )
    assert [(one.id, one.text, one.place) for one in read_documents(path)] == [
        ("1", "a", 1),
        ("2", "b", 1),
        ("3", "c", 2),
    ]
    path = written(tmp_path, "topics", b"<top><num>1<title>a</top><top><num>2<title>b</top>\n")
    assert [(one.id, one.text) for one in read_queries(path)] == [("1", "a"), ("2", "b")]


def test_a_collection_of_ir_datasets_is_read_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Row(NamedTuple):
        doc_id: str
        text: str

    class Ask(NamedTuple):
        query_id: str
        text: str

    rows = {"docs_iter": [Row("d1", "wing")], "queries_iter": [Ask("q1", "heat")]}
    module = ModuleType("ir_datasets")
    collection = SimpleNamespace(**{name: lambda found=found: iter(found) for name, found in rows.items()})
    vars(module)["load"] = lambda name: {"small": collection}[name]
    monkeypatch.setitem(sys.modules, "ir_datasets", module)
    assert plain(read_documents("ir_datasets:small")) == [("d1", "", "wing", {})]
    assert plain(read_queries("ir_datasets:small")) == [("q1", "", "heat", {})]
    with pytest.raises(InputError, match="no such collection"):
        read_queries("ir_datasets:large")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(
        MissingPackageError, match="ir_datasets, needed for collections by name, is not installed"
    ):
        read_queries("ir_datasets:small")


def test_an_old_encoding_is_read_when_it_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "docs", b'{"doc_id": "d1", "text": "caf\xe9"}\n')
    assert [one.text for one in read_documents(path, encoding="latin-1")] == ["café"]
    with pytest.raises(UsageError, match="unknown encoding 'klingon'"):
        list(read_documents(path, encoding="klingon"))


def test_the_collections_of_the_lecture_can_be_read(shared_data: Path) -> None:
    sizes = {"cranfield": 1400, "cisi": 1460, "cacm": 3204, "npl": 11429, "nfcorpus-test": 3162}
    for name, size in sizes.items():
        (path,) = (shared_data / name).glob("docs.jsonl*")
        assert sum(1 for _ in read_documents(str(path))) == size
        assert read_queries(str(shared_data / name / "queries.jsonl"))


@pytest.mark.parametrize("header", ["id,query", "query_id,text", "_id,query", "id,title"])
def test_a_column_called_query_beside_ids_is_the_text(header: str, tmp_path: Path) -> None:
    (query,) = read_queries(written(tmp_path, "queries.csv", f"{header}\nq1,wings\n"))
    assert (query.id, query.text or query.title) == ("q1", "wings")


def test_a_folder_has_one_document_in_each_text_file(tmp_path: Path) -> None:
    written(tmp_path, "b.txt", "tails\n")
    written(tmp_path, "page.HTML", "<html><title>Wings</title><script>x</script><p>They lift.</html>")
    written(tmp_path, ".hidden.txt", "no")
    written(tmp_path, "trec.txt", "<DOC>\n<DOCNO> t1 </DOCNO>\nheat\n</DOC>\n")
    (tmp_path / "more").mkdir()
    written(tmp_path / "more", "a.md", "# Flow\n")
    written(tmp_path / "more", "rows.jsonl", '{"doc_id": "d1", "text": "past"}\n')
    assert plain(read_documents(str(tmp_path))) == [
        ("b.txt", "", "tails\n", {}),
        ("more/a.md", "", "# Flow\n", {}),
        ("d1", "", "past", {}),
        ("page.HTML", "Wings", "They lift.", {}),
        ("t1", "", "heat", {}),
    ]
    with pytest.raises(InputError, match="is a folder"):
        read_queries(str(tmp_path))


def test_a_folder_of_beir_has_the_documents_of_its_corpus(tmp_path: Path) -> None:
    written(tmp_path, "corpus.jsonl", '{"_id": "d1", "title": "", "text": "wing"}\n')
    written(tmp_path, "queries.jsonl", '{"_id": "q1", "text": "heat"}\n')
    assert plain(read_documents(str(tmp_path))) == [("d1", "", "wing", {})]


def test_an_error_in_a_folder_names_the_file_and_its_line(tmp_path: Path) -> None:
    written(tmp_path, "1.jsonl", '{"doc_id": "d1", "text": "a"}\n\n{"doc_id": "d2", "text": "b"}\n')
    for second, message in (
        ('{"doc_id": "d3", "text": 7}', r"2\.jsonl:2: column 'text'"),
        (
            '{"doc_id": "d2", "text": "c"}',
            r"2\.jsonl:2: document 'd2' appears twice \(first at .*1\.jsonl:3\)",
        ),
        ('{"doc_id": "", "text": "c"}', r"2\.jsonl:2: the document has no id"),
    ):
        written(tmp_path, "2.jsonl", f'{{"doc_id": "d9", "text": "b"}}\n{second}\n')
        with pytest.raises(InputError, match=message):
            list(read_documents(str(tmp_path)))


@pytest.mark.parametrize("source", ["", "1.csv"])
def test_documents_of_a_folder_and_of_a_table_are_copied_with_their_places(
    tmp_path: Path, source: str
) -> None:
    written(tmp_path, "1.csv", "doc_id,text\nd1,a\n")
    documents = list(read_documents(str(tmp_path / source)))
    for copied in (pickle.loads(pickle.dumps(documents)), copy.deepcopy(documents)):
        assert [one.id for one in copied] == ["d1"]
        assert vars(copied[0].place) == vars(documents[0].place)


def test_whole_numbers_are_ids_and_missing_cells_are_empty() -> None:
    frame = pd.DataFrame({"doc_id": [1, 2, 3], "title": ["a", None, None], "text": ["b", "c", "d"]})
    frame.loc[1, "title"], frame.loc[2, "title"] = float("nan"), pd.NA
    sources: tuple[Any, ...] = (
        frame,
        {1: "b", 2: "c", 3: "d"},
        [{"doc_id": n, "text": "b"} for n in np.arange(1, 4)],
    )
    for source in sources:
        assert [document.id for document in read_documents(source)] == ["1", "2", "3"]
    assert [document.title for document in read_documents(frame)] == ["a", "", ""]
    queries: Any = {7: "wing"}
    assert read_queries(queries)[0].id == "7"


def test_a_folder_without_documents_and_files_that_are_no_texts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the folder contains no documents"):
        list(read_documents(str(tmp_path)))
    written(tmp_path, "paper.pdf", b"%PDF-1.7\n")
    for name in ("index.json", "by_id.bin"):
        written(tmp_path, name, "")
    with pytest.raises(InputError, match="this is an index"):
        list(read_documents(str(tmp_path)))
    (tmp_path / "by_id.bin").unlink()
    with pytest.raises(InputError, match=r"paper\.pdf: is a PDF file\. Convert the file to text"):
        list(read_documents(str(tmp_path)))


def test_a_small_archive_that_is_cut_off_is_told_from_other_text(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl.gz"
    lines = b"".join(b'{"id": "d%d", "text": "a %d"}\n' % (number, number * number) for number in range(99))
    path.write_bytes(gzip.compress(lines)[:-20])
    with pytest.raises(
        InputError, match=r"cannot be read to the end .*The file may be damaged or incomplete"
    ):
        list(read_documents(path))


def test_the_line_of_broken_json_is_that_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "docs.json"
    path.write_text('[{"id": "d1", "text": "a"},\n{"id": "d2", "text":}]\n')
    with pytest.raises(InputError, match=r"docs\.json:2: invalid JSON at column 21: expecting value"):
        list(read_documents(path))


def test_an_encoding_of_other_things_than_text_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text('{"id": "d1", "text": "a"}\n')
    with pytest.raises(UsageError, match="unknown encoding 'hex'"):
        list(read_documents(path, encoding="hex"))


def test_a_generator_names_keywords_and_the_records_of_a_list(tmp_path: Path) -> None:
    path = tmp_path / "docs.json"
    path.write_text('[{"id": "1", "text": "a"},\n\n{"id": "2", "xx-title": "b"}]')
    with pytest.raises(InputError, match=r"docs.json, record 2: .*use `fields=\['xx-title'\]`"):
        list(read_documents(path, fields=["text"]))
