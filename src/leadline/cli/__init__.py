"""One file per command; the group imports a command only when it is called.

Helps, completion and errors of usage import none: what they show is in `commands.json`, which
docs/generate.py writes.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import click

from leadline.cli._help import Described, complete_whole_words, names_known, table
from leadline.data.wording import terminal_columns
from leadline.errors import LeadlineError
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

EVALUATE = "use `leadline evaluate QRELS RUN...`"
TESTS = "use `leadline compare QRELS OLD NEW`, which tests whether runs differ"
FIGURES = "use `leadline compare QRELS RUN... -o FILE.svg`, or `leadline show RESULT -o FILE.svg`"
FUSE = "use `leadline fuse RUN... -o FUSED`"
CHECK = "use `leadline check FILE...`"
# Words that people try for a command or an option, with what does it here.
TRIED_COMMANDS = {
    "estimate": "use `leadline evaluate JUDGMENTS RUN... --pool POOL`",
    **dict.fromkeys(("eval", "score-runs", "metrics", "trec_eval"), EVALUATE),
    **dict.fromkeys(("significance", "ttest", "t-test", "test", "stats"), TESTS),
    "diff": "use `leadline compare QRELS OLD NEW` for runs, `leadline why-different FILE FILE` for values",
    "bounds": "use `leadline evaluate QRELS RUN... --bounds`",
    **dict.fromkeys(("slice", "slices"), "use `leadline compare QRELS RUN... --query-slice FILE:COLUMN`"),
    **dict.fromkeys(("ab", "ab-test"), "use `leadline abtest FILE`"),
    **dict.fromkeys(
        ("llm", "umbrela"),
        "use `leadline evaluate JUDGMENTS RUN... --pool POOL --machine LABELS`, "
        "or `leadline agreement JUDGMENTS LABELS --reference` to see how far the labels can be trusted",
    ),
    **dict.fromkeys(
        ("completion", "completions"),
        'type `eval "$(_LEADLINE_COMPLETE=bash_source leadline)"`, in zsh with zsh_source, in fish '
        "`_LEADLINE_COMPLETE=fish_source leadline | source`",
    ),
    "gate": "use `leadline compare QRELS RUN --baseline OLD --fail-if-worse MEASURE`",
    "table": "use `leadline report QRELS RUN...`, with -f latex for a paper",
    **dict.fromkeys(("leaderboard", "ranking"), "use `leadline rank QRELS RUN...`"),
    **dict.fromkeys(("html", "dashboard"), "use `leadline report QRELS RUN... -o FILE.html`"),
    **dict.fromkeys(("kappa", "iaa"), "use `leadline agreement QRELS QRELS...`"),
    **dict.fromkeys(("validate", "lint"), CHECK),
    **dict.fromkeys(("plot", "figure"), FIGURES),
    **dict.fromkeys(("sample", "draw"), "use `leadline pool RUN... --for MEASURE --budget B -o POOL`"),
    **dict.fromkeys(
        ("annotate", "label", "serve"), "use `leadline judge POOL --docs DOCS --queries QUERIES --store FILE`"
    ),
    **dict.fromkeys(("kendall", "correlation"), "use `leadline correlate RESULT RESULT`"),
    **dict.fromkeys(("fusion", "rrf"), FUSE),
    **dict.fromkeys(("summarize", "snippet"), "use `leadline summary DOCS --doc ID`"),
    **dict.fromkeys(
        ("config", "settings"), "use `leadline help config`, which lists the settings of --config"
    ),
    "export": "use `leadline show RESULT -o FILE.csv`, or `leadline convert IN OUT` for runs and judgments",
}
# Registries whose names are explained by a command.
EXPLAINED = {"measures.MEASURES": "measures", "retrieval.models.MODELS": "models"}
MEASURES = ("Use -m MEASURE.", "Use --for MEASURE.")
GRADE = ("Use -l GRADE.", "Use --level GRADE.")
TEST = "Use --test Randomisation(draws=1000)."
FLOOR = "Use --fail-below MEASURE=VALUE."
PARAMETERS = "Write it into the model, as in -m BM25(k1=0.9,b=0.4)."
PLACES = "Runs stand after the judgments without an option: QRELS RUN..."
# An answer that names an option is for commands that have it; the first that fits is given. A word after the
# name of a command is answered for this command alone.
TRIED_OPTIONS: dict[str, str | tuple[str, ...]] = {
    **dict.fromkeys(("--latex", "--tex"), "Use -f latex, or -o FILE.tex."),
    "--csv": "Use -f csv, or -o FILE.csv.",
    "--json": "Use -f json, or -o FILE.json.",
    "--html": "Use -f html, or -o FILE.html; `leadline report` writes a page.",
    "--markdown": "Use -f markdown.",
    **dict.fromkeys(("--quiet", "--silent"), "Use -f none."),
    **dict.fromkeys(("--out", "--outfile", "--output-file", "--save"), "Use -o FILE, by suffix."),
    "--plot": ("Use -o FILE.svg, and --figure KIND.", "Use -o FILE.svg."),
    "--chart": "Use --figure KIND.",
    "--summary": "Use -o FILE.md.",
    "--baseline-file": "Use --baseline FILE, and --update-baseline FILE to write it.",
    "--scores": "Leave it out: values of queries are recognised.",
    "-Z": "The z-scores of trec_eval are not computed; `leadline compare` tests runs against each other.",
    "-R": "Formats are told by content; preferences and judgment groups of trec_eval are not read.",
    "-T": "Formats are told by content.",
    **dict.fromkeys(("--metric", "--metrics", "--measures"), MEASURES),
    **dict.fromkeys(("--rel", "--relevance-level", "--min-rel"), GRADE),
    **dict.fromkeys(
        ("-k", "--k", "--cutoff"),
        ("Use -k N.", "Write the cutoff into the measure, as in -m nDCG@10.", "Use --depth K.", "Use -T N."),
    ),
    **dict.fromkeys(("--qrels", "--run", "--runs", "--systems", "--old", "--new"), PLACES),
    **dict.fromkeys(
        ("--alpha", "--significance", "--max-p", "--p-value"),
        "Use --confidence, which is 1 - alpha, as in --confidence 0.99 for alpha = 0.01.",
    ),
    **dict.fromkeys(("--stat-test", "--paired"), "Use --test NAME."),
    **dict.fromkeys(("--permutations", "--iterations", "--resamples"), TEST),
    "--bootstrap": ("Use --test Bootstrap.", "Use --intervals."),
    "--ci": (
        "Use --intervals; with --pool they are shown anyway.",
        "Intervals are shown; --confidence sets their level.",
    ),
    **dict.fromkeys(("--adjust", "--bonferroni", "--holm"), "Use --correction NAME."),
    "--per-query": "Use `leadline evaluate -q`; --config output.changed=N shows the largest differences.",
    **dict.fromkeys(("--max-drop", "--tolerance"), "Use --fail-if-worse MEASURE:MARGIN."),
    **dict.fromkeys(("--strategy", "--type"), ("Use --method NAME.", "Use --figure KIND.")),
    "--queries-file": "Use --queries FILE.",
    **dict.fromkeys(("--human", "--gold"), "Human judgments come first; use --machine LABELS for others."),
    "--threshold": ("Use --fail-if-worse MEASURE:MARGIN.", FLOOR),
    **dict.fromkeys(("--min", "--fail-under", "--min-score"), FLOOR),
    "--digits": "Use -f csv or -o FILE.json, which have all digits.",
    **dict.fromkeys(("--sample", "--sampled"), "Use --pool POOL."),
    **dict.fromkeys(
        ("--ignore-unjudged", "--condensed", "--judged", "--judged-docs-only-flag"), "Use --judged-only."
    ),
    **dict.fromkeys(("--k1", "--b", "--mu"), PARAMETERS),
    **dict.fromkeys(("--norm", "--normalize"), "Use --normalise NAME."),
    **dict.fromkeys(("--corpus", "--collection", "--documents"), "Use --docs DOCS."),
    **dict.fromkeys(("--variant", "--group", "--treatment"), "Use --arm COLUMN."),
    **dict.fromkeys(("--clicked", "--conversion"), "Use --click COLUMN."),
    **dict.fromkeys(("--db", "--database"), "Use --store FILE."),
    **dict.fromkeys(("--workers", "--jobs", "--threads"), "Use --engine processes:N."),
    **dict.fromkeys(
        ("fuse -k", "fuse --k", "fuse --cutoff"), "Write k into the method, as in --method 'RRF(k=60)'."
    ),
    **dict.fromkeys(
        ("agreement --weighted", "agreement --kappa-weights"), "Use --config agreement.weights=quadratic."
    ),
    **dict.fromkeys(
        ("--queries", "--query", "--topics", "--query-ids"),
        (
            "Use --queries FILE.",
            "Use --query-id ID.",
            "Use --config read.queries_in=FILE to read some queries only.",
        ),
    ),
    **dict.fromkeys(
        ("check --fail-under", "check --strict", "check --exit-code"),
        "`leadline check` exits with 1 if it finds an error.",
    ),
    **dict.fromkeys(
        ("convert --from", "convert --input-format"),
        "The format of IN is recognised; --config read.kind=qrels says what it contains.",
    ),
    "report --title": "The title of a report cannot be set.",
    "measures --search": "Give the name alone: `leadline measures recall`.",
    "--from": "Use --query-language LANGUAGE.",
    "--to": "Use --language LANGUAGE.",
    "--all": "Use --long.",
}


class Commands(Described, click.Group):
    """Group of the commands in this folder; `x_y.py` contains the command `x-y`."""

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names of the commands."""
        return sorted(table())

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Import one command."""
        if name not in table() and not is_command(name):
            return None
        from leadline.cli._declared import declared

        return declared(name, lambda: loaded(name)) or loaded(name)

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
            formatter.write_dl([(title, names) for title, names in sections if names and title != "Help"])
        with formatter.section("More help"):
            formatter.write_dl(
                [
                    ("leadline COMMAND --help", "one command; also `leadline help COMMAND`"),
                    ("leadline help --all", "all commands with a line each"),
                    ("leadline demo --files . --collection examples", "the files of the examples"),
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

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; the error for an unknown one suggests the nearest names."""
        if self.get_command(context, args[0]) is None and not args[0].startswith("-"):
            import difflib

            if answer := command_for(args[0]):
                raise click.UsageError(f"unknown command '{args[0]}'; {answer}")
            known = self.list_commands(context)
            close = difflib.get_close_matches(args[0], known, n=2)
            hint = "nearest: " + ", ".join(close) if close else "`leadline help --all` lists the commands"
            raise click.UsageError(f"unknown command '{args[0]}'; {hint}")
        return super().resolve_command(context, args)


def module_of(name: str) -> str:
    """Return the module of a command.

    >>> module_of("why-different")
    'why_different'
    """
    return name.replace("-", "_")


def loaded(name: str) -> click.Command:
    """Import a command."""
    command: click.Command = importlib.import_module(f"{__name__}.{module_of(name)}").command
    return command


def is_command(name: str) -> bool:
    """Return whether a file holds a command, listed or new."""
    if "_" in name or not module_of(name).isidentifier():
        return False
    from importlib.util import find_spec

    return find_spec(f"{__name__}.{module_of(name)}") is not None


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
    """Run one command; an error is one line on standard error, with exit status 2."""
    # A command is short: collecting garbage while modules load costs a tenth of a small evaluation, and
    # no command multiplies matrices, so numpy need not start threads for that.
    gc.set_threshold(200_000, 50, 50)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Columns are reserved larger than what a text will fill; huge pages would be cleared whole.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    if sys.stdout is None:
        sys.exit(refuse("standard output is closed; expected a file, a pipe or a terminal"))
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
        status = refuse(f"a number is too large ({error}); expected a 64-bit number")
    except (KeyboardInterrupt, click.Abort):
        click.echo("leadline: stopped", err=True)
        status = 130
    except BrokenPipeError:  # the reader of the output has exited, as `head` does
        status = _drop_output(141)
    except SystemExit as end:  # raised by click when a pipe is closed
        status = _drop_output(141) if end.code == 1 else end.code
    except OSError as error:
        status = _drop_output(refuse(f"cannot write ({error.strerror}); expected a device with free space"))
    gc.freeze()  # nothing is left to collect at exit
    sys.exit(status if isinstance(status, int) else 0)


def _drop_output(status: int) -> int:
    """Redirect standard output to the null device, so that flushing it at exit does not fail again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _one_line(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption):  # versions of click word it differently
        nearest = " or ".join(f"'{name}'" for name in sorted(error.possibilities or ()))
        hint = (
            option_for(error.option_name, None if error.ctx is None else error.ctx.command)
            or _as_setting(error)
            or (f"Did you mean {nearest}?" if nearest else "")
        )
        text = f"No such option '{error.option_name}'. {hint}".rstrip()
    else:
        text = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    return f"{text} (see `{context.command_path} --help`)" if context else text


def _as_setting(error: click.NoSuchOption) -> str:
    """Return the setting that an option stands for which people try."""
    from leadline.cli._settings import replacing

    setting = None if error.ctx is None else replacing(error.ctx.command, error.option_name)
    return "" if setting is None else f"Use --config {setting.usage}."


def command_for(word: str) -> str:
    """Return what to use for a word that is no command; empty if nobody knows."""
    if word in TRIED_COMMANDS:
        return TRIED_COMMANDS[word]
    for place, command in EXPLAINED.items():
        listed = {name.lower() for name in names_known()[place]}
        if re.split(r"[@(]", word.lower())[0] in listed:
            return f"use `leadline {command} {word}`, which explains it"
    looks_like_file = os.path.exists(word) or os.path.splitext(word)[1] != ""
    return EVALUATE if looks_like_file else ""


def option_for(word: str, command: click.Command | None) -> str:
    """Return what to use for an option that a command does not have; empty if nobody knows."""
    own = "" if command is None else TRIED_OPTIONS.get(f"{command.name} {word}", "")
    answers = own or TRIED_OPTIONS.get(word, ())
    has = {name for one in command.params for name in one.opts} if command is not None else set()
    for answer in (answers,) if isinstance(answers, str) else answers:
        named = re.findall(r"(?<![\w`-])--?[a-zA-Z][\w-]*", re.sub("`[^`]*`", "", answer))
        if command is None or {*named} <= has:
            return answer
    return ""


def refuse(message: str) -> int:
    """Write one error line and return the exit status for it."""
    from leadline.data.wording import visible

    click.echo("leadline: error: " + visible(message), err=True)
    return 2
