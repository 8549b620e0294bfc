"""Print the declared lower bound of every product dependency as a constraint: `pip install -c FILE`.

The bounds are read from pyproject.toml; what only developers install need not be old.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

DEVELOPERS = ("bench", "docs", "test")
BOUND = re.compile(r"([\w.-]+)(?:\[[\w,-]+\])?>=([\w.]+)(.*)")  # name, version, marker


def constraints(text: str) -> list[str]:
    """Return `name==version` with its marker for every dependency that is not for developers alone."""
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"]
    listed = [
        *project["dependencies"],
        *(one for name in extras if name not in DEVELOPERS for one in extras[name]),
    ]
    wanted = sorted({one for one in listed if not one.startswith("leadline[")}, key=str.lower)
    found = [BOUND.fullmatch(one) for one in wanted]
    if not all(found):
        raise SystemExit(f"{wanted[found.index(None)]}: no lower bound; expected NAME>=VERSION")
    return [f"{match[1]}=={match[2]}{match[3]}" for match in found if match]


if __name__ == "__main__":
    print("\n".join(constraints((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))))
