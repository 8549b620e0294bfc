/* Judged documents, and the join of ranked lists with them: alone (`match`), or while a text is scanned. */

#include "list_kernel.h"

enum { TALLY = 11, WIDE = 32 };

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

/* Copy ids without their prefix one after the other, from where `ends[0]` says, and set their ends. Return how many
   bytes of the prefix all begin with: where that is not the whole prefix, what was copied is of no use; -2 for
   columns that are too short. */
static i64 pack(const Ids *ids, const u8 *prefix, i64 shared, u8 *target, i64 room, i64 *ends) {
    i64 place = ends[0];
    if (place < 0 || place > room || !inside(ids, 0, ids->rows)) return -2;
    for (i64 row = 0; row < ids->rows; row++) {
        const u8 *id = ids->text + ids->start[row];
        i64 size = ids->stop[row] - ids->start[row];
        if (size < shared || !same_bytes(id, prefix, shared)) {
            i64 same = 0;
            while (same < shared && same < size && id[same] == prefix[same]) same++;
            shared = same;
        }
        id += shared;
        size -= shared;
        if (size > room - place) return -2;
        if (size <= WIDE && room - place >= WIDE && ids->text + ids->size - id >= WIDE) /* most ids: one move */
            memcpy(target + place, id, WIDE);
        else
            memcpy(target + place, id, (size_t)size);
        place += size;
        ends[row + 1] = place;
    }
    return shared;
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

/* Return the row of a document of a query, -1 if it is not judged. */
static inline i64 judged_row(const Judged *judged, i64 query, i64 table, u64 hash, const u8 *id, i64 size) {
    const i64 begin = judged->begin[query], count = judged->end[query] - begin, rest = size - judged->shared;
    const u32 low = row_bits(count), *slots = judged->slots + judged->slot_begin[query];
    const u32 tag = (u32)(hash >> 32) & ~low;
    i64 slot = first_slot(hash, (u64)table - 1);
    for (i64 tried = 0; slots[slot] && tried < table; tried++, slot = (slot + 1) & (table - 1)) {
        const i64 place = (i64)(slots[slot] & low) - 1, row = begin + place;
        if ((slots[slot] & ~low) != tag || place < 0 || place >= count || rest < 0) continue;
        const i64 start = judged->start[row];
        if (start >= 0 && start <= judged->size - rest && judged->stop[row] == start + rest &&
            same_bytes(judged->text + start, id + judged->shared, rest) &&
            same_bytes(judged->prefix, id, judged->shared))
            return row;
    }
    return -1;
}

/* Find the judged documents of a list: their places in it, and their rows in the qrels; return how many. */
static i64 find_judged(const Ids *ids, i64 first, i64 end, const Judged *judged, i64 query, int32_t *places,
                       int32_t *rows) {
    const i64 count = judged->end[query] - judged->begin[query], table = table_size(count);
    const u32 low = row_bits(count), *slots = judged->slots + judged->slot_begin[query];
    i64 candidates = 0, found = 0;
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
            places[candidates] = (int32_t)(row - first);
            candidates += (i64)(bits[bit >> 6] >> (bit & 63) & 1);
        }
    } else {
        for (; candidates < end - first; candidates++) places[candidates] = (int32_t)candidates;
    }
    for (i64 i = 0; i < candidates; i++) {
        const i64 row = first + places[i];
        const i64 size = ids->stop[row] - ids->start[row];
        const i64 known = judged_row(judged, query, table, ids->hashes[row], ids->text + ids->start[row], size);
        places[found] = places[i];
        rows[found] = (int32_t)known;
        found += known >= 0;
    }
    return found;
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
        memset(rows + first, 0xFF, (size_t)(end - first) * sizeof *rows);
        if (query < 0) continue;
        int32_t *found = spare + (end - first);
        const i64 count = find_judged(ids, first, end, judged, query, spare, found);
        for (i64 k = 0; k < count; k++) rows[first + spare[k]] = found[k];
    }
    return 1;
}

/* Scan and join in one */

/* What a scan of a run gives when its lists are joined one by one with judgments: the code of each list's query
   (-1: not judged), its length, its judged documents and its first document; the rank and the row in the qrels of
   each judged document, and how many rows of the same score are above and below it; groups of equal scores
   without a judged document. Ids of queries are `queries`, a table of one list of documents. */
typedef struct {
    const Judged *queries, *judged;
    int narrow; /* whether scores are compared as 32-bit floats */
    i64 spares;
    int32_t *spare; /* 8 numbers for each row of the longest list */
    i64 *code, *length, *found, *first_start, *first_stop;
    int32_t *rank, *row, *above, *below, *tie_query, *tie_first, *tie_last;
    i64 rows, joined, tied, ties, disordered;
} Joining;

/* Return whether row a is before row b: a higher score, then the larger id. */
static inline int is_before(const Ids *ids, const double *values, i64 a, i64 b) {
    if (values[a] != values[b]) return values[a] > values[b];
    const i64 size = ids->stop[a] - ids->start[a], other = ids->stop[b] - ids->start[b];
    const int less = memcmp(ids->text + ids->start[a], ids->text + ids->start[b], (size_t)(size < other ? size : other));
    return less ? less > 0 : size >= other;
}

/* Fill `order` with the rows of a list, best first. */
static void arrange_list(const Ids *ids, const double *values, i64 rows, int32_t *order, int32_t *spare) {
    int sorted = 1;
    for (i64 i = 0; i < rows; i++) order[i] = (int32_t)i;
    for (i64 i = 1; sorted && i < rows; i++) sorted = is_before(ids, values, i - 1, i);
    for (i64 width = 1; !sorted && width < rows; width *= 2) {
        for (i64 low = 0; low < rows; low += 2 * width) {
            const i64 middle = low + width < rows ? low + width : rows;
            const i64 high = low + 2 * width < rows ? low + 2 * width : rows;
            i64 i = low, k = middle;
            for (i64 to = low; to < high; to++)
                spare[to] = i < middle && (k == high || is_before(ids, values, order[i], order[k])) ? order[i++]
                                                                                                    : order[k++];
        }
        memcpy(order, spare, (size_t)rows * sizeof *order);
    }
}

/* Return whether a higher score has a larger rank than a lower one; `order` is NULL where scores fall. */
static int is_disordered(const double *values, const int32_t *ranks, const int32_t *order, i64 rows) {
    int32_t highest = -1, least = ranks[0];
    int falls = 0;
    for (i64 i = 0; i < rows; i++) least = ranks[i] < least ? ranks[i] : least;
    if (least < 0) return 0; /* the column does not hold ranks */
    if (!order) {
        for (i64 i = 1; i < rows; i++) falls |= ranks[i] < ranks[i - 1];
        return falls;
    }
    for (i64 i = 0, stop; i < rows; i = stop) {
        int32_t most = -1;
        for (stop = i; stop < rows && values[order[stop]] == values[order[i]]; stop++) {
            if (ranks[order[stop]] < highest) return 1;
            if (ranks[order[stop]] > most) most = ranks[order[stop]];
        }
        if (most > highest) highest = most;
    }
    return 0;
}

/* Join a list that has equal scores, or that is not in order; `known` holds the qrels row of each place or -1. */
static void join_ties(Joining *j, const double *values, const int32_t *order, const int32_t *known, i64 rows,
                      i64 query) {
    for (i64 i = 0, stop; i < rows; i = stop) {
        const i64 before = j->joined;
        stop = i + 1;
        while (stop < rows && values[order[stop]] == values[order[i]]) stop++;
        for (i64 k = i; k < stop; k++) {
            if (known[order[k]] < 0) continue;
            j->rank[j->joined] = (int32_t)(k + 1);
            j->row[j->joined] = known[order[k]];
            j->above[j->joined] = (int32_t)(k - i);
            j->below[j->joined++] = (int32_t)(stop - 1 - k);
        }
        if (stop - i < 2) continue;
        j->tied = 1;
        if (j->joined > before) continue;
        j->tie_query[j->ties] = (int32_t)query;
        j->tie_first[j->ties] = (int32_t)(i + 1);
        j->tie_last[j->ties++] = (int32_t)stop;
    }
}

/* Join a list; return 0 if it has a document twice, -2 for columns that are too short. */
static int join_list(const Scan *s, const Place *at) {
    Joining *j = s->with;
    const i64 rows = at->row, list = at->lists - 1;
    const Ids ids = {s->text, s->size, rows, s->start, s->stop, s->hashes};
    int32_t *places = j->spare, *known = places + rows, *order = NULL;
    double *values = s->values;
    int falls = 1;
    if (rows > j->spares / 8) return -2;
    if (has_repeat(&ids, 0, rows, j->spare)) return 0;
    if (j->narrow)
        for (i64 i = 0; i < rows; i++) values[i] = (double)(float)values[i];
    for (i64 i = 1; i < rows; i++) falls &= values[i - 1] > values[i];
    if (!falls) {
        order = j->spare + 2 * rows;
        arrange_list(&ids, values, rows, order, order + rows);
    }
    const i64 first = order ? order[0] : 0;
    const u64 hash = hash_of(at->query, at->query_size, s->text + s->size - at->query);
    const i64 queries = j->queries->end[0] - j->queries->begin[0];
    const i64 query = judged_row(j->queries, 0, table_size(queries), hash, at->query, at->query_size);
    j->code[list] = query;
    j->length[list] = rows;
    j->found[list] = 0;
    j->first_start[list] = s->start[first];
    j->first_stop[list] = s->stop[first];
    j->rows += rows;
    j->disordered += is_disordered(values, s->ranks, order, rows);
    if (query < 0) return 1;
    if (!has_query(j->judged, query)) return -2;
    const i64 count = find_judged(&ids, 0, rows, j->judged, query, places, known), before = j->joined;
    if (order) {
        int32_t *row_of = order + rows;
        memset(row_of, 0xFF, (size_t)rows * sizeof *row_of);
        for (i64 k = 0; k < count; k++) row_of[places[k]] = known[k];
        join_ties(j, values, order, row_of, rows, query);
    } else {
        for (i64 k = 0; k < count; k++) {
            j->rank[before + k] = places[k] + 1;
            j->row[before + k] = known[k];
            j->above[before + k] = j->below[before + k] = 0;
        }
        j->joined += count;
    }
    j->found[list] = j->joined - before;
    return 1;
}

/* Scan a run and join each of its lists; the last one ends with the text. Return 0 if the text is not clean or a
   list has a document twice, -1 without memory, -2 for columns that are too short. */
static int judge(const Scan *s) {
    const Joining *j = s->with;
    const int good = scan(s);
    const i64 told[] = {j->joined, j->ties, j->tied, j->disordered};
    s->tally[0] = j->rows;
    memcpy(s->tally + 7, told, sizeof told);
    return good;
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
