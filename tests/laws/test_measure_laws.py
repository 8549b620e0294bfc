"""What is true of every measure; nothing here names one, but for the tables of exceptions."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import random
from functools import cache
from itertools import combinations

import numpy as np
import pytest

import subtopic_cases
from case_values import expected, join, undefined, value, values, variants
from leadline.data.judged_run import JudgedRun
from leadline.errors import UsageError
from leadline.evaluation import catalogue
from leadline.measures import MEASURES, Measure
from oracles import DOCUMENTS, Case, random_cases
from oracles.diversity import random_subtopic_cases

# Measures of one query alone; the judgments of other queries change Hole.
ALONE = [kind for kind in MEASURES.classes.values() if kind.scored < 2]
every_measure = pytest.mark.parametrize("kind", ALONE, ids=str)

# A better graded document that moves up, in exchange for a worse one, never hurts - except:
MAY_HURT = {
    "Coverage": "it counts known documents only, and the better one may be unknown",
    "Novelty": "it counts unknown documents among the relevant, and the better one may be known",
    "PairAccuracy": "a cutoff decides which pairs it counts",
    "BPM": "a user who has enough one rank earlier may have gained less a rank",
    "Q": "a gain below the level counts only where a relevant document follows",
    "O_measure": "a gain below the level counts only where a relevant document follows",
    "NCUrb": "a gain below the level counts only where a relevant document follows",
    "NCUgu": "the larger stop moves up too, where the blended ratio may be lower",
    "EBR": "the user stops earlier, where the blended ratio may be lower",
    "AUROC": "a cutoff decides which pairs it counts",
    "P_measure": "the preferred rank moves down with a better document below",
    "P_plus": "the preferred rank moves down with a better document below",
}
# A document without a judgment is one of grade 0 - except:
NOT_AS_ZERO = {
    "Bpref": "a document without a judgment is skipped",
    "GMBpref": "a document without a judgment is skipped",
    "Rpref": "a document without a judgment is skipped",
    "FallOut": "a document without a judgment is skipped",
    "Judged": "it counts judgments",
    "RBPResidual": "it is what documents without a judgment could still give",
    "RBPUnjudged": "it is what documents without a judgment could still give",
    "Unj": "it counts documents without a judgment",
    "infAP": "it estimates from the share of judged documents above",
    "xinfAP": "it estimates from the share of judged documents above",
    "infNDCG": "it estimates from the share of judged documents in the list",
    "NumNonrelRet": "it counts judged documents",
}
# A list of the largest grades only reaches the end of the range - except:
NOT_REACHED = {
    **dict.fromkeys(
        tuple(
            """
                RBP RBPResidual RBPUnjudged ERR NRBP INSQ INST BPM SDCG PairAccuracy Bpref AUROC FallOut
                EBR NCUrbIE iRBU Rpref NERR8 NERR9 NERR10 NERR11
            """.split()
        ),
        "a finite list leaves something over, or nothing is worse than relevant",
    ),
    "infAP": "a small constant keeps the estimate from 1",
    "xinfAP": "a small constant keeps the estimate from 1",
    "RprecMult": "a small multiple of R may be no rank at all",
    "NoAnswer": "it is of queries for which nothing is relevant",
}
# What lies below the cutoff never matters - no exceptions: not even the length of the list.
# Undefined values, by the words of the catalogue.
UNDEFINED_WHEN = {
    "nothing relevant is retrieved": lambda case: not relevant(case, 1),
    "nothing is retrieved": lambda case: not case.scores,
    "something is relevant": lambda case: any(grade >= 1 for grade in case.grades.values()),
    "nothing is relevant": lambda case: not [g for g in case.grades.values() if g >= 1],
    "nothing is judged non-relevant": lambda case: not [g for g in case.grades.values() if 0 <= g < 1],
    "everything retrieved is relevant": lambda case: len(relevant(case, 1)) == len(case.scores),
    catalogue.BOTH: lambda case: not case.scores and not [g for g in case.grades.values() if g >= 1],
}


def relevant(case: Case, rel: float) -> list[str]:
    return [name for name in case.scores if case.grades.get(name, -1) >= rel]


def exempt(table: str) -> str:
    """Return what to do about a law that cannot hold."""
    return f": if this law cannot hold, add the measure and the reason to {table} in this file"


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
        kind.needs == "known" and "--config read.known" in words
    )


@every_measure
def test_every_spelling_means_the_measure_with_what_the_spelling_sets(kind: type[Measure]) -> None:
    for spelling, preset in {kind.__name__: {}, **kind.aliases}.items():
        assert MEASURES.find(spelling) == (kind, preset)
        at = kind.cutoff_name()
        takes_none = kind.default_cutoffs.get(spelling.lower()) == ()
        if at is None or takes_none:
            assert MEASURES.expand(spelling) == [kind(**preset)]
            with pytest.raises(UsageError, match="takes no cutoff"):
                MEASURES.expand(f"{spelling}_1")
        else:
            wanted = kind(**preset, **{at: 1})
            for mark in ("@", "_", *([] if kind.has_persistence() else ["."]), "_at_"):
                assert MEASURES.parse(f"{spelling}{mark}1") == wanted
                assert MEASURES.parse(f"{spelling.upper()}{mark}1") == wanted


# Forms that change several parameters at once, or take values of their own, beside those of `variants`.
MORE_FORMS = (
    *("AP(rel=0.5)@3", "AP(norm=min)@3", "NumRelRet(rel=2)@3", "Judged@20", "SDCG(max_grade=3)@100"),
    *("AvgIPrec(levels=0.25/0.5/0.75)", "AvgIPrec(rule=trec10,levels=0.2/0.5/0.8)"),
    *("DCG(gain=exp,discount=jk)", "DCG(gain=exp)@3", "nDCG(gain=exp,discount=jk)", "nDCG(gain=exp)@3"),
    *("GnDCG(gains=1:3/2:9)", "GnDCG(gains=0:1/1:-1/3:0.5)@3", "GnDCG(gains=1:0/2:0/3:0)"),
    *("Q(beta=10)", "Q(beta=0)@3", "Q(norm=min)@2", "P(rel=2)@3", "P@20", "R(rel=2)@3", "RR(rel=0.5)@3"),
    *("RankOf(form=search,n=2)", "RankOf(form=search,n=all)", "RankOf(form=search,n=all,rel=0.5)"),
    *("RprecMult@0.2", "RprecMult(rel=2)@1.6", "RelP(rel=2)@5", "Success(rel=2)@3", "PairAccuracy(rel=0)@3"),
    *("F(beta=0.5)@3", "F(rel=2)@3", "F(beta=2,form=linear)", "F(beta=0.5,form=linear,rel=2)@3"),
    *("E(beta=0.5)@3", "E(form=lecture,beta=2)", "Utility(a=2,b=-0.5,c=-1,d=0.25,documents=100)"),
    *("RBP(gain=graded,max_grade=3)@3", "RBP(gain=scaled,p=0.9)", "RBPResidual(p=0.95)"),
    *(
        "Q(gains=1:1/2:3/3:7)",
        "Q(gains=0.5:4/1:0,rel=2)@3",
        "O_measure(beta=0)",
        "O_measure(gains=1:1/2:3)@3",
    ),
    *(
        "P_measure(beta=0.5,rel=0)",
        "P_measure(gains=1:5/2:3)@4",
        "P_plus(beta=10)@5",
        "P_plus(gains=1:0,rel=2)",
    ),
    *("NCUguP", "NCUguBR@3", "NCUgu(stop=1:1/2:1/3:1)", "NCUgu(stop=1:0,gains=2:9,rel=0)@4"),
    *"""
            NCUrbP NCUrbBR(gamma=0.5)@3 NCUrb(gamma=0) NCUrb(gamma=1) NCUrb(gamma=0.9999999)@5 NCUrbIE@4
            NCUrbIE(p=0.5,gamma=0.5,rel=2)
        """.split(),
    *("EBR(gain=linear,beta=0)@3", "EBR(max_grade=3,beta=10)", "nERR(gain=linear,max_grade=3)@3"),
    *("ERR(gain=linear,max_grade=3)@4", "iRBU(gain=linear,p=0.8)@3", "iRBU(max_grade=3,p=0.5)"),
    *(
        "GAP(norm=min)@3",
        "GAP(weights=level,norm=min)@2",
        "GAP(weights=level)",
        "AUROC(rel=2)@4",
        "AUROC(rel=0)@3",
    ),
    *(
        "bpref_R(rel=2)",
        "rpref_N",
        "FallOut(documents=20)@3",
        "FallOut(rel=2)@4",
        "FallOut(documents=30,rel=2)",
    ),
    *("ERR(max_grade=3.5)@10", "NERR8(max_grade=3)@20", "NERR9(max_grade=3)@20", "Compat(p=0.99)"),
    *("NERR10(p=0.5,depth=3)", "NERR10(max_grade=3,depth=50)"),
    *("NERR11(T=0.3,depth=3)", "NERR11(max_grade=3,depth=50)"),
    *("INSQ(T=0.3,depth=3)", "INSQ(T=2.5,max_grade=3,depth=50)"),
    *("INST(T=0.5,depth=3)", "INST(T=2.5,max_grade=3,depth=50)"),
    *("BPM(T=0.5)@3", "BPM(T=2,max_grade=3)@20", "BPM@5", "P_IA(rel=2)@3", "ERR_IA(rel=2)@10"),
    *("alpha_DCG(alpha=0)@3", "alpha_DCG(alpha=1)@4", "alpha_DCG(alpha=0.3,rel=2)@10"),
    *("alpha_nDCG(alpha=0)@3", "alpha_nDCG(alpha=0.3,rel=2)@10", "nERR_IA(rel=2)@10"),
    *("NRBP(alpha=0,beta=0.8)", "NRBP(alpha=0.3,rel=2)", "nNRBP(alpha=0,beta=0.8)", "nNRBP(alpha=0.3,rel=2)"),
    *("Dsharp_nDCG(gamma=0.2)@3",),
    *(
        f"IPrec(rule={rule})@{level}"
        for rule in ("standard", "printed-next", "printed-zero", "trec9", "trec10")
        for level in (0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
    ),
)


def forms(kind: type[Measure]) -> list[Measure]:
    more = [MEASURES.parse(text) for text in MORE_FORMS]
    return list(dict.fromkeys([*variants(kind), *(form for form in more if type(form) is kind)]))


# The laws hold on the same few hundred small queries for every measure: they are joined once.
QUERIES = random_cases(200)


@cache
def judged_queries() -> JudgedRun:
    return join(QUERIES)


def assert_same(measure: Measure, one: JudgedRun, other: JudgedRun, *, hint: str = "") -> None:
    """Assert that a measure has the same values in both, query by query, to the last bit."""
    assert one.qrels.queries == other.qrels.queries
    mine, theirs = measure.values(one), measure.values(other)
    differ = ~((mine == theirs) | (np.isnan(mine) & np.isnan(theirs)))
    queries = [one.qrels.queries[place] for place in np.flatnonzero(differ).tolist()]
    assert not queries, f"{measure}{hint}"


@every_measure
def test_it_has_an_oracle_and_agrees_with_it(kind: type[Measure]) -> None:
    for measure in forms(kind):
        wanted = {query: expected(measure, case) for query, case in QUERIES.items()}
        found = values(measure, judged_queries())
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-15, nan_ok=True), measure


@pytest.mark.parametrize(
    "kind", [kind for kind in MEASURES.classes.values() if kind.needs == "subtopics"], ids=str
)
def test_with_several_subtopics_it_agrees_with_its_oracle(kind: type[Measure]) -> None:
    for measure in forms(kind):
        wanted = {query: expected(measure, case) for query, case in SUBTOPIC_QUERIES.items()}
        found = values(measure, judged_by_subtopic())
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-15, nan_ok=True), measure
        assert all(undefined(one) or measure.low <= one <= measure.high for one in found.values())


SUBTOPIC_QUERIES = random_subtopic_cases(100)


@cache
def judged_by_subtopic() -> JudgedRun:
    return subtopic_cases.join(SUBTOPIC_QUERIES)


@every_measure
def test_values_lie_in_its_range_and_are_never_infinite(kind: type[Measure]) -> None:
    for measure in forms(kind):
        for one in values(measure, judged_queries()).values():
            assert undefined(one) or kind.low <= one <= kind.high, measure
            assert not math.isinf(one), measure


@pytest.mark.parametrize(
    "kind", [one for one in ALONE if one.quality and not one.rising and one.average != "defined"], ids=str
)
def test_an_undefined_value_never_counts_as_the_best(kind: type[Measure]) -> None:
    """Counted as 0, it does where less is better: the average is then over the defined values."""
    for measure in forms(kind):
        found = values(measure, judged_queries()).values()
        assert measure.rising or not any(map(undefined, found)), measure


@cache
def queries_of_whole_grades(*, all_known: bool) -> dict[str, Case]:
    return {
        query: case._replace(
            grades={name: grade // 1 for name, grade in case.grades.items()},
            known=frozenset(DOCUMENTS) if all_known else case.known,
        )
        for query, case in QUERIES.items()
    }


@every_measure
def test_it_is_undefined_exactly_where_the_catalogue_says(kind: type[Measure]) -> None:
    words = catalogue.undefined(kind)
    if words is None:
        pytest.skip("the catalogue cannot ask it")
    sample, at = MEASURES.parse(kind.example()), kind.cutoff_name()
    some = queries_of_whole_grades(all_known=kind.needs == "known")
    judged = join(some)
    for measure in [sample] if at is None else [sample, sample.replace(**{at: 1})]:
        here = words
        if at is None or getattr(measure, at) is None:
            here = [word.removesuffix(" (without a cutoff)") for word in words]
        for query, one in values(measure, judged).items():
            said = any(UNDEFINED_WHEN[word](some[query]) for word in here if word in UNDEFINED_WHEN)
            if kind.needs == "known" or (at and getattr(measure, at) == 1):
                assert not said or undefined(one), (measure, query)
            else:
                assert undefined(one) == said, (measure, query)


@cache
def with_a_letter_before_every_name() -> JudgedRun:
    return join(
        {
            query: Case(
                {f"x{name}": score for name, score in case.scores.items()},
                {f"x{name}": grade for name, grade in case.grades.items()},
                frozenset(f"x{name}" for name in case.known),
            )
            for query, case in QUERIES.items()
        }
    )


@every_measure
def test_new_names_that_keep_the_order_of_ties_change_nothing(kind: type[Measure]) -> None:
    for measure in variants(kind):
        assert_same(measure, judged_queries(), with_a_letter_before_every_name())


@cache
def without_ties_under_old_and_new_names() -> tuple[JudgedRun, JudgedRun]:
    rng = random.Random(1)
    old, renamed = {}, {}
    for query, case in QUERIES.items():
        new = dict(zip(DOCUMENTS, rng.sample(DOCUMENTS, len(DOCUMENTS)), strict=True))
        spread = {name: float(place) for place, name in enumerate(case.scores)}
        old[query] = case._replace(scores=spread)
        renamed[query] = Case(
            {new[name]: score for name, score in spread.items()},
            {new[name]: grade for name, grade in case.grades.items()},
            frozenset(new[name] for name in case.known),
        )
    return join(old), join(renamed)


@every_measure
def test_where_nothing_is_tied_any_new_names_change_nothing(kind: type[Measure]) -> None:
    for measure in variants(kind):
        assert_same(measure, *without_ties_under_old_and_new_names())


@cache
def few_queries_at_a_time() -> list[JudgedRun]:
    """Return collections of one, two and three of the queries, from places far apart."""
    names = list(QUERIES)
    parts = [names[place::99] for place in range(0, 99, 3)] + [names[:1], names[150:152], names[-1:]]
    found = [{name: QUERIES[name] for name in part} for part in parts]
    return [join(part) for part in found if any(case.scores for case in part.values())]


@every_measure
def test_another_query_changes_no_value(kind: type[Measure]) -> None:
    for measure in variants(kind):
        together = values(measure, judged_queries())
        for few in few_queries_at_a_time():
            for query, one in values(measure, few).items():
                assert same(one, together[query]), (measure, query)


@cache
def cut_after(cutoff: int) -> JudgedRun:
    return join({query: case._replace(scores=dict(case.ranked[:cutoff])) for query, case in QUERIES.items()})


@every_measure
def test_what_lies_below_the_cutoff_never_matters(kind: type[Measure]) -> None:
    cutoffs = {form: getattr(form, "cutoff", None) for form in variants(kind)}
    if not any(cutoffs.values()):
        pytest.skip("it has no cutoff")
    for measure, cutoff in cutoffs.items():
        if cutoff is not None:
            assert_same(measure, judged_queries(), cut_after(cutoff))


@cache
def before_and_after_a_better_document_moved_up() -> tuple[JudgedRun, JudgedRun]:
    """Return lists without ties, and those in which two documents changed places, the better one below."""
    rng = random.Random(1)
    before, after = {}, {}
    for query, case in QUERIES.items():
        spread = {name: -float(place) for place, (name, _) in enumerate(case.ranked)}
        judged = [name for name in spread if case.grades.get(name, -1) >= 0]
        pairs = [
            (above, below)
            for above, below in combinations(judged, 2)
            if case.grades[above] < case.grades[below]
        ]
        for above, below in rng.sample(pairs, min(6, len(pairs))):
            before[f"{query} {above} {below}"] = case._replace(scores=spread)
            better = spread | {above: spread[below], below: spread[above]}
            after[f"{query} {above} {below}"] = case._replace(scores=better)
    assert len(before) > 100
    return join(before), join(after)


@every_measure
def test_a_better_graded_document_higher_up_never_hurts(kind: type[Measure]) -> None:
    if kind.__name__ in MAY_HURT:
        pytest.skip(MAY_HURT[kind.__name__])
    before, after = before_and_after_a_better_document_moved_up()
    for measure in variants(kind):
        gained = measure.values(after) - measure.values(before)
        undefined_in_both = np.isnan(measure.values(after)) & np.isnan(measure.values(before))
        better = gained > -1e-15 if measure.rising else gained < 1e-15
        assert (better | undefined_in_both).all(), f"{measure}{exempt('MAY_HURT')}"


@cache
def every_retrieved_document_judged() -> JudgedRun:
    return join(
        {
            query: case._replace(grades=dict.fromkeys(case.scores, 0.0) | case.grades)
            for query, case in QUERIES.items()
        }
    )


@every_measure
def test_a_document_without_a_judgment_is_as_one_of_grade_0(kind: type[Measure]) -> None:
    if kind.__name__ in NOT_AS_ZERO:
        pytest.skip(NOT_AS_ZERO[kind.__name__])
    for measure in variants(kind):
        if getattr(measure, "rel", 1) != 0:  # then a grade of 0 is relevant
            hint = exempt("NOT_AS_ZERO")
            assert_same(measure, judged_queries(), every_retrieved_document_judged(), hint=hint)


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
        end = measure.high if measure.rising else measure.low
        assert end in best, f"{measure}{exempt('NOT_REACHED')}"


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
