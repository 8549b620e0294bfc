"""Byte-by-byte readers of runs and judgments in JSON Lines, JSON and CSV: positions of ids and numbers.

The functions fill the columns that `scan` of the list kernel fills; `numbers` and `hash_ids` there do the rest. Only clean text is handled, in which every line is a record with the members of the first one; for anything
else False is returned, and the readers in Python decide. A text ends in a line end. Also runs uncompiled, slowly.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # a machine without a compiler has no Cython either
    from leadline.kernels import uncompiled as cython

LONGEST_CELL = cython.declare(cython.Py_ssize_t, 131072)  # as in Python's csv
DEEPEST = cython.declare(cython.int, 50)
FULL = cython.declare(cython.Py_ssize_t, -2)  # position where there is no room for another row
# What a column holds: 0 query, 1 document, 2 value, 3 rank, 4 tag, more than that nothing that is read.
VALUE = cython.declare(cython.longlong, 2)
RANK = cython.declare(cython.longlong, 3)
TAG = cython.declare(cython.longlong, 4)


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
def same(
    text: cython.const[cython.uchar][::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    other: cython.const[cython.uchar][::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
) -> cython.bint:
    """Return whether two texts are equal."""
    i: cython.Py_ssize_t
    if stop - start != end - begin:
        return False
    for i in range(stop - start):
        if text[start + i] != other[begin + i]:
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def four_digits(text: cython.const[cython.uchar][::1], p: cython.Py_ssize_t) -> cython.int:
    """Return the number in four hexadecimal digits; -1 if they are none."""
    value: cython.int = 0
    i: cython.Py_ssize_t
    c: cython.uchar
    for i in range(p, p + 4):
        c = text[i]
        if digit(c):
            value = value * 16 + (c - 48)
        elif (c >= 65 and c <= 70) or (c >= 97 and c <= 102):
            value = value * 16 + ((c & 7) + 9)
        else:
            return -1
    return value


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def string(text: cython.uchar[::1], p: cython.Py_ssize_t, stop: cython.longlong[::1]) -> cython.Py_ssize_t:
    """Return the end of a string of JSON that begins after a quotation mark; -1 if it is not clean.

    Escapes are replaced in the text. `stop[0]` is the end of what the string holds.
    """
    w: cython.Py_ssize_t
    code: cython.int
    low: cython.int
    c: cython.uchar = text[p]
    while c != ord('"') and c != ord("\\") and c >= ord(" "):
        p += 1
        c = text[p]
    w = p
    while c != ord('"'):
        if c < ord(" "):  # a control character, or the end of the line
            return -1
        if c != ord("\\"):
            text[w] = c
            w += 1
            p += 1
            c = text[p]
            continue
        c = text[p + 1]
        p += 2
        if c == 117:  # u
            code = four_digits(text, p)
            if code <= 0:  # a NUL is for the reader in Python
                return -1
            p += 4
            if code >= 0xD800 and code <= 0xDFFF:  # a half of a pair
                if code >= 0xDC00 or text[p] != ord("\\") or text[p + 1] != 117:
                    return -1
                low = four_digits(text, p + 2)
                if low < 0xDC00 or low > 0xDFFF:
                    return -1
                p += 6
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            if code < 0x80:
                text[w] = cython.cast(cython.uchar, code)
            elif code < 0x800:
                text[w] = cython.cast(cython.uchar, 0xC0 | (code >> 6))
            elif code < 0x10000:
                text[w] = cython.cast(cython.uchar, 0xE0 | (code >> 12))
            else:
                text[w] = cython.cast(cython.uchar, 0xF0 | (code >> 18))
                w += 1
                text[w] = cython.cast(cython.uchar, 0x80 | ((code >> 12) & 63))
            if code >= 0x800:
                w += 1
                text[w] = cython.cast(cython.uchar, 0x80 | ((code >> 6) & 63))
            if code >= 0x80:
                w += 1
                text[w] = cython.cast(cython.uchar, 0x80 | (code & 63))
        elif c == ord('"') or c == ord("\\") or c == 47:  # a slash
            text[w] = c
        elif c == 98 or c == 102 or c == 110 or c == 114 or c == 116:  # b, f, n, r, t
            text[w] = 8 if c == 98 else 12 if c == 102 else 10 if c == 110 else 13 if c == 114 else 9
        else:
            return -1
        w += 1
        c = text[p]
    stop[0] = w
    return p + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def numeral(text: cython.const[cython.uchar][::1], p: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the end of a number of JSON; -1 if it is no number."""
    if text[p] == 45:
        p += 1
    if not digit(text[p]) or (text[p] == 48 and digit(text[p + 1])):
        return -1
    while digit(text[p]):
        p += 1
    if text[p] == 46:
        p += 1
        if not digit(text[p]):
            return -1
        while digit(text[p]):
            p += 1
    if text[p] == 101 or text[p] == 69:
        p += 1
        if text[p] == 45 or text[p] == 43:
            p += 1
        if not digit(text[p]):
            return -1
        while digit(text[p]):
            p += 1
    return p


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def after_blanks(text: cython.const[cython.uchar][::1], p: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the first byte that is no blank of JSON within a line."""
    while text[p] == ord(" ") or text[p] == ord("\t") or text[p] == ord("\r"):
        p += 1
    return p


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def after_space(
    text: cython.const[cython.uchar][::1], p: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Return the first byte that is no blank of JSON, also on a later line; the last line end if there is none."""
    while p < end - 1 and (text[p] == ord(" ") or text[p] == ord("\n") or text[p] == ord("\t") or text[p] == ord("\r")):
        p += 1
    return p


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def after_value(
    text: cython.uchar[::1], p: cython.Py_ssize_t, depth: cython.int, stop: cython.longlong[::1]
) -> cython.Py_ssize_t:
    """Return the end of a value of JSON on one line; -1 if it is not clean."""
    c: cython.uchar = text[p]
    if c == ord('"'):
        return string(text, p + 1, stop)
    if c == ord("{") or c == 91:  # a bracket
        p = after_blanks(text, p + 1)
        if text[p] == c + 2:
            return p + 1
        while depth < DEEPEST:
            if c == ord("{"):
                if text[p] != ord('"'):
                    return -1
                p = string(text, p + 1, stop)
                if p < 0:
                    return -1
                p = after_blanks(text, p)
                if text[p] != ord(":"):
                    return -1
                p = after_blanks(text, p + 1)
            p = after_value(text, p, depth + 1, stop)
            if p < 0:
                return -1
            p = after_blanks(text, p)
            if text[p] == c + 2:
                return p + 1
            if text[p] != ord(","):
                return -1
            p = after_blanks(text, p + 1)
        return -1
    if c == 116 and text[p + 1] == 114 and text[p + 2] == 117 and text[p + 3] == 101:  # true
        return p + 4
    if c == 110 and text[p + 1] == 117 and text[p + 2] == 108 and text[p + 3] == 108:  # null
        return p + 4
    if c == 102 and text[p + 1] == 97 and text[p + 2] == 108 and text[p + 3] == 115 and text[p + 4] == 101:
        return p + 5  # false
    return numeral(text, p)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rank_of(
    text: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, stop: cython.Py_ssize_t
) -> cython.int:
    """Return the whole number in at most nine digits; -1 if it is none."""
    rank: cython.int = 0
    p: cython.Py_ssize_t
    if stop == start or stop - start > 9:
        return -1
    for p in range(start, stop):
        if not digit(text[p]):
            return -1
        rank = rank * 10 + (text[p] - 48)
    return rank


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def after_object(
    text: cython.uchar[::1],
    p: cython.Py_ssize_t,
    names: cython.const[cython.uchar][::1],
    name_end: cython.const[cython.longlong][::1],
    roles: cython.const[cython.longlong][::1],
    needed: cython.ulonglong,
    found: cython.longlong[::1],
    stop: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Return the end of a line that is an object; -1 if it is not clean.

    `found[2 * role]` receives the begin and the next entry the end of each role, its rank the number.
    """
    start: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    count: cython.Py_ssize_t = roles.shape[0]
    place: cython.Py_ssize_t = -1
    tried: cython.Py_ssize_t
    role: cython.longlong
    bit: cython.ulonglong
    present: cython.ulonglong = 0
    if text[p] != ord("{"):
        return -1
    while True:
        p = after_blanks(text, p + 1)
        if text[p] != ord('"'):
            return -1
        start = p + 1
        p = string(text, start, stop)
        if p < 0:
            return -1
        for tried in range(count):  # the next one, unless the order differs
            place += 1
            if place == count:
                place = 0
            begin = name_end[place - 1] if place > 0 else 0
            if same(text, start, stop[0], names, begin, name_end[place]):
                break
        else:
            return -1
        bit = cython.cast(cython.ulonglong, 1) << place
        if (present & bit) != 0:
            return -1
        present |= bit
        p = after_blanks(text, p)
        if text[p] != ord(":"):
            return -1
        p = after_blanks(text, p + 1)
        role = roles[place]
        start = p
        if role == VALUE:
            p = numeral(text, p)
            if p == start + 2 and text[start] == 45 and text[start + 1] == 48:  # -0
                return -1
        else:
            p = after_value(text, p, 0, stop)
        if p < 0:
            return -1
        if role == VALUE:
            found[4] = start
            found[5] = p
        elif role == RANK:
            found[6] = rank_of(text, start, p)
            if found[6] < 0:
                return -1
        elif role <= TAG:
            if text[start] != ord('"'):
                return -1
            found[2 * role] = start + 1
            found[2 * role + 1] = stop[0]
        p = after_blanks(text, p)
        if text[p] == ord("}"):
            break
        if text[p] != ord(","):
            return -1
    p = after_blanks(text, p + 1)
    return p + 1 if text[p] == ord("\n") and (present & needed) == needed else -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def after_cells(
    text: cython.const[cython.uchar][::1],
    p: cython.Py_ssize_t,
    delimiter: cython.uchar,
    roles: cython.const[cython.longlong][::1],
    found: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Return the end of a line of cells; -1 if it is not clean. Quotation marks enclose whole cells only."""
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    i: cython.Py_ssize_t
    place: cython.Py_ssize_t
    role: cython.longlong
    c: cython.uchar
    for place in range(roles.shape[0]):
        if place > 0:
            if text[p] != delimiter:
                return -1
            p += 1
        start = p
        if text[p] == ord('"'):
            p += 1
            start = p
            while text[p] != ord('"') and text[p] != ord("\n") and text[p] != ord("\r"):
                p += 1
            stop = p
            if text[p] != ord('"'):
                return -1
            p += 1
        else:
            c = text[p]
            while c != delimiter and c >= ord(" "):
                p += 1
                c = text[p]
            stop = p
        role = roles[place]
        if stop - start > LONGEST_CELL or (role <= VALUE and start == stop):
            return -1
        if role == RANK:
            found[6] = rank_of(text, start, stop)
            if found[6] < 0:
                for i in range(start, stop):
                    if text[i] <= ord(" ") or text[i] >= 127:  # blanks around a rank do not matter
                        return -1
        elif role <= TAG:
            found[2 * role] = start
            found[2 * role + 1] = stop
    if text[p] == ord("\r"):
        p += 1
    return p + 1 if text[p] == ord("\n") else -1


def scan_records(
    text: cython.uchar[::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    last: cython.bint,
    delimiter: cython.uchar,
    names: cython.const[cython.uchar][::1],
    name_end: cython.const[cython.longlong][::1],
    roles: cython.const[cython.longlong][::1],
    needed: cython.ulonglong,
    doc_start: cython.longlong[::1],
    doc_stop: cython.longlong[::1],
    value_start: cython.longlong[::1],
    value_stop: cython.longlong[::1],
    ranks: cython.int[::1],
    list_row: cython.longlong[::1],
    query_start: cython.longlong[::1],
    query_stop: cython.longlong[::1],
    list_byte: cython.longlong[::1],
    found: cython.longlong[::1],
    tally: cython.longlong[::1],
) -> cython.bint:
    """Read whole lines of CSV, or of JSON Lines if the delimiter is 0; return False if not clean.

    `roles` are what the columns or members hold. `names` are those of the members one after the other, at most 64,
    and `needed` has a bit for each that no object may lack. All lines have the same tag. A list is a sequence of
    lines with the same query; unless the text is the last chunk, its last list is excluded. `tally` receives rows,
    lists, and what `scan` writes at 4, 5 and 6; `found` is overwritten and holds 10 positions.
    """
    p: cython.Py_ssize_t = begin
    line_byte: cython.Py_ssize_t
    row: cython.Py_ssize_t = 0
    lists: cython.Py_ssize_t = 0
    stop: cython.longlong[::1] = tally[7:8]
    place: cython.Py_ssize_t
    room: cython.Py_ssize_t = min(
        doc_start.shape[0], doc_stop.shape[0], value_start.shape[0], value_stop.shape[0], ranks.shape[0],
        list_row.shape[0] - 1, query_start.shape[0], query_stop.shape[0], list_byte.shape[0],
    )
    if not (0 <= begin <= end <= text.shape[0] and found.shape[0] >= 10 and tally.shape[0] >= 8):
        raise IndexError("`begin` or `end` is outside `text`, or `found` or `tally` is too short")
    if (begin < end and text[end - 1] != ord("\n")) or delimiter == ord("\n"):
        raise IndexError("the text must end in a line feed, and the delimiter must not be one")
    if delimiter == 0 and (roles.shape[0] > 64 or roles.shape[0] > name_end.shape[0]):
        raise IndexError("names of members")
    for place in range(roles.shape[0]):
        if roles[place] < 0 or (delimiter == 0 and not 0 <= name_end[place] <= names.shape[0]):
            raise IndexError("a role is negative, or a name ends outside `names`")
    for place in range(10):
        found[place] = -1 if place == 6 else 0
    with cython.nogil:
        while p >= 0 and p < end:  # every loop over bytes stops at the last one, which is a line end
            if row >= room:
                p = FULL
                break
            line_byte = p
            if delimiter == 0:
                p = after_blanks(text, p)
                if text[p] == ord("\n"):
                    p += 1
                    continue
                p = after_object(text, p, names, name_end, roles, needed, found, stop)
            else:
                if text[p] == ord("\n") or (text[p] == ord("\r") and text[p + 1] == ord("\n")):
                    p += 1
                    continue
                p = after_cells(text, p, delimiter, roles, found)
            if row == 0:
                tally[5] = found[8]
                tally[6] = found[9]
            if p < 0 or not same(text, found[8], found[9], text, tally[5], tally[6]):
                p = -1
                break
            doc_start[row] = found[2]
            doc_stop[row] = found[3]
            value_start[row] = found[4]
            value_stop[row] = found[5]
            ranks[row] = found[6]
            if lists == 0 or not same(
                text, found[0], found[1], text, query_start[lists - 1], query_stop[lists - 1]
            ):
                list_row[lists] = row
                query_start[lists] = found[0]
                query_stop[lists] = found[1]
                list_byte[lists] = line_byte
                lists += 1
            row += 1
        if p >= 0 and not last:
            p = begin
            if lists > 0:
                lists -= 1
                row = list_row[lists]
                p = list_byte[lists]
    if p == FULL:
        raise IndexError("columns of a scan")
    if p < 0:
        return False
    list_row[lists] = row
    tally[0] = row
    tally[1] = lists
    tally[4] = p
    return True


def scan_mapping(
    text: cython.uchar[::1],
    end: cython.Py_ssize_t,
    doc_start: cython.longlong[::1],
    doc_stop: cython.longlong[::1],
    value_start: cython.longlong[::1],
    value_stop: cython.longlong[::1],
    list_row: cython.longlong[::1],
    query_start: cython.longlong[::1],
    query_stop: cython.longlong[::1],
    tally: cython.longlong[::1],
) -> cython.bint:
    """Read JSON of the form {query: {document: number}}; return False if not clean.

    `tally` receives rows, lists, and at 3 the number of queries without documents, which have no list.
    """
    p: cython.Py_ssize_t
    start: cython.Py_ssize_t
    row: cython.Py_ssize_t = 0
    lists: cython.Py_ssize_t = 0
    asked_start: cython.Py_ssize_t
    asked_stop: cython.Py_ssize_t
    raw_stop: cython.Py_ssize_t
    good: cython.bint = False
    filled: cython.bint
    stop: cython.longlong[::1] = tally[7:8]
    room: cython.Py_ssize_t = min(doc_start.shape[0], doc_stop.shape[0], value_start.shape[0], value_stop.shape[0])
    room = min(room, list_row.shape[0] - 1, query_start.shape[0], query_stop.shape[0])
    if not (1 <= end <= text.shape[0] and tally.shape[0] >= 8 and text[end - 1] == ord("\n")):
        raise IndexError("`end` is outside `text`, `text` does not end in a line feed, or `tally` is too short")
    with cython.nogil:  # every loop over bytes stops at the last one, which is a line end
        p = after_space(text, 0, end)
        while text[p] == (ord(",") if lists or good else ord("{")):
            good = False
            p = after_space(text, p + 1, end)
            if text[p] != ord('"'):
                break
            asked_start = p + 1
            p = string(text, asked_start, stop)
            if p < 0:
                break
            asked_stop = stop[0]
            raw_stop = p - 1
            p = after_space(text, p, end)
            if text[p] != ord(":"):
                break
            p = after_space(text, p + 1, end)
            if text[p] != ord("{"):
                break
            filled = False
            while True:
                p = after_space(text, p + 1, end)
                if text[p] == ord("}") and not filled:
                    tally[3] += 1
                    good = raw_stop == asked_stop  # else the name is for the reader in Python
                    break
                if row >= room:
                    p = FULL
                if p < 0 or text[p] != ord('"'):
                    break
                start = p + 1
                p = string(text, start, stop)
                if p < 0:
                    break
                doc_start[row] = start
                doc_stop[row] = stop[0]
                p = after_space(text, p, end)
                if text[p] != ord(":"):
                    break
                p = after_space(text, p + 1, end)
                start = p
                p = numeral(text, p)
                if p < 0 or (p == start + 2 and text[start] == 45 and text[start + 1] == 48):  # -0
                    break
                value_start[row] = start
                value_stop[row] = p
                if not filled:
                    filled = True
                    list_row[lists] = row
                    query_start[lists] = asked_start
                    query_stop[lists] = asked_stop
                    lists += 1
                row += 1
                p = after_space(text, p, end)
                if text[p] == ord("}"):
                    good = True
                    break
                if text[p] != ord(","):
                    break
            if not good:
                break
            p = after_space(text, p + 1, end)
        if good and (text[p] != ord("}") or after_space(text, p + 1, end) < end - 1):
            good = False
    if p == FULL:
        raise IndexError("columns of a scan")
    if not good:
        return False
    list_row[lists] = row
    tally[0] = row
    tally[1] = lists
    return True
