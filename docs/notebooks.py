"""Run the notebooks of docs/notebooks and keep what their cells print; needs `pip install "leadline[docs]"`.

They use the data of `leadline demo`. `python docs/notebooks.py NAME...` runs some of them.
"""

from __future__ import annotations

import glob
import os
import sys
import tempfile

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "notebooks")


def run(path: str) -> None:
    """Run one notebook in an empty folder, and write it with its outputs."""
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(book, timeout=600, kernel_name="python3", record_timing=False)
        client.resources = {"metadata": {"path": folder}}
        client.execute()
    book.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(book.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
    nbformat.validate(book)
    nbformat.write(book, path)


def main(names: list[str]) -> int:
    """Run the notebooks that are named, by default all."""
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.ipynb"))):
        if not names or os.path.basename(path).removesuffix(".ipynb") in names:
            run(path)
            sys.stdout.write(f"{os.path.relpath(path)}: {os.path.getsize(path):,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
