/* Explaining by columns in an order that no layout has. */
#include "foreign/ordered_view.h"
#include "identify/compared_lines.h"
#include "identify/mistakes.h"

/* The column of the exact table that stands in a column of the other one. */
static uint64_t find_column(int order, uint64_t column, uint64_t columns)
{
    const uint64_t half = columns / 2;
    return order == 0   ? column ^ 1
           : order == 1 ? (column + half) % columns
           : order == 2 ? column % 2 * half + column / 2
                        : column % half * 2 + column / half;
}

/* Columns in another order, where no layout has it. */
bool pe_find_columns(pe_trial *trial)
{
    static const char *const ORDERS[] = {
        "columns 2i and 2i + 1 are exchanged, as where cosines and sines are",
        "the halves are exchanged", "the halves alternate",
        "even columns stand before odd ones"};
    const uint64_t columns = pe_view_columns(&trial->view);
    uint16_t order[PE_IDENTITY_COLUMNS_MAX];
    bool found = false;
    if (trial->view.rank != 2 || columns % 2 > 0 || columns > PE_COUNT(order))
        return false;
    for (int i = 0; i < (int)PE_COUNT(ORDERS) && !found; i++) {
        pe_ordered_view ordered;
        pe_view view;
        for (uint64_t c = 0; c < columns; c++)
            order[find_column(i, c, columns)] = (uint16_t)c;
        found =
            pe_ordered_view_init(&ordered, &trial->view, order, &view) &&
            pe_trial_fits(trial, trial->query, trial->tensor, &view, 1) &&
            pe_trial_say(trial, "columns", "The columns are in another order: %s.", ORDERS[i]);
        pe_ordered_view_done(&ordered);
    }
    return found;
}
