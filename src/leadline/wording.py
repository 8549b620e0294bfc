"""How counts are said."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """Say how many there are; `many` is the plural where it is not made with an s.

    >>> counted(1, "run"), counted(1200, "query", "queries")
    ('1 run', '1,200 queries')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def queries(count: int) -> str:
    """Say how many queries there are.

    >>> queries(1)
    '1 query'
    """
    return counted(count, "query", "queries")


def percent(share: float) -> str:
    """Write a share in percent, as short as it is exact.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * share:.12g} %"


def rounded(value: float | None) -> str:
    """Write a number to two places; what is undefined is said.

    >>> rounded(0.425), rounded(None)
    ('0.42', 'undefined')
    """
    return "undefined" if value is None else f"{value:.2f}"
