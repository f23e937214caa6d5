/* npy files: a magic string, a version, the length of a header, a Python dictionary as text,
 * the elements (NumPy Enhancement Proposal 1). The text is read by a grammar of what numpy
 * writes, and nothing in it is evaluated. */
#include "files/table_view.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRELUDE    12 /* magic, version, and a length of 4 bytes; of 2 in version 1 */
#define HEADER_MAX 65536

/* ---- the header's text ---- */

typedef struct npy_reader {
    const char *at, *end;
} npy_reader;

static void skip_blanks(npy_reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n'))
        reader->at++;
}

/* Take a character after blanks; false if another one comes. */
static bool take_character(npy_reader *reader, char wanted)
{
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

static bool take_word(npy_reader *reader, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(reader);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

/* Take a string in quotes, of printable ASCII without escapes. */
static bool take_string(npy_reader *reader, char *dst, size_t room)
{
    size_t used = 0;
    skip_blanks(reader);
    if (reader->at == reader->end || (*reader->at != '\'' && *reader->at != '"'))
        return false;
    char quote = *reader->at++;
    while (reader->at < reader->end && *reader->at >= ' ' && *reader->at <= '~' &&
           *reader->at != quote && *reader->at != '\\' && used + 1 < room)
        dst[used++] = *reader->at++;
    dst[used] = '\0';
    return take_character(reader, quote);
}

/* Take a decimal integer, which may end in the L of Python 2. */
static bool take_integer(npy_reader *reader, uint64_t *ret_integer)
{
    uint64_t integer = 0;
    skip_blanks(reader);
    const char *first = reader->at;
    for (; reader->at < reader->end && isdigit((unsigned char)*reader->at); reader->at++)
        if (__builtin_mul_overflow(integer, 10u, &integer) ||
            __builtin_add_overflow(integer, (unsigned)(*reader->at - '0'), &integer))
            return false;
    if (reader->at == first)
        return false;
    (void)take_character(reader, 'L');
    *ret_integer = integer;
    return true;
}

/* ---- element types ---- */

static const struct {
    const char *code; /* after the byte order */
    pe_element element;
    bool complex;
} TYPES[] = {
    {"f2", PE_ELEMENT_F16, false}, {"f4", PE_ELEMENT_F32, false},
    {"f8", PE_ELEMENT_F64, false}, {"c8", PE_ELEMENT_F32, true},
    {"c16", PE_ELEMENT_F64, true}, {"i1", PE_ELEMENT_I8, false},
    {"i2", PE_ELEMENT_I16, false}, {"i4", PE_ELEMENT_I32, false},
    {"i8", PE_ELEMENT_I64, false}, {"u1", PE_ELEMENT_U8, false},
    {"u2", PE_ELEMENT_U16, false}, {"u4", PE_ELEMENT_U32, false},
    {"u8", PE_ELEMENT_U64, false}, {"b1", PE_ELEMENT_BOOL, false},
};

/* What the dictionary says. */
typedef struct npy_header {
    bool has_type, has_order, has_shape;
    char type[16];
    bool fortran;
    size_t rank;
    uint64_t shape[PE_VIEW_RANK_MAX];
} npy_header;

/* Make the view of the type and shape. */
static bool make_view(const api_file *file, const npy_header *header, pe_view *ret_view,
                      pe_error *reterr)
{
    size_t type = 0;
    char order = header->type[0];
    while (type < sizeof TYPES / sizeof *TYPES &&
           strcmp(TYPES[type].code, order ? header->type + 1 : "") != 0)
        type++;
    if (type == sizeof TYPES / sizeof *TYPES || !strchr("<>|=", order)) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dtype", header->type,
                     "of numbers: floats, integers, booleans or complex numbers (bfloat16 has "
                     "no npy dtype: send safetensors)");
        return false;
    }
    *ret_view = api_table_view(file, TYPES[type].element, order != '>');
    for (size_t i = 0; i < header->rank; i++)
        if (!api_table_add_axis(ret_view, header->shape[i], reterr))
            return false;
    pe_view_set_row_major(ret_view);
    uint64_t stride = 1;
    for (size_t i = 0; header->fortran && i < header->rank; i++) {
        ret_view->strides[i] = stride;
        stride *= header->shape[i];
    }
    if (!TYPES[type].complex)
        return true;
    for (size_t i = 0; i < ret_view->rank; i++)
        ret_view->strides[i] *= 2;
    if (!api_table_add_axis(ret_view, 2, reterr))
        return false;
    ret_view->strides[ret_view->rank - 1] = 1;
    ret_view->is_complex = true;
    return true;
}

/* ---- the dictionary ---- */

/* Read a tuple of integers. */
static bool read_shape(npy_reader *reader, npy_header *header, pe_error *reterr)
{
    if (!take_character(reader, '('))
        return false;
    while (!take_character(reader, ')')) {
        if (header->rank == PE_VIEW_RANK_MAX) {
            pe_error_add(reterr, PE_OUT_OF_RANGE, "shape", "", "a shape of at most %d axes",
                         PE_VIEW_RANK_MAX);
            return false;
        }
        if (!take_integer(reader, &header->shape[header->rank++]))
            return false;
        if (!take_character(reader, ','))
            return take_character(reader, ')');
    }
    return true;
}

/* Read a member; false if it is none of the three, comes twice or is of another kind. */
static bool read_member(npy_reader *reader, npy_header *header, pe_error *reterr)
{
    char name[16];
    if (!take_string(reader, name, sizeof name) || !take_character(reader, ':'))
        return false;
    if (strcmp(name, "descr") == 0 && !header->has_type) {
        header->has_type = true;
        skip_blanks(reader);
        if (reader->at < reader->end && *reader->at == '[')
            return api_table_refuse(reterr, PE_OUT_OF_RANGE, "dtype", "a structure",
                                    "of plain numbers, without fields");
        return take_string(reader, header->type, sizeof header->type);
    }
    if (strcmp(name, "fortran_order") == 0 && !header->has_order) {
        header->has_order = true;
        header->fortran = take_word(reader, "True");
        return header->fortran || take_word(reader, "False");
    }
    if (strcmp(name, "shape") != 0 || header->has_shape)
        return false;
    header->has_shape = true;
    return read_shape(reader, header, reterr);
}

static bool read_dictionary(npy_reader *reader, npy_header *header, pe_error *reterr)
{
    bool good = take_character(reader, '{');
    while (good && !take_character(reader, '}')) {
        good = read_member(reader, header, reterr);
        if (good && !take_character(reader, ',')) {
            good = take_character(reader, '}');
            break;
        }
    }
    skip_blanks(reader);
    if (good && reader->at == reader->end && header->has_type && header->has_order &&
        header->has_shape)
        return true;
    if (reterr->count == 0)
        api_table_refuse(reterr, PE_MALFORMED, "file header", "",
                         "a dictionary of 'descr', 'fortran_order' and 'shape', as numpy.save "
                         "writes it");
    return false;
}

/* ---- the file ---- */

/* Read the prelude. *ret_length is the header's length, *ret_first its place. */
static bool read_prelude(const api_file *file, uint32_t *ret_length, size_t *ret_first,
                         pe_error *reterr)
{
    unsigned char prelude[PRELUDE];
    static const char magic[] = "\x93NUMPY";
    if (file->size == 0)
        return api_table_refuse(reterr, PE_MALFORMED, "body", "",
                                "an npy file; the body is empty");
    if (file->size < PRELUDE || !file->read(file->context, 0, prelude, PRELUDE) ||
        memcmp(prelude, magic, sizeof magic - 1) != 0)
        return api_table_refuse(reterr, PE_MALFORMED, "body", "",
                                "an npy file, which begins with \\x93NUMPY");
    if (prelude[6] < 1 || prelude[6] > 3 || prelude[7] != 0)
        return api_table_refuse(reterr, PE_MALFORMED, "body", "",
                                "an npy file of version 1.0, 2.0 or 3.0");
    *ret_length = prelude[8] | (uint32_t)prelude[9] << 8;
    if (prelude[6] > 1)
        *ret_length |= (uint32_t)prelude[10] << 16 | (uint32_t)prelude[11] << 24;
    *ret_first = prelude[6] == 1 ? 10 : 12;
    if (*ret_length <= HEADER_MAX && *ret_length <= file->size - *ret_first)
        return true;
    pe_error_add(reterr, PE_MALFORMED, "file header", "",
                 "within the file and at most %d bytes long", HEADER_MAX);
    return false;
}

bool api_npy_view(const api_file *file, pe_view *ret_view, pe_error *reterr)
{
    uint32_t length = 0;
    size_t first = 0;
    if (!read_prelude(file, &length, &first, reterr))
        return false;
    char *text = malloc((size_t)length + 1);
    if (!text)
        return api_table_refuse(reterr, PE_NO_MEMORY, "", "", "memory for the header");
    npy_header header = {0};
    npy_reader reader = {text, text + length};
    bool good = file->read(file->context, first, text, length);
    if (!good)
        api_table_refuse(reterr, PE_MALFORMED, "body", "", "an npy file that can be read");
    good = good && read_dictionary(&reader, &header, reterr) &&
           make_view(file, &header, ret_view, reterr) &&
           api_table_fits(ret_view, file->size - first - length, reterr);
    free(text);
    ret_view->offset = first + length;
    return good;
}

/* ---- writing ---- */

#define PREAMBLE 10 /* magic, version 1.0, and a length of 2 bytes */

size_t api_npy_write_head(const char *type, const uint64_t *shape, size_t rank,
                          char dst[PE_TABLE_HEADROOM])
{
    char text[PE_TABLE_HEADROOM];
    int used =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (size_t i = 0; i < rank; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%llu", i ? ", " : "",
                         (unsigned long long)shape[i]);
    used += snprintf(text + used, sizeof text - (size_t)used, "%s), }", rank == 1 ? "," : "");
    const size_t least = PREAMBLE + (size_t)used + 1, align = API_FILE_ALIGNMENT;
    const size_t length = (least + align - 1) / align * align, header = length - PREAMBLE;
    assert(length <= PE_TABLE_HEADROOM);
    memcpy(dst, "\x93NUMPY\x01\x00", 8);
    dst[8] = (char)(header & 0xff);
    dst[9] = (char)(header >> 8);
    memcpy(dst + PREAMBLE, text, (size_t)used);
    memset(dst + PREAMBLE + used, ' ', header - (size_t)used);
    dst[length - 1] = '\n';
    return length;
}
