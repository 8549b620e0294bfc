"""Counts of ordered pairs of documents in pairs of lists: the tables behind RIC, id and Kendall's tau.

Documents are numbered 0 to n - 1. List s is `order[bounds[s]:bounds[s + 1]]`, best first, and `place[s * n +
d]` is the position of document d in it, or -1. All indices are validated before the loops, which are compiled
without bounds checks. Also runs uncompiled, slowly.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # a machine without a compiler has no Cython either
    from leadline.kernels import uncompiled as cython


FIRST = cython.declare(cython.ulonglong, 1)
LEVELS = cython.declare(cython.Py_ssize_t, 128)  # what rounding each level of a tree to 16 nodes may add


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def bits(word: cython.ulonglong) -> cython.longlong:
    """Return the number of bits set.

    Compilers recognize this form, where the masks are constants, and emit one instruction if there is one. The
    last mask is for Python integers, which do not wrap around.
    """
    odd: cython.ulonglong = 0x5555555555555555
    twos: cython.ulonglong = 0x3333333333333333
    fours: cython.ulonglong = 0x0F0F0F0F0F0F0F0F
    ones: cython.ulonglong = 0x0101010101010101
    word = word - ((word >> 1) & odd)
    word = (word & twos) + ((word >> 2) & twos)
    word = (word + (word >> 4)) & fours
    return cython.cast(cython.longlong, ((word * ones) >> 56) & 0xFF)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def count_before(
    words: cython.const[cython.ulonglong][::1],
    tree: cython.const[cython.int][::1],
    base: cython.Py_ssize_t,
    level: cython.Py_ssize_t,
    width: cython.Py_ssize_t,
    place: cython.Py_ssize_t,
) -> cython.longlong:
    """Return the number of positions inserted below one: bits of its word, and the tree's count before it."""
    node: cython.Py_ssize_t = place >> 6
    found: cython.longlong = tree[level + node]
    found += bits(words[base + node] & ((FIRST << (place & 63)) - FIRST))
    while width > 16:
        level += (width + 15) & ~15
        node >>= 4
        width = (width + 15) >> 4
        found += tree[level + node]
    return found


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def put_in(
    words: cython.ulonglong[::1],
    tree: cython.int[::1],
    base: cython.Py_ssize_t,
    level: cython.Py_ssize_t,
    width: cython.Py_ssize_t,
    place: cython.Py_ssize_t,
) -> cython.void:
    """Insert a position into its word, and count it at every level of the tree over the words.

    Sixteen nodes of one level are one node of the next. A node holds the number of positions in the nodes
    before it among its sixteen: they change together, in a few vector instructions, and a count reads one.
    """
    node: cython.Py_ssize_t = place >> 6
    x: cython.Py_ssize_t
    nth: cython.int
    lane: cython.int
    words[base + node] |= FIRST << (place & 63)
    while True:
        x = level + (node & ~15)
        nth = node & 15
        for lane in range(16):
            tree[x + lane] += lane > nth
        if width <= 16:
            break
        level += (width + 15) & ~15
        node >>= 4
        width = (width + 15) >> 4


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def sweep(
    order: cython.const[cython.int][::1],
    low: cython.Py_ssize_t,
    high: cython.Py_ssize_t,
    grade: cython.const[cython.int][::1],
    place: cython.const[cython.int][::1],
    other: cython.Py_ssize_t,
    grades: cython.Py_ssize_t,
    counts: cython.longlong[::1],
    seen: cython.Py_ssize_t,
    above: cython.Py_ssize_t,
) -> cython.void:
    """Count the pairs with the worse document above the better one in a list, by kind.

    The kind of a document is its grade, plus `grades` if the other list (its positions begin at `other`)
    lacks it. At the end `counts[seen + kind]` is the number of each kind, and `counts[above + kind * kinds +
    worse kind]` of pairs.
    """
    i: cython.Py_ssize_t
    x: cython.Py_ssize_t
    better: cython.Py_ssize_t
    row: cython.Py_ssize_t
    kinds: cython.Py_ssize_t = 2 * grades
    for i in range(low, high):
        better = grade[order[i]]
        row = better + grades * (place[other + order[i]] < 0)
        counts[seen + row] += 1
        if better > 0:
            row = above + row * kinds
            for x in range(better):
                counts[row + x] += counts[seen + x]
                counts[row + grades + x] += counts[seen + grades + x]


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def agree(
    order: cython.const[cython.int][::1],
    low: cython.Py_ssize_t,
    high: cython.Py_ssize_t,
    grade: cython.const[cython.int][::1],
    place: cython.const[cython.int][::1],
    other: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
    grades: cython.Py_ssize_t,
    words: cython.ulonglong[::1],
    tree: cython.int[::1],
    counts: cython.longlong[::1],
) -> cython.void:
    """Count the common pairs with the worse document above the better one in both lists.

    `counts[better * grades + worse]` is their number. The best grade is never queried, so it is not inserted.
    """
    i: cython.Py_ssize_t
    x: cython.Py_ssize_t
    better: cython.Py_ssize_t
    at: cython.Py_ssize_t
    width: cython.Py_ssize_t = (length >> 6) + 1
    nodes: cython.Py_ssize_t = 2 * width + LEVELS
    for x in range(width * (grades - 1)):
        words[x] = 0
    for x in range(nodes * (grades - 1)):
        tree[x] = 0
    for i in range(low, high):
        at = place[other + order[i]]
        if at < 0:
            continue
        better = grade[order[i]]
        for x in range(better):
            counts[better * grades + x] += count_before(
                words, tree, x * width, x * nodes, width, at
            )
        if better < grades - 1:
            put_in(words, tree, better * width, better * nodes, width, at)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def weigh(
    counts: cython.const[cython.longlong][::1],
    weight: cython.const[cython.double][::1],
    grades: cython.Py_ssize_t,
    table: cython.double[::1],
    cell: cython.Py_ssize_t,
) -> cython.void:
    """Compute the table of one pair of lists from its counts."""
    m: cython.Py_ssize_t = grades
    kinds: cython.Py_ssize_t = 2 * m
    one: cython.Py_ssize_t = m * m
    two: cython.Py_ssize_t = 5 * m * m
    both: cython.Py_ssize_t = 9 * m * m
    first: cython.Py_ssize_t = both + m
    second: cython.Py_ssize_t = both + 3 * m
    rest: cython.Py_ssize_t = both + 5 * m
    g: cython.Py_ssize_t  # the better grade
    h: cython.Py_ssize_t  # the worse one
    b: cython.Py_ssize_t  # where the row of a better kind begins
    w: cython.double
    c: cython.longlong
    x: cython.longlong
    y: cython.longlong
    for g in range(9):
        table[cell + g] = 0.0
    for g in range(1, m):
        for h in range(g):
            w = weight[g] * weight[h]
            # Both documents in both lists.
            c = counts[g * m + h]
            x = counts[one + g * kinds + h]
            y = counts[two + g * kinds + h]
            table[cell] += w * (counts[both + g] * counts[both + h] - x - y + c)
            table[cell + 2] += w * (y - c)
            table[cell + 6] += w * (x - c)
            table[cell + 8] += w * c
            # One in both, one in the first list only: the second puts the common one above.
            x = counts[one + g * kinds + m + h]
            table[cell] += w * (counts[both + g] * counts[first + h] - x)
            table[cell + 6] += w * x
            x = counts[one + (m + g) * kinds + h]
            table[cell + 2] += w * (counts[first + g] * counts[both + h] - x)
            table[cell + 8] += w * x
            # One in both, one in the second list only.
            x = counts[two + g * kinds + m + h]
            table[cell] += w * (counts[both + g] * counts[second + h] - x)
            table[cell + 2] += w * x
            x = counts[two + (m + g) * kinds + h]
            table[cell + 6] += w * (counts[second + g] * counts[both + h] - x)
            table[cell + 8] += w * x
            # One in both, one in neither.
            table[cell] += w * (counts[both + g] * counts[rest + h])
            table[cell + 8] += w * (counts[rest + g] * counts[both + h])
            # Both in the first list only, or one of them in neither.
            x = counts[one + (m + g) * kinds + m + h]
            y = counts[first + g] * counts[first + h] - x
            table[cell + 1] += w * (y + counts[first + g] * counts[rest + h])
            table[cell + 7] += w * (x + counts[rest + g] * counts[first + h])
            # Both in the second list only, or one of them in neither.
            x = counts[two + (m + g) * kinds + m + h]
            y = counts[second + g] * counts[second + h] - x
            table[cell + 3] += w * (y + counts[second + g] * counts[rest + h])
            table[cell + 5] += w * (x + counts[rest + g] * counts[second + h])
            # Each in one list only.
            table[cell + 2] += w * (counts[first + g] * counts[second + h])
            table[cell + 6] += w * (counts[second + g] * counts[first + h])
            # Neither in any.
            table[cell + 4] += w * (counts[rest + g] * counts[rest + h])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sound(
    documents: cython.Py_ssize_t,
    bounds: cython.const[cython.longlong][::1],
    order: cython.const[cython.int][::1],
    place: cython.const[cython.int][::1],
    first: cython.const[cython.int][::1],
    second: cython.const[cython.int][::1],
    trees: cython.Py_ssize_t,
    words: cython.Py_ssize_t,
    nodes: cython.Py_ssize_t,
) -> cython.bint:
    """Return whether all indices are in range, so that the loops need not check."""
    i: cython.Py_ssize_t
    lists: cython.Py_ssize_t = bounds.shape[0] - 1
    good: cython.bint = (
        lists >= 0
        and place.shape[0] >= lists * documents
        and first.shape[0] == second.shape[0]
        and words >= trees * ((documents >> 6) + 1)
        and nodes >= 2 * words + LEVELS * trees
    )
    if not good or bounds[0] < 0 or bounds[lists] > order.shape[0]:
        return False
    for i in range(lists):
        good = good and 0 <= bounds[i + 1] - bounds[i] <= documents
        good = good and bounds[i + 1] <= order.shape[0]
    for i in range(order.shape[0]):
        good = good and 0 <= order[i] < documents
    for i in range(place.shape[0]):
        good = good and place[i] < documents
    for i in range(first.shape[0]):
        good = good and 0 <= first[i] < lists and 0 <= second[i] < lists
    return good


def joint_tables(
    grade: cython.const[cython.int][::1],
    weight: cython.const[cython.double][::1],
    bounds: cython.const[cython.longlong][::1],
    order: cython.const[cython.int][::1],
    place: cython.const[cython.int][::1],
    first: cython.const[cython.int][::1],
    second: cython.const[cython.int][::1],
    words: cython.ulonglong[::1],
    tree: cython.int[::1],
    counts: cython.longlong[::1],
    table: cython.double[::1],
) -> cython.bint:
    """Fill, per pair of lists, the weights of document pairs by their order in each; False: a bad index.

    A pair is a better and a worse document of weight `weight[better grade] * weight[worse grade]`; its order
    in a list is 1 (better first), -1 (worse first) or 0 (neither retrieved): `table[9 * pair + 3 * (1 - a) +
    (1 - b)]` is the weight of the pairs of order a in the first list and b in the second. Counts are exact
    integers until they are weighted. Takes O(grades * n log n) time per pair of lists. `words` needs grades -
    1 times n // 64 + 1 elements, `tree` twice as many and 128 times grades - 1 more, `counts` 9 * grades^2 +
    6 * grades.
    """
    pair: cython.Py_ssize_t
    x: cython.Py_ssize_t
    s: cython.Py_ssize_t
    t: cython.Py_ssize_t
    n: cython.Py_ssize_t = grade.shape[0]
    m: cython.Py_ssize_t = weight.shape[0]
    held: cython.Py_ssize_t = 9 * m * m  # documents: both, first only, both, second only, all, neither
    good: cython.bint
    with cython.nogil:
        good = sound(
            n, bounds, order, place, first, second, m - 1, words.shape[0], tree.shape[0]
        )
        good = good and counts.shape[0] == held + 6 * m and table.shape[0] == 9 * first.shape[0]
        for x in range(n):
            good = good and 0 <= grade[x] < m
        if good:
            for x in range(held + 4 * m, held + 5 * m):
                counts[x] = 0
            for x in range(n):
                counts[held + 4 * m + grade[x]] += 1
            for pair in range(first.shape[0]):
                s = first[pair]
                t = second[pair]
                for x in range(held + 4 * m):
                    counts[x] = 0
                agree(
                    order, bounds[s], bounds[s + 1], grade, place, t * n, bounds[t + 1] - bounds[t],
                    m, words, tree, counts,
                )
                sweep(
                    order, bounds[s], bounds[s + 1], grade, place, t * n, m, counts, held, m * m
                )
                sweep(
                    order, bounds[t], bounds[t + 1], grade, place, s * n, m, counts, held + 2 * m,
                    5 * m * m,
                )
                for x in range(held, held + m):  # neither = all - (both or first) - only second
                    counts[x + 5 * m] = (
                        counts[x + 4 * m] - counts[x] - counts[x + m] - counts[x + 3 * m]
                    )
                weigh(counts, weight, m, table, 9 * pair)
    return good


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def fill_planes(
    s: cython.Py_ssize_t,
    bounds: cython.const[cython.longlong][::1],
    order: cython.const[cython.int][::1],
    place: cython.const[cython.int][::1],
    grade: cython.const[cython.int][::1],
    bit: cython.const[cython.longlong][::1],
    row: cython.const[cython.longlong][::1],
    start: cython.const[cython.longlong][::1],
    below: cython.ulonglong[::1],
    planes: cython.ulonglong[::1],
) -> cython.void:
    """Fill the bit rows of one list: which worse documents are not above each better one."""
    i: cython.Py_ssize_t
    x: cython.Py_ssize_t
    d: cython.Py_ssize_t
    n: cython.Py_ssize_t = grade.shape[0]
    at: cython.Py_ssize_t = s * (planes.shape[0] // (bounds.shape[0] - 1))
    for x in range(below.shape[0]):
        below[x] = 0
    for d in range(n):
        if place[s * n + d] < 0:
            below[bit[d] >> 6] |= FIRST << (bit[d] & 63)
    for d in range(n):
        if place[s * n + d] < 0:
            for x in range(start[grade[d]]):
                planes[at + row[d] + x] = below[x]
    i = bounds[s + 1]
    while i > bounds[s]:
        i -= 1
        d = order[i]
        for x in range(start[grade[d]]):
            planes[at + row[d] + x] = below[x]
        below[bit[d] >> 6] |= FIRST << (bit[d] & 63)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def count_planes(
    s: cython.Py_ssize_t,
    t: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    place: cython.const[cython.int][::1],
    better: cython.const[cython.int][::1],
    grade: cython.const[cython.int][::1],
    row: cython.const[cython.longlong][::1],
    start: cython.const[cython.longlong][::1],
    planes: cython.const[cython.ulonglong][::1],
    counts: cython.longlong[::1],
    base: cython.Py_ssize_t,
) -> cython.void:
    """Count the pairs with the worse document not above the better one in both lists.

    `counts[base + (kind * grades + better grade) * grades + worse grade]` is their number, where kind adds 2
    if the first list lacks the better document, and so the worse one, and 1 if the second does.
    """
    x: cython.Py_ssize_t
    y: cython.Py_ssize_t
    d: cython.Py_ssize_t
    g: cython.Py_ssize_t
    h: cython.Py_ssize_t
    one: cython.Py_ssize_t
    two: cython.Py_ssize_t
    kind: cython.Py_ssize_t
    found: cython.longlong
    n: cython.Py_ssize_t = grade.shape[0]
    m: cython.Py_ssize_t = start.shape[0] - 1
    for x in range(4 * m * m):
        counts[base + x] = 0
    for x in range(better.shape[0]):
        d = better[x]
        g = grade[d]
        kind = 2 * (place[s * n + d] < 0) + (place[t * n + d] < 0)
        one = s * size + row[d]
        two = t * size + row[d]
        for h in range(g):
            found = 0
            for y in range(start[h], start[h + 1]):
                found += bits(planes[one + y] & planes[two + y])
            counts[base + (kind * m + g) * m + h] += found


def plane_tables(
    grade: cython.const[cython.int][::1],
    weight: cython.const[cython.double][::1],
    bounds: cython.const[cython.longlong][::1],
    order: cython.const[cython.int][::1],
    place: cython.const[cython.int][::1],
    first: cython.const[cython.int][::1],
    second: cython.const[cython.int][::1],
    better: cython.const[cython.int][::1],
    bit: cython.const[cython.longlong][::1],
    row: cython.const[cython.longlong][::1],
    start: cython.const[cython.longlong][::1],
    below: cython.ulonglong[::1],
    planes: cython.ulonglong[::1],
    counts: cython.longlong[::1],
    table: cython.double[::1],
) -> cython.bint:
    """Fill the tables of `joint_tables` from bit planes; False: a bad index.

    Document d is bit `bit[d]`; the documents of grade g take up the words `start[g]` to `start[g + 1]`. Each
    list has a row of `start[grade[d]]` words for every document d of `better` (all but those of the worst
    grade), from word `row[d]` on: the worse documents that are not above d. Where d is retrieved they are
    below it; where it is not, they are not retrieved either. So the bits common to the rows of two lists are
    the pairs of order 1 or 0 in both, and the rest follows from the rows of each list alone. Takes time in
    proportion to the words of a row for each pair of lists. `planes` needs them for each list, `counts` 4 *
    grades^2 elements for each list and for one pair, and grades more.
    """
    pair: cython.Py_ssize_t
    x: cython.Py_ssize_t
    s: cython.Py_ssize_t
    t: cython.Py_ssize_t
    g: cython.Py_ssize_t
    h: cython.Py_ssize_t
    n: cython.Py_ssize_t = grade.shape[0]
    m: cython.Py_ssize_t = weight.shape[0]
    cells: cython.Py_ssize_t = 4 * m * m
    lists: cython.Py_ssize_t = bounds.shape[0] - 1
    size: cython.Py_ssize_t = planes.shape[0] // max(lists, 1)
    base: cython.Py_ssize_t = cells * lists
    w: cython.double
    same: cython.longlong  # pairs of order 1 in both lists
    left: cython.longlong  # 1 in the first, 0 in the second
    right: cython.longlong  # 0 in the first, 1 in the second
    none: cython.longlong  # 0 in both
    first_up: cython.longlong  # 1 in the first
    first_none: cython.longlong
    second_up: cython.longlong
    second_none: cython.longlong
    rest: cython.longlong
    good: cython.bint
    with cython.nogil:
        good = sound(n, bounds, order, place, first, second, 0, 0, 0)
        good = good and bit.shape[0] == row.shape[0] == n and start.shape[0] == m + 1
        good = good and counts.shape[0] == base + cells + m and table.shape[0] == 9 * first.shape[0]
        good = good and start[0] == 0 and start[m] == below.shape[0]
        for x in range(m):
            good = good and start[x] <= start[x + 1]
        for x in range(n):
            good = good and 0 <= grade[x] < m and 0 <= bit[x] < 64 * below.shape[0]
            good = good and 0 <= row[x] and row[x] + start[grade[x]] <= size
        for x in range(better.shape[0]):
            good = good and 0 <= better[x] < n
        if good:
            for x in range(m):
                counts[base + cells + x] = 0
            for x in range(n):
                counts[base + cells + grade[x]] += 1
            for s in range(lists):
                fill_planes(s, bounds, order, place, grade, bit, row, start, below, planes)
                count_planes(
                    s, s, size, place, better, grade, row, start, planes, counts, cells * s
                )
            for pair in range(first.shape[0]):
                s = cells * first[pair]
                t = cells * second[pair]
                count_planes(
                    first[pair], second[pair], size, place, better, grade, row, start, planes, counts, base
                )
                for x in range(9 * pair, 9 * pair + 9):
                    table[x] = 0.0
                x = 9 * pair
                for g in range(1, m):
                    for h in range(g):
                        w = weight[g] * weight[h]
                        same = counts[base + g * m + h]
                        left = counts[base + (m + g) * m + h]
                        right = counts[base + (2 * m + g) * m + h]
                        none = counts[base + (3 * m + g) * m + h]
                        first_up = counts[s + g * m + h]
                        first_none = counts[s + (3 * m + g) * m + h]
                        second_up = counts[t + g * m + h]
                        second_none = counts[t + (3 * m + g) * m + h]
                        rest = counts[base + cells + g] * counts[base + cells + h]
                        rest -= first_up + first_none + second_up + second_none
                        table[x] += w * same
                        table[x + 1] += w * left
                        table[x + 2] += w * (first_up - same - left)
                        table[x + 3] += w * right
                        table[x + 4] += w * none
                        table[x + 5] += w * (first_none - right - none)
                        table[x + 6] += w * (second_up - same - right)
                        table[x + 7] += w * (second_none - left - none)
                        table[x + 8] += w * (rest + same + left + right + none)
    return good


def common_orders(
    documents: cython.longlong,
    bounds: cython.const[cython.longlong][::1],
    order: cython.const[cython.int][::1],
    place: cython.const[cython.int][::1],
    first: cython.const[cython.int][::1],
    second: cython.const[cython.int][::1],
    words: cython.ulonglong[::1],
    tree: cython.int[::1],
    common: cython.longlong[::1],
    agreeing: cython.longlong[::1],
) -> cython.bint:
    """Count the common documents per pair of lists, and the pairs of them in equal order; False: a bad index.

    `words` needs documents // 64 + 1 elements, `tree` twice as many and 128 more.
    """
    pair: cython.Py_ssize_t
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    t: cython.Py_ssize_t
    at: cython.Py_ssize_t
    width: cython.Py_ssize_t
    found: cython.longlong
    same: cython.longlong
    good: cython.bint
    with cython.nogil:
        good = sound(
            documents, bounds, order, place, first, second, 1, words.shape[0], tree.shape[0]
        )
        good = good and common.shape[0] == agreeing.shape[0] == first.shape[0]
        if good:
            for pair in range(first.shape[0]):
                s = first[pair]
                t = second[pair]
                width = ((bounds[t + 1] - bounds[t]) >> 6) + 1
                for i in range(width):
                    words[i] = 0
                for i in range(2 * width + LEVELS):
                    tree[i] = 0
                found = 0
                same = 0
                for i in range(bounds[s], bounds[s + 1]):
                    at = place[t * documents + order[i]]
                    if at >= 0:
                        found += 1
                        same += count_before(words, tree, 0, 0, width, at)
                        put_in(words, tree, 0, 0, width, at)
                common[pair] = found
                agreeing[pair] = same
    return good
