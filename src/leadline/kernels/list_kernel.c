/* The module of Python around list_kernel.h and list_join.h: arguments, the proof that columns are long enough, errors. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "list_join.h"

static int slow_number(const u8 *text, i64 size, double *value) {
    char *copy = malloc((size_t)size + 1);
    if (!copy) return 0;
    memcpy(copy, text, (size_t)size);
    copy[size] = 0;
    PyGILState_STATE state = PyGILState_Ensure();
    *value = PyOS_string_to_double(copy, NULL, NULL);
    const int failed = PyErr_Occurred() != NULL; /* only without memory: the text has been checked */
    if (failed) PyErr_Clear();
    PyGILState_Release(state);
    free(copy);
    return !failed;
}

enum { MOST_COLUMNS = 48, MOST_NUMBERS = 8 };

/* The arguments of a call: whole numbers and columns, each in their order. */
typedef struct {
    i64 number[MOST_NUMBERS];
    Py_buffer column[MOST_COLUMNS];
    int numbers, columns;
} Arguments;

static void release(Arguments *taken) {
    while (taken->columns) PyBuffer_Release(&taken->column[--taken->columns]);
}

/* Take arguments. A letter of `kinds` stands for each: n for a number; b, i, l, d for a column of bytes, numbers
   of 32 or 64 bits, or doubles; the same in upper case for a column that is written. */
static int take(Arguments *taken, PyObject *const *args, Py_ssize_t count, const char *kinds) {
    taken->numbers = taken->columns = 0;
    if (count != (Py_ssize_t)strlen(kinds)) {
        PyErr_Format(PyExc_TypeError, "%zd arguments; expected %zd", count, (Py_ssize_t)strlen(kinds));
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const char kind = (char)(kinds[i] | 32), *format;
        if (kind == 'n') {
            taken->number[taken->numbers] = PyLong_AsLongLong(args[i]);
            if (taken->number[taken->numbers++] == -1 && PyErr_Occurred()) break;
            continue;
        }
        Py_buffer *column = &taken->column[taken->columns];
        if (PyObject_GetBuffer(args[i], column,
                               PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (kinds[i] == kind ? 0 : PyBUF_WRITABLE)))
            break;
        taken->columns++;
        format = column->format ? column->format : "B";
        if (column->itemsize != (kind == 'b' ? 1 : kind == 'i' ? 4 : 8) || (kind == 'd') != (*format == 'd')) {
            PyErr_Format(PyExc_TypeError, "argument %zd is a column of another type", i);
            break;
        }
    }
    if (!PyErr_Occurred()) return 1;
    release(taken);
    return 0;
}

static i64 size_of(const Arguments *taken, int column) {
    return taken->column[column].len / taken->column[column].itemsize;
}

/* Return the least number of elements of some columns. */
static i64 least(const Arguments *taken, int first, int end) {
    i64 found = size_of(taken, first);
    for (int i = first + 1; i < end; i++)
        if (size_of(taken, i) < found) found = size_of(taken, i);
    return found;
}

static PyObject *out_of_range(Arguments *taken) {
    release(taken);
    PyErr_SetString(PyExc_IndexError, "columns of a kernel that are too short");
    return NULL;
}

/* Return what a call came to: whether it is clean, or MemoryError. */
static PyObject *outcome(Arguments *taken, int good) {
    release(taken);
    return good < 0 ? PyErr_NoMemory() : PyBool_FromLong(good);
}

static PyObject *py_scan(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Arguments taken;
    int good;
    (void)self;
    if (!take(&taken, args, count, "bnnnnndLLLDILLLLLL")) return NULL;
    const i64 *n = taken.number;
    Py_buffer *c = taken.column;
    const u8 *text = c[0].buf;
    const int is_run = n[3] != 0;
    Scan s = {text, size_of(&taken, 0), n[0], n[1], n[2], is_run, n[4] != 0, c[1].buf, 0, c[2].buf, c[3].buf,
              c[4].buf, c[5].buf, c[6].buf, c[7].buf, c[8].buf, c[9].buf, c[10].buf, c[11].buf, c[12].buf, NULL, NULL};
    s.room = least(&taken, 2, 6) < least(&taken, 7, 12) ? least(&taken, 2, 6) : least(&taken, 7, 12);
    if (is_run && size_of(&taken, 6) < s.room) s.room = size_of(&taken, 6);
    if (s.begin < 0 || s.begin > s.end || s.end > s.size || (s.begin < s.end && text[s.end - 1] != '\n') ||
        size_of(&taken, 1) < POWERS || size_of(&taken, 12) < 7 || (s.end - s.begin) / SHORTEST_LINE + 1 > s.room)
        return out_of_range(&taken);
    Py_BEGIN_ALLOW_THREADS
    good = scan(&s);
    Py_END_ALLOW_THREADS
    return outcome(&taken, good);
}

/* Return whether the first rows of columns of ids lie in them and in the text. */
static int are_ids(const Arguments *taken, i64 rows) {
    const Ids ids = {taken->column[0].buf, size_of(taken, 0), least(taken, 1, 3), taken->column[1].buf,
                     taken->column[2].buf, NULL};
    return inside(&ids, 0, rows);
}

static PyObject *py_hash_ids(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Arguments taken;
    (void)self;
    if (!take(&taken, args, count, "bllL")) return NULL;
    Py_buffer *c = taken.column;
    const i64 rows = size_of(&taken, 1);
    if (rows > size_of(&taken, 3) || !are_ids(&taken, rows)) return out_of_range(&taken);
    Py_BEGIN_ALLOW_THREADS
    hash_ids(c[0].buf, size_of(&taken, 0), rows, c[1].buf, c[2].buf, c[3].buf);
    Py_END_ALLOW_THREADS
    release(&taken);
    Py_RETURN_NONE;
}

static PyObject *py_pack(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Arguments taken;
    i64 shared = -2;
    (void)self;
    if (!take(&taken, args, count, "bllbBL")) return NULL;
    Py_buffer *c = taken.column;
    const Ids ids = {c[0].buf, size_of(&taken, 0), size_of(&taken, 1), c[1].buf, c[2].buf, NULL};
    if (size_of(&taken, 2) < ids.rows || size_of(&taken, 5) <= ids.rows) return out_of_range(&taken);
    Py_BEGIN_ALLOW_THREADS
    shared = pack(&ids, c[3].buf, size_of(&taken, 3), c[4].buf, size_of(&taken, 4), c[5].buf);
    Py_END_ALLOW_THREADS
    if (shared == -2) return out_of_range(&taken);
    release(&taken);
    return PyLong_FromLongLong(shared);
}

static PyObject *py_numbers(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Arguments taken;
    int good;
    (void)self;
    if (!take(&taken, args, count, "blldD")) return NULL;
    Py_buffer *c = taken.column;
    const i64 rows = size_of(&taken, 1);
    if (rows > size_of(&taken, 4) || size_of(&taken, 3) < POWERS || !are_ids(&taken, rows))
        return out_of_range(&taken);
    Py_BEGIN_ALLOW_THREADS
    good = numbers(c[0].buf, rows, c[1].buf, c[2].buf, c[3].buf, c[4].buf);
    Py_END_ALLOW_THREADS
    return outcome(&taken, good);
}

static PyObject *py_fill_slots(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Arguments taken;
    i64 twin = 0, again = -2;
    (void)self;
    if (!take(&taken, args, count, "bllllllIL")) return NULL;
    Py_buffer *c = taken.column;
    const Ids ids = {c[0].buf, size_of(&taken, 0), least(&taken, 1, 4), c[1].buf, c[2].buf, c[3].buf};
    const Judged judged = {NULL, c[0].buf, 0, ids.size, ids.rows, size_of(&taken, 4), size_of(&taken, 7), c[1].buf,
                           c[2].buf, c[4].buf, c[5].buf, c[6].buf, c[7].buf};
    if (least(&taken, 5, 7) < judged.queries || size_of(&taken, 8) < 1) return out_of_range(&taken);
    Py_BEGIN_ALLOW_THREADS
    again = fill_slots(&ids, &judged, &twin);
    Py_END_ALLOW_THREADS
    if (again == -2) return out_of_range(&taken);
    if (again >= 0) *(i64 *)c[8].buf = twin;
    release(&taken);
    return PyLong_FromLongLong(again);
}

/* Return judged documents from eight columns: prefix, text, start, stop, begin, end, offset, rows. */
static Judged judged_of(const Arguments *taken, int first) {
    const Py_buffer *c = taken->column + first;
    const Judged judged = {c[0].buf, c[1].buf, size_of(taken, first), size_of(taken, first + 1),
                           least(taken, first + 2, first + 4), least(taken, first + 4, first + 7),
                           size_of(taken, first + 7), c[2].buf, c[3].buf, c[4].buf, c[5].buf, c[6].buf, c[7].buf};
    return judged;
}

static PyObject *py_match(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Arguments taken;
    int good;
    (void)self;
    if (!take(&taken, args, count, "blllllbbllllliII")) return NULL;
    Py_buffer *c = taken.column;
    const Ids ids = {c[0].buf, size_of(&taken, 0), least(&taken, 1, 4), c[1].buf, c[2].buf, c[3].buf};
    const Judged judged = judged_of(&taken, 6);
    const i64 lists = size_of(&taken, 5);
    if (size_of(&taken, 4) != lists + 1) return out_of_range(&taken);
    Py_BEGIN_ALLOW_THREADS
    good = match(&ids, lists, c[4].buf, c[5].buf, &judged, size_of(&taken, 14), c[14].buf, size_of(&taken, 15),
                 c[15].buf);
    Py_END_ALLOW_THREADS
    return good < 0 ? out_of_range(&taken) : outcome(&taken, good);
}

/* Columns are: text, powers; start, stop, hashes, values, ranks; those of lists; two tables of judged documents,
   eight each, the first of the ids of queries; spare; code, length, found, first_start, first_stop; rank, row,
   above, below; tie_query, tie_first, tie_last; tally, which holds what is told of a scan and of a Joining. */
static PyObject *py_judge(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Arguments taken;
    int good;
    (void)self;
    if (!take(&taken, args, count, "bnnnndLLLDILLLLLbblllllibbllllliILLLLLIIIIIIIL")) return NULL;
    const i64 *n = taken.number;
    Py_buffer *c = taken.column;
    const u8 *text = c[0].buf;
    const Judged queries = judged_of(&taken, 12), judged = judged_of(&taken, 20);
    Joining j = {&queries, &judged, n[3] != 0, size_of(&taken, 28), c[28].buf, c[29].buf, c[30].buf, c[31].buf,
                 c[32].buf, c[33].buf, c[34].buf, c[35].buf, c[36].buf, c[37].buf, c[38].buf, c[39].buf, c[40].buf,
                 0, 0, 0, 0, 0};
    Scan s = {text, size_of(&taken, 0), n[0], n[1], n[2], 1, 1, c[1].buf, 0, c[2].buf, c[3].buf, c[4].buf, c[5].buf,
              c[6].buf, c[7].buf, c[8].buf, c[9].buf, c[10].buf, c[11].buf, c[41].buf, join_list, &j};
    s.room = least(&taken, 2, 12) < least(&taken, 29, 41) ? least(&taken, 2, 12) : least(&taken, 29, 41);
    if (s.begin < 0 || s.begin > s.end || s.end > s.size || (s.begin < s.end && text[s.end - 1] != '\n') ||
        size_of(&taken, 1) < POWERS || size_of(&taken, 41) < TALLY || (s.end - s.begin) / SHORTEST_LINE + 1 > s.room ||
        !has_query(&queries, 0))
        return out_of_range(&taken);
    Py_BEGIN_ALLOW_THREADS
    good = judge(&s);
    Py_END_ALLOW_THREADS
    return good == -2 ? out_of_range(&taken) : outcome(&taken, good);
}

static PyObject *py_last_list(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Arguments taken;
    (void)self;
    if (!take(&taken, args, count, "bn")) return NULL;
    const u8 *text = taken.column[0].buf;
    i64 found = taken.number[0];
    if (found < 0 || found > size_of(&taken, 0) || (found > 0 && text[found - 1] != '\n')) return out_of_range(&taken);
    Py_BEGIN_ALLOW_THREADS
    found = last_list(text, found);
    Py_END_ALLOW_THREADS
    release(&taken);
    return PyLong_FromLongLong(found);
}

/* Return whether a number is a float or an int, and its value. */
static int number_of(PyObject *object, double *value) {
    if (PyFloat_Check(object)) {
        *value = PyFloat_AS_DOUBLE(object);
        return 1;
    }
    if (!PyLong_Check(object)) return 0;
    *value = PyLong_AsDouble(object);
    if (*value != -1.0 || !PyErr_Occurred()) return 1;
    PyErr_Clear();
    return 0;
}

/* Take a dictionary of ids in ASCII and numbers; return whether it is one. */
static PyObject *py_numbers_of(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Arguments taken;
    PyObject *id, *number;
    Py_ssize_t at = 0;
    i64 row = 0;
    (void)self;
    if (count != 2 || !PyDict_CheckExact(args[0])) {
        PyErr_SetString(PyExc_TypeError, "expected a dictionary and a column");
        return NULL;
    }
    if (!take(&taken, args + 1, 1, "D")) return NULL;
    double *values = taken.column[0].buf;
    if (PyDict_GET_SIZE(args[0]) > size_of(&taken, 0)) return out_of_range(&taken);
    int good = 1;
    while (good && PyDict_Next(args[0], &at, &id, &number))
        good = PyUnicode_Check(id) && PyUnicode_IS_ASCII(id) && number_of(number, &values[row++]);
    release(&taken);
    return PyBool_FromLong(good);
}

/* Look ids up in a dictionary of numbers: the places of those that it has, and their numbers; return how many. */
static PyObject *py_looked_up(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Arguments taken;
    Py_ssize_t found = 0;
    (void)self;
    if (count != 4 || !PyDict_CheckExact(args[0]) || !PyList_CheckExact(args[1])) {
        PyErr_SetString(PyExc_TypeError, "expected a dictionary, a list and two columns");
        return NULL;
    }
    if (!take(&taken, args + 2, 2, "LD")) return NULL;
    if (PyList_GET_SIZE(args[1]) > least(&taken, 0, 2)) return out_of_range(&taken);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args[1]); i++) {
        PyObject *number = PyDict_GetItemWithError(args[0], PyList_GET_ITEM(args[1], i));
        if (!number) continue;
        ((i64 *)taken.column[0].buf)[found] = i;
        if (!number_of(number, (double *)taken.column[1].buf + found)) {
            found = -1;
            break;
        }
        found++;
    }
    release(&taken);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(found);
}

#define METHOD(name, text) {#name, (PyCFunction)(void (*)(void))py_##name, METH_FASTCALL, text}

static PyMethodDef methods[] = {
    METHOD(scan, "Read whole lines of a run or qrels into columns; return whether they are clean."),
    METHOD(hash_ids, "Fill the hashes of ids, as `scan` computes them."),
    METHOD(numbers, "Parse decimal numbers; return whether all are finite numbers."),
    METHOD(pack, "Copy ids without their prefix; return how many bytes of the prefix all of them begin with."),
    METHOD(fill_slots, "Fill a table of judged documents per query; return the first repeated row or -1."),
    METHOD(match, "Set the qrels row of every document; return whether no list has a document twice."),
    METHOD(numbers_of, "Fill the numbers of a dictionary; return whether all ids are ASCII and all numbers are."),
    METHOD(looked_up, "Fill places and numbers of the ids that a dictionary has; return how many, -1 for odd ones."),
    METHOD(last_list, "Return where the lines of the last query of a text begin."),
    METHOD(judge, "Scan a run, and join its lists with judgments; return whether it is clean."),
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots_of_module[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "list_kernel", "Ranked lists of TREC text, and their join with judgments.", 0,
    methods, slots_of_module, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_list_kernel(void) { return PyModuleDef_Init(&module); }
