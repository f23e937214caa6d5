/* From waves of distances to requests of relative_sinusoidal and transformer_xl. */
#include "recognise/distance_waves.h"

#include "recognise/recognisers.h"
#include "recognise/wave_law.h"

#include <math.h>
#include <stdio.h>

#define LEAST_ROWS 4

/* ---- the law ---- */

static pe_columns select_cosines(pe_wave_layout layout, uint64_t half)
{
    if (layout == PE_WAVE_INTERLEAVED)
        return (pe_columns){1, 2, half};
    return (pe_columns){layout == PE_WAVE_CONCAT ? half : 0, 1, half};
}

/* Fit the cosines of some rows; *ret_position is that of the first row. */
static bool fit_rows(pe_observation *rows, pe_wave_layout layout, pe_distance_law *law,
                     double *ret_position)
{
    uint64_t half = law->dim / 2;
    pe_wave_law waves;
    bool good = rows->columns == law->dim &&
                pe_wave_law_read(rows, select_cosines(layout, half), false, &waves) &&
                (waves.geometric || half == 1);
    law->base[0] = '\0';
    *ret_position = good ? waves.offset : 0;
    if (good && half > 1)
        pe_wave_law_base(&waves, (double)half, 1, "base", "10000", law->base, sizeof law->base);
    return good;
}

/* Fit the rows of the query that has the most distances from `from` to `to`. */
static bool fit_query(pe_observation *seen, size_t from, size_t to, pe_wave_layout layout,
                      pe_distance_law *law)
{
    uint64_t before = law->shape.queries - 1; /* entries that the first query lacks */
    uint64_t query = from < before ? before - from : 0, start = before - query;
    uint64_t last = start + law->shape.keys - 1 < to ? start + law->shape.keys - 1 : to;
    pe_view rows = seen->view;
    pe_observation own;
    double position;
    if (last < from + LEAST_ROWS - 1)
        return false;
    if (rows.rank == 3)
        rows = pe_view_at(&rows, 0, query);
    rows = pe_view_part(&rows, 0, from - start, last - from + 1);
    const bool all = rows.shape[0] == seen->rows; /* whose waves are known */
    bool good =
        all ? fit_rows(seen, layout, law, &position)
            : pe_observation_begin(&own, &rows) && fit_rows(&own, layout, law, &position);
    if (!all)
        pe_observation_end(&own);
    law->first = good && fabs(position) <= 0x1p31 ? (int64_t)rint(position) - (int64_t)from : 0;
    return good && fabs(position) <= 0x1p31;
}

bool pe_distance_law_read(pe_observation *seen, pe_wave_layout layout, pe_distance_law *ret_law)
{
    const pe_view *view = &seen->view;
    size_t low, high, rank = view->rank;
    if (rank < 2 || rank > 3 || view->shape[rank - 1] % 2 != 0)
        return false;
    pe_view line = pe_view_at(view, rank - 1, 0);
    *ret_law = (pe_distance_law){.dim = view->shape[rank - 1]};
    if (!pe_distances_read_ends(&line, &ret_law->shape, &low, &high))
        return false;
    size_t from = low - 1, to = ret_law->shape.count - high;
    if (to <= from || !fit_query(seen, from, to, layout, ret_law))
        return false;
    ret_law->is_low_seen = low > 1;
    ret_law->is_high_seen = high > 1;
    ret_law->low = ret_law->first + (int64_t)from;
    ret_law->high = ret_law->first + (int64_t)to;
    return true;
}

/* How far from 0 positions may be on either side, as one number; with neither limit seen,
 * `name` is not written. False: the limits differ. */
static bool write_limit(const pe_distance_law *law, const char *name, char dst[48])
{
    dst[0] = '\0';
    if (law->is_low_seen || law->is_high_seen)
        snprintf(dst, 48, "&%s=%lld", name,
                 (long long)(law->is_low_seen ? -law->low : law->high));
    return !law->is_low_seen || !law->is_high_seen || law->low == -law->high;
}

/* ---- relative_sinusoidal ---- */

static void note_reach(const pe_distance_law *law, pe_proposals *proposals)
{
    const bool waves = law->shape.queries == 1 && !law->is_low_seen && !law->is_high_seen;
    proposals->first_distance = fabs((double)law->first);
    proposals->angle = waves ? 0 : proposals->first_distance + (double)law->shape.count;
}

void pe_recognise_relative_sinusoidal(pe_observation *seen, pe_proposals *proposals)
{
    static const struct {
        pe_wave_layout layout;
        const char *text;
    } LAYOUTS[] = {{PE_WAVE_INTERLEAVED, ""},
                   {PE_WAVE_CONCAT, "&layout=concat"},
                   {PE_WAVE_CONCAT_COS_FIRST, "&layout=concat_cos_first"}};
    char window[PE_WINDOW_TEXT], limit[48];
    pe_distance_law law;
    for (size_t i = 0; i < PE_COUNT(LAYOUTS); i++) {
        if (!pe_distance_law_read(seen, LAYOUTS[i].layout, &law) ||
            !write_limit(&law, "max_distance", limit))
            continue;
        note_reach(&law, proposals);
        pe_distances_window(&law.shape, -law.first, window);
        pe_propose_request(proposals, "encoding", "%s&dim=%llu%s%s%s", window,
                           (unsigned long long)law.dim, LAYOUTS[i].text, law.base, limit);
    }
}

/* ---- transformer_xl ---- */

/* Propose distances from `first` down to `last`, in the ways that attention has them. */
static void propose_falling(const pe_distance_law *law, const char *layout, const char *limit,
                            pe_proposals *proposals)
{
    int64_t first = -law->first, last = first - (int64_t)law->shape.count + 1;
    static const struct {
        const char *attention;
        int more;  /* keys beyond the first distance */
        bool ends; /* at distance 0 */
        bool interleaved;
    } WAYS[] = {{"&attention=txl", 1, true, false},
                {"", 0, false, false},
                {"&attention=uni", 0, true, false},
                {"&attention=two_sided", 1, false, true}};
    for (size_t i = 0; i < PE_COUNT(WAYS); i++) {
        char queries[48] = "";
        long long keys = first + WAYS[i].more, own = 1 - last;
        if ((WAYS[i].ends && last != 0) || (layout[0] != '\0' && !WAYS[i].interleaved))
            continue;
        if (own != keys && !WAYS[i].ends)
            snprintf(queries, sizeof queries, "&query_length=%lld", own);
        pe_propose_request(proposals, "encoding", "length=%lld%s&dim=%llu%s%s%s%s", keys,
                           queries, (unsigned long long)law->dim, WAYS[i].attention,
                           WAYS[i].interleaved && layout[0] == '\0' ? "&layout=concat" : "",
                           law->base, limit);
    }
}

void pe_recognise_transformer_xl(pe_observation *seen, pe_proposals *proposals)
{
    static const struct {
        pe_wave_layout layout;
        const char *text; /* of an expanded table */
    } LAYOUTS[] = {{PE_WAVE_CONCAT, ""}, {PE_WAVE_INTERLEAVED, "&attention=two_sided"}};
    char window[PE_WINDOW_TEXT], limit[48];
    pe_distance_law law;
    for (size_t i = 0; i < PE_COUNT(LAYOUTS); i++) {
        if (!pe_distance_law_read(seen, LAYOUTS[i].layout, &law) ||
            !write_limit(&law, "clamp_length", limit))
            continue;
        note_reach(&law, proposals);
        if (seen->view.rank == 2)
            propose_falling(&law, LAYOUTS[i].text, limit, proposals);
        pe_distances_window(&law.shape, -law.first, window);
        pe_propose_request(proposals, "relative", "%s&dim=%llu%s%s%s", window,
                           (unsigned long long)law.dim, LAYOUTS[i].text, law.base, limit);
    }
}
