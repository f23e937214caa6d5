/* Proposing requests for biases and slopes of ALiBi (arXiv:2108.12409, section 3). */
#include "recognise/recognisers.h"

#include "numerics/elementary.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static const char *const MASKS[] = {"symmetric", "causal", "key_only", "from_last_key", NULL};
enum mask { SYMMETRIC, CAUSAL };

/* ---- a line of a bias ---- */

/* What one query adds to its keys: a straight line that rises to a peak of 0 or falls from it.
 */
typedef struct bias_line {
    bool masked;  /* keys after the query have -inf */
    double slope; /* per key, above 0 */
    int64_t zero; /* the key at which the line is 0, which may lie outside */
} bias_line;

#define LINE_MAX 4096 /* entries that are read */

/* Whether the entries lie on the straight line through the first and the last of them, but for
 * rounding. */
static bool is_straight(const double *line, uint64_t first, uint64_t last, double unit)
{
    double slope = (line[last] - line[first]) / (double)(last - first);
    double most = fmax(fabs(line[first]), fabs(line[last]));
    for (uint64_t i = first; i <= last; i++)
        if (!(fabs(line[i] - line[first] - slope * (double)(i - first)) <= 8 * unit * most))
            return false;
    return true;
}

/* Measure the longer one of the rising and the falling part. */
static bool measure_slope(const double *line, uint64_t count, double unit, bias_line *ret_line)
{
    uint64_t peak = 0;
    for (uint64_t i = 1; i < count; i++)
        if (line[i] > line[peak])
            peak = i;
    uint64_t first = peak >= count / 2 ? 0 : peak, last = peak >= count / 2 ? peak : count - 1;
    double slope = (line[last] - line[first]) / (double)(last > first ? last - first : 1);
    if (slope == 0 || !is_straight(line, first, last, unit))
        return false;
    ret_line->slope = fabs(slope);
    ret_line->zero = (int64_t)rint((double)first - line[first] / slope);
    return true;
}

/* Read the last query's line of the first head of a bias [heads, keys] or [heads, queries,
 * keys]. False: it is not straight, or cannot be read. */
static bool read_line(const pe_view *view, bias_line *ret_line)
{
    double line[LINE_MAX], end;
    pe_view head = view->rank > 1 ? pe_view_at(view, 0, 0) : *view;
    pe_view last = head.rank == 2 ? pe_view_at(&head, 0, head.shape[0] - 1) : head;
    pe_view first = head.rank == 2 ? pe_view_at(&head, 0, 0) : head;
    uint64_t keys = last.shape[0], count = keys < LINE_MAX ? keys : LINE_MAX, finite = 0;
    if (last.rank != 1 || !pe_view_read(&last, 0, count, line) ||
        !pe_view_read(&first, keys - 1, 1, &end))
        return false;
    while (finite < count && isfinite(line[finite]))
        finite++;
    *ret_line = (bias_line){.masked = end == -INFINITY};
    return finite > 1 && measure_slope(line, finite, pe_observation_unit(view), ret_line);
}

/* ---- slopes ---- */

/* The largest power of two that is at most `heads`. */
static uint64_t round_to_power(uint64_t heads)
{
    uint64_t power = 1;
    while (2 * power <= heads)
        power *= 2;
    return power;
}

#define TEXT      64
#define HEADS_MAX 65536

/* Propose what has a first slope, which may be off by a relative error: the exponent of the
 * last slope, by either rule. `rest` holds what is known besides. Rounded slopes say less of
 * it. */
static void propose_slopes(pe_proposals *proposals, const char *tensor, const char *rest,
                           uint64_t heads, double slope, double error)
{
    static const char *const ROUNDED[] = {"", "&slope_dtype=bf16", "&slope_dtype=f16"};
    static const double ROUNDED_ERROR[] = {0, 0x1p-8, 0x1p-11};
    uint64_t power = round_to_power(heads);
    if (!(slope >= DBL_MIN && slope <= DBL_MAX)) /* it has no logarithm */
        return;
    for (int geometric = 0; geometric < (power == heads ? 1 : 2); geometric++)
        for (size_t i = 0; i < PE_COUNT(ROUNDED); i++) {
            double steps = geometric ? (double)heads : (double)power;
            char max[TEXT];
            double number = -steps * pe_log_double(slope) / DD_LN2.hi;
            double off = 2 * steps * (error + ROUNDED_ERROR[i]) / fmax(number, 0.001);
            pe_propose_number(max, sizeof max, "alibi_bias_max", number, off, "8");
            pe_propose_request(proposals, tensor, "%s&heads=%llu%s%s%s", rest,
                               (unsigned long long)heads, max,
                               geometric ? "&non_power_of_two=geometric" : "", ROUNDED[i]);
        }
}

/* Propose all heads of a power of two of which these are some neighbours, as one rank of
 * several that share them has: the ratio of slopes tells how many. */
static void propose_whole(pe_proposals *proposals, const char *tensor, const char *rest,
                          uint64_t heads, double slope, double next)
{
    if (!(slope > next && next >= DBL_MIN && slope <= 1))
        return;
    const double ratio = pe_log_double(next / slope) / DD_LN2.hi, all = rint(-8 / ratio);
    const double before = pe_log_double(slope) / DD_LN2.hi / ratio - 1;
    if (all <= (double)heads || all > HEADS_MAX ||
        (double)round_to_power((uint64_t)all) != all || fabs(all + 8 / ratio) > 0.02 * all ||
        rint(before) < 0 || rint(before) + (double)heads > all)
        return;
    pe_propose_request(proposals, tensor, "%s&heads=%llu&heads_total=%.0f&first_head=%.0f",
                       rest, (unsigned long long)heads, all, fabs(rint(before)));
}

/* The same of slopes that are divided by the square root of a usual width. */
static void propose_divided(pe_proposals *proposals, const char *rest, uint64_t heads,
                            double slope, double error)
{
    static const unsigned HEAD_DIMS[] = {64, 128, 32, 80, 96, 256};
    double steps = (double)round_to_power(heads);
    double expected = pe_exp_double(-8 * DD_LN2.hi / steps);
    for (size_t i = 0; i < PE_COUNT(HEAD_DIMS); i++) {
        double whole = slope * sqrt(HEAD_DIMS[i]);
        char query[TEXT + 192];
        if (fabs(whole - expected) > 0.01 * expected)
            continue;
        snprintf(query, sizeof query, "%s&head_dim=%u", rest, HEAD_DIMS[i]);
        propose_slopes(proposals, "bias", query, heads, whole, error);
    }
}

/* Propose biases [heads, queries, keys] or [heads, keys] by a line of the first head. */
static void propose_biases(const pe_view *view, pe_proposals *proposals)
{
    uint64_t keys = view->shape[view->rank - 1];
    uint64_t queries = view->rank == 3 ? view->shape[1] : 1;
    double error = 2 * pe_observation_unit(view);
    bias_line line, next = {.slope = 0};
    if (!read_line(view, &line))
        return;
    if (view->shape[0] > 1) {
        const pe_view others = pe_view_part(view, 0, 1, view->shape[0] - 1);
        if (!read_line(&others, &next))
            next.slope = 0;
    }
    int64_t offset = line.zero - (int64_t)(queries - 1);
    for (int mask = 0; MASKS[mask]; mask++) {
        char rest[192], from[TEXT] = "", some[TEXT] = "";
        if (line.masked != (mask == CAUSAL))
            continue;
        if (queries != keys)
            snprintf(some, sizeof some, "&query_length=%llu", (unsigned long long)queries);
        if (mask <= CAUSAL && offset != (int64_t)(keys - queries))
            snprintf(from, sizeof from, "&query_offset=%lld", (long long)offset);
        snprintf(rest, sizeof rest, "length=%llu%s%s%s%s", (unsigned long long)keys, some, from,
                 mask == SYMMETRIC ? "" : "&mask=", mask == SYMMETRIC ? "" : MASKS[mask]);
        propose_slopes(proposals, "bias", rest, view->shape[0], line.slope, error);
        propose_divided(proposals, rest, view->shape[0], line.slope, error);
        propose_whole(proposals, "bias", rest, view->shape[0], line.slope, next.slope);
    }
}

/* View a matrix [queries, keys] as that of one head. */
static pe_view view_head(const pe_view *view)
{
    pe_view head = *view;
    head.rank = 3;
    for (size_t axis = 2; axis > 0; axis--) {
        head.shape[axis] = view->shape[axis - 1];
        head.strides[axis] = view->strides[axis - 1];
    }
    head.shape[0] = 1;
    return head;
}

/* Biases by the last line of the first head, of which the slope and the position of the query
 * are read; slopes by the first of them. */
void pe_recognise_alibi(pe_observation *seen, pe_proposals *proposals)
{
    const pe_view *view = &seen->view;
    double first;
    /* a power of a rounded base has as many times its error, and heads have powers up to their
     * number */
    if (view->rank > 0)
        proposals->roundings = fmin((double)view->shape[0], 256);
    if (view->rank == 2) {
        const pe_view head = view_head(view);
        propose_biases(&head, proposals);
    }
    if (view->rank == 2 || view->rank == 3)
        propose_biases(view, proposals);
    else if (view->rank == 1 && seen->sampled > 0 && view->shape[0] <= 65536) {
        first = pe_observation_entry(seen, 0, 0);
        if (first > 0 && first < 1)
            propose_slopes(proposals, "slopes", "length=1", view->shape[0], first,
                           pe_observation_unit(view));
        if (seen->sampled > 1)
            propose_whole(proposals, "slopes", "length=1", view->shape[0], first,
                          pe_observation_entry(seen, 1, 0));
    }
}
