"""How many documents of a collection are not relevant, by query: lines of a query and a number."""

from __future__ import annotations

from leadline.errors import InputError, UsageError
from leadline.formats.opening import read_whole, text_of


def read_population(given: str) -> int | dict[str, int]:
    """Give one number of documents, or the numbers by query of a file.

    A line is a query and a number, with blanks or a comma between; a first line without a number is a header.

    >>> read_population("171332")
    171332
    """
    if given.isascii() and given.isdigit():
        return int(given)
    if given[:1] in "+-." and given[1:2].isdigit():
        raise UsageError(f"population {given}; expected a whole number, 1 or more, or a file")
    found: dict[str, int] = {}
    for number, line in enumerate(text_of(read_whole(given)).split("\n"), start=1):
        fields = line.replace(",", " ").split()
        if not fields or line.startswith("#"):
            continue
        if len(fields) != 2 or not (fields[1].isascii() and fields[1].isdigit()):
            if number == 1 and len(fields) == 2:
                continue
            raise InputError(
                f"'{line.strip()[:60]}'",
                expected="a query and a whole number",
                path=given,
                line=number,
            )
        if fields[0] in found:
            raise InputError(
                f"query '{fields[0]}' again", expected="each once", path=given, line=number
            )
        found[fields[0]] = int(fields[1])
    if not found:
        raise InputError("holds no numbers", expected="a query and a number a line", path=given)
    return found
