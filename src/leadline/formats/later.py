"""Do one thing on a second thread while the first goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Later(Generic[T]):
    """A call that runs on another thread from now on.

    >>> call = Later(pow, 2, 10)
    >>> call.result()
    1024
    """

    def __init__(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> None:
        self._results: list[T] = []
        self._faults: list[BaseException] = []

        def run() -> None:
            try:
                self._results.append(function(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001  # raised again where the result is asked for
                self._faults.append(error)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait for the end of the call, whatever it gives."""
        self._thread.join()

    def result(self) -> T:
        """Wait for the end of the call; give what it gave, or raise what it raised."""
        self.wait()
        if self._faults:
            raise self._faults[0]
        return self._results[0]
