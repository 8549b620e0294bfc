"""Everything that leadline refuses, as one family.

LeadlineError
|- InputError (also ValueError)     a file or table holds what it must not
|- UsageError (also ValueError)     options that do not exist or do not go together
|  `- UnknownNameError              an unknown name, with the nearest known ones
`- MissingPackageError (also ImportError)   an optional package is not installed
"""

from __future__ import annotations


class LeadlineError(Exception):
    """Any refusal of leadline; the message is one line, fit to be shown to a user."""


class InputError(LeadlineError, ValueError):
    """A file or table holds what it must not: says where, what was found and what was expected.

    >>> str(InputError("score 'abc'", expected="a number", path="bad.run", line=7))
    "bad.run:7: score 'abc'; expected a number"
    """

    def __init__(
        self, found: str, *, expected: str = "", path: str = "", line: int | None = None, hint: str = ""
    ) -> None:
        self.found = found
        self.expected = expected
        self.path = path
        self.line = line
        self.hint = hint
        super().__init__(found)

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        text = f"{place}: {self.found}" if place else self.found
        if self.expected:
            text += f"; expected {self.expected}"
        return f"{text}. {self.hint}" if self.hint else text

    def at(self, path: str) -> InputError:
        """Give the same error with the name of the file it was found in."""
        return InputError(self.found, expected=self.expected, path=path, line=self.line, hint=self.hint)


class UsageError(LeadlineError, ValueError):
    """Options that do not exist or do not go together."""


class UnknownNameError(UsageError):
    """An unknown name; the message lists the nearest known ones."""


class MissingPackageError(LeadlineError, ImportError):
    """An optional package is needed and not installed; says how to install it."""
