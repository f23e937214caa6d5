/* Sets of safetensors files: what is accepted, and everything that is refused. */
#include "bytes/digest.h"
#include "store.h"

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file of a header and data, from an allocator that never fails, with room for a byte more.
 */
static char *make_file(const char *header, const void *data, size_t data_size, size_t *ret_size)
{
    void *block;
    size_t length = strlen(header);
    *ret_size = 8 + length + data_size;
    if (posix_memalign(&block, 64, *ret_size + 1) != 0)
        abort();
    char *bytes = block;
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (char)((uint64_t)length >> (8 * i));
    memcpy(bytes + 8, header, length);
    if (data_size > 0)
        memcpy(bytes + 8 + length, data, data_size);
    return bytes;
}

static api_set *read_file(const char *header, const void *data, size_t data_size,
                          pe_error *reterr)
{
    size_t size;
    char *bytes = make_file(header, data, data_size, &size);
    return api_set_read(bytes, size, reterr);
}

#define TENSOR(name, dtype, shape, begin, end)                                                 \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" #begin    \
    "," #end "]}"

static const char GOOD[] =
    "{\"__metadata__\":{\"a\":\"b\"}," TENSOR("x", "F32", "2,2", 2, 18) "," TENSOR(
        "h", "F16", "1", 0, 2) "," TENSOR("s", "F64", "", 18, 26) "," TENSOR("\xc3\xa4", "BF16",
                                                                             "1,3", 26,
                                                                             32) "}   ";
static const unsigned char DATA[32] = {0,    0x3c, /* h: 1 */
                                       0,    0,    0x80, 0x3f, 0, 0, 0,    0xc0,
                                       1,    0,    0,    0,    /* x: 1, -2, 2^-149, */
                                       0xff, 0xff, 0x7f, 0x7f, /* x: the largest f32 */
                                       0,    0,    0,    0,    0, 0, 0xe0, 0x3f, /* s: 0.5 */
                                       0x80, 0x3f, 0,    0x80, 1, 0}; /* ä: 1, -0, 2^-133 */

START_TEST(tensors_of_a_file_are_read_as_they_stand)
{
    pe_error error;
    char hex[PE_DIGEST_SIZE];
    size_t size, file_size;
    api_set *set = read_file(GOOD, DATA, sizeof DATA, &error);
    ck_assert_ptr_nonnull(set);
    const pe_set *tensors = api_set_tensors(set);
    static const char *const names[] = {"h", "x", "s",
                                        "\xc3\xa4"}; /* in the order of the data */
    static const double first[] = {1, 1, 0.5, 1}, last[] = {1, 0x1.fffffep127, 0.5, 0x1p-133};
    ck_assert_uint_eq(pe_set_tensor_count(tensors), 4);
    for (size_t i = 0; i < 4; i++) {
        const pe_set_tensor *tensor = pe_set_tensor_at(tensors, i);
        ck_assert_str_eq(tensor->tensor.name, names[i]);
        ck_assert(pe_set_element(tensor, 0) == first[i]);
        ck_assert(pe_set_element(tensor, tensor->tensor.elements - 1) == last[i]);
    }
    ck_assert_uint_eq(pe_set_tensor_find(tensors, "s")->tensor.rank, 0);
    ck_assert_uint_eq(pe_set_tensor_find(tensors, "x")->tensor.shape[1], 2);
    char *file = make_file(GOOD, DATA, sizeof DATA, &file_size);
    ck_assert_int_eq(memcmp(api_set_bytes(set, &size), file, file_size), 0);
    ck_assert_uint_eq(size, file_size);
    api_sha256_hex(file, file_size, hex);
    ck_assert_str_eq(api_set_digest(set), hex);
    ck_assert_str_eq(api_set_description(set),
                     "[{\"name\":\"h\",\"dtype\":\"f16\",\"shape\":[1]},"
                     "{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[2,2]},"
                     "{\"name\":\"s\",\"dtype\":\"f64\",\"shape\":[]},"
                     "{\"name\":\"\xc3\xa4\",\"dtype\":\"bf16\",\"shape\":[1,3]}]");
    ck_assert_uint_gt(api_set_footprint(set), size);
    free(file);
    pe_set *kept = pe_set_ref(api_set_tensors(set));
    api_set_unref(api_set_ref(set));
    api_set_unref(set);
    api_set_unref(NULL);
    ck_assert(pe_set_element(pe_set_tensor_find(kept, "x"), 1) ==
              -2); /* the tensors outlive the set */
    pe_set_unref(kept);
}
END_TEST

#define X8 "{" TENSOR("x", "F32", "2", 0, 8)

/* {header, bytes of data, status, parameter of the problem, part of the rule} */
static const struct {
    const char *header;
    size_t data;
    pe_status status;
    const char *parameter, *rule;
} BAD[] = {
    {"", 0, PE_MALFORMED, "header", "one JSON object"},
    {"{}", 0, PE_OUT_OF_RANGE, "header", "1 to 256 tensors"},
    {"{\"__metadata__\":{}}", 0, PE_OUT_OF_RANGE, "header", "1 to 256 tensors"},
    {"[1]", 0, PE_MALFORMED, "header", "one JSON object"},
    {" " X8 "}", 8, PE_MALFORMED, "header", "one JSON object"},
    {X8 "}\n", 8, PE_MALFORMED, "header", "one JSON object"},
    {X8, 8, PE_MALFORMED, "header", "JSON in UTF-8"},
    {X8 ",}", 8, PE_MALFORMED, "header", "JSON in UTF-8"},
    {X8 "}}", 8, PE_MALFORMED, "header", "JSON in UTF-8"},
    {X8 "," TENSOR("x", "F32", "2", 8, 16) "}", 16, PE_MALFORMED, "header", "JSON"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
     PE_MALFORMED, "header", "JSON"},
    {"{" TENSOR("\xff", "F32", "2", 0, 8) "}", 8, PE_MALFORMED, "header", "UTF-8"},
    {"{" TENSOR("", "F32", "2", 0, 8) "}", 8, PE_OUT_OF_RANGE, "header", "names"},
    {"{" TENSOR("a\\nb", "F32", "2", 0, 8) "}", 8, PE_OUT_OF_RANGE, "header", "names"},
    {"{" TENSOR("a\\u0000b", "F32", "2", 0, 8) "}", 8, PE_MALFORMED, "header", "JSON"},
    {"{" TENSOR("\\u007f", "F32", "2", 0, 8) "}", 8, PE_OUT_OF_RANGE, "header", "names"},
    {"{" TENSOR("x", "I64", "1", 0, 8) "}", 8, PE_OUT_OF_RANGE, "x", "F64, F32, F16 or BF16"},
    {"{" TENSOR("x", "f32", "2", 0, 8) "}", 8, PE_OUT_OF_RANGE, "x", "F64, F32, F16 or BF16"},
    {"{\"x\":4}", 8, PE_MALFORMED, "x", "an object of dtype"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, PE_MALFORMED, "x", "an object of dtype"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"more\":1}}", 8,
     PE_MALFORMED, "x", "nothing else"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"offsets\":[0,8]}}", 8, PE_MALFORMED, "x",
     "data_offsets"},
    {"{\"x\":{\"dtype\":4,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, PE_MALFORMED, "x",
     "dtype"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8, PE_MALFORMED, "x",
     "shape"},
    {"{" TENSOR("x", "F32", "1,1,1,1,2", 0, 8) "}", 8, PE_OUT_OF_RANGE, "x", "at most 4"},
    {"{" TENSOR("x", "F32", "2.0", 0, 8) "}", 8, PE_MALFORMED, "x", "integers"},
    {"{" TENSOR("x", "F32", "-2", 0, 8) "}", 8, PE_MALFORMED, "x", "from 1 on"},
    {"{" TENSOR("x", "F32", "0", 0, 0) "}", 0, PE_MALFORMED, "x", "from 1 on"},
    {"{" TENSOR("x", "F32", "3", 0, 8) "}", 8, PE_MALFORMED, "x", "12 bytes apart"},
    {"{" TENSOR("x", "F64", "4294967296,4294967296", 0, 8) "}", 8, PE_MALFORMED, "x", "fits"},
    {"{" TENSOR("x", "F32", "4611686018427387906", 0, 8) "}", 8, PE_MALFORMED, "x", "fits"},
    {"{" TENSOR("x", "F32", "99999999999999999999", 0, 8) "}", 8, PE_MALFORMED, "header",
     "JSON"},
    {"{" TENSOR("x", "F32", "2", 0, 16) "}", 8, PE_MALFORMED, "x", "within the data"},
    {"{" TENSOR("x", "F32", "2", 8, 0) "}", 8, PE_MALFORMED, "x", "within the data"},
    {"{" TENSOR("x", "F32", "2", -8, 0) "}", 8, PE_MALFORMED, "x", "within the data"},
    {"{" TENSOR("x", "F32", "2", 0, 8.0) "}", 8, PE_MALFORMED, "x", "within the data"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,8]}}", 8, PE_MALFORMED, "x",
     "within the data"},
    {"{" TENSOR("x", "F32", "2", 1, 9) "}", 9, PE_MALFORMED, "x", "without holes"},
    {X8 "," TENSOR("y", "F32", "1", 9, 13) "}", 13, PE_MALFORMED, "y", "without holes"},
    {X8 "," TENSOR("y", "F32", "1", 4, 8) "}", 8, PE_MALFORMED, "y", "from 8 on"},
    {X8 "," TENSOR("y", "F32", "2", 0, 8) "}", 8, PE_MALFORMED, NULL, "overlaps"},
    {X8 "}", 9, PE_MALFORMED, "body", "8 bytes of data"},
    {X8 ",\"__metadata__\":{\"a\":1}}", 8, PE_MALFORMED, "__metadata__", "strings"},
    {X8 ",\"__metadata__\":\"a\"}", 8, PE_MALFORMED, "__metadata__", "strings"},
};

START_TEST(a_file_against_a_rule_is_refused)
{
    static const unsigned char zeros[16];
    for (size_t i = 0; i < UNIT_COUNT(BAD); i++) {
        pe_error error;
        api_set *set = read_file(BAD[i].header, zeros, BAD[i].data, &error);
        ck_assert_msg(set == NULL, "%s is taken", BAD[i].header);
        const pe_problem *problem =
            BAD[i].parameter ? unit_problem(&error, BAD[i].parameter) : &error.problems[0];
        ck_assert_msg(problem != NULL, "%s: names %s", BAD[i].header,
                      error.problems[0].parameter);
        ck_assert_msg(error.status == BAD[i].status && strstr(problem->allowed, BAD[i].rule),
                      "%s: %d: %s", BAD[i].header, error.status, problem->allowed);
    }
}
END_TEST

/* Whether the file bytes[0, size) is accepted. */
static bool is_taken(const char *bytes, size_t size)
{
    pe_error error;
    char *copy = malloc(size > 0 ? size : 1);
    if (size > 0)
        memcpy(copy, bytes, size);
    api_set *set = api_set_read(copy, size, &error);
    unit_assert((set != NULL) == (error.status == PE_OK));
    api_set_unref(set);
    return set != NULL;
}

START_TEST(a_file_cut_short_or_made_longer_is_refused)
{
    size_t size;
    char *bytes = make_file(GOOD, DATA, sizeof DATA, &size);
    bytes[size] = 0;
    ck_assert(is_taken(bytes, size));
    ck_assert(!is_taken(bytes, size + 1));
    for (size_t cut = 0; cut < size; cut++)
        ck_assert_msg(!is_taken(bytes, cut), "%zu bytes", cut);
    ck_assert(!is_taken(NULL, 0));
    free(bytes);
}
END_TEST

START_TEST(a_header_length_that_lies_is_refused)
{
    size_t size;
    char *bytes = make_file(GOOD, DATA, sizeof DATA, &size);
    for (unsigned byte = 0; byte < 8; byte++)
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[byte] = (char)(bytes[byte] ^ 1 << bit);
            ck_assert_msg(!is_taken(bytes, size), "bit %u of byte %u", bit, byte);
            bytes[byte] = (char)(bytes[byte] ^ 1 << bit);
        }
    free(bytes);
}
END_TEST

/* Random bytes of the header change, and nothing is read out of bounds. */
START_TEST(a_damaged_header_does_no_harm)
{
    size_t size, taken = 0, header = 8 + strlen(GOOD);
    uint64_t state = 1;
    char *bytes = make_file(GOOD, DATA, sizeof DATA, &size);
    for (size_t i = 0; i < 20000; i++) {
        char kept[3];
        size_t at[3];
        for (size_t c = 0; c < 3; c++) {
            at[c] = unit_random(&state) % header;
            kept[c] = bytes[at[c]];
            bytes[at[c]] = (char)(c == 0 ? unit_random(&state) : (uint64_t)kept[c]);
        }
        taken += is_taken(bytes, size);
        for (size_t c = 3; c-- > 0;)
            bytes[at[c]] = kept[c];
    }
    ck_assert_uint_gt(taken, 0); /* such as those with another name */
    ck_assert_uint_lt(taken, 5000);
    ck_assert(is_taken(bytes, size));
    free(bytes);
}
END_TEST

START_TEST(nan_and_infinities_are_refused_wherever_they_are)
{
    static const struct {
        const char *dtype;
        size_t size;
        uint64_t bits[3];
    } types[] = {{"F64", 8, {0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001}},
                 {"F32", 4, {0x7f800000, 0xff800000, 0xffc00000}},
                 {"F16", 2, {0x7c00, 0xfc00, 0x7c01}},
                 {"BF16", 2, {0x7f80, 0xff80, 0x7fff}}};
    for (size_t t = 0; t < UNIT_COUNT(types); t++)
        for (size_t at = 0; at < 37; at++)
            for (size_t b = 0; b < 4; b++) {
                char header[128], data[37 * 8] = {0};
                pe_error error;
                size_t size = types[t].size;
                snprintf(header, sizeof header,
                         "{\"t\":{\"dtype\":\"%s\",\"shape\":[37],\"data_offsets\":[0,%zu]}}",
                         types[t].dtype, 37 * size);
                if (b < 3)
                    memcpy(data + at * size, &types[t].bits[b], size);
                api_set *set = read_file(header, data, 37 * size, &error);
                ck_assert_int_eq(set == NULL, b < 3);
                if (b < 3)
                    ck_assert_ptr_nonnull(strstr(unit_problem(&error, "t")->allowed, "finite"));
                api_set_unref(set);
            }
}
END_TEST

START_TEST(headers_and_tensors_are_bounded)
{
    size_t size, used = 0;
    char *header = malloc(API_SET_HEADER_MAX + 2), *bytes;
    for (size_t count = 256; count <= 257; count++) {
        used = 0;
        for (size_t i = 0; i < count; i++)
            used += (size_t)snprintf(
                header + used, 100,
                "%c\"t%zu\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[%zu,%zu]}",
                i ? ',' : '{', i, 2 * i, 2 * i + 2);
        snprintf(header + used, 2, "}");
        bytes = make_file(header, header, 2 * count, &size);
        memset(bytes + size - 2 * count, 0, 2 * count);
        ck_assert_int_eq(is_taken(bytes, size), count == 256);
        free(bytes);
    }
    for (size_t length = API_SET_HEADER_MAX; length <= API_SET_HEADER_MAX + 1; length++) {
        memset(header, ' ', length);
        header[length] = '\0';
        memcpy(header, X8 "}", strlen(X8 "}"));
        bytes = make_file(header, DATA, 8, &size);
        ck_assert_int_eq(is_taken(bytes, size), length == API_SET_HEADER_MAX);
        free(bytes);
    }
    for (int length = 128; length <= 129; length++) {
        snprintf(header, 400,
                 "{\"%0*d\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", length,
                 0);
        bytes = make_file(header, DATA, 8, &size);
        ck_assert_int_eq(is_taken(bytes, size), length == 128);
        free(bytes);
    }
    free(header);
}
END_TEST

START_TEST(any_allocation_may_fail)
{
    for (size_t k = 0;; k++) {
        pe_error error;
        size_t size;
        char *bytes = make_file(GOOD, DATA, sizeof DATA, &size);
        unit_fail_allocations(k, 1);
        api_set *set = api_set_read(bytes, size, &error);
        unit_allocations seen = unit_allow_allocations();
        api_set_unref(set);
        if (!seen.failed) {
            ck_assert_ptr_nonnull(set);
            break;
        }
        ck_assert_ptr_null(set);
        ck_assert_int_eq(error.status, PE_NO_MEMORY);
    }
}
END_TEST

Suite *set_suite(void)
{
    const TTest *const tests[] = {tensors_of_a_file_are_read_as_they_stand,
                                  a_file_against_a_rule_is_refused,
                                  a_file_cut_short_or_made_longer_is_refused,
                                  a_header_length_that_lies_is_refused,
                                  a_damaged_header_does_no_harm,
                                  nan_and_infinities_are_refused_wherever_they_are,
                                  headers_and_tensors_are_bounded,
                                  any_allocation_may_fail,
                                  NULL};
    return unit_suite("set", tests);
}
