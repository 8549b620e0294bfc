"""Time the requests of many judges at once to one judging page, a process of its own.

    python benchmarks/judging.py DOCS QUERIES

Fifty judges open their pages at once. Then each saves a judgment per request and fetches ten cards after
every ten, for ten seconds at two judgments a second, faster than people, and for ten seconds as fast as
answers come; one more page polls the progress. The clients share the processors with the server, whose
processor time per request is printed too. Every judgment is looked up in the store at the end.
"""

from __future__ import annotations

import http.client
import json
import math
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from leadline.io.texts import read_documents, read_queries

JUDGES = 50
DEPTH = 100  # documents a query
SECONDS = 10.0
FIRST = 5  # cards that a page asks for when it is opened
TICKS = os.sysconf("SC_CLK_TCK")


def write_pool(path: Path, docs: str, queries: str) -> None:
    """Write a pool of documents drawn at random."""
    draw = random.Random(0)
    names = [document.id for document in read_documents(docs)]
    lines = ["query_id\tdoc_id"]
    for query in read_queries(queries)[:50]:
        lines += [f"{query.id}\t{name}" for name in draw.sample(names, min(DEPTH, len(names)))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


class Judge(threading.Thread):
    """One judge: what the page sends, in the same order, on one connection."""

    def __init__(self, port: int, name: str, until: float, pause: float) -> None:
        super().__init__()
        self.port, self.judge, self.until, self.pause = port, name, until, pause
        self.times: dict[str, list[float]] = {
            "page": [],
            "first": [],
            "save": [],
            "cards": [],
            "progress": [],
        }

    def ask(self, kind: str, path: str, body: dict[str, object] | None = None) -> str:
        """Ask, and keep the time of the whole answer."""
        sent = None if body is None else json.dumps({"judge": self.judge} | body)
        began = time.perf_counter()
        self.connection.request("GET" if sent is None else "POST", path, sent, self.headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        self.times[kind].append(time.perf_counter() - began)
        assert answer.status == 200, text
        return text

    def open(self, start: threading.Barrier) -> None:
        """Open the page at the same moment as all judges."""
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.headers = {"Origin": f"http://127.0.0.1:{self.port}"}
        start.wait()
        found = re.search('data-secret="([^"]*)"', self.ask("page", f"/judge?name={self.judge}"))
        assert found is not None
        self.headers["X-Leadline"] = found[1]
        self.ask("first", "/api/cards", {"holding": [], "opening": True, "count": FIRST})
        self.connection.close()

    def run(self) -> None:
        """Judge until the time is over."""
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.headers = {"Origin": f"http://127.0.0.1:{self.port}"}
        draw = random.Random(self.judge)
        time.sleep(draw.random() * 10 * self.pause)
        found = re.search('data-secret="([^"]*)"', self.ask("page", f"/judge?name={self.judge}"))
        assert found is not None
        self.headers["X-Leadline"] = found[1]
        while time.monotonic() < self.until:
            cards = json.loads(self.ask("cards", "/api/cards", {"holding": [], "count": 10}))["cards"]
            for card in cards:
                act = {"key": draw.randbytes(16).hex(), "kind": "judge", "pair": card["pair"], "grade": 1}
                act |= {"digest": card["digest"], "shown": card["form"], "seconds": 1.0}
                self.ask("save", "/api/events", {"events": [act]})
                time.sleep(self.pause * (0.5 + draw.random()))
        self.connection.close()


class Watcher(Judge):
    """The page of progress, which asks every two seconds."""

    def run(self) -> None:
        """Ask until the time is over."""
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.headers = {}
        while time.monotonic() < self.until:
            self.ask("progress", "/api/progress")
            time.sleep(2.0)
        self.connection.close()


def processor_time(process: int) -> float:
    """Return the processor time of a process in seconds; NaN where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) / TICKS


def show(judges: list[Judge], kinds: tuple[str, ...], seconds: float, spent: float) -> None:
    """Print what requests took."""
    number = sum(len(times) for judge in judges for times in judge.times.values())
    for kind in kinds:
        times = sorted(one for judge in judges for one in judge.times[kind])
        at = [1000 * times[min(len(times) - 1, int(share * len(times)))] for share in (0.5, 0.95, 0.99)]
        print(
            f"  {kind:9} {len(times):6} requests, {len(times) / seconds:6.1f}/s; ms: median {at[0]:.1f}, "
            f"p95 {at[1]:.1f}, p99 {at[2]:.1f}, largest {1000 * times[-1]:.1f}"
        )
    print(f"  server: {1000 * spent / number:.2f} ms of processor time per request", flush=True)


def all_at_once(port: int, process: int) -> None:
    """Open all pages at the same moment."""
    start = threading.Barrier(JUDGES)
    judges = [Judge(port, f"first{n}", 0.0, 0.0) for n in range(JUDGES)]
    threads = [threading.Thread(target=judge.open, args=(start,)) for judge in judges]
    began, before = time.monotonic(), processor_time(process)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{JUDGES} judges open their pages at once:")
    show(judges, ("page", "first"), time.monotonic() - began, processor_time(process) - before)


def round_of(port: int, pause: float, process: int) -> int:
    """Let all judge for some time; print what requests took, and give how many judgments were saved."""
    before = processor_time(process)
    until = time.monotonic() + SECONDS
    judges: list[Judge] = [Judge(port, f"judge{n}-{pause:g}", until, pause) for n in range(JUDGES)]
    judges.append(Watcher(port, "", until, pause))
    for judge in judges:
        judge.start()
    for judge in judges:
        judge.join()
    said = "as fast as answers come" if pause == 0 else f"a judgment every {pause:g} s each"
    print(f"{JUDGES} judges, {said}:")
    show(judges, ("page", "cards", "save", "progress"), SECONDS, processor_time(process) - before)
    return sum(len(judge.times["save"]) for judge in judges)


def main(docs: str, queries: str) -> None:
    """Serve, judge, and compare what was saved with what is in the store."""
    with tempfile.TemporaryDirectory() as folder:
        pool, store = Path(folder) / "pool.tsv", str(Path(folder) / "judged.sqlite")
        write_pool(pool, docs, queries)
        command = [sys.executable, "-m", "leadline", "judge", str(pool), "--docs", docs, "--queries", queries]
        server = subprocess.Popen(
            [*command, "--store", store, "--no-browser", "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        port = next(int(found[1]) for line in server.stdout if (found := re.search(r":(\d+)/", line)))
        all_at_once(port, server.pid)
        saved = round_of(port, 0.5, server.pid) + round_of(port, 0.0, server.pid)
        server.send_signal(signal.SIGKILL)
        server.wait()
        server.stdout.close()
        connection = sqlite3.connect(store)
        (kept,) = connection.execute("SELECT count(*) FROM judgments").fetchone()
        connection.close()
        print(f"{saved} judgments were said to be saved, {kept} are in the store after kill -9")


if __name__ == "__main__":
    main(*sys.argv[1:])
