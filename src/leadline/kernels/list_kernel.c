/* The module of Python around list_kernel.h: arguments, the proof that columns are long enough, errors. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "list_kernel.h"

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

enum { MOST_COLUMNS = 16, MOST_NUMBERS = 8 };

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
              c[4].buf, c[5].buf, c[6].buf, c[7].buf, c[8].buf, c[9].buf, c[10].buf, c[11].buf, c[12].buf};
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

static PyObject *py_match(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Arguments taken;
    int good;
    (void)self;
    if (!take(&taken, args, count, "blllllbbllllliII")) return NULL;
    Py_buffer *c = taken.column;
    const Ids ids = {c[0].buf, size_of(&taken, 0), least(&taken, 1, 4), c[1].buf, c[2].buf, c[3].buf};
    const Judged judged = {c[6].buf, c[7].buf, size_of(&taken, 6), size_of(&taken, 7), least(&taken, 8, 10),
                           least(&taken, 10, 13), size_of(&taken, 13), c[8].buf, c[9].buf, c[10].buf, c[11].buf,
                           c[12].buf, c[13].buf};
    const i64 lists = size_of(&taken, 5);
    if (size_of(&taken, 4) != lists + 1) return out_of_range(&taken);
    Py_BEGIN_ALLOW_THREADS
    good = match(&ids, lists, c[4].buf, c[5].buf, &judged, size_of(&taken, 14), c[14].buf, size_of(&taken, 15),
                 c[15].buf);
    Py_END_ALLOW_THREADS
    return good < 0 ? out_of_range(&taken) : outcome(&taken, good);
}

#define METHOD(name, text) {#name, (PyCFunction)(void (*)(void))py_##name, METH_FASTCALL, text}

static PyMethodDef methods[] = {
    METHOD(scan, "Read whole lines of a run or qrels into columns; return whether they are clean."),
    METHOD(hash_ids, "Fill the hashes of ids, as `scan` computes them."),
    METHOD(numbers, "Parse decimal numbers; return whether all are finite numbers."),
    METHOD(fill_slots, "Fill a table of judged documents per query; return the first repeated row or -1."),
    METHOD(match, "Set the qrels row of every document; return whether no list has a document twice."),
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots_of_module[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "list_kernel", "Ranked lists of TREC text, and their join with judgments.", 0,
    methods, slots_of_module, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_list_kernel(void) { return PyModuleDef_Init(&module); }
