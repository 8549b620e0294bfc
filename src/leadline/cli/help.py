"""`leadline help`: the help of a command, or a list of all commands."""

from __future__ import annotations

import click

from leadline.cli._help import Command
from leadline.errors import UsageError, one_of

SECTION = "Help"


@click.command(
    cls=Command, epilog="Example: leadline help evaluate; leadline help topics fit; leadline help config"
)
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "everything", is_flag=True, help="List all commands.")
@click.pass_context
def command(context: click.Context, *, names: tuple[str, ...], everything: bool) -> None:
    """Show the help of a command, or list all commands.

    It is what `leadline COMMAND --help` shows. `leadline help config` lists the settings of --config.
    """
    from leadline.cli import Commands

    one_of({"--all": everything, "COMMAND": names})
    if names == ("config",):
        click.echo(settings_help(context))
        return
    current = context.find_root()
    if everything and isinstance(current.command, Commands):
        formatter = current.make_formatter()
        current.command.format_all(formatter)
        click.echo(formatter.getvalue().strip("\n"))
        return
    for name in names:
        group = current.command
        if not isinstance(group, click.Group):
            raise UsageError(f"'{current.command_path}' has no command '{name}'; expected no more names")
        subcommand = group.resolve_command(current, [name])[1]
        if subcommand is None:
            raise UsageError(
                f"no command '{name}'; expected one of: " + ", ".join(group.list_commands(current))
            )
        current = click.Context(subcommand, info_name=name, parent=current)
    click.echo(current.command.get_help(current))


def settings_help(context: click.Context) -> str:
    """Return the help of `--config`, with all settings."""
    from leadline.cli._settings import described

    formatter = context.make_formatter()
    formatter.write_text(
        "-C KEY=VALUE, or --config KEY=VALUE, sets what is too rare for an option of its own. It may be "
        "repeated, and one may hold several pairs separated by blanks. A key may be its last part where that "
        "is unique (-C order=rank). A key alone means true. Double quotes keep blanks in a value. --config "
        'FILE.toml reads settings from the tables of a file ([read] order = "rank"). In Python, a setting '
        "is the keyword of its last part. `leadline COMMAND --help` lists the settings that a command takes; "
        "some have another default there."
    )
    formatter.write_paragraph()
    formatter.write_dl(described())
    return formatter.getvalue().rstrip("\n")
