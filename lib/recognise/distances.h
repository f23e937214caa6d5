/* Tables of queries and keys whose entries depend on the distance alone, as lines of them. */
#ifndef PE_DISTANCES_H
#define PE_DISTANCES_H

#include "recognise/observation.h"

#define PE_DISTANCE_LINES 8  /* heads that are read at most */
#define PE_WINDOW_TEXT    96 /* room for the text of a window */

/* The entries of each distance, key minus query. What is the distance of the first entry, the
 * entries have to say. */
typedef struct pe_distances {
    uint64_t heads, queries, keys; /* one head if the table has no axis of heads; one query if
                                    * it has one axis for both */
    size_t lines, count;           /* heads that were read; distances, queries+keys-1 */
    double *entries;               /* [lines, count] */
} pe_distances;

/* Read the last query's row, the first one's and as many between as it takes for all distances:
 * of a table [queries, keys] or [distances], with an axis of heads before if `has_heads`.
 * False: it has other axes or too many distances, its diagonals are not constant, it cannot be
 * read, or memory ran out. */
bool pe_distances_read(const pe_view *view, bool has_heads, pe_distances *ret_distances);

/* The same of the entries of one query, where a table has queries. */
bool pe_distances_read_query(const pe_view *view, bool has_heads, uint64_t query,
                             pe_distances *ret_distances);

/* The same of one head, without its entries: how many are equal at the beginning and at the
 * end. Of one axis no more is read than tells it. */
bool pe_distances_read_ends(const pe_view *view, pe_distances *ret_distances, size_t *ret_low,
                            size_t *ret_high);

/* The same of vectors, [queries, keys, columns] or [distances, columns]: each of the first
 * columns is a line, and `heads` is the number of columns. Without columns vectors are numbers.
 */
bool pe_distances_read_vectors(const pe_view *view, bool has_columns,
                               pe_distances *ret_distances);
void pe_distances_done(pe_distances *distances);

/* Whether most diagonals of a matrix are constant, as those of distances are. */
bool pe_distances_are_diagonals(const pe_view *matrix);

/* Whether the entries of all distances are the same. */
bool pe_distances_are_equal(const pe_distances *distances);

/* Write the parameters of the window, "length=4&query_length=2", where entry `zero`, which may
 * lie outside, is that of distance 0; and those of its queries alone, "&query_length=2". */
void pe_distances_window(const pe_distances *distances, int64_t zero, char dst[PE_WINDOW_TEXT]);
void pe_distances_queries(const pe_distances *distances, int64_t zero,
                          char dst[PE_WINDOW_TEXT]);

#endif
