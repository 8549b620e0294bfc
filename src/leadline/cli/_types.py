"""Types of options that are no more than words: formats, outputs, pairs."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import InputPath
from leadline.io.read_paths import STANDARD_STREAM, declare_output

ALIASES = {"tex": "latex", "md": "markdown", "ndjson": "jsonl", "text": "table", "txt": "table"}


class FormatChoice(click.Choice[str]):
    """Output formats and their aliases."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the canonical name of a format."""
        return super().convert(ALIASES.get(str(value), value), param, ctx)


class OutputPath(InputPath):
    """Path of an output, which must differ from all inputs."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Declare the path as an output of this command."""
        path = str(super().convert(value, param, ctx))
        if path != STANDARD_STREAM:
            declare_output(path)
        return path


class Pairs(click.ParamType):  # type: ignore[type-arg]  # takes no parameter before click 8.4
    """`significant`, `all`, or a number of pairs."""

    name = "pairs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | int:
        """Read the option."""
        if value in ("significant", "all"):
            return str(value)
        try:
            number = int(value)
        except ValueError:
            number = 0
        if number < 1:
            self.fail(f"'{value}'; expected significant, all, or a number from 1", param, ctx)
        return number


OUTPUT = OutputPath()
PAIRS = Pairs()
