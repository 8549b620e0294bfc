"""Server of the judging page, one per store: where it listens, and tokens, origins and limits of access."""

from __future__ import annotations

import asyncio
import errno
import hmac
import ipaddress
import logging
import math
import os
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response

from leadline.data.ids import is_utf8
from leadline.data.wording import counted
from leadline.errors import UsageError


class TooManyError(UsageError):
    """A rate limit was reached; `wait` is the number of seconds until the next attempt is allowed."""

    def __init__(self, message: str, wait: float) -> None:
        self.wait = max(1, math.ceil(wait))
        super().__init__(f"{message}. Try again in {counted(self.wait, 'second')}.")


class RateLimit:
    """A token bucket for each key: `burst` at once, then one every `seconds`.

    Of more keys than `keys`, the one that was used longest ago is forgotten.

    >>> now = 0.0
    >>> limit = RateLimit(2, 10, clock=lambda: now)
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
        """Return the number of seconds until another event is allowed, 0 if now."""
        with self._lock:
            return max(0.0, self._until_full(key) - (self.burst - 1) * self.seconds)

    def take(self, key: str = "") -> None:
        """Count one event."""
        with self._lock:
            until = self._until_full(key)
            self._full.pop(key, None)
            self._full[key] = self._clock() + until + self.seconds
            if len(self._full) > self._keys:
                del self._full[next(iter(self._full))]


class TokenAttempts:
    """Rate limits of wrong tokens: 10 per address, 100 in total; then one in 30 and one in 3 seconds."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._of_one = RateLimit(10, 30, clock=clock)
        self._of_all = RateLimit(100, 3, clock=clock)

    def check(self, address: str) -> None:
        """Reject another attempt from an address after too many wrong ones."""
        wait = max(self._of_one.wait(network(address)), self._of_all.wait())
        if wait > 0:
            raise TooManyError("too many wrong tokens", wait)

    def count(self, address: str) -> None:
        """Count a wrong attempt."""
        self._of_one.take(network(address))
        self._of_all.take()


def network(address: str) -> str:
    """Return the network from which one client can choose its address: for IPv6, of 64 bits.

    >>> network("192.0.2.1"), network("2001:db8::1"), network("unknown")
    ('192.0.2.1', '2001:db8::/64', 'unknown')
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((int(parsed), 64), strict=False))


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; script-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LARGEST = 2_000_000  # bytes of a request


class AccessControl:
    """Middleware that rejects requests not made by the page.

    `token` is required of every client if set. `local` pages accept only host names of this machine, which
    prevents DNS rebinding. A POST request must have the page's origin and a secret known only to the page.
    """

    def __init__(self, app: Any, *, token: str | None, local: bool, secret: str, store: str) -> None:
        self.app = app
        self.token = token
        self.local = local
        self.secret = secret
        self.cookie = f"leadline-{store}"
        self.guesses = TokenAttempts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond with an error, or forward the request."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)

        started = False

        async def guarded(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                response_headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    response_headers[name] = value
                if not scope["path"].startswith("/static/"):
                    response_headers["Cache-Control"] = "no-store"
            await send(message)

        try:
            await (self.app if refusal is None else refusal)(scope, receive, guarded)
        except asyncio.CancelledError:  # the server stops, and this request never came to its end
            if not started:
                await PlainTextResponse("The server is stopping.\n", 503)(scope, receive, guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = _split(f"//{headers.get('host', '')}")
        if self.local and not is_loopback(host):
            return PlainTextResponse(
                "On the machine where `leadline judge` runs, open the address it printed.\n", 421
            )
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST:
            return PlainTextResponse(f"The request is longer than {LARGEST:,} bytes.\n", 413)
        opening = scope["path"] == "/enter" or scope["path"].startswith("/static/")
        if self.token is not None and not opening and not self.knows(headers):
            if scope["path"].startswith("/api/"):
                return PlainTextResponse(
                    "The token is missing or old. Open the newest link to this page.\n", 401
                )
            return Response(status_code=303, headers={"location": "/enter"})
        if scope["method"] not in ("GET", "HEAD") and not self._is_own(scope, headers):
            return PlainTextResponse(
                "This request did not come from the judging page of this store. Reload the page. This "
                "browser keeps unsaved judgments.\n",
                403,
            )
        return None

    def _is_own(self, scope: Scope, headers: Headers) -> bool:
        origin = headers.get("origin", "")
        if origin != f"{scope['scheme']}://{headers.get('host', '')}":
            return False
        secret = headers.get("x-leadline", "")
        return scope["path"] == "/enter" or hmac.compare_digest(secret.encode(), self.secret.encode())

    def admits(self, token: str, address: str) -> bool:
        """Return whether a token is correct, in constant time; `address` is that of the client."""
        if self.token is None:
            return False
        self.guesses.check(address)
        if hmac.compare_digest(token.encode(), self.token.encode()):
            return True
        self.guesses.count(address)
        return False

    def proof(self) -> str:
        """Return the cookie value that stands for the token.

        It depends on the secret of the store, so that the cookie cannot be used to guess tokens.
        """
        return hmac.new(self.secret.encode(), f"{self.token}".encode(), sha256).hexdigest()

    def knows(self, headers: Headers) -> bool:
        """Return whether the request has the cookie set for the token."""
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), self.proof().encode())


def _split(text: str) -> str:
    try:
        return urlsplit(text).hostname or ""
    except ValueError:
        return ""


SHORTEST = 8  # letters of a token


def is_loopback(host: str) -> bool:
    """Return whether a host is reachable from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Bind a port; 0 selects a free one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:  # the latter of a name that is no name of a host
        cause = (getattr(error, "strerror", "") or str(error)).partition(" (")[0]
        of_port = getattr(error, "errno", None) in (errno.EADDRINUSE, errno.EACCES)
        hint = "Use --port 0 for any free port" if of_port else "Check --host"
        raise UsageError(f"the server cannot listen on {host}, port {port} ({cause}). {hint}.") from None


def token_for(host: str, token: str | None) -> str | None:
    """Return a valid token; generate one if the page is reachable from other machines."""
    if token is None:
        return None if is_loopback(host) else secrets.token_urlsafe(16)
    if len(token) < SHORTEST or token != token.strip() or not is_utf8(token):
        length = f"has {counted(len(token), 'character')}"
        found = length if token == token.strip() else "begins or ends with whitespace"
        raise UsageError(
            f"the token {found if is_utf8(token) else 'is not valid UTF-8'}. Use at least {SHORTEST} "
            "characters, without leading or trailing whitespace."
        )
    return token


def link(socket_: socket.socket, host: str, token: str | None) -> str:
    """Return the address of the page, with the token if there is one."""
    port = socket_.getsockname()[1]
    name = socket.gethostname() if host in ("0.0.0.0", "::") else host  # noqa: S104  # is read, not bound
    address = f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"
    return address if token is None else f"{address}enter?token={quote(token)}"


def show(link: str) -> None:
    """Open a browser in another thread; none without a display, since a terminal browser would block."""
    if sys.platform.startswith("linux") and not {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        return
    threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


def run(app: Any, socket_: socket.socket, on_start: Callable[[], None]) -> None:
    """Serve until interrupted by Ctrl-C or a termination signal.

    SIGTERM and SIGHUP would otherwise end the process before the store is closed.
    """
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_start()

    def stop(number: int, _frame: object) -> None:
        if number == signal.SIGTERM:  # the server has stopped, and passes the signal on
            raise SystemExit(128 + number)
        server.should_exit = True
        stopped_by.append(number)

    sys.setswitchinterval(0.0002)  # a summary that is made for one judge does not hold up the others
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=2,
    )
    # Requests that are cut off when the page stops were not answered: their pages send them again.
    logging.getLogger("uvicorn.error").addFilter(lambda record: "graceful shutdown" not in str(record.msg))
    server = Server(config)
    stopped_by: list[int] = []
    signals = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    if threading.current_thread() is not threading.main_thread():  # which alone may set handlers
        signals = []
    before = {number: signal.signal(number, stop) for number in signals}
    try:
        server.run(sockets=[socket_])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stopped_by:
        raise SystemExit(128 + stopped_by[0])
