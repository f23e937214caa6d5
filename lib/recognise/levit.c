/* Proposing requests for LeViT's indices and biases (arXiv:2104.01136, section 4.2). */
#include "recognise/recognisers.h"

#include "recognise/stored_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TOKENS_MAX 16384
#define SAMPLED    4 /* queries whose rows are read */
#define NUMBER     48

/* What is looked at: a table [queries, keys], with heads if it is one of biases. */
typedef struct matrix {
    const pe_view *view;
    bool heads;
    const char *tensor;
    const pe_trained *table;  /* of biases; NULL: entries are rows of it */
    double factor, tolerance; /* of biases, as pe_stored_find_rows has them */
    char numbers[4 * NUMBER]; /* parameters besides the window: heads, dim_head, set */
} matrix;

/* Read a query's rows of the table, of an index as it is. False: they are no such. */
static bool read_rows(const matrix *own, const pe_distances *row, double *ret_rows)
{
    pe_dtype dtype;
    for (size_t i = 0; i < row->count && !own->table; i++)
        ret_rows[i] = row->entries[i];
    return !own->table || (pe_element_is_real(own->view->element, &dtype) &&
                           pe_stored_find_rows(own->table, row->count, own->factor,
                                               own->tolerance, row, dtype, ret_rows));
}

/* Whether these are the rows of a query on a grid. */
static bool is_query(const double *rows, uint64_t keys, uint64_t width, uint64_t query)
{
    int64_t w = (int64_t)width, y = (int64_t)query / w, x = (int64_t)query % w;
    for (int64_t j = 0; j < (int64_t)keys; j++)
        if (rows[j] != (double)(llabs(j / w - y) * w + llabs(j % w - x)))
            return false;
    return true;
}

/* Whether a line from distance 0 on is a stored table as it is, with its axes exchanged: that
 * is told by other schemes. */
static bool is_whole_table(const matrix *own, uint64_t zero)
{
    return own->table && own->view->rank == 1u + own->heads && zero == 0;
}

/* ---- a grid ---- */

typedef struct queries {
    uint64_t keys, all, offset;
    uint64_t sampled[SAMPLED];
    double *rows; /* [SAMPLED, keys] */
} queries;

static bool fits_width(const queries *own, uint64_t width)
{
    for (size_t i = 0; i < SAMPLED; i++)
        if (!is_query(own->rows + i * own->keys, own->keys, width,
                      own->offset + own->sampled[i]))
            return false;
    return true;
}

static void propose_widths(const matrix *own, const queries *sample, pe_proposals *proposals)
{
    char window[PE_WINDOW_TEXT];
    const pe_distances shape = {.queries = sample->all, .keys = sample->keys};
    pe_distances_queries(&shape, (int64_t)(sample->offset + sample->all - 1), window);
    for (uint64_t width = sample->keys; width > 0; width--)
        if (sample->keys % width == 0 && fits_width(sample, width)) {
            char grid[NUMBER];
            snprintf(grid, sizeof grid, "height=%llu&width=%llu",
                     (unsigned long long)(sample->keys / width), (unsigned long long)width);
            if (width == sample->keys)
                snprintf(grid, sizeof grid, "length=%llu", (unsigned long long)width);
            pe_propose_request(proposals, own->tensor, "%s%s%s", grid, window, own->numbers);
            return;
        }
}

/* Read the rows of some queries and propose the grid on which they are those. False: the first
 * query has none. */
static bool propose_grid(const matrix *own, pe_proposals *proposals)
{
    size_t rank = own->view->rank, axes = rank - own->heads;
    queries sample = {.keys = own->view->shape[rank - 1]};
    sample.all = axes == 2 ? own->view->shape[rank - 2] : 1;
    sample.rows = malloc(SAMPLED * (size_t)sample.keys * sizeof *sample.rows);
    const uint64_t sampled[SAMPLED] = {0, sample.all > 1, sample.all / 2, sample.all - 1};
    bool good = sample.rows != NULL;
    for (size_t i = 0; good && i < SAMPLED; i++) {
        pe_distances row;
        sample.sampled[i] = sampled[i];
        good = pe_distances_read_query(own->view, own->heads, sampled[i], &row) &&
               read_rows(own, &row, sample.rows + i * sample.keys);
        pe_distances_done(&row);
    }
    while (good && sample.offset < sample.keys && sample.rows[sample.offset] != 0)
        sample.offset++;
    if (good && sample.offset + sample.all <= sample.keys &&
        !is_whole_table(own, sample.offset))
        propose_widths(own, &sample, proposals);
    free(sample.rows);
    return good;
}

/* ---- a line of all distances ---- */

static void propose_line(const matrix *own, pe_proposals *proposals)
{
    char window[PE_WINDOW_TEXT];
    pe_distances line;
    if (!pe_distances_read(own->view, own->heads, &line))
        return;
    double *rows = malloc(line.count * sizeof *rows);
    size_t zero = 0;
    if (rows && read_rows(own, &line, rows)) {
        while (zero < line.count && rows[zero] != 0)
            zero++;
        if (zero < line.count && is_query(rows, line.count, line.count, zero) &&
            !is_whole_table(own, zero)) {
            pe_distances_window(&line, (int64_t)zero, window);
            pe_propose_request(proposals, own->tensor, "%s%s", window, own->numbers);
        }
    }
    free(rows);
    pe_distances_done(&line);
}

/* ---- biases ---- */

/* The factor of the first entry over row 0 of the table; all heads must agree. */
static bool find_factor(const pe_distances *row, size_t at, const pe_trained *table,
                        double error, double *ret_factor)
{
    double elements[PE_DISTANCE_LINES];
    pe_trained_row(table, 0, 0, row->lines, elements);
    *ret_factor = row->entries[at] / elements[0];
    for (size_t h = 0; h < row->lines; h++)
        if (!(fabs(row->entries[h * row->count + at] / elements[h] - *ret_factor) <=
              4 * error * *ret_factor))
            return false;
    return *ret_factor > 0;
}

static void propose_factor(matrix *own, double factor, const char *set, pe_proposals *proposals)
{
    char dim_head[NUMBER] = "";
    double unit = pe_observation_unit(own->view);
    own->factor = factor;
    if (factor != 1) {
        pe_propose_number(dim_head, sizeof dim_head, "dim_head", factor * factor, 4 * unit, "");
        own->tolerance = 16 * unit;
    }
    snprintf(own->numbers, sizeof own->numbers, "&heads=%llu%s&set=%s",
             (unsigned long long)own->table->columns, dim_head, set);
    if (!propose_grid(own, proposals) || own->view->rank == 1u + own->heads)
        propose_line(own, proposals);
}

static void propose_biases(const pe_observation *seen, bool has_heads, pe_proposals *proposals)
{
    pe_trained table;
    matrix own = {.view = &seen->view, .heads = has_heads, .tensor = "bias", .table = &table};
    const double unit = pe_observation_unit(own.view);
    pe_distances row;
    pe_dtype dtype;
    if (!pe_element_is_real(own.view->element, &dtype) || own.view->rank < 1u + has_heads ||
        own.view->rank > 2u + has_heads ||
        !pe_distances_read_query(own.view, has_heads, 0, &row))
        return;
    const bool stored =
        row.keys <= TOKENS_MAX && pe_stored_find(seen, "table", row.heads, &table);
    for (size_t at = 0; stored && at < row.count; at++) {
        double factor = 1;
        if (pe_stored_has_row(&table, 0, &row, at, dtype) ||
            (row.lines > 1 && find_factor(&row, at, &table, unit, &factor))) {
            propose_factor(&own, factor, seen->set_name, proposals);
            break;
        }
    }
    pe_distances_done(&row);
}

/* Rows of the table are read as indices, or found in the stored one; those of some queries say
 * the width of the grid. */
void pe_recognise_levit(pe_observation *seen, pe_proposals *proposals)
{
    const pe_view *view = &seen->view;
    proposals->discrete = true;
    if (view->rank == 0 || view->shape[view->rank - 1] > TOKENS_MAX)
        return;
    if (view->rank <= 2) {
        matrix own = {.view = view, .tensor = "index", .numbers = "&heads=1"};
        (void)propose_grid(&own, proposals);
        if (view->rank == 1)
            propose_line(&own, proposals);
    }
    for (int heads = 0; seen->set && heads < 2; heads++)
        propose_biases(seen, heads, proposals);
}
