"""How runs and judgments are read: one value, from the public functions to the readers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, TypedDict, get_args

from leadline.data.validation import check_flags, check_whole, check_word
from leadline.errors import UnknownOptionError

Order: TypeAlias = Literal["score", "rank"]
OnDuplicate: TypeAlias = Literal["refuse", "first", "last", "max", "hold"]
OnNan: TypeAlias = Literal["refuse", "drop"]
NameBy: TypeAlias = Literal["file", "tag"]
Negative: TypeAlias = Literal["nonrelevant", "unjudged"]


IntegerIds: TypeAlias = Literal["refuse", "text"]


class NegativeOptions(TypedDict, total=False):
    """What a negative grade means."""

    negative: Negative


class QrelsOptions(NegativeOptions, total=False):
    """How judgments are read."""

    subtopics: bool


class RunOptions(TypedDict, total=False):
    """How one run is read."""

    order: Order
    on_duplicate: OnDuplicate
    on_nan: OnNan


class ReadRunOptions(RunOptions, total=False):
    """How one run is read that may come from memory."""

    integer_ids: IntegerIds


class ReadQrelsOptions(QrelsOptions, total=False):
    """How judgments are read that may come from memory."""

    integer_ids: IntegerIds


class RunsOptions(RunOptions, total=False):
    """How several runs are read."""

    name_by: NameBy


class JudgedOptions(NegativeOptions, RunsOptions, total=False):
    """How runs and the judgments of documents are read."""


class ReadingOptions(QrelsOptions, RunsOptions, total=False):
    """How runs and judgments, of documents or of subtopics, are read."""


class CutOptions(TypedDict, total=False):
    """Where lists end."""

    depth: int | None
    judged_only: bool


class CutReadingOptions(ReadingOptions, CutOptions, total=False):
    """How runs and judgments are read, and where lists end."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How runs and judgments are read; the values are checked here and nowhere else.

    Parameters
    ----------
    order : {"score", "rank"}
        What orders a list: the score, or the rank column.
    on_duplicate : {"refuse", "first", "last", "max", "hold"}
        A document twice in a list: refuse it, keep the first, the last or the one of highest score, or hold
        its rank as non-relevant.
    on_nan : {"refuse", "drop"}
        A score that is no number: refuse it, or drop the line.
    name_by : {"file", "tag"}
        What names a run.
    negative : {"nonrelevant", "unjudged"}
        What a negative grade means in rank measures.
    subtopics : bool
        Read column 2 of the qrels as subtopic.
    integer_ids : {"refuse", "text"}
        Ids that are whole numbers, as in data frames: refuse them, or read them as text.
    single_precision : bool
        Compare scores as 32-bit floats, as trec_eval does; set by a profile.

    Raises
    ------
    UsageError
        If a value is none of these.

    Examples
    --------
    >>> Reading(order="ranks")
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: order='ranks'; expected 'score' or 'rank'
    """

    order: Order = "score"
    on_duplicate: OnDuplicate = "refuse"
    on_nan: OnNan = "refuse"
    name_by: NameBy = "file"
    negative: Negative = "nonrelevant"
    subtopics: bool = False
    integer_ids: IntegerIds = "refuse"
    single_precision: bool = False

    def __post_init__(self) -> None:
        check_word(get_args(Order), order=self.order)
        check_word(get_args(OnDuplicate), on_duplicate=self.on_duplicate)
        check_word(get_args(OnNan), on_nan=self.on_nan)
        check_word(get_args(NameBy), name_by=self.name_by)
        check_word(get_args(Negative), negative=self.negative)
        check_word(get_args(IntegerIds), integer_ids=self.integer_ids)
        check_flags(subtopics=self.subtopics)

    @classmethod
    def of(
        cls, function: Callable[..., Any], given: Mapping[str, object], known: type = ReadingOptions
    ) -> Reading:
        """Return the reading that keywords ask for; one that is not `known` is refused.

        Parameters
        ----------
        function : callable
            The function that was given the keywords; the error names it and its own keywords.
        given : mapping
            Keywords and their values.
        known : TypedDict class
            The keywords that the function takes.

        Raises
        ------
        UnknownOptionError
            If the function takes no such keyword.
        UsageError
            If a value is not one of those of `Reading`.
        """
        refuse_unknown(function, given, known)
        return cls(**given)  # type: ignore[arg-type]  # checked when made

    @property
    def by_rank(self) -> bool:
        """Whether the rank column orders lists."""
        return self.order == "rank"

    @property
    def by_tag(self) -> bool:
        """Whether the tag names a run."""
        return self.name_by == "tag"

    @property
    def integers(self) -> bool:
        """Whether ids that are whole numbers are read as text."""
        return self.integer_ids == "text"

    def options(self, known: type = ReadingOptions) -> dict[str, Any]:
        """Return the values of some keywords, as results keep them.

        Examples
        --------
        >>> Reading(order="rank").options(RunOptions)
        {'order': 'rank', 'on_duplicate': 'refuse', 'on_nan': 'refuse'}
        """
        return {name: getattr(self, name) for name in known.__annotations__}


@dataclass(frozen=True)
class Cut:
    """Where lists end: after `depth` documents, then without unjudged ones if `judged_only`."""

    depth: int | None = None
    judged_only: bool = False

    def __post_init__(self) -> None:
        check_whole(1, depth=self.depth)
        check_flags(judged_only=self.judged_only)

    def options(self) -> dict[str, Any]:
        """Return the values by name, as results keep them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


DEFAULT_READING = Reading()
UNCUT = Cut()


def reading_and_cut(
    function: Callable[..., Any], given: Mapping[str, object], known: type = CutReadingOptions
) -> tuple[Reading, Cut]:
    """Return what keywords say of reading and of where lists end; one that is not `known` is refused.

    Examples
    --------
    >>> reading_and_cut(print, {"on_nan": "drop", "depth": 10})[1]
    Cut(depth=10, judged_only=False)
    """
    refuse_unknown(function, given, known)
    reading, cut = (
        {name: given[name] for name in given if name in each.__annotations__}
        for each in (ReadingOptions, CutOptions)
    )
    return Reading(**reading), Cut(**cut)  # type: ignore[arg-type]  # checked when made


def refuse_unknown(function: Callable[..., Any], given: Mapping[str, object], known: type) -> None:
    """Refuse keywords that a function does not take, with the nearest that it does.

    Parameters
    ----------
    function : callable
        The function that was given the keywords.
    given : mapping
        The keywords that it passes on.
    known : TypedDict class
        Those of them that it takes.

    Raises
    ------
    UnknownOptionError
        If one is not known.
    """
    for name in given:
        if name in known.__annotations__:
            continue
        import difflib

        own = [
            each.name
            for each in inspect.signature(function).parameters.values()
            if each.kind is each.KEYWORD_ONLY
        ]
        allowed = [*own, *(each for each in known.__annotations__ if each not in own)]
        close = difflib.get_close_matches(name, allowed, n=1, cutoff=0.5)
        expected = f"nearest: {close[0]}" if close else "expected one of " + ", ".join(allowed)
        raise UnknownOptionError(f"{function.__name__}() has no option '{name}'; {expected}")
