"""Time whole processes of this checkout against another one, in turn: processor time, ratios.

    python benchmarks/against.py OTHER --rounds 9 -o against.json

OTHER is a checkout with compiled kernels (`git worktree add OTHER COMMIT`, then in it `python setup.py
build_ext --inplace` with the same Python). The commands are those that most people wait for: evaluate
(text, dictionaries, Parquet), compare of 60 runs, rank of 600, evaluate --pool and pool of 100, difference
of 60, report of 20. The data are made once, in the folder of --data. In every round both checkouts run a
command, first one and then the other by turns; a ratio is ours to theirs, of user and system time: below 1
we are faster. It runs unattended, and on a loaded machine too, but then only large differences mean
anything.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

from compare import machine

HERE = Path(__file__).resolve().parents[1]
MEASURES = [word for name in ("AP", "nDCG@10", "RR", "P@10", "R@1000") for word in ("-m", name)]
RUNS, QUERIES, DEPTH, JUDGED = 600, 50, 100, 200
LARGE = (1_000, 1_000, 300)  # queries, documents of a list, judged documents
DICTIONARIES = """
import pickle, sys
import leadline as ll
with open(sys.argv[1], "rb") as file:
    qrels, run = pickle.load(file)
print(ll.evaluate(qrels, run, ["AP", "nDCG@10", "RR", "P@10", "R@1000"]))
"""
Commands = dict[
    str, list[list[str]]
]  # ways to write a command, of which a checkout takes the first that works


def write_data(folder: Path) -> None:
    """Write one large run with judgments in three forms, and 600 small runs."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    queries, depth, judged = LARGE
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in range(queries):
        names = [f"clueweb12-{number:010d}" for number in rng.choice(10**9, size=depth + 92, replace=False)]
        scores = np.sort(rng.gamma(2.0, 4.0, size=depth))[::-1]
        run[f"q{query}"] = dict(zip(names, scores.round(6).tolist(), strict=False))
        chosen = rng.choice(len(names), size=judged, replace=False)
        grades = rng.choice(4, size=judged, p=(0.8, 0.13, 0.05, 0.02))
        qrels[f"q{query}"] = {names[at]: grade for at, grade in zip(chosen, grades.tolist(), strict=True)}
    (folder / "large.pickle").write_bytes(pickle.dumps((qrels, run)))
    with (folder / "large.qrels").open("w") as file:
        file.writelines(f"{q} 0 {d} {g}\n" for q, grades in qrels.items() for d, g in grades.items())
    with (folder / "large.run").open("w") as file:
        file.writelines(
            f"{q} Q0 {d} {rank} {score:.6f} large\n"
            for q, scores in run.items()
            for rank, (d, score) in enumerate(scores.items(), start=1)
        )
    quality = rng.gamma(0.5, 1.0, size=(QUERIES, JUDGED))
    grade = np.digitize(quality, (1.0, 2.0))
    with (folder / "qrels.txt").open("w") as file:
        file.writelines(f"q{q} 0 d{d} {grade[q, d]}\n" for q in range(QUERIES) for d in range(JUDGED))
    (folder / "runs").mkdir(exist_ok=True)
    for number in range(RUNS):
        scores = quality * rng.uniform(0.2, 1.0) + rng.gamma(0.5, 1.0, size=quality.shape)
        order = np.argsort(-scores, axis=1)[:, :DEPTH]
        with (folder / "runs" / f"r{number:03d}.run").open("w") as file:
            file.writelines(
                f"q{q} Q0 d{d} {rank} {scores[q, d]:.6f} r\n"
                for q in range(QUERIES)
                for rank, d in enumerate(order[q].tolist(), start=1)
            )


def commands(folder: Path) -> Commands:
    """Return the commands by name; arguments after `python -m leadline`, or a program of `-c`."""
    qrels, runs = str(folder / "qrels.txt"), [str(path) for path in sorted((folder / "runs").iterdir())]
    large = str(folder / "large.qrels")
    drawn = [qrels, *runs[:100], "--pool", str(folder / "pool.tsv")]
    return {
        "evaluate, text, M": [["evaluate", large, str(folder / "large.run"), *MEASURES]],
        "evaluate, dictionaries, M": [["-c", DICTIONARIES, str(folder / "large.pickle")]],
        "evaluate, Parquet, M": [["evaluate", large, str(folder / "large.parquet"), *MEASURES]],
        "compare, 60 runs": [["compare", qrels, *runs[:60], "-m", "AP"]],
        "rank, 600 runs": [["rank", qrels, *runs, "-m", "AP"]],
        "evaluate --pool, 100 runs": [["evaluate", *drawn, "-m", "P@10"], ["estimate", *drawn, "-m", "P@10"]],
        "pool, 100 runs": [
            ["pool", *runs[:100], "--for", "P@10", "--budget", "20", "-o", str(folder / "again.tsv")]
        ],
        "difference, 60 runs": [["difference", qrels, *runs[:60]]],
        "report, 20 runs": [["report", qrels, *runs[:20], "-o", str(folder / "again.html")]],
    }


def run_once(checkout: Path, words: list[str]) -> float | None:
    """Run a whole process of a checkout; return its seconds of processor time, None if it failed."""
    for word in words:
        if Path(word).name.startswith("again."):  # what the last round wrote
            Path(word).unlink(missing_ok=True)
    start = [sys.executable] if words[0] == "-c" else [sys.executable, "-m", "leadline"]
    environment = os.environ | {"PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([*start, *words], stdout=quiet, stderr=quiet, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    return usage.ru_utime + usage.ru_stime if status == 0 else None


def prepare(folder: Path) -> None:
    """Make the data, the Parquet file and the pool, unless they are there."""
    if not (folder / "large.run").exists():
        write_data(folder)
    runs = [str(path) for path in sorted((folder / "runs").iterdir())[:100]]
    made = {
        "large.parquet": ["convert", str(folder / "large.run"), str(folder / "large.parquet")],
        "pool.tsv": ["pool", *runs, "--for", "P@10", "--budget", "20", "-o", str(folder / "pool.tsv")],
    }
    for name, words in made.items():
        if not (folder / name).exists() and run_once(HERE, words) is None:
            raise SystemExit(f"failed: leadline {' '.join(words)[:200]}")


def measure(ways: list[list[str]], checkouts: dict[str, Path], rounds: int) -> dict[str, float] | None:
    """Time one command on both checkouts, in turn; None if one of them does not have it."""
    chosen = {}
    for name, checkout in checkouts.items():
        for words in ways:
            if run_once(checkout, words) is not None:  # this round warms caches
                chosen[name] = words
                break
        else:
            return None
    seconds: dict[str, list[float]] = {name: [] for name in checkouts}
    for turn in range(rounds):
        for name in list(checkouts)[:: 1 if turn % 2 else -1]:
            seconds[name].append(run_once(checkouts[name], chosen[name]) or float("nan"))
    ours, theirs = seconds.values()
    ratios = [own / other for own, other in zip(ours, theirs, strict=True)]
    return {
        "ours": round(statistics.median(ours), 3),
        "theirs": round(statistics.median(theirs), 3),
        "ratio": round(statistics.median(ratios), 3),
        "least": round(min(ours) / min(theirs), 3),
        "low": round(min(ratios), 3),
        "high": round(max(ratios), 3),
    }


def main() -> None:
    """Read the command line and print a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("other", type=Path, help="the other checkout, with compiled kernels")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, default=HERE / "build" / "against")
    parser.add_argument("--only", nargs="*", help="names of commands, or their first words")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    prepare(given.data)
    checkouts = {"ours": HERE, "theirs": given.other.resolve()}
    found = {}
    print(f"{machine()}; load {os.getloadavg()[0]:.1f}")
    print("| command | ours, s | theirs, s | ratio (range) | least to least |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, ways in commands(given.data).items():
        if given.only and not name.startswith(tuple(given.only)):
            continue
        found[name] = one = measure(ways, checkouts, given.rounds)
        cells = "fails | | |"
        if one:
            ratio = f"{one['ratio']} ({one['low']} to {one['high']})"
            cells = f"{one['ours']} | {one['theirs']} | {ratio} | {one['least']} |"
        print(f"| {name} | {cells}", flush=True)
    if given.output:
        load = os.getloadavg()
        given.output.write_text(
            json.dumps({"machine": machine(), "load": load, "figures": found}, indent=2) + "\n"
        )


if __name__ == "__main__":
    main()
