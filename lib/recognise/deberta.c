/* Proposing requests for DeBERTa's relative positions and indices (arXiv:2006.03654, section
 * 3.1). */
#include "recognise/recognisers.h"

#include "numerics/buckets.h"
#include "numerics/elementary.h"
#include "recognise/distances.h"

#include <math.h>
#include <stdio.h>

/* What a table may be. */
typedef struct setting {
    const char *tensor;
    bool turned;     /* as of the opposite distance */
    int64_t zero;    /* the entry of distance 0 */
    int64_t span;    /* what is added to buckets, and limits them; 0: nothing */
    int64_t buckets; /* position_buckets; 0: none */
    int64_t most;    /* max_relative_positions */
    bool clamp;
} setting;

/* The relative position of an entry, query minus key. */
static int64_t find_position(const setting *own, size_t i)
{
    int64_t distance = (int64_t)i - own->zero;
    return own->turned ? distance : -distance;
}

static bool fits_line(const pe_distances *line, const setting *own)
{
    pe_deberta_buckets buckets;
    if (own->buckets == 1 || own->buckets > PE_BUCKETS_MAX || own->most > PE_DISTANCE_MAX ||
        (own->buckets > 0 && own->most - 1 <= own->buckets / 2))
        return false;
    pe_deberta_buckets_init(&buckets, own->buckets, own->most, own->clamp);
    for (size_t i = 0; i < line->count; i++) {
        int64_t row = pe_deberta_bucket(&buckets, find_position(own, i)) + own->span;
        if (own->span > 0)
            row = row < 0 ? 0 : row > 2 * own->span - 1 ? 2 * own->span - 1 : row;
        if (line->entries[i] != (double)row)
            return false;
    }
    return true;
}

static void propose_setting(const pe_distances *line, const setting *own,
                            pe_proposals *proposals)
{
    char window[PE_WINDOW_TEXT], buckets[48] = "", most[48] = "";
    pe_distances_window(line, own->zero, window);
    if (own->buckets > 0)
        snprintf(buckets, sizeof buckets, "&position_buckets=%lld", (long long)own->buckets);
    if (own->most != 512)
        snprintf(most, sizeof most, "&max_relative_positions=%lld", (long long)own->most);
    pe_propose_request(proposals, own->tensor, "%s&dim=1%s%s%s%s", window, buckets, most,
                       own->clamp ? "" : "&beyond=continue", own->turned ? "&p2c=paper" : "");
}

/* ---- the largest distance ---- */

/* Between which bounds the greatest distance of the buckets is: a magnitude a has bucket mid +
 * t where t is the least with (mid-1) * ln(a/mid) <= t * ln(last/mid). False: there is none. */
static bool bound_last(const pe_distances *line, const setting *own, double *ret_low,
                       double *ret_high)
{
    const int64_t mid = own->buckets / 2;
    double low = 0, high = HUGE_VAL;
    for (size_t i = 0; i < line->count; i++) {
        int64_t position = find_position(own, i),
                bucket = (int64_t)line->entries[i] - own->span;
        int64_t magnitude = position < 0 ? -position : position;
        int64_t t = (bucket < 0 ? -bucket : bucket) - mid;
        if (magnitude <= mid && bucket != position)
            return false;
        if (magnitude <= mid)
            continue;
        if (t >= mid - 1) /* the last bucket, which may be clamped to, or one beyond */
            continue;
        if (t < 1)
            return false;
        double log = (double)(mid - 1) * pe_log_double((double)magnitude / (double)mid);
        low = fmax(low, log / (double)t);
        if (t > 1)
            high = fmin(high, log / (double)(t - 1));
    }
    *ret_low = (double)mid * pe_exp_double(low);
    *ret_high = PE_DISTANCE_MAX;
    if (high < pe_log_double(PE_DISTANCE_MAX))
        *ret_high = (double)mid * pe_exp_double(high);
    return *ret_low <= *ret_high;
}

/* Try largest distances: the usual ones within the bounds, then the least. */
static bool find_most(const pe_distances *line, setting *own)
{
    static const int64_t USUAL[] = {512, 256, 128, 1024, 2048, 64, 32};
    double low, high;
    if (!bound_last(line, own, &low, &high))
        return false;
    int64_t least = (int64_t)ceil(low * (1 - 0x1p-40)) + 1;
    for (int clamp = 1; clamp >= 0; clamp--) {
        own->clamp = clamp;
        for (size_t i = 0; i < PE_COUNT(USUAL) + 3; i++) {
            own->most = i < PE_COUNT(USUAL) ? USUAL[i] : least + (int64_t)(i - PE_COUNT(USUAL));
            if ((double)(own->most - 1) >= low * (1 - 0x1p-40) &&
                (double)(own->most - 1) <= high * (1 + 0x1p-40) && fits_line(line, own))
                return true;
        }
    }
    return false;
}

/* ---- settings ---- */

/* Find out what the table is where distance 0 and the tensor are known. */
static bool try_setting(const pe_distances *line, setting *own)
{
    own->buckets = 0;
    own->most = own->span > 0 ? own->span : 512;
    own->clamp = true;
    if (fits_line(line, own))
        return true;
    if (own->span > 0) { /* the table has a row for each bucket of either sign */
        own->buckets = own->span;
        return find_most(line, own);
    }
    static const int64_t USUAL[] = {256, 320, 128, 64, 512};
    for (size_t i = 0; i < PE_COUNT(USUAL); i++) {
        own->buckets = USUAL[i];
        if (find_most(line, own))
            return true;
    }
    size_t zero = (size_t)own->zero, alone = 0; /* distances with buckets of their own */
    if (own->zero < 0 || zero >= line->count)
        return false;
    while (zero + alone + 1 < line->count &&
           fabs(line->entries[zero + alone + 1]) == (double)(alone + 1))
        alone++;
    while (alone < zero && fabs(line->entries[zero - alone - 1]) == (double)(alone + 1))
        alone++;
    for (own->buckets = 2 * (int64_t)alone; own->buckets >= 2; own->buckets -= 2)
        if (find_most(line, own))
            return true;
    return false;
}

/* The middle of the longest part that changes by one from entry to entry: around distance 0,
 * buckets have one distance each. */
static size_t middle_of_slope(const pe_distances *line)
{
    size_t start = 0, longest = 0, middle = 0;
    for (size_t i = 1; i <= line->count; i++) {
        if (i < line->count && fabs(line->entries[i] - line->entries[i - 1]) == 1)
            continue;
        if (i - start > longest) {
            longest = i - start;
            middle = (start + i - 1) / 2;
        }
        start = i;
    }
    return middle;
}

/* The first entry that is a number, or the number of entries. */
static size_t find_entry(const pe_distances *line, double number)
{
    size_t at = 0;
    while (at < line->count && line->entries[at] != number)
        at++;
    return at;
}

/* Try entries of distance 0: as of the default window, then where an entry is what the usual
 * tables have there, then in the middle of the slope, and of all rows. */
static bool find_setting(const pe_distances *line, setting *own)
{
    double most = 0;
    for (size_t i = 0; i < line->count; i++)
        most = fmax(most, line->entries[i]);
    const size_t zeros[] = {(size_t)line->keys - 1, line->count / 2,
                            find_entry(line, 256),  find_entry(line, 512),
                            middle_of_slope(line),  find_entry(line, rint((most + 1) / 2))};
    for (size_t i = 0; i < PE_COUNT(zeros); i++) {
        if (zeros[i] >= line->count || line->entries[zeros[i]] < 1)
            continue;
        own->zero = (int64_t)zeros[i];
        own->span = (int64_t)line->entries[zeros[i]];
        if (try_setting(line, own))
            return true;
    }
    return false;
}

static bool are_integers(const pe_distances *line)
{
    for (size_t i = 0; i < line->count; i++)
        if (!(fabs(line->entries[i]) < 0x1p30) || rint(line->entries[i]) != line->entries[i])
            return false;
    return true;
}

static void propose_settings(const pe_distances *line, pe_proposals *proposals)
{
    setting positions = {.tensor = "relative_position"}, own = {.tensor = "c2p_index"};
    while ((size_t)positions.zero < line->count && line->entries[positions.zero] != 0)
        positions.zero++;
    bool seen = (size_t)positions.zero < line->count;
    if (seen && try_setting(line, &positions))
        propose_setting(line, &positions, proposals);
    if (find_setting(line, &own))
        propose_setting(line, &own, proposals);
    own.tensor = "p2c_index";
    own.turned = true;
    if (find_setting(line, &own))
        propose_setting(line, &own, proposals);
    positions.zero = (int64_t)line->entries[0]; /* as it is without buckets */
    if (!seen && try_setting(line, &positions))
        propose_setting(line, &positions, proposals);
}

/* Where buckets stop having one distance each, and where they begin from there on, says how
 * many there are and the largest distance. */
void pe_recognise_deberta(pe_observation *seen, pe_proposals *proposals)
{
    pe_distances line;
    proposals->discrete = true;
    if (!pe_distances_read(&seen->view, false, &line))
        return;
    if (are_integers(&line) && !pe_distances_are_equal(&line))
        propose_settings(&line, proposals);
    pe_distances_done(&line);
}
