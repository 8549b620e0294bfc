"""Work that ends the process of a worker."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def opened(parent: int, folder: str, times: int, content: T) -> T:
    """Return what was pickled, or end this process if it is a worker and fewer than `times` have ended.

    Each worker that ends leaves a file in the folder.
    """
    if os.getpid() != parent:
        tried = len(os.listdir(folder))
        if tried < times:
            Path(folder, str(tried)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return content
