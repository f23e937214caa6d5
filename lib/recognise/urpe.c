/* Proposing requests for URPE (arXiv:2205.13401). */
#include "recognise/recognisers.h"

#include "recognise/distances.h"

/* Propose the matrices that training begins with: square ones, since of other tables a number
 * that is 1 everywhere says nothing. */
static void propose_ones(const pe_distances *line, pe_proposals *proposals)
{
    if (line->queries > 1 && line->queries == line->keys && line->entries[0] == 1 &&
        pe_distances_are_equal(line))
        pe_propose_request(proposals, "toeplitz", "length=%llu&heads=%llu",
                           (unsigned long long)line->keys, (unsigned long long)line->heads);
}

void pe_recognise_urpe(pe_observation *seen, pe_proposals *proposals)
{
    proposals->discrete = true;
    for (int heads = 0; heads < 2; heads++) {
        pe_distances line;
        if (!pe_distances_read(&seen->view, heads, &line))
            continue;
        propose_ones(&line, proposals);
        pe_distances_done(&line);
    }
}
