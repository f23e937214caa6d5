/* Proposing requests for rows of a stored table, and for its hierarchical extrapolation. */
#include "recognise/recognisers.h"

#include "recognise/stored_rows.h"

#include <math.h>
#include <stdio.h>

#define FOUND_MAX  4 /* rows of the table that the first row of the window may be */
#define PROBED_MAX 2 /* first rows of the window that are looked up */

typedef unsigned long long number;

/* The stored table that fits the columns; false: there is none. */
static bool find_table(const pe_observation *seen, pe_trained *ret_table)
{
    return seen->columns > 0 && seen->sampled > 0 &&
           pe_stored_find(seen, "table", seen->columns, ret_table);
}

/* The first row of the table from `row` on that is a row of the sample; the number of its rows
 * if there is none. */
static uint64_t find_row(const pe_observation *seen, const pe_trained *table, uint64_t row,
                         size_t sampled)
{
    const double *entries = seen->sample + sampled * (size_t)seen->columns;
    while (row < table->stored_rows &&
           !pe_stored_is_row(table, row, entries, pe_observation_unit(&seen->view)))
        row++;
    return row;
}

/* ---- windows ---- */

/* How many rows of the table a row of the window is after the one before. */
static int64_t find_step(const pe_observation *seen, const pe_trained *table, uint64_t first)
{
    const double *entries = seen->sample + seen->columns;
    if (seen->sampled < 2 ||
        (first + 1 < table->stored_rows &&
         pe_stored_is_row(table, first + 1, entries, pe_observation_unit(&seen->view))))
        return 1;
    uint64_t next = find_row(seen, table, 0, 1);
    return next < table->stored_rows ? (int64_t)next - (int64_t)first : 1;
}

static void propose_window(const pe_observation *seen, uint64_t rows, uint64_t first,
                           int64_t step, pe_proposals *proposals)
{
    char offset[32] = "", stride[32] = "";
    if (first > 0)
        snprintf(offset, sizeof offset, "&offset=%llu", (number)first);
    if (step != 1)
        snprintf(stride, sizeof stride, "&step=%lld", (long long)step);
    /* rows for padding come before position 0 */
    if (first == 2 && step == 1 && first + seen->rows == rows)
        pe_propose_request(proposals, "encoding", "length=%llu&set=%s&row_offset=2",
                           (number)seen->rows, seen->set_name);
    pe_propose_request(proposals, "encoding", "length=%llu&set=%s%s%s", (number)seen->rows,
                       seen->set_name, offset, stride);
}

void pe_recognise_learned(pe_observation *seen, pe_proposals *proposals)
{
    pe_trained table;
    proposals->discrete = true;
    if (!find_table(seen, &table))
        return;
    const uint64_t rows = table.stored_rows;
    uint64_t row;
    size_t found = 0;
    for (row = 0; found < FOUND_MAX && row < rows; row++, found++) {
        row = find_row(seen, &table, row, 0);
        if (row < rows)
            propose_window(seen, rows, row, find_step(seen, &table, row), proposals);
    }
    for (size_t probe = 1; probe < PROBED_MAX && probe < seen->sampled; probe++) {
        row = find_row(seen, &table, 0, probe); /* if row 0 is damaged */
        if (row >= probe && row < rows)
            propose_window(seen, rows, row - probe, 1, proposals);
    }
}

/* ---- extrapolated tables ---- */

/* An entry of any row; false: it cannot be read. */
static bool read_entry(const pe_observation *seen, uint64_t row, uint64_t column,
                       double *ret_entry)
{
    pe_view one = pe_view_part(&seen->view, 0, row, 1);
    one = pe_view_part(&one, 1, column, 1);
    return pe_view_read(&one, 0, 1, ret_entry);
}

/* Write "&alpha=…" by a row of the table from elsewhere that is p_j + r * (p_1 - p_0), where r
 * = alpha / (1 - alpha), by the column where p_1 and p_0 differ most. False: it is no such row.
 */
static bool write_alpha(const pe_observation *seen, const pe_trained *table, uint64_t row,
                        uint64_t j, char *dst, size_t size, double *ret_ratio)
{
    double most = 0, base = 0, entry;
    uint64_t column = 0;
    for (uint64_t i = 0; i < table->columns; i++) {
        double p[3];
        pe_trained_row(table, 0, i, 1, &p[0]);
        pe_trained_row(table, 1, i, 1, &p[1]);
        pe_trained_row(table, j, i, 1, &p[2]);
        if (fabs(p[1] - p[0]) <= fabs(most))
            continue;
        most = p[1] - p[0];
        base = p[2];
        column = i;
    }
    if (most == 0 || !read_entry(seen, row, column, &entry))
        return false;
    double ratio = (entry - base) / most;
    double error = 8 * pe_observation_unit(&seen->view) * (fabs(entry) + fabs(base));
    if (!(ratio > 0) || !isfinite(ratio))
        return false;
    *ret_ratio = ratio;
    pe_propose_number(dst, size, "alpha", ratio / (1 + ratio),
                      fmin(error / fabs(ratio * most) + 1e-12, 0.05), "0.4");
    return true;
}

/* Say of sums p_j + r * (p_i - p_0) how large their terms are. */
static void note_ratio(const pe_trained *table, double ratio, pe_proposals *proposals)
{
    proposals->amplitude = (1 + 2 * ratio) * pe_stored_largest(table);
}

void pe_recognise_hierarchical(pe_observation *seen, pe_proposals *proposals)
{
    char alpha[48], offset[32] = "";
    pe_trained table;
    double ratio;
    if (!find_table(seen, &table) || table.stored_rows < 2 || seen->view.rank != 2)
        return;
    const uint64_t rows = table.stored_rows, first = find_row(seen, &table, 0, 0);
    if (first == rows)
        return;
    if (first > 0)
        snprintf(offset, sizeof offset, "&offset=%llu", (number)first);
    if (seen->rows > rows - first && /* row N is p_0 + r * (p_1 - p_0) */
        write_alpha(seen, &table, rows - first, 0, alpha, sizeof alpha, &ratio)) {
        note_ratio(&table, ratio, proposals);
        pe_propose_request(proposals, "encoding", "length=%llu&set=%s%s%s", (number)seen->rows,
                           seen->set_name, offset, alpha);
    }
    if (first == 0 && seen->rows == rows &&
        write_alpha(seen, &table, 1, 1, alpha, sizeof alpha, &ratio)) {
        note_ratio(&table, ratio, proposals);
        pe_propose_request(proposals, "basis", "length=1&set=%s%s", seen->set_name, alpha);
    }
    if (seen->rows <= rows - first) { /* the table itself, whatever alpha is */
        proposals->discrete = true;
        pe_propose_request(proposals, "encoding", "length=%llu&set=%s%s", (number)seen->rows,
                           seen->set_name, offset);
    }
}
