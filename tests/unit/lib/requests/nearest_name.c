/* Names that were mistyped, and those of other libraries. */
#include "posenc.h"
#include "unit.h"

#include <string.h>

static const char *const WORDS[] = {"length", "sinusoidal", "sinusoidal_2d", "dim",
                                    "dtype",  "positions",  "offset",        "step"};

static void suggests(const char *given, const char *expected)
{
    const char *nearest = pe_find_nearest_name(given, WORDS, UNIT_COUNT(WORDS));
    ck_assert_msg(nearest == expected || (nearest && expected && !strcmp(nearest, expected)),
                  "%s: %s, not %s", given, nearest ? nearest : "nothing",
                  expected ? expected : "nothing");
}

START_TEST(slips_of_the_pen_find_the_word)
{
    suggests("lenght", "length"); /* neighbours swapped */
    suggests("elngth", "length");
    suggests("lengt", "length"); /* one missing */
    suggests("ength", "length");
    suggests("lengthh", "length"); /* one too many */
    suggests("llength", "length");
    suggests("lemgth", "length"); /* one wrong */
    suggests("Length", "length");
    suggests("sinusodial", "sinusoidal");
    suggests("sinosoidal", "sinusoidal");
    suggests("sinusoidal2d", "sinusoidal_2d");
    suggests("sinusoidal-2d", "sinusoidal_2d");
    suggests("dmi", "dim");
    suggests("dims", "dim");
    suggests("d_type", "dtype");
    suggests("dtpye", "dtype");
    suggests("position", "positions");
    suggests("ofset", "offset");
    suggests("setp", "step");
    suggests("length", "length");
}
END_TEST

START_TEST(words_that_are_far_away_find_nothing)
{
    static const char *const FAR[] = {"",         "x",
                                      "ab",       "heads",
                                      "vocab",    "frequency",
                                      "kitchen",  "max_position_embeddings",
                                      "gnithtel", "\xe4\xbd\x8d\xe7\xbd\xae"};
    for (size_t i = 0; i < UNIT_COUNT(FAR); i++)
        suggests(FAR[i], NULL);
    ck_assert_ptr_null(pe_find_nearest_name("length", NULL, 0));
}
END_TEST

START_TEST(the_nearest_of_several_is_suggested)
{
    static const char *const NEAR[] = {"concat_all", "concatenate", "concat", "contact"};
    ck_assert_str_eq(pe_find_nearest_name("concatt", NEAR, 4), "concat");
    ck_assert_str_eq(pe_find_nearest_name("contakt", NEAR, 4), "contact");
    ck_assert_str_eq(pe_find_nearest_name("concat_alll", NEAR, 4), "concat_all");
    ck_assert_str_eq(pe_find_nearest_name("concatenat", NEAR, 4), "concatenate");
}
END_TEST

START_TEST(capitals_and_what_parts_words_do_not_count)
{
    suggests("LENGTH", "length");
    suggests("SinusoidAl-2D", "sinusoidal_2d");
    suggests("Sinusodial.2d", "sinusoidal_2d");
}
END_TEST

START_TEST(an_alias_finds_what_it_is_called_here)
{
    static const char *const NAMES[] = {"binary",     "swin",      "rope",
                                        "sinusoidal", "rope_type", "factor"};
    static const char *const PAIRS[][2] = {{"rotary", "rope"},
                                           {"Rotary-Embedding", "rope"},
                                           {"sin", "sinusoidal"},
                                           {"type", "rope_type"},
                                           {"scaling_factor", "factor"}};
    for (size_t i = 0; i < UNIT_COUNT(PAIRS); i++)
        ck_assert_str_eq(pe_find_nearest_name(PAIRS[i][0], NAMES, UNIT_COUNT(NAMES)),
                         PAIRS[i][1]);
    ck_assert_ptr_null(pe_find_nearest_name("rope_scaling", NAMES, UNIT_COUNT(NAMES)));
    ck_assert_ptr_null(pe_find_nearest_name("theta", NAMES, UNIT_COUNT(NAMES)));
}
END_TEST

START_TEST(another_number_word_or_beginning_is_another_thing)
{
    static const char *const NAMES[] = {"mistral-7b-v0.3", "gemma-2b",    "bart-large",
                                        "deepseek-v2",     "gpt-oss-20b", "t5-base",
                                        "mixtral-8x7b",    "llama-3.1-8b"};
    static const char *const OTHERS[] = {
        "mistral-7b-v0.1", "gemma-2-9b",    "bert-large",   "mbart-large",  "deepseek-r1",
        "gpt-neox-20b",    "flan-t5-base",  "mt5-base",     "mixtral-87b",  "llama-31-8b",
        "llama-3.18b",     "llama-3.1-70b", "llama-3.1-8m", "llama-3.1-8",  "beer-larger",
        "mistral-7b",      "gemma",         "bart",         "llama-8-3.1b", "barge-large"};
    for (size_t i = 0; i < UNIT_COUNT(OTHERS); i++) {
        const char *nearest = pe_find_nearest_name(OTHERS[i], NAMES, UNIT_COUNT(NAMES));
        ck_assert_msg(!nearest, "%s: %s", OTHERS[i], nearest ? nearest : "");
    }
    ck_assert_str_eq(pe_find_nearest_name("lama_3.1_8B", NAMES, UNIT_COUNT(NAMES)),
                     "llama-3.1-8b");
    ck_assert_str_eq(pe_find_nearest_name("mistrla-7b-v0.3", NAMES, UNIT_COUNT(NAMES)),
                     "mistral-7b-v0.3");
}
END_TEST

START_TEST(of_two_that_are_as_near_none_is_suggested)
{
    static const char *const TWO[] = {"short_factor", "long_factor", "shirt_factor"};
    ck_assert_ptr_null(pe_find_nearest_name("shrt_factor", TWO, 3));
    ck_assert_str_eq(pe_find_nearest_name("shrt_factor", TWO, 2), "short_factor");
}
END_TEST

START_TEST(a_swap_is_one_slip)
{
    static const char *const SHORT[] = {"kv", "mn"};
    ck_assert_str_eq(pe_find_nearest_name("vk", SHORT, 2), "kv");
    ck_assert_str_eq(pe_find_nearest_name("nm", SHORT, 2), "mn");
    ck_assert_ptr_null(pe_find_nearest_name("xy", SHORT, 2));
}
END_TEST

START_TEST(words_of_any_length_may_be_compared)
{
    char given[200], candidate[200];
    const char *candidates[] = {candidate, "length"};
    memset(given, 'a', sizeof given);
    memset(candidate, 'a', sizeof candidate);
    for (size_t n = 1; n < sizeof given; n += 3) {
        for (size_t m = 1; m < sizeof candidate; m++) {
            given[n] = candidate[m] = '\0';
            const char *nearest = pe_find_nearest_name(given, candidates, 2);
            unit_assert(nearest == NULL || nearest == candidate);
            given[n] = candidate[m] = 'a';
        }
    }
    candidate[199] = '\0';
    ck_assert_str_eq(pe_find_nearest_name("lengt", candidates, 2), "length");
}
END_TEST

Suite *nearest_name_suite(void)
{
    const TTest *const tests[] = {
        slips_of_the_pen_find_the_word,
        words_that_are_far_away_find_nothing,
        the_nearest_of_several_is_suggested,
        capitals_and_what_parts_words_do_not_count,
        an_alias_finds_what_it_is_called_here,
        another_number_word_or_beginning_is_another_thing,
        of_two_that_are_as_near_none_is_suggested,
        a_swap_is_one_slip,
        words_of_any_length_may_be_compared,
        NULL,
    };
    return unit_suite("nearest_name", tests);
}
