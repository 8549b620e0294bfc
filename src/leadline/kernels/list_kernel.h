/* Ranked lists of TREC text, and their join with judgments: the compiled form of reading, without the GIL.

   A document is the offset of its bytes in the text and a 64-bit hash; equal hashes are confirmed by comparing
   bytes. Only clean text is taken; for any other `leadline.kernels.plain` decides what it means, so that both
   forms accept the same input. Lines as nearly all programs write them are found by masks of 64 bytes, all
   others byte by byte. Nothing is read or written outside of the columns: that is proved before, and where it
   cannot be, a call says so.

   LEADLINE_SCALAR leaves out the instructions of one kind of processor, with the same results. What is here does
   not know Python: list_kernel.c does, and tests/kernels/fuzz_list_kernel.c does without it. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(_MSC_VER)
#include <intrin.h>
#endif
#if !defined(LEADLINE_SCALAR) && (defined(__SSE2__) || defined(_M_X64))
#define WITH_SSE2
#include <emmintrin.h>
#elif !defined(LEADLINE_SCALAR) && (defined(__ARM_NEON) && defined(__aarch64__))
#define WITH_NEON
#include <arm_neon.h>
#endif

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

enum {
    MASK = 64,             /* bytes that a mask covers */
    LONGEST_LINE = 4 * 64, /* bytes of a line that is found by masks */
    SHORTEST_LINE = 8,     /* "q 0 d 1\n" */
    FEW = 4096,            /* rows of a list up to which repeats are found by a filter */
    FILTER_BITS = 16,
    WIDEST = 64, /* `powers` holds 10**0 to 10**22; the first 128 bits of 10**-64 to 10**64, in four pieces */
    PIECES = 23, /* each, the highest first; and 2**-400 to 2**400 */
    TWOS = 939,
    POWERS = 1340
};

/* A number that needs more care than there is here. Returns 0 if there is no memory for it. */
static int slow_number(const u8 *text, i64 size, double *value);

/* Bytes */

static inline u64 word(const u8 *p) {
    u64 x = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (int i = 7; i >= 0; i--) x = x << 8 | p[i];
#else
    memcpy(&x, p, 8);
#endif
    return x;
}

static inline int lowest_bit(u64 mask) {
#if defined(_MSC_VER)
    unsigned long place;
    _BitScanForward64(&place, mask);
    return (int)place;
#else
    return __builtin_ctzll(mask);
#endif
}

/* Return a bit for each of 64 bytes, set if it is a blank or a control character. */
static inline u64 separators(const u8 *p) {
#if defined(WITH_SSE2)
    const __m128i blank = _mm_set1_epi8(32);
    u64 mask = 0;
    for (int i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(p + 16 * i));
        mask |= (u64)(u32)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, blank), v)) << (16 * i);
    }
    return mask;
#elif defined(WITH_NEON)
    static const u8 places[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bits = vld1q_u8(places), blank = vdupq_n_u8(32);
    uint8x16_t a = vandq_u8(vcleq_u8(vld1q_u8(p), blank), bits);
    uint8x16_t b = vandq_u8(vcleq_u8(vld1q_u8(p + 16), blank), bits);
    uint8x16_t c = vandq_u8(vcleq_u8(vld1q_u8(p + 32), blank), bits);
    uint8x16_t d = vandq_u8(vcleq_u8(vld1q_u8(p + 48), blank), bits);
    uint8x16_t sum = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
#else
    u64 mask = 0;
    for (int i = 0; i < 8; i++) {
        u64 x = word(p + 8 * i);
        u64 found = ~(((x & 0x7F7F7F7F7F7F7F7Fu) + 0x5F5F5F5F5F5F5F5Fu) | x) & 0x8080808080808080u;
        mask |= ((found >> 7) * 0x0102040810204080u >> 56) << (8 * i);
    }
    return mask;
#endif
}

/* Places of separators, one after the other. Up to LONGEST_LINE bytes from the first place may be read. */
typedef struct {
    const u8 *base, *last;
    u64 mask;
} Places;

static inline const u8 *next_separator(Places *it) {
    while (!it->mask) {
        if (it->base == it->last) return it->last + MASK; /* none in a line that is found by masks */
        it->base += MASK;
        it->mask = separators(it->base);
    }
    const u8 *found = it->base + lowest_bit(it->mask);
    it->mask &= it->mask - 1;
    return found;
}

static inline int is_blank(u8 c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static inline int is_digit(u8 c) { return c >= '0' && c <= '9'; }

/* Return the hash of an id; `room` is how many bytes may be read from its begin. */
static inline u64 hash_of(const u8 *p, i64 size, i64 room) {
    const u64 factor = 0x9FB21C651E98DF25u;
    u64 hash = (u64)size * 0x9E3779B97F4A7C15u, x;
    i64 i = 0;
    for (; i + 8 <= size; i += 8) {
        hash = (hash ^ word(p + i)) * factor;
        hash ^= hash >> 32;
    }
    if (i < size) {
        if (size >= 8) {
            x = word(p + size - 8);
        } else if (room >= 8) {
            x = word(p) & (((u64)1 << (8 * size)) - 1);
        } else {
            for (x = 0, i = size - 1; i >= 0; i--) x = x << 8 | p[i];
        }
        hash = (hash ^ x) * factor;
        hash ^= hash >> 32;
    }
    hash *= factor; /* ids differ mostly in their last bytes, which are the highest of a word */
    return hash ^ hash >> 32;
}

/* Numbers */

static inline u64 upper_half(u64 a, u64 b) {
    u64 middle = (a >> 32) * (u32)b + ((u64)(u32)a * (u32)b >> 32);
    u64 other = (u64)(u32)a * (b >> 32) + (u32)middle;
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

/* Return the double nearest to mantissa * 10**exponent; -1 if 128 bits do not tell.

   The algorithm of Eisel and Lemire (Lemire 2021): the power is truncated to 128 bits, so that the product is
   known up to the size of the mantissa; it decides unless it is that close to the middle of two doubles. */
static double nearest(u64 mantissa, i64 exponent, const double *powers) {
    const double *pieces = powers + PIECES + 4 * (exponent + WIDEST);
    i64 scale = (217706 * exponent - (exponent < 0 ? 65535 : 0)) / 65536 + 12; /* the quotient rounded down */
    u64 first = ((u64)pieces[0] << 32) + (u64)pieces[1], upper, lower, top;
    while (!(mantissa >> 63)) {
        mantissa <<= 1;
        scale--;
    }
    upper = upper_half(mantissa, first);
    lower = mantissa * first;
    if ((upper & 511) == 511 && lower + mantissa < mantissa) {
        u64 second = ((u64)pieces[2] << 32) + (u64)pieces[3];
        u64 more = lower + upper_half(mantissa, second);
        if (more < lower) upper++;
        lower = more;
        if ((upper & 511) == 511 && lower == UINT64_MAX && mantissa * second + mantissa < mantissa) return -1.0;
    }
    top = upper >> 63;
    if (!top) scale--;
    mantissa = upper >> (top + 9);
    if (lower == 0 && (upper & 511) == 0 && (mantissa & 3) == 1) return -1.0;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    return (double)mantissa * powers[TWOS + scale];
}

/* Parse a decimal number; return 0 if it is not one (`plain` then decides), -1 without memory. */
static int number(const u8 *p, const u8 *stop, const double *powers, double *value) {
    const u8 *start = p;
    const u64 fitting = 1844674407370955160u; /* up to here another digit fits into 64 bits */
    const u64 exact = 9007199254740992u;      /* up to here whole numbers are exact in a double */
    int negative = 0, cut = 0, digits = 0;
    i64 exponent = 0;
    u64 mantissa = 0;
    if (p < stop && (*p == '-' || *p == '+')) negative = *p++ == '-';
    for (; p < stop && is_digit(*p); p++) {
        if (mantissa < fitting) mantissa = mantissa * 10 + (*p - '0');
        else cut = 1;
        digits = 1;
    }
    if (p < stop && *p == '.') {
        for (p++; p < stop && is_digit(*p); p++) {
            if (mantissa < fitting) {
                mantissa = mantissa * 10 + (*p - '0');
                exponent--;
            } else {
                cut = 1;
            }
            digits = 1;
        }
    }
    if (!digits) return 0;
    if (p < stop && (*p == 'e' || *p == 'E')) {
        int down = 0;
        i64 written = 0;
        p++;
        if (p < stop && (*p == '-' || *p == '+')) down = *p++ == '-';
        if (p == stop) return 0;
        for (; p < stop && is_digit(*p) && written < 1000; p++) written = written * 10 + (*p - '0');
        exponent += down ? -written : written;
    }
    if (p != stop) return 0;
    double found;
    if (mantissa < exact && exponent >= -22 && exponent <= 22) {
        found = exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
    } else {
        found = -1.0;
        if (!cut && mantissa > 0 && exponent >= -WIDEST && exponent <= WIDEST)
            found = nearest(mantissa, exponent, powers);
        if (found < 0) return slow_number(start, stop - start, value) ? 1 : -1;
    }
    *value = negative ? -found : found;
    return 1;
}

/* Ranked lists */

typedef struct {
    const u8 *text;
    i64 size; /* bytes that may be read */
    i64 begin, end, line;
    int is_run, last;
    const double *powers;
    i64 room; /* rows that the columns hold */
    i64 *start, *stop;
    u64 *hashes;
    double *values;
    int32_t *ranks;
    i64 *list_row, *query_start, *query_stop, *list_line, *list_byte;
    i64 *tally;
} Scan;

/* Where a scan is. */
typedef struct {
    i64 p, line, row, lists, extra, extra_before;
    const u8 *query, *tag;
    i64 query_size, tag_size;
} Place;

static void begin_list(const Scan *s, Place *at, const u8 *query, i64 size, i64 line_byte) {
    at->query = query;
    at->query_size = size;
    s->list_row[at->lists] = at->row;
    s->query_start[at->lists] = query - s->text;
    s->query_stop[at->lists] = query - s->text + size;
    s->list_line[at->lists] = at->line;
    s->list_byte[at->lists] = line_byte;
    at->extra_before = at->extra;
    at->lists++;
}

static inline int32_t rank_of(const u8 *p, const u8 *stop) {
    int32_t rank = 0;
    if (stop - p > 9) return -1;
    for (; p < stop; p++) {
        if (!is_digit(*p)) return -1;
        rank = rank * 10 + (*p - '0');
    }
    return rank;
}

/* Read a line byte by byte; return 0 if it is not clean, -1 without memory. */
static int any_line(const Scan *s, Place *at) {
    const u8 *p = s->text + at->p, *begin = p, *end = s->text + s->end;
    const u8 *tag = NULL;
    int field = 0, good;
    const int wanted = s->is_run ? 6 : 4;
    while (*p != '\n') {
        if (is_blank(*p)) {
            if (*p == '\r' && p[1] != '\n') return 0;
            p++;
            continue;
        }
        const u8 *start = p;
        while (*p > 32) p++; /* the text ends in a line end */
        if (!is_blank(*p) || p == start) return 0; /* a control character */
        if (field == 0) {
            if (p - start != at->query_size || memcmp(start, at->query, (size_t)(p - start)))
                begin_list(s, at, start, p - start, begin - s->text);
        } else if (field == 2) {
            s->start[at->row] = start - s->text;
            s->stop[at->row] = p - s->text;
            s->hashes[at->row] = hash_of(start, p - start, end - start);
        } else if (field == 3 && s->is_run) {
            s->ranks[at->row] = rank_of(start, p);
        } else if (field == wanted - 1 - s->is_run) {
            good = number(start, p, s->powers, &s->values[at->row]);
            if (good < 1) return good;
        } else if (field == 5) {
            tag = start;
            at->tag_size = p - start;
        }
        field++;
    }
    if (tag) at->tag = tag;
    if (field && (field < wanted || (field > wanted && !s->is_run))) return 0;
    if (field > wanted) {
        at->extra++; /* a rank that is none, or a number as the tag: is there a blank in an id? */
        if (s->ranks[at->row] < 0 || (*tag >= '+' && *tag <= '9')) return 0;
    }
    at->row += field > 0;
    at->line++;
    at->p = p + 1 - s->text;
    return 1;
}

/* Read whole lines of a run (6 columns) or qrels (4) into columns; return 0 if they are not clean, -1 without
   memory. `tally` receives rows, lists, lines with more columns, the line and offset where the next text begins,
   and the offsets of the last tag. Unless the text is the last chunk, its last list is left out: it may go on. */
static inline int scan_lines(const Scan *s, const int is_run) {
    const u8 *text = s->text;
    const i64 limit = s->size - LONGEST_LINE - MASK; /* up to here a line may be found by masks */
    const int wanted = is_run ? 6 : 4;
    Place at = {s->begin, s->line, 0, 0, 0, 0, text, text, -1, 0};
    while (at.p < s->end) {
        const u8 *p = text + at.p, *from = p, *line_end, *place[6];
        int good = at.p <= limit;
        if (good) {
            Places it;
            int same = at.query_size > 0 && at.query_size < LONGEST_LINE && p[at.query_size] <= 32 &&
                       !memcmp(p, at.query, (size_t)at.query_size);
            if (same && at.p + at.query_size <= limit) from += at.query_size;
            it.base = from;
            it.last = from + LONGEST_LINE - MASK;
            it.mask = separators(from);
            for (int i = 0; i < wanted; i++) place[i] = next_separator(&it);
            good = (place[0] > p) & (place[1] - place[0] > 1) & (place[2] - place[1] > 1) &
                   (place[3] - place[2] > 1) & (*place[0] == ' ' || *place[0] == '\t') &
                   (*place[1] == ' ' || *place[1] == '\t') & (*place[2] == ' ' || *place[2] == '\t');
            if (good && is_run)
                good = (place[4] - place[3] > 1) & (place[5] - place[4] > 1) &
                       (*place[3] == ' ' || *place[3] == '\t') & (*place[4] == ' ' || *place[4] == '\t');
            if (good) {
                line_end = place[wanted - 1];
                line_end += *line_end == '\r'; /* the text ends in a line end */
                good = *line_end == '\n';
            }
            if (good) {
                const u8 *id = place[1] + 1, *value = place[is_run ? 3 : 2] + 1;
                int clean = number(value, place[is_run ? 4 : 3], s->powers, &s->values[at.row]);
                if (clean < 1) return clean;
                if (!same && (place[0] - p != at.query_size || memcmp(p, at.query, (size_t)at.query_size)))
                    begin_list(s, &at, p, place[0] - p, at.p);
                s->start[at.row] = id - text;
                s->stop[at.row] = place[2] - text;
                s->hashes[at.row] = hash_of(id, place[2] - id, 8);
                if (is_run) {
                    s->ranks[at.row] = rank_of(place[2] + 1, place[3]);
                    at.tag = place[4] + 1;
                    at.tag_size = place[5] - at.tag;
                }
                at.row++;
                at.line++;
                at.p = line_end + 1 - text;
            }
        }
        if (!good) {
            int clean = any_line(s, &at);
            if (clean < 1) return clean;
        }
    }
    i64 next = s->end;
    if (!s->last) {
        next = s->begin;
        at.line = s->line;
        if (at.lists > 0) {
            at.lists--;
            at.row = s->list_row[at.lists];
            at.line = s->list_line[at.lists];
            next = s->list_byte[at.lists];
            at.extra = at.extra_before;
        }
    }
    s->list_row[at.lists] = at.row;
    s->tally[0] = at.row;
    s->tally[1] = at.lists;
    s->tally[2] = at.extra;
    s->tally[3] = at.line;
    s->tally[4] = next;
    s->tally[5] = at.tag - text;
    s->tally[6] = at.tag - text + at.tag_size;
    return 1;
}

static int scan(const Scan *s) { return s->is_run ? scan_lines(s, 1) : scan_lines(s, 0); }

/* Judged documents */

/* Ids in a text, with their hashes. */
typedef struct {
    const u8 *text;
    i64 size, rows;
    const i64 *start, *stop;
    const u64 *hashes;
} Ids;

/* Judged documents: a prefix and what follows it in a text; rows and hash table of each query. */
typedef struct {
    const u8 *prefix, *text;
    i64 shared, size, rows, queries, room;
    const i64 *start, *stop, *begin, *end, *slot_begin;
    u32 *slots;
} Judged;

static inline int same_bytes(const u8 *a, const u8 *b, i64 size) { return !memcmp(a, b, (size_t)size); }

static inline int same_ids(const Ids *ids, i64 a, i64 b) {
    const i64 size = ids->stop[a] - ids->start[a];
    return ids->hashes[a] == ids->hashes[b] && ids->stop[b] - ids->start[b] == size &&
           same_bytes(ids->text + ids->start[a], ids->text + ids->start[b], size);
}

/* Return the first slot to probe. */
static inline i64 first_slot(u64 hash, u64 mask) { return (i64)((hash ^ (hash >> 29)) & mask); }

/* Return the number of slots for some rows: a power of two, at most two thirds of it in use. */
static i64 table_size(i64 rows) {
    i64 size = 1;
    while (size < rows + rows / 2 + 1) size *= 2;
    return size;
}

/* Return the bits of a slot that hold a number from 0 to `rows`; the others hold bits of the hash. */
static u32 row_bits(i64 rows) {
    u32 bits = 1;
    while (bits < rows) bits = 2 * bits + 1;
    return bits;
}

/* Return whether rows lie in the columns of ids, and their ids in the text. */
static int inside(const Ids *ids, i64 begin, i64 end) {
    int good = begin >= 0 && end <= ids->rows && begin <= end;
    for (i64 row = begin; good && row < end; row += 256) { /* without a branch, several at a time */
        const i64 stop = row + 256 < end ? row + 256 : end;
        for (i64 i = row; i < stop; i++)
            good &= (ids->start[i] >= 0) & (ids->start[i] <= ids->stop[i]) & (ids->stop[i] <= ids->size);
    }
    return good;
}

/* Return whether rows and table of a query lie in the columns. */
static int has_query(const Judged *judged, i64 query) {
    if (query < 0 || query >= judged->queries) return 0;
    const i64 begin = judged->begin[query], end = judged->end[query], base = judged->slot_begin[query];
    return begin >= 0 && begin <= end && end <= judged->rows && base >= 0 && base <= judged->room &&
           table_size(end - begin) <= judged->room - base;
}

/* Fill the table of each query: the row within the query, from 1, in the low bits of a slot, bits of the hash
   above; 0 is free. Return the first repeated row, -1 for none, -2 for columns that are too short. */
static i64 fill_slots(const Ids *ids, const Judged *judged, i64 *twin) {
    for (i64 q = 0; q < judged->queries; q++) {
        const i64 begin = judged->begin[q], end = judged->end[q];
        if (!has_query(judged, q) || !inside(ids, begin, end)) return -2;
        const u64 mask = (u64)table_size(end - begin) - 1;
        const u32 low = row_bits(end - begin);
        u32 *slots = judged->slots + judged->slot_begin[q];
        memset(slots, 0, (size_t)(mask + 1) * sizeof *slots);
        for (i64 row = begin; row < end; row++) {
            const u32 tag = (u32)(ids->hashes[row] >> 32) & ~low;
            i64 slot = first_slot(ids->hashes[row], mask);
            for (; slots[slot]; slot = (slot + 1) & (i64)mask) {
                const i64 other = begin + (slots[slot] & low) - 1;
                if ((slots[slot] & ~low) == tag && same_ids(ids, row, other)) {
                    *twin = other;
                    return row;
                }
            }
            slots[slot] = tag | (u32)(row - begin + 1);
        }
    }
    return -1;
}

/* Return whether a list has a document twice. `spare` holds 8 numbers for each row of the list. */
static int has_repeat(const Ids *ids, i64 first, i64 end, int32_t *spare) {
    const i64 rows = end - first;
    if (rows <= FEW) { /* a bit for each hash; hashes whose bit is set twice are compared with all before */
        u64 bits[(1 << FILTER_BITS) / 64];
        i64 size = 512, doubtful = 0;
        while (size < 64 * rows && size < 1 << FILTER_BITS) size *= 2;
        memset(bits, 0, (size_t)size / 8);
        for (i64 row = first; row < end; row++) { /* without a branch */
            const u64 bit = ids->hashes[row] & (u64)(size - 1);
            spare[doubtful] = (int32_t)(row - first);
            doubtful += (i64)(bits[bit >> 6] >> (bit & 63) & 1);
            bits[bit >> 6] |= (u64)1 << (bit & 63);
        }
        for (i64 i = 0; i < doubtful; i++) {
            const i64 row = first + spare[i];
            for (i64 other = first; other < row; other++)
                if (ids->hashes[other] == ids->hashes[row] && same_ids(ids, other, row)) return 1;
        }
        return 0;
    }
    i64 size = 4;
    while (size < 4 * rows) size *= 2;
    memset(spare, 0, (size_t)size * sizeof *spare);
    for (i64 row = first; row < end; row++) {
        i64 slot = first_slot(ids->hashes[row], (u64)size - 1);
        for (; spare[slot]; slot = (slot + 1) & (size - 1))
            if (same_ids(ids, row, first + spare[slot] - 1)) return 1;
        spare[slot] = (int32_t)(row - first + 1);
    }
    return 0;
}

/* Set the row in the qrels of each document of a list, -1 for those that are not judged. */
static void find_judged(const Ids *ids, i64 first, i64 end, const Judged *judged, i64 query, int32_t *spare,
                        int32_t *rows) {
    const i64 begin = judged->begin[query], count = judged->end[query] - begin, shared = judged->shared;
    const i64 table = table_size(count);
    const u32 low = row_bits(count), *slots = judged->slots + judged->slot_begin[query];
    i64 candidates = 0;
    memset(rows + first, 0xFF, (size_t)(end - first) * sizeof *rows);
    int width = 6; /* bits of the filter: the highest of hash and tag */
    while (width < FILTER_BITS && 1 << width < 16 * count) width++;
    if (table <= 8 * (end - first) && low <= UINT32_MAX >> width) {
        u64 bits[(1 << FILTER_BITS) / 64];
        memset(bits, 0, ((size_t)1 << width) / 8);
        for (i64 slot = 0; slot < table; slot++) { /* a free slot sets the bit of 0 too */
            const u32 bit = slots[slot] >> (32 - width);
            bits[bit >> 6] |= (u64)1 << (bit & 63);
        }
        for (i64 row = first; row < end; row++) { /* without a branch, which would often be mispredicted */
            const u64 bit = ids->hashes[row] >> (64 - width);
            spare[candidates] = (int32_t)(row - first);
            candidates += (i64)(bits[bit >> 6] >> (bit & 63) & 1);
        }
    } else {
        for (; candidates < end - first; candidates++) spare[candidates] = (int32_t)candidates;
    }
    for (i64 i = 0; i < candidates; i++) {
        const i64 row = first + spare[i];
        const u64 hash = ids->hashes[row];
        const u32 tag = (u32)(hash >> 32) & ~low;
        const u8 *id = ids->text + ids->start[row];
        const i64 rest = ids->stop[row] - ids->start[row] - shared;
        i64 slot = first_slot(hash, (u64)table - 1);
        for (i64 tried = 0; slots[slot] && tried < table; tried++, slot = (slot + 1) & (table - 1)) {
            const i64 place = (i64)(slots[slot] & low) - 1, other = begin + place;
            if ((slots[slot] & ~low) != tag || place < 0 || place >= count || rest < 0) continue;
            const i64 start = judged->start[other];
            if (start >= 0 && start <= judged->size - rest && judged->stop[other] == start + rest &&
                same_bytes(judged->text + start, id + shared, rest) && same_bytes(judged->prefix, id, shared)) {
                rows[row] = (int32_t)other;
                break;
            }
        }
    }
}

/* Set each document's row in the qrels or -1; return 0 if a list has a document twice, -1 for columns that are
   too short. `spare` holds 8 numbers for each row of the longest list. */
static int match(const Ids *ids, i64 lists, const i64 *list_row, const i64 *list_query, const Judged *judged,
                 i64 spares, int32_t *spare, i64 room, int32_t *rows) {
    for (i64 i = 0; i < lists; i++) {
        const i64 first = list_row[i], end = list_row[i + 1], query = list_query[i];
        if (!inside(ids, first, end) || end > room || spares < 8 || (end - first) > spares / 8) return -1;
        if (query >= 0 && !has_query(judged, query)) return -1;
        if (has_repeat(ids, first, end, spare)) return 0;
        if (query >= 0) find_judged(ids, first, end, judged, query, spare, rows);
        else memset(rows + first, 0xFF, (size_t)(end - first) * sizeof *rows);
    }
    return 1;
}

static void hash_ids(const u8 *text, i64 size, i64 rows, const i64 *start, const i64 *stop, u64 *hashes) {
    for (i64 i = 0; i < rows; i++)
        hashes[i] = hash_of(text + start[i], stop[i] - start[i], size - start[i]);
}

/* Parse decimal numbers; return 0 if one is none or is too large for a double, -1 without memory. */
static int numbers(const u8 *text, i64 rows, const i64 *start, const i64 *stop, const double *powers,
                   double *values) {
    for (i64 i = 0; i < rows; i++) {
        const int good = number(text + start[i], text + stop[i], powers, &values[i]);
        if (good < 1) return good;
        if (values[i] - values[i] != 0) return 0;
    }
    return 1;
}
