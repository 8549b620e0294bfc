"""What stands before the judging page: who may ask, from where, and what a browser may do with the answer."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response

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
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the question on."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        refused = self._refusal(scope, headers)

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                found = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    found[name] = value
                if not scope["path"].startswith("/static/"):
                    found["Cache-Control"] = "no-store"
            await send(message)

        await (self.app if refused is None else refused)(scope, receive, guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = _split(f"//{headers.get('host', '')}")
        if self.local and host not in LOOPBACK:
            return PlainTextResponse("This page answers to names of this machine only.\n", 421)
        if int(headers.get("content-length", "0") or 0) > LARGEST:
            return PlainTextResponse("The request is too long.\n", 413)
        opening = scope["path"] == "/enter" or scope["path"].startswith("/static/")
        if self.token is not None and not opening and not self.knows(headers):
            if scope["path"].startswith("/api/"):
                return PlainTextResponse(
                    "The token is missing: open the page with it again.\n", 401
                )
            return Response(status_code=303, headers={"location": "/enter"})
        if scope["method"] not in ("GET", "HEAD") and not self._is_own(scope, headers):
            return PlainTextResponse("The request does not come from the judging page.\n", 403)
        return None

    def _is_own(self, scope: Scope, headers: Headers) -> bool:
        origin = headers.get("origin", "")
        if origin != f"{scope['scheme']}://{headers.get('host', '')}":
            return False
        given = headers.get("x-leadline", "")
        return scope["path"] == "/enter" or hmac.compare_digest(
            given.encode(), self.secret.encode()
        )

    def is_token(self, given: str) -> bool:
        """Compare a token in a time that tells nothing about it."""
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def proof(self) -> str:
        """Give what the cookie holds for one who gave the token."""
        return sha256(f"{self.token}".encode()).hexdigest()

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
