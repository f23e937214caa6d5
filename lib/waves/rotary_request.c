/* Reading rotary parameters. */
#include "waves/rotary_request.h"

const char *const pe_rotary_layouts[] = {"half", "interleaved", NULL};
const char *const pe_rotary_tables[] = {"half_width", "full", NULL};
#define NAME(type, name, ...) name,
const char *const pe_rotary_types[] = {PE_ROTARY_TYPES(NAME) NULL};

/* ---- reading ---- */

/* The number of rotated columns, which may be fractional: the double product that Hugging Face
 * cuts to int(dim * partial_rotary_factor). */
static double rotary_part(const pe_values *values)
{
    return (double)pe_get_integer(values, "dim") * pe_get_real(values, "partial_rotary_factor");
}

/* The items of a list, NULL where rope_type does not use it. */
static const double *list_or_null(const pe_values *values, const char *name)
{
    return pe_is_present(values, name) ? pe_value_find(values, name)->items : NULL;
}

#define READ_REAL                     pe_get_real
#define READ_POSITIONS                pe_get_integer
#define READ_FLAG                     pe_get_flag
#define READ_LIST                     list_or_null
#define READ(kind, member, name, ...) .member = READ_##kind(values, name),

pe_rotary pe_rotary_read(const pe_values *values)
{
    pe_rotary rotary = {.type = (pe_rotary_type)pe_get_choice(values, "rope_type"),
                        .width = (size_t)rotary_part(values),
                        .theta = pe_get_real(values, "rope_theta"),
                        PE_ROTARY_KEYS(READ)};
    if (pe_rotary_parts[rotary.type].complete)
        pe_rotary_parts[rotary.type].complete(values, &rotary);
    return rotary;
}

/* ---- tables ---- */

size_t pe_rotary_columns(const pe_values *values, const pe_rotary *rotary)
{
    return pe_get_choice(values, "table") == PE_ROTARY_FULL ? rotary->width / 2 * 2
                                                            : rotary->width / 2;
}

pe_wave_copies pe_rotary_copies(const pe_values *values)
{
    if (pe_get_choice(values, "table") != PE_ROTARY_FULL)
        return PE_WAVE_ONCE;
    return pe_get_choice(values, "layout") == PE_ROTARY_HALF ? PE_WAVE_IN_HALVES
                                                             : PE_WAVE_IN_PAIRS;
}
