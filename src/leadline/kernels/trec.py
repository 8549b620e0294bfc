# cython: language_level=3, boundscheck=True, wraparound=False, cdivision=True, initializedcheck=False
"""Read TREC lines, look documents up and order lists, byte by byte: the compiled form.

Everything here is a function over flat arrays. Documents are never made into strings: a document is
the place of its bytes in the text and a 64-bit hash, and every equal hash is confirmed by comparing the
bytes. These functions know only clean input; they return a code for anything else, and the caller
gives the text to `leadline.kernels.plain`, which decides what it means. So the two forms cannot differ
in what they accept.

The file is ordinary Python with types. It runs uncompiled too, slowly, and the tests run it so.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # a machine without a compiler has no Cython either
    from leadline.kernels import uncompiled as cython

TAB = cython.declare(cython.uchar, 9)
NEWLINE = cython.declare(cython.uchar, 10)
RETURN = cython.declare(cython.uchar, 13)
BLANK = cython.declare(cython.uchar, 32)
HASH_MARK = cython.declare(cython.uchar, 35)
# The 64-bit FNV-1a start and factor; the mask keeps the uncompiled form at 64 bits.
HASH_START = cython.declare(cython.ulonglong, 14695981039346656037)
HASH_FACTOR = cython.declare(cython.ulonglong, 1099511628211)
HASH_MASK = cython.declare(cython.ulonglong, 18446744073709551615)
# Up to here integers are exact in a double, so mantissa and power of ten give the nearest double.
EXACT = cython.declare(cython.ulonglong, 9007199254740992)
NO_RANK = cython.declare(cython.int, -1)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def blank(c: cython.uchar) -> cython.bint:
    """Say whether a byte separates columns or ends a line."""
    return c == BLANK or (c >= TAB and c <= RETURN)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def digit(c: cython.uchar) -> cython.bint:
    """Say whether a byte is a decimal digit."""
    return c >= 48 and c <= 57


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
    """Say whether two stretches of bytes are equal."""
    i: cython.Py_ssize_t
    for i in range(length):
        if left[left_start + i] != right[right_start + i]:
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(-2.0, check=True)
def number(
    text: cython.const[cython.uchar][::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    powers: cython.const[cython.double][::1],
    clean: cython.longlong[::1],
) -> cython.double:
    """Read a decimal number; set `clean[0]` to 0 when it is not one (then a person decides)."""
    p: cython.Py_ssize_t = start
    negative: cython.bint = False
    mantissa: cython.ulonglong = 0
    digits: cython.Py_ssize_t = 0
    exponent: cython.longlong = 0
    written: cython.longlong = 0
    down: cython.bint = False
    value: cython.double
    c: cython.uchar
    if p < stop and (text[p] == 45 or text[p] == 43):  # - or +
        negative = text[p] == 45
        p += 1
    while p < stop and digit(text[p]):
        if mantissa < EXACT:
            mantissa = mantissa * 10 + (text[p] - 48)
        digits += 1
        p += 1
    if p < stop and text[p] == 46:  # .
        p += 1
        while p < stop and digit(text[p]):
            if mantissa < EXACT:
                mantissa = mantissa * 10 + (text[p] - 48)
                exponent -= 1
            digits += 1
            p += 1
    if digits == 0:
        clean[0] = 0
        return 0.0
    if p < stop and (text[p] == 101 or text[p] == 69):  # e or E
        p += 1
        if p < stop and (text[p] == 45 or text[p] == 43):
            down = text[p] == 45
            p += 1
        if p >= stop:
            clean[0] = 0
            return 0.0
        while p < stop and digit(text[p]) and written < 1000:
            written = written * 10 + (text[p] - 48)
            p += 1
        exponent += -written if down else written
    if p != stop:
        clean[0] = 0
        return 0.0
    if mantissa < EXACT and exponent >= -22 and exponent <= 22:
        value = mantissa
        value = value / powers[-exponent] if exponent < 0 else value * powers[exponent]
        return -value if negative else value
    with cython.gil:
        return float(bytes(text[start:stop]))


def scan(
    text: cython.const[cython.uchar][::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    line: cython.longlong,
    is_run: cython.bint,
    last: cython.bint,
    powers: cython.const[cython.double][::1],
    doc_start: cython.longlong[::1],
    doc_stop: cython.longlong[::1],
    doc_hash: cython.ulonglong[::1],
    values: cython.double[::1],
    ranks: cython.int[::1],
    list_row: cython.longlong[::1],
    query_start: cython.longlong[::1],
    query_stop: cython.longlong[::1],
    list_line: cython.longlong[::1],
    list_byte: cython.longlong[::1],
    tally: cython.longlong[::1],
) -> cython.bint:
    """Read whole lines of a run (6 columns) or qrels (4) into columns; False means: not clean.

    A list is a stretch of lines with one query. Unless the text is the last, its last list may go on
    and is left out. `tally` gets rows, lists, lines with more columns, the line and the byte where
    the next text begins, and the place of the last tag.
    """
    p: cython.Py_ssize_t = begin
    start: cython.Py_ssize_t
    line_byte: cython.Py_ssize_t
    row: cython.Py_ssize_t = 0
    lists: cython.Py_ssize_t = 0
    field: cython.int
    wanted: cython.int = 6 if is_run else 4
    value_field: cython.int = 4 if is_run else 3
    open_start: cython.Py_ssize_t = -1
    open_length: cython.Py_ssize_t = -1
    hashed: cython.ulonglong
    rank: cython.int
    extra: cython.longlong = 0
    extra_before: cython.longlong = 0
    tag_start: cython.Py_ssize_t = 0
    tag_stop: cython.Py_ssize_t = 0
    c: cython.uchar
    good: cython.bint = True
    clean: cython.longlong[::1] = tally[7:8]
    clean[0] = 1
    with cython.nogil:
        while p < end:
            line_byte = p
            field = 0
            c = text[p]
            if c == HASH_MARK:
                while text[p] != NEWLINE:
                    p += 1
                p += 1
                line += 1
                continue
            while True:
                c = text[p]
                if c == NEWLINE:
                    p += 1
                    break
                if blank(c):
                    if c == RETURN and text[p + 1] != NEWLINE:
                        good = False
                        break
                    p += 1
                    continue
                if c < 32:  # a control character
                    good = False
                    break
                start = p
                if field == 2:
                    hashed = HASH_START
                    while c > 32:
                        hashed = ((hashed ^ c) * HASH_FACTOR) & HASH_MASK
                        p += 1
                        c = text[p]
                    doc_start[row] = start
                    doc_stop[row] = p
                    doc_hash[row] = hashed
                elif field == 3 and is_run:
                    rank = 0
                    while c > 32:
                        if digit(c) and rank >= 0 and p - start < 9:
                            rank = rank * 10 + (c - 48)
                        else:
                            rank = NO_RANK
                        p += 1
                        c = text[p]
                    ranks[row] = rank
                else:
                    while c > 32:
                        p += 1
                        c = text[p]
                    if field == 0:
                        if p - start != open_length or not same_bytes(
                            text, start, text, open_start, open_length
                        ):
                            open_start = start
                            open_length = p - start
                            list_row[lists] = row
                            query_start[lists] = start
                            query_stop[lists] = p
                            list_line[lists] = line
                            extra_before = extra
                            list_byte[lists] = line_byte
                            lists += 1
                    elif field == value_field:
                        values[row] = number(text, start, p, powers, clean)
                        if clean[0] == 0:
                            good = False
                            break
                    elif field == 5:
                        tag_start = start
                        tag_stop = p
                if not blank(c):  # a control character
                    good = False
                    break
                field += 1
            if field != 0:
                if field < wanted or (field > wanted and not is_run):
                    good = False
                if field > wanted:
                    extra += 1
                row += 1
            if not good:
                break
            line += 1
        if not last:
            p = begin
            if lists > 0:
                lists -= 1
                row = list_row[lists]
                line = list_line[lists]
                p = list_byte[lists]
                extra = extra_before
    if not good:
        return False
    list_row[lists] = row
    tally[0] = row
    tally[1] = lists
    tally[2] = extra
    tally[3] = line
    tally[4] = p
    tally[5] = tag_start
    tally[6] = tag_stop
    return True


def hash_ids(
    text: cython.const[cython.uchar][::1],
    start: cython.const[cython.longlong][::1],
    stop: cython.const[cython.longlong][::1],
    hashes: cython.ulonglong[::1],
) -> None:
    """Hash every id as `scan` does."""
    i: cython.Py_ssize_t
    p: cython.Py_ssize_t
    hashed: cython.ulonglong
    with cython.nogil:
        for i in range(start.shape[0]):
            hashed = HASH_START
            for p in range(start[i], stop[i]):
                hashed = ((hashed ^ text[p]) * HASH_FACTOR) & HASH_MASK
            hashes[i] = hashed


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def spread(hashed: cython.ulonglong, mask: cython.ulonglong) -> cython.Py_ssize_t:
    """Give the first slot to try: high bits folded in, since ids differ mostly in their last byte."""
    return cython.cast(cython.Py_ssize_t, (hashed ^ (hashed >> 29)) & mask)


def fill_slots(
    text: cython.const[cython.uchar][::1],
    start: cython.const[cython.longlong][::1],
    stop: cython.const[cython.longlong][::1],
    hashes: cython.const[cython.ulonglong][::1],
    begin: cython.const[cython.longlong][::1],
    end: cython.const[cython.longlong][::1],
    slot_offset: cython.const[cython.longlong][::1],
    slots: cython.int[::1],
    twin: cython.longlong[::1],
) -> cython.longlong:
    """Make one open-addressing table per query (row + 1, 0 = free); give the first repeated row or -1."""
    q: cython.Py_ssize_t
    row: cython.Py_ssize_t
    other: cython.Py_ssize_t
    base: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    mask: cython.Py_ssize_t
    again: cython.longlong = -1
    with cython.nogil:
        for q in range(begin.shape[0]):
            base = slot_offset[q]
            mask = slot_offset[q + 1] - base - 1
            for row in range(begin[q], end[q]):
                slot = spread(hashes[row], mask)
                while slots[base + slot] != 0:
                    other = slots[base + slot] - 1
                    if (
                        hashes[other] == hashes[row]
                        and stop[other] - start[other] == stop[row] - start[row]
                        and same_bytes(text, start[other], text, start[row], stop[row] - start[row])
                    ):
                        twin[0] = other
                        again = row
                        break
                    slot = (slot + 1) & mask
                if again >= 0:
                    break
                slots[base + slot] = row + 1
            if again >= 0:
                break
    return again


def match(
    text: cython.const[cython.uchar][::1],
    doc_start: cython.const[cython.longlong][::1],
    doc_stop: cython.const[cython.longlong][::1],
    doc_hash: cython.const[cython.ulonglong][::1],
    list_row: cython.const[cython.longlong][::1],
    list_query: cython.const[cython.longlong][::1],
    judged_text: cython.const[cython.uchar][::1],
    judged_start: cython.const[cython.longlong][::1],
    judged_stop: cython.const[cython.longlong][::1],
    judged_hash: cython.const[cython.ulonglong][::1],
    slot_offset: cython.const[cython.longlong][::1],
    slots: cython.const[cython.int][::1],
    seen: cython.int[::1],
    rows: cython.int[::1],
) -> cython.bint:
    """Give each document its row in the qrels or -1; False when a list names a document twice.

    `seen` is a table of rows + 1, all 0 at first. It is not cleared between lists: what is below the
    first row of a list belongs to an earlier one and counts as free.
    """
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    other: cython.Py_ssize_t
    base: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    mask: cython.Py_ssize_t
    length: cython.Py_ssize_t
    size: cython.Py_ssize_t
    low: cython.Py_ssize_t
    query: cython.longlong
    found: cython.int
    twice: cython.bint = False
    with cython.nogil:
        for i in range(list_query.shape[0]):
            query = list_query[i]
            low = list_row[i]
            size = 4
            while size < 4 * (list_row[i + 1] - low):
                size *= 2
            for row in range(low, list_row[i + 1]):
                length = doc_stop[row] - doc_start[row]
                slot = spread(doc_hash[row], size - 1)
                while seen[slot] > low:
                    other = seen[slot] - 1
                    if (
                        doc_hash[other] == doc_hash[row]
                        and doc_stop[other] - doc_start[other] == length
                        and same_bytes(text, doc_start[other], text, doc_start[row], length)
                    ):
                        twice = True
                        break
                    slot = (slot + 1) & (size - 1)
                if twice:
                    break
                seen[slot] = row + 1
                found = -1
                if query >= 0:
                    base = slot_offset[query]
                    mask = slot_offset[query + 1] - base - 1
                    slot = spread(doc_hash[row], mask)
                    while slots[base + slot] != 0:
                        other = slots[base + slot] - 1
                        if (
                            judged_hash[other] == doc_hash[row]
                            and judged_stop[other] - judged_start[other] == length
                            and same_bytes(judged_text, judged_start[other], text, doc_start[row], length)
                        ):
                            found = other
                            break
                        slot = (slot + 1) & mask
                rows[row] = found
            if twice:
                break
    return not twice


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
    """Say whether row `left` comes first: the higher score, then the id that sorts last by bytes."""
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
    """Merge two ordered stretches of row numbers into one."""
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
    """Fill `order` with the rows of each list in order; give how many lists were not in order."""
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    width: cython.Py_ssize_t
    moved: cython.Py_ssize_t = 0
    falling: cython.bint
    in_order: cython.bint
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
