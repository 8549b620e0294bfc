"""The text grammar of measures, and registries that find named classes by looking."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from leadline.data.registry import Parametric, Registry, choice, cutoff, number, recall_level, whole
from leadline.errors import UnknownNameError, UsageError
from leadline.measures import MEASURES

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


# Ours, those of trec_eval, pytrec_eval, ranx, MTEB and ir_measures, any case, defaults, odd numbers.
SPELLINGS = {
    "AP": "AP; map; MAP; ap;  AP ; AP(rel=1); AP(rel=1.0); AP()",
    "AP@100": "AP@100; map@100; map_at_100",
    "nDCG@10": "nDCG@10; ndcg_cut_10; ndcg_cut.10; ndcg@10; ndcg_at_10; NDCG@10",
    "nDCG(gain=exp)@10": "nDCG(gain=exp)@10; ndcg_burges@10",
    "P(rel=2)@5": "P(rel=2)@5; precision@5-l2; P( rel = 2 )@5",
    "IPrec@0.1": "IPrec@0.1",
    "F(beta=2)@10": "F(beta=2)@10",
    "nDCG(discount=jk)@10": "nDCG(discount=jk)@10",
    "E(beta=2)@10": "E(beta=2)@10",
    "RankOf": "RankOf(n=1)",
    "RankOf(n=all)": "RankOf(n=all)",
    "AP@10": "map_cut_10",
    "nDCG": "ndcg",
    "RR": "recip_rank; mrr",
    "P@5": "P_5; P.5; precision@5; P(cutoff=5); P@5.0; P@05",
    "R@1000": "recall_1000; recall.1000",
    "Bpref": "bpref",
    "Rprec": "Rprec; r-precision",
    "Success@1": "success_1",
    "P": "set_P; precision; SetP",
    "R": "set_recall; SetR",
    "F": "set_F",
    "NumQ": "num_q",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
    "IPrec(rule=trec10)@0.2": "iprec_at_recall_0.20",
    "IPrec(rule=trec10)@1": "iprec_at_recall.1",
    "RR@10": "mrr@10",
    "R@100": "recall@100",
    "F@5": "f1@5",
    "Success@3": "hit_rate@3",
    "NumRelRet@3": "hits@3",
    "AP(rel=2)": "map-l2; AP(rel=2.0)",
    "DCG@5": "dcg@5",
    "F(beta=2,form=linear)": "SetF(beta=2)",
    "R@5": "recall(cutoff=5)",
    "P@1000": "P@1e3",
    "AP(rel=0)": "AP(rel=-0)",
    "AP(rel=0.5)": "AP(rel=0.5)",
}


@pytest.mark.parametrize("canonical", SPELLINGS)
def test_a_text_means_one_measure(canonical: str) -> None:
    for written in SPELLINGS[canonical].split("; "):
        assert str(MEASURES.parse(written)) == canonical, written
        assert MEASURES.expand(written) == [MEASURES.parse(canonical)]


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("P.5,10", ["P@5", "P@10"]),
        ("P_5,10", ["P@5", "P@10"]),
        ("nDCG@5,10", ["nDCG@5", "nDCG@10"]),
        ("P(rel=2)@5, 10", ["P(rel=2)@5", "P(rel=2)@10"]),
        ("iprec_at_recall..10,.20", ["IPrec(rule=trec10)@0.1", "IPrec(rule=trec10)@0.2"]),
        ("ndcg_cut", [f"nDCG@{k}" for k in CUTOFFS]),
        ("map_cut", [f"AP@{k}" for k in CUTOFFS]),
        ("recall", [f"R@{k}" for k in CUTOFFS]),
        ("success", ["Success@1", "Success@5", "Success@10"]),
        (
            "iprec_at_recall",
            [
                f"IPrec(rule=trec10)@{level}"
                for level in ("0", 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, "1")
            ],
        ),
    ],
)
def test_a_list_or_a_spelling_of_trec_eval_may_mean_several(written: str, canonical: list[str]) -> None:
    assert [str(measure) for measure in MEASURES.expand(written)] == canonical
    with pytest.raises(
        UsageError,
        match=rf"stands for {len(canonical)} measures\. Pass only one, such as {re.escape(canonical[0])}\.$",
    ):
        MEASURES.parse(written)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("P@0", "the cutoff must be a whole number of at least 1, not 0"),
        ("P_5,0", "the cutoff must be a whole number of at least 1, not 0"),
        ("P@1e999", "the cutoff must be a whole number from 1 to 1000000000, not 1e999"),
        ("P@1000000001", "the cutoff must be a whole number from 1 to 1000000000, not 1000000001"),
        ("P@-1", "the cutoff must be a whole number of at least 1, not -1"),
        ("P@2.5", "the cutoff must be a whole number"),
        ("P@x", "the cutoff must be a whole number"),
        ("P@1_0", "the cutoff must be a whole number"),
        ("P@٣", "the cutoff must be a whole number"),
        ("P@nan", "the cutoff must be a whole number"),
        ("P@inf", "the cutoff must be a whole number"),
        ("P@1e300", "the cutoff must be a whole number"),
        ("P@5,,10", "the cutoff must be a whole number"),
        ("IPrec@1.5", "the cutoff must be a number from 0 to 1, not 1.5"),
        ("IPrec@nan", "the cutoff must be a number from 0 to 1, not nan"),
        ("IPrec@-0.1", "the cutoff must be a number from 0 to 1"),
        ("IPrec", "IPrec needs a cutoff. Write IPrec@0.1"),
        ("Success", "Success needs a cutoff. Write Success@10"),
        ("Success(rel=2)", "Success needs a cutoff"),
        ("AP(rel=high)", "rel must be a number of at least 0, not high"),
        ("AP(rel=-1)", "rel must be a number of at least 0, not -1"),
        ("AP(rel=nan)", "rel must be a number"),
        ("AP(rel=inf)", "rel must be a number"),
        ("F(beta=-1)", "beta must be a number from 0 to 1000000"),
        ("nDCG(gain=log)@10", "gain must be linear or exp, not log"),
        ("nDCG(gain=)@10", "gain must be linear or exp, not ''"),
        ("RankOf(n=most)", "n must be a whole number of at least 1, or all, not most"),
        ("AP(depth=3)", "AP has no parameter 'depth'. Its parameters are rel, norm, cutoff"),
        ("infAP(depth=3)", "infAP has no parameter 'depth'. Its only parameter is rel"),
        ("NumQ(rel=1)", "NumQ has no parameter 'rel'. It has no parameters"),
        ("AP(rel)", "'rel' is not of the form name=value"),
        ("AP(2)", "'2' is not of the form name=value"),
        ("P(rel=1,rel=2)@5", "rel is given twice"),
        ("P(rel=1)@5-l2", "rel is given twice"),
        ("P(cutoff=5)@10", "cutoff is given twice"),
        ("Rprec@10", "Rprec takes no cutoff. Use Rprec"),
        ("RBP.5,10", "For cutoffs, write RBP@5,10"),
        ("RBP.95.5", "For cutoffs, write RBP@10"),
        ("bpref_R@10", "bpref_R takes no cutoff. Use bpref_R"),
        ("set_P_5", "set_P takes no cutoff. Use set_P or P@5"),
        ("set_F.0.5", "set_F takes no cutoff. Use set_F or F"),
        ("SetR@5", "SetR takes no cutoff. Use SetR or R@5"),
        ("ndcg@10-l2", "nDCG has no parameter 'rel'. Every positive grade gives a gain"),
        ("dcg@10-l2", "even one below the relevance level (in ranx, such a grade gives none)"),
    ],
)
def test_a_wrong_parameter_is_refused_when_it_is_read(written: str, says: str) -> None:
    with pytest.raises(UsageError) as refusal:
        MEASURES.expand(written)
    assert says in str(refusal.value)
    assert str(refusal.value).startswith(f"measure '{written}': ")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("written", "nearest"),
    [
        ("nDGC@10", "Did you mean nDCG@10"),
        ("nDGC", "Did you mean nDCG"),
        ("nDGC@0.1", "Did you mean nDCG,"),  # what is offered can be used
        ("ndgc_cut_10", "nDCG@10"),
        ("iprec_at_recal_0.2", "IPrec@0.2"),
        ("Sucess", "Success@10"),
        ("nDCG@10(gain=exp)", "Write Name(k=v,...)@cutoff. Did you mean nDCG"),
        ("AP (rel=2)", "Write Name(k=v,...)@cutoff. Did you mean AP"),
        ("P@", "Did you mean P"),
        ("xyzzy", "The measures are alpha_DCG, alpha_nDCG, AP"),
        ("AP\nP", "unknown measure 'AP P'"),
    ],
)
def test_an_unknown_name_comes_back_with_the_nearest(written: str, nearest: str) -> None:
    with pytest.raises(UnknownNameError) as refusal:
        MEASURES.expand(written)
    assert nearest in str(refusal.value)


def test_the_nearest_names_can_be_used() -> None:
    for name in ("nDGC@10", "Precsion@3", "IPerc@0.5", "recal_20", "rankoff", "mapp@5"):
        with pytest.raises(UsageError) as refusal:
            MEASURES.expand_all([name, "wrong one"])
        offered = str(refusal.value).split("Did you mean ")[1].split("?")[0].replace(" or ", ", ")
        assert MEASURES.expand_all(offered.split(", "))


def test_every_measure_comes_once_in_the_order_asked() -> None:
    found = MEASURES.expand_all(["P.10,5", "ndcg@10", "AP", "P@5", "nDCG@10", "map"])
    assert [str(measure) for measure in found] == ["P@10", "P@5", "nDCG@10", "AP"]


class Shape(Parametric):
    """A named class with every kind of parameter."""

    size: int | str = whole(3, low=0, words=("any",))
    angle: float = number(0.5, low=0.0, high=1.0, open_ends=True)
    weight: float = number(1.0, low=0.0, open_ends=True)
    free: float = number(0.0)
    colour: str = choice("red", "blue")
    cutoff: int | None = cutoff()


class Rounder(Shape):
    """The same with a parameter more."""

    radius: float = number(2.0)


def test_a_value_shows_what_is_not_the_default() -> None:
    assert str(Shape()) == "Shape"
    assert str(Shape(angle=0.25, colour="blue", cutoff=7)) == "Shape(angle=0.25,colour=blue)@7"
    assert str(Shape(free=1e22)) == "Shape(free=1e+22)"
    assert str(Shape(free=0.1 + 0.2)) == "Shape(free=0.30000000000000004)"
    assert repr(Shape(size="any")) == "Shape(size=any)"


def test_a_subclass_has_the_parameters_of_its_base_first() -> None:
    assert list(Rounder.parameters()) == [*Shape.parameters(), "radius"]
    assert Rounder() != Shape()
    assert str(Rounder(radius=3, size=1)) == "Rounder(size=1,radius=3)"


def test_numbers_of_other_packages_are_numbers() -> None:
    make: Any = Shape
    assert make(cutoff=np.int64(5)) == Shape(cutoff=5)
    assert make(angle=np.float32(0.25)) == make(angle=Fraction(1, 4)) == make(angle="0.25")
    assert type(make(cutoff=np.int64(5)).cutoff) is int


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"angle": 0}, "angle must be a number between 0 and 1, not 0"),
        ({"angle": 1.0}, "angle must be a number between 0 and 1"),
        ({"weight": 0}, "weight must be a number above 0"),
        ({"free": "x"}, "free must be a number, not x"),
        ({"size": -1}, "size must be a whole number of at least 0, or any, not -1"),
        ({"size": True}, "not True"),
        ({"size": None}, "not None"),
        ({"size": [1]}, "not [1]"),
        ({"size": 1.5}, "not 1.5"),
        ({"cutoff": np.True_}, "the cutoff must be"),
        ({"colour": "green"}, "colour must be red or blue, not green"),
        ({"colour": 3}, "colour must be red or blue, not 3"),
        ({"hue": 3}, "Shape has no parameter 'hue'. Its parameters are size, angle"),
    ],
)
def test_a_parameter_that_is_not_allowed_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as refusal:
        Shape(**given)
    assert says in str(refusal.value)


def test_a_named_value_is_frozen_hashable_and_equal_by_content() -> None:
    one = Shape(cutoff=5)
    assert one == Shape(cutoff=5)
    assert one != Shape(cutoff=6)
    assert one != "Shape@5"
    assert {one: 1}[Shape(cutoff=5)] == 1
    assert one.replace(cutoff=None, colour="blue") == Shape(colour="blue")
    with pytest.raises(AttributeError, match=r"read-only. Use replace\(cutoff=...\)"):
        one.cutoff = 6  # type: ignore[misc]  # mypy knows it too
    with pytest.raises(AttributeError, match="read-only"):
        del one.cutoff
    assert one.cutoff == 5


FILES = {
    "circle.py": "class Circle(Base):\n    aliases = {'o': {}}\n    k: int = whole(1)\n",
    "square.py": "from {registry}.circle import Circle\n"
    "class Square(Base):\n    pass\nclass _Hidden(Base):\n    pass\n",
}
HEAD = "from {registry} import Base\nfrom leadline.data.registry import whole\n"
BASE = "from leadline.data.registry import Parametric\nclass Base(Parametric):\n    pass\n"


@pytest.fixture
def registry(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Registry[Parametric]]:
    """Return a registry made of the files of FILES and those of the parameter."""
    import importlib

    name = f"registry_{abs(hash(request.node.name))}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text(BASE)
    for file, text in {**FILES, **getattr(request, "param", {})}.items():
        (folder / file).write_text((HEAD + text).replace("{registry}", name))
    monkeypatch.syspath_prepend(tmp_path)
    package = importlib.import_module(name)
    yield Registry(package, package.Base, "shape")
    for module in [key for key in sys.modules if key.split(".")[0] == name]:
        del sys.modules[module]


def test_a_registry_holds_the_public_classes_of_its_files(registry: Registry[Parametric]) -> None:
    assert list(registry.classes) == ["Circle", "Square"]
    assert str(registry.parse("o(k=2)")) == "Circle(k=2)"
    assert registry.find("SQUARE") == (registry.classes["Square"], {})
    assert registry.find("triangle") is None
    with pytest.raises(UnknownNameError, match=r"unknown shape 'sqare'\. Did you mean Square"):
        registry.parse("sqare")


@pytest.mark.parametrize("registry", [{"zero.py": "class Circle(Base):\n    pass\n"}], indirect=True)
def test_a_registry_refuses_two_classes_of_one_name(registry: Registry[Parametric]) -> None:
    with pytest.raises(TypeError, match="named Circle"):
        _ = registry.classes


@pytest.mark.parametrize(
    "registry", [{"zero.py": "class Zero(Base):\n    aliases = {'O': {}}\n"}], indirect=True
)
def test_a_registry_refuses_an_ambiguous_alias(registry: Registry[Parametric]) -> None:
    with pytest.raises(TypeError, match="O"):
        registry.parse("o")


def test_a_needed_level_is_asked_for_by_example() -> None:
    class Level(Parametric):
        recall: float = recall_level()

    assert Level.example() == "Level@0.1"
    with pytest.raises(UsageError, match=r"Level needs a cutoff. Write Level@0\.1"):
        Level()  # type: ignore[call-arg]  # mypy knows it too


def test_the_grammar_costs_little_to_import() -> None:
    """It is on the way of every start: nothing slow comes with it."""
    code = (
        "import sys; import leadline.data.registry; "
        "print(*[name for name in ('dataclasses', 'difflib', 'inspect', 'numpy', 'fractions') "
        "if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == ""


def test_unknown_names_of_measures_are_errors_of_their_own_class() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean nDCG@10"):
        ll.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ["nDGC@10", "MPA"])
    with pytest.raises(UsageError) as refusal:
        ll.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ["nDGC@10", "P@0"])
    assert not isinstance(refusal.value, UnknownNameError)
