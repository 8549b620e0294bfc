"""Count the files and functions of the package that an evaluation enters.

    python benchmarks/entered.py [-v]

Three evaluations of the same small data with the default measures are traced, each in a process of its own:
of dictionaries, of paths, and by the command. What importing runs is not counted, nor are class bodies,
lambdas and comprehensions. -v lists the functions by file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

import leadline
from leadline.cli import main as command

PACKAGE = Path(leadline.__file__).parent
GRADES = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
SCORES = {"q1": {"d2": 2.5, "d1": 1.5, "d4": 0.5}, "q2": {"d3": 1.0, "d5": 0.25}}


def entered(call: Callable[[], object]) -> dict[str, list[str]]:
    """Return the functions of the package that a call enters, by file."""
    found: dict[str, set[str]] = {}
    importing = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal importing
        code = frame.f_code
        if event not in ("call", "return"):
            return
        if code.co_name == "_find_and_load":
            importing += 1 if event == "call" else -1
        elif event == "call" and not importing and code.co_filename.startswith(str(PACKAGE)):
            optimised = code.co_flags & 1  # a function, not the body of a class
            if optimised and not code.co_name.startswith("<"):
                file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
                found.setdefault(file, set()).add(code.co_qualname)

    sys.setprofile(note)
    try:
        call()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    return {file: sorted(names) for file, names in sorted(found.items())}


def write(path: str, rows: Mapping[str, Mapping[str, float]], form: str) -> str:
    """Write a TREC file of the rows and return its path."""
    lines = (form.format(query, document, value) for query in rows for document, value in rows[query].items())
    Path(path).write_text("".join(lines), encoding="utf-8")
    return path


def trace(way: str) -> dict[str, list[str]]:
    """Trace one of the three evaluations."""
    with tempfile.TemporaryDirectory() as folder:
        qrels = write(f"{folder}/qrels.txt", GRADES, "{} 0 {} {}\n")
        run = write(f"{folder}/bm25.run", SCORES, "{} Q0 {} 1 {} bm25\n")
        evaluate = leadline.evaluate  # imports it
        calls: dict[str, Callable[[], object]] = {
            "dictionaries": lambda: evaluate(GRADES, SCORES),
            "paths": lambda: evaluate(qrels, run),
            "command": lambda: command(["evaluate", qrels, run]),
        }
        return entered(calls[way])


def main() -> None:
    """Trace each evaluation in a process of its own and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.trace:
        print("\n" + json.dumps(trace(given.trace)))
        return
    for way in ("dictionaries", "paths", "command"):
        arguments = [sys.executable, __file__, "--trace", way]
        text = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
        found = json.loads(text.splitlines()[-1])
        print(f"{way}: {len(found)} files, {sum(map(len, found.values()))} functions")
        for file, names in found.items() if given.verbose else ():
            print(f"  {file} {len(names)}: {', '.join(names)}")


if __name__ == "__main__":
    main()
