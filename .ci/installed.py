"""Try an installed leadline in an empty folder and an empty home: version, demo and evaluate.

The argument is the form of the kernels that is expected: compiled, uncompiled or any.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "examples"


def main(form: str) -> int:
    """Return 0 if everything works; raise what does not."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        variables |= {"HOME": str(home), "USERPROFILE": str(home), "PYTHONUTF8": "1"}

        def run(*arguments: str) -> str:
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
            return done.stdout

        version = run("--version")
        print(version.strip())
        if form != "any" and f"kernels {form}" not in version:
            raise SystemExit(f"expected kernels {form}")
        if run("demo").count("bm25-titles") < 2:
            raise SystemExit("leadline demo printed no tables")
        files = [str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run")]
        found = json.loads(run("evaluate", *files, "-m", "AP", "-f", "json"))
        means = sorted(round(system["mean"]["AP"], 4) for system in found["runs"])
        if means != [0.6389, 0.6667]:
            raise SystemExit(f"leadline evaluate: AP {means}, expected 0.6389 and 0.6667")
        if list(home.iterdir()):
            raise SystemExit(f"files were left in the home folder: {list(home.iterdir())}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["any"])))
