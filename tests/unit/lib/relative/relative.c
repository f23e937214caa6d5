/* Tests of relative schemes: entries depend on the distance, in any window and in both forms;
 * and tests of what is refused. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* ---- requests ---- */

/* Schemes and options (without length, queries, form and dtype) that are tested besides the
 * examples of all schemes. */
static const char *const VARIANTS[][2] = {
    {"relative_sinusoidal", "dim=6&max_distance=4&layout=concat"},
    {"relative_sinusoidal", "dim=6&max_distance=0&base=10"},
    {"shaw", "dim=6&max_distance=3"},
    {"shaw", "dim=6&source=sinusoidal&min_distance=-2&max_distance=4"},
    {"transformer_xl", "dim=6&heads=3&attention=uni"},
    {"transformer_xl", "dim=6&clamp_length=3"},
    {"shaw", "dim=6&min_distance=-2&max_distance=4&difference=query_minus_key"},
    {"shaw", "dim=6&preset=speecht5"},
    {"transformer_xl", "dim=6&preset=conformer"},
    {"t5", "heads=3&bidirectional=false&seed=5"},
    {"t5", "heads=3&num_buckets=8&max_distance=9"},
    {"levit", "heads=3&dim_head=7"},
    {"deberta", "dim=4&position_buckets=6&max_relative_positions=9"},
    {"deberta", "dim=4&position_buckets=6&max_relative_positions=9&beyond=continue"},
    {"deberta", "dim=4&p2c=paper&max_relative_positions=6"},
    {"urpe", "heads=3&init=normal&seed=9"},
    {"alibi", "heads=3&mask=causal"},
    {"alibi", "heads=12&alibi_bias_max=16"},
    {"alibi", "heads=5&slope_dtype=bf16&head_dim=36"},
    {"alibi", "heads=3&heads_total=12&first_head=7"},
    {"kerple", "heads=3&kernel=power&seed=5"},
    {"kerple", "heads=2&mask=causal"},
    {"fire", "heads=3&mask=causal&hidden=5"},
    {"sandwich", "heads=3&dim=6&base=10&mask=causal"},
    {"retnet", "heads=5&dim=6"},
};

/* Numbers of keys and queries, and the first query's position. The spans up to {11, 5, 6} are
 * windows of the first one. */
static const struct span {
    int keys, queries, offset;
} SPANS[] = {{11, 11, 0}, {11, 7, 2}, {11, 1, 10}, {11, 5, 6}, {11, 7, -5}, {11, 13, 40}};

/* Call `check` with every relative scheme and its options, in every dtype. */
static void for_all_schemes(void (*check)(const char *scheme, const char *options))
{
    size_t count = 0;
    for (int dtype = PE_F32; dtype < PE_I32; dtype++) {
        char options[300];
        const char *name = pe_dtype_name((pe_dtype)dtype);
        for (size_t s = 0; s < pe_scheme_count(); s++) {
            const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
            if (!unit_scheme_takes(info, "form"))
                continue;
            unit_query query = unit_query_of(info->example);
            int used = snprintf(options, sizeof options, "dtype=%s", name);
            for (size_t i = 0; i < query.count; i++)
                if (strcmp(query.arguments[i].name, "length") != 0)
                    used += snprintf(options + used, sizeof options - (size_t)used, "&%s=%s",
                                     query.arguments[i].name, query.arguments[i].text);
            unit_query_free(&query);
            check(info->name, options);
            count++;
        }
        for (size_t v = 0; v < UNIT_COUNT(VARIANTS); v++) {
            snprintf(options, sizeof options, "dtype=%s&%s", name, VARIANTS[v][1]);
            check(VARIANTS[v][0], options);
        }
    }
    ck_assert_uint_ge(count, 4 * 8);
}

/* The table of a span in one form; NULL if the scheme refuses queries that are no keys. */
static pe_table *table_of(const char *scheme, const char *options, struct span span,
                          const char *form)
{
    char query[400];
    pe_request *request;
    pe_error error;
    snprintf(query, sizeof query, "length=%d&query_length=%d&query_offset=%d&form=%s&%s",
             span.keys, span.queries, span.offset, form, options);
    if (unit_request(scheme, query, &UNIT_LIMITS, &request, &error) == PE_OK) {
        pe_request_unref(request);
        return unit_table(scheme, query);
    }
    bool within = span.offset >= 0 && span.offset + span.queries <= span.keys;
    ck_assert_msg(!within && unit_error_names(&error, "query_offset"), "%s?%s: %s", scheme,
                  query, error.problems[0].allowed);
    return NULL;
}

/* ---- tensors ---- */

/* The index of the tensor; the number of tensors if there is none of that name. */
static size_t find_tensor(const pe_table *table, const char *name)
{
    size_t t = 0;
    while (t < pe_table_tensor_count(table) &&
           strcmp(pe_table_tensor(table, t)->name, name) != 0)
        t++;
    return t;
}

/* A tensor as an array [outer, columns] of cells of `bytes` bytes. */
typedef struct view {
    const unsigned char *data;
    size_t outer, columns, bytes;
} view;

/* The view of a tensor whose axes before `axis` are the outer ones. */
static view view_of(const pe_table *table, size_t t, size_t axis, size_t columns)
{
    const pe_tensor *tensor = pe_table_tensor(table, t);
    size_t outer = 1;
    for (size_t a = 0; a < axis; a++)
        outer *= (size_t)tensor->shape[a];
    size_t cells = outer * columns;
    ck_assert_uint_eq(tensor->bytes % cells, 0);
    return (view){pe_table_data(table, t), outer, columns, (size_t)tensor->bytes / cells};
}

static const unsigned char *cell(const view *cells, size_t outer, size_t column)
{
    return cells->data + (outer * cells->columns + column) * cells->bytes;
}

/* The axis of the queries, which the axis of the keys follows; -1 if the tensor is no matrix of
 * queries and keys. */
static int query_axis(const pe_tensor *tensor, struct span span)
{
    for (size_t a = 0; a + 1 < tensor->rank; a++)
        if (tensor->shape[a] == (uint64_t)span.queries &&
            tensor->shape[a + 1] == (uint64_t)span.keys)
            return (int)a;
    return -1;
}

static int32_t integer_at(const pe_table *table, size_t t, size_t index)
{
    int32_t value;
    memcpy(&value, (const unsigned char *)pe_table_data(table, t) + index * sizeof value,
           sizeof value);
    return value;
}

/* ---- properties ---- */

/* Compare a tensor of the expanded table, a matrix, with the same tensor of the compact one, a
 * row per distance. Returns 0 if it has no such forms, else 1. */
static size_t compare_forms(const char *what, const pe_table *expanded, size_t t,
                            const pe_table *compact, size_t in_compact, struct span span)
{
    const pe_tensor *matrix = pe_table_tensor(expanded, t);
    const pe_tensor *distances = pe_table_tensor(compact, in_compact);
    int axis = query_axis(matrix, span);
    size_t count = (size_t)(span.queries + span.keys - 1);
    if (axis < 0 || distances->rank + 1 != matrix->rank || distances->shape[axis] != count)
        return 0;
    view cells = view_of(expanded, t, (size_t)axis, (size_t)(span.queries * span.keys));
    view rows = view_of(compact, in_compact, (size_t)axis, count);
    ck_assert_uint_eq(cells.outer, rows.outer);
    ck_assert_uint_eq(cells.bytes, rows.bytes);
    for (size_t head = 0; head < cells.outer; head++)
        for (int i = 0; i < span.queries; i++)
            for (int j = 0; j < span.keys; j++) {
                const unsigned char *one = cell(&cells, head, (size_t)(i * span.keys + j));
                /* the index of a distance: j - (offset + i) minus the least distance */
                const unsigned char *other =
                    cell(&rows, head, (size_t)(j - i + span.queries - 1));
                if (memcmp(one, other, cells.bytes) != 0)
                    ck_abort_msg("%s: %s[%zu] at query %d, key %d", what, matrix->name, head, i,
                                 j);
            }
    return 1;
}

static void check_forms(const char *scheme, const char *options)
{
    size_t compared = 0, spans = 0;
    bool own_tables = !strcmp(scheme, "shaw") || !strcmp(scheme, "transformer_xl");
    for (size_t s = 0; s < UNIT_COUNT(SPANS); s++) {
        struct span span = SPANS[s];
        pe_table *expanded = table_of(scheme, options, span, "expanded");
        pe_table *compact = table_of(scheme, options, span, "compact");
        ck_assert_int_eq(!expanded, !compact);
        if (!expanded)
            continue;
        spans++;
        size_t d = find_tensor(compact, "distance");
        /* transformer_xl has its rows in descending order, shaw those of a table */
        for (int row = 0; !own_tables && row < span.queries + span.keys - 1; row++)
            ck_assert_int_eq(integer_at(compact, d, (size_t)row),
                             row - (span.offset + span.queries - 1));
        for (size_t t = 0; t < pe_table_tensor_count(expanded); t++) {
            size_t same = find_tensor(compact, pe_table_tensor(expanded, t)->name);
            if (same < pe_table_tensor_count(compact))
                compared += compare_forms(scheme, expanded, t, compact, same, span);
        }
        pe_table_unref(expanded);
        pe_table_unref(compact);
    }
    ck_assert_msg(own_tables || compared >= spans, "%s?%s: nothing compared", scheme, options);
}

START_TEST(every_entry_of_a_matrix_is_the_row_of_its_distance)
{
    for_all_schemes(check_forms);
}
END_TEST

/* ---- refusals ---- */

START_TEST(more_queries_than_keys_need_an_offset)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        if (!unit_scheme_takes(info, "form"))
            continue;
        char query[300];
        snprintf(query, sizeof query, "%s&query_length=9", info->example);
        unit_refuses(info->name, query, PE_OUT_OF_RANGE, "query_offset",
                     "length is less than query_length");
    }
}
END_TEST

START_TEST(distances_beyond_32_bits_are_refused)
{
    unit_refuses("alibi", "length=4&heads=2&query_offset=2147483648", PE_OUT_OF_RANGE,
                 "query_offset", "from -2^31");
    unit_refuses("alibi", "length=4&heads=2&query_offset=-2147483648", PE_OUT_OF_RANGE,
                 "query_offset", "from -2^31");
    pe_request_unref(unit_legal_request("alibi", "length=4&heads=2&query_offset=2147483645"));
}
END_TEST

START_TEST(each_rule_between_parameters_is_named)
{
    static const struct {
        const char *scheme, *query, *parameter, *rule;
    } WRONG[] = {
        {"t5", "heads=2&num_buckets=31", "num_buckets", "even"},
        {"t5", "heads=2&num_buckets=2", "num_buckets", "at least 4"},
        {"t5", "heads=2&max_distance=8", "max_distance", "above 8"},
        {"t5", "heads=2&max_distance=16&bidirectional=false", "max_distance", "above 16"},
        {"deberta", "dim=4&position_buckets=1", "position_buckets", "at least 2"},
        {"deberta", "dim=4&position_buckets=256&max_relative_positions=129",
         "max_relative_positions", "at least 130"},
        {"transformer_xl", "dim=8&heads=3", "heads", "a divisor of dim"},
        {"transformer_xl", "dim=7", "dim", "an even integer"},
        {"shaw", "dim=4&min_distance=1", "min_distance", "to 0"},
        {"shaw", "dim=4&max_distance=-1", "max_distance", "from 0"},
        {"shaw", "dim=5&source=sinusoidal", "dim", "even"},
        {"relative_sinusoidal", "dim=5", "dim", "an even integer"},
        {"alibi", "heads=2&mask=key_only&form=compact", "form", "expanded"},
        {"alibi", "heads=2&mask=from_last_key&form=compact", "form", "mask=from_last_key"},
        {"alibi", "heads=2&head_dim=0", "head_dim", "from 1"},
        {"alibi", "heads=4&heads_total=3", "heads_total", "at most heads_total, 3"},
        {"alibi", "heads=4&heads_total=8&first_head=5", "first_head", "at most heads_total, 8"},
        {"transformer_xl", "dim=8&layout=concat", "layout", "attention=bi"},
        {"levit", "heads=2&height=3", "width", "given with height"},
        {"levit", "heads=2&height=3&width=2", "length", "height * width"},
        {"levit", "heads=2&height=2&width=2&form=compact", "form", "expanded for a grid"},
        {"levit", "heads=2&query_length=1&query_offset=4", "query_offset", "from 0 to 3"},
        {"fire", "heads=2&c=0", "c", "1e-09"},
        {"fire", "heads=2&threshold=0", "threshold", "0.001"},
        {"fire", "heads=2&epsilon=-1", "epsilon", "from 0"},
        {"fire", "heads=2&hidden=0", "hidden", "from 1"},
        {"sandwich", "heads=2&dim=5", "dim", "an even integer"},
        {"retnet", "heads=257&dim=4", "heads", "to 256"},
        {"retnet", "heads=2&dim=3", "dim", "an even integer"},
        {"urpe", "heads=2&query_offset=-1", "query_offset", "from 0 to 3"},
    };
    for (size_t i = 0; i < UNIT_COUNT(WRONG); i++) {
        char query[200];
        snprintf(query, sizeof query, "length=4&%s", WRONG[i].query);
        unit_refuses(WRONG[i].scheme, query, PE_OUT_OF_RANGE, WRONG[i].parameter,
                     WRONG[i].rule);
    }
    unit_refuses("levit", "heads=2", PE_MALFORMED, "length", "height and width");
}
END_TEST

START_TEST(a_dtype_that_does_not_hold_the_values_is_refused)
{
    static const struct {
        const char *query;
        bool legal; /* the largest value is a slope times a distance */
    } F16[] = {
        {"length=131040&heads=8&query_length=1", true},
        {"length=131041&heads=8&query_length=1", false},
        {"length=131041&heads=1&query_length=1", true},
        {"length=92661&heads=9&query_length=1&non_power_of_two=official", false},
        {"length=92600&heads=9&query_length=1&non_power_of_two=official", true},
        {"length=131040&heads=8&query_length=1&query_offset=0", true},
        {"length=131041&heads=8&query_length=1&query_offset=0", false},
        {"length=131041&heads=8&query_length=1&query_offset=0&mask=causal", true},
        {"length=131040&heads=8&query_length=1&mask=key_only&query_offset=999999", true},
        {"length=131041&heads=8&query_length=1&mask=key_only", false},
        {"length=131041&heads=8&query_length=1&mask=from_last_key", false},
        {"length=131041&heads=8&query_length=1&mask=key_only&head_dim=4", true},
        {"length=262081&heads=8&query_length=1&mask=key_only&head_dim=4", false},
    };
    for (size_t i = 0; i < UNIT_COUNT(F16); i++) {
        char query[200];
        snprintf(query, sizeof query, "%s&dtype=f16", F16[i].query);
        if (F16[i].legal)
            pe_request_unref(unit_legal_request("alibi", query));
        else
            unit_refuses("alibi", query, PE_OUT_OF_RANGE, "dtype", "f16");
        pe_request_unref(unit_legal_request("alibi", F16[i].query));
    }
}
END_TEST

Suite *relative_suite(void)
{
    const TTest *const tests[] = {every_entry_of_a_matrix_is_the_row_of_its_distance,
                                  more_queries_than_keys_need_an_offset,
                                  distances_beyond_32_bits_are_refused,
                                  each_rule_between_parameters_is_named,
                                  a_dtype_that_does_not_hold_the_values_is_refused,
                                  NULL};
    return unit_suite("relative", tests);
}
