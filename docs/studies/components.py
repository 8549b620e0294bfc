"""Run the study of components on public collections and write its page and figures.

`python docs/studies/components.py DATA` writes components.json, the figures and components.md beside this
file. DATA holds folders with docs.jsonl (or .gz), queries.jsonl and qrels.txt. With `--page` alone it writes
the page again from components.json.
"""  # noqa: INP001

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import leadline as ll
from leadline.plots import picture
from leadline.studies import study
from leadline.studies.components import best_of

HERE = Path(__file__).parent
KEPT = HERE / "components.json"
SETS = ("cranfield", "cisi", "cacm", "npl", "nfcorpus-test")
NOTE = "<!-- Made by docs/studies/components.py from the output of the study. -->"
Found = dict[str, Any]


def run(data: Path) -> None:
    """Conduct the study on every collection, draw its figure, keep what it found."""
    found: dict[str, Found] = {}
    for name in SETS:
        folder = data / name
        docs = str(next(folder.glob("docs.jsonl*")))
        outcome = study("components").run(
            docs, str(folder / "queries.jsonl"), str(folder / "qrels.txt")
        )
        figure = HERE / f"components-{name}.svg"
        figure.write_bytes(picture(outcome.figures["effects"], "svg"))
        found[name] = outcome.data | {"lines": list(outcome.lines)}
        sys.stderr.write(f"{name}: {outcome.lines[-1]}\n")
    KEPT.write_text(json.dumps({"leadline": ll.__version__, "found": found}, indent=1) + "\n")


def shown(row: Found, *, digits: int = 3) -> str:
    """Write an effect with its interval, bold when it is told apart from nothing."""
    text = f"{row['difference']:+.{digits}f}"
    bold = f"**{text}**" if row["told_apart"] else text
    return f"{bold} [{row['low']:+.{digits}f}, {row['high']:+.{digits}f}]"


def across(found: dict[str, Found], part: str, first: str, second: str) -> list[str]:
    """Write one kind of effect, a row each, collections beside each other."""
    lines = [
        f"| {first} | {second} | {' | '.join(SETS)} |",
        "| --- | --- |" + " --- |" * len(SETS),
    ]
    for rows in zip(*(found[name][part] for name in SETS), strict=True):
        cells = " | ".join(map(shown, rows))
        lines.append(f"| {rows[0]['component']} | {rows[0]['what']} | {cells} |")
    return lines


def cells(found: dict[str, Found]) -> list[str]:
    """Write the mean of every cell, bold the best of its collection."""
    lines = ["| stems | stop words | weighting | " + " | ".join(SETS) + " |"]
    lines.append("| --- | --- | --- |" + " ---: |" * len(SETS))
    most = [max(cell["mean"] for cell in found[name]["cells"]) for name in SETS]
    for rows in zip(*(found[name]["cells"] for name in SETS), strict=True):
        means = [
            f"**{row['mean']:.3f}**" if row["mean"] == best else f"{row['mean']:.3f}"
            for row, best in zip(rows, most, strict=True)
        ]
        start = rows[0]
        lines.append(
            f"| {start['stem']} | {start['stop']} | `{start['model']}` | {' | '.join(means)} |"
        )
    return lines


def counts(found: dict[str, Found]) -> str:
    """Say how large the collections are."""
    return "; ".join(
        f"{name}: {data['documents']:,} documents, {data['queries']} queries"
        for name, data in found.items()
    )


def span(rows: list[Found]) -> str:
    """Write the smallest and the largest effect."""
    values = [row["difference"] for row in rows]
    return f"{min(values):+.3f} to {max(values):+.3f}"


def helped(rows: list[Found]) -> str:
    """Say in how many collections an effect is told apart, and which way."""
    up = sum(row["told_apart"] and row["difference"] > 0 for row in rows)
    down = sum(row["told_apart"] and row["difference"] < 0 for row in rows)
    return f"helps in {up} of {len(rows)} collections" + (f" and harms in {down}" if down else "")


def full(found: dict[str, Found]) -> str:
    """Write what the last weighting has above the first where stems and stop words are dealt with."""
    last = [[cell["mean"] for cell in found[name]["cells"][15:]] for name in SETS]
    gaps = [means[4] - means[0] for means in last]
    return f"{min(gaps):.3f} to {max(gaps):.3f}"


def wrapped(text: str) -> str:
    """Break the lines of paragraphs; tables, lists, figures and commands stay as they are."""
    return (
        "\n\n".join(
            part if part[0] in "|-#!< " else "\n".join(textwrap.wrap(part, 110))
            for part in text.strip("\n").split("\n\n")
        )
        + "\n"
    )


def page(kept: Found) -> str:
    """Write the page: words with the numbers found."""
    found = kept["found"]
    effects = [[found[name]["effects"][place] for name in SETS] for place in range(6)]
    alone = [[found[name]["by_weighting"][place] for name in SETS] for place in range(10)]
    verdicts = [best_of(found[name]) for name in SETS]
    firsts = sum(best == "weighting" for best, _ in verdicts)
    clear = [name for name, (_, said) in zip(SETS, verdicts, strict=True) if "not told" not in said]
    equal = [name for name in SETS if not found[name]["contests"][2]["told_apart"]]
    return wrapped(PAGE.format(
        note=NOTE, version=kept["leadline"], rules=found[SETS[0]]["rules"], counts=counts(found),
        firsts=firsts, sets=len(SETS), clear=", ".join(clear) or "none", clears=len(clear),
        stems=span(effects[0]), stems_helped=helped(effects[0]),
        stops=span(effects[1]), stops_helped=helped(effects[1]),
        cosine=span(effects[2]), cosine_helped=helped(effects[2]),
        idf=span(effects[3]), idf_helped=helped(effects[3]),
        bm25=span(effects[5]), bm25_helped=helped(effects[5]),
        stops_tf=span(alone[5]), stops_idf=span(alone[7]), stops_bm25=span(alone[9]),
        full=full(found), equal=", ".join(equal) or "none", equals=len(equal),
        verdicts="\n".join(
            f"- {name}: {said}" for name, (_, said) in zip(SETS, verdicts, strict=True)
        ),
        effects="\n".join(across(found, "effects", "component", "step")),
        by_weighting="\n".join(across(found, "by_weighting", "component", "weighting")),
        contests="\n".join(across(found, "contests", "component", "less")),
        cells="\n".join(cells(found)),
        figures="\n".join(f"![Effects, {name}](components-{name}.svg)" for name in SETS),
    ))  # fmt: skip


PAGE = """# Which component is best: stemming, stop words, weighting

{note}

A question of every course on retrieval, asked of five public collections. Each text is indexed with and
without stems, with and without stop words, and searched with five weightings: 20 systems a collection. The
effect of a component is what it adds to the AP of a query, in the mean over the settings of the others; it is
paired by query. Method: {rules}, per table and collection.
leadline {version}; {counts}; first 1,000 documents.

**Answer.** Weighting has the largest effect in {firsts} of {sets} collections, and in {clears} it is told
apart from both other components ({clear}). What makes the difference is idf: from `TF(dot)` to `TFIDF(dot)`
AP changes by {idf} ({idf_helped}), from `TF(dot)` to `BM25` by {bm25} ({bm25_helped}). The cosine alone,
`TF(dot)` to `TF(cosine)`, changes it by {cosine} ({cosine_helped}). Stemming changes AP by {stems}
({stems_helped}), removing stop words by {stops} ({stops_helped}). These two are not told apart from each
other in {equals} of {sets} collections ({equal}).

{verdicts}

**How far it carries.** The size of an effect depends on what it is set against. `TF(dot)` is a weak start:
weighting would have less to add to a better one. The best of four weightings is chosen after looking, so it
is flattered a little; the intervals do not know that. With stems and without stop words `BM25` is
still {full} above `TF(dot)` (no
interval). And the components overlap: removing stop words adds
{stops_tf} under `TF(dot)`, but {stops_idf} under `TFIDF(dot)`, where idf has made them light already, and
{stops_bm25} under `BM25`. Stop words are the short list of leadline (`basic`), stems are Snowball's; other
lists and stems were not tried. The texts of nfcorpus-test come with stop words already removed.

## Effects

Difference in AP with its interval; bold: told apart from nothing (p corrected below 0.05).

{effects}

{figures}

## One component against another

What the first adds less what the second adds; of the weightings the best of the collection takes part.

{contests}

## Stemming and stop words under each weighting

{by_weighting}

## AP of every system

{cells}

Bold: the best of its collection.

## To repeat it

    leadline study components SET/docs.jsonl SET/queries.jsonl SET/qrels.txt -o OUT/SET
    python docs/studies/components.py DATA
"""


def main(arguments: list[str]) -> None:
    """Run what was asked for and write the page."""
    if "--page" not in arguments:
        run(Path(arguments[0]))
    (HERE / "components.md").write_text(page(json.loads(KEPT.read_text())), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
