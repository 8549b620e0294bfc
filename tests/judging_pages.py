"""A judging page for tests: asked in this process, or served by a real one that can be killed."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import re
import signal
import sqlite3
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, Self

from leadline.__main__ import main
from leadline.io.judgment_store import WAIT
from leadline.judging import store
from leadline.judging.events import Event

FORKS = multiprocessing.get_context("forkserver")
# What serving imports: a fork of a process that has it starts in a sixth of the time.
PRELOADED = """leadline.cli.judge leadline.judging.app leadline.judging.half_widths
    leadline.judging.startup jinja2 starlette.staticfiles uvicorn.lifespan.off uvicorn.logging
    uvicorn.loops.auto uvicorn.protocols.http.auto"""
FORKS.set_forkserver_preload(PRELOADED.split())
DOCUMENTS = [
    {"doc_id": f"d{place}", "title": f"Wing {place}", "text": f"Lift of wing number {place} in flow."}
    for place in range(12)
]
QUERIES = [
    {"query_id": "q1", "text": "wing lift", "description": "How much a wing lifts."},
    {"query_id": "q2", "text": "flow"},
]
GRADES = "0=no,1=partly,2=yes"


class Files(NamedTuple):
    """What a judging page is made of."""

    pool: str
    docs: str
    queries: str
    store: str


def save(judged: store.Store, judge: str, events: Sequence[Event]) -> None:
    """Save events of a judge in a store; raise the error for which they were refused."""
    (outcome,) = judged.append_all([(judge, events)])
    if isinstance(outcome, Exception):
        raise outcome


def write(
    folder: Path,
    documents: Iterable[dict[str, Any]] = DOCUMENTS,
    queries: Iterable[dict[str, Any]] = QUERIES,
    pairs: Iterable[tuple[str, str]] | None = None,
) -> Files:
    """Write documents, queries and a pool; without pairs every document for every query."""
    documents, queries = list(documents), list(queries)
    chosen = pairs or [(q["query_id"], d["doc_id"]) for q in queries for d in documents]
    files = Files(*(str(folder / name) for name in ("pool.tsv", "d.jsonl", "q.jsonl", "judged.sqlite")))
    Path(files.docs).write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    Path(files.queries).write_text("\n".join(map(json.dumps, queries)), encoding="utf-8")
    lines = ["query_id\tdoc_id\tprobability", *(f"{query}\t{name}\t1" for query, name in chosen)]
    Path(files.pool).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files


class Answer(NamedTuple):
    """What a page answered."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def data(self) -> Any:
        """Return the JSON."""
        return json.loads(self.text)


def ask(app: Any, path: str, *, body: Any = None, host: str = "localhost", **headers: str) -> Answer:
    """Ask an application in this process; a body makes it a post."""
    path, _, query = path.partition("?")
    sent = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"host": host, "content-length": str(len(sent))} | headers
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "method": "GET" if body is None else "POST",
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1),
        "headers": [(name.replace("_", "-").encode(), text.encode()) for name, text in named.items()],
    }
    got: list[MutableMapping[str, Any]] = []

    messages = [{"type": "http.request", "body": sent, "more_body": False}]

    async def receive() -> MutableMapping[str, Any]:
        if messages:
            return messages.pop()
        await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        got.append(message)

    with ThreadPoolExecutor(1) as thread:  # a browser that is open keeps a loop running in this one
        thread.submit(asyncio.run, app(scope, receive, send)).result()
    text = b"".join(message.get("body", b"") for message in got[1:]).decode()
    return Answer(got[0]["status"], {k.decode(): v.decode() for k, v in got[0]["headers"]}, text)


def command(files: Files, *options: object) -> list[str]:
    """Return the command that serves some files."""
    found = [sys.executable, "-m", "leadline", "judge", files.pool, "--docs", files.docs]
    found += ["--queries", files.queries, "--store", files.store, "--no-browser"]
    return [*found, *map(str, options)]


def started(words: list[str], wait: float, out: Connection, err: Connection) -> None:
    """Run a command in this process, which was forked for it."""
    vars(store)["WAIT"] = wait
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    sys.argv = words
    main()


class Forked:
    """A process as subprocess.Popen starts one, forked from one that has loaded what judging needs."""

    def __init__(self, words: list[str], wait: float) -> None:
        (out, its_out), (err, its_err) = (FORKS.Pipe(duplex=False) for _ in range(2))
        self.process = FORKS.Process(target=started, args=(words, wait, its_out, its_err))
        self.process.start()
        self.pid = int(self.process.pid or 0)
        self.stdout, self.stderr = (os.fdopen(os.dup(end.fileno())) for end in (out, err))
        for end in (out, its_out, err, its_err):
            end.close()

    def poll(self) -> int | None:
        return self.process.exitcode

    def send_signal(self, how: int) -> None:
        os.kill(self.pid, how)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Wait for the end; give the rest of both outputs."""
        self.process.join(timeout)
        assert self.poll() is not None
        with self.stdout, self.stderr:
            return self.stdout.read(), self.stderr.read()


def refusal(files: Files, *options: object) -> str:
    """Try to serve; give the one line that says why not."""
    tried = Forked(command(files, "--port", 0, *options)[2:], wait=0.5)
    said, wrong = tried.communicate(60)
    assert (tried.poll(), wrong.count("\n")) == (2, 1), said
    return wrong


class Server:
    """A judging page in a process of its own; `wait` is how long it waits for a store that is locked."""

    def __init__(self, files: Files, *options: object, port: int = 0, wait: float = WAIT) -> None:
        self.process = Forked(command(files, "--port", port, *options)[2:], wait)
        self.said: list[str] = []
        for line in self.process.stdout:
            self.said.append(line.rstrip())
            if found := re.match(r"open (http://[^/]*:(\d+))/(.*)", line):
                self.address, self.port, self.entry = found[1], int(found[2]), found[3]
                return
        raise AssertionError(self.process.communicate(30)[1])

    def stop(self, how: int = signal.SIGINT) -> int:
        """Stop the process; give its status."""
        if (status := self.process.poll()) is None:
            self.process.send_signal(how)
            self.process.communicate(timeout=30)
            status = self.process.poll()
        assert status is not None
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGKILL)

    def secret(self, judge: str) -> str:
        """Open the page of a judge, as a browser does; give what posts have to show."""
        with urllib.request.urlopen(f"{self.address}/judge?name={judge}", timeout=20) as answer:
            found = re.search(r'data-secret="([^"]*)"', answer.read().decode())
        assert found is not None
        return found[1]

    def post(self, path: str, body: dict[str, Any], secret: str) -> Any:
        """Post as the page does; raises OSError where nobody answers."""
        request = urllib.request.Request(
            self.address + path,
            json.dumps(body).encode(),
            {"Origin": self.address, "X-Leadline": secret, "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.loads(answer.read())


def event(pair: int, place: int = 0, kind: str = "judge", **more: Any) -> dict[str, Any]:
    """Make what the page sends for one act."""
    grade = {"grade": 1} if kind == "judge" else {}
    return {"key": f"key-{pair:05}-{place:05}-{kind}", "kind": kind, "pair": pair} | grade | more


def stored(path: str, query: str = "SELECT judge, query, document, grade FROM judgments") -> list[Any]:
    """Read a store by SQL, as anybody can."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchall()
