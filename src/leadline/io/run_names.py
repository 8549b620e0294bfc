"""Names of runs in files: NAME=FILE, the file name, or the shortest part of the path that differs."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator, Sequence
from os.path import basename, exists, isdir, isfile
from typing import Any

from leadline.data.wording import counted, first_few
from leadline.errors import InputError, UsageError
from leadline.io.archives import COMPRESSIONS

RUN_SUFFIXES = (
    *(".run", ".txt", ".trec", ".res", ".out"),
    *(".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".arrow", ".feather"),
)
MAGIC = frozenset("*?[")  # characters of a pattern
PYTERRIER_RUNS, PYTERRIER_TABLES = (".res", ".res.gz"), {"aggregated.csv", "perquery.csv"}  # of `save_dir`
DATASET = ("state.json", "dataset_dict.json")  # of a folder by `save_to_disk`
STANDARD_INPUT = "-"
IR_DATASETS = "ir_datasets:"  # prefix of the name of a collection
INDEX = {"index.json", "by_id.bin"}  # files of an index
OTHER_PICTURES = (".bmp", ".eps", ".gif", ".jpeg", ".jpg", ".ps", ".tif", ".tiff", ".webp")  # never written
PICTURES = (*OTHER_PICTURES, ".ico", ".png", ".svg")
CORPUS = "corpus.jsonl"  # the file with the documents in a folder of BEIR
NAMED = re.compile(r"(?P<name>[^(/=]+)=(?P<path>.+)", re.DOTALL)


def split_name(text: str) -> tuple[str | None, str]:
    """Split NAME=FILE; an existing file whose name contains = has no other name.

    >>> split_name("new=bm25.run"), split_name("runs/k=2.run"), split_name("nDCG(gain=exp)@10")
    (('new', 'bm25.run'), (None, 'runs/k=2.run'), (None, 'nDCG(gain=exp)@10'))
    """
    found = None if os.path.lexists(text) else NAMED.fullmatch(text)
    return (found["name"], found["path"]) if found else (None, text)


def is_input(text: str) -> bool:
    """Return whether an argument is a file, or looks like one; what is there comes before any meaning.

    >>> [is_input(text) for text in ("-", "new=bm25.run", "runs/*.run", "nDCG(gain=exp)@10", "AP")]
    [True, True, True, False, False]
    """
    path = split_name(text)[1]
    if path == STANDARD_INPUT or os.path.lexists(path) or split_part(path)[1]:
        return True
    if "/" in path or os.sep in path or path.startswith(IR_DATASETS):
        return True
    return run_name(path) != path or path.endswith(RUN_SUFFIXES) or files_of(path) != [path]


def named_files(run: Any) -> list[tuple[str | None, Any]]:
    """Return the files of a path, folder, pattern or NAME=FILE with their names; or a run in memory."""
    if not isinstance(run, (str, os.PathLike)):
        return [(None, run)]
    name, path = split_name(os.fspath(run))
    files = files_of(path)
    if name is not None and len(files) > 1:
        raise UsageError(
            f"{run} gives {len(files)} files the same name, but run names must differ. "
            "Name each file separately"
        )
    return [(name, file) for file in files]


def told_apart(runs: Sequence[tuple[str | None, Any]]) -> list[tuple[str | None, Any]]:
    """Return runs with the names given, and all files with `distinct_names` if two have the same name.

    >>> told_apart([(None, "old/bm25.run"), (None, {}), (None, "new/bm25.run")])
    [('old/bm25', 'old/bm25.run'), (None, {}), ('new/bm25', 'new/bm25.run')]
    """
    files = [place for place, (_, run) in enumerate(runs) if isinstance(run, str)]
    paths = [runs[place][1] for place in files]
    names = distinct_names([runs[place][0] for place in files], paths)
    found = {} if names == list(map(run_name, paths)) else dict(zip(files, names, strict=True))
    return [(found.get(place, name), run) for place, (name, run) in enumerate(runs)]


def distinct_names(given: Sequence[str | None], paths: Sequence[str]) -> list[str]:
    """Return the names of runs; names that were given are kept, others are lengthened until all differ.

    >>> distinct_names([None, None], ["old/bm25.run", "new/bm25.run"])
    ['old/bm25', 'new/bm25']
    >>> distinct_names(["bm25", None], ["tuned.run", "runs/bm25.run"])
    ['bm25', 'runs/bm25']
    """
    short = [name or run_name(path) for name, path in zip(given, paths, strict=True)]
    names = list(short)
    for name in dict.fromkeys(short):
        places = [place for place, other in enumerate(short) if other == name]
        free = [place for place in places if given[place] is None]
        others = {each for place, each in enumerate(names) if place not in free}
        for longer in _lengthened([paths[place] for place in free]) if len(places) > 1 else ():
            if len({*longer, *others}) == len(longer) + len(others):
                for place, found in zip(free, longer, strict=True):
                    names[place] = found
                break
    return names


def _lengthened(paths: Sequence[str]) -> Iterator[list[str]]:
    """Yield names of files with ever more of their paths, first without the suffix."""
    from pathlib import PurePath

    folders = [PurePath(path).parent.parts for path in paths]
    for ends in ([run_name(path) for path in paths], [PurePath(path).name for path in paths]):
        for depth in range(max(map(len, folders), default=0) + 1):
            yield [
                "/".join((*parts[max(0, len(parts) - depth) :], end))
                for parts, end in zip(folders, ends, strict=True)
            ]


def run_name(path: str) -> str:
    """Return the name of a run: its file name less one compression suffix and one run suffix.

    >>> run_name("runs/cord19.vespa.ai-bm25.xz"), run_name("bm25.run.gz"), run_name("-")
    ('cord19.vespa.ai-bm25', 'bm25', 'stdin')
    """
    if path == STANDARD_INPUT:
        return "stdin"
    path, part = split_part(path)
    name = basename(path.rstrip("/"))
    for suffixes in (tuple(COMPRESSIONS.values()), RUN_SUFFIXES):
        for suffix in suffixes:
            if name.endswith(suffix) and name != suffix:
                name = name[: -len(suffix)]
                break
    return f"{name}#{part}" if part else name


def files_of(path: str) -> list[str]:
    """Return the files in a folder, or those that a pattern with `*`, `?` or `[` matches, in order of name.

    Hidden files and folders inside the folder are left out, and the tables of values that PyTerrier writes
    beside its runs. A dataset that Hugging Face saved is one run. A path that exists is no pattern.

    >>> files_of("bm25.run")
    ['bm25.run']
    """
    if isdir(path) and any(isfile(os.path.join(path, name)) for name in DATASET):
        return [path]
    if isdir(path):
        found = [
            entry.path for entry in os.scandir(path) if entry.is_file() and not entry.name.startswith(".")
        ]
        if any(name.endswith(PYTERRIER_RUNS) for name in found):
            found = [name for name in found if basename(name) not in PYTERRIER_TABLES]
        kind = "has no files to read (leadline skips hidden files and subfolders)"
    elif not MAGIC.isdisjoint(path) and not (
        exists(path) or path.startswith(IR_DATASETS) or split_part(path)[1]
    ):
        from glob import glob

        found = [name for name in glob(path) if isfile(name)]
        kind = "is a pattern that matches no file"
    else:
        return [path]
    if not found:
        raise InputError(kind, path=path)
    return sorted(found)


def split_part(path: str) -> tuple[str, str]:
    """Split FILE#PART, the name of a part of a file; an existing file whose name contains # is whole.

    >>> split_part("none.json#default/test")
    ('none.json#default/test', '')
    """
    file, sign, part = path.rpartition("#")
    return (file, part) if sign and part and isfile(file) and not isfile(path) else (path, "")


def no_part(path: str, part: str) -> InputError:
    """Return the error for FILE#PART where a file has no parts."""
    return InputError(f"has no part #{part}", path=path, hint="Only MTEB predictions have parts")


def files_below(folder: str) -> list[str]:
    """Return the files in a folder and its folders, without hidden ones and indexes; of BEIR, the texts."""
    if os.path.isfile(corpus := os.path.join(folder, CORPUS)):
        return [corpus]
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        if set(names) >= INDEX:
            continue
        found += [os.path.join(parent, name) for name in names if not name.startswith(".")]
    return sorted(found)


def unread_files(source: object, read: Container[str]) -> tuple[str, str, int]:
    """Return code, text and count of a warning about files of a folder from which no document was read."""
    folder = source if isinstance(source, (str, os.PathLike)) and isdir(source) else None
    unread = [] if folder is None else [name for name in files_below(os.fspath(folder)) if name not in read]
    text = f"left out {counted(len(unread), 'file')} without documents ({first_few(unread, 1)})"
    return "unread_files", text, len(unread)
