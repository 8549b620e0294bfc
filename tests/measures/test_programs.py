"""Values that NTCIREVAL, pyNTCIREVAL, torchmetrics and BEIR print; `programs/` has them and their script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES

KEPT = json.loads((Path(__file__).parent / "programs" / "values_of_programs.json").read_text())
SCALES = ("linear", "exp")
# Each name with the measure here; {gains} are the gains of grades, {gain} the form of ERR with these gains.
OF_NTCIREVAL = {
    "RR": "RR",
    "O-measure": "O-measure(gains={gains})",
    "P-measure": "P-measure(gains={gains})",
    "P-plus": "P-plus(gains={gains})",
    "AP": "AP",
    "Q-measure": "Q-measure(gains={gains})",
    "NCUgu,P": "NCUguP(stop=1:1/2:5/3:6)",
    "NCUgu,BR": "NCUguBR(gains={gains},stop=1:1/2:5/3:6)",
    "NCUrb,P": "NCUrbP",
    "NCUrb,BR": "NCUrbBR(gains={gains})",
    "NCUrb,IE": "NCUrbIE(p=0.9)",
    "GAP": "GAP(weights=level)",
    "RBP": "RBP(gain=graded,max_grade=3,p=0.95)",
    "ERR": "ERR(gain={gain},max_grade=3)",
    "EBR": "EBR(gain={gain},max_grade=3)",
    "iRBU": "iRBU(gain={gain},max_grade=3,p=0.9)",
    **{
        f"{name}@{k:04}": f"{measure}@{k}"
        for k in (3, 8)
        for name, measure in {
            "AP": "AP(norm=min)",
            "Q": "Q(gains={gains},norm=min)",
            "GAP": "GAP(weights=level,norm=min)",
            "nDCG": "nDCG(discount=jk)",
            "MSnDCG": "GnDCG(gains={gains})",
            "P": "P",
            "RBP": "RBP(gain=graded,max_grade=3,p=0.95)",
            "ERR": "ERR(gain={gain},max_grade=3)",
            "nERR": "nERR(gain={gain},max_grade=3)",
            "EBR": "EBR(gain={gain},max_grade=3)",
            "iRBU": "iRBU(gain={gain},max_grade=3,p=0.9)",
            "Hit": "Success",
        }.items()
    },
}
OF_CONDENSED_LISTS = {
    "bpref": "bpref",
    "bpref_R": "bpref_R",
    "bpref_N": "bpref_N",
    "bpref_relative": "bpref_relative",
    "rpref_N": "rpref_N",
    "rpref_relative": "rpref_relative",
    "rpref_relative2": "GAP",
}
OF_PYNTCIREVAL = {
    "OMeasure": "OMeasure(gains={gains})",
    "PMeasure": "PMeasure(gains={gains})",
    "PPlusMeasure": "PPlusMeasure(gains={gains})",
    "QMeasure": "q_measure(gains={gains})",
    "QMeasure@0005": "q_measure(gains={gains},beta=2.5,norm=min)@5",
    "NCUguP": "NCUguP(stop=1:1/2:5/3:6)",
    "NCUguBR": "NCUguBR(gains={gains},stop=1:1/2:5/3:6)",
    "NCUrbP": "NCUrbP(gamma=0.8)",
    "NCUrbBR": "NCUrbBR(gains={gains},gamma=0.8)",
    "ERR": "ERR(gain={gain},max_grade=3)",
    "nERR@0005": "nERR(gain={gain},max_grade=3)@5",
}


def found(case: dict[str, Any], text: str, scale: str, *, condensed: bool = False) -> float:
    listed = [level for level in case["listed"] if level is not None or not condensed]
    judged = [level for level in [*case["listed"], *case["rest"]] if level is not None]
    gains = "1:1/2:2/3:3" if scale == "linear" else "1:1/2:3/3:7"
    return MEASURES.parse(text.format(gains=gains, gain=scale)).of(listed, judged=judged)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", OF_NTCIREVAL)
def test_what_ntcireval_prints(name: str, scale: str) -> None:
    text = OF_NTCIREVAL[name]
    if scale == "exp" and name.startswith(("RBP", "nDCG")):
        pytest.skip("the gain is the grade here")
    for case in KEPT["lists"]:
        assert found(case, text, scale) == pytest.approx(case["values"][scale][name], abs=5.001e-5)


@pytest.mark.parametrize("name", OF_CONDENSED_LISTS)
def test_what_ntcireval_prints_for_lists_of_judged_documents_only(name: str) -> None:
    for case in KEPT["lists"]:
        printed = case["values"]["linear condensed"][name]
        assert found(case, OF_CONDENSED_LISTS[name], "linear") == pytest.approx(printed, abs=5.001e-5) or (
            name == "rpref_relative2"
        )
        assert found(case, OF_CONDENSED_LISTS[name], "linear", condensed=True) == pytest.approx(
            printed, abs=5.001e-5
        )


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", OF_PYNTCIREVAL)
def test_what_pyntcireval_returns(name: str, scale: str) -> None:
    tried = 0
    for case in KEPT["lists"]:
        values = case["values"].get(f"{scale} pyNTCIREVAL")
        if values:
            assert found(case, OF_PYNTCIREVAL[name], scale) == pytest.approx(values[name], rel=1e-12)
            tried += 1
    assert tried >= 15


def test_every_number_that_ntcireval_prints_is_tried() -> None:
    for case in KEPT["lists"]:
        printed = set(case["values"]["linear"]) | set(case["values"]["linear condensed"])
        assert printed == set(OF_NTCIREVAL) | set(OF_CONDENSED_LISTS)


def test_fall_out_and_the_area_of_torchmetrics() -> None:
    for case in KEPT["torchmetrics"]:
        names = [f"d{place}" for place in range(len(case["target"]))]
        qrels = {"q": dict(zip(names, case["target"], strict=True))}
        run = {"q": dict(zip(names, case["scores"], strict=True))}
        for text, value in case["values"].items():
            measure = text.removesuffix("@None")
            assert evaluate(qrels, run, measure).mean("run", measure) == pytest.approx(value, abs=1e-6)


def test_capped_recall_and_holes_of_beir_where_no_document_is_judged_for_another_query() -> None:
    kept = KEPT["beir"]
    values = {text.replace("Hole", "Unj"): value for text, value in kept["values"].items()}
    for text, value in (values | kept["values"]).items():
        assert evaluate(kept["qrels"], kept["run"], text).mean("run", text) == pytest.approx(
            value, abs=5.001e-6
        )
