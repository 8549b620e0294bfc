"""`python -m leadline` is `leadline`; also where the installed command begins.

Nothing is imported before an interrupt can be caught, so that Ctrl-C ends every start without a traceback.
"""

from __future__ import annotations

import gc

TYPE_CHECKING = False  # as that of typing, without loading it
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run one command."""
    # A command is short: collecting garbage while modules load costs a tenth of a small evaluation.
    gc.set_threshold(200_000, 50, 50)
    try:
        from leadline.cli import main as run

        run()
    except KeyboardInterrupt:
        import os

        os.write(2, b"leadline: interrupted\n")
        os._exit(130)


if __name__ == "__main__":
    main()
