/* Proposing requests for the indices and biases of Swin Transformers (arXiv:2103.14030,
 * arXiv:2111.09883). */
#include "recognise/recognisers.h"

#include "numerics/elementary.h"
#include "recognise/stored_rows.h"

#include <math.h>
#include <stdio.h>

#define TOKENS_MAX 65536
#define CLASS_ROWS 3   /* of the table: class to token, token to class, class to class */
#define REST       128 /* room for the text of heads and the set */

/* A window of tokens, with a class token or without. */
typedef struct shape {
    uint64_t height, width;
    bool class_token;
} shape;

/* The row of a table of so many rows for the first query and key: that of the class token to
 * itself, or the middle one. */
static uint64_t find_first_row(uint64_t rows, bool class_token)
{
    return class_token ? rows - 1 : rows / 2;
}

static uint64_t first_row(const shape *own)
{
    uint64_t offsets = (2 * own->height - 1) * (2 * own->width - 1);
    return find_first_row(offsets + (own->class_token ? CLASS_ROWS : 0), own->class_token);
}

/* Propose the windows of as many tokens that `fits` says may be; `rest` holds what is known
 * besides. */
static void propose_shapes(const char *tensor, uint64_t tokens, bool classes, const char *rest,
                           bool (*fits)(const void *context, const shape *own),
                           const void *context, pe_proposals *proposals)
{
    for (int class_token = 0; class_token <= (classes ? 1 : 0); class_token++) {
        uint64_t cells = tokens - (uint64_t)class_token;
        for (uint64_t height = 1; height <= cells && cells <= TOKENS_MAX; height++) {
            shape own = {height, cells / height, class_token};
            if (cells % height == 0 && fits(context, &own))
                pe_propose_request(proposals, tensor, "height=%llu&width=%llu%s%s",
                                   (unsigned long long)height, (unsigned long long)own.width,
                                   class_token ? "&class_token=true" : "", rest);
        }
    }
}

/* ---- indices ---- */

static bool fits_index(const void *context, const shape *own)
{
    const pe_observation *seen = context;
    return fabs(pe_observation_entry(seen, 0, 0) - (double)first_row(own)) <= seen->view.grain;
}

static bool is_square(const pe_view *view, size_t rank)
{
    return view->rank == rank && view->shape[rank - 1] == view->shape[rank - 2];
}

static void propose_index(const pe_observation *seen, bool classes, const char *rest,
                          pe_proposals *proposals)
{
    if (!is_square(&seen->view, 2) || seen->sampled == 0)
        return;
    propose_shapes("index", seen->rows, classes, rest, fits_index, seen, proposals);
}

/* ---- trained biases ---- */

typedef struct biases {
    const pe_distances *row; /* of the first query */
    pe_dtype dtype;
    pe_trained table;
} biases;

/* The row of the stored table for the first query and key. */
static uint64_t find_stored_row(const biases *found, const shape *own)
{
    return find_first_row(found->table.stored_rows, own->class_token);
}

static bool is_table_row(const biases *found, uint64_t row)
{
    return pe_stored_has_row(&found->table, row, found->row, 0, found->dtype);
}

static bool fits_bias(const void *context, const shape *own)
{
    const biases *found = context;
    uint64_t first = find_stored_row(found, own);
    return first == first_row(own) && is_table_row(found, first);
}

/* Whether the stored table may have been interpolated for a window: the middle offset stays
 * where it is, and so do the rows for the class token. */
static bool fits_resized(const void *context, const shape *own)
{
    const biases *found = context;
    uint64_t first = find_stored_row(found, own);
    return first != first_row(own) && is_table_row(found, first);
}

/* Propose windows for which the stored table, of a square one, is interpolated. */
static void propose_resized(const biases *found, const char *rest, pe_proposals *proposals)
{
    static const char *const MODES[] = {"", "&mode=bilinear"};
    proposals->discrete = false;
    pe_stored_sums(proposals, pe_stored_largest(&found->table),
                   sqrt((double)found->table.stored_rows));
    for (size_t i = 0; i < PE_COUNT(MODES); i++) {
        char all[REST + 32];
        snprintf(all, sizeof all, "%s%s", rest, MODES[i]);
        propose_shapes("bias", found->row->keys, true, all, fits_resized, found, proposals);
    }
    proposals->amplitude = proposals->angle = proposals->roundings = 0;
    proposals->discrete = true;
}

static void propose_biases(const pe_observation *seen, bool has_heads, pe_proposals *proposals)
{
    char rest[REST];
    pe_distances row;
    biases found = {.row = &row};
    if (!pe_element_is_real(seen->view.element, &found.dtype) ||
        !is_square(&seen->view, 2u + has_heads) ||
        !pe_distances_read_query(&seen->view, has_heads, 0, &row))
        return;
    if (pe_stored_find(seen, "table", row.heads, &found.table)) {
        snprintf(rest, sizeof rest, "&heads=%llu&set=%s", (unsigned long long)row.heads,
                 seen->set_name);
        propose_shapes("bias", row.keys, true, rest, fits_bias, &found, proposals);
        propose_resized(&found, rest, proposals);
    }
    pe_distances_done(&row);
}

/* The shape of the window follows from the first query's entries. */
void pe_recognise_swin(pe_observation *seen, pe_proposals *proposals)
{
    proposals->discrete = true;
    propose_index(seen, true, "&heads=1", proposals);
    for (int heads = 0; seen->set && heads < 2; heads++)
        propose_biases(seen, heads, proposals);
}

/* ---- version 2 ---- */

/* The size of the window that coordinates are divided for: log2(1 + 8 * offset / (size - 1)) /
 * 3 is the coordinate of an offset. */
static void write_trained(char dst[48], const char *name, double coordinate, uint64_t size)
{
    dst[0] = '\0';
    if (size < 2)
        return;
    double power = pe_exp_double(3 * DD_LN2.hi * coordinate);
    double trained = 1 + 8 * (double)(size - 1) / (power - 1);
    if (trained > 1.5 && trained < 1e5 && rint(trained) != (double)size)
        snprintf(dst, 48, "&%s=%.0f", name, trained);
}

/* Propose a table of coordinates [rows, 2]: as many rows begin with the same row offset as
 * there are column offsets. */
static void propose_coordinates(const pe_observation *seen, pe_proposals *proposals)
{
    char height_text[48], width_text[48];
    uint64_t columns = 0;
    if (seen->columns != 2 || seen->sampled == 0)
        return;
    while (columns < seen->sampled &&
           pe_observation_entry(seen, columns, 0) == pe_observation_entry(seen, 0, 0))
        columns++;
    if (columns % 2 == 0 || seen->rows % columns != 0 || (seen->rows / columns) % 2 == 0)
        return;
    uint64_t height = (seen->rows / columns + 1) / 2, width = (columns + 1) / 2;
    write_trained(height_text, "pretrained_height", -pe_observation_entry(seen, 0, 0), height);
    write_trained(width_text, "pretrained_width", -pe_observation_entry(seen, 0, 1), width);
    pe_propose_request(proposals, "coordinates", "height=%llu&width=%llu%s%s&heads=1&hidden=1",
                       (unsigned long long)height, (unsigned long long)width, height_text,
                       width_text);
}

/* No biases are proposed: a network makes them. */
void pe_recognise_swin_v2(pe_observation *seen, pe_proposals *proposals)
{
    proposals->discrete = false;
    propose_index(seen, false, "&heads=1&hidden=1", proposals);
    propose_coordinates(seen, proposals);
}
