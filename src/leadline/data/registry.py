"""One text grammar for everything that has a name and parameters, and one way to look names up.

`Named` objects are small frozen values whose text is `Name(k=v,...)@cutoff`, defaults left out;
`Registry` finds the named classes of a package in its modules. Slow imports stand where they
are used: this is on the way of every start.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from numbers import Real
from types import ModuleType
from typing import Any, ClassVar, Generic, NoReturn, TypeVar, dataclass_transform

from leadline.errors import UnknownNameError, UsageError

# Name(k=v,...)@at, and as others write it: name_at_10, name_10, name.10, name@10-l2. Several values
# after the mark, as in P.5,10, mean several objects.
GRAMMAR = re.compile(
    r"(?P<name>[^\s()@=,]+?)(?:\((?P<given>[^()]*)\))?"
    r"(?:@(?P<at>[^()@]+?)|(?:_at_|[._])(?P<loose>[0-9.]+(?:,[0-9.]+)*))?(?:-l(?P<rel>\d+))?"
)
Aliases = Mapping[str, Mapping[str, object]]
DefaultCutoffs = Mapping[str, tuple[object, ...]]
Rejected = Mapping[str, str]
# What follows a comma and belongs to what stands before it: P.5,10 and ndcg.1=3,2=9
CONTINUED = re.compile(r"\s*[-+]?[0-9.][-+0-9.eE]*\s*(=.*)?")
LARGEST = 10**9  # of whole numbers: a longer list than any, and safe in every integer type


class Parameter:
    """One parameter of a named class: its default, how text becomes a value, what is allowed."""

    def __init__(
        self,
        default: object,
        *,
        kind: type,
        low: float | None = None,
        high: float | None = None,
        open_ends: bool = False,
        options: tuple[str, ...] = (),
        at: bool = False,
        words: tuple[str, ...] = (),
    ) -> None:
        self.default = default
        self.kind = kind
        self.low = low
        self.high = high
        self.open_ends = open_ends
        self.options = options
        self.at = at
        self.words = words

    def expected(self) -> str:
        """Describe what is allowed."""
        if self.options:
            return " or ".join(self.options)
        noun = "a whole number" if self.kind is int else "a number"
        between = "between" if self.open_ends else "from"
        joint = "and" if self.open_ends else "to"
        if self.low is not None and self.high is not None:
            noun += f" {between} {show(self.low)} {joint} {show(self.high)}"
        elif self.low is not None:
            noun += f" above {show(self.low)}" if self.open_ends else f", {show(self.low)} or more"
        return noun + "".join(f", or {word}" for word in self.words)

    def read(self, value: object) -> object:
        """Turn text or a value into an allowed value; ValueError when it is none."""
        if value is None and self.default is None:
            return None
        if self.options or value in self.words:
            if value not in (*self.options, *self.words):
                raise ValueError
            return value
        if type(value) is bool or not isinstance(value, (str, Real)):
            raise ValueError
        if isinstance(value, str) and (not value.isascii() or "_" in value):
            raise ValueError
        number = float(value)
        self._check_range(number)
        if self.kind is float:
            return number + 0.0  # there is no -0
        if number != int(number) or abs(number) > LARGEST:
            raise ValueError
        return int(number)

    def _check_range(self, number: float) -> None:
        low = float("-inf") if self.low is None else self.low
        high = float("inf") if self.high is None else self.high
        inside = low < number < high if self.open_ends else low <= number <= high
        if not inside or number in (float("inf"), float("-inf")):
            raise ValueError


def whole(default: int | None, *, low: int | None = 1, words: tuple[str, ...] = ()) -> Any:
    """Declare a parameter that is a whole number."""
    return Parameter(default, kind=int, low=low, words=words)


def number(
    default: float, *, low: float | None = None, high: float | None = None, open_ends: bool = False
) -> Any:
    """Declare a parameter that is a number; `open_ends` leaves the ends of the interval out."""
    return Parameter(default, kind=float, low=low, high=high, open_ends=open_ends)


def choice(default: str, *options: str) -> Any:
    """Declare a parameter that is one of some words, the default first."""
    return Parameter(default, kind=str, options=(default, *options))


def cutoff() -> Any:
    """Declare the optional rank after `@` below which nothing matters."""
    return Parameter(None, kind=int, low=1, at=True)


def needed_cutoff() -> Any:
    """Declare the rank after `@` that must be given."""
    return Parameter(..., kind=int, low=1, at=True)


def recall_level() -> Any:
    """Declare the recall level after `@` that must be given."""
    return Parameter(..., kind=float, low=0.0, high=1.0, at=True)


def show(value: object) -> str:
    """Write a parameter's value in its shortest form."""
    return f"{value:.17g}" if isinstance(value, float) and value == int(value) else str(value)


def split_names(text: str) -> list[str]:
    """Split a list of names at the commas outside brackets that a new name follows.

    >>> split_names("AP,nDCG(gain=exp,discount=jk)@10,P.5,10")
    ['AP', 'nDCG(gain=exp,discount=jk)@10', 'P.5,10']
    """
    found: list[str] = []
    for part in text.split(","):
        inside = bool(found) and found[-1].count("(") > found[-1].count(")")
        if found and (inside or not part.strip() or CONTINUED.fullmatch(part)):
            found[-1] += "," + part
        else:
            found.append(part)
    return found if all(part.strip() for part in found) else [text]


def collapsed(name: str) -> str:
    """Return a name in lower case without hyphens and underscores.

    >>> collapsed("Benjamini-Hochberg"), collapsed("t-test")
    ('benjaminihochberg', 'ttest')
    """
    return name.lower().replace("-", "").replace("_", "")


class ParametricType(type):
    """The type of parametric classes: `nDCG @ 10` is `nDCG(cutoff=10)`."""

    def __matmul__(cls, value: object) -> Any:
        """Return the object with this value after `@`."""
        return _at(cls, value)(value)


def _at(owner: Any, value: object) -> Any:
    """Return the constructor that takes the value after `@`; an error where the class takes none."""
    name = owner.at_name()
    if name is None:
        label = owner if isinstance(owner, type) else type(owner)
        raise UsageError(f"{label.__name__} @ {value}; {label.__name__} takes no cutoff")
    make = owner if isinstance(owner, type) else owner.replace
    return lambda given: make(**{name: given})


# Type checkers know the parameters of a class from its annotations: `nDCG(cutof=10)` is an error. Those with
# `needed_cutoff` and `recall_level` must be given; all others have a default.
@dataclass_transform(
    kw_only_default=True, frozen_default=True, field_specifiers=(needed_cutoff, recall_level)
)
class Parametric(metaclass=ParametricType):
    """A frozen value with parameters, a text form, equality and hash.

    `aliases` are other names of the class, with the parameters that each sets; `cutoff_aliases` are those
    that mean it only where a value follows `@`. `default_cutoffs` are the values after `@` that an alias
    means when none is written; an empty tuple: the alias takes none. `rejected` gives the reason why a
    parameter that one might expect does not exist. `positional` is the parameter that is always written
    without its name: `TF(dot)`.
    """

    aliases: ClassVar[Aliases] = {}
    cutoff_aliases: ClassVar[Aliases] = {}
    default_cutoffs: ClassVar[DefaultCutoffs] = {}
    rejected: ClassVar[Rejected] = {}
    positional: ClassVar[str] = ""

    def __init__(self, **given: object) -> None:
        parameters = self.parameters()
        for name in given:
            if name not in parameters:
                reason = self.rejected.get(name, "it has: " + (", ".join(parameters) or "none"))
                raise UsageError(f"{type(self).__name__} has no parameter '{name}'; {reason}")
        for name, parameter in parameters.items():
            value = given.get(name, parameter.default)
            if value is ...:
                raise UsageError(f"{type(self).__name__} needs a cutoff, as in {self.sample()}")
            try:
                object.__setattr__(self, name, parameter.read(value))
            except (ValueError, OverflowError):
                label = f"@{value}" if parameter.at else f"{name}={value}"
                raise UsageError(
                    f"{label} in {type(self).__name__}; expected {parameter.expected()}"
                ) from None
        self.settle()

    def settle(self) -> None:
        """Check or complete the parameters once they are set: for those that depend on one another."""

    @classmethod
    @cache
    def parameters(cls) -> dict[str, Parameter]:
        """Return the declared parameters by name, in the order of declaration."""
        found: dict[str, Parameter] = {}
        for base in reversed(cls.__mro__):
            found |= {name: value for name, value in vars(base).items() if isinstance(value, Parameter)}
        return found

    @classmethod
    def at_name(cls) -> str | None:
        """Return the name of the parameter that is written after `@`, if there is one."""
        return next((name for name, parameter in cls.parameters().items() if parameter.at), None)

    @classmethod
    def sample(cls) -> str:
        """Return a text of this class that parses."""
        at = cls.at_name()
        if at is None or cls.parameters()[at].default is None:
            return cls.__name__
        return f"{cls.__name__}@{10 if cls.parameters()[at].kind is int else 0.1}"

    def replace(self, **changes: object) -> Any:
        """Return the same with some parameters changed."""
        return type(self)(**{name: getattr(self, name) for name in self.parameters()} | changes)

    def __matmul__(self, value: object) -> Any:
        """Return the same with this value after `@`: `nDCG(gain="exp") @ 10`."""
        return _at(self, value)(value)

    def __str__(self) -> str:
        given = ",".join(
            ("" if name == self.positional else f"{name}=") + show(getattr(self, name))
            for name, parameter in self.parameters().items()
            if name == self.positional or (not parameter.at and getattr(self, name) != parameter.default)
        )
        at = self.at_name()
        value = None if at is None else getattr(self, at)
        return (
            type(self).__name__
            + (f"({given})" if given else "")
            + (f"@{show(value)}" if value is not None else "")
        )

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and str(other) == str(self)

    def __hash__(self) -> int:
        return hash(str(self))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is read-only; use replace({name}=...)")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is read-only; {name} stays")


N = TypeVar("N", bound=Parametric)


class Registry(Generic[N]):
    """The named classes of one package, found by looking into its files.

    `prefixes` may stand before a name that a cutoff follows, and change nothing: `cosine_ndcg@10`.
    """

    def __init__(
        self, package: ModuleType, base: type[N], noun: str, *, prefixes: Sequence[str] = ()
    ) -> None:
        self.package = package
        self.base = base
        self.noun = noun
        self.prefixes = prefixes

    def __repr__(self) -> str:
        return f"Registry({self.package.__name__}, {self.noun})"

    @cached_property
    def classes(self) -> dict[str, type[N]]:
        """Return the public classes by name."""
        found: dict[str, type[N]] = {}
        for module in self._modules():
            for name, value in self._classes_of(module).items():
                if name in found:
                    raise TypeError(f"two classes called {name} in {self.package.__name__}")
                found[name] = value
        return dict(sorted(found.items(), key=lambda item: item[0].lower()))

    def _modules(self) -> Iterator[ModuleType]:
        if not hasattr(self.package, "__path__"):
            yield self.package
            return
        for entry in pkgutil.iter_modules(self.package.__path__):
            yield importlib.import_module(f"{self.package.__name__}.{entry.name}")

    @cached_property
    def _spelled(self) -> dict[str, tuple[type[N], Mapping[str, object]]]:
        found: dict[str, tuple[type[N], Mapping[str, object]]] = {
            name.lower(): (kind, {}) for name, kind in self.classes.items()
        }
        for kind in self.classes.values():
            for spelling, preset in kind.aliases.items():
                if found.setdefault(spelling.lower(), (kind, preset)) != (kind, preset):
                    raise TypeError(f"the spelling {spelling} means two things")
        return found

    @cached_property
    def _collapsed(self) -> dict[str, tuple[type[N], Mapping[str, object]]]:
        """Return what names without hyphens and underscores mean, those that mean one thing."""
        found: dict[str, list[tuple[type[N], Mapping[str, object]]]] = {}
        for spelling, meant in self._spelled.items():
            meanings = found.setdefault(collapsed(spelling), [])
            meanings += [meant] * (meant not in meanings)
        return {name: meanings[0] for name, meanings in found.items() if len(meanings) == 1}

    @cached_property
    def _cut(self) -> dict[str, tuple[type[N], Mapping[str, object]]]:
        """Return what names mean that a value after `@` follows, where it differs."""
        return {
            collapsed(spelling): (kind, preset)
            for kind in self.classes.values()
            for spelling, preset in kind.cutoff_aliases.items()
        }

    def find(self, name: str, *, cut: bool = False) -> tuple[type[N], Mapping[str, object]] | None:
        """Return the class that a bare name means and the parameters that this spelling sets.

        Parameters
        ----------
        name : str
            A canonical name, or another spelling in upper or lower case.
        cut : bool
            Whether a value after `@` follows.

        Returns
        -------
        tuple or None
            The class and its parameters; None where no class is meant.

        """
        kind = self._alone(name)
        if kind is not None:
            return kind, {}
        if name in self.classes:
            return self.classes[name], {}
        key = collapsed(name)
        if cut and key in self._cut:
            return self._cut[key]
        found = self._spelled.get(name.lower()) or self._collapsed.get(key)
        prefix, _, rest = name.partition("_")
        if found is None and cut and rest and prefix.lower() in self.prefixes:
            return self.find(rest, cut=True)
        return found

    def class_named(self, name: str) -> type[N] | None:
        """Return the class with exactly this name, or None; at most one file is imported."""
        if "classes" in vars(self):
            return self.classes.get(name)
        return self._alone(name)

    def _alone(self, name: str) -> type[N] | None:
        """Import only the file that defines a class."""
        if "classes" in vars(self) or name not in self._homes:
            return None
        module = importlib.import_module(f"{self.package.__name__}.{self._homes[name]}")
        return self._classes_of(module).get(name)

    @cached_property
    def _homes(self) -> dict[str, str]:
        """Return which file defines which class, from the texts of the files, without importing any."""
        found: dict[str, str] = {}
        for folder in getattr(self.package, "__path__", ()):
            for entry in os.scandir(folder):
                if entry.name.endswith(".py") and not entry.name.startswith("_"):
                    with open(entry.path, encoding="utf-8") as file:
                        names = re.findall(r"^class (\w+)\(", file.read(), re.MULTILINE)
                    found |= dict.fromkeys(names, entry.name.removesuffix(".py"))
        return found

    def _classes_of(self, module: ModuleType) -> dict[str, type[N]]:
        """Return the public subclasses of the base class defined in a module."""
        return {
            name: value
            for name, value in vars(module).items()
            if isinstance(value, type)
            and issubclass(value, self.base)
            and value.__module__ == module.__name__
            and not name.startswith("_")
            and value is not self.base
        }

    def parse(self, text: str) -> N:
        """Make the one object that a text means."""
        found = self.expand(text)
        if len(found) != 1:
            raise UsageError(f"'{text}' means {len(found)} {self.noun}s; expected one")
        return found[0]

    def expand(self, text: str) -> list[N]:
        """Make every object that a text means; a list such as `P.5,10` means several."""
        if not isinstance(text, str):
            raise UsageError(f"{self.noun} {text!r}; expected a name such as {next(iter(self.classes))}")
        text = " ".join(text.split())
        parts = GRAMMAR.fullmatch(text)
        cut = parts is not None and (parts["at"] or parts["loose"]) is not None
        meant = self.find(parts["name"], cut=cut) if parts else None
        if parts is None or meant is None:
            raise UnknownNameError(f"unknown {self.noun} '{text}'; {self._nearest(text)}")
        kind, preset = meant
        try:
            given = {**preset, **_given(parts, kind.positional)}
            return [kind(**given, **at) for at in _places(kind, parts, given)]
        except UsageError as error:
            raise UsageError(f"{self.noun} '{text}': {error}") from None

    def expand_all(self, texts: Iterable[str]) -> list[N]:
        """Make what all texts mean, each once, in order; report every bad one at once."""
        found: dict[N, None] = {}
        faults: list[str] = []
        parts = [part for text in texts for part in (split_names(text) if isinstance(text, str) else [text])]
        for text in parts:
            try:
                found |= dict.fromkeys(self.expand(text))
            except UsageError as error:
                faults.append(str(error))
        if faults:
            raise UsageError("; ".join(faults) + f" (see `leadline {self.noun}s`)")
        return list(found)

    def _nearest(self, text: str) -> str:
        import difflib

        parts = GRAMMAR.fullmatch(text)
        name = parts["name"] if parts else re.split(r"[\s()@=,]", text, maxsplit=1)[0]
        without = re.fullmatch(r"(.*[^\d_.])(\d+)", text)  # ndcg10
        meant = self.find(without[1], cut=True) if without else None
        if without and meant and meant[0].at_name():
            return "nearest: " + _example(meant[0], without[2])
        close = difflib.get_close_matches(name.lower(), self._spelled, n=3, cutoff=0.5)
        if not close:
            return "known: " + ", ".join(self.classes)
        written = (parts["at"] or parts["loose"]) if parts else None
        kinds = dict.fromkeys(self._spelled[match][0] for match in close)
        form = "" if parts else "expected Name(k=v,...)@cutoff; "
        return form + "nearest: " + ", ".join(_example(kind, written) for kind in kinds)


def _given(parts: re.Match[str], positional: str = "") -> dict[str, object]:
    """Read the parameters in brackets, and the level that ranx writes as -l2."""
    pairs = [part.partition("=") for part in (parts["given"] or "").split(",") if part.strip()]
    if parts["rel"] is not None:
        pairs.append(("rel", "=", parts["rel"]))
    found: dict[str, object] = {}
    for name, equals, value in pairs:
        if not equals and positional:
            name, value = positional, name  # noqa: PLW2901  # read as it is meant
        elif not equals:
            raise UsageError(f"'{name.strip()}'; expected name=value")
        if name.strip() in found:
            raise UsageError(f"{name.strip()} is given twice; expected once")
        found[name.strip()] = value.strip()
    return found


def _places(
    kind: type[Parametric], parts: re.Match[str], given: Mapping[str, object]
) -> list[dict[str, object]]:
    """Read what stands after the mark: a value for each object that is meant."""
    name = kind.at_name()
    default_cutoffs = (
        None if parts["name"] == kind.__name__ else kind.default_cutoffs.get(parts["name"].lower())
    )
    written = parts["at"] or parts["loose"]
    if written is None:
        return (
            [{name: value} for value in default_cutoffs]
            if name not in given and name and default_cutoffs
            else [{}]
        )
    if name is None or default_cutoffs == ():
        raise UsageError(f"{parts['name']} takes no cutoff; write {kind.sample()}")
    if name in given:
        raise UsageError(f"{name} is given twice; expected once")
    return [{name: value.strip()} for value in written.split(",")]


def _example(kind: type[Parametric], written: str | None) -> str:
    """Return a text of a class that parses, with what stood after the mark if that may be there."""
    at = kind.at_name()
    try:
        return str(kind(**{at: written})) if at and written else kind.sample()
    except UsageError:
        return kind.sample()
