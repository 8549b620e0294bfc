"""Kernels do not check indices: they refuse columns that are too short before they begin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import leadline
from strategies import ORIGINAL, Interpreted, in_form

RUN = {"q1": {"d1": 3.0, "d3": 2.0, "d2": 1.5}, "q2": {"d1": 1.0, "d2": 2.0}}
QRELS = {"q1": {"d1": 1, "d4": 0}, "q2": {"d2": 2}}
KERNELS = (
    *("scan", "hash_ids", "numbers", "pack", "fill_slots", "match", "arrange", "number_ids"),
    *("scan_records", "scan_mapping", "biased_overlaps"),
)


class Recorded:
    """Kernels that note the arguments of the call of each with the most elements."""

    def __init__(self, real: Any) -> None:
        self.real = real
        self.calls: dict[str, tuple[Any, ...]] = {}

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            if size_of(arguments) > size_of(self.calls.get(name, ())):
                self.calls[name] = tuple(copied(arguments))
            return getattr(self.real, name)(*arguments)

        return call


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, ...]]:
    folder = tmp_path_factory.mktemp("ranges")
    recorded = Recorded(ORIGINAL or Interpreted())
    with in_form(recorded):
        leadline.Qrels(QRELS).write(folder / "qrels.txt")
        for name in ("a.run", "b.run", "c.jsonl", "d.json"):
            leadline.Run(RUN).write(folder / name)
        runs = [str(path) for path in sorted(folder.glob("?.*"))]
        leadline.evaluate(folder / "qrels.txt", runs, measures=["AP"])
        leadline.difference(folder / "qrels.txt", runs)
    assert set(recorded.calls) >= set(KERNELS)
    return recorded.calls


def size_of(arguments: tuple[Any, ...]) -> int:
    return sum(part.size for part in arguments if isinstance(part, np.ndarray))


def copied(arguments: tuple[Any, ...]) -> list[Any]:
    return [part.copy() if isinstance(part, np.ndarray) else part for part in arguments]


@pytest.mark.parametrize("kind", ["compiled", "source"])
@pytest.mark.parametrize("name", KERNELS)
def test_columns_that_a_kernel_fills_are_refused_if_they_are_too_short(
    kind: str, name: str, calls: dict[str, tuple[Any, ...]]
) -> None:
    if kind == "compiled" and ORIGINAL is None:
        pytest.skip("the kernels are not compiled here")
    kernel = getattr(ORIGINAL if kind == "compiled" else Interpreted(), name)
    filled = copied(calls[name])
    kernel(*filled)
    places = [
        place
        for place, part in enumerate(filled)
        if isinstance(part, np.ndarray) and not np.array_equal(part, calls[name][place])
    ]
    assert places
    for place in places:
        arguments = copied(calls[name])
        arguments[place] = arguments[place][:0].copy()
        with pytest.raises(IndexError):
            kernel(*arguments)


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "biased_overlaps"])
def test_a_text_that_ends_too_early_is_refused(name: str, calls: dict[str, tuple[Any, ...]]) -> None:
    place = next(place for place, part in enumerate(calls[name]) if isinstance(part, np.ndarray))
    arguments = copied(calls[name])
    arguments[place] = arguments[place][:1].copy()
    with pytest.raises(IndexError):
        getattr(ORIGINAL or Interpreted(), name)(*arguments)
