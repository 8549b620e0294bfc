"""Write the pages that are made from the code; `--check` says which are stale and fails.

`make docs` runs it. Measures come from their classes, commands from their help texts, profiles
and errors from their modules. In pages written by hand, what stands under `$ leadline ...` in a
`console` block is what the command printed, run in a copy of docs/examples.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import click

from leadline import errors
from leadline.cli import group
from leadline.data.registry import Parametric, Registry
from leadline.evaluation.catalogue import AVERAGES, example, facts, limits, outline, paragraphs
from leadline.evaluation.profiles import PROFILES
from leadline.measures import MEASURES
from leadline.stats import CORRECTIONS, INTERVALS, TESTS
from leadline.stats.agreement_coefficients import COEFFICIENTS

FOLDER = os.path.dirname(os.path.abspath(__file__))
CONSOLE = re.compile(r"^```console\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
NOTE = "<!-- Made by docs/generate.py from the code: run `make docs` after a change. -->"


def measures() -> str:
    """Write the page of measures."""
    lines = [
        "# Measures",
        "",
        NOTE,
        "",
        "What stands in brackets may be left out. How names are written, and how values become a",
        "mean, is in [concepts.md](concepts.md). `leadline measures NAME` shows the same.",
        "",
        "| measure | title | range | average |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| [`{outline(kind)}`](#{name.lower()}) | {kind.title} | {limits(kind)} | {AVERAGES[kind.average]} |"
        for name, kind in MEASURES.classes.items()
    ]
    for name, kind in MEASURES.classes.items():
        lines += ["", f"## {name}", "", f"`{outline(kind, defaults=True)}`: {kind.title}.", ""]
        lines += [part + "\n" for part in paragraphs(kind)]
        for label, text in facts(kind).items():
            first, *more = text.splitlines()
            lines += (
                [f"- {label}: {first}", *(f"  - {line}" for line in more)]
                if not more
                else [f"- {label}:", *(f"  - {line}" for line in (first, *more))]
            )
        if example(kind):
            lines += ["", "```python", example(kind), "```"]
    return "\n".join(lines) + "\n"


def commands() -> str:
    """Write the page of commands."""
    lines = ["# Commands", "", NOTE, "", "The help text of every command, as `--help` prints it."]
    for name, command in walk(group, "leadline"):
        context = click.Context(
            command,
            info_name=name,
            terminal_width=100,
            max_content_width=100,
            help_option_names=["-h", "--help"],
        )
        lines += ["", f"## {name}", "", "```text", command.get_help(context).rstrip(), "```"]
    return "\n".join(lines) + "\n"


def walk(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Give a command and those below it, with their full names."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None:
                yield from walk(found, f"{name} {below}")


def profiles() -> str:
    """Write the page of profiles."""
    lines = [
        "# Profiles",
        "",
        NOTE,
        "",
        "A profile (`--profile NAME`, `evaluate(..., profile=NAME)`) changes arithmetic, averaging and",
        "names to what another program does. It never changes which input is accepted. With",
        "`-f trec` `evaluate` prints what that program prints, and `-c -l -m -M -n -N -J -q` mean what",
        "they mean there.",
        "",
        f"| | {' | '.join(f'`{name}`' for name in PROFILES)} |",
        "| --- |" + " --- |" * len(PROFILES),
        f"| computes as | {' | '.join(profile.says for profile in PROFILES.values())} |",
    ]
    facts = [profile.facts() for profile in PROFILES.values()]
    lines += [f"| {label} | {' | '.join(one[label] for one in facts)} |" for label in facts[0]]
    return "\n".join(lines) + "\n"


def refusals() -> str:
    """Write the page of errors."""
    return "\n".join(
        [
            "# Errors",
            "",
            NOTE,
            "",
            "A command that refuses its input writes one line to standard error and ends with",
            "status 2: `leadline: error: FILE:LINE: what was found; what was expected`. Nothing is",
            "half-written.",
            "",
            "| status | meaning |",
            "| --- | --- |",
            "| 0 | done |",
            "| 1 | a condition that you set was not met |",
            "| 2 | bad usage or bad input |",
            "| 130 | stopped with Ctrl-C |",
            "",
            "In Python the same refusals are exceptions, and their text is the same line.",
            "",
            "```text",
            doc(errors),
            "```",
            "",
        ]
    )


def doc(module: ModuleType) -> str:
    """Give the docstring of a module."""
    return inspect.getdoc(module) or ""


def methods() -> str:
    """Write the page of tests, intervals and corrections."""
    lines = [
        "# Tests, intervals and corrections",
        "",
        NOTE,
        "",
        "What `--test`, `--interval` and `--correction` of `leadline compare` and `leadline report` may",
        "be. How to read them is in [comparing.md](comparing.md). At the end the coefficients of `leadline",
        "agreement`, which [agreement.md](agreement.md) tells apart.",
    ]
    rooms: dict[str, Registry[Any]] = {
        "Tests": TESTS,
        "Intervals": INTERVALS,
        "Corrections": CORRECTIONS,
        "Agreement of judges": COEFFICIENTS,
    }
    for title, room in rooms.items():
        lines += ["", f"## {title}"]
        for name, kind in room.classes.items():
            text = inspect.cleandoc(kind.__doc__ or "").partition(">>>")[0].strip()
            lines += ["", f"### {name}", "", f"`{outline(kind, defaults=True)}`: {kind.title}.", "", text, ""]
            lines += [f"- {fact}" for fact in _facts(kind)]
        if room is CORRECTIONS:
            lines += ["", FAMILIES]
    return "\n".join(lines) + "\n"


FAMILIES = """## Many pairs at once

Two procedures take all pairs together instead of correcting the p values of single tests. Family-wise
errors, power and the coverage of their simultaneous intervals on retrieval scores are measured in
[studies/significance.md](studies/significance.md).

### MaxT

`--correction MaxT`: randomised max-t step-down procedure.

The signs of whole queries are flipped at random, the same in all pairs. For each pair p is the share of
flips (the one observed among them) in which the largest |t| of this pair and of all pairs with a smaller
|t| reaches the |t| observed, made monotone. Because the pairs keep their dependence the procedure is less
conservative than Holm's correction, and because every pair is studentised it does not assume equal
variances as Tukey's does. It controls the family-wise error exactly where the runs of true null
hypotheses are exchangeable within queries, and asymptotically otherwise. With `--baseline` only the pairs
with a baseline are in the family, as in Dunnett's procedure.

The simultaneous intervals are the mean difference plus and minus c standard errors, with c the quantile
of the largest |t| over all pairs when centred differences are flipped. That is a single-step interval,
while p is step-down. Where one of them excludes 0 and the other does not, the limit is moved to 0, so
that interval and verdict always agree. The intervals are approximate: the study gives the coverage
measured.

- source: Romano and Wolf 2005; Westfall and Young 1993; with one baseline Dunnett 1955

### Tukey

`--correction Tukey`: randomised Tukey HSD.

The values of each query are shuffled among the runs; the range of the means of all runs is the reference
distribution of every difference. It is not studentised: pairs that vary more than others are found
significant too often.

- source: Carterette 2012

## Equal differences, and groups of queries

Where all differences are equal and not 0 there is no spread to test by. Then every test has the p of the
sign test, which needs none, and the output says so.

Queries are not always independent: several questions on one paragraph, queries of one user, translations,
repetitions with other seeds. `--query-group FILE:COLUMN` names the group of every query. The t test and
its interval then use the cluster-robust standard error of Liang and Zeger (1986) with one degree of
freedom less than there are groups; randomisation tests, `MaxT` and the inverted randomisation test flip
the signs of whole groups; bootstrap tests and intervals draw whole groups; the sign test takes the sign
of a group's sum. Wilcoxon and Tukey cannot take groups. With few groups cluster-robust tests reject too
often (Cameron, Gelbach and Miller 2008)."""


def _facts(kind: type[Parametric]) -> Iterator[str]:
    """Yield the null hypothesis or controlled error rate of a method, its aliases and its source."""
    for label, name in (("null hypothesis", "null"), ("controls", "controls")):
        if text := getattr(kind, name, ""):
            yield f"{label}: {text}"
    if kind.aliases:
        yield "aliases: " + ", ".join(kind.aliases)
    if text := getattr(kind, "source", ""):
        yield f"source: {text}"


PAGES: dict[str, Callable[[], str]] = {
    "measures.md": measures,
    "commands.md": commands,
    "profiles.md": profiles,
    "errors.md": refusals,
    "statistics.md": methods,
}


def by_hand() -> list[str]:
    """Give the pages written by hand that show what a command prints, as paths from here."""
    names = [os.path.join("..", name) for name in os.listdir(os.path.join(FOLDER, ".."))]
    names += os.listdir(FOLDER)
    return sorted(
        name for name in names if name.endswith(".md") and name not in PAGES and CONSOLE.search(current(name))
    )


def with_examples(text: str) -> str:
    """Give a page with fresh output under every `$ leadline ...` of its console blocks."""
    return CONSOLE.sub(lambda block: f"```console\n{_fresh(block[1])}```\n", text)


def _fresh(block: str) -> str:
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(FOLDER, "examples"), folder, dirs_exist_ok=True)
        if "cranfield/" in block:
            run(["leadline", "demo", "--files", "cranfield"], folder)
        for command in commands:
            ours = command.startswith("$ leadline ")
            printed = run(shlex.split(command)[1:], folder) if ours else ""
            parts.append(f"{command}\n{printed}")
    return "\n".join(parts)


def run(words: list[str], folder: str) -> str:
    """Run `leadline ...` in a folder and give what it printed."""
    done = subprocess.run(  # noqa: S603  # our own program, with words from our own pages
        [sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    if "Traceback" in done.stderr:
        raise RuntimeError(done.stderr)
    return done.stdout + done.stderr


def stale() -> dict[str, str]:
    """Give the pages that differ from what the code says, with what they should hold."""
    wanted = {name: page() for name, page in PAGES.items()}
    wanted |= {name: with_examples(current(name)) for name in by_hand()}
    return {name: text for name, text in wanted.items() if current(name) != text}


def current(name: str) -> str:
    """Give a page as it stands in the folder; nothing when it is missing."""
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def main(arguments: list[str]) -> int:
    """Write the pages, or only say which are stale."""
    pages = stale()
    for name, text in pages.items():
        shown = os.path.normpath(os.path.join("docs", name))
        if "--check" in arguments:
            sys.stderr.write(f"{shown} is stale; `make docs` writes it anew\n")
            continue
        with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
            file.write(text)
        sys.stdout.write(f"{shown} written\n")
    return 1 if pages and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
