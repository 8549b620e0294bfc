"""What is true of every measure; nothing here names one, but for the tables of exceptions."""

from __future__ import annotations

import copy
import inspect
import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import agree, join, undefined, value, values, variants
from leadline.errors import UsageError
from leadline.evaluation import catalogue
from leadline.measures import MEASURES, Measure
from oracles import DOCUMENTS, Case, cases, collections

every_measure = pytest.mark.parametrize("kind", list(MEASURES.classes.values()), ids=str)
few = settings(max_examples=25)

# A better graded document that moves up, in exchange for a worse one, never hurts - except:
MAY_HURT = {
    "Coverage": "it counts known documents only, and the better one may be unknown",
    "Novelty": "it counts unknown documents among the relevant, and the better one may be known",
    "Accuracy": "a cutoff decides which pairs it counts",
}
# A document without a judgment is one of grade 0 - except:
NOT_AS_ZERO = {
    "Bpref": "a document without a judgment is skipped",
    "GMBpref": "a document without a judgment is skipped",
    "Judged": "it counts judgments",
    "RBPResidual": "it is what documents without a judgment could still give",
    "RBPUnjudged": "it is what documents without a judgment could still give",
    "Unj": "it counts documents without a judgment",
    "infAP": "it estimates from the share of judged documents above",
    "NumNonrelRet": "it counts judged documents",
}
# A list of the largest grades only reaches the end of the range - except:
NOT_REACHED = {
    **dict.fromkeys(
        (
            "RBP",
            "RBPResidual",
            "RBPUnjudged",
            "ERR",
            "NRBP",
            "INSQ",
            "INST",
            "BPM",
            "SDCG",
            "Accuracy",
            "NERR8",
            "NERR9",
            "NERR10",
            "NERR11",
        ),
        "a finite list leaves something over, or nothing is worse than relevant",
    ),
    "infAP": "a small constant keeps the estimate from 1",
    "RprecMult": "a small multiple of R may be no rank at all",
}
# When it is undefined cannot be told by the words of the catalogue:
OWN_WORDS = {"Accuracy": "it needs a relevant document and a worse one that was retrieved"}
# What lies below the cutoff never matters - no exceptions: not even the length of the list.
# Undefined values, by the words of the catalogue.
UNDEFINED_WHEN = {
    "nothing relevant is retrieved": lambda case: not relevant(case, 1),
    "nothing is retrieved": lambda case: not case.scores,
    "nothing is relevant": lambda case: not [g for g in case.grades.values() if g >= 1],
    catalogue.BOTH: lambda case: not case.scores and not [g for g in case.grades.values() if g >= 1],
}


def relevant(case: Case, rel: float) -> list[str]:
    return [name for name in case.scores if case.grades.get(name, -1) >= rel]


def same(one: float, other: float) -> bool:
    return one == other or (undefined(one) and undefined(other))


@every_measure
def test_its_text_is_read_back_as_itself(kind: type[Measure]) -> None:
    for measure in variants(kind):
        assert MEASURES.parse(str(measure)) == measure
        assert MEASURES.expand_all([str(measure)]) == [measure]
        assert repr(measure) == str(measure)


@every_measure
def test_equal_texts_are_equal_values_with_equal_hashes(kind: type[Measure]) -> None:
    for measure in variants(kind):
        twin = MEASURES.parse(str(measure))
        assert twin == measure
        assert hash(twin) == hash(measure)
        assert len({twin, measure}) == 1
        assert measure not in (str(measure), None)


@every_measure
def test_different_parameters_are_different_values(kind: type[Measure]) -> None:
    forms = variants(kind)
    assert len({str(form) for form in forms}) == len(set(forms)) == len(forms)


@every_measure
def test_it_survives_copies(kind: type[Measure]) -> None:
    for measure in variants(kind):
        assert copy.deepcopy(measure) == copy.copy(measure) == measure
        assert pickle.loads(pickle.dumps(measure)) == measure
        assert measure.replace() == measure


@every_measure
def test_it_cannot_be_changed(kind: type[Measure]) -> None:
    for measure in variants(kind):
        for name in [*measure.parameters(), "rising", "new"]:
            with pytest.raises(AttributeError, match="read-only"):
                setattr(measure, name, 1)
            with pytest.raises(AttributeError, match="read-only"):
                delattr(measure, name)


@every_measure
def test_it_says_what_it_is(kind: type[Measure]) -> None:
    assert kind.title
    assert kind.formula
    assert kind.source
    assert kind.low < kind.high
    words = inspect.getdoc(kind) or ""
    assert words.splitlines()[0].endswith(".")
    assert (f">>> {kind.__name__}(" in words or f"round({kind.__name__}(" in words) or (
        kind.needs == "known" and "--known" in words
    )


@every_measure
def test_every_spelling_means_the_measure_with_what_the_spelling_sets(kind: type[Measure]) -> None:
    for spelling, preset in {kind.__name__: {}, **kind.aliases}.items():
        if spelling == "Accuracy":  # by its case: accuracy@k of other programs is Success@k
            assert MEASURES.find(spelling) == (kind, preset)
            continue
        assert MEASURES.find(spelling) == (kind, preset)
        at = kind.at_name()
        takes_none = kind.default_cutoffs.get(spelling.lower()) == ()
        if at is None or takes_none:
            assert MEASURES.expand(spelling) == [kind(**preset)]
            with pytest.raises(UsageError, match="takes no cutoff"):
                MEASURES.expand(f"{spelling}_1")
        else:
            wanted = kind(**preset, **{at: 1})
            for mark in ("@", "_", ".", "_at_"):
                assert MEASURES.parse(f"{spelling}{mark}1") == wanted
                assert MEASURES.parse(f"{spelling.upper()}{mark}1") == wanted


@every_measure
def test_it_has_an_oracle_and_agrees_with_it(kind: type[Measure]) -> None:
    agree(*map(str, variants(kind)))


@every_measure
def test_values_lie_in_its_range_and_are_never_infinite(kind: type[Measure]) -> None:
    @few
    @given(collections())
    def check(some: dict[str, Case]) -> None:
        judged = join(some)
        for measure in variants(kind):
            for one in values(measure, judged).values():
                assert undefined(one) or kind.low <= one <= kind.high
                assert not math.isinf(one)

    check()


@every_measure
def test_it_is_undefined_exactly_where_the_catalogue_says(kind: type[Measure]) -> None:
    words = catalogue.undefined(kind)
    if words is None or kind.__name__ in OWN_WORDS:
        pytest.skip(OWN_WORDS.get(kind.__name__, "the catalogue cannot ask it"))
    sample = MEASURES.parse(kind.sample())
    plain = [name.removesuffix(" (without a cutoff)") for name in words]

    @few
    @given(collections(), st.booleans())
    def check(some: dict[str, Case], whole: bool) -> None:
        if kind.needs == "known":
            some = {query: case._replace(known=frozenset(DOCUMENTS)) for query, case in some.items()}
        some = {
            query: case._replace(grades={name: grade // 1 for name, grade in case.grades.items()})
            for query, case in some.items()
        }
        at = kind.at_name()
        measure = sample if whole or at is None else sample.replace(**{at: 1})
        here = words if undefined_anyway(measure) else plain
        for query, one in values(measure, join(some)).items():
            said = any(UNDEFINED_WHEN[word](some[query]) for word in here if word in UNDEFINED_WHEN)
            if kind.needs == "known" or (at and getattr(measure, at) == 1):
                assert not said or undefined(one)
            else:
                assert undefined(one) == said

    def undefined_anyway(measure: Measure) -> bool:
        at = kind.at_name()
        return at is not None and getattr(measure, at) is not None

    check()


@every_measure
def test_new_names_that_keep_the_order_of_ties_change_nothing(kind: type[Measure]) -> None:
    def renamed(case: Case) -> Case:
        return Case(
            {f"x{name}": score for name, score in case.scores.items()},
            {f"x{name}": grade for name, grade in case.grades.items()},
            frozenset(f"x{name}" for name in case.known),
        )

    @few
    @given(cases())
    def check(case: Case) -> None:
        some = {"q": case, "other": Case({"a": 1.0}, {"a": 1.0})}
        new = some | {"q": renamed(case)}
        one, two = join(some), join(new)
        for measure in variants(kind):
            assert same(values(measure, one)["q"], values(measure, two)["q"])

    check()


@every_measure
def test_where_nothing_is_tied_any_new_names_change_nothing(kind: type[Measure]) -> None:
    @few
    @given(cases(), st.permutations(DOCUMENTS))
    def check(case: Case, names: list[str]) -> None:
        new = dict(zip(DOCUMENTS, names, strict=True))
        spread = {name: float(place) for place, name in enumerate(case.scores)}
        old = Case(spread, case.grades, case.known)
        other = Case(
            {new[name]: score for name, score in spread.items()},
            {new[name]: grade for name, grade in case.grades.items()},
            frozenset(new[name] for name in case.known),
        )
        rest = Case({"a": 1.0}, {"a": 1.0})
        one, two = join({"q": old, "rest": rest}), join({"q": other, "rest": rest})
        for measure in variants(kind):
            assert same(values(measure, one)["q"], values(measure, two)["q"])

    check()


@every_measure
def test_another_query_changes_no_value(kind: type[Measure]) -> None:
    @few
    @given(collections(), cases())
    def check(some: dict[str, Case], more: Case) -> None:
        alone = join(some)
        together = [join(some | {place: more}) for place in ("p", "q0a", "z")]  # at any place
        for measure in variants(kind):
            one = values(measure, alone)
            for judged in together:
                two = values(measure, judged)
                assert all(same(one[query], two[query]) for query in some)

    check()


@every_measure
def test_what_lies_below_the_cutoff_never_matters(kind: type[Measure]) -> None:
    forms = [form for form in variants(kind) if isinstance(getattr(form, "cutoff", None), int)]
    if not forms:
        pytest.skip("it has no cutoff")

    @few
    @given(cases().filter(lambda case: bool(case.scores)))
    def check(case: Case) -> None:
        for measure in forms:
            kept = dict(case.ranked[: getattr(measure, "cutoff", 1)])
            assert same(value(measure, case), value(measure, case._replace(scores=kept)))

    check()


@every_measure
def test_a_better_graded_document_higher_up_never_hurts(kind: type[Measure]) -> None:
    if kind.__name__ in MAY_HURT:
        pytest.skip(MAY_HURT[kind.__name__])

    @few
    @given(cases(), st.data())
    def check(case: Case, data: st.DataObject) -> None:
        judged = [name for name in case.scores if case.grades.get(name, -1) >= 0]
        if len(judged) < 2:
            return
        pair = data.draw(st.permutations(judged))[:2]
        spread = dict(case.ranked)
        spread = {name: -float(place) for place, name in enumerate(spread)}
        above, below = sorted(pair, key=lambda name: -spread[name])
        if case.grades[above] >= case.grades[below]:
            return
        better = spread | {above: spread[below], below: spread[above]}
        one = join({"q": case._replace(scores=spread)})
        two = join({"q": case._replace(scores=better)})
        for measure in variants(kind):
            before, after = values(measure, one)["q"], values(measure, two)["q"]
            assert same(before, after) or (
                after > before - 1e-15 if measure.rising else after < before + 1e-15
            ), measure

    check()


@every_measure
def test_a_document_without_a_judgment_is_as_one_of_grade_0(kind: type[Measure]) -> None:
    if kind.__name__ in NOT_AS_ZERO:
        pytest.skip(NOT_AS_ZERO[kind.__name__])

    @few
    @given(cases().filter(lambda case: bool(case.scores)))
    def check(case: Case) -> None:
        full = case._replace(grades=dict.fromkeys(case.scores, 0.0) | case.grades)
        one, two = join({"q": case}), join({"q": full})
        for measure in variants(kind):
            if getattr(measure, "rel", 1) == 0:  # then a grade of 0 is relevant
                continue
            assert same(values(measure, one)["q"], values(measure, two)["q"])

    check()


@every_measure
def test_a_perfect_list_reaches_the_end_of_a_closed_range(kind: type[Measure]) -> None:
    if kind.__name__ in NOT_REACHED:
        pytest.skip(NOT_REACHED[kind.__name__])
    for measure in variants(kind):
        if math.isinf(measure.high):
            continue
        size = getattr(measure, "cutoff", None) or 10
        grades = {f"d{place}": 3.0 for place in range(size)}
        scores = {name: float(place) for place, name in enumerate(grades)}
        lists = [Case(scores, grades), Case(scores, grades, known=frozenset(grades))]
        best = {value(measure, case) for case in lists}
        assert (measure.high if measure.rising else measure.low) in best


@every_measure
def test_huge_grades_give_a_number_or_an_error_that_says_so(kind: type[Measure]) -> None:
    grades = {"a": 1e308, "b": 1e308, "c": 2000.0, "d": 1.0}
    case = Case({name: float(place) for place, name in enumerate(grades)}, grades, frozenset("ab"))
    for measure in variants(kind):
        message, found = "", 0.0
        try:
            found = value(measure, case)
        except UsageError as error:
            message = str(error)
        assert not message or (str(measure) in message and "smaller grades" in message)
        assert undefined(found) or measure.low <= found <= measure.high
        assert not math.isinf(found)
