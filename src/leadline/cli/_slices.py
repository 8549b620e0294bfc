"""The option of slices of queries, shared by `evaluate` and `compare`."""

from __future__ import annotations

from leadline.cli._help import option

slice_option = option(
    "Queries",
    "--query-slice",
    multiple=True,
    metavar="FILE:COLUMN",
    help="Also show groups of queries, such as their type or language (repeatable).",
)
