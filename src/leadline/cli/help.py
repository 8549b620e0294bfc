"""`leadline help`: the help of a command, or a list of all commands."""

from __future__ import annotations

import click

from leadline.cli._help import Command
from leadline.errors import UsageError

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

    if names and everything:
        raise UsageError("--all and a command are given; expected one of them")
    place = context.find_root()
    if everything and isinstance(place.command, Commands):
        formatter = place.make_formatter()
        place.command.format_all(formatter)
        click.echo(formatter.getvalue().strip("\n"))
        return
    for name in names:
        group = place.command
        if not isinstance(group, click.Group):
            raise UsageError(f"'{place.command_path}' has no command '{name}'; expected no more names")
        found = group.resolve_command(place, [name])[1]
        if found is None:
            raise UsageError(
                f"no command '{name}'; expected one of: " + ", ".join(group.list_commands(place))
            )
        place = click.Context(found, info_name=name, parent=place)
    click.echo(place.command.get_help(place))
