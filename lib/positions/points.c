/* Reading points, and where they lie. */
#include "positions/points.h"

#include <math.h>
#include <stdio.h>

const char *const pe_point_grids[] = {"corners", "centers", "unit", "index", NULL};

pe_points pe_points_read(const pe_values *values, pe_error *reterr)
{
    pe_points points = {.count = 1, .grid = (pe_point_grid)pe_get_choice(values, "grid")};
    bool is_grid = pe_is_present(values, "sizes");
    const pe_value *list = pe_value_find(values, is_grid ? "sizes" : "coordinates");
    char given[48];
    snprintf(given, sizeof given, "%zu numbers", list->count);
    bool has_axes = pe_is_present(values, "axes");
    points.axes = is_grid ? list->count : has_axes ? (size_t)pe_get_integer(values, "axes") : 1;
    if (is_grid && points.axes > PE_POINT_AXES)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "sizes", given, "a list of at most %d numbers",
                     PE_POINT_AXES);
    else if (!is_grid && list->count % points.axes != 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "coordinates", given,
                     "a list of %zu numbers for each point, as axes says", points.axes);
    if (!is_grid) {
        points.coordinates = list->items;
        points.count = list->count / points.axes;
    }
    for (size_t a = 0; a < points.axes && a < PE_POINT_AXES; a++) {
        points.places[a] = is_grid ? (uint64_t)list->items[a] : points.count;
        if (is_grid) /* at most 2^60 */
            points.count *= points.places[a];
    }
    return points;
}

void pe_points_settle(const pe_points *points, pe_plan *plan)
{
    if (points->coordinates)
        pe_plan_settle(plan, "axes", (double)points->axes);
}

pe_point_scale pe_points_scale(const pe_points *points, size_t axis)
{
    double n = (double)points->places[axis], gaps = n > 1 ? n - 1 : 1;
    switch (points->grid) {
    case PE_POINT_CORNERS:
        return (pe_point_scale){-gaps, 2, gaps};
    case PE_POINT_CENTERS:
        return (pe_point_scale){1 - n, 2, n};
    case PE_POINT_UNIT:
        return (pe_point_scale){0, 1, gaps};
    case PE_POINT_INDEX:
        break;
    }
    return (pe_point_scale){0, 1, 1};
}

uint64_t pe_points_place(const pe_points *points, uint64_t point, size_t axis)
{
    if (points->coordinates)
        return point;
    for (size_t a = points->axes; --a > axis;)
        point /= points->places[a];
    return point % points->places[axis];
}

dd pe_points_place_coordinate(const pe_points *points, uint64_t place, size_t axis)
{
    pe_point_scale scale = pe_points_scale(points, axis);
    double whole = scale.offset + scale.step * (double)place;
    double quotient = whole / scale.divisor;
    dd product = dd_two_prod(-quotient, scale.divisor);
    return dd_quick_two_sum(quotient, (whole + product.hi + product.lo) / scale.divisor);
}

dd pe_points_coordinate(const pe_points *points, uint64_t point, size_t axis)
{
    if (points->coordinates)
        return (dd){points->coordinates[point * points->axes + axis], 0};
    return pe_points_place_coordinate(points, pe_points_place(points, point, axis), axis);
}

double pe_points_magnitude(const pe_points *points)
{
    double largest = 1;
    if (points->coordinates)
        for (uint64_t i = 0; i < points->count * points->axes; i++)
            largest = fmax(largest, fabs(points->coordinates[i]));
    else if (points->grid == PE_POINT_INDEX)
        for (size_t a = 0; a < points->axes; a++)
            largest = fmax(largest, (double)points->places[a] - 1);
    return largest;
}
