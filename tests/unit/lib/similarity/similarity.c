/* Tests of the similarity of positions: golden values, exact symmetry, and the order of sums.
 */
#include "golden_lines.h"
#include "sets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const METRICS[] = {"l2", "l1", "dot", "cosine", "pearson"};
enum metric { L2, L1, DOT, COSINE, PEARSON, METRIC_COUNT };

/* ---- requests ---- */

/* Element (i, j). */
static double entry(const pe_table *table, size_t i, size_t j)
{
    const pe_tensor *tensor = pe_table_tensor(table, 0);
    const unsigned char *data = pe_table_data(table, 0);
    size_t at = i * (size_t)tensor->shape[1] + j;
    return unit_element(tensor->dtype, data + at * pe_dtype_size(tensor->dtype));
}

static size_t extent(const pe_table *table, size_t axis)
{
    return (size_t)pe_table_tensor(table, 0)->shape[axis];
}

/* ---- golden values ---- */

/* Whether a value differs from the expected one by at most `tolerance` plus `ulps` units in the
 * last place. */
static bool is_near(pe_dtype dtype, double got, json_t *expected, double tolerance, double ulps)
{
    if (json_is_string(expected))
        return isnan(got) && strcmp(json_string_value(expected), "nan") == 0;
    double want = json_number_value(expected);
    int exponent;
    frexp(want, &exponent);
    static const int digits[] = {[PE_F32] = 24, [PE_F64] = 53, [PE_F16] = 11, [PE_BF16] = 8};
    int last = exponent - digits[dtype];
    if (dtype == PE_F16 && last < -24)
        last = -24; /* the last place of subnormals */
    return fabs(got - want) <= tolerance + ulps * ldexp(1, last);
}

static void check_values(const char *label, const pe_table *table, json_t *line)
{
    json_t *row, *expected;
    size_t i, j;
    double tolerance = json_number_value(json_object_get(line, "tolerance"));
    double ulps = json_number_value(json_object_get(line, "ulps"));
    pe_dtype dtype = pe_table_tensor(table, 0)->dtype;
    json_array_foreach(json_object_get(line, "values"), i, row)
    {
        ck_assert_msg(json_array_size(row) == extent(table, 1), "%s: row %zu", label, i);
        json_array_foreach(row, j, expected)
        {
            if (!is_near(dtype, entry(table, i, j), expected, tolerance, ulps))
                ck_abort_msg("%s: [%zu, %zu] is %.17g, should be %.17g", label, i, j,
                             entry(table, i, j), json_number_value(expected));
        }
    }
}

static void check_case(const char *label, json_t *line)
{
    pe_table *table = unit_golden_table(label, "similarity/", line);
    const pe_tensor *tensor = pe_table_tensor(table, 0);
    json_t *shape = json_object_get(line, "shape");
    for (size_t axis = 0; axis < 2; axis++)
        ck_assert_msg(json_integer_value(json_array_get(shape, axis)) ==
                          (json_int_t)extent(table, axis),
                      "%s: axis %zu has %zu elements", label, axis, extent(table, axis));
    ck_assert_msg(json_array_size(json_object_get(line, "values")) == extent(table, 0),
                  "%s: there are %zu rows", label, extent(table, 0));
    const char *dtype = unit_golden_text(label, line, "dtype");
    ck_assert_msg(strcmp(pe_dtype_name(tensor->dtype), dtype) == 0, "%s: dtype %s", label,
                  pe_dtype_name(tensor->dtype));
    ck_assert_msg(strcmp(tensor->name, "similarity") == 0, "%s: %s", label, tensor->name);
    check_values(label, table, line);
    pe_table_unref(table);
}

START_TEST(every_golden_matrix_is_met)
{
    ck_assert_uint_gt(unit_golden_lines("similarity", check_case), 100);
}
END_TEST

/* ---- properties ---- */

static void check_symmetry(const char *scheme, const pe_table *table, int metric)
{
    size_t n = extent(table, 0), size = pe_dtype_size(pe_table_tensor(table, 0)->dtype);
    const unsigned char *data = pe_table_data(table, 0);
    ck_assert_uint_eq(n, extent(table, 1));
    for (size_t i = 0; i < n; i++) {
        double self = entry(table, i, i);
        bool right = metric <= L1    ? self == 0 && !signbit(self)
                     : metric == DOT ? self >= 0
                                     : self == 1 || isnan(self);
        ck_assert_msg(right, "%s %s: [%zu, %zu] is %g", scheme, METRICS[metric], i, i, self);
        for (size_t j = 0; j < i; j++) {
            unit_assert(!memcmp(data + (i * n + j) * size, data + (j * n + i) * size, size));
            if (metric >= COSINE && !isnan(entry(table, i, j)))
                unit_assert(fabs(entry(table, i, j)) <= 1);
            else if (metric >= COSINE) /* NaN only if one of the rows has no direction */
                unit_assert(isnan(self) || isnan(entry(table, j, j)));
        }
    }
}

/* Write the scheme's example with another length, if it has a length. */
static void longer_example(const pe_scheme_info *info, int length, char *dst, size_t size)
{
    unit_query query = unit_query_of(info->example);
    int used = 0;
    for (size_t i = 0; i < query.count; i++) {
        bool raised = strcmp(query.arguments[i].name, "length") == 0;
        if (strcmp(query.arguments[i].name, "tokens") == 0)
            continue; /* a list that would need `length` items */
        char number[16];
        snprintf(number, sizeof number, "%d", length);
        used += snprintf(dst + used, size - (size_t)used, "%s%s=%s", used ? "&" : "",
                         query.arguments[i].name, raised ? number : query.arguments[i].text);
    }
    unit_query_free(&query);
}

START_TEST(matrices_of_every_scheme_are_symmetric_to_the_bit)
{
    size_t schemes = 0;
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        char example[200], query[300], scheme[64];
        snprintf(scheme, sizeof scheme, "similarity/%s", info->name);
        longer_example(info, 13, example, sizeof example);
        for (int metric = 0; metric < METRIC_COUNT; metric++)
            for (int dtype = PE_F32; dtype < PE_I32; dtype++) {
                pe_request *request;
                pe_error error;
                snprintf(query, sizeof query, "%s&metric=%s&dtype=%s", example, METRICS[metric],
                         pe_dtype_name((pe_dtype)dtype));
                if (unit_request(scheme, query, &UNIT_LIMITS, &request, &error)) {
                    ck_assert_msg(unit_error_names(&error, "scheme"), "%s?%s", info->name,
                                  query);
                    continue;
                }
                pe_request_unref(request);
                pe_table *table = unit_table(scheme, query);
                check_symmetry(info->name, table, metric);
                pe_table_unref(table);
                schemes++;
            }
    }
    ck_assert_uint_ge(schemes, 20 * 10);
}
END_TEST

START_TEST(chosen_rows_are_rows_of_the_whole)
{
    static const size_t rows[] = {49, 0, 8, 8, 31, 7, 48};
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        char query[200];
        snprintf(query, sizeof query, "length=50&dim=24&metric=%s", METRICS[metric]);
        pe_table *whole = unit_table("similarity/sinusoidal", query);
        strcat(query, "&rows=49,0,8,8,31,7,48");
        pe_table *some = unit_table("similarity/sinusoidal", query);
        ck_assert_uint_eq(extent(some, 0), UNIT_COUNT(rows));
        for (size_t r = 0; r < UNIT_COUNT(rows); r++)
            ck_assert_mem_eq((const float *)pe_table_data(some, 0) + r * 50,
                             (const float *)pe_table_data(whole, 0) + rows[r] * 50,
                             50 * sizeof(float));
        pe_table_unref(whole);
        pe_table_unref(some);
    }
}
END_TEST

/* ---- the order of sums ---- */

static double plain_norm(const double *row, size_t d)
{
    double sum = 0;
    for (size_t c = 0; c < d; c++)
        sum += row[c] * row[c];
    return sqrt(sum);
}

/* The metric of two rows, summed in ascending order of the columns. */
static double plain_metric(int metric, const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t c = 0; c < d; c++) {
        double difference = a[c] - b[c];
        sum += metric == L2   ? difference * difference
               : metric == L1 ? fabs(difference)
                              : a[c] * b[c];
    }
    if (metric == L2)
        return sqrt(sum);
    return metric < COSINE ? sum : sum / (plain_norm(a, d) * plain_norm(b, d));
}

static void center(double *rows, size_t n, size_t d)
{
    for (size_t r = 0; r < n; r++) {
        double sum = 0;
        for (size_t c = 0; c < d; c++)
            sum += rows[r * d + c];
        for (size_t c = 0; c < d; c++)
            rows[r * d + c] -= sum / (double)d;
    }
}

START_TEST(sums_run_over_the_columns_in_ascending_order)
{
    static const size_t SHAPES[][2] = {{1, 2}, {7, 3}, {8, 64}, {9, 66}, {35, 1030}, {270, 34}};
    for (size_t s = 0; s < UNIT_COUNT(SHAPES); s++)
        for (int metric = 0; metric < METRIC_COUNT; metric++) {
            size_t n = SHAPES[s][0], d = SHAPES[s][1];
            char query[200];
            snprintf(query, sizeof query, "length=%zu&dim=%zu&seed=4&std=1&dtype=f64", n, d);
            pe_table *learned = unit_table("learned", query);
            double *rows = malloc(n * d * sizeof *rows);
            memcpy(rows, pe_table_data(learned, 0), n * d * sizeof *rows);
            if (metric == PEARSON)
                center(rows, n, d);
            snprintf(query + strlen(query), sizeof query - strlen(query), "&metric=%s",
                     METRICS[metric]);
            pe_table *table = unit_table("similarity/learned", query);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++) {
                    double want = plain_metric(metric, rows + i * d, rows + j * d, d);
                    if (metric >= COSINE)
                        want = i == j ? 1 : fmax(-1, fmin(1, want));
                    if (entry(table, i, j) != want)
                        ck_abort_msg("%s of %zux%zu: [%zu, %zu] is %a, not %a", METRICS[metric],
                                     n, d, i, j, entry(table, i, j), want);
                }
            free(rows);
            pe_table_unref(learned);
            pe_table_unref(table);
        }
}
END_TEST

/* The similarity of four stored rows times a factor. */
static pe_table *compare_stored(const char *metric, double factor)
{
    static const double ROWS[4][3] = {{1, 2, 4}, {-3, 0.5, 7}, {1, 1.25, 9}, {0, -0.75, 2.5}};
    double elements[4][3];
    char query[100];
    for (size_t i = 0; i < 12; i++)
        elements[i / 3][i % 3] = factor * ROWS[i / 3][i % 3];
    unit_store(&(unit_tensor){"table", PE_F64, 2, {4, 3}, elements[0]}, 1);
    snprintf(query, sizeof query, "length=4&set=set&dtype=f64&metric=%s", metric);
    pe_table *table = unit_set_table("similarity/learned", query);
    unit_store(NULL, 0);
    return table;
}

START_TEST(angles_do_not_depend_on_the_size_of_the_rows)
{
    static const double SIZES[] = {3, 0x1p1000, 0x1p-1000, 5e300, -1e-300};
    for (int metric = COSINE; metric < METRIC_COUNT; metric++) {
        pe_table *plain = compare_stored(METRICS[metric], 1);
        for (size_t i = 0; i < UNIT_COUNT(SIZES); i++) {
            pe_table *table = compare_stored(METRICS[metric], SIZES[i]);
            for (size_t j = 0; j < 16; j++)
                ck_assert_double_eq_tol(entry(plain, 0, j), entry(table, 0, j), 1e-15);
            pe_table_unref(table);
        }
        pe_table_unref(plain);
    }
}
END_TEST

Suite *similarity_suite(void)
{
    const TTest *const tests[] = {every_golden_matrix_is_met,
                                  matrices_of_every_scheme_are_symmetric_to_the_bit,
                                  chosen_rows_are_rows_of_the_whole,
                                  sums_run_over_the_columns_in_ascending_order,
                                  angles_do_not_depend_on_the_size_of_the_rows,
                                  NULL};
    return unit_suite("similarity", tests);
}
