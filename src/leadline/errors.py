"""Exceptions of leadline.

LeadlineError
|- InputError (also ValueError)     invalid content in a file or table
|- UnknownIdError (also KeyError)  an unknown id, with the nearest ones
|- UsageError (also ValueError)     invalid options or combinations of options
|  |- UnknownNameError              an unknown name, with the nearest known ones
|  `- UnknownOptionError (also TypeError)   an unknown keyword of a function, with the nearest one
`- MissingPackageError (also ImportError)   an optional package is not installed
"""

from __future__ import annotations

TYPE_CHECKING = False  # as that of typing, without loading it
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import ClassVar


class LeadlineError(Exception):
    """Base class of all exceptions of leadline; the message is one line for users.

    A message of several sentences ends in a full stop, a single sentence does not.
    """

    def __str__(self) -> str:
        return punctuated(super().__str__())


def punctuated(text: str) -> str:
    """Return a message with a full stop at its end if it has several sentences, and without one if not.

    >>> punctuated("--salt is empty. Give a name"), punctuated("no run is named 'a'.")
    ('--salt is empty. Give a name.', "no run is named 'a'")
    """
    if text.rstrip(".").replace("... ", "").count(". ") + text.count("? "):
        return text if text.endswith((".", "?", "!", ":")) else text + "."
    return text.removesuffix(".") if not text.endswith("..") else text


def sentences(*texts: str) -> str:
    """Return texts as sentences in one line; the last one keeps its end.

    >>> sentences("--salt is empty", "Is it set?", "Give a name")
    '--salt is empty. Is it set? Give a name'
    """
    return " ".join([*(text if text.endswith((".", "?")) else f"{text}." for text in texts[:-1]), texts[-1]])


class RecordNumber(int):
    """Number of a record of a JSON list or a Parquet table, in place of a line."""


class FilePlace(int):
    """Number of a document among those of a folder, with its file and the line there."""

    path: str
    line: int


class InputError(LeadlineError, ValueError):
    """Invalid content in a file or table; the message says where, what is wrong and what to do.

    `code` is the kind of fault that `leadline check` counts.

    >>> str(InputError("score 'abc' is not a number", path="bad.run", line=7))
    "bad.run:7: score 'abc' is not a number"
    """

    def __init__(
        self, found: str, *, path: str = "", line: int | None = None, hint: str = "", code: str = "unreadable"
    ) -> None:
        self.code = code
        self.found = found
        self.path = path
        self.line = line
        self.hint = hint
        super().__init__(found)

    def __str__(self) -> str:
        path = self.path
        if "\n" in path or "\r" in path:
            path = repr(path[:60]) + "..." * (len(path) > 60)
        place = path if self.line is None else place_of(path, self.line)
        text = f"{place}: {self.found}" if place else self.found
        text = punctuated(sentences(text, self.hint) if self.hint else text)
        return "\\n".join(text.splitlines()) if not text.isprintable() else text  # names have line ends too

    def at(self, path: str, line: int | None = None, *, found: str = "") -> InputError:
        """Return the same error with the name of its file, and with a line and other words if given."""
        line = self.line if line is None else line
        return InputError(found or self.found, path=path, line=line, hint=self.hint, code=self.code)


def place_of(path: str, line: int) -> str:
    """Return a file and a place in it for a message.

    >>> place_of("a.csv", 3), place_of("a.json", RecordNumber(3)), place_of("", 3)
    ('a.csv:3', 'a.json, record 3', 'row 3')
    """
    if isinstance(line, FilePlace):
        return place_of(line.path, line.line)
    if isinstance(line, RecordNumber) and path:
        return f"{path}, record {line}"
    return f"{path}:{line}" if path else f"row {line}"


def repeated(
    what: str,
    *,
    first: str = "",
    verb: str = "appears",
    of: str = "",
    path: str = "",
    line: int | None = None,
    hint: str = "",
) -> InputError:
    """Return the refusal of what stands twice where it may stand once; `first` says where it stood before.

    >>> str(repeated("document 'd1'", of="query 'q1'", first="line 3", path="bad.run", line=7))
    "bad.run:7: document 'd1' appears twice for query 'q1' (first at line 3)"
    """
    found = f"{what} {verb} twice" + (f" for {of}" if of else "") + (f" (first at {first})" if first else "")
    return InputError(found, path=path, line=line, hint=hint)


def refuse_repeated(what: str, names: Iterable[object], *, path: str = "", line: int | None = None) -> None:
    """Refuse names of which one stands twice.

    >>> refuse_repeated("column", ["run", "AP", "run"], path="table.csv")
    Traceback (most recent call last):
        ...
    leadline.errors.InputError: table.csv: column 'run' appears twice
    """
    seen = set()
    for name in names:
        if name in seen:
            raise repeated(f"{what} '{name}'", path=path, line=line)
        seen.add(name)


def either(names: Iterable[str], word: str = "or") -> str:
    """Return names as alternatives, or joined by another word.

    >>> either(["AP"]), either(["AP", "RR", "P@10"])
    ('AP', 'AP, RR or P@10')
    """
    *others, last = names
    return f"{', '.join(others)} {word} {last}" if others else last


class UsageError(LeadlineError, ValueError):
    """Invalid options or combinations of options."""


class NoIntervalError(UsageError):
    """Estimates without a valid interval, which no test can tell apart: a gate on them cannot tell."""


def did_you_mean(name: str, known: Iterable[str], *, most: int = 3, cutoff: float = 0.6) -> str:
    """Return a question that names the known names nearest to an unknown one; empty if none is near.

    >>> did_you_mean("mesure", ["measure", "run"]), did_you_mean("x", ["measure"])
    ("Did you mean 'measure'?", '')
    """
    import difflib

    close = difflib.get_close_matches(name, list(known), most, cutoff)
    return meant(map(repr, close))


def meant(names: Iterable[str]) -> str:
    """Return a question that names what somebody may have meant; empty without names.

    >>> meant(["read.order", "read.kind"]), meant([])
    ('Did you mean read.order or read.kind?', '')
    """
    named = list(names)
    return f"Did you mean {either(named)}?" if named else ""


def _given(options: Mapping[str, object]) -> list[str]:
    plain = (int, str, tuple, list)  # a table has no truth value
    return [
        name
        for name, value in options.items()
        if value is not None and (not isinstance(value, plain) or value)
    ]


def one_of(options: Mapping[str, object]) -> None:
    """Raise UsageError if an option is given with others that exclude it; of several, it is the first one.

    >>> one_of({"--static": None, "--query": "tides"})
    >>> one_of({"--static": "first", "--query": "tides"})
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: use only one of --static and --query
    >>> one_of({"--files": "new", "-o": "new.html", "-f": "json"})
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: --files cannot be combined with -o or -f
    """
    names = _given(options)
    if len(names) == 2:
        raise UsageError(f"use only one of {names[0]} and {names[1]}")
    if len(names) > 2:  # the others may go together
        raise UsageError(f"{names[0]} cannot be combined with {either(names[1:])}")


def both(options: Mapping[str, object], needed: Mapping[str, object]) -> None:
    """Raise UsageError if an option is given without one that it needs.

    >>> both({"--docs": None}, {"--qrels": None})
    >>> both({"--docs": "docs.jsonl"}, {"--qrels": None})
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: --docs needs --qrels
    """
    names = _given(options)
    lacking = [name for name in needed if name not in _given(needed)]
    if names and lacking:
        raise UsageError(f"{names[0]} needs {lacking[0]}")


def together(first: Mapping[str, object], second: Mapping[str, object]) -> None:
    """Raise UsageError if one of two options is given without the other."""
    both(first, second)
    both(second, first)


class UnknownNameError(UsageError):
    """An unknown name; the message lists the nearest known ones."""


class UnknownOptionError(UsageError, TypeError):
    """An unknown keyword of a function; the message suggests the nearest name."""


class MissingPackageError(LeadlineError, ImportError):
    """A required optional package is not installed; the message says how to install it."""


class UnknownIdError(LeadlineError, KeyError):
    """An unknown id; the message suggests the nearest names, which are searched when it is shown.

    >>> print(UnknownIdError("q10", ["q1", "q20"], "in run 'bm25'"))
    there is no query 'q10' in run 'bm25'. Did you mean 'q1' or 'q20'?
    >>> print(UnknownIdError("x", ["q1"], "in run 'bm25'"))
    there is no query 'x' in run 'bm25'. The only query is 'q1'.
    """

    def __init__(self, name: object, known: Iterable[str], where: str = "") -> None:
        super().__init__(name, known, where)
        self.name = name
        self.known = known
        self.where = where

    def __str__(self) -> str:
        found = f"there is no query {self.name!r} {self.where}."
        if not isinstance(self.name, str):
            text = self.name.decode(errors="replace") if isinstance(self.name, bytes) else str(self.name)
            return f"{found} Ids are text." + f" Use {text!r}." * (self.name is not None)
        names = list(self.known)
        if meant := did_you_mean(self.name, names):
            return f"{found} {meant}"
        first = ", ".join(map(repr, names[:3])) + ", ..." * (len(names) > 3)
        are = "queries are" if len(names) > 1 else "only query is"
        return punctuated(f"{found} The {are} {first}") if names else f"{found} It is empty."


# Attributes of the objects of other programs, and what says the same here: the first call that there is.
WORDS = {
    "save": ("write(path)",),
    "to_file": ("write(path)",),
    "dump": ("write(path)",),
    "json": ("to_json()",),
    "dict": ("to_dict()",),
    "as_dict": ("to_dict()",),
    "to_string": ("text()",),
    "show": ("plot()",),
    "summary": ("table()",),
    "scores": ("per_query()", "pairs"),
    "mean_scores": ("means",),
    "metrics": ("measures",),
    "systems": ("names",),
    "pvalue": ("p",),
    "p_value": ("p",),
    "diff": ("difference",),
    "delta": ("difference",),
    "mean_difference": ("difference",),
    "confidence_interval": ("low and high",),
    "ci": ("low and high",),
    "conf_int": ("low and high",),
    "significant_pairs": ("pairs",),
}
FRAME = "to_excel df frame to_df to_frame to_dataframe head tail describe loc iloc shape index columns T"
WORDS |= dict.fromkeys(FRAME.split(), ("to_pandas()",))
READING = ("load", "read", "open", "from_")  # beginnings of attributes of classes that read data


class AnsweringType(type):
    """Type of `Answering`: the attributes of a class are answered as those of its objects are."""

    if not TYPE_CHECKING:  # for which any attribute would be there

        def __getattr__(cls, name: str) -> object:
            """Refuse an attribute that is not there, naming what reads such an object."""
            hint = f". Use {cls._read_by}." if cls._read_by and name.startswith(READING) else ""
            about = {"name": name} if hint else {}
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}{hint}", **about)


class Answering(metaclass=AnsweringType):
    """Base of the objects that users hold: a missing attribute is refused with the call for what it means.

    `_words` are attributes of other programs, as `WORDS`, for one class alone; `_read_by` is the call that
    reads such an object.
    """

    _words: ClassVar[Mapping[str, str]] = {}
    _read_by: ClassVar[str] = ""

    if not TYPE_CHECKING:  # for which any attribute would be there

        def __getattr__(self, name: str) -> object:
            """Refuse an attribute that is not there, naming what other programs call so."""
            call = "" if name.startswith("_") else self._call_for(name)
            hint = f". Use {call}." if call else ""
            about = {"name": name} if hint else {}  # without an object, Python adds no guess of its own
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", **about)

    def _call_for(self, name: str) -> str:
        """Return what says here what other programs call so; empty if nothing does."""
        if name in self._words:
            return self._words[name].format_map(self._filled())
        calls = WORDS.get(name, ())
        there = (one for one in calls if hasattr(type(self), one.partition(" ")[0].partition("(")[0]))
        return next(there, "") or self._other_call_for(name)

    def _other_call_for(self, name: str) -> str:  # noqa: ARG002  # subclasses have names
        """Return what says the same in objects of this class, given what other programs may call anything."""
        return ""

    def _filled(self) -> Mapping[str, str]:
        """Return the names that calls are filled with."""
        return {}
