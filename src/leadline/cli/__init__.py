"""The commands; the group imports the file of one only when it is called.

Helps, completion and errors of usage import none: what they show is in `commands.json`, which
docs/generate.py writes.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import click

from leadline.cli._help import Group, complete_whole_words, table
from leadline.data.wording import terminal_columns
from leadline.errors import LeadlineError, did_you_mean, punctuated, sentences
from leadline.io import read_paths
from leadline.version import VERSION

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# The most common commands, in the order of their use.
COMMON = ("check", "evaluate", "compare", "report", "pool", "judge", "agreement", "measures")
# Order of the list of commands; `SECTION` of each command is one of these.
SECTIONS = (
    "Files and collections",
    "Evaluation",
    "Judging",
    "Estimation",
    "Retrieval",
    "Experiments",
    "Help",
)


WIDEST = 100  # columns of a help
WHOLE = "\N{NON-BREAKING HYPHEN}"  # of a name while lines are wrapped


class Commands(Group):
    """Group of the commands in this folder; `x.py` contains the command `x`, and some contain more."""

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names of the commands."""
        return sorted(table())

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Return one command, which imports its function when it is called."""
        if name not in table():
            return None
        from leadline.cli._declared import function_of, made

        entry = table()[name]
        if "params" in entry:
            return made(name, entry)
        command: click.Command = function_of(name)
        return command

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command without importing any."""
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(context) if name.startswith(incomplete)]
        items = [CompletionItem(name, help=table()[name]["says"]) for name in names]
        return items + click.Command.shell_complete(self, context, incomplete)

    def format_help(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the common commands with a line each, and the names of the others."""
        self.format_usage(context, formatter)
        self.format_help_text(context, formatter)
        rest = {name: entry["section"] for name, entry in table().items() if name not in COMMON}
        with formatter.section("Common commands"):
            formatter.write_dl([(name, table()[name]["says"]) for name in COMMON])
        sections = [(title, ", ".join(name for name in rest if rest[name] == title)) for title in SECTIONS]
        with formatter.section("Other commands"):
            rows = [(title, names) for title, names in sections if names and title != "Help"]
            formatter.write_dl([(title, names.replace("-", WHOLE)) for title, names in rows])
        formatter.buffer = [part.replace(WHOLE, "-") for part in formatter.buffer]
        with formatter.section("More help"):
            formatter.write_dl(
                [
                    ("leadline COMMAND --help", "show the help for a command (also `leadline help COMMAND`)"),
                    ("leadline help --all", "list every command with a one-line description"),
                    (
                        "leadline demo --files . --collection examples",
                        "write small files to try the commands on",
                    ),
                ]
            )
        self.format_options(context, formatter)
        self.format_epilog(context, formatter)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options without the list of commands."""
        click.Command.format_options(self, context, formatter)

    def format_all(self, formatter: click.HelpFormatter) -> None:
        """Write all commands by section with a line each."""
        widest = max(map(len, table()))
        for title in SECTIONS:
            rows = [(name, entry["says"]) for name, entry in table().items() if entry["section"] == title]
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), text) for name, text in rows])

    def instead_of(self, word: str, _context: click.Context) -> str:
        """Return what does here what people expect of a word."""
        from leadline.cli._tried import command_for

        all_commands = "`leadline help --all` lists all commands."
        return command_for(word) or did_you_mean(word, table(), most=2) or all_commands


def help_width() -> int:
    """Return the width of a help: that of the terminal, at most `WIDEST`."""
    return max(min(terminal_columns(80), WIDEST) - 2, 50)


def version_text() -> str:
    """Return the version and whether the kernels are compiled."""
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
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
    help="Evaluate search and retrieval systems with full judgments, a sample of them, or none.",
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
    """Hold the commands."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command; an error is one line on standard error, with exit status 2."""
    # No command multiplies matrices, so NumPy need not start threads for that.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Columns are reserved larger than what a text will fill; huge pages would be cleared whole.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    if sys.stdout is None:
        sys.exit(refuse("standard output is closed. Connect it to a file, a pipe or a terminal"))
    for each in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        with contextlib.suppress(ValueError):  # not in the main thread
            if signal.getsignal(each) is signal.SIG_DFL:  # `nohup` ignores SIGHUP
                signal.signal(each, lambda number, _: sys.exit(128 + number))  # half-written files go
    if "_LEADLINE_COMPLETE" in os.environ:
        complete_whole_words()
    try:
        with read_paths.recorded():
            status = group.main(
                arguments, prog_name="leadline", standalone_mode=False, terminal_width=help_width()
            )
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
        reason = error.args[-1] if error.args else "overflow"  # what follows an errno
        status = refuse(f"a number is too large ({reason}). Use smaller numbers")
    except (KeyboardInterrupt, click.Abort):
        click.echo("leadline: interrupted", err=True)
        status = 130
    except BrokenPipeError:  # the reader of the output has exited, as `head` does
        status = _drop_output(141)
    except SystemExit as end:  # raised by click when a pipe is closed
        status = _drop_output(141) if end.code == 1 else end.code
    except OSError as error:
        place = error.filename or "the output"
        status = _drop_output(refuse(f"cannot write {place} ({error.strerror or error})"))
    gc.freeze()  # nothing is left to collect at exit
    sys.exit(status if isinstance(status, int) else 0)


def _drop_output(status: int) -> int:
    """Redirect standard output to the null device, so that flushing it at exit does not fail again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _one_line(error: click.ClickException) -> str:
    from leadline.cli._tried import in_words, missing_for, option_for, shortened, usage, with_value

    context = getattr(error, "ctx", None)
    command = None if context is None else context.command
    path = "" if context is None else context.command_path.partition(" ")[2]
    if isinstance(error, click.NoSuchOption):  # versions of click word it differently
        word = re.sub(r"^-(?=[a-z]{2}\w)", "--", error.option_name)
        hint = option_for(word, command, error.possibilities or (), path)
        text = f"No such option '{error.option_name}'. {hint}".rstrip()
    else:
        text = in_words(" ".join(error.format_message().split()))
        if isinstance(error, click.MissingParameter) and context is not None:
            text += missing_for(context) or f" The usage is `{usage(context.command, path)}`."
        if isinstance(error, click.MissingParameter | click.BadOptionUsage) and command is not None:
            text = with_value(text, command)
        if text.startswith("Got unexpected extra argument"):
            text = shortened(text, command, path)
    if not context:
        return text
    return sentences(text, f"See `{context.command_path} --help`.")


def refuse(message: str) -> int:
    """Write one error line and return the exit status for it."""
    from leadline.data.wording import visible

    click.echo("leadline: error: " + visible(punctuated(message)), err=True)
    return 2
