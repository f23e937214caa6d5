#include "foreign/wave_law.h"

#include "numerics/elementary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NEAREST         1e-5 /* how near a decimal must be at least to be taken for a number */
#define FARTHEST        0.05 /* and at most, relative */
#define OFFSET_ABSOLUTE 0.02 /* positions: nearer to a whole number, it is one */

static double within(double error)
{
    return fmin(fmax(error, NEAREST), FARTHEST);
}

/* Write the offset and the step, in positions. */
static void write_positions(double offset, double step, double error, pe_wave_law *law)
{
    char offset_text[48] = "", step_text[48] = "";
    double whole = rint(offset);
    if (fabs(offset - whole) > OFFSET_ABSOLUTE)
        pe_propose_number(offset_text, sizeof offset_text, "offset", offset, 1e-4, "0");
    else if (whole != 0)
        snprintf(offset_text, sizeof offset_text, "&offset=%.0f", whole);
    pe_propose_number(step_text, sizeof step_text, "step", step, within(error), "1");
    snprintf(law->positions, sizeof law->positions, "%s%s", offset_text, step_text);
}

bool pe_wave_law_of(pe_seen *seen, pe_columns columns, bool sines, pe_wave_law *ret_law)
{
    pe_seen_geometry geometry = {0};
    const pe_seen_wave *waves = pe_seen_waves(seen);
    double rows;
    uint64_t i = 0;
    if (!waves || columns.count == 0 ||
        !pe_seen_offset(seen, columns.first, columns.stride, columns.count, sines, &rows))
        return false;
    while (!waves[columns.first + i * columns.stride].found)
        i++;
    *ret_law = (pe_wave_law){.step = 1, .reach = fabs(rows)};
    ret_law->amplitude = waves[columns.first + i * columns.stride].amplitude;
    ret_law->geometric =
        pe_seen_geometric(seen, columns.first, columns.stride, columns.count, &geometry);
    if (ret_law->geometric) {
        char text[PE_PRINT_MAX];
        pe_seen_decimal(geometry.first, within(geometry.first_error), text);
        ret_law->ratio = geometry.ratio;
        ret_law->ratio_error = geometry.ratio_error;
        ret_law->step = strtod(text, NULL);
    }
    write_positions(rows * ret_law->step, ret_law->step, geometry.first_error, ret_law);
    return true;
}

void pe_wave_law_base(const pe_wave_law *law, double exponent, const char *name,
                      const char *default_text, char *dst, size_t size)
{
    dd log = pe_log((dd){law->ratio, 0});
    double base = pe_unscaled(pe_exp((dd){-exponent * log.hi, 0})).hi;
    pe_propose_number(dst, size, name, base, within(exponent * law->ratio_error), default_text);
}
