"""`leadline study NAME`: one published experiment on the data given."""

from __future__ import annotations

import importlib
import math
import os
from types import ModuleType
from typing import Any

import click

from leadline.cli._help import MEASURE, MODEL, OUTPUT, Command, Group, Option
from leadline.cli._outputs import describe_input, print_line, progress
from leadline.data.optional import require
from leadline.data.wording import docstring
from leadline.errors import UsageError
from leadline.io.objects import read_qrels
from leadline.io.read_paths import STANDARD_STREAM, check_outputs
from leadline.io.saved_results import envelope, json_text
from leadline.io.write import write_whole
from leadline.render import render
from leadline.version import VERSION

SECTION = "Experiments"
PACKAGE = "leadline_studies"  # a distribution of its own

FORMS = ("svg", "pdf", "png")
COMPLETED: dict[str, Any] = {"MODEL": MODEL, "MEASURE": MEASURE}  # what a shell completes
EXAMPLES = {"qrels": "qrels.txt", "runs": "runs/*.xz", "docs": "docs.jsonl", "queries": "queries.jsonl"}


def collection() -> Any:
    """Return the package of studies: `studies()`, `study(name)`, `source_of(module)`, `ARGUMENTS`."""
    try:
        return importlib.import_module(PACKAGE)
    except ModuleNotFoundError as error:
        if error.name != PACKAGE:
            raise
        raise UsageError(
            "the studies are not installed. From a clone of leadline, run `pip install ./studies`."
        ) from None


class Studies(Group):
    """Group of the studies, whose commands are made when they are called."""

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names of the studies."""
        return list(collection().studies())

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Make the command of one study."""
        installed = collection()
        return make(name, installed.study(name)) if name in installed.studies() else None

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a study; the error for an unknown one lists all names."""
        if args and not args[0].startswith("-"):
            collection().study(args[0])  # an unknown name is refused with the known ones
        return super().resolve_command(context, args)


def make(name: str, module: ModuleType) -> click.Command:
    """Return the command of a study, made of its docstring and options."""
    source = collection().source_of(module)
    label = "Sources" if "Sources: " in docstring(module) else "Source"
    arguments: tuple[str, ...] = getattr(module, "ARGUMENTS", collection().ARGUMENTS)
    options: list[click.Parameter] = [
        click.Argument([argument], nargs=-1 if argument == "runs" else 1, required=True)
        for argument in arguments
    ]
    for option in module.OPTIONS:
        short = ["-k"] if option.name == "cutoff" else []
        # click accepts any default, even None, in place of a required value
        rest: dict[str, Any] = {"required": True} if option.required else {"default": option.default}
        value_type: Any = click.IntRange(0) if option.name == "seed" else option.kind
        value_type = COMPLETED.get(option.metavar or "", value_type)
        rest |= {"is_flag": True} if option.kind is bool else {"type": value_type, "metavar": option.metavar}
        options.append(
            click.Option(
                [*short, f"--{option.name.replace('_', '-')}"],
                help=option.help,
                multiple=option.repeatable,
                show_default=option.kind is not bool and option.default is not None,
                **rest,
            )
        )
    of_output: dict[str, Any] = {"group": "Output", "type": OUTPUT, "metavar": "DIR", "required": True}
    of_figures: dict[str, Any] = {"group": "Output", "type": click.Choice(FORMS), "default": "svg"}
    options += [
        Option(["-o", "--output"], help="Output folder.", **of_output),
        Option(["--figures"], help="Format of the figures.", show_default=True, **of_figures),
    ]

    def call(**given: Any) -> None:
        run_study(name, module, {argument: given.pop(argument) for argument in arguments}, **given)

    example = [EXAMPLES[argument] for argument in arguments]
    example += getattr(module, "EXAMPLE", ())
    example += [f"--{option.name} {option.metavar}" for option in module.OPTIONS if option.required]
    return Command(
        name,
        params=options,
        callback=call,
        help=docstring(module),
        short_help=docstring(module).partition("\n")[0] + (f" {label}: {source}" if source else ""),
        epilog=f"Example: leadline study {name} {' '.join(example)} -o {name}",
    )


def run_study(
    name: str, module: ModuleType, inputs: dict[str, Any], *, output: str, figures: str, **options: Any
) -> None:
    """Run a study and write its output folder; print its tables and conclusions."""
    if output == STANDARD_STREAM:
        raise UsageError("-o -: a study writes several files. Pass a folder instead.")
    if os.path.exists(output) and not os.path.isdir(output):
        raise UsageError(f"-o {output} is a file. Pass a folder instead.")
    above = os.path.abspath(output)  # refused before the work, which may take hours
    while not os.path.exists(above):
        above = os.path.dirname(above)
    if not os.path.isdir(above) or not os.access(above, os.W_OK):
        raise UsageError(f"-o {output}: cannot write to {above}. Pass a folder that you can write to.")
    require("figures")
    judgments: list[tuple[str, int]] = []
    if "qrels" in inputs:
        table = read_qrels(inputs["qrels"])
        judgments = [(inputs["qrels"], len(table.grades))]
        inputs = inputs | {"qrels": table}
    with progress("runs") as on_run:
        outcome = module.run(*inputs.values(), on_run=on_run, **options)
    written = _write(name, module, outcome, judgments, output, figures)
    for title, result_table in outcome.tables.items():
        click.echo(f"{title}\n\n{render(result_table, 'table')}")
    for line in (*outcome.lines, *map(str, outcome.warnings)):
        print_line(line)
    print_line("wrote " + ", ".join(written))


def _write(
    name: str, module: ModuleType, outcome: Any, judgments: list[tuple[str, int]], folder: str, form: str
) -> list[str]:
    """Write tables, figures, page and JSON; the JSON last: if it is there, so is all else."""
    from leadline.charts import picture

    os.makedirs(folder, exist_ok=True)
    files = {f"{title}.csv": render(table, "csv").encode() for title, table in outcome.tables.items()}
    files |= {f"{title}.{form}": picture(figure, form) for title, figure in outcome.figures.items()}
    files["index.html"] = _page(name, module, outcome).encode()
    inputs = [describe_input(path, rows) for path, rows in [*judgments, *outcome.inputs]]
    result = envelope("study", inputs, {"study": name} | (outcome.options or {}), outcome.warnings)
    files[f"{name}.json"] = json_text(
        result | _finite(outcome.data) | {"lines": list(outcome.lines)}
    ).encode()
    check_outputs(*(os.path.join(folder, file) for file in files))
    for file, content in files.items():
        write_whole(os.path.join(folder, file), content)
    return [os.path.join(folder, file) for file in files]


def _finite(data: Any) -> Any:
    """Return plain data with None for numbers that are undefined or infinite, which JSON cannot store."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _page(name: str, module: ModuleType, outcome: Any) -> str:
    """Return the page of a study: claim, number in the paper, verdict, tables and figures."""
    from markupsafe import Markup

    from leadline.pages import fill, inline

    tables = {title: render(table, "html") for title, table in outcome.tables.items() if table.rows}
    return fill(
        "study.html",
        version=VERSION,
        name=name,
        claim=module.CLAIM,
        source=collection().source_of(module),
        lines=outcome.lines,
        tables={title: Markup(text) for title, text in tables.items()},  # noqa: S704  # escaped there
        figures={title: inline(figure, title, title) for title, figure in outcome.figures.items()},
        warnings=list(map(str, outcome.warnings)),
    )


command = Studies(
    "study",
    help="Run a ready-made experiment on your own data.\n\nEach study writes a page, index.html, to the "
    "folder given with -o. The page has the claim, any published numbers, the numbers on your data and a "
    "verdict. The folder also gets the tables as CSV, all results as JSON, and any figures.",
    epilog="Example: leadline study difference-similarity --help",
)
