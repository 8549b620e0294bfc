"""`leadline help`: the help of a command, or a list of all commands."""

from __future__ import annotations

import click

from leadline.errors import UsageError, one_of

SECTION = "Help"


def command(context: click.Context, *, names: tuple[str, ...], everything: bool) -> None:
    """Show help for a command, or list all commands.

    The help is the same as that of `leadline COMMAND --help`. `leadline help config` lists the settings of
    --config.

    Example: leadline help evaluate; leadline help topics fit; leadline help config

    Options
    -------
    [names]... : [COMMAND]...
    --all as everything | flag
        List all commands.
    """
    from leadline.cli import Commands

    one_of({"--all": everything, "COMMAND": names})
    if names[:1] == ("config",):
        if names[1:]:
            raise UsageError(f"`leadline help config` lists all settings. Leave out '{names[1]}'.")
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
            raise UsageError(f"`{current.command_path}` has no subcommands. Leave out '{name}'.")
        subcommand = group.resolve_command(current, [name])[1]
        assert subcommand is not None  # an unknown one is refused
        current = click.Context(subcommand, info_name=name, parent=current)
    click.echo(current.command.get_help(current))


def settings_help(context: click.Context) -> str:
    """Return the help of `--config`, with all settings."""
    from leadline.cli._settings import described

    formatter = context.make_formatter()
    formatter.write_text(
        "-C KEY=VALUE, or --config KEY=VALUE, changes a setting that is used too rarely to have its own "
        "option. You can repeat it, or give several pairs in one quoted argument (-C 'order=rank "
        "on_nan=drop'). You can shorten a key to its last part if that is unique (-C order=rank). A key "
        "alone means true. Within the quoted argument, put a value with spaces in double quotes (-C "
        "'id_column=\"Doc ID\"'). --config FILE.toml reads settings from the tables in a file ([read] order "
        '= "rank"). In Python, the last part of the key is the keyword, if the function has this setting. '
        "`leadline COMMAND --help` lists the settings that a command takes. Some commands have different "
        "defaults."
    )
    formatter.write_paragraph()
    formatter.write_dl(described())
    return formatter.getvalue().rstrip("\n")
