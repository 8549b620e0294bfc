"""One file per command; the group lists the folder and imports a command only when it is called."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pkgutil
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from leadline.data.wording import visible
from leadline.errors import LeadlineError
from leadline.io import read_paths
from leadline.version import VERSION

# How the list of commands is ordered; each command says its `SECTION`.
SECTIONS = (
    "Begin, and look files over",
    "Measure runs against judgments",
    "Judge documents",
    "Estimate from a sample, or without judgments",
    "Make runs, topics and summaries",
    "Try on users, and repeat experiments",
)


class Commands(click.Group):
    """The commands of this folder: a file `x.py` holds the command `x`."""

    def list_commands(self, _context: click.Context) -> list[str]:
        """Give the names of the files."""
        return sorted(
            entry.name for entry in pkgutil.iter_modules(__path__) if not entry.name.startswith("_")
        )

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import one command."""
        if name not in self.list_commands(context):
            return None
        found: click.Command = importlib.import_module(f"{__name__}.{name}").command
        return found

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section, with the first part of what each is for."""
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in SECTIONS}
        for name in self.list_commands(context):
            module = importlib.import_module(f"{__name__}.{name}")
            says: str = module.command.get_short_help_str(limit=200)
            sections[module.SECTION].append((name, re.split("[:;]", says)[0].removesuffix(".")))
        widest = max(len(name) for rows in sections.values() for name, _ in rows)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), says) for name, says in rows])

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; name the nearest when there is none."""
        if self.get_command(context, args[0]) is None and not args[0].startswith("-"):
            import difflib

            known = self.list_commands(context)
            close = difflib.get_close_matches(args[0], known, n=2) or known
            raise click.UsageError(f"unknown command '{args[0]}'; nearest: " + ", ".join(close))
        return super().resolve_command(context, args)


def version_text() -> str:
    """Say the version and whether the kernels are compiled."""
    from leadline import kernels

    form = "compiled" if kernels.compiled is not None else "uncompiled (slower, same results)"
    python = ".".join(map(str, sys.version_info[:3]))
    return f"leadline {VERSION}, kernels {form}, Python {python}"


def _show_version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(version_text())
        context.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: leadline evaluate qrels.txt bm25.run dense.run -m AP -m nDCG@10",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and whether the kernels are compiled.",
)
def group() -> None:
    """Measure retrieval systems: with full judgments, with a sample of them, or with none."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command; every refusal is one line on standard error and exit status 2."""
    # A command is short: collecting garbage while modules load costs a tenth of a small evaluation, and
    # no command multiplies matrices, so numpy need not start threads for that.
    gc.set_threshold(200_000, 50, 50)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Columns are reserved larger than what a text will fill; huge pages would be cleared whole.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    if sys.stdout is None:
        sys.exit(refuse("standard output is closed; expected a file, a pipe or a terminal"))
    try:
        with read_paths.recorded():
            status = group.main(arguments, prog_name="leadline", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        status = 0
    except click.ClickException as error:
        status = refuse(_one_line(error))
    except LeadlineError as error:
        status = refuse(str(error))
    except MemoryError as error:
        details = f" ({error})" if str(error) else ""
        status = refuse(f"not enough memory for this input{details}")
    except OverflowError as error:
        status = refuse(f"a number is too large ({error}); expected one of 64 bits")
    except (KeyboardInterrupt, click.Abort):
        click.echo("leadline: stopped", err=True)
        status = 130
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        status = _drop_output(141)
    except SystemExit as end:  # click leaves so when a pipe is closed; nothing else here does
        status = _drop_output(141) if end.code == 1 else end.code
    except OSError as error:
        status = _drop_output(refuse(f"cannot write ({error.strerror}); expected free space for the output"))
    gc.freeze()  # nothing is left to collect at exit
    sys.exit(status if isinstance(status, int) else 0)


def _drop_output(status: int) -> int:
    """Let what is left of the output go nowhere, so that leaving does not fail once more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _one_line(error: click.ClickException) -> str:
    text = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    return f"{text} (see `{context.command_path} --help`)" if context else text


def refuse(message: str) -> int:
    """Write one error line and give the exit status for it."""
    click.echo("leadline: error: " + visible(message), err=True)
    return 2
