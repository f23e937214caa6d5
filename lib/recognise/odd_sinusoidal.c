/* Proposing sinusoidal encodings whose columns form no pairs: each with a frequency of its own,
 * or of an odd number. */
#include "recognise/odd_sinusoidal.h"

#include "recognise/wave_law.h"

#include <stdio.h>
#include <string.h>

#define TEXT 48

typedef unsigned long long number;

/* Propose what sines tell whose frequencies fall as base^(-i/plain) or base^(-i/last); `rest`
 * says the arrangement. */
static void propose_law(const pe_observation *seen, pe_proposals *proposals,
                        const pe_wave_law *law, double plain, double last, const char *rest)
{
    pe_wave_texts frequencies;
    char amplitude[TEXT];
    bool zero = true;
    for (uint64_t c = 0; c < seen->columns; c++)
        zero = zero && pe_observation_entry(seen, 0, c) == 0;
    pe_wave_law_frequencies(law, NULL, "base", plain, last, &frequencies);
    pe_propose_number(amplitude, sizeof amplitude, "amplitude", law->amplitude, 2e-3, "1");
    for (size_t i = 0; i < frequencies.count; i++)
        pe_propose_request(proposals, "encoding", "length=%llu&dim=%llu%s%s%s%s%s",
                           (number)seen->rows, (number)seen->columns, rest,
                           frequencies.items[i], law->positions, amplitude,
                           zero ? "&zero_first_row=true" : "");
}

/* Sines in even columns and cosines in odd ones, of base^(-2j/dim) in column j. */
static void propose_per_column(pe_observation *seen, pe_proposals *proposals)
{
    const uint64_t columns = seen->columns, odd = columns % 2;
    const pe_columns sines = {0, 2, (columns + odd) / 2};
    static const char *const ODD_DIMS[] = {"", "&odd_dim=truncate", "&odd_dim=pad"};
    pe_wave_law law;
    char rest[2 * TEXT];
    if (!pe_wave_law_read(seen, sines, true, &law) || !law.geometric)
        return;
    proposals->first_distance = law.first_distance;
    for (size_t i = odd; i < (odd ? PE_COUNT(ODD_DIMS) : 1); i++) {
        snprintf(rest, sizeof rest, "&frequencies=per_column%s", ODD_DIMS[i]);
        propose_law(seen, proposals, &law, (double)(columns - (i == 2)) / 4, 0, rest);
    }
}

/* An odd number of columns: a pair lacks its second one, or the last column is zero. */
static void propose_odd(pe_observation *seen, pe_proposals *proposals, bool pad)
{
    const uint64_t pairs = (seen->columns + (pad ? 0 : 1)) / 2, columns = seen->columns - pad;
    const struct {
        const char *text;
        pe_columns sines;
    } LAYOUTS[] = {{"", {0, 2, pairs}},
                   {"&layout=concat", {0, 1, pairs}},
                   {"&layout=concat_cos_first", {pairs, 1, columns - pairs}}};
    for (size_t i = 0; i < PE_COUNT(LAYOUTS); i++) {
        pe_wave_law law;
        char rest[4 * TEXT];
        if (!pe_wave_law_read(seen, LAYOUTS[i].sines, true, &law) || !law.geometric)
            continue;
        proposals->first_distance = law.first_distance;
        snprintf(rest, sizeof rest, "&odd_dim=%s%s", pad ? "pad" : "truncate", LAYOUTS[i].text);
        propose_law(seen, proposals, &law, (double)columns / 2, (double)pairs - 1, rest);
    }
}

void pe_propose_odd_sinusoidal(pe_observation *seen, pe_proposals *proposals)
{
    bool pad = seen->columns % 2 == 1;
    if (seen->columns < 3 || seen->sampled < 4)
        return;
    for (size_t row = 0; row < seen->sampled && pad; row++)
        pad = pe_observation_entry(seen, row, seen->columns - 1) == 0;
    if (seen->columns % 2 == 1)
        propose_odd(seen, proposals, pad);
    propose_per_column(seen, proposals);
}
