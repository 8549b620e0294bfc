"""`leadline help`: the help of a command, or a list of all commands."""

from __future__ import annotations

import click

from leadline.cli._help import Command
from leadline.errors import UsageError, one_of

SECTION = "Help"


@click.command(
    cls=Command, epilog="Example: leadline help evaluate; leadline help topics fit; leadline help --all"
)
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "everything", is_flag=True, help="List all commands.")
@click.pass_context
def command(context: click.Context, *, names: tuple[str, ...], everything: bool) -> None:
    """Show the help of a command, or list all commands.

    It is what `leadline COMMAND --help` shows.
    """
    from leadline.cli import Commands

    one_of({"--all": everything, "COMMAND": names})
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
