"""One file per published experiment, found by looking.

`difference_models.py` is the study `difference-models`. A study is a module: its docstring says what is
tried, `OPTIONS` what it may be told, and `run(qrels, runs, **options)` gives an `Outcome`. One that makes its
own runs says what it is given instead, in the order of `run`: `ARGUMENTS = ("docs", "queries", "qrels")`,
and in `EXAMPLE` what its example says beyond them.
`leadline study` is its door.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from leadline.data.qrels import Qrels
from leadline.data.results import ResultWarning
from leadline.errors import UnknownNameError, UsageError
from leadline.io.read import QrelsLike, read_qrels
from leadline.reporting.render import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Option(NamedTuple):
    """What a study may be told, once or (`many`) again and again; what is `needed` must be."""

    name: str
    kind: type
    says: str
    default: Any = None
    needed: bool = False
    metavar: str | None = None
    many: bool = False


class Outcome(NamedTuple):
    """What a study found: data for JSON, tables and figures by name, and in words what was reproduced."""

    data: dict[str, Any]
    tables: dict[str, Table]
    figures: dict[str, Figure]
    lines: Sequence[str]
    warnings: Sequence[ResultWarning] = ()
    inputs: Sequence[tuple[str, int]] = ()
    options: dict[str, Any] | None = None


ARGUMENTS = ("qrels", "runs")  # what a study is given where it does not say
Tell = Callable[[int, int], None]


def judgments(qrels: QrelsLike, documents: str | None) -> Qrels:
    """Read judgments; with a file of documents, all of them without a judgment are not relevant."""
    table = read_qrels(qrels)
    if documents is None:
        return table
    from leadline.comparison.information_difference.joint_tables import complete
    from leadline.io.id_lists import read_document_ids

    return complete(table, read_document_ids(documents))


def whole_numbers(text: str, name: str) -> list[int]:
    """Read numbers with commas between, as an option gives them.

    >>> whole_numbers("10,100", "samples")
    [10, 100]
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(f"{name} '{text}'; expected whole numbers with commas, as in 10,100")
    return list(map(int, parts))


def studies() -> list[str]:
    """Give the names of all studies; a folder is a simulation of our own, which asks for no runs.

    What several studies share stands in modules whose names begin with `_`.
    """
    found = (entry for entry in pkgutil.iter_modules(__path__) if not entry.ispkg)
    return [entry.name.replace("_", "-") for entry in found if not entry.name.startswith("_")]


def study(name: str) -> ModuleType:
    """Give the module of one study.

    >>> study("difference-models").OPTIONS[0].name
    'family'
    """
    if name not in studies():
        raise UnknownNameError(f"no study '{name}'; there are: " + ", ".join(studies()))
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
