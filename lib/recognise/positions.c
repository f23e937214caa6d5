/* Proposing requests for positions as numbers and as bits. */
#include "recognise/recognisers.h"

#include <string.h>

void pe_recognise_integer(pe_observation *seen, pe_proposals *proposals)
{
    char offset[48], step[48];
    if (seen->columns != 1 || seen->sampled < 2)
        return;
    double first = pe_observation_entry(seen, 0, 0), second = pe_observation_entry(seen, 1, 0);
    pe_propose_number(offset, sizeof offset, "offset", first, 0, "0");
    pe_propose_number(step, sizeof step, "step", second - first, 1e-7, "1");
    pe_propose_request(proposals, "encoding", "length=%llu%s%s", (unsigned long long)seen->rows,
                       offset, step);
}

void pe_recognise_normalized(pe_observation *seen, pe_proposals *proposals)
{
    if (seen->columns == 1 && seen->sampled >= 2)
        pe_propose_request(proposals, "encoding", "length=%llu",
                           (unsigned long long)seen->rows);
}

/* The number whose bits are a row; below 0 if they are no bits. */
static double number_of_row(const pe_observation *seen, bool most_significant_first)
{
    double number = 0;
    for (uint64_t i = 0; i < seen->columns; i++) {
        uint64_t column = most_significant_first ? i : seen->columns - 1 - i;
        double bit = pe_observation_entry(seen, 0, column);
        if (bit != 0 && bit != 1)
            return -1;
        number = 2 * number + bit;
    }
    return number;
}

void pe_recognise_binary(pe_observation *seen, pe_proposals *proposals)
{
    static const char *const ORDERS[] = {"msb", "lsb"};
    if (seen->columns == 0 || seen->columns > 53 || seen->sampled == 0)
        return;
    for (size_t order = 0; order < PE_COUNT(ORDERS); order++) {
        double number = number_of_row(seen, strcmp(ORDERS[order], "msb") == 0);
        if (number >= 0)
            pe_propose_request(proposals, "encoding",
                               "length=%llu&width=%llu&order=%s&offset=%.0f",
                               (unsigned long long)seen->rows,
                               (unsigned long long)seen->columns, ORDERS[order], number);
    }
}
