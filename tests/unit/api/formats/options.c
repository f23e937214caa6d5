/* Options of formats: read by their rows, canonical, and refused where they do not belong; what
 * csv and png make of single elements. */
#include "formats/options.h"
#include "formats/registry.h"
#include "formats/slice.h"

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void read_options(const char *query, api_options *ret_options, pe_error *ret_error)
{
    api_arguments arguments;
    pe_error_init(ret_error);
    api_arguments_from_query(query, &arguments, ret_error);
    api_options_read(ret_options, &arguments, ret_error);
    api_arguments_done(&arguments);
}

static const char *variant_of(const char *query, const char *format)
{
    static char variant[API_VARIANT_BYTES];
    api_options options;
    pe_error error;
    read_options(query, &options, &error);
    ck_assert_uint_eq(error.count, 0);
    api_options_variant(&options, api_format_find(format), variant);
    api_options_done(&options);
    return variant;
}

START_TEST(rows_of_options_are_legal_and_no_scheme_has_their_names)
{
    const pe_parameter *rows[API_OPTIONS_MAX];
    size_t count = api_option_rows(rows);
    ck_assert_uint_ge(count, 3);
    for (size_t i = 0; i < count; i++) {
        const char *name = rows[i]->name;
        ck_assert(strcmp(name, "format") != 0 && strcmp(name, "tensor") != 0);
        ck_assert(rows[i]->help && !rows[i]->when && !rows[i]->required);
        for (size_t s = 0; s < pe_scheme_count(); s++) {
            const pe_scheme *similarity =
                pe_similarity_find(pe_scheme_describe(pe_scheme_at(s))->name);
            const pe_scheme_info *info = pe_scheme_describe(similarity);
            for (size_t p = 0; p < pe_all_parameter_count(info); p++)
                ck_assert_str_ne(pe_parameter_at(info, p)->name, name);
        }
        for (size_t f = 0; f < api_format_count(); f++) /* one row for a name */
            for (size_t o = 0; o < api_format_get(f)->option_count; o++) {
                const pe_parameter *other = &api_format_get(f)->options[o];
                if (strcmp(other->name, name) == 0)
                    ck_assert(other->type == rows[i]->type &&
                              strcmp(other->help, rows[i]->help) == 0 &&
                              other->minimum == rows[i]->minimum &&
                              other->maximum == rows[i]->maximum &&
                              other->default_text == rows[i]->default_text &&
                              other->choices == rows[i]->choices);
            }
    }
}
END_TEST

START_TEST(variants_are_canonical)
{
    ck_assert_str_eq(variant_of("length=4", "png"), "");
    ck_assert_str_eq(variant_of("scale=1&colormap=diverging", "png"), "");
    ck_assert_str_eq(variant_of("scale=1e1&colormap=gray&slice=3,0", "png"),
                     "slice=3,0&colormap=gray&scale=10");
    ck_assert_str_eq(variant_of("slice=9007199254740992,9007199254740992&colormap=viridis"
                                "&scale=16",
                                "png"),
                     "slice=9007199254740992,9007199254740992&colormap=viridis&scale=16");
    ck_assert_str_eq(variant_of("scale=2&slice=1", "csv"), "slice=1");
    ck_assert_str_eq(variant_of("scale=2&slice=1", "json"), "");
}
END_TEST

START_TEST(wrong_options_name_themselves)
{
    static const struct {
        const char *query, *parameter, *rule;
        pe_status status;
    } CASES[] = {
        {"scale=0", "scale", "from 1 to 16", PE_OUT_OF_RANGE},
        {"scale=17", "scale", "from 1 to 16", PE_OUT_OF_RANGE},
        {"scale=1.5", "scale", "an integer", PE_MALFORMED},
        {"scale=2&scale=2", "scale", "given once", PE_MALFORMED},
        {"colormap=virids", "colormap", "viridis", PE_MALFORMED},
        {"slice=-1", "slice", "from 0", PE_OUT_OF_RANGE},
        {"slice=1,2,3", "slice", "at most 2", PE_TOO_LARGE},
        {"slice=1,", "slice", "integers", PE_MALFORMED},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        api_options options;
        pe_error error;
        read_options(CASES[i].query, &options, &error);
        ck_assert_uint_eq(error.count, 1);
        ck_assert_int_eq(error.status, CASES[i].status);
        ck_assert_str_eq(error.problems[0].parameter, CASES[i].parameter);
        ck_assert_msg(strstr(error.problems[0].allowed, CASES[i].rule), "%s: %s",
                      CASES[i].query, error.problems[0].allowed);
        api_options_done(&options);
    }
}
END_TEST

START_TEST(an_option_of_another_form_is_refused)
{
    api_options options;
    pe_error error;
    read_options("scale=2&slice=0", &options, &error);
    api_options_check(&options, api_format_find("png"), &error);
    ck_assert_uint_eq(error.count, 0);
    api_options_check(&options, api_format_find("csv"), &error);
    ck_assert_uint_eq(error.count, 1);
    ck_assert_int_eq(error.status, PE_MALFORMED);
    ck_assert_str_eq(error.problems[0].parameter, "scale");
    ck_assert_str_eq(error.problems[0].allowed,
                     "left out with format=csv, since it is an option of format=png");
    pe_error_init(&error);
    api_options_check(&options, api_format_find("json"), &error);
    ck_assert_uint_eq(error.count, 2);
    api_options_done(&options);
}
END_TEST

/* ---- slices ---- */

START_TEST(a_slice_is_where_its_indices_lead)
{
    static const struct {
        const char *scheme, *query, *slice;
        uint64_t first, rows, columns;
        bool legal, needed; /* whether it is legal, and a picture needs one */
    } CASES[] = {
        {"integer", "length=7", NULL, 0, 7, 1, true, false},
        {"integer", "length=7", "slice=0", 0, 0, 0, false, false},
        {"sinusoidal", "length=7&dim=4", NULL, 0, 7, 4, true, false},
        {"sinusoidal", "length=7&dim=4", "slice=0", 0, 0, 0, false, false},
        {"alibi", "length=5&heads=8", NULL, 0, 40, 5, true, true},
        {"alibi", "length=5&heads=8", "slice=7", 175, 5, 5, true, true},
        {"alibi", "length=5&heads=8", "slice=8", 0, 0, 0, false, true},
        {"alibi", "length=5&heads=8", "slice=1,1", 0, 0, 0, false, true},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        pe_request *request = unit_legal_request(CASES[i].scheme, CASES[i].query);
        api_options options;
        pe_error error;
        read_options(CASES[i].slice, &options, &error);
        api_selection selection = {.request = request, .count = 1, .options = &options};
        api_slice_check(&selection, false, &error);
        ck_assert_msg((error.count == 0) == CASES[i].legal, "case %zu", i);
        if (CASES[i].legal) {
            api_slice slice = api_slice_select(&selection);
            ck_assert_uint_eq(slice.first, CASES[i].first);
            ck_assert_uint_eq(slice.rows, CASES[i].rows);
            ck_assert_uint_eq(slice.columns, CASES[i].columns);
        }
        if (!CASES[i].slice) {
            api_slice_check(&selection, true, &error);
            ck_assert((error.count == 1) == CASES[i].needed);
        }
        api_options_done(&options);
        pe_request_unref(request);
    }
}
END_TEST

/* ---- values that no scheme makes, in a table of a scheme's ---- */

static api_body *write_values(const char *format, const float *values, size_t count)
{
    char query[32];
    size_t bytes;
    snprintf(query, sizeof query, "length=%zu", count);
    pe_request *request = unit_legal_request("integer", query);
    pe_table *table = unit_table("integer", query);
    memcpy((void *)(uintptr_t)pe_table_data(table, 0), values, count * sizeof *values);
    api_selection selection = {.request = request, .count = 1};
    api_body *body = api_format_find(format)->write(&selection, table, &bytes);
    pe_table_unref(table);
    pe_request_unref(request);
    return body;
}

START_TEST(csv_names_infinities_and_nan)
{
    static const float values[] = {1, (float)NAN, -INFINITY, INFINITY, -0.5f, 1e-7f};
    static const char expected[] = "1.0\nnan\n-inf\ninf\n-0.5\n1e-07\n";
    const api_segment *all;
    api_body *body = write_values("csv", values, UNIT_COUNT(values));
    ck_assert_uint_eq(api_body_segments(body, &all), 1);
    ck_assert_uint_eq(all->size, sizeof expected - 1);
    ck_assert_int_eq(memcmp(all->data, expected, all->size), 0);
    api_body_unref(body);
}
END_TEST

START_TEST(a_picture_of_nothing_finite_is_one)
{
    static const float values[] = {(float)NAN, -INFINITY, (float)NAN};
    const api_segment *all;
    api_body *body = write_values("png", values, UNIT_COUNT(values));
    ck_assert_uint_eq(api_body_segments(body, &all), 1);
    ck_assert_ptr_nonnull(memmem(all->data, all->size, "Range\0none", 10));
    api_body_unref(body);
}
END_TEST

Suite *options_suite(void)
{
    const TTest *const tests[] = {rows_of_options_are_legal_and_no_scheme_has_their_names,
                                  variants_are_canonical,
                                  wrong_options_name_themselves,
                                  an_option_of_another_form_is_refused,
                                  a_slice_is_where_its_indices_lead,
                                  csv_names_infinities_and_nan,
                                  a_picture_of_nothing_finite_is_one,
                                  NULL};
    return unit_suite("options", tests);
}
