/* Ranked lists of TREC text: the compiled form of reading, without the GIL; list_join.h joins them with judgments.

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
#if defined(LEADLINE_WEAK_HASH)
    return hash >> 62; /* for tests: ids have one of four hashes */
#else
    return hash ^ hash >> 32;
#endif
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

/* Return the number that the last `digits` of the eight bytes before `stop` are, up to 8; -1 if they are none. */
static inline i64 whole_number(const u8 *stop, i64 digits) {
    const u64 others = digits < 8 ? ~(u64)0 >> (8 * digits) : 0; /* the first bytes are the lowest */
    u64 x = (word(stop - 8) & ~others) | (0x3030303030303030u & others);
    if (((x & 0xF0F0F0F0F0F0F0F0u) | ((x + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) >> 4) != 0x3333333333333333u)
        return -1;
    x = (x & 0x0F0F0F0F0F0F0F0Fu) * 2561 >> 8; /* pairs: 10 * 256 + 1 */
    x = (x & 0x00FF00FF00FF00FFu) * 6553601 >> 16;
    return (i64)((x & 0x0000FFFF0000FFFFu) * 42949672960001u >> 32);
}

/* Parse a decimal number of at most 7 digits, a point and at most 8 digits; return 0 for any other text. Eight
   bytes before it and from its begin can be read. */
static inline int short_number(const u8 *p, const u8 *stop, double *value) {
    static const i64 tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    const int negative = *p == '-';
    p += negative;
    u64 point = word(p) ^ 0x2E2E2E2E2E2E2E2Eu;
    point = (point - 0x0101010101010101u) & ~point & 0x8080808080808080u; /* its lowest bit is that of a point */
    if (!point) return 0;
    const i64 before = lowest_bit(point) / 8, after = stop - p - before - 1;
    if (after < 0 || after > 8 || before + after < 1) return 0;
    const i64 left = whole_number(p + before, before), right = whole_number(stop, after);
    if (left < 0 || right < 0) return 0;
    const double found = (double)(left * tens[after] + right) / (double)tens[after];
    *value = negative ? -found : found;
    return 1;
}

/* Ranked lists */

typedef struct Scan Scan;
typedef struct Place Place;

struct Scan {
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
    int (*on_list)(const Scan *, const Place *); /* takes each list, so that columns hold one at a time */
    void *with;
};

/* Where a scan is. */
struct Place {
    i64 p, line, row, lists, extra, extra_before;
    const u8 *query, *tag;
    i64 query_size, tag_size;
};

/* Begin a list; return 0 if the one before is not taken, -1 without memory. */
static int begin_list(const Scan *s, Place *at, const u8 *query, i64 size, i64 line_byte) {
    if (s->on_list && at->lists > 0) {
        const int good = s->on_list(s, at);
        if (good < 1) return good;
        at->row = 0;
    }
    at->query = query;
    at->query_size = size;
    s->list_row[at->lists] = at->row;
    s->query_start[at->lists] = query - s->text;
    s->query_stop[at->lists] = query - s->text + size;
    s->list_line[at->lists] = at->line;
    s->list_byte[at->lists] = line_byte;
    at->extra_before = at->extra;
    at->lists++;
    return 1;
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
            if (p - start != at->query_size || memcmp(start, at->query, (size_t)(p - start))) {
                good = begin_list(s, at, start, p - start, begin - s->text);
                if (good < 1) return good;
            }
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

/* Return whether separators are blanks or tabs, except the last, with at least a byte before each. */
static inline int is_line(const u8 *p, const u8 *const *place, int wanted) {
    int good = place[0] > p;
    for (int i = 0; i < wanted - 1; i++)
        good &= (place[i + 1] - place[i] > 1) & (*place[i] == ' ' || *place[i] == '\t');
    return good;
}

/* Return whether a text, of which eight bytes can be read, begins with an id. */
static inline int begins_with(const u8 *p, const u8 *id, i64 size) {
    if (size < 8) return !((word(p) ^ word(id)) & (((u64)1 << (8 * size)) - 1));
    return !memcmp(p, id, (size_t)size);
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
            int same = at.query_size > 0 && at.query_size < LONGEST_LINE && p[at.query_size] <= 32 &&
                       begins_with(p, at.query, at.query_size);
            if (same && at.p + at.query_size <= limit) from += at.query_size;
            u64 mask = separators(from), rest = mask;
            for (int i = 0; i < wanted - 1; i++) rest &= rest - 1;
            good = rest != 0;
            if (good) { /* nearly all lines: the last separator ends the line, single blanks are the others */
                const u64 line = mask & (rest ^ (rest - 1));
                u64 other = 0;
                rest = mask;
                for (int i = 0; i < wanted; i++) {
                    place[i] = from + lowest_bit(rest);
                    rest &= rest - 1;
                    if (i < wanted - 1) other |= *place[i] ^ (u64)' ';
                }
                line_end = place[wanted - 1];
                good = !(other | (line & line << 1)) & (*line_end == '\n') & (place[0] > p);
            }
            if (!good) {
                Places it = {from, from + LONGEST_LINE - MASK, mask};
                for (int i = 0; i < wanted; i++) place[i] = next_separator(&it);
                good = is_line(p, place, wanted);
                line_end = place[wanted - 1];
                line_end += good && *line_end == '\r'; /* the text ends in a line end */
                good = good && *line_end == '\n';
            }
            if (good) {
                const u8 *id = place[1] + 1, *value = place[is_run ? 3 : 2] + 1;
                int clean = 1;
                if (!same && (place[0] - p != at.query_size || !begins_with(p, at.query, at.query_size)))
                    clean = begin_list(s, &at, p, place[0] - p, at.p);
                if (clean == 1 && !(at.p > 8 && short_number(value, place[is_run ? 4 : 3], &s->values[at.row])))
                    clean = number(value, place[is_run ? 4 : 3], s->powers, &s->values[at.row]);
                if (clean < 1) return clean;
                s->start[at.row] = id - text;
                s->stop[at.row] = place[2] - text;
                s->hashes[at.row] = hash_of(id, place[2] - id, 8);
                if (is_run) {
                    const i64 digits = place[3] - place[2] - 1;
                    s->ranks[at.row] = at.p > 8 && digits <= 8 ? (int32_t)whole_number(place[3], digits)
                                                               : rank_of(place[2] + 1, place[3]);
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
    if (s->on_list) {
        const int good = at.lists > 0 ? s->on_list(s, &at) : 1;
        if (good < 1) return good;
    } else if (!s->last) {
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

/* Return where the lines of the last query begin; lines of a query are taken to stand together. */
static i64 last_list(const u8 *text, i64 end) {
    i64 found = end, size = 0, begin;
    for (i64 stop = end; stop > 0; stop = begin) {
        begin = stop - 1;
        while (begin > 0 && text[begin - 1] != '\n') begin--;
        if (text[begin] <= 32) continue; /* no line, or one that begins with blanks */
        if (!size) {
            while (text[begin + size] > 32) size++;
        } else if (memcmp(text + begin, text + found, (size_t)size) || text[begin + size] > 32) {
            break;
        }
        found = begin;
    }
    return found;
}

static int scan(const Scan *s) { return s->is_run ? scan_lines(s, 1) : scan_lines(s, 0); }
