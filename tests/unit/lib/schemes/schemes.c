/* What each scheme promises beyond its golden files: identities between entries and tables. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Element `index` of the primary tensor. */
static double at(const pe_table *table, size_t index)
{
    pe_dtype dtype = pe_table_tensor(table, 0)->dtype;
    const unsigned char *data = pe_table_data(table, 0);
    return unit_element(dtype, data + index * pe_dtype_size(dtype));
}

static void check_shape(const pe_table *table, size_t rank, const uint64_t *shape)
{
    const pe_tensor *tensor = pe_table_tensor(table, 0);
    ck_assert_uint_eq(tensor->rank, rank);
    for (size_t axis = 0; axis < rank; axis++)
        ck_assert_uint_eq(tensor->shape[axis], shape[axis]);
}

/* ---- integer, normalized, binary ---- */

START_TEST(integers_are_their_positions_rounded_once)
{
    static const double OFFSETS[] = {0, -300, 60000, 16777000};
    for (int dtype = PE_F32; dtype < PE_I32; dtype++) {
        for (size_t i = 0; i < UNIT_COUNT(OFFSETS); i++) {
            char query[100];
            snprintf(query, sizeof query, "length=500&offset=%.0f&dtype=%s", OFFSETS[i],
                     pe_dtype_name((pe_dtype)dtype));
            if (dtype == PE_F16 && OFFSETS[i] > 65519 - 500)
                continue;
            pe_table *table = unit_table("integer", query);
            check_shape(table, 2, (uint64_t[]){500, 1});
            for (size_t row = 0; row < 500; row++)
                unit_assert(at(table, row) ==
                            unit_nearest((pe_dtype)dtype, OFFSETS[i] + (double)row));
            pe_table_unref(table);
        }
    }
}
END_TEST

START_TEST(normalized_positions_go_from_0_to_1)
{
    static const size_t LENGTHS[] = {1, 2, 3, 7, 1000, 65537};
    for (size_t i = 0; i < UNIT_COUNT(LENGTHS); i++) {
        char query[100];
        size_t length = LENGTHS[i];
        snprintf(query, sizeof query, "length=%zu&dtype=f64", length);
        pe_table *table = unit_table("normalized", query);
        check_shape(table, 2, (uint64_t[]){length, 1});
        for (size_t row = 0; row < length; row++) /* a quotient of doubles is rounded once */
            if (at(table, row) != (length > 1 ? (double)row / (double)(length - 1) : 0))
                ck_abort_msg("row %zu of %zu: %a", row, length, at(table, row));
        pe_table_unref(table);
    }
}
END_TEST

START_TEST(binary_rows_spell_their_position)
{
    uint64_t state = 1;
    for (size_t i = 0; i < 200; i++) {
        uint64_t position = unit_random(&state) >> (11 + i % 53); /* below 2^53 */
        char query[100];
        size_t width = 64 - (size_t)__builtin_clzll(position | 1);
        snprintf(query, sizeof query, "positions=%llu&order=lsb&width=%zu",
                 (unsigned long long)position, width);
        pe_table *lsb = unit_table("binary", query);
        snprintf(query, sizeof query, "positions=%llu&width=%zu", (unsigned long long)position,
                 width);
        pe_table *msb = unit_table("binary", query);
        check_shape(msb, 2, (uint64_t[]){1, width});
        if (width > 1) {
            snprintf(query, sizeof query, "positions=%llu&width=%zu",
                     (unsigned long long)position, width - 1);
            unit_refuses("binary", query, PE_OUT_OF_RANGE, "width", "has so many bits");
        }
        for (size_t bit = 0; bit < width; bit++) {
            unit_assert(at(lsb, bit) == (double)(position >> bit & 1));
            unit_assert(at(msb, width - 1 - bit) == at(lsb, bit));
        }
        pe_table_unref(lsb);
        pe_table_unref(msb);
    }
}
END_TEST

/* ---- periodic, sinusoidal ---- */

START_TEST(pairs_of_sine_and_cosine_have_unit_norm)
{
    pe_table *table = unit_table("sinusoidal", "length=2000&offset=123456789&dim=64&dtype=f64");
    const double *data = pe_table_data(table, 0);
    for (size_t i = 0; i < pe_table_tensor(table, 0)->elements; i += 2) {
        double excess = data[i] * data[i] + data[i + 1] * data[i + 1] - 1;
        if (fabs(excess) > 0x1p-49)
            ck_abort_msg("pair %zu: %a", i / 2, excess);
    }
    pe_table_unref(table);
}
END_TEST

START_TEST(quarter_periods_of_dyadic_waves_are_exact)
{
    static const double QUARTERS[4] = {0, 1, 0, -1};
    for (int dtype = PE_F32; dtype < PE_I32; dtype++) {
        char query[100] = "length=2049&offset=-1024&dim=12&dtype=";
        strncat(query, pe_dtype_name((pe_dtype)dtype), 10);
        pe_table *table = unit_table("periodic", query);
        const unsigned char *element = pe_table_data(table, 0);
        size_t size = pe_dtype_size((pe_dtype)dtype);
        for (int position = -1024; position <= 1024; position++) {
            for (int i = 0; i < 12; i++, element += size) {
                double value = unit_element((pe_dtype)dtype, element);
                if (position % (1 << i) == 0)
                    unit_assert(value == QUARTERS[(position / (1 << i)) & 3]);
                else if (i > 0)
                    unit_assert(value != 0);
            }
        }
        pe_table_unref(table);
    }
}
END_TEST

START_TEST(position_zero_is_zero_one_zero_one)
{
    for (int dtype = PE_F32; dtype < PE_I32; dtype++) {
        char query[100];
        snprintf(query, sizeof query, "length=1&dim=100&dtype=%s",
                 pe_dtype_name((pe_dtype)dtype));
        pe_table *table = unit_table("sinusoidal", query);
        for (size_t column = 0; column < 100; column++)
            unit_assert(at(table, column) == (double)(column % 2) &&
                        !signbit(at(table, column)));
        pe_table_unref(table);
    }
}
END_TEST

START_TEST(the_sine_is_odd_and_the_cosine_even_in_the_position)
{
    pe_table *table = unit_table("sinusoidal", "length=401&offset=-200&dim=66");
    for (size_t row = 0; row < 200; row++)
        for (size_t column = 0; column < 66; column++) {
            double before = at(table, row * 66 + column);
            double after = at(table, (400 - row) * 66 + column);
            unit_assert(after == (column % 2 ? before : -before));
        }
    pe_table_unref(table);
}
END_TEST

/* sin(x·w) = x·w here, with w = 1 and, in column 2, 1/100; expected by mpmath. */
START_TEST(tiny_positions_times_a_huge_amplitude_round_once)
{
    static const struct {
        const char *position;
        double expected;
    } CASES[] = {
        {"1.3345e-72", 0x1.4p-146},   {"1.892e-72", 0x1.cp-146},  {"2.3157e-72", 0x1.1p-145},
        {"2.8732e-72", 0x1.5p-145},   {"5.8168e-72", 0x1.5p-144}, {"7.7792e-72", 0x1.cp-144},
        {"-3.8544e-72", -0x1.cp-145},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        char query[100];
        snprintf(query, sizeof query, "positions=%s&dim=4&amplitude=1e30", CASES[i].position);
        pe_table *table = unit_table("sinusoidal", query);
        ck_assert_double_eq(at(table, 2), CASES[i].expected);
        pe_table_unref(table);
    }
}
END_TEST

START_TEST(layouts_are_the_same_columns_in_another_order)
{
    enum { ROWS = 20, DIM = 70, HALF = DIM / 2 };
    pe_table *interleaved = unit_table("sinusoidal", "length=20&offset=5&dim=70");
    pe_table *concat = unit_table("sinusoidal", "length=20&offset=5&dim=70&layout=concat");
    pe_table *cos_first =
        unit_table("sinusoidal", "length=20&offset=5&dim=70&layout=concat_cos_first");
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t i = 0; i < HALF; i++) {
            double sine = at(interleaved, row * DIM + 2 * i);
            double cosine = at(interleaved, row * DIM + 2 * i + 1);
            unit_assert(at(concat, row * DIM + i) == sine);
            unit_assert(at(concat, row * DIM + HALF + i) == cosine);
            unit_assert(at(cos_first, row * DIM + i) == cosine);
            unit_assert(at(cos_first, row * DIM + HALF + i) == sine);
        }
    }
    pe_table_unref(interleaved);
    pe_table_unref(concat);
    pe_table_unref(cos_first);
}
END_TEST

START_TEST(padding_adds_one_column_of_zeros)
{
    pe_table *even = unit_table("sinusoidal", "length=9&dim=6&layout=concat");
    pe_table *padded = unit_table("sinusoidal", "length=9&dim=7&layout=concat&odd_dim=pad");
    for (size_t row = 0; row < 9; row++) {
        for (size_t column = 0; column < 6; column++)
            unit_assert(at(padded, row * 7 + column) == at(even, row * 6 + column));
        unit_assert(at(padded, row * 7 + 6) == 0);
    }
    pe_table_unref(even);
    pe_table_unref(padded);
}
END_TEST

/* ---- sinusoidal_2d ---- */

enum { HEIGHT = 3, WIDTH = 5, DIM = 16, HALF = DIM / 2 };

/* What channel c of cell (x, y) is: a column of one axis' own table of dim/2 columns. */
static double channel(const pe_table *axis, size_t x, size_t y, size_t c, bool width_first)
{
    bool along_x = (c < HALF) == width_first;
    return at(axis, (along_x ? x : y) * HALF + c % HALF);
}

START_TEST(a_grid_is_two_one_dimensional_tables_in_any_shape)
{
    static const char *const LAYOUTS[] = {"interleaved", "concat"};
    static const char *const ORDERS[] = {"height_first", "width_first"};
    for (size_t variant = 0; variant < 4; variant++) {
        const char *layout = LAYOUTS[variant % 2];
        bool width_first = variant / 2;
        char query[200];
        snprintf(query, sizeof query, "length=%d&dim=%d&layout=%s", WIDTH, HALF, layout);
        pe_table *axis = unit_table("sinusoidal", query), *shapes[3];
        static const char *const SHAPES[] = {"chw", "hwc", "nc&extra_tokens=2"};
        for (size_t s = 0; s < 3; s++) {
            snprintf(query, sizeof query,
                     "height=3&width=5&dim=16&layout=%s&axis_order=%s&shape=%s", layout,
                     ORDERS[width_first], SHAPES[s]);
            shapes[s] = unit_table("sinusoidal_2d", query);
        }
        check_shape(shapes[0], 3, (uint64_t[]){DIM, HEIGHT, WIDTH});
        check_shape(shapes[1], 3, (uint64_t[]){HEIGHT, WIDTH, DIM});
        check_shape(shapes[2], 2, (uint64_t[]){2 + HEIGHT * WIDTH, DIM});
        for (size_t i = 0; i < HEIGHT * WIDTH * DIM; i++) {
            size_t cell = i / DIM, c = i % DIM;
            double expected = channel(axis, cell % WIDTH, cell / WIDTH, c, width_first);
            unit_assert(at(shapes[0], c * HEIGHT * WIDTH + cell) == expected);
            unit_assert(at(shapes[1], i) == expected);
            unit_assert(at(shapes[2], 2 * DIM + i) == expected);
        }
        for (size_t i = 0; i < 2 * DIM; i++)
            unit_assert(at(shapes[2], i) == 0);
        for (size_t s = 0; s < 3; s++)
            pe_table_unref(shapes[s]);
        pe_table_unref(axis);
    }
}
END_TEST

/* Grouped by function, the quarters are sin x, sin y, cos x, cos y. */
START_TEST(grouping_by_function_exchanges_the_middle_quarters)
{
    static const char *const SHAPES[] = {"chw", "hwc", "nc"};
    static const size_t QUARTERS[] = {0, 2, 1, 3};
    for (size_t s = 0; s < UNIT_COUNT(SHAPES); s++) {
        char query[200];
        snprintf(query, sizeof query, "height=3&width=5&dim=16&layout=concat&shape=%s",
                 SHAPES[s]);
        pe_table *by_axis = unit_table("sinusoidal_2d", query);
        strncat(query, "&grouping=function", sizeof query - strlen(query) - 1);
        pe_table *by_function = unit_table("sinusoidal_2d", query);
        size_t cells = HEIGHT * WIDTH, stride = s == 0 ? 1 : DIM, step = s == 0 ? cells : 1;
        for (size_t cell = 0; cell < cells; cell++)
            for (size_t c = 0; c < DIM; c++) {
                size_t from = QUARTERS[c / 4] * 4 + c % 4;
                unit_assert(at(by_function, cell * stride + c * step) ==
                            at(by_axis, cell * stride + from * step));
            }
        pe_table_unref(by_axis);
        pe_table_unref(by_function);
    }
}
END_TEST

Suite *schemes_suite(void)
{
    const TTest *const tests[] = {
        integers_are_their_positions_rounded_once,
        normalized_positions_go_from_0_to_1,
        binary_rows_spell_their_position,
        quarter_periods_of_dyadic_waves_are_exact,
        pairs_of_sine_and_cosine_have_unit_norm,
        position_zero_is_zero_one_zero_one,
        the_sine_is_odd_and_the_cosine_even_in_the_position,
        tiny_positions_times_a_huge_amplitude_round_once,
        layouts_are_the_same_columns_in_another_order,
        padding_adds_one_column_of_zeros,
        a_grid_is_two_one_dimensional_tables_in_any_shape,
        grouping_by_function_exchanges_the_middle_quarters,
        NULL,
    };
    return unit_suite("schemes", tests);
}
