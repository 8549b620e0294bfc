"""Byte-by-byte readers of TREC files: the compiled form of reading.

All functions work on flat arrays. Documents are never converted to strings: a document is the offset of its
bytes in the text and a 64-bit hash, and equal hashes are confirmed by comparing bytes. Only clean input is
handled; for anything else a code is returned, and the caller passes the text to `leadline.kernels.plain`,
which decides what it means. The two forms therefore accept the same input.

The file is ordinary Python with types. It also runs uncompiled, slowly, as in the tests.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # a machine without a compiler has no Cython either
    from leadline.kernels import uncompiled as cython

# Constants of the loops over bytes are written where they are used: a name in a module is a variable in C.
# `powers` holds 10**0 to 10**22; the first 128 bits of 10**-64 to 10**64, in four pieces each, the highest
# first; and 2**-400 to 2**400.
WIDEST = cython.declare(cython.longlong, 64)
PIECES = cython.declare(cython.Py_ssize_t, 23)
TWOS = cython.declare(cython.Py_ssize_t, 939)  # 23 + 4 * 129 + 400
POWERS = cython.declare(cython.Py_ssize_t, 1340)  # 939 + 400 + 1
SHORTEST_LINE = cython.declare(cython.Py_ssize_t, 8)  # "q 0 d 1\n"


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def blank(c: cython.uchar) -> cython.bint:
    """Return whether a byte separates columns or ends a line."""
    return c == ord(" ") or c == ord("\t") or c == ord("\n") or c == ord("\r")


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def digit(c: cython.uchar) -> cython.bint:
    """Return whether a byte is a decimal digit."""
    return c >= 48 and c <= 57


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def hashed_with(hashed: cython.ulonglong, c: cython.uchar) -> cython.ulonglong:
    """Return the 64-bit FNV-1a hash after one more byte; the mask is for the uncompiled form."""
    return ((hashed ^ c) * cython.cast(cython.ulonglong, 1099511628211)) & cython.cast(
        cython.ulonglong, 0xFFFFFFFFFFFFFFFF
    )


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def high(a: cython.ulonglong, b: cython.ulonglong) -> cython.ulonglong:
    """Return the upper half of a product."""
    low_half: cython.ulonglong = 0xFFFFFFFF
    middle: cython.ulonglong = (a >> 32) * (b & low_half) + (((a & low_half) * (b & low_half)) >> 32)
    other: cython.ulonglong = (a & low_half) * (b >> 32) + (middle & low_half)
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def nearest(
    mantissa: cython.ulonglong, exponent: cython.longlong, powers: cython.const[cython.double][::1]
) -> cython.double:
    """Return the double nearest to mantissa * 10**exponent; -1 if 128 bits do not tell.

    The algorithm of Eisel and Lemire (Lemire 2021): the power is truncated to 128 bits, so that the product is
    known up to the size of the mantissa; it decides unless it is that close to the middle of two doubles.
    """
    place: cython.Py_ssize_t = PIECES + 4 * (exponent + WIDEST)
    every: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    nine_bits: cython.ulonglong = 511
    first: cython.ulonglong
    second: cython.ulonglong
    upper: cython.ulonglong
    lower: cython.ulonglong
    more: cython.ulonglong
    top: cython.ulonglong
    scale: cython.longlong = ((217706 * exponent) >> 16) + 12
    while (mantissa >> 63) == 0:
        mantissa <<= 1
        scale -= 1
    first = cython.cast(cython.ulonglong, powers[place])
    first = (first << 32) + cython.cast(cython.ulonglong, powers[place + 1])
    upper = high(mantissa, first)
    lower = (mantissa * first) & every
    if (upper & nine_bits) == nine_bits and ((lower + mantissa) & every) < mantissa:
        second = cython.cast(cython.ulonglong, powers[place + 2])
        second = (second << 32) + cython.cast(cython.ulonglong, powers[place + 3])
        more = (lower + high(mantissa, second)) & every
        if more < lower:
            upper += 1
        lower = more
        second = (mantissa * second) & every
        if (
            (upper & nine_bits) == nine_bits
            and lower == every
            and ((second + mantissa) & every) < mantissa
        ):
            return -1.0
    top = upper >> 63
    if top == 0:
        scale -= 1
    mantissa = upper >> (top + 9)
    if lower == 0 and (upper & nine_bits) == 0 and (mantissa & 3) == 1:
        return -1.0
    mantissa = (mantissa + (mantissa & 1)) >> 1
    return cython.cast(cython.double, mantissa) * powers[TWOS + scale]


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
    """Parse a decimal number; set `clean[0]` to 0 if it is not one (`plain` then decides)."""
    p: cython.Py_ssize_t = start
    negative: cython.bint = False
    mantissa: cython.ulonglong = 0
    digits: cython.Py_ssize_t = 0
    exponent: cython.longlong = 0
    written: cython.longlong = 0
    down: cython.bint = False
    cut: cython.bint = False
    fitting: cython.ulonglong = 1844674407370955160  # up to here another digit fits into 64 bits
    # Up to here integers are exact in a double, so mantissa and power of ten give the nearest double.
    exact: cython.ulonglong = 9007199254740992
    value: cython.double
    if p < stop and (text[p] == 45 or text[p] == 43):  # - or +
        negative = text[p] == 45
        p += 1
    while p < stop and digit(text[p]):
        if mantissa < fitting:
            mantissa = mantissa * 10 + (text[p] - 48)
        else:
            cut = True
        digits += 1
        p += 1
    if p < stop and text[p] == 46:  # .
        p += 1
        while p < stop and digit(text[p]):
            if mantissa < fitting:
                mantissa = mantissa * 10 + (text[p] - 48)
                exponent -= 1
            else:
                cut = True
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
    if mantissa < exact and exponent >= -22 and exponent <= 22:
        value = mantissa
        value = value / powers[-exponent] if exponent < 0 else value * powers[exponent]
        return -value if negative else value
    if not cut and mantissa > 0 and exponent >= -WIDEST and exponent <= WIDEST:
        value = nearest(mantissa, exponent, powers)
        if value >= 0:
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
    """Read whole lines of a run (6 columns) or qrels (4) into arrays; return False if not clean.

    Remarks at the top of a file stand before `begin`. A list is a sequence of lines with the same query.
    Unless the text is the last chunk, its last list may be incomplete and is excluded. `tally` receives rows,
    lists, lines with more columns, the line and offset where the next text begins, and the offset of the last
    tag.
    """
    room: cython.Py_ssize_t = (end - begin) // SHORTEST_LINE + 1
    p: cython.Py_ssize_t = begin
    start: cython.Py_ssize_t
    line_byte: cython.Py_ssize_t
    first_line: cython.longlong = line
    row: cython.Py_ssize_t = 0
    lists: cython.Py_ssize_t = 0
    field: cython.int
    wanted: cython.int = 6 if is_run else 4
    value_field: cython.int = 4 if is_run else 3
    open_start: cython.Py_ssize_t = -1
    open_length: cython.Py_ssize_t = -1
    hashed: cython.ulonglong
    start_of_hash: cython.ulonglong = 14695981039346656037
    rank: cython.int
    extra: cython.longlong = 0
    extra_before: cython.longlong = 0
    tag_start: cython.Py_ssize_t = 0
    tag_stop: cython.Py_ssize_t = 0
    c: cython.uchar
    good: cython.bint = True
    changed: cython.bint
    i: cython.Py_ssize_t
    clean: cython.longlong[::1] = tally[7:8]
    if not (0 <= begin <= end <= text.shape[0] and powers.shape[0] >= POWERS and tally.shape[0] >= 8):
        raise IndexError("text, powers or tally of a scan")
    if begin < end and text[end - 1] != ord("\n"):
        raise IndexError("end of the text of a scan")
    if room > min(
        doc_start.shape[0],
        doc_stop.shape[0],
        doc_hash.shape[0],
        values.shape[0],
        ranks.shape[0] if is_run else room,
        list_row.shape[0],
        query_start.shape[0],
        query_stop.shape[0],
        list_line.shape[0],
        list_byte.shape[0],
    ):
        raise IndexError("columns of a scan")
    clean[0] = 1
    with cython.nogil:
        while p < end:  # every loop over bytes stops at the last one, which is a line end
            line_byte = p
            field = 0
            while True:
                c = text[p]
                if c == ord("\n"):
                    p += 1
                    break
                if blank(c):
                    if c == ord("\r") and text[p + 1] != ord("\n"):
                        good = False
                        break
                    p += 1
                    continue
                if c < 32:  # a control character
                    good = False
                    break
                start = p
                if field == 2:
                    hashed = start_of_hash
                    while c > 32:
                        hashed = hashed_with(hashed, c)
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
                            rank = -1
                        p += 1
                        c = text[p]
                    ranks[row] = rank
                else:
                    while c > 32:
                        p += 1
                        c = text[p]
                    if field == 0:
                        changed = p - start != open_length
                        if not changed:
                            for i in range(open_length):
                                if text[start + i] != text[open_start + i]:
                                    changed = True
                                    break
                        if changed:
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
                    if is_run and (ranks[row] < 0 or (text[tag_start] >= 43 and text[tag_start] <= 57)):
                        good = False  # is there a blank in an id?
                row += 1
            if not good:
                break
            line += 1
        if not last:
            p = begin
            line = first_line
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def inside(
    text: cython.const[cython.uchar][::1],
    start: cython.const[cython.longlong][::1],
    stop: cython.const[cython.longlong][::1],
) -> cython.bint:
    """Return whether all spans lie in a text; an empty one may lie anywhere."""
    i: cython.Py_ssize_t
    good: cython.bint = True
    for i in range(start.shape[0]):  # without a branch, so that compilers can do several at a time
        good &= (start[i] >= 0) & (stop[i] <= text.shape[0]) | (start[i] >= stop[i])
    return good


def hash_ids(
    text: cython.const[cython.uchar][::1],
    start: cython.const[cython.longlong][::1],
    stop: cython.const[cython.longlong][::1],
    hashes: cython.ulonglong[::1],
) -> None:
    """Return hashes of ids as computed by `scan`."""
    i: cython.Py_ssize_t
    p: cython.Py_ssize_t
    hashed: cython.ulonglong
    start_of_hash: cython.ulonglong = 14695981039346656037
    if stop.shape[0] < start.shape[0] or hashes.shape[0] < start.shape[0] or not inside(text, start, stop):
        raise IndexError("columns of ids to hash")
    with cython.nogil:
        for i in range(start.shape[0]):
            hashed = start_of_hash
            for p in range(start[i], stop[i]):
                hashed = hashed_with(hashed, text[p])
            hashes[i] = hashed


def numbers(
    text: cython.const[cython.uchar][::1],
    start: cython.const[cython.longlong][::1],
    stop: cython.const[cython.longlong][::1],
    powers: cython.const[cython.double][::1],
    values: cython.double[::1],
    clean: cython.longlong[::1],
) -> cython.bint:
    """Parse decimal numbers; return False if one is none or is too large for a double."""
    i: cython.Py_ssize_t
    if stop.shape[0] < start.shape[0] or values.shape[0] < start.shape[0] or not inside(text, start, stop):
        raise IndexError("columns of numbers")
    if powers.shape[0] < POWERS or clean.shape[0] < 1:
        raise IndexError("powers of numbers")
    with cython.nogil:
        for i in range(start.shape[0]):
            values[i] = number(text, start[i], stop[i], powers, clean)
            if clean[0] == 0 or values[i] - values[i] != 0:
                clean[0] = 0
                break
    return clean[0] != 0
