"""Access to the judging page: tokens, origins, and limits on repeated requests."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import math
from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response

from leadline.errors import UsageError
from leadline.judging.serving import is_loopback


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
    ) -> None:
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


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LARGEST = 2_000_000  # bytes of a request


class Guard:
    """Lets through what the page itself asks for.

    `token` is asked of everybody where there is one. `local` pages answer only to names of this machine, so
    that no foreign name can be pointed at them. A post must come from the page: its origin, and a secret that
    only the page knows.
    """

    def __init__(self, app: Any, *, token: str | None, local: bool, secret: str, store: str) -> None:
        self.app = app
        self.token = token
        self.local = local
        self.secret = secret
        self.cookie = f"leadline-{store}"
        self.guesses = Guesses()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the question on."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        rejected = self._refusal(scope, headers)

        started = False

        async def guarded(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                found = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    found[name] = value
                if not scope["path"].startswith("/static/"):
                    found["Cache-Control"] = "no-store"
            await send(message)

        try:
            await (self.app if rejected is None else rejected)(scope, receive, guarded)
        except asyncio.CancelledError:  # the server stops, and this request never came to its end
            if not started:
                await PlainTextResponse("The server stops.\n", 503)(scope, receive, guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = _split(f"//{headers.get('host', '')}")
        if self.local and not is_loopback(host):
            return PlainTextResponse("This page answers to names of this machine only.\n", 421)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST:
            return PlainTextResponse("The request is too long.\n", 413)
        opening = scope["path"] == "/enter" or scope["path"].startswith("/static/")
        if self.token is not None and not opening and not self.knows(headers):
            if scope["path"].startswith("/api/"):
                return PlainTextResponse("The token is missing: open the page with it again.\n", 401)
            return Response(status_code=303, headers={"location": "/enter"})
        if scope["method"] not in ("GET", "HEAD") and not self._is_own(scope, headers):
            return PlainTextResponse(
                "The request does not come from a page of the store that is judged here now: open the page "
                "again. What it has not saved stays in this browser.\n",
                403,
            )
        return None

    def _is_own(self, scope: Scope, headers: Headers) -> bool:
        origin = headers.get("origin", "")
        if origin != f"{scope['scheme']}://{headers.get('host', '')}":
            return False
        given = headers.get("x-leadline", "")
        return scope["path"] == "/enter" or hmac.compare_digest(given.encode(), self.secret.encode())

    def admits(self, given: str, address: str) -> bool:
        """Compare a token in a time that tells nothing about it; `address` is that of the client.

        Raises
        ------
        TooManyError
            If there were too many wrong tokens; the token is not compared then.

        """
        if self.token is None:
            return False
        self.guesses.check(address)
        if hmac.compare_digest(given.encode(), self.token.encode()):
            return True
        self.guesses.count(address)
        return False

    def proof(self) -> str:
        """Give what the cookie holds for one who gave the token.

        It depends on the secret of the store, so that a cookie cannot be used to guess tokens.
        """
        return hmac.new(self.secret.encode(), f"{self.token}".encode(), sha256).hexdigest()

    def knows(self, headers: Headers) -> bool:
        """Say whether the cookie of one who gave the token is there."""
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self.proof().encode())


def _split(text: str) -> str:
    try:
        return urlsplit(text).hostname or ""
    except ValueError:
        return ""
