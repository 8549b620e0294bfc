"""Try an installed leadline in an empty folder and home, with no program in PATH: version, demo, evaluate.

The argument is the form of the kernels that is expected: compiled, uncompiled or any.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path


def main(form: str) -> int:
    """Return 0 if everything works; raise what does not."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        variables |= {"HOME": str(home), "USERPROFILE": str(home), "PYTHONUTF8": "1"}
        if os.name == "posix":
            variables["PATH"] = str(home)  # no compiler, and nothing else

        def run(*arguments: str, notes: str = "") -> str:
            done = subprocess.run(
                [sys.executable, "-m", "leadline", *arguments],
                cwd=folder,
                env=variables,
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            if done.returncode != 0:
                raise SystemExit(f"leadline {' '.join(arguments)}: status {done.returncode}\n{done.stderr}")
            if notes not in done.stderr:
                raise SystemExit(f"leadline {' '.join(arguments)}: does not say {notes!r}\n{done.stderr}")
            return done.stdout

        version = run("--version")
        print(version.strip())
        if form != "any" and f"kernels {form}" not in version:
            raise SystemExit(f"expected kernels {form}")
        plots = all(map(find_spec, ("jinja2", "matplotlib")))
        if run("demo", notes="" if plots else 'pip install "leadline[plots]"').count("bm25-titles") < 2:
            raise SystemExit("leadline demo printed no tables")
        page = Path(folder) / "leadline-demo.html"
        if page.exists() != plots:
            raise SystemExit(f"leadline demo wrote a page: {page.exists()}; expected {plots}")
        run("demo", "--files", "cranfield")
        found = json.loads(
            run("evaluate", "cranfield/qrels.txt", "cranfield/tfidf-cosine.run", "-m", "AP", "-f", "json")
        )
        if round(found["runs"][0]["mean"]["AP"], 4) != 0.2893:
            raise SystemExit(f"leadline evaluate: {found['runs'][0]['mean']}, expected AP 0.2893")
        run("demo", "--files", "examples", "--collection", "examples")
        files = [f"examples/{name}" for name in ("qrels.txt", "bm25.run", "dense.run")]
        found = json.loads(run("evaluate", *files, "-m", "AP", "-f", "json"))
        means = sorted(round(system["mean"]["AP"], 4) for system in found["runs"])
        if means != [0.6389, 0.6667]:
            raise SystemExit(f"leadline evaluate: AP {means}, expected 0.6389 and 0.6667")
        if list(home.iterdir()):
            raise SystemExit(f"files were left in the home folder: {list(home.iterdir())}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["any"])))
