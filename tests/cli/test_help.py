"""What `leadline --help` shows."""

from __future__ import annotations

import re
from importlib import import_module

import click
import pytest

from conftest import Leadline
from leadline.cli import SECTIONS, group

NAMES = group.list_commands(click.Context(group))


@pytest.mark.parametrize("name", NAMES)
def test_a_command_says_in_which_section_it_stands(name: str) -> None:
    assert import_module(f"leadline.cli.{name}").SECTION in SECTIONS


def test_every_command_stands_once_under_a_section_and_no_section_is_empty(leadline: Leadline) -> None:
    text = leadline("--help").out
    assert sorted(re.findall(r"^  ([a-z]+) +[A-Z]", text, re.MULTILINE)) == NAMES
    parts = [text.partition(f"\n{title}:\n")[2].partition("\n\n")[0] for title in SECTIONS]
    assert all(parts)
