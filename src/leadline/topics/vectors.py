"""Topic vectors in files: JSON Lines or Parquet with the columns doc_id and topics."""

from __future__ import annotations

import io
import json
import os

import numpy as np

from leadline.errors import InputError
from leadline.formats.kinds import suffix_of
from leadline.formats.texts import rows_of
from leadline.formats.writing import compressed, write_whole
from leadline.results import optional
from leadline.topics.inference import Vectors


def write_vectors(vectors: Vectors, path: str | os.PathLike[str]) -> None:
    """Write vectors: Parquet by its suffix, else JSON Lines, to full precision."""
    name = os.fspath(path)
    rows = [
        {"doc_id": key, "topics": topics}
        for key, topics in zip(vectors.ids, vectors.theta.tolist(), strict=True)
    ]
    if suffix_of(name) == ".parquet":
        pyarrow, parquet = optional("pyarrow"), optional("pyarrow.parquet")
        target = io.BytesIO()
        parquet.write_table(pyarrow.Table.from_pylist(rows), target)
        write_whole(name, target.getvalue())
        return
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_whole(name, compressed(name, text.encode("utf-8", "surrogateescape")))


def read_vectors(path: str | os.PathLike[str]) -> Vectors:
    """Read vectors; each must be a distribution, all of one length."""
    name = os.fspath(path)
    ids: list[str] = []
    rows: list[list[float]] = []
    lines: list[int] = []
    for place, row in rows_of(name, "document"):
        topics = row.get("topics")
        if "doc_id" not in row or not isinstance(topics, list):
            raise InputError(
                f"a row with columns {', '.join(map(str, row))}", expected="doc_id and topics, a list",
                path=name, line=place,
            )  # fmt: skip
        if not all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in topics):
            raise InputError(
                "topics that are no numbers", expected="one number a topic", path=name, line=place
            )
        if rows and len(topics) != len(rows[0]):
            raise InputError(
                f"{len(topics)} topics", expected=f"{len(rows[0])} as before", path=name, line=place
            )
        ids.append(str(row["doc_id"]))
        rows.append(topics)
        lines.append(place)
    theta = np.array(rows, dtype=np.float64)
    if not len(theta):
        raise InputError("holds no vectors", expected="doc_id and topics", path=name)
    wrong = np.flatnonzero(~((theta >= 0).all(axis=1) & (np.abs(theta.sum(axis=1) - 1) < 1e-6)))
    for place in wrong[:1].tolist():
        raise InputError(
            f"topics of '{ids[place]}' that are no distribution (they add up to {theta[place].sum():.6g})",
            expected="0 or more, adding up to 1", path=name, line=lines[place],
        )  # fmt: skip
    if len(set(ids)) < len(ids):
        raise InputError("a document twice", expected="each once", path=name)
    return Vectors(ids, theta)
