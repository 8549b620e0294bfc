"""An index holds what a slow and obvious count of the texts gives, however it was built."""

from __future__ import annotations

import errno
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Leadline
from leadline.errors import InputError, UsageError
from leadline.retrieval.collection import collection
from leadline.retrieval.index import builder, index_files, open_index, reader
from leadline.retrieval.index.builder import build_index
from leadline.retrieval.index.index_files import OFFSETS
from leadline.retrieval.index.reader import Index, check_index
from leadline.retrieval.models import MODELS
from leadline.retrieval.search import search

WORDS = ["wing", "tail", "heat", "the", "flow", "b"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=6)


def documents_of(texts: list[list[str]]) -> dict[str, str]:
    return {f"d{place}": " ".join(words) for place, words in enumerate(texts)}


def check(index: Index, texts: list[list[str]]) -> None:
    """Compare an index with dictionaries of positions."""
    kept = [[(p, w) for p, w in enumerate(words) if w != "the"] for words in texts]
    assert index.documents == len(texts)
    assert index.tokens == sum(map(len, kept))
    assert index.length.tolist() == list(map(len, kept))
    known = sorted({word for words in kept for _, word in words}, key=str.encode)
    assert [index.term(code) for code in range(index.terms)] == known
    for code, term in enumerate(known):
        assert index.code(term) == code
        postings = index.postings(code)
        counted = {d: n for d, words in enumerate(kept) if (n := Counter(w for _, w in words)[term])}
        assert dict(zip(*map(np.ndarray.tolist, postings), strict=True)) == counted
        assert postings.document.tolist() == sorted(counted)
        places = [p for words in kept for p, w in words if w == term]
        assert index.positions(code).tolist() == places
        assert (index.df(code), index.cf(code)) == (len(counted), sum(counted.values()))
    for document, words in enumerate(kept):
        assert [index.term(code) for code in index.terms_of(document)] == sorted(w for _, w in words)
        bag = dict(zip(*(column.tolist() for column in index.bag_of(document)), strict=True))
        assert {index.term(code): count for code, count in bag.items()} == Counter(w for _, w in words)
    assert index.code("nowhere") is None
    assert index.code("the") is None


@given(TEXTS)
def test_postings_positions_and_statistics_are_what_a_count_gives(texts: list[list[str]]) -> None:
    check(build_index(documents_of(texts)), texts)


@given(TEXTS, st.integers(1, 9))
def test_an_index_built_in_many_blocks_is_the_same(texts: list[list[str]], size: int) -> None:
    whole = builder.BLOCK
    builder.BLOCK = size
    try:
        check(build_index(documents_of(texts)), texts)
    finally:
        builder.BLOCK = whole


def test_many_terms_are_sorted_by_both_halves_of_their_codes() -> None:
    texts = {f"d{n}": " ".join(f"w{n * 40_000 + m}" for m in range(40_000)) + " w7" for n in range(3)}
    index = build_index(texts, analysis="Words(stem=none)")
    assert index.terms == 120_000
    code = index.code("w7")
    assert code is not None
    assert index.postings(code).document.tolist() == [0, 1, 2]
    assert index.postings(code).counts.tolist() == [2, 1, 1]


def test_ids_are_found_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    index = build_index({"d10": "a", "d9": "b", "é": "c"})
    names = [b"d9", "é".encode(), b"d1", b"zz", b""]
    assert index.document_codes(names).tolist() == [1, 2, -1, -1, -1]
    monkeypatch.setattr(reader, "IN_MEMORY", 0)
    assert index.document_codes(names).tolist() == [1, 2, -1, -1, -1]
    assert index.id_rank.tolist() == [0, 1, 2]


def test_half_a_letter_in_json_is_no_word_and_does_no_harm() -> None:
    row = {"doc_id": "d1", "title": "\ud800 wing", "text": "tail", "note": "\udc80"}
    index = build_index([row], store_text=True)
    assert [index.term(code) for code in range(index.terms)] == ["tail", "wing"]
    assert index.record(0)["note"]
    begin, end = index.spans(0)
    assert [index.text(0)[b:e] for b, e in zip(begin, end, strict=True)] == [b"wing", b"tail"]


def test_other_columns_are_kept_with_the_document(tmp_path: Path) -> None:
    rows = [{"doc_id": "d1", "title": "Wings", "text": "They lift.", "url": "a.example", "year": 1957}]
    index = build_index(rows, tmp_path / "index")
    assert index.record(0) == {"title": "Wings", "url": "a.example", "year": 1957}
    assert index.tokens == 2  # they is a stop word; the title counts


def test_stored_text_maps_positions_to_bytes(tmp_path: Path) -> None:
    text = "Über die Tragflächen the wing 東京都"
    index = build_index({"d1": text}, tmp_path / "index", store_text=True)
    begin, end = index.spans(0)
    raw = index.text(0)
    assert raw.decode() == text
    assert [raw[b:e].decode() for b, e in zip(begin, end, strict=True)] == [
        "Über",
        "die",
        "Tragflächen",
        "the",
        "wing",
        "東京",
        "京都",
    ]
    code = index.code("wing")
    assert code is not None
    assert index.positions(code).tolist() == [4]


def test_a_prefix_is_cut_between_characters_and_loses_no_posting() -> None:
    index = build_index({"d1": "wing Übergang", "d2": "ab"}, store_text=True, prefix=6)
    assert index.text(0) == b"wing "  # the sixth byte would part the letter
    assert index.spans(0)[0].tolist() == [0]
    assert index.text(1) == b"ab"
    assert index.tokens == 3
    with pytest.raises(UsageError, match=r"contains no document texts\. Rebuild it with `leadline index"):
        build_index({"d1": "a"}).text(0)
    with pytest.raises(UsageError, match=r"^prefix needs store_text=True$"):
        build_index({"d1": "a"}, prefix=5)


def test_what_is_odd_is_counted_and_nothing_is_lost() -> None:
    index = build_index({"d1": "wing", "d 2": "", " d3": "the"})
    assert [(notice.code, notice.count) for notice in index.warnings] == [
        ("empty_documents", 2),
        ("ids_with_blanks", 2),
    ]
    assert index.documents == 3
    with pytest.raises(InputError, match="no documents found"):
        build_index({})


def test_files_without_documents_in_a_folder_are_counted(tmp_path: Path, leadline: Leadline) -> None:
    for name, text in {
        "a.md": "wing",
        "rows.jsonl": '{"doc_id": "d", "text": "tail"}',
        "LICENSE": "MIT",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "figure.png").write_bytes(b"\x89PNG\0")
    build_index({"d": "fin"}, tmp_path / "other.index")  # no documents of this folder
    index = build_index(str(tmp_path))
    assert index.documents == 2
    assert [(notice.code, notice.count) for notice in index.warnings] == [("unread_files", 2)]
    assert "LICENSE" in index.warnings[0].message
    of_collection = collection(str(tmp_path), {"q": "wing"}, {"q": {"d": 1}})
    assert [(notice.code, notice.count) for notice in of_collection.warnings] == [("unread_files", 2)]
    folder, model = str(tmp_path), str(tmp_path.with_suffix(".model"))
    of_topics = leadline("topics", "fit", folder, "-T", "2", "-o", model, "-f", "json").data["warnings"]
    assert [(notice["code"], notice["count"]) for notice in of_topics] == [("unread_files", 2)]


@pytest.mark.parametrize(
    ("rule", "kept"), [(">=60", ["a", "b"]), (">60", ["b"]), ("!=60", ["b", "c"]), ("<=59.5", ["c"])]
)
def test_documents_are_kept_by_a_column_of_a_table(tmp_path: Path, rule: str, kept: list[str]) -> None:
    table = tmp_path / "spam.tsv"
    table.write_text("doc_id\tpercentile\na\t60\nb\t99\nc\t3\n")
    index = build_index(dict.fromkeys("abcd", "wing"), keep=f"{table}:percentile{rule}")
    assert [name.decode() for name in index.ids] == kept
    assert index.warnings[-1].message.startswith(f"the `keep` rule left out {4 - len(kept)} document")


def test_a_bad_rule_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "spam.tsv"
    table.write_text("doc_id\tpercentile\na\tmuch\n")
    unnamed = tmp_path / "unnamed.tsv"
    unnamed.write_text("doc\tpercentile\na\t70\n")
    for rule, message in {
        "spam.tsv": "FILE:COLUMN>=NUMBER",
        f"{unnamed}:percentile>=1": "among those read \\(id, text",
        f"{table}:percentile>=many": "'many' is not a number",
        f"{table}:percent>=1": "no column 'percent' among those read \\(doc_id, percentile",
        f"{table}:percentile>=1": "'much' in column 'percentile' is not a number",
    }.items():
        with pytest.raises((UsageError, InputError), match=message):
            build_index({"a": "wing"}, keep=rule)


def test_a_folder_of_documents_is_quoted_in_the_command_that_indexes_it(tmp_path: Path) -> None:
    folder = tmp_path / "my docs"
    folder.mkdir()
    with pytest.raises(InputError, match=f"`leadline index '{folder}' -o '{folder}.index'`"):
        open_index(folder)


def _cut(folder: Path) -> None:
    (folder / "position.bin").write_bytes(b"")


def _lose(folder: Path) -> None:
    (folder / "counts.bin").unlink()


def _age(folder: Path) -> None:
    _edit(folder, version=3)


def _edit(folder: Path, **changes: Any) -> None:
    header = json.loads((folder / "index.json").read_text())
    (folder / "index.json").write_text(json.dumps(header | changes))


def _sign(folder: Path, **changes: Any) -> None:
    """Change the header as somebody would who knows the format."""
    header = json.loads((folder / "index.json").read_text()) | changes
    _edit(folder, **changes, build=index_files.build_id(header))


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (_cut, "the index is broken, because position.bin has 0 bytes instead of 8"),
        (_lose, "the index is broken, because counts.bin is missing"),
        (_age, "the index has format version 3, but leadline reads only version 4. Rebuild it with"),
        (lambda folder: (folder / "index.json").write_text("{"), "index.json is not valid JSON"),
        (lambda folder: (folder / "index.json").unlink(), "index.json is missing"),
        (lambda folder: _edit(folder, terms=3), "index.json has changed since it was written"),
        (lambda folder: _edit(folder, arrays={}), "index.json has changed since it was written"),
        (lambda folder: _sign(folder, arrays={}), "checksums.bin|index.json"),
        (lambda folder: _sign(folder, arrays={"length": {}}), "index.json is incomplete"),
        (lambda folder: (folder / "checksums.bin").unlink(), "checksums.bin is missing"),
    ],
)
def test_a_broken_or_older_index_is_refused(
    tmp_path: Path, harm: Callable[[Path], object], message: str
) -> None:
    build_index({"d1": "wing tail"}, tmp_path / "index")
    harm(tmp_path / "index")
    with pytest.raises(InputError, match=message):
        open_index(tmp_path / "index")


@pytest.mark.parametrize(
    ("changes", "file"), [({"terms": 3}, "term_offset.bin"), ({"documents": 2}, "id_offset.bin")]
)
def test_lists_of_another_number_of_terms_or_documents_are_refused(
    tmp_path: Path, changes: dict[str, int], file: str
) -> None:
    build_index({"d1": "wing tail"}, tmp_path / "index")
    _sign(tmp_path / "index", **changes)
    with pytest.raises(InputError, match=f"does not match {file}"):
        open_index(tmp_path / "index")


def test_an_index_without_positions_is_smaller_and_refuses_windows(tmp_path: Path) -> None:
    texts = {"d1": "wing tail wing", "d2": "heat wing"}
    whole = build_index(texts, tmp_path / "whole")
    index = build_index(texts, tmp_path / "less", positions=False)
    assert index.size < whole.size
    assert not index.has_positions
    assert check_index(index.path).problems == []
    queries = {"q": "wing tail"}
    for model in MODELS.classes:
        if model != "SDM":
            found, wanted = (search(one, queries, model)[str(MODELS.parse(model))] for one in (index, whole))
            assert found.to_dict() == wanted.to_dict()
    with pytest.raises(UsageError, match=r"less has no positions, which SDM needs"):
        search(index, queries, "SDM")
    assert build_index(texts, index.path, overwrite=True).has_positions


def test_a_changed_byte_is_found_where_it_is_read(tmp_path: Path) -> None:
    build_index({"d1": "wing tail"}, tmp_path / "index")
    (tmp_path / "index" / "position.bin").write_bytes(bytes([1, 0, 0, 0] * 2))
    index = open_index(tmp_path / "index")
    assert index.postings(0).document.tolist() == [0]
    with pytest.raises(InputError, match=r"position.bin has changed since it was written"):
        index.positions(0)
    with pytest.raises(InputError, match=r"position.bin has changed since it was written"):
        open_index(tmp_path / "index", verify=True)


def test_an_index_is_complete_or_absent_and_replaced_only_on_request(tmp_path: Path) -> None:
    target = tmp_path / "index"
    bad = [{"doc_id": "d1", "text": "wing"}, {"doc_id": "d1", "text": "again"}]
    with pytest.raises(InputError, match="appears twice"):
        build_index(bad, target)
    assert list(tmp_path.iterdir()) == []
    build_index({"d1": "wing"}, target)
    with pytest.raises(UsageError, match=r"exists\. Choose a new name, or use overwrite=True"):
        build_index({"d1": "tail"}, target)
    assert build_index({"d1": "tail"}, target, overwrite=True).code("tail") == 0
    assert list(tmp_path.iterdir()) == [target]
    (tmp_path / "mine").mkdir()
    with pytest.raises(InputError, match="not a folder that contains only an index"):
        build_index({"d1": "tail"}, tmp_path / "mine", overwrite=True)


def test_an_index_knows_when_its_source_has_changed(tmp_path: Path) -> None:
    source = tmp_path / "docs.jsonl"
    source.write_text('{"doc_id": "d1", "text": "wing"}\n')
    index = build_index(str(source), tmp_path / "index")
    assert not index.is_outdated()
    source.write_text('{"doc_id": "d1", "text": "tail"}\n')
    assert index.is_outdated()


def test_an_index_that_was_replaced_while_it_is_open_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "index"
    first = {"d1": "wing tail", "d2": "heat"}
    for opened_before in (False, True):
        build_index(first, path, store_text=True, overwrite=True)
        index = open_index(path)
        if opened_before:
            assert index.text(0) == b"wing tail"
        build_index({"d1": "heat heat", "d2": "wing"}, path, store_text=True, overwrite=True)
        with pytest.raises(InputError, match="was replaced, damaged or removed after it was opened"):
            index.check_unchanged()
        if opened_before:  # what is mapped stays that of the first build
            assert index.text(0) == b"wing tail"
        with pytest.raises(InputError, match="was replaced, damaged or removed after it was opened"):
            index.postings(0)


def test_an_index_that_was_built_again_from_the_same_documents_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / "index"
    index = build_index({"d1": "wing tail"}, path)
    build_index({"d1": "wing tail"}, path, overwrite=True)
    assert index.positions(0).tolist() == [1]
    index.check_unchanged()


@pytest.mark.parametrize("harm", [_cut, _lose, _age, lambda folder: (folder / "index.json").unlink()])
def test_a_damaged_or_older_index_can_be_replaced(tmp_path: Path, harm: Callable[[Path], object]) -> None:
    path = tmp_path / "index"
    build_index({"d1": "wing tail"}, path)
    harm(path)
    assert build_index({"d1": "tail"}, path, overwrite=True).terms == 1
    (path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="not a folder that contains only an index"):
        build_index({"d1": "tail"}, path, overwrite=True)
    assert (path / "notes.txt").exists()


@pytest.mark.parametrize("name", OFFSETS)
def test_lists_that_do_not_begin_where_others_end_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "index"
    build_index({"d1": "wing tail wing", "d2": "wing heat", "d3": ""}, path, store_text=True)
    assert check_index(str(path)).problems == []
    wrong = np.fromfile(path / f"{name}.bin", dtype="<i8")
    wrong[1:3] = wrong[2], wrong[2] - 1
    index_files.save(str(path), name, wrong)
    header = json.loads((path / "index.json").read_text())
    for key in ("format", "version", "arrays", "checksums", "build"):
        del header[key]
    index_files.write_header(str(path), header)  # a program that writes wrong arrays, with their checksums
    codes = [(problem.code, problem.error) for problem in check_index(str(path)).problems]
    assert codes == [("damaged", True)]


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="space is reserved by POSIX only")
def test_on_a_full_disk_nothing_is_left_of_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array = index_files.create(str(tmp_path), "document", 100_000)
    assert os.stat(tmp_path / "document.bin").st_blocks * 512 >= array.nbytes
    (tmp_path / "document.bin").unlink()

    def failing(number: int) -> None:
        def reserve(*_: int) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "posix_fallocate", reserve)

    failing(errno.ENOSPC)
    with pytest.raises(UsageError, match=r"docs\.index \(No space left on device\)"):
        build_index({"d": "wing"}, tmp_path / "docs.index")
    assert not list(tmp_path.iterdir())
    failing(errno.EOPNOTSUPP)  # where space cannot be reserved, it is used as it comes
    build_index({"d": "wing"}, tmp_path / "docs.index")
    assert not check_index(str(tmp_path / "docs.index")).problems
