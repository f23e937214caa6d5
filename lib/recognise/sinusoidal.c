/* Proposing sinusoidal encodings, by the law of their sines and cosines. */
#include "recognise/recognisers.h"
#include "recognise/wave_law.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Propose a layout whose sines are all columns of one list and whose cosines of another, which
 * has their frequencies. */
static void propose_layout(pe_observation *seen, pe_proposals *proposals, pe_columns sines,
                           const char *layout)
{
    pe_wave_law law;
    char scale[48] = "", bases[2][48];
    double dim = (double)seen->columns, half = dim / 2;
    if (!pe_wave_law_read(seen, sines, true, &law) || !law.geometric)
        return;
    if (fabs(law.amplitude - sqrt(dim)) < 1e-2 * sqrt(dim))
        snprintf(scale, sizeof scale, "&amplitude=%.17g", sqrt(dim));
    else
        pe_propose_number(scale, sizeof scale, "amplitude", law.amplitude, 2e-3, "1");
    const char *zero = pe_observation_entry(seen, 0, 0) == 0 &&
                               pe_observation_entry(seen, 0, 1) == 0 &&
                               pe_observation_entry(seen, 0, seen->columns - 1) == 0
                           ? "&zero_first_row=true"
                           : "";
    proposals->first_distance = law.first_distance;
    for (size_t i = 0; i < 2; i++)
        pe_wave_law_base(&law, half - (double)i, "base", "10000", bases[i], sizeof bases[i]);
    /* One ratio has a base for each formula, of which one may be near another number of six
     * digits: 10000^(1/15) is 18478.5^(1/16), nearly. The fewest digits come first. */
    const size_t first = strlen(bases[1]) < strlen(bases[0]);
    for (size_t i = 0; i < 2; i++) {
        const size_t formula = i ^ first;
        pe_propose(proposals, "encoding", "length=%llu&dim=%llu%s%s%s%s%s%s",
                   (unsigned long long)seen->rows, (unsigned long long)seen->columns, layout,
                   formula ? "&frequencies=tensor2tensor" : "", bases[formula], law.positions,
                   scale, zero);
    }
}

void pe_recognise_sinusoidal(pe_observation *seen, pe_proposals *proposals)
{
    uint64_t half = seen->columns / 2;
    if (half < 2 || seen->columns % 2 != 0 || seen->sampled < 4)
        return;
    propose_layout(seen, proposals, (pe_columns){0, 2, half}, "");
    propose_layout(seen, proposals, (pe_columns){0, 1, half}, "&layout=concat");
    propose_layout(seen, proposals, (pe_columns){half, 1, half}, "&layout=concat_cos_first");
}
