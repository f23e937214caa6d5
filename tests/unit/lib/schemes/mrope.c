/* Multimodal rotary tables: what they share with rope, and refusals. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define SMALL "&dim=8&mrope_section=1,2,1"

/* ---- text is rope ---- */

static void same_tables(const char *mrope_query, const char *rope_query)
{
    pe_table *mrope = unit_table("mrope", mrope_query), *rope = unit_table("rope", rope_query);
    for (size_t t = 0; t < 3; t++) { /* cos, sin, inv_freq */
        ck_assert_uint_eq(pe_table_tensor(mrope, t)->bytes, pe_table_tensor(rope, t)->bytes);
        ck_assert_msg(!memcmp(pe_table_data(mrope, t), pe_table_data(rope, t),
                              (size_t)pe_table_tensor(rope, t)->bytes),
                      "%s: %s", mrope_query, pe_table_tensor(rope, t)->name);
    }
    pe_table_unref(mrope);
    pe_table_unref(rope);
}

START_TEST(a_text_turns_as_rope_does)
{
    same_tables("text=300&dim=128", "length=300&dim=128");
    same_tables("text=300&dim=128&first_position=99&dtype=f64",
                "length=300&offset=99&dim=128&dtype=f64");
    same_tables("text=70&dim=128&section_order=interleaved&mrope_section=24,20,20&table=full",
                "length=70&dim=128&table=full");
    same_tables("text=70&dim=128&section_order=alternating&mrope_section=22,22,20&table=full"
                "&layout=interleaved&dtype=bf16",
                "length=70&dim=128&table=full&layout=interleaved&dtype=bf16");
    same_tables("text=70&dim=16&mrope_section=1,2,1&partial_rotary_factor=0.5",
                "length=70&dim=16&partial_rotary_factor=0.5");
    same_tables("text=70" SMALL "&rope_type=yarn&factor=4"
                "&original_max_position_embeddings=64&table=full&dtype=f64",
                "length=70&dim=8&rope_type=yarn&factor=4"
                "&original_max_position_embeddings=64&table=full&dtype=f64");
    same_tables("text=70" SMALL "&rope_type=proportional&partial_rotary_factor=0.5&dtype=f16",
                "length=70&dim=8&rope_type=proportional&partial_rotary_factor=0.5&dtype=f16");
}
END_TEST

/* ---- positions that are given ---- */

/* Check that the table has the same bits where its own positions are given. */
static void check_given(const char *query, const char *columns)
{
    char request[6000], both[300];
    snprintf(both, sizeof both, "%s%s", query, columns);
    pe_table *table = unit_table("mrope", both);
    const int32_t *ids = pe_table_data(table, 3);
    size_t count = (size_t)pe_table_tensor(table, 3)->elements;
    size_t used = (size_t)snprintf(request, sizeof request, "position_ids=");
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(request + used, sizeof request - used, "%s%d", i ? "," : "",
                                 (int)ids[i]);
    snprintf(request + used, sizeof request - used, "%s", columns);
    pe_table *given = unit_table("mrope", request);
    for (size_t t = 0; t < pe_table_tensor_count(table); t++)
        ck_assert_msg(!memcmp(pe_table_data(table, t), pe_table_data(given, t),
                              (size_t)pe_table_tensor(table, t)->bytes),
                      "%s: %s", both, pe_table_tensor(table, t)->name);
    pe_table_unref(table);
    pe_table_unref(given);
}

START_TEST(positions_may_be_built_or_given)
{
    static const char *const COLUMNS[] = {
        SMALL,
        SMALL "&dtype=f64&table=full",
        SMALL "&dtype=f16&layout=interleaved&table=full",
        "&dim=300&mrope_section=70,40,40&section_order=interleaved&dtype=bf16",
        SMALL "&rope_type=yarn&factor=4&original_max_position_embeddings=64",
    };
    for (size_t i = 0; i < UNIT_COUNT(COLUMNS); i++) {
        check_given("text=70,3&grids=2,10,14", COLUMNS[i]);
        check_given("text=0,0,9&grids=1,2,6,1,8,2", COLUMNS[i]);
        check_given("text=3,1&grids=5,4,4&frame_positions=seconds&seconds_per_grid=1.3",
                    COLUMNS[i]);
    }
}
END_TEST

START_TEST(the_next_text_begins_rope_delta_after_its_row)
{
    pe_table *table = unit_table("mrope", "text=4,3&grids=1,8,12" SMALL);
    const int32_t *delta = pe_table_data(table, 5);
    ck_assert_int_eq(*delta, (4 + 6 + 3) - (4 + 4 * 6 + 3));
    pe_table_unref(table);
}
END_TEST

/* ---- rules between parameters ---- */

START_TEST(refuses_what_has_no_meaning)
{
    static const char *const WRONG[][3] = {
        {"text=4&dim=8", "mrope_section", "4 together"},
        {"text=4&dim=8&mrope_section=2,2", "mrope_section", "3 numbers"},
        {"text=4&dim=8&mrope_section=2,1,1&section_order=alternating", "mrope_section",
         "equally many"},
        {"text=4&dim=8&mrope_section=0,4,0&section_order=interleaved", "mrope_section",
         "enough for height"},
        {"text=4,1" SMALL, "text", "1 item, one before each grid"},
        {"text=4&grids=1,2,2" SMALL, "text", "2 items"},
        {"text=4,1&grids=1,2" SMALL, "grids", "three for each grid"},
        {"text=4,1&grids=1,3,2" SMALL, "grids", "spatial_merge_size"},
        {"text=4,1&grids=3,2,2&temporal_merge_size=2" SMALL, "grids", "temporal_merge_size"},
        {"text=4,1&grids=2,2,2&frame_positions=apart" SMALL, "grids", "apart"},
        {"text=4,1&grids=2,2,2&seconds_per_grid=1" SMALL, "seconds_per_grid", "left out"},
        {"text=4,1&grids=2,2,2&frame_positions=seconds&seconds_per_grid=1,2" SMALL,
         "seconds_per_grid", "1 item, one for each grid"},
        {"position_ids=1,2,3,4" SMALL, "position_ids", "three for each row"},
        {"text=0" SMALL, "text", "there is a token"},
        {"text=2147483647,1&grids=1,2,2" SMALL, "text", "2^31-1"},
        {"text=1,1&grids=1,16777216,16777216&spatial_merge_size=1" SMALL, "text", "2^31-1"},
        {"text=4" SMALL "&position_ids=1,2,3", "text", "left out"},
    };
    for (size_t i = 0; i < UNIT_COUNT(WRONG); i++)
        unit_refuses("mrope", WRONG[i][0], PE_OUT_OF_RANGE, WRONG[i][1], WRONG[i][2]);
}
END_TEST

Suite *mrope_suite(void)
{
    const TTest *const tests[] = {
        a_text_turns_as_rope_does,
        positions_may_be_built_or_given,
        the_next_text_begins_rope_delta_after_its_row,
        refuses_what_has_no_meaning,
        NULL,
    };
    return unit_suite("mrope", tests);
}
