/* Proposing requests for T5's buckets and biases (arXiv:1910.10683, section 2.1). */
#include "recognise/recognisers.h"

#include "numerics/buckets.h"
#include "numerics/elementary.h"
#include "recognise/stored_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- runs of a bucket ---- */

/* Distances that share a bucket. */
typedef struct run {
    int64_t first, last; /* counted from the least distance */
    int64_t bucket;
} run;

#define RUNS_MAX (2 * PE_BUCKETS_MAX)

typedef struct runs {
    run items[RUNS_MAX];
    size_t count;
} runs;

/* False: these are no buckets, which may be off by the grain. */
static bool find_runs(const double *buckets, size_t count, double grain, runs *ret_runs)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const double bucket = rint(buckets[i]);
        if (!(bucket >= 0 && bucket < PE_BUCKETS_MAX && fabs(buckets[i] - bucket) <= grain))
            return false;
        if (i == 0 || (int64_t)bucket != ret_runs->items[found - 1].bucket) {
            if (found == RUNS_MAX)
                return false;
            ret_runs->items[found].first = (int64_t)i;
            ret_runs->items[found++].bucket = (int64_t)bucket;
        }
        ret_runs->items[found - 1].last = (int64_t)i;
    }
    ret_runs->count = found;
    return found > 0;
}

/* ---- the setting ---- */

typedef struct setting {
    bool bidirectional;
    int64_t one_way; /* buckets of a direction */
    int64_t zero;    /* the entry of distance 0 */
    int64_t max_distance;
} setting;

static int64_t find_exact(const setting *own)
{
    return own->one_way / 2;
}

/* A run's least and largest magnitude of distance, and its bucket in its own direction. Keys
 * after the query that all have bucket 0 have magnitude 0. */
static run find_magnitudes(const setting *own, const run *from)
{
    int64_t first = from->first - own->zero, last = from->last - own->zero;
    bool after = last > 0;
    if (after && own->bidirectional)
        return (run){first, last, from->bucket - own->one_way};
    return (run){after ? 0 : -last, first > 0 ? 0 : -first, from->bucket};
}

/* Find the entry of distance 0 by the runs on either side of it, or by one of the buckets that
 * have one distance. False: only buckets of many distances are seen. */
static bool find_zero(const runs *seen, setting *own)
{
    const run *first = &seen->items[0], *last = &seen->items[seen->count - 1];
    for (size_t i = 0; i < seen->count; i++)
        if (seen->items[i].bucket == 0) {
            own->zero = seen->items[i].first;
            return true;
        }
    if (last->bucket < find_exact(own)) {
        own->zero = last->last + last->bucket;
        return true;
    }
    own->zero = first->first - (first->bucket - own->one_way);
    return own->bidirectional && first->bucket > own->one_way &&
           first->bucket - own->one_way < find_exact(own);
}

/* ---- the largest distance ---- */

/* Between which bounds the largest distance is, by the bounds of the buckets: bucket exact + t
 * begins at the least n with steps * ln(n/exact) >= t * ln(max/exact). False: there is none. */
static bool bound_distance(const runs *seen, const setting *own, double *ret_low,
                           double *ret_high)
{
    int64_t exact = find_exact(own), steps = own->one_way - exact;
    double low = 0, high = HUGE_VAL;
    for (size_t i = 0; i < seen->count; i++) {
        run part = find_magnitudes(own, &seen->items[i]);
        double t = (double)(part.bucket - exact);
        if (part.bucket < exact || part.last < exact) {
            if (part.first != part.last || part.bucket != part.first)
                return false;
            continue;
        }
        if (part.bucket >= own->one_way || part.first < exact)
            return false;
        double begins = (double)steps * pe_log_double((double)part.first / (double)exact);
        double ends = (double)steps * pe_log_double((double)part.last / (double)exact);
        if (t > 0)
            high = fmin(high, begins / t);
        if (t + 1 < (double)steps)
            low = fmax(low, ends / (t + 1));
    }
    *ret_low = (double)exact * pe_exp_double(low);
    *ret_high = PE_DISTANCE_MAX;
    if (high < pe_log_double(PE_DISTANCE_MAX))
        *ret_high = (double)exact * pe_exp_double(high);
    return *ret_low < *ret_high * (1 + 0x1p-40);
}

static const int64_t PUBLISHED[] = {128, 256, 64, 800, 32, 20, 512, 1024};

/* A number above `low` and up to `high`: one that libraries have, or else the roundest. */
static int64_t choose_usual(double low, double high)
{
    for (size_t i = 0; i < PE_COUNT(PUBLISHED); i++)
        if ((double)PUBLISHED[i] > low && (double)PUBLISHED[i] <= high)
            return PUBLISHED[i];
    for (int64_t unit = 1000000; unit > 1; unit /= 10) {
        int64_t next = ((int64_t)low / unit + 1) * unit;
        if ((double)next <= high)
            return next;
    }
    return (int64_t)low + 1;
}

static bool fits_runs(const runs *seen, const setting *own)
{
    pe_t5_buckets buckets;
    if (own->max_distance <= find_exact(own) || own->max_distance > PE_DISTANCE_MAX)
        return false;
    pe_t5_buckets_init(&buckets, (uint32_t)own->one_way * (own->bidirectional ? 2 : 1),
                       (uint32_t)own->max_distance, own->bidirectional);
    for (size_t i = 0; i < seen->count; i++) {
        const run *part = &seen->items[i];
        if (pe_t5_bucket(&buckets, part->first - own->zero) != (size_t)part->bucket ||
            pe_t5_bucket(&buckets, part->last - own->zero) != (size_t)part->bucket)
            return false;
    }
    return true;
}

/* Find a largest distance for which all buckets are as seen. The bounds are rounded, and closed
 * on one side: so the numbers beside are tried, too. */
static bool find_distance(const runs *seen, setting *own)
{
    double low, high;
    if (!bound_distance(seen, own, &low, &high))
        return false;
    const double slack = 0x1p-40;
    int64_t usual =
        choose_usual(fmax(low * (1 - slack), (double)find_exact(own)), high * (1 + slack));
    for (int64_t more = 0; more < 3; more++) {
        own->max_distance = usual + more;
        if (fits_runs(seen, own))
            return true;
    }
    return false;
}

/* What libraries have. */
static const setting USUAL[] = {{.bidirectional = true, .one_way = 16},
                                {.bidirectional = false, .one_way = 32},
                                {.bidirectional = true, .one_way = 32},
                                {.bidirectional = true, .one_way = 160}};

static bool is_usual(const setting *own)
{
    for (size_t i = 0; i < PE_COUNT(USUAL); i++)
        if (USUAL[i].bidirectional == own->bidirectional && USUAL[i].one_way == own->one_way)
            return true;
    return false;
}

#define FAR_BUCKETS_MAX 128 /* of a direction: starts of more take long to find */

/* Find the window where only logarithmic buckets are seen: with the largest distances that
 * libraries have, where the first of the buckets ends or begins. */
static bool find_far_window(const runs *seen, setting *own)
{
    const run *first = &seen->items[0], *last = &seen->items[seen->count - 1];
    bool after = own->bidirectional && first->bucket >= own->one_way;
    int64_t exact = find_exact(own), one_way = own->one_way;
    /* the second run from the query begins where its bucket does; a single one anywhere */
    const run *second = seen->count == 1 ? first : after ? first + 1 : last - 1;
    int64_t t = second->bucket - (after ? one_way : 0) - exact;
    if (t < 0 || t >= one_way - exact ||
        (!is_usual(own) && (t != one_way - exact - 1 || one_way > FAR_BUCKETS_MAX)))
        return false;
    for (size_t i = 0; i < PE_COUNT(PUBLISHED); i++) {
        pe_t5_buckets buckets;
        if (PUBLISHED[i] <= exact)
            continue;
        own->max_distance = PUBLISHED[i];
        pe_t5_buckets_init(&buckets, (uint32_t)one_way * (own->bidirectional ? 2 : 1),
                           (uint32_t)PUBLISHED[i], own->bidirectional);
        int64_t start = buckets.starts[t];
        own->zero = after ? second->first - start : second->last + start;
        if (fits_runs(seen, own))
            return true;
    }
    return false;
}

static bool try_setting(const runs *seen, setting *own)
{
    return find_zero(seen, own) ? find_distance(seen, own) : find_far_window(seen, own);
}

static int64_t count_buckets(const setting *own)
{
    return own->one_way * (own->bidirectional ? 2 : 1);
}

/* Find a setting for which all buckets are as seen, first among those that libraries have.
 * `buckets`: how many there are; 0: this is not known. */
static bool find_setting(const runs *seen, int64_t buckets, setting *ret_setting)
{
    for (size_t i = 0; i < PE_COUNT(USUAL); i++) {
        *ret_setting = USUAL[i];
        if ((buckets == 0 || count_buckets(ret_setting) == buckets) &&
            try_setting(seen, ret_setting))
            return true;
    }
    for (int both = 1; both >= 0; both--)
        for (int64_t one_way = 2; one_way <= PE_BUCKETS_MAX / (1 + both); one_way++) {
            *ret_setting = (setting){.bidirectional = both, .one_way = one_way};
            if ((buckets == 0 || count_buckets(ret_setting) == buckets) &&
                try_setting(seen, ret_setting))
                return true;
        }
    return false;
}

/* ---- proposals ---- */

/* Whether numbers rise or fall by one all along: those of many schemes do, and T5's only in odd
 * windows. */
static bool is_plain(const runs *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        const run *one = &seen->items[i];
        if (one->first != one->last || (i > 0 && llabs(one->bucket - one[-1].bucket) != 1))
            return false;
    }
    return true;
}

/* Propose a tensor of these buckets. `known`: how many there are; 0: this is not known. `rest`
 * holds what is known besides. */
static void propose_buckets(const pe_distances *distances, const double *buckets,
                            const char *tensor, int64_t known, const char *rest, double grain,
                            pe_proposals *proposals)
{
    char window[PE_WINDOW_TEXT];
    setting found;
    runs *seen = malloc(sizeof *seen);
    if (seen && find_runs(buckets, distances->count, grain, seen) &&
        (buckets != distances->entries || !is_plain(seen)) &&
        find_setting(seen, known, &found)) {
        pe_distances_window(distances, found.zero, window);
        pe_propose_request(proposals, tensor,
                           "%s&heads=%llu&num_buckets=%lld&max_distance=%lld%s%s", window,
                           (unsigned long long)distances->heads,
                           (long long)count_buckets(&found), (long long)found.max_distance,
                           found.bidirectional ? "" : "&bidirectional=false", rest);
    }
    free(seen);
}

static void propose_biases(const pe_observation *seen, bool has_heads, pe_proposals *proposals)
{
    char set[128];
    pe_distances distances;
    pe_trained table;
    pe_dtype dtype;
    if (!pe_element_is_real(seen->view.element, &dtype) ||
        !pe_distances_read(&seen->view, has_heads, &distances))
        return;
    double *rows = malloc(distances.count * sizeof *rows);
    if (rows && pe_stored_find(seen, "table", distances.heads, &table) &&
        pe_stored_find_rows(&table, PE_BUCKETS_MAX, 1, 0, &distances, dtype, rows)) {
        snprintf(set, sizeof set, "&set=%s", seen->set_name);
        propose_buckets(&distances, rows, "bias", (int64_t)table.stored_rows, set, 0,
                        proposals);
    }
    free(rows);
    pe_distances_done(&distances);
}

/* The buckets are read, of a bias from the rows of the stored table; where they begin says how
 * many there are, the largest distance and the window. */
void pe_recognise_t5(pe_observation *seen, pe_proposals *proposals)
{
    pe_distances distances;
    proposals->discrete = true;
    if (pe_distances_read(&seen->view, false, &distances)) {
        if (!pe_distances_are_equal(&distances)) /* one number says nothing */
            propose_buckets(&distances, distances.entries, "bucket", 0, "", seen->view.grain,
                            proposals);
        pe_distances_done(&distances);
    }
    for (int heads = 0; seen->set && heads < 2; heads++)
        propose_biases(seen, heads, proposals);
}
