"""Limits on what a stranger may repeat: wrong tokens, and new names of judges."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Callable
from threading import Lock
from time import monotonic

from leadline.errors import UsageError


class TooManyError(UsageError):
    """Something was tried too often; `wait` is the number of seconds until it is allowed again."""

    def __init__(self, what: str, wait: float) -> None:
        self.wait = max(1, math.ceil(wait))
        unit = "second" if self.wait == 1 else "seconds"
        super().__init__(f"{what}; try again in {self.wait} {unit}")


class Limit:
    """A token bucket for each key: `burst` at once, then one every `seconds`.

    Parameters
    ----------
    burst : int
        How many are allowed at once.
    seconds : float
        Time after which one more is allowed.
    keys : int, default 10,000
        Keys kept in memory; beyond, the one that was used longest ago is forgotten.
    clock : callable, optional
        A clock that never goes back.

    Examples
    --------
    >>> now = 0.0
    >>> limit = Limit(2, 10, clock=lambda: now)
    >>> limit.take(), limit.take(), limit.wait()
    (None, None, 10.0)
    >>> now = 15.0
    >>> limit.wait()
    0.0

    """

    def __init__(
        self, burst: int, seconds: float, *, keys: int = 10_000, clock: Callable[[], float] = monotonic
    ) -> None:  # fmt: skip
        self.burst = burst
        self.seconds = seconds
        self._keys = keys
        self._clock = clock
        self._lock = Lock()
        self._full: dict[str, float] = {}  # when the bucket of a key is full again

    def _until_full(self, key: str) -> float:
        return max(0.0, self._full.get(key, 0.0) - self._clock())

    def wait(self, key: str = "") -> float:
        """Return the seconds until one more is allowed, 0 for now."""
        with self._lock:
            return max(0.0, self._until_full(key) - (self.burst - 1) * self.seconds)

    def take(self, key: str = "") -> None:
        """Count one."""
        with self._lock:
            until = self._until_full(key)
            self._full.pop(key, None)
            self._full[key] = self._clock() + until + self.seconds
            if len(self._full) > self._keys:
                del self._full[next(iter(self._full))]


class Guesses:
    """Wrong tokens: ten from an address at once, a hundred from all; then one in 30 and one in 3 seconds."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._of_one = Limit(10, 30, clock=clock)
        self._of_all = Limit(100, 3, clock=clock)

    def check(self, address: str) -> None:
        """Refuse another guess from an address, right or wrong, when there were too many wrong ones.

        Raises
        ------
        TooManyError
            If the limit of this address or of all addresses is reached.

        """
        wait = max(self._of_one.wait(network(address)), self._of_all.wait())
        if wait > 0:
            raise TooManyError("Too many wrong tokens", wait)

    def count(self, address: str) -> None:
        """Count a wrong guess."""
        self._of_one.take(network(address))
        self._of_all.take()


def network(address: str) -> str:
    """Return what one client can choose its address from: for IPv6 a network of 64 bits.

    >>> network("192.0.2.1"), network("2001:db8::1"), network("unknown")
    ('192.0.2.1', '2001:db8::/64', 'unknown')
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found), 64), strict=False))
