"""Numbers of the page on query performance prediction."""

from __future__ import annotations

from pathlib import Path

import leadline as ll
from leadline_studies.common.pages import Json, run_all

NAME = "query-prediction"
SETS = ("cranfield", "cisi", "cacm", "npl", "nfcorpus-test")
SWEEPS = 300
COMMAND = f"{NAME} docs.jsonl* queries.jsonl qrels.txt --sweeps {SWEEPS}"
ABOUT = ("inputs", "options", "command", "leadline", "warnings")
PREDICTORS = {
    "WIG(tail,length=root)": "`WIG(tail,length=root)`",
    "WIG(tail)": "`WIG(tail)`",
    "NQC(tail)": "`NQC(tail)`",
    "Clarity": "`Clarity`",
    "DeShaTo(total)": "`DeShaTo(total)`",
    "DeShaTo(sum_s)": "its skewness of the sum, `sum_s`",
    "DeShaTo(product_k)": "its kurtosis of the product, `product_k`",
    "QueryLength": "the control, `QueryLength`",
}
FIGURES = {
    f"{name}/{part}": f"{NAME}-{name}-{part}.svg" for name in SETS for part in ("correlations", "expansion")
}


def collect(out: Path, data: Path) -> Json:
    """Run the study on every collection."""
    results = run_all({name: (name, COMMAND) for name in SETS}, out, data)
    found = {
        name: {key: value for key, value in data.items() if key not in ABOUT}
        for name, data in results.items()
    }
    return {"leadline": ll.__version__, "sweeps": SWEEPS, "found": found}


def policies(expansion: Json) -> dict[tuple[str, str], Json]:
    """Return the policies by name and rule."""
    return {(row["policy"], row["rule"]): row for row in expansion["policies"]}


def counted(expansions: list[Json]) -> Json:
    """Count the choices that are better and worse than always the better model."""
    tables = [policies(expansion) for expansion in expansions]
    rows = [row for table in tables for row in table.values() if row["policy"] not in ("always", "oracle")]
    clear = [row for row in rows if row["p_corrected"] is not None and row["p_corrected"] < 0.05]
    learned = [row["difference"] for row in rows if row["rule"] != "compare"]
    return {
        "tried": len(rows),
        "up": sum(row["difference"] > 0 for row in clear),
        "down": sum(row["difference"] < 0 for row in clear),
        "oracle": [table["oracle", ""]["difference"] for table in tables],
        "best": max(row["difference"] for row in rows),
        "worst": min(learned),
        "positive": sum(difference > 1e-9 for difference in learned),
        "learned": len(learned),
    }


def facts(kept: Json) -> Json:
    """Return tau of every predictor over models and collections, and what selection gains."""
    results = kept["found"]
    tables = [
        {row["predictor"]: row["kendall"] for row in data["correlations"] if row["run"] == model}
        for data in results.values()
        for model in data["models"]
    ]
    own = [table["DeShaTo(total)"]["value"] for table in tables]
    return {
        "results": results,
        "names": PREDICTORS,
        "taus": {name: [table[name] for table in tables] for name in PREDICTORS},
        "ahead": {
            name: sum(value > table[name]["value"] for value, table in zip(own, tables, strict=True))
            for name in ("Clarity", "NQC(tail)", "WIG(tail,length=root)")
        },
        "policies": {name: policies(data["expansion"]) for name, data in results.items()},
        "count": counted([data["expansion"] for data in results.values()]),
    }
