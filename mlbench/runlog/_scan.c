/* Finds the clean events of a log.

   The reader in Python (read.py) is what decides: this code may only vouch for an event of which
   that reader would make the same thing without a word, and hands it the offsets of all others.
   It makes no objects on the way, so that the interpreter's lock is free while it walks. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdlib.h>

#include "_event.h"

#define NUM_SLOTS 256 /* of the table of keys; a power of two */

typedef struct {
    int64_t *items;
    size_t size, room;
} Numbers;

typedef struct {
    const char *name;
    size_t size;
    Numbers spans; /* begin and end in the bytes, offset in the file, of each event in turn */
} Key;

typedef struct {
    Key *keys;
    size_t num_keys;
    uint16_t slots[NUM_SLOTS]; /* number of a key plus 1, or 0 */
    Numbers looks;             /* tokens of events that are not vouched for */
    int64_t num_vouched;
    int has_stray; /* whether something like an event stands where no vouched one does */
    int out_of_memory;
} Found;

static void append(Numbers *numbers, int64_t number, int *out_of_memory) {
    if (numbers->size == numbers->room) {
        size_t room = numbers->room ? 2 * numbers->room : 16;
        int64_t *items = realloc(numbers->items, room * sizeof *items);
        if (items == NULL) {
            *out_of_memory = 1;
            return;
        }
        numbers->items = items;
        numbers->room = room;
    }
    numbers->items[numbers->size++] = number;
}

/* ---- keys ---- */

static size_t slot_of(const void *name, size_t size) {
    Bytes bytes = name;
    if (size == 0)
        return 0;
    size_t hash = size + 31u * bytes[0] + 7u * bytes[size / 2] + 3u * bytes[size - 1];
    return hash & (NUM_SLOTS - 1);
}

static void enter_key(Found *found, size_t number) {
    Key *key = &found->keys[number];
    size_t slot = slot_of(key->name, key->size);
    while (found->slots[slot])
        slot = (slot + 1) & (NUM_SLOTS - 1);
    found->slots[slot] = (uint16_t)(number + 1);
}

static Key *wanted_key(const Found *found, Span span) {
    Bytes name = span.begin;
    size_t size = (size_t)(span.end - name);
    for (size_t slot = slot_of(name, size); found->slots[slot];
         slot = (slot + 1) & (NUM_SLOTS - 1)) {
        Key *key = &found->keys[found->slots[slot] - 1];
        if (key->size == size && memcmp(key->name, name, size) == 0)
            return key;
    }
    return NULL;
}

/* ---- events ---- */

/* Whether a shell may have printed the line: the reader decides behind any plus sign. */
static int may_be_trace(Bytes line, Bytes token) {
    return memchr(line, '+', (size_t)(token - line)) != NULL;
}

static Bytes line_begin(Bytes known, Bytes token) {
    for (Bytes at = token; at > known; at--)
        if (at[-1] == '\n')
            return at;
    return known;
}

/* Whether the time of an event stands in some bytes: one without a whole token has one too. */
static int has_time(Bytes at, Bytes end) {
    static const char first[] = "\"time_ms\"", second[] = "\"time_s\"";
    const ptrdiff_t size = sizeof second - 1;
    while (end - at >= size && (at = memchr(at, '"', (size_t)(end - at))) && end - at >= size) {
        if (memcmp(at, second, (size_t)size) == 0)
            return 1;
        if (end - at > size && memcmp(at, first, (size_t)size + 1) == 0)
            return 1;
        at++;
    }
    return 0;
}

static void walk(Text text, int64_t base, Found *found) {
    Bytes line = text.begin, token = next_token(text, text.begin), walked = text.begin;
    for (; token && !found->out_of_memory; token = next_token(text, walked)) {
        Members members;
        memset(&members, 0, sizeof members);
        Bytes begin = line_begin(walked, token);
        found->has_stray = found->has_stray || has_time(walked, token);
        /* Without the end of a line since the last event, the line is still that one's. */
        line = begin > walked ? begin : line;
        Bytes end = NULL;
        if (line == token || !may_be_trace(line, token))
            end = event_end(text, token + TOKEN_SIZE, &members);
        walked = end ? end : token + TOKEN_SIZE;
        if (end == NULL) {
            append(&found->looks, token - text.begin, &found->out_of_memory);
            continue;
        }
        found->num_vouched++;
        Key *key = wanted_key(found, members.key);
        if (key) {
            append(&key->spans, token + TOKEN_SIZE - text.begin, &found->out_of_memory);
            append(&key->spans, end - text.begin, &found->out_of_memory);
            append(&key->spans, base + (token - text.begin), &found->out_of_memory);
        }
    }
    found->has_stray = found->has_stray || has_time(walked, text.limit);
}

/* ---- records ---- */

static char *put(char *to, Span span, char end) {
    size_t size = (size_t)(span.end - span.begin);
    memcpy(to, span.begin, size);
    to[size] = end;
    return to + size + 1;
}

static char *put_number(char *to, int64_t number) {
    char digits[20], *first = digits + sizeof digits;
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    size_t size = (size_t)(digits + sizeof digits - first);
    memcpy(to, first, size);
    return to + size;
}

#define RECORD_ROOM 32 /* for an offset, brackets and commas */

/* Write [offset, time_ms, value, metadata] of an event; return where it ends, NULL if it is none.
   All but the offset is shorter than the event. */
static char *put_record(char *to, Text text, const int64_t *span) {
    Members members;
    memset(&members, 0, sizeof members);
    if (span[0] < 0 || span[0] >= text.limit - text.begin || span[2] < 0 ||
        event_end(text, text.begin + span[0], &members) != text.begin + span[1])
        return NULL;
    *to++ = '[';
    to = put_number(to, span[2]);
    *to++ = ',';
    to = put(to, members.time, ',');
    to = put(to, members.value, ',');
    return put(to, members.metadata, ']');
}

/* ---- Python ---- */

static PyObject *packed(const Numbers *numbers) {
    return PyBytes_FromStringAndSize((const char *)numbers->items,
                                     (Py_ssize_t)(numbers->size * sizeof *numbers->items));
}

static PyObject *result_of(const Found *found) {
    PyObject *spans = PyDict_New();
    for (size_t n = 0; spans && n < found->num_keys; n++) {
        const Key *key = &found->keys[n];
        if (!key->spans.size)
            continue;
        PyObject *bytes = packed(&key->spans);
        if (bytes == NULL || PyDict_SetItemString(spans, key->name, bytes) < 0)
            Py_CLEAR(spans);
        Py_XDECREF(bytes);
    }
    PyObject *looks = spans ? packed(&found->looks) : NULL;
    if (looks == NULL) {
        Py_XDECREF(spans);
        return NULL;
    }
    PyObject *has_stray = PyBool_FromLong(found->has_stray);
    return Py_BuildValue("(LNNN)", (long long)found->num_vouched, spans, looks, has_stray);
}

/* The names stay those of the tuple's strings, which the caller holds. */
static int enter_keys(Found *found, PyObject *names) {
    Py_ssize_t count = PyTuple_Size(names);
    if (count < 0)
        return -1;
    if (count > NUM_SLOTS / 2) {
        PyErr_Format(PyExc_ValueError, "more than %d keys", NUM_SLOTS / 2);
        return -1;
    }
    found->keys = calloc((size_t)count + 1, sizeof *found->keys);
    if (found->keys == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t n = 0; n < count; n++) {
        Py_ssize_t size = 0;
        const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, n), &size);
        if (name == NULL)
            return -1;
        found->keys[n].name = name;
        found->keys[n].size = (size_t)size;
        found->num_keys++;
        enter_key(found, (size_t)n);
    }
    return 0;
}

static PyObject *scan(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *data, *names, *result = NULL;
    long long base;
    Found found;
    memset(&found, 0, sizeof found);
    if (!PyArg_ParseTuple(args, "SO!L:scan", &data, &PyTuple_Type, &names, &base))
        return NULL;
    if (enter_keys(&found, names) == 0) {
        Bytes begin = (Bytes)PyBytes_AsString(data);
        Text text = {begin, begin + PyBytes_Size(data)};
        Py_BEGIN_ALLOW_THREADS
        walk(text, base, &found);
        Py_END_ALLOW_THREADS
        result = found.out_of_memory ? PyErr_NoMemory() : result_of(&found);
    }
    for (size_t n = 0; n < found.num_keys; n++)
        free(found.keys[n].spans.items);
    free(found.keys);
    free(found.looks.items);
    return result;
}

static PyObject *records(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *data, *result = NULL;
    const char *packed_spans;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "Sy#:records", &data, &packed_spans, &size))
        return NULL;
    Bytes begin = (Bytes)PyBytes_AsString(data);
    Text text = {begin, begin + PyBytes_Size(data)};
    size_t count = (size_t)size / (3 * sizeof(int64_t)), room = 2;
    int64_t span[3];
    for (size_t n = 0; n < count; n++) {
        memcpy(span, packed_spans + n * sizeof span, sizeof span);
        room += RECORD_ROOM + (size_t)(span[1] > span[0] ? span[1] - span[0] : 0);
    }
    char *bytes = malloc(room), *to = bytes;
    if (bytes == NULL)
        return PyErr_NoMemory();
    *to++ = '[';
    for (size_t n = 0; to && n < count; n++) {
        memcpy(span, packed_spans + n * sizeof span, sizeof span);
        if (n)
            *to++ = ',';
        to = put_record(to, text, span);
    }
    if (to) {
        *to++ = ']';
        result = PyBytes_FromStringAndSize(bytes, to - bytes);
    } else {
        PyErr_SetString(PyExc_ValueError, "spans are not those of a scan of these bytes");
    }
    free(bytes);
    return result;
}

static PyMethodDef methods[] = {
    {"scan", scan, METH_VARARGS,
     "scan(data: bytes, keys: tuple[str, ...], base: int)\n"
     "    -> tuple[int, dict[str, bytes], bytes, bool]\n"
     "\nCount the events that need no repair; return where those of each key begin and end, with\n"
     "their offset plus base, the tokens of all events that have to be looked at, and whether there\n"
     "may be events without a token. All numbers are packed as int64."},
    {"records", records, METH_VARARGS,
     "records(data: bytes, spans: bytes) -> bytes\n\n"
     "Return the events at the spans that a scan found as a JSON array of\n"
     "[offset, time_ms, value, metadata]."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_scan", "Vouches for the clean events of a log.", 0, methods, slots,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__scan(void) { return PyModuleDef_Init(&definition); }
