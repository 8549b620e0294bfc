"""Write the pages that are made from the code; `--check` says which are stale and fails.

`make docs` runs it. Measures come from their classes, commands from their help texts, profiles
and errors from their modules. In pages written by hand, what stands under `$ leadline ...` in a
`console` block is what the command printed, run among the files of
`leadline demo --files . --collection examples`.
"""

from __future__ import annotations

import contextlib
import glob
import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import click

from leadline import cli
from leadline.cli import _declared, group
from leadline.data.registry import Parametric, Registry
from leadline.evaluation.catalogue import REFERENCES, Reference, example, facts, outline, paragraphs
from leadline.evaluation.profiles import PROFILES, Profile
from leadline.measures import MEASURES, Measure
from leadline.stats import CORRECTIONS, INTERVALS, TESTS
from leadline.stats.agreement_coefficients import COEFFICIENTS

FOLDER = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(FOLDER, "examples")
FIGURES = os.path.join(FOLDER, "figures.py")
ATTRIBUTES = runpy.run_path(os.path.join(FOLDER, "attributes.py"))
PYTHON = runpy.run_path(os.path.join(FOLDER, "python_reference.py"))
KEYS = runpy.run_path(os.path.join(FOLDER, "keys.py"))
TABLE = runpy.run_path(os.path.join(FOLDER, "command_table.py"))
SEEDS = runpy.run_path(os.path.join(FOLDER, "seeds.py"))
CONSOLE = re.compile(r"^```console\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
NOTE = "<!-- Made by docs/generate.py from the code: run `make docs` after a change. -->"


def measures() -> str:
    """Write the page of measures."""
    lines = [
        "# Measures",
        "",
        NOTE,
        "",
        "`leadline measures NAME` prints one of them. How names are written, and how the per-query values",
        "become a mean, is in [Concepts](concepts.md#names-of-measures).",
        "",
        "- Parameters in brackets are optional, and `=` gives their defaults. A cutoff k is a whole number,",
        "  1 or more. `rel` is the lowest grade that counts as relevant, a number, 0 or more.",
        "- Upper and lower case are the same. You can also write a cutoff as in `AP_10`, `AP.10` or",
        "  `AP_at_10`. In place of a cutoff, `R@500tokens` has a budget ([what fits in the",
        "  prompt](howto/rag.md#what-fits-in-the-prompt)).",
        "- Unless an entry says otherwise, values are from 0 to 1, larger is better, means are over all",
        "  queries, and a value is undefined when nothing is relevant, which counts as 0 in the mean.",
        "",
        ", ".join(f"[{name}](#{name.lower()})" for name in MEASURES.classes),
        "",
        "The examples need these imports:",
        "",
        "```python",
        ">>> from leadline.measures import (",
        *textwrap.wrap(
            ", ".join(name for name, kind in MEASURES.classes.items() if example(kind)),
            100,
            initial_indent="...     ",
            subsequent_indent="...     ",
        ),
        "... )",
        "```",
    ]
    for name, kind in MEASURES.classes.items():
        lines += ["", f"## {name}", "", f"`{outline(kind, defaults=True)}`: {kind.title}.", ""]
        lines += [part + "\n" for part in map(_without_facts, paragraphs(kind)) if part]
        for label, text in _own_facts(kind).items():
            first, *more = text.splitlines()
            lines += (
                [f"- {label}: {first}", *(f"  - {line}" for line in more)]
                if not more
                else [f"- {label}:", *(f"  - {line}" for line in (first, *more))]
            )
        if example(kind):
            lines += ["", "```python", example(kind).partition("\n")[2], "```"]
    lines += profiles()
    lines += ["", "## References", "", "`leadline measures NAME --bibtex` prints them for BibTeX.", ""]
    lines += [f"- {reference.cited}: {_linked(reference)}" for reference in REFERENCES.values()]
    return "\n".join(lines) + "\n"


USUAL = {  # facts that an entry of the page leaves out, as its beginning says
    "average": "mean",
    "range": "0..1; larger is better",
    "undefined": "when nothing is relevant; such a query counts as 0 in the mean",
}
USUAL_PARAMETER = re.compile(r"rel: a number of at least 0; default 1|@k: a whole number of at least 1; .*")


def _without_facts(paragraph: str) -> str:
    """Return a paragraph without the sentences that the list of facts below it repeats."""
    for sentence in (
        "Needs `--config read.subtopics`.",
        "Needs `--config read.known`.",
        "Undefined for queries without a relevant document.",
    ):
        paragraph = paragraph.replace(sentence, "")
    return " ".join(paragraph.split())


def _own_facts(kind: type[Measure]) -> dict[str, str]:
    """Return the facts of a measure that are not those of most measures."""
    own = {label: text for label, text in facts(kind).items() if USUAL.get(label) != text}
    own.pop("cutoffs", None)
    own["parameters"] = "\n".join(
        line
        for line in own["parameters"].splitlines()
        if line != "none" and not USUAL_PARAMETER.fullmatch(line)
    )
    if "range" in own:
        own["range"] = own["range"].removesuffix("; larger is better")
    if "spellings" in own:
        own["spellings"] = own["spellings"].removesuffix("; upper and lower case are one")
    return {label: text for label, text in own.items() if text}


def _linked(reference: Reference) -> str:
    """Return a reference with its address as a link."""
    return re.sub(r"https?://\S+", lambda found: f"<{found[0]}>", reference.text)


def command_names() -> list[str]:
    """Return the names of the commands: those of their files, and of those that stand beside others."""
    files = (entry.name for entry in pkgutil.iter_modules(cli.__path__))
    return sorted([*_declared.BESIDE, *(name for name in files if name[0] != "_")])


def command_table() -> str:
    """Write the table from which a command's help and errors are made without importing it."""
    modules = {name: importlib.import_module(_declared.module_of(name)) for name in command_names()}
    return str(TABLE["table"](modules))


def commands() -> str:
    """Write the page of commands."""
    return str(TABLE["page"](NOTE, walk(group, "leadline")))


def walk(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and those below it, with their full names."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command_names() if command is group else command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None:
                yield from walk(found, f"{name} {below}")


MISSING = {
    "all": "counts as 0 in the mean",
    "both": "is left out of the mean",
    "with_relevant": "counts as 0 in the mean",
    "complete": "leaves the run without a mean; a notice says so, and the exit status is 0",
}
LEVELS = {
    "standard": "reached exactly",
    "trec9": "int(level R + 0.9) relevant documents",
    "trec10": "level R relevant documents, rounded",
}


def conventions(profile: Profile) -> dict[str, str]:
    """Return the conventions of a profile by topic."""
    return {
        "scores compared as": "32-bit floats, so that close scores are ties"
        if profile.narrow
        else "64-bit floats",
        "a query that the run lacks": MISSING[profile.queries],
        "the same with `-c`": "counts as 0 in the mean"
        + ("" if profile.prints_missing else "; `-f trec -q` does not print it"),
        "recall levels of IPrec and AvgIPrec": LEVELS[profile.interpolation],
        "names without parameters": "as in trec_eval: `P` is `P_5` .. `P_1000`"
        if profile.own_names
        else "as in this program: `P` is the precision of the whole list",
        "`rbp`, `rbp_resid` and `unj` in `all_trec`": "no" if profile.version == 9 else "yes",
        "fractional grades": "kept, and counted in a notice; trec_eval cuts them off"
        if profile.whole_grades
        else "kept",
        "lines that begin with `#`": "skipped" + "; trec_eval 9 refuses them" * (profile.version == 9),
    }


def profiles() -> list[str]:
    """Return the section of profiles."""
    found = [conventions(profile) for profile in PROFILES.values()]
    return [
        "",
        "## Profiles",
        "",
        "`--profile NAME` (Python: `profile=NAME`) sets arithmetic, averaging and names to those of another",
        "program. It does not change which input is accepted. With `-f trec`, `evaluate` prints the output",
        "format of that program, and `-c -l -m -M -n -J -q` mean what they mean there.",
        "",
        f"| | {' | '.join(f'`{name}`' for name in PROFILES)} |",
        "| --- |" + " --- |" * len(PROFILES),
        f"| computes as | {' | '.join(profile.says for profile in PROFILES.values())} |",
        *[f"| {label} | {' | '.join(one[label] for one in found)} |" for label in found[0]],
    ]


def api() -> str:
    """Write the reference of the Python interface and of JSON."""
    text: str = PYTHON["reference"](NOTE)
    return f"{text}\n{json_keys()}"


def methods() -> str:
    """Write the page of tests, intervals and corrections."""
    lines = [
        "# Tests, intervals and corrections",
        "",
        NOTE,
        "",
        "These are the values of `--test`, `--correction` and `-C interval`, as in `leadline compare QRELS",
        "OLD NEW --test Randomisation`. [Comparing](comparing.md) explains how to read the results.",
    ]
    registries: dict[str, Registry[Any]] = {
        "Tests": TESTS,
        "Intervals": INTERVALS,
        "Corrections": CORRECTIONS,
    }
    for title, registry in registries.items():
        lines += ["", f"## {title}", *_methods(registry, "###")]
    return "\n".join([*lines, "", FAMILIES]) + "\n"


def coefficients() -> str:
    """Write the page of the coefficients of agreement."""
    lines = [
        "# Agreement coefficients",
        "",
        NOTE,
        "",
        "`leadline agreement QRELS QRELS...` prints all of them. [Agreement](agreement.md) compares them.",
    ]
    return "\n".join([*lines, *_methods(COEFFICIENTS, "##")]) + "\n"


def _methods(registry: Registry[Any], level: str) -> Iterator[str]:
    """Yield the section of each method."""
    for name, kind in registry.classes.items():
        text = inspect.cleandoc(kind.__doc__ or "").partition(">>>")[0].strip()
        yield from (
            "",
            f"{level} {name}",
            "",
            f"`{outline(kind, defaults=True)}`: {kind.title}.",
            "",
            text,
            "",
        )
        yield from (f"- {fact}" for fact in _facts(kind))


FAMILIES = """## Many pairs at once

Two procedures take all pairs together instead of correcting the p values of single tests. The
[study of significance](studies/significance.md) measures their error rates and power on retrieval scores.

### MaxT

`--correction MaxT`: randomized max-t step-down procedure.

The signs of whole queries are flipped at random, the same in all pairs. For each pair, p is the share of
flips (including the observed one) in which the largest |t| of this pair and of all pairs with a smaller
|t| reaches the observed |t|, made monotone. Because the pairs keep their dependence, the procedure is less
conservative than Holm's correction. Because every pair is studentized, it does not assume equal variances as
Tukey's procedure does. It controls the family-wise error exactly if the runs of true null hypotheses are
exchangeable within queries, and asymptotically otherwise. With `--baseline`, only the pairs with a baseline
are in the family, as in Dunnett's procedure.

The simultaneous intervals are the mean difference plus and minus c standard errors. c is the quantile of the
largest |t| over all pairs in bootstrap resamples of the queries, with each t about the observed mean
(bootstrap-t). The intervals are wide if the differences of some pair are skewed. If interval and p disagree,
leadline moves the limit to 0, so that interval and verdict always agree. [Comparing](comparing.md#many-runs)
reports the measured coverage.

- source: Romano and Wolf 2005; Westfall and Young 1993; with one baseline Dunnett 1955

### Tukey

`--correction Tukey`: randomized Tukey HSD.

The values of each query are shuffled among the runs. The range of the means of all runs is the reference
distribution of every difference. It is not studentized, so pairs that vary more than other pairs are found
significant too often.

- source: Carterette 2012

## Equal differences, and groups of queries

If all differences are equal and not 0, there is no spread to test against. Every test then has the p of the
sign test, and the output says so. Tukey's procedure is an exception and keeps its own p.

With `--query-group FILE:COLUMN`, the t-test and its interval use the standard error of the jackknife over
groups (CR3; Bell and McCaffrey 2002). The degrees of freedom are the number of effective groups,
(sum n)^2 / sum n^2 for groups of n queries, minus one. The effect size is the mean difference divided by the
standard deviation of effective groups (the standard error times the square root of their number).
Randomization tests, `MaxT` and the inverted randomization test flip the signs of whole groups. Bootstrap
tests and intervals draw whole groups. The sign test takes the sign of a group's sum. Wilcoxon and Tukey
cannot take groups.
[Comparing](comparing.md#queries-that-depend-on-each-other) reports measured error rates."""


def _facts(kind: type[Parametric]) -> Iterator[str]:
    """Yield the null hypothesis or controlled error rate of a method, its aliases and its source."""
    for label, name in (("null hypothesis", "null"), ("controls", "controls")):
        if text := getattr(kind, name, ""):
            yield f"{label}: {text}"
    if kind.aliases:
        yield "aliases: " + ", ".join(kind.aliases)
    if text := getattr(kind, "source", ""):
        yield f"source: {text}"


def gallery() -> str:
    """Write the page of figures, from the list by which docs/figures.py draws them."""
    lines = [
        "# Gallery",
        "",
        NOTE,
        "",
        "The figures of leadline, each with the command that draws it. These commands write the files:",
        "",
        "```sh",
        'pip install "leadline[plots]"',
        "leadline demo --files cranfield",
        "leadline demo --files . --collection examples",
        "```",
        "",
        (
            'Use `.pdf` or `.png` for other formats. In Python, `result.plot("figure.svg")` draws the same '
            "figures. Your `matplotlibrc` sets width, font size and colors; these were drawn with "
            "`figure.figsize: 6, 6`. The height follows from the content."
        ),
    ]
    for figure in runpy.run_path(FIGURES)["FIGURES"]:
        lines += ["", f"## {figure.title}", "", f"![{figure.title}](figures/{figure.file})", ""]
        lines += [f"{figure.says} [More]({figure.page})", "", "```sh", figure.command, "```"]
    return "\n".join(lines) + "\n"


DRAW = "pool bm25.run dense.run --for P@5 --budget 2 -o drawn.tsv"
JSON = (
    ("evaluate", "qrels.txt bm25.run dense.run -m AP --per-query --intervals --bounds"),
    ("compare", "qrels.txt bm25.run dense.run -m AP"),
    ("rank", "scores.csv -m AP"),
    ("difference", "qrels.txt bm25.run dense.run"),
    ("curve", "qrels.txt bm25.run dense.run"),
    ("explain", "qrels.txt bm25.run -m AP --query-id knots"),
    ("suite", "suite.toml -m AP"),
    ("check", "qrels.txt bm25.run"),
    ("collection", "docs.jsonl queries.jsonl qrels.txt"),
    ("agreement", "judges.csv -C resample=pairs"),
    ("pool", "bm25.run dense.run --depth 2 -o pool.tsv"),
    ("evaluate --pool", "qrels.txt bm25.run dense.run --pool drawn.tsv -m P@5"),
    ("sampled", "qrels.txt bm25.run dense.run -m AP -m RR --population 20"),
    ("histogram", "qrels.txt bm25.run dense.run --bins 4"),
    ("predict", "bm25.run dense.run"),
    ("unjudged", "bm25.run dense.run --method nruns"),
    ("abtest", "--a 46/10000 --b 60/10000"),
)


@cache
def json_keys() -> str:
    """Write the section of the keys of JSON, from what the commands print on the examples."""
    lines = [
        "## JSON",
        "",
        "`-f json` and `-o FILE.json` write one object. Undefined values are `null`, and numbers have full",
        "precision. `<run>` and `<measure>` stand for keys that depend on the data, `[]` for each entry of a",
        "list. The keys are those of the commands shown, run on docs/examples. Other commands may add keys.",
        "In Python, `to_dict()` of a result has the same keys without the first five.",
        "",
        "Limits of intervals are raw: those of a difference in AP may be -2.15 and 2.15. Tables, sentences,",
        "LaTeX and figures clip them to the range of the measure.",
        "",
        "Every object begins with:",
        "",
        "- `leadline`: version of the program",
        "- `command`: name of the command",
        "- `inputs`: files read: `path`, `sha256`, `rows`",
        "- `options`: all options in effect, also those that were not given",
        "- `warnings`: what is printed below the table: `code` (stable), `message`, `count`",
        "",
        "These keys mean the same wherever a command has them:",
        "",
        *[f"- `{key}`: {says}" for key, says in KEYS["SHARED"].items()],
    ]
    described: set[tuple[str, str]] = set()
    for name, words in JSON:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
            said, notes = io.StringIO(), io.StringIO()
            with (
                contextlib.redirect_stdout(said),
                contextlib.redirect_stderr(notes),
                contextlib.chdir(folder),
            ):
                if "drawn.tsv" in words:
                    group.main(DRAW.split(), standalone_mode=False)
                    said.truncate(said.seek(0))
                group.main([name.split()[0], *words.split(), "-f", "json"], standalone_mode=False)
            printed = json.loads(said.getvalue())
        found = list(
            dict.fromkeys(ATTRIBUTES["keys"]({key: printed[key] for key in printed if key not in BEGIN}))
        )
        found = [  # without a list that is empty in one place only
            path for path in found if not any(other.startswith(f"{path}[]") for other in found)
        ]
        own = {path: meaning_of(name, path) for path in found if not path.endswith(tuple(KEYS["SHARED"]))}
        known = {path for path, says in own.items() if (path.rpartition(".")[2], says) in described}
        described |= {(path.rpartition(".")[2], says) for path, says in own.items()}
        lines += ["", f"### JSON of {name}", "", f"`leadline {name.split()[0]} {words} -f json`", ""]
        lines += ATTRIBUTES["merged"]({path: says for path, says in own.items() if path not in known})
        lines += [f"- as above: {', '.join(f'`{path}`' for path in own if path in known)}"] if known else []
    return "\n".join(lines) + "\n"


def meaning_of(command: str, path: str) -> str:
    """Return what a key of JSON means: by the list of keys, or by the docstring of its record."""
    own = KEYS["KEYS"].get(command, {})
    if path in own:
        return str(own[path])
    place, _, key = path.rpartition(".")
    record = KEYS["RECORDS"].get(command, {}).get(place)
    if record is not None and (says := ATTRIBUTES["meanings"](record).get(key)):
        return re.sub(r"\b(?:None|NaN)\b", "`null`", says)
    parts = path.split(".")
    ends = [".".join(parts[start:]) for start in range(len(parts))]
    for end in ends:
        if end in KEYS["SHARED"]:
            return str(KEYS["SHARED"][end])
    raise LookupError(f"docs/keys.py has no meaning of `{path}` of {command}")


BEGIN = {"leadline", "command", "inputs", "options", "warnings"}
DECLARED = "../src/leadline/cli/commands.json"
NAMES = "../src/leadline/cli/names.json"
PAGES: dict[str, Callable[[], str]] = {
    DECLARED: command_table,
    NAMES: TABLE["names"],
    "gallery.md": gallery,
    "api.md": api,
    "measures.md": measures,
    "commands.md": commands,
    "statistics.md": methods,
    "coefficients.md": coefficients,
    "studies/seeds.md": lambda: SEEDS["page"](NOTE),
}


def by_hand() -> list[str]:
    """Return the pages written by hand that show what a command prints, as paths from here."""
    names = [os.path.join("..", name) for name in os.listdir(os.path.join(FOLDER, ".."))]
    names += os.listdir(FOLDER)
    names += [os.path.relpath(path, FOLDER) for path in glob.glob(os.path.join(FOLDER, "howto", "*.md"))]
    return sorted(
        name for name in names if name.endswith(".md") and name not in PAGES and CONSOLE.search(current(name))
    )


def with_examples(text: str) -> str:
    """Return a page with fresh output under every `$ leadline ...` of its console blocks."""
    return CONSOLE.sub(lambda block: f"```console\n{_fresh(block[1])}```\n", text)


def _fresh(block: str) -> str:
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
        if "cranfield/" in block:
            run(["leadline", "demo", "--files", "cranfield"], folder)
        for command in commands:
            ours = command.startswith("$ leadline ")
            printed = run(shlex.split(command)[1:], folder) if ours else ""
            if "leadline: error:" in printed and "leadline: error:" not in block:
                raise RuntimeError(f"{command}\n{printed}")  # a page shows an error only where it is written
            parts.append(f"{command}\n{printed}")
    return "\n".join(parts)


def run(words: list[str], folder: str) -> str:
    """Run `leadline ...` in a folder and give what it printed."""
    done = subprocess.run(  # our own program, with words from our own pages
        [sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    if "Traceback" in done.stderr:
        raise RuntimeError(done.stderr)
    return done.stdout + done.stderr


def stale() -> dict[str, str]:
    """Return the pages that differ from what the code says, with what they should hold."""
    wanted = {name: page() for name, page in PAGES.items()}
    wanted |= {name: with_examples(current(name)) for name in by_hand()}
    return {name: text for name, text in wanted.items() if current(name) != text}


def current(name: str) -> str:
    """Return a page as it stands in the folder; nothing when it is missing."""
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def written(name: str, text: str) -> None:
    """Write a page and say so."""
    path = os.path.join(FOLDER, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    sys.stdout.write(f"{os.path.normpath(os.path.join('docs', name))} written\n")


def main(arguments: list[str]) -> int:
    """Write the pages, or only say which are stale."""
    if "--check" not in arguments and (text := command_table()) != current(DECLARED):
        written(DECLARED, text)  # first: helps and examples are made of it
    pages = stale()
    for name, text in pages.items():
        if "--check" in arguments:
            shown = os.path.normpath(os.path.join("docs", name))
            sys.stderr.write(f"{shown} is stale; `make docs` writes it anew\n")
            continue
        written(name, text)
    return 1 if pages and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
