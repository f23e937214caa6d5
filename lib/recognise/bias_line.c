/* Reading a line of a bias. */
#include "recognise/bias_line.h"

#include <math.h>

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
static bool measure_slope(const double *line, uint64_t count, double unit,
                          pe_bias_line *ret_line)
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

bool pe_bias_line_read(const pe_view *view, pe_bias_line *ret_line)
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
    *ret_line = (pe_bias_line){.masked = end == -INFINITY};
    return finite > 1 && measure_slope(line, finite, pe_observation_unit(view), ret_line);
}
