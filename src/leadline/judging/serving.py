"""Server of the judging page: one per store, local unless configured otherwise."""

from __future__ import annotations

import errno
import ipaddress
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from leadline.data.wording import counted
from leadline.errors import UsageError

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
    except OSError as error:
        cause = (error.strerror or str(error)).partition(" (")[0]
        of_port = error.errno in (errno.EADDRINUSE, errno.EACCES)
        hint = "Use --port 0 for any free port" if of_port else "Check the host"
        raise UsageError(f"the page cannot listen on {host}, port {port} ({cause}). {hint}.") from None


def token_for(host: str, token: str | None) -> str | None:
    """Return a valid token; generate one if the page is reachable from other machines."""
    if token is None:
        return None if is_loopback(host) else secrets.token_urlsafe(16)
    if len(token) < SHORTEST or token != token.strip():
        blanks = " and blanks at the ends" if token != token.strip() else ""
        raise UsageError(
            f"the token has {counted(len(token.strip()), 'character')}{blanks}. Use at least {SHORTEST} "
            "characters, without blanks at the ends."
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
