/* The format that Accept and Accept-Encoding choose. */
#include "http/accept.h"
#include "formats/negotiate.h"
#include "formats/registry.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>

static const char JSON[] = "application/json", NPY[] = "application/x-npy";

typedef struct outcome {
    api_choice choice;
    const api_format *format;
    char reason[API_REASON_SIZE];
    pe_error error;
} outcome;

static outcome choose_of(const char *scheme, const char *query, const char *asked,
                         const char *accept, const char *coding)
{
    static const api_host host = {.json_elements = 100, .png_pixels = 200};
    outcome result = {.format = NULL};
    pe_request *request = unit_legal_request(scheme, query);
    const api_selection selection = {.request = request,
                                     .count = pe_request_tensor_count(request)};
    pe_error_init(&result.error);
    const api_wish wish = {.asked = asked ? api_format_find(asked) : NULL,
                           .accept = accept,
                           .codings = api_accept_codings(coding),
                           .selection = &selection,
                           .host = &host};
    result.choice = api_choose_format(&wish, &result.format, result.reason, &result.error);
    pe_request_unref(request);
    return result;
}

static outcome choose(const char *asked, const char *accept, pe_dtype dtype, unsigned elements)
{
    char query[64];
    snprintf(query, sizeof query, "length=%u&dtype=%s", elements, pe_dtype_name(dtype));
    return choose_of("integer", query, asked, accept, NULL);
}

/* Binary forms have no coding: where identity is excluded they cannot be had. */
START_TEST(a_format_without_an_acceptable_coding_is_passed_over)
{
    static const struct {
        const char *asked, *accept, *coding, *format; /* format NULL: not acceptable */
    } cases[] = {
        {NULL, "application/x-npy, application/json;q=0.1", "gzip, identity;q=0", "json"},
        {NULL, "application/x-npy, application/json;q=0.1", "gzip", "npy"},
        {NULL, "application/x-npy", "gzip, *;q=0", NULL},
        {NULL, NULL, "gzip, *;q=0", "json"},
        {NULL, NULL, "br, *;q=0", NULL},
        {"json", NULL, "identity;q=0", NULL},
        {"json", NULL, "gzip, identity;q=0", "json"},
        {"npy", NULL, "gzip, identity;q=0", NULL},
        {"npy", NULL, "gzip, *;q=0, identity;q=0.1", "npy"},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        outcome result =
            choose_of("integer", "length=1", cases[i].asked, cases[i].accept, cases[i].coding);
        if (cases[i].format) {
            ck_assert_int_eq(result.choice, API_CHOSEN);
            ck_assert_str_eq(result.format->name, cases[i].format);
        } else {
            ck_assert_int_eq(result.choice, API_CHOICE_NOT_ACCEPTABLE);
            ck_assert_ptr_nonnull(strstr(result.reason, "Accept-Encoding"));
        }
    }
}
END_TEST

START_TEST(a_named_format_beats_accept)
{
    outcome result = choose("raw", JSON, PE_F32, 10);
    ck_assert_int_eq(result.choice, API_CHOSEN);
    ck_assert_str_eq(result.format->name, "raw");
    ck_assert_int_eq(choose("json", NULL, PE_F32, 101).choice, API_CHOICE_TOO_LARGE);
    result = choose("npy", NULL, PE_BF16, 10);
    ck_assert_int_eq(result.choice, API_CHOICE_REFUSED);
    ck_assert_ptr_nonnull(strstr(result.reason, "safetensors"));
}
END_TEST

START_TEST(json_is_the_default_up_to_its_limit)
{
    ck_assert_str_eq(choose(NULL, NULL, PE_F32, 100).format->name, "json");
    ck_assert_str_eq(choose(NULL, "text/html, */*;q=0.8", PE_F32, 100).format->name, "json");
    outcome result = choose(NULL, NULL, PE_F32, 101);
    ck_assert_int_eq(result.choice, API_CHOICE_NOT_ACCEPTABLE);
    ck_assert_ptr_nonnull(strstr(result.reason, "format=npy"));
    ck_assert_ptr_null(strstr(result.reason, "format=json"));
}
END_TEST

START_TEST(accept_chooses_what_can_carry_the_dtype)
{
    static const char both[] = "application/x-npy, application/vnd.safetensors;q=0.5";
    ck_assert_str_eq(choose(NULL, both, PE_F32, 10).format->name, "npy");
    ck_assert_str_eq(choose(NULL, both, PE_BF16, 10).format->name, "safetensors");
    outcome result = choose(NULL, NPY, PE_BF16, 10);
    ck_assert_int_eq(result.choice, API_CHOICE_NOT_ACCEPTABLE);
    ck_assert_ptr_nonnull(strstr(result.reason, "safetensors"));
    ck_assert_int_eq(choose(NULL, "image/webp", PE_F32, 10).choice, API_CHOICE_NOT_ACCEPTABLE);
}
END_TEST

Suite *negotiate_suite(void)
{
    const TTest *const tests[] = {a_named_format_beats_accept,
                                  json_is_the_default_up_to_its_limit,
                                  accept_chooses_what_can_carry_the_dtype,
                                  a_format_without_an_acceptable_coding_is_passed_over, NULL};
    return unit_suite("negotiate", tests);
}
