"""What stands before the judging page: who may ask, from where, and what a browser may do with the answer."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response

from leadline.judging.limits import Guesses
from leadline.judging.serving import is_loopback

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

    def __init__(
        self, app: Any, *, token: str | None, local: bool, secret: str, store: str
    ) -> None:
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
        refused = self._refusal(scope, headers)

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
            await (self.app if refused is None else refused)(scope, receive, guarded)
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
                return PlainTextResponse(
                    "The token is missing: open the page with it again.\n", 401
                )
            return Response(status_code=303, headers={"location": "/enter"})
        if scope["method"] not in ("GET", "HEAD") and not self._is_own(scope, headers):
            return PlainTextResponse(
                "The request does not come from a page of the store that is judged here now: open the page "
                "again. What it has not saved stays in this browser.\n", 403
            )  # fmt: skip
        return None

    def _is_own(self, scope: Scope, headers: Headers) -> bool:
        origin = headers.get("origin", "")
        if origin != f"{scope['scheme']}://{headers.get('host', '')}":
            return False
        given = headers.get("x-leadline", "")
        return scope["path"] == "/enter" or hmac.compare_digest(
            given.encode(), self.secret.encode()
        )

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
        return found is not None and hmac.compare_digest(
            found.value.encode(), self.proof().encode()
        )


def _split(text: str) -> str:
    try:
        return urlsplit(text).hostname or ""
    except ValueError:
        return ""
