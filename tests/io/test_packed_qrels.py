"""Judgments that are read chunk by chunk into packed columns are those of the whole text."""

from __future__ import annotations

import _thread
import errno
import mmap
import random
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Leadline
from leadline import kernels
from leadline.data.ids import Ids, PackedIds
from leadline.data.qrels import QrelsColumns
from leadline.errors import InputError
from leadline.io import ahead, trec_qrels, trec_runs
from leadline.io.objects import Qrels, read_qrels, read_run
from leadline.io.opening import Buffers, read_whole
from strategies import FORMS, ORIGINAL, Colliding, Interpreted, columns_of, in_form, judged_by, qrels_texts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("qrels")


def in_chunks(path: Path, size: int) -> QrelsColumns:
    """Read a file in chunks of some bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trec_qrels, "Buffers", partial(Buffers, size))
        return trec_qrels.read(str(path))


def of_whole(path: Path) -> QrelsColumns:
    return trec_qrels.read(str(path), whole=read_whole(str(path)))


def told(qrels: QrelsColumns) -> tuple[object, ...]:
    """Return all that judgments hold."""
    return (
        *(list(qrels.queries), list(qrels.documents), qrels.grades.tolist(), qrels.grades.dtype),
        *(qrels.begin.tolist(), qrels.end.tolist(), qrels.ideal.gain.tolist(), qrels.ideal.rank.tolist()),
        *(qrels.query.tolist(), qrels.relevant(1.0).tolist(), qrels.to_dict()),
        *(qrels.ideal.query.tolist(), qrels.documents.texts()),
    )


@given(text=qrels_texts(), size=st.sampled_from([8, 40, 200, 1 << 16]))
def test_chunks_of_any_size_give_what_the_whole_text_gives(folder: Path, text: bytes, size: int) -> None:
    path = folder / "qrels.txt"
    path.write_bytes(text)
    for form in FORMS:
        with in_form(form):
            assert told(in_chunks(path, size)) == told(of_whole(path))


def outcome(path: Path, *, early: bool) -> object:
    """Read judgments, scanned before by another thread or not: what they hold, or the text of the refusal."""
    if early:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ahead, "LEAST", 0)
            ahead.begin(str(path))
    try:
        return told(trec_qrels.read(str(path)))
    except InputError as error:
        return str(error)


@given(
    text=st.one_of(
        qrels_texts(),
        st.binary(max_size=80),
        st.builds(
            lambda text, place, put: text[:place] + put + text[place:],
            qrels_texts(),
            st.integers(0, 200),
            st.one_of(st.binary(max_size=3), st.sampled_from([b"#", b"\xef\xbb\xbf", b"q1 0 d1 1\n"])),
        ),
    )
)
def test_judgments_that_are_scanned_while_a_command_loads_are_the_same(folder: Path, text: bytes) -> None:
    path = folder / "ahead.txt"
    path.write_bytes(text)
    for form in FORMS:
        with in_form(form):
            assert outcome(path, early=True) == outcome(path, early=False)
    assert ahead.taken(str(path)) is None


@pytest.mark.skipif(ORIGINAL is None, reason="the kernels are not compiled here")
def test_a_scan_of_judgments_is_used_once_and_while_the_file_is_the_same(folder: Path) -> None:
    path = folder / "many.txt"
    lines = [f"q{query} 0 d{document} 1\n" for query in range(9) for document in range(10_000)]
    text = "".join(lines)
    path.write_text(text)
    ahead.begin(str(path))
    scan = ahead.taken(str(path))
    assert scan is not None
    assert scan.tally[:2] == [90_000, 9]
    assert ahead.taken(str(path)) is None
    ahead.begin(str(path))
    path.write_text(text + "q9 0 d1 1\n")
    assert len(read_qrels(path).to_dict()) == 10
    path.write_text(text[:-9] + "x" * ahead.LEAST + " 1\n")
    ahead.begin(str(path))
    with pytest.raises(InputError, match="longer than 1 MiB"):
        read_qrels(path)


@pytest.mark.skipif(ORIGINAL is None, reason="the kernels are not compiled here")
def test_a_command_reads_the_judgments_that_were_scanned_while_it_loaded(
    leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "q.txt").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    (tmp_path / "a.run").write_text("q1 Q0 d2 1 2 a\nq1 Q0 d1 2 1 a\n")
    arguments = ["evaluate", *(str(tmp_path / name) for name in ("q.txt", "a.run")), "-m", "RR"]
    expected = leadline(*arguments)
    used: list[ahead.Scan | None] = []
    take = ahead.taken
    monkeypatch.setattr(ahead, "LEAST", 0)

    def taken(path: str) -> ahead.Scan | None:
        used.append(take(path))
        return used[-1]

    monkeypatch.setattr(ahead, "taken", taken)
    assert leadline(*arguments) == expected
    assert [scan.tally[0] for scan in used if scan] == [2]


@pytest.mark.parametrize("size", [10, ahead.MOST + 1])
def test_few_judgments_and_very_many_are_not_scanned_ahead(folder: Path, size: int) -> None:
    path = folder / "sized.txt"
    with open(path, "wb") as file:
        file.truncate(size)
    ahead.begin(str(path))
    ahead.begin(str(folder))
    ahead.begin("-")
    assert [ahead.taken(str(each)) for each in (path, folder, "-")] == [None] * 3


@pytest.mark.skipif(ORIGINAL is None, reason="the kernels are not compiled here")
def test_a_file_named_like_standard_input_is_not_scanned_for_it(
    leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ahead, "LEAST", 0)
    Path("a.run").write_text("q1 Q0 d2 1 2 a\nq1 Q0 d1 2 1 a\n")
    Path("-").write_text("q1 0 d1 1\nq1 0 d2 1\n")
    arguments = ["evaluate", "-", "a.run", "-m", "RR"]
    found = leadline(*arguments, stdin=b"q1 0 d1 1\nq1 0 d2 0\n")
    Path("-").unlink()
    assert found == leadline(*arguments, stdin=b"q1 0 d1 1\nq1 0 d2 0\n")


@pytest.mark.skipif(ORIGINAL is None, reason="the kernels are not compiled here")
def test_judgments_are_read_as_ever_where_memory_is_short(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "short.txt"
    path.write_text("q1 0 d1 1\n")
    monkeypatch.setattr(ahead, "LEAST", 0)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    with monkeypatch.context() as patch:
        patch.setattr(mmap, "mmap", refuse)
        ahead.begin(str(path))
        assert ahead._begun[str(path)][1].result() is None
        with pytest.raises(MemoryError, match="3,000,000 bytes"):
            kernels.reserved(3_000_000)
    assert read_qrels(path).to_dict() == {"q1": {"d1": 1}}
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (1 << 30, resource.RLIM_INFINITY))
    ahead.begin(str(path))
    assert str(path) not in ahead._begun


@pytest.mark.skipif(not hasattr(mmap, "MADV_HUGEPAGE"), reason="Linux has huge pages")
def test_a_system_without_huge_pages_has_other_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Memory(mmap.mmap):
        def madvise(self, *_: int) -> None:
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(mmap, "mmap", Memory)
    assert len(kernels.reserved(1)) == kernels.HUGE


def test_a_call_is_made_at_once_where_no_thread_can_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    assert ahead.BackgroundTask(pow, 2, 10).result() == 1024


@pytest.mark.parametrize("form", ["compiled", "source", "colliding"])
def test_a_run_finds_the_same_documents_in_packed_judgments(
    form: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form != "source" and ORIGINAL is None:
        pytest.skip("the kernels are not compiled here")
    real = Interpreted() if form == "source" else ORIGINAL
    rng = random.Random(5)
    lines, run = [], []
    for query in range(30):
        names = rng.sample([f"doc-{rng.choice('ab')}{place:03d}" for place in range(400)], 60)
        lines += [f"q{query} 0 {name} {rng.randint(-1, 3)}\n" for name in names[:40]]
        run += [
            f"q{query} Q0 {name} 1 {rng.randint(0, 9)} t\n" for name in [*names[20:], "doc-", "d", "doc-a"]
        ]
    (folder / "q.txt").write_text("".join(lines))
    (folder / "r.run").write_text("".join(run))
    if form == "colliding":  # the kernel that joins hashes inside
        monkeypatch.setattr(trec_runs, "can_join", lambda _reading: False)
    with in_form(Colliding(real) if form == "colliding" else real):
        packed, whole = in_chunks(folder / "q.txt", 300), of_whole(folder / "q.txt")
        assert isinstance(packed.documents, PackedIds)
        assert packed.documents.prefix == b"doc-"
        found = columns_of(judged_by(folder / "r.run", packed)[0])
        assert found == columns_of(judged_by(folder / "r.run", whole)[0])
        assert len(found["rank"]) == 30 * 20


@pytest.mark.skipif(ORIGINAL is None, reason="the kernels are not compiled here")
@pytest.mark.parametrize(
    ("last", "prefix"),
    [("clueweb12-0", b"clueweb12-0"), ("clueweb09-1", b"clueweb"), ("x", b""), ("clue", b"clue")],
)
def test_a_prefix_is_what_all_documents_begin_with(last: str, prefix: bytes, folder: Path) -> None:
    path = folder / "prefix.txt"
    names = [f"clueweb12-0{place}" for place in range(10, 99)]
    path.write_text("".join(f"q{place // 9} 0 {name} 1\n" for place, name in enumerate([*names, last])))
    qrels = in_chunks(path, 100)
    assert isinstance(qrels.documents, PackedIds)
    assert qrels.documents.prefix == prefix
    assert list(qrels.documents) == [name.encode() for name in [*names, last]]
    assert (qrels.documents[-1], qrels.documents[0]) == (last.encode(), b"clueweb12-010")
    assert told(qrels) == told(of_whole(path))


@pytest.mark.skipif(ORIGINAL is None, reason="the kernels are not compiled here")
@pytest.mark.parametrize(
    ("grade", "kind"),
    [("3", np.int8), ("-1", np.int8), ("127", np.int8), ("128", np.float64), ("0.5", np.float64)],
)
def test_small_whole_grades_take_one_byte(grade: str, kind: type, folder: Path) -> None:
    path = folder / "grades.txt"
    path.write_text("".join(f"q{place} 0 d 1\n" for place in range(50)) + f"z 0 d {grade}\n")
    qrels = in_chunks(path, 100)
    assert qrels.levels.dtype == kind
    assert qrels.grades.dtype == np.float64
    assert qrels["z"] == {"d": float(grade)}
    assert told(qrels) == told(of_whole(path))


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    "text",
    [
        "q1 0 a 1\nq2 0 a 1\nq1 0 a 0\n",
        "q1 0 a 1\nq2 0 b 1\nq2 0 b 1\n",
        "q1 0 a 1\nq2 0 b x\n",
        "# c\n",
        "1 0 1 1\n1 2 2 1\n",
    ],
)
def test_what_is_refused_is_refused_in_chunks_too(text: str, folder: Path) -> None:
    path = folder / "bad.txt"
    path.write_text(text)
    with pytest.raises(InputError) as whole:
        of_whole(path)
    for size in (8, 1 << 16):
        with pytest.raises(InputError) as rejected:
            in_chunks(path, size)
        assert str(rejected.value) == str(whole.value)


@pytest.mark.usefixtures("form")
def test_packed_judgments_are_copied_and_written_like_others(folder: Path) -> None:
    path = folder / "copied.txt"
    path.write_text("".join(f"q{place // 7} 0 doc-{place} {place % 3 - 1}\n" for place in range(100)))
    packed, whole = in_chunks(path, 100), of_whole(path)
    assert packed == whole
    assert told(packed.keep(packed.grades > 0)) == told(whole.keep(whole.grades > 0))
    assert told(packed.of_queries(["q3"])) == told(whole.of_queries(["q3"]))
    assert told(read_qrels(path, negative="unjudged")) == told(whole.keep(whole.grades >= 0))
    assert packed.to_columns() == whole.to_columns()
    one, other = packed.documents.take(np.array([5, 2])), whole.documents.take(np.array([5, 2]))
    assert list(one) == list(other) == [b"doc-5", b"doc-2"]
    assert list(Ids.concatenate([packed.documents, one])) == [*whole.documents, b"doc-5", b"doc-2"]


def test_a_tie_of_more_rows_than_a_byte_counts_is_kept(folder: Path) -> None:
    path = folder / "tied.run"
    path.write_text("".join(f"q1 Q0 d{place:04d} 1 {place // 600} t\n" for place in range(1000)))
    qrels = Qrels({"q1": {"d0000": 1, "d0599": 1, "d0600": 1}})
    judged = judged_by(path, qrels)[0]
    assert judged.rank.tolist() == [400, 401, 1000]
    assert judged.tie_first.tolist() == [1, 401, 401]
    assert judged.tie_last.tolist() == [400, 1000, 1000]
    assert judged.tied.tolist() == [True, True, True]
    assert len(read_run(path).scores) == 1000
    assert kernels.compiled is ORIGINAL
