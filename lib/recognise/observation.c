/* What is seen of a table: its first rows, waves, laws of frequencies. */
#include "recognise/observation.h"

#include "numerics/dtype.h"
#include "numerics/elementary.h"
#include "recognise/wave_fit.h"
#include "recognise/wave_ladder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_ENTRIES  ((uint64_t)1 << 20)
#define SAMPLE_ROWS     1024
#define ROW_ENTRIES_MAX 65536 /* of a vector that may be one row */

/* The lines along the last axis, one below the other. */
static pe_view flatten_view(const pe_view *view)
{
    pe_view flat = *view, packed = *view;
    if (view->rank == 0)
        return flat;
    pe_view_set_row_major(&packed);
    if (view->rank > 2 &&
        memcmp(packed.strides, view->strides, view->rank * sizeof *view->strides) != 0) {
        flat.rank = 0;
        return flat;
    }
    flat.rank = 2;
    flat.shape[1] = view->rank == 1 ? 1 : view->shape[view->rank - 1];
    flat.strides[1] = 1;
    if (view->rank == 2)
        flat.strides[1] = view->strides[1];
    if (view->rank > 2) {
        flat.shape[0] = pe_view_elements(view) / flat.shape[1];
        flat.strides[0] = flat.shape[1];
    }
    return flat;
}

uint64_t pe_observation_rows(uint64_t rows, uint64_t columns)
{
    uint64_t most = SAMPLE_ENTRIES / columns;
    most = most > SAMPLE_ROWS ? SAMPLE_ROWS : most;
    return most < rows ? most : rows;
}

/* Read the rows that are held. False: nothing is held, since there is no memory, or they cannot
 * be read. */
static bool read_sample(pe_observation *seen, const pe_view *view, uint64_t rows)
{
    if (seen->sample && pe_view_read(view, 0, rows, seen->sample))
        return true;
    free(seen->sample);
    seen->sample = NULL;
    return false;
}

bool pe_observation_begin(pe_observation *seen, const pe_view *view)
{
    *seen = (pe_observation){.view = pe_view_squeezed(view)};
    const pe_view *own = &seen->view;
    seen->flat = flatten_view(own);
    if (own->rank == 1 || own->rank == 2) {
        seen->rows = own->shape[0];
        seen->columns = own->rank == 2 ? own->shape[1] : 1;
    }
    if (seen->rows == 0 || seen->columns > SAMPLE_ENTRIES)
        return true;
    seen->sampled = (size_t)pe_observation_rows(seen->rows, seen->columns);
    seen->sample = malloc(seen->sampled * seen->columns * sizeof *seen->sample);
    return read_sample(seen, own, seen->sampled);
}

bool pe_observation_begin_row(const pe_observation *seen, pe_observation *ret_row)
{
    *ret_row = *seen;
    ret_row->waves = NULL;
    ret_row->ladders = NULL;
    ret_row->rows = ret_row->sampled = 1;
    ret_row->columns = seen->rows;
    ret_row->sample = seen->rows <= ROW_ENTRIES_MAX
                          ? malloc((size_t)seen->rows * sizeof *ret_row->sample)
                          : NULL;
    return read_sample(ret_row, &seen->view, seen->rows);
}

void pe_observation_forget_ladders(pe_observation *seen)
{
    for (pe_ladder *own; (own = seen->ladders); free(own))
        seen->ladders = own->next;
}

void pe_observation_end(pe_observation *seen)
{
    free(seen->sample);
    free(seen->waves);
    pe_observation_forget_ladders(seen);
}

double pe_observation_entry(const pe_observation *seen, uint64_t row, uint64_t column)
{
    return seen->sample[row * seen->columns + column];
}

bool pe_observation_is_same(const pe_observation *seen, double one, double other)
{
    return one == other || fabs(one - other) <= 2 * seen->view.grain;
}

bool pe_observation_is_constant(const pe_observation *seen)
{
    const size_t count = seen->sampled * (size_t)seen->columns;
    size_t same = 0;
    while (same < count && seen->sample[same] == seen->sample[0])
        same++;
    return count > 0 && same == count;
}

/* Fit a wave to a column of some rows, which is copied to `column`: so it is read once from
 * memory that lies apart. */
static pe_observed_wave fit_column(const pe_observation *seen, const double *rows, size_t count,
                                   uint64_t index, double *column)
{
    for (size_t row = 0; row < count; row++)
        column[row] = rows[row * seen->columns + index];
    return pe_fit_wave(column, 1, count, PE_LEAST_ANGLE);
}

#define SHORT_TURN 2   /* radians: waves that turn less in the first rows are slow */
#define NEARLY     0.1 /* relative: what their frequency may be off by */

/* Fit the columns that are slow in the first rows to rows that are spread over the table. */
static bool fit_slow(pe_observation *seen, double *buffer)
{
    const uint64_t distance = (seen->rows - 1) / seen->sampled + 1;
    const size_t count = (size_t)((seen->rows - 1) / distance + 1);
    pe_view spread = seen->view;
    if (distance < 2)
        return true;
    spread.strides[0] *= distance;
    spread.shape[0] = count;
    double *rows = malloc(count * seen->columns * sizeof *rows);
    bool good = rows && pe_view_read(&spread, 0, count, rows);
    for (uint64_t column = 0; good && column < seen->columns; column++) {
        pe_observed_wave *wave = &seen->waves[column];
        if (wave->found && wave->turns >= SHORT_TURN)
            continue;
        pe_observed_wave slow = fit_column(seen, rows, count, column, buffer);
        slow.frequency /= (double)distance;
        slow.turns = slow.frequency * (double)(count * distance);
        if (slow.found && (!wave->found ||
                           fabs(slow.frequency - wave->frequency) <= NEARLY * wave->frequency))
            *wave = slow;
    }
    free(rows);
    return good;
}

#define TRIED 24 /* columns, before all of a wide table are fitted */

/* Whether some columns of a table are waves: the first ones of each half, and some between. */
static bool has_waves(const pe_observation *seen)
{
    const uint64_t half = seen->columns / 2;
    for (uint64_t i = 0; i < TRIED; i++) {
        uint64_t place = i / 4 * half / (TRIED / 4) + i % 2;
        uint64_t column = i % 4 < 2 ? place : half + place;
        if (pe_fit_wave(seen->sample + column, (size_t)seen->columns, seen->sampled,
                        PE_LEAST_ANGLE)
                .found)
            return true;
    }
    return false;
}

const pe_observed_wave *pe_observation_waves(pe_observation *seen)
{
    size_t found = 0;
    if (seen->waves || !seen->sample)
        return seen->waves;
    seen->waves = calloc((size_t)seen->columns, sizeof *seen->waves);
    double *buffer = malloc(seen->sampled * sizeof *buffer);
    bool good = seen->waves && buffer;
    const bool none = seen->columns > 4 * TRIED && !has_waves(seen);
    for (uint64_t column = 0; good && !none && column < seen->columns; column++) {
        pe_observed_wave *wave = &seen->waves[column];
        *wave = fit_column(seen, seen->sample, seen->sampled, column, buffer);
        wave->turns = wave->frequency * (double)seen->sampled;
        found += wave->found;
    }
    good = good && (found == 0 || fit_slow(seen, buffer));
    free(buffer);
    if (!good) {
        free(seen->waves);
        seen->waves = NULL;
    }
    return seen->waves;
}

/* A pe_view's `read`. */
static bool read_memory(void *context, uint64_t offset, void *dst, size_t size)
{
    memcpy(dst, (const char *)context + offset, size);
    return true;
}

pe_view pe_observation_view_doubles(double *entries, uint64_t rows, uint64_t columns)
{
    pe_view view = {.element = PE_ELEMENT_F64,
                    .rank = 2,
                    .shape = {rows, columns},
                    .read = read_memory,
                    .context = entries};
    pe_view_set_row_major(&view);
    return view;
}

/* ---- the law of frequencies ---- */

double pe_observation_unit(const pe_view *view)
{
    pe_dtype dtype;
    if (view->unit > 0)
        return view->unit;
    return pe_element_is_real(view->element, &dtype) ? pe_dtypes[dtype].unit : 0;
}

#define RECIPE_ERROR 2e-6 /* relative: how far float32 arithmetic moves a frequency */

double pe_observation_wave_error(const pe_observation *seen, const pe_observed_wave *wave)
{
    double angle = wave->turns, part = fmin(angle, 1);
    const double off = fmax(pe_observation_unit(&seen->view), 4 * wave->spread);
    return RECIPE_ERROR + 4 * off / (angle * part * part);
}

#define ROUNDINGS 1e-14 /* relative: of digits that are found in doubles */

double pe_find_decimal(double number, double relative)
{
    const double size = fabs(number);
    double decimal = number, leading = size / pow(10, floor(log10(size)));
    for (int digits = 1; digits <= 17; digits++, leading *= 10) {
        char text[PE_PRINT_MAX];
        if (fabs(rint(leading) - leading) > (relative + ROUNDINGS) * leading)
            continue; /* it is far from all numbers of so many digits */
        snprintf(text, sizeof text, "%.*g", digits, number);
        decimal = strtod(text, NULL);
        if (fabs(decimal - number) <= relative * fabs(number))
            break;
    }
    return decimal;
}
