/* Proposing requests for RetNet (arXiv:2307.08621) and Sandwich (arXiv:2212.10356). */
#include "positions/decay_recognise.h"

#include "foreign/distances.h"
#include "foreign/wave_law.h"
#include "numerics/elementary.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* ---- retnet ---- */

#define FIRST_DECAY (-0.031748698314580298) /* ln(1 - 2^-5) */

static void propose_mask(const pe_view *view, bool has_heads, pe_proposals *proposals)
{
    char window[PE_WINDOW_TEXT];
    pe_distances line;
    if (!pe_distances_read(view, has_heads, &line))
        return;
    size_t seen = line.count; /* keys up to the last that is not after the query */
    while (seen > 0 && line.entries[seen - 1] == 0)
        seen--;
    double last = seen > 0 ? line.entries[seen - 1] : 0;
    if (last >= DBL_MIN && last <= 1) {
        double far = rint(pe_log((dd){last, 0}).hi / FIRST_DECAY);
        pe_distances_window(&line, (int64_t)seen - 1 + (int64_t)far, window);
        pe_propose(proposals, "mask", "%s&heads=%llu&dim=2", window,
                   (unsigned long long)line.heads);
    }
    pe_distances_done(&line);
}

/* Cosines or sines of keys' positions, each twice. */
static void propose_turns(pe_seen *seen, const char *tensor, bool sines,
                          pe_proposals *proposals)
{
    uint64_t half = seen->columns / 2;
    pe_wave_law law;
    char base[48] = "";
    if (half == 0 || seen->columns % 2 != 0 || seen->sampled < 4 ||
        pe_seen_entry(seen, 1, 0) != pe_seen_entry(seen, 1, 1) ||
        !pe_wave_law_of(seen, (pe_columns){0, 2, half}, sines, &law) ||
        law.positions[0] != '\0' || (half > 1 && !law.geometric))
        return;
    if (half > 1)
        pe_wave_law_base(&law, (double)half - 1, "base", "10000", base, sizeof base);
    proposals->reach = law.reach;
    pe_propose(proposals, tensor, "length=%llu&heads=1&dim=%llu%s",
               (unsigned long long)seen->rows, (unsigned long long)seen->columns, base);
}

void pe_retnet_recognise(pe_seen *seen, pe_proposals *proposals)
{
    const pe_view *view = &seen->view;
    if (view->rank == 1 && seen->sampled > 0 &&
        fabs(pe_seen_entry(seen, 0, 0) - FIRST_DECAY) < 0x1p-7 * -FIRST_DECAY)
        pe_propose(proposals, "decay", "length=1&heads=%llu&dim=2",
                   (unsigned long long)seen->rows);
    for (int heads = 0; heads < 2; heads++)
        propose_mask(view, heads, proposals);
    propose_turns(seen, "cos", false, proposals);
    propose_turns(seen, "sin", true, proposals);
}

/* ---- sandwich ---- */

#define TERMS_MAX 65536

/* The cosine of a number up to 1, by Taylor's series. */
static double cosine_of(double angle)
{
    double square = angle * angle, sum = 1, term = 1;
    for (int n = 2; n < 18; n += 2) {
        term *= -square / (n * (n - 1));
        sum += term;
    }
    return sum;
}

/* The sum of the cosines at distance 1; it rises with the logarithm of the base. */
static double sum_of(double log_base, uint64_t terms)
{
    double ratio = pe_unscaled(pe_exp((dd){-log_base / (double)terms, 0})).hi;
    double frequency = 1, sum = 0;
    for (uint64_t c = 0; c < terms; c++) {
        sum += cosine_of(frequency);
        frequency *= ratio;
    }
    return sum;
}

/* Write the base whose cosines have this sum, which may be off by a relative error. */
static void write_base(double sum, double error, uint64_t terms, char dst[48])
{
    double low = 0, high = 48;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (sum_of(middle, terms) < sum)
            low = middle;
        else
            high = middle;
    }
    double rise = (sum_of(low + 0.01, terms) - sum_of(low, terms)) / 0.01;
    double off = fmin(0.5, 2 * error * sum / fmax(rise, 1e-9));
    pe_propose_number(dst, 48, "base", pe_unscaled(pe_exp((dd){low, 0})).hi, fmax(off, 1e-12),
                      "10000");
}

/* The entry of the largest number; the first of them. */
static size_t peak_of(const pe_distances *line)
{
    size_t peak = 0;
    for (size_t i = 1; i < line->count; i++)
        if (line->entries[i] > line->entries[peak])
            peak = i;
    return peak;
}

static void propose_bias(const pe_view *view, bool has_heads, pe_proposals *proposals)
{
    char window[PE_WINDOW_TEXT], base[48] = "";
    pe_distances line;
    if (!pe_distances_read(view, has_heads, &line))
        return;
    size_t zero = peak_of(&line), beside = zero > 0 ? zero - 1 : zero + 1;
    double part = (double)line.heads / 8; /* of a sum, in the first head */
    double terms = rint(line.entries[zero] / part);
    if (terms >= 1 && terms <= TERMS_MAX && line.count > 1) {
        const char *mask = line.entries[line.count - 1] == -INFINITY ? "&mask=causal" : "";
        pe_distances_window(&line, (int64_t)zero, window);
        if (terms > 1 && isfinite(line.entries[beside]))
            write_base(line.entries[beside] / part, pe_seen_unit(view), (uint64_t)terms, base);
        for (int usual = 1; usual >= (base[0] ? 0 : 1); usual--)
            pe_propose(proposals, "bias", "%s&heads=%llu&dim=%.0f%s%s", window,
                       (unsigned long long)line.heads, 2 * terms, usual ? "" : base, mask);
    }
    pe_distances_done(&line);
}

void pe_sandwich_recognise(pe_seen *seen, pe_proposals *proposals)
{
    for (int heads = 0; heads < 2; heads++)
        propose_bias(&seen->view, heads, proposals);
}
