"""Draw by hash: an order or a share that depends on a seed and on names, and on nothing else."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b


def draw(seed: int, *names: str) -> float:
    """Give a number from 0 up to 1 that looks random and is the same each time.

    >>> draw(0, "ann", "q1") == draw(0, "ann", "q1"), draw(0, "ann", "q1") == draw(1, "ann", "q1")
    (True, False)
    """
    return draws(seed, *names[:-1])(names[-1])


def draws(seed: int, *names: str) -> Callable[[str], float]:
    """Give the draws that differ in the last name only; many of them are quicker so.

    >>> draws(0, "ann")("q1") == draw(0, "ann", "q1")
    True
    """
    # The length stands before each name, so that no two lists of names read alike.
    first = f"{seed} {len(names)}" + "".join(f" {len(name)} {name}" for name in names) + " "
    begun = blake2b(first.encode("utf-8", "surrogatepass"), digest_size=8)

    def last(name: str) -> float:
        hashed = begun.copy()
        hashed.update(name.encode("utf-8", "surrogatepass"))
        return (int.from_bytes(hashed.digest(), "big") >> 11) / (1 << 53)

    return last
