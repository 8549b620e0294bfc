"""Measure what pip installs for leadline and each of its extras, as a table for docs/install.md.

    python .ci/sizes.py WHEEL [EXTRA ...]

Each is installed into an environment of its own, which is removed afterwards. MB are units of 1,024 KB as
`du -k` counts them, compiled bytecode included, without pip. Seconds are of processor time: of the
installation from wheels that pip has kept or downloads, of `import leadline`, and of `leadline evaluate` on
the files of the README, the least of seven runs. Without EXTRA: the plain installation and all extras of the
wheel but those of its developers.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "examples"
DEVELOPERS = ("bench", "docs", "parquet", "test")  # [parquet] is the former name of [frames]
RUNS = 7
EVALUATE = ("-m", "leadline", "evaluate", "qrels.txt", "bm25.run", "dense.run")


def processor_time(*command: str, cwd: Path | None = None) -> float:
    """Return the processor time of a command and of what it starts, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=cwd, env=variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def size(*paths: Path) -> float:
    """Return the space of files and folders on disk in MB."""
    files = [file for path in paths for file in (path, *path.rglob("*"))]
    return sum(file.lstat().st_blocks for file in files) / 2048


def extras_of(wheel: Path) -> list[str]:
    """Return the extras that the metadata of a wheel names."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode()
    return [
        name for name in re.findall("^Provides-Extra: (.*)$", text, re.MULTILINE) if name not in DEVELOPERS
    ]


def measure(wheel: Path, extra: str) -> tuple[int, float, float, float, float, float]:
    """Install the wheel with an extra; return packages, MB, MB of leadline, and three times in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        python = Path(folder) / "bin" / "python"
        wanted = f"{wheel}[{extra}]" if extra else str(wheel)
        pip = (sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet")
        installing = processor_time(*pip, "--disable-pip-version-check", wanted)
        (packages,) = (Path(folder) / "lib").glob("python*/site-packages")
        found = len(list(packages.glob("*.dist-info")))
        every, own = size(packages), size(*packages.glob("leadline*"))
        base, importing, evaluating = (
            min(processor_time(str(python), *words, cwd=EXAMPLES) for _ in range(RUNS))
            for words in (("-c", ""), ("-c", "import leadline"), EVALUATE)
        )
    return found, every, own, installing, importing - base, evaluating


def main(wheel: Path, extras: list[str]) -> None:
    """Print a row for each installation."""
    print("| installed | packages | MB | leadline alone | installation | `import leadline` | `evaluate` |")
    print("|---|---|---|---|---|---|---|")
    for extra in extras or ["", *extras_of(wheel)]:
        found, every, own, *times = measure(wheel, extra)
        name = f"leadline[{extra}]" if extra else "leadline"
        seconds = " | ".join(f"{value:.2f} s" for value in times)
        print(f"| `{name}` | {found} | {every:.0f} | {own:.1f} | {seconds} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
