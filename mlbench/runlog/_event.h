/* Tells clean events of a log from all others, without making objects of them.

   Every function that walks returns where its part ends, or NULL for whatever is unusual: an
   escape by number, a byte outside ASCII, a number of odd size, a second "key". NULL does not mean
   that the event is wrong; it means that this code does not judge it. */

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef const unsigned char *Bytes;

#define TOKEN ":::MLLOG"
#define TOKEN_SIZE 8
#define MOST_DEPTH 16
#define MOST_DIGITS 18 /* fits 64 bits, so that no decoder rounds or refuses it */

/* Where the bytes end. They are a bytes object, so that *limit is a 0, which ends every loop over
   characters that must be there: only reads of several bytes at once have to mind the limit. */
typedef struct {
    Bytes begin, limit;
} Text;

typedef struct {
    Bytes begin, end;
} Span;

/* The top-level members that matter, and how often each was there; more often than once stands
   for another type than the reader expects too. */
typedef struct {
    Span key, time, value, metadata;
    int keys, times, values, metadatas;
} Members;

/* ---- tokens ---- */

static int is_token(Text text, Bytes at) {
    return text.limit - at >= TOKEN_SIZE && memcmp(at, TOKEN, TOKEN_SIZE) == 0;
}

/* Return the first token from here on, or NULL. */
static Bytes next_token(Text text, Bytes at) {
#if defined(__SSE2__)
    /* 16 places at once, by the token's third and last byte, which are rarely so far apart. */
    const __m128i third = _mm_set1_epi8(':'), last = _mm_set1_epi8('G');
    for (; text.limit - at >= 16 + TOKEN_SIZE; at += 16) {
        __m128i thirds = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(at + 2)), third);
        __m128i lasts = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(at + 7)), last);
        unsigned both = (unsigned)_mm_movemask_epi8(_mm_and_si128(thirds, lasts));
        for (; both; both &= both - 1) {
            Bytes place = at + __builtin_ctz(both);
            if (memcmp(place, TOKEN, TOKEN_SIZE) == 0)
                return place;
        }
    }
#endif
    while (text.limit - at >= TOKEN_SIZE) {
        at = memchr(at, ':', (size_t)(text.limit - at));
        if (at == NULL || is_token(text, at))
            return at;
        at++;
    }
    return NULL;
}

/* ---- JSON ---- */

static Bytes blanks_end(Bytes at) {
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

#if defined(__SSE2__)
/* Return a bit for each of the next 16 characters that a string may not simply go on over. */
static inline unsigned stops(Bytes at) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)at);
    __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    __m128i escapes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    __m128i colons = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(':'));
    /* As signed numbers, bytes outside ASCII are below a space too. */
    __m128i others = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
    return (unsigned)_mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(quotes, escapes), _mm_or_si128(colons, others)));
}
#endif

static Bytes plain_end(Text text, Bytes at) {
    (void)text;
#if defined(__SSE2__)
    for (; text.limit - at >= 16; at += 16) {
        unsigned found = stops(at);
        if (found)
            return at + __builtin_ctz(found);
    }
#endif
    while (*at >= ' ' && *at < 0x80 && *at != '"' && *at != '\\' && *at != ':')
        at++;
    return at;
}

static Bytes unusual_string_end(Text text, Bytes at) {
    for (;;) {
        at = plain_end(text, at);
        if (*at == '"')
            return at;
        if (*at == ':') { /* The reader ends an event at the next token, wherever that is. */
            if (is_token(text, at))
                return NULL;
            at++;
        } else if (*at == '\\' && at[1] != '\0' && strchr("\"\\/bfnrt", at[1])) {
            at += 2;
        } else {
            return NULL;
        }
    }
}

/* From behind the opening quote to the closing one; most strings are short and plain. */
static inline Bytes string_end(Text text, Bytes at) {
#if defined(__SSE2__)
    if (text.limit - at >= 16) {
        unsigned found = stops(at);
        Bytes stop = at + (found ? __builtin_ctz(found) : 16);
        if (found && *stop == '"')
            return stop;
        at = stop;
    }
#endif
    return unusual_string_end(text, at);
}

static Bytes digits_end(Bytes at, int most) {
    Bytes begin = at;
    while (*at >= '0' && *at <= '9')
        at++;
    return at > begin && at - begin <= most ? at : NULL;
}

static Bytes number_end(Bytes at) {
    if (*at == '-')
        at++;
    int leads_with_zero = *at == '0';
    Bytes begin = at;
    at = digits_end(at, MOST_DIGITS);
    if (at == NULL || (leads_with_zero && at > begin + 1))
        return NULL;
    if (*at == '.' && (at = digits_end(at + 1, 2 * MOST_DIGITS)) == NULL)
        return NULL;
    if (*at == 'e' || *at == 'E') {
        at++;
        if (*at == '+' || *at == '-')
            at++;
        at = digits_end(at, 2);
    }
    return at;
}

static Bytes word_end(Text text, Bytes at) {
    if (text.limit - at >= 5) {
        if (memcmp(at, "null", 4) == 0 || memcmp(at, "true", 4) == 0)
            return at + 4;
        if (memcmp(at, "false", 5) == 0)
            return at + 5;
    }
    return NULL;
}

static Bytes object_end(Text text, Bytes at, int depth, Members *members);

static Bytes array_end(Text text, Bytes at, int depth);

static Bytes value_end(Text text, Bytes at, int depth) {
    switch (*at) {
    case '"':
        at = string_end(text, at + 1);
        return at ? at + 1 : NULL;
    case '{':
        return object_end(text, at + 1, depth + 1, NULL);
    case '[':
        return array_end(text, at + 1, depth + 1);
    case 'n':
    case 't':
    case 'f':
        return word_end(text, at);
    default:
        return number_end(at);
    }
}

/* From behind the bracket that opens an array to behind the one that closes it. */
static Bytes array_end(Text text, Bytes at, int depth) {
    if (depth > MOST_DEPTH)
        return NULL;
    at = blanks_end(at);
    if (*at == ']')
        return at + 1;
    for (;;) {
        at = value_end(text, blanks_end(at), depth);
        if (at == NULL)
            return NULL;
        at = blanks_end(at);
        if (*at == ']')
            return at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

static void note_member(Members *members, Span name, Span value) {
    size_t size = (size_t)(name.end - name.begin);
    if (size == 3 && memcmp(name.begin, "key", 3) == 0) {
        members->keys += *value.begin == '"' ? 1 : 2;
        members->key = (Span){value.begin + 1, value.end - 1};
    } else if (size == 7 && memcmp(name.begin, "time_ms", 7) == 0) {
        members->times += strchr("\"{[ntf", *value.begin) ? 2 : 1;
        members->time = value;
    } else if (size == 5 && memcmp(name.begin, "value", 5) == 0) {
        members->values++;
        members->value = value;
    } else if (size == 8 && memcmp(name.begin, "metadata", 8) == 0) {
        members->metadatas += *value.begin == '{' ? 1 : 2;
        members->metadata = value;
    }
}

/* The same for an object. A name with an escape is none of those that matter: no character of
   theirs has a short escape, and others are unusual. */
static Bytes object_end(Text text, Bytes at, int depth, Members *members) {
    if (depth > MOST_DEPTH)
        return NULL;
    at = blanks_end(at);
    if (*at == '}')
        return at + 1;
    for (;;) {
        at = blanks_end(at);
        if (*at++ != '"')
            return NULL;
        Span name = {at, string_end(text, at)};
        at = name.end;
        if (at == NULL)
            return NULL;
        at = blanks_end(at + 1);
        if (*at++ != ':')
            return NULL;
        Span value = {blanks_end(at), NULL};
        value.end = at = value_end(text, value.begin, depth);
        if (at == NULL)
            return NULL;
        if (members)
            note_member(members, name, value);
        at = blanks_end(at);
        if (*at == '}')
            return at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

/* ---- events ---- */

#define STARTS_WITH(at, text) (memcmp(at, text, sizeof text - 1) == 0)

/* Walk over what mlperf-logging writes first, in its order and spacing: a name is compared once
   instead of being read and then told from others. Return where the rest of the members begin,
   which is where the members do if there is anything else. */
static Bytes usual_begin(Text text, Bytes members_begin, Members *members) {
    Bytes at = members_begin;
    if (text.limit - at < 256 || !STARTS_WITH(at, "\"namespace\": \"\", \"time_ms\": "))
        return members_begin;
    Span time = {at + 28, number_end(at + 28)};
    if (time.end == NULL || !STARTS_WITH(time.end, ", \"event_type\": \""))
        return members_begin;
    at = string_end(text, time.end + 17);
    if (at == NULL || text.limit - at < 128 || !STARTS_WITH(at, "\", \"key\": \""))
        return members_begin;
    Span key = {at + 11, string_end(text, at + 11)};
    if (key.end == NULL || text.limit - key.end < 16 || !STARTS_WITH(key.end, "\", \"value\": "))
        return members_begin;
    members->keys = members->times = 1;
    members->key = key;
    members->time = time;
    return key.end + 3; /* At the name of the value, so that it is no empty object. */
}

/* Return where the event behind a token ends, NULL if the reader has to look at it. */
static Bytes event_end(Text text, Bytes at, Members *members) {
    at = blanks_end(at);
    if (*at != '{')
        return NULL;
    at = object_end(text, usual_begin(text, at + 1, members), 1, members);
    if (at == NULL || members->keys != 1 || members->times != 1 || members->values != 1 ||
        members->metadatas != 1)
        return NULL;
    if (memchr(members->key.begin, '\\', (size_t)(members->key.end - members->key.begin)))
        return NULL;
    while (*at == ' ' || *at == '\t' || *at == '\r')
        at++;
    return *at == '\n' || at == text.limit || is_token(text, at) ? at : NULL;
}
