"""Runs in parts: which files are parts, how faults are named, record batches, URLs, grouping by query."""

from __future__ import annotations

import gc
import gzip
import random
import shutil
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import leadline as ll
from leadline.errors import InputError, LeadlineError, UsageError
from leadline.scale import (
    Evaluation,
    PartsFailedError,
    evaluate_batches,
    evaluate_part,
    evaluate_parts,
    merge_partials,
)
from leadline.scale.run_parts import RunParts
from whole_runs import Split, assert_same, split_run

MEASURES = ["AP", "nDCG@5", "RR"]


@pytest.fixture
def split(tmp_path: Path) -> Split:
    """Write a run in three parts."""
    return split_run(tmp_path / "split", 11, parts=3)


def whole(split: Split) -> ll.Results:
    """Evaluate the undivided run."""
    return ll.evaluate(split.qrels, split.run, MEASURES)


def evaluated(split: Split, *parts: Any, **options: Any) -> ll.Results:
    """Evaluate parts as the same run."""
    return evaluate_parts(split.qrels, RunParts(*parts, name="bm25"), MEASURES, **options)


def test_folders_patterns_and_files_are_parts_in_any_order(split: Split, tmp_path: Path) -> None:
    folder = tmp_path / "bm25" / "shard=1"
    folder.mkdir(parents=True)
    for name in ("_SUCCESS", ".part-00.run.crc"):  # as Spark writes
        (folder / name).touch()
    for part in split.parts[:2]:
        shutil.copy(part, folder)
    (folder.parent / "last.run.gz").write_bytes(gzip.compress(Path(split.parts[2]).read_bytes()))
    assert len(RunParts(folder.parent)) == 3
    assert RunParts(folder.parent).name == "bm25"
    assert_same(evaluated(split, folder.parent), whole(split))
    assert_same(evaluated(split, [f"{folder}/*.run", f"{folder.parent}/last.run.gz"]), whole(split))
    assert_same(evaluated(split, [split.parts[2], *split.parts[:2]]), whole(split))


def test_the_inputs_are_the_parts(split: Split) -> None:
    results = evaluated(split, split.parts)
    assert [info["path"] for info in results.inputs] == split.parts
    assert sum(info["rows"] for info in results.inputs) == results.runs[0].counts["documents_read"]


@pytest.mark.parametrize("options", [{}, {"group_parts": True}])
def test_saved_results_of_parts_have_the_judgments_too(
    options: dict[str, Any], split: Split, tmp_path: Path
) -> None:
    first, again = tmp_path / "first.json", tmp_path / "again.json"
    evaluated(split, split.parts, **options).write(first)
    ll.Results.from_json(first.read_text()).write(again)
    for path in (first, again):
        checks = ll.verify(str(path)).checks
        assert [check["kind"] for check in checks] == [*["input"] * 4, "values"]
        assert [check["ok"] for check in checks] == [True] * 5


@pytest.mark.parametrize("options", [{}, {"group_parts": True}, {"engine": "processes:1"}])
def test_a_part_may_have_none_of_the_selected_queries(options: dict[str, Any], tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.run").write_text(f"{name} Q0 d 1 1 t\n")
    qrels = {query: {"d": 1} for query in "abc"}
    results = evaluate_parts(qrels, RunParts(tmp_path, name="bm25"), "AP", queries_in=["a"], **options)
    assert (results.mean("bm25", "AP"), len(results.inputs)) == (1.0, 2)
    with pytest.raises(InputError, match="bm25: contains no documents for the selected query"):
        evaluate_parts(qrels, RunParts(tmp_path, name="bm25"), "AP", queries_in=["c"], **options)


@pytest.mark.parametrize("judged", [True, False])
def test_a_query_in_two_parts_is_refused_by_name(judged: bool, tmp_path: Path) -> None:
    query = "q1" if judged else "other"
    paths = [tmp_path / "a.run", tmp_path / "b.run"]
    for number, path in enumerate(paths):
        path.write_text(f"q{number + 5} Q0 d1 1 1 t\n{query} Q0 d{number} 1 1 t\n")
    with pytest.raises(InputError) as refused:
        evaluate_parts({"q1": {"d1": 1}}, map(str, paths))
    assert str(refused.value).startswith(f"{paths[1]}: query '{query}' is also in {paths[0]}. To group")
    assert "group_parts=True" in str(refused.value)
    evaluation = Evaluation({"q1": {"d1": 1}}, "AP")
    with pytest.raises(InputError, match=f"query '{query}' is also in another part"):
        merge_partials(evaluation, [evaluate_part(evaluation, {query: {"d1": 1.0}})] * 2)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n# nothing\n",
        b"query_id,doc_id,score\n",
        gzip.compress(b"", mtime=0),
        gzip.compress(b"q Q0 d 1 1 t\n", mtime=0)[:-9],
    ],
)
def test_an_empty_or_broken_part_is_named(content: bytes, split: Split, tmp_path: Path) -> None:
    path = tmp_path / "broken.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"broken\.csv") as refused:
        evaluated(split, [*split.parts, path])
    assert "\n" not in str(refused.value)


def test_an_empty_parquet_part_and_a_missing_one_are_named(split: Split, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"query_id": pa.array([], pa.string()), "doc_id": pa.array([], pa.string())}
    parquet.write_table(pa.table(columns | {"score": pa.array([], pa.float64())}), tmp_path / "part.parquet")
    with pytest.raises(InputError, match=r"part\.parquet"):
        evaluated(split, [*split.parts, tmp_path / "part.parquet"])
    with pytest.raises(InputError, match=r"absent\.run"):
        evaluated(split, [*split.parts, tmp_path / "absent.run"])
    with pytest.raises(InputError, match="is a pattern that matches no file"):
        evaluated(split, [f"{tmp_path}/none*.run"])
    with pytest.raises(UsageError, match="at least one"):
        RunParts([])


def test_the_other_parts_are_evaluated_where_faults_are_kept(split: Split, tmp_path: Path) -> None:
    broken = tmp_path / "broken.run"
    broken.write_text("q1 Q0 d1 1 high bm25\n")
    with pytest.raises(PartsFailedError) as failed:
        evaluated(split, [str(broken), *split.parts], on_fault="continue")
    assert list(failed.value.faults) == [str(broken)]
    assert str(failed.value).startswith(f"{broken}:1: ")
    rest = failed.value.results
    assert rest is not None
    assert rest.warnings.pop().code == "failed_parts"
    assert_same(rest, whole(split))
    with pytest.raises(PartsFailedError) as failed:
        evaluated(split, [str(broken)], on_fault="continue")
    assert failed.value.results is None


def batches(path: str, sizes: list[int]) -> Iterator[Any]:
    """Yield the rows of a run as record batches of random sizes, without regard to queries."""
    pa = pytest.importorskip("pyarrow")
    rows = [line.split() for line in Path(path).read_text().splitlines()]
    rng = random.Random(1)
    start = 0
    while start < len(rows):
        stop = start + rng.choice(sizes)
        columns = list(zip(*rows[start:stop], strict=False))
        columns = columns or [()] * 6
        scores = pa.array(map(float, columns[4]), pa.float64())
        texts = [pa.array(columns[place], pa.string()) for place in (0, 2)]
        ranks = pa.array(map(int, columns[3]), pa.int64())
        names = ["qid", "docno", "score", "rank", "tag"]
        yield pa.record_batch([*texts, scores, ranks, pa.array(columns[5], pa.string())], names=names)
        start = stop


@pytest.mark.parametrize("sizes", [[1], [0, 1, 2, 30], [10_000]])
def test_record_batches_are_parts_wherever_they_end(
    sizes: list[int], split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = split_run(Path(split.run).parent / "plain", 8, parts=1)
    text = Path(plain.run).read_text().replace(" more", "")  # columns have no room for more
    Path(plain.run).write_text(text)
    monkeypatch.setattr("leadline.scale.run_parts.BATCH_ROWS", 7)
    parts = RunParts(batches(plain.run, sizes), name="bm25")
    assert_same(evaluate_parts(plain.qrels, parts, MEASURES), whole(plain))


def test_an_engine_of_batches_maps_them_to_partial_results(split: Split) -> None:
    import pickle

    evaluation = Evaluation(split.qrels, MEASURES)
    partials = [
        pickle.loads(batch.column("partial")[0].as_py())
        for part in split.parts
        for batch in evaluate_batches(evaluation, batches(part, [3]))
    ]
    merged = merge_partials(evaluation, partials, name="bm25")
    assert merged.values.tobytes() == whole(split).values.tobytes()


@pytest.mark.parametrize("count", [1, 2])
def test_a_table_is_freed_once_it_is_evaluated(count: int) -> None:
    pa = pytest.importorskip("pyarrow")
    columns = {"query_id": ["q1", "q2"] * count, "doc_id": ["d1", "d2", "d3", "d4"][: 2 * count]}
    table = pa.table(columns | {"score": [2.0, 1.0] * count})
    alive = weakref.ref(table)
    gc.disable()  # no cycle may keep it until a collection: memory would grow with the number of parts
    try:
        partial = evaluate_part(Evaluation({"q1": {"d1": 1}}, "AP"), table)
        del table
        assert alive() is None
    finally:
        gc.enable()
    assert partial.values.values.tolist() == [[1 / count]]  # d3 stands before d1, of the same score


def test_a_part_computes_its_own_queries_only(split: Split) -> None:
    evaluation = pickle_copy(Evaluation(split.qrels, MEASURES))
    partial = evaluate_part(evaluation, split.parts[0])
    present = ll.evaluate(split.qrels, split.parts[0], MEASURES)
    assert list(map(bytes.decode, partial.queries)) == [
        query for query, has in zip(present.queries, present.present[0], strict=True) if has
    ]
    assert partial.values.values.tobytes() == present.values[0][present.present[0]].tobytes()


def pickle_copy(evaluation: Evaluation) -> Evaluation:
    """Send an evaluation to another process and back."""
    import pickle

    evaluation.qrels.lookup  # noqa: B018  # a cache, which is not sent
    copy: Evaluation = pickle.loads(pickle.dumps(evaluation))
    assert "lookup" not in vars(copy.qrels)
    return copy


def test_rows_of_a_query_are_grouped_on_request(split: Split, tmp_path: Path) -> None:
    lines = Path(split.run).read_text().splitlines(keepends=True)
    random.Random(2).shuffle(lines)
    paths = [tmp_path / "a.run", tmp_path / "b.run.gz"]
    paths[0].write_text("\ufeff# a comment\n" + "".join(lines[::2]))
    paths[1].write_bytes(gzip.compress("".join(lines[1::2]).encode().removesuffix(b"\n")))
    results = evaluated(split, map(str, paths), group_parts=True)
    assert_same(results, whole(split))
    assert [info["path"] for info in results.inputs] == list(map(str, paths))
    paths[0].write_text(paths[0].read_text() + lines[0])
    with pytest.raises(
        InputError, match=rf"a\.run:{len(lines[::2]) + 2}: document .* twice for query '[^']*'\."
    ):
        evaluated(split, map(str, paths), group_parts=True)
    with pytest.raises(InputError, match=r"convert -C read\.kind=run`, or leave out group_parts"):
        evaluated(split, [_csv(tmp_path)], group_parts=True)


def _csv(folder: Path) -> str:
    path = folder / "run.csv"
    path.write_text("query_id,doc_id,score\nq1,d1,1\n")
    return str(path)


def test_remote_parts_are_copied_and_named_by_url(split: Split, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for number, part in enumerate(split.parts):
        memory.pipe(f"/leadline/run/part-{number}.run", Path(part).read_bytes())
    memory.pipe("/leadline/run/_SUCCESS", b"")
    try:
        results = evaluated(split, "memory://leadline/run")
        assert_same(results, whole(split))
        assert next(info["path"] for info in results.inputs) == "memory:///leadline/run/part-0.run"
        assert all(len(info["sha256"]) == 64 for info in results.inputs)
        assert_same(evaluated(split, "memory://leadline/run/part-?.run"), whole(split))
        memory.pipe("/leadline/run/part-9.run", b"q1 Q0 d1 1 high t\n")
        with pytest.raises(InputError, match=r"^memory:///leadline/run/part-9.run:1: score 'high'"):
            evaluated(split, "memory://leadline/run")
        with pytest.raises(InputError, match=r"memory://leadline/none\.run: no such file"):
            evaluated(split, "memory://leadline/none.run")
        with pytest.raises(LeadlineError, match="absent://"):
            evaluated(split, "absent://leadline/none.run")
    finally:
        memory.rm("/leadline", recursive=True)
    assert not list(tmp_path.glob("*part-0.run"))


@pytest.mark.parametrize("size", [3, 10**6])
def test_a_truncated_remote_part_is_refused(size: int, split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/leadline-short.run", Path(split.parts[0]).read_bytes())
    monkeypatch.setattr(type(memory), "info", lambda *_args, **_options: {"size": size, "type": "file"})
    with pytest.raises(InputError, match=rf"bytes, but the file has {size:,}"):
        evaluated(split, ["memory://leadline-short.run"])
    memory.pipe("/leadline-short.run", b"\n")
    with pytest.raises(InputError, match="the download has 1 byte, but"):
        evaluated(split, ["memory://leadline-short.run"])
    memory.store.pop("/leadline-short.run")
