/* Proposing requests for Shaw's indices and vectors (arXiv:1803.02155, section 3.2). */
#include "recognise/recognisers.h"

#include "recognise/distance_waves.h"
#include "recognise/stored_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS_MAX 4096 /* of a table that are looked at */
#define LIMITS   96

/* ---- a ramp of rows ---- */

typedef struct ramp {
    bool turned;       /* rows fall: differences are query minus key */
    int64_t zero;      /* the entry of distance 0 */
    int64_t low, high; /* limits of the difference */
} ramp;

/* The row of the i-th entry, from the end that has the least difference. */
static int64_t find_row(const double *rows, size_t count, bool turned, size_t i)
{
    return (int64_t)rows[turned ? count - 1 - i : i];
}

/* Whether rows rise by one, but for both ends, where they may be constant: at row 0, and at
 * some row. *ret_rise is the entry before the first one that is higher. */
static bool rows_rise(const double *rows, size_t count, bool turned, size_t *ret_rise)
{
    size_t i = 0;
    int64_t first = find_row(rows, count, turned, 0), row = first;
    while (i + 1 < count && find_row(rows, count, turned, i + 1) == row)
        i++;
    *ret_rise = i;
    while (i + 1 < count && find_row(rows, count, turned, i + 1) == row + 1) {
        i++;
        row++;
    }
    while (i + 1 < count && find_row(rows, count, turned, i + 1) == row)
        i++;
    return i + 1 == count && row > first && (*ret_rise == 0 || first == 0);
}

/* Read the limits. `keys`: of the window, whose default has the last key where the last query
 * is. */
static bool read_ramp(const double *rows, size_t count, uint64_t keys, ramp *ret_ramp)
{
    size_t rise;
    for (size_t i = 0; i < count; i++)
        if (!(fabs(rows[i]) < 0x1p31) || rint(rows[i]) != rows[i])
            return false;
    ret_ramp->turned = !rows_rise(rows, count, false, &rise);
    if (ret_ramp->turned && !rows_rise(rows, count, true, &rise))
        return false;
    bool turned = ret_ramp->turned;
    int64_t first = find_row(rows, count, turned, 0), last = (int64_t)count - 1;
    int64_t top = find_row(rows, count, turned, count - 1);
    int64_t start = (int64_t)rise - first; /* the entry of row 0, which may lie outside */
    bool clipped = count > 1 && find_row(rows, count, turned, count - 2) == top;
    int64_t zero = turned ? last - ((int64_t)keys - 1) : (int64_t)keys - 1;
    if (start - zero > 0 || start - zero + top < 0)
        zero = start + top / 2;
    ret_ramp->low = start - zero;
    ret_ramp->high = ret_ramp->low + top;
    if (!clipped && -ret_ramp->low > ret_ramp->high)
        ret_ramp->high = -ret_ramp->low;
    ret_ramp->zero = turned ? last - zero : zero;
    return true;
}

/* The lower limit of a window that is beyond the limits: all entries are from the first row, or
 * from the last one. */
static bool read_clipped(const double *rows, size_t count, ramp *ret_ramp)
{
    for (size_t i = 1; i < count; i++)
        if (rows[i] != rows[0])
            return false;
    *ret_ramp = (ramp){.zero = rows[0] == 0 ? (int64_t)count - 1 : 0, .low = -(int64_t)rows[0]};
    return true;
}

static void write_limits(const ramp *own, char dst[LIMITS])
{
    int used = snprintf(dst, LIMITS, "&max_distance=%lld", (long long)own->high);
    if (own->low != -own->high)
        used += snprintf(dst + used, LIMITS - (size_t)used, "&min_distance=%lld",
                         (long long)own->low);
    if (own->turned)
        snprintf(dst + used, LIMITS - (size_t)used, "&difference=query_minus_key");
}

/* ---- indices ---- */

static bool is_clipped(const pe_distances *line)
{
    const double *last = line->entries + line->count - 1;
    return line->entries[0] == line->entries[1] || last[0] == last[-1];
}

static void propose_index(const pe_observation *seen, pe_proposals *proposals)
{
    char limits[LIMITS], queries[PE_WINDOW_TEXT];
    pe_distances line;
    ramp found;
    if (!pe_distances_read(&seen->view, false, &line))
        return;
    bool ramp_found = read_ramp(line.entries, line.count, line.keys, &found);
    /* rows that fall and are not clipped are rather those of other schemes */
    if (ramp_found && (!found.turned || is_clipped(&line))) {
        write_limits(&found, limits);
        pe_distances_queries(&line, found.zero, queries);
        pe_propose_request(proposals, "index", "length=%llu%s&form=compact&dim=1%s",
                           (unsigned long long)line.keys, queries, limits);
    }
    pe_distances_done(&line);
}

/* ---- trained vectors ---- */

static void propose_vectors(const pe_observation *seen, bool has_columns, const char *tensor,
                            pe_proposals *proposals)
{
    char limits[LIMITS], queries[PE_WINDOW_TEXT];
    const pe_view *view = &seen->view;
    pe_distances lines;
    pe_dtype dtype;
    pe_trained table;
    ramp found;
    if (!pe_element_is_real(view->element, &dtype) || view->rank < 1u + has_columns ||
        !pe_stored_find(seen, tensor, has_columns ? view->shape[view->rank - 1] : 1, &table) ||
        !pe_distances_read_vectors(view, has_columns, &lines))
        return;
    double *rows = malloc(lines.count * sizeof *rows);
    if (rows && pe_stored_find_rows(&table, ROWS_MAX, 1, 0, &lines, dtype, rows) &&
        (read_ramp(rows, lines.count, lines.keys, &found) ||
         read_clipped(rows, lines.count, &found))) {
        found.high = found.low + (int64_t)table.stored_rows - 1;
        write_limits(&found, limits);
        pe_distances_queries(&lines, found.zero, queries);
        pe_propose_request(proposals, tensor, "length=%llu%s&dim=%llu%s&set=%s",
                           (unsigned long long)lines.keys, queries,
                           (unsigned long long)lines.heads, limits, seen->set_name);
    }
    free(rows);
    pe_distances_done(&lines);
}

/* ---- sinusoids ---- */

static void propose_sinusoids(pe_observation *seen, pe_proposals *proposals)
{
    pe_distance_law law;
    if (!pe_distance_law_read(seen, PE_WAVE_INTERLEAVED, &law) || law.low > 0 || law.high < 0)
        return;
    for (int turned = 0; turned < 2; turned++) {
        char limits[LIMITS], queries[PE_WINDOW_TEXT];
        const ramp found = {.turned = turned,
                            .zero = -law.first,
                            .low = turned ? -law.high : law.low,
                            .high = turned ? -law.low : law.high};
        write_limits(&found, limits);
        pe_distances_queries(&law.shape, found.zero, queries);
        pe_propose_request(proposals, "keys", "length=%llu%s&dim=%llu&source=sinusoidal%s",
                           (unsigned long long)law.shape.keys, queries,
                           (unsigned long long)law.dim, limits);
    }
}

/* Rows of the tables are read as indices, or found in the tables of the set; where they stop
 * rising or falling, distances are clipped. A matrix does not tell the window from the limits:
 * the default window is preferred. */
void pe_recognise_shaw(pe_observation *seen, pe_proposals *proposals)
{
    static const char *const TABLES[] = {"keys", "values"};
    proposals->discrete = true;
    propose_index(seen, proposals);
    for (int columns = 1; columns >= 0; columns--)
        for (size_t i = 0; i < PE_COUNT(TABLES); i++)
            propose_vectors(seen, columns, TABLES[i], proposals);
    proposals->discrete = false;
    propose_sinusoids(seen, proposals);
}
