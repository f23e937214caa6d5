/* Reading arguments by rows: the one way from names and texts to values. */
#ifndef PE_ARGUMENT_READER_H
#define PE_ARGUMENT_READER_H

#include "requests/parameters.h"

typedef struct pe_reading {
    const pe_scheme_info *info;  /* whose parameters the rows are; NULL: options */
    const pe_parameter *options; /* the rows then */
    size_t count;                /* of rows */
    bool keeps_others;           /* arguments that are no row are somebody else's */
    const pe_limits *limits;     /* NULL: options */
    pe_owned_value *values;      /* of each row; all absent before */
    bool *given;                 /* of each row: it was given, if only wrongly */
    const pe_preset *preset;     /* that was given; NULL: none */
} pe_reading;

static inline const pe_parameter *pe_reading_row(const pe_reading *reading, size_t index)
{
    return reading->info ? pe_parameter_at(reading->info, index) : &reading->options[index];
}

/* The index of a row; the count if there is none of that name. */
static inline size_t pe_reading_index(const pe_reading *reading, const char *name)
{
    size_t index = 0;
    while (index < reading->count &&
           !pe_parameter_has_name(pe_reading_row(reading, index), name))
        index++;
    return index;
}

/* Read all arguments, refuse names that are no row's, and apply the defaults. */
void pe_read_arguments(pe_reading *reading, const pe_argument *arguments, size_t count,
                       pe_error *reterr);

/* Fill in the values that were not given: from the preset, the defaults and the set.
 * Refuse parameters that are missing, excluded by others, or not legal with the choices made.
 */
void pe_apply_defaults(pe_reading *reading, pe_error *reterr);

#endif
