/* Fuzz of the list kernel under the sanitizers of a compiler, without Python:

       cc -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all tests/kernels/fuzz_list_kernel.c -o fuzz
       ./fuzz 1000000 1

   makes that many texts (seed 1), nearly all close to what programs write, scans each as a run or judgments in
   memory that ends where the text does, and joins it with judgments from the same ids. Every value is compared
   with one that is computed byte by byte, and -DLEADLINE_SCALAR prints the same sum; with -DLEADLINE_WEAK_HASH most
   hashes are equal. */

#undef NDEBUG /* which some compilers define: what `assert` calls must happen */
#include <assert.h>
#include <stdio.h>

#include "../../src/leadline/kernels/list_join.h"

static int slow_number(const u8 *text, i64 size, double *value) {
    char *copy = malloc((size_t)size + 1);
    if (!copy) return 0;
    memcpy(copy, text, (size_t)size);
    copy[size] = 0;
    *value = strtod(copy, NULL);
    free(copy);
    return 1;
}

static u64 state;

static u64 draw(u64 below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

static double powers[POWERS];

/* As `_powers` of leadline.io.trec_lists: here pieces are computed digit by digit. */
static void fill_powers(void) {
    for (int i = 0; i < 23; i++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", i);
        powers[i] = strtod(text, NULL);
    }
    for (int exponent = -64; exponent <= 64; exponent++) {
        u32 digits[40] = {0}; /* a binary fraction, the highest first: 1 << 1024 / ten or ten << 512 */
        const int places = 40;
        digits[exponent >= 0 ? 20 : 4] = 1;
        for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++) {
            u64 carry = 0;
            if (exponent >= 0) {
                for (int d = places - 1; d >= 0; d--) {
                    carry += (u64)digits[d] * 10;
                    digits[d] = (u32)carry;
                    carry >>= 32;
                }
            } else {
                for (int d = 0; d < places; d++) {
                    carry = carry << 32 | digits[d];
                    digits[d] = (u32)(carry / 10);
                    carry %= 10;
                }
            }
        }
        int first = 0, shift = 0;
        while (!digits[first]) first++;
        while (!(digits[first] >> (31 - shift))) shift++;
        for (int piece = 0; piece < 4; piece++) {
            const u64 two = (u64)digits[first + piece] << 32 | digits[first + piece + 1];
            powers[PIECES + 4 * (exponent + WIDEST) + piece] = (double)(u32)(two << shift >> 32);
        }
    }
    powers[TWOS] = 1;
    for (int i = 1; i <= 400; i++) {
        powers[TWOS + i] = powers[TWOS + i - 1] * 2;
        powers[TWOS - i] = powers[TWOS - i + 1] / 2;
    }
}

static u8 text[1 << 14];
static i64 size;

static void put(const char *piece) {
    const i64 more = (i64)strlen(piece);
    if (size + more < (i64)sizeof text - 512) {
        memcpy(text + size, piece, (size_t)more);
        size += more;
    }
}

static void put_id(const char *letter, u64 ids) {
    char name[128];
    static const char *forms[] = {"%s%d", "clueweb12-0000wb-00-%s%05d", "%s%012d", "\xc3\xa9%s%d", "%s%070d"};
    const char *form = forms[draw(20) ? draw(3) : draw(5)]; /* draws one by one: compilers order arguments differently */
    snprintf(name, sizeof name, form, letter, (int)draw(ids));
    put(name);
}

static void put_number(void) {
    char number[64];
    static const char *odd[] = {"1e5", "-0", "+.5", "1E-400", "5.", "nan", "x", "1e", "-", "9007199254740993",
                                "123456789012345678901234567890", "1.7976931348623157e308", "4.9e-324", "1_0"};
    if (!draw(40)) {
        put(odd[draw(sizeof odd / sizeof *odd)]);
        return;
    }
    const char *form = draw(2) ? "%.6f" : "%.17g";
    const u64 above = draw(1000000), below = 1 + draw(999);
    snprintf(number, sizeof number, form, (double)above / (double)below);
    put(number);
}

static void make_text(int is_run) {
    static const char *odd[] = {"\n", "\r\n", "\r", "\t", "  ", "\v", "\x01", " more", "#", "\xff", "\xe2\x80\xa8"};
    const u64 lines = draw(4) ? draw(40) : draw(200), oddity = draw(3) ? 100000 : 30;
    const u64 queries = 1 + draw(4), times = draw(3), ids = 2 + times * lines + draw(1000);
    u64 query = 0;
    size = 0;
    for (u64 i = 0; i < lines; i++) {
        char name[16];
        if (!draw(10)) query = draw(queries);
        snprintf(name, sizeof name, query % 2 ? "q%d" : "%d", (int)query);
        put(name);
        put(draw(oddity) ? " " : odd[draw(11)]);
        put(is_run ? "Q0" : "0");
        put(draw(oddity) ? " " : odd[draw(11)]);
        put_id("d", ids);
        put(draw(oddity) ? " " : odd[draw(11)]);
        if (is_run) {
            snprintf(name, sizeof name, "%d", (int)i);
            put(name);
            put(draw(oddity) ? " " : odd[draw(11)]);
            put_number();
            put(draw(oddity) ? " tag" : odd[draw(11)]);
        } else if (draw(oddity)) {
            put("1");
        } else {
            put_number();
        }
        put(draw(oddity) ? "\n" : odd[draw(11)]);
        if (!draw(oddity)) {
            const u64 place = draw((u64)size + 1);
            text[place] ^= (u8)(1 << draw(8));
        }
    }
    put("\n");
}

/* Columns of memory with nothing around them. */
static void *column(i64 count, size_t each) {
    void *made = malloc((size_t)count * each + !count);
    assert(made);
    memset(made, 0x5A, (size_t)count * each);
    return made;
}

static u64 sum;

static void add(u64 value) { sum = (sum ^ value) * 0x100000001B3u; }

static Scan scanned(const u8 *copy, i64 bytes, int is_run, int last) {
    const i64 room = bytes / SHORTEST_LINE + 1;
    Scan s = {.text = copy, .size = bytes, .end = bytes, .line = 1, .is_run = is_run, .last = last, .powers = powers,
              .room = room};
    s.start = column(room, 8);
    s.stop = column(room, 8);
    s.hashes = column(room, 8);
    s.values = column(room, 8);
    s.ranks = column(is_run ? room : 0, 4);
    s.list_row = column(room, 8);
    s.query_start = column(room, 8);
    s.query_stop = column(room, 8);
    s.list_line = column(room, 8);
    s.list_byte = column(room, 8);
    s.tally = column(TALLY, 8);
    return s;
}

static void discard(Scan *s) {
    free(s->start), free(s->stop), free(s->hashes), free(s->values), free(s->ranks), free(s->list_row);
    free(s->query_start), free(s->query_stop), free(s->list_line), free(s->list_byte), free(s->tally);
}

static void check_lines(const Scan *s) {
    for (i64 row = 0; row < s->tally[0]; row++) {
        const u8 *id = s->text + s->start[row];
        double value;
        assert(s->hashes[row] == hash_of(id, s->stop[row] - s->start[row], s->size - s->start[row]));
        for (i64 p = s->start[row]; p < s->stop[row]; p++) assert(s->text[p] > 32);
        assert(s->text[s->stop[row]] <= 32 && s->text[s->start[row] - 1] <= 32);
        const u8 *p = s->text + s->stop[row];
        while (*p <= 32) p++;
        if (s->is_run) { /* over the rank */
            while (*p > 32) p++;
            while (*p <= 32) p++;
        }
        slow_number(p, s->text + s->size - p, &value);
        assert(!memcmp(&value, &s->values[row], sizeof value));
        add(s->hashes[row]);
        memcpy(&value, &s->values[row], 8);
        add((u64)s->start[row] + (s->is_run ? (u64)(u32)s->ranks[row] << 32 : 0));
    }
    for (i64 i = 0; i < 7; i++) add((u64)s->tally[i]);
    for (i64 i = 0; i < s->tally[1]; i++) add((u64)(s->list_row[i] ^ s->list_line[i] << 20 ^ s->list_byte[i] << 40));
}

/* Return the judgment of a row, -1 for none, by looking at all of its query. */
static i64 looked_up(const Scan *run, i64 row, const Scan *qrels, i64 query) {
    for (i64 b = query < 0 ? 0 : qrels->list_row[query]; query >= 0 && b < qrels->list_row[query + 1]; b++)
        if (qrels->stop[b] - qrels->start[b] == run->stop[row] - run->start[row] &&
            same_bytes(qrels->text + qrels->start[b], run->text + run->start[row], run->stop[row] - run->start[row]))
            return b;
    return -1;
}

/* Return whether a row is before another one, as `arrange` of leadline.kernels.lists has it. */
static int precedes(const Scan *run, i64 a, i64 b) {
    if (run->values[a] != run->values[b]) return run->values[a] > run->values[b];
    const u8 *p = run->text + run->start[a], *q = run->text + run->start[b];
    const u8 *p_end = run->text + run->stop[a], *q_end = run->text + run->stop[b];
    for (; p < p_end && q < q_end; p++, q++)
        if (*p != *q) return *p > *q;
    return q == q_end;
}

/* Compare a list that was joined while it was scanned with the same computed row by row. */
static void check_list(const Scan *run, i64 list, const Scan *qrels, const Joining *j, i64 *joined, i64 *ties,
                       i64 *disordered) {
    const i64 low = run->list_row[list], rows = run->list_row[list + 1] - low, size = run->query_stop[list] - run->query_start[list];
    i64 *order = column(rows, 8), query = -1, worse = 0;
    for (i64 i = 0; i < qrels->tally[1]; i++)
        if (qrels->query_stop[i] - qrels->query_start[i] == size &&
            same_bytes(qrels->text + qrels->query_start[i], run->text + run->query_start[list], size))
            query = i;
    for (i64 i = 0; i < rows; i++) {
        i64 place = i;
        while (place > 0 && precedes(run, low + i, order[place - 1])) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = low + i;
    }
    for (i64 a = low; a < low + rows; a++)
        for (i64 b = low; b < low + rows; b++) worse |= run->values[a] > run->values[b] && run->ranks[a] > run->ranks[b];
    for (i64 a = low; a < low + rows; a++) worse &= run->ranks[a] >= 0;
    *disordered += worse;
    assert(j->code[list] == query && j->length[list] == rows && j->first_start[list] == run->start[order[0]]);
    assert(j->first_stop[list] == run->stop[order[0]]);
    for (i64 i = 0, stop, before = *joined; query >= 0 && i < rows; i = stop) {
        const i64 group = *joined;
        for (stop = i; stop < rows && run->values[order[stop]] == run->values[order[i]];) stop++;
        for (i64 k = i; k < stop; k++) {
            const i64 known = looked_up(run, order[k], qrels, query);
            if (known < 0) continue;
            assert(j->rank[*joined] == k + 1 && j->row[*joined] == known);
            assert(j->above[*joined] == k - i && j->below[*joined] == stop - 1 - k);
            ++*joined;
        }
        if (stop - i > 1 && group == *joined) {
            assert(j->tie_query[*ties] == query && j->tie_first[*ties] == i + 1 && j->tie_last[*ties] == stop);
            ++*ties;
        }
        if (stop == rows) assert(j->found[list] == *joined - before);
    }
    free(order);
}

/* Join a run while it is scanned, and compare. */
static void judge_run(const Scan *run, const Scan *qrels, const Judged *judged) {
    const i64 queries = qrels->tally[1], zero = 0, room = run->room;
    u64 *hashes = column(queries, 8);
    hash_ids(qrels->text, qrels->size, queries, qrels->query_start, qrels->query_stop, hashes);
    const Ids names = {qrels->text, qrels->size, queries, qrels->query_start, qrels->query_stop, hashes};
    const Judged known = {(const u8 *)"", qrels->text, 0, qrels->size, queries, 1, table_size(queries), qrels->query_start,
                          qrels->query_stop, &zero, &queries, &zero, column(table_size(queries), 4)};
    i64 twin, joined = 0, ties = 0, disordered = 0;
    if (fill_slots(&names, &known, &twin) < 0) { /* else a query returns */
        Scan whole = scanned(run->text, run->end, 1, 1), s = scanned(run->text, run->end, 1, 1);
        int unique = 1;
        Joining j = {&known, judged, draw(2) != 0, 8 * room, column(8 * room, 4), column(room, 8), column(room, 8),
                     column(room, 8), column(room, 8), column(room, 8), column(room, 4), column(room, 4),
                     column(room, 4), column(room, 4), column(room, 4), column(room, 4), column(room, 4), 0, 0, 0, 0, 0};
        whole.size = s.size = run->size;
        s.on_list = join_list;
        s.with = &j;
        assert(scan(&whole) == 1);
        for (i64 i = 0; i < whole.tally[1]; i++)
            for (i64 a = whole.list_row[i]; a < whole.list_row[i + 1]; a++) {
                if (j.narrow) whole.values[a] = (double)(float)whole.values[a];
                for (i64 b = whole.list_row[i]; b < a; b++)
                    unique &= whole.stop[a] - whole.start[a] != whole.stop[b] - whole.start[b] ||
                              !same_bytes(run->text + whole.start[a], run->text + whole.start[b],
                                          whole.stop[a] - whole.start[a]);
            }
        assert(judge(&s) == unique);
        if (unique) {
            for (i64 i = 0; i < whole.tally[1]; i++) check_list(&whole, i, qrels, &j, &joined, &ties, &disordered);
            assert(j.joined == joined && j.ties == ties && j.disordered == disordered);
            for (int i = 0; i < 7; i++) assert(s.tally[i] == whole.tally[i]);
            add((u64)joined);
        }
        discard(&whole), discard(&s);
        free(j.spare), free(j.code), free(j.length), free(j.found), free(j.first_start), free(j.first_stop);
        free(j.rank), free(j.row), free(j.above), free(j.below), free(j.tie_query), free(j.tie_first), free(j.tie_last);
    }
    free(hashes), free(known.slots);
}

/* Copy ids without a prefix that all, or some, have. */
static void check_pack(const Ids *ids) {
    i64 total = 0, shared, place = 0, *ends = column(ids->rows + 1, 8);
    for (i64 row = 0; row < ids->rows; row++) total += ids->stop[row] - ids->start[row];
    const u8 *prefix = ids->text + ids->start[0];
    const i64 size = (i64)draw((u64)(ids->stop[0] - ids->start[0]) + 1);
    i64 common = size;
    for (i64 row = 0; row < ids->rows; row++) {
        i64 same = 0;
        while (same < common && same < ids->stop[row] - ids->start[row] &&
               ids->text[ids->start[row] + same] == prefix[same])
            same++;
        common = same;
    }
    const i64 needed = total - size * ids->rows, room = common == size ? needed : total;
    u8 *target = column(room, 1);
    ends[0] = 0;
    shared = pack(ids, prefix, size, target, room, ends);
    assert(shared == common);
    for (i64 row = 0; shared == size && row < ids->rows; row++) {
        const i64 length = ids->stop[row] - ids->start[row] - size;
        assert(ends[row + 1] == place + length);
        assert(same_bytes(target + place, ids->text + ids->start[row] + size, length));
        place += length;
    }
    if (needed && common == size) assert(pack(ids, prefix, size, target, needed - 1, ends) == -2);
    add((u64)shared);
    free(ends), free(target);
}

static void join(const Scan *run, const Scan *qrels) {
    const Ids ids = {run->text, run->size, run->tally[0], run->start, run->stop, run->hashes};
    const Ids known = {qrels->text, qrels->size, qrels->tally[0], qrels->start, qrels->stop, qrels->hashes};
    const i64 lists = run->tally[1], queries = qrels->tally[1];
    i64 *offset = column(queries, 8), *asked = column(lists, 8), total = 0, longest = 1, twin;
    for (i64 i = 0; i < queries; i++) {
        offset[i] = total;
        total += table_size(qrels->list_row[i + 1] - qrels->list_row[i]);
    }
    for (i64 i = 0; i < lists; i++) {
        asked[i] = (i64)draw((u64)queries + 1) - 1;
        if (run->list_row[i + 1] - run->list_row[i] > longest) longest = run->list_row[i + 1] - run->list_row[i];
    }
    const Judged judged = {(const u8 *)"", qrels->text, 0, qrels->size, qrels->tally[0], queries, total, qrels->start,
                           qrels->stop, qrels->list_row, qrels->list_row + 1, offset, column(total, 4)};
    int32_t *spare = column(8 * longest, 4), *rows = column(run->tally[0], 4);
    if (known.rows) check_pack(&known);
    const i64 again = fill_slots(&known, &judged, &twin);
    assert(again >= -1);
    if (again < 0) {
        const int good = match(&ids, lists, run->list_row, asked, &judged, 8 * longest, spare, run->tally[0], rows);
        int unique = 1;
        assert(good >= 0);
        for (i64 i = 0; i < lists; i++)
            for (i64 a = run->list_row[i]; a < run->list_row[i + 1]; a++) {
                for (i64 b = run->list_row[i]; b < a; b++) unique &= !same_ids(&ids, a, b);
                if (good) assert(rows[a] == looked_up(run, a, qrels, asked[i]));
            }
        assert(good == unique);
        add((u64)good);
    }
    if (again < 0) judge_run(run, qrels, &judged);
    free(offset), free(asked), free(spare), free(rows), free(judged.slots);
}

/* Lists longer than those that texts here hold: whether a repeat is found wherever it is. */
static void try_long_list(void) {
    const i64 rows = FEW - 2 + (i64)draw(2000);
    u8 *names = column(4 * rows, 1);
    i64 *start = column(rows, 8), *stop = column(rows, 8);
    u64 *hashes = column(rows, 8);
    int32_t *spare = column(8 * rows, 4);
    for (i64 row = 0; row < rows; row++) {
        start[row] = 4 * row;
        stop[row] = 4 * row + 4;
        for (int i = 0; i < 4; i++) names[4 * row + i] = (u8)('a' + (row >> (4 * i) & 15));
    }
    const int twice = (int)draw(2);
    const i64 first = (i64)draw((u64)rows - 1);
    if (twice) memcpy(names + 4 * (first + 1 + (i64)draw((u64)(rows - first - 1))), names + 4 * first, 4);
    hash_ids(names, 4 * rows, rows, start, stop, hashes);
    const Ids ids = {names, 4 * rows, rows, start, stop, hashes};
    assert(has_repeat(&ids, 0, rows, spare) == twice);
    free(names), free(start), free(stop), free(hashes), free(spare);
}

int main(int count, char **arguments) {
    const long texts = count > 1 ? atol(arguments[1]) : 100000;
    long clean = 0, joined = 0;
    state = 0x9E3779B97F4A7C15u * (u64)(count > 2 ? atol(arguments[2]) : 1);
    fill_powers();
    Scan before = {0};
    u8 *kept = NULL;
    for (long i = 0; i < texts; i++) {
        const int is_run = (int)draw(2);
        make_text(is_run);
        if (i % 1000 == 0) try_long_list();
        const i64 room = size + (draw(2) ? 0 : (i64)draw(1000)); /* memory after the text may be read, not used */
        u8 *copy = column(room, 1);
        memcpy(copy, text, (size_t)size);
        Scan s = scanned(copy, size, is_run, draw(2) != 0);
        s.size = room;
        const int good = scan(&s);
        const i64 cut = last_list(copy, size);
        assert(good >= 0 && cut >= 0 && cut <= size && (!cut || copy[cut - 1] == '\n'));
        add((u64)good);
        if (good) check_lines(&s);
        clean += good;
        if (good && is_run && kept) {
            join(&s, &before);
            joined++;
        }
        if (good && !is_run) {
            if (kept) discard(&before);
            free(kept);
            before = s;
            kept = copy;
        } else {
            discard(&s);
            free(copy);
        }
    }
    if (kept) discard(&before);
    free(kept);
    printf("%ld texts, %ld clean, %ld joined, sum %016llx\n", texts, clean, joined, (unsigned long long)sum);
    return 0;
}
