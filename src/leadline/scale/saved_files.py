"""Files of saved results: merging them, and verifying one against its inputs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from leadline.data.table import Column, Table, columns_of, printed_table
from leadline.data.validation import check_run_name
from leadline.data.wording import counted, first_few
from leadline.errors import InputError, LeadlineError, UsageError
from leadline.evaluation.evaluate import Evaluation, evaluate
from leadline.evaluation.merging import merge_results
from leadline.evaluation.results import Results
from leadline.io.objects import read_qrels
from leadline.io.opening import digest_of
from leadline.io.read_paths import STANDARD_STREAM, public, with_words_of
from leadline.io.saved_results import SAVED_HINT, is_saved_file, read_saved
from leadline.io.selection import NOTHING_LEFT
from leadline.result import Result
from leadline.scale.run_parts import Partial, evaluate_part, local_file

SAMPLE = 100  # queries of which values are computed again
NO_FILE = "no input file has the judgments that these results used"
NO_RUN = "no unchanged input file has judged queries of this run"
# Options of an evaluation that a manifest has, by the keyword of `Evaluation`.
KEYWORDS: tuple[str, ...] = (
    "profile",
    "rel",
    "documents",
    "queries",
    "negative",
    "known",
    "subtopics",
    "order",
    "on_duplicate",
)
KEYWORDS += ("on_nan", "columns", "qrels_columns", "queries_in", "depth", "judged_only", "name_by")
KEYWORDS += ("drop_identical_ids", "documents_of", "lengths")
FILES = ("known", "queries_in", "documents_of", "lengths")  # keywords that may name a file


@public
@with_words_of(evaluate)
def merge_files(
    paths: Sequence[str] | str, *, queries: str | None = None, name: str | None = None
) -> Results:
    """Merge saved results that hold parts of the same runs.

    Parameters
    ----------
    paths : sequence of path, or path
        Files that `leadline evaluate -o FILE.parquet` wrote, one per part.
    queries : {"all", "both"}, optional
        Queries that count in the means, as in `evaluate`; by default the option of the parts.
    name : str, optional
        Name of the run, where every part calls it by the name of its own file.

    Returns
    -------
    Results
        Results of the undivided runs.

    Raises
    ------
    UsageError
        If the parts were evaluated with different options, or share a query.
    """
    labels = [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    parts = [saved_results(path) for path in labels]
    if name is not None:
        check_run_name(name)
        for part, label in zip(parts, labels, strict=True):
            if len(part.runs) != 1:
                raise UsageError(
                    "the merged run can be named only if each file contains one run, but "
                    f"{label} contains {counted(len(part.runs), 'run')}"
                )
            part.runs[0] = replace(part.runs[0], name=name)
            part.inputs = [info | {"run": name} if "run" in info else info for info in part.inputs]
    return merge_results(parts, queries=queries, labels=labels)


def saved_results(path: str) -> Results:
    """Return the saved results of `evaluate` or `merge`, exactly as they were."""
    try:
        saved = read_saved(path)
    except InputError as error:
        if error.hint == SAVED_HINT:
            error.hint += (
                ". To merge runs, such as those of shards, use `leadline fuse RUN RUN --method CombMAX "
                "--normalise none -o MERGED`. To merge judgments, use `leadline convert QRELS QRELS MERGED`"
            )
        raise
    results = saved.view.result
    if not isinstance(results, Results):
        found = f"only results of `evaluate` and `merge` can be merged, but this is a {saved.kind}"
        raise InputError(found, path=path)
    results.inputs = saved.inputs
    return results


@dataclass
class Verification(Result):
    """Outcome of `verify`.

    Attributes
    ----------
    path : str
        The saved results.
    rows : int
        Number of their rows.
    checks : list of dict
        An entry for each input and for the sampled values of each run, with the keys kind, name, found and
        ok (None: could not be checked).
    """

    path: str
    rows: int = 0
    checks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def verified(self) -> bool:
        """Whether nothing differs."""
        return all(check["ok"] is not False for check in self.checks)

    def _columns(self) -> list[Column]:
        words = {True: "yes", False: "NO", None: "not checked"}
        rows = [(check["kind"], check["name"], words[check["ok"]], check["found"]) for check in self.checks]
        check, name, agrees, found = columns_of(("check", "name", "agrees", "found"), rows)
        return [check, name, agrees, found._replace(wrapped=True)]

    def _tables(self) -> list[Table]:
        outcome = "nothing differs" if self.verified else "the saved results do not match their inputs"
        unchecked = sum(check["ok"] is None for check in self.checks)
        notes = [outcome, *([f"{counted(unchecked, 'check')} could not be made"] if unchecked else [])]
        return [printed_table(self._columns(), notes=notes, whole=True)]

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome and the checks."""
        return {"verified": self.verified, "checks": self.checks}

    def add(self, kind: str, name: str, found: str, *, ok: bool | None) -> None:
        """Add a check."""
        self.checks.append({"kind": kind, "name": name, "found": found, "ok": ok})


@public
def verify(path: str, *, sample: int = SAMPLE, seed: int = 0) -> Verification:
    """Verify saved results: digests of the inputs, and values of a sample of queries.

    Parameters
    ----------
    path : path
        A saved result.
    sample : int
        Number of queries whose values are computed again; 0 computes none.
    seed : int, default 0
        Seed of the sample.

    Returns
    -------
    Verification
        Every check with its outcome; `verified` is True if nothing differs.
    """
    saved = read_saved(os.fspath(path))
    results, rows = saved.view.result, getattr(saved.view.result, "values", None)
    size = rows.size if isinstance(rows, np.ndarray) else 0
    verification = Verification(os.fspath(path), size, options={"sample": sample, "seed": seed})
    unchanged = [_check_input(verification, info) for info in saved.inputs if info["path"]]
    if sample and isinstance(results, Results):
        results.inputs = saved.inputs
        try:
            _check_values(verification, results, unchanged, sample, np.random.default_rng(seed))
        except LeadlineError as error:  # such as a file of an option that is gone
            verification.add("values", "", f"not recomputed: {error}", ok=None)
    return verification


def _check_input(verification: Verification, info: Mapping[str, Any]) -> bool:
    """Compare the digest of an input; return whether it can be read and is unchanged."""
    path, expected = info["path"], info.get("sha256")
    try:
        with local_file(path) as (local, sha256):
            found = sha256 or digest_of(local)
    except LeadlineError as error:
        verification.add("input", path, str(error), ok=None)
        return False
    if found is None or expected is None:
        what = "its SHA-256 was not saved" if expected is None else "no such file"
        verification.add("input", path, what, ok=None)
        return found is not None or os.path.isdir(path)
    same = bool(found == expected)
    verification.add(
        "input", path, "unchanged" if same else "has a different SHA-256 from the one saved", ok=same
    )
    return same


def _check_values(
    verification: Verification,
    results: Results,
    unchanged: Sequence[bool],
    sample: int,
    rng: np.random.Generator,
) -> None:
    """Compute values of a sample of queries again, from the inputs that are there and unchanged."""
    if not results.inputs or "run" in results.inputs[0] or is_saved_file(results.inputs[0]["path"]):
        raise UsageError(NO_FILE)
    if results.estimates is not None or results.withheld is not None or results.options.get("pool"):
        raise UsageError("the results use a pool or a sample of judgments")
    for name in FILES:
        if _unsaved(results.options.get(name)):
            raise UsageError(f"the data of option '{name}' came from memory or standard input")
    qrels, *inputs = results.inputs
    if not unchanged[0]:
        raise UsageError("the judgments have changed or cannot be read again")
    try:
        evaluation = _evaluation(results, qrels["path"])
    except InputError as error:  # another input is the first, or the file of an option is gone
        raise (
            error if error.path in {str(results.options.get(name)) for name in FILES} else UsageError(NO_FILE)
        ) from None
    if evaluation.qrels.digest != results.qrels_digest:
        raise UsageError(NO_FILE)
    named = any("run" in info for info in inputs)  # the others are files of options
    for index, name in enumerate(results.names):
        files = [
            info["path"]
            for info, same in zip(inputs, unchanged[1:], strict=True)
            if same and (info.get("run") == name if named else len(results.runs) == 1)
        ]
        checked, different = 0, []
        for number in rng.permutation(len(files)).tolist():
            if checked >= sample:
                break
            try:
                part = evaluate_part(evaluation, files[number])
            except InputError as error:
                if error.code != NOTHING_LEFT:  # a part without a selected query
                    raise
                continue
            count, wrong = _compared(results, index, part, sample - checked, rng)
            checked += count
            different += wrong
        if not checked:
            verification.add("values", name, f"not recomputed: {NO_RUN}", ok=None)
            continue
        found = f"recomputed the values of {counted(checked, 'query', 'queries')}, and "
        found += (
            f"those of {len(different):,} differ ({first_few(different)})"
            if different
            else "all values match"
        )
        verification.add("values", name, found, ok=not different)


def _unsaved(option: object) -> bool:
    """Return whether an option was a dictionary that is not saved, or standard input."""
    text = str(option)
    return text.startswith("a dictionary of ") or text.partition(":")[0] == STANDARD_STREAM


def _evaluation(results: Results, qrels: str) -> Evaluation:
    """Return the evaluation by which results were computed."""
    options = {name: results.options[name] for name in KEYWORDS if name in results.options}
    options |= {name: str(options[name]) for name in FILES if isinstance(options.get(name), str)}
    names = ("subtopics", "qrels_columns", "queries_in")
    reading = {name: options[name] for name in names if name in options}
    table = read_qrels(qrels, kind="qrels", **reading)
    return Evaluation(table, [str(measure) for measure in results.measures], **options)


def _compared(
    results: Results, run: int, part: Partial, size: int, rng: np.random.Generator
) -> tuple[int, list[str]]:
    """Return the number of sampled queries, and those of which a value differs."""
    codes = results.queries.encode(part.queries)
    chosen = np.sort(rng.permutation(len(codes))[:size])
    saved = results.values[run][codes[chosen]]
    equal = (saved == part.values.values[chosen]) | (np.isnan(saved) & np.isnan(part.values.values[chosen]))
    wrong = ~equal.all(axis=1) | (codes[chosen] < 0)
    return len(chosen), [results.queries[int(codes[row])] for row in chosen[wrong].tolist()]
