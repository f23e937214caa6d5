/* Proposing requests for RetNet (arXiv:2307.08621) and Sandwich (arXiv:2212.10356). */
#include "recognise/recognisers.h"

#include "numerics/elementary.h"
#include "recognise/distances.h"
#include "recognise/quick_cosine.h"
#include "recognise/wave_law.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* ---- retnet ---- */

#define FAINT       64                      /* grains: a factor of less says no distance */
#define FIRST_DECAY (-0.031748698314580298) /* ln(1 - 2^-5) */

static void propose_mask(const pe_observation *seen, bool has_heads, pe_proposals *proposals)
{
    char window[PE_WINDOW_TEXT];
    pe_distances line;
    if (!pe_distances_read(&seen->view, has_heads, &line))
        return;
    size_t last = line.count; /* keys up to the last that is not after the query */
    while (last > 0 && fabs(line.entries[last - 1]) <= FAINT * seen->view.grain)
        last--;
    const double factor = last > 0 ? line.entries[last - 1] : 0;
    if (factor >= DBL_MIN &&
        factor <= 1 + seen->view.grain + pe_observation_unit(&seen->view)) {
        double far = rint(pe_log_double(factor) / FIRST_DECAY);
        pe_distances_window(&line, (int64_t)last - 1 + (int64_t)far, window);
        pe_propose_request(proposals, "mask", "%s&heads=%llu&dim=2", window,
                           (unsigned long long)line.heads);
    }
    pe_distances_done(&line);
}

/* Cosines or sines of keys' positions, each twice. */
static void propose_turns(pe_observation *seen, const char *tensor, bool sines,
                          pe_proposals *proposals)
{
    uint64_t half = seen->columns / 2;
    pe_wave_law law;
    char base[48] = "";
    if (half == 0 || seen->columns % 2 != 0 || seen->sampled < 4 ||
        !pe_observation_is_same(seen, pe_observation_entry(seen, 1, 0),
                                pe_observation_entry(seen, 1, 1)) ||
        !pe_wave_law_read(seen, (pe_columns){0, 2, half}, sines, &law) ||
        law.positions[0] != '\0' || (half > 1 && !law.geometric))
        return;
    if (half > 1)
        pe_wave_law_base(&law, (double)half - 1, 1, "base", "10000", base, sizeof base);
    proposals->first_distance = fabs(law.offset);
    pe_propose_request(proposals, tensor, "length=%llu&heads=1&dim=%llu%s",
                       (unsigned long long)seen->rows, (unsigned long long)seen->columns, base);
}

/* A factor of the first head says its distance. */
void pe_recognise_retnet(pe_observation *seen, pe_proposals *proposals)
{
    const pe_view *view = &seen->view;
    if (view->rank == 1 && seen->sampled > 0 &&
        fabs(pe_observation_entry(seen, 0, 0) - FIRST_DECAY) < 0x1p-7 * -FIRST_DECAY)
        pe_propose_request(proposals, "decay", "length=1&heads=%llu&dim=2",
                           (unsigned long long)seen->rows);
    for (int heads = 0; heads < 2; heads++)
        propose_mask(seen, heads, proposals);
    propose_turns(seen, "cos", false, proposals);
    propose_turns(seen, "sin", true, proposals);
}

/* ---- sandwich ---- */

#define TERMS_MAX 4096

/* The sum of the cosines at distance 1, which rises with the base. */
static double compute_sum(double log_base, uint64_t terms)
{
    const double ratio = pe_exp_double(-log_base / (double)terms);
    double frequency = 1, sum = 0;
    for (uint64_t c = 0; c < terms; c++) {
        sum += pe_quick_cosine(frequency, 0);
        frequency *= ratio;
    }
    return sum;
}

#define LOG_BASE_MAX 24

/* The logarithm of the base whose cosines have this sum at distance 1. */
static double find_base(double sum, uint64_t terms)
{
    double low = 0, high = LOG_BASE_MAX;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        if (compute_sum(middle, terms) < sum)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Write a base; the sum at distance 1 may be off by a relative error. */
static void write_base(double log_base, double error, uint64_t terms, char dst[48])
{
    double sum = compute_sum(log_base, terms);
    double rise = (compute_sum(log_base + 0.01, terms) - sum) / 0.01;
    double off = fmin(0.5, 2 * error * sum / fmax(rise, 1e-9));
    pe_propose_number(dst, 48, "base", pe_exp_double(log_base), fmax(off, 1e-12), "10000");
}

/* The entry of the largest number; the first of them. */
static size_t find_peak(const pe_distances *line)
{
    size_t peak = 0;
    for (size_t i = 1; i < line->count; i++)
        if (line->entries[i] > line->entries[peak])
            peak = i;
    return peak;
}

static void propose_bias(const pe_observation *seen, bool has_heads, pe_proposals *proposals)
{
    char window[PE_WINDOW_TEXT], base[48] = "";
    pe_distances line;
    if (!pe_distances_read(&seen->view, has_heads, &line))
        return;
    size_t zero = find_peak(&line);
    /* the side that is longer, on which keys after a query may be masked */
    bool before = zero >= 2;
    double part = (double)line.heads / 8; /* of a sum, in the first head */
    double terms = rint(line.entries[zero] / part), unit = pe_observation_unit(&seen->view);
    if (terms >= 1 && terms <= TERMS_MAX && (before || zero + 2 < line.count)) {
        const char *mask = line.entries[line.count - 1] == -INFINITY ? "&mask=causal" : "";
        const double sum = line.entries[before ? zero - 1 : zero + 1] / part;
        pe_distances_window(&line, (int64_t)zero, window);
        for (int i = 0; i < 2; i++) {
            if (i == 1 && terms > 1)
                write_base(find_base(sum, (uint64_t)terms), unit, (uint64_t)terms, base);
            pe_propose_request(proposals, "bias", "%s&heads=%llu&dim=%.0f%s%s", window,
                               (unsigned long long)line.heads, 2 * terms, base, mask);
        }
    }
    pe_distances_done(&line);
}

/* The largest bias is that of distance 0 and says dim, the one beside it the base. */
void pe_recognise_sandwich(pe_observation *seen, pe_proposals *proposals)
{
    for (int heads = 0; heads < 2; heads++)
        propose_bias(seen, heads, proposals);
}
