/* Reading the entries of all distances. */
#include "recognise/distances.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DISTANCES_MAX ((uint64_t)1 << 20)
#define ENTRIES_MAX   ((uint64_t)1 << 21)

#define BLOCK_ENTRIES ((uint64_t)1 << 12)
#define RUN_ENTRIES   64 /* that are read at once where a run is expected to be short */

/* Copy what a block of consecutive rows has of the line: a row every `keys` rows, the last
 * query before all others. Returns the next row that is wanted; `row` is one, or `first` is
 * above it.
 */
static uint64_t copy_rows(const double *block, uint64_t first, uint64_t row, uint64_t queries,
                          uint64_t keys, double *line)
{
    for (;; row = row > keys ? row - keys : 0) {
        if (row < first)
            return row;
        memcpy(line + (queries - 1 - row), block + (row - first) * keys, keys * sizeof *line);
        if (row == 0)
            return 0;
    }
}

/* Read the line of one head, [queries, keys] or [keys]. Rows may be short and many: they are
 * read in blocks, with those between them. */
static bool read_line(const pe_view *head, uint64_t queries, uint64_t keys, double *line)
{
    if (head->rank == 1)
        return pe_view_read(head, 0, keys, line);
    const uint64_t rows = keys < BLOCK_ENTRIES / keys ? BLOCK_ENTRIES / keys : 1;
    double *block = malloc((size_t)(rows * keys) * sizeof *block);
    bool good = block != NULL;
    for (uint64_t row = queries - 1, end = queries; good && end > 0;) {
        uint64_t first = row + 1 > rows ? row + 1 - rows : 0;
        good = pe_view_read(head, first, row + 1 - first, block);
        if (good)
            row = copy_rows(block, first, row, queries, keys, line);
        end = first == 0 ? 0 : row + 1;
    }
    free(block);
    return good;
}

#define DIAGONALS 8    /* that are looked at, in two places each */
#define NEARLY    0.02 /* relative: noise of this size leaves a diagonal constant */

/* Read an entry of a matrix; NaN if it cannot be read. */
static double read_entry(const pe_view *matrix, uint64_t row, uint64_t column)
{
    const pe_view line = pe_view_at(matrix, 0, row);
    double entry;
    return pe_view_read(&line, column, 1, &entry) ? entry : (double)NAN;
}

bool pe_distances_are_diagonals(const pe_view *matrix)
{
    const uint64_t rows = matrix->shape[0], columns = matrix->shape[1];
    size_t constant = 0;
    for (uint64_t i = 0; i < DIAGONALS && rows > 1 && columns > 1; i++) {
        const uint64_t row = i * (rows - 2) / (DIAGONALS - 1);
        const uint64_t column = i * 5 % DIAGONALS * (columns - 2) / (DIAGONALS - 1);
        const double one = read_entry(matrix, row, column);
        const double other = read_entry(matrix, row + 1, column + 1);
        constant +=
            one == other ||
            fabs(one - other) <= 2 * matrix->grain + NEARLY * fmax(fabs(one), fabs(other));
    }
    return rows < 2 || columns < 2 || 2 * constant >= DIAGONALS;
}

bool pe_distances_read(const pe_view *view, bool has_heads, pe_distances *ret_distances)
{
    size_t axes = view->rank - has_heads;
    *ret_distances = (pe_distances){.heads = 0};
    if (view->rank < 1 || axes < 1 || axes > 2)
        return false;
    pe_distances own = {.heads = has_heads ? view->shape[0] : 1, .queries = 1};
    own.keys = view->shape[view->rank - 1];
    if (axes == 2)
        own.queries = view->shape[view->rank - 2];
    const pe_view head = has_heads ? pe_view_at(view, 0, 0) : *view;
    if (own.queries > DISTANCES_MAX || own.keys > DISTANCES_MAX ||
        (axes == 2 && !pe_distances_are_diagonals(&head)))
        return false;
    own.count = (size_t)(own.queries + own.keys - 1);
    uint64_t lines = ENTRIES_MAX / own.count < PE_DISTANCE_LINES ? ENTRIES_MAX / own.count
                                                                 : PE_DISTANCE_LINES;
    own.lines = (size_t)(own.heads < lines ? own.heads : lines);
    own.entries = malloc(own.lines * own.count * sizeof *own.entries);
    bool good = own.entries != NULL;
    for (size_t h = 0; good && h < own.lines; h++) {
        const pe_view own_head = has_heads ? pe_view_at(view, 0, h) : *view;
        good = read_line(&own_head, own.queries, own.keys, own.entries + h * own.count);
    }
    if (!good)
        pe_distances_done(&own);
    *ret_distances = own;
    return good;
}

bool pe_distances_read_query(const pe_view *view, bool has_heads, uint64_t query,
                             pe_distances *ret_distances)
{
    const pe_view row =
        view->rank > 1u + has_heads ? pe_view_at(view, has_heads, query) : *view;
    return pe_distances_read(&row, has_heads, ret_distances);
}

/* Count equal entries at one end of a view of one axis. */
static bool count_run(const pe_view *line, bool at_end, size_t *ret_run)
{
    double entries[RUN_ENTRIES], end = 0;
    const uint64_t count = line->shape[0];
    *ret_run = 0;
    for (uint64_t done = 0, now; done < count; done += now) {
        now = count - done < RUN_ENTRIES ? count - done : RUN_ENTRIES;
        if (!pe_view_read(line, at_end ? count - done - now : done, now, entries))
            return false;
        for (uint64_t i = 0; i < now; i++, ++*ret_run) {
            const double entry = entries[at_end ? now - 1 - i : i];
            end = done + i == 0 ? entry : end;
            if (entry != end)
                return true;
        }
    }
    return true;
}

bool pe_distances_read_ends(const pe_view *view, pe_distances *ret_distances, size_t *ret_low,
                            size_t *ret_high)
{
    const uint64_t keys = view->shape[view->rank - 1];
    pe_view line = *view;
    *ret_distances = (pe_distances){
        .heads = 1, .queries = 1, .keys = keys, .lines = 1, .count = (size_t)keys};
    if (view->rank == 1 ? keys > DISTANCES_MAX : !pe_distances_read(view, false, ret_distances))
        return false;
    if (view->rank > 1) {
        line = pe_observation_view_doubles(ret_distances->entries, ret_distances->count, 1);
        line.rank = 1;
    }
    const bool good = count_run(&line, false, ret_low) && count_run(&line, true, ret_high);
    pe_distances_done(ret_distances);
    return good;
}

bool pe_distances_read_vectors(const pe_view *view, bool has_columns,
                               pe_distances *ret_distances)
{
    pe_view turned = *view; /* the axis of columns becomes that of heads */
    if (has_columns && view->rank >= 2)
        turned = pe_view_transposed(&turned, 0, view->rank - 1);
    if (has_columns && view->rank == 3)
        turned = pe_view_transposed(&turned, 1, 2);
    return pe_distances_read(&turned, has_columns, ret_distances);
}

void pe_distances_done(pe_distances *distances)
{
    free(distances->entries);
    distances->entries = NULL;
}

bool pe_distances_are_equal(const pe_distances *distances)
{
    for (size_t h = 0; h < distances->lines; h++) {
        const double *line = distances->entries + h * distances->count;
        for (size_t i = 1; i < distances->count; i++)
            if (line[i] != line[0])
                return false;
    }
    return true;
}

void pe_distances_queries(const pe_distances *distances, int64_t zero, char dst[PE_WINDOW_TEXT])
{
    int64_t keys = (int64_t)distances->keys, queries = (int64_t)distances->queries;
    int64_t offset = zero - (queries - 1);
    int used = 0;
    dst[0] = '\0';
    if (queries != keys)
        used = snprintf(dst, PE_WINDOW_TEXT, "&query_length=%lld", (long long)queries);
    if (offset != keys - queries || offset < 0) /* which is no default */
        snprintf(dst + used, PE_WINDOW_TEXT - (size_t)used, "&query_offset=%lld",
                 (long long)offset);
}

void pe_distances_window(const pe_distances *distances, int64_t zero, char dst[PE_WINDOW_TEXT])
{
    char queries[PE_WINDOW_TEXT];
    int64_t keys = (int64_t)distances->keys;
    pe_distances_queries(distances, zero, queries);
    if (distances->queries == 1 && keys > 1 && 2 * zero + 1 == keys)
        snprintf(dst, PE_WINDOW_TEXT, "length=%lld&form=compact", (long long)zero + 1);
    else
        snprintf(dst, PE_WINDOW_TEXT, "length=%lld%.64s", (long long)keys, queries);
}
