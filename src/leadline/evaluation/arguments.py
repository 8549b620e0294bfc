"""Arguments after the judgments: runs until the first measure, in Python and on the command line."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, KeysView, Mapping
from itertools import chain, islice
from typing import Any, TypeAlias

from leadline.data.registry import split_names
from leadline.errors import UnknownNameError, UsageError
from leadline.evaluation.join import joined_runs
from leadline.evaluation.profiles import profile_of
from leadline.io.read import RunLike
from leadline.io.run_names import is_input
from leadline.measures import MEASURES, Measure
from leadline.measures.ir_measures_names import is_of_ir_measures

MeasureLike: TypeAlias = str | Measure | type[Measure]
MeasuresLike: TypeAlias = MeasureLike | Iterable[MeasureLike]
RunsLike: TypeAlias = "RunLike | Iterable[RunLike] | Mapping[str, RunLike]"
LISTS = (list, tuple, set, frozenset, KeysView, deque)
LIKENESS = 0.75  # from which a name is near an argument that may as well be a file


def divided(
    given: Iterable[Any], runs: Any = None, measures: Any = None, *, profile: str = "leadline"
) -> tuple[Any, Any]:
    """Return the runs and the measures among positional arguments and the keywords `runs` and `measures`.

    >>> old, new = {"q1": ["d1", "d2"]}, {"q1": ["d2", "d1"]}
    >>> found, wanted = divided([old, new, "AP", ["P@1"]])
    >>> list(found), wanted
    (['run 1', 'run 2'], ['AP', 'P@1'])
    """
    before: list[Any] = []
    wanted: list[Any] = []
    for argument in given:
        if argument is None:
            continue
        item = _listed(argument)
        if are_measures(item, profile, after_runs=bool(before) or runs is not None):
            wanted += [item] if isinstance(item, (str, type)) or not isinstance(item, Iterable) else item
        elif wanted:
            raise UsageError(f"a run after the measure {wanted[-1]}; expected all runs before the measures")
        else:
            before.append(item)
    for name, keyword, positional in (("runs", runs, before), ("measures", measures, wanted)):
        if keyword is not None and positional:
            raise UsageError(f"{name} twice: by position, and as {name}=; expected them once")
    if before:
        runs = before[0] if len(before) == 1 else joined_runs(before)
    return runs, wanted or measures


def _listed(argument: Any) -> Any:
    """Return an iterator of texts or measures as a list; another one is not consumed."""
    if not isinstance(argument, Iterator):
        return argument
    first = list(islice(argument, 1))
    rest = chain(first, argument)
    return list(rest) if first and _is_word(first[0]) else rest


def _is_word(value: object) -> bool:
    return isinstance(value, (str, os.PathLike)) or _is_measure(value)


def _is_measure(value: object) -> bool:
    return isinstance(value, (type, Measure)) or (is_of_ir_measures(value) and not hasattr(value, "_fields"))


def are_measures(argument: Any, profile: str = "leadline", *, after_runs: bool = True) -> bool:
    """Return whether an argument is a measure or a list of measures; refuse a list of both.

    >>> are_measures("AP"), are_measures(["AP", "P@5"]), are_measures("runs/bm25.run")
    (True, True, False)
    """
    if _is_measure(argument):
        return True
    if not isinstance(argument, (str, *LISTS)):
        return False
    words = [argument] if isinstance(argument, str) else list(argument)
    if not words:
        return after_runs
    if not all(map(_is_word, words)):
        return False
    inputs = [word for word in words if not _is_measure(word) and is_input(os.fspath(word))]
    if len(inputs) == len(words):
        return False
    check_measures([word for word in words if isinstance(word, str) and word not in inputs], profile)
    if inputs:
        raise UsageError(
            f"runs and measures in one list: {inputs[0]} is a file; expected runs first, then measures"
        )
    return True


def check_measures(texts: list[str], profile: str) -> None:
    """Raise UsageError for arguments that are no measures, nor files that exist."""
    wrong = []
    refusal: type[UsageError] = UnknownNameError
    for text in (name for each in texts for name in split_names(each)):
        try:
            profile_of(profile).requests([text])
        except UnknownNameError:
            nearest = MEASURES.nearest(text, likeness=LIKENESS)
            wrong.append(f"{text}; {nearest}" if "nearest: " in nearest else text)
        except UsageError as error:
            refusal = UsageError
            wrong.append(str(error))
    if wrong:
        raise refusal("no such file, and no measure: " + "; ".join(wrong))
