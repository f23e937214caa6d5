/* Proposing requests for decomposed relative positions (arXiv:2112.01526). */
#include "recognise/recognisers.h"

#include "recognise/stored_rows.h"

#include <stdio.h>

/* The row for the first query and the first key, which is keys-1 on the finer grid. */
static uint64_t first_row(uint64_t queries, uint64_t keys)
{
    return queries > keys ? (keys - 1) * queries / keys : keys - 1;
}

/* Propose an axis of the grid: rows, or columns. `rest` holds what is known besides. */
static void propose_axis(const pe_distances *axis, const char *tensor, bool columns,
                         const char *rest, pe_proposals *proposals)
{
    char queries[48] = "";
    if (axis->queries != axis->keys)
        snprintf(queries, sizeof queries, "&query_%s=%llu", columns ? "width" : "height",
                 (unsigned long long)axis->queries);
    pe_propose_request(proposals, tensor, "%s%llu%s%s&dim=%llu%s",
                       columns ? "height=1&width=" : "height=", (unsigned long long)axis->keys,
                       queries, columns ? "" : "&width=1", (unsigned long long)axis->heads,
                       rest);
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

/* Propose vectors whose first one is in a stored table. */
static void propose_vectors(const pe_observation *seen, bool has_columns,
                            pe_proposals *proposals)
{
    static const char *const TABLES[] = {"rel_pos_h", "rel_pos_w"};
    char set[128];
    pe_distances corner;
    pe_dtype dtype;
    if (!pe_element_is_real(seen->view.element, &dtype) ||
        !read_corner(&seen->view, has_columns, &corner))
        return;
    snprintf(set, sizeof set, "&set=%s", seen->set_name);
    for (int columns = 0; columns < 2; columns++) {
        pe_trained table;
        if (pe_stored_find(seen, TABLES[columns], corner.heads, &table) &&
            pe_stored_has_row(&table, first_row(corner.queries, corner.keys), &corner, 0,
                              dtype))
            propose_axis(&corner, columns ? "rel_w" : "rel_h", columns, set, proposals);
    }
    pe_distances_done(&corner);
}

/* No resized tables are proposed. */
void pe_recognise_decomposed(pe_observation *seen, pe_proposals *proposals)
{
    pe_distances index;
    proposals->discrete = true;
    if (seen->view.rank == 2 && read_corner(&seen->view, false, &index)) {
        if (index.entries[0] == (double)first_row(index.queries, index.keys))
            propose_axis(&index, "index_h", false, "", proposals);
        pe_distances_done(&index);
    }
    for (int columns = 0; seen->set && columns < 2; columns++)
        propose_vectors(seen, columns, proposals);
}
