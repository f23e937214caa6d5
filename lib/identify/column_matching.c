#include "identify/column_matching.h"

#include "numerics/dtype.h"

#include <math.h>
#include <stdlib.h>

#define FEW_ROWS   6 /* that turn most requests down */
#define MOST_ROWS  256
#define ENTRIES    ((uint64_t)1 << 19) /* of more columns fewer rows are compared */
#define NEIGHBOURS 12                  /* that are looked at on either side */
#define ODD_PART   8                   /* one column in so many may be near none */
#define SAME       0.01 /* of what entries may be apart: columns of less are equal */
#define APART      1.5  /* the same of columns of which noise leaves no doubt */

/* What two columns may be apart, as a part of their size: the nearest ones are matched first,
 * and in the end all. */
static const double FAR[] = {1e-6, 1e-3, 0.2, INFINITY};

/* A column in the order of its place, a sum of which nearly equal columns have nearly the same.
 */
typedef struct placed_column {
    double place;
    uint16_t index;
    bool taken;
} placed_column;

/* The same rows of both sides. */
typedef struct matching {
    uint64_t columns, rows;
    const double *found, *exact;   /* [rows, columns] */
    placed_column *given, *wanted; /* [columns] */
    double least;                  /* the square that columns may be apart */
    double noise;                  /* that entries may be apart by */
} matching;

static int by_place(const void *a, const void *b)
{
    const placed_column *one = a, *other = b;
    if (one->place != other->place)
        return one->place < other->place ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

/* Sort columns by the sum of their entries, each times a number of its row. */
static void place_columns(const matching *self, const double *entry, placed_column *placed)
{
    for (uint64_t c = 0; c < self->columns; c++)
        placed[c] = (placed_column){.index = (uint16_t)c};
    for (uint64_t i = 0; i < self->rows; i++) {
        const double weight = 0.5 + fmod((double)(i + 1) * 0.6180339887498949, 1);
        for (uint64_t c = 0; c < self->columns; c++, entry++)
            placed[c].place += isfinite(*entry) ? weight * *entry : 1e30;
    }
    for (uint64_t c = 0; c < self->columns; c++)
        placed[c].place = isfinite(placed[c].place) ? placed[c].place : 0;
    qsort(placed, (size_t)self->columns, sizeof *placed, by_place);
}

/* The sum of the squares of what an exact column differs by from a table's, or, without one, of
 * its entries; of more than `most` not all. */
static double add_squares(const matching *self, uint64_t exact, const placed_column *given,
                          double most)
{
    double sum = 0;
    for (uint64_t i = 0; i < self->rows && sum <= most; i++) {
        const double one = self->exact[i * self->columns + exact];
        const double other = given ? self->found[i * self->columns + given->index] : 0;
        const double off = one == other ? 0 : one - other;
        sum += isfinite(off) ? off * off : given ? INFINITY : 0;
    }
    return sum;
}

/* The nearest column that is not taken among some on either side of a place; NULL: none is as
 * near as `most`. */
static placed_column *find_nearest(const matching *self, uint64_t exact, uint64_t place,
                                   double most)
{
    placed_column *nearest = NULL;
    for (int side = 0; side < 2; side++)
        for (uint64_t at = place, looked = 0;
             looked < NEIGHBOURS && (side ? at > 0 : at < self->columns);
             at += side ? UINT64_MAX : 1) {
            placed_column *own = &self->given[at - (side ? 1 : 0)];
            if (own->taken)
                continue;
            const double far = add_squares(self, exact, own, most);
            looked++;
            if (far > most || (far == most && nearest))
                continue;
            most = far;
            nearest = own;
        }
    return nearest;
}

/* Match columns that are no further apart than a part of their size. Returns how many are
 * matched. */
static uint64_t match_near_columns(matching *self, double part, uint16_t *ret_order)
{
    uint64_t at = 0, count = 0;
    for (uint64_t c = 0; c < self->columns; c++) {
        placed_column *own = &self->wanted[c], *nearest;
        while (at < self->columns && self->given[at].place < own->place)
            at++;
        if (own->taken)
            continue;
        const double size = add_squares(self, own->index, NULL, INFINITY);
        const double most = isfinite(part) ? part * part * size + self->least : INFINITY;
        nearest = find_nearest(self, own->index, at, most);
        if (!nearest)
            continue;
        own->taken = nearest->taken = true;
        ret_order[own->index] = nearest->index;
        count++;
    }
    return count;
}

/* Whether the table's noise hides which is which of two exact columns that are not the same. */
static bool are_hidden(const matching *self)
{
    matching own = *self;
    own.found = own.exact;
    for (uint64_t c = 0; c < own.columns; c++)
        for (uint64_t i = c + 1; i < own.columns && i <= c + NEIGHBOURS; i++) {
            const double most = APART * APART * self->noise * self->noise;
            const double far = add_squares(&own, own.wanted[c].index, &own.wanted[i], most);
            if (far > SAME * SAME * self->noise * self->noise && far <= most)
                return true;
        }
    return false;
}

bool pe_match_entries(const double *given, const double *wanted, uint64_t rows,
                      uint64_t columns, double least, double noise, uint16_t *ret_order,
                      bool *ret_near)
{
    placed_column *placed = malloc((size_t)(2 * columns) * sizeof *placed);
    uint64_t near = 0;
    matching self = {.columns = columns,
                     .rows = rows,
                     .found = given,
                     .exact = wanted,
                     .least = (double)rows * least * least,
                     .noise = noise};
    if (!placed)
        return false;
    self.given = placed;
    self.wanted = placed + columns;
    place_columns(&self, given, self.given);
    place_columns(&self, wanted, self.wanted);
    for (size_t i = 0; i < PE_COUNT(FAR); i++)
        if (isfinite(FAR[i]) || ODD_PART * (columns - near) <= columns)
            near += match_near_columns(&self, FAR[i], ret_order);
    *ret_near = near == columns && !(noise > 0 && are_hidden(&self));
    free(placed);
    return true;
}

/* Match columns by rows that are spread over both sides, so many at most. */
static bool match_rows(const pe_observation *seen, uint64_t most, double noise,
                       pe_stream *stream, pe_dtype dtype, uint16_t *ret_order)
{
    const size_t columns = (size_t)seen->columns, size = columns * pe_dtype_size(dtype);
    const uint64_t distance = (seen->rows - 1) / most + 1;
    const double least = seen->view.grain + pe_observation_unit(&seen->view) * 0x1p-12;
    pe_view spread = seen->view;
    spread.strides[0] *= distance;
    spread.shape[0] = (seen->rows - 1) / distance + 1;
    const size_t entries = (size_t)spread.shape[0] * columns;
    double *found = malloc(2 * entries * sizeof *found + size);
    unsigned char *elements = (unsigned char *)(found + 2 * entries);
    bool near = false, good = found && pe_view_read(&spread, 0, spread.shape[0], found);
    for (uint64_t i = 0; good && i < spread.shape[0]; i++) {
        good = pe_stream_read_fully(stream, i * distance * size, elements, size);
        if (good)
            pe_read_row(found + entries + i * columns, dtype, elements, columns);
    }
    good = good && pe_match_entries(found, found + entries, spread.shape[0], columns, least,
                                    noise, ret_order, &near);
    free(found);
    return good && near;
}

bool pe_match_columns(pe_request *request, size_t tensor, const pe_observation *seen,
                      double noise, uint16_t *ret_order)
{
    const uint64_t columns = seen->columns;
    const uint64_t most = ENTRIES / columns < MOST_ROWS ? ENTRIES / columns : MOST_ROWS;
    const pe_dtype dtype = pe_request_tensor(request, tensor)->dtype;
    pe_stream *stream = NULL;
    pe_error error;
    const bool good = pe_stream_new(request, tensor, (size_t)columns * pe_dtype_size(dtype),
                                    seen->runner, &stream, &error) == PE_OK &&
                      match_rows(seen, FEW_ROWS, 0, stream, dtype, ret_order) &&
                      match_rows(seen, most, noise, stream, dtype, ret_order);
    pe_stream_free(stream);
    return good;
}
