"""Every model once more, slow and obvious: one document and one query at a time, from lists of words."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

Texts = dict[str, list[str]]


class Facts:
    """What a collection knows, counted anew at every question."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self.n = len(texts)
        self.size = sum(map(len, texts.values()))
        self.mean = self.size / self.n

    def tf(self, term: str, name: str) -> int:
        return self.texts[name].count(term)

    def df(self, term: str) -> int:
        return sum(term in words for words in self.texts.values())

    def cf(self, term: str) -> int:
        return sum(words.count(term) for words in self.texts.values())

    def known(self, query: list[str]) -> list[str]:
        return [term for term in query if self.df(term)]


Twin = Callable[..., dict[str, float]]


def all_of(facts: Facts, value: Callable[[str], float]) -> dict[str, float]:
    return {name: value(name) for name in facts.texts}


def bm25(
    facts: Facts,
    query: list[str],
    *,
    k1: float = 1.2,
    b: float = 0.75,
    idf: str = "plus",
    k3: Any = "none",
    weights: dict[str, float] | None = None,
) -> dict[str, float]:
    known = facts.known(query)

    def rarity(term: str) -> float:
        n, df = facts.n, facts.df(term)
        return {
            "plus": math.log(1 + (n - df + 0.5) / (df + 0.5)),
            "rsj": math.log((n - df + 0.5) / (df + 0.5)),
            "galago": math.log(n / (df + 0.5)),
        }[idf]

    def value(name: str) -> float:
        total = 0.0
        for term in set(known) | set(weights or {}):
            qtf = known.count(term)
            factor = qtf if k3 == "none" else (k3 + 1) * qtf / (k3 + qtf)
            weight = weights[term] if weights is not None else rarity(term) * factor
            tf, dl = facts.tf(term, name), len(facts.texts[name])
            if tf:
                total += weight * (k1 + 1) * tf / (tf + k1 * (1 - b + b * dl / facts.mean))
        return total

    return all_of(facts, value)


def first(scores: dict[str, float], facts: Facts, query: list[str], docs: int) -> list[str]:
    found = [name for name, words in facts.texts.items() if set(words) & set(query)]
    return sorted(found, key=lambda name: (scores[name], name.encode()), reverse=True)[:docs]


def bm25rf(
    facts: Facts,
    query: list[str],
    *,
    k1: float = 1.2,
    b: float = 0.75,
    docs: int = 10,
    terms: int = 20,
    weight: float = 0.33,
) -> dict[str, float]:
    known = facts.known(query)
    learned = first(bm25(facts, query, k1=k1, b=b), facts, query, docs)

    def rsj(term: str) -> float:
        r = sum(term in facts.texts[name] for name in learned)
        size, n, df = len(learned), facts.n, facts.df(term)
        return math.log((r + 0.5) / (size - r + 0.5) / ((df - r + 0.5) / (n - df - size + r + 0.5)))

    new = sorted({term for name in learned for term in facts.texts[name]} - set(known))
    offers = {term: sum(term in facts.texts[name] for name in learned) * rsj(term) for term in new}
    added = sorted(new, key=lambda term: -offers[term])[:terms]
    weights = {term: known.count(term) * rsj(term) for term in known}
    weights |= {term: weight * rsj(term) for term in added if offers[term] > 0}
    return bm25(facts, [], k1=k1, b=b, weights=weights)


def dirichlet(
    facts: Facts, query: list[str], *, mu: float = 1500, form: str = "textbook"
) -> dict[str, float]:
    return weighted(facts, [(term, 1.0) for term in facts.known(query)], mu, form)


def weighted(
    facts: Facts, terms: list[tuple[str, float]], mu: float, form: str = "textbook"
) -> dict[str, float]:
    def one(term: str, name: str) -> float:
        dl, p = len(facts.texts[name]), facts.cf(term) / facts.size
        if form == "textbook":
            return math.log((facts.tf(term, name) + mu * p) / (dl + mu))
        return math.log(1 + facts.tf(term, name) / (mu * p)) + math.log(mu / (dl + mu))

    return all_of(
        facts,
        lambda name: sum(
            weight * one(term, name) for term, weight in terms if form == "textbook" or facts.tf(term, name)
        ),
    )


def jelinek_mercer(facts: Facts, query: list[str], *, collection: float = 0.1) -> dict[str, float]:
    def value(name: str) -> float:
        dl = len(facts.texts[name])
        return sum(
            math.log(
                (1 - collection) * (facts.tf(term, name) / dl if dl else 0)
                + collection * facts.cf(term) / facts.size
            )
            for term in facts.known(query)
        )

    return all_of(facts, value)


def hiemstra(facts: Facts, query: list[str], *, document: float = 0.15) -> dict[str, float]:
    def value(name: str) -> float:
        dl = len(facts.texts[name])
        return sum(
            math.log(1 + document * tf * facts.size / ((1 - document) * facts.cf(term) * dl))
            for term in facts.known(query)
            if (tf := facts.tf(term, name))
        )

    return all_of(facts, value)


def feedback_terms(facts: Facts, query: list[str], mu: float, docs: int, terms: int) -> dict[str, float]:
    scores = dirichlet(facts, query, mu=mu)
    learned = first(scores, facts, query, docs)
    top = max((scores[name] for name in learned), default=0.0)
    total = sum(math.exp(scores[name] - top) for name in learned)
    share: dict[str, float] = {}
    for name in learned:
        for term in sorted(set(facts.texts[name])):
            part = facts.tf(term, name) / len(facts.texts[name])
            share[term] = share.get(term, 0.0) + math.exp(scores[name] - top) / total * part
    kept = sorted(share, key=lambda term: (-share[term], term))[:terms]
    mass = sum(share[term] for term in kept)
    return {term: share[term] / mass for term in kept}


def rm1(
    facts: Facts, query: list[str], *, docs: int = 10, terms: int = 50, mu: float = 1500
) -> dict[str, float]:
    return weighted(facts, list(feedback_terms(facts, query, mu, docs, terms).items()), mu)


def rm3(
    facts: Facts,
    query: list[str],
    *,
    docs: int = 10,
    terms: int = 50,
    original: float = 0.5,
    mu: float = 1500,
) -> dict[str, float]:
    known = facts.known(query)
    learned = feedback_terms(facts, query, mu, docs, terms)
    mixed = [(term, original / len(known)) for term in known]
    mixed += [(term, (1 - original) * share) for term, share in learned.items()]
    return weighted(facts, mixed, mu)


def window_count(words: list[str], a: str, b: str, *, ordered: bool, width: int) -> int:
    """Count windows by looking at every pair of places."""
    if ordered:
        places = [place for place, word in enumerate(words) if word == a]
        return sum(b in words[place + 1 : place + 1 + width] for place in places)
    found = 0
    for place, word in enumerate(words):
        if word in (a, b):
            other = b if word == a else a
            found += other in words[place + 1 : place + width]
    return found


def sdm(
    facts: Facts,
    query: list[str],
    *,
    terms: float = 0.85,
    ordered: float = 0.1,
    unordered: float = 0.05,
    gap: int = 1,
    window: int = 8,
    mu: float = 1500,
) -> dict[str, float]:
    known = facts.known(query)
    pairs = [(a, b) for a, b in pairwise(query) if facts.df(a) and facts.df(b)]

    def count(words: list[str], clique: tuple[Any, ...]) -> int:
        if len(clique) == 1:
            return words.count(clique[0])
        first, second, in_order, width = clique
        return window_count(words, first, second, ordered=in_order, width=width)

    def mean(name: str, cliques: list[tuple[Any, ...]]) -> float:
        words, there = facts.texts[name], []
        for clique in cliques:
            everywhere = sum(count(other, clique) for other in facts.texts.values())
            if everywhere:
                likely = (count(words, clique) + mu * everywhere / facts.size) / (len(words) + mu)
                there.append(math.log(likely))
        return sum(there) / len(there) if there else 0.0

    def value(name: str) -> float:
        return (
            terms * mean(name, [(term,) for term in known])
            + ordered * mean(name, [(*pair, True, gap) for pair in pairs])
            + unordered * mean(name, [(*pair, False, window) for pair in pairs])
        )

    return all_of(facts, value)


def tfn(facts: Facts, term: str, name: str, c: float) -> float:
    return facts.tf(term, name) * math.log2(1 + c * facts.mean / len(facts.texts[name]))


def pl2(facts: Facts, query: list[str], *, c: float = 1, stirling: str = "true") -> dict[str, float]:
    def one(term: str, name: str) -> float:
        x, rate = tfn(facts, term, name, c), facts.cf(term) / facts.n
        stir = 1 / (12 * x) if stirling == "true" else 0
        surprise = x * math.log2(x / rate) + (rate + stir - x) * math.log2(math.e)
        return (surprise + 0.5 * math.log2(2 * math.pi * x)) / (x + 1)

    return all_of(facts, lambda name: sum(one(term, name) for term in query if facts.tf(term, name)))


def in_expb2(facts: Facts, query: list[str], *, c: float = 1) -> dict[str, float]:
    def one(term: str, name: str) -> float:
        x = tfn(facts, term, name, c)
        expected = facts.n * (1 - math.exp(-facts.cf(term) / facts.n))
        idf = math.log2((facts.n + 1) / (expected + 0.5))
        return x * (facts.cf(term) + 1) / (facts.df(term) * (x + 1)) * idf

    return all_of(facts, lambda name: sum(one(term, name) for term in query if facts.tf(term, name)))


def vectors(facts: Facts, query: list[str], idf: Callable[[str], float], form: str) -> dict[str, float]:
    known = facts.known(query)

    def vector(words: list[str]) -> dict[str, float]:
        return {term: (1 + math.log(words.count(term))) * idf(term) for term in set(words)}

    def length(values: dict[str, float]) -> float:
        return math.sqrt(sum(value**2 for value in values.values())) or 1.0

    def value(name: str) -> float:
        left, right = vector(known), vector(facts.texts[name])
        dot = sum(left[term] * right.get(term, 0.0) for term in left)
        return dot / length(left) / length(right) if form == "cosine" else dot

    return all_of(facts, value)


def tf(facts: Facts, query: list[str], *, form: str = "dot") -> dict[str, float]:
    return vectors(facts, query, lambda _: 1.0, form)


def tfidf(facts: Facts, query: list[str], *, form: str = "dot") -> dict[str, float]:
    return vectors(facts, query, lambda term: math.log(facts.n / facts.df(term)), form)


TWINS: dict[str, Twin] = {
    "BM25": bm25,
    "BM25RF": bm25rf,
    "QLDirichlet": dirichlet,
    "QLJelinekMercer": jelinek_mercer,
    "QLHiemstra": hiemstra,
    "RM1": rm1,
    "RM3": rm3,
    "SDM": sdm,
    "PL2": pl2,
    "In_expB2": in_expb2,
    "TF": tf,
    "TFIDF": tfidf,
}
