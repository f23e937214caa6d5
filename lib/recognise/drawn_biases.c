/* Proposing requests for KERPLE (arXiv:2205.09921), FIRE (arXiv:2310.04418), URPE
 * (arXiv:2205.13401) and decomposed relative positions (arXiv:2112.01526). */
#include "recognise/recognisers.h"

#include "numerics/elementary.h"
#include "recognise/seeded.h"
#include "trained/gather.h"

#include <math.h>
#include <stdio.h>

/* An element of a drawn tensor. */
static double drawn(uint64_t seed, const char *name, uint64_t columns,
                    const pe_distribution *distribution, uint64_t row, uint64_t column)
{
    double element;
    pe_trained trained = pe_trained_drawn(seed, name, columns, distribution);
    pe_trained_row(&trained, row, column, 1, &element);
    return element;
}

/* Whether a number is another one, but for rounding and a little. */
static bool is_close(double found, double expected, double unit)
{
    return fabs(found - expected) <= (8 * unit + 0x1p-20) * fabs(expected);
}

static const char *find_mask(const pe_distances *line)
{
    return line->entries[line->count - 1] == -INFINITY ? "&mask=causal" : "";
}

/* ---- kerple ---- */

/* Uniform on [-1, 1), as the scheme draws its numbers. */
static const pe_distribution UNIFORM = {.initialiser = PE_XAVIER_UNIFORM, .fans = 6};

static double draw_number(uint64_t seed, const char *name, double end)
{
    return fmax((1 + drawn(seed, name, 1, &UNIFORM, 0, 0)) * (end / 2), 0.01);
}

/* Propose a bias of which the first head's entry at distance 1 is -p * ln(1 + a), or -a. */
static void propose_kerple(const pe_observation *seen, bool has_heads, pe_proposals *proposals)
{
    char window[PE_WINDOW_TEXT], number[PE_ORIGIN_TEXT];
    pe_distances line;
    if (!pe_distances_read_table(seen, has_heads, &line))
        return;
    size_t zero = 0;
    while (zero < line.count && line.entries[zero] != 0)
        zero++;
    size_t beside = zero > 0 ? zero - 1 : 1;
    for (uint64_t seed = 0; seed < PE_SEEDS_TRIED && zero < line.count && line.count > 1;
         seed++) {
        double p = draw_number(seed, "p", 2), a = draw_number(seed, "a", 1);
        double log = p * pe_log_double(1 + a);
        for (int power = 0; power < 2; power++) {
            if (!is_close(line.entries[beside], power ? -a : -log,
                          pe_observation_unit(&seen->view)))
                continue;
            pe_distances_window(&line, (int64_t)zero, window);
            pe_origin_write(&(pe_origin){.seed = seed}, number);
            pe_propose(proposals, "bias", "%s&heads=%llu%s%s%s", window,
                       (unsigned long long)line.heads, power ? "&kernel=power" : "",
                       find_mask(&line), number);
        }
    }
    pe_distances_done(&line);
}

/* An entry of the tables of the first seeds turns most seeds down. */
void pe_recognise_kerple(pe_observation *seen, pe_proposals *proposals)
{
    static const char *const NAMES[] = {"p", "a"};
    for (int heads = 0; heads < 2; heads++)
        propose_kerple(seen, heads, proposals);
    if (seen->view.rank != 1 || seen->sampled == 0)
        return;
    proposals->discrete = true;
    for (uint64_t seed = 0; seed < PE_SEEDS_TRIED; seed++)
        for (size_t i = 0; i < PE_COUNT(NAMES); i++) {
            char number[PE_ORIGIN_TEXT];
            pe_origin_write(&(pe_origin){.seed = seed}, number);
            if (is_close(pe_observation_entry(seen, 0, 0),
                         draw_number(seed, NAMES[i], i ? 1 : 2),
                         pe_observation_unit(&seen->view)))
                pe_propose(proposals, NAMES[i], "length=1&heads=%llu%s",
                           (unsigned long long)seen->rows, number);
        }
}

/* ---- fire ---- */

#define UNITS 32 /* of the usual network */

/* What the network returns at distance 0. */
static double output_at_0(uint64_t seed, size_t head, uint64_t heads)
{
    const pe_distribution second = {.initialiser = PE_XAVIER_UNIFORM,
                                    .fans = 6 * (uint64_t)UNITS};
    double sum = drawn(seed, "b2", heads, &second, 0, head);
    for (uint64_t unit = 0; unit < UNITS; unit++)
        sum += drawn(seed, "w2", UNITS, &second, head, unit) *
               fmax(0, drawn(seed, "b1", UNITS, &UNIFORM, 0, unit));
    return sum;
}

/* The entry that is nearest to the outputs at distance 0, in its worst head; the number of
 * entries if none is near. */
static size_t nearest_entry(const pe_distances *line, const double *outputs, double unit)
{
    size_t nearest = line->count;
    double least = 2 * unit + 0x1p-20;
    for (size_t i = 0; i < line->count; i++) {
        double worst = 0;
        for (size_t h = 0; h < line->lines; h++)
            worst = fmax(worst, fabs(line->entries[h * line->count + i] - outputs[h]));
        if (worst < least) {
            least = worst;
            nearest = i;
        }
    }
    return nearest;
}

static void propose_fire(const pe_observation *seen, bool has_heads, pe_proposals *proposals)
{
    char window[PE_WINDOW_TEXT], number[PE_ORIGIN_TEXT];
    pe_distances line;
    if (!pe_distances_read_table(seen, has_heads, &line))
        return;
    for (uint64_t seed = 0; seed < PE_SEEDS_TRIED && line.heads <= 65536; seed++) {
        double outputs[PE_DISTANCE_LINES];
        for (size_t h = 0; h < line.lines; h++)
            outputs[h] = output_at_0(seed, h, line.heads);
        size_t zero = nearest_entry(&line, outputs, pe_observation_unit(&seen->view));
        if (zero == line.count)
            continue;
        pe_distances_window(&line, (int64_t)zero, window);
        pe_origin_write(&(pe_origin){.seed = seed}, number);
        pe_propose(proposals, "bias", "%s&heads=%llu%s%s", window,
                   (unsigned long long)line.heads, find_mask(&line), number);
    }
    pe_distances_done(&line);
}

/* Only the usual network is proposed. */
void pe_recognise_fire(pe_observation *seen, pe_proposals *proposals)
{
    for (int heads = 0; heads < 2; heads++)
        propose_fire(seen, heads, proposals);
}

/* ---- urpe ---- */

#define LENGTH_MAX 65536

/* Propose a window whose first entry is element length-1 - distance of the first row. */
static void propose_toeplitz(const pe_distances *line, uint64_t seed, double unit,
                             pe_proposals *proposals)
{
    char window[PE_WINDOW_TEXT], number[PE_ORIGIN_TEXT];
    bool compact = line->queries == 1 && line->count % 2 == 1 && line->count > 1;
    uint64_t first = compact ? line->count / 2 : line->queries - 1;
    uint64_t length = compact ? line->count / 2 + 1 : line->keys;
    for (uint64_t zero = first; zero < length && length <= LENGTH_MAX; zero++) {
        double element =
            drawn(seed, "g", 2 * length - 1, &pe_relative_distribution, 0, length - 1 + zero);
        if (!is_close(line->entries[0], element, unit / 8))
            continue;
        pe_distances_window(line, (int64_t)zero, window);
        pe_origin_write(&(pe_origin){.seed = seed}, number);
        pe_propose(proposals, "toeplitz", "%s&heads=%llu&init=normal%s", window,
                   (unsigned long long)line->heads, number);
    }
}

/* Propose the matrices that training begins with: square ones, since of other tables a number
 * that is 1 everywhere says nothing. */
static void propose_ones(const pe_distances *line, pe_proposals *proposals)
{
    if (line->queries > 1 && line->queries == line->keys && line->entries[0] == 1 &&
        pe_distances_are_equal(line))
        pe_propose(proposals, "toeplitz", "length=%llu&heads=%llu",
                   (unsigned long long)line->keys, (unsigned long long)line->heads);
}

/* Of a line of distances only that of a square matrix is proposed. */
void pe_recognise_urpe(pe_observation *seen, pe_proposals *proposals)
{
    proposals->discrete = true;
    for (int heads = 0; heads < 2; heads++) {
        pe_distances line;
        if (!pe_distances_read_table(seen, heads, &line))
            continue;
        propose_ones(&line, proposals);
        for (uint64_t seed = 0; seed < PE_SEEDS_TRIED; seed++)
            propose_toeplitz(&line, seed, pe_observation_unit(&seen->view), proposals);
        pe_distances_done(&line);
    }
}

/* ---- decomposed ---- */

/* The row for the first query and the first key, which is keys-1 on the finer grid. */
static uint64_t first_row(uint64_t queries, uint64_t keys)
{
    return queries > keys ? (keys - 1) * queries / keys : keys - 1;
}

/* Propose an axis of the grid: rows, or columns. */
static void propose_axis(const pe_distances *axis, const char *tensor, bool columns,
                         const char *number, pe_proposals *proposals)
{
    char queries[48] = "";
    if (axis->queries != axis->keys)
        snprintf(queries, sizeof queries, "&query_%s=%llu", columns ? "width" : "height",
                 (unsigned long long)axis->queries);
    pe_propose(proposals, tensor, "%s%llu%s%s&dim=%llu%s",
               columns ? "height=1&width=" : "height=", (unsigned long long)axis->keys, queries,
               columns ? "" : "&width=1", (unsigned long long)axis->heads, number);
}

/* Read the entry, or the vector, of the first query and the first key. On grids of two sizes
 * diagonals are not constant. */
static bool read_corner(const pe_view *view, bool has_columns, pe_distances *ret_corner)
{
    const size_t axes = view->rank - has_columns;
    if (view->rank < 1u + has_columns || axes > 2)
        return false;
    pe_view corner = pe_view_part(view, 0, 0, 1);
    if (axes == 2)
        corner = pe_view_part(&corner, 1, 0, 1);
    if (!pe_distances_read_vectors(&corner, has_columns, ret_corner))
        return false;
    ret_corner->queries = axes == 2 ? view->shape[0] : 1;
    ret_corner->keys = view->shape[axes - 1];
    return true;
}

/* Propose vectors whose first one is in a trained table. */
static void propose_vectors(const pe_observation *seen, bool has_columns,
                            pe_proposals *proposals)
{
    static const pe_distribution RECIPE = {.initialiser = PE_TRUNC_NORMAL, .std = 0.02};
    static const char *const TABLES[] = {"rel_pos_h", "rel_pos_w"};
    pe_distances corner;
    pe_dtype dtype;
    if (!pe_element_is_real(seen->view.element, &dtype) ||
        !read_corner(&seen->view, has_columns, &corner))
        return;
    for (size_t i = 0; i < pe_origin_count(seen); i++)
        for (int columns = 0; columns < 2; columns++) {
            char number[PE_ORIGIN_TEXT];
            const pe_origin origin = pe_origin_get(seen, i);
            const pe_seeded table = {TABLES[columns], &RECIPE, corner.heads, 0, 1, 0};
            if (!pe_seeded_is_row(&corner, 0, dtype, &table, &origin,
                                  first_row(corner.queries, corner.keys)))
                continue;
            pe_origin_write(&origin, number);
            propose_axis(&corner, columns ? "rel_w" : "rel_h", columns, number, proposals);
        }
    pe_distances_done(&corner);
}

/* A row of the tables of the first seeds turns most seeds down. No resized tables are proposed.
 */
void pe_recognise_decomposed(pe_observation *seen, pe_proposals *proposals)
{
    pe_distances index;
    proposals->discrete = true;
    if (seen->view.rank == 2 && read_corner(&seen->view, false, &index)) {
        if (index.entries[0] == (double)first_row(index.queries, index.keys))
            propose_axis(&index, "index_h", false, "", proposals);
        pe_distances_done(&index);
    }
    for (int columns = 0; columns < 2; columns++)
        propose_vectors(seen, columns, proposals);
}
