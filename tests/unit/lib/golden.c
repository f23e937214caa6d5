/* Golden values: those of an independent writer (tests/golden/README.md), bit for bit. */
#include "golden_lines.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one tensor ---- */

/* Name, dtype and shape as a line has them. */
static json_t *head_of(const pe_tensor *tensor)
{
    json_t *shape = json_array();
    for (size_t axis = 0; axis < tensor->rank; axis++)
        json_array_append_new(shape, json_integer((json_int_t)tensor->shape[axis]));
    return json_pack("{s:s, s:s, s:o}", "name", tensor->name, "dtype",
                     pe_dtype_name(tensor->dtype), "shape", shape);
}

static void check_head(const char *label, const pe_tensor *tensor, json_t *expected)
{
    json_t *got = head_of(tensor), *want = json_copy(expected);
    json_object_del(want, "data");
    if (!json_equal(got, want))
        ck_abort_msg("%s: a tensor is %s, should be %s", label, json_dumps(got, 0),
                     json_dumps(want, 0));
    json_decref(got);
    json_decref(want);
}

/* The bytes of hex digits; the caller frees them. */
static unsigned char *bytes_of(const char *label, const char *hex, size_t size)
{
    if (strlen(hex) != 2 * size || strspn(hex, "0123456789abcdef") != 2 * size)
        ck_abort_msg("%s: data is not %zu bytes of hex digits", label, size);
    unsigned char *bytes = malloc(size + 1);
    for (size_t i = 0; i < size; i++) {
        char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    return bytes;
}

static void compare(const char *label, const pe_tensor *tensor, const void *data,
                    const unsigned char *expected, double tolerance)
{
    size_t size = pe_dtype_size(tensor->dtype);
    for (uint64_t i = 0; i < tensor->elements; i++) {
        const unsigned char *got = (const unsigned char *)data + i * size;
        const unsigned char *want = expected + i * size;
        if (memcmp(got, want, size) == 0)
            continue;
        char got_text[PE_PRINT_MAX], want_text[PE_PRINT_MAX];
        pe_print_element(got_text, tensor->dtype, got);
        pe_print_element(want_text, tensor->dtype, want);
        double distance = INFINITY;
        if (tensor->dtype == PE_F64) {
            double a, b;
            memcpy(&a, got, sizeof a);
            memcpy(&b, want, sizeof b);
            distance = fabs(a - b);
        }
        ck_assert_msg(distance <= tolerance, "%s: %s element %llu is %s, should be %s", label,
                      tensor->name, (unsigned long long)i, got_text, want_text);
    }
}

/* ---- one case ---- */

static void check_case(const char *label, json_t *line)
{
    pe_table *table = unit_golden_table(label, "", line);
    json_t *tensors = json_object_get(line, "tensors"), *expected;
    double tolerance = json_number_value(json_object_get(line, "tolerance"));
    size_t i, count = pe_table_tensor_count(table);
    ck_assert_msg(json_array_size(tensors) == count, "%s: there are %zu tensors, should be %zu",
                  label, count, json_array_size(tensors));
    json_array_foreach(tensors, i, expected)
    {
        const pe_tensor *tensor = pe_table_tensor(table, i);
        check_head(label, tensor, expected);
        unsigned char *bytes =
            bytes_of(label, unit_golden_text(label, expected, "data"), (size_t)tensor->bytes);
        compare(label, tensor, pe_table_data(table, i), bytes, tolerance);
        free(bytes);
    }
    pe_table_unref(table);
}

START_TEST(entries_are_the_golden_values)
{
    unit_golden_lines(pe_scheme_describe(pe_scheme_at((size_t)_i))->name, check_case);
}
END_TEST

/* A test case for each scheme, which bears its name. */
Suite *golden_suite(void)
{
    Suite *suite = suite_create("golden");
    for (int i = 0; i < (int)pe_scheme_count(); i++) {
        TCase *tcase = tcase_create(pe_scheme_describe(pe_scheme_at((size_t)i))->name);
        tcase_set_timeout(tcase, UNIT_PATIENCE);
        tcase_add_loop_test(tcase, entries_are_the_golden_values, i, i + 1);
        suite_add_tcase(suite, tcase);
    }
    return suite;
}
