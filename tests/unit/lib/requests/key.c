/* Canonical keys: one for every way to write a request, another for every other request. */
#include "scheme.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void same_key(const char *scheme, const char *a, const char *b)
{
    char *key_a = unit_key(scheme, a), *key_b = unit_key(scheme, b);
    ck_assert_str_eq(key_a, key_b);
    free(key_a);
    free(key_b);
}

static bool keys_differ(const char *scheme, const char *a, const char *b)
{
    char *key_a = unit_key(scheme, a), *key_b = unit_key(scheme, b);
    bool differ = strcmp(key_a, key_b) != 0;
    free(key_a);
    free(key_b);
    return differ;
}

/* Append to a query that has room for 1000 bytes. */
static void append(char *query, const char *name, const char *value)
{
    size_t end = strlen(query);
    snprintf(query + end, 1000 - end, "%s%s=%s", end ? "&" : "", name, value);
}

/* Swap items i and j. */
static void swap(pe_argument *arguments, size_t i, size_t j)
{
    pe_argument kept = arguments[i];
    arguments[i] = arguments[j];
    arguments[j] = kept;
}

/* Every order of the first `size` arguments has the given key (Heap's algorithm). */
static void permute(const char *scheme, pe_argument *arguments, size_t count, size_t size,
                    const char *expected)
{
    if (size > 1) {
        for (size_t i = 0; i < size; i++) {
            permute(scheme, arguments, count, size - 1, expected);
            swap(arguments, size % 2 ? 0 : i, size - 1);
        }
        return;
    }
    pe_request *request;
    pe_error error;
    size_t length;
    ck_assert_int_eq(pe_request_new(pe_scheme_find(scheme), arguments, count, &UNIT_LIMITS,
                                    &request, &error),
                     PE_OK);
    ck_assert_str_eq(pe_request_key(request, &length), expected);
    pe_request_unref(request);
}

START_TEST(the_order_of_arguments_does_not_matter)
{
    static const char QUERY[] = "length=4&dim=8&dtype=f16&layout=concat&preset=seed_cls"
                                "&frequencies=vaswani";
    unit_query query = unit_query_of(QUERY);
    char *key = unit_key("sinusoidal", QUERY);
    permute("sinusoidal", query.arguments, query.count, query.count, key);
    free(key);
    unit_query_free(&query);
}
END_TEST

START_TEST(the_spelling_of_numbers_does_not_matter)
{
    same_key("sinusoidal", "length=10000&dim=8", "length=1e4&dim=8.0");
    same_key("sinusoidal", "length=10000&dim=8", "length=10000.000&dim=0.8e1");
    same_key("sinusoidal", "length=1&dim=8&base=10000", "length=1&dim=8&base=1.0E+4");
    same_key("sinusoidal", "length=1&dim=8&offset=0", "length=1&dim=8&offset=-0.0");
    same_key("sinusoidal", "length=1&dim=8&offset=0.1", "length=1&dim=8&offset=1e-1");
    same_key("sinusoidal", "length=1&dim=8&offset=0.1",
             "length=1&dim=8&offset=0.1000000000000000055");
    same_key("sinusoidal", "positions=1,2,-3&dim=8", "positions=1.0,2e0,-30e-1&dim=8");
    same_key("sinusoidal", "positions=0&dim=8", "positions=-0&dim=8");
}
END_TEST

START_TEST(a_default_may_be_given_or_left_out)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        char query[1000];
        snprintf(query, sizeof query, "dtype=f32&%s", info->example);
        for (size_t i = info->parameter_count; i-- > 0;) {
            const pe_parameter *parameter = &info->parameters[i];
            bool excluded =
                parameter->unless && unit_query_gives(info->example, parameter->unless);
            if (parameter->default_text && !excluded &&
                !unit_query_gives(query, parameter->name))
                append(query, parameter->name, parameter->default_text);
        }
        same_key(info->name, info->example, query);
    }
}
END_TEST

START_TEST(a_preset_may_be_named_or_spelt_out)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        for (size_t p = 0; p < info->preset_count; p++) {
            const pe_preset *preset = &info->presets[p];
            char named[1000] = "", spelt[1000] = "";
            snprintf(named, sizeof named, "%s&preset=%s", info->example, preset->name);
            snprintf(spelt, sizeof spelt, "%s", info->example);
            for (size_t v = 0; preset->values[v]; v += 2)
                append(spelt, preset->values[v], preset->values[v + 1]);
            same_key(info->name, named, spelt);
        }
    }
}
END_TEST

START_TEST(schemes_never_share_a_key)
{
    for (size_t a = 0; a < pe_scheme_count(); a++) {
        for (size_t b = 0; b < a; b++) {
            const pe_scheme_info *first = pe_scheme_describe(pe_scheme_at(a));
            const pe_scheme_info *second = pe_scheme_describe(pe_scheme_at(b));
            char *key_a = unit_key(first->name, first->example);
            char *key_b = unit_key(second->name, second->example);
            ck_assert_str_ne(key_a, key_b);
            free(key_a);
            free(key_b);
        }
    }
}
END_TEST

START_TEST(the_key_states_scheme_revision_and_every_present_parameter_in_order)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        pe_request *request = unit_legal_request(info->name, info->example);
        size_t length;
        const char *key = pe_request_key(request, &length), *at = key;
        ck_assert_uint_eq(length, strlen(key));
        ck_assert_int_eq(strncmp(key, info->name, strlen(info->name)), 0);
        char revision[16];
        snprintf(revision, sizeof revision, "%u", info->revision);
        ck_assert_int_eq(strncmp(key + strlen(info->name) + 1, revision, strlen(revision)), 0);
        for (size_t i = 0; i <= info->parameter_count; i++) {
            size_t commons;
            const pe_parameter *parameter = i < info->parameter_count
                                                ? &info->parameters[i]
                                                : pe_common_parameters(&commons);
            char name[64];
            snprintf(name, sizeof name, "&%s=", parameter->name);
            if (!pe_request_value(request, i)->present) {
                ck_assert_ptr_null(strstr(key, name));
                continue;
            }
            at = strstr(at, name); /* behind the one before */
            ck_assert_msg(at != NULL, "%s lacks %s", key, name);
        }
        pe_request_unref(request);
    }
}
END_TEST

/* A legal value of the parameter other than its default; NULL if there is none that is legal in
 * every scheme beside nothing but the example. */
static const char *other_value(const pe_parameter *parameter)
{
    if (strcmp(parameter->name, "step") == 0 || strcmp(parameter->name, "offset") == 0)
        return "3";
    if (strcmp(parameter->name, "base") == 0)
        return "10001";
    if (strcmp(parameter->name, "amplitude") == 0)
        return "1.0000000000000002";
    if (parameter->when)
        return NULL; /* legal beside a choice that is not the example's */
    const char *text = parameter->default_text ? parameter->default_text : "";
    if (parameter->type == PE_BOOLEAN)
        return strcmp(text, "true") == 0 ? "false" : "true";
    if (parameter->type == PE_CHOICE)
        return parameter->choices[strcmp(parameter->choices[0], text) == 0];
    return NULL;
}

START_TEST(every_parameter_makes_a_difference)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        for (size_t i = 0; i < info->parameter_count; i++) {
            const char *value = other_value(&info->parameters[i]);
            char query[1000];
            pe_request *request;
            pe_error error;
            snprintf(query, sizeof query, "%s", info->example);
            if (!value)
                continue;
            append(query, info->parameters[i].name, value);
            if (unit_request(info->name, query, &UNIT_LIMITS, &request, &error) != PE_OK)
                continue; /* against a rule, as grouping=function alone */
            pe_request_unref(request);
            ck_assert_msg(keys_differ(info->name, info->example, query), "%s", query);
        }
        char query[1000];
        snprintf(query, sizeof query, "%s&dtype=f64", info->example);
        ck_assert(keys_differ(info->name, info->example, query));
    }
}
END_TEST

START_TEST(numbers_a_bit_apart_have_keys_of_their_own)
{
    static const char *const PAIRS[][2] = {
        {"length=4", "length=5"},
        {"length=4&offset=0.1", "length=4&offset=0.10000000000000002"},
        {"length=4&offset=9007199254740980", "length=4&offset=9007199254740981"},
        {"length=4&offset=5e-324", "length=4"},
        {"positions=1,2", "positions=2,1"},
        {"positions=1,2", "positions=1,2,2"},
        {"positions=12", "positions=1,2"},
        {"positions=0,1", "length=2"},
    };
    for (size_t i = 0; i < UNIT_COUNT(PAIRS); i++) {
        char a[200], b[200];
        snprintf(a, sizeof a, "%s&dim=8", PAIRS[i][0]);
        snprintf(b, sizeof b, "%s&dim=8", PAIRS[i][1]);
        ck_assert_msg(keys_differ("sinusoidal", a, b), "%s and %s", a, b);
    }
    ck_assert(keys_differ("binary", "length=4&width=2", "length=4&width=3"));
}
END_TEST

START_TEST(a_new_revision_is_a_new_key)
{
    pe_scheme newer = *pe_scheme_find("integer");
    newer.info.revision += 41;
    pe_argument argument = {"length", "4", .kind = PE_KIND_ANY};
    pe_request *request, *newer_request;
    pe_error error;
    size_t length;
    pe_request_new(pe_scheme_find("integer"), &argument, 1, &UNIT_LIMITS, &request, &error);
    pe_request_new(&newer, &argument, 1, &UNIT_LIMITS, &newer_request, &error);
    ck_assert_str_ne(pe_request_key(request, &length), pe_request_key(newer_request, &length));
    pe_request_unref(request);
    pe_request_unref(newer_request);
}
END_TEST

START_TEST(a_long_list_is_a_long_key)
{
    enum { COUNT = 20000 };
    static const char ITEM[] = "-2.2250738585072014e-308,";
    size_t item = strlen(ITEM), start = strlen("positions=");
    char *query = malloc(start + COUNT * item + 1);
    memcpy(query, "positions=", start);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(query + start + i * item, ITEM, item);
    query[start + COUNT * item - 1] = '\0';
    char *key = unit_key("integer", query);
    ck_assert_uint_ge(strlen(key), COUNT * 25);
    ck_assert_ptr_nonnull(strstr(key, "&dtype=f32"));
    free(key);
    free(query);
}
END_TEST

Suite *key_suite(void)
{
    const TTest *const tests[] = {
        the_order_of_arguments_does_not_matter,
        the_spelling_of_numbers_does_not_matter,
        a_default_may_be_given_or_left_out,
        a_preset_may_be_named_or_spelt_out,
        schemes_never_share_a_key,
        the_key_states_scheme_revision_and_every_present_parameter_in_order,
        every_parameter_makes_a_difference,
        numbers_a_bit_apart_have_keys_of_their_own,
        a_new_revision_is_a_new_key,
        a_long_list_is_a_long_key,
        NULL,
    };
    return unit_suite("key", tests);
}
