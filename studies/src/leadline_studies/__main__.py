"""Write the pages of the studies: `python -m leadline_studies [NAME [OUT DATA]]`.

Without arguments all pages are written from the numbers kept in docs/studies. NAME is one page; with OUT and
DATA its studies are run, if their results are not in the folder OUT, on the collections in the folder DATA.
"""

from __future__ import annotations

import sys
from pathlib import Path

from leadline_studies import folders_with
from leadline_studies.common.pages import collect_numbers, page_of, write_page


def main(name: str | None = None, *folders: str) -> None:
    """Write one page or all."""
    pages = {page_of(folder).NAME: folder for folder in folders_with("page")}
    if name is not None and name not in pages:
        raise SystemExit(f"there is no page '{name}'. Choose one of {', '.join(pages)}")
    if name and folders:
        collect_numbers(pages[name], *(Path(folder).resolve() for folder in folders))
    for folder in [pages[name]] if name else pages.values():
        write_page(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
