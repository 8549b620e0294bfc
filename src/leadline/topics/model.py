"""Topic model: word distributions per topic and language, stored in one file."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.ids import Ids, Vocabulary
from leadline.errors import InputError, UsageError
from leadline.io.read_paths import record_input
from leadline.io.write import write_whole
from leadline.text import ANALYSES, Analysis
from leadline.version import VERSION

FORMAT = "leadline topics 1"


@dataclass(frozen=True)
class TopicModel:
    """Topics of one or more languages.

    `phi[w, t]` is the probability of word w under topic t; the words of all languages share one numbering,
    and the probabilities of each language sum to 1. `alpha[t]` is the Dirichlet prior. `facts["restarts"]`
    has the last log-likelihood of every restart.
    """

    languages: list[str]
    analyses: list[Analysis]
    vocabularies: list[Vocabulary]
    phi: Floats
    alpha: Floats
    facts: dict[str, Any]

    @property
    def topics(self) -> int:
        """Number of topics."""
        return len(self.alpha)

    @property
    def history(self) -> list[tuple[int, float]]:
        """Pairs of sweep and log-likelihood per training token."""
        return [(int(sweep), float(value)) for sweep, value in self.facts["history"]]

    def words(self, topic: int, *, language: str | None = None, count: int = 10) -> list[str]:
        """Return the most probable words of a topic."""
        index = self.language_index(language)
        first = int(sum(map(len, self.vocabularies[:index])))
        vocabulary = self.vocabularies[index]
        probabilities = self.phi[first : first + len(vocabulary), topic]
        return [vocabulary[code] for code in np.argsort(-probabilities, kind="stable")[:count].tolist()]

    def language_index(self, language: str | None) -> int:
        """Return the index of a language; optional for a monolingual model."""
        if language is None and len(self.languages) == 1:
            return 0
        if language not in self.languages:
            raise UsageError(f"unknown language {language!r}. Choose from {', '.join(self.languages)}.")
        return self.languages.index(language)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file atomically."""
        header = {
            "format": FORMAT,
            "leadline": VERSION,
            "languages": self.languages,
            "analyses": list(map(str, self.analyses)),
            "facts": self.facts,
        }
        arrays: dict[str, Any] = {"phi": self.phi, "alpha": self.alpha}
        for index, vocabulary in enumerate(self.vocabularies):
            names = Ids.of(vocabulary.names)
            arrays |= {f"text{index}": names.text, f"stop{index}": names.stop}
        target = io.BytesIO()
        np.savez_compressed(target, header=np.array(json.dumps(header)), **arrays)
        write_whole(os.fspath(path), target.getvalue())

    def __repr__(self) -> str:
        return f"TopicModel({self.topics} topics, {', '.join(self.languages)}, {len(self.phi)} words)"


def read_model(path: str | os.PathLike[str]) -> TopicModel:
    """Read a model written by `save`; raise InputError if it is damaged or another file."""
    name = os.fspath(path)
    record_input(name)
    try:
        with open(name, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            if header["format"] != FORMAT:
                raise InputError(
                    f"the topic model has the format '{header['format']}', not '{FORMAT}'",
                    path=name,
                    hint="Fit it again with `leadline topics fit`.",
                )
            vocabularies = [
                _vocabulary(file[f"text{index}"], file[f"stop{index}"])
                for index in range(len(header["languages"]))
            ]
            phi, alpha = file["phi"], file["alpha"]
    except FileNotFoundError:
        raise InputError("no such file", path=name) from None
    except (OSError, KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "this is not a complete topic model", path=name, hint="Pass a file from `leadline topics fit`."
        ) from None
    if phi.shape != (sum(map(len, vocabularies)), len(alpha)):
        raise InputError(
            "the parts of the topic model are inconsistent",
            path=name,
            hint="Fit it again with `leadline topics fit`.",
        )
    analyses: Sequence[Analysis] = [ANALYSES.parse(text) for text in header["analyses"]]
    return TopicModel(header["languages"], list(analyses), vocabularies, phi, alpha, header["facts"])


def _vocabulary(text: Any, stop: Any) -> Vocabulary:
    start = np.concatenate(([0], stop[:-1])) if len(stop) else stop
    return Vocabulary.of_bytes(Ids(text, start, stop))
