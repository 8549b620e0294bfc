"""Checkpoints of measured settings of topic model studies, so that interrupted runs can be resumed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from leadline.errors import InputError, UsageError
from leadline.io.write import write_whole
from leadline.version import VERSION
from leadline_studies.histogram_topics.topic_retrieval import NORMS, Setting, Task

NUMBERS = ("topics", "perplexity", "tokens", "trained_tokens", "unknown", "empty", "likelihood", "seconds")


class Checkpoints:
    """Folder with one file per setting of one task; `reused` counts those read."""

    def __init__(self, folder: str, task: Task, options: dict[str, Any]) -> None:
        self.folder = folder
        self.key = key_of(task, options)
        self.reused = 0
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise UsageError(f"--checkpoints {folder} is a file; expected a folder")
        os.makedirs(folder, exist_ok=True)

    def setting(self, topics: int, measure: Callable[[], Setting]) -> Setting:
        """Read the setting with this number of topics, or measure and save it."""
        path = os.path.join(self.folder, f"{self.key}-{topics}.npz")
        if os.path.exists(path):
            self.reused += 1
            return unpacked(path)
        fresh = measure()
        write_whole(path, packed(fresh))
        return fresh


def key_of(task: Task, options: dict[str, Any]) -> str:
    """Return a hash of everything a setting depends on except its number of topics."""
    texts, pairs = task.texts, task.pairs
    facts = [
        VERSION,
        options,
        task.measure,
        texts.languages,
        texts.all,
        texts.train,
        texts.held_out,
        task.relevant,
    ]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for column in (pairs.query, pairs.document, pairs.relevant):
        digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()[:16]


def packed(setting: Setting) -> bytes:
    """Return a setting as the bytes of an npz file."""
    numbers = json.dumps({name: getattr(setting, name) for name in NUMBERS})
    arrays: dict[str, Any] = {
        "numbers": np.frombuffer(numbers.encode(), np.uint8),
        "quality": setting.quality,
    }
    for norm in NORMS:
        arrays |= {f"counts {norm}": setting.counts[norm], f"finest {norm}": setting.finest[norm]}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def unpacked(path: str) -> Setting:
    """Return a setting from the bytes of an npz file."""
    with open(path, "rb") as file:
        content = io.BytesIO(file.read())
    try:
        with np.load(content) as stored:
            numbers = json.loads(stored["numbers"].tobytes())
            return Setting(
                quality=stored["quality"],
                counts={norm: stored[f"counts {norm}"] for norm in NORMS},
                finest={norm: stored[f"finest {norm}"] for norm in NORMS},
                **{name: numbers[name] for name in NUMBERS},
            )
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            "is no complete checkpoint",
            path=path,
            expected="a file that this study wrote",
            hint="delete the file to measure the setting again",
        ) from error
