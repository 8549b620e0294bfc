"""The option of slices of queries, shared by `evaluate` and `compare`."""

from __future__ import annotations

from leadline.cli._help import option

slice_option = option(
    "Queries",
    "--query-slice",
    multiple=True,
    metavar="FILE:COLUMN",
    help="Add values by slice of the queries, such as their type or language (repeatable). FILE is a table, "
    "or queries with tags (JSON Lines; a list puts a query in several slices); its column query_id, else the "
    "first, is the query id. The column `length`, if FILE has none, is the number of words of the text.",
)
