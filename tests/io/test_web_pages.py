"""Pages of WT10g and GOV2, typed in the layouts of the originals."""

from __future__ import annotations

from pathlib import Path

from conftest import Leadline
from leadline.io.texts import read_documents

WT10G = """\
<DOC>
<DOCNO>WTX001-B01-1</DOCNO>
<DOCOLDNO>IA001-000000-B001-1</DOCOLDNO>
<DOCHDR>
http://www.movies.example:80/jimmy_hollywood.html 206.86.98.98 19970101003120 text/html 2337
HTTP/1.0 200 OK
Date: Wed, 01 Jan 1997 00:29:35 GMT
Server: Apache/1.0.3
Content-type: text/html
Content-length: 2155
Last-modified: Tue, 15 Oct 1996 00:43:29 GMT
</DOCHDR>
<html>
<head>
<title>Movie review: Jimmy
Hollywood</title>
</head>
<body bgcolor="#ffffff">
<!-- written by hand -->
<h1>Jimmy</h1><p>A film with Joe&nbsp;Pesci &amp; Christian S<b>lat</b>er.
</body>
</html>
</DOC>
"""
GOV2 = """\
<DOC>
<DOCNO>GX000-00-0000000</DOCNO>
<DOCHDR>
http://sgra.agency.example
HTTP/1.1 200 OK
Date: Tue, 09 Dec 2003 21:21:33 GMT
Server: Apache/1.3.27 (Unix)
Connection: close
Content-Type: text/html

</DOCHDR>
<HTML><HEAD><TITLE>Radar Altimetry</TITLE>
<STYLE TYPE="text/css"><!-- body { color: navy } --></STYLE>
<SCRIPT LANGUAGE="JavaScript">
if (a < b) document.write("<TITLE>Not this</TITLE>");
</SCRIPT></HEAD>
<BODY><TABLE><TR><TD>Missions<TD>Products</TABLE>
<![if !IE]>Data<br>sets<svg><title>icon</title></svg></BODY></HTML>
</DOC>
"""
FOUND = [
    (
        "WTX001-B01-1",
        "Movie review: Jimmy Hollywood",
        "Jimmy A film with Joe Pesci & Christian Slater.",
        {
            "url": "http://www.movies.example:80/jimmy_hollywood.html",
            "date": "Wed, 01 Jan 1997 00:29:35 GMT",
            "content_type": "text/html",
            "last_modified": "Tue, 15 Oct 1996 00:43:29 GMT",
        },
    ),
    (
        "GX000-00-0000000",
        "Radar Altimetry",
        "Missions Products Data sets icon",
        {
            "url": "http://sgra.agency.example",
            "date": "Tue, 09 Dec 2003 21:21:33 GMT",
            "content_type": "text/html",
        },
    ),
]


def test_a_page_gives_its_title_text_url_and_metadata(tmp_path: Path) -> None:
    (tmp_path / "web.trec").write_text(WT10G + GOV2)
    found = [(one.id, one.title, one.text, dict(one.more)) for one in read_documents(tmp_path / "web.trec")]
    assert found == FOUND


def test_a_damaged_page_is_read_to_its_end(tmp_path: Path) -> None:
    damaged = GOV2.replace("</STYLE>", "").replace("</TITLE>", "").replace("</TABLE>", "<![wrong")
    (tmp_path / "web.trec").write_text(damaged + WT10G)
    assert [one.id for one in read_documents(tmp_path / "web.trec")] == ["GX000-00-0000000", "WTX001-B01-1"]


def test_headers_scripts_and_styles_are_not_found(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "web.trec").write_text(WT10G + GOV2)
    (tmp_path / "queries.tsv").write_text("q1\tapache navy javascript\nq2\taltimetry missions\n")
    assert leadline("index", tmp_path / "web.trec", "-o", tmp_path / "web.index", "--store-text").status == 0
    shown = leadline("search", tmp_path / "web.index", tmp_path / "queries.tsv", "-m", "BM25", "--show").out
    none, some = shown.split("\nq2:")
    assert "nothing found" in none
    assert "Radar Altimetry" in some
    assert "url: http://sgra.agency.example" in some
