"""Ids in columns, sorting of lists, and rank-biased overlap.

A document is the offset of its bytes in a text and a 64-bit hash; equal hashes are confirmed by comparing
bytes, so the results are exact. Also runs uncompiled, slowly.
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
def same_bytes(
    left: cython.const[cython.uchar][::1],
    left_start: cython.Py_ssize_t,
    right: cython.const[cython.uchar][::1],
    right_start: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
) -> cython.bint:
    """Return whether two byte ranges are equal."""
    i: cython.Py_ssize_t
    for i in range(length):
        if left[left_start + i] != right[right_start + i]:
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def spread(hashed: cython.ulonglong, mask: cython.ulonglong) -> cython.Py_ssize_t:
    """Return the first slot to probe; folds in the high bits, since ids differ mostly in their last byte."""
    return cython.cast(cython.Py_ssize_t, (hashed ^ (hashed >> 29)) & mask)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def inside(
    text: cython.const[cython.uchar][::1],
    start: cython.const[cython.longlong][::1],
    stop: cython.const[cython.longlong][::1],
    size: cython.Py_ssize_t,
    begin: cython.const[cython.longlong][::1],
    end: cython.const[cython.longlong][::1],
) -> cython.bint:
    """Return whether ranges of rows lie in columns of a size, and the ids of these rows in the text."""
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    good: cython.bint = begin.shape[0] >= end.shape[0]
    if good:
        for i in range(end.shape[0]):
            if begin[i] < 0 or end[i] > min(size, start.shape[0], stop.shape[0]):
                return False
            for row in range(begin[i], end[i]):  # without a branch, so that compilers can do several at a time
                good &= (start[row] >= 0) & (start[row] <= stop[row]) & (stop[row] <= text.shape[0])
    return good


def number_ids(
    text: cython.const[cython.uchar][::1],
    start: cython.const[cython.longlong][::1],
    stop: cython.const[cython.longlong][::1],
    hashes: cython.const[cython.ulonglong][::1],
    list_row: cython.const[cython.longlong][::1],
    known_text: cython.uchar[::1],
    known_start: cython.longlong[::1],
    known_hash: cython.ulonglong[::1],
    slots: cython.int[::1],
    lister: cython.int[::1],
    tally: cython.longlong[::1],
    numbers: cython.int[::1],
) -> None:
    """Number the documents of some lists, known ones as before; a repeat in a list gets a number of its own.

    `tally` is how many are known and how many lists were numbered; `known_start` begins with 0, `slots` is a
    table of numbers + 1 with a power of two of elements, `lister` the last list of each number. All must have
    capacity for the new documents.
    """
    i: cython.Py_ssize_t
    x: cython.Py_ssize_t
    row: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    length: cython.Py_ssize_t
    mask: cython.Py_ssize_t = slots.shape[0] - 1
    other: cython.int
    good: cython.bint
    with cython.nogil:
        good = inside(text, start, stop, hashes.shape[0], list_row, list_row[1:])
    if not good or tally.shape[0] < 2:
        raise IndexError("columns of lists")
    length = slot = 0
    for i in range(list_row.shape[0] - 1):
        for row in range(list_row[i], list_row[i + 1]):
            slot += 1
            length += stop[row] - start[row]
    if (
        list_row.shape[0] < 1
        or list_row[list_row.shape[0] - 1] > numbers.shape[0]
        or (slots.shape[0] & mask) != 0
        or tally[0] < 0
        or tally[0] + slot >= min(slots.shape[0], known_start.shape[0])
        or tally[0] + slot > min(known_hash.shape[0], lister.shape[0])
        or known_start[tally[0]] < 0
        or known_start[tally[0]] + length > known_text.shape[0]
    ):
        raise IndexError("columns of numbered documents")
    with cython.nogil:
        for i in range(list_row.shape[0] - 1):
            tally[1] += 1
            for row in range(list_row[i], list_row[i + 1]):
                length = stop[row] - start[row]
                slot = spread(hashes[row], mask)
                other = -1
                while slots[slot] != 0:
                    other = slots[slot] - 1
                    if (
                        other < tally[0]
                        and known_hash[other] == hashes[row]
                        and known_start[other + 1] - known_start[other] == length
                        and same_bytes(known_text, known_start[other], text, start[row], length)
                    ):
                        break
                    other = -1
                    slot = (slot + 1) & mask
                if other < 0 or lister[other] == tally[1]:
                    if other < 0:
                        slots[slot] = tally[0] + 1
                    other = tally[0]
                    tally[0] += 1
                    for x in range(length):
                        known_text[known_start[other] + x] = text[start[row] + x]
                    known_start[other + 1] = known_start[other] + length
                    known_hash[other] = hashes[row]
                lister[other] = tally[1]
                numbers[row] = other


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def before(
    text: cython.const[cython.uchar][::1],
    doc_start: cython.const[cython.longlong][::1],
    doc_stop: cython.const[cython.longlong][::1],
    scores: cython.const[cython.double][::1],
    left: cython.Py_ssize_t,
    right: cython.Py_ssize_t,
) -> cython.bint:
    """Return whether row `left` precedes: higher score, then larger id (bytes)."""
    i: cython.Py_ssize_t
    left_length: cython.Py_ssize_t
    right_length: cython.Py_ssize_t
    a: cython.uchar
    b: cython.uchar
    if scores[left] != scores[right]:
        return scores[left] > scores[right]
    left_length = doc_stop[left] - doc_start[left]
    right_length = doc_stop[right] - doc_start[right]
    for i in range(min(left_length, right_length)):
        a = text[doc_start[left] + i]
        b = text[doc_start[right] + i]
        if a != b:
            return a > b
    return left_length >= right_length


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def merge(
    text: cython.const[cython.uchar][::1],
    doc_start: cython.const[cython.longlong][::1],
    doc_stop: cython.const[cython.longlong][::1],
    scores: cython.const[cython.double][::1],
    source: cython.longlong[::1],
    target: cython.longlong[::1],
    low: cython.Py_ssize_t,
    middle: cython.Py_ssize_t,
    high: cython.Py_ssize_t,
) -> cython.void:
    """Merge two sorted ranges of row numbers into one."""
    i: cython.Py_ssize_t = low
    j: cython.Py_ssize_t = middle
    k: cython.Py_ssize_t
    for k in range(low, high):
        if i < middle and (
            j >= high or before(text, doc_start, doc_stop, scores, source[i], source[j])
        ):
            target[k] = source[i]
            i += 1
        else:
            target[k] = source[j]
            j += 1


def arrange(
    text: cython.const[cython.uchar][::1],
    doc_start: cython.const[cython.longlong][::1],
    doc_stop: cython.const[cython.longlong][::1],
    scores: cython.const[cython.double][::1],
    list_row: cython.const[cython.longlong][::1],
    order: cython.longlong[::1],
    spare: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Fill `order` with the sorted rows of each list; return the number of unsorted lists."""
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    width: cython.Py_ssize_t
    moved: cython.Py_ssize_t = 0
    falling: cython.bint
    in_order: cython.bint
    size: cython.Py_ssize_t = min(scores.shape[0], order.shape[0], spare.shape[0])
    good: cython.bint
    with cython.nogil:
        good = inside(text, doc_start, doc_stop, size, list_row, list_row[1:])
    if not good:
        raise IndexError("columns of lists")
    with cython.nogil:
        for i in range(list_row.shape[0] - 1):
            low = list_row[i]
            high = list_row[i + 1]
            in_order = True
            falling = True
            for row in range(low, high):
                order[row] = row
                if row > low:
                    falling = scores[row - 1] > scores[row]
                    if not falling and in_order:
                        in_order = before(text, doc_start, doc_stop, scores, row - 1, row)
            if in_order:
                continue
            moved += 1
            width = 1
            while width < high - low:
                row = low
                while row < high:
                    merge(
                        text,
                        doc_start,
                        doc_stop,
                        scores,
                        order,
                        spare,
                        row,
                        min(row + width, high),
                        min(row + 2 * width, high),
                    )
                    row += 2 * width
                for row in range(low, high):
                    order[row] = spare[row]
                width *= 2
    return moved


def biased_overlaps(
    documents: cython.longlong,
    bounds: cython.const[cython.longlong][::1],
    order: cython.const[cython.int][::1],
    place: cython.const[cython.int][::1],
    first: cython.const[cython.int][::1],
    second: cython.const[cython.int][::1],
    entry: cython.const[cython.int][::1],
    weight: cython.const[cython.double][::1],
    held: cython.int[::1],
    counts: cython.int[::1],
    value: cython.double[::1],
    last: cython.double[::1],
) -> None:
    """Sum the agreement of pairs of lists over depths; lists and positions are as in `leadline.kernels.pairs`.

    `entry[i]` is the rank at which document `order[i]` enters its list, from 1 and not falling along it. Value is
    the sum of agreement times weight over the depths of the longer list, beyond the shorter one with its last
    agreement continued and without ties of the shorter one; last is the agreement at the last depth. `held`
    needs as many elements as `weight`, and one, for each list; `counts` as many and one.
    """
    pair: cython.Py_ssize_t
    i: cython.Py_ssize_t
    d: cython.Py_ssize_t
    s: cython.Py_ssize_t
    t: cython.Py_ssize_t
    at: cython.Py_ssize_t
    lower: cython.Py_ssize_t
    upper: cython.Py_ssize_t
    longer: cython.Py_ssize_t
    depth: cython.Py_ssize_t = weight.shape[0]
    lists: cython.Py_ssize_t = bounds.shape[0] - 1
    common: cython.longlong
    rate: cython.double
    found: cython.double
    total: cython.double
    if (
        bounds.shape[0] < 1
        or place.shape[0] < lists * documents
        or held.shape[0] < lists * (depth + 1)
        or counts.shape[0] < depth + 1
        or first.shape[0] > min(second.shape[0], value.shape[0], last.shape[0])
    ):
        raise IndexError("an array is too short for the pairs of lists")
    for s in range(lists):
        if bounds[s] < 0 or bounds[s] > bounds[s + 1] or bounds[s + 1] > min(order.shape[0], entry.shape[0]):
            raise IndexError("bounds of lists")
        for i in range(bounds[s], bounds[s + 1]):
            if entry[i] < 1 or order[i] < 0 or order[i] >= documents:
                raise IndexError("documents of lists")
        for at in range(s * documents, (s + 1) * documents):
            if place[at] >= bounds[s + 1] - bounds[s]:
                raise IndexError("places of documents")
    for pair in range(first.shape[0]):
        if first[pair] < 0 or first[pair] >= lists or second[pair] < 0 or second[pair] >= lists:
            raise IndexError("pairs of lists")
    with cython.nogil:
        for s in range(lists):
            for at in range(s * (depth + 1), (s + 1) * (depth + 1)):
                held[at] = 0
            for i in range(bounds[s], bounds[s + 1]):
                if entry[i] <= depth:
                    held[s * (depth + 1) + entry[i]] += 1
            for at in range(s * (depth + 1) + 1, (s + 1) * (depth + 1)):
                held[at] += held[at - 1]
        for pair in range(first.shape[0]):
            s = first[pair]
            t = second[pair]
            for d in range(depth + 1):
                counts[d] = 0
            for i in range(bounds[s], bounds[s + 1]):
                if entry[i] > depth:
                    break
                at = place[t * documents + order[i]]
                if at >= 0:
                    d = max(entry[i], entry[bounds[t] + at])
                    if d <= depth:
                        counts[d] += 1
            lower = min(bounds[s + 1] - bounds[s], bounds[t + 1] - bounds[t])
            upper = max(bounds[s + 1] - bounds[s], bounds[t + 1] - bounds[t])
            longer = s if bounds[s + 1] - bounds[s] == upper else t
            common = 0
            found = rate = total = 0.0
            for d in range(1, min(upper, depth) + 1):
                common += counts[d]
                if d > lower:
                    found = 2.0 * (common + rate * (d - lower)) / (d + held[longer * (depth + 1) + d])
                else:
                    rate = found = (
                        2.0 * common / (held[s * (depth + 1) + d] + held[t * (depth + 1) + d])
                    )
                total += found * weight[d - 1]
            value[pair] = total
            last[pair] = found
