"""Gibbs sampling loops of topic models: fitting, inference, and left-to-right evaluation.

Every token has a document, a word (the words of all languages share one numbering) and a topic, which is
drawn given all others. Callers validate the indices. Random numbers are passed as arrays, so that compiled
and uncompiled code draw the same. Sums are over blocks of 16, for speed and in a fixed order.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # a machine without a compiler has no Cython either
    from leadline.kernels import uncompiled as cython


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def draw(
    weight: cython.double[::1], blocks: cython.double[::1], size: cython.Py_ssize_t, uniform: cython.double
) -> cython.Py_ssize_t:
    """Draw a topic with probability proportional to `weight`, which is zero-padded to whole blocks."""
    b: cython.Py_ssize_t
    t: cython.Py_ssize_t
    count: cython.Py_ssize_t = (size + 15) // 16
    total: cython.double = 0.0
    part: cython.double
    for b in range(count):
        part = 0.0
        for t in range(16 * b, 16 * b + 16):
            part += weight[t]
        blocks[b] = part
        total += part
    total *= uniform
    b = 0
    while b < count - 1 and total >= blocks[b]:
        total -= blocks[b]
        b += 1
    t = 16 * b
    while t < size - 1 and t < 16 * b + 15 and total >= weight[t]:
        total -= weight[t]
        t += 1
    return t


def sweep(
    document: cython.const[cython.int][::1],
    word: cython.const[cython.int][::1],
    language: cython.const[cython.int][::1],
    latent: cython.int[::1],
    uniform: cython.const[cython.double][::1],
    alpha: cython.const[cython.double][::1],
    beta: cython.const[cython.double][::1],
    mass: cython.const[cython.double][::1],
    by_document: cython.double[:, ::1],
    by_word: cython.double[:, ::1],
    total: cython.double[:, ::1],
    inverse: cython.double[:, ::1],
    weight: cython.double[::1],
    blocks: cython.double[::1],
) -> None:
    """Draw the topic of every token once and update the counts."""
    i: cython.Py_ssize_t
    t: cython.Py_ssize_t
    d: cython.Py_ssize_t
    w: cython.Py_ssize_t
    l: cython.Py_ssize_t
    size: cython.Py_ssize_t = alpha.shape[0]
    b: cython.double
    with cython.nogil:
        for i in range(document.shape[0]):
            d = document[i]
            w = word[i]
            l = language[i]
            t = latent[i]
            by_document[d, t] -= 1.0
            by_word[w, t] -= 1.0
            total[l, t] -= 1.0
            inverse[l, t] = 1.0 / (total[l, t] + mass[l])
            b = beta[l]
            for t in range(size):
                weight[t] = (by_document[d, t] + alpha[t]) * (by_word[w, t] + b) * inverse[l, t]
            t = draw(weight, blocks, size, uniform[i])
            latent[i] = t
            by_document[d, t] += 1.0
            by_word[w, t] += 1.0
            total[l, t] += 1.0
            inverse[l, t] = 1.0 / (total[l, t] + mass[l])


def infer(
    document: cython.const[cython.int][::1],
    word: cython.const[cython.int][::1],
    latent: cython.int[::1],
    uniform: cython.const[cython.double][::1],
    alpha: cython.const[cython.double][::1],
    likelihood: cython.const[cython.double][:, ::1],
    by_document: cython.double[:, ::1],
    weight: cython.double[::1],
    blocks: cython.double[::1],
) -> None:
    """Draw the topic of every token once, with fixed word likelihoods."""
    i: cython.Py_ssize_t
    t: cython.Py_ssize_t
    d: cython.Py_ssize_t
    w: cython.Py_ssize_t
    size: cython.Py_ssize_t = alpha.shape[0]
    with cython.nogil:
        for i in range(document.shape[0]):
            d = document[i]
            w = word[i]
            by_document[d, latent[i]] -= 1.0
            for t in range(size):
                weight[t] = (by_document[d, t] + alpha[t]) * likelihood[w, t]
            t = draw(weight, blocks, size, uniform[i])
            latent[i] = t
            by_document[d, t] += 1.0


def left_to_right(
    word: cython.const[cython.int][::1],
    latent: cython.int[::1],
    uniform: cython.const[cython.double][::1],
    alpha: cython.const[cython.double][::1],
    alpha_sum: cython.double,
    likelihood: cython.const[cython.double][:, ::1],
    counts: cython.double[::1],
    probability: cython.double[::1],
    weight: cython.double[::1],
    blocks: cython.double[::1],
) -> None:
    """Run one particle through a document, adding to `probability[n]` that of word n given its prefix.

    The topics of all earlier words are resampled first. Needs n (n + 1) / 2 random numbers.
    """
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t
    t: cython.Py_ssize_t
    used: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t = alpha.shape[0]
    p: cython.double
    with cython.nogil:
        for n in range(word.shape[0]):
            for i in range(n):
                counts[latent[i]] -= 1.0
                for t in range(size):
                    weight[t] = (counts[t] + alpha[t]) * likelihood[word[i], t]
                t = draw(weight, blocks, size, uniform[used])
                used += 1
                latent[i] = t
                counts[t] += 1.0
            p = 0.0
            for t in range(size):
                weight[t] = (counts[t] + alpha[t]) * likelihood[word[n], t]
                p += weight[t]
            probability[n] += p / (n + alpha_sum)
            t = draw(weight, blocks, size, uniform[used])
            used += 1
            latent[n] = t
            counts[t] += 1.0
