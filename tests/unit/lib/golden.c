/* Golden files: values of an independent writer (tests/golden/write_golden.py), bit for bit. */
#include "../unit.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef GOLDEN_DIR
#define GOLDEN_DIR "tests/golden"
#endif

static pe_request *request_of(json_t *file, const char *path)
{
    pe_argument arguments[64];
    size_t count = 0;
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(file, "arguments"), name, value)
    {
        ck_assert_uint_lt(count, 64);
        arguments[count++] = (pe_argument){.name = name, .text = json_string_value(value)};
    }
    pe_request *request;
    pe_error error;
    const char *scheme = json_string_value(json_object_get(file, "scheme"));
    pe_status status = pe_request_new(pe_scheme_find(scheme), arguments, count, &UNIT_LIMITS,
                                      &request, &error);
    ck_assert_msg(status == PE_OK, "%s: %s: %s", path, error.problems[0].parameter,
                  error.problems[0].allowed);
    return request;
}

static unsigned char *bytes_of(const char *hex, size_t *ret_size)
{
    size_t size = strlen(hex) / 2;
    unsigned char *bytes = malloc(size + 1);
    for (size_t i = 0; i < size; i++) {
        char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    *ret_size = size;
    return bytes;
}

static void compare(const char *path, const pe_tensor *tensor, const void *data,
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
        ck_assert_msg(distance <= tolerance, "%s: %s element %llu is %s, should be %s", path,
                      tensor->name, (unsigned long long)i, got_text, want_text);
    }
}

static void check_file(const char *path)
{
    json_error_t problem;
    json_t *file = json_load_file(path, 0, &problem), *expected;
    ck_assert_msg(file != NULL, "%s: %s", path, problem.text);
    pe_request *request = request_of(file, path);
    pe_table *table;
    pe_error error;
    ck_assert_int_eq(pe_table_compute(request, NULL, &table, &error), PE_OK);
    json_t *tensors = json_object_get(file, "tensors");
    ck_assert_uint_eq(json_array_size(tensors), pe_table_tensor_count(table));
    size_t i;
    json_array_foreach(tensors, i, expected)
    {
        const pe_tensor *tensor = pe_table_tensor(table, i);
        json_t *shape = json_object_get(expected, "shape");
        ck_assert_str_eq(json_string_value(json_object_get(expected, "name")), tensor->name);
        ck_assert_str_eq(json_string_value(json_object_get(expected, "dtype")),
                         pe_dtype_name(tensor->dtype));
        ck_assert_uint_eq(json_array_size(shape), tensor->rank);
        for (size_t axis = 0; axis < tensor->rank; axis++)
            ck_assert_int_eq(json_integer_value(json_array_get(shape, axis)),
                             (json_int_t)tensor->shape[axis]);
        size_t size;
        unsigned char *bytes =
            bytes_of(json_string_value(json_object_get(expected, "data")), &size);
        ck_assert_uint_eq(size, tensor->bytes);
        compare(path, tensor, pe_table_data(table, i), bytes,
                json_number_value(json_object_get(file, "tolerance")));
        free(bytes);
    }
    pe_table_unref(table);
    pe_request_free(request);
    json_decref(file);
}

START_TEST(every_scheme_equals_its_golden_files)
{
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        char folder[512];
        const char *scheme = pe_scheme_describe(pe_scheme_at(i))->name;
        snprintf(folder, sizeof folder, "%s/%s", GOLDEN_DIR, scheme);
        DIR *directory = opendir(folder);
        ck_assert_msg(directory != NULL, "%s has no folder of golden files, %s", scheme,
                      folder);
        size_t files = 0;
        for (struct dirent *entry; (entry = readdir(directory));) {
            if (!strstr(entry->d_name, ".json"))
                continue;
            char path[1024];
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            check_file(path);
            files++;
        }
        closedir(directory);
        ck_assert_msg(files > 0, "%s has no golden files", scheme);
    }
}
END_TEST

Suite *golden_suite(void)
{
    const TTest *const tests[] = {every_scheme_equals_its_golden_files, NULL};
    return unit_suite("golden", tests);
}
