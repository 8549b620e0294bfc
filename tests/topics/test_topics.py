"""Topic models: recovery, determinism, both samplers, inference, perplexity against enumeration, files."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import FORMS
from leadline import kernels
from leadline.errors import InputError, UsageError
from leadline.kernels import gibbs
from leadline.text import ANALYSES
from leadline.topics.infer import (
    Vectors,
    count_top_mates,
    infer,
    nearest,
    perplexity,
    read_vectors,
    similarities,
    write_vectors,
)
from leadline.topics.model import Sampler, TopicModel, corpus_of, fit, read_model, topic_counts

PLAIN = "Words(stem=none,stop=none)"
# Two subjects, each with words of its own in both languages.
SUBJECTS = {
    "en": (["wing", "tail", "lift"], ["heat", "flow", "slab"]),
    "de": (["tragfläche", "leitwerk", "auftrieb"], ["wärme", "strömung", "platte"]),
}


def bilingual(count: int, seed: int = 0) -> list[dict[str, str]]:
    chance = np.random.default_rng(seed)
    return [
        {"doc_id": f"d{place}"}
        | {name: " ".join(chance.choice(words[place % 2], 6)) for name, words in SUBJECTS.items()}
        for place in range(count)
    ]


def fitted(**options: Any) -> TopicModel:
    given: dict[str, Any] = {
        "languages": ("en", "de"),
        "analysis": PLAIN,
        "alpha": 0.1,
        "sweeps": 60,
    } | options
    return fit(bilingual(30), 2, **given)


def test_topics_of_two_languages_are_found_together() -> None:
    model = fitted()
    for topic in range(2):
        english = set(model.words(topic, language="en", count=3))
        german = set(model.words(topic, language="de", count=3))
        subject = next(place for place in range(2) if english == set(SUBJECTS["en"][place]))
        assert german == set(SUBJECTS["de"][subject])
    first = len(model.vocabularies[0])
    assert model.phi[:first].sum(axis=0) == pytest.approx(1)
    assert model.phi[first:].sum(axis=0) == pytest.approx(1)


@pytest.mark.parametrize("sampler", ["tomotopy", "leadline"])
def test_both_samplers_find_the_topics_of_one_language(sampler: str) -> None:
    texts = {row["doc_id"]: row["en"] for row in bilingual(30)}
    model = fit(texts, 2, alpha=0.1, sweeps=60, analysis=PLAIN, sampler=sampler)
    found = {frozenset(model.words(topic, count=3)) for topic in range(2)}
    assert found == set(map(frozenset, SUBJECTS["en"]))
    again = fit(texts, 2, alpha=0.1, sweeps=60, analysis=PLAIN, sampler=sampler)
    assert np.array_equal(again.phi, model.phi)
    assert model.phi.sum(axis=0) == pytest.approx(1)


def test_the_likelihood_rises_and_the_best_restart_is_kept() -> None:
    model = fitted(restarts=3)
    assert model.history[-1][1] > model.history[0][1] or model.history[0][1] > -1.2
    assert model.facts["restarts"][model.facts["kept"]] == max(model.facts["restarts"])
    assert np.array_equal(model.phi, fitted(restarts=3).phi)
    assert model.history != fitted(seed=1).history


def test_the_sampler_keeps_its_counts_and_draws_alike_in_both_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = bilingual(8)
    texts = [[row[name] for row in rows] for name in ("en", "de")]
    corpus = corpus_of([row["doc_id"] for row in rows], texts, [ANALYSES.parse(PLAIN)] * 2)
    drawn, inferred, perplexities = [], [], []
    for form in FORMS.values():
        monkeypatch.setattr(kernels, "compiled", form)
        state = Sampler(corpus, np.full(19, 0.3), 0.01, np.random.default_rng(7))
        for _ in range(3):
            state.sweep()
        assert np.array_equal(state.by_document, topic_counts(corpus.document, state.latent, (8, 19)))
        assert np.array_equal(state.by_word, topic_counts(corpus.word, state.latent, (12, 19)))
        assert np.array_equal(state.total, topic_counts(corpus.language, state.latent, (2, 19)))
        drawn.append(state.latent.tolist())
        inferred.append(infer(tiny(), {"d": "x y z z"}).theta.tolist())
        perplexities.append(perplexity(tiny(), {"d": "x y z z"}).value)
    assert drawn[0] == drawn[1]
    assert inferred[0] == inferred[1]
    assert perplexities[0] == perplexities[1]


@given(st.lists(st.floats(0, 10), min_size=1, max_size=40), st.floats(0, 0.999999))
def test_a_draw_takes_a_class_in_proportion_to_its_weight(weights: list[float], uniform: float) -> None:
    size = len(weights)
    padded = np.zeros((size + 15) // 16 * 16)
    padded[:size] = weights
    drawn = gibbs.draw(padded, np.zeros(len(padded) // 16), size, uniform)
    assert 0 <= drawn < size
    below, total = math.fsum(weights[:drawn]), math.fsum(weights)
    assert below <= uniform * total + 1e-9
    assert total * uniform <= below + weights[drawn] + 1e-9


def tiny() -> TopicModel:
    """Make a model whose documents can be enumerated."""
    model = fit({"a": "x y", "b": "y z"}, 2, sweeps=1, analysis=PLAIN)
    phi = np.array([[0.7, 0.1], [0.2, 0.3], [0.1, 0.6]])
    return TopicModel(model.languages, model.analyses, model.vocabularies, phi, np.array([0.5, 1.0]), {})


def exact(model: TopicModel, words: list[int]) -> float:
    """Add up the probability of a document over all ways to give its words topics."""
    total = 0.0
    for topics in itertools.product(range(2), repeat=len(words)):
        counts, p = [0, 0], 1.0
        for word, topic in zip(words, topics, strict=True):
            p *= (counts[topic] + model.alpha[topic]) / (sum(counts) + model.alpha.sum())
            p *= model.phi[word, topic]
            counts[topic] += 1
        total += p
    return total


@pytest.mark.parametrize("text", ["x", "x z", "x y x z", "z z x y x"])
def test_left_to_right_perplexity_is_near_the_enumerated_one(text: str) -> None:
    model = tiny()
    words = ["xyz".index(word) for word in text.split()]
    found = perplexity(model, {"d": text}, particles=3000)
    assert (found.tokens, found.unknown) == (len(words), 0)
    assert found.value == pytest.approx(exact(model, words) ** (-1 / len(words)), rel=0.02)


def test_unknown_words_are_left_out_of_both_sums_and_counted() -> None:
    model = tiny()
    found = perplexity(model, {"d": "x nowhere z", "e": ""}, particles=5, seed=3)
    assert (found.tokens, found.unknown, found.documents) == (2, 1, 2)
    assert found == perplexity(model, {"d": "x nowhere z", "e": ""}, particles=5, seed=3)
    with pytest.raises(InputError, match="the texts contain too few words that the model knows"):
        perplexity(model, {"d": "nowhere"})


def test_a_model_of_one_named_column_is_applied_to_that_column() -> None:
    model = fitted(languages=("en",))
    rows = [row | {"text": "tail heat"} for row in bilingual(3)]
    expected = infer(model, rows, field="en")
    with pytest.raises(InputError, match="Rename the text column to 'en'") as refused:
        infer(model, [{"doc_id": "d", "text": "tail"}])
    assert "If all files use another name for it, use `field`" in str(refused.value)
    with pytest.raises(InputError) as refused:
        infer(model, [{"key": "d", "en": "tail"}], queries=True)
    assert str(refused.value).count("'topic_id'") == 1
    for found in (infer(model, rows), infer(model, rows, language="en")):
        assert np.array_equal(found.theta, expected.theta)
    assert perplexity(model, rows).value == perplexity(model, rows, field="en").value


def test_perplexity_falls_with_training() -> None:
    held_out = bilingual(10, seed=9)
    for estimator in ("left-to-right", "completion"):
        values = [
            perplexity(fitted(sweeps=sweeps), held_out, estimator=estimator, particles=5).value
            for sweeps in (1, 60)
        ]
        assert values[1] < values[0]


def test_inferred_topics_are_near_the_expected_ones() -> None:
    model = tiny()
    theta = infer(model, {"d": "x", "e": ""}, burn_in=5, samples=4000, spacing=1).theta
    share = model.alpha * model.phi[0] / (model.alpha * model.phi[0]).sum()
    assert theta[0] == pytest.approx((share + model.alpha) / (1 + model.alpha.sum()), abs=0.02)
    assert theta[1] == pytest.approx(model.alpha / model.alpha.sum())


def test_a_translation_is_found_by_its_topics() -> None:
    model, rows = fitted(), bilingual(6, seed=5)
    english, german = (infer(model, rows, language=name) for name in ("en", "de"))
    run = nearest(english, german)
    for query, documents in run.to_dict().items():
        assert int(next(iter(documents))[1:]) % 2 == int(query[1:]) % 2
    assert count_top_mates(run)[1] == 6


def test_distances_are_what_their_formulas_say() -> None:
    p, q = np.array([[0.5, 0.5]]), np.array([[0.9, 0.1], [0.5, 0.5], [1.0, 0.0]])
    hellinger = [-math.sqrt(0.5 * sum((math.sqrt(a) - math.sqrt(0.5)) ** 2 for a in row)) for row in q]
    assert similarities(p, q)[0] == pytest.approx(hellinger, abs=1e-7)

    def kl(a: list[float], b: list[float]) -> float:
        return sum(x * math.log2(x / y) for x, y in zip(a, b, strict=True) if x)

    middle = [[(x + 0.5) / 2 for x in row] for row in q.tolist()]
    js = [-math.sqrt((kl([0.5, 0.5], m) + kl(row, m)) / 2) for row, m in zip(q.tolist(), middle, strict=True)]
    assert similarities(p, q, "js")[0] == pytest.approx(js, abs=1e-7)
    cosine = [sum(row) / 2 / (math.sqrt(0.5) * math.hypot(*row)) for row in q.tolist()]
    assert similarities(p, q, "cosine")[0] == pytest.approx(cosine)
    with pytest.raises(UsageError, match="distance must be 'hellinger', 'js' or 'cosine', not 'euclid'"):
        similarities(p, q, "euclid")


def test_a_model_survives_its_file(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "model.npz")
    again = read_model(tmp_path / "model.npz")
    assert np.array_equal(again.phi, model.phi)
    assert (again.languages, again.analyses, again.vocabularies) == (
        model.languages,
        model.analyses,
        model.vocabularies,
    )
    assert again.facts["restarts"] == model.facts["restarts"]
    assert np.array_equal(infer(again, bilingual(2)).theta, infer(model, bilingual(2)).theta)
    with np.load(tmp_path / "model.npz") as file:
        parts = dict(file)
    header = json.loads(str(parts["header"]))
    del header["facts"]
    np.savez(tmp_path / "other.npz", **parts | {"header": np.array(json.dumps(header))})
    (tmp_path / "model.npz").write_bytes((tmp_path / "model.npz").read_bytes()[:-40])
    for name in ("model.npz", "other.npz"):
        with pytest.raises(InputError, match="not a complete topic model"):
            read_model(tmp_path / name)
    with pytest.raises(InputError, match="is a folder, not a file"):
        read_model(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_model(tmp_path / "nowhere")


def test_a_model_with_a_changed_byte_is_refused_or_the_same(tmp_path: Path) -> None:
    model, path = fitted(), tmp_path / "model.npz"
    model.save(path)
    whole, refused = path.read_bytes(), 0
    for place in range(0, len(whole), 11):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        try:
            assert np.array_equal(read_model(path).phi, model.phi)
        except InputError:
            refused += 1
    assert refused > len(whole) / 22


NO_VECTORS = ":1: the row needs 'doc_id' and 'topics' (a list of numbers). Pass vectors from"


@pytest.mark.parametrize("name", ["v.jsonl", "v.jsonl.gz", "v.parquet"])
def test_vectors_survive_their_file(tmp_path: Path, name: str) -> None:
    vectors = Vectors(["a", "b"], np.array([[0.25, 0.75], [1 / 3, 2 / 3]]))
    write_vectors(vectors, tmp_path / name)
    again = read_vectors(tmp_path / name)
    assert again.ids == vectors.ids
    assert np.array_equal(again.theta, vectors.theta)


def test_queries_are_called_queries_where_there_are_none() -> None:
    with pytest.raises(InputError, match="there are no queries"):
        infer(tiny(), {}, queries=True)


def test_a_query_without_a_column_is_not_called_a_document() -> None:
    model = fit([{"doc_id": "d", "en": "wing", "de": "Heck"}], 2, languages=["en", "de"], sweeps=2)
    for queries, noun in ((True, "query"), (False, "document")):
        with pytest.raises(InputError, match=f"{noun} 'q' has no column 'de'"):
            infer(model, [{"id": "q", "en": "wing"}], queries=queries)


@pytest.mark.parametrize("language", ["en", "de"])
def test_documents_in_one_language_of_several_need_its_name(language: str) -> None:
    model = fit([{"doc_id": "d", "en": "wing", "de": "Heck"}], 2, languages=["en", "de"], sweeps=2)
    with pytest.raises(InputError, match="has no column") as refused:
        infer(model, [{"id": "d", language: "wing"}])
    assert "language" in refused.value.hint.rpartition("name it with ")[2]
    infer(model, [{"id": "d", language: "wing"}], language=language)


def test_vectors_have_no_other_format(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"v\.npz: topic vectors are written as JSON Lines or Parquet"):
        write_vectors(Vectors(["a"], np.array([[1.0]])), tmp_path / "v.npz")
    assert not (tmp_path / "v.npz").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"doc_id": "a"}', NO_VECTORS),
        ('{"doc_id": "a", "topics": [0.5, 0.6]}', "topics of document 'a' .* (they add up to 1.1)"),
        ('\n{"doc_id": "a", "topics": [0.5, NaN]}', ":2: the topics of document 'a' .* (they add up to nan)"),
        (
            '{"doc_id": "a", "topics": [1.5, -0.5]}',
            "not a probability distribution (they add up to 1). Each probability must be at least 0",
        ),
        ('{"doc_id": "a", "topics": ["x", "y"]}', NO_VECTORS),
        ('{"doc_id": "a", "topics": [1.0, null]}', NO_VECTORS),
        ('{"doc_id": "a", "topics": [true, false]}', NO_VECTORS),
        ('{"doc_id": "a", "topics": 0.5}', NO_VECTORS),
        ('{"doc_id": "a", "topics": [1]}\n{"doc_id": "b", "topics": [0.5, 0.5]}', ":2: the row has 2 topics"),
        ('{"doc_id": "a", "topics": [1]}\n{"doc_id": "a", "topics": [1]}', ":2: document 'a' appears twice"),
        ('{"doc_id": null, "topics": [1]}', ":1: there is no id in column 'doc_id'"),
    ],
)
def test_vectors_that_are_none_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "v.jsonl").write_text(text + "\n")
    with pytest.raises(InputError, match=message.replace("(", r"\(").replace(")", r"\)")):
        read_vectors(tmp_path / "v.jsonl")


def test_ids_of_vectors_may_be_numbers(tmp_path: Path) -> None:
    (tmp_path / "v.jsonl").write_text('{"doc_id": 1, "topics": [0.5, 0.5]}\n')
    assert read_vectors(tmp_path / "v.jsonl").ids == ["1"]


def test_bad_requests_are_refused() -> None:
    rows = bilingual(2)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"languages": ("en", "en")}, "languages en, en include a duplicate"),
        ({"languages": "en"}, "languages must be a list of languages, not 'en'"),
        (
            {"languages": ("en", "klingon"), "analysis": None},
            "If the columns are not named after languages, pass an analysis",
        ),
        ({"languages": ("en", "fr"), "analysis": None}, "has no column 'fr'"),
        ({"sampler": "tomotopy", "languages": ("en", "de")}, "Use sampler='leadline'"),
        ({"beta": 0.0, "languages": ("en",)}, "beta must be a number from 1e-30 to 1e30, not 0.0"),
        ({"alpha": 1e-300}, "alpha must be"),
        ({"alpha": math.inf}, "alpha must be"),
        ({"sweeps": 0, "languages": ("en",)}, "sweeps must be a whole number of at least 1, not 0"),
    ]
    for options, message in cases:
        with pytest.raises((UsageError, InputError), match=message):
            fit(rows, 2, **options)
    with pytest.raises(InputError, match="no words are left in the documents after the text analysis"):
        fit({"a": "the"}, 2)
    with pytest.raises(UsageError, match="the model has no language 'fr'"):
        infer(fitted(), rows, language="fr")
    with pytest.raises(UsageError, match="fitted without languages"):
        infer(fit({"a": "wing", "b": "tail"}, 2, sweeps=2, sampler="leadline"), {"c": "wing"}, language="en")
    with pytest.raises(InputError, match="use `field`"):
        infer(fitted(), [{"doc_id": "a", "words": "cat"}], language="en")
