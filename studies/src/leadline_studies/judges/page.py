"""Numbers of the page on other judges."""

from __future__ import annotations

from pathlib import Path

from leadline_studies.common.pages import Json, leadline, read_result, run_all

NAME = "judges"
SET, CHALLENGE = "trec-dl-2019-passage", "llmjudge-dl23"
LABELS = "../dl19-rejudged-8judges/labels.tsv"
COMMAND = "judges qrels.txt runs/* " + " ".join(f"--judges {LABELS}:judge{number}" for number in range(1, 9))
STUDIES = {
    "dl19": "all relevant grades, documents without a judgment as not relevant",
    "dl19-official": "the measures of the track",
    "dl19-judged": "documents without a judgment dropped",
}
OPTIONS = {"dl19-official": ' --measure "AP(rel=2)" --measure nDCG@10', "dl19-judged": " --judged-only"}
PRINTED = {
    "willia-umbrela1": 0.286,
    "h2oloo-zeroshot1": 0.282,
    "h2oloo-fewself": 0.277,
    "TREMA-nuggets": 0.060,
}
FIGURES = {"dl19/AP": "judges-ap.svg"}
FIGURES |= {part: f"judges-{part}.svg" for part in ("people", "machines", "all")}


def collect(out: Path, data: Path) -> Json:
    """Run the study in three forms, and `leadline agreement` on people and on machines."""
    commands = {name: (SET, COMMAND + OPTIONS.get(name, "")) for name in STUDIES}
    studies = run_all(commands, out, data)
    folder = data / CHALLENGE
    machines = ["human.qrels.txt", *sorted(f"judges/{path.name}" for path in (folder / "judges").iterdir())]
    _agreement([LABELS], out / "people", data / SET)
    _agreement([*machines, "--reference"], out / "machines", folder)
    _agreement(machines, out / "all", folder)
    files = {kind: read_result(out / f"{kind}.json") for kind in ("people", "machines")}
    return {"studies": studies, "files": files}


def _agreement(words: list[str], path: Path, folder: Path) -> None:
    """Run `leadline agreement` in a folder, unless its output exists."""
    if not path.with_suffix(".json").exists():
        outputs = ("-f", "none", "-o", f"{path}.json", "-o", f"{path}.svg")
        leadline("agreement", *words, *outputs, folder=folder)


def facts(kept: Json) -> Json:
    """Return the summaries, the agreement of people, and the best and the last machines."""
    studies, files = kept["studies"], kept["files"]
    every = files["people"]["cohen"]["between"]
    by_machine = {
        name: {entry["b"]: entry for entry in files["machines"][name]["between"]}
        for name in ("scott", "cohen")
    }
    ordered = sorted(by_machine["cohen"].values(), key=lambda entry: -float(entry["value"]))
    rows = [
        (words, m, entry) for name, words in STUDIES.items() for m, entry in studies[name]["summary"].items()
    ]
    return {
        "rows": rows,
        "official": [entry["value"] for entry in every if "official" in (entry["a"], entry["b"])],
        "between": [entry["value"] for entry in every if "official" not in (entry["a"], entry["b"])],
        "machines": ordered,
        "printed": PRINTED,
        "inside": sum(
            any(by_machine[name][judge]["acceptable"] for name in by_machine) for judge in by_machine["cohen"]
        ),
    }
