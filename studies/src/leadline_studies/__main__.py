"""Write the pages of all studies from the numbers kept in docs/studies: `python -m leadline_studies`."""

from __future__ import annotations

import importlib

from leadline_studies import folders_with
from leadline_studies.common.pages import read_numbers, write_page

if __name__ == "__main__":
    for folder in folders_with("page"):
        writer = importlib.import_module(f"leadline_studies.{folder}.page")
        write_page(writer.NAME, writer.page(read_numbers(writer.NAME)))
