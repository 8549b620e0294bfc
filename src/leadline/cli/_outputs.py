"""What a command prints and writes: the screen in the format of -f, files by suffix, warnings, progress."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any

import click

from leadline.cli._help import typed
from leadline.data.optional import require
from leadline.data.table import ResultWarning, RunInfo, Table
from leadline.data.wording import folded, terminal_columns, visible
from leadline.errors import UsageError, both, either
from leadline.io.opening import digest_of
from leadline.io.read_paths import STANDARD_STREAM
from leadline.io.run_names import OTHER_PICTURES
from leadline.render import BY_SUFFIX, View, suffix_of
from leadline.result import Facts, checked_labels, figure_of, options_of_figure


def inputs_of(
    result: Any, qrels: str, judgments: int, others: Sequence[tuple[str, int]] = ()
) -> list[dict[str, Any]]:
    """Describe judgments, runs and further inputs; runs that were restored have no file."""
    runs = read_of(run for run in result.runs if run.path)
    return [describe_input(*one) for one in ((qrels, judgments), *runs, *others)]


def read_of(runs: Iterable[RunInfo]) -> list[tuple[str, int]]:
    """Return the files of runs and the number of documents read from each."""
    return [(run.path, run.counts["documents_read"]) for run in runs]


def for_screen(text: str, *, to_file: bool = False) -> str:
    """Return text with control characters escaped and, on a terminal, lines folded at its width."""
    text = visible(text, lines=True)
    if to_file or not sys.stdout.isatty():
        return text
    width = terminal_columns(100)
    return "\n".join(part for line in text.split("\n") for part in folded(line, width))


def print_line(text: str) -> None:
    """Print a line about the result to standard output."""
    click.echo(for_screen(text))


def print_warnings(warnings: Sequence[object]) -> None:
    """Print warnings to standard error, apart from the result."""
    for notice in filter(str, warnings):
        click.echo(f"leadline: {visible(str(notice))}", err=True)


def describe_input(path: str, rows: int) -> dict[str, Any]:
    """Return path, digest (None of a pipe or collection) and rows of an input, and any ir_metadata header."""
    described = {"path": path, "sha256": digest_of(path), "rows": rows}
    from leadline.io.write import header_of

    header = header_of(path)
    return described if header is None else described | {"ir_metadata": header}


def write_output(text: str) -> None:
    """Write text to standard output."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:  # an id that is not UTF-8: write its original bytes
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.flush()


@contextmanager
def progress(noun: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on standard error if it is a terminal and the work takes over a second."""
    started = time.monotonic()
    bar: Any = None

    def advance(done: int, total: int) -> None:
        nonlocal bar
        begins = bar is None and time.monotonic() - started > 1
        if begins and (done < total or not total) and sys.stderr.isatty():
            steps = None if total else repeat(None)  # 0: the total is unknown
            bar = click.progressbar(
                steps, length=total or None, label=noun, file=sys.stderr, show_pos=True, update_min_steps=1
            )
            bar.render_progress()
        if bar is not None:
            bar.update(done - bar.pos)

    try:
        yield advance
    finally:
        if bar is not None:
            sys.stderr.write("\r\x1b[2K\x1b[?25h")  # clear the line, show the cursor
            sys.stderr.flush()


FORMATS = ("table", "csv", "tsv", "json", "jsonl", "markdown", "latex", "html", "none")
# Other formats, as which a text would be damaged.
UNWRITTEN = (
    *(".arrow", ".docx", ".feather", ".htm", ".markdown", ".ndjson"),
    *(".ods", ".pkl", ".xls", ".xlsx", ".xml", ".yaml", ".yml"),
)
WITHOUT_NOTES = ("csv", "tsv", "jsonl", "trec")  # their notes go to standard error


def outputs_of(options: dict[str, Any], *, drawn: bool, thing: bool, digits: bool) -> Outputs:
    """Take the options of output out of all options of a command."""
    figure, labels = options.pop("figure", None), options.pop("labels", ())
    outputs = Outputs(options.pop("form"), options.pop("output"), figure, labels, drawn=drawn, thing=thing)
    outputs.digits = options.pop("digits") if digits else None
    return outputs


class Outputs:
    """Where the result of one command goes: the screen (`form`), and `files`; `thing` is what it makes."""

    digits: int | None = None

    def __init__(
        self,
        form: str,
        paths: Sequence[str] = (),
        figure: str | None = None,
        labels: Sequence[str] = (),
        *,
        drawn: bool = False,
        thing: bool = False,
    ) -> None:
        refuse_same_output(*paths)
        self.form = form
        self.figure = figure
        self.thing = paths[0] if thing and paths else None
        self.files = [path for path in paths[int(thing and bool(paths)) :] if path != STANDARD_STREAM]
        if STANDARD_STREAM in paths[int(thing) :] and form == "none":
            self.form = "table"
        if self.thing == STANDARD_STREAM:
            self.form = "none"
        self.labels = list(labels)
        pictures = [path for path in self.files if self.form_of(path) == "figure"]
        others = [path for path in self.files if suffix_of(path) in OTHER_PICTURES]
        self.drawn = bool(pictures)
        if (pictures or others) and not drawn:
            name = click.get_current_context().command_path
            raise UsageError(
                f"-o {(pictures or others)[0]}: `{name}` cannot save a figure. Use another suffix, "
                "such as .html or .json."
            )
        if others:
            raise UsageError(f"-o {others[0]}: the name of a figure file must end in .svg, .pdf or .png")
        for path in self.files:
            if suffix_of(path) in UNWRITTEN:
                raise UsageError(
                    f"-o {path}: leadline does not write {suffix_of(path)} files. Use a name that ends in "
                    f"{either(suffix for suffix, form in BY_SUFFIX.items() if form != 'figure')}."
                )
        both({f"--figure {figure}": figure}, {"-o FILE.svg": self.drawn or None})
        self.needs_figure("labels")
        if pictures:
            require("figures")

    @property
    def forms(self) -> set[str]:
        """The formats of the screen and of all files."""
        return {self.form, *map(self.form_of, self.files)}

    @property
    def saves(self) -> list[str]:
        """The files that hold everything."""
        return [path for path in self.files if self.form_of(path) in ("json", "parquet")]

    def take(self, missing: str) -> str:
        """Return the first file, which is then what the command makes; raise UsageError if there is none."""
        if not self.files:
            raise UsageError(missing)
        self.thing = self.files.pop(0)
        return self.thing

    def named(self) -> str:
        """Return the path of what the command makes; raise UsageError for standard output."""
        if self.thing == STANDARD_STREAM:
            command = click.get_current_context().command_path
            raise UsageError(f"`{command}` cannot write to standard output. Pass a path with -o.")
        return str(self.thing)

    def needs_figure(self, *names: str) -> None:
        """Raise UsageError for typed parameters of figures where none is drawn."""
        both(typed(click.get_current_context(), *names), {"-o FILE.svg": self.drawn or None})

    def needs_json(self, per_query: bool, *forms: str) -> None:
        """Raise UsageError for per-query values without JSON, which only it and the other `forms` have."""
        if per_query and self.forms.isdisjoint({"json", "parquet", *forms}):
            raise UsageError("--per-query needs a format with per-query values. Add -f json or -o FILE.json.")

    def options(self) -> dict[str, Any]:
        """Return what the JSON says of the figure."""
        return {"figure": self.figure, "label": self.labels} if self.drawn else {}

    def form_of(self, path: str) -> str:
        """Return the format of a file: that of its suffix, else that of the screen."""
        return BY_SUFFIX.get(suffix_of(path)) or ("table" if self.form == "none" else self.form)

    def write(
        self,
        command: str,
        view: View,
        inputs: Callable[[], Sequence[dict[str, Any]]],
        options: dict[str, Any] | None = None,
    ) -> None:
        """Write all files, then print the view."""
        used = getattr(view.result, "options", {}) if options is None else options
        view.digits = view.digits if self.digits is None else self.digits

        def about() -> dict[str, Any]:
            from leadline.io.saved_results import envelope

            return envelope(command, inputs(), used, view.result.warnings)

        def text(form: str, *, to_file: bool) -> str:
            if form not in ("json", "jsonl"):
                return view.text(form, to_file=to_file)
            from leadline.io.saved_results import json_lines, json_text

            return json_lines(view.records()) if form == "jsonl" else json_text(about() | view.data())

        forms = {path: self.form_of(path) for path in self.files}
        contents = self._pictures(view, [path for path, form in forms.items() if form == "figure"])
        for path, form in forms.items():
            if form == "parquet" or (form == "json" and suffix_of(path) == ".json"):
                from leadline.io import saved_results

                save = saved_results.saved_parquet if form == "parquet" else saved_results.saved_json
                contents[path] = save(view, about())
            elif form != "figure":
                contents[path] = text(form, to_file=True).encode("utf-8", "surrogateescape")
        printed = "" if self.form == "none" else text(self.form, to_file=False)
        for path in self.files:
            from leadline.io.write import write_bytes

            write_bytes(path, contents[path])
            click.echo(f"wrote {path}", err=True)
        if self.form in WITHOUT_NOTES:
            print_warnings(view.below())
        elif self.thing == STANDARD_STREAM:
            print_warnings(view.result.warnings)
        write_output(printed)

    def write_facts(
        self,
        command: str,
        table: Table,
        found: dict[str, Any],
        inputs: Sequence[tuple[str, int]],
        options: dict[str, Any],
        *,
        warnings: Sequence[ResultWarning] = (),
        lines: str = "*",
    ) -> None:
        """Write what a command did: a table and the keys of its JSON; `inputs` are paths and their rows."""
        view = View(Facts(table, found, warnings=list(warnings)), lines=lines)
        self.write(command, view, lambda: [describe_input(*one) for one in inputs], options)

    def _pictures(self, view: View, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the figures as contents of files."""
        if not paths:
            return {}
        from leadline.charts import labelled, picture, width_of_user
        from leadline.io.id_lists import read_labels

        drawn = view.more if self.figure == "slices" and view.more is not None else view.result
        allowed = options_of_figure(drawn)
        kind = {} if self.figure is None or drawn is view.more else {"figure": self.figure}
        if kind and "figure" not in allowed:
            figure_of(drawn)  # refuses a result without a figure
            raise UsageError(
                f"--figure {self.figure}: this result has only one kind of figure. Leave out --figure."
            )
        single = dict(text.split("=", 1) for text in self.labels if "=" in text)
        tables: dict[str, str] = {}
        for path in self.labels:
            tables |= {} if "=" in path else read_labels(path)
        labels = checked_labels(drawn, single, tables)
        options = {name: one for name, one in view.figure.items() if name in allowed}
        make = figure_of(drawn, **options, **kind)
        found = {}
        with labelled(labels), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for path in paths:
                found[path] = picture(make(width_of_user()), suffix_of(path)[1:])
        print_warnings(list(dict.fromkeys(str(one.message) for one in said)))
        return found


def refuse_same_output(*outputs: str | None) -> None:
    """Raise UsageError if two outputs are the same file."""
    paths = [os.path.realpath(path) for path in outputs if path is not None and path != "-"]
    if len(set(paths)) < len(paths):
        raise UsageError("two outputs would go to the same file. Choose a different file for each output.")
    if outputs.count("-") > 1:
        raise UsageError("only one output can go to standard output (-). Write the other output to a file.")
