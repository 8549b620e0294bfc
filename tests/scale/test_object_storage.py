"""Parts on S3, by a real server on this machine: equal values, and one line for everything that fails."""

from __future__ import annotations

import gzip
import logging
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import leadline as ll
from conftest import Leadline
from leadline.errors import InputError
from leadline.scale import RunParts, evaluate_parts
from whole_runs import Split, assert_same, split_run

MEASURES = ["AP", "nDCG@5", "RR"]
FOLDER = "s3://bucket/parts/"


class Storage(NamedTuple):
    """A server, and its files by a client of its own."""

    url: str
    files: Any


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """Start a server of S3 that keeps everything in memory."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    moto = pytest.importorskip("moto.server", reason="moto with its server is not installed")
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    started = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    yield started
    started.stop()


@pytest.fixture
def storage(server: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Storage]:
    """Name the server and the credentials as users do, by variables of the environment."""
    import s3fs

    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    post(f"{url}/moto-api/reset")
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_MAX_ATTEMPTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    s3fs.S3FileSystem.clear_instance_cache()  # which remember the credentials of an earlier test
    files = s3fs.S3FileSystem(key="owner", secret="secret", endpoint_url=url, skip_instance_cache=True)
    files.mkdir("bucket")
    yield Storage(url, files)
    s3fs.S3FileSystem.clear_instance_cache()


def post(url: str, text: str = "") -> None:
    """Tell the server something."""
    request = urllib.request.Request(url, data=text.encode(), headers={"Content-Type": "text/plain"})
    with urllib.request.urlopen(request) as answer:
        answer.read()


@pytest.fixture
def split(tmp_path: Path) -> Split:
    """Write a run in three parts."""
    return split_run(tmp_path / "split", 11, parts=3)


def put(storage: Storage, split: Split) -> list[bytes]:
    """Put the parts, compressed, on the storage."""
    found = [gzip.compress(Path(part).read_bytes()) for part in split.parts]
    for number, content in enumerate(found):
        storage.files.pipe(f"bucket/parts/part-{number}.run.gz", content)
    storage.files.pipe("bucket/parts/_SUCCESS", b"")
    return found


def test_parts_on_s3_give_the_values_of_the_whole(storage: Storage, split: Split) -> None:
    put(storage, split)
    whole = ll.evaluate(split.qrels, split.run, MEASURES)
    for path in (FOLDER, FOLDER + "part-?.run.gz"):
        assert_same(evaluate_parts(split.qrels, RunParts(path, name="bm25"), MEASURES), whole)
    grouped = evaluate_parts(split.qrels, RunParts(FOLDER, name="bm25"), MEASURES, group_parts=True)
    assert grouped.values.tobytes() == whole.values.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["processes:2", "dask:2"])
def test_workers_read_parts_on_s3(engine: str, storage: Storage, split: Split) -> None:
    if engine.startswith("dask"):
        pytest.importorskip("distributed", reason="dask is not installed")
    put(storage, split)
    whole = ll.evaluate(split.qrels, split.run, MEASURES)
    parts = RunParts(FOLDER, name="bm25")
    assert_same(evaluate_parts(split.qrels, parts, MEASURES, engine=engine), whole)


def refused(leadline: Leadline, *arguments: str) -> str:
    """Return the one line by which a command refuses its input."""
    begun = time.monotonic()
    found = leadline("evaluate", *arguments, "--parts")
    assert time.monotonic() - begun < 30  # requests are not repeated for minutes
    assert (found.status, found.out) == (2, "")
    assert found.err.count("\n") == 1
    return found.err


def test_what_is_missing_is_named(storage: Storage, split: Split, leadline: Leadline) -> None:
    put(storage, split)
    assert f"{FOLDER}none.run: no such file" in refused(leadline, split.qrels, FOLDER + "none.run")
    assert "s3://bucket/none/: no such file" in refused(leadline, split.qrels, "s3://bucket/none/")
    assert "is a pattern that matches no file" in refused(leadline, split.qrels, FOLDER + "none*.run")
    assert "s3://absent/parts/: no such file" in refused(leadline, split.qrels, "s3://absent/parts/")
    assert "--parts" in leadline("evaluate", split.qrels, FOLDER + "part-0.run.gz").err


def test_a_truncated_object_is_named(storage: Storage, split: Split, leadline: Leadline) -> None:
    content = put(storage, split)[1]
    storage.files.pipe("bucket/parts/part-1.run.gz", content[: len(content) // 2])
    assert f"{FOLDER}part-1.run.gz: cannot be read to the end" in refused(leadline, split.qrels, FOLDER)


def test_an_object_that_changes_is_read_as_it_is_or_refused(
    storage: Storage, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    import s3fs

    content = put(storage, split)[1]
    parts = RunParts(FOLDER, name="bm25")  # lists the folder, whose sizes are then out of date
    storage.files.pipe("bucket/parts/part-1.run.gz", gzip.compress(gzip.decompress(content) + b"\n" * 500))
    whole = ll.evaluate(split.qrels, split.run, MEASURES)
    assert evaluate_parts(split.qrels, parts, MEASURES).values.tobytes() == whole.values.tobytes()
    old: dict[str, Any] = storage.files.info("bucket/parts/part-1.run.gz")
    storage.files.pipe("bucket/parts/part-1.run.gz", content)

    async def out_of_date(*_: object, **__: object) -> dict[str, Any]:
        return old

    s3fs.S3FileSystem.clear_instance_cache()
    monkeypatch.setattr(s3fs.S3FileSystem, "_info", out_of_date)
    with pytest.raises(InputError, match=r"part-1\.run\.gz: the URL cannot be read"):
        evaluate_parts(split.qrels, [FOLDER + "part-1.run.gz"], MEASURES)


def test_refused_credentials_are_said(
    storage: Storage, split: Split, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    import s3fs

    put(storage, split)
    post(f"{storage.url}/moto-api/reset-auth", "0")  # from here on, keys are checked
    try:
        for path in (FOLDER, FOLDER + "part-0.run.gz"):
            assert f"{path}: the URL cannot be read (" in refused(leadline, split.qrels, path)
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", f"{split.run}.absent")
        s3fs.S3FileSystem.clear_instance_cache()
        assert "the URL cannot be read (" in refused(leadline, split.qrels, FOLDER)
    finally:
        post(f"{storage.url}/moto-api/reset-auth", "inf")


def test_a_server_that_is_down_is_named_soon(
    storage: Storage, split: Split, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    del storage
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert f"{FOLDER}: the URL cannot be read (Could not connect" in refused(leadline, split.qrels, FOLDER)


def test_an_address_that_does_not_answer_is_not_a_missing_file(split: Split, leadline: Leadline) -> None:
    said = refused(leadline, split.qrels, "http://127.0.0.1:9/x.run")
    assert "http://127.0.0.1:9/x.run: the URL cannot be read (Cannot connect" in said
