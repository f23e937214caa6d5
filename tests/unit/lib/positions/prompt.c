/* Positions of texts, pictures and videos: looking up any row, and numbers too large. */
#include "positions/prompt.h"
#include "unit.h"

static pe_prompt prepared(const double *text, const double *sizes, size_t grids)
{
    pe_prompt prompt = {.text = text,
                        .sizes = sizes,
                        .grids = grids,
                        .spatial_merge = 1,
                        .temporal_merge = 1,
                        .tokens_per_second = 1};
    ck_assert(pe_prompt_prepare(&prompt));
    return prompt;
}

/* The example of get_rope_index: 3 frames of 2 by 2 cells, then 5 tokens of text. */
START_TEST(a_video_and_its_text_are_as_published)
{
    static const double TEXT[] = {0, 5}, SIZES[] = {3, 2, 2};
    static const double WANTED[PE_PROMPT_AXES][17] = {
        {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 5, 6, 7},
        {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 3, 4, 5, 6, 7},
        {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 3, 4, 5, 6, 7},
    };
    pe_prompt prompt = prepared(TEXT, SIZES, 1);
    double positions[17];
    ck_assert_uint_eq(prompt.rows, 17);
    ck_assert_int_eq(pe_prompt_next(&prompt), 8);
    for (size_t axis = 0; axis < PE_PROMPT_AXES; axis++)
        for (size_t first = 0; first < 17; first++) { /* from every row on */
            pe_prompt_positions(&prompt, axis, first, 17 - first, positions);
            for (size_t i = first; i < 17; i++)
                ck_assert_double_eq(positions[i - first], WANTED[axis][i]);
        }
    pe_prompt_done(&prompt);
}
END_TEST

START_TEST(empty_texts_have_no_rows)
{
    static const double TEXT[] = {0, 0, 0, 2}, SIZES[] = {1, 1, 1, 1, 1, 3, 1, 2, 1};
    static const double WANTED[] = {0, 1, 2, 3, 4, 4, 6, 7}; /* of width */
    pe_prompt prompt = prepared(TEXT, SIZES, 3);
    double positions[8];
    ck_assert_uint_eq(prompt.rows, 8);
    pe_prompt_positions(&prompt, 2, 0, 8, positions);
    for (size_t i = 0; i < 8; i++)
        ck_assert_double_eq(positions[i], WANTED[i]);
    for (uint64_t row = 0; row < 8; row++) {
        uint64_t count;
        int64_t position;
        ck_assert_int_eq(pe_runs_find_text(&prompt, row, &count, &position), row >= 6);
    }
    pe_prompt_done(&prompt);
}
END_TEST

START_TEST(seconds_are_multiplied_before_they_are_cut)
{
    static const double TEXT[] = {0, 0}, SIZES[] = {12, 1, 1}, SECONDS[] = {0.3};
    static const double WANTED[] = {0, 0, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6};
    pe_prompt prompt = prepared(TEXT, SIZES, 1);
    double positions[12];
    prompt.frames = PE_FRAMES_BY_SECONDS;
    prompt.seconds = SECONDS; /* below 3/10: 10 * 0.3 * 2 is 6 as a double, but not as a real */
    prompt.tokens_per_second = 2;
    pe_prompt_positions(&prompt, 0, 0, 12, positions);
    for (size_t i = 0; i < 12; i++)
        ck_assert_double_eq(positions[i], i == 10 ? 5 : WANTED[i]);
    prompt.frames = PE_FRAMES_BY_WHOLE_SECONDS;
    pe_prompt_positions(&prompt, 0, 0, 12, positions);
    ck_assert_double_eq(positions[11], 0);
    pe_prompt_done(&prompt);
}
END_TEST

START_TEST(numbers_that_are_too_large_do_not_overflow)
{
    enum { GRIDS = 1000 };
    static const double SECONDS[GRIDS] = {1e6};
    double text[GRIDS + 1], sizes[PE_PROMPT_AXES * GRIDS];
    for (size_t i = 0; i < PE_PROMPT_AXES * GRIDS; i++)
        sizes[i] = 16777216;
    for (size_t i = 0; i <= GRIDS; i++)
        text[i] = 2147483647;
    pe_prompt prompt = {.text = text,
                        .sizes = sizes,
                        .grids = GRIDS,
                        .spatial_merge = 1,
                        .temporal_merge = 1,
                        .frames = PE_FRAMES_BY_SECONDS,
                        .seconds = SECONDS,
                        .tokens_per_second = 1000000};
    pe_prompt_start end = pe_prompt_end(&prompt);
    ck_assert_uint_eq(end.row, (uint64_t)1 << 53);
    ck_assert_int_eq(end.position, (int64_t)1 << 53);
}
END_TEST

Suite *prompt_suite(void)
{
    const TTest *const tests[] = {
        a_video_and_its_text_are_as_published,
        empty_texts_have_no_rows,
        seconds_are_multiplied_before_they_are_cut,
        numbers_that_are_too_large_do_not_overflow,
        NULL,
    };
    return unit_suite("prompt", tests);
}
