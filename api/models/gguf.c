/* The head of a GGUF file: "GGUF", the version, the number of tensors and of pairs, the pairs,
 * the tensors' descriptions, and after an aligned gap the tensors' bytes. All integers are
 * little-endian. Nothing is trusted: every count is held against the bytes that are there. */
#include "models/gguf.h"

#include "bytes/memory_budget.h"
#include "http/arguments.h"

#include <string.h>

enum {
    KEY_MOST = 256,     /* bytes of a key or a tensor's name that is kept */
    TEXT_MOST = 1024,   /* … of a text */
    LIST_MOST = 8192,   /* numbers of a list that is kept … */
    LISTS_MOST = 65536, /* … and of all lists together */
    PAIRS_MOST = 65536, /* pairs and tensors that are read */
    AXES_MOST = 8
};

/* Bytes that a pair takes in the metadata and in the config that is made of them, and a number
 * of a list. Keys are copied twice. A pair has a length, a type and a value at least. */
#define OF_PAIR    640
#define OF_NUMBER  64
#define PAIR_LEAST 13

typedef enum gguf_type {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_TEXT,
    GGUF_LIST,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_TYPES
} gguf_type;

static const uint8_t SIZES[GGUF_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* What is read, and how far. */
typedef struct reader {
    const unsigned char *bytes;
    size_t size, at, listed; /* `listed` numbers are kept in lists */
    bool is_short;           /* the bytes have ended */
    bool is_broken;          /* this is no GGUF file, or there is an error */
    pe_error *error;
} reader;

/* Reserve memory; false if there is none. */
static bool reserve_memory(reader *from, uint64_t bytes)
{
    from->is_broken |= !api_reserve(bytes, "the body", from->error);
    return !from->is_broken;
}

static const unsigned char *take_bytes(reader *from, uint64_t size)
{
    if (from->is_short || from->is_broken || size > from->size - from->at) {
        from->is_short = true;
        return NULL;
    }
    const unsigned char *taken = from->bytes + from->at;
    from->at += (size_t)size;
    return taken;
}

static uint64_t take_integer(reader *from, size_t size)
{
    const unsigned char *bytes = take_bytes(from, size);
    uint64_t value = 0;
    for (size_t i = 0; bytes && i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

/* A text as long as it says; ret_size is its size. NULL if the bytes have ended. */
static const char *take_text(reader *from, size_t *ret_size)
{
    uint64_t size = take_integer(from, 8);
    const char *text = (const char *)take_bytes(from, size);
    *ret_size = text ? (size_t)size : 0;
    return text;
}

static double decode_number(uint64_t bits, gguf_type type)
{
    float f32;
    double f64;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case GGUF_I8:
        return (int8_t)bits;
    case GGUF_I16:
        return (int16_t)bits;
    case GGUF_I32:
        return (int32_t)low;
    case GGUF_I64:
        return (double)(int64_t)bits;
    case GGUF_F32:
        memcpy(&f32, &low, sizeof f32);
        return (double)f32;
    case GGUF_F64:
        memcpy(&f64, &bits, sizeof f64);
        return f64;
    default:
        return (double)bits;
    }
}

/* A number, null where JSON has none. */
static json_t *take_number(reader *from, gguf_type type)
{
    uint64_t bits = take_integer(from, SIZES[type]);
    if (from->is_short)
        return NULL;
    if (type == GGUF_BOOL)
        return json_boolean(bits != 0);
    json_t *number = json_real(decode_number(bits, type));
    return number ? number : json_null();
}

/* A list: of numbers, if there are not too many; else null. */
static json_t *take_list(reader *from)
{
    uint64_t type = take_integer(from, 4), count = take_integer(from, 8);
    size_t size;
    from->is_broken |= type >= GGUF_TYPES || type == GGUF_LIST;
    if (from->is_short || from->is_broken)
        return NULL;
    if (type == GGUF_TEXT) {
        for (uint64_t i = 0; i < count && take_text(from, &size); i++)
            ;
        return from->is_short ? NULL : json_null();
    }
    if (count > LIST_MOST || from->listed + count > LISTS_MOST)
        return take_bytes(from, count > from->size ? UINT64_MAX : count * SIZES[type])
                   ? json_null()
                   : NULL;
    from->listed += count;
    if (!reserve_memory(from, OF_NUMBER * count))
        return NULL;
    json_t *list = json_array();
    for (uint64_t i = 0; i < count && !from->is_short; i++)
        json_array_append_new(list, take_number(from, (gguf_type)type));
    return list;
}

static json_t *take_value(reader *from)
{
    uint64_t type = take_integer(from, 4);
    size_t size;
    from->is_broken |= type >= GGUF_TYPES;
    if (from->is_short || from->is_broken)
        return NULL;
    if (type == GGUF_LIST)
        return take_list(from);
    if (type != GGUF_TEXT)
        return take_number(from, (gguf_type)type);
    const char *text = take_text(from, &size);
    if (!text)
        return NULL;
    if (size > TEXT_MOST || !api_is_utf8(text, size))
        return json_null();
    return reserve_memory(from, size) ? json_stringn(text, size) : NULL;
}

static bool is_kept(const char *key, size_t size)
{
    static const char tokenizer[] = "tokenizer.";
    return size <= KEY_MOST && api_is_utf8(key, size) && !memchr(key, '\0', size) &&
           (size < sizeof tokenizer || memcmp(key, tokenizer, sizeof tokenizer - 1) != 0);
}

static void read_pairs(reader *from, uint64_t count, json_t *metadata)
{
    for (uint64_t i = 0; i < count && !from->is_short && !from->is_broken; i++) {
        size_t size;
        char name[KEY_MOST + 1] = "";
        const char *key = take_text(from, &size);
        const bool kept = key && is_kept(key, size);
        if (kept && !reserve_memory(from, 2 * size))
            return;
        json_t *value = key ? take_value(from) : NULL;
        if (value && kept) {
            memcpy(name, key, size);
            json_object_set_new(metadata, name, value);
        } else {
            json_decref(value);
        }
    }
}

/* ---- tensors of rotary factors ---- */

typedef struct factors {
    const char *name;
    uint64_t count, offset;
    bool is_there;
} factors;

static void read_tensor(reader *from, factors *wanted, size_t wanted_count)
{
    size_t size;
    const char *name = take_text(from, &size);
    uint64_t axes = take_integer(from, 4), count = 1;
    from->is_broken |= !from->is_short && axes > AXES_MOST;
    for (uint64_t i = 0; i < axes && !from->is_broken; i++) {
        uint64_t extent = take_integer(from, 8);
        count = extent <= LIST_MOST && count <= LIST_MOST ? count * extent : UINT64_MAX;
    }
    uint64_t type = take_integer(from, 4), offset = take_integer(from, 8);
    if (from->is_short || from->is_broken)
        return;
    for (size_t i = 0; i < wanted_count; i++)
        if (strlen(wanted[i].name) == size && memcmp(name, wanted[i].name, size) == 0) {
            wanted[i].is_there = true;
            wanted[i].count = type == 0 && count <= LIST_MOST ? count : 0; /* type 0: f32 */
            wanted[i].offset = offset;
        }
}

/* The numbers of a tensor as a list, null where the bytes end before them. */
static json_t *list_factors(const reader *head, const factors *wanted, uint64_t alignment)
{
    uint64_t begin = (head->at + alignment - 1) / alignment * alignment;
    reader from = *head;
    if (wanted->count == 0 || begin > head->size || wanted->offset > head->size - begin)
        return json_null();
    from.at = (size_t)(begin + wanted->offset);
    if (!reserve_memory(&from, OF_NUMBER * wanted->count))
        return json_null();
    json_t *list = json_array();
    for (uint64_t i = 0; i < wanted->count && !from.is_short; i++)
        json_array_append_new(list, take_number(&from, GGUF_F32));
    if (!from.is_short)
        return list;
    json_decref(list);
    return json_null();
}

static void read_tensors(reader *from, uint64_t count, json_t *metadata)
{
    factors wanted[] = {{.name = "rope_freqs.weight"},
                        {.name = "rope_factors_long.weight"},
                        {.name = "rope_factors_short.weight"}};
    size_t wanted_count = sizeof wanted / sizeof *wanted;
    double stated = json_number_value(json_object_get(metadata, "general.alignment"));
    uint64_t alignment = stated >= 1 && stated <= 65536 ? (uint64_t)stated : 32;
    for (uint64_t i = 0; i < count && !from->is_short && !from->is_broken; i++)
        read_tensor(from, wanted, wanted_count);
    if (from->is_broken)
        return;
    for (size_t i = 0; i < wanted_count; i++)
        if (wanted[i].is_there)
            json_object_set_new(metadata, wanted[i].name,
                                from->is_short ? json_null()
                                               : list_factors(from, &wanted[i], alignment));
}

/* ---- the whole head ---- */

bool api_gguf_begins(const char *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "GGUF", 4) == 0;
}

static json_t *refuse_file(json_t *metadata, pe_error *reterr, const char *given,
                           const char *rule)
{
    pe_error_add(reterr, PE_MALFORMED, "body", given, "%s", rule);
    json_decref(metadata);
    return NULL;
}

json_t *api_gguf_read(const char *bytes, size_t size, pe_error *reterr)
{
    reader from = {
        .bytes = (const unsigned char *)bytes, .size = size, .at = 4, .error = reterr};
    uint64_t version = take_integer(&from, 4);
    size_t width = version == 1 ? 4 : 8;
    if (from.is_short || version < 1 || version > 3)
        return refuse_file(NULL, reterr, "", "a GGUF file of version 1, 2 or 3, little-endian");
    uint64_t tensors = take_integer(&from, width), pairs = take_integer(&from, width);
    if (version == 1)
        return refuse_file(NULL, reterr, "version 1", "a GGUF file of version 2 or 3");
    if (pairs > PAIRS_MOST || tensors > PAIRS_MOST)
        return refuse_file(NULL, reterr, "",
                           "a GGUF file of at most 65536 pairs of metadata and 65536 tensors");
    if (!reserve_memory(&from,
                        OF_PAIR * (pairs < size / PAIR_LEAST ? pairs : size / PAIR_LEAST)))
        return NULL;
    json_t *metadata = json_object();
    read_pairs(&from, pairs, metadata);
    read_tensors(&from, tensors, metadata);
    if (reterr->count > 0) {
        json_decref(metadata);
        return NULL;
    }
    if (from.is_broken)
        return refuse_file(metadata, reterr, "", "a GGUF file whose head can be read");
    json_object_set_new(metadata, "cut", json_boolean(from.is_short));
    return metadata;
}
