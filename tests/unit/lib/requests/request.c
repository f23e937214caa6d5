/* Requests: names, presets, defaults, rules between parameters, and every mistake at once. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pe_parameter *parameter_of(const pe_scheme_info *info, size_t index)
{
    size_t count;
    const pe_parameter *common = pe_common_parameters(&count);
    return index < info->parameter_count ? &info->parameters[index]
                                         : &common[index - info->parameter_count];
}

static size_t parameter_count(const pe_scheme_info *info)
{
    size_t count;
    pe_common_parameters(&count);
    return info->parameter_count + count;
}

/* The value of a parameter of a legal request. */
static const pe_value *value_of(const pe_request *request, const char *name)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    for (size_t i = 0; i < parameter_count(info); i++)
        if (strcmp(parameter_of(info, i)->name, name) == 0)
            return pe_request_value(request, i);
    ck_abort_msg("%s has no parameter %s", info->name, name);
}

static void unknown(const char *scheme, const char *query, const char *name,
                    const char *suggestion)
{
    pe_request *request = NULL;
    pe_error error;
    ck_assert_int_eq(unit_request(scheme, query, &UNIT_LIMITS, &request, &error), PE_MALFORMED);
    ck_assert_ptr_null(request);
    const pe_problem *problem = unit_problem(&error, name);
    ck_assert_msg(problem && strcmp(problem->did_you_mean, suggestion) == 0,
                  "%s?%s suggests %s for %s, not %s", scheme, query,
                  problem ? problem->did_you_mean : "nothing", name, suggestion);
}

START_TEST(an_unknown_name_is_malformed_and_the_nearest_suggested)
{
    unknown("sinusoidal", "lenght=4&dim=8", "lenght", "length");
    unknown("sinusoidal", "length=4&dim=8&d_type=f32", "d_type", "dtype");
    unknown("sinusoidal", "length=4&dim=8&prest=whisper", "prest", "preset");
    unknown("sinusoidal", "length=4&dim=8&vocabulary=3", "vocabulary", "");
    unknown("sinusoidal", "length=4&dim=8&Length=4", "Length", "length");
    unknown("sinusoidal", "length=4&dim=8&=4", "", "");
    unknown("integer", "length=4&dim=8", "dim", "");
    unknown("integer", "length=4&format=json", "format", "");
    unknown("integer", "length=4&fromat=json", "fromat", "format");
    unknown("sinusoidal_2d", "heigth=2&width=2&dim=4", "heigth", "height");
}
END_TEST

START_TEST(every_parameter_but_for_its_last_letter_is_suggested)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        for (size_t i = 0; i < parameter_count(info); i++) {
            const char *name = parameter_of(info, i)->name;
            char wrong[64], query[200];
            const char *word = strrchr(name, '_') ? strrchr(name, '_') + 1 : name;
            if (strlen(word) < 5) /* what would be left may be anything */
                continue;
            snprintf(wrong, sizeof wrong, "%.*s", (int)strlen(name) - 1, name);
            snprintf(query, sizeof query, "%s&%s=1", info->example, wrong);
            unknown(info->name, query, wrong, name);
        }
    }
}
END_TEST

START_TEST(a_misspelt_name_is_not_reported_as_missing_as_well)
{
    pe_request *request = NULL;
    pe_error error;
    unit_request("sinusoidal", "lenght=4&dmi=8", &UNIT_LIMITS, &request, &error);
    ck_assert_uint_eq(error.count, 2);
    ck_assert(!unit_error_names(&error, "length") && !unit_error_names(&error, "dim"));
    unit_request("sinusoidal", "strange=4&dim=8", &UNIT_LIMITS, &request, &error);
    ck_assert_uint_eq(error.count, 2);
    ck_assert(unit_error_names(&error, "length"));
}
END_TEST

START_TEST(a_repeated_argument_is_malformed_even_with_the_same_value)
{
    unit_refuses("integer", "length=4&length=4", PE_MALFORMED, "length", "once");
    unit_refuses("integer", "length=4&offset=1&offset=2", PE_MALFORMED, "offset", "once");
    unit_refuses("integer", "length=4&dtype=f16&dtype=f16", PE_MALFORMED, "dtype", "once");
    unit_refuses("sinusoidal", "length=4&dim=8&preset=marian&preset=marian", PE_MALFORMED,
                 "preset", "once");
    unit_refuses("integer", "length=x&length=4", PE_MALFORMED, "length", "");
    unit_refuses("integer", "positions=1&positions=1", PE_MALFORMED, "positions", "once");
}
END_TEST

START_TEST(whatever_is_required_is_asked_for_by_name)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        pe_request *request = NULL;
        pe_error error;
        size_t required = 0;
        pe_status status =
            pe_request_new(pe_scheme_at(s), NULL, 0, &UNIT_LIMITS, &request, &error);
        for (size_t i = 0; i < parameter_count(info); i++) {
            const pe_parameter *parameter = parameter_of(info, i);
            const pe_problem *problem = unit_problem(&error, parameter->name);
            ck_assert_int_eq(problem != NULL, parameter->required);
            required += parameter->required;
            if (problem)
                ck_assert_int_eq(problem->reason, PE_REASON_MISSING);
        }
        ck_assert_uint_eq(error.count, required);
        ck_assert_int_eq(status, required ? PE_MALFORMED : PE_OK);
        pe_request_unref(request);
    }
    unit_refuses("sinusoidal", "dim=4", PE_MALFORMED, "length", "positions");
    unit_misses("sinusoidal", "length=4", "dim");
    unit_misses("sinusoidal", "length=4&preset=vaswani", "dim");
}
END_TEST

START_TEST(every_mistake_is_reported_at_once)
{
    pe_request *request = NULL;
    pe_error error;
    memset(&error, 0xff, sizeof error);
    unit_request("sinusoidal", "length=0&dim=x&layout=concta", &UNIT_LIMITS, &request, &error);
    ck_assert_uint_eq(error.count, 3);
    ck_assert(unit_error_names(&error, "length"));
    ck_assert(unit_error_names(&error, "dim"));
    ck_assert_str_eq(unit_problem(&error, "layout")->did_you_mean, "concat");
    ck_assert_int_eq(error.status, PE_MALFORMED);
    unit_request("sinusoidal", "length=0&dim=0", &UNIT_LIMITS, &request, &error);
    ck_assert_uint_eq(error.count, 2);
    ck_assert_int_eq(error.status, PE_OUT_OF_RANGE);
    unit_request("sinusoidal", "dim=4&dim=5&strange=4&preset=x&dtype=f33", &UNIT_LIMITS,
                 &request, &error);
    ck_assert_uint_eq(error.count, 5); /* and length is missing */
    ck_assert_ptr_null(request);
}
END_TEST

START_TEST(more_mistakes_than_fit_are_counted)
{
    char query[400] = "length=4";
    for (int i = 0; i < 20; i++) {
        size_t end = strlen(query);
        snprintf(query + end, sizeof query - end, "&stranger_%d=1", i);
    }
    pe_request *request = NULL;
    pe_error error;
    ck_assert_int_eq(unit_request("integer", query, &UNIT_LIMITS, &request, &error),
                     PE_MALFORMED);
    ck_assert_uint_eq(error.count, PE_PROBLEM_LIMIT);
    ck_assert_uint_eq(error.dropped, 20 - PE_PROBLEM_LIMIT);
}
END_TEST

START_TEST(a_wrong_preset_is_refused_with_the_names_there_are)
{
    unit_refuses("sinusoidal", "length=4&dim=8&preset=wisper", PE_MALFORMED, "preset",
                 "whisper");
    unknown("sinusoidal", "length=4&dim=8&preset=wisper", "preset", "whisper");
    unit_refuses("integer", "length=4&preset=whisper", PE_MALFORMED, "preset", "no presets");
    unit_refuses("sinusoidal", "length=4&dim=8&preset=", PE_MALFORMED, "preset", "");
}
END_TEST

START_TEST(a_preset_stands_over_the_defaults_and_under_explicit_values)
{
    pe_request *request = unit_legal_request("sinusoidal", "length=4&dim=8&preset=whisper");
    ck_assert_int_eq(value_of(request, "layout")->integer, 1);
    ck_assert_int_eq(value_of(request, "frequencies")->integer, 1);
    ck_assert_int_eq(value_of(request, "odd_dim")->integer, 0);
    pe_request_unref(request);
    static const char *const QUERIES[] = {
        "length=4&dim=8&preset=whisper&layout=interleaved",
        "layout=interleaved&preset=whisper&length=4&dim=8",
    };
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++) {
        request = unit_legal_request("sinusoidal", QUERIES[i]);
        ck_assert_int_eq(value_of(request, "layout")->integer, 0);
        ck_assert_int_eq(value_of(request, "frequencies")->integer, 1);
        pe_request_unref(request);
    }
}
END_TEST

START_TEST(positions_stand_instead_of_length_offset_and_step)
{
    static const char *const OTHERS[] = {"length", "offset", "step"};
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        if (!unit_scheme_takes(info, "positions"))
            continue;
        for (size_t i = 0; i < UNIT_COUNT(OTHERS); i++) {
            char query[100];
            snprintf(query, sizeof query, "positions=1,2%s&%s=1", unit_needs(info), OTHERS[i]);
            unit_refuses(info->name, query, PE_OUT_OF_RANGE, OTHERS[i], "positions");
        }
        char query[100];
        snprintf(query, sizeof query, "positions=1,2%s", unit_needs(info));
        pe_request *request = unit_legal_request(info->name, query);
        for (size_t i = 0; i < UNIT_COUNT(OTHERS); i++)
            ck_assert(!value_of(request, OTHERS[i])->present);
        ck_assert_uint_eq(value_of(request, "positions")->count, 2);
        pe_request_unref(request);
    }
}
END_TEST

/* The other argument is wrong, but it was given: nothing else is said to be missing. */
START_TEST(wrong_positions_do_not_make_the_length_required)
{
    pe_request *request = NULL;
    pe_error error;
    unit_request("integer", "positions=1,x", &UNIT_LIMITS, &request, &error);
    ck_assert_uint_eq(error.count, 1);
    ck_assert(unit_error_names(&error, "positions"));
    unit_request("integer", "positions=1,2&stepp=3", &UNIT_LIMITS, &request, &error);
    ck_assert_uint_eq(error.count, 1); /* a guess at a name excludes nothing */
    ck_assert(unit_error_names(&error, "stepp"));
}
END_TEST

/* The default of a parameter's row, or of the case of the choice that it depends on. */
static const char *default_of(const pe_request *request, const pe_parameter *parameter)
{
    if (!parameter->when)
        return parameter->default_text;
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    for (const pe_case *row = parameter->cases; row->choice; row++)
        for (size_t i = 0; i < parameter_count(info); i++) {
            const pe_parameter *decides = parameter_of(info, i);
            if (strcmp(decides->name, parameter->when) == 0 &&
                strcmp(decides->choices[pe_request_value(request, i)->integer], row->choice) ==
                    0)
                return row->default_text;
        }
    return NULL;
}

/* Values that a scheme settled, as text: the request that gives them is the same. */
static void check_settled(const pe_request *request, const char *settled)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    char query[512];
    size_t length, other_length;
    snprintf(query, sizeof query, "%s%s", info->example, settled);
    pe_request *other = unit_legal_request(info->name, query);
    const char *key = pe_request_key(request, &length);
    const char *other_key = pe_request_key(other, &other_length);
    ck_assert(length == other_length && memcmp(key, other_key, length) == 0);
    pe_request_unref(other);
}

/* Append a value that a scheme settled. */
static void add_settled(const pe_parameter *parameter, const pe_value *value, char dst[256])
{
    char number[PE_PRINT_MAX];
    size_t used = strlen(dst);
    ck_assert(parameter->type == PE_INTEGER || parameter->type == PE_REAL);
    pe_print_number(number, value->real);
    snprintf(dst + used, 256 - used, "&%s=%s", parameter->name, number);
}

START_TEST(values_are_those_given_else_the_defaults)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        pe_request *request = unit_legal_request(info->name, info->example);
        ck_assert_ptr_eq(pe_request_scheme(request), pe_scheme_at(s));
        unit_query query = unit_query_of(info->example);
        char settled[256] = "";
        for (size_t i = 0; i < parameter_count(info); i++) {
            const pe_parameter *parameter = parameter_of(info, i);
            const char *text = default_of(request, parameter);
            for (size_t a = 0; a < query.count; a++)
                if (strcmp(query.arguments[a].name, parameter->name) == 0)
                    text = query.arguments[a].text;
            const pe_value *value = pe_request_value(request, i);
            if (!text && parameter->default_of) { /* computed: see computed_defaults below */
                ck_assert_int_eq(value->present,
                                 value_of(request, parameter->default_of)->present);
                continue;
            }
            if (!text && value->present) {
                add_settled(parameter, value, settled);
                continue;
            }
            ck_assert_int_eq(value->present, text != NULL);
            if (text && (parameter->type == PE_INTEGER || parameter->type == PE_REAL))
                ck_assert_double_eq(value->real, strtod(text, NULL));
            if (text && parameter->type == PE_INTEGER)
                ck_assert_int_eq(value->integer, strtoll(text, NULL, 10));
            if (text && parameter->type == PE_BOOLEAN)
                ck_assert_int_eq(value->integer, strcmp(text, "true") == 0);
            if (text && parameter->type == PE_CHOICE)
                ck_assert_str_eq(parameter->choices[value->integer], text);
        }
        check_settled(request, settled);
        unit_query_free(&query);
        pe_request_unref(request);
    }
}
END_TEST

static void is_computed(const char *scheme, const char *query, const char *name, int64_t value)
{
    pe_request *request = unit_legal_request(scheme, query);
    ck_assert(value_of(request, name)->present);
    ck_assert_int_eq(value_of(request, name)->integer, value);
    ck_assert_double_eq(value_of(request, name)->real, (double)value);
    pe_request_unref(request);
}

START_TEST(computed_defaults)
{
    is_computed("alibi", "length=7&heads=1", "query_length", 7);
    is_computed("alibi", "length=7&heads=1", "query_offset", 0);
    is_computed("alibi", "length=7&heads=1&query_length=3", "query_offset", 4);
    is_computed("alibi", "length=7&heads=1&query_length=3&query_offset=-2", "query_offset", -2);
    is_computed("levit", "height=3&width=5&heads=1", "length", 15);
    is_computed("levit", "height=3&width=5&heads=1&query_length=2", "query_offset", 13);
    is_computed("levit", "length=6&heads=1", "query_length", 6);
    unit_refuses("alibi", "length=3&heads=1&query_length=4", PE_OUT_OF_RANGE, "query_offset",
                 "length is less than query_length");
    unit_refuses("levit", "height=65536&width=65536&heads=1", PE_OUT_OF_RANGE, "height",
                 "height * width, is at most");
    unit_misses("levit", "heads=1", "length");
    unit_refuses("levit", "heads=1&height=3", PE_OUT_OF_RANGE, "width", "given with height");
    unit_refuses("levit", "heads=1&height=3&width=2&length=5", PE_OUT_OF_RANGE, "length",
                 "height * width");
}
END_TEST

START_TEST(a_request_keeps_nothing_of_its_arguments)
{
    unit_query query = unit_query_of("positions=1,2,3&dim=4&layout=concat&dtype=f64");
    pe_argument *arguments = malloc(query.count * sizeof *arguments);
    memcpy(arguments, query.arguments, query.count * sizeof *arguments);
    pe_request *request;
    pe_error error;
    ck_assert_int_eq(pe_request_new(pe_scheme_find("sinusoidal"), arguments, query.count,
                                    &UNIT_LIMITS, &request, &error),
                     PE_OK);
    ck_assert_uint_eq(error.count, 0);
    free(arguments);
    memset(query.text, 'z', strlen("positions=1,2,3&dim=4&layout=concat&dtype=f64"));
    unit_query_free(&query);
    ck_assert_double_eq(value_of(request, "positions")->items[2], 3);
    ck_assert_int_eq(value_of(request, "layout")->integer, 1);
    ck_assert_int_eq(pe_request_tensor(request, 0)->dtype, PE_F64);
    pe_request_unref(request);
    pe_request_unref(NULL);
}
END_TEST

START_TEST(json_kinds_must_fit_the_parameter)
{
    static const struct {
        pe_argument argument;
        bool legal;
    } CASES[] = {
        {{"dim", "8", .kind = PE_KIND_NUMBER}, true},
        {{"dim", "8", .kind = PE_KIND_STRING}, false},
        {{"dim", "8", .kind = PE_KIND_LIST}, false},
        {{"layout", "concat", .kind = PE_KIND_STRING}, true},
        {{"layout", "concat", .kind = PE_KIND_LIST}, false},
        {{"dtype", "f16", .kind = PE_KIND_STRING}, true},
        {{"dtype", "f16", .kind = PE_KIND_NUMBER}, false},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        bool is_dim = strcmp(CASES[i].argument.name, "dim") == 0;
        pe_argument arguments[3] = {{"length", "4", .kind = PE_KIND_NUMBER},
                                    CASES[i].argument,
                                    {"dim", "8", .kind = PE_KIND_NUMBER}};
        pe_request *request = NULL;
        pe_error error;
        pe_status status = pe_request_new(pe_scheme_find("sinusoidal"), arguments,
                                          is_dim ? 2 : 3, &UNIT_LIMITS, &request, &error);
        ck_assert_int_eq(status, CASES[i].legal ? PE_OK : PE_MALFORMED);
        ck_assert_int_eq(unit_error_names(&error, CASES[i].argument.name), !CASES[i].legal);
        pe_request_unref(request);
    }
}
END_TEST

START_TEST(a_null_is_not_given_but_its_name_is_checked)
{
    static const struct {
        const char *name;
        pe_reason reason; /* PE_REASON_RULE: legal */
    } CASES[] = {
        {"offset", PE_REASON_RULE}, {"layout", PE_REASON_RULE},   {"preset", PE_REASON_RULE},
        {"dim", PE_REASON_MISSING}, {"offse", PE_REASON_UNKNOWN},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        bool is_dim = strcmp(CASES[i].name, "dim") == 0;
        pe_argument arguments[] = {{"length", "4", .kind = PE_KIND_NUMBER},
                                   {CASES[i].name, "", .kind = PE_KIND_NULL},
                                   {"dim", "8", .kind = PE_KIND_NUMBER}};
        pe_request *request = NULL;
        pe_error error;
        pe_status status = pe_request_new(pe_scheme_find("sinusoidal"), arguments,
                                          is_dim ? 2 : 3, &UNIT_LIMITS, &request, &error);
        ck_assert_int_eq(status, CASES[i].reason == PE_REASON_RULE ? PE_OK : PE_MALFORMED);
        if (status != PE_OK) {
            ck_assert_uint_eq(error.count, 1);
            ck_assert_int_eq(error.problems[0].reason, CASES[i].reason);
        }
        pe_request_unref(request);
    }
}
END_TEST

START_TEST(an_unreadable_argument_fails_and_is_its_callers_to_report)
{
    pe_argument arguments[] = {{"length", NULL, .kind = PE_KIND_ANY},
                               {"dim", "8", .kind = PE_KIND_ANY}};
    pe_request *request = NULL;
    pe_error error;
    ck_assert_int_eq(pe_request_new(pe_scheme_find("sinusoidal"), arguments, 2, &UNIT_LIMITS,
                                    &request, &error),
                     PE_MALFORMED);
    ck_assert_uint_eq(error.count, 0);
    arguments[1].text = "x"; /* and what else is wrong is found */
    ck_assert_int_eq(pe_request_new(pe_scheme_find("sinusoidal"), arguments, 2, &UNIT_LIMITS,
                                    &request, &error),
                     PE_MALFORMED);
    ck_assert_uint_eq(error.count, 1);
    ck_assert(unit_error_names(&error, "dim"));
    ck_assert_ptr_null(request);
}
END_TEST

START_TEST(rules_between_parameters_name_the_way_out)
{
    static const struct {
        const char *scheme, *query, *parameter, *rule;
    } CASES[] = {
        {"sinusoidal", "length=4&dim=7", "dim", "odd_dim"},
        {"sinusoidal", "length=4&dim=1&odd_dim=pad", "dim", "3"},
        {"sinusoidal", "length=4&dim=2&frequencies=tensor2tensor", "dim", "tensor2tensor"},
        {"sinusoidal", "length=4&dim=3&odd_dim=pad&frequencies=tensor2tensor", "dim", "4"},
        {"sinusoidal", "length=4&dim=8&frequencies=per_column&layout=concat", "layout",
         "per_column"},
        {"sinusoidal", "length=4&offset=4503599627370497&dim=8&position_scale=1.5",
         "position_scale", "2^52"},
        {"sinusoidal", "positions=-4503599628&dim=8&position_scale=1e6", "position_scale",
         "2^52"},
        {"sinusoidal_2d", "height=2&width=2&dim=6", "dim", "multiple of 4"},
        {"sinusoidal_2d", "height=2&width=2&dim=4&grouping=function", "grouping", "concat"},
        {"sinusoidal_2d", "height=2&width=2&dim=4&extra_tokens=1", "extra_tokens", "nc"},
        {"sinusoidal_2d", "height=2&width=2&dim=4&first_position=0.25", "first_position",
         "0, 0.5 or 1"},
        {"sinusoidal_2d", "height=2&width=3&dim=4&table_size=2", "table_size", "width"},
        {"sinusoidal_2d", "height=2&width=3&dim=4&table_size=3&mask=6", "table_size", "mask"},
        {"sinusoidal_2d", "height=2&width=3&dim=4&mask=3,2", "mask", "6 cells"},
        {"sinusoidal_2d", "height=2000&width=1000&dim=4&mask=1e6,1e6", "mask", "1048576"},
        {"sinusoidal_2d", "height=1000&width=1000&dim=256&mask=1e6&normalize=cells", "mask",
         "48 MiB"},
        {"sinusoidal_3d", "depth=1&height=1&width=1&dim=24&split=quarter", "dim", "16"},
        {"sinusoidal_3d", "depth=1&height=1&width=1&dim=8&layout=concat", "dim", "6"},
        {"fourier", "sizes=1,1,1,1,1&bands=2", "sizes", "4 numbers"},
        {"fourier", "sizes=2,2&axes=2&bands=2", "axes", "sizes"},
        {"fourier", "coordinates=1,2,3&axes=2&bands=2", "coordinates", "2 numbers"},
        {"fourier", "sizes=2&bands=22", "bands", "2^20"},
        {"fourier", "sizes=2&bands=65536&min_frequency=17&spacing=linear", "bands", "2^20"},
        {"fourier", "sizes=2,2&bands=2&max_frequency=2,3,4", "max_frequency", "2 axes"},
        {"fourier", "sizes=2,2&bands=2&max_frequency=2,0.5", "max_frequency", "min_frequency"},
        {"fourier", "coordinates=70000&axes=1&bands=2&include_input=last&dtype=f16", "dtype",
         "f16"},
        {"binary", "length=9&width=3", "width", "4"},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++)
        unit_refuses(CASES[i].scheme, CASES[i].query, PE_OUT_OF_RANGE, CASES[i].parameter,
                     CASES[i].rule);
    static const char *const LEGAL[][2] = {
        {"sinusoidal", "length=4&dim=7&odd_dim=truncate"},
        {"sinusoidal", "length=4&dim=1&odd_dim=truncate"},
        {"sinusoidal", "length=4&dim=3&odd_dim=pad"},
        {"sinusoidal", "length=4&dim=4&frequencies=tensor2tensor"},
        {"sinusoidal", "length=4&dim=2&frequencies=per_column"},
        {"sinusoidal_2d", "height=2&width=2&dim=4&grouping=function&layout=concat"},
        {"sinusoidal_2d", "height=2&width=2&dim=4&extra_tokens=1&shape=nc"},
        {"binary", "length=8&width=3"},
    };
    for (size_t i = 0; i < UNIT_COUNT(LEGAL); i++)
        pe_request_unref(unit_legal_request(LEGAL[i][0], LEGAL[i][1]));
}
END_TEST

Suite *request_suite(void)
{
    const TTest *const tests[] = {
        an_unknown_name_is_malformed_and_the_nearest_suggested,
        every_parameter_but_for_its_last_letter_is_suggested,
        a_misspelt_name_is_not_reported_as_missing_as_well,
        a_repeated_argument_is_malformed_even_with_the_same_value,
        whatever_is_required_is_asked_for_by_name,
        every_mistake_is_reported_at_once,
        more_mistakes_than_fit_are_counted,
        a_wrong_preset_is_refused_with_the_names_there_are,
        a_preset_stands_over_the_defaults_and_under_explicit_values,
        positions_stand_instead_of_length_offset_and_step,
        wrong_positions_do_not_make_the_length_required,
        values_are_those_given_else_the_defaults,
        computed_defaults,
        a_request_keeps_nothing_of_its_arguments,
        json_kinds_must_fit_the_parameter,
        a_null_is_not_given_but_its_name_is_checked,
        an_unreadable_argument_fails_and_is_its_callers_to_report,
        rules_between_parameters_name_the_way_out,
        NULL,
    };
    return unit_suite("request", tests);
}
